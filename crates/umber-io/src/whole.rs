//! Files that are written whole or not at all.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use umber_types::Result;

use crate::io_error;

/// A name beside `path` that no other writer uses.
pub(crate) fn beside(path: &Path) -> PathBuf {
    static COUNT: AtomicU32 = AtomicU32::new(0);
    let number = COUNT.fetch_add(1, Ordering::Relaxed);
    let mut name = std::ffi::OsString::from(".");
    name.push(path.file_name().unwrap_or_default());
    name.push(format!(".{}-{number}.part", std::process::id()));
    path.with_file_name(name)
}

/// Write through `body` into a file beside `path`, then put it in place.
pub(crate) fn write(
    op: &str,
    path: &Path,
    body: impl FnOnce(&mut dyn Write) -> std::io::Result<()>,
) -> Result<()> {
    let part = beside(path);
    let written = File::create(&part).and_then(|file| {
        let mut writer = BufWriter::new(file);
        body(&mut writer)?;
        writer.flush()
    });
    let placed = written.and_then(|()| fs::rename(&part, path));
    placed.map_err(|error| {
        // What was begun is of no use; that it cannot be removed is no news either.
        let _ = fs::remove_file(&part);
        io_error(op, path, &error)
    })
}
