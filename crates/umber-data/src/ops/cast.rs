//! Other dtypes, and numbers scaled on the way.

use umber_core::{DType, Shape};
use umber_kernels::tape::{self, Program};
use umber_types::BinaryKind;
use umber_types::tape::{Step, Tape};

use crate::error::Result;
use crate::fault;
use crate::ops::{Change, Keys};
use crate::random::Draw;
use crate::value::Value;

/// Converts a value to another dtype, as an array's `astype`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cast {
    /// The value, and where the result goes.
    pub keys: Keys,
    /// The dtype of the result.
    pub dtype: DType,
}

impl Cast {
    /// Convert to `dtype`.
    pub fn new(keys: impl Into<Keys>, dtype: DType) -> Cast {
        Cast { keys: keys.into(), dtype }
    }

    /// The value as `dtype`.
    pub(super) fn convert(value: Value, dtype: DType) -> Result<Value> {
        if value.dtype() == dtype {
            return Ok(value);
        }
        if dtype.is_float8() || value.dtype().is_float8() {
            // Elements of eight bits have kernels of their own, which arrays know.
            return Value::from_array(&value.to_array()?.astype(dtype)?);
        }
        value.map_elements(dtype, |from, to| tape::copy(from, to))
    }
}

impl Cast {
    /// The value with elements that programs compute with: `float32` instead of eight bits.
    pub(super) fn widened(value: Value) -> Result<Value> {
        let dtype = if value.dtype().is_float8() { DType::Float32 } else { value.dtype() };
        Cast::convert(value, dtype)
    }
}

impl Change for Cast {
    const NAME: &'static str = "cast";

    fn keys(&self) -> &Keys {
        &self.keys
    }

    fn change(&self, value: Value, _draw: &Draw) -> Result<Value> {
        Cast::convert(value, self.dtype)
    }
}

/// x · scale + bias, with one number or one for each index of the last axis.
///
/// It is computed in single precision; in double precision where the value or the result has more than 32 bits.
#[derive(Clone, Debug, PartialEq)]
pub struct Scale {
    /// The value, and where the result goes.
    pub keys: Keys,
    /// The factors.
    pub scale: Vec<f64>,
    /// What is added.
    pub bias: Vec<f64>,
    /// The dtype of the result.
    pub dtype: DType,
}

impl Scale {
    /// x · `scale` + `bias` as `dtype`; both have one number, or one for each index of the last axis.
    ///
    /// # Errors
    /// If there is no factor, or no bias, both have several and not the same number, or the dtype is not real.
    pub fn new(keys: impl Into<Keys>, scale: Vec<f64>, bias: Vec<f64>, dtype: DType) -> Result<Scale> {
        let (scales, biases) = (scale.len(), bias.len());
        if scales == 0 || biases == 0 || (scales != biases && scales != 1 && biases != 1) {
            let text = "scale and bias have one number, or one for each index of the last axis";
            return Err(fault!(Value, "{text}, got {scales} and {biases}").at_stage(Self::NAME));
        }
        if dtype.is_complex() {
            return Err(fault!(Type, "the result is real, got dtype {dtype}").at_stage(Self::NAME));
        }
        Ok(Scale { keys: keys.into(), scale, bias, dtype })
    }

    /// `x · scale + bias`, each of which broadcasts to x, as a program for a value of dtype `from`.
    pub(super) fn program(from: DType, to: DType) -> Result<(Program, DType)> {
        if from.is_complex() {
            return Err(fault!(Type, "complex numbers are not scaled, got {from}"));
        }
        let is_wide = |dtype: DType| dtype.size() == 8;
        let wide = if is_wide(from) || is_wide(to) { DType::Float64 } else { DType::Float32 };
        let tape = Tape {
            inputs: vec![from, wide, wide],
            steps: vec![
                Step::Cast { x: 0, to: wide },
                Step::Binary { kind: BinaryKind::Multiply, a: 3, b: 1 },
                Step::Binary { kind: BinaryKind::Add, a: 4, b: 2 },
                Step::Cast { x: 5, to },
            ],
            outputs: vec![6],
        };
        Ok((Program::new(&tape)?, wide))
    }
}

impl Change for Scale {
    const NAME: &'static str = "scale";

    fn keys(&self) -> &Keys {
        &self.keys
    }

    fn change(&self, value: Value, _draw: &Draw) -> Result<Value> {
        let value = Cast::widened(value)?;
        let dtype = if self.dtype.is_float8() { DType::Float32 } else { self.dtype };
        let (program, wide) = Scale::program(value.dtype(), dtype)?;
        let operand = |name: &str, numbers: &[f64]| -> Result<Value> {
            let last = value.shape().last().copied();
            if numbers.len() != 1 && last != Some(numbers.len()) {
                return Err(fault!(
                    Value,
                    "{name} has {} numbers, which are not the last axis of shape {}",
                    numbers.len(),
                    value.shape()
                ));
            }
            let shape = if numbers.len() == 1 { Shape::scalar() } else { numbers.len().into() };
            let numbers = Cast::convert(Value::from_slice(numbers, shape)?, wide)?;
            numbers.with_layout(numbers.layout().broadcast_to(value.shape()))
        };
        let (scale, bias) = (operand("scale", &self.scale)?, operand("bias", &self.bias)?);
        let scaled = value.map_elements(dtype, |from, to| {
            program.run(&[from, scale.view(), bias.view()], &mut [to]);
        })?;
        Cast::convert(scaled, self.dtype)
    }
}
