"""Recurrent layers against their formulas in NumPy, step by step."""

import numpy as np
import pytest
import umber.core as mx
from umber import nn
from umber.utils import tree_flatten

LAYERS = {"RNN": nn.RNN, "LSTM": nn.LSTM, "GRU": nn.GRU}


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


def rnn_step(w, x, state):
    (h,) = state
    return (np.tanh(w["Wxh"] @ x + w["Whh"] @ h + w.get("bias", 0)),)


def lstm_step(w, x, state):
    h, c = state
    i, f, g, o = np.split(w["Wx"] @ x + w["Wh"] @ h + w.get("bias", 0), 4)
    c = sigmoid(f) * c + sigmoid(i) * np.tanh(g)
    return sigmoid(o) * np.tanh(c), c


def gru_step(w, x, state):
    (h,) = state
    xr, xz, xn = np.split(w["Wx"] @ x + w.get("b", 0), 3)
    hr, hz, hn = np.split(w["Wh"] @ h, 3)
    z = sigmoid(xz + hz)
    n = np.tanh(xn + sigmoid(xr + hr) * (hn + w.get("bhn", 0)))
    return ((1 - z) * n + z * h,)


STEPS = {"RNN": (rnn_step, 1), "LSTM": (lstm_step, 2), "GRU": (gru_step, 1)}


def run(name, w, x, state):
    """The states after each step of one layer in one direction, for one sequence."""
    step, _ = STEPS[name]
    after = []
    for row in x:
        state = step(w, row, state)
        after.append(state)
    return [np.stack(parts) for parts in zip(*after, strict=True)], state


