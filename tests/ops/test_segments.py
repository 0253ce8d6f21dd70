"""Segment reductions: the number of segments, ids that are dropped or refused, empty segments."""

import numpy as np
import pytest
import umber.core as mx
from arrays import assert_dtype, to_numpy

REDUCTIONS = {
    name: getattr(mx, f"segment_{name}") for name in ("sum", "prod", "min", "max", "mean")
}
EVERY = pytest.mark.parametrize("reduce", REDUCTIONS.values(), ids=REDUCTIONS)
DATA, IDS = [1.0, 2.0, 4.0, 8.0], [2, 0, 2, -1]


@EVERY
@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_the_number_of_segments_is_read_from_the_ids(reduce, dtype):
    ids = mx.array(IDS, getattr(mx, dtype))
    want = reduce(mx.array(DATA), ids, 3)
    assert want.shape == (3,)
    assert reduce(mx.array(DATA), ids).tolist() == want.tolist()
    assert reduce(mx.array(DATA), ids, num_segments=4)[:3].tolist() == want.tolist()
    ascending = mx.array([-1, 0, 2, 2], getattr(mx, dtype))
    rows = mx.array([8.0, 2.0, 1.0, 4.0])
    assert reduce(rows, ascending, indices_are_sorted=True).tolist() == want.tolist()


@EVERY
def test_unsigned_ids(reduce):
    for dtype in (mx.uint8, mx.uint16, mx.uint32, mx.uint64):
        ids = mx.array([2, 0, 2], dtype)
        want = reduce(mx.array(DATA[:3]), mx.array([2, 0, 2])).tolist()
        assert reduce(mx.array(DATA[:3]), ids).tolist() == want


@EVERY
def test_no_rows_and_no_segments(reduce):
    none, ids = mx.zeros((0, 2)), mx.zeros((0,), mx.int32)
    assert reduce(none, ids).shape == (0, 2)
    assert reduce(none, ids, 3).shape == (3, 2)
    assert reduce(mx.zeros((2, 0)), mx.array([1, 0])).shape == (2, 0)
    assert reduce(mx.ones(2), mx.array([-1, -2])).shape == (0,)
    assert reduce(mx.ones((2, 3)), mx.array([-1, -2]), 0).shape == (0, 3)


@EVERY
@pytest.mark.parametrize("dtype", [mx.int32, mx.uint8, mx.int64])
def test_ids_beyond_the_last_segment_are_refused(reduce, dtype):
    message = r"^\[segment_\w+\] index 3 is out of bounds for axis 0 of length 3"
    with pytest.raises(IndexError, match=message):
        mx.eval(reduce(mx.ones(3), mx.array([0, 3, 1], dtype), 3))


def test_values_of_empty_segments():
    ids = mx.array([1])
    for dtype, lowest, highest in (
        (mx.int8, -128, 127),
        (mx.uint16, 0, 2**16 - 1),
        (mx.int64, -(2**63), 2**63 - 1),
        (mx.uint64, 0, 2**64 - 1),
        (mx.bool_, False, True),
        (mx.float16, -np.inf, np.inf),
    ):
        x = mx.array([1], dtype)
        assert mx.segment_max(x, ids)[0].item() == lowest
        assert mx.segment_min(x, ids)[0].item() == highest
        assert mx.segment_sum(x, ids)[0].item() == 0
        assert mx.segment_prod(x, ids)[0].item() == 1
        assert mx.segment_mean(x, ids)[0].item() == 0


def test_nan_stays_in_its_segment():
    x = mx.array([np.nan, 1.0, 2.0])
    for name, reduce in REDUCTIONS.items():
        first, second = reduce(x, mx.array([0, 1, 1])).tolist()
        assert np.isnan(first), name
        assert second in (3.0, 2.0, 1.0, 1.5), name


def test_halves_accumulate_in_float32():
    x = mx.full((5000,), 0.1, mx.float16)
    ids = mx.zeros((5000,), mx.int32)
    want = 5000 * float(np.float16(0.1))
    np.testing.assert_allclose(mx.segment_sum(x, ids).item(), want, rtol=1e-3)
    assert mx.segment_mean(x, ids).item() == float(np.float16(0.1))
    # The sum overflows float16, the mean does not.
    mean = mx.segment_mean(mx.full((100,), 60000.0, mx.float16), ids[:100])
    assert_dtype(mean, "float16")
    assert mean.item() == 60000.0


def test_means_of_integers_are_exact_before_rounding():
    x = mx.array([2**31 - 1, 2**31 - 3])
    assert mx.segment_mean(x, mx.array([0, 0])).item() == np.float32(2**31 - 2)


def test_equal_extrema_share_the_gradient():
    ids = mx.array([0, 0, 1, 0])
    gradient = mx.grad(lambda x: mx.segment_max(x, ids).sum())(mx.array([3.0, 3.0, 5.0, 1.0]))
    assert gradient.tolist() == [0.5, 0.5, 1.0, 0.0]


@pytest.mark.parametrize("name", ["max", "min"])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16", "complex64"])
def test_gradients_of_extrema_are_those_of_each_segment_alone(name, dtype):
    end = -np.inf if name == "max" else np.inf
    rows = [[end, 1.0], [end, 1.0], [end, end], [2.0, -end], [end, 2.0], [end, end], [1.0, 0.0]]
    ids, count = mx.array([0, 0, 0, 2, 2, 3, -1]), 4
    x = mx.array(rows).astype(getattr(mx, dtype))
    if dtype == "complex64":
        x = mx.where(mx.real(x) == end, complex(end, end), x)
    weights = mx.arange(1.0, 9.0).reshape(count, 2)
    weights = weights.astype(x.dtype)

    def pull(x, weights):
        return mx.vjp(lambda x: REDUCTIONS[name](x, ids, count), (x,), (weights,))[1][0]

    gradient = to_numpy(pull(x, weights))
    for k in range(count):
        members = [i for i, id_ in enumerate(ids.tolist()) if id_ == k]
        if members:
            part = x[mx.array(members)]
            want = mx.vjp(lambda x: getattr(mx, name)(x, 0), (part,), (weights[k],))[1][0]
            np.testing.assert_array_equal(gradient[members], to_numpy(want))
    assert not gradient[-1].any()
    by_column = mx.vmap(pull, (1, 1), 1)(x, weights)
    np.testing.assert_array_equal(to_numpy(by_column), gradient)


