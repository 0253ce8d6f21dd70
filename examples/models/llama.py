"""Language models of the Llama architecture.

Touvron et al., "LLaMA: Open and Efficient Foundation Language Models", 2023; with grouped-query
attention (Ainslie et al., "GQA", 2023). Layers are named as in the published files.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import umber.core as mx
from common.checkpoints import expect, positive, positive_integer, read_json, read_weights
from umber import nn

from models.rope import Rotation, rotate

DEFAULT_ROTATION = Rotation()


@dataclass(frozen=True)
class Config:
    """The sizes of a model, with the names of config.json."""

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    intermediate_size: int
    num_attention_heads: int
    num_key_value_heads: int
    head_dim: int
    rms_norm_eps: float = 1e-5
    rotation: Rotation = DEFAULT_ROTATION
    max_position_embeddings: int = 2048
    tie_word_embeddings: bool = True
    attention_bias: bool = False
    ends: tuple[int, ...] = ()
    """The end-of-text tokens."""

    @staticmethod
    def of(config: dict[str, Any]) -> Config:
        """The configuration in a config.json; raises `ValueError` for an unsupported one."""
        expect(config, model_type="llama", hidden_act="silu", partial_rotary_factor=1.0)
        heads = positive_integer(config, "num_attention_heads")
        groups = positive_integer(config, "num_key_value_heads", heads)
        hidden = positive_integer(config, "hidden_size")
        dims = positive_integer(config, "head_dim", max(1, hidden // heads))
        if heads % groups or dims % 2:
            raise ValueError(
                f"config.json: {heads} heads of size {dims} for {groups} of keys and values, "
                "expected a multiple and an even size"
            )
        ends = config.get("eos_token_id")
        return Config(
            vocab_size=positive_integer(config, "vocab_size"),
            hidden_size=hidden,
            num_hidden_layers=positive_integer(config, "num_hidden_layers"),
            intermediate_size=positive_integer(config, "intermediate_size"),
            num_attention_heads=heads,
            num_key_value_heads=groups,
            head_dim=dims,
            rms_norm_eps=positive(config, "rms_norm_eps", 1e-5),
            rotation=Rotation.of(config),
            max_position_embeddings=positive_integer(config, "max_position_embeddings", 2048),
            tie_word_embeddings=bool(config.get("tie_word_embeddings", False)),
            attention_bias=bool(config.get("attention_bias", False)),
            ends=tuple(ends) if isinstance(ends, list) else () if ends is None else (ends,),
        )


class Cache:
    """The keys and values of a layer for all past tokens, (1, heads, tokens, head_dim)."""

    def __init__(self) -> None:
        self.keys: mx.array | None = None
        self.values: mx.array | None = None

    @property
    def length(self) -> int:
        """The number of past tokens."""
        return 0 if self.keys is None else self.keys.shape[2]

    def append(self, keys: mx.array, values: mx.array) -> tuple[mx.array, mx.array]:
        """Append keys and values of new tokens; returns those of all tokens so far."""
        if self.keys is not None and self.values is not None:
            keys = mx.concatenate([self.keys, keys], axis=2)
            values = mx.concatenate([self.values, values], axis=2)
        self.keys, self.values = keys, values
        return keys, values


class Attention(nn.Module):
    """softmax(q kᵀ / √d + mask) v, where several query heads share a head of keys and values."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.heads, self.groups = config.num_attention_heads, config.num_key_value_heads
        self.dims = config.head_dim
        hidden, bias = config.hidden_size, config.attention_bias
        self.q_proj = nn.Linear(hidden, self.heads * self.dims, bias=bias)
        self.k_proj = nn.Linear(hidden, self.groups * self.dims, bias=bias)
        self.v_proj = nn.Linear(hidden, self.groups * self.dims, bias=bias)
        self.o_proj = nn.Linear(self.heads * self.dims, hidden, bias=bias)
        self.rotation = config.rotation

    def __call__(self, x: mx.array, cache: Cache) -> mx.array:
        batch, length, _ = x.shape

        def heads(y: mx.array, count: int) -> mx.array:
            return y.reshape(batch, length, count, self.dims).transpose(0, 2, 1, 3)

        frequencies = self.rotation.frequencies(self.dims)
        q = rotate(heads(self.q_proj(x), self.heads), frequencies, cache.length)
        k = rotate(heads(self.k_proj(x), self.groups), frequencies, cache.length)
        k, v = cache.append(k, heads(self.v_proj(x), self.groups))

        y = mx.fast.scaled_dot_product_attention(
            q, k, v, scale=1 / math.sqrt(self.dims), mask="causal"
        )
        return self.o_proj(y.transpose(0, 2, 1, 3).reshape(batch, length, -1))


