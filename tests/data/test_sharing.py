"""Samples share memory with what they come from, and no edit reaches what it should not."""

import gc
from array import array as plain_buffer

import numpy as np
import pytest
import umber.core as mx
import umber.data as dx

pytestmark = pytest.mark.host


def address(array):
    return np.asarray(array).__array_interface__["data"][0]


def columns():
    return {"x": np.arange(24.0, dtype=np.float32).reshape(6, 4), "n": np.arange(6)}


def vector(arrays):
    return dx.buffer_from_vector([{"x": row, "n": n} for n, row in enumerate(arrays)])


def test_arrays_come_in_and_out_without_a_copy():
    x = np.arange(12).reshape(3, 4)
    for array in (x, x[::2, ::-1], x.T, np.broadcast_to(x, (2, 3, 4))):
        got = dx.buffer_from_vector([{"x": array}])[0]["x"]
        assert address(got) == address(array)
        assert got.strides == array.strides
        assert not got.flags.writeable
        with pytest.raises(ValueError, match="read-only"):
            got[0] = 1


def test_writes_of_the_owner_are_seen():
    data = columns()
    rows, copies = dx.buffer_from_arrays(data), vector(data["x"])
    data["x"][2] = -1
    assert (rows[2]["x"] == -1).all()
    assert (copies.to_stream().skip(2).next()["x"] == -1).all()
    assert address(rows[2]["x"]) == address(data["x"][2])


SHARING = {
    "as it is": lambda b: b.to_stream(),
    "slice": lambda b: b.slice("x", 0, 1, 3).to_stream(),
    "squeeze": lambda b: b.squeeze("x").to_stream(),
    "shard": lambda b: b.shard("x", 2).to_stream(),
    "rename": lambda b: b.rename_key("x", "y").rename_key("y", "x").to_stream(),
    "filter_key": lambda b: b.filter_key("x").to_stream(),
    "pad by nothing": lambda b: b.pad("x", 0, 0, 0, 0).to_stream(),
    "pad_to_size": lambda b: b.pad_to_size("x", 0, 1, 0).to_stream(),
    "cast to itself": lambda b: b.cast("x", "float32").to_stream(),
    "cache": lambda b: b.to_stream().cache(),
    "buffered": lambda b: b.to_stream().buffered(2),
    "concretize": lambda b: b.concretize().to_stream(),
    "to_buffer": lambda b: b.to_stream().to_buffer().to_stream(),
    "repeat": lambda b: b.to_stream().repeat(1),
    "shuffle": lambda b: b.to_stream().shuffle(3, seed=1),
    "perm": lambda b: b.perm([0, 0, 1, 1]).to_stream(),
    "append": lambda b: b.append(b).to_stream(),
    "windows": lambda b: b.to_stream().sliding_window("x", 2, 1),
    "enumerate": lambda b: b.to_stream().enumerate("i"),
    "filter": lambda b: b.to_stream().filter(lambda s: True),
    "batches": lambda b: b.batch(2).to_stream(),
    "batches of a stream": lambda b: b.to_stream().batch(2),
    "cached batches": lambda b: b.to_stream().batch(2).cache(),
    "joined": lambda b: b.batch(1, dim={"x": 0}).to_stream(),
    "output key": lambda b: b.squeeze("x", None, "y").to_stream(),
    "chain": lambda b: dx.chain(b.to_stream(), b.to_stream()),
    "prefetch": lambda b: b.to_stream().prefetch(3, 2),
}


def scribble(array):
    array[...] = -7
    return array


def scribble_all(sample):
    for array in sample.values():
        array[...] = -7
    return sample


@pytest.mark.parametrize("make", [vector, lambda x: dx.buffer_from_arrays({"x": x})])
@pytest.mark.parametrize("stage", SHARING)
@pytest.mark.parametrize("how", ["key", "sample", "kept"])
def test_a_transform_that_scribbles_leaves_the_source_alone(make, stage, how):
    x = columns()["x"]
    before = x.copy()
    source = SHARING[stage](make(x))
    expected = [s["x"].copy() for s in source]
    source.reset()
    kept = []
    if how == "key":
        below = source.key_transform("x", scribble)
    elif how == "sample":
        below = source.sample_transform(scribble_all)
    else:
        kept = list(source)
        source.reset()
        below = source.key_transform("x", scribble)
    for threads in (0, 2):
        stream = below.prefetch(2, threads) if threads else below
        assert all((s["x"] == -7).all() for s in stream)
        np.testing.assert_array_equal(x, before)
        source.reset()
        if stage != "shuffle":
            got = [s["x"] for s in source]
            assert len(got) == len(expected)
            for one, other in zip(got, expected, strict=True):
                np.testing.assert_array_equal(one, other)
        source.reset()
    for one, other in zip(kept, expected, strict=False):
        assert stage == "shuffle" or np.array_equal(one["x"], other)


