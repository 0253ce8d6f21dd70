"""Factors of matrices that are large enough for panels, which threads share."""

import numpy as np
import pytest
import umber.core as mx
from umber.core import linalg

SHAPES = [(768, 768), (801, 801), (900, 771), (771, 900), (385, 385), (420, 600)]
DTYPES = ["float32", "float64", "complex64", "complex128"]


def random(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    a = rng.normal(size=shape)
    if dtype.startswith("complex"):
        a = a + 1j * rng.normal(size=shape)
    return a.astype(dtype)


def epsilon(dtype):
    return np.finfo(dtype).eps


def positive(n, dtype):
    a = random((n, n), dtype).astype("complex128" if dtype.startswith("complex") else "float64")
    return (a @ a.conj().T / n + np.eye(n)).astype(dtype)


def on_threads(compute):
    """Results with one thread and with two, which must be the same bits."""
    before = mx.get_num_threads()
    found = []
    try:
        for threads in (1, 2):
            mx.set_num_threads(threads)
            results = compute()
            found.append(
                [
                    np.array(result)
                    for result in (results if isinstance(results, tuple) else (results,))
                ]
            )
    finally:
        mx.set_num_threads(before)
    for one, two in zip(*found, strict=True):
        assert np.array_equal(one, two, equal_nan=True)
    return found[0] if len(found[0]) > 1 else found[0][0]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", [768, 801])
def test_cholesky_gives_the_matrix_back(n, dtype):
    a = positive(n, dtype)
    x = mx.array(a)
    lower = on_threads(lambda: linalg.cholesky(x))
    assert lower.dtype == a.dtype
    assert np.array_equal(lower, np.tril(lower))
    assert np.all(np.diagonal(lower).real > 0)
    assert np.all(np.diagonal(lower).imag == 0)
    wide = lower.astype("complex128")
    assert np.abs(wide @ wide.conj().T - a).max() < 40 * epsilon(dtype)
    upper = np.array(linalg.cholesky(x, upper=True))
    assert np.abs(upper - lower.conj().T).max() < 40 * epsilon(dtype)


def test_cholesky_reads_the_lower_triangle_only():
    a = positive(800, "float64")
    spoiled = np.tril(a) + np.triu(np.full_like(a, np.nan), 1)
    assert np.array_equal(
        np.array(linalg.cholesky(mx.array(spoiled))), np.array(linalg.cholesky(mx.array(a)))
    )


@pytest.mark.parametrize("place", [0, 63, 64, 400, 799])
def test_cholesky_refuses_what_is_not_positive_definite(place):
    a = positive(800, "float32")
    a[place, place] = -1
    with pytest.raises(Exception, match="positive definite"):
        mx.eval(linalg.cholesky(mx.array(a)))
    a[place, place] = np.nan
    with pytest.raises(Exception, match="positive definite"):
        mx.eval(linalg.cholesky(mx.array(a)))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_lu_gives_the_matrix_back(shape, dtype):
    a = random(shape, dtype)
    x = mx.array(a)
    order, lower, upper = on_threads(lambda: tuple(linalg.lu(x)))
    assert sorted(order.tolist()) == list(range(shape[0]))
    assert np.array_equal(lower, np.tril(lower))
    assert np.array_equal(upper, np.triu(upper))
    assert np.all(np.diagonal(lower) == 1)
    # Partial pivoting: no factor is above one, of the sum of parts for complex numbers.
    assert np.abs(lower).max() <= (1 if not dtype.startswith("complex") else 2**0.5) * (
        1 + 4 * epsilon(dtype)
    )
    product = lower.astype("complex128") @ upper.astype("complex128")
    error = np.abs(product[order] - a).max()
    assert error < 100 * epsilon(dtype) * np.abs(upper).max()


@pytest.mark.parametrize("dtype", DTYPES)
def test_pivots_lead_to_the_factors(dtype):
    a = random((800, 800), dtype)
    packed, pivots = (np.array(part) for part in linalg.lu_factor(mx.array(a)))
    rows = a.astype("complex128")
    for i, pivot in enumerate(pivots.tolist()):
        assert pivot >= i
        rows[[i, pivot]] = rows[[pivot, i]]
    lower, upper = np.tril(packed, -1) + np.eye(800), np.triu(packed)
    error = np.abs(lower.astype("complex128") @ upper - rows).max()
    assert error < 100 * epsilon(dtype) * np.abs(upper).max()


@pytest.mark.parametrize("dtype", DTYPES)
def test_systems_inverses_and_determinants(dtype):
    n = 801
    a, b = random((n, n), dtype), random((n, 3), dtype, 1)
    x, y = mx.array(a), mx.array(b)
    solution = on_threads(lambda: linalg.solve(x, y))
    norm = np.linalg.norm(a)
    residual = np.abs(a.astype("complex128") @ solution - b).max()
    assert residual < 2 * epsilon(dtype) * norm * np.linalg.norm(solution)
    inverse = on_threads(lambda: linalg.inv(x))
    residual = np.abs(a.astype("complex128") @ inverse - np.eye(n)).max()
    assert residual < 2 * epsilon(dtype) * norm * np.linalg.norm(inverse)
    sign, log = (np.array(part) for part in linalg.slogdet(x))
    wanted = np.linalg.slogdet(a.astype("complex128"))
    assert abs(log - wanted[1]) < 1e4 * epsilon(dtype) * abs(wanted[1])
    assert abs(sign - wanted[0]) < 1e4 * epsilon(dtype)


@pytest.mark.parametrize("columns", [(0, 0), (3, 700), (64, 65), (127, 128), (799, 10)])
def test_singular_matrices_are_found(columns):
    a = random((800, 800), "float64")
    first, second = columns
    a[:, first] = 0 if first == second else a[:, second]
    order, lower, upper = (np.array(part) for part in linalg.lu(mx.array(a)))
    assert np.isfinite(lower).all()
    assert np.isfinite(upper).all()
    assert np.abs((lower @ upper)[order] - a).max() < 1e-11
    zero = np.zeros((800, 800))
    assert linalg.det(mx.array(zero)).item() == 0
    with pytest.raises(Exception, match="singular"):
        mx.eval(linalg.solve(mx.array(zero), mx.array(np.ones(800))))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", SHAPES)
def test_qr_gives_the_matrix_back(shape, dtype):
    a = random(shape, dtype)
    x = mx.array(a)
    q, r = on_threads(lambda: tuple(linalg.qr(x)))
    check_qr(a, q, r, dtype)
    assert q.shape == (shape[0], min(shape))
    assert r.shape == (min(shape), shape[1])


def check_qr(a, q, r, dtype):
    assert np.array_equal(r, np.triu(r))
    assert np.all(np.diagonal(r).imag == 0)
    wide = q.astype("complex128")
    assert np.abs(wide.conj().T @ wide - np.eye(q.shape[1])).max() < 40 * epsilon(dtype)
    norm = np.linalg.norm(a.astype("complex128"))
    assert np.abs(wide @ r - a).max() <= 10 * epsilon(dtype) * norm


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
@pytest.mark.parametrize("kind", ["zero", "twin", "low rank", "all zero", "last"])
def test_qr_of_columns_that_depend_on_each_other(kind, dtype):
    a = random((500, 450), dtype)
    if kind == "zero":
        a[:, 100] = 0
    elif kind == "twin":
        a[:, 40] = a[:, 39]
    elif kind == "low rank":
        a = (a[:, :5] @ random((5, 450), dtype, 2)).astype(dtype)
    elif kind == "all zero":
        a[:] = 0
    else:
        a[:, 449] = 0
    q, r = (np.array(part) for part in linalg.qr(mx.array(a)))
    check_qr(a, q, r, dtype)


def test_qr_of_extreme_numbers():
    a = random((400, 400), "float32")
    for power in (-120, -60, 60, 120):
        scaled = np.ldexp(a, power)
        q, r = (np.array(part) for part in linalg.qr(mx.array(scaled)))
        check_qr(a, q, np.ldexp(r, -power), "float32")
    a[3, 5] = np.inf
    q, r = (np.array(part) for part in linalg.qr(mx.array(a)))
    assert np.isnan(q).all()
    assert np.isnan(r).all()


def test_stacks_and_layouts():
    a = random((3, 768, 768), "float32")
    stack = np.array(linalg.inv(mx.array(a)))
    for one, matrix in zip(stack, a, strict=True):
        assert np.array_equal(one, np.array(linalg.inv(mx.array(matrix))))
    turned = mx.array(a[0]).T
    assert np.array_equal(
        np.array(linalg.inv(turned)), np.array(linalg.inv(mx.array(np.array(turned))))
    )
    flipped = mx.array(a[0])[::-1, ::-1]
    q, r = (np.array(part) for part in linalg.qr(flipped))
    check_qr(a[0][::-1, ::-1], q, r, "float32")
