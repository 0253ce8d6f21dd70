"""`summary`: a table of a model's modules, their outputs and their parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from typing import Any

import umber.core as mx
from umber import _layout
from umber.nn.layers.base import Module, modules_in_order, own_parameters
from umber.nn.layers.html_repr import escape
from umber.nn.layers.parameter_swap import changes_undone
from umber.utils import tree_flatten, tree_map

__all__ = ["ModelSummary", "SummaryRow", "summary"]

_ABSENT = object()
_HEADS = ("path", "class", "output", "parameters", "frozen", "bytes")
# Columns of text; those of numbers are aligned to the right.
_TEXT_COLUMNS = 3


@dataclass(frozen=True)
class SummaryRow:
    """A module in a summary.

    Parameters
    ----------
    path : str
        Path of the module; `""` for the model itself.
    class_name : str
        Name of its class.
    output : ShapeDtypeStruct, tree of them, or None
        What its first call returned; None if it was not called.
    parameters : int
        Number of elements of the parameters that it holds itself; modules in it have their own
        rows.
    frozen : int
        Number of those that are frozen.
    nbytes : int
        Bytes of these parameters.

    See Also
    --------
    summary

    Examples
    --------
    >>> nn.summary(nn.Linear(4, 8)).rows[0]
    SummaryRow(path='', class_name='Linear', output=None, parameters=40, frozen=0, nbytes=160)
    """

    path: str
    class_name: str
    output: Any
    parameters: int
    frozen: int
    nbytes: int

    def _cells(self) -> list[str]:
        numbers = (f"{n:,}" for n in (self.parameters, self.frozen, self.nbytes))
        return [self.path or "(model)", self.class_name, _shown(self.output), *numbers]


class ModelSummary:
    """Table of a model's modules; printed as text, and shown as a table in notebooks.

    Parameters
    ----------
    rows : sequence of SummaryRow
        A row for each module.

    Attributes
    ----------
    rows : list of SummaryRow
        A row for each module, each before the modules in it.
    total : int
        Number of elements of all parameters.
    trainable : int
        Number of those that are not frozen.
    frozen : int
        Number of those that are frozen.
    nbytes : int
        Bytes of all parameters.

    See Also
    --------
    summary

    Examples
    --------
    >>> table = nn.summary(nn.Sequential(nn.Linear(4, 8), nn.ReLU()))
    >>> table.total, table.trainable, table.nbytes
    (40, 40, 160)
    """

    def __init__(self, rows: Sequence[SummaryRow]) -> None:
        self.rows = [*rows]
        self.total = sum(row.parameters for row in self.rows)
        self.frozen = sum(row.frozen for row in self.rows)
        self.trainable = self.total - self.frozen
        self.nbytes = sum(row.nbytes for row in self.rows)

    def __str__(self) -> str:
        lines = [[*_HEADS], *(row._cells() for row in self.rows)]
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        text = ["  ".join(_aligned(line, widths)).rstrip() for line in lines]
        rule = "=" * max(map(len, text))
        return "\n".join([text[0], rule, *text[1:], rule, self._totals()])

    __repr__ = __str__

    def _repr_html_(self) -> str:
        head = "".join(f"<th>{name}</th>" for name in _HEADS)
        body = "".join(
            "<tr>" + "".join(f"<td>{escape(cell)}</td>" for cell in row._cells()) + "</tr>"
            for row in self.rows
        )
        return (
            f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody>"
            f"<caption>{self._totals()}</caption></table>"
        )

    def _totals(self) -> str:
        return (
            f"{self.total:,} parameters: {self.trainable:,} trainable, {self.frozen:,} frozen; "
            f"{self.nbytes:,} bytes"
        )


def summary(model: Module, *inputs: Any, **kwargs: Any) -> ModelSummary:
    """Tabulate the modules of a model: class, output, parameters and bytes.

    Parameters
    ----------
    model : Module
        The model.
    *inputs : array, ShapeDtypeStruct, or pytree of them
        Positional arguments of a call of the model. Without arguments the model is not called, and
        the table has no outputs.
    **kwargs : array, ShapeDtypeStruct, or pytree of them
        Keyword arguments of the call.

    Returns
    -------
    ModelSummary
        An object with the rows and totals, which prints the table.

    Raises
    ------
    TypeError
        If `model` is not a module.
    ValueError
        If the call reads the value of an array.

    See Also
    --------
    mx.eval_shape, Module.named_modules

    Notes
    -----
    The call is traced by `mx.eval_shape`: nothing is computed, and the random state does not
    advance. Arrays that the call stores in the model, such as running averages, are removed again.

    Running averages, such as those of `BatchNorm`, are frozen parameters: gradients never change
    them.

    A module with several paths has one row, for the first of them. A tied parameter counts where it
    occurs first.

    Examples
    --------
    >>> model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))
    >>> _ = model[0].freeze()
    >>> print(nn.summary(model, mx.zeros((2, 64))))
    path      class       output           parameters  frozen  bytes
    ================================================================
    (model)   Sequential  (2, 10) float32           0       0      0
    layers.0  Linear      (2, 32) float32       2,080   2,080  8,320
    layers.1  ReLU        (2, 32) float32           0       0      0
    layers.2  Linear      (2, 10) float32         330       0  1,320
    ================================================================
    2,410 parameters: 330 trainable, 2,080 frozen; 9,640 bytes
    """
    if not isinstance(model, Module):
        raise TypeError(f"[summary] got {type(model).__name__}, expected a Module")
    modules = modules_in_order(model)
    outputs: dict[int, Any] = {}

    def record(module: Module, output: Any) -> None:
        outputs.setdefault(id(module), tree_map(_spec, output))

    if inputs or kwargs:
        with changes_undone(model), _calls_observed([module for _, module in modules], record):
            mx.eval_shape(lambda *args, **kwargs: model(*args, **kwargs), *inputs, **kwargs)
    seen: set[int] = set()
    return ModelSummary(
        [_row(path, module, outputs.get(id(module)), seen) for path, module in modules]
    )


def _row(path: str, module: Module, output: Any, seen: set[int]) -> SummaryRow:
    # A tied parameter is frozen under all its names.
    trainable = own_parameters(module, Module.trainable_parameter_filter, {*seen})
    own = own_parameters(module, Module.valid_parameter_filter, seen)
    count = sum(a.size for a in own)
    frozen = count - sum(a.size for a in trainable)
    return SummaryRow(
        path, type(module).__name__, output, count, frozen, sum(a.nbytes for a in own)
    )


@contextmanager
def _calls_observed(modules: list[Module], record: Callable[[Module, Any], None]) -> Iterator[None]:
    """Call `record(module, output)` after each call of the modules, while the context lasts."""
    known = {id(module) for module in modules}
    active: set[int] = set()

    def observed(function: Callable) -> Callable:
        @wraps(function)
        def call(self: Module, *args: Any, **kwargs: Any) -> Any:
            # A class that calls the method of its base is one call.
            if id(self) not in known or id(self) in active:
                return function(self, *args, **kwargs)
            active.add(id(self))
            try:
                output = function(self, *args, **kwargs)
            finally:
                active.discard(id(self))
            record(self, output)
            return output

        return call

    classes = {type(module) for module in modules if callable(module)}
    # All are read before the first one is replaced, since classes inherit from each other.
    functions = {each: (each.__call__, vars(each).get("__call__", _ABSENT)) for each in classes}
    try:
        for each, (function, _) in functions.items():
            each.__call__ = observed(function)  # type: ignore[method-assign]
        yield
    finally:
        for each, (_, own) in functions.items():
            if own is _ABSENT:
                del each.__call__
            else:
                each.__call__ = own  # type: ignore[method-assign]


def _spec(value: Any) -> Any:
    return mx.ShapeDtypeStruct(value.shape, value.dtype) if isinstance(value, mx.array) else value


def _shown(output: Any) -> str:
    """Shapes and dtypes of an output, as text; those of a tree separated by commas."""
    if output is None:
        return "-"
    leaves = [leaf for _, leaf in tree_flatten(output)]
    return ", ".join(
        f"{leaf.shape} {str(leaf.dtype).rpartition('.')[2]}"
        if isinstance(leaf, mx.ShapeDtypeStruct)
        else type(leaf).__name__
        for leaf in leaves
    )


def _aligned(line: list[str], widths: list[int]) -> list[str]:
    pairs = [*zip(line, widths, strict=True)]
    text, numbers = pairs[:_TEXT_COLUMNS], pairs[_TEXT_COLUMNS:]
    return [
        *(cell.ljust(width) for cell, width in text),
        *(cell.rjust(width) for cell, width in numbers),
    ]


_layout.complete(globals())
