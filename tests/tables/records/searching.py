"""Searching, sets, histograms, choosing, editing, and index arrays from shapes."""

import numpy as np
import umber.core as mx
from arrays import ALL, FLOATS, INEXACT, INTEGERS, REAL
from domains import ANY, DISTINCT, SMALL, Domain
from op_table import OpRecord, bind, op

COMPARED = INTEGERS + FLOATS
# Some elements equal, some zero.
FEW = Domain(-2.0, 2.0, -2, 3)


def dependent(name, call, oracle, shapes=((3, 4),), **fields) -> OpRecord:
    """The shape of the result depends on values: no vmap, no compile."""
    options = {"shapes": shapes, "batchable": False, "compilable": False, "second_order": False}
    return OpRecord(name, call, oracle, **options | fields)


def lazy(name, call, oracle, shapes=((3, 4),), **fields) -> OpRecord:
    """The shape of the result is known."""
    return OpRecord(name, call, oracle, **{"shapes": shapes, "second_order": False} | fields)


def rounded(x):
    """Few different values, of the array's own dtype."""
    module = np if isinstance(x, np.ndarray) else mx
    return x if x.dtype in (np.bool_, mx.bool_) else module.round(x)


def changed(function):
    """A function that changes its first argument, as one that answers it."""

    def call(x, *rest):
        x = x.copy() if isinstance(x, np.ndarray) else x * mx.ones_like(x)
        module = np if isinstance(x, np.ndarray) else mx
        getattr(module, function)(x, *rest)
        return x

    return call


def each(name, *after, **keywords):
    """The function of either package."""
    return lambda *x: getattr(np if isinstance(x[0], np.ndarray) else mx, name)(
        *x, *after, **keywords
    )


def both(name, call, **fields) -> OpRecord:
    """The same program on NumPy and umber."""
    return (dependent if fields.pop("by_value", False) else lazy)(name, call, call, **fields)


def write(x, places, value):
    """`x[places] = value` on a copy."""
    x = x.copy() if isinstance(x, np.ndarray) else x * mx.ones_like(x)
    x[places] = value
    return x


def places(obj):
    """NumPy's `insert` takes masks as arrays only."""
    return np.array(obj) if isinstance(obj, list) else obj


def nearest_edges(x):
    return np.histogram_bin_edges(x, 4)


PLACES = {"result": "uint32", "by_value": True}
MASK = {"fixed": {0: "bool_"}, "by_value": True, "differentiable": (1,)}
SETS = {"dtypes": COMPARED, "domain": FEW, "by_value": True}
PAIR = ((7,), (2, 3))
KEYS = ((6,), (6,))
BINS = [-2, 0, 1, 2]

