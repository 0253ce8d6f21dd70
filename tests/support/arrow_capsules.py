"""Arrow's C data interface by hand: capsules made and read with ctypes, after its specification."""

import ctypes
from ctypes import CFUNCTYPE, POINTER, Structure, addressof, c_char_p, c_int, c_int64, c_void_p

from capsules import api

SCHEMA, ARRAY, STREAM = b"arrow_schema", b"arrow_array", b"arrow_array_stream"

RELEASE = CFUNCTYPE(None, c_void_p)
FILL = CFUNCTYPE(c_int, c_void_p, c_void_p)
MESSAGE = CFUNCTYPE(c_void_p, c_void_p)


class Schema(Structure):
    _fields_ = (
        ("format", c_char_p),
        ("name", c_char_p),
        ("metadata", c_char_p),
        ("flags", c_int64),
        ("n_children", c_int64),
        ("children", POINTER(c_void_p)),
        ("dictionary", c_void_p),
        ("release", c_void_p),
        ("private_data", c_void_p),
    )


class Data(Structure):
    _fields_ = (
        ("length", c_int64),
        ("null_count", c_int64),
        ("offset", c_int64),
        ("n_buffers", c_int64),
        ("n_children", c_int64),
        ("buffers", POINTER(c_void_p)),
        ("children", POINTER(c_void_p)),
        ("dictionary", c_void_p),
        ("release", c_void_p),
        ("private_data", c_void_p),
    )


class Stream(Structure):
    _fields_ = (
        ("get_schema", c_void_p),
        ("get_next", c_void_p),
        ("get_last_error", c_void_p),
        ("release", c_void_p),
        ("private_data", c_void_p),
    )


# Objects whose callbacks may be called at any time.
ALIVE: list[object] = []

KINDS = {SCHEMA: Schema, ARRAY: Data, STREAM: Stream}


def structure_of(capsule):
    """The structure in a capsule, moved out or not."""
    name = api.PyCapsule_GetName(capsule)
    return KINDS[name].from_address(api.PyCapsule_GetPointer(capsule, name))


def child_of(structure):
    """The only child of a structure."""
    assert structure.n_children == 1
    return type(structure).from_address(structure.children[0])


def release(structure):
    """Release a structure, as its holder does."""
    RELEASE(structure.release)(addressof(structure))
    assert not structure.release


def pointers(addresses):
    """A C array of addresses, which the caller keeps alive."""
    return (c_void_p * max(len(addresses), 1))(*addresses)


class Made:
    """An object with an Arrow array over buffers of ours, and the calls of its release callbacks.

    `buffers` are addresses (None for a null pointer); the structures of `child`, another `Made`,
    become children.
    """

    def __init__(
        self,
        form,
        length,
        buffers,
        *,
        offset=0,
        null_count=0,
        child=None,
        n_children=None,
        dictionary=None,
        keep=None,
    ):
        ALIVE.append(self)
        self.released = []
        self.keep = keep, child
        self.buffers = pointers(buffers)
        self.callbacks = [
            RELEASE(lambda address, kind=kind: self.release(kind, address))
            for kind in (Schema, Data)
        ]
        self.schema, self.data = Schema(), Data()
        self.schema.format = form
        self.schema.dictionary = dictionary
        self.data.length, self.data.null_count, self.data.offset = length, null_count, offset
        self.data.n_buffers = len(buffers)
        self.data.buffers = ctypes.cast(self.buffers, POINTER(c_void_p))
        children = 0 if child is None else 1
        for structure, callback in zip((self.schema, self.data), self.callbacks, strict=True):
            structure.n_children = children if n_children is None else n_children
            structure.release = ctypes.cast(callback, c_void_p)
        if child is not None:
            self.children = pointers([addressof(child.schema)]), pointers([addressof(child.data)])
            self.schema.children = ctypes.cast(self.children[0], POINTER(c_void_p))
            self.data.children = ctypes.cast(self.children[1], POINTER(c_void_p))

    def release(self, kind, address):
        # A moved structure has another address.
        self.released.append(kind)
        kind.from_address(address).release = None

    def __arrow_c_array__(self, requested_schema=None):
        schema = api.PyCapsule_New(addressof(self.schema), SCHEMA, None)
        return schema, api.PyCapsule_New(addressof(self.data), ARRAY, None)


class MadeStream:
    """An object with a stream of the arrays of `Made` objects, which fails after them if there is a
    message.
    """

    def __init__(self, chunks, form=b"f", message=None):
        ALIVE.append(self)
        self.chunks, self.form, self.message = list(chunks), form, message
        self.released = 0
        self.text = ctypes.create_string_buffer(message or b"")
        self.made_schema = Made(form, 0, [])
        self.callbacks = (
            FILL(self.get_schema),
            FILL(self.get_next),
            MESSAGE(self.get_last_error),
            RELEASE(self.release),
        )
        self.stream = Stream(*(ctypes.cast(callback, c_void_p) for callback in self.callbacks))

    def get_schema(self, stream, target):
        ctypes.memmove(target, addressof(self.made_schema.schema), ctypes.sizeof(Schema))
        return 0

    def get_next(self, stream, target):
        if self.chunks:
            ctypes.memmove(target, addressof(self.chunks.pop(0).data), ctypes.sizeof(Data))
            return 0
        if self.message is not None:
            return 5
        Data.from_address(target).release = None
        return 0

    def get_last_error(self, stream):
        return addressof(self.text)

    def release(self, address):
        self.released += 1
        Stream.from_address(address).release = None

    def __arrow_c_stream__(self, requested_schema=None):
        return api.PyCapsule_New(addressof(self.stream), STREAM, None)
