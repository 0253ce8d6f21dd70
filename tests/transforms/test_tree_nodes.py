"""Nodes of registered classes and subclasses of containers, in each transform and tree function."""

import collections
import copy
import dataclasses
import pickle

import pytest
import umber.core as mx
from umber import nn
from umber.utils import (
    register_dataclass,
    register_tree_node,
    tree_flatten,
    tree_map,
    tree_map_with_path,
    tree_merge,
    tree_reduce,
)


class Items(list):
    pass


class Params(dict):
    pass


class Guarded(dict):
    """Refuses what users put into it."""

    def __setitem__(self, key, value):
        raise AssertionError(f"{key} was assigned")


class Slotted(dict):
    __slots__ = ("unit",)


class Tagged(tuple):
    __slots__ = ()


Named = collections.namedtuple("Named", "a b")


class Interval:
    """A node with auxiliary data, whose constructor takes other arguments."""

    def __init__(self, *, start, end, unit):
        self.ends = [start, end]
        self.unit = unit

    def flatten(self):
        return self.ends, self.unit

    @staticmethod
    def unflatten(unit, children):
        return Interval(start=children[0], end=children[1], unit=unit)


register_tree_node(Interval, Interval.flatten, Interval.unflatten)


@register_dataclass
@dataclasses.dataclass
class Point:
    a: object
    b: object
    unit: str = dataclasses.field(default="m", metadata={"static": True})

    def __post_init__(self):
        assert self.unit == "m"
        assert isinstance(self.a, mx.array)


@dataclasses.dataclass(frozen=True, slots=True)
class Frozen:
    unit: str
    a: object
    b: object


register_dataclass(Frozen, meta_fields=["unit"])


class Leaf(dict):
    """A registered subclass of dict, whose keys are no children."""


register_tree_node(
    Leaf,
    lambda leaf: ((leaf["a"], leaf["b"]), leaf["unit"]),
    lambda unit, children: Leaf(a=children[0], b=children[1], unit=unit),
)


def with_attributes(container, **attributes):
    for name, value in attributes.items():
        setattr(container, name, value)
    return container


CONTAINERS = {
    "list": lambda a, b: [a, b],
    "tuple": lambda a, b: (a, b),
    "dict": lambda a, b: {"a": a, "b": b},
    "list subclass": lambda a, b: with_attributes(Items([a, b]), unit="m"),
    "dict subclass": lambda a, b: with_attributes(Params(a=a, b=b), unit="m"),
    "guarded dict": lambda a, b: with_attributes(Guarded(a=a, b=b), unit="m"),
    "slotted dict": lambda a, b: with_attributes(Slotted(a=a, b=b), unit="m"),
    "ordered dict": lambda a, b: collections.OrderedDict(a=a, b=b),
    "default dict": lambda a, b: collections.defaultdict(mx.array, a=a, b=b),
    "counter": lambda a, b: collections.Counter({"a": a, "b": b}),
    "tuple subclass": lambda a, b: Tagged((a, b)),
    "named tuple": Named,
    "node": lambda a, b: Interval(start=a, end=b, unit="m"),
    "dataclass": Point,
    "frozen dataclass": lambda a, b: Frozen("m", a, b),
    "registered dict": lambda a, b: Leaf(a=a, b=b, unit="m"),
}


def leaves(tree):
    if isinstance(tree, Interval):
        return tree.ends
    if isinstance(tree, (Point, Frozen)):
        return [tree.a, tree.b]
    if isinstance(tree, dict):
        return [tree["a"], tree["b"]]
    return [*tree]


def arrays():
    return mx.array([1.0, 2.0]), mx.array([3.0, 5.0])


def total(tree):
    a, b = leaves(tree)
    return (a * a).sum() + 10 * b.sum()


def swap(tree):
    a, b = leaves(tree)
    return tree_map(lambda x: b * 1 if x is a else a * 1, tree)


def custom_vjp(tree):
    function = mx.custom_function(total)
    function.vjp(lambda tree, cotangent, output: tree_map(lambda x: 7 * cotangent * x, tree))
    return mx.grad(function)(tree)


