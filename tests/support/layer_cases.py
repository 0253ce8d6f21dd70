"""The layers of `nn_table`: made, called, and their outputs compared."""

import numpy as np
import umber.core as mx
from nn_table import values_of
from umber import nn


def make(case, dtype="float32"):
    mx.random.seed(11)
    options = dict(case.options)
    if case.activation:
        name = "nonlinearity" if case.name == "RNN" else "activation"
        options[name] = getattr(nn, case.activation)
    layer = getattr(nn, case.name)(*case.arguments, **options)
    layer.set_dtype(getattr(mx, dtype))
    return layer.eval() if case.evaluate else layer


def inputs_of(case, dtype="float32"):
    rng = np.random.default_rng(7)
    inputs = [mx.array(values_of(given, rng)) for given in case.inputs]
    return [x.astype(getattr(mx, dtype)) if x.dtype == mx.float32 else x for x in inputs]


def outputs_of(layer, case, inputs):
    mx.random.seed(12)
    y = layer(*inputs, **case.call)
    return list(y) if isinstance(y, tuple) else [y]


def numpy_of(x):
    return np.array(x.astype(mx.float64) if mx.issubdtype(x.dtype, mx.floating) else x)


def assert_near(got, want, tolerance):
    for a, b in zip(got, want, strict=True):
        a, b = numpy_of(a), numpy_of(b)
        assert a.shape == b.shape
        size = max(1.0, float(np.abs(b).max())) if b.size else 1.0
        np.testing.assert_allclose(a, b, rtol=tolerance.relative, atol=tolerance.absolute * size)
