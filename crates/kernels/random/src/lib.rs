//! Random bits, and draws from distributions by rejection and by inversion.

pub mod categorical;
pub mod random;
pub mod rejection;
