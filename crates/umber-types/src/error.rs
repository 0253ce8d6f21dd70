//! The error type of the workspace: its kind, the operation, the argument, the detail, and where the operation was recorded.
//!
//! Errors are created where a fault is detected, by [`bail!`](crate::bail), [`ensure!`](crate::ensure) and
//! [`error!`](crate::error!). Their text is formatted when they are displayed. Code that distinguishes errors uses their
//! fields.

use std::fmt;
use std::sync::Arc;

/// The kind of an [`Error`], which determines Python's exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A value, shape or option is not acceptable (`ValueError`).
    Value,
    /// The value of an array without one was requested: an argument of a function that is being traced (`ValueError`).
    NoValue,
    /// A dtype or argument type is not acceptable (`TypeError`).
    Type,
    /// An index lies outside its axis (`IndexError`).
    Index,
    /// An axis lies outside the array's dimensions (both `IndexError` and `ValueError`).
    Axis,
    /// Memory could not be allocated (`MemoryError`).
    Memory,
    /// A buffer cannot be shared as requested (both `BufferError` and `ValueError`).
    Buffer,
    /// A file cannot be read or written (`OSError`).
    Io,
    /// A file does not exist (`FileNotFoundError`).
    NotFound,
    /// Evaluation was interrupted (`KeyboardInterrupt`).
    Interrupted,
    /// A size does not fit (`OverflowError`).
    Overflow,
    /// An operation produced a NaN or an infinity, and the user asked to be told (`FloatingPointError`).
    NonFinite,
    /// Anything else that failed while running (`RuntimeError`).
    Runtime,
}

/// An error.
#[derive(Clone, PartialEq, Eq)]
pub struct Error(Box<Fault>);

#[derive(Clone, PartialEq, Eq)]
struct Fault {
    kind: ErrorKind,
    op: Option<String>,
    argument: Option<String>,
    detail: String,
    context: Context,
    is_deferred: bool,
}

/// Where a fault occurred: the source line that recorded the operation, if lines are recorded, and notes that are appended to
/// the message.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    origin: Option<Arc<str>>,
    notes: String,
}

impl Context {
    /// Add the source line that recorded the operation. Called once for each operation around the failed one; the innermost line
    /// is the origin.
    #[must_use]
    pub fn recorded_at(mut self, origin: Option<&Arc<str>>) -> Context {
        if let Some(line) = origin {
            self.origin.get_or_insert_with(|| Arc::clone(line));
            self.notes.push_str("\nrecorded at ");
            self.notes.push_str(line);
        }
        self
    }

    /// Append a note.
    #[must_use]
    pub fn with_note(mut self, note: impl AsRef<str>) -> Context {
        self.notes.push_str(note.as_ref());
        self
    }

    /// Append an outer context.
    #[must_use]
    pub fn within(mut self, outer: &Context) -> Context {
        if self.origin.is_none() {
            self.origin.clone_from(&outer.origin);
        }
        self.with_note(&outer.notes)
    }
}

/// `Result` with the workspace's error.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of this kind. `detail` gives the violated rule and the offending values.
    #[cold]
    pub fn new(kind: ErrorKind, detail: impl Into<String>) -> Error {
        Error(Box::new(Fault {
            kind,
            op: None,
            argument: None,
            detail: detail.into(),
            context: Context::default(),
            is_deferred: false,
        }))
    }

    /// The error of an interrupted evaluation.
    pub fn interrupted() -> Error {
        Error::new(ErrorKind::Interrupted, "evaluation was interrupted")
    }

    /// Its kind.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The operation that failed, by its public name.
    pub fn op(&self) -> Option<&str> {
        self.0.op.as_deref()
    }

    /// The argument it is about; for files, the file and the entry in it.
    pub fn argument(&self) -> Option<&str> {
        self.0.argument.as_deref()
    }

    /// The violated rule and the offending values.
    pub fn detail(&self) -> &str {
        &self.0.detail
    }

    /// The line of the user's program that recorded the operation, if lines are recorded.
    pub fn origin(&self) -> Option<&str> {
        self.0.context.origin.as_deref()
    }

    /// Whether it occurred during evaluation, in an operation that had been recorded earlier. Then it does not concern the
    /// function that requested the value.
    pub fn is_deferred(&self) -> bool {
        self.0.is_deferred
    }

    /// Set the operation. A deferred error is unchanged, since it concerns another operation.
    #[must_use]
    pub fn with_op(mut self, op: impl fmt::Display) -> Error {
        if !self.is_deferred() {
            self.0.op = Some(op.to_string());
        }
        self
    }

    /// Set the operation, unless the error has one.
    #[must_use]
    pub fn or_op(self, op: impl fmt::Display) -> Error {
        if self.0.op.is_some() { self } else { self.with_op(op) }
    }

    /// Set the argument; an argument that the error has becomes a part of it.
    #[must_use]
    pub fn about(mut self, argument: impl fmt::Display) -> Error {
        self.0.argument = Some(match self.0.argument.take() {
            Some(part) => format!("{argument}: {part}"),
            None => argument.to_string(),
        });
        self
    }

    /// Add the source line that recorded the operation, see [`Context::recorded_at`].
    #[must_use]
    pub fn recorded_at(self, origin: Option<&Arc<str>>) -> Error {
        self.map_context(|context| context.recorded_at(origin))
    }

    /// Append a note.
    #[must_use]
    pub fn with_note(self, note: impl AsRef<str>) -> Error {
        self.map_context(|context| context.with_note(note))
    }

    /// Add a context.
    #[must_use]
    pub fn within(self, context: &Context) -> Error {
        self.map_context(|inner| inner.within(context))
    }

    fn map_context(mut self, change: impl FnOnce(Context) -> Context) -> Error {
        self.0.context = change(std::mem::take(&mut self.0.context));
        self
    }

    /// Mark the error as deferred: it occurred in an operation that had been recorded earlier.
    #[must_use]
    pub fn deferred(mut self) -> Error {
        self.0.is_deferred = true;
        self
    }

    /// Rewrite the detail.
    #[must_use]
    pub fn map_detail(mut self, rewrite: impl FnOnce(String) -> String) -> Error {
        self.0.detail = rewrite(std::mem::take(&mut self.0.detail));
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Fault { op, argument, detail, context, .. } = &*self.0;
        if let Some(op) = op {
            write!(f, "[{op}] ")?;
        }
        if let Some(argument) = argument {
            write!(f, "{argument}: ")?;
        }
        write!(f, "{detail}{}", context.notes)
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}({:?})", self.kind(), self.to_string())
    }
}

