"""`umber.utils`: trees taken apart, mapped, joined."""

from collections import namedtuple

import pytest
import umber
import umber.core as mx
from small_stacks import call_in_thread
from umber import nn, optimizers
from umber.utils import (
    ravel_tree,
    tree_flatten,
    tree_map,
    tree_map_with_path,
    tree_merge,
    tree_reduce,
    tree_unflatten,
)

Pair = namedtuple("Pair", "x y")

TREE = {"a": [1, 2, {"b": 3}], "c": (4, 5), "empty": {}, "none": None, 3: 7}
LEAVES = [("a.0", 1), ("a.1", 2), ("a.2.b", 3), ("c.0", 4), ("c.1", 5), ("none", None), ("3", 7)]


def is_list_of_one(node):
    return isinstance(node, list) and len(node) == 1


def test_the_package_has_a_version():
    assert umber.__version__[0].isdecimal()
    assert mx.__version__ == umber.__version__


def test_flatten_gives_paths():
    assert tree_flatten(TREE) == LEAVES


@pytest.mark.parametrize(
    ("tree", "options", "expected"),
    [
        (5, {}, [("", 5)]),
        ([], {}, []),
        ({"a": [1]}, {"prefix": ".p"}, [("p.a.0", 1)]),
        ([1, [2]], {"destination": {}}, {"0": 1, "1.0": 2}),
        ([1], {"destination": [("x", 0)]}, [("x", 0), ("0", 1)]),
        ([1, [2]], {"is_leaf": is_list_of_one}, [("0", 1), ("1", [2])]),
    ],
)
def test_flatten_options(tree, options, expected):
    assert tree_flatten(tree, **options) == expected


def test_flatten_refuses_other_destinations():
    with pytest.raises(TypeError, match=r"^\[tree_flatten\] destination"):
        tree_flatten([1], destination=set())


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda: tree_map(lambda x, y: x, {"a": 1}),
            TypeError,
            r"^.*<lambda>\(\) missing 1 .*'y'$",
        ),
        (lambda: tree_map_with_path(lambda p: p, [3]), TypeError, r"^.*takes 1 .* 2 were given$"),
        (lambda: tree_map(int, ["x"]), ValueError, r"^invalid literal for int\(\)[^\[]*$"),
        (lambda: tree_map(len, [3]), TypeError, r"^object of type 'int' has no len\(\)$"),
        (lambda: tree_reduce(lambda x: x, [1, 2]), TypeError, r"^.*takes 1 .* 2 were given$"),
    ],
)
def test_errors_of_functions_that_are_handed_in_stay(call, error, message):
    with pytest.raises(error, match=message):
        call()


def test_what_is_called_must_be_a_function():
    with pytest.raises(TypeError, match=r"^\[tree_map\] is_leaf: got 3, expected a function$"):
        tree_map(lambda x: x, [1], is_leaf=3)
    for predicate in (3, "float32"):
        kind = type(predicate).__name__
        message = rf"^\[set_dtype\] predicate: got {kind}, expected a function$"
        with pytest.raises(TypeError, match=message):
            nn.Linear(1, 1).set_dtype(mx.float16, predicate=predicate)


def test_unflatten_undoes_flatten_up_to_tuples_and_empty_nodes():
    assert tree_unflatten(LEAVES) == {"a": [1, 2, {"b": 3}], "c": [4, 5], "none": None, "3": 7}


@pytest.mark.parametrize(
    ("flat", "expected"),
    [
        ([], []),
        ([("", 5)], 5),
        ([("1", "b"), ("0", "a")], ["a", "b"]),
        ([("a.2", 7), ("a.0", 5)], {"a": [5, {}, 7]}),
        ([("0", 7), ("a.b", 5)], {"0": 7, "a": {"b": 5}}),
        ({"a.0": 5, "b": 6}, {"a": [5], "b": 6}),
        # Two numbers for one place of a list are two keys of a dict.
        ([("01", "a"), ("1", "b"), ("2", "c")], {"01": "a", "1": "b", "2": "c"}),
        ([("x.1", "a"), ("x.01.y", "b")], {"x": {"1": "a", "01": {"y": "b"}}}),
        ([("00", "a"), ("0", "b")], {"00": "a", "0": "b"}),
        ([("1", "a"), ("\u0661", "b")], {"1": "a", "\u0661": "b"}),
        ([("01", "a"), ("00", "b")], ["b", "a"]),
        ([("-1", "a"), ("0", "b")], {"-1": "a", "0": "b"}),
        ([("1_0", "a")], {"1_0": "a"}),
        ([(" 1", "a"), ("+2", "b")], {" 1": "a", "+2": "b"}),
        ([("1.5", "a"), ("1.50", "b")], [{}, [*[{}] * 5, "a", *[{}] * 44, "b"]]),
        ([("0", "a"), ("x", "b")], {"0": "a", "x": "b"}),
        ([("", "a"), ("0", "b")], {"": "a", "0": "b"}),
    ],
)
def test_unflatten(flat, expected):
    assert tree_unflatten(flat) == expected


