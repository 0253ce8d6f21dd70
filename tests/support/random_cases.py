"""How many random cases a test tries, and from which seed they are drawn.

The cases are few and the same in every run. With `UMBER_RANDOM_SEED` they follow from that seed,
and `UMBER_EXAMPLES` says how many times as many they are; `make test-random` sets both.
"""

import os

SEED = os.environ.get("UMBER_RANDOM_SEED")
FACTOR = int(os.environ.get("UMBER_EXAMPLES", "1"))
# What a generator is seeded with beside the number of its case.
EXTRA_SEEDS = () if SEED is None else (int(SEED),)


def examples(few: int) -> int:
    """The number of cases of a test that normally tries `few`."""
    return few * FACTOR
