//! Fallback for targets without known non-temporal store instructions.

use super::{Kernel, Map1, Map2};

/// Always `None`.
pub(super) const fn nontemporal1<O: Map1>() -> Option<[Kernel; 3]> {
    None
}

/// Always `None`.
pub(super) const fn nontemporal2<O: Map2>() -> Option<[Kernel; 3]> {
    None
}
