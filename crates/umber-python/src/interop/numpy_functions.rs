//! NumPy's functions on arrays: `__array_ufunc__` (NEP 13) and `__array_function__` (NEP 18).
//!
//! If umber has a function of the same or an equivalent name that accepts the arguments, it is called and returns arrays of
//! umber. All other functions run in NumPy on views of the arrays and return NumPy arrays; functions that would write into an
//! array of umber raise TypeError. Traced arrays have no views, so a gradient is never lost silently.
//!
//! One subject: the dispatch of NumPy's functions to umber's.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBool, PyDict, PyList, PyTuple};
use umber_core::graph::ArrayInternals;
use umber_core::ops;

use crate::array::PyArray;
use crate::convert;
use crate::dtype::DtypeArg;
use crate::enter::OrRaise;
use crate::new_array::NewArray;

/// NumPy's name, umber's name.
const RENAMED: [(&str, &str); 2] = [("copy", "array"), ("psi", "digamma")];

/// A ufunc, its reduction and its scan.
const FOLDS: [(&str, &str, Option<&str>); 7] = [
    ("add", "sum", Some("cumsum")),
    ("multiply", "prod", Some("cumprod")),
    ("maximum", "max", Some("cummax")),
    ("minimum", "min", Some("cummin")),
    ("logaddexp", "logsumexp", Some("logcumsumexp")),
    ("logical_and", "all", None),
    ("logical_or", "any", None),
];

/// Functions that write into their first argument.
const WRITERS: [&str; 6] = ["copyto", "put", "place", "putmask", "fill_diagonal", "put_along_axis"];

/// Functions that create arrays to be written, which views of umber's arrays would not allow.
const MAKERS: [&str; 4] = ["empty_like", "zeros_like", "ones_like", "full_like"];

/// Conversion functions: programs use them to get NumPy arrays for code that accepts no others. Outside transforms they return
/// NumPy arrays.
const COERCIONS: [&str; 20] = [
    "atleast_1d",
    "atleast_2d",
    "atleast_3d",
    "broadcast_arrays",
    "broadcast_to",
    "conj",
    "conjugate",
    "copy",
    "expand_dims",
    "imag",
    "matrix_transpose",
    "moveaxis",
    "permute_dims",
    "ravel",
    "real",
    "real_if_close",
    "reshape",
    "rollaxis",
    "squeeze",
    "swapaxes",
];

/// Functions that join a sequence of arrays.
const JOINS: [&str; 6] = ["append", "column_stack", "concatenate", "dstack", "hstack", "vstack"];

/// Whether a function joins lists of numbers with arrays. The numbers are float64 in NumPy, and would be rounded to float32
/// here.
fn joins_numbers(name: &str, args: &Bound<'_, PyTuple>) -> bool {
    let holds_numbers = |item: &Bound<'_, PyAny>| {
        let is_sequence = item.is_instance_of::<PyList>() || item.is_instance_of::<PyTuple>();
        is_sequence && !convert::is_of_arrays(item)
    };
    JOINS.contains(&name)
        && args.iter().any(|arg| {
            let items = arg.try_iter().ok().filter(|_| !arg.is_instance_of::<PyArray>());
            holds_numbers(&arg)
                || items
                    .is_some_and(|mut items| items.any(|item| item.is_ok_and(|item| holds_numbers(&item))))
        })
}

/// A pending call: function, arguments, and NumPy's additional options.
struct Call<'py> {
    function: Bound<'py, PyAny>,
    args: Vec<Bound<'py, PyAny>>,
    kwargs: Bound<'py, PyDict>,
    dtype: Option<DtypeArg>,
}

/// The function of umber with the name of a NumPy function, from the corresponding module.
fn twin<'py>(py: Python<'py>, module: &str, name: &str) -> Option<Bound<'py, PyAny>> {
    let name = RENAMED.iter().find(|(theirs, _)| *theirs == name).map_or(name, |(_, ours)| ours);
    let core = py.import("umber.core").ok()?;
    let owner = match module {
        "numpy" if core.hasattr(name).ok()? => core.into_any(),
        // The ufuncs of `scipy.special` have no module in their names.
        "numpy" => core.getattr("special").ok()?,
        "numpy.linalg" => core.getattr("linalg").ok()?,
        "numpy.fft" => core.getattr("fft").ok()?,
        _ => return None,
    };
    owner.getattr(name).ok().filter(PyAnyMethods::is_callable)
}

