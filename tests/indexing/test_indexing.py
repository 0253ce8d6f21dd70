"""Indexing and assignment against NumPy, on random arrays and random indices."""

import re

import numpy as np
import pytest
import umber.core as mx
from arrays import ALL, assert_close, assert_dtype, carrier_of, represent, to_numpy, to_umber
from hypothesis import assume, given
from hypothesis import strategies as st
from index_expressions import cases, filled, for_umber, is_valid, names_twice


def compare_read(shape, index, dtype="int32"):
    values = filled(shape, dtype)
    want = values[index]
    array = to_umber(values, {"bool": "bool_"}.get(dtype, dtype))
    assert_close(to_numpy(array[for_umber(index)]), want, note=f"{shape}[{index}]")
    # NumPy's arrays are indices too.
    assert_close(to_numpy(array[index]), want, note=f"{shape}[{index}]")


def compare_write(shape, index, number):
    """The selected places take an array of their shape, then its last row, then a number."""
    start = filled(shape)
    selected = start[index].shape
    values = -1 - filled(selected)
    for value in (values, values[..., :1] if values.ndim else values, number):
        want, array = start.copy(), mx.array(start)
        want[index] = value
        given_value = mx.array(value) if isinstance(value, np.ndarray) else value
        array[for_umber(index)] = given_value
        assert_close(to_numpy(array), want, note=f"{shape}[{index}] = …")


@given(cases(), st.sampled_from(["int32", "bool", "uint8", "float16", "float64", "complex64"]))
def test_read(case, dtype):
    assume(is_valid(*case))
    compare_read(*case, dtype)


@given(cases(), st.integers(-9, -1))
def test_write(case, number):
    assume(is_valid(*case))
    compare_write(*case, number)


@given(cases())
def test_augmented_assignment(case):
    """`a[i] += v` reads and sets: a place that is named twice changes once."""
    shape, index = case
    assume(is_valid(shape, index))
    want, array = filled(shape), mx.array(filled(shape))
    want[index] += 5
    array[for_umber(index)] += 5
    want[index] *= 2
    array[for_umber(index)] *= 2
    assert_close(to_numpy(array), want, note=f"{shape}[{index}]")


@given(cases())
def test_gradient_of_a_read_and_a_write(case):
    """The transpose of a read adds up; of a write it reads what was written and clears it."""
    shape, index = case
    assume(is_valid(shape, index))
    umber_index, selected = for_umber(index), np.zeros(shape)[index].shape
    weights = filled(selected, "float32") + 1
    x = mx.array(filled(shape, "float32"))
    got = mx.grad(lambda x: (x[umber_index] * mx.array(weights)).sum())(x)
    want = np.zeros(shape, np.float32)
    np.add.at(want, index, weights)
    assert_close(to_numpy(got), want, note=f"{shape}[{index}]")

    if names_twice(shape, index):
        return
    outer = filled(shape, "float32") + 1

    def written(x, values):
        x = x * 1
        x[umber_index] = values
        return (x * mx.array(outer)).sum()

    got = mx.grad(written, argnums=(0, 1))(x, mx.array(weights))
    kept = outer.copy()
    kept[index] = 0
    assert_close(to_numpy(got[0]), kept, note=f"{shape}[{index}] = …")
    assert_close(to_numpy(got[1]), outer[index], note=f"{shape}[{index}] = …")


def test_errors_of_updates_name_the_index():
    flags = mx.array([True, False])
    with pytest.raises(TypeError, match=r"^\[index\] cannot subtract from a bool array"):
        flags.at[0].subtract(True)
    for name in (*UPDATES, "divide"):
        with pytest.raises(TypeError, match=r"^\[index\] got str"):
            getattr(mx.ones(2).at[0], name)("a")


UPDATES = {
    "add": np.add,
    "subtract": np.subtract,
    "multiply": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
}


@pytest.mark.parametrize("name", UPDATES)
@given(case=cases())
def test_at_counts_every_place(name, case):
    """`x.at[i].add(v)`: a place that is named twice changes twice; `x` itself does not change."""
    shape, index = case
    assume(is_valid(shape, index))
    start = filled(shape)
    array = mx.array(start)
    values = 2 + filled(start[index].shape) % 3
    want = start.copy()
    UPDATES[name].at(want, index, values)
    got = getattr(array.at[for_umber(index)], name)(mx.array(values))
    assert_close(to_numpy(got), want, note=f"{shape}.at[{index}].{name}")
    assert_close(to_numpy(array), start)


