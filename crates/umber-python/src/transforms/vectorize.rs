//! `vectorize`.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyInt, PyList, PyString, PyTuple};
use pyo3::{PyTraverseError, PyVisit};
use umber_core::Array;

use super::leading_axes::map_leading_axes;
use super::wrapper::{Creation, bind, describe, reduce, wrap_function};
use super::{Initialized, call_user, check_callable};
use crate::args::Operand;
use crate::new_array::NewArray;
use crate::pytree::{Pytree, PytreePath, class_of};

const OP: &str = "vectorize";

/// Names of the core axes of every input and output.
struct Signature {
    inputs: Vec<Vec<String>>,
    outputs: Vec<Vec<String>>,
    /// The text, for messages.
    text: String,
}

impl Signature {
    /// Parse a signature of NumPy's generalised ufuncs, such as ``(m,n),(n)->(m)``.
    fn parse(text: &str) -> PyResult<Signature> {
        let compact: String = text.chars().filter(|character| !character.is_whitespace()).collect();
        let sides = compact.split_once("->").and_then(|(inputs, outputs)| {
            Some((Signature::parse_side(inputs)?, Signature::parse_side(outputs)?))
        });
        let Some((inputs, outputs)) = sides else {
            return Err(PyValueError::new_err(format!(
                "[{OP}] signature: got '{text}', expected axis names of inputs and outputs, such as '(m,n),(n)->(m)'"
            )));
        };
        Ok(Signature { inputs, outputs, text: text.to_owned() })
    }

    /// Parse the lists of axis names on one side of the arrow.
    fn parse_side(text: &str) -> Option<Vec<Vec<String>>> {
        let is_name = |name: &str| !name.is_empty() && name.chars().all(|c| c.is_alphanumeric() || c == '_');
        let mut lists = Vec::new();
        let mut remaining = text;
        loop {
            let (names, tail) = remaining.strip_prefix('(')?.split_once(')')?;
            let names: Vec<&str> = if names.is_empty() { Vec::new() } else { names.split(',').collect() };
            if !names.iter().all(|name| is_name(name)) {
                return None;
            }
            lists.push(names.into_iter().map(str::to_owned).collect());
            if tail.is_empty() {
                return Some(lists);
            }
            remaining = tail.strip_prefix(',')?;
        }
    }
}

/// Lengths of the core axes by name.
#[derive(Default)]
struct CoreLengths<'a>(Vec<(&'a str, usize)>);

impl<'a> CoreLengths<'a> {
    /// Match axes with names; `what` is the array in messages.
    fn bind(&mut self, what: &str, names: &'a [String], lengths: &[usize]) -> PyResult<()> {
        for (name, &length) in names.iter().zip(lengths) {
            match self.0.iter().find(|(known, _)| *known == name.as_str()) {
                Some(&(_, expected)) if expected != length => {
                    return Err(PyValueError::new_err(format!(
                        "[{OP}] {what}: core axis {name} has length {length}, but {expected} elsewhere"
                    )));
                }
                Some(_) => {}
                None => self.0.push((name, length)),
            }
        }
        Ok(())
    }
}

/// Function of the core axes of arrays, applied to all elements of their other axes.
#[pyclass(name = "VectorizedFunction", module = "umber.core", frozen, dict, weakref)]
struct VectorizedFunction {
    initialized: Initialized,
    #[pyo3(get, name = "__wrapped__")]
    fun: Py<PyAny>,
    excluded_positions: Vec<usize>,
    excluded_names: Vec<String>,
    signature: Option<Signature>,
}

/// An argument of a call.
enum Argument<'py> {
    /// Passed to the function as it is.
    Unchanged(Bound<'py, PyAny>),
    /// The next array.
    Array,
}

/// An argument of a call before arrays and other values are separated.
struct Parsed<'py> {
    name: String,
    value: Bound<'py, PyAny>,
    /// `None` for an excluded argument.
    operand: Option<Operand>,
}

