//! Packing and unpacking of bits.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use umber_core::ops::{self, BitOrder};

use crate::args::{Operand, StreamArg, record_on};
use crate::new_array::NewArray;

fn order_of(op: &str, name: &str) -> PyResult<BitOrder> {
    match name {
        "big" => Ok(BitOrder::Big),
        "little" => Ok(BitOrder::Little),
        other => {
            let text = format!("[{op}] got bitorder '{other}', expected 'big' or 'little'");
            Err(PyValueError::new_err(text))
        }
    }
}

/// Pack eight elements into the bits of one uint8.
///
/// Parameters
/// ----------
/// a : array_like
///     Integers or booleans; a bit is 1 where the element is nonzero.
/// axis : int, optional
///     Axis to pack along. Default: the flattened array.
/// bitorder : str, optional
///     ``"big"`` if the first element is the most significant bit, ``"little"`` if it is the least significant one.
///     Default: ``"big"``.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     uint8 array; the axis has one element for eight of `a`, the last one padded with zero bits.
///
/// Raises
/// ------
/// TypeError
///     If `a` has another dtype, or is not convertible to an array.
/// IndexError
///     If the axis is out of bounds.
/// ValueError
///     If `bitorder` is neither ``"big"`` nor ``"little"``.
///
/// See Also
/// --------
/// unpackbits, bitwise_count
///
/// Examples
/// --------
/// >>> mx.packbits(mx.array([1, 0, 0, 0, 0, 0, 1, 1, 1]))
/// array([131, 128], dtype=uint8)
/// >>> mx.packbits(mx.array([1, 0, 1]), bitorder="little")
/// array([5], dtype=uint8)
#[pyfunction]
#[pyo3(signature = (a, /, axis = None, bitorder = "big", *, stream = None))]
fn packbits(a: Operand, axis: Option<i64>, bitorder: &str, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let (a, order) = (a.into_array(), order_of("packbits", bitorder)?);
    record_on(stream, || ops::packbits(&a, axis, order)).map(NewArray::from)
}

/// Unpack the bits of each uint8 into eight elements 0 or 1.
///
/// Parameters
/// ----------
/// a : array_like
///     uint8 array.
/// axis : int, optional
///     Axis to unpack along. Default: the flattened array.
/// count : int, optional
///     Number of bits to return along the axis, padded with zeros if there are fewer; a negative number leaves out
///     that many at the end. Default: all.
/// bitorder : str, optional
///     ``"big"`` if the first element is the most significant bit, ``"little"`` if it is the least significant one.
///     Default: ``"big"``.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     uint8 array of zeros and ones; the axis is eight times as long, or has `count` elements.
///
/// Raises
/// ------
/// TypeError
///     If `a` has another dtype, or is not convertible to an array.
/// IndexError
///     If the axis is out of bounds.
/// ValueError
///     If `bitorder` is neither ``"big"`` nor ``"little"``, or a negative `count` leaves out more bits than there
///     are.
///
/// See Also
/// --------
/// packbits
///
/// Examples
/// --------
/// >>> mx.unpackbits(mx.array([5], dtype=mx.uint8), count=-2)
/// array([0, 0, 0, 0, 0, 1], dtype=uint8)
/// >>> mx.unpackbits(mx.array([5], dtype=mx.uint8), count=4, bitorder="little")
/// array([1, 0, 1, 0], dtype=uint8)
#[pyfunction]
#[pyo3(signature = (a, /, axis = None, count = None, bitorder = "big", *, stream = None))]
fn unpackbits(
    a: Operand,
    axis: Option<i64>,
    count: Option<i64>,
    bitorder: &str,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (a, order) = (a.into_array(), order_of("unpackbits", bitorder)?);
    record_on(stream, || ops::unpackbits(&a, axis, count, order)).map(NewArray::from)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(packbits, module)?)?;
    module.add_function(wrap_pyfunction!(unpackbits, module)?)
}
