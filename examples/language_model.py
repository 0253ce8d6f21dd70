"""Trains a character-level transformer language model on umber's documentation.

    python examples/language_model.py                          train and print a sample
    python examples/language_model.py --text novel.txt         another text
    python examples/language_model.py --weights out/language_model.safetensors --prompt "An array"

The model is a pre-norm decoder (Radford et al., "Language Models are Unsupervised Multitask
Learners", 2019). The last tenth of the text is held out. Writes `language_model.safetensors` and
`language_model.png`, both or none.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Iterator
from pathlib import Path

import umber.core as mx
from common.files import check_output, load_weights, staging
from common.options import Options, fail, number_in, positive_number, run, whole_number
from common.training import fit
from umber import nn, optimizers

WEIGHTS_FILE = "language_model.safetensors"
FIGURE_FILE = "language_model.png"
ROOT = Path(__file__).resolve().parents[1]
# Saved weights depend on the vocabulary, so it is fixed and does not depend on the text.
CHARACTERS = "\n" + "".join(map(chr, range(32, 127)))
# The token of all characters outside the vocabulary.
OTHER = len(CHARACTERS)
EVALUATION_PASSAGES = 32


def parse_options() -> argparse.Namespace:
    options = Options("Train a transformer on text and let it continue a prompt.")
    add = options.add_argument
    add("--text", type=Path, help="a file to train on, instead of umber's documentation")
    add("--steps", type=whole_number(1), default=1000, help="training steps")
    add("--batch-size", type=whole_number(1, 1024), default=16, help="passages in a training step")
    add("--context", type=whole_number(2, 4096), default=64, help="characters of a passage")
    add("--learning-rate", type=positive_number, default=3e-3, help="AdamW's highest step size")
    add("--layers", type=whole_number(1, 64), default=2, help="layers of the transformer")
    add("--heads", type=whole_number(1, 64), default=4, help="heads of the attention")
    add("--dims", type=whole_number(1, 4096), default=96, help="size of a character's vector")
    add("--weights", type=Path, help="a file of weights: only continue the prompt with it")
    add("--prompt", default="An array ", help="the beginning of the sample")
    add("--length", type=whole_number(1, 100_000), default=300, help="characters of the sample")
    add("--temperature", type=number_in(0, 100), default=0.7, help="0 takes the likeliest")
    options.add_seed_and_output()
    parsed = options.parse_args()
    if parsed.dims % parsed.heads:
        options.error(f"--dims: got {parsed.dims}, expected a multiple of --heads {parsed.heads}")
    if not parsed.prompt:
        options.error("--prompt: got '', expected at least one character")
    return parsed


class LanguageModel(nn.Module):
    """Logits of the next character after each position of a passage."""

    def __init__(self, context: int, layers: int, dims: int, heads: int) -> None:
        super().__init__()
        self.context = context
        self.characters = nn.Embedding(len(CHARACTERS) + 1, dims)
        self.positions = nn.Embedding(context, dims)
        self.transformer = nn.TransformerEncoder(layers, dims, heads, activation=nn.gelu)

    def __call__(self, x: mx.array) -> mx.array:
        length = x.shape[1]
        mask = nn.MultiHeadAttention.create_additive_causal_mask(length)
        h = self.characters(x) + self.positions(mx.arange(length))
        return self.characters.as_linear(self.transformer(h, mask))


def encode(text: str) -> mx.array:
    """The tokens of the characters; all unknown characters map to `OTHER`."""
    numbers = {character: number for number, character in enumerate(CHARACTERS)}
    return mx.array([numbers.get(character, OTHER) for character in text], mx.int32)


def decode(tokens: list[int]) -> str:
    return "".join("?" if token == OTHER else CHARACTERS[token] for token in tokens)


def read_text(file: Path | None, context: int) -> tuple[mx.array, mx.array]:
    """The training text and the held-out text."""
    files = [file] if file else [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md"))]
    try:
        text = encode("\n".join(path.read_text(encoding="utf-8") for path in files))
    except (OSError, UnicodeDecodeError) as error:
        fail(f"cannot read {file or ROOT}: {error}")
    held_out = text.size // 10
    if held_out < context + 2:
        fail(f"got {text.size} characters, expected more than {10 * (context + 2)}")
    return text[:-held_out], text[-held_out:]


def passages(text: mx.array, count: int, context: int) -> tuple[mx.array, mx.array]:
    """Random passages, and the next character after each of their characters."""
    starts = mx.random.randint(0, text.size - context, (count, 1))
    indices = starts + mx.arange(context)
    return text[indices], text[indices + 1]


def train(model: LanguageModel, text: mx.array, options: argparse.Namespace) -> list[float]:
    """Train with AdamW: linear warmup over a tenth of the steps, then cosine decay to 0."""

    def loss_fn(x: mx.array, targets: mx.array) -> mx.array:
        return nn.losses.cross_entropy(model(x), targets, reduction="mean")

    def batches() -> Iterator[tuple[mx.array, mx.array]]:
        while True:
            yield passages(text, options.batch_size, options.context)

    warmup = max(1, options.steps // 10)
    rate = optimizers.join_schedules(
        [
            optimizers.linear_schedule(0, options.learning_rate, warmup),
            optimizers.cosine_decay(options.learning_rate, max(1, options.steps - warmup)),
        ],
        [warmup],
    )
    return fit(model, optimizers.AdamW(rate), loss_fn, batches(), options.steps)


def evaluate(model: LanguageModel, text: mx.array) -> float:
    """The mean cross-entropy of random passages of the text, in nats per character."""
    x, targets = passages(text, EVALUATION_PASSAGES, model.context)
    return float(nn.losses.cross_entropy(model(x), targets, reduction="mean").item())


def sample(model: LanguageModel, prompt: str, length: int, temperature: float) -> str:
    """The prompt and its continuation, each character sampled from the model's prediction."""
    tokens = encode(prompt).tolist()
    for _ in range(length):
        # Padded to a fixed length, so that every call builds the same graph.
        context = tokens[-model.context :]
        padded = context + [0] * (model.context - len(context))
        scores = model(mx.array([padded]))[0, len(context) - 1]
        if temperature == 0:
            tokens.append(mx.argmax(scores).item())
        else:
            tokens.append(mx.random.categorical(scores / temperature).item())
    return decode(tokens)


