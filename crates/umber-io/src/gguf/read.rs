//! Reading GGUF files.

use std::collections::HashSet;
use std::path::Path;
use std::thread;

use umber_core::{Array, DType, Shape, frontend};
use umber_types::{Result, bail, ensure};

use super::affine::{Affine, GROUP};
use super::blocks::Block;
use super::*;
use crate::source::{Cursor, filled_array};
use crate::{Mapping, Source, Value, named, shape_of};

/// The content of a file.
#[derive(Debug)]
pub struct Contents {
    /// Arrays by name, in the order of the file.
    pub arrays: Vec<(String, Array)>,
    /// Metadata by name, in the order of the file.
    pub metadata: Vec<(String, Value)>,
}

impl Contents {
    /// The array with this name.
    ///
    /// # Errors
    /// If there is none.
    pub fn array(&self, name: &str) -> Result<&Array> {
        named(&self.arrays, name)
    }
}

/// Maximum nesting depth of lists.
pub(super) const MAX_DEPTH: u32 = 8;

/// Map the arrays in a file; quantised blocks are read.
pub fn load(path: impl AsRef<Path>) -> Result<Contents> {
    read(&Source::open(path, Mapping::Share)?)
}

/// The arrays in the bytes of a file.
pub fn read(source: &Source) -> Result<Contents> {
    source.named(|| {
        let mut cursor = Cursor::new(source);
        let (tensors, entries) = counts(&mut cursor)?;
        let metadata = metadata(&mut cursor, entries)?;
        let alignment = alignment(&metadata)?;
        let mut infos = Vec::new();
        for _ in 0..tensors {
            infos.push(Info::read(&mut cursor)?);
        }
        let begin = cursor.at() as u64;
        let begin = begin.checked_next_multiple_of(alignment).unwrap_or(u64::MAX);
        check_offsets(&infos, begin, source.length() as u64)?;
        let mut contents = Contents { arrays: Vec::new(), metadata };
        for info in infos {
            frontend::check_interrupted()?;
            let at = (begin + info.offset) as usize;
            info.arrays(source, at, &mut contents.arrays)
                .map_err(|error| error.about(format_args!("'{}'", info.name)))?;
        }
        let mut names = HashSet::new();
        for (name, _) in &contents.arrays {
            ensure!(names.insert(name), Value, "duplicate name '{name}'");
        }
        Ok(contents)
    })
}

/// The numbers of tensors and of metadata entries.
fn counts(cursor: &mut Cursor<'_>) -> Result<(u64, u64)> {
    ensure!(
        cursor.remaining() >= 4 && cursor.take(4)? == MAGIC,
        Value,
        "not a GGUF file: wrong magic number"
    );
    let version = cursor.u32()?;
    ensure!(
        version == 2 || version == 3,
        Value,
        "GGUF version {version}{} is not supported, expected 2 or 3",
        if version.swap_bytes() <= 3 { " (a big-endian file)" } else { "" }
    );
    Ok((cursor.u64()?, cursor.u64()?))
}

fn text(cursor: &mut Cursor<'_>) -> Result<String> {
    let length = usize::try_from(cursor.u64()?).unwrap_or(usize::MAX);
    match std::str::from_utf8(cursor.take(length)?) {
        Ok(text) => Ok(text.to_owned()),
        Err(_) => bail!(Value, "string before byte {} is not UTF-8", cursor.at()),
    }
}

fn metadata(cursor: &mut Cursor<'_>, entries: u64) -> Result<Vec<(String, Value)>> {
    let (mut metadata, mut names) = (Vec::new(), HashSet::new());
    for _ in 0..entries {
        let key = text(cursor)?;
        let kind = cursor.u32()?;
        let value =
            value(cursor, kind, MAX_DEPTH).map_err(|error| error.about(format_args!("metadata '{key}'")))?;
        ensure!(names.insert(key.clone()), Value, "duplicate metadata key '{key}'");
        metadata.push((key, value));
    }
    Ok(metadata)
}

fn dtype_of(kind: u32) -> Option<DType> {
    NUMBERS.iter().find(|(number, _)| *number == kind).map(|&(_, dtype)| dtype)
}

