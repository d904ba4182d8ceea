"""`remx check FILES…`: which MXNet names a program uses that ReMX lacks or treats differently, with the line."""

import json
import re
import sys
import tokenize
import warnings
from dataclasses import dataclass
from pathlib import Path

from .._compat.names import CHANGED, instead_of
from .._core.errors import MXNetError
from ._differences import NEIGHBOURS, VARIABLES, absence, difference
from ._names import exported, follow, unknown_keywords
from ._output import add_json, print_json, table
from ._python2 import python2_advice
from ._uses import FACE, uses_of, variables_of

_SUFFIXES = (".py", ".ipynb")
_MAGIC = re.compile(r"%{1,2}[A-Za-z]|[!?]")  # `% (a, b)` goes on from the line before
_OTHER_LANGUAGE = re.compile(r"\s*%%(bash|sh|script|html|javascript|js|latex|markdown|perl|ruby|svg|writefile)\b")


@dataclass(frozen=True, order=True)
class Remark:
    """One line of the report; `kind` is "missing", "differs", "old" or "unread"."""

    line: int
    kind: str
    name: str
    reason: str


def add(parser):
    """The command's own options."""
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE", help=".py and .ipynb files, or folders of them")
    add_json(parser)


def files_below(paths):
    """The programs among and below the paths, in order."""
    for path in paths:
        if not path.exists():
            raise MXNetError(f"there is no file {path}")
        if not path.is_dir():
            if path.suffix not in ("", *_SUFFIXES):
                raise MXNetError(f"{path} is no {' or '.join(_SUFFIXES)} file")
            yield path
            continue
        found = sorted(p for suffix in _SUFFIXES for p in path.rglob(f"*{suffix}") if p.is_file())
        if not found:
            raise MXNetError(f"there are no {' or '.join(_SUFFIXES)} files below {path}")
        yield from found


def program(path):
    """A file's program text, and the place of each of its lines: `file:line`, or the cell and line of a notebook."""
    if path.suffix != ".ipynb":
        with tokenize.open(path) as file:  # in the encoding that its first lines name
            text = file.read()
        return text, [f"{path}:{number}" for number in range(1, text.count("\n") + 2)]
    lines, places = [], []
    for count, text in enumerate(cells_of(path.read_text(encoding="utf-8-sig")), 1):
        foreign = _OTHER_LANGUAGE.match(text)
        for number, line in enumerate(text.splitlines(), 1):
            lines.append("pass" if foreign else _plain(line))
            places.append(f"{path}[{count}]:{number}")
    return "\n".join(lines), places


def cells_of(text):
    """Programs of a notebook's cells; those of format 3 lie in worksheets and have another key."""
    try:
        notebook = json.loads(text)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    if not isinstance(notebook, dict) or not notebook.keys() & {"cells", "worksheets"}:
        raise ValueError("no cells")
    try:
        sheets = [notebook, *notebook.get("worksheets", ())]
        cells = [cell for sheet in sheets for cell in sheet.get("cells", ()) if cell.get("cell_type") == "code"]
        return ["".join(cell.get("source", cell.get("input", ""))) for cell in cells]
    except (AttributeError, TypeError) as error:
        raise ValueError(f"its cells are not those of a notebook ({error})") from None


def _plain(line):
    """A line of a notebook without what only notebooks understand; its place stays."""
    bare = line.lstrip()
    return line[: len(line) - len(bare)] + "pass" if _MAGIC.match(bare) else line


