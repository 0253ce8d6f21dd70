//! The arguments that a derivative is taken with respect to.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use umber_core::Array;
use umber_core::transforms::Trace;
use umber_core::types::error;

use super::call_user;
use super::substitution::{Substitution, claim, make_distinct};
use crate::args::Ints;
use crate::array::PyArray;
use crate::convert::from_object;
use crate::enter::{OrRaise, to_exception};
use crate::new_array::NewArray;
use crate::pytree::{Pytree, PytreePath};

/// Assumption about the function that is differentiated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Assumption {
    /// Nothing.
    Nothing,
    /// It is holomorphic: a complex function of complex arguments that has a complex derivative.
    Holomorphic,
}

impl Assumption {
    /// The assumption that the argument `holomorphic` states.
    pub(super) fn of(holomorphic: bool) -> Assumption {
        if holomorphic { Assumption::Holomorphic } else { Assumption::Nothing }
    }
}

/// The arguments to differentiate with respect to, by position and by name.
pub(super) struct ArgSelection {
    /// The function that the user called, for messages.
    op: &'static str,
    argnums: Vec<usize>,
    argnames: Vec<String>,
    /// Whether `argnums` is one integer: its derivative is not wrapped in a tuple.
    single: bool,
    pub(super) assumption: Assumption,
}

/// A traced call of a function.
pub(super) struct TracedCall<'py> {
    /// The chosen arguments, in order.
    trees: Vec<Pytree>,
    pub(super) trace: Trace,
    pub(super) returned: Bound<'py, PyAny>,
    substitution: Substitution<'py>,
}

impl ArgSelection {
    /// Parse `argnums` and `argnames`.
    pub(super) fn new(
        op: &'static str,
        argnums: Option<Ints>,
        argnames: Option<&Bound<'_, PyAny>>,
        assumption: Assumption,
    ) -> PyResult<ArgSelection> {
        let argnames: Vec<String> = match argnames {
            None => Vec::new(),
            Some(one) if one.is_instance_of::<PyString>() => vec![one.extract()?],
            Some(several) if several.is_none() => Vec::new(),
            Some(several) => several.extract()?,
        };
        let numbers = match &argnums {
            Some(ints) => ints.as_slice().to_vec(),
            None if argnames.is_empty() => vec![0],
            None => Vec::new(),
        };
        let mut unique: Vec<usize> = Vec::new();
        for number in numbers {
            let number = usize::try_from(number).map_err(|_| {
                PyValueError::new_err(format!("[{op}] argnums must not be negative, got {number}"))
            })?;
            if unique.contains(&number) {
                return Err(PyValueError::new_err(format!("[{op}] duplicate {number} in argnums")));
            }
            unique.push(number);
        }
        for (i, name) in argnames.iter().enumerate() {
            if argnames[..i].contains(name) {
                return Err(PyValueError::new_err(format!("[{op}] duplicate '{name}' in argnames")));
            }
        }
        let single = unique.len() == 1;
        Ok(ArgSelection { op, argnums: unique, argnames, single, assumption })
    }

    /// The arguments `argnums` and `argnames` of an equal selection.
    pub(super) fn arguments(&self) -> (Vec<usize>, Vec<String>) {
        (self.argnums.clone(), self.argnames.clone())
    }

