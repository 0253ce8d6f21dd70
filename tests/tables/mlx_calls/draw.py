"""Calls that belong to no framework yet, and the dice that make them."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from arrays import kind_of, represent

# MLX's dtypes; umber has complex128 beside them.
BOOL = ("bool_",)
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
SIGNED = ("int8", "int16", "int32", "int64")
INTEGERS = UNSIGNED + SIGNED
FLOATS = ("float16", "bfloat16", "float32", "float64")
COMPLEX = ("complex64",)
REAL = BOOL + INTEGERS + FLOATS
NUMERIC = INTEGERS + FLOATS + COMPLEX
ALL = REAL + COMPLEX
SPECIAL = (0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan)


@dataclass(frozen=True)
class Given:
    """An array argument: its values in the carrier of its dtype."""

    values: np.ndarray
    dtype: str

    def __repr__(self) -> str:
        return f"{self.dtype}{self.values.shape}:{self.values.tolist()!r}"

    @property
    def shape(self) -> tuple[int, ...]:
        return self.values.shape


@dataclass(frozen=True)
class Dtype:
    """A dtype argument."""

    name: str


@dataclass(frozen=True)
class Member:
    """Anything else that lives in the module: `cpu`, `newaxis`, `integer`."""

    name: str


@dataclass(frozen=True)
class Item:
    """An index expression."""

    parts: Any


@dataclass(frozen=True)
class Call:
    """Arguments of one call; arrays, dtypes and members stand for what a module makes of them."""

    args: tuple = ()
    kwargs: dict[str, Any] = field(default_factory=dict)

    @property
    def arrays(self) -> list[Given]:
        """All array arguments."""
        return list(_arrays(self.args)) + list(_arrays(self.kwargs))

    @property
    def dtypes(self) -> set[str]:
        """The dtypes of the array arguments, and those given as dtypes."""
        arguments = (*self.args, *self.kwargs.values())
        named = {argument.name for argument in arguments if isinstance(argument, Dtype)}
        return {given.dtype for given in self.arrays} | named


def _arrays(tree):
    if isinstance(tree, Given):
        yield tree
    elif isinstance(tree, Item):
        yield from _arrays(tree.parts)
    elif isinstance(tree, list | tuple):
        for part in tree:
            yield from _arrays(part)
    elif isinstance(tree, dict):
        yield from _arrays(list(tree.values()))


def realise(tree, module):
    """The argument as this module's arrays and dtypes."""
    if isinstance(tree, Given) and not tree.values.size:
        # MLX reads past the end of an empty array that came from NumPy.
        return module.zeros(tree.shape, dtype=getattr(module, tree.dtype))
    if isinstance(tree, Given):
        return module.array(np.array(tree.values, order="C"), dtype=getattr(module, tree.dtype))
    if isinstance(tree, Dtype | Member):
        return getattr(module, tree.name)
    if isinstance(tree, Item):
        return realise(tree.parts, module)
    if isinstance(tree, list):
        return [realise(part, module) for part in tree]
    if isinstance(tree, tuple):
        return tuple(realise(part, module) for part in tree)
    if isinstance(tree, dict):
        return {name: realise(part, module) for name, part in tree.items()}
    return tree


