"""Linear algebra; factors are compared by what they multiply to."""

import numpy as np

from mlx_calls.draw import Draw, Given
from mlx_calls.products import norm

DTYPES = ("float32", "float32", "float64")


def stack_of(draw: Draw, make, square=True):
    size = draw.int(1, 4)
    shape = (size, size) if square else (draw.int(1, 4), draw.int(1, 4))
    values = make(draw.values((*draw.shape(0, 1, 3, zero=0.0), *shape), "float64"))
    dtype = draw.pick(DTYPES)
    return Given(values.astype(dtype), dtype)


def definite(draw):
    return stack_of(draw, lambda x: x @ np.swapaxes(x, -1, -2) + np.eye(x.shape[-1]))


def regular(draw):
    return stack_of(draw, lambda x: x + 6 * np.eye(x.shape[-1]))


def symmetric(draw):
    return stack_of(draw, lambda x: x + np.swapaxes(x, -1, -2))


def cholesky(draw):
    return draw.call(must={"a": definite(draw)}, either={"upper": draw.chance()})


def cholesky_inv(draw):
    a = definite(draw)
    upper = draw.chance()
    factor = np.linalg.cholesky(a.values)
    factor = np.swapaxes(factor, -1, -2).copy() if upper else factor
    return draw.call(must={"a": Given(factor, a.dtype), "upper": upper})


def cross(draw):
    shape = (*draw.shape(0, 2, zero=0.0), 3)
    dtype = draw.dtype(("float32", "int32", "float64"))
    return draw.call(must={name: draw.array(shape, dtype) for name in "ab"}, either={"axis": -1})


def whole(make):
    return lambda draw: draw.call(must={"a": make(draw)})


def sided(draw):
    return draw.call(must={"a": symmetric(draw)}, either={"UPLO": draw.pick("LU")})


def rectangle(draw):
    return draw.call(must={"a": stack_of(draw, lambda x: x, square=False)})


def solve(draw):
    a = regular(draw)
    b = draw.array((*a.shape[:-1], draw.int(1, 3)), a.dtype)
    return draw.call(must={"a": a, "b": b})


def triangular(draw):
    a = regular(draw)
    upper = draw.chance()
    part = np.triu(a.values) if upper else np.tril(a.values)
    return Given(part, a.dtype), upper


def solve_triangular(draw):
    a, upper = triangular(draw)
    b = draw.array((*a.shape[:-1], draw.int(1, 3)), a.dtype)
    return draw.call(must={"a": a, "b": b}, keyword={"upper": upper} if upper else {})


def tri_inv(draw):
    a, upper = triangular(draw)
    return draw.call(must={"a": a, "upper": upper})


def svd(draw):
    a = stack_of(draw, lambda x: x, square=False)
    return draw.call(must={"a": a}, either={"compute_uv": draw.chance()})


CALLS = {
    "linalg.cholesky": cholesky,
    "linalg.cholesky_inv": cholesky_inv,
    "linalg.cross": cross,
    "linalg.det": whole(regular),
    "linalg.eig": whole(symmetric),
    "linalg.eigh": sided,
    "linalg.eigvals": whole(symmetric),
    "linalg.eigvalsh": sided,
    "linalg.inv": whole(regular),
    "linalg.lu": whole(regular),
    "linalg.lu_factor": whole(regular),
    "linalg.norm": norm,
    "linalg.pinv": rectangle,
    "linalg.qr": rectangle,
    "linalg.slogdet": whole(regular),
    "linalg.solve": solve,
    "linalg.solve_triangular": solve_triangular,
    "linalg.svd": svd,
    "linalg.tri_inv": tri_inv,
}
