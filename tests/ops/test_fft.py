"""Fourier transforms: lengths, large lines, errors, MLX's dtypes and shapes, frames of signals."""

import os
import subprocess
import sys

import numpy as np
import pytest
import umber.core as mx
from arrays import assert_dtype, to_numpy
from scipy import signal

ONE_AXIS = ("fft", "ifft", "rfft", "irfft", "hfft", "ihfft")
NORMS = ("backward", "ortho", "forward")


def line(rng, name, shape, dtype=np.float64):
    """Values that the transform of this name takes."""
    values = rng.normal(size=shape)
    if name not in ("rfft", "ihfft"):
        values = values + 1j * rng.normal(size=shape)
    wide = np.complex128 if np.iscomplexobj(values) else np.float64
    single = np.complex64 if np.iscomplexobj(values) else np.float32
    return values.astype(wide if dtype == np.float64 else single)


@pytest.mark.parametrize("length", [1, 2, 3, 4, 7, 8, 15, 64, 97, 100, 1009, 1024, 2310])
@pytest.mark.parametrize("name", ONE_AXIS)
def test_lengths(name, length, rng):
    """Powers of two, primes and products, in both precisions, along every axis of memory."""
    for dtype, bound in ((np.float64, 1e-14), (np.float32, 1e-6)):
        for shape, axis in (
            ((length,), 0),
            ((length, 11), 0),
            ((3, length), 1),
            ((2, length, 5), 1),
        ):
            x = line(rng, name, shape, dtype)
            for norm in NORMS:
                got = to_numpy(getattr(mx.fft, name)(mx.asarray(x), n=length, axis=axis, norm=norm))
                want = getattr(np.fft, name)(x, length, axis, norm)
                assert got.shape == want.shape
                size = np.abs(want).max()
                assert np.abs(got - want).max() <= bound * np.log2(length + 2) * size


@pytest.mark.parametrize("name", ONE_AXIS)
def test_padding_and_truncation(name, rng):
    for given in (1, 4, 5):
        for n in (1, 2, 3, 4, 5, 6, 9, 12):
            x = line(rng, name, (3, given))
            got = to_numpy(getattr(mx.fft, name)(mx.asarray(x), n))
            np.testing.assert_allclose(got, getattr(np.fft, name)(x, n), rtol=0, atol=1e-13)


def test_views_are_transformed_as_they_lie(rng):
    x = rng.normal(size=(6, 8, 10)) + 1j * rng.normal(size=(6, 8, 10))
    a = mx.asarray(x)
    for view, array in (
        (x.T, a.T),
        (x[::-1, ::2, 3:], a[::-1, ::2, 3:]),
        (np.broadcast_to(x[:, :1], (6, 5, 10)), mx.broadcast_to(a[:, :1], (6, 5, 10))),
        (x.real, a.real),
    ):
        for axis in range(3):
            got = to_numpy(mx.fft.fft(array, axis=axis))
            np.testing.assert_allclose(got, np.fft.fft(view, axis=axis), rtol=0, atol=1e-13)


def test_large_batches_and_long_lines(rng):
    """Many lines shared by threads, one long line, and lines far apart in memory."""
    for shape, axis in (((3000, 64), 1), ((64, 3000), 0), ((1, 2**17), 1), ((2**17,), 0)):
        x = rng.normal(size=shape).astype(np.float32)
        for name in ("fft", "rfft"):
            got = to_numpy(getattr(mx.fft, name)(mx.array(x), axis=axis))
            want = getattr(np.fft, name)(x.astype(np.float64), axis=axis)
            assert np.abs(got - want).max() <= 1e-6 * np.abs(want).max() * 4
        back = to_numpy(mx.fft.irfft(mx.fft.rfft(mx.array(x), axis=axis), axis=axis))
        np.testing.assert_allclose(back, x, atol=3e-6)


