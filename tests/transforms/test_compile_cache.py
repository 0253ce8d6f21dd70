"""What two calls of a compiled function have in common, what it does to state, when it goes."""

import enum
import gc
import weakref
from collections import namedtuple
from dataclasses import dataclass, field

import numpy as np
import pytest
import umber.core as mx
from traces import Traces


class Scale:
    """Known by its identity; its representation says nothing."""

    def __init__(self, factor):
        self.factor = factor

    def __repr__(self):
        return "Scale"


class Equal(Scale):
    """Known by its value."""

    def __eq__(self, other):
        return isinstance(other, Equal) and self.factor == other.factor

    def __hash__(self):
        return hash(self.factor)


@dataclass
class Settings:
    factor: float
    names: list = field(default_factory=list)


class Mode(enum.Enum):
    TWICE = 2
    THRICE = 3


Pair = namedtuple("Pair", "factor name")


@pytest.mark.parametrize(
    ("make", "traces"),
    [
        (Scale, 4),  # each is another object
        (Equal, 2),
        (Settings, 2),
        (lambda factor: Settings(factor, ["a", {"b": (1, None)}]), 2),
        (lambda factor: Pair(factor, "x"), 2),
        (Mode, 2),
        (lambda factor: slice(0, factor), 2),
        (lambda factor: {"a", factor}, 2),
        (np.float32, 2),
        (np.int64, 2),
        (lambda factor: factor + 0j, 2),
        (lambda factor: str(factor).encode(), 2),
        (lambda factor: 10**30 + factor, 2),
        (lambda factor: "\ud800" * factor, 2),
    ],
)
def test_constants_of_every_kind(make, traces):
    """Equal constants share a graph, others do not."""
    seen = []
    traced = Traces(lambda x, constant: (seen.append(constant), x * 2)[1])
    kept = [make(factor) for factor in (2, 3, 2, 3)]
    for constant in kept:
        traced(mx.ones(2), constant)
    assert traced.count == traces
    for constant in kept:
        traced(mx.ones(2), constant)
    assert traced.count == traces


def test_objects_are_not_mistaken_for_each_other():
    traced = Traces(lambda x, scale: x * scale.factor)
    x = mx.array([1.0])
    assert traced(x, Scale(2)).item() == 2.0
    assert traced(x, Scale(3)).item() == 3.0
    settings = Settings(2.0)
    assert traced(x, settings).item() == 2.0
    settings.factor = 5.0
    assert traced(x, settings).item() == 5.0


def test_equal_numbers_of_other_types_are_others():
    traced = Traces(lambda x, constant: x * constant)
    x = mx.array([3], dtype=mx.int32)
    dtypes = [traced(x, constant).dtype for constant in (1, 1.0, True, np.float16(1), 0.0, -0.0)]
    assert traced.count == 6
    assert dtypes[0] == mx.int32
    assert dtypes[1] == mx.float32
    # Inside objects, too.
    traced = Traces(lambda x, settings: x * settings.factor)
    assert traced(x, Settings(1)).dtype == mx.int32
    assert traced(x, Settings(1.0)).dtype == mx.float32


def test_nan_is_a_constant_like_others():
    traced = Traces(lambda x, constant: x * constant)
    for _ in range(3):
        traced(mx.ones(2), float("nan"))
        traced(mx.ones(2), np.float32("nan"))
    assert traced.count == 2


def test_strings_do_not_run_together():
    traced = Traces(lambda x, *names: x * len(names[0]))
    x = mx.ones(1)
    assert traced(x, "a", "bc").item() == 1
    assert traced(x, "ab", "c").item() == 2
    assert traced(x, "a;sb;", "c").item() == 5


def test_what_cannot_be_compared_is_refused():
    compiled = mx.compile(lambda x, other: x)
    for other in (bytearray(b"x"), np.ones(2)):
        name = type(other).__name__
        with pytest.raises(TypeError, match=rf"^\[compile\] arguments of type {name} are not"):
            compiled(mx.ones(2), other)
    with pytest.raises(
        TypeError, match=r"^\[compile\] arrays inside objects cannot be traced; pass"
    ):
        compiled(mx.ones(2), Settings(mx.ones(2)))
    with pytest.raises(TypeError, match=r"^\[compile\] got int, expected a function"):
        mx.compile(3)


