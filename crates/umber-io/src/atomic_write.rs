//! Files that are written whole or not at all.
//!
//! What is written goes into a file without a name in the same folder, so that nothing is left of it whenever the
//! process ends; it gets a name, and takes the place of the old file by one renaming, once it is on the disk.

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

/// Write through `body` about `expected` bytes into the file at `path`, which is replaced when all is written.
///
/// Links are followed; permissions, access lists and, where that is allowed, the owner are kept. What is no plain file, a
/// device or a pipe, is written to directly.
pub(crate) fn write(
    op: &str,
    path: &Path,
    expected: u64,
    body: impl FnOnce(&mut dyn Write) -> Result<()>,
) -> Result<()> {
    let failed = |error: io::Error| io_error(op, &path.display().to_string(), &error);
    // Where it lies now, should somebody change folders meanwhile.
    let target = std::path::absolute(path).and_then(|path| followed(&path)).map_err(failed)?;
    let existing = match fs::metadata(&target) {
        Ok(metadata) => Some(metadata),
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(error) => return Err(failed(error)),
    };
    let mut rights = None;
    if let Some(metadata) = existing {
        if metadata.is_dir() {
            bail!(Io(op), "{} is a directory", path.display());
        }
        if metadata.file_type().is_fifo() {
            return pipe::write(&target, failed, body);
        }
        // A file that may not be written is not replaced either.
        let mut old = OpenOptions::new().write(true).open(&target).map_err(failed)?;
        if !metadata.is_file() {
            return body(&mut old);
        }
        rights = Some(Rights::of(&old, &metadata));
    }
    let part = Part::create(&target, rights.as_ref()).map_err(failed)?;
    direct_io::write(&part.file, expected, failed, body)?;
    part.place(&target, rights.as_ref()).map_err(failed)
}

/// Who may do what with a file.
struct Rights {
    mode: u32,
    owner: (u32, u32),
    /// The access list, where there is one.
    list: Option<Vec<u8>>,
}

/// The extended attribute that Linux keeps access lists in.
const ACCESS_LIST: &std::ffi::CStr = c"system.posix_acl_access";

impl Rights {
    fn of(file: &File, metadata: &fs::Metadata) -> Rights {
        let owner = (metadata.uid(), metadata.gid());
        Rights { mode: metadata.permissions().mode() & 0o7777, owner, list: access_list(file) }
    }

    /// Give them to a file that takes the place of the one they are of.
    fn give(&self, file: &File) -> io::Result<()> {
        let (mut mode, mut is_of_group) = (self.mode, true);
        let made = file.metadata()?;
        let (user, group) = self.owner;
        if (made.uid(), made.gid()) != self.owner && fchown(file, Some(user), Some(group)).is_err() {
            // Nobody runs a file as another owner, or in another group, than the one that said so.
            mode &= !0o6000;
            if made.gid() != group && fchown(file, None, Some(group)).is_err() {
                // Another group may what others may.
                let of_others = (mode & 0o007) << 3;
                mode = (mode & !0o070) | (mode & of_others);
                is_of_group = false;
            }
        }
        file.set_permissions(Permissions::from_mode(mode))?;
        // The list speaks of the group that the file had.
        if let Some(list) = &self.list
            && !(is_of_group && set_access_list(file, list))
        {
            // With a list the bits of the group are a mask, and say more than the group itself is allowed.
            file.set_permissions(Permissions::from_mode(mode & !0o070))?;
        }
        Ok(())
    }
}

#[cfg(target_os = "linux")]
fn access_list(file: &File) -> Option<Vec<u8>> {
    let mut list = vec![0u8; 64 << 10];
    // SAFETY: the name ends in a zero byte, and the list has as much room as is said.
    let length = unsafe {
        libc::fgetxattr(file.as_raw_fd(), ACCESS_LIST.as_ptr(), list.as_mut_ptr().cast(), list.len())
    };
    list.truncate(usize::try_from(length).ok()?);
    Some(list)
}

#[cfg(target_os = "linux")]
fn set_access_list(file: &File, list: &[u8]) -> bool {
    // SAFETY: the name ends in a zero byte, and the list has as many bytes as is said.
    let answer = unsafe {
        libc::fsetxattr(file.as_raw_fd(), ACCESS_LIST.as_ptr(), list.as_ptr().cast(), list.len(), 0)
    };
    answer == 0
}

