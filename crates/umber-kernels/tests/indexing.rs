//! Gathers and scatters against plain loops.
#![allow(clippy::unwrap_used, reason = "a failure is a failed test")]

mod operands;

use operands::{Operand, Random, Value, indices, position, scrambled, shapes};
use proptest::prelude::*;
use umber_kernels::{View, gather, gather_axis, scatter, scatter_axis};
use umber_types::{Complex32, DType, ErrorKind, Layout, ScatterKind, Shape, bf16, error, f16, match_dtype};

/// Indices of a random dtype, and their values.
struct Index {
    dtype: DType,
    bytes: Vec<u64>,
    layout: Layout,
    numbers: Vec<i64>,
}

impl Index {
    /// Random indices into an axis of this length, at which slices of length `slice` fit; some are negative if the dtype is
    /// signed.
    fn draw(shape: &[usize], length: usize, slice: usize, random: &mut Random) -> Index {
        let dtypes = [
            DType::UInt8,
            DType::UInt16,
            DType::UInt32,
            DType::UInt64,
            DType::Int8,
            DType::Int16,
            DType::Int32,
            DType::Int64,
        ];
        // Narrow dtypes cannot represent every index of a long axis.
        let narrow = usize::from(length > 127) + usize::from(length > 32_767);
        let fitting: Vec<DType> = dtypes.into_iter().filter(|dtype| dtype.size() >= 1 << narrow).collect();
        let dtype = fitting[random.below(fitting.len() as u64) as usize];
        let layout = scrambled(shape, random.next(), true);
        let signed = matches!(dtype, DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64);
        let starts = (length - slice + 1) as u64;
        match_dtype!(dtype, T => Index::of::<T>(layout, || {
            let index = random.below(starts) as i64;
            if signed && random.below(2) == 0 { index - length as i64 } else { index }
        }))
    }

    fn of<T: Value>(layout: Layout, mut draw: impl FnMut() -> i64) -> Index {
        let length = layout.extent().map_or(0, |(_, high)| high as usize);
        let drawn: Vec<i64> = (0..length).map(|_| draw()).collect();
        let mut bytes = vec![0u64; length];
        for (i, &number) in drawn.iter().enumerate() {
            // SAFETY: the buffer has eight bytes per element, at least the size of `T`.
            unsafe { bytes.as_mut_ptr().cast::<T>().add(i).write(T::from_i64(number)) };
        }
        let numbers = indices(&layout.shape).iter().map(|index| drawn[position(&layout, index)]).collect();
        Index { dtype: T::DTYPE, bytes, layout, numbers }
    }

    fn view(&self) -> View<'_> {
        // SAFETY: the buffer holds all elements of the layout.
        unsafe { View::new(self.bytes.as_ptr().cast(), self.dtype, &self.layout) }
    }

    fn at(&self, tuple: usize, length: usize) -> usize {
        let index = self.numbers[tuple];
        (if index < 0 { index + length as i64 } else { index }) as usize
    }
}

/// Operands of a gather or a scatter.
struct Case {
    shape: Vec<usize>,
    leading: Vec<usize>,
    axes: Vec<usize>,
    slice: Vec<usize>,
    indices: Vec<Index>,
}

impl Case {
    fn draw(shape: Vec<usize>, leading: Vec<usize>, mask: u8, seed: u64) -> Option<Case> {
        let mut random = Random(seed);
        let mut axes: Vec<usize> = (0..shape.len()).filter(|axis| mask >> axis & 1 == 1).collect();
        if random.below(2) == 0 {
            axes.reverse();
        }
        if shape.contains(&0) {
            return None;
        }
        let leading = if axes.is_empty() { vec![] } else { leading };
        let is_disjoint = random.below(2) == 0;
        let slice: Vec<usize> = (0..shape.len())
            .map(|axis| {
                let one = is_disjoint && axes.contains(&axis);
                if one { 1 } else { 1 + random.below(shape[axis] as u64) as usize }
            })
            .collect();
        let indices =
            axes.iter().map(|&axis| Index::draw(&leading, shape[axis], slice[axis], &mut random)).collect();
        Some(Case { shape, leading, axes, slice, indices })
    }