    /// The function that the user called.
    pub(super) fn op(&self) -> &'static str {
        self.op
    }

    /// The indices of the chosen arguments among the values of a call, which are the positional ones, then the named ones.
    fn indices(&self, args: &Bound<'_, PyTuple>, names: &[Bound<'_, PyAny>]) -> PyResult<Vec<usize>> {
        let op = self.op;
        let mut indices = Vec::with_capacity(self.argnums.len() + self.argnames.len());
        for &argnum in &self.argnums {
            if argnum >= args.len() {
                return Err(PyValueError::new_err(format!(
                    "[{op}] argnums contains {argnum}, but the call has {} positional {}",
                    args.len(),
                    if args.len() == 1 { "argument" } else { "arguments" }
                )));
            }
            indices.push(argnum);
        }
        for name in &self.argnames {
            let is_match = |keyword: &Bound<'_, PyAny>| keyword.eq(name).unwrap_or(false);
            let Some(position) = names.iter().position(is_match) else {
                return Err(PyValueError::new_err(format!(
                    "[{op}] argnames contains '{name}', but the call has no such keyword"
                )));
            };
            indices.push(args.len() + position);
        }
        Ok(indices)
    }

    /// Name of the i-th chosen argument in messages.
    fn name(&self, i: usize) -> String {
        match self.argnums.get(i) {
            Some(argnum) => format!("args[{argnum}]"),
            None => format!("kwargs['{}']", self.argnames[i - self.argnums.len()]),
        }
    }

    /// Raise TypeError for arrays that are not complex, if the function is assumed to be holomorphic.
    pub(super) fn check_dtypes(&self, py: Python<'_>, tree: &Pytree, root: &str) -> PyResult<()> {
        if self.assumption == Assumption::Nothing {
            return Ok(());
        }
        tree.visit_paths(&PytreePath::Root(root), &mut |leaf, path| match leaf {
            Pytree::Array(array) if !array.get().get().dtype().is_complex() => Err(to_exception(error!(
                Type(self.op),
                "holomorphic requires complex arguments and results, got {} for {}",
                array.get().get().dtype(),
                path.text(py)
            ))),
            _ => Ok(()),
        })
    }

    /// Call `fun` with traced arrays in place of those of the chosen arguments, in the caller's own containers.
    pub(super) fn trace_call<'py>(
        &self,
        fun: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<TracedCall<'py>> {
        let py = fun.py();
        let (names, named): (Vec<_>, Vec<_>) = kwargs.into_iter().flatten().unzip();
        let mut values: Vec<Bound<'py, PyAny>> = args.iter().chain(named).collect();
        let indices = self.indices(args, &names)?;
        make_distinct(&mut values, &indices)?;
        let mut trees = Vec::with_capacity(indices.len());
        for (i, &index) in indices.iter().enumerate() {
            if let Some(array) = from_numpy(&values[index])? {
                values[index] = array;
            }
            let (value, tree) = claim(&values[index])?;
            tree.check_arrays(py, self.op, &PytreePath::Root(&self.name(i)))?;
            self.check_dtypes(py, &tree, &self.name(i))?;
            values[index] = value;
            trees.push(tree);
        }
        let primals: Vec<Array> = trees.iter().flat_map(Pytree::arrays).collect();
        let trace = Trace::with_data(&primals).or_raise()?;
        let mut substitution = Substitution::new(py);
        let mut remaining = &trace.inputs[..];
        for (&index, tree) in indices.iter().zip(&trees) {
            let (inputs, later) = remaining.split_at(tree.count());
            remaining = later;
            values[index] = substitution.arrays(&values[index], inputs)?;
        }
        let named = PyDict::new(py);
        for (name, value) in names.iter().zip(values.split_off(args.len())) {
            named.set_item(name, value)?;
        }
        let returned = call_user(fun, PyTuple::new(py, values)?, kwargs.map(|_| &named))?;
        Ok(TracedCall { trees, trace, returned, substitution })
    }

    /// Arrange derivatives in the requested form: one, a tuple, or a pair with a dict of the named ones.
    pub(super) fn arrange(
        &self,
        py: Python<'_>,
        trees: &[Pytree],
        derivatives: &[Array],
    ) -> PyResult<Py<PyAny>> {
        let mut remaining = derivatives;
        let mut results = Vec::with_capacity(trees.len());
        for tree in trees {
            let (gradients, tail) = remaining.split_at(tree.count());
            remaining = tail;
            results.push(tree.gradients(py, gradients)?);
        }
        let named = results.split_off(self.argnums.len());
        let positional = if self.argnums.is_empty() {
            py.None()
        } else if self.single {
            results.remove(0)
        } else {
            PyTuple::new(py, results)?.into_any().unbind()
        };
        if self.argnames.is_empty() {
            return Ok(positional);
        }
        let dict = PyDict::new(py);
        for (name, result) in self.argnames.iter().zip(named) {
            dict.set_item(name, result)?;
        }
        Ok(PyTuple::new(py, [positional, dict.into_any().unbind()])?.into_any().unbind())
    }
}

/// Copy a NumPy array of floating-point or complex elements, which optimizers of other libraries pass.
fn from_numpy<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    if value.is_instance_of::<PyArray>() || !value.hasattr("__array_struct__")? {
        return Ok(None);
    }
    let Some(array) = from_object(value, None)? else { return Ok(None) };
    if !array.dtype().is_inexact() {
        return Ok(None);
    }
    NewArray::from(array).object(value.py()).map(|object| Some(object.into_any()))
}

impl TracedCall<'_> {
    /// Return the chosen arguments and the trace, and restore the arrays in the containers.
    ///
    /// The result must have been read before: it may be one of the containers.
    pub(super) fn into_parts(self) -> (Vec<Pytree>, Trace) {
        drop(self.substitution);
        (self.trees, self.trace)
    }
}
