"""The buffer protocol by hand: requests with any flags, and what they are answered."""

import contextlib
import ctypes
from ctypes import POINTER, Structure, c_char_p, c_int, c_ssize_t, c_void_p, py_object

SIMPLE, WRITABLE, FORMAT, ND = 0, 1, 4, 8
STRIDES = 0x10 | ND
C_CONTIGUOUS = 0x20 | STRIDES
F_CONTIGUOUS = 0x40 | STRIDES
ANY_CONTIGUOUS = 0x80 | STRIDES
FULL_RO = 0x100 | STRIDES | FORMAT


class View(Structure):
    _fields_ = (
        ("buf", c_void_p),
        ("obj", py_object),
        ("len", c_ssize_t),
        ("itemsize", c_ssize_t),
        ("readonly", c_int),
        ("ndim", c_int),
        ("format", c_char_p),
        ("shape", POINTER(c_ssize_t)),
        ("strides", POINTER(c_ssize_t)),
        ("suboffsets", POINTER(c_ssize_t)),
        ("internal", c_void_p),
    )


get = ctypes.pythonapi.PyObject_GetBuffer
get.argtypes = (py_object, POINTER(View), c_int)
release = ctypes.pythonapi.PyBuffer_Release
release.argtypes = (POINTER(View),)
release.restype = None


@contextlib.contextmanager
def requested(source, flags):
    """The view that a request with these flags is answered with."""
    view = View()
    get(source, ctypes.byref(view), flags)
    try:
        yield view
    finally:
        release(ctypes.byref(view))
