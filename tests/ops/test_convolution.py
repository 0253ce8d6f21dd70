"""Convolutions: errors, edges, and MLX, SciPy and NumPy as oracles."""

import itertools

import numpy as np
import pytest
import scipy.signal
import umber.core as mx
from arrays import assert_close, to_numpy, to_umber
from tolerances import tolerance_of

X, W = mx.zeros((2, 5, 4)), mx.zeros((6, 3, 4))
IMAGE, KERNEL = mx.zeros((1, 5, 6, 2)), mx.zeros((3, 3, 3, 2))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mx.conv1d(X[0], W), r"\[conv1d\] input must have a batch axis, 1 .* \(5, 4\)"),
        (lambda: mx.conv2d(X, W), r"\[conv2d\] input must have a batch axis, 2"),
        (lambda: mx.conv3d(IMAGE, KERNEL), r"\[conv3d\] input must have a batch axis, 3"),
        (lambda: mx.conv1d(X, KERNEL), r"\[conv1d\] weight must .* got shape \(3, 3, 3, 2\)"),
        (lambda: mx.conv_general(X[0], W[0]), r"\[conv_general\] input must have at least 3 axes"),
        (
            lambda: mx.conv1d(X, W[..., :3]),
            r"\[conv1d\] .* groups=1: weight must have 4 input channels",
        ),
        (lambda: mx.conv1d(X, W, stride=0), r"\[conv1d\] strides must be positive, got \[0\]"),
        (lambda: mx.conv1d(X, W, dilation=-1), r"\[conv1d\] dilations of the kernel must be"),
        (lambda: mx.conv_general(X, W, input_dilation=0), "dilations of the input must be"),
        (lambda: mx.conv1d(X, W, groups=0), r"\[conv1d\] number of groups must be at least 1,"),
        (lambda: mx.conv1d(X, W, groups=3), "3 groups do not divide 4 input"),
        (lambda: mx.conv1d(X, W[:5, :, :2], groups=2), "2 groups do not divide 4 input"),
        (lambda: mx.conv2d(IMAGE, KERNEL, stride=(1, 2, 3)), "got 3 strides, expected 1 or 2"),
        (lambda: mx.conv_general(IMAGE, KERNEL, padding=[1, 1, 1]), r"got 3 paddings"),
        (lambda: mx.conv1d(X[:, :2], W), "kernel extent 3 along spatial axis 0 exceeds the"),
        (lambda: mx.conv1d(X, W, dilation=3), "kernel extent 7 along spatial axis 0 exceeds the"),
        (lambda: mx.conv1d(X, W, padding=-2), "kernel extent 3 along spatial axis 0 exceeds the"),
        (lambda: mx.conv1d(X, W[:, :0]), "kernel must not be empty along a"),
        (
            lambda: mx.conv_transpose1d(X, W, stride=0),
            r"\[conv_transpose1d\] strides must be positive,",
        ),
        (lambda: mx.conv_transpose2d(X, W), r"\[conv_transpose2d\] input must have a batch"),
        (lambda: mx.conv_transpose3d(X, W), r"\[conv_transpose3d\] input must have a batch"),
        (lambda: mx.conv_transpose1d(X, W, padding=9), r"\[conv_transpose1d\] .* along spatial"),
        (lambda: mx.convolve(X, W), r"\[convolve\] arrays must be one-dimensional, got"),
        (lambda: mx.convolve(mx.zeros(3), mx.zeros(0)), r"\[convolve\] arrays must not be empty"),
        (lambda: mx.convolve(mx.zeros(3), mx.zeros(2), "x"), r"\[convolve\] got mode 'x'"),
        (lambda: mx.correlate(mx.zeros(3), mx.zeros(2), "x"), r"\[correlate\] got mode 'x'"),
        (
            lambda: mx.correlate(mx.array(1.0), mx.zeros(2)),
            r"\[correlate\] arrays must be one-dimensional, got",
        ),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize("large", [2**40, 2**62, 2**63 - 1])
