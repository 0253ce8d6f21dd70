//! Bits packed into bytes.

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

/// Eight elements (bool or integers) along `axis`, or of the flattened array, as the bits of one uint8.
///
/// A bit is 1 where the element is not zero; zeros fill the last byte. `bitorder` says whether the first bit is the
/// highest ("big") or the lowest ("little").
#[pyfunction]
#[pyo3(signature = (a, /, axis = None, bitorder = "big", *, stream = None))]
fn packbits(a: Operand, axis: Option<i64>, bitorder: &str, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let (a, order) = (a.alone(), order_of("packbits", bitorder)?);
    record_on(stream, || ops::packbits(&a, axis, order)).map(NewArray::from)
}

/// The bits of each uint8 along `axis`, or of the flattened array, as eight uint8 that are 0 or 1.
///
/// `count` takes that many bits, with zeros where there are fewer, or leaves off so many at the end if negative.
#[pyfunction]
#[pyo3(signature = (a, /, axis = None, count = None, bitorder = "big", *, stream = None))]
fn unpackbits(
    a: Operand,
    axis: Option<i64>,
    count: Option<i64>,
    bitorder: &str,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (a, order) = (a.alone(), order_of("unpackbits", bitorder)?);
    record_on(stream, || ops::unpackbits(&a, axis, count, order)).map(NewArray::from)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(packbits, module)?)?;
    module.add_function(wrap_pyfunction!(unpackbits, module)?)
}
