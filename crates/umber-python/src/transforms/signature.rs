//! Signatures of calls: the structure and the constants that two calls must share, besides shapes and dtypes, to reuse a graph.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};

use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::{
    PyBool, PyBytes, PyComplex, PyDict, PyFloat, PyFrozenSet, PyInt, PyList, PySet, PySlice, PyString,
    PyTuple, PyType,
};
use pyo3::{PyTraverseError, PyVisit, intern};

use crate::array::PyArray;
use crate::container::Node;
use crate::pytree::{Pytree, check_depth, is_container};

/// Maximum number of remembered objects that are compared by hash and equality.
const MAX_OBJECTS: usize = 4096;

/// The treatment of objects without a hash.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Unhashable {
    Refused,
    ByIdentity,
}

/// An object that is equal only to itself, whatever its class defines.
#[pyclass(frozen)]
struct Identity(Py<PyAny>);

#[pymethods]
impl Identity {
    fn __hash__(&self) -> usize {
        self.0.as_ptr() as usize
    }

    fn __eq__(&self, other: &Bound<'_, PyAny>) -> bool {
        other.cast::<Identity>().is_ok_and(|other| other.get().0.is(&self.0))
    }

    fn __traverse__(&self, visit: PyVisit<'_>) -> Result<(), PyTraverseError> {
        visit.call(&self.0)
    }
}

/// Numbers that identify the objects in calls. A number is never reused.
pub(super) struct Objects {
    known: Py<PyDict>,
    next: AtomicU64,
}

impl Objects {
    pub(super) fn new(py: Python<'_>) -> Objects {
        Objects { known: PyDict::new(py).unbind(), next: AtomicU64::new(0) }
    }

    /// The references that the garbage collector must visit.
    pub(super) fn known(&self) -> &Py<PyDict> {
        &self.known
    }

    /// The number that identifies `value` among the objects of its class, shared by equal objects.
    fn number(&self, value: &Bound<'_, PyAny>, unhashable: Unhashable) -> PyResult<u64> {
        let py = value.py();
        let known = self.known.bind(py);
        let class = value.get_type();
        let mut key = PyTuple::new(py, [class.as_any(), value])?;
        let mut existing = known.get_item(&key);
        if existing.is_err() && unhashable == Unhashable::ByIdentity {
            key = PyTuple::new(
                py,
                [class.as_any(), Bound::new(py, Identity(value.clone().unbind()))?.as_any()],
            )?;
            existing = known.get_item(&key);
        }
        let existing = existing.map_err(|error| {
            if !error.is_instance_of::<PyTypeError>(py) {
                return error;
            }
            let name = class.name().map_or_else(|_| "an object".into(), |name| name.to_string());
            PyTypeError::new_err(format!(
                "[compile] arguments of type {name} are not hashable, expected arrays, numbers, strings, \
                 None, trees of them, dataclasses, or hashable objects"
            ))
        })?;
        if let Some(number) = existing {
            return number.extract();
        }
        if known.len() >= MAX_OBJECTS {
            known.clear();
        }
        let number = self.next.fetch_add(1, Ordering::Relaxed);
        known.set_item(key, number)?;
        Ok(number)
    }
}

/// Bytes that are equal for calls with equal structure and constants.
pub(super) struct Signature<'a> {
    pub(super) bytes: Vec<u8>,
    objects: &'a Objects,
    unhashable: Unhashable,
    /// In modules: the numbers of the array objects so far, by address. Two of them may be one, as tied weights are.
    module_arrays: Option<HashMap<usize, u32>>,
}

