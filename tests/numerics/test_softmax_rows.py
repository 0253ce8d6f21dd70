"""Softmax, logsumexp and attention, whose exponentials are taken in loops of their own, and batches
of small products."""

import numpy as np
import pytest
import umber.core as mx
from umber.core import fast

LENGTHS = [1, 15, 16, 17, 127, 128, 129, 512, 2047, 2049, 5000]


def exact(values):
    values = values.astype(np.float64)
    peak = values.max(-1, keepdims=True)
    weights = np.exp(values - peak)
    total = weights.sum(-1, keepdims=True)
    return weights / total, (peak + np.log(total))[..., 0]


@pytest.mark.parametrize("length", LENGTHS)
@pytest.mark.parametrize("spread", [1.0, 30.0, 300.0])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_rows_of_any_length(length, spread, dtype):
    values = (np.random.default_rng(length).normal(size=(3, length)) * spread).astype(dtype)
    x = mx.array(values, dtype=getattr(mx, dtype))
    weights, logarithm = exact(values)
    unit = np.finfo(dtype).eps
    # The distance from the peak is rounded; of weights below the range of float32 a unit is the
    # least there is.
    distance = 1 + (values.max(-1) - values.min(-1)).max() / 2
    np.testing.assert_allclose(
        np.array(mx.softmax(x, axis=-1)), weights, rtol=4 * unit * distance, atol=2e-45
    )
    np.testing.assert_allclose(
        np.array(mx.logsumexp(x, axis=-1)), logarithm, rtol=2 * unit, atol=2 * unit
    )


@pytest.mark.parametrize("length", LENGTHS)
def test_wherever_something_that_is_no_number_lies(length):
    values = np.zeros((length, length), np.float32)
    if length > 600:
        values = values[:1]
    of_others = np.log(length - 1) if length > 1 else -np.inf
    for odd, expected in [(np.nan, np.nan), (np.inf, np.inf), (-np.inf, of_others)]:
        np.fill_diagonal(values[:, -1:] if len(values) == 1 else values, odd)
        x = mx.array(values)
        found = np.array(mx.logsumexp(x, axis=-1))
        np.testing.assert_allclose(found, np.full(len(values), expected, np.float32), rtol=3e-7)
        weights = np.array(mx.softmax(x, axis=-1))
        if odd == -np.inf and length > 1:
            np.testing.assert_allclose(weights.sum(-1), 1, rtol=1e-6)
            assert (weights == 0).sum() == len(values)
        else:
            assert np.isnan(weights).all()


def test_weights_of_attention_beside_masks_and_peaks():
    generator = np.random.default_rng(2)
    q, k, v = (generator.normal(size=(1, 2, 37, 16)).astype(np.float32) for _ in range(3))
    mask = generator.random((37, 37)) < 0.7
    mask[5] = True
    mask[:, 0] = True
    scores = np.where(
        mask, 40 * (q.astype(np.float64) @ k.astype(np.float64).swapaxes(-1, -2)), -np.inf
    )
    expected = exact(scores)[0] @ v
    found = fast.scaled_dot_product_attention(
        *(mx.array(part) for part in (q, k, v)), scale=40.0, mask=mx.array(mask)
    )
    np.testing.assert_allclose(np.array(found), expected, rtol=2e-5, atol=2e-5)


@pytest.mark.parametrize(
    "shape", [(9, 16, 16), (12, 32, 16), (16, 24, 32), (9, 16, 48), (16, 1, 16), (40, 40, 32)]
)
@pytest.mark.parametrize("batch", [(1,), (7,), (3, 5), (2, 1, 3)])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64"])
def test_batches_of_small_products(shape, batch, dtype):
    rows, depth, columns = shape
    generator = np.random.default_rng(rows)
    a = generator.normal(size=(*batch, rows, depth)).astype(dtype)
    b = generator.normal(size=(*batch, depth, columns)).astype(dtype)
    left, right = (mx.array(part, dtype=getattr(mx, dtype)) for part in (a, b))
    wide = np.complex128 if dtype == "complex64" else np.float64
    expected = a.astype(wide) @ b.astype(wide)
    tolerance = (
        {"rtol": 1e-12, "atol": 1e-12} if dtype == "float64" else {"rtol": 2e-5, "atol": 2e-5}
    )
    np.testing.assert_allclose(np.array(left @ right), expected, **tolerance)
    # One matrix for all, every other one, and those of the other order.
    np.testing.assert_allclose(
        np.array(left @ right[(0,) * len(batch)]), a @ b[(0,) * len(batch)], **tolerance
    )
    np.testing.assert_allclose(np.array(left[::2] @ right[::2]), expected[::2], **tolerance)
    across = mx.swapaxes(
        mx.array(np.ascontiguousarray(a.swapaxes(-1, -2)), dtype=getattr(mx, dtype)), -1, -2
    )
    np.testing.assert_allclose(np.array(across @ right), expected, **tolerance)
    added = mx.addmm(
        mx.ones((rows, columns), dtype=getattr(mx, dtype)), left, right, alpha=2.0, beta=3.0
    )
    np.testing.assert_allclose(np.array(added), 2 * expected + 3, **tolerance)
