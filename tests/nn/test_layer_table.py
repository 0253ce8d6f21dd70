"""What holds for every layer of the table, without another framework to compare with."""

import copy

import numpy as np
import pytest
import umber.core as mx
from layer_cases import assert_near, inputs_of, make, outputs_of
from nn_table import LAYERS
from tolerances import tolerance_of
from umber.utils import tree_flatten, tree_map

# The same layer in several ways: all shapes and options are in, one seed each.
CASES = pytest.mark.parametrize("case", LAYERS, ids=str)
DIFFERENTIABLE = [case for case in LAYERS if case.differentiable and not case.random]
# Where a kink lies near a point, a finite difference says nothing.
KINKED = {"Step", "HardShrink", "Softshrink"}


@CASES
@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_dtypes_round_what_float64_gives(case, dtype):
    layer, inputs = make(case, dtype), inputs_of(case, dtype)
    wide = make(case, dtype)
    wide.set_dtype(mx.float64)
    wide_inputs = [
        x.astype(mx.float64) if mx.issubdtype(x.dtype, mx.floating) else x for x in inputs
    ]
    got, want = outputs_of(layer, case, inputs), outputs_of(wide, case, wide_inputs)
    assert_near(got, want, tolerance_of(dtype, 2 * case.factor))


@pytest.mark.parametrize(
    "case", [case for case in DIFFERENTIABLE if case.name not in KINKED], ids=str
)
def test_gradients_are_slopes(case):
    """Along a random direction of inputs and parameters, in float64."""
    layer = make(case, "float64")
    rng = np.random.default_rng(5)
    inputs = inputs_of(case, "float64")
    floats = [i for i, x in enumerate(inputs) if x.dtype == mx.float64]
    place = {
        "inputs": [inputs[i] for i in floats],
        "parameters": tree_map(lambda x: x + 0.1, layer.trainable_parameters()),
    }
    direction = tree_map(lambda x: mx.array(rng.normal(size=x.shape)).astype(x.dtype), place)

    def loss(place):
        layer.update(place["parameters"])
        given = list(inputs)
        for i, x in zip(floats, place["inputs"], strict=True):
            given[i] = x
        return sum((mx.sin(3 * y + 1) * y).sum() for y in outputs_of(layer, case, given))

    gradients = mx.grad(loss)(place)
    slope = sum(
        (g * d).sum().item()
        for (_, g), (_, d) in zip(tree_flatten(gradients), tree_flatten(direction), strict=True)
    )
    step = 1e-6
    up = loss(tree_map(lambda x, d: x + step * d, place, direction)).item()
    down = loss(tree_map(lambda x, d: x - step * d, place, direction)).item()
    np.testing.assert_allclose(slope, (up - down) / (2 * step), rtol=1e-5, atol=1e-6)


@CASES
def test_compiled_layers(case):
    layer, inputs = make(case), inputs_of(case)
    want = outputs_of(layer, case, inputs)
    twin = make(case)

    def call(*inputs):
        return outputs_of(twin, case, inputs)

    got = mx.compile(call, inputs=twin.state, outputs=twin.state)(*inputs)
    assert_near(got, want, tolerance_of("float32", 4))
    for (path, a), (_, b) in zip(
        tree_flatten(twin.parameters()), tree_flatten(layer.parameters()), strict=True
    ):
        np.testing.assert_allclose(np.array(a), np.array(b), rtol=1e-5, err_msg=path)


@CASES
def test_copies_and_files(case, tmp_path):
    layer, inputs = make(case), inputs_of(case)
    twin = copy.deepcopy(layer)
    want = outputs_of(layer, case, inputs)
    assert_near(outputs_of(twin, case, inputs), want, tolerance_of("int32"))
    if not tree_flatten(layer.parameters()):
        return
    layer.save_weights(tmp_path / "layer.safetensors")
    other = make(case).apply(mx.zeros_like)
    other.load_weights(tmp_path / "layer.safetensors")
    assert_near(
        [x for _, x in tree_flatten(other.parameters())],
        [x for _, x in tree_flatten(layer.parameters())],
        tolerance_of("int32"),
    )


# Their first axis is none of samples, or they cannot do without.
NO_SAMPLES = {"GLU", "BatchNorm", "ALiBi"}


@pytest.mark.parametrize(
    "case",
    [
        case
        for case in LAYERS
        if case.name not in NO_SAMPLES and len(case.inputs) == 1 and len(case.inputs[0].sizes) > 2
    ],
    ids=str,
)
def test_no_samples(case):
    (x,) = inputs_of(case)
    want = outputs_of(make(case), case, [x])
    for y, full in zip(outputs_of(make(case), case, [x[:0]]), want, strict=True):
        assert y.shape == (0, *full.shape[1:])
        assert y.dtype == full.dtype