class Draw:
    """Dice with a seed."""

    def __init__(self, *seed: int):
        self.rng = np.random.default_rng(seed)

    def chance(self, probability: float = 0.5) -> bool:
        return bool(self.rng.random() < probability)

    def pick(self, choices):
        return choices[int(self.rng.integers(len(choices)))]

    def int(self, low: int, high: int) -> int:
        """An integer from `low` to `high`, both included."""
        return int(self.rng.integers(low, high + 1))

    def float(self, low: float, high: float) -> float:
        return float(np.round(self.rng.uniform(low, high), 3))

    def shape(self, low: int = 0, high: int = 3, most: int = 4, zero: float = 0.06):
        """`low` to `high` axes of 1 to `most` elements; now and then one of none."""
        shape = [self.int(1, most) for _ in range(self.int(low, high))]
        if shape and self.chance(zero):
            shape[self.int(0, len(shape) - 1)] = 0
        return tuple(shape)

    def broadcastable(self, shape):
        """A shape that broadcasts with this one."""
        kept = shape[self.int(0, len(shape)) :] if self.chance(0.4) else shape
        return tuple(1 if self.chance(0.3) else size for size in kept)

    def dtype(self, dtypes=ALL) -> str:
        """A dtype; float32 more often than others."""
        return "float32" if "float32" in dtypes and self.chance(0.2) else self.pick(dtypes)

    def values(self, shape, dtype, low=-3.0, high=3.0, special=0.0) -> np.ndarray:
        """Values of this dtype from `low` to `high`, some of them special."""
        kind = kind_of(dtype)
        if kind == "b":
            return self.rng.integers(0, 2, shape).astype(bool)
        if kind in "iu":
            low = max(int(np.ceil(low)), 0) if kind == "u" else int(np.ceil(low))
            return self.rng.integers(low, max(int(high), low) + 1, shape).astype(dtype)
        values = np.asarray(self.rng.uniform(low, high, shape))
        if special:
            values = np.where(
                self.rng.random(shape) < special, self.rng.choice(SPECIAL, shape), values
            )
        if kind == "c":
            values = values + 1j * np.asarray(self.rng.uniform(low, high, shape))
        return np.asarray(represent(values, dtype))

    def array(self, shape=None, dtypes=ALL, low=-3.0, high=3.0, special=0.0) -> Given:
        """An array argument."""
        shape = self.shape() if shape is None else shape
        dtype = self.dtype(dtypes) if isinstance(dtypes, tuple) else dtypes
        return Given(self.values(shape, dtype, low, high, special), dtype)

    def distinct(self, shape, dtypes=REAL) -> Given:
        """An array without equal elements as far as the dtype allows."""
        dtype, size = self.dtype(dtypes), int(np.prod(shape))
        order = np.asarray(self.rng.permutation(size).reshape(shape))
        if kind_of(dtype) == "b":
            return Given(order % 2 == 0, dtype)
        start = 0 if kind_of(dtype) == "u" else size // 2
        return Given(np.asarray(represent(order - start, dtype)), dtype)

    def number(self, low=-3.0, high=3.0, kinds="bif"):
        """A Python number."""
        kind = self.pick(kinds)
        if kind == "b":
            return self.chance()
        if kind == "i":
            return self.int(int(np.ceil(low)), int(high))
        if kind == "c":
            return complex(self.float(low, high), self.float(low, high))
        return self.float(low, high)

    def axis(self, shape) -> int:
        """One axis, counted from either end."""
        return self.int(-len(shape), len(shape) - 1)

    def axes(self, shape, least: int = 0):
        """Some axes as `None`, an integer, a list or a tuple."""
        if not shape:
            return None
        way = self.int(0, 3)
        if way == 0 and not least:
            return None
        if way == 1:
            return self.axis(shape)
        some = self.rng.permutation(len(shape))[: self.int(1, len(shape))]
        some = [int(axis) - (len(shape) if self.chance(0.3) else 0) for axis in some]
        return some if way == 2 else tuple(some)

    def call(self, *args, must=None, either=None, keyword=None) -> Call:
        """The arguments spelled one of the allowed ways.

        `args` are positional, `must` are always given, `either` may be left out; both may be
        positional or by keyword. `keyword` may be left out and is by keyword only.
        """
        must, either, keyword = must or {}, either or {}, keyword or {}
        options = [*must.items(), *either.items()]
        positional = self.int(0, len(options))
        args = (*args, *(value for _, value in options[:positional]))
        rest = options[positional:] + list(keyword.items())
        kwargs = {name: value for name, value in rest if name in must or self.chance(0.6)}
        return Call(args, kwargs)
