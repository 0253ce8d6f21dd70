"""Drawing the next token from a language model's scores, and text from a model."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import umber.core as mx

from models.llama import Llama


def sampler(temperature: float, top_p: float) -> Callable[[mx.array], mx.array]:
    """A function from scores (vocabulary,) to a token.

    Args:
        temperature: the scores are divided by it; 0 takes the likeliest token.
        top_p: only the likeliest tokens are drawn whose probabilities together reach it (Holtzman
            et al., "The Curious Case of Neural Text Degeneration", 2020).
    """

    def sample(scores: mx.array) -> mx.array:
        if temperature == 0:
            return mx.argmax(scores)
        scores = scores.astype(mx.float32) / temperature
        order = mx.argsort(-scores)
        likeliest = scores[order]
        probabilities = mx.softmax(likeliest)
        before = mx.cumsum(probabilities) - probabilities
        # The first is always kept.
        keep = (before < top_p) | (mx.arange(scores.size) == 0)
        return order[mx.random.categorical(mx.where(keep, likeliest, -mx.inf))]

    return sample


def generate(
    model: Llama, prompt: list[int], sample: Callable[[mx.array], mx.array]
) -> Iterator[int]:
    """The tokens that follow the prompt, without end.

    The prompt is processed in one call, each further token alone: the caches hold earlier keys
    and values.
    """
    caches = model.new_caches()
    tokens = mx.array([prompt])
    while True:
        token = sample(model(tokens, caches)[0, -1])
        tokens = token.reshape(1, 1)
        yield int(token.item())
