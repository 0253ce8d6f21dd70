//! Functions of a complex number, in f64. Branch cuts and signed zeros follow C99 (Annex G) and Kahan,
//! "Branch cuts for complex elementary functions" (1987).

use std::f64::consts::FRAC_1_SQRT_2;

use num_complex::Complex;

type C = Complex<f64>;

const BIG: f64 = 1e150;

fn c(re: f64, im: f64) -> C {
    C { re, im }
}

/// `f(i z) / i`, which maps hyperbolic functions to circular ones and vice versa.
fn rotated(z: C, f: fn(C) -> C) -> C {
    let w = f(c(-z.im, z.re));
    c(w.im, -w.re)
}

/// `|z|`, without intermediate overflow.
#[inline]
pub fn abs(z: C) -> f64 {
    z.re.hypot(z.im)
}

/// `a / b`; division by zero divides both components by a positive zero.
#[inline]
pub fn divide(a: C, b: C) -> C {
    if b.re == 0.0 && b.im == 0.0 {
        return c(a.re / 0.0, a.im / 0.0);
    }
    if (b.re.is_infinite() || b.im.is_infinite()) && a.re.is_finite() && a.im.is_finite() {
        let sign = |x: f64| if x.is_infinite() { 1f64.copysign(x) } else { 0f64.copysign(x) };
        let (u, v) = (sign(b.re), sign(b.im));
        return c(0.0 * (a.re * u + a.im * v), 0.0 * (a.im * u - a.re * v));
    }
    // Smith's algorithm: dividing by the larger component avoids overflow of squares.
    if b.re.abs() >= b.im.abs() {
        let ratio = b.im / b.re;
        let scale = b.re + b.im * ratio;
        c((a.re + a.im * ratio) / scale, (a.im - a.re * ratio) / scale)
    } else {
        let ratio = b.re / b.im;
        let scale = b.re * ratio + b.im;
        c((a.re * ratio + a.im) / scale, (a.im * ratio - a.re) / scale)
    }
}

/// `z / |z|`, and 0 for 0.
#[inline]
pub fn sign(z: C) -> C {
    if z.re == 0.0 && z.im == 0.0 {
        return c(0.0, 0.0);
    }
    // Scaled by a quarter, so that the magnitude of the largest numbers is finite.
    let z = if z.re.abs().max(z.im.abs()) > BIG { z * 0.25 } else { z };
    if (z.re.is_infinite() || z.im.is_infinite()) && !z.re.is_nan() && !z.im.is_nan() {
        // As in arctan2, two infinite components are taken as equal.
        let magnitude = if z.re.is_infinite() && z.im.is_infinite() { FRAC_1_SQRT_2 } else { 1.0 };
        let component = |x: f64| if x.is_infinite() { magnitude.copysign(x) } else { 0f64.copysign(x) };
        return c(component(z.re), component(z.im));
    }
    let magnitude = abs(z);
    c(z.re / magnitude, z.im / magnitude)
}

/// Principal square root.
pub fn sqrt(z: C) -> C {
    if z.re == 0.0 && z.im == 0.0 {
        return c(0.0, z.im);
    }
    if z.im.is_infinite() {
        return c(f64::INFINITY, z.im);
    }
    if z.re.is_infinite() {
        let other = if z.im.is_nan() { z.im } else { 0.0 };
        return if z.re > 0.0 { c(z.re, other.copysign(z.im)) } else { c(other, (-z.re).copysign(z.im)) };
    }
    // √(4z) = 2√z keeps the magnitude in range.
    let size = z.re.abs().max(z.im.abs());
    let (z, scale) = if size > 1e300 {
        (z * 0.0625, 4.0)
    } else if size < 1e-290 {
        (z * 2f64.powi(108), 2f64.powi(-54))
    } else {
        (z, 1.0)
    };
    let t = ((z.re.abs() + abs(z)) * 0.5).sqrt() * scale;
    let other = z.im.abs() * scale * scale / (2.0 * t);
    if z.re >= 0.0 { c(t, other.copysign(z.im)) } else { c(other, t.copysign(z.im)) }
}

/// `factor * e^x`, finite if the product is.
fn times_exp(factor: f64, x: f64) -> f64 {
    if x > 700.0 {
        let half = (x * 0.5).exp();
        factor * half * half
    } else {
        factor * x.exp()
    }
}

/// `e^z`
pub fn exp(z: C) -> C {
    if z.im == 0.0 {
        return c(z.re.exp(), z.im);
    }
    if z.re == f64::NEG_INFINITY {
        let (sin, cos) = if z.im.is_finite() { z.im.sin_cos() } else { (0.0, 0.0) };
        return c(0f64.copysign(cos), 0f64.copysign(sin));
    }
    if z.re == f64::INFINITY && !z.im.is_finite() {
        return c(f64::INFINITY, f64::NAN);
    }
    let (sin, cos) = z.im.sin_cos();
    c(times_exp(cos, z.re), times_exp(sin, z.re))
}

