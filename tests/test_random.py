"""Random numbers: the generator's known answers, MLX's values for the same key, distributions."""

import sys

import numpy as np
import pytest
import umber.core as mx
from arrays import assert_dtype, to_numpy
from scipy import stats
from threefry import bits, threefry

# Threefry-2x32-20: key, counter, answer, from the test vectors that come with the paper's code.
KNOWN = [
    ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
    ((0xFFFFFFFF,) * 2, (0xFFFFFFFF,) * 2, (0x1CB996FC, 0xBB002BE7)),
    ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
]


@pytest.mark.parametrize(("key", "counter", "answer"), KNOWN)
def test_reference_generator(key, counter, answer):
    """The NumPy generator that the next tests lean on gives the published answers."""
    first, second = threefry(key, [counter[0]], [counter[1]])
    assert (int(first[0]), int(second[0])) == answer


@pytest.mark.parametrize("count", [1, 2, 3, 4, 7, 100])
@pytest.mark.parametrize("seed", [0, 1, 7, 2**32 - 1, 2**40 + 7, 2**63])
def test_split_is_threefry(seed, count):
    key = mx.random.key(seed)
    assert to_numpy(key).tolist() == [seed >> 32, seed & 0xFFFFFFFF]
    assert_dtype(key, "uint32")
    want = bits((seed >> 32, seed & 0xFFFFFFFF), 2 * count).reshape(count, 2)
    assert to_numpy(mx.random.split(key, count)).tolist() == want.tolist()


@pytest.mark.parametrize("shape", [(), (1,), (2,), (3,), (5, 7), (0,), (2, 0), (1001,)])
def test_uniform_is_threefry(shape):
    """Words divided by their largest value, below 1."""
    got = to_numpy(mx.random.uniform(shape=shape, key=mx.random.key(11)))
    want = bits((0, 11), int(np.prod(shape))).reshape(shape).astype(np.float32)
    want = np.minimum(want / np.float32(2**32 - 1), np.nextafter(np.float32(1), np.float32(0)))
    assert got.shape == shape
    np.testing.assert_allclose(got, want, rtol=1e-7, atol=0)


# The draw, as a function of the module and a key: the same call to umber and to MLX.
DRAWS = {
    "uniform": lambda m, k: m.random.uniform(shape=(37,), key=k),
    "uniform range": lambda m, k: m.random.uniform(-2.0, 5.0, (4, 9), key=k),
    "uniform arrays": lambda m, k: m.random.uniform(
        m.array([0.0, 1.0]), m.array([2.0, 7.0]), (5, 2), key=k
    ),
    "uniform float16": lambda m, k: m.random.uniform(shape=(64,), dtype=m.float16, key=k),
    "uniform bfloat16": lambda m, k: m.random.uniform(shape=(64,), dtype=m.bfloat16, key=k),
    "normal": lambda m, k: m.random.normal((41,), key=k),
    "normal moved": lambda m, k: m.random.normal((6, 6), loc=3.0, scale=0.5, key=k),
    "normal float16": lambda m, k: m.random.normal((64,), dtype=m.float16, key=k),
    "normal bfloat16": lambda m, k: m.random.normal((64,), dtype=m.bfloat16, key=k),
    "normal complex64": lambda m, k: m.random.normal((32,), dtype=m.complex64, key=k),
    "bernoulli": lambda m, k: m.random.bernoulli(0.3, (100,), key=k),
    "bernoulli half": lambda m, k: m.random.bernoulli(key=k),
    "bernoulli array": lambda m, k: m.random.bernoulli(m.array([0.1, 0.5, 0.9]), key=k),
    "bernoulli broadcast": lambda m, k: m.random.bernoulli(m.array([0.1, 0.9]), (7, 2), key=k),
    "randint": lambda m, k: m.random.randint(-5, 20, (77,), key=k),
    "randint int64": lambda m, k: m.random.randint(0, 1000, (50,), dtype=m.int64, key=k),
    "randint uint8": lambda m, k: m.random.randint(0, 255, (50,), dtype=m.uint8, key=k),
    "randint arrays": lambda m, k: m.random.randint(
        m.array([0, 10]), m.array([5, 90]), (6, 2), key=k
    ),
    "truncated normal": lambda m, k: m.random.truncated_normal(-1.0, 2.0, (60,), key=k),
    "truncated normal arrays": lambda m, k: m.random.truncated_normal(
        m.array([-1.0, 0.0]), m.array([0.5, 3.0]), key=k
    ),
    "gumbel": lambda m, k: m.random.gumbel((45,), key=k),
    "laplace": lambda m, k: m.random.laplace((45,), key=k),
    "laplace moved": lambda m, k: m.random.laplace((45,), loc=2.0, scale=3.0, key=k),
    "categorical": lambda m, k: m.random.categorical(m.zeros((8, 5)), key=k),
    "categorical axis": lambda m, k: m.random.categorical(
        m.arange(12.0).reshape(3, 4), axis=0, key=k
    ),
    "categorical samples": lambda m, k: m.random.categorical(m.zeros((2, 5)), num_samples=6, key=k),
    "categorical shape": lambda m, k: m.random.categorical(m.zeros((2, 5)), shape=(4, 2), key=k),
    "permutation": lambda m, k: m.random.permutation(50, key=k),
    "permutation rows": lambda m, k: m.random.permutation(m.arange(24).reshape(8, 3), key=k),
    "permutation columns": lambda m, k: m.random.permutation(
        m.arange(24).reshape(3, 8), axis=1, key=k
    ),
    "split": lambda m, k: m.random.split(k, 9),
    "split in vmap": lambda m, k: m.vmap(lambda q: m.random.normal((3,), key=q))(
        m.random.split(k, 4)
    ),
}
# Transcendental functions may differ in the last bits; draws of whole numbers are equal.
CLOSE = {"float32": 2e-6, "complex64": 2e-6, "float16": 2e-3, "bfloat16": 2e-2}


