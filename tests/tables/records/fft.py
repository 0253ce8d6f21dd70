"""Fourier transforms, and what goes with them."""

import numpy as np
from arrays import REAL
from domains import ANY
from op_table import OpRecord, bind

from records.reductions import label

CHOICES = (
    {},
    {"axis": 0},
    {"n": 3, "axis": 1, "norm": "ortho"},
    {"n": 9, "norm": "forward"},
)
SEVERAL = (
    {},
    {"axes": (0, 2)},
    {"axes": (2, 0, 1), "norm": "ortho"},
    {"s": (3, 6), "axes": (1, 2), "norm": "forward"},
    # An axis named twice is transformed twice.
    {"axes": (1, 1)},
)
# Sums of a few dozen products, rounded in float32 although the oracle computes in double precision.
SUM = 12
# The first dtypes are computed in float32, the others as they are.
SINGLE = (*REAL[:-1], "complex64")
DOUBLE = ("float64", "complex128")


def to_complex(x):
    """What NumPy transforms: it refuses an imaginary part, MLX and umber do not count it."""
    return x.real if np.iscomplexobj(x) else x


def transform(name, oracle, real_result, choices, shape):
    """Records of one transform, in single and in double precision."""
    return [
        OpRecord(
            label(f"fft.{name}", chosen)
            if precision is SINGLE
            else label(f"fft.{name}", chosen | {"in": "double"}),
            bind(f"fft.{name}", **chosen),
            lambda x, chosen=chosen: oracle(x, **chosen),
            shapes=(shape,),
            dtypes=precision,
            domain=ANY,
            differentiable=(0,),
            tolerance=SUM,
            result={
                (True, True): "float32",
                (True, False): "float64",
                (False, True): "complex64",
                (False, False): "complex128",
            }[real_result, precision is SINGLE],
        )
        for precision in (SINGLE, DOUBLE)
        for chosen in choices
    ]


def real_first(oracle):
    return lambda x, **options: oracle(to_complex(x), **options)


ONE = (4, 5)
MANY = (3, 4, 5)

RECORDS = [
    *transform("fft", np.fft.fft, False, CHOICES, ONE),
    *transform("ifft", np.fft.ifft, False, CHOICES, ONE),
    *transform("rfft", real_first(np.fft.rfft), False, CHOICES, ONE),
    *transform("irfft", np.fft.irfft, True, CHOICES, ONE),
    *transform("hfft", np.fft.hfft, True, CHOICES, ONE),
    *transform("ihfft", real_first(np.fft.ihfft), False, CHOICES, ONE),
    *transform("fftn", np.fft.fftn, False, SEVERAL, MANY),
    *transform("ifftn", np.fft.ifftn, False, SEVERAL, MANY),
    *transform("rfftn", real_first(np.fft.rfftn), False, SEVERAL, MANY),
    *transform("irfftn", np.fft.irfftn, True, SEVERAL, MANY),
    *transform("fft2", np.fft.fft2, False, SEVERAL[:1], MANY),
    *transform("ifft2", np.fft.ifft2, False, SEVERAL[:1], MANY),
    *transform("rfft2", real_first(np.fft.rfft2), False, SEVERAL[:1], MANY),
    *transform("irfft2", np.fft.irfft2, True, SEVERAL[:1], MANY),
    *(
        OpRecord(
            label(f"fft.{name}", chosen),
            bind(f"fft.{name}", **chosen),
            lambda x, name=name, chosen=chosen: getattr(np.fft, name)(x, **chosen),
            shapes=(MANY,),
            differentiable=(0,),
            second_order=False,
        )
        for name in ("fftshift", "ifftshift")
        for chosen in ({}, {"axes": 1}, {"axes": (0, 2)})
    ),
]
