//! Rejection sampling. Each element has its own stream of random words, so the number of rejections of one element does not
//! change the others.
//!
//! The stream of element `i` hashes the counters 0, 1, 2, … under the key `hash(key, i)` (`i` with its low word first).
//! Everything is computed in float64.

use std::f64::consts::TAU;

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
}

impl Rejection {
    /// The user-visible name.
    pub fn name(self) -> &'static str {
        match self {
            Rejection::Gamma | Rejection::LogGamma => "gamma",
            Rejection::Poisson => "poisson",
        }
    }
}

/// Fill `out` with a draw for each parameter.
///
/// `keys` is uint32 of shape `[..., 2]`; `parameters` and `out` are float64 of one shape, whose leading axes are
/// `keys.shape[..-1]`.
///
/// # Panics
/// If shapes or dtypes differ from these.
pub fn rejection(kind: Rejection, keys: View, parameters: View, out: ViewMut) {
    assert_eq!(keys.dtype(), DType::UInt32, "keys are uint32");
    assert_eq!((parameters.dtype(), out.dtype()), (DType::Float64, DType::Float64), "draws are float64");
    assert_eq!(parameters.shape(), out.shape(), "a draw for each parameter");
    let axes = keys.shape().len() - 1;
    assert!(keys.shape()[axes] == 2 && keys.shape()[..axes] == out.shape()[..axes], "a key for each draw");
    if out.size() == 0 {
        return;
    }
    let per_key = out.size() / (keys.size() / 2);
    let mut loops = StridedLoops::new(&[], [&[], &[]]);
    for (axis, &length) in out.shape().iter().enumerate() {
        loops.push(Loop { length, strides: [parameters.strides()[axis], out.strides()[axis]] });
    }
    let (source, target) = (Source::<f64>::of(&parameters), Target::<f64>::of(&out));
    parallel_ranges(out.size(), GRAIN, |range| {
        let mut at = range.start;
        loops.walk(range, |[from, to]| {
            let mut stream = Stream::new(key_at(&keys, at / per_key), (at % per_key) as u64);
            // SAFETY: the offsets are inside the layouts, and each element is written by one task.
            unsafe { *target.at(to) = draw(kind, *source.at(from), &mut stream) };
            at += 1;
        });
    });
}

fn draw(kind: Rejection, parameter: f64, stream: &mut Stream) -> f64 {
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

/// `ln(k!)` of an integer: the product for small ones, else Stirling's series.
fn log_factorial(k: f64) -> f64 {
    if k < 16.0 {
        return (2..=k as u32).map(f64::from).product::<f64>().ln();
    }
    let x = k + 1.0;
    let inverse = 1.0 / x;
    let square = inverse * inverse;
    let series = inverse * (1.0 / 12.0 - square * (1.0 / 360.0 - square / 1260.0));
    (x - 0.5) * x.ln() - x + 0.5 * TAU.ln() + series
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
                (0..40_000).map(|i| draw(kind, parameter, &mut Stream::new([1, 2], i))).collect();
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
        let one = |kind, parameter| draw(kind, parameter, &mut Stream::new([3, 4], 0));
        for parameter in [0.0, -1.0, f64::NAN] {
            assert!(one(Rejection::Gamma, parameter).is_nan());
        }
        assert_eq!(one(Rejection::Poisson, 0.0), 0.0);
        assert_eq!(one(Rejection::Poisson, -1.0), -1.0);
        assert_eq!(one(Rejection::Poisson, f64::INFINITY), f64::INFINITY);
        assert!(one(Rejection::LogGamma, 1e-300).is_finite());
    }
}