/// The name of a NumPy function.
fn name_of(function: &Bound<'_, PyAny>, protocol: &str) -> PyResult<String> {
    let name = function.getattr("__name__").and_then(|name| name.extract());
    name.or_else(|_| {
        Err(PyTypeError::new_err(format!(
            "[{protocol}] got {}, expected a NumPy function",
            function.get_type().name()?
        )))
    })
}

/// Whether this is NumPy's or SciPy's own ufunc of that name, and not one of another library.
fn is_known(ufunc: &Bound<'_, PyAny>, name: &str) -> PyResult<bool> {
    let py = ufunc.py();
    if py.import("numpy")?.getattr(name).is_ok_and(|own| own.is(ufunc)) {
        return Ok(true);
    }
    let loaded = py.import("sys")?.getattr("modules")?.cast_into::<PyDict>()?;
    let special = loaded.get_item("scipy.special")?;
    Ok(special.is_some_and(|special| special.getattr(name).is_ok_and(|own| own.is(ufunc))))
}

/// Whether an object of another library overrides NumPy's functions, which then takes precedence.
fn is_foreign(object: &Bound<'_, PyAny>, protocol: &str) -> PyResult<bool> {
    if object.is_instance_of::<PyArray>() || !object.hasattr(protocol)? {
        return Ok(false);
    }
    let numpy = object.py().import("numpy")?;
    let numpy_types = PyTuple::new(object.py(), [numpy.getattr("ndarray")?, numpy.getattr("generic")?])?;
    Ok(!object.is_instance(&numpy_types)?)
}

/// The object with every array of umber in it, at any depth of sequences, replaced by a NumPy view.
fn viewed<'py>(object: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = object.py();
    if object.is_instance_of::<PyArray>() {
        return object.call_method0("__array__");
    }
    if let Ok(tuple) = object.cast_exact::<PyTuple>() {
        let items = tuple.iter().map(|item| viewed(&item)).collect::<PyResult<Vec<_>>>()?;
        return Ok(PyTuple::new(py, items)?.into_any());
    }
    if let Ok(list) = object.cast_exact::<PyList>() {
        let items = list.iter().map(|item| viewed(&item)).collect::<PyResult<Vec<_>>>()?;
        return Ok(PyList::new(py, items)?.into_any());
    }
    Ok(object.clone())
}

fn viewed_all<'py>(kwargs: &Bound<'py, PyDict>) -> PyResult<Bound<'py, PyDict>> {
    let views = PyDict::new(kwargs.py());
    for (name, value) in kwargs {
        views.set_item(name, viewed(&value)?)?;
    }
    Ok(views)
}

/// Whether the object contains a traced array, at any depth of sequences.
fn holds_traced(object: &Bound<'_, PyAny>) -> bool {
    if let Ok(array) = object.cast::<PyArray>() {
        return array.get().get().is_traced();
    }
    if let Ok(dict) = object.cast::<PyDict>() {
        return dict.iter().any(|(_, value)| holds_traced(&value));
    }
    if let Ok(tuple) = object.cast::<PyTuple>() {
        return tuple.iter().any(|item| holds_traced(&item));
    }
    object.cast::<PyList>().is_ok_and(|list| list.iter().any(|item| holds_traced(&item)))
}

/// A NumPy array of the same shape and dtype with all strides 0; `None` if NumPy has no such dtype.
fn placeholder<'py>(array: &Bound<'py, PyArray>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let value = array.get().get();
    let numpy = array.py().import("numpy")?;
    let Ok(dtype) = numpy.call_method1("dtype", (value.dtype().name(),)) else { return Ok(None) };
    let shape = PyTuple::new(array.py(), value.shape().iter())?;
    let element = numpy.call_method1("empty", ((), dtype))?;
    numpy.call_method1("broadcast_to", (element, shape)).map(Some)
}

/// Store a result in `out`: copied into the memory of a NumPy array, or as the new value of an array of umber.
fn store<'py>(out: &Bound<'py, PyAny>, result: &Bound<'py, PyAny>) -> PyResult<()> {
    let py = out.py();
    let Ok(array) = out.cast::<PyArray>() else {
        let options = PyDict::new(py);
        options.set_item("casting", "same_kind")?;
        py.import("numpy")?.call_method("copyto", (out, viewed(result)?), Some(&options))?;
        return Ok(());
    };
    let (current, value) = (array.get().get(), convert::array(result, None)?);
    if current.shape() != value.shape() {
        return Err(PyValueError::new_err(format!(
            "[out] out has shape {}, but the result has shape {}",
            current.shape(),
            value.shape()
        )));
    }
    if value.dtype().kind() > current.dtype().kind() {
        return Err(PyTypeError::new_err(format!(
            "[out] out of dtype {} cannot store a result of {}",
            current.dtype(),
            value.dtype()
        )));
    }
    array.get().update(array.py(), ops::astype(&value, current.dtype()).or_raise()?)?;
    Ok(())
}

