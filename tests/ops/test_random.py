"""Random numbers: the generator's known answers, MLX's values for the same key, distributions."""

import copy as copying
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest
import umber.core as mx
from arrays import assert_dtype, to_numpy
from scipy import stats
from threefry import bits, threefry
from umber.utils import tree_flatten, tree_map, tree_map_with_path, tree_reduce, tree_unflatten

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


@pytest.mark.covers("random.key", "random.split")
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
    **{
        f"{name} {dtype}": lambda m, k, draw=draw, dtype=dtype: draw(m, k, getattr(m, dtype))
        for dtype in ("float16", "bfloat16")
        for name, draw in {
            "uniform range": lambda m, k, d: m.random.uniform(-0.3, 2.7, (99,), dtype=d, key=k),
            "normal moved": lambda m, k, d: m.random.normal(
                (99,), dtype=d, loc=0.7, scale=1.3, key=k
            ),
            "gumbel": lambda m, k, d: m.random.gumbel((99,), dtype=d, key=k),
            "laplace moved": lambda m, k, d: m.random.laplace(
                (99,), dtype=d, loc=0.3, scale=1.7, key=k
            ),
            "truncated normal": lambda m, k, d: m.random.truncated_normal(
                -1.0, 2.0, (99,), dtype=d, key=k
            ),
        }.items()
    },
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
# In float32 transcendental functions differ in the last bits: MLX's erfinv is off by up to 2.2
# units in the last place and its erf by 1e-7 absolutely, umber's by one unit. A half dtype rounds
# that away but for one value in some thousand, of the distributions that go through erf and erfinv.
# Everything else, and all draws of whole numbers, is equal bit for bit.
CLOSE = {"float32": 2e-6, "complex64": 2e-6, "float16": 0, "bfloat16": 0}
ONE_UNIT = {"float16": 2**-10, "bfloat16": 2**-7}


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
    if kind in ONE_UNIT and "normal" in name:
        assert (to_numpy(ours) != np.array(theirs)).mean() <= 0.02
        tolerance = ONE_UNIT[kind]
    elif kind == "float32" and "uniform" in name:
        tolerance = 0
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


@pytest.mark.covers(
    "random.uniform", "random.normal", "random.truncated_normal", "random.gumbel", "random.laplace"
)
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


@pytest.mark.covers("random.bernoulli", "random.categorical", "random.randint")
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


@pytest.mark.covers("random.permutation")
def test_permutations_are_permutations():
    order = to_numpy(mx.random.permutation(1000, key=mx.random.key(2)))
    assert sorted(order.tolist()) == list(range(1000))
    assert (order != np.arange(1000)).mean() > 0.98
    rows = to_numpy(mx.random.permutation(mx.arange(30).reshape(10, 3), key=mx.random.key(2)))
    assert sorted(rows[:, 0].tolist()) == list(range(0, 30, 3))
    assert (rows - rows[:, :1] == [0, 1, 2]).all()


def test_permutations_of_what_arrays_are_made_of():
    key = mx.random.key(2)
    expected = mx.random.permutation(mx.arange(5) * 2, key=key).tolist()
    assert mx.random.permutation(np.arange(5) * 2, key=key).tolist() == expected
    assert mx.random.permutation(np.int64(5), key=key).tolist() == (
        mx.random.permutation(5, key=key).tolist()
    )


def test_keys_decide():
    key = mx.random.key(4)
    once, again = mx.random.normal((10,), key=key), mx.random.normal((10,), key=key)
    assert once.tolist() == again.tolist()
    assert once.tolist() != mx.random.normal((10,), key=mx.random.key(5)).tolist()
    first, second = mx.random.split(key)
    assert (
        mx.random.normal((10,), key=first).tolist() != mx.random.normal((10,), key=second).tolist()
    )


@pytest.mark.covers("random.seed")
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


