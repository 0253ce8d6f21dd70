"""Dropout layers: zero random elements or channels of the input in training mode.

Srivastava et al., "Dropout: A Simple Way to Prevent Neural Networks from Overfitting", 2014; whole
channels: Tompson et al., "Efficient Object Localization Using Convolutional Networks", 2015.
"""

from __future__ import annotations

import umber.core as mx
from umber import _layout
from umber.nn.layers.base import Module

__all__ = ["Dropout", "Dropout2d", "Dropout3d"]


class Dropout(Module):
    """Zero elements with probability `p` in training mode and scale the others by `1 / (1 - p)`.

    Parameters
    ----------
    p : float, optional
        Probability of zeroing an element, in `[0, 1)`. Default: 0.5.

    Attributes
    ----------
    p : float
        The probability.

    Raises
    ------
    ValueError
        If `p` is not in `[0, 1)`.

    See Also
    --------
    Dropout2d, Dropout3d, Module.train

    Notes
    -----
    In evaluation mode, and for `p = 0`, the input is returned unchanged. In training mode integers
    and booleans give float32.

    Srivastava et al., "Dropout: A Simple Way to Prevent Neural Networks from Overfitting", 2014.

    Shapes: any, kept.

    Examples
    --------
    >>> layer = nn.Dropout(0.5)
    >>> y = layer(mx.ones((1000,)))
    >>> sorted(set(y.tolist()))
    [0.0, 2.0]
    >>> _ = layer.eval()
    >>> layer(mx.ones((4,)))
    array([1, 1, 1, 1], dtype=float32)
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
    """Zero whole channels of images with probability `p` in training mode.

    Parameters
    ----------
    p : float, optional
        Probability of zeroing a channel, in `[0, 1)`. Default: 0.5.

    Attributes
    ----------
    p : float
        The probability.

    Raises
    ------
    ValueError
        If `p` is not in `[0, 1)`.

    See Also
    --------
    Dropout, Dropout3d

    Notes
    -----
    The other channels are scaled by `1 / (1 - p)`. Channels are drawn for each sample. In
    evaluation mode the input is returned unchanged.

    Tompson et al., "Efficient Object Localization Using Convolutional Networks", 2015.

    Shapes: `(N, H, W, C)` or `(H, W, C)`, kept.

    Examples
    --------
    >>> y = nn.Dropout2d(0.5)(mx.ones((8, 4, 4, 16)))
    >>> y.shape
    (8, 4, 4, 16)
    >>> mx.array_equal(y.min(axis=(1, 2)), y.max(axis=(1, 2)))  # one value per channel
    array(True, dtype=bool)
    """

    def _mask_shape(self, x: mx.array) -> tuple[int, ...]:
        return _channel_mask_shape(type(self).__name__, x, spatial_axes=2)


class Dropout3d(Dropout):
    """Zero whole channels of volumes with probability `p` in training mode.

    Parameters
    ----------
    p : float, optional
        Probability of zeroing a channel, in `[0, 1)`. Default: 0.5.

    Attributes
    ----------
    p : float
        The probability.

    Raises
    ------
    ValueError
        If `p` is not in `[0, 1)`.

    See Also
    --------
    Dropout, Dropout2d

    Notes
    -----
    The other channels are scaled by `1 / (1 - p)`. Channels are drawn for each sample. In
    evaluation mode the input is returned unchanged.

    Tompson et al., "Efficient Object Localization Using Convolutional Networks", 2015.

    Shapes: `(N, D, H, W, C)` or `(D, H, W, C)`, kept.

    Examples
    --------
    >>> nn.Dropout3d(0.5)(mx.ones((2, 4, 4, 4, 16))).shape
    (2, 4, 4, 4, 16)
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


_layout.complete(globals())
