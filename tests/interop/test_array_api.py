"""The array API standard: the namespace, its versions, and where it departs from `umber.core`."""

import copy
import inspect
import threading

import numpy as np
import pytest
import umber.array_api as xp
import umber.core as mx

VERSIONS = ["2021.12", "2022.12", "2023.12", "2024.12", "2025.12"]
# What importers of memory may raise, by the standard or by what its clients catch.
EXPECTED = (AttributeError, TypeError, NotImplementedError, BufferError, ValueError)


def numbers(*values, dtype=xp.float32):
    return xp.asarray(values, dtype=dtype)


# The namespace and its versions.


def test_arrays_name_their_namespace():
    assert numbers(1.0).__array_namespace__() is xp
    assert numbers(1.0).__array_namespace__(api_version=None) is xp
    assert xp.__array_api_version__ == mx.__array_api_version__ == "2025.12"


@pytest.mark.parametrize("version", VERSIONS)
def test_versions_have_one_name_and_the_same_functions(version):
    module = numbers(1.0).__array_namespace__(api_version=version)
    assert module.__name__ == "umber.array_api"
    assert module.__array_api_version__ == version
    assert module is numbers(2.0).__array_namespace__(api_version=version)
    names = {name for name in vars(xp) if not name.startswith("_")}
    assert names <= set(vars(module))
    assert module.linalg is xp.linalg


@pytest.mark.parametrize("version", ["2024.12", "2025.12"])
def test_several_arrays_are_a_tuple_since_2025(version):
    module = numbers(1.0).__array_namespace__(api_version=version)
    kind = list if version == "2024.12" else tuple
    x = numbers(1.0, 2.0)
    assert type(module.meshgrid(x, x)) is kind
    assert type(module.broadcast_arrays(x, x)) is kind
    assert type(module.__array_namespace_info__().devices()) is kind
    assert type(xp.meshgrid(x, x)) is tuple


@pytest.mark.parametrize("version", ["2020.12", "2024", 2024, ""])
def test_unknown_versions_are_refused(version):
    with pytest.raises(ValueError, match=r"\[__array_namespace__\] got version"):
        numbers(1.0).__array_namespace__(api_version=version)


def test_environment_chooses_the_version():
    import os
    import subprocess
    import sys

    code = "import umber.array_api as xp; x = xp.zeros(2); print(type(xp.meshgrid(x)).__name__)"
    environment = {**os.environ, "UMBER_ARRAY_API_VERSION": "2023.12"}
    environment["PYTHONPATH"] = os.pathsep.join(sys.path)
    command = [sys.executable, "-c", code]
    run = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert run.stdout.strip() == "list", run.stderr
    environment["UMBER_ARRAY_API_VERSION"] = "1"
    run = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert "[UMBER_ARRAY_API_VERSION] got version '1'" in run.stderr


# What can be asked of it.


@pytest.mark.covers("ArrayNamespaceInfo")
@pytest.mark.host
@pytest.mark.parametrize(("module", "index"), [(xp, "int64"), (mx, "uint32")])
def test_info(module, index):
    info = module.__array_namespace_info__()
    assert type(mx.__array_namespace_info__()) is mx.ArrayNamespaceInfo
    assert info.default_device() == info.devices()[0] == mx.zeros(1).device
    assert info.default_dtypes() == {
        "real floating": mx.zeros(1).dtype,
        "complex floating": mx.array(1j).dtype,
        "integral": mx.array(1).dtype,
        "indexing": getattr(mx, index),
    }
    assert info.default_dtypes()["indexing"] == module.argmax(mx.zeros(3)).dtype
    assert list(info.dtypes(kind="bool")) == ["bool"]
    both = info.dtypes(kind=("signed integer", "complex floating"), device=info.default_device())
    assert list(both) == ["int8", "int16", "int32", "int64", "complex64", "complex128"]
    assert len(info.dtypes()) == 13
    with pytest.raises(ValueError, match=r"\[dtypes\] got kind 'whole'"):
        info.dtypes(kind="whole")


def test_capabilities_are_true():
    found = xp.__array_namespace_info__().capabilities()
    x = numbers(1.0, -2.0, 3.0)
    assert found["boolean indexing"]
    assert x[x > 0].tolist() == [1, 3]
    assert found["data-dependent shapes"]
    assert xp.unique_values(x).shape == (3,)
    assert found["max dimensions"] is None
    assert xp.sum(xp.ones((1,) * 100)).item() == 1


