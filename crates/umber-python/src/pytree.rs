//! Nested lists, tuples and dicts of arrays: taken apart for transforms, put together again afterwards.

use pyo3::exceptions::{PyRecursionError, PyTypeError, PyValueError};
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyList, PyTuple};
use pyo3::{PyTraverseError, PyVisit};
use umber_core::Array;
use umber_core::graph::ArrayInternals;
use umber_kernels::stack::stack_left;

use crate::array::PyArray;
use crate::enter::OrRaise;
use crate::new_array::NewArray;

/// Containers nested deeper than this, or in themselves, are refused.
const MAX_DEPTH: usize = 500;
/// Bytes of stack that a walk takes for one level at most, whichever walk it is.
const STACK_PER_LEVEL: usize = 4 << 10;
/// Bytes of stack that are left to what is called at the deepest level.
const STACK_RESERVE: usize = 24 << 10;

/// Refuse what is nested too deep to walk.
pub(crate) fn check_depth(depth: usize) -> PyResult<()> {
    if depth > MAX_DEPTH {
        return Err(PyValueError::new_err(format!(
            "[tree] lists, tuples and dicts are nested deeper than {MAX_DEPTH} levels, or contain themselves"
        )));
    }
    // Other walks follow over the same levels, and their steps may be larger than those that led here.
    if !can_descend(depth) {
        return Err(PyRecursionError::new_err(
            "[tree] lists, tuples and dicts are nested too deep for the stack of this thread; use fewer levels, or a larger \
             threading.stack_size",
        ));
    }
    Ok(())
}

/// Is there stack left for a walk one level deeper, of levels that [`check_depth`] allows?
pub(crate) fn can_descend(depth: usize) -> bool {
    depth <= MAX_DEPTH && stack_left() >= STACK_RESERVE + depth * STACK_PER_LEVEL
}

/// A nested Python value with its arrays told apart; `()` in place of arrays makes it the structure alone.
pub(crate) enum Pytree<A = Py<PyArray>> {
    /// An array.
    Array(A),
    /// Anything else that holds no arrays.
    Other(Py<PyAny>),
    /// A list, or a list-like state object.
    List(Vec<Pytree<A>>),
    /// A tuple, with its class if that is a subclass.
    Tuple(Vec<Pytree<A>>, Option<Py<PyAny>>),
    /// A dict, or a subclass of it.
    Dict(Vec<(Py<PyAny>, Pytree<A>)>),
}

/// Where something is in nested containers.
#[derive(Clone, Copy)]
pub(crate) enum PytreePath<'a> {
    /// The whole, by the name that it goes by.
    Root(&'a str),
    /// An item of a list or tuple.
    Item(&'a PytreePath<'a>, usize),
    /// A value of a dict.
    Key(&'a PytreePath<'a>, &'a Py<PyAny>),
}

impl PytreePath<'_> {
    /// As Python spells it: `args[0]['w']`.
    pub(crate) fn text(&self, py: Python<'_>) -> String {
        let mut steps = Vec::new();
        let mut place = *self;
        loop {
            place = match place {
                PytreePath::Root(name) => {
                    steps.push(name.to_owned());
                    break;
                }
                PytreePath::Item(within, i) => {
                    steps.push(format!("[{i}]"));
                    *within
                }
                PytreePath::Key(within, key) => {
                    let key = key.bind(py).repr().map_or_else(|_| "?".into(), |key| key.to_string());
                    steps.push(format!("[{key}]"));
                    *within
                }
            };
        }
        steps.reverse();
        steps.concat()
    }
}

/// What a dict with the keys of `items` is called.
pub(crate) fn dict_of<A>(py: Python<'_>, items: &[(Py<PyAny>, Pytree<A>)]) -> PyResult<String> {
    let keys = items.iter().map(|(key, _)| key.bind(py).repr().map(|key| key.to_string()));
    Ok(format!("a dict of {}", keys.collect::<PyResult<Vec<_>>>()?.join(", ")))
}

