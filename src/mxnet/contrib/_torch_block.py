"""`TorchBlock`: a torch module as a Gluon block whose parameters share its memory."""

import torch
from torch.func import functional_call
from torch.utils._pytree import tree_map

from .. import context
from .._core.modes import MODES
from .._core.writes import lend
from .._ops.registry.torch_dtypes import NAME
from ..base import MXNetError
from ..gluon import HybridBlock, Parameter
from ..gluon._parameter import places
from ..ndarray import NDArray, from_torch
from ..ndarray.ndarray import wrap
from ..symbol import Symbol


class TorchParameter(Parameter):
    """A parameter over the memory of a torch module's parameter or buffer, which has its value already."""

    def __init__(self, name, tensor, trained):
        if tensor.dtype not in NAME:
            raise MXNetError(f"MXNet has no arrays of {tensor.dtype}, the type of {name}; convert the module first")
        self._tensor, self._true_shape = tensor, tensor.shape
        super().__init__(
            name,
            grad_req="write" if trained else "null",
            shape=tuple(tensor.shape) or (1,),
            dtype=NAME[tensor.dtype],
            differentiable=tensor.is_floating_point() and isinstance(tensor, torch.nn.Parameter),
        )
        self._take(context.cpu() if tensor.device.type == "cpu" else context.gpu(tensor.device.index or 0))

    def _take(self, ctx):
        self._ctx_list, self._ctx_map = [ctx], places([ctx])
        self._data = [wrap(self._tensor.data.view(self._shape), ctx)]
        lend(self._tensor)
        self._init_grad()

    def initialize(self, init=None, ctx=None, default_init=None, force_reinit=False):
        """The module has initialized itself: only the place may change, unless `force_reinit` and an `init` ask."""
        if force_reinit and (init or self.init) is not None:
            super().initialize(init, ctx or self._ctx_list, init, True)
        elif ctx is not None and self._contexts(ctx) != self._ctx_list:
            self.reset_ctx(ctx)

    @staticmethod
    def _contexts(ctx):
        return [ctx] if isinstance(ctx, context.Context) else list(ctx)

    def _init_impl(self, data, ctx_list):
        super()._init_impl(data, ctx_list)
        self._lend()

    def cast(self, dtype):
        """Convert a floating parameter, in the torch module as well; counters stay integers."""
        if self._tensor.is_floating_point():
            super().cast(dtype)
            self._lend()

    def _lend(self):
        """Let the torch module see the array that the parameter has now."""
        self._tensor.data = self._data[0]._t.data.view(self._true_shape)
        lend(self._tensor)

    def tensor(self, ctx):
        """What the module computes with: part of the graph while recording, if it is trained."""
        array = self.data(ctx)
        live = MODES.recording and self.grad_req != "null"
        return (array._t if live else array._t.data).view(self._true_shape)


class TorchBlock(HybridBlock):
    """A torch module inside a Gluon network: `collect_params`, Trainer and files see its parameters.

    It takes and returns arrays (nested as the module likes) and follows autograd's training mode. It runs as it is:
    when a network around it is hybridized, its other parts become graphs.

    Parameters
    ----------
    module : torch.nn.Module
        The module.
    prefix : str, optional
        The prefix of the block's name and parameters.
    params : ParameterDict, optional
        Parameters to share.

    Examples
    --------
    >>> import torch
    >>> from mxnet.contrib.torch import TorchBlock
    >>> net = TorchBlock(torch.nn.Linear(3, 2))
    >>> net(mx.nd.ones((1, 3))).shape
    (1, 2)
    """

    _traceable = False

    def __init__(self, module, prefix=None, params=None):
        super().__init__(prefix=prefix, params=params)
        if not isinstance(module, torch.nn.Module):
            raise TypeError(f"TorchBlock takes a torch.nn.Module, got {type(module)}")
        self.module = module
        tensors = dict(module.named_parameters(remove_duplicate=False))
        tensors.update(module.named_buffers(remove_duplicate=False))
        made = {}
        for path, tensor in tensors.items():
            if tensor not in made:
                name = f"{self.prefix}{path.replace('.', '_')}"
                made[tensor] = self.params._params[name] = TorchParameter(name, tensor, tensor.requires_grad)
            self._reg_params[path] = made[tensor]

    def __call__(self, *args, **kwargs):
        """Torch modules take arguments by name, too."""
        return self.forward(*args, **kwargs) if kwargs else super().__call__(*args)

    def forward(self, *args, **kwargs):
        ctx = _context((args, kwargs))
        if self.module.training != MODES.training:
            self.module.train(MODES.training)
        state = {path: parameter.tensor(ctx) for path, parameter in self._reg_params.items()}
        with torch.set_grad_enabled(MODES.recording):
            out = functional_call(
                self.module, state, tree_map(_tensor, args), tree_map(_tensor, kwargs), tie_weights=False
            )
        return tree_map(_array, out)

    def __repr__(self):
        return f"TorchBlock({self.module})"


def _tensor(value):
    return value.as_torch() if isinstance(value, NDArray) else value


def _array(value):
    return from_torch(value) if isinstance(value, torch.Tensor) else value


def _context(args):
    found = []

    def look(value):
        if isinstance(value, Symbol):
            raise MXNetError("a TorchBlock cannot be part of a graph: it was given a symbol; give it arrays")
        if isinstance(value, NDArray):
            found.append(value.context)

    tree_map(look, args)
    return found[0] if found else context.current_context()
