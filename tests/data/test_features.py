"""Features of sound equal their definition, computed by a discrete Fourier transform."""

import inspect

import numpy as np
import pytest
from umber.data.features import FrequencyScale, WindowType, mfsc

RATE = 8000
TIME = np.arange(1600) / RATE
NOISE = np.random.default_rng(0).standard_normal(TIME.size)
SOUND = (0.2 * NOISE + 0.4 * np.sin(2 * np.pi * 440 * TIME)).astype(np.float32)
WINDOWS = {WindowType.Hamming: 0.46, WindowType.Hanning: 0.5}


def mel(hertz):
    return 2595 * np.log10(1 + hertz / 700)


def edges(scale, low, high, count):
    share = np.arange(count) / (count - 1)
    if scale is FrequencyScale.LINEAR:
        return low + (high - low) * share
    if scale is FrequencyScale.LOG10:
        return low * (high / low) ** share
    return 700 * (10 ** ((mel(low) + (mel(high) - mel(low)) * share) / 2595) - 1)


def defined(sound, bands, rate, size_ms=25, stride_ms=10, coefficient=0.97, **options):
    """The features of one frame after the other, by their formulas."""
    size, stride = round(rate * size_ms / 1000), round(rate * stride_ms / 1000)
    slope = WINDOWS[options.get("window_type", WindowType.Hamming)]
    window = 1 - slope - slope * np.cos(2 * np.pi * np.arange(size) / (size - 1))
    points = 2 ** int(np.ceil(np.log2(size)))
    n, k = np.arange(size), np.arange(points // 2 + 1)[:, None]
    transform = np.exp(-2j * np.pi * n * k / points)
    low, high = options.get("low_freq", 0), options.get("high_freq", -1)
    high = high if high > 0 else rate // 2
    limits = edges(options.get("freq_scale", FrequencyScale.MEL), low, high, bands + 2)
    rows = []
    for start in range(0, len(sound) - size + 1, stride):
        x = 32768.0 * sound[start : start + size].astype(float)
        y = (x - coefficient * x[np.maximum(n - 1, 0)]) * window
        spectrum = np.abs(transform @ y)
        hertz = k[:, 0] * rate / points
        row = []
        for left, centre, right in zip(limits, limits[1:], limits[2:], strict=False):
            weights = np.interp(hertz, [left, centre, right], [0, 1, 0])
            row.append(spectrum @ weights)
        rows.append(row)
    return np.log(np.maximum(np.array(rows).reshape(-1, bands), options.get("mel_floor", 1.0)))


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"window_type": WindowType.Hanning},
        {"freq_scale": FrequencyScale.LINEAR, "low_freq": 100, "high_freq": 3000},
        {"freq_scale": FrequencyScale.LOG10, "low_freq": 50},
        {"low_freq": 300, "high_freq": 5000},
        {"mel_floor": 1e5},
    ],
    ids=repr,
)
def test_features_equal_their_definition(options):
    np.testing.assert_allclose(
        mfsc(20, RATE, **options)(SOUND), defined(SOUND, 20, RATE, **options), atol=1e-4
    )


def test_frames_strides_and_emphasis():
    # 12.5 and 6.5 samples round to the even numbers 12 and 6.
    found = mfsc(3, 1000, 12.5, 6.5, 0.0)(SOUND)
    np.testing.assert_allclose(found, defined(SOUND, 3, 1000, 12.5, 6.5, 0.0), atol=1e-4)


def test_batches_of_sounds():
    batch = np.stack([SOUND, SOUND[::-1]])[:, None]
    features = mfsc(8, RATE)
    found = features(batch)
    assert found.shape == (2, 1, 18, 8)
    np.testing.assert_array_equal(found[0, 0], features(SOUND))
    np.testing.assert_array_equal(found[1, 0], features(SOUND[::-1]))


@pytest.mark.parametrize(
    ("dtype", "result"), [("float32", "float32"), ("float64", "float64"), ("float16", "float32")]
)
def test_dtypes(dtype, result):
    sound = SOUND.astype(dtype)
    before = sound.copy()
    found = mfsc(8, RATE)(sound)
    assert found.dtype == result
    np.testing.assert_array_equal(sound, before)
    np.testing.assert_allclose(found, defined(sound, 8, RATE), atol=1e-4)


@pytest.mark.parametrize(("length", "frames"), [(0, 0), (199, 0), (200, 1), (279, 1), (280, 2)])
def test_number_of_frames(length, frames):
    assert mfsc(8, RATE)(SOUND[:length]).shape == (frames, 8)
    assert mfsc(8, RATE)(np.zeros((0, length))).shape == (0, frames, 8)