impl<'a> Signature<'a> {
    pub(super) fn new(objects: &'a Objects) -> Signature<'a> {
        Signature {
            bytes: Vec::with_capacity(64),
            objects,
            unhashable: Unhashable::Refused,
            module_arrays: None,
        }
    }

    /// Append a tag, a length and bytes: an unambiguous encoding.
    fn put(&mut self, kind: u8, bytes: &[u8]) {
        self.bytes.push(kind);
        self.bytes.extend((bytes.len() as u32).to_le_bytes());
        self.bytes.extend(bytes);
    }

    fn begin(&mut self, kind: u8, count: usize) {
        self.bytes.push(kind);
        self.bytes.extend((count as u32).to_le_bytes());
    }

    /// Append the encoding that [`Signature::tree`] gives for a call with `count` positional arrays.
    pub(super) fn arrays(&mut self, count: usize) {
        self.begin(b'(', 2);
        self.begin(b'(', count);
        self.bytes.resize(self.bytes.len() + count, b'a');
        self.begin(b'{', 0);
    }

    /// The structure of a tree, and its leaves other than arrays.
    pub(super) fn tree(&mut self, py: Python<'_>, tree: &Pytree) -> PyResult<()> {
        match tree {
            Pytree::Array(_) => self.bytes.push(b'a'),
            Pytree::Other(value) => self.value(value.bind(py), 0)?,
            Pytree::List(items, like) => {
                self.begin(b'[', items.len());
                self.instance(py, like.as_ref())?;
                items.iter().try_for_each(|item| self.tree(py, item))?;
            }
            Pytree::Tuple(items, class) => {
                self.begin(b'(', items.len());
                if let Some(class) = class {
                    self.object(class.bind(py))?;
                }
                items.iter().try_for_each(|item| self.tree(py, item))?;
            }
            Pytree::Node(items, node) => {
                self.begin(b'*', items.len());
                self.node(py, node)?;
                items.iter().try_for_each(|item| self.tree(py, item))?;
            }
            Pytree::Dict(items, like) => {
                self.begin(b'{', items.len());
                self.instance(py, like.as_ref())?;
                for (key, item) in items {
                    self.value(key.bind(py), 0)?;
                    self.tree(py, item)?;
                }
            }
        }
        Ok(())
    }

    /// The class and the auxiliary data of a node.
    pub(super) fn node(&mut self, py: Python<'_>, node: &Node) -> PyResult<()> {
        self.object(node.class(py).as_any())?;
        self.value(node.auxiliary(py), 0)
    }

    /// The class and the attributes of an instance of a subclass of list or dict, such as a module and its mode.
    ///
    /// Attributes without a hash are identified by their identity.
    pub(super) fn instance(&mut self, py: Python<'_>, instance: Option<&Py<PyAny>>) -> PyResult<()> {
        let Some(instance) = instance else { return Ok(()) };
        let instance = instance.bind(py);
        self.object(instance.get_type().as_any())?;
        self.unhashable = Unhashable::ByIdentity;
        let result = self.attributes(instance);
        self.unhashable = Unhashable::Refused;
        result
    }

    fn attributes(&mut self, instance: &Bound<'_, PyAny>) -> PyResult<()> {
        let py = instance.py();
        // The only state of a `defaultdict` besides its items.
        if let Some(factory) = instance.getattr_opt(intern!(py, "default_factory"))? {
            self.value(&factory, 0)?;
        }
        let Some(attributes) = instance.getattr_opt(intern!(py, "__dict__"))? else { return Ok(()) };
        let attributes = attributes.cast_into::<PyDict>()?;
        self.begin(b'.', attributes.len());
        for (name, value) in attributes {
            self.value(&name, 0)?;
            self.value(&value, 0)?;
        }
        Ok(())
    }

    /// From here on the state is that of modules, of which everything is compared.
    pub(super) fn enter_modules(&mut self) {
        self.bytes.push(b'M');
        self.module_arrays = Some(HashMap::new());
    }

    pub(super) fn is_in_modules(&self) -> bool {
        self.module_arrays.is_some()
    }

    /// Append which array object of the modules this is.
    pub(super) fn state_array(&mut self, object: &Bound<'_, PyArray>) {
        if let Some(known) = &mut self.module_arrays {
            let next = known.len() as u32;
            let number = *known.entry(object.as_ptr() as usize).or_insert(next);
            self.bytes.extend(number.to_le_bytes());
        }
    }

    /// Append the class and the attributes of a container in a module. Those of a node are in its auxiliary data.
    pub(super) fn state_container(&mut self, container: &Bound<'_, PyAny>) -> PyResult<()> {
        let is_exact = container.is_exact_instance_of::<PyDict>()
            || container.is_exact_instance_of::<PyList>()
            || Node::is_registered(container);
        if self.is_in_modules() && !is_exact && is_container(container) {
            return self.instance(container.py(), Some(&container.clone().unbind()));
        }
        Ok(())
    }

    /// Append a leaf in a module that is not an array.
    pub(super) fn state_leaf(&mut self, leaf: &Bound<'_, PyAny>) -> PyResult<()> {
        if !self.is_in_modules() {
            return Ok(());
        }
        self.unhashable = Unhashable::ByIdentity;
        let result = self.value(leaf, 0);
        self.unhashable = Unhashable::Refused;
        result
    }

    /// Append the encoding of a constant. Long, since it has a branch for each kind.
    pub(super) fn value(&mut self, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<()> {
        if let Ok(text) = value.cast_exact::<PyString>() {
            // Text with lone surrogates has no UTF-8, but it has a hash.
            return match text.to_cow() {
                Ok(text) => {
                    self.put(b's', text.as_bytes());
                    Ok(())
                }
                Err(_) => self.object(value),
            };
        }
        check_depth(depth)?;
        if value.is_none() {
            self.bytes.push(b'N');
        } else if let Ok(boolean) = value.cast_exact::<PyBool>() {
            self.put(b'b', &[u8::from(boolean.is_true())]);
        } else if value.is_exact_instance_of::<PyInt>() {
            match value.extract::<i64>() {
                Ok(number) => self.put(b'i', &number.to_le_bytes()),
                Err(_) => self.object(value)?,
            }
        } else if let Ok(number) = value.cast_exact::<PyFloat>() {
            self.put(b'f', &number.extract::<f64>()?.to_bits().to_le_bytes());
        } else if value.is_exact_instance_of::<PyComplex>() {
            for name in ["real", "imag"] {
                self.put(b'c', &value.getattr(name)?.extract::<f64>()?.to_bits().to_le_bytes());
            }
        } else if let Ok(bytes) = value.cast_exact::<PyBytes>() {
            self.put(b'y', bytes.as_bytes());
        } else if value.is_instance_of::<PyArray>() {
            return Err(PyTypeError::new_err(
                "[compile] arrays inside objects cannot be traced; pass them in lists, tuples, dicts, or classes that \
                 umber.utils.register_tree_node knows",
            ));
        } else if let Ok(slice) = value.cast_exact::<PySlice>() {
            self.bytes.push(b':');
            for name in ["start", "stop", "step"] {
                self.value(&slice.getattr(name)?, depth + 1)?;
            }
        } else if value.is_exact_instance_of::<PyTuple>() || value.is_exact_instance_of::<PyList>() {
            self.begin(if value.is_instance_of::<PyTuple>() { b'(' } else { b'[' }, value.len()?);
            for item in value.try_iter()? {
                self.value(&item?, depth + 1)?;
            }
        } else if let Ok(dict) = value.cast_exact::<PyDict>() {
            self.begin(b'{', dict.len());
            for (key, item) in dict.iter() {
                self.value(&key, depth + 1)?;
                self.value(&item, depth + 1)?;
            }
        } else if value.is_exact_instance_of::<PySet>() || value.is_exact_instance_of::<PyFrozenSet>() {
            self.set(value, depth)?;
        } else if let Some(fields) = dataclass_fields(value) {
            self.object(value.get_type().as_any())?;
            self.begin(b'd', fields.len());
            for name in fields.keys() {
                self.value(&value.getattr(name.cast::<PyString>()?)?, depth + 1)?;
            }
        } else if is_numpy_scalar(value) {
            // By bytes: equal values may differ in the sign of zero, and NaN does not equal itself.
            self.object(value.get_type().as_any())?;
            self.put(b'n', value.call_method0("tobytes")?.cast::<PyBytes>()?.as_bytes());
        } else {
            self.object(value)?;
        }
        Ok(())
    }

    /// Append the members in sorted order.
    fn set(&mut self, value: &Bound<'_, PyAny>, depth: usize) -> PyResult<()> {
        let mut members: Vec<Vec<u8>> = Vec::new();
        for item in value.try_iter()? {
            let mut member = Signature { unhashable: self.unhashable, ..Signature::new(self.objects) };
            member.value(&item?, depth + 1)?;
            members.push(member.bytes);
        }
        members.sort();
        self.begin(b'u', members.len());
        for member in members {
            self.put(b'm', &member);
        }
        Ok(())
    }

    fn object(&mut self, value: &Bound<'_, PyAny>) -> PyResult<()> {
        let number = self.objects.number(value, self.unhashable)?;
        self.put(b'o', &number.to_le_bytes());
        Ok(())
    }
}

/// The fields of a dataclass instance, which identify it even without a hash.
fn dataclass_fields<'py>(value: &Bound<'py, PyAny>) -> Option<Bound<'py, PyDict>> {
    if value.is_instance_of::<PyType>() {
        return None;
    }
    value.get_type().getattr("__dataclass_fields__").ok()?.cast_into::<PyDict>().ok()
}

/// Whether `value` is a NumPy scalar.
fn is_numpy_scalar(value: &Bound<'_, PyAny>) -> bool {
    let class = value.get_type();
    class.module().is_ok_and(|module| module == "numpy")
        && class.hasattr("itemsize").unwrap_or(false)
        && class.hasattr("__array_struct__").unwrap_or(false)
        && value.hash().is_ok()
}
