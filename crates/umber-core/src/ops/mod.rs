//! The functions that users call, by documentation group. They check arguments, promote dtypes and record operations.
//!
//! | group | contents |
//! |---|---|
//! | [`bin_widths`] | rules for the bin width of histograms |
//! | [`bits`] | packing and unpacking of bits |
//! | [`block_masked`] | matrix products with masked blocks |
//! | [`selecting`] | selection by conditions, and assignment to selected elements |
//! | [`composed_elementwise`] | elementwise functions composed of others: `sinc`, `gcd`, `fmax`, … |
//! | [`comparisons`] | comparisons of arrays as a whole, and differences of neighbours |
//! | [`contraction`] | matrix products and tensor contractions |
//! | [`convolution`] | convolutions and transposed convolutions |
//! | [`creation`] | arrays from parameters |
//! | [`fast_path`] | functions and operators of arrays of one dtype, without promotion |
//! | [`dot_products`] | NumPy's products of vectors, matrices and scalars |
//! | [`einsum`](mod@einsum) | sums of products in index notation |
//! | [`elementwise`] | elementwise functions of one, two or three arrays |
//! | [`fast`] | operations that backends may implement as one kernel |
//! | [`fft`] | Fourier transforms along one or more axes, cosine transforms and short-time transforms |
//! | [`polynomial_fit`] | least-squares fits of polynomials |
//! | [`gathered_matmul`] | matrix products selected by indices or segments |
//! | [`hadamard`] | the Walsh-Hadamard transform |
//! | [`histograms`] | histograms and counts |
//! | [`index_grids`] | index arrays of triangles, diagonals and grids, and conversion of indices to coordinates |
//! | [`indexing`] | indexing, updates, and functions that take index arrays |
//! | [`interpolation`] | piecewise linear interpolation |
//! | [`linalg`] | factorisations, inverses, norms, eigenvalues and linear equations |
//! | [`median`](mod@median) | the median |
//! | [`nan_reductions`] | reductions and scans that ignore NaN |
//! | [`float_parts`] | signs, bits, exponents, fractions and neighbours of floating-point numbers |
//! | [`phase_unwrap`] | unwrapping of phases |
//! | [`piecewise_functions`] | piecewise functions |
//! | [`transfers`] | transfers between devices |
//! | [`polynomial_roots`] | quotients and roots of polynomials |
//! | [`polynomials`] | polynomials as vectors of coefficients |
//! | [`quantization`] | quantised arrays, and products with quantised matrices |
//! | [`quantile_methods`] | methods of quantiles |
//! | [`quantiles`] | quantiles and percentiles, with or without NaN |
//! | [`random`] | random numbers and their keys |
//! | [`reductions`] | reductions: sums, extrema, means, softmax |
//! | [`rounding`] | rounding to decimal places, and replacement of NaN and infinities |
//! | [`scans`] | cumulative reductions |
//! | [`searching`] | nonzero elements, and positions in sorted arrays |
//! | [`masked_reductions`] | reductions with a mask, a dtype or an initial value |
//! | [`segments`] | reductions of the rows that share an id |
//! | [`sets`] | distinct elements and set operations |
//! | [`shaping`] | changes of shape and order, joining, repeating and padding |
//! | [`numerical_gradient`] | numerical gradients, integrals and differences |
//! | [`sorting`] | sorting and partitioning |
//! | [`log_spacing`](mod@log_spacing) | values spaced evenly on a logarithmic scale |
//! | [`stacking`] | arrays joined as rows, columns or blocks, and split again |
//! | [`statistics`] | weighted means, ranges, covariances and correlations |
//! | [`zero_trimming`] | removal of leading and trailing zeros |
//! | [`flips`] | flips and rotations of arrays |
//! | [`weighted_quantiles`] | quantiles of weighted elements |
//! | [`windows`] | window functions |
//!
//! All but [`fast`], [`fft`], [`linalg`] and [`random`] are re-exported here: `ops::sum` is `ops::reductions::sum`. Arrays are
//! passed by reference, and nothing is computed before a value is read. A failure is an [`Error`](crate::Error) whose text is
//! `[op]` followed by the reason. Rust's operators do the same for arithmetic, but panic.

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
pub mod segments;
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
pub use segments::*;
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
