//! `associative_scan`: an associative function of all prefixes of sequences, in logarithmic depth.

use umber_types::{Error, Result, ensure, error, shape::normalize_axis};

use super::LeafName;
use super::Order;
use crate::graph::Array;
use crate::ops;
use crate::primitives::rules::reshape;
use crate::primitives::slice::{Window, slice_along, slice_into};
use crate::transforms::trace::check_like;

const OP: &str = "associative_scan";

/// A function that combines earlier with later elements; its error type may be that of a front end.
pub type CombineFunction<'a, E> = &'a mut dyn FnMut(&[Array], &[Array]) -> std::result::Result<Vec<Array>, E>;

/// An associative scan of sequences of equal length.
#[derive(Debug)]
pub struct AssociativeScan {
    elems: Vec<Array>,
    order: Order,
    axis: usize,
}

impl AssociativeScan {
    /// Begin with sequences along `axis`; `name` gives the users' names of them.
    pub fn begin(elems: &[Array], order: Order, axis: i64, name: LeafName<'_>) -> Result<AssociativeScan> {
        let first = elems.first().ok_or_else(|| error!(Value(OP), "elems holds no arrays"))?;
        let out_of_bounds = |i: usize, array: &Array| {
            error!(Axis(OP), "axis {axis} is out of bounds for {} of shape {}", name(i), array.shape())
        };
        let normalized = normalize_axis(OP, axis, first.ndim()).map_err(|_| out_of_bounds(0, first))?;
        for (i, array) in elems.iter().enumerate() {
            let length = *array.shape().get(normalized).ok_or_else(|| out_of_bounds(i, array))?;
            let expected = first.shape()[normalized];
            ensure!(
                length == expected,
                Value(OP),
                "lengths along axis {axis} differ: {expected} for {} and {length} for {}",
                name(0),
                name(i)
            );
        }
        Ok(AssociativeScan { elems: elems.to_vec(), order, axis: normalized })
    }

    /// The results of `f` over all prefixes; `f` gets slices of the sequences and returns arrays of their shapes and dtypes.
    pub fn run<E: From<Error>>(
        &self,
        f: CombineFunction<'_, E>,
        name: LeafName<'_>,
    ) -> std::result::Result<Vec<Array>, E> {
        let in_order = |arrays: Vec<Array>| match self.order {
            Order::Forwards => Ok(arrays),
            Order::Backwards => {
                arrays.iter().map(|array| ops::flip(array, Some(&[self.axis as i64]))).collect()
            }
        };
        let elems: Result<Vec<Array>> = in_order(self.elems.clone());
        Ok(in_order(self.scan(elems?, f, name)?)?)
    }

    /// Combine neighbours, scan these pairs, and insert the prefixes that end between them (Blelloch, "Prefix sums and their
    /// applications", 1990).
    fn scan<E: From<Error>>(
        &self,
        elems: Vec<Array>,
        f: CombineFunction<'_, E>,
        name: LeafName<'_>,
    ) -> std::result::Result<Vec<Array>, E> {
        let length = elems[0].shape()[self.axis];
        if length < 2 {
            return Ok(elems);
        }
        let pairs = self.combine(
            &self.every_second(&elems, 0, length / 2)?,
            &self.every_second(&elems, 1, length / 2)?,
            f,
            name,
        )?;
        let odd = self.scan(pairs, f, name)?;
        let first = self.contiguous(&elems, 0, 1)?;
        let later_count = (length - 1) / 2;
        let even = if later_count == 0 {
            first
        } else {
            let later = self.combine(
                &self.contiguous(&odd, 0, later_count)?,
                &self.every_second(&elems, 2, later_count)?,
                f,
                name,
            )?;
            let joined = first.iter().zip(&later);
            joined
                .map(|(first, later)| ops::concatenate(&[first, later], Some(self.axis as i64)))
                .collect::<Result<_>>()?
        };
        Ok(even.iter().zip(&odd).map(|(even, odd)| self.interleave(even, odd)).collect::<Result<_>>()?)
    }

