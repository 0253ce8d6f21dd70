"""Special functions and the parts of numbers where the table of records does not reach."""

import math

import numpy as np
import pytest
import umber.core as mx
from arrays import assert_close, dtype_of, represent, to_numpy, to_umber
from scipy import special
from tolerances import Tolerance

INF, NAN = math.inf, math.nan


def check(name, arguments, want, dtype="float64"):
    got = to_numpy(getattr(mx, name)(*(mx.array(a, dtype=dtype_of(dtype)) for a in arguments)))
    want = np.array(want)
    assert np.array_equal(got, want, equal_nan=True), f"{name}: {got}, expected {want}"
    assert np.array_equal(np.signbit(got), np.signbit(want)) or np.isnan(want).any(), name


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_values_at_the_edges(dtype):
    check("gammaln", [[INF, 1.0, 2.0, 0.0, -1.0, NAN]], [INF, 0.0, 0.0, INF, INF, NAN], dtype)
    check("digamma", [[INF, 0.0, -0.0, -1.0, -3.0, NAN]], [INF, -INF, INF, NAN, NAN, NAN], dtype)
    check("i0", [[0.0, INF, -INF, NAN, 1e4]], [1.0, INF, INF, NAN, INF], dtype)
    check("i1", [[0.0, -0.0, INF, -INF, NAN]], [0.0, -0.0, INF, -INF, NAN], dtype)
    check("i0e", [[0.0, INF, NAN]], [1.0, 0.0, NAN], dtype)
    check("i1e", [[0.0, -0.0, INF, -INF]], [0.0, -0.0, 0.0, -0.0], dtype)
    check("erfc", [[0.0, INF, -INF, NAN]], [1.0, 0.0, 2.0, NAN], dtype)
    check(
        "cbrt", [[8.0, -8.0, 0.0, -0.0, INF, -INF, NAN]], [2, -2, 0.0, -0.0, INF, -INF, NAN], dtype
    )
    check("exp2", [[3.0, -1.0, INF, -INF, NAN, 2000.0]], [8, 0.5, INF, 0, NAN, INF], dtype)
    check("hypot", [[INF, NAN, 3.0, 0.0], [NAN, -INF, -4.0, -0.0]], [INF, INF, 5.0, 0.0], dtype)
    check("copysign", [[1.0, -2.0, NAN, 0.0], [-0.0, 3.0, 1.0, -1.0]], [-1, 2, NAN, -0.0], dtype)
    check(
        "fmod",
        [[5.5, -5.5, 1.0, INF, 2.0], [2.0, 2.0, 0.0, 2.0, INF]],
        [1.5, -1.5, NAN, NAN, 2],
        dtype,
    )
    check("heaviside", [[-1.0, 0.0, 2.0, NAN], [0.5] * 4], [0, 0.5, 1, NAN], dtype)
    check("fmax", [[1.0, NAN, NAN], [NAN, 2.0, NAN]], [1.0, 2.0, NAN], dtype)
    check("signbit", [[-0.0, 0.0, -1.0, -INF]], [True, False, True, True], dtype)


def test_sinc_is_exactly_zero_at_integers():
    x = mx.array([1.0, -2.0, 1e6, 16777215.0])
    assert mx.abs(mx.sinc(x)).tolist() == [0.0] * 4
    assert mx.sinc(mx.array([0.0, INF, NAN])).tolist()[0] == 1.0


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
def test_neighbours(dtype):
    """Up and down again is where it started, and the distance is `spacing`."""
    x = to_umber(represent(np.array([0.0, 1.0, -1.0, 2.0, -0.75, 100.0]), dtype), dtype)
    up = mx.nextafter(x, INF)
    assert (up > x).all().item()
    assert (mx.nextafter(up, -INF) == x).all().item()
    middle = (up.astype(mx.float64) + x.astype(mx.float64)) / 2
    rounded = middle.astype(x.dtype)
    assert mx.logical_or(rounded == x, rounded == up).all().item()
    away = mx.nextafter(mx.abs(x), INF) - mx.abs(x)
    assert (mx.abs(mx.spacing(x)) == away).all().item()
    top = mx.array(mx.finfo(dtype).max, dtype=dtype)
    assert mx.nextafter(top, INF).item() == INF
    assert mx.spacing(top).item() == (top - mx.nextafter(top, 0)).item()
    assert math.isnan(mx.spacing(mx.array(INF, dtype=dtype)).item())
    assert mx.nextafter(x, x).tolist() == x.tolist()


