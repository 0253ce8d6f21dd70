//! Processors that are without known non-temporal stores have no block functions that do.

use super::{Kernel, Map1, Map2};

/// None.
pub(super) const fn nontemporal1<O: Map1>() -> Option<[Kernel; 3]> {
    None
}

/// None.
pub(super) const fn nontemporal2<O: Map2>() -> Option<[Kernel; 3]> {
    None
}
