"""A symbol as a picture: SVG laid out here, without graphviz's program, and what a notebook shows of a symbol."""

import json
import re
from xml.sax.saxutils import escape

_WIDTH, _HEIGHT, _ACROSS, _DOWN = 130, 46, 160, 90
_MOST = 150  # nodes that a notebook draws without being asked

PARAMETERS = (
    "_weight", "_bias", "_beta", "_gamma", "_moving_var", "_moving_mean", "_running_var", "_running_mean",
)  # fmt: skip


def numbers(text):
    """The numbers in an attribute such as `(3, 3)`, as strings."""
    return re.findall(r"\d+", text)


def outputs(symbol, method, known, complaint):
    """What inference says of every output inside the symbol, by name."""
    inner = symbol.get_internals()
    _, found, _ = getattr(inner, method)(**known)
    if found is None:
        raise ValueError(complaint)
    return dict(zip(inner.list_outputs(), found, strict=True))


def _pooling(attrs):
    kernel = "x".join(numbers(attrs["kernel"])) if "kernel" in attrs else "[]"
    return f"Pooling\n{attrs.get('pool_type', 'max')}, {kernel}/{_stride(attrs)}"


def _stride(attrs):
    return "x".join(numbers(attrs["stride"])) if "stride" in attrs else "1"


# operator -> (colour, label from the attributes; None: the node's name)
STYLES = {
    "Convolution": (
        "#fb8072",
        lambda a: f"Convolution\n{'x'.join(numbers(a['kernel']))}/{_stride(a)}, {a['num_filter']}",
    ),
    "FullyConnected": ("#fb8072", lambda a: f"FullyConnected\n{a['num_hidden']}"),
    "BatchNorm": ("#bebada", None),
    "Activation": ("#ffffb3", lambda a: f"Activation\n{a['act_type']}"),
    "LeakyReLU": ("#ffffb3", lambda a: f"LeakyReLU\n{a.get('act_type', 'Leaky')}"),
    "Pooling": ("#80b1d3", _pooling),
    "Concat": ("#fdb462", None),
    "Flatten": ("#fdb462", None),
    "Reshape": ("#fdb462", None),
    "Softmax": ("#b3de69", None),
    "Custom": ("#fccde5", lambda a: a["op_type"]),
}
VARIABLE, OTHER = "#8dd3c7", "#fccde5"


def _shown(nodes, weights):
    """Numbers of the nodes to draw."""
    return [i for i, n in enumerate(nodes) if n["op"] != "null" or weights or not n["name"].endswith(PARAMETERS)]


def _depths(nodes, shown):
    """Rows: one below the lowest input."""
    depth = {}
    for number in shown:
        depth[number] = max((depth[i] + 1 for i, *_ in nodes[number]["inputs"] if i in depth), default=0)
    return depth


def _places(depth):
    """Centre of each node; rows are centred on one axis."""
    rows = {}
    for number, row in depth.items():
        rows.setdefault(row, []).append(number)
    widest = max(map(len, rows.values()))
    places = {}
    for row, numbers in rows.items():
        for column, number in enumerate(numbers):
            across = (column + 0.5 + (widest - len(numbers)) / 2) * _ACROSS
            places[number] = (across, (row + 0.5) * _DOWN)
    return places, widest * _ACROSS, len(rows) * _DOWN


def _box(node, x, y):
    colour, label = (VARIABLE, None) if node["op"] == "null" else STYLES.get(node["op"], (OTHER, None))
    lines = (label(node.get("attrs", {})) if label is not None else node["name"]).split("\n")
    round_by = 20 if node["op"] == "null" else 4
    place = f'x="{x - _WIDTH / 2}" y="{y - _HEIGHT / 2}" width="{_WIDTH}" height="{_HEIGHT}"'
    shape = f'<rect {place} rx="{round_by}" fill="{colour}" stroke="#555"/>'
    start = y + 4 - 7 * (len(lines) - 1)
    texts = (f'<text x="{x}" y="{start + 14 * i}">{escape(line[:22])}</text>' for i, line in enumerate(lines))
    return f"<g><title>{escape(node['name'])}</title>{shape}{''.join(texts)}</g>"


def _edge(start, end, label):
    (x0, y0), (x1, y1) = start, end
    y0, y1 = y0 + _HEIGHT / 2, y1 - _HEIGHT / 2
    middle = (y0 + y1) / 2
    place = f'x="{(x0 + x1) / 2 + 4}" y="{middle}" font-size="9" text-anchor="start" fill="#777"'
    text = f"<text {place}>{escape(label)}</text>" if label else ""
    curve = f"M{x0},{y0} C{x0},{middle} {x1},{middle} {x1},{y1}"
    return f'<path d="{curve}" fill="none" stroke="#777" marker-end="url(#tip)"/>{text}'


# Attributes rather than a style sheet: in a page, the rules of a style sheet would hold for its other drawings too.
_HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
<path d="M0,0 L8,4 L0,8 z" fill="#777"/></marker></defs>
<g font-family="sans-serif" font-size="11" text-anchor="middle" fill="#222">"""


def svg(symbol, shapes=None, weights=False):
    """The picture as text; `shapes` of the inputs put shapes on the edges."""
    nodes = json.loads(symbol.tojson())["nodes"]
    known = outputs(symbol, "infer_shape", shapes, "the shapes given leave others open") if shapes else {}
    depth = _depths(nodes, _shown(nodes, weights))
    places, width, height = _places(depth)
    parts = [_HEAD.format(width=width, height=height)]
    for number, place in places.items():
        for source, output, *_ in nodes[number]["inputs"]:
            if source in places:
                parts.append(_edge(places[source], place, _flow(nodes[source], output, known)))
        parts.append(_box(nodes[number], *place))
    return "\n".join([*parts, "</g></svg>\n"])


def _flow(node, output, known):
    """Shape of an output without its batch, if it is known."""
    name = node["name"]
    for key in (name, f"{name}_output", f"{name}_output{output}"):
        if key in known:
            return "×".join(map(str, known[key][1:]))
    return ""


def html(symbol):
    """What a notebook shows: inputs, parameters and outputs by name, and the drawing unless the graph is large."""
    known = [*symbol.list_arguments(), *symbol.list_auxiliary_states()]
    parameters = [name for name in known if name.endswith(PARAMETERS)]
    rows = {
        "inputs": [name for name in known if name not in parameters],
        "parameters": parameters,
        "outputs": symbol.list_outputs(),
    }
    lines = "".join(_row(title, names) for title, names in rows.items() if names)
    count = len(json.loads(symbol.tojson())["nodes"])
    drawing = f"<details open='open'><summary>{count} nodes</summary>{svg(symbol)}</details>" if count <= _MOST else ""
    head = f"<b>{escape(type(symbol).__name__)}</b> {escape(symbol.name or '')} <small>{count} nodes</small>"
    return f"<div>{head}<table>{lines}</table>{drawing}</div>"


def _row(title, names, most=12):
    shown = ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
    return f"<tr><th>{title}</th><td style='text-align:left'>{escape(shown)}</td></tr>"
