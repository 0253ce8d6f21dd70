"""Linear algebra beyond the op table: errors, special matrices, conventions, MLX as an oracle."""

import math

import numpy as np
import pytest
import umber.core as mx
from arrays import assert_close, to_numpy, to_umber
from tolerances import tolerance_of

linalg = mx.linalg
SQUARE_ONLY = "cholesky cholesky_inv det eig eigh eigvals eigvalsh expm inv slogdet tri_inv".split()
MATRICES_ONLY = "lu lu_factor matrix_norm matrix_rank pinv qr svd svdvals cond".split()
SINGULAR = [[1.0, 2.0], [2.0, 4.0]]
REGULAR = [[4.0, 1.0], [2.0, 3.0]]
POSITIVE = [[4.0, 1.0], [1.0, 3.0]]
ALL_DTYPES = ("float32", "float64", "complex64", "complex128")


def draw(rng, name, *shape):
    """Normally distributed values of a dtype."""
    values = rng.normal(size=shape)
    if "complex" in name:
        values = values + 1j * rng.normal(size=shape)
    return values.astype(name)


def adjoint(x):
    return np.conj(np.swapaxes(x, -1, -2))


def first(result):
    return result[0] if isinstance(result, tuple) else result


# Errors ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SQUARE_ONLY)
def test_refuses_matrices_that_are_not_square(name):
    with pytest.raises(
        ValueError, match=rf"\[linalg\.{name}\] matrices must be square, got .*\(4, 2, 3\)"
    ):
        getattr(linalg, name)(mx.ones((4, 2, 3)))


@pytest.mark.parametrize("name", SQUARE_ONLY + MATRICES_ONLY)
@pytest.mark.parametrize("shape", [(), (3,)])
def test_refuses_vectors(name, shape):
    name_in_message = {"svd": "svd(vals)?"}.get(name, name)
    with pytest.raises(
        ValueError, match=rf"\[linalg\.{name_in_message}\] array must have at least 2"
    ):
        getattr(linalg, name)(mx.ones(shape))


@pytest.mark.parametrize("name", ["solve", "solve_triangular", "lstsq"])
def test_refuses_right_sides_of_another_length(name):
    for b in (mx.ones(3), mx.ones((3, 2)), mx.array(1.0)):
        with pytest.raises(
            ValueError, match=rf"\[linalg\.{name}\] right-hand side of shape .* does not match"
        ):
            getattr(linalg, name)(mx.eye(2), b)
    with pytest.raises(ValueError, match=r"\[linalg\.solve\] batch axes of"):
        linalg.solve(mx.zeros((2, 3, 3)), mx.zeros((4, 3, 1)))


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: linalg.norm(mx.ones((2, 2, 2)), 2),
            r"\[linalg\.norm\] needs one axis \(vectors\) or two",
        ),
        (
            lambda: linalg.norm(mx.ones((2, 2)), 3),
            r"\[linalg\.norm\] matrix norm of order 3 is not",
        ),
        (lambda: linalg.norm(mx.ones((2, 2)), "two"), r"\[linalg\.norm\] got ord 'two'"),
        (lambda: linalg.norm(mx.ones((2, 2)), "fro", 0), r"\[linalg\.norm\] 'fro' and 'nuc'"),
        (lambda: linalg.norm(mx.ones((2, 2)), 2, (0, 0)), r"\[linalg\.norm\] duplicate axis 0"),
        (lambda: linalg.norm(mx.ones((2, 2)), 2, 5), r"\[linalg\.norm\] axis 5 is out of bounds"),
        (
            lambda: linalg.norm(mx.zeros(0), float("inf")),
            r"\[linalg\.norm\] cannot take the norm of an empty",
        ),
        (lambda: linalg.vector_norm(mx.ones(2), axis=1), r"\[linalg\.vector_norm\] axis 1"),
        (
            lambda: linalg.matrix_norm(mx.ones((2, 2)), ord=0),
            r"\[linalg\.matrix_norm\] matrix norm of order 0 is",
        ),
        (lambda: linalg.cond(mx.ones((2, 2)), "no"), r"\[linalg\.cond\] got ord 'no'"),
        (lambda: linalg.cond(mx.zeros((0, 0))), r"\[linalg\.cond\] matrices must not be empty"),
        (lambda: linalg.cond(mx.ones((2, 3)), 1), r"\[linalg\.cond\] matrices must be square, got"),
        (lambda: linalg.eigh(mx.eye(2), "x"), r"\[linalg\.eigh\] got UPLO 'x'"),
        (lambda: linalg.eigvalsh(mx.eye(2), UPLO="up"), r"\[linalg\.eigvalsh\] got UPLO 'up'"),
        (lambda: linalg.qr(mx.eye(2), mode="full"), r"\[linalg\.qr\] got mode 'full'"),
        (
            lambda: linalg.matrix_power(mx.ones((2, 3)), 2),
            r"\[linalg\.matrix_power\] matrices must be square, got shape \(2, 3\)",
        ),
        (
            lambda: linalg.multi_dot([mx.eye(2)]),
            r"\[linalg\.multi_dot\] needs at least two arrays,",
        ),
        (
            lambda: linalg.multi_dot([mx.eye(2), mx.eye(3)]),
            r"\[linalg\.multi_dot\] inner dimensions of arrays 0",
        ),
        (
            lambda: linalg.multi_dot([mx.eye(2), mx.ones(2), mx.eye(2)]),
            r"\[linalg\.multi_dot\] array 1 must be a matrix, got shape \(2,\)",
        ),
        (
            lambda: linalg.cross(mx.ones(4), mx.ones(4)),
            r"\[linalg\.cross\] vectors must have 2 or 3",
        ),
        (
            lambda: linalg.cross(mx.ones((2, 3)), mx.ones((4, 3))),
            r"\[linalg\.cross\] shapes \(2, 3\) and \(4, 3\) cannot",
        ),
        (lambda: linalg.cross(mx.array(1.0), mx.ones(3)), r"\[linalg\.cross\] axis -1"),
        (lambda: linalg.diagonal(mx.ones(3)), r"\[\w+\]"),
        (lambda: linalg.trace(mx.ones(3)), r"\[\w+\]"),
        (lambda: linalg.matrix_transpose(mx.ones(3)), r"\[matrix_transpose\]"),
    ],
)
def test_refuses(call, message):
    with pytest.raises((ValueError, IndexError), match=message):
        call()


