"""Docstrings in NumPy's format as Markdown: sections, lists of parameters, examples as code."""

import inspect
import re
from itertools import takewhile

SECTIONS = {  # heading in a docstring -> heading in Chinese
    "Parameters": "参数",
    "Other Parameters": "其他参数",
    "Attributes": "属性",
    "Methods": "方法",
    "Returns": "返回",
    "Yields": "产生",
    "Raises": "异常",
    "Warns": "警告",
    "Notes": "说明",
    "Examples": "示例",
    "Example": "示例",
    "See Also": "另见",
    "References": "参考文献",
    "Warnings": "警告",
    "Inputs": "输入",
    "Outputs": "输出",
    "Returns or yields": "返回或产生",
}
_LISTS = {"Parameters", "Other Parameters", "Attributes", "Returns", "Yields", "Raises", "Inputs", "Outputs", "Methods"}
_HEADING = re.compile(r"^(?P<title>[A-Z][\w ]+)\n-{3,}[ ]*$", re.M)


def summary(thing):
    """The first paragraph of a docstring, on one line."""
    return " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())


def sections(text):
    """[(heading or "", body)]: what comes before the first heading has none."""
    found = [(match["title"], match.start(), match.end()) for match in _HEADING.finditer(text)]
    ends = [start for _, start, _ in found[1:]] + [len(text)]
    head = text[: found[0][1]] if found else text
    return [
        ("", head.strip()),
        *((title, text[end:stop].strip("\n")) for (title, _, end), stop in zip(found, ends, strict=False)),
    ]


def markdown(text, chinese=False, translated=None):
    """A docstring as Markdown; `translated`, a summary in another language, comes first."""
    parts = []
    for title, body in sections(inspect.cleandoc(text or "")):
        if title:
            parts.append(f"**{SECTIONS.get(title, title) if chinese else title}**")
        elif translated:
            parts.append(translated)
        parts.append(_items(body) if title in _LISTS else prose(body))
    return "\n\n".join(part for part in parts if part) + "\n"


def prose(body):
    """Paragraphs; runs of examples become code, indented text stays as it is written."""
    return "\n\n".join(_paragraph(each) for each in re.split(r"\n[ ]*\n", body) if each.strip())


def _paragraph(text):
    lines = text.split("\n")
    if lines[0].lstrip().startswith(">>>"):
        return "```pycon\n" + inspect.cleandoc(text) + "\n```"
    before = list(takewhile(lambda line: not line.lstrip().startswith(">>>"), lines))
    if len(before) < len(lines):
        return _text("\n".join(before)) + "\n\n" + _paragraph("\n".join(lines[len(before) :]))
    return _text(text)


def _text(text):
    """Plain text: what Markdown would take for markup outside code is escaped."""
    if all(line.startswith("    ") for line in text.split("\n")):
        return "```text\n" + inspect.cleandoc(text) + "\n```"
    pieces = re.split(r"(`+[^`]*`+)", text)
    return "".join(piece if piece.startswith("`") else _escaped(piece) for piece in pieces)


def _escaped(text):
    return re.sub(r"(?<!\\)([*_<\[\]|])", r"\\\1", text)


def _items(body):
    """`name : type` lines with indented text below, as a list."""
    found = []
    for line in body.split("\n"):
        if line.strip() and not line.startswith(" "):
            found.append([line.strip(), []])
        elif found:
            found[-1][1].append(line)
    return "\n".join(_item(head, "\n".join(lines)) for head, lines in found)


def _item(head, body):
    name, _, kind = head.partition(" : ")
    plain = kind or re.fullmatch(r"[\w.*]+(, [\w.*]+)*", name)  # names; of a result often words about its type
    shown = ", ".join(f"`{part.strip()}`" for part in name.split(",")) if plain else _text(name)
    text = prose(inspect.cleandoc(body)).replace("\n", "\n    ")
    return f"- {shown}" + (f" (*{_text(kind)}*)" if kind else "") + (f": {text}" if text else "")
