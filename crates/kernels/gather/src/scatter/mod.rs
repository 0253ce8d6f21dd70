//! Scatters: indexed writes and updates.
//!
//! Updates apply in the row-major order of the indices, whatever the number of threads: for `Set` the last duplicate wins, and
//! all other kinds combine every duplicate. Threads split the work by destination. Only sums into few elements are split by
//! updates, into a number of partial sums that depends on the shapes alone.

mod axis;
mod slices;
mod update;

pub use axis::scatter_axis;
pub use slices::scatter;
