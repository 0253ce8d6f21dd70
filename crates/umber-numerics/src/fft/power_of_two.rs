//! Lines whose length is a power of two: the choice between batched transforms and the four-step algorithm.

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

/// Minimum length for batching dense complex lines (measured); shorter ones do not gain from the rearrangement.
const MIN_BATCHED_DENSE: usize = 1 << 8;
/// Minimum complex length for the four-step algorithm (measured).
const MIN_FOUR_STEP: usize = 1 << 12;
/// Maximum complex length for batched transforms, even if a group no longer fits the caches.
const MAX_BATCHED: usize = 1 << 16;

/// Minimum number of groups, so that threads get as equal shares as by lines.
const MIN_GROUPS: usize = 4;

/// The algorithm for a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Algorithm {
    Batched,
    FourStep,
}

/// The elements of a line on the real side of its transform.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Domain {
    Complex,
    Real,
}

/// A plan for either algorithm.
pub(super) struct PowerOfTwoPlan<T> {
    kind: PlanKind<T>,
    /// For real lines.
    twiddles: Vec<[T; 2]>,
}

enum PlanKind<T> {
    Batched(Passes<T>),
    FourStep(FourStep<T>),
}

impl<T: Lane> PowerOfTwoPlan<T> {
    /// `None` if there is not enough memory.
    pub(super) fn new(algorithm: Algorithm, domain: Domain, length: usize) -> Option<PowerOfTwoPlan<T>> {
        let kind = match algorithm {
            Algorithm::Batched => PlanKind::Batched(Passes::new(length)?),
            Algorithm::FourStep => PlanKind::FourStep(FourStep::new(length)?),
        };
        let twiddles = match domain {
            Domain::Complex => Vec::new(),
            Domain::Real => half_twiddles(length)?,
        };
        Some(PowerOfTwoPlan { kind, twiddles })
    }
}

/// A transform of several lines.
struct Task<'a, T> {
    lines: &'a LineBatch,
    transform: Transform,
    domain: Domain,
    /// Complex elements of a line.
    length: usize,
    factor: T,
    strides: [Strides; 2],
    /// Real numbers per element.
    reals: [isize; 2],
}

/// Transform the first lines by one of these algorithms, and return their number; the others are left to rustfft.
///
/// The choice depends on the shapes and strides only, so that results do not depend on the number of threads.
pub(super) fn transform<T: Real>(
    transform: Transform,
    factor: T,
    length: usize,
    lines: &LineBatch,
) -> Result<usize> {
    // Also for real lines: those of odd length have no pairs.
    if !length.is_power_of_two() {
        return Ok(0);
    }
    let (domain, length, reals) = match transform {
        Transform::Forward | Transform::Inverse => (Domain::Complex, length, [2, 2]),
        Transform::RealForward => (Domain::Real, length / 2, [1, 2]),
        Transform::RealInverse => (Domain::Real, length / 2, [2, 1]),
    };
    let lanes = T::lanes();
    if lanes == 1 || length < 8 {
        return Ok(0);
    }
    let steps = lines.steps();
    let strides = [0, 1].map(|i| match reals[i] {
        1 => Strides { pair: 2 * steps[i], part: steps[i] },
        _ => Strides { pair: 2 * steps[i], part: 1 },
    });
    let task = Task { lines, transform, domain, length, factor, strides, reals };
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
    // For little work, powering up the wide vector units costs more than it saves.
    if count < MIN_GROUPS * lanes || count * length < GRAIN {
        return Ok(0);
    }
    // A partially filled group costs as much as a full one.
    let min_used_lanes = match domain {
        _ if !dense => lanes / 2,
        Domain::Complex => lanes - lanes / 8,
        Domain::Real => lanes / 2 + 1,
    };
    let remainder = count % lanes;
    let done = if remainder >= min_used_lanes || count >= 8 * lanes { count } else { count - remainder };
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

    /// Transform the first lines in batches.
    fn run_batched(&self, count: usize) -> Result<()> {
        let plan = T::plan_power(Algorithm::Batched, self.domain, self.length)?;
        let PlanKind::Batched(passes) = &plan.kind else { unreachable!("the plan matches the algorithm") };
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
                locate: |group: usize| {
                    self.lines.group(group * lanes..count.min((group + 1) * lanes), self.reals)
                },
            };
            if !T::dispatch(work) {
                failed.store(true, Ordering::Relaxed);
            }
        });
        if failed.into_inner() { Err(self.lines.no_memory()) } else { Ok(()) }
    }

    /// Transform each line as a matrix. With fewer lines than threads, the threads work on one line after the other together.
    fn run_four_step(&self) -> Result<()> {
        let plan = T::plan_power(Algorithm::FourStep, self.domain, self.length)?;
        let failed = AtomicBool::new(false);
        let transform_lines = |lines: Range<usize>| {
            if self.four_step_lines(&plan, lines).is_none() {
                failed.store(true, Ordering::Relaxed);
            }
        };
        let count = self.lines.count();
        if count < num_threads() {
            transform_lines(0..count);
        } else {
            parallel_ranges(count, 1, transform_lines);
        }
        if failed.into_inner() { Err(self.lines.no_memory()) } else { Ok(()) }
    }

    /// `None` if there is not enough memory.
    fn four_step_lines(&self, plan: &PowerOfTwoPlan<T>, lines: Range<usize>) -> Option<()> {
        let PlanKind::FourStep(matrix) = &plan.kind else { unreachable!("the plan matches the algorithm") };
        let reals = self.length.checked_mul(2)?;
        let mut columns = ScratchVec::<T>::new(reals).ok()?;
        let columns = Target::over(columns.spare()).cast::<T>();
        let needs_spectrum = self.transform == Transform::RealInverse;
        let mut spectrum = ScratchVec::<T>::new(if needs_spectrum { reals } else { 0 }).ok()?;
        let spectrum = Target::over(spectrum.spare()).cast::<T>();
        for line in lines {
            self.four_step_line(plan, matrix, line, columns, spectrum)?;
        }
        Some(())
    }

    /// Transform one line, with buffers for all of it. `None` if there is not enough memory.
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
