"""Dtypes, integer division, precision and messages: where umber differs from MLX."""

import copy
import enum
import math
import os
import pickle
import re
import subprocess
import sys

import numpy as np
import pytest
import umber.core as mx
import umber.nn as nn


def test_division_of_integers_never_stops_the_process():
    lowest = mx.array([-(2**31)], dtype=mx.int32)
    assert [part.tolist() for part in mx.divmod(mx.array([7, -7]), 0)] == [[0, 0], [7, -7]]
    assert [part.tolist() for part in divmod(lowest, -1)] == [[-(2**31)], [0]]
    for name in ("int8", "int16", "int32", "int64"):
        low = mx.array([mx.iinfo(name).min], dtype=name)
        assert (low // -1).tolist() == low.tolist()
        assert (low % -1).tolist() == [0]


def test_float64_functions_have_float64_accuracy():
    x = np.linspace(-3, 3, 1001)
    special = pytest.importorskip("scipy.special")
    for ours, theirs in ((mx.exp, np.exp), (mx.sin, np.sin), (mx.erf, special.erf)):
        np.testing.assert_allclose(np.asarray(ours(mx.array(x))), theirs(x), rtol=5e-16, atol=1e-16)


@pytest.mark.parametrize("read", [lambda x: x.item(), lambda x: float(x), lambda x: np.asarray(x)])
def test_a_value_that_leaves_a_gradient_is_warned_of(read):
    def loss(x):
        return x * mx.array(read(x))

    with pytest.warns(RuntimeWarning, match=r"^\[grad\] "):
        assert mx.grad(loss)(mx.array(3.0)).item() == 3.0


def test_values_outside_of_gradients_are_read_in_silence(recwarn):
    value, slope = mx.value_and_grad(lambda x: x * x)(mx.array(3.0))
    assert (value.item(), slope.item()) == (9.0, 6.0)
    assert not [w for w in recwarn if issubclass(w.category, RuntimeWarning)]


def test_means_of_float16_do_not_overflow():
    tens = mx.full((100_000,), 10, dtype=mx.float16)
    assert mx.mean(tens).item() == 10.0
    assert mx.var(tens).item() == 0.0
    assert mx.mean(tens.reshape(100, 1000), axis=0).tolist() == [10.0] * 1000


def test_sums_of_many_float32_keep_their_digits(rng):
    x = rng.random(4_000_000, dtype=np.float32)
    exact = x.astype(np.float64).sum()
    assert abs(mx.sum(mx.array(x)).item() - exact) <= 1e-7 * exact


def test_double_precision_survives_complex_numbers():
    assert (mx.array([1 / 3], dtype=mx.float64) * mx.array([1j])).tolist() == [1j / 3]


def test_float64_of_numpy_stays():
    third = np.array([1 / 3])
    for array in (mx.array(third), mx.asarray(third), mx.from_dlpack(third)):
        assert array.dtype == mx.float64
        assert array.tolist() == [1 / 3]


def test_files_keep_float64(tmp_path):
    third = mx.array([1 / 3], dtype=mx.float64)
    mx.save_safetensors(str(tmp_path / "x.safetensors"), {"x": third})
    read = mx.load(str(tmp_path / "x.safetensors"))["x"]
    assert read.dtype == mx.float64
    assert read.tolist() == [1 / 3]


def test_compiled_functions_see_new_shapes():
    mean = mx.compile(lambda x: x.sum() / x.shape[0], shapeless=True)
    assert mean(mx.ones((4,))).item() == 1.0
    assert mean(mx.ones((8,))).item() == 1.0
    flat = mx.compile(lambda x: x.reshape(x.shape[0] * x.shape[1]) + 1, shapeless=True)
    assert flat(mx.ones((2, 3))).shape == (6,)
    assert flat(mx.ones((4, 5))).shape == (20,)


def test_the_memory_limit_is_kept():
    before = mx.set_memory_limit(mx.get_active_memory() + 2**20)
    try:
        with pytest.raises(MemoryError):
            mx.eval(mx.zeros((2**22,)) + 1)
    finally:
        mx.set_memory_limit(before)


def test_products_of_integers_and_booleans():
    x = mx.array([[1, 2], [3, 4]])
    assert (x @ x).tolist() == [[7, 10], [15, 22]]
    assert (x == 1).astype(mx.uint8).dtype == mx.uint8
    assert ((x > 1) @ mx.array([1, 1])).tolist() == [1, 2]


DTYPES = ["float32", np.float32, np.dtype("float32"), mx.float32, float]


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_dtypes_by_any_name(dtype):
    assert mx.float32 == dtype
    assert (mx.float32 != dtype) is False
    assert mx.float16 != dtype
    for made in (
        mx.zeros(3, dtype=dtype),
        mx.ones((2,), dtype),
        mx.full((2,), 1, dtype=dtype),
        mx.arange(3, dtype=dtype),
        mx.linspace(0, 1, 3, dtype=dtype),
        mx.eye(2, dtype=dtype),
        mx.array([1], dtype=dtype),
        mx.asarray([1], dtype=dtype),
        mx.array([True]).astype(dtype),
        mx.astype(mx.array([True]), dtype),
        mx.zeros_like(mx.array([True]), dtype=dtype),
        mx.array([1]).view(dtype),
        mx.random.normal((2,), dtype=dtype),
        mx.random.uniform(shape=(2,), dtype=dtype),
        mx.sum(mx.ones(2, dtype=dtype)),
    ):
        assert made.dtype == mx.float32


def test_every_name_of_every_dtype():
    for dtype in (
        mx.int8,
        mx.uint16,
        mx.int64,
        mx.float16,
        mx.float64,
        mx.complex64,
        mx.complex128,
    ):
        name = str(dtype).rpartition(".")[2]
        assert dtype == name
        assert dtype == getattr(np, name)
        assert dtype == np.dtype(name)
        assert mx.zeros(1, dtype=getattr(np, name)).dtype == dtype
    kinds = {bool: mx.bool_, int: mx.int32, float: mx.float32, complex: mx.complex64}
    for kind, dtype in kinds.items():
        assert mx.zeros(1, dtype=kind).dtype == dtype == mx.array(kind(1)).dtype
    assert mx.bool_ == "bool" == mx.bool_ == np.bool_


OTHERS = [None, 3, "float", "x", object(), [], type, np.str_]


@pytest.mark.parametrize("other", OTHERS, ids=range(len(OTHERS)))
def test_dtypes_differ_from_everything_else(other):
    assert (mx.float32 == other) is False
    assert (mx.float32 != other) is True
    with pytest.raises(TypeError):
        mx.float32 < other  # noqa: B015


def test_limits_of_what_is_given():
    assert mx.finfo("float16").max == mx.finfo(np.float16).max == mx.finfo(mx.float16).max == 65504
    assert mx.finfo(mx.ones(2)).bits == 32
    assert mx.finfo(mx.complex128).dtype == mx.float64
    assert mx.iinfo(np.ones(2, np.int8)).min == -128
    assert mx.iinfo("uint64").max == 2**64 - 1
    assert mx.finfo(mx.float32) == mx.finfo("float32")
    assert mx.finfo(mx.float32) != mx.finfo("float64")
    assert mx.iinfo(mx.int8).bits == 8
    with pytest.raises(TypeError, match=r"^\[finfo\] "):
        mx.finfo(mx.int32)
    with pytest.raises(TypeError, match=r"^\[iinfo\] "):
        mx.iinfo(mx.ones(2))


@pytest.mark.covers("isdtype", "can_cast")
def test_types_of_results():
    assert mx.result_type(mx.uint8, 3) == mx.uint8
    assert mx.result_type(3.0, mx.uint8) == mx.float32
    assert mx.result_type(mx.float64, 1j) == mx.complex128
    assert mx.result_type(np.ones(1), "float32") == mx.float64
    assert mx.result_type(2**40) == mx.int64
    assert mx.can_cast("int8", mx.int16)
    assert not mx.can_cast(np.ones(1), np.float32)
    assert mx.isdtype("int8", ("bool", "signed integer"))
    assert mx.isdtype(np.float32, mx.float32)
    assert mx.issubdtype("float16", mx.DtypeCategory.floating)
    with pytest.raises(ValueError, match=r"^\[result_type\] "):
        mx.result_type()
    with pytest.raises(ValueError, match=r"^\[isdtype\] "):
        mx.isdtype(mx.int8, "natural")


@pytest.mark.covers("DtypeCategory", "DeviceType")
@pytest.mark.parametrize(
    ("kind", "names"),
    [
        (mx.DeviceType, ["cpu", "gpu"]),
        (
            mx.DtypeCategory,
            "complexfloating floating inexact signedinteger unsignedinteger integer number"
            " generic".split(),
        ),
    ],
)
def test_enumerations(kind, names):
    assert issubclass(kind, enum.Enum)
    assert [member.name for member in kind] == names
    assert [member.value for member in kind] == list(range(len(names)))
    for place, name in enumerate(names):
        member = getattr(mx, name)
        assert kind(place) is kind[name] is getattr(kind, name) is member
        assert pickle.loads(pickle.dumps(member)) is copy.deepcopy(member) is member
        assert repr(member) == str(member) == f"{kind.__name__}.{name}"
    with pytest.raises(ValueError, match="99 is not a valid"):
        kind(99)


def test_devices():
    device = mx.Device(mx.cpu)
    assert device.type is mx.cpu
    assert device == mx.cpu
    assert hash(device) == hash(mx.cpu)
    assert {device: "here"}[mx.cpu] == "here"
    other = mx.Device(mx.gpu, 1)
    for copied in (pickle.loads(pickle.dumps(other)), copy.deepcopy(other)):
        assert copied == other != device
        assert repr(copied) == repr(other)


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("UMBER_MAX_CPU_ISA", ("scalar", "avx2", "avx512", "amx", ""), "nonsense"),
        ("UMBER_NUM_THREADS", ("2", ""), "abc"),
        ("UMBER_EAGER", ("0", "1", ""), "yes"),
    ],
)
def test_invalid_settings_warn_at_import(name, good, bad):
    assert not any(warnings_at_import(name, value) for value in good)
    warning = f'RuntimeWarning: [umber] {name}: got "{bad}", expected '
    assert warning in warnings_at_import(name, bad)


