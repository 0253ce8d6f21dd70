"""`nn.summary`, and modules as HTML."""

import re

import numpy as np
import pytest
import umber.core as mx
from umber import nn
from umber.utils import tree_flatten


def model():
    return nn.Sequential(
        nn.Conv2d(3, 8, 3, padding="same"),
        nn.BatchNorm(8),
        nn.relu,
        nn.Dropout(0.5),
        nn.Flatten(),
        nn.Sequential(nn.Linear(128, 4), nn.Tanh()),
    )


X = mx.ShapeDtypeStruct((2, 4, 4, 3), mx.float32)


def test_rows():
    table = nn.summary(model(), X)
    assert [(row.path, row.class_name, row.parameters) for row in table.rows] == [
        ("", "Sequential", 0),
        ("layers.0", "Conv2d", 8 * 3 * 3 * 3 + 8),
        ("layers.1", "BatchNorm", 32),
        ("layers.3", "Dropout", 0),
        ("layers.4", "Flatten", 0),
        ("layers.5", "Sequential", 0),
        ("layers.5.layers.0", "Linear", 516),
        ("layers.5.layers.1", "Tanh", 0),
    ]
    shapes = {row.path: row.output.shape for row in table.rows}
    assert shapes[""] == shapes["layers.5"] == (2, 4)
    assert shapes["layers.1"] == (2, 4, 4, 8)
    assert shapes["layers.4"] == (2, 128)
    assert {row.output.dtype for row in table.rows} == {mx.float32}


def test_totals_are_those_of_the_parameters():
    net = model()
    net.layers[0].freeze(keys="bias")
    net.layers[5].set_dtype(mx.float16)
    table = nn.summary(net)
    arrays = [a for _, a in tree_flatten(net.parameters())]
    trainable = [a for _, a in tree_flatten(net.trainable_parameters())]
    assert table.total == sum(a.size for a in arrays)
    assert table.trainable == sum(a.size for a in trainable)
    assert table.frozen == table.total - table.trainable
    assert table.nbytes == sum(a.nbytes for a in arrays)
    assert {row.output for row in table.rows} == {None}
    assert {row.path: row.frozen for row in table.rows if row.frozen} == {
        "layers.0": 8,
        "layers.1": 16,
    }


def test_the_model_is_unchanged():
    net = model()
    before = dict(tree_flatten(net))
    calls = {kind: kind.__dict__.get("__call__") for kind in {type(m) for m in net.modules()}}
    key = mx.random.state[0].tolist()
    nn.summary(net, X)
    assert mx.random.state[0].tolist() == key
    after = dict(tree_flatten(net))
    assert all(after[path] is before[path] for path in before)
    with pytest.raises(ValueError, match=r"^\[Conv2d\] .* expected \(N, H, W, 3\)"):
        nn.summary(net, mx.zeros((2, 4, 4, 5)))
    assert calls == {kind: kind.__dict__.get("__call__") for kind in calls}
    after = dict(tree_flatten(net))
    assert all(after[path] is before[path] for path in before)


def test_nothing_is_computed():
    table = nn.summary(
        nn.Linear(1 << 4, 1 << 4), mx.ShapeDtypeStruct((1 << 40, 1 << 4), mx.float32)
    )
    assert table.rows[0].output.shape == (1 << 40, 1 << 4)


class Base(nn.Module):
    def __call__(self, x):
        return x + 1


class Derived(Base):
    def __call__(self, x, scale=1):
        return {"y": super().__call__(x) * scale, "rest": [None, 3]}


class Inherited(Base):
    pass


class Outer(nn.Module):
    """Calls some of its modules, one of them twice; one is held twice, and one holds the root."""

    def __init__(self):
        super().__init__()
        self.derived = Derived()
        self.inherited = Inherited()
        self.unused = nn.Linear(2, 2)
        self.again = self.unused
        self.inherited.parent = self
        self.own = [mx.zeros(3), {"a": (mx.zeros(4), nn.Linear(1, 1, bias=False))}]

    def __call__(self, x, scale):
        y = self.inherited(self.inherited(x)[:1])
        return self.derived(y, scale=scale)["y"]


