"""Numbers stored in few bits, and products with them; bits in `test_quantization.py`."""

import numpy as np
import quantized
import umber.core as mx
from arrays import FLOATS, HALF
from domains import ANY, SMALL, Domain, index
from op_table import OpRecord, op
from quantized import from_fp8, to_fp8

SINGLE = (*HALF, "float32")
RNG = np.random.default_rng(20261121)
# What comes out of many terms whose parts, codes and biases, are larger than their sum.
SUMS = 40


def words(*shape):
    return RNG.integers(0, 2**32, shape, dtype=np.uint64).astype(np.uint32)


def stored(mode, size, bits, *shape):
    """Words of some rows of two groups, and scales of modes where they are codes."""
    codes = words(*shape, 2 * size * bits // 32)
    if mode == "affine":
        return codes, None
    if mode == "mxfp8":
        # No NaN.
        codes &= np.uint32(0xF7F7F7F7)
    return codes, RNG.integers(100, 120, (*shape, 2)).astype(np.uint8) % 120


def product(variant, x, rows, mode="affine", size=32, bits=4, transpose=True, picks=None, **fields):
    """`quantized_matmul` or `gather_qmm` of numbers, scales and biases with fixed words."""
    name = "quantized_matmul" if picks is None else "gather_qmm"
    codes, scales = stored(mode, size, bits, *rows)
    options = {"transpose": transpose, "group_size": size, "bits": bits, "mode": mode}
    limits = [(x, shape) for x, shape in (picks or {}).values()]

    def call(x, *rest):
        factors, given = (
            (rest[:2], rest[2:]) if scales is None else ((mx.array(scales), None), rest)
        )
        chosen = dict(zip(picks or (), given, strict=True))
        return op(name)(x, mx.array(codes), *factors, **chosen, **options)

    def oracle(x, *rest):
        factors, given = (rest[:2], rest[2:]) if scales is None else ((scales, None), rest)
        w = quantized.dequantize(codes, *factors, mode, size, bits)
        w = np.swapaxes(w, -1, -2) if transpose else w
        if picks is None:
            return x @ w
        left, right = (dict(zip(picks, given, strict=True)).get(k) for k in INDICES)
        x = x.reshape(-1, *x.shape[-2:])
        return x[np.arange(len(x)) if left is None else left] @ (w if right is None else w[right])

    factors = () if scales is not None else ((*rows, 2),) * 2
    first = 1 + len(factors)
    return OpRecord(
        f"{name}[{variant}]",
        call,
        oracle,
        shapes=(x, *factors, *(shape for _, shape in limits)),
        dtypes=FLOATS,
        domain=(SMALL,) * first + tuple(index(limit) for limit, _ in limits),
        fixed=dict.fromkeys(range(first, first + len(limits)), "int32"),
        differentiable=tuple(range(first)),
        tolerance=SUMS,
        **fields,
    )


INDICES = ("lhs_indices", "rhs_indices")


def both_rounded(x, w, mode):
    def rounded(x):
        size, bits = quantized.USUAL[mode]
        parts = quantized.quantize(x.astype(np.float32), mode, size, bits)
        return quantized.dequantize(*parts, None, mode, size, bits)

    return rounded(x) @ np.swapaxes(rounded(w), -1, -2)


def affine(x, which):
    return quantized.quantize(x.astype(np.float32), "affine", 32, 4)[which]


class Codes(Domain):
    """Floats of eight bits, but NaN."""

    def sample(self, rng, shape, name):
        return rng.choice(np.delete(np.arange(256), (127, 255)), shape).astype(np.uint8)


DEQUANTIZED = words(3, 8)

RECORDS = [
    OpRecord(
        "quantize[codes]",
        lambda x: op("quantize")(x, 32, 4)[0],
        lambda x: affine(x, 0),
        shapes=((3, 64),),
        dtypes=SINGLE,
        result="uint32",
    ),
    *(
        OpRecord(
            f"quantize[{name}]",
            lambda x, which=which: op("quantize")(x, 32, 4)[which],
            lambda x, which=which: affine(x, which),
            shapes=((3, 64),),
            dtypes=SINGLE,
        )
        for which, name in ((1, "scales"), (2, "biases"))
    ),
    OpRecord(
        "quantize[nvfp4]",
        lambda x: op("quantize")(x, mode="nvfp4")[1],
        lambda x: quantized.quantize(x.astype(np.float32), "nvfp4", 16, 4)[1],
        shapes=((2, 3, 32),),
        dtypes=("float32",),
        result="uint8",
    ),
    OpRecord(
        "dequantize",
        lambda s, b: op("dequantize")(mx.array(DEQUANTIZED), s, b, 32, 4),
        lambda s, b: quantized.dequantize(DEQUANTIZED, s, b, "affine", 32, 4),
        shapes=((3, 2), (3, 2)),
        dtypes=FLOATS,
        differentiable=(0, 1),
        # A product and a sum of opposite signs.
        tolerance=SUMS,
    ),
    product("row", (64,), (5,)),
    product("rows", (2, 3, 64), (5,), bits=8),
    product("stacks", (3, 2, 64), (3, 5), bits=3),
    product("stack of right", (2, 64), (3, 5), bits=2),
    product("many rows", (20, 64), (7,), bits=4),
    product("not turned", (2, 5), (5,), transpose=False, bits=6),
    product("mxfp4", (2, 64), (5,), "mxfp4"),
    product("mxfp8", (2, 64), (5,), "mxfp8", bits=8),
    product("nvfp4 not turned", (2, 5), (5,), "nvfp4", 16, transpose=False),
    product("both", (4, 2, 64), (3, 5), picks={"lhs_indices": (4, (6,)), "rhs_indices": (3, (6,))}),
    product("right", (2, 2, 5), (3, 5), transpose=False, bits=5, picks={"rhs_indices": (3, (2,))}),
    product("left", (4, 1, 32), (3, 5), "nvfp4", 16, picks={"lhs_indices": (4, (2, 3))}),
    *(
        OpRecord(
            f"qqmm[{mode}]",
            lambda x, w, mode=mode: op("qqmm")(x, w, mode=mode),
            lambda x, w, mode=mode: both_rounded(x, w, mode),
            shapes=((2, 3, 64), (5, 64)),
            dtypes=("float32",),
            domain=ANY,
            tolerance=SUMS,
        )
        for mode in ("nvfp4", "mxfp8", "mxfp4")
    ),
    OpRecord(
        "gather_qqmm",
        lambda x, w, i: op("gather_qqmm")(x, w, rhs_indices=i, mode="mxfp8"),
        lambda x, w, i: both_rounded(x, w[i], "mxfp8"),
        shapes=((3, 2, 64), (4, 5, 64), (3,)),
        dtypes=("float32",),
        domain=(ANY, ANY, index(4)),
        fixed={2: "int32"},
        tolerance=SUMS,
    ),
    OpRecord(
        "to_fp8",
        op("to_fp8"),
        to_fp8,
        dtypes=FLOATS,
        result="uint8",
        empty=((0, 3),),
        scalar=((),),
        long=((4100,),),
    ),
    OpRecord(
        "from_fp8",
        op("from_fp8"),
        lambda codes: from_fp8(codes.astype(np.uint8)),
        dtypes=("uint8",),
        result="bfloat16",
        domain=Codes(0, 1),
        empty=((0, 3),),
        scalar=((),),
        long=((4100,),),
    ),
]
