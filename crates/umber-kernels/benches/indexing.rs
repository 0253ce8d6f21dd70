//! Bandwidth of gathers, scatters and categorical sampling, in L2 and in memory.
//!
//! `cargo bench -p umber-kernels --bench indexing [FILTER]`

mod common;

use common::{COUNTS, Operand, SIDES, Work, case};
use umber_kernels::categorical::categorical;
use umber_kernels::{gather, gather_axis, scatter, scatter_axis};
use umber_types::ScatterKind;

/// Gather and scatter as many rows of `width` elements as the table has.
fn slices(rows: usize, width: usize) {
    let (shape, slice) = ([rows, width], [1, width]);
    let mut table = Operand::<f32>::values(&shape);
    let indices = Operand::<u32>::below(rows, &[rows]);
    let mut gathered = Operand::<f32>::zeros(&[rows, 1, width]);
    let name = |function: &str| format!("{function}/{rows} of {width}");
    let moved = indices.bytes() + 2 * gathered.bytes();
    case(&name("gather"), Work::Bytes(moved), || {
        gather(table.view(), &[indices.view()], &[0], &slice, gathered.view_mut())
            .expect("rows of the table");
    });
    for (kind, touched) in [(ScatterKind::Set, moved), (ScatterKind::Add, moved + gathered.bytes())] {
        case(&name(&format!("scatter {}", kind.name())), Work::Bytes(touched), || {
            scatter(kind, table.view_mut(), &[indices.view()], &[0], &slice, gathered.view())
                .expect("rows of the table");
        });
    }
}

/// An index along the row for each element.
fn along_rows(side: usize) {
    let shape = [side, side];
    let mut table = Operand::<f32>::values(&shape);
    let indices = Operand::<u32>::below(side, &shape);
    let mut gathered = Operand::<f32>::zeros(&shape);
    let moved = indices.bytes() + 2 * gathered.bytes();
    case(&format!("gather_axis/{side}"), Work::Bytes(moved), || {
        gather_axis(table.view(), indices.view(), 1, gathered.view_mut()).expect("indices are in bounds");
    });
    case(&format!("scatter_axis add/{side}"), Work::Bytes(moved + gathered.bytes()), || {
        scatter_axis(ScatterKind::Add, table.view_mut(), indices.view(), 1, gathered.view())
            .expect("indices are in bounds");
    });
}

fn draws(count: usize) {
    let mut weights = Operand::<f32>::values(&[count]);
    let mut levels = Operand::<f32>::values(&[COUNTS[0]]);
    for value in weights.data.iter_mut().chain(&mut levels.data) {
        *value = value.abs();
    }
    let mut out = Operand::<u32>::zeros(&[COUNTS[0]]);
    let work = Work::Bytes(weights.bytes() + levels.bytes() + out.bytes());
    case(&format!("pick/{} of {count}", COUNTS[0]), work, || {
        categorical(weights.view(), levels.view(), out.view_mut()).expect("there is memory");
    });
}

fn main() {
    for (side, count) in SIDES.into_iter().zip(COUNTS) {
        slices(count, 1);
        slices(count / 512, 512);
        along_rows(side);
        draws(count);
    }
}
