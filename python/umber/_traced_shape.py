"""The shape of an array in a shapeless trace: a tuple that records which lengths are read."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any


class Lengths(tuple[int, ...]):
    """Lengths of axes. `reader.note` is called with each axis whose length is read.

    Most operations of tuples read all lengths. A slice reads none, and a comparison with equal
    lengths of another array records only that they are equal.
    """

    _axes: tuple[int, ...]
    _reader: Any

    def __new__(cls, lengths: tuple[int, ...], reader: Any, axes: tuple[int, ...]) -> Lengths:
        shape = super().__new__(cls, lengths)
        shape._reader = reader
        shape._axes = axes
        return shape

    def _all(self) -> tuple[int, ...]:
        for axis in self._axes:
            self._reader.note(axis)
        return tuple(tuple.__iter__(self))

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return Lengths(tuple.__getitem__(self, index), self._reader, self._axes[index])
        self._reader.note(self._axes[index])
        return tuple.__getitem__(self, index)

    def __iter__(self) -> Iterator[int]:
        for axis, length in zip(self._axes, tuple.__iter__(self), strict=True):
            self._reader.note(axis)
            yield length

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, tuple) or len(other) != len(self):
            return False
        if isinstance(other, Lengths) and tuple.__eq__(self, other):
            for own, theirs in zip(self._axes, other._axes, strict=True):
                self._reader.note_equal(own, other._reader, theirs)
            return True
        return self._all() == tuple(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash(self._all())

    def __lt__(self, other: Any) -> Any:
        return self._all() < other

    def __le__(self, other: Any) -> Any:
        return self._all() <= other

    def __gt__(self, other: Any) -> Any:
        return self._all() > other

    def __ge__(self, other: Any) -> Any:
        return self._all() >= other

    def __contains__(self, length: object) -> bool:
        return length in self._all()

    def __add__(self, other: Any) -> Any:
        return self._all() + other

    def __radd__(self, other: Any) -> Any:
        return other + self._all()

    def __mul__(self, times: Any) -> Any:
        return self._all() * times

    __rmul__ = __mul__

    def __repr__(self) -> str:
        return repr(self._all())

    def __reduce__(self) -> Any:
        return tuple, (self._all(),)

    def count(self, length: Any) -> int:
        return self._all().count(length)

    def index(self, *arguments: Any) -> int:
        return self._all().index(*arguments)
