"""Texts of arrays."""

from mlx_calls.draw import Call


def text(draw):
    return Call((draw.array(draw.shape(0, 3), special=0.1),))


def long_text(draw):
    return Call((draw.array((draw.int(1, 2) * 700,)),)) if draw.chance(0.1) else text(draw)


def formatted(draw):
    kinds = ("float32", "float16", "int32")
    return Call((draw.array((), kinds), draw.pick(["", ".2f", "8.3f"])))


def options(draw):
    return draw.call(either={"precision": draw.int(1, 7)})


CALLS = {
    "array.__repr__": long_text,
    "array.__str__": long_text,
    "array.__format__": formatted,
    "printoptions": options,
    "set_printoptions": options,
    "get_printoptions": lambda draw: Call(),
}
