"""Functions whose shape depends on values: special cases, errors, MLX where it answers."""

import numpy as np
import pytest
import umber.core as mx
from arrays import assert_close, flatten, name_of, to_numpy

NAN = float("nan")


def same(got, want):
    """Both sides as arrays, one or several."""
    got, want = flatten(got), flatten(want)
    assert len(got) == len(want)
    for one, other in zip(got, want, strict=True):
        assert_close(to_numpy(one), np.asarray(other))


@pytest.mark.parametrize("shape", [(0,), (3, 0), (0, 2, 1), (1,)])
def test_nothing_is_found_in_nothing(shape):
    x = np.zeros(shape, np.float32)
    for name in ("nonzero", "argwhere", "flatnonzero", "unique"):
        same(getattr(mx, name)(mx.array(x)), getattr(np, name)(x))
    same(mx.extract(mx.array(x), mx.array(x)), np.extract(x, x))
    assert mx.array(x)[mx.array(x) > 0].shape == (0,)


def test_large_masks():
    x = np.random.default_rng(0).normal(size=(700, 500))
    mask = x > 0.3
    same(mx.nonzero(mx.array(mask)), np.nonzero(mask))
    same(mx.nonzero(mx.array(mask).T), np.nonzero(mask.T))
    same(mx.array(x)[mx.array(mask)], x[mask])


def test_nan_counts_as_true_and_last():
    x = mx.array([NAN, 0.0, -0.0, 1.0, NAN])
    assert mx.flatnonzero(x).tolist() == [0, 3, 4]
    assert mx.argsort(x).tolist() == [1, 2, 3, 0, 4]
    assert mx.argsort(x, descending=True).tolist() == [3, 1, 2, 0, 4]
    assert mx.searchsorted(mx.sort(x), mx.array([NAN, 2.0]), side="left").tolist() == [3, 3]
    assert mx.searchsorted(mx.sort(x), mx.array([NAN, 2.0]), side="right").tolist() == [5, 3]
    same(mx.unique(x), np.array([0.0, 1.0, NAN], np.float32))
    counts = mx.unique(x, return_counts=True)[1]
    assert counts.tolist() == [2, 1, 2]
    assert mx.unique_counts(x).counts.tolist() == [2, 1, 1, 1]
    same(mx.unique(x, equal_nan=False), np.array([0.0, 1.0, NAN, NAN], np.float32))
    assert np.isnan(mx.median(x).item())
    assert np.isnan(mx.topk(x, 2).tolist()).all()
    assert np.isnan(mx.partition(x, 2).tolist()[3:]).all()
    assert not mx.isin(x, x).tolist()[0]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_order_of_complex_numbers_with_nan(dtype, rng):
    """Numbers, then those without an imaginary part, without a real part, and without either."""
    parts = np.array([NAN, 1.0, -np.inf, np.inf, -0.0, 2.5])
    z = np.empty(36, np.complex128)
    z.real, z.imag = np.repeat(parts, 6), np.tile(parts, 6)
    z = rng.permutation(z).astype(dtype)
    x = mx.array(z)
    assert mx.argsort(x).tolist() == np.argsort(z, kind="stable").tolist()
    np.testing.assert_array_equal(np.array(mx.sort(x)), np.sort(z))
    for side in ("left", "right"):
        found = mx.searchsorted(mx.sort(x), x, side=side).tolist()
        assert found == np.searchsorted(np.sort(z), z, side=side).tolist()


def test_named_results():
    found = mx.unique_all(mx.array([[2, 1], [2, 3]]))
    assert found._fields == ("values", "indices", "inverse_indices", "counts")
    assert [part.tolist() for part in found] == [[1, 2, 3], [1, 0, 3], [[1, 0], [1, 2]], [1, 2, 1]]
    assert mx.unique_inverse(mx.array([2, 2]))._fields == ("values", "inverse_indices")
    assert mx.unique_counts(mx.array([2, 2]))._fields == ("values", "counts")


CASES = [
    ([3, 1, 2, 1, 3, 3], 5, None),
    ([3, 1, 2, 1, 3, 3], 2, None),
    ([3, 1, 2, 1, 3, 3], 5, 9),
    ([[3, 1], [1, 2]], 4, None),
    ([NAN, 1.0, 0.0, -0.0, NAN], 5, None),
    ([True, False, True], 3, None),
    ([1 + 1j, 1 - 1j, 1 + 1j], 3, None),
    ([4], 0, None),
]