def test_at_divide():
    x = mx.array([8.0, 8.0, 8.0])
    assert x.at[mx.array([0, 0, 2])].divide(mx.array([2.0, 2.0, 4.0])).tolist() == [2.0, 8.0, 2.0]


def test_index_kinds():
    """Integers may be Python's, NumPy's or umber's; index arrays any integer dtype."""
    x = mx.arange(12).reshape(3, 4)
    assert x[np.int64(1), np.int32(-1)].item() == 7
    assert x[mx.array(2)].tolist() == [8, 9, 10, 11]
    assert x[mx.array(2), 1].item() == 9
    for name in ("uint8", "int8", "uint16", "int16", "uint32", "int32", "uint64", "int64"):
        assert x[mx.array([2, 0], dtype=getattr(mx, name))].tolist() == [
            [8, 9, 10, 11],
            [0, 1, 2, 3],
        ]
    assert x[[2, 0]].tolist() == [[8, 9, 10, 11], [0, 1, 2, 3]]
    assert x[np.array([2, 0])].tolist() == [[8, 9, 10, 11], [0, 1, 2, 3]]
    assert x[()].tolist() == x.tolist()
    assert x[...].tolist() == x.tolist()
    assert x[None].shape == (1, 3, 4)
    assert x[:, mx.newaxis].shape == (3, 1, 4)


def test_names_of_one_array_see_an_update():
    a = mx.array([1, 2, 3])
    b, taken = a, a[:2]
    b[2] = 0
    assert a.tolist() == [1, 2, 0]
    b[0] += 10
    assert a.tolist() == [11, 2, 0]
    assert taken.tolist() == [1, 2]


def test_updates_keep_the_dtype():
    x = mx.zeros((3,), dtype=mx.float16)
    x[0] = 1
    x[1] = 2.5
    x[2] = mx.array(3.0, dtype=mx.float32)
    assert x.dtype == mx.float16
    assert x.tolist() == [1.0, 2.5, 3.0]
    whole = mx.array([1, 2])
    whole[0] = 7.9
    assert (whole.dtype, whole.tolist()) == (mx.int32, [7, 2])
    x[...] = 4
    assert x.tolist() == [4.0, 4.0, 4.0]
    assert x.at[0].add(0.5).dtype == mx.float16


def test_updates_from_lists_and_numpy():
    x = mx.zeros((2, 3), dtype=mx.int32)
    x[0] = mx.array([1, 2, 3])
    x[1] = np.array([4, 5, 6])
    x[:, 0] = [7, 8]
    assert x.tolist() == [[7, 2, 3], [8, 5, 6]]


def test_gradient_through_updates():
    """What is overwritten has no gradient; what is written has."""

    def function(x, value):
        x = x * 1
        x[mx.array([1])] = 2.0 * value
        x[0:1] += x[2:3]
        return (x * mx.array([1.0, 10.0, 100.0])).sum()

    at = (mx.array([1.0, 2.0, 3.0]), mx.array(4.0))
    gradients = mx.grad(function, argnums=(0, 1))(*at)
    assert gradients[0].tolist() == [1.0, 0.0, 101.0]
    assert gradients[1].item() == 20.0


def test_update_of_the_argument_itself():
    def function(x, places):
        x[places] = 2.0
        return x.sum()

    x = mx.array([1.0, 2.0, 3.0])
    assert mx.grad(function)(x, mx.array([1])).tolist() == [1.0, 0.0, 1.0]


def test_gradient_of_repeated_reads():
    gradient = mx.grad(lambda x: (x[mx.array([0, 0, 2])] * mx.array([1.0, 2.0, 4.0])).sum())
    assert gradient(mx.array([5.0, 6.0, 7.0])).tolist() == [3.0, 0.0, 4.0]


# Reads and writes outside of an array of shape (3, 4).
OUTSIDE = [
    3,
    -4,
    (0, 4),
    (0, -5),
    (slice(None), 4),
    (..., 9),
    np.array([0, 3]),
    np.array([-4]),
    (slice(None), np.array([[0], [4]])),
    (np.array([0, 1]), np.array([0, 4])),
    (1, np.array([-5])),
    np.array([100_000_000]),
    (0, 0, 0),
    (slice(None), slice(None), 0),
]


