"""Between Gluon and PyTorch: blocks as torch modules, torch modules as blocks, networks as torch programs.

    module = mx.contrib.torch.to_module(net)          # torch.optim, torch.compile, torch.export, one memory with net
    net.add(mx.contrib.torch.TorchBlock(torch_net))   # Trainer, save_parameters, gradients through both

Arrays and tensors share memory through `array.as_torch()` and `mx.nd.from_torch(tensor)`; while recording, gradients
flow through both.
"""

from ._torch_block import TorchBlock
from ._torch_export import export_torch
from ._torch_module import to_module

__all__ = ["TorchBlock", "export_torch", "to_module"]
