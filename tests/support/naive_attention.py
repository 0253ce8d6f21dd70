"""Attention, rotary positions and the gated delta rule by their definitions, in float64."""

import numpy as np


def rope(a, dims, traditional, base=None, scale=1.0, offset=0, freqs=None):
    """Every pair turned by its angle."""
    y = np.array(a, np.float64)
    half = dims // 2
    speeds = base ** (-np.arange(half) / half) if freqs is None else 1 / np.asarray(freqs, float)
    offset = np.asarray(offset, float)
    if offset.ndim:
        offset = offset.reshape(-1, *[1] * (y.ndim - 3))
    angles = (np.arange(y.shape[-2]) + offset[..., None])[..., None] * scale * speeds
    cos, sin = np.cos(angles), np.sin(angles)
    first, second = (
        (slice(0, dims, 2), slice(1, dims, 2)) if traditional else (slice(half), slice(half, dims))
    )
    u, v = y[..., first].copy(), y[..., second].copy()
    y[..., first], y[..., second] = u * cos - v * sin, u * sin + v * cos
    return y


def weights(scores):
    """The softmax along the last axis; nothing of nothing."""
    if scores.shape[-1] == 0:
        return scores
    powers = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


def attention(q, k, v, scale, mask=None, sinks=None):
    """Every head by itself, with a matrix of all scores."""
    q, k, v = (np.asarray(x, np.float64) for x in (q, k, v))
    group = q.shape[-3] // k.shape[-3]
    k, v = (np.repeat(x, group, axis=-3) for x in (k, v))
    scores = scale * q @ np.swapaxes(k, -1, -2)
    queries, keys = scores.shape[-2:]
    if isinstance(mask, str):
        mask = np.tri(queries, keys, keys - queries, dtype=bool)
    if mask is not None:
        mask = np.asarray(mask)
        scores = np.where(mask, scores, -1e300) if mask.dtype == bool else scores + mask
    if sinks is None:
        return weights(scores) @ v
    column = np.broadcast_to(np.asarray(sinks, float)[..., None, None], (*scores.shape[:-1], 1))
    return weights(np.concatenate([column, scores], axis=-1))[..., 1:] @ v


def gated_delta(q, k, v, gamma, beta, state=None, mask=None):
    """One step after the other."""
    q, k, v, gamma, beta = (np.asarray(x, np.float64) for x in (q, k, v, gamma, beta))
    group = v.shape[2] // q.shape[2]
    q, k = (np.repeat(x, group, axis=2) for x in (q, k))
    gamma = gamma[..., None] if gamma.ndim == 3 else gamma
    shape = (v.shape[0], v.shape[2], v.shape[3], q.shape[3])
    state = np.zeros(shape) if state is None else np.asarray(state, np.float64)
    taken = np.ones(v.shape[:2], bool) if mask is None else np.broadcast_to(mask, v.shape[:2])
    answers = np.zeros(v.shape)
    for t in range(v.shape[1]):
        faded = state * gamma[:, t][:, :, None, :]
        known = np.einsum("bhvk,bhk->bhv", faded, k[:, t])
        learnt = (v[:, t] - known) * beta[:, t][..., None]
        new = faded + learnt[..., None] * k[:, t][:, :, None, :]
        here = taken[:, t].astype(bool)[:, None, None]
        answers[:, t] = np.where(here, np.einsum("bhvk,bhk->bhv", new, q[:, t]), 0)
        state = np.where(here[..., None], new, state)
    return answers, state