    fn views(&self) -> Vec<View<'_>> {
        self.indices.iter().map(Index::view).collect()
    }

    fn result_shape(&self) -> Vec<usize> {
        [self.leading.as_slice(), &self.slice].concat()
    }

    /// For each element of the result in row-major order, the index in the operand.
    fn operand_indices(&self) -> Vec<Vec<usize>> {
        let mut operand_indices = Vec::new();
        for tuple in 0..self.leading.iter().product() {
            for within in indices(&self.slice) {
                let mut operand_index = within;
                for (axis, index) in self.axes.iter().zip(&self.indices) {
                    operand_index[*axis] += index.at(tuple, self.shape[*axis]);
                }
                operand_indices.push(operand_index);
            }
        }
        operand_indices
    }
}

fn combined<T: Value>(kind: ScatterKind, old: T, new: T) -> T {
    use std::cmp::Ordering;
    let ranked = |expected| match new.order(old) {
        _ if old.is_nan_value() => old,
        None => new,
        Some(order) if order == expected => new,
        Some(_) => old,
    };
    match kind {
        ScatterKind::Set => new,
        ScatterKind::Add => old.plus(new),
        ScatterKind::Multiply => old.times(new),
        ScatterKind::Maximum => ranked(Ordering::Greater),
        ScatterKind::Minimum => ranked(Ordering::Less),
    }
}

fn check_gather<T: Value>(case: &Case, seed: u64) {
    let mut random = Random(seed);
    let src: Operand<T> =
        Operand::under(&scrambled(&case.shape, seed, true), || T::from_i64(random.next() as i64 % 100));
    let target = scrambled(&case.result_shape(), seed / 3, false);
    let mut dst = Operand::under(&target, || T::from_i64(1));
    gather(src.view(), &case.views(), &case.axes, &case.slice, dst.view_mut()).unwrap();
    let expected: Vec<T> = case.operand_indices().iter().map(|operand_index| src.at(operand_index)).collect();
    assert_eq!(dst.values(), expected, "{:?} {:?}", case.shape, case.slice);
}

fn check_scatter<T: Value>(case: &Case, kind: ScatterKind, seed: u64) {
    let mut random = Random(seed);
    // Few small factors, so that products are exact in every dtype.
    let mut draw = || match kind {
        ScatterKind::Multiply => T::from_i64([1, -1, 1, -1, 1, -1, 2, 0][random.below(8) as usize]),
        _ if random.below(50) == 0 => T::NAN.unwrap_or(T::from_i64(1)),
        _ => T::from_i64(random.below(7) as i64 - 3),
    };
    let mut dst: Operand<T> = Operand::under(&scrambled(&case.shape, seed, false), &mut draw);
    let updates: Operand<T> = Operand::under(&scrambled(&case.result_shape(), seed / 5, true), &mut draw);
    let mut expected = dst.data.clone();
    for (operand_index, new) in case.operand_indices().iter().zip(updates.values()) {
        let at = position(&dst.layout, operand_index);
        expected[at] = combined(kind, expected[at], new);
    }
    scatter(kind, dst.view_mut(), &case.views(), &case.axes, &case.slice, updates.view()).unwrap();
    for (actual, expected) in dst.data.iter().zip(&expected) {
        assert!(actual.same(*expected), "{kind:?} {:?}: {actual:?} {expected:?}", T::DTYPE);
    }
}