def spectra(rng, name, shape, axis, precise):
    """A transform of random lines, and what NumPy, which computes in double precision, says."""
    x = line(rng, name, shape, np.float64 if precise else np.float32)
    if name == "irfft":
        x = np.take(x, range(shape[axis] // 2 + 1), axis)
    wide = x.astype(np.complex128 if np.iscomplexobj(x) else np.float64)
    got = to_numpy(getattr(mx.fft, name)(mx.asarray(x), n=shape[axis], axis=axis, norm="ortho"))
    want = getattr(np.fft, name)(wide, shape[axis], axis, "ortho")
    assert got.shape == want.shape
    return np.linalg.norm(got - want) / np.linalg.norm(want)


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft"])
@pytest.mark.parametrize("bits", range(21))
def test_powers_of_two(bits, name, rng):
    """Few lines and many, which are transformed one by one, side by side or each as a matrix."""
    n = 2**bits
    for precise, bound in ((True, 1e-15), (False, 3e-7)):
        for count in (1, 3, 17, 130):
            if n * count <= 2**20:
                assert spectra(rng, name, (count, n), 1, precise) <= bound
                assert spectra(rng, name, (n, count), 0, precise) <= bound
        if n <= 2**12:
            assert spectra(rng, name, (3, n, 37), 1, precise) <= bound


@pytest.mark.parametrize("name", ["rfft", "irfft"])
@pytest.mark.parametrize("bits", range(3, 18))
def test_odd_lengths_beside_powers_of_two(bits, name, rng):
    """A line of an odd number of reals is no line of pairs, however round their number is."""
    n = 2**bits + 1
    for precise, bound in ((True, 1e-14), (False, 3e-6)):
        for count in (1, 17, 130):
            if n * count <= 2**20:
                assert spectra(rng, name, (count, n), 1, precise) <= bound
                assert spectra(rng, name, (n, count), 0, precise) <= bound


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft"])
def test_strided_powers_of_two(name, rng):
    """Lines that are no neighbours, that are read backwards, and long ones with gaps."""
    for shape, view in (
        ((40, 3, 256), np.s_[::-1, 1:, ::2]),
        ((256, 40, 3), np.s_[:, ::2, ::2]),
        ((128, 40), np.s_[::-2, ::-1]),
        ((2**15,), np.s_[::2]),
        ((2**15,), np.s_[::-1]),
        ((2, 2**14), np.s_[:, ::-1]),
    ):
        x = line(rng, name, shape)
        for axis in range(len(shape)):
            n = x[view].shape[axis]
            n = 1 << (n.bit_length() - 1)
            got = to_numpy(getattr(mx.fft, name)(mx.asarray(x)[view], n=n, axis=axis))
            want = getattr(np.fft, name)(x[view], n, axis)
            np.testing.assert_allclose(got, want, rtol=0, atol=2e-14 * np.abs(want).max())


def test_not_a_number_stays_among_neighbours(rng):
    """Lines that are transformed side by side do not see one another."""
    for shape, axis in (((40, 256), 1), ((256, 40), 0), ((40, 8192), 1)):
        x = rng.normal(size=shape).astype(np.float32)
        x = np.moveaxis(x, axis, 0)
        x[3, 5], x[7, 20] = np.nan, np.inf
        x = np.moveaxis(x, 0, axis)
        for name in ("fft", "rfft", "irfft"):
            got = to_numpy(getattr(mx.fft, name)(mx.asarray(x), axis=axis))
            finite = np.isfinite(np.moveaxis(got, axis, 0))
            assert not finite[:, [5, 20]].all(axis=0).any()
            assert np.delete(finite, [5, 20], 1).all()


def test_threads_do_not_change_the_result():
    program = (
        "import umber.core as mx; x = mx.random.normal((500, 300), key=mx.random.key(0));"
        "import numpy as np;"
        "print(hash(np.array(mx.fft.fft2(x)).tobytes()),"
        "hash(np.array(mx.fft.irfft(mx.fft.rfft(x, axis=0), axis=0)).tobytes()));"
        "[print(hash(np.array(mx.fft.irfft(mx.fft.rfft(x[:, :1], n, 0), n, 0)).tobytes()),"
        "hash(np.array(mx.fft.fft(mx.reshape(x, (-1,)), 2**17)).tobytes()),"
        "hash(np.array(mx.fft.irfft(mx.fft.rfft(x, n), n)).tobytes()),"
        "hash(np.array(mx.fft.ifft(x, n, 0)).tobytes())) for n in (256, 2**14)]"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"UMBER_NUM_THREADS": threads, "PYTHONHASHSEED": "0"},
            capture_output=True,
            check=True,
        ).stdout
        for threads in "13"
    }
    assert len(answers) == 1


