"""An array in a notebook: a small table with its shape, dtype and context."""

from html import escape

MOST = 10  # rows and columns that are shown; the middle of longer ones is left out


def _places(length):
    """Positions to show, None for what is left out."""
    if length <= MOST:
        return list(range(length))
    half = MOST // 2
    return [*range(half), None, *range(length - half, length)]


def _row(values):
    return "<tr>" + "".join(f"<td>{escape(value)}</td>" for value in values) + "</tr>"


def _cell(matrix, row, column):
    if row is None or column is None:
        return "…"
    value = matrix[row, column]
    return f"{value:.6g}" if matrix.dtype.kind == "f" else str(value)


def _table(matrix):
    columns = _places(matrix.shape[1])
    lines = [_row(_cell(matrix, i, j) for j in columns) for i in _places(matrix.shape[0])]
    return f"<table>{''.join(lines)}</table>"


def html(array):
    """Vectors and matrices as tables, arrays of more axes as NumPy prints them."""
    values = array.asnumpy()
    shape = "×".join(map(str, array.shape))
    head = f"<small>{type(array).__name__} {shape}, {values.dtype}, {escape(str(array.context))}</small>"
    if 1 <= values.ndim <= 2 and values.size:
        return head + _table(values.reshape(-1, values.shape[-1]))
    return f"{head}<pre>{escape(str(values))}</pre>"