fn check_axis<T: Value>(shape: &[usize], axis: usize, count: usize, seed: u64) {
    let mut random = Random(seed);
    let mut leading = shape.to_vec();
    leading[axis] = count;
    let index = Index::draw(&leading, shape[axis], 1, &mut random);
    let operand_indices: Vec<Vec<usize>> = indices(&leading)
        .into_iter()
        .enumerate()
        .map(|(tuple, mut operand_index)| {
            operand_index[axis] = index.at(tuple, shape[axis]);
            operand_index
        })
        .collect();
    let mut small = || T::from_i64(random.below(7) as i64 - 3);
    let src: Operand<T> = Operand::under(&scrambled(shape, seed, true), &mut small);
    let mut dst = Operand::under(&scrambled(&leading, seed / 3, false), &mut small);
    gather_axis(src.view(), index.view(), axis, dst.view_mut()).unwrap();
    assert_eq!(
        dst.values(),
        operand_indices.iter().map(|operand_index| src.at(operand_index)).collect::<Vec<T>>()
    );

    for &kind in ScatterKind::ALL {
        let mut draw = || match kind {
            ScatterKind::Multiply => T::from_i64([1, -1][small().is_true() as usize]),
            _ => small(),
        };
        let mut dst: Operand<T> = Operand::under(&scrambled(shape, seed, false), &mut draw);
        let updates: Operand<T> = Operand::under(&scrambled(&leading, seed / 5, true), &mut draw);
        let mut expected = dst.data.clone();
        for (operand_index, new) in operand_indices.iter().zip(updates.values()) {
            let at = position(&dst.layout, operand_index);
            expected[at] = combined(kind, expected[at], new);
        }
        scatter_axis(kind, dst.view_mut(), index.view(), axis, updates.view()).unwrap();
        for (actual, expected) in dst.data.iter().zip(&expected) {
            assert!(actual.same(*expected), "{kind:?} {:?} {shape:?} {axis}", T::DTYPE);
        }
    }
}

fn config(cases: u32) -> ProptestConfig {
    ProptestConfig { cases, failure_persistence: None, ..ProptestConfig::default() }
}

proptest! {
    #![proptest_config(config(300))]

    #[test]
    fn slices(shape in shapes(), leading in prop::collection::vec(0usize..6, 0..3), mask: u8, seed: u64) {
        if let Some(case) = Case::draw(shape, leading, mask, seed) {
            for dtype in DType::COMPUTE {
                match_dtype!(dtype, T => {
                    check_gather::<T>(&case, seed);
                    for &kind in ScatterKind::ALL {
                        check_scatter::<T>(&case, kind, seed);
                    }
                });
            }
        }
    }

    #[test]
    fn along_an_axis(shape in shapes(), axis: usize, count in 0usize..9, seed: u64) {
        if !shape.contains(&0) && !shape.is_empty() {
            for dtype in DType::COMPUTE {
                match_dtype!(dtype, T => check_axis::<T>(&shape, axis % shape.len(), count, seed));
            }
        }
    }
}

#[test]
fn large_operands_run_in_parallel() {
    for (shape, leading, mask, slice) in [
        (vec![5000], vec![40_000], 1, vec![1]),
        (vec![1_000_000], vec![100_000], 1, vec![1]),
        (vec![500, 64], vec![3000], 1, vec![1, 64]),
        (vec![10, 70_000], vec![4], 1, vec![1, 70_000]),
        (vec![64, 500], vec![3000], 2, vec![64, 1]),
        (vec![100, 100], vec![2000], 3, vec![5, 7]),
        (vec![300_000], vec![1], 1, vec![200_000]),
    ] {
        for seed in 0..2 {
            let mut case = Case::draw(shape.clone(), leading.clone(), mask, seed).unwrap();
            let mut random = Random(seed);
            case.slice.clone_from(&slice);
            case.indices = (case.axes.iter())
                .map(|&axis| Index::draw(&leading, shape[axis], slice[axis], &mut random))
                .collect();
            check_gather::<f32>(&case, seed);
            for kind in [ScatterKind::Set, ScatterKind::Add, ScatterKind::Maximum] {
                check_scatter::<f32>(&case, kind, seed);
                check_scatter::<i8>(&case, kind, seed);
            }
        }
    }
    for (shape, axis, count) in [
        (vec![300, 400], 0, 500),
        (vec![300, 400], 1, 200),
        (vec![50_000], 0, 100_000),
        (vec![1, 9000, 4], 1, 20_000),
    ] {
        check_axis::<f32>(&shape, axis, count, 3);
        check_axis::<i32>(&shape, axis, count, 4);
    }
}

