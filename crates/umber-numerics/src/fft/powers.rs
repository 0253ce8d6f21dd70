//! Lines whose length is a power of two: which of them are transformed side by side, and which each as a matrix.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use umber_kernels_base::scratch_vec::ScratchVec;
use umber_kernels_base::shared::Target;
use umber_kernels_base::threads::{num_threads, parallel_ranges};
use umber_types::Result;

use super::Transform;
use super::abreast::{Abreast, Kind};
use super::ends::{Change, Strides};
use super::halves::halved_roots;
use super::lines::{GRAIN, Lines};
use super::long::{Columns, Matrix, Mirrored, Rows, stretches};
use super::passes::Passes;
use super::plans::Real;
use crate::vector::Lane;

/// Measured: shorter complex lines that are dense gain nothing from being brought side by side.
const DENSE: usize = 1 << 8;
/// Measured: complex numbers of a line from which on it is better off as a matrix.
const LONG: usize = 1 << 12;
/// Complex numbers up to which lines are transformed side by side though those of a group leave the caches.
const WIDE: usize = 1 << 16;

/// Groups of lines from which on they are shared among threads as well as lines would be.
const FEW: usize = 4;

/// How lines are transformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Way {
    Abreast,
    Long,
}

/// What lines are made of, or made into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Numbers {
    Complex,
    Real,
}

/// A plan of either way.
pub(super) struct Power<T> {
    how: How<T>,
    /// For real lines.
    roots: Vec<[T; 2]>,
}

enum How<T> {
    Abreast(Passes<T>),
    Long(Matrix<T>),
}

impl<T: Lane> Power<T> {
    /// Nothing if there is no memory for it.
    pub(super) fn new(way: Way, numbers: Numbers, length: usize) -> Option<Power<T>> {
        let how = match way {
            Way::Abreast => How::Abreast(Passes::new(length)?),
            Way::Long => How::Long(Matrix::new(length)?),
        };
        let roots = match numbers {
            Numbers::Complex => Vec::new(),
            Numbers::Real => halved_roots(length)?,
        };
        Some(Power { how, roots })
    }
}

/// What is to be done with some lines.
struct Task<'a, T> {
    lines: &'a Lines,
    transform: Transform,
    numbers: Numbers,
    /// Complex numbers of a line.
    length: usize,
    factor: T,
    strides: [Strides; 2],
    /// Reals of an element.
    reals: [isize; 2],
}

/// Transform the first lines, and say how many: those for which there is a better way than one by one.
///
/// That depends on nothing but the shapes and strides, so that results do not depend on the number of threads.
pub(super) fn transform<T: Real>(
    transform: Transform,
    factor: T,
    length: usize,
    lines: &Lines,
) -> Result<usize> {
    // Also of reals: a line of an odd number of them is no line of pairs.
    if !length.is_power_of_two() {
        return Ok(0);
    }
    let (numbers, length, parts) = match transform {
        Transform::Forward | Transform::Inverse => (Numbers::Complex, length, [2, 2]),
        Transform::RealForward => (Numbers::Real, length / 2, [1, 2]),
        Transform::RealInverse => (Numbers::Real, length / 2, [2, 1]),
    };
    let lanes = T::lanes();
    if lanes == 1 || length < 8 {
        return Ok(0);
    }
    let steps = lines.steps();
    let strides = [0, 1].map(|i| match parts[i] {
        1 => Strides { pair: 2 * steps[i], part: steps[i] },
        _ => Strides { pair: 2 * steps[i], part: 1 },
    });
    let task = Task { lines, transform, numbers, length, factor, strides, reals: parts };
    let count = lines.count();
    let dense = lines.are_dense();
    if length >= LONG.max(Matrix::<T>::least())
        && (count == 1 || dense && (length > LONG || count < FEW * lanes))
    {
        task.long()?;
        return Ok(count);
    }
    if length > WIDE || dense && numbers == Numbers::Complex && length < DENSE {
        return Ok(0);
    }
    // Where there is little to do, wide vectors take longer to wake than they save.
    if count < FEW * lanes || count * length < GRAIN {
        return Ok(0);
    }
    // A group that is not full takes as long as a full one.
    let least = match numbers {
        _ if !dense => lanes / 2,
        Numbers::Complex => lanes - lanes / 8,
        Numbers::Real => lanes / 2 + 1,
    };
    let rest = count % lanes;
    let done = if rest >= least || count >= 8 * lanes { count } else { count - rest };
    if done > 0 {
        task.abreast(done)?;
    }
    Ok(done)
}

