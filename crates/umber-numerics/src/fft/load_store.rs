//! Bringing lines into rows of lanes, and out of them.
#![expect(
    clippy::needless_range_loop,
    reason = "what a loop names by number are rows of one tile or line together"
)]

use crate::vector::{Lane, Vector};

/// The most groups at a time.
pub(super) const INTERLEAVE: usize = 4;
/// The most lanes of a vector.
pub(super) const MAX_LANES: usize = 16;

/// How the numbers of a line lie in memory, counted in reals.
#[derive(Clone, Copy)]
pub(super) struct Strides {
    /// From one pair to the next.
    pub(super) pair: isize,
    /// From the first of a pair to the second.
    pub(super) part: isize,
}

/// How lines lie beside one another.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Order {
    /// Each is one piece of memory.
    Dense,
    /// Pairs of neighbours are neighbours.
    Woven,
    /// Reals of neighbours are neighbours.
    Beside,
    Scattered,
}

/// Bytes of rows that stay in the second cache.
pub(super) const CACHED: usize = 5 << 17;
/// Rows that are asked for ahead where each may be in a page of its own, which processors do not foresee.
const PREFETCH_ROWS: isize = 8;

/// Where the lines of a group begin, counted in reals.
#[derive(Clone, Copy)]
pub(super) struct Group {
    pub(super) starts: [isize; MAX_LANES],
    /// How many lines there are; where they are fewer than lanes, the first stands for those that lack.
    pub(super) count: usize,
    /// From each to the next, if that is the same for all.
    pub(super) step: Option<isize>,
}

impl Group {
    pub(super) const NONE: Group = Group { starts: [0; MAX_LANES], count: 0, step: None };

    /// Lines that are as far apart each.
    #[inline(always)]
    pub(super) fn regular(first: isize, step: isize, count: usize) -> Group {
        let mut starts = [first; MAX_LANES];
        for (i, start) in starts.iter_mut().enumerate().take(count) {
            *start += i as isize * step;
        }
        Group { starts, count, step: Some(step) }
    }

    /// Lines anywhere.
    pub(super) fn irregular(lines: &[isize]) -> Group {
        let mut starts = [lines[0]; MAX_LANES];
        starts[..lines.len()].copy_from_slice(lines);
        let step = starts[1] - starts[0];
        let regular = lines.windows(2).all(|pair| pair[1] - pair[0] == step);
        Group { starts, count: lines.len(), step: regular.then_some(step) }
    }

    /// That of all of them.
    fn order(groups: &[Group], strides: Strides, lanes: usize) -> Order {
        let row_stride =
            |step: isize| groups.iter().all(|group| group.count == lanes && group.step == Some(step));
        match strides {
            Strides { pair: 2, part: 1 } => Order::Dense,
            Strides { part: 1, .. } if row_stride(2) => Order::Woven,
            _ if row_stride(1) => Order::Beside,
            _ => Order::Scattered,
        }
    }
}

/// What is done on the way.
#[derive(Clone, Copy)]
pub(super) struct OutputScaling<T> {
    /// 1 where parts are exchanged.
    pub(super) exchange: usize,
    pub(super) factor: T,
}

/// Bring `count` pairs of every line into rows, those of a group so many vectors after those of the one before.
///
/// # Safety
/// The lines are in memory, the rows are there, and the instruction set is.
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
    // SAFETY: the caller's.
    unsafe {
        // Neighbours in memory go together, row by row, since rows may each be in a page of their own.
        if matches!(order, Order::Woven | Order::Beside) {
            let second = if order == Order::Woven { lanes as isize } else { strides.part };
            for j in 0..count {
                for (i, group) in groups.iter().enumerate() {
                    let at = from.offset(group.starts[0] + j as isize * strides.pair);
                    let ahead = at.wrapping_offset(PREFETCH_ROWS * strides.pair);
                    V::prefetch(ahead);
                    V::prefetch(ahead.wrapping_offset(second));
                    let row = if order == Order::Woven {
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
                let across = lanes / 2;
                while done + across <= count {
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
                    done += across;
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

/// Take `count` pairs of every line out of the rows where `digit_reversed` says that they are.
///
/// # Safety
/// As for [`load_rows`].
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
    // SAFETY: the caller's.
    unsafe {
        let factor = V::splat(scaling.factor);
        if matches!(order, Order::Woven | Order::Beside) {
            let second = if order == Order::Woven { lanes as isize } else { strides.part };
            for j in 0..count {
                let place = 2 * *digit_reversed.get_unchecked(j) as usize;
                for (i, group) in groups.iter().enumerate() {
                    let at = to.offset(group.starts[0] + j as isize * strides.pair);
                    let ahead = at.wrapping_offset(PREFETCH_ROWS * strides.pair);
                    V::prefetch(ahead);
                    V::prefetch(ahead.wrapping_offset(second));
                    let row = rows.add(i * row_stride + place);
                    let row = [(*row.add(exchange)).mul(factor), (*row.add(1 - exchange)).mul(factor)];
                    if order == Order::Woven {
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
                let across = lanes / 2;
                while done + across <= count {
                    let mut tile = V::square(factor);
                    let x = tile.as_mut();
                    for i in 0..lanes {
                        let place = *digit_reversed.get_unchecked(done + i / 2) as usize;
                        x[i] = (*rows.add(2 * place + ((i % 2) ^ exchange))).mul(factor);
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
                    done += across;
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
