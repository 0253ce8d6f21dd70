"""Functions of models and gradients: `value_and_grad`, `checkpoint`, `average_gradients`."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import umber.core as mx
from umber.nn.layers.base import Module
from umber.nn.layers.checkpointing import checkpoint
from umber.nn.layers.exchange import exchange

__all__ = ["average_gradients", "checkpoint", "value_and_grad"]

P = ParamSpec("P")
R = TypeVar("R")


def value_and_grad(model: Module, fn: Callable[P, R]) -> Callable[P, tuple[R, Any]]:
    """A function that gives `fn`'s value and its gradients by the model's trainable parameters.

    Args:
        model: the module that `fn` calls.
        fn: gives a scalar array or a tuple that begins with one.

    Returns:
        A function of `fn`'s arguments that returns `(value, gradients)`, the gradients being a tree
        shaped like `model.trainable_parameters()`.

    Example:
        >>> loss_and_grad = nn.value_and_grad(model, lambda x, y: mse_loss(model(x), y))
        >>> loss, gradients = loss_and_grad(x, y)
        >>> optimizer.update(model, gradients)
    """
    if not isinstance(model, Module) or not callable(fn):
        raise TypeError(
            f"[value_and_grad] got {type(model).__name__} and {type(fn).__name__}, "
            "expected a Module and a function"
        )

    @wraps(fn)
    def value_and_gradients(*args: P.args, **kwargs: P.kwargs) -> tuple[R, Any]:
        put_back: list[Callable[[], None]] = []

        def with_parameters(parameters: dict, *args: Any, **kwargs: Any) -> Any:
            put_back.append(exchange(model, parameters))
            return fn(*args, **kwargs)

        try:
            return mx.value_and_grad(with_parameters)(model.trainable_parameters(), *args, **kwargs)
        finally:
            # The model gets its own arrays back, also after an error.
            while put_back:
                put_back.pop()()

    return value_and_gradients


def average_gradients(
    gradients: Any,
    group: Any = None,
    all_reduce_size: int = 32 * 2**20,
    communication_stream: mx.Stream | None = None,
) -> Any:
    """The gradients, averaged over the processes of a group; of one process these very gradients.

    Args:
        gradients: a tree of arrays.
        group: what `mlx.core.distributed.init` gives, a group of one. Default: the one there is.
        all_reduce_size: how many bytes are exchanged at once; nothing is.
        communication_stream: where to exchange them; nothing is.
    """
    if group is not None and group.size() != 1:
        raise ValueError(
            f"[average_gradients] got a group of {group.size()} processes, expected one"
        )
    return gradients