# The form of the logits and of the call; every combination that draws one class or many.
CATEGORICAL = {
    "row": ((10,), {}),
    "row, shape ()": ((10,), {"shape": ()}),
    "row, 0": ((10,), {"num_samples": 0}),
    "row, 1": ((10,), {"num_samples": 1}),
    "row, 8": ((10,), {"num_samples": 8}),
    "row, shape": ((10,), {"shape": (2, 3)}),
    "row of rows": ((1, 10), {}),
    "row of rows, 8": ((1, 10), {"num_samples": 8}),
    "row of rows, shape": ((1, 10), {"shape": (8,)}),
    "row between": ((1, 10, 1), {"axis": 1, "num_samples": 4}),
    "column": ((10, 1), {"axis": 0, "shape": (4, 1)}),
    "rows": ((3, 10), {}),
    "rows, 8": ((3, 10), {"num_samples": 8}),
    "rows, shape": ((3, 10), {"shape": (5, 3)}),
    "columns": ((10, 3), {"axis": 0}),
    "columns, shape": ((10, 3), {"axis": 0, "shape": (2, 3)}),
    "middle": ((2, 10, 3), {"axis": 1, "num_samples": 4}),
    "one class": ((1,), {"num_samples": 3}),
}


@pytest.mark.parametrize("dtype", ["float32", "float16", "bfloat16"])
@pytest.mark.parametrize("form", CATEGORICAL)
def test_categorical_draws_what_mlx_draws(form, dtype):
    other = pytest.importorskip("mlx.core", reason="MLX is not installed")
    shape, options = CATEGORICAL[form]
    for seed in range(6):
        logits = np.random.default_rng(seed).normal(size=shape).astype(np.float32) * 3
        if seed % 2:
            logits.ravel()[::3] = -np.inf
        if seed == 5:
            logits.ravel()[::4] = np.inf
        ours, theirs = (
            m.random.categorical(
                m.array(logits).astype(getattr(m, dtype)), key=m.random.key(seed), **options
            )
            for m in (mx, other)
        )
        assert_dtype(ours, "uint32")
        np.testing.assert_array_equal(to_numpy(ours), np.array(theirs))


def test_categorical_with_degenerate_logits():
    key = mx.random.key(0)
    nothing = mx.random.categorical(mx.array([-np.inf] * 4), num_samples=100, key=key)
    assert set(nothing.tolist()) == {0, 1, 2, 3}
    certain = mx.random.categorical(mx.array([0.0, np.inf, -np.inf]), num_samples=10, key=key)
    assert certain.tolist() == [1] * 10
    impossible = mx.array([-np.inf, 0.0, 1.0, -np.inf, -np.inf])
    drawn = mx.random.categorical(impossible, num_samples=50_000, key=key)
    assert set(np.unique(to_numpy(drawn))) == {1, 2}
    with pytest.raises(ValueError, match=r"\[categorical\] needs at least one class along"):
        mx.random.categorical(mx.zeros((1, 0)), key=key)
    assert mx.random.categorical(mx.zeros((0, 3)), key=key).shape == (0,)


