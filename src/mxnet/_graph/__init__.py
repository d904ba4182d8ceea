"""Graphs of operators: nodes, inference over them, their JSON, and lowering to plain torch code."""
