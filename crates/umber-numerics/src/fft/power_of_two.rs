//! Lines whose length is a power of two: which of them are transformed side by side, and which each as a matrix.

use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};

use umber_kernels_base::scratch_vec::ScratchVec;
use umber_kernels_base::shared::Target;
use umber_kernels_base::threads::{num_threads, parallel_ranges};
use umber_types::Result;

use super::Transform;
use super::batch::{GRAIN, LineBatch};
use super::batched::{BatchedTransform, Kind};
use super::four_step::{Columns, FourStep, RealPairs, Rows, segments};
use super::load_store::{OutputScaling, Strides};
use super::passes::Passes;
use super::plans::Real;
use super::real_packing::half_twiddles;
use crate::vector::Lane;

/// Measured: shorter complex lines that are dense gain nothing from being brought side by side.
const MIN_BATCHED_DENSE: usize = 1 << 8;
/// Measured: complex numbers of a line from which on it is better off as a matrix.
const MIN_FOUR_STEP: usize = 1 << 12;
/// Complex numbers up to which lines are transformed side by side though those of a group leave the caches.
const MAX_BATCHED: usize = 1 << 16;

/// Groups of lines from which on they are shared among threads as well as lines would be.
const MIN_GROUPS: usize = 4;

/// How lines are transformed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Algorithm {
    BatchedTransform,
    Long,
}

/// What lines are made of, or made into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Domain {
    Complex,
    Real,
}

/// A plan of either way.
pub(super) struct PowerOfTwoPlan<T> {
    kind: PlanKind<T>,
    /// For real lines.
    twiddles: Vec<[T; 2]>,
}

enum PlanKind<T> {
    BatchedTransform(Passes<T>),
    Long(FourStep<T>),
}

impl<T: Lane> PowerOfTwoPlan<T> {
    /// Nothing if there is no memory for it.
    pub(super) fn new(algorithm: Algorithm, domain: Domain, length: usize) -> Option<PowerOfTwoPlan<T>> {
        let kind = match algorithm {
            Algorithm::BatchedTransform => PlanKind::BatchedTransform(Passes::new(length)?),
            Algorithm::Long => PlanKind::Long(FourStep::new(length)?),
        };
        let twiddles = match domain {
            Domain::Complex => Vec::new(),
            Domain::Real => half_twiddles(length)?,
        };
        Some(PowerOfTwoPlan { kind, twiddles })
    }
}

