//! Every function and method of the module is entered through here, so that an exception it raises leaves in umber's
//! form: `[op] what was wrong, got what, expected what`.
//!
//! Whoever reads Python's arguments knows neither the name of the function nor, where Python itself converts, what was
//! expected; and a function made of others would speak with their names. Both are put right on the way out, for all
//! functions alike: [`guard`] puts a trampoline of its own before each. A call that succeeds pays for two jumps and a
//! load. The texts themselves are made in `error_text.rs`.
//!
//! Invariant: a trampoline reaches the interpreter only after its entry was filled, and an entry is never changed.

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

/// An original function, and what is said about it where it fails.
struct Entry<F> {
    original: F,
    info: FunctionInfo,
}

/// The entries of trampolines of one calling convention, and how many are taken.
struct Entries<F: 'static, const N: usize> {
    list: [OnceLock<Entry<F>>; N],
    taken: AtomicUsize,
}

impl<F, const N: usize> Entries<F, N> {
    const fn new() -> Self {
        Entries { list: [const { OnceLock::new() }; N], taken: AtomicUsize::new(0) }
    }

    /// The number of a new entry.
    fn add(&self, original: F, info: FunctionInfo) -> PyResult<usize> {
        let number = self.taken.fetch_add(1, Ordering::Relaxed);
        match self.list.get(number) {
            Some(place) if place.set(Entry { original, info }).is_ok() => Ok(number),
            Some(_) | None => Err(PyRuntimeError::new_err(
                "more functions than trampolines: error_trampolines.rs needs more rows",
            )),
        }
    }

