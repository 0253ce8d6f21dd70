//! Images of a folder as batches of arrays: `cargo run -p umber-data --example image_folder`.

use std::error::Error;
use std::path::{Path, PathBuf};

use umber_core::Array;
use umber_data::decode::ImageOptions;
use umber_data::image::Layout;
use umber_data::ops::{
    FileInput, ImageContent, ImageNormalize, ImageRandomCrop, ImageRandomHFlip, ImageResizeSmallestSide,
    Keys, LoadImage, SaveImage,
};
use umber_data::stage::BatchOptions;
use umber_data::{Buffer, DataError, Name, Sample, Stream, Value};
use umber_types::DType;

const COUNT: usize = 20;
const CLASSES: [&str; 2] = ["horizontal", "vertical"];

/// Write images of a gradient in one of two directions, a subfolder for each.
fn write_images(folder: &Path) -> Result<(), Box<dyn Error>> {
    let mut samples = Vec::new();
    for number in 0..COUNT {
        let (height, width) = (40 + number, 60 - number);
        let class = number % CLASSES.len();
        let shade = |row: usize, column: usize| match class {
            0 => 255 * column / width,
            _ => 255 * row / height,
        };
        let pixels: Vec<u8> =
            (0..height * width).flat_map(|place| [shade(place / width, place % width) as u8; 3]).collect();
        let mut sample = Sample::new();
        sample.set(Name::new("image"), Value::from_slice(&pixels, [height, width, 3])?);
        let file = format!("{}/{number}", CLASSES[class]);
        sample.set(Name::new("file"), Value::from_bytes(file.as_bytes())?);
        samples.push(sample);
        std::fs::create_dir_all(folder.join(CLASSES[class]))?;
    }
    let images = Buffer::from_samples(samples).apply(SaveImage::new("image", "file", folder, ""));
    for image in images.iter() {
        image?;
    }
    Ok(())
}

/// The names and labels of the images in a folder.
fn names(folder: &Path) -> Result<Buffer, Box<dyn Error>> {
    let mut samples = Vec::new();
    for (label, class) in CLASSES.iter().enumerate() {
        let mut files: Vec<PathBuf> = std::fs::read_dir(folder.join(class))?
            .map(|entry| Ok(entry?.path()))
            .collect::<std::io::Result<_>>()?;
        files.sort_unstable();
        for file in files {
            let mut sample = Sample::new();
            sample.set(Name::new("image"), Value::from_bytes(file.as_os_str().as_encoded_bytes())?);
            sample.set(Name::new("label"), Value::scalar(label as i32)?);
            samples.push(sample);
        }
    }
    Ok(Buffer::from_samples(samples))
}

/// Batches of eight images of 32 × 32 pixels, decoded, resized, cut out, flipped and normalised on threads.
fn batches(folder: &Path) -> Result<Stream, Box<dyn Error>> {
    let normal = |value: f64| vec![value; 3];
    let load =
        LoadImage::new("image", FileInput::new("", false), ImageContent::Pixels, ImageOptions::default());
    Ok(names(folder)?
        .to_shuffled_stream(Some(0))
        .apply(load?)
        .apply(ImageResizeSmallestSide::new("image", 36)?)
        .apply(ImageRandomCrop::new("image", 32, 32)?)
        .apply(ImageRandomHFlip::new("image", 0.5)?)
        .apply(ImageNormalize::new(
            Keys::from("image"),
            normal(0.5),
            normal(0.25),
            1.0 / 255.0,
            Layout::Hwc,
            DType::Float32,
        )?)
        .batch(BatchOptions::new(8))?
        .prefetch(None, None, true))
}

fn arrays(batch: &Sample) -> Result<(Array, Array), DataError> {
    Ok((batch.require("image")?.to_array()?, batch.require("label")?.to_array()?))
}

fn main() -> Result<(), Box<dyn Error>> {
    let folder = std::env::temp_dir().join(format!("umber-image-folder-{}", std::process::id()));
    write_images(&folder)?;
    let stream = batches(&folder)?;

    let first = stream.next().ok_or("there is no image")??;
    let (images, labels) = arrays(&first)?;
    println!("images {} {}, labels {labels}", images.shape(), images.dtype());
    let state = serde_json::to_string(&stream.state())?;
    let rest: Vec<Sample> = stream.iter().collect::<Result<_, DataError>>()?;
    let count: usize = rest.iter().filter_map(|batch| batch.get("label")).map(Value::size).sum();
    assert_eq!(count, COUNT - 8, "every image comes once");

    // As after an interruption: a new pipeline, the same crops and flips.
    let again = batches(&folder)?;
    again.load_state(&serde_json::from_str(&state)?)?;
    let same: Vec<Sample> = again.iter().collect::<Result<_, DataError>>()?;
    assert_eq!(same, rest, "the pipeline did not go on where it was");
    println!("{count} more images, and the same again from the state: {} bytes", state.len());
    std::fs::remove_dir_all(&folder)?;
    Ok(())
}

#[test]
fn goes_on_with_the_same_images() -> Result<(), Box<dyn Error>> {
    main()
}
