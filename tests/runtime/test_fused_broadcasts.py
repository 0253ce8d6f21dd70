"""Operands that repeat along short rows, inside fused regions of any length."""

import numpy as np
import pytest
import umber.core as mx

# (shape, shape of what repeats): a block of elements holds a whole number of repetitions, or not.
SHAPES = [
    ((1000, 32), (32,)),
    ((257, 64), (64,)),
    ((33, 128), (128,)),
    ((90, 5, 16), (5, 16)),
    ((90, 4, 16), (4, 16)),
    ((77, 8, 8), (8, 1)),
    ((3000, 3), (3,)),
    ((100, 7, 32), (32,)),
    ((9, 50, 2, 32), (2, 1)),
    ((2, 40, 32), (1, 32)),
    ((2, 400, 32), (2, 1, 32)),
]
DTYPES = ["float32", "float64", "float16", "bfloat16", "int8", "complex64", "bool"]


def numbers(shape, dtype, seed):
    values = np.random.default_rng(seed).integers(-4, 5, shape)
    return mx.array(values).astype(getattr(mx, "bool_" if dtype == "bool" else dtype))


def as_numpy(x):
    return np.array(x.astype(mx.float32) if x.dtype == mx.bfloat16 else x)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_elementwise(shapes, dtype):
    (shape, short) = shapes
    x, w, b = (numbers(s, dtype, i) for i, s in enumerate((shape, short, short)))
    found = as_numpy(x * w + b)
    expected = as_numpy(x) * as_numpy(w) + as_numpy(b)
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float64"])
@pytest.mark.parametrize("shapes", SHAPES, ids=str)
def test_reduced(shapes, dtype):
    (shape, short) = shapes
    x, w = numbers(shape, dtype, 3), numbers(short, dtype, 4)
    product = as_numpy(x).astype(np.float64) * as_numpy(w)
    for axis in [None, 0, -1, *range(1, len(shape) - 1), tuple(range(len(shape) - 1))]:
        found = as_numpy((x * w).astype(mx.float32).sum(axis=axis))
        assert np.array_equal(found, product.sum(axis=axis))


def test_the_repeated_operand_is_itself_a_view():
    x = mx.arange(64 * 300).reshape(300, 64)
    w = mx.arange(128)[::-2]
    assert np.array_equal(np.array(x + w), np.array(x) + np.arange(128)[::-2])