def test_imaginary_parts_that_do_not_count(rng):
    """Of a half line, those of frequency zero and of the highest one of an even length."""
    x = line(rng, "irfft", (5,))
    changed = x.copy()
    changed[0] += 3j
    changed[4] -= 2j
    np.testing.assert_allclose(
        to_numpy(mx.fft.irfft(mx.asarray(changed))), np.fft.irfft(x), atol=1e-14
    )
    with_imaginary = mx.asarray(x)
    np.testing.assert_allclose(
        to_numpy(mx.fft.rfft(with_imaginary)), np.fft.rfft(x.real), atol=1e-14
    )


def test_not_a_number_stays_in_its_line():
    x = mx.array(np.arange(12.0).reshape(3, 4))
    x[1, 2] = np.nan
    bad = np.isnan(to_numpy(mx.fft.fft(x))).any(axis=1)
    assert bad.tolist() == [False, True, False]
    bad = np.isnan(to_numpy(mx.fft.rfft(x, axis=0))).any(axis=0)
    assert bad.tolist() == [False, False, True, False]


def test_empty_arrays():
    assert mx.fft.fft(mx.zeros((0, 4))).shape == (0, 4)
    assert mx.fft.rfft(mx.zeros((0, 4))).shape == (0, 3)
    assert mx.fft.irfft(mx.zeros((0, 4))).shape == (0, 6)
    assert to_numpy(mx.fft.fft(mx.zeros((4, 0)), n=3)).tolist() == [[0, 0, 0]] * 4
    assert mx.fft.fftn(mx.zeros((0, 3, 4)), axes=[1, 2]).shape == (0, 3, 4)
    assert mx.fft.fftshift(mx.zeros((0,))).shape == (0,)
    assert mx.fft.ifftshift(mx.array(1.0)).item() == 1


def test_lengths_of_several_axes(rng):
    x = rng.normal(size=(3, 4, 5))
    for name in ("fftn", "ifftn", "rfftn", "irfftn"):
        ours, theirs = getattr(mx.fft, name), getattr(np.fft, name)
        for s, axes in (
            ((6, 2), (0, 1)),
            ((-1, 7), (2, 1)),
            ((2,), (-1,)),
            ((4, -1, 3), (0, 1, 2)),
        ):
            got = to_numpy(ours(mx.asarray(x), s=s, axes=axes))
            np.testing.assert_allclose(got, theirs(x, s=s, axes=axes), atol=1e-13)
        # Without axes lengths are those of the last ones.
        got = to_numpy(ours(mx.asarray(x), s=(3, 6)))
        np.testing.assert_allclose(got, theirs(x, s=(3, 6), axes=(1, 2)), atol=1e-13)
        assert ours(mx.asarray(x), axes=[]).shape == (3, 4, 5)