# Where the two namespaces answer differently.


def test_indices_are_signed():
    x = numbers(3.0, 1.0, 3.0, 0.0)
    found = [
        xp.argmax(x),
        xp.argmin(x, axis=0),
        xp.argsort(x),
        xp.searchsorted(xp.sort(x), x),
        xp.count_nonzero(x),
        *xp.nonzero(x),
        *xp.unique_all(x)[1:],
        xp.unique_counts(x).counts,
        xp.unique_inverse(x).inverse_indices,
    ]
    assert {array.dtype for array in found} == {xp.int64}
    assert (xp.argmin(x) - 4).item() == -1
    assert mx.argmax(x).dtype == mx.uint32


def test_nonzero_needs_an_axis():
    with pytest.raises(ValueError, match=r"\[nonzero\] got a 0-d array"):
        xp.nonzero(xp.asarray(1))


@pytest.mark.parametrize("name", ["cumulative_sum", "cumulative_prod"])
def test_cumulative_functions(name):
    function, other = getattr(xp, name), getattr(np, name)
    x = np.array([[1, 2, 3], [100, 5, 100]], np.int8)
    ours = function(xp.asarray(x), axis=1, include_initial=True)
    assert ours.dtype == xp.int32
    assert ours.tolist() == other(x, axis=1, include_initial=True).tolist()
    assert function(xp.asarray(x[0])).tolist() == other(x[0]).tolist()
    assert function(xp.asarray(x), axis=0, dtype=xp.float64).dtype == xp.float64
    assert function(numbers(1.0)).dtype == xp.float32
    assert function(xp.asarray([1], dtype=xp.uint16)).dtype == xp.uint32
    with pytest.raises(ValueError, match=rf"\[{name}\] axis is required for an array of shape"):
        function(xp.asarray(x))
    # MLX's function keeps the dtype and flattens; it takes the new argument too.
    kept = getattr(mx, name)(xp.asarray(x), include_initial=True)
    assert (kept.dtype, kept.shape) == (mx.int8, (7,))
    behind = getattr(mx, name)(numbers(1.0, 2.0), reverse=True, include_initial=True)
    assert behind.tolist() == {"sum": [3, 2, 0], "prod": [2, 2, 1]}[name.rpartition("_")[2]]


def test_clip_keeps_the_dtype():
    x = xp.asarray([-3, 0, 9], dtype=xp.int8)
    limits = xp.asarray([-1, -1, -1], dtype=xp.int32)
    assert xp.clip(x, limits, max=5).dtype == xp.int8
    assert xp.clip(x, min=limits).tolist() == [-1, 0, 9]
    assert xp.clip(x).tolist() == mx.clip(x).tolist() == [-3, 0, 9]
    with pytest.raises(ValueError, match=r"\[clip\]"):
        xp.clip(x, xp.zeros((2,)))


def test_fill_values():
    assert xp.full((2,), fill_value=3).dtype == mx.full((2,), fill_value=3).dtype == xp.int32
    assert xp.full((), xp.asarray(2.5)).item() == 2.5
    assert xp.full_like(numbers(1.0), fill_value=True).dtype == xp.float32
    with pytest.raises(TypeError, match=r"\[full\]"):
        mx.full((2,), 1, fill_value=1)
    with pytest.raises(TypeError, match=r"\[full_like\]"):
        mx.full_like(numbers(1.0))
    with pytest.raises((TypeError, ValueError), match=r"\[full\]"):
        xp.full((-1,), 1)


# Operators in place.

UPDATES = {
    "dtype": ("int8", (3,), "int32", (3,), TypeError),
    "kind": ("int32", (3,), "float32", (3,), TypeError),
    "shape": ("float32", (1,), "float32", (3,), ValueError),
}


