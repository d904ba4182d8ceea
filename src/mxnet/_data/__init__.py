"""Data that comes with the package, for the demo, the examples and the tests."""

from pathlib import Path

import numpy as np


def digits(train: int = 4000) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Handwritten digits: (train images, train labels, test images, test labels), images uint8 of shape (n, 28, 28)."""
    with np.load(Path(__file__).with_name("digits.npz")) as archive:
        images, labels = archive["images"], archive["labels"]
    return images[:train], labels[:train], images[train:], labels[train:]
