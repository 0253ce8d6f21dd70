//! Nested Rust arrays as elements and a shape.

use crate::{Result, Shape, Value, ensure};

/// A value, an array of values, an array of such arrays, …: the type determines the shape.
pub trait Nested {
    /// The innermost type.
    type Value: Value;

    /// Append the lengths of all axes, outermost first.
    fn push_lengths(shape: &mut Shape);

    /// Append the elements in row-major order.
    fn push_elements(&self, elements: &mut Vec<<Self::Value as Value>::Element>);
}

impl<V: Value> Nested for V {
    type Value = V;

    fn push_lengths(_shape: &mut Shape) {}

    fn push_elements(&self, elements: &mut Vec<V::Element>) {
        elements.push(self.into_element());
    }
}

impl<N: Nested, const LENGTH: usize> Nested for [N; LENGTH] {
    type Value = N::Value;

    fn push_lengths(shape: &mut Shape) {
        shape.push(LENGTH);
        N::push_lengths(shape);
    }

    fn push_elements(&self, elements: &mut Vec<<N::Value as Value>::Element>) {
        for item in self {
            item.push_elements(elements);
        }
    }
}

/// Elements in row-major order under a shape.
#[derive(Debug)]
pub struct Elements<T> {
    /// The elements.
    pub values: Vec<T>,
    /// Lengths of the axes.
    pub shape: Shape,
}

/// A value with elements and a shape: [`Nested`] values, and vectors or slices of them.
pub trait IntoElements {
    /// The innermost type.
    type Value: Value;

    /// Its elements.
    fn into_elements(self) -> Elements<<Self::Value as Value>::Element>;
}

impl<N: Nested> IntoElements for N {
    type Value = N::Value;

    fn into_elements(self) -> Elements<<N::Value as Value>::Element> {
        let mut shape = Shape::scalar();
        N::push_lengths(&mut shape);
        let mut values = Vec::with_capacity(shape.size());
        self.push_elements(&mut values);
        Elements { values, shape }
    }
}

impl<N: Nested> IntoElements for &[N] {
    type Value = N::Value;

    fn into_elements(self) -> Elements<<N::Value as Value>::Element> {
        let mut shape = Shape::from([self.len()]);
        N::push_lengths(&mut shape);
        let mut values = Vec::with_capacity(shape.size());
        for item in self {
            item.push_elements(&mut values);
        }
        Elements { values, shape }
    }
}

impl<N: Nested> IntoElements for Vec<N> {
    type Value = N::Value;

    fn into_elements(self) -> Elements<<N::Value as Value>::Element> {
        self.as_slice().into_elements()
    }
}

/// Nested vectors, slices and arrays whose lengths are known only when the program runs.
pub trait NestedVectors {
    /// The innermost type.
    type Value: Value;

    /// Append the lengths of all axes, outermost first: those of the first elements.
    fn push_lengths(first: Option<&Self>, shape: &mut Shape);

    /// Append the elements in row-major order; fails if a length is not that of the shape.
    ///
    /// # Errors
    /// If lengths differ along an axis.
    fn push_elements(
        &self,
        shape: &[usize],
        elements: &mut Vec<<Self::Value as Value>::Element>,
    ) -> Result<()>;
}

impl<V: Value> NestedVectors for V {
    type Value = V;

    fn push_lengths(_first: Option<&V>, _shape: &mut Shape) {}

    fn push_elements(&self, _shape: &[usize], elements: &mut Vec<V::Element>) -> Result<()> {
        elements.push(self.into_element());
        Ok(())
    }
}

macro_rules! nested_vectors {
    ($([$($parameters:tt)*] $list:ty),* $(,)?) => {$(
        impl<N: NestedVectors $($parameters)*> NestedVectors for $list {
            type Value = N::Value;

            fn push_lengths(first: Option<&Self>, shape: &mut Shape) {
                shape.push(first.map_or(0, |list| list.len()));
                N::push_lengths(first.and_then(|list| list.first()), shape);
            }

            fn push_elements(
                &self,
                shape: &[usize],
                elements: &mut Vec<<N::Value as Value>::Element>,
            ) -> Result<()> {
                let (&length, inner) = shape.split_first().expect("one length for each level");
                ensure!(
                    self.len() == length,
                    Value("array"),
                    "lists at the same depth differ in length: {length} and {}",
                    self.len()
                );
                self.iter().try_for_each(|item| item.push_elements(inner, elements))
            }
        }
    )*};
}

nested_vectors! { [] Vec<N>, [] &[N], [, const LENGTH: usize] [N; LENGTH] }

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_determine_shapes_even_without_elements() {
        assert_eq!(1.0f32.into_elements().shape, Shape::scalar());
        assert_eq!([[[0u8; 3]; 0]; 2].into_elements().shape, Shape::from([2, 0, 3]));
        assert_eq!(Vec::<[i32; 2]>::new().into_elements().shape, Shape::from([0, 2]));
        let Elements { values, shape } = vec![[true, false], [false, false]].into_elements();
        assert_eq!((values[0].get(), values[1].get(), shape), (true, false, Shape::from([2, 2])));
    }
}
