"""L-BFGS against SciPy's, its line search, and what it does with losses that are not finite."""

import math

import numpy as np
import pytest
import umber.core as mx
from scipy import optimize
from umber import nn, optimizers
from umber.optimizers.line_search import Trial, strong_wolfe
from umber.utils import tree_flatten, tree_unflatten

EXACT = {"tolerance_grad": 1e-10, "tolerance_change": 0.0}


def rosenbrock(x):
    return (100 * mx.square(x[1:] - mx.square(x[:-1])) + mx.square(1 - x[:-1])).sum()


def logistic(rng, dtype):
    """A loss of logistic regression, with a start."""
    x = rng.normal(size=(200, 12)) * np.geomspace(0.1, 10, 12)
    y = np.sign(x @ rng.normal(size=12) + rng.normal(size=200))
    x, y = mx.array(x, dtype), mx.array(y, dtype)

    def loss(w):
        return mx.logaddexp(0, -y * (x @ w)).mean() + 1e-3 * mx.square(w).sum()

    return loss, mx.zeros(12, dtype)


def with_scipy(loss, start):
    """SciPy's result for the same function, in the same precision."""
    value_and_grad = mx.value_and_grad(loss)

    def function(w):
        value, gradient = value_and_grad(mx.array(w, start.dtype))
        return value.item(), np.array(gradient, np.float64)

    return optimize.minimize(
        function,
        np.array(start, np.float64),
        jac=True,
        method="L-BFGS-B",
        options={"maxcor": 10, "gtol": 1e-10, "ftol": 0, "maxiter": 1000},
    )


def problems(rng, dtype):
    yield rosenbrock, mx.array([-1.2, 1.0], dtype)
    yield rosenbrock, mx.array([-1.2, 1.0] * 5, dtype)
    yield logistic(rng, dtype)


def test_as_precise_as_scipy_in_as_many_iterations(rng):
    for loss, start in problems(rng, mx.float64):
        expected = with_scipy(loss, start)
        found, info = optimizers.LBFGS(**EXACT).minimize(loss, start)
        assert info.success, info
        assert np.abs(np.array(info.jac)).max() <= 1e-10
        # SciPy ends earlier, where the loss is flat to rounding error.
        np.testing.assert_allclose(np.array(found), expected.x, atol=1e-6)
        assert info.fun == pytest.approx(expected.fun, rel=1e-14, abs=1e-18)
        assert info.fun == loss(found).item()
        assert info.nit <= 1.3 * expected.nit + 5
        assert info.nfev <= 1.5 * expected.nfev + 5


def test_float32_up_to_its_precision(rng):
    for (loss, start), (exact, wide) in zip(
        problems(np.random.default_rng(3), mx.float32),
        problems(np.random.default_rng(3), mx.float64),
        strict=True,
    ):
        best, _ = optimizers.LBFGS(**EXACT).minimize(exact, wide)
        found, info = optimizers.LBFGS(tolerance_grad=0, tolerance_change=0).minimize(loss, start)
        assert found.dtype == mx.float32
        assert exact(found.astype(mx.float64)).item() <= exact(best).item() * (1 + 1e-6) + 1e-10
        np.testing.assert_allclose(np.array(found), np.array(best), atol=2e-3)
        assert not info.success or info.fun == 0
        assert info.nit < 200


@pytest.mark.parametrize("dtype", [mx.float32, mx.float64])
def test_ill_conditioned_losses(rng, dtype):
    """Changes of the gradient are 1e8 times as long as those of the parameters."""
    scale = mx.array(np.geomspace(1, 1e8, 50), dtype)
    start = mx.array(rng.normal(size=50), dtype)

    def loss(x):
        return (scale * mx.square(x)).sum()

    _, info = optimizers.LBFGS(max_iter=100).minimize(loss, start)
    assert info.fun < 1e-3 * loss(start).item()
    assert info.nfev < 130