def test_huge_options_are_refused_or_right(large):
    """No option overflows: what does not fit is an error, what has no effect has none."""
    with pytest.raises((ValueError, OverflowError)):
        mx.conv1d(X, W, dilation=large)
    with pytest.raises((ValueError, OverflowError, MemoryError)):
        mx.eval(mx.conv1d(X, W, padding=large))
    if large < 2**61:
        assert mx.conv1d(X, W, stride=large).shape == (2, 1, 6)
    else:
        with pytest.raises(
            OverflowError, match=r"^\[conv1d\] stride \d+ .* is too large, expected"
        ):
            mx.conv1d(X, W, stride=large)
    with pytest.raises((ValueError, OverflowError, MemoryError)):
        mx.eval(mx.conv_transpose1d(X, W, stride=large))


def test_nothing_is_taken_off_the_end_of_transposed_convolutions():
    for axes in (1, 2, 3):
        x, w = mx.ones((1, *[4] * axes, 2)), mx.ones((3, *[2] * axes, 2))
        function = getattr(mx, f"conv_transpose{axes}d")
        with pytest.raises(
            ValueError, match=rf"^\[conv_transpose{axes}d\] output padding must not be"
        ):
            function(x, w, output_padding=(0,) * (axes - 1) + (-1,))


def test_integers_are_exact_and_wrap(rng):
    x, w = rng.integers(-(2**62), 2**62, (1, 6, 2)), rng.integers(-(2**62), 2**62, (2, 3, 2))
    want = sum(x[:, t : t + 4] @ w[:, t].T for t in range(3))
    assert_close(to_numpy(mx.conv1d(mx.array(x), mx.array(w))), want)
    assert mx.conv1d(mx.ones((1, 300, 1), mx.uint8), mx.ones((1, 300, 1), mx.uint8)).item() == 44


def test_bools_say_whether_any_pair_is_true():
    line, kernel = mx.array([True, False, False, True]), mx.array([True, True])
    assert mx.convolve(line, kernel).tolist() == [True, True, False, True, True]


def test_dtypes_promote():
    assert mx.conv1d(X.astype(mx.float16), W).dtype == mx.float32
    assert mx.conv1d(X.astype(mx.int32), W.astype(mx.float16)).dtype == mx.float16
    assert mx.conv1d(X.astype(mx.complex128), W).dtype == mx.complex128


def test_halves_are_summed_wide():
    """2049 ones: a sum in float16 would stop at 2048."""
    ones = mx.ones((1, 2049, 1), mx.float16)
    assert mx.conv1d(ones, ones).item() == float(np.float16(2049))
    depthwise = mx.conv1d(
        mx.ones((1, 4100, 2), mx.float16), mx.ones((2, 4100, 1)).astype(mx.float16), groups=2
    )
    assert depthwise.tolist() == [[[4100, 4100]]]


def test_zero_sizes():
    assert mx.conv1d(X[:0], W).shape == (0, 3, 6)
    assert mx.conv1d(X, W[:0]).shape == (2, 3, 0)
    assert mx.conv1d(X[..., :0], W[..., :0]).tolist() == np.zeros((2, 3, 6)).tolist()
    assert mx.conv1d(X[:, :0], W, padding=2).tolist() == np.zeros((2, 2, 6)).tolist()
    for x, w in ((X[:0], W), (X, W[:0]), (X[..., :0], W[..., :0])):
        _, (dx, dw) = mx.vjp(lambda x, w: mx.conv1d(x, w), [x, w], [mx.conv1d(x, w)])
        assert dx.shape == x.shape
        assert dw.tolist() == mx.zeros(w.shape).tolist()
    assert mx.vmap(mx.conv1d, (0, None))(mx.zeros((0, 2, 5, 4)), W).shape == (0, 2, 3, 6)
    assert mx.vmap(mx.conv1d)(mx.zeros((0, 2, 5, 4)), mx.zeros((0, 6, 3, 4))).shape == (0, 2, 3, 6)


