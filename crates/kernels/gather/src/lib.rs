//! Gathers, scatters, and the places of elements that are not zero.

pub mod gather;
pub mod nonzero;
pub mod scatter;
