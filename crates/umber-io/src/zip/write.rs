//! Writing of an archive.

use flate2::{Compress, FlushCompress, Status};
use umber_types::{Result, ensure, error};

use super::*;
use crate::npz::Compression;
use crate::target::Output;

/// The alignment of stored members.
const ALIGNMENT: u64 = 64;
/// 1 January 1980, the earliest date of the format, so that equal arrays give equal files.
const DATE: u16 = 0x0021;
/// Flag: the sizes follow the member.
const SIZES_FOLLOW: u16 = 1 << 3;
const NAME_IS_UTF8: u16 = 1 << 11;
/// Minimum size that is written with 64 bits. It is below 2^32, since deflate may enlarge incompressible data.
const MIN_ZIP64: u64 = 0xff00_0000;

/// The members written so far, for the directory.
#[derive(Default)]
pub(crate) struct Archive {
    entries: Vec<Entry>,
}

struct Entry {
    name: String,
    method: u16,
    flags: u16,
    checksum: u32,
    packed: u64,
    size: u64,
    offset: u64,
}

#[derive(Default)]
struct Bytes(Vec<u8>);

impl Bytes {
    fn u16(&mut self, value: u16) -> &mut Bytes {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    fn u32(&mut self, value: u32) -> &mut Bytes {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }

    fn u64(&mut self, value: u64) -> &mut Bytes {
        self.0.extend_from_slice(&value.to_le_bytes());
        self
    }
}

fn to_u32(value: u64) -> u32 {
    if value >= MIN_ZIP64 { ELSEWHERE } else { value as u32 }
}

impl Archive {
    /// Write a member that consists of a header and the bytes of an array.
    pub(crate) fn add(
        &mut self,
        output: &mut Output<'_, '_>,
        name: &str,
        header: &[u8],
        data: &[u8],
        compression: Compression,
    ) -> Result<()> {
        ensure!(name.len() <= 0xffff, Value("savez"), "name of {} bytes; the maximum is 65535", name.len());
        let size = (header.len() + data.len()) as u64;
        let mut entry = Entry {
            name: name.to_owned(),
            method: STORED,
            flags: if name.is_ascii() { 0 } else { NAME_IS_UTF8 },
            checksum: 0,
            packed: size,
            size,
            offset: output.position(),
        };
        match compression {
            Compression::None => {
                let mut checksum = crc32fast::Hasher::new();
                checksum.update(header);
                checksum.update(data);
                entry.checksum = checksum.finalize();
                output.plain(&entry.local())?;
                output.plain(header)?;
                output.data(data)?;
            }
            Compression::Deflate => {
                entry.method = DEFLATED;
                entry.flags |= SIZES_FOLLOW;
                output.plain(&entry.local())?;
                let mut deflater = Deflater::new();
                deflater.put(output, header, FlushCompress::None)?;
                output.chunks(data, |output, chunk| deflater.put(output, chunk, FlushCompress::None))?;
                deflater.put(output, &[], FlushCompress::Finish)?;
                entry.packed = deflater.engine.total_out();
                entry.checksum = deflater.checksum.finalize();
                output.plain(&entry.descriptor())?;
            }
        }
        self.entries.push(entry);
        Ok(())
    }

    /// Write the directory, with the archive's comment.
    pub(crate) fn finish(self, output: &mut Output<'_, '_>, comment: &[u8]) -> Result<()> {
        let begin = output.position();
        for entry in &self.entries {
            output.plain(&entry.central())?;
        }
        let (size, count) = (output.position() - begin, self.entries.len() as u64);
        let mut end = Bytes::default();
        if count >= 0xffff || begin + size >= MIN_ZIP64 {
            let at = output.position();
            end.u32(END_64).u64(44).u16(45).u16(45).u32(0).u32(0).u64(count).u64(count).u64(size).u64(begin);
            end.u32(LOCATOR_64).u32(0).u64(at).u32(1);
        }
        let count_u16 = count.min(0xffff) as u16;
        end.u32(END)
            .u16(0)
            .u16(0)
            .u16(count_u16)
            .u16(count_u16)
            .u32(to_u32(size))
            .u32(to_u32(begin))
            .u16(comment.len() as u16);
        output.plain(&end.0)?;
        output.plain(comment)
    }
}

impl Entry {
    fn is_zip64(&self) -> bool {
        self.size >= MIN_ZIP64
    }

    fn version(&self) -> u16 {
        if self.is_zip64() || self.offset >= MIN_ZIP64 { 45 } else { 20 }
    }

