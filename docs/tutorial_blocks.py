"""The Python blocks of a tutorial: where they are, what they run, and their quick form for the tests."""

import hashlib
import re
from pathlib import Path

FOLDER = Path(__file__).with_name("tutorials")
BLOCK = re.compile(r"^```python\n(.*?)^```[ ]*\n?", re.M | re.S)
_QUICK = re.compile(r"^(?P<head>\s*[\w, ]+ = ).*?(?P<mark>  # quick: (?P<value>.+))$", re.M)


def names():
    """The tutorials in the order of the gallery."""
    text = (FOLDER / "index.md").read_text(encoding="utf-8")
    return re.findall(r"^- \[.+\]\((\w+)\.md\)", text, re.M)


def blocks(text):
    """The code of each block."""
    return [match[1] for match in BLOCK.finditer(text)]


def quick(code):
    """The code with the values that a line such as `epochs = 20  # quick: 1` gives for the tests."""
    return _QUICK.sub(lambda match: match["head"] + match["value"], code)


def shown(code):
    """The code as a reader sees it, without those marks."""
    return _QUICK.sub(lambda match: match[0].removesuffix(match["mark"]), code)


def digest(codes):
    """Changes when the code of a tutorial changes."""
    return hashlib.sha256("\n".join(codes).encode()).hexdigest()[:16]
