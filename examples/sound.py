"""Classifies tones by their mel spectra, from WAV files.

    python examples/sound.py

Writes short tones of four kinds with noise as WAV files: a sine, a sweep, a square wave, a pair.
The pipeline reads the files, computes logarithmic mel spectra (25 ms every 10 ms) on threads and
batches them; a small network classifies them.
"""

from __future__ import annotations

import argparse
import tempfile
import wave
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import umber.core as mx
import umber.data as dx
from common.options import Options, positive_number, run, whole_number
from common.training import fit
from umber import nn, optimizers
from umber.data import features

RATE = 8000
SECONDS = 0.4
KINDS = ("sine", "sweep", "square", "pair")
FILTERS = 24


def parse_options() -> argparse.Namespace:
    options = Options("Train a network on the mel spectra of tones.")
    add = options.add_argument
    add("--files", type=whole_number(10), default=600, help="number of WAV files")
    add("--steps", type=whole_number(1), default=300, help="training steps")
    add("--batch-size", type=whole_number(1, 1024), default=32, help="sounds in a training step")
    add("--learning-rate", type=positive_number, default=2e-3, help="Adam's step size")
    add("--hidden", type=whole_number(1, 4096), default=64, help="size of the hidden layers")
    add("--seed", type=whole_number(0), default=0, help="seed of random numbers")
    return options.parse_args()


def tone(kind: str, rng: np.random.Generator) -> np.ndarray[Any, np.dtype[np.float64]]:
    """A sound of a kind at a random pitch, with noise."""
    times = np.arange(int(RATE * SECONDS)) / RATE
    pitch = rng.uniform(200, 800)
    phase = 2 * np.pi * pitch * times
    sound = {
        "sine": np.sin(phase),
        "sweep": np.sin(phase * (1 + times / SECONDS)),
        "square": np.sign(np.sin(phase)),
        "pair": (np.sin(phase) + np.sin(2.7 * phase)) / 2,
    }[kind]
    return 0.5 * sound + rng.normal(0, 0.1, times.shape)


def write_sounds(folder: Path, count: int, seed: int) -> list[dict[str, Any]]:
    """Write WAV files of 16-bit integers, and return their names and labels."""
    rng = np.random.default_rng(seed)
    samples = []
    for number in range(count):
        label = number % len(KINDS)
        name = f"{KINDS[label]}-{number}.wav"
        with wave.open(str(folder / name), "wb") as file:
            file.setnchannels(1)
            file.setsampwidth(2)
            file.setframerate(RATE)
            sound = np.clip(tone(KINDS[label], rng), -1, 1)
            file.writeframes((sound * 32767).astype("<i2").tobytes())
        samples.append({"file": name.encode(), "label": label})
    return samples


def spectra(folder: Path, samples: list[dict[str, Any]]) -> dx.Buffer:
    """Logarithmic mel spectra (frames × filters) and labels."""
    return (
        dx.buffer_from_vector(samples)
        .load_audio("file", prefix=str(folder), output_key="sound")
        .squeeze("sound", 1)
        .key_transform("sound", features.mfsc(FILTERS, RATE))
        .filter_key("file", remove=True)
    )


class Classifier(nn.Module):
    """Two convolutions along time, and the mean over it."""

    def __init__(self, hidden: int) -> None:
        super().__init__()
        self.norm = nn.BatchNorm(FILTERS)
        self.conv1 = nn.Conv1d(FILTERS, hidden, kernel_size=5, stride=2)
        self.conv2 = nn.Conv1d(hidden, hidden, kernel_size=5)
        self.linear = nn.Linear(hidden, len(KINDS))

    def __call__(self, x: mx.array) -> mx.array:
        x = nn.relu(self.conv2(nn.relu(self.conv1(self.norm(x)))))
        return self.linear(x.mean(1))


def main() -> int:
    options = parse_options()
    mx.random.seed(options.seed)
    dx.core.set_state(options.seed)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        samples = write_sounds(folder, options.files, options.seed)
        held_out = len(samples) // 5
        stream = (
            spectra(folder, samples[held_out:])
            .to_stream(shuffle=True)
            .repeat(-1)
            .batch(options.batch_size)
            .prefetch()
        )
        model = Classifier(options.hidden)

        def loss_fn(x: mx.array, labels: mx.array) -> mx.array:
            return nn.losses.cross_entropy(model(x), labels, reduction="mean")

        def batches() -> Iterator[tuple[mx.array, ...]]:
            for batch in stream:
                yield mx.asarray(batch["sound"]), mx.asarray(batch["label"])

        optimizer = optimizers.Adam(options.learning_rate)
        fit(model, optimizer, loss_fn, batches(), options.steps)
        stream.close()
        test = spectra(folder, samples[:held_out]).batch(held_out)[0]
        predicted = mx.argmax(model(mx.asarray(test["sound"])), axis=1)
        accuracy = (predicted == mx.asarray(test["label"])).mean().item()
    print(f"test accuracy {accuracy:.2%}")
    return 0


if __name__ == "__main__":
    run(main)