def reference(name, layer, x, states, num_layers, bidirectional):
    """All layers and directions for one sequence; `states` holds the first of each."""
    weights = {path: np.array(value) for path, value in tree_flatten(layer.parameters())}
    last = []
    outputs = [x]
    for n in range(num_layers):
        ways = []
        for reverse in ("", "_reverse")[: 1 + bidirectional]:
            end = (f"_l{n}" if n else "") + reverse
            w = {
                key.removesuffix(end): value
                for key, value in weights.items()
                if key == key.split("_")[0] + end
            }
            rows = outputs[0][::-1] if reverse else outputs[0]
            way, state = run(name, w, rows, states[len(last)])
            ways.append([part[::-1] if reverse else part for part in way])
            last.append(state)
        outputs = [np.concatenate(parts, axis=-1) for parts in zip(*ways, strict=True)]
    return outputs, last


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("bias", [True, False])
@pytest.mark.parametrize(
    ("num_layers", "bidirectional"), [(1, False), (3, False), (1, True), (2, True)]
)
def test_states_of_all_steps(name, bias, num_layers, bidirectional, rng):
    layer = LAYERS[name](4, 5, bias=bias, num_layers=num_layers, bidirectional=bidirectional)
    layer.set_dtype(mx.float64)
    count, parts = num_layers * (1 + bidirectional), STEPS[name][1]
    x = rng.normal(size=(3, 6, 4))
    start = rng.normal(size=(parts, count, 3, 5))
    given = [mx.array(s if count > 1 else s[0]) for s in start]
    for with_start in (False, True):
        y = layer(mx.array(x), *(given if with_start else []), return_state=True)
        *outputs, last = y
        last = last if parts == 2 else (last,)
        for sample in range(3):
            states = [
                tuple((start if with_start else 0 * start)[:, i, sample]) for i in range(count)
            ]
            expected, ends = reference(name, layer, x[sample], states, num_layers, bidirectional)
            for a, b in zip(outputs, expected, strict=True):
                np.testing.assert_allclose(np.array(a)[sample], b, rtol=1e-10)
            for part in range(parts):
                a = np.array(last[part]).reshape(count, 3, 5)[:, sample]
                np.testing.assert_allclose(a, [end[part] for end in ends], rtol=1e-10)


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.parametrize("options", [{}, {"num_layers": 2}])
def test_a_sequence_may_come_in_parts(name, options, rng):
    layer = LAYERS[name](4, 5, **options)
    x = mx.array(rng.normal(size=(2, 9, 4)).astype(np.float32))
    whole = layer(x)
    *first, state = layer(x[:, :4], return_state=True)
    second = layer(x[:, 4:], *(state if name == "LSTM" else (state,)))
    second = second if name == "LSTM" else (second,)
    for a, b, c in zip(first, second, whole if name == "LSTM" else (whole,), strict=True):
        joined = mx.concatenate([a, b], axis=1)
        np.testing.assert_allclose(np.array(joined), np.array(c), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", LAYERS)
def test_batches_and_empty_sequences(name, rng):
    layer = LAYERS[name](4, 5, bidirectional=True)
    x = mx.array(rng.normal(size=(2, 3, 6, 4)).astype(np.float32))
    first = lambda y: y[0] if isinstance(y, tuple) else y  # noqa: E731
    y = first(layer(x))
    assert y.shape == (2, 3, 6, 10)
    np.testing.assert_allclose(
        np.array(first(layer(x[1, 2]))), np.array(y)[1, 2], rtol=1e-5, atol=1e-6
    )
    assert first(layer(mx.zeros((2, 0, 4)))).shape == (2, 0, 10)
    assert first(layer(mx.zeros((0, 3, 4)))).shape == (0, 3, 10)


@pytest.mark.parametrize("name", LAYERS)
def test_a_state_may_begin_several_sequences(name, rng):
    layer = LAYERS[name](2, 3)
    count = STEPS[name][1]
    x = mx.array(rng.normal(size=(4, 5, 2)).astype(np.float32))
    for shape in ((3,), (1, 3), (4, 1)):
        states = [mx.array(rng.normal(size=shape).astype(np.float32)) for _ in range(count)]
        whole = [mx.broadcast_to(state, (4, 3)) for state in states]
        spread, *_, last = layer(x, *states, return_state=True)
        expected, *_, expected_last = layer(x, *whole, return_state=True)
        assert mx.array_equal(spread, expected)
        for one, whole_one in zip(last, expected_last, strict=True):
            assert mx.array_equal(one, whole_one)
    several = LAYERS[name](2, 3, num_layers=2)
    state = mx.array(rng.normal(size=(2, 1, 3)).astype(np.float32))
    spread = several(x, *[state] * count)
    expected = several(x, *[mx.broadcast_to(state, (2, 4, 3))] * count)
    assert mx.array_equal(*(y if count == 1 else y[0] for y in (spread, expected)))


def test_names_of_parameters():
    deep = nn.GRU(2, 3, num_layers=2, bidirectional=True)
    assert [path for path, _ in tree_flatten(deep.parameters())][:8] == [
        *("Wx", "Wh", "b", "bhn"),
        *("Wx_reverse", "Wh_reverse", "b_reverse", "bhn_reverse"),
    ]
    assert deep["Wx_l1_reverse"].shape == (9, 6)
    assert list(nn.LSTM(2, 3).parameters()) == ["Wx", "Wh", "bias"]
    plain = nn.RNN(2, 3, bias=False)
    assert plain.bias is None
    assert list(plain.parameters()) == ["Wxh", "Whh"]


def test_they_say_what_they_are():
    assert repr(nn.LSTM(2, 3)) == "LSTM(input_dims=2, hidden_size=3, bias=True)"
    assert repr(nn.GRU(2, 3, num_layers=2, bidirectional=True)) == (
        "GRU(input_dims=2, hidden_size=3, bias=True, num_layers=2, bidirectional=True)"
    )
    text = repr(nn.RNN(2, 3, bias=False, nonlinearity=nn.relu))
    assert text.startswith("RNN(input_dims=2, hidden_size=3, nonlinearity=")
    assert text.endswith(", bias=False)")


def test_nonlinearity_of_ones_own():
    layer = nn.RNN(1, 1, nonlinearity=lambda x: x)
    layer.update({"Wxh": mx.ones((1, 1)), "Whh": mx.ones((1, 1)), "bias": mx.zeros((1,))})
    assert layer(mx.ones((4, 1))).tolist() == [[1.0], [2.0], [3.0], [4.0]]


def test_gradient_of_a_long_sequence_is_not_quadratic():
    """The graph of the gradient grows with the length, not its square."""
    layer = nn.GRU(1, 1)
    loss = nn.value_and_grad(layer, lambda x: layer(x).sum())
    _, gradients = loss(mx.ones((600, 1)))
    assert np.isfinite(np.array(gradients["Wx"])).all()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nn.RNN(2, 3, nonlinearity=3), r"\[RNN\] got the nonlinearity 3, expected a func"),
        (lambda: nn.GRU(2, 0), r"\[GRU\] got hidden_size 0, expected at least 1"),
        (lambda: nn.LSTM(2, 3, num_layers=0), r"\[LSTM\] got num_layers 0, expected at least 1"),
        (
            lambda: nn.LSTM(2, 3)(mx.ones((4, 3))),
            r"\[LSTM\] got an input with the shape \(4, 3\), expected \(\.\.\., L, 2\)",
        ),
        (lambda: nn.GRU(2, 3)(mx.ones((2,))), r"\[GRU\] got an input with the shape \(2,\)"),
        (
            lambda: nn.RNN(2, 3)(mx.ones((5, 4, 2)), mx.ones((2, 3))),
            r"\[RNN\] got a state with the shape \(2, 3\), expected \(5, 3\)",
        ),
        (
            lambda: nn.GRU(2, 3)(mx.ones((4, 2)), mx.ones((1, 3))),
            r"\[GRU\] got a state with the shape \(1, 3\), expected \(3,\)",
        ),
        (
            lambda: nn.RNN(2, 3, num_layers=2)(mx.ones((5, 4, 2)), mx.ones((5, 3))),
            r"\[RNN\] got a state with the shape \(5, 3\), expected \(2, 5, 3\)",
        ),
    ],
)
def test_they_refuse(call, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        call()
