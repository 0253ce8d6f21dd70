"""Normalisations that are one kernel."""

import numpy as np
from arrays import FLOATS
from op_table import OpRecord, bind

EPSILON = 1e-3


def rms(x, weight=1.0):
    return x / np.sqrt(np.mean(x * x, -1, keepdims=True) + EPSILON) * weight


def layer(x, weight=1.0, bias=0.0):
    centred = x - np.mean(x, -1, keepdims=True)
    return (
        centred / np.sqrt(np.mean(centred * centred, -1, keepdims=True) + EPSILON) * weight + bias
    )


def norm(name, oracle, arity, given):
    """One record: `given` says which of the optional arrays there are."""
    label = f"fast.{name}[{'+'.join(given) or 'plain'}]"
    function = bind(f"fast.{name}")
    slots = ["weight", "bias"][:arity]

    def call(x, *arrays):
        arrays = iter(arrays)
        optional = {slot: next(arrays) if slot in given else None for slot in slots}
        return function(x, *optional.values(), EPSILON)

    return OpRecord(
        label,
        call,
        oracle,
        shapes=((3, 5), *((5,),) * len(given)),
        dtypes=FLOATS,
        differentiable=tuple(range(1 + len(given))),
        empty=((0, 5), *((5,),) * len(given)),
        long=((7, 1030), *((1030,),) * len(given)),
        # A mean, a root, a quotient and a product.
        tolerance=6,
    )


RECORDS = [
    norm("rms_norm", rms, 1, ()),
    norm("rms_norm", rms, 1, ("weight",)),
    norm("layer_norm", layer, 2, ()),
    norm("layer_norm", layer, 2, ("weight",)),
    norm("layer_norm", layer, 2, ("weight", "bias")),
]