@pytest.mark.parametrize("seed", [0, 3, 2**33 + 5])
@pytest.mark.parametrize("name", DRAWS)
def test_values_are_those_of_mlx(name, seed):
    other = pytest.importorskip("mlx.core", reason="MLX is not installed")
    if other is sys.modules["umber.core"]:
        pytest.skip("this is MLX")
    ours = DRAWS[name](mx, mx.random.key(seed))
    theirs = DRAWS[name](other, other.random.key(seed))
    kind = str(theirs.dtype).rpartition(".")[2]
    assert str(ours.dtype).rpartition(".")[2] == kind
    if theirs.dtype == other.bfloat16:
        theirs = theirs.astype(other.float32)
    tolerance = CLOSE.get(kind, 0)
    np.testing.assert_allclose(to_numpy(ours), np.array(theirs), rtol=tolerance, atol=tolerance)


def test_state_follows_mlx():
    """The same seed and the same calls without a key give the same numbers."""
    other = pytest.importorskip("mlx.core", reason="MLX is not installed")
    if other is sys.modules["umber.core"]:
        pytest.skip("this is MLX")
    mx.random.seed(42)
    other.random.seed(42)
    for _ in range(3):
        ours, theirs = mx.random.uniform(shape=(3,)), other.random.uniform(shape=(3,))
        np.testing.assert_allclose(to_numpy(ours), np.array(theirs), rtol=1e-7)
        assert (
            mx.random.randint(0, 100, (5,)).tolist() == other.random.randint(0, 100, (5,)).tolist()
        )


N = 20_000
CONTINUOUS = {
    "uniform": (lambda **k: mx.random.uniform(shape=(N,), **k), stats.uniform()),
    "uniform range": (lambda **k: mx.random.uniform(-3, 7, (N,), **k), stats.uniform(-3, 10)),
    "uniform float64": (
        lambda **k: mx.random.uniform(shape=(N,), dtype=mx.float64, **k),
        stats.uniform(),
    ),
    "normal": (lambda **k: mx.random.normal((N,), **k), stats.norm()),
    "normal moved": (lambda **k: mx.random.normal((N,), loc=2.0, scale=3.0, **k), stats.norm(2, 3)),
    "normal float64": (lambda **k: mx.random.normal((N,), dtype=mx.float64, **k), stats.norm()),
    "truncated": (lambda **k: mx.random.truncated_normal(-1, 2, (N,), **k), stats.truncnorm(-1, 2)),
    "gumbel": (lambda **k: mx.random.gumbel((N,), **k), stats.gumbel_r()),
    "laplace": (lambda **k: mx.random.laplace((N,), loc=1.0, scale=2.0, **k), stats.laplace(1, 2)),
}


@pytest.mark.parametrize("name", CONTINUOUS)
def test_distribution(name):
    """Kolmogorov-Smirnov against the distribution; the key is fixed, so the test is too."""
    draw, distribution = CONTINUOUS[name]
    sample = to_numpy(draw(key=mx.random.key(123))).astype(np.float64)
    assert np.isfinite(sample).all()
    assert stats.kstest(sample, distribution.cdf).pvalue > 1e-3


