"""Direct convolution, NHWC, by kernels for the processor's vectors; importing this module loads numba.

A dense convolution is a matrix product whose left rows begin wherever a pixel's window begins: each window is some
contiguous runs of floats (a row of the window, all channels). Weights are packed in panels of 16 filters: for each
position in the window, 16 filters' values are contiguous. Six windows and 16 filters are summed at a time, or four and
24, which is what AVX2's registers hold; with AVX-512 eight windows and up to 32 filters.
"""

from typing import Any

from numba import njit

from ..matmul.micro_kernels import AHEAD, LEVEL
from ..runtime.simd import FLOAT, LANES, OPTIONS, WIDE, Writer, compiled, numbers, writes
from .direct import FEW_CHANNELS

LINE = 64  # bytes that memory is read in
PANELS = 4  # of a weight, read at once for a single window, to hide the latency of memory
PANEL = 16  # filters, or channels
LARGE = WIDE == PANEL
ROWS, ROWS_OF_24 = (8, 8) if LARGE else (6, 4)  # windows at a time
ROWS_AT_ONCE = 64 if LARGE else 60  # whose windows stay in the cache while all filters pass
PIXELS, SIDE = 4, 3  # results of a depthwise convolution at a time, and its windows' sides
SINGLE = 3  # instead of steps between windows: one result only


def panels(filters: int) -> list[int]:
    """How many filters are summed at a time: 16 each, and 24 or 8 at the end."""
    whole, rest = divmod(filters, PANEL)
    if not rest:
        return [PANEL] * whole
    return [PANEL] * (whole - 1) + [24] if whole else [8]


def _store(write: Writer, sums: list[Any], biases: list[Any], result, apart, addend, low, high) -> None:
    """The epilogue: add the biases and what is at `addend` (0: nothing), clamp, store rows of vectors, `apart`.

    Sums do not begin with their biases: a large one would take digits from all products.
    """
    clamp, vectors = (write.broadcast(low), write.broadcast(high)), len(biases)
    sums = [total + biases[number % vectors] for number, total in enumerate(sums)]

    def store(add: bool) -> None:
        for number, total in enumerate(sums):
            row, vector = divmod(number, vectors)
            place = write.at(write.times(apart, row), vector * write.bytes)
            value = total + write.load(write.at(addend, place)) if add else total
            write.store(value.clamp(*clamp), write.at(result, place))

    with write.builder.if_else(write.builder.icmp_signed("!=", addend, addend.type(0))) as (added, alone):
        with added:
            store(True)
        with alone:
            store(False)