fn value(cursor: &mut Cursor<'_>, kind: u32, depth: u32) -> Result<Value> {
    if let Some(dtype) = dtype_of(kind) {
        return numbers(cursor, dtype, Shape::scalar());
    }
    match kind {
        TEXT => text(cursor).map(Value::Text),
        LIST => list(cursor, depth),
        _ => bail!(Value, "unknown value type {kind}, expected 0 to 12"),
    }
}

fn list(cursor: &mut Cursor<'_>, depth: u32) -> Result<Value> {
    ensure!(depth > 0, Value, "lists nested deeper than the maximum of {MAX_DEPTH} levels");
    let kind = cursor.u32()?;
    let count = cursor.u64()?;
    // Every value takes at least one byte.
    ensure!(
        count <= cursor.remaining() as u64,
        Value,
        "a list of {count} values does not fit in the remaining {} bytes",
        cursor.remaining()
    );
    if let Some(dtype) = dtype_of(kind) {
        return numbers(cursor, dtype, Shape::from([count as usize]));
    }
    match kind {
        TEXT => (0..count).map(|_| text(cursor)).collect::<Result<_>>().map(Value::Texts),
        LIST => (0..count).map(|_| list(cursor, depth - 1)).collect::<Result<_>>().map(Value::List),
        _ => bail!(Value, "unknown value type {kind} of a list, expected 0 to 12"),
    }
}

fn numbers(cursor: &mut Cursor<'_>, dtype: DType, shape: Shape) -> Result<Value> {
    let bytes = cursor.take(shape.size().saturating_mul(dtype.size()))?;
    let array = filled_array(dtype, &shape, |into| {
        into.copy_from_slice(bytes);
        Ok(())
    })?;
    Ok(Value::Array(array))
}

/// The alignment of tensors.
pub(super) fn alignment(metadata: &[(String, Value)]) -> Result<u64> {
    let Some((_, value)) = metadata.iter().find(|(key, _)| key == ALIGNMENT_KEY) else {
        return Ok(ALIGNMENT);
    };
    let got = match value {
        Value::Array(array) if array.ndim() == 0 && array.dtype().is_integer() => {
            let number = array.item()?.as_f64();
            if (1.0..=f64::from(1 << 30)).contains(&number) {
                return Ok(number as u64);
            }
            number.to_string()
        }
        Value::Array(array) => format!("an array of {} and shape {}", array.dtype(), array.shape()),
        Value::Text(text) => format!("the text {:?}", text.chars().take(40).collect::<String>()),
        Value::Texts(_) | Value::List(_) => "a list".to_owned(),
    };
    bail!(Value, "metadata '{ALIGNMENT_KEY}' must be an integer from 1 to 2**30, got {got}")
}

/// The description of a tensor.
struct Info {
    name: String,
    kind: Kind,
    shape: Shape,
    offset: u64,
    bytes: u64,
}

impl Info {
    fn read(cursor: &mut Cursor<'_>) -> Result<Info> {
        let name = text(cursor)?;
        Info::read_fields(cursor, &name).map_err(|error| error.about(format_args!("'{name}'")))
    }

    fn read_fields(cursor: &mut Cursor<'_>, name: &str) -> Result<Info> {
        let axes = cursor.u32()?;
        ensure!(
            axes as usize <= crate::MAX_AXES,
            Value,
            "array of {axes} axes; the maximum is {}",
            crate::MAX_AXES
        );
        let mut lengths = Vec::new();
        for _ in 0..axes {
            lengths.push(cursor.u64()?);
        }
        // Lengths are stored from the innermost axis outwards.
        lengths.reverse();
        let shape = shape_of(&lengths)?;
        let number = cursor.u32()?;
        let kind = match Kind::of(number) {
            Ok(kind) => kind,
            Err(what) => bail!(
                Type,
                "tensor type {number} ({what}) is not supported, expected plain numbers, Q4_0 to Q8_1 or \
                 Q2_K to Q8_K"
            ),
        };
        let (elements, bytes) = kind.block();
        let last = shape.last().copied().unwrap_or(1);
        ensure!(
            last.is_multiple_of(elements),
            Value,
            "last axis of shape {shape} is not divisible by the block size {elements}"
        );
        let bytes = (shape.size() / elements) as u64 * bytes as u64;
        Ok(Info { name: name.to_owned(), kind, shape, offset: cursor.u64()?, bytes })
    }