def test_neighbours_are_numpys():
    for dtype in ("float32", "float64"):
        values = np.array([0.0, -0.0, 1.0, -1.0, 1e-40, 1e30, INF, -INF, NAN], dtype)
        a, b = (v.ravel() for v in np.meshgrid(values, values))
        got = to_numpy(mx.nextafter(mx.array(a), mx.array(b)))
        assert np.array_equal(got, np.nextafter(a, b), equal_nan=True)


def test_ldexp_rounds_once():
    tiny = np.array([1.5, 1.0, -1.0, 3.0, 0.7])
    powers = np.array([-1074, 1023, -1075, -1076, -1060])
    assert_close(to_numpy(mx.ldexp(mx.array(tiny), mx.array(powers))), np.ldexp(tiny, powers))
    assert mx.ldexp(mx.array(1.0), 10**9).item() == INF
    assert mx.ldexp(mx.array(1.0), -(10**9)).item() == 0.0
    halves = mx.ldexp(mx.array([1.0, 1.5], dtype=mx.float16), mx.array([-24, -25]))
    assert halves.tolist() == [2.0**-24, 2.0**-24]
    with pytest.raises(TypeError, match=r"^\[ldexp\] "):
        mx.ldexp(1.0, 0.5)


def test_frexp_puts_together_again():
    x = np.array([1.0, -0.1, 5e-324, 1e300, 0.0, INF])
    mantissa, exponent = mx.frexp(mx.array(x))
    assert exponent.dtype == mx.int32
    assert_close(to_numpy(mx.ldexp(mantissa, exponent)), x)
    assert ((mx.abs(mantissa[:4]) >= 0.5) & (mx.abs(mantissa[:4]) < 1)).all().item()


def test_derivatives_of_gamma_functions():
    """Every derivative of gammaln is the polygamma function of its order, also below zero."""
    x = np.array([0.3, 1.4616, 2.5, 11.0])
    f = lambda v: mx.gammaln(v).sum()  # noqa: E731
    for order in range(4):
        f = (lambda g: lambda v: mx.grad(g)(v).sum())(f)
        got = to_numpy(f(mx.array(x)))
        want = special.polygamma(order, x).sum()
        assert_close(got, want, Tolerance(1e-11, 1e-11), f"order {order}")
    slope = mx.grad(lambda v: mx.digamma(v).sum())(mx.array([-0.5, -2.25], dtype=mx.float64))
    below = np.pi**2 / np.sin(np.pi * np.array([-0.5, -2.25])) ** 2
    want = below - special.polygamma(1, 1 - np.array([-0.5, -2.25]))
    assert_close(to_numpy(slope), want, Tolerance(1e-12, 1e-12))


def test_derivatives_of_bessel_functions_at_zero():
    assert mx.grad(mx.i1)(mx.array(0.0)).item() == 0.5
    assert mx.grad(mx.grad(mx.i0))(mx.array(0.0)).item() == 0.5
    assert mx.grad(mx.hypot)(mx.array(0.0), mx.array(0.0)).item() == 0.0


def test_divisors():
    assert mx.gcd(mx.array([0, 12, -12]), mx.array([0, 18, 8])).tolist() == [0, 6, 4]
    assert mx.lcm(mx.array([0, 4, -6]), mx.array([5, 6, 4])).tolist() == [0, 12, 12]
    lowest = mx.array([-128], dtype=mx.int8)
    assert mx.gcd(lowest, 0).tolist() == [-128]
    assert mx.fmod(mx.array([7, -7, -(2**31)]), mx.array([0, 2, -1])).tolist() == [0, -1, 0]
    for name in ("gcd", "lcm"):
        with pytest.raises(
            TypeError, match=rf"^\[{name}\] dtypes float32 and int32 are not supported"
        ):
            getattr(mx, name)(mx.array(1.0), mx.array(2))


def test_bits_are_counted_in_the_absolute_value():
    assert mx.bitwise_count(mx.array([-1, 255, -128], dtype=mx.int16)).tolist() == [1, 8, 1]
    assert mx.bitwise_count(mx.array([-128], dtype=mx.int8)).tolist() == [1]
    assert mx.bitwise_count(mx.array([True, False])).tolist() == [1, 0]


@pytest.mark.parametrize(
    "name", "erfc gammaln digamma i0 i0e i1 i1e cbrt fabs signbit frexp spacing".split()
)
def test_complex_numbers_are_refused(name):
    with pytest.raises(TypeError, match=rf"^\[{name}\] dtype complex64 is not supported, expected"):
        getattr(mx, name)(mx.array(1j))


