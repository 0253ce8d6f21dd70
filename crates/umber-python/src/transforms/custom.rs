//! `custom_function`, `checkpoint`, `depends`.
//!
//! One subject: functions with custom rules, including `checkpoint`; a third of the lines is documentation.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use umber_core::types::error;

use pyo3::exceptions::{PyAttributeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use pyo3::{PyTraverseError, PyVisit};
use umber_core::transforms::{Batched, RuleSet, Rules, Trace, end_checkpoint, to_front, with_rules};
use umber_core::{Array, Result, ops};

use super::vmap::broadcast_out_axes;
use super::wrapper::{Creation, bind, copy_metadata, describe, reduce, wrap_function};
use super::{Initialized, call_user, check_callable};
use crate::array::PyArray;
use crate::convert::from_object;
use crate::enter::{OrRaise, carry, to_exception};
use crate::new_array::NewArray;
use crate::pytree::{Pytree, PytreePath, class_of};

const OP: &str = "custom_function";

/// The rules that the user set.
#[derive(Default)]
struct UserRules {
    vjp: Option<Py<PyAny>>,
    jvp: Option<Py<PyAny>>,
    vmap: Option<Py<PyAny>>,
}

impl UserRules {
    fn clone_ref(&self, py: Python<'_>) -> UserRules {
        let clone_rule = |rule: &Option<Py<PyAny>>| rule.as_ref().map(|rule| rule.clone_ref(py));
        UserRules { vjp: clone_rule(&self.vjp), jvp: clone_rule(&self.jvp), vmap: clone_rule(&self.vmap) }
    }

    fn rule_set(&self) -> RuleSet {
        RuleSet { vjp: self.vjp.is_some(), jvp: self.jvp.is_some(), vmap: self.vmap.is_some() }
    }
}

/// Function whose derivatives and batching are defined by rules of its own.
///
/// Parameters
/// ----------
/// f : callable
///     The function: takes arrays or pytrees (nested lists, tuples and dicts) of arrays, and returns such.
///
/// Raises
/// ------
/// TypeError
///     If `f` is not callable.
///
/// See Also
/// --------
/// checkpoint, grad, vmap
///
/// Notes
/// -----
/// Used as a decorator. The methods `vjp`, `jvp` and `vmap` are decorators that set the rules. Without rules, the object
/// behaves as `f`. A transform that has no rule differentiates or batches the operations of `f` itself. With rules, the
/// arrays that `f` captures count as constants. Rules are ordinary functions of arrays and may be differentiated, batched
/// and compiled themselves.
///
/// Examples
/// --------
/// >>> @mx.custom_function
/// ... def clip_gradient(x):
/// ...     return x
/// >>> @clip_gradient.vjp
/// ... def clip_gradient_vjp(x, cotangent, output):
/// ...     return mx.clip(cotangent, -1, 1)
/// >>> mx.grad(lambda x: 100 * clip_gradient(x))(mx.array(3.0))
/// array(1, dtype=float32)
#[pyclass(name = "custom_function", module = "umber.core", frozen, dict, weakref)]
struct CustomFunction {
    initialized: Initialized,
    fun: Py<PyAny>,
    rules: Mutex<UserRules>,
}

impl CustomFunction {
    fn lock(&self) -> MutexGuard<'_, UserRules> {
        self.rules.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set_rule<'py>(
        slf: &Bound<'py, Self>,
        f: &Bound<'py, PyAny>,
        select: impl FnOnce(&mut UserRules) -> &mut Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, Self>> {
        check_callable(OP, f)?;
        let previous = select(&mut slf.get().lock()).replace(f.clone().unbind());
        drop(previous);
        Ok(slf.clone())
    }
}

#[pymethods]
impl CustomFunction {
    #[new]
    fn new(f: &Bound<'_, PyAny>) -> PyResult<CustomFunction> {
        check_callable(OP, f)?;
        Ok(CustomFunction { initialized: Initialized::YES, fun: f.clone().unbind(), rules: Mutex::default() })
    }

    /// Copy the name, the module and the documentation of the function.
    fn __init__(slf: &Bound<'_, Self>, f: &Bound<'_, PyAny>) -> PyResult<()> {
        copy_metadata(slf.as_any(), f)
    }

    /// `__wrapped__`, the wrapped function, which exists only on instances.
    fn __getattr__<'py>(&self, py: Python<'py>, name: &str) -> PyResult<Bound<'py, PyAny>> {
        match name {
            "__wrapped__" => Ok(self.fun.bind(py).clone()),
            _ => {
                Err(PyAttributeError::new_err(format!("'custom_function' object has no attribute '{name}'")))
            }
        }
    }

    /// Set the rule for vector-Jacobian products.
    ///
    /// Parameters
    /// ----------
    /// f : callable
    ///     Called as ``f(primals, cotangents, outputs, **kwargs)``. `primals` is the positional argument, or a tuple of
    ///     several. `cotangents` and `outputs` have the structure of the function's result. Returns cotangents with the
    ///     structure of `primals`; None stands for zeros.
    ///
    /// Returns
    /// -------
    /// custom_function
    ///     This object, so that the method works as a decorator.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `f` is not callable.
    /// ValueError
    ///     When the rule runs: if what it returns differs from `primals` in structure or shape.
    ///
    /// See Also
    /// --------
    /// custom_function.jvp, custom_function.vmap
    ///
    /// Notes
    /// -----
    /// `outputs` carries this rule as its derivative. So second derivatives of what the rule computes from `outputs` use the
    /// rule again, never the operations of the function itself.
    ///
    /// Examples
    /// --------
    /// >>> @mx.custom_function
    /// ... def safe_sqrt(x):
    /// ...     return mx.sqrt(x)
    /// >>> @safe_sqrt.vjp
    /// ... def safe_sqrt_vjp(x, cotangent, output):
    /// ...     return cotangent * 0.5 / mx.maximum(output, 1e-3)
    /// >>> mx.grad(safe_sqrt)(mx.array(0.0))
    /// array(500, dtype=float32)
    fn vjp<'py>(slf: &Bound<'py, Self>, f: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        CustomFunction::set_rule(slf, f, |rules| &mut rules.vjp)
    }

    /// Set the rule for Jacobian-vector products.
    ///
    /// Parameters
    /// ----------
    /// f : callable
    ///     Called as ``f(primals, tangents, **kwargs)``. `primals` is the positional argument, or a tuple of several.
    ///     `tangents` has the structure of `primals`, with None for arrays that do not change. Returns tangents with the
    ///     structure of the function's result; None stands for zeros.
    ///
    /// Returns
    /// -------
    /// custom_function
    ///     This object, so that the method works as a decorator.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `f` is not callable.
    /// ValueError
    ///     When the rule runs: if what it returns differs from the result in structure or shape, or if a keyword argument has
    ///     a tangent.
    ///
    /// See Also
    /// --------
    /// custom_function.vjp, custom_function.vmap
    ///
    /// Examples
    /// --------
    /// >>> @mx.custom_function
    /// ... def double(x):
    /// ...     return 2 * x
    /// >>> @double.jvp
    /// ... def double_jvp(x, tangent):
    /// ...     return 2 * tangent
    /// >>> mx.jvp(double, [mx.array(3.0)], [mx.array(1.0)])
    /// ([array(6, dtype=float32)], [array(2, dtype=float32)])
    fn jvp<'py>(slf: &Bound<'py, Self>, f: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        CustomFunction::set_rule(slf, f, |rules| &mut rules.jvp)
    }

    /// Set the rule for batches.
    ///
    /// Parameters
    /// ----------
    /// f : callable
    ///     Called as ``f(inputs, axes, **kwargs)``. `inputs` is the positional argument, or a tuple of several; its arrays
    ///     include their batch axes. `axes` has the structure of `inputs` and holds the batch axis of each array, or None for
    ///     arrays that are the same for the whole batch. Returns a pair: the outputs, and their batch axes (structured like
    ///     the outputs, or one value for all; None for outputs without a batch axis).
    ///
    /// Returns
    /// -------
    /// custom_function
    ///     This object, so that the method works as a decorator.
    ///
    /// Raises
    /// ------
    /// TypeError
    ///     If `f` is not callable.
    /// ValueError
    ///     When the rule runs: if it does not return a pair, if the outputs differ from the result in structure, or if a
    ///     keyword argument has a batch axis.
    ///
    /// See Also
    /// --------
    /// custom_function.vjp, custom_function.jvp
    ///
    /// Examples
    /// --------
    /// >>> @mx.custom_function
    /// ... def total(x):
    /// ...     return x.sum()
    /// >>> @total.vmap
    /// ... def total_vmap(x, axis):
    /// ...     return x.sum(axis=[i for i in range(x.ndim) if i != axis]), 0
    /// >>> mx.vmap(total)(mx.ones((3, 4)))
    /// array([4, 4, 4], dtype=float32)
    fn vmap<'py>(slf: &Bound<'py, Self>, f: &Bound<'py, PyAny>) -> PyResult<Bound<'py, Self>> {
        CustomFunction::set_rule(slf, f, |rules| &mut rules.vmap)
    }

    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        let rules = self.lock().clone_ref(py);
        if rules.rule_set() == RuleSet::default() {
            return call_user(self.fun.bind(py), args, kwargs).map(Bound::unbind);
        }
        let call_args = CallArgs::new(py, args, kwargs)?;
        let returned = call_args.call(self.fun.bind(py), &call_args.arrays)?;
        let outputs = Pytree::of(&returned)?;
        let rules = PyRules {
            rules,
            positional: call_args.positional.count(),
            arguments: call_args.positional.structure(py)?,
            keywords: call_args.named.structure(py)?,
            outputs: outputs.structure(py)?,
        };
        let recorded = with_rules(Arc::new(rules), &call_args.arrays, &outputs.arrays()).or_raise()?;
        outputs.rebuild(py, &recorded)
    }

    fn __get__<'py>(
        slf: &Bound<'py, Self>,
        instance: Option<&Bound<'py, PyAny>>,
        _owner: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        bind(slf.as_any(), instance)
    }

    /// Return the parts that pickle and copy need.
    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let (py, this) = (slf.py(), slf.get());
        let rules = this.lock().clone_ref(py);
        let args = (this.fun.bind(py), rules.vjp, rules.jvp, rules.vmap).into_pyobject(py)?;
        reduce(slf.as_any(), this.fun.bind(py), Creation { transform: "_custom_function", args, flags: &[] })
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        describe(OP, &self.fun, py)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> std::result::Result<(), PyTraverseError> {
        if !self.initialized.is() {
            return Ok(());
        }
        visit.call(&self.fun)?;
        // The lock is held only while a rule is being set; the object is then reachable anyway.
        let Ok(rules) = self.rules.try_lock() else { return Ok(()) };
        visit.call(&rules.vjp)?;
        visit.call(&rules.jvp)?;
        visit.call(&rules.vmap)
    }
}

