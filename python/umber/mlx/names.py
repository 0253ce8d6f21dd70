"""Names of umber's modules, classes and functions while the hook is installed.

Programs compare and parse these names: ``str(x.dtype).removeprefix("mlx.core.")``,
``type(x).__module__.startswith("mlx")``. Therefore `__module__` and the names of modules are set to
MLX's, and restored when the hook is removed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from copy import copy
from importlib.abc import Loader
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import umber.core as mx
from umber._names import module_name

# Modules of MLX that umber has under another name.
_MOVED = {
    "umber.mlx.cuda": "mlx.core.cuda",
    "umber.mlx.distributed": "mlx.core.distributed",
    "umber.mlx.metal": "mlx.core.metal",
}
# Modules of umber whose contents are in another module in MLX.
_MERGED = {
    "umber.nn.layers.checkpointing": "mlx.nn.utils",
    **{
        f"umber.optimizers.{name}": "mlx.optimizers.optimizers"
        for name in ("adafactor", "adam", "adaptive", "base", "clip", "lion", "muon", "sgd")
    },
}
# Modules without a counterpart in MLX keep their names, and so does the hook itself.
_UNCHANGED = {"_children", "_errors", "_layout", "_names", "array_api", "mlx"}


class Name(str):
    """The name of a module in MLX, which is pickled as umber's name.

    A process without the hook can then read a pickle that was written under it.
    """

    __slots__ = ("ours",)

    ours: str

    def __new__(cls, theirs: str, ours: str) -> Name:
        name = super().__new__(cls, theirs)
        name.ours = ours
        return name

    def __copy__(self) -> Name:
        return self

    def __deepcopy__(self, memo: dict) -> Name:
        return self

    def __reduce__(self) -> tuple[Callable[[str], str], tuple[str]]:
        return module_name, (self.ours,)


def is_ours(module: ModuleType) -> bool:
    """Whether a module is one of umber's, under either name."""
    name = module.__name__
    return (name.ours if isinstance(name, Name) else name).partition(".")[0] == "umber"


def transformed() -> list[Any]:
    """Functions of the classes that transforms return, which have no name in a module."""
    transforms = (mx.compile, mx.checkpoint, mx.custom_function, mx.grad, mx.vmap)
    return [transform(transformed) for transform in transforms]


class Renaming:
    """The names that were changed, with their original values.

    Parameters
    ----------
    loader : callable
        Creates a loader of a module of umber from umber's name of it.
    """

    def __init__(self, loader: Callable[[str], Loader]) -> None:
        self._loader = loader
        self._originals: list[tuple[Any, str, Any]] = []
        self._done: set[str] = set()

    def extend(self) -> None:
        """Give MLX's names to all imported modules of umber and to their contents."""
        if not self._done:
            for value in transformed():
                self._rename(type(value))
        for ours, module in sys.modules.copy().items():
            # A module that is still being imported has not defined all names yet.
            is_complete = not getattr(getattr(module, "__spec__", None), "_initializing", False)
            theirs = _module_name(ours)
            if theirs is not None and is_complete and ours not in self._done:
                self._done.add(ours)
                self._rename_module(module, Name(theirs, ours))
                for value in list(vars(module).values()):
                    self._rename(value)

    def undo(self) -> None:
        """Restore all names."""
        while self._originals:
            _assign(*self._originals.pop())
        self._done.clear()

    def _rename_module(self, module: ModuleType, name: Name) -> None:
        # `sys.modules[value.__module__]` must exist.
        sys.modules.setdefault(str(name), module)
        if module.__spec__ is not None:
            # An import of MLX's name in progress may use this spec.
            spec = copy(module.__spec__)
            spec.name = name
            spec.loader = self._loader(name.ours)
            self._set(module, "__spec__", spec)
        self._set(module, "__name__", name)

    def _rename(self, value: Any) -> None:
        """Rename the module of a class or function."""
        ours = getattr(value, "__module__", None) if _is_named(value) else None
        if not isinstance(ours, str) or isinstance(ours, Name):
            return
        theirs = name_of_contents(ours)
        # Pickle looks the value up in the module that `__module__` names.
        if theirs is None or (ours in _MERGED and not _is_in(theirs, value)):
            return
        self._set(value, "__module__", Name(theirs, ours))
        if isinstance(value, type):
            for method in _functions_in(value):
                if method.__module__ == ours:
                    self._set(method, "__module__", Name(theirs, ours))

    def _set(self, owner: Any, attribute: str, value: Any) -> None:
        self._originals.append((owner, attribute, getattr(owner, attribute)))
        _assign(owner, attribute, value)


def _assign(owner: Any, attribute: str, value: Any) -> None:
    """Set an attribute; a class keeps its line, which Python 3.13 drops with the old module."""
    line = vars(owner).get("__firstlineno__") if isinstance(owner, type) else None
    setattr(owner, attribute, value)
    if line is not None:
        owner.__firstlineno__ = line


def _module_name(ours: str) -> str | None:
    """MLX's name for a module of umber; `None` if it keeps its name or is not of umber."""
    if ours in _MOVED:
        return _MOVED[ours]
    root, *submodules = ours.split(".")
    return (
        ".".join(["mlx", *submodules])
        if root == "umber" and not {*submodules[:1]} & _UNCHANGED
        else None
    )


def name_of_contents(ours: str) -> str | None:
    """The name of the MLX module with the contents of a module of umber; None if there is none."""
    return _MERGED.get(ours) or _module_name(ours)


def _is_named(value: Any) -> bool:
    """Whether it is a class or a function; compiled functions have a class of their own."""
    return isinstance(value, type | FunctionType | BuiltinFunctionType) or (
        callable(value) and hasattr(value, "__wrapped__")
    )


def _is_in(theirs: str, value: Any) -> bool:
    module = sys.modules.get(theirs.replace("mlx", "umber", 1))
    return getattr(module, getattr(value, "__qualname__", ""), None) is value


def _functions_in(class_: type) -> Iterator[FunctionType]:
    for member in vars(class_).values():
        if isinstance(member, property):
            functions = (member.fget, member.fset, member.fdel)
        else:
            functions = (getattr(member, "__func__", member),)
        yield from (function for function in functions if isinstance(function, FunctionType))
