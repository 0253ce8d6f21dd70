//! Tokens, and files of tar archives.

use std::sync::Arc;

use umber_data::ops::*;
use umber_data::records::Nesting;
use umber_data::text::{BpeMerges, Trie, Unknown};
use umber_data::{Operation, Value};
use umber_types::ErrorKind;

use super::files::Folder;
use super::{apply, apply_to, draw, sample, text};

fn trie(tokens: &[&str]) -> Trie {
    let mut trie = Trie::new();
    tokens.iter().for_each(|token| {
        trie.insert(token.as_bytes(), None).unwrap();
    });
    trie
}

fn tokens(tokens: &[i64]) -> Value {
    Value::from_slice(tokens, tokens.len()).unwrap()
}

#[test]
fn tokenize() {
    let tokenizer = |names: &[&str], unknown, mode| {
        Tokenize::new("x", Arc::new(trie(names)), mode, unknown, vec![]).unwrap()
    };
    let names = ["a", "b", "c", "ab", "abc"];
    let shortest = tokenizer(&names, Unknown::Refuse, TokenizeMode::Shortest);
    assert_eq!(apply(&shortest, &text(b"abcab")).unwrap(), tokens(&[4, 3]));
    assert_eq!(apply(&shortest, &Value::from_bytes(b"abcab").unwrap()).unwrap(), tokens(&[4, 3]));
    assert_eq!(apply(&shortest, &text(b"")).unwrap(), tokens(&[]));
    let error = apply(&shortest, &text(b"abx")).unwrap_err();
    assert!(error.kind() == ErrorKind::Value && error.detail().contains("byte 2"), "{error}");
    let numbers = Value::from_slice(&[1i32], 1).unwrap();
    assert_eq!(apply(&shortest, &numbers).unwrap_err().kind(), ErrorKind::Type);
    let ignoring = tokenizer(&names, Unknown::Ignore, TokenizeMode::Shortest);
    assert_eq!(apply(&ignoring, &text(b"xabx")).unwrap(), tokens(&[3]));
    // Random tokens depend on the sample, and spell the text.
    let random = tokenizer(&names, Unknown::Refuse, TokenizeMode::Random);
    assert!(random.is_random() && !shortest.is_random());
    let mut seen = std::collections::BTreeSet::new();
    for index in 0..100 {
        let given = || sample(&[("x", text(b"abc"))]);
        let result = random.apply(given(), &draw(index)).unwrap().unwrap();
        assert_eq!(Some(&result), random.apply(given(), &draw(index)).unwrap().as_ref());
        let found = result.require("x").unwrap().as_slice::<i64>().unwrap().to_vec();
        assert_eq!(found.iter().map(|&id| names[id as usize]).collect::<String>(), "abc");
        seen.insert(found);
    }
    assert_eq!(seen.len(), 3);
    let costs = |scores: Vec<f64>| {
        Tokenize::new("x", Arc::new(trie(&["a", "b", "ab"])), TokenizeMode::Shortest, Unknown::Refuse, scores)
    };
    assert_eq!(apply(&costs(vec![0.0, 0.0, 5.0]).unwrap(), &text(b"ab")).unwrap(), tokens(&[0, 1]));
    assert_eq!(costs(vec![1.0]).err().map(|error| error.kind()), Some(ErrorKind::Value));
    // States tell vocabularies apart.
    let other = tokenizer(&["a"], Unknown::Refuse, TokenizeMode::Shortest);
    assert_ne!(other.arguments(), shortest.arguments());
    assert_ne!(random.arguments(), shortest.arguments());
    assert_ne!(ignoring.arguments(), shortest.arguments());
}

