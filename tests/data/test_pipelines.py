"""Random pipelines equal the same done with lists, with and without threads."""

import itertools
import operator
import random
from collections import Counter

import numpy as np
import pytest
import umber.data as dx
from hypothesis import given, note
from hypothesis import strategies as st


def rows(count):
    return [{"x": np.array([n]), "n": n} for n in range(count)]


def buffer(count):
    return dx.buffer_from_vector(rows(count))


def plain(sample):
    return {key: np.asarray(value).tolist() for key, value in sample.items()}


def numbers(samples):
    return [int(sample["n"]) for sample in samples]


def batched(samples, sizes):
    """Lists of lists: what stacking gives."""
    samples, sizes = iter(samples), itertools.cycle(sizes)
    while part := list(itertools.islice(samples, next(sizes))):
        yield {key: [sample[key] for sample in part] for key in part[0]}


def double(value):
    value *= 2
    return value


def is_kept(sample):
    return np.asarray(sample["n"]).ravel().sum() % 3 != 1


def twice(value):
    return (2 * np.asarray(value)).tolist()


# Each: a method, its arguments, and the same for a list of plain samples.
BOTH = st.one_of(
    st.lists(st.integers(1, 5), min_size=1, max_size=3).map(
        lambda sizes: ("batch", (sizes,), lambda s: list(batched(s, sizes)))
    ),
    st.integers(1, 4).flatmap(
        lambda n: st.integers(0, n - 1).map(
            lambda part: ("partition", (n, part), lambda s: s[part::n])
        )
    ),
    st.just(("key_transform", ("x", double), lambda s: [{**a, "x": twice(a["x"])} for a in s])),
    st.just(
        ("rename_key", ("x", "x"), lambda s: s),
    ),
)
STREAM = st.one_of(
    BOTH,
    st.integers(0, 9).map(lambda n: ("take", (n,), lambda s: s[:n])),
    st.integers(0, 9).map(lambda n: ("skip", (n,), lambda s: s[n:])),
    st.integers(1, 2).map(lambda n: ("repeat", (n,), lambda s: s * (n + 1))),
    st.just(("filter", (is_kept,), lambda s: [a for a in s if is_kept(a)])),
    st.just(("cache", (), lambda s: s)),
    st.integers(1, 5).map(lambda n: ("buffered", (n,), lambda s: s)),
    st.just(("enumerate", ("i",), lambda s: [{**a, "i": n} for n, a in enumerate(s)])),
    st.tuples(st.integers(1, 6), st.integers(1, 4)).map(lambda a: ("prefetch", a, lambda s: s)),
)
BUFFER = st.one_of(
    BOTH,
    st.just(("concretize", (), lambda s: s)),
    st.just(("__getitem__", (slice(None, None, -1),), lambda s: s[::-1])),
    st.just(("__getitem__", (slice(1, -1, 2),), lambda s: s[1:-1:2])),
)


def applied(source, samples, stages):
    for method, arguments, reference in stages:
        note(f"{method}{arguments}")
        source, samples = getattr(source, method)(*arguments), reference(samples)
    return source, samples


@given(st.integers(0, 13), st.lists(BUFFER, max_size=4), st.lists(STREAM, max_size=5))
def test_pipelines_equal_lists(count, above, below):
    samples = [{"x": [n], "n": n} for n in range(count)]
    made, samples = applied(buffer(count), samples, above)
    assert len(made) == len(samples)
    assert [plain(s) for s in made] == samples
    assert [plain(made[n - len(samples)]) for n in range(len(samples))] == samples
    stream, samples = applied(made.to_stream(), samples, below)
    for _ in range(2):
        assert [plain(s) for s in stream] == samples
        assert stream.next() == {}
        stream.reset()
    try:
        assert len(stream) == len(samples)
    except TypeError:
        assert any(method == "filter" for method, *_ in below)


@given(st.integers(0, 20), st.integers(1, 8), st.integers(1, 4), st.data())
def test_shuffles_are_permutations_within_bounds(count, size, threads, data):
    source = buffer(count)
    assert sorted(numbers(source.shuffle(seed=3))) == list(range(count))
    assert numbers(source.shuffle(seed=3)) == numbers(source.shuffle(seed=3))
    shuffled = source.to_stream(shuffle=True, seed=count)
    passes = [numbers(shuffled)]
    shuffled.reset()
    passes.append(numbers(shuffled))
    assert all(sorted(order) == list(range(count)) for order in passes)
    assert count < 9 or passes[0] != passes[1]
    mixed = numbers(source.to_stream().shuffle(size, seed=5).prefetch(size, threads))
    assert sorted(mixed) == list(range(count))
    assert mixed == numbers(source.to_stream().shuffle(size, seed=5))
    assert all(number - place < size for place, number in enumerate(mixed))
    order = data.draw(st.lists(st.integers(-count, count - 1), max_size=9)) if count else []
    assert numbers(source.perm(order)) == [n % count for n in order]
    assert numbers(source[order]) == numbers(source[np.array(order, int)])
    assert numbers(source.append(source.partition(2, 0))) == [*range(count), *range(0, count, 2)]


