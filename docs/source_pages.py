"""Pages of the source code that the reference links to: line numbers, colours for light and dark, no script."""

import re
from html import escape
from pathlib import Path

from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

DOCS = Path(__file__).parent
SOURCES = DOCS.parent / "src"
_LINK = re.compile(r'href="(?:\.\./)+source/([\w/.]+)\.html#')
_PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title><link rel="stylesheet" href="{up}source.css"></head>
<body><p><a href="{up}index.html">source</a> / {title}</p>{code}</body></html>
"""
_STYLE = """body {{ font: 14px/1.45 ui-monospace, monospace; margin: 1.5em; }}
pre {{ margin: 0; overflow-x: auto; }}
:target {{ background: #ffec99; }}
.linenos {{ color: #888; padding-right: 1em; }}
{light}
@media (prefers-color-scheme: dark) {{
body {{ background: #1e2129; color: #ddd; }}
a {{ color: #66d9e8; }}
{dark}
}}
"""


def linked(reference):
    """The files that pages of the reference lead to."""
    pages = reference.rglob("*.md")
    found = {name for page in pages for name in _LINK.findall(page.read_text(encoding="utf-8"))}
    return sorted(Path(f"{name}.py") for name in found)


def write(folder, reference):
    """A page for each file that the pages in `reference` lead to, a list of all, and the style sheet."""
    formatter, lexer = HtmlFormatter(linenos="inline", lineanchors="L", wrapcode=True), PythonLexer()
    files = linked(reference)
    for file in files:
        code = highlight((SOURCES / file).read_text(encoding="utf-8"), lexer, formatter)
        _save(folder / file.with_suffix(".html"), str(file), code, "../" * len(file.parent.parts))
    rows = "".join(f'<li><a href="{f.with_suffix(".html")}">{escape(str(f))}</a></li>' for f in files)
    _save(folder / "index.html", "mxnet", f"<ul>{rows}</ul>", "")
    styles = {name: HtmlFormatter(style=style).get_style_defs() for name, style in _STYLES.items()}
    (folder / "source.css").write_text(_STYLE.format(**styles), encoding="utf-8")


_STYLES = {"light": "default", "dark": "monokai"}


def _save(path, title, code, up):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(_PAGE.format(title=escape(title), code=code, up=up), encoding="utf-8")
