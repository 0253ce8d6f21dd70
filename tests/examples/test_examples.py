"""The examples in a small setting: what they reach, what they write, and what they refuse.

`digits.py`, which the others resemble, is tested more closely in `test_digits_cli.py`.
"""

import os
import re
from typing import NamedTuple

import pytest
from example_runs import EXAMPLES, assert_refused, run, safetensors

pytest.importorskip("matplotlib")
pytest.importorskip("sklearn")
pytest.importorskip("tqdm")


class Small(NamedTuple):
    """An example in a small setting."""

    options: str
    result: str
    """What it prints, with the number that counts in a group."""
    at_least: float = float("-inf")
    at_most: float = float("inf")
    files: tuple[str, ...] = ()


EXPECTED = {
    # By chance 10 %.
    "convolutional_digits": Small(
        "--steps 150 --channels 8",
        r"^test accuracy ([\d.]+)%$",
        at_least=90,
        files=("convolutional_digits.png", "convolutional_digits.safetensors"),
    ),
    # By chance 10 %.
    "image_folder": Small(
        "--steps 150 --channels 8",
        r"^test accuracy ([\d.]+)%$",
        at_least=60,
        files=("image_folder.png",),
    ),
    # By chance 25 %.
    "sound": Small(
        "--files 300 --steps 60 --hidden 16",
        r"^test accuracy ([\d.]+)%$",
        at_least=80,
    ),
    # Of 97 characters, guessing costs log 97 = 4.57 each; frequencies alone come to 3.2.
    "language_model": Small(
        "--steps 300 --context 16 --dims 48 --length 40",
        r"^held-out loss ([\d.]+) nats",
        at_most=3.0,
        files=("language_model.png", "language_model.safetensors"),
    ),
    # Grey images cost 64 log 2 = 44.4.
    "autoencoder": Small(
        "--steps 300 --hidden 64",
        r"^negative bound of the test digits ([\d.]+) nats$",
        at_most=27,
        files=("autoencoder.png",),
    ),
    # A normal distribution comes to 1.9.
    "flow": Small(
        "--steps 250 --hidden 32 --couplings 6 --learning-rate 1e-2",
        r"^-log p\(x\) of new points (-?[\d.]+) nats$",
        at_most=1.5,
        files=("flow.png",),
    ),
    # By chance 10 %, and as much before the adapters are trained.
    "lora": Small(
        "--steps 200 --adapter-steps 300 --hidden 64",
        r"^adapted: ([\d.]+)% of rotated digits",
        at_least=70,
        files=("lora.png", "lora.safetensors"),
    ),
    # By chance 25 %.
    "graph_network": Small(
        "--steps 100 --members 30",
        r"^accuracy of the others ([\d.]+)%",
        at_least=80,
        files=("graph_network.png",),
    ),
    # By chance 12.5 %.
    "sentence_embeddings": Small(
        "--steps 40",
        r"of the same topic ([\d.]+)%",
        at_least=80,
        files=("sentence_embeddings.png",),
    ),
    "generate": Small("--length 20", r"^(20) tokens, \d+ tokens/s$"),
}
WRITING = [name for name, small in EXPECTED.items() if small.files]
WITH_WEIGHTS = ["convolutional_digits", "language_model"]


@pytest.fixture(scope="module")
def small_run(tmp_path_factory):
    """The folder and the result of an example in its small setting, run once."""
    runs = {}

    def get(name):
        if name not in runs:
            folder = tmp_path_factory.mktemp(name)
            runs[name] = folder, run(name, *EXPECTED[name].options.split(), folder=folder)
        return runs[name]

    return get


def test_every_example_is_tested_and_listed():
    names = {path.stem for path in EXAMPLES.glob("*.py")}
    assert names == EXPECTED.keys() | {"digits"}
    readme = (EXAMPLES.parent / "README.md").read_text()
    assert set(re.findall(r"^\| \[(\w+)\.py\]\(examples/", readme, re.MULTILINE)) == names


