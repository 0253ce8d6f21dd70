//! Members of tar archives: their names, and where their content is.
//!
//! Formats are those of Unix V7, ustar, GNU (long names) and pax (`path`, `linkpath`, `size`). Members that are no files are
//! passed over. A hard link is the file it names. Sparse files are refused.

use std::borrow::Cow;
use std::ops::Range;

use super::{Compression, Format, RecordError};

const BLOCK: usize = 512;
/// The largest length of a name, of a link, and of the records that pax adds to a member.
const NAME_LIMIT: usize = 1 << 16;
/// The largest length of all names.
const NAMES_LIMIT: usize = 1 << 31;
/// The number of archives around a member.
const DEPTH_LIMIT: usize = 16;

/// What happens to members that are archives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Nesting {
    /// They are files.
    #[default]
    Keep,
    /// A member `a.tar` is replaced by its own members, named `a/…`.
    Open,
}

/// A file in an archive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TarEntry<'a> {
    /// The name, which need not be UTF-8.
    pub name: &'a [u8],
    /// Where the content begins in the archive.
    pub offset: u64,
    /// The number of bytes of the content.
    pub length: u64,
}

/// The files of an archive, in its order. Where a name occurs several times, the last one counts, in the place of the first.
#[derive(Clone, Debug, Default)]
pub struct TarIndex {
    /// The names, one behind the other.
    names: Vec<u8>,
    members: Vec<Member>,
    /// The members, ordered by name.
    by_name: Vec<u32>,
}

#[derive(Clone, Debug)]
struct Member {
    name: Range<usize>,
    offset: u64,
    length: u64,
    /// The name of the file that a hard link is.
    link: Option<Range<usize>>,
}

impl TarIndex {
    /// Find the files of an archive in memory.
    pub fn read(archive: &[u8], nesting: Nesting) -> Result<TarIndex, RecordError> {
        let mut index = TarIndex::default();
        index.scan(&Scope { bytes: archive, range: 0..archive.len(), prefix: b"", nesting, depth: 0 })?;
        index.order();
        index.follow_links();
        index.drop_replaced();
        Ok(index)
    }

    /// The number of files.
    pub fn len(&self) -> usize {
        self.members.len()
    }

    /// Whether there are no files.
    pub fn is_empty(&self) -> bool {
        self.members.is_empty()
    }

