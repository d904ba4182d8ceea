"""Pictures of the demonstration: the training's curve, test digits with the network's answers, the confusion matrix.

They are drawn with OpenCV, which every installation has.
"""

import importlib.util

import numpy as np

ROWS, COLUMNS = 6, 12
BLACK, GREY, PALE = (0, 0, 0), (150, 150, 150), (220, 220, 220)
RED, GREEN, BLUE = (40, 39, 214), (44, 140, 44), (180, 119, 31)  # of OpenCV's order: blue, green, red


def draw(folder, losses, scores, images, truth, answers):
    """Write the pictures into a folder; the sentence that tells of them."""
    if importlib.util.find_spec("cv2") is None:
        return "no pictures: they need pip install 'remx[image]'"
    import cv2

    pictures = {
        "curve.png": curve(losses, scores),
        "digits.png": digits(images, truth, answers),
        "confusion.png": confusions(truth, answers),
    }
    for name, picture in pictures.items():
        (folder / name).write_bytes(cv2.imencode(".png", picture)[1].tobytes())
    return f"wrote {', '.join(str(folder / name) for name in pictures)}"


def confusion(truth, answers):
    """How often the digit of a row was called the digit of a column."""
    counts = np.zeros((10, 10), int)
    np.add.at(counts, (truth, answers), 1)
    return counts


def _paper(height, width):
    return np.full((height, width, 3), 255, "uint8")


def _write(paper, words, x, y, colour=BLACK, size=0.42, across=0.5):
    """Text whose middle is at (x, y); `across` is the part of its width that lies left of x."""
    import cv2

    (width, height), _ = cv2.getTextSize(words, cv2.FONT_HERSHEY_SIMPLEX, size, 1)
    corner = (int(x - across * width), int(y + height / 2))
    cv2.putText(paper, words, corner, cv2.FONT_HERSHEY_SIMPLEX, size, colour, 1, cv2.LINE_AA)


