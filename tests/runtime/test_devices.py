"""Arrays on devices with memory of their own, by programs that have simulated accelerators."""

import os
import subprocess
import sys
from pathlib import Path

import pytest
import umber.core as mx

PROGRAMS = Path(__file__).with_name("device_programs.py")
NAMES = [
    line.split("(")[0].removeprefix("def ")
    for line in PROGRAMS.read_text().splitlines()
    if line.startswith("def ") and line.endswith("():")
]


def run(name, options):
    environment = os.environ | {"UMBER_SIMULATED_GPU": options}
    environment.pop("UMBER_TEST_DEVICE", None)
    arguments = [sys.executable, PROGRAMS, name]
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


@pytest.mark.covers("default_device", "set_default_device", "is_available", "device_count")
def test_the_cpu_is_a_device():
    assert mx.is_available(mx.cpu)
    assert mx.device_count(mx.cpu) == 1
    before = mx.default_device()
    mx.set_default_device(mx.cpu)
    try:
        assert mx.default_device() == mx.Device(mx.cpu, 0)
        assert mx.zeros(1).device == mx.default_device()
    finally:
        mx.set_default_device(before)


@pytest.mark.parametrize("name", NAMES)
def test_programs(name):
    run(name, "devices=2,delay_us=100")


@pytest.mark.parametrize("name", ["gradients_come_back", "streams_and_threads_agree"])
def test_programs_on_a_device_that_lacks_operations(name):
    run(name, "devices=2,delay_us=100,decompose=1,unsupported=1,seed=5")


def test_an_option_that_means_nothing_is_told():
    done = subprocess.run(
        [sys.executable, "-c", "import umber.core as mx; print(mx.device_count(mx.gpu))"],
        env=os.environ | {"UMBER_SIMULATED_GPU": "colour=1"},
        capture_output=True,
        text=True,
    )
    assert done.stdout == "0\n"
    assert "UMBER_SIMULATED_GPU" in done.stderr
    assert "delay_us" in done.stderr


@pytest.mark.parametrize(
    "line",
    [
        "y = mx.take(x, mx.array([0, 7]))",
        "y = mx.compile(lambda x: mx.take(x, mx.array([0, 7])))(x)",
        "y = mx.scan(lambda c, i: (c, mx.take(x, i)), x, mx.array([0, 7]))[1]",
    ],
)
def test_errors_of_a_device_name_the_recording_line_once(line):
    setting = "import umber.core as mx\nmx.set_default_device(mx.gpu)\nx = mx.arange(3.0)"
    program = f"{setting}\n{line}\nmx.eval(y)\nmx.synchronize()\n"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"UMBER_SIMULATED_GPU": "1", "UMBER_TRACEBACK": "1"},
        capture_output=True,
        text=True,
    )
    assert done.returncode == 1
    message = done.stderr.split("IndexError", 1)[1]
    assert "recorded at <string>:4" in message, done.stderr
    assert "recorded at <string>:5" not in message, done.stderr