def test_rounding_to_places_far_away():
    """No digit to lose: unchanged; nothing left: zero. Never NaN."""
    x = mx.array([1.2345e10, -3.75, 0.0, INF])
    assert mx.round(x, 40).tolist() == x.tolist()
    assert mx.round(x, 30).tolist() == x.tolist()
    assert mx.round(x[:3], -40).tolist() == [0.0, 0.0, 0.0]
    assert mx.round(mx.array([3.14159], dtype=mx.float16), 5).tolist() == [3.140625]
    assert mx.round(mx.array([1.25, 1e300], dtype=mx.float64), 300).tolist() == [1.25, 1e300]


def test_integers_are_rounded_exactly():
    values = [123456789012345678, 150, 250, -150, 49, -51]
    x = mx.array(values)
    for places in (1, 2, 3, 17):
        assert (
            mx.round(x, -places).tolist() == np.round(np.array(values), -places).tolist()
            or [round(v, -places) for v in values] == mx.round(x, -places).tolist()
        )
    assert mx.round(x, 3).tolist() == values
    assert mx.round(mx.array([255], dtype=mx.uint8), -3).tolist() == [0]
    assert mx.round(x, -25).tolist() == [0] * 6


def test_casts_out_of_range_are_those_of_x86():
    x = mx.array([1e10, -1e10, NAN, INF, 3e9, -1.5, 300.5])
    low = -(2**31)
    assert x.astype(mx.int32).tolist() == [low, low, low, low, low, -1, 300]
    assert x.astype(mx.int8).tolist() == [0, 0, 0, 0, 0, -1, 44]
    assert x.astype(mx.uint16).tolist() == [0, 0, 0, 0, 0, 65535, 300]
    assert x[4:].astype(mx.uint32).tolist() == [3000000000, 2**32 - 1, 300]
    wide = mx.array([1e20, -1e20, NAN, 1e10])
    assert wide.astype(mx.int64).tolist() == [-(2**63)] * 3 + [int(np.float32(1e10))]
    assert mx.array([1e19, -1.0]).astype(mx.uint64).tolist() == [int(np.float32(1e19)), 2**64 - 1]
    theirs = pytest.importorskip("mlx.core")
    for name in ("int8", "uint8", "int16", "uint16", "int32", "int64"):
        want = theirs.array(to_numpy(x)).astype(getattr(theirs, name)).tolist()
        assert x.astype(dtype_of(name)).tolist() == want, name


def test_clip_takes_either_name():
    x = mx.array([-2.0, 0.5, 2.0])
    assert mx.clip(x, min=-1, max=1).tolist() == [-1.0, 0.5, 1.0]
    assert mx.clip(x, -1).tolist() == [-1.0, 0.5, 2.0]
    assert mx.clip(x, a_max=1).tolist() == [-2.0, 0.5, 1.0]
    with pytest.raises(TypeError, match=r"^\[clip\] "):
        mx.clip(x, 0, min=0)
    assert mx.clip(x).tolist() == x.tolist()


GRID = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.0, -2.0, 3.0, -3.0, 1e30, -1e30, 1e-40, INF, -INF, NAN]
TWO = """
add subtract multiply divide power remainder fmod arctan2 hypot copysign maximum minimum fmax fmin
logaddexp logaddexp2 heaviside
""".split()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", TWO)
def test_functions_of_two_at_special_values(name, dtype):
    """IEEE 754's and the array API standard's cases, as NumPy has them, signs of zeros included."""
    a, b = (v.ravel() for v in np.meshgrid(np.array(GRID, dtype), np.array(GRID, dtype)))
    with np.errstate(all="ignore"):
        want = getattr(np, name)(a, b)
    got = to_numpy(getattr(mx, name)(mx.array(a), mx.array(b)))
    assert_close(got, want, Tolerance(1e-6 if dtype == "float32" else 1e-15, 0.0), name)
    # Which of two zeros is the larger one is open.
    number = ~np.isnan(want) & (
        got != 0 if name in ("maximum", "minimum", "fmax", "fmin") else True
    )
    assert np.array_equal(np.signbit(got[number]), np.signbit(want[number])), name


def test_floor_divide_rounds_the_quotient():
    """Infinities stay: the quotient rounded down, as the array API standard and MLX have it."""
    a = mx.array([INF, -INF, 5.0, -5.0, 0.0, 1.0, -1.0])
    b = mx.array([2.0, 2.0, INF, INF, 0.0, 0.0, 0.0])
    with np.errstate(all="ignore"):
        want = np.floor(to_numpy(a) / to_numpy(b))
    assert np.array_equal(to_numpy(mx.floor_divide(a, b)), want, equal_nan=True)
