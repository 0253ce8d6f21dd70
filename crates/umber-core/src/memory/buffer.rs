//! A buffer: memory of the host or of another device, with an owner.
//!
//! Whoever holds an `Arc<Buffer>` keeps the memory alive. Umber writes into a buffer only while it is filling one
//! that nobody has seen yet, or when it alone holds an allocated one without leases. Memory of another device has no address on
//! the host, and may still be waiting for the work that fills it: see [`DeviceMemory`].

use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};

use umber_types::{Device, Result, Stream, ensure};

use super::allocator::{self, Block};
use super::device::{DeviceMemory, Event, Owned};
use super::policy::ViewPolicy;
use super::replicas::Replicas;

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
pub enum ExternalWrites {
    /// Nobody writes while umber sees it.
    Fixed,
    /// Its producer may write at any time.
    Possible,
}

/// What keeps somebody else's memory alive.
type KeepAlive = Box<dyn Any + Send + Sync>;

enum Owner {
    /// From the allocator; goes back to it.
    Allocated(Option<Block>),
    /// Somebody else's memory, kept alive (and released) by what the box holds.
    Foreign { stability: ExternalWrites, keep_alive: Option<KeepAlive> },
    /// A device's, which takes it back.
    Device(Owned),
}

/// Memory with an owner, shared by every array over it.
pub struct Buffer {
    /// Dangling for memory of another device.
    start: NonNull<u8>,
    bytes: usize,
    owner: Owner,
    access: Access,
    /// Copies of it on other devices.
    replicas: OnceLock<Box<Replicas>>,
    /// Is it such a copy? Then it keeps none of its own, so that copies of copies hold no chain of memory.
    is_replica: AtomicBool,
    /// Exports that are out, of each [`Kind`].
    leases: [AtomicUsize; 4],
}

