"""CPU kernels of our own and what runs them; imports `_core`, torch and numba, nothing of the operators above."""
