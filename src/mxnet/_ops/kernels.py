"""Convolutions, channels last, by kernels for vectors of eight floats; importing this module asks for numba.

A dense convolution is a product of matrices whose left rows begin wherever a pixel's window begins: each window is some
runs of floats that lie together (a row of the window, all channels). Weights are packed: for 16 filters at a time, the
values of each place of the window side by side. Six windows and 16 filters are summed at a time, or four and 24, which
is what the registers hold. Addresses are plain numbers, and so are distances, in bytes. NaN stays.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from .loops import compiled

LANES, ROWS, FLOAT = 8, 6, 4
ROWS_AT_ONCE = 60  # whose windows stay in the cache while all filters pass
PIXELS = 4  # of a depthwise convolution, side by side

_FLOAT, _INT, _INT32 = ir.FloatType(), ir.IntType(64), ir.IntType(32)
_VECTOR = ir.VectorType(_FLOAT, LANES)
_LANE_BYTES = LANES * FLOAT


class _Writer:
    """Writes vector code."""

    def __init__(self, builder: Any) -> None:
        self.builder = builder
        kind = ir.FunctionType(_VECTOR, [_VECTOR] * 3)
        self._fma = cgutils.get_or_insert_function(builder.module, kind, f"llvm.fma.v{LANES}f32")

    def at(self, address: Any, offset: int) -> Any:
        return self.builder.add(address, _INT(offset)) if offset else address

    def load(self, address: Any, number: int = 0) -> Any:
        """The vector with this number behind an address."""
        return self.builder.load(self._pointer(self.at(address, number * _LANE_BYTES), _VECTOR), align=FLOAT)

    def store(self, value: Any, address: Any, number: int) -> None:
        self.builder.store(value, self._pointer(self.at(address, number * _LANE_BYTES), _VECTOR), align=FLOAT)

    def whole(self, address: Any) -> Any:
        return self.builder.load(self._pointer(address, _INT))

    def everywhere(self, address: Any) -> Any:
        """One float in all lanes."""
        return self.spread(self.builder.load(self._pointer(address, _FLOAT)))

    def spread(self, value: Any) -> Any:
        one = self.builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), value, _INT32(0))
        places = ir.Constant(ir.VectorType(_INT32, LANES), [0] * LANES)
        return self.builder.shuffle_vector(one, ir.Constant(_VECTOR, ir.Undefined), places)

    def fma(self, one: Any, other: Any, total: Any) -> Any:
        return self.builder.call(self._fma, [one, other, total])

    def finish(self, sums: Any, result: Any, apart: Any, addend: Any, low: Any, high: Any) -> None:
        """Add what is at `addend` (0: nothing), apply the bounds, store rows of vectors `apart` from each other."""
        low, high = self.spread(low), self.spread(high)
        with self.builder.if_else(self.builder.icmp_signed("!=", addend, _INT(0))) as (added, alone):
            with added:
                self._store_rows(sums, result, apart, addend, low, high)
            with alone:
                self._store_rows(sums, result, apart, None, low, high)

    def _store_rows(self, sums: Any, result: Any, apart: Any, addend: Any, low: Any, high: Any) -> None:
        for row, vectors in enumerate(sums):
            away = self.builder.mul(apart, _INT(row))
            for number, value in enumerate(vectors):
                if addend is not None:
                    value = self.builder.fadd(value, self.load(self.builder.add(addend, away), number))
                # Comparisons with NaN are false, and leave it.
                value = self.builder.select(self.builder.fcmp_ordered("<", value, low), low, value)
                value = self.builder.select(self.builder.fcmp_ordered(">", value, high), high, value)
                self.store(value, self.builder.add(result, away), number)

    def loop(self, count: Any, starts: list[Any], body: Any) -> list[Any]:
        """Run `body(number, values)`, which returns the next values, `count` times, at least once."""
        builder, before = self.builder, self.builder.block
        inside, behind = builder.append_basic_block("loop"), builder.append_basic_block("after")
        builder.branch(inside)
        builder.position_at_end(inside)
        number, values = builder.phi(_INT), [builder.phi(start.type) for start in starts]
        number.add_incoming(_INT(0), before)
        for value, start in zip(values, starts, strict=True):
            value.add_incoming(start, before)
        following, last = body(number, values), builder.add(number, _INT(1))
        number.add_incoming(last, builder.block)
        for value, after in zip(values, following, strict=True):
            value.add_incoming(after, builder.block)
        builder.cbranch(builder.icmp_signed("<", last, count), inside, behind)
        builder.position_at_end(behind)
        return following

    def _pointer(self, address: Any, kind: Any) -> Any:
        return self.builder.inttoptr(address, kind.as_pointer())


def _sum_windows(write: _Writer, rows: int, vectors: int, data, places, weight, bias, runs, run, jump):
    """rows x vectors of sums over windows."""
    starts = [write.builder.add(data, write.whole(write.at(places, 8 * row))) for row in range(rows)]
    sums = [write.load(bias, number) for _ in range(rows) for number in range(vectors)]

    def add_run(number, values):
        away = write.builder.mul(number, jump)
        begins = [write.builder.add(start, away) for start in starts]

        def add_place(place, values):
            weight, *sums = values
            offset = write.builder.mul(place, _INT(FLOAT))
            filters = [write.load(weight, number) for number in range(vectors)]
            made = []
            for row, begin in enumerate(begins):
                pixel = write.everywhere(write.builder.add(begin, offset))
                made += [write.fma(pixel, filters[i], sums[row * vectors + i]) for i in range(vectors)]
            return [write.at(weight, vectors * _LANE_BYTES), *made]

        return write.loop(run, values, add_place)

    _, *sums = write.loop(runs, [weight, *sums], add_run)
    return [sums[row * vectors : (row + 1) * vectors] for row in range(rows)]


def _windows(vectors: int, most: int) -> Any:
    """The kernel for some filters, and one to `most` windows."""

    def generate(context, builder, signature, arguments):
        rows, *inputs, result, apart, addend, low, high = arguments
        done = builder.append_basic_block("done")
        choice = builder.switch(rows, done)
        for number in range(1, most + 1):
            block = builder.append_basic_block(f"rows{number}")
            choice.add_case(_INT(number), block)
            builder.position_at_end(block)
            write = _Writer(builder)
            write.finish(_sum_windows(write, number, vectors, *inputs), result, apart, addend, low, high)
            builder.branch(done)
        builder.position_at_end(done)
        return context.get_dummy_value()

    @intrinsic
    def kernel(typing, rows, data, places, weight, bias, runs, run, jump, result, apart, addend, low, high):
        return types.void(*[types.int64] * 11, types.float32, types.float32), generate

    return kernel


def _numbers(count: int) -> str:
    return ", ".join(["int64"] * count)


_eight, _sixteen, _twenty_four = _windows(1, ROWS), _windows(2, ROWS), _windows(3, 4)


def panels(filters: int) -> list[int]:
    """How many filters are summed at a time: 16 each, and 24 or 8 at the end."""
    whole, rest = divmod(filters, 16)
    if not rest:
        return [16] * whole
    return [16] * (whole - 1) + [24] if whole else [8]


@compiled(f"void({_numbers(13)}, float32, float32)")
def dense(data, places, weight, bias, result, addend, filters, runs, run, jump, first, last, most, low, high):
    """Windows `first` to `last`, counted in `places`, with all filters; `most` windows at a time stay in the cache."""
    apart = filters * FLOAT
    for begin in range(first, last, most):
        end = min(begin + most, last)
        filter = 0
        while filter < filters:
            left = filters - filter
            wide = 24 if left == 24 else min(16, left)
            rows = 4 if wide == 24 else ROWS
            panel, shift = weight + filter * runs * run * FLOAT, bias + filter * FLOAT
            for row in range(begin, end, rows):
                away = (row * filters + filter) * FLOAT
                more, out = addend + away if addend else 0, result + away
                several, where = min(rows, end - row), places + 8 * row
                if wide == 16:
                    _sixteen(several, data, where, panel, shift, runs, run, jump, out, apart, more, low, high)
                elif wide == 24:
                    _twenty_four(several, data, where, panel, shift, runs, run, jump, out, apart, more, low, high)
                else:
                    _eight(several, data, where, panel, shift, runs, run, jump, out, apart, more, low, high)
            filter += wide


def _sum_pixels(write: _Writer, pixels: int, step: int, data, weight, bias, rows, row, channels):
    """Sums of `pixels` results side by side, whose windows are three pixels wide, `step` pixels apart."""
    times = write.builder.mul

    def add_row(number, values):
        begin = write.builder.add(data, times(number, row))
        taps = write.builder.add(weight, times(number, times(channels, _INT(3))))
        kernel = [write.load(write.builder.add(taps, times(channels, _INT(i)))) for i in range(3)]
        wide = (pixels - 1) * step + 3
        inputs = [write.load(write.builder.add(begin, times(channels, _INT(i)))) for i in range(wide)]
        for place in range(3):
            values = [write.fma(inputs[i * step + place], kernel[place], value) for i, value in enumerate(values)]
        return values

    return write.loop(rows, [write.load(bias)] * pixels, add_row)


def _sum_pixel(write: _Writer, data, weight, bias, rows, row, columns, channels):
    """The sum of one result, of whose window `rows` x `columns` lie within the image."""
    build = write.builder

    def add_row(number, values):
        begin = build.add(data, build.mul(number, row))
        taps = build.add(weight, build.mul(number, build.mul(channels, _INT(3))))

        def add_column(place, values):
            away = build.mul(place, channels)
            return [write.fma(write.load(build.add(begin, away)), write.load(build.add(taps, away)), values[0])]

        return write.loop(columns, values, add_column)

    return write.loop(rows, [write.load(bias)], add_row)


def _side_by_side(step: int) -> Any:
    """The kernel for four results whose windows lie within the image's width."""

    def generate(context, builder, signature, arguments):
        *inputs, result, low, high = arguments
        write = _Writer(builder)
        sums = _sum_pixels(write, PIXELS, step, *inputs)
        write.finish([[value] for value in sums], result, inputs[-1], _INT(0), low, high)
        return context.get_dummy_value()

    @intrinsic
    def kernel(typing, data, weight, bias, rows, row, channels, result, low, high):
        return types.void(*[types.int64] * 7, types.float32, types.float32), generate

    return kernel