def test_lanes_without_a_key_differ():
    """Lane `i` draws with row `i` of the key split."""
    mx.random.seed(7)
    key = mx.random.split(mx.random.state[0])[1]
    mx.random.seed(7)
    lanes = mx.vmap(lambda x: x + mx.random.uniform(shape=(3,)))(mx.zeros((4,)))
    want = [mx.random.uniform(shape=(3,), key=k).tolist() for k in mx.random.split(key, 4)]
    assert lanes.tolist() == want

    nested = mx.vmap(mx.vmap(lambda x: mx.random.uniform()))(mx.zeros((3, 4)))
    assert len(np.unique(to_numpy(nested))) == 12
    again = mx.vmap(lambda x: mx.random.uniform())(mx.zeros((4,)))
    assert again.tolist() != mx.vmap(lambda x: mx.random.uniform())(mx.zeros((4,))).tolist()
    slopes = mx.vmap(mx.grad(lambda x: x * mx.random.uniform()))(mx.zeros((4,)))
    assert len(set(slopes.tolist())) == 4
    assert mx.vmap(lambda x: mx.random.uniform())(mx.zeros((0,))).shape == (0,)
    # A lane that fails leaves no trace of itself.
    with pytest.raises(ZeroDivisionError):
        mx.vmap(lambda x: 1 // 0)(mx.zeros((4,)))
    assert mx.random.uniform().shape == ()
    assert isinstance(mx.random.uniform().item(), float)


WIDE = [
    (0, 2**32, "uint32", 2**32),
    (-(2**31), 2**31, "int32", 2**32),
    (-(2**63), 2**63 - 1, "int64", 2**64 - 1),
    (2**60, 2**60 + 3, "int64", 3),
    (2**24 + 1, 2**24 + 8, "int32", 7),
    (0, 2**64 - 1, "uint64", 2**64 - 1),
    (5, 3 * 2**40, "uint64", 3 * 2**40 - 5),
]


@pytest.mark.parametrize(("low", "high", "dtype", "width"), WIDE)
def test_wide_integers_are_exact(low, high, dtype, width):
    sample = mx.random.randint(low, high, (N,), dtype=getattr(mx, dtype), key=mx.random.key(5))
    assert_dtype(sample, dtype)
    values = [int(v) - low for v in to_numpy(sample).tolist()]
    assert min(values) >= 0
    assert max(values) < width
    if width < 10:
        assert stats.chisquare(np.bincount(values, minlength=width)).pvalue > 1e-3
    else:
        # All bits are drawn, the lowest as well.
        assert stats.kstest(np.array(values) / width, "uniform").pvalue > 1e-3
        assert abs(np.mean([v & 1 for v in values]) - 0.5) < 0.02


def test_integers_between_arrays():
    low, high = mx.array([0, 2**40, 5], dtype=mx.int64), mx.array([3, 2**40 + 2, 6], dtype=mx.int64)
    sample = mx.random.randint(low, high, (500, 3), dtype=mx.int64, key=mx.random.key(0))
    assert [set(column) for column in to_numpy(sample).T.tolist()] == [
        {0, 1, 2},
        {2**40, 2**40 + 1},
        {5},
    ]


def test_empty_ranges_raise():
    for low, high in ((5, 5), (6, 5), (2**60, 2**60), (2**60 + 1, 2**60)):
        with pytest.raises(
            ValueError, match=rf"\[randint\] low must be less than high, got {low} and {high}"
        ):
            mx.random.randint(low, high, (2,), dtype=mx.int64)
    assert mx.random.randint(5, 5, (0,)).shape == (0,)


def test_seeds_are_checked():
    for bad in (-1, 2**64):
        with pytest.raises(
            ValueError, match=rf"\[random\.key\] seed must be between 0 and .*, got {bad}"
        ):
            mx.random.key(bad)
        with pytest.raises(
            ValueError, match=rf"\[random\.seed\] seed must be between 0 and .*, got {bad}"
        ):
            mx.random.seed(bad)
    with pytest.raises(TypeError, match=r"\[random.key\]"):
        mx.random.key(1.5)
    assert mx.random.key(np.int64(3)).tolist() == [0, 3]


def test_rates_are_checked():
    with pytest.raises(ValueError, match=r"\[poisson\] rate must be non-negative, got NaN"):
        mx.random.poisson(float("nan"))
    with pytest.raises(ValueError, match=r"\[poisson\] rate must be non-negative, got -1"):
        mx.random.poisson(-1.0)
    with pytest.raises(ValueError, match=r"\[dirichlet\] alpha must be positive, got -1"):
        mx.random.dirichlet(mx.full((2,), -1.0))


def test_copies_of_the_state_are_lists_of_its_key():
    mx.random.seed(5)
    saved = [copying.copy(mx.random.state), copying.deepcopy({"state": mx.random.state})["state"]]
    saved += [pickle.loads(pickle.dumps(mx.random.state)), mx.random.state[:], mx.random.state[-1:]]
    drawn = mx.random.normal((3,)).tolist()
    for state in saved:
        assert type(state) is list
        mx.random.state = state
        assert mx.random.normal((3,)).tolist() == drawn
    assert mx.random.state[1:] == []


@pytest.mark.parametrize(
    "save",
    [
        lambda: list(mx.random.state),
        lambda: tuple(mx.random.state),
        lambda: mx.random.state[0],
        lambda: mx.array(mx.random.state[0]),
        lambda: [mx.array(mx.random.state[0])],
        lambda: tree_unflatten(tree_flatten(mx.random.state)),
        lambda: tree_unflatten(tree_flatten({"r": mx.random.state}))["r"],
        lambda: tree_map(lambda key: key + 0, mx.random.state),
    ],
)
def test_state_can_be_assigned(save):
    mx.random.seed(4)
    mx.random.uniform()
    saved, shown = save(), mx.random.state
    want = [mx.random.uniform().item() for _ in range(3)]
    mx.random.state = saved
    assert [mx.random.uniform().item() for _ in range(3)] == want
    assert mx.random.state is shown


def test_what_is_no_state_cannot_be_assigned():
    mx.random.seed(1)
    key = mx.random.key(1).tolist()
    for wrong, error, message in [
        (mx.random.state, ValueError, "cannot restore random.state from itself; save .*list"),
        (3, TypeError, "got int, expected a key array"),
        ([], TypeError, "got list, expected"),
        ([mx.random.key(1)] * 2, TypeError, "got list, expected"),
        (None, TypeError, "got NoneType, expected"),
        (mx.ones(2), ValueError, "float32"),
    ]:
        with pytest.raises(error, match=rf"\[random.state\] .*{message}"):
            mx.random.state = wrong
    with pytest.raises(AttributeError):
        del mx.random.state
    assert mx.random.state[0].tolist() == key


def test_trees_descend_into_the_state():
    mx.random.seed(5)
    key = [0, 5]
    assert [(k, v.tolist()) for k, v in tree_flatten({"r": mx.random.state})] == [("r.0", key)]
    assert [(k, v.tolist()) for k, v in tree_flatten(mx.random.state)] == [("0", key)]
    assert tree_map(lambda x: x.tolist(), [mx.random.state]) == [[key]]
    assert tree_map_with_path(lambda k, x: (k, x.tolist()), mx.random.state) == [("0", key)]
    assert tree_reduce(lambda n, x: n + x.size, mx.random.state, 0) == 2
    other = tree_map(lambda x, y: (x + y).tolist(), mx.random.state, mx.random.state)
    assert other == [[0, 10]]


def is_evaluated(x):
    try:
        return mx.get_array_buffer_size(x) > 0
    except ValueError:
        return False


@pytest.mark.parametrize("evaluate", [mx.eval, mx.async_eval])
@pytest.mark.parametrize("within", [lambda state: state, lambda state: [{"state": (state,)}]])
def test_state_is_evaluated_as_what_holds_an_array(evaluate, within):
    mx.random.state[0] = mx.concatenate([mx.random.key(3)[:1], mx.random.key(3)[1:]])
    assert not is_evaluated(mx.random.state[0])
    evaluate(within(mx.random.state))
    mx.synchronize()
    assert is_evaluated(mx.random.state[0])
    assert mx.random.state[0].tolist() == [0, 3]


def test_draws_that_nobody_computes_leave_no_chain():
    mx.random.seed(3)
    for _ in range(10):
        mx.random.uniform()
    assert is_evaluated(mx.random.state[0])


def test_draws_do_not_depend_on_when_their_key_is_known():
    mx.random.seed(3)
    want = [mx.random.uniform().item() for _ in range(3)]
    mx.random.state[0] = mx.concatenate([mx.random.key(3)[:1], mx.random.key(3)[1:]])
    assert [mx.random.uniform() for _ in range(3)] == want
    column = mx.array([[0, 9], [3, 9]], mx.uint32)[:, 0]
    mx.eval(column)
    mx.random.state[0] = column
    assert [mx.random.uniform() for _ in range(3)] == want


def write_all(key, words):
    key[:] = words


def write_words(key, words):
    key[0] = words[0]
    key[1] = words[1]


def write_by_difference(key, words):
    key += words - key


@pytest.mark.parametrize("write", [write_all, write_words, write_by_difference])
def test_what_is_written_into_the_key_is_the_key(write):
    mx.random.seed(1)
    saved = mx.array(mx.random.state[0])
    want = [mx.random.uniform().item() for _ in range(2)]
    write(mx.random.state[0], saved)
    assert [mx.random.uniform().item() for _ in range(2)] == want
    key = mx.random.state[0]
    assert mx.random.state[0] is key
    write(key, saved)
    assert mx.random.state[0] is not saved
    assert [mx.random.uniform().item() for _ in range(2)] == want


def test_a_key_from_before_a_draw_is_an_array_as_any_other():
    mx.random.seed(1)
    key = mx.random.state[0]
    mx.random.uniform()
    now = mx.random.state[0].tolist()
    key[:] = 7
    assert key.tolist() == [7, 7]
    assert mx.random.state[0].tolist() == now


def test_what_is_no_key_cannot_be_written_into_it():
    mx.random.seed(1)
    key = mx.random.state[0]
    with pytest.raises(ValueError, match=r"\[random\.state\] key must have shape \(2,\) and"):
        key += 0.5
    assert key.tolist() == mx.random.state[0].tolist() == [0, 1]
    assert key.dtype == mx.uint32


@pytest.mark.parametrize("state", [lambda: mx.random.state, lambda: [mx.random.state]])
def test_compiled_functions_write_into_the_key(state):
    """A draw after it continues from there, and the written key is no constant of the function."""

    def drawn(words):
        mx.random.state[0][:] = words
        return mx.random.uniform()

    compiled = mx.compile(drawn, inputs=state(), outputs=state())
    for words in ([0, 1], [3, 4]):
        words = mx.array(words, mx.uint32)
        want = [drawn(words).item(), mx.random.uniform().item()]
        assert [compiled(words).item(), mx.random.uniform().item()] == want


FAMILIES = {
    "exponential": (lambda **k: mx.random.exponential((N,), scale=2.0, **k), stats.expon(0, 2)),
    "gamma": (lambda **k: mx.random.gamma(2.5, (N,), scale=2.0, **k), stats.gamma(2.5, 0, 2)),
    "gamma below one": (lambda **k: mx.random.gamma(0.3, (N,), **k), stats.gamma(0.3)),
    "gamma large": (lambda **k: mx.random.gamma(1e6, (N,), **k), stats.gamma(1e6)),
    "beta": (lambda **k: mx.random.beta(2.0, 0.7, (N,), **k), stats.beta(2, 0.7)),
    "dirichlet": (
        lambda **k: mx.random.dirichlet(mx.array([1.0, 2.0, 4.0]), (N,), **k)[:, 1],
        stats.beta(2, 5),
    ),
}


@pytest.mark.covers("random.exponential", "random.gamma", "random.beta", "random.dirichlet")
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", FAMILIES)
def test_families(name, dtype):
    draw, distribution = FAMILIES[name]
    sample = draw(key=mx.random.key(77), dtype=getattr(mx, dtype))
    assert_dtype(sample, dtype)
    assert stats.kstest(to_numpy(sample).astype(np.float64), distribution.cdf).pvalue > 1e-3


@pytest.mark.covers("random.poisson")
@pytest.mark.parametrize("rate", [0.3, 4.0, 9.99, 10.0, 37.5, 1e3])
def test_poisson(rate):
    sample = mx.random.poisson(rate, (N,), key=mx.random.key(3))
    assert_dtype(sample, "int32")
    values = to_numpy(sample)
    inner = np.unique(stats.poisson(rate).ppf([0.1, 0.3, 0.5, 0.7, 0.9]))
    ends = np.array([-1, *inner, np.inf])
    counts = np.histogram(values, ends + 0.5)[0]
    assert stats.chisquare(counts, np.diff(stats.poisson(rate).cdf(ends)) * N).pvalue > 1e-3


def test_poisson_of_unusual_rates():
    key = mx.random.key(0)
    rates = mx.array([0.0, -1.0, np.nan, 1e30, np.inf])
    zero, below, missing, large, infinite = mx.random.poisson(
        rates, dtype=mx.float64, key=key
    ).tolist()
    assert (zero, below, missing) == (0, -1, -1)
    assert large > 0
    assert infinite == np.inf
    assert mx.random.poisson(rates[:3], key=key).tolist() == [0, -1, -1]


@pytest.mark.covers("random.choice")
def test_choice():
    key = mx.random.key(1)
    items = mx.array([10.0, 20.0, 30.0, 40.0])
    weights = np.array([0.1, 0.2, 0.3, 0.4])
    drawn = to_numpy(mx.random.choice(items, (N,), p=mx.array(weights), key=key))
    assert stats.chisquare(np.unique(drawn, return_counts=True)[1], weights * N).pvalue > 1e-3
    even = to_numpy(mx.random.choice(4, (N,), key=key))
    assert stats.chisquare(np.bincount(even)).pvalue > 1e-3
    all_items = mx.random.choice(items, (2, 2), replace=False, key=key)
    assert sorted(all_items.flatten().tolist()) == [10.0, 20.0, 30.0, 40.0]
    rows = mx.random.choice(mx.arange(12).reshape(3, 4), (2,), axis=1, key=key)
    assert rows.shape == (3, 2)
    assert mx.random.choice(items, key=key).shape == ()
    keys = mx.random.split(key, 4000)
    first = mx.vmap(lambda k: mx.random.choice(4, (2,), replace=False, p=mx.array(weights), key=k))(
        keys
    )
    counts = np.bincount(to_numpy(first)[:, 0])
    assert stats.chisquare(counts, weights * 4000).pvalue > 1e-3
    assert (to_numpy(first)[:, 0] != to_numpy(first)[:, 1]).all()


DETERMINISTIC = {
    "choice": lambda k: mx.random.choice(50, (7,), key=k),
    "choice weighted": lambda k: mx.random.choice(5, (7,), p=mx.arange(1.0, 6.0) / 15, key=k),
    "choice without": lambda k: mx.random.choice(50, (7,), replace=False, key=k),
    "exponential": lambda k: mx.random.exponential((7,), key=k),
    "gamma": lambda k: mx.random.gamma(mx.arange(1.0, 8.0), key=k),
    "beta": lambda k: mx.random.beta(mx.arange(1.0, 8.0), 0.5, key=k),
    "dirichlet": lambda k: mx.random.dirichlet(mx.arange(1.0, 8.0), (3,), key=k),
    "poisson": lambda k: mx.random.poisson(mx.arange(1.0, 40.0), key=k),
    "shuffle": lambda k: mx.random.shuffle(mx.arange(20), key=k),
    "randint wide": lambda k: mx.random.randint(0, 2**40, (7,), dtype=mx.int64, key=k),
    "categorical": lambda k: mx.random.categorical(mx.arange(9.0), num_samples=5, key=k),
}


@pytest.mark.parametrize("name", DETERMINISTIC)
def test_keys_decide_and_may_be_mapped(name):
    draw = DETERMINISTIC[name]
    keys = mx.random.split(mx.random.key(9), 4)
    lanes = to_numpy(mx.vmap(draw)(keys))
    np.testing.assert_array_equal(lanes, np.stack([to_numpy(draw(k)) for k in keys]))
    assert (lanes[0] != lanes[1]).any()
    assert (to_numpy(draw(keys[0])) == to_numpy(mx.compile(draw)(keys[0]))).all()


@pytest.mark.covers("random.shuffle")
def test_shuffle_is_in_place_and_answers_the_array():
    key, x = mx.random.key(3), mx.arange(20)
    want = mx.random.permutation(mx.arange(20), key=key).tolist()
    assert mx.random.shuffle(x, key=key) is x
    assert x.tolist() == want != list(range(20))
    rows = mx.arange(40).reshape(2, 20)
    mx.random.shuffle(rows, 1, key)
    assert rows.tolist() == [want, [20 + i for i in want]]
    # What is not an array of umber stays, and a copy is answered.
    foreign = np.arange(20, dtype=np.int32)
    assert mx.random.shuffle(foreign, key=key).tolist() == want
    assert foreign.tolist() == list(range(20))
    with pytest.raises(TypeError, match=r"\[shuffle\] x: got str"):
        mx.random.shuffle("abc")


def test_an_element_has_numbers_of_its_own():
    """What one element takes moves no other, and neither does how many threads there are."""
    key = mx.random.key(2)
    long = to_numpy(mx.random.gamma(mx.full((5000,), 0.7), key=key))
    np.testing.assert_array_equal(long[:11], to_numpy(mx.random.gamma(0.7, (11,), key=key)))
    program = (
        "import umber.core as mx; k = mx.random.key(2); "
        "print(mx.random.gamma(0.7, (5000,), key=k).sum().item(), "
        "mx.random.poisson(20.0, (5000,), key=k).sum().item(), "
        "mx.random.choice(9, (50000,), p=mx.arange(9.0) / 36, key=k).sum().item())"
    )
    answers = {
        subprocess.run(
            [sys.executable, "-c", program],
            env=os.environ | {"UMBER_NUM_THREADS": threads},
            capture_output=True,
            check=True,
        ).stdout
        for threads in "14"
    }
    assert len(answers) == 1


def test_gradients_of_the_families():
    key = mx.random.key(0)
    unit = mx.random.gamma(2.0, (5,), key=key)
    slope = mx.grad(lambda s: mx.random.gamma(2.0, (5,), scale=s, key=key).sum())(mx.array(3.0))
    np.testing.assert_allclose(slope.item(), to_numpy(unit).sum(), rtol=1e-6)
    with pytest.raises(ValueError, match=r"\[gamma\] rejection sampling has no derivative"):
        mx.grad(lambda a: mx.random.gamma(a, (5,), key=key).sum())(mx.array(3.0))
    flat = mx.grad(lambda r: mx.random.poisson(r, (5,), dtype=mx.float32, key=key).sum())
    assert flat(mx.array(3.0)).item() == 0


ERRORS = [
    (lambda: mx.random.choice(0, (1,)), r"\[choice\] cannot draw \(1,\) from no items"),
    (
        lambda: mx.random.choice(3, (4,), replace=False),
        r"\[choice\] cannot draw \(4,\) from 3 items without",
    ),
    (
        lambda: mx.random.choice(3, (4,), p=mx.ones((2,))),
        r"\[choice\] p must be real and of shape \(3,\), got",
    ),
    (lambda: mx.random.choice(mx.zeros((3,)), axis=1), r"\[choice\]"),
    (
        lambda: mx.random.exponential((2,), dtype=mx.int32),
        r"\[exponential\] dtype int32 is not supported,",
    ),
    (lambda: mx.random.gamma(-1.0), r"\[gamma\] shape parameter must be positive, got -1"),
    (
        lambda: mx.random.gamma(mx.ones((3,)), (2,)),
        r"\[gamma\] cannot broadcast a of shape \(3,\) to \(2,\)",
    ),
    (
        lambda: mx.random.gamma(1.0, key=mx.zeros((3,))),
        r"\[gamma\] key must have shape \(2,\) and dtype",
    ),
    (lambda: mx.random.beta(1.0, 0.0), r"\[beta\] parameter b must be positive, got 0"),
    (lambda: mx.random.dirichlet(1.0), r"\[dirichlet\] alpha must have at least one axis"),
    (lambda: mx.random.dirichlet([1.0, -1.0]), r"\[dirichlet\] alpha must be positive, got -1"),
    (lambda: mx.random.dirichlet([1.0, np.nan]), r"\[dirichlet\] alpha must be positive, got NaN"),
    (lambda: mx.random.poisson(-1.0), r"\[poisson\] rate must be non-negative, got -1"),
    (
        lambda: mx.random.poisson(1.0, dtype=mx.complex64),
        r"\[poisson\] dtype complex64 is not supported, expected integers or",
    ),
    (lambda: mx.random.shuffle(mx.zeros((3,)), axis=2), r"\[shuffle\]"),
]


@pytest.mark.parametrize(("call", "message"), ERRORS)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.covers("random.multivariate_normal")
def test_multivariate_normal():
    """The moments, the shapes, and what does not fit."""
    key = mx.random.key(4)
    mean, cov = np.array([1.0, -2.0]), np.array([[2.0, 0.6], [0.6, 0.5]])
    drawn = mx.random.multivariate_normal(mean, cov, (20_000,), mx.float64, key)
    values = np.asarray(drawn)
    np.testing.assert_allclose(values.mean(0), mean, atol=0.05)
    np.testing.assert_allclose(np.cov(values.T), cov, atol=0.05)
    batch = mx.random.multivariate_normal(mx.zeros((3, 2)), mx.eye(2), (5, 1), key=key)
    assert (batch.shape, batch.dtype) == ((5, 3, 2), mx.float32)
    lanes = mx.vmap(lambda m: mx.random.multivariate_normal(m, mx.eye(2), key=key))(
        mx.zeros((3, 2))
    )
    assert lanes.shape == (3, 2)
    assert (
        mx.random.multivariate_normal(mx.zeros(2), mx.eye(2), dtype=mx.float16).dtype == mx.float16
    )
    for bad in [
        (mx.zeros(3), mx.eye(2)),
        (mx.array(0.0), mx.eye(2)),
        (mx.zeros(2), mx.zeros((2, 3))),
    ]:
        with pytest.raises(ValueError, match=r"\[multivariate_normal\]"):
            mx.random.multivariate_normal(*bad)
    with pytest.raises(ValueError, match=r"\[multivariate_normal\]"):
        mx.random.multivariate_normal(mx.zeros((3, 2)), mx.eye(2), (5,))


@pytest.mark.parametrize(
    ("p", "replace"),
    [
        ([np.nan, 1.0, 0.0], True),
        ([0.5, -1.0, 1.5], True),
        ([0.0, 0.0, 0.0], True),
        ([1.0, 0.0, 0.0], False),
        ([0.5, 0.5, 0.4], True),
        ([0.5, 0.1, 0.1], False),
    ],
)
def test_choice_refuses_what_are_no_probabilities(p, replace):
    with pytest.raises(ValueError, match=r"\[choice\]"):
        mx.random.choice(3, (2,), replace=replace, p=mx.array(p))


def test_probabilities_sum_to_one_as_far_as_their_dtype_tells():
    key = mx.random.key(0)
    p = mx.softmax(mx.random.normal((1000,), key=key))
    for dtype in (mx.bfloat16, mx.float16, mx.float32):
        assert mx.random.choice(1000, (3,), p=p.astype(dtype), key=key).shape == (3,)
        # 0.1 is not representable: ten of them differ from 1 by more than float32 would.
        assert mx.random.choice(10, (3,), p=mx.full((10,), 0.1, dtype), key=key).shape == (3,)
    assert mx.random.choice(3, (2,), p=[0, 1, 0]).tolist() == [1, 1]
    lanes = mx.vmap(lambda p: mx.random.choice(2, (2,), p=p, key=key))(mx.array([[3.0, 0], [0, 3]]))
    assert lanes.tolist() == [[0, 0], [1, 1]]


def test_laplace_follows_its_parameters_as_normal_does():
    """A sample is `loc + scale * standard`: its gradient in `scale` is what was drawn."""
    key = mx.random.key(7)
    standard = mx.random.laplace((4,), key=key)

    def total(loc, scale):
        return mx.random.laplace((4,), loc=loc, scale=scale, key=key).sum()

    loc, scale = mx.grad(total, argnums=(0, 1))(mx.array(2.0), mx.array(3.0))
    assert loc.item() == 4.0
    np.testing.assert_allclose(scale.item(), standard.sum().item(), rtol=1e-6)
    rows = mx.random.laplace((2, 4), loc=mx.arange(4.0), scale=mx.zeros(4), key=key)
    assert rows.tolist() == [[0.0, 1.0, 2.0, 3.0]] * 2
    exact = mx.random.laplace((), mx.float64, 0.1, 0.0)
    assert exact.item() == 0.1
