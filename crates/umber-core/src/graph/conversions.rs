//! Rust values that become arrays.

use umber_types::{Element, Elements, IntoElements, NestedVectors, Result, Scalar, Shape, Value};

use super::Array;

#[track_caller]
fn unwrap(result: Result<Array>) -> Array {
    match result {
        Ok(array) => array,
        Err(error) => panic!("{error}"),
    }
}

/// A number or `bool` becomes a 0-d array; nested Rust arrays, vectors and slices of them become axes.
///
/// The dtype is that of the Rust type: `f64` unless a literal says `0.0f32`. Panics only if memory is exhausted.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, DType, Shape};
///
/// assert_eq!(Array::from(1.5f32).shape(), &Shape::scalar());
/// assert_eq!(Array::from([[1, 2, 3], [4, 5, 6]]).shape(), &Shape::from([2, 3]));
/// assert_eq!(Array::from(vec![[true, false]]).dtype(), DType::Bool);
/// assert_eq!(Array::from(&[1.0, 2.0][..]).dtype(), DType::Float64);
/// ```
impl<E: IntoElements> From<E> for Array {
    #[track_caller]
    fn from(elements: E) -> Array {
        let Elements { values, shape } = elements.into_elements();
        let array = unwrap(Array::from_slice(&values, shape));
        let dtype = <E::Value as Value>::Element::DTYPE;
        match array.storage().and_then(|storage| storage.host()?.dense_bytes(dtype)) {
            // A scalar constant, which fusion embeds in its kernels.
            Some(bytes) if array.ndim() == 0 => Array::scalar(Scalar::from_bytes(dtype, bytes), dtype),
            _ => array,
        }
    }
}

impl Array {
    /// An array of nested vectors, whose lengths must agree at each depth.
    ///
    /// Vectors of numbers and of Rust arrays convert without a possible error: `Array::from(vector)`.
    ///
    /// ```
    /// # use umber_core as umber;
    /// use umber::{Array, Shape};
    ///
    /// let rows: Vec<Vec<f32>> = vec![vec![1.0, 2.0, 3.0], vec![4.0, 5.0, 6.0]];
    /// assert_eq!(Array::from_nested(&rows)?.shape(), &Shape::from([2, 3]));
    /// let ragged = Array::from_nested(&vec![vec![1], vec![2, 3]]).expect_err("lengths differ");
    /// assert_eq!(ragged.to_string(), "[array] lists at the same depth differ in length: 1 and 2");
    /// # Ok::<(), umber::Error>(())
    /// ```
    pub fn from_nested<N: NestedVectors>(lists: &N) -> Result<Array> {
        let mut shape = Shape::scalar();
        N::push_lengths(Some(lists), &mut shape);
        // Without a capacity: ragged lists may have far fewer elements than the lengths of the first ones say.
        let mut elements = Vec::new();
        lists.push_elements(&shape, &mut elements)?;
        Array::from_slice(&elements, shape)
    }
}

/// Another handle to the same array.
impl From<&Array> for Array {
    fn from(array: &Array) -> Array {
        array.clone()
    }
}

/// A 1-D array of the values.
///
/// ```
/// # use umber_core as umber;
/// let squares: umber::Array = (1..=3).map(|i| i * i).collect();
/// assert_eq!(squares.to_vec::<i32>()?, [1, 4, 9]);
/// # Ok::<(), umber::Error>(())
/// ```
impl<V: Value> FromIterator<V> for Array {
    #[track_caller]
    fn from_iter<I: IntoIterator<Item = V>>(values: I) -> Array {
        let elements: Vec<V::Element> = values.into_iter().map(Value::into_element).collect();
        unwrap(Array::from_slice(&elements, [elements.len()]))
    }
}
