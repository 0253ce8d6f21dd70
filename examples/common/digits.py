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
# The held-out fifth is always the same, so that saved weights are never tested on what they know.
SPLIT_SEED = 0
MISREAD_SHOWN = 10


class Digits(NamedTuple):
    """All digits as umber arrays, and which of them are for training and for the test."""

    images: mx.array
    """(digits, 64), from 0 to 1."""
    labels: mx.array
    train: mx.array
    test: mx.array


def address(array: NDArray[Any]) -> int:
    """Where the array's first element lies in memory."""
    place: int = array.__array_interface__["data"][0]
    return place


def shared(source: NDArray[Any]) -> mx.array:
    """The NumPy array as an umber array in the same memory."""
    # Nobody can write to it any more, so operations on it may stay lazy.
    source.flags.writeable = False
    array = mx.asarray(source)
    ours, theirs = address(np.asarray(array)), address(source)
    if ours != theirs:
        fail(f"NumPy's array at {theirs:#x} was copied to {ours:#x}")
    return array


def read_digits() -> Digits:
    """The digits, taken from NumPy's memory without a copy; a fifth of them is held out."""
    # Imported here, as matplotlib elsewhere: a wrong option should not have to wait for them.
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
    """The class that the model sees in each digit of the test set."""
    model.eval()
    return np.array(mx.argmax(model(digits.images[digits.test]), axis=-1))


def accuracy(model: nn.Module, digits: Digits) -> float:
    """The part of the test set that the model reads rightly."""
    return float(np.mean(predictions(model, digits) == np.array(digits.labels[digits.test])))


def draw_misread(figure: Any, digits: Digits, seen: NDArray[Any]) -> None:
    """Digits of the test set that were misread, in a figure of matplotlib or a part of one."""
    from common.drawing import draw_images

    truth = np.array(digits.labels[digits.test])
    images = np.array(digits.images[digits.test]).reshape(-1, SIDE, SIDE)
    misread = np.flatnonzero(seen != truth)
    figure.suptitle(f"{len(misread)} of {len(truth)} misread")
    cells = figure.subplots(2, MISREAD_SHOWN // 2).flat
    for cell in cells:
        cell.axis("off")
    for i, cell in zip(misread, cells, strict=False):
        draw_images(cell, images[i][None, None], f"{truth[i]} read as {seen[i]}")


def save_weights(model: nn.Module, fresh: nn.Module, file: Path, digits: Digits) -> bool:
    """Write the model's weights; returns whether `fresh` with them predicts the same."""
    model.save_weights(file)
    fresh.load_weights(file)
    identical = np.array_equal(predictions(fresh, digits), predictions(model, digits))
    print(
        f"a fresh model with the weights read back predicts {'the same' if identical else 'OTHER'}"
    )
    return identical
