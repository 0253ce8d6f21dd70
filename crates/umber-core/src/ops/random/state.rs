//! Keys, and the state that calls without a key draw from.

use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{SystemTime, UNIX_EPOCH};

use umber_types::{Result, Shape};

use super::bits;
use crate::graph::{Array, tracing};
use crate::primitives::gather::Places;
use crate::primitives::rules::reshape;
use crate::primitives::slice::slice_along;

/// The key that the next draw without a key is split from; none before the first.
static STATE: Mutex<Option<Array>> = Mutex::new(None);

fn lock() -> MutexGuard<'static, Option<Array>> {
    STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The key of a seed: its upper and its lower 32 bits.
pub fn key(seed: u64) -> Result<Array> {
    Array::from_slice(&[(seed >> 32) as u32, seed as u32], [2])
}

/// `count` keys from one, as rows.
pub fn split(key: &Array, count: i64) -> Result<Array> {
    bits("split", key, Shape::checked("split", &[count, 2])?)
}

/// Start the process-wide state from a seed.
pub fn seed(seed: u64) -> Result<()> {
    *lock() = Some(key(seed)?);
    Ok(())
}

/// A state nobody chose, different from run to run.
fn initial() -> Result<Array> {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    key(elapsed.as_nanos() as u64 ^ (u64::from(std::process::id()) << 32))
}

/// The process-wide state: a key.
pub fn state() -> Result<Array> {
    let mut state = lock();
    match &*state {
        Some(key) => Ok(key.clone()),
        None => Ok(state.insert(initial()?).clone()),
    }
}

/// Replace the process-wide state.
pub fn set_state(key: Array) -> Result<()> {
    super::check_key("random.state", &key)?;
    *lock() = Some(key);
    Ok(())
}

/// A key for one draw: the state splits in two, the first stays, the second is the answer, or what lanes split.
pub(super) fn next_key() -> Result<Array> {
    let mut key = {
        let mut state = lock();
        let current = match state.take() {
            Some(key) => key,
            None => initial()?,
        };
        let half = |pair: &Array, i: usize| reshape(&slice_along(pair, 0, i, 1)?, [2]);
        let pair = split(&current, 2)?;
        *state = Some(half(&pair, 0)?);
        half(&pair, 1)?
    };
    for lane in tracing::lanes() {
        let places = Places::grid("random", &[0], smallvec::smallvec![lane.index]);
        key = places.read(&split(&key, lane.count.max(1) as i64)?)?;
    }
    Ok(key)
}
