//! A buffer: memory with an owner.
//!
//! Whoever holds an `Arc<Buffer>` keeps the memory alive. Umber writes into a buffer only while it is filling one
//! that nobody has seen yet, or when it alone holds an allocated one without leases.

use std::any::Any;
use std::fmt;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use umber_types::{Result, ensure};

use super::allocator::{self, Block};
use super::policy::ViewPolicy;

/// May the memory be written through the arrays that see it?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// No: its producer said so. Exports of it are read-only.
    ReadOnly,
    /// Its producer could not say. Exports of it are read-only.
    Undeclared,
    /// Exports may be writable.
    Writable,
}

/// Can the memory change without umber knowing?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Stability {
    /// Nobody writes while umber sees it.
    Fixed,
    /// Its producer may write at any time.
    Changing,
}

enum Owner {
    /// From the allocator; goes back to it.
    Allocated(Option<Block>),
    /// Somebody else's memory, kept alive (and released) by what the box holds.
    Foreign { stability: Stability, _keep: Box<dyn Any + Send + Sync> },
}

/// Memory with an owner, shared by every array over it.
pub struct Buffer {
    start: NonNull<u8>,
    bytes: usize,
    owner: Owner,
    access: Access,
    /// Exports that are out.
    leases: AtomicUsize,
    /// Exports that are out and may write.
    writers: AtomicUsize,
    /// Exports that are out and count on nobody else to write.
    readers: AtomicUsize,
}

// SAFETY: memory is read from any thread; writes are exclusive by the rule in the module's head.
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// Allocate `bytes` bytes, contents undefined.
    pub fn allocate(bytes: usize) -> Result<Buffer> {
        let block = allocator::allocate(bytes)?;
        Ok(Buffer::new(block.start, bytes, Owner::Allocated(Some(block)), Access::Writable))
    }

    /// Share memory that `keep` keeps alive: dropped exactly once, from whichever thread drops the last array.
    ///
    /// # Safety
    /// `start..start + bytes` stays readable while `keep` lives.
    pub unsafe fn foreign(
        start: NonNull<u8>,
        bytes: usize,
        access: Access,
        stability: Stability,
        keep: Box<dyn Any + Send + Sync>,
    ) -> Buffer {
        Buffer::new(start, bytes, Owner::Foreign { stability, _keep: keep }, access)
    }

    fn new(start: NonNull<u8>, bytes: usize, owner: Owner, access: Access) -> Buffer {
        Buffer {
            start,
            bytes,
            owner,
            access,
            leases: AtomicUsize::new(0),
            writers: AtomicUsize::new(0),
            readers: AtomicUsize::new(0),
        }
    }

    /// Address of the first byte.
    pub fn start(&self) -> NonNull<u8> {
        self.start
    }

    /// Size in bytes.
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// May exports of this memory be writable?
    pub fn access(&self) -> Access {
        self.access
    }

    /// Did it come from umber's allocator?
    pub fn is_owned(&self) -> bool {
        matches!(self.owner, Owner::Allocated(_))
    }

    /// Can somebody outside write into it now who is not trusted to wait? Operations that read it run when they are
    /// recorded.
    pub fn is_volatile(&self) -> bool {
        let is_written = match self.owner {
            Owner::Foreign { stability: Stability::Changing, .. } => true,
            Owner::Foreign { .. } | Owner::Allocated(_) => self.writers() > 0,
        };
        is_written && ViewPolicy::current() != ViewPolicy::Writable
    }

    /// May umber overwrite it once it holds the only reference?
    pub fn is_recyclable(&self) -> bool {
        self.is_owned() && self.leases.load(Ordering::Acquire) == 0
    }

    /// Number of exports that are out.
    pub fn leases(&self) -> usize {
        self.leases.load(Ordering::Acquire)
    }

    /// Number of exports that are out and may write.
    pub fn writers(&self) -> usize {
        self.writers.load(Ordering::Acquire)
    }

    /// Does somebody outside count on what the memory holds to stay?
    pub fn has_readers(&self) -> bool {
        self.readers.load(Ordering::Acquire) > 0
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({:?}, {} bytes, {:?})", self.start, self.bytes, self.access)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        if let Owner::Allocated(block) = &mut self.owner
            && let Some(block) = block.take()
        {
            allocator::free(block);
        }
    }
}

/// An export that is out: keeps the memory alive and its kind counted until dropped.
#[derive(Debug)]
pub struct Lease {
    buffer: Arc<Buffer>,
    access: Access,
    counts: Counts,
}

/// Whom a lease counts among.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counts {
    writer: bool,
    reader: bool,
}

impl Lease {
    /// Take a lease. A writable one is refused on read-only memory.
    pub fn new(buffer: &Arc<Buffer>, access: Access) -> Result<Lease> {
        let writer = access == Access::Writable;
        Lease::counted(buffer, access, Counts { writer, reader: !writer })
    }

    /// A writable lease for somebody who may take the memory for his own, and for unchanging, since he cannot be told.
    pub fn sole(buffer: &Arc<Buffer>) -> Result<Lease> {
        Lease::counted(buffer, Access::Writable, Counts { writer: true, reader: true })
    }

    /// A lease for somebody who reads now and then, and says neither when nor when he is done.
    pub fn pin(buffer: &Arc<Buffer>) -> Lease {
        buffer.leases.fetch_add(1, Ordering::AcqRel);
        let counts = Counts { writer: false, reader: false };
        Lease { buffer: Arc::clone(buffer), access: Access::ReadOnly, counts }
    }

    fn counted(buffer: &Arc<Buffer>, access: Access, counts: Counts) -> Result<Lease> {
        ensure!(
            !counts.writer || buffer.access == Access::Writable,
            Buffer,
            "[export] the memory is read-only: got a request for a writable view, expected one for reading"
        );
        if counts.writer {
            buffer.writers.fetch_add(1, Ordering::AcqRel);
        }
        if counts.reader {
            buffer.readers.fetch_add(1, Ordering::AcqRel);
        }
        buffer.leases.fetch_add(1, Ordering::AcqRel);
        Ok(Lease { buffer: Arc::clone(buffer), access, counts })
    }

    /// What the holder of this lease may do.
    pub fn access(&self) -> Access {
        self.access
    }

    /// The memory leased.
    pub fn buffer(&self) -> &Arc<Buffer> {
        &self.buffer
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        if self.counts.writer {
            self.buffer.writers.fetch_sub(1, Ordering::AcqRel);
        }
        if self.counts.reader {
            self.buffer.readers.fetch_sub(1, Ordering::AcqRel);
        }
        self.buffer.leases.fetch_sub(1, Ordering::AcqRel);
    }
}
