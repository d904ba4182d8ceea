"""The geometry of pooling windows, in MXNet's conventions for the last one."""

from functools import lru_cache
from math import ceil

from ..._core.errors import MXNetError


class Windows:
    """Kernel, stride and padding of each spatial axis, and how many windows (output size) it has."""

    def __init__(self, sizes, kernel, stride, pad, convention):
        self.sizes, self.kernel, self.convention = tuple(sizes), kernel, convention
        # MXNet ignores further elements: GluonCV's DropBlock gives four for the padding
        self.stride = stride[: len(kernel)] or (1,) * len(kernel)
        self.pad = pad[: len(kernel)] or (0,) * len(kernel)
        if convention == "same":
            self._check_same(pad)
        if not len(self.kernel) == len(self.stride) == len(self.pad):
            raise MXNetError(f"stride {stride} and pad {pad} must be as long as kernel {kernel}")
        self.count = [self._number(*axis) for axis in self.axes()]
        # torch limits the padding to half the kernel, and over three axes the kernel to the data without padding
        fits = all(2 * p <= k and (len(kernel) < 3 or k <= n) for n, k, _, p in self.axes())
        self.native = convention != "same" and fits

    def _check_same(self, pad):
        if any(pad) or len(self.kernel) > 2 or (len(self.kernel) == 2 and self.kernel[0] != 1):
            raise MXNetError(
                f"Same pooling convention disables the use of pad parameter, got pad {pad}, and currently supports "
                "Pooling 1-D"
            )
        self.pad = (0,) * len(self.kernel)

    def axes(self):
        return zip(self.sizes, self.kernel, self.stride, self.pad, strict=True)

    def _number(self, size, kernel, stride, pad):
        span = size + 2 * pad - kernel
        if span < 0:
            raise MXNetError(f"Pooling: kernel size ({kernel}) exceeds input ({size} padded to {size + 2 * pad})")
        if self.convention == "same":
            return ceil(size / stride)
        return 1 + (ceil(span / stride) if self.convention == "full" else span // stride)

    def any_empty(self):
        """Does a last window lie completely in the padding?"""
        axes = zip(self.count, self.sizes, self.stride, self.pad, strict=True)
        return any((count - 1) * step - pad >= size for count, size, step, pad in axes)

    def overhang(self):
        """Per axis: how far the last window extends beyond the padded data."""
        axes = zip(self.count, self.sizes, self.kernel, self.stride, self.pad, strict=True)
        return [max(0, (c - 1) * s + k - n - 2 * p) for c, n, k, s, p in axes]


windows_of = lru_cache(maxsize=1024)(Windows)
