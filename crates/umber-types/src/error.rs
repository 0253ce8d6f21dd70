//! The one error type. Text is built where the fault is known; the class decides what Python raises.

use std::fmt;

/// What went wrong, by the class of exception it becomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Error {
    /// A value, shape or option is not acceptable (`ValueError`).
    Value(String),
    /// A dtype or argument type is not acceptable (`TypeError`).
    Type(String),
    /// An index lies outside its axis (`IndexError`).
    Index(String),
    /// An axis lies outside the array's dimensions (both `IndexError` and `ValueError`).
    Axis(String),
    /// Memory could not be had (`MemoryError`).
    Memory(String),
    /// A buffer cannot be shared as asked (both `BufferError` and `ValueError`).
    Buffer(String),
    /// A file cannot be read or written (`OSError`).
    Io(String),
    /// A file is not there (`FileNotFoundError`).
    NotFound(String),
    /// Evaluation was interrupted (`KeyboardInterrupt`).
    Interrupted,
    /// A size does not fit (`OverflowError`).
    Overflow(String),
    /// Anything else that failed while running (`RuntimeError`).
    Runtime(String),
}

/// Result with the workspace's error.
pub type Result<T> = std::result::Result<T, Error>;

impl Error {
    /// The text without its class.
    pub fn message(&self) -> &str {
        match self {
            Error::Value(m)
            | Error::Type(m)
            | Error::Index(m)
            | Error::Axis(m)
            | Error::Memory(m)
            | Error::Buffer(m)
            | Error::Io(m)
            | Error::NotFound(m)
            | Error::Overflow(m)
            | Error::Runtime(m) => m,
            Error::Interrupted => "evaluation was interrupted",
        }
    }

    /// The error with the name of an operation in front: `[take] index 3 …`.
    pub fn of(self, op: &str) -> Error {
        self.map_message(|text| format!("[{op}] {text}"))
    }

    /// The same error with its text rewritten.
    #[must_use]
    pub fn map_message(self, rewrite: impl FnOnce(String) -> String) -> Error {
        match self {
            Error::Value(m) => Error::Value(rewrite(m)),
            Error::Type(m) => Error::Type(rewrite(m)),
            Error::Index(m) => Error::Index(rewrite(m)),
            Error::Axis(m) => Error::Axis(rewrite(m)),
            Error::Memory(m) => Error::Memory(rewrite(m)),
            Error::Buffer(m) => Error::Buffer(rewrite(m)),
            Error::Io(m) => Error::Io(rewrite(m)),
            Error::NotFound(m) => Error::NotFound(rewrite(m)),
            Error::Overflow(m) => Error::Overflow(rewrite(m)),
            Error::Runtime(m) => Error::Runtime(rewrite(m)),
            Error::Interrupted => Error::Interrupted,
        }
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.message())
    }
}

impl std::error::Error for Error {}

/// Return an [`Error`] of the named class: `bail!(Value, "[op] …", …)`.
#[macro_export]
macro_rules! bail {
    ($class:ident, $($text:tt)*) => {
        return Err($crate::Error::$class(format!($($text)*)))
    };
}

/// Return an [`Error`] of the named class unless the condition holds.
#[macro_export]
macro_rules! ensure {
    ($condition:expr, $class:ident, $($text:tt)*) => {
        if !$condition {
            $crate::bail!($class, $($text)*);
        }
    };
}
