# Generated from the extension module by tools/stubs.py; `make stubs` writes it again.

"""Linear algebra on the matrices along the last two axes."""
from collections.abc import Sequence
from umber.core import _Axes, _DType, _Operand, _StreamOrDevice, array


def cholesky(a: _Operand, upper: bool = False, *, stream: _StreamOrDevice = None) -> array:
    """Cholesky factor of Hermitian positive definite matrices.

    Parameters
    ----------
    a : array_like
        Hermitian positive definite matrices of shape ``(..., n, n)``, of which only one triangle is read. Integers and
        bool are computed in float32.
    upper : bool, optional
        Read the upper triangle and return the upper factor. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Lower triangular `L` with ``a == L @ L.H``, or upper triangular `U` with ``a == U.H @ U``, where `H` is the
        conjugate transpose.

    Raises
    ------
    ValueError
        If `a` does not hold square matrices.
    RuntimeError
        When evaluated, if a matrix is not positive definite.

    See Also
    --------
    cholesky_inv, solve_triangular

    Notes
    -----
    The gradient is Hermitian: that of a function of Hermitian matrices.

    Examples
    --------
    >>> mx.linalg.cholesky(mx.array([[4.0, 2.0], [2.0, 5.0]]))
    array([[2, 0],
           [1, 2]], dtype=float32)
    """


def cholesky_inv(a: _Operand, upper: bool = False, *, stream: _StreamOrDevice = None) -> array:
    """Inverse of the matrices whose Cholesky factor is given.

    Parameters
    ----------
    a : array_like
        Cholesky factors of shape ``(..., n, n)``, of which only one triangle is read. Integers and bool are computed in
        float32.
    upper : bool, optional
        `a` is the upper factor. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Inverse of ``a @ a.H``, or of ``a.H @ a`` with ``upper=True``, where `H` is the conjugate transpose.

    Raises
    ------
    ValueError
        If `a` does not hold square matrices.
    RuntimeError
        When evaluated, if the diagonal has a zero.

    See Also
    --------
    cholesky, inv

    Examples
    --------
    >>> mx.linalg.cholesky_inv(mx.array([[2.0, 0.0], [1.0, 2.0]]))
    array([[0.3125, -0.125],
           [-0.125, 0.25]], dtype=float32)
    """


