"""QR decompositions of columns that nearly depend on each other keep what is left of them."""

import numpy as np
import pytest
import umber.core as mx
from umber.core import linalg

SHAPES = [
    (8, 4),
    (30, 20),
    (20, 30),
    (100, 50),
    (200, 100),
    (100, 200),
    (800, 100),
    (500, 380),
    (450, 400),
    (400, 450),
]


def check(a):
    """Columns come back up to rounding, and those of the first factor are orthonormal."""
    q, r = (np.array(part) for part in linalg.qr(mx.array(a)))
    epsilon = np.finfo(a.dtype).eps
    wide = q.astype("complex128")
    # Where all elements are alike, so are their rounding errors, which add up (LAPACK's, too).
    assert np.abs(wide.conj().T @ wide - np.eye(q.shape[1])).max() < (40 + len(a)) * epsilon
    assert np.array_equal(r, np.triu(r))
    errors = np.linalg.norm(wide @ r - a, axis=0)
    assert np.all(
        errors <= (40 + len(a)) * epsilon * np.linalg.norm(a.astype("complex128"), axis=0)
    )


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", SHAPES)
def test_rows_of_very_different_size(shape, dtype):
    rng = np.random.default_rng(3)
    for powers in (4, 8, 12):
        a = rng.normal(size=shape) * 10.0 ** rng.uniform(-powers, powers, (shape[0], 1))
        if dtype.startswith("complex"):
            a = a * (1 + 0.5j)
        check(a.astype(dtype))


@pytest.mark.parametrize("shape", SHAPES)
def test_columns_that_differ_in_their_last_digits(shape):
    rng = np.random.default_rng(4)
    base = rng.normal(size=(shape[0], 1))
    for difference in (1e-2, 1e-4, 1e-6):
        check((base + difference * rng.normal(size=shape)).astype("float32"))


def test_powers_of_a_variable():
    x = np.linspace(0, 1, 2000, dtype="float32")
    a = np.stack([x**power for power in range(12)], axis=1)
    check(a)
    # The last columns are what is left of them: much more than rounding.
    r = np.array(linalg.qr(mx.array(a))[1])
    wanted = np.abs(np.diagonal(np.linalg.qr(a.astype("float64"))[1]))
    assert np.allclose(np.abs(np.diagonal(r))[:6], wanted[:6], rtol=1e-2)


@pytest.mark.parametrize("shape", [(30, 20), (20, 30), (500, 400), (400, 500)])
def test_columns_of_zeros_and_twins(shape):
    rng = np.random.default_rng(5)
    a = rng.normal(size=shape).astype("float32")
    a[:, [0, 3, 7]] = 0
    a[:, 11] = a[:, 10]
    a[:, -1] = 2 * a[:, 1]
    check(a)
    check(np.zeros(shape, "float32"))
    check(np.ones(shape, "float32"))
