"""Convolutions, channels last, by kernels for vectors of eight floats; importing this module asks for numba.

A dense convolution is a product of matrices whose left rows begin wherever a pixel's window begins: each window is some
runs of floats that lie together (a row of the window, all channels). Weights are packed: for 16 filters at a time, the
values of each place of the window side by side. Six windows and 16 filters are summed at a time, or four and 24, which
is what the registers hold.
"""

from typing import Any

from .vectors import FLOAT, VECTOR_BYTES, Writer, compiled, numbers, writes

ROWS, LINE = 6, 64  # windows at a time, bytes that memory is read in
AHEAD = 4096  # bytes of a weight that are fetched ahead: the processor itself stops at the end of a page
PANELS = 4  # of a weight, read side by side for a single window: there is nothing else to wait for memory with
ROWS_AT_ONCE = 60  # whose windows stay in the cache while all filters pass
PANEL = 16  # filters, or channels
PIXELS, SIDE = 4, 3  # results of a depthwise convolution at a time, and its windows' sides


def panels(filters: int) -> list[int]:
    """How many filters are summed at a time: 16 each, and 24 or 8 at the end."""
    whole, rest = divmod(filters, PANEL)
    if not rest:
        return [PANEL] * whole
    return [PANEL] * (whole - 1) + [24] if whole else [8]


def _store(write: Writer, sums: list[Any], result, apart, addend, low, high) -> None:
    """Add what is at `addend` (0: nothing), apply the bounds, store rows of vectors `apart` from each other."""
    bounds = write.spread(low), write.spread(high)

    def store(add: bool) -> None:
        for row, vectors in enumerate(sums):
            away = write.times(apart, row)
            for number, total in enumerate(vectors):
                place = write.at(away, number * VECTOR_BYTES)
                value = total + write.load(write.at(addend, place)) if add else total
                write.store(value.between(*bounds), write.at(result, place))

    with write.builder.if_else(write.builder.icmp_signed("!=", addend, addend.type(0))) as (added, alone):
        with added:
            store(True)
        with alone:
            store(False)


def _windows(vectors: int, most: int) -> Any:
    """The kernel for some filters, and one to `most` windows."""
    width = vectors * VECTOR_BYTES

    @writes(11, floats=2)
    def kernel(write: Writer, rows, data, places, weight, bias, runs, run, jump, result, apart, addend, low, high):
        def some(count: int) -> None:
            starts = [write.at(data, write.whole(write.at(places, 8 * row))) for row in range(count)]

            def add_run(weight, away, sums):
                begins = [write.at(start, away) for start in starts]

                def add(place, offset, sums):
                    filters = [write.load(write.at(place, i * VECTOR_BYTES)) for i in range(vectors)]
                    write.prefetch(write.at(place, AHEAD))
                    pixels = (write.everywhere(write.at(begin, offset)) for begin in begins)
                    products = [pixel * values for pixel in pixels for values in filters]
                    return write.at(offset, FLOAT), [p + total for p, total in zip(products, sums, strict=True)]

                end = write.at(weight, write.times(run, width))
                return write.at(away, jump), write.loop(weight, end, width, run.type(0), sums, add)

            shifts = [write.load(write.at(bias, i * VECTOR_BYTES)) for i in range(vectors)]
            step = write.times(run, width)
            end = write.at(weight, write.times(step, runs))
            sums = write.loop(weight, end, step, run.type(0), shifts * count, add_run)
            rows_of = [sums[row * vectors : (row + 1) * vectors] for row in range(count)]
            _store(write, rows_of, result, apart, addend, low, high)

        write.choose(rows, most, some)

    return kernel


@writes(7, floats=2)
def _alone(write: Writer, data, places, weight, bias, run, result, addend, low, high):
    """One window, a single run, and the filters of some panels."""
    begin, step = write.at(data, write.whole(places)), write.times(run, 2 * VECTOR_BYTES)
    panels = [write.times(step, number) for number in range(PANELS)]

    def add(place, begin, sums):
        pixel, products = write.everywhere(begin), []
        for panel in panels:
            here = write.at(place, panel)
            write.prefetch(write.at(here, AHEAD))
            products += [pixel * write.load(write.at(here, i * VECTOR_BYTES)) for i in range(2)]
        return write.at(begin, FLOAT), [p + total for p, total in zip(products, sums, strict=True)]

    shifts = [write.load(write.at(bias, i * VECTOR_BYTES)) for i in range(2 * PANELS)]
    sums = write.loop(weight, write.at(weight, step), 2 * VECTOR_BYTES, begin, shifts, add)
    _store(write, [sums], result, step, addend, low, high)