#[test]
fn out_of_bounds_indices_are_errors_and_nothing_is_written() {
    let src = Operand::dense((0..12).map(|i| i as f32).collect(), &[3, 4]);
    let updates = Operand::dense(vec![1f32; 8], &[2, 1, 4]);
    for (first, second, culprit) in [(0i32, 3, 3), (1, -4, -4), (i32::MAX, i32::MIN, i32::MAX)] {
        let index = Operand::dense(vec![first, second], &[2]);
        let mut dst = Operand::dense(vec![0f32; 8], &[2, 1, 4]);
        let text = format!("index {culprit} is out of bounds for axis 0 of length 3");
        let result = gather(src.view(), &[index.view()], &[0], &[1, 4], dst.view_mut());
        assert_eq!(result, Err(error!(Index, "{text}")));
        let mut operand = src.clone();
        let result =
            scatter(ScatterKind::Add, operand.view_mut(), &[index.view()], &[0], &[1, 4], updates.view());
        assert_eq!(result, Err(error!(Index, "{text}")));
        assert_eq!(operand.data, src.data);
    }
    let index = Operand::dense(vec![0u64, u64::MAX], &[2, 1]);
    let line = Operand::dense(vec![1f32, 2.0], &[2, 1]);
    let mut square = Operand::dense(vec![0f32; 4], &[2, 2]);
    let mut dst = Operand::dense(vec![0f32; 2], &[2, 1]);
    assert!(
        matches!(gather_axis(square.view(), index.view(), 1, dst.view_mut()), Err(error) if error.kind() == ErrorKind::Index)
    );
    let result = scatter_axis(ScatterKind::Set, square.view_mut(), index.view(), 1, line.view());
    assert!(matches!(result, Err(error) if error.kind() == ErrorKind::Index));
    assert_eq!(square.data, [0.0; 4]);
    // The whole slice must fit, and an empty axis has no valid index.
    let index = Operand::dense(vec![2i64], &[1]);
    let mut two = Operand::dense(vec![0f32; 8], &[1, 2, 4]);
    assert!(gather(src.view(), &[index.view()], &[0], &[2, 4], two.view_mut()).is_err());
    let empty = Operand::<f32>::dense(vec![], &[0]);
    let zero = Operand::dense(vec![0i32], &[1]);
    let mut one = Operand::dense(vec![0f32; 1], &[1, 1]);
    assert!(gather(empty.view(), &[zero.view()], &[0], &[1], one.view_mut()).is_err());
    let no_indices = Operand::<i32>::dense(vec![], &[0]);
    let mut empty_dst = Operand::<f32>::dense(vec![], &[0, 1]);
    assert_eq!(gather(empty.view(), &[no_indices.view()], &[0], &[1], empty_dst.view_mut()), Ok(()));
    // Indices are integers.
    let float = Operand::dense(vec![0f32], &[1]);
    let mut row = Operand::dense(vec![0f32; 4], &[1, 1, 4]);
    let result = gather(src.view(), &[float.view()], &[0], &[1, 4], row.view_mut());
    assert!(matches!(result, Err(error) if error.kind() == ErrorKind::Type));
}

#[test]
fn the_first_bad_index_is_reported_whatever_thread_finds_it() {
    let mut index = vec![0i64; 200_000];
    for i in [7000, 60_000, 150_000, 199_999] {
        index[i] = 1000 + i as i64;
    }
    let index = Operand::dense(index, &[200_000]);
    let src = Operand::dense(vec![1f32; 10], &[10]);
    let mut dst = Operand::dense(vec![0f32; 200_000], &[200_000, 1]);
    let result = gather(src.view(), &[index.view()], &[0], &[1], dst.view_mut());
    let text = "index 8000 is out of bounds for axis 0 of length 10";
    assert_eq!(result, Err(error!(Index, "{text}")));
}

