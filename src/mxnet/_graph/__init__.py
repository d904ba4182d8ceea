"""Graphs of operators: their nodes and JSON, inference, lowering to torch, and rewritings for speed."""