def test_unflatten_refuses_equal_paths():
    for flat in ([("a", 1), ("a", 2)], [("", 1), ("", 2)], [("x.0", 1), ("x.0", 2), ("y", 3)]):
        with pytest.raises(ValueError, match=r"^\[tree_unflatten\] 2 leaves have the same path"):
            tree_unflatten(flat)


def test_map_keeps_the_structure():
    mapped = tree_map(lambda x: x if x is None else 2 * x, TREE)
    assert mapped == {"a": [2, 4, {"b": 6}], "c": (8, 10), "empty": {}, "none": None, 3: 14}
    assert tree_map(lambda x: x + 1, Pair(1, [2])) == Pair(2, [3])
    assert tree_map(lambda x: x + 1, 1) == 2


def test_map_over_several_trees():
    assert tree_map(lambda x, y: x - y, [1, (2, 3)], [10, [20, 30, 40]]) == [-9, (-18, -27)]
    assert tree_map(lambda x, y: (x, y), {"a": 1}, {"a": 2, "b": 3}) == {"a": (1, 2)}


@pytest.mark.parametrize(
    ("trees", "error"),
    [(([1, 2], [1]), IndexError), (({"a": 1}, {"b": 1}), KeyError)],
)
def test_map_needs_all_places_in_the_other_trees(trees, error):
    with pytest.raises(error):
        tree_map(lambda x, y: x, *trees)


def test_map_stops_at_leaves_of_ones_own():
    assert tree_map(len, [[1], [[2], [3]]], is_leaf=is_list_of_one) == [1, [1, 1]]


def test_map_with_path():
    def join(path, *leaves):
        return (path, *leaves)

    assert tree_map_with_path(join, {"a": [1, {"b": 2}], "c": (3,)}) == {
        "a": [("a.0", 1), {"b": ("a.1.b", 2)}],
        "c": (("c.0", 3),),
    }
    assert tree_map_with_path(join, [1], [2], path="model") == [("model.0", 1, 2)]
    assert tree_map_with_path(join, 1) == (None, 1)


def test_map_with_path_enters_no_leaf():
    def is_leaf(node):
        return node == [1]

    assert tree_map_with_path(lambda path, x: x, {"a": [1]}, is_leaf=is_leaf) == {"a": [1]}
    paths = []
    tree_map_with_path(lambda path, x: paths.append(path), {"a": [1], "b": [2]}, is_leaf=is_leaf)
    assert paths == ["a", "b.0"]


@pytest.mark.parametrize(
    ("tree", "initializer", "expected"),
    [
        ([1, [2, {"a": 3}]], None, 6),
        ([1, [2, {"a": 3}]], 10, 16),
        ([], None, None),
        ([], 10, 10),
        (5, None, 5),
    ],
)
def test_reduce(tree, initializer, expected):
    assert tree_reduce(lambda total, x: total + x, tree, initializer) == expected


def test_reduce_goes_from_left_to_right():
    assert tree_reduce(lambda text, x: text + x, {"a": ["x", "y"], "b": "z"}, "_") == "_xyz"
    lengths = tree_reduce(lambda total, x: total + len(x), [[1], [2]], 0, is_leaf=is_list_of_one)
    assert lengths == 2


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ({"a": 1}, {"b": 2}, {"a": 1, "b": 2}),
        ({"a": {"x": 1}}, {"a": {"y": 2}}, {"a": {"x": 1, "y": 2}}),
        ([{}, 2], [{"a": 1}], [{"a": 1}, 2]),
        (None, {"a": 1}, {"a": 1}),
        ({"a": None}, {"a": 1}, {"a": 1}),
        ({"a": 1}, {"a": []}, {"a": 1}),
        ((1, None), (None, 2, 3), (1, 2, 3)),
    ],
)
def test_merge(a, b, expected):
    assert tree_merge(a, b) == expected


