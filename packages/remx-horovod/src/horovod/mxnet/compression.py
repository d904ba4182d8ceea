"""What gradients are turned into before they travel."""


class Compressor:
    """What a compressor has: two functions."""

    @staticmethod
    def compress(tensor):
        """(What travels, what `decompress` must know)."""
        raise NotImplementedError

    @staticmethod
    def decompress(tensor, ctx):
        """The array in its own type."""
        raise NotImplementedError


class NoneCompressor(Compressor):
    """Gradients travel as they are."""

    @staticmethod
    def compress(tensor):
        """The array itself, and nothing to remember."""
        return tensor, None

    @staticmethod
    def decompress(tensor, ctx):
        """The array itself."""
        return tensor


class FP16Compressor(Compressor):
    """Floating-point gradients travel as float16."""

    @staticmethod
    def compress(tensor):
        """The array in float16, and its own type."""
        if "float" not in str(tensor.dtype):
            return tensor, None
        return tensor.astype("float16", copy=False), tensor.dtype

    @staticmethod
    def decompress(tensor, ctx):
        """The array in the type that it had."""
        return tensor if ctx is None else tensor.astype(ctx, copy=False)


class Compression:
    """The compressors by name: `Compression.none`, `Compression.fp16`."""

    none = NoneCompressor
    fp16 = FP16Compressor