    #[inline(always)]
    fn get(&self, number: usize) -> &Entry<F> {
        // SAFETY: asked only by trampolines, whose entries are filled (module invariant).
        unsafe { self.list[number].get().unwrap_unchecked() }
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

// A trampoline only says which entry is its own: what follows is the same for all, and stands once.

unsafe extern "C" fn bare<const N: usize>(
    own: *mut PyObject,
    arguments: *const *mut PyObject,
    count: isize,
    names: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: called by whoever called the trampoline.
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
    // SAFETY: the interpreter calls as the flags in `guarded` say, holding its lock.
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
    // SAFETY: called by whoever called the trampoline.
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
    // SAFETY: called as the original would be.
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
    // SAFETY: called by whoever called the trampoline.
    unsafe { call_open(own, arguments, named, OPEN.get(N)) }
}

#[inline(never)]
unsafe extern "C" fn call_open(
    own: *mut PyObject,
    arguments: *mut PyObject,
    named: *mut PyObject,
    entry: &Entry<Open>,
) -> *mut PyObject {
    // SAFETY: called as the original would be.
    unsafe {
        let output = (entry.original)(own, arguments, named);
        if output.is_null() {
            rewrite_error(&entry.info, CallArgs::open(arguments, named));
        }
        output
    }
}

/// What a class is called by: its maker, which takes the class where functions take what they belong to.
unsafe extern "C" fn make<const N: usize>(
    _own: *mut PyObject,
    arguments: *mut PyObject,
    named: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: called by whoever called the trampoline.
    unsafe { call_make(arguments, named, MAKE.get(N)) }
}

#[inline(never)]
unsafe extern "C" fn call_make(
    arguments: *mut PyObject,
    named: *mut PyObject,
    entry: &Entry<Open>,
) -> *mut PyObject {
    // SAFETY: called as `__new__`, whose first argument is the class.
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

/// What a class without a maker is called by. Its objects come from functions.
unsafe extern "C" fn refuse(
    _own: *mut PyObject,
    arguments: *mut PyObject,
    _named: *mut PyObject,
) -> *mut PyObject {
    // SAFETY: the interpreter calls it as `__new__`, holding its lock, with a tuple whose first item is the class.
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

/// The definition of a function whose calls go through a trampoline to `original`; `None` where it is called in a way
/// that PyO3 does not use. It lives as long as the program, as its function may.
///
/// # Safety
/// `original` is a function that the interpreter calls as `flags` say.
unsafe fn guarded(
    original: *const (),
    flags: c_int,
    name: *const std::ffi::c_char,
    doc: *const std::ffi::c_char,
) -> PyResult<Option<*mut ffi::PyMethodDef>> {
    // SAFETY: names of functions are NUL-terminated and live as long as the program.
    let text = |text: *const std::ffi::c_char| unsafe {
        if text.is_null() { String::new() } else { CStr::from_ptr(text).to_string_lossy().into_owned() }
    };
    let info = FunctionInfo::new(text(name), &text(doc));
    // SAFETY: the flags say which type of function it is.
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

/// A text of Python's, kept as long as the program.
fn kept(text: String) -> PyResult<*const std::ffi::c_char> {
    Ok(CString::new(text)?.into_raw())
}

/// What goes before a function that programs call so often that the way into it shows.
enum FastPath {
    Fast(fn(Fast) -> Fast),
    Bare(fn(Bare) -> Bare),
}

/// Of functions of the module.
fn of_function(name: &str) -> Option<FastPath> {
    (name == "eval").then_some(FastPath::Fast(before_eval))
}

/// Of methods of `array`.
fn of_method(name: &str) -> Option<FastPath> {
    match name {
        "__dlpack__" => Some(FastPath::Fast(before_dlpack)),
        "item" => Some(FastPath::Bare(before_item)),
        _ => None,
    }
}

/// A function behind its shortcut.
///
/// # Safety
/// `original` is a function that the interpreter calls as `flags` say.
unsafe fn shortened(original: *const (), flags: c_int, shortcut: Option<FastPath>) -> *const () {
    match shortcut {
        Some(FastPath::Fast(before)) if flags == FAST_FLAGS => {
            // SAFETY: the flags say which type of function it is.
            before(unsafe { transmute::<*const (), Fast>(original) }) as *const ()
        }
        Some(FastPath::Bare(before)) if flags == ffi::METH_NOARGS => {
            // SAFETY: as above.
            before(unsafe { transmute::<*const (), Bare>(original) }) as *const ()
        }
        Some(_) | None => original,
    }
}

/// The function that goes through a trampoline.
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
    let shortcut = of_function(&name);
    let (name, doc) = (kept(name)?, kept(doc)?);
    // SAFETY: a function object tells its C function, how it is called, and what it belongs to (which may be nothing).
    unsafe {
        let Some(original) = ffi::PyCFunction_GetFunction(function.as_ptr()) else { return Ok(None) };
        let flags = ffi::PyCFunction_GetFlags(function.as_ptr());
        let own = ffi::PyCFunction_GetSelf(function.as_ptr());
        let original = shortened(original as *const (), flags, shortcut);
        let Some(definition) = guarded(original, flags, name, doc)? else { return Ok(None) };
        let made = ffi::PyCFunction_NewEx(definition, own, module.as_ptr());
        Bound::from_owned_ptr_or_err(py, made).map(Some)
    }
}

/// Methods that others call for protocols, and that read arguments. Those of NumPy's functions speak of these instead.
const PROTOCOLS: [&str; 3] = ["__array__", "__dlpack__", "__setstate__"];

/// Put trampolines before the public methods of a class.
fn guard_methods(class: &Bound<'_, PyType>) -> PyResult<()> {
    let py = class.py();
    // SAFETY: a class made from a specification, as PyO3's are, keeps its list of methods; the last has no name.
    let mut definition: *const ffi::PyMethodDef =
        unsafe { ffi::PyType_GetSlot(class.as_type_ptr(), ffi::Py_tp_methods) }.cast();
    if definition.is_null() {
        return Ok(());
    }
    loop {
        // SAFETY: not beyond the last, as above.
        let method = unsafe { *definition };
        if method.ml_name.is_null() {
            return Ok(());
        }
        // SAFETY: names are NUL-terminated and live as long as the class.
        let name = unsafe { CStr::from_ptr(method.ml_name) }.to_string_lossy();
        if !name.starts_with('_') || PROTOCOLS.contains(&&*name) {
            let shortcut = of_method(&name).filter(|_| class.is(py.get_type::<PyArray>()));
            let original = method.ml_meth.as_ptr().cast_const().cast();
            // SAFETY: the definition tells its function and how it is called; static and class methods have flags of
            // their own and are left alone.
            unsafe {
                let original = shortened(original, method.ml_flags, shortcut);
                if let Some(made) = guarded(original, method.ml_flags, method.ml_name, method.ml_doc)? {
                    let descriptor = ffi::PyDescr_NewMethod(class.as_type_ptr(), made);
                    class.setattr(&*name, Bound::from_owned_ptr_or_err(py, descriptor)?)?;
                }
            }
        }
        // SAFETY: this one had a name, so that there is another after it.
        definition = unsafe { definition.add(1) };
    }
}

/// Put a trampoline before what makes objects of a class. `array` reads its arguments itself, since going through
/// `__new__` would cost every array made of a number.
fn guard_maker(class: &Bound<'_, PyType>) -> PyResult<()> {
    let py = class.py();
    let name: String = class.getattr("__name__")?.extract()?;
    let signature: Option<String> = class.getattr("__text_signature__")?.extract()?;
    // SAFETY: a slot for making objects is empty or such a function.
    let original = unsafe { ffi::PyType_GetSlot(class.as_type_ptr(), ffi::Py_tp_new) };
    let call: Open = if original.is_null() {
        refuse
    } else {
        let Some(signature) = signature else { return Ok(()) };
        if class.is(py.get_type::<PyArray>()) {
            return Ok(());
        }
        let doc = format!("{name}{signature}\n--\n\n");
        // SAFETY: as above; makers are called with the class, a tuple and a dict or nothing.
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
    // SAFETY: the definition lives as long as the program.
    let made = unsafe {
        Bound::from_owned_ptr_or_err(
            py,
            ffi::PyCFunction_NewEx(definition, class.as_ptr(), std::ptr::null_mut()),
        )?
    };
    class.setattr("__new__", made)
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
            // A function that two modules have stays one.
            let address = value.as_ptr() as usize;
            let made = match done.entry(address) {
                hash_map::Entry::Occupied(known) => known.into_mut(),
                hash_map::Entry::Vacant(place) => place.insert(guard_function(function)?),
            };
            if let Some(made) = &*made {
                module.dict().set_item(name, made)?;
            }
        } else if let Ok(class) = value.cast::<PyType>() {
            // Updates of `array.at[…]` are named after the indexing, whichever they are.
            if class.module()? == "umber.core" && name.extract::<String>()? != "ArrayAt" {
                guard_methods(class)?;
                guard_maker(class)?;
            }
        } else if let Ok(inner) = value.cast::<PyModule>() {
            guard_module(inner, done)?;
        }
    }
    Ok(())
}
