"""`vectorize`: against NumPy's, under transforms, and its errors."""

import numpy as np
import pytest
import umber.core as mx


def array(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


CASES = {
    "": (lambda np_: lambda x, y: np_.maximum(x, y) - y, [(3, 1), (4,)], None),
    "scalar": (lambda np_: lambda x, y: x * y, [(), (2, 2)], None),
    "product": (lambda np_: lambda a, x: a @ x, [(5, 2, 3), (4, 1, 3)], "(m,n),(n)->(m)"),
    "merged": (lambda np_: lambda a, x: a @ x, [(2, 4, 2, 3), (2, 4, 3)], "(m,n),(n)->(m)"),
    "no leading axes": (lambda np_: lambda a, x: a @ x, [(2, 3), (3,)], " ( m , n ),(n)->(m)"),
    "reduction": (lambda np_: lambda x: np_.sum(x), [(2, 3, 4)], "(n)->()"),
    "empty": (lambda np_: lambda x: np_.sum(x), [(0, 4)], "(n)->()"),
    "several": (lambda np_: lambda x: (np_.sum(x), x * 2), [(2, 3)], "(n)->(),(n)"),
    "new axis": (lambda np_: lambda x: np_.stack([x, x]), [(3,)], "()->(k)"),
}


@pytest.mark.covers("vectorize")
@pytest.mark.parametrize("case", CASES)
def test_is_numpys(case):
    make, shapes, signature = CASES[case]
    values = [array(i, *shape) for i, shape in enumerate(shapes)]
    got = mx.vectorize(make(mx), signature=signature)(*map(mx.array, values))
    if case == "empty":
        expected = np.zeros(0, np.float32)
    else:
        expected = np.vectorize(make(np), signature=signature)(*values)
    got, expected = (x if isinstance(x, tuple) else (x,) for x in (got, expected))
    for a, b in zip(got, expected, strict=True):
        assert a.shape == b.shape
        np.testing.assert_allclose(np.array(a), b, rtol=1e-5)


def test_trees_without_signature():
    f = mx.vectorize(lambda x: {"double": 2 * x, "both": (x, mx.stack([x, x, x]))})
    got = f(mx.array([1.0, 2.0]))
    assert got["double"].tolist() == [2, 4]
    assert got["both"][1].shape == (2, 3)


def test_excluded_arguments():
    seen = []

    def polynomial(coefficients, x, *, name=None, scale=1.0):
        seen.append((coefficients, name))
        return sum(c * x**i for i, c in enumerate(coefficients)) * scale

    f = mx.vectorize(polynomial, excluded={0, "name"})
    x = mx.array([[1.0], [2.0]])
    assert f([1, 2, 3], x, name="p").tolist() == [[6], [17]]
    assert seen == [([1, 2, 3], "p")]
    assert f([1, 2, 3], x, scale=mx.array([1.0, 10.0])).tolist() == [[6, 60], [17, 170]]


def test_none_and_numbers_are_passed_as_they_are():
    def f(x, y, z):
        assert y is None
        assert isinstance(z, float)
        return x * z

    got = mx.vectorize(f)(mx.array([1.0, 2.0], mx.float16), None, 2.5)
    assert got.dtype == mx.float16
    assert got.tolist() == [2.5, 5]
    assert mx.vectorize(lambda x: x + 1)(2).item() == 3
    assert mx.vectorize(lambda x, s: x * s, signature="(n),()->(n)")(
        mx.ones((2, 3)), 4.0
    ).shape == (2, 3)


def test_arguments_are_traced_once():
    calls = []
    f = mx.vectorize(lambda x, y: calls.append((x.shape, y.shape)) or x + y)
    assert f(mx.ones((3, 1, 2)), mx.ones((4, 1))).shape == (3, 4, 2)
    assert calls == [((), ())]


def test_transforms():
    f = mx.vectorize(lambda a, x: mx.tanh(a @ x), signature="(m,n),(n)->(m)")
    a, x = mx.array(array(0, 3, 2, 4)), mx.array(array(1, 5, 1, 4))
    expected = lambda a, x: mx.tanh((a @ x[..., None])[..., 0])  # noqa: E731
    for transform in (mx.compile, lambda f: mx.grad(lambda a, x: (f(a, x) ** 2).sum(), (0, 1))):
        got, wanted = transform(f)(a, x), transform(expected)(a, x)
        got, wanted = (r if isinstance(r, tuple) else (r,) for r in (got, wanted))
        for g, w in zip(got, wanted, strict=True):
            np.testing.assert_allclose(np.array(g), np.array(w), rtol=1e-4, atol=1e-5)
    got = mx.vmap(f, (None, 0))(a, x)
    np.testing.assert_allclose(np.array(got), np.array(expected(a, x)), rtol=1e-4, atol=1e-5)


def test_metadata():
    def product(a, x):
        """Multiply."""
        return a @ x

    f = mx.vectorize(product)
    assert f.__name__ == "product"
    assert f.__doc__ == "Multiply."
    assert f.__wrapped__ is product
    assert repr(f) == "<vectorize of product>"


@pytest.mark.parametrize(
    "signature",
    ["", "()", "->", "(n)", "(n)->", "n->n", "(n),->()", "(n,)->()", "(n)->()->()", "(a b)(c)->()"],
)
def test_bad_signatures(signature):
    with pytest.raises(ValueError, match=r"^\[vectorize\] signature: got"):
        mx.vectorize(mx.add, signature=signature)


@pytest.mark.parametrize(
    ("excluded", "error", "text"),
    [
        ("x", TypeError, "got str"),
        (3, TypeError, "got int"),
        ([1.5], TypeError, "got float"),
        ({-1}, ValueError, "position -1"),
    ],
)
def test_bad_exclusions(excluded, error, text):
    with pytest.raises(error, match=r"^\[vectorize\] excluded: .*" + text):
        mx.vectorize(mx.add, excluded=excluded)


@pytest.mark.parametrize(
    ("f", "signature", "args", "error", "text"),
    [
        (mx.add, None, ("x", 1), TypeError, r"args\[0\]: got str"),
        (
            mx.add,
            None,
            (mx.ones(2), mx.ones(3)),
            ValueError,
            r"\(2,\) and \(3,\) cannot be broadcast",
        ),
        (mx.add, "(n),(n)->(n)", (mx.ones(2),), TypeError, "got 1 inputs, expected 2"),
        (
            mx.add,
            "(n),(n)->(n)",
            (mx.ones(2), mx.ones(3)),
            ValueError,
            r"args\[1\]: core axis n has length 3",
        ),
        (
            mx.add,
            "(n),(n)->(n)",
            (mx.ones(2), 1.0),
            ValueError,
            r"args\[1\]: got shape \(\), expected at least 1",
        ),
        (
            mx.sum,
            "(n)->(n)",
            (mx.ones(2),),
            ValueError,
            r"output 0 of the function: got shape \(\)",
        ),
        (lambda x: x[1:], "(n)->(n)", (mx.ones(2),), ValueError, "has length 1, but 2 elsewhere"),
        (lambda x: (x, x), "(n)->(n)", (mx.ones(2),), TypeError, "returned 2 arrays, expected 1"),
        (lambda x: 3, None, (mx.ones(2),), ValueError, "expected only arrays"),
    ],
)
def test_bad_calls(f, signature, args, error, text):
    with pytest.raises(error, match=r"^\[vectorize\] .*" + text):
        mx.vectorize(f, signature=signature)(*args)
