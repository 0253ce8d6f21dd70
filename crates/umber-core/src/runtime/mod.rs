//! Evaluation: plan the pending part of a graph, then run it, on the calling thread or on a stream's worker.
//!
//! Each node is claimed by the plan it is in, so two threads that evaluate overlapping graphs run each node once:
//! the later one waits for the earlier. One thread plans at a time, and a plan claims every pending ancestor that is
//! unclaimed. A plan therefore waits only for earlier plans, which rules out a deadlock.

mod pending;
pub mod printing;
mod run;
mod serialization;
#[cfg(test)]
mod tests;
mod worker;

use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::sync::{Condvar, PoisonError};
use std::time::Duration;

use umber_kernels::fork::{ForkMutex, InChild, Level};
use umber_types::{Error, Result, Stream};

use crate::backend::{asynchronous, transfer};
use crate::frontend::Interrupts;
use crate::graph::{Array, Claim};
use crate::plan;
use pending::Pending;

/// Number of threads that wait for nodes; notifications are skipped if it is zero.
static WAITING: AtomicUsize = AtomicUsize::new(0);

/// Notified when nodes are evaluated or their claims are released while a thread waits.
static PROGRESS: (ForkMutex<()>, Condvar) =
    (ForkMutex::new(|| (), (), Level::Last, InChild::Keep), Condvar::new());

/// Compute arrays that are still pending, and wait until they are evaluated.
///
/// The computation runs on the calling thread and includes all arrays that they depend on.
pub fn eval(arrays: &[Array]) -> Result<()> {
    fill_constants(arrays)?;
    while let Some(pending) = pending::plan(arrays)? {
        // If another thread released a node that this plan needs without evaluating it, plan again.
        if wait_for_others(&pending) && run::run(pending).map_err(Error::deferred)? {
            break;
        }
    }
    finish(arrays).map_err(Error::deferred)
}

/// Wait for asynchronous devices, so that their errors are reported here.
fn finish(arrays: &[Array]) -> Result<()> {
    for storage in arrays.iter().filter_map(Array::storage) {
        if !storage.buffer.is_on_host() {
            asynchronous::finish(&storage.buffer, &mut Interrupts::new())?;
        }
    }
    Ok(())
}

/// Fill arrays of one constant: in a plan they are constants, which no step computes.
fn fill_constants(arrays: &[Array]) -> Result<()> {
    for array in arrays {
        if let Some(value) = array.constant() {
            let stream = array.node().stream();
            let filled = plan::filled(array.shape(), value, array.dtype())
                .and_then(|host| transfer::to_stream(&host, array.dtype(), stream, &mut Interrupts::new()));
            array.node().outputs[0]
                .storage
                .set(filled.map_err(|error| error.recorded_at(array.node().origin()))?);
        }
    }
    Ok(())
}

/// Start to compute arrays that are still pending, without waiting for them.
///
/// The computation runs on the worker of their stream; reading one of the arrays waits for it.
pub fn async_eval(arrays: &[Array]) -> Result<()> {
    fill_constants(arrays)?;
    if let Some(pending) = pending::plan(arrays)? {
        let stream = arrays.first().map_or(Stream::CPU, |array| array.node().stream());
        worker::enqueue(stream, pending);
    }
    Ok(())
}

/// Wait until all operations given to a stream have finished, and return the first error since the last call.
pub fn synchronize(stream: Stream) -> Result<()> {
    worker::synchronize(stream).and_then(|()| asynchronous::synchronize(stream)).map_err(Error::deferred)
}

/// Wait for nodes claimed by earlier plans. Returns false if one was released without a value.
fn wait_for_others(plan: &Pending) -> bool {
    if plan.awaited.is_empty() {
        return true;
    }
    let _waiting = Waiting::begin();
    let mut progress = PROGRESS.0.lock();
    for node in &plan.awaited {
        while !node.is_evaluated() {
            if node.claim() == Claim::Free {
                return false;
            }
            progress = PROGRESS
                .1
                .wait_timeout(progress, Duration::from_millis(50))
                .unwrap_or_else(PoisonError::into_inner)
                .0;
        }
    }
    true
}

/// Counts a thread as waiting for nodes until dropped.
struct Waiting;

impl Waiting {
    fn begin() -> Waiting {
        WAITING.fetch_add(1, Ordering::SeqCst);
        // SeqCst fences on both sides: either this thread sees the node evaluated, or the evaluating thread sees it waiting.
        fence(Ordering::SeqCst);
        Waiting
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        WAITING.fetch_sub(1, Ordering::SeqCst);
    }
}

fn notify_progress() {
    fence(Ordering::SeqCst);
    if WAITING.load(Ordering::SeqCst) > 0 {
        drop(PROGRESS.0.lock());
        PROGRESS.1.notify_all();
    }
}

impl Array {
    /// Compute this array.
    pub fn eval(&self) -> Result<()> {
        if self.is_on_host() { Ok(()) } else { eval(std::slice::from_ref(self)) }
    }

    /// The elements in row-major order, as the type of the array's dtype (`bool` or `Bool` for bool).
    pub fn to_vec<T: umber_types::Value>(&self) -> Result<Vec<T>> {
        let expected = <T::Element as umber_types::Element>::DTYPE;
        umber_types::ensure!(
            self.dtype() == expected,
            Type("to_vec"),
            "array has dtype {}, expected {expected}",
            self.dtype()
        );
        let dense = self.to_dense()?;
        let storage = dense.storage().expect("just evaluated");
        let elements = storage.on_host().view(expected).as_slice::<T::Element>().expect("dense");
        Ok(elements.iter().map(|&element| T::from_element(element)).collect())
    }

    /// Whether both have the same shape and equal elements. Evaluates both; dtypes are promoted, and NaN equals nothing.
    pub fn equals(&self, other: &Array) -> Result<bool> {
        use crate::ops::{NanIsEqual, array_equal};
        Ok(array_equal(self, other, NanIsEqual::No)?.item()?.as_bool())
    }

    /// This array evaluated in host memory: itself if it is there already, otherwise a copy.
    pub fn to_host(&self) -> Result<Array> {
        self.eval()?;
        let storage = self.storage().expect("just evaluated");
        if storage.buffer.is_on_host() {
            return Ok(self.clone());
        }
        let host = transfer::to_host(storage, self.dtype(), &mut Interrupts::new());
        Ok(Array::over(host.map_err(Error::deferred)?, self.dtype()))
    }

    /// This array evaluated in contiguous host memory: itself if it is contiguous already, otherwise a copy.
    pub fn to_dense(&self) -> Result<Array> {
        let host = self.to_host()?;
        let storage = host.storage().expect("just evaluated");
        if storage.layout.is_contiguous() {
            return Ok(host);
        }
        host.copied()
    }

    /// The one element of an array of size one.
    pub fn item(&self) -> Result<umber_types::Scalar> {
        umber_types::ensure!(
            self.size() == 1,
            Value("item"),
            "array must have exactly one element, got shape {}",
            self.shape()
        );
        let host = self.to_host()?;
        Ok(host.item_if_evaluated().expect("just evaluated"))
    }

    /// The one element of an array of size one, if it is evaluated in host memory.
    pub fn item_if_evaluated(&self) -> Option<umber_types::Scalar> {
        let storage = self.storage().filter(|_| self.size() == 1)?;
        let dtype = self.dtype();
        let start = storage.host()?.view(dtype).start();
        // SAFETY: the view was checked to lie inside its buffer, so its one element is readable.
        let bytes = unsafe { std::slice::from_raw_parts(start, dtype.size()) };
        Some(umber_types::Scalar::from_bytes(dtype, bytes))
    }
}
