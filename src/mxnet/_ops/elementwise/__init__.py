"""Operators that work element by element: unary, binary and scalar arithmetic, activations, casts."""
