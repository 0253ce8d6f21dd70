"""Pickles that MLX 0.32.4 wrote are read under the import hook: arrays, modules, optimizers.

`tests/mlx/mlx_objects.pickle` is a dict: `arrays` of each dtype, with `lists` of what they hold;
`shapes`; a `model` that gave `y` of `x`, whose `frozen` parameters had been left out; a layer
`small` with its optimizer `sgd`, whose next step by `grads` leads to `after`; and `classes`.
"""

import pickle
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest
import umber.core as mx
from umber import nn

FILE = Path(__file__).parent / "mlx_objects.pickle"


def run(code):
    head = f"""
        import pickle, umber.mlx
        umber.mlx.install()
        import mlx.core as mx, mlx.nn as nn, mlx.optimizers as optim
        from mlx.utils import tree_flatten
        found = pickle.load(open({str(FILE)!r}, "rb"))
    """
    code = textwrap.dedent(head) + textwrap.dedent(code)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr


def test_arrays_of_every_dtype():
    run(
        """
        assert len(found["arrays"]) == 14
        for name, array in found["arrays"].items():
            assert array.dtype == getattr(mx, name) and type(array) is mx.array
            assert array.tolist() == found["lists"][name], name
            assert (array == array).all() and array[1:].shape == (3,)
        shapes = found["shapes"]
        assert shapes["scalar"].item() == 3 and shapes["empty"].shape == (0, 3)
        assert shapes["transposed"].tolist() == [[0, 3], [1, 4], [2, 5]]
        assert found["cpu"] is mx.cpu and found["kind"] is mx.floating
        """
    )


def test_modules_and_optimizers():
    run(
        """
        model, x = found["model"], found["x"]
        assert mx.allclose(model(x), mx.array(found["y"]), atol=1e-4)
        assert sorted(dict(tree_flatten(model.trainable_parameters()))) == found["frozen"]
        assert not model.training
        found["sgd"].update(found["small"], found["grads"])
        for name, values in found["after"].items():
            assert mx.allclose(found["small"][name], mx.array(values), atol=1e-6), name
        adam = found["adam"]
        gradients = model.trainable_parameters()
        adam.update(model, gradients)
        assert adam.state["step"].item() == 1
        assert found["classes"] == [nn.Linear, nn.LSTM, optim.Adam, nn.losses.mse_loss]
        """
    )


@pytest.mark.parametrize(
    ("layer", "x"),
    [
        (nn.Embedding(5, 2), mx.array([1, 4])),
        (nn.Conv3d(1, 2, 1), mx.ones((1, 2, 2, 2, 1))),
        (nn.RNN(2, 3), mx.ones((1, 4, 2))),
        (nn.LSTM(2, 3), mx.ones((1, 4, 2))),
        (nn.GRU(2, 3), mx.ones((1, 4, 2))),
    ],
    ids=lambda value: type(value).__name__,
)
def test_attributes_that_layers_of_mlx_have_not(layer, x):
    wanted = layer(x)
    for name in ("padding_idx", "groups", "num_layers", "bidirectional"):
        layer.__dict__.pop(name, None)
    repr(layer)
    for got, want in zip(layer(x), wanted, strict=True):
        assert mx.array_equal(got, want)


def test_attributes_have_the_names_of_mlx():
    assert nn.LeakyReLU(0.5)._negative_slope == 0.5
    assert nn.ELU(2.0)._alpha == nn.CELU(2.0)._alpha == 2.0
    assert nn.GELU("fast")._approx == "fast"


def test_what_is_no_state_is_refused():
    for state in (("x", 7), ([1, 2], 99), ([1, 2], 12), 3, (), ([1, 2], 0)):
        array = mx.array([1, 2])
        with pytest.raises((TypeError, ValueError)):
            array.__setstate__(state)
        assert array.tolist() == [1, 2]


def test_an_array_without_a_value_is_made_by_pickle_alone():
    with pytest.raises(TypeError, match=r"\[array\] got no argument val"):
        mx.array()
    text = b"cumber.core\narray\n)\x81."
    assert pickle.loads(text).shape == (0,)

    class Own(mx.array):
        def __new__(cls):
            return super().__new__(cls, [1, 2])

    assert Own().tolist() == [1, 2]
