"""Operations that are one kernel."""

from mlx_calls.draw import BOOL, FLOATS, INTEGERS, Call, Draw


def norm_operands(draw: Draw, weights: int):
    """An array and vectors as long as its last axis, or None."""
    shape = (*draw.shape(1, 2, zero=0.0), draw.int(2, 6))
    dtype = draw.dtype(FLOATS)
    given = [draw.array(shape[-1:], dtype) if draw.chance(0.7) else None for _ in range(weights)]
    return (draw.array(shape, dtype), *given)


def rms_norm(draw):
    return Call((*norm_operands(draw, 1), draw.pick([1e-5, 1e-3])))


def layer_norm(draw):
    return Call((*norm_operands(draw, 2), draw.pick([1e-5, 1e-3])))


def rope(draw):
    samples, half = draw.int(1, 3), draw.int(1, 3)
    shape = (samples, *draw.shape(0, 1, zero=0.0), draw.int(1, 5), 2 * half + draw.int(0, 2))
    offset = draw.pick([draw.int(0, 9), draw.array((samples,), INTEGERS, 0, 9)])
    kwargs = {"traditional": draw.chance(), "scale": draw.float(0.3, 1.5), "offset": offset}
    if draw.chance():
        kwargs |= {"base": draw.float(5.0, 100.0)}
    else:
        kwargs |= {"base": None, "freqs": draw.array((half,), "float32", 1.0, 9.0)}
    return Call((draw.array(shape, FLOATS), 2 * half), kwargs)


def scaled_dot_product_attention(draw):
    samples, key_heads, group = draw.int(1, 2), draw.int(1, 2), draw.int(1, 3)
    queries, keys, features, values = (draw.int(1, 5) for _ in range(4))
    heads, dtype = key_heads * group, draw.dtype(FLOATS)
    q = draw.array((samples, heads, queries, features), dtype)
    k = draw.array((samples, key_heads, keys, features), dtype)
    v = draw.array((samples, key_heads, keys, values), dtype)
    scores = draw.broadcastable((samples, heads, queries, keys))
    mask = draw.pick([None, "causal", draw.array(scores, BOOL), draw.array(scores, dtype)])
    sinks = draw.pick([None, draw.array((heads,), dtype)])
    return Call((q, k, v), {"scale": draw.float(0.2, 1.0), "mask": mask, "sinks": sinks})


def cross_entropy(draw):
    shape, classes = draw.shape(0, 2, zero=0.0), draw.int(1, 6)
    logits = draw.array((*shape, classes), FLOATS)
    return Call((logits, draw.array(shape, INTEGERS, 0, classes - 1)))


def gated_delta_update(draw):
    samples, steps, key_heads, group = (
        draw.int(1, 2),
        draw.int(1, 4),
        draw.int(1, 2),
        draw.int(1, 2),
    )
    features, values, dtype = draw.int(1, 4), draw.int(1, 4), draw.dtype(FLOATS)
    heads = key_heads * group
    q, k = (draw.array((samples, steps, key_heads, features), dtype, -1, 1) for _ in range(2))
    v = draw.array((samples, steps, heads, values), dtype, -1, 1)
    decay = draw.pick([(samples, steps, heads), (samples, steps, heads, features)])
    gamma = draw.array(decay, dtype, 0, 1)
    beta = draw.array((samples, steps, heads), dtype, 0, 1)
    state = draw.array((samples, heads, values, features), dtype, -1, 1)
    kwargs = {"initial_state": state, "mask": draw.array((samples, steps), BOOL)}
    return Call((q, k, v, gamma, beta), {n: x for n, x in kwargs.items() if draw.chance(0.6)})


CALLS = {
    "fast.cross_entropy": cross_entropy,
    "fast.gated_delta_update": gated_delta_update,
    "fast.layer_norm": layer_norm,
    "fast.rms_norm": rms_norm,
    "fast.rope": rope,
    "fast.scaled_dot_product_attention": scaled_dot_product_attention,
}
