"""Handwritten digits that come with the package, for programs that should run without a download."""

from importlib import resources

import numpy as np


def digits(train: int = 4000) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Handwritten digits: (train images, train labels, test images, test labels), images uint8 of shape (n, 28, 28)."""
    with (resources.files("mxnet") / "_data" / "digits.npz").open("rb") as file, np.load(file) as archive:
        images, labels = archive["images"], archive["labels"]
    return images[:train], labels[:train], images[train:], labels[train:]
