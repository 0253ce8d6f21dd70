//! Lists, tuples and dicts of subclasses, and nodes of registered classes: their items, and copies with other items.

use pyo3::exceptions::PyTypeError;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::sync::PyOnceLock;
use pyo3::types::{PyDict, PyList, PyString, PyTuple, PyType};

use crate::pytree::class_of;
use crate::transforms::call_user;

/// The class of a tuple that is an instance of a subclass, such as a named tuple.
pub(crate) fn tuple_class<'py>(tuple: &Bound<'py, PyTuple>) -> Option<Bound<'py, PyAny>> {
    (!tuple.is_exact_instance_of::<PyTuple>()).then(|| tuple.get_type().into_any())
}

/// Create an instance of a subclass of tuple with these items.
///
/// It is created by `tuple.__new__`, as in `namedtuple._make`, since the constructor of a subclass may take other arguments.
/// Classes written in C, such as `time.struct_time`, allow only their own constructor.
pub(crate) fn tuple_of<'py>(
    class: &Bound<'py, PyAny>,
    items: Bound<'py, PyTuple>,
) -> PyResult<Bound<'py, PyAny>> {
    let py = class.py();
    match items.get_type().call_method1(intern!(py, "__new__"), (class, &items)) {
        Err(error) if error.is_instance_of::<PyTypeError>(py) => class.call1((items,)),
        instance => instance,
    }
}

/// `collections.OrderedDict`, if `dict` is one: it keeps an order of its own.
fn ordered_class<'py>(dict: &Bound<'py, PyDict>) -> PyResult<Option<Bound<'py, PyAny>>> {
    static ORDERED: PyOnceLock<Py<PyType>> = PyOnceLock::new();
    if dict.is_exact_instance_of::<PyDict>() {
        return Ok(None);
    }
    let class = ORDERED.import(dict.py(), "collections", "OrderedDict")?;
    Ok(dict.is_instance(class)?.then(|| class.clone().into_any()))
}

/// The items of a dict in its order, whatever its class overrides.
pub(crate) fn dict_items<'py>(
    dict: &Bound<'py, PyDict>,
) -> PyResult<Vec<(Bound<'py, PyAny>, Bound<'py, PyAny>)>> {
    let Some(class) = ordered_class(dict)? else { return Ok(dict.iter().collect()) };
    let items = class.call_method1(intern!(dict.py(), "items"), (dict,))?;
    items.try_iter()?.map(|item| item?.extract()).collect()
}

/// Create a list of the class and with the attributes of another one.
pub(crate) fn list_like<'py>(
    like: &Bound<'py, PyAny>,
    items: impl IntoIterator<Item = Py<PyAny>>,
) -> PyResult<Bound<'py, PyAny>> {
    let list = empty_like(like)?;
    let plain = list.cast::<PyList>().map_err(|_| no_copy(like, &list))?;
    items.into_iter().try_for_each(|item| plain.append(item))?;
    Ok(list)
}

/// Create a dict of the class and with the attributes of another one. `__setitem__` of its class is not called.
pub(crate) fn dict_like<'py>(
    like: &Bound<'py, PyAny>,
    items: impl IntoIterator<Item = (Py<PyAny>, Py<PyAny>)>,
) -> PyResult<Bound<'py, PyAny>> {
    let dict = empty_like(like)?;
    let plain = dict.cast::<PyDict>().map_err(|_| no_copy(like, &dict))?;
    let ordered = ordered_class(plain)?;
    for (key, item) in items {
        match &ordered {
            Some(class) => {
                class.call_method1(intern!(like.py(), "__setitem__"), (plain, key, item))?;
            }
            None => plain.set_item(key, item)?,
        }
    }
    Ok(dict)
}

fn no_copy(like: &Bound<'_, PyAny>, copied: &Bound<'_, PyAny>) -> PyErr {
    PyTypeError::new_err(format!(
        "[tree] the method __reduce__ of {} creates {}, expected an object of the same class",
        class_of(like),
        class_of(copied)
    ))
}