// SAFETY: memory is read from any thread; writes are exclusive by the rule in the module's head.
unsafe impl Send for Buffer {}
// SAFETY: as above.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// Allocate `bytes` bytes, which are zero or hold what they held before. The buffer is written where it stays rather than moved there.
    #[inline]
    pub fn allocate(bytes: usize) -> Result<Arc<Buffer>> {
        let block = allocator::allocate(bytes)?;
        let memory = Arc::into_raw(Arc::<Buffer>::new_uninit()).cast_mut().cast::<Buffer>();
        // SAFETY: memory for a buffer that nobody else has, from an `Arc` that it goes back to once it is written.
        unsafe {
            memory.write(Buffer::new(block.start(), bytes, Owner::Allocated(Some(block)), Access::Writable));
            Ok(Arc::from_raw(memory))
        }
    }

    /// Share memory that `keep_alive` keeps alive: dropped exactly once, from whichever thread drops the last array.
    ///
    /// # Safety
    /// `start..start + bytes` stays readable while `keep_alive` lives.
    pub unsafe fn foreign(
        start: NonNull<u8>,
        bytes: usize,
        access: Access,
        stability: ExternalWrites,
        keep_alive: Box<dyn Any + Send + Sync>,
    ) -> Buffer {
        Buffer::new(start, bytes, Owner::Foreign { stability, keep_alive: Some(keep_alive) }, access)
    }

    #[inline(always)]
    fn new(start: NonNull<u8>, bytes: usize, owner: Owner, access: Access) -> Buffer {
        let leases = [const { AtomicUsize::new(0) }; 4];
        let (replicas, is_replica) = (OnceLock::new(), AtomicBool::new(false));
        Buffer { start, bytes, owner, access, replicas, is_replica, leases }
    }

    /// Memory of another device than the host.
    pub fn on_device(memory: Box<dyn DeviceMemory>, bytes: usize) -> Buffer {
        Buffer::new(NonNull::dangling(), bytes, Owner::Device(Owned::new(memory)), Access::Writable)
    }

    /// Address of the first byte, if the host can read it.
    #[inline]
    pub fn host_start(&self) -> Option<NonNull<u8>> {
        match self.owner {
            Owner::Allocated(_) | Owner::Foreign { .. } => Some(self.start),
            Owner::Device(_) => None,
        }
    }

    /// The device whose memory it is.
    #[inline]
    pub fn device(&self) -> Device {
        self.owned().map_or(Device::CPU, |owned| owned.memory().device())
    }

    /// Is it memory of the host?
    #[inline]
    pub fn is_on_host(&self) -> bool {
        self.owned().is_none()
    }

    #[inline]
    fn owned(&self) -> Option<&Owned> {
        match &self.owner {
            Owner::Allocated(_) | Owner::Foreign { .. } => None,
            Owner::Device(owned) => Some(owned),
        }
    }

    /// What the backend of another device gave for the memory.
    pub fn device_memory(&self) -> Option<&dyn DeviceMemory> {
        self.owned().map(Owned::memory)
    }

    /// The work of a device that fills the memory: it can be read after that. `None` for memory of the host.
    pub fn written(&self) -> Option<Event> {
        self.owned()?.written()
    }

    /// Does no other stream work on the memory?
    #[inline]
    pub(crate) fn is_used_only_on(&self, stream: Stream) -> bool {
        self.owned().is_none_or(|owned| owned.uses().iter().all(|event| event.stream == stream))
    }

    /// Work that reads the memory was started.
    pub(crate) fn note_read(&self, event: Event) {
        if let Some(owned) = self.owned() {
            owned.note(event, false);
        }
    }

    /// Work that fills the memory was started.
    pub(crate) fn note_write(&self, event: Event) {
        if let Some(owned) = self.owned() {
            owned.note(event, true);
        }
    }

    /// Copies of it on other devices, if it may keep any: it is sure not to change.
    pub(crate) fn replicas(&self) -> Option<&Replicas> {
        let changes = matches!(self.owner, Owner::Foreign { stability: ExternalWrites::Possible, .. });
        let keeps = !changes && self.writers() == 0 && !self.is_replica.load(Ordering::Acquire);
        keeps.then(|| &**self.replicas.get_or_init(Box::default))
    }

    /// It is a copy that another buffer keeps.
    pub(super) fn mark_replica(&self) {
        self.is_replica.store(true, Ordering::Release);
    }

    /// Size in bytes.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// May exports of this memory be writable?
    #[inline]
    pub fn access(&self) -> Access {
        self.access
    }

    /// Was it allocated by umber, on any device?
    #[inline]
    pub fn is_owned(&self) -> bool {
        !matches!(self.owner, Owner::Foreign { .. })
    }

    /// Did it come from the host's allocator?
    #[inline]
    pub(crate) fn is_host_owned(&self) -> bool {
        matches!(self.owner, Owner::Allocated(_))
    }

    /// Can somebody outside write into it now who is not trusted to wait? Operations that read it run when they are
    /// recorded.
    #[inline]
    pub fn is_externally_mutable(&self) -> bool {
        let is_written = match self.owner {
            Owner::Foreign { stability: ExternalWrites::Possible, .. } => true,
            Owner::Foreign { .. } | Owner::Allocated(_) => self.writers() > 0,
            Owner::Device(_) => false,
        };
        is_written && ViewPolicy::current() != ViewPolicy::Writable
    }

    /// May umber overwrite it once it holds the only reference?
    pub fn is_recyclable(&self) -> bool {
        self.is_owned() && self.leases() == 0 && self.replicas.get().is_none()
    }

    /// Number of exports that are out.
    #[inline]
    pub fn leases(&self) -> usize {
        self.leases.iter().map(|count| count.load(Ordering::Acquire)).sum()
    }

    #[inline]
    fn leases_of(&self, kind: Kind) -> usize {
        self.leases[kind as usize].load(Ordering::Acquire)
    }

    /// Number of exports that are out and may write.
    #[inline]
    pub fn writers(&self) -> usize {
        self.leases_of(Kind::Writer) + self.leases_of(Kind::Sole)
    }

    /// Does somebody outside count on what the memory holds to stay?
    #[inline]
    pub fn has_readers(&self) -> bool {
        self.leases_of(Kind::Reader) + self.leases_of(Kind::Sole) > 0
    }
}

