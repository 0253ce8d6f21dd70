//! Trampolines before every function and method of the module, which rewrite the messages of exceptions in umber's form:
//! `[op] the rule that was broken, the offending values`.
//!
//! The code that converts Python's arguments does not know the name of the function, and Python's own conversions do not name
//! the expected type; errors of a function that calls others would carry their names. [`guard`] corrects this for all
//! functions with one trampoline each. A call that succeeds costs two jumps and a load more. `error_text.rs` writes the
//! messages.
//!
//! Invariant: a trampoline is passed to the interpreter only after its entry was filled, and an entry is never changed.

use std::collections::{HashMap, hash_map};
use std::ffi::{CStr, CString, c_int};
use std::mem::transmute;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};

use pyo3::exceptions::{PyRuntimeError, PyTypeError};
use pyo3::ffi::{self, PyObject};
use pyo3::prelude::*;
use pyo3::types::{PyCFunction, PyType};

use crate::array::{PyArray, before_item};
use crate::error_text::{CallArgs, FunctionInfo, rewrite_error};
use crate::interop::before_dlpack;
use crate::transforms::eval::before_eval;

/// An original function, and its description for messages.
struct Entry<F> {
    original: F,
    info: FunctionInfo,
}

/// The entries of trampolines of one calling convention, and the number of used ones.
struct Entries<F: 'static, const N: usize> {
    list: [OnceLock<Entry<F>>; N],
    used: AtomicUsize,
}

impl<F, const N: usize> Entries<F, N> {
    const fn new() -> Self {
        Entries { list: [const { OnceLock::new() }; N], used: AtomicUsize::new(0) }
    }

    /// Add an entry and return its index.
    fn add(&self, original: F, info: FunctionInfo) -> PyResult<usize> {
        let index = self.used.fetch_add(1, Ordering::Relaxed);
        match self.list.get(index) {
            Some(slot) if slot.set(Entry { original, info }).is_ok() => Ok(index),
            Some(_) | None => Err(PyRuntimeError::new_err(
                "more functions than trampolines: error_trampolines.rs needs more rows",
            )),
        }
    }

    #[inline(always)]
    fn get(&self, index: usize) -> &Entry<F> {
        // SAFETY: called only by trampolines, whose entries are filled (module invariant).
        unsafe { self.list[index].get().unwrap_unchecked() }
    }
}

/// Functions without parameters.
type Bare = ffi::PyCFunction;
/// Functions of positional and keyword arguments.
type Fast = ffi::PyCFunctionFastWithKeywords;
/// Functions of any keyword arguments.
type Open = ffi::PyCFunctionWithKeywords;

static BARE: Entries<Bare, 256> = Entries::new();
static FAST: Entries<Fast, 2048> = Entries::new();
static OPEN: Entries<Open, 256> = Entries::new();
static MAKE: Entries<Open, 64> = Entries::new();

// A trampoline only selects its entry. The rest is one function for all of them, so that it is compiled once.

unsafe extern "C" fn bare<const N: usize>(
    own: *mut PyObject,
    arguments: *const *mut PyObject,
    count: isize,
    names: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: the arguments are those of this call by the interpreter.
    unsafe { call_bare(own, arguments, count, names, BARE.get(N)) }
}

#[inline(never)]
unsafe extern "C" fn call_bare(
    own: *mut PyObject,
    arguments: *const *mut PyObject,
    count: isize,
    names: *mut PyObject,
    entry: &Entry<Bare>,
) -> *mut PyObject {
    // SAFETY: the interpreter calls with the flags that `guarded` set, holding the GIL.
    unsafe {
        if count > 0 || !names.is_null() {
            ffi::PyErr_SetString(ffi::PyExc_TypeError, c"takes no arguments".as_ptr());
            rewrite_error(&entry.info, CallArgs::fast(arguments, count, names));
            return std::ptr::null_mut();
        }
        let output = (entry.original)(own, std::ptr::null_mut());
        if output.is_null() {
            rewrite_error(&entry.info, CallArgs::fast(arguments, count, names));
        }
        output
    }
}

