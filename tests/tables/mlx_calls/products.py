"""Matrix products and contractions."""

import numpy as np

from mlx_calls.draw import BOOL, COMPLEX, FLOATS, Call, Draw, Given

INEXACT = FLOATS + COMPLEX


def matrices(draw: Draw, dtypes=INEXACT):
    """Two operands of a matrix product, vectors and stacks among them."""
    rows, inner, columns = draw.int(1, 5), draw.int(0 if draw.chance(0.1) else 1, 5), draw.int(1, 5)
    stack = draw.shape(0, 2, 3, zero=0.0)
    a_shape = (*draw.broadcastable(stack), rows, inner)
    b_shape = (*draw.broadcastable(stack), inner, columns)
    a_shape = draw.pick([a_shape, a_shape, (inner,)])
    b_shape = draw.pick([b_shape, b_shape, (inner,)])
    a = draw.array(a_shape, dtypes, -2, 2)
    return a, draw.array(b_shape, draw.pick([a.dtype, a.dtype, dtypes]), -2, 2)


def matmul(draw):
    return Call(matrices(draw))


def addmm(draw):
    m, k, n = draw.int(1, 4), draw.int(1, 4), draw.int(1, 4)
    dtype = draw.dtype(FLOATS)
    stack = draw.shape(0, 1, 3, zero=0.0)
    a, b = draw.array((*stack, m, k), dtype), draw.array((k, n), dtype)
    c = draw.array(draw.pick([(m, n), (n,), (m, 1), ()]), dtype)
    return draw.call(c, a, b, either={"alpha": draw.float(-2, 2), "beta": draw.float(-2, 2)})


def block_masked_mm(draw):
    m, k, n = draw.int(1, 70), draw.int(1, 70), draw.int(1, 70)
    a, b = draw.array((m, k), "float32"), draw.array((k, n), "float32")
    blocks = [-(-size // 32) for size in (m, k, n)]
    masks = {
        "mask_out": draw.array((blocks[0], blocks[2]), BOOL),
        "mask_lhs": draw.array((blocks[0], blocks[1]), BOOL),
        "mask_rhs": draw.array((blocks[1], blocks[2]), BOOL),
    }
    return Call((a, b), {"block_size": 32} | {n: m for n, m in masks.items() if draw.chance(0.8)})


SUBSCRIPTS = (
    "ij,jk->ik ij,jk ij,kj->ik i,i-> i,j->ij ii->i ii ij->ji bij,bjk->bik ij,ij->i ij,j->i "
    "ijk->kji ij-> ...ij,...jk->...ik i,ij,j-> ij,jk,kl->il ab,ac->bc aij,bjk->abik"
).split()


def einsum(draw):
    subscripts = draw.pick(SUBSCRIPTS)
    sizes = {letter: draw.int(1, 4) for letter in "abcijkl"}
    dtype = draw.dtype(FLOATS)
    operands = [
        draw.array(tuple(sizes[letter] for letter in term if letter != "."), dtype)
        for term in subscripts.split("->")[0].split(",")
    ]
    return Call((subscripts, *operands))


def gather_mm(draw):
    groups, m, k, n = draw.int(1, 4), draw.int(1, 4), draw.int(1, 4), draw.int(1, 4)
    a, b = draw.array((groups, m, k), "float32"), draw.array((groups, k, n), "float32")
    size = draw.int(1, 5)
    lhs = Given(draw.rng.integers(0, groups, size).astype("uint32"), "uint32")
    rhs = Given(np.sort(draw.rng.integers(0, groups, size)).astype("uint32"), "uint32")
    keyword = {"sorted_indices": draw.chance()}
    return draw.call(a, b, must={"lhs_indices": lhs, "rhs_indices": rhs}, keyword=keyword)


def hadamard_transform(draw):
    size = draw.pick([1, 2, 4, 8, 16, 12, 20, 28, 24])
    a = draw.array((*draw.shape(0, 2, zero=0.0), size), ("float32", "float16", "bfloat16"))
    scale = draw.pick([None, 0.5, 1.0])
    return draw.call(a, either={"scale": scale})


def inner(draw):
    size, dtype = draw.int(1, 4), draw.dtype(FLOATS)
    shapes = [(*draw.shape(0, 2, zero=0.0), size) for _ in range(2)]
    return Call(tuple(draw.array(shape, dtype) for shape in shapes))


def kron(draw):
    dtype = draw.dtype(FLOATS)
    return draw.call(
        must={name: draw.array(draw.shape(1, 2, 3, zero=0.0), dtype) for name in ("a", "b")}
    )


def outer(draw):
    dtype = draw.dtype(INEXACT)
    return Call(tuple(draw.array(draw.shape(1, 2, zero=0.0), dtype) for _ in range(2)))


def segmented_mm(draw):
    m, k, n = draw.int(1, 4), draw.int(2, 9), draw.int(1, 4)
    a, b = draw.array((m, k), "float32"), draw.array((k, n), "float32")
    places = np.sort(draw.rng.integers(0, k + 1, draw.int(2, 4)))
    segments = np.stack([places[:-1], places[1:]], 1).astype("uint32")
    return draw.call(a, b, must={"segments": Given(segments, "uint32")})


def tensordot(draw):
    shape, dtype = draw.shape(2, 2, zero=0.0), draw.dtype(FLOATS)
    a = draw.array((*draw.shape(0, 1, zero=0.0), *shape), dtype)
    b = draw.array((*shape, *draw.shape(0, 1, zero=0.0)), dtype)
    first = len(a.shape) - 2
    axes = draw.pick([2, [[first, first + 1], [0, 1]], [[first + 1, first], [1, 0]]])
    return draw.call(a, b, either={"axes": axes})


def vecdot(draw):
    shape, dtype = draw.shape(1, 3, zero=0.0), draw.dtype(INEXACT)
    a, b = draw.array(shape, dtype), draw.array(shape, dtype)
    return draw.call(a, b, keyword={"axis": draw.axis(shape)})


def norm(draw):
    shape = draw.shape(1, 3, zero=0.0)
    a = draw.array(shape, ("float32", "float64"))
    way = draw.int(0, 2)
    if way == 0 or (way == 2 and len(shape) < 2):
        axis, order = draw.pick([None, draw.axis(shape)]), None
    elif way == 1:
        axis, order = draw.axis(shape), draw.pick([0, 1, 2, 3, 0.5, float("inf"), -1])
    else:
        axis = draw.pick([[-2, -1], (-1, -2)])
        order = draw.pick(["fro", 1, -1, float("inf"), -float("inf"), None, 2, -2, "nuc"])
    return draw.call(a, must={"ord": order, "axis": axis}, either={"keepdims": draw.chance()})


def matrix_norm(draw):
    a = draw.array(draw.shape(2, 3, zero=0.0), ("float32",))
    order = draw.pick(["fro", 1, -1, float("inf"), -float("inf"), None])
    return Call((a,), {"ord": order, "axis": [-2, -1], "keepdims": draw.chance()})


CALLS = {
    "addmm": addmm,
    "block_masked_mm": block_masked_mm,
    "einsum": einsum,
    "einsum_path": einsum,
    "gather_mm": gather_mm,
    "hadamard_transform": hadamard_transform,
    "inner": inner,
    "kron": kron,
    "matmul": matmul,
    "matrix_norm": matrix_norm,
    "outer": outer,
    "segmented_mm": segmented_mm,
    "tensordot": tensordot,
    "vecdot": vecdot,
}