@intrinsic
def _single(typing, data, weight, bias, rows, row, columns, channels, result, low, high):
    """The kernel for one result."""

    def generate(context, builder, signature, arguments):
        *inputs, result, low, high = arguments
        write = _Writer(builder)
        write.finish([_sum_pixel(write, *inputs)], result, inputs[-1], _INT(0), low, high)
        return context.get_dummy_value()

    return types.void(*[types.int64] * 8, types.float32, types.float32), generate


_four, _four_apart = _side_by_side(1), _side_by_side(2)


@compiled(f"void({_numbers(12)}, float32, float32)")
def depthwise(data, weight, bias, result, height, width, channels, down, right, step, first, last, low, high):
    """Rows `first` to `last` of the results, counted over all images; windows begin one before the image."""
    apart = channels * FLOAT
    row = width * apart
    for line in range(first, last):
        top = line % down * step - 1
        above, below = max(0, -top), min(3, height - top)
        start = data + (line // down * height + top + above) * row
        x = 0
        while x < right:
            left = x * step - 1
            several = left >= 0 and left + (PIXELS - 1) * step + 3 <= width and x + PIXELS <= right
            before, behind = max(0, -left), min(3, width - left)
            at, out = start + (left + before) * apart, result + (line * right + x) * apart
            taps = weight + (above * 3 + before) * apart
            for lane in range(0, apart, LANES * FLOAT):
                if not several:
                    _single(
                        at + lane,
                        taps + lane,
                        bias + lane,
                        below - above,
                        row,
                        behind - before,
                        apart,
                        out + lane,
                        low,
                        high,
                    )
                elif step == 1:
                    _four(at + lane, taps + lane, bias + lane, below - above, row, apart, out + lane, low, high)
                else:
                    _four_apart(at + lane, taps + lane, bias + lane, below - above, row, apart, out + lane, low, high)
            x += PIXELS if several else 1


@compiled("void(float32[:, :, :, :], float32[:, :, :, ::1], int64, int64, int64, int64)")
def surround(images, padded, top, left, first, last):
    """Images (image, channel, row, column) into the middle of larger ones, channels last, of which the rest is zero."""
    channels, height, width = images.shape[1:]
    for number in range(first, last):
        for line in range(padded.shape[1]):
            made = padded[number, line]
            if line < top or line >= top + height:
                made[:] = 0
                continue
            made[:left] = 0
            made[left + width :] = 0
            for channel in range(channels):
                given = images[number, channel, line - top]
                for pixel in range(width):
                    made[left + pixel, channel] = given[pixel]
