//! Sorting networks for few items: columns of registers are sorted first, and the resulting runs merged by bitonic networks
//! (K. E. Batcher, "Sorting networks and their applications", 1968).

use std::mem::MaybeUninit;

use super::lanes::Lanes;

/// Registers of a block, sorted column by column.
pub(super) const BLOCK: usize = 16;
/// Registers that fit the register file together in the last steps of a larger merge.
const GROUP: usize = 8;
/// Maximum of [`Lanes::NETWORK`].
const MAX_REGISTERS: usize = 128;

/// Sort at most [`Lanes::NETWORK`] registers of items.
///
/// # Safety
///
/// The processor has the instructions of `L`.
pub(super) unsafe fn sort<L: Lanes>(items: &mut [L::Item]) {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        match items.len().div_ceil(L::COUNT) {
            0 | 1 => sort_few::<L, 1>(items),
            2 => sort_few::<L, 2>(items),
            3..=4 => sort_few::<L, 4>(items),
            5..=8 => sort_few::<L, 8>(items),
            9..=BLOCK => sort_few::<L, BLOCK>(items),
            _ => L::compiled(
                #[inline(always)]
                || sort_many::<L>(items),
            ),
        }
    }
}

/// Sort at most `N` registers of items.
///
/// # Safety
///
/// The processor has the instructions of `L`.
unsafe fn sort_few<L: Lanes, const N: usize>(items: &mut [L::Item]) {
    // SAFETY: guaranteed by the caller of this function; only the items are accessed.
    unsafe {
        L::compiled(
            #[inline(always)]
            || {
                let mut vectors = load::<L, N>(items, 0);
                sort_vectors::<L, N>(&mut vectors);
                for (i, &vector) in vectors.iter().enumerate() {
                    store::<L>(items, i, vector);
                }
            },
        );
    }
}

/// Number of items in register `index`.
#[inline(always)]
fn item_count<L: Lanes>(items: &[L::Item], index: usize) -> usize {
    items.len().saturating_sub(index * L::COUNT).min(L::COUNT)
}

/// Load `N` registers, beginning with register `first`, padded with the maximum value.
///
/// # Safety
///
/// The processor has the instructions of `L`.
#[inline(always)]
unsafe fn load<L: Lanes, const N: usize>(items: &[L::Item], first: usize) -> [L::Vector; N] {
    let register = |i: usize| items.as_ptr().wrapping_add((first + i) * L::COUNT);
    // SAFETY: guaranteed by the caller of this function; only the items are read.
    unsafe {
        let mut vectors = [L::load_partial(register(0), item_count::<L>(items, first)); N];
        for (i, vector) in vectors.iter_mut().enumerate().skip(1) {
            *vector = L::load_partial(register(i), item_count::<L>(items, first + i));
        }
        vectors
    }
}

/// Store the items of a register, without the padding.
///
/// # Safety
///
/// The processor has the instructions of `L`.
#[inline(always)]
unsafe fn store<L: Lanes>(items: &mut [L::Item], index: usize, vector: L::Vector) {
    let count = item_count::<L>(items, index);
    // SAFETY: guaranteed by the caller of this function; only the items are written.
    unsafe { L::store_partial(items.as_mut_ptr().wrapping_add(index * L::COUNT), count, vector) };
}

/// Sort all lanes of `N` registers.
///
/// # Safety
///
/// The processor has the instructions of `L`.
#[inline(always)]
unsafe fn sort_vectors<L: Lanes, const N: usize>(vectors: &mut [L::Vector; N]) {
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        let mut width = 1;
        if N == BLOCK {
            L::sort_runs((&mut vectors[..]).try_into().expect("a block"));
            width = L::RUN;
        } else {
            for vector in &mut *vectors {
                *vector = L::sort(*vector);
            }
        }
        while width < N {
            for run in vectors.chunks_exact_mut(2 * width) {
                // Reversing the second half makes the run a bitonic sequence.
                run[width..].reverse();
                for i in 0..width {
                    let (a, b) = (run[i], L::reverse(run[width + i]));
                    (run[i], run[width + i]) = L::min_max(a, b);
                }
                let mut distance = width / 2;
                while distance > 0 {
                    for i in (0..2 * width).filter(|i| i & distance == 0) {
                        (run[i], run[i + distance]) = L::min_max(run[i], run[i + distance]);
                    }
                    distance /= 2;
                }
                for vector in run {
                    *vector = L::merge(*vector);
                }
            }
            width *= 2;
        }
    }
}

