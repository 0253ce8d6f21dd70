//! Whether foreign memory is mapped.

/// Whether every page of the `bytes` bytes from `start` is mapped into this process.
///
/// A system call, which costs microseconds. It does not check whether the pages are readable or who owns them. Always true
/// on systems without such a call.
#[cfg(target_os = "linux")]
pub fn is_mapped(start: *const u8, bytes: usize) -> bool {
    // SAFETY: sysconf has no memory arguments.
    let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096).max(1);
    let first = start as usize / page * page;
    let Some(end) = (start as usize).checked_add(bytes) else { return false };
    // SAFETY: with MS_ASYNC the call only checks that the pages are mapped; it does not access them.
    let status = unsafe { libc::msync(first as *mut libc::c_void, end - first, libc::MS_ASYNC) };
    status == 0 || std::io::Error::last_os_error().raw_os_error() != Some(libc::ENOMEM)
}

/// As above: always true.
#[cfg(not(target_os = "linux"))]
pub fn is_mapped(_start: *const u8, _bytes: usize) -> bool {
    true
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn recognises_mapped_memory() {
        let own = [0u8; 100];
        assert!(is_mapped(own.as_ptr(), own.len()));
        assert!(!is_mapped(std::ptr::without_provenance(8), 8));
        assert!(!is_mapped(own.as_ptr(), usize::MAX / 2));
        assert!(!is_mapped(own.as_ptr(), usize::MAX));
    }
}
