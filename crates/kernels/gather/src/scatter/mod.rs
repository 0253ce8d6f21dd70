//! Writes elements and slices to where indices point.
//!
//! Updates apply in the row-major order of the indices, whatever the number of threads: the last of several wins a
//! set, and every one counts otherwise. Threads share the work by destination; only sums into a few elements are taken
//! of parts of the updates, which shapes alone decide.

mod axis;
mod slices;
mod update;

pub use axis::scatter_axis;
pub use slices::scatter;
