"""The array class against MLX's: every member, with MLX's parameters; and Python's protocols."""

import abc
import gc
import inspect
import re
import sys
import weakref

import numpy as np
import pytest
import umber.array_api as xp
import umber.core as mx
from arrays import ALL, dtype_of

# Python makes them of `__or__` and the like, or they are a detail of the binding.
OF_THE_BINDING = {"__module__", "__doc__", "__dict__", "__weakref__"}


def oracle():
    return pytest.importorskip("mlx.core")


def members(cls):
    return {name for name in dir(cls) if name not in OF_THE_BINDING}


def test_every_member_of_mlx_is_there():
    missing = members(oracle().array) - members(mx.array)
    assert not missing, sorted(missing)


def parameters_of_mlx(text: str) -> list[str]:
    """Parameter names of the first signature in one of MLX's docstrings."""
    inside = re.search(r"\((.*)\) ->", text.split("\n", 1)[0])
    names, depth, current = [], 0, ""
    for letter in (inside.group(1) if inside else "") + ",":
        depth += (letter in "[(") - (letter in "])")
        if letter == "," and depth == 0:
            names.append(current.split(":")[0].split("=")[0].strip())
            current = ""
        else:
            current += letter
    return [name for name in names if name and name not in ("self", "/", "*", "stream")]


def test_methods_take_the_parameters_of_mlx():
    theirs = oracle().array
    for name in sorted(members(theirs)):
        method = getattr(theirs, name)
        if name.startswith("_") or not callable(method) or not method.__doc__:
            continue
        wanted = parameters_of_mlx(method.__doc__)
        if any(name.startswith("*") or name == "arg" for name in wanted):
            continue
        ours = [p for p in inspect.signature(getattr(mx.array, name)).parameters if p != "self"]
        assert [p for p in ours if p != "stream"][: len(wanted)] == wanted, name


def test_divmod_gives_what_python_and_mlx_give():
    """The builtin a tuple, the function a list."""
    x = mx.array([7, -7])
    assert isinstance(divmod(x, 2), tuple)
    assert [part.tolist() for part in divmod(x, 2)] == [[3, -4], [1, 1]]
    assert [part.tolist() for part in divmod(10, mx.array([3, 4]))] == [[3, 2], [1, 2]]
    assert isinstance(mx.divmod(x, 2), list)
    with pytest.raises(TypeError):
        divmod(x, "a")


def test_old_division_operators():
    x = mx.array([1.0, 2.0])
    assert x.__div__(2).tolist() == [0.5, 1.0]
    assert x.__rdiv__(2).tolist() == [2.0, 1.0]


@pytest.mark.parametrize("name", [n for n in ALL if n != "bfloat16"])
def test_bytes(name):
    values = np.array([[0, 1, 1], [1, 0, 1]]).astype(name.rstrip("_"))
    x = mx.array(values)
    assert bytes(x) == values.tobytes()
    assert bytes(x.T) == values.T.tobytes()
    assert bytes(mx.zeros((0,))) == b""


def test_format():
    """A 0-d array is formatted as its number; others only without a format."""
    assert f"{mx.array(3)}" == "3"
    assert f"{mx.array(2.5):.3f}" == "2.500"
    assert f"{mx.array(True)}" == "True"
    assert f"{mx.array([3])}" == "array([3], dtype=int32)"
    with pytest.raises(TypeError, match=r"^\[format\] "):
        f"{mx.array([1.5]):.2f}"


def test_namespace():
    assert mx.array(1).__array_namespace__() is xp
    assert mx.array(1).__array_namespace__("2025.12") is xp
    with pytest.raises(ValueError, match=r"^\[__array_namespace__\] "):
        mx.array(1).__array_namespace__(api_version="1066.10")


@pytest.mark.covers("ArrayLike")
def test_array_like():
    assert np.array(mx.ArrayLike([1, 2])).tolist() == [1, 2]
    assert mx.ArrayLike(3).object == 3
    with pytest.raises(TypeError, match=r"^\[ArrayLike\] "):
        mx.ArrayLike("text")


