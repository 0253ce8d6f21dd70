//! Copies of elements between memory and registers, by element size only.
//!
//! Safety of every function here: the elements described by the arguments are readable in the source and writable in the
//! destination, which do not overlap.
#![expect(clippy::cast_ptr_alignment, reason = "views are aligned, and registers are cache-line aligned")]

use umber_kernels_base::by_width::dispatch_by_width;
use umber_kernels_base::caches::LINE;
use umber_kernels_base::isa::{Cache, prefetch_lines, vectorised};

/// Copy `count` elements that are `stride` apart to adjacent ones.
pub(super) unsafe fn gather(size: usize, from: *const u8, stride: isize, to: *mut u8, count: usize) {
    /// For fewer elements the vectorised loop does not pay.
    const MIN_ELEMENTS: usize = 32;
    match stride {
        // SAFETY: the contract of this module.
        0 => return unsafe { splat(size, from, to, count) },
        // SAFETY: as above.
        1 => return unsafe { std::ptr::copy_nonoverlapping(from, to, count * size) },
        _ => {}
    }
    dispatch_by_width!(size, T => {
        let (from, to) = (from.cast::<T>(), to.cast::<T>());
        // SAFETY: as above.
        unsafe {
            match stride {
                -1 if count >= MIN_ELEMENTS => vectorised(#[inline(always)] || copy_strided::<T, -1>(from, to, count)),
                2 if count >= MIN_ELEMENTS => vectorised(#[inline(always)] || copy_strided::<T, 2>(from, to, count)),
                3 if count >= MIN_ELEMENTS => vectorised(#[inline(always)] || copy_strided::<T, 3>(from, to, count)),
                4 if count >= MIN_ELEMENTS => vectorised(#[inline(always)] || copy_strided::<T, 4>(from, to, count)),
                _ => {
                    for i in 0..count {
                        to.add(i).write(from.offset(i as isize * stride).read());
                    }
                }
            }
        }
    });
}

/// [`gather`] with a constant stride, for which the compiler emits shuffles.
#[inline(always)]
unsafe fn copy_strided<T: Copy, const STRIDE: isize>(from: *const T, to: *mut T, count: usize) {
    for i in 0..count {
        // SAFETY: the contract of this module.
        unsafe { to.add(i).write(from.offset(i as isize * STRIDE).read()) }
    }
}

/// Copy `count` adjacent elements to ones that are `stride` apart.
pub(super) unsafe fn scatter(size: usize, from: *const u8, to: *mut u8, stride: isize, count: usize) {
    if stride == 1 {
        // SAFETY: the contract of this module.
        return unsafe { std::ptr::copy_nonoverlapping(from, to, count * size) };
    }
    dispatch_by_width!(size, T => {
        let (from, to) = (from.cast::<T>(), to.cast::<T>());
        for i in 0..count {
            // SAFETY: the contract of this module.
            unsafe { to.offset(i as isize * stride).write(from.add(i).read()) }
        }
    });
}

/// Broadcast one element to `count` adjacent ones.
pub(super) unsafe fn splat(size: usize, from: *const u8, to: *mut u8, count: usize) {
    dispatch_by_width!(size, T => {
        // SAFETY: the contract of this module; `from` may be unaligned (constants are bytes).
        unsafe {
            let value = from.cast::<T>().read_unaligned();
            std::slice::from_raw_parts_mut(to.cast::<T>(), count).fill(value);
        }
    });
}

/// Rows of fewer elements are copied by [`copy_short`].
pub(super) const MAX_SHORT_ROW: usize = 16;

/// Copy short rows: `counts` are the number of rows and their length, `strides` those between rows and along a row, of the source
/// and of the target.
pub(super) unsafe fn copy_short(
    size: usize,
    from: *const u8,
    to: *mut u8,
    strides: [(isize, isize); 2],
    counts: [usize; 2],
) {
    dispatch_by_width!(size, T => {
        let (from, to) = (from.cast::<T>(), to.cast::<T>());
        let [rows, length] = counts;
        let is_repeated = strides == [(1, 0), (length as isize, 1)];
        // SAFETY: the contract of this module.
        unsafe {
            match (is_repeated, length) {
                (true, 2) => vectorised(#[inline(always)] || repeat::<T, 2>(from, to, rows)),
                (true, 3) => vectorised(#[inline(always)] || repeat::<T, 3>(from, to, rows)),
                (true, 4) => vectorised(#[inline(always)] || repeat::<T, 4>(from, to, rows)),
                (_, 2) => copy_rows::<T, 2>(from, to, strides, counts),
                (_, 3) => copy_rows::<T, 3>(from, to, strides, counts),
                (_, 4) => copy_rows::<T, 4>(from, to, strides, counts),
                _ => copy_rows::<T, 0>(from, to, strides, counts),
            }
        }
    });
}

/// Each element `N` times.
#[inline(always)]
unsafe fn repeat<T: Copy, const N: usize>(from: *const T, to: *mut T, count: usize) {
    for i in 0..count {
        for j in 0..N {
            // SAFETY: the contract of this module.
            unsafe { to.add(i * N + j).write(from.add(i).read()) }
        }
    }
}

/// [`copy_short`] of rows of `N` elements, or of any number if `N` is 0.
#[inline(always)]
unsafe fn copy_rows<T: Copy, const N: usize>(
    from: *const T,
    to: *mut T,
    [source, target]: [(isize, isize); 2],
    [rows, length]: [usize; 2],
) {
    let counts = [rows, if N == 0 { length } else { N }];
    // With constant strides for the common cases.
    // SAFETY: the contract of this module.
    unsafe {
        match (source.1, target.1) {
            (1, 1) => copy_each(from, to, [(source.0, 1), (target.0, 1)], counts),
            (0, 1) => copy_each(from, to, [(source.0, 0), (target.0, 1)], counts),
            _ => copy_each(from, to, [source, target], counts),
        }
    }
}

/// [`copy_short`] for one element type.
#[inline(always)]
unsafe fn copy_each<T: Copy>(
    from: *const T,
    to: *mut T,
    [source, target]: [(isize, isize); 2],
    [rows, length]: [usize; 2],
) {
    for i in 0..rows as isize {
        for j in 0..length as isize {
            // SAFETY: the contract of this module.
            unsafe {
                let to = to.offset(i * target.0 + j * target.1);
                to.write(from.offset(i * source.0 + j * source.1).read());
            }
        }
    }
}

/// Prefetch the cache lines of `count` elements that are `stride` apart; the addresses need not be valid.
#[inline(always)]
pub(super) fn prefetch_strided(size: usize, from: *const u8, stride: isize, count: usize, cache: Cache) {
    let step = stride.unsigned_abs() * size;
    let first = if stride < 0 { from.wrapping_sub(count.saturating_sub(1) * step) } else { from };
    if step <= LINE {
        return prefetch_lines(first, count * step, cache);
    }
    for i in 0..count {
        prefetch_lines(first.wrapping_add(i * step), 1, cache);
    }
}