SINGULAR_CASES = {
    "inv": linalg.inv,
    "solve": lambda a: linalg.solve(a, mx.ones(2)),
    "cholesky": linalg.cholesky,
}


@pytest.mark.parametrize("name", SINGULAR_CASES)
def test_names_the_matrix_without_an_answer(name):
    """At evaluation, by its place in the batch; nothing is answered for the others either."""
    call = SINGULAR_CASES[name]
    what = "positive definite" if name == "cholesky" else "singular"
    good, bad = mx.array(POSITIVE), mx.array(SINGULAR)
    for stack, which in (
        (bad, "the matrix"),
        (mx.stack([good, good, good, bad, bad]), "matrix 3 of the batch"),
        (mx.stack([good, good, good, bad]).reshape(2, 2, 2, 2), r"matrix \(1, 1\) of the batch"),
    ):
        result = call(stack)
        with pytest.raises(RuntimeError, match=rf"\[linalg\.{name}\] {which} is .*{what}"):
            mx.eval(result)
        with pytest.raises(RuntimeError, match=rf"\[linalg\.{name}\]"):
            mx.eval(result)


@pytest.mark.parametrize("name", ["tri_inv", "cholesky_inv", "solve_triangular"])
def test_triangular_matrices_with_a_zero_are_singular(name):
    a = mx.array([[1.0, 5.0], [2.0, 0.0]])
    arguments = (a, mx.ones(2)) if name == "solve_triangular" else (a,)
    for upper in (False, True):
        with pytest.raises(RuntimeError, match=rf"\[linalg\.{name}\] the matrix is singular"):
            mx.eval(getattr(linalg, name)(*arguments, upper=upper))


def test_negative_power_of_a_singular_matrix():
    with pytest.raises(RuntimeError, match=r"\[linalg\.matrix_power\] the matrix is singular"):
        mx.eval(linalg.matrix_power(mx.array(SINGULAR), -1))


def test_an_indefinite_matrix_has_no_cholesky_factor():
    for a in (-np.eye(2), np.array([[1.0, 2.0], [2.0, 1.0]]), np.full((2, 2), np.nan)):
        with pytest.raises(RuntimeError, match="the matrix is not positive"):
            mx.eval(linalg.cholesky(to_umber(a, "float64")))


@pytest.mark.parametrize("shape", [(4, 4), (3, 4, 4), (0, 0)])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_hermitian_matrices_are_read_below_their_diagonal(shape, dtype, rng):
    """With eigenvalues of both signs and zero."""
    a = rng.normal(size=shape) + (1j * rng.normal(size=shape) if dtype == "complex128" else 0)
    a = a + np.conj(np.swapaxes(a, -1, -2))
    a[..., :1, :], a[..., :, :1] = 0, 0
    lower = to_umber(np.tril(a), dtype)
    u, s, vh = (np.array(factor) for factor in linalg.svd(lower, hermitian=True))
    np.testing.assert_allclose((u * s[..., None, :]) @ vh, a, atol=1e-12)
    np.testing.assert_allclose(
        vh @ np.conj(np.swapaxes(vh, -1, -2)), u @ np.linalg.inv(u), atol=1e-12
    )
    values = linalg.svd(lower, compute_uv=False, hermitian=True)
    np.testing.assert_allclose(np.array(values), np.linalg.svd(a, compute_uv=False), atol=1e-12)
    for options in ({}, {"rtol": 0.3}, {"rcond": 0.3}):
        want = np.linalg.pinv(a, hermitian=True, **options) if a.size else a
        got = np.array(linalg.pinv(lower, hermitian=True, **options))
        np.testing.assert_allclose(got, want, rtol=1e-8, atol=1e-10)


def test_arguments_of_pinv_and_svd():
    with pytest.raises(ValueError, match=r"^\[linalg\.pinv\] rcond and rtol are the same"):
        linalg.pinv(mx.eye(2), 0.1, rtol=0.1)
    for call in (linalg.svd, linalg.pinv, lambda a, **k: linalg.svd(a, compute_uv=False, **k)):
        with pytest.raises(
            ValueError, match=r"^\[linalg\.(svd|pinv)\] matrices must be square, got .*\(2, 3\)"
        ):
            call(mx.zeros((2, 3)), hermitian=True)
    a = mx.array([[[2.0, 0.0], [0.0, 0.5]]] * 2)
    each = mx.array([0.5, 0.1])
    for hermitian in (False, True):
        got = linalg.pinv(a, each, hermitian)
        assert got[:, 1, 1].tolist() == [0.0, 2.0]
    # The gradient is that of a function of Hermitian matrices.
    a = mx.array([[2.0, 1.0], [1.0, -3.0]], dtype=mx.float64)
    slopes = [
        mx.grad(lambda a, h=h: linalg.pinv(a, hermitian=h)[0, 0])(a).tolist() for h in (False, True)
    ]
    np.testing.assert_allclose(slopes[0], slopes[1], rtol=1e-12)


