"""NumPy's other names, products, phases, pieces, and functions of diagonals, ends and roots."""

import numpy as np
import scipy.fft
import umber.core as mx
from arrays import BOOL, COMPLEX, FLOATS, INEXACT, INTEGERS, NUMERIC, REAL
from domains import ANY, DISTINCT, OFF_STEPS, POSITIVE, SMALL, Domain, with_gaps
from op_table import OpRecord, bind, op

from records.elementwise import comparison, smooth, stepwise, unary
from records.fft import DOUBLE, SINGLE, SUM
from records.nan_reductions import quiet
from records.reductions import reduction
from records.searching import SETS, both, changed, dependent, each, rounded
from records.shaping import joining, moving, padding
from records.windows import window

EXTREME = {"dtypes": REAL, "domain": DISTINCT, "differentiable": (0,), "second_order": False}
COSINES = (
    {},
    {"axis": 0, "n": 3},
    {"n": 8, "norm": "forward"},
    {"norm": "ortho"},
    {"norm": "ortho", "orthogonalize": False},
    {"orthogonalize": True},
)
WEIGHTS = np.array([2.0, 1.0, 0.5, 3.0])


def invert(x):
    return np.invert(x)


OTHER_NAMES = [
    unary("absolute", np.absolute, result="real", domain=POSITIVE, differentiable=(0,)).but(
        second_order=False, specials=False
    ),
    *reduction("amax", np.amax, ({}, {"axis": 1}), **EXTREME),
    *reduction("amin", np.amin, ({}, {"axis": 0, "keepdims": True}), **EXTREME),
    stepwise("around", lambda x: x if x.dtype == bool else np.around(x), specials=False),
    stepwise("fix", lambda x: np.trunc(x), dtypes=REAL, refuses=COMPLEX),
    stepwise("rint", np.rint, result="inexact"),
    *(
        unary(name, invert, dtypes=BOOL + INTEGERS, refuses=INEXACT, specials=False)
        for name in ("invert", "bitwise_not")
    ),
    OpRecord(
        "mod",
        op("mod"),
        np.mod,
        shapes=((3, 4), (3, 4)),
        dtypes=FLOATS,
        domain=(ANY, POSITIVE),
        differentiable=(0,),
        second_order=False,
        tolerance=2,
    ),
    OpRecord(
        "true_divide",
        op("true_divide"),
        np.true_divide,
        shapes=((3, 4), (3, 4)),
        domain=(ANY, POSITIVE),
        result="inexact",
        differentiable=(0, 1),
    ),
    joining(
        "row_stack", lambda *x: np.vstack(x), lambda *x: op("row_stack")(list(x)), (2, 3), (3,)
    ),
    OpRecord(
        "cross",
        op("cross"),
        np.cross,
        shapes=((4, 3), (4, 3)),
        dtypes=INTEGERS + INEXACT,
        differentiable=(0, 1),
        tolerance=4,
    ),
]

PRODUCTS = [
    *(
        OpRecord(
            f"{name}[{left} {right}]",
            op(name),
            getattr(np, name),
            shapes=(left, right),
            dtypes=NUMERIC,
            domain=SMALL,
            differentiable=(0, 1),
            tolerance=4,
        )
        for name, left, right in (
            ("dot", (), (2, 3)),
            ("dot", (4,), (4,)),
            ("dot", (3, 4), (4,)),
            ("dot", (4,), (4, 2)),
            ("dot", (2, 3, 4), (3, 4, 2)),
            ("vdot", (2, 3), (6,)),
            ("vdot", (5,), (5,)),
        )
    ),
    OpRecord(
        "einsum[lists]",
        lambda a, b: mx.einsum(a, [0, 1], b, [1, 2], [2, 0], optimize=True),
        lambda a, b: np.einsum(a, [0, 1], b, [1, 2], [2, 0]),
        shapes=((2, 3), (3, 4)),
        dtypes=NUMERIC,
        domain=SMALL,
        differentiable=(0, 1),
        tolerance=4,
    ),
    OpRecord(
        "einsum[lists,ellipsis]",
        lambda a: mx.einsum(a, [..., 27, 1]),
        lambda a: np.einsum(a, [..., 27, 1]),
        shapes=((2, 3, 4),),
        differentiable=(0,),
        second_order=False,
    ),
]

PARTS = [
    *(
        smooth(f"modf[{what}]", lambda x, at=at: np.modf(x)[at], domain=OFF_STEPS, dtypes=REAL).but(
            call=lambda x, at=at: op("modf")(x)[at],
            second_order=False,
            refuses=COMPLEX,
        )
        for at, what in enumerate(("fraction", "whole"))
    ),
    dependent("real_if_close", op("real_if_close"), np.real_if_close, dtypes=REAL),
    dependent(
        "real_if_close[complex]",
        lambda x: mx.real_if_close(x * 1e-15 * 1j + mx.real(x)),
        lambda x: np.real(x) - np.imag(x) * 1e-15,
        dtypes=COMPLEX,
        result="real",
    ),
    comparison("array_equiv", np.array_equiv, shapes=((3, 4), (4,))).but(empty=((0, 4), (1, 4))),
]

