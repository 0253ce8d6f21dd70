"""Pipelines of umber.data beside mlx-data, PyTorch's DataLoader and plain NumPy.

    python benches/data.py                                  # what this environment holds
    python benches/data.py --peers PYTHON [PYTHON ...]      # mlx-data and PyTorch from others
    python benches/data.py --cases 'memory|jpeg' --rounds 5

Samples per second of wall time, the best of the rounds, each library in a process of its own. A
checksum of all samples is compared before a time counts.
"""

from __future__ import annotations

import argparse
import importlib
import json
import os
import re
import subprocess
import sys
import tempfile
import time
import wave
from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

THREADS = 2
IMAGES, BATCH = 60_000, 256
PICTURES, SOUNDS, RATE = 300, 500, 16_000
LIBRARIES = {"umber": "umber.data", "mlx-data": "mlx.data", "torch": "torch", "numpy": "numpy"}


# Data ---------------------------------------------------------------------------------------------


def write_data(folder: Path) -> None:
    """Write the files that all libraries read."""
    import umber.data as dx

    rng = np.random.default_rng(0)
    np.save(folder / "images.npy", rng.integers(0, 256, (IMAGES, 28, 28, 1), np.uint8))
    pictures = []
    for index in range(PICTURES):
        height, width = int(rng.integers(330, 450)), int(rng.integers(420, 520))
        # Smooth, with some noise, so that the files have the size of photographs.
        coarse = rng.normal(128, 40, (height // 8 + 2, width // 8 + 2, 3))
        picture = np.kron(coarse, np.ones((8, 8, 1)))[:height, :width]
        picture = (picture + rng.normal(0, 6, picture.shape)).clip(0, 255).astype(np.uint8)
        pictures.append({"image": picture, "file": f"{index}.jpg".encode()})
    for _ in dx.buffer_from_vector(pictures).save_image("image", "file", str(folder)):
        pass
    for index in range(SOUNDS):
        tone = rng.normal(0, 3000, RATE).clip(-32768, 32767).astype("<i2")
        with wave.open(str(folder / f"{index}.wav"), "wb") as file:
            file.setparams((1, 2, RATE, 0, "NONE", ""))
            file.writeframes(tone.tobytes())
    library = Path(os.__file__).parent
    lines = [
        line
        for path in sorted(library.glob("*.py"))[:120]
        for line in path.read_bytes().split(b"\n")
        if line.strip()
    ]
    (folder / "lines.txt").write_bytes(b"\n".join(lines[:60_000]))
    tokens, merges = learn_bpe(lines[:4000], 1200)
    record = {"tokens": [token.hex() for token in tokens], "merges": merges}
    (folder / "bpe.json").write_text(json.dumps(record))


def learn_bpe(lines: list[bytes], count: int) -> tuple[list[bytes], list[tuple[int, int, int]]]:
    """The tokens and merges of a byte-pair encoding of some lines."""
    words: dict[tuple[int, ...], int] = {}
    for line in lines:
        for word in re.findall(rb" ?\S+", line):
            words[tuple(word)] = words.get(tuple(word), 0) + 1
    tokens = [bytes([byte]) for byte in range(256)]
    merges = []
    for _ in range(count):
        pairs: dict[tuple[int, int], int] = {}
        for word, number in words.items():
            for pair in pairwise(word):
                pairs[pair] = pairs.get(pair, 0) + number
        if not pairs:
            break
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        token = len(tokens)
        tokens.append(tokens[best[0]] + tokens[best[1]])
        merges.append((*best, token))
        words = {merged(word, best, token): number for word, number in words.items()}
    return tokens, merges


def merged(word: tuple[int, ...], pair: tuple[int, int], token: int) -> tuple[int, ...]:
    """The word with every occurrence of the pair, from the left, replaced by the token."""
    result: list[int] = []
    index = 0
    while index < len(word):
        if word[index : index + 2] == pair:
            result.append(token)
            index += 2
        else:
            result.append(word[index])
            index += 1
    return tuple(result)


# Cases: each returns the number of samples and an iterable of arrays to sum -----------------------

Case = Callable[[Any, Path], tuple[int, Iterable[np.ndarray]]]
CASES: dict[str, tuple[str, Case]] = {}


def case(key: str, title: str) -> Callable[[Case], Case]:
    """Add a case for umber.data and mlx-data, which share their API."""

    def add(function: Case) -> Case:
        CASES[key] = (title, function)
        return function

    return add


def images_of(folder: Path) -> np.ndarray:
    return np.load(folder / "images.npy")


def rows(dx: Any, folder: Path) -> Any:
    images = images_of(folder)
    return dx.buffer_from_vector([{"x": image, "y": index} for index, image in enumerate(images)])


def batches(stream: Any, key: str = "x") -> Iterator[np.ndarray]:
    return (batch[key] for batch in stream)


@case("memory_rows", "60,000 images from a list, shuffled, batches of 256")
def memory_rows(dx: Any, folder: Path) -> tuple[int, Iterable[np.ndarray]]:
    return IMAGES, batches(rows(dx, folder).shuffle().to_stream().batch(BATCH).prefetch(8, THREADS))


@case("memory_columns", "the same from arrays (umber alone)")
def memory_columns(dx: Any, folder: Path) -> tuple[int, Iterable[np.ndarray]]:
    images = images_of(folder)
    columns = dx.buffer_from_arrays({"x": images, "y": np.arange(IMAGES)})
    return IMAGES, batches(columns.shuffle().to_stream().batch(BATCH).prefetch(8, THREADS))


@case("memory_python", "+ x.astype('float32') / 255 a sample, in Python")
def memory_python(dx: Any, folder: Path) -> tuple[int, Iterable[np.ndarray]]:
    stream = rows(dx, folder).shuffle().to_stream().key_transform("x", to_float)
    return IMAGES, batches(stream.batch(BATCH).prefetch(8, THREADS))


@case("memory_python_batch", "the same on batches")
def memory_python_batch(dx: Any, folder: Path) -> tuple[int, Iterable[np.ndarray]]:
    stream = rows(dx, folder).shuffle().to_stream().batch(BATCH).key_transform("x", to_float)
    return IMAGES, batches(stream.prefetch(8, THREADS))


@case("memory_normalize", "image_normalize on batches (umber alone)")
def memory_normalize(dx: Any, folder: Path) -> tuple[int, Iterable[np.ndarray]]:
    stream = rows(dx, folder).shuffle().to_stream().batch(BATCH).image_normalize("x", 0.0, 1.0)
    return IMAGES, batches(stream.prefetch(8, THREADS))


def to_float(x: np.ndarray) -> np.ndarray:
    return x.astype("float32") / 255


def pictures(dx: Any) -> Any:
    names = [{"image": f"{index}.jpg".encode()} for index in range(PICTURES)]
    return dx.buffer_from_vector(names).to_stream()


@case("jpeg_decode", "JPEG decoding alone, one thread")
def jpeg_decode(dx: Any, folder: Path) -> tuple[int, Iterable[np.ndarray]]:
    stream = pictures(dx).load_image("image", prefix=str(folder))
    return PICTURES, batches(stream, "image")


@case("jpeg_train", "JPEG, side to 256, random crop 224, flip, batches of 32")
def jpeg_train(dx: Any, folder: Path) -> tuple[int, Iterable[np.ndarray]]:
    stream = pictures(dx).load_image("image", prefix=str(folder))
    stream = stream.image_resize_smallest_side("image", 256).image_random_crop("image", 224, 224)
    stream = stream.image_random_h_flip("image", 0.5).batch(32)
    return PICTURES, batches(stream.prefetch(4, THREADS), "image")


def lines(dx: Any, folder: Path) -> tuple[int, Any]:
    text = (folder / "lines.txt").read_bytes().split(b"\n")
    return len(text), dx.buffer_from_vector([{"x": line} for line in text]).to_stream()


def vocabulary(dx: Any, folder: Path) -> tuple[Any, Any]:
    record = json.loads((folder / "bpe.json").read_text())
    trie, merges = dx.core.CharTrie(), dx.core.BPEMerges()
    tokens = [bytes.fromhex(token) for token in record["tokens"]]
    for token in tokens:
        trie.insert(token)
    for left, right, token in record["merges"]:
        merges.add(tokens[left], tokens[right], token)
    return trie, merges


@case("bpe", "60,000 lines by byte-pair encoding, batches of 64")
def bpe(dx: Any, folder: Path) -> tuple[int, Iterable[np.ndarray]]:
    trie, merges = vocabulary(dx, folder)
    count, stream = lines(dx, folder)
    stream = stream.tokenize_bpe("x", trie, merges).batch(64)
    return count, batches(stream.prefetch(8, THREADS))


@case("trie", "60,000 lines by the fewest tokens of a trie, batches of 64")
def trie(dx: Any, folder: Path) -> tuple[int, Iterable[np.ndarray]]:
    trie, _ = vocabulary(dx, folder)
    count, stream = lines(dx, folder)
    return count, batches(stream.tokenize("x", trie).batch(64).prefetch(8, THREADS))


def sounds(dx: Any, folder: Path) -> Any:
    names = [{"x": f"{index}.wav".encode()} for index in range(SOUNDS)]
    return dx.buffer_from_vector(names).to_stream().load_audio("x", prefix=str(folder))


@case("wav", "500 WAV files of one second, batches of 64")
def wav(dx: Any, folder: Path) -> tuple[int, Iterable[np.ndarray]]:
    return SOUNDS, batches(sounds(dx, folder).batch(64).prefetch(8, THREADS))


@case("wav_mfsc", "+ mel-frequency features")
def wav_mfsc(dx: Any, folder: Path) -> tuple[int, Iterable[np.ndarray]]:
    import importlib

    features = importlib.import_module(f"{dx.__name__}.features")
    stream = sounds(dx, folder).squeeze("x", -1).key_transform("x", features.mfsc(40, RATE))
    return SOUNDS, batches(stream.batch(64).prefetch(8, THREADS))


@case("wav_resample", "+ resampling to 8 kHz, the fastest sinc")
def wav_resample(dx: Any, folder: Path) -> tuple[int, Iterable[np.ndarray]]:
    stream = sounds(dx, folder).resample_audio("x", RATE // 2, RATE)
    return SOUNDS, batches(stream.batch(64).prefetch(8, THREADS))


# PyTorch and NumPy --------------------------------------------------------------------------------


def torch_case(key: str, folder: Path) -> tuple[int, Iterable[np.ndarray]] | None:
    """The case with PyTorch's DataLoader, without workers."""
    import torch

    images = torch.from_numpy(images_of(folder))

    class Rows(torch.utils.data.Dataset):  # type: ignore[misc]
        def __len__(self) -> int:
            return IMAGES

        def __getitem__(self, index: int) -> tuple[torch.Tensor, int]:
            image = images[index]
            return (image.float() / 255 if key == "memory_python" else image), index

    if key not in ("memory_rows", "memory_python"):
        return None
    loader = torch.utils.data.DataLoader(Rows(), BATCH, shuffle=True)
    return IMAGES, (x.numpy() for x, _ in loader)


def numpy_case(key: str, folder: Path) -> tuple[int, Iterable[np.ndarray]] | None:
    """The floor: NumPy in one loop."""
    images = images_of(folder)
    order = np.random.default_rng(0).permutation(IMAGES)
    if key == "memory_rows":
        return IMAGES, (images[order[start : start + BATCH]] for start in range(0, IMAGES, BATCH))
    if key == "memory_python_batch":
        floats = (
            to_float(images[order[start : start + BATCH]]) for start in range(0, IMAGES, BATCH)
        )
        return IMAGES, floats
    return None


# Runs ---------------------------------------------------------------------------------------------


def run_case(library: str, key: str, folder: Path) -> dict[str, float] | None:
    """Samples per second and a checksum."""
    if library in ("torch", "numpy"):
        made = (torch_case if library == "torch" else numpy_case)(key, folder)
        if made is None:
            return None
    else:
        dx = importlib.import_module(LIBRARIES[library])
        if library == "mlx-data":
            import mlx.data.core  # noqa: F401
        try:
            made = CASES[key][1](dx, folder)
        except AttributeError:
            return None
    count, arrays = made
    seen = checksum = 0.0
    start = time.perf_counter()
    for array in arrays:
        seen += 1 if key == "jpeg_decode" else len(array)
        checksum += float(array.ravel()[::1009].sum())
    seconds = time.perf_counter() - start
    if seen != count:
        raise AssertionError(f"{library}: {key}: {seen} samples of {count}")
    return {"rate": count / seconds, "checksum": checksum}


def measure(python: str, library: str, key: str, folder: Path) -> dict[str, float] | None:
    """Run a case in a process of its own."""
    command = [python, __file__, "--worker", library, key, str(folder)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode != 0:
        print(f"  {library}: {done.stderr.strip().splitlines()[-1:]}", file=sys.stderr)
        return None
    return json.loads(done.stdout.splitlines()[-1])


def installed(python: str) -> list[str]:
    """The libraries of an environment."""
    names = json.dumps([name.split(".")[0] for name in LIBRARIES.values()])
    program = (
        f"import importlib.util as u, json; print([u.find_spec(n) is not None for n in {names}])"
    )
    text = subprocess.run(
        [python, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    return [name for name, found in zip(LIBRARIES, json.loads(text.lower()), strict=True) if found]


def main() -> None:
    """Measure and print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--peers", nargs="*", default=[], help="interpreters with mlx-data, PyTorch"
    )
    parser.add_argument("--cases", default="", help="a pattern of cases")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--worker", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        library, key, folder = options.worker
        print(json.dumps(run_case(library, key, Path(folder))))
        return
    pythons = dict.fromkeys(("umber", "numpy"), sys.executable)
    for python in options.peers:
        pythons |= {name: python for name in installed(python) if name not in pythons}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_data(folder)
        for key, (title, _) in CASES.items():
            if not re.search(options.cases, key):
                continue
            best: dict[str, dict[str, float]] = {}
            for _ in range(options.rounds):
                for library, python in pythons.items():
                    result = measure(python, library, key, folder)
                    if result and result["rate"] > best.get(library, {"rate": 0})["rate"]:
                        best[library] = result
            print_row(key, title, best)


def print_row(key: str, title: str, best: dict[str, dict[str, float]]) -> None:
    """Print the rates of a case, and umber's over each peer's."""
    own = best.get("umber")
    print(f"{key}: {title}")
    for library, result in best.items():
        ratio = f"{own['rate'] / result['rate']:6.2f}x" if own and library != "umber" else ""
        agrees = own is None or np.isclose(result["checksum"], own["checksum"], rtol=1e-2)
        note = "" if agrees else "  (another checksum)"
        print(f"    {library:10}{result['rate']:12,.0f} /s {ratio}{note}")


if __name__ == "__main__":
    main()