/// Create an instance of a subclass of list or dict with the attributes of another one, but without items.
///
/// The class states by `__reduce_ex__` how, as it does for `copy.copy`.
pub(crate) fn empty_like<'py>(like: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
    let py = like.py();
    let parts = like.call_method1(intern!(py, "__reduce_ex__"), (4,))?.cast_into::<PyTuple>()?;
    let object = parts.get_item(0)?.call1(parts.get_item(1)?.cast_into::<PyTuple>()?)?;
    if let Ok(state) = parts.get_item(2)
        && !state.is_none()
    {
        set_state(&object, &state)?;
    }
    if let Ok(dict) = object.cast::<PyDict>() {
        match ordered_class(dict)? {
            Some(class) => drop(class.call_method1(intern!(py, "clear"), (dict,))?),
            None => dict.clear(),
        }
    } else if let Ok(list) = object.cast::<PyList>() {
        list.del_slice(0, list.len())?;
    }
    Ok(object)
}

/// Set the state of a new object as `copy.copy` does.
fn set_state<'py>(object: &Bound<'py, PyAny>, state: &Bound<'py, PyAny>) -> PyResult<()> {
    let py = object.py();
    if let Some(method) = object.getattr_opt(intern!(py, "__setstate__"))? {
        return method.call1((state,)).map(|_| ());
    }
    let (attributes, slots) = match state.cast::<PyTuple>() {
        Ok(pair) => (pair.get_item(0)?, Some(pair.get_item(1)?)),
        Err(_) => (state.clone(), None),
    };
    if !attributes.is_none() {
        object.getattr(intern!(py, "__dict__"))?.cast::<PyDict>()?.update(attributes.cast()?)?;
    }
    if let Some(slots) = slots {
        for (name, value) in slots.cast::<PyDict>()? {
            object.setattr(name.cast_into::<PyString>()?, value)?;
        }
    }
    Ok(())
}

/// Functions of the registered classes: a dict from classes to tuples `(flatten, unflatten, names)`.
static REGISTRY: PyOnceLock<Py<PyDict>> = PyOnceLock::new();