/// Sort more than a block: sort blocks, then merge pairs. Registers beyond the items would hold maximum values only, and
/// these stay at the end, so they need not exist.
///
/// # Safety
///
/// The processor has the instructions of `L`.
#[inline(always)]
unsafe fn sort_many<L: Lanes>(items: &mut [L::Item]) {
    let count = items.len().div_ceil(L::COUNT).next_multiple_of(GROUP);
    assert!(count <= MAX_REGISTERS, "too many registers for the networks");
    let mut buffer = [const { MaybeUninit::<L::Vector>::uninit() }; MAX_REGISTERS];
    let vectors = buffer.as_mut_ptr().cast::<L::Vector>();
    // SAFETY: guaranteed by the caller of this function; the first `count` registers are written before they are read.
    unsafe {
        for first in (0..count).step_by(BLOCK) {
            let mut block = load::<L, BLOCK>(items, first);
            sort_vectors::<L, BLOCK>(&mut block);
            for (i, &vector) in block.iter().enumerate().take(count - first) {
                vectors.add(first + i).write(vector);
            }
        }
        let mut width = BLOCK;
        while width < count {
            for start in (0..count).step_by(2 * width) {
                merge::<L>(vectors.add(start), width, (2 * width).min(count - start));
            }
            width *= 2;
        }
        for i in 0..items.len().div_ceil(L::COUNT) {
            store::<L>(items, i, *vectors.add(i));
        }
    }
}

/// Merge the first `width` registers with those after them, up to `end`, a multiple of [`GROUP`].
///
/// # Safety
///
/// The processor has the instructions of `L`, and `end` registers are readable and writable.
#[inline(always)]
unsafe fn merge<L: Lanes>(vectors: *mut L::Vector, width: usize, end: usize) {
    if end <= width {
        return;
    }
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        // Compare each register with its mirror image.
        for i in 2 * width - end..width {
            let (a, b) = (vectors.add(i), vectors.add(2 * width - 1 - i));
            let (min, max) = L::min_max(*a, L::reverse(*b));
            (*a, *b) = (min, L::reverse(max));
        }
        let mut distance = width / 2;
        while distance >= GROUP {
            for start in (0..end).step_by(2 * distance) {
                for i in start..(start + distance).min(end.saturating_sub(distance)) {
                    let (a, b) = (vectors.add(i), vectors.add(i + distance));
                    (*a, *b) = L::min_max(*a, *b);
                }
            }
            distance /= 2;
        }
        for start in (0..end).step_by(GROUP) {
            let group = vectors.add(start).cast::<[L::Vector; GROUP]>();
            let mut run = *group;
            for distance in [4, 2, 1] {
                for i in (0..GROUP).filter(|i| i & distance == 0) {
                    (run[i], run[i + distance]) = L::min_max(run[i], run[i + distance]);
                }
            }
            for vector in &mut run {
                *vector = L::merge(*vector);
            }
            *group = run;
        }
    }
}

/// Sort each lane across the registers, with 60 comparisons in ten layers (M. W. Green, 1969).
///
/// # Safety
///
/// The processor has the instructions of `L`.
#[inline(always)]
pub(super) unsafe fn sort_columns<L: Lanes>(vectors: &mut [L::Vector; BLOCK]) {
    macro_rules! compare {
        ($($a:literal $b:literal),*) => { $(
            // SAFETY: guaranteed by the caller of this function.
            (vectors[$a], vectors[$b]) = unsafe { L::min_max(vectors[$a], vectors[$b]) };
        )* };
    }
    compare!(0 13, 1 12, 2 15, 3 14, 4 8, 5 6, 7 11, 9 10);
    compare!(0 5, 1 7, 2 9, 3 4, 6 13, 8 14, 10 15, 11 12);
    compare!(0 1, 2 3, 4 5, 6 8, 7 9, 10 11, 12 13, 14 15);
    compare!(0 2, 1 3, 4 10, 5 11, 6 7, 8 9, 12 14, 13 15);
    compare!(1 2, 3 12, 4 6, 5 7, 8 10, 9 11, 13 14);
    compare!(1 4, 2 6, 5 8, 7 10, 9 13, 11 14);
    compare!(2 4, 3 6, 9 12, 11 13);
    compare!(3 5, 6 8, 7 9, 10 12);
    compare!(3 4, 5 6, 7 8, 9 10, 11 12);
    compare!(6 7, 8 9);
}
