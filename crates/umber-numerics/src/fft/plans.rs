//! Plans of transforms, kept for lengths that come again.

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

/// Numbers in plans before all are forgotten: programs that transform every length there is must not fill the memory.
const MAX_CACHED: usize = 1 << 24;
/// Bytes of a plan from which on it is tried whether there is memory for it.
const MIN_PROBED_BYTES: usize = 1 << 20;

/// The planners of one dtype, which keep their plans.
pub(super) struct Planners<T: FftNum> {
    complex: FftPlanner<T>,
    real: RealFftPlanner<T>,
    /// The transforms and lengths there may be plans of.
    planned: HashSet<(Transform, usize)>,
    powers: HashMap<(Algorithm, Domain, usize), Arc<PowerOfTwoPlan<T>>>,
}

type Shared<T> = ForkMutex<Option<Planners<T>>>;

/// A real number that lines are made of.
pub(super) trait Real: FftNum + Element + Lane {
    /// Where the planners of this type are.
    fn planners() -> &'static Shared<Self>;

    /// The plan of complex lines of a length.
    fn plan_complex(length: usize, direction: FftDirection) -> Result<Arc<dyn Fft<Self>>> {
        let transform = match direction {
            FftDirection::Forward => Transform::Forward,
            FftDirection::Inverse => Transform::Inverse,
        };
        with(Self::planners(), transform, length, |planners| planners.complex.plan_fft(length, direction))
    }

    /// The plan of the transform of real lines of a length.
    fn plan_real_forward(length: usize) -> Result<Arc<dyn RealToComplex<Self>>> {
        with(Self::planners(), Transform::RealForward, length, |planners| {
            planners.real.plan_fft_forward(length)
        })
    }

    /// The plan of the transform to real lines of a length.
    fn plan_real_inverse(length: usize) -> Result<Arc<dyn ComplexToReal<Self>>> {
        with(Self::planners(), Transform::RealInverse, length, |planners| {
            planners.real.plan_fft_inverse(length)
        })
    }

    /// The plan of complex lines of a power of two, or of real ones of twice that length.
    fn plan_power(algorithm: Algorithm, domain: Domain, length: usize) -> Result<Arc<PowerOfTwoPlan<Self>>> {
        let mut planners = Self::planners().lock();
        let powers = &mut cached(&mut planners).powers;
        if let Some(plan) = powers.get(&(algorithm, domain, length)) {
            return Ok(Arc::clone(plan));
        }
        let plan = PowerOfTwoPlan::new(algorithm, domain, length)
            .ok_or_else(|| error!(Memory("fft"), "out of memory for a plan of length {length}"))?;
        let plan = Arc::new(plan);
        powers.insert((algorithm, domain, length), Arc::clone(&plan));
        Ok(plan)
    }
}

/// The planners, without any plans where those had become too many.
fn cached<T: FftNum>(planners: &mut Option<Planners<T>>) -> &mut Planners<T> {
    let domain = planners.as_ref().map_or(0, |cached| {
        let powers = cached.powers.keys().map(|(_, _, length)| length);
        cached.planned.iter().map(|(_, length)| length).chain(powers).sum::<usize>()
    });
    if domain >= MAX_CACHED {
        *planners = None;
    }
    planners.get_or_insert_with(|| Planners {
        complex: FftPlanner::new(),
        real: RealFftPlanner::new(),
        planned: HashSet::new(),
        powers: HashMap::new(),
    })
}

fn with<T: FftNum, R>(
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

/// Fail where there is no memory for a plan, as planning itself would end the process.
fn try_planning<T>(length: usize) -> Result<()> {
    let mut rest = length;
    for prime in [2, 3, 5, 7, 11] {
        while rest.is_multiple_of(prime) {
            rest /= prime;
        }
    }
    // Measured: factors for every number of the line, and of what other primes make up ten times as many in the
    // convolution that takes their place (Bluestein).
    let domain = if rest == 1 { length } else { rest.saturating_mul(10).saturating_add(length) };
    let bytes = domain.saturating_mul(size_of::<Complex<T>>());
    let mut room: Vec<u8> = Vec::new();
    if bytes >= MIN_PROBED_BYTES && room.try_reserve_exact(bytes).is_err() {
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
