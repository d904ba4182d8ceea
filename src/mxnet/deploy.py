"""Inference out of a checkpoint, in the manner of MXNet's predict API: `forward`, `get_output`, `reshape`.

predictor = mx.deploy.Predictor("resnet", 0, {"data": (1, 3, 224, 224)})
predictor.forward(data=image)
scores = predictor.get_output(0)
"""

import threading
from difflib import get_close_matches

import numpy as np
import torch

from ._core.dtypes import dtype_name
from ._graph.infer.fixpoint import shape_facts, type_facts
from ._graph.lower.program import Program
from ._ops.registry.device import torch_device
from ._ops.registry.torch_dtypes import NAME, TORCH, torch_dtype
from ._training.checkpoint import load_checkpoint
from .base import MXNetError
from .context import Context, cpu
from .ndarray._dispatch.invoke import plain_tensor
from .symbol import Group

REMEMBERED = 64  # sets of input shapes that `reshape` need not infer again


class Predictor:
    """A network with its parameters, for inputs of fixed shapes. Threads may share one: each has its own outputs.

    Parameters
    ----------
    prefix : str
        The beginning of the checkpoint's file names.
    epoch : int
        The number of the epoch.
    input_shapes : dict of str to tuple
        The shapes of the inputs.
    ctx : Context, optional
        The device.
    type_dict : dict of str to dtype, optional
        The data types of the inputs.
    outputs : list of str, optional
        Values inside the network to compute instead of its own outputs, with or without `_output`.

    Examples
    --------
    >>> net = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
    >>> parameters = {"fc_weight": mx.nd.ones((2, 3)), "fc_bias": mx.nd.zeros((2,))}
    >>> mx.model.save_checkpoint("net", 1, net, parameters, {})
    >>> predictor = mx.deploy.Predictor("net", 1, {"data": (1, 3)})
    """

    def __init__(self, prefix, epoch, input_shapes, ctx=None, type_dict=None, outputs=None):
        symbol, arguments, states = load_checkpoint(prefix, epoch)
        self._start(symbol, {**arguments, **states}, input_shapes, ctx, type_dict, outputs)

    @classmethod
    def from_symbol(cls, symbol, params, input_shapes, ctx=None, type_dict=None, outputs=None):
        """Make a predictor from a symbol and its parameters in memory.

        Parameters
        ----------
        symbol : Symbol
            The network.
        params : dict of str to NDArray
            All parameters and auxiliary states by name.
        input_shapes : dict of str to tuple
            The shapes of the inputs.
        ctx, type_dict, outputs
            As for the class.

        Returns
        -------
        Predictor

        Examples
        --------
        >>> net = mx.sym.var("data") * mx.sym.var("scale")
        >>> predictor = mx.deploy.Predictor.from_symbol(net, {"scale": mx.nd.array([2, 3])}, {"data": (2,)})
        >>> predictor.forward(data=np.ones(2)).get_output(0)
        array([2., 3.], dtype=float32)
        """
        made = cls.__new__(cls)
        made._start(symbol, params, input_shapes, ctx, type_dict, outputs)
        return made

    def _start(self, symbol, params, input_shapes, ctx, type_dict, outputs):
        symbol = symbol if outputs is None else _partial(symbol, outputs)
        ctx = Context(ctx) if ctx is not None else cpu()
        self._ctx, self._symbol, self._device = ctx, symbol, torch_device(ctx)
        self._types = {name: dtype_name(dtype) for name, dtype in (type_dict or {}).items()}
        self._program = Program(symbol._entries, ctx)
        read = {node.name for node in self._program.variables}
        self._params = {n: plain_tensor(array).detach().to(self._device) for n, array in params.items() if n in read}
        self._local, self._lock, self._inferred = threading.local(), threading.Lock(), {}
        self.reshape(input_shapes)

    def reshape(self, input_shapes):
        """Take inputs of other shapes from now on.

        Parameters
        ----------
        input_shapes : dict of str to tuple
            The shapes of the inputs.

        Examples
        --------
        >>> predictor = mx.deploy.Predictor.from_symbol(mx.sym.var("data") * 2, {}, {"data": (2,)})
        >>> predictor.reshape({"data": (5,)})
        >>> predictor.output_shapes
        [(5,)]
        """
        shapes = {name: tuple(shape) for name, shape in dict(input_shapes).items()}
        names = [node.name for node in self._program.variables]
        strange = sorted(set(shapes) - set(names))
        if strange:
            inputs = [name for name in names if name not in self._params]
            raise MXNetError(f"the network has no input {', '.join(strange)}; its inputs are {', '.join(inputs)}")
        key = tuple(sorted(shapes.items()))
        fillers, outputs = self._inferred.get(key) or self._infer(shapes, names)
        with self._lock:
            self._shapes, self._fillers, self._output_shapes = shapes, fillers, outputs
            if len(self._inferred) < REMEMBERED:
                self._inferred[key] = fillers, outputs

    def _infer(self, shapes, names):
        """(what stands for inputs that are not given, shapes of the outputs)."""
        known = {name: tuple(t.shape) for name, t in self._params.items()}
        facts = shape_facts(self._program.heads, {**known, **shapes})
        fillers = self._absent([n for n in names if n not in known and n not in shapes], facts)
        return fillers, [facts.of(head) for head in self._program.heads]

    def _absent(self, names, facts):
        """Labels play no part here: zeros stand for them. Anything else must be given."""
        found = type_facts(self._program.heads, {n: NAME[t.dtype] for n, t in self._params.items()})
        fillers = {}
        for node in self._program.variables:
            if node.name in names:
                shape = facts.first(node)
                if not node.name.endswith("label") or not shape or 0 in shape:
                    raise MXNetError(f"{node.name} is neither in the parameters nor in input_shapes: give its shape")
                dtype = TORCH[found.first(node) or "float32"]
                fillers[node.name] = torch.zeros(shape, dtype=dtype, device=self._device)
        return fillers

    def forward(self, **inputs):
        """Compute the outputs; `get_output` returns them.

        Parameters
        ----------
        **inputs : numpy.ndarray or NDArray
            All inputs by name, of the predictor's shapes.

        Returns
        -------
        Predictor
            The predictor itself.

        Examples
        --------
        >>> predictor = mx.deploy.Predictor.from_symbol(mx.sym.var("data") * 2, {}, {"data": (2,)})
        >>> predictor.forward(data=np.array([3, 4])).get_output(0)
        array([6., 8.], dtype=float32)
        """
        with self._lock:
            shapes, fillers = self._shapes, self._fillers
        if set(inputs) != set(shapes):
            raise MXNetError(f"forward takes {', '.join(shapes)}, got {', '.join(inputs) or 'nothing'}")
        given = {name: self._tensor(name, value, shapes[name]) for name, value in inputs.items()}
        values = {**self._params, **fillers, **given}
        tensors = [values[node.name] for node in self._program.variables]
        with torch.no_grad():
            self._local.outputs = self._program.run(tensors, False)
        return self

    def _tensor(self, name, value, shape):
        value = value.asnumpy() if hasattr(value, "asnumpy") else np.asarray(value)
        if value.shape != shape:
            raise MXNetError(f"input {name} has shape {value.shape}, the predictor takes {shape}; reshape changes that")
        dtype = torch_dtype(self._types.get(name, "float32"))
        return torch.from_numpy(np.ascontiguousarray(value)).to(self._device, dtype)

    def get_output(self, index=0):
        """An output of the last `forward` of this thread.

        Parameters
        ----------
        index : int, default 0
            Its place in `output_names`.

        Returns
        -------
        numpy.ndarray

        Examples
        --------
        >>> predictor = mx.deploy.Predictor.from_symbol(mx.sym.var("data") * 2, {}, {"data": (2,)})
        >>> predictor.forward(data=np.array([3, 4])).get_output(0)
        array([6., 8.], dtype=float32)
        """
        outputs = getattr(self._local, "outputs", None)
        if outputs is None:
            raise MXNetError("there are no outputs yet: call forward in this thread first")
        if not 0 <= index < len(outputs):
            raise MXNetError(f"the network has {len(outputs)} outputs, there is none of number {index}")
        tensor = outputs[index]
        return (tensor.float() if tensor.dtype is torch.bfloat16 else tensor).cpu().numpy().copy()

    @property
    def output_names(self):
        """The names of the outputs, a list of str.

        Examples
        --------
        >>> net = mx.sym.relu(mx.sym.var("data"), name="act")
        >>> mx.deploy.Predictor.from_symbol(net, {}, {"data": (2,)}).output_names
        ['act_output']
        """
        return self._symbol.list_outputs()

    @property
    def output_shapes(self):
        """The shapes of the outputs, a list of tuples.

        Examples
        --------
        >>> mx.deploy.Predictor.from_symbol(mx.sym.var("data").sum(axis=1), {}, {"data": (2, 3)}).output_shapes
        [(2,)]
        """
        return list(self._output_shapes)


def _partial(symbol, outputs):
    """The symbol of some values inside another."""
    inside = symbol.get_internals()
    known = inside.list_outputs()
    names = [outputs] if isinstance(outputs, str) else list(outputs)
    found = [name if name in known else f"{name}_output" for name in names]
    strange = [name for name, full in zip(names, found, strict=True) if full not in known]
    if strange or not names:
        layers = [name.removesuffix("_output") for name in known]
        near = [close for name in strange for close in get_close_matches(name.removesuffix("_output"), layers)]
        hint = f"; did you mean {', '.join(near)}?" if near else "; symbol.get_internals().list_outputs() has them all"
        raise MXNetError(f"the network computes nothing called {', '.join(strange) or 'so: outputs is empty'}{hint}")
    return Group([inside[full] for full in found])
