"""Convolution: direct kernels, Winograd, small NCHW inputs, deconvolution, and the choice between them."""
