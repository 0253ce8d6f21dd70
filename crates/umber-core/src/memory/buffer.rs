//! A buffer: memory of the host or of another device, with an owner.
//!
//! An `Arc<Buffer>` keeps the memory alive. Umber writes into a buffer only while it fills a new one, or when it has the only
//! reference to an allocated one without leases. Memory of another device has no address on the host, and the work that fills it
//! may still be running: see [`DeviceMemory`].

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

/// Whether the memory may be written through exports of arrays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Access {
    /// Declared read-only by its producer. Exports are read-only.
    ReadOnly,
    /// Not declared by its producer. Exports are read-only.
    Undeclared,
    /// Exports may be writable.
    Writable,
}

/// Whether code outside of umber may write foreign memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ExternalWrites {
    /// The memory does not change while umber uses it.
    Fixed,
    /// Its producer may write at any time.
    Possible,
}

/// An object that keeps foreign memory alive.
type KeepAlive = Box<dyn Any + Send + Sync>;

enum Owner {
    /// Allocated by the host's allocator, and returned to it.
    Allocated(Option<Block>),
    /// Memory of another library, kept alive and released by the box.
    Foreign { stability: ExternalWrites, keep_alive: Option<KeepAlive> },
    /// Memory of a device, released by its backend.
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
    /// Whether it is such a copy. A copy has no replicas of its own, so that copies of copies keep no chain of memory alive.
    is_replica: AtomicBool,
    /// Number of live leases of each [`Kind`].
    leases: [AtomicUsize; 4],
}

// SAFETY: any thread may read the memory; the rule of the module's documentation makes writes exclusive.
unsafe impl Send for Buffer {}
// SAFETY: as for `Send`.
unsafe impl Sync for Buffer {}

impl Buffer {
    /// Allocate `bytes` bytes with unspecified content. The struct is written in its final location, not moved there.
    #[inline]
    pub fn allocate(bytes: usize) -> Result<Arc<Buffer>> {
        let block = allocator::allocate(bytes)?;
        let memory = Arc::into_raw(Arc::<Buffer>::new_uninit()).cast_mut().cast::<Buffer>();
        // SAFETY: uninitialised memory for one buffer, from an `Arc` that no other thread has; it becomes an `Arc` again once
        // written.
        unsafe {
            memory.write(Buffer::new(block.start(), bytes, Owner::Allocated(Some(block)), Access::Writable));
            Ok(Arc::from_raw(memory))
        }
    }

    /// Share memory that `keep_alive` keeps alive. It is dropped exactly once, by the thread that drops the last reference.
    ///
    /// # Safety
    /// `start..start + bytes` must be readable while `keep_alive` lives.
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

    /// Whether it is host memory.
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

    /// The memory as allocated by the backend of another device.
    pub fn device_memory(&self) -> Option<&dyn DeviceMemory> {
        self.owned().map(Owned::memory)
    }

    /// The device work that fills the memory, after which it can be read. `None` for host memory.
    pub fn written(&self) -> Option<Event> {
        self.owned()?.written()
    }

    /// Whether no other stream uses the memory.
    #[inline]
    pub(crate) fn is_used_only_on(&self, stream: Stream) -> bool {
        self.owned().is_none_or(|owned| owned.uses().iter().all(|event| event.stream == stream))
    }

    /// Record that work that reads the memory has started.
    pub(crate) fn record_read(&self, event: Event) {
        if let Some(owned) = self.owned() {
            owned.record(event, false);
        }
    }

    /// Record that work that fills the memory has started.
    pub(crate) fn record_write(&self, event: Event) {
        if let Some(owned) = self.owned() {
            owned.record(event, true);
        }
    }

    /// Its copies on other devices, if it can have any, that is, if it cannot change.
    pub(crate) fn replicas(&self) -> Option<&Replicas> {
        let is_mutable = matches!(self.owner, Owner::Foreign { stability: ExternalWrites::Possible, .. });
        let can_have_replicas =
            !is_mutable && self.writers() == 0 && !self.is_replica.load(Ordering::Acquire);
        can_have_replicas.then(|| &**self.replicas.get_or_init(Box::default))
    }

    /// Mark it as a replica of another buffer.
    pub(super) fn mark_replica(&self) {
        self.is_replica.store(true, Ordering::Release);
    }

