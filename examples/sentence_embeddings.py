"""Turns sentences into vectors whose products say how alike they are.

    python examples/sentence_embeddings.py                train a small encoder
    python examples/sentence_embeddings.py --weights DIR  an encoder that is published
    python examples/sentence_embeddings.py --weights DIR --sentence "A cat." --sentence "A kitten."

DIR holds `config.json`, `vocab.txt` and `model.safetensors` of a BERT encoder such as
all-MiniLM-L6-v2. Without it, one is trained to tell sentences of one topic from those of others
(van den Oord et al., "Representation Learning with Contrastive Predictive Coding", 2018). Writes
`sentence_embeddings.png`, the products of all pairs.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from itertools import permutations
from pathlib import Path

import numpy as np
import umber.core as mx
from common.files import FILE_ERRORS, check_output, staging
from common.options import Options, fail, positive_number, run, whole_number
from common.training import fit
from models.bert import Config, SentenceEncoder, batch, load
from models.wordpiece import WordPiece
from umber import nn, optimizers

FIGURE_FILE = "sentence_embeddings.png"
SENTENCES = [
    *("A cat sleeps on the sofa.", "A kitten naps on the couch."),
    *("The stock market fell sharply.", "Shares lost much of their value."),
    *("She plays the violin beautifully.", "Her violin playing is wonderful."),
    *("It will rain tomorrow.", "Tomorrow's weather will be wet."),
]
TOPICS = (
    *("rain snow wind storm cloud frost", "bread soup cheese pepper onion butter"),
    *("violin drum song melody piano choir", "ship harbour wave sailor island anchor"),
    *("goal team player referee ball stadium", "rose tree seed soil bee leaf"),
    *("train station ticket platform engine rail", "program array memory kernel compiler thread"),
)
PATTERNS = (
    "The {} and the {} were there.",
    "Yesterday she saw a {} with a {}.",
    "Nobody expected the {} after the {}!",
    "He likes the {}, but not the {}.",
    "Without a {} there is no {}.",
)
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]
SHARPNESS = 10.0
SHOWN = 3


def parse_options() -> argparse.Namespace:
    options = Options("Turn sentences into vectors and compare them.")
    add = options.add_argument
    add("--weights", type=Path, help="folder of an encoder; without it a small one is trained")
    add("--sentence", action="append", help="a sentence to compare with the others, repeatedly")
    add("--steps", type=whole_number(1), default=150, help="training steps")
    add("--learning-rate", type=positive_number, default=1e-3, help="Adam's step size at first")
    options.add_seed_and_output()
    parsed = options.parse_args()
    if parsed.sentence and (parsed.weights is None or len(parsed.sentence) < 2):
        options.error("--sentence: expected --weights and at least 2 sentences")
    return parsed


def generated() -> list[list[str]]:
    """Sentences of each topic, in random order."""
    topics = []
    for words in TOPICS:
        pairs = permutations(words.split(), 2)
        sentences = [pattern.format(*pair) for pair in pairs for pattern in PATTERNS]
        order = mx.random.permutation(len(sentences)).tolist()
        topics.append([sentences[place] for place in order])
    return topics


def vocabulary(topics: list[list[str]]) -> list[str]:
    """The words of all sentences."""
    words = WordPiece(SPECIAL).words(" ".join(sentence for each in topics for sentence in each))
    return [*SPECIAL, *sorted(set(words))]


def train(
    model: SentenceEncoder, tokens: mx.array, there: mx.array, options: argparse.Namespace
) -> list[float]:
    """Adam on the cross-entropy of finding a sentence's partner, which is of its topic.

    `tokens` and `there` are (topics, sentences, length).
    """
    topics, sentences, length = tokens.shape
    each = mx.arange(topics)

    def loss_fn(tokens: mx.array, there: mx.array) -> mx.array:
        vectors = model(tokens.reshape(-1, length), there.reshape(-1, length))
        vectors = vectors.reshape(topics, 2, -1)
        products = vectors[:, 0] @ vectors[:, 1].T
        return nn.losses.cross_entropy(SHARPNESS * products, each, reduction="mean")

    def batches() -> Iterator[tuple[mx.array, mx.array]]:
        while True:
            pairs = mx.random.randint(0, sentences, (topics, 2))
            yield tokens[each[:, None], pairs], there[each[:, None], pairs]

    rate = optimizers.cosine_decay(options.learning_rate, options.steps)
    return fit(model, optimizers.Adam(rate), loss_fn, batches(), options.steps)


def trained(options: argparse.Namespace) -> tuple[list[str], mx.array]:
    """Sentences that a small encoder was not trained on, and its vectors of them."""
    topics = generated()
    tokenizer = WordPiece(vocabulary(topics))
    config = Config(
        vocab_size=len(tokenizer.numbers),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        max_position_embeddings=32,
    )
    model = SentenceEncoder(config)
    tokens, there = batch(tokenizer, [s for each in topics for s in each], 32)
    tokens, there = (array.reshape(len(topics), -1, tokens.shape[1]) for array in (tokens, there))
    held_out = tokens.shape[1] // 5
    print(f"{tokens.shape[0] * tokens.shape[1]} sentences of {len(topics)} topics")
    train(model, tokens[:, held_out:], there[:, held_out:], options)

    test = (tokens[:, :held_out].flatten(0, 1), there[:, :held_out].flatten(0, 1))
    vectors = model(*test)
    alike = vectors @ vectors.T - 2 * mx.eye(vectors.shape[0])
    labels = mx.repeat(mx.arange(len(topics)), held_out)
    right = mx.mean(labels[mx.argmax(alike, axis=-1)] == labels).item()
    print(f"nearest new sentence of the same topic {right:.2%}, by chance {1 / len(topics):.2%}")
    shown = mx.arange(vectors.shape[0]).reshape(len(topics), -1)[:, :SHOWN].flatten()
    return [sentence for each in topics for sentence in each[:SHOWN]], vectors[shown]


def encoded(folder: Path, sentences: list[str]) -> mx.array:
    """The sentences' vectors by an encoder that is published."""
    try:
        model, tokenizer, longest = load(folder)
    except FILE_ERRORS as error:
        fail(f"cannot use the weights in {folder}: {error}")
    model.eval()
    return model(*batch(tokenizer, sentences, longest))


def draw(file: Path, sentences: list[str], products: mx.array) -> None:
    """The products of all pairs of vectors."""
    from matplotlib.figure import Figure

    side = 3 + 0.3 * len(sentences)
    figure = Figure(figsize=(side + 2, side))
    axes = figure.subplots()
    figure.colorbar(axes.imshow(np.array(products), vmin=0, vmax=1))
    axes.set_yticks(range(len(sentences)), sentences, fontsize=8)
    axes.set_xticks([])
    figure.savefig(file, dpi=120, bbox_inches="tight")


def main() -> int:
    options = parse_options()
    mx.random.seed(options.seed)
    check_output(options.output, FIGURE_FILE)
    if options.weights is None:
        sentences, vectors = trained(options)
    else:
        sentences = options.sentence or SENTENCES
        vectors = encoded(options.weights, sentences)
    products = vectors @ vectors.T
    nearest = mx.argmax(products - 2 * mx.eye(len(sentences)), axis=-1).tolist()
    with staging(options.output, FIGURE_FILE) as folder:
        draw(folder / FIGURE_FILE, sentences, products)
    for place, other in enumerate(nearest):
        print(f"{products[place, other].item():.3f}  {sentences[place]}  →  {sentences[other]}")
    return 0


if __name__ == "__main__":
    run(main)