def test_merge_with_a_function():
    def add(x, y):
        return x + y

    assert tree_merge({"a": [1, 2]}, {"a": [10], "b": 5}, add) == {"a": [11, 2], "b": 5}


def test_merge_refuses_two_values_at_one_place():
    with pytest.raises(ValueError, match=r"^\[tree_merge\] both trees"):
        tree_merge({"a": 1}, {"a": 2})


def nested_deep():
    tree = 1
    for _ in range(3000):
        tree = {"a": [tree]}
    return tree


def nested_in_itself():
    tree = []
    tree.append(tree)
    return tree


@pytest.mark.parametrize("make", [nested_deep, nested_in_itself])
@pytest.mark.parametrize(
    ("call", "name"),
    [
        (lambda tree: tree_map(str, tree), "tree_map"),
        (lambda tree: tree_map(str, tree, is_leaf=lambda node: node is None), "tree_map"),
        (lambda tree: tree_map_with_path(str, tree), "tree_map_with_path"),
        (lambda tree: tree_flatten(tree), "tree_flatten"),
        (lambda tree: tree_reduce(max, tree), "tree_reduce"),
        (lambda tree: tree_merge(tree, tree), "tree_merge"),
    ],
)
def test_trees_without_end_are_refused(call, name, make):
    with pytest.raises(
        RecursionError, match=rf"^\[{name}\] lists, .* are nested deeper than Python's"
    ):
        call(make())


@pytest.mark.parametrize("levels", [300, 3000])
@pytest.mark.parametrize(
    "call",
    [
        lambda tree: tree_map(str, tree),
        lambda tree: tree_map_with_path(lambda _, leaf: leaf, tree),
        lambda tree: tree_flatten(tree),
        lambda tree: tree_merge(tree, tree, max),
    ],
)
def test_trees_in_a_thread_with_a_small_stack(call, levels):
    tree = [1]
    for _ in range(levels):
        tree = [tree]

    def run():
        try:
            return call(tree) is not None
        except RecursionError:
            return True

    assert call_in_thread(128 << 10, run) is True


def test_paths_of_too_many_levels_are_refused():
    with pytest.raises(
        RecursionError, match=r"^\[tree_unflatten\] lists, .* are nested deeper than"
    ):
        tree_unflatten([(".".join("a" * 3000), 1)])


def test_a_recursion_of_ones_own_passes():
    def endless(x):
        return endless(x)

    with pytest.raises(RecursionError, match=r"^maximum recursion depth exceeded"):
        tree_map(endless, [1])


def test_arrays_are_leaves():
    tree = {"w": mx.ones((2, 3)), "layers": [mx.zeros((4,))]}
    assert [(path, x.shape) for path, x in tree_flatten(tree)] == [
        ("w", (2, 3)),
        ("layers.0", (4,)),
    ]
    doubled = tree_map(lambda x: x * 2, tree)
    assert doubled["w"].tolist() == [[2.0] * 3] * 2
    assert tree_reduce(lambda n, x: n + x.size, tree, 0) == 10


@pytest.mark.parametrize(
    "call",
    [
        lambda fail: tree_map(fail, [1]),
        lambda fail: tree_reduce(fail, [1, 2]),
        lambda fail: nn.Linear(1, 1).apply(fail),
        lambda fail: nn.Linear(1, 1).filter_and_map(fail),
        lambda fail: nn.Linear(1, 1).apply_to_modules(fail),
        lambda fail: nn.quantize(nn.Sequential(nn.Linear(1, 1)), class_predicate=fail),
        lambda fail: optimizers.SGD(fail),
        lambda fail: optimizers.join_schedules([fail], [])(mx.array(1)),
        lambda fail: optimizers.MultiOptimizer([optimizers.SGD(1.0)] * 2, [fail]).init({"a": 1}),
    ],
)
def test_errors_of_functions_of_ones_own_pass(call):
    model = nn.Linear(1, 1)
    with pytest.raises(AttributeError, match=r"^'Linear' object has no attribute 'nothing'$"):
        call(lambda *arguments: model.nothing)


