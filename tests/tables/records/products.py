"""Products of matrices chosen by indices, segments and masks; the Hadamard transform."""

from functools import partial

import numpy as np
from arrays import COMPLEX, FLOATS, INTEGERS
from domains import ANY, SMALL, Domain, index
from op_table import OpRecord, bind, op
from scipy.linalg import hadamard

DTYPES = INTEGERS + FLOATS + COMPLEX


def block_mask(mask, block_size, rows, columns):
    """A mask of blocks as one of elements."""
    return np.repeat(np.repeat(mask, block_size, -2), block_size, -1)[..., :rows, :columns]


def masked(x, mask, block_size):
    """`x` with its blocks left out or scaled."""
    return x if mask is None else x * block_mask(mask, block_size, *x.shape[-2:]).astype(x.dtype)


def block_masked_mm(a, b, block_size, mask_out=None, mask_lhs=None, mask_rhs=None):
    product = masked(a, mask_lhs, block_size) @ masked(b, mask_rhs, block_size)
    return masked(product, mask_out, block_size)


def segmented_mm(a, b, segments):
    out = np.zeros((segments.size // 2, a.shape[0], b.shape[1]), np.result_type(a, b))
    for part, (i, j) in zip(out, segments.reshape(-1, 2), strict=True):
        part[:] = a[:, i:j] @ b[i:j]
    return out.reshape(*segments.shape[:-1], *out.shape[1:])


def gather_mm(a, b, left=None, right=None):
    x, y = a.reshape(-1, *a.shape[-2:]), b.reshape(-1, *b.shape[-2:])
    left = np.arange(len(x)).reshape(a.shape[:-2]) if left is None else left
    right = np.arange(len(y)).reshape(b.shape[:-2]) if right is None else right
    return x[left] @ y[right]


def gather(variant, *shapes, domains, indices, call=None, **fields):
    """`gather_mm` with the index arrays named."""

    def given(values):
        return dict(zip(indices, values, strict=True))

    keys = {"lhs_indices": "left", "rhs_indices": "right"}
    return OpRecord(
        f"gather_mm[{variant}]",
        lambda a, b, *values: op("gather_mm")(a, b, **given(values)),
        lambda a, b, *values: gather_mm(a, b, **{keys[k]: v for k, v in given(values).items()}),
        shapes=shapes,
        dtypes=DTYPES,
        domain=(SMALL, SMALL, *(index(size) for size in domains)),
        fixed=dict.fromkeys(range(2, len(shapes)), "int32"),
        differentiable=(0, 1),
        tolerance=6,
        **fields,
    )


def transform(x, scale=None):
    order = x.shape[-1]
    return x @ hadamard(order).T * (order**-0.5 if scale is None else scale)


class Ends(Domain):
    """The ends of segments of an axis, some of them empty, some overlapping."""

    def sample(self, rng, shape, name):
        return np.sort(rng.integers(0, self.high_int, shape), -1).astype(name)


MASK = np.array([[True, False], [True, True], [False, True]])
FACTORS = np.array([[0.5, 2.0], [0.0, -1.0]])

BOTH = ("lhs_indices", "rhs_indices")

RECORDS = [
    gather("both", (4, 2, 3), (5, 3, 4), (6,), (6,), domains=(4, 5), indices=BOTH),
    gather("grid", (2, 2, 2, 3), (5, 3, 1), (2, 1), (3,), domains=(4, 5), indices=BOTH),
    gather("left", (4, 2, 3), (3, 3, 4), (2, 3), domains=(4,), indices=BOTH[:1]),
    gather("right", (3, 2, 3), (5, 3, 4), (3,), domains=(5,), indices=BOTH[1:]),
    # Many rows, each alone with one of few matrices.
    gather("rows", (9, 1, 5), (2, 5, 4), (9,), domains=(2,), indices=BOTH[1:]),
    gather("one for all", (5, 4), (3, 4, 2), (4,), domains=(3,), indices=BOTH[1:]),
    OpRecord(
        "segmented_mm",
        op("segmented_mm"),
        segmented_mm,
        shapes=((3, 9), (9, 4), (5, 2)),
        dtypes=DTYPES,
        domain=(SMALL, SMALL, Ends(0, 1, 0, 10)),
        fixed={2: "int32"},
        differentiable=(0, 1),
        empty=((3, 9), (9, 4), (0, 2)),
        layouts=False,  # a broadcast layout would repeat what must be sorted
        tolerance=6,
    ),
    *(
        OpRecord(
            f"block_masked_mm[{variant}]",
            lambda a, b, masks=masks: op("block_masked_mm")(
                a, b, 3, **{k: op("array")(v.tolist()) for k, v in masks.items()}
            ),
            lambda a, b, masks=masks: block_masked_mm(a, b, 3, **masks),
            shapes=shapes,
            dtypes=dtypes,
            domain=SMALL,
            differentiable=(0, 1),
            tolerance=8,
        )
        for variant, shapes, masks, dtypes in (
            ("none", ((4, 5), (5, 2)), {}, DTYPES),
            ("out", ((7, 5), (5, 6)), {"mask_out": MASK}, DTYPES),
            ("all", ((7, 4), (4, 5)),
             {"mask_out": MASK, "mask_lhs": MASK, "mask_rhs": FACTORS > 0}, DTYPES),
            ("factors", ((6, 4), (4, 4)),
             {"mask_lhs": FACTORS, "mask_rhs": FACTORS}, FLOATS + COMPLEX),
            ("batch", ((2, 5, 4), (4, 2)), {"mask_lhs": np.stack([MASK[:2], ~MASK[:2]])}, FLOATS),
        )
    ),
    *(
        OpRecord(
            f"hadamard_transform[{variant}]",
            bind("hadamard_transform", **options),
            partial(transform, **options),
            shapes=(shape,),
            dtypes=INTEGERS + FLOATS + COMPLEX,
            result="inexact",
            domain=ANY,
            differentiable=(0,),
            # Sums of all elements of the axis.
            tolerance=shape[-1] ** 0.5 * 4,
        )
        for variant, shape, options in (
            ("4", (3, 4), {}),
            ("1", (3, 1), {}),
            ("scale", (2, 3, 8), {"scale": 0.25}),
            ("256", (2, 256), {}),
        )
    ),
]  # fmt: skip