@pytest.mark.covers("InPlaceKeepsType")
@pytest.mark.parametrize("case", UPDATES)
def test_updates_in_place_keep_dtype_and_shape(case):
    dtype, shape, other, other_shape, error = UPDATES[case]
    x = xp.ones(shape, dtype=getattr(xp, dtype))
    y = xp.ones(other_shape, dtype=getattr(xp, other))
    with mx.InPlaceKeepsType():
        with pytest.raises(error, match=r"\[add\] cannot store "):
            x += y
        assert (x.dtype, x.shape, x.tolist()) == (getattr(xp, dtype), shape, [1] * shape[0])
        x += 1
        x += xp.ones(shape, dtype=xp.bool)
    assert x.dtype == getattr(xp, dtype)
    x += y
    assert (x.dtype, x.shape) == (getattr(xp, other), other_shape)


def test_rule_of_updates_is_the_threads_own():
    seen = []

    def elsewhere():
        x = xp.ones((1,))
        x += xp.ones((3,))
        seen.append(x.shape)

    with mx.InPlaceKeepsType(), mx.InPlaceKeepsType():
        thread = threading.Thread(target=elsewhere)
        thread.start()
        thread.join()
    assert seen == [(3,)]


# Devices and copies.


@pytest.mark.covers("Device")
@pytest.mark.host
def test_devices():
    x = numbers(1.0)
    device = x.device
    assert device == mx.Device(mx.cpu)
    assert hash(device) == hash(mx.Device(mx.cpu))
    assert x.to_device(device) is x
    assert x.to_device(device, stream=mx.default_stream(device)) is x
    made = [
        xp.arange(3, device=device),
        xp.asarray(3, device=device),
        xp.astype(x, xp.int32, device=device),
        xp.empty(3, device=device),
        xp.empty_like(x, device=device),
        xp.eye(3, device=device),
        xp.from_dlpack(x, device=device),
        xp.full(3, 1, device=device),
        xp.full_like(x, 1, device=device),
        xp.linspace(0, 1, 3, device=device),
        xp.ones(3, device=device),
        xp.ones_like(x, device=device),
        xp.zeros(3, device=device),
        xp.zeros_like(x, device=device),
        xp.fft.fftfreq(3, device=device),
        xp.fft.rfftfreq(3, device=device),
    ]
    assert {array.device for array in made} == {device}


@pytest.mark.host
def test_devices_by_name():
    assert (
        numbers(1.0).to_device("cpu").device
        == xp.zeros(3, device="cpu").device
        == mx.Device(mx.cpu)
    )
    with pytest.raises(ValueError, match=r"\[asarray\].*got 'tpu', expected 'cpu'"):
        xp.asarray(1.0, device="tpu")
    with pytest.raises(ValueError, match="not available"):
        xp.asarray(1.0, device="gpu")


def test_asarray_without_a_copy_is_the_array():
    x = xp.zeros(3)
    same = xp.asarray(x, copy=False)
    x[1] = 5
    assert same[1] == 5
    assert xp.asarray(x, copy=True)[1] == 5
    assert xp.asarray(x, copy=True) is not x
    with pytest.raises(ValueError, match=r"\[asarray\]"):
        xp.asarray(x, dtype=xp.int32, copy=False)


def test_diagonals_beyond_any_matrix():
    for k in (2**40, 2**70, -(2**70)):
        assert not xp.any(xp.eye(3, k=k) != 0)
    assert xp.all(xp.tril(xp.ones((2, 2)), k=2**70) == 1)
    assert xp.all(xp.triu(xp.ones((2, 2)), k=2**70) == 0)


def test_clients_find_what_the_standard_lacks():
    assert xp.diag(xp.ones(2)).shape == (2, 2)
    assert not hasattr(xp, "no_such_function")


@pytest.mark.host
def test_devices_that_are_not_there():
    absent = mx.Device(mx.gpu)
    for call in (
        lambda: numbers(1.0).to_device(absent),
        lambda: xp.zeros(3, device=absent),
        lambda: xp.asarray(3, device=absent),
    ):
        with pytest.raises(ValueError, match="not available"):
            call()
    for call in (
        lambda: numbers(1.0).to_device(mx.Device(mx.cpu), stream=1),
        lambda: xp.zeros(3, device=3),
        lambda: xp.ones(3, device=mx.default_stream(mx.cpu)),
    ):
        with pytest.raises(TypeError, match=r"\[(to_device|zeros|ones)\]"):
            call()


