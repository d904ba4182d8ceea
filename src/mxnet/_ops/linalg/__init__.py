"""Linear algebra: matrix products, factorizations, triangular and diagonal parts."""
