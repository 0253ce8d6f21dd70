//! Bandwidth of reductions, arg-reductions, norms and softmax, in L2 and in memory.
//!
//! `cargo bench -p umber-kernels --bench reductions [FILTER]`

mod common;

use common::{Operand, SIDES, Work, case};
use num_traits::FromPrimitive;
use umber_kernels::{arg_reduce, layer_norm, logsumexp, reduce, rms_norm, softmax};
use umber_types::{ArgReduceKind, DType, Element, ReduceKind, bf16};

/// Reductions of a square matrix over all elements, over rows and over columns: axes and shape of the result.
fn directions(side: usize) -> [(&'static str, Vec<usize>, Vec<usize>); 3] {
    [("all", vec![0, 1], vec![]), ("rows", vec![1], vec![side]), ("columns", vec![0], vec![side])]
}

fn reductions<T: Element + FromPrimitive>(kind: ReduceKind, side: usize) {
    let src = Operand::<T>::values(&[side, side]);
    for (direction, axes, result_shape) in directions(side) {
        let mut dst = Operand::<T>::zeros(&result_shape);
        let name = format!("{}/{}/{direction}/{side}", kind.name(), T::DTYPE);
        case(&name, Work::Bytes(src.bytes()), || reduce(kind, src.view(), &axes, dst.view_mut()));
    }
}

fn arg_reductions(side: usize) {
    let src = Operand::<f32>::values(&[side, side]);
    let mut dst = Operand::<u32>::zeros(&[side]);
    for (direction, axis) in [("rows", 1), ("columns", 0)] {
        let name = format!("argmax/{}/{direction}/{side}", DType::Float32);
        case(&name, Work::Bytes(src.bytes()), || {
            arg_reduce(ArgReduceKind::ArgMax, src.view(), axis, dst.view_mut());
        });
    }
}

/// Functions of each row.
fn rows<T: Element + FromPrimitive>(side: usize) {
    let src = Operand::<T>::values(&[side, side]);
    let mut dst = Operand::<T>::zeros(&[side, side]);
    let mut sums = Operand::<T>::zeros(&[side]);
    let (weight, bias) = (Operand::<T>::values(&[side]), Operand::<T>::values(&[side]));
    let both = Work::Bytes(src.bytes() + dst.bytes());
    let name = |function: &str| format!("{function}/{}/{side}", T::DTYPE);
    case(&name("softmax"), both, || softmax(src.view(), dst.view_mut()));
    case(&name("logsumexp"), Work::Bytes(src.bytes()), || logsumexp(src.view(), sums.view_mut()));
    case(&name("layer_norm"), both, || {
        layer_norm(src.view(), Some(weight.view()), Some(bias.view()), 1e-5, dst.view_mut());
    });
    case(&name("rms_norm"), both, || rms_norm(src.view(), Some(weight.view()), 1e-5, dst.view_mut()));
}

fn main() {
    for side in SIDES {
        for kind in [ReduceKind::Sum, ReduceKind::Max] {
            reductions::<f32>(kind, side);
        }
        reductions::<bf16>(ReduceKind::Sum, side);
        reductions::<i32>(ReduceKind::Sum, side);
        arg_reductions(side);
        rows::<f32>(side);
        rows::<bf16>(side);
    }
}
