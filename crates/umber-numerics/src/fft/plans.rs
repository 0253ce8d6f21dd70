//! Cached plans of transforms.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use num_complex::Complex;
use realfft::{ComplexToReal, RealFftPlanner, RealToComplex};
use rustfft::{Fft, FftDirection, FftNum, FftPlanner};
use umber_types::{Element, Result, error};

use super::Transform;
use super::power_of_two::{Algorithm, Domain, PowerOfTwoPlan};
use crate::vector::Lane;
use umber_kernels_base::fork::{ForkMutex, InChild, Level};

/// Total length of cached plans above which all are dropped, so that programs that use many different lengths do not exhaust
/// memory.
const MAX_CACHED: usize = 1 << 24;
/// Bytes of a plan from which on its allocation is probed first.
const MIN_PROBED_BYTES: usize = 1 << 20;

/// The planners of one element type, which cache their plans.
pub(super) struct Planners<T: FftNum> {
    complex: FftPlanner<T>,
    real: RealFftPlanner<T>,
    /// The transforms and lengths that may have cached plans.
    planned: HashSet<(Transform, usize)>,
    power_of_two: HashMap<(Algorithm, Domain, usize), Arc<PowerOfTwoPlan<T>>>,
}

type Shared<T> = ForkMutex<Option<Planners<T>>>;

/// A real element type.
pub(super) trait Real: FftNum + Element + Lane {
    /// The planners of this type.
    fn planners() -> &'static Shared<Self>;

    /// The plan for complex lines.
    fn plan_complex(length: usize, direction: FftDirection) -> Result<Arc<dyn Fft<Self>>> {
        let transform = match direction {
            FftDirection::Forward => Transform::Forward,
            FftDirection::Inverse => Transform::Inverse,
        };
        plan_with(Self::planners(), transform, length, |planners| {
            planners.complex.plan_fft(length, direction)
        })
    }

    /// The plan from real lines to half spectra.
    fn plan_real_forward(length: usize) -> Result<Arc<dyn RealToComplex<Self>>> {
        plan_with(Self::planners(), Transform::RealForward, length, |planners| {
            planners.real.plan_fft_forward(length)
        })
    }

    /// The plan from half spectra to real lines.
    fn plan_real_inverse(length: usize) -> Result<Arc<dyn ComplexToReal<Self>>> {
        plan_with(Self::planners(), Transform::RealInverse, length, |planners| {
            planners.real.plan_fft_inverse(length)
        })
    }

    /// The plan for complex lines whose length is a power of two, or for real lines of twice that length.
    fn plan_power(algorithm: Algorithm, domain: Domain, length: usize) -> Result<Arc<PowerOfTwoPlan<Self>>> {
        let mut planners = Self::planners().lock();
        let power_of_two = &mut cached(&mut planners).power_of_two;
        if let Some(plan) = power_of_two.get(&(algorithm, domain, length)) {
            return Ok(Arc::clone(plan));
        }
        let plan = PowerOfTwoPlan::new(algorithm, domain, length)
            .ok_or_else(|| error!(Memory("fft"), "out of memory for a plan of length {length}"))?;
        let plan = Arc::new(plan);
        power_of_two.insert((algorithm, domain, length), Arc::clone(&plan));
        Ok(plan)
    }
}

/// The planners, after dropping all plans if there are too many.
fn cached<T: FftNum>(planners: &mut Option<Planners<T>>) -> &mut Planners<T> {
    let cached_elements = planners.as_ref().map_or(0, |cached| {
        let power_of_two = cached.power_of_two.keys().map(|(_, _, length)| length);
        cached.planned.iter().map(|(_, length)| length).chain(power_of_two).sum::<usize>()
    });
    if cached_elements >= MAX_CACHED {
        *planners = None;
    }
    planners.get_or_insert_with(|| Planners {
        complex: FftPlanner::new(),
        real: RealFftPlanner::new(),
        planned: HashSet::new(),
        power_of_two: HashMap::new(),
    })
}

fn plan_with<T: FftNum, R>(
    shared: &'static Shared<T>,
    transform: Transform,
    length: usize,
    plan: impl FnOnce(&mut Planners<T>) -> R,
) -> Result<R> {
    let mut planners = shared.lock();
    let cached = cached(&mut planners);
    if !cached.planned.contains(&(transform, length)) {
        try_planning::<T>(length)?;
        cached.planned.insert((transform, length));
    }
    Ok(plan(cached))
}

/// Return an error if there is no memory for a plan, because the planner would abort the process.
fn try_planning<T>(length: usize) -> Result<()> {
    let mut cofactor = length;
    for prime in [2, 3, 5, 7, 11] {
        while cofactor.is_multiple_of(prime) {
            cofactor /= prime;
        }
    }
    // Measured: twiddle factors for every element of the line, and ten times as many for other primes, which use Bluestein's
    // convolution.
    let elements = if cofactor == 1 { length } else { cofactor.saturating_mul(10).saturating_add(length) };
    let bytes = elements.saturating_mul(size_of::<Complex<T>>());
    let mut probe: Vec<u8> = Vec::new();
    if bytes >= MIN_PROBED_BYTES && probe.try_reserve_exact(bytes).is_err() {
        return Err(error!(
            Memory("fft"),
            "out of memory for a plan of length {length}: needs about {bytes} bytes"
        ));
    }
    Ok(())
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
