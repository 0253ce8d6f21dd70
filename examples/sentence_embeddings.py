"""Computes sentence embeddings, whose dot products measure similarity.

    python examples/sentence_embeddings.py                train a small encoder
    python examples/sentence_embeddings.py --weights DIR  use a published encoder
    python examples/sentence_embeddings.py --weights DIR --sentence "A cat." --sentence "A kitten."

DIR contains `config.json`, `vocab.txt` and `model.safetensors` of a BERT encoder such as
all-MiniLM-L6-v2. Without it, a small encoder is trained to distinguish topics with a contrastive
loss (van den Oord et al., "Representation Learning with Contrastive Predictive Coding", 2018).
Writes `sentence_embeddings.png`, the dot products of all pairs.
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
# The factor of the dot products in the contrastive loss.
INVERSE_TEMPERATURE = 10.0
SHOWN_PER_TOPIC = 3


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


def generate_sentences() -> list[list[str]]:
    """Sentences of each topic, in random order."""
    topics = []
    for words in TOPICS:
        pairs = permutations(words.split(), 2)
        sentences = [pattern.format(*pair) for pair in pairs for pattern in PATTERNS]
        order = mx.random.permutation(len(sentences)).tolist()
        topics.append([sentences[i] for i in order])
    return topics


def vocabulary(topics: list[list[str]]) -> list[str]:
    """The words of all sentences."""
    words = WordPiece(SPECIAL).words(" ".join(sentence for topic in topics for sentence in topic))
    return [*SPECIAL, *sorted(set(words))]


def train(
    model: SentenceEncoder, tokens: mx.array, mask: mx.array, options: argparse.Namespace
) -> list[float]:
    """Train with Adam to match two sentences of the same topic among pairs of all topics.

    `tokens` and `mask` are (topics, sentences, length).
    """
    topics, sentences, length = tokens.shape
    topic_indices = mx.arange(topics)

    def loss_fn(tokens: mx.array, mask: mx.array) -> mx.array:
        vectors = model(tokens.reshape(-1, length), mask.reshape(-1, length))
        vectors = vectors.reshape(topics, 2, -1)
        products = vectors[:, 0] @ vectors[:, 1].T
        return nn.losses.cross_entropy(
            INVERSE_TEMPERATURE * products, topic_indices, reduction="mean"
        )

    def batches() -> Iterator[tuple[mx.array, mx.array]]:
        while True:
            pairs = mx.random.randint(0, sentences, (topics, 2))
            yield tokens[topic_indices[:, None], pairs], mask[topic_indices[:, None], pairs]

    rate = optimizers.cosine_decay(options.learning_rate, options.steps)
    return fit(model, optimizers.Adam(rate), loss_fn, batches(), options.steps)


def train_encoder(options: argparse.Namespace) -> tuple[list[str], mx.array]:
    """Train a small encoder; returns held-out sentences and their vectors."""
    topics = generate_sentences()
    tokenizer = WordPiece(vocabulary(topics))
    config = Config(
        vocab_size=len(tokenizer.ids),
        hidden_size=64,
        num_hidden_layers=2,
        num_attention_heads=4,
        intermediate_size=128,
        max_position_embeddings=32,
    )
    model = SentenceEncoder(config)
    tokens, mask = batch(tokenizer, [sentence for topic in topics for sentence in topic], 32)
    tokens, mask = (array.reshape(len(topics), -1, tokens.shape[1]) for array in (tokens, mask))
    held_out = tokens.shape[1] // 5
    print(f"{tokens.shape[0] * tokens.shape[1]} sentences of {len(topics)} topics")
    train(model, tokens[:, held_out:], mask[:, held_out:], options)

    test = (tokens[:, :held_out].flatten(0, 1), mask[:, :held_out].flatten(0, 1))
    vectors = model(*test)
    similarities = vectors @ vectors.T - 2 * mx.eye(vectors.shape[0])
    labels = mx.repeat(mx.arange(len(topics)), held_out)
    test_accuracy = mx.mean(labels[mx.argmax(similarities, axis=-1)] == labels).item()
    chance = 1 / len(topics)
    print(f"nearest new sentence of the same topic {test_accuracy:.2%}, by chance {chance:.2%}")
    shown = mx.arange(vectors.shape[0]).reshape(len(topics), -1)[:, :SHOWN_PER_TOPIC].flatten()
    return [sentence for topic in topics for sentence in topic[:SHOWN_PER_TOPIC]], vectors[shown]


def encode(folder: Path, sentences: list[str]) -> mx.array:
    """The vectors of the sentences by a published encoder."""
    try:
        model, tokenizer, max_length = load(folder)
    except FILE_ERRORS as error:
        fail(f"cannot use the weights in {folder}: {error}")
    model.eval()
    return model(*batch(tokenizer, sentences, max_length))


def draw(file: Path, sentences: list[str], products: mx.array) -> None:
    """Plot the dot products of all pairs of vectors."""
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
        sentences, vectors = train_encoder(options)
    else:
        sentences = options.sentence or SENTENCES
        vectors = encode(options.weights, sentences)
    products = vectors @ vectors.T
    nearest = mx.argmax(products - 2 * mx.eye(len(sentences)), axis=-1).tolist()
    with staging(options.output, FIGURE_FILE) as folder:
        draw(folder / FIGURE_FILE, sentences, products)
    for i, j in enumerate(nearest):
        print(f"{products[i, j].item():.3f}  {sentences[i]}  →  {sentences[j]}")
    return 0


if __name__ == "__main__":
    run(main)
