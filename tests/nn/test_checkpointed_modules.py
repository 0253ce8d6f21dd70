"""`nn.utils.checkpoint` as a Python object: metadata, methods, pickles."""

import copy
import functools
import inspect
import pickle
import warnings

import pytest
import umber.core as mx
from umber import nn

X = mx.ones((2, 3))
MODEL = nn.Linear(3, 2)


def doubled(x, scale=2.0):
    """Twice the model."""
    return MODEL(x) * scale


doubled.rank = 3


def test_metadata_is_that_of_the_function():
    function = nn.utils.checkpoint(MODEL, doubled)
    assert function.__name__ == "doubled"
    assert function.__doc__ == "Twice the model."
    assert function.__wrapped__ is doubled
    assert function.rank == 3
    assert inspect.signature(function) == inspect.signature(doubled)
    assert repr(function) == "<checkpoint of doubled>"
    assert mx.array_equal(function(X, scale=3.0), MODEL(X) * 3.0)


def test_metadata_of_a_module():
    function = nn.utils.checkpoint(MODEL)
    assert function.__wrapped__ is MODEL
    assert [*inspect.signature(function).parameters] == ["x"]
    assert repr(function) == "<checkpoint of Linear>"
    assert not hasattr(function, "_training")
    partial = nn.utils.checkpoint(MODEL, functools.partial(doubled, scale=4.0))
    assert mx.array_equal(partial(X), MODEL(X) * 4.0)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda f: pickle.loads(pickle.dumps(f))])
@pytest.mark.parametrize("arguments", [(MODEL,), (MODEL, doubled), (MODEL, MODEL.__call__)])
def test_copies_and_pickles(copied, arguments):
    function = nn.utils.checkpoint(*arguments)
    expected = mx.grad(lambda x: function(x).sum())(X)
    again = copied(function)
    assert mx.array_equal(again(X), function(X))
    assert mx.array_equal(mx.grad(lambda x: again(x).sum())(X), expected)


def test_what_cannot_be_pickled_says_so():
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(nn.utils.checkpoint(MODEL, lambda x: x))


def test_methods():
    class Scaled:
        factor = 5.0

        @functools.partial(nn.utils.checkpoint, MODEL)
        def apply(self, x):
            return MODEL(x) * self.factor

    assert mx.array_equal(Scaled().apply(X), MODEL(X) * 5.0)
    assert Scaled.apply.__name__ == "apply"


def test_one_as_attribute_of_a_module():
    class Outer(nn.Module):
        def __init__(self):
            super().__init__()
            self.inner = nn.Linear(3, 2)
            self.run = nn.utils.checkpoint(self.inner)

        def __call__(self, x):
            return self.run(x)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = Outer()
    assert [*model.parameters()] == ["inner"]
    _, gradients = nn.value_and_grad(model, lambda x: model(x).sum())(X)
    assert gradients["inner"]["weight"].tolist() == [[2.0] * 3] * 2
    with pytest.raises(ValueError, match=r"^\[Linear\] ") as caught:
        model(mx.ones((2, 4)))
    assert caught.value.__notes__[0].startswith("in inner of Outer: Linear(")
