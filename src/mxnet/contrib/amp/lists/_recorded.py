"""The lists, recorded from MXNet."""

import json
from functools import cache
from importlib.resources import files


@cache
def recorded():
    """{type: {name of the list: operators}}."""
    return json.loads((files("mxnet") / "_data" / "amp.json").read_text())
