"""Random arrays and probability densities of `mx.nd` and `mx.sym`."""
