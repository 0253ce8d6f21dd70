"""Functions of models and gradients: `value_and_grad`, `checkpoint`, `average_gradients`."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import umber.core as mx
from umber.nn.layers.base import Module
from umber.nn.layers.checkpointing import checkpoint
from umber.nn.layers.parameter_swap import swap_parameters

__all__ = ["average_gradients", "checkpoint", "value_and_grad"]

P = ParamSpec("P")
R = TypeVar("R")


def value_and_grad(model: Module, fn: Callable[P, R]) -> Callable[P, tuple[R, Any]]:
    """Transform a loss function to return its value and the gradients of a model's parameters.

    Parameters
    ----------
    model : Module
        The module that `fn` calls.
    fn : callable
        Returns a scalar array, or a tuple that begins with one.

    Returns
    -------
    callable
        A function of the arguments of `fn` that returns ``(value, gradients)``: what `fn` returned,
        and a tree shaped like ``model.trainable_parameters()``.

    Raises
    ------
    TypeError
        If `model` is not a Module or `fn` is not callable.

    See Also
    --------
    mx.value_and_grad, optim.Optimizer.update

    Notes
    -----
    Frozen parameters have no gradients. The model has its own arrays back after each call, also if
    `fn` raises.

    Examples
    --------
    >>> model = nn.Linear(2, 1)
    >>> loss_and_grad = nn.value_and_grad(model, lambda x, y: nn.losses.mse_loss(model(x), y))
    >>> loss, gradients = loss_and_grad(mx.ones((4, 2)), mx.zeros((4, 1)))
    >>> {name: gradient.shape for name, gradient in gradients.items()}
    {'weight': (1, 2), 'bias': (1,)}
    """
    if not isinstance(model, Module) or not callable(fn):
        raise TypeError(
            f"[value_and_grad] got {type(model).__name__} and {type(fn).__name__}, "
            "expected a Module and a function"
        )

    @wraps(fn)
    def value_and_gradients(*args: P.args, **kwargs: P.kwargs) -> tuple[R, Any]:
        restorers: list[Callable[[], None]] = []

        def with_parameters(parameters: dict, *args: Any, **kwargs: Any) -> Any:
            restorers.append(swap_parameters(model, parameters))
            return fn(*args, **kwargs)

        try:
            return mx.value_and_grad(with_parameters)(model.trainable_parameters(), *args, **kwargs)
        finally:
            # Restore the model's own arrays, also after an error.
            while restorers:
                restorers.pop()()

    return value_and_gradients


def average_gradients(
    gradients: Any,
    group: Any = None,
    all_reduce_size: int = 32 * 2**20,
    communication_stream: mx.Stream | None = None,
) -> Any:
    """Average gradients over the processes of a group, which has one process here.

    Parameters
    ----------
    gradients : tree of array
        The gradients.
    group : optional
        A group of one process, as ``mlx.core.distributed.init`` returns under the import hook of
        `umber.mlx`. Default: the group of this process.
    all_reduce_size : int, optional
        Bytes to exchange in one message. Without effect. Default: 32 MiB.
    communication_stream : Stream, optional
        Stream of the exchange. Without effect. Default: none.

    Returns
    -------
    tree of array
        `gradients` itself.

    Raises
    ------
    ValueError
        If the group has more than one process.

    Examples
    --------
    >>> gradients = {"weight": mx.ones((2,))}
    >>> nn.average_gradients(gradients) is gradients
    True
    """
    if group is not None and group.size() != 1:
        raise ValueError(
            f"[average_gradients] got a group of {group.size()} processes, expected one"
        )
    return gradients