# Singular matrices that have an answer -----------------------------------------------------------


@pytest.mark.parametrize("name", ALL_DTYPES)
@pytest.mark.parametrize("n", [1, 2, 3, 20])
def test_determinants_of_singular_matrices(name, n):
    for a in (np.zeros((n, n)), np.diag(np.arange(n))):
        x = to_umber(a.astype(name), name)
        assert to_numpy(linalg.det(x)) == 0
        sign, log = linalg.slogdet(x)
        assert to_numpy(sign) == 0
        assert to_numpy(log) == -np.inf


def test_rank_condition_and_pseudo_inverse_of_singular_matrices():
    a = np.stack([np.eye(3), np.diag([1.0, 2.0, 0.0]), np.zeros((3, 3))])
    x = to_umber(a, "float64")
    assert linalg.matrix_rank(x).tolist() == [3, 2, 0]
    for order in (None, 1, -1, 2, "fro", "nuc", float("inf")):
        assert to_numpy(linalg.cond(x, order))[1:].tolist() == [np.inf, np.inf]
    assert_close(to_numpy(linalg.pinv(x)), np.linalg.pinv(a), tolerance_of("float64"))
    assert linalg.matrix_rank(mx.diag(mx.array([1.0, 0.1, 0.01])), rtol=0.05).item() == 2
    small = linalg.pinv(mx.diag(mx.array([1.0, 0.1, 0.01])), rtol=0.05)
    assert_close(to_numpy(small), np.diag([1.0, 10.0, 0.0]), tolerance_of("float32", 10))


def test_lu_of_matrices_with_columns_of_zeros():
    for a in (np.zeros((3, 3)), np.array([[0.0, 1, 2], [0, 3, 4], [0, 5, 7]]), np.ones((4, 2))):
        rows, lower, upper = (to_numpy(part) for part in linalg.lu(to_umber(a, "float64")))
        assert_close((lower @ upper)[rows], a, tolerance_of("float64", 10))
        assert np.abs(lower).max() <= 1


def test_least_squares():
    a, b = np.array([[1.0, 1], [1, 2], [1, 3]]), np.array([[1.0, 0], [2, 0], [2, 3]])
    got = linalg.lstsq(to_umber(a, "float64"), to_umber(b, "float64"))
    want = np.linalg.lstsq(a, b, rcond=None)
    for left, right in zip(got, want, strict=True):
        assert_close(to_numpy(left), np.asarray(right), tolerance_of("float64", 100))
    shortest, residuals, rank, _ = linalg.lstsq(mx.array(SINGULAR), mx.array([1.0, 2.0]))
    assert_close(to_numpy(shortest), np.array([0.2, 0.4]), tolerance_of("float32", 10))
    assert rank.item() == 1
    assert residuals.shape == (0,)


@pytest.mark.parametrize("shape", [(5, 3), (3, 3), (2, 3), (5, 0)])
@pytest.mark.parametrize("deficient", [False, True])
@pytest.mark.parametrize("columns", [(), (1,), (4,), (0,)])
def test_residuals_have_numpys_shape(rng, shape, deficient, columns):
    a, b = rng.normal(size=shape), rng.normal(size=(shape[0], *columns))
    if deficient:
        a[:, 1:] = a[:, :1]
    got = linalg.lstsq(to_umber(a, "float64"), to_umber(b, "float64"))
    want = np.linalg.lstsq(a, b, rcond=None)
    for left, right in zip(got, want, strict=True):
        assert left.shape == np.shape(right)
        assert_close(to_numpy(left), np.asarray(right), tolerance_of("float64", 100))


def test_residuals_of_a_batch_stay(rng):
    a, b = rng.normal(size=(2, 4, 2)), rng.normal(size=4)
    a[0, :, 1] = a[0, :, 0]
    x, residuals, rank, _ = linalg.lstsq(to_umber(a, "float64"), to_umber(b, "float64"))
    assert rank.tolist() == [1, 2]
    want = ((b - np.einsum("bij,bj->bi", a, to_numpy(x))) ** 2).sum(-1, keepdims=True)
    assert_close(to_numpy(residuals), want, tolerance_of("float64", 100))


def test_residuals_under_transforms(rng):
    a, b = rng.normal(size=(2, 4, 2)), rng.normal(size=(2, 4))
    want = [np.linalg.lstsq(*pair, rcond=None)[1] for pair in zip(a, b, strict=True)]
    x, y = to_umber(a, "float64"), to_umber(b, "float64")

    def residuals(a, b):
        return linalg.lstsq(a, b)[1]

    assert_close(to_numpy(mx.vmap(residuals)(x, y)), np.stack(want), tolerance_of("float64", 100))
    assert_close(to_numpy(mx.compile(residuals)(x[0], y[0])), want[0], tolerance_of("float64", 100))
    slope = mx.grad(lambda b: residuals(x[0], b).sum())(y[0])
    solved = np.linalg.lstsq(a[0], b[0], rcond=None)[0]
    assert_close(to_numpy(slope), 2 * (b[0] - a[0] @ solved), tolerance_of("float64", 100))


