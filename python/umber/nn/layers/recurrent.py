"""Recurrent layers: `RNN`, `LSTM`, `GRU`, one or several on top of each other, in one or both
directions.

The weights of the first layer have the names in the formulas; those of the layer `n` above it end
in `_ln`, those of the backward direction in `_reverse`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import umber.core as mx
from umber.nn.layers.activations import tanh
from umber.nn.layers.base import Module
from umber.nn.steps import steps_of

__all__ = ["GRU", "LSTM", "RNN"]

State = tuple[mx.array, ...]


class _Recurrent(Module):
    """What all recurrent layers share: the way through the layers, directions and steps.

    A state is a tuple of as many arrays as `states` says, each `(..., hidden_size)`.
    """

    states: ClassVar[int] = 1
    # The name of the weights that meet the state before.
    recurrent: ClassVar[str] = "Wh"
    num_layers: int = 1
    bidirectional: bool = False

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int, bidirectional: bool
    ) -> None:
        super().__init__()
        for name, value in {"hidden_size": hidden_size, "num_layers": num_layers}.items():
            if value < 1:
                raise ValueError(f"[{type(self).__name__}] got {name} {value}, expected at least 1")
        self.hidden_size = hidden_size
        self.num_layers = num_layers
        self.bidirectional = bidirectional
        s = 1 / math.sqrt(hidden_size)
        width = input_size
        for ends in self._ends():
            for end in ends:
                for name, shape in self._shapes(width).items():
                    setattr(self, name + end, mx.random.uniform(-s, s, shape))
            width = hidden_size * len(ends)

    def _shapes(self, width: int) -> dict[str, tuple[int, ...]]:
        """The parameters of one layer whose inputs have that size, in the order of the draws."""
        raise NotImplementedError

    def _project(self, x: mx.array, end: str) -> mx.array:
        """What the inputs of all steps contribute."""
        raise NotImplementedError

    def _step(self, projected: mx.array, recalled: mx.array, state: State, end: str) -> State:
        """The state after a step, whose first array is the output.

        `recalled` is what the output of the step before contributes.
        """
        raise NotImplementedError

    def _ends(self) -> list[list[str]]:
        """How the parameters' names end: for each layer, for each direction."""
        directions = ["", "_reverse"] if self.bidirectional else [""]
        layers = ["", *(f"_l{n}" for n in range(1, self.num_layers))]
        return [[layer + direction for direction in directions] for layer in layers]

    def _input_size(self) -> int:
        return getattr(self, next(iter(self._shapes(1)))).shape[-1]

    def _extra_repr(self) -> str:
        more = f", num_layers={self.num_layers}" if self.num_layers > 1 else ""
        more += ", bidirectional=True" if self.bidirectional else ""
        return (
            f"input_dims={self._input_size()}, hidden_size={self.hidden_size}, "
            f"{self._repr_before_bias()}bias={self._has_bias()}{more}"
        )

    def _repr_before_bias(self) -> str:
        return ""

    def _has_bias(self) -> bool:
        return len(self._shapes(1)) > 2

    def _run(self, x: mx.array, start: tuple[mx.array | None, ...]) -> tuple[State, State]:
        """The states after all steps, along the axis -2, and those after the last."""
        name = type(self).__name__
        if x.ndim < 2 or x.shape[-1] != self._input_size():
            raise ValueError(
                f"[{name}] got an input with the shape {x.shape}, "
                f"expected (..., L, {self._input_size()})"
            )
        ends = self._ends()
        first = self._start(x, start, count=sum(map(len, ends)))
        last: list[State] = []
        outputs: State = (x,)
        for layer in ends:
            ways = []
            for direction, end in enumerate(layer):
                way, state = self._way(outputs[0], first[len(last)], end, backward=direction == 1)
                ways.append(way)
                last.append(state)
            outputs = tuple(
                parts[0] if len(parts) == 1 else mx.concatenate(parts, axis=-1)
                for parts in zip(*ways, strict=True)
            )
        if len(last) == 1:
            return outputs, last[0]
        return outputs, tuple(mx.stack(parts) for parts in zip(*last, strict=True))

    def _way(self, x: mx.array, state: State, end: str, backward: bool) -> tuple[State, State]:
        """One layer in one direction."""
        steps = steps_of(self._project(x, end), axis=x.ndim - 2)
        # Turned once: so the gradients of all steps are summed as the products leave them.
        weight = getattr(self, self.recurrent + end).T
        after = []
        for projected in reversed(steps) if backward else steps:
            state = self._step(projected, state[0] @ weight, state, end)
            after.append(state)
        if not after:
            nothing = mx.zeros((*x.shape[:-1], self.hidden_size), state[0].dtype)
            shape = (*x.shape[:-2], self.hidden_size)
            return (nothing,) * self.states, tuple(mx.broadcast_to(s, shape) for s in state)
        if backward:
            after.reverse()
        return tuple(mx.stack(list(parts), axis=-2) for parts in zip(*after, strict=True)), state

    def _start(self, x: mx.array, start: tuple[mx.array | None, ...], count: int) -> list[State]:
        """The states before the first step, of each layer and direction."""
        dtype = mx.result_type(x, getattr(self, next(iter(self._shapes(1)))))
        leading = () if count == 1 else (count,)
        batch = x.shape[:-2]
        states = []
        for given in start:
            if given is None:
                # One for all sequences: it is broadcast to them.
                given = mx.zeros((*leading, self.hidden_size), dtype)
            else:
                own = given.shape
                fits = own[: len(leading)] == leading and own[-1:] == (self.hidden_size,)
                if not (fits and own[len(leading) : -1] == batch):
                    given = self._spread(given, (*leading, *batch, self.hidden_size), count)
            states.append([given] if count == 1 else [given[i] for i in range(count)])
        return list(zip(*states, strict=True))

    def _spread(self, state: mx.array, shape: tuple[int, ...], count: int) -> mx.array:
        """A state that several sequences begin with; the axis of layers must not be left out."""
        lengths = zip(reversed(state.shape), reversed(shape), strict=False)
        fits = state.ndim == len(shape) if count > 1 else state.ndim <= len(shape)
        if not fits or any(length not in (1, whole) for length, whole in lengths):
            raise ValueError(
                f"[{type(self).__name__}] got a state with the shape {state.shape}, "
                f"expected {shape}"
            )
        return mx.broadcast_to(state, shape)


