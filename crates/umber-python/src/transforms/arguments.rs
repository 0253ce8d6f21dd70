//! The arguments that a derivative is taken with respect to.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use umber::Array;
use umber::transforms::Trace;

use super::call_user;
use crate::args::Ints;
use crate::enter::OrRaise;
use crate::trees::{Place, Tree};

/// Which arguments, by position and by name.
pub(super) struct Chosen {
    /// The function that the user called, for messages.
    op: &'static str,
    argnums: Vec<usize>,
    argnames: Vec<String>,
    /// One position given as such: what is answered for it is not wrapped in a tuple.
    single: bool,
}

/// A call of a function that is followed.
pub(super) struct Followed<'py> {
    /// The chosen arguments, in order.
    trees: Vec<Tree>,
    pub(super) trace: Trace,
    pub(super) returned: Bound<'py, PyAny>,
}

impl Chosen {
    /// What `argnums` and `argnames` say.
    pub(super) fn new(
        op: &'static str,
        argnums: Option<Ints>,
        argnames: Option<&Bound<'_, PyAny>>,
    ) -> PyResult<Chosen> {
        let argnames: Vec<String> = match argnames {
            None => Vec::new(),
            Some(one) if one.is_instance_of::<PyString>() => vec![one.extract()?],
            Some(many) if many.is_none() => Vec::new(),
            Some(many) => many.extract()?,
        };
        let numbers = match &argnums {
            Some(ints) => ints.as_slice().to_vec(),
            None if argnames.is_empty() => vec![0],
            None => Vec::new(),
        };
        let mut found: Vec<usize> = Vec::new();
        for number in numbers {
            let number = usize::try_from(number).map_err(|_| {
                PyValueError::new_err(format!(
                    "[{op}] argnums: got {number}, expected the number of an argument, counted from 0"
                ))
            })?;
            if found.contains(&number) {
                return Err(PyValueError::new_err(format!(
                    "[{op}] argnums: got {number} twice, expected every argument once"
                )));
            }
            found.push(number);
        }
        for (i, name) in argnames.iter().enumerate() {
            if argnames[..i].contains(name) {
                return Err(PyValueError::new_err(format!(
                    "[{op}] argnames: got '{name}' twice, expected every name once"
                )));
            }
        }
        let single = found.len() == 1;
        Ok(Chosen { op, argnums: found, argnames, single })
    }

    /// The function that the user called.
    pub(super) fn op(&self) -> &'static str {
        self.op
    }

    fn trees(&self, args: &Bound<'_, PyTuple>, kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<Vec<Tree>> {
        let (py, op) = (args.py(), self.op);
        let mut trees = Vec::new();
        for &argnum in &self.argnums {
            if argnum >= args.len() {
                return Err(PyValueError::new_err(format!(
                    "[{op}] argnums: got {argnum} for a call with {} positional arguments, expected one of them",
                    args.len()
                )));
            }
            let tree = Tree::of(&args.get_item(argnum)?)?;
            tree.check_arrays(py, op, &Place::Root(&format!("args[{argnum}]")))?;
            trees.push(tree);
        }
        for name in &self.argnames {
            let Some(value) = kwargs.and_then(|kwargs| kwargs.get_item(name).transpose()).transpose()? else {
                return Err(PyValueError::new_err(format!(
                    "[{op}] argnames: got '{name}' for a call without it, expected one of the call's keywords"
                )));
            };
            let tree = Tree::of(&value)?;
            tree.check_arrays(py, op, &Place::Root(&format!("kwargs['{name}']")))?;
            trees.push(tree);
        }
        Ok(trees)
    }

    /// Call `fun` with followed arrays in place of those of the chosen arguments.
    pub(super) fn follow<'py>(
        &self,
        fun: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<Followed<'py>> {
        let py = fun.py();
        let trees = self.trees(args, kwargs)?;
        let primals: Vec<Array> = trees.iter().flat_map(Tree::arrays).collect();
        let trace = Trace::with_data(&primals).or_raise()?;
        let mut given: Vec<Bound<'py, PyAny>> = args.iter().collect();
        let named = kwargs.map(pyo3::types::PyDictMethods::copy).transpose()?;
        let mut rest = &trace.inputs[..];
        for (i, tree) in trees.iter().enumerate() {
            let (own, later) = rest.split_at(tree.count());
            rest = later;
            let traced = tree.rebuild(py, own)?.into_bound(py);
            match (self.argnums.get(i), &named) {
                (Some(&argnum), _) => given[argnum] = traced,
                (None, Some(named)) => named.set_item(&self.argnames[i - self.argnums.len()], traced)?,
                (None, None) => {}
            }
        }
        let returned = call_user(fun, PyTuple::new(py, given)?, named.as_ref())?;
        Ok(Followed { trees, trace, returned })
    }

    /// Derivatives as they were asked for: one, a tuple, or a pair with a dict of the named ones.
    pub(super) fn arrange(
        &self,
        py: Python<'_>,
        trees: &[Tree],
        derivatives: &[Array],
    ) -> PyResult<Py<PyAny>> {
        let mut rest = derivatives;
        let mut parts = Vec::with_capacity(trees.len());
        for tree in trees {
            let (own, later) = rest.split_at(tree.count());
            rest = later;
            parts.push(tree.gradients(py, own)?);
        }
        let named = parts.split_off(self.argnums.len());
        let positional = if self.argnums.is_empty() {
            py.None()
        } else if self.single {
            parts.remove(0)
        } else {
            PyTuple::new(py, parts)?.into_any().unbind()
        };
        if self.argnames.is_empty() {
            return Ok(positional);
        }
        let dict = PyDict::new(py);
        for (name, part) in self.argnames.iter().zip(named) {
            dict.set_item(name, part)?;
        }
        Ok(PyTuple::new(py, [positional, dict.into_any().unbind()])?.into_any().unbind())
    }
}

impl Followed<'_> {
    /// The chosen arguments, and the trace at its end.
    pub(super) fn into_parts(self) -> (Vec<Tree>, Trace) {
        (self.trees, self.trace)
    }
}