@pytest.mark.parametrize("name", EXPECTED)
def test_result_is_far_from_guessing(name, small_run):
    _, result = small_run(name)
    assert result.returncode == 0, result.stderr
    expected = EXPECTED[name]
    value = float(re.search(expected.result, result.stdout, re.MULTILINE)[1])
    assert expected.at_least <= value <= expected.at_most
    assert re.search(r"\d+/\d+ \[.*(step|token)/s", result.stderr)


@pytest.mark.parametrize("name", EXPECTED)
def test_files_are_complete_and_the_only_ones(name, small_run):
    folder, _ = small_run(name)
    files = EXPECTED[name].files
    assert os.listdir(folder) == (["out"] if files else [])
    if files:
        assert sorted(os.listdir(folder / "out")) == sorted(files)
        assert (folder / "out" / f"{name}.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")


@pytest.mark.parametrize("name", EXPECTED)
def test_help_tells_what_it_is_and_every_option(name, tmp_path):
    result = run(name, "--help", folder=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout.startswith(f"usage: {name}.py ")
    used = re.findall(r"\[(--[a-z-]+)", result.stdout.partition("\n\n")[0])
    told = re.findall(r"^  (--[a-z-]+) \S+\s+\w", result.stdout, re.MULTILINE)
    assert told == used
    assert "--seed" in told


@pytest.mark.parametrize(
    "command",
    ["generate --length 5", "flow --steps 2", "language_model --steps 2 --context 8 --length 9"],
)
def test_seed_decides_what_is_drawn(command, tmp_path):
    runs = [run(*command.split(), "--seed", seed, folder=tmp_path) for seed in (3, 3, 4)]
    assert runs[0].returncode == 0, runs[0].stderr
    first, again, other = (re.sub(r"\d+ tokens/s", "", result.stdout) for result in runs)
    assert first == again != other


@pytest.mark.parametrize("name", EXPECTED)
@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--see", "3"], "unrecognized arguments: --see 3"),
        (["--seed", "-1"], "--seed: got '-1', expected a whole number from 0"),
    ],
)
def test_wrong_options(name, arguments, message, tmp_path):
    assert_refused(run(name, *arguments, folder=tmp_path), message)
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize(
    ("command", "message"),
    [
        *((f"{name} --steps 0", "--steps: got '0', expected a whole") for name in WRITING),
        ("convolutional_digits --channels x", "--channels: got 'x'"),
        ("convolutional_digits --batch-size 1e9", "--batch-size: got '1e9'"),
        ("language_model --dims 10 --heads 3", "--dims: got 10, expected a multiple of --heads 3"),
        ("language_model --temperature -1", "--temperature: got '-1', expected a number from 0"),
        ("language_model --temperature nan", "--temperature: got 'nan'"),
        ("language_model --text nothing.txt", "cannot read nothing.txt: .*No such file"),
        ("autoencoder --learning-rate inf", "--learning-rate: got 'inf', expected a number above"),
        ("flow --couplings 1", "--couplings: got '1', expected a whole number from 2"),
        ("flow --noise 2", "--noise: got '2', expected a number from 0 to 1"),
        ("lora --rank 0", "--rank: got '0'"),
        ("graph_network --known 60", "--known: got 60, expected fewer than --members"),
        ("graph_network --inside 1.5", "--inside: got '1.5', expected a number from 0 to 1"),
        ("generate --length 0", "--length: got '0'"),
        ("generate --length 5000", "--length: got 5000, expected at most 2032"),
        ("generate --top-p 1.1", "--top-p: got '1.1'"),
        ("generate --quantize 5.5", "--quantize: invalid int value: '5.5'"),
        ("generate --prompt=", "--prompt: got '', expected at least one token"),
        ("sentence_embeddings --sentence A", "--sentence: expected --weights and at least 2"),
    ],
)
def test_wrong_values(command, message, tmp_path):
    name, *arguments = command.split()
    result = run(name, *arguments, folder=tmp_path)
    assert_refused(result, message)
    written = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert not written


