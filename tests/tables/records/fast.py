"""Operations that are one kernel."""

import naive_attention as naive
import numpy as np
from arrays import FLOATS
from domains import ANY, SMALL, classes
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


def rope(label, shape, dims, traditional, **options):
    """One record of rotary positions."""
    keywords = {"traditional": traditional, "base": 100.0, "scale": 0.5, "offset": 3} | options
    return OpRecord(
        f"fast.rope[{label}]",
        bind("fast.rope", dims, **keywords),
        lambda a: naive.rope(a, dims, **keywords),
        shapes=(shape,),
        dtypes=FLOATS,
        differentiable=(0,),
        empty=((2, 0, 8),),
        long=((3, 70, 130),),
        # The sum of two products.
        tolerance=4,
    )


def attention(label, *shapes, sinks=False, **options):
    """One record of attention to `k` and `v` by `q`, and a mask or sinks after them."""

    def arrays(given):
        names = ["mask"] * (len(given) - sinks) + ["sinks"] * sinks
        return dict(zip(names, given, strict=True))

    def call(q, k, v, *given):
        function = bind("fast.scaled_dot_product_attention", scale=0.5, **arrays(given), **options)
        return function(q, k, v)

    def oracle(q, k, v, *given):
        return naive.attention(q, k, v, 0.5, **arrays(given), **options)

    return OpRecord(
        f"fast.scaled_dot_product_attention[{label}]",
        call,
        oracle,
        shapes=shapes,
        dtypes=FLOATS,
        differentiable=tuple(range(len(shapes))),
        # Products of queries and keys are rounded, and so are the weights.
        tolerance=10,
    )


Q, K, V = (2, 4, 3, 6), (2, 2, 5, 6), (2, 2, 5, 4)
STEPS = ((2, 3, 2, 4), (2, 3, 2, 4), (2, 3, 4, 5), (2, 3, 4), (2, 3, 4))


def cross_entropy(logits, targets):
    peak = logits.max(axis=-1, keepdims=True)
    total = np.log(np.exp(logits - peak).sum(axis=-1)) + peak[..., 0]
    return total - np.take_along_axis(logits, targets[..., None], axis=-1)[..., 0]


RECORDS = [
    norm("rms_norm", rms, 1, ()),
    norm("rms_norm", rms, 1, ("weight",)),
    norm("layer_norm", layer, 2, ()),
    norm("layer_norm", layer, 2, ("weight",)),
    norm("layer_norm", layer, 2, ("weight", "bias")),
    rope("halves", (2, 3, 8), 8, False),
    rope("neighbours", (2, 2, 3, 8), 6, True),
    attention("grouped", Q, K, V),
    attention("causal", (1, 2, 4, 3), (1, 2, 6, 3), (1, 2, 6, 3), mask="causal"),
    attention("mask", Q, K, V, (3, 5)),
    attention("sinks", Q, K, V, (4,), sinks=True),
    attention("mask+sinks", Q, K, V, (2, 1, 1, 5), (4,), sinks=True),
    OpRecord(
        "fast.cross_entropy",
        bind("fast.cross_entropy"),
        cross_entropy,
        shapes=((3, 5), (3,)),
        dtypes=("float32", "float64"),
        fixed={1: "int32"},
        domain=(ANY, classes(5)),
        differentiable=(0,),
        # A sum of exponentials and its logarithm.
        tolerance=4,
    ),
    OpRecord(
        "fast.nll_loss",
        bind("fast.nll_loss"),
        lambda x, targets: -np.take_along_axis(x, targets[..., None], axis=-1)[..., 0],
        shapes=((3, 5), (3,)),
        dtypes=("float16", "bfloat16", "float32", "float64"),
        fixed={1: "int32"},
        domain=(ANY, classes(5)),
        differentiable=(0,),
        second_order=False,
    ),
    OpRecord(
        "fast.gated_delta_update",
        bind("fast.gated_delta_update"),
        naive.gated_delta,
        shapes=STEPS,
        dtypes=("float32", "float64"),
        domain=SMALL,
        differentiable=(0, 1, 2, 3, 4),
        # Three steps of sums of products, each built on the one before.
        tolerance=20,
    ),
]
