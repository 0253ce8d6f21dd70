use proptest::prelude::*;

use super::*;

/// The header of a member, with the fields that matter.
fn header(name: &[u8], kind: u8, size: usize) -> Vec<u8> {
    let mut block = vec![0; BLOCK];
    block[..name.len()].copy_from_slice(name);
    block[124..135].copy_from_slice(format!("{size:011o}").as_bytes());
    block[156] = kind;
    block[257..265].copy_from_slice(b"ustar\x0000");
    sign(&mut block);
    block
}

/// Write the checksum.
fn sign(block: &mut [u8]) {
    block[148..156].fill(b' ');
    let sum: u32 = block[..BLOCK].iter().map(|byte| u32::from(*byte)).sum();
    block[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
}

fn padded(content: &[u8]) -> Vec<u8> {
    let mut content = content.to_vec();
    content.resize(content.len().next_multiple_of(BLOCK), 0);
    content
}

fn member(name: &str, kind: u8, content: &[u8]) -> Vec<u8> {
    [header(name.as_bytes(), kind, content.len()), padded(content)].concat()
}

fn pax(records: &[(&str, &str)]) -> Vec<u8> {
    let mut text = String::new();
    for (key, value) in records {
        let rest = format!(" {key}={value}\n");
        let length =
            (1..1000).find(|length: &usize| length.to_string().len() + rest.len() == *length).unwrap();
        text += &length.to_string();
        text += &rest;
    }
    member("pax", b'x', text.as_bytes())
}

fn link(name: &str, target: &str) -> Vec<u8> {
    let mut block = header(name.as_bytes(), b'1', 0);
    block[157..157 + target.len()].copy_from_slice(target.as_bytes());
    sign(&mut block);
    block
}

fn archive(members: &[Vec<u8>]) -> Vec<u8> {
    [members.concat(), vec![0; 2 * BLOCK]].concat()
}

fn files(bytes: &[u8], nesting: Nesting) -> Vec<(String, String)> {
    let index = TarIndex::read(bytes, nesting).unwrap();
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).unwrap();
    let content = |entry: TarEntry<'_>| text(&bytes[entry.offset as usize..][..entry.length as usize]);
    for entry in index.iter() {
        assert_eq!(index.find(entry.name), Some(entry));
    }
    index.iter().map(|entry| (text(entry.name), content(entry))).collect()
}

fn expect(bytes: &[u8], expected: &[(&str, &str)]) {
    let expected: Vec<_> =
        expected.iter().map(|(name, content)| ((*name).to_owned(), (*content).to_owned())).collect();
    assert_eq!(files(bytes, Nesting::Keep), expected);
}

fn fails(bytes: &[u8]) -> String {
    TarIndex::read(bytes, Nesting::Open).unwrap_err().to_string()
}

#[test]
fn files_in_their_order() {
    let bytes = archive(&[
        member("b", b'0', b"first"),
        member("d/", b'5', b""),
        member("d/a", 0, b""),
        member("old/", 0, b""),
        member("link", b'2', b""),
        member("c", b'7', &[b'x'; 513]),
    ]);
    expect(&bytes, &[("b", "first"), ("d/a", ""), ("c", &"x".repeat(513))]);
    assert!(TarIndex::read(&bytes, Nesting::Keep).unwrap().find(b"d/").is_none());
    assert!(TarIndex::read(&archive(&[]), Nesting::Keep).unwrap().is_empty());
}

#[test]
fn long_names_of_all_formats() {
    let long = "n".repeat(300);
    let mut prefixed = header(b"name", b'0', 1);
    prefixed[345..351].copy_from_slice(b"prefix");
    sign(&mut prefixed);
    let mut gnu = prefixed.clone();
    gnu[257..265].copy_from_slice(b"ustar  \0");
    sign(&mut gnu);
    let bytes = archive(&[
        member("././@LongLink", b'L', format!("{long}\0").as_bytes()),
        member("short", b'0', b"1"),
        pax(&[("comment", "x"), ("path", "pax/é"), ("mtime", "1.5")]),
        member("short", b'0', b"2"),
        [prefixed, padded(b"3")].concat(),
        [gnu, padded(b"4")].concat(),
        member("last", b'0', b"5"),
    ]);
    expect(&bytes, &[(&long, "1"), ("pax/é", "2"), ("prefix/name", "3"), ("name", "4"), ("last", "5")]);
}

#[test]
fn sizes_of_all_formats() {
    let mut binary = header(b"binary", b'0', 0);
    binary[124..136].copy_from_slice(&[0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 3]);
    sign(&mut binary);
    let mut spaces = header(b"spaces", b'0', 0);
    spaces[124..136].copy_from_slice(b"      3     ");
    sign(&mut spaces);
    let bytes = archive(&[
        [binary, padded(b"abc")].concat(),
        [spaces, padded(b"def")].concat(),
        pax(&[("size", "3")]),
        [header(b"pax", b'0', 0), padded(b"ghi")].concat(),
    ]);
    expect(&bytes, &[("binary", "abc"), ("spaces", "def"), ("pax", "ghi")]);
    for field in
        [&[0xff; 12][..], &[0x80, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255], b"12x45678901\0"]
    {
        let mut block = header(b"a", b'0', 0);
        block[124..136].copy_from_slice(field);
        sign(&mut block);
        assert!(fails(&archive(&[block])).contains("for a number at its byte 124"));
    }
}

#[test]
fn the_last_of_a_name_counts() {
    let bytes = archive(&[member("a", b'0', b"1"), member("b", b'0', b"2"), member("a", b'0', b"3")]);
    expect(&bytes, &[("a", "3"), ("b", "2")]);
}

