//! What the benches share: operands, and lines that say how long a kernel takes and how fast that is.
//!
//! The clock is read by hand: the least of many samples is what the machine can do, and is what bandwidth and peak are
//! compared with. `cargo bench` measures; without its `--bench`, or with `--test`, every case runs once.
#![allow(unreachable_pub, dead_code, reason = "each bench uses its part")]

use std::hint::black_box;
use std::time::Instant;

use num_traits::FromPrimitive;
use umber_kernels_base::{View, ViewMut};
use umber_types::{Element, Layout, Shape};

/// Sides of matrices of float32 that fit L2 of a core, and that fit no cache.
pub const SIDES: [usize; 2] = [256, 4096];
/// As many elements in one line.
pub const COUNTS: [usize; 2] = [1 << 16, 1 << 24];

/// Seconds of a sample, so that the clock's own time does not count.
const SAMPLE: f64 = 2e-3;
/// Seconds in which samples of a case are taken.
const CASE: f64 = 0.1;
/// Samples of a case at least, however long they take.
const SAMPLES: usize = 3;

/// Is time taken, or does everything only run once?
pub fn measures() -> bool {
    let given = |flag: &str| std::env::args().any(|argument| argument == flag);
    given("--bench") && !given("--test")
}

/// What is measured: cases whose names contain this.
pub fn filter() -> String {
    std::env::args().skip(1).find(|argument| !argument.starts_with('-')).unwrap_or_default()
}

/// Seconds of one call.
fn seconds(body: impl FnOnce()) -> f64 {
    let start = Instant::now();
    body();
    start.elapsed().as_secs_f64()
}

/// The least time of some rounds, in seconds.
pub fn least(rounds: usize, mut body: impl FnMut()) -> f64 {
    (0..if measures() { rounds } else { 1 }).map(|_| seconds(&mut body)).fold(f64::INFINITY, f64::min)
}

/// What a call gets done, for the rate that is printed.
#[derive(Clone, Copy)]
pub enum Work {
    /// Bytes that must be read and written at least once.
    Bytes(usize),
    /// Elements, where they are no measure of bytes.
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

/// Print the least time of `body`, what that is of `work` a second, and how far the median lies above it.
pub fn case(name: &str, work: Work, mut body: impl FnMut()) {
    if !name.contains(&filter()) {
        return;
    }
    // The first call finds no page of its results mapped and no thread awake.
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
    let (least, median) = (samples[0], samples[samples.len() / 2]);
    let excess = (median / least - 1.0) * 100.0;
    println!("{name:36} {:>12.2} µs {}, median +{excess:.0} %", least * 1e6, work.rate(least));
}

/// Numbers that look random and are the same in every run (splitmix64).
fn bits(place: usize) -> u64 {
    let mut z = (place as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// The number as an element.
fn element<T: FromPrimitive>(value: f64) -> T {
    T::from_f64(value).expect("elements are numbers")
}

/// Numbers between -0.95 and 0.95, where every function of real numbers but a few has a value.
pub fn values<T: FromPrimitive>(count: usize) -> Vec<T> {
    (0..count).map(|i| element((bits(i) >> 11) as f64 / (1u64 << 53) as f64 * 1.9 - 0.95)).collect()
}

/// A dense layout.
pub fn dense(shape: &[usize]) -> Layout {
    Layout::contiguous(Shape::from(shape))
}

/// Elements and where they lie.
pub struct Operand<T> {
    pub data: Vec<T>,
    pub layout: Layout,
}

impl<T: Element + FromPrimitive> Operand<T> {
    /// Dense, of [`values`].
    pub fn values(shape: &[usize]) -> Operand<T> {
        let layout = dense(shape);
        Operand { data: values(layout.size()), layout }
    }

    /// Dense, of zeros.
    pub fn zeros(shape: &[usize]) -> Operand<T> {
        let layout = dense(shape);
        Operand { data: vec![element(0.0); layout.size()], layout }
    }

    /// Dense, of whole numbers below a bound.
    pub fn below(bound: usize, shape: &[usize]) -> Operand<T> {
        let layout = dense(shape);
        let data = (0..layout.size()).map(|i| element((bits(i) % bound as u64) as f64)).collect();
        Operand { data, layout }
    }

    /// To read.
    pub fn view(&self) -> View<'_> {
        self.under(&self.layout)
    }

    /// To read, under another layout.
    pub fn under<'a>(&'a self, layout: &'a Layout) -> View<'a> {
        black_box(View::of(&self.data, layout))
    }

    /// To write.
    pub fn view_mut(&mut self) -> ViewMut<'_> {
        ViewMut::of(&mut self.data, &self.layout)
    }

    /// Bytes of all elements.
    pub fn bytes(&self) -> usize {
        size_of_val(self.data.as_slice())
    }
}
