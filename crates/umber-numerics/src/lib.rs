//! Floor 2: linear algebra and Fourier transforms over strided memory, on the algorithms of faer and rustfft.
//!
//! Functions of views and options, as those of `umber-kernels`, whose views, loops and threads they use. They are a
//! crate of their own because what they instantiate takes as long to compile as all other kernels together, and so is
//! compiled beside them.

pub mod fft;
pub mod linalg;
mod vector;
