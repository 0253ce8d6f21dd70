"""Learning rate schedules: functions of the step, a number or an array that counts from 0."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import Literal

import umber.core as mx
from umber import _layout

Schedule = Callable[[mx.array], mx.array]

# In place of the length of a phase without steps.
_TINY = 1e-9


class _Call(partial[mx.array]):
    """A rule of this module with its arguments, a schedule that can be pickled.

    Its repr is the call of the public function, whose name is that of the rule without underscore.
    """

    def __repr__(self) -> str:
        arguments = ", ".join(f"{name}={value!r}" for name, value in self.keywords.items())
        return f"{self.func.__name__.lstrip('_')}({arguments})"


def exponential_decay(init: float, decay_rate: float) -> Schedule:
    """Exponential decay: ``init * decay_rate**step``.

    Parameters
    ----------
    init : float
        Initial learning rate.
    decay_rate : float
        Factor of each step.

    Returns
    -------
    callable
        Schedule: ``schedule(step)`` returns the learning rate of a step, a number or an array,
        counted from 0.

    See Also
    --------
    step_decay

    Examples
    --------
    >>> schedule = optim.exponential_decay(0.1, 0.5)
    >>> schedule(2)
    0.025
    """
    return _Call(_exponential_decay, init=init, decay_rate=decay_rate)


def _exponential_decay(step: mx.array, init: float, decay_rate: float) -> mx.array:
    return init * decay_rate**step


def step_decay(init: float, decay_rate: float, step_size: float) -> Schedule:
    """Decay at every `step_size` steps: ``init * decay_rate**(step // step_size)``.

    Parameters
    ----------
    init : float
        Initial learning rate.
    decay_rate : float
        Factor of each decay.
    step_size : int
        Number of steps between decays, at least 1.

    Returns
    -------
    callable
        Schedule: ``schedule(step)`` returns the learning rate of a step, a number or an array,
        counted from 0.

    Raises
    ------
    ValueError
        If `step_size` is less than 1.

    See Also
    --------
    exponential_decay

    Examples
    --------
    >>> schedule = optim.step_decay(0.1, 0.5, step_size=10)
    >>> schedule(9), schedule(10)
    (0.1, 0.05)
    """
    if step_size < 1:
        raise ValueError(f"[step_decay] got the step size {step_size}, expected at least 1")
    return _Call(_step_decay, init=init, decay_rate=decay_rate, step_size=step_size)


def _step_decay(step: mx.array, init: float, decay_rate: float, step_size: float) -> mx.array:
    return init * decay_rate ** (step // step_size)


def cosine_decay(init: float, decay_steps: float, end: float = 0.0) -> Schedule:
    """Decay from `init` to `end` along half a cosine, then constant.

    Parameters
    ----------
    init : float
        Initial learning rate.
    decay_steps : int
        Number of steps of the decay, at least 1.
    end : float, optional
        Final learning rate. Default: 0.0.

    Returns
    -------
    callable
        Schedule: ``schedule(step)`` returns the learning rate of a step, a number or an array,
        counted from 0.

    Raises
    ------
    ValueError
        If `decay_steps` is less than 1.

    See Also
    --------
    linear_schedule, join_schedules

    Notes
    -----
    With ``s = min(step, decay_steps)`` the rate [1]_ is
    ``end + (init - end) * (1 + cos(pi * s / decay_steps)) / 2``.

    References
    ----------
    .. [1] Loshchilov, Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts", 2017.

    Examples
    --------
    >>> schedule = optim.cosine_decay(0.1, decay_steps=100)
    >>> schedule(50)
    array(0.05, dtype=float32)
    """
    if decay_steps < 1:
        raise ValueError(f"[cosine_decay] got {decay_steps} steps, expected at least 1")
    return _Call(_cosine_decay, init=init, decay_steps=decay_steps, end=end)


def _cosine_decay(step: mx.array, init: float, decay_steps: float, end: float) -> mx.array:
    s = mx.minimum(step, decay_steps)
    return end + 0.5 * (init - end) * (1 + mx.cos(math.pi / decay_steps * s))


def linear_schedule(init: float, end: float, steps: float) -> Schedule:
    """Linear change from `init` to `end`, then constant.

    Parameters
    ----------
    init : float
        Initial learning rate.
    end : float
        Final learning rate.
    steps : int
        Number of steps of the change, at least 1.

    Returns
    -------
    callable
        Schedule: ``schedule(step)`` returns the learning rate of a step, a number or an array,
        counted from 0.

    Raises
    ------
    ValueError
        If `steps` is less than 1.

    See Also
    --------
    cosine_decay, join_schedules

    Examples
    --------
    >>> warmup = optim.linear_schedule(0.0, 0.5, steps=100)
    >>> warmup(50), warmup(200)
    (array(0.25, dtype=float32), array(0.5, dtype=float32))
    """
    if steps < 1:
        raise ValueError(f"[linear_schedule] got {steps} steps, expected at least 1")
    return _Call(_linear_schedule, init=init, end=end, steps=steps)


def _linear_schedule(step: mx.array, init: float, end: float, steps: float) -> mx.array:
    return init + (end - init) / steps * mx.minimum(step, steps)


def one_cycle(
    max_lr: float,
    total_steps: int,
    pct_start: float = 0.3,
    anneal_strategy: Literal["cos", "linear"] = "cos",
    div_factor: float = 25.0,
    final_div_factor: float = 1e4,
    three_phase: bool = False,
) -> Schedule:
    """One rise to a maximum and a longer fall to almost zero, then constant.

    Parameters
    ----------
    max_lr : float
        Maximum learning rate.
    total_steps : int
        Number of steps of the cycle, at least 1.
    pct_start : float, optional
        Part of the steps in which the rate rises, from 0 to 1. Default: 0.3.
    anneal_strategy : {"cos", "linear"}, optional
        Whether the rate changes along half a cosine or a line. Default: "cos".
    div_factor : float, optional
        The initial rate is ``max_lr / div_factor``. Default: 25.
    final_div_factor : float, optional
        The final rate is the initial one divided by this. Default: 1e4.
    three_phase : bool, optional
        Whether the rate first falls to the initial one, in as many steps as it rose, and then to
        the final one. Default: False.

    Returns
    -------
    callable
        Schedule: ``schedule(step)`` returns the learning rate of a step, a number or an array,
        counted from 0.

    Raises
    ------
    ValueError
        If `total_steps` is less than 1, `pct_start` is not between 0 and 1 or, with `three_phase`,
        above 0.5, a factor is not above 0, or `anneal_strategy` is unknown.

    See Also
    --------
    cyclic, cosine_decay, join_schedules

    Notes
    -----
    The rates are those of PyTorch's `OneCycleLR` [1]_: the maximum is at the step ``pct_start *
    total_steps - 1``, the final rate at ``total_steps - 1``.

    References
    ----------
    .. [1] Smith, Topin, "Super-Convergence: Very Fast Training of Neural Networks Using Large
       Learning Rates", 2018.

    Examples
    --------
    >>> schedule = optim.one_cycle(0.5, total_steps=100)
    >>> schedule(0), schedule(29)
    (array(0.02, dtype=float32), array(0.5, dtype=float32))
    """
    most = 0.5 if three_phase else 1
    if total_steps < 1:
        raise ValueError(f"[one_cycle] got total_steps {total_steps}, expected at least 1")
    if not 0 <= pct_start <= most:
        raise ValueError(f"[one_cycle] got pct_start {pct_start}, expected from 0 to {most}")
    if not (div_factor > 0 and final_div_factor > 0):
        raise ValueError(
            f"[one_cycle] got div_factor {div_factor} and final_div_factor {final_div_factor}, "
            "expected numbers above 0"
        )
    if anneal_strategy not in ("cos", "linear"):
        raise ValueError(
            f"[one_cycle] got anneal_strategy {anneal_strategy!r}, expected 'cos' or 'linear'"
        )
    return _Call(
        _one_cycle,
        max_lr=max_lr,
        total_steps=total_steps,
        pct_start=pct_start,
        anneal_strategy=anneal_strategy,
        div_factor=div_factor,
        final_div_factor=final_div_factor,
        three_phase=three_phase,
    )


def _one_cycle(
    step: mx.array,
    max_lr: float,
    total_steps: int,
    pct_start: float,
    anneal_strategy: str,
    div_factor: float,
    final_div_factor: float,
    three_phase: bool,
) -> mx.array:
    initial = max_lr / div_factor
    top, last = pct_start * total_steps - 1, total_steps - 1
    points = [(0.0, initial), (top, max_lr), (last, initial / final_div_factor)]
    if three_phase:
        points.insert(2, (2 * top, initial))
    rate = mx.array(initial)
    s = mx.minimum(step, last)
    for (start, before), (end, after) in itertools.pairwise(points):
        # A phase may have no steps.
        fraction = mx.clip((s - start) / max(end - start, _TINY), 0, 1)
        if anneal_strategy == "cos":
            fraction = 0.5 - 0.5 * mx.cos(math.pi * fraction)
        rate = mx.where(s > start, before + (after - before) * fraction, rate)
    return rate


def cyclic(
    base_lr: float,
    max_lr: float,
    step_size_up: int = 2000,
    step_size_down: int | None = None,
    mode: Literal["triangular", "triangular2", "exp_range"] = "triangular",
    gamma: float = 1.0,
) -> Schedule:
    """Linear rises and falls between two rates, in turn.

    Parameters
    ----------
    base_lr : float
        Minimum learning rate, with which each cycle begins.
    max_lr : float
        Maximum learning rate of the first cycle.
    step_size_up : int, optional
        Number of steps of a rise, at least 1. Default: 2000.
    step_size_down : int, optional
        Number of steps of a fall, at least 1. Default: `step_size_up`.
    mode : {"triangular", "triangular2", "exp_range"}, optional
        How far above `base_lr` later rates are: as far as in the first cycle, half as far in each
        cycle as in the one before, or ``gamma**step`` times as far. Default: "triangular".
    gamma : float, optional
        Factor of each step in the mode "exp_range". Default: 1.

    Returns
    -------
    callable
        Schedule: ``schedule(step)`` returns the learning rate of a step, a number or an array,
        counted from 0.

    Raises
    ------
    ValueError
        If a number of steps is less than 1, or `mode` is unknown.

    See Also
    --------
    one_cycle

    Notes
    -----
    The rates are those of PyTorch's `CyclicLR` [1]_. With ``p = step % (up + down)`` the rate is
    ``base_lr + (max_lr - base_lr) * min(p / up, (up + down - p) / down) * scale``, and `scale` is
    1, ``0.5**cycle`` or ``gamma**step``, by the mode.

    References
    ----------
    .. [1] Smith, "Cyclical Learning Rates for Training Neural Networks", 2017.

    Examples
    --------
    >>> schedule = optim.cyclic(0.25, 0.75, step_size_up=10)
    >>> schedule(10), schedule(15)
    (array(0.75, dtype=float32), array(0.5, dtype=float32))
    """
    down = step_size_up if step_size_down is None else step_size_down
    for name, size in {"step_size_up": step_size_up, "step_size_down": down}.items():
        if size < 1:
            raise ValueError(f"[cyclic] got {name} {size}, expected at least 1")
    if mode not in ("triangular", "triangular2", "exp_range"):
        raise ValueError(
            f"[cyclic] got mode {mode!r}, expected 'triangular', 'triangular2' or 'exp_range'"
        )
    return _Call(
        _cyclic,
        base_lr=base_lr,
        max_lr=max_lr,
        step_size_up=step_size_up,
        step_size_down=down,
        mode=mode,
        gamma=gamma,
    )


def _cyclic(
    step: mx.array,
    base_lr: float,
    max_lr: float,
    step_size_up: int,
    step_size_down: int,
    mode: str,
    gamma: float,
) -> mx.array:
    period = step_size_up + step_size_down
    # The remainder of integers, because float32 rounds quotients of large steps.
    position = step % period
    height = mx.minimum(position / step_size_up, (period - position) / step_size_down)
    if mode == "triangular2":
        height = height * 0.5 ** (step // period)
    elif mode == "exp_range":
        height = height * gamma**step
    return base_lr + (max_lr - base_lr) * height


def join_schedules(schedules: Sequence[Schedule], boundaries: Sequence[float]) -> Schedule:
    """Schedules one after the other.

    Parameters
    ----------
    schedules : sequence of callable
        The schedules, at least one. Each counts its steps from 0.
    boundaries : sequence of int
        The steps at which the second, third, ... schedule begins.

    Returns
    -------
    callable
        Schedule: ``schedule(step)`` returns the learning rate of a step, a number or an array,
        counted from 0.

    Raises
    ------
    ValueError
        If there is no schedule, or not one boundary fewer than schedules.

    See Also
    --------
    linear_schedule, cosine_decay

    Examples
    --------
    >>> warmup, decay = optim.linear_schedule(0.0, 0.5, 100), optim.cosine_decay(0.5, 900)
    >>> schedule = optim.join_schedules([warmup, decay], [100])
    >>> schedule(50), schedule(1000)
    (array(0.25, dtype=float32), array(0, dtype=float32))
    """
    if not schedules:
        raise ValueError("[join_schedules] needs at least one schedule")
    if len(boundaries) != len(schedules) - 1:
        raise ValueError(
            f"[join_schedules] got {len(boundaries)} boundaries for {len(schedules)} schedules, "
            f"expected {len(schedules) - 1}"
        )
    return _Call(_join_schedules, schedules=schedules, boundaries=boundaries)


def _join_schedules(
    step: mx.array, schedules: Sequence[Schedule], boundaries: Sequence[float]
) -> mx.array:
    value = schedules[0](step)
    for boundary, later in zip(boundaries, schedules[1:], strict=True):
        value = mx.where(step < boundary, value, later(step - boundary))
    return value


_layout.complete(globals())
