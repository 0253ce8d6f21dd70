"""Propagation of the import hook of `umber.mlx` to child interpreters.

While the hook is installed, the folder `start` is prepended to the `PYTHONPATH` of every child
process. A child interpreter runs the `sitecustomize.py` in that folder, which removes the folder
from the path and the environment again and, if the interpreter belongs to the same installation,
calls `begin`. Interpreters that ignore the environment (`-I`, `-E`) or start without `site` (`-S`)
are not reached.

The environment of this process is not changed, only the one passed to children.

This package imports no other module of umber and few of Python's, since every child imports it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from typing import Any

START = os.path.join(os.path.dirname(os.path.abspath(__file__)), "start")
# Environment variable with the installation that the hook belongs to.
OWNER = "UMBER_MLX_CHILDREN"

_is_on = False
_replaced: list[tuple[Any, str, Any, Any]] = []


def start() -> None:
    """Install the hook in all processes that are started from now on."""
    global _is_on
    _is_on = True
    if not _replaced:
        for owner, name, replacement in _replacements():
            original = getattr(owner, name)
            _replaced.append((owner, name, original, replacement(original)))
        for owner, name, _, wrapper in _replaced:
            setattr(owner, name, wrapper)
    _remove_on_demand()


def stop() -> None:
    """Undo `start`."""
    global _is_on
    # Wrappers that other code has wrapped meanwhile cannot be removed; they only forward calls.
    _is_on = False
    for owner, name, original, wrapper in _replaced:
        for holder in (owner, sys.modules.get("subprocess")):
            for own_name in (name, f"_{name}"):
                if getattr(holder, own_name, None) is wrapper:
                    setattr(holder, own_name, original)
    _replaced.clear()
    _remove_on_demand()


def begin() -> None:
    """Make the first import of `mlx` in this process install the hook; called in a child."""
    start()
    sys.meta_path.insert(0, _OnDemand())


def _remove_on_demand() -> None:
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _OnDemand)]


def installation() -> str:
    """A string that identifies this interpreter and its packages."""
    return f"{sys.implementation.cache_tag} {os.path.realpath(sys.prefix)}"


class _OnDemand:
    """A finder that installs the hook when `mlx` is first searched for."""

    def find_spec(self, fullname: str, path: Any = None, target: Any = None) -> Any:
        if fullname.partition(".")[0] != "mlx":
            return None
        return self._install().find_spec(fullname, path, target)

    def find_distributions(self, context: Any = None) -> Iterable[Any]:
        name = getattr(context, "name", None)
        if name is not None and name.lower() != "mlx":
            return ()
        return self._install().find_distributions(context)

    def _install(self) -> Any:
        _remove_on_demand()
        from umber.mlx import hook

        hook.install()
        return hook._finder


# The environment of a child.


def _additions(path: str | None) -> dict[str, str]:
    """The variables to set for a child whose `PYTHONPATH` would be `path`."""
    if path is not None and START in path.split(os.pathsep):
        return {OWNER: installation()}
    return {
        "PYTHONPATH": os.pathsep.join([START, path] if path else [START]),
        OWNER: installation(),
    }


def _extended(environment: Mapping[Any, Any] | None) -> Mapping[Any, Any]:
    """An environment, as a mapping, with the variables that install the hook in a child."""
    if environment is None:
        environment = os.environ
    if not _is_on:
        return environment
    variables = {os.fsencode(key): value for key, value in environment.items()}
    path = variables.get(b"PYTHONPATH")
    added = _additions(None if path is None else os.fsdecode(path))
    return variables | {os.fsencode(key): value for key, value in added.items()}


def _extended_list(environment: Iterable[bytes] | None) -> Iterable[bytes] | None:
    """An environment, as a list of `name=value`, with the variables that install the hook."""
    if not _is_on:
        return environment
    if environment is None:
        pairs: Iterator[tuple[Any, Any]] = iter(os.environb.items())
    else:
        pairs = ((name, value) for name, _, value in (item.partition(b"=") for item in environment))
    return [name + b"=" + os.fsencode(value) for name, value in _extended(dict(pairs)).items()]


# Wrappers of the lowest-level functions that start processes.


def _replacements() -> Iterator[tuple[Any, str, Callable[[Callable], Callable]]]:
    yield os, "execve", _with_environment_at(2)
    yield os, "posix_spawn", _with_environment_at(2)
    yield os, "posix_spawnp", _with_environment_at(2)
    yield os, "execv", _execv
    yield os, "system", _system
    import _posixsubprocess

    yield _posixsubprocess, "fork_exec", _fork_exec
    subprocess = sys.modules.get("subprocess")
    if hasattr(subprocess, "_fork_exec"):
        yield subprocess, "_fork_exec", _fork_exec


def _with_environment_at(index: int) -> Callable[[Callable], Callable]:
    def replacement(function: Callable) -> Callable:
        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if len(args) > index:
                args = (*args[:index], _extended(args[index]), *args[index + 1 :])
            elif "env" in kwargs:
                kwargs["env"] = _extended(kwargs["env"])
            return function(*args, **kwargs)

        return call

    return replacement


def _execv(function: Callable) -> Callable:
    @wraps(function)
    def execv(path: Any, argv: Any, /) -> Any:
        if not _is_on:
            return function(path, argv)
        return os.execve(path, argv, os.environ)

    return execv


def _system(function: Callable) -> Callable:
    @wraps(function)
    def system(command: Any) -> int:
        if not _is_on:
            return function(command)
        from shlex import quote

        added = _additions(os.environ.get("PYTHONPATH"))
        settings = "".join(f"export {name}={quote(value)}\n" for name, value in added.items())
        return function(os.fsencode(settings) + os.fsencode(command))

    return system


def _fork_exec(function: Callable) -> Callable:
    @wraps(function)
    def fork_exec(*args: Any) -> Any:
        # Arguments, executables, close_fds, pass_fds, folder, environment.
        if len(args) > 5:
            args = (*args[:5], _extended_list(args[5]), *args[6:])
        return function(*args)

    return fork_exec
