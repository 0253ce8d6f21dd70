//! Rejection sampling. Each element has its own stream of random words, so the number of rejections of one element does not
//! change the others.
//!
//! The stream of element `i` hashes the counters 0, 1, 2, … under the key `hash(key, i)` (`i` with its low word first).
//! Everything is computed in float64.

use std::f64::consts::{PI, TAU};

use umber_kernels_base::shared::{Source, Target};
use umber_kernels_base::strided_loops::{Loop, StridedLoops};
use umber_kernels_base::threads::parallel_ranges;
use umber_kernels_base::{View, ViewMut};
use umber_types::DType;

use crate::random::{key_at, threefry2x32};

/// Draws worth another thread.
const GRAIN: usize = 1 << 9;
/// Attempts until an element becomes NaN: the probability is below 10⁻²⁰⁰ for parameters in range.
const MAX_REJECTIONS: u32 = 400;

/// A distribution that is sampled by rejection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Rejection {
    /// Gamma with the parameter as shape, and scale one.
    Gamma,
    /// The logarithm of a gamma variate.
    LogGamma,
    /// Poisson with the parameter as mean.
    Poisson,
    /// Binomial with the number of trials and the probability of success.
    Binomial,
    /// Von Mises about zero with the parameter as concentration.
    VonMises,
}

impl Rejection {
    /// The user-visible name.
    pub fn name(self) -> &'static str {
        match self {
            Rejection::Gamma | Rejection::LogGamma => "gamma",
            Rejection::Poisson => "poisson",
            Rejection::Binomial => "binomial",
            Rejection::VonMises => "vonmises",
        }
    }

    /// The number of parameters.
    pub fn arity(self) -> usize {
        match self {
            Rejection::Binomial => 2,
            Rejection::Gamma | Rejection::LogGamma | Rejection::Poisson | Rejection::VonMises => 1,
        }
    }

    /// Whether the draws are integers, which have no derivative.
    pub fn is_discrete(self) -> bool {
        match self {
            Rejection::Poisson | Rejection::Binomial => true,
            Rejection::Gamma | Rejection::LogGamma | Rejection::VonMises => false,
        }
    }
}

/// Fill `out` with a draw for each element of the parameters.
///
/// `keys` is uint32 of shape `[..., 2]`; `parameters` and `out` are float64 of one shape, whose leading axes are
/// `keys.shape[..-1]`.
///
/// # Panics
/// If shapes, dtypes or the number of parameters differ from these.
pub fn rejection(kind: Rejection, keys: View, parameters: &[View], out: ViewMut) {
    assert_eq!(keys.dtype(), DType::UInt32, "keys are uint32");
    assert_eq!(parameters.len(), kind.arity(), "as many parameters as the distribution has");
    assert_eq!(out.dtype(), DType::Float64, "draws are float64");
    for parameter in parameters {
        assert_eq!(parameter.dtype(), DType::Float64, "parameters are float64");
        assert_eq!(parameter.shape(), out.shape(), "a draw for each element");
    }
    let axes = keys.shape().len() - 1;
    assert!(keys.shape()[axes] == 2 && keys.shape()[..axes] == out.shape()[..axes], "a key for each draw");
    if out.size() == 0 {
        return;
    }
    let per_key = out.size() / (keys.size() / 2);
    // A distribution with one parameter reads it twice.
    let (first, second) = (&parameters[0], &parameters[parameters.len() - 1]);
    let mut loops = StridedLoops::new(&[], [&[], &[], &[]]);
    for (axis, &length) in out.shape().iter().enumerate() {
        let strides = [first.strides()[axis], second.strides()[axis], out.strides()[axis]];
        loops.push(Loop { length, strides });
    }
    let sources = [Source::<f64>::of(first), Source::<f64>::of(second)];
    let target = Target::<f64>::of(&out);
    parallel_ranges(out.size(), GRAIN, |range| {
        let mut at = range.start;
        loops.walk(range, |[from, also_from, to]| {
            let mut stream = Stream::new(key_at(&keys, at / per_key), (at % per_key) as u64);
            // SAFETY: the offsets are inside the layouts, and each element is written by one task.
            unsafe {
                let parameters = [*sources[0].at(from), *sources[1].at(also_from)];
                *target.at(to) = draw(kind, parameters, &mut stream);
            }
            at += 1;
        });
    });
}