def test_keys_with_dots_are_split():
    """A path does not say which of its dots are of a key."""
    assert tree_unflatten(tree_flatten({"a.b": 1})) == {"a": {"b": 1}}
    assert tree_unflatten(tree_flatten({"a.b": 1, "a": {"c": 2}})) == {"a": {"b": 1, "c": 2}}
    with pytest.raises(ValueError, match=r"^\[tree_unflatten\] 2 leaves have the same path"):
        tree_unflatten(tree_flatten({"a": {"b": 1}, "a.b": 2}))


# --- ravel_tree -----------------------------------------------------------------------------


def ravelled():
    return {
        "w": [mx.array([[1.0, 2.0], [3.0, 4.0]]), None],
        "n": (mx.array(5), mx.zeros((0, 2), mx.float16)),
        "p": Pair(True, 2.5),
    }


def test_ravel_and_back():
    tree = ravelled()
    flat, unravel = ravel_tree(tree)
    assert flat.tolist() == [1, 2, 3, 4, 5, 1, 2.5]
    assert flat.dtype == mx.float32
    back = unravel(2 * flat)
    assert back["w"][0].tolist() == [[2, 4], [6, 8]]
    assert back["w"][1] is None
    assert back["n"][0].dtype == mx.int32
    assert back["n"][0].item() == 10
    assert (back["n"][1].shape, back["n"][1].dtype) == ((0, 2), mx.float16)
    assert isinstance(back["p"], Pair)
    assert (back["p"].x.item(), back["p"].y.item()) == (True, 5)


@pytest.mark.parametrize("tree", [[], {}, None, (None, {"a": []})])
def test_ravel_of_no_arrays(tree):
    flat, unravel = ravel_tree(tree)
    assert (flat.shape, flat.dtype) == ((0,), mx.float32)
    assert unravel(flat) == tree


def test_ravel_of_one_array_and_of_complex_ones():
    flat, unravel = ravel_tree(mx.array([[1, 2]], mx.int8))
    assert flat.dtype == mx.int8
    assert unravel(flat).tolist() == [[1, 2]]
    flat, unravel = ravel_tree([mx.array(1.5), mx.array(2 + 3j)])
    assert flat.dtype == mx.complex64
    back = unravel(flat * 2)
    assert (back[0].dtype, back[0].item()) == (mx.float32, 3)
    assert back[1].item() == 4 + 6j


def test_ravel_under_transforms():
    tree = {"w": mx.array([[1.0, 2.0]]), "b": mx.array(3.0)}
    loss = lambda t: (t["w"] ** 2).sum() * t["b"]  # noqa: E731
    flat, unravel = ravel_tree(tree)
    gradient = mx.grad(loss)(tree)
    expected, _ = ravel_tree(gradient)
    for transform in (mx.grad, lambda f: mx.compile(mx.grad(f)), mx.jacfwd):
        assert transform(lambda x: loss(unravel(x)))(flat).tolist() == expected.tolist()
    through = mx.grad(lambda t: (ravel_tree(t)[0] * mx.array([1.0, 10.0, 100.0])).sum())(tree)
    assert through["w"].tolist() == [[1, 10]]
    assert through["b"].item() == 100
    batch = {"w": mx.ones((4, 1, 2)), "b": mx.arange(4.0)}
    flats = mx.vmap(lambda t: ravel_tree(t)[0])(batch)
    assert flats.shape == (4, 3)
    assert mx.vmap(unravel)(flats)["w"].shape == (4, 1, 2)


@pytest.mark.parametrize(
    ("flat", "error", "text"),
    [
        (mx.ones(4), ValueError, r"shape \(4,\), expected \(3,\)"),
        (mx.ones((1, 3)), ValueError, r"shape \(1, 3\)"),
        (mx.ones(3, mx.float16), TypeError, "float16, expected"),
        ("text", TypeError, "got str"),
    ],
)
def test_unravel_refuses_other_vectors(flat, error, text):
    _, unravel = ravel_tree([mx.ones(2), 1.0])
    with pytest.raises(error, match=r"^\[ravel_tree\] .*" + text):
        unravel(flat)


def test_ravel_refuses_other_leaves():
    with pytest.raises(TypeError, match=r"^\[ravel_tree\] leaf 'a.1': got str"):
        ravel_tree({"a": [1, "x"]})
    with pytest.raises(TypeError, match=r"^\[ravel_tree\] tree: got str"):
        ravel_tree("x")