/// The class of a tuple that is an instance of a subclass, such as a named tuple.
pub(crate) fn tuple_class<'py>(tuple: &Bound<'py, PyTuple>) -> Option<Bound<'py, PyAny>> {
    (!tuple.is_exact_instance_of::<PyTuple>()).then(|| tuple.get_type().into_any())
}

/// The instance of a subclass of tuple that has these items.
///
/// `tuple.__new__` makes it, as `namedtuple._make` does, since the constructor of a subclass may take other arguments.
/// Classes written in C, such as `time.struct_time`, allow only their own constructor.
pub(crate) fn tuple_of<'py>(
    class: &Bound<'py, PyAny>,
    items: Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    match items.get_type().call_method1(intern!(py, "__new__"), (class, &items)) {
        Err(error) if error.is_instance_of::<PyTypeError>(py) => class.call1((items,)),
        made => made,
    }
}

/// The name of a value's class.
pub(crate) fn class_of(value: &Bound<'_, PyAny>) -> String {
    value.get_type().name().map_or_else(|_| "an object".into(), |name| name.to_string())
}

impl Pytree {
    /// Take a value apart.
    pub(crate) fn of(value: &Bound<'_, PyAny>) -> PyResult<Pytree> {
        Pytree::at_depth(value, 0)
    }

    fn at_depth(value: &Bound<'_, PyAny>, depth: usize) -> PyResult<Pytree> {
        check_depth(depth)?;
        let below = |item: Bound<'_, PyAny>| Pytree::at_depth(&item, depth + 1);
        if let Ok(array) = value.cast::<PyArray>() {
            return Ok(Pytree::Array(array.clone().unbind()));
        }
        if let Ok(list) = value.cast::<PyList>() {
            return list.iter().map(below).collect::<PyResult<_>>().map(Pytree::List);
        }
        if let Ok(tuple) = value.cast::<PyTuple>() {
            if tuple.is_exact_instance_of::<PyTuple>() {
                return Ok(Pytree::Tuple(tuple.iter().map(below).collect::<PyResult<_>>()?, None));
            }
            // By its iterator, which a class made of tuples may have of its own, as lengths of traced arrays do.
            let items = tuple.try_iter()?.map(|item| below(item?)).collect::<PyResult<_>>()?;
            return Ok(Pytree::Tuple(items, tuple_class(tuple).map(Bound::unbind)));
        }
        if let Ok(dict) = value.cast::<PyDict>() {
            let items =
                dict.iter().map(|(key, item)| Ok((key.unbind(), below(item)?))).collect::<PyResult<_>>()?;
            return Ok(Pytree::Dict(items));
        }
        Ok(Pytree::Other(value.clone().unbind()))
    }

    /// The arrays, in order, with what they hold now.
    pub(crate) fn snapshot_arrays(&self) -> PyResult<Vec<Array>> {
        self.arrays().iter().map(Array::snapshot).collect::<umber_core::Result<_>>().or_raise()
    }

    /// The arrays, in order.
    pub(crate) fn arrays(&self) -> Vec<Array> {
        let mut found = Vec::new();
        self.visit(&mut |leaf| {
            if let Pytree::Array(array) = leaf {
                found.push(array.get().get());
            }
        });
        found
    }
}

impl<A> Pytree<A> {
    /// Call `visit` on every leaf, in order.
    pub(crate) fn visit<'a>(&'a self, visit: &mut impl FnMut(&'a Pytree<A>)) {
        match self {
            Pytree::Array(_) | Pytree::Other(_) => visit(self),
            Pytree::List(items) | Pytree::Tuple(items, _) => {
                for item in items {
                    item.visit(visit);
                }
            }
            Pytree::Dict(items) => {
                for (_, item) in items {
                    item.visit(visit);
                }
            }
        }
    }

