//! Random operands for kernel tests: data, a layout, and the elements under it.
#![allow(unreachable_pub, dead_code, reason = "each test file uses some of the items")]

use proptest::prelude::*;
use umber_kernels::{View, ViewMut};
use umber_types::{Bool, Complex, Complex32, Complex64, Element, Layout, Shape, bf16, f16};

/// A small deterministic generator (splitmix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub fn below(&mut self, bound: u64) -> u64 {
        self.next() % bound
    }

    /// Uniform in 0..1.
    pub fn uniform(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// An element type for tests: conversion from small integers, and arithmetic by definition.
pub trait Value: Element {
    /// The number, converted.
    fn from_i64(value: i64) -> Self;
    fn plus(self, other: Self) -> Self;
    fn times(self, other: Self) -> Self;
    /// The sum of small integers.
    fn sum(values: &[Self]) -> Self {
        values.iter().fold(Self::from_i64(0), |sum, &value| sum.plus(value))
    }
    /// Comparison with `None` where either is NaN.
    fn order(self, other: Self) -> Option<std::cmp::Ordering>;
    fn is_true(self) -> bool;
    /// An unordered value, if the type has one.
    const NAN: Option<Self>;
    fn is_nan_value(self) -> bool {
        self.order(self).is_none()
    }
    /// Equality in which all NaN are equal.
    fn same(self, other: Self) -> bool {
        self == other || self.is_nan_value() && other.is_nan_value()
    }
}

macro_rules! integers {
    ($($ty:ty)*) => { $(
        impl Value for $ty {
            const NAN: Option<$ty> = None;
            fn from_i64(value: i64) -> $ty {
                value as $ty
            }
            fn plus(self, other: $ty) -> $ty {
                self.wrapping_add(other)
            }
            fn times(self, other: $ty) -> $ty {
                self.wrapping_mul(other)
            }
            fn order(self, other: $ty) -> Option<std::cmp::Ordering> {
                Some(self.cmp(&other))
            }
            fn is_true(self) -> bool {
                self != 0
            }
        }
    )* };
}
integers!(u8 u16 u32 u64 i8 i16 i32 i64);

macro_rules! floats {
    ($($ty:ty, $from:expr, $nan:expr;)*) => { $(
        impl Value for $ty {
            const NAN: Option<$ty> = Some($nan);
            fn from_i64(value: i64) -> $ty {
                $from(value as f32)
            }
            fn plus(self, other: $ty) -> $ty {
                self + other
            }
            fn times(self, other: $ty) -> $ty {
                self * other
            }
            fn sum(values: &[$ty]) -> $ty {
                // Added one by one, float16 and bfloat16 sums would stop growing at 2048 and 256.
                $from(values.iter().map(|&value| f64::from(value)).sum::<f64>() as f32)
            }
            fn order(self, other: $ty) -> Option<std::cmp::Ordering> {
                self.partial_cmp(&other)
            }
            fn is_true(self) -> bool {
                self != $from(0.0)
            }
        }
    )* };
}
floats! {
    f16, f16::from_f32, f16::NAN;
    bf16, bf16::from_f32, bf16::NAN;
    f32, f32::from, f32::NAN;
    f64, f64::from, f64::NAN;
}

macro_rules! complexes {
    ($($ty:ty, $part:ident;)*) => { $(
        impl Value for $ty {
            const NAN: Option<$ty> = Some(Complex::new(1.0, $part::NAN));
            fn from_i64(value: i64) -> $ty {
                Complex::new((value / 2) as $part, (value % 2) as $part)
            }
            fn plus(self, other: $ty) -> $ty {
                self + other
            }
            fn times(self, other: $ty) -> $ty {
                self * other
            }
            fn order(self, other: $ty) -> Option<std::cmp::Ordering> {
                let (re, im) = (self.re.partial_cmp(&other.re)?, self.im.partial_cmp(&other.im)?);
                Some(re.then(im))
            }
            fn is_true(self) -> bool {
                self.re != 0.0 || self.im != 0.0
            }
        }
    )* };
}
complexes! { Complex32, f32; Complex64, f64; }

impl Value for Bool {
    const NAN: Option<Bool> = None;
    fn from_i64(value: i64) -> Bool {
        // Any nonzero byte is true.
        Bool(if value % 2 == 0 { 0 } else { (value as u8) | 1 })
    }
    fn plus(self, other: Bool) -> Bool {
        (self.get() || other.get()).into()
    }
    fn times(self, other: Bool) -> Bool {
        (self.get() && other.get()).into()
    }
    fn order(self, other: Bool) -> Option<std::cmp::Ordering> {
        Some(self.get().cmp(&other.get()))
    }
    fn is_true(self) -> bool {
        self.get()
    }
    fn same(self, other: Bool) -> bool {
        self.get() == other.get()
    }
}

/// Data under a layout.
#[derive(Clone, Debug)]
pub struct Operand<T> {
    pub data: Vec<T>,
    pub layout: Layout,
}

impl<T: Element> Operand<T> {
    /// Dense values.
    pub fn dense(values: Vec<T>, shape: &[usize]) -> Operand<T> {
        Operand { data: values, layout: Layout::contiguous(Shape::from(shape)) }
    }

    /// An operand whose whole buffer is filled by `draw`.
    pub fn under(layout: &Layout, mut draw: impl FnMut() -> T) -> Operand<T> {
        let length = layout.extent().map_or(0, |(_, high)| high as usize);
        Operand { data: (0..length).map(|_| draw()).collect(), layout: layout.clone() }
    }

    pub fn view(&self) -> View<'_> {
        View::of(&self.data, &self.layout)
    }

    pub fn view_mut(&mut self) -> ViewMut<'_> {
        ViewMut::of(&mut self.data, &self.layout)
    }

    pub fn at(&self, index: &[usize]) -> T {
        self.data[position(&self.layout, index)]
    }

    /// The values in row-major order.
    pub fn values(&self) -> Vec<T> {
        indices(&self.layout.shape).iter().map(|index| self.at(index)).collect()
    }
}

