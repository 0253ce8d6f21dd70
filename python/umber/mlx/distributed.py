"""`mlx.core.distributed` for one process: a group of one, so there is nothing to communicate."""

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
    """A group of processes, which has one member: this process."""

    def rank(self) -> int:
        """Rank of this process in the group.

        Returns
        -------
        int
            0.
        """
        return 0

    def size(self) -> int:
        """Number of processes in the group.

        Returns
        -------
        int
            1.
        """
        return 1

    def split(self, color: int, key: int = -1) -> Group:
        """Split the group; a group of one process cannot be split.

        Parameters
        ----------
        color : int
            Processes of the same color would form a group.
        key : int, optional
            Order of the ranks. Default: -1.

        Raises
        ------
        RuntimeError
            Always.
        """
        raise RuntimeError("[distributed.split] cannot split a group of one process")


def is_available(backend: str = "any") -> bool:
    """Whether processes can communicate: they cannot.

    Parameters
    ----------
    backend : str, optional
        The backend. Default: ``"any"``.

    Returns
    -------
    bool
        False.
    """
    return False


def init(
    strict: bool = False,
    backend: str = "any",
    *,
    all_gather_factory: Callable[[int, int], Callable[[bytes, int], bytes]] | None = None,
) -> Group:
    """Group of all processes, which is this process alone.

    Parameters
    ----------
    strict : bool, optional
        Whether to raise if there is no backend, as is always the case. Default: False.
    backend : {"any", "mpi", "nccl", "jaccl", "ring"}, optional
        The backend. Default: ``"any"``.
    all_gather_factory : callable, optional
        Never called.

    Returns
    -------
    Group
        A group of one process.

    Raises
    ------
    ValueError
        If the backend is unknown.
    RuntimeError
        If `strict` is true.
    """
    if backend not in _BACKENDS:
        expected = ", ".join(map(repr, _BACKENDS))
        raise ValueError(f"[distributed.init] got backend {backend!r}, expected one of {expected}")
    if strict:
        raise RuntimeError("[distributed.init] strict=True requires a backend")
    return Group()


def _collective(name: str, summary: str) -> Callable[..., mx.array]:
    def exchange(
        x: mx.array, *, group: Group | None = None, stream: mx.Stream | mx.Device | None = None
    ) -> mx.array:
        if not isinstance(group, Group | None):
            raise TypeError(
                f"[distributed.{name}] group: got {type(group).__name__}, expected a Group or None"
            )
        return x if isinstance(x, mx.array) else mx.array(x)

    exchange.__name__ = exchange.__qualname__ = name
    exchange.__doc__ = f"""{summary}.

    Parameters
    ----------
    x : array_like
        The array.
    group : Group, optional
        The group. Default: this process.
    stream : Stream or Device, optional
        Without effect.

    Returns
    -------
    array
        `x` itself, since there is no other process.

    Raises
    ------
    TypeError
        If `group` is not a Group.
    """
    return exchange


all_sum = _collective("all_sum", "Sum of an array over all processes")
all_max = _collective("all_max", "Elementwise maximum of an array over all processes")
all_min = _collective("all_min", "Elementwise minimum of an array over all processes")
all_gather = _collective("all_gather", "Concatenation of the arrays of all processes")
sum_scatter = _collective("sum_scatter", "Part of this process in the sum over all processes")


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
    """Send an array to another process: raises ValueError, since there is none.

    Parameters
    ----------
    x : array
        The array.
    dst : int
        Rank of the receiver.
    group : Group, optional
        The group. Default: this process.
    stream : Stream or Device, optional
        Without effect.

    Raises
    ------
    ValueError
        Always.
    """
    _refuse("send")


def recv(
    shape: Sequence[int],
    dtype: mx.Dtype,
    src: int,
    *,
    group: Group | None = None,
    stream: mx.Stream | mx.Device | None = None,
) -> mx.array:
    """Receive an array from another process: raises ValueError, since there is none.

    Parameters
    ----------
    shape : sequence of int
        Shape of the array.
    dtype : Dtype
        Dtype of the array.
    src : int
        Rank of the sender.
    group : Group, optional
        The group. Default: this process.
    stream : Stream or Device, optional
        Without effect.

    Raises
    ------
    ValueError
        Always.
    """
    _refuse("recv")


def recv_like(
    x: mx.array,
    src: int,
    *,
    group: Group | None = None,
    stream: mx.Stream | mx.Device | None = None,
) -> mx.array:
    """Receive an array like `x` from another process: raises ValueError, since there is none.

    Parameters
    ----------
    x : array
        An array of the same shape and dtype.
    src : int
        Rank of the sender.
    group : Group, optional
        The group. Default: this process.
    stream : Stream or Device, optional
        Without effect.

    Raises
    ------
    ValueError
        Always.
    """
    _refuse("recv_like")
