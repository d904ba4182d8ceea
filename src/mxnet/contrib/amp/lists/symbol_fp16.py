"""The lists for float16."""

from ._recorded import recorded

globals().update(recorded()["float16"])
