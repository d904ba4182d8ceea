"""A small copy of the documentation site: some pages of both languages, built as `make docs` builds all of them."""

import logging
import shutil
import sys
from pathlib import Path

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
PAGES = ["index.md", "tutorials/index.md", "tutorials/arrays.md", "tutorials/convolution.md", "guide/deploy.md"]
PAGES += ["differences.md"]
MODULES = ["gluon.nn"]
ADDRESSES = ["", "tutorials/", "tutorials/arrays/", "tutorials/convolution/", "guide/deploy/", "differences/"]
ADDRESSES += ["reference/gluon.nn/"]


def copy(folder, outputs=None):
    """The pages, with a page of the reference made from the code, in `folder`."""
    sys.path.insert(0, str(DOCS))
    from make_reference import Pages

    for language, place in (("en", folder), ("zh", folder / "zh")):
        origin = DOCS if language == "en" else DOCS / "zh"
        for page in PAGES:
            (place / page).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(origin / page, place / page)
        (place / "reference").mkdir()
        for module in MODULES:
            (place / "reference" / f"{module}.md").write_text(Pages(language).module(module), encoding="utf-8")
    for name in ("assets", "images"):
        shutil.copytree(DOCS / name, folder / name)
    if outputs is not None:
        shutil.copytree(outputs, folder / "outputs")


def build(folder, docs, site):
    """Both languages; links to pages that were not copied are no errors here."""
    from mkdocs.commands.build import build as mkdocs_build
    from mkdocs.config import load_config

    logging.getLogger("mkdocs").setLevel(logging.CRITICAL)
    for name, source, target in (("mkdocs.yml", docs, site), ("mkdocs.zh.yml", docs / "zh", site / "zh")):
        config = load_config(str(ROOT / name), docs_dir=str(source), site_dir=str(target), nav=None, strict=False)
        config.plugins.on_startup(command="build", dirty=False)
        mkdocs_build(config)
    return site