# Called with a tree of two vectors; the result has the structure of the tree.
TRANSFORMS = {
    "grad": lambda tree: mx.grad(total)(tree),
    "value_and_grad": lambda tree: mx.value_and_grad(total)(tree)[1],
    "grad by name": lambda tree: mx.grad(lambda *, x: total(x), argnames="x")(x=tree)[1]["x"],
    "vjp": lambda tree: mx.vjp(total, [tree], [mx.array(1.0)])[1][0],
    "jacrev": lambda tree: mx.jacrev(total)(tree),
    "jacfwd": lambda tree: mx.jacfwd(total)(tree),
    "jacobian of a tree": lambda tree: mx.jacrev(
        lambda x: tree_map(lambda leaf: leaf * x.sum(), tree)
    )(mx.ones(2)),
    "linearize": lambda tree: mx.linearize(lambda t: t, tree)[1](tree),
    "vmap": lambda tree: mx.vmap(swap)(tree),
    "vmap of a keyword": lambda tree: mx.vmap(lambda *, tree: swap(tree))(tree=tree),
    "compile": lambda tree: mx.compile(swap)(tree),
    "compile of a keyword": lambda tree: mx.compile(lambda *, tree: swap(tree))(tree=tree),
    "shapeless compile": lambda tree: mx.compile(swap, shapeless=True)(tree),
    "checkpoint": lambda tree: mx.checkpoint(swap)(tree),
    "custom_function": lambda tree: mx.custom_function(swap)(tree),
    "a vjp rule": custom_vjp,
    "scan": lambda tree: mx.scan(lambda c, _: (swap(c), None), tree, length=3)[0],
    "scan over rows": lambda tree: mx.scan(lambda c, x: (c, swap(x)), mx.array(0), tree)[1],
    "fori_loop": lambda tree: mx.fori_loop(0, 3, lambda _, c: swap(c), tree),
    "while_loop": lambda tree: mx.while_loop(lambda c: leaves(c)[0].sum() < 5, swap, tree),
    "map": lambda tree: mx.map(swap, tree),
    "cond": lambda tree: mx.cond(mx.array(True), swap, lambda t: t, tree),
    "switch": lambda tree: mx.switch(mx.array(1), [lambda t: t, swap], tree),
    "tree_map": swap,
    "tree_map_with_path": lambda tree: tree_map_with_path(lambda path, x: x + len(path), tree),
    "tree_merge": lambda tree: tree_merge(tree, tree, lambda a, b: a + b),
    "nested transforms": lambda tree: mx.compile(mx.vmap(mx.grad(total)))(
        tree_map(lambda x: x[None], tree)
    ),
}


@pytest.mark.parametrize("transform", TRANSFORMS)
@pytest.mark.parametrize("container", CONTAINERS)
def test_containers_keep_their_class(container, transform):
    tree = CONTAINERS[container](*arrays())
    plain = TRANSFORMS[transform]([*arrays()])
    for _ in range(2):
        result = TRANSFORMS[transform](tree)
        assert type(result) is type(tree)
        expected = [leaf.tolist() for leaf in plain]
        assert [leaf.tolist() for leaf in leaves(result)] == expected
        for attribute in ("unit", "default_factory"):
            if hasattr(tree, attribute):
                assert getattr(result, attribute) == getattr(tree, attribute)
        assert [leaf.tolist() for leaf in leaves(tree)] == [leaf.tolist() for leaf in arrays()]


@pytest.mark.parametrize("container", CONTAINERS)
def test_leaves_are_found(container):
    tree = CONTAINERS[container](*arrays())
    paths = [path for path, _ in tree_flatten(tree)]
    assert len(paths) == 2
    assert tree_reduce(lambda count, leaf: count + leaf.size, tree, 0) == 4
    assert tree_flatten(tree, destination={}).keys() == set(paths)
    pending = CONTAINERS[container](*(mx.broadcast_to(x, (3000, 2)) + 1 for x in arrays()))
    mx.eval(pending)
    mx.async_eval(pending)
    specs = mx.eval_shape(swap, tree)
    assert type(specs) is type(tree)
    assert leaves(specs)[0] == mx.ShapeDtypeStruct((2,), mx.float32)
    value, tangent = mx.jvp(total, [tree], [tree])
    assert value[0].item() == total(tree).item()
    assert tangent[0].item() == 90.0


