"""Arrays with more than 2^31 elements, every one of them in memory.

They need 12 GiB, and are skipped where less is free or `UMBER_HUGE_ARRAYS=1` does not ask for them.
"""

import os

import numpy as np
import pytest
import umber.core as mx

COUNT = 2**31 + 1031
PERIOD = 251


def free_memory() -> int:
    """Bytes that can be had without swapping."""
    try:
        with open("/proc/meminfo") as file:
            lines = dict(line.split(":") for line in file)
        return int(lines["MemAvailable"].split()[0]) << 10
    except (OSError, KeyError):
        return 0


pytestmark = pytest.mark.skipif(
    os.environ.get("UMBER_HUGE_ARRAYS") != "1" or free_memory() < 12 << 30,
    reason="needs UMBER_HUGE_ARRAYS=1 and 12 GiB of free memory",
)


@pytest.fixture(scope="module")
def values():
    """0 to 250 again and again, as NumPy's own memory."""
    whole = np.resize(np.arange(PERIOD, dtype=np.uint8), COUNT)
    whole[-3] = 255
    return whole


@pytest.fixture(scope="module")
def line(values):
    line = mx.array(values)
    mx.eval(line)
    return line


def expected(place: int) -> int:
    return 255 if place == COUNT - 3 else place % PERIOD


FAR = [0, 1, 2**31 - 1, 2**31, 2**31 + 1, COUNT - 3, COUNT - 1]


def test_reductions(line, values):
    assert line.size == line.nbytes == COUNT
    # Small integers add up in 32 bits, and wrap there.
    assert mx.sum(line).item() == int(values.sum(dtype=np.uint64)) % 2**32
    assert mx.argmax(line).item() == COUNT - 3
    assert mx.max(line).item() == 255
    assert mx.argmin(line).item() == 0
    assert mx.any(line == 255).item()
    assert not mx.all(line).item()


def test_counts_beyond_int32():
    ones = mx.array(np.ones(COUNT, np.bool_))
    mx.eval(ones)
    assert mx.count_nonzero(ones).item() == COUNT


def test_scan(line):
    heaps = mx.cumsum(line)
    for place in FAR[:5]:
        whole, rest = divmod(place + 1, PERIOD)
        total = whole * (PERIOD * (PERIOD - 1) // 2) + rest * (rest - 1) // 2
        assert heaps[place].item() == total % 256


def test_taking_and_slicing(line):
    places = mx.array(FAR, dtype=mx.int64)
    assert mx.take(line, places).tolist() == [expected(place) for place in FAR]
    assert line[places].tolist() == [expected(place) for place in FAR]
    assert mx.take(line, mx.array([-3], dtype=mx.int64)).item() == 255
    assert line[2**31 : 2**31 + 4].tolist() == [expected(2**31 + i) for i in range(4)]
    assert line[:: 2**30].tolist() == [expected(i * 2**30) for i in range(3)]
    assert line[::-1][:3].tolist() == [expected(COUNT - 1 - i) for i in range(3)]
    assert [line[place].item() for place in FAR] == [expected(place) for place in FAR]


def test_elementwise(line):
    high = line > 249
    mx.eval(high)
    assert high[2**31 - 10 : 2**31 + 300].tolist() == [
        expected(place) > 249 for place in range(2**31 - 10, 2**31 + 300)
    ]
    picked = mx.where(high, line, mx.array(0, mx.uint8))
    assert picked[-3].item() == 255
    assert mx.max(picked[: 2**31]).item() == 250
    assert (line + mx.array(1, mx.uint8))[COUNT - 3].item() == 0


def test_sorting_the_end(line):
    part = line[2**31 - 500 :]
    want = sorted(expected(place) for place in range(2**31 - 500, COUNT))
    assert mx.sort(part).tolist() == want
    assert part[mx.argsort(part)].tolist() == want


def test_columns(line):
    """The same elements in rows, along which and across which there is a sum."""
    rows = line[: 2**31].reshape(2**11, 2**20)
    assert mx.sum(rows, axis=1)[-1].item() == sum(
        expected(place) for place in range(2**31 - 2**20, 2**31)
    )
    assert mx.max(rows, axis=0).shape == (2**20,)
    assert rows.T[5, 2**11 - 1].item() == expected((2**11 - 1) * 2**20 + 5)


def test_copies_and_updates(line):
    copy = mx.array(line)
    copy[2**31 + 7] = 254
    assert copy[2**31 + 7].item() == 254
    assert line[2**31 + 7].item() == expected(2**31 + 7)
    far = mx.array([COUNT - 1, 2**31], dtype=mx.int64)
    assert copy.at[far].add(1)[far].tolist() == [expected(COUNT - 1) + 1, expected(2**31) + 1]
    joined = mx.concatenate([line[:5], line[-5:]])
    assert joined.tolist() == [expected(p) for p in (*range(5), *range(COUNT - 5, COUNT))]


def test_files(line, tmp_path):
    for name in ("huge.npy", "huge.safetensors"):
        path = tmp_path / name
        if path.suffix == ".npy":
            mx.save(str(path), line)
            back = mx.load(str(path))
        else:
            mx.save_safetensors(str(path), {"line": line})
            back = mx.load(str(path))["line"]
        assert back.shape == (COUNT,)
        assert mx.all(back == line).item()
        del back
        path.unlink()


def test_numpy_sees_all(line, values):
    view = np.asarray(line)
    assert view.shape == (COUNT,)
    assert (view[2**31 - 50 :] == values[2**31 - 50 :]).all()


def test_rows_of_matrices():
    """A row of the result of a gather lies beyond what 32 bits count."""
    table = mx.array(np.arange(2 * 40961, dtype=np.uint8).reshape(2, 40961))
    rows = mx.zeros(52500, mx.int32)
    rows[-1] = 1
    taken = table[rows]
    assert taken.size > 2**31
    assert taken[-1, -3:].tolist() == table[1, -3:].tolist()
