"""Layers of neural networks: convolution, pooling, normalization, softmax, losses, recurrence, attention."""
