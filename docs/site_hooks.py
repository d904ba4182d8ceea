"""Hooks of the documentation site: languages, the outputs of tutorials, their gallery, formulas and source links."""

import json
import re
import sys
from html import escape
from pathlib import Path

from latex2mathml.converter import convert
from mkdocs.structure.files import File

PAGES = Path(__file__).parent
sys.path.insert(0, str(PAGES))
sys.path.insert(0, str(PAGES.parent / "src"))

import source_pages  # noqa: E402 - their folder is on the path now
from tutorial_blocks import BLOCK, shown  # noqa: E402

_PLACES = {"en": "/__in_english__", "zh": "/__in_chinese__"}  # the theme leaves links that begin with / as they are
_FENCE = re.compile(r"^```.*?^```", re.M | re.S)
_FORMULA = re.compile(r"\$\$(?P<display>[^$]+)\$\$|(?<![\w$`\\])\$(?P<inline>[^$\n`]+?)\$(?![\w$])")
_CARD = re.compile(r"^- \[(?P<title>.+)\]\((?P<name>\w+)\.md\) <!-- picture (?P<block>\d+) -->$", re.M)


def _is_chinese(config):
    return Path(config["docs_dir"]).name == "zh"


def _outputs(config):
    """Where the outputs of tutorials are: in the folder of the English pages."""
    folder = Path(config["docs_dir"])
    return (folder.parent if _is_chinese(config) else folder) / "outputs"


def on_config(config):
    """The switch of languages, and the version of the package; where the switch leads is told for each page."""
    from mxnet._core.version import REMX_VERSION

    names = {"en": "English", "zh": "简体中文"}
    config["extra"]["alternate"] = [{"name": names[lang], "link": _PLACES[lang], "lang": lang} for lang in names]
    config["extra"]["remx_version"] = REMX_VERSION
    return config


def on_files(files, config):
    """Pictures, outputs and the style sheet are kept once, for both languages."""
    shared = [folder for folder in (PAGES / "images", PAGES / "assets", _outputs(config)) if folder.is_dir()]
    if _is_chinese(config):
        for file in (f for folder in shared for f in sorted(folder.iterdir()) if f.suffix != ".json"):
            files.append(File.generated(config, f"{file.parent.name}/{file.name}", abs_src_path=str(file)))
    return files


# ---------------------------------------------------------------------- pages
def on_page_markdown(markdown, page, config, files):
    """Outputs below the blocks of tutorials and guides, cards in the gallery, formulas as MathML."""
    uri, outputs = page.file.src_uri, _outputs(config)
    if uri == "tutorials/index.md":
        return _gallery(markdown, outputs)
    if uri.startswith("tutorials/"):
        return _formulas(_with_outputs(markdown, outputs / f"{Path(uri).stem}.json", "../outputs"))
    if uri == "index.md":
        return _with_outputs(markdown, outputs / "home.json", "outputs")
    if uri == "start.md":
        return _with_outputs(markdown, outputs / "page-start.json", "outputs")
    if uri.startswith("guide/"):
        return _with_outputs(markdown, outputs / f"page-{Path(uri).stem}.json", "../outputs")
    return markdown


def _with_outputs(markdown, file, folder):
    """The blocks as readers see them, each with what it printed and drew."""
    report = json.loads(file.read_text(encoding="utf-8")) if file.is_file() else {"outputs": []}
    found = iter(report["outputs"])

    def block(match):
        parts = "".join(_output(each, folder) for each in next(found, []))
        return f"```python\n{shown(match[1])}```\n\n{parts}"

    return BLOCK.sub(block, markdown)


def _output(each, folder):
    if each["kind"] == "png":
        return f"![{each['file']}]({folder}/{each['file']}){{ .drawn }}\n\n"
    if each["kind"] == "html":
        return f'<div class="output">{" ".join(each["text"].split(chr(10)))}</div>\n\n'
    return f'<div class="output"><pre><code>{_lines(each["text"])}</code></pre></div>\n\n'


def _lines(text, most=60):
    """Printed text for HTML: long outputs lose their middle; no blank line, which would end the HTML block."""
    lines = text.strip("\n").split("\n")
    if len(lines) > most:
        lines = [*lines[: most - 10], "…", *lines[-9:]]
    return "\n".join(escape(line, quote=False) or "&nbsp;" for line in lines)


def _gallery(markdown, outputs):
    """Lists of tutorials become cards with a picture and the title."""

    def cards(match):
        found = "".join(_card(outputs, **card.groupdict()) for card in _CARD.finditer(match[0]))
        return f'<div class="gallery">{found}</div>\n'

    return re.sub(r"(?:^- \[.+\]\(\w+\.md\) <!-- picture \d+ -->\n?)+", cards, markdown, flags=re.M)


def _card(outputs, title, name, block):
    image = f'<img alt="" loading="lazy" src="../outputs/{name}-{block}-0.png">'
    image = image if (outputs / f"{name}-{block}-0.png").is_file() else ""
    return f'<a class="card" href="{name}/"><span class="picture">{image}</span><span>{escape(title)}</span></a>'


def _formulas(markdown):
    """LaTeX between dollars, outside code, as MathML, which browsers draw without a script."""
    parts, last = [], 0
    for fence in _FENCE.finditer(markdown):
        parts += [_FORMULA.sub(_formula, markdown[last : fence.start()]), fence[0]]
        last = fence.end()
    return "".join([*parts, _FORMULA.sub(_formula, markdown[last:])])


def _formula(match):
    if match["display"]:
        return convert(match["display"].strip(), display="block")
    return convert(match["inline"])


def on_page_content(html, page, config, files):
    """The messages are wrapped, so that their ends, which say what to do, are in view (see remx.css)."""
    return f'<div class="messages">{html}</div>' if page.file.src_uri == "messages.md" else html


def on_post_page(output, page, config):
    """Links of the language switch; they are relative, so that the site works in any folder."""
    chinese = _is_chinese(config)
    pages = Path(config["docs_dir"])
    other = (pages.parent if chinese else pages / "zh") / page.file.src_uri
    target = page.url if other.is_file() else ""
    up = "../" * page.url.strip("./").count("/") + ("../" if page.url.strip("./") else "")
    here, there = "./", f"{up}../{target}" if chinese else f"{up}zh/{target}"
    links = {"zh": here, "en": there} if chinese else {"en": here, "zh": there}
    for language, place in _PLACES.items():
        output = output.replace(place, links[language])
    return output


def on_post_template(output_content, template_name, config):
    """Pages without a place of their own, such as 404.html, lead to the two home pages."""
    return output_content.replace(_PLACES["en"], "/").replace(_PLACES["zh"], "/zh/")


def on_post_build(config):
    """The source code that the reference links to, once for both languages."""
    if not _is_chinese(config):
        source_pages.write(Path(config["site_dir"]) / "source", Path(config["docs_dir"]) / "reference")