impl<T: Real> Task<'_, T> {
    fn change(&self) -> Change<T> {
        let exchange = matches!(self.transform, Transform::Inverse | Transform::RealInverse);
        Change { exchange: usize::from(exchange), factor: self.factor }
    }

    /// The first lines, side by side.
    fn abreast(&self, count: usize) -> Result<()> {
        let plan = T::plan_power(Way::Abreast, self.numbers, self.length)?;
        let How::Abreast(passes) = &plan.how else { unreachable!("a plan of the way that was asked for") };
        let lanes = T::lanes();
        let (src, dst) = self.lines.ends::<T>();
        let failed = AtomicBool::new(false);
        parallel_ranges(count.div_ceil(lanes), GRAIN.div_ceil(lanes * self.length), |groups| {
            let work = Abreast {
                passes,
                kind: match self.transform {
                    Transform::Forward | Transform::Inverse => Kind::Complex,
                    Transform::RealForward => Kind::RealForward(&plan.roots),
                    Transform::RealInverse => Kind::RealInverse(&plan.roots),
                },
                from: src.at(0),
                to: dst.at(0),
                strides: self.strides,
                change: self.change(),
                groups,
                place: |group: usize| {
                    self.lines.group(group * lanes..count.min((group + 1) * lanes), self.reals)
                },
            };
            if !T::vectors(work) {
                failed.store(true, Ordering::Relaxed);
            }
        });
        if failed.into_inner() { Err(self.lines.no_memory()) } else { Ok(()) }
    }

    /// Every line as a matrix: one after the other where there are fewer than threads, which share it then.
    fn long(&self) -> Result<()> {
        let plan = T::plan_power(Way::Long, self.numbers, self.length)?;
        let failed = AtomicBool::new(false);
        let several = |lines: Range<usize>| {
            if self.long_lines(&plan, lines).is_none() {
                failed.store(true, Ordering::Relaxed);
            }
        };
        let count = self.lines.count();
        if count < num_threads() {
            several(0..count);
        } else {
            parallel_ranges(count, 1, several);
        }
        if failed.into_inner() { Err(self.lines.no_memory()) } else { Ok(()) }
    }

    /// Nothing if there is no memory for it.
    fn long_lines(&self, plan: &Power<T>, lines: Range<usize>) -> Option<()> {
        let How::Long(matrix) = &plan.how else { unreachable!("a plan of the way that was asked for") };
        let reals = self.length.checked_mul(2)?;
        let mut turned = ScratchVec::<T>::new(reals).ok()?;
        let turned = Target::over(turned.spare()).cast::<T>();
        let is_joined = self.transform == Transform::RealInverse;
        let mut joined = ScratchVec::<T>::new(if is_joined { reals } else { 0 }).ok()?;
        let joined = Target::over(joined.spare()).cast::<T>();
        for line in lines {
            self.long_line(plan, matrix, line, turned, joined)?;
        }
        Some(())
    }

    /// One line, by way of buffers for all of it. Nothing if there is no memory for it.
    fn long_line(
        &self,
        plan: &Power<T>,
        matrix: &Matrix<T>,
        line: usize,
        turned: Target<T>,
        joined: Target<T>,
    ) -> Option<()> {
        const DENSE: Strides = Strides { pair: 2, part: 1 };
        let half = self.length;
        let grain = |count: usize| (GRAIN * count).div_ceil(half);
        let [from, to] = self.lines.group(line..line + 1, self.reals);
        let (src, dst) = self.lines.ends::<T>();
        let (src, dst) = (src.shifted(from.starts[0]), dst.shifted(to.starts[0]));
        let change = self.change();
        let inverse = self.transform == Transform::RealInverse;
        if inverse {
            let count = stretches::<T>(half);
            parallel_ranges(count, grain(count), |stretches| {
                T::vectors(Mirrored {
                    roots: &plan.roots,
                    half,
                    from: src.at(0),
                    to: joined.at(0),
                    strides: [self.strides[0], DENSE],
                    forward: false,
                    stretches,
                });
            });
        }
        let failed = AtomicBool::new(false);
        let count = matrix.groups_of_columns();
        parallel_ranges(count, grain(count), |groups| {
            let done = T::vectors(Columns {
                matrix,
                from: if inverse { joined.at(0).cast_const() } else { src.at(0) },
                strides: if inverse { DENSE } else { self.strides[0] },
                exchange: if inverse { 0 } else { change.exchange },
                to: turned.at(0),
                groups,
            });
            if !done {
                failed.store(true, Ordering::Relaxed);
            }
        });
        if failed.into_inner() {
            return None;
        }
        let count = matrix.groups_of_rows();
        parallel_ranges(count, grain(count), |groups| {
            T::vectors(Rows {
                matrix,
                from: turned.at(0),
                to: dst.at(0),
                strides: self.strides[1],
                change,
                groups,
            });
        });
        if self.transform == Transform::RealForward {
            let count = stretches::<T>(half);
            parallel_ranges(count, grain(count), |stretches| {
                T::vectors(Mirrored {
                    roots: &plan.roots,
                    half,
                    from: dst.at(0),
                    to: dst.at(0),
                    strides: [self.strides[1]; 2],
                    forward: true,
                    stretches,
                });
            });
        }
        Some(())
    }
}
