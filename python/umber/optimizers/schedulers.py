"""Learning rates as functions of the step, an array or a number, counted from 0."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import umber.core as mx

Schedule = Callable[[mx.array], mx.array]


def exponential_decay(init: float, decay_rate: float) -> Schedule:
    """`init · decay_rate^step`."""
    return lambda step: init * decay_rate**step


def step_decay(init: float, decay_rate: float, step_size: float) -> Schedule:
    """`init · decay_rate^⌊step / step_size⌋`."""
    if step_size < 1:
        raise ValueError(f"[step_decay] got the step size {step_size}, expected at least 1")
    return lambda step: init * decay_rate ** (step // step_size)


def cosine_decay(init: float, decay_steps: float, end: float = 0.0) -> Schedule:
    """From `init` to `end` along half a cosine in `decay_steps` steps, then `end`.

    Loshchilov, Hutter, "SGDR: Stochastic Gradient Descent with Warm Restarts", 2017.
    """
    if decay_steps < 1:
        raise ValueError(f"[cosine_decay] got {decay_steps} steps, expected at least 1")

    def schedule(step: mx.array) -> mx.array:
        s = mx.minimum(step, decay_steps)
        return end + 0.5 * (init - end) * (1 + mx.cos(math.pi / decay_steps * s))

    return schedule


def linear_schedule(init: float, end: float, steps: float) -> Schedule:
    """From `init` to `end` on a line in `steps` steps, then `end`.

    Example:
        >>> warmup = linear_schedule(0, 1e-3, steps=100)
        >>> rate = join_schedules([warmup, cosine_decay(1e-3, 900)], [100])
    """
    if steps < 1:
        raise ValueError(f"[linear_schedule] got {steps} steps, expected at least 1")
    return lambda step: init + (end - init) / steps * mx.minimum(step, steps)


def join_schedules(schedules: Sequence[Schedule], boundaries: Sequence[float]) -> Schedule:
    """One schedule after the other, each counting its steps from 0.

    Args:
        schedules: at least one.
        boundaries: the steps at which the second, third, … begins.
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