@pytest.mark.parametrize("scale", [1e-12, 1e12])
def test_the_scale_of_the_loss_does_not_matter(scale):
    start = mx.array([-1.2, 1.0], mx.float64)
    found = [
        optimizers.LBFGS(tolerance_grad=1e-8 * factor).minimize(
            lambda x, factor=factor: factor * rosenbrock(x), start
        )
        for factor in (1.0, scale)
    ]
    assert all(info.success for _, info in found)
    np.testing.assert_allclose(np.array(found[1][0]), [1, 1], atol=1e-6)
    assert found[1][1].nit <= found[0][1].nit + 10
    assert found[1][1].nfev <= found[0][1].nfev + 20


def test_without_tolerances_it_ends_at_rounding_error(rng):
    for loss, start in problems(rng, mx.float64):
        _, info = optimizers.LBFGS(tolerance_grad=0, tolerance_change=0).minimize(loss, start)
        assert np.abs(np.array(info.jac)).max() < 1e-12
        assert info.nit < 300
        assert info.nfev < 1000


@pytest.mark.parametrize("dtype", [mx.float32, mx.float64])
def test_a_trial_out_of_the_domain_is_too_long(dtype):
    """The second step goes to -18, where the logarithm is NaN."""
    seen = []

    def loss(x):
        value = x - 0.1 * mx.log(x)
        seen.append(value)
        return value

    x, info = optimizers.LBFGS(tolerance_grad=1e-5).minimize(loss, mx.array(2.0, dtype))
    assert info.success
    assert x.item() == pytest.approx(0.1, rel=1e-3)
    assert math.isfinite(info.fun)
    assert info.nfev == len(seen)


def test_a_loss_that_is_infinite_out_of_the_domain():
    def loss(x):
        return mx.where(x > 0.5, mx.square(x - 1), mx.inf).sum()

    x, info = optimizers.LBFGS().minimize(loss, mx.array([9.0, 0.6]))
    assert info.success
    np.testing.assert_allclose(np.array(x), [1, 1], atol=1e-5)


@pytest.mark.parametrize("start", [math.nan, -1.0, math.inf])
def test_a_loss_that_is_not_finite_at_the_start(start):
    x, info = optimizers.LBFGS().minimize(lambda x: mx.sqrt(x).sum(), mx.array([start, 1.0]))
    assert not info.success
    assert "not finite at the start" in info.message
    assert (info.nit, info.nfev) == (0, 1)
    np.testing.assert_array_equal(np.array(x), np.array([start, 1.0], np.float32))


def test_a_loss_without_a_minimum_ends():
    x, info = optimizers.LBFGS(max_iter=30).minimize(lambda x: -x.sum(), mx.zeros(2))
    assert not info.success
    assert np.isfinite(np.array(x)).all()
    assert info.fun < -1e3


def test_at_the_minimum_nothing_is_done():
    start = {"a": mx.ones(3), "b": [mx.array(2.0)]}
    x, info = optimizers.LBFGS().minimize(lambda p: mx.square(p["a"] - 1).sum(), start)
    assert (info.success, info.nit, info.nfev, info.fun) == (True, 0, 1, 0.0)
    assert x["a"].tolist() == [1, 1, 1]
    assert x["b"][0].item() == 2.0
    assert {path: g.tolist() for path, g in tree_flatten(info.jac)} == {"a": [0] * 3, "b.0": 0.0}


def test_limits_and_messages():
    start = mx.array([-1.2, 1.0], mx.float64)
    _, info = optimizers.LBFGS(max_iter=3).minimize(rosenbrock, start)
    assert (info.success, info.nit) == (False, 3)
    assert info.message == "reached max_iter iterations"
    _, info = optimizers.LBFGS(tolerance_grad=0, tolerance_change=0.99).minimize(rosenbrock, start)
    assert info.success
    assert info.message == "the loss changed by less than tolerance_change"
    _, info = optimizers.LBFGS(tolerance_grad=0, tolerance_change=0).minimize(
        lambda x: mx.square(x - 1 / 3).sum() + 1, start
    )
    assert not info.success or np.abs(np.array(info.jac)).max() == 0
    assert info.nit < 100