@pytest.mark.parametrize("container", CONTAINERS)
def test_containers_are_state(container):
    tree = CONTAINERS[container](*arrays())

    def step(x):
        a, b = leaves(tree)
        a += x
        return a.sum() + b.sum()

    step = mx.compile(step, inputs=[tree], outputs=[tree])
    assert [step(mx.array(1.0)).item() for _ in range(3)] == [13.0, 15.0, 17.0]
    assert leaves(tree)[0].tolist() == [4.0, 5.0]


def test_paths_have_the_names_of_fields():
    tree = {"p": Point(*arrays()), "i": Interval(start=1, end=[2], unit="s")}
    assert [path for path, _ in tree_flatten(tree)] == ["p.a", "p.b", "i.0", "i.1.0"]
    with pytest.raises(ValueError, match=r"args\[0\]\['p'\]\.b"):
        mx.grad(lambda tree: tree["p"].a.sum())({"p": Frozen("m", mx.array(1.0), "text")})


def test_axes_of_nodes():
    tree = Point(*arrays())
    axes = Frozen("m", 0, None)
    assert mx.vmap(lambda p: p.a + p.b.sum(), in_axes=(axes,))(
        Frozen("m", tree.a, tree.b)
    ).tolist() == [9, 10]
    for wrong in (Frozen("s", 0, None), Interval(start=0, end=None, unit="m"), (0, None)):
        with pytest.raises(ValueError, match=r"in_axes.*Frozen of 2"):
            mx.vmap(lambda p: p.a, in_axes=(wrong,))(Frozen("m", tree.a, tree.b))


def test_auxiliary_data_is_part_of_the_key():
    traced = []

    @mx.compile
    def scale(interval):
        traced.append(interval.unit)
        return interval.ends[0] * (1000 if interval.unit == "km" else 1)

    one = mx.array(1.0)
    for unit in ("m", "km", "m", "km"):
        result = scale(Interval(start=one, end=one, unit=unit)).item()
        assert result == (1000 if unit == "km" else 1)
    assert traced == ["m", "km"]
    with pytest.raises(TypeError, match=r"bytearray are not hashable"):
        scale(Interval(start=one, end=one, unit=bytearray(b"m")))


def test_attributes_are_part_of_the_key():
    traced = []

    @mx.compile
    def scale(params):
        traced.append(params.unit)
        return params["a"] * (1000 if params.unit == "km" else 1)

    params = Params(a=mx.array(2.0))
    for unit in ("m", "km", "m"):
        params.unit = unit
        assert scale(params).item() == (2000 if unit == "km" else 2)
    assert traced == ["m", "km"]
    params.unit = bytearray(b"no hash")
    assert scale(params).item() == scale(params).item() == 2.0
    assert len(traced) == 3


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda tree: Frozen("s", *leaves(tree)), "returned carry as Frozen of 2"),
        (lambda tree: Interval(start=tree.a, end=tree.b, unit="m"), "returned carry as Interval"),
        (lambda tree: tree.a, "returned carry as an array, expected Frozen of 2"),
        (lambda tree: Frozen("m", tree.a, None), r"returned carry\.b as None, expected an array"),
    ],
)
def test_carries_keep_their_structure(wrong, message):
    with pytest.raises(TypeError, match=message):
        mx.fori_loop(0, 2, lambda _, tree: wrong(tree), Frozen("m", *arrays()))


def test_branches_agree_on_nodes():
    with pytest.raises(TypeError, match=r"auxiliary data 's'"):
        mx.cond(
            mx.array(True),
            lambda a: Interval(start=a, end=a, unit="s"),
            lambda a: Interval(start=a, end=a, unit="m"),
            mx.array(1.0),
        )


class Failing:
    def __init__(self, at):
        self.at = at

    def flatten(self):
        if self.at == "flatten":
            raise KeyError("mine")
        if self.at == "pair":
            return [mx.array(1.0)]
        return [mx.array([1.0])], self.at

    @staticmethod
    def unflatten(at, children):
        raise KeyError("mine")


register_tree_node(Failing, Failing.flatten, Failing.unflatten)
FAILURES = [mx.grad(lambda x: x), mx.vmap(lambda x: x), mx.compile(lambda x: x), mx.checkpoint(id)]
FAILURES.append(lambda x: tree_map(lambda leaf: leaf, x))


