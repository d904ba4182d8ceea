"""Count sketch and Fourier transform, from which programs build compact bilinear pooling."""

import torch

from ..._core.errors import MXNetError
from ..registry.registry import op


@op("_contrib_count_sketch")
def count_sketch(data, h, s, *, out_dim: int, processing_batch_size: int = 32):
    """Project the last axis to `out_dim` buckets: element i goes to bucket `h[i]` with the sign `s[i]`."""
    length = data.shape[-1]
    if h.numel() != length or s.numel() != length:
        raise MXNetError(
            f"count_sketch needs a bucket and a sign for each of the {length} elements, "
            f"got {tuple(h.shape)} and {tuple(s.shape)}"
        )
    bucket = h.detach().flatten().long()
    return data.new_zeros(*data.shape[:-1], out_dim).index_add(-1, bucket, data * s.detach().flatten())


@op("_contrib_fft")
def fft(data, *, compute_size: int = 128):
    """Fourier transform of the last axis; real and imaginary parts alternate in the result."""
    return torch.view_as_real(torch.fft.fft(data)).flatten(-2)


@op("_contrib_ifft")
def ifft(data, *, compute_size: int = 128):
    """The real part of the inverse Fourier transform of alternating parts, not divided by the length."""
    if data.shape[-1] % 2:
        raise MXNetError(f"ifft reads pairs of real and imaginary parts, got a last axis of {data.shape[-1]}")
    return torch.fft.ifft(torch.view_as_complex(data.unflatten(-1, (-1, 2)).contiguous()), norm="forward").real
