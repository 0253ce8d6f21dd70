"""Line search for step lengths that satisfy the strong Wolfe conditions."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

# The usual constants of quasi-Newton methods: Nocedal, Wright, section 3.1.
_DECREASE = 1e-4
_CURVATURE = 0.9
# Fractions of the interval to which a new step is limited, so that the interval shrinks.
_MARGIN = 0.1
# Multiples of the last interval to which a longer step is limited: Moré, Thuente, 1994.
_EXPANSION = (1.1, 4.0)


class Trial(NamedTuple):
    """A function along a line: its value and slope at one step length."""

    step: float
    value: float
    slope: float
    point: Any = None
    """Whatever else was computed there."""

    def is_finite(self) -> bool:
        """Whether value and slope are neither infinite nor NaN."""
        return math.isfinite(self.value) and math.isfinite(self.slope)


def strong_wolfe(
    evaluate: Callable[[float], Trial], start: Trial, step: float, noise: float, max_trials: int
) -> Trial | None:
    """The first trial found that satisfies the strong Wolfe conditions.

    This is algorithm 3.5 with 3.6 of Nocedal, Wright, "Numerical Optimization", 2006, as one loop:
    `low` is the best trial so far, and a minimiser lies between `low` and `high`, once there is a
    `high`. Trials that are not finite are out of the domain, and the search goes back from them.
    Values that differ by less than `noise`, their rounding error, count as equal: then slopes
    decide, so that the search still succeeds where the function is flat to rounding error.

    Parameters
    ----------
    evaluate : callable
        Returns the trial at a step length.
    start : Trial
        The trial at step 0, with a negative slope.
    step : float
        The first step length to try.
    noise : float
        Rounding error of values.
    max_trials : int
        Maximum number of calls of `evaluate`.

    Returns
    -------
    Trial or None
        If no trial satisfies the conditions, the best one that is lower than `start`, or `None`.
    """
    low, high, previous = start, None, start
    for _ in range(max_trials):
        trial = evaluate(step)
        sufficient = start.value + _DECREASE * step * start.slope + noise
        if not trial.is_finite() or trial.value > min(sufficient, low.value + noise):
            high = trial
        elif abs(trial.slope) <= -_CURVATURE * start.slope:
            return trial
        else:
            if trial.slope * (math.inf if high is None else high.step - low.step) >= 0:
                high = low
            previous, low = low, trial
        step = _longer(previous, low) if high is None else _between(low, high, noise)
        if step == low.step or not math.isfinite(step):
            break
    return low if low.value < start.value else None


def _longer(previous: Trial, last: Trial) -> float:
    """A step length beyond the last one, at which the function still falls."""
    shortest, longest = (last.step + (last.step - previous.step) * x for x in _EXPANSION)
    minimiser = _cubic_minimiser(previous, last)
    return min(max(minimiser, shortest), longest) if minimiser > last.step else longest


def _between(low: Trial, high: Trial, noise: float) -> float:
    """A step length between two others."""
    length = high.step - low.step
    if not high.is_finite():
        return low.step + 2 * _MARGIN * length
    if abs(high.value - low.value) <= noise:
        # The secant of the slopes, which do not suffer from cancellation.
        fraction = _quotient(low.slope, low.slope - high.slope)
    else:
        fraction = (_cubic_minimiser(low, high) - low.step) / length
    if not math.isfinite(fraction):
        fraction = 0.5
    return low.step + length * min(max(fraction, _MARGIN), 1 - _MARGIN)


def _cubic_minimiser(a: Trial, b: Trial) -> float:
    """The minimiser of the cubic polynomial with the values and slopes of two trials, or NaN."""
    length = b.step - a.step
    d1 = a.slope + b.slope - 3 * (b.value - a.value) / length
    square = d1 * d1 - a.slope * b.slope
    if not square >= 0:
        return math.nan
    d2 = math.copysign(math.sqrt(square), length)
    return b.step - length * _quotient(b.slope + d2 - d1, b.slope - a.slope + 2 * d2)


def _quotient(x: float, y: float) -> float:
    return x / y if y != 0 else math.nan
