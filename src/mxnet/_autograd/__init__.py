"""Parts of `mxnet.autograd`: the modes of recording and training, and functions with gradients of a user's own."""
