//! Report: the rows of a profile as a table of text.

use std::fmt;
use std::time::Duration;

use super::{Profile, Row};

/// Rows beyond this number are summed up in one line.
const MAX_ROWS: usize = 30;
const MAX_OPERATION: usize = 40;
/// Names of operations of a fused row.
const MAX_FUSED: usize = 6;

const HEADER: [&str; 9] =
    ["operation", "calls", "kernels", "total ms", "self ms", "%", "MB", "GB/s", "GFLOP/s"];

impl Row {
    /// Bytes read and written per second of own time.
    pub fn bandwidth(&self) -> f64 {
        per_second(self.bytes_read + self.bytes_written, self.own)
    }

    /// Arithmetic operations per second of own time, if their number is known.
    pub fn flop_rate(&self) -> Option<f64> {
        self.flops.map(|flops| per_second(flops, self.own))
    }

    /// The operation, and those that are fused with it.
    pub fn title(&self) -> String {
        let Some((_, others)) = self.fused.split_last() else { return self.operation.into() };
        let (first, more) = others.split_at(others.len().min(MAX_FUSED));
        let more = if more.is_empty() { String::new() } else { format!(" and {} more", more.len()) };
        format!("{}({}{more})", self.operation, first.join(" "))
    }

    fn cells(&self, all: Duration) -> [String; 9] {
        let milliseconds = |time: Duration| format!("{:.3}", time.as_secs_f64() * 1e3);
        let share = 100.0 * self.own.as_secs_f64() / all.as_secs_f64().max(f64::MIN_POSITIVE);
        let bytes = self.bytes_read + self.bytes_written;
        let moves = |text: String| if bytes == 0 { "-".into() } else { text };
        let rate = self.flop_rate().filter(|rate| *rate > 0.0);
        [
            shortened(self.title()),
            self.calls.to_string(),
            self.kernels.to_string(),
            milliseconds(self.total),
            milliseconds(self.own),
            format!("{share:.1}"),
            moves(format!("{:.2}", bytes as f64 / 1e6)),
            moves(format!("{:.2}", self.bandwidth() / 1e9)),
            rate.map_or("-".into(), |rate| format!("{:.2}", rate / 1e9)),
        ]
    }

    /// The line with the longest time, and how many others there are.
    fn line(&self) -> String {
        match &self.lines[..] {
            [] => String::new(),
            [only] => only.line.to_string(),
            [first, others @ ..] => format!("{} and {} more", first.line, others.len()),
        }
    }
}

fn per_second(count: u64, time: Duration) -> f64 {
    if time.is_zero() { 0.0 } else { count as f64 / time.as_secs_f64() }
}

fn shortened(text: String) -> String {
    match text.char_indices().nth(MAX_OPERATION) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

/// A table with a row for each operation, the longest own time first, then the memory at the peak.
impl fmt::Display for Profile {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows = self.rows();
        let all: Duration = rows.iter().map(|row| row.own).sum();
        let calls: u64 = rows.iter().map(|row| row.calls).sum();
        let (wall, all_ms) = (self.wall_time().as_secs_f64() * 1e3, all.as_secs_f64() * 1e3);
        writeln!(f, "operations: {calls}, {all_ms:.3} ms; wall time: {wall:.3} ms")?;
        let shown = &rows[..rows.len().min(MAX_ROWS)];
        let cells: Vec<[String; 9]> = shown.iter().map(|row| row.cells(all)).collect();
        let width = |column: usize| {
            let lengths = cells.iter().map(|cells| cells[column].chars().count());
            lengths.chain([HEADER[column].len()]).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..HEADER.len()).map(width).collect();
        let mut write_row = |cells: &[&str], line: &str| {
            write!(f, "{:<width$}", cells[0], width = widths[0])?;
            for (cell, width) in cells.iter().zip(&widths).skip(1) {
                write!(f, "  {cell:>width$}")?;
            }
            writeln!(f, "{}{line}", if line.is_empty() { "" } else { "  " })
        };
        write_row(&HEADER, "line")?;
        for (row, cells) in shown.iter().zip(&cells) {
            write_row(&cells.each_ref().map(String::as_str), &row.line())?;
        }
        if rows.len() > MAX_ROWS {
            let own: Duration = rows[MAX_ROWS..].iter().map(|row| row.own).sum();
            writeln!(f, "{} more rows: {:.3} ms", rows.len() - MAX_ROWS, own.as_secs_f64() * 1e3)?;
        }
        if let Some(peak) = self.memory_at_peak() {
            writeln!(f, "{:.2} MB of memory at the peak:", peak.bytes as f64 / 1e6)?;
            for (line, bytes) in peak.by_line.iter().take(MAX_ROWS) {
                writeln!(f, "{:>12.2} MB  {line}", *bytes as f64 / 1e6)?;
            }
        }
        Ok(())
    }
}
