//! `umber.core.linalg`: linear algebra on the last two axes.
//!
//! One subject: one binding per decomposition or solver; most lines are their documentation.

mod norms;
mod products;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use umber_core::ops::linalg::{self, Basis, Symmetry, Threshold, Triangle};

use crate::args::{Operand, StreamArg, compute, record_on};
use crate::array::PyArray;
use crate::named_tuple::NamedTuple;
use crate::new_array::NewArray;

/// One array.
type One = PyResult<NewArray>;
/// A named tuple of arrays, with the names of the array API standard.
type Named<'py> = PyResult<Bound<'py, PyAny>>;

fn triangle(upper: bool) -> Triangle {
    if upper { Triangle::Upper } else { Triangle::Lower }
}

/// Functions of matrices that return one array.
macro_rules! of_matrices {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        $(
            $(#[$doc])*
            #[pyfunction]
            #[pyo3(signature = (a, *, stream = None))]
            fn $name(a: Operand, stream: Option<StreamArg>) -> One {
                let a = a.into_array();
                record_on(stream, || linalg::$name(&a)).map(NewArray::from)
            }
        )*

        fn register_of_matrices(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

of_matrices! {
    /// Determinant of square matrices.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Square matrices of shape ``(..., n, n)``. Integers and bool are computed in float32.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Shape ``(...)``; the dtype of `a`, float32 for integers. 0 for singular matrices, 1 for empty ones.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `a` does not hold square matrices.
    ///
    /// See Also
    /// --------
    /// slogdet, inv
    ///
    /// Notes
    /// -----
    /// The gradient of a singular matrix is the matrix of its cofactors. float16 and bfloat16 are computed in float32 and
    /// rounded at the end.
    ///
    /// Examples
    /// --------
    /// >>> mx.linalg.det(mx.array([[2.0, 1.0], [1.0, 3.0]]))
    /// array(5, dtype=float32)
    det,
    /// Complex eigenvalues of square matrices.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Square matrices of shape ``(..., n, n)``. Integers and bool are computed in float32.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Shape ``(..., n)``, in no particular order. complex128 for float64 and complex128 input, else complex64.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `a` does not hold square matrices.
    ///
    /// See Also
    /// --------
    /// eig, eigvalsh
    ///
    /// Examples
    /// --------
    /// >>> mx.linalg.eigvals(mx.array([[2.0, 1.0], [0.0, 3.0]]))
    /// array([2+0j, 3+0j], dtype=complex64)
    eigvals,
    /// Matrix exponential ``I + a + a @ a / 2! + ...`` of square matrices.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Square matrices of shape ``(..., n, n)``. Integers and bool are computed in float32.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Shape and floating dtype of `a`, float32 for integers.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `a` does not hold square matrices.
    ///
    /// See Also
    /// --------
    /// matrix_power
    ///
    /// Notes
    /// -----
    /// Scaling and squaring with Padé approximants (N. J. Higham, The Scaling and Squaring Method for the Matrix
    /// Exponential Revisited, 2005).
    ///
    /// Examples
    /// --------
    /// >>> mx.linalg.expm(mx.array([[0.0, 3.0], [0.0, 0.0]]))
    /// array([[1, 3],
    ///        [0, 1]], dtype=float32)
    expm,
    /// Inverse of square matrices.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Square matrices of shape ``(..., n, n)``. Integers and bool are computed in float32.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Shape and floating dtype of `a`, float32 for integers.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `a` does not hold square matrices.
    /// RuntimeError
    ///     When evaluated, if a matrix is singular.
    ///
    /// See Also
    /// --------
    /// pinv, solve, tri_inv
    ///
    /// Examples
    /// --------
    /// >>> mx.linalg.inv(mx.array([[2.0, 0.0], [0.0, 4.0]]))
    /// array([[0.5, 0],
    ///        [0, 0.25]], dtype=float32)
    inv,
    /// Singular values of matrices in descending order.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Matrices of shape ``(..., m, n)``. Integers and bool are computed in float32.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Real, of shape ``(..., min(m, n))``.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `a` has fewer than two axes.
    ///
    /// See Also
    /// --------
    /// svd, matrix_rank
    ///
    /// Examples
    /// --------
    /// >>> mx.linalg.svdvals(mx.array([[3.0, 0.0], [0.0, -4.0]]))
    /// array([4, 3], dtype=float32)
    svdvals,
}

/// Functions of matrices that return two arrays.
macro_rules! pairs_of_matrices {
    ($($(#[$doc:meta])* $name:ident $class:literal $first:ident $second:ident,)*) => {
        $(
            $(#[$doc])*
            #[pyfunction]
            #[pyo3(signature = (a, *, stream = None))]
            fn $name(py: Python<'_>, a: Operand, stream: Option<StreamArg>) -> Named<'_> {
                static CLASS: NamedTuple = NamedTuple::new($class, &[stringify!($first), stringify!($second)]);
                let a = a.into_array();
                let (first, second) = record_on(stream, || linalg::$name(&a))?;
                CLASS.of(py, [first, second].map(NewArray::from))
            }
        )*

        fn register_pairs_of_matrices(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

pairs_of_matrices! {
    /// Complex eigenvalues and eigenvectors of square matrices.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Square matrices of shape ``(..., n, n)``. Integers and bool are computed in float32.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// EigResult
    ///     Named tuple of `eigenvalues`, of shape ``(..., n)``, in no particular order, and `eigenvectors`, of shape
    ///     ``(..., n, n)``, one per column. complex128 for float64 and complex128 input, else complex64.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `a` does not hold square matrices.
    ///
    /// See Also
    /// --------
    /// eigh, eigvals
    ///
    /// Notes
    /// -----
    /// ``a @ eigenvectors == eigenvectors * eigenvalues[..., None, :]``. Eigenvectors have 2-norm 1 and a real element of
    /// largest magnitude. The gradient needs a basis of eigenvectors; equal eigenvalues are treated as staying equal in it.
    ///
    /// Examples
    /// --------
    /// >>> values, vectors = mx.linalg.eig(mx.array([[0.0, -1.0], [1.0, 0.0]]))
    /// >>> values
    /// array([0+1j, 0-1j], dtype=complex64)
    eig "EigResult" eigenvalues eigenvectors,
    /// LU factorisation with partial pivoting, both factors in one matrix.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Matrices of shape ``(..., m, n)``. Integers and bool are computed in float32.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// LUFactorResult
    ///     Named tuple of `lu`, of shape ``(..., m, n)``, and `pivots`, uint32 of shape ``(..., min(m, n))``.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `a` has fewer than two axes.
    ///
    /// See Also
    /// --------
    /// lu, solve
    ///
    /// Notes
    /// -----
    /// `lu` holds the upper factor on and above the diagonal, and the unit lower factor below it. Row `i` was exchanged
    /// with row ``pivots[i]``, for `i` in ascending order.
    ///
    /// Examples
    /// --------
    /// >>> mx.linalg.lu_factor(mx.array([[2.0, 1.0], [4.0, 4.0]]))
    /// LUFactorResult(lu=array([[4, 4],
    ///        [0.5, -1]], dtype=float32), pivots=array([1, 1], dtype=uint32))
    lu_factor "LUFactorResult" lu pivots,
    /// Sign and logarithm of the absolute value of the determinant of square matrices.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Square matrices of shape ``(..., n, n)``. Integers and bool are computed in float32.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// SlogdetResult
    ///     Named tuple of `sign` and `logabsdet`, both of shape ``(...)``, with ``det(a) == sign * exp(logabsdet)``. The
    ///     sign of a complex determinant is a complex number of absolute value 1; the logarithm is real.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `a` does not hold square matrices.
    ///
    /// See Also
    /// --------
    /// det
    ///
    /// Notes
    /// -----
    /// Does not overflow where the determinant would. Singular matrices give ``(0, -inf)`` and have no gradient.
    ///
    /// Examples
    /// --------
    /// >>> mx.linalg.slogdet(mx.array([[-3.0, 0.0], [0.0, 2.0]]))
    /// SlogdetResult(sign=array(-1, dtype=float32), logabsdet=array(1.79176, dtype=float32))
    slogdet "SlogdetResult" sign logabsdet,
}

/// Functions that read one triangle of matrices.
macro_rules! of_triangles {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        $(
            $(#[$doc])*
            #[pyfunction]
            #[pyo3(signature = (a, upper = false, *, stream = None))]
            fn $name(a: Operand, upper: bool, stream: Option<StreamArg>) -> One {
                let a = a.into_array();
                record_on(stream, || linalg::$name(&a, triangle(upper))).map(NewArray::from)
            }
        )*

        fn register_of_triangles(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

of_triangles! {
    /// Cholesky factor of Hermitian positive definite matrices.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Hermitian positive definite matrices of shape ``(..., n, n)``, of which only one triangle is read. Integers and
    ///     bool are computed in float32.
    /// upper : bool, optional
    ///     Read the upper triangle and return the upper factor. Default: False.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Lower triangular `L` with ``a == L @ L.H``, or upper triangular `U` with ``a == U.H @ U``, where `H` is the
    ///     conjugate transpose.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `a` does not hold square matrices.
    /// RuntimeError
    ///     When evaluated, if a matrix is not positive definite.
    ///
    /// See Also
    /// --------
    /// cholesky_inv, solve_triangular
    ///
    /// Notes
    /// -----
    /// The gradient is Hermitian: that of a function of Hermitian matrices.
    ///
    /// Examples
    /// --------
    /// >>> mx.linalg.cholesky(mx.array([[4.0, 2.0], [2.0, 5.0]]))
    /// array([[2, 0],
    ///        [1, 2]], dtype=float32)
    cholesky,
    /// Inverse of the matrices whose Cholesky factor is given.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Cholesky factors of shape ``(..., n, n)``, of which only one triangle is read. Integers and bool are computed in
    ///     float32.
    /// upper : bool, optional
    ///     `a` is the upper factor. Default: False.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Inverse of ``a @ a.H``, or of ``a.H @ a`` with ``upper=True``, where `H` is the conjugate transpose.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `a` does not hold square matrices.
    /// RuntimeError
    ///     When evaluated, if the diagonal has a zero.
    ///
    /// See Also
    /// --------
    /// cholesky, inv
    ///
    /// Examples
    /// --------
    /// >>> mx.linalg.cholesky_inv(mx.array([[2.0, 0.0], [1.0, 2.0]]))
    /// array([[0.3125, -0.125],
    ///        [-0.125, 0.25]], dtype=float32)
    cholesky_inv,
    /// Inverse of triangular matrices.
    ///
    /// Parameters
    /// ----------
    /// a : array_like
    ///     Triangular matrices of shape ``(..., n, n)``, of which only one triangle is read. Integers and bool are computed
    ///     in float32.
    /// upper : bool, optional
    ///     Read the upper triangle. Default: False.
    /// stream : Stream or Device, optional
    ///     Where the operation runs. Default: the default stream of the default device.
    ///
    /// Returns
    /// -------
    /// array
    ///     Triangular matrices of the shape of `a`.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If `a` does not hold square matrices.
    /// RuntimeError
    ///     When evaluated, if the diagonal has a zero.
    ///
    /// See Also
    /// --------
    /// inv, solve_triangular
    ///
    /// Examples
    /// --------
    /// >>> mx.linalg.tri_inv(mx.array([[2.0, 99.0], [1.0, 4.0]]))  # 99 is not read
    /// array([[0.5, 0],
    ///        [-0.125, 0.25]], dtype=float32)
    tri_inv,
}

fn uplo(op: &str, name: &str) -> PyResult<Triangle> {
    match name {
        "L" | "l" => Ok(Triangle::Lower),
        "U" | "u" => Ok(Triangle::Upper),
        other => Err(PyValueError::new_err(format!("[linalg.{op}] got UPLO '{other}', expected 'L' or 'U'"))),
    }
}

/// Real eigenvalues and orthonormal eigenvectors of Hermitian matrices.
///
/// Parameters
/// ----------
/// a : array_like
///     Hermitian matrices of shape ``(..., n, n)``, of which only one triangle is read. Integers and bool are computed
///     in float32.
/// UPLO : {'L', 'U'}, optional
///     Triangle that is read, lower or upper. Default: 'L'.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// EighResult
///     Named tuple of real `eigenvalues` in ascending order, of shape ``(..., n)``, and `eigenvectors`, of shape
///     ``(..., n, n)``, one per column.
///
/// Raises
/// ------
/// ValueError
///     If `a` does not hold square matrices or `UPLO` is unknown.
///
/// See Also
/// --------
/// eigvalsh, eig, svd
///
/// Notes
/// -----
/// ``a @ eigenvectors == eigenvectors * eigenvalues[..., None, :]``. The gradient is Hermitian. Equal eigenvalues are
/// treated as staying equal in the gradient, which is right for functions that do not depend on the choice of vectors
/// among them.
///
/// Examples
/// --------
/// >>> values, vectors = mx.linalg.eigh(mx.array([[2.0, 1.0], [1.0, 2.0]]))
/// >>> values
/// array([1, 3], dtype=float32)
/// >>> mx.abs(vectors)
/// array([[0.707107, 0.707107],
///        [0.707107, 0.707107]], dtype=float32)
#[pyfunction]
#[pyo3(signature = (a, UPLO = "L", *, stream = None))]
#[allow(non_snake_case, reason = "the public name")]
fn eigh<'py>(py: Python<'py>, a: Operand, UPLO: &str, stream: Option<StreamArg>) -> Named<'py> {
    static CLASS: NamedTuple = NamedTuple::new("EighResult", &["eigenvalues", "eigenvectors"]);
    let (a, triangle) = (a.into_array(), uplo("eigh", UPLO)?);
    let (values, vectors) = record_on(stream, || linalg::eigh(&a, triangle))?;
    CLASS.of(py, [values, vectors].map(NewArray::from))
}

/// Real eigenvalues of Hermitian matrices in ascending order.
///
/// Parameters
/// ----------
/// a : array_like
///     Hermitian matrices of shape ``(..., n, n)``, of which only one triangle is read. Integers and bool are computed
///     in float32.
/// UPLO : {'L', 'U'}, optional
///     Triangle that is read, lower or upper. Default: 'L'.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Real, of shape ``(..., n)``.
///
/// Raises
/// ------
/// ValueError
///     If `a` does not hold square matrices or `UPLO` is unknown.
///
/// See Also
/// --------
/// eigh, eigvals
///
/// Examples
/// --------
/// >>> mx.linalg.eigvalsh(mx.array([[2.0, 99.0], [1.0, 2.0]]))  # 99 is not read
/// array([1, 3], dtype=float32)
#[pyfunction]
#[pyo3(signature = (a, UPLO = "L", *, stream = None))]
#[allow(non_snake_case, reason = "the public name")]
fn eigvalsh(a: Operand, UPLO: &str, stream: Option<StreamArg>) -> One {
    let (a, triangle) = (a.into_array(), uplo("eigvalsh", UPLO)?);
    record_on(stream, || linalg::eigvalsh(&a, triangle)).map(NewArray::from)
}

/// LU factorisation with partial pivoting: ``a == (L @ U)[rows]``.
///
/// Parameters
/// ----------
/// a : array_like
///     Matrices of shape ``(..., m, n)``. Integers and bool are computed in float32.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// tuple of array
///     `rows`, uint32 of shape ``(..., m)``; unit lower triangular `L` of shape ``(..., m, min(m, n))``; upper
///     triangular `U` of shape ``(..., min(m, n), n)``.
///
/// Raises
/// ------
/// ValueError
///     If `a` has fewer than two axes.
///
/// See Also
/// --------
/// lu_factor, qr
///
/// Notes
/// -----
/// Singular matrices have factors, too.
///
/// Examples
/// --------
/// >>> rows, lower, upper = mx.linalg.lu(mx.array([[0.0, 1.0], [2.0, 4.0]]))
/// >>> rows
/// array([1, 0], dtype=uint32)
/// >>> (lower @ upper)[rows]
/// array([[0, 1],
///        [2, 4]], dtype=float32)
#[pyfunction]
#[pyo3(signature = (a, *, stream = None))]
fn lu(a: Operand, stream: Option<StreamArg>) -> PyResult<(PyArray, PyArray, PyArray)> {
    let a = a.into_array();
    let factors = record_on(stream, || linalg::lu(&a))?;
    Ok((factors.rows.into(), factors.lower.into(), factors.upper.into()))
}

/// QR factorisation ``a == Q @ R``: orthonormal columns and an upper triangular matrix.
///
/// Parameters
/// ----------
/// a : array_like
///     Matrices of shape ``(..., m, n)``. Integers and bool are computed in float32.
/// mode : {'reduced', 'complete', 'r'}, optional
///     'reduced' gives `Q` ``min(m, n)`` columns, 'complete' `m` columns; 'r' returns only the reduced `R`. Default:
///     'reduced'.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// QRResult or array
///     Named tuple of `Q` and `R`; the array `R` in mode 'r'.
///
/// Raises
/// ------
/// ValueError
///     If `a` has fewer than two axes or `mode` is unknown.
///
/// See Also
/// --------
/// svd, lu
///
/// Notes
/// -----
/// The diagonal of `R` is real; its sign is not normalised. The gradient needs the first ``min(m, n)`` columns of `a`
/// to be linearly independent.
///
/// Examples
/// --------
/// >>> mx.linalg.qr(mx.array([[3.0, 1.0], [4.0, 2.0]]), mode="r")
/// array([[-5, -2.2],
///        [0, 0.4]], dtype=float32)
#[pyfunction]
#[pyo3(signature = (a, mode = "reduced", *, stream = None))]
fn qr<'py>(py: Python<'py>, a: Operand, mode: &str, stream: Option<StreamArg>) -> Named<'py> {
    static CLASS: NamedTuple = NamedTuple::new("QRResult", &["Q", "R"]);
    let a = a.into_array();
    let basis = match mode {
        "reduced" | "r" => Basis::Reduced,
        "complete" => Basis::Complete,
        other => {
            return Err(PyValueError::new_err(format!(
                "[linalg.qr] got mode '{other}', expected 'reduced', 'complete' or 'r'"
            )));
        }
    };
    let (q, r) = record_on(stream, || linalg::qr(&a, basis))?;
    if mode == "r" {
        return Ok(NewArray::from(r).object(py)?.into_any());
    }
    CLASS.of(py, [q, r].map(NewArray::from))
}

/// Singular value decomposition ``a == U @ diag(S) @ Vh``.
///
/// Parameters
/// ----------
/// a : array_like
///     Matrices of shape ``(..., m, n)``. Integers and bool are computed in float32.
/// compute_uv : bool, optional
///     Compute `U` and `Vh`, else only `S`. Default: True.
/// full_matrices : bool, optional
///     Return square `U` and `Vh`, else ``min(m, n)`` vectors of each. Default: True.
/// hermitian : bool, optional
///     Take `a` as Hermitian and read only its lower triangle. `U` then holds eigenvectors. Default: False.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// SVDResult or array
///     Named tuple of `U`, with one left singular vector per column; `S`, real and in descending order, of shape
///     ``(..., min(m, n))``; and `Vh`, with one conjugated right singular vector per row. Only the array `S` without
///     `compute_uv`.
///
/// Raises
/// ------
/// ValueError
///     If `a` has fewer than two axes, or `hermitian` is True and the matrices are not square.
///
/// See Also
/// --------
/// svdvals, eigh, pinv
///
/// Notes
/// -----
/// Equal singular values are treated as staying equal in the gradient, which is right for functions that do not depend
/// on the choice of vectors among them.
///
/// Examples
/// --------
/// >>> a = mx.array([[3.0, 1.0], [4.0, 2.0], [0.0, 5.0]])
/// >>> U, S, Vh = mx.linalg.svd(a, full_matrices=False)
/// >>> U.shape, S.shape, Vh.shape
/// ((3, 2), (2,), (2, 2))
/// >>> mx.allclose((U * S) @ Vh, a, atol=1e-5).item()
/// True
#[pyfunction]
#[pyo3(signature = (a, compute_uv = true, full_matrices = true, *, hermitian = false, stream = None))]
fn svd(
    py: Python<'_>,
    a: Operand,
    compute_uv: bool,
    full_matrices: bool,
    hermitian: bool,
    stream: Option<StreamArg>,
) -> Named<'_> {
    static CLASS: NamedTuple = NamedTuple::new("SVDResult", &["U", "S", "Vh"]);
    let a = a.into_array();
    if !compute_uv {
        let svdvals = if hermitian { linalg::svdvals_hermitian } else { linalg::svdvals };
        let values = record_on(stream, || svdvals(&a))?;
        return Ok(NewArray::from(values).object(py)?.into_any());
    }
    let basis = if full_matrices { Basis::Complete } else { Basis::Reduced };
    let factors =
        record_on(stream, || if hermitian { linalg::svd_hermitian(&a) } else { linalg::svd(&a, basis) })?;
    CLASS.of(py, [factors.u, factors.values, factors.vh].map(NewArray::from))
}

/// Solve the linear equations ``a @ x == b`` with square matrices `a`.
///
/// Parameters
/// ----------
/// a : array_like
///     Square matrices of shape ``(..., n, n)``. Integers and bool are computed in float32.
/// b : array_like
///     Vector of shape ``(n,)`` or matrices of shape ``(..., n, k)``. Batch axes broadcast.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     `x`, of the shape of `b` with the broadcast batch axes.
///
/// Raises
/// ------
/// ValueError
///     If the matrices are not square or `b` does not match.
/// RuntimeError
///     When evaluated, if a matrix is singular.
///
/// See Also
/// --------
/// solve_triangular, lstsq, inv
///
/// Examples
/// --------
/// >>> mx.linalg.solve(mx.array([[2.0, 0.0], [1.0, 4.0]]), mx.array([2.0, 9.0]))
/// array([1, 2], dtype=float32)
#[pyfunction]
#[pyo3(signature = (a, b, *, stream = None))]
fn solve(a: Operand, b: Operand, stream: Option<StreamArg>) -> One {
    let (a, b) = Operand::pair(a, b)?;
    record_on(stream, || linalg::solve(&a, &b)).map(NewArray::from)
}

/// Solve the linear equations ``a @ x == b`` with triangular matrices `a`.
///
/// Parameters
/// ----------
/// a : array_like
///     Triangular matrices of shape ``(..., n, n)``, of which only one triangle is read. Integers and bool are computed
///     in float32.
/// b : array_like
///     Vector of shape ``(n,)`` or matrices of shape ``(..., n, k)``. Batch axes broadcast.
/// upper : bool, optional
///     Read the upper triangle. Default: False.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     `x`, of the shape of `b` with the broadcast batch axes.
///
/// Raises
/// ------
/// ValueError
///     If the matrices are not square or `b` does not match.
/// RuntimeError
///     When evaluated, if the diagonal has a zero.
///
/// See Also
/// --------
/// solve, tri_inv
///
/// Examples
/// --------
/// >>> mx.linalg.solve_triangular(mx.array([[2.0, 99.0], [1.0, 4.0]]), mx.array([2.0, 9.0]))  # 99 is not read
/// array([1, 2], dtype=float32)
#[pyfunction]
#[pyo3(signature = (a, b, *, upper = false, stream = None))]
fn solve_triangular(a: Operand, b: Operand, upper: bool, stream: Option<StreamArg>) -> One {
    let (a, b) = Operand::pair(a, b)?;
    record_on(stream, || linalg::solve_triangular(&a, &b, triangle(upper))).map(NewArray::from)
}

/// Moore-Penrose pseudo-inverse of matrices.
///
/// Parameters
/// ----------
/// a : array_like
///     Matrices of shape ``(..., m, n)``. Integers and bool are computed in float32.
/// rcond : float or array_like, optional
///     Another name for `rtol`. Only one of them may be given.
/// hermitian : bool, optional
///     Take `a` as Hermitian and read only its lower triangle. Default: False.
/// rtol : float or array_like, optional
///     Singular values up to `rtol` times the largest count as zero. An array has one value per matrix. Default:
///     ``max(m, n)`` times the machine epsilon of the dtype.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Shape ``(..., n, m)``.
///
/// Raises
/// ------
/// ValueError
///     If `a` has fewer than two axes, `hermitian` is True and the matrices are not square, or both `rcond` and `rtol`
///     are given.
/// TypeError
///     If the tolerance is not real.
///
/// See Also
/// --------
/// inv, lstsq, matrix_rank
///
/// Notes
/// -----
/// The gradient is right where the rank does not change.
///
/// Examples
/// --------
/// >>> mx.linalg.pinv(mx.array([[3.0], [4.0]]))
/// array([[0.12, 0.16]], dtype=float32)
#[pyfunction]
#[pyo3(signature = (a, rcond = None, hermitian = false, *, rtol = None, stream = None))]
fn pinv(
    a: Operand,
    rcond: Option<Operand>,
    hermitian: bool,
    rtol: Option<Operand>,
    stream: Option<StreamArg>,
) -> One {
    if rcond.is_some() && rtol.is_some() {
        return Err(PyValueError::new_err(
            "[linalg.pinv] rcond and rtol are the same argument; pass only one",
        ));
    }
    let (a, rtol) = (a.into_array(), rcond.or(rtol));
    if hermitian {
        let rtol = rtol.map(Operand::into_array);
        return record_on(stream, || linalg::pinv_hermitian(&a, rtol.as_ref())).map(NewArray::from);
    }
    record_on(stream, || match rtol {
        None => linalg::pinv(&a, None),
        Some(Operand::Number(rtol)) => linalg::pinv(&a, Some(rtol.as_f64())),
        Some(Operand::Array(rtol)) => linalg::pinv_within(&a, &rtol),
    })
    .map(NewArray::from)
}

/// Rank of matrices: the number of singular values above a threshold.
///
/// Parameters
/// ----------
/// a : array_like
///     Matrices of shape ``(..., m, n)``. Integers and bool are computed in float32.
/// tol : float or array_like, optional
///     Absolute threshold. An array has one value per matrix. Only one of `tol` and `rtol` may be given.
/// hermitian : bool, optional
///     Take `a` as Hermitian and read only its lower triangle. Default: False.
/// rtol : float or array_like, optional
///     Threshold relative to the largest singular value. An array has one value per matrix. Default: ``max(m, n)``
///     times the machine epsilon of the dtype.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     int32 of shape ``(...)``.
///
/// Raises
/// ------
/// ValueError
///     If `a` has fewer than two axes, `hermitian` is True and the matrices are not square, or both `tol` and `rtol`
///     are given.
/// TypeError
///     If the threshold is not real.
///
/// See Also
/// --------
/// svdvals, pinv
///
/// Examples
/// --------
/// >>> mx.linalg.matrix_rank(mx.array([[1.0, 2.0], [2.0, 4.0]]))
/// array(1, dtype=int32)
#[pyfunction]
#[pyo3(signature = (a, tol = None, hermitian = false, *, rtol = None, stream = None))]
fn matrix_rank(
    a: Operand,
    tol: Option<Operand>,
    hermitian: bool,
    rtol: Option<Operand>,
    stream: Option<StreamArg>,
) -> One {
    let (a, tol, rtol) = (a.into_array(), tol.map(Operand::into_array), rtol.map(Operand::into_array));
    let threshold = match (&tol, &rtol) {
        (None, None) => Threshold::Rounding,
        (None, Some(rtol)) => Threshold::Relative(rtol),
        (Some(tol), None) => Threshold::Absolute(tol),
        (Some(_), Some(_)) => {
            return Err(PyValueError::new_err(
                "[linalg.matrix_rank] tol and rtol are the same argument; pass only one",
            ));
        }
    };
    let symmetry = if hermitian { Symmetry::Hermitian } else { Symmetry::General };
    record_on(stream, || linalg::matrix_rank_above(&a, threshold, symmetry)).map(NewArray::from)
}

/// Least-squares solution of linear equations: the `x` that minimises ``norm(b - a @ x)``.
///
/// Parameters
/// ----------
/// a : array_like
///     Matrices of shape ``(..., m, n)``. Integers and bool are computed in float32.
/// b : array_like
///     Vector of shape ``(m,)`` or matrices of shape ``(..., m, k)``.
/// rcond : float, optional
///     Singular values up to `rcond` times the largest count as zero. Default: ``max(m, n)`` times the machine epsilon
///     of the dtype.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// tuple of array
///     The solution `x`, of shape ``(..., n)`` or ``(..., n, k)``, that of minimum norm where there are several; the
///     squared norms of the residuals, one per right-hand side; the ranks as int32; the singular values of `a`.
///
/// Raises
/// ------
/// ValueError
///     If `a` has fewer than two axes or `b` does not match.
///
/// See Also
/// --------
/// solve, pinv
///
/// Notes
/// -----
/// As in NumPy, the residuals of a single matrix are empty unless it has more rows than columns and full rank. Such a
/// matrix is evaluated to find the rank; in `vmap` and `compile`, full rank is assumed.
///
/// Examples
/// --------
/// >>> a = mx.array([[1.0, 0.0], [1.0, 1.0], [1.0, 2.0]])  # a line at 0, 1 and 2
/// >>> x, residuals, rank, values = mx.linalg.lstsq(a, mx.array([1.0, 3.0, 5.0]))
/// >>> mx.allclose(x, mx.array([1.0, 2.0])).item(), rank
/// (True, array(2, dtype=int32))
#[pyfunction]
#[pyo3(signature = (a, b, rcond = None, *, stream = None))]
fn lstsq(
    py: Python<'_>,
    a: Operand,
    b: Operand,
    rcond: Option<f64>,
    stream: Option<StreamArg>,
) -> PyResult<(PyArray, PyArray, PyArray, PyArray)> {
    let (a, b) = Operand::pair(a, b)?;
    let result = compute(py, stream, || linalg::lstsq(&a, &b, rcond))?;
    Ok((result.solution.into(), result.residuals.into(), result.rank.into(), result.values.into()))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let linalg = PyModule::new(py, "linalg")?;
    linalg.setattr("__name__", "umber.core.linalg")?;
    linalg.setattr("__doc__", "Linear algebra on the matrices along the last two axes.")?;
    register_of_matrices(&linalg)?;
    register_pairs_of_matrices(&linalg)?;
    register_of_triangles(&linalg)?;
    for function in [
        wrap_pyfunction!(eigh, &linalg)?,
        wrap_pyfunction!(eigvalsh, &linalg)?,
        wrap_pyfunction!(lstsq, &linalg)?,
        wrap_pyfunction!(lu, &linalg)?,
        wrap_pyfunction!(matrix_rank, &linalg)?,
        wrap_pyfunction!(pinv, &linalg)?,
        wrap_pyfunction!(qr, &linalg)?,
        wrap_pyfunction!(solve, &linalg)?,
        wrap_pyfunction!(solve_triangular, &linalg)?,
        wrap_pyfunction!(svd, &linalg)?,
    ] {
        linalg.add_function(function)?;
    }
    norms::register(&linalg)?;
    products::register(&linalg, module)?;
    module.add("matrix_norm", linalg.getattr("norm")?)?;
    module.add("linalg", &linalg)?;
    py.import("sys")?.getattr("modules")?.set_item("umber.core.linalg", linalg)
}