@pytest.mark.parametrize(("values", "size", "fill"), CASES, ids=str)
def test_unique_of_a_size_is_that_of_mlx(values, size, fill):
    reference = pytest.importorskip("mlx.core")
    options = {"return_index": True, "return_inverse": True, "return_counts": True}
    got = mx.unique(mx.array(values), size, fill_value=fill, **options)
    want = reference.unique(reference.array(values), size, fill_value=fill, **options)
    for one, other in zip(got, want, strict=True):
        assert name_of(one.dtype) == str(other.dtype).rpartition(".")[2].replace("bool", "bool_")
        assert_close(to_numpy(one), np.array(other))


def test_unique_of_a_size_without_values():
    x = mx.array([[3, 1, 3], [2, 2, 2]])
    both = [mx.unique(row, 2).tolist() for row in x]
    assert mx.vmap(lambda row: mx.unique(row, 2))(x).tolist() == both == [[1, 3], [2, 2]]
    assert mx.compile(lambda row: mx.unique(row, 4, fill_value=0))(x).tolist() == [1, 2, 3, 0]
    counts = mx.vmap(lambda row: mx.unique(row, 2, return_counts=True)[1])(x)
    assert counts.tolist() == [[1, 2], [3, 0]]
    with pytest.raises(
        ValueError, match=r"^\[unique\] size=2 of an empty array requires a fill_value"
    ):
        mx.unique(mx.zeros(0), 2)
    assert mx.unique(mx.zeros(0), 2, fill_value=5).tolist() == [5.0, 5.0]


DEPENDENT = {
    "nonzero": lambda x: mx.nonzero(x)[0],
    "flatnonzero": mx.flatnonzero,
    "argwhere": mx.argwhere,
    "extract": lambda x: mx.extract(x > 1, x),
    "compress": lambda x: mx.compress(x > 1, x),
    "unique": mx.unique,
    "bincount": lambda x: mx.bincount(x.astype(mx.int32)),
    "repeat": lambda x: mx.repeat(x, x.astype(mx.int32)),
    "delete": lambda x: mx.delete(x, x.astype(mx.int32)),
    "insert": lambda x: mx.insert(x, x.astype(mx.int32), 0),
}


@pytest.mark.parametrize("name", DEPENDENT)
@pytest.mark.parametrize("transform", [mx.vmap, mx.compile])
def test_shapes_that_depend_on_values_are_refused_without_them(name, transform):
    x = mx.array([[1.0, 2.0, 1.0]] * 2) if transform is mx.vmap else mx.array([1.0, 2.0, 1.0])
    with pytest.raises(
        ValueError, match=rf"^\[{name}\] the shape of the result .* vmap or compile"
    ):
        transform(DEPENDENT[name])(x)
    # Inside grad there are values.
    if name in ("extract", "compress", "unique", "repeat", "delete", "insert"):
        gradient = mx.grad(lambda x: DEPENDENT[name](x).sum())(mx.array([1.0, 2.0, 1.0]))
        assert gradient.shape == (3,)


def test_checks_are_skipped_without_values():
    """What is only checked does not hinder a transformation."""
    bins, x = mx.array([[0.0, 1.0], [1.0, 0.0]]), mx.array([[0.5, 2.0], [0.5, 2.0]])
    want = [[1, 2], [1, 0]]
    assert mx.vmap(mx.digitize)(x, bins).tolist() == want
    places = mx.vmap(lambda i: mx.stack(mx.unravel_index(i, (2, 3))))(mx.array([[5], [2]]))
    assert places.tolist() == [[[1], [2]], [[0], [2]]]
    with pytest.raises(IndexError, match=r"^\[choose\]"):
        mx.eval(mx.compile(lambda i: mx.choose(i, [x, x]))(mx.array([0, -1])))
    counts = mx.vmap(lambda x: mx.histogram(x, 2)[0])(mx.array([[0.0, 0.1, 1.0], [5.0, 6.0, 7.0]]))
    assert counts.tolist() == [[2, 1], [1, 2]]


