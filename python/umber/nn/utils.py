"""Functions of models and gradients.

`value_and_grad`, `functional_call`, `checkpoint`, `average_gradients`, `summary`.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import TYPE_CHECKING, Any, ParamSpec, TypeVar

import umber.core as mx
from umber import _layout
from umber.nn.layers.base import Module
from umber.nn.layers.checkpointing import checkpoint
from umber.nn.layers.parameter_swap import parameters_swapped, swap_parameters
from umber.utils import tree_unflatten

if TYPE_CHECKING:
    from umber.nn.model_summary import ModelSummary, SummaryRow, summary

__all__ = [
    "ModelSummary",
    "SummaryRow",
    "average_gradients",
    "checkpoint",
    "functional_call",
    "summary",
    "value_and_grad",
]

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


def functional_call(module: Callable[..., R], parameters: dict, /, *args: Any, **kwargs: Any) -> R:
    """Call a module with other parameters than its own.

    Parameters
    ----------
    module : Module
        The module to call.
    parameters : dict
        The parameters: a tree structured like a part of ``module.parameters()``, or a flat dict by
        path, such as ``"layers.0.weight"``. The module's own are used for those that are absent.
    *args : Any
        Positional arguments of the module.
    **kwargs : Any
        Keyword arguments of the module.

    Returns
    -------
    object
        What ``module(*args, **kwargs)`` returns.

    Raises
    ------
    TypeError
        If `module` is not a module, or if `parameters` is not a dict.
    ValueError
        If the module does not have one of the parameters, or if one is not an array.

    See Also
    --------
    value_and_grad, Module.parameters, Module.update, mx.vmap

    Notes
    -----
    A function of its parameters, which `mx.grad`, `mx.vmap` and `mx.compile` can transform. After
    the call, also if it raises, the module holds its own arrays at all paths of `parameters`. A
    call may change others, as it does without this function: in training mode `BatchNorm` updates
    its running averages, unless they are in `parameters`, in which case the update is dropped.

    The name and rules of ``torch.func.functional_call``, whose arguments are a tuple and a dict.

    Examples
    --------
    >>> model = nn.Linear(2, 1)
    >>> x = mx.ones((4, 2))
    >>> nn.functional_call(model, {"weight": mx.ones((1, 2)), "bias": mx.zeros((1,))}, x).tolist()
    [[2.0], [2.0], [2.0], [2.0]]

    An ensemble, whose parameters are stacked along a first axis:

    >>> from umber.utils import tree_map
    >>> models = [nn.Linear(2, 1) for _ in range(3)]
    >>> stacked = tree_map(lambda *arrays: mx.stack(arrays), *[m.parameters() for m in models])
    >>> ensemble = mx.vmap(lambda p, x: nn.functional_call(model, p, x), in_axes=(0, None))
    >>> ensemble(stacked, x).shape
    (3, 4, 1)
    """
    if not isinstance(module, Module) or not isinstance(parameters, dict):
        raise TypeError(
            f"[functional_call] got {type(module).__name__} and {type(parameters).__name__}, "
            "expected a Module and a dict of its parameters"
        )
    if any(isinstance(key, str) and "." in key for key in dict.keys(parameters)):
        parameters = tree_unflatten(parameters)
    with parameters_swapped(module, parameters, "functional_call"):
        return module(*args, **kwargs)


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


_layout.complete(globals(), {"umber.nn.model_summary": ["ModelSummary", "SummaryRow", "summary"]})
