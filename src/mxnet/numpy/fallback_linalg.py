"""`mx.np.linalg` functions that NumPy itself computes, on copies and without gradients, as MXNet does with them."""

from numpy import linalg

from .fallback import through_numpy

__all__ = ["cond", "lstsq", "matrix_power", "matrix_rank", "multi_dot", "qr"]

cond = through_numpy(linalg.cond)
lstsq = through_numpy(linalg.lstsq)
matrix_power = through_numpy(linalg.matrix_power)
matrix_rank = through_numpy(linalg.matrix_rank)
multi_dot = through_numpy(linalg.multi_dot)
qr = through_numpy(linalg.qr)
