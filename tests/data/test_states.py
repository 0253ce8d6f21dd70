"""A pipeline goes on from a state, bit for bit, wherever and on however many threads."""

import copy
import json

import numpy as np
import pytest
import umber.data as dx
from hypothesis import given
from hypothesis import strategies as st
from umber.core import _data


def rows(count):
    return [{"x": np.arange(4) + n, "n": n} for n in range(count)]


def buffer(count):
    return dx.buffer_from_vector(rows(count))


def plain(sample):
    return {key: value.tolist() for key, value in sample.items()}


def through_json(state):
    return json.loads(json.dumps(state))


def is_kept(sample):
    return int(np.sum(sample["n"])) % 3 != 1


def fails_at_four(value):
    if value.ndim == 0 and int(value) == 4:
        raise ValueError("four")
    return value


STAGES = st.one_of(
    st.integers(1, 4).map(lambda n: lambda s: s.batch(n)),
    st.just(lambda s: s.batch([1, 3])),
    st.integers(1, 9).map(lambda n: lambda s: s.shuffle(n)),
    st.integers(1, 2).map(lambda n: lambda s: s.repeat(n)),
    st.integers(1, 4).map(lambda n: lambda s: s.buffered(n)),
    st.integers(0, 3).map(lambda n: lambda s: s.skip(n)),
    st.integers(5, 20).map(lambda n: lambda s: s.take(n)),
    st.just(lambda s: s.filter(is_kept)),
    st.just(lambda s: s.enumerate("i")),
    st.just(lambda s: s.cache()),
    st.just(lambda s: s.partition(2, 1)),
    st.just(lambda s: s.random_slice("x", -1, 2)),
    st.just(lambda s: s.sliding_window("x", 3, 2)),
    st.just(lambda s: s.dynamic_batch(4, "x", max_data_size=9, shuffle=True)),
    st.just(lambda s: s.key_transform("n", fails_at_four).on_error("skip")),
    st.just(lambda s: dx.chain(s, buffer(3).to_stream())),
    st.just(lambda s: dx.mix([s, buffer(9).to_stream(shuffle=True)], [2, 1], stop="all")),
)
SOURCES = st.sampled_from(
    [
        lambda: buffer(11).to_stream(),
        lambda: buffer(11).to_stream(shuffle=True),
        lambda: buffer(11).shuffle().to_stream(),
        lambda: dx.stream_python_iterable(lambda: iter(rows(9))),
    ]
)


def build(seed, source, stages, threads):
    """The pipeline, with prefetches where `threads` has a number."""
    _data.set_state(seed)
    stream = source()
    for stage, count in zip((None, *stages), threads, strict=True):
        stream = stage(stream) if stage else stream
        stream = stream.prefetch(2 * count, count) if count else stream
    return stream


@given(SOURCES, st.lists(STAGES, max_size=4), st.data())
def test_pipelines_go_on_from_every_point(source, stages, data):
    def threads():
        sizes = st.lists(st.sampled_from([0, 0, 1, 2]), min_size=len(stages) + 1)
        return data.draw(sizes.map(lambda t: t[: len(stages) + 1]))

    def pipeline(seed):
        return build(seed, source, stages, threads())

    first = pipeline(5)
    passes = data.draw(st.integers(0, 1))
    for _ in range(passes):
        list(first)
        first.reset()
    states, samples = [through_json(first.state_dict())], []
    while sample := first.next():
        samples.append(plain(sample))
        states.append(through_json(first.state_dict()))
    first.reset()
    following = [plain(s) for s in first]
    point = data.draw(st.integers(0, len(samples)))
    for where in {point, 0, len(samples)}:
        again = pipeline(99)
        again.load_state_dict(states[where])
        assert through_json(again.state_dict()) == states[where]
        assert [plain(s) for s in again] == samples[where:]
        again.reset()
        assert [plain(s) for s in again] == following


@pytest.mark.parametrize("threads", [0, 1, 2, 4])
def test_random_numbers_do_not_depend_on_threads(threads):
    def stream(seed):
        _data.set_state(seed)
        return buffer(40).to_stream(shuffle=True).random_slice("x", 0, 2).shuffle(9).batch(3)

    def read(seed, threads):
        made = stream(seed)
        made = made.prefetch(4, threads) if threads else made
        first = [plain(s) for s in made]
        made.reset()
        return first, [plain(s) for s in made]

    first, second = read(3, threads)
    assert (first, second) == read(3, 0)
    assert first != second
    assert first != read(4, 0)[0]


class Counting:
    """An iterator with a state."""

    def __init__(self, end):
        self.n, self.end, self.reads = 0, end, 0

    def __iter__(self):
        return self

    def __next__(self):
        if self.n == self.end:
            raise StopIteration
        self.n, self.reads = self.n + 1, self.reads + 1
        return {"n": self.n - 1}

    def state_dict(self):
        return {"n": self.n}

    def load_state_dict(self, state):
        self.n = state["n"]


@pytest.mark.parametrize("threads", [0, 2])
def test_iterables_with_a_state_are_not_read_again(threads):
    made = []

    def factory():
        made.append(Counting(9))
        return made[-1]

    def stream():
        source = dx.stream_python_iterable(factory).batch(1)
        return source.prefetch(4, threads) if threads else source

    whole = [plain(s) for s in stream()]
    first = stream()
    head = [plain(first.next()) for _ in range(5)]
    state = through_json(first.state_dict())
    first.close()
    second = stream()
    second.load_state_dict(state)
    assert head + [plain(s) for s in second] == whole
    assert made[-1].reads == 4