def test_silence_is_the_floor():
    assert not mfsc(8, RATE)(np.zeros(400, np.float32)).any()
    lowest = mfsc(8, RATE, mel_floor=0)(np.zeros(400, np.float32))
    np.testing.assert_allclose(lowest, np.log(np.finfo(np.float32).tiny), rtol=1e-6)


def test_post_process_makes_the_result():
    found = mfsc(8, RATE, post_process=lambda x: (x.shape, x.mean()))(SOUND)
    assert found == ((18, 8), mfsc(8, RATE)(SOUND).mean())


def test_read_only_and_strided_sound():
    stereo = np.stack([SOUND, SOUND * 0.5], axis=1)
    stereo.flags.writeable = False
    np.testing.assert_array_equal(mfsc(8, RATE)(stereo[:, 0]), mfsc(8, RATE)(SOUND))


def test_signature_and_members_are_those_of_mlx_data():
    assert list(inspect.signature(mfsc).parameters)[:11] == [
        *("n_filterbank", "sampling_freq", "frame_size_ms", "frame_stride_ms"),
        *("pre_emphasis_coeff", "window_type", "low_freq", "high_freq", "mel_floor"),
        *("freq_scale", "post_process"),
    ]
    assert [(kind.name, kind.value) for kind in WindowType] == [("Hamming", 0), ("Hanning", 1)]
    scales = [(scale.name, scale.value) for scale in FrequencyScale]
    assert scales == [("MEL", 0), ("LOG10", 1), ("LINEAR", 2)]


@pytest.mark.parametrize(
    ("options", "error", "text"),
    [
        ({"n_filterbank": 0}, ValueError, "n_filterbank must be positive, got 0"),
        ({"n_filterbank": 1.5}, TypeError, "n_filterbank: got 1.5, expected an integer"),
        ({"sampling_freq": 0}, ValueError, "sampling_freq must be positive, got 0"),
        ({"sampling_freq": "8k"}, TypeError, "sampling_freq: got '8k', expected a number"),
        (
            {"frame_size_ms": 0.1},
            ValueError,
            "frame_size_ms must round to 2 or more samples, got 0.1 ms at 8000 Hz",
        ),
        (
            {"frame_stride_ms": float("nan")},
            ValueError,
            "frame_stride_ms must round to 1 or more samples, got nan ms at 8000 Hz",
        ),
        ({"window_type": "hann"}, TypeError, "window_type: got 'hann', expected a WindowType"),
        ({"freq_scale": 0}, TypeError, "freq_scale: got 0, expected a FrequencyScale"),
        (
            {"low_freq": 4000},
            ValueError,
            "low_freq must be at least 0 and below high_freq, got 4000 and 4000",
        ),
        (
            {"freq_scale": FrequencyScale.LOG10},
            ValueError,
            "low_freq must be positive on the scale LOG10, got 0",
        ),
    ],
)
def test_bad_arguments_are_named(options, error, text):
    with pytest.raises(error) as raised:
        mfsc(**{"n_filterbank": 8, "sampling_freq": RATE, **options})
    assert str(raised.value) == f"[mfsc] {text}"


def test_a_scalar_is_no_sound():
    with pytest.raises(ValueError, match=r"^\[mfsc\] expected sound of at least one dimension"):
        mfsc(8, RATE)(np.float32(0.5))


@pytest.mark.parametrize("scale", FrequencyScale)
@pytest.mark.parametrize("window", WindowType)
def test_native_features_equal_those_of_numpy(scale, window):
    options = {"window_type": window, "freq_scale": scale, "low_freq": 50, "high_freq": 3000}
    plain, native = (mfsc(20, RATE, **options, native=native) for native in (False, True))
    for sound in (SOUND, SOUND[:100], SOUND.reshape(2, 2, -1)[..., ::2], SOUND.astype(np.float64)):
        found, expected = native(sound), plain(sound.astype(np.float32))
        assert found.shape == expected.shape
        assert found.dtype == np.float32
        np.testing.assert_allclose(found, expected, rtol=2e-3, atol=2e-3)
    summed = mfsc(20, RATE, **options, native=True, post_process=np.sum)
    assert summed(SOUND).shape == ()
    with pytest.raises(ValueError, match="n_filterbank must be positive"):
        mfsc(0, RATE, native=True)
