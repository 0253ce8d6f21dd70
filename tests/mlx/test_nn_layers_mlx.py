"""Every layer of the table gives what MLX's gives: parameters, text, outputs, gradients."""

import numpy as np
import pytest
import umber.core as mx
from mlx_trees import assert_same
from nn_table import LAYERS, values_of
from tolerances import gradient_tolerance_of, tolerance_of
from umber import nn
from umber.utils import tree_flatten

mlx = pytest.importorskip("mlx.core")
mlx_nn = pytest.importorskip("mlx.nn")

SHARED = [case for case in LAYERS if case.in_mlx]
CASES = pytest.mark.parametrize("case", SHARED, ids=str)


def make(case, core, layers):
    core.random.seed(11)
    options = dict(case.options)
    if case.activation:
        name = "nonlinearity" if case.name == "RNN" else "activation"
        options[name] = getattr(layers, case.activation)
    layer = getattr(layers, case.name)(*case.arguments, **options)
    return layer.eval() if case.evaluate else layer


def make_both(case):
    """A pair of layers with the same weights, away from the ones and zeros they may begin as."""
    ours, theirs = make(case, mx, nn), make(case, mlx, mlx_nn)
    rng = np.random.default_rng(3)
    weights = {
        path: np.abs(rng.normal(size=x.shape)) if "var" in path else 0.5 * rng.normal(size=x.shape)
        for path, x in sorted(tree_flatten(ours.parameters()))
    }
    ours.load_weights([(p, mx.array(w.astype(np.float32))) for p, w in weights.items()])
    theirs.load_weights([(p, mlx.array(w.astype(np.float32))) for p, w in weights.items()])
    return ours, theirs


def inputs_of(case, core, dtype="float32"):
    rng = np.random.default_rng(7)
    inputs = [core.array(values_of(given, rng)) for given in case.inputs]
    is_float = [x.dtype == core.float32 for x in inputs]
    return [
        x.astype(getattr(core, dtype)) if f else x for x, f in zip(inputs, is_float, strict=True)
    ]


def call(layer, case, core, inputs):
    core.random.seed(12)
    return layer(*inputs, **case.call)


@CASES
def test_parameters_and_text(case):
    ours, theirs = make(case, mx, nn), make(case, mlx, mlx_nn)
    assert [path for path, _ in tree_flatten(ours.parameters())] == [
        path for path, _ in tree_flatten(theirs.parameters())
    ]
    assert [path for path, _ in tree_flatten(ours.trainable_parameters())] == [
        path for path, _ in tree_flatten(theirs.trainable_parameters())
    ]
    # The same seed gives the same weights.
    assert_same(
        ours.parameters(), theirs.parameters(), tolerance_of("float32", 0.2 if case.normal else 0)
    )
    if case.name not in ("RNN", "Dropout", "Dropout2d", "Dropout3d"):
        assert repr(ours) == repr(theirs)


def cases_and_dtypes():
    for case in SHARED:
        for dtype in ("float32", "float16", "bfloat16") if case.floating else ("float32",):
            yield pytest.param(case, dtype, id=f"{case}-{dtype}")


@pytest.mark.parametrize(("case", "dtype"), list(cases_and_dtypes()))
def test_outputs(case, dtype):
    ours, theirs = make_both(case)
    ours.set_dtype(getattr(mx, dtype))
    theirs.set_dtype(getattr(mlx, dtype))
    y = call(ours, case, mx, inputs_of(case, mx, dtype))
    z = call(theirs, case, mlx, inputs_of(case, mlx, dtype))
    assert type(y).__name__ == type(z).__name__
    # Halves round after every operation in MLX.
    assert_same(
        {"y": y}, {"y": z}, tolerance_of(dtype, case.factor * (4 if dtype == "float32" else 2))
    )
    # What a call changes: running averages.
    assert_same(ours.parameters(), theirs.parameters(), tolerance_of(dtype, 4))


@pytest.mark.parametrize("case", [case for case in SHARED if case.differentiable], ids=str)
def test_gradients(case):
    ours, theirs = make_both(case)

    def gradients(core, layers, layer):
        floats = [x for x in inputs_of(case, core) if x.dtype == core.float32]
        others = [x for x in inputs_of(case, core) if x.dtype != core.float32]

        def loss(*floats):
            y = call(layer, case, core, [*floats, *others])
            outputs = y if isinstance(y, tuple) else (y,)
            return sum((core.sin(3 * part + 1) * part).sum() for part in outputs)

        by_inputs = core.grad(loss, argnums=list(range(len(floats))))(*floats)
        if not tree_flatten(layer.trainable_parameters()):
            return {"inputs": by_inputs}
        _, by_parameters = layers.value_and_grad(layer, loss)(*floats)
        return {"inputs": by_inputs, "parameters": by_parameters}

    assert_same(
        gradients(mx, nn, ours),
        gradients(mlx, mlx_nn, theirs),
        gradient_tolerance_of("float32", case.factor),
    )