fn draw(kind: Rejection, parameters: [f64; 2], stream: &mut Stream) -> f64 {
    let [parameter, second] = parameters;
    match kind {
        Rejection::Gamma => {
            let (size, log_factor) = gamma(parameter, stream);
            size * log_factor.exp()
        }
        Rejection::LogGamma => {
            let (size, log_factor) = gamma(parameter, stream);
            size.ln() + log_factor
        }
        Rejection::Poisson => poisson(parameter, stream),
        Rejection::Binomial => binomial(parameter, second, stream),
        Rejection::VonMises => von_mises(parameter, stream),
    }
}

/// The random words of one element.
struct Stream {
    key: [u32; 2],
    next: u32,
}

impl Stream {
    fn new(key: [u32; 2], element: u64) -> Stream {
        Stream { key: threefry2x32(key, [element as u32, (element >> 32) as u32]), next: 0 }
    }

    /// A uniform variate in the open interval (0, 1), of 52 random bits.
    fn unit(&mut self) -> f64 {
        let [high, low] = threefry2x32(self.key, [self.next, 0]);
        self.next = self.next.wrapping_add(1);
        let bits = (u64::from(high) << 32 | u64::from(low)) >> 12;
        (bits as f64 + 0.5) * 0.5f64.powi(52)
    }

    /// A standard normal variate (Box and Muller, 1958).
    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.unit().ln()).sqrt();
        radius * (TAU * self.unit()).cos()
    }
}

/// A gamma variate as a product: one factor, and the logarithm of the other (Marsaglia and Tsang, ACM TOMS 26, 2000).
fn gamma(shape: f64, stream: &mut Stream) -> (f64, f64) {
    if shape.is_nan() || shape <= 0.0 {
        return (f64::NAN, 0.0);
    }
    if shape.is_infinite() {
        return (shape, 0.0);
    }
    // For shapes below one: Gamma(shape) = Gamma(shape + 1) * U^(1 / shape).
    let (shape, log_factor) =
        if shape < 1.0 { (shape + 1.0, stream.unit().ln() / shape) } else { (shape, 0.0) };
    let d = shape - 1.0 / 3.0;
    let c = 1.0 / (9.0 * d).sqrt();
    for _ in 0..MAX_REJECTIONS {
        let x = stream.normal();
        let root = 1.0 + c * x;
        let u = stream.unit();
        if root > 0.0 {
            let v = root * root * root;
            if u.ln() < 0.5 * x * x + d - d * v + d * v.ln() {
                return (d * v, log_factor);
            }
        }
    }
    (f64::NAN, 0.0)
}

/// A Poisson variate.
fn poisson(mean: f64, stream: &mut Stream) -> f64 {
    if mean.is_nan() || mean < 0.0 {
        -1.0
    } else if mean.is_infinite() {
        mean
    } else if mean < 10.0 {
        poisson_by_multiplication(mean, stream)
    } else if mean < 1e12 {
        poisson_by_rejection(mean, stream)
    } else {
        // The skewness, `1 / sqrt(mean)`, is too small for a float64 sample to show.
        (mean + mean.sqrt() * stream.normal()).floor()
    }
}

/// The number of uniform factors until the product falls below `exp(-mean)` (Knuth).
fn poisson_by_multiplication(mean: f64, stream: &mut Stream) -> f64 {
    let end = (-mean).exp();
    let mut product = stream.unit();
    let mut count = 0.0;
    while product > end {
        product *= stream.unit();
        count += 1.0;
    }
    count
}

/// Transformed rejection with a squeeze (Hörmann, Insurance: Mathematics and Economics 12, 1993, algorithm PTRS).
fn poisson_by_rejection(mean: f64, stream: &mut Stream) -> f64 {
    let b = 0.931 + 2.53 * mean.sqrt();
    let a = -0.059 + 0.02483 * b;
    let inverse_alpha = 1.1239 + 1.1328 / (b - 3.4);
    let squeeze = 0.9277 - 3.6224 / (b - 2.0);
    let log_mean = mean.ln();
    for _ in 0..MAX_REJECTIONS {
        let u = stream.unit() - 0.5;
        let v = stream.unit();
        let distance = 0.5 - u.abs();
        let k = ((2.0 * a / distance + b) * u + mean + 0.43).floor();
        if distance >= 0.07 && v <= squeeze {
            return k;
        }
        if k < 0.0 || (distance < 0.013 && v > distance) {
            continue;
        }
        let bound = (v * inverse_alpha / (a / (distance * distance) + b)).ln();
        if bound <= k * log_mean - mean - log_factorial(k) {
            return k;
        }
    }
    f64::NAN
}

