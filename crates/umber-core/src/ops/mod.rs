//! The functions users call, by documentation group: they check, promote, and record.
//!
//! | group | what is in it |
//! |---|---|
//! | [`bin_widths`] | how wide the bins of a histogram should be |
//! | [`bits`] | bits packed into bytes, and out of them |
//! | [`block_masked`] | products of matrices some of whose blocks are masked |
//! | [`selecting`] | arrays chosen from element by element, and chosen elements set |
//! | [`composed_elementwise`] | elementwise functions made of others: `sinc`, `gcd`, `fmax`, … |
//! | [`comparisons`] | whole arrays compared, and neighbours subtracted |
//! | [`contraction`] | products of matrices and of their kin |
//! | [`convolution`] | kernels that slide over their input, forwards and transposed |
//! | [`creation`] | arrays from parameters |
//! | [`fast_path`] | functions and operators of arrays of one dtype, without asking more |
//! | [`dot_products`] | NumPy's products of vectors, matrices and numbers |
//! | [`einsum`](mod@einsum) | sums of products written with an index for each axis |
//! | [`elementwise`] | functions of one, two or three arrays, element by element |
//! | [`fast`] | operations that are one kernel where a backend has it |
//! | [`fft`] | Fourier transforms along one axis or several, and of frames of a signal |
//! | [`polynomial_fit`] | polynomials that lie closest to points |
//! | [`gathered_matmul`] | products of matrices that indices or segments choose |
//! | [`hadamard`] | the Walsh-Hadamard transform |
//! | [`histograms`] | how many elements, or how much weight, falls where |
//! | [`index_grids`] | index arrays of triangles, diagonals and grids, and places as coordinates |
//! | [`indexing`] | parts of arrays read and updated, and functions that take index arrays |
//! | [`interpolation`] | functions known at some points, between them |
//! | [`linalg`] | factors, inverses, norms, eigenvalues and solutions of matrices |
//! | [`median`](mod@median) | the median |
//! | [`nan_reductions`] | reductions and scans that pass over NaN |
//! | [`float_parts`] | what numbers are made of: signs, bits, exponents, parts, neighbours |
//! | [`phase_unwrap`] | phases without their jumps |
//! | [`piecewise_functions`] | functions put together of pieces |
//! | [`transfers`] | transfers between devices |
//! | [`polynomial_roots`] | quotients and roots of polynomials |
//! | [`polynomials`] | polynomials as vectors of coefficients |
//! | [`quantization`] | numbers stored in few bits each, and products with matrices of them |
//! | [`quantile_methods`] | the methods by which quantiles are found among sorted elements |
//! | [`quantiles`] | quantiles and percentiles, with or without NaN |
//! | [`random`] | draws from distributions, and their keys |
//! | [`reductions`] | many elements to one: sums, extrema, means, softmax |
//! | [`rounding`] | rounding to decimal places, and numbers in place of NaN and infinities |
//! | [`scans`] | what a reduction would answer after each element |
//! | [`searching`] | where something holds, and where values go |
//! | [`masked_reductions`] | reductions of some of the elements, in a given dtype, from a given start |
//! | [`sets`] | distinct elements, and what two arrays have in common |
//! | [`shaping`] | the same elements under another shape, in another order, or several times |
//! | [`numerical_gradient`] | slopes of values, the area under them, and differences of neighbours |
//! | [`sorting`] | order, and parts of it |
//! | [`log_spacing`](mod@log_spacing) | numbers spaced evenly on a logarithmic scale |
//! | [`stacking`] | arrays joined as rows, columns or blocks, and cut apart again |
//! | [`statistics`] | weighted means, spans, covariances and correlations |
//! | [`zero_trimming`] | zeros taken off the ends of arrays |
//! | [`flips`] | arrays mirrored and turned |
//! | [`weighted_quantiles`] | quantiles of elements that count more or less than once |
//! | [`windows`] | weights that fall towards both ends of an interval |
//!
//! All but [`fast`], [`fft`], [`linalg`] and [`random`] are also named here: `ops::sum` is `ops::reductions::sum`. Arrays are taken by
//! reference and nothing is computed before a value is read. A failure is an [`Error`](crate::Error) whose text says
//! `[op]` what was wrong, got what, expected what. Rust's operators do the same for arithmetic, but panic.

pub mod bin_widths;
pub mod bits;
pub mod block_masked;
pub mod comparisons;
pub mod composed_elementwise;
pub mod contraction;
pub mod convolution;
pub mod creation;
mod data_dependent;
pub mod dot_products;
pub mod einsum;
pub mod elementwise;
mod error_context;
pub mod fast;
pub mod fast_path;
pub mod fft;
pub mod flips;
pub mod float_parts;
pub mod gathered_matmul;
pub mod hadamard;
pub mod histograms;
pub mod index_grids;
pub mod indexing;
pub mod interpolation;
pub mod linalg;
pub mod log_spacing;
pub mod masked_reductions;
pub mod median;
pub mod nan_reductions;
pub mod numerical_gradient;
mod operators;
pub mod phase_unwrap;
pub mod piecewise_functions;
pub mod polynomial_fit;
pub mod polynomial_roots;
pub mod polynomials;
mod promotion;
pub mod quantile_methods;
pub mod quantiles;
pub mod quantization;
pub mod random;
pub mod reductions;
pub mod rounding;
pub mod scans;
pub mod searching;
pub mod selecting;
pub mod sets;
pub mod shaping;
pub mod sorting;
pub mod stacking;
pub mod statistics;
pub mod transfers;
pub mod weighted_quantiles;
pub mod windows;
pub mod zero_trimming;

pub use bin_widths::BinRule;
pub use bits::*;
pub use block_masked::*;
pub use comparisons::*;
pub use composed_elementwise::*;
pub use contraction::*;
pub use convolution::*;
pub use creation::*;
pub use dot_products::{dot, vdot};
pub use einsum::{einsum, einsum_path};
pub use elementwise::*;
pub use flips::*;
pub use float_parts::*;
pub use gathered_matmul::*;
pub use hadamard::*;
pub use histograms::*;
pub use index_grids::*;
pub use indexing::{
    Index, OutOfBounds, assign_first, check_index, dynamic_slice, dynamic_slice_update, get, put_along_axis,
    take, take_along_axis, take_within, update,
};
pub use interpolation::*;
pub use log_spacing::*;
pub use masked_reductions::*;
pub use median::median;
pub use nan_reductions::*;
pub use numerical_gradient::*;
pub use phase_unwrap::unwrap;
pub use piecewise_functions::*;
pub use polynomial_fit::{CovarianceUnit, FullFit, polyfit, polyfit_covariance, polyfit_full};
pub use polynomial_roots::{poly, polydiv, roots};
pub use polynomials::*;
pub use promotion::{broadcast_all, weak};
pub use quantile_methods::QuantileMethod;
pub use quantiles::*;
pub use quantization::*;
pub use reductions::*;
pub use rounding::*;
pub use scans::*;
pub use searching::*;
pub use selecting::*;
pub use sets::*;
pub use shaping::*;
pub use sorting::*;
pub use stacking::*;
pub use statistics::*;
pub use transfers::*;
pub use umber_types::{Side, SortOrder};
pub use weighted_quantiles::{NanPolicy, weighted_percentile, weighted_quantile};
pub use windows::*;
pub use zero_trimming::{TrimSides, trim_zeros};