def write(array, index, value):
    array[index] = value
    mx.eval(array)


@pytest.mark.parametrize("index", OUTSIDE, ids=str)
def test_outside_raises(index):
    x = mx.array(filled((3, 4)))
    with pytest.raises(IndexError, match=r"^\["):
        mx.eval(x[for_umber(index)])
    with pytest.raises(IndexError, match=r"^\["):
        write(x, for_umber(index), 1)


@pytest.mark.parametrize("index", OUTSIDE[:12], ids=str)
def test_outside_raises_in_at(index):
    x = mx.array(filled((3, 4)))
    with pytest.raises(IndexError, match=r"^\["):
        mx.eval(x.at[for_umber(index)].add(1))


@pytest.mark.parametrize(
    "index", [[0, 3], ([0, -4], 1), (slice(None), [[1, 4]]), (0, [4])], ids=str
)
def test_places_in_lists_are_checked_at_once(index):
    x = mx.array(filled((3, 4)))
    with pytest.raises(IndexError, match=r"^\[index\]"):
        x[index]


def test_outside_raises_under_compile_and_vmap():
    x, bad = mx.array([1.0, 2.0, 3.0]), mx.array([0, 3])
    with pytest.raises(IndexError):
        mx.eval(mx.compile(lambda x, i: x[i] * 2)(x, bad))
    with pytest.raises(IndexError):
        mx.eval(mx.vmap(lambda i: x[i])(bad))


def test_bytes_name_no_places():
    for index in (b"a", (slice(None), b"ab"), "a"):
        with pytest.raises(IndexError, match=r"^\[index\] got (bytes|str), expected integers"):
            mx.ones((200, 200))[index]
    assert mx.arange(200)[np.frombuffer(b"ab", np.uint8)].tolist() == [97, 98]


def test_what_an_index_raises_itself_is_told():
    class Moody:
        def __index__(self):
            raise ZeroDivisionError("not today")

    for index in (Moody(), (0, Moody()), slice(Moody())):
        with pytest.raises(ZeroDivisionError, match="not today"):
            mx.ones((3, 3))[index]


@pytest.mark.parametrize("far", [10**30, -(10**30)])
def test_bounds_beyond_64_bits_are_clipped_whoever_says_them(far):
    class Far:
        def __index__(self):
            return far

    assert mx.arange(3)[: Far()].tolist() == list(range(3))[:far] == mx.arange(3)[:far].tolist()


def test_text_names_op_axis_index_and_size():
    x = mx.zeros((3, 4))
    with pytest.raises(IndexError) as caught:
        mx.eval(mx.take(x, mx.array([0, 7]), axis=1))
    text = str(caught.value)
    assert text.startswith("[take]")
    for word in ("axis 1", "7", "4"):
        assert word in text


def test_wrong_shapes_of_values():
    x = mx.zeros((3, 4))
    for index, value in (
        (0, mx.zeros(3)),
        (slice(0, 2), mx.zeros((3, 4))),
        (mx.array([0, 1]), mx.zeros((3, 4))),
    ):
        with pytest.raises(ValueError, match=r"^\["):
            x[index] = value
    assert x.sum().item() == 0.0


def test_large_step_and_bounds():
    x = mx.arange(10)
    big = 2**62
    assert x[::big].tolist() == [0]
    assert x[-big:big].tolist() == list(range(10))
    assert x[big:].tolist() == []
    assert x[::-big].tolist() == [9]


@pytest.mark.parametrize("dtype", ALL)
def test_masks_on_every_dtype(dtype, rng):
    values = represent(rng.integers(0, 2, (4, 3)), dtype)
    mask = np.array([True, False, True, True])
    a = to_umber(values, dtype)
    picked = a[mx.array(mask)]
    assert_dtype(picked, dtype)
    assert_close(to_numpy(picked), values[mask])
    a[mx.array(mask), 1] = to_umber(values[:3, 0], dtype)
    want = values.copy()
    want[mask, 1] = values[:3, 0]
    assert_close(to_numpy(a), want)
    assert want.dtype == carrier_of(dtype)