def test_the_other_key_of_one_memory_is_left_alone():
    both = vector(columns()["x"]).cast("x", "float64").squeeze("x", None, "y")
    sample = both.key_transform("x", scribble)[1]
    assert (sample["x"] == -7).all()
    assert sample["y"].tolist() == [4, 5, 6, 7]


def test_a_transform_may_keep_its_argument():
    kept = []

    def keep(array):
        kept.append(array)
        return array

    twice = vector(columns()["x"]).to_stream().key_transform("x", keep).key_transform("x", scribble)
    samples = list(twice)
    assert all((s["x"] == -7).all() for s in samples)
    for number, array in enumerate(kept):
        assert array.tolist() == [4 * number + i for i in range(4)]


def test_without_writable_nothing_is_copied():
    x = columns()["x"]
    seen = []

    def look(array):
        seen.append((address(array), array.flags.writeable))
        return array

    out = list(vector(x).key_transform("x", look, writable=False))
    assert seen == [(address(row), False) for row in x]
    assert [address(s["x"]) for s in out] == [address(row) for row in x]


def test_what_is_alone_is_handed_over_and_edited_in_place():
    addresses = []

    def edit(array):
        assert array.flags.writeable
        addresses.append(address(array))
        array += 1
        return array

    def edited(source):
        return source.key_transform("x", edit)

    source = vector(columns()["x"]).cast("x", "float64")
    for samples in (
        edited(source),
        edited(source.to_stream().prefetch(2, 2)),
        edited(source.batch(2)),
    ):
        addresses.clear()
        for number, sample in enumerate(samples):
            assert address(sample["x"]) == addresses[number]
            assert sample["x"].ravel()[1] == sample["x"].ravel()[0] + 1


@pytest.mark.parametrize("make", [vector, lambda x: dx.buffer_from_arrays({"x": x})])
@pytest.mark.parametrize("threads", [0, 2])
def test_batches_become_arrays_without_a_copy(make, threads):
    def stream():
        batches = make(columns()["x"]).to_stream().batch(2)
        return batches.prefetch(2, threads) if threads else batches

    for batch in stream():
        assert batch["x"].flags.writeable
        array = mx.asarray(batch["x"])
        assert address(array) == address(batch["x"])
    made = list(stream().arrays())
    assert all(isinstance(sample["x"], mx.array) for sample in made)
    np.testing.assert_array_equal(
        np.concatenate([np.asarray(s["x"]) for s in made]), columns()["x"]
    )
    only = stream().arrays(["n"]).next()
    assert isinstance(only["x"], np.ndarray)


def test_arrays_compute():
    batch = vector(columns()["x"]).to_stream().batch(3).arrays().next()
    assert mx.sum(batch["x"]).item() == 66
    value, slope = mx.value_and_grad(lambda x: (x * x).sum())(batch["x"])
    assert value.item() == 506
    assert slope[0].tolist() == [0, 2, 4, 6]


def test_views_outlive_everything():
    x = columns()["x"]
    source = vector(x)
    views = [
        source[1]["x"],
        source.batch(4)[0]["x"],
        next(iter(source.to_stream().prefetch(2, 2)))["x"],
    ]
    values = [view.copy() for view in views]
    del source, x
    gc.collect()
    filler = [np.full((6, 4), 9, np.float32) for _ in range(50)]
    for view, value in zip(views, values, strict=True):
        np.testing.assert_array_equal(view, value)
    del filler


def test_batches_that_are_held_are_never_reused():
    stream = vector(columns()["x"]).to_stream().repeat(50).batch(3).prefetch(2, 2)
    held = [(batch["x"], batch["x"].copy()) for batch in stream]
    for view, value in held:
        np.testing.assert_array_equal(view, value)


def test_reads_of_a_batch_are_private_to_each_reader():
    batches = vector(columns()["x"]).batch(2)
    batches[0]["x"][...] = 9
    assert batches[0]["x"][0].tolist() == [0, 1, 2, 3]
    cached = batches.concretize()
    first = cached[0]["x"]
    assert not first.flags.writeable or cached[0]["x"] is first
    assert cached[0]["x"][0].tolist() == [0, 1, 2, 3]


def test_buffers_that_are_no_arrays_are_copied():
    memory = plain_buffer("f", [10, -2.5])
    rows = dx.buffer_from_vector([{"x": memory}])
    memory[0] = 0
    assert rows[0]["x"].tolist() == [10, -2.5]
    assert rows[0]["x"].dtype == np.float32