    /// Call `visit` on every leaf with its place, until it fails.
    pub(crate) fn visit_places<E>(
        &self,
        place: &PytreePath<'_>,
        visit: &mut impl FnMut(&Pytree<A>, &PytreePath<'_>) -> Result<(), E>,
    ) -> Result<(), E> {
        match self {
            Pytree::Array(_) | Pytree::Other(_) => visit(self, place),
            Pytree::List(items) | Pytree::Tuple(items, _) => items
                .iter()
                .enumerate()
                .try_for_each(|(i, item)| item.visit_places(&PytreePath::Item(place, i), visit)),
            Pytree::Dict(items) => items
                .iter()
                .try_for_each(|(key, item)| item.visit_places(&PytreePath::Key(place, key), visit)),
        }
    }

    /// The place of the array numbered `index`, for a message.
    pub(crate) fn place_of(&self, py: Python<'_>, root: &str, index: usize) -> String {
        let mut left = index;
        let found = self.visit_places(&PytreePath::Root(root), &mut |leaf, place| match leaf {
            Pytree::Array(_) if left == 0 => Err(place.text(py)),
            Pytree::Array(_) => {
                left -= 1;
                Ok(())
            }
            _ => Ok(()),
        });
        found.err().unwrap_or_else(|| root.to_owned())
    }

    /// How many arrays there are.
    pub(crate) fn count(&self) -> usize {
        let mut count = 0;
        self.visit(&mut |leaf| count += usize::from(matches!(leaf, Pytree::Array(_))));
        count
    }

    /// The structure without the arrays.
    pub(crate) fn structure(&self, py: Python<'_>) -> Pytree<()> {
        let all = |items: &[Pytree<A>]| items.iter().map(|item| item.structure(py)).collect();
        match self {
            Pytree::Array(_) => Pytree::Array(()),
            Pytree::Other(value) => Pytree::Other(value.clone_ref(py)),
            Pytree::List(items) => Pytree::List(all(items)),
            Pytree::Tuple(items, class) => {
                Pytree::Tuple(all(items), class.as_ref().map(|class| class.clone_ref(py)))
            }
            Pytree::Dict(items) => Pytree::Dict(
                items.iter().map(|(key, item)| (key.clone_ref(py), item.structure(py))).collect(),
            ),
        }
    }

    /// The same structure with `replace` of every array; other leaves as `other` says.
    pub(crate) fn map<'py>(
        &self,
        py: Python<'py>,
        replace: &mut impl FnMut(Python<'py>, &A) -> PyResult<Py<PyAny>>,
        other: &impl Fn(Python<'py>, &Py<PyAny>) -> PyResult<Py<PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        Ok(match self {
            Pytree::Array(array) => replace(py, array)?,
            Pytree::Other(value) => other(py, value)?,
            Pytree::List(items) => {
                let made =
                    items.iter().map(|item| item.map(py, replace, other)).collect::<PyResult<Vec<_>>>()?;
                PyList::new(py, made)?.into_any().unbind()
            }
            Pytree::Tuple(items, class) => {
                let made =
                    items.iter().map(|item| item.map(py, replace, other)).collect::<PyResult<Vec<_>>>()?;
                let tuple = PyTuple::new(py, made)?;
                match class {
                    Some(class) => tuple_of(class.bind(py), tuple)?.unbind(),
                    None => tuple.into_any().unbind(),
                }
            }
            Pytree::Dict(items) => {
                let dict = PyDict::new(py);
                for (key, item) in items {
                    dict.set_item(key, item.map(py, replace, other)?)?;
                }
                dict.into_any().unbind()
            }
        })
    }

    /// The same structure with new arrays in place of the old, in order; other leaves stay.
    pub(crate) fn rebuild(&self, py: Python<'_>, arrays: &[Array]) -> PyResult<Py<PyAny>> {
        let mut next = arrays.iter();
        self.map(
            py,
            &mut |py, _| {
                let array = next.next().expect("as many arrays as the tree has");
                Ok(NewArray::from(array.clone()).object(py)?.unbind().into_any())
            },
            &|py, value| Ok(value.clone_ref(py)),
        )
    }

    /// The same structure with gradients in place of the arrays; what has none is `None`.
    pub(crate) fn gradients(&self, py: Python<'_>, arrays: &[Array]) -> PyResult<Py<PyAny>> {
        self.each(py, arrays, |py, array| Ok(NewArray::from(array.clone()).object(py)?.unbind().into_any()))
    }

