"""Linear algebra: factorisations (by what does not depend on signs), solvers, determinants, norms.

Matrices are drawn and then made regular inside the call, so that every layout and every dtype of
the walkers gives a well-conditioned problem; the oracle does the same in double precision.
"""

import numpy as np
import umber.core as mx
from arrays import COMPLEX, FLOATS
from domains import ANY, SMALL
from op_table import OpRecord, op

INTEGER = ("int32",)
DTYPES = INTEGER + FLOATS + COMPLEX
FULL = ("float32", "float64")
SQUARE = (3, 3)
BATCH = (2, 3, 3)


def eye(module, x):
    """A unit matrix of the shape and dtype of the matrices in `x`."""
    return module.eye(x.shape[-2], x.shape[-1], dtype=x.dtype)


def regular(module, x):
    """Far from singular: every diagonal element outweighs its row and column."""
    return x + 10 * eye(module, x)


def adjoint(module, x):
    return module.conjugate(module.swapaxes(x, -1, -2))


def positive(module, x):
    """Hermitian, with eigenvalues between 6 and 42."""
    return x + adjoint(module, x) + 24 * eye(module, x)


def record(name, compute, shapes=(SQUARE,), make=regular, oracle=None, **fields) -> OpRecord:
    """`compute(module, matrix, ...)` for both modules; `make` prepares the first operand."""
    options = {"dtypes": DTYPES, "result": "inexact", "differentiable": (0,), "tolerance": 20}

    def run(module, function, operands):
        return function(module, make(module, operands[0]), *operands[1:])

    return OpRecord(
        f"linalg.{name}",
        lambda *arrays: run(mx, compute, arrays),
        lambda *arrays: run(np, oracle or compute, arrays),
        shapes=shapes,
        **options | fields,
    )


def same(name, *after, variant="", **fields) -> list[OpRecord]:
    """One matrix and a batch, for functions that NumPy has under the same name."""

    def compute(module, x, *rest, **options):
        return getattr(module.linalg, name)(x, *rest, *after, **options)

    given = {"shapes": (SQUARE,)} | fields
    batch = tuple((2, *shape) for shape in given["shapes"])
    label = f"{name}[{variant}]" if variant else name
    more = f"{name}[{variant}, batch]" if variant else f"{name}[batch]"
    return [record(label, compute, **given), record(more, compute, **given | {"shapes": batch})]


def eliminate(a):
    """LU factors in one matrix, without exchanges of rows."""
    a = a.copy()
    for k in range(min(a.shape[-2:])):
        a[..., k + 1 :, k] /= a[..., k, None, k]
        a[..., k + 1 :, k + 1 :] -= a[..., k + 1 :, k, None] * a[..., None, k, k + 1 :]
    return a


def lu_oracle(_, a):
    packed, size = eliminate(a), min(a.shape[-2:])
    unit = np.eye(a.shape[-2], size)
    return [np.tril(packed, -1)[..., :size] + unit, np.triu(packed)[..., :size, :]]


def triangle(upper):
    return np.triu if upper else np.tril


def spectral(module, a):
    """`log(a)`, from eigenvalues and eigenvectors."""
    values, vectors = module.linalg.eigh(a)
    return module.matmul(vectors * module.log(values)[..., None, :], adjoint(module, vectors))


def spectral_upper(module, a):
    values, vectors = module.linalg.eigh(a, "U")
    return module.matmul(vectors * module.log(values)[..., None, :], adjoint(module, vectors))


def diagonalized(module, a):
    """The square of the matrix, from eigenvalues and eigenvectors."""
    values, vectors = module.linalg.eig(a)
    scaled = vectors * module.square(values)[..., None, :]
    return module.real(module.matmul(scaled, module.linalg.inv(vectors)))


def polar(module, a):
    """The nearest matrix with orthonormal rows or columns, and what is left of a whole basis."""
    u, s, vh = module.linalg.svd(a)
    size = s.shape[-1]
    left, right = u[..., size:], vh[..., size:, :]
    return [
        module.matmul(u[..., :size], vh[..., :size, :]),
        module.matmul(left, adjoint(module, left)),
        module.matmul(adjoint(module, right), right),
    ]