def test_per_sample_gradients_of_weights(rng):
    """vmap over grad, where input and cotangent are batched and the weight is not."""
    x, w = (
        to_umber(rng.normal(size=(3, 1, 6, 4)), "float64"),
        to_umber(rng.normal(size=(4, 3, 2)), "float64"),
    )

    def loss(w, x):
        return (mx.conv1d(x, w, groups=2, padding=1) ** 2).sum()

    found = to_numpy(mx.vmap(mx.grad(loss), (None, 0))(w, x))
    want = np.stack([to_numpy(mx.grad(loss)(w, x[i])) for i in range(3)])
    assert_close(found, want, tolerance_of("float64", 50))


LARGE = [
    ((2, 40, 33, 20), (24, 3, 3, 20), {"padding": 1}),
    ((1, 64, 64, 3), (32, 7, 7, 3), {"padding": 3, "stride": 2}),
    ((2, 30, 31, 64), (64, 3, 3, 1), {"padding": 1, "groups": 64}),
    ((2, 30, 31, 32), (64, 3, 3, 4), {"padding": 1, "groups": 8, "kernel_dilation": 2}),
    ((3, 9, 9, 40), (8, 4, 4, 40), {"input_dilation": 2, "padding": 2}),
    ((1, 300, 300), (5, 3, 300), {}),
    ((4, 17, 17, 16), (70, 1, 1, 16), {}),
    ((1, 7, 7, 700), (130, 3, 3, 700), {"padding": 1}),
]


@pytest.mark.parametrize(("x", "w", "options"), LARGE)
@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_blocks_and_threads(x, w, options, dtype, rng):
    """Sizes that fill blocks and are shared out, against the definition."""
    from naive_convolution import conv_general

    x, w = rng.integers(-3, 4, x).astype("float64"), rng.integers(-3, 4, w).astype("float64")
    want = conv_general(x, w, **options)
    found = mx.conv_general(
        to_umber(x.astype("float32"), dtype), to_umber(w.astype("float32"), dtype), **options
    )
    # Small whole numbers: sums are exact but for the last rounding.
    expected = to_numpy(to_umber(want.astype("float32"), "float32").astype(found.dtype))
    assert_close(to_numpy(found), expected)


@pytest.mark.parametrize(("x", "w", "options"), LARGE)
def test_large_gradients(x, w, options, rng):
    """The derivative by each operand has the inner products that the definition gives."""
    x, w = rng.integers(-3, 4, x).astype("float64"), rng.integers(-3, 4, w).astype("float64")
    a, b = to_umber(x, "float64"), to_umber(w, "float64")
    out = mx.conv_general(a, b, **options)
    ct = to_umber(rng.integers(-3, 4, out.shape).astype("float64"), "float64")
    _, (dx, dw) = mx.vjp(lambda a, b: mx.conv_general(a, b, **options), [a, b], [ct])
    value = (out * ct).sum().item()
    assert (dx * a).sum().item() == value
    assert (dw * b).sum().item() == value
    # Derivatives by single elements.
    for gradient, operand, call in (
        (dx, a, lambda d: mx.conv_general(d, b, **options)),
        (dw, b, lambda d: mx.conv_general(a, d, **options)),
    ):
        place = tuple(int(rng.integers(n)) for n in operand.shape)
        unit = np.zeros(operand.shape)
        unit[place] = 1
        assert gradient[place].item() == (call(to_umber(unit, "float64")) * ct).sum().item()


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
def test_long_lines_agree_with_numpy(mode, rng):
    for a, v in ((10_000, 300), (37, 5000), (4097, 4097)):
        x, y = rng.normal(size=a), rng.normal(size=v)
        for name in ("convolve", "correlate"):
            want = getattr(np, name)(x, y, mode)
            found = getattr(mx, name)(to_umber(x, "float64"), to_umber(y, "float64"), mode)
            assert_close(to_numpy(found), want, tolerance_of("float64", 100), name)