/// `e^z - 1`
pub fn expm1(z: C) -> C {
    let w = exp(z);
    if z.re > 1.0 || !z.re.is_finite() || !z.im.is_finite() {
        return c(w.re - 1.0, w.im);
    }
    let half = (z.im * 0.5).sin();
    // Adding zero turns a real part of -0 into +0.
    c(z.re.exp_m1() * z.im.cos() - 2.0 * half * half + 0.0, w.im)
}

/// `log |z|`, accurate near the unit circle.
fn log_abs(z: C) -> f64 {
    if z.re.is_nan() || z.im.is_nan() {
        return abs(z).ln();
    }
    let (low, high) = (z.re.abs().min(z.im.abs()), z.re.abs().max(z.im.abs()));
    if high > 0.5 && high < 1.5 {
        // log √(high² + low²) = log1p((high - 1)(high + 1) + low²) / 2
        return 0.5 * (high - 1.0).mul_add(high + 1.0, low * low).ln_1p();
    }
    if high > BIG || (high < 1.0 / BIG && high > 0.0) {
        let scale = if high > 1.0 { -1022.0 } else { 1022.0 };
        let z = z * 2f64.powi(scale as i32);
        return abs(z).ln() - scale * std::f64::consts::LN_2;
    }
    abs(z).ln()
}

/// Principal natural logarithm.
pub fn log(z: C) -> C {
    c(log_abs(z), z.im.atan2(z.re))
}

/// Principal logarithm of base `e^(1/scale)`.
pub fn log_scaled(z: C, scale: f64) -> C {
    let w = log(z);
    c(w.re * scale, w.im * scale)
}

/// `log(1 + z)`
pub fn log1p(z: C) -> C {
    let re = if z.re.abs() < 0.5 && z.im.abs() < 0.5 {
        0.5 * z.re.mul_add(2.0 + z.re, z.im * z.im).ln_1p()
    } else {
        log_abs(c(1.0 + z.re, z.im))
    };
    c(re, z.im.atan2(1.0 + z.re))
}

/// `factor * cosh x`, finite if the product is.
fn times_cosh(factor: f64, x: f64) -> f64 {
    if x.abs() > 700.0 { times_exp(0.5 * factor, x.abs()) } else { factor * x.cosh() }
}

/// `factor * sinh x`, finite if the product is.
fn times_sinh(factor: f64, x: f64) -> f64 {
    if x.abs() > 700.0 { times_exp((0.5 * factor).copysign(factor * x), x.abs()) } else { factor * x.sinh() }
}

/// Hyperbolic sine.
pub fn sinh(z: C) -> C {
    if z.im == 0.0 {
        return c(z.re.sinh(), z.im);
    }
    if !z.im.is_finite() && (z.re == 0.0 || z.re.is_infinite()) {
        return c(z.re, f64::NAN);
    }
    let (sin, cos) = z.im.sin_cos();
    let re = if z.re == 0.0 { z.re * cos } else { times_sinh(cos, z.re) };
    c(re, times_cosh(sin, z.re))
}

/// Hyperbolic cosine.
pub fn cosh(z: C) -> C {
    if z.im == 0.0 {
        return c(z.re.cosh(), if z.re.is_sign_negative() { -z.im } else { z.im });
    }
    if !z.im.is_finite() && (z.re == 0.0 || z.re.is_infinite()) {
        return if z.re == 0.0 { c(f64::NAN, 0.0) } else { c(f64::INFINITY, f64::NAN) };
    }
    let (sin, cos) = z.im.sin_cos();
    c(times_cosh(cos, z.re), if z.re == 0.0 { z.re * sin } else { times_sinh(sin, z.re) })
}

/// Hyperbolic tangent.
pub fn tanh(z: C) -> C {
    let (x, y) = (z.re, z.im);
    if y == 0.0 {
        return c(x.tanh(), y);
    }
    if !y.is_finite() && !x.is_infinite() {
        return c(if x == 0.0 { x } else { f64::NAN }, f64::NAN);
    }
    if x.is_infinite() {
        // The sign of the imaginary part is that of the array API standard; C99 has that of sin(2 y).
        return c(1f64.copysign(x), if y.is_finite() { 0f64.copysign(y) } else { 0.0 });
    }
    if x.abs() > 20.0 {
        return c(1f64.copysign(x), 4.0 * y.sin() * y.cos() * (-2.0 * x.abs()).exp());
    }
    let tan = y.tan();
    let beta = 1.0 + tan * tan;
    let sinh = x.sinh();
    let rho = sinh.hypot(1.0);
    if tan.is_infinite() {
        return c(rho / sinh, 1.0 / tan);
    }
    let scale = 1.0 + beta * sinh * sinh;
    c(beta * rho * sinh / scale, tan / scale)
}

/// Sine.
pub fn sin(z: C) -> C {
    rotated(z, sinh)
}

/// Cosine.
pub fn cos(z: C) -> C {
    cosh(c(-z.im, z.re))
}

/// Tangent.
pub fn tan(z: C) -> C {
    rotated(z, tanh)
}

