//! Images from files and to files.

use std::path::PathBuf;

use umber_core::{DType, Shape};
use umber_types::ErrorKind;

use crate::decode::{DecodeError, ImageOptions, decode, dimensions, encode_jpeg};
use crate::error::{DataError, Result};
use crate::fault;
use crate::operation::Operation;
use crate::ops::files::{io_fault, path_of};
use crate::ops::{Change, FileInput, Keys};
use crate::random::Draw;
use crate::sample::{Name, Sample};
use crate::value::Value;

/// What [`LoadImage`] reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ImageContent {
    /// The pixels: `uint8` of shape (height, width, channels).
    Pixels,
    /// Width and height, as `int64`, from the file's header.
    Size,
}

/// The pixels of an image file, or its size.
#[derive(Clone, Debug)]
pub struct LoadImage {
    /// The name or content, and where the image goes.
    pub keys: Keys,
    /// Which of both.
    pub input: FileInput,
    /// What is read.
    pub content: ImageContent,
    /// How it is decoded.
    pub options: ImageOptions,
}

impl LoadImage {
    /// The image in the file that the value names or is.
    ///
    /// # Errors
    /// If the number of channels is not from 1 to 4, or the least size is zero.
    pub fn new(
        keys: impl Into<Keys>,
        input: FileInput,
        content: ImageContent,
        options: ImageOptions,
    ) -> Result<LoadImage> {
        let fault = |text: String| Err(fault!(Value, "{text}").at_stage(Self::NAME));
        if let Some(channels) = options.channels.filter(|channels| !(1..=4).contains(channels)) {
            return fault(format!("channels must be 1, 2, 3 or 4, got {channels}"));
        }
        if let Some((width, height)) = options.at_least.filter(|&(width, height)| width == 0 || height == 0) {
            return fault(format!(
                "at_least must be a width and a height of at least 1, got {width} and {height}"
            ));
        }
        Ok(LoadImage { keys: keys.into(), input, content, options })
    }

    fn fault_of(&self, error: &DecodeError) -> DataError {
        let kind = match (error, &self.input) {
            (DecodeError::Argument(_), _) | (_, FileInput::Content) => ErrorKind::Value,
            (_, FileInput::Name(_)) => ErrorKind::Io,
        };
        DataError::new(kind, error.to_string())
    }
}

impl Change for LoadImage {
    const NAME: &'static str = "load_image";

    fn keys(&self) -> &Keys {
        &self.keys
    }

    fn change(&self, value: Value, _draw: &Draw) -> Result<Value> {
        self.input.with_bytes(&value, |bytes| match self.content {
            ImageContent::Size => {
                let (width, height) = dimensions(bytes).map_err(|error| self.fault_of(&error))?;
                Value::from_slice(&[width as i64, height as i64], 2)
            }
            ImageContent::Pixels => {
                let image = decode(bytes, &self.options).map_err(|error| self.fault_of(&error))?;
                let shape = Shape::from([image.height, image.width, image.channels]);
                let mut pixels = Value::allocate(&shape, DType::UInt8)?;
                pixels.bytes_mut()?.copy_from_slice(&image.pixels);
                Ok(pixels)
            }
        })
    }
}

/// Writes an image to a JPEG file, and leaves the sample as it is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SaveImage {
    /// The key of the image.
    pub key: Name,
    /// The key of the file's name, the suffix of which is replaced by `jpg`.
    pub name_key: Name,
    /// The folder.
    pub prefix: PathBuf,
    /// What is put before the name.
    pub name_prefix: String,
}

impl SaveImage {
    /// The quality of the files, from 1 to 100.
    const QUALITY: u8 = 80;

    /// Write the image to the folder `prefix`.
    pub fn new(
        key: &str,
        name_key: &str,
        prefix: impl Into<PathBuf>,
        name_prefix: impl Into<String>,
    ) -> SaveImage {
        let (key, name_key) = (Name::new(key), Name::new(name_key));
        SaveImage { key, name_key, prefix: prefix.into(), name_prefix: name_prefix.into() }
    }

    fn path(&self, name: &Value) -> Result<PathBuf> {
        let mut text = self.name_prefix.clone().into_bytes();
        text.extend_from_slice(&name.text("the name of a file")?);
        Ok(path_of(&self.prefix, &Value::from_bytes(&text)?)?.with_extension("jpg"))
    }

    fn encode(image: &Value) -> Result<Vec<u8>> {
        let [height, width, channels] = image.shape()[..] else {
            return Err(fault!(
                Value,
                "an image has the shape (height, width, channels), got {}",
                image.shape()
            ));
        };
        if image.dtype() != DType::UInt8 {
            return Err(fault!(Type, "the pixels are uint8, got {}; use cast", image.dtype()));
        }
        encode_jpeg(&image.bytes()?, width, height, channels, Self::QUALITY)
            .map_err(|error| DataError::new(ErrorKind::Value, error.to_string()))
    }
}

impl Operation for SaveImage {
    fn name(&self) -> &'static str {
        "save_image"
    }

    fn arguments(&self) -> String {
        format!("{self:?}")
    }

    fn apply(&self, sample: Sample, _draw: &Draw) -> Result<Option<Sample>> {
        let name = sample.require(self.name_key.as_str())?;
        let path = self.path(name).map_err(|error| error.at_key(self.name_key.as_str()))?;
        let image = sample.require(self.key.as_str())?;
        let bytes = SaveImage::encode(image).map_err(|error| error.at_key(self.key.as_str()))?;
        std::fs::write(&path, bytes)
            .map_err(|error| io_fault("write", &error).at_key(self.name_key.as_str()).in_file(path))?;
        Ok(Some(sample))
    }
}
