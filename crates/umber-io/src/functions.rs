//! Files of exported functions: programs as JSON, and captured arrays as tensors.
//!
//! The container is a safetensors file, so that any reader of that format can list a function's arrays. Its metadata has
//! the entries `format` (always [`FORMAT`]), `version`, `functions` (JSON: signatures, steps, the names of constants)
//! and `metadata` (any text of the user). Readers reject versions newer than their own.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use serde::{Deserialize, Serialize};
use umber_core::compile::FreeAxes;
use umber_core::export::{Exported, Free, Signature};
use umber_core::graph::walk::IdMap;
use umber_core::graph::{ArrayInternals, Program};
use umber_core::{Array, DType, eval, ops};
use umber_types::{Error, Result, bail, ensure, error};

use crate::{Mapping, Source, safetensors};

/// The value of the metadata entry `format`.
pub const FORMAT: &str = "umber.functions";
/// The version that is written, and the newest that can be read.
pub const VERSION: u32 = 2;

const OP: &str = "import_function";

/// The content of a file.
#[derive(Debug)]
pub struct Functions {
    /// One function, traced for several signatures.
    pub traces: Vec<Exported>,
    /// The user's metadata.
    pub metadata: String,
}

/// A trace as stored in the file.
#[derive(Serialize, Deserialize)]
struct Record {
    signature: Signature,
    free: Axes,
    program: Program,
    /// Names of the captured arrays.
    constants: Vec<Constant>,
}

/// The other lengths for which a trace may be called.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Axes {
    /// Version 1: for each argument, which axes may have other lengths.
    AxisFlags(Vec<Vec<bool>>),
    /// Since version 2.
    Free(Free),
}

impl From<Axes> for Free {
    fn from(axes: Axes) -> Free {
        let flags = match axes {
            Axes::Free(free) => return free,
            Axes::AxisFlags(flags) => flags,
        };
        let axes = flags.iter().enumerate().flat_map(|(argument, axes)| {
            axes.iter().enumerate().filter(|(_, free)| **free).map(move |(axis, _)| vec![(argument, axis)])
        });
        let axes = FreeAxes { long: axes.collect(), short: Vec::new() };
        Free { axes, ..Free::default() }
    }
}

#[derive(Clone, Serialize, Deserialize)]
struct Constant {
    name: String,
    /// Whether it is a complex128 array, for which safetensors has no dtype, stored as pairs of reals along the last axis.
    paired: bool,
    shape: Vec<usize>,
    /// If the tensor is a transpose of the array: for each axis of the array, the axis of the tensor.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    axes: Vec<i64>,
}

/// The tensors of a file. Arrays with equal content share one, also if they are transposes of each other.
#[derive(Default)]
struct Tensors {
    named: Vec<(String, Array)>,
    names: IdMap<(usize, u32), Constant>,
    /// Indices of tensors by the hash of their elements.
    hashes: HashMap<u64, Vec<usize>>,
}

impl Tensors {
    /// Add an evaluated array; returns its entry in the file.
    fn constant(&mut self, array: &Array) -> Result<Constant> {
        if let Some(known) = self.names.get(&array.id()) {
            return Ok(known.clone());
        }
        let paired = array.dtype() == DType::Complex128;
        let shape = array.shape().to_vec();
        let (tensor, axes) =
            if paired { (paired_reals(array)?, Vec::new()) } else { in_memory_order(array)? };
        let tensor = tensor.to_dense()?;
        let constant = Constant { name: self.name(tensor), paired, shape, axes };
        self.names.insert(array.id(), constant.clone());
        Ok(constant)
    }

