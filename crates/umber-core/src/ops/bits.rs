//! Packing and unpacking of bits.

use umber_types::shape::normalize_axis;
use umber_types::{DType, KeepAxes, Result, Scalar, Shape, ensure};

use super::creation::arange;
use super::elementwise::{astype, bitwise_and, left_shift, right_shift};
use super::promotion::weak;
use super::reductions::sum;
use super::shaping::{PadMode, pad};
use crate::graph::Array;
use crate::primitives::rules::{move_axis, reshape};
use crate::primitives::slice::slice_along;

/// Order of the bits in a byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum BitOrder {
    /// The most significant bit first.
    Big,
    /// The least significant bit first.
    Little,
}

impl BitOrder {
    /// The shift of each of eight consecutive bits relative to the least significant bit.
    fn shifts(self) -> Result<Array> {
        match self {
            BitOrder::Big => arange(7.0, -1.0, -1.0, DType::UInt8),
            BitOrder::Little => arange(0.0, 8.0, 1.0, DType::UInt8),
        }
    }
}

/// The array with `axis` moved last, or the flattened array, and the axis.
fn axis_last(op: &str, a: &Array, axis: Option<i64>) -> Result<(Array, usize)> {
    let Some(axis) = axis else { return Ok((reshape(a, [a.size()])?, 0)) };
    let axis = normalize_axis(op, axis, a.ndim())?;
    Ok((move_axis(a, axis, a.ndim() - 1)?, axis))
}

/// Pack eight elements into the bits of one uint8.
///
/// A bit is 1 where the element is nonzero; the last byte is padded with zero bits. Without an axis the array is
/// flattened.
///
/// ```
/// use umber_core::{Array, ops::{self, BitOrder}};
/// let x = Array::from_slice(&[1u8, 0, 0, 0, 0, 0, 1, 1, 1], [9])?;
/// assert_eq!(ops::packbits(&x, None, BitOrder::Big)?.to_vec::<u8>()?, [0b1000_0011, 0b1000_0000]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// For dtypes other than bool and integers.
pub fn packbits(a: &Array, axis: Option<i64>, order: BitOrder) -> Result<Array> {
    ensure!(!a.dtype().is_inexact(), Type("packbits"), "array must be bool or integer, not {}", a.dtype());
    let (bits, axis) = axis_last("packbits", &astype(a, DType::Bool)?, axis)?;
    let last = bits.ndim() - 1;
    let length = bits.shape()[last];
    let bytes = length.div_ceil(8);
    let mut widths = vec![(0, 0); bits.ndim()];
    widths[last].1 = (bytes * 8 - length) as i64;
    let bits =
        astype(&pad(&bits, &widths, PadMode::Constant, &weak(Scalar::Bool(false), &bits))?, DType::UInt8)?;
    let mut grouped: Shape = bits.shape().with(last, bytes);
    grouped.push(8);
    let shifted = left_shift(&reshape(&bits, grouped)?, &order.shifts()?)?;
    let packed = astype(&sum(&shifted, Some(&[-1]), KeepAxes::No)?, DType::UInt8)?;
    move_axis(&packed, last, axis)
}

/// Unpack the bits of each uint8 into eight elements 0 or 1.
///
/// `count` is the number of bits to return along the axis, padded with zeros; a negative one leaves out that many
/// at the end. Without an axis the array is flattened.
///
/// ```
/// use umber_core::{Array, ops::{self, BitOrder}};
/// let x = Array::from_slice(&[5u8], [1])?;
/// assert_eq!(ops::unpackbits(&x, None, Some(4), BitOrder::Little)?.to_vec::<u8>()?, [1, 0, 1, 0]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// For dtypes other than uint8, and if `count` leaves out more bits than there are.
pub fn unpackbits(a: &Array, axis: Option<i64>, count: Option<i64>, order: BitOrder) -> Result<Array> {
    ensure!(a.dtype() == DType::UInt8, Type("unpackbits"), "array must be uint8, not {}", a.dtype());
    let (bytes, axis) = axis_last("unpackbits", a, axis)?;
    let last = bytes.ndim() - 1;
    let length = bytes.shape()[last] * 8;
    let mut expanded = bytes.shape().clone();
    expanded.push(1);
    let bits = right_shift(&reshape(&bytes, expanded)?, &order.shifts()?)?;
    let bits = bitwise_and(&bits, &weak(Scalar::Int(1), &bits))?;
    let bits = reshape(&bits, bytes.shape().with(last, length))?;
    let bit_count = match count {
        None => length as i64,
        Some(count) if count < 0 => length as i64 + count.max(-(length as i64) - 1),
        Some(count) => count,
    };
    ensure!(
        bit_count >= 0,
        Value("unpackbits"),
        "count {} is out of range for {length} bits; the minimum is {}",
        count.unwrap_or(0),
        -(length as i64)
    );
    let truncated = slice_along(&bits, last, 0, length.min(bit_count as usize))?;
    let mut widths = vec![(0, 0); bits.ndim()];
    widths[last].1 = (bit_count - length as i64).max(0);
    let bits = pad(&truncated, &widths, PadMode::Constant, &weak(Scalar::Int(0), &truncated))?;
    move_axis(&bits, last, axis)
}
