"""What to say of a program that Python 3 cannot read: the line, and what 2to3 would write for Python 2's."""

import re

# what a line of Python 2 looks like, and what 2to3 makes of it
_OLD = [
    (r"^(.*?)\bprint\s*>>\s*(.+?),\s*(.+?)\s*$", r"\1print(\3, file=\2)"),
    (r"^(.*?)\bprint\s+(?!\()(.+?),\s*$", r'\1print(\2, end=" ")'),
    (r"^(.*?)\bprint\s+([^=(].*?)\s*$", r"\1print(\2)"),
    (r"^(.*?)\bprint\s*(\(.*\)\s*%.+?|\(.*\)\s*,.+?)\s*$", r"\1print(\2)"),
    (r"^(.*?)\bexec\s+(.+?)\s+in\s+(.+?)\s*$", r"\1exec(\2, \3)"),
    (r"^(.*?)\bexec\s+(?!\()(.+?)\s*$", r"\1exec(\2)"),
    (r"^(\s*)except\s+(.+?),\s*(\w+)\s*:(.*)$", r"\1except \2 as \3:\4"),
    (r"^(.*?)\braise\s+([\w.]+)\s*,\s*(.+?)\s*$", r"\1raise \2(\3)"),
    (r"^(.*?)<>(.*)$", r"\1!=\2"),
    (r"^(.*?)`([^`]+)`(.*)$", r"\1repr(\2)\3"),
    (r"^(.*?)\bur(['\"].*)$", r"\1r\2"),
    (r"^(.*?)\b(\d+)[lL]\b(.*)$", r"\1\2\3"),
    (r"^(.*?)(?<![\w.])0([0-7]+)\b(.*)$", r"\g<1>0o\2\3"),
]


def _fails_at(lines):
    """The line at which Python 3 stops reading; one after the last if it reads all."""
    try:
        compile("\n".join(lines) + "\n", "program", "exec", dont_inherit=True)
    except SyntaxError as error:
        return error.lineno or 1
    return len(lines) + 1


def _rewritten(lines, number):
    """The line as Python 3 wants it, or None: a rewriting counts only if Python 3 then reads on beyond this line."""
    line = every = lines[number - 1]
    for pattern, replacement in _OLD:
        better, every = re.sub(pattern, replacement, line), re.sub(pattern, replacement, every)
        for written in (better, every):  # a line may have more than one fault
            if written != line and _fails_at([*lines[: number - 1], written, *lines[number:]]) > number:
                return written.strip()
    return None


def python2_advice(source, error):
    """(line number, the line, what to write) for a syntax error that Python 2 would not have seen, or None."""
    text = source.decode("utf-8", "replace") if isinstance(source, bytes) else source
    lines, number = text.splitlines(), error.lineno or 1
    if not 0 < number <= len(lines):
        return None
    if isinstance(error, TabError):
        return number, lines[number - 1].strip(), "the same with one kind of indentation"
    if "cannot be parenthesized" in (error.msg or ""):  # def f(a, (b, c))
        return number, lines[number - 1].strip(), "the same with one name for each tuple, which the function unpacks"
    better = _rewritten(lines, number)
    return None if better is None else (number, lines[number - 1].strip(), better)


def what_is_wrong(source, path, error):
    """One sentence on a program that cannot be compiled."""
    if not isinstance(error, SyntaxError) or not error.lineno:
        return f"{path} is no Python program: {getattr(error, 'msg', None) or error}"
    advice = python2_advice(source, error)
    if advice is None:
        return f"{path}:{error.lineno} is not Python 3: {error.msg}"
    number, line, better = advice
    return f"{path}:{number} is Python 2: `{line}` is `{better}` in Python 3; `2to3 -w {path}` rewrites the whole file"