fn registry(py: Python<'_>) -> &Bound<'_, PyDict> {
    REGISTRY.get_or_init(py, || PyDict::new(py).unbind()).bind(py)
}

/// A node of a registered class, without its children.
pub(crate) struct Node {
    class: Py<PyType>,
    unflatten: Py<PyAny>,
    /// Names of the children in paths, or None for their indices.
    names: Option<Vec<Py<PyAny>>>,
    /// What `unflatten` needs besides the children.
    auxiliary: Py<PyAny>,
}

impl Node {
    /// Flatten a value, if its class is registered, into its children and the rest.
    pub(crate) fn of<'py>(value: &Bound<'py, PyAny>) -> PyResult<Option<(Vec<Bound<'py, PyAny>>, Node)>> {
        let py = value.py();
        let registry = registry(py);
        if registry.is_empty() {
            return Ok(None);
        }
        let class = value.get_type();
        let Some(functions) = registry.get_item(&class)? else { return Ok(None) };
        let (flatten, unflatten, names): (Bound<'py, PyAny>, Py<PyAny>, Option<Vec<Py<PyAny>>>) =
            functions.extract()?;
        let flat = call_user(&flatten, (value,), None)?;
        let invalid = || {
            PyTypeError::new_err(format!(
                "[tree] the function that flattens {} returned {}, expected a pair (children, auxiliary)",
                class_of(value),
                class_of(&flat)
            ))
        };
        let pair = flat.cast::<PyTuple>().ok().filter(|pair| pair.len() == 2).ok_or_else(invalid)?;
        let children = pair.get_item(0)?.try_iter().map_err(|_| invalid())?;
        let children = children.collect::<PyResult<Vec<_>>>()?;
        let expected = names.as_ref().map_or(children.len(), Vec::len);
        if children.len() != expected {
            return Err(PyTypeError::new_err(format!(
                "[tree] the function that flattens {} returned {} children, expected one for each of the {expected} names",
                class_of(value),
                children.len()
            )));
        }
        let auxiliary = pair.get_item(1)?.unbind();
        Ok(Some((children, Node { class: class.unbind(), unflatten, names, auxiliary })))
    }

    /// Whether the class of a value is registered.
    pub(crate) fn is_registered(value: &Bound<'_, PyAny>) -> bool {
        registry(value.py()).contains(value.get_type()).unwrap_or(false)
    }

    /// Create the node with these children.
    pub(crate) fn rebuild<'py>(
        &self,
        py: Python<'py>,
        children: Vec<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyAny>> {
        let children = PyTuple::new(py, children)?;
        call_user(self.unflatten.bind(py), (&self.auxiliary, children), None)
    }

    /// Whether the other node has the same class and equal auxiliary data.
    pub(crate) fn is_like(&self, py: Python<'_>, other: &Node) -> PyResult<bool> {
        let auxiliary = self.auxiliary.bind(py);
        Ok(self.class.is(&other.class)
            && (auxiliary.is(&other.auxiliary) || auxiliary.eq(&other.auxiliary)?))
    }

    pub(crate) fn clone_ref(&self, py: Python<'_>) -> Node {
        Node {
            class: self.class.clone_ref(py),
            unflatten: self.unflatten.clone_ref(py),
            names: self.names.as_ref().map(|names| names.iter().map(|name| name.clone_ref(py)).collect()),
            auxiliary: self.auxiliary.clone_ref(py),
        }
    }

    /// The name of the i-th child, if it has one.
    pub(crate) fn name(&self, i: usize) -> Option<&Py<PyAny>> {
        self.names.as_ref().and_then(|names| names.get(i))
    }

    /// The path of the i-th child of the node at `path`.
    pub(crate) fn path(&self, py: Python<'_>, path: &str, i: usize) -> String {
        match self.name(i) {
            Some(name) => format!("{path}.{}", name.bind(py)),
            None => format!("{path}[{i}]"),
        }
    }

    /// Description for a message.
    pub(crate) fn describe(&self, py: Python<'_>, count: usize) -> String {
        let name = self.class.bind(py).name().map_or_else(|_| "a node".into(), |name| name.to_string());
        let auxiliary = self.auxiliary.bind(py).repr().map_or_else(|_| "?".into(), |repr| repr.to_string());
        format!("{name} of {count} with auxiliary data {auxiliary}")
    }

    pub(crate) fn class<'py>(&self, py: Python<'py>) -> &Bound<'py, PyType> {
        self.class.bind(py)
    }

    pub(crate) fn auxiliary<'py>(&self, py: Python<'py>) -> &Bound<'py, PyAny> {
        self.auxiliary.bind(py)
    }

    /// Report the Python objects to the garbage collector.
    pub(crate) fn traverse(&self, visit: &pyo3::PyVisit<'_>) -> Result<(), pyo3::PyTraverseError> {
        visit.call(&self.class)?;
        visit.call(&self.unflatten)?;
        self.names.iter().flatten().try_for_each(|name| visit.call(name))?;
        visit.call(&self.auxiliary)
    }
}

/// Flatten a node of a registered class into its children, its auxiliary data and the names of its children.
#[pyfunction]
#[pyo3(name = "_flatten_node")]
fn flatten_node<'py>(node: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyTuple>> {
    match Node::of(node)? {
        Some((children, Node { auxiliary, names, .. })) => {
            (children, auxiliary, names).into_pyobject(node.py())
        }
        None => Err(PyTypeError::new_err(format!("[tree] the class {} is not registered", class_of(node)))),
    }
}

/// Create a list or dict of the class of another one, with its attributes, and with other items: a list, or pairs of a key and
/// a value.
#[pyfunction]
#[pyo3(name = "_container_like")]
fn container_like<'py>(like: &Bound<'py, PyAny>, items: &Bound<'py, PyList>) -> PyResult<Bound<'py, PyAny>> {
    if like.is_instance_of::<PyDict>() {
        let items = items.iter().map(|item| item.extract()).collect::<PyResult<Vec<_>>>()?;
        return dict_like(like, items);
    }
    list_like(like, items.iter().map(Bound::unbind))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add("_tree_nodes", registry(module.py()))?;
    module.add_function(wrap_pyfunction!(flatten_node, module)?)?;
    module.add_function(wrap_pyfunction!(container_like, module)?)
}
