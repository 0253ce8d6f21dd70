//! Shapes, axes and broadcasting.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::mem::MaybeUninit;
use std::ops::Deref;

use smallvec::SmallVec;

use crate::{Error, Result, ensure, error};

/// The lengths of an array's axes, 64-bit throughout.
#[derive(Debug, Eq, Default, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "Vec<i64>")]
pub struct Shape(SmallVec<[usize; 4]>);

/// Axes of an array, normalised to `0..ndim`, sorted, each once.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "Vec<usize>")]
pub struct Axes(SmallVec<[usize; 4]>);

impl PartialEq for Shape {
    /// Compares lengths one by one: for the few axes of most shapes this is faster than a call of `memcmp`.
    #[inline]
    fn eq(&self, other: &Shape) -> bool {
        self.ndim() == other.ndim() && self.0.iter().zip(&other.0).all(|(own, other)| own == other)
    }
}

impl Hash for Shape {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl Clone for Shape {
    #[inline]
    fn clone(&self) -> Shape {
        Shape(copied(&self.0))
    }

    #[inline]
    fn clone_from(&mut self, source: &Shape) {
        copy_into(&mut self.0, &source.0);
    }
}

/// A copy of per-axis values. On the hot path of recording a node: copying them one by one would take as long as all other work.
#[inline]
pub(crate) fn copied<T: Copy>(values: &SmallVec<[T; 4]>) -> SmallVec<[T; 4]> {
    if values.spilled() {
        return SmallVec::from_slice(values);
    }
    // Copies the full inline capacity, since a copy of variable length is a call and causes store-to-load forwarding stalls.
    let inline = values.as_ptr().cast::<MaybeUninit<[T; 4]>>();
    // SAFETY: values that are not spilled are in this inline buffer, and `values.len()` of them are initialised.
    unsafe { SmallVec::from_buf_and_len_unchecked(inline.read(), values.len()) }
}

/// As [`copied`], into an existing vector. Building a vector elsewhere and moving it here would cause store-to-load forwarding
/// stalls.
#[inline]
pub(crate) fn copy_into<T: Copy>(target: &mut SmallVec<[T; 4]>, values: &SmallVec<[T; 4]>) {
    if target.spilled() || values.spilled() {
        *target = SmallVec::from_slice(values);
        return;
    }
    // SAFETY: neither is spilled, so both have the inline buffer; the two pointers come from different vectors.
    unsafe {
        target
            .as_mut_ptr()
            .cast::<MaybeUninit<[T; 4]>>()
            .write(values.as_ptr().cast::<MaybeUninit<[T; 4]>>().read());
        target.set_len(values.len());
    }
}

impl TryFrom<Vec<i64>> for Shape {
    type Error = Error;

    fn try_from(lengths: Vec<i64>) -> Result<Shape> {
        Shape::checked("shape", &lengths)
    }
}

impl TryFrom<Vec<usize>> for Axes {
    type Error = Error;

    fn try_from(axes: Vec<usize>) -> Result<Axes> {
        ensure!(
            axes.is_sorted_by(|a, b| a < b),
            Value("axes"),
            "axes must be sorted and unique, got {axes:?}"
        );
        Ok(Axes(axes.into()))
    }
}

impl Shape {
    /// The shape of a scalar.
    #[inline]
    pub fn scalar() -> Shape {
        Shape(SmallVec::new())
    }

    /// A shape with these lengths, without the overflow check: for lengths that come from checked shapes.
    pub fn new(lengths: impl IntoIterator<Item = usize>) -> Shape {
        Shape(lengths.into_iter().collect())
    }

    /// A shape with lengths from a user: none may be negative, and the number of elements must be addressable.
    pub fn checked(op: &str, lengths: &[i64]) -> Result<Shape> {
        let mut shape = Shape::default();
        for &length in lengths {
            ensure!(length >= 0, Value(op), "lengths must not be negative, got shape {}", tuple(lengths));
            shape.0.push(length as usize);
        }
        ensure!(shape.is_addressable(), Overflow(op), "shape {shape} is too large to address");
        Ok(shape)
    }

    /// Whether memory can address this many elements of any dtype. Axes of length zero count as one, since strides are products
    /// of the other lengths.
    #[inline]
    pub fn is_addressable(&self) -> bool {
        let mut count: usize = 1;
        for &length in &self.0 {
            count = match count.checked_mul(length.max(1)) {
                Some(count) if count <= isize::MAX as usize / 16 => count,
                _ => return false,
            };
        }
        true
    }

    /// Number of axes.
    #[inline]
    pub fn ndim(&self) -> usize {
        self.0.len()
    }

    /// Number of elements, saturating.
    #[inline]
    pub fn size(&self) -> usize {
        self.0.iter().fold(1, |size: usize, &length| size.saturating_mul(length))
    }

    /// Append an axis.
    #[inline]
    pub fn push(&mut self, length: usize) {
        self.0.push(length);
    }

