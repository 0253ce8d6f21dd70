"""Convolutions by their definition, in NumPy: the reference of the tests."""

import itertools

import numpy as np


def per_axis(value, count):
    """One number for all axes, or one for each."""
    return (value,) * count if isinstance(value, int) else tuple(value) * (count // len(value))


def spread(x, dilation):
    """`x` with zeros between its elements along the spatial axes."""
    lengths = [max((size - 1) * d + 1, 0) for size, d in zip(x.shape[1:-1], dilation, strict=True)]
    out = np.zeros((x.shape[0], *lengths, x.shape[-1]), x.dtype)
    out[(slice(None), *(slice(None, None, d) for d in dilation))] = x
    return out


def pad(x, low, high):
    """`x` with zeros around its spatial axes; a negative number cuts off."""
    around = [(max(a, 0), max(b, 0)) for a, b in zip(low, high, strict=True)]
    x = np.pad(x, [(0, 0), *around, (0, 0)])
    cut = [
        slice(max(-a, 0), size - max(-b, 0))
        for a, b, size in zip(low, high, x.shape[1:-1], strict=True)
    ]
    return x[(slice(None), *cut)]


def conv_general(
    x, weight, stride=1, padding=0, kernel_dilation=1, input_dilation=1, groups=1, flip=False
):
    """The sum over taps of shifted views of the input times a slice of the weight."""
    count = x.ndim - 2
    stride, kernel_dilation = per_axis(stride, count), per_axis(kernel_dilation, count)
    sides = padding if isinstance(padding, tuple) and isinstance(padding[0], list) else None
    low, high = sides or (padding, padding)
    x = spread(x, per_axis(input_dilation, count))
    x = pad(x, per_axis(low, count), per_axis(high, count))
    if flip:
        weight = np.flip(weight, tuple(range(1, count + 1)))
    taps = weight.shape[1:-1]
    lengths = [
        (size - (k - 1) * d - 1) // s + 1
        for size, k, d, s in zip(x.shape[1:-1], taps, kernel_dilation, stride, strict=True)
    ]
    kind = np.result_type(x, weight)
    out = np.zeros((x.shape[0], *lengths, weight.shape[0]), kind)
    inputs, outputs = x.shape[-1] // groups, weight.shape[0] // groups
    for tap in itertools.product(*map(range, taps)):
        starts = [t * d for t, d in zip(tap, kernel_dilation, strict=True)]
        window = tuple(
            slice(a, a + (n - 1) * s + 1, s)
            for a, n, s in zip(starts, lengths, stride, strict=True)
        )
        seen = x[(slice(None), *window)]
        for g in range(groups):
            part = weight[(slice(g * outputs, (g + 1) * outputs), *tap)]
            product = seen[..., g * inputs : (g + 1) * inputs] @ part.T
            out[..., g * outputs : (g + 1) * outputs] += product.astype(kind)
    return out


def conv_transpose(x, weight, stride=1, padding=0, dilation=1, output_padding=0, groups=1):
    """Every element of the input spreads the kernel over the output."""
    count = x.ndim - 2
    padding, dilation = per_axis(padding, count), per_axis(dilation, count)
    more = per_axis(output_padding, count)
    low = [d * (k - 1) - p for d, k, p in zip(dilation, weight.shape[1:-1], padding, strict=True)]
    high = [a + m for a, m in zip(low, more, strict=True)]
    return conv_general(x, weight, 1, (low, high), dilation, stride, groups, flip=True)
