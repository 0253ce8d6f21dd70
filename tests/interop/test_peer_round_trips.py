"""From every peer through umber to every peer, in every dtype both have: equal values, and one
memory where it can be.

Runs with the peers that are installed; `make test-peers` installs them all.
"""

import gc
import importlib
import itertools
import os
from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
import pytest
import umber.core as mx
from arrays import ALL, dtype_of

pytestmark = pytest.mark.host

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("JAX_PLATFORMS", "cpu")

EVERY = frozenset(ALL)


@dataclass
class Peer:
    """How a library makes arrays, takes ours, and tells what it holds."""

    package: str
    make: Callable
    """From values of NumPy and the name of a dtype."""
    give: Callable
    """To umber."""
    take: Callable
    """From umber."""
    values: Callable
    """As an array of NumPy."""
    address: Callable | None = None
    lacks: frozenset = frozenset()
    says_writable: bool = True
    """Does umber know that what it gives may be written?"""
    asks_for_version: bool = True
    """Does it ask for capsules that can say read-only?"""
    copies: bool = False
    """Does it copy what it takes?"""
    module: object = field(default=None)


def load(name):
    return importlib.import_module(name)


def torch_make(values, name):
    torch = load("torch")
    if name == "bfloat16":
        return torch.from_numpy(values.astype(np.float32)).to(torch.bfloat16)
    return torch.from_numpy(values.copy())


def torch_values(tensor):
    torch = load("torch")
    return (tensor.float() if tensor.dtype == torch.bfloat16 else tensor).numpy()


def jax_make(values, name):
    jax = load("jax")
    jax.config.update("jax_enable_x64", True)
    return jax.numpy.asarray(values, dtype=name.rstrip("_"))


def tensorflow_make(values, name):
    tf = load("tensorflow")
    return tf.constant(values, dtype=getattr(tf, name.rstrip("_")))


def mlx_make(values, name):
    mlx = load("mlx.core")
    return mlx.array(values, dtype=getattr(mlx, name))


def from_ml_dtypes(array):
    return array.astype(np.float32) if array.dtype.name == "bfloat16" else array


def start_of(array):
    return array.__array_interface__["data"][0]


def numpy_make(values, name):
    return values.astype(load("ml_dtypes").bfloat16) if name == "bfloat16" else values.copy()


PEERS = {
    "numpy": Peer(
        "numpy",
        numpy_make,
        mx.asarray,
        np.asarray,
        from_ml_dtypes,
        start_of,
    ),
    "numpy by DLPack": Peer(
        "numpy",
        lambda values, name: values.copy(),
        mx.from_dlpack,
        np.from_dlpack,
        from_ml_dtypes,
        start_of,
        lacks=frozenset({"bfloat16"}),
    ),
    "torch": Peer(
        "torch",
        torch_make,
        mx.from_dlpack,
        lambda x: load("torch").from_dlpack(x),
        torch_values,
        lambda tensor: tensor.data_ptr(),
    ),
    "jax": Peer(
        "jax",
        jax_make,
        mx.from_dlpack,
        lambda x: load("jax").numpy.from_dlpack(x),
        lambda array: from_ml_dtypes(np.asarray(array)),
        lambda array: array.unsafe_buffer_pointer(),
        says_writable=False,
        asks_for_version=False,
    ),
    "tensorflow": Peer(
        "tensorflow",
        tensorflow_make,
        lambda tensor: mx.from_dlpack(load("tensorflow").experimental.dlpack.to_dlpack(tensor)),
        lambda x: load("tensorflow").experimental.dlpack.from_dlpack(x.__dlpack__()),
        lambda tensor: from_ml_dtypes(tensor.numpy()),
        says_writable=False,
        asks_for_version=False,
    ),
    "mlx": Peer(
        "mlx.core",
        mlx_make,
        mx.asarray,
        lambda x: load("mlx.core").from_dlpack(x),
        lambda array: np.asarray(
            array.astype(load("mlx.core").float32)
            if array.dtype == load("mlx.core").bfloat16
            else array
        ),
        lacks=frozenset({"complex128"}),
        asks_for_version=False,
        copies=True,
    ),
    "umber": Peer(
        "umber.core",
        lambda values, name: mx.array(values, dtype=dtype_of(name)),
        lambda x: x,
        lambda x: mx.from_dlpack(x),
        lambda x: np.asarray(x.astype(mx.float32) if x.dtype == mx.bfloat16 else x),
        lambda x: capsule_address(x),
    ),
}