@pytest.mark.parametrize("count", [2, 4])
def test_values_of_another_number_than_the_mask_picks(count):
    a = mx.arange(6).reshape(2, 3)
    for mask in (a > 2, (a > 2).tolist(), np.array(a) > 2):
        with pytest.raises(ValueError, match=r"^\[index\] cannot broadcast values of shape \("):
            a[mask] = mx.arange(count)
    assert a.tolist() == [[0, 1, 2], [3, 4, 5]]


@pytest.mark.parametrize(("shape", "index"), [((5, 0), 0), ((0,), 0), ((0, 4), 0), ((0, 4), 1)])
def test_masks_of_no_elements_pick_nothing(shape, index, rng):
    """Where the mask is 0 long the array may be longer, as in NumPy."""
    a = rng.standard_normal((3, 5, 4) if index else (5, 4)).astype(np.float32)
    mask = np.zeros(shape, bool)
    place = (slice(None), mask) if index else mask
    ours = (slice(None), mx.array(mask)) if index else mx.array(mask)
    x = mx.array(a)
    assert x[ours].shape == a[place].shape
    x[ours] = 7.0
    x[ours] += 1.0
    np.testing.assert_array_equal(to_numpy(x), a)
    with pytest.raises(IndexError):
        x[mx.zeros((0, 3), mx.bool_)]


@pytest.mark.parametrize(
    ("index", "words"),
    [
        (
            np.array([True, False]),
            "mask of shape (2,) does not match axis 0 of length 3",
        ),
        (
            np.ones((3, 3), bool),
            "mask of shape (3, 3) does not match axis 1 of length 4",
        ),
        ((slice(None), np.array([True])), "mask of shape (1,) does not match axis 1 of length 4"),
        (np.ones((3, 4, 1), bool), "too many indices"),
    ],
)
def test_masks_of_another_shape(index, words):
    a = mx.zeros((3, 4))
    for call in (lambda: a[index], lambda: write(a, index, 1), lambda: a.at[index].add(1)):
        with pytest.raises(IndexError, match=r"^\[index\]") as caught:
            call()
        assert words in str(caught.value)


# The shape of the array, the mask, and shapes of values too many or too few for its places.
COUNTS = [
    ((4,), [1, 0, 1, 0], [(3,), (4,), (9,), (0,)]),
    ((4,), [1, 1, 1, 0], [(2,), (4,), (0,)]),
    ((4,), [0, 0, 0, 0], [(2,), (4,)]),
    ((3, 2), [1, 0, 1], [(3, 2), (4, 2), (3, 1), (0, 2)]),
    ((3, 2), [[1, 0], [1, 1], [0, 0]], [(2,), (4,), (6,)]),
    ((2, 2, 2), [[1, 0], [0, 1]], [(3, 2), (4, 2), (4, 1)]),
]


def assigned(a, mask, values):
    a = a * 1
    a[mask] = values
    return a


# An assignment under a mask, directly and inside of transforms.
ASSIGNMENTS = {
    "now": assigned,
    "compile": mx.compile(assigned),
    "vmap": lambda a, m, v: mx.vmap(assigned)(a[None], m[None], v[None]),
    "vmap over masks": lambda a, m, v: mx.vmap(assigned, in_axes=(None, 0, None))(
        a, mx.stack([mx.ones(m.shape) > 2, m]), v
    ),
    "compile of vmap": lambda a, m, v: mx.compile(mx.vmap(assigned))(a[None], m[None], v[None]),
    "grad of compile": lambda a, m, v: mx.grad(lambda v: mx.compile(assigned)(a, m, v).sum())(v),
}


@pytest.mark.parametrize("name", ASSIGNMENTS)
@pytest.mark.parametrize(("shape", "mask", "wrong"), COUNTS)
def test_masks_and_other_numbers_of_values(name, shape, mask, wrong):
    """An error that tells both numbers, also where the mask has no value yet."""
    a, mask = mx.zeros(shape), mx.array(mask) > 0
    for lengths in wrong:
        # A derivative with respect to no values does not depend on the assignment.
        if name == "grad of compile" and 0 in lengths:
            continue
        with pytest.raises(
            ValueError, match=r"^\[index\] cannot (assign \d+ values|broadcast values)"
        ):
            mx.eval(ASSIGNMENTS[name](a, mask, mx.ones(lengths)))


