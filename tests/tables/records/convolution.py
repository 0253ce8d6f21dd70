"""Convolutions."""

import numpy as np
from arrays import COMPLEX, FLOATS, INTEGERS
from domains import SMALL
from naive_convolution import conv_general, conv_transpose
from op_table import OpRecord, bind

DTYPES = INTEGERS + FLOATS + COMPLEX


def convolution(variant, name, oracle, *shapes, empty=None, **options) -> OpRecord:
    """A convolution of two shapes with some options."""
    return OpRecord(
        f"{name}[{variant}]" if variant else name,
        bind(name, **options),
        lambda x, w: oracle(x, w, **options),
        shapes=shapes,
        dtypes=DTYPES,
        domain=SMALL,
        differentiable=(0, 1),
        empty=empty,
        # Sums of up to a hundred products.
        tolerance=8,
    )


def plain(x, w, dilation=1, **options):
    return conv_general(x, w, kernel_dilation=dilation, **options)


GENERAL = (
    ("stride", (2, 7, 2), (3, 3, 2), {"stride": 2}),
    ("padding", (2, 4, 2), (3, 3, 2), {"padding": 2}),
    ("sides", (1, 5, 4, 2), (2, 3, 2, 2), {"padding": ([2, 0], [1, 3])}),
    ("cut", (1, 7, 2), (2, 2, 2), {"padding": ([-1], [-2])}),
    ("kernel dilation", (1, 9, 2), (2, 3, 2), {"kernel_dilation": 3, "padding": 1}),
    ("input dilation", (2, 4, 2), (3, 3, 2), {"input_dilation": 3, "padding": ([2], [1])}),
    ("all", (2, 5, 4, 4), (4, 3, 2, 2),
     {"stride": (2, 3), "padding": ([1, 2], [0, 3]), "kernel_dilation": (1, 2),
      "input_dilation": (2, 3), "groups": 2, "flip": True}),
    ("groups", (2, 5, 6), (4, 3, 3), {"groups": 2}),
    ("depthwise", (2, 5, 4, 3), (3, 3, 2, 1), {"groups": 3, "padding": 1}),
    ("depthwise, two each", (1, 6, 3), (6, 3, 1), {"groups": 3, "stride": 2, "padding": 1}),
    ("flip", (1, 5, 2), (2, 3, 2), {"flip": True}),
    ("pointwise", (2, 3, 2, 4), (5, 1, 1, 4), {}),
    ("pointwise stride", (2, 5, 4), (5, 1, 4), {"stride": 2}),
    ("four axes", (1, 2, 3, 2, 3, 1), (2, 2, 2, 1, 2, 1), {}),
)  # fmt: skip

RECORDS = [
    *(
        convolution(variant, "conv_general", conv_general, x, w, **options)
        for variant, x, w, options in GENERAL
    ),
    convolution("", "conv1d", plain, (2, 5, 3), (4, 3, 3), empty=((0, 5, 3), (4, 3, 3))),
    convolution("no channels", "conv1d", plain, (2, 5, 0), (4, 3, 0)),
    convolution(
        "", "conv2d", plain, (2, 5, 4, 3), (2, 3, 2, 3), empty=((1, 5, 4, 3), (0, 3, 2, 3))
    ),
    convolution(
        "options", "conv2d", plain, (1, 6, 5, 2), (2, 2, 3, 2),
        stride=(2, 1), padding=(0, 2), dilation=2,
    ),
    convolution("", "conv3d", plain, (1, 3, 4, 3, 2), (2, 2, 2, 2, 2)),
    convolution(
        "options", "conv3d", plain, (1, 3, 4, 3, 2), (2, 2, 2, 2, 1),
        groups=2, padding=1, stride=(1, 2, 1),
    ),
    convolution("", "conv_transpose1d", conv_transpose, (2, 4, 3), (2, 3, 3)),
    convolution(
        "options", "conv_transpose1d", conv_transpose, (1, 4, 4), (2, 3, 2),
        stride=2, padding=1, dilation=2, output_padding=1, groups=2,
    ),
    convolution("", "conv_transpose2d", conv_transpose, (1, 3, 4, 2), (3, 2, 3, 2), stride=(2, 3)),
    convolution(
        "options", "conv_transpose2d", conv_transpose, (1, 3, 3, 2), (2, 3, 2, 2),
        stride=2, padding=(1, 0), output_padding=(1, 0),
    ),
    convolution("", "conv_transpose3d", conv_transpose, (1, 2, 2, 3, 2), (2, 2, 2, 2, 2), stride=2),
    *(
        OpRecord(
            f"{name}[{mode}, {', '.join(map(str, lengths))}]",
            bind(name, mode=mode),
            lambda a, v, oracle=oracle, mode=mode: oracle(a, v, mode),
            shapes=tuple((length,) for length in lengths),
            dtypes=DTYPES,
            domain=SMALL,
            differentiable=(0, 1),
            tolerance=6,
        )
        for name, oracle in (("convolve", np.convolve), ("correlate", np.correlate))
        for mode in ("full", "same", "valid")
        for lengths in ((7, 3), (4, 7), (6, 4), (5, 5))
    ),
]  # fmt: skip