def test_the_cache_is_bounded():
    traced = Traces(lambda x, constant: x * constant)
    x = mx.ones(1)
    for constant in range(300):
        traced(x, constant)
    assert traced.count == 300
    traced(x, 299)
    assert traced.count == 300
    traced(x, 0)
    assert traced.count == 301


def test_a_function_takes_its_graphs_along():
    class Owner:
        def __init__(self):
            self.weight = mx.ones(3)
            self.call = mx.compile(self.forward)

        def forward(self, x):
            return x * self.weight

    owner = Owner()
    assert owner.call(mx.ones(3)).tolist() == [1, 1, 1]
    gone = weakref.ref(owner)
    del owner
    gc.collect()
    assert gone() is None


def test_other_outputs_than_arrays():
    outputs = mx.compile(lambda x: {"a": (x, 3), "b": "y", "c": None, "d": Pair(x, [x])})(
        mx.ones(1)
    )
    assert outputs["a"][1] == 3
    assert outputs["b"] == "y"
    assert outputs["c"] is None
    assert isinstance(outputs["d"], Pair)


def test_state_of_every_form():
    """One array, tuples, dicts in lists: what the function makes of them stays."""
    counter = mx.array(1.0)
    state = [{"a": mx.array(2.0)}, (mx.array(3.0),)]
    read = [counter, state]

    def step(x):
        state[0]["a"] = state[0]["a"] * x
        state[0]["new"] = x
        return read[0] + x

    compiled = mx.compile(step, inputs=read, outputs=state)
    with pytest.raises(ValueError, match="has no value"):
        mx.compile(lambda x: x.item(), inputs=counter, outputs=state)(mx.array(1.0))
    assert counter.item() == 1.0
    assert compiled(mx.array(2.0)).item() == 3.0
    assert (state[0]["a"].item(), state[0]["new"].item()) == (4.0, 2.0)
    read[0] = mx.array(5.0)
    assert compiled(mx.array(3.0)).item() == 8.0
    assert (state[0]["a"].item(), state[0]["new"].item(), state[1][0].item()) == (12.0, 3.0, 3.0)


def test_a_failed_call_changes_nothing():
    state = {"a": mx.array(1.0), "b": [mx.array(2.0)]}

    def step(x):
        state["a"] = state["a"] + x
        state["b"][0] = x
        raise RuntimeError("stop")

    with pytest.raises(RuntimeError, match="stop"):
        mx.compile(step, inputs=state, outputs=state)(mx.array(1.0))
    assert state["a"].item() == 1.0
    assert state["b"][0].item() == 2.0
    with pytest.raises(RuntimeError, match="stop"):
        mx.compile(step, outputs=state)(mx.array(1.0))
    assert state["a"].item() == 1.0
    assert state["b"][0].item() == 2.0


def test_errors_point_at_the_line():
    def body(x):
        y = x * 2
        return y if y.sum() > 0 else x

    with pytest.raises(
        ValueError, match="this array has no value: it is traced by compile"
    ) as raised:
        mx.compile(body)(mx.ones(2))
    lines = [entry.frame.code.name for entry in raised.traceback]
    assert lines[-1] == "body"


def test_what_escapes_has_no_value():
    escaped = []
    mx.compile(lambda x: escaped.append(x + 1) or x)(mx.ones(2))
    with pytest.raises(ValueError, match="compile"):
        mx.eval(escaped[0])


def test_captured_arrays_are_those_of_the_trace():
    weight = mx.array([2.0])
    compiled = mx.compile(lambda x: x * weight)
    assert compiled(mx.array([3.0])).item() == 6.0
    weight[0] = 7.0
    assert compiled(mx.array([3.0])).item() == 6.0


def test_it_goes_by_the_name_of_the_function():
    @mx.compile
    def double(x):
        """Twice x."""
        return 2 * x

    assert (double.__name__, double.__doc__) == ("double", "Twice x.")
    assert double.__wrapped__(3) == 6


