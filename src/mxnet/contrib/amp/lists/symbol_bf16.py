"""The lists for bfloat16."""

from ._recorded import recorded

globals().update(recorded()["bfloat16"])
