//! `umber.core.linalg`: linear algebra on the last two axes.

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
/// A tuple of arrays whose parts have the array API standard's names.
type Named<'py> = PyResult<Bound<'py, PyAny>>;

fn triangle(upper: bool) -> Triangle {
    if upper { Triangle::Upper } else { Triangle::Lower }
}

/// Functions of one array that answer one.
macro_rules! of_matrices {
    ($($name:ident $doc:literal,)*) => {
        $(
            #[doc = $doc]
            #[pyfunction]
            #[pyo3(signature = (a, *, stream = None))]
            fn $name(a: Operand, stream: Option<StreamArg>) -> One {
                let a = a.alone();
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
    det "Determinants of square matrices; 0 for singular ones, whose gradient is that of the cofactors.",
    eigvals "Eigenvalues of square matrices, complex64 (complex128 of float64 and complex128), in no promised order.",
    expm "Matrix exponential of square matrices, by scaling and squaring with Padé approximants (Higham 2005).",
    inv "Inverses of square matrices. A singular matrix raises RuntimeError when evaluated.",
    svdvals "Singular values in descending order, real.",
}

/// Functions of one array that answer two.
macro_rules! pairs_of_matrices {
    ($($name:ident $class:literal $first:ident $second:ident $doc:literal,)*) => {
        $(
            #[doc = $doc]
            #[pyfunction]
            #[pyo3(signature = (a, *, stream = None))]
            fn $name(py: Python<'_>, a: Operand, stream: Option<StreamArg>) -> Named<'_> {
                static CLASS: NamedTuple = NamedTuple::new($class, &[stringify!($first), stringify!($second)]);
                let a = a.alone();
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
    eig "EigResult" eigenvalues eigenvectors "Eigenvalues and eigenvectors (one a column, of length one) of square matrices, complex64 (complex128 of float64 and complex128).",
    lu_factor "LUFactorResult" lu pivots "LU factors in one matrix, and the pivots (uint32): row i was exchanged with row pivots[i], one after the other.",
    slogdet "SlogdetResult" sign logabsdet "Sign and logarithm of the absolute value of determinants: (0, -inf) for singular matrices.",
}

/// Functions of one triangle of matrices.
macro_rules! of_triangles {
    ($($name:ident $doc:literal,)*) => {
        $(
            #[doc = $doc]
            #[pyfunction]
            #[pyo3(signature = (a, upper = false, *, stream = None))]
            fn $name(a: Operand, upper: bool, stream: Option<StreamArg>) -> One {
                let a = a.alone();
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
    cholesky "Cholesky factors of positive definite matrices of which one triangle is read: lower `L` with `a = L @ L.H`, or upper `U` with `a = U.H @ U`. A matrix that is not positive definite raises RuntimeError when evaluated.",
    cholesky_inv "Inverses of the matrices whose Cholesky factors are `a`.",
    tri_inv "Inverses of triangular matrices of which one triangle is read. A zero on the diagonal raises RuntimeError when evaluated.",
}

fn uplo(op: &str, name: &str) -> PyResult<Triangle> {
    match name {
        "L" | "l" => Ok(Triangle::Lower),
        "U" | "u" => Ok(Triangle::Upper),
        other => Err(PyValueError::new_err(format!("[linalg.{op}] got UPLO '{other}', expected 'L' or 'U'"))),
    }
}

/// Real eigenvalues in ascending order and orthonormal eigenvectors (one a column) of Hermitian matrices, of which the
/// lower ('L') or upper ('U') triangle is read.
#[pyfunction]
#[pyo3(signature = (a, UPLO = "L", *, stream = None))]
#[allow(non_snake_case, reason = "the public name")]
fn eigh<'py>(py: Python<'py>, a: Operand, UPLO: &str, stream: Option<StreamArg>) -> Named<'py> {
    static CLASS: NamedTuple = NamedTuple::new("EighResult", &["eigenvalues", "eigenvectors"]);
    let (a, triangle) = (a.alone(), uplo("eigh", UPLO)?);
    let (values, vectors) = record_on(stream, || linalg::eigh(&a, triangle))?;
    CLASS.of(py, [values, vectors].map(NewArray::from))
}

/// Real eigenvalues in ascending order of Hermitian matrices, of which the lower ('L') or upper ('U') triangle is read.
#[pyfunction]
#[pyo3(signature = (a, UPLO = "L", *, stream = None))]
#[allow(non_snake_case, reason = "the public name")]
fn eigvalsh(a: Operand, UPLO: &str, stream: Option<StreamArg>) -> One {
    let (a, triangle) = (a.alone(), uplo("eigvalsh", UPLO)?);
    record_on(stream, || linalg::eigvalsh(&a, triangle)).map(NewArray::from)
}

/// LU factors with partial pivoting: rows (uint32), `L` and `U` with `a = (L @ U)[rows]`.
#[pyfunction]
#[pyo3(signature = (a, *, stream = None))]
fn lu(a: Operand, stream: Option<StreamArg>) -> PyResult<(PyArray, PyArray, PyArray)> {
    let a = a.alone();
    let factors = record_on(stream, || linalg::lu(&a))?;
    Ok((factors.rows.into(), factors.lower.into(), factors.upper.into()))
}

/// QR factors: `Q` with orthonormal columns and upper triangular `R` with `a = Q @ R`. `Q` has min(m, n) columns in mode
/// 'reduced', m in mode 'complete'; mode 'r' gives `R` alone.
#[pyfunction]
#[pyo3(signature = (a, mode = "reduced", *, stream = None))]
fn qr<'py>(py: Python<'py>, a: Operand, mode: &str, stream: Option<StreamArg>) -> Named<'py> {
    static CLASS: NamedTuple = NamedTuple::new("QRResult", &["Q", "R"]);
    let a = a.alone();
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

/// Singular value decomposition: `U`, `S` (descending) and `Vh` with `a = U @ diag(S) @ Vh`, or `S` alone. `U` and `Vh`
/// are square, or have min(m, n) vectors each without `full_matrices`. Of `hermitian` matrices the lower triangle is read,
/// and `U` holds their eigenvectors.
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
    let a = a.alone();
    if !compute_uv {
        let of = if hermitian { linalg::svdvals_hermitian } else { linalg::svdvals };
        let values = record_on(stream, || of(&a))?;
        return Ok(NewArray::from(values).object(py)?.into_any());
    }
    let basis = if full_matrices { Basis::Complete } else { Basis::Reduced };
    let factors =
        record_on(stream, || if hermitian { linalg::svd_hermitian(&a) } else { linalg::svd(&a, basis) })?;
    CLASS.of(py, [factors.u, factors.values, factors.vh].map(NewArray::from))
}

/// The `x` with `a @ x = b`, for a vector `b` or matrices `[..., n, k]`; batch axes broadcast. A singular matrix raises
/// RuntimeError when evaluated.
#[pyfunction]
#[pyo3(signature = (a, b, *, stream = None))]
fn solve(a: Operand, b: Operand, stream: Option<StreamArg>) -> One {
    let (a, b) = Operand::pair(a, b)?;
    record_on(stream, || linalg::solve(&a, &b)).map(NewArray::from)
}

/// The `x` with `a @ x = b` for triangular `a`, of which one triangle is read. A zero on the diagonal raises RuntimeError
/// when evaluated.
#[pyfunction]
#[pyo3(signature = (a, b, *, upper = false, stream = None))]
fn solve_triangular(a: Operand, b: Operand, upper: bool, stream: Option<StreamArg>) -> One {
    let (a, b) = Operand::pair(a, b)?;
    record_on(stream, || linalg::solve_triangular(&a, &b, triangle(upper))).map(NewArray::from)
}

/// Moore-Penrose inverses. Singular values up to `rtol` (by default max(m, n) times the dtype's eps) times the greatest
/// count as zero; an array has one `rtol` for each matrix. `rcond` is another name for `rtol`. Of `hermitian` matrices the
/// lower triangle is read.
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
    let (a, rtol) = (a.alone(), rcond.or(rtol));
    if hermitian {
        let rtol = rtol.map(Operand::alone);
        return record_on(stream, || linalg::pinv_hermitian(&a, rtol.as_ref())).map(NewArray::from);
    }
    record_on(stream, || match rtol {
        None => linalg::pinv(&a, None),
        Some(Operand::Number(rtol)) => linalg::pinv(&a, Some(rtol.as_f64())),
        Some(Operand::Array(rtol)) => linalg::pinv_within(&a, &rtol),
    })
    .map(NewArray::from)
}

/// Numbers of singular values above `tol`, or above `rtol` (by default max(m, n) times the dtype's eps) times the
/// greatest, as int32; an array has one for each matrix. Of `hermitian` matrices the lower triangle is read.
#[pyfunction]
#[pyo3(signature = (a, tol = None, hermitian = false, *, rtol = None, stream = None))]
fn matrix_rank(
    a: Operand,
    tol: Option<Operand>,
    hermitian: bool,
    rtol: Option<Operand>,
    stream: Option<StreamArg>,
) -> One {
    let (a, tol, rtol) = (a.alone(), tol.map(Operand::alone), rtol.map(Operand::alone));
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

/// Least squares: the shortest `x` that makes `|b - a @ x|` least, the squares of that for each right side, the ranks
/// (int32) and the singular values of `a`. Those up to `rcond` times the greatest count as zero.
///
/// As NumPy's, the squares of one matrix are none unless it has more rows than columns and full rank, for which it is
/// evaluated.
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
    let found = compute(py, stream, || linalg::lstsq(&a, &b, rcond))?;
    Ok((found.solution.into(), found.residuals.into(), found.rank.into(), found.values.into()))
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