/// Create a `custom_function` with rules, for pickles and copies.
#[pyfunction]
#[pyo3(name = "_custom_function")]
fn with_user_rules<'py>(
    f: &Bound<'py, PyAny>,
    vjp: Option<Py<PyAny>>,
    jvp: Option<Py<PyAny>>,
    vmap: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, CustomFunction>> {
    let function = CustomFunction::new(f)?;
    *function.lock() = UserRules { vjp, jvp, vmap };
    wrap_function(function, f)
}

/// The arguments of a call, flattened.
struct CallArgs {
    positional: Pytree,
    named: Pytree,
    /// Arrays of the positional arguments, then those of the keyword arguments.
    arrays: Vec<Array>,
}

impl CallArgs {
    fn new(
        py: Python<'_>,
        args: &Bound<'_, PyTuple>,
        kwargs: Option<&Bound<'_, PyDict>>,
    ) -> PyResult<CallArgs> {
        let positional = Pytree::of(args)?;
        let named = Pytree::of(kwargs.unwrap_or(&PyDict::new(py)))?;
        let mut arrays = positional.snapshot_arrays()?;
        arrays.extend(named.snapshot_arrays()?);
        Ok(CallArgs { positional, named, arrays })
    }

    /// Call `fun` with other arrays, in new array objects, so that in-place updates do not affect the caller's.
    fn call<'py>(&self, fun: &Bound<'py, PyAny>, arrays: &[Array]) -> PyResult<Bound<'py, PyAny>> {
        let py = fun.py();
        let (positional, named) = arrays.split_at(self.positional.count());
        let args = self.positional.rebuild(py, positional)?;
        let kwargs = self.named.rebuild(py, named)?;
        call_user(fun, args.bind(py).cast::<PyTuple>()?, Some(kwargs.bind(py).cast::<PyDict>()?))
    }
}

