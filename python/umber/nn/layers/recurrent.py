"""Recurrent layers: `RNN`, `LSTM`, `GRU`, with one or several layers, in one or both directions.

Parameters of the first layer have the names in the formulas. Those of layer `n` above it end in
`_ln`, those of the backward direction in `_reverse`.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, ClassVar

import umber.core as mx
from umber import _layout
from umber.nn.layers.activations import tanh
from umber.nn.layers.base import Module
from umber.nn.sequence_steps import split_steps

__all__ = ["GRU", "LSTM", "RNN"]

State = tuple[mx.array, ...]


class _Recurrent(Module):
    """Base of all recurrent layers: the loop over layers, directions and steps.

    A state is a tuple of `states` arrays, each of shape `(..., hidden_size)`.
    """

    states: ClassVar[int] = 1
    # Name of the matrix that multiplies the previous output.
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
        for suffixes in self._suffixes():
            for suffix in suffixes:
                for name, shape in self._shapes(width).items():
                    setattr(self, name + suffix, mx.random.uniform(-s, s, shape))
            width = hidden_size * len(suffixes)

    def _shapes(self, width: int) -> dict[str, tuple[int, ...]]:
        """The parameters of a layer with inputs of size `width`, in the order of drawing."""
        raise NotImplementedError

    def _project(self, x: mx.array, suffix: str) -> mx.array:
        """The contribution of the inputs, for all steps together."""
        raise NotImplementedError

    def _step(
        self, projected: mx.array, recurrent_term: mx.array, state: State, suffix: str
    ) -> State:
        """The state after one step; its first array is the output.

        `recurrent_term` is the contribution of the previous output.
        """
        raise NotImplementedError

    def _suffixes(self) -> list[list[str]]:
        """Suffixes of the parameters' names: a list per layer with an element per direction."""
        directions = ["", "_reverse"] if self.bidirectional else [""]
        layers = ["", *(f"_l{n}" for n in range(1, self.num_layers))]
        return [[layer + direction for direction in directions] for layer in layers]

    def _input_size(self) -> int:
        return getattr(self, next(iter(self._shapes(1)))).shape[-1]

    def _extra_repr(self) -> str:
        extra = f", num_layers={self.num_layers}" if self.num_layers > 1 else ""
        extra += ", bidirectional=True" if self.bidirectional else ""
        return (
            f"input_dims={self._input_size()}, hidden_size={self.hidden_size}, "
            f"{self._repr_before_bias()}bias={self._has_bias()}{extra}"
        )

    def _repr_before_bias(self) -> str:
        return ""

    def _has_bias(self) -> bool:
        return len(self._shapes(1)) > 2

    def _run(self, x: mx.array, start: tuple[mx.array | None, ...]) -> tuple[State, State]:
        """The states after all steps, along axis -2, and the states after the last step."""
        name = type(self).__name__
        if x.ndim < 2 or x.shape[-1] != self._input_size():
            raise ValueError(
                f"[{name}] got an input with the shape {x.shape}, "
                f"expected (..., L, {self._input_size()})"
            )
        suffixes = self._suffixes()
        first = self._start(x, start, count=sum(map(len, suffixes)))
        last: list[State] = []
        outputs: State = (x,)
        for layer in suffixes:
            sequences = []
            for direction, suffix in enumerate(layer):
                states, state = self._scan(
                    outputs[0], first[len(last)], suffix, backward=direction == 1
                )
                sequences.append(states)
                last.append(state)
            outputs = tuple(
                arrays[0] if len(arrays) == 1 else mx.concatenate(arrays, axis=-1)
                for arrays in zip(*sequences, strict=True)
            )
        if len(last) == 1:
            return outputs, last[0]
        return outputs, tuple(mx.stack(arrays) for arrays in zip(*last, strict=True))

    def _scan(self, x: mx.array, state: State, suffix: str, backward: bool) -> tuple[State, State]:
        """Run one layer in one direction."""
        steps = split_steps(self._project(x, suffix), axis=x.ndim - 2)
        # Transposed once, so that the gradients of all steps are summed before the transposition.
        weight = getattr(self, self.recurrent + suffix).T
        states = []
        for projected in reversed(steps) if backward else steps:
            state = self._step(projected, state[0] @ weight, state, suffix)
            states.append(state)
        if not states:
            empty = mx.zeros((*x.shape[:-1], self.hidden_size), state[0].dtype)
            shape = (*x.shape[:-2], self.hidden_size)
            return (empty,) * self.states, tuple(mx.broadcast_to(s, shape) for s in state)
        if backward:
            states.reverse()
        return tuple(mx.stack(list(arrays), axis=-2) for arrays in zip(*states, strict=True)), state

    def _start(self, x: mx.array, start: tuple[mx.array | None, ...], count: int) -> list[State]:
        """The states before the first step, for each layer and direction."""
        dtype = mx.result_type(x, getattr(self, next(iter(self._shapes(1)))))
        leading = () if count == 1 else (count,)
        batch = x.shape[:-2]
        states = []
        for initial in start:
            if initial is None:
                # One state for all sequences, broadcast to them.
                initial = mx.zeros((*leading, self.hidden_size), dtype)
            else:
                own = initial.shape
                fits = own[: len(leading)] == leading and own[-1:] == (self.hidden_size,)
                if not (fits and own[len(leading) : -1] == batch):
                    initial = self._broadcast_state(
                        initial, (*leading, *batch, self.hidden_size), count
                    )
            states.append([initial] if count == 1 else [initial[i] for i in range(count)])
        return list(zip(*states, strict=True))

    def _broadcast_state(self, state: mx.array, shape: tuple[int, ...], count: int) -> mx.array:
        """Broadcast a state shared by several sequences; the axis of layers must be present."""
        lengths = zip(reversed(state.shape), reversed(shape), strict=False)
        fits = state.ndim == len(shape) if count > 1 else state.ndim <= len(shape)
        if not fits or any(length not in (1, expected) for length, expected in lengths):
            raise ValueError(
                f"[{type(self).__name__}] got a state with the shape {state.shape}, "
                f"expected {shape}"
            )
        return mx.broadcast_to(state, shape)


