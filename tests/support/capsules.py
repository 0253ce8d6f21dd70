"""DLPack by hand: capsules made and read with ctypes, after the published header."""

import ctypes
from ctypes import (
    CFUNCTYPE,
    POINTER,
    Structure,
    c_char_p,
    c_int32,
    c_int64,
    c_size_t,
    c_uint8,
    c_uint16,
    c_uint32,
    c_uint64,
    c_void_p,
    py_object,
)

READ_ONLY = 1
IS_COPIED = 2
CPU, CUDA, CUDA_HOST, METAL, CUDA_MANAGED = 1, 2, 3, 8, 13
PLAIN, VERSIONED = b"dltensor", b"dltensor_versioned"

api = ctypes.pythonapi
api.PyCapsule_New.restype = py_object
api.PyCapsule_New.argtypes = (c_void_p, c_char_p, c_void_p)
api.PyCapsule_GetName.restype = c_char_p
api.PyCapsule_GetName.argtypes = (py_object,)
api.PyCapsule_GetPointer.restype = c_void_p
api.PyCapsule_GetPointer.argtypes = (py_object, c_char_p)
api.PyCapsule_SetName.argtypes = (py_object, c_char_p)


class Tensor(Structure):
    _fields_ = (
        ("data", c_void_p),
        ("device_type", c_int32),
        ("device_id", c_int32),
        ("ndim", c_int32),
        ("code", c_uint8),
        ("bits", c_uint8),
        ("lanes", c_uint16),
        ("shape", POINTER(c_int64)),
        ("strides", POINTER(c_int64)),
        ("byte_offset", c_uint64),
    )


class Managed(Structure):
    _fields_ = (("tensor", Tensor), ("context", c_void_p), ("deleter", c_void_p))


class ManagedVersioned(Structure):
    _fields_ = (
        ("major", c_uint32),
        ("minor", c_uint32),
        ("context", c_void_p),
        ("deleter", c_void_p),
        ("flags", c_uint64),
        ("tensor", Tensor),
    )


DELETER = CFUNCTYPE(None, c_void_p)
NAMES: list[bytes] = [PLAIN, VERSIONED]


def name_of(capsule) -> bytes:
    return api.PyCapsule_GetName(capsule)


def managed_of(capsule):
    """The structure in a capsule, consumed or not."""
    name = name_of(capsule)
    kind = ManagedVersioned if name.endswith(b"versioned") else Managed
    return kind.from_address(api.PyCapsule_GetPointer(capsule, name))


def tensor_of(capsule) -> Tensor:
    return managed_of(capsule).tensor


def shape_of(tensor) -> tuple:
    return tuple(tensor.shape[i] for i in range(tensor.ndim))


def strides_of(tensor) -> tuple:
    return tuple(tensor.strides[i] for i in range(tensor.ndim))


def consume(capsule):
    """Take a capsule over, as a consumer does; what it gives calls the deleter."""
    managed = managed_of(capsule)
    name = name_of(capsule)
    used = b"used_" + name
    NAMES.append(used)
    api.PyCapsule_SetName(capsule, used)
    deleter, address = managed.deleter, ctypes.addressof(managed)
    return lambda: DELETER(deleter)(address)


class Made:
    """A tensor over memory of ours, its capsule, and how often its deleter was called."""

    def __init__(
        self,
        data,
        shape,
        strides=None,
        code=2,
        bits=32,
        lanes=1,
        device=(CPU, 0),
        byte_offset=0,
        version=None,
        flags=0,
        deleter=True,
        ndim=None,
        null_shape=False,
    ):
        self.deleted = 0
        self.lengths = (c_int64 * max(len(shape), 1))(*shape)
        self.steps = None if strides is None else (c_int64 * max(len(strides), 1))(*strides)
        self.deleter = DELETER(self.delete)
        self.managed = Managed() if version is None else ManagedVersioned()
        tensor = self.managed.tensor
        tensor.data = data
        tensor.device_type, tensor.device_id = device
        tensor.ndim = len(shape) if ndim is None else ndim
        tensor.code, tensor.bits, tensor.lanes = code, bits, lanes
        tensor.byte_offset = byte_offset
        if not null_shape:
            tensor.shape = ctypes.cast(self.lengths, POINTER(c_int64))
        if self.steps is not None:
            tensor.strides = ctypes.cast(self.steps, POINTER(c_int64))
        if deleter:
            self.managed.deleter = ctypes.cast(self.deleter, c_void_p)
        if version is not None:
            self.managed.major, self.managed.minor = version
            self.managed.flags = flags
        self.name = PLAIN if version is None else VERSIONED
        self.capsule = api.PyCapsule_New(ctypes.addressof(self.managed), self.name, None)

    def delete(self, _managed):
        self.deleted += 1


class Producer:
    """An object whose `__dlpack__` gives a capsule made by hand, and notes how it was asked."""

    def __init__(self, capsule, device=(CPU, 0)):
        self.capsule = capsule
        self.device = device
        self.asked = []

    def __dlpack__(self, **keywords):
        self.asked.append(keywords)
        return self.capsule

    def __dlpack_device__(self):
        return self.device


libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = c_void_p
libc.mmap.argtypes = (c_void_p, c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, c_int64)
libc.mprotect.argtypes = (c_void_p, c_size_t, ctypes.c_int)
libc.munmap.argtypes = (c_void_p, c_size_t)
PROT_NONE, PROT_READ, PROT_WRITE = 0, 1, 2
MAP_PRIVATE, MAP_ANONYMOUS = 2, 0x20
PAGE = 4096


class Guarded:
    """Whole pages between pages that nobody may touch: a step outside ends the process."""

    def __init__(self, pages=1):
        self.bytes = pages * PAGE
        self.mapped = self.bytes + 2 * PAGE
        self.base = libc.mmap(
            None, self.mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0
        )
        assert self.base not in (None, c_void_p(-1).value)
        self.address = self.base + PAGE
        self.protect(self.base, PROT_NONE, PAGE)
        self.protect(self.address + self.bytes, PROT_NONE, PAGE)

    def protect(self, address, rights, size):
        assert libc.mprotect(address, size, rights) == 0

    def fill(self, content: bytes):
        ctypes.memmove(self.address, content, len(content))

    def seal(self):
        """From now on a write into the pages ends the process."""
        self.protect(self.address, PROT_READ, self.bytes)

    def memory(self):
        """The pages as an object with the buffer protocol that counts as their owner."""
        return (ctypes.c_uint8 * self.bytes).from_address(self.address)

    def free(self):
        libc.munmap(self.base, self.mapped)
