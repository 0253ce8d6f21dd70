"""Modules in transforms: compiled modules see what changes; modules are arguments and results."""

import copy
from functools import partial

import numpy as np
import pytest
import umber.core as mx
from umber import nn, optimizers
from umber.utils import tree_flatten, tree_map


class Traces:
    """A constant that is the same whatever it holds."""

    def __init__(self):
        self.count = 0


class Recorder(nn.Module):
    """Counts its calls from Python."""

    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(3, 2)
        self.norm = nn.BatchNorm(2)
        self.dropout = nn.Dropout(0.5)
        self.scales = [mx.ones(2), (mx.ones(2), {"deep": mx.ones(2)})]
        self.mode = "plain"
        self.traces = Traces()

    def __call__(self, x):
        self.traces.count += 1
        y = (
            self.norm(self.linear(x))
            * self.scales[0]
            * self.scales[1][0]
            * self.scales[1][1]["deep"]
        )
        return 2 * y if self.mode == "double" else y

    @mx.compile
    def decorated(self, x):
        return self(x)

    def random(self, x):
        return self.dropout(x)


def model():
    mx.random.seed(0)
    return Recorder()


X = mx.array([[1.0, 2.0, 3.0], [4.0, -5.0, 6.0]])

CALLS = {
    "module": lambda m: mx.compile(m),
    "method": lambda m: mx.compile(m.__call__),
    "decorated method": lambda m: m.decorated,
    "argument": lambda m: (lambda f: lambda x: f(m, x))(mx.compile(lambda m, x: m(x))),
    "keyword": lambda m: (lambda f: lambda x: f(x, m=m))(mx.compile(lambda x, *, m: m(x))),
    "shapeless": lambda m: mx.compile(m, shapeless=True),
}


def close(a, b):
    return np.allclose(np.array(a), np.array(b), atol=1e-6)


def halve(m):
    m.update(tree_map(lambda x: x / 2, m.trainable_parameters()))


def load(m):
    m.load_weights([(path, x * 3) for path, x in tree_flatten(m.parameters())])


def replace(m):
    m.linear = nn.Linear(3, 2, bias=False)


def add(m):
    m.scales[0] = m.scales[0] + 1


CHANGES = {
    "weights": halve,
    "loaded weights": load,
    "another module": replace,
    "an array in a list": add,
    "evaluation mode": lambda m: m.eval(),
    "training mode": lambda m: m.train(),
    "an attribute": lambda m: setattr(m, "mode", "double"),
    "dtype": lambda m: m.set_dtype(mx.float16),
    "tied weights": lambda m: m.scales.__setitem__(0, m.scales[1][0]),
    "untied weights": lambda m: m.scales.__setitem__(0, mx.ones(2) * 5),
}


@pytest.mark.parametrize("call", CALLS)
def test_changes_are_seen(call):
    ours, plain = model(), model()
    compiled = CALLS[call](ours)
    for name, change in CHANGES.items():
        for _ in range(2):
            assert close(compiled(X), plain(X)), name
        change(ours)
        change(plain)
        if name == "another module":
            plain.linear.update(ours.linear.parameters())
    assert close(compiled(X), plain(X))
    assert close(ours.norm.running_mean, plain.norm.running_mean)
    assert close(ours.norm.running_var, plain.norm.running_var)


@pytest.mark.parametrize("call", CALLS)
def test_nothing_is_traced_twice(call):
    ours = model()
    compiled = CALLS[call](ours)
    for _ in range(3):
        compiled(X)
        halve(ours)
    ours.eval()
    for _ in range(3):
        compiled(X)
    ours.train()
    compiled(X)
    assert ours.traces.count == 2


def test_random_numbers_are_drawn_anew():
    ours = model()
    draw = mx.compile(ours.random)
    mx.random.seed(3)
    first, second = draw(mx.ones((8, 8))), draw(mx.ones((8, 8)))
    assert not mx.array_equal(first, second)
    mx.random.seed(3)
    assert mx.array_equal(ours.random(mx.ones((8, 8))), first)
    assert mx.array_equal(ours.random(mx.ones((8, 8))), second)


@pytest.mark.parametrize("outer", ["grad", "vmap", "compile", "checkpoint"])
def test_random_numbers_inside_other_transforms(outer):
    """The state of the generator has a value after each of them."""
    ours = model()
    draw = mx.compile(ours.random)
    transforms = {
        "grad": lambda f: mx.grad(lambda x: f(x).sum()),
        "vmap": mx.vmap,
        "compile": mx.compile,
        "checkpoint": mx.checkpoint,
    }
    function = transforms[outer](lambda x: draw(x))
    for _ in range(2):
        assert set(np.unique(np.array(function(mx.ones((8, 8)))))) <= {0.0, 2.0}
        assert len(mx.random.state[0].tolist()) == 2
        mx.eval(mx.random.uniform(shape=(2,)))


class Sum(nn.Module):
    def __init__(self, a, b):
        super().__init__()
        self.a, self.b = a, b

    @mx.compile
    def __call__(self):
        calls.append(self)
        self.a += 1
        return 10 * self.a + self.b


calls: list = []


