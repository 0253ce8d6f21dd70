"""Functions are called with the caller's own containers: class, identity, side effects."""

import collections
import sys
import threading
import time

import pytest
import umber.core as mx
from umber import nn
from umber.utils import tree_flatten


def scalar(x):
    return mx.array(float(x))


class Items(list):
    def first(self):
        return self[0]


class Params(dict):
    def first(self):
        return self["w"]


class Guarded(dict):
    """Refuses what users put into it."""

    def __setitem__(self, key, value):
        raise AssertionError(f"{key} was assigned")

    def first(self):
        return self["w"]


class Both(tuple):
    __slots__ = ()

    def __new__(cls, first, second):
        return super().__new__(cls, (first, second))

    def first(self):
        return self[0]


class Tagged(tuple):
    tag = None

    def first(self):
        assert self.tag == "own"
        return self[0]


Named = collections.namedtuple("Named", "w n")


class Calling(Named):
    __slots__ = ()

    def first(self):
        return self.w


def tagged(*items):
    made = Tagged(items)
    made.tag = "own"
    return made


def first(x):
    if hasattr(x, "first"):
        return x.first()
    return x["w"] if isinstance(x, dict) else x[0]


MUTABLE = {
    "list": lambda a: [a],
    "dict": lambda a: {"w": a},
    "list subclass": lambda a: Items([a]),
    "dict subclass": lambda a: Params(w=a),
    "guarded dict": lambda a: Guarded(w=a),
    "ordered dict": lambda a: collections.OrderedDict(w=a, b=scalar(0)),
    "default dict": lambda a: collections.defaultdict(list, w=a),
}
IMMUTABLE = {
    "tuple": lambda a: (a,),
    "tuple subclass": lambda a: Tagged((a,)),
    "own constructor": lambda a: Both(a, scalar(0)),
    "named tuple": lambda a: Named(a, scalar(0)),
    "subclass of a named tuple": lambda a: Calling(a, scalar(0)),
}


def sum_of_squares(x):
    return (first(x) ** 2).sum()


CALLS = {
    "grad": lambda f, x: mx.grad(f)(x),
    "grad by name": lambda f, x: mx.grad(lambda *, x: f(x), argnames="x")(x=x),
    "value_and_grad": lambda f, x: mx.value_and_grad(f)(x)[1],
    "vjp": lambda f, x: mx.vjp(f, [x], [scalar(1)])[1][0],
    "jvp": lambda f, x: mx.jvp(f, [x], [x])[1],
    "jacrev": lambda f, x: mx.jacrev(f)(x),
    "jacfwd": lambda f, x: mx.jacfwd(f)(x),
    "hessian": lambda f, x: mx.hessian(f)(x),
    "linearize": lambda f, x: mx.linearize(f, x)[1](x),
    "eval_shape": lambda f, x: mx.eval_shape(f, x),
}


@pytest.mark.parametrize("call", CALLS.values(), ids=CALLS)
@pytest.mark.parametrize("make", MUTABLE.values(), ids=MUTABLE)
def test_the_very_container_is_passed(make, call):
    array = mx.array([1.0, 2.0])
    x = make(array)
    seen = []

    def f(given):
        seen.append(given is x and first(given) is not array)
        return sum_of_squares(given)

    call(f, x)
    assert all(seen)
    assert seen
    assert first(x) is array


@pytest.mark.parametrize("make", MUTABLE.values(), ids=MUTABLE)
def test_gradients_have_the_class_of_containers(make):
    x = make(mx.array([1.0, 2.0]))
    gradient = mx.grad(sum_of_squares)(x)
    assert type(gradient) is type(x)
    assert first(gradient).tolist() == [2.0, 4.0]


@pytest.mark.parametrize("make", IMMUTABLE.values(), ids=IMMUTABLE)
def test_tuples_keep_their_class(make):
    x = make(mx.array([1.0, 2.0]))
    if isinstance(x, Tagged):
        x.tag = "own"
    seen = []

    def f(given):
        seen.append(type(given))
        return (given[0] ** 2).sum(), given

    gradient = mx.grad(f)(x)
    assert type(gradient) is type(x)
    assert gradient[0].tolist() == [2.0, 4.0]
    for transformed in (mx.compile(f), mx.checkpoint(f), mx.custom_function(f)):
        assert type(transformed(x)[1]) is type(x)
    if len(x) == 1:
        assert type(mx.vmap(f)(x)[1]) is type(x)
    assert set(seen) == {type(x)}
    assert type(mx.vmap(make)(mx.ones((3, 2)))) is type(x)