def test_histograms_as_numpy_has_them():
    rng = np.random.default_rng(3)
    for x in (
        rng.normal(size=500).astype(np.float32),
        rng.integers(-9, 9, (20, 20)),
        np.ones(4),
        np.zeros(0),
    ):
        for options in (
            {},
            {"bins": 7},
            {"bins": [-1, 0, 0, 2]},
            {"range": (-1, 1)},
            {"density": True},
        ):
            if options.get("density") and x.size == 0:
                continue
            got, want = mx.histogram(mx.array(x), **options), np.histogram(x, **options)
            np.testing.assert_allclose(to_numpy(got[1]), want[1], rtol=1e-6, atol=1e-6)
            if x.dtype.kind == "f":
                # Edges in float32 may move an element that lies on one.
                assert abs(to_numpy(got[0]).sum() - want[0].sum()) <= 1e-3 * max(want[0].sum(), 1)
            else:
                np.testing.assert_allclose(to_numpy(got[0]), want[0], rtol=1e-6)
    x = mx.array([0.0, 1.0, NAN, 5.0])
    assert mx.histogram(x, mx.array([0.0, 1.0, 2.0]))[0].tolist() == [1, 1]


@pytest.mark.parametrize(("dtype", "scale"), [("float32", 3e38), ("float64", 1.7e308)])
@pytest.mark.parametrize("options", [{}, {"bins": 1}, {"bins": 4}, {"bins": [-1, -0.5, 1]}])
def test_histograms_of_wide_ranges(dtype, scale, options):
    """Edges whose distance is no number."""
    x = np.array([-1, -0.43, 0.01, 0.33, 1])
    wide = dict(options)
    if isinstance(options.get("bins"), list):
        wide["bins"] = (np.array(options["bins"]) * scale).astype(dtype)
    for more, limits in (({}, {}), ({}, {"range": (-scale, scale)}), ({"density": True}, {})):
        got = mx.histogram(mx.array((x * scale).astype(dtype)), **wide, **more, **limits)
        want = np.histogram(x, **options, **more)
        np.testing.assert_allclose(to_numpy(got[1]) / scale, want[1], rtol=1e-6, atol=1e-6)
        counts = want[0] / scale if more else want[0]
        np.testing.assert_allclose(to_numpy(got[0]), counts, rtol=1e-5)
    edges = mx.histogram_bin_edges(mx.zeros((1,), mx.float32), 4, (-3e38, 3e38))
    np.testing.assert_allclose(to_numpy(edges), np.linspace(-3e38, 3e38, 5), rtol=1e-6)


def test_searching_compares_integers_exactly():
    large = 2**24
    sorted_ = mx.array([large, large + 1, large + 2])
    assert mx.searchsorted(sorted_, mx.array([large + 2.0, large + 4.0])).tolist() == [2, 3]
    assert mx.searchsorted(sorted_, large + 2).item() == 2
    assert mx.isin(mx.array([2**53 + 1]), mx.array([2**53])).tolist() == [False]
    assert mx.searchsorted(mx.zeros(0), mx.array([1.0])).tolist() == [0]


def test_changes_in_place():
    a = mx.zeros((2, 3))
    alias = a
    assert mx.put(a, [0, -1], [1, 2]) is None
    assert alias.tolist() == [[1, 0, 0], [0, 0, 2]]
    mx.place(a, a == 0, [7, 8])
    assert alias.tolist() == [[1, 7, 8], [7, 8, 2]]
    mx.putmask(a, mx.array([[True, False, False]] * 2), [0, 1, 2, 3, 4, 5])
    assert alias.tolist() == [[0, 7, 8], [3, 8, 2]]


def test_indices_of_index_functions():
    for function in (
        lambda: mx.tril_indices(4)[0],
        lambda: mx.triu_indices(4)[1],
        lambda: mx.diag_indices(2)[0],
        lambda: mx.unravel_index(mx.array([3]), (2, 2))[0],
        lambda: mx.ravel_multi_index((mx.array([1]), mx.array([0])), (2, 2)),
        lambda: mx.digitize(mx.array([0.5]), mx.array([0.0, 1.0])),
        lambda: mx.lexsort([mx.array([1, 0])]),
    ):
        assert function().dtype == mx.uint32
    a = mx.arange(16).reshape(4, 4)
    assert a[mx.diag_indices(4)].tolist() == [0, 5, 10, 15]
    assert a[mx.ix_([0, 2], [1, 3])].tolist() == [[1, 3], [9, 11]]
    assert a[mx.triu_indices(4, 2)].tolist() == [2, 3, 7]