unsafe extern "C" fn fast<const N: usize>(
    own: *mut PyObject,
    arguments: *const *mut PyObject,
    count: isize,
    names: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: the arguments are those of this call by the interpreter.
    unsafe { call_fast(own, arguments, count, names, FAST.get(N)) }
}

#[inline(never)]
unsafe extern "C" fn call_fast(
    own: *mut PyObject,
    arguments: *const *mut PyObject,
    count: isize,
    names: *mut PyObject,
    entry: &Entry<Fast>,
) -> *mut PyObject {
    // SAFETY: the interpreter calls the trampoline with the calling convention of the original.
    unsafe {
        let output = (entry.original)(own, arguments, count, names);
        if output.is_null() {
            rewrite_error(&entry.info, CallArgs::fast(arguments, count, names));
        }
        output
    }
}

unsafe extern "C" fn open<const N: usize>(
    own: *mut PyObject,
    arguments: *mut PyObject,
    named: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: the arguments are those of this call by the interpreter.
    unsafe { call_open(own, arguments, named, OPEN.get(N)) }
}

#[inline(never)]
unsafe extern "C" fn call_open(
    own: *mut PyObject,
    arguments: *mut PyObject,
    named: *mut PyObject,
    entry: &Entry<Open>,
) -> *mut PyObject {
    // SAFETY: the interpreter calls the trampoline with the calling convention of the original.
    unsafe {
        let output = (entry.original)(own, arguments, named);
        if output.is_null() {
            rewrite_error(&entry.info, CallArgs::open(arguments, named));
        }
        output
    }
}

/// The trampoline of a class's `__new__`, which takes the class as its first argument instead of `self`.
unsafe extern "C" fn make<const N: usize>(
    _own: *mut PyObject,
    arguments: *mut PyObject,
    named: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: the arguments are those of this call by the interpreter.
    unsafe { call_make(arguments, named, MAKE.get(N)) }
}

#[inline(never)]
unsafe extern "C" fn call_make(
    arguments: *mut PyObject,
    named: *mut PyObject,
    entry: &Entry<Open>,
) -> *mut PyObject {
    // SAFETY: the interpreter calls it as `__new__`, whose first argument is the class.
    unsafe {
        let class = ffi::PyTuple_GetItem(arguments, 0);
        let rest = ffi::PyTuple_GetSlice(arguments, 1, isize::MAX);
        if class.is_null() || rest.is_null() {
            ffi::Py_XDECREF(rest);
            return std::ptr::null_mut();
        }
        let output = (entry.original)(class, rest, named);
        if output.is_null() {
            rewrite_error(&entry.info, CallArgs::open(rest, named));
        }
        ffi::Py_DECREF(rest);
        output
    }
}

/// The `__new__` of a class without one, whose objects are created by functions.
unsafe extern "C" fn refuse(
    _own: *mut PyObject,
    arguments: *mut PyObject,
    _named: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: the interpreter calls it as `__new__`, holding the GIL, with a tuple whose first item is the class.
    let (py, class) = unsafe {
        let py = Python::assume_attached();
        (py, Bound::from_borrowed_ptr_or_opt(py, ffi::PyTuple_GetItem(arguments, 0)))
    };
    let name = class.and_then(|class| class.getattr("__name__").ok()).map(|name| name.to_string());
    PyTypeError::new_err(format!(
        "[{}] this class cannot be instantiated directly",
        name.unwrap_or_default()
    ))
    .restore(py);
    std::ptr::null_mut()
}