def test_ranks_by_tolerance_and_of_hermitian_matrices(rng):
    a = np.stack([np.diag([-5.0, 1.0, 0.01]), np.diag([3.0, -2.0, 1.0])])
    x = to_umber(a, "float64")
    for tol in (None, 0.5, 1.0, 2.5, np.array([0.001, 2.5])):
        for hermitian in (False, True):
            got = linalg.matrix_rank(x, None if tol is None else mx.array(tol), hermitian)
            assert got.tolist() == np.linalg.matrix_rank(a, tol, hermitian).tolist()
    for rtol in (0.1, 0.5, np.array([0.5, 0.1])):
        got = linalg.matrix_rank(x, hermitian=True, rtol=mx.array(rtol))
        assert got.tolist() == np.linalg.matrix_rank(a, hermitian=True, rtol=rtol).tolist()
    # The upper triangle is not read.
    lopsided = np.tril(np.ones((3, 3)))
    assert linalg.matrix_rank(to_umber(lopsided, "float64"), hermitian=True).item() == 1
    assert linalg.matrix_rank(mx.zeros((2, 0, 0)), hermitian=True).tolist() == [0, 0]
    with pytest.raises(ValueError, match=r"\[linalg\.matrix_rank\] tol and rtol are the same"):
        linalg.matrix_rank(x, 0.1, rtol=0.1)
    with pytest.raises(
        ValueError, match=r"\[linalg\.matrix_rank\] matrices must be square, got shape \(2, 3\)"
    ):
        linalg.matrix_rank(mx.ones((2, 3)), hermitian=True)


# Infinities and NaN ------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["eig", "eigh", "svd", "qr", "pinv", "expm", "svdvals"])
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_nan_stays_nan(name, value):
    """In its own matrix only."""
    a = np.stack([np.eye(3), np.full((3, 3), value), np.eye(3)]).astype(np.float32)
    for part in np.atleast_1d(0) if name in ("pinv", "expm", "svdvals") else range(2):
        result = getattr(linalg, name)(to_umber(a, "float32"))
        found = to_numpy(result[part] if isinstance(result, tuple) else result)
        assert np.isnan(found[1]).all()
        assert np.isfinite(found[[0, 2]]).all()


def test_inverse_of_nan_is_nan():
    a = to_umber(np.array([[np.nan, 1], [1, 2]]), "float32")
    assert np.isnan(to_numpy(linalg.inv(a))).all()
    assert np.isnan(linalg.det(a).item())


# Conventions -------------------------------------------------------------------------------------


def test_one_triangle_is_read():
    a = np.array([[4.0, 100.0], [1.0, 3.0]])
    low, high = np.array(POSITIVE), np.array([[4.0, 100.0], [100.0, 3.0]])
    x = to_umber(a, "float64")
    tolerance = tolerance_of("float64", 10)
    assert_close(to_numpy(linalg.cholesky(x)), np.linalg.cholesky(low), tolerance)
    assert_close(to_numpy(linalg.eigvalsh(x)), np.linalg.eigvalsh(low), tolerance)
    assert_close(to_numpy(linalg.eigvalsh(x, "U")), np.linalg.eigvalsh(high), tolerance)
    assert_close(to_numpy(linalg.tri_inv(x)), np.linalg.inv(np.tril(a)), tolerance)
    with pytest.raises(RuntimeError, match="not positive definite"):
        mx.eval(linalg.cholesky(x, upper=True))
    imaginary = to_umber(low + 5j * np.eye(2), "complex128")
    assert_close(to_numpy(linalg.eigvalsh(imaginary)), np.linalg.eigvalsh(low), tolerance)
    assert_close(to_numpy(linalg.cholesky(imaginary)), np.linalg.cholesky(low) + 0j, tolerance)


@pytest.mark.parametrize("name", ALL_DTYPES)
@pytest.mark.parametrize("shape", [(7, 7), (60, 7), (7, 60), (3, 1, 4), (3, 4, 1), (2, 3, 5, 5)])
def test_factors_multiply_back(name, shape, rng):
    """Orthonormal bases, whole or not, for tall and wide matrices and batches."""
    a = draw(rng, name, *shape)
    x, tolerance = to_umber(a, name), tolerance_of(name, 100)
    size = min(shape[-2:])

    def is_orthonormal(q):
        product = adjoint(q) @ q
        unit = np.broadcast_to(np.eye(q.shape[-1], dtype=q.dtype), product.shape)
        assert_close(product, unit, tolerance)

    for mode in ("reduced", "complete"):
        q, r = (to_numpy(part) for part in linalg.qr(x, mode))
        assert_close(q @ r, a, tolerance)
        is_orthonormal(q)
        assert not np.tril(r, -1).any()
        assert not np.imag(np.diagonal(r, axis1=-2, axis2=-1)).any()
    for full in (True, False):
        u, s, vh = (to_numpy(part) for part in linalg.svd(x, full_matrices=full))
        assert_close((u[..., :size] * s[..., None, :]) @ vh[..., :size, :], a, tolerance)
        is_orthonormal(u)
        is_orthonormal(adjoint(vh))
        assert (np.diff(s, axis=-1) <= 0).all()
    rows, lower, upper = (to_numpy(part) for part in linalg.lu(x))
    assert_close(np.take_along_axis(lower @ upper, rows[..., None].astype(int), -2), a, tolerance)


@pytest.mark.parametrize("name", ALL_DTYPES)
@pytest.mark.parametrize("n", [1, 2, 5, 40])
def test_eigenvectors(name, n, rng):
    a = draw(rng, name, 3, n, n)
    values, vectors = (to_numpy(part) for part in linalg.eig(to_umber(a, name)))
    assert values.dtype == (np.complex128 if name in ("float64", "complex128") else np.complex64)
    tolerance = tolerance_of(name, 1000)
    assert_close(a @ vectors, vectors * values[..., None, :], tolerance)
    assert_close(np.linalg.norm(vectors, axis=-2), np.ones(values.shape), tolerance)
    only = to_numpy(linalg.eigvals(to_umber(a, name)))
    assert_close(only.sum(-1), values.sum(-1), tolerance)
    values, vectors = (to_numpy(part) for part in linalg.eigh(to_umber(a + adjoint(a), name)))
    assert (np.diff(values, axis=-1) >= 0).all()
    assert_close((a + adjoint(a)) @ vectors, vectors * values[..., None, :], tolerance)