    /// The name of the tensor with these elements, which is added if there is none.
    fn name(&mut self, tensor: Array) -> String {
        let mut hasher = DefaultHasher::new();
        (tensor.dtype(), tensor.shape(), bytes_of(&tensor)).hash(&mut hasher);
        let indices = self.hashes.entry(hasher.finish()).or_default();
        for &index in &*indices {
            let (name, known) = &self.named[index];
            if known.spec() == tensor.spec() && bytes_of(known) == bytes_of(&tensor) {
                return name.clone();
            }
        }
        let name = format!("constant.{}", self.named.len());
        indices.push(self.named.len());
        self.named.push((name.clone(), tensor));
        name
    }
}

/// The elements of a contiguous evaluated array.
fn bytes_of(dense: &Array) -> &[u8] {
    let bytes = dense.storage().and_then(|storage| storage.host()?.dense_bytes(dense.dtype()));
    bytes.expect("the array is contiguous and evaluated")
}

/// The array with its axes in memory order, if it is contiguous then, and for each of its axes the axis of the result;
/// otherwise the array itself. A matrix and its transpose thus share one tensor.
fn in_memory_order(array: &Array) -> Result<(Array, Vec<i64>)> {
    let Some(storage) = array.storage() else { return Ok((array.clone(), Vec::new())) };
    let (shape, strides) = (&storage.layout().shape, &storage.layout().strides);
    let mut order: Vec<usize> = (0..array.ndim()).collect();
    order.sort_by_key(|&axis| std::cmp::Reverse(strides[axis]));
    let mut expected = 1;
    for &axis in order.iter().rev() {
        if shape[axis] != 1 && strides[axis] != expected {
            return Ok((array.clone(), Vec::new()));
        }
        expected *= shape[axis] as isize;
    }
    if order.is_sorted() || array.size() == 0 {
        return Ok((array.clone(), Vec::new()));
    }
    let mut axes = vec![0; order.len()];
    for (position, &axis) in order.iter().enumerate() {
        axes[axis] = position as i64;
    }
    let order: Vec<i64> = order.into_iter().map(|axis| axis as i64).collect();
    let tensor = ops::transpose(array, Some(&order))?;
    eval(std::slice::from_ref(&tensor))?;
    Ok((tensor, axes))
}

/// Write traces of a function atomically.
pub fn save(path: &Path, traces: &[Exported], metadata: &str) -> Result<()> {
    let constants: Vec<Array> = traces.iter().flat_map(|trace| trace.constants.iter().cloned()).collect();
    eval(&constants)?;
    let mut tensors = Tensors::default();
    let mut records = Vec::with_capacity(traces.len());
    for trace in traces {
        let constants_of_trace =
            trace.constants.iter().map(|array| tensors.constant(array)).collect::<Result<_>>()?;
        records.push(Record {
            signature: trace.signature.clone(),
            free: Axes::Free(trace.free.clone()),
            program: trace.program.clone(),
            constants: constants_of_trace,
        });
    }
    let functions = serde_json::to_string(&records)
        .map_err(|error| error!(Value("export_function"), "the function cannot be saved: {error}"))?;
    let entries = [
        ("format", FORMAT.to_owned()),
        ("version", VERSION.to_string()),
        ("functions", functions),
        ("metadata", metadata.to_owned()),
    ];
    let entries: HashMap<String, String> =
        entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    safetensors::save(path, &tensors.named, Some(entries))
}

/// Maximum nesting depth of the JSON; nested functions add several levels each, but no real file comes near this.
const MAX_NESTING: usize = 2048;
/// Stack size for this depth, independent of the calling thread's.
const STACK: usize = 64 << 20;

/// Parse the functions, or return an error text.
fn parsed(text: &str) -> std::result::Result<Vec<Record>, String> {
    let levels = levels_of(text);
    if levels > MAX_NESTING {
        return Err(format!("{levels} levels of nesting exceed the maximum of {MAX_NESTING}"));
    }
    let parse = || {
        let mut reader = serde_json::Deserializer::from_str(text);
        reader.disable_recursion_limit();
        let records = Vec::deserialize(&mut reader).map_err(|error| error.to_string())?;
        reader.end().map_err(|error| error.to_string())?;
        Ok(records)
    };
    std::thread::scope(|scope| {
        let reader = std::thread::Builder::new().stack_size(STACK).spawn_scoped(scope, parse);
        let reader = reader.map_err(|error| error.to_string())?;
        reader.join().unwrap_or_else(|_| Err("they cannot be read".to_owned()))
    })
}