class RNN(_Recurrent):
    """`h = nonlinearity(Wxh x + Whh h + bias)`, step by step.

    Elman, "Finding Structure in Time", 1990. All parameters are float32, drawn uniformly from
    `[-s, s)` with `s = 1/√hidden_size`.

    Shapes: `(..., L, input_size)` → `(..., L, hidden_size)`, with both directions
    `(..., L, 2 · hidden_size)`.

    Args:
        input_size: size of the input's last axis.
        hidden_size: size of the state.
        bias: whether there is a `bias`. Default: `True`.
        nonlinearity: Default: `tanh`.
        num_layers: how many layers, each of which reads the one below. Default: 1.
        bidirectional: whether a second set of weights reads the sequence backwards; what both give
            is joined (Schuster, Paliwal, "Bidirectional Recurrent Neural Networks", 1997).
            Default: `False`.
    """

    recurrent = "Whh"

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        nonlinearity: Callable[[mx.array], mx.array] | None = None,
        *,
        num_layers: int = 1,
        bidirectional: bool = False,
    ) -> None:
        nonlinearity = nonlinearity or tanh
        if not callable(nonlinearity):
            raise ValueError(f"[RNN] got the nonlinearity {nonlinearity!r}, expected a function")
        self._biased = bias
        super().__init__(input_size, hidden_size, num_layers, bidirectional)
        self.nonlinearity = nonlinearity
        if not bias:
            self.bias = None

    def _shapes(self, width: int) -> dict[str, tuple[int, ...]]:
        h = self.hidden_size
        bias = {"bias": (h,)} if self._biased else {}
        return {"Wxh": (h, width), "Whh": (h, h), **bias}

    def _repr_before_bias(self) -> str:
        return f"nonlinearity={self.nonlinearity}, "

    def _project(self, x: mx.array, end: str) -> mx.array:
        return _affine(x, getattr(self, "Wxh" + end), dict.get(self, "bias" + end))

    def _step(self, projected: mx.array, recalled: mx.array, state: State, end: str) -> State:
        return (self.nonlinearity(projected + recalled),)

    def __call__(
        self, x: mx.array, hidden: mx.array | None = None, *, return_state: bool = False
    ) -> Any:
        """The states after each step.

        Args:
            x: `(..., L, input_size)`.
            hidden: the state before the first step, `(..., hidden_size)`; of several layers or
                directions `(layers · directions, ..., hidden_size)`. It may have axes of length 1
                and, without that of the layers, fewer axes. Default: zeros.
            return_state: whether the result is a pair with the state after the last step, in the
                form of `hidden`. Default: `False`.
        """
        (outputs,), (last,) = self._run(x, (hidden,))
        return (outputs, last) if return_state else outputs