    /// Add the array, or the three arrays of a quantised weight.
    fn arrays(&self, source: &Source, at: usize, into: &mut Vec<(String, Array)>) -> Result<()> {
        match self.kind {
            Kind::Plain(dtype) => into.push((self.name.clone(), source.array(at, dtype, &self.shape)?)),
            Kind::Affine(affine) => {
                let bytes = source.bytes(at..at + self.bytes as usize)?;
                let stem = self.name.strip_suffix(".weight").unwrap_or(&self.name);
                let [packed, scales, biases] = weight(affine, &bytes, &self.shape)?;
                into.push((self.name.clone(), packed));
                into.push((format!("{stem}.scales"), scales));
                into.push((format!("{stem}.biases"), biases));
            }
            Kind::Blocks(block) => {
                let bytes = source.bytes(at..at + self.bytes as usize)?;
                into.push((self.name.clone(), dequantised(block, &bytes, &self.shape)?));
            }
        }
        Ok(())
    }
}

/// Check that tensors lie inside the file and do not overlap.
fn check_offsets(infos: &[Info], begin: u64, length: u64) -> Result<()> {
    let mut order: Vec<&Info> = infos.iter().filter(|info| info.bytes > 0).collect();
    order.sort_by_key(|info| info.offset);
    let mut free = 0;
    for info in order {
        let end = info.offset.checked_add(info.bytes);
        ensure!(
            info.offset >= free,
            Value,
            "'{}': data at {} overlaps the previous tensor, which ends at {free}",
            info.name,
            info.offset
        );
        let Some(end) = end.filter(|&end| begin.checked_add(end).is_some_and(|end| end <= length)) else {
            bail!(
                Value,
                "'{}': {} bytes of data at {begin} + {} exceed the file length {length}",
                info.name,
                info.bytes,
                info.offset
            );
        };
        free = end;
    }
    // The offset of an empty tensor is irrelevant, but must be inside the file.
    for info in infos.iter().filter(|info| info.bytes == 0) {
        ensure!(
            begin.checked_add(info.offset).is_some_and(|at| at <= length),
            Value,
            "'{}': offset {} is outside the file",
            info.name,
            info.offset
        );
    }
    Ok(())
}

/// The shape with its last axis divided by `by`.
fn divided(shape: &Shape, by: usize) -> Shape {
    match shape.split_last() {
        Some((&last, leading)) => leading.iter().copied().chain([last / by]).collect(),
        None => Shape::scalar(),
    }
}

/// Packed integers, scales and biases of a weight.
fn weight(affine: Affine, blocks: &[u8], shape: &Shape) -> Result<[Array; 3]> {
    let packed = filled_array(DType::UInt32, &divided(shape, 32 / affine.bits()), |into| {
        let into = into.chunks_exact_mut(GROUP * affine.bits() / 8);
        blocks.chunks_exact(affine.bytes()).zip(into).for_each(|(block, into)| affine.pack(block, into));
        Ok(())
    })?;
    let float16_array = |select: fn((half::f16, half::f16)) -> half::f16| {
        filled_array(DType::Float16, &divided(shape, GROUP), |into| {
            for (block, into) in blocks.chunks_exact(affine.bytes()).zip(into.chunks_exact_mut(2)) {
                into.copy_from_slice(&select(affine.scale_and_bias(block)).to_le_bytes());
            }
            Ok(())
        })
    };
    Ok([packed, float16_array(|(scale, _)| scale)?, float16_array(|(_, bias)| bias)?])
}

/// Dequantise blocks, on several threads if there are many.
fn dequantised(block: Block, blocks: &[u8], shape: &Shape) -> Result<Array> {
    const MIN_BLOCKS_PER_THREAD: usize = 1 << 12;
    let count = blocks.len() / block.bytes();
    let threads = thread::available_parallelism()
        .map_or(1, usize::from)
        .min(count.div_ceil(MIN_BLOCKS_PER_THREAD))
        .max(1);
    let chunk = count.div_ceil(threads).max(1);
    filled_array(DType::Float16, shape, |into| {
        let chunks = blocks.chunks(chunk * block.bytes()).zip(into.chunks_mut(chunk * block.elements() * 2));
        if threads == 1 {
            chunks.for_each(|(blocks, into)| block.dequantise(blocks, into));
        } else {
            thread::scope(|scope| {
                for (blocks, into) in chunks {
                    scope.spawn(move || block.dequantise(blocks, into));
                }
            });
        }
        Ok(())
    })
}