/// The arguments of a call, and the arrays to vectorise over.
struct Arguments<'py> {
    /// The positional ones, then the named ones.
    values: Vec<Argument<'py>>,
    /// Names of the named ones.
    names: Vec<Bound<'py, PyAny>>,
    arrays: Vec<Array>,
    /// Numbers of core axes of the arrays.
    core_axes: Vec<usize>,
    /// Positions of the arrays among the inputs of the signature.
    inputs: Vec<usize>,
}

impl<'py> Arguments<'py> {
    /// Call `fun` with these arrays.
    fn call(&self, fun: &Bound<'py, PyAny>, arrays: &[Array]) -> PyResult<Bound<'py, PyAny>> {
        let py = fun.py();
        let mut arrays = arrays.iter();
        let value_of = |argument: &Argument<'py>| match argument {
            Argument::Unchanged(value) => Ok(value.clone()),
            Argument::Array => {
                let array = arrays.next().expect("as many arrays as arguments").clone();
                Ok(NewArray::from(array).object(py)?.into_any())
            }
        };
        let mut values = self.values.iter().map(value_of).collect::<PyResult<Vec<_>>>()?;
        let named = PyDict::new(py);
        for (name, value) in self.names.iter().zip(values.split_off(values.len() - self.names.len())) {
            named.set_item(name, value)?;
        }
        call_user(fun, PyTuple::new(py, values)?, Some(&named))
    }
}

/// Parse an argument; None counts as excluded.
fn parse(name: String, value: Bound<'_, PyAny>, is_excluded: bool) -> PyResult<Parsed<'_>> {
    if is_excluded || value.is_none() {
        return Ok(Parsed { name, value, operand: None });
    }
    match value.extract() {
        Ok(operand) => Ok(Parsed { name, value, operand: Some(operand) }),
        Err(error) if !error.is_instance_of::<PyTypeError>(value.py()) => Err(error),
        Err(_) => Err(PyTypeError::new_err(format!(
            "[{OP}] {name}: got {}, expected an array or a number; other arguments must be in excluded",
            class_of(&value)
        ))),
    }
}

impl VectorizedFunction {
    fn arguments<'py>(
        &self,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Arguments<'py>> {
        let mut parsed: Vec<Parsed<'py>> = Vec::new();
        for (i, value) in args.iter().enumerate() {
            parsed.push(parse(format!("args[{i}]"), value, self.excluded_positions.contains(&i))?);
        }
        let mut names = Vec::new();
        for (name, value) in kwargs.into_iter().flatten() {
            let text: String = name.extract()?;
            let is_excluded = self.excluded_names.contains(&text);
            parsed.push(parse(format!("kwargs['{text}']"), value, is_excluded)?);
            names.push(name);
        }
        let input_count = parsed.iter().filter(|argument| argument.operand.is_some()).count();
        if let Some(signature) = &self.signature
            && input_count != signature.inputs.len()
        {
            return Err(PyTypeError::new_err(format!(
                "[{OP}] got {input_count} inputs, expected {} for '{}'",
                signature.inputs.len(),
                signature.text
            )));
        }
        let is_array = |argument: &Parsed<'_>| matches!(argument.operand, Some(Operand::Array(_)));
        let has_array = parsed.iter().any(is_array);
        let mut lengths = CoreLengths::default();
        let mut result = Arguments {
            values: Vec::with_capacity(parsed.len()),
            names,
            arrays: Vec::new(),
            core_axes: Vec::new(),
            inputs: Vec::new(),
        };
        let mut input = 0;
        for Parsed { name, value, operand } in parsed {
            let Some(operand) = operand else {
                result.values.push(Argument::Unchanged(value));
                continue;
            };
            let core =
                self.signature.as_ref().map_or(&[][..], |signature| signature.inputs[input].as_slice());
            input += 1;
            // A number keeps its weak dtype.
            if matches!(operand, Operand::Number(_)) && has_array && core.is_empty() {
                result.values.push(Argument::Unchanged(value));
                continue;
            }
            let array = operand.into_array();
            let Some(leading) = array.ndim().checked_sub(core.len()) else {
                return Err(PyValueError::new_err(format!(
                    "[{OP}] {name}: got shape {}, expected at least {} axes ({})",
                    array.shape(),
                    core.len(),
                    core.join(",")
                )));
            };
            lengths.bind(&name, core, &array.shape()[leading..])?;
            result.values.push(Argument::Array);
            result.arrays.push(array);
            result.core_axes.push(core.len());
            result.inputs.push(input - 1);
        }
        Ok(result)
    }

    /// Check the outputs of one call against the signature; `arrays` are its inputs.
    fn check_outputs(
        &self,
        arguments: &Arguments<'_>,
        arrays: &[Array],
        tree: &Pytree,
        outputs: &[Array],
    ) -> PyResult<()> {
        let Some(signature) = &self.signature else { return Ok(()) };
        let count = match tree {
            Pytree::Array(_) => 1,
            Pytree::Tuple(items, _) | Pytree::List(items, _) => items.len(),
            Pytree::Dict(..) | Pytree::Node(..) | Pytree::Other(_) => 0,
        };
        if count != signature.outputs.len() || count != outputs.len() {
            return Err(PyTypeError::new_err(format!(
                "[{OP}] the function returned {count} arrays, expected {} for '{}'",
                signature.outputs.len(),
                signature.text
            )));
        }
        let mut lengths = CoreLengths::default();
        for (array, &input) in arrays.iter().zip(&arguments.inputs) {
            lengths.bind("input", &signature.inputs[input], array.shape())?;
        }
        for (i, (output, core)) in outputs.iter().zip(&signature.outputs).enumerate() {
            let name = format!("output {i} of the function");
            if output.ndim() != core.len() {
                return Err(PyValueError::new_err(format!(
                    "[{OP}] {name}: got shape {}, expected {} axes ({})",
                    output.shape(),
                    core.len(),
                    core.join(",")
                )));
            }
            lengths.bind(&name, core, output.shape())?;
        }
        Ok(())
    }
}

