"""The bookkeeping of benches/versus.py: comparing results, ratios and limits."""

import re
import subprocess
import sys

import chart
import numpy as np
import pytest
import versus
from libraries import PACKAGES
from programs import PROGRAMS
from worker import sketch


@pytest.mark.parametrize("key", PROGRAMS)
def test_limits_are_set_against_libraries_that_run_the_program(key):
    program = PROGRAMS[key]
    assert program.libraries[0] == "umber"
    assert set(program.limits) <= set(program.libraries)
    assert {name.partition(":")[0] for name in program.libraries} <= PACKAGES.keys()


def test_wrong_results_are_found():
    correct = sketch(PROGRAMS["record"].reference())
    wrong = [correct[0] + 1e-3, *correct[1:]]
    verdict = versus.compare_results(
        PROGRAMS["record"], {"umber": correct, "mlx": wrong, "torch": []}
    )
    assert verdict == {"umber": True, "mlx": False, "torch": False}


def test_nan_is_not_a_right_result():
    result = sketch(np.array([np.nan]))
    assert versus.compare_results(PROGRAMS["record"], {"umber": result}) == {"umber": False}


def test_without_a_reference_results_are_held_against_the_first():
    verdict = versus.compare_results(
        PROGRAMS["train_step_without_dropout"], {"umber": [2.0], "torch": [2.1]}
    )
    assert verdict == {"umber": True, "torch": False}


def test_a_ratio_over_its_limit_is_reported():
    seconds = {"umber": 2e-3, "torch": 1e-3, "mlx": 4e-3}
    samples = {name: [each] for name, each in seconds.items()}
    result = {"title": "gelu", "seconds": seconds, "samples": samples, "remarks": {}}
    lines, missed = versus.lines_of("gelu", result)
    assert missed == ["gelu: umber/torch = 2, at most 1"]
    assert "umber/mlx = 0.5   (at most 1: ok)" in lines[3]


def test_a_program_that_umber_cannot_run_is_a_miss():
    result = {
        "title": "gelu",
        "seconds": {"mlx": 1.0},
        "samples": {"mlx": [1.0]},
        "remarks": {"umber": "no"},
    }
    _, missed = versus.lines_of("gelu", result)
    assert missed == ["gelu: no"]


def test_memory_over_its_limit_is_reported():
    result = {"bytes": 10**9, "right": True, "peak over input and output": 1.2}
    _, missed = versus.large_lines({"memory": result})
    assert len(missed) == 1
    _, missed = versus.large_lines({"chain": {"error": "status -11"}})
    assert missed == ["chain: status -11"]


@pytest.mark.parametrize(
    ("seconds", "text"), [(2.0, "2 s"), (0.0123, "12.3 ms"), (1.5e-5, "15 µs"), (2e-8, "20 ns")]
)
def test_durations_are_written_in_the_unit_that_suits(seconds, text):
    assert versus.duration(seconds) == text


def test_a_run_with_numpy_alone():
    command = [sys.executable, versus.__file__, "--libraries", "numpy,nothing", "--rounds", "1"]
    done = subprocess.run(
        [*command, "--programs", "^multiply_add$"], capture_output=True, text=True, check=True
    )
    assert "nothing: left out" in done.stdout
    assert re.search(r"numpy +[\d.e+]+ m?s ±", done.stdout)


def test_chart(tmp_path):
    record = {
        "gelu": {"title": "a", "seconds": {"umber": 2.0, "torch": 6.0, "numpy": 1.0}},
        "alone": {"title": "b", "seconds": {"umber": 2.0}},
        "chain": {"nodes": 3, "seconds": {"record": 1.0}},
    }
    assert chart.ratios(record) == {"gelu": {"torch": 3.0, "numpy": 0.5}}
    path = tmp_path / "new" / "bench.png"
    assert chart.draw(record, path)
    assert path.read_bytes().startswith(b"\x89PNG")
    assert not chart.draw({"alone": record["alone"]}, tmp_path / "none.png")
