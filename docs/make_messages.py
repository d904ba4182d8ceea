"""Writes docs/messages.md and docs/zh/messages.md: each mistake of tests/test_messages.py, made for real."""

import inspect
import os
import re
import sys
import tempfile
import textwrap
import warnings
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT / "src"), str(ROOT / "tests"), str(ROOT / "docs")]

import message_texts  # noqa: E402 - found by the line above
import test_messages as mistakes  # noqa: E402

COLOURS = re.compile("\x1b\\[[0-9;]*m")


def message(mistake):
    """Make the mistake; the class and the words it gives."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)
        try:
            mistake()
        except Exception as error:  # every class of failure is wanted here
            said = "\n".join([f"{type(error).__name__}: {error}", *getattr(error, "__notes__", ())])
            return COLOURS.sub("", said).replace(os.getcwd(), "/home/me")
    raise SystemExit(f"{mistake.__name__} is no mistake any more")


def section(mistake, text, title, why):
    """One mistake: its title, why it happens, the code and the message."""
    body = textwrap.dedent(inspect.getsource(mistake).split("\n", 1)[1]).rstrip()
    lines = [
        textwrap.wrap(line, 76, break_long_words=False, break_on_hyphens=False) or [""] for line in text.splitlines()
    ]
    words = "\n".join(line for wrapped in lines for line in wrapped)
    return f"\n## {title}\n{why}```text\n{body}\n```\n```text\n{words}\n```\n"


def main():
    os.environ.pop("MXNET_VIRTUAL_GPUS", None)
    os.chdir(tempfile.mkdtemp())
    english, chinese = message_texts.HEAD, message_texts.HEAD_ZH
    for mistake in mistakes.MISTAKES:
        title, title_zh, why_zh = message_texts.TITLES[mistake.__name__]
        for name in Path().iterdir():
            name.unlink()  # each mistake is made in an empty folder
        text = message(mistake)
        english += section(mistake, text, title, "")
        chinese += section(mistake, text, title_zh, f"{why_zh}\n\n")
    (ROOT / "docs" / "messages.md").write_text(english + message_texts.TAIL, encoding="utf-8")
    (ROOT / "docs" / "zh" / "messages.md").write_text(chinese + message_texts.TAIL_ZH, encoding="utf-8")


if __name__ == "__main__":
    main()
