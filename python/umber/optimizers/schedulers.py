"""Learning rate schedules: functions of the step, a number or an array that counts from 0."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import umber.core as mx

Schedule = Callable[[mx.array], mx.array]


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
    return lambda step: init * decay_rate**step


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
    return lambda step: init * decay_rate ** (step // step_size)


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

    def schedule(step: mx.array) -> mx.array:
        s = mx.minimum(step, decay_steps)
        return end + 0.5 * (init - end) * (1 + mx.cos(math.pi / decay_steps * s))

    return schedule


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
    return lambda step: init + (end - init) / steps * mx.minimum(step, steps)


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

    def schedule(step: mx.array) -> mx.array:
        value = schedules[0](step)
        for boundary, later in zip(boundaries, schedules[1:], strict=True):
            value = mx.where(step < boundary, value, later(step - boundary))
        return value

    return schedule
