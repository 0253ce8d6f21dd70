//! The members of an archive, from its directory.

use std::collections::HashSet;
use std::ops::Range;

use flate2::{Decompress, FlushDecompress, Status};
use umber_core::frontend;
use umber_types::{Error, Result, bail, ensure, error};

use super::*;
use crate::Source;

/// Bytes between checks for interrupts.
const CHUNK: usize = 8 << 20;
/// Compressed bytes that suffice to inflate the beginning of a member: the code tables of a block take less.
const FIRST_BLOCK: usize = 64 << 10;

/// A file in an archive.
pub(crate) struct Member {
    pub(crate) name: String,
    method: u16,
    /// The range of its bytes, as stored.
    data: Range<usize>,
    size: usize,
    checksum: u32,
}

/// Reads little-endian numbers from a record, which must be long enough.
struct Record<'a>(&'a [u8]);

impl Record<'_> {
    fn u16(&self, at: usize) -> u16 {
        u16::from_le_bytes([self.0[at], self.0[at + 1]])
    }

    fn u32(&self, at: usize) -> u32 {
        u32::from(self.u16(at)) | u32::from(self.u16(at + 2)) << 16
    }

    fn u64(&self, at: usize) -> u64 {
        u64::from(self.u32(at)) | u64::from(self.u32(at + 4)) << 32
    }
}

fn to_usize(value: u64) -> usize {
    usize::try_from(value).unwrap_or(usize::MAX)
}

/// The range of the directory, the number of its members, and the archive's comment.
struct Directory {
    range: Range<usize>,
    count: u64,
    comment: Vec<u8>,
}

/// The members of an archive, and its comment.
pub(crate) struct Members {
    pub(crate) members: Vec<Member>,
    pub(crate) comment: Vec<u8>,
}

fn directory(source: &Source) -> Result<Directory> {
    const RECORD: usize = 22;
    let length = source.length();
    // A comment of up to 65535 bytes may follow.
    let tail_at = length.saturating_sub(RECORD + 0xffff);
    let tail = source.bytes(tail_at..length)?;
    let end_record = (0..(tail.len() + 1).saturating_sub(RECORD)).rev().find(|&at| {
        let record = Record(&tail[at..]);
        record.u32(0) == END && at + RECORD + usize::from(record.u16(20)) == tail.len()
    });
    let Some(at) = end_record else {
        bail!(Value, "not a zip archive, or truncated: no end of central directory");
    };
    let record = Record(&tail[at..]);
    let (mut count, mut size, mut begin) =
        (u64::from(record.u16(10)), u64::from(record.u32(12)), u64::from(record.u32(16)));
    let mut end = tail_at + at;
    if end >= 20 {
        let bytes = source.bytes(end - 20..end)?;
        let locator = Record(&bytes);
        if locator.u32(0) == LOCATOR_64 {
            let zip64_at = to_usize(locator.u64(8));
            let bytes = source.bytes(zip64_at..zip64_at.saturating_add(56))?;
            let zip64 = Record(&bytes);
            ensure!(zip64.u32(0) == END_64, Value, "zip archive has a damaged end record");
            (count, size, begin) = (zip64.u64(32), zip64.u64(40), zip64.u64(48));
            end = zip64_at;
        }
    }
    let range = to_usize(begin)..to_usize(begin.saturating_add(size));
    ensure!(
        range.end <= end,
        Value,
        "zip directory at {} to {} reaches beyond {end}",
        range.start,
        range.end
    );
    Ok(Directory { range, count, comment: tail[at + RECORD..].to_vec() })
}

/// The members of the archive, checked for overlaps and duplicate names.
pub(crate) fn members(source: &Source) -> Result<Members> {
    let directory = directory(source)?;
    let bytes = source.bytes(directory.range.clone())?;
    let mut rest: &[u8] = &bytes;
    let (mut members, mut names, mut ranges) = (Vec::new(), HashSet::new(), Vec::new());
    for _ in 0..directory.count {
        let (member, offset, length) = entry(source, rest, directory.range.start)?;
        rest = &rest[length..];
        ranges.push(offset..member.data.end);
        ensure!(
            names.insert(member.name.clone()),
            Value,
            "duplicate member '{}' in zip archive",
            member.name
        );
        if !member.name.ends_with('/') {
            members.push(member);
        }
    }
    ranges.sort_by_key(|range| range.start);
    for pair in ranges.windows(2) {
        ensure!(pair[0].end <= pair[1].start, Value, "zip members overlap at byte {}", pair[1].start);
    }
    Ok(Members { members, comment: directory.comment })
}

