"""Exported functions of earlier releases are read, and compute what they computed."""

from __future__ import annotations

import numpy as np
import pytest
import umber.core as mx
from stored_functions import FOLDER, FUNCTIONS


@pytest.mark.parametrize("name", FUNCTIONS)
def test_files_of_earlier_releases(name: str) -> None:
    function, arguments = FUNCTIONS[name]
    inputs = arguments()
    stored = mx.import_function(str(FOLDER / f"{name}.safetensors"))(*inputs)
    expected = function(*inputs)
    assert len(stored) == len(expected)
    for i, (a, b) in enumerate(zip(stored, expected, strict=True)):
        assert (a.dtype, a.shape) == (b.dtype, b.shape), i
        np.testing.assert_allclose(
            np.array(a.astype(mx.float32)),
            np.array(b.astype(mx.float32)),
            1e-5,
            1e-6,
            err_msg=f"{i}",
        )


def test_every_file_is_tested() -> None:
    assert {path.stem for path in FOLDER.iterdir()} == set(FUNCTIONS)
