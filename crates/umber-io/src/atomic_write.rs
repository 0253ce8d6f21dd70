//! Atomic writes: a file is written completely or not at all.
//!
//! Data is written to an unnamed file in the same directory, which leaves nothing behind if the process ends. When it is on
//! disk, the file gets a name and replaces the old one by a rename.

use std::ffi::{CString, OsString};
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{FileTypeExt, MetadataExt, OpenOptionsExt, PermissionsExt, fchown};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use umber_types::{Result, bail};

use crate::{direct_io, io_error, pipe};

/// Write about `expected` bytes through `body` into the file at `path`, which is replaced when all is written.
///
/// Symbolic links are followed. Permissions, access control lists and, if permitted, the owner are kept. Devices and pipes are
/// written to directly.
pub(crate) fn write(
    op: &str,
    path: &Path,
    expected: u64,
    body: impl FnOnce(&mut dyn Write) -> Result<()>,
) -> Result<()> {
    let failed = |error: io::Error| io_error(op, &path.display().to_string(), &error);
    // Absolute, in case the working directory changes meanwhile.
    let target = std::path::absolute(path).and_then(|path| resolve_links(&path)).map_err(failed)?;
    let existing = match fs::metadata(&target) {
        Ok(metadata) => Some(metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed(error)),
    };
    let mut permissions = None;
    if let Some(metadata) = existing {
        if metadata.is_dir() {
            bail!(Io(op), "{} is a directory", path.display());
        }
        if metadata.file_type().is_fifo() {
            return pipe::write(&target, failed, body);
        }
        // A file that is not writable must not be replaced, either.
        let mut old = OpenOptions::new().write(true).open(&target).map_err(failed)?;
        if !metadata.is_file() {
            return body(&mut old);
        }
        permissions = Some(FilePermissions::of(&old, &metadata));
    }
    let temporary = TemporaryFile::create(&target, permissions.as_ref()).map_err(failed)?;
    direct_io::write(&temporary.file, expected, failed, body)?;
    temporary.replace(&target, permissions.as_ref()).map_err(failed)
}

/// Permissions and ownership of a file.
struct FilePermissions {
    mode: u32,
    owner: (u32, u32),
    /// The access control list, if there is one.
    list: Option<Vec<u8>>,
}

/// The extended attribute in which Linux stores access control lists.
const ACCESS_LIST: &std::ffi::CStr = c"system.posix_acl_access";

impl FilePermissions {
    fn of(file: &File, metadata: &fs::Metadata) -> FilePermissions {
        let owner = (metadata.uid(), metadata.gid());
        FilePermissions { mode: metadata.permissions().mode() & 0o7777, owner, list: access_list(file) }
    }

    /// Apply them to the file that replaces the original.
    fn apply_to(&self, file: &File) -> io::Result<()> {
        let (mut mode, mut has_group) = (self.mode, true);
        let metadata = file.metadata()?;
        let (user, group) = self.owner;
        if (metadata.uid(), metadata.gid()) != self.owner && fchown(file, Some(user), Some(group)).is_err() {
            // The set-user-ID and set-group-ID bits are valid only for the original owner and group.
            mode &= !0o6000;
            if metadata.gid() != group && fchown(file, None, Some(group)).is_err() {
                // The file has another group now, which gets no more than the permissions of others.
                let others_as_group = (mode & 0o007) << 3;
                mode = (mode & !0o070) | (mode & others_as_group);
                has_group = false;
            }
        }
        file.set_permissions(Permissions::from_mode(mode))?;
        // The access control list refers to the original group.
        if let Some(list) = &self.list
            && !(has_group && set_access_list(file, list))
        {
            // With an access control list the group bits are its mask, which may exceed the permissions of the group.
            file.set_permissions(Permissions::from_mode(mode & !0o070))?;
        }
        Ok(())
    }
}

#[cfg(target_os = "linux")]
fn access_list(file: &File) -> Option<Vec<u8>> {
    let mut list = vec![0u8; 64 << 10];
    // SAFETY: the name is a C string, and `list` is writable for `list.len()` bytes.
    let length = unsafe {
        libc::fgetxattr(file.as_raw_fd(), ACCESS_LIST.as_ptr(), list.as_mut_ptr().cast(), list.len())
    };
    list.truncate(usize::try_from(length).ok()?);
    Some(list)
}

