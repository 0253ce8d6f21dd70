"""Quantiles and percentiles by every method."""

import numpy as np
from arrays import FLOATS, INTEGERS
from domains import DISTINCT, PROBABILITY, with_gaps
from op_table import OpRecord, op

from records.nan_reductions import quiet

METHODS = """
linear lower higher midpoint nearest inverted_cdf averaged_inverted_cdf closest_observation
interpolated_inverted_cdf hazen weibull median_unbiased normal_unbiased
""".split()
ELEMENTS = {"lower", "higher", "nearest", "inverted_cdf", "closest_observation"}
PARTS = [[0.0, 0.13], [0.5, 0.77], [0.25, 1.0]]


def picking(name, q, domain=DISTINCT, shape=(3, 4), **options) -> OpRecord:
    """One array in, its quantiles at fixed parts out."""
    method = options.get("method", "linear")
    words = ",".join(f"{key}={value}" for key, value in options.items())
    return OpRecord(
        f"{name}[{words},q={q}]",
        lambda x: op(name)(x, q, **options),
        quiet(lambda x: getattr(np, name)(x, q, **options)),
        shapes=(shape,),
        dtypes=INTEGERS + FLOATS,
        result="same" if method in ELEMENTS else "inexact",
        domain=domain,
        differentiable=(0,),
        second_order=False,
        tolerance=2,
    )


RECORDS = [
    *(picking("quantile", PARTS, axis=1, method=method) for method in METHODS),
    *(picking("quantile", 0.4, shape=(3, 7), method=method) for method in METHODS),
    picking("quantile", 0.3, axis=0, keepdims=True),
    picking("quantile", [0.3, 0.9], axis=(0, 2), keepdims=True, shape=(2, 3, 4)),
    picking("quantile", 0.6, shape=(5,)),
    picking("percentile", 30, axis=0),
    picking("percentile", [[10], [99.5]], shape=(2, 3, 4), axis=-1),
    picking("percentile", [0, 50, 100], method="nearest"),
    *(
        picking("nanquantile", PARTS, with_gaps(DISTINCT), (4, 9), axis=1, method=method)
        for method in METHODS
    ),
    picking("nanpercentile", 40, with_gaps(DISTINCT), (4, 9), axis=0, keepdims=True),
    # Parts that are computed too.
    OpRecord(
        "quantile[traced parts]",
        lambda x, q: op("quantile")(x, q, axis=0),
        lambda x, q: np.quantile(x, q, axis=0),
        shapes=((9, 2), (3,)),
        dtypes=FLOATS[2:],
        domain=(DISTINCT, PROBABILITY),
        differentiable=(0, 1),
        # Places are counted as the parts are rounded: 1e-7 of a part is 1e-6 of a place.
        tolerance=8,
    ),
]
