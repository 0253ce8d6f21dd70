//! Loading lines into rows of SIMD lanes, and storing them.
#![expect(clippy::needless_range_loop, reason = "indices select rows of a tile and lines together")]

use crate::vector::{Lane, Vector};

/// Maximum number of groups processed together.
pub(super) const INTERLEAVE: usize = 4;
/// Maximum lanes of a vector.
pub(super) const MAX_LANES: usize = 16;

/// Strides within a line, in real numbers.
#[derive(Clone, Copy)]
pub(super) struct Strides {
    /// From one pair to the next.
    pub(super) pair: isize,
    /// From the first real number of a pair to the second.
    pub(super) part: isize,
}

/// The memory order of the lines of a group.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Each line is contiguous.
    Dense,
    /// The pairs of neighbouring lines are contiguous.
    InterleavedPairs,
    /// The real numbers of neighbouring lines are contiguous.
    InterleavedReals,
    Scattered,
}

/// Bytes of rows that stay in L2.
pub(super) const CACHED: usize = 5 << 17;
/// Prefetch distance in rows. Rows may be in different pages, across which hardware prefetchers do not work.
const PREFETCH_ROWS: isize = 8;

/// Offsets of the lines of a group, in real numbers.
#[derive(Clone, Copy)]
pub(super) struct Group {
    pub(super) starts: [isize; MAX_LANES],
    /// Number of lines; unused lanes repeat the first line.
    pub(super) count: usize,
    /// Distance between consecutive lines, if it is constant.
    pub(super) step: Option<isize>,
}

impl Group {
    pub(super) const NONE: Group = Group { starts: [0; MAX_LANES], count: 0, step: None };

    /// A group of equidistant lines.
    #[inline(always)]
    pub(super) fn regular(first: isize, step: isize, count: usize) -> Group {
        let mut starts = [first; MAX_LANES];
        for (i, start) in starts.iter_mut().enumerate().take(count) {
            *start += i as isize * step;
        }
        Group { starts, count, step: Some(step) }
    }

    /// A group of lines at any offsets.
    pub(super) fn irregular(lines: &[isize]) -> Group {
        let mut starts = [lines[0]; MAX_LANES];
        starts[..lines.len()].copy_from_slice(lines);
        let step = starts[1] - starts[0];
        let regular = lines.windows(2).all(|pair| pair[1] - pair[0] == step);
        Group { starts, count: lines.len(), step: regular.then_some(step) }
    }

    /// The memory order that all groups have.
    fn order(groups: &[Group], strides: Strides, lanes: usize) -> Order {
        let has_step =
            |step: isize| groups.iter().all(|group| group.count == lanes && group.step == Some(step));
        match strides {
            Strides { pair: 2, part: 1 } => Order::Dense,
            Strides { part: 1, .. } if has_step(2) => Order::InterleavedPairs,
            _ if has_step(1) => Order::InterleavedReals,
            _ => Order::Scattered,
        }
    }
}

/// Modifications during load and store.
#[derive(Clone, Copy)]
pub(super) struct OutputScaling<T> {
    /// 1 if real and imaginary parts are exchanged.
    pub(super) exchange: usize,
    pub(super) factor: T,
}

/// Load `count` pairs of every line into rows. The rows of consecutive groups are `row_stride` vectors apart.
///
/// # Safety
///
/// The lines are readable, `rows` has space for all groups, and the processor has the instruction set of `V`.
#[inline(always)]
pub(super) unsafe fn load_rows<V: Vector<Lane: Lane>>(
    from: *const V::Lane,
    groups: &[Group],
    strides: Strides,
    count: usize,
    exchange: usize,
    rows: *mut V,
    row_stride: usize,
) {
    let lanes = V::LANES;
    let order = Group::order(groups, strides, lanes);
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        // Neighbouring lines are loaded together, row by row, since rows may be in different pages.
        if matches!(order, Order::InterleavedPairs | Order::InterleavedReals) {
            let second_line = if order == Order::InterleavedPairs { lanes as isize } else { strides.part };
            for j in 0..count {
                for (i, group) in groups.iter().enumerate() {
                    let at = from.offset(group.starts[0] + j as isize * strides.pair);
                    let ahead = at.wrapping_offset(PREFETCH_ROWS * strides.pair);
                    V::prefetch(ahead);
                    V::prefetch(ahead.wrapping_offset(second_line));
                    let row = if order == Order::InterleavedPairs {
                        V::deinterleave(V::load(at), V::load(at.add(lanes)))
                    } else {
                        [V::load(at), V::load(at.offset(strides.part))]
                    };
                    let rows = rows.add(i * row_stride + 2 * j);
                    *rows.add(exchange) = row[0];
                    *rows.add(1 - exchange) = row[1];
                }
            }
            return;
        }
        for (i, group) in groups.iter().enumerate() {
            let rows = rows.add(i * row_stride);
            let mut done = 0;
            if order == Order::Dense {
                let pairs_per_tile = lanes / 2;
                while done + pairs_per_tile <= count {
                    let mut tile = V::square(V::splat(V::Lane::of(0.0)));
                    let x = tile.as_mut();
                    for line in 0..lanes {
                        x[line] = V::load(from.offset(group.starts[line] + 2 * done as isize));
                    }
                    V::transpose(&mut tile);
                    let x = tile.as_ref();
                    for i in 0..lanes {
                        *rows.add(2 * done + (i ^ exchange)) = x[i];
                    }
                    done += pairs_per_tile;
                }
            }
            while done < count {
                let at = from.offset(done as isize * strides.pair);
                for part in 0..2 {
                    let row = rows.add(2 * done + (part ^ exchange)).cast::<V::Lane>();
                    for line in 0..lanes {
                        *row.add(line) = *at.offset(group.starts[line] + part as isize * strides.part);
                    }
                }
                done += 1;
            }
        }
    }
}