class RNN(_Recurrent):
    """Elman recurrent layer: `h = nonlinearity(Wxh x + Whh h + bias)` at each step.

    Parameters
    ----------
    input_size : int
        Size of the input's last axis.
    hidden_size : int
        Size of the state.
    bias : bool, optional
        Whether to add a bias. Default: True.
    nonlinearity : callable, optional
        Function of an array. Default: `tanh`.
    num_layers : int, optional
        Number of layers; each reads the outputs of the layer below. Default: 1.
    bidirectional : bool, optional
        Whether a second set of weights reads the sequence backwards. The outputs of both directions
        are concatenated. Default: False.

    Attributes
    ----------
    Wxh : array of shape (hidden_size, input_size)
        Input matrix.
    Whh : array of shape (hidden_size, hidden_size)
        Recurrent matrix.
    bias : array of shape (hidden_size,) or None
        Bias.
    hidden_size, num_layers : int
        Sizes as given.
    bidirectional : bool
        Whether there are two directions.

    Raises
    ------
    ValueError
        If `hidden_size` or `num_layers` is less than 1, or if `nonlinearity` is not callable.

    See Also
    --------
    GRU, LSTM

    Notes
    -----
    All parameters are float32, drawn uniformly from `[-s, s)` with `s = 1/√hidden_size`. Layer
    `n` has parameters with the same names and the suffix `_ln`, such as `Wxh_l1`, and the backward
    direction those with the suffix `_reverse`.

    Elman, "Finding Structure in Time", 1990; both directions: Schuster, Paliwal, "Bidirectional
    Recurrent Neural Networks", 1997.

    Shapes: `(..., L, input_size)` → `(..., L, hidden_size)`, with both directions
    `(..., L, 2 · hidden_size)`.

    Examples
    --------
    >>> layer = nn.RNN(4, 8)
    >>> layer(mx.zeros((2, 5, 4))).shape
    (2, 5, 8)
    >>> y, h = layer(mx.zeros((2, 5, 4)), return_state=True)
    >>> h.shape
    (2, 8)
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

    def _project(self, x: mx.array, suffix: str) -> mx.array:
        return _affine(x, getattr(self, "Wxh" + suffix), dict.get(self, "bias" + suffix))

    def _step(
        self, projected: mx.array, recurrent_term: mx.array, state: State, suffix: str
    ) -> State:
        return (self.nonlinearity(projected + recurrent_term),)

    def __call__(
        self, x: mx.array, hidden: mx.array | None = None, *, return_state: bool = False
    ) -> Any:
        """Compute the states after each step.

        Parameters
        ----------
        x : array
            Sequences of shape `(..., L, input_size)`.
        hidden : array, optional
            State before the first step, of shape `(..., hidden_size)`; with several layers or
            directions `(layers · directions, ..., hidden_size)`. Axes may have length 1 to share
            the state among sequences; with one layer and direction, leading axes may be left out.
            Default: zeros.
        return_state : bool, optional
            Whether to also return the state after the last step. Default: False.

        Returns
        -------
        array or tuple of two arrays
            States of shape `(..., L, hidden_size)`, or `2 · hidden_size` with both directions. With
            `return_state` a pair of these and the last state, shaped like `hidden`.

        Raises
        ------
        ValueError
            If the shape of `x` or `hidden` does not fit.
        """
        (outputs,), (last,) = self._run(x, (hidden,))
        return (outputs, last) if return_state else outputs


class LSTM(_Recurrent):
    """Long short-term memory: a recurrent layer with a hidden state `h` and a cell state `c`.

    Parameters
    ----------
    input_size : int
        Size of the input's last axis.
    hidden_size : int
        Size of `h` and `c`.
    bias : bool, optional
        Whether to add a bias. Default: True.
    num_layers : int, optional
        Number of layers; each reads the outputs of the layer below. Default: 1.
    bidirectional : bool, optional
        Whether a second set of weights reads the sequence backwards. The outputs of both directions
        are concatenated. Default: False.

    Attributes
    ----------
    Wx : array of shape (4 · hidden_size, input_size)
        Input matrices, in the order `i`, `f`, `g`, `o`.
    Wh : array of shape (4 · hidden_size, hidden_size)
        Recurrent matrices.
    bias : array of shape (4 · hidden_size,) or None
        Bias.
    hidden_size, num_layers : int
        Sizes as given.
    bidirectional : bool
        Whether there are two directions.

    Raises
    ------
    ValueError
        If `hidden_size` or `num_layers` is less than 1.

    See Also
    --------
    GRU, RNN

    Notes
    -----
    Each step computes, with `σ` the sigmoid::

        i, f, g, o = Wx x + Wh h + bias
        c = σ(f) c + σ(i) tanh(g)
        h = σ(o) tanh(c)

    All parameters are float32, drawn uniformly from `[-s, s)` with `s = 1/√hidden_size`. Layer
    `n` has parameters with the same names and the suffix `_ln`, such as `Wx_l1`, and the backward
    direction those with the suffix `_reverse`.

    Hochreiter, Schmidhuber, "Long Short-Term Memory", 1997; forget gate: Gers, Schmidhuber,
    Cummins, "Learning to Forget", 2000.

    Shapes: `(..., L, input_size)` → two arrays of shape `(..., L, hidden_size)`, `h` and `c` after
    each step; with both directions `(..., L, 2 · hidden_size)`.

    Examples
    --------
    >>> layer = nn.LSTM(4, 8)
    >>> h, c = layer(mx.zeros((2, 5, 4)))
    >>> h.shape, c.shape
    ((2, 5, 8), (2, 5, 8))
    >>> h, c, (last_h, last_c) = layer(mx.zeros((2, 5, 4)), return_state=True)
    >>> last_h.shape
    (2, 8)
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

    def _project(self, x: mx.array, suffix: str) -> mx.array:
        return _affine(x, getattr(self, "Wx" + suffix), dict.get(self, "bias" + suffix))

    def _step(
        self, projected: mx.array, recurrent_term: mx.array, state: State, suffix: str
    ) -> State:
        _, c = state
        i, f, g, o = mx.split(projected + recurrent_term, 4, axis=-1)
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
        """Compute `h` and `c` after each step.

        Parameters
        ----------
        x : array
            Sequences of shape `(..., L, input_size)`.
        hidden : array, optional
            `h` before the first step, of shape `(..., hidden_size)`; with several layers or
            directions `(layers · directions, ..., hidden_size)`. Axes may have length 1 to share
            the state among sequences; with one layer and direction, leading axes may be left out.
            Default: zeros.
        cell : array, optional
            `c` before the first step, with shapes as for `hidden`. Default: zeros.
        return_state : bool, optional
            Whether to also return `h` and `c` after the last step. Default: False.

        Returns
        -------
        tuple of two arrays, or of two arrays and a pair
            `h` and `c` after each step, each of shape `(..., L, hidden_size)`, or `2 · hidden_size`
            with both directions. With `return_state` a pair of `h` and `c` after the last step
            follows.

        Raises
        ------
        ValueError
            If the shape of `x`, `hidden` or `cell` does not fit.
        """
        outputs, last = self._run(x, (hidden, cell))
        return (*outputs, last) if return_state else outputs


