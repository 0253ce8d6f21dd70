"""`Sequential`, which chains modules."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from operator import index
from typing import Any, SupportsIndex, overload

import umber.core as mx
from umber import _layout
from umber.nn.layers.base import Module

__all__ = ["Sequential"]

Function = Callable[[mx.array], mx.array]


class Sequential(Module):
    """Apply functions one after another: `Sequential(f, g)(x) = g(f(x))`.

    Parameters
    ----------
    *modules : callable
        Modules or other functions of an array.

    Attributes
    ----------
    layers : list of callable
        The modules and functions in order.

    Raises
    ------
    TypeError
        If an argument is not callable.

    Notes
    -----
    As a sequence it is that of its layers: `len`, iteration, indices and slices. A slice is a
    `Sequential` of the same modules. Strings are keys of its entries, as in every module.

    Shapes: those of the modules.

    Examples
    --------
    >>> model = nn.Sequential(nn.Linear(64, 32), nn.relu, nn.Linear(32, 10))
    >>> model(mx.zeros((2, 64))).shape
    (2, 10)
    >>> list(model.parameters()["layers"][0])
    ['weight', 'bias']
    >>> len(model)
    3
    >>> model[-1]
    Linear(input_dims=32, output_dims=10, bias=True)
    >>> model[:2]
    Sequential(
      (layers.0): Linear(input_dims=64, output_dims=32, bias=True)
      (layers.1): relu
    )
    """

    def __init__(self, *modules: Function) -> None:
        super().__init__()
        self.layers = _checked(modules)

    def __call__(self, x: mx.array) -> mx.array:
        for layer in self.layers:
            x = layer(x)
        return x

    def append(self, module: Function) -> Sequential:
        """Add a module or function at the end.

        Parameters
        ----------
        module : callable
            The module.

        Returns
        -------
        Sequential
            The module itself.

        Raises
        ------
        TypeError
            If the argument is not callable.

        See Also
        --------
        Sequential.extend, Sequential.insert

        Examples
        --------
        >>> len(nn.Sequential(nn.Linear(4, 8)).append(nn.ReLU()))
        2
        """
        return self.extend([module])

    def extend(self, modules: Iterable[Function]) -> Sequential:
        """Add modules or functions at the end.

        Parameters
        ----------
        modules : iterable of callable
            The modules, for example another `Sequential`.

        Returns
        -------
        Sequential
            The module itself.

        Raises
        ------
        TypeError
            If one of them is not callable. Nothing is added then.

        See Also
        --------
        Sequential.append, Sequential.insert

        Examples
        --------
        >>> head = nn.Sequential(nn.ReLU(), nn.Linear(8, 2))
        >>> len(nn.Sequential(nn.Linear(4, 8)).extend(head))
        3
        """
        # A new list, so that parts and copies of the tree are not affected.
        self.layers = [*self.layers, *_checked(modules)]
        return self

    def insert(self, index: int, module: Function) -> Sequential:
        """Add a module or function before an index.

        Parameters
        ----------
        index : int
            The index, which may be negative; `len` adds at the end.
        module : callable
            The module.

        Returns
        -------
        Sequential
            The module itself.

        Raises
        ------
        TypeError
            If `module` is not callable.
        IndexError
            If the index is out of bounds.

        See Also
        --------
        Sequential.append, Sequential.extend

        Examples
        --------
        >>> model = nn.Sequential(nn.Linear(4, 8), nn.Linear(8, 2))
        >>> model.insert(1, nn.ReLU())[1]
        ReLU()
        """
        count = len(self.layers)
        if not -count <= index <= count:
            raise IndexError(f"[insert] index {index} is out of bounds for {count} layers")
        layers = [*self.layers]
        layers.insert(index, *_checked([module]))
        self.layers = layers
        return self

    # A module is a dict, whose keys are strings; integers and slices are about the layers.

    def __len__(self) -> int:
        return len(self.layers)

    def __iter__(self) -> Iterator[Function]:
        return iter(self.layers)

    def __reversed__(self) -> Iterator[Function]:
        return reversed(self.layers)

    def __contains__(self, key: object) -> bool:
        if isinstance(key, str):
            return super().__contains__(key)
        return any(layer is key for layer in self.layers)

    @overload
    def __getitem__(self, key: slice) -> Sequential: ...
    @overload
    def __getitem__(self, key: SupportsIndex | str) -> Any: ...
    def __getitem__(self, key: Any) -> Any:
        """Return a layer by index, a part by slice, or an entry by name."""
        if isinstance(key, str):
            return super().__getitem__(key)
        if not isinstance(key, slice):
            return self.layers[self._checked_index(key)]
        part = Sequential(*self.layers[key])
        part._set_training_mode(self.training)
        return part

    def __setitem__(self, key: Any, value: Any) -> None:
        if isinstance(key, str):
            super().__setitem__(key, value)
            return
        layers = [*self.layers]
        if isinstance(key, slice):
            layers[key] = _checked(value)
        else:
            layers[self._checked_index(key)] = _checked([value])[0]
        self.layers = layers

    def __delitem__(self, key: Any) -> None:
        if isinstance(key, str):
            super().__delitem__(key)
            return
        layers = [*self.layers]
        del layers[key if isinstance(key, slice) else self._checked_index(key)]
        self.layers = layers

    def _checked_index(self, key: Any) -> int:
        if not hasattr(key, "__index__"):
            raise TypeError(
                f"[Sequential] index: got {type(key).__name__}, expected an integer, a slice or "
                "the name of an entry"
            )
        position = index(key)
        count = len(self.layers)
        if not -count <= position < count:
            raise IndexError(f"[Sequential] index {position} is out of bounds for {count} layers")
        return position

    def _repr_children(self) -> list[tuple[str, Any]]:
        layers = {f"layers.{i}": layer for i, layer in enumerate(self.layers)}
        return [*(layers | dict(super()._repr_children())).items()]


def _checked(modules: Iterable[Function]) -> list[Function]:
    modules = list(modules)
    for module in modules:
        if not callable(module):
            raise TypeError(
                f"[Sequential] got {type(module).__name__}, expected modules or functions"
            )
    return modules


_layout.complete(globals())
