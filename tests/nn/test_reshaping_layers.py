"""`Flatten` and `Unflatten` against NumPy's `reshape`."""

import numpy as np
import pytest
import umber.core as mx
from umber import nn

X = np.arange(120, dtype=np.float32).reshape(2, 3, 4, 5)


@pytest.mark.parametrize(
    ("arguments", "shape"),
    [
        ((), (2, 60)),
        ((0,), (120,)),
        ((1, 2), (2, 12, 5)),
        ((-2,), (2, 3, 20)),
        ((0, -2), (24, 5)),
        ((2, 2), (2, 3, 4, 5)),
    ],
)
def test_flatten(arguments, shape):
    layer = nn.Flatten(*arguments)
    y = layer(mx.array(X))
    np.testing.assert_array_equal(np.array(y), X.reshape(shape))
    transposed = layer(mx.array(X.T.copy()).T)
    np.testing.assert_array_equal(np.array(transposed), X.reshape(shape))


@pytest.mark.parametrize(
    ("axis", "lengths", "shape"),
    [
        (2, (2, 2), (2, 3, 2, 2, 5)),
        (-1, (-1, 1), (2, 3, 4, 5, 1)),
        (0, 2, (2, 3, 4, 5)),
        (1, [3, 1, -1], (2, 3, 1, 1, 4, 5)),
    ],
)
def test_unflatten(axis, lengths, shape):
    y = nn.Unflatten(axis, lengths)(mx.array(X))
    np.testing.assert_array_equal(np.array(y), X.reshape(shape))


def test_they_undo_each_other():
    x = mx.array(X)
    model = nn.Sequential(nn.Flatten(), nn.Unflatten(1, X.shape[1:]))
    assert mx.array_equal(model(x), x)
    gradient = mx.grad(lambda x: (model(x) * x).sum())(x)
    np.testing.assert_array_equal(np.array(gradient), 2 * X)
    batched = mx.vmap(nn.Flatten())(x)
    np.testing.assert_array_equal(np.array(batched), X.reshape(2, 3, 20))


def test_no_elements_and_no_axes():
    assert nn.Flatten()(mx.zeros((0, 3, 4))).shape == (0, 12)
    assert nn.Flatten(0)(mx.array(3.0)).shape == (1,)
    assert nn.Unflatten(1, (2, -1))(mx.zeros((0, 6))).shape == (0, 2, 3)


def test_repr():
    assert repr(nn.Flatten()) == "Flatten(start_axis=1, end_axis=-1)"
    assert repr(nn.Unflatten(1, np.array([2, -1]))) == "Unflatten(axis=1, shape=(2, -1))"


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: nn.Flatten("a"), TypeError, r"^\[Flatten\] start_axis: got str, expected an int"),
        (lambda: nn.Flatten()(mx.zeros(3)), ValueError, r"^\[flatten\] "),
        (lambda: nn.Unflatten(1.5, 2), TypeError, r"^\[Unflatten\] axis: got 1\.5"),
        (
            lambda: nn.Unflatten(1, (2, 1.5)),
            TypeError,
            r"^\[Unflatten\] shape: got \(2, 1\.5\), ex",
        ),
        (lambda: nn.Unflatten(1, None), TypeError, r"^\[Unflatten\] shape: got None, expected int"),
        (lambda: nn.Unflatten(1, ()), ValueError, r"^\[Unflatten\] shape: got \(\), expected leng"),
        (lambda: nn.Unflatten(1, (-1, -1)), ValueError, r"^\[Unflatten\] shape: got \(-1, -1\)"),
        (lambda: nn.Unflatten(1, (-2, 3)), ValueError, r"^\[Unflatten\] shape: got \(-2, 3\)"),
        (lambda: nn.Unflatten(1, (2, 3))(mx.zeros((2, 7))), ValueError, r"^\[unflatten\] "),
        (lambda: nn.Unflatten(3, 1)(mx.zeros((2, 7))), mx.AxisError, r"^\[unflatten\] "),
    ],
)
def test_wrong_calls(call, error, message):
    with pytest.raises(error, match=message):
        call()