BAD = [
    (lambda: mx.nonzero(mx.array(1)), ValueError, "[nonzero]"),
    (lambda: mx.where(mx.array([True]), 1), TypeError, "[where]"),
    (lambda: mx.extract(mx.array([False, True]), mx.array([1])), IndexError, "[extract]"),
    (lambda: mx.compress(mx.zeros((2, 2)), mx.zeros(2)), ValueError, "[compress]"),
    (
        lambda: mx.compress(mx.array([False, True]), mx.zeros((1, 2)), axis=0),
        IndexError,
        "[compress]",
    ),
    (lambda: mx.searchsorted(mx.zeros((2, 2)), mx.zeros(2)), ValueError, "[searchsorted]"),
    (lambda: mx.searchsorted(mx.zeros(2), mx.zeros(2), side="x"), ValueError, "[searchsorted]"),
    (lambda: mx.searchsorted(mx.zeros(2), 1.0, sorter=mx.array([0])), ValueError, "[searchsorted]"),
    (lambda: mx.digitize(mx.zeros(2), mx.array([0.0, 2.0, 1.0])), ValueError, "[digitize]"),
    (lambda: mx.digitize(mx.zeros(2), mx.zeros((2, 2))), ValueError, "[digitize]"),
    (lambda: mx.unique(mx.zeros(2), -1), ValueError, "[unique]"),
    (lambda: mx.unique(mx.zeros(2), True), TypeError, ""),
    (lambda: mx.intersect1d(mx.zeros(2), "a"), (TypeError, ValueError), ""),
    (lambda: mx.bincount(mx.array([-1])), ValueError, "[bincount]"),
    (lambda: mx.bincount(mx.array([0.5])), ValueError, "[bincount]"),
    (lambda: mx.bincount(mx.array([[1]])), ValueError, "[bincount]"),
    (lambda: mx.bincount(mx.array([1]), weights=mx.zeros(2)), ValueError, "[bincount]"),
    (lambda: mx.bincount(mx.array([1]), minlength=-1), ValueError, "[bincount]"),
    (lambda: mx.histogram(mx.array([NAN, 1.0])), ValueError, "[histogram]"),
    (lambda: mx.histogram(mx.zeros(2), 0), ValueError, "[histogram]"),
    (lambda: mx.histogram(mx.zeros(2), "many"), ValueError, "[histogram]"),
    (lambda: mx.histogram(mx.zeros(2), [1, 0]), ValueError, "[histogram]"),
    (lambda: mx.histogram(mx.zeros(2), range=(1, 0)), ValueError, "[histogram]"),
    (lambda: mx.histogram(mx.zeros(2), weights=mx.zeros(3)), ValueError, "[histogram]"),
    (lambda: mx.histogram(mx.zeros(2, mx.complex64)), TypeError, "[histogram]"),
    (lambda: mx.histogram_bin_edges(mx.zeros(2), -1), ValueError, "[histogram_bin_edges]"),
    (lambda: mx.lexsort([]), ValueError, "[lexsort]"),
    (lambda: mx.lexsort([mx.zeros(2), mx.zeros(3)]), ValueError, "[lexsort]"),
    (lambda: mx.select([mx.array([1])], [mx.zeros(1)]), TypeError, "[select]"),
    (lambda: mx.select([], []), ValueError, "[select]"),
    (lambda: mx.choose(mx.array([2]), [1, 2]), ValueError, "[choose]"),
    (lambda: mx.choose(mx.array([-1]), [1, 2]), ValueError, "[choose]"),
    (lambda: mx.choose(mx.array([0]), [1, 2], mode="x"), ValueError, "[choose]"),
    (lambda: mx.choose(mx.array([0]), []), ValueError, "[choose]"),
    (lambda: mx.eval(put_into(mx.zeros(2), [2], 1)), IndexError, "["),
    (lambda: mx.put(mx.zeros(2), [0.5], 1), TypeError, "[put]"),
    (lambda: mx.place(mx.zeros(2), mx.array([True]), 1), ValueError, "[place]"),
    (lambda: mx.place(mx.zeros(1), mx.array([True]), []), ValueError, "[place]"),
    (lambda: mx.putmask(mx.zeros(2), mx.array([True]), 1), ValueError, "[putmask]"),
    (lambda: mx.delete(mx.zeros(3), 3), IndexError, "[delete]"),
    (lambda: mx.delete(mx.zeros(3), [True]), ValueError, "[delete]"),
    (lambda: mx.delete(mx.zeros(3), [[1]]), ValueError, "[delete]"),
    (lambda: mx.delete(mx.zeros(3), None), IndexError, "[delete]"),
    (lambda: mx.insert(mx.zeros(3), 4, 1), IndexError, "[insert]"),
    (lambda: mx.insert(mx.zeros(3), [0, 1], mx.zeros(3)), ValueError, "[insert]"),
    (lambda: mx.append(mx.zeros((2, 2)), mx.zeros((3, 3)), axis=0), ValueError, "[append]"),
    (lambda: mx.resize(mx.zeros(3), -1), ValueError, "[resize]"),
    (lambda: mx.repeat(mx.zeros(3), mx.array([1, 2])), ValueError, "[repeat]"),
    (lambda: mx.repeat(mx.zeros(2), mx.array([1, -2])), ValueError, "[repeat]"),
    (lambda: mx.repeat(mx.zeros(2), mx.array([1.0, 2.0])), TypeError, "[repeat]"),
    (lambda: mx.repeat(mx.zeros(2), mx.array([2**62, 2**62])), (ValueError, OverflowError), "["),
    (lambda: mx.ix_(mx.zeros((2, 2))), ValueError, "[ix_]"),
    (lambda: mx.ix_(mx.zeros(2)), TypeError, "[ix_]"),
    (lambda: mx.tril_indices(-1), ValueError, "["),
    (lambda: mx.triu_indices(2, 0, -3), ValueError, "["),
    (lambda: mx.diag_indices(-2), ValueError, "["),
    (lambda: mx.indices((2, -1)), ValueError, "[indices]"),
    (lambda: mx.unravel_index(mx.array([6]), (2, 3)), ValueError, "[unravel_index]"),
    (lambda: mx.unravel_index(mx.array([0.5]), (2, 3)), TypeError, "[unravel_index]"),
    (lambda: mx.ravel_multi_index((mx.array([2]),), (2,)), ValueError, "[ravel_multi_index]"),
    (lambda: mx.ravel_multi_index((mx.array([0]),), (2, 2)), ValueError, "[ravel_multi_index]"),
    (lambda: mx.partition(mx.zeros(3), 3), ValueError, "[partition]"),
    (lambda: mx.partition(mx.zeros(3), [0, -4]), ValueError, "[partition] kth -4 is out of bounds"),
    (lambda: mx.argpartition(mx.zeros(3), (3, 0)), ValueError, "[argpartition] kth 3 is out of"),
    (lambda: mx.partition(mx.zeros(3), []), ValueError, "[partition] kth must have at least one"),
    (lambda: mx.argpartition(mx.zeros(3), ()), ValueError, "[argpartition] kth must have at least"),
    (lambda: mx.partition(mx.zeros(3), True), TypeError, "[partition] kth: got bool"),
    (lambda: mx.argpartition(mx.zeros(3), False), TypeError, "[argpartition] kth: got bool"),
    (lambda: mx.partition(mx.zeros(3), [0, True]), TypeError, "[partition] kth: got bool"),
    (lambda: mx.partition(mx.zeros(3), 1.0), TypeError, "[partition] kth: got "),
    (lambda: mx.partition(mx.zeros(3), [[0, 1]]), TypeError, "[partition] kth: got "),
    (lambda: mx.zeros(3).partition(True), TypeError, "[partition] kth: got bool"),
    (lambda: mx.zeros(3).argpartition([0, True]), TypeError, "[argpartition] kth: got"),
    (lambda: mx.topk(mx.zeros(3), 4), ValueError, "[topk]"),
]