def test_trees_with_data_and_more_results():
    rng = np.random.default_rng(0)
    x = rng.normal(size=(50, 3))
    y = x @ [1.0, -2.0, 0.5] + 0.25

    def loss(p, x, *, y):
        error = x @ p["layers"][1]["w"] + p["b"] - y
        return mx.square(error).mean(), {"count": p["count"]}

    start = {
        "layers": [{}, {"w": mx.zeros(3, mx.float64)}],
        "b": mx.zeros((), mx.float32),
        "count": mx.array([1, 2]),
        "none": mx.zeros((0, 3)),
    }
    found, info = optimizers.LBFGS().minimize(loss, start, mx.array(x), y=mx.array(y))
    assert info.success
    np.testing.assert_allclose(np.array(found["layers"][1]["w"]), [1, -2, 0.5], atol=1e-5)
    assert found["b"].item() == pytest.approx(0.25, abs=1e-5)
    assert [v.dtype for _, v in tree_flatten(found)] == [v.dtype for _, v in tree_flatten(start)]
    assert found["count"] is start["count"]
    assert found["none"].shape == (0, 3)
    assert start["b"].item() == 0


def regression():
    mx.random.seed(3)
    model = nn.Sequential(nn.Linear(3, 4), nn.Tanh(), nn.Linear(4, 1))
    model.set_dtype(mx.float64)
    x = mx.random.normal((40, 3)).astype(mx.float64)
    y = mx.sin(x.sum(axis=1, keepdims=True))
    return (
        model,
        lambda: (
            nn.losses.mse_loss(model(x), y)
            + 1e-3 * sum(mx.square(w).sum() for _, w in tree_flatten(model.parameters()))
        ),
    )


def weights(model):
    return {path: np.array(w.astype(mx.float64)) for path, w in tree_flatten(model.parameters())}


def test_models_are_updated():
    model, loss = regression()
    model.layers[0].freeze(keys="bias")
    before, first = weights(model), loss().item()
    optimizer = optimizers.LBFGS(tolerance_grad=1e-8, tolerance_change=0)
    info = optimizer.update_with(model, loss)
    assert info.success
    assert info.fun == loss().item() < first
    after = weights(model)
    assert [path for path in after if (after[path] == before[path]).all()] == ["layers.0.bias"]
    assert optimizer.step.item() == info.nit
    gradients = nn.value_and_grad(model, loss)()[1]
    assert all(mx.abs(g).max().item() <= 1e-8 for _, g in tree_flatten(gradients))


def test_calls_continue_with_the_history(tmp_path):
    whole, loss = regression()
    optimizers.LBFGS(max_iter=12, history_size=4).update_with(whole, loss)
    stepwise, loss = regression()
    optimizer = optimizers.LBFGS(max_iter=4, history_size=4)
    for call in range(3):
        optimizer.update_with(stepwise, loss)
        assert optimizer.step.item() == 4 * (call + 1)
        assert len(optimizer.state["s"]) <= 4
        path = str(tmp_path / "state.safetensors")
        mx.save_safetensors(path, dict(tree_flatten(optimizer.state)))
        optimizer = optimizers.LBFGS(max_iter=4, history_size=4)
        optimizer.state = tree_unflatten(mx.load(path))
    for path, w in weights(whole).items():
        np.testing.assert_array_equal(weights(stepwise)[path], w)


def test_minimize_drops_the_history():
    optimizer = optimizers.LBFGS()
    start = mx.array([-1.2, 1.0])
    first = optimizer.minimize(rosenbrock, start)
    optimizer.minimize(lambda x: mx.square(x).sum(), mx.ones(5))
    again = optimizer.minimize(rosenbrock, start)
    assert first[0].tolist() == again[0].tolist()
    assert optimizer.step.item() == first[1].nit


