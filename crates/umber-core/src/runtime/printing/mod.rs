//! Printing of arrays, in the formats of the Python package.

mod columns;
mod html;
mod numbers;
mod options;

use std::fmt;

use umber_types::{DType, Layout, Result, Scalar, Shape};

use self::columns::Columns;
use crate::graph::{Array, Storage};

pub use self::html::html;
pub use self::numbers::general;
pub use self::options::{PrintOptions, Style};

/// Arrays with more axes are abbreviated: the text would be unreadable, and the recursion deep.
pub const MAX_AXES: usize = 128;
/// The beginning of the text of an array.
const PREFIX: &str = "array(";

/// Evaluates, and formats as `array([1, 2], dtype=int32)`, with the middle of long axes omitted.
///
/// In MLX's style, real numbers have the requested number of decimals, or else the shortest form of six significant digits.
/// Numbers that would round to zero and numbers from 10¹⁶ on are written with an exponent, and the decimals are those of the
/// mantissa. The shape is included if the brackets do not show it.
///
/// In NumPy's style, the text is that of NumPy's `repr`, always with the dtype.
pub fn text(array: &Array, options: &PrintOptions) -> Result<String> {
    array.eval()?;
    let dtype = array.dtype();
    let array = &array.to_host()?;
    let storage = array.storage().expect("just evaluated");
    if array.ndim() > MAX_AXES {
        return Ok(format!("array(..., dtype={})", dtype.name()));
    }
    let shape = &storage.layout.shape;
    let is_shown = match options.style {
        Style::Mlx => {
            shape.iter().position(|&length| length == 0).is_none_or(|axis| axis + 1 == shape.ndim())
        }
        Style::Numpy => shape.size() > 0 || shape.ndim() == 1,
    };
    let mut text = String::from(PREFIX);
    let writer = Writer::new(storage, dtype, options);
    if is_shown {
        writer.axis(&mut text, 0, storage.layout.offset);
    } else {
        text.push_str("[]");
    }
    let shows_shape = match options.style {
        Style::Mlx => !is_shown,
        Style::Numpy => !is_shown || writer.is_abbreviated,
    };
    let shape = if shows_shape { format!("shape={shape}, ") } else { String::new() };
    let ending = format!("{shape}dtype={})", dtype.name());
    text.push(',');
    let line = text.len() - text.rfind('\n').map_or(0, |end| end + 1);
    match options.linewidth() {
        Some(width) if line + 1 + ending.len() > width => {
            text.push('\n');
            text.push_str(&" ".repeat(PREFIX.len()));
        }
        _ => text.push(' '),
    }
    text.push_str(&ending);
    Ok(text)
}

/// Reads single elements of the storage, without a copy: a broadcast array may exceed memory.
struct Writer<'a> {
    storage: &'a Storage,
    dtype: DType,
    options: &'a PrintOptions,
    /// Whether the middle of long axes is omitted.
    is_abbreviated: bool,
    /// `None` in MLX's style.
    columns: Option<Columns>,
}