/// The offset of an index in the buffer.
pub fn position(layout: &Layout, index: &[usize]) -> usize {
    let steps = index.iter().zip(&layout.strides).map(|(&i, &stride)| i as isize * stride);
    (layout.offset as isize + steps.sum::<isize>()) as usize
}

/// Every index of a shape in row-major order.
pub fn indices(shape: &[usize]) -> Vec<Vec<usize>> {
    let mut all = vec![vec![]];
    for &length in shape {
        all = all.iter().flat_map(|index| (0..length).map(|i| [index.as_slice(), &[i]].concat())).collect();
    }
    all
}

/// A layout of this shape with a random order of the axes in memory; some are reversed, strided or broadcast.
pub fn scrambled(shape: &[usize], seed: u64, repeats: bool) -> Layout {
    let mut random = Random(seed);
    let mut order: Vec<usize> = (0..shape.len()).collect();
    for i in (1..order.len()).rev() {
        order.swap(i, random.below(i as u64 + 1) as usize);
    }
    let plain = random.below(3) == 0;
    let stored: Shape = order.iter().map(|&axis| if plain { shape[axis] } else { shape[axis] * 2 }).collect();
    let mut starts = Vec::new();
    let mut steps = Vec::new();
    for &axis in &order {
        let kind = if plain { 0 } else { random.below(4) };
        starts.push(if kind == 1 { shape[axis].saturating_sub(1) } else { 0 });
        steps.push([1, -1, 2, 1][kind as usize]);
    }
    let lengths: Shape = order.iter().map(|&axis| shape[axis]).collect();
    let view = Layout::contiguous(stored).slice(&starts, &steps, &lengths);
    let mut inverse = vec![0; order.len()];
    for (position, &axis) in order.iter().enumerate() {
        inverse[axis] = position;
    }
    let mut layout = view.permute(&inverse);
    for (axis, &length) in shape.iter().enumerate() {
        if repeats && view.size() > 0 && random.below(6) == 0 {
            if layout.strides[axis] < 0 {
                layout.offset =
                    (layout.offset as isize + layout.strides[axis] * (length as isize - 1)) as usize;
            }
            layout.strides[axis] = 0;
        }
    }
    layout
}

/// Shapes of up to four axes, some of length zero or one.
pub fn shapes() -> impl Strategy<Value = Vec<usize>> {
    let length = prop_oneof![1 => Just(0usize), 3 => Just(1usize), 12 => 2usize..7, 2 => 8usize..40];
    prop::collection::vec(length, 0..5).prop_filter("small", |shape| shape.iter().product::<usize>() <= 1500)
}
