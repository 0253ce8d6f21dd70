//! Plans of transforms, kept for lengths that come again.

use std::collections::HashSet;
use std::sync::Arc;

use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use rustfft::{Fft, FftDirection, FftNum, FftPlanner};
use umber_types::Element;

use umber_kernels::fork::{ForkMutex, InChild, Level};

/// Numbers in plans before all are forgotten: programs that transform every length there is must not fill the memory.
const KEPT: usize = 1 << 24;

/// The planners of one dtype, which keep their plans.
pub(super) struct Planners<T: FftNum> {
    complex: FftPlanner<T>,
    real: RealFftPlanner<T>,
    /// The lengths there may be plans of.
    lengths: HashSet<usize>,
}

type Shared<T> = ForkMutex<Option<Planners<T>>>;

/// A real number that lines are made of.
pub(super) trait Real: FftNum + Element {
    /// Where the planners of this type are.
    fn planners() -> &'static Shared<Self>;

    /// The plan of complex lines of a length.
    fn plan_complex(length: usize, direction: FftDirection) -> Arc<dyn Fft<Self>> {
        with(Self::planners(), length, |planners| planners.complex.plan_fft(length, direction))
    }

    /// The plan of the transform of real lines of a length.
    fn plan_real_forward(length: usize) -> Arc<dyn RealToComplex<Self>> {
        with(Self::planners(), length, |planners| planners.real.plan_fft_forward(length))
    }

    /// The plan of the transform to real lines of a length.
    fn plan_real_inverse(length: usize) -> Arc<dyn ComplexToReal<Self>> {
        with(Self::planners(), length, |planners| planners.real.plan_fft_inverse(length))
    }
}

fn with<T: FftNum, R>(
    shared: &'static Shared<T>,
    length: usize,
    plan: impl FnOnce(&mut Planners<T>) -> R,
) -> R {
    let mut planners = shared.lock();
    if planners.as_ref().is_some_and(|kept| kept.lengths.iter().sum::<usize>() >= KEPT) {
        *planners = None;
    }
    let kept = planners.get_or_insert_with(|| Planners {
        complex: FftPlanner::new(),
        real: RealFftPlanner::new(),
        lengths: HashSet::new(),
    });
    kept.lengths.insert(length);
    plan(kept)
}

impl Real for f32 {
    fn planners() -> &'static Shared<f32> {
        static PLANNERS: Shared<f32> = ForkMutex::new(|| None, None, Level::Last, InChild::Keep);
        &PLANNERS
    }
}

impl Real for f64 {
    fn planners() -> &'static Shared<f64> {
        static PLANNERS: Shared<f64> = ForkMutex::new(|| None, None, Level::Last, InChild::Keep);
        &PLANNERS
    }
}
