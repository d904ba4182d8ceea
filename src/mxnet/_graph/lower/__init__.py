"""Lowering of graphs to torch.fx and to Python code; compiler back ends."""
