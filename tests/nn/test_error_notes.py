"""Exceptions from a model name the module that raised."""

import contextlib
import copy
import functools
import gc
import inspect
import pickle
import traceback
import weakref

import pytest
import umber.core as mx
from umber import nn
from umber.nn.layers import error_notes


class Attention(nn.Module):
    def __init__(self):
        super().__init__()
        self.projections = {"q": nn.Linear(4, 8), "k": (nn.Linear(4, 8),)}

    def __call__(self, x, *, mask=None):
        return self.projections["q"](x) + self.projections["k"][0](x)


class Block(nn.Module):
    def __init__(self, attention):
        super().__init__()
        self.attention = attention

    def __call__(self, x):
        return self.attention(x + 1, mask=None)


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = [nn.ReLU(), nn.Sequential(nn.Tanh(), Block(Attention()))]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x


BAD = mx.ones((2, 5))
PATH = "layers.1.layers.1.attention.projections.q"
NOTE = (
    f"in {PATH} of Model: Linear(input_dims=4, output_dims=8, bias=True), "
    "with x of shape (2, 5) and dtype float32"
)


def notes_of(call, kind=Exception):
    with pytest.raises(kind) as caught:
        call()
    return getattr(caught.value, "__notes__", [])


def test_the_note():
    model = Model()
    assert notes_of(lambda: model(BAD), ValueError) == [NOTE]
    assert notes_of(lambda: model.layers[1](BAD), ValueError) == [
        NOTE.replace("in layers.1.", "in ").replace("Model", "Sequential")
    ]
    with pytest.raises(
        ValueError, match=r"^\[Linear\] got an input with the shape \(2, 5\), expected"
    ):
        model(BAD)


@pytest.mark.parametrize(
    "transform",
    [
        lambda model: model,
        lambda model: nn.value_and_grad(model, lambda x: model(x).sum()),
        lambda model: mx.grad(lambda x: model(x).sum()),
        lambda model: mx.compile(model, inputs=model.state),
        lambda model: mx.compile(lambda x: model(x)),
        lambda model: lambda x: nn.functional_call(model, {}, x),
        lambda model: lambda x: nn.summary(model, x),
        lambda model: lambda x: mx.eval_shape(model, x),
        lambda model: nn.utils.checkpoint(model),
        lambda model: lambda x: mx.vmap(model)(x[None]),
        lambda model: lambda x: copy.deepcopy(model)(x),
        lambda model: lambda x: pickle.loads(pickle.dumps(model))(x),
    ],
)
def test_under_transforms(transform):
    assert notes_of(lambda: transform(Model())(BAD), ValueError) == [NOTE]


def test_a_module_by_itself_has_no_note():
    class Leaf(nn.Module):
        def __init__(self):
            super().__init__()
            self.weight = mx.ones((4, 8))
            self.sizes = (4, 8)

        def __call__(self, x):
            return x @ self.weight

    assert notes_of(lambda: nn.Linear(4, 8)(BAD)) == []
    assert notes_of(lambda: Leaf()(BAD)) == []
    assert not hasattr(Leaf.__call__, "__wrapped__")
    (note,) = notes_of(lambda: nn.Sequential(Leaf())(BAD))
    assert note.startswith("in layers.0 of Sequential: Leaf(), with x of shape (2, 5)")


class Raises(nn.Module):
    def __init__(self, error):
        super().__init__()
        self.error = error

    def _extra_repr(self):
        return "always"

    def __call__(self, x, scale=None):
        raise self.error


def test_exceptions_of_other_classes_and_with_notes():
    class Mine(Exception):
        pass

    error = Mine("text")
    error.add_note("first")
    model = nn.Sequential(nn.Sequential(nn.ReLU(), Raises(error)))
    note = "in layers.0.layers.1 of Sequential: Raises(always), with x of shape (2, 5) and dtype"
    notes = notes_of(lambda: model(BAD), Mine)
    assert notes[0] == "first"
    assert notes[1].startswith(note)
    assert len(notes) == 2
    twin = pickle.loads(pickle.dumps(ValueError("a"), 2))
    assert notes_of(lambda: nn.Sequential(Raises(twin))(1)) == [
        "in layers.0 of Sequential: Raises(always)"
    ]
    assert str(pickle.loads(pickle.dumps(twin))) == "a"
    assert notes_of(lambda: nn.Sequential(Raises(KeyboardInterrupt()))(1), KeyboardInterrupt) == []


def test_what_the_model_itself_raises():
    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(4, 4)

        def __call__(self, x):
            y = self.layer(x)
            return y @ y

    assert notes_of(lambda: Outer()(mx.ones((2, 4)))) == []
    (note,) = notes_of(lambda: nn.Sequential(nn.Linear(4, 4), Outer())(mx.ones((2, 4))))
    assert note.startswith("in layers.1 of Sequential: Outer(), with x of shape (2, 4)")


