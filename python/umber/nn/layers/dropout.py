"""Dropout: zero a random part of the input while training.

Srivastava et al., "Dropout: A Simple Way to Prevent Neural Networks from Overfitting", 2014; whole
channels: Tompson et al., "Efficient Object Localization Using Convolutional Networks", 2015.
"""

from __future__ import annotations

import umber.core as mx
from umber.nn.layers.base import Module

__all__ = ["Dropout", "Dropout2d", "Dropout3d"]


class Dropout(Module):
    """In training, zeroes each element with probability `p` and scales the others by `1/(1 - p)`.

    In evaluation mode the input comes back as it is. Any shape.

    Args:
        p: probability of zeroing, in `[0, 1)`. Default: 0.5.
    """

    def __init__(self, p: float = 0.5) -> None:
        super().__init__()
        if not 0 <= p < 1:
            raise ValueError(f"[{type(self).__name__}] got the probability {p}, expected [0, 1)")
        self.p = p

    def __setstate__(self, state: dict) -> None:
        # MLX pickles the probability of keeping an element.
        keep = state.pop("_p_1", None)
        self.__dict__.update(state if keep is None else {**state, "p": 1 - keep})

    def _extra_repr(self) -> str:
        return f"p={self.p}"

    def __call__(self, x: mx.array) -> mx.array:
        shape = self._mask_shape(x)
        if self.p == 0 or not self.training:
            return x
        keep = 1 - self.p
        mask = mx.random.bernoulli(keep, shape)
        return mx.where(mask, x * (1 / keep), 0)

    def _mask_shape(self, x: mx.array) -> tuple[int, ...]:
        return x.shape


class Dropout2d(Dropout):
    """`Dropout` of whole channels of images.

    Shapes: `(N, H, W, C)` or `(H, W, C)`, kept.

    Args:
        p: probability of zeroing a channel, in `[0, 1)`. Default: 0.5.
    """

    def _mask_shape(self, x: mx.array) -> tuple[int, ...]:
        return _channel_mask_shape(type(self).__name__, x, spatial_axes=2)


class Dropout3d(Dropout):
    """`Dropout` of whole channels of volumes.

    Shapes: `(N, D, H, W, C)` or `(D, H, W, C)`, kept.

    Args:
        p: probability of zeroing a channel, in `[0, 1)`. Default: 0.5.
    """

    def _mask_shape(self, x: mx.array) -> tuple[int, ...]:
        return _channel_mask_shape(type(self).__name__, x, spatial_axes=3)


def _channel_mask_shape(op: str, x: mx.array, spatial_axes: int) -> tuple[int, ...]:
    if x.ndim not in (spatial_axes + 1, spatial_axes + 2):
        raise ValueError(
            f"[{op}] got an input with {x.ndim} axes, "
            f"expected {spatial_axes + 1} or {spatial_axes + 2}"
        )
    return (*x.shape[: -1 - spatial_axes], *[1] * spatial_axes, x.shape[-1])