lengths = st.lists(st.integers(0, 9), max_size=25)


@given(lengths, st.integers(1, 30), st.booleans(), st.integers(1, 9), st.integers(1, 4))
def test_dynamic_batches_hold_their_limits(sizes, most, drops, gathered, threads):
    source = dx.buffer_from_vector([{"x": np.full(n, i), "n": i} for i, n in enumerate(sizes)])
    options = {"max_data_size": most, "drop_outliers": drops}
    kept = [i for i, n in enumerate(sizes) if n <= most or not drops]
    stream = source.to_stream()
    for batches in (
        source.dynamic_batch("x", **options),
        stream.dynamic_batch(gathered, "x", **options),
        source.to_stream().dynamic_batch(gathered, "x", num_threads=threads, **options),
        source.to_stream().dynamic_batch(gathered, "x", **options).prefetch(3, threads),
    ):
        seen = Counter()
        for batch in batches:
            assert batch["x"].size <= most or len(batch["n"]) == 1
            assert batch["x"].shape[1] == max(sizes[i] for i in batch["n"])
            for row, i in zip(batch["x"], batch["n"], strict=True):
                assert row.tolist() == [i] * sizes[i] + [0] * (len(row) - sizes[i])
            seen.update(batch["n"].tolist())
        assert seen == Counter(kept)


def windows(length, size, stride):
    start = 0
    while start < length:
        yield start, min(start + size, length)
        if start + size >= length:
            return
        start += stride


@given(st.lists(st.integers(1, 12), max_size=6), st.integers(1, 5), st.integers(1, 4))
def test_windows_cover_their_values(sizes, size, threads):
    source = dx.buffer_from_vector([{"x": np.arange(n), "n": n} for n in sizes])
    for stride in range(1, size + 1):
        made = source.to_stream().sliding_window("x", size, stride).prefetch(2, threads)
        got = [(int(s["n"]), s["x"].tolist()) for s in made]
        expected = [(n, list(range(*w))) for n in sizes for w in windows(n, size, stride)]
        assert got == expected


def test_values_are_joined_along_an_axis():
    source = dx.buffer_from_vector([{"x": np.full((2, n), n), "n": n} for n in (1, 3, 2)])
    joined = source.batch(3, dim={"x": 1})[0]
    assert joined["x"].shape == (2, 6)
    assert joined["n"].tolist() == [1, 3, 2]
    padded = source.to_stream().batch(3, pad={"x": -1}).next()["x"]
    assert padded.shape == (3, 2, 3)
    assert padded[0, 0].tolist() == [1, -1, -1]


def test_samples_that_do_not_fit_are_named():
    source = dx.buffer_from_vector([{"x": 1}, {"x": 2, "y": 3}])
    with pytest.raises(ValueError, match="'y'"):
        source.batch(2)[0]
    mixed = dx.buffer_from_vector([{"x": 1}, {"x": 2.0}])
    with pytest.raises(TypeError, match="'x'"):
        mixed.batch(2)[0]
    ragged = dx.buffer_from_vector([{"x": [1]}, {"x": [[1]]}])
    with pytest.raises(ValueError, match="'x'"):
        ragged.to_stream().batch(2).next()


def test_streams_merge():
    a, b = buffer(3), buffer(5).key_transform("n", lambda n: n + 10)
    assert numbers(dx.chain(a.to_stream(), b.to_stream())) == [0, 1, 2, 10, 11, 12, 13, 14]
    renamed = b.rename_key("x", "y").rename_key("n", "m").to_stream()
    assert [(int(s["n"]), int(s["m"])) for s in dx.zip(a.to_stream(), renamed)] == [
        (0, 10),
        (1, 11),
        (2, 12),
    ]
    with pytest.raises(ValueError, match="'x'"):
        dx.zip(a.to_stream(), b.to_stream()).next()


def test_mixtures_have_their_shares():
    def mixture(threads):
        streams = [dx.buffer_from_vector([{"k": k}]).to_stream().repeat(0) for k in range(3)]
        mixed = dx.mix(streams, [1, 2, 5], seed=4).take(4000)
        return [int(s["k"]) for s in (mixed.prefetch(8, threads) if threads else mixed)]

    drawn = mixture(0)
    for k, share in enumerate((1 / 8, 2 / 8, 5 / 8)):
        assert abs(drawn.count(k) - 4000 * share) < 3 * (4000 * share * (1 - share)) ** 0.5
    assert drawn == mixture(2)
    every = dx.mix([buffer(3).to_stream(), buffer(7).to_stream()], [9, 1], seed=1, stop="all")
    assert Counter(numbers(every)) == Counter([*range(3), *range(7)])
    first = numbers(dx.mix([buffer(3).to_stream(), buffer(70).to_stream()], [1, 1], seed=1))
    assert Counter(n for n in first if n < 3)[0] <= 2
    assert len(first) < 73


