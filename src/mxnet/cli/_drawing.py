"""A network as SVG without graphviz's program: nodes in rows by depth, edges as curves."""

import json
from xml.sax.saxutils import escape

from ..visualization import _OTHER, _PARAMETERS, _STYLES, _VARIABLE, _outputs

_WIDTH, _HEIGHT, _ACROSS, _DOWN = 130, 46, 160, 90


def _shown(nodes, weights):
    """Numbers of the nodes to draw."""
    return [i for i, n in enumerate(nodes) if n["op"] != "null" or weights or not n["name"].endswith(_PARAMETERS)]


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
    colour, label = (_VARIABLE, None) if node["op"] == "null" else _STYLES.get(node["op"], (_OTHER, None))
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
    text = f'<text x="{(x0 + x1) / 2 + 4}" y="{middle}" class="edge">{escape(label)}</text>' if label else ""
    return f'<path d="M{x0},{y0} C{x0},{middle} {x1},{middle} {x1},{y1}" marker-end="url(#tip)"/>{text}'


_HEAD = """<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" width="{width}" height="{height}">
<style>text{{font:11px sans-serif;text-anchor:middle}}text.edge{{font-size:9px;text-anchor:start;fill:#555}}
path{{fill:none;stroke:#555}}</style>
<defs><marker id="tip" viewBox="0 0 8 8" refX="7" refY="4" markerWidth="7" markerHeight="7" orient="auto">
<path d="M0,0 L8,4 L0,8 z" style="fill:#555"/></marker></defs>"""


def svg(symbol, shapes=None, weights=False):
    """The picture as text; `shapes` of the inputs put shapes on the edges."""
    nodes = json.loads(symbol.tojson())["nodes"]
    known = _outputs(symbol, "infer_shape", shapes, "the shapes given leave others open") if shapes else {}
    depth = _depths(nodes, _shown(nodes, weights))
    places, width, height = _places(depth)
    parts = [_HEAD.format(width=width, height=height)]
    for number, place in places.items():
        for source, output, *_ in nodes[number]["inputs"]:
            if source in places:
                parts.append(_edge(places[source], place, _flow(nodes[source], output, known)))
        parts.append(_box(nodes[number], *place))
    return "\n".join([*parts, "</svg>\n"])


def _flow(node, output, known):
    """Shape of an output without its batch, if it is known."""
    name = node["name"]
    for key in (name, f"{name}_output", f"{name}_output{output}"):
        if key in known:
            return "×".join(map(str, known[key][1:]))
    return ""
