"""`mlx.core.distributed` for one process: a group of one, in which there is nothing to exchange."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import NoReturn

import umber.core as mx

__all__ = [
    "Group",
    "all_gather",
    "all_max",
    "all_min",
    "all_sum",
    "init",
    "is_available",
    "recv",
    "recv_like",
    "send",
    "sum_scatter",
]

_BACKENDS = ("any", "mpi", "nccl", "jaccl", "ring")


class Group:
    """The processes that work together: this one."""

    def rank(self) -> int:
        """The number of this process in the group."""
        return 0

    def size(self) -> int:
        """How many processes the group has."""
        return 1

    def split(self, color: int, key: int = -1) -> Group:
        """The part of the group that passes the same `color`; one process has no parts."""
        raise RuntimeError("[distributed.split] cannot split a group of one process")


def is_available(backend: str = "any") -> bool:
    """Whether processes can exchange arrays: they cannot."""
    return False


def init(
    strict: bool = False,
    backend: str = "any",
    *,
    all_gather_factory: Callable[[int, int], Callable[[bytes, int], bytes]] | None = None,
) -> Group:
    """The group of all processes, which is this one alone.

    Args:
        strict: whether a group of one is an error.
        backend: `"any"`, `"mpi"`, `"nccl"`, `"jaccl"` or `"ring"`.
        all_gather_factory: not called.
    """
    if backend not in _BACKENDS:
        expected = ", ".join(map(repr, _BACKENDS))
        raise ValueError(f"[distributed.init] got backend {backend!r}, expected one of {expected}")
    if strict:
        raise RuntimeError("[distributed.init] strict=True requires a backend")
    return Group()


def _from_all(name: str, says: str) -> Callable[..., mx.array]:
    def exchange(
        x: mx.array, *, group: Group | None = None, stream: mx.Stream | mx.Device | None = None
    ) -> mx.array:
        if not isinstance(group, Group | None):
            raise TypeError(
                f"[distributed.{name}] group: got {type(group).__name__}, expected a Group or None"
            )
        return x if isinstance(x, mx.array) else mx.array(x)

    exchange.__name__ = exchange.__qualname__ = name
    exchange.__doc__ = f"{says}: `x` itself, there being no other process."
    return exchange


all_sum = _from_all("all_sum", "The sum of every process's `x`")
all_max = _from_all("all_max", "The maximum of every process's `x`")
all_min = _from_all("all_min", "The minimum of every process's `x`")
all_gather = _from_all("all_gather", "Every process's `x`, concatenated")
sum_scatter = _from_all("sum_scatter", "This process's part of the sum of every process's `x`")


def _refuse(name: str) -> NoReturn:
    raise ValueError(
        f"[distributed.{name}] a group of one process has no other process to communicate with"
    )


def send(
    x: mx.array,
    dst: int,
    *,
    group: Group | None = None,
    stream: mx.Stream | mx.Device | None = None,
) -> mx.array:
    """Send `x` to process `dst`, which there is not: a `ValueError`."""
    _refuse("send")


def recv(
    shape: Sequence[int],
    dtype: mx.Dtype,
    src: int,
    *,
    group: Group | None = None,
    stream: mx.Stream | mx.Device | None = None,
) -> mx.array:
    """Receive from process `src`, which there is not: a `ValueError`."""
    _refuse("recv")


def recv_like(
    x: mx.array,
    src: int,
    *,
    group: Group | None = None,
    stream: mx.Stream | mx.Device | None = None,
) -> mx.array:
    """Receive an array like `x` from process `src`, which there is not: a `ValueError`."""
    _refuse("recv_like")