/// Return the result, or store it in `out`.
fn return_or_store<'py>(
    result: Bound<'py, PyAny>,
    outs: &[Bound<'py, PyAny>],
) -> PyResult<Bound<'py, PyAny>> {
    let [out] = outs else {
        if outs.is_empty() {
            return Ok(result);
        }
        for (out, result) in outs.iter().zip(result.try_iter()?) {
            if !out.is_none() {
                store(out, &result?)?;
            }
        }
        return Ok(PyTuple::new(result.py(), outs)?.into_any());
    };
    if out.is_none() {
        return Ok(result);
    }
    store(out, &result)?;
    Ok(out.clone())
}

/// `out` of a call: one array, or a tuple of them.
fn outs_of<'py>(kwargs: &Bound<'py, PyDict>) -> PyResult<Vec<Bound<'py, PyAny>>> {
    let Some(out) = kwargs.get_item("out")? else { return Ok(Vec::new()) };
    kwargs.del_item("out")?;
    Ok(match out.cast::<PyTuple>() {
        Ok(several) => several.iter().collect(),
        Err(_) if out.is_none() => Vec::new(),
        Err(_) => vec![out],
    })
}

/// Take a dtype out of the arguments; `Err(())` for one that umber does not have.
fn dtype_of(kwargs: &Bound<'_, PyDict>) -> PyResult<Result<Option<DtypeArg>, ()>> {
    let Some(dtype) = kwargs.get_item("dtype")?.filter(|dtype| !dtype.is_none()) else {
        let _ = kwargs.del_item("dtype");
        return Ok(Ok(None));
    };
    let Ok(dtype) = dtype.extract() else { return Ok(Err(())) };
    kwargs.del_item("dtype")?;
    Ok(Ok(Some(dtype)))
}

impl<'py> Call<'py> {
    /// Whether umber's function accepts these arguments.
    fn binds(&self) -> PyResult<bool> {
        let py = self.function.py();
        let signature = py.import("inspect")?.call_method1("signature", (&self.function,))?;
        Ok(signature.call_method("bind", PyTuple::new(py, &self.args)?, Some(&self.kwargs)).is_ok())
    }

    fn run(self) -> PyResult<Bound<'py, PyAny>> {
        let py = self.function.py();
        let mut args = Vec::with_capacity(self.args.len());
        for arg in self.args {
            // NumPy computes in the requested dtype.
            let cast = match self.dtype {
                Some(dtype) if arg.hasattr("shape")? => {
                    let array = convert::array(&arg, None)?;
                    let array = ops::astype(&array, dtype.dtype_for(array.dtype())).or_raise()?;
                    NewArray::from(array).object(py)?.into_any()
                }
                _ => arg,
            };
            args.push(cast);
        }
        self.function.call(PyTuple::new(py, args)?, Some(&self.kwargs))
    }
}

/// The equivalent call of umber for a method of a ufunc; `None` if there is none.
fn ufunc_call<'py>(
    ufunc: &Bound<'py, PyAny>,
    method: &str,
    inputs: &[Bound<'py, PyAny>],
    kwargs: &Bound<'py, PyDict>,
) -> PyResult<Option<Call<'py>>> {
    let py = ufunc.py();
    let name = name_of(ufunc, "__array_ufunc__")?;
    if !is_known(ufunc, &name)? {
        return Ok(None);
    }
    let kwargs = kwargs.copy()?;
    // `where=True` is no condition.
    if kwargs
        .get_item("where")?
        .is_some_and(|all| all.is_exact_instance_of::<PyBool>() && all.is_truthy().unwrap_or(false))
    {
        kwargs.del_item("where")?;
    }
    let Ok(dtype) = dtype_of(&kwargs)? else { return Ok(None) };
    let fold = FOLDS.iter().find(|(theirs, ..)| *theirs == name);
    let ours = match (method, fold) {
        ("__call__" | "outer", _) => Some(name.as_str()),
        ("reduce", Some((_, reduction, _))) => Some(*reduction),
        ("accumulate", Some((.., scan))) => *scan,
        _ => None,
    };
    let Some(function) = ours.and_then(|name| twin(py, "numpy", name)) else { return Ok(None) };
    let mut args = inputs.to_vec();
    if method == "outer" {
        let [a, b] = inputs else { return Ok(None) };
        let (a, b) = (convert::array(a, None)?, convert::array(b, None)?);
        let shape: Vec<i64> =
            a.shape().iter().map(|&n| n as i64).chain(std::iter::repeat_n(1, b.ndim())).collect();
        let column = ops::reshape(&a, &shape).or_raise()?;
        args = vec![NewArray::from(column).object(py)?.into_any(), NewArray::from(b).object(py)?.into_any()];
    }
    if matches!(method, "reduce" | "accumulate") && kwargs.get_item("axis")?.is_none() {
        kwargs.set_item("axis", 0)?;
    }
    let call = Call { function, args, kwargs, dtype };
    Ok(if call.binds()? { Some(call) } else { None })
}

