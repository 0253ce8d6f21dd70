"""Random valid calls of MLX's core API: a generator a name, a file a group of names.

To cover a name, add it to the `CALLS` of its group: a function from `Draw` to `Call`. Aliases get
their own name and the same generator.
"""

from mlx_calls.draw import Call, Draw, Dtype, Given, Item, Member, realise

__all__ = ["Call", "Draw", "Dtype", "Given", "Item", "Member", "gather_calls", "realise"]


def gather_calls() -> dict:
    """The generators of all groups by public name: `sum`, `linalg.norm`, `array.sum`."""
    from mlx_calls import (
        array_members,
        convolution,
        creation,
        elementwise,
        fast,
        fft,
        indexing,
        linalg,
        printing,
        products,
        random,
        reductions,
        shaping,
        sorting,
        types,
    )

    groups = (
        *(creation, elementwise, reductions, shaping, indexing, sorting, products, convolution),
        *(random, linalg, fft, fast, types, printing, array_members),
    )
    calls = {}
    for group in groups:
        twice = calls.keys() & group.CALLS.keys()
        assert not twice, f"two generators for {sorted(twice)}"
        calls |= group.CALLS
    return calls