@pytest.mark.parametrize("name", WRITING)
def test_output_below_a_file(name, tmp_path):
    (tmp_path / "file").write_text("here")
    result = run(name, "--output", tmp_path / "file" / "out", folder=tmp_path)
    assert_refused(result, "cannot write to .*file/out: Not a directory")
    assert os.listdir(tmp_path) == ["file"]


@pytest.mark.parametrize("name", WRITING)
def test_output_with_a_folder_in_the_place_of_a_file(name, tmp_path):
    (tmp_path / "out" / f"{name}.png").mkdir(parents=True)
    assert_refused(run(name, folder=tmp_path), f"cannot write out/{name}.png: it is a folder")
    assert os.listdir(tmp_path / "out") == [f"{name}.png"]


def test_texts_that_cannot_be_learned(tmp_path):
    (tmp_path / "short.txt").write_text("short")
    (tmp_path / "bytes.txt").write_bytes(bytes(range(256)) * 100)
    for name, message in {
        "short.txt": "got 5 characters, expected more than 660",
        "bytes.txt": "cannot read bytes.txt: .*utf-8",
    }.items():
        assert_refused(run("language_model", "--text", name, folder=tmp_path), message)


VALID = safetensors({"a": (2,)})


def test_a_killed_training_goes_on_where_it_was(small_run):
    _, result = small_run("image_folder")
    assert "killed after step 75, goes on after step 60\n" in result.stdout
    (whole,) = re.findall(r"^without interruption: loss (\S+) in step 150$", result.stdout, re.M)
    assert f"with interruption: loss {whole}, the same\n" in result.stdout


@pytest.mark.parametrize("name", WITH_WEIGHTS)
@pytest.mark.parametrize(
    "content",
    [b"", VALID[:7], VALID[:-1], VALID, b"no weights"],
    ids="empty short cut other text".split(),
)
def test_damaged_weights(name, content, tmp_path):
    file = tmp_path / "weights.safetensors"
    file.write_bytes(content)
    result = run(name, "--weights", file, folder=tmp_path)
    assert_refused(result, f"cannot use the weights in {re.escape(str(file))}: .+")
    assert os.listdir(tmp_path) == ["weights.safetensors"]


def test_saved_digits_weights_are_only_evaluated(small_run, tmp_path):
    folder, result = small_run("convolutional_digits")
    weights = folder / "out" / "convolutional_digits.safetensors"
    again = run("convolutional_digits", "--channels", 8, "--weights", weights, folder=tmp_path)
    assert again.returncode == 0, again.stderr
    assert re.search("test accuracy .*", again.stdout)[0] in result.stdout
    assert not os.listdir(tmp_path)


def test_saved_language_model_continues_a_prompt(small_run, tmp_path):
    folder, _ = small_run("language_model")
    weights = folder / "out" / "language_model.safetensors"
    again = run(
        *("language_model", "--weights", weights, "--dims", 48, "--context", 16),
        *("--prompt", "An αrray", "--length", 30, "--temperature", 0),
        folder=tmp_path,
    )
    assert again.returncode == 0, again.stderr
    assert again.stdout.startswith("An ?rray")
    assert len(again.stdout) == len("An ?rray") + 30 + 1
    assert not os.listdir(tmp_path)


def test_a_loss_that_is_not_finite_ends_the_training(tmp_path):
    options = "--steps 10 --channels 2 --learning-rate 1e30".split()
    result = run("convolutional_digits", *options, folder=tmp_path)
    assert result.returncode == 2
    assert re.search(r"error: training failed: got a loss of \w+ in step 10, exp", result.stderr)
    assert not os.listdir(tmp_path / "out")
