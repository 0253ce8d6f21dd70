//! Draws of correlated vectors.

use umber_types::{DType, Result, Shape, bail, ensure};

use super::{check_real, normal};
use crate::graph::Array;
use crate::ops::ShapeArgument;
use crate::ops::contraction::matmul;
use crate::ops::elementwise::{add, multiply, sqrt};
use crate::ops::linalg::{self, Basis};
use crate::primitives::rules::{cast, reshape};

const OP: &str = "multivariate_normal";

/// Draw vectors from the multivariate normal distribution.
///
/// Computed as `mean + z C`, where `z` is standard normal and `C` the symmetric square root of the covariance, by its
/// singular value decomposition. The mean is `[..., d]`, the covariance `[..., d, d]`. `shape` is that of the result
/// without its last axis; it broadcasts with the other axes of both. The covariance should be symmetric and positive
/// semi-definite, which is not checked.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, DType, Shape, ops::random};
/// let (mean, covariance) = (Array::from([0.0f32, 1.0]), Array::from([[2.0f32, 0.5], [0.5, 1.0]]));
/// let drawn = random::multivariate_normal(&mean, &covariance, &[5, 3], DType::Float32, Some(&random::key(0)?))?;
/// assert_eq!(drawn.shape(), &Shape::from([5, 3, 2]));
/// # Ok::<(), umber::Error>(())
/// ```
///
/// # Errors
/// If the last axes do not fit together, the other ones do not broadcast, or `dtype` is not a real floating-point dtype.
pub fn multivariate_normal(
    mean: &Array,
    covariance: &Array,
    shape: impl ShapeArgument,
    dtype: DType,
    key: Option<&Array>,
) -> Result<Array> {
    check_real(OP, dtype)?;
    let (mean_shape, covariance_shape) = (mean.shape(), covariance.shape());
    let fits = match (mean_shape.split_last(), &covariance_shape[..]) {
        (Some((length, _)), [.., rows, columns]) => length == rows && length == columns,
        _ => false,
    };
    ensure!(
        fits,
        Value(OP),
        "mean and cov must have shapes (..., d) and (..., d, d), got {mean_shape} and {covariance_shape}"
    );
    let length = mean_shape[mean.ndim() - 1];
    let other_shapes = [
        Shape::from(&covariance_shape[..covariance.ndim() - 2]),
        Shape::checked(OP, shape.lengths().as_ref())?,
    ];
    let mut batch = Shape::from(&mean_shape[..mean.ndim() - 1]);
    for other in &other_shapes {
        let Some(common) = batch.broadcast(other) else {
            bail!(Value(OP), "shapes {batch} and {other} cannot be broadcast");
        };
        batch = common;
    }
    let sample_shape: Shape = batch.iter().copied().chain([length]).collect();
    let compute_dtype = if dtype.is_half() { DType::Float32 } else { dtype };
    let z = normal(&sample_shape, compute_dtype, None, None, key)?;
    let factors = linalg::svd(&cast(covariance, compute_dtype)?, Basis::Reduced)?;
    // Insert an axis, so that each singular value scales a column.
    let scales = sqrt(&factors.values)?;
    let mut row = scales.shape().clone();
    row.insert(row.ndim() - 1, 1);
    let root = matmul(&multiply(&factors.u, &reshape(&scales, row)?)?, &factors.vh)?;
    let rows: Shape = batch.iter().copied().chain([1, length]).collect();
    let sample = reshape(&matmul(&reshape(&z, rows)?, &root)?, z.shape().clone())?;
    cast(&add(&sample, &cast(mean, compute_dtype)?)?, dtype)
}
