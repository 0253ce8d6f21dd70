//! Writing to named pipes, whose reader may come late or never.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

use umber_core::frontend;
use umber_types::{Error, Result};

/// Interval between checks for interrupts.
const POLL_INTERVAL: Duration = Duration::from_millis(20);

/// The writing end of a pipe.
struct Pipe {
    file: File,
    /// The interrupt that ended a write, since `io::Error` cannot carry it.
    interruption: Option<Error>,
}

/// Write through `body` into the pipe at `path`, once it has a reader.
pub(crate) fn write(
    path: &Path,
    failed: impl Fn(io::Error) -> Error,
    body: impl FnOnce(&mut dyn Write) -> Result<()>,
) -> Result<()> {
    let mut pipe = Pipe { file: open(path, failed)?, interruption: None };
    let outcome = body(&mut pipe);
    match pipe.interruption {
        Some(interruption) => Err(interruption),
        None => outcome,
    }
}

fn open(path: &Path, failed: impl Fn(io::Error) -> Error) -> Result<File> {
    loop {
        match OpenOptions::new().write(true).custom_flags(libc::O_NONBLOCK).open(path) {
            // No reader yet.
            Err(error) if error.raw_os_error() == Some(libc::ENXIO) => {
                frontend::check_interrupted()?;
                thread::sleep(POLL_INTERVAL);
            }
            opened => return opened.map_err(failed),
        }
    }
}

impl Pipe {
    /// Wait until the pipe is writable, at most for the polling interval.
    fn wait(&self) {
        let mut poll = libc::pollfd { fd: self.file.as_raw_fd(), events: libc::POLLOUT, revents: 0 };
        // SAFETY: one entry, which outlives the call. Errors are reported by the next write.
        unsafe { libc::poll(&raw mut poll, 1, POLL_INTERVAL.as_millis() as libc::c_int) };
    }
}

impl Write for Pipe {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.file.write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.wait(),
                outcome => return outcome,
            }
            if let Err(interruption) = frontend::check_interrupted() {
                self.interruption = Some(interruption);
                return Err(io::Error::other("interrupted"));
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
