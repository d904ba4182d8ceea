"""Inspection of graphs: monitors of intermediate values, memory use."""
