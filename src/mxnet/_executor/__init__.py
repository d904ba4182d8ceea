"""Parts of `mxnet.executor`: what an executor is bound to, its outputs, and the gradients it takes and delivers."""
