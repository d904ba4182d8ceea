"""Tables of recorded times and levels, as `mx.profiler.dumps` prints them."""

from operator import itemgetter


class Levels(list):
    """Values of something that goes up and down; their total is the last one."""


KEYS = {"total": "Total", "avg": "Avg", "min": "Min", "max": "Max", "count": "Count"}


def _statistics(values):
    """One row; the average of a level is half of what lies between its lowest and highest, as MXNet has it."""
    lowest, highest, total = min(values), max(values), sum(values)
    average = total / len(values)
    if isinstance(values, Levels):
        total, average = values[-1], (highest - lowest) / 2
    row = {"Total": total, "Min": lowest, "Max": highest, "Avg": average}
    return {"Count": len(values), **{key: round(value, 4) for key, value in row.items()}}


def sorted_rows(entries, sort_by, ascending):
    """Statistics by name, in the order of one of them."""
    rows = {name: _statistics(values) for name, values in entries.items()}
    return dict(sorted(rows.items(), key=lambda row: row[1][KEYS[sort_by]], reverse=not ascending))


def table(memory, times):
    """The text of all statistics; the arguments are what `sorted_rows` returns, by category."""
    lines = ["", "Profile Statistics:", "\tNote the difference in units for different entries."]
    heads = ("Total Count", "Time (ms)", "Min Time (ms)", "Max Time (ms)", "Avg Time (ms)")
    uses = ("Total Count", "Min Use  (kB)", "Max Use  (kB)", "Avg Use  (kB)")
    tables = [(domain, rows, heads, "Count Total Min Max Avg") for domain, rows in times.items()]
    tables += [(domain, rows, uses, "Count Min Max Avg") for domain, rows in memory.items()]
    for domain, *table in sorted(tables, key=itemgetter(0)):
        lines += [domain, "=" * 17, *_rows(*table)]
    return "\n".join(lines) + "\n"


def _rows(rows, heads, keys):
    widths = [16 if i else 15 for i in range(len(heads))]
    yield f"{'Name':<26s}" + " ".join(f"{h:>{w}s}" for h, w in zip(heads, widths, strict=True))
    yield f"{'----':<26s}" + " ".join(f"{'-' * len(h):>{w}s}" for h, w in zip(heads, widths, strict=True))
    for name, row in rows.items():
        values = [row[k] for k in keys.split()]
        cells = [f"{v:>{w}d}" if isinstance(v, int) else f"{v:>{w}.4f}" for v, w in zip(values, widths, strict=True)]
        yield f"{name:<26s}" + " ".join(cells)
    yield ""
