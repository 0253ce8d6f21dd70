//! Arrays as HTML, for notebooks.

use std::fmt::Write;

use umber_types::Result;

use super::{MAX_AXES, PrintOptions, Writer, text};
use crate::graph::Array;

/// Evaluates, and formats as an HTML fragment without styles or scripts of its own: a table of at most two axes, the text of
/// more, and a line with the shape, the dtype, the size in bytes and the device. The middle of long axes is omitted.
pub fn html(array: &Array, options: &PrintOptions) -> Result<String> {
    array.eval()?;
    let (shape, dtype, device) = (array.shape(), array.dtype(), array.device());
    let line = format!("shape {shape}, dtype {}, {} bytes, {device}", dtype.name(), array.nbytes());
    let line = escaped(&line);
    if array.size() == 0 || array.ndim() > MAX_AXES {
        return Ok(format!("<div>array: {line}</div>"));
    }
    if array.ndim() > 2 {
        return Ok(format!("<div><pre>{}</pre>{line}</div>", escaped(&text(array, options)?)));
    }
    let array = array.to_host()?;
    let storage = array.storage().expect("just evaluated");
    let writer = Writer::new(storage, dtype, options);
    let offset = storage.layout.offset;
    let mut table = String::from("<table>");
    match array.ndim() {
        0 => writer.html_row(&mut table, [Some(offset)]),
        1 => writer.html_row(&mut table, writer.offsets(0, offset)),
        _ => {
            for row in writer.offsets(0, offset) {
                match row {
                    Some(row) => writer.html_row(&mut table, writer.offsets(1, row)),
                    None => writer.html_row(&mut table, writer.offsets(1, offset).map(|_| None)),
                }
            }
        }
    }
    Ok(format!("<div>{table}</table>{line}</div>"))
}

impl Writer<'_> {
    /// The offsets of the printed elements of an axis, with `None` for the omitted ones.
    fn offsets(&self, axis: usize, offset: usize) -> impl Iterator<Item = Option<usize>> {
        self.indices(axis).map(move |index| index.map(|index| self.offset(axis, index, offset)))
    }

    /// Append a row of cells.
    fn html_row(&self, table: &mut String, offsets: impl IntoIterator<Item = Option<usize>>) {
        table.push_str("<tr>");
        for offset in offsets {
            let word = offset.map_or("…".into(), |offset| self.element(self.at(offset)));
            let _ = write!(table, "<td style=\"text-align: right\">{}</td>", escaped(word.trim()));
        }
        table.push_str("</tr>");
    }
}

/// Text with the characters replaced that have a meaning in HTML.
fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}
