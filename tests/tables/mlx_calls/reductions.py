"""Reductions and scans."""

from mlx_calls.draw import ALL, FLOATS, NUMERIC, REAL, Draw, Dtype


def reduction(dtypes=ALL, *, empty=True, special=0.05, keyword_only=False, ddof=False):
    """One array, axes, `keepdims`."""

    def make(draw: Draw):
        shape = draw.shape(zero=0.08 if empty else 0.0)
        a = draw.array(shape, dtypes, special=special if draw.chance(0.2) else 0.0)
        options = {"axis": draw.axes(shape), "keepdims": draw.chance()}
        if ddof:
            options["ddof"] = draw.int(0, 2)
        spelling = "keyword" if keyword_only else "either"
        return draw.call(a, **{spelling: options})

    return make


def position(draw):
    shape = draw.shape(zero=0.0)
    a = draw.distinct(shape) if draw.chance(0.7) else draw.array(shape, REAL)
    axis = draw.axis(shape) if shape and draw.chance(0.7) else None
    return draw.call(a, either={"axis": axis, "keepdims": draw.chance()})


def scan(dtypes=ALL, *, dtype=False):
    def make(draw):
        shape = draw.shape(1, 3)
        axis = draw.axis(shape) if draw.chance(0.8) else None
        keyword = {"reverse": draw.chance(), "inclusive": draw.chance(0.7)}
        if dtype and draw.chance(0.3):
            keyword["dtype"] = Dtype(draw.dtype(FLOATS))
        return draw.call(draw.array(shape, dtypes), either={"axis": axis}, keyword=keyword)

    return make


def diff(draw):
    shape = draw.shape(1, 3)
    a = draw.array(shape, NUMERIC)
    return draw.call(a, either={"n": draw.int(0, 3), "axis": draw.axis(shape)})


def softmax(draw):
    shape = draw.shape(1, 3)
    a = draw.array(shape, REAL)
    return draw.call(a, either={"axis": draw.axes(shape)}, keyword={"precise": draw.chance()})


def trace(draw):
    # MLX never returns from the trace of an empty diagonal with a `dtype`.
    shape = tuple(draw.int(2, 4) for _ in range(draw.int(2, 3)))
    first, second = draw.pick([(0, 1), (1, 0), (-1, -2), (-1, 0)])
    return draw.call(
        draw.array(shape),
        must={"offset": draw.int(-1, 1), "axis1": first, "axis2": second},
        either={
            "dtype": draw.pick([None, Dtype(draw.dtype(FLOATS))]),
        },
    )


CALLS = {
    **dict.fromkeys(("all", "any"), reduction()),
    **dict.fromkeys(("sum", "prod"), reduction()),
    "mean": reduction(),
    **dict.fromkeys(("max", "min"), reduction(empty=False)),
    "minmax": reduction(REAL, empty=False),
    "median": reduction(REAL, empty=False, special=0.0),
    **dict.fromkeys(("std", "var"), reduction(REAL, ddof=True)),
    "count_nonzero": reduction(keyword_only=True),
    "logsumexp": reduction(REAL),
    **dict.fromkeys(("argmax", "argmin"), position),
    **dict.fromkeys(("cumsum", "cumulative_sum", "cumprod", "cumulative_prod"), scan(dtype=True)),
    **dict.fromkeys(("cummax", "cummin"), scan(REAL)),
    "logcumsumexp": scan(REAL),
    "diff": diff,
    "softmax": softmax,
    "trace": trace,
}