def put_into(a, places, values):
    mx.put(a, places, values)
    return a


@pytest.mark.parametrize(("call", "kinds", "words"), BAD)
def test_errors(call, kinds, words):
    with pytest.raises(kinds) as caught:
        call()
    assert str(caught.value).startswith(words), caught.value


def test_partitions_of_long_rows():
    x = np.random.default_rng(2).integers(0, 50, (3, 5000)).astype(np.int32)
    for kth in (0, 17, 4999, -1):
        got = to_numpy(mx.partition(mx.array(x), kth, axis=1))
        same(np.sort(got, 1), np.sort(x, 1))
        same(got[:, kth], np.sort(x, 1)[:, kth])
        assert (got[:, : kth % 5000] <= got[:, kth % 5000, None]).all()
        places = to_numpy(mx.argpartition(mx.array(x), kth, axis=1))
        picked = np.take_along_axis(x, places, 1)
        same(np.sort(picked, 1), np.sort(x, 1))
        same(picked[:, kth], got[:, kth])
    same(mx.topk(mx.array(x), 9), np.sort(x, 1)[:, -9:])


def check_partitioned(got, x, kths):
    """Elements at the positions are those of a sort, and separate the smaller from the larger."""
    want = np.sort(x, 1)
    same(np.sort(got, 1), want)
    for kth in kths:
        kth %= x.shape[1]
        same(got[:, kth], want[:, kth])
        assert not (got[:, :kth] > got[:, kth, None]).any()
        assert not (got[:, kth:] < got[:, kth, None]).any()


