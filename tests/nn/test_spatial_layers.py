"""Convolution, pooling and interpolation layers against their definitions in NumPy."""

import itertools
import math

import naive_convolution
import numpy as np
import pytest
import umber.core as mx
from umber import nn
from umber.nn.layers import upsample

AXES = [1, 2, 3]


def spatial(rng, axes, channels=4):
    return rng.normal(size=(2, *(7, 6, 5)[:axes], channels))


def wide(layer):
    layer.set_dtype(mx.float64)
    return layer


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("bias", [True, False])
def test_convolutions(axes, bias, rng):
    options = {"stride": 2, "padding": 1, "dilation": 2}
    groups = {} if axes == 3 else {"groups": 2}
    layer = wide(getattr(nn, f"Conv{axes}d")(4, 6, 2, **options, **groups, bias=bias))
    x = spatial(rng, axes)
    expected = naive_convolution.conv_general(
        x, np.array(layer.weight), 2, 1, 2, groups=groups.get("groups", 1)
    )
    if bias:
        layer.bias = mx.arange(6).astype(mx.float64)
        expected = expected + np.arange(6)
    np.testing.assert_allclose(np.array(layer(mx.array(x))), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("kernel", [1, 2, 3, 4])
@pytest.mark.parametrize("dilation", [1, 2, 3])
def test_padding_that_keeps_the_size(axes, kernel, dilation, rng):
    layer = getattr(nn, f"Conv{axes}d")(4, 6, kernel, padding="same", dilation=dilation, bias=False)
    x = spatial(rng, axes)
    total = dilation * (kernel - 1)
    widths = ([total // 2] * axes, [(total + 1) // 2] * axes)
    y = wide(layer)(mx.array(x))
    assert y.shape == (*x.shape[:-1], 6)
    expected = naive_convolution.conv_general(x, np.array(layer.weight), 1, widths, dilation)
    np.testing.assert_allclose(np.array(y), expected, rtol=1e-12, atol=1e-12)


def test_padding_by_name():
    layer = nn.Conv2d(4, 6, (2, 5), padding="same", dilation=(3, 1))
    assert layer(mx.zeros((1, 7, 8, 4))).shape == (1, 7, 8, 6)
    assert layer(mx.zeros((0, 7, 8, 4))).shape == (0, 7, 8, 6)
    assert "padding=same" in repr(layer)
    assert nn.Conv1d(4, 6, 3, padding="valid").padding == 0
    assert nn.Conv2d(4, 6, 3, 2, "valid").padding == (0, 0)
    x = mx.random.normal((3, 2, 9, 4))
    layer = nn.Conv1d(4, 6, 4, padding="same", groups=2)
    got = np.array(mx.vmap(layer)(x))
    np.testing.assert_allclose(got, np.stack([layer(each) for each in x]), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("bias", [True, False])
def test_transposed_convolutions(axes, bias, rng):
    options = {"stride": 3, "padding": 1, "dilation": 2, "output_padding": 1}
    layer = wide(getattr(nn, f"ConvTranspose{axes}d")(4, 6, 2, **options, bias=bias))
    x = spatial(rng, axes)
    expected = naive_convolution.conv_transpose(x, np.array(layer.weight), 3, 1, 2, 1)
    if bias:
        layer.bias = mx.arange(6).astype(mx.float64)
        expected = expected + np.arange(6)
    np.testing.assert_allclose(np.array(layer(mx.array(x))), expected, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize(
    ("layer", "fan_in"),
    [
        (lambda: nn.Conv1d(16, 400, 3), 48),
        (lambda: nn.Conv2d(16, 100, (3, 2), groups=4), 24),
        (lambda: nn.Conv3d(4, 50, 3), 108),
        (lambda: nn.ConvTranspose1d(16, 400, 3), 48),
        (lambda: nn.ConvTranspose2d(16, 100, (3, 2)), 96),
        (lambda: nn.ConvTranspose3d(4, 50, 3), 108),
    ],
)
def test_weights_of_convolutions(layer, fan_in):
    mx.random.seed(0)
    layer = layer()
    weight = np.array(layer.weight)
    s = 1 / math.sqrt(fan_in)
    assert np.abs(weight).max() <= s
    np.testing.assert_allclose(weight.std(), s / math.sqrt(3), rtol=0.05)
    assert not np.array(layer.bias).any()


def test_convolutions_say_what_they_are():
    assert repr(nn.Conv1d(4, 6, 3)) == (
        "Conv1d(4, 6, kernel_size=3, stride=1, padding=0, dilation=1, groups=1, bias=True)"
    )
    assert repr(nn.Conv2d(4, 6, (3, 2), groups=2, bias=False)) == (
        "Conv2d(4, 6, kernel_size=(3, 2), stride=(1, 1), padding=(0, 0), dilation=1, groups=2, "
        "bias=False)"
    )
    assert "groups" not in repr(nn.Conv3d(4, 6, 3))
    assert repr(nn.ConvTranspose2d(4, 6, 3, output_padding=1)) == (
        "ConvTranspose2d(4, 6, kernel_size=(3, 3), stride=(1, 1), padding=(0, 0), dilation=1, "
        "output_padding=(1, 1), bias=True)"
    )


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: nn.Conv1d(3, 4, 2, groups=2),
            r"\[Conv1d\] in_channels 3 must be divisible by groups 2",
        ),
        (
            lambda: nn.Conv2d(4, 4, 2, groups=0),
            r"\[Conv2d\] in_channels 4 must be divisible by groups 0",
        ),
        (
            lambda: nn.Conv2d(4, 4, (2,)),
            r"\[Conv2d\] got kernel_size \(2,\), expected an integer o",
        ),
        (lambda: nn.Conv2d(4, 4, 0), r"\[Conv2d\] got kernel_size 0, expected at least 1"),
        (lambda: nn.Conv2d(4, 4, "23"), r"\[Conv2d\] got kernel_size '23', expected an integer"),
        (lambda: nn.Conv3d(4, 4, 2, stride=0), r"\[Conv3d\] got stride 0, expected at least 1"),
        (lambda: nn.Conv1d(4, 4, 2, padding=-1), r"\[Conv1d\] got padding -1, expected at least 0"),
        (lambda: nn.Conv1d(4, 4, 2, dilation=1.5), r"\[Conv1d\] got dilation 1\.5"),
        (
            lambda: nn.Conv1d(4, 4, 2, padding="SAME"),
            r"\[Conv1d\] got padding 'SAME', expected numbers, 'same' or 'valid'",
        ),
        (
            lambda: nn.Conv2d(4, 4, 2, (1, 2), "same"),
            r"\[Conv2d\] padding 'same' is defined for the stride 1, got \(1, 2\); pass",
        ),
        (lambda: nn.ConvTranspose1d(4, 4, 2, padding="same"), r"\[ConvTranspose1d\] got padding"),
        (
            lambda: nn.ConvTranspose2d(4, 4, 2, output_padding=(1, 2, 3)),
            r"\[ConvTranspose2d\] got output_padding \(1, 2, 3\)",
        ),
        (
            lambda: nn.MaxPool2d(2.5),
            r"\[MaxPool2d\] got kernel_size 2\.5, expected an integer or a",
        ),
        (lambda: nn.AvgPool1d(0), r"\[AvgPool1d\] got kernel_size 0, expected at least 1"),
        (lambda: nn.AvgPool1d(2, -1), r"\[AvgPool1d\] got stride -1, expected at least 1"),
        (lambda: nn.MaxPool3d(2, padding=(1, 2)), r"\[MaxPool3d\] got padding \(1, 2\)"),
        (lambda: nn.AdaptiveAvgPool2d((1, 2, 3)), r"\[AdaptiveAvgPool2d\] got output_size"),
        (lambda: nn.AdaptiveMaxPool1d(0), r"\[AdaptiveMaxPool1d\] got output_size"),
        (lambda: nn.Upsample(2, "best"), r"\[Upsample\] got the mode 'best', expected one of"),
        (lambda: nn.Upsample(-1), r"\[Upsample\] got the scale factor -1, expected more than 0"),
        (lambda: nn.Upsample(0), r"\[Upsample\] got the scale factor 0, expected more than 0"),
        (lambda: nn.Upsample((2, 0.0)), r"\[Upsample\] got the scale factor \(2, 0.0\)"),
        (lambda: nn.Upsample(math.nan), r"\[Upsample\] got the scale factor nan"),
        (
            lambda: nn.Conv1d(5, 6, 3, groups=2),
            r"\[Conv1d\] in_channels 5 must be divisible by gro",
        ),
        (
            lambda: nn.Conv1d(4, 6, 3, groups=4),
            r"\[Conv1d\] out_channels 6 must be divisible by gr",
        ),
        (
            lambda: nn.Conv2d(4, 6, 3, groups=4),
            r"\[Conv2d\] out_channels 6 must be divisible by gr",
        ),
        (
            lambda: nn.Conv2d(4, 6, 3, groups=0),
            r"\[Conv2d\] in_channels 4 must be divisible by gro",
        ),
        (
            lambda: nn.Upsample(2, antialias=True),
            r"\[Upsample\] antialias requires mode .* mode='nearest'",
        ),
        (
            lambda: nn.Upsample(2, "linear", align_corners=True, antialias=True),
            r"\[Upsample\] antialias requires .* mode='linear', align_corners=True",
        ),
    ],
)
def test_wrong_arguments(make, message):
    with pytest.raises((ValueError, TypeError), match=f"^{message}"):
        make()


@pytest.mark.parametrize(
    ("layer", "shape", "message"),
    [
        (nn.Conv1d(4, 6, 3), (2, 9, 5), r"^\[Conv1d\] .* expected \(N, L, 4\): channels"),
        (
            nn.MaxPool1d(2),
            (4,),
            r"^\[MaxPool1d\] got an input with the shape \(4,\), expected \(N, L, C\) or",
        ),
        (
            nn.AvgPool2d(2),
            (1, 2, 3, 4, 5),
            r"^\[AvgPool2d\] .* expected \(N, H, W, C\) or \(H, W, C\)",
        ),
        (nn.AdaptiveMaxPool2d(2), (4, 4), r"^\[AdaptiveMaxPool2d\] got an input with the shape"),
        (nn.AdaptiveAvgPool1d(2), (1, 0, 3), r"^\[AdaptiveAvgPool1d\] .* expected at least one el"),
        (
            nn.Upsample(2),
            (4, 4),
            r"^\[Upsample\] got an input with the shape \(4, 4\), expected at",
        ),
        (nn.Upsample((2, 2)), (1, 4, 4), r"^\[Upsample\] got 2 scale factors for 1 spatial axes"),
    ],
)
def test_wrong_inputs(layer, shape, message):
    with pytest.raises(ValueError, match=message):
        layer(mx.zeros(shape))


def windows(x, kernel, stride, padding, value):
    """The output places with the window of each, along the axes after the first."""
    around = [(0, 0), *((p, p) for p in padding), (0, 0)]
    x = np.pad(x, around, constant_values=value)
    sizes = x.shape[1:-1]
    counts = [max((n - k) // s + 1, 0) for n, k, s in zip(sizes, kernel, stride, strict=True)]
    for place in itertools.product(*map(range, counts)):
        corner = [slice(i * s, i * s + k) for i, s, k in zip(place, stride, kernel, strict=True)]
        yield counts, place, x[(slice(None), *corner)]


def pooled(x, kernel, stride, padding, reduce, value):
    axes = tuple(range(1, x.ndim - 1))
    out = None
    for counts, place, window in windows(x, kernel, stride, padding, value):
        if out is None:
            out = np.zeros((x.shape[0], *counts, x.shape[-1]))
        out[(slice(None), *place)] = reduce(window, axis=axes)
    return out


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize(
    ("kernel", "stride", "padding"), [(2, None, 0), (3, 1, 1), (2, 3, 1), (3, None, 1), (1, 2, 0)]
)
def test_pooling(axes, kernel, stride, padding, rng):
    x = spatial(rng, axes)
    lists = [(kernel,) * axes, (stride or kernel,) * axes, (padding,) * axes]
    for name, reduce, value in (("Max", np.max, -np.inf), ("Avg", np.mean, 0)):
        layer = getattr(nn, f"{name}Pool{axes}d")(kernel, stride, padding)
        expected = pooled(x, *lists, reduce, value)
        y = np.array(layer(mx.array(x)))
        np.testing.assert_allclose(y, expected, rtol=1e-12, atol=1e-14)
        # Without an axis of samples
        np.testing.assert_allclose(np.array(layer(mx.array(x[0]))), expected[0], rtol=1e-12)


def test_pooling_of_other_dtypes():
    x = mx.array([[3, -7], [-5, 2], [4, 9], [-1, -1]], mx.int32)
    assert nn.MaxPool1d(3, 2, 1)(-x).tolist() == [[5, 7], [5, 1]]
    assert nn.MaxPool1d(2, padding=1)(x > 0).tolist() == [[1, 0], [1, 1], [0, 0]]
    mean = nn.AvgPool1d(2)(x)
    assert (mean.dtype, mean.tolist()) == (mx.float32, [[-1.0, -2.5], [1.5, 4.0]])
    assert nn.AvgPool1d(2, 1)(x).dtype == mx.float32
    # The sum of four numbers is more than a float16 can hold, the mean is not.
    big = mx.full((4, 1), 60000, mx.float16)
    assert nn.AvgPool1d(4, 1)(big).tolist() == [[60000.0]]
    assert nn.AvgPool1d(4)(big).tolist() == [[60000.0]]


def test_pooling_of_nothing():
    for pool in (nn.MaxPool1d, nn.AvgPool1d):
        for options in ({}, {"stride": 1}):
            assert pool(3, **options)(mx.zeros((2, 2, 4))).shape == (2, 0, 4)
            assert pool(3, **options)(mx.zeros((0, 6, 4))).shape[0] == 0
            assert pool(3, **options)(mx.zeros((2, 6, 0))).shape[-1] == 0
            assert pool(3, **options)(mx.zeros((2, 0, 4))).shape == (2, 0, 4)


def test_pooling_keeps_nan_and_infinity():
    x = mx.array([[1.0], [math.nan], [-math.inf], [-math.inf], [math.inf], [2.0]])
    for stride in (2, 1):
        y = np.array(nn.MaxPool1d(2, stride)(x)).ravel()[:: 2 // stride]
        np.testing.assert_array_equal(y, [math.nan, -math.inf, math.inf])


def test_greatest_elements_share_the_gradient():
    x = mx.ones((4, 1))
    assert mx.grad(lambda x: nn.MaxPool1d(2)(x).sum())(x).tolist() == [[0.5]] * 4
    gradient = np.array(mx.grad(lambda x: nn.MaxPool1d(3, 1, 1)(x).sum())(x)).ravel()
    np.testing.assert_allclose(gradient, [5 / 6, 7 / 6, 7 / 6, 5 / 6], rtol=1e-6)


def adaptive(x, counts, reduce):
    axes = tuple(range(1, x.ndim - 1))
    out = np.zeros((x.shape[0], *counts, x.shape[-1]))
    for place in itertools.product(*map(range, counts)):
        corner = [
            slice(i * n // m, -((-(i + 1) * n) // m))
            for i, n, m in zip(place, x.shape[1:-1], counts, strict=True)
        ]
        out[(slice(None), *place)] = reduce(x[(slice(None), *corner)], axis=axes)
    return out


@pytest.mark.parametrize("axes", AXES)
@pytest.mark.parametrize("counts", [(1, 1, 1), (3, 2, 5), (7, 6, 5), (5, 4, 3), (9, 7, 8)])
def test_adaptive_pooling(axes, counts, rng):
    x = spatial(rng, axes)
    counts = counts[:axes]
    for name, reduce in (("Max", np.max), ("Avg", np.mean)):
        layer = getattr(nn, f"Adaptive{name}Pool{axes}d")(counts)
        expected = adaptive(x, counts, reduce)
        np.testing.assert_allclose(np.array(layer(mx.array(x))), expected, rtol=1e-12, atol=1e-14)
        np.testing.assert_allclose(np.array(layer(mx.array(x[0]))), expected[0], rtol=1e-12)


def test_adaptive_pooling_of_some_axes(rng):
    x = spatial(rng, 2)
    y = nn.AdaptiveAvgPool2d((None, 1))(mx.array(x))
    np.testing.assert_allclose(np.array(y), x.mean(axis=2, keepdims=True), rtol=1e-12)
    assert nn.AdaptiveMaxPool2d(None)(mx.array(x)).shape == x.shape
    assert nn.AdaptiveAvgPool1d(2)(mx.zeros((0, 5, 3))).shape == (0, 2, 3)
    assert repr(nn.AdaptiveAvgPool2d((None, 1))) == "AdaptiveAvgPool2d(output_size=(None, 1))"


def test_adaptive_pooling_of_other_dtypes():
    x = mx.array([[1], [2], [6]], mx.int32)
    assert nn.AdaptiveMaxPool1d(2)(x).tolist() == [[2], [6]]
    assert nn.AdaptiveAvgPool1d(2)(x).tolist() == [[1.5], [4.0]]
    big = mx.full((5, 1), 60000, mx.float16)
    assert nn.AdaptiveAvgPool1d(2)(big).tolist() == [[60000.0]] * 2
    infinite = mx.array([[math.inf], [1.0], [2.0], [3.0], [4.0]])
    assert nn.AdaptiveAvgPool1d(3)(infinite).tolist() == [[math.inf], [2.0], [3.5]]


def test_adaptive_pooling_has_gradients(rng):
    x = mx.array(rng.normal(size=(1, 5, 2)))
    gradient = mx.grad(lambda x: nn.AdaptiveAvgPool1d(2)(x).sum())(x)
    # Windows 0-2 and 2-4 meet in the middle.
    expected = np.array([1, 1, 2, 1, 1]) / 3
    np.testing.assert_allclose(np.array(gradient)[0, :, 0], expected, rtol=1e-12)
    gradient = np.array(mx.grad(lambda x: nn.AdaptiveMaxPool1d(2)(x).sum())(x))
    np.testing.assert_allclose(gradient.sum(axis=1), 2)


def resized(x, factor, mode, align_corners):
    """One axis, at the places between elements that the definition names."""
    size = len(x)
    length = int(size * factor)
    i = np.arange(length)
    if align_corners:
        places = i * ((size - 1) / (length - 1) if length > 1 else 0)
    else:
        places = i / factor + ((size - 1) - (length - 1) / factor) / 2
    if mode == "linear":
        return np.interp(places, np.arange(size), x)
    out = np.zeros(length)
    for n, place in enumerate(places):
        for j in range(math.floor(place) - 1, math.floor(place) + 3):
            out[n] += keys(place - j, -0.75) * x[min(max(j, 0), size - 1)]
    return out


def keys(t, a):
    """Keys' kernel, "Cubic Convolution Interpolation for Digital Image Processing", 1981."""
    t = abs(t)
    if t < 1:
        return (a + 2) * t**3 - (a + 3) * t**2 + 1
    return a * t**3 - 5 * a * t**2 + 8 * a * t - 4 * a if t < 2 else 0


@pytest.mark.parametrize("mode", ["linear", "cubic"])
@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("factor", [1, 2, 3, 1.5, 2.6, 0.5, 0.3])
@pytest.mark.parametrize("size", [1, 4, 9])
def test_interpolation(mode, align_corners, factor, size, rng):
    x = rng.normal(size=size)
    layer = nn.Upsample(factor, mode, align_corners)
    y = np.array(layer(mx.array(x.reshape(1, size, 1)))).ravel()
    expected = resized(x, factor, mode, align_corners)
    np.testing.assert_allclose(y, expected, rtol=1e-10, atol=1e-12)


def test_interpolation_along_several_axes(rng):
    x = rng.normal(size=(1, 4, 5, 1))
    layer = nn.Upsample((2, 1.5), "cubic")
    expected = np.apply_along_axis(resized, 1, x, 2, "cubic", False)
    expected = np.apply_along_axis(resized, 2, expected, 1.5, "cubic", False)
    np.testing.assert_allclose(np.array(layer(mx.array(x))), expected, rtol=1e-10, atol=1e-12)


def test_nearest_elements():
    x = mx.arange(3).reshape(1, 3, 1)
    assert nn.Upsample(2)(x).tolist() == [[[0], [0], [1], [1], [2], [2]]]
    assert nn.Upsample(2)(x).dtype == x.dtype
    assert nn.Upsample(0.7)(x).tolist() == [[[0], [1]]]
    assert nn.Upsample(1)(x).tolist() == x.tolist()
    assert nn.Upsample((1, 2))(x[..., None]).shape == (1, 3, 2, 1)


@pytest.mark.parametrize("factor", [2, (2, 1.5), (0.5, 0.3)])
def test_interpolation_by_functions(factor, rng):
    """What the layer does, under the names by which programs import it from its module."""
    x = mx.array(rng.normal(size=(2, 4, 5, 3)))
    assert upsample.upsample_nearest(x, factor).tolist() == nn.Upsample(factor)(x).tolist()
    for function, mode in [
        (upsample.upsample_linear, "linear"),
        (upsample.upsample_cubic, "cubic"),
    ]:
        for options in [{}, {"align_corners": True}, {"antialias": True}]:
            expected = nn.Upsample(factor, mode, **options)(x)
            assert function(x, factor, **options).tolist() == expected.tolist()
        with pytest.raises(
            ValueError, match=rf"^\[upsample_{mode}\] antialias requires .* without align_corners"
        ):
            function(x, factor, align_corners=True, antialias=True)
    with pytest.raises(ValueError, match=r"^\[upsample_nearest\] got the scale factor -1"):
        upsample.upsample_nearest(x, -1)
    with pytest.raises(ValueError, match=r"^\[upsample_cubic\] got an input with the shape \(4,\)"):
        upsample.upsample_cubic(mx.zeros(4), factor)


@pytest.mark.parametrize("mode", ["linear", "cubic"])
def test_antialiasing_sees_every_element(mode):
    """Reduced by four, each impulse still counts, and constants stay constant."""
    layer = nn.Upsample(0.25, mode, antialias=True)
    for place in range(16):
        impulse = mx.zeros((1, 16, 1))
        impulse[0, place, 0] = 1.0
        assert layer(impulse).abs().sum().item() > 0
    constant = layer(mx.full((1, 16, 1), 3.0))
    np.testing.assert_allclose(np.array(constant), np.full((1, 4, 1), 3.0), rtol=1e-6)
    assert "antialias=True" in repr(layer)


@pytest.mark.parametrize("mode", ["nearest", "linear", "cubic"])
def test_interpolation_of_nothing(mode):
    assert nn.Upsample(2, mode)(mx.zeros((1, 0, 3))).shape == (1, 0, 3)
    assert nn.Upsample(0.1, mode)(mx.zeros((1, 5, 3))).shape == (1, 0, 3)
