"""`stop_gradient`: derivatives do not pass through it, whatever is behind it."""

import pytest
import umber.core as mx

STOPPED = {
    "gamma": lambda a, b: mx.random.gamma(a, key=mx.random.key(0)),
    "gamma of a shape": lambda a, b: mx.random.gamma(a, shape=(3, 2), key=mx.random.key(0)),
    "beta": lambda a, b: mx.random.beta(a, a, key=mx.random.key(0)),
    "dirichlet": lambda a, b: mx.random.dirichlet(a, key=mx.random.key(0)),
    "chisquare": lambda a, b: mx.random.chisquare(a, key=mx.random.key(0)),
    "vonmises": lambda a, b: mx.random.vonmises(a, a, key=mx.random.key(0)),
    "callback": lambda a, b: mx.pure_callback(lambda x: x, a, a),
    "while_loop": lambda a, b: mx.while_loop(lambda x: x.sum() < 99, lambda x: x * 2, a),
}
TRANSFORMS = {
    "grad": mx.grad,
    "compiled": lambda f: mx.grad(mx.compile(f)),
    "checkpoint": lambda f: mx.grad(mx.checkpoint(f)),
    "jvp": lambda f: lambda x: mx.jvp(f, (x,), (mx.ones_like(x),))[1][0],
    "cond": lambda f: mx.grad(lambda x: mx.cond(mx.array(True), f, lambda x: x.sum(), x)),
    "scan": lambda f: mx.grad(
        lambda x: mx.scan(lambda carry, _: (carry + f(x), None), mx.array(0.0), length=2)[0] / 2
    ),
}


@pytest.mark.parametrize("transform", TRANSFORMS.values(), ids=TRANSFORMS)
@pytest.mark.parametrize("fun", STOPPED.values(), ids=STOPPED)
def test_stop_gradient_helps_where_a_message_advises_it(fun, transform):
    a, b = mx.array([1.5, 2.5]), mx.array([0.5, 1.25])
    refused = transform(lambda x: fun(2 * x + 0.5, b).sum())
    if transform is not TRANSFORMS["jvp"] or fun is not STOPPED["while_loop"]:
        with pytest.raises(ValueError, match=r"stop_gradient"):
            refused(a)

    def stopped(x):
        # Through other operations, since the parameters are seldom the stopped array itself.
        return (x * fun(2 * mx.stop_gradient(x) + 0.5, b)).sum()

    got = transform(stopped)(a)
    values = fun(2 * a + 0.5, b)
    values = values if values.ndim < 2 else values.sum(axis=0)
    expected = values.sum() if transform is TRANSFORMS["jvp"] else values
    assert mx.allclose(got, expected), (got, expected)


def test_no_nan_comes_from_behind_stop_gradient():
    x = mx.array([0.0, 2.0])

    def f(x):
        return (x + mx.stop_gradient(mx.where(x > 0, 1 / x, 0.0))).sum()

    assert mx.grad(f)(x).tolist() == [1.0, 1.0]
    assert mx.jvp(f, (x,), (mx.ones_like(x),))[1][0].item() == 2.0