def test_tuples_keep_their_attributes_and_their_place():
    own = tagged(scalar(3), [scalar(4)])
    x = {"t": own, "n": (own, None)}

    def f(x):
        assert x["t"][1] is own[1]
        return first(x["t"]) * x["t"][1][0]

    gradient = mx.grad(f)(x)
    assert type(gradient["t"]) is Tagged
    assert x["t"] is own
    assert x["n"][0] is own


def test_modules_are_arguments():
    x = mx.array([[1.0, -2.0], [3.0, 5.0]])
    linear = nn.Linear(2, 2)
    value, gradient = mx.value_and_grad(lambda m, x: m(x).sum())(linear, mx.ones(2))
    assert value.item() == pytest.approx(linear(mx.ones(2)).sum().item())
    assert type(gradient) is dict
    assert gradient["weight"].tolist() == [[1.0, 1.0], [1.0, 1.0]]
    assert gradient["bias"].tolist() == [1.0, 1.0]
    assert mx.jvp(lambda m: m(x).sum(), [linear], [linear])[1][0].shape == ()
    assert mx.eval_shape(lambda m, x: m(x), linear, x).shape == (2, 2)


@pytest.mark.parametrize(
    ("model", "count"),
    [
        (nn.Sequential(nn.Linear(2, 3), nn.ReLU(), nn.Linear(3, 1)), 1),
        (nn.LayerNorm(2), 1),
        (nn.MultiHeadAttention(2, 1), 3),
    ],
)
def test_gradients_by_modules(model, count):
    arguments = (mx.array([[[1.0, -2.0], [3.0, 5.0]]]),) * count
    before = [(key, id(value)) for key, value in tree_flatten(model.parameters())]

    def loss(m):
        return (m(*arguments) ** 2).sum()

    gradient = mx.grad(loss)(model)
    assert_equal(gradient, nn.value_and_grad(model, lambda: loss(model))()[1])
    assert before == [(key, id(value)) for key, value in tree_flatten(model.parameters())]


def assert_equal(a, b):
    """As far as `b` goes."""
    if isinstance(b, mx.array):
        assert mx.allclose(a, b)
        return
    for key in b if isinstance(b, dict) else range(len(b)):
        assert_equal(a[key], b[key])


def test_buffers_of_modules_are_updated():
    norm = nn.BatchNorm(2)
    mx.grad(lambda m, x: (m(x) ** 2).sum())(norm, mx.array([[1.0, 2.0], [3.0, 5.0]]))
    assert mx.allclose(norm.running_mean, mx.array([0.2, 0.35]))
    assert mx.allclose(norm.running_var, mx.array([1.1, 1.35]))


def assign(s):
    s["w"] = s["w"] * 3
    return s["w"] ** 2


def multiply_in_place(s):
    s["w"] *= 3
    return s["w"] ** 2


def add_key(s):
    s["new"] = s["w"] * 3
    return s["new"] ** 2


def add_containers(s):
    s["new"] = {"deep": [(s["w"], s["w"] * 3)]}
    return s["new"]["deep"][0][1] ** 2


def remove_key(s):
    return (s.pop("w") * 3) ** 2


def rename(s):
    s["new"] = s.pop("w")
    return (s["new"] * 3) ** 2


def clear(s):
    w = s["w"]
    s.clear()
    return (w * 3) ** 2


@pytest.mark.parametrize(
    ("function", "after"),
    [
        (assign, {"w": 6.0}),
        (multiply_in_place, {"w": 6.0}),
        (add_key, {"w": 2.0, "new": 6.0}),
        (add_containers, {"w": 2.0, "new": {"deep": [(2.0, 6.0)]}}),
        (remove_key, {}),
        (rename, {"new": 2.0}),
        (clear, {}),
    ],
)
@pytest.mark.parametrize("make", [dict, Params, collections.OrderedDict])
@pytest.mark.parametrize("fails", [False, True])
def test_side_effects_last(function, after, make, fails):
    w = scalar(2)
    s = make(w=w)

    def f(s):
        value = function(s)
        if fails:
            raise KeyError("mine")
        return value

    if fails:
        with pytest.raises(KeyError, match="mine"):
            mx.grad(f)(s)
    else:
        assert mx.grad(f)(s) == {"w": mx.array(36.0)}
    assert type(s) is make
    assert numbers(s) == after
    assert w.item() == 2.0
    # What was only moved is the caller's own array again.
    for place in (s.get("w"), s.get("new")):
        assert not isinstance(place, mx.array) or place.item() != 2.0 or place is w
    if isinstance(s.get("new"), dict):
        assert s["new"]["deep"][0][0] is w