/// The result of `==` and `!=` between an array of umber and NumPy values that umber cannot represent, such as strings and
/// datetimes, for NumPy's comparison operators. `None` for other ufuncs, and if all values can be represented.
fn foreign_equality(ufunc: &Bound<'_, PyAny>, inputs: &[Bound<'_, PyAny>]) -> PyResult<Option<bool>> {
    let result = match name_of(ufunc, "__array_ufunc__")?.as_str() {
        "equal" => false,
        "not_equal" => true,
        _ => return Ok(None),
    };
    let is_foreign = inputs.iter().any(|input| !matches!(convert::from_object(input, None), Ok(Some(_))));
    Ok(is_foreign.then_some(result))
}

/// `np.add.at(a, indices, b)`: repeated indices accumulate.
fn update_at<'py>(name: &str, inputs: &[Bound<'py, PyAny>]) -> PyResult<Bound<'py, PyAny>> {
    let ours = matches!(name, "add" | "subtract" | "multiply" | "divide" | "maximum" | "minimum");
    let (true, [target, indices, value]) = (ours, inputs) else {
        return Err(PyTypeError::new_err(format!(
            "[np.{name}.at] got {} operands, expected three of one of the functions that `.at` of an array has",
            inputs.len()
        )));
    };
    let array = target.cast::<PyArray>()?;
    crate::indexing::evaluate_index_object(indices)?;
    let updated = target.getattr("at")?.get_item(indices)?.call_method1(name, (value,))?;
    array.get().update(target.py(), updated.cast::<PyArray>()?.get().get())?;
    Ok(target.py().None().into_bound(target.py()))
}

/// A parameter of a function: its name, its kind as Python's `inspect` names it, and whether it has no default.
struct Parameter {
    name: String,
    kind: String,
    is_required: bool,
}

fn parameters(function: &Bound<'_, PyAny>) -> PyResult<Vec<Parameter>> {
    let signature = function.py().import("inspect")?.call_method1("signature", (function,))?;
    signature
        .getattr("parameters")?
        .call_method0("values")?
        .try_iter()?
        .map(|parameter| {
            let parameter = parameter?;
            Ok(Parameter {
                name: parameter.getattr("name")?.extract()?,
                kind: parameter.getattr("kind")?.getattr("name")?.extract()?,
                is_required: parameter.getattr("default")?.is(&parameter.getattr("empty")?),
            })
        })
        .collect()
}

/// Arguments in the order and under the names of umber's function.
type Arranged<'py> = (Vec<Bound<'py, PyAny>>, Bound<'py, PyDict>);

/// Map arguments bound to NumPy's parameters to umber's; `None` if one has no counterpart and is not its default.
fn arranged<'py>(bound: &Bound<'py, PyAny>, own: &[Parameter]) -> PyResult<Option<Arranged<'py>>> {
    let theirs = bound.getattr("signature")?.getattr("parameters")?;
    let (mut args, kwargs) = (Vec::new(), PyDict::new(bound.py()));
    let mut in_order = true;
    for item in bound.getattr("arguments")?.call_method0("items")?.try_iter()? {
        let (name, value): (String, Bound<'py, PyAny>) = item?.extract()?;
        let parameter = theirs.get_item(&name)?;
        let kind: String = parameter.getattr("kind")?.getattr("name")?.extract()?;
        if kind == "VAR_POSITIONAL" {
            args.extend(value.try_iter()?.collect::<PyResult<Vec<_>>>()?);
            continue;
        }
        if kind == "VAR_KEYWORD" {
            kwargs.update(value.cast()?)?;
            continue;
        }
        // Required parameters correspond by position, whatever their names.
        let fits = own.get(args.len()).is_some_and(|own| {
            own.kind == "POSITIONAL_ONLY"
                || own.kind == "POSITIONAL_OR_KEYWORD" && (own.name == name || own.is_required)
        });
        if in_order && fits {
            args.push(value);
            continue;
        }
        in_order = false;
        let takes = |name: &str| own.iter().any(|own| own.name == name && own.kind != "POSITIONAL_ONLY");
        if takes(&name) || name == "dtype" {
            kwargs.set_item(name, value)?;
        } else if !value.is(&parameter.getattr("default")?) {
            return Ok(None);
        }
    }
    Ok(Some((args, kwargs)))
}

