//! Bandwidth of copies, in L2 and in memory: contiguous, transposed, sliced, broadcast, concatenated and converted.
//!
//! `cargo bench -p umber-kernels --bench copies [FILTER]`

mod common;

use common::{Operand, SIDES, Work, case, dense};
use num_traits::FromPrimitive;
use umber_kernels::ViewMut;
use umber_kernels::tape::copy;
use umber_types::{Element, Layout, Shape, bf16};

/// Number of concatenated arrays.
const PARTS: usize = 4;

/// Copies that depend on the element size.
fn matrices<T: Element + FromPrimitive>(side: usize) {
    let src = Operand::<T>::values(&[side, side]);
    let mut dst = Operand::<T>::zeros(&[side, side]);
    let transposed = src.layout.permute(&[1, 0]);
    let work = Work::Bytes(src.bytes() + dst.bytes());
    let name = |what: &str| format!("{what}/{}/{side}", T::DTYPE);
    case(&name("copy"), work, || copy(src.view(), dst.view_mut()));
    case(&name("transpose"), work, || copy(src.under(&transposed), dst.view_mut()));
}

/// Copies of float32 with other layouts.
fn views(side: usize) {
    let src = Operand::<f32>::values(&[side, side]);
    let half = Shape::from([side, side / 2]);
    let image = dense(&[side / 64, 64, side / 16, 16]);
    let views: [(&str, Layout); 4] = [
        ("every other column", src.layout.slice(&[0, 0], &[1, 2], &half)),
        ("left half", src.layout.slice(&[0, 0], &[1, 1], &half)),
        ("row repeated", dense(&[side]).broadcast_to(&src.layout.shape)),
        ("channels last", image.permute(&[0, 2, 3, 1])),
    ];
    for (what, layout) in &views {
        let mut dst = Operand::<f32>::zeros(&layout.shape);
        // A broadcast row stays in L1.
        let read = if layout.is_overlapping() { 0 } else { dst.bytes() };
        case(&format!("{what}/{side}"), Work::Bytes(read + dst.bytes()), || {
            copy(src.under(layout), dst.view_mut());
        });
    }
}

/// Concatenation along an axis.
fn concatenated(side: usize) {
    for (axis, shape) in [(0, [side / PARTS, side]), (1, [side, side / PARTS])] {
        let parts: Vec<Operand<f32>> = (0..PARTS).map(|_| Operand::values(&shape)).collect();
        let mut dst = Operand::<f32>::zeros(&[side, side]);
        let targets: Vec<Layout> = (0..PARTS)
            .map(|part| {
                let mut start = [0, 0];
                start[axis] = part * shape[axis];
                dst.layout.slice(&start, &[1, 1], &Shape::from(shape))
            })
            .collect();
        case(&format!("concatenate/axis {axis}/{side}"), Work::Bytes(2 * dst.bytes()), || {
            for (part, target) in parts.iter().zip(&targets) {
                copy(part.view(), ViewMut::of(&mut dst.data, target));
            }
        });
    }
}

fn converted(side: usize) {
    let (wide, narrow) = (Operand::<f32>::values(&[side, side]), Operand::<bf16>::values(&[side, side]));
    let (mut to_wide, mut to_narrow) =
        (Operand::<f32>::zeros(&[side, side]), Operand::<bf16>::zeros(&[side, side]));
    let work = Work::Bytes(wide.bytes() + narrow.bytes());
    case(&format!("float32 to bfloat16/{side}"), work, || copy(wide.view(), to_narrow.view_mut()));
    case(&format!("bfloat16 to float32/{side}"), work, || copy(narrow.view(), to_wide.view_mut()));
}

fn main() {
    for side in SIDES {
        matrices::<i8>(side);
        matrices::<bf16>(side);
        matrices::<f32>(side);
        matrices::<f64>(side);
        views(side);
        concatenated(side);
        converted(side);
    }
}