def test_outputs_of_all_kinds():
    table = nn.summary(Outer(), mx.zeros((5, 2)), scale=mx.array(2.0))
    rows = {row.path: row for row in table.rows}
    assert list(rows) == ["", "derived", "inherited", "unused", "own.1.a.1"]
    assert rows["inherited"].output.shape == (5, 2)
    assert rows["derived"].output["y"].shape == (1, 2)
    assert rows["derived"].output["rest"] == [None, 3]
    assert rows["unused"].output is None
    assert rows[""].parameters == 7
    assert table.total == 14
    text = str(table)
    assert re.search(r"^derived +Derived +\(1, 2\) float32, NoneType, int +0 +0 +0$", text, re.M)
    assert re.search(r"^unused +Linear +- +6 +0 +24$", text, re.M)


def test_tied_parameters_count_once():
    net = nn.Sequential(nn.Embedding(5, 3), nn.Linear(3, 5, bias=False))
    net.tie_weights("layers.0.weight", "layers.1.weight")
    assert nn.summary(net, mx.array([1])).total == 15
    net[0].freeze()
    assert nn.summary(net).frozen == 15


def test_text_and_html():
    net = nn.Sequential(nn.Linear(64, 32), nn.ReLU())
    table = nn.summary(net, mx.zeros((2, 64)))
    assert repr(table) == str(table)
    assert str(table).splitlines()[-1] == (
        "2,080 parameters: 2,080 trainable, 0 frozen; 8,320 bytes"
    )
    html = table._repr_html_()
    assert html.count("<tr>") == 4
    assert "<td>layers.0</td><td>Linear</td><td>(2, 32) float32</td><td>2,080</td>" in html


def test_half_precision_and_no_modules():
    layer = nn.Linear(2, 2)
    layer.set_dtype(mx.bfloat16)
    assert "(1, 2) bfloat16" in str(nn.summary(layer, mx.zeros((1, 2), mx.bfloat16)))
    assert nn.summary(nn.Module()).total == 0


@pytest.mark.parametrize("value", [3, {"weight": np.zeros(2)}, nn.relu])
def test_it_wants_a_module(value):
    with pytest.raises(TypeError, match=r"^\[summary\] "):
        nn.summary(value)


def test_modules_as_html():
    net = nn.Sequential(nn.Linear(64, 32), nn.relu, lambda x: x, nn.Sequential(nn.Tanh()))
    net.loop = nn.Linear(2, 2)
    net.loop.parent = net
    html = net._repr_html_()
    assert html.count("<details") == html.count("</details>")
    assert "layers.0: Linear(input_dims=64, output_dims=32, bias=True) <span" in html
    assert "2,080 parameters" in html
    assert "layers.1: relu<" in html
    assert "&lt;lambda&gt;" in html
    assert html.startswith('<div style="font-family: monospace"><details')
    assert "Tanh()</div>" in nn.Tanh()._repr_html_()


@pytest.mark.parametrize(
    ("layer", "name"),
    [
        (nn.Linear(4, 3), "Linear"),
        (nn.BatchNorm(4), "BatchNorm"),
        (nn.LayerNorm(4), "LayerNorm"),
        (nn.MaxPool2d(2), "MaxPool2d"),
        (nn.Conv2d(4, 3, 1), "Conv2d"),
        (nn.GRU(4, 3), "GRU"),
    ],
)
def test_errors_of_layers_keep_their_names(layer, name):
    for model in (layer, nn.Sequential(layer)):
        with pytest.raises(ValueError, match=rf"^\[{name}\] "):
            nn.summary(model, mx.ones((2, 5)))
        with pytest.raises(ValueError, match=rf"^\[{name}\] "):
            nn.functional_call(model, {}, mx.ones((2, 5)))