@pytest.mark.parametrize("transform", [mx.compile, mx.vmap])
def test_masks_without_a_value(transform):
    """A read says why it cannot be; a write whose shape is known works."""
    x, mask = mx.array([[1.0, 2.0, 3.0]] * 2), mx.array([[True, False, True], [False, True, True]])
    with pytest.raises(ValueError, match=r"^\[index\] the number of elements that a boolean"):
        transform(lambda x, m: x[m])(x, mask)

    def scalar(x, m):
        x[m] = 0.0
        return x * 1

    def vector(x, m, v):
        x[m] = v
        return x * 1

    want = np.array(x)
    want[np.array(mask)] = 0
    assert_close(to_numpy(transform(scalar)(x * 1, mask)), want)
    if transform is mx.vmap:
        values = mx.array([[7.0, 8.0], [9.0, 10.0]])
        wrong = mx.array([[7.0, 8.0, 9.0]] * 2)
    else:
        values, wrong = mx.array([7.0, 8.0, 9.0, 10.0]), mx.array([7.0, 8.0, 9.0])
    want[np.array(mask)] = np.array(values).ravel()
    assert_close(to_numpy(transform(vector)(x * 1, mask, values)), want)
    with pytest.raises(ValueError, match=r"^\[index\] cannot assign 3 values to [24] elements"):
        mx.eval(transform(vector)(x * 1, mask, wrong))
    # A mask that is not an argument has a value.
    known = mask[0]
    read = transform(lambda x: x[..., known])(x)
    assert_close(to_numpy(read), np.array(x)[:, np.array(known)])


def test_gradient_through_a_mask_of_the_argument():
    gradient = mx.grad(lambda x: (x[x > 1.5] ** 2).sum())
    assert gradient(mx.array([1.0, 2.0, 3.0])).tolist() == [0.0, 4.0, 6.0]
    tangent = mx.jvp(
        lambda x: x[x > 1.5] * 2, [mx.array([1.0, 2.0, 3.0])], [mx.array([1.0, 1.0, 5.0])]
    )
    assert tangent[1][0].tolist() == [2.0, 10.0]


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32", "int64", "uint64"])
def test_messages_name_what_was_called(dtype):
    a, far = mx.zeros((3, 4)), mx.array([0, 77], dtype=getattr(mx, dtype))
    words = {
        "index": [lambda: a[far], lambda: write(a * 1, far, 1)],
        "add": [lambda: a.at[far].add(1)],
        "take": [lambda: mx.take(a, far, axis=0)],
        "take_along_axis": [lambda: mx.take_along_axis(a, far[:, None], axis=0)],
        "put_along_axis": [lambda: mx.put_along_axis(a, far[:, None], mx.ones((2, 1)), axis=0)],
    }
    for name, calls in words.items():
        for call in calls:
            with pytest.raises(IndexError) as caught:
                mx.eval(call())
            text = str(caught.value)
            assert re.match(
                rf"\[({name}|index)\] index 77 is out of bounds for axis 0 of length 3", text
            ), text


def test_large_unsigned_indices_are_shown_as_they_are():
    far = mx.array([2**64 - 1], dtype=mx.uint64)
    with pytest.raises(IndexError, match="index 18446744073709551615 is out of bounds"):
        mx.eval(mx.zeros(3)[far])


def test_lists_and_tuples_inside_an_index():
    x = filled((3, 4))
    a = mx.array(x)
    for index in (
        [[0, 2], [1, 1]],
        ([0, 2], [1, 3]),
        ((0, 2), slice(None)),
        [True, False, True],
        ([True, False, True], 1),
        [],
        [[]],
        ([], slice(None)),
        True,
        False,
        (True, 0),
        np.True_,
        (np.int8(1), np.array(2)),
    ):
        assert_close(to_numpy(a[index]), x[index], note=str(index))


def test_deleting_elements_is_refused():
    a = mx.zeros(3)
    with pytest.raises(TypeError, match=r"^\[index\] arrays do not support item deletion;"):
        del a[0]


def test_at_divides_exactly_where_nothing_is_named_twice():
    a = mx.array([7.0, 8.0, 9.0])
    assert a.at[0].divide(3)[0].item() == (mx.array(7.0) / 3).item()
    assert mx.array([7, 8, 9]).at[1:].divide(2).tolist() == [7, 4, 4]
    assert a.at[a > 7].divide(2).tolist() == [7.0, 4.0, 4.5]


