//! Sorting along an axis: stable, NaN last, complex numbers by real part, then by imaginary part.
//!
//! Elements become unsigned integers in the same order (`keys.rs`); `order.rs` sorts those, by digits if there are
//! many. Where places are asked for, a place rides along with each key.

mod order;

use umber_types::{Error, Result, match_dtype};

use self::order::{Item, sort_items};
use crate::keys::{Direction, Invertible, Keyed};
use crate::nest::Nest;
use crate::shared::{Source, Target};
use crate::threads::parallel_ranges;
use crate::{View, ViewMut};

/// Elements worth a task of their own.
const GRAIN: usize = 1 << 11;

/// Write the elements of each line of `src` along `axis` in ascending order to `dst` of the same shape and dtype.
/// NaN comes last, and zeros of both signs are in no order.
///
/// # Errors
/// If there is no memory for two copies of a line.
///
/// # Panics
/// If shapes or dtypes do not fit together.
pub fn sort(src: View, axis: usize, dst: ViewMut) -> Result<()> {
    assert_eq!((src.shape(), src.dtype()), (dst.shape(), dst.dtype()), "sorting keeps shape and dtype");
    let lines = Lines::new(&src, axis, &dst);
    if src.dtype().is_complex() {
        return match_dtype!(inexact src.dtype(), T => lines.sort_by_places::<T>(&src, &dst), else => Ok(()));
    }
    match_dtype!(real src.dtype(), T => lines.sort_values::<T>(&src, &dst),
        else => lines.sort_values::<umber_types::Bool>(&src, &dst))
}

/// Write where the elements of each line of `src` along `axis` are found in ascending order to `dst`, uint32 of the
/// same shape. Equal elements stay in the order they have, NaN comes last.
///
/// # Errors
/// If there is no memory for two copies of a line.
///
/// # Panics
/// If shapes do not fit together or `dst` is not of a 32-bit dtype.
pub fn argsort(src: View, axis: usize, dst: ViewMut) -> Result<()> {
    assert_eq!(src.shape(), dst.shape(), "sorting keeps the shape");
    let lines = Lines::new(&src, axis, &dst);
    match_dtype!(src.dtype(), T => lines.write_places::<T>(&src, &dst))
}

/// The lines along an axis of a source and a destination.
struct Lines {
    others: Nest<2>,
    length: usize,
    strides: [isize; 2],
}

/// An element with its place: narrow keys and places share an integer.
trait Placed: Keyed {
    /// Both.
    type Item: Item;
    /// The item of an element.
    fn item(self, place: u32) -> Self::Item;
    /// The place of an item.
    fn place(item: Self::Item) -> u32;
}

macro_rules! narrow {
    ($($ty:ty)*) => { $(
        impl Placed for $ty {
            type Item = order::Narrow<{ size_of::<$ty>() }>;
            #[inline(always)]
            fn item(self, place: u32) -> Self::Item {
                order::Narrow(u64::from(self.key(Direction::Ascending)) << 32 | u64::from(place))
            }
            #[inline(always)]
            fn place(item: Self::Item) -> u32 {
                item.0 as u32
            }
        }
    )* };
}
narrow!(umber_types::Bool u8 u16 u32 i8 i16 i32 umber_types::f16 umber_types::bf16 f32);

macro_rules! wide {
    ($($ty:ty)*) => { $(
        impl Placed for $ty {
            type Item = (Self::Key, u32);
            #[inline(always)]
            fn item(self, place: u32) -> Self::Item {
                (self.key(Direction::Ascending), place)
            }
            #[inline(always)]
            fn place(item: Self::Item) -> u32 {
                item.1
            }
        }
    )* };
}
wide!(u64 i64 f64 umber_types::Complex32 umber_types::Complex64);

impl Lines {
    fn new(src: &View, axis: usize, dst: &ViewMut) -> Lines {
        let mut others = Nest::new(&[], [&[], &[]]);
        for (other, &length) in src.shape().iter().enumerate() {
            if other != axis {
                others.push(crate::nest::Loop {
                    length,
                    strides: [src.strides()[other], dst.strides()[other]],
                });
            }
        }
        Lines { others, length: src.shape()[axis], strides: [src.strides()[axis], dst.strides()[axis]] }
    }

    /// Sort every line: `read` makes an item of an element and its place, `write` gets the place in order and the item.
    fn each<T: Keyed, I: Item>(
        &self,
        src: &View,
        read: impl Fn(T, u32) -> I + Sync,
        write: impl Fn([isize; 2], usize, I) + Sync,
    ) -> Result<()> {
        let from = Source::<T>::of(src);
        let count = self.others.count();
        if count == 0 || self.length == 0 {
            return Ok(());
        }
        let failed = std::sync::atomic::AtomicBool::new(false);
        parallel_ranges(count, GRAIN / self.length, |range| {
            let (mut items, mut spare) = (Vec::new(), Vec::new());
            let has_memory = items.try_reserve_exact(self.length).is_ok()
                && spare.try_reserve_exact(if self.length < order::MANY { 0 } else { self.length }).is_ok();
            if !has_memory {
                failed.store(true, std::sync::atomic::Ordering::Relaxed);
                return;
            }
            self.others.walk(range, |starts| {
                items.clear();
                items.extend((0..self.length).map(|i| {
                    // SAFETY: the layout of the source holds the line.
                    read(unsafe { *from.at(starts[0] + i as isize * self.strides[0]) }, i as u32)
                }));
                sort_items(&mut items, &mut spare);
                for (i, &item) in items.iter().enumerate() {
                    write(starts, i, item);
                }
            });
        });
        if failed.into_inner() {
            return Err(Error::Memory(format!("no memory to sort lines of {} elements", self.length)));
        }
        Ok(())
    }

    fn sort_values<T: Invertible>(&self, src: &View, dst: &ViewMut) -> Result<()>
    where
        T::Key: Item,
    {
        let to = Target::<T>::of(dst);
        self.each(
            src,
            |element: T, _| element.exact_key(),
            |starts, i, key| {
                // SAFETY: the layout of the destination holds the line; tasks have lines of their own.
                unsafe { *to.at(starts[1] + i as isize * self.strides[1]) = T::of_exact_key(key) };
            },
        )
    }

    /// For elements that their keys do not tell in full.
    fn sort_by_places<T: Placed>(&self, src: &View, dst: &ViewMut) -> Result<()> {
        let (from, to) = (Source::<T>::of(src), Target::<T>::of(dst));
        self.each(src, T::item, |starts, i, item| {
            // SAFETY: the layouts hold the lines; tasks have lines of their own.
            unsafe {
                let element = *from.at(starts[0] + T::place(item) as isize * self.strides[0]);
                *to.at(starts[1] + i as isize * self.strides[1]) = element;
            }
        })
    }

    fn write_places<T: Placed>(&self, src: &View, dst: &ViewMut) -> Result<()> {
        let to = Target::<u32>::of(dst);
        self.each(src, T::item, |starts, i, item| {
            // SAFETY: the layout of the destination holds the line; tasks have lines of their own.
            unsafe { *to.at(starts[1] + i as isize * self.strides[1]) = T::place(item) };
        })
    }
}
