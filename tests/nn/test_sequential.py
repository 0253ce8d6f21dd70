"""`nn.Sequential` as a sequence of layers."""

import copy
import functools
import pickle

import pytest
import umber.core as mx
from umber import nn
from umber.utils import tree_flatten


def model():
    return nn.Sequential(nn.Linear(2, 3), nn.relu, nn.Dropout(0.5), nn.Linear(3, 1))


def test_indices_and_slices():
    layers = [nn.Linear(2, 3), nn.relu, nn.Dropout(0.5), nn.Linear(3, 1)]
    chain = nn.Sequential(*layers)
    assert len(chain) == 4
    assert list(chain) == layers
    assert list(reversed(chain)) == layers[::-1]
    assert chain[0] is layers[0]
    assert chain[-1] is layers[3]
    assert chain[mx.array(1)] is nn.relu
    for part in (slice(1, 3), slice(None), slice(None, None, -1), slice(7, 9), slice(-2, None)):
        assert type(chain[part]) is nn.Sequential
        assert chain[part].layers == layers[part]
    assert layers[2] in chain
    assert nn.ReLU() not in chain
    assert not chain.eval()[1:].training


def test_a_part_shares_its_modules():
    chain = model().eval()
    x = mx.ones((1, 2))
    assert mx.array_equal(chain[1:](chain[:1](x)), chain(x))
    chain[:1].update({"layers": [{"weight": mx.zeros((3, 2))}]})
    assert chain[0].weight.tolist() == [[0.0, 0.0]] * 3
    part = chain[:2]
    part.append(nn.Tanh())
    assert (len(part), len(chain)) == (3, 4)


def test_changes():
    a, b, c = nn.ReLU(), nn.Tanh(), nn.Sigmoid()
    chain = nn.Sequential()
    assert chain.append(b) is chain
    assert chain.insert(0, a).layers == [a, b]
    assert chain.extend(nn.Sequential(c, mx.exp)).layers == [a, b, c, mx.exp]
    assert chain.insert(4, a).insert(-1, c).layers == [a, b, c, mx.exp, c, a]
    chain[-1] = b
    chain[3:5] = [a]
    assert chain.layers == [a, b, c, a, b]
    del chain[0]
    del chain[1:3]
    assert chain.layers == [b, b]
    chain.extend(chain)
    assert chain.layers == [b] * 4


def test_entries_are_reached_by_name():
    chain = model()
    assert chain["layers"] is chain.layers
    assert "layers" in chain
    chain["scale"] = mx.ones(2)
    assert chain.scale.shape == (2,)
    del chain["scale"]
    assert list(chain.keys()) == ["layers"]
    assert [*{**chain}] == ["layers"]


def test_it_remains_a_pytree_and_can_be_copied():
    chain = model().eval()
    chain[1] = nn.ReLU()
    x = mx.ones((1, 2))
    expected = chain(x).tolist()
    names = ["layers.0.weight", "layers.0.bias", "layers.3.weight", "layers.3.bias"]
    assert [path for path, _ in tree_flatten(chain.parameters())] == names
    for twin in (copy.copy(chain), copy.deepcopy(chain), pickle.loads(pickle.dumps(chain))):
        assert type(twin) is nn.Sequential
        assert len(twin) == 4
        assert twin(x).tolist() == expected
    compiled = mx.compile(chain, inputs=chain.state)
    assert compiled(x).item() == pytest.approx(expected[0][0], rel=1e-5)
    assert bool(nn.Sequential())
    assert nn.Sequential() != nn.Sequential()


def test_repr_names_functions():
    def shift(x):
        return x + 1

    chain = nn.Sequential(nn.Linear(2, 3), nn.relu, mx.tanh, shift, functools.partial(shift))
    chain.append(nn.Sequential(lambda x: x))
    chain.extra = nn.Tanh()
    lines = repr(chain).splitlines()
    assert lines[:5] == [
        "Sequential(",
        "  (layers.0): Linear(input_dims=2, output_dims=3, bias=True)",
        "  (layers.1): relu",
        "  (layers.2): tanh",
        "  (layers.3): shift",
    ]
    assert lines[5].startswith("  (layers.4): functools.partial(<function ")
    assert lines[6:] == [
        "  (layers.5): Sequential(",
        "    (layers.0): <lambda>",
        "  )",
        "  (extra): Tanh()",
        ")",
    ]


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda m: m[4], IndexError, r"^\[Sequential\] index 4 is out of bounds for 4 layers"),
        (lambda m: m[-5], IndexError, r"^\[Sequential\] index -5 is out of bounds for 4 layers"),
        (lambda m: m[1.5], TypeError, r"^\[Sequential\] index: got float, expected an integer, a"),
        (lambda m: m["scale"], KeyError, "scale"),
        (lambda m: m.append(3), TypeError, r"^\[append\] got int, expected modules or functions"),
        (lambda m: m.extend([nn.ReLU(), 3]), TypeError, r"^\[extend\] got int, expected modules"),
        (lambda m: m.insert(0, None), TypeError, r"^\[insert\] got NoneType, expected modules"),
        (lambda m: m.insert(5, nn.ReLU()), IndexError, r"^\[insert\] index 5 is out of bounds"),
        (lambda m: m.__setitem__(9, nn.ReLU()), IndexError, r"^\[Sequential\] index 9 is out"),
        (lambda m: m.__setitem__(0, 3), TypeError, r"^\[Sequential\] got int, expected modules"),
        (lambda m: m.__delitem__(9), IndexError, r"^\[Sequential\] index 9 is out of bounds"),
    ],
)
def test_wrong_calls_change_nothing(call, error, message):
    chain = model()
    layers = [*chain]
    with pytest.raises(error, match=message):
        call(chain)
    assert chain.layers == layers