/// Store one pair of every line for each element of `digit_reversed`, which is the row that holds the pair.
///
/// # Safety
///
/// As for [`load_rows`], with writable lines.
#[inline(always)]
pub(super) unsafe fn store_rows<V: Vector<Lane: Lane>>(
    rows: *const V,
    digit_reversed: &[u32],
    scaling: OutputScaling<V::Lane>,
    to: *mut V::Lane,
    groups: &[Group],
    strides: Strides,
    row_stride: usize,
) {
    let lanes = V::LANES;
    let order = Group::order(groups, strides, lanes);
    let (count, exchange) = (digit_reversed.len(), scaling.exchange);
    // SAFETY: guaranteed by the caller of this function.
    unsafe {
        let factor = V::splat(scaling.factor);
        if matches!(order, Order::InterleavedPairs | Order::InterleavedReals) {
            let second_line = if order == Order::InterleavedPairs { lanes as isize } else { strides.part };
            for j in 0..count {
                let row_index = 2 * *digit_reversed.get_unchecked(j) as usize;
                for (i, group) in groups.iter().enumerate() {
                    let at = to.offset(group.starts[0] + j as isize * strides.pair);
                    let ahead = at.wrapping_offset(PREFETCH_ROWS * strides.pair);
                    V::prefetch(ahead);
                    V::prefetch(ahead.wrapping_offset(second_line));
                    let row = rows.add(i * row_stride + row_index);
                    let row = [(*row.add(exchange)).mul(factor), (*row.add(1 - exchange)).mul(factor)];
                    if order == Order::InterleavedPairs {
                        let [a, b] = V::interleave(row[0], row[1]);
                        a.store(at);
                        b.store(at.add(lanes));
                    } else {
                        row[0].store(at);
                        row[1].store(at.offset(strides.part));
                    }
                }
            }
            return;
        }
        for (i, group) in groups.iter().enumerate() {
            let rows = rows.add(i * row_stride);
            let mut done = 0;
            if order == Order::Dense {
                let pairs_per_tile = lanes / 2;
                while done + pairs_per_tile <= count {
                    let mut tile = V::square(factor);
                    let x = tile.as_mut();
                    for i in 0..lanes {
                        let row_index = *digit_reversed.get_unchecked(done + i / 2) as usize;
                        x[i] = (*rows.add(2 * row_index + ((i % 2) ^ exchange))).mul(factor);
                    }
                    V::transpose(&mut tile);
                    let x = tile.as_ref();
                    if group.count == lanes {
                        for line in 0..lanes {
                            x[line].store(to.offset(group.starts[line] + 2 * done as isize));
                        }
                    } else {
                        for line in 0..group.count {
                            x[line].store(to.offset(group.starts[line] + 2 * done as isize));
                        }
                    }
                    done += pairs_per_tile;
                }
            }
            while done < count {
                let at = to.offset(done as isize * strides.pair);
                let row = rows.add(2 * *digit_reversed.get_unchecked(done) as usize);
                for part in 0..2 {
                    let row = row.add(part ^ exchange).cast::<V::Lane>();
                    for line in 0..group.count {
                        *at.offset(group.starts[line] + part as isize * strides.part) =
                            *row.add(line) * scaling.factor;
                    }
                }
                done += 1;
            }
        }
    }
}