ERRORS = [
    (lambda x: mx.fft.fft(x, 0), ValueError, r"\[fft\] needs at least one element along axis 0,"),
    (
        lambda x: mx.fft.rfft(x, -1),
        ValueError,
        r"\[rfft\] needs at least one element along axis 0,",
    ),
    (lambda x: mx.fft.irfft(x[:1]), ValueError, r"\[irfft\] needs at least one element along axis"),
    (
        lambda x: mx.fft.hfft(x[:1]),
        ValueError,
        r"\[hfft\] needs at least one element along axis 0,",
    ),
    (lambda x: mx.fft.ihfft(x, 0), ValueError, r"\[ihfft\] needs at least one element along axis"),
    (
        lambda x: mx.fft.ifft(mx.zeros((0,))),
        ValueError,
        r"\[ifft\] needs at least one element along axis 0,",
    ),
    (lambda x: mx.fft.fft(x, axis=1), IndexError, r"\[fft\]"),
    (lambda x: mx.fft.fft(mx.array(1.0)), IndexError, r"\[fft\]"),
    (lambda x: mx.fft.fft(x, norm="none"), ValueError, r"\[fft\] got norm 'none', expected"),
    (lambda x: mx.fft.fft(x, 2**62), mx.RangeError, r"\[fft\]"),
    (
        lambda x: mx.fft.fftn(mx.array(1.0)),
        ValueError,
        r"\[fftn\] array must have at least one axis",
    ),
    (
        lambda x: mx.fft.fftn(x, s=[1, 2]),
        ValueError,
        r"\[fftn\] got 2 lengths, expected at most 1, one per axis",
    ),
    (
        lambda x: mx.fft.ifftn(x, s=[1, 2], axes=[0]),
        ValueError,
        r"\[ifftn\] got 2 lengths for 1 axes, expected one",
    ),
    (
        lambda x: mx.fft.rfftn(x, s=[0]),
        ValueError,
        r"\[rfftn\] needs at least one element along axis",
    ),
    (lambda x: mx.fft.irfftn(x, axes=[3]), IndexError, r"\[irfftn\]"),
    *(
        (lambda x, name=name: getattr(mx.fft, name)(x), IndexError, rf"\[{name}\]")
        for name in ("fft2", "ifft2", "rfft2", "irfft2")
    ),
    (lambda x: mx.fft.fftfreq(0), ValueError, r"\[fftfreq\] n must be positive, got 0"),
    (lambda x: mx.fft.fftfreq(2**62), mx.RangeError, r"\[fftfreq\]"),
    (lambda x: mx.fft.rfftfreq(4, 0.0), ValueError, r"\[rfftfreq\] d must be non-zero"),
    (lambda x: mx.fft.fftshift(x, 2), IndexError, r"\[fftshift\]"),
    (lambda x: mx.fft.ifftshift(x, [0, 1]), IndexError, r"\[ifftshift\]"),
    (
        lambda x: mx.fft.stft(mx.array(1.0)),
        ValueError,
        r"\[stft\] signal must have at least one axis",
    ),
    (lambda x: mx.fft.stft(x, 0), ValueError, r"\[stft\] n_fft must be positive, got 0"),
    (lambda x: mx.fft.stft(x, 3), ValueError, r"\[stft\] hop_length must be positive, got 0"),
    (
        lambda x: mx.fft.stft(x, 64, center=False),
        ValueError,
        r"\[stft\] signal of 6 samples is too short for",
    ),
    (
        lambda x: mx.fft.stft(x, 2**63 - 1),
        mx.RangeError,
        r"\[stft\] n_fft must be at most 268435456, got",
    ),
    (
        lambda x: mx.fft.istft(x[None], 2**63 - 1),
        mx.RangeError,
        r"\[istft\] n_fft must be at most 268435456, got",
    ),
    (lambda x: mx.fft.stft(x, 4, window=mx.ones((5,))), ValueError, r"\[stft\] window must "),
    (lambda x: mx.fft.stft(x, 4, win_length=2**62), ValueError, r"\[stft\] window must "),
    (lambda x: mx.fft.stft(x, 4, window=mx.ones((1, 4))), ValueError, r"\[stft\] window must "),
    (lambda x: mx.fft.stft(x, 4, pad_mode="no such mode"), ValueError, r"\[stft\] .*no such mode"),
    (lambda x: mx.fft.stft(mx.zeros((0,)), 4), ValueError, r"\[stft\] signal must not be empty"),
    (
        lambda x: mx.fft.istft(x),
        ValueError,
        r"\[istft\] array must have a frequency .* got shape \(6,\)",
    ),
    (lambda x: mx.fft.istft(x[None]), ValueError, r"\[istft\] n_fft must be positive, got 0"),
    (
        lambda x: mx.fft.istft(mx.zeros((3, 0)), 8),
        ValueError,
        r"\[istft\] needs at least one frame",
    ),
    (
        lambda x: mx.fft.istft(mx.zeros((5, 2)), length=-1),
        ValueError,
        r"\[istft\] length must not be negative, got -1",
    ),
    (
        lambda x: mx.fft.istft(mx.zeros((5, 2)), hop_length=0),
        ValueError,
        r"\[istft\] hop_length must be positive, got 0",
    ),
]


