//! Is memory that somebody told of there at all?

/// Is every page of the `bytes` bytes from `start` mapped into this process?
///
/// Asked of the system, which costs microseconds. Whether the pages may be read, and whether they belong to whoever
/// told of them, is not known from this. Where a system cannot say the answer is yes.
#[cfg(target_os = "linux")]
pub fn is_mapped(start: *const u8, bytes: usize) -> bool {
    // SAFETY: sysconf only reads.
    let page = usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap_or(4096).max(1);
    let first = start as usize / page * page;
    let Some(end) = (start as usize).checked_add(bytes) else { return false };
    // SAFETY: with MS_ASYNC the call does nothing but look for mappings; it reads and writes no memory of theirs.
    let answer = unsafe { libc::msync(first as *mut libc::c_void, end - first, libc::MS_ASYNC) };
    answer == 0 || std::io::Error::last_os_error().raw_os_error() != Some(libc::ENOMEM)
}

/// As above: yes.
#[cfg(not(target_os = "linux"))]
pub fn is_mapped(_start: *const u8, _bytes: usize) -> bool {
    true
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[test]
    fn tells_what_is_there() {
        let own = [0u8; 100];
        assert!(is_mapped(own.as_ptr(), own.len()));
        assert!(!is_mapped(std::ptr::without_provenance(8), 8));
        assert!(!is_mapped(own.as_ptr(), usize::MAX / 2));
        assert!(!is_mapped(own.as_ptr(), usize::MAX));
    }
}