/// A binomial variate. A number of trials that is no integer is rounded down.
fn binomial(trials: f64, p: f64, stream: &mut Stream) -> f64 {
    let n = trials.floor();
    if n.is_nan() || n < 0.0 || !(0.0..=1.0).contains(&p) {
        -1.0
    } else if n == 0.0 || p == 0.0 {
        0.0
    } else if n.is_infinite() {
        n
    } else if p > 0.5 {
        n - binomial_below_half(n, 1.0 - p, stream)
    } else {
        binomial_below_half(n, p, stream)
    }
}

fn binomial_below_half(n: f64, p: f64, stream: &mut Stream) -> f64 {
    if n * p < 10.0 { binomial_by_inversion(n, p, stream) } else { binomial_by_rejection(n, p, stream) }
}

/// The number of probabilities, from zero successes upwards, whose sum is below a uniform variate.
fn binomial_by_inversion(n: f64, p: f64, stream: &mut Stream) -> f64 {
    // For means below 10, a larger count has a probability below 10⁻⁶⁰; rounding errors must not lead there.
    let bound = n.min(110.0);
    let odds = p / (1.0 - p);
    let mut probability = (n * (-p).ln_1p()).exp();
    let mut rest = stream.unit();
    let mut k = 0.0;
    while rest > probability && k < bound {
        rest -= probability;
        k += 1.0;
        probability *= odds * (n + 1.0 - k) / k;
    }
    k
}

/// Transformed rejection with a squeeze (Hörmann, Journal of Statistical Computation and Simulation 46, 1993, algorithm
/// BTRS). The probabilities are computed as by Loader (Fast and accurate computation of binomial probabilities, 2000), since
/// differences of factorials lose all digits for many trials.
fn binomial_by_rejection(n: f64, p: f64, stream: &mut Stream) -> f64 {
    let deviation = (n * p * (1.0 - p)).sqrt();
    let b = 1.15 + 2.53 * deviation;
    let a = -0.0873 + 0.0248 * b + 0.01 * p;
    let alpha = (2.83 + 5.1 / b) * deviation;
    let squeeze = 0.92 - 4.2 / b;
    let log_mode = log_binomial(((n + 1.0) * p).floor(), n, p);
    for _ in 0..MAX_REJECTIONS {
        let u = stream.unit() - 0.5;
        let v = stream.unit();
        let distance = 0.5 - u.abs();
        let k = ((2.0 * a / distance + b) * u + n * p + 0.5).floor();
        if distance >= 0.07 && v <= squeeze {
            return k;
        }
        if !(0.0..=n).contains(&k) {
            continue;
        }
        if (v * alpha / (a / (distance * distance) + b)).ln() <= log_binomial(k, n, p) - log_mode {
            return k;
        }
    }
    f64::NAN
}

/// The logarithm of a binomial probability plus `ln(2π) / 2`.
fn log_binomial(k: f64, n: f64, p: f64) -> f64 {
    let failures = n - k;
    if k == 0.0 || failures == 0.0 {
        let log_probability = if k == 0.0 { n * (-p).ln_1p() } else { n * p.ln() };
        return log_probability + 0.5 * TAU.ln();
    }
    stirling_error(n)
        - stirling_error(k)
        - stirling_error(failures)
        - deviance(k, n * p)
        - deviance(failures, n * (1.0 - p))
        + 0.5 * (n.ln() - k.ln() - failures.ln())
}

/// `x ln(x / mean) + mean - x`, by its series where the terms cancel.
fn deviance(x: f64, mean: f64) -> f64 {
    let difference = x - mean;
    if difference.abs() >= 0.1 * (x + mean) {
        return x * (x / mean).ln() - difference;
    }
    let ratio = difference / (x + mean);
    let mut sum = difference * ratio;
    let mut term = 2.0 * x * ratio;
    for odd in (3..).step_by(2) {
        term *= ratio * ratio;
        let next = sum + term / f64::from(odd);
        if next == sum {
            break;
        }
        sum = next;
    }
    sum
}

