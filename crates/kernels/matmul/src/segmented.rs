//! Products of segments: of the depth, with one result per segment, or of the rows, with one right matrix per segment.

use std::ops::Range;

use umber_kernels_base::lanes::Ring;
use umber_kernels_base::scratch;
use umber_kernels_base::scratch_vec::vector_or_unwind;
use umber_kernels_base::shared::{Source, Target};
use umber_kernels_base::threads::{num_threads, parallel_for};
use umber_kernels_base::{View, ViewMut};
use umber_types::{Layout, Result, Shape, bail};

use super::copy::pack;
use super::matmul;
use super::multiply::Multiply;
use super::product::{Beta, Matrix, Product};
use crate::match_multiply;

/// Rows per task of [`segmented_rows`].
const ROWS: usize = 64;

/// Read the segments of an axis of this length; a segment with `to < from` is empty.
fn segments(view: View, length: usize) -> Result<Vec<Range<usize>>> {
    let ends: &[i64] = view.as_slice().expect("the ends of segments are dense int64");
    let mut result = vector_or_unwind(ends.len() / 2);
    for pair in ends.chunks_exact(2) {
        let [from, to] = [pair[0], pair[1]].map(usize::try_from);
        match (from, to) {
            (Ok(from), Ok(to)) if from <= length && to <= length => result.push(from..to.max(from)),
            _ => bail!(
                Index,
                "segment [{}, {}) is out of bounds for axis of length {length}",
                pair[0],
                pair[1]
            ),
        }
    }
    Ok(result)
}

/// `out[s] = a[:, from..to] @ b[from..to]` for each segment `s`, `[from, to]`, of the depth: shapes `[m, k]`, `[k, n]` and
/// `[s, m, n]`. A segment that ends before its start is empty.
///
/// # Errors
/// If a segment is out of bounds.
///
/// # Panics
/// If dtypes or shapes do not match.
pub fn segmented_sums(a: View, b: View, bounds: View, out: ViewMut) -> Result<()> {
    let (&[m, k], &[_, n]) = (a.shape(), b.shape()) else { panic!("matrices have two axes") };
    let segments = segments(bounds, k)?;
    assert!(
        out.shape() == [segments.len(), m, n] && out.layout().is_contiguous(),
        "a dense matrix per segment"
    );
    let run = |s: usize| {
        let slice_of = |view: View, axis: usize| {
            let mut layout = view.layout().clone();
            let start = segments[s].start as isize * layout.strides[axis];
            layout.offset = if segments[s].is_empty() {
                layout.offset
            } else {
                (layout.offset as isize + start) as usize
            };
            layout.shape = layout.shape.with(axis, segments[s].len());
            layout
        };
        let (left, right) = (slice_of(a, 1), slice_of(b, 0));
        let target =
            Layout { offset: out.layout().offset + s * m * n, ..Layout::contiguous(Shape::from([m, n])) };
        let base = |view: View| view.start().wrapping_sub(view.layout().offset * view.dtype().size());
        let start = out.start().wrapping_sub(out.layout().offset * out.dtype().size());
        // SAFETY: the slices are inside the views; each segment has its own range of the output.
        unsafe {
            matmul(
                View::new(base(a), a.dtype(), &left),
                View::new(base(b), b.dtype(), &right),
                ViewMut::new(start, out.dtype(), &target),
            );
        }
    };
    if segments.len() >= 2 * num_threads() {
        parallel_for(segments.len(), run);
    } else {
        (0..segments.len()).for_each(run);
    }
    Ok(())
}

/// `out[i] = sum over segments s with from <= i < to of x[i] @ y[s]`: shapes `[k, n]`, `[s, n, m]` and `[k, m]`.
///
/// # Errors
/// If a segment is out of bounds.
///
/// # Panics
/// If dtypes or shapes do not match.
pub fn segmented_rows(x: View, y: View, bounds: View, out: ViewMut) -> Result<()> {
    let segments = segments(bounds, x.shape()[0])?;
    assert!(
        y.shape()[0] == segments.len() && out.layout().is_contiguous(),
        "a matrix per segment, and a dense output"
    );
    match_multiply!(x, y, out; T => rows::<T>(x, y, &segments, out));
    Ok(())
}

fn rows<T: Multiply>(x: View, y: View, segments: &[Range<usize>], out: ViewMut) {
    let &[count, m] = out.shape() else { panic!("a matrix has two axes") };
    let n = x.shape()[1];
    assert!(y.shape()[1..] == [n, m], "the shapes of the operands match the output");
    let (source, stack, target) = (Source::<T>::of(&x), Source::<T>::of(&y), Target::<T>::of(&out));
    let (x_strides, y_strides) = (x.strides(), y.strides());
    parallel_for(if m == 0 { 0 } else { count.div_ceil(ROWS) }, |job| {
        let row_range = job * ROWS..count.min(job * ROWS + ROWS);
        scratch::with(row_range.len() * (n + m) + n * m, |memory: &mut [T::Acc]| {
            let (sums, memory) = memory.split_at_mut(row_range.len() * m);
            let (left, right) = memory.split_at_mut(row_range.len() * n);
            sums.fill(T::Acc::ZERO);
            for (s, segment) in segments.iter().enumerate() {
                let overlap = segment.start.max(row_range.start)..segment.end.min(row_range.end);
                if overlap.is_empty() || n == 0 {
                    continue;
                }
                let start = source.at(overlap.start as isize * x_strides[0]);
                let from = Matrix { start, rows: x_strides[0], columns: x_strides[1] };
                pack(from, overlap.len(), n, left, n, T::widen);
                let start = stack.at(s as isize * y_strides[0]);
                pack(Matrix { start, rows: y_strides[1], columns: y_strides[2] }, n, m, right, m, T::widen);
                let a = Matrix { start: left.as_ptr(), rows: n as isize, columns: 1 };
                let b = Matrix { start: right.as_ptr(), rows: m as isize, columns: 1 };
                let out = sums[(overlap.start - row_range.start) * m..].as_mut_ptr();
                T::multiply_acc(
                    &Product { m: overlap.len(), n: m, k: n, a, b, out, out_row: m as isize },
                    Beta::One,
                );
            }
            for (i, &sum) in sums.iter().enumerate() {
                // SAFETY: the element is inside the output, in rows that only this task writes.
                unsafe { *target.at((row_range.start * m + i) as isize) = T::narrow(sum) };
            }
        });
    });
}
