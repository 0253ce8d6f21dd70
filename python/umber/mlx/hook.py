"""The import hook: a finder for `mlx`, and stand-ins for other parts of MLX that programs use."""

from __future__ import annotations

import functools
import importlib.util
import multiprocessing.spawn
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib.abc import Loader
from importlib.machinery import ModuleSpec, PathFinder
from importlib.metadata import Distribution, DistributionFinder
from pathlib import Path
from threading import RLock
from types import ModuleType
from typing import Any

import umber.core
from umber import _children
from umber._mlx_rules import set_mlx_rules
from umber.mlx import cuda, distributed, metal
from umber.mlx.names import Renaming, is_ours, name_of_contents
from umber.mlx.version import MLX_VERSION

_PROVIDED = {"core", "data", "nn", "optimizers", "utils"}
# Modules of MLX's wheel that only the wheel itself uses.
_REFUSED = {"__array_api_info", "__main__", "_distributed_utils", "_reprlib_fix", "extension"}
# The version of umber.core, which MLX's replaces while the hook is installed.
_VERSION = umber.core.__version__
# Names of `mlx.core` that programs use and umber.core lacks.
_STAND_INS = {
    "cuda": cuda,
    "distributed": distributed,
    "metal": metal,
    # The classes of the results of `compile` and `printoptions`.
    "_gc_func": type(umber.core.compile(lambda: None)),
    "_PrintOptionsContext": type(umber.core.printoptions()),
}

_METADATA = f"""\
Metadata-Version: 2.1
Name: mlx
Version: {MLX_VERSION}
Summary: umber in place of MLX
"""


class MlxImportedError(ImportError):
    """The process has imported the real MLX, which umber can no longer replace."""


def install() -> None:
    """Make `import mlx` give the modules of umber, in this process and those it starts.

    Calling it again changes nothing.

    Raises
    ------
    MlxImportedError
        If the real MLX has been imported already, or `sys.modules` forbids its import.

    See Also
    --------
    uninstall

    Notes
    -----
    `umber.core` gets what programs ask of `mlx.core` and it lacks: `cuda`, `distributed` and
    `metal`, and as `__version__` that of MLX. `array` converts float64 and complex128 of other
    libraries to float32 and complex64 where no dtype is given, and negative class indices count
    from the end in `nn.losses`, as in MLX. Dtypes, classes, functions and modules have the names
    they have in MLX.

    Python processes that this process starts have the hook, too, unless they ignore the environment
    (`-I`, `-E`) or start without `site` (`-S`).

    Examples
    --------
    >>> import umber.mlx
    >>> umber.mlx.install()
    >>> import mlx.core
    >>> mlx.core is mx
    True
    >>> umber.mlx.uninstall()
    """
    with _lock:
        if _finder in sys.meta_path:
            return
        for name, module in _modules_of_mlx():
            if module is None:
                raise MlxImportedError(
                    f"[umber.mlx.install] sys.modules[{name!r}] is None, which forbids its import",
                    name=name,
                )
            if not is_ours(module):
                raise MlxImportedError(
                    f"[umber.mlx.install] {name} is already imported; call install() before its "
                    "first import",
                    name=name,
                    path=getattr(module, "__file__", None),
                )
        for name, value in _STAND_INS.items():
            if not hasattr(umber.core, name):
                setattr(umber.core, name, value)
                _added.append(name)
        umber.core.__version__ = MLX_VERSION
        set_mlx_rules(True)
        multiprocessing.spawn.get_preparation_data = _preparation_data_with_hook
        _children.start()
        sys.meta_path.insert(0, _finder)
        _renaming.extend()