def remarks_on(text):
    """Everything to say about a program."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of the program's own strings
            uses, variables = uses_of(text, exported), list(variables_of(text))
    except SyntaxError as error:
        advice = python2_advice(text, error)
        better = f": Python 2; write {advice[2]}; 2to3 -w rewrites the whole file" if advice else ""
        return [Remark(error.lineno or 1, "unread", "", f"not Python 3: {error.msg}{better}")]
    except (MemoryError, RecursionError):  # what Python's parser raises for expressions in expressions
        return [Remark(1, "unread", "", "its expressions are nested too deeply")]
    remarks = {remark for use in uses for remark in _remarks_on_use(use)}
    for line, name in variables:
        if name not in VARIABLES:
            remarks.add(Remark(line, "differs", name, "this environment variable has no effect"))
    return sorted(remarks)


def _follow_face(name):
    """A name of `F` is there if symbols or arrays have it: a block that is never hybridized uses arrays only."""
    found = follow(name.replace(FACE, "mxnet.symbol", 1))
    as_array = follow(name.replace(FACE, "mxnet.ndarray", 1)) if found.missing else found
    return found if as_array.missing else as_array


def _remarks_on_use(use):
    if use.name in NEIGHBOURS:
        yield Remark(use.line, "differs", use.name, NEIGHBOURS[use.name])
        return
    if not use.name.startswith("mxnet"):
        yield from _remarks_on_old(use)
        return
    found = _follow_face(use.name) if use.name.split(".")[:2] == FACE.split(".") else follow(use.name)
    if found.missing:
        full = found.name + use.name.partition(f".{found.missing}")[2]
        reason = absence(full) or absence(found.name)
        hint = f"; did you mean {found.near}?" if found.near and not reason else ""
        yield Remark(use.line, "missing", found.name, reason or f"ReMX has no such name{hint}")
        return
    reason = difference(found.name)
    if reason:
        yield Remark(use.line, "differs", found.name, reason)
    for keyword in unknown_keywords(found.thing, use.keywords) if callable(found.thing) else ():
        yield Remark(use.line, "missing", f"{found.name}({keyword}=)", "takes no such argument")


def _remarks_on_old(use):
    """A name that another package has dropped, or a part of a module that is gone."""
    needed, instead = CHANGED.get(use.name, ("", ""))
    if instead and needed not in use.keywords:
        reason = f"not accepted without {needed} by newer versions: write {instead}; `remx run` accepts it"
        yield Remark(use.line, "old", use.name, reason)
        return
    parts = use.name.split(".")
    for end in range(len(parts), 0, -1):
        name = ".".join(parts[:end])
        instead = instead_of(name)
        if instead:
            yield Remark(use.line, "old", name, f"gone from newer versions: write {instead}; `remx run` puts it back")
            return


def _looked_through(path):
    """Remarks on a file and the places of its lines; a file that is no text is told, the others go on."""
    try:
        text, places = program(path)
    except (ValueError, SyntaxError, LookupError) as error:  # bytes of no encoding, or not what a notebook is
        kind = "notebook" if path.suffix == ".ipynb" else "program"
        return [Remark(1, "unread", "", f"no {kind}: {error}")], [str(path)]
    return remarks_on(text), places


def run(options):
    """Print the table; 1 if something is missing or old, 2 if a file cannot be read."""
    try:
        paths = list(files_below(options.files))
    except MXNetError as error:
        print(f"remx check: {error}", file=sys.stderr)
        return 2
    remarks, rows = [], []
    for path in paths:
        found, places = _looked_through(path)
        remarks += found
        rows += [(places[r.line - 1], r.kind, r.name, r.reason) for r in found]
    counts = {kind: sum(remark.kind == kind for remark in remarks) for kind in ("missing", "differs", "unread", "old")}
    if options.json:
        columns = ("where", "what", "name", "why")
        found = [dict(zip(columns, row, strict=True)) for row in rows]
        print_json({"files": [str(path) for path in paths], "counts": counts, "remarks": found})
    else:
        _print(rows, counts, len(paths))
    return 2 if counts["unread"] else 1 if counts["missing"] or counts["old"] else 0


def _print(rows, counts, number):
    if rows:
        table(["where", "what", "name", "why"], rows)
    files = "1 file" if number == 1 else f"{number} files"
    old = f", {counts['old']} of older versions" if counts["old"] else ""
    print(f"{files}: {counts['missing']} missing, {counts['differs']} different, {counts['unread']} not Python 3{old}")