/// Sixteen instances of a trampoline a row.
macro_rules! trampolines {
    ($function:ident $($row:literal)*) => {
        [$(
            [
                $function::<{ $row * 16 }>, $function::<{ $row * 16 + 1 }>, $function::<{ $row * 16 + 2 }>,
                $function::<{ $row * 16 + 3 }>, $function::<{ $row * 16 + 4 }>, $function::<{ $row * 16 + 5 }>,
                $function::<{ $row * 16 + 6 }>, $function::<{ $row * 16 + 7 }>, $function::<{ $row * 16 + 8 }>,
                $function::<{ $row * 16 + 9 }>, $function::<{ $row * 16 + 10 }>, $function::<{ $row * 16 + 11 }>,
                $function::<{ $row * 16 + 12 }>, $function::<{ $row * 16 + 13 }>, $function::<{ $row * 16 + 14 }>,
                $function::<{ $row * 16 + 15 }>,
            ]
        ),*]
    };
}

static BARE_CALLS: [[Fast; 16]; 16] = trampolines!(bare 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
static OPEN_CALLS: [[Open; 16]; 16] = trampolines!(open 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15);
static MAKE_CALLS: [[Open; 16]; 4] = trampolines!(make 0 1 2 3);
static FAST_CALLS: [[Fast; 16]; 128] = trampolines!(fast
    0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20 21 22 23 24 25 26 27 28 29 30 31
    32 33 34 35 36 37 38 39 40 41 42 43 44 45 46 47 48 49 50 51 52 53 54 55 56 57 58 59 60 61 62 63
    64 65 66 67 68 69 70 71 72 73 74 75 76 77 78 79 80 81 82 83 84 85 86 87 88 89 90 91 92 93 94 95
    96 97 98 99 100 101 102 103 104 105 106 107 108 109 110 111 112 113 114 115 116 117 118 119 120 121
    122 123 124 125 126 127);

const FAST_FLAGS: c_int = ffi::METH_FASTCALL | ffi::METH_KEYWORDS;
const OPEN_FLAGS: c_int = ffi::METH_VARARGS | ffi::METH_KEYWORDS;

/// The definition of a function that calls `original` through a trampoline; `None` for a calling convention that PyO3 does not
/// use. It is leaked, because its function may live as long as the process.
///
/// # Safety
/// `original` is a function with the calling convention of `flags`.
unsafe fn guarded(
    original: *const (),
    flags: c_int,
    name: *const std::ffi::c_char,
    doc: *const std::ffi::c_char,
) -> PyResult<Option<*mut ffi::PyMethodDef>> {
    // SAFETY: names of functions are NUL-terminated and live as long as the process.
    let text = |text: *const std::ffi::c_char| unsafe {
        if text.is_null() { String::new() } else { CStr::from_ptr(text).to_string_lossy().into_owned() }
    };
    let info = FunctionInfo::new(text(name), &text(doc));
    // SAFETY: the flags determine the type of the function.
    let (call, flags) = unsafe {
        match flags {
            FAST_FLAGS => {
                let number = FAST.add(transmute::<*const (), Fast>(original), info)?;
                let call = FAST_CALLS[number / 16][number % 16];
                (ffi::PyMethodDefPointer { PyCFunctionFastWithKeywords: call }, FAST_FLAGS)
            }
            OPEN_FLAGS => {
                let number = OPEN.add(transmute::<*const (), Open>(original), info)?;
                let call = OPEN_CALLS[number / 16][number % 16];
                (ffi::PyMethodDefPointer { PyCFunctionWithKeywords: call }, OPEN_FLAGS)
            }
            ffi::METH_NOARGS => {
                let number = BARE.add(transmute::<*const (), Bare>(original), info)?;
                let call = BARE_CALLS[number / 16][number % 16];
                (ffi::PyMethodDefPointer { PyCFunctionFastWithKeywords: call }, FAST_FLAGS)
            }
            _ => return Ok(None),
        }
    };
    let definition = ffi::PyMethodDef { ml_name: name, ml_meth: call, ml_flags: flags, ml_doc: doc };
    Ok(Some(Box::into_raw(Box::new(definition))))
}

/// A C string that is leaked, for definitions that live as long as the process.
fn leak_c_string(text: String) -> PyResult<*const std::ffi::c_char> {
    Ok(CString::new(text)?.into_raw())
}

/// A fast path before a function that is called so often that the cost of parsing its arguments matters.
enum FastPath {
    Fast(fn(Fast) -> Fast),
    Bare(fn(Bare) -> Bare),
}

/// The fast path of a function of the module.
fn of_function(name: &str) -> Option<FastPath> {
    (name == "eval").then_some(FastPath::Fast(before_eval))
}

/// The fast path of a method of `array`.
fn of_method(name: &str) -> Option<FastPath> {
    match name {
        "__dlpack__" => Some(FastPath::Fast(before_dlpack)),
        "item" => Some(FastPath::Bare(before_item)),
        _ => None,
    }
}

/// Put the fast path, if any, before a function.
///
/// # Safety
/// `original` is a function with the calling convention of `flags`.
unsafe fn with_fast_path(original: *const (), flags: c_int, fast_path: Option<FastPath>) -> *const () {
    match fast_path {
        Some(FastPath::Fast(before)) if flags == FAST_FLAGS => {
            // SAFETY: the flags determine the type of the function.
            before(unsafe { transmute::<*const (), Fast>(original) }) as *const ()
        }
        Some(FastPath::Bare(before)) if flags == ffi::METH_NOARGS => {
            // SAFETY: the flags determine the type of the function.
            before(unsafe { transmute::<*const (), Bare>(original) }) as *const ()
        }
        Some(_) | None => original,
    }
}

/// A function object that calls `function` through a trampoline.
fn guard_function<'py>(function: &Bound<'py, PyCFunction>) -> PyResult<Option<Bound<'py, PyAny>>> {
    let py = function.py();
    let name: String = function.getattr("__name__")?.extract()?;
    let doc: Option<String> = function.getattr("__doc__")?.extract()?;
    let signature: Option<String> = function.getattr("__text_signature__")?.extract()?;
    let doc = match signature {
        Some(signature) => format!("{name}{signature}\n--\n\n{}", doc.unwrap_or_default()),
        None => doc.unwrap_or_default(),
    };
    let module = function.getattr("__module__")?;
    let fast_path = of_function(&name);
    let (name, doc) = (leak_c_string(name)?, leak_c_string(doc)?);
    // SAFETY: a builtin function object has a C function, flags and a `self`, which may be null.
    unsafe {
        let Some(original) = ffi::PyCFunction_GetFunction(function.as_ptr()) else { return Ok(None) };
        let flags = ffi::PyCFunction_GetFlags(function.as_ptr());
        let self_object = ffi::PyCFunction_GetSelf(function.as_ptr());
        let original = with_fast_path(original as *const (), flags, fast_path);
        let Some(definition) = guarded(original, flags, name, doc)? else { return Ok(None) };
        let guarded_function = ffi::PyCFunction_NewEx(definition, self_object, module.as_ptr());
        Bound::from_owned_ptr_or_err(py, guarded_function).map(Some)
    }
}

