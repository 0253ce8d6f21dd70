"""Trains a transformer to continue text, character by character, on umber's own documentation.

    python examples/language_model.py                          train, write a sample
    python examples/language_model.py --text novel.txt         another text
    python examples/language_model.py --weights out/language_model.safetensors --prompt "An array"

The model is a decoder with normalisation first (Radford et al., "Language Models are Unsupervised
Multitask Learners", 2019). The last tenth of the text is held out. Writes
`language_model.safetensors` and `language_model.png`, both or none.
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
# Weights are of use with the same characters only, so these do not depend on the text.
CHARACTERS = "\n" + "".join(map(chr, range(32, 127)))
OTHER = len(CHARACTERS)
EVALUATED = 32


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
    """Scores of every character for the place after each place of a passage."""

    def __init__(self, context: int, layers: int, dims: int, heads: int) -> None:
        super().__init__()
        self.context = context
        self.characters = nn.Embedding(len(CHARACTERS) + 1, dims)
        self.places = nn.Embedding(context, dims)
        self.transformer = nn.TransformerEncoder(layers, dims, heads, activation=nn.gelu)

    def __call__(self, x: mx.array) -> mx.array:
        length = x.shape[1]
        mask = nn.MultiHeadAttention.create_additive_causal_mask(length)
        h = self.characters(x) + self.places(mx.arange(length))
        return self.characters.as_linear(self.transformer(h, mask))


def encode(text: str) -> mx.array:
    """The characters as numbers; those that the model does not know are one."""
    numbers = {character: number for number, character in enumerate(CHARACTERS)}
    return mx.array([numbers.get(character, OTHER) for character in text], mx.int32)


def decode(tokens: list[int]) -> str:
    return "".join("?" if token == OTHER else CHARACTERS[token] for token in tokens)


def read_text(file: Path | None, context: int) -> tuple[mx.array, mx.array]:
    """The text to train on and the text held out."""
    files = [file] if file else [*sorted(ROOT.glob("*.md")), *sorted(ROOT.glob("docs/**/*.md"))]
    try:
        text = encode("\n".join(each.read_text(encoding="utf-8") for each in files))
    except (OSError, UnicodeDecodeError) as error:
        fail(f"cannot read {file or ROOT}: {error}")
    held_out = text.size // 10
    if held_out < context + 2:
        fail(f"got {text.size} characters, expected more than {10 * (context + 2)}")
    return text[:-held_out], text[-held_out:]


def passages(text: mx.array, count: int, context: int) -> tuple[mx.array, mx.array]:
    """Random passages, and what follows each of their characters."""
    starts = mx.random.randint(0, text.size - context, (count, 1))
    places = starts + mx.arange(context)
    return text[places], text[places + 1]


def train(model: LanguageModel, text: mx.array, options: argparse.Namespace) -> list[float]:
    """AdamW, its rate rising for a tenth of the steps and falling to 0 afterwards."""

    def loss_fn(x: mx.array, following: mx.array) -> mx.array:
        return nn.losses.cross_entropy(model(x), following, reduction="mean")

    def batches() -> Iterator[tuple[mx.array, mx.array]]:
        while True:
            yield passages(text, options.batch_size, options.context)

    rising = max(1, options.steps // 10)
    rate = optimizers.join_schedules(
        [
            optimizers.linear_schedule(0, options.learning_rate, rising),
            optimizers.cosine_decay(options.learning_rate, max(1, options.steps - rising)),
        ],
        [rising],
    )
    return fit(model, optimizers.AdamW(rate), loss_fn, batches(), options.steps)


def evaluate(model: LanguageModel, text: mx.array) -> float:
    """The mean cross-entropy of passages of the text, in nats for each character."""
    x, following = passages(text, EVALUATED, model.context)
    return float(nn.losses.cross_entropy(model(x), following, reduction="mean").item())


def sample(model: LanguageModel, prompt: str, length: int, temperature: float) -> str:
    """The prompt and its continuation, each character drawn by the scores that the model gives."""
    tokens = encode(prompt).tolist()
    for _ in range(length):
        # Filled up to one length, so that the model's graphs are alike.
        seen = tokens[-model.context :]
        padded = seen + [0] * (model.context - len(seen))
        scores = model(mx.array([padded]))[0, len(seen) - 1]
        if temperature == 0:
            tokens.append(mx.argmax(scores).item())
        else:
            tokens.append(mx.random.categorical(scores / temperature).item())
    return decode(tokens)


def draw(file: Path, losses: list[float], held_out: float) -> None:
    """The loss of each step, and what guessing and the held-out text come to."""
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