def test_large_gathers_and_scatters():
    rng = np.random.default_rng(0)
    x, index = rng.normal(size=300_000).astype(np.float32), rng.integers(0, 300_000, 400_000)
    mask = x > 0
    assert_close(to_numpy(mx.array(x)[mx.array(index)]), x[index])
    assert_close(to_numpy(mx.array(x)[mx.array(mask)]), x[mask])
    want, a = x.copy(), mx.array(x)
    want[index] = np.arange(400_000)
    a[mx.array(index)] = mx.arange(400_000)
    assert_close(to_numpy(a), want)


@pytest.mark.parametrize("index", [[5], mx.array([5]), [-4], np.array([7])])
def test_a_write_to_a_place_that_is_not_there_changes_nothing(index):
    x = mx.array([1.0, 2.0, 3.0])
    with pytest.raises(IndexError, match="out of bounds for axis 0 of length 3"):
        x[index] = 1
    with pytest.raises(IndexError, match="out of bounds"):
        x[index] += 1
    assert x.tolist() == [1, 2, 3]


@pytest.mark.parametrize("count", [1, 5000])
@pytest.mark.parametrize("dtype", ["int32", "uint64"])
def test_a_write_to_a_computed_place_that_is_not_there_changes_nothing(count, dtype):
    places = to_umber(np.arange(count) % 3, dtype)
    writes = (
        lambda m, i: m.__setitem__(i, 1),
        lambda m, i: mx.put(m, i, mx.array(1.0)),
        lambda m, i: np.add.at(m, i, 1),
    )
    for write in writes:
        for far in (places + mx.array(3, dtype), to_umber(np.arange(count) % 3 + 3, dtype)):
            m = mx.array([1.0, 2.0, 3.0])
            with pytest.raises(IndexError, match="out of bounds for axis 0 of length 3"):
                write(m, far)
            assert m.tolist() == [1, 2, 3]


def test_a_write_to_a_followed_place_stays_lazy():
    def f(x, i):
        m = mx.zeros(3)
        m[i + 1] = x
        return m

    x, i = mx.array([5.0]), mx.array([1])
    assert mx.compile(f)(x, i).tolist() == [0, 0, 5]
    assert mx.vmap(f)(x[None], i[None]).tolist() == [[0, 0, 5]]
    assert mx.grad(lambda x: f(x, i)[2])(x).tolist() == [1]


def test_a_range_is_a_list_of_indices():
    x = filled((3, 4))
    a = mx.array(x)
    for index in (range(2), range(2, -1, -2), range(0), (range(2), 1), (slice(None), range(1, 3))):
        assert_close(to_numpy(a[index]), x[index], note=str(index))
    a[range(2)] = 0
    assert a[range(2)].sum().item() == 0


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64"])
@pytest.mark.parametrize(
    "index",
    [0, slice(0, 2), [0], [0, 1], [0, 0, 2], [True, False, True]],
    ids=["number", "slice", "one", "two", "repeated", "mask"],
)
def test_integers_are_divided_alike_at_every_index(index, dtype):
    """As by `//`, whichever way the places are named."""
    values = [100, 7, 3] if dtype.startswith("u") else [100, -7, 3]
    if dtype.endswith("64"):
        values[0] = 2**62 + 1
    x = mx.array(np.array(values, dtype))
    for divisor in (2, 1, 0, 3):
        want = np.array(values, dtype)
        for place in np.arange(3)[np.array(index) if isinstance(index, list) else index].flat:
            want[place] = want[place] // divisor if divisor else 0
        got = x.at[mx.array(index) if isinstance(index, list) else index].divide(divisor)
        assert (got.dtype, got.tolist()) == (x.dtype, want.tolist()), divisor


def test_division_by_many_divisors_of_one_place():
    x = mx.array([3e-39, 1.0])
    assert x.at[[0, 0]].divide(mx.array([1e-39, 1.0])).tolist() == pytest.approx([3, 1], rel=1e-5)
    slope = mx.grad(lambda x, d: x.at[mx.array([0, 0])].divide(d).sum(), (0, 1))
    got = slope(mx.array([6.0, 1.0]), mx.array([2.0, 3.0]))
    assert [g.tolist() for g in got] == [
        pytest.approx([1 / 6, 1]),
        pytest.approx([-0.5, -1 / 3]),
    ]
