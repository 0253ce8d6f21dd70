//! Shards of a web data set: tar archives in which the files of a sample have one name and several suffixes.

use umber_core::DType;

use crate::error::Result;
use crate::fault;
use crate::random::{Bijection, Key};
use crate::records::Nesting;
use crate::sample::{Name, Sample};
use crate::source::archive::Archive;
use crate::source::content::FileName;
use crate::stage::Samples;
use crate::value::Value;

const NAME: &str = "stream_webdataset";

/// Reads shards one after the other, in their order or in another one every pass.
///
/// Neighbours whose names agree up to the first dot of the file name are a sample: `a/7.jpg` and `a/7.cls` become
/// `{"__key__": a/7, "jpg": …, "cls": …}`. Suffixes are in lower case. Files without a suffix, or whose name starts with a dot, are
/// passed over. The state is the shard's number and the member's.
pub struct WebDataset {
    shards: Vec<FileName>,
    shuffle: Option<Key>,
    epoch: u64,
    /// The number of the current shard in the order of the pass.
    shard: u64,
    /// The number of the next member.
    member: usize,
    archive: Option<Archive>,
}

impl WebDataset {
    /// Read these shards. With a key, every pass has a random order of shards.
    pub fn new(shards: Vec<FileName>, shuffle: Option<Key>) -> WebDataset {
        WebDataset { shards, shuffle, epoch: 0, shard: 0, member: 0, archive: None }
    }

    fn current(&self) -> Option<&FileName> {
        let count = self.shards.len() as u64;
        if self.shard >= count {
            return None;
        }
        let order = self.shuffle.map(|key| Bijection::new(key.fold_in(self.epoch), count));
        self.shards.get(order.map_or(self.shard, |order| order.at(self.shard)) as usize)
    }

    fn pass_shard(&mut self) {
        self.shard += 1;
        self.member = 0;
        self.archive = None;
    }

    fn read(&mut self) -> Result<Option<Sample>> {
        loop {
            let Some(file) = self.current().cloned() else { return Ok(None) };
            let archive = match self.archive.take() {
                Some(archive) => archive,
                None => match file.fetched().and_then(|path| Archive::open(&path, Nesting::Keep)) {
                    Ok(archive) => archive,
                    Err(error) => {
                        self.pass_shard();
                        return Err(error);
                    }
                },
            };
            let path = file.folder.join(&file.name);
            let read = next_sample(&archive, &mut self.member);
            self.archive = Some(archive);
            match read.map_err(|error| error.in_file(path))? {
                Some(sample) => return Ok(Some(sample)),
                None => self.pass_shard(),
            }
        }
    }
}

/// The name up to the first dot of the file name, and the suffix behind it.
fn split(name: &[u8]) -> Option<(&[u8], &[u8])> {
    let file = memchr::memrchr(b'/', name).map_or(0, |slash| slash + 1);
    let dot = file + memchr::memchr(b'.', &name[file..])?;
    (dot > file && dot + 1 < name.len()).then(|| (&name[..dot], &name[dot + 1..]))
}

/// The sample of the members from `member` on, which is moved behind them.
fn next_sample(archive: &Archive, member: &mut usize) -> Result<Option<Sample>> {
    let index = archive.index();
    let mut sample = Sample::new();
    let mut key: &[u8] = &[];
    let mut twice = None;
    while let Some(entry) = index.get(*member) {
        if let Some((stem, suffix)) = split(entry.name) {
            if sample.is_empty() {
                key = stem;
                sample.set(Name::new("__key__"), Value::from_text(stem, DType::Int8)?);
            } else if stem != key {
                break;
            }
            let suffix = String::from_utf8_lossy(&suffix.to_ascii_lowercase()).into_owned();
            if sample.get(&suffix).is_some() {
                twice.get_or_insert((entry.name, suffix.clone()));
            }
            sample.set(Name::new(&suffix), archive.content(&entry)?);
        }
        *member += 1;
    }
    if let Some((name, suffix)) = twice {
        let name = name.escape_ascii();
        return Err(fault!(Value, "a sample has two files for '{suffix}'; the second is '{name}'"));
    }
    Ok((!sample.is_empty()).then_some(sample))
}

impl Samples for WebDataset {
    fn next(&mut self) -> Result<Option<Sample>> {
        self.read()
    }

    fn reset(&mut self) -> Result<()> {
        (self.shard, self.member, self.archive) = (0, 0, None);
        self.epoch += 1;
        Ok(())
    }

    fn name(&self) -> &str {
        NAME
    }

    fn arguments(&self) -> String {
        let order = if self.shuffle.is_some() { ", shuffle_shards" } else { "" };
        format!("{} shards{order}", self.shards.len())
    }

    fn save(&mut self) -> Option<String> {
        let key = self.shuffle.map_or(0, Key::to_number);
        Some(format!("{key} {} {} {}", self.epoch, self.shard, self.member))
    }

    fn load(&mut self, state: &str) -> Result<()> {
        let numbers: Option<Vec<u64>> = state.split(' ').map(|number| number.parse().ok()).collect();
        let Some(&[key, epoch, shard, member]) = numbers.as_deref() else {
            return Err(fault!(Value, "the state is damaged, or another version wrote it"));
        };
        self.shuffle = self.shuffle.map(|_| Key::from_number(key));
        (self.epoch, self.shard, self.member, self.archive) = (epoch, shard, member as usize, None);
        Ok(())
    }
}