/// The rules of one call.
struct PyRules {
    rules: UserRules,
    arguments: Pytree<()>,
    keywords: Pytree<()>,
    outputs: Pytree<()>,
    /// Number of arrays in the positional arguments; those of the keyword arguments follow.
    positional: usize,
}

impl PyRules {
    /// Argument of the rules, and its name in messages: the only positional argument, or the tuple of all.
    fn primals(&self) -> (&Pytree<()>, &'static str) {
        match &self.arguments {
            Pytree::Tuple(items, _) if items.len() == 1 => (&items[0], "args[0]"),
            all => (all, "args"),
        }
    }

    fn call<'py>(
        &self,
        rule: Option<&Py<PyAny>>,
        args: impl IntoIterator<Item = Py<PyAny>, IntoIter: ExactSizeIterator>,
        keywords: &[Array],
        py: Python<'py>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let rule = rule.expect("only called for rules that are set").bind(py);
        let kwargs = self.keywords.rebuild(py, keywords)?;
        call_user(rule, PyTuple::new(py, args)?, Some(kwargs.bind(py).cast::<PyDict>()?))
    }

    fn keyword(&self, py: Python<'_>, index: usize) -> String {
        self.keywords.path_of(py, "kwargs", index)
    }

    fn apply_vjp(
        &self,
        py: Python<'_>,
        arguments: &[Array],
        cotangents: &[Array],
        outputs: &[Array],
    ) -> PyResult<Vec<Option<Array>>> {
        let (primals, root) = self.primals();
        let (positional, keywords) = arguments.split_at(self.positional);
        let args = [
            primals.rebuild(py, positional)?,
            self.outputs.gradients(py, cotangents)?,
            self.outputs.rebuild(py, outputs)?,
        ];
        let returned = self.call(self.rules.vjp.as_ref(), args, keywords, py)?;
        let returned = normalize_result(primals, returned)?;
        let mut cotangents =
            derivatives("the vjp rule's cotangent of", primals, root, &returned, positional)?;
        cotangents.resize(arguments.len(), None);
        Ok(cotangents)
    }

    fn apply_jvp(
        &self,
        py: Python<'_>,
        arguments: &[Array],
        tangents: &[Option<Array>],
    ) -> PyResult<Vec<Option<Array>>> {
        let (primals, _) = self.primals();
        let (positional, keywords) = arguments.split_at(self.positional);
        let (tangents, others) = tangents.split_at(self.positional);
        if let Some(index) = others.iter().position(Option::is_some) {
            return Err(PyValueError::new_err(format!(
                "[{OP}] {} has a tangent, which jvp rules get for positional arguments only; pass it by \
                 position",
                self.keyword(py, index)
            )));
        }
        let tangents = primals.map_values(py, tangents, |py, tangent| {
            let Some(tangent) = tangent else { return Ok(py.None()) };
            Ok(NewArray::from(tangent.clone()).object(py)?.unbind().into_any())
        })?;
        let args = [primals.rebuild(py, positional)?, tangents];
        let returned = self.call(self.rules.jvp.as_ref(), args, keywords, py)?;
        let mut entries = Vec::new();
        let name = "the jvp rule's tangents";
        self.outputs.align(
            OP,
            &normalize_result(&self.outputs, returned)?,
            &PytreePath::Root(name),
            &mut entries,
        )?;
        entries.into_iter().map(|value| value.map(|value| array_of(&value, name)).transpose()).collect()
    }

    fn apply_vmap(&self, py: Python<'_>, arguments: &[Batched]) -> PyResult<Vec<Batched>> {
        let (primals, _) = self.primals();
        let (positional, keywords) = arguments.split_at(self.positional);
        if let Some(index) = keywords.iter().position(|keyword| keyword.batched) {
            return Err(PyValueError::new_err(format!(
                "[{OP}] {} differs from lane to lane, which vmap rules know of positional arguments only; pass it \
                 by position",
                self.keyword(py, index)
            )));
        }
        let arrays = |values: &[Batched]| values.iter().map(|value| value.array.clone()).collect::<Vec<_>>();
        let axes = primals.map_values(py, positional, |py, value| {
            Ok(if value.batched { 0i64.into_pyobject(py)?.into_any().unbind() } else { py.None() })
        })?;
        let args = [primals.rebuild(py, &arrays(positional))?, axes];
        let returned = self.call(self.rules.vmap.as_ref(), args, &arrays(keywords), py)?;
        let pair = returned.cast::<PyTuple>().ok().filter(|pair| pair.len() == 2).ok_or_else(|| {
            PyValueError::new_err(format!(
                "[{OP}] the vmap rule returned {}, expected a pair (outputs, axes)",
                class_of(&returned)
            ))
        })?;
        let name = "the vmap rule's outputs";
        let mut entries = Vec::new();
        self.outputs.align(
            OP,
            &normalize_result(&self.outputs, pair.get_item(0)?)?,
            &PytreePath::Root(name),
            &mut entries,
        )?;
        let axes = broadcast_out_axes(OP, "the vmap rule's axes", &pair.get_item(1)?, &self.outputs, name)?;
        let to_batched = |(i, (value, axis)): (usize, (Option<Bound<'_, PyAny>>, Option<i64>))| {
            let Some(value) = value else {
                return Err(PyValueError::new_err(format!(
                    "[{OP}] {}: got None, expected an array",
                    self.outputs.path_of(py, name, i)
                )));
            };
            let array = array_of(&value, name)?;
            Ok(match axis {
                Some(axis) => Batched::yes(to_front(&array, axis).map_err(|_| {
                    to_exception(error!(
                        Axis(OP),
                        "the vmap rule returned axis {axis}, which is out of bounds for {} of shape {}",
                        self.outputs.path_of(py, name, i),
                        array.shape()
                    ))
                })?),
                None => Batched { array, batched: false },
            })
        };
        entries.into_iter().zip(axes).enumerate().map(to_batched).collect()
    }
}