def test_writing_into_arrays_from_outside_is_refused():
    """At the line that writes; the function's own arrays, arguments and outputs may be written."""
    outer, total = [mx.zeros(3)], mx.zeros(3)

    def body(x):
        outer[0][0] = x[0]
        return x

    with pytest.raises(ValueError, match=r"^\[compile\].*from outside") as raised:
        mx.compile(body)(mx.ones(3))
    assert [entry.frame.code.name for entry in raised.traceback][-1] == "body"
    assert outer[0].tolist() == [0, 0, 0]

    def allowed(x):
        own = mx.zeros(3)
        own[0] = x[0]
        x[1] = 5
        nonlocal total
        total += own + x
        outer[0][1] = 7
        return own

    compiled = mx.compile(allowed, inputs=total, outputs=total)
    for count in (1, 2):
        assert compiled(mx.ones(3)).tolist() == [1, 0, 0]
        assert total.tolist() == [2 * count, 5 * count, count]


def state_of(value):
    """A state without arrays, which compare element by element."""
    if isinstance(value, dict):
        return {key: state_of(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [state_of(item) for item in value]
    return value.tolist() if isinstance(value, mx.array) else value


def one(value):
    return mx.array(float(value))


def take(s, x):
    return s.pop("b", one(5)) + x


def drop(s, x):
    del s["b"]
    return x


def refill(s, x):
    s["nested"].clear()
    s["nested"]["new"] = x
    return x


def forget(s, x):
    s["a"] = None
    s["nested"] = {"x": x}
    return x


def shift(s, x):
    s["list"].pop(0)
    s["list"][0] = s["list"][0] + x
    return s["list"][-1]


def grow(s, x):
    s["list"].append(x)
    return x


@pytest.mark.parametrize("change", [take, drop, refill, forget, shift, grow])
def test_state_that_loses_and_gains_entries(change):
    """What a call does to the state it does when it is replayed, as the function itself would."""

    def fresh():
        return {
            "a": one(1),
            "b": one(2),
            "nested": {"k": one(3), "l": one(4)},
            "list": [one(5), one(6), one(7)],
        }

    held, plain = fresh(), fresh()
    compiled = mx.compile(lambda x: change(held, x), inputs=held, outputs=held)
    for value in (10, 20):
        assert compiled(one(value)).item() == change(plain, one(value)).item()
        assert state_of(held) == state_of(plain)
        for state in (held, plain):
            state.update(fresh())
            if change in (refill, forget):
                state["nested"].pop("new", None)


@pytest.mark.parametrize("change", [take, drop, refill, forget, shift, grow])
def test_state_is_what_it_was_after_an_error(change):
    held = {"a": one(1), "b": one(2), "nested": {"k": one(3)}, "list": [one(5), one(6)]}
    before, objects = state_of(held), [held["b"], held["nested"], held["list"][0]]

    def failing(x):
        change(held, x)
        raise KeyError("no")

    with pytest.raises(KeyError, match="no"):
        mx.compile(failing, inputs=held, outputs=held)(one(1))
    assert state_of(held) == before
    now = [held["b"], held["nested"], held["list"][0]]
    assert all(a is b for a, b in zip(now, objects, strict=True))


def test_state_that_is_only_read_keeps_its_entries():
    held = {"a": one(1), "b": one(2)}
    compiled = mx.compile(lambda x: held.pop("b") + x, inputs=held)
    for value in (1, 2):
        assert compiled(one(value)).item() == 2 + value
        assert state_of(held) == {"a": 1, "b": 2}


def test_classes_of_state_see_what_the_function_does_only():
    """Placeholders come and go, and results are put back, past the methods of a dict's class."""

    class Scaled(dict):
        def __setitem__(self, key, value):
            super().__setitem__(key, value * 10)

    held, plain = Scaled(a=one(1)), Scaled(a=one(1))

    def change(s, x):
        s["a"] = s["a"] + x
        return s["a"]

    compiled = mx.compile(lambda x: change(held, x), inputs=held, outputs=held)
    for _ in range(3):
        assert compiled(one(1)).item() == change(plain, one(1)).item()
        assert state_of(held) == state_of(plain)
    read = mx.compile(lambda x: held["a"] + x, inputs=held)
    assert read(one(1)).item() == held["a"].item() + 1
    assert state_of(held) == state_of(plain)

    class Frozen(dict):
        def __setitem__(self, key, value):
            raise TypeError("read only")

    fixed = Frozen(a=one(1))
    assert mx.compile(lambda x: fixed["a"] + x, inputs=fixed)(one(1)).item() == 2
    with pytest.raises(TypeError, match="read only"):
        mx.compile(lambda x: change(fixed, x), inputs=fixed, outputs=fixed)(one(1))
    assert state_of(fixed) == {"a": 1}