def numbers(x):
    if isinstance(x, dict):
        return {key: numbers(item) for key, item in x.items()}
    if isinstance(x, (list, tuple)):
        return type(x)(map(numbers, x))
    return x.item()


@pytest.mark.parametrize(
    ("function", "after"),
    [
        (lambda s: s.append(s[0] * 3) or s[-1] ** 2, [0, 1, 6.0]),
        (lambda s: s.insert(0, s[0] * 3) or s[0] ** 2, [6.0, 0, 1]),
        (lambda s: (s.pop(0) * 3) ** 2, [1]),
        (lambda s: s.reverse() or (s[1] * 3) ** 2, [1, 0]),
        (lambda s: (s.pop(0) * 3) ** 2 + 0 * len(s.clear() or s), []),
    ],
)
def test_lists_may_grow_and_shrink(function, after):
    own = [scalar(2), scalar(5)]
    s = list(own)
    assert [g.item() for g in mx.grad(function)(s)] == [36.0, 0.0]
    assert len(s) == len(after)
    for item, expected in zip(s, after, strict=True):
        assert item is own[expected] if isinstance(expected, int) else item.item() == expected


def test_writes_into_arrays_stay_out_of_the_callers():
    w = mx.array([2.0, 3.0])
    s = {"w": w, "t": (w,)}

    def f(s):
        s["w"][0] = 7.0
        s["t"][0][1] = 9.0
        return (s["w"] ** 2).sum() + (s["t"][0] ** 2).sum()

    gradient = mx.grad(f)(s)
    assert gradient["w"].tolist() == [0.0, 6.0]
    assert gradient["t"][0].tolist() == [4.0, 0.0]
    assert s["w"].tolist() == [7.0, 3.0]
    assert s["t"][0].tolist() == [2.0, 9.0]
    assert w.tolist() == [2.0, 3.0]


def test_results_may_be_the_container():
    s = {"w": mx.array([2.0, 3.0])}
    outputs, pulled = mx.vjp(lambda s: s, [s], {"w": mx.array([1.0, 10.0])})
    assert outputs["w"].tolist() == [2.0, 3.0]
    assert pulled[0]["w"].tolist() == [1.0, 10.0]
    assert mx.jacrev(lambda s: s)(s)["w"]["w"].tolist() == [[1.0, 0.0], [0.0, 1.0]]
    assert mx.jvp(lambda s: s, [s], [{"w": mx.ones(2)}])[1]["w"].tolist() == [1.0, 1.0]
    assert mx.linearize(lambda s: s, s)[1](s)["w"].tolist() == [2.0, 3.0]
    (value, same), gradient = mx.value_and_grad(lambda s: (s["w"].sum(), s))(s)
    assert same is s
    assert value.item() == 5.0
    assert gradient["w"].tolist() == [1.0, 1.0]


def product(x, y):
    return x["a"] * y["a"] ** 2


def test_a_container_passed_twice_is_two_arguments():
    s = Params(a=scalar(2))
    assert mx.grad(product)(s, s)["a"].item() == 4.0
    assert mx.grad(product, argnums=1)(s, s)["a"].item() == 8.0
    one, two = mx.grad(product, argnums=(0, 1))(s, s)
    assert (one["a"].item(), two["a"].item()) == (4.0, 8.0)
    _, named = mx.grad(product, argnums=[], argnames=["x", "y"])(x=s, y=s)
    assert (named["x"]["a"].item(), named["y"]["a"].item()) == (4.0, 8.0)
    one, two = mx.vjp(product, [s, s], [scalar(1)])[1]
    assert (one["a"].item(), two["a"].item()) == (4.0, 8.0)
    assert s["a"].item() == 2.0
    kinds = []
    mx.grad(lambda x, y: kinds.append((x is s, type(y))) or product(x, y))(s, s)
    assert kinds == [(True, Params)]


def test_a_container_that_stands_twice_in_another_is_one():
    inner = {"w": scalar(2)}
    s = {"a": inner, "b": inner}
    w = inner["w"]

    def f(s):
        assert s["a"] is s["b"] is inner
        return s["a"]["w"] * s["b"]["w"] ** 2

    gradient = mx.grad(f)(s)
    # All of the derivative stands at the last place, as an update of all places in order needs it.
    assert (gradient["a"]["w"].item(), gradient["b"]["w"].item()) == (0.0, 12.0)
    assert inner["w"] is w


def test_an_array_at_two_places_is_two():
    a = scalar(2)
    s = {"a": a, "b": a}
    gradient = mx.grad(product_of_places)(s)
    assert (gradient["a"].item(), gradient["b"].item()) == (4.0, 8.0)
    assert s["a"] is s["b"] is a