def test_float64_has_more_than_32_bits():
    sample = to_numpy(mx.random.uniform(shape=(1000,), dtype=mx.float64, key=mx.random.key(0)))
    assert sample.dtype == np.float64
    assert (sample >= 0).all()
    assert (sample < 1).all()


def test_uniform_stays_below_the_upper_bound():
    for name in ("float16", "bfloat16", "float32"):
        dtype = getattr(mx, name)
        sample = to_numpy(mx.random.uniform(shape=(200_000,), dtype=dtype, key=mx.random.key(9)))
        assert sample.min() >= 0
        assert sample.max() < 1


def test_discrete_frequencies():
    whole = to_numpy(mx.random.randint(3, 9, (N,), key=mx.random.key(5)))
    assert set(whole.tolist()) == set(range(3, 9))
    assert stats.chisquare(np.bincount(whole)[3:]).pvalue > 1e-3

    coins = to_numpy(mx.random.bernoulli(0.2, (N,), key=mx.random.key(6)))
    assert coins.dtype == bool
    assert abs(coins.mean() - 0.2) < 0.015

    weights = np.array([0.1, 0.2, 0.3, 0.4])
    picks = to_numpy(
        mx.random.categorical(
            mx.array(np.log(weights).astype(np.float32)), num_samples=N, key=mx.random.key(8)
        )
    )
    assert stats.chisquare(np.bincount(picks, minlength=4), weights * N).pvalue > 1e-3


def test_permutations_are_permutations():
    order = to_numpy(mx.random.permutation(1000, key=mx.random.key(2)))
    assert sorted(order.tolist()) == list(range(1000))
    assert (order != np.arange(1000)).mean() > 0.98
    rows = to_numpy(mx.random.permutation(mx.arange(30).reshape(10, 3), key=mx.random.key(2)))
    assert sorted(rows[:, 0].tolist()) == list(range(0, 30, 3))
    assert (rows - rows[:, :1] == [0, 1, 2]).all()


def test_keys_decide():
    key = mx.random.key(4)
    once, again = mx.random.normal((10,), key=key), mx.random.normal((10,), key=key)
    assert once.tolist() == again.tolist()
    assert once.tolist() != mx.random.normal((10,), key=mx.random.key(5)).tolist()
    first, second = mx.random.split(key)
    assert (
        mx.random.normal((10,), key=first).tolist() != mx.random.normal((10,), key=second).tolist()
    )


def test_seed_makes_a_program_repeat():
    def program():
        return [
            mx.random.uniform().item(),
            mx.random.normal((3,)).tolist(),
            mx.random.permutation(7).tolist(),
        ]

    mx.random.seed(17)
    once = program()
    assert program() != once
    mx.random.seed(17)
    assert program() == once


def test_state_is_a_key():
    mx.random.seed(5)
    state = mx.random.state[0]
    assert (state.shape, state.dtype) == ((2,), mx.uint32)
    assert state.tolist() == [0, 5]
    mx.random.uniform()
    assert mx.random.state[0].tolist() == to_numpy(mx.random.split(mx.random.key(5)))[0].tolist()


def test_lanes_of_vmap_differ():
    """One key a lane gives each lane its own numbers, the same as in a loop."""
    keys = mx.random.split(mx.random.key(0), 5)
    lanes = mx.vmap(lambda k: mx.random.uniform(shape=(3,), key=k))(keys)
    loop = [mx.random.uniform(shape=(3,), key=k).tolist() for k in keys]
    assert lanes.tolist() == loop
    assert len({tuple(row) for row in loop}) == 5


def test_gradient_through_the_parameters():
    key = mx.random.key(1)
    noise = to_numpy(mx.random.normal((6,), key=key))
    slope = mx.grad(lambda s: mx.random.normal((6,), loc=s * 2, scale=s, key=key).sum())(
        mx.array(3.0)
    )
    np.testing.assert_allclose(slope.item(), noise.sum() + 12, rtol=1e-5)


def test_empty_and_zero_dimensional_draws():
    assert mx.random.uniform(shape=(0, 3)).shape == (0, 3)
    assert mx.random.normal().shape == ()
    assert mx.random.permutation(0).tolist() == []
    assert mx.random.categorical(mx.array([0.0])).item() == 0
    assert mx.random.split(mx.random.key(0)).shape == (2, 2)