/// Normalise the result of a rule: accept a tuple of length 1 for a single value, and an array for a structure with one array.
fn normalize_result<'py>(tree: &Pytree<()>, returned: Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = returned.py();
    if returned.is_instance_of::<PyArray>() && !matches!(tree, Pytree::Array(())) && tree.count() == 1 {
        return Ok(tree
            .map_arrays(py, &mut |_, ()| Ok(returned.clone().unbind()), &|py, _| Ok(py.None()))?
            .into_bound(py));
    }
    let is_one =
        (returned.is_instance_of::<PyTuple>() || returned.is_instance_of::<PyList>()) && returned.len()? == 1;
    match tree {
        Pytree::Array(()) | Pytree::Dict(..) | Pytree::Node(..) if is_one => returned.get_item(0),
        _ => Ok(returned),
    }
}

fn array_of(value: &Bound<'_, PyAny>, path: &str) -> PyResult<Array> {
    from_object(value, None)?.ok_or_else(|| {
        PyValueError::new_err(format!("[{OP}] {path}: got {}, expected an array", class_of(value)))
    })
}

/// Extract the derivatives with respect to `like` from the result of a rule.
fn derivatives(
    what: &str,
    tree: &Pytree<()>,
    root: &str,
    returned: &Bound<'_, PyAny>,
    like: &[Array],
) -> PyResult<Vec<Option<Array>>> {
    let py = returned.py();
    let root = format!("{what} {root}");
    let mut entries = Vec::new();
    tree.align(OP, returned, &PytreePath::Root(&root), &mut entries)?;
    let to_array = |(i, (value, like)): (usize, (Option<Bound<'_, PyAny>>, &Array))| {
        let Some(value) = value else { return Ok(None) };
        let array = array_of(&value, &tree.path_of(py, &root, i))?;
        if array.shape() != like.shape() {
            return Err(PyValueError::new_err(format!(
                "[{OP}] {} has shape {}, expected {}",
                tree.path_of(py, &root, i),
                array.shape(),
                like.shape()
            )));
        }
        Ok(Some(array))
    };
    entries.into_iter().zip(like).enumerate().map(to_array).collect()
}

impl Rules for PyRules {
    fn rule_set(&self) -> RuleSet {
        self.rules.rule_set()
    }

    fn vjp(
        &self,
        arguments: &[Array],
        cotangents: &[Array],
        outputs: &[Array],
    ) -> Result<Vec<Option<Array>>> {
        Python::attach(|py| {
            self.apply_vjp(py, arguments, cotangents, outputs).map_err(|error| carry(py, error))
        })
    }

    fn jvp(&self, arguments: &[Array], tangents: &[Option<Array>]) -> Result<Vec<Option<Array>>> {
        Python::attach(|py| self.apply_jvp(py, arguments, tangents).map_err(|error| carry(py, error)))
    }

    fn vmap(&self, arguments: &[Batched]) -> Result<Vec<Batched>> {
        Python::attach(|py| self.apply_vmap(py, arguments).map_err(|error| carry(py, error)))
    }
}

/// Function whose intermediate values are recomputed for its gradient.
#[pyclass(name = "CheckpointFunction", module = "umber.core", frozen, dict, weakref)]
struct CheckpointFunction {
    initialized: Initialized,
    #[pyo3(get, name = "__wrapped__")]
    fun: Py<PyAny>,
}

#[pymethods]
impl CheckpointFunction {
    #[pyo3(signature = (*args, **kwargs))]
    fn __call__<'py>(
        &self,
        py: Python<'py>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Py<PyAny>> {
        let call_args = CallArgs::new(py, args, kwargs)?;
        // Loops in the function need not store carries for a backward pass, since they are also recomputed.
        let trace = Trace::forwards(&call_args.arrays).or_raise()?;
        let returned = call_args.call(self.fun.bind(py), &trace.inputs)?;
        let outputs = Pytree::of(&returned)?;
        let recorded = end_checkpoint(trace, &call_args.arrays, &outputs.arrays()).or_raise()?;
        outputs.rebuild(py, &recorded)
    }

    fn __get__<'py>(
        slf: &Bound<'py, Self>,
        instance: Option<&Bound<'py, PyAny>>,
        _owner: Option<&Bound<'py, PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        bind(slf.as_any(), instance)
    }

    fn __reduce__<'py>(slf: &Bound<'py, Self>) -> PyResult<Bound<'py, PyAny>> {
        let fun = slf.get().fun.bind(slf.py());
        let args = PyTuple::new(slf.py(), [fun])?;
        reduce(slf.as_any(), fun, Creation { transform: "checkpoint", args, flags: &[] })
    }

    fn __repr__(&self, py: Python<'_>) -> String {
        describe("checkpoint", &self.fun, py)
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> std::result::Result<(), PyTraverseError> {
        if !self.initialized.is() {
            return Ok(());
        }
        visit.call(&self.fun)
    }
}

