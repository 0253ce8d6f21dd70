"""Optimizers and clipping of half precision: what leaves the range of the dtype inside a rule."""

import numpy as np
import pytest
import umber.core as mx
from umber import nn, optimizers

HALVES = [mx.float16, mx.bfloat16]
NARROW = [*HALVES, mx.float8_e5m2]
RULES = {
    "sgd": lambda: optimizers.SGD(0.5),
    "momentum": lambda: optimizers.SGD(0.5, momentum=0.9),
    "nesterov": lambda: optimizers.SGD(0.5, momentum=0.9, nesterov=True),
    "dampening": lambda: optimizers.SGD(0.5, momentum=0.9, dampening=0.3),
    "adam": lambda: optimizers.Adam(0.5),
    "adam corrected": lambda: optimizers.Adam(0.5, bias_correction=True),
    "adamw": lambda: optimizers.AdamW(0.5, weight_decay=0.0),
    "adamw corrected": lambda: optimizers.AdamW(0.5, weight_decay=0.0, bias_correction=True),
    "adamax": lambda: optimizers.Adamax(0.5),
    "nadam": lambda: optimizers.NAdam(0.5),
    "radam": lambda: optimizers.RAdam(0.5),
    "lamb": lambda: optimizers.LAMB(0.5, weight_decay=0.0),
    "adagrad": lambda: optimizers.Adagrad(0.5),
    "rmsprop": lambda: optimizers.RMSprop(0.5),
    "adadelta": lambda: optimizers.AdaDelta(0.5),
    "lion": lambda: optimizers.Lion(0.5),
    "muon": lambda: optimizers.Muon(0.5, weight_decay=0.0),
    "adafactor": lambda: optimizers.Adafactor(0.5),
    "adafactor momentum": lambda: optimizers.Adafactor(0.5, beta_1=0.9, relative_step=False),
    "multi": lambda: optimizers.MultiOptimizer(
        [optimizers.Adam(0.5), optimizers.RMSprop(0.5)], [lambda path, x: x.ndim == 1]
    ),
}
# Without an eps that holds tiny steps back, their size is independent of the gradients'.
FREE = {
    "adam": lambda: optimizers.Adam(0.5, eps=0.0),
    "adam corrected": lambda: optimizers.Adam(0.5, eps=0.0, bias_correction=True),
    "adamw": lambda: optimizers.AdamW(0.5, eps=0.0, weight_decay=0.0),
    "adamax": lambda: optimizers.Adamax(0.5, eps=0.0),
    "nadam": lambda: optimizers.NAdam(0.5, eps=0.0),
    "lamb": lambda: optimizers.LAMB(0.5, eps=0.0, weight_decay=0.0),
    "adagrad": lambda: optimizers.Adagrad(0.5, eps=1e-30),
    "rmsprop": lambda: optimizers.RMSprop(0.5, eps=1e-30),
    "lion": lambda: optimizers.Lion(0.5),
    "adafactor": lambda: optimizers.Adafactor(0.5),
}


def stepped(optimizer, w, gradients, compiled=False):
    """The parameter after a step along each gradient."""

    def step(w, g):
        return optimizer.apply_gradients({"w": g}, {"w": w})["w"]

    if compiled:
        optimizer.init({"w": w})
        step = mx.compile(step, inputs=optimizer.state, outputs=optimizer.state)
    for g in gradients:
        w = step(w, g)
    return w


def values(x):
    return np.array(x.astype(mx.float32), dtype=np.float64)


def step_of(x):
    """Half the distance of neighbours around the values of a narrow array."""
    return values(mx.abs(x)).max() * mx.finfo(x.dtype).eps


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("shape", [(2,), (2, 3)])
@pytest.mark.parametrize("dtype", [mx.float32, *NARROW])
@pytest.mark.parametrize("name", RULES)
def test_a_zero_gradient_changes_nothing(name, dtype, shape, compiled):
    for w in (mx.zeros(shape, dtype), mx.full(shape, 1.5, dtype)):
        optimizer = RULES[name]()
        new = stepped(optimizer, w, [mx.zeros(shape, dtype)] * 3, compiled and name != "multi")
        assert new.dtype == dtype
        assert values(new).tolist() == values(w).tolist()


