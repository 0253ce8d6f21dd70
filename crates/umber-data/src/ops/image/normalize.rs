//! Pixels to numbers around zero.

use umber_core::{DType, Shape};
use umber_types::{Element, bf16, f16};

use crate::error::{DataError, Result};
use crate::fault;
use crate::image::{Layout, Normalization, Normalized};
use crate::ops::image::Frames;
use crate::ops::{Cast, Change, Keys, Scale};
use crate::random::Draw;
use crate::value::Value;

/// (x · scale − mean) / std of each channel, in one pass over the image.
#[derive(Clone, Debug, PartialEq)]
pub struct ImageNormalize {
    /// The image, and where the result goes.
    pub keys: Keys,
    /// The mean of each channel, or of all.
    pub mean: Vec<f64>,
    /// The standard deviation of each channel, or of all.
    pub std: Vec<f64>,
    /// What pixels are multiplied by first.
    pub scale: f64,
    /// The order of the axes of the result.
    pub layout: Layout,
    /// The dtype of the result.
    pub dtype: DType,
}

impl ImageNormalize {
    /// (x · `scale` − `mean`) / `std`; `mean` and `std` have one number, or one a channel.
    ///
    /// # Errors
    /// If the numbers of both differ and neither is one, a deviation is zero, or the dtype is not one of floating-point numbers.
    pub fn new(
        keys: impl Into<Keys>,
        mean: Vec<f64>,
        std: Vec<f64>,
        scale: f64,
        layout: Layout,
        dtype: DType,
    ) -> Result<ImageNormalize> {
        if !matches!(dtype, DType::Float16 | DType::BFloat16 | DType::Float32 | DType::Float64) {
            return Err(fault!(Type, "the result is floating-point, got dtype {dtype}").at_stage(Self::NAME));
        }
        let normalize = ImageNormalize { keys: keys.into(), mean, std, scale, layout, dtype };
        let channels = normalize.mean.len().max(normalize.std.len());
        let fault_of = |error| DataError::from(error).at_stage(Self::NAME);
        Normalization::new(channels, scale, &normalize.mean, &normalize.std).map_err(fault_of)?;
        Ok(normalize)
    }

    /// The result's shape for a value with frames.
    fn shape(&self, value: &Value) -> Shape {
        match self.layout {
            Layout::Hwc => value.shape().clone(),
            Layout::Chw => self.axes(value.ndim()).iter().map(|&axis| value.shape()[axis]).collect(),
        }
    }

    /// The place of each of the result's axes in the value.
    fn axes(&self, ndim: usize) -> Vec<usize> {
        let mut axes: Vec<usize> = (0..ndim).collect();
        if self.layout == Layout::Chw {
            axes[ndim - 3..].rotate_right(1);
        }
        axes
    }

    /// Pixels of one byte, by loops made for them.
    fn bytes<T: Normalized + Element>(&self, value: &Value, frames: Frames) -> Result<Value> {
        let normalization = Normalization::new(frames.extent.channels, self.scale, &self.mean, &self.std)?;
        let mut out = Value::allocate(&self.shape(value), self.dtype)?;
        let source = value.bytes()?;
        let mut view = out.make_mut()?;
        let target = view.as_mut_slice::<T>().unwrap_or_default();
        let length = source.len() / frames.count.max(1);
        for frame in 0..frames.count {
            let (source, target) =
                (&source[frame * length..][..length], &mut target[frame * length..][..length]);
            normalization.apply(source, frames.extent, self.layout, target)?;
        }
        Ok(out)
    }

    /// Pixels of any dtype.
    fn numbers(&self, value: Value, frames: Frames) -> Result<Value> {
        let (channels, value) = (frames.extent.channels, Cast::widened(value)?);
        Normalization::new(channels, self.scale, &self.mean, &self.std)?;
        let (program, wide) = Scale::program(value.dtype(), self.dtype)?;
        let of_channel =
            |numbers: &[f64], channel: usize| numbers[if numbers.len() == 1 { 0 } else { channel }];
        let operand = |number: &dyn Fn(usize) -> f64| -> Result<Value> {
            let numbers: Vec<f64> = (0..channels).map(number).collect();
            let numbers = Cast::convert(Value::from_slice(&numbers, channels)?, wide)?;
            numbers.with_layout(numbers.layout().broadcast_to(value.shape()))
        };
        let factors = operand(&|channel| self.scale / of_channel(&self.std, channel))?;
        let offsets = operand(&|channel| -of_channel(&self.mean, channel) / of_channel(&self.std, channel))?;
        if self.layout == Layout::Hwc {
            return value.map_elements(self.dtype, |from, to| {
                program.run(&[from, factors.view(), offsets.view()], &mut [to]);
            });
        }
        let out = Value::allocate(&self.shape(&value), self.dtype)?;
        let contiguous = out.layout().clone();
        // The result with the axes of the value.
        let mut order = vec![0; value.ndim()];
        self.axes(value.ndim()).iter().enumerate().for_each(|(place, &axis)| order[axis] = place);
        let permuted = out.with_layout(contiguous.permute(&order))?;
        drop(out);
        let mut permuted = permuted;
        program.run(&[value.view(), factors.view(), offsets.view()], &mut [permuted.make_mut()?]);
        permuted.with_layout(contiguous)
    }
}

impl Change for ImageNormalize {
    const NAME: &'static str = "image_normalize";

    fn keys(&self) -> &Keys {
        &self.keys
    }

    fn change(&self, value: Value, _draw: &Draw) -> Result<Value> {
        let frames = Frames::of(&value)?;
        match (value.dtype(), self.dtype) {
            (DType::UInt8, DType::Float32) => self.bytes::<f32>(&value, frames),
            (DType::UInt8, DType::Float16) => self.bytes::<f16>(&value, frames),
            (DType::UInt8, DType::BFloat16) => self.bytes::<bf16>(&value, frames),
            _ => self.numbers(value, frames),
        }
    }
}