impl fmt::Debug for Buffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Buffer({:?}, {} bytes, {:?})", self.start, self.bytes, self.access)
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        match &mut self.owner {
            Owner::Allocated(block) => {
                if let Some(block) = block.take() {
                    allocator::free(block);
                }
            }
            Owner::Foreign { keep_alive, .. } => {
                if let Some(keep_alive) = keep_alive.take() {
                    release_owner(keep_alive);
                }
            }
            Owner::Device(owned) => owned.release(),
        }
    }
}

thread_local! {
    /// While this thread lets go of somebody's memory: what else is to be let go of then.
    static LEFT: RefCell<Option<Vec<KeepAlive>>> = const { RefCell::new(None) };
}

/// Let go of somebody else's memory, which may be an export of an array over somebody else's memory, and so on: one after the
/// other, since chains of a million must not recurse.
fn release_owner(keep_alive: KeepAlive) {
    let mut keep_alive = Some(keep_alive);
    let is_inner = LEFT.try_with(|left| match (&mut *left.borrow_mut(), &mut keep_alive) {
        (Some(left), keep_alive) => {
            left.extend(keep_alive.take());
            true
        }
        (left, _) => {
            *left = Some(Vec::new());
            false
        }
    });
    if is_inner != Ok(false) {
        // Of a thread that ends, without ado.
        return;
    }
    let _until_done = ReleaseGuard;
    while let Some(one) = keep_alive {
        drop(one);
        keep_alive = LEFT.with_borrow_mut(|left| left.as_mut().and_then(Vec::pop));
    }
}

/// Ends what [`release_owner`] began, whatever happens.
struct ReleaseGuard;

impl Drop for ReleaseGuard {
    fn drop(&mut self) {
        let _ = LEFT.try_with(|left| left.borrow_mut().take());
    }
}

/// An export that is out: keeps the memory alive and its kind counted until dropped.
#[derive(Debug)]
pub struct Lease {
    buffer: Arc<Buffer>,
    kind: Kind,
}

/// What the holder of a lease does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Reads now and then, and says neither when nor when he is done.
    Pin,
    /// Reads, and counts on nobody to write.
    Reader,
    /// Writes.
    Writer,
    /// Writes, and counts on nobody else to.
    Sole,
}

impl Lease {
    /// Take a lease. A writable one is refused on read-only memory.
    #[inline]
    pub fn new(buffer: &Arc<Buffer>, access: Access) -> Result<Lease> {
        Lease::checked(buffer, if access == Access::Writable { Kind::Writer } else { Kind::Reader })
    }

    /// A writable lease for somebody who may take the memory for his own, and for unchanging, since he cannot be told.
    pub fn sole(buffer: &Arc<Buffer>) -> Result<Lease> {
        Lease::checked(buffer, Kind::Sole)
    }

    /// A lease for somebody who reads now and then, and says neither when nor when he is done.
    pub fn pin(buffer: &Arc<Buffer>) -> Lease {
        Lease::counted(buffer, Kind::Pin)
    }

    #[inline]
    fn checked(buffer: &Arc<Buffer>, kind: Kind) -> Result<Lease> {
        ensure!(
            kind == Kind::Reader || buffer.access == Access::Writable,
            Buffer("export"),
            "memory is read-only; request a read-only view"
        );
        Ok(Lease::counted(buffer, kind))
    }

    #[inline]
    fn counted(buffer: &Arc<Buffer>, kind: Kind) -> Lease {
        buffer.leases[kind as usize].fetch_add(1, Ordering::AcqRel);
        if matches!(kind, Kind::Writer | Kind::Sole)
            && let Some(replicas) = buffer.replicas.get()
        {
            replicas.clear();
        }
        Lease { buffer: Arc::clone(buffer), kind }
    }

    /// May the holder of this lease write?
    #[inline]
    pub fn is_writable(&self) -> bool {
        matches!(self.kind, Kind::Writer | Kind::Sole)
    }

    /// The memory leased.
    #[inline]
    pub fn buffer(&self) -> &Arc<Buffer> {
        &self.buffer
    }
}

impl Drop for Lease {
    #[inline]
    fn drop(&mut self) {
        self.buffer.leases[self.kind as usize].fetch_sub(1, Ordering::AcqRel);
    }
}