@pytest.mark.parametrize("dtype", [mx.float32, mx.float64])
@pytest.mark.parametrize("eps", [0.0, 1e-60])
@pytest.mark.parametrize("make", [optimizers.Adam, optimizers.AdamW, optimizers.Adamax])
def test_a_zero_gradient_without_eps_changes_nothing(make, eps, dtype):
    options = {"weight_decay": 0.0} if make is optimizers.AdamW else {}
    w = mx.array([1.5, -2.0], dtype=dtype)
    new = stepped(make(0.5, eps=eps, **options), w, [mx.zeros(2, dtype)] * 2)
    assert new.tolist() == [1.5, -2.0]


@pytest.mark.parametrize("compiled", [False, True])
@pytest.mark.parametrize("size", [1e-7, 1e-4, 0.3, 300.0, 30000.0])
@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("name", RULES)
def test_the_first_step_is_that_of_float32(name, dtype, size, compiled):
    """Squares of most of these gradients are out of the range of float16."""
    g = mx.array([[size, -size / 2], [size / 4, size]]).astype(dtype)
    w = mx.array([[1.0, -2.0], [0.5, 0.25]]).astype(dtype)
    wide = stepped(RULES[name](), w.astype(mx.float32), [g.astype(mx.float32)])
    new = stepped(RULES[name](), w, [g], compiled and name != "multi")
    assert values(new).tolist() == values(wide.astype(dtype)).tolist()


@pytest.mark.parametrize("size", [0.02, 1.0, 200.0])
@pytest.mark.parametrize("dtype", HALVES)
@pytest.mark.parametrize("name", RULES)
def test_the_moments_are_those_of_float32_rounded(name, dtype, size):
    """Squares of 200 sum to more than 65504 for Adagrad alone."""
    g = mx.array([size, -size / 2]).astype(dtype)
    w = mx.array([1.0, -2.0]).astype(dtype)
    narrow, wide = RULES[name](), RULES[name]()
    stepped(narrow, w, [g] * 4)
    stepped(wide, w.astype(mx.float32), [g.astype(mx.float32)] * 4)
    states = [o.state if "w" in o.state else o.state["states"][0] for o in (narrow, wide)]
    for moment, exact in states[1]["w"].items():
        kept = states[0]["w"][moment]
        assert kept.dtype == dtype
        most = mx.finfo(dtype).max
        expected = np.clip(values(exact), -most, most)
        # Each of the four steps rounds, and the least numbers of float16 are 6e-8 apart.
        tolerance = 4 * mx.finfo(dtype).eps
        np.testing.assert_allclose(values(kept), expected, rtol=tolerance, atol=3e-7)


@pytest.mark.parametrize("name", FREE)
def test_large_gradients_go_on_stepping(name):
    """A moment that became infinite would make every later step 0, or NaN."""
    w = mx.zeros(2, mx.float16)
    g = mx.array([60000.0, -60000.0], dtype=mx.float16)
    optimizer = FREE[name]()
    for _ in range(3):
        new = stepped(optimizer, w, [g])
        assert np.isfinite(values(new)).all()
        assert (np.sign(values(new - w)) == [-1, 1]).all()
        w = new
    assert all(np.isfinite(values(x)).all() for x in optimizer.state["w"].values())


@pytest.mark.parametrize("rate", [1e-9, 1e6])
@pytest.mark.parametrize("dtype", HALVES)
def test_learning_rates_beyond_the_half(dtype, rate):
    """1e-9 is 0 and 1e6 infinite in float16."""
    g = mx.array([8.0 / rate if rate < 1 else 8e-6], dtype=mx.float32)
    g = mx.clip(g, -6e4, 6e4).astype(dtype)
    for make in (optimizers.SGD, lambda r: optimizers.SGD(lambda step: r + 0 * step)):
        new = stepped(make(rate), mx.zeros(1, dtype), [g])
        expected = (-rate * g.astype(mx.float32)).astype(dtype)
        assert new.tolist() == expected.tolist()
        assert new.item() != 0 or dtype == mx.float16
    adam = optimizers.Adam(rate, eps=1e-8)
    first = stepped(adam, mx.zeros(1, dtype), [mx.ones(1, dtype)])
    expected = mx.array([-rate * 0.1 / (0.001**0.5 + 1e-8)]).astype(dtype)
    np.testing.assert_allclose(values(first), values(expected), rtol=2 * mx.finfo(dtype).eps)


