"""`examples/digits.py` as a user runs it: the whole job once, and every way to ask it wrongly."""

import json
import os
import re
import struct
from functools import partial

import example_runs
import numpy as np
import pytest
from example_runs import assert_refused, safetensors

pytest.importorskip("matplotlib")
pytest.importorskip("sklearn")
pytest.importorskip("tqdm")

OPTIONS = (
    *("--epochs", "--batch-size", "--learning-rate", "--hidden", "--seed"),
    *("--output", "--weights"),
)
SHAPES = {
    "layers.0.weight": (128, 64),
    "layers.0.bias": (128,),
    "layers.3.weight": (128, 128),
    "layers.3.bias": (128,),
    "layers.6.weight": (10, 128),
    "layers.6.bias": (10,),
}


run = partial(example_runs.run, "digits")


@pytest.fixture(scope="module")
def trained(tmp_path_factory):
    """The folder and the result of a run with the default options."""
    folder = tmp_path_factory.mktemp("digits")
    return folder, run(folder=folder)


def test_help_tells_every_option(tmp_path):
    result = run("--help", folder=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    described = re.findall(r"^  (--[a-z-]+) [A-Z_]+\s+\w", result.stdout, re.MULTILINE)
    assert set(described) == set(OPTIONS)


def test_training_reaches_97_percent(trained):
    _, result = trained
    assert result.returncode == 0, result.stderr
    final = re.search(r"^test accuracy ([\d.]+)%$", result.stdout, re.MULTILINE)
    assert float(final[1]) >= 97


def test_each_epoch_has_a_line_and_the_loss_falls(trained):
    _, result = trained
    lines = re.findall(
        r"^epoch +(\d+)  loss ([\d.]+)  accuracy +([\d.]+)% +(\d+) samples/s$",
        result.stdout,
        re.MULTILINE,
    )
    assert [int(line[0]) for line in lines] == list(range(1, 31))
    losses = [float(line[1]) for line in lines]
    assert losses[-1] < 0.1 * losses[0]
    assert all(int(line[3]) > 0 for line in lines)
    assert "step/s" in result.stderr


def test_digits_are_shared_with_numpy(trained):
    _, result = trained
    assert re.search(
        r"^1797 digits, 359 held out; zero-copy: pixels at 0x[0-9a-f]+ in", result.stdout
    )


def test_both_files_are_written_and_nothing_else(trained):
    folder, result = trained
    out = folder / "out"
    assert sorted(os.listdir(out)) == ["digits.png", "digits.safetensors"]
    assert (out / "digits.png").read_bytes().startswith(b"\x89PNG\r\n\x1a\n")
    assert "a fresh model with the weights read back predicts the same" in result.stdout
    weights = (out / "digits.safetensors").read_bytes()
    length = struct.unpack("<Q", weights[:8])[0]
    header = json.loads(weights[8 : 8 + length])
    shapes = {name: tuple(entry["shape"]) for name, entry in header.items() if name[0] != "_"}
    assert shapes == SHAPES


def test_saved_weights_are_only_evaluated(trained, tmp_path):
    folder, result = trained
    weights = folder / "out" / "digits.safetensors"
    again = run("--weights", weights, "--seed", 5, folder=tmp_path)
    assert again.returncode == 0, again.stderr
    assert re.search("test accuracy .*", again.stdout)[0] in result.stdout
    assert "epoch" not in again.stdout
    assert not os.listdir(tmp_path)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--nope"], "unrecognized arguments: --nope"),
        (["--epoch", "3"], "unrecognized arguments: --epoch 3"),
        (["--epochs", "0"], "--epochs: got '0', expected a whole number from 1"),
        (["--batch-size", "many"], "--batch-size: got 'many'"),
        (["--learning-rate", "nan"], "--learning-rate: got 'nan', expected a number above 0"),
        (["--hidden", "1e99"], "--hidden: got '1e99'"),
        (["--seed"], "--seed: expected one argument"),
        (["--output", ""], "--output: got '', expected the name of a folder"),
    ],
)
def test_wrong_options(arguments, message, tmp_path):
    assert_refused(run(*arguments, folder=tmp_path), message)
    assert not os.listdir(tmp_path)