impl std::error::Error for Error {}

/// Create an [`Error`] of a kind: `error!(Value(op), "inner dimensions differ: {} @ {}", a, b)`, or, where only the caller knows
/// the operation, `error!(Value, "…")`.
#[macro_export]
macro_rules! error {
    ($kind:ident($op:expr), $($detail:tt)*) => {
        $crate::Error::new($crate::ErrorKind::$kind, format!($($detail)*)).with_op(&$op)
    };
    ($kind:ident, $($detail:tt)*) => {
        $crate::Error::new($crate::ErrorKind::$kind, format!($($detail)*))
    };
}

/// Return an [`Error`], see [`error!`](crate::error!).
#[macro_export]
macro_rules! bail {
    ($($error:tt)*) => {
        return Err($crate::error!($($error)*))
    };
}

/// Return an [`Error`], see [`error!`](crate::error!), unless the condition is true.
#[macro_export]
macro_rules! ensure {
    ($condition:expr, $($error:tt)*) => {
        if !$condition {
            $crate::bail!($($error)*);
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fails() -> Result<()> {
        let (rows, columns) = (2, 5);
        ensure!(rows == columns, Value("cholesky"), "a matrix is square: got {rows} by {columns}");
        Ok(())
    }

    #[test]
    fn fields_and_text_agree() {
        let error = fails().expect_err("2 is not 5");
        assert_eq!((error.kind(), error.op(), error.argument()), (ErrorKind::Value, Some("cholesky"), None));
        assert_eq!(error.detail(), "a matrix is square: got 2 by 5");
        assert_eq!(error.to_string(), "[cholesky] a matrix is square: got 2 by 5");
        let line: Arc<str> = "train.py:7".into();
        let error = error.with_op("linalg.cholesky").about("a").about("model.npz").recorded_at(Some(&line));
        assert_eq!(
            error.to_string(),
            "[linalg.cholesky] model.npz: a: a matrix is square: got 2 by 5\nrecorded at train.py:7"
        );
        assert_eq!(error.origin(), Some("train.py:7"));
        assert_eq!(error.clone().or_op("other"), error);
    }

    #[test]
    fn deferred_errors_keep_their_operation() {
        let (inner, outer): (Arc<str>, Arc<str>) = ("loss.py:3".into(), "train.py:7".into());
        let error =
            error!(Index("take"), "index 7").recorded_at(Some(&inner)).recorded_at(Some(&outer)).deferred();
        assert!(error.is_deferred() && error.origin() == Some("loss.py:3"));
        let renamed = error.with_op("quantile").with_note("\nin iteration 2 of scan");
        let step_context = Context::default().recorded_at(Some(&inner));
        let loop_context = Context::default().with_note("\nin iteration 2 of scan").recorded_at(Some(&outer));
        let device_error = error!(Index("take"), "index 7").within(&step_context.within(&loop_context));
        assert_eq!(device_error.origin(), Some("loss.py:3"));
        assert_eq!(
            device_error.to_string(),
            "[take] index 7\nrecorded at loss.py:3\nin iteration 2 of scan\nrecorded at train.py:7"
        );
        assert_eq!(
            renamed.to_string(),
            "[take] index 7\nrecorded at loss.py:3\nrecorded at train.py:7\nin iteration 2 of scan"
        );
    }
}
