"""Derivatives where a formula that is right elsewhere divides by zero, overflows or cancels."""

import numpy as np
import pytest
import umber.core as mx
from arrays import to_numpy

F = mx.float64


def close(got, want, tolerance=1e-12):
    np.testing.assert_allclose(to_numpy(got), want, rtol=tolerance, atol=tolerance)


def nth(function, order):
    for _ in range(order):
        function = mx.grad(function)
    return function


def test_logaddexp_of_equal_numbers_is_curved():
    x = mx.array(0.0, dtype=F)
    close(nth(lambda x: mx.logaddexp(x, 0), 2)(x), 0.25)
    close(nth(lambda x: mx.logaddexp(0, x), 2)(x), 0.25)
    close(nth(lambda x: mx.logaddexp2(x, 0), 2)(x), 0.25 * np.log(2))
    infinity = mx.array(np.inf, dtype=F)
    for either in (infinity, -infinity):
        both = mx.grad(mx.logaddexp, argnums=(0, 1))(either, either)
        assert [part.item() for part in both] == [0.5, 0.5]
        assert nth(lambda x: mx.logaddexp(x, 0), 2)(either).item() == 0


@pytest.mark.parametrize("dtype", [mx.float32, F])
def test_norm_of_vectors_with_zeros(dtype):
    v = np.array([0.0, 3, 4])
    want = np.eye(3) / 5 - np.outer(v, v) / 125
    close(mx.hessian(mx.linalg.norm)(mx.array(v, dtype=dtype)), want, 1e-6)
    of_complex = lambda b: mx.linalg.norm(b + 0j)  # noqa: E731
    point = mx.array([0.0, 1.0], dtype=dtype)
    for hessian in (mx.hessian(of_complex), mx.jacrev(mx.jacrev(of_complex))):
        close(hessian(point), [[1, 0], [0, 0]], 1e-6)


@pytest.mark.parametrize("power", [mx.power, mx.float_power])
def test_powers_at_small_exponents(power):
    f = lambda v: power(v[0], v[1])  # noqa: E731
    at = lambda *v: mx.array(v, dtype=F)  # noqa: E731
    log = np.log(2.0)
    close(mx.hessian(f)(at(2.0, 0.0)), [[0, 0.5], [0.5, log**2]])
    third = mx.jacfwd(mx.hessian(f))
    close(third(at(2.0, 1.0))[0, 0, 1], 0.5)
    close(third(at(2.0, 0.0))[0, 0, 1], -0.25)
    for exponent in range(4):
        for order in range(4):
            want = float(order == exponent) * [1, 1, 2, 6][order]
            given = nth(lambda x, e=exponent: power(x, mx.array(float(e), dtype=F)), order)
            assert given(mx.array(0.0, dtype=F)).item() == want
            plain = nth(lambda x, e=exponent: power(x, e), order)
            assert plain(mx.array(0.0, dtype=F)).item() == want


@pytest.mark.parametrize(
    ("dtype", "base"),
    [
        (mx.float16, 6e-8),
        (mx.bfloat16, 1e-40),
        (mx.float32, 1e-40),
        (F, 1e-310),
        (mx.complex64, 1e-40),
    ],
)
def test_powers_of_subnormal_numbers(dtype, base):
    for x in (base, -base):
        at, zero, one = (mx.array(value, dtype=dtype) for value in (x, 0.0, 1.0))
        assert mx.vjp(mx.power, [at, zero], [one])[1][0].item() == 0
        for power in (lambda v: v**1.0, lambda v: mx.power(v, mx.ones_like(v))):
            slope = lambda v, f=power: mx.vjp(f, [v], [mx.ones_like(v)])[1][0]  # noqa: E731
            assert slope(at).item() == 1
            assert mx.vjp(slope, [at], [one])[1][0].item() == 0


def test_sinc_near_zero():
    for order, want in enumerate([1, 0, -(np.pi**2) / 3, 0, np.pi**4 / 5]):
        close(nth(mx.sinc, order)(mx.array(0.0, dtype=F)), want)
    assert mx.grad(mx.sinc)(mx.array(1e-4)).item() == pytest.approx(-3.2898681e-4, rel=1e-6)
    # Both sides of where the series ends.
    for x in (0.5 - 1e-9, 0.5 + 1e-9):
        close(mx.sinc(mx.array(x, dtype=F)), np.sinc(x), 1e-15)
        close(nth(mx.sinc, 2)(mx.array(x, dtype=F)), 16 / np.pi - 2 * np.pi, 1e-7)
    assert mx.grad(mx.sinc)(mx.array(1e30)).item() < 1e-29
    assert np.isnan(mx.grad(mx.sinc)(mx.array(np.nan)).item())