    /// The local header, which precedes the member.
    fn local(&self) -> Vec<u8> {
        let follow = self.flags & SIZES_FOLLOW != 0;
        let known = |size: u64| if follow { 0 } else { size };
        let mut extra = Bytes::default();
        if self.is_zip64() {
            extra.u16(EXTRA_64).u16(16).u64(known(self.size)).u64(known(self.packed));
        }
        let begin = self.offset + (30 + self.name.len() + extra.0.len()) as u64;
        if self.method == STORED && !begin.is_multiple_of(ALIGNMENT) {
            let body = begin + 6;
            let zeros = (body.next_multiple_of(ALIGNMENT) - body) as u16;
            extra.u16(EXTRA_ALIGNMENT).u16(2 + zeros).u16(ALIGNMENT as u16);
            extra.0.resize(extra.0.len() + usize::from(zeros), 0);
        }
        let mut bytes = Bytes::default();
        bytes.u32(LOCAL).u16(self.version()).u16(self.flags).u16(self.method).u16(0).u16(DATE);
        let size = |size| if self.is_zip64() { ELSEWHERE } else { known(size) as u32 };
        bytes.u32(if follow { 0 } else { self.checksum }).u32(size(self.packed)).u32(size(self.size));
        bytes.u16(self.name.len() as u16).u16(extra.0.len() as u16);
        bytes.0.extend_from_slice(self.name.as_bytes());
        bytes.0.extend_from_slice(&extra.0);
        bytes.0
    }

    /// The data descriptor, which follows a member whose size was not known in advance.
    fn descriptor(&self) -> Vec<u8> {
        let mut bytes = Bytes::default();
        bytes.u32(DESCRIPTOR).u32(self.checksum);
        if self.is_zip64() {
            bytes.u64(self.packed).u64(self.size);
        } else {
            bytes.u32(self.packed as u32).u32(self.size as u32);
        }
        bytes.0
    }

    /// The entry in the directory.
    fn central(&self) -> Vec<u8> {
        // Version 4.5, created on Unix with mode rw-r--r--.
        const MADE_BY: u16 = (3 << 8) + 45;
        const MODE: u32 = 0o100_644 << 16;
        let mut zip64_numbers = Bytes::default();
        for value in [self.size, self.packed, self.offset] {
            if value >= MIN_ZIP64 {
                zip64_numbers.u64(value);
            }
        }
        let mut bytes = Bytes::default();
        bytes.u32(CENTRAL).u16(MADE_BY).u16(self.version()).u16(self.flags).u16(self.method).u16(0).u16(DATE);
        bytes.u32(self.checksum).u32(to_u32(self.packed)).u32(to_u32(self.size)).u16(self.name.len() as u16);
        bytes.u16(if zip64_numbers.0.is_empty() { 0 } else { zip64_numbers.0.len() as u16 + 4 });
        bytes.u16(0).u16(0).u16(0).u32(MODE).u32(to_u32(self.offset));
        bytes.0.extend_from_slice(self.name.as_bytes());
        if !zip64_numbers.0.is_empty() {
            bytes.u16(EXTRA_64).u16(zip64_numbers.0.len() as u16);
            bytes.0.extend_from_slice(&zip64_numbers.0);
        }
        bytes.0
    }
}

/// Compresses a stream of bytes.
struct Deflater {
    engine: Compress,
    checksum: crc32fast::Hasher,
    buffer: Vec<u8>,
}

impl Deflater {
    fn new() -> Deflater {
        Deflater {
            engine: Compress::new(flate2::Compression::default(), false),
            checksum: crc32fast::Hasher::new(),
            buffer: vec![0; 1 << 16],
        }
    }

    fn put(&mut self, output: &mut Output<'_, '_>, mut bytes: &[u8], flush: FlushCompress) -> Result<()> {
        self.checksum.update(bytes);
        loop {
            let (consumed_before, produced_before) = (self.engine.total_in(), self.engine.total_out());
            let status = self
                .engine
                .compress(bytes, &mut self.buffer, flush)
                .map_err(|error| error!(Runtime("savez_compressed"), "{error}"))?;
            bytes = &bytes[(self.engine.total_in() - consumed_before) as usize..];
            let produced = (self.engine.total_out() - produced_before) as usize;
            output.plain(&self.buffer[..produced])?;
            // Free space in the buffer means that these bytes yield no more output.
            let is_done = match flush {
                FlushCompress::Finish => status == Status::StreamEnd,
                _ => bytes.is_empty() && produced < self.buffer.len(),
            };
            if is_done {
                return Ok(());
            }
        }
    }
}
