"""Random numbers: the same key gives the same draws."""

import numpy as np

from mlx_calls.draw import Call, Draw, Dtype, Given

# Draws of 16-bit dtypes are a matter of their own.
DTYPES = ("float32",)


def key_of(draw: Draw) -> Given:
    return Given(draw.rng.integers(0, 2**32, 2).astype("uint32"), "uint32")


def shaped(draw, **either):
    """A keyword for each, and a key always."""
    return Call((), {"shape": draw.shape(0, 2), "key": key_of(draw)} | either)


def bernoulli(draw):
    p = draw.pick([draw.float(0, 1), draw.array(draw.shape(0, 2), "float32", 0.0, 1.0)])
    if isinstance(p, Given) and draw.chance():
        return Call((p,), {"key": key_of(draw)})
    return Call((draw.float(0, 1),), {"shape": draw.shape(0, 2), "key": key_of(draw)})


def categorical(draw):
    logits = draw.array(draw.shape(2, 3, zero=0.0), "float32")
    return Call((logits,), {"axis": draw.axis(logits.shape), "key": key_of(draw)})


def gumbel(draw):
    return shaped(draw, dtype=Dtype("float32"))


def laplace(draw):
    return shaped(draw, loc=draw.float(-1, 1), scale=draw.float(0.5, 2))


def multivariate_normal(draw):
    size = draw.int(1, 3)
    root = draw.values((size, size), "float64")
    cov = Given((root @ root.T + np.eye(size)).astype("float32"), "float32")
    return Call((draw.array((size,), "float32"), cov), {"shape": [3], "key": key_of(draw)})


def normal(draw):
    loc, scale = draw.pick([None, 1.5]), draw.pick([None, 2.0])
    return shaped(draw, loc=loc, scale=scale, dtype=Dtype(draw.dtype(("float32", "float16"))))


def permutation(draw):
    if draw.chance():
        return Call((draw.int(0, 9),), {"key": key_of(draw)})
    a = draw.array(draw.shape(1, 3, zero=0.0))
    return Call((a,), {"axis": draw.axis(a.shape), "key": key_of(draw)})


def randint(draw):
    low = draw.int(-9, 5)
    dtype = Dtype(draw.pick(["int32", "int64", "int16", "int8"]))
    return Call((low, low + draw.int(1, 9)), {"key": key_of(draw), "shape": (3, 2), "dtype": dtype})


def split(draw):
    return draw.call(must={"key": key_of(draw)}, either={"num": draw.int(1, 5)})


def truncated_normal(draw):
    low = draw.float(-2, 1)
    return Call((low, low + draw.float(0.5, 2)), {"shape": draw.shape(0, 2), "key": key_of(draw)})


def uniform(draw):
    low = draw.float(-2, 1)
    dtype = Dtype(draw.dtype(("float32", "float16", "bfloat16")))
    return shaped(draw, low=low, high=low + 1, dtype=dtype)


def seed(draw):
    return draw.call(must={"seed": draw.int(0, 2**40)})


CALLS = {
    "random.bernoulli": bernoulli,
    "random.categorical": categorical,
    "random.gumbel": gumbel,
    "random.key": seed,
    "random.laplace": laplace,
    "random.multivariate_normal": multivariate_normal,
    "random.normal": normal,
    "random.permutation": permutation,
    "random.randint": randint,
    "random.seed": seed,
    "random.split": split,
    "random.truncated_normal": truncated_normal,
    "random.uniform": uniform,
}