    /// The results of `f`, checked.
    fn combine<E: From<Error>>(
        &self,
        earlier: &[Array],
        later: &[Array],
        f: CombineFunction<'_, E>,
        name: LeafName<'_>,
    ) -> std::result::Result<Vec<Array>, E> {
        let combined = f(earlier, later)?;
        check(&combined, earlier, name)?;
        Ok(combined)
    }

    fn contiguous(&self, arrays: &[Array], start: usize, length: usize) -> Result<Vec<Array>> {
        arrays.iter().map(|array| slice_along(array, self.axis, start, length)).collect()
    }

    fn every_second(&self, arrays: &[Array], start: usize, length: usize) -> Result<Vec<Array>> {
        let slice = |array: &Array| {
            let mut window = Window::along(array.shape(), self.axis, start, length);
            window.steps[self.axis] = 2;
            let shape = window.lengths.clone();
            slice_into(array, window, shape)
        };
        arrays.iter().map(slice).collect()
    }

    /// Elements of `even` and `odd` in turn; `even` may have one more.
    fn interleave(&self, even: &Array, odd: &Array) -> Result<Array> {
        let (even_count, odd_count) = (even.shape()[self.axis], odd.shape()[self.axis]);
        let paired = slice_along(even, self.axis, 0, odd_count)?;
        let stacked = ops::stack(&[&paired, odd], self.axis as i64 + 1)?;
        let merged = reshape(&stacked, odd.shape().with(self.axis, 2 * odd_count))?;
        if even_count == odd_count {
            return Ok(merged);
        }
        let last = slice_along(even, self.axis, odd_count, 1)?;
        ops::concatenate(&[&merged, &last], Some(self.axis as i64))
    }
}

/// Check that the results of the function have the shapes and dtypes of its arguments.
fn check(combined: &[Array], like: &[Array], name: LeafName<'_>) -> Result<()> {
    check_like(OP, "the function returned", combined, like, |i, property, got, expected| {
        let rule = if property == "shape" {
            "it combines slices element by element along the axis, and keeps their shapes"
        } else {
            "it must keep dtypes"
        };
        format!("the function returned {property} {got} for {} of {property} {expected}: {rule}", name(i))
    })
}

/// Combine all prefixes of sequences with an associative function, in a number of steps logarithmic in their length.
///
/// `f(earlier, later)` receives slices of the sequences, `elems`, along `axis`, and combines them element by element. Element
/// `i` of the result combines elements `0` to `i`, or `i` to the last one with [`Order::Backwards`]. `f` runs about twice for
/// each halving of the length, and is recorded as ordinary operations. Fails for sequences of different lengths, and if
/// `f` changes shapes or dtypes.
///
/// ```
/// # use umber_core as umber;
/// use umber::Array;
/// use umber::transforms::control_flow::{Order, associative_scan};
/// // The recurrence h[i] = a[i] * h[i - 1] + b[i], as a composition of affine functions.
/// let compose = |f: &[Array], g: &[Array]| Ok(vec![&f[0] * &g[0], &(&g[0] * &f[1]) + &g[1]]);
/// let (a, b) = (Array::from([0.5f32, 0.5, 0.5]), Array::from([1.0f32, 1.0, 1.0]));
/// let scanned = associative_scan(compose, &[a, b], Order::Forwards, 0)?;
/// assert_eq!(scanned[1].to_vec::<f32>()?, [1.0, 1.5, 1.75]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn associative_scan(
    mut f: impl FnMut(&[Array], &[Array]) -> Result<Vec<Array>>,
    elems: &[Array],
    order: Order,
    axis: i64,
) -> Result<Vec<Array>> {
    let name = |i: usize| format!("elems[{i}]");
    AssociativeScan::begin(elems, order, axis, &name)?.run(&mut f, &name)
}
