//! Eigenvalues and eigenvectors of square matrices.

use faer::diag::DiagMut;
use faer::linalg::evd::{ComputeEigenvectors, evd_cplx, evd_real, evd_scratch};
use faer::{MatMut, MatRef, Par, Spec};
use num_traits::{Float, Zero};
use umber_types::{Complex, Complex32, Complex64, DType, Element};

use super::Failure;
use super::batch::{Matrices, Results, Workspace, cost, filled, for_each_matrix};
use super::field::{Field, all_finite, scale_to_unit};
use super::inverse_iteration::Hessenberg;
use umber_kernels_base::{View, ViewMut};

/// The eigenvalues of each matrix, and optionally a matrix with the eigenvectors as columns, of length one and with a real
/// maximum element. Results are complex. Matrices with infinities or NaN have NaN everywhere.
///
/// # Panics
/// If matrices are not square, or dtypes and shapes do not fit together.
pub fn eig(a: View, values: &ViewMut, vectors: Option<&ViewMut>) -> Result<(), Failure> {
    match a.dtype() {
        DType::Float32 => factor::<f32, f32>(a, values, vectors),
        DType::Float64 => factor::<f64, f64>(a, values, vectors),
        DType::Complex64 => factor::<Complex32, f32>(a, values, vectors),
        DType::Complex128 => factor::<Complex64, f64>(a, values, vectors),
        other => panic!("matrices of {other}"),
    }
}

/// Element types whose matrices have eigenvalues in `Complex<R>`.
trait Eigen<R>: Field<Magnitude = R> {
    /// Compute eigenvalues, and eigenvectors if `has_vectors`; returns whether the iteration converged.
    fn decompose(scratch: &mut Scratch<Self, R>, n: usize, has_vectors: bool) -> bool
    where
        Self: Sized;
    /// Convert to complex128.
    fn to_complex64(self) -> Complex64;
}

struct Scratch<T, R> {
    matrix: Vec<T>,
    /// Real and imaginary parts of the eigenvalues of real matrices.
    parts: [Vec<T>; 2],
    basis: Vec<T>,
    values: Vec<Complex<R>>,
    vectors: Vec<Complex<R>>,
    workspace: Workspace,
}

fn factor<T: Eigen<R>, R>(a: View, values: &ViewMut, vectors: Option<&ViewMut>) -> Result<(), Failure>
where
    R: Field<Magnitude = R> + Float,
    Complex<R>: Field<Magnitude = R> + Element,
{
    let from = Matrices::<T>::of(a);
    let n = from.rows();
    if n == 0 {
        return Ok(());
    }
    let values = Results::<Complex<R>>::of(values, 1);
    let to = vectors.map(|vectors| Results::<Complex<R>>::of(vectors, 2));
    let size = if to.is_some() { n * n } else { 0 };
    let scratch = || {
        let right = if to.is_some() { ComputeEigenvectors::Yes } else { ComputeEigenvectors::No };
        let need = evd_scratch::<T>(n, ComputeEigenvectors::No, right, Par::Seq, Spec::default());
        Ok(Scratch {
            matrix: filled(T::zero(), n * n)?,
            parts: [filled(T::zero(), n)?, filled(T::zero(), n)?],
            basis: filled(T::zero(), size)?,
            values: filled(Complex::<R>::of_real(R::zero()), n)?,
            vectors: filled(Complex::<R>::of_real(R::zero()), size)?,
            workspace: Workspace::new(need)?,
        })
    };
    for_each_matrix(from.count(), cost(n, n, n).saturating_mul(16), scratch, |index, scratch| {
        from.load(index, &mut scratch.matrix);
        let mut scale = R::one();
        let done = if all_finite(&scratch.matrix) {
            // Without scaling, elements much smaller than one would count as zero.
            scale = scale_to_unit(&mut scratch.matrix);
            T::decompose(scratch, n, to.is_some()) && (to.is_none() || recompute_invalid_vectors(scratch, n))
        } else {
            let nan = <R as Float>::nan();
            scratch.values.fill(Complex::new(nan, nan));
            scratch.vectors.fill(Complex::new(nan, nan));
            true
        };
        values.write(index, |out| {
            for (value, eigenvalue) in out.iter_mut().zip(&scratch.values) {
                *value = Complex::new(eigenvalue.re * scale, eigenvalue.im * scale);
            }
        });
        if let Some(to) = to {
            for vector in scratch.vectors.chunks_exact_mut(n) {
                normalize(vector);
            }
            to.store(index, &scratch.vectors, n, n);
        }
        done
    })
}