/// The equivalent call of umber for a NumPy function with these arguments; `None` if there is none.
fn function_call<'py>(
    function: &Bound<'py, PyAny>,
    numpy_args: &Bound<'py, PyTuple>,
    numpy_kwargs: &Bound<'py, PyDict>,
) -> PyResult<Option<Call<'py>>> {
    let py = function.py();
    let name = name_of(function, "__array_function__")?;
    let module: String = function.getattr("__module__")?.extract()?;
    let Some(ours) = twin(py, &module, &name) else { return Ok(None) };
    let parameters_of_ours = parameters(&ours)?;
    let bound = py
        .import("inspect")?
        .call_method1("signature", (function,))
        .and_then(|signature| signature.call_method("bind", numpy_args, Some(numpy_kwargs)));
    let (args, kwargs) = match bound {
        Ok(bound) => match arranged(&bound, &parameters_of_ours)? {
            Some(arranged) => arranged,
            None => return Ok(None),
        },
        // Without a signature, the arguments are passed unchanged.
        Err(_) => (numpy_args.iter().collect(), numpy_kwargs.copy()?),
    };
    let dtype = if parameters_of_ours.iter().any(|parameters_of_ours| parameters_of_ours.name == "dtype") {
        Ok(None)
    } else {
        dtype_of(&kwargs)?
    };
    let Ok(dtype) = dtype else { return Ok(None) };
    let call = Call { function: ours, args, kwargs, dtype };
    Ok(if call.binds()? { Some(call) } else { None })
}