def test_instances_share_a_program_only_if_they_are_alike():
    one, two, tied = (Sum(mx.array(x), mx.array(7.0)) for x in (1.0, 2.0, 3.0))
    tied.b = tied.a
    assert [one().item(), two().item(), tied().item()] == [27.0, 37.0, 44.0]
    assert [one().item(), two().item(), tied().item()] == [37.0, 47.0, 55.0]
    assert calls == [one, tied]
    assert [x.item() for m in (one, two, tied) for x in (m.a, m.b)] == [3, 7, 4, 7, 5, 5]


def test_a_failed_call_leaves_the_module_alone():
    ours = model()

    def fail(self, x):
        self.linear.weight = self.linear.weight * 2
        self.scales.append(x)
        self.norm.running_mean += 1
        raise KeyError("mine")

    before = {path: x.tolist() for path, x in tree_flatten(ours.parameters())}
    with pytest.raises(KeyError, match="mine"):
        mx.compile(fail)(ours, X)
    assert {path: x.tolist() for path, x in tree_flatten(ours.parameters())} == before


def test_gradients_by_compiled_modules():
    ours = model()
    compiled = mx.compile(ours)
    for train in (True, False):
        ours.train(train)
        plain = nn.value_and_grad(ours, lambda x: (ours(x) ** 2).sum())(X)[1]
        for function in (lambda x: compiled(x), ours.decorated):
            gradient = nn.value_and_grad(ours, lambda x, f=function: (f(x) ** 2).sum())(X)[1]
            for (path, a), (_, b) in zip(tree_flatten(gradient), tree_flatten(plain), strict=True):
                assert close(a, b), path


def test_training_by_a_method():
    class Trained(nn.Module):
        def __init__(self):
            super().__init__()
            self.net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Dropout(0.1), nn.Linear(8, 1))

        def __call__(self, x):
            return self.net(x)

        @mx.compile
        def step(self, x, y, rate):
            loss = nn.value_and_grad(self, lambda: mx.mean(mx.square(self(x) - y)))
            value, gradient = loss()
            self.update(tree_map(lambda p, g: p - rate * g, self.trainable_parameters(), gradient))
            return value

    trained = Trained()
    x = mx.random.normal((32, 4))
    y = x.sum(axis=1, keepdims=True)
    losses = [trained.step(x, y, 0.05).item() for _ in range(60)]
    assert losses[-1] < losses[0] / 4


def test_declared_state_is_what_is_declared():
    """As in MLX: only the arrays of `inputs` and `outputs` count."""
    ours = model()
    compiled = mx.compile(ours, inputs=[ours.state])
    compiled(X)
    assert close(ours.norm.running_mean, [0.0, 0.0])
    halve(ours)
    expected = copy.deepcopy(ours)(X)
    assert close(compiled(X), expected)
    ours.mode = "double"
    assert close(compiled(X), expected)


def test_a_compiled_step_with_an_optimizer():
    losses = {}
    for wrap in ("plain", "compiled"):
        ours = model()
        optimizer = optimizers.SGD(0.1, momentum=0.9)
        optimizer.init(ours.trainable_parameters())

        def step(m, x, optimizer=optimizer):
            value, gradient = nn.value_and_grad(m, lambda x: (m(x) ** 2).sum())(x)
            optimizer.update(m, gradient)
            return value

        if wrap == "compiled":
            state = optimizer.state
            step = mx.compile(partial(step, optimizer=optimizer), inputs=state, outputs=state)
        losses[wrap] = [step(ours, X).item() for _ in range(5)]
    assert losses["compiled"] == pytest.approx(losses["plain"], rel=1e-4)


TRANSFORMS = {
    "compile": mx.compile,
    "checkpoint": mx.checkpoint,
    "custom_function": mx.custom_function,
}


@pytest.mark.parametrize("transform", TRANSFORMS)
def test_modules_are_arguments_and_results(transform):
    def function(m, x):
        return m, m(x), {"nested": [m.norm]}

    ours = model().eval()
    result, y, nested = TRANSFORMS[transform](function)(ours, X)
    assert type(result) is Recorder
    assert type(nested["nested"][0]) is nn.BatchNorm
    assert not result.training
    assert close(y, ours(X))
    assert close(result(X), ours(X))
    assert close(result.linear.weight, ours.linear.weight)


def test_vmap_over_modules():
    batch = [nn.Linear(3, 2) for _ in range(4)]
    stacked = copy.deepcopy(batch[0])
    stacked.update({key: mx.stack([m[key] for m in batch]) for key in ("weight", "bias")})
    outputs = mx.vmap(lambda m, x: m(x), in_axes=(0, None))(stacked, X)
    for i, m in enumerate(batch):
        assert close(outputs[i], m(X))
    made = mx.vmap(lambda m: m)(stacked)
    assert type(made) is nn.Linear
    assert made.weight.shape == (4, 2, 3)


def test_gradients_by_modules_are_dicts():
    ours = model().eval()
    for gradient in (
        mx.grad(lambda m: (m(X) ** 2).sum())(ours),
        mx.compile(mx.grad(lambda m: (m(X) ** 2).sum()))(ours),
        mx.vjp(lambda m: (m(X) ** 2).sum(), [ours], [mx.array(1.0)])[1][0],
    ):
        assert type(gradient) is type(gradient["linear"]) is dict
        assert type(tree_map(lambda x: x, ours)) is dict
        assert gradient["linear"]["weight"].shape == (2, 3)
