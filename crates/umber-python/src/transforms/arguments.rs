//! The arguments that a derivative is taken with respect to.

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use umber_core::Array;
use umber_core::transforms::Trace;
use umber_core::types::error;

use super::call_user;
use super::substitution::{Substitution, part, taken};
use crate::args::Ints;
use crate::array::PyArray;
use crate::convert::from_object;
use crate::enter::{OrRaise, to_exception};
use crate::new_array::NewArray;
use crate::pytree::{Pytree, PytreePath};

/// Assumption about the function that is differentiated.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Assumed {
    /// Nothing.
    Nothing,
    /// It is holomorphic: a complex function of complex arguments that has a complex derivative.
    Holomorphic,
}

impl Assumed {
    /// The assumption that the argument `holomorphic` states.
    pub(super) fn of(holomorphic: bool) -> Assumed {
        if holomorphic { Assumed::Holomorphic } else { Assumed::Nothing }
    }
}

/// Which arguments, by position and by name.
pub(super) struct Chosen {
    /// The function that the user called, for messages.
    op: &'static str,
    argnums: Vec<usize>,
    argnames: Vec<String>,
    /// Whether `argnums` is one integer: its derivative is not wrapped in a tuple.
    single: bool,
    pub(super) assumed: Assumed,
}

/// A traced call of a function.
pub(super) struct TracedCall<'py> {
    /// The chosen arguments, in order.
    trees: Vec<Pytree>,
    pub(super) trace: Trace,
    pub(super) returned: Bound<'py, PyAny>,
    substitution: Substitution<'py>,
}

impl Chosen {
    /// Parse `argnums` and `argnames`.
    pub(super) fn new(
        op: &'static str,
        argnums: Option<Ints>,
        argnames: Option<&Bound<'_, PyAny>>,
        assumed: Assumed,
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
                PyValueError::new_err(format!("[{op}] argnums must not be negative, got {number}"))
            })?;
            if found.contains(&number) {
                return Err(PyValueError::new_err(format!("[{op}] duplicate {number} in argnums")));
            }
            found.push(number);
        }
        for (i, name) in argnames.iter().enumerate() {
            if argnames[..i].contains(name) {
                return Err(PyValueError::new_err(format!("[{op}] duplicate '{name}' in argnames")));
            }
        }
        let single = found.len() == 1;
        Ok(Chosen { op, argnums: found, argnames, single, assumed })
    }

    /// The function that the user called.
    pub(super) fn op(&self) -> &'static str {
        self.op
    }

    /// Where the chosen arguments are among the values of a call: those by position, then those by name.
    fn places(&self, args: &Bound<'_, PyTuple>, names: &[Bound<'_, PyAny>]) -> PyResult<Vec<usize>> {
        let op = self.op;
        let mut places = Vec::with_capacity(self.argnums.len() + self.argnames.len());
        for &argnum in &self.argnums {
            if argnum >= args.len() {
                return Err(PyValueError::new_err(format!(
                    "[{op}] argnums contains {argnum}, but the call has {} positional {}",
                    args.len(),
                    if args.len() == 1 { "argument" } else { "arguments" }
                )));
            }
            places.push(argnum);
        }
        for name in &self.argnames {
            let is_it = |given: &Bound<'_, PyAny>| given.eq(name).unwrap_or(false);
            let Some(place) = names.iter().position(is_it) else {
                return Err(PyValueError::new_err(format!(
                    "[{op}] argnames contains '{name}', but the call has no such keyword"
                )));
            };
            places.push(args.len() + place);
        }
        Ok(places)
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
        if self.assumed == Assumed::Nothing {
            return Ok(());
        }
        tree.visit_places(&PytreePath::Root(root), &mut |leaf, place| match leaf {
            Pytree::Array(array) if !array.get().get().dtype().is_complex() => Err(to_exception(error!(
                Type(self.op),
                "holomorphic requires complex arguments and results, got {} for {}",
                array.get().get().dtype(),
                place.text(py)
            ))),
            _ => Ok(()),
        })
    }

    /// Call `fun` with traced arrays in place of those of the chosen arguments, in the caller's own containers.
    pub(super) fn follow<'py>(
        &self,
        fun: &Bound<'py, PyAny>,
        args: &Bound<'py, PyTuple>,
        kwargs: Option<&Bound<'py, PyDict>>,
    ) -> PyResult<TracedCall<'py>> {
        let py = fun.py();
        let (names, named): (Vec<_>, Vec<_>) = kwargs.into_iter().flatten().unzip();
        let mut values: Vec<Bound<'py, PyAny>> = args.iter().chain(named).collect();
        let places = self.places(args, &names)?;
        part(&mut values, &places)?;
        let mut trees = Vec::with_capacity(places.len());
        for (i, &place) in places.iter().enumerate() {
            if let Some(array) = from_numpy(&values[place])? {
                values[place] = array;
            }
            let (value, tree) = taken(&values[place])?;
            tree.check_arrays(py, self.op, &PytreePath::Root(&self.name(i)))?;
            self.check_dtypes(py, &tree, &self.name(i))?;
            values[place] = value;
            trees.push(tree);
        }
        let primals: Vec<Array> = trees.iter().flat_map(Pytree::arrays).collect();
        let trace = Trace::with_data(&primals).or_raise()?;
        let mut substitution = Substitution::new(py);
        let mut rest = &trace.inputs[..];
        for (&place, tree) in places.iter().zip(&trees) {
            let (own, later) = rest.split_at(tree.count());
            rest = later;
            values[place] = substitution.arrays(&values[place], own)?;
        }
        let named = PyDict::new(py);
        for (name, value) in names.iter().zip(values.split_off(args.len())) {
            named.set_item(name, value)?;
        }
        let returned = call_user(fun, PyTuple::new(py, values)?, kwargs.map(|_| &named))?;
        Ok(TracedCall { trees, trace, returned, substitution })
    }

    /// Arrange derivatives as requested: one, a tuple, or a pair with a dict of the named ones.
    pub(super) fn arrange(
        &self,
        py: Python<'_>,
        trees: &[Pytree],
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

/// Copy a NumPy array of floating-point or complex elements, which optimizers of other libraries pass.
fn from_numpy<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<Bound<'py, PyAny>>> {
    if value.is_instance_of::<PyArray>() || !value.hasattr("__array_struct__")? {
        return Ok(None);
    }
    let Some(array) = from_object(value, None)? else { return Ok(None) };
    if !array.dtype().is_inexact() {
        return Ok(None);
    }
    NewArray::from(array).object(value.py()).map(|made| Some(made.into_any()))
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
