"""checkpoint: the same gradients from less memory, whatever surrounds the function."""

import gc

import numpy as np
import pytest
import umber.core as mx
from arrays import to_numpy
from umber import nn

LAYERS, WIDTH, ROWS = 24, 64, 4096


def block(weights, x):
    for w in weights:
        x = mx.tanh(x @ w)
    return x


def loss(apply, per_block):
    def f(weights, x):
        for i in range(0, LAYERS, per_block):
            x = apply(weights[i : i + per_block], x)
        return (x * x).mean()

    return f


def network():
    keys = mx.random.split(mx.random.key(3), LAYERS + 1)
    weights = [mx.random.normal((WIDTH, WIDTH), key=k) * 0.15 for k in keys[1:]]
    x = mx.random.normal((ROWS, WIDTH), key=keys[0])
    mx.eval(weights, x)
    return weights, x


def peak_of(run):
    gc.collect()
    mx.clear_cache()
    base = mx.get_active_memory()
    mx.reset_peak_memory()
    answer = run()
    mx.eval(answer)
    return answer, mx.get_peak_memory() - base


def same(got, want, tolerance=1e-5):
    for a, b in zip(got, want, strict=True):
        np.testing.assert_allclose(to_numpy(a), to_numpy(b), rtol=tolerance, atol=1e-7)


@pytest.mark.parametrize("per_block", [1, 4, 6])
def test_a_third_of_the_memory(per_block):
    weights, x = network()
    plain, most = peak_of(lambda: mx.grad(loss(block, per_block))(weights, x))
    again, less = peak_of(lambda: mx.grad(loss(mx.checkpoint(block), per_block))(weights, x))
    same(again, plain)
    if per_block > 1:
        assert less <= most / 3, (less, most)
    else:
        assert less < most


def test_a_third_of_the_memory_with_the_value_and_compiled():
    weights, x = network()
    per_block = 4
    plain, most = peak_of(lambda: mx.value_and_grad(loss(block, per_block))(weights, x))
    gradient = mx.compile(mx.value_and_grad(loss(mx.checkpoint(block), per_block)))
    mx.eval(gradient(weights, x))
    again, less = peak_of(lambda: gradient(weights, x))
    same(again[1], plain[1])
    assert again[0].item() == pytest.approx(plain[0].item(), rel=1e-6)
    assert less <= most / 3, (less, most)


def wave(x):
    return mx.sin(x) * mx.exp(x / 2)


X = mx.array([[0.1, 0.9, -0.4], [1.0, 0.3, -2.0]])


def total(f):
    return lambda x: f(x).sum()


@pytest.mark.covers("checkpoint")
@pytest.mark.parametrize(
    "composed",
    [
        lambda f: mx.grad(total(f)),
        lambda f: mx.grad(lambda x: mx.grad(total(f))(x).sum()),
        lambda f: mx.grad(total(mx.vmap(f))),
        lambda f: mx.vmap(mx.grad(total(f))),
        lambda f: mx.vmap(mx.vmap(mx.grad(f))),
        lambda f: mx.grad(total(mx.vmap(mx.vmap(f)))),
        lambda f: mx.compile(mx.grad(total(f))),
        lambda f: mx.grad(total(mx.compile(f))),
        lambda f: mx.compile(mx.vmap(mx.grad(total(f)))),
        lambda f: mx.grad(total(mx.compile(mx.vmap(f)))),
        lambda f: lambda x: mx.jvp(f, [x], [mx.ones_like(x)])[1][0],
        lambda f: lambda x: mx.jvp(mx.grad(total(f)), [x], [mx.ones_like(x)])[1][0],
        lambda f: mx.grad(lambda x: mx.jvp(f, [x], [mx.ones_like(x)])[1][0].sum()),
        lambda f: mx.checkpoint(mx.grad(total(f))),
        lambda f: mx.grad(total(mx.checkpoint(lambda x: f(f(x))))),
        lambda f: mx.vmap(f, in_axes=1, out_axes=1),
        lambda f: f,
    ],
)
def test_as_without_in_every_composition(composed):
    same([composed(mx.checkpoint(wave))(X)], [composed(wave)(X)])


def test_captured_arrays_get_their_gradients():
    def f(x, y):
        return mx.checkpoint(lambda x: mx.sin(x) * y * mx.exp(y))(x).sum()

    def plain(x, y):
        return (mx.sin(x) * y * mx.exp(y)).sum()

    y = mx.array(0.5)
    same(mx.grad(f, argnums=(0, 1))(X, y), mx.grad(plain, argnums=(0, 1))(X, y))
    same(
        [mx.vmap(mx.grad(f, argnums=1))(X, X[:, 0])],
        [mx.vmap(mx.grad(plain, argnums=1))(X, X[:, 0])],
    )