def _write_upwards(paper, words, x, y, length=160):
    """Text turned by a quarter, with its middle at (x, y)."""
    strip = _paper(20, length)
    _write(strip, words, length / 2, 10)
    paper[y - length // 2 : y + length // 2, x - 10 : x + 10] = np.rot90(strip)


def digits(images, truth, answers):
    """All mistakes first, up to two thirds of the places, then digits that were read correctly."""
    import cv2

    wrong, right = np.flatnonzero(truth != answers), np.flatnonzero(truth == answers)
    places = ROWS * COLUMNS
    shown = np.concatenate([wrong[: places * 2 // 3], right])[:places]
    side, cell, head = 70, (104, 88), 40
    paper = _paper(head + ROWS * cell[0], COLUMNS * cell[1])
    title = f"{len(images)} test digits, {len(wrong)} mistakes: answers in red are wrong"
    _write(paper, title, paper.shape[1] / 2, 18, size=0.6)
    for place, index in enumerate(shown):
        top, left = head + place // COLUMNS * cell[0], place % COLUMNS * cell[1]
        mistake = truth[index] != answers[index]
        answer = f"{answers[index]}, not {truth[index]}" if mistake else str(answers[index])
        _write(paper, answer, left + cell[1] / 2, top + 10, RED if mistake else GREEN)
        digit = cv2.resize(255 - images[index].astype("uint8"), (side, side), interpolation=cv2.INTER_CUBIC)
        margin = (cell[1] - side) // 2
        paper[top + 24 : top + 24 + side, left + margin : left + margin + side] = digit[:, :, None]
    return paper


def confusions(truth, answers):
    """The confusion matrix in shades of blue, by the logarithm of its counts."""
    counts, cell, head = confusion(truth, answers), 48, 56
    paper = _paper(10 * cell + 20 + head, 10 * cell + 20 + head)
    shades = np.log1p(counts) / np.log1p(counts.max())
    for (row, column), count in np.ndenumerate(counts):
        y, x = row * cell + 10, head + column * cell + 10
        paper[y : y + cell - 2, x : x + cell - 2] = 255 - shades[row, column] * (255 - np.array(BLUE))
        if count:
            _write(paper, str(count), x + cell / 2, y + cell / 2, PALE if shades[row, column] > 0.6 else BLACK, 0.5)
    for digit in range(10):
        _write(paper, str(digit), head - 2, digit * cell + 10 + cell / 2)
        _write(paper, str(digit), head + 10 + digit * cell + cell / 2, 10 * cell + 24)
    _write(paper, "the network's answer", head + 5 * cell, 10 * cell + 52)
    _write_upwards(paper, "the digit", 22, 5 * cell + 10)
    return paper


def curve(losses, scores):
    """The loss of each batch and epoch beside the accuracy after each epoch."""
    each = len(losses) // len(scores)
    epochs = np.arange(1, len(scores) + 1)
    batches = np.arange(1, len(losses) + 1) / each
    means = np.reshape(losses, (len(scores), each)).mean(1)
    percent = 100 * np.array(scores)
    left = _Plot("training loss", "grey: batches, blue: epochs", batches, losses, logarithm=True)
    left.line(batches, losses, GREY)
    left.line(epochs, means, BLUE, dots=True)
    right = _Plot("test accuracy, %", f"{percent[-1]:.1f} % after {len(scores)} epochs", batches, [*percent, 100])
    right.line(batches[[0, -1]], [98, 98], PALE)
    right.line(epochs, percent, BLUE, dots=True)
    return np.concatenate([left.paper, right.paper], axis=1)


def _round_numbers(low, high, logarithm):
    """Numbers for an axis, in steps of 1, 2 or 5 of some power of ten."""
    if logarithm:
        found = [digit * 10.0**power for power in range(-9, 10) for digit in (1, 2, 5)]
        return [number for number in found if low <= np.log10(number) <= high]
    power = 10.0 ** np.floor(np.log10((high - low) / 4))
    step = next(power * digit for digit in (1, 2, 5, 10) if (high - low) / (power * digit) <= 6)
    return np.arange(np.ceil(low / step), np.floor(high / step) + 1) * step


class _Plot:
    """Lines over the epochs of a training, in a frame with numbers at both axes."""

    TOP, LEFT, HEIGHT, WIDTH = 40, 80, 300, 390

    def __init__(self, label, title, x, y, logarithm=False):
        self._scale = np.log10 if logarithm else np.asarray
        self.paper = _paper(self.TOP + self.HEIGHT + 56, self.LEFT + self.WIDTH + 20)
        self._x = min(1, np.min(x)), max(np.max(x), 2)
        low, high = (float(self._scale(max(bound, 1e-9))) for bound in (np.min(y), np.max(y)))
        margin = 0.05 * (high - low) or 0.5
        self._y = low - margin, high + margin
        self._draw_frame(label, title, logarithm)

    def _places(self, x, y):
        """Points of the paper."""
        right = (np.asarray(x) - self._x[0]) / (self._x[1] - self._x[0]) * self.WIDTH
        up = (np.asarray(y) - self._y[0]) / (self._y[1] - self._y[0]) * self.HEIGHT
        return np.stack([self.LEFT + right, self.TOP + self.HEIGHT - up], axis=-1).round().astype("int32")

    def _draw_frame(self, label, title, logarithm):
        import cv2

        corners = (self.LEFT, self.TOP), (self.LEFT + self.WIDTH, self.TOP + self.HEIGHT)
        cv2.rectangle(self.paper, *corners, GREY, 1)
        _write(self.paper, title, self.LEFT + self.WIDTH / 2, 20, size=0.5)
        _write(self.paper, "epoch", self.LEFT + self.WIDTH / 2, self.TOP + self.HEIGHT + 42)
        _write_upwards(self.paper, label, 14, self.TOP + self.HEIGHT // 2)
        for tick in _round_numbers(*self._y, logarithm):
            y = self._places(0, self._scale(tick))[1]
            _write(self.paper, f"{tick:g}", self.LEFT - 8, y, across=1)
        last = int(self._x[1])
        for tick in range(0, last + 1, max(1, last // 8)):
            if tick >= self._x[0]:
                _write(self.paper, str(tick), self._places(tick, 0)[0], self.TOP + self.HEIGHT + 16)

    def line(self, x, y, colour, dots=False):
        """A line through points; `dots` marks them."""
        import cv2

        points = self._places(x, self._scale(np.maximum(y, 1e-9)))
        cv2.polylines(self.paper, [points], False, colour, 1, cv2.LINE_AA)
        for point in points if dots else ():
            cv2.circle(self.paper, tuple(map(int, point)), 3, colour, -1, cv2.LINE_AA)