def test_numpy_starts_keep_their_dtypes():
    x, info = optimizers.LBFGS(**EXACT).minimize(rosenbrock, np.array([-1.2, 1.0]))
    assert isinstance(x, mx.array)
    assert x.dtype == mx.float64
    assert info.success
    np.testing.assert_allclose(np.array(x), 1, rtol=1e-9)

    start = {
        "a": np.float64(0),
        "b": np.zeros(2, np.float32),
        "n": np.arange(2),
        "c": mx.array(0.0),
    }

    def loss(p):
        distance = mx.square(p["a"] - 0.1) + mx.square(p["b"] - p["n"]).sum()
        return distance + mx.square(p["c"] + 3)

    best, _ = optimizers.LBFGS(**EXACT).minimize(loss, start)
    assert best["a"].dtype == mx.float64
    assert abs(best["a"].item() - 0.1) < 1e-12
    assert best["b"].dtype == mx.float32
    assert best["b"].tolist() == [0.0, 1.0]
    assert best["n"].dtype == mx.int64
    assert best["n"].tolist() == [0, 1]
    assert best["c"].item() == -3
    assert isinstance(start["b"], np.ndarray)


def test_a_history_of_another_loss_is_no_obstacle():
    model = nn.Linear(2, 1)
    optimizer = optimizers.LBFGS()
    x = mx.array([[1.0, 2.0], [3.0, -1.0], [0.5, 0.25]])
    for sign in (1.0, -1.0):
        y = sign * 1e3 * x[:, :1]
        info = optimizer.update_with(model, lambda y=y: nn.losses.mse_loss(model(x), y))
        assert info.fun < 1e-3


@pytest.mark.parametrize("dtype", [mx.float16, mx.bfloat16])
def test_parameters_of_half_precision(dtype):
    model = nn.Linear(3, 1)
    model.set_dtype(dtype)
    x = mx.random.normal((64, 3), key=mx.random.key(1))
    y = x @ mx.array([[1.0], [-2.0], [0.5]]) + 0.25
    optimizer = optimizers.LBFGS()
    info = optimizer.update_with(model, lambda: nn.losses.mse_loss(model(x), y))
    assert model.weight.dtype == dtype
    assert {s.dtype for s in optimizer.state["s"]} == {mx.float32}
    np.testing.assert_allclose(weights(model)["weight"], [[1, -2, 0.5]], atol=0.02)
    assert info.fun < 1e-3