#[pymethods]
impl VectorizedFunction {
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        let arguments = self.arguments(args, kwargs)?;
        let fun = self.fun.bind(py);
        let mut call = |arrays: &[Array]| {
            let tree = Pytree::of(&arguments.call(fun, arrays)?)?;
            tree.check_arrays(py, OP, &PytreePath::Root("the function's result"))?;
            let outputs = tree.arrays();
            self.check_outputs(&arguments, arrays, &tree, &outputs)?;
            Ok((tree, outputs))
        };
        let (tree, outputs) = map_leading_axes(OP, &arguments.arrays, &arguments.core_axes, &mut call)?;
        tree.rebuild(py, &outputs)
    }

    fn __get__<'py>(
        slf: &Bound<'py, Self>,
        instance: Option<&Bound<'py, PyAny>>,
        _owner: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        bind(slf.as_any(), instance)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        let fun = this.fun.bind(py);
        let excluded = PyList::new(py, &this.excluded_positions)?;
        this.excluded_names.iter().try_for_each(|name| excluded.append(name))?;
        let signature = this.signature.as_ref().map(|signature| &signature.text);
        let keywords = PyDict::new(py);
        keywords.set_item("excluded", excluded)?;
        keywords.set_item("signature", signature)?;
        let args = PyTuple::new(py, [fun])?;
        reduce(slf.as_any(), fun, Creation { transform: OP, args, keywords: Some(keywords) })
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        describe(OP, &self.fun, py)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        if self.initialized.is() { visit.call(&self.fun) } else { Ok(()) }
    }
}