#[test]
fn hard_links_are_files() {
    let bytes = archive(&[
        member("a", b'0', b"1"),
        link("b", "a"),
        link("c", "b"),
        member("a", b'0', b"2"),
        link("d", "missing"),
        link("e", "f"),
        member("f", b'0', b"3"),
    ]);
    expect(&bytes, &[("a", "2"), ("b", "1"), ("c", "1"), ("f", "3")]);
}

#[test]
fn archives_in_archives() {
    let inner = archive(&[member("x", b'0', b"1"), link("y", "x"), member(".tar", b'0', b"")]);
    let middle = archive(&[member("in.tar", b'0', &inner), member("z", b'0', b"2")]);
    let bytes =
        archive(&[member("a", b'0', b"0"), member("d/m.tar", b'0', &middle), member("b", b'0', b"3")]);
    let expected =
        [("a", "0"), ("d/m/in/x", "1"), ("d/m/in/y", "1"), ("d/m/in/.tar", ""), ("d/m/z", "2"), ("b", "3")];
    let expected = expected.map(|(name, content)| (name.to_owned(), content.to_owned()));
    assert_eq!(files(&bytes, Nesting::Open), expected);
    assert_eq!(TarIndex::read(&bytes, Nesting::Keep).unwrap().len(), 3);

    let mut deep = archive(&[]);
    for _ in 0..DEPTH_LIMIT {
        deep = archive(&[member("a.tar", b'0', &deep)]);
    }
    assert!(fails(&deep).contains("more than 16 archives inside of each other"));
}

#[test]
fn faults_are_named() {
    let whole = archive(&[member("a", b'0', &[1; 600]), member("b", b'0', b"2")]);
    assert_eq!(
        fails(&whole[..1000]),
        "the tar data end at byte 1000: 112 of 600 bytes of the member 'a' are missing"
    );
    assert!(fails(&whole[..1536]).starts_with("the tar data end at byte 1536: the empty block"));
    assert!(fails(&whole[..1600]).starts_with("the tar data end at byte 1600: the empty block"));
    assert!(fails(b"").starts_with("the tar data end at byte 0: the empty block"));
    let mut damaged = whole.clone();
    damaged[1537] = b'x';
    assert!(
        fails(&damaged).starts_with("the tar data are damaged at byte 1536: the header has the checksum")
    );

    let sparse = archive(&[member("s", b'S', b"")]);
    assert_eq!(
        fails(&sparse),
        "cannot read tar data: the member 's' is a sparse file; write it without --sparse"
    );
    let pax_sparse = archive(&[
        pax(&[("path", "x/s"), ("GNU.sparse.major", "1"), ("GNU.sparse.name", "s")]),
        member("s", b'0', b""),
    ]);
    assert!(fails(&pax_sparse).contains("at byte 1024: the member 's' is a sparse file"));
    let global = archive(&[member("g", b'g', b"10 path=x\n")]);
    assert!(fails(&global).contains("a global pax header sets 'path'"));
    assert!(
        fails(&archive(&[member("p", b'x', b"99 path=x\n")])).contains("no 'length key=value' at '99 path=x")
    );
    assert!(fails(&archive(&[pax(&[("size", "-1")]), member("s", b'0', b"")])).contains("the size '-1'"));
    assert!(fails(&archive(&[pax(&[("path", "x")])])).contains("has no member"));
    let long = member("L", b'L', &vec![b'x'; NAME_LIMIT + 1]);
    assert!(fails(&archive(&[long])).contains("has more than 65536 bytes"));
    let gzip = [&[0x1f, 0x8b, 8][..], &[1; 600]].concat();
    assert_eq!(fails(&gzip), "cannot read tar data: it is compressed with gzip; decompress it");
}

#[test]
fn old_archives_sum_signed_bytes() {
    let mut block = header(b"\xff\xfe", b'0', 0);
    block[148..156].fill(b' ');
    let sum: i32 = block.iter().map(|byte| i32::from(byte.cast_signed())).sum();
    block[148..155].copy_from_slice(format!("{sum:06o}\0").as_bytes());
    assert_eq!(TarIndex::read(&archive(&[block]), Nesting::Keep).unwrap().get(0).unwrap().name, b"\xff\xfe");
}

proptest! {
    #[test]
    fn damaged_archives_are_read_or_refused(
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        end in any::<prop::sample::Index>(),
        signed in any::<bool>(),
    ) {
        let inner = archive(&[member("x", b'0', b"1"), link("y", "x")]);
        let mut bytes = archive(&[
            member("././@LongLink", b'L', b"long\0"),
            member("a", b'0', b"0"),
            pax(&[("path", "p"), ("size", "1")]),
            member("b", b'0', b"2"),
            link("c", "a"),
            member("d.tar", b'0', &inner),
        ]);
        let at = at.index(bytes.len());
        bytes[at] = byte;
        if signed {
            let block = at / BLOCK * BLOCK;
            sign(&mut bytes[block..block + BLOCK]);
        }
        bytes.truncate(bytes.len() - end.index(bytes.len()) * usize::from(!signed));
        for nesting in [Nesting::Keep, Nesting::Open] {
            if let Ok(index) = TarIndex::read(&bytes, nesting) {
                for entry in index.iter() {
                    prop_assert!(entry.offset + entry.length <= bytes.len() as u64);
                    prop_assert_eq!(index.find(entry.name), Some(entry));
                }
            }
        }
    }
}
