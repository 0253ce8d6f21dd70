//! Elements removed from rows of unequal lengths.

use umber_core::DType;
use umber_core::graph::Storage;
use umber_types::{Scalar, match_dtype};

use crate::error::Result;
use crate::fault;
use crate::operation::Operation;
use crate::ops::{Cast, axis_of};
use crate::random::Draw;
use crate::sample::{Name, Sample};
use crate::value::Value;

/// Removes the elements that equal a number along an axis. Those behind them move forward, and the end is filled up.
///
/// Another value has the number of elements that are valid along the axis; it is set to what is left of them.
#[derive(Clone, Debug, PartialEq)]
pub struct RemoveValue {
    /// The key of the value.
    pub key: Name,
    /// The key of the numbers of valid elements.
    pub size_key: Name,
    /// The axis; negative ones count from the end.
    pub axis: i64,
    /// The number.
    pub value: Scalar,
    /// What the end is filled up with, cast to the value's dtype.
    pub fill: Scalar,
}

impl RemoveValue {
    /// Remove `value` along `axis`.
    pub fn new(
        key: &str,
        size_key: &str,
        axis: i64,
        value: impl Into<Scalar>,
        fill: impl Into<Scalar>,
    ) -> RemoveValue {
        let (key, size_key) = (Name::new(key), Name::new(size_key));
        RemoveValue { key, size_key, axis, value: value.into(), fill: fill.into() }
    }

    /// The number as an element, unless no element equals it: 256 is not cast to a `uint8`.
    fn target(&self, dtype: DType) -> Option<Scalar> {
        let is_exact = dtype.is_inexact() || self.value.cast(dtype).as_f64() == self.value.as_f64();
        is_exact.then_some(self.value)
    }

    fn remove(&self, value: &mut Value, axis: usize, sizes: &mut [i64]) -> Result<()> {
        let dtype = value.dtype();
        let element =
            |number| Value::new(Storage::splat(number, &umber_core::Shape::scalar(), dtype)?, dtype);
        let target = self.target(dtype).map(element).transpose()?;
        let fill = element(self.fill)?;
        let shape = value.shape().clone();
        let (length, inner) = (shape[axis], shape[axis + 1..].iter().product::<usize>());
        if !value.layout().is_contiguous() {
            *value = value.copied()?;
        }
        let mut view = value.make_mut()?;
        match_dtype!(dtype, T => {
            let target = target.as_ref().and_then(|target| target.view().as_slice::<T>()).map(|one| one[0]);
            let (Some(elements), Some(&[fill])) = (view.as_mut_slice::<T>(), fill.view().as_slice::<T>()) else {
                return Err(fault!(Runtime, "contiguous elements are not a slice"));
            };
            for (lane, size) in sizes.iter_mut().enumerate() {
                let start = lane / inner * inner * length + lane % inner;
                let mut kept = 0;
                for place in 0..*size as usize {
                    let element = elements[start + place * inner];
                    if target != Some(element) {
                        elements[start + kept * inner] = element;
                        kept += 1;
                    }
                }
                for place in kept..length {
                    elements[start + place * inner] = fill;
                }
                *size = kept as i64;
            }
        });
        Ok(())
    }
}

impl Operation for RemoveValue {
    fn name(&self) -> &'static str {
        "remove_value"
    }

    fn arguments(&self) -> String {
        format!("{self:?}")
    }

    fn apply(&self, mut sample: Sample, _draw: &Draw) -> Result<Option<Sample>> {
        let sizes = sample.require(self.size_key.as_str())?.clone();
        let at_sizes = |text: String| fault!(Value, "{text}").at_key(self.size_key.as_str());
        if !sizes.dtype().is_integer() {
            return Err(at_sizes(format!("numbers of elements are integers, got {}", sizes.dtype())));
        }
        let numbers = Cast::convert(sizes.clone(), DType::Int64)?.into_contiguous()?;
        let mut numbers = numbers.as_slice::<i64>().unwrap_or_default().to_vec();
        sample.update(&self.key, None, |mut value| {
            let axis = axis_of(&value, self.axis)?;
            let length = value.shape()[axis];
            let rows =
                value.shape().iter().enumerate().filter(|&(other, _)| other != axis).map(|(_, &rows)| rows);
            if !rows.filter(|&rows| rows != 1).eq(sizes.shape().iter().copied().filter(|&rows| rows != 1)) {
                return Err(at_sizes(format!(
                    "there is a number for each row: shape {} does not fit shape {} without axis {axis}",
                    sizes.shape(),
                    value.shape()
                )));
            }
            if let Some(number) = numbers.iter().find(|&&number| number < 0 || number > length as i64) {
                return Err(at_sizes(format!("{number} elements are not within an axis of length {length}")));
            }
            self.remove(&mut value, axis, &mut numbers)?;
            Ok(value)
        })?;
        let counted = Cast::convert(Value::from_slice(&numbers, sizes.shape().clone())?, sizes.dtype())?;
        sample.set(self.size_key.clone(), counted);
        Ok(Some(sample))
    }
}