/// Parse the argument `excluded` into positions and names.
fn parse_excluded(excluded: Option<&Bound<'_, PyAny>>) -> PyResult<(Vec<usize>, Vec<String>)> {
    let (mut positions, mut names) = (Vec::new(), Vec::new());
    let Some(excluded) = excluded else { return Ok((positions, names)) };
    let refused = |value: &Bound<'_, PyAny>| {
        PyTypeError::new_err(format!(
            "[{OP}] excluded: got {}, expected a set of positions and names of arguments",
            class_of(value)
        ))
    };
    if excluded.is_instance_of::<PyString>() {
        return Err(refused(excluded));
    }
    for item in excluded.try_iter().map_err(|_| refused(excluded))? {
        let item = item?;
        if let Ok(name) = item.cast::<PyString>() {
            names.push(name.extract()?);
        } else if item.is_instance_of::<PyInt>() {
            positions.push(item.extract().map_err(|_| {
                PyValueError::new_err(format!("[{OP}] excluded: position {item} is negative or too large"))
            })?);
        } else {
            return Err(refused(&item));
        }
    }
    Ok((positions, names))
}

/// Return a function that broadcasts its arguments and applies another one to all of their elements.
///
/// Parameters
/// ----------
/// pyfunc : callable
///     Function of scalar arrays, or of the core axes that `signature` names. Returns an array or a pytree (nested lists,
///     tuples and dicts) of arrays; with `signature` an array, or a tuple of as many as it names.
/// excluded : collection of int and str, optional
///     Positions and names of arguments to pass to `pyfunc` as they are. Default: none.
/// signature : str, optional
///     Core axes of inputs and outputs, such as ``"(m,n),(n)->(m)"`` for a product of a matrix and a vector. Default: inputs
///     have no core axes, and outputs any.
///
/// Returns
/// -------
/// callable
///     Takes arrays of more axes, in front of the core axes. These broadcast, and the results have them in front.
///
/// Raises
/// ------
/// TypeError
///     If `pyfunc` is not callable or `excluded` holds something else than integers and strings; from the returned
///     function, if an argument is not an array or number, or if the number of inputs or outputs differs from `signature`.
/// ValueError
///     If `signature` is not one, or if `excluded` holds a negative number; from the returned function, if shapes do not
///     broadcast or do not match `signature`.
///
/// See Also
/// --------
/// vmap, apply_along_axis, umber.core.fast.kernel
///
/// Notes
/// -----
/// A `vmap` over each broadcast axis; arguments are not repeated along axes that they lack. As in `vmap`, `pyfunc` is traced
/// once, on arrays without values, and all transforms apply. None is passed as it is. Keyword arguments that are not excluded
/// count as inputs after the positional ones. Signatures are those of NumPy's generalised ufuncs.
///
/// Examples
/// --------
/// >>> clip = mx.vectorize(lambda x, low: mx.maximum(x, low))
/// >>> clip(mx.array([[1, 2], [3, 4]]), mx.array([2, 4]))
/// array([[2, 4],
///        [3, 4]], dtype=int32)
/// >>> product = mx.vectorize(lambda a, x: a @ x, signature="(m,n),(n)->(m)")
/// >>> product(mx.ones((5, 2, 3)), mx.ones((4, 1, 3))).shape
/// (4, 5, 2)
#[pyfunction]
#[pyo3(
    signature = (pyfunc, *, excluded = None, signature = None),
    text_signature = "(pyfunc, *, excluded=(), signature=None)"
)]
fn vectorize<'py>(
    pyfunc: &Bound<'py, PyAny>,
    excluded: Option<&Bound<'py, PyAny>>,
    signature: Option<&str>,
) -> PyResult<Bound<'py, VectorizedFunction>> {
    check_callable(OP, pyfunc)?;
    let (excluded_positions, excluded_names) = parse_excluded(excluded)?;
    let function = VectorizedFunction {
        initialized: Initialized::YES,
        fun: pyfunc.clone().unbind(),
        excluded_positions,
        excluded_names,
        signature: signature.map(Signature::parse).transpose()?,
    };
    wrap_function(function, pyfunc)
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_function(wrap_pyfunction!(vectorize, module)?)
}
