//! Shared by the benches: operands, and measurements of the time and the rate of a kernel.
//!
//! The minimum of many samples is reported: it is the least disturbed by other processes and comparable with peak rates.
//! `cargo bench` measures; without its `--bench`, or with `--test`, every case runs once.
#![allow(unreachable_pub, dead_code, reason = "each bench uses some of the items")]

use std::hint::black_box;
use std::time::Instant;

use num_traits::FromPrimitive;
use umber_kernels_base::{View, ViewMut};
use umber_types::{Element, Layout, Shape};

/// Sides of float32 matrices: one that fits the L2 cache of a core, and one that exceeds all caches.
pub const SIDES: [usize; 2] = [256, 4096];
/// Lengths of vectors with as many elements.
pub const COUNTS: [usize; 2] = [1 << 16, 1 << 24];

/// Seconds per sample, long enough to make the resolution of the clock negligible.
const SAMPLE: f64 = 2e-3;
/// Seconds per case.
const CASE: f64 = 0.1;
/// Minimum number of samples per case.
const SAMPLES: usize = 3;

/// True if the bench measures; else every case runs once.
pub fn measures() -> bool {
    let has_flag = |flag: &str| std::env::args().any(|argument| argument == flag);
    has_flag("--bench") && !has_flag("--test")
}

/// Only cases whose names contain this are measured.
pub fn filter() -> String {
    std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default()
}

/// The duration of one call in seconds.
fn seconds(body: impl FnOnce()) -> f64 {
    let start = Instant::now();
    body();
    start.elapsed().as_secs_f64()
}

/// The minimum duration of several calls, in seconds.
pub fn min_seconds(rounds: usize, mut body: impl FnMut()) -> f64 {
    (0..if measures() { rounds } else { 1 }).map(|_| seconds(&mut body)).fold(f64::INFINITY, f64::min)
}

/// The work of a call, for the printed rate.
#[derive(Clone, Copy)]
pub enum Work {
    /// Bytes that must be read and written at least once.
    Bytes(usize),
    /// Elements, if the number of bytes is no meaningful measure.
    Elements(usize),
    /// Additions and multiplications.
    Flops(usize),
}

impl Work {
    fn rate(self, seconds: f64) -> String {
        match self {
            Work::Bytes(count) => format!("{:9.2} GB/s", count as f64 / seconds / 1e9),
            Work::Elements(count) => format!("{:9.2} M elements/s", count as f64 / seconds / 1e6),
            Work::Flops(count) => format!("{:9.2} GFLOP/s", count as f64 / seconds / 1e9),
        }
    }
}

/// Print the minimum time of `body`, its rate in `work` per second, and the excess of the median over the minimum.
pub fn case(name: &str, work: Work, mut body: impl FnMut()) {
    if !name.contains(&filter()) {
        return;
    }
    // Warm up: the first call faults in pages and wakes threads.
    body();
    if !measures() {
        println!("{name:36} runs");
        return;
    }
    let repeats = (SAMPLE / seconds(&mut body)).clamp(1.0, 1e6) as usize;
    let mut samples = Vec::new();
    let start = Instant::now();
    while samples.len() < SAMPLES || start.elapsed().as_secs_f64() < CASE {
        samples.push(seconds(|| (0..repeats).for_each(|_| body())) / repeats as f64);
    }
    samples.sort_by(f64::total_cmp);
    let (minimum, median) = (samples[0], samples[samples.len() / 2]);
    let excess = (median / minimum - 1.0) * 100.0;
    println!("{name:36} {:>12.2} µs {}, median +{excess:.0} %", minimum * 1e6, work.rate(minimum));
}

/// Deterministic pseudo-random bits (splitmix64).
fn bits(index: usize) -> u64 {
    let mut z = (index as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// Convert a number to an element.
fn element<T: FromPrimitive>(value: f64) -> T {
    T::from_f64(value).expect("elements are numbers")
}

/// Numbers between -0.95 and 0.95, inside the domain of almost every function.
pub fn values<T: FromPrimitive>(count: usize) -> Vec<T> {
    (0..count).map(|i| element((bits(i) >> 11) as f64 / (1u64 << 53) as f64 * 1.9 - 0.95)).collect()
}

/// A dense layout.
pub fn dense(shape: &[usize]) -> Layout {
    Layout::contiguous(Shape::from(shape))
}

/// Elements and their layout.
pub struct Operand<T> {
    pub data: Vec<T>,
    pub layout: Layout,
}

impl<T: Element + FromPrimitive> Operand<T> {
    /// A dense operand of [`values`].
    pub fn values(shape: &[usize]) -> Operand<T> {
        let layout = dense(shape);
        Operand { data: values(layout.size()), layout }
    }

    /// A dense operand of zeros.
    pub fn zeros(shape: &[usize]) -> Operand<T> {
        let layout = dense(shape);
        Operand { data: vec![element(0.0); layout.size()], layout }
    }

    /// A dense operand of integers below a bound.
    pub fn below(bound: usize, shape: &[usize]) -> Operand<T> {
        let layout = dense(shape);
        let data = (0..layout.size()).map(|i| element((bits(i) % bound as u64) as f64)).collect();
        Operand { data, layout }
    }

    /// A view for reading.
    pub fn view(&self) -> View<'_> {
        self.under(&self.layout)
    }

    /// A view for reading with another layout.
    pub fn under<'a>(&'a self, layout: &'a Layout) -> View<'a> {
        black_box(View::of(&self.data, layout))
    }

    /// A view for writing.
    pub fn view_mut(&mut self) -> ViewMut<'_> {
        ViewMut::of(&mut self.data, &self.layout)
    }

    /// Size of all elements in bytes.
    pub fn bytes(&self) -> usize {
        size_of_val(self.data.as_slice())
    }
}
