"""Tables in a terminal, drawn by rich if it is installed and somebody is looking, else plain columns; or JSON."""

import json
import sys


def _console():
    if not sys.stdout.isatty():
        return None  # files and pipes get plain columns that other programs can cut
    try:
        from rich.console import Console
    except ImportError:
        return None
    return Console()


def _rich_table(console, columns, rows, title):
    from rich.table import Table
    from rich.text import Text

    drawn = Table(*columns, title=title, title_justify="left")
    for row in rows:
        drawn.add_row(*(Text(str(field)) for field in row))
    console.print(drawn)


def table(columns, rows, title=None):
    """Print rows under their columns."""
    rows = [[str(field) for field in row] for row in rows]
    console = _console()
    if console is not None:
        _rich_table(console, columns, rows, title)
        return
    if title:
        print(title)
    widths = [max(map(len, column)) for column in zip(columns, *rows, strict=True)]
    for row in (columns, ["-" * width for width in widths], *rows):
        print("  ".join(field.ljust(width) for field, width in zip(row, widths, strict=True)).rstrip())


def add_json(parser):
    """The option `--json`."""
    parser.add_argument("--json", action="store_true", help="print JSON for other programs instead of tables")


def print_json(value):
    """What `--json` prints: one object, in plain characters."""
    print(json.dumps(value, indent=2, default=str))