#[test]
fn tokenize_bpe() {
    let mut merges = BpeMerges::new();
    merges.add(b"a", b"a", 1);
    let bpe = TokenizeBpe::new(Keys::new("x", "y"), &trie(&["a", "aa"]), &merges);
    let result = apply_to(&bpe, sample(&[("x", text(b""))])).unwrap();
    assert_eq!(result.require("y").unwrap(), &tokens(&[]));
    let error = apply_to(&bpe, sample(&[("x", text(b"ax"))])).unwrap_err();
    assert_eq!((error.kind(), error.key()), (ErrorKind::Value, Some("x")), "{error}");
    let letters = TokenizeBpe::new("x", &trie(&["a", "b"]), &BpeMerges::new());
    assert_eq!(apply(&letters, &text(b"abba")).unwrap(), tokens(&[0, 1, 1, 0]));
}

/// An archive of files.
fn tar(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut archive = Vec::new();
    for (name, content) in files {
        let mut header = [0u8; 512];
        header[..name.len()].copy_from_slice(name.as_bytes());
        header[100..107].copy_from_slice(b"0000644");
        header[124..136].copy_from_slice(format!("{:011o} ", content.len()).as_bytes());
        header[136..147].copy_from_slice(b"00000000000");
        header[156] = b'0';
        header[257..265].copy_from_slice(b"ustar\x0000");
        header[148..156].fill(b' ');
        let sum: u32 = header.iter().map(|&byte| u32::from(byte)).sum();
        header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
        archive.extend(header);
        archive.extend_from_slice(content);
        archive.resize(archive.len().next_multiple_of(512), 0);
    }
    archive.resize(archive.len() + 1024, 0);
    archive
}

#[test]
fn read_from_tar() {
    let folder = Folder::new("tar");
    folder.write("a.tar", &tar(&[("a.txt", b"AAA"), ("dir/b.txt", b"BBBB"), ("empty", b"")]));
    let read = |tar, prefix: &str| ReadFromTar::new(tar, "f", "o", prefix, &folder.0, Nesting::Keep);
    let archive = || TarInput::Path("a.tar".into());
    for (prefix, name, content) in [
        ("", "a.txt", &b"AAA"[..]),
        ("", "dir/b.txt", b"BBBB"),
        ("dir", "b.txt", b"BBBB"),
        ("", "empty", b""),
    ] {
        let given = sample(&[("f", text(name.as_bytes()))]);
        let result = apply_to(&read(archive(), prefix), given).unwrap();
        assert_eq!(result.require("o").unwrap(), &Value::from_bytes(content).unwrap());
        assert_eq!(result.len(), 2);
    }
    // Several samples share the archive; a write to a content is not seen by another.
    let operation = read(TarInput::Key("t".into()), "");
    let given = || sample(&[("f", text(b"a.txt")), ("t", text(b"a.tar"))]);
    let mut first = apply_to(&operation, given()).unwrap().take("o").unwrap();
    let second = apply_to(&operation, given()).unwrap().take("o").unwrap();
    assert_eq!(first.view().start().addr(), second.view().start().addr());
    first.bytes_mut().unwrap().fill(0);
    assert_eq!(second, Value::from_bytes(b"AAA").unwrap());
    let error = apply_to(&operation, sample(&[("f", text(b"no")), ("t", text(b"a.tar"))])).unwrap_err();
    assert_eq!(
        (error.kind(), error.key(), error.path()),
        (ErrorKind::NotFound, Some("f"), Some(&*folder.0.join("a.tar")))
    );
    folder.write("damaged.tar", &[7; 2048]);
    folder.write("empty.tar", b"");
    for (name, kind) in
        [("missing.tar", ErrorKind::NotFound), (".", ErrorKind::Io), ("damaged.tar", ErrorKind::Io)]
    {
        let error =
            apply_to(&operation, sample(&[("f", text(b"a")), ("t", text(name.as_bytes()))])).unwrap_err();
        assert_eq!((error.kind(), error.path()), (kind, Some(&*folder.0.join(name))), "{error}");
    }
    assert!(apply_to(&operation, sample(&[("f", text(b"a")), ("t", text(b"empty.tar"))])).is_err());
}
