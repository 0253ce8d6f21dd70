"""Rotary position embeddings (RoPE).

Su et al., "RoFormer: Enhanced Transformer with Rotary Position Embedding", 2021.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import umber.core as mx
from common.checkpoints import positive


@dataclass(frozen=True)
class Rotation:
    """Rotation frequencies of feature pairs, with the names of config.json.

    `rope_type` extends the context beyond that of pretraining: `linear` scales all frequencies
    down, `llama3` only the low ones, the others little or not.
    """

    rope_theta: float = 10000.0
    rope_type: str = "default"
    factor: float = 1.0
    low_freq_factor: float = 1.0
    high_freq_factor: float = 4.0
    original_max_position_embeddings: float = 8192.0

    @staticmethod
    def of(config: dict[str, Any]) -> Rotation:
        """The rotation in a config.json; raises `ValueError` for an unsupported one."""
        rope = config.get("rope_parameters") or config.get("rope_scaling") or {}
        if not isinstance(rope, dict):
            raise ValueError(f"config.json: rope_scaling is {rope!r}, expected an object")
        kind = rope.get("rope_type", rope.get("type", "default"))
        if kind not in ("default", "linear", "llama3"):
            raise ValueError(
                f"config.json: rope_type is {kind!r}, expected 'default', 'linear' or 'llama3'"
            )
        base = {"rope_theta": config.get("rope_theta") or 10000.0} | rope
        rotation = Rotation(
            positive(base, "rope_theta", 10000.0),
            kind,
            positive(rope, "factor", 1.0),
            positive(rope, "low_freq_factor", 1.0),
            positive(rope, "high_freq_factor", 4.0),
            positive(rope, "original_max_position_embeddings", 8192.0),
        )
        if rotation.low_freq_factor >= rotation.high_freq_factor:
            raise ValueError("config.json: low_freq_factor is not below high_freq_factor")
        return rotation

    def frequencies(self, dims: int) -> mx.array:
        """The rotation angle of each pair per position, (dims / 2,)."""
        frequencies = self.rope_theta ** (-mx.arange(0, dims, 2) / dims)
        if self.rope_type == "default":
            return frequencies
        if self.rope_type == "linear":
            return frequencies / self.factor
        # The number of full rotations of each pair over the pretraining context.
        rotations = self.original_max_position_embeddings * frequencies / (2 * math.pi)
        low, high = self.low_freq_factor, self.high_freq_factor
        unscaled_part = mx.clip((rotations - low) / (high - low), 0, 1)
        return (1 - unscaled_part) * frequencies / self.factor + unscaled_part * frequencies


def rotate(x: mx.array, frequencies: mx.array, offset: int) -> mx.array:
    """Rotate each feature pair (i, i + dims / 2) of x, (..., length, dims).

    `offset` is the position of the first token.
    """
    angles = mx.arange(offset, offset + x.shape[-2])[:, None] * frequencies
    cos, sin = mx.cos(angles), mx.sin(angles)
    first, second = mx.split(x.astype(mx.float32), 2, axis=-1)
    rotated = [first * cos - second * sin, second * cos + first * sin]
    return mx.concatenate(rotated, axis=-1).astype(x.dtype)