#[pymethods]
impl PyArray {
    /// Run a NumPy ufunc on arrays: umber's function of the same name, where there is one.
    ///
    /// Parameters
    /// ----------
    /// ufunc : numpy.ufunc
    ///     The ufunc.
    /// method : str
    ///     How it was called: "__call__", "reduce", "accumulate" and so on.
    /// *inputs : array_like
    ///     Operands.
    /// **kwargs : object
    ///     Further arguments of the ufunc.
    ///
    /// Returns
    /// -------
    /// array or object
    ///     An array from umber's function; otherwise what NumPy returns for views of the arrays.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `out` is an array and `where` is given.
    /// ValueError
    ///     If an array without a value, inside a transform, would have to be converted to a NumPy array.
    ///
    /// Notes
    /// -----
    /// Implements NEP 13.
    ///
    /// Examples
    /// --------
    /// >>> np.sin(mx.array([0.0]))
    /// array([0], dtype=float32)
    #[pyo3(signature = (ufunc, method, *inputs, **kwargs))]
    fn __array_ufunc__<'py>(
        slf: &Bound<'py, Self>,
        ufunc: &Bound<'py, PyAny>,
        method: &str,
        inputs: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let kwargs = kwargs.map_or_else(|| Ok(PyDict::new(py)), PyDictMethods::copy)?;
        let outs = outs_of(&kwargs)?;
        let inputs: Vec<Bound<'py, PyAny>> = inputs.iter().collect();
        for object in inputs.iter().chain(&outs) {
            if is_foreign(object, "__array_ufunc__")? {
                return Ok(py.NotImplemented().into_bound(py));
            }
        }
        let is_ours = |object: &Bound<'_, PyAny>| object.is_instance_of::<PyArray>();
        if method == "at" && inputs.first().is_some_and(is_ours) {
            return update_at(&name_of(ufunc, "__array_ufunc__")?, &inputs);
        }
        let is_coercion = method == "__call__"
            && COERCIONS.contains(&name_of(ufunc, "__array_ufunc__")?.as_str())
            && !inputs.iter().any(holds_traced);
        if !is_coercion && let Some(call) = ufunc_call(ufunc, method, &inputs, &kwargs)? {
            let result = call.run();
            if let ("__call__", true, true, Err(_)) = (method, kwargs.is_empty(), outs.is_empty(), &result)
                && let Some(equality) = foreign_equality(ufunc, &inputs)?
            {
                return Ok(PyBool::new(py, equality).to_owned().into_any());
            }
            return return_or_store(result?, &outs);
        }
        let writes = outs.iter().any(PyAnyMethods::is_instance_of::<PyArray>);
        if writes && kwargs.contains("where")? {
            return Err(PyTypeError::new_err("[out] an array of umber cannot be written in part: where"));
        }
        let args = inputs.iter().map(viewed).collect::<PyResult<Vec<_>>>()?;
        let kwargs = viewed_all(&kwargs)?;
        if !writes && !outs.is_empty() {
            kwargs.set_item("out", PyTuple::new(py, &outs)?)?;
        }
        let result = ufunc.getattr(method)?.call(PyTuple::new(py, args)?, Some(&kwargs))?;
        if writes { return_or_store(result, &outs) } else { Ok(result) }
    }

    /// Run a NumPy function on arrays: umber's function of the same name, where there is one.
    ///
    /// Parameters
    /// ----------
    /// func : callable
    ///     NumPy's function.
    /// types : sequence of type
    ///     Types that implement the protocol.
    /// args : tuple
    ///     Positional arguments.
    /// kwargs : dict
    ///     Keyword arguments.
    ///
    /// Returns
    /// -------
    /// array or object
    ///     An array from umber's function; otherwise what NumPy returns for views of the arrays.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If NumPy's function would write into an array.
    /// ValueError
    ///     If an array without a value, inside a transform, would have to be converted to a NumPy array.
    ///
    /// Notes
    /// -----
    /// Implements NEP 18.
    ///
    /// Examples
    /// --------
    /// >>> np.concatenate([mx.array([1.0]), mx.array([2.0])])
    /// array([1, 2], dtype=float32)
    fn __array_function__<'py>(
        slf: &Bound<'py, Self>,
        func: &Bound<'py, PyAny>,
        types: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: &Bound<'py, PyDict>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let py = slf.py();
        let ndarray = py.import("numpy")?.getattr("ndarray")?;
        for class in types.try_iter()? {
            let class = class?.cast_into::<pyo3::types::PyType>()?;
            if !class.is_subclass_of::<PyArray>()? && !class.is_subclass(&ndarray)? {
                return Ok(py.NotImplemented().into_bound(py));
            }
        }
        let name = name_of(func, "__array_function__")?;
        let first = args.get_item(0).ok();
        let is_array = first.as_ref().is_some_and(PyAnyMethods::is_instance_of::<PyArray>);
        if is_array && WRITERS.contains(&name.as_str()) {
            return Err(PyTypeError::new_err(format!(
                "[np.{name}] an array of umber cannot be written by NumPy: assign to its indices"
            )));
        }
        if let (true, 1, true, "shape" | "ndim" | "size") =
            (is_array, args.len(), kwargs.is_empty(), name.as_str())
        {
            return slf.getattr(name.as_str());
        }
        if let (true, true, Some(like)) = (is_array, MAKERS.contains(&name.as_str()), placeholder(slf)?) {
            let others = args.iter().skip(1).map(|arg| viewed(&arg)).collect::<PyResult<Vec<_>>>()?;
            let args = std::iter::once(like).chain(others).collect::<Vec<_>>();
            return func.call(PyTuple::new(py, args)?, Some(&viewed_all(kwargs)?));
        }
        let kwargs = kwargs.copy()?;
        let outs = outs_of(&kwargs)?;
        let by_numpy = || {
            let args = viewed(args.as_any())?.cast_into::<PyTuple>()?;
            func.call(args, Some(&viewed_all(&kwargs)?))
        };
        let is_traced = holds_traced(args.as_any()) || holds_traced(kwargs.as_any());
        let prefers_numpy = COERCIONS.contains(&name.as_str()) || joins_numbers(&name, args);
        let is_coercion = prefers_numpy && !is_traced;
        let call = if is_coercion { None } else { function_call(func, args, &kwargs)? };
        let result = match call {
            None => by_numpy(),
            Some(call) => call.run().or_else(|refused| {
                // NumPy's function may accept the arguments instead, unless a derivative would be lost.
                let is_refusal =
                    refused.is_instance_of::<PyTypeError>(py) || refused.is_instance_of::<PyValueError>(py);
                if !is_refusal || is_traced {
                    return Err(refused);
                }
                by_numpy().map_err(|_| refused)
            }),
        };
        return_or_store(result?, &outs)
    }
}