def draw(file: Path, losses: list[float], held_out: float) -> None:
    """Plot the loss of each step, of a uniform guess, and of the held-out text."""
    from common.drawing import draw_losses
    from matplotlib.figure import Figure

    figure = Figure(figsize=(7, 4), layout="constrained")
    axes = figure.subplots()
    axes.axhline(math.log(len(CHARACTERS) + 1), color="gray", linestyle=":", label="guessing")
    axes.axhline(held_out, color="C1", linestyle="--", label="held-out text")
    axes.set_ylabel("nats for each character")
    draw_losses(axes, losses)
    figure.savefig(file, dpi=120)


def main() -> int:
    options = parse_options()
    mx.random.seed(options.seed)
    model = LanguageModel(options.context, options.layers, options.dims, options.heads)
    if options.weights is not None:
        load_weights(model, options.weights).eval()
        print(sample(model, options.prompt, options.length, options.temperature))
        return 0
    check_output(options.output, WEIGHTS_FILE, FIGURE_FILE)
    text, held_out = read_text(options.text, options.context)
    print(f"{text.size} characters to train on, {held_out.size} held out")
    losses = train(model, text, options)
    loss = evaluate(model, held_out)
    print(f"held-out loss {loss:.3f} nats for each character")
    with staging(options.output, WEIGHTS_FILE, FIGURE_FILE) as folder:
        model.save_weights(folder / WEIGHTS_FILE)
        draw(folder / FIGURE_FILE, losses, loss)
    print(sample(model, options.prompt, options.length, options.temperature))
    return 0


if __name__ == "__main__":
    run(main)
