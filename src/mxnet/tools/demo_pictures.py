"""Pictures of the demonstration: the training's curve, test digits with the network's answers, the confusion matrix."""

import importlib.util

import numpy as np

ROWS, COLUMNS = 6, 12


def draw(folder, losses, scores, images, truth, answers):
    """Write the pictures into a folder; the sentence that tells of them."""
    if importlib.util.find_spec("matplotlib") is None:
        return "no pictures: they need pip install 'remx[plot]'"
    pictures = {
        "curve.png": (_curve, (losses, scores)),
        "digits.png": (_digits, (images, truth, answers)),
        "confusion.png": (_confusion, (truth, answers)),
    }
    for name, (drawn, arguments) in pictures.items():
        drawn(*arguments).savefig(folder / name, dpi=110)
    return f"wrote {', '.join(str(folder / name) for name in pictures)}"


def confusion(truth, answers):
    """How often the digit of a row was called the digit of a column."""
    counts = np.zeros((10, 10), int)
    np.add.at(counts, (truth, answers), 1)
    return counts


def _figure(width, height):
    """A figure of its own: the program's backend and its list of figures stay as they are."""
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure

    figure = Figure(figsize=(width, height), layout="constrained")
    FigureCanvasAgg(figure)
    return figure


def _curve(losses, scores):
    figure = _figure(9, 3.5)
    left, right = figure.subplots(1, 2)
    each = len(losses) // len(scores)
    epochs = np.arange(1, len(scores) + 1)
    left.plot(np.arange(1, len(losses) + 1) / each, losses, linewidth=0.6, color="0.7", label="batch")
    left.plot(epochs, np.reshape(losses, (len(scores), each)).mean(1), marker="o", markersize=3, label="epoch")
    left.set(xlabel="epoch", ylabel="training loss", yscale="log")
    left.legend()
    right.plot(epochs, 100 * np.array(scores), marker="o", markersize=3)
    right.axhline(98, color="0.7", linewidth=0.8, linestyle="--")
    right.set(xlabel="epoch", ylabel="test accuracy, %", title=f"{100 * scores[-1]:.1f} % after {len(scores)} epochs")
    return figure


def _digits(images, truth, answers):
    """All mistakes first, up to two thirds of the places, then digits that were read correctly."""
    wrong, right = np.flatnonzero(truth != answers), np.flatnonzero(truth == answers)
    places = ROWS * COLUMNS
    shown = np.concatenate([wrong[: places * 2 // 3], right])[:places]
    figure = _figure(COLUMNS * 0.8, ROWS * 1.0 + 0.4)
    for axes, index in zip(figure.subplots(ROWS, COLUMNS).flat, shown, strict=True):
        mistake = truth[index] != answers[index]
        axes.imshow(images[index], cmap="gray_r")
        title = f"{answers[index]}, not {truth[index]}" if mistake else str(answers[index])
        axes.set_title(title, fontsize=8, color="tab:red" if mistake else "tab:green")
        axes.set_axis_off()
    figure.suptitle(f"{len(images)} test digits, {len(wrong)} mistakes: answers in red are wrong", fontsize=11)
    return figure


def _confusion(truth, answers):
    counts = confusion(truth, answers)
    figure = _figure(5.5, 5.2)
    axes = figure.subplots()
    axes.imshow(np.log1p(counts), cmap="Blues")
    for row, column in zip(*np.nonzero(counts), strict=True):
        dark = counts[row, column] > counts.max() / 4
        axes.text(column, row, counts[row, column], ha="center", va="center", color="white" if dark else "black")
    axes.set(xlabel="the network's answer", ylabel="the digit", xticks=range(10), yticks=range(10))
    return figure
