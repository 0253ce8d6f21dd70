"""BERT as an encoder of sentences.

Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers", 2019; the mean over a
sentence's places as its vector: Reimers and Gurevych, "Sentence-BERT", 2019.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import umber.core as mx
from common.checkpoints import expect, positive, read_json, read_weights, whole
from umber import nn

from models.wordpiece import WordPiece

# Names in published files, and ours.
RENAMED = {
    r"^bert\.": "",
    r"^embeddings\.word_embeddings\.": "words.",
    r"^embeddings\.position_embeddings\.": "places.",
    r"^embeddings\.token_type_embeddings\.": "types.",
    r"^embeddings\.LayerNorm\.": "norm.",
    r"^encoder\.layer\.": "layers.",
    r"\.attention\.self\.(query|key|value)\.": r".attention.\1_proj.",
    r"\.attention\.output\.dense\.": ".attention.out_proj.",
    r"\.attention\.output\.LayerNorm\.": ".norm1.",
    r"\.intermediate\.dense\.": ".linear1.",
    r"\.output\.dense\.": ".linear2.",
    r"\.output\.LayerNorm\.": ".norm2.",
}
# Not needed for the mean over the places.
LEFT_OUT = re.compile(r"pooler\.|position_ids$|^cls\.")


@dataclass(frozen=True)
class Config:
    """The sizes of a model, by their names in config.json."""

    vocab_size: int
    hidden_size: int
    num_hidden_layers: int
    num_attention_heads: int
    intermediate_size: int
    max_position_embeddings: int = 512
    type_vocab_size: int = 2
    layer_norm_eps: float = 1e-12

    @staticmethod
    def of(config: dict[str, Any]) -> Config:
        """The configuration in a config.json; a `ValueError` says what this model cannot do."""
        expect(config, model_type="bert", hidden_act="gelu", position_embedding_type="absolute")
        return Config(
            vocab_size=whole(config, "vocab_size"),
            hidden_size=whole(config, "hidden_size"),
            num_hidden_layers=whole(config, "num_hidden_layers"),
            num_attention_heads=whole(config, "num_attention_heads"),
            intermediate_size=whole(config, "intermediate_size"),
            max_position_embeddings=whole(config, "max_position_embeddings", 512),
            type_vocab_size=whole(config, "type_vocab_size", 2),
            layer_norm_eps=positive(config, "layer_norm_eps", 1e-12),
        )


class Layer(nn.Module):
    """norm(x + attention(x)), and of that norm(x + W₂ gelu(W₁ x + b₁) + b₂)."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        dims, eps = config.hidden_size, config.layer_norm_eps
        self.attention = nn.MultiHeadAttention(dims, config.num_attention_heads, bias=True)
        self.norm1 = nn.LayerNorm(dims, eps=eps)
        self.linear1 = nn.Linear(dims, config.intermediate_size)
        self.linear2 = nn.Linear(config.intermediate_size, dims)
        self.norm2 = nn.LayerNorm(dims, eps=eps)

    def __call__(self, x: mx.array, mask: mx.array) -> mx.array:
        x = self.norm1(x + self.attention(x, x, x, mask))
        return self.norm2(x + self.linear2(nn.gelu(self.linear1(x))))


class SentenceEncoder(nn.Module):
    """Unit vectors of sentences."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        dims = config.hidden_size
        self.words = nn.Embedding(config.vocab_size, dims)
        self.places = nn.Embedding(config.max_position_embeddings, dims)
        self.types = nn.Embedding(config.type_vocab_size, dims)
        self.norm = nn.LayerNorm(dims, eps=config.layer_norm_eps)
        self.layers = [Layer(config) for _ in range(config.num_hidden_layers)]

    def __call__(self, tokens: mx.array, there: mx.array) -> mx.array:
        """(sentences, length) → (sentences, hidden_size).

        `there` is true where a sentence has a token and false where it is filled up.
        """
        x = self.words(tokens) + self.places(mx.arange(tokens.shape[1])) + self.types.weight[0]
        x = self.norm(x)
        for layer in self.layers:
            x = layer(x, there[:, None, None])
        x = mx.where(there[..., None], x, 0)
        mean = mx.sum(x, axis=1) / mx.sum(there, axis=1, keepdims=True)
        return mean / mx.linalg.norm(mean, axis=-1, keepdims=True)


def batch(tokenizer: WordPiece, sentences: list[str], longest: int) -> tuple[mx.array, mx.array]:
    """The sentences' tokens, filled up to one length, and where there are any."""
    rows = [tokenizer.encode(sentence, longest) for sentence in sentences]
    length = max(map(len, rows))
    padding = tokenizer.padding
    tokens = mx.array([row + [padding] * (length - len(row)) for row in rows], mx.int32)
    lengths = mx.array([len(row) for row in rows])
    return tokens, mx.arange(length) < lengths[:, None]


def load(folder: Path) -> tuple[SentenceEncoder, WordPiece, int]:
    """The model in a folder, its tokenizer, and how many tokens of a sentence it reads.

    Raises:
        OSError, RuntimeError, TypeError, ValueError: something there cannot be used.
    """
    config = Config.of(read_json(folder / "config.json"))
    longest = config.max_position_embeddings
    sentences = folder / "sentence_bert_config.json"
    if sentences.exists():
        longest = min(longest, whole(read_json(sentences), "max_seq_length", longest))
    lower, settings = True, folder / "tokenizer_config.json"
    if settings.exists():
        lower = bool(read_json(settings).get("do_lower_case", True))
    tokenizer = WordPiece.from_file(folder / "vocab.txt", lower)
    model = SentenceEncoder(config)
    weights = [
        (_renamed(name), array)
        for name, array in read_weights(folder).items()
        if not LEFT_OUT.search(name)
    ]
    model.load_weights(weights)
    return model, tokenizer, longest


def _renamed(name: str) -> str:
    for pattern, ours in RENAMED.items():
        name = re.sub(pattern, ours, name)
    return name
