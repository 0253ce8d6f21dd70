//! Where written bytes go, and who is told of the progress.

use std::path::{Path, PathBuf};

use umber_core::frontend;
use umber_types::Result;

use crate::{atomic_write, io_error};

/// Told the bytes of arrays that are written, and how many there are in all; an error of it ends the writing.
pub type Progress<'a> = &'a mut dyn FnMut(u64, u64) -> Result<()>;
/// Takes bytes one piece after the other.
pub type Put<'a> = &'a mut dyn FnMut(&[u8]) -> Result<()>;

/// Where an array or several are written to: a path, or whatever takes bytes.
///
/// ```
/// # use umber_io as io;
/// use umber_core::Array;
///
/// let (mut bytes, mut last) = (Vec::new(), (0, 0));
/// let mut put = |piece: &[u8]| Ok(bytes.extend_from_slice(piece));
/// let mut progress = |done, total| Ok(last = (done, total));
/// io::npy::save(io::Target::stream(&mut put).reporting(&mut progress), &Array::from([1.0f32, 2.0]))?;
/// assert_eq!((bytes.len(), last), (128 + 8, (8, 8)));
/// # Ok::<(), umber_types::Error>(())
/// ```
pub struct Target<'a> {
    place: Place<'a>,
    progress: Option<Progress<'a>>,
}

enum Place<'a> {
    Path(&'a Path),
    Stream(Put<'a>),
}

impl<'a> From<&'a Path> for Target<'a> {
    fn from(path: &'a Path) -> Target<'a> {
        Target { place: Place::Path(path), progress: None }
    }
}

impl<'a> From<&'a PathBuf> for Target<'a> {
    fn from(path: &'a PathBuf) -> Target<'a> {
        path.as_path().into()
    }
}

impl<'a> Target<'a> {
    /// Whatever takes bytes.
    pub fn stream(put: Put<'a>) -> Target<'a> {
        Target { place: Place::Stream(put), progress: None }
    }

    /// The same, with somebody who is told of the progress.
    #[must_use]
    pub fn reporting(self, progress: Progress<'a>) -> Target<'a> {
        Target { progress: Some(progress), ..self }
    }

    /// Write through `body` what has `total` bytes of arrays.
    pub(crate) fn write(
        self,
        op: &str,
        total: u64,
        body: impl FnOnce(&mut Output<'_, '_>) -> Result<()>,
    ) -> Result<()> {
        let progress = self.progress;
        let through = |put: Put<'_>| {
            let mut output = Output { put, progress, done: 0, total, position: 0 };
            body(&mut output)?;
            output.finish()
        };
        match self.place {
            Place::Stream(put) => through(put),
            Place::Path(path) => atomic_write::write(op, path, total, |file| {
                let mut put = |bytes: &[u8]| {
                    file.write_all(bytes).map_err(|error| io_error(op, &path.display().to_string(), &error))
                };
                through(&mut put)
            }),
        }
    }
}

/// A file that is being written.
pub(crate) struct Output<'a, 'p> {
    put: Put<'a>,
    progress: Option<Progress<'p>>,
    done: u64,
    total: u64,
    position: u64,
}

impl Output<'_, '_> {
    /// Large enough that nobody notices the calls, small enough that a slow disk is seen to move.
    const PIECE: usize = 8 << 20;

    /// How many bytes were written.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Write bytes that are not of arrays.
    pub(crate) fn plain(&mut self, bytes: &[u8]) -> Result<()> {
        (self.put)(bytes)?;
        self.position += bytes.len() as u64;
        Ok(())
    }

    /// Write zeros up to the next multiple of `alignment`.
    pub(crate) fn pad(&mut self, alignment: u64) -> Result<()> {
        const ZEROS: [u8; 4096] = [0; 4096];
        let mut missing = self.position.next_multiple_of(alignment) - self.position;
        while missing > 0 {
            let now = missing.min(ZEROS.len() as u64);
            self.plain(&ZEROS[..now as usize])?;
            missing -= now;
        }
        Ok(())
    }

    /// Write the bytes of an array, straight from its memory.
    pub(crate) fn data(&mut self, bytes: &[u8]) -> Result<()> {
        self.pieces(bytes, Output::plain)
    }

    /// Hand the bytes of an array to `write` in pieces, and report them.
    pub(crate) fn pieces(
        &mut self,
        bytes: &[u8],
        mut write: impl FnMut(&mut Self, &[u8]) -> Result<()>,
    ) -> Result<()> {
        for piece in bytes.chunks(Self::PIECE) {
            frontend::check_interrupted()?;
            write(self, piece)?;
            self.done += piece.len() as u64;
            self.report()?;
        }
        Ok(())
    }

    fn report(&mut self) -> Result<()> {
        match &mut self.progress {
            Some(progress) => progress(self.done, self.total),
            None => Ok(()),
        }
    }

    /// Nothing of arrays was written if there was nothing of them: that too is reported once.
    fn finish(mut self) -> Result<()> {
        if self.total == 0 { self.report() } else { Ok(()) }
    }
}