def uninstall() -> None:
    """Undo `install`: the next `import mlx` finds the real MLX, if it is installed.

    Modules that a program has imported stay as they are. Without `install` nothing happens.

    See Also
    --------
    install

    Examples
    --------
    >>> import umber.mlx
    >>> umber.mlx.uninstall()
    """
    with _lock:
        _children.stop()
        if _finder not in sys.meta_path:
            return
        sys.meta_path.remove(_finder)
        _renaming.undo()
        if multiprocessing.spawn.get_preparation_data is _preparation_data_with_hook:
            multiprocessing.spawn.get_preparation_data = _preparation_data
        for name, module in _modules_of_mlx():
            if module is not None and is_ours(module):
                del sys.modules[name]
        while _added:
            delattr(umber.core, _added.pop())
        umber.core.__version__ = _VERSION
        set_mlx_rules(False)


def rename_imported() -> None:
    """Give MLX's names to modules that have been imported since `install`."""
    with _lock:
        if _finder in sys.meta_path:
            _renaming.extend()


def module_name(ours: str) -> str:
    """The current name of the module that a class or function of umber belongs to."""
    return (_finder in sys.meta_path and name_of_contents(ours)) or ours


def _modules_of_mlx() -> list[tuple[str, ModuleType | None]]:
    return [
        (name, module)
        for name, module in sys.modules.copy().items()
        if name == "mlx" or name.startswith("mlx.")
    ]


class _Loader(Loader):
    """Loads a module of umber under MLX's name."""

    def __init__(self, ours: str) -> None:
        self._ours = ours
        self._spec: ModuleSpec | None = None

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self._ours)
        self._spec = module.__spec__
        return module

    def exec_module(self, module: ModuleType) -> None:
        # The module has run under its own name; the import system has since set MLX's spec.
        module.__spec__ = self._spec
        # No finder is called for names inside a module that is not a package.
        rename_imported()


class _Distribution(Distribution):
    """Metadata of the distribution `mlx`, for `importlib.metadata`."""

    def read_text(self, filename: str) -> str | None:
        return _METADATA if filename == "METADATA" else None

    def locate_file(self, path: Any) -> Path:
        return Path(umber.__file__).parents[1] / path


class _Finder(DistributionFinder):
    """Finds `mlx` and everything below it, and no other name."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        root, *submodules = fullname.split(".")
        if root != "mlx":
            return None
        ours = ".".join(["umber", *submodules])
        is_provided = {*submodules[:1]} <= _PROVIDED
        if not is_provided:
            if len(submodules) > 1:
                return None
            separate = _find_separate(fullname, target)
            if separate is not None:
                return separate
        found = importlib.util.find_spec(ours)
        if found is None:
            return None
        if not is_provided:
            # Raise here, since other finders would find it in umber's folder.
            raise ModuleNotFoundError(
                f"No module named {fullname!r}: umber answers for mlx and has no such module",
                name=fullname,
            )
        spec = ModuleSpec(fullname, _Loader(ours), origin=found.origin)
        spec.submodule_search_locations = found.submodule_search_locations
        return spec

    def find_distributions(
        self, context: DistributionFinder.Context | None = None
    ) -> Iterator[Distribution]:
        if context is None or context.name is None or context.name.lower() == "mlx":
            yield _Distribution()


def _find_separate(fullname: str, target: ModuleType | None) -> ModuleSpec | None:
    """The spec of a separately installed package below `mlx`, such as `mlx.extra`."""
    if fullname.partition(".")[2] in _REFUSED:
        return None
    return PathFinder.find_spec(fullname, [os.path.join(p, "mlx") for p in sys.path], target)


class _InstallOnUnpickling:
    """Installs the hook in the process that unpickles it."""

    def __reduce__(self) -> tuple[Callable[[], None], tuple[()]]:
        return install, ()


_lock = RLock()
_finder = _Finder()
_renaming = Renaming(_Loader)
_added: list[str] = []
_preparation_data = multiprocessing.spawn.get_preparation_data


@functools.wraps(_preparation_data)
def _preparation_data_with_hook(name: str) -> dict[str, Any]:
    # A spawned child unpickles this before it runs the main module, which imports mlx.
    return {**_preparation_data(name), "umber.mlx": _InstallOnUnpickling()}