def values_of(name, shape=(3, 4)):
    values = np.arange(np.prod(shape)).reshape(shape)
    if name == "bool_":
        return values % 3 == 0
    if name == "bfloat16":
        return values.astype(np.float32) / 2
    values = values.astype(name)
    return values * values.dtype.type(1 - 2j) if values.dtype.kind == "c" else values


def peers_that_can(name):
    return [peer for peer, made in PEERS.items() if name not in made.lacks]


CASES = [(a, b, name) for name in ALL for a, b in itertools.product(peers_that_can(name), repeat=2)]


@pytest.mark.parametrize(("a", "b", "name"), CASES)
def test_round_trip(a, b, name):
    giver, taker = PEERS[a], PEERS[b]
    for peer in (giver, taker):
        pytest.importorskip(peer.package)
    if name == "bfloat16":
        pytest.importorskip("ml_dtypes")
    values = values_of(name)
    source = giver.make(values, name)
    ours = giver.give(source)
    assert ours.dtype == dtype_of(name)
    assert ours.shape == values.shape
    theirs = taker.take(ours)
    assert np.array_equal(taker.values(theirs), values)
    if giver.address and taker.address and not taker.copies:
        shares = taker.asks_for_version or giver.says_writable
        # JAX copies what does not begin at a multiple of 64 bytes.
        if b == "jax" and giver.address(source) % 64:
            shares = None
        if shares is not None:
            assert (giver.address(source) == taker.address(theirs)) == shares
    del source, ours
    gc.collect()
    assert np.array_equal(taker.values(theirs), values)


