"""Matrix products."""

import numpy as np
from arrays import COMPLEX, FLOATS, INTEGERS
from domains import ANY
from op_table import OpRecord, bind, op

# Integers multiply too; booleans are counted as the "or" of "and"s nowhere, so they are left out.
MATRIX_DTYPES = INTEGERS + FLOATS + COMPLEX


def product(variant, *shapes, **fields) -> OpRecord:
    """`matmul` of two shapes."""
    options = {"dtypes": MATRIX_DTYPES, "differentiable": (0, 1), "tolerance": 3}
    name = f"matmul[{variant}]" if variant else "matmul"
    return OpRecord(name, op("matmul"), np.matmul, shapes=shapes, **options | fields)


def add_product(c, a, b, alpha=1.0, beta=1.0):
    return beta * c + alpha * np.matmul(a, b)


RECORDS = [
    product("", (3, 4), (4, 5)),
    product("vectors", (4,), (4,)),
    product("matrix by vector", (3, 4), (4,)),
    product("vector by matrix", (4,), (4, 5)),
    product("batch", (2, 3, 4), (2, 4, 5)),
    product("broadcast batch", (2, 1, 3, 4), (5, 4, 2)),
    product("vector by batch", (4,), (2, 4, 3)),
    product("batch by vector", (2, 3, 4), (4,)),
    product("inner size 0", (3, 0), (0, 2)),
    product("no rows", (0, 4), (4, 2)),
    product("row by column", (1, 4), (4, 1)),
    # Sums of 37 products; sizes that no block divides.
    product("odd sizes", (17, 37), (37, 19), tolerance=12),
    OpRecord(
        "addmm",
        op("addmm"),
        add_product,
        shapes=((3, 5), (3, 4), (4, 5)),
        dtypes=FLOATS + COMPLEX,
        differentiable=(0, 1, 2),
        tolerance=3,
    ),
    OpRecord(
        "addmm[factors]",
        bind("addmm", alpha=0.5, beta=-2.0),
        lambda c, a, b: add_product(c, a, b, 0.5, -2.0),
        shapes=((5,), (2, 3, 4), (4, 5)),
        dtypes=FLOATS,
        domain=ANY,
        differentiable=(0, 1, 2),
        tolerance=6,
    ),
    *(
        OpRecord(
            name,
            op(name.partition("[")[0]),
            oracle,
            shapes=shapes,
            dtypes=MATRIX_DTYPES,
            differentiable=(0, 1),
            tolerance=3,
        )
        for name, oracle, shapes in (
            ("inner", np.inner, ((3, 4), (2, 4))),
            ("outer", np.outer, ((3,), (4,))),
            ("kron", np.kron, ((2, 3), (3, 2))),
            ("vecdot", lambda a, b: (np.conj(a) * b).sum(-1), ((3, 4), (3, 4))),
            ("tensordot", np.tensordot, ((2, 3, 4), (3, 4, 5))),
        )
    ),
    OpRecord(
        "tensordot[axes]",
        bind("tensordot", [[0, 2], [1, 0]]),
        lambda a, b: np.tensordot(a, b, [[0, 2], [1, 0]]),
        shapes=((2, 3, 4), (4, 2, 5)),
        dtypes=FLOATS,
        differentiable=(0, 1),
        tolerance=3,
    ),
    *(
        OpRecord(
            f"einsum[{formula}]",
            lambda *arrays, formula=formula: op("einsum")(formula, *arrays),
            lambda *arrays, formula=formula: np.einsum(formula, *arrays),
            shapes=shapes,
            dtypes=FLOATS,
            differentiable=tuple(range(len(shapes))),
            tolerance=6,
        )
        for formula, shapes in (
            ("ij,jk->ik", ((3, 4), (4, 2))),
            ("bij,bkj->bik", ((2, 3, 4), (2, 5, 4))),
            ("ii", ((3, 3),)),
            ("ij->ji", ((3, 4),)),
            ("i,j,k->kji", ((2,), (3,), (4,))),
            ("...ij,j->...i", ((2, 3, 4), (4,))),
        )
    ),
]
