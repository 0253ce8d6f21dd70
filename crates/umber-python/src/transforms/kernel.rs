//! `fast.kernel`: a Python function of scalars, applied to every element of arrays.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};
use pyo3::{PyTraverseError, PyVisit};
use umber_core::Array;

use super::leading_axes::map_leading_axes;
use super::wrapper::{describe, wrap_function};
use super::{Initialized, call_user, check_callable};
use crate::args::Operand;
use crate::error_text::with_name;
use crate::new_array::NewArray;
use crate::pytree::{Pytree, PytreePath};

/// Elementwise function of arrays made from a function of scalars.
#[pyclass(name = "ScalarKernel", module = "umber.core.fast", frozen, dict, weakref)]
pub(crate) struct ScalarKernel {
    initialized: Initialized,
    #[pyo3(get, name = "__wrapped__")]
    function: Py<PyAny>,
}

/// A call of the function on the elements of arrays.
struct Call<'a, 'py> {
    function: &'a Bound<'py, PyAny>,
    arguments: &'a [Operand],
    /// The original Python arguments.
    originals: &'a Bound<'py, PyTuple>,
}

impl Call<'_, '_> {
    /// Call the function once, with scalars in place of the array arguments.
    fn call_once(&self, scalars: &[Array]) -> PyResult<(Pytree, Vec<Array>)> {
        let py = self.function.py();
        let mut scalars = scalars.iter();
        let arguments = self.arguments.iter().zip(self.originals).map(|(operand, original)| match operand {
            Operand::Array(_) => {
                let scalar = scalars.next().expect("a scalar for each array").clone();
                Ok(NewArray::from(scalar).object(py)?.into_any())
            }
            Operand::Number(_) => Ok(original),
        });
        let arguments = PyTuple::new(py, arguments.collect::<PyResult<Vec<_>>>()?)?;
        let tree = Pytree::of(&call_user(self.function, arguments, None)?)?;
        tree.check_arrays(py, "kernel", &PytreePath::Root("the function's result"))?;
        let outputs = tree.arrays();
        match outputs.iter().find(|output| output.ndim() > 0) {
            Some(output) => Err(PyValueError::new_err(format!(
                "[kernel] the function must return scalars, got shape {}",
                output.shape()
            ))),
            None => Ok((tree, outputs)),
        }
    }
}

#[pymethods]
impl ScalarKernel {
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__(
        &self,
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        if let Some((name, _)) = kwargs.and_then(|kwargs| kwargs.iter().next()) {
            return Err(PyTypeError::new_err(format!("[kernel] {name}: arguments must be positional")));
        }
        let arguments = with_name(py, "kernel", || {
            args.iter().map(|argument| argument.extract()).collect::<PyResult<Vec<Operand>>>()
        })?;
        let arrays: Vec<Array> = arguments
            .iter()
            .filter_map(|operand| match operand {
                Operand::Array(array) => Some(array.clone()),
                Operand::Number(_) => None,
            })
            .collect();
        if arrays.is_empty() {
            return Err(PyTypeError::new_err("[kernel] needs at least one array"));
        }
        let call = Call { function: self.function.bind(py), arguments: &arguments, originals: args };
        let (tree, outputs) = map_leading_axes("kernel", &arrays, &vec![0; arrays.len()], &mut |scalars| {
            call.call_once(scalars)
        })?;
        tree.rebuild(py, &outputs)
    }

    /// The kernel of a bound method: its instance is no operand.
    fn __get__<'py>(
        slf: &Bound<'py, Self>,
        instance: Option<&Bound<'py, PyAny>>,
        owner: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, Self>> {
        let function = slf.get().function.bind(slf.py());
        if instance.is_none() || !function.hasattr(intern!(slf.py(), "__get__"))? {
            return Ok(slf.clone());
        }
        let method = function.call_method1(intern!(slf.py(), "__get__"), (instance, owner))?;
        let kernel = ScalarKernel { initialized: Initialized::YES, function: method.clone().unbind() };
        wrap_function(kernel, &method)
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        describe("kernel", &self.function, py)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        if self.initialized.is() { visit.call(&self.function) } else { Ok(()) }
    }
}

/// Return an elementwise function of arrays made from a function of scalars.
///
/// Parameters
/// ----------
/// function : callable
///     Function of scalars: takes scalar arrays and numbers, and returns a scalar array, or a pytree (nested lists, tuples
///     and dicts) of them.
///
/// Returns
/// -------
/// callable
///     Takes arrays of broadcastable shapes and numbers, by position, and returns what `function` returns for every element.
///
/// Raises
/// ------
/// TypeError
///     If `function` is not callable; from the returned function, if no argument is an array or one is passed by name.
/// ValueError
///     From the returned function: if the shapes cannot be broadcast, if `function` does not return scalar arrays, or if it
///     reads the value of an argument.
///
/// See Also
/// --------
/// umber.core.vmap, umber.core.compile
///
/// Notes
/// -----
/// `function` is traced once per call, on scalars without values, so it must select with `where` instead of ``if``. Its
/// operations are fused into one vectorised loop over the elements. Gradients and other transforms work.
///
/// Examples
/// --------
/// >>> @mx.fast.kernel
/// ... def leaky(x, slope):
/// ...     return mx.where(x > 0, x, slope * x)
/// >>> leaky(mx.array([-2.0, 3.0]), 0.5)
/// array([-1, 3], dtype=float32)
#[pyfunction]
pub(crate) fn kernel<'py>(function: &Bound<'py, PyAny>) -> PyResult<Bound<'py, ScalarKernel>> {
    check_callable("kernel", function)?;
    wrap_function(
        ScalarKernel { initialized: Initialized::YES, function: function.clone().unbind() },
        function,
    )
}
