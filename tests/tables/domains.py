"""Where an op's inputs are drawn from. A domain keeps away from poles, ties and branch cuts."""

from dataclasses import dataclass

import numpy as np
from arrays import kind_of, represent


@dataclass(frozen=True)
class Domain:
    """Real values in [low, high); integers in [low_int, high_int)."""

    low: float
    high: float
    low_int: int = -5
    high_int: int = 6
    distinct: bool = False

    def sample(self, rng: np.random.Generator, shape: tuple[int, ...], name: str) -> np.ndarray:
        """Values of this dtype, in its carrier."""
        kind = kind_of(name)
        if self.distinct:
            return self.sample_distinct(rng, shape, name)
        if kind == "b":
            return rng.integers(0, 2, shape).astype(bool)
        if kind in "iu":
            low = max(self.low_int, 0) if kind == "u" else self.low_int
            return rng.integers(low, self.high_int, shape).astype(name)
        values = rng.uniform(self.low, self.high, shape)
        if kind == "c":
            # The imaginary part stays off the real axis, where the branch cuts are.
            return represent(values + 1j * rng.uniform(0.2, 0.9, shape), name)
        return represent(values, name)

    def sample_distinct(self, rng, shape, name):
        """A shuffled progression: no two values equal, none near another, none zero."""
        kind, size = kind_of(name), int(np.prod(shape))
        if kind == "b":
            return rng.integers(0, 2, shape).astype(bool)
        order = rng.permutation(size).reshape(shape)
        if kind in "iu":
            return (order + 1 if kind == "u" else order - size // 2).astype(name)
        values = (order + 0.5) / max(size, 1) * (self.high - self.low) + self.low
        if kind == "c":
            return represent(values + 1j * rng.uniform(0.2, 0.9, shape), name)
        return represent(values, name)


@dataclass(frozen=True)
class DomainWithGaps(Domain):
    """The same where some elements are not a number, but never a whole row of them."""

    def sample(self, rng, shape, name):
        values = super().sample(rng, shape, name)
        if kind_of(name) in "fc" and values.size > 2:
            values.reshape(-1)[1::5] = np.nan
        return values


def with_gaps(domain: Domain) -> DomainWithGaps:
    """The domain with NaN here and there."""
    return DomainWithGaps(**vars(domain))


ANY = Domain(-3.0, 3.0)
SMALL = Domain(-1.5, 1.5, -3, 4)
POSITIVE = Domain(0.2, 3.0, 1, 9)
# Products of thousands stay in range.
NEAR_ONE = Domain(0.99, 1.01, 1, 2)
ABOVE_ONE = Domain(1.2, 4.0, 1, 9)
UNIT = Domain(-0.9, 0.9, 0, 2)
HALF_OPEN_UNIT = Domain(-0.9, 0.9, 0, 1)
PROBABILITY = Domain(0.1, 0.9, 0, 2)
DISTINCT = Domain(-3.0, 3.0, distinct=True)
# Away from integers and halves, where rounding jumps.
OFF_STEPS = Domain(0.6, 0.9)
SHIFT = Domain(0.0, 1.0, 0, 7)
EXPONENT = Domain(0.5, 2.5, 0, 4)


def index(size: int) -> Domain:
    """Indices into an axis of this size, counted from both ends."""
    return Domain(0.0, 1.0, -size, size)


def classes(count: int) -> Domain:
    """Numbers of this many classes."""
    return Domain(0.0, 1.0, 0, count)