class LSTM(_Recurrent):
    """`i, f, g, o = Wx x + Wh h + bias`, `c = σ(f) c + σ(i) tanh(g)`, `h = σ(o) tanh(c)`.

    Hochreiter, Schmidhuber, "Long Short-Term Memory", 1997, with the forget gate of Gers,
    Schmidhuber, Cummins, "Learning to Forget", 2000. All parameters are float32, drawn uniformly
    from `[-s, s)` with `s = 1/√hidden_size`.

    Shapes: `(..., L, input_size)` → two of `(..., L, hidden_size)`: `h` and `c` after each step;
    with both directions `(..., L, 2 · hidden_size)`.

    Args:
        input_size: size of the input's last axis.
        hidden_size: size of `h` and `c`.
        bias: whether there is a `bias`. Default: `True`.
        num_layers: as for `RNN`. Default: 1.
        bidirectional: as for `RNN`. Default: `False`.
    """

    states = 2

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        *,
        num_layers: int = 1,
        bidirectional: bool = False,
    ) -> None:
        self._biased = bias
        super().__init__(input_size, hidden_size, num_layers, bidirectional)
        if not bias:
            self.bias = None

    def _shapes(self, width: int) -> dict[str, tuple[int, ...]]:
        h = self.hidden_size
        bias = {"bias": (4 * h,)} if self._biased else {}
        return {"Wx": (4 * h, width), "Wh": (4 * h, h), **bias}

    def _project(self, x: mx.array, end: str) -> mx.array:
        return _affine(x, getattr(self, "Wx" + end), dict.get(self, "bias" + end))

    def _step(self, projected: mx.array, recalled: mx.array, state: State, end: str) -> State:
        _, c = state
        i, f, g, o = mx.split(projected + recalled, 4, axis=-1)
        c = mx.sigmoid(f) * c + mx.sigmoid(i) * mx.tanh(g)
        return mx.sigmoid(o) * mx.tanh(c), c

    def __call__(
        self,
        x: mx.array,
        hidden: mx.array | None = None,
        cell: mx.array | None = None,
        *,
        return_state: bool = False,
    ) -> Any:
        """`h` and `c` after each step.

        Args:
            x: `(..., L, input_size)`.
            hidden: `h` before the first step, as for `RNN`. Default: zeros.
            cell: `c` before the first step, as for `RNN`. Default: zeros.
            return_state: whether a pair `(h, c)` after the last step follows. Default: `False`.
        """
        outputs, last = self._run(x, (hidden, cell))
        return (*outputs, last) if return_state else outputs


class GRU(_Recurrent):
    """`r, z = σ(Wx x + b + Wh h)`, `n = tanh(Wx x + b + r (Wh h + bhn))`, `h = (1 - z) n + z h`.

    Cho et al., "Learning Phrase Representations using RNN Encoder-Decoder", 2014, with `r` after
    the product. The rows of `Wx`, `Wh` and `b` are those of `r`, `z` and `n`. All parameters are
    float32, drawn uniformly from `[-s, s)` with `s = 1/√hidden_size`.

    Shapes: `(..., L, input_size)` → `(..., L, hidden_size)`, with both directions
    `(..., L, 2 · hidden_size)`.

    Args:
        input_size: size of the input's last axis.
        hidden_size: size of the state.
        bias: whether there are `b` and `bhn`. Default: `True`.
        num_layers: as for `RNN`. Default: 1.
        bidirectional: as for `RNN`. Default: `False`.
    """

    def __init__(
        self,
        input_size: int,
        hidden_size: int,
        bias: bool = True,
        *,
        num_layers: int = 1,
        bidirectional: bool = False,
    ) -> None:
        self._biased = bias
        super().__init__(input_size, hidden_size, num_layers, bidirectional)
        if not bias:
            self.b = self.bhn = None

    def _shapes(self, width: int) -> dict[str, tuple[int, ...]]:
        h = self.hidden_size
        bias = {"b": (3 * h,), "bhn": (h,)} if self._biased else {}
        return {"Wx": (3 * h, width), "Wh": (3 * h, h), **bias}

    def _project(self, x: mx.array, end: str) -> mx.array:
        return _affine(x, getattr(self, "Wx" + end), dict.get(self, "b" + end))

    def _step(self, projected: mx.array, recalled: mx.array, state: State, end: str) -> State:
        (h,) = state
        inputs = mx.split(projected, 3, axis=-1)
        states = mx.split(recalled, 3, axis=-1)
        r = mx.sigmoid(inputs[0] + states[0])
        z = mx.sigmoid(inputs[1] + states[1])
        remembered = states[2] + getattr(self, "bhn" + end) if self._biased else states[2]
        n = mx.tanh(inputs[2] + r * remembered)
        return ((1 - z) * n + z * h,)

    def __call__(
        self, x: mx.array, hidden: mx.array | None = None, *, return_state: bool = False
    ) -> Any:
        """The states after each step; the arguments are those of `RNN`."""
        (outputs,), (last,) = self._run(x, (hidden,))
        return (outputs, last) if return_state else outputs


def _affine(x: mx.array, weight: mx.array, bias: mx.array | None) -> mx.array:
    y = x @ weight.T
    return y if bias is None else y + bias
