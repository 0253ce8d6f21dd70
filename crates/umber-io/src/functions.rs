//! Files of exported functions: programs as JSON, and the arrays they captured as tensors.
//!
//! A file is a safetensors file, so that any reader of that format can list what a function holds. Its metadata has
//! the entries `format` (always [`FORMAT`]), `version`, `functions` (JSON: signatures, steps, the names of constants)
//! and `metadata` (whatever the user says). A reader refuses a version that is newer than its own.

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

/// What the metadata entry `format` says.
pub const FORMAT: &str = "umber.functions";
/// The version that is written, and the newest that can be read.
pub const VERSION: u32 = 2;

const OP: &str = "import_function";

/// What a file holds.
#[derive(Debug)]
pub struct Functions {
    /// One function, traced for several signatures.
    pub traces: Vec<Exported>,
    /// What the user saved beside it.
    pub metadata: String,
}

/// A trace as the file says it.
#[derive(Serialize, Deserialize)]
struct Record {
    signature: Signature,
    free: Axes,
    program: Program,
    /// Names of the captured arrays.
    constants: Vec<Constant>,
}

/// At which other lengths a trace may be called.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
enum Axes {
    /// As the first version said it: of each argument, the axes that may have other lengths.
    Each(Vec<Vec<bool>>),
    /// As it is said now.
    Free(Free),
}

impl From<Axes> for Free {
    fn from(axes: Axes) -> Free {
        let each = match axes {
            Axes::Free(free) => return free,
            Axes::Each(each) => each,
        };
        let axes = each.iter().enumerate().flat_map(|(argument, axes)| {
            axes.iter().enumerate().filter(|(_, free)| **free).map(move |(axis, _)| vec![(argument, axis)])
        });
        let axes = FreeAxes { long: axes.collect(), short: Vec::new() };
        Free { axes, ..Free::default() }
    }
}

#[derive(Clone, Serialize, Deserialize)]
struct Constant {
    name: String,
    /// Complex numbers of 64-bit parts, for which the format has no word: pairs of reals along the last axis.
    paired: bool,
    shape: Vec<usize>,
    /// Where the tensor is the array with its axes in another order: which axis of the tensor each axis is.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    axes: Vec<i64>,
}

/// The tensors of a file: each content once, whichever arrays have it, in whatever order of their axes.
#[derive(Default)]
struct Tensors {
    named: Vec<(String, Array)>,
    names: IdMap<(usize, u32), Constant>,
    /// The tensors whose elements have this hash.
    hashes: HashMap<u64, Vec<usize>>,
}

impl Tensors {
    /// How an evaluated array is found in the file.
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

    /// The name of a dense array, which is added unless there is one with its elements.
    fn name(&mut self, tensor: Array) -> String {
        let mut hasher = DefaultHasher::new();
        (tensor.dtype(), tensor.shape(), bytes_of(&tensor)).hash(&mut hasher);
        let places = self.hashes.entry(hasher.finish()).or_default();
        for &place in &*places {
            let (name, known) = &self.named[place];
            if known.spec() == tensor.spec() && bytes_of(known) == bytes_of(&tensor) {
                return name.clone();
            }
        }
        let name = format!("constant.{}", self.named.len());
        places.push(self.named.len());
        self.named.push((name.clone(), tensor));
        name
    }
}

/// The elements of a dense array, which has values.
fn bytes_of(dense: &Array) -> &[u8] {
    let bytes = dense.storage().and_then(|storage| storage.host()?.dense_bytes(dense.dtype()));
    bytes.expect("the array is dense and has values")
}

/// The array with its axes in the order in which they lie in memory, if it is dense then, and which axis of that each of
/// its own is; else the array itself. So a matrix and its transpose are one tensor.
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
    for (place, &axis) in order.iter().enumerate() {
        axes[axis] = place as i64;
    }
    let order: Vec<i64> = order.into_iter().map(|axis| axis as i64).collect();
    let tensor = ops::transpose(array, Some(&order))?;
    eval(std::slice::from_ref(&tensor))?;
    Ok((tensor, axes))
}

/// Write traces of a function; the file is whole or not there.
pub fn save(path: &Path, traces: &[Exported], metadata: &str) -> Result<()> {
    let constants: Vec<Array> = traces.iter().flat_map(|trace| trace.constants.iter().cloned()).collect();
    eval(&constants)?;
    let mut tensors = Tensors::default();
    let mut records = Vec::with_capacity(traces.len());
    for trace in traces {
        let listed = trace.constants.iter().map(|array| tensors.constant(array)).collect::<Result<_>>()?;
        records.push(Record {
            signature: trace.signature.clone(),
            free: Axes::Free(trace.free.clone()),
            program: trace.program.clone(),
            constants: listed,
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

/// Functions within functions lie several levels deeper each. What is deeper than this nobody wrote.
const MAX_NESTING: usize = 2048;
/// Room for so many levels, whatever the thread that asks has.
const STACK: usize = 64 << 20;

/// What the text says, or what is wrong with it.
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

/// How deep the brackets of a text lie within each other, those in strings aside.
fn levels_of(text: &str) -> usize {
    let (mut level, mut deepest, mut in_string, mut is_escaped) = (0usize, 0, false, false);
    for byte in text.bytes() {
        match byte {
            _ if is_escaped => is_escaped = false,
            b'\\' if in_string => is_escaped = true,
            b'"' => in_string = !in_string,
            b'[' | b'{' if !in_string => {
                level += 1;
                deepest = deepest.max(level);
            }
            b']' | b'}' if !in_string => level = level.saturating_sub(1),
            _ => {}
        }
    }
    deepest
}

/// Read a file that [`save`] wrote. Whatever else is in there is refused: what it says is checked step by step.
pub fn load(path: &Path) -> Result<Functions> {
    let refused = |what: &str| error!(Value(OP), "{}: {what}", path.display());
    // A function may be called when its file is long gone or another: its arrays are copied.
    let contents = Source::open(path, Mapping::Copy)
        .and_then(|source| safetensors::read(&source))
        .map_err(|error| error.with_op(OP))?;
    let entry = |name: &str| contents.metadata.get(name).map(String::as_str);
    ensure_that(entry("format") == Some(FORMAT), || {
        refused("not a file of functions, expected one by export_function")
    })?;
    let version: u32 = entry("version").and_then(|text| text.parse().ok()).unwrap_or(0);
    ensure_that((1..=VERSION).contains(&version), || {
        refused(&format!("format version {version} is not supported; the newest is {VERSION}"))
    })?;
    let text = entry("functions").unwrap_or_default();
    let records = parsed(text).map_err(|what| refused(&format!("the functions are damaged: {what}")))?;
    let arrays: HashMap<&str, &Array> =
        contents.arrays.iter().map(|(name, array)| (name.as_str(), array)).collect();
    let mut traces = Vec::with_capacity(records.len());
    for record in records {
        // What a hostile file says of an operation may be such nonsense that the check of it fails.
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
