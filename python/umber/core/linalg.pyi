# Generated from the extension module by tools/stubs.py; `make stubs` writes it again.

"""Linear algebra on the matrices along the last two axes."""
from collections.abc import Sequence
from umber.core import _Axes, _DType, _Operand, _StreamOrDevice, array


def cholesky(a: _Operand, upper: bool = False, *, stream: _StreamOrDevice = None) -> array:
    """Cholesky factors of positive definite matrices of which one triangle is read: lower `L` with `a = L @ L.H`, or upper `U` with `a = U.H @ U`. A matrix that is not positive definite raises RuntimeError when evaluated."""


def cholesky_inv(a: _Operand, upper: bool = False, *, stream: _StreamOrDevice = None) -> array:
    """Inverses of the matrices whose Cholesky factors are `a`."""


def cond(
    a: _Operand,
    p: int | float | str | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Condition numbers `norm(a, p) * norm(inv(a), p)`; by default the ratio of the greatest and the least singular value.
    Infinite for singular matrices.
    """


def cross(
    a: _Operand,
    b: _Operand,
    axis: int | None = None,
    *,
    axisa: int = ...,
    axisb: int = ...,
    axisc: int = ...,
    stream: _StreamOrDevice = None,
) -> array:
    """Cross products of vectors of length 3 (or 2: the third element is 0) along `axis`, or without it along `axisa` of `a`
    and `axisb` of `b`, into `axisc` of the result.
    """


def det(a: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Determinants of square matrices; 0 for singular ones, whose gradient is that of the cofactors."""


def diagonal(x: _Operand, /, *, offset: int = 0, stream: _StreamOrDevice = None) -> array:
    """Diagonals of the matrices along the last two axes, `offset` above the main one."""


def eig(a: _Operand, *, stream: _StreamOrDevice = None) -> tuple[array, array]:
    """Eigenvalues and eigenvectors (one a column, of length one) of square matrices, complex64 (complex128 of float64 and complex128)."""


def eigh(
    a: _Operand,
    UPLO: str = "L",
    *,
    stream: _StreamOrDevice = None,
) -> tuple[array, array]:
    """Real eigenvalues in ascending order and orthonormal eigenvectors (one a column) of Hermitian matrices, of which the
    lower ('L') or upper ('U') triangle is read.
    """


def eigvals(a: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Eigenvalues of square matrices, complex64 (complex128 of float64 and complex128), in no promised order."""


def eigvalsh(a: _Operand, UPLO: str = "L", *, stream: _StreamOrDevice = None) -> array:
    """Real eigenvalues in ascending order of Hermitian matrices, of which the lower ('L') or upper ('U') triangle is read."""


def expm(a: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Matrix exponential of square matrices, by scaling and squaring with Padé approximants (Higham 2005)."""


def inv(a: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Inverses of square matrices. A singular matrix raises RuntimeError when evaluated."""


def lstsq(
    a: _Operand,
    b: _Operand,
    rcond: float | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> tuple[array, array, array, array]:
    """Least squares: the shortest `x` that makes `|b - a @ x|` least, the squares of that for each right side, the ranks
    (int32) and the singular values of `a`. Those up to `rcond` times the greatest count as zero.

    As NumPy's, the squares of one matrix are none unless it has more rows than columns and full rank, for which it is
    evaluated.
    """


def lu(a: _Operand, *, stream: _StreamOrDevice = None) -> tuple[array, array, array]:
    """LU factors with partial pivoting: rows (uint32), `L` and `U` with `a = (L @ U)[rows]`."""


def lu_factor(a: _Operand, *, stream: _StreamOrDevice = None) -> tuple[array, array]:
    """LU factors in one matrix, and the pivots (uint32): row i was exchanged with row pivots[i], one after the other."""


def matmul(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Matrix product over the last two axes; leading axes broadcast, 1-D operands are vectors."""


def matrix_norm(
    x: _Operand,
    /,
    *,
    keepdims: bool = False,
    ord: int | float | str = "fro",
    stream: _StreamOrDevice = None,
) -> array:
    """Norms of the matrices along the last two axes."""


def matrix_power(a: _Operand, n: int, *, stream: _StreamOrDevice = None) -> array:
    """Square matrices to the power of the integer `n`; negative powers are of the inverse."""


def matrix_rank(
    a: _Operand,
    tol: _Operand | None = None,
    hermitian: bool = False,
    *,
    rtol: _Operand | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Numbers of singular values above `tol`, or above `rtol` (by default max(m, n) times the dtype's eps) times the
    greatest, as int32; an array has one for each matrix. Of `hermitian` matrices the lower triangle is read.
    """


def matrix_transpose(x: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """The matrices along the last two axes transposed."""


def multi_dot(arrays: Sequence[_Operand], *, stream: _StreamOrDevice = None) -> array:
    """Product of two or more matrices, in the order that takes the fewest multiplications."""


def norm(
    a: _Operand,
    /,
    ord: int | float | str | None = None,
    axis: _Axes | None = None,
    keepdims: bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Norms: of vectors over one axis (`sum(|a|**ord)**(1/ord)`), of matrices over two (`ord` 'fro', 'nuc', 1, -1, 2, -2,
    inf or -inf); without `axis` and `ord` the 2-norm of all elements.
    """


def outer(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Products of every element of `a` with every element of `b`, both flattened."""


def pinv(
    a: _Operand,
    rcond: _Operand | None = None,
    hermitian: bool = False,
    *,
    rtol: _Operand | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Moore-Penrose inverses. Singular values up to `rtol` (by default max(m, n) times the dtype's eps) times the greatest
    count as zero; an array has one `rtol` for each matrix. `rcond` is another name for `rtol`. Of `hermitian` matrices the
    lower triangle is read.
    """


def qr(
    a: _Operand,
    mode: str = "reduced",
    *,
    stream: _StreamOrDevice = None,
) -> array | tuple[array, array]:
    """QR factors: `Q` with orthonormal columns and upper triangular `R` with `a = Q @ R`. `Q` has min(m, n) columns in mode
    'reduced', m in mode 'complete'; mode 'r' gives `R` alone.
    """


def slogdet(a: _Operand, *, stream: _StreamOrDevice = None) -> tuple[array, array]:
    """Sign and logarithm of the absolute value of determinants: (0, -inf) for singular matrices."""


def solve(a: _Operand, b: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """The `x` with `a @ x = b`, for a vector `b` or matrices `[..., n, k]`; batch axes broadcast. A singular matrix raises
    RuntimeError when evaluated.
    """


def solve_triangular(
    a: _Operand,
    b: _Operand,
    *,
    upper: bool = False,
    stream: _StreamOrDevice = None,
) -> array:
    """The `x` with `a @ x = b` for triangular `a`, of which one triangle is read. A zero on the diagonal raises RuntimeError
    when evaluated.
    """


def svd(
    a: _Operand,
    compute_uv: bool = True,
    full_matrices: bool = True,
    *,
    hermitian: bool = False,
    stream: _StreamOrDevice = None,
) -> array | tuple[array, array, array]:
    """Singular value decomposition: `U`, `S` (descending) and `Vh` with `a = U @ diag(S) @ Vh`, or `S` alone. `U` and `Vh`
    are square, or have min(m, n) vectors each without `full_matrices`. Of `hermitian` matrices the lower triangle is read,
    and `U` holds their eigenvectors.
    """


def svdvals(a: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Singular values in descending order, real."""


def tensordot(
    a: _Operand,
    b: _Operand,
    /,
    axes: int | Sequence[Sequence[int]] = 2,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Sum of products over the last `axes` axes of `a` and the first of `b`, or over two lists of axes."""


def trace(
    x: _Operand,
    /,
    *,
    offset: int = 0,
    dtype: _DType = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Sums of the diagonals of the matrices along the last two axes, `offset` above the main one."""


def tri_inv(a: _Operand, upper: bool = False, *, stream: _StreamOrDevice = None) -> array:
    """Inverses of triangular matrices of which one triangle is read. A zero on the diagonal raises RuntimeError when evaluated."""


def vecdot(
    a: _Operand,
    b: _Operand,
    /,
    *,
    axis: int = ...,
    stream: _StreamOrDevice = None,
) -> array:
    """Sum of products over `axis`, the first operand conjugated; other axes broadcast."""


def vector_norm(
    x: _Operand,
    /,
    *,
    axis: _Axes | None = None,
    keepdims: bool = False,
    ord: float = 2.0,
    stream: _StreamOrDevice = None,
) -> array:
    """Norms of vectors along `axis`, several axes together, or all."""