FOREIGN = [None, "text", object(), {}, {1}, print, Ellipsis, ["a"], [None], float]


@pytest.mark.parametrize("other", FOREIGN, ids=range(len(FOREIGN)))
def test_comparison_with_what_is_no_array(other):
    """`==` is False and `!=` True, from both sides; orders are a TypeError."""
    x = mx.array([1, 2])
    assert (x == other) is False
    assert (x != other) is True
    assert (other == x) is False
    with pytest.raises(TypeError):
        x < other  # noqa: B015


@pytest.mark.parametrize("name", ["uint8", "int32", "int64", "uint64", "bool_"])
def test_comparison_with_integers_out_of_range(name):
    """Every element is below what is too large for the dtype, and above what is too small."""
    x = mx.array([0, 1], dtype=dtype_of(name))
    for huge in (2**64, 2**100):
        assert (x == huge).tolist() == [False, False]
        assert (x != huge).tolist() == [True, True]
        assert (x < huge).tolist() == [True, True]
        assert (x >= huge).tolist() == [False, False]
        assert (x > -huge).tolist() == [True, True]
        assert (x <= -huge).tolist() == [False, False]
    assert (mx.array([200], dtype=mx.uint8) == 300).tolist() == [False]
    with pytest.raises(ValueError, match=r"300 does not fit uint8 \(0\.\.255\)"):
        mx.array([1], dtype=mx.uint8) + 300


VIEWS = [
    ("float32", "int32"),
    ("float32", "uint8"),
    ("float32", "complex64"),
    ("int16", "float16"),
    ("uint8", "float64"),
    ("complex128", "uint32"),
]


@pytest.mark.parametrize(("source", "target"), VIEWS, ids=str)
def test_view_is_numpys(source, target):
    values = np.arange(48).reshape(3, 16).astype(source)
    x = mx.array(values)
    for array, want in ((x, values), (x[:, ::-1], values[:, ::-1].copy()), (x[1:], values[1:])):
        got = array.view(dtype_of(target))
        assert got.dtype == dtype_of(target)
        assert np.array_equal(np.asarray(got), want.view(target), equal_nan=True)
    batched = mx.vmap(lambda row: row.view(dtype_of(target)))(x)
    assert np.array_equal(np.asarray(batched), values.view(target), equal_nan=True)


def test_view_of_unaligned_memory():
    """Memory aligned for bytes only is copied, not read as it lies."""
    raw = np.arange(33, dtype=np.uint8)
    x = mx.asarray(raw[1:])
    assert np.asarray(x.view(mx.float64)).tobytes() == raw[1:].tobytes()
    assert mx.zeros((0,), dtype=mx.uint8).view(mx.float64).shape == (0,)


def test_view_refuses_what_does_not_fit():
    with pytest.raises(ValueError, match=r"^\[view\] cannot view shape \(3,\) of int8 as int16:"):
        mx.zeros((3,), dtype=mx.int8).view(mx.int16)
    with pytest.raises(ValueError, match=r"^\[view\] cannot view a 0-d array of float32 as int16"):
        mx.array(1.5).view(mx.int16)
    with pytest.raises(ValueError, match=r"^\[view\] bit patterns have no derivative; astype"):
        mx.grad(lambda x: x.view(mx.int32).astype(mx.float32).sum())(mx.ones(2))


def test_sign_of_nan_is_printed_as_mlx_prints_it():
    bits = np.array([0x7FC00000, 0xFFC00000, 0x80000000], np.uint32)
    x = mx.array(bits).view(mx.float32)
    assert repr(x) == "array([nan, -nan, -0], dtype=float32)"
    theirs = oracle()
    assert repr(x) == repr(theirs.array(bits).view(theirs.float32))
    pair = mx.array(np.array([0xFFC00000, 0xFFC00000], np.uint32)).view(mx.complex64)
    other = theirs.array(np.array([0xFFC00000, 0xFFC00000], np.uint32)).view(theirs.complex64)
    assert repr(pair) == repr(other)