def thin_polar(module, a):
    u, _, vh = module.linalg.svd(a, full_matrices=False)
    return module.matmul(u, vh)


def squared(module, a):
    """`a @ a` from the factors of a positive matrix."""
    u, s, vh = module.linalg.svd(a, hermitian=True)
    return module.matmul(u * module.square(s)[..., None, :], vh)


def complete(module, a):
    """Q's first columns, R, and the space of Q's other columns."""
    q, r = module.linalg.qr(a, "complete")
    size = min(a.shape[-2:])
    rest = q[..., size:]
    return [q[..., :size], r, module.matmul(rest, adjoint(module, rest))]


def expm_series(_, a):
    term = total = np.broadcast_to(np.eye(a.shape[-1], dtype=a.dtype), a.shape)
    for k in range(1, 80):
        term = term @ a / k
        total = total + term
    return total


def lstsq_oracle(_, a, b):
    return np.linalg.pinv(a) @ b


def norms(orders, axes, domain=ANY) -> list[OpRecord]:
    """`norm` over axes, for several orders."""
    return [
        OpRecord(
            f"linalg.norm[{order}, axis={axis}]",
            lambda x, order=order, axis=axis: op("linalg.norm")(x, order, axis),
            lambda x, order=order, axis=axis: np.linalg.norm(x, order, axis),
            shapes=((2, 4, 3),),
            dtypes=DTYPES,
            result="spread",
            domain=domain,
            differentiable=(0,),
            # The other norms are pieces of linear functions, or (2, nuc) sums of values of an SVD.
            second_order=order in (None, "fro", 2, 3, 0.5, -1, "nuc"),
            tolerance=20,
        )
        for order in orders
        for axis in axes
    ]


