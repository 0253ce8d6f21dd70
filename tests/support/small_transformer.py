"""A small transformer: its compiled training steps are tested and timed."""

import umber.core as mx
from umber import nn


class Block(nn.Module):
    """Attention and a feed-forward part, each behind a normalisation."""

    def __init__(self, width: int, heads: int):
        super().__init__()
        self.heads = heads
        self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
        self.queries_keys_values = nn.Linear(width, 3 * width)
        self.out = nn.Linear(width, width)
        self.up, self.down = nn.Linear(width, 2 * width), nn.Linear(2 * width, width)
        self.dropout = nn.Dropout(0.1)

    def __call__(self, x):
        parts = mx.split(self.queries_keys_values(self.before(x)), 3, axis=-1)
        q, k, v = (mx.unflatten(part, -1, (self.heads, -1)).swapaxes(1, 2) for part in parts)
        scores = mx.softmax(q @ k.swapaxes(-1, -2) * q.shape[-1] ** -0.5, axis=-1)
        x = x + self.dropout(self.out(mx.flatten((scores @ v).swapaxes(1, 2), -2, -1)))
        return x + self.dropout(self.down(nn.gelu(self.up(self.between(x)))))


class Transformer(nn.Module):
    """Four blocks between an embedding and a projection to tokens."""

    def __init__(self, tokens: int = 11, width: int = 8):
        super().__init__()
        self.embedding = nn.Embedding(tokens, width)
        self.blocks = [Block(width, 2) for _ in range(4)]
        self.norm, self.head = nn.LayerNorm(width), nn.Linear(width, tokens)

    def __call__(self, tokens):
        x = self.embedding(tokens)
        for block in self.blocks:
            x = block(x)
        return self.head(self.norm(x))