    /// A file by its place; none behind the last one.
    pub fn get(&self, index: usize) -> Option<TarEntry<'_>> {
        self.members.get(index).map(|member| self.entry(member))
    }

    /// A file by its name.
    pub fn find(&self, name: &[u8]) -> Option<TarEntry<'_>> {
        let found = self.by_name.binary_search_by(|member| self.name_of(*member).cmp(name)).ok()?;
        self.get(self.by_name[found] as usize)
    }

    /// The files in order.
    pub fn iter(&self) -> impl Iterator<Item = TarEntry<'_>> {
        self.members.iter().map(|member| self.entry(member))
    }

    fn name_of(&self, member: u32) -> &[u8] {
        &self.names[self.members[member as usize].name.clone()]
    }

    fn entry(&self, member: &Member) -> TarEntry<'_> {
        TarEntry { name: &self.names[member.name.clone()], offset: member.offset, length: member.length }
    }

    /// Add the files of an archive.
    fn scan(&mut self, scope: &Scope<'_>) -> Result<(), RecordError> {
        let Scope { bytes, range, .. } = scope;
        if scope.depth == DEPTH_LIMIT {
            let detail = format!("more than {DEPTH_LIMIT} archives inside of each other");
            return Err(RecordError::refused(Format::Tar, range.start as u64, detail));
        }
        let mut at = range.start;
        let mut extended = Extended::default();
        loop {
            let Some(block) = bytes[..range.end].get(at..at + BLOCK) else {
                let detail = "the empty block at the end of an archive is missing; was its writer closed?";
                return Err(RecordError::truncated(Format::Tar, range.end as u64, detail));
            };
            let header = Header { block, at };
            if block.iter().all(|byte| *byte == 0) {
                return if extended == Extended::default() {
                    Ok(())
                } else {
                    Err(header.damaged("a long name or pax header has no member"))
                };
            }
            header.check().map_err(|error| match Compression::of_bytes(block) {
                compression if at == range.start && compression != Compression::None => {
                    let detail = format!("it is compressed with {compression}; decompress it");
                    RecordError::refused(Format::Tar, at as u64, detail)
                }
                _ => error,
            })?;
            let content = header.content(&extended, range.end)?;
            let text = &bytes[content.clone()];
            at = content.start.saturating_add(content.len().next_multiple_of(BLOCK));
            match header.kind() {
                b'L' => extended.name = Some(header.long(text)?),
                b'K' => extended.link = Some(header.long(text)?),
                b'x' | b'X' => header.read_pax(text, &mut extended)?,
                b'g' => header.check_global(text)?,
                _ => self.add(scope, &header, content, &std::mem::take(&mut extended))?,
            }
        }
    }

    /// Add a member, if it is a file, or its members.
    fn add(
        &mut self,
        scope: &Scope<'_>,
        header: &Header<'_>,
        content: Range<usize>,
        extended: &Extended,
    ) -> Result<(), RecordError> {
        let Scope { bytes, prefix, nesting, depth, .. } = *scope;
        let (kind, name) = (header.kind(), header.name(extended));
        header.refuse_sparse(extended, &name)?;
        // In the format of Unix V7, a directory is a file whose name ends with a slash.
        let is_file = matches!(kind, b'0' | 0 | b'7') && !name.ends_with(b"/");
        let archive = name.strip_suffix(b".tar").filter(|stem| !stem.is_empty());
        if let (true, Nesting::Open, Some(stem)) = (is_file, nesting, archive) {
            let prefix = &[prefix, stem, b"/"].concat();
            return self.scan(&Scope { bytes, range: content, prefix, nesting, depth: depth + 1 });
        }
        if is_file || kind == b'1' {
            let link = (kind == b'1').then(|| header.link(extended));
            let link = link.map(|link| self.push_name(prefix, &link, header.at)).transpose()?;
            let name = self.push_name(prefix, &name, header.at)?;
            self.members.push(Member {
                name,
                offset: content.start as u64,
                length: content.len() as u64,
                link,
            });
        }
        Ok(())
    }

    fn push_name(&mut self, prefix: &[u8], name: &[u8], at: usize) -> Result<Range<usize>, RecordError> {
        let start = self.names.len();
        let length = prefix.len() + name.len();
        let too_long = |limit: usize| RecordError::TooLong {
            format: Format::Tar,
            offset: at as u64,
            limit: limit as u64,
        };
        if length > NAME_LIMIT {
            return Err(too_long(NAME_LIMIT));
        }
        if start + length > NAMES_LIMIT || self.members.len() == u32::MAX as usize {
            return Err(too_long(NAMES_LIMIT));
        }
        self.names.extend_from_slice(prefix);
        self.names.extend_from_slice(name);
        Ok(start..start + length)
    }

    /// Order members by name, and those of the same name by place.
    fn order(&mut self) {
        let mut by_name: Vec<u32> = (0..self.members.len() as u32).collect();
        by_name.sort_by(|left, right| self.name_of(*left).cmp(self.name_of(*right)));
        self.by_name = by_name;
    }

    /// Give hard links the content of the last file before them that has the name. Links to other files are dropped.
    fn follow_links(&mut self) {
        for at in 0..self.members.len() {
            let Some(link) = self.members[at].link.clone() else { continue };
            let before = (&self.names[link.clone()], at);
            let is_before = |member: &u32| (self.name_of(*member), *member as usize) < before;
            let target = self.by_name.partition_point(is_before).checked_sub(1);
            let target = target.map(|target| &self.members[self.by_name[target] as usize]);
            let found = target.filter(|target| self.names[target.name.clone()] == self.names[link.clone()]);
            if let Some(Member { offset, length, link: None, .. }) = found.cloned() {
                let name = self.members[at].name.clone();
                self.members[at] = Member { name, offset, length, link: None };
            }
        }
    }

    /// Keep one member of each name.
    fn drop_replaced(&mut self) {
        let by_name = std::mem::take(&mut self.by_name);
        let mut is_kept = vec![false; self.members.len()];
        let mut rest = &by_name[..];
        while let Some(&first) = rest.first() {
            let name = self.name_of(first);
            let (same, others) =
                rest.split_at(rest.iter().take_while(|member| self.name_of(**member) == name).count());
            if let Some(&last) = same.iter().rfind(|member| self.members[**member as usize].link.is_none()) {
                self.members[first as usize] = self.members[last as usize].clone();
                is_kept[first as usize] = true;
            }
            rest = others;
        }
        let mut is_kept = is_kept.into_iter();
        self.members.retain(|_| is_kept.next() == Some(true));
        self.order();
    }
}