@writes(3)
def _expect(write: Writer, address, places, distance):
    """Ask for a line of memory, `distance` behind where the window at `places` begins."""
    write.prefetch(write.at(address, write.whole(places), distance))


_eight, _sixteen, _twenty_four = _windows(1, ROWS), _windows(2, ROWS), _windows(3, 4)


@compiled(f"void({numbers(14)}, float32, float32)")
def dense(data, places, weight, bias, result, addend, filters, runs, run, jump, windows, first, last, at_once,
          low, high):  # fmt: skip
    """All filters of the windows `first` to `last`, counted in `places`; some `at_once` stay in the cache.

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
            wide = 24 if left == 24 else min(PANEL, left)
            rows = 4 if wide == 24 else ROWS
            panel, shift = weight + filter * runs * run * FLOAT, bias + filter * FLOAT
            if end - begin == 1 and runs == 1 and (left == PANEL * PANELS or left >= PANEL * PANELS + 24):
                away = (begin * filters + filter) * FLOAT
                more = addend + away if addend else 0
                _alone(data, places + 8 * begin, panel, shift, run, result + away, more, low, high)
                filter += PANEL * PANELS
                continue
            for row in range(begin, end, rows):
                away = (row * filters + filter) * FLOAT
                more, out = addend + away if addend else 0, result + away
                several, where = min(rows, end - row), places + 8 * row
                if filter == start and runs == 1:  # the next windows, of one pixel, lie behind these
                    for line in range(rows * run * FLOAT, 2 * rows * run * FLOAT, LINE):
                        _expect(data, where, line)
                if wide == PANEL:
                    _sixteen(several, data, where, panel, shift, runs, run, jump, out, apart, more, low, high)
                elif wide == 24:
                    _twenty_four(several, data, where, panel, shift, runs, run, jump, out, apart, more, low, high)
                else:
                    _eight(several, data, where, panel, shift, runs, run, jump, out, apart, more, low, high)
            filter += wide


def _side_by_side(step: int) -> Any:
    """The kernel for four results whose windows, `step` pixels apart, lie within the image's width."""
    wide = (PIXELS - 1) * step + SIDE

    @writes(8, floats=2)
    def kernel(write: Writer, data, weight, bias, rows, row, pixel, channels, result, low, high):
        def add_row(taps, begin, sums):
            kernel = [write.load(write.at(taps, write.times(channels, i))) for i in range(SIDE)]
            inputs = [write.load(write.at(begin, write.times(pixel, i))) for i in range(wide)]
            for place in range(SIDE):
                sums = [inputs[i * step + place] * kernel[place] + total for i, total in enumerate(sums)]
            return write.at(begin, row), sums

        apart = write.times(channels, SIDE)
        end = write.at(weight, write.times(apart, rows))
        sums = write.loop(weight, end, apart, data, [write.load(bias)] * PIXELS, add_row)
        _store(write, [[total] for total in sums], result, channels, channels.type(0), low, high)

    return kernel


@writes(9, floats=2)
def _single(write: Writer, data, weight, bias, rows, row, columns, pixel, channels, result, low, high):
    """The kernel for one result, of whose window `rows` x `columns` lie within the image."""

    def add_row(taps, begin, sums):
        def add(tap, place, sums):
            return write.at(place, pixel), [write.load(place) * write.load(tap) + sums[0]]

        end = write.at(taps, write.times(channels, columns))
        return write.at(begin, row), write.loop(taps, end, channels, begin, sums, add)

    apart = write.times(channels, SIDE)
    sums = write.loop(weight, write.at(weight, write.times(apart, rows)), apart, data, [write.load(bias)], add_row)
    _store(write, [sums], result, channels, channels.type(0), low, high)