def test_modules_that_are_not_in_the_tree():
    hidden = nn.Linear(4, 8)
    model = nn.Sequential(nn.Sequential(lambda x: hidden(x)))
    (note,) = notes_of(lambda: model(BAD))
    assert note.startswith("in layers.0 of Sequential: Sequential(), with x of")


def test_exceptions_that_a_module_replaces_or_handles():
    class Careful(nn.Module):
        def __init__(self, replace):
            super().__init__()
            self.layer = nn.Sequential(nn.Linear(4, 8))
            self.replace = replace

        def __call__(self, x):
            try:
                return self.layer(x)
            except ValueError as error:
                if self.replace:
                    raise RuntimeError("other") from error
                return x

    assert nn.Sequential(Careful(False))(BAD) is BAD
    (note,) = notes_of(lambda: nn.Sequential(Careful(True))(BAD), RuntimeError)
    assert note.startswith("in layers.0 of Sequential: Careful(), with x")


def test_a_repr_that_fails_hides_nothing():
    class Odd(Raises):
        def _extra_repr(self):
            raise RuntimeError("no repr")

    assert notes_of(lambda: nn.Sequential(Odd(KeyError("mine")))(1), KeyError) == []


def signatures():
    def plain(self, x):
        return x

    def defaults(self, x, y=2, *, z=3):
        return x, y, z

    def positional(self, x, /, y=1):
        return x, y

    def anything(self, *args, key=1, **kwargs):
        return args, key, kwargs

    def only_others(self, **others):
        return others

    def keywords(self, *, first, second=2):
        return first, second

    return [plain, defaults, positional, anything, only_others, keywords]


def outcome(function, args, kwargs):
    """The result, or the text of the error without the name of the function."""
    try:
        return function(*args, **kwargs)
    except TypeError as error:
        return str(error).partition("()")[2]


@pytest.mark.parametrize("function", signatures(), ids=lambda function: function.__name__)
def test_signatures(function):
    plain = type("Plain", (nn.Module,), {"__call__": function})
    holder = type("Holder", (nn.Module,), {"__call__": function})
    model = holder()
    model.inner = nn.ReLU()
    assert holder.__call__.__wrapped__ is function
    assert inspect.signature(holder.__call__) == inspect.signature(function)
    for args, kwargs in (
        ((1,), {}),
        ((1, 5), {}),
        ((1,), {"y": 7}),
        ((1,), {"y": 7, "z": 8}),
        ((), {"x": 7}),
        ((), {"first": 1}),
        ((1, 2, 3), {"key": 4, "w": 5}),
        ((), {"w": 5, "key": 1}),
    ):
        assert outcome(model, args, kwargs) == outcome(plain(), args, kwargs)


def test_methods_that_are_left_alone():
    class Compiled(nn.Module):
        @functools.partial(mx.compile)
        def __call__(self, x):
            return x

    class Static(nn.Module):
        def __call__(*args):
            return args

    for kind in (Compiled, Static):
        before = vars(kind)["__call__"]
        model = kind()
        model.inner = nn.ReLU()
        assert vars(kind)["__call__"] is before


def test_inherited_calls():
    class Base(nn.Module):
        def __call__(self, x):
            return self.layer(x)

    class Derived(Base):
        pass

    class Extended(Base):
        def __call__(self, x):
            return super().__call__(x)

    for kind in (Derived, Extended):
        model = kind()
        model.layer = nn.Linear(4, 8)
        (note,) = notes_of(lambda model=model: nn.Sequential(model)(BAD))
        assert note.startswith("in layers.0.layer of Sequential: Linear(")
        (note,) = notes_of(lambda model=model: model(BAD))
        assert note.startswith(f"in layer of {kind.__name__}: Linear(")
    assert "__call__" not in vars(Derived)


def test_the_traceback_has_one_more_frame():
    with pytest.raises(ValueError, match=r"\[Linear\]") as caught:
        Model()(BAD)
    frames = traceback.extract_tb(caught.value.__traceback__)
    wrappers = [frame for frame in frames if frame.filename == error_notes.__file__]
    assert [frame.line for frame in wrappers] == ["return _function({arguments})"]
    assert [frame.name for frame in frames].count("__call__") == 6


def test_exceptions_are_in_no_cycle():
    model = Model()
    reference = weakref.ref(model)
    gc.collect()
    gc.disable()
    try:
        with contextlib.suppress(ValueError):
            model(BAD)
        del model
        assert reference() is None
    finally:
        gc.enable()
