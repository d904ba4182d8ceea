"""Every Python block of the READMEs and the documentation runs, a file's blocks one after another in one namespace."""

import ast
import re
from pathlib import Path

import pytest

import mxnet as mx

ROOT = Path(__file__).parents[2]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.M | re.S)
DOCS = ROOT / "docs"
READMES = [ROOT / "README.md", ROOT / "README.zh.md"]
ASIDE = {"reference", "decisions"}  # generated, and notes for developers in English only
PAGES = [*READMES, *sorted(p for p in DOCS.rglob("*.md") if not ASIDE & set(p.parts))]
CHINESE = [p for p in PAGES if "zh" in p.parts]
RUN = [p for p in PAGES if "tutorials" not in p.parts]  # tutorials run in their quick form, in test_tutorials.py


def blocks(page):
    """(line, code) of a page's blocks."""
    text = page.read_text(encoding="utf-8")
    return [(text[: match.start(1)].count("\n"), match[1]) for match in BLOCK.finditer(text)]


def program(page):
    """A page's code without its comments, which may be in another language."""
    return [ast.dump(ast.parse(code)) for _, code in blocks(page)]


@pytest.mark.parametrize("page", [p for p in RUN if blocks(p)], ids=lambda p: str(p.relative_to(ROOT)))
def test_the_blocks_of_a_page_run(page, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    mx.random.seed(0)
    space = {"__name__": "__main__"}
    for line, code in blocks(page):
        exec(compile("\n" * line + code, str(page), "exec"), space)


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p)], ids=lambda p: str(p.relative_to(ROOT)))
def test_pages_show_public_names_only(page):
    """What a reader copies does not lean on modules that may change any day."""
    for _, code in blocks(page):
        for node in ast.walk(ast.parse(code)):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else []
            names += [alias.name for alias in node.names] if isinstance(node, ast.Import | ast.ImportFrom) else []
            assert not [name for name in names if re.search(r"(^|\.)_(?!_)", name)], ast.unparse(node)


def test_both_languages_of_the_readme_show_the_same_code():
    assert program(READMES[0]) == program(READMES[1])


def test_both_languages_of_the_readme_have_the_same_parts():
    """As many headings, commands and rows of each table: nothing is told in one language only."""
    english, chinese = (page.read_text(encoding="utf-8") for page in READMES)
    for pattern in (r"^## ", r"^```", r"^\|", r"^(?:make|pip|remx) "):
        assert len(re.findall(pattern, english, re.M)) == len(re.findall(pattern, chinese, re.M)), pattern


def test_every_page_is_there_in_chinese():
    english = {str(p.relative_to(DOCS)) for p in PAGES if p not in READMES and p not in CHINESE}
    assert {str(p.relative_to(DOCS / "zh")) for p in CHINESE} == english


@pytest.mark.parametrize("page", CHINESE, ids=lambda p: str(p.relative_to(DOCS)))
def test_chinese_pages_show_the_code_of_the_english_ones(page):
    english = DOCS / page.relative_to(DOCS / "zh")
    assert program(page) == program(english)
    for pattern in (r"^## ", r"^\| "):
        ours, theirs = (len(re.findall(pattern, p.read_text(encoding="utf-8"), re.M)) for p in (page, english))
        assert ours == theirs, pattern


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\((?!https?:)([^)#]+\.md)", page.read_text(encoding="utf-8")):
            made = "reference" in target and target.endswith("index.md")  # written by make docs
            assert made or (page.parent / target).is_file(), f"{page.name} links to {target}"


def test_the_site_shows_every_page():
    """Each page is in the navigation of its language."""
    for name, folder in (("mkdocs.yml", DOCS), ("mkdocs.zh.yml", DOCS / "zh")):
        listed = set(re.findall(r"(?:: |- )(\S+\.md)$", (ROOT / name).read_text(encoding="utf-8"), re.M))
        pages = CHINESE if "zh" in name else [p for p in PAGES if p not in READMES and p not in CHINESE]
        others = {"reference/index.md"} | ({"decisions/README.md"} if folder == DOCS else set())
        assert listed == {str(p.relative_to(folder)) for p in pages} | others
