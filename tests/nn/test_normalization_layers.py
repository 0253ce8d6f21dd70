"""Batch, group and instance normalisation against their formulas in NumPy."""

import numpy as np
import pytest
import umber.core as mx
from umber import nn, optimizers

F32 = np.float32
SHAPES = [(8, 6), (3, 5, 6), (2, 4, 3, 6), (2, 2, 3, 2, 6)]


def normal(x, axes, eps=1e-5):
    return (x - x.mean(axis=axes, keepdims=True)) / np.sqrt(x.var(axis=axes, keepdims=True) + eps)


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("affine", [True, False])
def test_batch_norm(shape, affine, rng):
    layer = nn.BatchNorm(6, eps=1e-3, momentum=0.3, affine=affine)
    layer.set_dtype(mx.float64)
    x = rng.normal(size=shape) * 3 + 5
    axes = tuple(range(len(shape) - 1))
    expected = normal(x, axes, 1e-3)
    if affine:
        weight, bias = rng.normal(size=6), rng.normal(size=6)
        layer.update({"weight": mx.array(weight), "bias": mx.array(bias)})
        expected = expected * weight + bias
    np.testing.assert_allclose(np.array(layer(mx.array(x))), expected, rtol=1e-10)
    mean, var = 0.3 * x.mean(axis=axes), 0.7 + 0.3 * x.var(axis=axes, ddof=1)
    np.testing.assert_allclose(np.array(layer.running_mean), mean, rtol=1e-10)
    np.testing.assert_allclose(np.array(layer.running_var), var, rtol=1e-10)

    layer.eval()
    expected = (x - mean) / np.sqrt(var + 1e-3)
    if affine:
        expected = expected * weight + bias
    np.testing.assert_allclose(np.array(layer(mx.array(x))), expected, rtol=1e-10)
    np.testing.assert_allclose(np.array(layer.running_mean), mean, rtol=1e-10)


def test_running_averages_are_not_trained():
    layer = nn.BatchNorm(3)
    assert list(layer.parameters()) == ["weight", "bias", "running_mean", "running_var"]
    assert list(layer.trainable_parameters()) == ["weight", "bias"]
    assert layer.unfreeze() is layer
    layer.unfreeze(keys=["running_mean"])
    assert list(layer.trainable_parameters()) == ["weight", "bias"]
    model = nn.Sequential(layer).freeze().unfreeze()
    assert list(model.trainable_parameters()["layers"][0]) == ["weight", "bias"]
    assert list(nn.BatchNorm(3, track_running_stats=False).parameters()) == ["weight", "bias"]


def test_training_moves_the_running_averages(rng):
    model = nn.Sequential(nn.BatchNorm(3), nn.Linear(3, 1))
    x = mx.array((rng.normal(size=(64, 3)) * 2 + 7).astype(F32))
    optimizer = optimizers.SGD(0.01)
    loss = nn.value_and_grad(model, lambda x: model(x).square().mean())
    for _ in range(100):
        _, gradients = loss(x)
        optimizer.update(model, gradients)
        mx.eval(model.state, optimizer.state)
    norm = model.layers[0]
    np.testing.assert_allclose(np.array(norm.running_mean), np.array(x).mean(axis=0), rtol=1e-3)
    np.testing.assert_allclose(
        np.array(norm.running_var), np.array(x).var(axis=0, ddof=1), rtol=1e-3
    )
    assert set(gradients["layers"][0]) == {"weight", "bias"}


def test_batches_may_be_small_where_nothing_is_tracked():
    one = mx.full((1, 3), 4.0)
    with pytest.raises(
        ValueError, match=r"^\[BatchNorm\] .*\(1, 3\), expected more than one value"
    ):
        nn.BatchNorm(3)(one)
    assert nn.BatchNorm(3).eval()(one).shape == (1, 3)
    assert nn.BatchNorm(3, track_running_stats=False)(one).tolist() == [[0.0] * 3]


def test_batch_norm_of_halves_is_computed_in_float32(rng):
    x = (rng.normal(size=(16, 3)) * 20000).astype(np.float16)
    layer = nn.BatchNorm(3)
    layer.set_dtype(mx.float16)
    y = layer(mx.array(x))
    assert y.dtype == mx.float16
    np.testing.assert_allclose(np.array(y), normal(x.astype(np.float64), 0), atol=2e-3)
    assert layer.running_mean.dtype == mx.float16


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("groups", [1, 2, 3, 6])
@pytest.mark.parametrize("pytorch_compatible", [True, False])
def test_group_norm(shape, groups, pytorch_compatible, rng):
    layer = nn.GroupNorm(groups, 6, eps=1e-2, pytorch_compatible=pytorch_compatible)
    layer.set_dtype(mx.float64)
    weight, bias = rng.normal(size=6), rng.normal(size=6)
    layer.update({"weight": mx.array(weight), "bias": mx.array(bias)})
    x = rng.normal(size=shape) * 3 + 5
    expected = np.empty_like(x)
    for group in range(groups):
        size = 6 // groups
        features = range(group * size, (group + 1) * size)
        if not pytorch_compatible:
            features = range(group, 6, groups)
        part = x[..., list(features)]
        expected[..., list(features)] = normal(part, tuple(range(1, x.ndim)), 1e-2)
    y = layer(mx.array(x))
    np.testing.assert_allclose(np.array(y), expected * weight + bias, rtol=1e-10)


@pytest.mark.parametrize("shape", SHAPES[1:])
@pytest.mark.parametrize("affine", [True, False])
def test_instance_norm(shape, affine, rng):
    layer = nn.InstanceNorm(6, eps=1e-2, affine=affine)
    layer.set_dtype(mx.float64)
    x = rng.normal(size=shape) * 3 + 5
    expected = normal(x, tuple(range(1, x.ndim - 1)), 1e-2)
    if affine:
        layer.update({"weight": mx.full((6,), 2.0), "bias": mx.full((6,), 3.0)})
        expected = expected * 2 + 3
    np.testing.assert_allclose(np.array(layer(mx.array(x))), expected, rtol=1e-6)