def test_subclass():
    """A class of a program's own is an array everywhere; results of functions are plain arrays."""

    class Named(mx.array):
        def double(self):
            return self * 2

    x = Named([1.0, 2.0])
    x.name = "x"
    assert (x.name, x.tolist()) == ("x", [1.0, 2.0])
    assert isinstance(x, mx.array)
    assert type(x.double()) is mx.array
    assert x.double().tolist() == [2.0, 4.0]
    assert mx.grad(lambda x: mx.square(x).sum())(x).tolist() == [2.0, 4.0]
    x[0] = 5
    assert x.tolist() == [5.0, 2.0]


def test_classes_made_of_array_keep_what_python_gives_them():
    class Slotted(mx.array):
        __slots__ = ("note",)

    class Abstract(mx.array, metaclass=abc.ABCMeta):
        @abc.abstractmethod
        def missing(self): ...

    x = Slotted(np.arange(3))
    x.note = "kept"
    assert (x.note, x.tolist(), type(x)) == ("kept", [0, 1, 2], Slotted)
    with pytest.raises(TypeError, match="abstract"):
        Abstract([1.0])
    with pytest.raises(ValueError, match=r"^\[array\]"):
        Slotted([[1.0], [1.0, 2.0]])


@pytest.mark.parametrize("few", [True, False], ids=["few", "many"])
def test_objects_of_results_come_and_go(few):
    """They can be referred to weakly, and when they are gone nothing of them is held."""
    x = mx.ones((4 if few else 5000,))
    mx.eval(x)
    makers = [
        lambda: x + x,
        lambda: x[0],
        lambda: mx.array([1.0, 2.0]),
        lambda: mx.exp(x),
        lambda: mx.asarray(np.ones(3)),
    ]
    for make in makers:
        made = make()
        gone = weakref.ref(made)
        assert gone() is made
        del made
        assert gone() is None
    gc.collect()
    before = sys.getrefcount(mx.array)
    for make in makers:
        for _ in range(100):
            make()
    gc.collect()
    assert sys.getrefcount(mx.array) < before + 10


def by_rows(function, *operands):
    """What comes of a function of arrays, and of rows too short to be recorded in one step."""

    def outcome(*operands):
        try:
            result = function(*operands)
        except TypeError as error:
            return str(error)
        return result.dtype, result.shape, np.array(result.astype(mx.complex64)).tolist()

    whole = mx.broadcast_arrays(*operands)
    rows = [outcome(*(operand[i] for operand in whole)) for i in range(len(whole[0]))]
    if not isinstance(rows[0], str):
        rows = rows[0][0], whole[0].shape, [row[2] for row in rows]
    else:
        rows = rows[0]
    return outcome(*operands), rows


DTYPES = ["bool_", "int8", "uint32", "int64", "float16", "bfloat16", "float32", "complex64"]


@pytest.mark.parametrize(
    "name", ["add", "subtract", "multiply", "divide", "less", "equal", "bitwise_xor", "power"]
)
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "shapes",
    [
        [(3, 500), (3, 500)],
        [(3, 500), (500,)],
        [(3, 1), (3, 500)],
        [(3, 1), (1, 500)],
        [(500,), (3, 1)],
        [(), (3, 500)],
        [(3, 1, 1, 2, 1, 100), (2, 1, 2, 1)],
    ],
    ids=str,
)
def test_operators_recorded_in_one_step_are_those_of_rows(name, dtype, shapes):
    dtype = getattr(mx, dtype)
    rng = np.random.default_rng(3)
    values = [rng.integers(0, 2 if dtype == mx.bool_ else 4, shape) for shape in shapes]
    x, y = (mx.array(part).astype(dtype) for part in values)
    mx.eval(x, y)
    direct, rows = by_rows(getattr(mx, name), x, y)
    assert str(direct) == str(rows)