@pytest.mark.parametrize(
    "kths",
    [
        [3],
        (0, 5),
        [2, 2],
        [-1, 0, 5, 2],
        range(9),
        np.array([1, 4], np.uint8),
        mx.array([7, -2]),
        [np.int64(6), 1],
    ],
    ids=repr,
)
def test_partitions_about_several_positions(kths, rng):
    x = rng.integers(0, 6, (4, 9)).astype(np.float32)
    x[1, 3] = np.nan
    numbers = [int(kth) for kth in kths]
    a = mx.array(x)
    check_partitioned(to_numpy(mx.partition(a, kths, axis=1)), x, numbers)
    places = to_numpy(mx.argpartition(a, kths, axis=1))
    assert places.dtype == np.uint32
    check_partitioned(np.take_along_axis(x, places, 1), x, numbers)
    check_partitioned(to_numpy(mx.partition(a[:, ::-1].T, kths, axis=0).T), x, numbers)
    check_partitioned(to_numpy(mx.partition(a, kths, axis=None))[None], x.reshape(1, -1), numbers)
    same(a.argpartition(kths, 1), places)
    same(mx.compile(lambda a: mx.partition(a, kths))(a), mx.partition(a, kths))
    same(mx.vmap(lambda a: mx.partition(a, kths))(a), mx.partition(a, kths, axis=1))
    in_place = mx.array(x)
    assert in_place.partition(kths) is in_place
    same(in_place, mx.partition(a, kths))


def test_derivatives_of_partitions_about_several_positions():
    x, weights = mx.array([3.0, 1.0, 2.0, 5.0, 4.0]), mx.array([1.0, 10.0, 100.0, 1000.0, 10000.0])
    for kths in ([0, 1, 2, 3], [-1, 0, 3, 2]):
        gradient = mx.grad(lambda x, kths=kths: (mx.partition(x, kths) * weights).sum())(x)
        assert gradient.tolist() == [100.0, 1.0, 10.0, 10000.0, 1000.0]
        _, tangents = mx.jvp(lambda x, kths=kths: mx.partition(x, kths), (x,), (weights,))
        assert tangents[0].tolist() == [10.0, 100.0, 1.0, 10000.0, 1000.0]


@pytest.mark.parametrize("dtype", ["int32", "uint32", "int64", "float64"])
def test_no_integer_falls_out_of_a_histogram(dtype, rng):
    for bins in (1, 2, 4, 7):
        for _ in range(20):
            a = rng.integers(0, 2**31, 50).astype(dtype)
            counts, edges = mx.histogram(mx.array(a), bins=bins)
            want, want_edges = np.histogram(a, bins=bins)
            assert counts.tolist() == want.tolist()
            assert edges.dtype == (mx.float64 if dtype == "float64" else mx.float32)
            np.testing.assert_allclose(to_numpy(edges), want_edges, rtol=2e-7)
    close = mx.array(np.array([2**31 - 1, 2**31 - 63], dtype="uint32"))
    assert mx.histogram(close, bins=4)[0].tolist() == [1, 0, 0, 1]


@pytest.mark.parametrize("find", [mx.argmax, mx.argmin])
def test_the_first_of_complex_numbers_that_are_none(find):
    numbers = [1 + 1j, complex(1, NAN), complex(NAN, 2), complex(NAN, NAN)]
    for order in ([0, 1, 2, 3], [2, 0, 3, 1], [0, 3, 2, 1]):
        a = np.array([numbers[place] for place in order], np.complex64)
        assert find(mx.array(a)).item() == np.flatnonzero(np.isnan(a))[0]
