//! The header of an npy file (NEP 1, versions 1 to 3): the literal of a Python dict with three keys.

use umber_core::DType;
use umber_types::{Kind, Result, bail, ensure};

pub(crate) const MAGIC: &[u8; 6] = b"\x93NUMPY";
/// Maximum length of a header. Those of record types may be longer, but these are not supported.
const MAX_HEADER: usize = 1 << 20;

/// The content of a header.
#[derive(Debug)]
pub(crate) struct Header {
    pub(crate) element: Element,
    pub(crate) is_big_endian: bool,
    pub(crate) is_fortran: bool,
    pub(crate) shape: Vec<u64>,
}

/// The type of the elements.
#[derive(Debug)]
pub(crate) enum Element {
    /// Numbers.
    Number(DType),
    /// Strings of this many characters, of four bytes (`U`) or one (`S`) each.
    Text { characters: usize, width: usize },
    /// A description of an unsupported type.
    Foreign(String),
}

/// The range of the header's text in a file that begins with these bytes; `None` if more bytes are needed.
pub(crate) fn text_range(start: &[u8]) -> Result<Option<std::ops::Range<usize>>> {
    ensure!(start.iter().zip(MAGIC).all(|(a, b)| a == b), Value, "not an npy file: wrong magic number");
    let (begin, length) = match start {
        [_, _, _, _, _, _, 1, _, a, b, ..] => (10, usize::from(u16::from_le_bytes([*a, *b]))),
        [_, _, _, _, _, _, 2 | 3, _, a, b, c, d, ..] => (12, u32::from_le_bytes([*a, *b, *c, *d]) as usize),
        [_, _, _, _, _, _, version, ..] if !(1..=3).contains(version) => {
            bail!(Value, "npy version {version} is not supported, expected 1, 2 or 3")
        }
        _ => return Ok(None),
    };
    ensure!(length <= MAX_HEADER, Value, "npy header of {length} bytes; the maximum is {MAX_HEADER}");
    Ok(Some(begin..begin + length))
}

/// A value of the literal.
enum Literal {
    Text(String),
    Bool(bool),
    Ints(Vec<u64>),
    /// A list: a record type.
    Other,
}

/// Parse the text of a header.
pub(crate) fn parse(text: &[u8]) -> Result<Header> {
    let mut parser = Parser { text, at: 0 };
    let (mut descr, mut fortran, mut shape) = (None, None, None);
    parser.expect(b'{')?;
    while !parser.skips(b'}') {
        let key = parser.string()?;
        parser.expect(b':')?;
        let value = parser.value()?;
        let entry = match &*key {
            "descr" => &mut descr,
            "fortran_order" => &mut fortran,
            "shape" => &mut shape,
            _ => bail!(Value, "unknown key {key:?} in npy header, expected descr, fortran_order and shape"),
        };
        ensure!(entry.is_none(), Value, "duplicate key {key:?} in npy header");
        *entry = Some(value);
        if !parser.skips(b',') {
            parser.expect(b'}')?;
            break;
        }
    }
    if let Some(character) = parser.peek() {
        bail!(Value, "{:?} after the end of the npy header", char::from(character));
    }
    let (Some(descr), Some(Literal::Bool(is_fortran)), Some(Literal::Ints(shape))) = (descr, fortran, shape)
    else {
        bail!(
            Value,
            "npy header {:?} lacks a key, expected descr, fortran_order and shape",
            String::from_utf8_lossy(&text[..text.len().min(200)])
        );
    };
    let (element, is_big_endian) = match descr {
        Literal::Text(typestr) => (element_of(&typestr), typestr.starts_with('>')),
        Literal::Other | Literal::Bool(_) | Literal::Ints(_) => {
            (Element::Foreign("records".to_owned()), false)
        }
    };
    Ok(Header { element, is_big_endian, is_fortran, shape })
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    /// The next character that is not whitespace.
    fn peek(&mut self) -> Option<u8> {
        while self.text.get(self.at).is_some_and(u8::is_ascii_whitespace) {
            self.at += 1;
        }
        self.text.get(self.at).copied()
    }

    fn skips(&mut self, expected: u8) -> bool {
        let matches = self.peek() == Some(expected);
        self.at += usize::from(matches);
        matches
    }

    fn expect(&mut self, expected: u8) -> Result<()> {
        if self.skips(expected) {
            return Ok(());
        }
        let expected = char::from(expected);
        match self.text.get(self.at) {
            Some(&found) => bail!(
                Value,
                "npy header: character {} is {:?}, expected {expected:?}",
                self.at,
                char::from(found)
            ),
            None => bail!(Value, "npy header ends after {} characters, expected {expected:?}", self.at),
        }
    }

    fn string(&mut self) -> Result<String> {
        let quote = if self.peek() == Some(b'"') { b'"' } else { b'\'' };
        self.expect(quote)?;
        let rest = &self.text[self.at..];
        let Some(length) = rest.iter().position(|&c| c == quote) else {
            bail!(Value, "npy header ends inside a string");
        };
        self.at += length + 1;
        Ok(String::from_utf8_lossy(&rest[..length]).into_owned())
    }

    fn word(&mut self) -> &[u8] {
        let rest = &self.text[self.at..];
        let length = rest.iter().position(|c| !c.is_ascii_alphanumeric()).unwrap_or(rest.len());
        self.at += length;
        &rest[..length]
    }

    fn value(&mut self) -> Result<Literal> {
        match self.peek() {
            Some(b'\'' | b'"') => self.string().map(Literal::Text),
            Some(b'(') => {
                self.at += 1;
                self.lengths().map(Literal::Ints)
            }
            Some(b'[') => self.brackets().map(|()| Literal::Other),
            _ => match self.word() {
                b"True" => Ok(Literal::Bool(true)),
                b"False" => Ok(Literal::Bool(false)),
                other => bail!(
                    Value,
                    "npy header has value {:?}, expected a string, a bool or a shape",
                    String::from_utf8_lossy(other)
                ),
            },
        }
    }

    /// Integers up to the closing parenthesis. Python 2 wrote some with the suffix `L`.
    fn lengths(&mut self) -> Result<Vec<u64>> {
        let mut lengths = Vec::new();
        while !self.skips(b')') {
            let _ = self.peek();
            let begin = self.at;
            let digits = std::str::from_utf8(self.word()).unwrap_or_default();
            let Ok(length) = digits.strip_suffix('L').unwrap_or(digits).parse() else {
                let got = String::from_utf8_lossy(&self.text[begin..self.text.len().min(begin + 40)]);
                bail!(Value, "npy header has length {got:?}, expected a non-negative integer");
            };
            lengths.push(length);
            if !self.skips(b',') {
                self.expect(b')')?;
                // Without a comma the parentheses do not make a tuple.
                ensure!(lengths.len() > 1, Value, "npy header has shape ({length}), expected ({length},)");
                break;
            }
        }
        Ok(lengths)
    }

    /// Skip the list that begins here.
    fn brackets(&mut self) -> Result<()> {
        let mut depth = 0usize;
        while let Some(next) = self.peek() {
            match next {
                b'\'' | b'"' => {
                    self.string()?;
                    continue;
                }
                b'[' => depth += 1,
                b']' => depth -= 1,
                _ => {}
            }
            self.at += 1;
            if depth == 0 {
                return Ok(());
            }
        }
        bail!(Value, "npy header ends inside a list")
    }
}