def cond(
    a: _Operand,
    p: int | float | str | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Condition number of matrices: ``norm(a, p) * norm(inv(a), p)``.

    Parameters
    ----------
    a : array_like
        Matrices of shape ``(..., m, n)``, square unless `p` is None, 2 or -2. Integers and bool are computed in
        float32.
    p : {'fro', 'nuc', 1, -1, 2, -2, inf, -inf}, optional
        Order of the norm, as in `norm`. Default: 2, the ratio of the largest and the smallest singular value.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Real, of shape ``(...)``. inf for singular matrices.

    Raises
    ------
    ValueError
        If the matrices are empty, not square where they must be, or `p` is not a norm of matrices.

    See Also
    --------
    norm, svdvals

    Notes
    -----
    The smallest singular value of a singular matrix may be rounded to a tiny number; the result is then very large
    instead of inf.

    Examples
    --------
    >>> mx.linalg.cond(mx.array([[1.0, 0.0], [0.0, 4.0]]))
    array(4, dtype=float32)
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
    """Cross product of vectors of length 3 (or 2, with a third element of 0).

    Parameters
    ----------
    a, b : array_like
        Arrays of vectors. Other axes broadcast.
    axis : int, optional
        Axis of the vectors in `a`, `b` and the result. Default: `axisa`, `axisb` and `axisc` apply.
    axisa, axisb, axisc : int, optional
        Axes of the vectors in `a`, in `b` and in the result. Ignored where `axis` is given. Default: -1.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Vectors of length 3 in the promoted dtype.

    Raises
    ------
    ValueError
        If the vectors have another length, or the other axes do not broadcast.
    IndexError
        If an axis is out of bounds.

    See Also
    --------
    outer, vecdot

    Notes
    -----
    Two vectors of length 2 give a vector of length 3, unlike in NumPy.

    Examples
    --------
    >>> mx.linalg.cross(mx.array([1, 0, 0]), mx.array([0, 1, 0]))
    array([0, 0, 1], dtype=int32)
    """


def det(a: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Determinant of square matrices.

    Parameters
    ----------
    a : array_like
        Square matrices of shape ``(..., n, n)``. Integers and bool are computed in float32.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape ``(...)``; the dtype of `a`, float32 for integers. 0 for singular matrices, 1 for empty ones.

    Raises
    ------
    ValueError
        If `a` does not hold square matrices.

    See Also
    --------
    slogdet, inv

    Notes
    -----
    The gradient of a singular matrix is the matrix of its cofactors. float16 and bfloat16 are computed in float32 and
    rounded at the end.

    Examples
    --------
    >>> mx.linalg.det(mx.array([[2.0, 1.0], [1.0, 3.0]]))
    array(5, dtype=float32)
    """


def diagonal(x: _Operand, /, *, offset: int = 0, stream: _StreamOrDevice = None) -> array:
    """Diagonals of the matrices along the last two axes.

    Parameters
    ----------
    x : array_like
        Matrices of shape ``(..., m, n)``, of any dtype.
    offset : int, optional
        Diagonal above (positive) or below (negative) the main one. Default: 0.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape ``(..., length)``, dtype of `x`. Empty where the offset is out of the matrix.

    Raises
    ------
    ValueError
        If `x` has fewer than two axes.

    See Also
    --------
    trace, diag

    Examples
    --------
    >>> mx.linalg.diagonal(mx.array([[1, 2], [3, 4]]), offset=1)
    array([2], dtype=int32)
    """


def eig(a: _Operand, *, stream: _StreamOrDevice = None) -> tuple[array, array]:
    """Complex eigenvalues and eigenvectors of square matrices.

    Parameters
    ----------
    a : array_like
        Square matrices of shape ``(..., n, n)``. Integers and bool are computed in float32.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    EigResult
        Named tuple of `eigenvalues`, of shape ``(..., n)``, in no particular order, and `eigenvectors`, of shape
        ``(..., n, n)``, one per column. complex128 for float64 and complex128 input, else complex64.

    Raises
    ------
    ValueError
        If `a` does not hold square matrices.

    See Also
    --------
    eigh, eigvals

    Notes
    -----
    ``a @ eigenvectors == eigenvectors * eigenvalues[..., None, :]``. Eigenvectors have 2-norm 1 and a real element of
    largest magnitude. The gradient needs a basis of eigenvectors; equal eigenvalues are treated as staying equal in it.

    Examples
    --------
    >>> values, vectors = mx.linalg.eig(mx.array([[0.0, -1.0], [1.0, 0.0]]))
    >>> values
    array([0+1j, 0-1j], dtype=complex64)
    """


def eigh(
    a: _Operand,
    UPLO: str = "L",
    *,
    stream: _StreamOrDevice = None,
) -> tuple[array, array]:
    """Real eigenvalues and orthonormal eigenvectors of Hermitian matrices.

    Parameters
    ----------
    a : array_like
        Hermitian matrices of shape ``(..., n, n)``, of which only one triangle is read. Integers and bool are computed
        in float32.
    UPLO : {'L', 'U'}, optional
        Triangle that is read, lower or upper. Default: 'L'.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    EighResult
        Named tuple of real `eigenvalues` in ascending order, of shape ``(..., n)``, and `eigenvectors`, of shape
        ``(..., n, n)``, one per column.

    Raises
    ------
    ValueError
        If `a` does not hold square matrices or `UPLO` is unknown.

    See Also
    --------
    eigvalsh, eig, svd

    Notes
    -----
    ``a @ eigenvectors == eigenvectors * eigenvalues[..., None, :]``. The gradient is Hermitian. Equal eigenvalues are
    treated as staying equal in the gradient, which is right for functions that do not depend on the choice of vectors
    among them.

    Examples
    --------
    >>> values, vectors = mx.linalg.eigh(mx.array([[2.0, 1.0], [1.0, 2.0]]))
    >>> values
    array([1, 3], dtype=float32)
    >>> mx.abs(vectors)
    array([[0.707107, 0.707107],
           [0.707107, 0.707107]], dtype=float32)
    """


def eigvals(a: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Complex eigenvalues of square matrices.

    Parameters
    ----------
    a : array_like
        Square matrices of shape ``(..., n, n)``. Integers and bool are computed in float32.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape ``(..., n)``, in no particular order. complex128 for float64 and complex128 input, else complex64.

    Raises
    ------
    ValueError
        If `a` does not hold square matrices.

    See Also
    --------
    eig, eigvalsh

    Examples
    --------
    >>> mx.linalg.eigvals(mx.array([[2.0, 1.0], [0.0, 3.0]]))
    array([2+0j, 3+0j], dtype=complex64)
    """


def eigvalsh(a: _Operand, UPLO: str = "L", *, stream: _StreamOrDevice = None) -> array:
    """Real eigenvalues of Hermitian matrices in ascending order.

    Parameters
    ----------
    a : array_like
        Hermitian matrices of shape ``(..., n, n)``, of which only one triangle is read. Integers and bool are computed
        in float32.
    UPLO : {'L', 'U'}, optional
        Triangle that is read, lower or upper. Default: 'L'.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Real, of shape ``(..., n)``.

    Raises
    ------
    ValueError
        If `a` does not hold square matrices or `UPLO` is unknown.

    See Also
    --------
    eigh, eigvals

    Examples
    --------
    >>> mx.linalg.eigvalsh(mx.array([[2.0, 99.0], [1.0, 2.0]]))  # 99 is not read
    array([1, 3], dtype=float32)
    """


def expm(a: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Matrix exponential ``I + a + a @ a / 2! + ...`` of square matrices.

    Parameters
    ----------
    a : array_like
        Square matrices of shape ``(..., n, n)``. Integers and bool are computed in float32.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape and floating dtype of `a`, float32 for integers.

    Raises
    ------
    ValueError
        If `a` does not hold square matrices.

    See Also
    --------
    matrix_power

    Notes
    -----
    Scaling and squaring with Padé approximants (N. J. Higham, The Scaling and Squaring Method for the Matrix
    Exponential Revisited, 2005).

    Examples
    --------
    >>> mx.linalg.expm(mx.array([[0.0, 3.0], [0.0, 0.0]]))
    array([[1, 3],
           [0, 1]], dtype=float32)
    """


def inv(a: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Inverse of square matrices.

    Parameters
    ----------
    a : array_like
        Square matrices of shape ``(..., n, n)``. Integers and bool are computed in float32.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape and floating dtype of `a`, float32 for integers.

    Raises
    ------
    ValueError
        If `a` does not hold square matrices.
    RuntimeError
        When evaluated, if a matrix is singular.

    See Also
    --------
    pinv, solve, tri_inv

    Examples
    --------
    >>> mx.linalg.inv(mx.array([[2.0, 0.0], [0.0, 4.0]]))
    array([[0.5, 0],
           [0, 0.25]], dtype=float32)
    """


def lstsq(
    a: _Operand,
    b: _Operand,
    rcond: float | None = None,
    *,
    stream: _StreamOrDevice = None,
) -> tuple[array, array, array, array]:
    """Least-squares solution of linear equations: the `x` that minimises ``norm(b - a @ x)``.

    Parameters
    ----------
    a : array_like
        Matrices of shape ``(..., m, n)``. Integers and bool are computed in float32.
    b : array_like
        Vector of shape ``(m,)`` or matrices of shape ``(..., m, k)``.
    rcond : float, optional
        Singular values up to `rcond` times the largest count as zero. Default: ``max(m, n)`` times the machine epsilon
        of the dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    tuple of array
        The solution `x`, of shape ``(..., n)`` or ``(..., n, k)``, that of minimum norm where there are several; the
        squared norms of the residuals, one per right-hand side; the ranks as int32; the singular values of `a`.

    Raises
    ------
    ValueError
        If `a` has fewer than two axes or `b` does not match.

    See Also
    --------
    solve, pinv

    Notes
    -----
    As in NumPy, the residuals of a single matrix are empty unless it has more rows than columns and full rank. Such a
    matrix is evaluated to find the rank; in `vmap` and `compile`, full rank is assumed.

    Examples
    --------
    >>> a = mx.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])  # a line at 0, 1 and 2
    >>> x, residuals, rank, values = mx.linalg.lstsq(a, mx.array([1.0, 3.0, 5.0]))
    >>> mx.allclose(x, mx.array([1.0, 2.0])).item(), rank
    (True, array(2, dtype=int32))
    """


def lu(a: _Operand, *, stream: _StreamOrDevice = None) -> tuple[array, array, array]:
    """LU factorisation with partial pivoting: ``a == (L @ U)[rows]``.

    Parameters
    ----------
    a : array_like
        Matrices of shape ``(..., m, n)``. Integers and bool are computed in float32.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    tuple of array
        `rows`, uint32 of shape ``(..., m)``; unit lower triangular `L` of shape ``(..., m, min(m, n))``; upper
        triangular `U` of shape ``(..., min(m, n), n)``.

    Raises
    ------
    ValueError
        If `a` has fewer than two axes.

    See Also
    --------
    lu_factor, qr

    Notes
    -----
    Singular matrices have factors, too.

    Examples
    --------
    >>> rows, lower, upper = mx.linalg.lu(mx.array([[0.0, 1.0], [2.0, 4.0]]))
    >>> rows
    array([1, 0], dtype=uint32)
    >>> (lower @ upper)[rows]
    array([[0, 1],
           [2, 4]], dtype=float32)
    """


def lu_factor(a: _Operand, *, stream: _StreamOrDevice = None) -> tuple[array, array]:
    """LU factorisation with partial pivoting, both factors in one matrix.

    Parameters
    ----------
    a : array_like
        Matrices of shape ``(..., m, n)``. Integers and bool are computed in float32.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    LUFactorResult
        Named tuple of `lu`, of shape ``(..., m, n)``, and `pivots`, uint32 of shape ``(..., min(m, n))``.

    Raises
    ------
    ValueError
        If `a` has fewer than two axes.

    See Also
    --------
    lu, solve

    Notes
    -----
    `lu` holds the upper factor on and above the diagonal, and the unit lower factor below it. Row `i` was exchanged
    with row ``pivots[i]``, for `i` in ascending order.

    Examples
    --------
    >>> mx.linalg.lu_factor(mx.array([[2.0, 1.0], [4.0, 4.0]]))
    LUFactorResult(lu=array([[4, 4],
           [0.5, -1]], dtype=float32), pivots=array([1, 1], dtype=uint32))
    """


def matmul(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Matrix product over the last two axes; leading axes broadcast.

    Parameters
    ----------
    a, b : array_like
        Arrays of shapes ``(..., m, k)`` and ``(..., k, n)``. A 1-D `a` is a row, a 1-D `b` a column.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape ``(..., m, n)`` in the promoted dtype, without the axis of a 1-D operand.

    Raises
    ------
    ValueError
        If an operand is 0-D, the inner dimensions differ, or the leading axes do not broadcast.

    See Also
    --------
    dot, einsum, addmm, linalg.multi_dot

    Notes
    -----
    Integers wrap on overflow. For bool, the sum is a logical "or" and the product a logical "and".

    Examples
    --------
    >>> mx.matmul(mx.array([[1.0, 2.0], [3.0, 4.0]]), mx.array([1.0, -1.0]))
    array([-1, -1], dtype=float32)
    >>> mx.matmul(mx.ones((5, 2, 3)), mx.ones((3, 4))).shape
    (5, 2, 4)
    """


def matrix_norm(
    x: _Operand,
    /,
    *,
    keepdims: bool = False,
    ord: int | float | str = "fro",
    stream: _StreamOrDevice = None,
) -> array:
    """Norm of the matrices along the last two axes.

    Parameters
    ----------
    x : array_like
        Matrices of shape ``(..., m, n)``. Integers and bool are computed in float32.
    keepdims : bool, optional
        Keep the reduced axes with length 1. Default: False.
    ord : {'fro', 'nuc', 1, -1, 2, -2, inf, -inf}, optional
        Order of the norm, as in `norm`. Default: 'fro'.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Real, of shape ``(...)``.

    Raises
    ------
    ValueError
        If `x` has fewer than two axes, or `ord` is not a norm of matrices.

    See Also
    --------
    norm, vector_norm

    Examples
    --------
    >>> x = mx.array([[1.0, -2.0], [3.0, 4.0]])
    >>> mx.linalg.matrix_norm(x, ord=1), mx.linalg.matrix_norm(x, ord=mx.inf)
    (array(6, dtype=float32), array(7, dtype=float32))
    """


def matrix_power(a: _Operand, n: int, *, stream: _StreamOrDevice = None) -> array:
    """Integer power of square matrices.

    Parameters
    ----------
    a : array_like
        Square matrices of shape ``(..., n, n)``, of any dtype.
    n : int
        Exponent. 0 gives the identity; a negative exponent is a power of the inverse.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape and dtype of `a`; float32 for a negative power of integers.

    Raises
    ------
    ValueError
        If the matrices are not square.
    RuntimeError
        When evaluated, if `n` is negative and a matrix is singular.

    See Also
    --------
    expm, inv, matmul

    Notes
    -----
    Integers wrap on overflow.

    Examples
    --------
    >>> mx.linalg.matrix_power(mx.array([[1, 1], [0, 1]]), 5)
    array([[1, 5],
           [0, 1]], dtype=int32)
    """


def matrix_rank(
    a: _Operand,
    tol: _Operand | None = None,
    hermitian: bool = False,
    *,
    rtol: _Operand | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Rank of matrices: the number of singular values above a threshold.

    Parameters
    ----------
    a : array_like
        Matrices of shape ``(..., m, n)``. Integers and bool are computed in float32.
    tol : float or array_like, optional
        Absolute threshold. An array has one value per matrix. Only one of `tol` and `rtol` may be given.
    hermitian : bool, optional
        Take `a` as Hermitian and read only its lower triangle. Default: False.
    rtol : float or array_like, optional
        Threshold relative to the largest singular value. An array has one value per matrix. Default: ``max(m, n)``
        times the machine epsilon of the dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        int32 of shape ``(...)``.

    Raises
    ------
    ValueError
        If `a` has fewer than two axes, `hermitian` is True and the matrices are not square, or both `tol` and `rtol`
        are given.
    TypeError
        If the threshold is not real.

    See Also
    --------
    svdvals, pinv

    Examples
    --------
    >>> mx.linalg.matrix_rank(mx.array([[1.0, 2.0], [2.0, 4.0]]))
    array(1, dtype=int32)
    """


def matrix_transpose(x: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Transpose of the matrices along the last two axes.

    Parameters
    ----------
    x : array_like
        Matrices of shape ``(..., m, n)``, of any dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape ``(..., n, m)``, dtype of `x`.

    Raises
    ------
    ValueError
        If `x` has fewer than two axes.

    See Also
    --------
    transpose

    Examples
    --------
    >>> mx.linalg.matrix_transpose(mx.ones((5, 2, 3))).shape
    (5, 3, 2)
    """


def multi_dot(arrays: Sequence[_Operand], *, stream: _StreamOrDevice = None) -> array:
    """Product of two or more matrices in the order that needs the fewest multiplications.

    Parameters
    ----------
    arrays : sequence of array_like
        Matrices. The first may be a 1-D row, the last a 1-D column.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Product in the promoted dtype, without the axes of 1-D operands.

    Raises
    ------
    ValueError
        If there are fewer than two arrays, an inner one is not a matrix, or the inner dimensions differ.
    TypeError
        If `arrays` is not a sequence of arrays.

    See Also
    --------
    matmul, einsum

    Notes
    -----
    The order is found by dynamic programming (T. H. Cormen et al., Introduction to Algorithms, chapter 15.2).

    Examples
    --------
    >>> mx.linalg.multi_dot([mx.ones((2, 100)), mx.ones((100, 50)), mx.ones((50, 3))]).shape
    (2, 3)
    """


def norm(
    a: _Operand,
    /,
    ord: int | float | str | None = None,
    axis: _Axes | None = None,
    keepdims: bool = False,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Norm of vectors over one axis, or of matrices over two.

    Parameters
    ----------
    a : array_like
        Real or complex input. Integers and bool are computed in float32.
    ord : float or {'fro', 'nuc'}, optional
        Order of the norm, see the table. Default: the 2-norm of vectors, 'fro' for matrices.
    axis : int or sequence of int, optional
        One axis of vectors, or the axes of the rows and columns of matrices. Default: all axes of a 1-D or 2-D array;
        without `ord`, the 2-norm of all elements of an array of any shape.
    keepdims : bool, optional
        Keep the reduced axes with length 1. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Real, of the shape of `a` without the reduced axes.

    Raises
    ------
    ValueError
        If `ord` is not a norm of vectors or matrices, there are more than two axes, an axis is given twice, or the axis
        of a maximum or minimum is empty.
    IndexError
        If an axis is out of bounds.

    See Also
    --------
    linalg.vector_norm, linalg.matrix_norm, linalg.cond

    Notes
    -----
    ========  =============================  ====================================
    ord       vectors                        matrices
    ========  =============================  ====================================
    'fro'     none                           square root of the sum of squares
    'nuc'     none                           sum of the singular values
    inf       max(abs(x))                    max(sum(abs(x), axis=1))
    -inf      min(abs(x))                    min(sum(abs(x), axis=1))
    0         number of non-zero elements    none
    1, -1     sum(abs(x)**p)**(1/p)          max, min of sum(abs(x), axis=0)
    2, -2     sum(abs(x)**p)**(1/p)          largest, smallest singular value
    other     sum(abs(x)**p)**(1/p)          none
    ========  =============================  ====================================

    Intermediate results do not overflow where the norm is representable. The gradient of a vector norm at zero is zero;
    elements that tie for a maximum or minimum share its gradient.

    Examples
    --------
    >>> a = mx.array([[3.0, -4.0], [0.0, 0.0]])
    >>> mx.linalg.norm(a)
    array(5, dtype=float32)
    >>> mx.linalg.norm(a, ord=1, axis=1)
    array([7, 0], dtype=float32)
    """


def outer(a: _Operand, b: _Operand, /, *, stream: _StreamOrDevice = None) -> array:
    """Outer product: every element of `a` times every element of `b`, both flattened.

    Parameters
    ----------
    a, b : array_like
        Arrays of any shapes.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape ``(a.size, b.size)`` in the promoted dtype: ``outer(a, b)[i, j] = a[i] * b[j]``.

    See Also
    --------
    kron, tensordot

    Examples
    --------
    >>> mx.outer(mx.array([1, 2]), mx.array([1, 10]))
    array([[1, 10],
           [2, 20]], dtype=int32)
    """


def pinv(
    a: _Operand,
    rcond: _Operand | None = None,
    hermitian: bool = False,
    *,
    rtol: _Operand | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Moore-Penrose pseudo-inverse of matrices.

    Parameters
    ----------
    a : array_like
        Matrices of shape ``(..., m, n)``. Integers and bool are computed in float32.
    rcond : float or array_like, optional
        Another name for `rtol`. Only one of them may be given.
    hermitian : bool, optional
        Take `a` as Hermitian and read only its lower triangle. Default: False.
    rtol : float or array_like, optional
        Singular values up to `rtol` times the largest count as zero. An array has one value per matrix. Default:
        ``max(m, n)`` times the machine epsilon of the dtype.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape ``(..., n, m)``.

    Raises
    ------
    ValueError
        If `a` has fewer than two axes, `hermitian` is True and the matrices are not square, or both `rcond` and `rtol`
        are given.
    TypeError
        If the tolerance is not real.

    See Also
    --------
    inv, lstsq, matrix_rank

    Notes
    -----
    The gradient is right where the rank does not change.

    Examples
    --------
    >>> mx.linalg.pinv(mx.array([[3.0], [4.0]]))
    array([[0.12, 0.16]], dtype=float32)
    """


def qr(
    a: _Operand,
    mode: str = "reduced",
    *,
    stream: _StreamOrDevice = None,
) -> array | tuple[array, array]:
    """QR factorisation ``a == Q @ R``: orthonormal columns and an upper triangular matrix.

    Parameters
    ----------
    a : array_like
        Matrices of shape ``(..., m, n)``. Integers and bool are computed in float32.
    mode : {'reduced', 'complete', 'r'}, optional
        'reduced' gives `Q` ``min(m, n)`` columns, 'complete' `m` columns; 'r' returns only the reduced `R`. Default:
        'reduced'.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    QRResult or array
        Named tuple of `Q` and `R`; the array `R` in mode 'r'.

    Raises
    ------
    ValueError
        If `a` has fewer than two axes or `mode` is unknown.

    See Also
    --------
    svd, lu

    Notes
    -----
    The diagonal of `R` is real; its sign is not normalised. The gradient needs the first ``min(m, n)`` columns of `a`
    to be linearly independent.

    Examples
    --------
    >>> mx.linalg.qr(mx.array([[3.0, 1.0], [4.0, 2.0]]), mode="r")
    array([[-5, -2.2],
           [0, 0.4]], dtype=float32)
    """


def slogdet(a: _Operand, *, stream: _StreamOrDevice = None) -> tuple[array, array]:
    """Sign and logarithm of the absolute value of the determinant of square matrices.

    Parameters
    ----------
    a : array_like
        Square matrices of shape ``(..., n, n)``. Integers and bool are computed in float32.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    SlogdetResult
        Named tuple of `sign` and `logabsdet`, both of shape ``(...)``, with ``det(a) == sign * exp(logabsdet)``. The
        sign of a complex determinant is a complex number of absolute value 1; the logarithm is real.

    Raises
    ------
    ValueError
        If `a` does not hold square matrices.

    See Also
    --------
    det

    Notes
    -----
    Does not overflow where the determinant would. Singular matrices give ``(0, -inf)`` and have no gradient.

    Examples
    --------
    >>> mx.linalg.slogdet(mx.array([[-3.0, 0.0], [0.0, 2.0]]))
    SlogdetResult(sign=array(-1, dtype=float32), logabsdet=array(1.79176, dtype=float32))
    """


def solve(a: _Operand, b: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Solve the linear equations ``a @ x == b`` with square matrices `a`.

    Parameters
    ----------
    a : array_like
        Square matrices of shape ``(..., n, n)``. Integers and bool are computed in float32.
    b : array_like
        Vector of shape ``(n,)`` or matrices of shape ``(..., n, k)``. Batch axes broadcast.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        `x`, of the shape of `b` with the broadcast batch axes.

    Raises
    ------
    ValueError
        If the matrices are not square or `b` does not match.
    RuntimeError
        When evaluated, if a matrix is singular.

    See Also
    --------
    solve_triangular, lstsq, inv

    Examples
    --------
    >>> mx.linalg.solve(mx.array([[2.0, 0.0], [1.0, 4.0]]), mx.array([2.0, 9.0]))
    array([1, 2], dtype=float32)
    """


def solve_triangular(
    a: _Operand,
    b: _Operand,
    *,
    upper: bool = False,
    stream: _StreamOrDevice = None,
) -> array:
    """Solve the linear equations ``a @ x == b`` with triangular matrices `a`.

    Parameters
    ----------
    a : array_like
        Triangular matrices of shape ``(..., n, n)``, of which only one triangle is read. Integers and bool are computed
        in float32.
    b : array_like
        Vector of shape ``(n,)`` or matrices of shape ``(..., n, k)``. Batch axes broadcast.
    upper : bool, optional
        Read the upper triangle. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        `x`, of the shape of `b` with the broadcast batch axes.

    Raises
    ------
    ValueError
        If the matrices are not square or `b` does not match.
    RuntimeError
        When evaluated, if the diagonal has a zero.

    See Also
    --------
    solve, tri_inv

    Examples
    --------
    >>> mx.linalg.solve_triangular(mx.array([[2.0, 99.0], [1.0, 4.0]]), mx.array([2.0, 9.0]))  # 99 is not read
    array([1, 2], dtype=float32)
    """


def svd(
    a: _Operand,
    compute_uv: bool = True,
    full_matrices: bool = True,
    *,
    hermitian: bool = False,
    stream: _StreamOrDevice = None,
) -> array | tuple[array, array, array]:
    """Singular value decomposition ``a == U @ diag(S) @ Vh``.

    Parameters
    ----------
    a : array_like
        Matrices of shape ``(..., m, n)``. Integers and bool are computed in float32.
    compute_uv : bool, optional
        Compute `U` and `Vh`, else only `S`. Default: True.
    full_matrices : bool, optional
        Return square `U` and `Vh`, else ``min(m, n)`` vectors of each. Default: True.
    hermitian : bool, optional
        Take `a` as Hermitian and read only its lower triangle. `U` then holds eigenvectors. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    SVDResult or array
        Named tuple of `U`, with one left singular vector per column; `S`, real and in descending order, of shape
        ``(..., min(m, n))``; and `Vh`, with one conjugated right singular vector per row. Only the array `S` without
        `compute_uv`.

    Raises
    ------
    ValueError
        If `a` has fewer than two axes, or `hermitian` is True and the matrices are not square.

    See Also
    --------
    svdvals, eigh, pinv

    Notes
    -----
    Equal singular values are treated as staying equal in the gradient, which is right for functions that do not depend
    on the choice of vectors among them.

    Examples
    --------
    >>> a = mx.array([[3.0, 1.0], [4.0, 2.0], [0.0, 5.0]])
    >>> U, S, Vh = mx.linalg.svd(a, full_matrices=False)
    >>> U.shape, S.shape, Vh.shape
    ((3, 2), (2,), (2, 2))
    >>> mx.allclose((U * S) @ Vh, a, atol=1e-5).item()
    True
    """


def svdvals(a: _Operand, *, stream: _StreamOrDevice = None) -> array:
    """Singular values of matrices in descending order.

    Parameters
    ----------
    a : array_like
        Matrices of shape ``(..., m, n)``. Integers and bool are computed in float32.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Real, of shape ``(..., min(m, n))``.

    Raises
    ------
    ValueError
        If `a` has fewer than two axes.

    See Also
    --------
    svd, matrix_rank

    Examples
    --------
    >>> mx.linalg.svdvals(mx.array([[3.0, 0.0], [0.0, -4.0]]))
    array([4, 3], dtype=float32)
    """


def tensordot(
    a: _Operand,
    b: _Operand,
    /,
    axes: int | Sequence[Sequence[int]] = 2,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Sum of products over pairs of axes of `a` and `b`.

    Parameters
    ----------
    a, b : array_like
        Arrays whose summed axes have equal lengths.
    axes : int or pair of sequences of int, optional
        An integer `n` pairs the last `n` axes of `a` with the first `n` of `b`. Two sequences pair ``axes[0][i]`` of
        `a` with ``axes[1][i]`` of `b`. Default: 2.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        The other axes of `a`, then those of `b`, in the promoted dtype.

    Raises
    ------
    ValueError
        If the axes differ in number or length, an axis is given twice, `axes` is negative or larger than the number of
        axes.
    IndexError
        If an axis is out of bounds.

    See Also
    --------
    einsum, dot, inner, outer

    Examples
    --------
    >>> mx.tensordot(mx.ones((2, 3, 4)), mx.ones((4, 3, 5)), axes=([1, 2], [1, 0])).shape
    (2, 5)
    >>> mx.tensordot(mx.array([1, 2]), mx.array([1, 10]), axes=0)
    array([[1, 10],
           [2, 20]], dtype=int32)
    """


def trace(
    x: _Operand,
    /,
    *,
    offset: int = 0,
    dtype: _DType = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Sum of the diagonal of the matrices along the last two axes.

    Parameters
    ----------
    x : array_like
        Matrices of shape ``(..., m, n)``, of any dtype.
    offset : int, optional
        Diagonal above (positive) or below (negative) the main one. Default: 0.
    dtype : Dtype, optional
        Dtype of the sum. Default: as in `sum`, which widens small integers and bool to 32 bits.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape ``(...)``.

    Raises
    ------
    ValueError
        If `x` has fewer than two axes.

    See Also
    --------
    diagonal, sum

    Examples
    --------
    >>> mx.linalg.trace(mx.array([[1, 2], [3, 4]]))
    array(5, dtype=int32)
    """


def tri_inv(a: _Operand, upper: bool = False, *, stream: _StreamOrDevice = None) -> array:
    """Inverse of triangular matrices.

    Parameters
    ----------
    a : array_like
        Triangular matrices of shape ``(..., n, n)``, of which only one triangle is read. Integers and bool are computed
        in float32.
    upper : bool, optional
        Read the upper triangle. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Triangular matrices of the shape of `a`.

    Raises
    ------
    ValueError
        If `a` does not hold square matrices.
    RuntimeError
        When evaluated, if the diagonal has a zero.

    See Also
    --------
    inv, solve_triangular

    Examples
    --------
    >>> mx.linalg.tri_inv(mx.array([[2.0, 99.0], [1.0, 4.0]]))  # 99 is not read
    array([[0.5, 0],
           [-0.125, 0.25]], dtype=float32)
    """


def vecdot(
    a: _Operand,
    b: _Operand,
    /,
    *,
    axis: int = ...,
    stream: _StreamOrDevice = None,
) -> array:
    """Dot product of vectors along an axis: sum of ``conj(a) * b`` over `axis`.

    Parameters
    ----------
    a, b : array_like
        Arrays with equal lengths along `axis`; other axes broadcast.
    axis : int, optional
        Axis to sum over. A negative axis counts from the end of either array. Default: -1.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        The broadcast shape without `axis`, in the promoted dtype.

    Raises
    ------
    ValueError
        If the shapes do not broadcast.
    IndexError
        If `axis` is out of bounds.

    See Also
    --------
    vdot, inner

    Examples
    --------
    >>> mx.vecdot(mx.array([[1, 2], [3, 4]]), mx.array([1, 1]))
    array([3, 7], dtype=int32)
    """


def vector_norm(
    x: _Operand,
    /,
    *,
    axis: _Axes | None = None,
    keepdims: bool = False,
    ord: float = 2.0,
    stream: _StreamOrDevice = None,
) -> array:
    """Norm of vectors along one axis, several axes together, or all axes.

    Parameters
    ----------
    x : array_like
        Real or complex input. Integers and bool are computed in float32.
    axis : int or sequence of int, optional
        Axes of the vectors. Default: all axes.
    keepdims : bool, optional
        Keep the reduced axes with length 1. Default: False.
    ord : float, optional
        Order `p` of the norm. Default: 2.0.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Real: ``sum(abs(x)**p)**(1/p)``, the maximum of ``abs(x)`` for inf, its minimum for -inf, and the number of
        non-zero elements for 0.

    Raises
    ------
    ValueError
        If the axes of a maximum or minimum are empty.
    TypeError
        If `ord` is not a number.
    IndexError
        If an axis is out of bounds.

    See Also
    --------
    norm, matrix_norm

    Notes
    -----
    Intermediate results do not overflow where the norm is representable. The gradient of a vector norm at zero is zero;
    elements that tie for a maximum or minimum share its gradient.

    Examples
    --------
    >>> mx.linalg.vector_norm(mx.array([[3.0, -4.0], [0.0, 1e30]]), axis=1)
    array([5, 1e+30], dtype=float32)
    """
