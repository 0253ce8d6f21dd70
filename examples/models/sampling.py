"""Sampling of tokens from logits, and of text from a language model."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import umber.core as mx

from models.llama import Llama


def sampler(temperature: float, top_p: float) -> Callable[[mx.array], mx.array]:
    """A function that samples a token from logits, (vocabulary,).

    Args:
        temperature: the divisor of the logits; 0 always selects the most likely token.
        top_p: samples only from the smallest set of most likely tokens whose total probability
            reaches it (Holtzman et al., "The Curious Case of Neural Text Degeneration", 2020).
    """

    def sample(logits: mx.array) -> mx.array:
        if temperature == 0:
            return mx.argmax(logits)
        logits = logits.astype(mx.float32) / temperature
        order = mx.argsort(-logits)
        sorted_logits = logits[order]
        probabilities = mx.softmax(sorted_logits)
        preceding_mass = mx.cumsum(probabilities) - probabilities
        # The most likely token is always kept.
        keep = (preceding_mass < top_p) | (mx.arange(logits.size) == 0)
        return order[mx.random.categorical(mx.where(keep, sorted_logits, -mx.inf))]

    return sample


def generate(
    model: Llama, prompt: list[int], sample: Callable[[mx.array], mx.array]
) -> Iterator[int]:
    """The tokens that follow the prompt; the iterator is endless.

    The model processes the prompt in one call and then one token per call: the caches contain the
    keys and values of the earlier tokens.
    """
    caches = model.new_caches()
    tokens = mx.array([prompt])
    while True:
        token = sample(model(tokens, caches)[0, -1])
        tokens = token.reshape(1, 1)
        yield int(token.item())
