"""Settings that every test shares."""

import gc
import os

import numpy as np
import pytest
from hypothesis import HealthCheck, settings

settings.register_profile(
    "default",
    max_examples=60,
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.register_profile("thorough", max_examples=2000, deadline=None)
settings.load_profile(os.environ.get("UMBER_HYPOTHESIS", "default"))


def pytest_collection_finish(session):
    """Leave the tests themselves out of garbage collections, which would take seconds each."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def rng():
    """A NumPy generator with the same seed in every test."""
    return np.random.default_rng(20_240_501)