def test_layers_of_a_module():
    class Network(nn.Module):
        def __init__(self, wrap):
            super().__init__()
            self.layers = [nn.Linear(3, 3) for _ in range(3)]
            self.wrap = wrap

        def __call__(self, x):
            for layer in self.layers:
                x = self.wrap(lambda x, layer=layer: mx.tanh(layer(x)))(x)
            return x.sum()

    model = Network(mx.checkpoint)
    value, gradients = nn.value_and_grad(model, lambda x: model(x))(X)
    model.wrap = lambda f: f
    plain, expected = nn.value_and_grad(model, lambda x: model(x))(X)
    assert value.item() == pytest.approx(plain.item())
    for got, want in zip(gradients["layers"], expected["layers"], strict=True):
        same([got["weight"], got["bias"]], [want["weight"], want["bias"]])


def test_random_numbers_are_the_same_again():
    """What is computed again is what was computed."""

    def noisy(x):
        return x * mx.random.bernoulli(0.5, x.shape) * mx.random.uniform(shape=x.shape)

    x = mx.ones((64,))
    value, slope = mx.value_and_grad(lambda x: (mx.checkpoint(noisy)(x) ** 2).sum())(x)
    assert slope.sum().item() == pytest.approx(2 * value.item(), rel=1e-5)
    values, slopes = mx.vmap(mx.value_and_grad(lambda x: (mx.checkpoint(noisy)(x) ** 2).sum()))(
        mx.ones((3, 64))
    )
    np.testing.assert_allclose(to_numpy(slopes).sum(axis=1), 2 * to_numpy(values), rtol=1e-5)
    assert len(set(values.tolist())) == 3


def test_arguments_and_results_of_every_form():
    def f(p, n, *, scale):
        return {"y": [p["a"] * n, p["b"]], "name": "kept", "sum": (p["a"] * p["b"]).sum() * scale}

    p = {"a": X, "b": X * 2}
    answer = mx.checkpoint(f)(p, 3, scale=mx.array(2.0))
    assert answer["name"] == "kept"
    same([answer["y"][0], answer["sum"]], [X * 3, (X * X * 4).sum()])
    gradient, named = mx.grad(
        lambda p, *, scale: mx.checkpoint(f)(p, 3, scale=scale)["sum"], 0, "scale"
    )(p, scale=mx.array(2.0))
    same([gradient["a"], gradient["b"], named["scale"]], [X * 4, X * 2, (X * X * 2).sum()])


@pytest.mark.filterwarnings(r"ignore:\[grad\]")
def test_values_can_be_read():
    f = mx.checkpoint(lambda x: x * x if x.item() > 0 else -x)
    assert mx.grad(f)(mx.array(3.0)).item() == 6.0
    assert mx.grad(f)(mx.array(-3.0)).item() == -1.0


def test_an_unneeded_argument_and_integers():
    f = mx.checkpoint(lambda x, i, unused: mx.take(x, i))
    gradient = mx.grad(lambda x, i, u: f(x, i, u).sum(), argnums=(0, 2))(
        mx.arange(4.0), mx.array([1, 1, 3]), mx.ones(2)
    )
    assert [g.tolist() for g in gradient] == [[0.0, 2.0, 0.0, 1.0], [0.0, 0.0]]


def test_an_exception_leaves_nothing_behind():
    def fails(x):
        raise KeyError("inside")

    with pytest.raises(KeyError, match="inside"):
        mx.grad(mx.checkpoint(fails))(mx.array(1.0))
    assert mx.grad(lambda x: x * x)(mx.array(3.0)).item() == 6.0


NESTINGS = {
    "checkpoint": mx.checkpoint,
    "custom_function": lambda f: mx.custom_function(mx.checkpoint(f)),
}


@pytest.mark.parametrize("nesting", NESTINGS)
def test_functions_within_functions_take_no_more_time_a_level(nesting):
    """Were each function followed twice, a hundred levels would not end."""

    def nested(levels):
        f = mx.sin
        for _ in range(levels):
            f = NESTINGS[nesting](lambda x, inner=f: inner(x) * 1.01)
        return f

    x = mx.arange(4.0)
    f, factor = nested(100), 1.01**100
    want, slope = np.sin(to_numpy(x)) * factor, np.cos(to_numpy(x)) * factor
    pairs = [
        (mx.vmap(f)(x), want),
        (mx.vmap(mx.vmap(f))(x.reshape(2, 2)), want.reshape(2, 2)),
        (mx.compile(f)(x), want),
        (mx.compile(mx.vmap(f))(x), want),
        (mx.grad(lambda x: mx.vmap(f)(x).sum())(x), slope),
        (mx.vmap(mx.grad(f))(x), slope),
        (mx.jvp(mx.vmap(f), [x], [mx.ones(4)])[1][0], slope),
    ]
    for got, expected in pairs:
        np.testing.assert_allclose(to_numpy(got), expected, rtol=1e-5, atol=1e-6)