def test_an_error_changes_nothing():
    model, loss = regression()
    optimizer = optimizers.LBFGS(max_iter=2)
    optimizer.update_with(model, loss)
    calls = []

    def fails():
        calls.append(0)
        if len(calls) == 3:
            raise RuntimeError("of the user")
        return loss()

    before = tree_flatten(model.parameters())
    state = [*tree_flatten(optimizer.state)]
    with pytest.raises(RuntimeError, match=r"^of the user$"):
        optimizer.update_with(model, fails)
    for was, now in ((before, model.parameters()), (state, optimizer.state)):
        now = tree_flatten(now)
        assert [path for path, _ in now] == [path for path, _ in was]
        assert all(x is y for (_, x), (_, y) in zip(was, now, strict=True))


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: optimizers.LBFGS(max_iter=0), ValueError, r"^\[LBFGS\] got max_iter 0"),
        (lambda: optimizers.LBFGS(history_size=0), ValueError, r"^\[LBFGS\] got history_size 0"),
        (
            lambda: optimizers.LBFGS(max_linesearch_steps=0),
            ValueError,
            r"^\[LBFGS\] got max_linesearch_steps 0",
        ),
        (lambda: optimizers.LBFGS(tolerance_grad=-1), ValueError, r"got tolerance_grad -1"),
        (lambda: optimizers.LBFGS(tolerance_change=math.nan), ValueError, r"tolerance_change nan"),
        (
            lambda: optimizers.LBFGS().minimize(lambda x: x["a"].sum(), {"a": mx.array([1])}),
            TypeError,
            r"^\[\w+\] got no parameter of a floating dtype",
        ),
        (
            lambda: optimizers.LBFGS().minimize(rosenbrock, [0.0, 0.0]),
            TypeError,
            r"^\[\w+\] parameters: got the float 0.0 at 0, .* mx.array\(0.0, mx.float64\)",
        ),
        (
            lambda: optimizers.LBFGS().minimize(mx.square, 3),
            TypeError,
            r"^\[\w+\] parameters: got the int 3, expected an array",
        ),
        (
            lambda: optimizers.LBFGS().minimize(lambda x: x, nn.Linear(1, 1)),
            TypeError,
            r"^\[\w+\] parameters: got the model Linear, .*; for models use update_with",
        ),
        (
            lambda: mx.compile(optimizers.LBFGS().minimize)(lambda x: mx.square(x), mx.array(1.0)),
            ValueError,
            r"^\[\w+\] ",
        ),
        (
            lambda: optimizers.LBFGS().minimize(lambda x: mx.abs(x), {"a": mx.array(1j)}),
            TypeError,
            r"^\[\w+\] the parameter a is of .*complex64, expected a real dtype",
        ),
        (
            lambda: setattr(optimizers.LBFGS(), "state", []),
            TypeError,
            r"^\[LBFGS\] state: got list, expected a dict",
        ),
    ],
)
def test_wrong_arguments(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_a_state_of_another_model():
    optimizer = optimizers.LBFGS()
    model = nn.Linear(2, 1)
    optimizer.update_with(model, lambda: mx.square(model(mx.ones((1, 2))) - 1).sum())
    other = nn.Linear(3, 1)
    with pytest.raises(ValueError, match=r"^\[\w+\] state: got s of shape \(3,\), expected \(4,\)"):
        optimizer.update_with(other, lambda: mx.square(other(mx.ones((1, 3))) - 1).sum())


LINES = {
    "parabola": (lambda t: (t - 3) ** 2, lambda t: 2 * (t - 3)),
    "steep": (lambda t: (t - 1e-4) ** 2 * 1e6, lambda t: 2e6 * (t - 1e-4)),
    "far": (lambda t: -1 / (1 + (1e3 - t) ** 2 / 1e6), lambda t: _far(t)),
    "waves": (lambda t: math.sin(3 * t) - t / 5, lambda t: 3 * math.cos(3 * t) - 1 / 5),
    "pole": (lambda t: math.inf if t >= 0.7 else 1 / (0.7 - t) - 9 * t, lambda t: _pole(t)),
    "kink": (lambda t: abs(t - 0.2) - 0.05 * t, lambda t: math.copysign(1, t - 0.2) - 0.05),
}


def _far(t):
    return -2 * (1e3 - t) / 1e6 / (1 + (1e3 - t) ** 2 / 1e6) ** 2


def _pole(t):
    return math.nan if t >= 0.7 else 1 / (0.7 - t) ** 2 - 9


@pytest.mark.parametrize("step", [1e-3, 0.1, 1.0, 30.0])
@pytest.mark.parametrize("name", [name for name in LINES if name not in ("waves", "kink")])
def test_the_line_search_satisfies_the_conditions(name, step):
    value, slope = LINES[name]
    start = Trial(0.0, value(0.0), slope(0.0))
    assert start.slope < 0
    calls = []

    def evaluate(t):
        calls.append(t)
        return Trial(t, value(t), slope(t))

    found = strong_wolfe(evaluate, start, step, 0.0, 30)
    assert found.value <= start.value + 1e-4 * found.step * start.slope
    assert abs(found.slope) <= 0.9 * abs(start.slope)
    assert len(calls) == len(set(calls)) <= 30


def test_a_line_search_without_success():
    """No step along the kink has a small slope: the lowest trial counts, if there is one."""
    value, slope = LINES["kink"]
    start = Trial(0.0, value(0.0), slope(0.0))
    found = strong_wolfe(lambda t: Trial(t, value(t), slope(t)), start, 1.0, 0.0, 20)
    assert found is None or found.value < start.value
    assert strong_wolfe(lambda t: Trial(t, math.nan, 0.0), start, 1.0, 0.0, 20) is None
    assert strong_wolfe(lambda t: Trial(t, 1.0, 1.0), start, 1.0, 0.0, 20) is None