#[cfg(not(target_os = "linux"))]
fn access_list(_: &File) -> Option<Vec<u8>> {
    None
}

#[cfg(not(target_os = "linux"))]
fn set_access_list(_: &File, _: &[u8]) -> bool {
    false
}

/// Where a path leads, through links, even to what is not there yet.
fn followed(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_path_buf();
    for _ in 0..40 {
        match fs::read_link(&path) {
            Ok(link) => {
                let next = path.parent().unwrap_or(Path::new("")).join(link);
                // What the system calls an open pipe by is no path, although a link says it.
                if fs::symlink_metadata(&next).is_err() && fs::metadata(&path).is_ok() {
                    return Ok(path);
                }
                path = next;
            }
            // Not a link, or not there.
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::from_raw_os_error(libc::ELOOP))
}

/// The folder that a file is in.
fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// Make something of a name beside `path` that no other writer uses; answers what was made, and the name.
fn beside<T>(path: &Path, make: impl Fn(&Path) -> io::Result<T>) -> io::Result<(T, PathBuf)> {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    // Names have at most 255 bytes, and the number needs some.
    let name = path.file_name().unwrap_or_default().as_bytes();
    let mut start = OsString::from(".");
    start.push(std::ffi::OsStr::from_bytes(&name[..name.len().min(200)]));
    loop {
        let number = COUNT.fetch_add(1, Ordering::Relaxed);
        let mut part = start.clone();
        part.push(format!(".{}-{number}.part", std::process::id()));
        let part = path.with_file_name(part);
        match make(&part) {
            // Left by a process that had this number and was ended.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made.map(|made| (made, part)),
        }
    }
}

/// A file that is being written.
struct Part {
    file: File,
    /// Its name, if it has one already; removed unless it is placed.
    name: Option<PathBuf>,
}

impl Part {
    fn create(target: &Path, rights: Option<&Rights>) -> io::Result<Part> {
        // What replaces a file is nobody else's before it has that file's rights.
        let mode = if rights.is_some() { 0o600 } else { 0o666 };
        #[cfg(target_os = "linux")]
        {
            let unnamed = OpenOptions::new()
                .write(true)
                .mode(mode)
                .custom_flags(libc::O_TMPFILE)
                .open(folder_of(target));
            // Some file systems cannot; whatever else is wrong shows below.
            if let Ok(file) = unnamed {
                return Ok(Part { file, name: None });
            }
        }
        let create = |name: &Path| OpenOptions::new().write(true).create_new(true).mode(mode).open(name);
        let (file, name) = beside(target, create)?;
        Ok(Part { file, name: Some(name) })
    }

    /// Put what was written on the disk, and in place of the target.
    fn place(mut self, target: &Path, rights: Option<&Rights>) -> io::Result<()> {
        if let Some(rights) = rights {
            rights.give(&self.file)?;
        }
        self.file.sync_all()?;
        if self.name.is_none() {
            let ((), name) = beside(target, |name| link(&self.file, name))?;
            self.name = Some(name);
        }
        if let Some(name) = &self.name {
            fs::rename(name, target)?;
            self.name = None;
        }
        // The renaming is on the disk once the folder is; not every file system lets one ask.
        let _ = File::open(folder_of(target)).and_then(|folder| folder.sync_all());
        Ok(())
    }
}

impl Drop for Part {
    fn drop(&mut self) {
        if let Some(name) = &self.name {
            // That it cannot be removed is no news beside what failed before.
            let _ = fs::remove_file(name);
        }
    }
}

/// Give a file without a name one.
fn link(file: &File, name: &Path) -> io::Result<()> {
    let from = CString::new(format!("/proc/self/fd/{}", file.as_raw_fd()))?;
    let to = CString::new(name.as_os_str().as_bytes())?;
    // SAFETY: both are texts that end in a zero byte and live during the call.
    let answer = unsafe {
        libc::linkat(libc::AT_FDCWD, from.as_ptr(), libc::AT_FDCWD, to.as_ptr(), libc::AT_SYMLINK_FOLLOW)
    };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
