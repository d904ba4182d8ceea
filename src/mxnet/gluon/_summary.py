"""The table that `Block.summary` prints: every layer's output shape and number of parameters."""

from ..ndarray import NDArray

ROW = "{:>20}  {:>42} {:>15}"


class Summary:
    """Runs a block once with hooks on all its layers and prints what they saw."""

    def __init__(self, block, inputs):
        self.rows = [("Input", _shapes(inputs), 0, 0, 0)]
        self.seen = set()
        self.hooks = []
        self.block, self.inputs = block, inputs

    def show(self):
        try:
            self.block.apply(self._watch)
            self.block(*self.inputs)
        finally:
            for hook in self.hooks:
                hook.detach()
        self._print()

    def _watch(self, block):
        from .nn import HybridSequential, Sequential

        assert not getattr(block, "_active", False), f'"{block.name}" must not be hybridized to print summary.'
        if not isinstance(block, (Sequential, HybridSequential)):
            self.hooks.append(block.register_forward_hook(self._record))

    def _record(self, block, _, outputs):
        sizes = [(param, param.data().size) for param in block.params.values()]
        total = sum(size for _, size in sizes)
        trainable = sum(size for param, size in sizes if param.grad_req != "null")
        shared = sum(size for param, size in sizes if param in self.seen)
        self.seen.update(param for param, _ in sizes)
        self.rows.append((f"{type(block).__name__}-{len(self.rows)}", _shapes(outputs), total, trainable, shared))

    def _print(self):
        total, trainable, shared = (sum(row[column] for row in self.rows) for column in (2, 3, 4))
        print("-" * 80)
        print(ROW.format("Layer (type)", "Output Shape", "Param #"))
        print("=" * 80)
        for row in self.rows:
            print(ROW.format(*row[:3]))
        print("=" * 80)
        print("Parameters in forward computation graph, duplicate included")
        print(f"   Total params: {total}")
        print(f"   Trainable params: {trainable}")
        print(f"   Non-trainable params: {total - trainable}")
        print(f"Shared params in forward computation graph: {shared}")
        print(f"Unique parameters in model: {total - shared}")
        print("-" * 80)


def _shapes(args):
    """The shapes of arrays, nested like the arrays, as text."""
    shapes = _nested(args)
    return str(shapes)[1:-1] if isinstance(shapes, list) else str(shapes)


def _nested(args):
    if isinstance(args, (list, tuple)):
        return [_nested(arg) for arg in args]
    return args.shape if isinstance(args, NDArray) else args