def test_random_stages_differ_by_place_and_draw():
    _data.set_state(7)
    x = np.arange(1000)
    source = dx.buffer_from_vector([{"x": x, "y": x}] * 2000)
    starts = [
        (int(s["x"][0]), int(s["y"][0]))
        for s in source.random_slice("x", 0, 991).random_slice("y", 0, 991)
    ]
    counts = np.zeros((10, 10))
    np.add.at(counts, tuple(np.array(starts).T), 1)
    expected = 2000 / 100
    # 99 degrees of freedom: above 180 once in 10^6.
    assert ((counts - expected) ** 2 / expected).sum() < 180


def test_stages_have_the_seeds_they_are_given():
    _data.set_state(1)
    first = [plain(s) for s in buffer(20).shuffle(seed=8)]
    _data.set_state(2)
    buffer(3).shuffle()
    assert [plain(s) for s in buffer(20).shuffle(seed=8)] == first
    _data.set_state(None)
    assert len(buffer(3).shuffle()) == 3
    _data.set_state(1234)


def test_other_pipelines_are_refused_by_the_first_difference():
    state = buffer(5).to_stream().batch(2).state_dict()
    for other, text in (
        (buffer(5).to_stream().batch(3), r"stage 2 was batch.* here it is batch"),
        (buffer(6).to_stream().batch(2), "stage 0 was buffer_from_vector"),
        (buffer(5).to_stream(), "nothing"),
        (buffer(5).to_stream().batch(2).take(1), "take"),
    ):
        with pytest.raises(ValueError, match=text):
            other.load_state_dict(state)


def damages(value):
    """The value with one part replaced or missing, each in turn."""
    for wrong in (None, -1, 2**64, 2**63, 1.5, "x", [], {}, [[]], True):
        yield wrong
    entries = value.items() if isinstance(value, dict) else ()
    entries = enumerate(value) if isinstance(value, list) else entries
    for key, part in entries:
        for wrong in damages(part):
            changed = copy.deepcopy(value)
            changed[key] = wrong
            yield changed
        changed = copy.deepcopy(value)
        del changed[key]
        yield changed


def test_damaged_states_change_nothing():
    def pipeline():
        source = dx.chain(buffer(5).to_stream(shuffle=True, seed=1), buffer(4).to_stream())
        return (
            source.shuffle(3, seed=2)
            .filter(is_kept)
            .sliding_window("x", 2, 1)
            .batch(2)
            .prefetch(3, 1)
        )

    stream, refused = pipeline(), 0
    stream.next()
    state = through_json(stream.state_dict())
    stream.close()
    stream = pipeline()
    stream.load_state_dict(state)
    rest = [plain(s) for s in stream]
    for damaged in damages(state):
        if not isinstance(damaged, dict):
            with pytest.raises(TypeError):
                stream.load_state_dict(damaged)
            continue
        stream.load_state_dict(state)
        try:
            stream.load_state_dict(damaged)
        except ValueError:
            refused += 1
            assert through_json(stream.state_dict()) == state
        else:
            list(stream.take(40))
    assert refused > 100
    stream.load_state_dict(state)
    assert [plain(s) for s in stream] == rest
    deep = None
    for _ in range(5000):
        deep = [deep]
    with pytest.raises(ValueError, match="deep"):
        stream.load_state_dict({**state, "state": deep})


def test_a_state_changes_nothing():
    stream = buffer(30).to_stream(shuffle=True, seed=1).shuffle(5, seed=2).batch(2).prefetch(4, 2)
    expected = [plain(s) for s in stream]
    stream = buffer(30).to_stream(shuffle=True, seed=1).shuffle(5, seed=2).batch(2).prefetch(4, 2)
    got = []
    while sample := stream.next():
        got.append(plain(sample))
        assert stream.state_dict() == stream.state_dict()
    assert got == expected


class Rank:
    def __init__(self, rank, size):
        self.numbers = rank, size

    def rank(self):
        return self.numbers[0]

    def size(self):
        return self.numbers[1]


@given(st.integers(0, 17), st.integers(1, 5), st.sampled_from([None, "drop", "pad"]))
def test_ranks_share_all_samples(count, size, even):
    source = buffer(count)

    def read(of):
        return [
            [int(s["n"]) for s in of(source).by_rank(Rank(rank, size), even=even)]
            for rank in range(size)
        ]

    buffers = read(lambda b: b)
    seen = sorted(n for part in buffers for n in part)
    if even is None:
        assert seen == list(range(count))
    else:
        assert len({len(part) for part in buffers}) == 1
    if even == "drop":
        assert seen == list(range(count // size * size))
    if even == "pad":
        assert set(seen) == set(range(count))
    if even != "pad":
        assert read(lambda b: b.to_stream()) == buffers


def test_ranks_resume():
    def stream(rank):
        return (
            buffer(20).to_stream(shuffle=True, seed=3).by_rank(Rank(rank, 3), even="drop").batch(2)
        )

    for rank in range(3):
        whole = stream(rank)
        whole.next()
        state = through_json(whole.state_dict())
        again = stream(rank)
        again.load_state_dict(state)
        assert [plain(s) for s in again] == [plain(s) for s in whole]
    with pytest.raises(ValueError, match="another pipeline"):
        stream(0).load_state_dict(stream(1).state_dict())


def test_groups_are_checked():
    for group in (3, object(), Rank("a", 2)):
        with pytest.raises(TypeError, match="rank"):
            buffer(3).by_rank(group)
    for group in (Rank(2, 2), Rank(0, 0)):
        with pytest.raises(ValueError, match="rank"):
            buffer(3).to_stream().by_rank(group)
    with pytest.raises(ValueError, match="'half'"):
        buffer(3).by_rank(even="half")
