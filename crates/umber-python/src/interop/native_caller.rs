//! Detect NumPy as the native caller: it requests a buffer exactly as `memoryview` does.

use std::ffi::{CStr, c_int, c_void};
use std::ptr;

/// Maximum number of interpreter frames between NumPy's call of `PyMemoryView_FromObject` and this class's function.
const MAX_INTERPRETER_FRAMES: usize = 4;

/// Minimum number of consecutive NumPy frames when it converts an object; `frombuffer`, which takes bytes, has two.
const MIN_NUMPY_FRAMES: usize = 3;

/// Return code that makes the unwinder continue with the next frame.
const NEXT: c_int = 0;
/// Return code that makes the unwinder stop.
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
    interpreter_frames: usize,
    /// Number of NumPy frames below those.
    numpy_frames: usize,
}

/// The library that contains an address: its base and its file.
fn library_at(address: usize) -> Option<libc::Dl_info> {
    let mut info = libc::Dl_info {
        dli_fname: ptr::null(),
        dli_fbase: ptr::null_mut(),
        dli_sname: ptr::null(),
        dli_saddr: ptr::null_mut(),
    };
    // SAFETY: `dladdr` accepts any address; `info` is written if a library contains it.
    let is_known = unsafe { libc::dladdr(address as *const c_void, &raw mut info) } != 0;
    is_known.then_some(info)
}

extern "C" fn visit_frame(context: *mut c_void, walk: *mut c_void) -> c_int {
    // SAFETY: the unwinder passes the context of a frame and the pointer that `is_numpy_converting` passed.
    let (walk, address) = unsafe { (&mut *walk.cast::<Walk>(), _Unwind_GetIP(context)) };
    let Some(library) = library_at(address) else { return STOP };
    if library.dli_fbase == walk.own {
        return NEXT;
    }
    // SAFETY: the loader keeps the file names of loaded libraries.
    let file = unsafe { CStr::from_ptr(library.dli_fname) };
    if file.to_string_lossy().contains("_multiarray_umath") {
        walk.numpy_frames += 1;
        return if walk.numpy_frames < MIN_NUMPY_FRAMES { NEXT } else { STOP };
    }
    walk.interpreter_frames += 1;
    if walk.numpy_frames > 0 || walk.interpreter_frames > MAX_INTERPRETER_FRAMES { STOP } else { NEXT }
}

/// Whether this library is called by NumPy, through the interpreter, to convert an object to an array.
#[cold]
pub(super) fn is_numpy_converting() -> bool {
    let Some(library) = library_at(visit_frame as *const () as usize) else { return false };
    let mut walk = Walk { own: library.dli_fbase, interpreter_frames: 0, numpy_frames: 0 };
    // SAFETY: `visit_frame` does not unwind and has no destructors to run; `walk` outlives the call.
    unsafe { _Unwind_Backtrace(visit_frame, (&raw mut walk).cast()) };
    walk.numpy_frames == MIN_NUMPY_FRAMES
}