/// An archive, which may be a member of another.
struct Scope<'a> {
    /// The outermost archive.
    bytes: &'a [u8],
    /// Where this one lies.
    range: Range<usize>,
    /// What the names of its members begin with.
    prefix: &'a [u8],
    nesting: Nesting,
    /// The number of archives around it.
    depth: usize,
}

/// What the headers before a member say about it.
#[derive(Debug, Default, PartialEq, Eq)]
struct Extended {
    name: Option<Vec<u8>>,
    link: Option<Vec<u8>>,
    path: Option<Vec<u8>>,
    link_path: Option<Vec<u8>>,
    size: Option<u64>,
    is_sparse: bool,
}

/// A header, and its offset.
struct Header<'a> {
    block: &'a [u8],
    at: usize,
}

impl Header<'_> {
    fn damaged(&self, detail: impl Into<Cow<'static, str>>) -> RecordError {
        RecordError::damaged(Format::Tar, self.at as u64, detail)
    }

    /// Verify the checksum: the sum of all bytes, as unsigned numbers or, in some old archives, signed ones.
    fn check(&self) -> Result<(), RecordError> {
        let expected = self.number(148..156)?;
        let others = || self.block[..148].iter().chain(&self.block[156..]);
        let unsigned: u64 = others().map(|byte| u64::from(*byte)).sum::<u64>() + 8 * u64::from(b' ');
        let signed: i64 =
            others().map(|byte| i64::from(byte.cast_signed())).sum::<i64>() + 8 * i64::from(b' ');
        if expected == unsigned || i64::try_from(expected) == Ok(signed) {
            return Ok(());
        }
        Err(self.damaged(format!("the header has the checksum {unsigned}, not {expected}")))
    }

    /// A number: octal digits, or big-endian bytes of which the first has its highest bit set.
    fn number(&self, field: Range<usize>) -> Result<u64, RecordError> {
        let bytes = &self.block[field.clone()];
        let parsed = if bytes[0] & 0x80 == 0 {
            let start = bytes.iter().position(|byte| !matches!(byte, b' ' | 0)).unwrap_or(bytes.len());
            let digits = &bytes[start..];
            let end = digits.iter().position(|byte| matches!(byte, b' ' | 0)).unwrap_or(digits.len());
            digits[..end].iter().try_fold(0u64, |value, digit| match digit {
                b'0'..=b'7' => value.checked_mul(8)?.checked_add(u64::from(digit - b'0')),
                _ => None,
            })
        } else if bytes[0] == 0x80 {
            bytes[1..]
                .iter()
                .try_fold(0u64, |value, byte| value.checked_mul(256)?.checked_add(u64::from(*byte)))
        } else {
            None
        };
        parsed.ok_or_else(|| {
            let text = bytes.escape_ascii();
            self.damaged(format!("the header has '{text}' for a number at its byte {}", field.start))
        })
    }

    /// The type of the member.
    fn kind(&self) -> u8 {
        self.block[156]
    }

    /// Where the content of the member is, in an archive that ends at `end`.
    fn content(&self, extended: &Extended, end: usize) -> Result<Range<usize>, RecordError> {
        let length = match (self.kind(), extended.size) {
            // Links, devices, directories and pipes have no content, whatever their size says.
            (b'1'..=b'6', _) => 0,
            (b'L' | b'K' | b'x' | b'X' | b'g', _) | (_, None) => self.number(124..136)?,
            (_, Some(size)) => size,
        };
        let start = self.at + BLOCK;
        let available = end - start;
        if length > available as u64 {
            let missing = length - available as u64;
            let name = self.name(extended).escape_ascii().to_string();
            let detail = format!("{missing} of {length} bytes of the member '{name}' are missing");
            return Err(RecordError::truncated(Format::Tar, end as u64, detail));
        }
        Ok(start..start + length as usize)
    }

    fn name(&self, extended: &Extended) -> Vec<u8> {
        if let Some(name) = extended.path.as_ref().or(extended.name.as_ref()) {
            return name.clone();
        }
        let name = until_nul(&self.block[..100]);
        let prefix = until_nul(&self.block[345..500]);
        // GNU tar writes other things than a prefix there, and a magic number without a zero byte.
        if &self.block[257..263] == b"ustar\0" && !prefix.is_empty() {
            return [prefix, b"/", name].concat();
        }
        name.to_vec()
    }

    fn link(&self, extended: &Extended) -> Vec<u8> {
        let link = extended.link_path.as_ref().or(extended.link.as_ref());
        link.cloned().unwrap_or_else(|| until_nul(&self.block[157..257]).to_vec())
    }

    /// A long name of GNU tar.
    fn long(&self, text: &[u8]) -> Result<Vec<u8>, RecordError> {
        let name = until_nul(text);
        if name.len() > NAME_LIMIT {
            return Err(RecordError::TooLong {
                format: Format::Tar,
                offset: self.at as u64,
                limit: NAME_LIMIT as u64,
            });
        }
        Ok(name.to_vec())
    }

    fn read_pax(&self, text: &[u8], extended: &mut Extended) -> Result<(), RecordError> {
        for PaxRecord { key, value } in self.pax_records(text)? {
            match key {
                b"path" => extended.path = Some(self.long(value)?),
                b"linkpath" => extended.link_path = Some(self.long(value)?),
                b"size" => {
                    let size = std::str::from_utf8(value).ok().and_then(|text| text.parse().ok());
                    let size = size.ok_or_else(|| {
                        self.damaged(format!("the pax header has the size '{}'", value.escape_ascii()))
                    })?;
                    extended.size = Some(size);
                }
                b"GNU.sparse.name" => {
                    // The name in the header is that of a folder which does not exist.
                    extended.is_sparse = true;
                    extended.path = Some(self.long(value)?);
                }
                _ if key.starts_with(b"GNU.sparse.") => extended.is_sparse = true,
                _ => {}
            }
        }
        Ok(())
    }

    /// A global header may say nothing about names and sizes, which differ from member to member.
    fn check_global(&self, text: &[u8]) -> Result<(), RecordError> {
        for PaxRecord { key, .. } in self.pax_records(text)? {
            if matches!(key, b"path" | b"linkpath" | b"size") || key.starts_with(b"GNU.sparse.") {
                let detail =
                    format!("a global pax header sets '{}'; write the archive anew", key.escape_ascii());
                return Err(RecordError::refused(Format::Tar, self.at as u64, detail));
            }
        }
        Ok(())
    }

    /// The records of a pax header, each written as `length key=value\n`.
    fn pax_records<'t>(&self, mut text: &'t [u8]) -> Result<Vec<PaxRecord<'t>>, RecordError> {
        let mut records = Vec::new();
        while text.iter().any(|byte| *byte != 0) {
            let (record, rest) = split_pax(text).ok_or_else(|| {
                let start = text[..text.len().min(20)].escape_ascii();
                self.damaged(format!("the pax header has no 'length key=value' at '{start}'"))
            })?;
            records.push(record);
            text = rest;
        }
        Ok(records)
    }

    fn refuse_sparse(&self, extended: &Extended, name: &[u8]) -> Result<(), RecordError> {
        if self.kind() != b'S' && !extended.is_sparse {
            return Ok(());
        }
        let detail =
            format!("the member '{}' is a sparse file; write it without --sparse", name.escape_ascii());
        Err(RecordError::refused(Format::Tar, self.at as u64, detail))
    }
}

/// A record of a pax header.
struct PaxRecord<'a> {
    key: &'a [u8],
    value: &'a [u8],
}

/// The first pax record, and what follows it.
fn split_pax(text: &[u8]) -> Option<(PaxRecord<'_>, &[u8])> {
    let space = text.iter().take(20).position(|byte| *byte == b' ')?;
    let length: usize = std::str::from_utf8(&text[..space]).ok()?.parse().ok()?;
    let record = text.get(space + 1..length)?.strip_suffix(b"\n")?;
    let equals = record.iter().position(|byte| *byte == b'=')?;
    Some((PaxRecord { key: &record[..equals], value: &record[equals + 1..] }, &text[length..]))
}

fn until_nul(field: &[u8]) -> &[u8] {
    memchr::memchr(0, field).map_or(field, |end| &field[..end])
}

#[cfg(test)]
mod tests;
