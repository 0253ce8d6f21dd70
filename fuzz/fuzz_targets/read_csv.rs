//! Any bytes as a CSV file: reading ends, however the bytes arrive, and goes on from every position as if it had not stopped.

#![no_main]

use std::io::{BufReader, Cursor};

use umber_codecs::records::{CsvOptions, CsvReader, CsvRecord};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let open = |capacity| {
        let options = CsvOptions { limit: 64, ..CsvOptions::default() };
        CsvReader::new(BufReader::with_capacity(capacity, Cursor::new(bytes)), options)
    };
    let (Ok(mut reader), Ok(mut other), Ok(mut resumed)) = (open(1 << 12), open(1), open(16)) else { return };
    let (mut record, mut same) = (CsvRecord::new(), CsvRecord::new());
    for _ in 0..bytes.len() + 2 {
        let position = reader.position();
        let result = reader.read_record(&mut record).map_err(|error| error.to_string());
        assert_eq!(result, other.read_record(&mut same).map_err(|error| error.to_string()));
        if let Ok(has_record) = result {
            assert_eq!((&record, reader.position()), (&same, other.position()));
            resumed.seek_to(position).expect("the position lies inside of the bytes");
            assert_eq!(resumed.read_record(&mut same).ok(), Some(has_record));
            assert_eq!(record, same);
            if !has_record {
                return;
            }
        }
    }
    panic!("there are more records than bytes");
});
