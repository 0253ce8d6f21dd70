//! One worker thread for each stream, for evaluation that does not block the caller.

use std::collections::HashMap;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

use umber_kernels::fork::{ForkMutex, InChild, Level};
use umber_types::{Error, Result, Stream};

use super::pending::Pending;
use super::{run, wait_for_others};

#[derive(Default)]
struct Progress {
    waiting: usize,
    first_error: Option<Error>,
}

#[derive(Default)]
struct Shared {
    progress: Mutex<Progress>,
    done: Condvar,
}

struct Worker {
    queue: Sender<Box<Pending>>,
    shared: Arc<Shared>,
}

fn workers() -> MutexGuard<'static, Option<HashMap<Stream, Worker>>> {
    // Threads do not survive a fork: a child process starts its own.
    static WORKERS: ForkMutex<Option<HashMap<Stream, Worker>>> =
        ForkMutex::new(|| None, None, Level::Planning, InChild::Renew);
    WORKERS.lock()
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn start() -> Option<Worker> {
    let (queue, plans) = channel::<Box<Pending>>();
    let shared = Arc::new(Shared::default());
    let progress = Arc::clone(&shared);
    let serve = move || {
        for plan in plans {
            // If another thread released a node that the plan needs, the plan is dropped: reading its arrays plans again.
            let result = if wait_for_others(&plan) { run::run(plan).map(drop) } else { Ok(()) };
            let mut state = progress.lock();
            state.waiting -= 1;
            if let Err(error) = result {
                state.first_error.get_or_insert(error);
            }
            drop(state);
            progress.done.notify_all();
        }
    };
    std::thread::Builder::new().name("umber-stream".into()).spawn(serve).ok()?;
    Some(Worker { queue, shared })
}

/// Hand a plan to the stream's worker. If no thread can be created, it runs here.
pub(super) fn enqueue(stream: Stream, plan: Box<Pending>) {
    let mut lock = workers();
    let workers = lock.get_or_insert_default();
    if let std::collections::hash_map::Entry::Vacant(entry) = workers.entry(stream)
        && let Some(worker) = start()
    {
        entry.insert(worker);
    }
    let Some(worker) = workers.get(&stream) else {
        drop(lock);
        if wait_for_others(&plan) {
            // The error is reported when the array is read.
            let _ = run::run(plan);
        }
        return;
    };
    worker.shared.lock().waiting += 1;
    if worker.queue.send(plan).is_err() {
        worker.shared.lock().waiting -= 1;
    }
}

/// Wait until the stream's worker has finished all plans.
pub(super) fn synchronize(stream: Stream) -> Result<()> {
    let Some(shared) =
        workers().as_ref().and_then(|workers| workers.get(&stream)).map(|worker| Arc::clone(&worker.shared))
    else {
        return Ok(());
    };
    let mut progress = shared.lock();
    while progress.waiting > 0 {
        progress = shared.done.wait(progress).unwrap_or_else(PoisonError::into_inner);
    }
    progress.first_error.take().map_or(Ok(()), Err)
}