RECORDS = [
    *same("inv", empty=((0, 0),)),
    *same("cholesky", make=positive, empty=((0, 0),)),
    record(
        "cholesky[upper]",
        lambda module, a: module.linalg.cholesky(a, upper=True),
        make=positive,
        oracle=lambda _, a: adjoint(np, np.linalg.cholesky(a)),
    ),
    *(
        record(
            f"cholesky_inv[upper={upper}]",
            lambda module, a, upper=upper: module.linalg.cholesky_inv(a, upper=upper),
            (BATCH,),
            oracle=lambda _, a, upper=upper: np.linalg.inv(
                adjoint(np, np.triu(a)) @ np.triu(a)
                if upper
                else np.tril(a) @ adjoint(np, np.tril(a))
            ),
        )
        for upper in (False, True)
    ),
    *(
        record(
            f"tri_inv[upper={upper}]",
            lambda module, a, upper=upper: module.linalg.tri_inv(a, upper=upper),
            (BATCH,),
            oracle=lambda _, a, upper=upper: np.linalg.inv(triangle(upper)(a)),
        )
        for upper in (False, True)
    ),
    *(
        record(
            f"{name}[{variant}]",
            lambda module, a, b, name=name, options=options: getattr(module.linalg, name)(
                a, b, **options
            ),
            shapes,
            oracle=oracle,
            differentiable=(0, 1),
        )
        for variant, shapes in {
            "vector": (SQUARE, (3,)),
            "matrices": (BATCH, (2, 3, 2)),
            "one matrix": (SQUARE, (4, 3, 2)),
            "broadcast": ((2, 1, 3, 3), (4, 3, 2)),
        }.items()
        for name, options, oracle in (
            ("solve", {}, lambda _, a, b: np.linalg.solve(a, b)),
            ("solve_triangular", {}, lambda _, a, b: np.linalg.solve(np.tril(a), b)),
        )
    ),
    record(
        "solve_triangular[upper]",
        lambda module, a, b: module.linalg.solve_triangular(a, b, upper=True),
        (BATCH, (3, 2)),
        oracle=lambda _, a, b: np.linalg.solve(np.triu(a), b),
        differentiable=(0, 1),
    ),
    *same("det", empty=((0, 0),)),
    *same("slogdet", dtypes=INTEGER + FLOATS, empty=((0, 0),)),
    record(
        "slogdet[complex]",
        lambda module, a: module.linalg.slogdet(a)[1],
        (BATCH,),
        dtypes=COMPLEX,
        result="spread",
    ),
    record(
        "slogdet[complex sign]",
        lambda module, a: module.linalg.slogdet(a)[0],
        (BATCH,),
        dtypes=COMPLEX,
    ),
    *(
        record(
            f"lu[{shape}]",
            lambda module, a: module.linalg.lu(a)[1:],
            (shape,),
            oracle=lu_oracle,
            domain=SMALL,
        )
        for shape in ((3, 3), (2, 4, 3), (3, 4))
    ),
    *(
        record(
            f"lu_factor[{shape}]",
            lambda module, a: module.linalg.lu_factor(a)[0],
            (shape,),
            oracle=lambda _, a: eliminate(a),
            domain=SMALL,
        )
        for shape in ((3, 3), (4, 3), (2, 3, 4))
    ),
    *(r for shape in (SQUARE, (4, 3), (3, 4)) for r in same("qr", shapes=(shape,), variant=shape)),
    record("qr[complete]", complete, ((5, 3),)),
    record(
        "qr[r]",
        lambda module, a: module.linalg.qr(a, "r"),
        ((4, 3),),
    ),
    *(record(f"svd[{shape}]", polar, (shape,)) for shape in (SQUARE, (4, 3), (2, 3, 4))),
    *(record(f"svd[thin, {shape}]", thin_polar, (shape,)) for shape in ((4, 3), (3, 4))),
    *(
        record(
            f"svdvals[{shape}]",
            lambda module, a: module.linalg.svdvals(a),
            (shape,),
            result="spread",
        )
        for shape in (SQUARE, (4, 3), (2, 3, 4))
    ),
    record("svd[hermitian]", squared, (BATCH,), make=positive),
    record(
        "svd[hermitian values]",
        lambda module, a: module.linalg.svd(a, compute_uv=False, hermitian=True),
        (BATCH,),
        make=positive,
        result="spread",
    ),
    *(record(f"eigh[{shape}]", spectral, (shape,), make=positive) for shape in (SQUARE, BATCH)),
    record("eigh[upper]", spectral_upper, (BATCH,), make=positive),
    *same("eigvalsh", make=positive, result="spread"),
    # Equal rows leave an eigenvalue twice, and the basis of vectors far from orthonormal.
    record(
        "eig",
        diagonalized,
        (BATCH,),
        dtypes=INTEGER + FULL + COMPLEX,
        result="spread",
        layouts=False,
    ),
    record(
        "eigvals",
        lambda module, a: module.abs(module.linalg.eigvals(a)).sum(-1),
        (BATCH,),
        dtypes=INTEGER + FULL + COMPLEX,
        result="spread",
        layouts=False,
    ),
    *(
        r
        for shape in (SQUARE, (4, 3), (3, 4))
        for r in same("pinv", shapes=(shape,), variant=shape)
    ),
    record(
        "pinv[hermitian]",
        lambda module, a: module.linalg.pinv(a, hermitian=True),
        (BATCH,),
        make=positive,
    ),
    *same("matrix_rank", result="int32", differentiable=()),
    *(
        record(
            f"cond[{order}]",
            lambda module, a, order=order: module.linalg.cond(a, order),
            (BATCH,),
            result="spread",
            second_order=order in (None, "fro", "nuc", 2, -2),
        )
        for order in (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf)
    ),
    *(
        record(
            f"lstsq[{shape}]",
            lambda module, a, b: module.linalg.lstsq(a, b)[0],
            (shape, (shape[0], 2)),
            oracle=lstsq_oracle,
            differentiable=(0, 1),
        )
        for shape in (SQUARE, (4, 3), (3, 4))
    ),
    *(
        record(
            f"expm[{shape}]",
            lambda module, a: module.linalg.expm(a),
            (shape,),
            make=lambda _, a: a,
            domain=SMALL,
            oracle=expm_series,
        )
        for shape in (SQUARE, BATCH)
    ),
    *(
        record(
            f"matrix_power[{n}]",
            lambda module, a, n=n: module.linalg.matrix_power(a, n),
            (BATCH,),
            make=regular if n < 0 else lambda _, a: a,
            domain=SMALL,
            result="inexact" if n < 0 else "same",
        )
        for n in (1, 2, 5, -1, -3)
    ),
    OpRecord(
        "linalg.matrix_power[0]",
        lambda x: op("linalg.matrix_power")(x, 0),
        lambda x: np.linalg.matrix_power(x, 0),
        shapes=(SQUARE,),
        dtypes=DTYPES,
    ),
    *(
        OpRecord(
            f"linalg.multi_dot[{len(shapes)}, {shapes[0]}]",
            lambda *arrays: op("linalg.multi_dot")(list(arrays)),
            lambda *arrays: np.linalg.multi_dot(arrays),
            shapes=shapes,
            dtypes=FLOATS + COMPLEX,
            differentiable=tuple(range(len(shapes))),
            domain=SMALL,
            tolerance=20,
        )
        for shapes in (((2, 3), (3, 4)), ((3,), (3, 4), (4, 2)), ((4, 2), (2, 5), (5, 3), (3,)))
    ),
    *(
        OpRecord(
            f"linalg.cross[{a} {b} axis={axis}]",
            lambda x, y, axis=axis: op("linalg.cross")(x, y, axis),
            lambda x, y, axis=axis: np.cross(x, y, axis=axis),
            shapes=(a, b),
            dtypes=INTEGER + FLOATS + COMPLEX,
            differentiable=(0, 1),
            tolerance=3,
        )
        for a, b, axis in (((3,), (3,), -1), ((4, 3), (3,), -1), ((3, 2), (3, 2), 0))
    ),
    *norms((None,), (None, 1, -1, (0, 2))),
    *norms((0, 1, 2, 3, -1, np.inf, -np.inf), (1,)),
    *norms((0.5,), (1,)),
    *norms(("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf), ((1, 2), (2, 0))),
    OpRecord(
        "linalg.norm[keepdims]",
        lambda x: op("linalg.norm")(x, axis=1, keepdims=True),
        lambda x: np.linalg.norm(x, axis=1, keepdims=True),
        shapes=((2, 3),),
        dtypes=DTYPES,
        result="spread",
        empty=((2, 0),),
        also=("matrix_norm",),
        tolerance=4,
    ),
    *(
        OpRecord(
            f"linalg.vector_norm[{order}, axis={axis}]",
            lambda x, order=order, axis=axis: op("linalg.vector_norm")(x, ord=order, axis=axis),
            lambda x, order=order, axis=axis: np.linalg.vector_norm(x, ord=order, axis=axis),
            shapes=((2, 3, 2),),
            dtypes=DTYPES,
            result="spread",
            differentiable=(0,),
            second_order=order != np.inf,
            tolerance=20,
        )
        for order, axis in ((2, None), (3, (0, 2)), (np.inf, 1))
    ),
    *(
        OpRecord(
            f"linalg.matrix_norm[{order}]",
            lambda x, order=order: op("linalg.matrix_norm")(x, ord=order, keepdims=True),
            lambda x, order=order: np.linalg.matrix_norm(x, ord=order, keepdims=True),
            shapes=((2, 4, 3),),
            dtypes=DTYPES,
            result="spread",
            differentiable=(0,),
            second_order=order != 1,
            tolerance=20,
        )
        for order in ("fro", "nuc", 1)
    ),
    *(
        OpRecord(
            f"linalg.{name}[offset={offset}]",
            lambda x, name=name, offset=offset: op(f"linalg.{name}")(x, offset=offset),
            lambda x, name=name, offset=offset: getattr(np, name)(x, offset, -2, -1),
            shapes=((2, 3, 4),),
            dtypes=FLOATS + COMPLEX,
            differentiable=(0,),
            tolerance=3,
        )
        for name in ("diagonal", "trace")
        for offset in (0, 1)
    ),
    OpRecord(
        "linalg.matrix_transpose",
        op("linalg.matrix_transpose"),
        lambda x: np.swapaxes(x, -1, -2),
        shapes=((2, 3, 4),),
        dtypes=DTYPES,
        differentiable=(0,),
    ),
]