/// A von Mises variate about zero, in `[-π, π]` (Best and Fisher, Applied Statistics 28, 1979).
fn von_mises(concentration: f64, stream: &mut Stream) -> f64 {
    if concentration.is_nan() || concentration < 0.0 {
        return f64::NAN;
    }
    if concentration < 1e-8 {
        return PI * (2.0 * stream.unit() - 1.0);
    }
    if concentration > 1e6 {
        // The relative error of the density is of the order of `1 / concentration`.
        return stream.normal() / concentration.sqrt();
    }
    let s = if concentration < 1e-5 {
        // The first terms of the series, since the closed form cancels.
        1.0 / concentration + concentration
    } else {
        let r = 1.0 + (1.0 + 4.0 * concentration * concentration).sqrt();
        let rho = (r - (2.0 * r).sqrt()) / (2.0 * concentration);
        (1.0 + rho * rho) / (2.0 * rho)
    };
    for _ in 0..MAX_REJECTIONS {
        let z = (PI * stream.unit()).cos();
        let cosine = (1.0 + s * z) / (s + z);
        let y = concentration * (s - cosine);
        let v = stream.unit();
        if y * (2.0 - y) >= v || (y / v).ln() + 1.0 >= y {
            let angle = cosine.clamp(-1.0, 1.0).acos();
            return if stream.unit() < 0.5 { -angle } else { angle };
        }
    }
    f64::NAN
}

/// `ln(k!)` of an integer: the product for small ones, else Stirling's series.
fn log_factorial(k: f64) -> f64 {
    if k < 16.0 {
        return (2..=k as u32).map(f64::from).product::<f64>().ln();
    }
    stirling(k) + stirling_error(k)
}

/// The leading terms of Stirling's series.
fn stirling(k: f64) -> f64 {
    (k + 0.5) * k.ln() - k + 0.5 * TAU.ln()
}