/// What is to be done with some lines.
struct Task<'a, T> {
    lines: &'a LineBatch,
    transform: Transform,
    domain: Domain,
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
    lines: &LineBatch,
) -> Result<usize> {
    // Also of reals: a line of an odd number of them is no line of pairs.
    if !length.is_power_of_two() {
        return Ok(0);
    }
    let (domain, length, parts) = match transform {
        Transform::Forward | Transform::Inverse => (Domain::Complex, length, [2, 2]),
        Transform::RealForward => (Domain::Real, length / 2, [1, 2]),
        Transform::RealInverse => (Domain::Real, length / 2, [2, 1]),
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
    let task = Task { lines, transform, domain, length, factor, strides, reals: parts };
    let count = lines.count();
    let dense = lines.are_dense();
    if length >= MIN_FOUR_STEP.max(FourStep::<T>::min_length())
        && (count == 1 || dense && (length > MIN_FOUR_STEP || count < MIN_GROUPS * lanes))
    {
        task.run_four_step()?;
        return Ok(count);
    }
    if length > MAX_BATCHED || dense && domain == Domain::Complex && length < MIN_BATCHED_DENSE {
        return Ok(0);
    }
    // Where there is little to do, wide vectors take longer to wake than they save.
    if count < MIN_GROUPS * lanes || count * length < GRAIN {
        return Ok(0);
    }
    // A group that is not full takes as long as a full one.
    let least = match domain {
        _ if !dense => lanes / 2,
        Domain::Complex => lanes - lanes / 8,
        Domain::Real => lanes / 2 + 1,
    };
    let rest = count % lanes;
    let done = if rest >= least || count >= 8 * lanes { count } else { count - rest };
    if done > 0 {
        task.run_batched(done)?;
    }
    Ok(done)
}

impl<T: Real> Task<'_, T> {
    fn output_scaling(&self) -> OutputScaling<T> {
        let exchange = matches!(self.transform, Transform::Inverse | Transform::RealInverse);
        OutputScaling { exchange: usize::from(exchange), factor: self.factor }
    }

    /// The first lines, side by side.
    fn run_batched(&self, count: usize) -> Result<()> {
        let plan = T::plan_power(Algorithm::BatchedTransform, self.domain, self.length)?;
        let PlanKind::BatchedTransform(passes) = &plan.kind else {
            unreachable!("a plan of the way that was asked for")
        };
        let lanes = T::lanes();
        let (src, dst) = self.lines.pointers::<T>();
        let failed = AtomicBool::new(false);
        parallel_ranges(count.div_ceil(lanes), GRAIN.div_ceil(lanes * self.length), |groups| {
            let work = BatchedTransform {
                passes,
                kind: match self.transform {
                    Transform::Forward | Transform::Inverse => Kind::Complex,
                    Transform::RealForward => Kind::RealForward(&plan.twiddles),
                    Transform::RealInverse => Kind::RealInverse(&plan.twiddles),
                },
                from: src.at(0),
                to: dst.at(0),
                strides: self.strides,
                scaling: self.output_scaling(),
                groups,
                place: |group: usize| {
                    self.lines.group(group * lanes..count.min((group + 1) * lanes), self.reals)
                },
            };
            if !T::dispatch(work) {
                failed.store(true, Ordering::Relaxed);
            }
        });
        if failed.into_inner() { Err(self.lines.no_memory()) } else { Ok(()) }
    }

    /// Every line as a matrix: one after the other where there are fewer than threads, which share it then.
    fn run_four_step(&self) -> Result<()> {
        let plan = T::plan_power(Algorithm::Long, self.domain, self.length)?;
        let failed = AtomicBool::new(false);
        let several = |lines: Range<usize>| {
            if self.four_step_lines(&plan, lines).is_none() {
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
    fn four_step_lines(&self, plan: &PowerOfTwoPlan<T>, lines: Range<usize>) -> Option<()> {
        let PlanKind::Long(matrix) = &plan.kind else { unreachable!("a plan of the way that was asked for") };
        let reals = self.length.checked_mul(2)?;
        let mut columns = ScratchVec::<T>::new(reals).ok()?;
        let columns = Target::over(columns.spare()).cast::<T>();
        let is_joined = self.transform == Transform::RealInverse;
        let mut spectrum = ScratchVec::<T>::new(if is_joined { reals } else { 0 }).ok()?;
        let spectrum = Target::over(spectrum.spare()).cast::<T>();
        for line in lines {
            self.four_step_line(plan, matrix, line, columns, spectrum)?;
        }
        Some(())
    }

    /// One line, by way of buffers for all of it. Nothing if there is no memory for it.
    fn four_step_line(
        &self,
        plan: &PowerOfTwoPlan<T>,
        matrix: &FourStep<T>,
        line: usize,
        columns: Target<T>,
        spectrum: Target<T>,
    ) -> Option<()> {
        const DENSE: Strides = Strides { pair: 2, part: 1 };
        let half = self.length;
        let grain = |count: usize| (GRAIN * count).div_ceil(half);
        let [from, to] = self.lines.group(line..line + 1, self.reals);
        let (src, dst) = self.lines.pointers::<T>();
        let (src, dst) = (src.shifted(from.starts[0]), dst.shifted(to.starts[0]));
        let output_scaling = self.output_scaling();
        let inverse = self.transform == Transform::RealInverse;
        if inverse {
            let count = segments::<T>(half);
            parallel_ranges(count, grain(count), |segments| {
                T::dispatch(RealPairs {
                    twiddles: &plan.twiddles,
                    half,
                    from: src.at(0),
                    to: spectrum.at(0),
                    strides: [self.strides[0], DENSE],
                    forward: false,
                    segments,
                });
            });
        }
        let failed = AtomicBool::new(false);
        let count = matrix.groups_of_columns();
        parallel_ranges(count, grain(count), |groups| {
            let done = T::dispatch(Columns {
                matrix,
                from: if inverse { spectrum.at(0).cast_const() } else { src.at(0) },
                strides: if inverse { DENSE } else { self.strides[0] },
                exchange: if inverse { 0 } else { output_scaling.exchange },
                to: columns.at(0),
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
            T::dispatch(Rows {
                matrix,
                from: columns.at(0),
                to: dst.at(0),
                strides: self.strides[1],
                scaling: output_scaling,
                groups,
            });
        });
        if self.transform == Transform::RealForward {
            let count = segments::<T>(half);
            parallel_ranges(count, grain(count), |segments| {
                T::dispatch(RealPairs {
                    twiddles: &plan.twiddles,
                    half,
                    from: dst.at(0),
                    to: dst.at(0),
                    strides: [self.strides[1]; 2],
                    forward: true,
                    segments,
                });
            });
        }
        Some(())
    }
}
