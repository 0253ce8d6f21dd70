"""Continues a prompt with a language model of the Llama architecture.

    python examples/generate.py                                     random weights: noise
    python examples/generate.py --weights DIR --prompt "Once upon"  published weights
    python examples/generate.py --weights DIR --quantize 4          weights quantised to 4 bits

DIR contains `config.json`, `*.safetensors` and `tokenizer.json`, which the package `tokenizers`
reads. Without `tokenizer.json`, a model with a vocabulary of 256 uses bytes as tokens.
"""

from __future__ import annotations

import argparse
import time
from itertools import islice
from pathlib import Path
from typing import NamedTuple, Protocol

import umber.core as mx
from common.files import FILE_ERRORS
from common.options import Options, fail, number_in, run, whole_number
from models.llama import Config, Llama, load
from models.sampling import generate, sampler
from tqdm import tqdm
from umber import nn
from umber.utils import tree_flatten

BYTES = 256
GROUP_SIZE = 64
RANDOM = Config(
    vocab_size=BYTES,
    hidden_size=128,
    num_hidden_layers=4,
    intermediate_size=384,
    num_attention_heads=8,
    num_key_value_heads=2,
    head_dim=16,
)


def parse_options() -> argparse.Namespace:
    options = Options("Continue a prompt with a language model of the Llama architecture.")
    add = options.add_argument
    add("--weights", type=Path, help="folder of a model; without it the weights are random")
    add("--prompt", default="Once upon a time", help="the beginning of the text")
    add("--length", type=whole_number(1, 100_000), default=100, help="tokens to add at most")
    add("--temperature", type=number_in(0, 100), default=0.7, help="0 takes the likeliest token")
    add("--top-p", type=number_in(0, 1), default=0.95, help="probability mass to sample from")
    add("--quantize", type=int, choices=(2, 3, 4, 6, 8), help="bits of the quantised weights")
    add("--seed", type=whole_number(0), default=0, help="seed of the random numbers")
    return options.parse_args()


class Tokenizer(Protocol):
    """Converts between text and tokens."""

    def encode(self, text: str) -> list[int]: ...

    def decode(self, tokens: list[int]) -> str: ...


class ByteTokenizer:
    """Uses the bytes of the UTF-8 encoding as tokens."""

    def encode(self, text: str) -> list[int]:
        return list(text.encode())

    def decode(self, tokens: list[int]) -> str:
        return bytes(tokens).decode(errors="replace")


class FileTokenizer:
    """The tokenizer in a tokenizer.json."""

    def __init__(self, file: Path) -> None:
        try:
            from tokenizers import Tokenizer
        except ImportError:
            fail(f"to read {file} install the package tokenizers")
        try:
            self.tokenizer = Tokenizer.from_file(str(file))
        except Exception as error:  # the package raises plain Exception
            fail(f"cannot use the tokenizer in {file}: {error}")

    def encode(self, text: str) -> list[int]:
        return list(self.tokenizer.encode(text).ids)

    def decode(self, tokens: list[int]) -> str:
        return str(self.tokenizer.decode(tokens))


def tokenizer_of(folder: Path | None, config: Config) -> Tokenizer:
    if folder is not None and (folder / "tokenizer.json").exists():
        return FileTokenizer(folder / "tokenizer.json")
    if config.vocab_size != BYTES:
        fail(f"cannot use the tokenizer in {folder}: there is no tokenizer.json")
    return ByteTokenizer()


def read_model(options: argparse.Namespace) -> Llama:
    if options.weights is None:
        return Llama(RANDOM)
    try:
        return load(options.weights)
    except (*FILE_ERRORS, KeyError) as error:
        fail(f"cannot use the weights in {options.weights}: {error}")


def quantize(model: Llama, bits: int) -> None:
    """Quantise the weights to `bits` bits, in groups that share a scale."""
    if not hasattr(nn, "quantize"):
        fail("--quantize: this umber has no nn.quantize")
    try:
        nn.quantize(model, group_size=GROUP_SIZE, bits=bits)
    except (TypeError, ValueError) as error:
        fail(f"--quantize: {error}")


class Generated(NamedTuple):
    """Generated tokens, and how long the generation took."""

    tokens: list[int]
    seconds: float


def continue_prompt(model: Llama, prompt: list[int], options: argparse.Namespace) -> Generated:
    """The continuation of the prompt, up to an end-of-text token or `options.length` tokens."""
    begin = time.perf_counter()
    tokens: list[int] = []
    stream = generate(model, prompt, sampler(options.temperature, options.top_p))
    for token in tqdm(
        islice(stream, options.length), total=options.length, unit="token", leave=False
    ):
        if token in model.config.ends:
            break
        tokens.append(token)
    return Generated(tokens, time.perf_counter() - begin)


def main() -> int:
    options = parse_options()
    mx.random.seed(options.seed)
    model = read_model(options)
    tokenizer = tokenizer_of(options.weights, model.config)
    prompt = tokenizer.encode(options.prompt)
    if not prompt:
        fail(f"--prompt: got {options.prompt!r}, expected at least one token")
    if max(prompt) >= model.config.vocab_size:
        fail(f"the tokenizer has the token {max(prompt)}, the model {model.config.vocab_size}")
    available = model.config.max_position_embeddings - len(prompt)
    if options.length > available:
        fail(f"--length: got {options.length}, expected at most {available}, the model's context")
    if options.quantize is not None:
        quantize(model, options.quantize)
    parameters = [array for _, array in tree_flatten(model.parameters())]
    mx.eval(parameters)
    print(f"{sum(array.nbytes for array in parameters) / 2**20:.1f} MiB of weights")
    generated = continue_prompt(model, prompt, options)
    print(options.prompt + tokenizer.decode(generated.tokens))
    count = len(generated.tokens)
    print(f"{count} tokens, {count / generated.seconds:.0f} tokens/s")
    return 0


if __name__ == "__main__":
    run(main)
