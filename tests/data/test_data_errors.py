"""The classes of errors of pipelines, each also of the standard class that fits."""

import numpy as np
import pytest
import umber.data as dx

BUFFER = dx.buffer_from_vector(
    [{"x": np.zeros((2, 3)), "file": b"nowhere/at.all", "folder": b"/"}, {"x": np.zeros((2, 3))}]
)
FAULTS = {
    "batch": (dx.DataValueError, ValueError, lambda: BUFFER.batch(2)),
    "load_file": (dx.DataFileNotFoundError, FileNotFoundError, lambda: BUFFER.load_file("file")),
    "load_numpy": (dx.DataFileError, OSError, lambda: BUFFER.load_numpy("folder")),
    "image_resize": (dx.DataTypeError, TypeError, lambda: BUFFER.image_resize("x", 2, 2)),
    "squeeze": (dx.DataAxisError, IndexError, lambda: BUFFER.squeeze("x", 7)),
    "slice": (dx.DataIndexError, IndexError, lambda: BUFFER.slice("x", 0, 5, 7)),
    "pad_to_size": (dx.DataMemoryError, MemoryError, lambda: BUFFER.pad_to_size("x", 0, 2**62, 0)),
}


@pytest.mark.parametrize("stage", FAULTS)
def test_class_and_fields(stage):
    own, standard, make = FAULTS[stage]
    with pytest.raises(standard, match=rf"^\[{stage}\] sample 0") as caught:
        make()[0]
    error = caught.value
    assert type(error) is own
    assert isinstance(error, dx.DataError)
    assert isinstance(error, RuntimeError)
    assert (error.stage, error.index) == (stage, 0)


def test_a_file_is_named():
    with pytest.raises(dx.DataError) as caught:
        BUFFER.load_file("file")[0]
    assert (caught.value.key, caught.value.path) == ("file", "nowhere/at.all")


@pytest.mark.parametrize("threads", [1, 3])
def test_ordered_prefetch_raises_in_the_place_of_the_sample(threads):
    names = [{"file": b"/none"}, {"file": __file__.encode()}, {"file": b"/other"}]
    stream = dx.buffer_from_vector(names).load_file("file").ordered_prefetch(2, threads)
    with pytest.raises(dx.DataFileNotFoundError, match="</none>"):
        next(stream)
    assert bytes(next(stream)["file"]).startswith(b'"""The classes of errors')
    with pytest.raises(dx.DataFileNotFoundError, match="</other>"):
        next(stream)
    assert stream.next() == {}
