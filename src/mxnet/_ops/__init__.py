"""Operators in chapters, each one plain function from tensors to tensors; `registry` holds and exposes them."""