impl<'a> Writer<'a> {
    fn new(storage: &'a Storage, dtype: DType, options: &'a PrintOptions) -> Writer<'a> {
        let shape = &storage.layout.shape;
        let is_abbreviated = shape.size() > options.threshold();
        let mut writer = Writer { storage, dtype, options, is_abbreviated, columns: None };
        if options.style == Style::Numpy {
            let mut elements = Vec::new();
            if shape.size() > 0 {
                writer.collect(&mut elements, 0, storage.layout.offset);
            }
            writer.columns = Some(Columns::new(&elements, dtype, shape.ndim(), options));
        }
        writer
    }

    /// The printed indices of an axis, with `None` for the omitted ones.
    fn indices(&self, axis: usize) -> impl Iterator<Item = Option<usize>> + use<> {
        let (length, edge) = (self.storage.layout.shape[axis], self.options.edgeitems());
        let is_omitted = self.is_abbreviated && length > edge.saturating_mul(2);
        let head = if is_omitted { edge } else { length };
        let tail = if is_omitted { length - edge..length } else { 0..0 };
        (0..head).map(Some).chain(is_omitted.then_some(None)).chain(tail.map(Some))
    }

    /// The offset of an element of an axis of the subarray that begins at `offset`.
    fn offset(&self, axis: usize, index: usize, offset: usize) -> usize {
        offset.wrapping_add_signed(index as isize * self.storage.layout.strides[axis])
    }

    /// Append the printed elements of the axes from `axis` on of the subarray that begins at `offset`.
    fn collect(&self, elements: &mut Vec<Scalar>, axis: usize, offset: usize) {
        if axis == self.storage.layout.ndim() {
            elements.push(self.at(offset));
            return;
        }
        for index in self.indices(axis).flatten() {
            self.collect(elements, axis + 1, self.offset(axis, index, offset));
        }
    }

    /// Write the axes from `axis` on of the subarray that begins at `offset`.
    fn axis(&self, text: &mut String, axis: usize, offset: usize) {
        let ndim = self.storage.layout.ndim();
        if axis == ndim {
            text.push_str(&self.element(self.at(offset)));
            return;
        }
        let indent = " ".repeat(PREFIX.len() + 1 + axis);
        text.push('[');
        if axis + 1 == ndim {
            self.row(text, axis, offset, &indent);
        } else {
            let lines = match self.options.style {
                Style::Mlx => 1,
                Style::Numpy => ndim - 1 - axis,
            };
            let separator = format!(",{}{indent}", "\n".repeat(lines));
            for (position, index) in self.indices(axis).enumerate() {
                if position > 0 {
                    text.push_str(&separator);
                }
                match index {
                    Some(index) => self.axis(text, axis + 1, self.offset(axis, index, offset)),
                    None => text.push_str("..."),
                }
            }
        }
        text.push(']');
    }

    /// Write the elements of the last axis, and wrap lines that are too long.
    fn row(&self, text: &mut String, axis: usize, offset: usize, indent: &str) {
        // The brackets of all axes, a comma and the parenthesis follow the last element.
        let width = self.options.linewidth().map(|width| width.saturating_sub(axis + 2));
        let mut line = indent.len();
        for (position, index) in self.indices(axis).enumerate() {
            let word = match index {
                Some(index) => self.element(self.at(self.offset(axis, index, offset))),
                None => "...".into(),
            };
            if position > 0 {
                text.push(',');
                line += 2;
                if width.is_some_and(|width| line + word.len() > width) {
                    text.push('\n');
                    text.push_str(indent);
                    line = indent.len();
                } else {
                    text.push(' ');
                }
            }
            text.push_str(&word);
            line += word.len();
        }
    }

    fn at(&self, offset: usize) -> Scalar {
        let layout = Layout { offset, ..Layout::contiguous(Shape::scalar()) };
        let element = self.storage.with_layout(layout);
        Scalar::from_bytes(
            self.dtype,
            element.on_host().dense_bytes(self.dtype).expect("one element is contiguous"),
        )
    }

    fn element(&self, value: Scalar) -> String {
        if let Some(columns) = &self.columns {
            return columns.text(value, self.options);
        }
        let real = |value| numbers::real(value, self.options);
        match value {
            Scalar::Bool(v) => if v { "True" } else { "False" }.into(),
            Scalar::Int(v) => v.to_string(),
            Scalar::UInt(v) => v.to_string(),
            Scalar::Float(v) => real(v),
            Scalar::Complex(re, im) => {
                // Negative zero and NaN also get a plus, before their own sign.
                let sign = if im < 0.0 { "" } else { "+" };
                format!("{}{sign}{}j", real(re), real(im))
            }
        }
    }
}

/// Evaluates, and prints as Python does; `{:.2}` gives two decimals. If evaluation fails, prints the error.
///
/// `{:?}` never evaluates: it prints the shape, the dtype and the recorded operation.
///
/// ```
/// # use umber_core as umber;
/// let x = umber::Array::from([[0.5f32, 1.0], [2.0, 1e-7]]);
/// assert_eq!(x.to_string(), "array([[0.5, 1],\n       [2, 1e-07]], dtype=float32)");
/// assert_eq!(format!("{:.1}", &x + &x), "array([[1.0, 2.0],\n       [4.0, 2.0e-07]], dtype=float32)");
/// ```
impl fmt::Display for Array {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let options = PrintOptions { precision: f.precision(), ..PrintOptions::default() };
        match text(self, &options) {
            Ok(text) => f.write_str(&text),
            Err(error) => write!(f, "array(<{} {}: {error}>)", self.shape(), self.dtype()),
        }
    }
}