@pytest.mark.parametrize("dtype", HALVES)
def test_steps_beyond_the_half(dtype):
    """The number of the step has no place in float16 after 65504 of them."""
    w, g = mx.array([1.0, 2.0]).astype(dtype), mx.array([0.5, -0.5]).astype(dtype)
    makes = (
        lambda: optimizers.Adam(0.1, bias_correction=True),
        lambda: optimizers.Adafactor(),
        lambda: optimizers.SGD(optimizers.linear_schedule(0.0, 1.0, 200_000)),
        lambda: optimizers.SGD(optimizers.cosine_decay(1.0, 200_000)),
    )
    for make in makes:
        after = []
        for wide in (mx.float32, dtype):
            optimizer = make()
            optimizer.state["step"] = mx.array(100_000, mx.uint64)
            after.append(stepped(optimizer, w.astype(wide), [g.astype(wide)]))
        assert after[1].tolist() == after[0].astype(dtype).tolist()


PAIRS = [(mx.float16, mx.float32), (mx.float32, mx.float16), (mx.float16, mx.bfloat16)]


@pytest.mark.parametrize(("gradient", "parameter"), PAIRS)
@pytest.mark.parametrize("name", [name for name in RULES if name != "multi"])
def test_mixed_dtypes_promote(name, gradient, parameter):
    optimizer = RULES[name]()
    new = stepped(optimizer, mx.ones(3, parameter), [mx.full(3, 0.5, gradient)] * 2)
    assert new.dtype == mx.result_type(gradient, parameter)
    assert np.isfinite(values(new)).all()
    joined = mx.result_type(gradient, parameter) if "adafactor" in name else gradient
    assert {x.dtype for x in optimizer.state["w"].values()} <= {joined}
    if name in ("momentum", "muon"):
        decayed = RULES[name]()
        decayed.weight_decay = 0.1
        stepped(decayed, mx.ones(3, parameter), [mx.full(3, 0.5, gradient)])
        assert decayed.state["w"]["v"].dtype == mx.result_type(gradient, parameter)


def test_a_rule_of_ones_own_around_another():
    """Subclasses see the arrays as they are; what they call computes in float32."""

    class Halved(optimizers.Adam):
        def apply_single(self, gradient, parameter, state):
            assert gradient.dtype == mx.float16
            return super().apply_single(gradient / 2, parameter, state)

    w = mx.ones(2, mx.float16)
    new = stepped(Halved(0.5), w, [mx.full(2, 1e-4, mx.float16)])
    assert new.dtype == mx.float16
    g = mx.full(2, 1e-4, mx.float16)
    expected = stepped(optimizers.Adam(0.5), w, [g / 2])
    assert new.tolist() == expected.tolist()


@pytest.mark.parametrize("dtype", HALVES)
def test_training_in_half_precision(dtype):
    mx.random.seed(0)
    x = mx.random.normal((64, 3))
    y = (x @ mx.array([[1.0], [-2.0], [0.5]]) + 0.25).astype(dtype)
    x = x.astype(dtype)
    for name in ("adam", "adam corrected", "adamax", "rmsprop", "adagrad"):
        model = nn.Linear(3, 1)
        model.set_dtype(dtype)
        optimizer = RULES[name]()
        optimizer.learning_rate = 0.5 if name == "adagrad" else 0.05
        loss_and_grad = nn.value_and_grad(model, lambda x, y, m=model: nn.losses.mse_loss(m(x), y))
        first = loss_and_grad(x, y)[0].item()
        for _ in range(100):
            loss, gradients = loss_and_grad(x, y)
            optimizer.update(model, gradients)
        assert model.weight.dtype == dtype
        assert loss.item() < 0.1 * first


SIZES = [1e-7, 1e-4, 1.0, 300.0, 60000.0]
CLIPPED = [(mx.float16, size) for size in SIZES] + [
    (dtype, size) for dtype in (mx.float32, mx.bfloat16) for size in (*SIZES, 1e-30, 1e18, 1e30)
]


@pytest.mark.parametrize(("dtype", "size"), CLIPPED)
def test_clipping_by_a_norm_in_range(dtype, size):
    """No square overflows or underflows, nor a factor that underflows in float16."""
    g = mx.array([3.0, 4.0]) * (size / 4)
    g = g.astype(dtype)
    exact = values(g)
    length = np.linalg.norm(exact)
    clipped, norm = optimizers.clip_grad_norm({"a": g, "b": [g]}, size / 2)
    assert norm.dtype == mx.float32
    np.testing.assert_allclose(norm.item(), 2**0.5 * length, rtol=1e-6)
    factor = size / 2 / (2**0.5 * length + 1e-6)
    for part in (clipped["a"], clipped["b"][0]):
        assert part.dtype == dtype
        least = 6e-8 if dtype == mx.float16 else 1e-38
        np.testing.assert_allclose(
            values(part), exact * factor, rtol=2 * mx.finfo(dtype).eps, atol=least
        )