/// The maximum nesting depth of brackets outside of strings.
fn levels_of(text: &str) -> usize {
    let (mut level, mut max_level, mut in_string, mut is_escaped) = (0usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                level += 1;
                max_level = max_level.max(level);
            }
            b']' | b'}' if !in_string => level = level.saturating_sub(1),
            _ => {}
        }
    }
    max_level
}

/// Read a file that [`save`] wrote. Every step of the programs is validated, and other content is an error.
pub fn load(path: &Path) -> Result<Functions> {
    let format_error = |message: &str| error!(Value(OP), "{}: {message}", path.display());
    // Copied, not mapped: a function may be called after its file was deleted or replaced.
    let contents = Source::open(path, Mapping::Copy)
        .and_then(|source| safetensors::read(&source))
        .map_err(|error| error.with_op(OP))?;
    let entry = |name: &str| contents.metadata.get(name).map(String::as_str);
    ensure_that(entry("format") == Some(FORMAT), || {
        format_error("not a file of functions, expected one by export_function")
    })?;
    let version: u32 = entry("version").and_then(|text| text.parse().ok()).unwrap_or(0);
    ensure_that((1..=VERSION).contains(&version), || {
        format_error(&format!("format version {version} is not supported; the newest is {VERSION}"))
    })?;
    let text = entry("functions").unwrap_or_default();
    let records = parsed(text).map_err(|what| format_error(&format!("the functions are damaged: {what}")))?;
    let arrays: HashMap<&str, &Array> =
        contents.arrays.iter().map(|(name, array)| (name.as_str(), array)).collect();
    let mut traces = Vec::with_capacity(records.len());
    for record in records {
        // Checks may panic on nonsensical parameters of a malicious file.
        let checked = catch_unwind(AssertUnwindSafe(|| exported(record, &arrays)));
        let checked = checked.unwrap_or_else(|_| bail!(Value, "invalid parameters of an operation"));
        traces.push(checked.map_err(|error| error.with_op(OP).about(path.display()))?);
    }
    Ok(Functions { traces, metadata: entry("metadata").unwrap_or_default().to_owned() })
}

fn ensure_that(holds: bool, error: impl FnOnce() -> Error) -> Result<()> {
    if holds { Ok(()) } else { Err(error()) }
}

fn exported(record: Record, arrays: &HashMap<&str, &Array>) -> Result<Exported> {
    let mut constants = Vec::with_capacity(record.constants.len());
    for constant in &record.constants {
        let Some(&array) = arrays.get(constant.name.as_str()) else {
            bail!(Value, "the array '{}' is missing", constant.name);
        };
        constants.push(match &constant.axes[..] {
            _ if constant.paired => from_pairs(array, &constant.shape)?,
            [] => array.clone(),
            axes => ops::transpose(array, Some(axes))?,
        });
    }
    Exported::checked(record.signature, record.free.into(), record.program, constants)
}

fn paired_reals(array: &Array) -> Result<Array> {
    ops::stack(&[&ops::real(array)?, &ops::imag(array)?], -1)
}

fn from_pairs(array: &Array, shape: &[usize]) -> Result<Array> {
    let lengths: Vec<usize> = shape.iter().copied().chain([2]).collect();
    ensure!(
        array.dtype() == DType::Float64 && array.shape()[..] == lengths[..],
        Value,
        "float64 pairs have shape {} and dtype {}",
        array.shape(),
        array.dtype()
    );
    let dense = ops::view(array, DType::Complex128)?;
    ops::squeeze(&dense, Some(&[-1]))
}
