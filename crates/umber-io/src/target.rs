//! The destination of written bytes, and progress reports.

use std::path::Path;

use umber_core::frontend;
use umber_types::Result;

use crate::{atomic_write, io_error};

/// Receives the number of array bytes written so far and their total; an error aborts the write.
pub type Progress<'a> = &'a mut dyn FnMut(u64, u64) -> Result<()>;
/// Receives consecutive chunks of bytes.
pub type Put<'a> = &'a mut dyn FnMut(&[u8]) -> Result<()>;

/// The destination of arrays: a path (`&str`, `&Path`, `&PathBuf`), or a function that receives bytes.
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
    destination: Destination<'a>,
    progress: Option<Progress<'a>>,
}

enum Destination<'a> {
    Path(&'a Path),
    Stream(Put<'a>),
}

impl<'a, P: AsRef<Path> + ?Sized> From<&'a P> for Target<'a> {
    fn from(path: &'a P) -> Target<'a> {
        Target { destination: Destination::Path(path.as_ref()), progress: None }
    }
}

impl<'a> Target<'a> {
    /// A function that receives the bytes.
    pub fn stream(put: Put<'a>) -> Target<'a> {
        Target { destination: Destination::Stream(put), progress: None }
    }

    /// The same destination, with progress reports.
    #[must_use]
    pub fn reporting(self, progress: Progress<'a>) -> Target<'a> {
        Target { progress: Some(progress), ..self }
    }

    /// Write `total` bytes of arrays through `body`.
    pub(crate) fn write(
        self,
        op: &str,
        total: u64,
        body: impl FnOnce(&mut Output<'_, '_>) -> Result<()>,
    ) -> Result<()> {
        let progress = self.progress;
        let write_to = |put: Put<'_>| {
            let mut output = Output { put, progress, done: 0, total, position: 0 };
            body(&mut output)?;
            output.finish()
        };
        match self.destination {
            Destination::Stream(put) => write_to(put),
            Destination::Path(path) => atomic_write::write(op, path, total, |file| {
                let mut put = |bytes: &[u8]| {
                    file.write_all(bytes).map_err(|error| io_error(op, &path.display().to_string(), &error))
                };
                write_to(&mut put)
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
    /// Chunk size: large enough for negligible overhead, small enough for visible progress on a slow disk.
    const CHUNK: usize = 8 << 20;

    /// Number of bytes written.
    pub(crate) fn position(&self) -> u64 {
        self.position
    }

    /// Write bytes other than array data.
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
            let count = missing.min(ZEROS.len() as u64);
            self.plain(&ZEROS[..count as usize])?;
            missing -= count;
        }
        Ok(())
    }

    /// Write the bytes of an array, directly from its memory.
    pub(crate) fn data(&mut self, bytes: &[u8]) -> Result<()> {
        self.chunks(bytes, Output::plain)
    }

    /// Pass the bytes of an array to `write` in chunks, with progress reports.
    pub(crate) fn chunks(
        &mut self,
        bytes: &[u8],
        mut write: impl FnMut(&mut Self, &[u8]) -> Result<()>,
    ) -> Result<()> {
        for chunk in bytes.chunks(Self::CHUNK) {
            frontend::check_interrupted()?;
            write(self, chunk)?;
            self.done += chunk.len() as u64;
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

    /// Reports once for writes without array bytes.
    fn finish(mut self) -> Result<()> {
        if self.total == 0 { self.report() } else { Ok(()) }
    }
}