BROADCASTING = {
    "GroupNorm": (lambda affine: nn.GroupNorm(1, 6, affine=affine), 2),
    "GroupNorm of neighbours": (
        lambda affine: nn.GroupNorm(1, 6, affine=affine, pytorch_compatible=True),
        2,
    ),
    "BatchNorm": (lambda affine: nn.BatchNorm(6, affine=affine), 2),
    "BatchNorm untracked": (
        lambda affine: nn.BatchNorm(6, affine=affine, track_running_stats=False),
        2,
    ),
    "InstanceNorm": (lambda affine: nn.InstanceNorm(6, affine=affine), 3),
}


@pytest.mark.parametrize("shape", [(8, 1), (3, 5, 1), (2, 4, 3, 1)])
@pytest.mark.parametrize("affine", [True, False])
@pytest.mark.parametrize("name", BROADCASTING)
def test_one_channel_is_broadcast(name, affine, shape, rng):
    """As in MLX, whose layers multiply by all their weights whatever the input has."""
    make, axes = BROADCASTING[name]
    if len(shape) < axes:
        pytest.skip("too few axes")
    layer, x = make(affine), rng.normal(size=shape) * 3 + 5
    layer.set_dtype(mx.float64)
    over = range(len(shape) - 1) if "Batch" in name else range(1, len(shape) - 1)
    expected = normal(x, tuple(over)) if over else np.zeros(shape)
    weight, bias = rng.normal(size=6), rng.normal(size=6)
    if affine:
        layer.update({"weight": mx.array(weight), "bias": mx.array(bias)})
    given = mx.array(x)
    scaled = expected * weight + bias if affine else expected
    np.testing.assert_allclose(np.array(layer(given)), scaled, rtol=1e-9, atol=1e-12)
    if name != "BatchNorm":
        np.testing.assert_allclose(np.array(layer.eval()(given)), scaled, rtol=1e-9, atol=1e-12)
        return
    mean, var = 0.1 * x.mean(), 0.9 + 0.1 * x.var(ddof=1)
    np.testing.assert_allclose(np.array(layer.running_mean), [mean] * 6, rtol=1e-9)
    np.testing.assert_allclose(np.array(layer.running_var), [var] * 6, rtol=1e-9)
    expected = np.broadcast_to((x - mean) / np.sqrt(var + 1e-5), (*shape[:-1], 6))
    scaled = expected * weight + bias if affine else expected
    np.testing.assert_allclose(np.array(layer.eval()(given)), scaled, rtol=1e-9)


def test_they_say_what_they_are():
    assert repr(nn.BatchNorm(4, affine=False)) == (
        "BatchNorm(4, eps=1e-05, momentum=0.1, affine=False, track_running_stats=True)"
    )
    assert repr(nn.GroupNorm(2, 4)) == (
        "GroupNorm(2, 4, eps=1e-05, affine=True, pytorch_compatible=False)"
    )
    assert repr(nn.InstanceNorm(4)) == "InstanceNorm(4, eps=1e-05, affine=False)"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: nn.BatchNorm(3)(mx.ones((3,))), r"\[BatchNorm\] got an input with the shape \(3,"),
        (lambda: nn.BatchNorm(3)(mx.ones((2, 4))), r"\[BatchNorm\] .* expected \(N, \.\.\., 3\)"),
        (lambda: nn.GroupNorm(3, 4), r"\[GroupNorm\] dims 4 must be divisible by num_groups 3"),
        (lambda: nn.GroupNorm(0, 4), r"\[GroupNorm\] dims 4 must be divisible by num_groups 0"),
        (
            lambda: nn.GroupNorm(2, 4)(mx.ones((2, 6))),
            r"\[GroupNorm\] .* expected \(N, \.\.\., 4\)",
        ),
        (
            lambda: nn.GroupNorm(2, 4)(mx.ones((2, 6, 1))),
            r"\[GroupNorm\] .* expected \(N, \.\.\., 4\)",
        ),
        (
            lambda: nn.GroupNorm(1, 1)(mx.ones((2, 6, 4))),
            r"\[GroupNorm\] .* expected \(N, \.\.\., 1\)",
        ),
        (lambda: nn.BatchNorm(1)(mx.ones((2, 4))), r"\[BatchNorm\] .* expected \(N, \.\.\., 1\)"),
        (lambda: nn.LayerNorm(4)(mx.ones((2, 1))), r"\[LayerNorm\] .* got size 1, expected 4"),
        (lambda: nn.RMSNorm(4)(mx.ones((2, 1))), r"\[RMSNorm\] .* got size 1, expected 4"),
        (lambda: nn.InstanceNorm(4)(mx.ones((2, 4))), r"\[InstanceNorm\] .* at least 3 axes"),
        (
            lambda: nn.InstanceNorm(3, affine=True)(mx.ones((2, 2, 4))),
            r"\[InstanceNorm\] the input's last axis: got size 4, expected 3",
        ),
    ],
)
def test_they_refuse(call, message):
    with pytest.raises(ValueError, match=f"^{message}"):
        call()


def test_batch_norm_without_momentum_is_not_trained():
    layer = nn.BatchNorm(4, momentum=None)
    x = mx.random.normal((3, 4))
    assert mx.allclose(layer.eval()(x), x, atol=1e-4)
    with pytest.raises(
        TypeError, match=r"\[BatchNorm\] momentum must be a number while training, not None"
    ):
        layer.train()(x)
