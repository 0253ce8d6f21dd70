//! Named pipes that are written to: whoever reads them may be long in coming, and may never come.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;
use std::thread;
use std::time::Duration;

use umber_core::frontend;
use umber_types::{Error, Result};

/// As long as nobody notices that it is waited before an interruption is looked for.
const PATIENCE: Duration = Duration::from_millis(20);

/// The end of a pipe that is written to.
struct Pipe {
    file: File,
    /// What ended the waiting, which no error of the operating system can say.
    interruption: Option<Error>,
}

/// Write through `body` into the pipe at `path`, once somebody reads it.
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
            // Nobody reads it yet.
            Err(error) if error.raw_os_error() == Some(libc::ENXIO) => {
                frontend::check_interrupted()?;
                thread::sleep(PATIENCE);
            }
            opened => return opened.map_err(failed),
        }
    }
}

impl Pipe {
    /// Wait until there is room, or for a while.
    fn wait(&self) {
        let mut asked = libc::pollfd { fd: self.file.as_raw_fd(), events: libc::POLLOUT, revents: 0 };
        // SAFETY: one entry that lives during the call. Whatever is wrong shows when it is written next.
        unsafe { libc::poll(&raw mut asked, 1, PATIENCE.as_millis() as libc::c_int) };
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