/// Recompute eigenvectors that overflowed, and those that are zero (one of a pair that belongs to a double real eigenvalue).
/// Returns false if there is not enough memory.
fn recompute_invalid_vectors<T: Eigen<R>, R: Float>(scratch: &mut Scratch<T, R>, n: usize) -> bool
where
    Complex<R>: Field,
{
    let is_valid = |vector: &[Complex<R>]| all_finite(vector) && vector.iter().any(|x| !x.is_zero());
    if scratch.vectors.chunks_exact(n).all(is_valid) {
        return true;
    }
    let Ok(mut matrix) = Hessenberg::of(scratch.matrix.iter().map(|&element| element.to_complex64()), n)
    else {
        return false;
    };
    let Ok(mut eigenvector) = filled(Complex64::new(0.0, 0.0), n) else { return false };
    let wide = |part: R| part.to_f64().unwrap_or(f64::NAN);
    let narrow = |part: f64| R::from(part).unwrap_or_else(R::nan);
    let (mut previous_value, vectors) = (None, scratch.vectors.chunks_exact_mut(n));
    for (column, (vector, value)) in vectors.zip(&scratch.values).enumerate() {
        if !is_valid(vector) {
            let value = Complex64::new(wide(value.re), wide(value.im));
            if T::IS_REAL && previous_value == Some(value.conj()) {
                for element in &mut eigenvector {
                    *element = element.conj();
                }
            } else {
                matrix.eigenvector(value, column, wide(R::epsilon()), &mut eigenvector);
                previous_value = (value.im != 0.0).then_some(value);
            }
            vector
                .iter_mut()
                .zip(&eigenvector)
                .for_each(|(to, x)| *to = Complex::new(narrow(x.re), narrow(x.im)));
        }
    }
    true
}

/// Normalise to length one, with a real maximum element.
fn normalize<R: Float>(vector: &mut [Complex<R>]) {
    let mut max = Complex::new(R::zero(), R::zero());
    let size = |z: Complex<R>| z.re.hypot(z.im);
    for &element in &*vector {
        if size(element) > size(max) {
            max = element;
        }
    }
    let largest = size(max);
    if largest > R::zero() {
        let mut sum = R::zero();
        for element in &*vector {
            let ratio = size(*element) / largest;
            sum = sum + ratio * ratio;
        }
        let length = largest * sum.sqrt();
        // A real vector keeps its sign.
        let phase = if max.im == R::zero() {
            Complex::new(R::one(), R::zero())
        } else {
            Complex::new(max.re / largest, -(max.im / largest))
        };
        for element in vector {
            *element = Complex::new(element.re / length, element.im / length) * phase;
        }
    }
}

macro_rules! eigen {
    ($($real:ty),*) => {$(
        impl Eigen<$real> for $real {
            fn decompose(scratch: &mut Scratch<$real, $real>, n: usize, has_vectors: bool) -> bool {
                let [re, im] = &mut scratch.parts;
                let width = if has_vectors { n } else { 0 };
                let done = evd_real(
                    MatRef::from_column_major_slice(&scratch.matrix, n, n),
                    DiagMut::from_slice_mut(re),
                    DiagMut::from_slice_mut(im),
                    None,
                    has_vectors.then_some(MatMut::from_column_major_slice_mut(&mut scratch.basis, n, width)),
                    Par::Seq,
                    scratch.workspace.stack(),
                    Spec::default(),
                );
                unpack(scratch, n, has_vectors);
                done.is_ok()
            }

            fn to_complex64(self) -> Complex64 {
                Complex64::new(self.into(), 0.0)
            }
        }

        impl Eigen<$real> for Complex<$real> {
            fn decompose(scratch: &mut Scratch<Complex<$real>, $real>, n: usize, has_vectors: bool) -> bool {
                let width = if has_vectors { n } else { 0 };
                evd_cplx(
                    MatRef::from_column_major_slice(&scratch.matrix, n, n),
                    DiagMut::from_slice_mut(&mut scratch.values),
                    None,
                    has_vectors.then_some(MatMut::from_column_major_slice_mut(&mut scratch.vectors, n, width)),
                    Par::Seq,
                    scratch.workspace.stack(),
                    Spec::default(),
                )
                .is_ok()
            }

            fn to_complex64(self) -> Complex64 {
                Complex64::new(self.re.into(), self.im.into())
            }
        }
    )*};
}

eigen!(f32, f64);

/// Complex eigenvalues and eigenvectors of a real matrix. A conjugate pair shares two columns: the real and the imaginary
/// part of the first one's eigenvector.
fn unpack<R: Float>(scratch: &mut Scratch<R, R>, n: usize, has_vectors: bool) {
    let [re, im] = &scratch.parts;
    for (value, (&re, &im)) in scratch.values.iter_mut().zip(re.iter().zip(im)) {
        *value = Complex::new(re, im);
    }
    if !has_vectors {
        return;
    }
    let mut column = 0;
    while column < n {
        let is_pair = im[column] != R::zero() && column + 1 < n;
        for i in 0..n {
            let element = scratch.basis[column * n + i];
            if is_pair {
                let imaginary = scratch.basis[(column + 1) * n + i];
                scratch.vectors[column * n + i] = Complex::new(element, imaginary);
                scratch.vectors[(column + 1) * n + i] = Complex::new(element, -imaginary);
            } else {
                scratch.vectors[column * n + i] = Complex::new(element, R::zero());
            }
        }
        column += if is_pair { 2 } else { 1 };
    }
}
