//! The one error type: what kind of fault, in which operation, what about, and where that was recorded.
//!
//! Errors are built where the fault is known, by [`bail!`](crate::bail), [`ensure!`](crate::ensure) and
//! [`error!`](crate::error!). Their text is made when they are shown. Code that has to tell errors apart asks for their
//! fields.

use std::fmt;
use std::sync::Arc;

/// What kind of fault an [`Error`] is; it decides what Python raises.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// A value, shape or option is not acceptable (`ValueError`).
    Value,
    /// The value of an array was asked for that has none: an argument of a function that is being traced (`ValueError`).
    NoValue,
    /// A dtype or argument type is not acceptable (`TypeError`).
    Type,
    /// An index lies outside its axis (`IndexError`).
    Index,
    /// An axis lies outside the array's dimensions (both `IndexError` and `ValueError`).
    Axis,
    /// Memory could not be had (`MemoryError`).
    Memory,
    /// A buffer cannot be shared as asked (both `BufferError` and `ValueError`).
    Buffer,
    /// A file cannot be read or written (`OSError`).
    Io,
    /// A file is not there (`FileNotFoundError`).
    NotFound,
    /// Evaluation was interrupted (`KeyboardInterrupt`).
    Interrupted,
    /// A size does not fit (`OverflowError`).
    Overflow,
    /// Anything else that failed while running (`RuntimeError`).
    Runtime,
}

/// What went wrong.
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

/// Where a fault was found: the line of the user's program that recorded the operation, if lines are kept, and what errors say
/// at their end.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Context {
    origin: Option<Arc<str>>,
    notes: String,
}

impl Context {
    /// The context, recorded at the user's line: once for each operation that holds the one that failed. The innermost line is
    /// the origin.
    #[must_use]
    pub fn recorded_at(mut self, origin: Option<&Arc<str>>) -> Context {
        if let Some(line) = origin {
            self.origin.get_or_insert_with(|| Arc::clone(line));
            self.notes.push_str("\nrecorded at ");
            self.notes.push_str(line);
        }
        self
    }

    /// The context with more text behind all that it says.
    #[must_use]
    pub fn with_note(mut self, note: impl AsRef<str>) -> Context {
        self.notes.push_str(note.as_ref());
        self
    }

    /// The context as part of an outer one.
    #[must_use]
    pub fn within(mut self, outer: &Context) -> Context {
        if self.origin.is_none() {
            self.origin.clone_from(&outer.origin);
        }
        self.with_note(&outer.notes)
    }
}

/// Result with the workspace's error.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// An error of this kind, with the rule that was broken and the values that broke it.
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

    /// Evaluation was interrupted.
    pub fn interrupted() -> Error {
        Error::new(ErrorKind::Interrupted, "evaluation was interrupted")
    }

    /// What kind of fault it is.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The operation that failed, as users call it.
    pub fn op(&self) -> Option<&str> {
        self.0.op.as_deref()
    }

    /// The argument it is about; of files the file, and the entry in it.
    pub fn argument(&self) -> Option<&str> {
        self.0.argument.as_deref()
    }

    /// The rule that was broken, and the values that broke it.
    pub fn detail(&self) -> &str {
        &self.0.detail
    }

    /// The line of the user's program that recorded the operation, if lines are kept.
    pub fn origin(&self) -> Option<&str> {
        self.0.context.origin.as_deref()
    }

    /// Was it found while an operation ran that had been recorded earlier? Then it says nothing about the function that asked for
    /// the value.
    pub fn is_deferred(&self) -> bool {
        self.0.is_deferred
    }

    /// The same error as one of operation `op`, whichever it was of before. One of an operation that was recorded earlier
    /// stays as it is.
    #[must_use]
    pub fn with_op(mut self, op: impl fmt::Display) -> Error {
        if !self.is_deferred() {
            self.0.op = Some(op.to_string());
        }
        self
    }

    /// The same error as one of operation `op`, unless it names one.
    #[must_use]
    pub fn or_op(self, op: impl fmt::Display) -> Error {
        if self.0.op.is_some() { self } else { self.with_op(op) }
    }

    /// The same error about an argument, or about the part of it that the error was about before.
    #[must_use]
    pub fn about(mut self, argument: impl fmt::Display) -> Error {
        self.0.argument = Some(match self.0.argument.take() {
            Some(part) => format!("{argument}: {part}"),
            None => argument.to_string(),
        });
        self
    }

    /// The same error, recorded at the user's line, see [`Context::recorded_at`].
    #[must_use]
    pub fn recorded_at(self, origin: Option<&Arc<str>>) -> Error {
        self.map_context(|context| context.recorded_at(origin))
    }

    /// The same error with more text behind all that it says.
    #[must_use]
    pub fn with_note(self, note: impl AsRef<str>) -> Error {
        self.map_context(|context| context.with_note(note))
    }

    /// The same error, found in a context.
    #[must_use]
    pub fn within(self, context: &Context) -> Error {
        self.map_context(|own| own.within(context))
    }

    fn map_context(mut self, change: impl FnOnce(Context) -> Context) -> Error {
        self.0.context = change(std::mem::take(&mut self.0.context));
        self
    }

    /// The same error, found while an operation ran that had been recorded earlier.
    #[must_use]
    pub fn deferred(mut self) -> Error {
        self.0.is_deferred = true;
        self
    }

    /// The same error with its detail rewritten.
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

/// An [`Error`] of a kind: `error!(Value(op), "inner dimensions differ: {} @ {}", a, b)`, or without an operation,
/// `error!(Value, "…")`, where whoever calls knows its name.
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

/// Return an [`Error`], see [`error!`](crate::error!), unless the condition holds.
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
    fn fields_and_text_say_the_same() {
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
    fn errors_of_operations_recorded_earlier_keep_their_names() {
        let (inner, outer): (Arc<str>, Arc<str>) = ("loss.py:3".into(), "train.py:7".into());
        let error =
            error!(Index("take"), "index 7").recorded_at(Some(&inner)).recorded_at(Some(&outer)).deferred();
        assert!(error.is_deferred() && error.origin() == Some("loss.py:3"));
        let renamed = error.with_op("quantile").with_note("\nin iteration 2 of scan");
        let scheduled = Context::default().recorded_at(Some(&inner));
        let outside = Context::default().with_note("\nin iteration 2 of scan").recorded_at(Some(&outer));
        let found_later = error!(Index("take"), "index 7").within(&scheduled.within(&outside));
        assert_eq!(found_later.origin(), Some("loss.py:3"));
        assert_eq!(
            found_later.to_string(),
            "[take] index 7\nrecorded at loss.py:3\nin iteration 2 of scan\nrecorded at train.py:7"
        );
        assert_eq!(
            renamed.to_string(),
            "[take] index 7\nrecorded at loss.py:3\nrecorded at train.py:7\nin iteration 2 of scan"
        );
    }
}