#[cfg(target_os = "linux")]
fn set_access_list(file: &File, list: &[u8]) -> bool {
    // SAFETY: the name is a C string, and `list` is readable for `list.len()` bytes.
    let status = unsafe {
        libc::fsetxattr(file.as_raw_fd(), ACCESS_LIST.as_ptr(), list.as_ptr().cast(), list.len(), 0)
    };
    status == 0
}

#[cfg(not(target_os = "linux"))]
fn access_list(_: &File) -> Option<Vec<u8>> {
    None
}

#[cfg(not(target_os = "linux"))]
fn set_access_list(_: &File, _: &[u8]) -> bool {
    false
}

/// Resolve symbolic links, also to a target that does not exist yet.
fn resolve_links(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..40 {
        match fs::read_link(&path) {
            Ok(link) => {
                let next = path.parent().unwrap_or(Path::new("")).join(link);
                // The link of an open pipe or deleted file in /proc holds text that is not a path.
                if fs::symlink_metadata(&next).is_err() && fs::metadata(&path).is_ok() {
                    return Ok(path);
                }
                path = next;
            }
            // Not a link, or it does not exist.
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::from_raw_os_error(libc::ELOOP))
}

/// The directory of a file.
fn directory_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Create a file under a unique temporary name next to `path`; returns the result of `make`, and the name.
fn with_unique_name<T>(path: &Path, make: impl Fn(&Path) -> io::Result<T>) -> io::Result<(T, PathBuf)> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    // Names are limited to 255 bytes, some of which the suffix needs.
    let name = path.file_name().unwrap_or_default().as_bytes();
    let mut start = OsString::from(".");
    start.push(std::ffi::OsStr::from_bytes(&name[..name.len().min(200)]));
    loop {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let mut name_with_suffix = start.clone();
        name_with_suffix.push(format!(".{}-{number}.part", std::process::id()));
        let name_with_suffix = path.with_file_name(name_with_suffix);
        match make(&name_with_suffix) {
            // Left behind by an earlier process with the same id.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            created => return created.map(|created| (created, name_with_suffix)),
        }
    }
}

/// A file that is being written.
struct TemporaryFile {
    file: File,
    /// Its name, if it has one; removed on drop unless the target was replaced.
    name: Option<PathBuf>,
}

impl TemporaryFile {
    fn create(target: &Path, permissions: Option<&FilePermissions>) -> io::Result<TemporaryFile> {
        // A replacement is private until it has the permissions of the original.
        let mode = if permissions.is_some() { 0o600 } else { 0o666 };
        #[cfg(target_os = "linux")]
        {
            let unnamed = OpenOptions::new()
                .write(true)
                .mode(mode)
                .custom_flags(libc::O_TMPFILE)
                .open(directory_of(target));
            // Not supported by some file systems; other errors are reported below.
            if let Ok(file) = unnamed {
                return Ok(TemporaryFile { file, name: None });
            }
        }
        let create = |name: &Path| OpenOptions::new().write(true).create_new(true).mode(mode).open(name);
        let (file, name) = with_unique_name(target, create)?;
        Ok(TemporaryFile { file, name: Some(name) })
    }

    /// Sync the file to disk, and rename it to the target.
    fn replace(mut self, target: &Path, permissions: Option<&FilePermissions>) -> io::Result<()> {
        if let Some(permissions) = permissions {
            permissions.apply_to(&self.file)?;
        }
        self.file.sync_all()?;
        if self.name.is_none() {
            let ((), name) = with_unique_name(target, |name| link(&self.file, name))?;
            self.name = Some(name);
        }
        if let Some(name) = &self.name {
            fs::rename(name, target)?;
            self.name = None;
        }
        // Sync the directory to make the rename durable; some file systems do not support this.
        let _ = File::open(directory_of(target)).and_then(|directory| directory.sync_all());
        Ok(())
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            // Ignored: an earlier error is being reported.
            let _ = fs::remove_file(name);
        }
    }
}

/// Give an unnamed file a name.
fn link(file: &File, name: &Path) -> io::Result<()> {
    let from = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    let to = CString::new(name.as_os_str().as_bytes())?;
    // SAFETY: both are C strings that outlive the call.
    let status = unsafe {
        libc::linkat(libc::AT_FDCWD, from.as_ptr(), libc::AT_FDCWD, to.as_ptr(), libc::AT_SYMLINK_FOLLOW)
    };
    if status == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
