"""Convolutions."""

from mlx_calls.draw import Draw

DTYPES = ("float32", "float32", "float16", "bfloat16")


def spread(draw: Draw, rank, low, high):
    """One number, or one an axis."""
    one = draw.int(low, high)
    if rank == 1 or draw.chance(0.4):
        return one
    return tuple(draw.int(low, high) for _ in range(rank))


def parts(draw, rank, transposed=False):
    groups = draw.pick([1, 1, 1, 2]) if rank < 3 and not transposed else 1
    inputs, outputs = groups * draw.int(1, 3), groups * draw.int(1, 3)
    kernel = [draw.int(1, 3) for _ in range(rank)]
    space = [draw.int(7, 9) for _ in range(rank)] if rank < 3 else [draw.int(5, 6)] * 3
    dtype = draw.pick(DTYPES)
    a = draw.array((draw.int(1, 2), *space, inputs), dtype)
    return a, draw.array((outputs, *kernel, inputs // groups), dtype), groups


def conv(rank):
    def make(draw):
        a, weight, groups = parts(draw, rank)
        must = {
            "stride": spread(draw, rank, 1, 2),
            "padding": spread(draw, rank, 0, 2),
            "dilation": spread(draw, rank, 1, 2),
            "groups": groups,
        }
        return draw.call(a, weight, must=must)

    return make


def conv_transpose(rank):
    def make(draw):
        a, weight, groups = parts(draw, rank, transposed=True)
        must = {
            "stride": spread(draw, rank, 1, 2),
            "padding": spread(draw, rank, 0, 1),
            "dilation": spread(draw, rank, 1, 2),
            "output_padding": 0,
            "groups": groups,
        }
        return draw.call(a, weight, must=must)

    return make


def conv_general(draw):
    rank = draw.int(1, 2)
    a, weight, groups = parts(draw, rank)
    must = {
        "stride": draw.int(1, 2),
        "padding": draw.pick([0, 1, ([1] * rank, [2] * rank)]),
        "kernel_dilation": draw.int(1, 2),
        "input_dilation": draw.int(1, 2),
        "groups": groups,
        "flip": draw.chance(),
    }
    return draw.call(a, weight, must=must)


def convolve(draw):
    a, v = draw.array((draw.int(1, 9),), "float32"), draw.array((draw.int(1, 9),), "float32")
    return draw.call(a, v, either={"mode": draw.pick(["full", "same", "valid"])})


CALLS = {
    **{f"conv{rank}d": conv(rank) for rank in (1, 2, 3)},
    **{f"conv_transpose{rank}d": conv_transpose(rank) for rank in (1, 2, 3)},
    "conv_general": conv_general,
    "convolve": convolve,
}