    /// The same structure with what `make` says of `values` in place of the arrays, and `None` for other leaves.
    pub(crate) fn each<T>(
        &self,
        py: Python<'_>,
        values: &[T],
        make: impl Fn(Python<'_>, &T) -> PyResult<Py<PyAny>>,
    ) -> PyResult<Py<PyAny>> {
        let mut next = values.iter();
        self.map(
            py,
            &mut |py, _| make(py, next.next().expect("as many values as the tree has arrays")),
            &|py, _| Ok(py.None()),
        )
    }

    /// Refuse leaves that are neither arrays nor `None`.
    pub(crate) fn check_arrays(&self, py: Python<'_>, op: &str, place: &PytreePath<'_>) -> PyResult<()> {
        self.visit_places(place, &mut |leaf, place| match leaf {
            Pytree::Other(value) if !value.is_none(py) => Err(PyValueError::new_err(format!(
                "[{op}] {}: got {}, expected only arrays",
                place.text(py),
                class_of(value.bind(py))
            ))),
            _ => Ok(()),
        })
    }

    /// What in `value`, which must be built like this tree, stands where the arrays are; `None` where that is left out.
    ///
    /// Lists and tuples stand for one another, and whatever is in place of other leaves is passed over.
    pub(crate) fn aligned<'py>(
        &self,
        op: &str,
        value: &Bound<'py, PyAny>,
        place: &PytreePath<'_>,
        found: &mut Vec<Option<Bound<'py, PyAny>>>,
    ) -> PyResult<()> {
        let py = value.py();
        let mismatch = |expected: String| {
            Err(PyValueError::new_err(format!(
                "[{op}] {}: got {}, expected {expected}",
                place.text(py),
                match value.len() {
                    Ok(length) if !value.is_instance_of::<PyArray>() =>
                        format!("{} of {length}", class_of(value)),
                    _ => class_of(value),
                }
            )))
        };
        if value.is_none() {
            found.extend(std::iter::repeat_n(None, self.count()));
            return Ok(());
        }
        match self {
            Pytree::Array(_) => {
                let is_container = value.is_instance_of::<PyTuple>()
                    || value.is_instance_of::<PyList>()
                    || value.is_instance_of::<PyDict>();
                if is_container {
                    return mismatch("an array".into());
                }
                found.push(Some(value.clone()));
            }
            Pytree::Other(_) => {}
            Pytree::List(items) | Pytree::Tuple(items, _) => {
                let is_sequence = value.is_instance_of::<PyTuple>() || value.is_instance_of::<PyList>();
                if !is_sequence || value.len()? != items.len() {
                    return mismatch(format!("a tuple of {}", items.len()));
                }
                for (i, (item, value)) in items.iter().zip(value.try_iter()?).enumerate() {
                    item.aligned(op, &value?, &PytreePath::Item(place, i), found)?;
                }
            }
            Pytree::Dict(items) => {
                let keys = || dict_of(py, items);
                let Ok(dict) = value.cast::<PyDict>() else { return mismatch(keys()?) };
                if dict.len() != items.len() {
                    return mismatch(keys()?);
                }
                for (key, item) in items {
                    match dict.get_item(key)? {
                        Some(value) => item.aligned(op, &value, &PytreePath::Key(place, key), found)?,
                        None => return mismatch(keys()?),
                    }
                }
            }
        }
        Ok(())
    }
}

impl Pytree<()> {
    /// Show the garbage collector what the structure holds.
    pub(crate) fn traverse(&self, visit: &PyVisit<'_>) -> Result<(), PyTraverseError> {
        match self {
            Pytree::Array(()) => Ok(()),
            Pytree::Other(value) => visit.call(value),
            Pytree::List(items) => items.iter().try_for_each(|item| item.traverse(visit)),
            Pytree::Tuple(items, class) => {
                visit.call(class)?;
                items.iter().try_for_each(|item| item.traverse(visit))
            }
            Pytree::Dict(items) => items.iter().try_for_each(|(key, item)| {
                visit.call(key)?;
                item.traverse(visit)
            }),
        }
    }
}
