"""Operations of pipelines equal NumPy; hostile arguments raise typed errors."""

import inspect
import json
import subprocess
import sys

import numpy as np
import pytest
import umber.data as dx
from data_operations import NO_REFERENCE, RANDOM, RECORDS
from random_cases import examples

CASES = {record.name: record for record in RECORDS}
ROUNDING = {"image_channel_reduction": 1.0, "image_normalize": 1e-5, "scale": 1e-3}


def same(got, expected, tolerance=0.0):
    assert got.shape == expected.shape
    if tolerance:
        np.testing.assert_allclose(
            got.astype(float), expected.astype(float), rtol=1e-5, atol=tolerance
        )
        return
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)


def same_samples(got, expected, tolerance=0.0):
    assert got.keys() == expected.keys()
    for key, value in expected.items():
        same(got[key], np.asarray(value), tolerance)


def all_operations():
    names = {
        n for n in dir(dx.Stream) if f"{n}_if" in dir(dx.Stream) and f"{n}_if" in dir(dx.Buffer)
    }
    return names - {"partition", "shuffle", "key_transform", "sample_transform"}


def test_every_operation_has_a_record():
    missing = all_operations() - set(CASES) - set(RANDOM) - set(NO_REFERENCE) - {"remove_value"}
    assert not missing


@pytest.mark.parametrize("name", CASES)
def test_operations_equal_numpy(name, rng):
    record = CASES[name]
    for _ in range(examples(40)):
        sample = record.sample(rng, str(rng.choice(record.dtypes)))
        before = {key: value.copy() for key, value in sample.items()}
        arguments = record.arguments(rng, sample["x"])
        value = record.expected(sample if record.is_sample else sample["x"], *arguments)
        expected = value if record.is_sample else {**sample, "x": value}
        buffer = dx.buffer_from_vector([sample])
        tolerance = ROUNDING.get(name, 0.0)
        same_samples(getattr(buffer, name)("x", *arguments)[0], expected, tolerance)
        named = dict(zip(record.parameters, arguments, strict=True))
        named[record.key] = "x"
        same_samples(getattr(buffer, name)(**named)[0], expected, tolerance)
        same_samples(getattr(buffer, f"{name}_if")(True, **named)[0], expected, tolerance)
        same_samples(getattr(buffer, f"{name}_if")(False, "x", *arguments)[0], sample)
        stream = getattr(buffer.to_stream(), name)(**named).prefetch(2, 2)
        same_samples(stream.next(), expected, tolerance)
        if record.has_output and not record.is_sample:
            added = getattr(buffer, name)(**named, output_key="y")[0]
            same_samples(added, {**sample, "y": expected["x"]}, tolerance)
        same_samples(sample, before)


def removed(x, sizes, value, pad):
    rows = [[e for e in row[:n] if e != value] for row, n in zip(x, sizes, strict=True)]
    out = np.full_like(x, pad)
    for line, row in zip(out, rows, strict=True):
        line[: len(row)] = row
    return out, np.array([len(row) for row in rows])


def test_values_are_removed_from_rows(rng):
    for _ in range(examples(40)):
        x = rng.integers(0, 4, (int(rng.integers(1, 5)), int(rng.integers(1, 7))))
        sizes = rng.integers(0, x.shape[1] + 1, len(x))
        out, left = removed(x, sizes, 2, 9)
        sample = dx.buffer_from_vector([{"x": x, "n": sizes}]).remove_value("x", "n", 1, 2, 9)[0]
        np.testing.assert_array_equal(sample["n"], left)
        width = sample["x"].shape[1]
        np.testing.assert_array_equal(sample["x"], out[:, :width])
        assert (out[:, width:] == 9).all()


def test_random_parts_are_parts(rng):
    x = np.arange(7 * 8 * 3, dtype=np.uint8).reshape(7, 8, 3)
    windows = {
        bytes(np.ascontiguousarray(x[i : i + 4, j : j + 5])) for i in range(4) for j in range(4)
    }
    rows = dx.buffer_from_vector([{"x": x}] * examples(60))
    crops = [s["x"] for s in rows.image_random_crop("x", 5, 4)]
    assert all(c.shape == (4, 5, 3) and c.tobytes() in windows for c in crops)
    assert len({c.tobytes() for c in crops}) > 8
    parts = [s["x"] for s in rows.random_slice("x", [0, 1], [4, 5])]
    assert all(p.tobytes() in windows for p in parts)
    flips = [s["x"] for s in rows.image_random_h_flip("x", 0.5)]
    turned = [np.array_equal(f, x[:, ::-1]) for f in flips]
    assert all(t or np.array_equal(f, x) for t, f in zip(turned, flips, strict=True))
    assert 0.1 < np.mean(turned) < 0.9
    assert all(np.array_equal(s["x"], x[:, ::-1]) for s in rows[:3].image_random_h_flip("x", 1))
    assert all(np.array_equal(s["x"], x) for s in rows[:3].image_random_h_flip("x", 0))


# Calls every method with hostile arguments; a line tells how each ended.
HOSTILE = """
import itertools, json, sys, warnings
import numpy as np, umber.data as dx
warnings.simplefilter("ignore")
NUMBERS = (0, -1, -7, 2**40, 2**62, -2**62, 2**63, 2**100, 1.5, float("nan"))
VALUES = (*NUMBERS, None, "text", [], [0, 0], [-9], object(), b"", {})
SAMPLES = (
    {"x": np.arange(12, dtype=np.uint8).reshape(2, 2, 3), "n": np.array([1, 2])},
    {"x": np.zeros((0, 3)), "n": np.zeros(0)},
    {"x": np.array(3), "n": np.array(2**62)},
    {"x": b"", "n": b"abc"},
    {},
)
CALLS = json.loads(sys.argv[1])
PLAIN = {
    **{"key": "x", "ikey": "x", "size_key": "n", "filename_key": "n", "output_key": "y"},
    **{"dtype": "int8", "byte_map": ["a"] * 256, "old": "a", "replacement": "b"},
    **{"area_range": (0.1, 0.5), "aspect_ratio_range": (0.5, 2.0), "prefix": "/nonexistent"},
}
allowed = (ValueError, TypeError, IndexError, OverflowError, MemoryError, OSError)
allowed += (dx.DataError, NotImplementedError)
for (name, parameters, defaults), sample in itertools.product(CALLS, SAMPLES):
    source = dx.buffer_from_vector([sample])
    for parameter, value in itertools.product(parameters, VALUES):
        arguments = {p: PLAIN.get(p, 1) for p in parameters if p not in defaults}
        arguments[parameter] = value
        print(name, parameter, repr(value), list(sample), flush=True)
        try:
            assert isinstance(getattr(source, name)(**arguments)[0], dict)
        except allowed as error:
            assert str(error), "an error without text"
            assert "panicked" not in str(error), str(error)
"""


def parameters_of(name):
    parameters = inspect.signature(getattr(dx.Buffer, name)).parameters.values()
    named = [p for p in parameters if p.name != "self"]
    return [p.name for p in named], [p.name for p in named if p.default is not p.empty]


def test_hostile_arguments_raise_typed_errors():
    calls = [(name, *parameters_of(name)) for name in sorted(all_operations())]
    ended = subprocess.run(
        [sys.executable, "-c", HOSTILE, json.dumps(calls)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert ended.returncode == 0, (ended.stdout.splitlines()[-1:], ended.stderr[-800:])
    assert not ended.stderr
