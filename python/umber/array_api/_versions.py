"""The namespace in each version of the array API standard.

Versions before 2025.12 require lists where later ones require tuples; apart from that a version
includes the older ones. Clients recognise namespaces by name, so all versions have the same name.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from functools import lru_cache, wraps
from types import ModuleType
from typing import Any

from ._info import ArrayNamespaceInfo

VERSIONS = ("2021.12", "2022.12", "2023.12", "2024.12", "2025.12")
NEWEST = VERSIONS[-1]
_PACKAGE = __name__.rpartition(".")[0]
# Functions that return several arrays: a list before this version, a tuple from it on.
_TUPLES_SINCE = "2025.12"
_SEQUENCE_FUNCTIONS = ("broadcast_arrays", "meshgrid")


def check(version: str, op: str) -> str:
    """Return the version if it is supported, else raise."""
    if version not in VERSIONS:
        known = f"'{VERSIONS[0]}' to '{NEWEST}'"
        raise ValueError(f"[{op}] got version {version!r}, expected one from {known}")
    return version


def namespace(version: str | None = None) -> ModuleType:
    """The module of a version of the standard; without one, `umber.array_api` itself."""
    package = sys.modules[_PACKAGE]
    if version is None or version == package.__array_api_version__:
        return package
    return _create_namespace(check(version, "__array_namespace__"))


@lru_cache(maxsize=len(VERSIONS))
def _create_namespace(version: str) -> ModuleType:
    package = sys.modules[_PACKAGE]
    module = ModuleType(_PACKAGE, package.__doc__)
    vars(module).update(public(vars(package)))
    apply_version(vars(module), version)
    return module


def public(names: dict[str, Any]) -> dict[str, Any]:
    """The public names of a namespace."""
    return {name: value for name, value in names.items() if not name.startswith("_")}


def apply_requested_version(names: dict[str, Any]) -> None:
    """Apply the version that the environment variable requests, by default the newest."""
    variable = "UMBER_ARRAY_API_VERSION"
    apply_version(names, check(os.environ.get(variable, NEWEST), variable))


def apply_version(names: dict[str, Any], version: str) -> None:
    """Replace the functions of a namespace that depend on the version."""
    names["__array_api_version__"] = version
    is_old = version < _TUPLES_SINCE
    for name in _SEQUENCE_FUNCTIONS:
        plain = getattr(names[name], "__wrapped_by_version__", names[name])
        names[name] = _returning_list(plain) if is_old else plain
    info = _InfoWithLists if is_old else ArrayNamespaceInfo
    names["__array_namespace_info__"] = _info_function(info)


def _returning_list(function: Callable) -> Callable:
    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> list:
        return list(function(*args, **kwargs))

    call.__wrapped_by_version__ = function
    return call


class _InfoWithLists(ArrayNamespaceInfo):
    def devices(self) -> list:
        """The devices, as a list."""
        return list(super().devices())


def _info_function(info: type) -> Callable:
    def __array_namespace_info__() -> ArrayNamespaceInfo:
        """Capabilities, devices and dtypes of this namespace."""
        return info()

    return __array_namespace_info__
