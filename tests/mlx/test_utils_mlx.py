"""`umber.utils` gives what `mlx.utils` gives, for trees of all kinds."""

from collections import OrderedDict, namedtuple

import pytest
from umber import utils

mlx_utils = pytest.importorskip("mlx.utils")

Pair = namedtuple("Pair", "x y")
TREES = [
    {},
    [],
    (),
    None,
    1,
    "text",
    {"a": []},
    {"a": {}},
    [[], {}],
    {"a": [1, (2, 3)]},
    Pair(1, [2]),
    {"a": None},
    [None, 1],
    {"0": 1, "1": 2},
    {1: 2},
    OrderedDict(b=1, a=2),
    ["s", {"k": "v"}],
    {"a.b": 1},
    {"": 1},
    [1, [2, [3, {"z": 4}]]],
]
FLAT = [
    [],
    {},
    [("", 1)],
    [("a", 1), ("b", 2)],
    [("0", 1), ("2", 2)],
    [("a.0", 1), ("a.x", 2)],
    {"a.b": 1},
    {"x.1.y": 2, "x.0.y": 1},
    [("a.0.b", 1), ("a.1", 2)],
    [("01", 1)],
    [("1", 1)],
]


def is_sequence(node):
    return isinstance(node, (list, tuple))


CALLS = {
    "flatten": lambda m, t: m.tree_flatten(t),
    "flatten into a dict": lambda m, t: m.tree_flatten(t, destination={}),
    "flatten with a prefix": lambda m, t: m.tree_flatten(t, prefix=".p"),
    "flatten to sequences": lambda m, t: m.tree_flatten(t, is_leaf=is_sequence),
    "unflatten": lambda m, t: m.tree_unflatten(m.tree_flatten(t)),
    "map": lambda m, t: m.tree_map(lambda x: [x], t),
    "map two": lambda m, t: m.tree_map(lambda x, y: [x, y], t, t),
    "map sequences": lambda m, t: m.tree_map(lambda x: "leaf", t, is_leaf=is_sequence),
    "map with path": lambda m, t: m.tree_map_with_path(lambda p, x: [p, x], t),
    "map with path from": lambda m, t: m.tree_map_with_path(lambda p, x: [p, x], t, path="q"),
    "map two with path": lambda m, t: m.tree_map_with_path(lambda p, x, y: [p, x, y], t, t),
    "map sequences with path": lambda m, t: m.tree_map_with_path(
        lambda p, x: [p, "leaf"], t, is_leaf=is_sequence
    ),
    "reduce": lambda m, t: m.tree_reduce(lambda a, b: [a, b], t),
    "reduce from": lambda m, t: m.tree_reduce(lambda a, b: [a, b], t, 0),
    "reduce sequences": lambda m, t: m.tree_reduce(lambda a, b: [a, b], t, 0, is_sequence),
}


@pytest.mark.parametrize("tree", TREES, ids=repr)
@pytest.mark.parametrize("call", CALLS)
def test_trees(call, tree):
    ours, theirs = CALLS[call](utils, tree), CALLS[call](mlx_utils, tree)
    assert ours == theirs
    # Subclasses of dict keep their class here.
    assert type(ours) is type(tree if isinstance(theirs, dict) and "map" in call else theirs)


@pytest.mark.parametrize("flat", FLAT, ids=repr)
def test_unflatten(flat):
    assert utils.tree_unflatten(flat) == mlx_utils.tree_unflatten(flat)


PARTS = [
    ({"a": 1}, {"b": 2}),
    ({"a": {"x": 1}}, {"a": {"y": 2}, "b": 3}),
    ({"a": [1, 2]}, {"a": [3]}),
    ([1, {}], [{}, 2]),
    ([{"x": 1}], [{"y": 2}, {"z": 3}]),
    ((1, 2), (3, 4)),
    ({"a": 1}, {"a": {}}),
    ({"a": []}, {"a": 1}),
    ({}, {"a": 1}),
]


@pytest.mark.parametrize(("first", "second"), PARTS)
def test_merge(first, second):
    for a, b in ((first, second), (second, first)):
        ours = utils.tree_merge(a, b, lambda x, y: [x, y])
        assert ours == mlx_utils.tree_merge(a, b, lambda x, y: [x, y])


def test_merge_wants_a_function_for_two_values():
    for module in (utils, mlx_utils):
        with pytest.raises(ValueError, match="merge function"):
            module.tree_merge({"a": 1}, {"a": 2})
