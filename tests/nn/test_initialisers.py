"""Initialisers: the distributions they draw from, and what they refuse."""

import math

import numpy as np
import pytest
import umber.core as mx
from umber import nn

F32 = np.float32

# Initialiser, arguments of its function, whether it is normal, scale: standard deviation or bound.
FAN_IN, FAN_OUT = 30 * 9, 40 * 9
INITIALISERS = {
    "normal": (nn.init.normal(1, 2), {}, True, 2),
    "uniform": (nn.init.uniform(-3, 3), {}, False, 3),
    "glorot_normal": (
        nn.init.glorot_normal(),
        {"gain": 2.0},
        True,
        2 * math.sqrt(2 / (FAN_IN + FAN_OUT)),
    ),
    "glorot_uniform": (nn.init.glorot_uniform(), {}, False, math.sqrt(6 / (FAN_IN + FAN_OUT))),
    "he_normal": (nn.init.he_normal(), {}, True, 1 / math.sqrt(FAN_IN)),
    "he_normal out": (
        nn.init.he_normal(),
        {"mode": "fan_out", "gain": 3.0},
        True,
        3 / math.sqrt(FAN_OUT),
    ),
    "he_uniform": (nn.init.he_uniform(), {}, False, math.sqrt(3 / FAN_IN)),
}

FANS = ("glorot_normal", "glorot_uniform", "he_normal", "he_uniform")


@pytest.mark.parametrize("name", INITIALISERS)
def test_random_initialisers(name):
    mx.random.seed(3)
    initialise, options, is_normal, scale = INITIALISERS[name]
    values = np.array(initialise(mx.zeros((40, 3, 3, 30)), **options))
    assert (values.shape, values.dtype) == ((40, 3, 3, 30), F32)
    std = scale if is_normal else scale / math.sqrt(3)
    np.testing.assert_allclose(values.std(), std, rtol=0.03)
    np.testing.assert_allclose(values.mean(), 1.0 if name == "normal" else 0.0, atol=0.1 * std)
    if not is_normal:
        assert np.abs(values).max() <= scale


def test_other_initialisers():
    a = mx.zeros((2, 3))
    assert nn.init.constant(2.0)(a).tolist() == [[2.0] * 3] * 2
    assert nn.init.constant(2.0, mx.float16)(a).dtype == mx.float16
    assert nn.init.identity()(mx.zeros((2, 2))).tolist() == [[1.0, 0.0], [0.0, 1.0]]
    with pytest.raises(ValueError, match=r"^\[init\.identity\] got the shape \(2, 3\), expected a"):
        nn.init.identity()(a)
    with pytest.raises(ValueError, match=r"^\[init\.he_normal\] got the mode 'fan', expected one"):
        nn.init.he_normal()(a, mode="fan")
    with pytest.raises(ValueError, match=r"^\[init\.glorot_uniform\] got an array with 1 axes"):
        nn.init.glorot_uniform()(mx.zeros((3,)))


@pytest.mark.parametrize("shape", [(6, 6), (7, 3), (3, 7), (1, 5), (0, 4)])
def test_orthogonal_matrices(shape):
    mx.random.seed(2)
    q = np.array(nn.init.orthogonal(gain=3.0)(mx.zeros(shape))).astype(np.float64) / 3
    assert q.shape == shape
    small = q.T @ q if shape[0] >= shape[1] else q @ q.T
    np.testing.assert_allclose(small, np.eye(min(shape)), atol=1e-6)
    assert nn.init.orthogonal(dtype=mx.float16)(mx.zeros(shape)).dtype == mx.float16


def test_orthogonal_matrices_are_uniform():
    """All signs are equally likely, which a bare QR decomposition does not give."""
    mx.random.seed(4)
    corners = [nn.init.orthogonal()(mx.zeros((3, 3)))[0, 0].item() for _ in range(200)]
    assert 60 < sum(corner > 0 for corner in corners) < 140
    assert abs(np.mean(corners)) < 0.15


@pytest.mark.parametrize("sparsity", [0.0, 0.1, 0.25, 0.5, 0.99, 1.0])
def test_sparse_rows_have_the_same_number_of_zeros(sparsity):
    mx.random.seed(2)
    values = np.array(nn.init.sparse(sparsity, mean=5.0, std=0.1)(mx.zeros((50, 10))))
    zeros = math.ceil(10 * sparsity)
    assert ((values == 0).sum(axis=1) == zeros).all()
    kept = values[values != 0]
    if kept.size:
        assert abs(kept.mean() - 5) < 0.1
    if 0 < zeros < 10:
        # They lie elsewhere in each row.
        assert (values == 0).any(axis=0).all()


def test_matrices_only():
    for name, initialise in {
        "orthogonal": nn.init.orthogonal(),
        "sparse": nn.init.sparse(0.5),
    }.items():
        for shape in ((3,), (2, 3, 4)):
            with pytest.raises(ValueError, match=rf"^\[init\.{name}\] got an array with .* axes"):
                initialise(mx.zeros(shape))
    for sparsity in (-0.1, 1.5, math.nan):
        with pytest.raises(ValueError, match=r"^\[init\.sparse\] got the sparsity .* expected \[0"):
            nn.init.sparse(sparsity)(mx.zeros((2, 3)))


@pytest.mark.parametrize(
    "name", "constant normal uniform identity orthogonal sparse".split() + list(FANS)
)
def test_arguments_are_judged_in_use(name):
    """As in MLX, where programs pass an array to the initialiser instead of to its function."""
    make = getattr(nn.init, name)
    required = {"constant": (1.0,), "sparse": (0.5,)}.get(name, ())
    initialise = make(*required, dtype=mx.ones((4, 4)))
    with pytest.raises(TypeError, match=rf"^\[{name}\] dtype: got an array of shape \(4, 4\)"):
        initialise(mx.ones((4, 4)))
    with pytest.raises(TypeError, match=rf"^\[{name}\] .*unexpected keyword argument"):
        make(*required, type=mx.float32)
    assert make(*required, dtype=mx.float16)(mx.ones((4, 4))).dtype == mx.float16


def test_numbers_are_judged_in_use():
    a = mx.ones((4, 4))
    with pytest.raises(TypeError, match=r"^\[orthogonal\] dtype: got None, expected a dtype"):
        nn.init.orthogonal(dtype=None)(a)
    for make in (nn.init.normal, nn.init.uniform, nn.init.orthogonal, nn.init.sparse):
        initialise = make("a")
        with pytest.raises(TypeError, match=rf"^\[{make.__name__}\] \w+: got str, expected a num"):
            initialise(a)
    initialise = nn.init.sparse(a)
    with pytest.raises(TypeError, match=r"^\[init\.sparse\] sparsity: got an array of shape \(4,"):
        initialise(a)
    assert nn.init.normal(np.float64(2.0), std=np.float32(0))(a).tolist() == [[2.0] * 4] * 4