#[test]
fn float16_and_bfloat16_accumulate_before_rounding() {
    // Added one by one in float16, 0.25 would not change 1024.
    let index = Operand::dense(vec![1u32; 400], &[400]);
    let updates = Operand::dense(vec![f16::from_f32(0.25); 400], &[400, 1]);
    let mut dst = Operand::dense(vec![f16::from_f32(1024.0); 3], &[3]);
    scatter(ScatterKind::Add, dst.view_mut(), &[index.view()], &[0], &[1], updates.view()).unwrap();
    assert_eq!(dst.data, [1024.0, 1124.0, 1024.0].map(f16::from_f32));
    let index = Operand { data: vec![1u32], layout: Layout::splat(Shape::from([2, 100])) };
    let updates = Operand::dense(vec![bf16::ONE; 200], &[2, 100]);
    let mut dst = Operand::dense(vec![bf16::from_f32(256.0); 6], &[2, 3]);
    scatter_axis(ScatterKind::Add, dst.view_mut(), index.view(), 1, updates.view()).unwrap();
    assert_eq!(dst.data, [256.0, 356.0, 256.0, 256.0, 356.0, 256.0].map(bf16::from_f32));
}

/// Many single updates of a few elements, which accumulate in private copies.
fn check_few_elements<T: Value>(length: usize, count: usize, step: usize) {
    let mut random = Random(11);
    let wrapped = |i: i64| if i < 0 { i + length as i64 } else { i } as usize;
    let numbers: Vec<i64> =
        (0..count).map(|_| random.below(2 * length as u64) as i64 - length as i64).collect();
    let index = Operand::dense(numbers.clone(), &[count]);
    let start: Vec<T> = (0..length).map(|_| T::from_i64(random.below(9) as i64)).collect();
    let mut expected = start.clone();
    let mut updates =
        Operand::dense((0..count * step.max(1)).map(|i| T::from_i64(i as i64 % 3)).collect(), &[count]);
    updates.layout = Layout {
        shape: Shape::from([count, 1]),
        strides: [step as isize, 1].into_iter().collect(),
        offset: 0,
    };
    for (i, &number) in numbers.iter().enumerate() {
        let target = &mut expected[wrapped(number)];
        *target = target.plus(updates.data[i * step]);
    }
    let mut dst = Operand::dense(start, &[length]);
    scatter(ScatterKind::Add, dst.view_mut(), &[index.view()], &[0], &[1], updates.view()).unwrap();
    assert!(dst.data.iter().zip(&expected).all(|(&a, &b)| a.same(b)), "{:?} {length} {count}", T::DTYPE);
}

#[test]
fn many_updates_of_few_elements() {
    for (length, count, step) in [(1, 70_000, 1), (10, 200_003, 1), (1000, 150_000, 0), (257, 90_000, 2)] {
        check_few_elements::<i32>(length, count, step);
        check_few_elements::<u8>(length, count, step);
        check_few_elements::<f32>(length, count, step);
        check_few_elements::<f64>(length, count, step);
        check_few_elements::<Complex32>(length, count, step);
        check_few_elements::<i64>(length, count, step);
    }
    // An element without updates keeps the sign of its zero.
    let index = Operand::dense(vec![1i32; 100_000], &[100_000]);
    let updates = Operand::dense(vec![1f32; 100_000], &[100_000, 1]);
    let mut dst = Operand::dense(vec![-0.0f32, 0.0], &[2]);
    scatter(ScatterKind::Add, dst.view_mut(), &[index.view()], &[0], &[1], updates.view()).unwrap();
    assert_eq!((dst.data[0].to_bits(), dst.data[1]), ((-0.0f32).to_bits(), 1e5));
    let wrong = Operand::dense([vec![0i32; 99_999], vec![2]].concat(), &[100_000]);
    let result = scatter(ScatterKind::Add, dst.view_mut(), &[wrong.view()], &[0], &[1], updates.view());
    assert!(result.is_err() && dst.data[1] == 1e5);
}
