"""BERT as a sentence encoder.

Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers", 2019; the vector of a
sentence is the mean over its tokens (Reimers and Gurevych, "Sentence-BERT", 2019).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import umber.core as mx
from common.checkpoints import expect, positive, positive_integer, read_json, read_weights
from umber import nn

from models.wordpiece import WordPiece

# Patterns of the names in published files, and the names in this model.
RENAMED = {
    r"^bert\.": "",
    r"^embeddings\.word_embeddings\.": "words.",
    r"^embeddings\.position_embeddings\.": "positions.",
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
# Weights that this model does not use.
UNUSED = re.compile(r"pooler\.|position_ids$|^cls\.")


@dataclass(frozen=True)
class Config:
    """The sizes of a model, with the names of config.json."""

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
        """The configuration in a config.json; raises `ValueError` for an unsupported one."""
        expect(config, model_type="bert", hidden_act="gelu", position_embedding_type="absolute")
        return Config(
            vocab_size=positive_integer(config, "vocab_size"),
            hidden_size=positive_integer(config, "hidden_size"),
            num_hidden_layers=positive_integer(config, "num_hidden_layers"),
            num_attention_heads=positive_integer(config, "num_attention_heads"),
            intermediate_size=positive_integer(config, "intermediate_size"),
            max_position_embeddings=positive_integer(config, "max_position_embeddings", 512),
            type_vocab_size=positive_integer(config, "type_vocab_size", 2),
            layer_norm_eps=positive(config, "layer_norm_eps", 1e-12),
        )


class Layer(nn.Module):
    """x ← norm(x + attention(x)), then x ← norm(x + W₂ gelu(W₁ x + b₁) + b₂)."""

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
    """Maps sentences to unit vectors."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        dims = config.hidden_size
        self.words = nn.Embedding(config.vocab_size, dims)
        self.positions = nn.Embedding(config.max_position_embeddings, dims)
        self.types = nn.Embedding(config.type_vocab_size, dims)
        self.norm = nn.LayerNorm(dims, eps=config.layer_norm_eps)
        self.layers = [Layer(config) for _ in range(config.num_hidden_layers)]

    def __call__(self, tokens: mx.array, mask: mx.array) -> mx.array:
        """(sentences, length) → (sentences, hidden_size).

        `mask` is true at the tokens of a sentence and false at its padding.
        """
        positions = self.positions(mx.arange(tokens.shape[1]))
        x = self.words(tokens) + positions + self.types.weight[0]
        x = self.norm(x)
        for layer in self.layers:
            x = layer(x, mask[:, None, None])
        x = mx.where(mask[..., None], x, 0)
        mean = mx.sum(x, axis=1) / mx.sum(mask, axis=1, keepdims=True)
        return mean / mx.linalg.norm(mean, axis=-1, keepdims=True)


def batch(tokenizer: WordPiece, sentences: list[str], max_length: int) -> tuple[mx.array, mx.array]:
    """The tokens of the sentences, padded to a common length, and their mask."""
    rows = [tokenizer.encode(sentence, max_length) for sentence in sentences]
    length = max(map(len, rows))
    padding = tokenizer.padding
    tokens = mx.array([row + [padding] * (length - len(row)) for row in rows], mx.int32)
    lengths = mx.array([len(row) for row in rows])
    return tokens, mx.arange(length) < lengths[:, None]


def load(folder: Path) -> tuple[SentenceEncoder, WordPiece, int]:
    """The model in a folder, its tokenizer, and the maximum number of tokens of a sentence.

    Raises:
        OSError, RuntimeError, TypeError, ValueError: a file is missing or unsupported.
    """
    config = Config.of(read_json(folder / "config.json"))
    max_length = config.max_position_embeddings
    sentence_settings = folder / "sentence_bert_config.json"
    if sentence_settings.exists():
        max_length = min(
            max_length, positive_integer(read_json(sentence_settings), "max_seq_length", max_length)
        )
    lower, tokenizer_settings = True, folder / "tokenizer_config.json"
    if tokenizer_settings.exists():
        lower = bool(read_json(tokenizer_settings).get("do_lower_case", True))
    tokenizer = WordPiece.from_file(folder / "vocab.txt", lower)
    model = SentenceEncoder(config)
    weights = [
        (_renamed(name), array)
        for name, array in read_weights(folder).items()
        if not UNUSED.search(name)
    ]
    model.load_weights(weights)
    return model, tokenizer, max_length


def _renamed(name: str) -> str:
    for pattern, replacement in RENAMED.items():
        name = re.sub(pattern, replacement, name)
    return name