    /// Insert an axis before `axis`.
    pub fn insert(&mut self, axis: usize, length: usize) {
        self.0.insert(axis, length);
    }

    /// Remove an axis and return its length.
    pub fn remove(&mut self, axis: usize) -> usize {
        self.0.remove(axis)
    }

    /// The lengths, mutable.
    pub fn as_mut_slice(&mut self) -> &mut [usize] {
        &mut self.0
    }

    /// This shape with another length of `axis`.
    #[must_use]
    pub fn with(&self, axis: usize, length: usize) -> Shape {
        let mut shape = self.clone();
        shape.0[axis] = length;
        shape
    }

    /// This shape with these axes reduced: to length one, or removed.
    #[must_use]
    pub fn reduced(&self, axes: &Axes, keep: crate::KeepAxes) -> Shape {
        let kept = self.0.iter().enumerate().filter_map(|(axis, &length)| {
            if !axes.contains(&axis) {
                Some(length)
            } else if keep == crate::KeepAxes::Yes {
                Some(1)
            } else {
                None
            }
        });
        Shape(kept.collect())
    }

    /// The shape that both broadcast to, by NumPy's rule, or `None`.
    pub fn broadcast(&self, other: &Shape) -> Option<Shape> {
        let (long, short) = if self.ndim() < other.ndim() { (other, self) } else { (self, other) };
        let mut shape = long.clone();
        let first_axis = shape.ndim() - short.ndim();
        for (target, &length) in shape.0[first_axis..].iter_mut().zip(&short.0) {
            match (*target, length) {
                (a, b) if a == b => {}
                (1, b) => *target = b,
                (_, 1) => {}
                _ => return None,
            }
        }
        Some(shape)
    }

    /// Whether an array of this shape can broadcast to `target`.
    #[inline]
    pub fn broadcasts_to(&self, target: &Shape) -> bool {
        self.ndim() <= target.ndim()
            && self.0.iter().rev().zip(target.0.iter().rev()).all(|(&from, &to)| from == to || from == 1)
    }
}

impl Deref for Shape {
    type Target = [usize];
    #[inline]
    fn deref(&self) -> &[usize] {
        &self.0
    }
}

impl From<&[usize]> for Shape {
    fn from(lengths: &[usize]) -> Self {
        Shape(SmallVec::from_slice(lengths))
    }
}
impl<const N: usize> From<[usize; N]> for Shape {
    fn from(lengths: [usize; N]) -> Self {
        Shape(SmallVec::from_slice(&lengths))
    }
}
impl<const N: usize> From<&[usize; N]> for Shape {
    fn from(lengths: &[usize; N]) -> Self {
        Shape(SmallVec::from_slice(lengths))
    }
}
impl From<&Vec<usize>> for Shape {
    fn from(lengths: &Vec<usize>) -> Self {
        Shape(SmallVec::from_slice(lengths))
    }
}
impl From<usize> for Shape {
    /// One axis of this length.
    fn from(length: usize) -> Self {
        Shape(SmallVec::from_slice(&[length]))
    }
}
macro_rules! tuples {
    ($(($($length:ident)*) $tuple:ty;)*) => {$(
        impl From<$tuple> for Shape {
            fn from(($($length,)*): $tuple) -> Self {
                Shape::new([$($length),*])
            }
        }
    )*};
}
tuples! {
    () ();
    (a) (usize,);
    (a b) (usize, usize);
    (a b c) (usize, usize, usize);
    (a b c d) (usize, usize, usize, usize);
    (a b c d e) (usize, usize, usize, usize, usize);
    (a b c d e f) (usize, usize, usize, usize, usize, usize);
}
impl From<&Shape> for Shape {
    #[inline]
    fn from(shape: &Shape) -> Self {
        shape.clone()
    }
}
impl From<Vec<usize>> for Shape {
    fn from(lengths: Vec<usize>) -> Self {
        Shape(SmallVec::from_vec(lengths))
    }
}
impl FromIterator<usize> for Shape {
    fn from_iter<I: IntoIterator<Item = usize>>(lengths: I) -> Self {
        Shape(lengths.into_iter().collect())
    }
}

impl fmt::Display for Shape {
    /// As Python prints a tuple: `(2, 3)`, `(2,)`, `()`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (i, length) in self.0.iter().enumerate() {
            if i > 0 {
                f.write_str(", ")?;
            }
            write!(f, "{length}")?;
        }
        f.write_str(if self.0.len() == 1 { ",)" } else { ")" })
    }
}

/// Lengths as Python prints a tuple, including negative ones.
pub fn tuple(lengths: &[i64]) -> String {
    let texts: Vec<String> = lengths.iter().map(ToString::to_string).collect();
    format!("({}{})", texts.join(", "), if lengths.len() == 1 { "," } else { "" })
}