def test_against_scipy(rng):
    x, w = rng.normal(size=(1, 9, 11, 1)), rng.normal(size=(1, 4, 3, 1))
    found = mx.conv2d(to_umber(x, "float64"), to_umber(w, "float64"))
    want = scipy.signal.correlate2d(x[0, ..., 0], w[0, ..., 0], "valid")
    assert_close(to_numpy(found)[0, ..., 0], want, tolerance_of("float64", 10))
    flipped = mx.conv_general(
        to_umber(x, "float64"), to_umber(w, "float64"), padding=[3, 2], flip=True
    )
    want = scipy.signal.convolve2d(x[0, ..., 0], w[0, ..., 0])
    assert_close(to_numpy(flipped)[0, ..., 0], want, tolerance_of("float64", 10))


def general_options():
    """Options that differ from the default in some way."""
    choices = {
        "stride": (1, 2),
        "padding": (0, 2, ([1, 0], [0, 2]), ([-1, 1], [0, 0])),
        "kernel_dilation": (1, 2),
        "input_dilation": (1, (2, 3)),
        "groups": (1, 2),
        "flip": (False, True),
    }
    for values in itertools.product(*choices.values()):
        options = dict(zip(choices, values, strict=True))
        # MLX cuts off elements before it spreads them, umber positions after.
        if options["padding"] != ([-1, 1], [0, 0]) or options["input_dilation"] == 1:
            yield options


def test_against_mlx(rng):
    reference = pytest.importorskip("mlx.core")
    x = rng.normal(size=(2, 6, 7, 4)).astype("float32")
    w = rng.normal(size=(4, 3, 2, 4)).astype("float32")
    for options in general_options():
        weight = w[..., : 4 // options["groups"]]
        want = np.array(
            reference.conv_general(reference.array(x), reference.array(weight), **options)
        )
        found = to_numpy(mx.conv_general(mx.array(x), mx.array(weight), **options))
        assert_close(found, want, tolerance_of("float32", 8), str(options))
    for stride, padding, dilation, more in itertools.product(
        (1, 2, (2, 3)), (0, 1), (1, 2), (0, (1, 0))
    ):
        options = {
            "stride": stride,
            "padding": padding,
            "dilation": dilation,
            "output_padding": more,
        }
        want = np.array(
            reference.conv_transpose2d(reference.array(x), reference.array(w), **options)
        )
        found = to_numpy(mx.conv_transpose2d(mx.array(x), mx.array(w), **options))
        assert_close(found, want, tolerance_of("float32", 8), str(options))
    a, v = rng.normal(size=9).astype("float32"), rng.normal(size=4).astype("float32")
    for mode in ("full", "same", "valid"):
        for x, y in ((a, v), (v, a)):
            want = np.array(reference.convolve(reference.array(x), reference.array(y), mode))
            found = to_numpy(mx.convolve(mx.array(x), mx.array(y), mode))
            assert_close(found, want, tolerance_of("float32", 4), mode)


@pytest.mark.parametrize("stride", [1, 3])
@pytest.mark.parametrize("taps", [1, 7])
@pytest.mark.parametrize("padding", [0, 1])
def test_transposed_convolutions_of_nothing(stride, taps, padding):
    """The length that the formula gives, of zeros, and gradients."""
    length = -stride + taps - 2 * padding
    x, w = mx.zeros((2, 0, 3)), mx.ones((4, taps, 3))

    def transposed(x, w):
        return mx.conv_transpose1d(x, w, stride=stride, padding=padding)

    if length <= 0:
        with pytest.raises(ValueError, match="kernel extent 1 along spatial axis 0 exceeds"):
            transposed(x, w)
        return
    y = transposed(x, w)
    assert y.shape == (2, length, 4)
    assert not to_numpy(y).any()
    slopes = mx.grad(lambda x, w: transposed(x, w).sum(), (0, 1))(x, w)
    assert [slope.shape for slope in slopes] == [x.shape, w.shape]
