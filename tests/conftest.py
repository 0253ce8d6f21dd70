"""Settings that every test shares."""

import gc
import os
import zlib

import numpy as np
import pytest
from hypothesis import HealthCheck, settings
from random_cases import SEED, examples

settings.register_profile(
    "umber",
    max_examples=examples(60),
    deadline=None,
    derandomize=SEED is None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("umber")


def pytest_configure(config):
    """Say what the markers of tests mean."""
    for text in (
        "host: about memory that the host shares, which tests on another device leave out",
        "covers(*names): the functions without a record that the test stands for",
        "drawn: draws random cases from a seed without hypothesis; make test-random runs it",
    ):
        config.addinivalue_line("markers", text)


def pytest_collection_modifyitems(config, items):
    """On another device, leave out what is about the host; take one of UMBER_TEST_SAMPLE tests."""
    sample = int(os.environ.get("UMBER_TEST_SAMPLE", "1"))
    on_device = "UMBER_TEST_DEVICE" in os.environ

    def is_run(item):
        if on_device and item.get_closest_marker("host"):
            return False
        return zlib.crc32(item.nodeid.encode()) % sample == 0

    chosen = [item for item in items if is_run(item)]
    config.hook.pytest_deselected(items=[item for item in items if not is_run(item)])
    items[:] = chosen


def pytest_collection_finish(session):
    """Leave the tests themselves out of garbage collections, which would take seconds each."""
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def device():
    """Run the test on the device that UMBER_TEST_DEVICE names, where it names one."""
    name = os.environ.get("UMBER_TEST_DEVICE")
    if name is None:
        yield
        return
    mx = pytest.importorskip("umber.core")
    before = mx.default_device()
    mx.set_default_device(getattr(mx, name))
    yield
    mx.set_default_device(before)


@pytest.fixture
def rng():
    """A NumPy generator with the same seed in every test."""
    return np.random.default_rng(20_240_501)
