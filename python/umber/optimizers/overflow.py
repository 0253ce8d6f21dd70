"""Update rules that compute in float32 for narrower dtypes, against overflow and underflow."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import wraps
from typing import Any

import umber.core as mx

# The smallest normal number of float32.
_SMALLEST_NORMAL = 2.0**-126

Rule = Callable[[Any, mx.array, mx.array, dict[str, mx.array]], mx.array]


def in_float32(rule: Rule) -> Rule:
    """Decorator of `apply_single` that computes in float32 where arrays are of narrower dtypes.

    Squares of gradients, small constants such as `eps` and small learning rates leave the range of
    float16. The dtypes are kept: the new parameter has the promoted dtype of gradient and
    parameter, an entry of the state that of the entry and what updates it. Entries out of range are
    stored as the largest finite number, since an infinite moment would stop the parameter for good.
    """

    @wraps(rule)
    def apply_single(
        self: Any, gradient: mx.array, parameter: mx.array, state: dict[str, mx.array]
    ) -> mx.array:
        # Fast path for the usual case.
        has_wide_dtypes = gradient.itemsize > 2 and parameter.itemsize > 2
        if has_wide_dtypes or not (is_narrow(gradient) or is_narrow(parameter)):
            return rule(self, gradient, parameter, state)
        state_dtype = self._state_dtype(gradient, parameter)
        widened_state = {name: widened(entry) for name, entry in state.items()}
        updated = rule(self, widened(gradient), widened(parameter), widened_state)
        for name, entry in widened_state.items():
            state[name] = _stored(entry, mx.result_type(state.get(name, gradient), state_dtype))
        return updated.astype(mx.result_type(gradient, parameter))

    return apply_single


def as_numbers(values: Sequence[float]) -> Sequence[float]:
    """The same numbers, as Python floats if operations on arrays do not accept some of them."""
    if all(isinstance(value, (int, float, mx.array)) for value in values):
        return values
    return [value if isinstance(value, mx.array) else float(value) for value in values]


def is_narrow(x: Any) -> bool:
    """Whether `x` is an array of floats with fewer than 32 bits."""
    return isinstance(x, mx.array) and x.itemsize < 4 and mx.issubdtype(x.dtype, mx.floating)


def widened(x: Any) -> Any:
    """`x` in float32 if it is an array of narrower floats."""
    return x.astype(mx.float32) if is_narrow(x) else x


def nonzero(eps: float) -> float:
    """`eps`, or the smallest normal number, so that a quotient of two zeros is not NaN."""
    return max(eps, _SMALLEST_NORMAL)


def _stored(entry: Any, dtype: mx.Dtype) -> Any:
    if not isinstance(entry, mx.array) or entry.dtype == dtype:
        return entry
    largest = mx.finfo(dtype).max
    return mx.clip(entry, -largest, largest).astype(dtype)
