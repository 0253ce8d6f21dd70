"""Complex functions: branch cuts, signed zeros, infinities and NaN as C99 (Annex G) has them."""

import numpy as np
import pytest
import umber.core as mx

FUNCTIONS = """
exp log log2 log10 sqrt sin cos tan sinh cosh tanh arcsin arccos arctan arcsinh arccosh arctanh
""".split()
FINITE = [0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 3.0, -3.0, 1e-300, -1e-300]
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.0, np.inf, -np.inf, np.nan]


def plane(values):
    return np.array([complex(a, b) for a in values for b in values])


def assert_same_part(found, want, certain, note):
    """C leaves the signs of zeros and infinities open where the angle has no value."""
    assert np.array_equal(np.isnan(found), np.isnan(want)), note
    number = ~np.isnan(want)
    with np.errstate(invalid="ignore"):
        loose = np.abs(found[number]), np.abs(want[number])
    np.testing.assert_allclose(*loose, rtol=1e-14, atol=0, err_msg=note)
    strict = number & certain
    assert np.array_equal(np.signbit(found[strict]), np.signbit(want[strict])), f"{note}: signs"


@pytest.mark.parametrize("values", [FINITE, SPECIAL], ids=["finite", "special"])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_values(name, values):
    z = plane(values)
    turned = name in ("sin", "cos", "tan")
    angle, size = (z.real, z.imag) if turned else (z.imag, z.real)
    certain = ~np.isnan(z.real) & ~np.isnan(z.imag)
    if turned or name in ("exp", "sinh", "cosh", "tanh"):
        certain = np.isfinite(angle) & ~np.isnan(size)
    if name in ("tan", "tanh"):
        # Other signs of zero at infinities: test_array_api_special_values.py.
        certain &= np.isfinite(size)
    with np.errstate(all="ignore"):
        want = getattr(np, name)(z)
    found = np.asarray(getattr(mx, name)(mx.array(z)))
    assert found.dtype == np.complex128
    for part in ("real", "imag"):
        assert_same_part(getattr(found, part), getattr(want, part), certain, f"{name} {part}")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_single_precision_is_rounded_double_precision(name):
    z = plane([0.3, -1.7, 2.5, -0.01]).astype(np.complex64)
    found = np.asarray(getattr(mx, name)(mx.array(z)))
    assert found.dtype == np.complex64
    want = np.asarray(getattr(mx, name)(mx.array(z.astype(np.complex128))))
    assert np.array_equal(found, want.astype(np.complex64))


def test_sign_of_infinities():
    z = np.array([complex(0, np.inf), complex(-np.inf, 3), complex(1, -np.inf)])
    assert np.asarray(mx.sign(mx.array(z))).tolist() == [1j, -1 + 0j, -1j]


def test_double_precision_is_kept_everywhere():
    third = mx.array([1 / 3], dtype=mx.float64)
    z = mx.array([1j])
    assert (third * z).dtype == mx.complex128
    assert (third * z).tolist() == [1j / 3]
    assert (third + 1j).dtype == mx.complex128
    assert mx.where(mx.array([True]), third, z).dtype == mx.complex128
    assert mx.concatenate([third, z]).dtype == mx.complex128
    assert mx.matmul(third, z).dtype == mx.complex128
    assert mx.real(third * z).dtype == mx.float64
    assert mx.abs(third * z).item() == 1 / 3


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_logaddexp_of_nan(dtype):
    nothing, nan = (mx.array(v, dtype=getattr(mx, dtype)) for v in (-np.inf, np.nan))
    for pair in [(nothing, nan), (nan, nothing), (nan, nan)]:
        assert np.isnan(mx.logaddexp(*pair).item())


def test_derivatives_of_the_sign():
    """`z / |z|` turns with `z`: its derivative is not that of a real sign."""
    x = mx.array([0.5, 0.7, -1.2], dtype=mx.float64)

    def f(x):
        return mx.real(mx.sign(x + 1j * x * x) * (2 - 1j)).sum()

    step = 1e-6
    ends = [mx.real(mx.sign(z + 1j * z * z) * (2 - 1j)) for z in (x + step, x - step)]
    expected = np.array(ends[0] - ends[1]) / (2 * step)
    np.testing.assert_allclose(np.array(mx.grad(f)(x)), expected, atol=1e-8)
    pushed = mx.jvp(lambda x: mx.real(mx.sign(x + 1j * x * x) * (2 - 1j)), [x], [mx.ones_like(x)])
    np.testing.assert_allclose(np.array(pushed[1][0]), expected, atol=1e-8)
    at_zero = mx.grad(lambda z: mx.real(mx.sign(z)).sum())(mx.zeros((2,), dtype=mx.complex128))
    assert np.array_equal(np.array(at_zero), [0, 0])
