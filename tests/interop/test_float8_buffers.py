"""The bytes of bfloat16 and of floats of eight bits through the buffer protocol.

The protocol has no format for them; their name stands in its place, as in MLX. NumPy, which would
refuse that, is told to ask for `__array__` instead.
"""

import hashlib
import io

import numpy as np
import pytest
import umber.core as mx

DTYPES = ["bfloat16", *[name for name in dir(mx) if name.startswith("float8_")]]
VALUES = [1.0, 2.0, 0.5, 4.0, 1.0, 0.25]


def made(dtype, shape=(2, 3)):
    return mx.array(VALUES).reshape(shape).astype(getattr(mx, dtype))


@pytest.mark.parametrize("dtype", DTYPES)
def test_whoever_asks_for_bytes_gets_them(dtype):
    x = made(dtype)
    content = bytes(x)
    size = getattr(mx, dtype).size
    assert len(content) == 6 * size
    view = memoryview(x)
    assert (view.format, view.itemsize, view.shape) == (dtype, size, (2, 3))
    assert view.tobytes() == content
    assert view.cast("B").tobytes() == content
    assert hashlib.sha256(x).digest() == hashlib.sha256(content).digest()
    file = io.BytesIO()
    assert file.write(x) == len(content)
    assert file.getvalue() == content
    bits = np.dtype(f"u{size}")
    assert np.frombuffer(x, bits).tobytes() == np.ndarray(6, bits, x).tobytes() == content
    assert np.frombuffer(memoryview(x), bits).tobytes() == content
    assert bytearray(x) == content
    assert b"".join([memoryview(x)]) == content
    back = mx.array(memoryview(x))
    assert back.dtype == x.dtype
    assert bytes(back) == content


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(6,), (1, 6), (3, 1, 2)])
def test_lengths_of_axes_are_kept(dtype, shape):
    view = memoryview(made(dtype, shape))
    assert view.shape == shape
    assert view.c_contiguous


def test_what_is_not_dense_has_strides():
    x = made("bfloat16").T
    assert memoryview(x).tobytes() == bytes(x)
    assert memoryview(x).strides == (2, 6)
    with pytest.raises(BufferError):
        hashlib.sha256(x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_writes_to_a_file(dtype, tmp_path):
    x = made(dtype)
    with open(tmp_path / "file", "wb") as file:
        file.write(x)
    assert (tmp_path / "file").read_bytes() == bytes(x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_numpy_never_takes_the_bits_for_integers(dtype):
    """It gets ml_dtypes' elements where that is installed, else an exception."""
    x = made(dtype)
    calls = (np.asarray, np.array, lambda x: np.concatenate([x, x]), lambda x: np.add(x, 1.0))
    for call in calls:
        try:
            values = call(x)
        except (TypeError, ValueError, AttributeError):
            continue
        found = np.asarray(values, dtype=object).astype(np.float64)
        expected = call(np.array(VALUES).reshape(2, 3))
        np.testing.assert_array_equal(found, expected)


def test_a_view_inside_a_function_of_numpy():
    x = made("bfloat16", (6,))
    seen = np.vectorize(lambda i: len(memoryview(x)))(np.arange(2))
    assert seen.tolist() == [6, 6]