def test_output_below_a_file(tmp_path):
    (tmp_path / "file").write_text("here")
    result = run("--output", tmp_path / "file" / "out", folder=tmp_path)
    assert_refused(result, "cannot write to .*file/out: Not a directory")
    assert os.listdir(tmp_path) == ["file"]
    assert (tmp_path / "file").read_text() == "here"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_output_without_permission(tmp_path):
    (tmp_path / "out").mkdir(mode=0o555)
    assert_refused(run(folder=tmp_path), "cannot write to out: Permission denied")
    assert not os.listdir(tmp_path / "out")


def test_output_with_a_folder_in_the_place_of_a_file(tmp_path):
    (tmp_path / "out" / "digits.png").mkdir(parents=True)
    assert_refused(run(folder=tmp_path), "cannot write out/digits.png: it is a folder")
    assert os.listdir(tmp_path / "out") == ["digits.png"]


def test_a_loss_that_is_not_finite_ends_the_training(tmp_path):
    result = run("--learning-rate", 1e30, folder=tmp_path)
    assert result.returncode == 2
    assert re.search(r"error: training failed: got a loss of nan in epoch 1, exp", result.stderr)
    assert not os.listdir(tmp_path / "out")


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="there is no full device")
def test_a_full_standard_output(tmp_path):
    with open("/dev/full", "w") as full:
        result = run("--epochs", 1, folder=tmp_path, stdout=full)
    assert result.returncode == 2
    ending = "error: cannot write to the standard output: No space left on device\n"
    assert result.stderr.endswith(ending)
    assert "Traceback" not in result.stderr


def test_a_standard_output_that_nobody_reads(tmp_path):
    reading, writing = os.pipe()
    os.close(reading)
    with os.fdopen(writing, "w") as pipe:
        result = run("--epochs", 1, folder=tmp_path, stdout=pipe)
    assert result.returncode == 2
    assert result.stderr.endswith("error: cannot write to the standard output: Broken pipe\n")
    assert "Traceback" not in result.stderr


VALID = safetensors(SHAPES)
DAMAGED = {
    "empty": b"",
    "short": VALID[:7],
    "no header": VALID[:100],
    "truncated": VALID[:-100],
    "header too long": struct.pack("<Q", 2**62) + VALID[8:],
    "not json": VALID[:8] + VALID[8:].replace(b"{", b"[", 1),
    "text": b"these are no weights at all, whatever the name of the file says",
    "other shapes": safetensors({**SHAPES, "layers.0.bias": (127,)}),
    "one missing": safetensors({k: v for k, v in SHAPES.items() if k != "layers.3.bias"}),
    "one more": safetensors({**SHAPES, "layers.7.bias": (10,)}),
    "another dtype": VALID.replace(b"F32", b"I32", 1),
    "infinity": VALID[:-4] + struct.pack("<f", float("inf")),
}


@pytest.mark.parametrize("damage", DAMAGED)
def test_damaged_weights(damage, tmp_path):
    file = tmp_path / "weights.safetensors"
    file.write_bytes(DAMAGED[damage])
    result = run("--weights", file, folder=tmp_path)
    assert_refused(result, f"cannot use the weights in {re.escape(str(file))}: .+")
    assert os.listdir(tmp_path) == ["weights.safetensors"]


@pytest.mark.parametrize("name", ["nothing.safetensors", "folder.safetensors", "weights.bin"])
def test_weights_that_are_no_such_file(name, tmp_path):
    (tmp_path / "folder.safetensors").mkdir()
    (tmp_path / "weights.bin").write_bytes(b"no weights")
    assert_refused(run("--weights", name, folder=tmp_path), f"cannot use the weights in {name}: .+")
    assert sorted(os.listdir(tmp_path)) == ["folder.safetensors", "weights.bin"]


def test_weights_without_names(tmp_path):
    np.save(tmp_path / "a.npy", np.ones(3, np.float32))
    result = run("--weights", "a.npy", folder=tmp_path)
    assert_refused(result, r"a\.npy holds one array of shape \(3,\) without a name, expected named")


def test_valid_weights_made_elsewhere_are_evaluated(tmp_path):
    (tmp_path / "weights.safetensors").write_bytes(VALID)
    result = run("--weights", "weights.safetensors", folder=tmp_path)
    assert result.returncode == 0, result.stderr
    # All zeros: every digit is taken for a 0.
    assert float(re.search(r"test accuracy ([\d.]+)%", result.stdout)[1]) < 15
