//! Stable sorting along an axis: NaN last, complex numbers by real part, then by imaginary part.
//!
//! Elements are mapped to unsigned integers of the same order (`keys.rs`), which `order.rs` sorts. For indices each key
//! carries the index of its element.

mod order;
#[cfg(target_arch = "x86_64")]
mod vectors;

use std::ops::Range;

use umber_kernels_base::isa::vectorised;
use umber_kernels_base::keys::{Direction, Invertible, Keyed};
use umber_kernels_base::scratch_vec::ScratchVec;
use umber_kernels_base::shared::{Source, Target};
use umber_kernels_base::strided_loops::StridedLoops;
use umber_kernels_base::threads::parallel_ranges;
use umber_kernels_base::{View, ViewMut};
use umber_types::{Bool, Complex32, Complex64, DType, Result, SortOrder, bf16, error, f16, match_dtype};

use self::order::{Item, select_item, sort_items};

/// Minimum elements per task.
const GRAIN: usize = 1 << 11;
/// Minimum elements per task of element-wise passes over a line.
const ELEMENTWISE_GRAIN: usize = 1 << 16;

/// Write the elements of each line of `src` along `axis` in ascending order to `dst` of the same shape and dtype. NaN comes
/// last, and the order of zeros of different signs is unspecified.
///
/// # Errors
/// If there is no memory for two copies of a line.
///
/// # Panics
/// If shapes or dtypes do not fit together.
pub fn sort(src: View, axis: usize, dst: ViewMut) -> Result<()> {
    assert_eq!((src.shape(), src.dtype()), (dst.shape(), dst.dtype()), "sorting keeps shape and dtype");
    let lines = Lines::new(&src, axis, &dst);
    lines.write_values(&src, &dst, Extent::All)
}

/// As [`sort`], but only the element at `kth` is at its sorted position, with no greater elements before it and no smaller
/// ones after it.
///
/// # Errors
/// If there is no memory for a copy of a line.
///
/// # Panics
/// If shapes or dtypes do not fit together, or `kth` lies outside.
pub fn partition(src: View, axis: usize, kth: usize, dst: ViewMut) -> Result<()> {
    assert_eq!((src.shape(), src.dtype()), (dst.shape(), dst.dtype()), "partitioning keeps shape and dtype");
    Lines::new(&src, axis, &dst).write_values(&src, &dst, Extent::Around(kth))
}

/// Write the indices that sort each line of `src` along `axis` to `dst`, uint32 of the same shape. The sort is stable, and
/// NaN comes last in either order.
///
/// # Errors
/// If there is no memory for two copies of a line.
///
/// # Panics
/// If shapes do not fit together or `dst` is not of a 32-bit dtype.
pub fn argsort(src: View, axis: usize, order: SortOrder, dst: ViewMut) -> Result<()> {
    assert_eq!(src.shape(), dst.shape(), "sorting keeps the shape");
    let lines = Lines::new(&src, axis, &dst);
    let direction = match order {
        SortOrder::Ascending => Direction::Ascending,
        SortOrder::Descending => Direction::Descending,
    };
    match_dtype!(src.dtype(), T => lines.write_indices::<T>(&src, &dst, direction, Extent::All))
}

/// As [`argsort`] in ascending order, but only the element at `kth` is at its sorted position, with no greater elements
/// before it and no smaller ones after it.
///
/// # Errors
/// If there is no memory for a copy of a line.
///
/// # Panics
/// If shapes do not fit together, `dst` is not of a 32-bit dtype, or `kth` lies outside.
pub fn argpartition(src: View, axis: usize, kth: usize, dst: ViewMut) -> Result<()> {
    assert_eq!(src.shape(), dst.shape(), "partitioning keeps the shape");
    let lines = Lines::new(&src, axis, &dst);
    let extent = Extent::Around(kth);
    match_dtype!(src.dtype(), T => lines.write_indices::<T>(&src, &dst, Direction::Ascending, extent))
}

/// The part of a line that is sorted.
#[derive(Clone, Copy)]
enum Extent {
    /// All of it.
    All,
    /// Only the element at an index is at its sorted position.
    Around(usize),
}

/// The lines along an axis of a source and a destination.
struct Lines {
    others: StridedLoops<2>,
    length: usize,
    strides: [isize; 2],
}

/// An element whose key fits an item, alone or with its index.
trait RadixKey: Keyed {
    /// The key.
    type Value: Item;
    /// The key and the index: a single integer for narrow keys.
    type KeyWithIndex: Item;
    /// Bits of the key.
    const BITS: Range<u32>;
    /// Bits of the key in an item with an index.
    const KEY_BITS_WITH_INDEX: Range<u32>;
    /// The item of an element and its index.
    fn with_index(self, index: u32, direction: Direction) -> Self::KeyWithIndex;
    /// The index in an item.
    fn index_of(item: Self::KeyWithIndex) -> u32;
}

