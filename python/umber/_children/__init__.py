"""The import hook of `umber.mlx` in the interpreters that a process with the hook starts.

While it is on, every process that is started gets the folder `start` in front of its `PYTHONPATH`.
An interpreter runs the `sitecustomize.py` in it, which takes the folder out of the path and of the
environment again and, in the interpreter of the same installation, calls `begin`. What it is not
told: an interpreter that ignores the environment (`-I`, `-E`) or starts without `site` (`-S`).

The environment of this process stays as it is: only what is handed to a child differs.

This package imports nothing of umber's and little of Python's, since every child imports it.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import wraps
from typing import Any

START = os.path.join(os.path.dirname(os.path.abspath(__file__)), "start")
# Tells which installation the hook belongs to.
OWNER = "UMBER_MLX_CHILDREN"

_is_on = False
_replaced: list[tuple[Any, str, Any, Any]] = []


def start() -> None:
    """Hand the hook to the processes that are started from now on."""
    global _is_on
    _is_on = True
    if not _replaced:
        for owner, name, replacement in _replacements():
            before = getattr(owner, name)
            _replaced.append((owner, name, before, replacement(before)))
        for owner, name, _, after in _replaced:
            setattr(owner, name, after)
    _forget_demand()


def stop() -> None:
    """Undo `start`."""
    global _is_on
    # What others have wrapped meanwhile cannot be taken out from under them and passes calls on.
    _is_on = False
    for owner, name, before, after in _replaced:
        for holder in (owner, sys.modules.get("subprocess")):
            for own_name in (name, f"_{name}"):
                if getattr(holder, own_name, None) is after:
                    setattr(holder, own_name, before)
    _replaced.clear()
    _forget_demand()


def begin() -> None:
    """Let the first import of `mlx` in this process install the hook; called by a child."""
    start()
    sys.meta_path.insert(0, _OnDemand())


def _forget_demand() -> None:
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _OnDemand)]


def installation() -> str:
    """What tells this interpreter with its packages from others."""
    return f"{sys.implementation.cache_tag} {os.path.realpath(sys.prefix)}"


class _OnDemand:
    """A finder that installs the hook when something asks for `mlx`."""

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
        _forget_demand()
        from umber.mlx import hook

        hook.install()
        return hook._finder


# The environment of a child.


def _additions(path: str | None) -> dict[str, str]:
    """The variables of a child in whose environment `PYTHONPATH` is `path`."""
    if path is not None and START in path.split(os.pathsep):
        return {OWNER: installation()}
    return {
        "PYTHONPATH": os.pathsep.join([START, path] if path else [START]),
        OWNER: installation(),
    }


def _extended(environment: Mapping[Any, Any] | None) -> Mapping[Any, Any]:
    """An environment as a mapping, with what tells an interpreter of the hook."""
    if environment is None:
        environment = os.environ
    if not _is_on:
        return environment
    kept = {os.fsencode(key): value for key, value in environment.items()}
    path = kept.get(b"PYTHONPATH")
    added = _additions(None if path is None else os.fsdecode(path))
    return kept | {os.fsencode(key): value for key, value in added.items()}


def _extended_list(environment: Iterable[bytes] | None) -> Iterable[bytes] | None:
    """An environment as a list of `name=value`, with what tells an interpreter of the hook."""
    if not _is_on:
        return environment
    if environment is None:
        pairs: Iterator[tuple[Any, Any]] = iter(os.environb.items())
    else:
        pairs = ((name, value) for name, _, value in (item.partition(b"=") for item in environment))
    return [name + b"=" + os.fsencode(value) for name, value in _extended(dict(pairs)).items()]


# What starts processes: the functions below which Python has no others.


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


def _with_environment_at(place: int) -> Callable[[Callable], Callable]:
    def replacement(function: Callable) -> Callable:
        @wraps(function)
        def call(*args: Any, **kwargs: Any) -> Any:
            if len(args) > place:
                args = (*args[:place], _extended(args[place]), *args[place + 1 :])
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
