//! Processors that are not known to write past the caches have no block functions that do.

use super::{Kernel, Map1, Map2};

/// None.
pub(super) const fn nontemporal1<O: Map1>() -> Option<[Kernel; 3]> {
    None
}

/// None.
pub(super) const fn nontemporal2<O: Map2>() -> Option<[Kernel; 3]> {
    None
}