_four, _four_apart = _side_by_side(1), _side_by_side(2)


@compiled(f"void({numbers(13)}, float32, float32)")
def depthwise(data, weight, bias, result, height, width, some, channels, down, right, step, first, last, low, high):
    """Rows `first` to `last` of the results, counted over all images; windows begin one before the image.

    The data are `some` of the channels that weights and results have.
    """
    pixel, apart = some * FLOAT, channels * FLOAT
    row = width * pixel
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
            for i in range(0, pixel, VECTOR_BYTES):
                if not several:
                    _single(at + i, taps + i, bias + i, rows, row, columns, pixel, apart, out + i, low, high)
                elif step == 1:
                    _four(at + i, taps + i, bias + i, rows, row, pixel, apart, out + i, low, high)
                else:
                    _four_apart(at + i, taps + i, bias + i, rows, row, pixel, apart, out + i, low, high)
            x += PIXELS if several else 1


@writes(3)
def _move(write: Writer, target, source, size):
    write.move(target, source, size)


@compiled(f"void({numbers(18)}, float32, float32, float32, float32)")
def expanded(
    data, places, weight, bias, run, channels, taps, shifts, result, height, width, down, right, step, strip, scratch,
    first, last, low, high, low_too, high_too,
):  # fmt: skip
    """A dense convolution of one pixel, and a depthwise one behind it, of whose results `strip` lines are made at once.

    What is between both, in scratch memory, stays in the cache; lines that the next strip needs, too, move to its top.
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
            _move(scratch + (begin - top) * row, scratch + (begin - before) * row, (known - begin) * row)
            begin = known
        pixels = (image * height + begin) * width, (image * height + bottom) * width
        dense(data, places, weight, bias, lines, 0, channels, 1, run, 0, -1, *pixels, ROWS_AT_ONCE, low, high)
        depthwise(lines, taps, shifts, result, height, width, channels, channels, down, right, step, line, line + some,
                  low_too, high_too)  # fmt: skip
        line += some


@compiled(f"void({numbers(18)}, float32, float32, float32, float32)")
def expanded_across(
    data, places, weight, bias, run, channels, taps, shifts, result, batch, height, width, down, right, step, scratch,
    first, last, low, high, low_too, high_too,
):  # fmt: skip
    """The same for the panels `first` to `last` of channels, of which one, of a whole image, stays in the cache."""
    pixels = height * width
    for panel in range(first * PANEL, last * PANEL, PANEL):
        there = panel * FLOAT
        for image in range(batch):
            for pixel in range(0, pixels, ROWS):
                where = places + 8 * (image * pixels + pixel)
                _sixteen(min(ROWS, pixels - pixel), data, where, weight + run * there, bias + there, 1, run, 0,
                         scratch + pixel * PANEL * FLOAT, PANEL * FLOAT, 0, low, high)  # fmt: skip
            made = result + image * down * right * channels * FLOAT
            depthwise(scratch, taps + there, shifts + there, made + there, height, width, PANEL, channels, down, right,
                      step, 0, down, low_too, high_too)  # fmt: skip


@compiled(f"void({numbers(12)})")
def enclose(data, zeros, result, height, width, pixel, above, before, tall, wide, first, last):
    """Lines `first` to `last`, over all images, of larger images of pixels of so many bytes: the rest is zero."""
    line, row = wide * pixel, width * pixel
    for number in range(first, last):
        there, y = result + number * line, number % tall - above
        if y < 0 or y >= height:
            _move(there, zeros, line)
            continue
        inner = there + before * pixel
        _move(there, zeros, before * pixel)
        _move(inner, data + (number // tall * height + y) * row, row)
        _move(inner + row, zeros, line - row - before * pixel)


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
            if channels == 3:  # colours side by side: one pass over the line
                red, green = images[number, 0, line - top], images[number, 1, line - top]
                blue = images[number, 2, line - top]
                for pixel in range(width):
                    made[left + pixel, 0] = red[pixel]
                    made[left + pixel, 1] = green[pixel]
                    made[left + pixel, 2] = blue[pixel]
                continue
            for channel in range(channels):
                given = images[number, channel, line - top]
                for pixel in range(width):
                    made[left + pixel, channel] = given[pixel]