def test_astype_without_copy_is_the_array_itself():
    x = numbers(1.0)
    assert xp.astype(x, xp.float32, copy=False) is x
    assert x.astype(xp.float32, copy=False) is x
    assert xp.astype(x, xp.float32) is not x
    assert xp.astype(x, xp.int8, copy=False).dtype == xp.int8


def test_reshape_without_copy():
    x = xp.reshape(xp.arange(6), (2, 3), copy=False)
    assert xp.reshape(x, (3, 2), copy=True).shape == (3, 2)
    with pytest.raises(ValueError, match=r"\[reshape\] reshaping \(3, 2\) to \(6,\) requires a"):
        xp.reshape(x.T, (6,), copy=False)
    assert xp.reshape(x.T, (6,)).tolist() == [0, 3, 1, 4, 2, 5]
    assert mx.grad(lambda a: xp.sum(xp.reshape(a, (3,), copy=False)))(xp.ones(3)).shape == (3,)


def test_copies_take_part_in_derivatives():
    slope = mx.grad(lambda x: xp.sum(xp.asarray(x, copy=True) ** 2))(numbers(1.0, 2.0))
    assert slope.tolist() == [2, 4]


class Refusing:
    """Raises whatever is asked of it."""

    def __init__(self, error):
        self.error = error

    def __dlpack__(self, **_):
        raise self.error

    def __dlpack_device__(self):
        return (1, 0)


@pytest.mark.parametrize(
    "thing",
    [
        None,
        "one",
        object(),
        {"a": 1},
        [1, "a"],
        [[1], [2, 3]],
        2**70,
        [2**70],
        np.array(["a"]),
        np.array([object()]),
        np.array([1], "M8[s]"),
        np.zeros(1, [("a", "f4")]),
        range,
        Refusing(BufferError("no")),
    ],
)
def test_what_importers_raise(thing):
    with pytest.raises(EXPECTED):
        xp.asarray(thing)
    with pytest.raises(EXPECTED):
        xp.from_dlpack(thing)


@pytest.mark.parametrize("copy", [None, True, False])
def test_dlpack_with_every_copy(copy):
    array = np.arange(6.0).reshape(2, 3)
    found = xp.from_dlpack(array, copy=copy)
    assert found.dtype == xp.float64
    array[0, 0] = 7
    assert found[0, 0].item() == (0 if copy else 7)


# Calls that only one of MLX and the standard had.


def test_named_tuples():
    x = numbers(4.0, 1.0, 1.0, 3.0).reshape(2, 2)
    fields = {
        "eig": ("eigenvalues", "eigenvectors"),
        "eigh": ("eigenvalues", "eigenvectors"),
        "qr": ("Q", "R"),
        "slogdet": ("sign", "logabsdet"),
        "svd": ("U", "S", "Vh"),
    }
    for name, names in fields.items():
        found = getattr(xp.linalg, name)(x)
        assert found._fields == names
        assert isinstance(found, tuple)
        first, *_ = found
        assert first is getattr(found, names[0])
        assert copy.copy(found)._fields == names


def test_tolerances_of_each_matrix():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(2, 4, 3)) @ np.diag([1.0, 1e-2, 1e-4])
    tolerances = np.array([1e-1, 1e-3])
    ours = xp.linalg.matrix_rank(xp.asarray(x), rtol=xp.asarray(tolerances))
    assert ours.tolist() == np.linalg.matrix_rank(x, rtol=tolerances).tolist()
    inverse = xp.linalg.pinv(xp.asarray(x), rtol=xp.asarray(tolerances))
    np.testing.assert_allclose(inverse, np.linalg.pinv(x, rtol=tolerances), rtol=1e-9, atol=1e-9)
    slope = mx.grad(lambda a: xp.sum(xp.linalg.pinv(a, rtol=xp.asarray(0.0))))(xp.asarray(x[0]))
    step = 1e-7
    moved = x[0].copy()
    moved[1, 2] += step
    difference = np.sum(np.linalg.pinv(moved)) - np.sum(np.linalg.pinv(x[0]))
    np.testing.assert_allclose(slope[1, 2].item(), difference / step, rtol=1e-2)
    with pytest.raises(TypeError, match=r"\[(linalg\.)?pinv\]"):
        xp.linalg.pinv(xp.asarray(x), rtol=xp.asarray([1j]))


