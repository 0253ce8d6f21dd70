"""Weights by their paths: read from files or pairs, and checked against a module's parameters."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, BinaryIO, NamedTuple

import umber.core as mx
from umber.nn.layers.tree_paths import Slot


def weights_in(file: str | BinaryIO) -> dict[str, mx.array]:
    """The arrays of a file by name."""
    content = mx.load(file, float8=True)
    if not isinstance(content, dict):
        raise ValueError(
            f"[load_weights] {file} holds one array of shape {content.shape} without a name, "
            "expected named arrays (.safetensors, .npz or .gguf)"
        )
    return content


def by_path(op: str, pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """A dict of pairs; raises if two have the same path."""
    by_path = dict(pairs)
    if len(by_path) < len(pairs):
        paths = [path for path, _ in pairs]
        duplicate = next(path for path in paths if paths.count(path) > 1)
        raise ValueError(
            f"[{op}] two parameters have the path {duplicate!r}, expected different paths: "
            "rename the key of a dict that contains a dot or is not a string"
        )
    return by_path


def with_value(slot: Slot, value: mx.array) -> Slot:
    """The slot with another value; float8 arrays and their uint8 bits are converted if needed."""
    old = slot.value
    is_reinterpreted = (value.dtype == mx.uint8 and _is_float8(old)) or (
        old.dtype == mx.uint8 and _is_float8(value)
    )
    return slot._replace(value=value.view(old.dtype) if is_reinterpreted else value)


def _is_float8(a: mx.array) -> bool:
    return a.itemsize == 1 and mx.issubdtype(a.dtype, mx.floating)


def weights_by_path(pairs: Any) -> dict[str, mx.array]:
    """Convert pairs (path, array), or a dict, to a dict."""
    if not isinstance(pairs, Iterable) or isinstance(pairs, mx.array):
        raise TypeError(
            f"[load_weights] got {type(pairs).__name__}, "
            "expected a file, pairs (path, array) or a dict"
        )
    weights = {}
    for pair in pairs.items() if isinstance(pairs, dict) else pairs:
        if not (isinstance(pair, (tuple, list)) and len(pair) == 2 and isinstance(pair[0], str)):
            raise TypeError(
                f"[load_weights] got {type(pair).__name__} as an entry, "
                "expected pairs (path, array) with a string as path"
            )
        weights[pair[0]] = pair[1]
    return weights


class IncompatibleKeys(NamedTuple):
    """The paths that differ between weights and a module."""

    missing_keys: list[str]
    """Paths of the module's parameters that the weights lack; the first path of each."""
    unexpected_keys: list[str]
    """Paths of weights that the module lacks."""


def compare_paths(weights: dict[str, mx.array], slots: dict[str, Slot]) -> IncompatibleKeys:
    given_identities = {slots[path].identity for path in weights if path in slots}
    first = {slot.identity: path for path, slot in reversed(slots.items())}
    missing = [path for identity, path in first.items() if identity not in given_identities]
    return IncompatibleKeys(sorted(missing), sorted(weights.keys() - slots.keys()))


def check_paths(weights: dict[str, mx.array], slots: dict[str, Slot]) -> None:
    missing, extra = compare_paths(weights, slots)
    if extra:
        raise ValueError(
            f"[load_weights] parameters that the model lacks ({len(extra)}): {', '.join(extra)}"
        )
    if missing:
        raise ValueError(
            f"[load_weights] missing parameters of the model ({len(missing)}): {', '.join(missing)}"
        )


def check_weight(path: str, value: Any, shape: tuple[int, ...] | None) -> None:
    if not isinstance(value, mx.array):
        raise ValueError(f"[load_weights] {path}: got {type(value).__name__}, expected an array")
    if shape is not None and value.shape != shape:
        raise ValueError(f"[load_weights] {path}: got the shape {value.shape}, expected {shape}")
