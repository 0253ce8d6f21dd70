"""Reading of published model folders: `config.json` and `*.safetensors`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import umber.core as mx


def read_json(file: Path) -> dict[str, Any]:
    """The object in a JSON file; raises `ValueError` if it contains something else."""
    try:
        content = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ValueError(f"{file.name}: {error}") from error
    if not isinstance(content, dict):
        raise ValueError(f"{file.name} holds a {type(content).__name__}, expected an object")
    return content


def read_weights(folder: Path) -> dict[str, mx.array]:
    """The arrays of all safetensors files of a folder, by name."""
    weights: dict[str, mx.array] = {}
    files = sorted(folder.glob("*.safetensors"))
    if not files:
        raise ValueError("there is no file *.safetensors")
    for file in files:
        loaded = mx.load(file)
        assert isinstance(loaded, dict)
        weights |= loaded
    return weights


def expect(config: dict[str, Any], **values: object) -> None:
    """Check that a configuration has these values or does not set them."""
    for name, value in values.items():
        if config.get(name, value) != value:
            raise ValueError(f"config.json: {name} is {config[name]!r}, expected {value!r}")


def positive_integer(config: dict[str, Any], name: str, default: int | None = None) -> int:
    """An entry of a configuration, which must be an integer above 0."""
    value = config.get(name)
    value = default if value is None else value
    if not isinstance(value, int) or isinstance(value, bool) or value < 1:
        raise ValueError(f"config.json: {name} is {value!r}, expected a whole number above 0")
    return value


def positive(config: dict[str, Any], name: str, default: float) -> float:
    """An entry of a configuration, which must be a number above 0."""
    value = config.get(name, default)
    if not isinstance(value, int | float) or isinstance(value, bool) or not value > 0:
        raise ValueError(f"config.json: {name} is {value!r}, expected a number above 0")
    return float(value)
