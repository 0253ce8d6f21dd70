//! Copies from and to arrays of the crate [ndarray](https://docs.rs/ndarray).
//!
//! ```
//! use ndarray::arr2;
//! use umber::ndarray::{from_ndarray, to_ndarray};
//!
//! let matrix = arr2(&[[1.0f32, 2.0], [3.0, 4.0]]);
//! let x = from_ndarray(&matrix.t())?;
//! assert_eq!(x.to_vec::<f32>()?, [1.0, 3.0, 2.0, 4.0]);
//! assert_eq!(to_ndarray::<f32>(&x)?, matrix.t().into_dyn());
//! # Ok::<(), umber::Error>(())
//! ```

use ndarray::{ArrayBase, ArrayD, Data, Dimension};
use umber_core::{Array, Result};
use umber_types::Value;

/// An array with a copy of the elements of an ndarray, which may have any layout.
///
/// # Errors
/// If there is no memory for the copy.
pub fn from_ndarray<V, S, D>(source: &ArrayBase<S, D>) -> Result<Array>
where
    V: Value,
    S: Data<Elem = V>,
    D: Dimension,
{
    let elements: Vec<V::Element> = source.iter().map(|&value| value.into_element()).collect();
    Array::from_slice(&elements, source.shape())
}

/// An ndarray with a copy of the elements, in row-major order.
///
/// # Errors
/// If `V` is not the type of the array's dtype, or the evaluation fails.
pub fn to_ndarray<V: Value>(array: &Array) -> Result<ArrayD<V>> {
    let values = array.to_vec()?;
    Ok(ArrayD::from_shape_vec(&array.shape()[..], values).expect("as many elements as the shape has"))
}
