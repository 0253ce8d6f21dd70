//! Files of exported functions: programs as JSON, and the arrays they captured as tensors.
//!
//! A file is a safetensors file, so that any reader of that format can list what a function holds. Its metadata has
//! the entries `format` (always [`FORMAT`]), `version`, `functions` (JSON: signatures, steps, the names of constants)
//! and `metadata` (whatever the user says). A reader refuses a version that is newer than its own.

use std::collections::HashMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use serde::{Deserialize, Serialize};
use umber_core::export::{Exported, Signature};
use umber_core::graph::Program;
use umber_core::graph::walk::IdMap;
use umber_core::op::Op;
use umber_core::{Array, DType, eval, ops};
use umber_types::{Error, Result, bail, ensure};

use crate::{Mapping, Source, safetensors};

/// What the metadata entry `format` says.
pub const FORMAT: &str = "umber.functions";
/// The version that is written, and the newest that can be read.
pub const VERSION: u32 = 1;

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
    /// Of each argument, the axes that may have other lengths.
    free: Vec<Vec<bool>>,
    program: Program,
    /// Names of the captured arrays.
    constants: Vec<Constant>,
}

#[derive(Serialize, Deserialize)]
struct Constant {
    name: String,
    /// Complex numbers of 64-bit parts, for which the format has no word: pairs of reals along the last axis.
    paired: bool,
    shape: Vec<usize>,
}

/// Write traces of a function; the file is whole or not there.
pub fn save(path: &Path, traces: &[Exported], metadata: &str) -> Result<()> {
    let constants: Vec<Array> = traces.iter().flat_map(|trace| trace.constants.iter().cloned()).collect();
    eval::eval(&constants)?;
    let mut names: IdMap<(usize, u32), String> = IdMap::default();
    let mut tensors: Vec<(String, Array)> = Vec::new();
    let mut records = Vec::with_capacity(traces.len());
    for trace in traces {
        let mut listed = Vec::with_capacity(trace.constants.len());
        for array in &trace.constants {
            let paired = array.dtype() == DType::Complex128;
            let name = match names.get(&array.id()) {
                Some(name) => name.clone(),
                None => {
                    let name = format!("constant.{}", tensors.len());
                    names.insert(array.id(), name.clone());
                    tensors.push((name.clone(), if paired { paired_reals(array)? } else { array.clone() }));
                    name
                }
            };
            listed.push(Constant { name, paired, shape: array.shape().to_vec() });
        }
        records.push(Record {
            signature: trace.signature.clone(),
            free: trace.free.clone(),
            program: trace.program.clone(),
            constants: listed,
        });
    }
    let functions = serde_json::to_string(&records).map_err(|error| {
        let what = error.to_string();
        Error::Value(if what.contains("Op::Custom") {
            "[export_function] got a custom_function with rules of its own inside of control flow or checkpoint, \
             expected one without: rules are code, which files do not hold"
                .to_owned()
        } else {
            format!("[export_function] the function cannot be kept in a file: {what}")
        })
    })?;
    let entries = [
        ("format", FORMAT.to_owned()),
        ("version", VERSION.to_string()),
        ("functions", functions),
        ("metadata", metadata.to_owned()),
    ];
    let entries: HashMap<String, String> =
        entries.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
    safetensors::save(path, &tensors, Some(entries))
}

/// Functions within functions lie several levels deeper each. What is deeper than this nobody wrote.
const MOST_LEVELS: usize = 2048;
/// Room for so many levels, whatever the thread that asks has.
const STACK: usize = 64 << 20;

/// What the text says, or what is wrong with it.
fn parsed(text: &str) -> std::result::Result<Vec<Record>, String> {
    let levels = levels_of(text);
    if levels > MOST_LEVELS {
        return Err(format!("got {levels} levels of nesting, expected at most {MOST_LEVELS}"));
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
    let refused = |what: &str| Error::Value(format!("[{OP}] {}: {what}", path.display()));
    // A function may be called when its file is long gone or another: its arrays are copied.
    let contents = Source::open(path, Mapping::Copy)
        .and_then(|source| safetensors::read(&source))
        .map_err(|error| error.map_message(|text| text.replacen("[load]", &format!("[{OP}]"), 1)))?;
    let entry = |name: &str| contents.metadata.get(name).map(String::as_str);
    ensure_that(entry("format") == Some(FORMAT), || {
        refused("not a file of functions, expected one by export_function")
    })?;
    let version: u32 = entry("version").and_then(|text| text.parse().ok()).unwrap_or(0);
    ensure_that((1..=VERSION).contains(&version), || {
        refused(&format!("got version {version} of the format, expected at most {VERSION}"))
    })?;
    let text = entry("functions").unwrap_or_default();
    let records = parsed(text).map_err(|what| refused(&format!("the functions are damaged: {what}")))?;
    let arrays: HashMap<&str, &Array> =
        contents.arrays.iter().map(|(name, array)| (name.as_str(), array)).collect();
    let mut traces = Vec::with_capacity(records.len());
    for record in records {
        // What a hostile file says of an operation may be such nonsense that the check of it fails.
        let checked = catch_unwind(AssertUnwindSafe(|| exported(record, &arrays)));
        let checked = checked.unwrap_or_else(|_| bail!(Value, "an operation's parameters make no sense"));
        traces.push(
            checked
                .map_err(|error| error.map_message(|text| format!("[{OP}] {}: {text}", path.display())))?,
        );
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
        constants.push(if constant.paired { from_pairs(array, &constant.shape)? } else { array.clone() });
    }
    Exported::checked(record.signature, record.free, record.program, constants)
}

fn paired_reals(array: &Array) -> Result<Array> {
    ops::stack(&[&ops::real(array)?, &ops::imag(array)?], -1)
}

fn from_pairs(array: &Array, shape: &[usize]) -> Result<Array> {
    let lengths: Vec<usize> = shape.iter().copied().chain([2]).collect();
    ensure!(
        array.dtype() == DType::Float64 && array.shape()[..] == lengths[..],
        Value,
        "pairs of reals have shape {} and dtype {}",
        array.shape(),
        array.dtype()
    );
    let dense = ops::view(array, DType::Complex128)?;
    ops::squeeze(&dense, Some(&[-1]))
}

/// An operation's parameters as JSON.
pub fn parameters(op: &Op) -> Result<String> {
    serde_json::to_string(op)
        .map_err(|error| Error::Value(format!("[export_function] {}: {error}", op.name())))
}