@pytest.mark.parametrize(
    "name",
    "abs bitwise_invert ceil exp isnan logical_not log1p negative sign sin sqrt square".split(),
)
@pytest.mark.parametrize("dtype", DTYPES)
def test_functions_recorded_in_one_step_are_those_of_rows(name, dtype):
    dtype = getattr(mx, dtype)
    x = mx.array(np.random.default_rng(3).integers(0, 4, (3, 500))).astype(dtype)
    mx.eval(x)
    direct, rows = by_rows(getattr(mx, name), x)
    assert str(direct) == str(rows)


def test_shapes_that_do_not_meet_are_refused_by_large_arrays_too():
    with pytest.raises(ValueError, match=r"^\[add\] shapes \(3, 500\) and \(2, 500\) cannot"):
        mx.ones((3, 500)) + mx.ones((2, 500))
    assert (mx.ones((0, 1)) * mx.ones((1, 2000))).shape == (0, 2000)


def test_operators_recorded_in_one_step_are_followed_and_see_writers():
    x = mx.ones((2000,))
    gradient = mx.grad(lambda x, y: (x * y + (x - y)).sum())(x, x * 3)
    assert gradient[0].item() == 4.0
    assert mx.grad(lambda x: (3.0 - x * 2.0).sum())(x)[0].item() == -2.0
    row = mx.full((1, 2000), 2.0)
    gradient = mx.grad(lambda x, y: (mx.negative(x) * y).sum(), argnums=(0, 1))(
        mx.ones((3, 1)), row
    )
    assert gradient[0].tolist() == [[-4000.0]] * 3
    assert gradient[1][0, 0].item() == -3.0
    assert mx.vmap(lambda a, b: a + b)(mx.ones((3, 2000)), mx.ones((3, 2000))).shape == (3, 2000)
    memory = np.ones(2000, np.float32)
    shared = mx.asarray(memory)
    total, more, outer, less = shared + shared, shared + 1.0, shared + mx.ones((2, 1)), -shared
    memory[:] = 7
    assert total[0].item() == more[0].item() == outer[1, 0].item() == 2.0
    assert less[0].item() == -1.0


@pytest.mark.parametrize(
    "shape",
    [(63,), (64,), (4, 16), (2, 5, 11), (1,) * 63 + (70,), (1,) * 64 + (70,)],
    ids=lambda shape: f"{len(shape)} axes",
)
@pytest.mark.parametrize("dtype", [name for name in ALL if name != "bfloat16"])
def test_lists_have_pythons_numbers(shape, dtype):
    values = mx.array(np.random.default_rng(5).integers(0, 100, int(np.prod(shape)))).astype(
        dtype_of(dtype)
    )
    expected = np.array(values).tolist()
    found = values.reshape(shape).tolist()
    for _ in shape[:-1]:
        found = [one for row in found for one in row]
    assert found == expected
    assert {type(one) for one in found} == {type(one) for one in expected}


@pytest.mark.parametrize("shape", [(0,), (1,), (4,), (3, 2), (2, 0)])
def test_reversed_goes_backwards_over_the_first_axis(shape):
    x = mx.arange(float(np.prod(shape))).reshape(shape)
    assert [row.tolist() for row in reversed(x)] == list(reversed(x.tolist()))
    rows = reversed(x)
    assert iter(rows) is rows


def test_reversed_can_be_differentiated_and_needs_an_axis():
    gradient = mx.grad(lambda x: sum(i * row.sum() for i, row in enumerate(reversed(x))))
    assert gradient(mx.ones((3, 2))).tolist() == [[2.0, 2.0], [1.0, 1.0], [0.0, 0.0]]
    with pytest.raises(TypeError, match=r"^\[reversed\] cannot iterate over a 0-d array"):
        reversed(mx.array(1.0))