@pytest.mark.parametrize(("call", "kind", "message"), ERRORS)
def test_errors(call, kind, message):
    with pytest.raises(kind, match=message):
        call(mx.arange(6.0))


@pytest.mark.covers("fft.fftfreq", "fft.rfftfreq")
@pytest.mark.parametrize("n", [1, 2, 5, 6, 1001])
def test_frequencies(n):
    for name in ("fftfreq", "rfftfreq"):
        for d in (1.0, 0.25, -3.0):
            got = getattr(mx.fft, name)(n, d)
            assert_dtype(got, "float32")
            np.testing.assert_allclose(to_numpy(got), getattr(np.fft, name)(n, d), rtol=1e-7)


@pytest.fixture
def other():
    return pytest.importorskip("mlx.core", reason="MLX is not installed")


def test_dtypes_are_those_of_mlx(other):
    """But for float64 and complex128, which MLX transforms in single precision."""
    for dtype in ("bool_", "uint8", "int64", "float16", "bfloat16", "float32", "complex64"):
        for name in ("fft", "ifft", "rfft", "irfft"):
            ours, theirs = (
                getattr(m.fft, name)(m.arange(6).astype(getattr(m, dtype))) for m in (mx, other)
            )
            assert ours.shape == theirs.shape
            assert_dtype(ours, str(theirs.dtype).rpartition(".")[2])
            np.testing.assert_allclose(to_numpy(ours), np.array(theirs), atol=1e-5)
    for name, dtype in (("fft", "complex128"), ("rfft", "complex128"), ("irfft", "float64")):
        assert_dtype(getattr(mx.fft, name)(mx.arange(6.0, dtype=mx.float64)), dtype)


def test_shapes_of_several_axes_are_those_of_mlx(other):
    x = np.random.default_rng(0).normal(size=(2, 3, 4)).astype(np.float32)
    calls = (
        {},
        {"s": [5, 6], "axes": [0, 1]},
        {"axes": [0, 2]},
        {"axes": [-1]},
        {"norm": "ortho"},
        {"axes": []},
    )
    for name in ("fftn", "ifftn", "rfftn", "irfftn", "fft2", "ifft2", "rfft2", "irfft2"):
        for call in calls:
            ours, theirs = (getattr(m.fft, name)(m.array(x), **call) for m in (mx, other))
            assert ours.shape == theirs.shape, (name, call)
            assert_dtype(ours, str(theirs.dtype).rpartition(".")[2])
            np.testing.assert_allclose(to_numpy(ours), np.array(theirs), atol=2e-5)


SIGNAL = np.random.default_rng(1).normal(size=50).astype(np.float32)
HANN = np.hanning(16).astype(np.float32)
FRAMES = {
    "plain": {"n_fft": 16},
    "long": {},
    "window": {"n_fft": 16, "hop_length": 4, "window": HANN},
    "short window": {"n_fft": 16, "hop_length": 3, "window": HANN[:9]},
    "window and length": {"n_fft": 16, "win_length": 5, "window": HANN},
    "win_length": {"n_fft": 16, "win_length": 9},
    "odd": {"n_fft": 15, "hop_length": 4},
    "not centred": {"n_fft": 16, "center": False, "pad_mode": "anything"},
    "constant": {"n_fft": 16, "pad_mode": "constant"},
    "edge": {"n_fft": 16, "pad_mode": "edge"},
    "ortho": {"n_fft": 16, "norm": "ortho"},
    "all frequencies": {"n_fft": 16, "onesided": False},
    "gaps": {"n_fft": 16, "hop_length": 20, "center": False},
}


def for_module(m, options):
    return {k: m.array(v) if isinstance(v, np.ndarray) else v for k, v in options.items()}


@pytest.mark.parametrize("name", FRAMES)
def test_frames_are_those_of_mlx(name, other):
    options = FRAMES[name]
    for x in (SIGNAL, SIGNAL.reshape(2, 25), SIGNAL.astype(np.complex64), np.arange(50)):
        if x.shape[-1] * 2 <= options.get("n_fft", 2048) and "long" in name and x.ndim > 1:
            continue
        ours, theirs = (m.fft.stft(m.array(x), **for_module(m, options)) for m in (mx, other))
        assert ours.shape == theirs.shape
        assert_dtype(ours, "complex64")
        size = np.abs(np.array(theirs)).max()
        np.testing.assert_allclose(to_numpy(ours), np.array(theirs), atol=3e-6 * size)