def test_bessel_functions_near_zero():
    for order, want in enumerate([0, 0.5, 0, 0.375, 0, 0.3125]):
        close(nth(mx.i1, order)(mx.array(0.0, dtype=F)), want)
    for x in (1 - 1e-9, 1 + 1e-9, -1e-3):
        at = mx.array(x, dtype=F)
        close(mx.grad(mx.i1)(at), mx.i0(at).item() - mx.i1(at).item() / x)
        scaled = mx.i1e(at).item()
        close(mx.grad(mx.i1e)(at), mx.i0e(at).item() - scaled / x - np.sign(x) * scaled)


@pytest.mark.parametrize("n", [1, 2, 3, 4])
@pytest.mark.parametrize("rank", [0, 1, 2, 4])
def test_second_derivatives_of_singular_determinants(n, rank, rng):
    """det is linear in each row, so differences of four values are its second derivatives."""
    a = rng.normal(size=(n, min(n, rank))) @ rng.normal(size=(min(n, rank), n))
    want = np.zeros((n, n, n, n))
    for place in np.ndindex(n, n, n, n):
        if place[0] != place[2]:
            for i, j in ((0, 0), (0, 1), (1, 0), (1, 1)):
                moved = a.copy()
                moved[place[0], place[1]] += i
                moved[place[2], place[3]] += j
                want[place] += (-1) ** (i + j) * np.linalg.det(moved)
    close(mx.hessian(mx.linalg.det)(mx.array(a, dtype=F)), want, 1e-10)


def test_third_derivative_of_the_determinant_of_zeros():
    third = mx.jacfwd(mx.hessian(mx.linalg.det))(mx.zeros((3, 3), dtype=F))
    close(third[0, 0, 1, 1, 2, 2], 1)
    close(third[0, 1, 1, 0, 2, 2], -1)


def test_second_derivatives_of_large_singular_determinants_are_refused():
    with pytest.raises(RuntimeError, match=r"\[linalg\.det\] the matrix is singular"):
        mx.eval(mx.grad(lambda a: mx.grad(mx.linalg.det)(a).sum())(mx.zeros((9, 9))))


def test_complex_derivatives_of_real_numbers_are_refused():
    square = lambda x: x * x  # noqa: E731
    for op, what in ((mx.jvp, "tangent"), (mx.vjp, "cotangent")):
        message = rf"\[{op.__name__}\] {what} 0 must have a real dtype, such as float32"
        for primal in (mx.array([1.0]), mx.array([1])):
            with pytest.raises(ValueError, match=message):
                op(square, [primal], [mx.array([1j])])


@pytest.mark.parametrize(("x", "dtype"), [(1e30, mx.float32), (1e200, F)])
def test_arcsinh_of_great_numbers(x, dtype):
    assert mx.grad(mx.arcsinh)(mx.array(x, dtype=dtype)).item() == pytest.approx(1 / x, rel=1e-6)
    assert mx.grad(mx.arcsinh)(mx.array(-x, dtype=dtype)).item() == pytest.approx(1 / x, rel=1e-6)


@pytest.mark.parametrize("dtype", [mx.float32, F])
def test_singular_values_that_are_equal_but_for_rounding(dtype, rng):
    """The space beside the first vector of ones: a finite gradient, that of the complement."""
    weights = mx.array(rng.normal(size=(3, 3)), dtype=dtype)

    def beside(x):
        u = mx.linalg.svd(x)[0]
        return (weights * (u[:, 1:] @ u[:, 1:].T)).sum()

    def along(x):
        u = mx.linalg.svd(x)[0]
        return (weights * (mx.eye(3, dtype=dtype) - u[:, :1] @ u[:, :1].T)).sum()

    ones = mx.ones((3, 3), dtype=dtype)
    close(mx.grad(beside)(ones), to_numpy(mx.grad(along)(ones)), 1e-5)


