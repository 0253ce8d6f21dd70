"""Windows, and numbers spaced evenly on a logarithmic scale."""

import numpy as np
import umber.core as mx
from arrays import FLOATS, INTEGERS
from domains import ABOVE_ONE, POSITIVE, SMALL
from op_table import OpRecord, op

from records.creation import default, making

WINDOWS = {
    "bartlett": np.bartlett,
    "blackman": np.blackman,
    "hamming": np.hamming,
    "hanning": np.hanning,
}


def window(name, oracle, length):
    return default(f"{name}[{length}]", lambda: op(name)(length), lambda: oracle(length), "float32")


RECORDS = [
    *(
        window(name, oracle, length)
        for name, oracle in WINDOWS.items()
        for length in (-1, 0, 1, 2, 3, 10, 257)
    ),
    *making(
        "logspace", lambda d: mx.logspace(-1, 2, 7, dtype=d), lambda: np.logspace(-1, 2, 7), FLOATS
    ),
    *making(
        "logspace[ints",
        lambda d: mx.logspace(0, 6, 7, base=2.0, dtype=d),
        lambda: np.logspace(0, 6, 7, base=2.0),
        INTEGERS,
    ),
    default("logspace[50]", lambda: mx.logspace(0, 1), lambda: np.logspace(0, 1), "float32"),
    default("logspace[none]", lambda: mx.logspace(0, 1, 0), lambda: np.zeros(0), "float32"),
    default(
        "logspace[open]",
        lambda: mx.logspace(0, 3, 3, endpoint=False),
        lambda: np.logspace(0, 3, 3, endpoint=False),
        "float32",
    ),
    *making(
        "geomspace",
        lambda d: mx.geomspace(0.5, 40.0, 7, dtype=d),
        lambda: np.geomspace(0.5, 40.0, 7),
        FLOATS,
    ),
    *making(
        "geomspace[ints",
        lambda d: mx.geomspace(1, 64, 7, dtype=d),
        lambda: 2 ** np.arange(7),
        INTEGERS,
    ),
    default(
        "geomspace[negative]",
        lambda: mx.geomspace(-1000, -1, 4),
        lambda: np.geomspace(-1000, -1, 4),
        "float32",
    ),
    default(
        "geomspace[open]",
        lambda: mx.geomspace(1, 256, 8, endpoint=False),
        lambda: np.geomspace(1, 256, 8, endpoint=False),
        "float32",
    ),
    default("geomspace[one]", lambda: mx.geomspace(3, 4, 1), lambda: np.array([3.0]), "float32"),
    OpRecord(
        "logspace[arrays]",
        lambda x, y, base: mx.logspace(x, y, 4, base=base, axis=1),
        lambda x, y, base: np.logspace(x, y, 4, base=base, axis=1),
        shapes=((2, 1), (3,), (3,)),
        domain=(SMALL, SMALL, ABOVE_ONE),
        dtypes=INTEGERS + FLOATS,
        result="float32",
        differentiable=(0, 1, 2),
        tolerance=4,
    ),
    OpRecord(
        "geomspace[arrays]",
        lambda x, y: mx.geomspace(x, y, 4, axis=-1),
        lambda x, y: np.geomspace(x, y, 4, axis=-1),
        shapes=((2, 3), (3,)),
        domain=POSITIVE,
        dtypes=INTEGERS + FLOATS,
        result="float32",
        differentiable=(0, 1),
        tolerance=4,
    ),
]