SHAPES = [
    moving("diagflat", np.diagflat, shape=(2, 3), scalar=((),)),
    moving("diagflat[k]", lambda x: np.diagflat(x, -2), bind("diagflat", -2), shape=(3,)),
    *(
        both(
            f"fill_diagonal[{shape},{wrap}]",
            lambda x, v, wrap=wrap: changed("fill_diagonal")(x, v, wrap),
            shapes=(shape, (2,)),
            differentiable=(0, 1),
        )
        for shape, wrap in (((3, 4), False), ((7, 3), True), ((7, 3), False), ((3, 3, 3), False))
    ),
    dependent(
        "trim_zeros",
        op("trim_zeros"),
        np.trim_zeros,
        shapes=((9,),),
        domain=Domain(-1, 1, -1, 2),
        differentiable=(0,),
    ),
    dependent(
        "trim_zeros[front]",
        lambda x: mx.trim_zeros(mx.concatenate([mx.zeros_like(x), x, mx.zeros_like(x)]), "f", 0),
        lambda x: np.trim_zeros(np.concatenate([np.zeros_like(x), x, np.zeros_like(x)]), "f", 0),
        shapes=((2, 3),),
        domain=POSITIVE,
        dtypes=NUMERIC,
        differentiable=(0,),
        layouts=False,
    ),
    padding("pad[wrap]", {"mode": "wrap"}, ((5, 7), (0, 1)), mode="wrap"),
    padding("pad[empty]", {"mode": "constant"}, ((1, 2), (0, 1)), mode="empty"),
    *(
        padding(f"pad[{mode}]", {"mode": mode}, ((2, 1), (0, 3)), mode=mode).but(
            dtypes=dtypes, domain=DISTINCT, tolerance=4, **more
        )
        for mode, dtypes, more in (
            ("maximum", INTEGERS + FLOATS, {}),
            ("minimum", INTEGERS + FLOATS, {}),
            ("mean", INTEGERS + INEXACT, {}),
            ("median", INTEGERS + FLOATS, {}),
        )
    ),
    padding(
        "pad[near]",
        {"mode": "mean", "stat_length": 2},
        ((2, 1), (1, 3)),
        mode="mean",
        stat_length=2,
    ).but(dtypes=INTEGERS + INEXACT, tolerance=4),
    padding(
        "pad[linear_ramp]",
        {"mode": "linear_ramp", "end_values": 2},
        ((2, 1), (0, 3)),
        mode="linear_ramp",
        end_values=2,
    ).but(dtypes=INTEGERS + INEXACT, tolerance=4, domain=POSITIVE),
    OpRecord(
        "diff[ends]",
        lambda x, end: mx.diff(x, prepend=0, append=end),
        lambda x, end: np.diff(x, prepend=0, append=end),
        shapes=((3, 4), (3, 2)),
        dtypes=NUMERIC,
        differentiable=(0, 1),
        second_order=False,
    ),
]

PHASES = [
    OpRecord(
        f"unwrap[{options}]",
        bind("unwrap", **options),
        lambda x, options=options: np.unwrap(x, **options),
        shapes=((3, 5),),
        dtypes=FLOATS,
        domain=Domain(-9.3, 9.1),
        differentiable=(0,),
        second_order=False,
        tolerance=4,
        layouts=False,
    )
    for options in ({}, {"period": 4.2, "axis": 0}, {"discont": 5.5})
] + [
    OpRecord(
        "unwrap[integers]",
        bind("unwrap", period=period),
        lambda x, period=period: np.unwrap(x, period=period),
        shapes=((3, 6),),
        dtypes=("int32", "int64"),
        domain=Domain(0, 1, -20, 20),
    ).but(name=f"unwrap[integers,{period}]")
    for period in (7, 8)
]

PIECES = [
    both(
        "piecewise",
        lambda x: each("piecewise", [x < 0, x > 1], [lambda v: v * v, lambda v: v * 3, 2])(x),
        dtypes=("int32", *FLOATS),
        domain=DISTINCT,
        differentiable=(0,),
        shapes=((3, 4),),
    ).but(second_order=True),
]

POLYNOMIALS = [
    *(
        dependent(
            f"polydiv[{what},{top} {bottom}]",
            lambda u, v, at=at: mx.polydiv(u, v)[at],
            lambda u, v, at=at: np.polydiv(u, v)[at],
            shapes=((top,), (bottom,)),
            dtypes=INTEGERS + INEXACT,
            domain=POSITIVE,
            result="inexact",
            tolerance=60,
            differentiable=(0, 1),
        ).but(dtypes=INTEGERS + INEXACT[2:])
        for at, what in enumerate(("quotient", "remainder"))
        for top, bottom in ((5, 2), (2, 4), (4, 4))
    ),
    OpRecord(
        "poly",
        op("poly"),
        # NumPy drops an imaginary part that is zero.
        lambda z: np.poly(z) + 0 * z[0],
        shapes=((4,),),
        dtypes=INTEGERS + INEXACT,
        domain=SMALL,
        result="inexact",
        differentiable=(0,),
        tolerance=8,
    ),
    OpRecord(
        "poly[matrix]",
        op("poly"),
        np.poly,
        shapes=((3, 3),),
        dtypes=FLOATS[2:],
        domain=DISTINCT,
        tolerance=40,
    ),
    dependent(
        "roots",
        lambda p: mx.abs(mx.polyval(p, mx.roots(p))).max() < 1e-3,
        lambda p: np.array(True),
        shapes=((5,),),
        dtypes=FLOATS[2:],
        domain=POSITIVE,
        result="bool",
        layouts=False,
    ),
]

