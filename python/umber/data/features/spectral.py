"""Mel-frequency spectral coefficients in NumPy."""

from __future__ import annotations

import enum
from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from umber.core._data import _Mfsc


class WindowType(enum.Enum):
    """The window that each frame is multiplied by: `numpy.hamming` or `numpy.hanning`."""

    Hamming = 0
    Hanning = 1


class FrequencyScale(enum.Enum):
    """The scale on which bands have equal widths: mel, the decimal logarithm, or hertz."""

    MEL = 0
    LOG10 = 1
    LINEAR = 2


_WINDOWS = {WindowType.Hamming: np.hamming, WindowType.Hanning: np.hanning}
# From hertz to the scale and back.
_SCALES: dict[FrequencyScale, tuple[Callable[[Any], Any], Callable[[Any], Any]]] = {
    FrequencyScale.MEL: (
        lambda hertz: 2595.0 * np.log10(1.0 + hertz / 700.0),
        lambda value: 700.0 * (10.0 ** (value / 2595.0) - 1.0),
    ),
    FrequencyScale.LOG10: (np.log10, lambda value: 10.0**value),
    FrequencyScale.LINEAR: (lambda hertz: hertz, lambda value: value),
}


def mfsc(
    n_filterbank: int,
    sampling_freq: int,
    frame_size_ms: float = 25,
    frame_stride_ms: float = 10,
    pre_emphasis_coeff: float = 0.97,
    window_type: WindowType = WindowType.Hamming,
    low_freq: float = 0,
    high_freq: float = -1,
    mel_floor: float = 1.0,
    freq_scale: FrequencyScale = FrequencyScale.MEL,
    post_process: Callable[[np.ndarray], Any] | None = None,
    *,
    native: bool = False,
) -> Callable[[np.ndarray], Any]:
    """Make a function from sound to mel-frequency spectral coefficients.

    Parameters
    ----------
    n_filterbank : int
        The number of frequency bands, and of features of a frame.
    sampling_freq : int
        The rate of the sound in hertz.
    frame_size_ms : float, optional
        The length of a frame in milliseconds, rounded to whole samples.
    frame_stride_ms : float, optional
        The time from one frame to the next in milliseconds, rounded likewise.
    pre_emphasis_coeff : float, optional
        The share of the sample before that is subtracted from each sample of a frame.
    window_type : WindowType, optional
        The window that frames are multiplied by.
    low_freq : float, optional
        Where the lowest band begins, in hertz.
    high_freq : float, optional
        Where the highest band ends, in hertz. Default: ``sampling_freq // 2``, as for any number
        that is not positive.
    mel_floor : float, optional
        The least value of a band before the logarithm, on whichever scale.
    freq_scale : FrequencyScale, optional
        The scale on which the bands have equal widths.
    post_process : callable, optional
        Applied to the features.
    native : bool, optional
        Whether features are computed in one pass over the frames, several times as fast, without
        the interpreter's lock. They differ from NumPy's by rounding. Sound is taken as float32.

    Returns
    -------
    callable
        A function of an array of shape (…, samples) with values in [-1, 1). It returns features of
        shape (…, frames, n_filterbank), or what `post_process` makes of them. The last frame ends
        with or before the sound; sound shorter than a frame has no frames.

    Raises
    ------
    TypeError
        If an argument has another type.
    ValueError
        If `n_filterbank` or `sampling_freq` is not positive, a frame has fewer than two samples or
        the stride less than one, or the bands do not satisfy ``0 <= low_freq < high_freq`` (on the
        scale ``LOG10``, ``0 < low_freq``).

    Notes
    -----
    Sound is one-dimensional: squeeze the channel of arrays of shape (samples, 1) first. With the
    samples `x` of a frame, scaled by 32,768, the window `w` and the triangular weights `H` of the
    bands, which overlap by halves, the features are

    .. math:: \\log \\max(|\\mathrm{rfft}(w_n (x_n - c \\, x_{n-1}))| \\, H, \\text{floor})

    where :math:`x_{-1} = x_0`, and the transform has the next power of two of points. These are
    the function, names and defaults of ``mlx.data.features``.

    References
    ----------
    S. Davis and P. Mermelstein, *Comparison of parametric representations for monosyllabic word
    recognition in continuously spoken sentences*, IEEE Trans. ASSP 28 (1980).

    Examples
    --------
    >>> from umber.data.features import mfsc
    >>> features = mfsc(40, 16000)
    >>> sound = np.sin(np.arange(16000) * 0.1).astype("float32")
    >>> features(sound).shape
    (98, 40)
    >>> features(sound[:300]).shape
    (0, 40)
    """
    for name, value, kind, description in [
        ("n_filterbank", n_filterbank, Integral, "an integer"),
        ("sampling_freq", sampling_freq, Real, "a number"),
        ("frame_size_ms", frame_size_ms, Real, "a number"),
        ("frame_stride_ms", frame_stride_ms, Real, "a number"),
        ("pre_emphasis_coeff", pre_emphasis_coeff, Real, "a number"),
        ("window_type", window_type, WindowType, "a WindowType"),
        ("low_freq", low_freq, Real, "a number"),
        ("high_freq", high_freq, Real, "a number"),
        ("mel_floor", mel_floor, Real, "a number"),
        ("freq_scale", freq_scale, FrequencyScale, "a FrequencyScale"),
    ]:
        if not isinstance(value, kind):
            raise TypeError(f"[mfsc] {name}: got {value!r}, expected {description}")
    if n_filterbank < 1:
        raise ValueError(f"[mfsc] n_filterbank must be positive, got {n_filterbank}")
    if not 0 < sampling_freq < np.inf:
        raise ValueError(f"[mfsc] sampling_freq must be positive, got {sampling_freq}")
    size = _samples("frame_size_ms", frame_size_ms, sampling_freq, 2)
    stride = _samples("frame_stride_ms", frame_stride_ms, sampling_freq, 1)
    points = 1 << (size - 1).bit_length()
    window = _WINDOWS[window_type](size).astype(np.float32)
    if high_freq <= 0:
        high_freq = sampling_freq // 2
    bands = _bands(
        n_filterbank, points // 2 + 1, sampling_freq, low_freq, high_freq, freq_scale
    ).astype(np.float32)

    if native:
        compute = _Mfsc(
            *(n_filterbank, sampling_freq, frame_size_ms, frame_stride_ms, pre_emphasis_coeff),
            *(window_type.name, low_freq, high_freq, mel_floor, freq_scale.name),
        )

    def features(sound: np.ndarray) -> Any:
        sound = np.asarray(sound)
        if sound.ndim == 0:
            raise ValueError("[mfsc] expected sound of at least one dimension, got a scalar")
        if native:
            result = compute(np.asarray(sound, np.float32))
            return result if post_process is None else post_process(result)
        if sound.shape[-1] < size:
            sound = sound[..., :0]
            frames = np.empty((*sound.shape[:-1], 0, size), np.result_type(sound, np.float32))
        else:
            # Half precision does not reach the range of 16-bit integers.
            sound = sound.astype(np.float32) if sound.dtype == np.float16 else sound
            frames = sliding_window_view(sound * 32768.0, size, axis=-1)[..., ::stride, :]
        emphasised = np.empty_like(frames)
        emphasised[..., 0] = frames[..., 0] - pre_emphasis_coeff * frames[..., 0]
        emphasised[..., 1:] = frames[..., 1:] - pre_emphasis_coeff * frames[..., :-1]
        emphasised *= window
        magnitudes = np.abs(np.fft.rfft(emphasised, points)).astype(frames.dtype)
        energies = np.maximum(magnitudes @ bands, mel_floor)
        result = np.log(np.maximum(energies, np.finfo(np.float32).tiny))
        return result if post_process is None else post_process(result)

    return features


