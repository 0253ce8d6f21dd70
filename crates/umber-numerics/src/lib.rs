//! Linear algebra and Fourier transforms over strided memory, built on faer and rustfft.
//!
//! Imports `umber-types` and the base and elementwise kernels.
//!
//! The functions take views and options like those of `umber-kernels-base`, whose views, loops and threads they use. This is
//! a separate crate because it takes as long to compile as all other kernels together, so both compile in parallel.

pub mod fft;
pub mod linalg;
mod vector;
