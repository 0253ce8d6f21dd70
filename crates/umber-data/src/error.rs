//! The error of a pipeline: what is wrong, and with which sample of which stage.

use std::any::Any;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use umber_types::Error;
pub use umber_types::ErrorKind;

/// `Result` with the crate's error.
pub type Result<T> = std::result::Result<T, DataError>;

/// An exception of a function that the user gave, in the form of its language.
pub trait Foreign: Any + Send + Sync {
    /// Its text.
    fn message(&self) -> String;

    /// Whether it ends the program, or asks for it, rather than tells of a fault.
    fn is_interrupt(&self) -> bool {
        false
    }

    /// For the front end, which gets its own type back.
    fn as_any(&self) -> &dyn Any;
}

/// What is wrong.
#[derive(Clone)]
pub enum Cause {
    /// A fault found by this crate.
    Fault(Error),
    /// An exception of a user's function.
    Foreign(Arc<dyn Foreign>),
}

/// An error of a pipeline.
///
/// Its text is `[stage] sample 17, key 'image', file <a/b.jpg>: what is wrong`, with the parts that are known.
#[derive(Clone)]
pub struct DataError(Box<Fault>);

#[derive(Clone)]
struct Fault {
    cause: Cause,
    stage: Option<Arc<str>>,
    index: Option<u64>,
    key: Option<Arc<str>>,
    path: Option<PathBuf>,
}

impl DataError {
    /// An error of this kind; `detail` names the rule and the values.
    #[cold]
    pub fn new(kind: ErrorKind, detail: impl Into<String>) -> DataError {
        DataError::from(Error::new(kind, detail))
    }

    /// An exception of a user's function.
    #[cold]
    pub fn foreign(exception: Arc<dyn Foreign>) -> DataError {
        DataError::of(Cause::Foreign(exception))
    }

    fn of(cause: Cause) -> DataError {
        DataError(Box::new(Fault { cause, stage: None, index: None, key: None, path: None }))
    }

    /// What is wrong.
    pub fn cause(&self) -> &Cause {
        &self.0.cause
    }

    /// The kind of the fault; `Runtime` for a user's exception.
    pub fn kind(&self) -> ErrorKind {
        match &self.0.cause {
            Cause::Fault(error) => error.kind(),
            Cause::Foreign(_) => ErrorKind::Runtime,
        }
    }

    /// The stage of the pipeline that failed, by its public name.
    pub fn stage(&self) -> Option<&str> {
        self.0.stage.as_deref()
    }

    /// The number of the sample in its source.
    pub fn index(&self) -> Option<u64> {
        self.0.index
    }

    /// The key of the value that is at fault.
    pub fn key(&self) -> Option<&str> {
        self.0.key.as_deref()
    }

    /// The file that is at fault.
    pub fn path(&self) -> Option<&Path> {
        self.0.path.as_deref()
    }

    /// What is wrong, without where.
    pub fn detail(&self) -> String {
        match &self.0.cause {
            Cause::Fault(error) => error.detail().to_owned(),
            Cause::Foreign(exception) => exception.message(),
        }
    }

    /// Whether the program was interrupted by its user, or is to end.
    pub fn is_interrupt(&self) -> bool {
        match &self.0.cause {
            Cause::Fault(error) => error.kind() == ErrorKind::Interrupted,
            Cause::Foreign(exception) => exception.is_interrupt(),
        }
    }

    /// Name the stage, unless it is known.
    #[must_use]
    pub fn at_stage(mut self, stage: &str) -> DataError {
        self.0.stage.get_or_insert_with(|| Arc::from(stage));
        self
    }

    /// Name the stage in place of what it called.
    #[must_use]
    pub fn in_stage(mut self, stage: &str) -> DataError {
        if !self.is_interrupt() {
            self.0.stage = Some(Arc::from(stage));
        }
        self
    }

    /// Name the sample, unless it is known.
    #[must_use]
    pub fn at_index(mut self, index: u64) -> DataError {
        self.0.index.get_or_insert(index);
        self
    }

    /// Name the key, unless it is known.
    #[must_use]
    pub fn at_key(mut self, key: &str) -> DataError {
        self.0.key.get_or_insert_with(|| Arc::from(key));
        self
    }

    /// Name the file, unless it is known.
    #[must_use]
    pub fn in_file(mut self, path: impl Into<PathBuf>) -> DataError {
        self.0.path.get_or_insert_with(|| path.into());
        self
    }

    /// Where it happened: `[stage] sample 17, key 'image', file <a/b.jpg>`, as far as known.
    pub fn place(&self) -> String {
        let mut parts = Vec::new();
        parts.extend(self.index().map(|index| format!("sample {index}")));
        parts.extend(self.key().map(|key| format!("key '{key}'")));
        parts.extend(self.path().map(|path| format!("file <{}>", path.display())));
        let parts = parts.join(", ");
        match self.stage() {
            Some(stage) if parts.is_empty() => format!("[{stage}]"),
            Some(stage) => format!("[{stage}] {parts}"),
            None => parts,
        }
    }
}

impl From<Error> for DataError {
    fn from(error: Error) -> DataError {
        let stage = error.op().map(Arc::from);
        let mut data = DataError::of(Cause::Fault(error));
        data.0.stage = stage;
        data
    }
}

impl fmt::Display for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let place = self.place();
        let has_parts = self.0.index.is_some() || self.0.key.is_some() || self.0.path.is_some();
        let separator = if place.is_empty() {
            ""
        } else if has_parts {
            ": "
        } else {
            " "
        };
        write!(f, "{place}{separator}{}", self.detail())
    }
}

impl fmt::Debug for DataError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "DataError({self})")
    }
}

impl std::error::Error for DataError {}

/// A [`DataError`]: `fault!(Value, "a crop of {w} pixels")`.
#[macro_export]
macro_rules! fault {
    ($kind:ident, $($detail:tt)*) => {
        $crate::DataError::new($crate::error::ErrorKind::$kind, format!($($detail)*))
    };
}

#[cfg(test)]
mod tests {
    #[test]
    fn texts_name_what_is_known() {
        let error = fault!(Value, "12 of 40 bytes are missing");
        assert_eq!(error.to_string(), "12 of 40 bytes are missing");
        let error = error.at_stage("load_image");
        assert_eq!(error.to_string(), "[load_image] 12 of 40 bytes are missing");
        let error = error.at_key("file").at_index(17).in_file("a/b.jpg").at_index(3);
        assert_eq!(
            error.to_string(),
            "[load_image] sample 17, key 'file', file <a/b.jpg>: 12 of 40 bytes are missing"
        );
    }
}
