//! The rank and number of processes that share a data set.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;

/// What becomes of samples that do not divide evenly.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Even {
    /// Some processes have one more.
    No,
    /// They are left out.
    Drop,
    /// Samples from the start fill up.
    Pad,
}

impl Even {
    pub(super) fn of(even: Option<&str>) -> PyResult<Even> {
        match even {
            None => Ok(Even::No),
            Some("drop") => Ok(Even::Drop),
            Some("pad") => Ok(Even::Pad),
            Some(other) => {
                Err(PyValueError::new_err(format!("[by_rank] even: got '{other}', expected 'drop' or 'pad'")))
            }
        }
    }
}

/// Rank and size of a group: any object with methods `rank` and `size`; without one, a single process.
pub(super) fn rank_and_size(group: Option<&Bound<'_, PyAny>>) -> PyResult<(u64, u64)> {
    let Some(group) = group else { return Ok((0, 1)) };
    let number = |method: &str| -> PyResult<u64> {
        group.call_method0(method).and_then(|number| number.extract()).map_err(|_| {
            PyTypeError::new_err(format!(
                "[by_rank] group: expected an object with rank() and size(); {method}() failed"
            ))
        })
    };
    let (rank, size) = (number("rank")?, number("size")?);
    if rank >= size {
        return Err(PyValueError::new_err(format!("[by_rank] group: rank {rank} is not below size {size}")));
    }
    Ok((rank, size))
}