MATRICES_FAR_FROM_NORMAL = {
    "a block above": lambda n, rng: np.eye(n) + np.eye(n, k=1),
    "a block below": lambda n, rng: np.eye(n) + np.eye(n, k=-1),
    "nilpotent": lambda n, rng: np.eye(n, k=1),
    "a triangle": lambda n, rng: np.triu(np.ones((n, n))),
    "eigenvalues apart": lambda n, rng: np.diag(np.arange(n) / n) + 1e3 * np.eye(n, k=1),
    "hidden": lambda n, rng: (lambda q: q @ (np.eye(n) + np.eye(n, k=1)) @ q.T)(
        np.linalg.qr(rng.normal(size=(n, n)))[0]
    ),
    "turns": lambda n, rng: (
        np.kron(np.eye(n // 2 + 1), [[0, 1], [-1, 0]])[:n, :n] + 3 * np.eye(n, k=2)
    ),
}


@pytest.mark.parametrize("name", ALL_DTYPES)
@pytest.mark.parametrize("matrix", MATRICES_FAR_FROM_NORMAL)
@pytest.mark.parametrize("n", [2, 8, 13, 33, 64])
def test_eigenvectors_of_matrices_far_from_normal(name, matrix, n, rng):
    """Substituted backwards, elements of their vectors leave the range of any dtype."""
    a = MATRICES_FAR_FROM_NORMAL[matrix](n, rng)
    a = to_numpy(to_umber(a * (1 + 0.5j) if "complex" in name else a, name))
    values, vectors = (to_numpy(part) for part in linalg.eig(to_umber(a, name)))
    epsilon = 2**-52 if name in ("float64", "complex128") else 2**-23
    assert np.abs(a @ vectors - vectors * values).max() < 200 * n * epsilon * np.abs(a).max()
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=0), 1, rtol=100 * epsilon)
    if "complex" not in name:
        is_pair = values.imag != 0
        assert np.isreal(vectors[:, ~is_pair]).all()
        np.testing.assert_array_equal(np.sort_complex(values), np.sort_complex(values.conj()))


def test_blocks_of_one_eigenvalue_have_vectors_of_their_own():
    a = np.kron(np.eye(2), np.eye(30) + np.eye(30, k=1))
    values, vectors = linalg.eig(mx.array(a.astype(np.float32)))
    assert np.linalg.matrix_rank(to_numpy(vectors), tol=1e-3) >= 2
    np.testing.assert_allclose(to_numpy(values), 1, atol=1e-5)


def test_pivots_are_exchanges(rng):
    scipy_linalg = pytest.importorskip("scipy.linalg")
    for shape in ((4, 4), (6, 3), (3, 6)):
        a = rng.normal(size=shape)
        packed, pivots = linalg.lu_factor(to_umber(a, "float64"))
        want, order = scipy_linalg.lu_factor(a)
        assert_close(to_numpy(packed), want, tolerance_of("float64", 100))
        assert pivots.tolist() == order.tolist()
        assert pivots.dtype == mx.uint32


def test_expm_of_large_and_nilpotent_matrices(rng):
    scipy_linalg = pytest.importorskip("scipy.linalg")
    for scale in (1e-8, 1.0, 30.0):
        a = scale * rng.normal(size=(5, 5))
        want = scipy_linalg.expm(a)
        got = to_numpy(linalg.expm(to_umber(a, "float64")))
        assert np.abs(got - want).max() <= 1e-12 * np.abs(want).max() * max(1.0, scale)
    assert linalg.expm(mx.array([[0.0, 1.0], [0.0, 0.0]])).tolist() == [[1, 1], [0, 1]]


def test_expm_of_matrices_far_from_normal():
    """What a matrix's powers grow like decides, not its norm; triangles keep their diagonal."""
    e = np.e
    for large in (1e6, 1e8, 1e12):
        want = [[e, large * np.sinh(1)], [0, 1 / e]]
        for matrix, expected in (
            ([[1, large], [0, -1]], want),
            ([[1, 0], [large, -1]], np.transpose([[e, want[0][1]], [0, 1 / e]])),
        ):
            np.testing.assert_allclose(to_numpy(linalg.expm(mx.array(matrix))), expected, rtol=1e-6)
            double = linalg.expm(mx.array(matrix, mx.float64))
            np.testing.assert_allclose(to_numpy(double), expected, rtol=1e-13)
    apart = linalg.expm(mx.array([[-1e5, 0.0], [0.0, 1.0]]))
    np.testing.assert_allclose(to_numpy(apart), [[0, 0], [0, e]], rtol=1e-6)
    rotation = linalg.expm(mx.array([[0.0, -40.0], [40.0, 0.0]], mx.float64))
    want = [[np.cos(40), -np.sin(40)], [np.sin(40), np.cos(40)]]
    np.testing.assert_allclose(to_numpy(rotation), want, atol=1e-13)
    huge = linalg.expm(mx.array([[-1e200, 1e200], [0.0, -1e200]], mx.float64))
    assert huge.tolist() == [[0, 0], [0, 0]]
    nilpotent = np.triu(np.full((6, 6), 1e3), 1)
    want = sum(np.linalg.matrix_power(nilpotent, k) / math.factorial(k) for k in range(6))
    got = to_numpy(linalg.expm(mx.array(nilpotent)))
    np.testing.assert_allclose(got, want, rtol=1e-12)