    /// Size in bytes.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether exports of this memory may be writable.
    #[inline]
    pub fn access(&self) -> Access {
        self.access
    }

    /// Whether umber allocated it, on any device.
    #[inline]
    pub fn is_owned(&self) -> bool {
        !matches!(self.owner, Owner::Foreign { .. })
    }

    /// Whether the host's allocator allocated it.
    #[inline]
    pub(crate) fn is_host_owned(&self) -> bool {
        matches!(self.owner, Owner::Allocated(_))
    }

    /// Whether code outside of umber may write the memory without synchronising with it. Operations that read it then run when
    /// they are recorded.
    #[inline]
    pub fn is_externally_mutable(&self) -> bool {
        let is_written = match self.owner {
            Owner::Foreign { stability: ExternalWrites::Possible, .. } => true,
            Owner::Foreign { .. } | Owner::Allocated(_) => self.writers() > 0,
            Owner::Device(_) => false,
        };
        is_written && ViewPolicy::current() != ViewPolicy::Writable
    }

    /// Whether umber may overwrite it when it has the only reference.
    pub fn is_recyclable(&self) -> bool {
        self.is_owned() && self.leases() == 0 && self.replicas.get().is_none()
    }

    /// Number of live exports.
    #[inline]
    pub fn leases(&self) -> usize {
        self.leases.iter().map(|count| count.load(Ordering::Acquire)).sum()
    }

    #[inline]
    fn leases_of(&self, kind: Kind) -> usize {
        self.leases[kind as usize].load(Ordering::Acquire)
    }

    /// Number of live exports that may write.
    #[inline]
    pub fn writers(&self) -> usize {
        self.leases_of(Kind::Writer) + self.leases_of(Kind::Sole)
    }

    /// Whether an export relies on the memory not changing.
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
    /// Foreign memory still to be released, while this thread is releasing some.
    static TO_RELEASE: RefCell<Option<Vec<KeepAlive>>> = const { RefCell::new(None) };
}

/// Release foreign memory. It may be an export of an array over foreign memory, and so on. Such chains are released iteratively,
/// since they may be a million long.
fn release_owner(keep_alive: KeepAlive) {
    let mut keep_alive = Some(keep_alive);
    let is_inner = TO_RELEASE.try_with(|to_release| match (&mut *to_release.borrow_mut(), &mut keep_alive) {
        (Some(to_release), keep_alive) => {
            to_release.extend(keep_alive.take());
            true
        }
        (to_release, _) => {
            *to_release = Some(Vec::new());
            false
        }
    });
    if is_inner != Ok(false) {
        // Queued for the outer call, or dropped directly if the thread is exiting.
        return;
    }
    let _until_done = ReleaseGuard;
    while let Some(object) = keep_alive {
        drop(object);
        keep_alive = TO_RELEASE.with_borrow_mut(|to_release| to_release.as_mut().and_then(Vec::pop));
    }
}

/// Clears the list of [`release_owner`], also on a panic.
struct ReleaseGuard;

impl Drop for ReleaseGuard {
    fn drop(&mut self) {
        let _ = TO_RELEASE.try_with(|to_release| to_release.borrow_mut().take());
    }
}

/// A live export: keeps the memory alive and counts as a lease of its kind until dropped.
#[derive(Debug)]
pub struct Lease {
    buffer: Arc<Buffer>,
    kind: Kind,
}

/// How the holder of a lease uses the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    /// Reads at unknown times.
    Pin,
    /// Reads, and relies on the memory not changing.
    Reader,
    /// Writes.
    Writer,
    /// Writes, and relies on no one else writing.
    Sole,
}

impl Lease {
    /// Take a lease. A writable one is an error for read-only memory.
    #[inline]
    pub fn new(buffer: &Arc<Buffer>, access: Access) -> Result<Lease> {
        Lease::checked(buffer, if access == Access::Writable { Kind::Writer } else { Kind::Reader })
    }

    /// A writable lease for a holder that assumes exclusive, unchanging memory and cannot be notified of changes.
    pub fn sole(buffer: &Arc<Buffer>) -> Result<Lease> {
        Lease::checked(buffer, Kind::Sole)
    }

    /// A lease for a holder that reads at unknown times.
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

    /// Whether the holder of this lease may write.
    #[inline]
    pub fn is_writable(&self) -> bool {
        matches!(self.kind, Kind::Writer | Kind::Sole)
    }

    /// The leased memory.
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