def _windows(filters: int, most: int) -> Any:
    """The kernel for some filters, of one panel or two of 16, and one to `most` windows."""
    lanes, width = LANES if filters % WIDE else WIDE, (PANEL if filters == 2 * PANEL else filters) * FLOAT
    vectors = filters // lanes

    @writes(11, floats=2, lanes=lanes)
    def kernel(write: Writer, rows, data, offsets, weight, bias, runs, run, jump, result, apart, addend, low, high):
        step = write.times(run, width)
        size = write.times(step, runs)

        def some(count: int) -> None:
            starts = [write.at(data, write.int64(write.at(offsets, 8 * row))) for row in range(count)]

            def add_run(weight, away, sums):
                begins = [write.at(start, away) for start in starts]

                def add(place, offset, sums):
                    lines = [place, write.at(place, size)][: filters * FLOAT // width]  # of each panel
                    values = [write.load(write.at(line, i)) for line in lines for i in range(0, width, write.bytes)]
                    for line in lines:
                        write.prefetch(write.at(line, AHEAD), LEVEL)
                    pixels = (write.load_broadcast(write.at(begin, offset)) for begin in begins)
                    products = [pixel * value for pixel in pixels for value in values]
                    return write.at(offset, FLOAT), [p + total for p, total in zip(products, sums, strict=True)]

                end, nothing = write.at(weight, step), run.type(0)
                return write.at(away, jump), write.short_loops(weight, end, width, nothing, FLOAT, sums, add)

            nothing = [write.zeros()] * (vectors * count)
            sums = write.loop(weight, write.at(weight, size), step, run.type(0), nothing, add_run)
            biases = [write.load(write.at(bias, i * write.bytes)) for i in range(vectors)]
            _store(write, sums, biases, result, apart, addend, low, high)

        write.choose(rows, most, some)

    return kernel


@writes(7, floats=2, lanes=WIDE)
def _one_window(write: Writer, data, offsets, weight, bias, run, result, addend, low, high):
    """One window, a single run, and the filters of some panels."""
    width, vectors = PANEL * FLOAT, PANELS * PANEL // WIDE
    begin, step = write.at(data, write.int64(offsets)), write.times(run, width)
    panels = [write.times(step, number) for number in range(PANELS)]

    def add(place, begin, sums):
        pixel, products = write.load_broadcast(begin), []
        for panel in panels:
            here = write.at(place, panel)
            write.prefetch(write.at(here, AHEAD), LEVEL)
            products += [pixel * write.load(write.at(here, i)) for i in range(0, width, write.bytes)]
        return write.at(begin, FLOAT), [p + total for p, total in zip(products, sums, strict=True)]

    sums = write.short_loops(weight, write.at(weight, step), width, begin, FLOAT, [write.zeros()] * vectors, add)
    biases = [write.load(write.at(bias, i * write.bytes)) for i in range(vectors)]
    _store(write, sums, biases, result, step, addend, low, high)


@writes(3)
def _prefetch(write: Writer, address, offsets, distance):
    """Prefetch a cache line, `distance` bytes behind where the window at `offsets` begins."""
    write.prefetch(write.at(address, write.int64(offsets), distance))


_eight, _sixteen = _windows(8, ROWS), _windows(16, ROWS)
_twenty_four = _windows(24, ROWS_OF_24)
_thirty_two = _windows(32, ROWS) if LARGE else _sixteen


@njit(**OPTIONS)
def _wide(left):
    """How many of the filters that are left are summed next: the last are 24 where they are no multiple of 16."""
    if LARGE and left >= 2 * PANEL and left != PANEL + 24:
        return 2 * PANEL
    return 24 if left == 24 else min(PANEL, left)


@compiled(f"void({numbers(14)}, float32, float32)")
def dense(data, offsets, weight, bias, result, addend, filters, runs, run, jump, windows, first, last, at_once,
          low, high):  # fmt: skip
    """All filters of the windows `first` to `last`, counted in `offsets`; some `at_once` stay in the cache.

    If `windows` is not negative: the panels `first` to `last` of filters, for so many windows.
    """
    above, below, start, stop = first, last, 0, filters
    if windows >= 0:
        above, below, start = 0, windows, first * PANEL
        stop = last * PANEL if filters - last * PANEL >= PANEL else filters  # the last panel may be larger
    apart, number = filters * FLOAT, below - above
    blocks = max(1, (number + at_once - 1) // at_once) * ROWS
    most = max(1, (number + blocks - 1) // blocks) * ROWS
    for begin in range(above, below, most):
        end = min(begin + most, below)
        filter = start
        while filter < stop:
            left = stop - filter
            wide = _wide(left)
            rows = ROWS_OF_24 if wide == 24 else ROWS
            panel, bias_value = weight + filter * runs * run * FLOAT, bias + filter * FLOAT
            if end - begin == 1 and runs == 1 and (left == PANEL * PANELS or left >= PANEL * PANELS + 24):
                away = (begin * filters + filter) * FLOAT
                more = addend + away if addend else 0
                _one_window(data, offsets + 8 * begin, panel, bias_value, run, result + away, more, low, high)
                filter += PANEL * PANELS
                continue
            for row in range(begin, end, rows):
                away = (row * filters + filter) * FLOAT
                more, out = addend + away if addend else 0, result + away
                several, where = min(rows, end - row), offsets + 8 * row
                if filter == start and runs == 1:  # the next windows, of one pixel, lie behind these
                    for line in range(rows * run * FLOAT, 2 * rows * run * FLOAT, LINE):
                        _prefetch(data, where, line)
                if wide == PANEL:
                    _sixteen(several, data, where, panel, bias_value, runs, run, jump, out, apart, more, low, high)
                elif wide == 2 * PANEL:
                    _thirty_two(several, data, where, panel, bias_value, runs, run, jump, out, apart, more, low, high)
                elif wide == 24:
                    _twenty_four(several, data, where, panel, bias_value, runs, run, jump, out, apart, more, low, high)
                else:
                    _eight(several, data, where, panel, bias_value, runs, run, jump, out, apart, more, low, high)
            filter += wide


def _channels(lanes: int) -> Any:
    """The kernel for a vector of channels: of one result, or of four, whose windows are within the image's width."""

    @writes(10, floats=2, lanes=lanes)
    def kernel(write: Writer, kind, data, weight, bias, rows, row, columns, pixel, channels, result, low, high):
        apart = write.times(channels, SIDE)
        end = write.at(weight, write.times(apart, rows))

        def one(taps, begin, sums):
            """A row of one window, of which `columns` lie within the image."""

            def add(tap, place, sums):
                return write.at(place, pixel), [write.load(place) * write.load(tap) + sums[0]]

            last = write.at(taps, write.times(channels, columns))
            return write.at(begin, row), write.loop(taps, last, channels, begin, sums, add)

        def four(step: int) -> Any:
            """A row of four windows, `step` pixels apart."""

            def add_row(taps, begin, sums):
                kernel = [write.load(write.at(taps, write.times(channels, i))) for i in range(SIDE)]
                wide = (PIXELS - 1) * step + SIDE
                inputs = [write.load(write.at(begin, write.times(pixel, i))) for i in range(wide)]
                for place in range(SIDE):
                    sums = [inputs[i * step + place] * kernel[place] + total for i, total in enumerate(sums)]
                return write.at(begin, row), sums

            return add_row

        def some(which: int) -> None:
            add, count = (one, 1) if which == SINGLE else (four(which), PIXELS)
            sums = write.loop(weight, end, apart, data, [write.zeros()] * count, add)
            _store(write, sums, [write.load(bias)], result, channels, channels.type(0), low, high)

        write.choose(kind, SINGLE, some)

    return kernel


_eight_channels = _channels(LANES)
_wide_channels = _channels(WIDE) if LARGE else _eight_channels


@compiled(f"void({numbers(13)}, float32, float32)")
def depthwise(data, weight, bias, result, height, width, some, channels, down, right, step, first, last, low, high):
    """Rows `first` to `last` of the results, counted over all images; the padding is one.

    The data have `some` of the channels that weights and results have.
    """
    pixel, apart = some * FLOAT, channels * FLOAT
    row, whole = width * pixel, some // WIDE * WIDE * FLOAT
    for line in range(first, last):
        top = line % down * step - 1
        above, below = max(0, -top), min(SIDE, height - top)
        start, rows = data + (line // down * height + top + above) * row, below - above
        x = 0
        while x < right:
            left = x * step - 1
            several = left >= 0 and left + (PIXELS - 1) * step + SIDE <= width and x + PIXELS <= right
            before, behind = max(0, -left), min(SIDE, width - left)
            at, out = start + (left + before) * pixel, result + (line * right + x) * apart
            taps, columns = weight + (above * SIDE + before) * apart, behind - before
            kind, i = step if several else SINGLE, 0
            if LARGE:
                while i < whole:
                    _wide_channels(kind, at + i, taps + i, bias + i, rows, row, columns, pixel, apart, out + i,
                                   low, high)  # fmt: skip
                    i += WIDE * FLOAT
            while i < pixel:
                _eight_channels(kind, at + i, taps + i, bias + i, rows, row, columns, pixel, apart, out + i, low, high)
                i += LANES * FLOAT
            x += PIXELS if several else 1


@writes(3)
def _copy(write: Writer, target, source, size):
    write.move(target, source, size)


@compiled(f"void({numbers(18)}, float32, float32, float32, float32)")
def pointwise_depthwise(
    data, offsets, weight, bias, run, channels, taps, biases, result, height, width, down, right, step, strip, scratch,
    first, last, low, high, low_2, high_2,
):  # fmt: skip
    """A pointwise convolution and a depthwise one behind it, `strip` lines of whose results are computed at once.

    The intermediate lines, in scratch memory, stay in the cache; those that the next strip needs, too, move to its top.
    """
    row = width * channels * FLOAT
    line, top, bottom = first, 0, 0
    while line < last:
        image, y = line // down, line % down
        some = min(strip, down - y, last - line)
        before, known = top, bottom
        top, bottom = y * step - 1, min(height, (y + some - 1) * step - 1 + SIDE)
        begin, lines = max(top, 0), scratch - (image * height + top) * row
        if line > first and y > 0:
            _copy(scratch + (begin - top) * row, scratch + (begin - before) * row, (known - begin) * row)
            begin = known
        pixels = (image * height + begin) * width, (image * height + bottom) * width
        dense(data, offsets, weight, bias, lines, 0, channels, 1, run, 0, -1, *pixels, ROWS_AT_ONCE, low, high)
        depthwise(lines, taps, biases, result, height, width, channels, channels, down, right, step, line, line + some,
                  low_2, high_2)  # fmt: skip
        line += some


@compiled(f"void({numbers(18)}, float32, float32, float32, float32)")
def pointwise_depthwise_panels(
    data, offsets, weight, bias, run, channels, taps, biases, result, batch, height, width, down, right, step, scratch,
    first, last, low, high, low_2, high_2,
):  # fmt: skip
    """The same for panels `first` to `last` of channels: one panel of a whole image at a time stays in the cache."""
    pixels = height * width
    for panel in range(first * PANEL, last * PANEL, PANEL):
        there = panel * FLOAT
        for image in range(batch):
            for pixel in range(0, pixels, ROWS):
                where = offsets + 8 * (image * pixels + pixel)
                _sixteen(min(ROWS, pixels - pixel), data, where, weight + run * there, bias + there, 1, run, 0,
                         scratch + pixel * PANEL * FLOAT, PANEL * FLOAT, 0, low, high)  # fmt: skip
            made = result + image * down * right * channels * FLOAT
            depthwise(scratch, taps + there, biases + there, made + there, height, width, PANEL, channels, down, right,
                      step, 0, down, low_2, high_2)  # fmt: skip


@compiled(f"void({numbers(12)})")
def pad(data, zeros, result, height, width, pixel, above, before, tall, wide, first, last):
    """Zero padding: lines `first` to `last`, over all images, of larger images with `pixel` bytes a pixel."""
    line, row = wide * pixel, width * pixel
    for number in range(first, last):
        there, y = result + number * line, number % tall - above
        if y < 0 or y >= height:
            _copy(there, zeros, line)
            continue
        inner = there + before * pixel
        _copy(there, zeros, before * pixel)
        _copy(inner, data + (number // tall * height + y) * row, row)
        _copy(inner + row, zeros, line - row - before * pixel)


def _interleave_kernel(lanes: int) -> Any:
    """The kernel that interleaves up to four channels, each in a plane of its own: `size` bytes of each."""

    def vector(write: Writer, channels: list[Any], number: int) -> Any:
        """The result's vector of this number."""
        count = len(channels)
        made = channels[0]
        for own, channel in enumerate(channels[1:], 1):
            offsets = []
            for lane in range(lanes):
                pixel, which = divmod(number * lanes + lane, count)
                offsets.append(lanes + pixel % lanes if which == own else lane if own > 1 else pixel % lanes)
            made = write.shuffle(made, channel, offsets)
        return made

    @writes(5, lanes=lanes)
    def kernel(write: Writer, count, target, source, plane, size):
        def some(count: int) -> None:
            def interleave(place, target, _):
                channels = [write.load(write.at(place, write.times(plane, i))) for i in range(count)]
                for number in range(count):
                    write.store(vector(write, channels, number), write.at(target, number * write.bytes))
                return write.at(target, count * write.bytes), []

            write.loop(source, write.at(source, size), write.bytes, target, [], interleave)

        write.choose(count, FEW_CHANNELS, some)

    return kernel


_interleave, _interleave_one = _interleave_kernel(WIDE), _interleave_kernel(1)


@compiled(f"void({numbers(15)})")
def pad_interleaved(data, zeros, result, image, plane, row, channels, height, width, above, before, tall, wide, first,
                    last):  # fmt: skip
    """Zero padding and interleaving: lines `first` to `last`, over all images, of larger NHWC images.

    The images given have up to four channels; `image`, `plane` and `row` are their strides in bytes.
    """
    pixel, whole = channels * FLOAT, width // WIDE * WIDE
    for number in range(first, last):
        there, y = result + number * wide * pixel, number % tall - above
        if y < 0 or y >= height:
            _copy(there, zeros, wide * pixel)
            continue
        inner, source = there + before * pixel, data + number // tall * image + y * row
        _copy(there, zeros, before * pixel)
        if whole:
            _interleave(channels, inner, source, plane, whole * FLOAT)
        if whole < width:
            _interleave_one(channels, inner + whole * pixel, source + whole * FLOAT, plane, (width - whole) * FLOAT)
        _copy(inner + width * pixel, zeros, (wide - width - before) * pixel)
