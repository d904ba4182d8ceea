"""The graph itself: nodes, calls, attributes, JSON, common subexpressions."""
