//! Rate of sorts, partitions and searches, in L2 and in memory.
//!
//! `cargo bench -p umber-kernels --bench sort [FILTER]`

mod common;

use common::{COUNTS, Operand, Work, case};
use num_traits::FromPrimitive;
use umber_kernels::{argpartition, argsort, partition, searchsorted, sort};
use umber_types::{Element, Side, SortOrder};

/// Number of largest elements in partitions.
const TOP: usize = 100;

fn along_last<T: Element + FromPrimitive>(shape: &[usize], src: &Operand<T>) {
    let mut dst = Operand::<T>::zeros(shape);
    let mut indices = Operand::<u32>::zeros(shape);
    let (axis, length) = (shape.len() - 1, shape[shape.len() - 1]);
    let lengths: Vec<String> = shape.iter().map(ToString::to_string).collect();
    let name = |function: &str| format!("{function}/{}/{}", T::DTYPE, lengths.join("x"));
    let work = Work::Elements(src.data.len());
    case(&name("sort"), work, || sort(src.view(), axis, dst.view_mut()).expect("there is memory"));
    case(&name("argsort"), work, || {
        argsort(src.view(), axis, SortOrder::Ascending, indices.view_mut()).expect("there is memory");
    });
    case(&name("partition"), work, || {
        partition(src.view(), axis, length - TOP, dst.view_mut()).expect("there is memory");
    });
    case(&name("argpartition"), work, || {
        argpartition(src.view(), axis, length - TOP, indices.view_mut()).expect("there is memory");
    });
}

fn search(count: usize) {
    let mut sorted = Operand::<f32>::values(&[count]);
    sorted.data.sort_by(f32::total_cmp);
    let values = Operand::<f32>::values(&[COUNTS[0]]);
    let mut indices = Operand::<u32>::zeros(&[COUNTS[0]]);
    case(&format!("searchsorted/float32/{count}"), Work::Elements(COUNTS[0]), || {
        searchsorted(Side::Left, sorted.view(), values.view(), indices.view_mut());
    });
}

fn main() {
    for count in COUNTS {
        let rows = [count / 1024, 1024];
        along_last(&[count], &Operand::<f32>::values(&[count]));
        along_last(&rows, &Operand::<f32>::values(&rows));
        // A thousand distinct values with many duplicates.
        along_last(&[count], &Operand::<i32>::below(1000, &[count]));
        search(count);
    }
}
