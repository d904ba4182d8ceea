"""Winograd's minimal filtering: F(4x4, 3x3), F(2x2, 5x5) and F(2x2, 3x3), transforms, tasks and gradients."""
