//! Floating-point operations per second of decompositions and solvers: for one matrix, and for stacks of small ones.
//!
//! `cargo bench -p umber-numerics --bench linalg [FILTER]`

#[path = "../../umber-kernels/benches/common/mod.rs"]
mod common;

use common::{Operand, Work, case};
use num_traits::FromPrimitive;
use umber_numerics::linalg::{Form, OnSingular, cholesky, eig, eigh, inverse, lu, qr, solve, svd};
use umber_types::{Complex32, Element};

/// `thirds / 3` times the cube of the side: counts of Golub and Van Loan, independent of the algorithm.
fn flops(thirds: usize, batch: usize, side: usize) -> Work {
    Work::Flops(batch * thirds * side * side * side / 3)
}

fn name<T: Element>(function: &str, batch: usize, side: usize) -> String {
    format!("{function}/{}/{batch} of {side}x{side}", T::DTYPE)
}

/// Gaussian elimination and Cholesky.
fn elimination<T: Element + FromPrimitive>(batch: usize, side: usize) {
    let square = [batch, side, side];
    let (a, b) = (Operand::<T>::values(&square), Operand::<T>::values(&[batch, side, 1]));
    let (mut x, mut out) = (Operand::<T>::zeros(&[batch, side, 1]), Operand::<T>::zeros(&square));
    let mut pivots = Operand::<u32>::zeros(&[batch, side]);
    let mut row_positions = Operand::<u32>::zeros(&[batch, side]);
    case(&name::<T>("lu", batch, side), flops(2, batch, side), || {
        lu(a.view(), &out.view_mut(), &pivots.view_mut(), &row_positions.view_mut())
            .expect("there is memory");
    });
    case(&name::<T>("solve", batch, side), flops(2, batch, side), || {
        solve(Form::General, a.view(), b.view(), &x.view_mut()).expect("the matrices are regular");
    });
    case(&name::<T>("inverse", batch, side), flops(6, batch, side), || {
        inverse(OnSingular::Fail, a.view(), &out.view_mut()).expect("matrices are regular");
    });
    let mut definite = a;
    for row in 0..batch * side {
        definite.data[row * side + row % side] = T::from_usize(side).expect("the side fits the type");
    }
    case(&name::<T>("cholesky", batch, side), flops(1, batch, side), || {
        cholesky(definite.view(), &out.view_mut()).expect("the matrices are diagonally dominant");
    });
}

/// Orthogonal decompositions.
fn rotations<T: Element + FromPrimitive>(batch: usize, side: usize) {
    let square = [batch, side, side];
    let a = Operand::<T>::values(&square);
    let mut values = Operand::<T>::zeros(&[batch, side]);
    let [mut left, mut right] = [(); 2].map(|()| Operand::<T>::zeros(&square));
    case(&name::<T>("qr", batch, side), flops(8, batch, side), || {
        qr(a.view(), &left.view_mut(), &right.view_mut()).expect("there is memory");
    });
    case(&name::<T>("eigh", batch, side), flops(27, batch, side), || {
        eigh(a.view(), &values.view_mut(), Some(&left.view_mut())).expect("there is memory");
    });
    case(&name::<T>("svd", batch, side), flops(63, batch, side), || {
        svd(a.view(), &values.view_mut(), Some([&left.view_mut(), &right.view_mut()]))
            .expect("there is memory");
    });
}

fn eigenvectors(batch: usize, side: usize) {
    let a = Operand::<f32>::values(&[batch, side, side]);
    let mut values = Operand::<Complex32>::zeros(&[batch, side]);
    let mut vectors = Operand::<Complex32>::zeros(&[batch, side, side]);
    case(&name::<f32>("eig", batch, side), flops(75, batch, side), || {
        eig(a.view(), &values.view_mut(), Some(&vectors.view_mut())).expect("there is memory");
    });
}

fn main() {
    for side in [64, 512, 1024] {
        elimination::<f32>(1, side);
    }
    elimination::<f64>(1, 512);
    // Stacks of 256 KB and of 64 MB.
    for batch in [1 << 8, 1 << 16] {
        elimination::<f32>(batch, 16);
    }
    for side in [64, 512] {
        rotations::<f32>(1, side);
    }
    rotations::<f64>(1, 512);
    rotations::<f32>(256, 16);
    eigenvectors(1, 64);
    eigenvectors(1, 256);
}