/// The first member of a directory, its offset, and the length of its directory entry.
fn entry(source: &Source, directory: &[u8], end: usize) -> Result<(Member, usize, usize)> {
    const RECORD: usize = 46;
    let damaged_directory = || umber_types::error!(Value, "zip directory is damaged");
    ensure!(directory.len() >= RECORD, Value, "{}", damaged_directory());
    let record = Record(directory);
    ensure!(record.u32(0) == CENTRAL, Value, "{}", damaged_directory());
    let (name_end, extra, comment) =
        (RECORD + usize::from(record.u16(28)), usize::from(record.u16(30)), usize::from(record.u16(32)));
    let length = name_end + extra + comment;
    ensure!(directory.len() >= length, Value, "{}", damaged_directory());
    let Ok(name) = std::str::from_utf8(&directory[RECORD..name_end]) else {
        bail!(Value, "zip member name is not UTF-8");
    };
    let (flags, method) = (record.u16(8), record.u16(10));
    ensure!(flags & 1 == 0, Value, "'{name}' is encrypted");
    ensure!(
        method == STORED || method == DEFLATED,
        Value,
        "'{name}': compression method {method} is not supported, expected stored or deflate"
    );
    let mut zip64_numbers = parse_zip64_numbers(&directory[name_end..name_end + extra]);
    let mut number = |at: usize| match record.u32(at) {
        ELSEWHERE => zip64_numbers.next().ok_or_else(damaged_directory),
        number => Ok(u64::from(number)),
    };
    let (size, packed, offset) = (to_usize(number(24)?), to_usize(number(20)?), to_usize(number(42)?));
    let header = source.bytes(offset..offset.saturating_add(30))?;
    let local = Record(&header);
    ensure!(local.u32(0) == LOCAL, Value, "'{name}': no member at byte {offset}");
    let data = offset + 30 + usize::from(local.u16(26)) + usize::from(local.u16(28));
    let data = data..data.saturating_add(packed);
    ensure!(
        data.end <= end,
        Value,
        "'{name}' ends at byte {}, after the start of the directory at {end}",
        data.end
    );
    // The maximum compression ratio of deflate is 1032.
    let max_size = if method == STORED { packed } else { packed.saturating_mul(1032).saturating_add(64) };
    ensure!(
        size <= max_size && (method == DEFLATED || size == packed),
        Value,
        "'{name}': size {size} is impossible for {packed} compressed bytes; the maximum is {max_size}"
    );
    let checksum = record.u32(16);
    Ok((Member { name: name.to_owned(), method, data, size, checksum }, offset, length))
}

/// The numbers in the Zip64 extra field.
fn parse_zip64_numbers(mut extra: &[u8]) -> impl Iterator<Item = u64> {
    let mut numbers = Vec::new();
    while let [a, b, c, d, tail @ ..] = extra {
        let (kind, length) = (u16::from_le_bytes([*a, *b]), usize::from(u16::from_le_bytes([*c, *d])));
        let Some(body) = tail.get(..length) else { break };
        if kind == EXTRA_64 {
            numbers = body.chunks_exact(8).map(|chunk| Record(chunk).u64(0)).collect();
        }
        extra = &tail[length..];
    }
    numbers.into_iter()
}

impl Member {
    /// Its bytes, decompressed; those of a stored member share the archive's memory.
    pub(crate) fn bytes(&self, source: &Source) -> Result<Source> {
        if self.method == STORED && source.is_mapped() {
            // Not verified: the checksum would read data that may never be used.
            return source.slice(self.data.clone());
        }
        if self.method == STORED {
            let data = source.slice_in_memory(self.data.clone())?;
            let mut checksum = crc32fast::Hasher::new();
            for chunk in data.bytes(0..data.length())?.chunks(CHUNK) {
                frontend::check_interrupted()?;
                checksum.update(chunk);
            }
            self.check(checksum)?;
            return Ok(data);
        }
        let packed = source.bytes(self.data.clone())?;
        Source::filled(self.size, self.name.clone(), |into| self.inflate(&packed, into))
    }

    /// Whether its content begins with `magic`.
    pub(crate) fn begins_with(&self, source: &Source, magic: &[u8]) -> Result<bool> {
        if self.size < magic.len() {
            return Ok(false);
        }
        let end = self.data.end.min(self.data.start.saturating_add(FIRST_BLOCK));
        let packed = source.bytes(self.data.start..end)?;
        if self.method == STORED {
            return Ok(packed.starts_with(magic));
        }
        let mut start = vec![0; magic.len()];
        // Damaged data counts as different content here; reading reports the damage.
        let inflated = Decompress::new(false).decompress(&packed, &mut start, FlushDecompress::None);
        Ok(inflated.is_ok() && start == magic)
    }

    fn check(&self, checksum: crc32fast::Hasher) -> Result<()> {
        if checksum.finalize() == self.checksum { Ok(()) } else { Err(damaged("its checksum differs")) }
    }

    fn inflate(&self, packed: &[u8], into: &mut [u8]) -> Result<()> {
        let mut inflater = Decompress::new(false);
        let mut checksum = crc32fast::Hasher::new();
        let (mut consumed, mut produced) = (0, 0);
        loop {
            frontend::check_interrupted()?;
            let end = into.len().min(produced + CHUNK);
            let status = inflater
                .decompress(&packed[consumed..], &mut into[produced..end], FlushDecompress::None)
                .map_err(|error| damaged(&error.to_string()))?;
            let (now_consumed, now_produced) = (inflater.total_in() as usize, inflater.total_out() as usize);
            checksum.update(&into[produced..now_produced]);
            let is_stuck = (now_consumed, now_produced) == (consumed, produced);
            (consumed, produced) = (now_consumed, now_produced);
            match status {
                Status::StreamEnd if produced == into.len() => break,
                Status::StreamEnd => return Err(damaged("it is shorter than it says")),
                Status::Ok | Status::BufError if produced == into.len() => {
                    // All bytes are decompressed; the stream must end here.
                    let mut excess = [0u8; 1];
                    let status = inflater
                        .decompress(&packed[consumed..], &mut excess, FlushDecompress::Finish)
                        .map_err(|error| damaged(&error.to_string()))?;
                    if status == Status::StreamEnd && inflater.total_out() as usize == produced {
                        break;
                    }
                    return Err(damaged("it does not end where it says"));
                }
                Status::Ok | Status::BufError if is_stuck => return Err(damaged("it ends early")),
                Status::Ok | Status::BufError => {}
            }
        }
        self.check(checksum)
    }
}

fn damaged(what: &str) -> Error {
    error!(Value, "zip member is damaged: {what}")
}
