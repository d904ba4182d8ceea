"""What runs kernels: the loader, SIMD vectors, tasks for native threads, cached plans, buffers, digests."""
