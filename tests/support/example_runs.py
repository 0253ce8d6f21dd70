"""Running the examples as a user does, and the files that they are given."""

import json
import re
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np

EXAMPLES = Path(__file__).parents[2] / "examples"


def run(name, *arguments, folder, stdout=subprocess.PIPE):
    """Run an example in a folder."""
    return subprocess.run(
        [sys.executable, str(EXAMPLES / f"{name}.py"), *map(str, arguments)],
        cwd=folder,
        stdout=stdout,
        stderr=subprocess.PIPE,
        text=True,
        timeout=300,
    )


def assert_refused(result, message):
    """One clear line on stderr, status 2, and nothing else."""
    assert result.returncode == 2, result.stderr
    assert re.fullmatch(rf"\w+\.py: error: .*{message}.*\n", result.stderr), result.stderr
    assert result.stdout == ""


def safetensors(shapes):
    """The bytes of a valid file with zeros."""
    header, end = {}, 0
    for name, shape in shapes.items():
        size = 4 * int(np.prod(shape))
        header[name] = {"dtype": "F32", "shape": shape, "data_offsets": [end, end + size]}
        end += size
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + bytes(end)