SETS_ALONG = [
    *(
        both(
            f"unique[axis={axis}]",
            lambda x, axis=axis: each("unique", axis=axis)(rounded(x)),
            shapes=(shape,),
            **{**SETS, "domain": Domain(-1, 1, 0, 2)},
        )
        for axis, shape in ((0, (9, 2)), (1, (2, 9)), (-1, (2, 1, 7)))
    ),
    *(
        both(
            f"unique[axis,{what}]",
            lambda x, what=what: each("unique", axis=0, **{what: True})(rounded(x))[1],
            shapes=((9, 2),),
            result=result,
            **{**SETS, "domain": Domain(-1, 1, 0, 2)},
        )
        for what, result in (
            ("return_index", "uint32"),
            ("return_inverse", "uint32"),
            ("return_counts", "int32"),
        )
    ),
]

BINS = [
    dependent(
        f"histogram_bin_edges[{rule}]",
        lambda x, rule=rule: mx.histogram_bin_edges(x, rule, (-2, 2)),
        lambda x, rule=rule: np.histogram_bin_edges(x, rule, (-2, 2)),
        shapes=((60,),),
        dtypes=FLOATS[2:],
        layouts=False,
    )
    for rule in "auto fd doane scott stone rice sturges sqrt".split()
]


def spread(weights, x, axis):
    """Weights in the shape of the array: some of NumPy's functions take no others."""
    return np.broadcast_to(weights[:, None] if axis == 0 and x.ndim == 2 else weights, x.shape)


QUANTILES = [
    OpRecord(
        f"{name}[weights,{axis}]",
        lambda x, name=name, axis=axis, q=q: op(name)(
            x, q, axis, method="inverted_cdf", weights=mx.array(WEIGHTS)
        ),
        quiet(
            lambda x, name=name, axis=axis, q=q: getattr(np, name)(
                x, q, axis, method="inverted_cdf", weights=spread(WEIGHTS, x, axis)
            )
        ),
        shapes=(shape,),
        dtypes=INTEGERS + FLOATS,
        domain=domain,
        differentiable=(0,),
        second_order=False,
    )
    for name, q, axis, shape, domain in (
        ("quantile", [0.0, 0.3, 0.77, 1.0], 1, (3, 4), DISTINCT),
        ("quantile", 0.5, 0, (4, 2), DISTINCT),
        ("percentile", [10, 55], None, (4,), DISTINCT),
        ("nanquantile", [0.2, 0.9], 1, (3, 4), with_gaps(DISTINCT)),
        ("nanpercentile", 60, 0, (4, 3), with_gaps(DISTINCT)),
    )
]

WINDOWS = [
    window("kaiser", None, length).but(
        name=f"kaiser[{length},{beta}]",
        call=lambda length=length, beta=beta: mx.kaiser(length, beta),
        oracle=lambda length=length, beta=beta: np.kaiser(length, beta),
    )
    for length in (-1, 0, 1, 2, 9, 64)
    for beta in (0.0, 5.0, 14.0)
]


def by_parts(oracle):
    """SciPy forgets `orthogonalize` when it transforms the parts of complex numbers."""
    return lambda x: oracle(x.real) + 1j * oracle(x.imag) if x.dtype.kind == "c" else oracle(x)


TRANSFORMS = [
    OpRecord(
        f"fft.{name}[type={kind},{options},{precision[0]}]",
        bind(f"fft.{name}", kind, **options),
        by_parts(
            lambda x, name=name, kind=kind, options=options: getattr(scipy.fft, name)(
                x, kind, **options
            )
        ),
        shapes=((4, 5),),
        dtypes=precision,
        differentiable=(0,),
        result=result,
        tolerance=SUM,
    )
    for name in ("dct", "idct", "dst", "idst")
    for kind in (1, 2, 3, 4)
    for options in COSINES[: 6 if name in ("dct", "dst") else 4]
    for precision, result in (
        (SINGLE[:-1], "float32"),
        (DOUBLE[:1], "float64"),
        (("complex64",), "complex64"),
        (("complex128",), "complex128"),
    )
]

RECORDS = [
    *OTHER_NAMES,
    *PRODUCTS,
    *PARTS,
    *SHAPES,
    *PHASES,
    *PIECES,
    *POLYNOMIALS,
    *SETS_ALONG,
    *BINS,
    *QUANTILES,
    *WINDOWS,
    *TRANSFORMS,
]