def test_buffers_are_sequences():
    source = buffer(4).batch(2)
    for index in (2, -3, 2**63, -(2**63), 2**100):
        with pytest.raises(IndexError, match="out of bounds"):
            source[index]
        with pytest.raises(IndexError, match="out of bounds"):
            source.perm([index])
    for index in (1.5, "x", None, [0.5], [True, False], np.array([True, False])):
        with pytest.raises(TypeError, match="int"):
            source[index]
    assert source[np.int8(-1)]["n"].tolist() == [2, 3]
    assert len(source[:0]) == 0
    assert [int(s["n"]) for s in buffer(4)] == [int(s["n"]) for s in buffer(4)]
    first, second = iter(source), iter(source)
    assert next(first)["n"].tolist() == next(second)["n"].tolist() == [0, 1]
    assert operator.length_hint(first) == 1
    assert "batch" in repr(source)


def test_handles_share_a_position():
    stream = buffer(6).to_stream()
    other = stream.key_transform_if(False, "x", double)
    arrays = stream.arrays()
    below = stream.key_transform("n", double)
    assert numbers([stream.next(), next(other), arrays(), below.next()]) == [0, 1, 2, 6]
    assert stream.__length_hint__() == other.__length_hint__() == 3
    assert numbers(stream) == [4, 5]
    assert below.next() == other.next() == stream() == {}
    with pytest.raises(StopIteration):
        next(stream)
    stream.reset()
    assert arrays.__length_hint__() == len(arrays) == 6
    assert len(list(below)) == 6


def test_lengths_are_right_or_absent():
    assert len(buffer(7).to_stream().batch(2).repeat(1)) == 8
    assert len(buffer(7).to_stream().take(2**63 - 1)) == 7
    for stream, why in (
        (buffer(3).to_stream().repeat(0), "no end"),
        (buffer(3).to_stream().filter(is_kept), "not known"),
        (dx.stream_python_iterable(lambda: rows(3)), "not known"),
    ):
        with pytest.raises(TypeError, match=why):
            len(stream)
        assert operator.length_hint(stream, 5) in (0, 5)
    assert len(buffer(9).to_stream().repeat(2**63 - 1)) == 2**63 - 1


def test_values_come_in_as_numpy_has_them():
    for value, dtype in (
        (3, "int64"),
        (np.float64(2), "float64"),
        (2.5, "float64"),
        (True, "bool"),
        (1j, "complex128"),
        (np.float32(1), "float32"),
        (np.int16(1), "int16"),
        (b"ab", "int8"),
        (bytearray(b"ab"), "uint8"),
        (memoryview(b"abcd")[::2], "uint8"),
        ([[1, 2]], "int64"),
        ([], "float64"),
        (np.zeros((0, 3), "uint16"), "uint16"),
        (np.arange(3).astype(">i4"), "int32"),
    ):
        got = dx.buffer_from_vector([{"x": value}])[0]["x"]
        assert got.dtype == dtype
        if not isinstance(value, bytes | bytearray | memoryview):
            np.testing.assert_array_equal(got, value)
    for value in ("text", None, {}, object(), [object()], 2**63, np.array("a"), [[1], [1, 2]]):
        with pytest.raises((TypeError, ValueError), match=r"sample 0, key 'x'"):
            dx.buffer_from_vector([{"x": value}])


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_prefetch_is_complete_with_random_delays(threads):
    import time

    delays = random.Random(threads)

    def slow(value):
        time.sleep(delays.random() / 500)
        return value

    source = buffer(60).to_stream().key_transform("x", slow)
    assert numbers(source.prefetch(5, threads)) == list(range(60))
    source.reset()
    assert sorted(numbers(source.prefetch(5, threads, ordered=False))) == list(range(60))
    source.reset()
    batches = [len(b["n"]) for b in source.batch(7).prefetch(3, threads)]
    assert batches == [7] * 8 + [4]


@pytest.mark.parametrize("is_stream", [False, True])
def test_batches_have_at_least_their_least_size(is_stream):
    rng = np.random.default_rng(4)
    rows = dx.buffer_from_vector([{"x": np.ones(n)} for n in rng.integers(1, 30, 200)])
    limits = {"min_data_size": 90, "max_data_size": 100}
    if is_stream:
        batches = rows.to_stream().dynamic_batch(50, "x", **limits)
    else:
        batches = rows.dynamic_batch("x", **limits)
    sizes = [batch["x"].size for batch in batches]
    assert len(sizes) > 15
    assert all(90 <= size <= 100 for size in sizes)