@pytest.mark.parametrize("call", FAILURES)
def test_errors_of_the_functions_pass(call):
    for at in ("flatten", "unflatten"):
        with pytest.raises(KeyError, match="mine"):
            call(Failing(at))
    with pytest.raises(TypeError, match=r"flattens Failing returned list, expected a pair"):
        call(Failing("pair"))


def test_side_effects_on_nodes_stay_with_the_function():
    point = Point(*arrays())
    given = []

    def loss(p):
        given.append(p)
        p.a = p.a * 3
        return (p.a * p.a).sum()

    assert mx.grad(loss)(point).a.tolist() == [18.0, 36.0]
    assert point.a.tolist() == [1.0, 2.0]
    assert given[0] is not point
    holder = {"p": point}
    mx.grad(lambda h: h["p"].a.sum())(holder)
    assert holder["p"] is point


def test_ordered_dicts_keep_their_order():
    tree = collections.OrderedDict(b=mx.array(1.0), a=mx.array(2.0))
    tree.move_to_end("b")
    for transform in (mx.grad(lambda t: t["a"] * t["b"] ** 3), mx.compile(lambda t: t)):
        assert [*transform(tree)] == ["a", "b"]
    assert mx.grad(lambda t: t["a"] * t["b"] ** 3)(tree)["b"].item() == 6.0
    assert [path for path, _ in tree_flatten(tree)] == ["a", "b"]


def test_results_do_not_share_attributes():
    params = with_attributes(Params(a=mx.array(1.0)), unit="m")
    identity = mx.compile(lambda p: p)
    first, second = identity(params), identity(params)
    first.unit = "km"
    assert (params.unit, second.unit, identity(params).unit) == ("m", "m", "m")


def test_a_class_is_a_node_only_itself():
    class Segment(Interval):
        pass

    with pytest.raises(ValueError, match="Segment"):
        mx.grad(lambda s: s.ends[0])(Segment(start=mx.array(1.0), end=mx.array(1.0), unit="m"))


def test_nodes_are_copied_and_pickled():
    point = Point(*arrays())
    for other in (copy.deepcopy(point), pickle.loads(pickle.dumps(point))):
        assert mx.array_equal(other.b, point.b)


def test_registered_modules_are_nodes():
    class Twice(nn.Module):
        def __init__(self, w):
            super().__init__()
            self.w = w

        def __call__(self, x):
            return 2 * self.w * x

    register_tree_node(Twice, lambda m: ((m.w,), None), lambda _, children: Twice(*children))
    gradient = mx.grad(lambda m: m(mx.array(3.0)))(Twice(mx.array(1.0)))
    assert isinstance(gradient, Twice)
    assert gradient.w.item() == 6.0


def nothing(*args):
    return None


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: register_tree_node(1, nothing, nothing), TypeError, r"\] cls: got int"),
        (lambda: register_tree_node(Items, 1, nothing), TypeError, r"\] flatten: got int"),
        (lambda: register_tree_node(Items, nothing, 1), TypeError, r"\] unflatten: got int"),
        (lambda: register_tree_node(Items, nothing, nothing, names=[1]), TypeError, r"names: got"),
        (lambda: register_tree_node(Point, nothing, nothing), ValueError, "Point is registered"),
        (lambda: register_tree_node(dict, nothing, nothing), ValueError, "dict has a meaning"),
        (lambda: register_tree_node(mx.array, nothing, nothing), ValueError, "array has a meaning"),
        (lambda: register_dataclass(Items), TypeError, r"cls: got Items, expected a dataclass"),
        (lambda: register_dataclass(Frozen("m", 1, 2)), TypeError, r"cls: got Frozen"),
        (lambda: register_dataclass(Frozen), ValueError, r"Frozen is registered"),
        (lambda: register_dataclass(Frozen, ["c"]), ValueError, r"Frozen has no field 'c'"),
        (lambda: register_dataclass(Frozen, ["a"], ["b"]), ValueError, r"'unit' must be in one"),
        (lambda: register_dataclass(Frozen, ["a", "b"], ["b", "unit"]), ValueError, r"'b' must be"),
    ],
)
def test_bad_registrations_are_refused(call, error, message):
    with pytest.raises(error, match=message):
        call()
