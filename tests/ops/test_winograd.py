"""Convolutions by three taps in steps of one: fewer multiplications than their definition has."""

import numpy as np
import pytest
import umber.core as mx
from arrays import to_numpy
from naive_convolution import conv_general

CASES = [
    ((2, 9, 10, 20), (24, 3, 3, 20), 1),
    ((1, 31, 8, 33), (40, 3, 3, 33), (0, 2)),
    ((3, 7, 7, 24), (70, 3, 3, 24), 1),
    ((1, 56, 56, 64), (64, 3, 3, 64), 1),
    ((8, 5, 6, 20), (20, 3, 3, 20), 1),
    ((2, 60, 64), (70, 3, 64), 1),
    ((1, 501, 70), (66, 3, 70), 0),
]


def umber(x, w, padding):
    return mx.conv_general(mx.array(x), mx.array(w), padding=padding)


def wanted(x, w, padding):
    return conv_general(x.astype(np.float64), w.astype(np.float64), padding=padding)


def numbers(rng, *shapes):
    return [rng.standard_normal(shape).astype(np.float32) for shape in shapes]


@pytest.mark.parametrize(("shape", "weight", "padding"), CASES)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_close_to_the_definition(shape, weight, padding, dtype, rng):
    """Errors are a few rounding errors of the sum of the magnitudes of all terms."""
    x, w = (values.astype(dtype) for values in numbers(rng, shape, weight))
    found = to_numpy(umber(x, w, padding))
    terms = wanted(abs(x), abs(w), padding)
    assert found.dtype == dtype
    assert (abs(found - wanted(x, w, padding)) / terms).max() < 2 * np.finfo(dtype).eps
    cotangent = rng.standard_normal(found.shape).astype(dtype)
    _, (dx, dw) = mx.vjp(
        lambda x, w: mx.conv_general(x, w, padding=padding),
        [mx.array(x), mx.array(w)],
        [mx.array(cotangent)],
    )
    # The derivatives are linear in each operand: a step along one of them says what they are.
    along_x, along_w = (rng.standard_normal(s).astype(dtype) for s in (shape, weight))
    for gradient, step, change in (
        (dx, along_x, wanted(along_x, w, padding)),
        (dw, along_w, wanted(x, along_w, padding)),
    ):
        one = np.sum(to_numpy(gradient).astype(np.float64) * step)
        other = np.sum(change * cotangent)
        scale = np.sqrt(np.sum(change**2) * np.sum(cotangent.astype(np.float64) ** 2))
        assert abs(one - other) < 8 * np.finfo(dtype).eps * scale


@pytest.mark.parametrize(("shape", "weight", "padding"), CASES[:3] + CASES[-2:])
def test_what_no_tap_meets_leaves_no_trace(shape, weight, padding, rng):
    """A huge element, or one that is no number, is seen by those outputs alone that meet it."""
    x, w = numbers(rng, shape, weight)
    place = (0, *(length // 2 for length in shape[1:]))
    before = to_numpy(umber(x, w, padding))
    marked = np.zeros_like(x)
    marked[place] = 1
    is_met = wanted(marked, np.ones_like(w), padding) != 0
    for value in (1e30, np.inf, -np.inf, np.nan):
        x[place] = value
        found = to_numpy(umber(x, w, padding))
        if np.isfinite(value):
            np.testing.assert_array_equal(found[~is_met], before[~is_met])
        # Where anything is not finite, all are computed as they are defined, and rounded so.
        np.testing.assert_allclose(found[~is_met], before[~is_met], rtol=1e-5, atol=1e-4)
        with np.errstate(invalid="ignore"):
            right = wanted(x, w, padding)
        # All taps of a kernel share their errors.
        np.testing.assert_allclose(found[is_met], right[is_met], rtol=1e-5, atol=1e24)


def test_sums_in_between_do_not_overflow():
    x = np.full((2, 12, 12, 20), 3e38, np.float32)
    w = np.full((20, 3, 3, 20), 1 / 200, np.float32)
    w[:, 1] *= -1
    right = wanted(x, w, 1)
    assert abs(right).max() < np.finfo(np.float32).max
    np.testing.assert_allclose(to_numpy(umber(x, w, 1)), right, rtol=1e-5, atol=1e32)


def test_infinite_weights(rng):
    x, w = numbers(rng, (2, 9, 11, 24), (24, 3, 3, 24))
    w[3, 0, 2, 5] = np.inf
    with np.errstate(invalid="ignore"):
        right = wanted(x, w, 1)
    np.testing.assert_allclose(to_numpy(umber(x, w, 1)), right, rtol=1e-3, atol=1e-4)


def test_gradients_of_infinite_cotangents(rng):
    x, w = numbers(rng, (3, 8, 9, 24), (24, 3, 3, 24))
    cotangent = np.zeros((3, 8, 9, 24), np.float32)
    cotangent[0, 4, 4, 2] = np.inf
    _, (_, found) = mx.vjp(
        lambda x, w: mx.conv_general(x, w, padding=1),
        [mx.array(x), mx.array(w)],
        [mx.array(cotangent)],
    )
    found = to_numpy(found)
    assert np.isinf(found[2]).all()
    assert np.isfinite(np.delete(found, 2, axis=0)).all()


def test_any_number_of_threads_gives_the_same_bits(rng):
    x, w = numbers(rng, (2, 20, 21, 48), (56, 3, 3, 48))
    had = mx.get_num_threads()
    found = []
    for threads in (1, 2, 5):
        mx.set_num_threads(threads)
        found.append(to_numpy(umber(x, w, 1)).tobytes())
    mx.set_num_threads(had)
    assert len(set(found)) == 1


def test_compiled_and_batched(rng):
    x, w = numbers(rng, (3, 2, 10, 12, 24), (24, 3, 3, 24))
    found = mx.vmap(mx.compile(lambda x: mx.conv2d(x, mx.array(w), padding=1)))(mx.array(x))
    for found_one, one in zip(to_numpy(found), x, strict=True):
        np.testing.assert_allclose(found_one, wanted(one, w, 1), rtol=1e-4, atol=1e-4)
