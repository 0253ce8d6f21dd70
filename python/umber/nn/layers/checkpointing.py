"""`checkpoint`: recompute activations in the backward pass instead of keeping them."""

from __future__ import annotations

from collections.abc import Callable
from functools import WRAPPER_UPDATES, update_wrapper
from types import MethodType
from typing import Any

import umber.core as mx
from umber import _layout
from umber.nn.layers.base import Module
from umber.nn.layers.parameter_swap import swap_parameters


def checkpoint(module: Module, fn: Callable | None = None) -> Callable:
    """Wrap a function so that its gradient recomputes intermediate values instead of keeping them.

    Parameters
    ----------
    module : Module
        Module whose parameters `fn` uses.
    fn : callable, optional
        Function to wrap. Default: `module`.

    Returns
    -------
    callable
        Function with the arguments, the results and the metadata of `fn`. It can be pickled if
        `module` and `fn` can, and is a method if it is an attribute of a class.

    Raises
    ------
    TypeError
        If `module` is not a module, or if `fn` is not callable.

    See Also
    --------
    mx.checkpoint, nn.TransformerEncoder

    Notes
    -----
    Only the inputs are kept for the backward pass. Values between inputs and outputs are recomputed
    for the gradient by the arguments and by the module's trainable parameters. If `mx` has no
    `checkpoint`, `fn` is returned unchanged.

    Chen et al., "Training Deep Nets with Sublinear Memory Cost", 2016.

    Examples
    --------
    >>> layer = nn.Linear(4, 4)
    >>> x = mx.ones((1, 4))
    >>> mx.array_equal(nn.utils.checkpoint(layer)(x), layer(x))
    array(True, dtype=bool)
    """
    if not isinstance(module, Module) or not (fn is None or callable(fn)):
        raise TypeError(
            f"[checkpoint] got {type(module).__name__} and {type(fn).__name__}, "
            "expected a Module and a function"
        )
    fn = module if fn is None else fn
    transform = getattr(mx, "checkpoint", None)
    if transform is None:
        return fn

    return _Checkpointed(module, fn, transform)


class _Checkpointed:
    """A function with the parameters of its module as arguments of the checkpoint."""

    def __init__(self, module: Module, fn: Callable, transform: Callable) -> None:
        # The attributes of modules and other callable objects are their own state.
        update_wrapper(self, fn, updated=WRAPPER_UPDATES if hasattr(fn, "__name__") else ())
        self._module = module

        def with_parameters(parameters: dict, *args: Any, **kwargs: Any) -> Any:
            restore = swap_parameters(module, parameters)
            try:
                return fn(*args, **kwargs)
            finally:
                restore()

        self._transformed = transform(with_parameters)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._transformed(self._module.trainable_parameters(), *args, **kwargs)

    def __get__(self, instance: Any, owner: type | None = None) -> Any:
        return self if instance is None else MethodType(self, instance)

    def __reduce__(self) -> tuple:
        return checkpoint, (self._module, self.__wrapped__)  # type: ignore[attr-defined]

    def __repr__(self) -> str:
        fn = self.__wrapped__  # type: ignore[attr-defined]
        return f"<checkpoint of {getattr(fn, '__name__', type(fn).__name__)}>"


_layout.complete(globals())