def test_frequencies_of_a_dtype():
    assert xp.fft.fftfreq(5).dtype == xp.float32
    ours = xp.fft.fftfreq(5, d=0.1, dtype=xp.float64)
    np.testing.assert_array_equal(ours, np.fft.fftfreq(5, 0.1))
    ours = xp.fft.rfftfreq(5, d=0.1, dtype=xp.float64)
    np.testing.assert_array_equal(ours, np.fft.rfftfreq(5, 0.1))
    with pytest.raises(TypeError, match=r"\[fftfreq\] dtype int32 is not supported,"):
        xp.fft.fftfreq(5, dtype=xp.int32)


def test_axes_moved_together():
    x = np.zeros((2, 3, 4, 5))
    for source, destination in [((), ()), (1, -1), ((0, 1), (-1, 0)), ((3, 0, 1), (0, 1, 2))]:
        want = np.moveaxis(x, source, destination).shape
        assert xp.moveaxis(xp.asarray(x), source, destination).shape == want
        assert xp.asarray(x).moveaxis(source, destination).shape == want
    for source, destination in [((0, 1), (0,)), ((0, 0), (1, 2)), ((0,), (4,))]:
        with pytest.raises(ValueError, match=r"\[moveaxis\]"):
            xp.moveaxis(xp.asarray(x), source, destination)


def test_lines_between_complex_numbers():
    ours = xp.linspace(0, 1 + 2j, 5, dtype=xp.complex128)
    np.testing.assert_allclose(ours, np.linspace(0, 1 + 2j, 5))
    assert xp.linspace(1j, 2, 3, endpoint=False).dtype == xp.complex64
    with pytest.raises(TypeError, match=r"\[linspace\] dtype float32 cannot hold complex"):
        xp.linspace(0, 1j, 3, dtype=xp.float32)


@pytest.mark.parametrize("correction", [0, 1, 0.5, 1.5])
def test_corrections_between_integers(correction):
    x = np.array([1.0, 2.0, 4.0, 8.0])
    for name in ("std", "var"):
        want = getattr(np, name)(x, ddof=correction)
        ours = xp.asarray(x)
        for found in (
            getattr(xp, name)(ours, correction=correction),
            getattr(ours, name)(correction=correction),
        ):
            np.testing.assert_allclose(found.item(), want)


def test_vecdot_keeps_the_dtype():
    x = xp.asarray([200, 100], dtype=xp.uint8)
    assert xp.vecdot(x, x).dtype == xp.uint8
    assert xp.vecdot(x, x).item() == (200 * 200 + 100 * 100) % 256


def test_vecdot_of_bool_is_bool_as_matmul():
    x, y = xp.asarray([[True, True], [True, False]]), xp.asarray([[True, True], [False, True]])
    assert xp.vecdot(x, y).dtype == xp.matmul(x, y).dtype == xp.bool
    assert xp.vecdot(x, y).tolist() == [True, False]


def test_shape_of_nothing():
    assert xp.broadcast_shapes() == ()


def test_dtypes_are_numpys_too():
    for name in "bool int8 uint64 float16 float32 complex128".split():
        dtype = getattr(xp, name, None) or getattr(mx, name)
        assert np.dtype(dtype) == np.dtype(name)
        assert (dtype.name, dtype.itemsize) == (name, np.dtype(name).itemsize)
        assert (dtype.kind, dtype.type) == (np.dtype(name).kind, np.dtype(name).type)
        assert mx.zeros(2, np.dtype(name).str[1:]).dtype == dtype
    assert np.zeros(2, mx.float32).dtype == np.float32
    with pytest.raises(TypeError, match="dtype: unknown dtype 'f3', expected one"):
        mx.zeros(2, "f3")
    assert xp.bool == mx.bool == mx.bool_


def test_importing_everything_leaves_pythons_bool():
    names = {}
    exec("from umber.core import *", names)
    assert names["float32"] == mx.float32
    assert "bool" not in names


# Every function of the namespace says what it takes and does.


def test_functions_are_documented():
    modules = (xp, xp.linalg, xp.fft)
    functions = {f"{m.__name__}.{n}": f for m in modules for n, f in vars(m).items() if callable(f)}
    for name, function in functions.items():
        assert inspect.getdoc(function), name
        inspect.signature(function)