class GRU(_Recurrent):
    """Gated recurrent unit: a recurrent layer with a reset gate `r` and an update gate `z`.

    Parameters
    ----------
    input_size : int
        Size of the input's last axis.
    hidden_size : int
        Size of the state.
    bias : bool, optional
        Whether to add a bias. Default: True.
    num_layers : int, optional
        Number of layers; each reads the outputs of the layer below. Default: 1.
    bidirectional : bool, optional
        Whether a second set of weights reads the sequence backwards. The outputs of both directions
        are concatenated. Default: False.

    Attributes
    ----------
    Wx : array of shape (3 · hidden_size, input_size)
        Input matrices, in the order `r`, `z`, `n`.
    Wh : array of shape (3 · hidden_size, hidden_size)
        Recurrent matrices, in the same order.
    b : array of shape (3 · hidden_size,) or None
        Bias of the inputs, in the same order.
    bhn : array of shape (hidden_size,) or None
        Bias of the recurrent part of `n`.
    hidden_size, num_layers : int
        Sizes as given.
    bidirectional : bool
        Whether there are two directions.

    Raises
    ------
    ValueError
        If `hidden_size` or `num_layers` is less than 1.

    See Also
    --------
    LSTM, RNN

    Notes
    -----
    Each step computes, with `σ` the sigmoid and indices for the rows of each gate::

        r = σ(Wx[r] x + b[r] + Wh[r] h)
        z = σ(Wx[z] x + b[z] + Wh[z] h)
        n = tanh(Wx[n] x + b[n] + r (Wh[n] h + bhn))
        h = (1 - z) n + z h

    All parameters are float32, drawn uniformly from `[-s, s)` with `s = 1/√hidden_size`. Layer
    `n` has parameters with the same names and the suffix `_ln`, such as `Wx_l1`, and the backward
    direction those with the suffix `_reverse`.

    Cho et al., "Learning Phrase Representations using RNN Encoder-Decoder", 2014, with `r` applied
    after the matrix product.

    Shapes: `(..., L, input_size)` → `(..., L, hidden_size)`, with both directions
    `(..., L, 2 · hidden_size)`.

    Examples
    --------
    >>> layer = nn.GRU(4, 8, num_layers=2)
    >>> y, h = layer(mx.zeros((2, 5, 4)), return_state=True)
    >>> y.shape, h.shape
    ((2, 5, 8), (2, 2, 8))
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

    def _project(self, x: mx.array, suffix: str) -> mx.array:
        return _affine(x, getattr(self, "Wx" + suffix), dict.get(self, "b" + suffix))

    def _step(
        self, projected: mx.array, recurrent_term: mx.array, state: State, suffix: str
    ) -> State:
        (h,) = state
        inputs = mx.split(projected, 3, axis=-1)
        states = mx.split(recurrent_term, 3, axis=-1)
        r = mx.sigmoid(inputs[0] + states[0])
        z = mx.sigmoid(inputs[1] + states[1])
        hidden = states[2] + getattr(self, "bhn" + suffix) if self._biased else states[2]
        n = mx.tanh(inputs[2] + r * hidden)
        return ((1 - z) * n + z * h,)

    def __call__(
        self, x: mx.array, hidden: mx.array | None = None, *, return_state: bool = False
    ) -> Any:
        """Compute the states after each step.

        Parameters
        ----------
        x : array
            Sequences of shape `(..., L, input_size)`.
        hidden : array, optional
            State before the first step, of shape `(..., hidden_size)`; with several layers or
            directions `(layers · directions, ..., hidden_size)`. Axes may have length 1 to share
            the state among sequences; with one layer and direction, leading axes may be left out.
            Default: zeros.
        return_state : bool, optional
            Whether to also return the state after the last step. Default: False.

        Returns
        -------
        array or tuple of two arrays
            States of shape `(..., L, hidden_size)`, or `2 · hidden_size` with both directions. With
            `return_state` a pair of these and the last state, shaped like `hidden`.

        Raises
        ------
        ValueError
            If the shape of `x` or `hidden` does not fit.
        """
        (outputs,), (last,) = self._run(x, (hidden,))
        return (outputs, last) if return_state else outputs


def _affine(x: mx.array, weight: mx.array, bias: mx.array | None) -> mx.array:
    y = x @ weight.T
    return y if bias is None else y + bias


_layout.complete(globals())
