"""Singular values of matrices with many more rows than columns, or the other way round."""

import numpy as np
import pytest
import umber.core as mx
from umber.core import linalg

SHAPES = [
    (813, 380),
    (380, 813),
    (200, 20),
    (20, 200),
    (30, 3),
    (3, 30),
    (5, 1),
    (1, 5),
    (12, 6),
    (11, 6),
]
WIDE = {"complex64": "complex128", "complex128": "complex128"}


def check(a):
    epsilon = np.finfo(a.dtype).eps
    # Where all elements are alike, so are their rounding errors, which add up (LAPACK's, too).
    bound = (40 + max(a.shape)) * epsilon
    exact = a.astype(WIDE.get(a.dtype.name, "float64"))
    wanted = np.linalg.svd(exact, compute_uv=False)
    u, s, vt = (np.array(part).astype(exact.dtype) for part in linalg.svd(mx.array(a)))
    for vectors in (u, vt.conj().T):
        assert vectors.shape[0] == vectors.shape[1]
        assert np.abs(vectors.conj().T @ vectors - np.eye(len(vectors))).max() < bound
    size = len(s)
    assert np.all(s.real[:-1] >= s.real[1:])
    assert np.abs((u[:, :size] * s) @ vt[:size] - a).max() <= bound * wanted[0]
    assert np.abs(s - wanted).max() <= bound * wanted[0]
    alone = np.array(linalg.svd(mx.array(a), compute_uv=False))
    assert np.abs(alone - wanted).max() <= bound * wanted[0]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("shape", SHAPES)
def test_rows_and_columns_of_very_different_size(shape, dtype):
    rng = np.random.default_rng(6)
    for powers in (0, 4, 8):
        for sizes in ((shape[0], 1), (1, shape[1])):
            a = rng.normal(size=shape) * 10.0 ** rng.uniform(-powers, powers, sizes)
            if dtype.startswith("complex"):
                a = a * (1 + 0.5j) + 1j * a[::-1, ::-1]
            check(a.astype(dtype))


@pytest.mark.parametrize("shape", SHAPES)
def test_columns_that_depend_on_each_other(shape):
    rng = np.random.default_rng(7)
    check(np.zeros(shape, "float32"))
    check(np.ones(shape, "float32"))
    check((1 + 1e-5 * rng.normal(size=shape)).astype("float32"))
    a = rng.normal(size=shape).astype("float32")
    a[:, ::3] = a[:, :1]
    check(a)


def test_stacks_and_what_follows_from_singular_values():
    rng = np.random.default_rng(8)
    a = rng.normal(size=(4, 60, 7)) * 10.0 ** rng.uniform(-5, 5, (4, 60, 1))
    inverses = np.array(linalg.pinv(mx.array(a)))
    assert np.abs(inverses @ a - np.eye(7)).max() < 1e-6
    # A column that differs from another one by a thousand rounding errors counts.
    b = rng.normal(size=(500, 4)).astype("float32")
    b[:, 3] = b[:, 0] * (1 + 1e-4 * rng.normal(size=500).astype("float32"))
    values = np.array(linalg.svd(mx.array(b), compute_uv=False))
    wanted = np.linalg.svd(b.astype("float64"), compute_uv=False)
    assert np.allclose(values, wanted, rtol=0, atol=4e-6 * wanted[0])
    assert abs(values[3] / wanted[3] - 1) < 0.05