/// Return a function that recomputes its intermediate values for the gradient instead of keeping them.
///
/// Parameters
/// ----------
/// fun : callable
///     Function of arrays or pytrees (nested lists, tuples and dicts) of arrays.
///
/// Returns
/// -------
/// callable
///     Takes the arguments of `fun` and returns what `fun` returns.
///
/// Raises
/// ------
/// TypeError
///     If `fun` is not callable.
///
/// See Also
/// --------
/// grad, scan, umber.nn.utils.checkpoint
///
/// Notes
/// -----
/// Saves memory at the cost of one more forward pass (Chen et al., "Training Deep Nets with Sublinear Memory Cost", 2016):
/// only the arguments are kept for the gradient. Arrays that `fun` captures, such as parameters of layers, get their
/// gradients too. Random numbers are the same in the recomputation.
///
/// Examples
/// --------
/// >>> block = mx.checkpoint(lambda x: mx.tanh(mx.exp(x) * 0.1))
/// >>> mx.grad(lambda x: block(x).sum())(mx.zeros(2))
/// array([0.0990066, 0.0990066], dtype=float32)
#[pyfunction]
fn checkpoint<'py>(fun: &Bound<'py, PyAny>) -> PyResult<Bound<'py, CheckpointFunction>> {
    check_callable("checkpoint", fun)?;
    wrap_function(CheckpointFunction { initialized: Initialized::YES, fun: fun.clone().unbind() }, fun)
}