@pytest.mark.parametrize(("name", "end"), [("max", -np.inf), ("min", np.inf)])
def test_tangents_and_second_derivatives_of_infinite_extrema(name, end):
    x, ids = mx.array([end, end, 1.0, end]), mx.array([0, 0, 2, 2])

    def reduce(x):
        return REDUCTIONS[name](x, ids, 4)

    _, tangents = mx.jvp(reduce, (x,), (mx.array([2.0, 4.0, 5.0, 7.0]),))
    assert tangents[0].tolist() == [3.0, 0.0, 5.0, 0.0]
    jacobian = mx.jacrev(reduce)(x)
    assert jacobian.tolist() == [[0.5, 0.5, 0, 0], [0] * 4, [0, 0, 1, 0], [0] * 4]
    pull = mx.grad(lambda x, ct: mx.vjp(reduce, (x,), (ct,))[1][0].sum(), argnums=(0, 1))
    second = pull(x, mx.ones(4))
    assert [g.tolist() for g in second] == [[0.0] * 4, [1.0, 0.0, 1.0, 0.0]]


@pytest.mark.parametrize(("dtype", "count"), [("float16", 70000), ("bfloat16", 257)])
def test_numbers_of_ties_beyond_the_precision_of_halves(dtype, count):
    x, ids = mx.ones((count,), getattr(mx, dtype)), mx.zeros(count, mx.int32)
    gradient = mx.grad(lambda x: mx.segment_max(x, ids, 1).sum())(x)
    assert gradient.tolist() == mx.grad(lambda x: x.max())(x).tolist()
    assert gradient[0].item() == mx.array(1 / count, x.dtype).item()


def test_dropped_rows_have_no_gradient():
    for reduce in REDUCTIONS.values():
        gradient = mx.grad(lambda x, reduce=reduce: reduce(x, mx.array(IDS), 3).sum())
        assert gradient(mx.array([1.0, 2.0, 3.0, 4.0]))[3].item() == 0


@EVERY
def test_in_transformations_the_number_must_be_given(reduce):
    data, ids = mx.array([DATA, DATA]), mx.array([IDS, [0, 0, 1, 1]])
    want = [reduce(d, i, 3).tolist() for d, i in zip(data, ids, strict=True)]
    assert mx.vmap(lambda d, i: reduce(d, i, 3))(data, ids).tolist() == want
    assert mx.compile(lambda d, i: reduce(d, i, 3))(data[0], ids[0]).tolist() == want[0]
    # Ids that are not mapped have values.
    assert mx.vmap(lambda d: reduce(d, ids[0]))(data).tolist() == [want[0]] * 2
    for call in (
        lambda: mx.vmap(reduce)(data, ids),
        lambda: mx.compile(reduce)(data[0], ids[0]),
    ):
        with pytest.raises(ValueError, match=r"^\[segment_\w+\] the shape of the result depends"):
            call()


@EVERY
def test_on_a_stream(reduce):
    stream = mx.new_stream(mx.default_device())
    want = reduce(mx.array(DATA), mx.array(IDS), 3).tolist()
    assert reduce(mx.array(DATA), mx.array(IDS), 3, stream=stream).tolist() == want


def test_layouts():
    x = np.arange(24.0, dtype=np.float32).reshape(4, 6)
    ids = np.array([1, 3, 0, 3, 1, 1])
    want = np.zeros((4, 4), np.float32)
    np.add.at(want, ids, x.T[::-1])
    columns = mx.array(np.repeat(ids, 2))[::2]
    np.testing.assert_array_equal(to_numpy(mx.segment_sum(mx.array(x).T[::-1], columns)), want)


BAD = [
    (
        lambda f: f(mx.ones(3), mx.array([0.0, 1.0, 2.0])),
        TypeError,
        "must be integers, not float32",
    ),
    (lambda f: f(mx.ones(3), mx.array([True, False, True])), TypeError, "must be integers"),
    (lambda f: f(mx.ones(3), mx.array([0, 1])), ValueError, "got shapes (2,) and (3,)"),
    (lambda f: f(mx.ones((2, 2)), mx.array([[0, 1], [1, 0]])), ValueError, "got shapes (2, 2)"),
    (lambda f: f(mx.array(1.0), mx.array(0)), ValueError, "got shapes () and ()"),
    (lambda f: f(mx.ones(2), mx.array([0, 1]), -1), ValueError, "must not be negative, got -1"),
    (lambda f: f(mx.ones(2), mx.array([0, 2**62])), (ValueError, OverflowError, MemoryError), ""),
    (lambda f: f(mx.ones(2), mx.array([0, 2**64 - 1])), OverflowError, "too large"),
]


@EVERY
@pytest.mark.parametrize(("call", "kinds", "words"), BAD)
def test_errors(reduce, call, kinds, words):
    with pytest.raises(kinds) as caught:
        mx.eval(call(reduce))
    assert str(caught.value).startswith("[segment_"), caught.value
    assert words in str(caught.value)