/// Protocol methods that other libraries call and that take arguments. `__array_ufunc__` and `__array_function__` are excluded:
/// their errors name the NumPy function.
const PROTOCOLS: [&str; 3] = ["__array__", "__dlpack__", "__setstate__"];

/// Put trampolines before the public methods of a class.
fn guard_methods(class: &Bound<'_, PyType>) -> PyResult<()> {
    let py = class.py();
    // SAFETY: a heap type created from a specification, as PyO3's are, keeps its method list, which ends with a null name.
    let mut definition: *const ffi::PyMethodDef =
        unsafe { ffi::PyType_GetSlot(class.as_type_ptr(), ffi::Py_tp_methods) }.cast();
    if definition.is_null() {
        return Ok(());
    }
    loop {
        // SAFETY: `definition` is not beyond the terminating entry.
        let method = unsafe { *definition };
        if method.ml_name.is_null() {
            return Ok(());
        }
        // SAFETY: names are NUL-terminated and live as long as the class.
        let name = unsafe { CStr::from_ptr(method.ml_name) }.to_string_lossy();
        if !name.starts_with('_') || PROTOCOLS.contains(&&*name) {
            let fast_path = of_method(&name).filter(|_| class.is(py.get_type::<PyArray>()));
            let original = method.ml_meth.as_ptr().cast_const().cast();
            // SAFETY: the definition has the function and its flags; static and class methods have other flags, which
            // `guarded` rejects.
            unsafe {
                let original = with_fast_path(original, method.ml_flags, fast_path);
                if let Some(wrapper) = guarded(original, method.ml_flags, method.ml_name, method.ml_doc)? {
                    let descriptor = ffi::PyDescr_NewMethod(class.as_type_ptr(), wrapper);
                    class.setattr(&*name, Bound::from_owned_ptr_or_err(py, descriptor)?)?;
                }
            }
        }
        // SAFETY: this entry had a name, so another entry follows it.
        definition = unsafe { definition.add(1) };
    }
}