macro_rules! narrow {
    ($($ty:ty)*) => { $(
        impl RadixKey for $ty {
            type Value = u32;
            type KeyWithIndex = u64;
            const BITS: Range<u32> = 0..8 * size_of::<$ty>() as u32;
            const KEY_BITS_WITH_INDEX: Range<u32> = 32..32 + 8 * size_of::<$ty>() as u32;
            #[inline(always)]
            fn with_index(self, index: u32, direction: Direction) -> u64 {
                u64::from(self.key(direction)) << 32 | u64::from(index)
            }
            #[inline(always)]
            fn index_of(item: u64) -> u32 {
                item as u32
            }
        }
        impl InvertibleRadixKey for $ty {
            #[inline(always)]
            fn value(self) -> u32 {
                u32::from(self.exact_key())
            }
            #[inline(always)]
            fn of_value(value: u32) -> $ty {
                Self::of_exact_key(value as _)
            }
        }
    )* };
}
narrow!(Bool u8 u16 u32 i8 i16 i32 f16 bf16 f32);

macro_rules! wide {
    ($($ty:ty, $key:ty;)*) => { $(
        impl RadixKey for $ty {
            type Value = u64;
            type KeyWithIndex = ($key, u32);
            const BITS: Range<u32> = 0..64;
            const KEY_BITS_WITH_INDEX: Range<u32> = 0..64;
            #[inline(always)]
            fn with_index(self, index: u32, direction: Direction) -> Self::KeyWithIndex {
                (self.key(direction), index)
            }
            #[inline(always)]
            fn index_of(item: Self::KeyWithIndex) -> u32 {
                item.1
            }
        }
    )* };
}
wide! { u64, u64; i64, u64; f64, u64; Complex32, u64; Complex64, u128; }

/// An element that can be recovered from its key.
trait InvertibleRadixKey: RadixKey + Invertible {
    /// The key as an item.
    fn value(self) -> Self::Value;
    /// The element of an item.
    fn of_value(value: Self::Value) -> Self;
}

macro_rules! wide_values {
    ($($ty:ty)*) => { $(
        impl InvertibleRadixKey for $ty {
            #[inline(always)]
            fn value(self) -> u64 {
                self.exact_key()
            }
            #[inline(always)]
            fn of_value(value: u64) -> $ty {
                Self::of_exact_key(value)
            }
        }
    )* };
}
wide_values!(u64 i64 f64);

impl Lines {
    fn new(src: &View, axis: usize, dst: &ViewMut) -> Lines {
        let mut others = StridedLoops::new(&[], [&[], &[]]);
        for (other_axis, &length) in src.shape().iter().enumerate() {
            if other_axis != axis {
                others.push(umber_kernels_base::strided_loops::Loop {
                    length,
                    strides: [src.strides()[other_axis], dst.strides()[other_axis]],
                });
            }
        }
        Lines { others, length: src.shape()[axis], strides: [src.strides()[axis], dst.strides()[axis]] }
    }

    /// Sort every line. `read` converts an element and its index to an item, `write` gets the sorted position and the item.
    fn each<T: Keyed, I: Item>(
        &self,
        src: &View,
        read: impl Fn(T, u32) -> I + Sync,
        write: impl Fn([isize; 2], usize, I) + Sync,
        bits: Range<u32>,
        extent: Extent,
    ) -> Result<()> {
        let from = Source::<T>::of(src);
        let count = self.others.count();
        if count == 0 || self.length == 0 {
            return Ok(());
        }
        let failed = std::sync::atomic::AtomicBool::new(false);
        parallel_ranges(count, GRAIN / self.length, |range| {
            let needs_spare = matches!(extent, Extent::All) && order::needs_spare::<I>(self.length);
            let buffers =
                (ScratchVec::new(self.length), ScratchVec::new(if needs_spare { self.length } else { 0 }));
            let (Ok(mut items), Ok(mut spare)) = buffers else {
                failed.store(true, std::sync::atomic::Ordering::Relaxed);
                return;
            };
            self.others.walk(range, |starts| {
                items.clear();
                items.extend((0..self.length).map(|i| {
                    // SAFETY: the layout of the source holds the line.
                    read(unsafe { *from.at(starts[0] + i as isize * self.strides[0]) }, i as u32)
                }));
                match extent {
                    Extent::All => sort_items(&mut items, &mut spare, bits.clone()),
                    Extent::Around(kth) => select_item(&mut items, kth),
                }
                for (i, &item) in items.iter().enumerate() {
                    write(starts, i, item);
                }
            });
        });
        if failed.into_inner() {
            return Err(error!(Memory, "out of memory sorting rows of {} elements", self.length));
        }
        Ok(())
    }

    fn write_values(&self, src: &View, dst: &ViewMut, extent: Extent) -> Result<()> {
        match src.dtype() {
            DType::Bool => self.sort_values::<Bool>(src, dst, extent),
            DType::Complex64 => self.argsort_then_gather::<Complex32>(src, dst, extent),
            DType::Complex128 => self.argsort_then_gather::<Complex64>(src, dst, extent),
            real => match_dtype!(real real, T => self.sort_values::<T>(src, dst, extent), else => Ok(())),
        }
    }

