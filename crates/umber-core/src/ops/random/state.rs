//! Random keys, and the global state from which calls without a key draw.

use std::sync::MutexGuard;
use std::time::{SystemTime, UNIX_EPOCH};

use umber_kernels::ViewMut;
use umber_kernels::fork::{ForkMutex, InChild, Level};
use umber_kernels::random::random_bits;
use umber_types::{BinaryKind, DType, Layout, Result, Shape};

use super::bits;
use crate::graph::{Array, tracing};
use crate::primitives::gather::Places;
use crate::primitives::rules::{binary, broadcast, cast, reshape};
use crate::primitives::slice::slice_along;

/// The key from which the next draw without a key is split; `None` before the first draw.
static STATE: ForkMutex<Option<Array>> = ForkMutex::new(|| None, None, Level::Recording, InChild::Keep);

fn lock() -> MutexGuard<'static, Option<Array>> {
    STATE.lock()
}

/// Make a random key from a seed.
///
/// The key holds the upper and the lower 32 bits of the seed. Shape (2,) and dtype uint32.
///
/// ```
/// # use umber_core as umber;
/// use umber::ops;
/// assert_eq!(ops::random::key(7)?.to_vec::<u32>()?, [0, 7]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn key(seed: u64) -> Result<Array> {
    Array::from_slice(&[(seed >> 32) as u32, seed as u32], [2])
}

/// Split a key into several independent keys.
///
/// One key per row: shape (count, 2) and dtype uint32. Fails for a negative count or an array that is not a key.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Shape, ops, s};
/// let keys = ops::random::split(&ops::random::key(0)?, 3)?;
/// assert_eq!(keys.shape(), &Shape::from([3, 2]));
/// assert!(!keys.get(s![0])?.equals(&keys.get(s![1])?)?);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn split(key: &Array, count: i64) -> Result<Array> {
    bits("split", key, Shape::checked("split", &[count, 2])?)
}

/// Set the global random key from a seed.
///
/// ```
/// # use umber_core as umber;
/// use umber::{DType, ops};
/// let draw = || ops::random::normal(&[3], DType::Float32, None, None, None);
/// ops::random::seed(1)?;
/// let first = draw()?;
/// ops::random::seed(1)?;
/// assert!(first.equals(&draw()?)?);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn seed(seed: u64) -> Result<()> {
    *lock() = Some(key(seed)?);
    Ok(())
}

/// An arbitrary initial state, different in each process.
fn initial() -> Result<Array> {
    let elapsed = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    key(elapsed.as_nanos() as u64 ^ (u64::from(std::process::id()) << 32))
}

/// Return the global random key.
///
/// ```
/// # use umber_core as umber;
/// use umber::ops;
/// ops::random::seed(7)?;
/// assert_eq!(ops::random::state()?.to_vec::<u32>()?, [0, 7]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn state() -> Result<Array> {
    let mut state = lock();
    match &*state {
        Some(key) => Ok(key.clone()),
        None => Ok(state.insert(initial()?).clone()),
    }
}

/// Replace the global random key.
///
/// Fails for an array that is not a key.
///
/// ```
/// # use umber_core as umber;
/// use umber::ops;
/// let saved = ops::random::state()?;
/// let first = ops::random::permutation(100, None)?;
/// ops::random::set_state(saved)?;
/// assert!(first.equals(&ops::random::permutation(100, None)?)?);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn set_state(key: Array) -> Result<()> {
    super::check_key("random.state", &key)?;
    *lock() = Some(key);
    Ok(())
}

/// Derive a key from a key and a number, which may be traced.
fn fold_in(key: &Array, number: &Array) -> Result<Array> {
    let number = broadcast(&reshape(&cast(number, DType::UInt32)?, [1])?, key.shape())?;
    bits("random", &binary(BinaryKind::BitwiseXor, key, &number)?, key.shape().clone())
}

/// Split a key in two.
///
/// If the key is evaluated, the new keys are computed eagerly, so that draws that are never evaluated leave no chain of keys.
fn halves(key: &Array) -> Result<[Array; 2]> {
    if let Some(words) = key.view().filter(|_| !key.is_traced()) {
        let (mut drawn, layout) = ([0u32; 4], Layout::contiguous([2, 2].into()));
        random_bits(words, DType::UInt32.size(), ViewMut::of(&mut drawn, &layout));
        return Ok([Array::from_slice(&drawn[..2], [2])?, Array::from_slice(&drawn[2..], [2])?]);
    }
    let pair = split(key, 2)?;
    let half = |i: usize| reshape(&slice_along(&pair, 0, i, 1)?, [2]);
    Ok([half(0)?, half(1)?])
}

/// The key of one draw: the second half of the split state, whose first half becomes the state. Inside `vmap`, batch index `i`
/// uses row `i` of that key split.
pub(super) fn next_key() -> Result<Array> {
    let mut key = {
        let mut state = lock();
        let current = match state.take() {
            Some(key) => key,
            None => initial()?,
        };
        let [next_state, key] = halves(&current)?;
        *state = Some(next_state);
        key
    };
    for batch_index in tracing::batch_indices() {
        key = match batch_index.count {
            Some(count) => {
                let row = Places::grid("random", &[0], smallvec::smallvec![batch_index.index]);
                row.read(&split(&key, count.max(1) as i64)?)?
            }
            None => fold_in(&key, &batch_index.index)?,
        };
    }
    Ok(key)
}
