"""The handwritten digits that scikit-learn ships, 8 pixels wide and high."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import umber.core as mx
from numpy.typing import NDArray
from umber import nn

from common.options import fail

SIDE = 8
PIXELS, CLASSES = SIDE * SIDE, 10
# The split is fixed, so that saved weights are never tested on digits they were trained on.
SPLIT_SEED = 0
MAX_SHOWN = 10


class Digits(NamedTuple):
    """All digits as umber arrays, and the indices of the training set and the test set."""

    images: mx.array
    """(digits, 64), with values from 0 to 1."""
    labels: mx.array
    train: mx.array
    test: mx.array


def address(array: NDArray[Any]) -> int:
    """The memory address of the array's first element."""
    pointer: int = array.__array_interface__["data"][0]
    return pointer


def shared(source: NDArray[Any]) -> mx.array:
    """The NumPy array as an umber array that shares its memory."""
    # The array cannot be modified any more, so that operations on it can stay lazy.
    source.flags.writeable = False
    array = mx.asarray(source)
    umber_address, numpy_address = address(np.asarray(array)), address(source)
    if umber_address != numpy_address:
        fail(f"NumPy's array at {numpy_address:#x} was copied to {umber_address:#x}")
    return array


def read_digits() -> Digits:
    """The digits, shared with NumPy's memory; a fifth of them is held out."""
    # scikit-learn and matplotlib are slow to import, so errors in options are reported first.
    from sklearn.datasets import load_digits

    source = load_digits()
    pixels = np.ascontiguousarray(source.data / 16, dtype=np.float32)
    labels = np.ascontiguousarray(source.target, dtype=np.int32)
    order = np.random.default_rng(SPLIT_SEED).permutation(len(labels)).astype(np.int32)
    held_out = len(labels) // 5
    digits = Digits(
        shared(pixels), shared(labels), mx.array(order[held_out:]), mx.array(order[:held_out])
    )
    print(
        f"{len(labels)} digits, {held_out} held out; zero-copy: pixels at {address(pixels):#x} "
        f"in NumPy and in umber, labels at {address(labels):#x}"
    )
    return digits


def predictions(model: nn.Module, digits: Digits) -> NDArray[Any]:
    """The predicted class of each digit of the test set."""
    model.eval()
    return np.array(mx.argmax(model(digits.images[digits.test]), axis=-1))


def accuracy(model: nn.Module, digits: Digits) -> float:
    """The fraction of the test set that the model classifies correctly."""
    return float(np.mean(predictions(model, digits) == np.array(digits.labels[digits.test])))


def draw_misclassified(figure: Any, digits: Digits, predicted: NDArray[Any]) -> None:
    """Draw misclassified digits of the test set in a matplotlib figure or subfigure."""
    from common.drawing import draw_images

    labels = np.array(digits.labels[digits.test])
    images = np.array(digits.images[digits.test]).reshape(-1, SIDE, SIDE)
    misclassified = np.flatnonzero(predicted != labels)
    figure.suptitle(f"{len(misclassified)} of {len(labels)} misclassified")
    cells = figure.subplots(2, MAX_SHOWN // 2).flat
    for cell in cells:
        cell.axis("off")
    for i, cell in zip(misclassified, cells, strict=False):
        draw_images(cell, images[i][None, None], f"{labels[i]} classified as {predicted[i]}")


def save_weights(model: nn.Module, fresh: nn.Module, file: Path, digits: Digits) -> bool:
    """Write the model's weights; returns whether `fresh` makes the same predictions with them."""
    model.save_weights(file)
    fresh.load_weights(file)
    identical = np.array_equal(predictions(fresh, digits), predictions(model, digits))
    print(
        f"a fresh model with the weights read back predicts {'the same' if identical else 'OTHER'}"
    )
    return identical