/// `ln(k!)` of a positive integer less the leading terms of Stirling's series.
fn stirling_error(k: f64) -> f64 {
    if k < 16.0 {
        return log_factorial(k) - stirling(k);
    }
    let inverse = 1.0 / k;
    let square = inverse * inverse;
    inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square / 1260.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn log_factorials_match_summed_logarithms() {
        let mut sum = 0.0;
        for k in 1..200u32 {
            sum += f64::from(k).ln();
            assert!((log_factorial(f64::from(k)) - sum).abs() <= 1e-13 * sum.max(1.0), "{k}");
        }
    }

    #[test]
    fn moments_match_the_distributions() {
        let moments = |kind, parameter: f64| {
            let draws: Vec<f64> =
                (0..40_000).map(|i| draw(kind, [parameter; 2], &mut Stream::new([1, 2], i))).collect();
            let mean = draws.iter().sum::<f64>() / 40_000.0;
            (mean, draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 40_000.0)
        };
        for kind in [Rejection::Gamma, Rejection::Poisson] {
            for parameter in [0.05, 0.7, 1.0, 3.5, 9.9, 10.0, 25.0, 1e4, 1e13] {
                let (mean, variance) = moments(kind, parameter);
                assert!(
                    (mean - parameter).abs() < 5.0 * (parameter / 40_000.0).sqrt(),
                    "{kind:?} {parameter} {mean}"
                );
                let tolerance = if parameter < 0.1 { 0.2 } else { 0.08 };
                assert!((variance / parameter - 1.0).abs() < tolerance, "{kind:?} {parameter} {variance}");
            }
        }
    }

    #[test]
    fn parameters_out_of_range_return_nan_or_a_limit() {
        let one = |kind, parameter| draw(kind, [parameter; 2], &mut Stream::new([3, 4], 0));
        for parameter in [0.0, -1.0, f64::NAN] {
            assert!(one(Rejection::Gamma, parameter).is_nan());
        }
        assert_eq!(one(Rejection::Poisson, 0.0), 0.0);
        assert_eq!(one(Rejection::Poisson, -1.0), -1.0);
        assert_eq!(one(Rejection::Poisson, f64::INFINITY), f64::INFINITY);
        assert!(one(Rejection::LogGamma, 1e-300).is_finite());
    }

    #[test]
    fn binomial_probabilities_sum_to_one() {
        for (n, p) in [(20.0, 0.5), (40.0, 0.3), (1000.0, 0.01), (5000.0, 0.5)] {
            let sum: f64 = (0..=n as u32).map(|k| log_binomial(f64::from(k), n, p).exp()).sum();
            assert!((sum / TAU.sqrt() - 1.0).abs() < 1e-10, "{n} {p} {sum}");
        }
    }

    #[test]
    fn binomial_frequencies_match_their_probabilities() {
        const DRAWS: u64 = 40_000;
        for (n, p) in [(1.0, 0.3), (12.0, 0.5), (30.0, 0.9), (19.0, 0.52), (60.0, 0.2), (500.0, 0.98)] {
            let mut counts = vec![0.0; n as usize + 1];
            for i in 0..DRAWS {
                counts[binomial(n, p, &mut Stream::new([5, 6], i)) as usize] += 1.0;
            }
            for (k, count) in counts.iter().enumerate() {
                let expected = DRAWS as f64 * log_binomial(k as f64, n, p).exp() / TAU.sqrt();
                assert!(
                    (count - expected).abs() < 5.0 * expected.sqrt() + 3.0,
                    "{n} {p} {k}: {count} {expected}"
                );
            }
        }
    }

    #[test]
    fn binomial_moments_match_for_many_trials() {
        for (n, p) in [(1e6, 1e-6), (1e9, 1e-3), (1e15, 0.3), (1e15, 1e-15), (9e15, 0.5), (1e18, 0.7)] {
            let draws: Vec<f64> =
                (0..20_000).map(|i| binomial(n, p, &mut Stream::new([7, 8], i)) - n * p).collect();
            let mean = draws.iter().sum::<f64>() / 20_000.0;
            let variance = draws.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 20_000.0;
            let expected: f64 = n * p * (1.0 - p);
            assert!(mean.abs() < 5.0 * (expected / 20_000.0).sqrt(), "{n} {p} {mean}");
            assert!((variance / expected - 1.0).abs() < 0.06, "{n} {p} {variance}");
        }
    }

    #[test]
    fn binomial_parameters_out_of_range_return_minus_one_or_a_limit() {
        let one = |n, p| binomial(n, p, &mut Stream::new([3, 4], 0));
        for (n, p) in [(-1.0, 0.5), (f64::NAN, 0.5), (5.0, -0.1), (5.0, 1.1), (5.0, f64::NAN)] {
            assert_eq!(one(n, p), -1.0);
        }
        assert_eq!((one(0.0, 0.5), one(7.0, 0.0), one(7.0, 1.0), one(7.9, 1.0)), (0.0, 0.0, 7.0, 7.0));
        assert_eq!((one(f64::INFINITY, 0.0), one(f64::INFINITY, 0.1)), (0.0, f64::INFINITY));
        assert!((one(1e300, 0.25) / 1e300 - 0.25).abs() < 1e-12);
    }

    #[test]
    fn von_mises_means_match() {
        // The mean of the cosine is `I1(κ) / I0(κ)`: `κ / 2` for small and `1 - 1 / 2κ` for large concentrations.
        for (concentration, expected) in [
            (0.0, 0.0),
            (1e-9, 0.0),
            (1e-6, 5e-7),
            (1.0, 0.446_398),
            (4.0, 0.863_523),
            (1e3, 0.9995),
            (1e7, 1.0),
        ] {
            let angles: Vec<f64> =
                (0..40_000).map(|i| von_mises(concentration, &mut Stream::new([1, 9], i))).collect();
            assert!(angles.iter().all(|angle| angle.abs() <= PI));
            let mean = |f: fn(f64) -> f64| angles.iter().map(|&angle| f(angle)).sum::<f64>() / 40_000.0;
            assert!((mean(f64::cos) - expected).abs() < 0.02, "{concentration}");
            assert!(mean(f64::sin).abs() < 0.02, "{concentration}");
        }
        for concentration in [-1.0, f64::NAN] {
            assert!(von_mises(concentration, &mut Stream::new([1, 9], 0)).is_nan());
        }
        assert_eq!(von_mises(f64::INFINITY, &mut Stream::new([1, 9], 0)), 0.0);
    }
}
