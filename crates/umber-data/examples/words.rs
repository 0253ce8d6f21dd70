//! Lines of a text as batches of tokens: `cargo run -p umber-data --example words`.

use std::collections::BTreeSet;
use std::error::Error;
use std::sync::Arc;

use umber_data::stage::{BatchOptions, Padding};
use umber_data::text::{Tokenizer, Trie, Unknown};
use umber_data::{Buffer, DataError, Name, Sample, Stream, Value, fault};

const TEXT: &str = "\
a stage draws tickets in order
threads run tickets in any order
a ticket that is run is a sample
samples come out in the order of the tickets
so a stage does not know of threads
and a state is a position in order";
const PADDING: i64 = -1;

/// Spaces and the words of a text, each with a number.
fn vocabulary(text: &str) -> Result<Arc<Trie>, Box<dyn Error>> {
    let words: BTreeSet<&str> = text.split_whitespace().collect();
    let mut trie = Trie::new();
    trie.insert(b" ", None)?;
    for word in words {
        trie.insert(word.as_bytes(), None)?;
    }
    Ok(Arc::new(trie))
}

fn lines(text: &str) -> Result<Buffer, DataError> {
    let samples = text.lines().map(|line| {
        let mut sample = Sample::new();
        sample.set(Name::new("line"), Value::from_bytes(line.as_bytes())?);
        Ok(sample)
    });
    Ok(Buffer::from_samples(samples.collect::<Result<_, DataError>>()?))
}

/// Batches of two lines in random order, tokenized on two threads, padded to one length.
fn batches(trie: &Arc<Trie>) -> Result<Stream, Box<dyn Error>> {
    let tokenizer = Tokenizer::new(Arc::clone(trie), Unknown::Refuse, Vec::new())?;
    let tokenize = move |mut sample: Sample| {
        let line = sample.take("line")?;
        let tokens = tokenizer.shortest(&line.bytes()?).map_err(|error| fault!(Value, "{error}"))?;
        sample.set(Name::new("tokens"), Value::from_slice(&tokens, [tokens.len()])?);
        Ok(Some(sample))
    };
    let padding = Padding(vec![(Name::new("tokens"), PADDING as f64)]);
    let options = BatchOptions { padding, ..BatchOptions::new(2) };
    let stream = lines(TEXT)?.to_shuffled_stream(Some(7)).map("tokenize", tokenize).batch(options)?;
    Ok(stream.prefetch(Some(4), Some(2), true))
}

/// The line that each row of a batch of tokens stands for.
fn texts(batch: &Sample, trie: &Trie) -> Result<Vec<String>, Box<dyn Error>> {
    let tokens = batch.require("tokens")?;
    let numbers = tokens.as_slice::<i64>().ok_or("the tokens are not int64")?;
    let mut lines = Vec::new();
    for row in numbers.chunks(tokens.shape()[1]) {
        let mut line = Vec::new();
        for &number in row.iter().filter(|&&number| number != PADDING) {
            line.extend(trie.key(number)?);
        }
        lines.push(String::from_utf8(line)?);
    }
    Ok(lines)
}

fn main() -> Result<(), Box<dyn Error>> {
    let trie = vocabulary(TEXT)?;
    println!("{} tokens", trie.num_keys());
    let stream = batches(&trie)?;
    let mut seen = Vec::new();
    let mut state = None;
    for batch in &stream {
        let batch = batch?;
        println!("{}", batch.require("tokens")?.to_array()?);
        seen.extend(texts(&batch, &trie)?);
        if state.is_none() {
            state = Some(serde_json::to_string(&stream.state())?);
        }
    }

    // A new pipeline goes on behind the first batch.
    let again = batches(&trie)?;
    again.load_state(&serde_json::from_str(&state.ok_or("there is no batch")?)?)?;
    let mut rest = Vec::new();
    for batch in &again {
        rest.extend(texts(&batch?, &trie)?);
    }
    assert_eq!(rest, seen[2..], "the pipeline did not go on where it was");

    seen.sort_unstable();
    let mut expected: Vec<&str> = TEXT.lines().collect();
    expected.sort_unstable();
    assert_eq!(seen, expected, "lines were lost");
    Ok(())
}

#[test]
fn gives_every_line_and_goes_on() -> Result<(), Box<dyn Error>> {
    main()
}