def test_factors_of_singular_matrices_name_themselves():
    for name, function in (
        ("qr", lambda a: mx.linalg.qr(a)[1].sum()),
        ("lu", lambda a: mx.linalg.lu(a)[2].sum()),
    ):
        with pytest.raises(RuntimeError, match=rf"\[linalg\.{name}\w*\] the matrix is singular"):
            mx.eval(mx.grad(function)(mx.ones((2, 2))))


SIZES = {"float16": (6e-5, 2e4), "float32": (1e-36, 3e37), "float64": (1e-300, 1e305)}


@pytest.mark.parametrize("name", SIZES)
@pytest.mark.parametrize("angle", [0.0, 0.3, 0.785, 2.0, -2.5, 3.1])
def test_slopes_of_points_near_and_far(name, angle):
    """The squares of their coordinates leave the range of the dtype."""
    dtype = getattr(mx, name)
    tolerance = {"float16": 1e-2, "float32": 1e-5, "float64": 1e-12}[name]
    largest = float(mx.finfo(dtype).max)
    for radius in SIZES[name]:
        y, x = (
            mx.array(radius * part, dtype=dtype).astype(mx.float64).item()
            for part in (np.sin(angle), np.cos(angle))
        )
        size = np.hypot(x, y)
        wanted = {
            mx.arctan2: (x / size / size, -y / size / size),
            mx.hypot: (y / size, x / size),
        }
        for function, slopes in wanted.items():
            got = mx.grad(function, argnums=(0, 1))(
                mx.array(y, dtype=dtype), mx.array(x, dtype=dtype)
            )
            bound = tolerance * max(map(abs, slopes))
            for one, slope in zip(got, slopes, strict=True):
                if abs(slope) < largest:
                    assert one.item() == pytest.approx(slope, rel=tolerance, abs=bound * 1e-2)


def test_slopes_of_hypot_beyond_the_range_of_its_value():
    for largest, dtype in ((3e38, mx.float32), (1.7e308, F)):
        both = mx.array(largest, dtype=dtype)
        got = mx.grad(mx.hypot, argnums=(0, 1))(both, -both)
        np.testing.assert_allclose(
            [part.item() for part in got], [0.5**0.5, -(0.5**0.5)], rtol=1e-6
        )


@pytest.mark.parametrize(
    ("y", "x", "of_hypot", "of_arctan2"),
    [
        (np.inf, 1.0, (1, 0), (0, 0)),
        (-2.0, np.inf, (0, 1), (0, 0)),
        (-np.inf, 3.0, (-1, 0), (0, 0)),
        (np.inf, -np.inf, (0.5**0.5, -(0.5**0.5)), (0, 0)),
    ],
)
@pytest.mark.parametrize("dtype", [mx.float16, mx.bfloat16, mx.float32, F])
def test_slopes_at_infinity(y, x, of_hypot, of_arctan2, dtype):
    point = mx.array(y, dtype=dtype), mx.array(x, dtype=dtype)
    for function, wanted in ((mx.hypot, of_hypot), (mx.arctan2, of_arctan2)):
        got = mx.grad(function, argnums=(0, 1))(*point)
        np.testing.assert_allclose([part.item() for part in got], wanted, rtol=1e-2)


@pytest.mark.parametrize(
    ("z", "direction"),
    [
        (complex(np.inf, 0), 1),
        (complex(-np.inf, 2), -1),
        (complex(3, np.inf), 1j),
        (complex(0, -np.inf), -1j),
        (complex(np.inf, np.inf), (1 + 1j) / 2**0.5),
        (complex(-np.inf, np.inf), (-1 + 1j) / 2**0.5),
        (3e38 + 3e38j, (1 + 1j) / 2**0.5),
        (3e-39 - 4e-39j, 0.6 - 0.8j),
        (0j, 0),
    ],
)
@pytest.mark.parametrize("dtype", [mx.complex64, mx.complex128])
def test_directions_of_complex_numbers_out_of_range(z, direction, dtype):
    at = mx.array(np.array(z), dtype=dtype)
    close(mx.grad(lambda z: mx.abs(z))(at), direction, 1e-6)
    close(mx.sign(at), direction, 1e-6)
    for way in (1.0, 1j):
        _, pushed = mx.jvp(mx.abs, [at], [mx.array(way, dtype=dtype)])
        close(pushed[0], (direction * np.conj(way)).real, 1e-6)
    if abs(z) > 1:
        close(mx.grad(lambda z: mx.sign(z).real)(at), 0, 1e-6)
        close(mx.grad(lambda z: mx.angle(z))(at), 0, 1e-6)