    fn sort_values<T: InvertibleRadixKey>(&self, src: &View, dst: &ViewMut, extent: Extent) -> Result<()> {
        if size_of::<T>() == size_of::<T::Value>() && self.strides[1] == 1 && T::Value::has_vectors() {
            self.sort_in_place::<T>(src, dst, extent);
            return Ok(());
        }
        let to = Target::<T>::of(dst);
        let write = |starts: [isize; 2], i: usize, item: T::Value| {
            // SAFETY: the layout of the destination holds the line; tasks have disjoint lines.
            unsafe { *to.at(starts[1] + i as isize * self.strides[1]) = T::of_value(item) };
        };
        self.each(src, |element: T, _| element.value(), write, T::BITS, extent)
    }

    /// For keys of the same size as the elements, which are sorted in the destination.
    fn sort_in_place<T: InvertibleRadixKey>(&self, src: &View, dst: &ViewMut, extent: Extent) {
        // Empty lines may have dangling addresses.
        if self.length == 0 {
            return;
        }
        let (from, to) = (Source::<T>::of(src), Target::<T>::of(dst));
        parallel_ranges(self.others.count(), GRAIN / self.length.max(1), |lines| {
            self.others.walk(lines, |starts| {
                let (from, to) = (from.shifted(starts[0]), to.shifted(starts[1]));
                let keys = to.cast::<T::Value>();
                in_vectors(
                    self.length,
                    #[inline(always)]
                    |range| {
                        let (first, count) = (range.start as isize, range.len());
                        // SAFETY: the layout of the destination holds the line, keys have the size of elements, and tasks
                        // have disjoint ranges. The memory may be uninitialised, but every bit pattern is a valid key.
                        let keys = unsafe { std::slice::from_raw_parts_mut(keys.at(first), count) };
                        if self.strides[0] == 1 {
                            // SAFETY: the layout of the source holds the line.
                            let elements = unsafe { std::slice::from_raw_parts(from.at(first), count) };
                            keys.iter_mut().zip(elements).for_each(|(key, element)| *key = element.value());
                            return;
                        }
                        for (i, key) in keys.iter_mut().enumerate() {
                            // SAFETY: the layout of the source holds the line.
                            *key = unsafe { *from.at((first + i as isize) * self.strides[0]) }.value();
                        }
                    },
                );
                // SAFETY: all keys of the line were written, and no other task has the line.
                let keys = unsafe { std::slice::from_raw_parts_mut(keys.at(0), self.length) };
                match extent {
                    Extent::All => T::Value::sort_with_vectors(keys),
                    Extent::Around(kth) => T::Value::select_with_vectors(keys, kth),
                };
                let keys = Target::over(keys);
                in_vectors(
                    self.length,
                    #[inline(always)]
                    |range| {
                        // SAFETY: tasks have disjoint ranges of the keys above.
                        let keys = unsafe {
                            std::slice::from_raw_parts_mut(keys.at(range.start as isize), range.len())
                        };
                        for key in keys {
                            // SAFETY: elements have the size of keys.
                            unsafe { std::ptr::from_mut(key).cast::<T>().write(T::of_value(*key)) };
                        }
                    },
                );
            });
        });
    }

    /// For elements that cannot be recovered from their keys.
    fn argsort_then_gather<T: RadixKey>(&self, src: &View, dst: &ViewMut, extent: Extent) -> Result<()> {
        let (from, to) = (Source::<T>::of(src), Target::<T>::of(dst));
        let write = |starts: [isize; 2], i: usize, item: T::KeyWithIndex| {
            // SAFETY: the layouts hold the lines; tasks have disjoint lines.
            unsafe {
                let element = *from.at(starts[0] + T::index_of(item) as isize * self.strides[0]);
                *to.at(starts[1] + i as isize * self.strides[1]) = element;
            }
        };
        let read = |element: T, index| element.with_index(index, Direction::Ascending);
        self.each(src, read, write, T::KEY_BITS_WITH_INDEX, extent)
    }

    fn write_indices<T: RadixKey>(
        &self,
        src: &View,
        dst: &ViewMut,
        direction: Direction,
        extent: Extent,
    ) -> Result<()> {
        let to = Target::<u32>::of(dst);
        let write = |starts: [isize; 2], i: usize, item: T::KeyWithIndex| {
            // SAFETY: the layout of the destination holds the line; tasks have disjoint lines.
            unsafe { *to.at(starts[1] + i as isize * self.strides[1]) = T::index_of(item) };
        };
        let read = move |element: T, index| element.with_index(index, direction);
        self.each(src, read, write, T::KEY_BITS_WITH_INDEX, extent)
    }
}

/// Run `body` with vector instructions on all elements of a line, on several threads if it is long.
#[inline(always)]
fn in_vectors(length: usize, body: impl Fn(Range<usize>) + Sync) {
    parallel_ranges(length, ELEMENTWISE_GRAIN, |range| {
        vectorised(
            #[inline(always)]
            || body(range),
        );
    });
}
