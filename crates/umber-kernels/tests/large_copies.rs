//! Copies that exceed the caches and use non-temporal stores, against plain loops.

mod instruction_sets;

use instruction_sets::repeat_under;
use umber_kernels::tape::copy;
use umber_kernels::{View, ViewMut};
use umber_types::layout::Strides;
use umber_types::{Complex32, Element, Layout, Shape};

/// Bytes that exceed L2.
const LARGE: usize = 9 << 20;

/// Copy elements of `memory` with these strides, from element `start` on, to a target that begins `shift` elements after a
/// cache-line boundary and has `gap` elements between rows.
fn check<T: Element + PartialEq>(
    memory: &[T],
    shape: [usize; 2],
    strides: [isize; 2],
    start: usize,
    shift: usize,
    gap: usize,
) {
    let [rows, columns] = shape;
    let line = columns + gap;
    let from = Layout { shape: Shape::from(shape), strides: Strides::from_slice(&strides), offset: start };
    let mut target = vec![memory[1]; rows * line + 64];
    let begin = target.as_ptr().align_offset(64) + shift;
    let to = Layout {
        shape: Shape::from(shape),
        strides: Strides::from_slice(&[line as isize, 1]),
        offset: begin,
    };
    copy(View::of(memory, &from), ViewMut::of(&mut target, &to));
    for (i, row) in target[begin..begin + rows * line].chunks_exact(line).enumerate() {
        for (j, &actual) in row.iter().enumerate() {
            let offset = start as isize + i as isize * strides[0] + j as isize * strides[1];
            let expected = if j < columns { memory[offset as usize] } else { memory[1] };
            assert!(actual == expected, "{} {shape:?} {strides:?} + {shift}: {i}, {j}", T::DTYPE);
        }
    }
}

fn check_all<T: Element + PartialEq>(of: fn(usize) -> T) {
    let rows = 1031;
    let columns = LARGE / size_of::<T>() / rows;
    let long = columns as isize;
    let memory: Vec<T> = (0..rows * columns * 5 + 5 * columns).map(of).collect();
    for (shift, gap) in [(0, 0), (1, 0), (0, 3), (3, 16)] {
        for step in [1, 2, 3, 4, 5] {
            check(&memory, [rows, columns], [step * long + 3, step], 7, shift, gap);
        }
        check(&memory, [rows, columns], [long, -1], columns - 1, shift, gap);
        check(&memory, [rows, columns], [long, 0], 2, shift, gap);
        check(&memory, [rows, columns], [-2 * long, -2], 2 * rows * columns, shift, gap);
        check(&memory, [columns, rows], [1, long], 0, shift, gap);
        check(&memory, [columns, rows - 7], [1, long], 5, shift, gap);
        check(&memory, [columns, rows], [1, -long], rows * columns, shift, gap);
        check(&memory, [columns, rows], [-1, long], columns, shift, gap);
    }
    // Rows of full cache lines.
    let (rows, columns) = (LARGE / size_of::<T>() / 512, 512);
    for step in [1, 2] {
        check(&memory, [rows, columns], [1, step * rows as isize], 0, 0, 0);
        check(&memory, [rows, columns], [step, 2 * rows as isize], 3, 0, 64);
        check(&memory, [columns, rows], [1, step * columns as isize], 1, 0, 0);
    }
}

#[test]
fn smaller_instruction_sets() {
    repeat_under(&["avx2", "scalar"], &["large_copies_between"], 1);
}

#[test]
fn large_copies_between_layouts() {
    check_all(|i| (i % 251) as u8);
    check_all(|i| (i % 65_521) as u16);
    check_all(|i| (i % 1_000_003) as i32);
    check_all(|i| Complex32::new((i % 1_000_003) as f32, (i % 7) as f32));
}