# The derivative of each function, by a formula that stays in range.
FAR = {
    "arctan": lambda x: 1 / x / x,
    "arcsinh": lambda x: 1 / np.abs(x),
    "arccosh": lambda x: 1 / x,
    "log": lambda x: 1 / x,
    "reciprocal": lambda x: -1 / x / x,
    "sqrt": lambda x: 0.5 / np.sqrt(x),
    "rsqrt": lambda x: -0.5 / np.sqrt(x) / x,
    "tanh": lambda x: 0 * x,
    "sigmoid": lambda x: 0 * x,
    "erf": lambda x: 0 * x,
    "cbrt": lambda x: 1 / np.cbrt(x) / np.cbrt(x) / 3,
}


@pytest.mark.parametrize("name", FAR)
@pytest.mark.parametrize(
    ("dtype", "x"),
    [(mx.float16, 300.0), (mx.bfloat16, 2.0**80), (mx.float32, 2.0**90), (F, 2.0**600)],
)
def test_derivatives_of_great_numbers(name, dtype, x):
    got = mx.grad(getattr(mx, name))(mx.array(x, dtype=dtype)).astype(F).item()
    tolerance = 1e-6 if dtype in (mx.float32, F) else 1e-2
    least = {mx.float16: 6e-8, mx.bfloat16: 1e-38, mx.float32: 1e-38, F: 1e-307}[dtype]
    assert got == pytest.approx(float(FAR[name](np.float64(x))), rel=tolerance, abs=least)


FAR_AND_COMPLEX = {
    "arcsin": lambda z: 1 / np.emath.sqrt(1 - z) / np.emath.sqrt(1 + z),
    "arccos": lambda z: -1 / np.emath.sqrt(1 - z) / np.emath.sqrt(1 + z),
    "arctan": lambda z: 1 / (z - 1j) / (z + 1j),
    "arcsinh": lambda z: 1 / np.emath.sqrt(1 + 1j * z) / np.emath.sqrt(1 - 1j * z),
    "arccosh": lambda z: 1 / np.emath.sqrt(z - 1) / np.emath.sqrt(z + 1),
    "arctanh": lambda z: 1 / (1 - z) / (1 + z),
    "log": lambda z: 1 / z,
    "reciprocal": lambda z: -1 / z / z,
    "sqrt": lambda z: 0.5 / np.sqrt(z),
}


@pytest.mark.parametrize("name", FAR_AND_COMPLEX)
@pytest.mark.parametrize("size", [1e-30, 1e-12, 0.5, 2.0, 1e12, 1e25, 1e37])
@pytest.mark.parametrize("turn", [1 + 0.5j, -1 + 2j, 0.5 - 1j, -3 - 1j])
def test_derivatives_of_complex_numbers_near_and_far(name, size, turn):
    z = np.complex128(np.complex64(size * turn))
    wanted = FAR_AND_COMPLEX[name](z)
    if not 1e-37 < np.abs(wanted) < 1e37:
        return
    _, pushed = mx.jvp(
        getattr(mx, name), [mx.array(z, dtype=mx.complex64)], [mx.array(1.0, dtype=mx.complex64)]
    )
    assert abs(pushed[0].item() - wanted) <= 1e-5 * abs(wanted)


@pytest.mark.parametrize("x", [1 - 2.0**-23, -1 + 2.0**-22, 1 - 2.0**-20])
def test_slopes_beside_one(x):
    """`1 - x * x` would cancel: the rounding of the square is as large as the difference."""
    at, below = mx.array(x), (1 - x) * (1 + x)
    assert mx.grad(mx.arcsin)(at).item() == pytest.approx(below**-0.5, rel=1e-6)
    assert mx.grad(mx.arccos)(at).item() == pytest.approx(-(below**-0.5), rel=1e-6)
    assert mx.grad(mx.arctanh)(at).item() == pytest.approx(1 / below, rel=1e-6)