/// Put a trampoline before the `__new__` of a class. `array` is excluded, since its calls with a number are
/// performance-critical; it rewrites its errors itself.
fn guard_constructor(class: &Bound<'_, PyType>) -> PyResult<()> {
    let py = class.py();
    let name: String = class.getattr("__name__")?.extract()?;
    let signature: Option<String> = class.getattr("__text_signature__")?.extract()?;
    // SAFETY: `tp_new` is null or a function of this type.
    let original = unsafe { ffi::PyType_GetSlot(class.as_type_ptr(), ffi::Py_tp_new) };
    let call: Open = if original.is_null() {
        refuse
    } else {
        let Some(signature) = signature else { return Ok(()) };
        if class.is(py.get_type::<PyArray>()) {
            return Ok(());
        }
        let doc = format!("{name}{signature}\n--\n\n");
        // SAFETY: `tp_new` is called with the class, a tuple, and a dict or null.
        let original = unsafe { transmute::<*mut std::ffi::c_void, Open>(original) };
        let number = MAKE.add(original, FunctionInfo::new(name, &doc))?;
        MAKE_CALLS[number / 16][number % 16]
    };
    let definition = Box::into_raw(Box::new(ffi::PyMethodDef {
        ml_name: c"__new__".as_ptr(),
        ml_meth: ffi::PyMethodDefPointer { PyCFunctionWithKeywords: call },
        ml_flags: OPEN_FLAGS,
        ml_doc: std::ptr::null(),
    }));
    // SAFETY: the definition is leaked, so it outlives the function.
    let constructor = unsafe {
        Bound::from_owned_ptr_or_err(
            py,
            ffi::PyCFunction_NewEx(definition, class.as_ptr(), std::ptr::null_mut()),
        )?
    };
    class.setattr("__new__", constructor)
}

/// Put trampolines before all functions of the module and its submodules, and before the methods of its classes.
pub(crate) fn guard(module: &Bound<'_, PyModule>) -> PyResult<()> {
    guard_module(module, &mut HashMap::new())
}

fn guard_module<'py>(
    module: &Bound<'py, PyModule>,
    done: &mut HashMap<usize, Option<Bound<'py, PyAny>>>,
) -> PyResult<()> {
    for (name, value) in module.dict() {
        if let Ok(function) = value.cast::<PyCFunction>() {
            // A function that two modules export stays one object.
            let address = value.as_ptr() as usize;
            let guarded = match done.entry(address) {
                hash_map::Entry::Occupied(known) => known.into_mut(),
                hash_map::Entry::Vacant(slot) => slot.insert(guard_function(function)?),
            };
            if let Some(guarded) = &*guarded {
                module.dict().set_item(name, guarded)?;
            }
        } else if let Ok(class) = value.cast::<PyType>() {
            // Errors of the update methods of `array.at[…]` name the indexing instead.
            if class.module()? == "umber.core" && name.extract::<String>()? != "ArrayAt" {
                guard_methods(class)?;
                guard_constructor(class)?;
            }
        } else if let Ok(inner) = value.cast::<PyModule>() {
            guard_module(inner, done)?;
        }
    }
    Ok(())
}