LAYOUTS = {
    "transposed": lambda x: x.T,
    "stepped": lambda x: x[1:, ::2],
    "row": lambda x: x[1],
    "0-d": lambda x: x[1, 2, ...],
    "axes of one": lambda x: x[1:2, None],
    "empty": lambda x: x[:0],
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("b", [peer for peer in PEERS if peer != "umber"])
def test_layouts_go_out(b, layout):
    taker = PEERS[b]
    pytest.importorskip(taker.package)
    values = values_of("float32")
    ours = mx.array(LAYOUTS[layout](mx.array(values)))
    mx.eval(ours)
    try:
        theirs = taker.take(ours)
    except Exception:
        # XLA and TensorFlow take dense memory only; a dense copy is what their users make.
        assert b in ("jax", "tensorflow")
        theirs = taker.take(mx.contiguous(ours))
    assert np.array_equal(taker.values(theirs), LAYOUTS[layout](values))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("a", [peer for peer in PEERS if peer != "umber"])
def test_layouts_come_in(a, layout):
    giver = PEERS[a]
    pytest.importorskip(giver.package)
    values = values_of("float32")
    source = giver.make(values, "float32")
    if a == "tensorflow" and layout == "transposed":
        source = load("tensorflow").transpose(source)
    else:
        make = LAYOUTS[layout]
        source = make(source)
    assert np.array_equal(np.asarray(giver.give(source)), LAYOUTS[layout](values))


@pytest.mark.parametrize(
    "name", ["float8_e4m3fn", "float8_e4m3fnuz", "float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"]
)
def test_float8_of_torch(name):
    torch = pytest.importorskip("torch")
    codes = torch.arange(256, dtype=torch.uint8)
    tensor = codes.view(getattr(torch, name))
    ours = mx.from_dlpack(tensor)
    assert ours.dtype == getattr(mx, name)
    assert capsule_address(ours) == tensor.data_ptr()
    assert np.array_equal(np.array(ours.astype(mx.float32)), tensor.float().numpy(), equal_nan=True)
    back = torch.from_dlpack(ours)
    assert back.dtype == tensor.dtype
    assert back.data_ptr() == tensor.data_ptr()
    assert torch.equal(back.view(torch.uint8), codes)


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e4m3b11fnuz", "float8_e5m2"])
def test_float8_of_jax(name):
    jnp = pytest.importorskip("jax.numpy")
    theirs = jnp.array([0.5, -2.0, 4.0]).astype(getattr(jnp, name))
    for ours in (mx.from_dlpack(theirs), mx.asarray(theirs)):
        assert ours.dtype == getattr(mx, name)
        assert ours.tolist() == [0.5, -2, 4]
    back = jnp.from_dlpack(mx.array([0.5, -2.0, 4.0], dtype=getattr(mx, name)))
    assert (back.dtype.name, back.tolist()) == (name, [0.5, -2, 4])


def capsule_address(array):
    return load("capsules").tensor_of(array.__dlpack__(max_version=(1, 0))).data


def test_torch_writes_are_seen():
    torch = pytest.importorskip("torch")
    tensor = torch.zeros(3)
    ours = mx.from_dlpack(tensor)
    doubled = ours * 2
    tensor[0] = 5
    assert doubled.tolist() == [0, 0, 0]
    assert ours.tolist() == [5, 0, 0]
    own = mx.zeros(3)
    torch.from_dlpack(own)[1] = 7
    assert own.tolist() == [0, 7, 0]
    copied = torch.from_dlpack(own, copy=True)
    copied[:] = 9
    assert own.tolist() == [0, 7, 0]
    with pytest.raises((RuntimeError, BufferError), match="grad"):
        mx.from_dlpack(torch.zeros(3, requires_grad=True))


def test_jax_arrays_are_read_only_and_lazy():
    jnp = pytest.importorskip("jax.numpy")
    theirs = jnp.arange(4.0)
    for ours in (mx.asarray(theirs), mx.from_dlpack(theirs)):
        assert not np.asarray(ours).flags.writeable
        ours += 1
        ours[0] = 9
        assert ours.tolist() == [9, 2, 3, 4]
    assert theirs.tolist() == [0, 1, 2, 3]


def test_jax_takes_what_it_cannot_be_told_of_as_a_copy():
    jnp = pytest.importorskip("jax.numpy")
    array = mx.arange(4.0)
    other = array[1:]
    mx.eval(array, other)
    assert jnp.from_dlpack(array).tolist() == [0, 1, 2, 3]
    frozen = np.zeros(3, np.float32)
    frozen.flags.writeable = False
    with pytest.raises(BufferError, match="cannot say"):
        jnp.from_dlpack(mx.asarray(frozen))


def test_cupy():
    cupy = pytest.importorskip("cupy")
    try:
        theirs = cupy.arange(4, dtype=cupy.float32)
    except Exception:
        pytest.skip("no CUDA device")
    with pytest.raises(BufferError, match="CUDA"):
        mx.from_dlpack(theirs)
    assert mx.from_dlpack(theirs, device=mx.cpu).tolist() == [0, 1, 2, 3]


@pytest.mark.parametrize("name", ["torch", "jax.numpy", "tensorflow"])
def test_plain_conversion_of_peers(name):
    module = pytest.importorskip(name)
    source = module.constant([1.0, 2.0]) if name == "tensorflow" else module.asarray([1.0, 2.0])
    for make in (mx.array, mx.asarray):
        assert make(source).tolist() == [1.0, 2.0]
    assert (mx.ones(2) + mx.asarray(source)).tolist() == [2.0, 3.0]


@pytest.mark.parametrize("name", ["float8_e4m3fn", "float8_e5m2", "bfloat16"])
def test_small_floats_of_tensorflow(name):
    tf = pytest.importorskip("tensorflow")
    theirs = tf.cast(
        tf.constant([0.5, -2.0, 4.0]), getattr(tf.dtypes.experimental, name, tf.bfloat16)
    )
    for ours in (mx.asarray(theirs), mx.array(theirs)):
        assert ours.dtype == getattr(mx, name)
        assert ours.tolist() == [0.5, -2, 4]


def test_texts_of_tensorflow_are_refused():
    tf = pytest.importorskip("tensorflow")
    for take in (mx.asarray, mx.array):
        with pytest.raises(TypeError, match="no dtype for these elements"):
            take(tf.constant(["a", "b"]))
