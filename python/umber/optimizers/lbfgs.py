"""L-BFGS: a quasi-Newton method for losses without noise."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import umber.core as mx
from umber import _layout
from umber.nn import Module
from umber.nn.utils import value_and_grad
from umber.optimizers.line_search import Trial, strong_wolfe
from umber.optimizers.reprs import Described, number_of
from umber.optimizers.trees import assigned
from umber.utils import tree_flatten, tree_map

_CONVERGED = "the gradient is at most tolerance_grad"
_UNCHANGED = "the loss changed by less than tolerance_change"
_LIMIT = "reached max_iter iterations"
_NO_STEP = "the line search found no lower loss"
_STALLED = "rounding errors prevent further progress"
_NOT_FINITE = "the loss or its gradient is not finite at the start"

# Number of iterations in which neither loss nor gradient becomes smaller that end the minimisation.
_PATIENCE = 10


@dataclass(frozen=True)
class MinimizeInfo:
    """How a minimisation ended, with the names of SciPy's `OptimizeResult`.

    Parameters
    ----------
    fun : float
        The loss at the returned parameters.
    jac : tree of array
        Its gradient.
    nit : int
        Number of iterations.
    nfev : int
        Number of evaluations of the loss and its gradient.
    success : bool
        Whether one of the tolerances was reached.
    message : str
        Why the iteration ended.

    See Also
    --------
    LBFGS.minimize, LBFGS.update_with

    Examples
    --------
    >>> x, info = optim.LBFGS().minimize(lambda x: mx.square(x - 3).sum(), mx.zeros(2))
    >>> info.success, info.message
    (True, 'the gradient is at most tolerance_grad')
    """

    fun: float
    jac: Any
    nit: int
    nfev: int
    success: bool
    message: str


class LBFGS(Described):
    """L-BFGS with a line search for the strong Wolfe conditions.

    Use it for a loss without noise: that of all data, without dropout. It then needs far fewer
    evaluations than first-order methods, and has no learning rate.

    Parameters
    ----------
    max_iter : int, optional
        Maximum number of iterations of one call. Default: 500.
    tolerance_grad : float, optional
        End when no component of the gradient is larger. Default: 1e-7.
    tolerance_change : float, optional
        End when an iteration changes the loss by less than this part of it. Default: 1e-9.
    history_size : int, optional
        Number of changes of parameters and gradients to remember, at least 1. Default: 10.
    max_linesearch_steps : int, optional
        Maximum number of evaluations in one line search, at least 1. Default: 25.

    Attributes
    ----------
    state : dict
        ``"step"``, the number of iterations so far, and the history: lists ``"s"`` of changes of
        the parameters, ``"y"`` of changes of the gradient, and ``"rho"`` of ``1 / (s @ y)``.

    Raises
    ------
    ValueError
        If a tolerance is negative or another argument is less than 1.

    See Also
    --------
    MinimizeInfo, Adam

    Notes
    -----
    An iteration [1]_ moves the parameters along ``-H @ g``, where `g` is the gradient and `H` the
    approximation of the inverse Hessian from the history. The line search evaluates loss and
    gradient at one or more step lengths, so an iteration cannot be compiled; the loss function can.

    All parameters count as one vector, of float64 if one of them is of that dtype, else of float32.
    Float16 and bfloat16 parameters are rounded for each evaluation. Parameters of integers and
    bools are never changed.

    A loss is flat at its minimum, so a change of the loss by ``tolerance_change`` of it leaves a
    relative error of the parameters of about its square root. For all digits of float64 set
    ``tolerance_change=0`` and a `tolerance_grad` in the units of the loss.

    A trial whose loss or gradient is infinite or NaN counts as too long a step. To go on until
    rounding errors prevent progress, set both tolerances to 0; the iteration then ends with
    ``success=False``.

    References
    ----------
    .. [1] Nocedal, Wright, "Numerical Optimization", 2006, sections 7.2 and 3.5.

    Examples
    --------
    >>> def rosenbrock(x):
    ...     return 100 * mx.square(x[1] - x[0] ** 2) + mx.square(1 - x[0])
    >>> x, info = optim.LBFGS().minimize(rosenbrock, mx.array([-1.2, 1.0]))
    >>> mx.allclose(x, mx.ones(2), atol=1e-3)
    array(True, dtype=bool)
    """

    def __init__(
        self,
        max_iter: int = 500,
        tolerance_grad: float = 1e-7,
        tolerance_change: float = 1e-9,
        history_size: int = 10,
        max_linesearch_steps: int = 25,
    ) -> None:
        counts = {
            "max_iter": max_iter,
            "history_size": history_size,
            "max_linesearch_steps": max_linesearch_steps,
        }
        for name, count in counts.items():
            if count < 1:
                raise ValueError(f"[LBFGS] got {name} {count}, expected at least 1")
        tolerances = {"tolerance_grad": tolerance_grad, "tolerance_change": tolerance_change}
        for name, tolerance in tolerances.items():
            if not tolerance >= 0:
                raise ValueError(f"[LBFGS] got {name} {tolerance}, expected at least 0")
        self.max_iter = max_iter
        self.tolerance_grad = tolerance_grad
        self.tolerance_change = tolerance_change
        self.history_size = history_size
        self.max_linesearch_steps = max_linesearch_steps
        self._state = _new_state()

    def minimize(
        self, fn: Callable[..., Any], parameters: Any, *args: Any, **kwargs: Any
    ) -> tuple[Any, MinimizeInfo]:
        """Minimise a function of a tree of parameters.

        Parameters
        ----------
        fn : callable
            Called as ``fn(parameters, *args, **kwargs)``. It returns the loss, a scalar array, or a
            tuple that begins with it.
        parameters : tree of array
            Where to start: a tree of parameters, or one array. NumPy's arrays and scalars count as
            arrays of their dtypes.
        *args, **kwargs : Any
            Further arguments of `fn`, such as the data.

        Returns
        -------
        parameters : tree of array
            The parameters with the lowest loss, in the structure of `parameters`, as arrays of
            umber.
        info : MinimizeInfo
            Loss, gradient, number of iterations, and why they ended.

        Raises
        ------
        TypeError
            If `parameters` is a model or holds a Python number, no parameter is of a floating
            dtype, or one is complex.

        See Also
        --------
        update_with

        Notes
        -----
        The history of earlier calls is dropped.

        Examples
        --------
        >>> start = {"slope": mx.array(0.0), "offset": mx.array(0.0)}
        >>> x, y = mx.arange(5.0), 2 * mx.arange(5.0) + 1
        >>> def loss(p, x, y):
        ...     return mx.square(p["slope"] * x + p["offset"] - y).mean()
        >>> best, info = optim.LBFGS().minimize(loss, start, x, y)
        >>> round(best["slope"].item(), 3), round(best["offset"].item(), 3)
        (2.0, 1.0)
        """
        if isinstance(parameters, Module):
            raise TypeError(
                f"[LBFGS] parameters: got the model {type(parameters).__name__}, expected a tree "
                "of arrays; for models use update_with"
            )
        loss_and_grad = mx.value_and_grad(fn)
        return self._run(
            lambda point: loss_and_grad(point, *args, **kwargs),
            _as_arrays(parameters),
            _new_state(),
        )

    def update_with(
        self, model: Module, loss_fn: Callable[..., Any], *args: Any, **kwargs: Any
    ) -> MinimizeInfo:
        """Minimise a loss over the trainable parameters of a model, in place.

        Parameters
        ----------
        model : Module
            The model.
        loss_fn : callable
            Called as ``loss_fn(*args, **kwargs)``, calls `model`, and returns the loss, as for
            `nn.value_and_grad`.
        *args, **kwargs : Any
            Arguments of `loss_fn`, such as the data.

        Returns
        -------
        MinimizeInfo
            Loss, gradient, number of iterations, and why they ended.

        Raises
        ------
        TypeError
            If no trainable parameter is of a floating dtype, or one is complex.

        See Also
        --------
        minimize, nn.value_and_grad

        Notes
        -----
        The history of earlier calls is used. A call runs up to `max_iter` iterations: to look at
        the model between them, set a small number and call it in a loop. If a call raises, model
        and state are as before.

        Examples
        --------
        >>> model = nn.Linear(1, 1)
        >>> x = mx.arange(5.0)[:, None]
        >>> def loss_fn(x, y):
        ...     return nn.losses.mse_loss(model(x), y)
        >>> info = optim.LBFGS().update_with(model, loss_fn, x, 2 * x + 1)
        >>> round(model.weight.item(), 3), round(model.bias.item(), 3)
        (2.0, 1.0)
        """
        loss_and_grad = value_and_grad(model, loss_fn)
        start = model.trainable_parameters()

        def evaluate(parameters: Any) -> tuple[Any, Any]:
            model.update(parameters)
            return loss_and_grad(*args, **kwargs)

        try:
            parameters, info = self._run(evaluate, start, self._state)
        except BaseException:
            model.update(start)
            raise
        model.update(parameters)
        return info

    @property
    def state(self) -> dict[str, Any]:
        """The number of iterations and the history; a saved state may be assigned."""
        return self._state

    @state.setter
    def state(self, state: dict[str, Any]) -> None:
        if not isinstance(state, dict) or "step" not in state:
            got = "a dict without it" if isinstance(state, dict) else type(state).__name__
            raise TypeError(f"[LBFGS] state: got {got}, expected a dict with the entry 'step'")
        self._state = assigned(self._state, state)

    @property
    def step(self) -> mx.array:
        """Number of iterations so far, a uint64 scalar."""
        return self._state["step"]

    def _repr_options(self) -> dict[str, str]:
        """The options and the number of steps."""
        return super()._repr_options() | {"step": number_of(self.step)}

    def _run(
        self, loss_and_grad: Callable[[Any], tuple[Any, Any]], parameters: Any, state: dict
    ) -> tuple[Any, MinimizeInfo]:
        """Iterate from `parameters` with the history of a state; sets the state."""
        flat = _Flat(parameters)
        history = _History(state, self.history_size, flat.size)
        objective = _Objective(loss_and_grad, flat)
        current = objective.start(flat.pack(parameters))
        iterations, message = 0, "" if current.is_finite() else _NOT_FINITE
        stalled, smallest = 0, math.inf
        while not message:
            size = _max_abs(current.point.gradient)
            stalled, smallest = 0 if size < smallest else stalled, min(size, smallest)
            if size <= self.tolerance_grad:
                message = _CONVERGED
            elif stalled == _PATIENCE:
                message = _STALLED
            elif iterations == self.max_iter:
                message = _LIMIT
            else:
                new = self._step(objective, current, history)
                if new is None:
                    message = _NO_STEP
                    break
                iterations += 1
                change = abs(new.value - current.value)
                stalled = stalled + 1 if change <= objective.noise(current.value) else 0
                if change < self.tolerance_change * max(abs(new.value), abs(current.value)):
                    message = _UNCHANGED
                current = new
        success = message in (_CONVERGED, _UNCHANGED)
        step = state["step"] + iterations
        mx.eval(step, history.entries)
        self._state.update({"step": step, **history.entries})
        gradient = flat.unpack(current.point.gradient)
        info = MinimizeInfo(
            current.value, gradient, iterations, objective.evaluations, success, message
        )
        return flat.unpack(current.point.x), info

    def _step(self, objective: _Objective, current: Trial, history: _History) -> Trial | None:
        """The end of a line search from `current`; adds to the history."""
        start = current.point
        direction = history.direction(start.gradient)
        slope = _dot(direction, start.gradient).item()
        if not slope < 0:
            history.clear()
            direction = -start.gradient
            slope = _dot(direction, start.gradient).item()
        # Without a history the length of the gradient says nothing about that of the step.
        step = 1.0 if history.entries["s"] else min(1.0, (-slope) ** -0.5)
        new = strong_wolfe(
            lambda length: objective.along(start.x, direction, length),
            current._replace(step=0.0, slope=slope),
            step,
            objective.noise(current.value),
            self.max_linesearch_steps,
        )
        if new is None:
            if not history.entries["s"]:
                return None
            # The history may be of another loss: try the gradient alone.
            history.clear()
            return self._step(objective, current, history)
        history.add(new.point.x - start.x, new.point.gradient - start.gradient)
        return new


class _Point(NamedTuple):
    """A vector of parameters, and the gradient there."""

    x: mx.array
    gradient: mx.array


class _Objective:
    """The loss as a function of a vector, which counts its evaluations."""

    def __init__(self, loss_and_grad: Callable[[Any], tuple[Any, Any]], flat: _Flat) -> None:
        self._loss_and_grad = loss_and_grad
        self._flat = flat
        self._eps = 0.0
        self.evaluations = 0

    def start(self, x: mx.array) -> Trial:
        """The trial at a vector, with the sum of the sizes of the gradient as the slope."""
        return self._trial(x, 0.0, lambda gradient: mx.abs(gradient.astype(mx.float64)).sum())

    def along(self, x: mx.array, direction: mx.array, length: float) -> Trial:
        """The trial at a step from a vector."""
        point = x + length * direction
        return self._trial(point, length, lambda gradient: _dot(gradient, direction))

    def noise(self, value: float) -> float:
        """The rounding error of a value."""
        return 4 * self._eps * abs(value)

    def _trial(self, x: mx.array, length: float, slope_of: Callable[[mx.array], mx.array]) -> Trial:
        self.evaluations += 1
        result, gradients = self._loss_and_grad(self._flat.unpack(x))
        value = result[0] if isinstance(result, (tuple, list)) else result
        gradient = self._flat.pack(gradients)
        slope = slope_of(gradient)
        mx.eval(x, value, gradient, slope)
        self._eps = mx.finfo(value.dtype).eps
        return Trial(length, value.item(), slope.item(), _Point(x, gradient))


class _History:
    """The last changes of parameters and gradient, which approximate the inverse Hessian."""

    def __init__(self, state: dict, size: int, length: int) -> None:
        self.entries: dict[str, list[mx.array]] = {
            name: [*state.get(name, ())] for name in ("s", "y", "rho")
        }
        self._size = size
        for name in ("s", "y"):
            for vector in self.entries[name]:
                if vector.shape != (length,):
                    raise ValueError(
                        f"[LBFGS] state: got {name} of shape {vector.shape}, expected ({length},): "
                        "one number for each of the parameters"
                    )

    def clear(self) -> None:
        """Forget all changes."""
        for entries in self.entries.values():
            entries.clear()

    def add(self, s: mx.array, y: mx.array) -> None:
        """Add a change of the parameters and of the gradient, unless its curvature is too small."""
        curvature = _dot(s, y)
        lengths = math.sqrt(_dot(s, s).item()) * math.sqrt(_dot(y, y).item())
        # Relative to both lengths, so that the scale of the loss does not matter.
        if not curvature.item() > mx.finfo(s.dtype).eps * lengths:
            return
        for name, entry in {"s": s, "y": y, "rho": 1 / curvature}.items():
            entries = self.entries[name]
            entries.append(entry)
            del entries[: -self._size]

    def direction(self, gradient: mx.array) -> mx.array:
        """``-H @ gradient``, by the two loops of Nocedal, Wright, algorithm 7.4."""
        changes = [*zip(*self.entries.values(), strict=True)]
        q = -gradient
        weights = []
        for s, y, rho in reversed(changes):
            weights.append(rho * _dot(s, q))
            q = q - weights[-1].astype(q.dtype) * y
        if changes:
            _, y, rho = changes[-1]
            q = q * (1 / (rho * _dot(y, y))).astype(q.dtype)
        for (s, y, rho), weight in zip(changes, reversed(weights), strict=True):
            q = q + (weight - rho * _dot(y, q)).astype(q.dtype) * s
        return q


class _Flat:
    """The floating leaves of a tree as one vector, and back."""

    def __init__(self, tree: Any) -> None:
        self._tree = tree
        leaves = [(path, leaf) for path, leaf in tree_flatten(tree) if _is_inexact(leaf)]
        for path, leaf in leaves:
            if mx.issubdtype(leaf.dtype, mx.complexfloating):
                raise TypeError(
                    f"[LBFGS] the parameter{f' {path}' if path else ''} is of {leaf.dtype}, "
                    "expected a real dtype: pass its real and imaginary parts"
                )
        if not leaves:
            raise TypeError("[LBFGS] got no parameter of a floating dtype, expected at least one")
        is_double = any(leaf.dtype == mx.float64 for _, leaf in leaves)
        self._dtype = mx.float64 if is_double else mx.float32
        self.size = sum(leaf.size for _, leaf in leaves)

    def pack(self, tree: Any) -> mx.array:
        """The vector of a tree with the same places."""
        parts: list[mx.array] = []

        def collect(own: Any, leaf: Any) -> None:
            if _is_inexact(own):
                parts.append(leaf.reshape(-1).astype(self._dtype))

        tree_map(collect, self._tree, tree)
        return mx.concatenate(parts)

    def unpack(self, vector: mx.array) -> Any:
        """The tree of a vector; other leaves are those of the tree given first."""
        start = 0

        def part(own: Any) -> Any:
            nonlocal start
            if not _is_inexact(own):
                return own
            begin, start = start, start + own.size
            return vector[begin:start].reshape(own.shape).astype(own.dtype)

        return tree_map(part, self._tree)


def _new_state() -> dict[str, Any]:
    return {"step": mx.array(0, mx.uint64), "s": [], "y": [], "rho": []}


def _as_arrays(tree: Any) -> Any:
    """The tree with NumPy's arrays and scalars as arrays of umber."""
    for path, leaf in tree_flatten(tree):
        # NumPy's double precision scalars are floats too, but have a dtype.
        if isinstance(leaf, (int, float, complex)) and not hasattr(leaf, "dtype"):
            raise TypeError(
                f"[LBFGS] parameters: got the {type(leaf).__name__} {leaf}"
                f"{f' at {path}' if path else ''}, expected an array: "
                f"mx.array({leaf}), or mx.array({leaf}, mx.float64) for double precision"
            )

    def as_array(leaf: Any) -> Any:
        is_foreign = not isinstance(leaf, mx.array) and hasattr(leaf, "__array__")
        return mx.array(leaf, leaf.dtype) if is_foreign and hasattr(leaf, "dtype") else leaf

    return tree_map(as_array, tree)


def _is_inexact(leaf: Any) -> bool:
    return isinstance(leaf, mx.array) and mx.issubdtype(leaf.dtype, mx.inexact)


def _max_abs(x: mx.array) -> float:
    return mx.abs(x).max().item() if x.size else 0.0


def _dot(x: mx.array, y: mx.array) -> mx.array:
    """The scalar product in float64, where products of float32 do not underflow."""
    return (x.astype(mx.float64) * y.astype(mx.float64)).sum()


_layout.complete(globals())