def product_of_places(s):
    return s["a"] * s["b"] ** 2


def test_what_closures_see_is_the_container():
    s = {"a": scalar(2)}
    assert mx.grad(lambda x: x["a"] * s["a"])(s)["a"].item() == 4.0


def test_containers_that_are_not_differentiated_are_the_callers_as_well():
    s = {"w": scalar(2)}

    def f(p, s):
        s["w"] = s["w"] * 2 * p
        return s["w"] ** 2 * p

    assert mx.grad(f)(scalar(2), s).item() == 192.0
    assert s["w"].item() == 8.0


def cube(s):
    return s["w"] ** 3


def test_gradients_of_gradients_use_one_container():
    w = scalar(2)
    s = {"w": w}
    second = mx.grad(lambda s: mx.grad(cube)(s)["w"])(s)["w"]
    assert second.item() == 12.0
    third = mx.grad(lambda s: mx.grad(lambda s: mx.grad(cube)(s)["w"])(s)["w"])(s)["w"]
    assert third.item() == 6.0
    # The inner function reaches the same container in both ways.
    both = mx.grad(lambda x: mx.grad(lambda y: cube(x) * cube(y))(x)["w"])(s)["w"]
    assert both.item() == 480.0
    assert mx.hessian(cube)(s)["w"]["w"].item() == 12.0
    assert mx.vmap(mx.grad(cube))({"w": mx.array([1.0, 2.0])})["w"].tolist() == [3.0, 12.0]
    assert mx.compile(mx.grad(cube))(s)["w"].item() == 12.0
    assert s["w"] is w

    def failing(s):
        try:
            mx.grad(lambda s: s["missing"])(s)
        except KeyError:
            return cube(s)

    assert mx.grad(failing)(s)["w"].item() == 12.0
    assert s["w"] is w


def test_threads_do_not_see_each_others_arrays():
    arrays = {"w": scalar(2), "m": scalar(3)}
    s = Params(arrays, inner=Items([scalar(4)]))
    results, inside = [], []

    def f(s):
        inside.append(s["w"])
        # Long enough for the other threads to come in between.
        time.sleep(0.01)
        value = s["w"] ** 2 * s["m"] * s["inner"][0]
        time.sleep(0.01)
        return value + 0 * s.first()

    def work():
        for _ in range(3):
            gradient = mx.grad(f)(s)
            results.append(numbers(gradient))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [{"w": 48.0, "m": 16.0, "inner": [12.0]}] * 12
    assert all(s[key] is array for key, array in arrays.items())
    assert len({id(array) for array in inside}) == 12


def test_a_thread_begun_by_the_function_has_the_original_arrays():
    s = {"w": scalar(2)}
    found = []

    def f(s):
        thread = threading.Thread(target=lambda: found.append(mx.grad(cube)(s)["w"].item()))
        thread.start()
        thread.join()
        return cube(s)

    assert mx.grad(f)(s)["w"].item() == 12.0
    assert found == [12.0]


@pytest.mark.parametrize(
    "wrap", [lambda a: a, lambda a: (a,), lambda a: [(a,)], lambda a: ({"a": (a,)},)]
)
def test_nothing_of_an_argument_is_kept_after_the_call(wrap):
    def total(tree):
        return sum((leaf * leaf).sum() for _, leaf in tree_flatten(tree))

    a = mx.array([2.0, 3.0])
    before = sys.getrefcount(a)
    for transform in (mx.grad, mx.value_and_grad, mx.vmap, mx.compile, mx.checkpoint):
        mx.eval(transform(total)(wrap(a)))
        assert sys.getrefcount(a) == before, transform


def test_cycles_made_by_the_function_are_no_matter():
    w = scalar(2)
    s = {"w": w, "l": []}

    def f(s):
        s["self"] = s
        s["l"].append((s["l"], s["w"]))
        return cube(s)

    assert mx.grad(f)(s)["w"].item() == 12.0
    assert s["self"] is s
    assert s["l"][0][0] is s["l"]
    assert s["l"][0][1] is w


def test_copies_of_containers_elsewhere():
    """These functions are traced once or run on other arrays, and get containers of their own."""
    x = Params(w=mx.ones(3))
    for transform in (mx.vmap, mx.compile, mx.checkpoint):
        seen = []
        transform(lambda s, seen=seen: seen.append(s) or s["w"] * 2)(x)
        assert [type(s) for s in seen] == [Params]
        assert seen[0] is not x
