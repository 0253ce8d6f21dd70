//! Detect NumPy as the native caller: it requests a buffer exactly as `memoryview` does.

use std::ffi::{CStr, c_int, c_void};
use std::ptr;

/// Maximum number of interpreter frames between NumPy's call of `PyMemoryView_FromObject` and this class's function.
const MAX_INTERPRETER_FRAMES: usize = 4;

/// Minimum number of consecutive NumPy frames when it converts an object; `frombuffer`, which takes bytes, has two.
const MIN_NUMPY_FRAMES: usize = 3;

/// The unwinder goes on to the next frame.
const NEXT: c_int = 0;
/// The unwinder stops.
const STOP: c_int = 4;

unsafe extern "C" {
    fn _Unwind_Backtrace(
        frame: extern "C" fn(context: *mut c_void, walk: *mut c_void) -> c_int,
        walk: *mut c_void,
    ) -> c_int;
    fn _Unwind_GetIP(context: *mut c_void) -> usize;
}

/// State of the stack walk, from the top.
struct Walk {
    /// Base address of this library.
    own: *mut c_void,
    /// Number of interpreter frames below those of this library.
    between: usize,
    /// Number of NumPy frames below those.
    inside: usize,
}

/// The library that contains an address: its base and its file.
fn library_at(address: usize) -> Option<libc::Dl_info> {
    let mut found = libc::Dl_info {
        dli_fname: ptr::null(),
        dli_fbase: ptr::null_mut(),
        dli_sname: ptr::null(),
        dli_saddr: ptr::null_mut(),
    };
    // SAFETY: any address may be asked for; `found` is written where one is known.
    let is_known = unsafe { libc::dladdr(address as *const c_void, &raw mut found) } != 0;
    is_known.then_some(found)
}

extern "C" fn look(context: *mut c_void, walk: *mut c_void) -> c_int {
    // SAFETY: the unwinder passes the context of a frame, and on what `is_numpy_converting` gave it.
    let (walk, address) = unsafe { (&mut *walk.cast::<Walk>(), _Unwind_GetIP(context)) };
    let Some(library) = library_at(address) else { return STOP };
    if library.dli_fbase == walk.own {
        return NEXT;
    }
    // SAFETY: the loader keeps the names of its libraries.
    let file = unsafe { CStr::from_ptr(library.dli_fname) };
    if file.to_string_lossy().contains("_multiarray_umath") {
        walk.inside += 1;
        return if walk.inside < MIN_NUMPY_FRAMES { NEXT } else { STOP };
    }
    walk.between += 1;
    if walk.inside > 0 || walk.between > MAX_INTERPRETER_FRAMES { STOP } else { NEXT }
}

/// Whether this library is called by NumPy, through the interpreter, to convert an object to an array.
#[cold]
pub(super) fn is_numpy_converting() -> bool {
    let Some(library) = library_at(look as *const () as usize) else { return false };
    let mut walk = Walk { own: library.dli_fbase, between: 0, inside: 0 };
    // SAFETY: `look` unwinds nothing itself and leaves nothing to drop; `walk` outlives the call.
    unsafe { _Unwind_Backtrace(look, (&raw mut walk).cast()) };
    walk.inside == MIN_NUMPY_FRAMES
}
