//! Which library calls, where the protocol does not say: NumPy asks for a buffer exactly as `memoryview` does.

use std::ffi::{CStr, c_int, c_void};
use std::ptr;

/// Frames of the interpreter between NumPy's call of `PyMemoryView_FromObject` and the class's own function, at most.
const MAX_INTERPRETER_FRAMES: usize = 4;

/// Frames of NumPy's in a row where it makes an array of an object, at least; `frombuffer`, which takes bytes, has two.
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

/// What has been seen of the stack, from its top.
struct Walk {
    /// Where this library is in memory.
    own: *mut c_void,
    /// Frames of the interpreter behind those of this library.
    between: usize,
    /// Frames of NumPy's behind those.
    inside: usize,
}

/// The library that an address lies in: where it begins, and its file.
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

/// Is NumPy making an array of an object, by a function of the interpreter that called this library?
#[cold]
pub(super) fn is_numpy_converting() -> bool {
    let Some(library) = library_at(look as *const () as usize) else { return false };
    let mut walk = Walk { own: library.dli_fbase, between: 0, inside: 0 };
    // SAFETY: `look` unwinds nothing itself and leaves nothing to drop; `walk` outlives the call.
    unsafe { _Unwind_Backtrace(look, (&raw mut walk).cast()) };
    walk.inside == MIN_NUMPY_FRAMES
}