@pytest.mark.parametrize("name", [n for n in FRAMES if n != "long"])
def test_signals_are_those_of_mlx(name, other):
    options = {k: v for k, v in FRAMES[name].items() if k != "pad_mode"}
    spectrum = np.array(other.fft.stft(other.array(SIGNAL), **for_module(other, FRAMES[name])))
    for length in (None, 20, 60, 0):
        ours, theirs = (
            m.fft.istft(m.array(spectrum), length=length, **for_module(m, options))
            for m in (mx, other)
        )
        assert ours.shape == theirs.shape
        assert_dtype(ours, "float32")
        np.testing.assert_allclose(to_numpy(ours), np.array(theirs), atol=3e-6)
    halves = np.stack([spectrum, 2 * spectrum])
    ours, theirs = (m.fft.istft(m.array(halves), **for_module(m, options)) for m in (mx, other))
    np.testing.assert_allclose(to_numpy(ours), np.array(theirs), atol=6e-6)


@pytest.mark.covers("fft.stft", "fft.istft")
def test_frames_in_double_precision_against_scipy(rng):
    x = rng.normal(size=(2, 200))
    window = signal.windows.hann(32)
    got = mx.fft.stft(mx.asarray(x), 32, 8, window=mx.asarray(window), pad_mode="constant")
    assert_dtype(got, "complex128")
    reference = signal.ShortTimeFFT(window, 8, 1.0, phase_shift=None).stft(x, p0=0, p1=26)
    assert got.shape == reference.shape
    np.testing.assert_allclose(to_numpy(got), reference, atol=1e-13)
    back = mx.fft.istft(got, hop_length=8, window=mx.asarray(window), length=200)
    np.testing.assert_allclose(to_numpy(back), x, atol=1e-13)


def test_frames_have_gradients():
    """The gradient of the energy of the frames, from their definition, and of the way back."""
    window = mx.array(HANN)
    x = mx.array(SIGNAL)

    def energy(x):
        return (
            mx.abs(mx.fft.stft(x, 16, 4, window=window, center=False, onesided=False)) ** 2
        ).sum()

    slope = to_numpy(mx.grad(energy)(x))
    cover = np.zeros(50)
    for start in range(0, 35, 4):
        cover[start : start + 16] += HANN**2
    np.testing.assert_allclose(slope, 2 * 16 * cover * SIGNAL, rtol=1e-4, atol=1e-3)

    def there_and_back(x):
        spectrum = mx.fft.stft(x, 16, 4, window=window)
        return (mx.fft.istft(spectrum, hop_length=4, window=window, length=50) * x).sum()

    # The end of the signal is not covered by whole frames.
    slope = to_numpy(mx.grad(there_and_back)(x))
    np.testing.assert_allclose(slope[:40], 2 * SIGNAL[:40], atol=2e-4)
    lanes = mx.vmap(lambda x: mx.fft.stft(x, 16, 4, window=window))(x.reshape(2, 25))
    np.testing.assert_allclose(
        to_numpy(lanes),
        to_numpy(mx.fft.stft(x.reshape(2, 25), 16, 4, window=window)),
        atol=1e-6,
    )


def test_second_derivatives_and_compilation():
    x = mx.array(SIGNAL)

    def power(x):
        return (mx.abs(mx.fft.rfft(x)) ** 4).sum()

    compiled = to_numpy(mx.compile(mx.grad(power))(x))
    np.testing.assert_allclose(compiled, to_numpy(mx.grad(power)(x)), rtol=1e-4)
    _, (curvature,) = mx.jvp(mx.grad(power), (x,), (mx.ones_like(x),))
    step = 1e-3
    plus, minus = (to_numpy(mx.grad(power)(x + s * step)) for s in (1, -1))
    np.testing.assert_allclose(
        to_numpy(curvature), (plus - minus) / (2 * step), rtol=0.05, atol=0.02 * np.abs(plus).max()
    )