/// One array, or a list or tuple of them.
fn one_or_several(name: &str, value: &Bound<'_, PyAny>) -> PyResult<Vec<Array>> {
    if let Ok(array) = value.cast::<PyArray>() {
        return Ok(vec![array.get().get()]);
    }
    if !value.is_instance_of::<PyList>() && !value.is_instance_of::<PyTuple>() {
        return Err(PyValueError::new_err(format!(
            "[depends] {name}: got {}, expected an array or a sequence of arrays",
            class_of(value)
        )));
    }
    super::grad::arrays("depends", name, value)
}

/// Return arrays unchanged, to be computed only after other arrays.
///
/// Parameters
/// ----------
/// inputs : array or sequence of array
///     Arrays to return.
/// dependencies : array or sequence of array
///     Arrays to evaluate before `inputs`.
///
/// Returns
/// -------
/// array or list of array
///     Arrays equal to `inputs`: one array if `inputs` is one, otherwise a list.
///
/// Raises
/// ------
/// ValueError
///     If `inputs` or `dependencies` is neither an array nor a list or tuple of arrays.
///
/// See Also
/// --------
/// eval, synchronize
///
/// Notes
/// -----
/// Adds an order of evaluation to the graph that the data flow does not imply. Gradients pass through to `inputs`;
/// `dependencies` get none.
///
/// Examples
/// --------
/// >>> a, b = mx.array([1.0, 2.0]), mx.array([3.0])
/// >>> mx.depends(a, b)
/// array([1, 2], dtype=float32)
#[pyfunction]
fn depends<'py>(
    py: Python<'py>,
    inputs: &Bound<'py, PyAny>,
    dependencies: &Bound<'py, PyAny>,
) -> PyResult<Bound<'py, PyAny>> {
    let is_one = inputs.is_instance_of::<PyArray>();
    let inputs = one_or_several("inputs", inputs)?;
    let dependencies = one_or_several("dependencies", dependencies)?;
    let mut outputs = ops::depends(&inputs, &dependencies).or_raise()?.into_iter().map(NewArray::from);
    match outputs.next() {
        Some(first) if is_one => Ok(first.object(py)?.into_any()),
        first => {
            let all = first.into_iter().chain(outputs).map(|array| array.object(py));
            Ok(PyList::new(py, all.collect::<PyResult<Vec<_>>>()?)?.into_any())
        }
    }
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<CustomFunction>()?;
    module.add_function(wrap_pyfunction!(with_user_rules, module)?)?;
    module.add_function(wrap_pyfunction!(checkpoint, module)?)?;
    module.add_function(wrap_pyfunction!(depends, module)?)
}
