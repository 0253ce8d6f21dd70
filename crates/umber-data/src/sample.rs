//! A sample: a row of named values.

use std::collections::HashSet;
use std::fmt;
use std::sync::Arc;

use smallvec::SmallVec;
use umber_kernels::fork::{ForkMutex, InChild, Level};

use crate::error::Result;
use crate::fault;
use crate::value::Value;

/// The key of a value. Equal names share their text, so that a sample costs no allocation for them.
#[derive(Clone, Eq)]
pub struct Name(Arc<str>);

static NAMES: ForkMutex<Option<HashSet<Arc<str>>>> =
    ForkMutex::new(|| None, None, Level::Last, InChild::Keep);

impl Name {
    /// The name with this text.
    pub fn new(text: &str) -> Name {
        let mut names = NAMES.lock();
        let names = names.get_or_insert_with(HashSet::new);
        if let Some(name) = names.get(text) {
            return Name(Arc::clone(name));
        }
        // Names that come from data, such as the columns of many files, do not pile up.
        if names.len() >= 1 << 16 {
            names.clear();
        }
        let name: Arc<str> = Arc::from(text);
        names.insert(Arc::clone(&name));
        Name(name)
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl PartialEq for Name {
    fn eq(&self, other: &Name) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0 == other.0
    }
}

impl From<&str> for Name {
    fn from(text: &str) -> Name {
        Name::new(text)
    }
}

impl fmt::Debug for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.as_str())
    }
}

impl fmt::Display for Name {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// Named values in the order in which they were added.
#[derive(Clone, Debug, Default)]
pub struct Sample {
    entries: SmallVec<[(Name, Value); 2]>,
}

impl Sample {
    /// A sample without values.
    pub fn new() -> Sample {
        Sample::default()
    }

    /// Number of values.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are no values.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.entries.iter().find(|(name, _)| name.as_str() == key).map(|(_, value)| value)
    }

    /// The value of a key.
    ///
    /// # Errors
    /// If there is none; the error lists the keys.
    pub fn require(&self, key: &str) -> Result<&Value> {
        self.get(key).ok_or_else(|| self.missing(key))
    }

    /// Take the value of a key out of the sample, so that its memory is not shared with it.
    ///
    /// # Errors
    /// If there is none; the error lists the keys.
    pub fn take(&mut self, key: &str) -> Result<Value> {
        match self.entries.iter().position(|(name, _)| name.as_str() == key) {
            Some(place) => Ok(self.entries.remove(place).1),
            None => Err(self.missing(key)),
        }
    }

    fn missing(&self, key: &str) -> crate::DataError {
        let keys: Vec<String> = self.names().map(|name| format!("'{name}'")).collect();
        fault!(Value, "the sample has no such key; it has {}", keys.join(", ")).at_key(key)
    }

    /// Set the value of a key: replaces it in its place, or adds it at the end.
    pub fn set(&mut self, name: Name, value: Value) {
        match self.entries.iter_mut().find(|(other, _)| *other == name) {
            Some((_, place)) => *place = value,
            None => self.entries.push((name, value)),
        }
    }

    /// Give the value of `key` another key, in its place. Another value of that key is removed.
    ///
    /// # Errors
    /// If there is no value of `key`; the error lists the keys.
    pub fn rename(&mut self, key: &Name, output: &Name) -> Result<()> {
        self.require(key.as_str())?;
        if key != output {
            self.entries.retain(|(name, _)| name != output);
            self.entries
                .iter_mut()
                .filter(|(name, _)| name == key)
                .for_each(|(name, _)| *name = output.clone());
        }
        Ok(())
    }

    /// Change the value of `key` in its place, or write the result to `output` if that is not empty, which leaves `key` as it is.
    ///
    /// `change` gets the value itself where nothing else needs it, so that it may write to its memory.
    ///
    /// # Errors
    /// If there is no such key, or those of `change`; then the sample lacks the key.
    pub fn update(
        &mut self,
        key: &Name,
        output: Option<&Name>,
        change: impl FnOnce(Value) -> Result<Value>,
    ) -> Result<()> {
        let named = |error: crate::DataError| error.at_key(key.as_str());
        if let Some(output) = output.filter(|output| *output != key) {
            let value = change(self.require(key.as_str())?.clone()).map_err(named)?;
            self.set(output.clone(), value);
            return Ok(());
        }
        let Some(place) = self.entries.iter().position(|(name, _)| name == key) else {
            return Err(self.missing(key.as_str()));
        };
        let (name, value) = self.entries.remove(place);
        let value = change(value).map_err(named)?;
        self.entries.insert(place, (name, value));
        Ok(())
    }

    /// The keys, in order.
    pub fn names(&self) -> impl Iterator<Item = &Name> {
        self.entries.iter().map(|(name, _)| name)
    }

    /// Keys and values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&Name, &Value)> {
        self.entries.iter().map(|(name, value)| (name, value))
    }

    /// The key and value at `place` in the order.
    pub fn entry(&self, place: usize) -> Option<(&Name, &Value)> {
        self.entries.get(place).map(|(name, value)| (name, value))
    }

    /// Keep the values whose key satisfies `keep`.
    pub fn retain(&mut self, mut keep: impl FnMut(&str) -> bool) {
        self.entries.retain(|(name, _)| keep(name.as_str()));
    }
}

impl IntoIterator for Sample {
    type Item = (Name, Value);
    type IntoIter = smallvec::IntoIter<[(Name, Value); 2]>;

    fn into_iter(self) -> Self::IntoIter {
        self.entries.into_iter()
    }
}

impl FromIterator<(Name, Value)> for Sample {
    fn from_iter<I: IntoIterator<Item = (Name, Value)>>(entries: I) -> Sample {
        let mut sample = Sample::new();
        for (name, value) in entries {
            sample.set(name, value);
        }
        sample
    }
}

impl PartialEq for Sample {
    /// Whether both have the same keys with equal values, in any order.
    fn eq(&self, other: &Sample) -> bool {
        self.len() == other.len() && self.iter().all(|(name, value)| other.get(name.as_str()) == Some(value))
    }
}