def _samples(name: str, milliseconds: float, sampling_freq: float, least: int) -> int:
    """The number of samples in a time, at least `least`."""
    count = sampling_freq * milliseconds / 1000.0
    if not (np.isfinite(count) and round(count) >= least):
        raise ValueError(
            f"[mfsc] {name} must round to {least} or more samples, "
            f"got {milliseconds} ms at {sampling_freq} Hz"
        )
    return round(count)


def _bands(
    count: int,
    frequencies: int,
    sampling_freq: float,
    low: float,
    high: float,
    scale: FrequencyScale,
) -> np.ndarray:
    """The triangles over every three neighbours of `count` + 2 equidistant points of the scale.

    Returns the weights, of shape (frequencies, count).
    """
    if scale is FrequencyScale.LOG10 and low <= 0:
        raise ValueError(f"[mfsc] low_freq must be positive on the scale LOG10, got {low}")
    if not 0 <= low < high < np.inf:
        raise ValueError(
            f"[mfsc] low_freq must be at least 0 and below high_freq, got {low} and {high}"
        )
    forward, backward = _SCALES[scale]
    edges = backward(np.linspace(forward(low), forward(high), count + 2))
    # In units of the spectrum's frequencies.
    left, centre, right = (
        (edges * (frequencies - 1) * 2.0 / sampling_freq)[start : start + count]
        for start in range(3)
    )
    frequency = np.arange(frequencies)[:, None]
    rising = (frequency - left) / (centre - left)
    falling = (right - frequency) / (right - centre)
    weights: np.ndarray = np.maximum(np.minimum(rising, falling), 0.0)
    return weights
