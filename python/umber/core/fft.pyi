# Generated from the extension module by tools/stubs.py; `make stubs` writes it again.

"""Fourier transforms."""
from collections.abc import Sequence
from typing import Literal
from umber.core import _Axes, _DType, _Device, _Operand, _StreamOrDevice, array


def dct(
    a: _Operand,
    type: Literal[1, 2, 3, 4] = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    *,
    orthogonalize: bool | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Discrete cosine transform along an axis.

    Types 1 to 4 and norms are SciPy's: `"backward"` leaves this direction unscaled and the other divides by the
    length of the line with its mirror image, `"forward"` the other way round, `"ortho"` both by its root. With
    `orthogonalize`, by default under `"ortho"`, end elements are scaled so that the matrix is orthogonal. The
    axis is cut or filled up with zeros to `n`; the result is float32, or float64 from float64. Raises
    `ValueError` for another type or norm, or a line without elements, `IndexError` for a bad axis.
    """


def dst(
    a: _Operand,
    type: Literal[1, 2, 3, 4] = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    *,
    orthogonalize: bool | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Discrete sine transform along an axis.

    Types 1 to 4 and norms are SciPy's: `"backward"` leaves this direction unscaled and the other divides by the
    length of the line with its mirror image, `"forward"` the other way round, `"ortho"` both by its root. With
    `orthogonalize`, by default under `"ortho"`, end elements are scaled so that the matrix is orthogonal. The
    axis is cut or filled up with zeros to `n`; the result is float32, or float64 from float64. Raises
    `ValueError` for another type or norm, or a line without elements, `IndexError` for a bad axis.
    """


def fft(
    a: _Operand,
    n: int | None = None,
    axis: int = -1,
    norm: str = "backward",
    stream: _StreamOrDevice = None,
) -> array:
    """Discrete Fourier transform along an axis; complex64, or complex128 from float64 and complex128.

    The axis is cut or filled up with zeros to the length that `n` asks for. `norm` says which direction
    divides by the length: `"backward"`, `"forward"`, or both by its root, `"ortho"`. Raises `ValueError` for
    a length below one or another `norm`, `IndexError` for a bad axis.
    """


def fft2(
    a: _Operand,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = [-2, -1],
    norm: str = "backward",
    stream: _StreamOrDevice = None,
) -> array:
    """Discrete Fourier transform along two axes, the last two by default.

    The axes are cut or filled up with zeros to the lengths `s` (-1 leaves one as it is).
    """


def fftfreq(
    n: int,
    d: float = 1.0,
    stream: _StreamOrDevice = None,
    *,
    dtype: _DType = None,
    device: _Device | None = None,
) -> array:
    """The frequency of each result of `fft` of `n` numbers `d` apart, as float32 unless a dtype is given."""


def fftn(
    a: _Operand,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
    stream: _StreamOrDevice = None,
) -> array:
    """Discrete Fourier transform along several axes, all by default.

    The axes are cut or filled up with zeros to the lengths `s` (-1 leaves one as it is); without `axes` they
    are those of the last axes. An axis named twice is transformed twice. No axes leave `a` as it is.
    """


def fftshift(a: _Operand, axes: _Axes | None = None, stream: _StreamOrDevice = None) -> array:
    """Frequency zero moved from the front to the middle of `axes`, of all by default."""


def hfft(
    a: _Operand,
    n: int | None = None,
    axis: int = -1,
    norm: str = "backward",
    stream: _StreamOrDevice = None,
) -> array:
    """Transform of a line given by its first half, the other being its conjugate mirror image: `n` real numbers, `2 * (length - 1)` by default.

    The axis is cut or filled up with zeros to the length that `n` asks for. `norm` says which direction
    divides by the length: `"backward"`, `"forward"`, or both by its root, `"ortho"`. Raises `ValueError` for
    a length below one or another `norm`, `IndexError` for a bad axis.
    """


def idct(
    a: _Operand,
    type: Literal[1, 2, 3, 4] = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    *,
    orthogonalize: bool | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Inverse of `dct` of the same type and norm.

    Types 1 to 4 and norms are SciPy's: `"backward"` leaves this direction unscaled and the other divides by the
    length of the line with its mirror image, `"forward"` the other way round, `"ortho"` both by its root. With
    `orthogonalize`, by default under `"ortho"`, end elements are scaled so that the matrix is orthogonal. The
    axis is cut or filled up with zeros to `n`; the result is float32, or float64 from float64. Raises
    `ValueError` for another type or norm, or a line without elements, `IndexError` for a bad axis.
    """


def idst(
    a: _Operand,
    type: Literal[1, 2, 3, 4] = 2,
    n: int | None = None,
    axis: int = -1,
    norm: str | None = None,
    *,
    orthogonalize: bool | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Inverse of `dst` of the same type and norm.

    Types 1 to 4 and norms are SciPy's: `"backward"` leaves this direction unscaled and the other divides by the
    length of the line with its mirror image, `"forward"` the other way round, `"ortho"` both by its root. With
    `orthogonalize`, by default under `"ortho"`, end elements are scaled so that the matrix is orthogonal. The
    axis is cut or filled up with zeros to `n`; the result is float32, or float64 from float64. Raises
    `ValueError` for another type or norm, or a line without elements, `IndexError` for a bad axis.
    """


def ifft(
    a: _Operand,
    n: int | None = None,
    axis: int = -1,
    norm: str = "backward",
    stream: _StreamOrDevice = None,
) -> array:
    """Inverse discrete Fourier transform along an axis.

    The axis is cut or filled up with zeros to the length that `n` asks for. `norm` says which direction
    divides by the length: `"backward"`, `"forward"`, or both by its root, `"ortho"`. Raises `ValueError` for
    a length below one or another `norm`, `IndexError` for a bad axis.
    """


def ifft2(
    a: _Operand,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = [-2, -1],
    norm: str = "backward",
    stream: _StreamOrDevice = None,
) -> array:
    """Inverse discrete Fourier transform along two axes, the last two by default.

    The axes are cut or filled up with zeros to the lengths `s` (-1 leaves one as it is).
    """


def ifftn(
    a: _Operand,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
    stream: _StreamOrDevice = None,
) -> array:
    """Inverse discrete Fourier transform along several axes, all by default.

    The axes are cut or filled up with zeros to the lengths `s` (-1 leaves one as it is); without `axes` they
    are those of the last axes. An axis named twice is transformed twice. No axes leave `a` as it is.
    """


def ifftshift(a: _Operand, axes: _Axes | None = None, stream: _StreamOrDevice = None) -> array:
    """Frequency zero moved from the middle to the front of `axes`, of all by default: the inverse of `fftshift`."""


def ihfft(
    a: _Operand,
    n: int | None = None,
    axis: int = -1,
    norm: str = "backward",
    stream: _StreamOrDevice = None,
) -> array:
    """Inverse of `hfft`: the first `n // 2 + 1` elements of a line that is its own conjugate mirror image.

    The axis is cut or filled up with zeros to the length that `n` asks for. `norm` says which direction
    divides by the length: `"backward"`, `"forward"`, or both by its root, `"ortho"`. Raises `ValueError` for
    a length below one or another `norm`, `IndexError` for a bad axis.
    """


def irfft(
    a: _Operand,
    n: int | None = None,
    axis: int = -1,
    norm: str = "backward",
    stream: _StreamOrDevice = None,
) -> array:
    """Inverse of `rfft`: `n` real numbers, `2 * (length - 1)` by default.

    The axis is cut or filled up with zeros to the length that `n` asks for. `norm` says which direction
    divides by the length: `"backward"`, `"forward"`, or both by its root, `"ortho"`. Raises `ValueError` for
    a length below one or another `norm`, `IndexError` for a bad axis.
    """


def irfft2(
    a: _Operand,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = [-2, -1],
    norm: str = "backward",
    stream: _StreamOrDevice = None,
) -> array:
    """Inverse of a real transform, real numbers, along two axes, the last two by default.

    The axes are cut or filled up with zeros to the lengths `s` (-1 leaves one as it is).
    """


def irfftn(
    a: _Operand,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
    stream: _StreamOrDevice = None,
) -> array:
    """Inverse of a real transform, real numbers, along several axes, all by default.

    The axes are cut or filled up with zeros to the lengths `s` (-1 leaves one as it is); without `axes` they
    are those of the last axes. An axis named twice is transformed twice. No axes leave `a` as it is.
    """


def istft(
    stft_matrix: _Operand,
    n_fft: int | None = None,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: _Operand | None = None,
    center: bool = True,
    norm: str = "backward",
    onesided: bool | None = None,
    length: int | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """The real signal whose `stft` is `(..., frequency, frame)`: `(..., time)`.

    Inverse transforms times the window, added where frames overlap, over the sum of the squared windows (at least 1e-8).
    `n_fft` is by default that of an even transform, `2 * (frequencies - 1)`; `onesided` is true by default; `length`
    cuts the signal or fills it up with zeros. Other arguments are those of `stft`.
    """


def rfft(
    a: _Operand,
    n: int | None = None,
    axis: int = -1,
    norm: str = "backward",
    stream: _StreamOrDevice = None,
) -> array:
    """Discrete Fourier transform of real numbers: the `n // 2 + 1` frequencies that are not negative. An imaginary part does not count.

    The axis is cut or filled up with zeros to the length that `n` asks for. `norm` says which direction
    divides by the length: `"backward"`, `"forward"`, or both by its root, `"ortho"`. Raises `ValueError` for
    a length below one or another `norm`, `IndexError` for a bad axis.
    """


def rfft2(
    a: _Operand,
    s: Sequence[int] | None = None,
    axes: Sequence[int] = [-2, -1],
    norm: str = "backward",
    stream: _StreamOrDevice = None,
) -> array:
    """Discrete Fourier transform of real numbers, the last axis halved as by `rfft`, along two axes, the last two by default.

    The axes are cut or filled up with zeros to the lengths `s` (-1 leaves one as it is).
    """


def rfftfreq(
    n: int,
    d: float = 1.0,
    stream: _StreamOrDevice = None,
    *,
    dtype: _DType = None,
    device: _Device | None = None,
) -> array:
    """The frequency of each result of `rfft` of `n` numbers `d` apart, as float32 unless a dtype is given."""


def rfftn(
    a: _Operand,
    s: Sequence[int] | None = None,
    axes: Sequence[int] | None = None,
    norm: str = "backward",
    stream: _StreamOrDevice = None,
) -> array:
    """Discrete Fourier transform of real numbers, the last axis halved as by `rfft`, along several axes, all by default.

    The axes are cut or filled up with zeros to the lengths `s` (-1 leaves one as it is); without `axes` they
    are those of the last axes. An axis named twice is transformed twice. No axes leave `a` as it is.
    """


def stft(
    x: _Operand,
    n_fft: int = 2048,
    hop_length: int | None = None,
    win_length: int | None = None,
    window: _Operand | None = None,
    center: bool = True,
    pad_mode: str = "reflect",
    norm: str = "backward",
    onesided: bool | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Transforms of frames of `n_fft` numbers of the last axis: `(..., time)` to `(..., frequency, frame)`.

    Frames begin `hop_length` numbers apart (`n_fft // 4` by default) and are multiplied by `window`, real numbers along
    one axis in the middle of a frame (by default `win_length` ones, `n_fft` by default). With `center` the signal gets
    half a frame more at both ends, as `pad_mode` says for `mx.pad`. Real signals answer the frequencies that are not
    negative unless `onesided` is false; `norm` is that of `fft`. Raises `ValueError` if the signal is shorter than a frame.
    """
