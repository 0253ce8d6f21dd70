//! The remaining stack of a thread, for functions that recurse through the framework.

use std::cell::Cell;

/// The lowest address of this thread's stack, or 0 if the system does not report it.
fn bottom() -> usize {
    thread_local! {
        static BOTTOM: Cell<Option<usize>> = const { Cell::new(None) };
    }
    BOTTOM.get().unwrap_or_else(|| {
        let address = query_bottom().unwrap_or(0);
        BOTTOM.set(Some(address));
        address
    })
}

#[cfg(target_os = "linux")]
fn query_bottom() -> Option<usize> {
    let mut attributes = std::mem::MaybeUninit::uninit();
    let (mut low, mut size) = (std::ptr::null_mut(), 0);
    // SAFETY: the attributes are initialised before they are read, and destroyed once.
    unsafe {
        if libc::pthread_getattr_np(libc::pthread_self(), attributes.as_mut_ptr()) != 0 {
            return None;
        }
        let status = libc::pthread_attr_getstack(attributes.as_ptr(), &raw mut low, &raw mut size);
        libc::pthread_attr_destroy(attributes.as_mut_ptr());
        (status == 0).then_some(low as usize)
    }
}

#[cfg(not(target_os = "linux"))]
fn query_bottom() -> Option<usize> {
    None
}

/// Bytes left on this thread's stack below the caller's frame; a very large number if the system does not report the limit.
#[inline(never)]
pub fn stack_left() -> usize {
    let local = 0u8;
    (&raw const local as usize).saturating_sub(bottom())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[inline(never)]
    fn deeper(depth: usize) -> usize {
        let frame = std::hint::black_box([depth as u8; 1024]);
        if depth == 0 { stack_left() } else { deeper(depth - 1).min(frame.len() << 20) }
    }

    #[test]
    fn nested_calls_leave_less_stack() {
        // Larger than the stacks of other threads, which the system would otherwise reuse.
        let size = 1 << 26;
        let thread = std::thread::Builder::new().stack_size(size).spawn(move || (stack_left(), deeper(100)));
        let (above, below) = thread.expect("a thread starts").join().expect("it ends");
        assert!(above <= size + 4096 && above > size / 2);
        assert!(below + 100 * 1024 <= above && below > 0);
    }
}