def test_the_former_name_of_a_setting_warns():
    warning = "FutureWarning: [umber] UMBER_CPU is deprecated"
    assert warning in warnings_at_import("UMBER_CPU", "scalar")


def warnings_at_import(name, value):
    """What Python prints on importing umber with an environment variable set."""
    run = subprocess.run(
        [sys.executable, "-c", "import umber.core"],
        env=os.environ | {name: value},
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    return run.stderr


def test_either_side_of_an_operator_decides_alike():
    for result in (np.ones(2) + mx.ones(2), mx.ones(2) + np.ones(2)):
        assert isinstance(result, mx.array)
        assert result.dtype == mx.float64


@pytest.mark.parametrize("number", [300, 256, -1, 2**40, 2**63, 2**70, -(2**70)])
@pytest.mark.parametrize(
    "name", ["equal", "not_equal", "less", "less_equal", "greater", "greater_equal"]
)
def test_functions_compare_with_numbers_beyond_the_dtype(name, number):
    """As the number that it is, as the operators do; NumPy compares with an array of objects so."""
    values = [0, 7, 255]
    compare = getattr(np, name)
    x = mx.array(values, mx.uint8)
    exact = np.array(values, object)
    for got, want in [
        (getattr(mx, name)(x, number), compare(exact, number)),
        (getattr(mx, name)(number, x), compare(number, exact)),
        (getattr(mx, name)(x, b=number, stream=mx.cpu), compare(exact, number)),
    ]:
        assert got.dtype == mx.bool_
        assert got.tolist() == want.astype(bool).tolist()


@pytest.mark.parametrize("number", [2**70, 10**40, -(10**400)])
def test_floats_compare_with_any_integer(number):
    x, is_above = mx.array([1.0, -2.0, math.nan]), number > 0
    numbers = [is_above, is_above, False]
    for found in (x < number, number > x, mx.less(x, number), mx.less_equal(x, number)):
        assert found.tolist() == numbers
    for found in (x == number, number == x, mx.equal(x, number)):
        assert found.tolist() == [False] * 3
    assert (x != number).tolist() == [True] * 3


def test_comparisons_with_integers_of_numpy_that_do_not_fit():
    x = mx.array([0, 1, 200], mx.uint8)
    for number in (np.int64(300), np.array(300)[()]):
        assert (x < number).tolist() == (number > x).tolist() == [True] * 3
        assert (x >= number).tolist() == (x == number).tolist() == [False] * 3
    assert (x > np.int64(-1)).tolist() == [True] * 3


def test_functions_compare_no_texts():
    with pytest.raises(TypeError, match=r"^\[equal\] a: got str, expected an array or"):
        mx.equal("a", mx.ones(2))


MESSAGES = [
    (
        lambda: mx.zeros(3, dtype="f5"),
        TypeError,
        r"^\[zeros\] dtype: unknown dtype 'f5', expected one of bool, .* or a float8 dtype$",
    ),
    (lambda: mx.zeros(3, dtype=3), TypeError, r"dtype: got int, expected a Dtype or the"),
    (
        lambda: mx.zeros(3, dtype=np.str_),
        TypeError,
        r"dtype: unknown dtype 'str_?', expected one of",
    ),
    (lambda: mx.array(2**70), ValueError, rf"{2**70} does not fit any dtype \(-2\*\*63\.\."),
    (lambda: mx.array([1, -(2**70)]), ValueError, rf"-{2**70} does not fit any dtype"),
    (lambda: mx.full((2,), 2**64), ValueError, rf"{2**64} does not fit any dtype"),
    (lambda: mx.set_cache_limit(-1), ValueError, r"limit must be between 0 and \d+, got -1$"),
    (lambda: mx.set_cache_limit(2**70), mx.RangeError, rf"between 0 and {2**64 - 1}, got {2**70}$"),
    (lambda: mx.set_memory_limit(2**200), mx.RangeError, "expected"),
    (
        lambda: mx.Device(mx.cpu, -1),
        mx.RangeError,
        rf"^\[Device\] .*-1, expected 0 to {2**32 - 1}$",
    ),
    (
        lambda: mx.tile(mx.ones(2), 2**62),
        mx.RangeError,
        rf"^\[tile\] the result is too large to address: {2**62} repetitions .* 2$",
    ),
    (
        lambda: mx.repeat(mx.ones(2), 2**62),
        mx.RangeError,
        rf"too large to address: {2**62} repeats of 2 e",
    ),
    (
        lambda: mx.pad(mx.ones(2), 2**62),
        mx.RangeError,
        rf"^\[pad\] the result is too large to address: widths \({2**62}, {2**62}\)",
    ),
    (lambda: int(mx.ones(2)), ValueError, r"^\[int\] array must have exactly one element, got"),
    (lambda: nn.losses.hinge_loss(1.0, b"x"), TypeError, r"^\[hinge_loss\] targets: got bytes"),
    (
        lambda: nn.losses.hinge_loss(2**70, 1.0),
        mx.RangeError,
        rf"^\[hinge_loss\] {2**70} does not fit any dtype",
    ),
    (lambda: mx.set_memory_limit(-5), ValueError, r"limit must be between 0 and \d+, got -5$"),
    (lambda: mx.linspace(0, 1, -1), ValueError, r"^\[linspace\] number of samples .* got -1"),
    (lambda: mx.linspace(0, 1, 2**62), mx.RangeError, r"^\[linspace\] \d+ elements are too many"),
    (
        lambda: mx.partition(mx.zeros((0,)), 0),
        ValueError,
        r"^\[partition\] axis 0 must not be empty",
    ),
    (
        lambda: mx.argpartition(mx.zeros((0,)), 0),
        ValueError,
        r"^\[argpartition\] axis 0 must not be empty",
    ),
    (lambda: mx.exp("a"), TypeError, r"^\[exp\] a: got str, expected an array or"),
    (lambda: mx.sum(mx.ones(2), axis="a"), TypeError, ""),
    (lambda: mx.where(mx.array([True]), 1), TypeError, "y"),
    (lambda: mx.add(mx.ones(2), None), TypeError, "NoneType"),
]


@pytest.mark.parametrize(("call", "error", "text"), MESSAGES, ids=range(len(MESSAGES)))
def test_messages_are_one_line(call, error, text):
    with pytest.raises(error) as caught:
        call()
    message = str(caught.value)
    assert re.search(text, message), message
    assert "\n" not in message
    assert len(message) < 240


def test_errors_of_kernels_can_name_their_line():
    program = "import umber.core as mx\nx = mx.zeros(3)\ny = x[mx.array([7])]\nmx.eval(y)\n"
    run = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"UMBER_TRACEBACK": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ":3" in run.stderr, run.stderr


def test_a_bad_axis_is_both_of_its_errors():
    for kind in (IndexError, ValueError):
        with pytest.raises(kind, match=r"^\[sum\] "):
            mx.sum(mx.ones(2), axis=5)


def test_linspace_of_integers_hits_them():
    assert mx.linspace(0, 100, 101, dtype=mx.int32).tolist() == list(range(101))
    assert mx.linspace(0, 2**40, 5, dtype=mx.int64).tolist() == [i * 2**38 for i in range(5)]
