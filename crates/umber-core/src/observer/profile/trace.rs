//! Trace: the events of a profile in the Trace Event Format of Chrome, which Perfetto reads, too.

use std::fmt::Write;

use super::{Event, Profile, State};

impl Profile {
    /// The events as JSON. Threads are tracks.
    pub fn chrome_trace(&self) -> String {
        let state = self.lock();
        let mut json = String::from("{\"displayTimeUnit\": \"ms\", \"traceEvents\": [");
        for (number, name) in &state.threads {
            let name = quoted(name);
            append(
                &mut json,
                format_args!(
                    "{{\"ph\": \"M\", \"name\": \"thread_name\", \"pid\": 1, \"tid\": {number}, \"args\": {{\"name\": {name}}}}},\n"
                ),
            );
        }
        for event in &state.events {
            state.append(&mut json, event);
        }
        // The last comma.
        let end = json.trim_end_matches(",\n").len();
        json.truncate(end);
        append(&mut json, format_args!("], \"otherData\": {{\"omitted\": {}}}}}\n", state.events_omitted));
        json
    }
}

impl State {
    fn append(&self, json: &mut String, event: &Event) {
        let row = &self.rows[event.row as usize];
        let micros = |time: std::time::Duration| time.as_secs_f64() * 1e6;
        append(
            json,
            format_args!(
                "{{\"ph\": \"X\", \"name\": {}, \"cat\": {}, \"pid\": 1, \"tid\": {}, \"ts\": {:.3}, \"dur\": {:.3}, \"args\": {{",
                quoted(row.operation),
                quoted(&row.device.to_string()),
                event.thread,
                micros(event.start),
                micros(event.total),
            ),
        );
        if !row.fused.is_empty() {
            append(json, format_args!("\"fused\": {}, ", quoted(&row.fused.join(" "))));
        }
        let line = event.line.map_or("", |line| &self.lines[line as usize]);
        append(json, format_args!("\"line\": {}}}}},\n", quoted(line)));
    }
}

fn append(json: &mut String, text: std::fmt::Arguments<'_>) {
    json.write_fmt(text).expect("a string can always be extended");
}

/// A JSON string.
fn quoted(text: &str) -> String {
    let mut json = String::from("\"");
    for character in text.chars() {
        match character {
            '"' | '\\' => json.extend(['\\', character]),
            control if control < ' ' => append(&mut json, format_args!("\\u{:04x}", control as u32)),
            _ => json.push(character),
        }
    }
    json.push('"');
    json
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_escaped() {
        assert_eq!(quoted("a\"b\\c\nd é"), "\"a\\\"b\\\\c\\u000ad é\"");
    }
}