RECORDS = [
    # Where something holds.
    both("nonzero", lambda x: each("nonzero")(rounded(x)), domain=SMALL, **PLACES),
    both("flatnonzero", lambda x: each("flatnonzero")(rounded(x)), domain=SMALL, **PLACES),
    both("argwhere", lambda x: each("argwhere")(rounded(x)), domain=SMALL, **PLACES),
    both("where[one argument]", lambda x: each("where")(rounded(x)), domain=SMALL, **PLACES),
    both("extract", lambda c, x: each("extract")(c, x), shapes=((3, 4), (3, 4)), **MASK),
    both("compress", lambda c, x: each("compress")(c, x), shapes=((5,), (3, 4)), **MASK),
    both(
        "compress[axis]", lambda c, x: each("compress", axis=1)(c, x), shapes=((3,), (2, 4)), **MASK
    ),
    both("array.__getitem__[mask]", lambda m, x: x[m], shapes=((3,), (3, 4)), **MASK),
    both("array.__getitem__[matrix mask]", lambda m, x: x[m], shapes=((3, 4), (3, 4, 2)), **MASK),
    both(
        "array.__getitem__[mask and integer]", lambda m, x: x[m, 1], shapes=((3,), (3, 4)), **MASK
    ),
    both("array.__getitem__[mask behind]", lambda m, x: x[:, m], shapes=((4,), (3, 4)), **MASK),
    *(
        OpRecord(
            f"searchsorted[{side}]",
            lambda x, v, side=side: mx.searchsorted(mx.sort(x), v, side=side),
            lambda x, v, side=side: np.searchsorted(np.sort(x), v, side=side),
            shapes=((9,), (2, 5)),
            dtypes=REAL,
            domain=FEW,
            result="uint32",
            long=((531,), (700,)),
        )
        for side in ("left", "right")
    ),
    OpRecord(
        "searchsorted[sorter]",
        lambda x, v: mx.searchsorted(x, v, sorter=mx.argsort(x)),
        lambda x, v: np.searchsorted(x, v, sorter=np.argsort(x)),
        shapes=((9,), (5,)),
        dtypes=COMPARED,
        result="uint32",
    ),
    *(
        both(
            f"digitize[{bins} {right}]",
            lambda x, bins=bins, right=right: each("digitize", BINS[::bins], right=right)(
                rounded(x)
            ),
            result="uint32",
            dtypes=COMPARED[4:],
            batchable=False,
            compilable=False,
        )
        for bins in (1, -1)
        for right in (False, True)
    ),
    # Sets.
    both("unique", lambda x: each("unique")(rounded(x)), differentiable=(0,), **SETS),
    *(
        both(
            f"unique[{name}]",
            lambda x, name=name: each("unique", **{name: True})(rounded(x))[1],
            result=result,
            **SETS,
        )
        for name, result in (
            ("return_index", "uint32"),
            ("return_inverse", "uint32"),
            ("return_counts", "int32"),
        )
    ),
    lazy(
        "unique[size]",
        bind("unique", 6),
        lambda x: np.sort(x, axis=None)[:6],
        shapes=((3, 4),),
        dtypes=COMPARED,
        domain=DISTINCT,
        differentiable=(0,),
        layouts=False,
    ),
    dependent("unique_values", op("unique_values"), np.unique, dtypes=COMPARED, domain=DISTINCT),
    *(
        dependent(
            name,
            lambda x, name=name: getattr(mx, name)(rounded(x))[-1],
            lambda x, part=part: np.unique(rounded(x), **{f"return_{part}": True})[1],
            result=result,
            dtypes=COMPARED,
            domain=FEW,
        )
        for name, part, result in (
            ("unique_all", "counts", "int32"),
            ("unique_counts", "counts", "int32"),
            ("unique_inverse", "inverse", "uint32"),
        )
    ),
    *(
        both(
            f"isin[{invert}]",
            lambda x, y, invert=invert: each("isin", invert=invert)(rounded(x), rounded(y)),
            shapes=((3, 4), (4,)),
            domain=FEW,
            dtypes=COMPARED,
            result="bool",
        )
        for invert in (False, True)
    ),
    *(
        both(
            name,
            lambda x, y, name=name: each(name)(rounded(x), rounded(y)),
            shapes=PAIR,
            **SETS,
        )
        for name in ("intersect1d", "union1d", "setdiff1d", "setxor1d")
    ),
    # Histograms.
    dependent(
        "bincount",
        op("bincount"),
        np.bincount,
        shapes=((9,),),
        dtypes=INTEGERS,
        domain=Domain(0, 1, 0, 6),
        result="int32",
    ),
    dependent(
        "bincount[weights]",
        lambda x, w: mx.bincount(x, weights=w, minlength=8),
        lambda x, w: (
            np.bincount(x, weights=w.real, minlength=8).astype(w.dtype)
            + (1j * np.bincount(x, weights=w.imag, minlength=8) if w.dtype.kind == "c" else 0)
        ),
        shapes=((9,), (9,)),
        fixed={0: "int32"},
        dtypes=INEXACT,
        domain=(Domain(0, 1, 0, 6), ANY),
        differentiable=(1,),
    ),
    both(
        "histogram",
        lambda x: each("histogram", 4, (-2, 2))(x)[0],
        dtypes=COMPARED[4:],
        result="int32",
    ),
    lazy(
        "histogram[density]",
        lambda x: mx.histogram(x, mx.array(BINS), density=True)[0],
        lambda x: np.histogram(x, BINS, density=True)[0],
        dtypes=FLOATS[2:],
        result="inexact",
        shapes=((40,),),
    ),
    lazy(
        "histogram[weights]",
        lambda x, w: mx.histogram(x, mx.array(BINS), weights=w)[0],
        lambda x, w: np.histogram(x, BINS, weights=w)[0],
        dtypes=FLOATS[2:],
        shapes=((30,), (30,)),
        differentiable=(1,),
    ),
    *(
        lazy(
            f"histogram2d[{label}]",
            lambda x, y, options=options: mx.histogram2d(x, y, **options)[0],
            lambda x, y, options=options: np.histogram2d(x, y, **options)[0],
            shapes=((40,), (40,)),
            dtypes=dtypes,
            result=result,
        )
        for label, options, dtypes, result in (
            ("number", {"bins": 3, "range": ((-2, 2), (-1, 3))}, COMPARED[4:], "int32"),
            ("edges", {"bins": (BINS, [-1, 2])}, COMPARED[4:], "int32"),
            ("density", {"bins": BINS, "density": True}, FLOATS[2:], "inexact"),
        )
    ),
    lazy(
        "histogramdd",
        lambda x: mx.histogramdd(x, (2, BINS, 3), [(-2, 2), None, (-1, 3)])[0],
        lambda x: np.histogramdd(x, (2, BINS, 3), [(-2, 2), None, (-1, 3)])[0],
        shapes=((30, 3),),
        dtypes=COMPARED[4:],
        result="int32",
    ),
    lazy(
        "histogramdd[weights]",
        lambda x, w: mx.histogramdd(x, (BINS, BINS), weights=w)[0],
        lambda x, w: np.histogramdd(x, (BINS, BINS), weights=w)[0],
        shapes=((30, 2), (30,)),
        dtypes=FLOATS[2:],
        differentiable=(1,),
    ),
    lazy(
        "histogram_bin_edges",
        bind("histogram_bin_edges", 4),
        nearest_edges,
        dtypes=COMPARED,
        result="inexact",
        domain=DISTINCT,
    ),
    # Choosing.
    lazy(
        "select",
        lambda c, d, x, y: mx.select([c.astype(mx.bool_), d.astype(mx.bool_)], [x, y], 7),
        lambda c, d, x, y: np.select([c.astype(bool), d.astype(bool)], [x, y], 7),
        shapes=((3, 4), (4,), (3, 4), (3, 1)),
        fixed={0: "bool_", 1: "bool_"},
        dtypes=INTEGERS + INEXACT,
        differentiable=(2, 3),
    ),
    lazy(
        "choose",
        lambda i, x, y: mx.choose(i, [x, y]),
        lambda i, x, y: np.choose(i, [x, y]),
        shapes=((3, 4), (3, 4), (4,)),
        fixed={0: "int32"},
        domain=(Domain(0, 1, 0, 2), ANY, ANY),
        differentiable=(1, 2),
    ),
    lazy(
        "choose[clip]",
        lambda i, x, y: mx.choose(i, [x, y], mode="clip"),
        lambda i, x, y: np.choose(i, [x, y], mode="clip"),
        shapes=((3, 4), (3, 4), (4,)),
        fixed={0: "int32"},
        domain=(Domain(0, 1, -3, 5), ANY, ANY),
    ),
    *(
        lazy(
            f"put[{mode}]",
            lambda x, v, mode=mode: changed("put")(x, mx.array([1, -1, 30]), v, mode),
            lambda x, v, mode=mode: changed("put")(x, [1, -1, 30], v, mode),
            shapes=((3, 4), (2,)),
            differentiable=(0, 1),
            batchable=False,
        )
        for mode in ("wrap", "clip")
    ),
    *(
        lazy(
            name,
            changed(name),
            changed(name),
            shapes=((3, 4), (3, 4), (5,)),
            fixed={1: "bool_"},
            differentiable=(0, 2),
            batchable=False,
        )
        for name in ("place", "putmask")
    ),
    # Editing.
    *(
        lazy(
            f"delete[{label}]",
            lambda x, obj=obj, axis=axis: mx.delete(x, obj, axis),
            lambda x, obj=obj, axis=axis: np.delete(x, obj, axis),
            differentiable=(0,),
        )
        for label, obj, axis in (
            ("integer", 1, 0),
            ("negative", -1, 1),
            ("slice", slice(None, None, 2), 1),
            ("list", [0, 5, 5, -1], None),
            ("mask", [True, False, True], 0),
        )
    ),
    *(
        lazy(
            f"insert[{label}]",
            lambda x, v, obj=obj, axis=axis: mx.insert(x, obj, v, axis),
            lambda x, v, obj=obj, axis=axis: np.insert(x, places(obj), v, axis),
            shapes=((3, 4), shape),
            differentiable=(0, 1),
        )
        for label, obj, axis, shape in (
            ("integer", 1, 0, (4,)),
            ("rows", 3, 0, (2, 4)),
            ("column", -1, 1, (3,)),
            ("list", [2, 0, 2], 1, (3, 3)),
            ("one in a list", [1], 1, (3, 1)),
            ("flat", [0, 12, 5], None, (3,)),
            ("slice", slice(1, 3), 0, (4,)),
            ("mask", [True, False, True], 0, (2, 4)),
        )
    ),
    lazy("append", each("append"), each("append"), shapes=((3, 4), (2,)), differentiable=(0, 1)),
    lazy(
        "append[axis]",
        each("append", axis=1),
        each("append", axis=1),
        shapes=((3, 4), (3, 2)),
        differentiable=(0, 1),
    ),
    lazy("resize", each("resize", (5, 3)), each("resize", (5, 3)), differentiable=(0,)),
    lazy("resize[shorter]", each("resize", 7), each("resize", 7), differentiable=(0,)),
    *(
        lazy(
            f"repeat[counts {label}]",
            lambda x, counts=counts, axis=axis: mx.repeat(x, mx.array(counts), axis),
            lambda x, counts=counts, axis=axis: np.repeat(x, counts, axis),
            differentiable=(0,),
        )
        for label, counts, axis in (
            ("rows", [2, 0, 1], 0),
            ("columns", [0, 1, 3, 1], 1),
            ("one", [2], 1),
            ("flat", list(range(12)), None),
        )
    ),
    # Orders.
    lazy(
        "lexsort",
        lambda x, y: mx.lexsort((rounded(x), rounded(y))),
        lambda x, y: np.lexsort((rounded(x), rounded(y))),
        shapes=KEYS,
        dtypes=COMPARED,
        domain=FEW,
        result="uint32",
    ),
    *(
        lazy(
            f"sort[descending {axis}]",
            bind("sort", axis=axis, descending=True),
            lambda x, axis=axis: np.flip(np.sort(x, axis), axis if axis is not None else 0),
            dtypes=ALL,
            domain=DISTINCT,
            differentiable=(0,),
        )
        for axis in (0, -1, None)
    ),
    lazy(
        "argsort[descending]",
        bind("argsort", axis=0, descending=True, stable=True),
        lambda x: np.argsort(-x.astype(np.float64), axis=0, kind="stable"),
        dtypes=COMPARED,
        domain=FEW,
        result="uint32",
    ),
    # Index arrays from shapes.
    *(
        lazy(
            f"{name}[{n} {k} {m}]",
            lambda name=name, n=n, k=k, m=m: getattr(mx, name)(n, k, m),
            lambda name=name, n=n, k=k, m=m: getattr(np, name)(n, k, m),
            shapes=(),
            dtypes=("float32",),
            result="uint32",
        )
        for name in ("tril_indices", "triu_indices")
        for n, k, m in ((3, 0, None), (4, -2, 3), (2, 1, 5), (0, 0, 3))
    ),
    lazy(
        "diag_indices",
        lambda: mx.diag_indices(3, 3),
        lambda: np.diag_indices(3, 3),
        shapes=(),
        dtypes=("float32",),
        result="uint32",
    ),
    *(
        lazy(
            f"indices[{shape} {sparse}]",
            lambda shape=shape, sparse=sparse: mx.indices(shape, sparse=sparse),
            lambda shape=shape, sparse=sparse: np.indices(shape, sparse=sparse),
            shapes=(),
            dtypes=("float32",),
            result="int32",
        )
        for shape in ((2, 3), (4,), (2, 0, 3))
        for sparse in (False, True)
    ),
    lazy(
        "ix_",
        lambda i: mx.ix_(i, mx.array([True, False, True])),
        lambda i: (i[:, None], np.array([[0, 2]], np.uint32)),
        shapes=((3,),),
        dtypes=("uint32",),
    ),
    lazy(
        "unravel_index",
        lambda i: mx.unravel_index(i, (3, 4, 5)),
        lambda i: np.unravel_index(i, (3, 4, 5)),
        shapes=((2, 3),),
        dtypes=INTEGERS,
        domain=Domain(0, 1, 0, 60),
        result="uint32",
    ),
    *(
        lazy(
            f"ravel_multi_index[{mode}]",
            lambda i, j, mode=mode: mx.ravel_multi_index((i, j), (3, 4), mode),
            lambda i, j, mode=mode: np.ravel_multi_index(
                (i.astype(np.int64), j.astype(np.int64)), (3, 4), mode
            ),
            shapes=((2, 3), (3,)),
            dtypes=INTEGERS,
            domain=domain,
            result="uint32",
        )
        for mode, domain in (
            ("raise", Domain(0, 1, 0, 3)),
            ("wrap", Domain(0, 1, -9, 9)),
            ("clip", Domain(0, 1, -9, 9)),
        )
    ),
    # Writes under a mask.
    lazy(
        "array.__setitem__[mask]",
        lambda x, m: write(x, m, 2),
        lambda x, m: write(x, m, 2),
        shapes=((3, 4), (3, 4)),
        fixed={1: "bool_"},
        differentiable=(0,),
        layouts=False,
    ),
    lazy(
        "array.__setitem__[mask of rows]",
        lambda x, m, v: write(x, m, v),
        lambda x, m, v: write(x, m, v),
        shapes=((3, 4), (3,), (4,)),
        fixed={1: "bool_"},
        differentiable=(0, 2),
        layouts=False,
    ),
    lazy(
        "array.__setitem__[mask and values]",
        lambda x, v: write(x, (mx.array([True, False, True]), 1), v),
        lambda x, v: write(x, (np.array([True, False, True]), 1), v),
        shapes=((3, 4), (2,)),
        differentiable=(0, 1),
        layouts=False,
    ),
]