fn element_of(typestr: &str) -> Element {
    let code = typestr.trim_start_matches(['<', '>', '|', '=']);
    // Void of two bytes, which other writers use for bfloat16, as NumPy has no such dtype.
    if code == "V2" {
        return Element::Number(DType::BFloat16);
    }
    if code == "?" {
        return Element::Number(DType::Bool);
    }
    // The type code of float8_e5m2 by ml_dtypes, which gives its other float8 dtypes no distinct code.
    if code == "f1" {
        return Element::Number(DType::Float8E5M2);
    }
    let known = DType::COMPUTE.into_iter().find(|&dtype| type_code(dtype) == code);
    if let Some(dtype) = known {
        return Element::Number(dtype);
    }
    let mut characters = code.chars();
    let kind = characters.next();
    let rest = characters.as_str();
    match (kind, rest.parse::<usize>()) {
        (Some('U'), Ok(characters)) => Element::Text { characters, width: 4 },
        (Some('S' | 'a'), Ok(characters)) => Element::Text { characters, width: 1 },
        (Some('O'), _) => Element::Foreign("pickled Python objects, which may run any code".to_owned()),
        (Some('M' | 'm'), _) => Element::Foreign("dates or spans of time".to_owned()),
        _ => Element::Foreign(format!("elements of type {typestr:?}")),
    }
}

/// NumPy's type code of a dtype, without byte order.
fn type_code(dtype: DType) -> String {
    let kind = match dtype.kind() {
        Kind::Bool => 'b',
        Kind::Unsigned => 'u',
        Kind::Signed => 'i',
        Kind::Float if dtype == DType::BFloat16 => 'V',
        Kind::Float => 'f',
        Kind::Complex => 'c',
    };
    format!("{kind}{}", dtype.size())
}

/// The magic number and header of an array, padded to a multiple of 64 bytes.
pub(crate) fn encode(dtype: DType, shape: &[usize], is_fortran: bool) -> Vec<u8> {
    let order = if dtype.size() == 1 { '|' } else { '<' };
    let fortran = if is_fortran { "True" } else { "False" };
    let shape = umber_core::Shape::from(shape);
    let mut text =
        format!("{{'descr': '{order}{}', 'fortran_order': {fortran}, 'shape': {shape}, }}", type_code(dtype));
    while (10 + text.len() + 1) % 64 != 0 {
        text.push(' ');
    }
    text.push('\n');
    let mut bytes = MAGIC.to_vec();
    bytes.extend_from_slice(&[1, 0]);
    // Fits 16 bits: at most 64 axes of up to 20 digits.
    bytes.extend_from_slice(&(text.len() as u16).to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
    bytes
}