class MLP(nn.Module):
    """down(silu(gate(x)) · up(x)): Shazeer, "GLU Variants Improve Transformer", 2020."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        hidden, inner = config.hidden_size, config.intermediate_size
        self.gate_proj = nn.Linear(hidden, inner, bias=False)
        self.up_proj = nn.Linear(hidden, inner, bias=False)
        self.down_proj = nn.Linear(inner, hidden, bias=False)

    def __call__(self, x: mx.array) -> mx.array:
        return self.down_proj(nn.silu(self.gate_proj(x)) * self.up_proj(x))


class Layer(nn.Module):
    """x ← x + attention(norm(x)), then x ← x + MLP(norm(x))."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.self_attn = Attention(config)
        self.mlp = MLP(config)
        self.input_layernorm = nn.RMSNorm(config.hidden_size, eps=config.rms_norm_eps)
        self.post_attention_layernorm = nn.RMSNorm(config.hidden_size, eps=config.rms_norm_eps)

    def __call__(self, x: mx.array, cache: Cache) -> mx.array:
        x = x + self.self_attn(self.input_layernorm(x), cache)
        return x + self.mlp(self.post_attention_layernorm(x))


class Decoder(nn.Module):
    """The embedding, the layers and the final norm."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.embed_tokens = nn.Embedding(config.vocab_size, config.hidden_size)
        self.layers = [Layer(config) for _ in range(config.num_hidden_layers)]
        self.norm = nn.RMSNorm(config.hidden_size, eps=config.rms_norm_eps)

    def __call__(self, tokens: mx.array, caches: list[Cache]) -> mx.array:
        x = self.embed_tokens(tokens)
        for layer, cache in zip(self.layers, caches, strict=True):
            x = layer(x, cache)
        return self.norm(x)


class Llama(nn.Module):
    """Logits of the next token after each of `tokens`."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.model = Decoder(config)
        if not config.tie_word_embeddings:
            self.lm_head = nn.Linear(config.hidden_size, config.vocab_size, bias=False)

    def __call__(self, tokens: mx.array, caches: list[Cache]) -> mx.array:
        """(1, length) → (1, length, vocab_size); `caches` contain the tokens before `tokens`."""
        x = self.model(tokens, caches)
        if self.config.tie_word_embeddings:
            return self.model.embed_tokens.as_linear(x)
        return self.lm_head(x)

    def new_caches(self) -> list[Cache]:
        """An empty cache for each layer."""
        return [Cache() for _ in self.model.layers]


def load(folder: Path) -> Llama:
    """The model in a folder with config.json and safetensors files.

    Raises:
        OSError, RuntimeError, TypeError, ValueError: a file is missing or unsupported.
    """
    config = read_json(folder / "config.json")
    model = Llama(Config.of(config))
    weights = read_weights(folder)
    if quantization := config.get("quantization"):
        _quantize(model, quantization, weights)
    # Files may also contain rotation frequencies, and a copy of the tied output layer.
    ignored = ("rotary_emb.inv_freq", *(("lm_head.weight",) if "lm_head" not in model else ()))
    model.load_weights([(k, v) for k, v in weights.items() if not k.endswith(ignored)])
    return model


def _quantize(model: Llama, quantization: Any, weights: dict[str, mx.array]) -> None:
    """Replace the layers that have quantised weights in the files by quantised layers."""
    if not isinstance(quantization, dict):
        raise ValueError(f"config.json: quantization is {quantization!r}, expected an object")
    expect(quantization, mode="affine")
    if not hasattr(nn, "quantize"):
        raise ValueError("the weights are quantised, for which this umber has no nn.quantize")
    nn.quantize(
        model,
        group_size=positive_integer(quantization, "group_size", 64),
        bits=positive_integer(quantization, "bits", 4),
        class_predicate=lambda path, module: f"{path}.scales" in weights,
    )
