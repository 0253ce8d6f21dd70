# Generated from the extension module by tools/stubs.py; `make stubs` writes it again.

"""Operations that are one kernel."""
from umber.core import _Operand, _StreamOrDevice, array


def layer_norm(
    x: _Operand,
    weight: _Operand | None,
    bias: _Operand | None,
    eps: float,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Layer normalisation: `(x - mean) / sqrt(var + eps) * weight + bias` along the last axis.

    `weight` and `bias`, if any, are as long as the last axis. The result has the shape of `x` and the promoted dtype;
    accumulates in float32 at least. J. L. Ba, J. R. Kiros and G. E. Hinton, Layer Normalization, 2016.
    """


def rms_norm(
    x: _Operand,
    weight: _Operand | None,
    eps: float,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Root mean square normalisation: `x / sqrt(mean(x²) + eps) * weight` along the last axis.

    `weight`, if any, is as long as the last axis. The result has the shape of `x` and the promoted dtype; accumulates in
    float32 at least. B. Zhang and R. Sennrich, Root Mean Square Layer Normalization, 2019.
    """
