"""The dynamic loss scale: halved when gradients overflow, doubled after a long time without."""

import logging

from ... import autograd
from ...ndarray import multi_all_finite

CHUNK = 200  # arrays looked at in one call


class LossScaler:
    """Holds the factor that losses are multiplied by, so that small gradients survive half precision.

    The factor starts at 65,536. It is halved when a gradient overflows, and doubled after 2,000 updates without an
    overflow, up to 16,777,216. `amp.init_trainer` gives one to a trainer; `amp.scale_loss` multiplies the loss by it.

    Parameters
    ----------
    None

    Examples
    --------
    >>> scaler = mx.contrib.amp.loss_scaler.LossScaler()
    >>> scaler.loss_scale
    65536.0
    """

    _loss_scale = _next_loss_scale = 2.0**16
    _max_loss_scale, _scale_seq_len = 2.0**24, 2000
    _unskipped = 0  # updates since the last overflow

    @property
    def loss_scale(self):
        """The factor now, a float.

        Examples
        --------
        >>> mx.contrib.amp.loss_scaler.LossScaler().loss_scale
        65536.0
        """
        return self._loss_scale

    def has_overflow(self, params):
        """Is a gradient infinite or not a number? The next scale follows from the answer.

        Parameters
        ----------
        params : list of Parameter
            The parameters, with gradients of the backward pass that has just run.

        Returns
        -------
        bool
            True if the step should be left out. The scale is halved from the next call on.

        Examples
        --------
        >>> weight = mx.gluon.Parameter("weight", shape=(1,))
        >>> weight.initialize()
        >>> weight.grad()[:] = np.inf
        >>> scaler = mx.contrib.amp.loss_scaler.LossScaler()
        >>> scaler.has_overflow([weight]), scaler.has_overflow([weight]), scaler.loss_scale
        (True, True, 32768.0)
        """
        overflow = not self._finite([p._grad[0] for p in params if p._grad is not None])
        self._loss_scale = self._next_loss_scale
        self._unskipped = 0 if overflow else self._unskipped + 1
        if overflow:
            self._next_loss_scale = self._loss_scale / 2.0
            logging.info("AMP: decreasing loss scale to %f", self._next_loss_scale)
        elif self._unskipped == self._scale_seq_len:
            self._unskipped = 0
            self._next_loss_scale = min(self._max_loss_scale, self._loss_scale * 2.0)
            logging.info("AMP: increasing loss scale to %f", self._next_loss_scale)
        return overflow

    @staticmethod
    def _finite(arrays):
        with autograd.pause():
            chunks = [arrays[i : i + CHUNK] for i in range(0, len(arrays), CHUNK)]
            return all(multi_all_finite(*chunk, num_arrays=len(chunk)).asscalar() for chunk in chunks)