/// Inverse sine.
pub fn asin(z: C) -> C {
    if z.re == 0.0 && z.im.is_nan() {
        return z;
    }
    if z.re.abs().max(z.im.abs()) > BIG {
        let w = log(z);
        let re = z.re.atan2(z.im.abs());
        return c(re, (w.re + std::f64::consts::LN_2).copysign(z.im));
    }
    let (below, above) = (sqrt(c(1.0 - z.re, -z.im)), sqrt(c(1.0 + z.re, z.im)));
    let re = z.re.atan2(below.re * above.re - below.im * above.im);
    c(re, (below.re * above.im - below.im * above.re).asinh())
}

/// Inverse cosine.
pub fn acos(z: C) -> C {
    if z.re == 0.0 && z.im.is_nan() {
        return c(std::f64::consts::FRAC_PI_2, f64::NAN);
    }
    if z.re.abs().max(z.im.abs()) > BIG {
        let w = log(z);
        return c(z.im.abs().atan2(z.re), (w.re + std::f64::consts::LN_2).copysign(-z.im));
    }
    let (below, above) = (sqrt(c(1.0 - z.re, -z.im)), sqrt(c(1.0 + z.re, z.im)));
    c(2.0 * below.re.atan2(above.re), (above.re * below.im - above.im * below.re).asinh())
}

/// Inverse tangent.
pub fn atan(z: C) -> C {
    rotated(z, atanh)
}

/// Inverse hyperbolic sine.
pub fn asinh(z: C) -> C {
    rotated(z, asin)
}

/// Inverse hyperbolic cosine.
pub fn acosh(z: C) -> C {
    if z.re == 0.0 && z.im.is_nan() {
        return c(f64::NAN, std::f64::consts::FRAC_PI_2);
    }
    if z.re.abs().max(z.im.abs()) > BIG {
        let w = log(z);
        return c(w.re + std::f64::consts::LN_2, w.im);
    }
    let (below, above) = (sqrt(c(z.re - 1.0, z.im)), sqrt(c(z.re + 1.0, z.im)));
    c((below.re * above.re + below.im * above.im).asinh(), 2.0 * below.im.atan2(above.re))
}

/// Inverse hyperbolic tangent.
pub fn atanh(z: C) -> C {
    let (x, y) = (z.re, z.im);
    if x.abs().max(y.abs()) > BIG {
        if y.is_nan() || x.is_nan() && y.is_finite() {
            return c(if x.is_infinite() { 0f64.copysign(x) } else { f64::NAN }, f64::NAN);
        }
        // atanh z = 1/z ± iπ/2 to working precision.
        let re = if y.is_infinite() || x.is_infinite() { 0.0 } else { divide(c(1.0, 0.0), z).re };
        return c(re.copysign(x), std::f64::consts::FRAC_PI_2.copysign(y));
    }
    if x == 0.0 && y.is_nan() {
        return z;
    }
    let a = x.abs();
    let re = if a == 1.0 && y != 0.0 && y.abs() < 1.0 / BIG {
        // The square of y would underflow.
        0.5 * (std::f64::consts::LN_2 - y.abs().ln())
    } else {
        0.25 * (4.0 * a / (1.0 - a).mul_add(1.0 - a, y * y)).ln_1p()
    };
    let im = 0.5 * (2.0 * y).atan2((1.0 - a).mul_add(1.0 + a, -(y * y)));
    c(re.copysign(x), im)
}

/// `a^b`; small integer powers by repeated multiplication, so that they are exact if possible.
pub fn power(a: C, b: C) -> C {
    if b.re == 0.0 && b.im == 0.0 {
        return c(1.0, 0.0);
    }
    if a.re == 0.0 && a.im == 0.0 {
        return if b.re > 0.0 { c(0.0, 0.0) } else { c(f64::NAN, f64::NAN) };
    }
    if b.im == 0.0 && b.re.trunc() == b.re && b.re.abs() <= 64.0 {
        let (mut result, mut base, mut exponent) = (c(1.0, 0.0), a, b.re.abs() as u32);
        while exponent != 0 {
            if exponent & 1 == 1 {
                result *= base;
            }
            base *= base;
            exponent >>= 1;
        }
        return if b.re < 0.0 { divide(c(1.0, 0.0), result) } else { result };
    }
    exp(b * log(a))
}

/// True if `a` precedes `b` by real part, then imaginary part.
#[inline(always)]
pub fn less<T: PartialOrd>(a: Complex<T>, b: Complex<T>) -> bool {
    a.re < b.re || (a.re == b.re && a.im < b.im)
}

/// `log(e^a + e^b)`
pub fn logaddexp(a: C, b: C) -> C {
    let (low, high) = if less(a, b) { (a, b) } else { (b, a) };
    if a.is_nan() || b.is_nan() {
        return C::new(f64::NAN, f64::NAN);
    }
    if high.re == f64::NEG_INFINITY || low.re.is_infinite() && low.re == high.re && low.im == high.im {
        return high;
    }
    high + log1p(exp(low - high))
}
