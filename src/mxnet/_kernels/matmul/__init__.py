"""Matrix products: packed weights for few rows, and large products (GEMM)."""
