//! Bandwidth of scans, in L2 and in memory.
//!
//! `cargo bench -p umber-kernels --bench scans [FILTER]`

mod common;

use common::{COUNTS, Operand, SIDES, Work, case};
use num_traits::FromPrimitive;
use umber_kernels::scan;
use umber_types::{Element, ScanDirection, ScanExtent, ScanKind, bf16};

fn scans<T: Element + FromPrimitive>(kind: ScanKind, name: &str, shape: &[usize], axis: usize) {
    let src = Operand::<T>::values(shape);
    let mut dst = Operand::<T>::zeros(shape);
    for (direction, extent, suffix) in [
        (ScanDirection::Forward, ScanExtent::Inclusive, ""),
        (ScanDirection::Reverse, ScanExtent::Exclusive, "/reverse exclusive"),
    ] {
        let name = format!("{}/{}/{name}{suffix}", kind.name(), T::DTYPE);
        case(&name, Work::Bytes(src.bytes() + dst.bytes()), || {
            scan(kind, src.view(), axis, direction, extent, dst.view_mut());
        });
    }
}

fn main() {
    for kind in [ScanKind::Sum, ScanKind::Max] {
        for (side, count) in SIDES.into_iter().zip(COUNTS) {
            scans::<f32>(kind, &format!("line/{count}"), &[count], 0);
            scans::<f32>(kind, &format!("rows/{side}"), &[side, side], 1);
            scans::<f32>(kind, &format!("columns/{side}"), &[side, side], 0);
        }
    }
    for side in SIDES {
        scans::<i32>(ScanKind::Sum, &format!("rows/{side}"), &[side, side], 1);
        scans::<bf16>(ScanKind::Sum, &format!("rows/{side}"), &[side, side], 1);
        scans::<f32>(ScanKind::LogSumExp, &format!("rows/{side}"), &[side, side], 1);
    }
}
