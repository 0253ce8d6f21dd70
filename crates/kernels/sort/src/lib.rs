//! Sorting, partitioning and binary search.

pub mod search;
pub mod sort;
