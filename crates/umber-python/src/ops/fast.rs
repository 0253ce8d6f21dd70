//! `umber.core.fast`: operations that are one kernel.

use pyo3::prelude::*;
use umber::Array;
use umber::ops::fast;

use crate::args::{Operand, StreamArg, on};
use crate::array::PyArray;

/// Root mean square normalisation: `x / sqrt(mean(x²) + eps) * weight` along the last axis.
///
/// `weight`, if any, is as long as the last axis. The result has the shape of `x` and the promoted dtype; accumulates in
/// float32 at least. B. Zhang and R. Sennrich, Root Mean Square Layer Normalization, 2019.
#[pyfunction]
#[pyo3(signature = (x, weight, eps, *, stream = None))]
fn rms_norm(x: Operand, weight: Option<Operand>, eps: f64, stream: Option<StreamArg>) -> PyResult<PyArray> {
    let (x, weight) = (x.alone(), weight.map(Operand::alone));
    on(stream, || fast::rms_norm(&x, weight.as_ref(), eps)).map(PyArray::from)
}

/// Layer normalisation: `(x - mean) / sqrt(var + eps) * weight + bias` along the last axis.
///
/// `weight` and `bias`, if any, are as long as the last axis. The result has the shape of `x` and the promoted dtype;
/// accumulates in float32 at least. J. L. Ba, J. R. Kiros and G. E. Hinton, Layer Normalization, 2016.
#[pyfunction]
#[pyo3(signature = (x, weight, bias, eps, *, stream = None))]
fn layer_norm(
    x: Operand,
    weight: Option<Operand>,
    bias: Option<Operand>,
    eps: f64,
    stream: Option<StreamArg>,
) -> PyResult<PyArray> {
    let x = x.alone();
    let [weight, bias]: [Option<Array>; 2] = [weight, bias].map(|given| given.map(Operand::alone));
    on(stream, || fast::layer_norm(&x, weight.as_ref(), bias.as_ref(), eps)).map(PyArray::from)
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let fast = PyModule::new(py, "fast")?;
    fast.setattr("__name__", "umber.core.fast")?;
    fast.setattr("__doc__", "Operations that are one kernel.")?;
    fast.add_function(wrap_pyfunction!(rms_norm, &fast)?)?;
    fast.add_function(wrap_pyfunction!(layer_norm, &fast)?)?;
    module.add("fast", &fast)?;
    py.import("sys")?.getattr("modules")?.set_item("umber.core.fast", fast)
}