/// The error for an index out of bounds of an axis, without an operation.
pub fn out_of_bounds(index: impl fmt::Display, axis: usize, length: usize) -> Error {
    error!(Index, "index {index} is out of bounds for axis {axis} of length {length}")
}

/// An index of an axis of this length, counted from the start instead of the end if it is negative; not checked.
#[inline]
pub fn from_start(index: i64, length: usize) -> i64 {
    if index < 0 { index.saturating_add(length as i64) } else { index }
}

/// Normalise an axis, counted from the end if negative, to `0..ndim`.
pub fn normalize_axis(op: &str, axis: i64, ndim: usize) -> Result<usize> {
    let shifted = from_start(axis, ndim);
    ensure!(
        (0..ndim as i64).contains(&shifted),
        Axis(op),
        "axis {axis} is out of bounds for {ndim} {}",
        if ndim == 1 { "dimension" } else { "dimensions" }
    );
    Ok(shifted as usize)
}

impl Axes {
    /// Normalise axes from a user: counted from the end if negative, each at most once.
    pub fn normalized(op: &str, axes: &[i64], ndim: usize) -> Result<Axes> {
        let mut normalized = SmallVec::new();
        for &axis in axes {
            let axis = normalize_axis(op, axis, ndim)?;
            ensure!(!normalized.contains(&axis), Value(op), "duplicate axis {axis} in {axes:?}");
            normalized.push(axis);
        }
        normalized.sort_unstable();
        Ok(Axes(normalized))
    }

    /// All axes of an array with `ndim` dimensions.
    pub fn all(ndim: usize) -> Axes {
        Axes((0..ndim).collect())
    }

    /// One axis, already normalised.
    pub fn one(axis: usize) -> Axes {
        Axes(SmallVec::from_slice(&[axis]))
    }

    /// Axes from any order, sorted and without duplicates.
    pub fn sorted(axes: impl IntoIterator<Item = usize>) -> Axes {
        let mut axes: SmallVec<[usize; 4]> = axes.into_iter().collect();
        axes.sort_unstable();
        axes.dedup();
        Axes(axes)
    }

    /// The same axes of an array with a new first axis.
    #[must_use]
    pub fn shifted(&self) -> Axes {
        Axes(self.0.iter().map(|axis| axis + 1).collect())
    }
}

impl Deref for Axes {
    type Target = [usize];
    fn deref(&self) -> &[usize] {
        &self.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bad_shapes_and_axes_are_refused() {
        assert!(Shape::checked("zeros", &[2, -1]).is_err());
        assert!(Shape::checked("zeros", &[i64::MAX, 2]).is_err());
        assert!(Shape::checked("zeros", &[i64::MAX, 0, 3]).is_err());
        assert_eq!(normalize_axis("sum", -1, 3), Ok(2));
        assert!(normalize_axis("sum", 3, 3).is_err());
        assert!(normalize_axis("sum", i64::MIN, 3).is_err());
        assert!(Axes::normalized("sum", &[0, -2], 2).is_err());
    }

    proptest! {
        #[test]
        fn clone_from_equals_the_source(
            a in prop::collection::vec(0usize..4, 0..8),
            b in prop::collection::vec(0usize..4, 0..8),
        ) {
            let is_equal = a == b;
            let (mut target, source) = (Shape::from(a), Shape::from(b));
            prop_assert_eq!(target == source, is_equal);
            target.clone_from(&source);
            prop_assert_eq!(&target, &source);
            prop_assert_eq!(target.to_vec(), source.to_vec());
            target.push(5);
            prop_assert_eq!(target.ndim(), source.ndim() + 1);
        }

        #[test]
        fn broadcasting_follows_numpys_rule(
            a in prop::collection::vec(0usize..4, 0..7),
            b in prop::collection::vec(0usize..4, 0..7),
        ) {
            let ndim = a.len().max(b.len());
            let padded = |lengths: &[usize]| [vec![1; ndim - lengths.len()], lengths.to_vec()].concat();
            let combine = |(a, b): (usize, usize)| match (a, b) {
                (a, b) if a == b || b == 1 => Some(a),
                (1, b) => Some(b),
                _ => None,
            };
            let expected: Option<Vec<usize>> = padded(&a).into_iter().zip(padded(&b)).map(combine).collect();
            let shape = Shape::from(a).broadcast(&Shape::from(b));
            prop_assert_eq!(shape.map(|shape| shape.to_vec()), expected);
        }

        #[test]
        fn broadcasting_is_commutative_and_reached_by_both(
            a in prop::collection::vec(0usize..4, 0..5),
            b in prop::collection::vec(0usize..4, 0..5),
        ) {
            let (a, b) = (Shape::from(a), Shape::from(b));
            let c = a.broadcast(&b);
            prop_assert_eq!(&c, &b.broadcast(&a));
            if let Some(c) = c {
                prop_assert!(a.broadcasts_to(&c) && b.broadcasts_to(&c));
            }
        }
    }
}