@pytest.mark.parametrize("scale", [1e-310, 1e-160, 1e160, 1e300])
def test_eigenvalues_of_tiny_and_huge_matrices(scale, rng):
    a = rng.normal(size=(4, 4))
    a = (a + a.T) * scale
    want = np.linalg.eigvalsh(a / scale) * scale
    values, vectors = linalg.eigh(mx.array(a))
    np.testing.assert_allclose(to_numpy(linalg.eigvalsh(mx.array(a))), want, rtol=1e-9)
    np.testing.assert_allclose(to_numpy(values), want, rtol=1e-9)
    product = to_numpy(vectors) * (want / scale) @ to_numpy(vectors).T
    np.testing.assert_allclose(product, a / scale, atol=1e-9)


EXTREME_VALUES = [1e-310, 3e-320, 1e-160, 1e160, 1e300]


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
@pytest.mark.parametrize("n", [1, 5, 40])
def test_systems_with_rows_and_columns_at_the_ends_of_the_range(n, dtype, rng):
    even = draw(rng, dtype, n, n) + 2 * np.eye(n)
    powers = 2.0 ** rng.choice([-1000, -500, 0, 500, 900], size=(2, n))
    ones = np.ones(n)
    b = draw(rng, dtype, n, 2)
    for rows, columns in ((powers[0], ones), (ones, powers[1])):
        a = rows[:, None] * even * columns
        # What is exact in the even system is so in the other one.
        x = to_numpy(linalg.solve(mx.array(a), mx.array(b * rows[:, None])))
        want = np.linalg.solve(even, b)
        np.testing.assert_allclose(x * columns[:, None], want, rtol=1e-8)
        inverse = to_numpy(linalg.inv(mx.array(a)))
        np.testing.assert_allclose(inverse * rows * columns[:, None], np.linalg.inv(even), 1e-8)
        sign, log = map(to_numpy, linalg.slogdet(mx.array(a)))
        want_sign, want_log = np.linalg.slogdet(even)
        np.testing.assert_allclose(sign, want_sign, rtol=1e-10)
        np.testing.assert_allclose(
            log, want_log + np.log(rows).sum() + np.log(columns).sum(), 1e-10
        )
        low = np.tril(a)
        x = to_numpy(linalg.solve_triangular(mx.array(low), mx.array(b * rows[:, None])))
        want = np.linalg.solve(np.tril(even), b)
        np.testing.assert_allclose(x * columns[:, None], want, rtol=1e-6)
        inverse = to_numpy(linalg.tri_inv(mx.array(low)))
        want = np.linalg.inv(np.tril(even))
        np.testing.assert_allclose(inverse * rows * columns[:, None], want, rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("value", EXTREME_VALUES)
def test_regular_matrices_of_extreme_values_have_inverses(value):
    a = np.array([[value, 0.0], [0.0, 1.0]])
    with np.errstate(over="ignore"):
        want = 1 / value
    assert linalg.inv(mx.array(a)).tolist() == [[want, 0.0], [0.0, 1.0]]
    assert linalg.tri_inv(mx.array(a)).tolist() == [[want, 0.0], [0.0, 1.0]]
    assert linalg.solve(mx.array(a), mx.array([1.0, 1.0], mx.float64)).tolist() == [want, 1.0]
    np.testing.assert_allclose(to_numpy(linalg.slogdet(mx.array(a))[1]), np.log(value), rtol=1e-15)
    assert linalg.det(mx.array(a)).item() == value
    whole = mx.array(np.array([[1.0, 2.0], [-2.0, 1.0]]) * value)
    np.testing.assert_allclose(
        to_numpy(linalg.solve(whole, whole)), np.eye(2), rtol=1e-15, atol=1e-15
    )


def test_determinants_whose_products_leave_the_range_on_the_way():
    a = np.diag([1e200, 1e200, 1e-200, 1e-200])
    assert linalg.det(mx.array(a)).item() == pytest.approx(1, rel=1e-14)
    single = np.diag([1e25, 1e25, 1e-25, 1e-25]).astype("f4")
    assert linalg.det(mx.array(single)).item() == pytest.approx(1, rel=1e-5)


@pytest.mark.parametrize("dtype", ALL_DTYPES)
@pytest.mark.parametrize("n", [191, 192, 257])
def test_eigenvectors_of_large_matrices(n, dtype, rng):
    a = draw(rng, dtype, 2, n, n)
    a = a + adjoint(a)
    values, vectors = map(to_numpy, linalg.eigh(to_umber(a, dtype)))
    tolerance = 2e-4 if dtype in ("float32", "complex64") else 1e-12
    np.testing.assert_allclose(values, np.linalg.eigvalsh(a), atol=tolerance * n)
    np.testing.assert_allclose(a @ vectors, vectors * values[:, None], atol=tolerance * n)
    np.testing.assert_allclose(
        adjoint(vectors) @ vectors, np.broadcast_to(np.eye(n), a.shape), atol=tolerance
    )


@pytest.mark.parametrize("dtype", ALL_DTYPES)
@pytest.mark.parametrize("scale", [1e-35, 1e-30, 1e-22, 1e20, 1e30, 1e-300, 1e-200, 1e155])
def test_general_eigenvalues_and_pseudo_inverses_of_any_scale(scale, dtype, rng):
    if not 1e-36 < scale < 1e37 and dtype in ("float32", "complex64"):
        pytest.skip("beyond float32")
    a = draw(rng, dtype, 4, 4)
    tolerance = 1e-4 if dtype in ("float32", "complex64") else 1e-10
    scaled = to_umber((a * scale).astype(dtype), dtype)
    values, vectors = map(to_numpy, linalg.eig(scaled))
    want = np.linalg.eigvals(a)
    distance = abs(values[:, None] / scale - want)
    assert distance.min(axis=0).max() < tolerance
    assert distance.min(axis=1).max() < tolerance
    np.testing.assert_allclose(a @ vectors, vectors * (values / scale), atol=tolerance)
    inverse = to_numpy(linalg.pinv(scaled)).astype(np.complex128) * scale
    np.testing.assert_allclose(inverse, np.linalg.inv(a), rtol=tolerance * 100, atol=tolerance)


@pytest.mark.covers("linalg.matmul", "linalg.outer", "linalg.tensordot", "linalg.vecdot")
def test_same_functions_as_in_the_package():
    for name in ("matmul", "outer", "tensordot", "vecdot"):
        assert getattr(linalg, name) is getattr(mx, name)
    assert mx.matrix_norm(mx.array([3.0, 4.0])).item() == 5


def test_empty_matrices():
    assert linalg.det(mx.zeros((0, 0))).item() == 1
    assert linalg.solve(mx.zeros((0, 0)), mx.zeros((0, 2))).shape == (0, 2)
    assert linalg.solve(mx.eye(2), mx.zeros((2, 0))).shape == (2, 0)
    for name in "cholesky cholesky_inv inv tri_inv expm pinv".split():
        assert getattr(linalg, name)(mx.zeros((0, 0))).shape == (0, 0)
        assert getattr(linalg, name)(mx.zeros((0, 2, 2))).shape == (0, 2, 2)
    u, s, vh = linalg.svd(mx.zeros((0, 3)))
    assert (u.shape, s.shape, vh.tolist()) == ((0, 0), (0,), np.eye(3).tolist())
    q, r = linalg.qr(mx.zeros((3, 0)), "complete")
    assert (q.tolist(), r.shape) == (np.eye(3).tolist(), (3, 0))
    assert linalg.pinv(mx.zeros((2, 0, 3))).shape == (2, 3, 0)
    assert linalg.lu(mx.zeros((3, 0)))[0].tolist() == [0, 1, 2]


def test_norms_neither_overflow_nor_vanish():
    for value in (3e30, 1e-30):
        a = mx.array([3 * value, 4 * value])
        assert abs(linalg.norm(a).item() / (5 * value) - 1) < 1e-6
        assert abs(linalg.norm(a, 3).item() / (91 ** (1 / 3) * value) - 1) < 1e-6
    assert linalg.norm(mx.full((4,), 2e4, mx.float16)).item() == 4e4
    assert linalg.norm(mx.array([np.inf, 1.0])).item() == np.inf
    assert np.isnan(linalg.norm(mx.array([np.nan, np.inf])).item())
    assert linalg.norm(mx.array(-3.0)).item() == 3
    assert linalg.norm(mx.array([3j, 4.0]), 1).dtype == mx.float32


def test_large_batches_agree_with_single_matrices(rng):
    """Enough matrices for many tasks, each with scratch of its own."""
    a = rng.uniform(-1, 1, size=(2000, 4, 4)) + 6 * np.eye(4)
    x, tolerance = to_umber(a, "float64"), tolerance_of("float64", 100)
    assert_close(to_numpy(linalg.inv(x)), np.linalg.inv(a), tolerance)
    assert_close(to_numpy(linalg.det(x)), np.linalg.det(a), tolerance)
    assert_close(to_numpy(linalg.svdvals(x)), np.linalg.svd(a)[1], tolerance)


# Derivatives where formulas divide by zero -------------------------------------------------------


def gradient(function, values):
    return to_numpy(mx.grad(function)(to_umber(np.asarray(values, np.float64), "float64")))


def test_gradient_of_the_determinant_of_singular_matrices():
    """The cofactors, also of matrices of rank n - 1 and below."""
    tolerance = tolerance_of("float64", 100)
    assert_close(gradient(linalg.det, SINGULAR), np.array([[4.0, -2], [-2, 1]]), tolerance)
    assert_close(gradient(linalg.det, np.zeros((2, 2))), np.zeros((2, 2)), tolerance)
    assert_close(gradient(linalg.det, [[0.0]]), np.ones((1, 1)), tolerance)
    assert_close(gradient(linalg.det, np.diag([1.0, 2, 0])), np.diag([0.0, 0, 2]), tolerance)
    second = mx.grad(lambda y: mx.grad(linalg.det)(y)[0, 0])(mx.array(POSITIVE))
    assert_close(to_numpy(second), np.array([[0.0, 0], [0, 1]]), tolerance_of("float32", 10))


def test_a_gradient_that_does_not_exist_is_an_error():
    with pytest.raises(RuntimeError, match=r"\[linalg\.slogdet\] the matrix is singular"):
        mx.eval(mx.grad(lambda a: linalg.slogdet(a)[1])(mx.array(SINGULAR)))


def test_gradients_of_equal_singular_and_eigenvalues_are_finite():
    """And right where the function does not depend on the choice of vectors."""
    unit = np.eye(3)
    tolerance = tolerance_of("float64", 100)
    for function in (
        lambda a: linalg.eigvalsh(a).sum(),
        lambda a: linalg.norm(a, "nuc"),
    ):
        assert_close(gradient(function, unit), unit, tolerance)
    assert_close(gradient(lambda a: linalg.pinv(a).sum(), unit), -np.ones((3, 3)), tolerance)
    for function in (
        lambda a: linalg.eigh(a)[1].sum(),
        lambda a: linalg.svd(a)[0].sum(),
        lambda a: mx.abs(linalg.eig(a)[1]).sum(),
    ):
        assert np.isfinite(gradient(function, unit)).all()
    assert np.isfinite(gradient(lambda a: linalg.svd(a)[0].sum(), np.zeros((3, 2)))).all()


@pytest.mark.parametrize("order", [None, 1, 2, 3, 0.5, -1, float("inf")])
def test_gradient_of_the_norm_of_zero(order):
    assert (gradient(lambda x: linalg.norm(x, order, 0), np.zeros(3)) == 0).all()
    if order is not None:
        at_axis = gradient(lambda x: linalg.norm(x, order, 0), [0.0, 2.0, 1.0])
        assert np.isfinite(at_axis).all()


def test_gradients_of_hermitian_functions_are_hermitian(rng):
    a = rng.normal(size=(4, 4)) + 1j * rng.normal(size=(4, 4))
    x = to_umber(a @ adjoint(a) + np.eye(4), "complex128")
    for function in (
        lambda a: mx.abs(linalg.cholesky(a)).sum(),
        lambda a: (linalg.eigvalsh(a) ** 2).sum(),
        lambda a: mx.abs(linalg.eigh(a)[1]).sum(),
    ):
        found = to_numpy(mx.grad(function)(x))
        assert_close(found, adjoint(found), tolerance_of("complex128", 1000))


def test_inside_vmap_compile_and_jit_of_gradients(rng):
    a = to_umber(rng.normal(size=(5, 3, 3)) + 5 * np.eye(3), "float32")
    b = to_umber(rng.normal(size=(5, 3)), "float32")
    loss = lambda a, b: linalg.solve(a, b).sum()  # noqa: E731
    want = mx.stack([mx.grad(loss)(a[i], b[i]) for i in range(5)])
    mapped = mx.vmap(mx.grad(loss))(a, b)
    compiled = mx.compile(mx.vmap(mx.grad(loss)))(a, b)
    assert_close(to_numpy(mapped), to_numpy(want), tolerance_of("float32", 10))
    assert_close(to_numpy(compiled), to_numpy(want), tolerance_of("float32", 10))
    shared = mx.vmap(linalg.solve, in_axes=(None, 0))(a[0], b)
    loop = mx.stack([linalg.solve(a[0], b[i]) for i in range(5)])
    assert_close(to_numpy(shared), to_numpy(loop), tolerance_of("float32", 10))


# MLX ---------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def mlx():
    return pytest.importorskip("mlx.core")


MLX_CASES = {
    "cholesky": (POSITIVE,),
    "cholesky_inv": (POSITIVE,),
    "det": (REGULAR,),
    "eigvals": (REGULAR,),
    "eigvalsh": (POSITIVE,),
    "inv": (REGULAR,),
    "lu": (REGULAR,),
    "lu_factor": ([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]],),
    "norm": (REGULAR,),
    "pinv": ([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]],),
    "qr": ([[1.0, 2.0], [3.0, 4.0], [5.0, 7.0]],),
    "slogdet": (REGULAR,),
    "solve": (REGULAR, [1.0, 2.0]),
    "solve_triangular": (REGULAR, [[1.0, 2.0], [3.0, 4.0]]),
    "tri_inv": (REGULAR,),
    "cross": ([1.0, 2.0, 3.0], [3.0, 5.0]),
}


@pytest.mark.parametrize("name", MLX_CASES)
def test_agrees_with_mlx(mlx, name):
    """Values, shapes, dtypes and the order of results."""
    arguments = [np.array(values, np.float32) for values in MLX_CASES[name]]
    got = getattr(linalg, name)(*(to_umber(values, "float32") for values in arguments))
    want = getattr(mlx.linalg, name)(*(mlx.array(values) for values in arguments), stream=mlx.cpu)
    got, want = (r if isinstance(r, tuple) else (r,) for r in (got, want))
    assert len(got) == len(want)
    for left, right in zip(got, want, strict=True):
        assert str(left.dtype).rpartition(".")[2] == str(right.dtype).rpartition(".")[2]
        assert_close(to_numpy(left), np.array(right), tolerance_of("float32", 20))


def test_f_is_fro(rng):
    x = rng.standard_normal((3, 2, 4))
    got = linalg.norm(mx.array(x), "f", axis=(0, 2))
    np.testing.assert_allclose(to_numpy(got), np.linalg.norm(x, "fro", axis=(0, 2)), rtol=1e-14)


@pytest.mark.parametrize("order", [None, 0, 1, -1, 2, 3, 0.5, np.inf, -np.inf, "fro", "nuc"])
@pytest.mark.parametrize("axis", [None, 0, -1, (0, 1), (1, 0)])
def test_norms_agree_with_mlx(mlx, order, axis):
    """Or both refuse."""
    values = np.arange(6, dtype=np.float32).reshape(2, 3) - 2.5
    axis = list(axis) if isinstance(axis, tuple) else axis
    try:
        want = np.array(mlx.linalg.norm(mlx.array(values), order, axis, stream=mlx.cpu))
    except ValueError:
        with pytest.raises(ValueError, match=r"\[linalg\.norm\]"):
            linalg.norm(mx.array(values), order, axis)
    else:
        got = to_numpy(linalg.norm(mx.array(values), order, axis))
        assert_close(got, want, tolerance_of("float32", 10))
