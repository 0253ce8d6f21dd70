"""`pure_callback`: lazy calls of Python functions, under transforms, in loops, on threads."""

import gc
import math
import threading
import weakref

import numpy as np
import pytest
import umber.core as mx


class Recorder:
    """A NumPy function that remembers the shapes it was called with."""

    def __init__(self, f):
        self.f = f
        self.shapes = []

    def __call__(self, *args, **kwargs):
        self.shapes.append(tuple(x.shape for x in args))
        return self.f(*map(np.asarray, args), **kwargs)


def spec(*shape, dtype=mx.float32):
    return mx.ShapeDtypeStruct(shape, dtype)


@pytest.mark.covers("pure_callback")
def test_runs_when_evaluated():
    f = Recorder(lambda x: np.cumsum(x, dtype=np.float32))
    x = mx.array([1.0, 2.0, 3.0])
    y = mx.pure_callback(f, spec(3), x * 2)
    assert (y.shape, y.dtype) == ((3,), mx.float32)
    assert f.shapes == []
    assert (y + 1).tolist() == [3, 7, 13]
    assert f.shapes == [((3,),)]
    assert y.tolist() == [2, 6, 12]
    assert f.shapes == [((3,),)]


def test_a_result_that_nobody_reads_is_not_computed():
    f = Recorder(lambda x: x)
    mx.pure_callback(f, spec(2), mx.ones(2))
    mx.eval(mx.ones(2) * 2)
    assert f.shapes == []


def test_trees_numbers_and_names():
    def f(a, *, b):
        assert isinstance(a[0], mx.array)
        assert a[1] is None
        return {"sum": np.asarray(a[0]) + b["x"].item(), "constant": (4, None)}

    result = {"sum": spec(2, dtype=mx.float64), "constant": (spec(dtype=mx.int16), None)}
    x = np.array([1.0, 2.0])
    got = mx.pure_callback(f, result, [x, None], b={"x": 10})
    x[:] = 0  # a later write does not change the argument
    assert got["sum"].tolist() == [11, 12]
    assert got["sum"].dtype == mx.float64
    assert got["constant"][0].item() == 4
    assert got["constant"][0].dtype == mx.int16
    assert got["constant"][1] is None
    like = mx.pure_callback(lambda: np.float32(2.5), np.zeros((), np.float32))
    assert like.item() == 2.5


@pytest.mark.parametrize("shape", [(), (0,), (0, 3), (2, 3)])
def test_shapes(shape):
    x = mx.array(np.random.default_rng(0).normal(size=shape).astype(np.float32))
    got = mx.pure_callback(lambda x: -np.asarray(x), x, x)
    np.testing.assert_array_equal(np.array(got), -np.array(x))


def test_arguments_that_are_not_contiguous():
    x = mx.arange(24, dtype=mx.float32).reshape(4, 6)[::2, ::-1].T
    got = mx.pure_callback(lambda x: np.asarray(x) * 2, spec(6, 2), x)
    np.testing.assert_array_equal(np.array(got), np.array(x) * 2)


def test_a_result_does_not_change_with_the_callbacks_memory():
    buffer = np.zeros(3, np.float32)

    def f(x):
        buffer[:] = np.asarray(x)
        return buffer

    first = mx.pure_callback(f, spec(3), mx.ones(3))
    mx.eval(first)
    second = mx.pure_callback(f, spec(3), mx.ones(3) * 2)
    mx.eval(second)
    buffer[:] = 9
    assert first.tolist() == [1, 1, 1]
    assert second.tolist() == [2, 2, 2]


def test_a_callback_may_use_umber():
    def f(x):
        y = mx.softmax(x * 2)
        mx.eval(y)
        return y + mx.grad(lambda x: (x**2).sum())(x)

    x = mx.array([0.5, 1.0])
    expected = mx.softmax(x * 2) + 2 * x
    np.testing.assert_allclose(np.array(mx.pure_callback(f, x, x)), np.array(expected), rtol=1e-6)


def test_callbacks_inside_callbacks():
    inner = lambda x: np.asarray(x) + 1  # noqa: E731
    outer = lambda x: mx.pure_callback(inner, spec(2), x * 10)  # noqa: E731
    assert mx.pure_callback(outer, spec(2), mx.array([1.0, 2.0])).tolist() == [11, 21]


def test_an_array_of_the_same_evaluation_must_be_an_argument():
    pending = mx.arange(2000.0) * 0 + 3
    y = mx.pure_callback(lambda x: x + pending, spec(2000), mx.ones(2000))
    with pytest.raises(RuntimeError, match="computed by the evaluation that called it"):
        mx.eval(y, pending)
    mx.eval(pending)
    assert y[0].item() == 4


def test_compiled():
    f = Recorder(lambda x: np.sort(x))
    compiled = mx.compile(lambda x: mx.pure_callback(f, x, x * 2) + 1)
    assert compiled(mx.array([3.0, 1.0])).tolist() == [3, 7]
    assert compiled(mx.array([0.0, -1.0])).tolist() == [-1, 1]
    assert f.shapes == [((2,),)] * 2


def test_shapeless_compiled_is_traced_again():
    f = mx.compile(lambda x: mx.pure_callback(lambda x: np.sort(x), x, x), shapeless=True)
    for length in (3, 5, 2):
        x = mx.array(np.random.default_rng(length).normal(size=length).astype(np.float32))
        np.testing.assert_array_equal(np.array(f(x)), np.sort(np.array(x)))


@pytest.mark.parametrize(
    ("method", "shapes"),
    [
        ("sequential", [((2,), (3,))] * 4),
        ("expand_dims", [((4, 2), (1, 3))]),
        ("broadcast_all", [((4, 2), (4, 3))]),
    ],
)
def test_batches(method, shapes):
    f = Recorder(lambda x, y: (x.sum(-1) + y.sum(-1)).astype(np.float32))
    call = lambda x, y: mx.pure_callback(f, spec(), x, y, vmap_method=method)  # noqa: E731
    x, y = mx.arange(8, dtype=mx.float32).reshape(4, 2), mx.array([1.0, 2.0, 3.0])
    got = mx.vmap(call, (0, None))(x, y)
    np.testing.assert_allclose(np.array(got), np.array(x.sum(-1) + 6))
    assert f.shapes == shapes
    nested = mx.vmap(mx.vmap(call, (0, None)), (None, 0))(x, mx.stack([y, 2 * y]))
    expected = x.sum(-1) + mx.array([6.0, 12.0])[:, None]
    np.testing.assert_allclose(np.array(nested), np.array(expected))
    got = mx.compile(mx.vmap(call, (0, None)))(x, y)
    np.testing.assert_allclose(np.array(got), np.array(x.sum(-1) + 6))


def test_an_empty_batch():
    call = lambda x: mx.pure_callback(math.sin, spec(), x, vmap_method="sequential")  # noqa: E731
    assert mx.vmap(call)(mx.zeros(0)).shape == (0,)


def test_batches_need_a_method():
    with pytest.raises(
        ValueError, match=r"^\[pure_callback\] vmap of a callback needs vmap_method"
    ):
        mx.vmap(lambda x: mx.pure_callback(math.sin, spec(), x))(mx.ones(3))


def test_in_loops_and_branches():
    step = lambda x: np.float32(math.cos(x.item()))  # noqa: E731
    call = lambda x: mx.pure_callback(step, spec(), x)  # noqa: E731
    x = mx.fori_loop(0, 50, lambda i, x: call(x), mx.array(1.0))
    np.testing.assert_allclose(x.item(), 0.739085, rtol=1e-4)
    _, rows = mx.scan(lambda c, x: (call(c), c), mx.array(0.0), length=3)
    np.testing.assert_allclose(rows.tolist(), [0, 1, math.cos(1)], rtol=1e-6)
    got = mx.while_loop(lambda x: x > 0.6, call, mx.array(0.0))
    assert got.item() == 0
    branch = lambda p: mx.cond(p, call, lambda x: x, mx.array(0.0))  # noqa: E731
    assert [branch(mx.array(p)).item() for p in (True, False)] == [1, 0]


def test_derivatives_are_refused():
    call = lambda x: mx.pure_callback(math.sin, spec(), x)  # noqa: E731
    x = mx.array(1.0)
    for take in (
        lambda: mx.grad(call)(x),
        lambda: mx.jvp(call, [x], [x]),
        lambda: mx.grad(mx.checkpoint(call))(x),
    ):
        with pytest.raises(
            ValueError, match=r"^\[\w+\] a callback has no derivative.*custom_function"
        ):
            take()

    def product(x):
        index = mx.stop_gradient(mx.argmax(mx.stack([x, 2 * x])))
        return x * mx.pure_callback(float, spec(), index)

    assert mx.grad(product)(x).item() == 1
    assert mx.grad(lambda x: x * call(mx.stop_gradient(x)))(x).item() == pytest.approx(math.sin(1))


def test_a_custom_function_defines_derivatives():
    @mx.custom_function
    def sine(x):
        return mx.pure_callback(lambda x: np.sin(x), x, x, vmap_method="expand_dims")

    @sine.vjp
    def sine_vjp(x, cotangent, output):
        return cotangent * mx.cos(x)

    @sine.jvp
    def sine_jvp(x, tangent):
        return tangent * mx.cos(x)

    x = mx.array([0.5, 1.0])
    expected = mx.cos(x)
    gradient = mx.grad(lambda x: sine(x).sum())
    for got in (
        gradient(x),
        mx.compile(gradient)(x),
        mx.vmap(mx.grad(sine))(x),
        mx.jvp(sine, [x], [mx.ones(2)])[1][0],
    ):
        np.testing.assert_allclose(np.array(got), np.array(expected), rtol=1e-6)


def test_exceptions_come_with_their_traceback():
    def broken(x):
        raise KeyError("mine")

    y = mx.pure_callback(broken, spec(2), mx.ones(2))
    with pytest.raises(
        RuntimeError, match=r"^\[pure_callback\] the callback broken raised KeyError"
    ) as caught:
        mx.eval(y + 1)
    text = str(caught.value)
    assert "in broken" in text
    assert 'raise KeyError("mine")' in text
    # The result can be asked for again.
    with pytest.raises(RuntimeError, match="KeyError"):
        y.tolist()


def test_errors_of_other_threads():
    y = mx.pure_callback(lambda x: 1 / 0, spec(), mx.array(1.0))
    mx.async_eval(y)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        mx.synchronize(mx.default_stream(mx.cpu))
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        y.item()
    errors = []

    def run():
        try:
            mx.eval(y)
        except RuntimeError as error:
            errors.append(str(error))

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    assert "ZeroDivisionError" in errors[0]


def test_evaluated_on_several_threads():
    f = Recorder(lambda x: x + 1)
    results = [mx.pure_callback(f, spec(100), mx.ones(100) * i) for i in range(20)]
    threads = [threading.Thread(target=mx.eval, args=(r,)) for r in results]
    for thread in threads:
        thread.start()
    for i, (thread, result) in enumerate(zip(threads, results, strict=True)):
        thread.join()
        assert result[0].item() == i + 1
    for result in results:
        mx.async_eval(result)
    mx.synchronize()


def test_interrupts_are_passed_on():
    def f(x):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        mx.eval(mx.pure_callback(f, spec(), mx.array(1.0)))


@pytest.mark.parametrize(
    ("returned", "error", "text"),
    [
        (
            np.zeros(3, np.float32),
            ValueError,
            r"returned shape \(3,\) for result 0, expected \(2,\)",
        ),
        (np.zeros(2), TypeError, "returned dtype float64 for result 0, expected float32"),
        (1.0, ValueError, r"returned shape \(\) for result 0"),
        (None, TypeError, "returned None for result 0"),
        ("text", TypeError, "returned str for result 0"),
        ((np.zeros(2),), TypeError, "returned tuple, expected the structure"),
    ],
)
def test_bad_results(returned, error, text):
    y = mx.pure_callback(lambda x: returned, spec(2), mx.ones(2))
    with pytest.raises(error, match=r"^\[pure_callback\] the callback " + text):
        mx.eval(y)


@pytest.mark.parametrize(
    ("args", "options", "error", "text"),
    [
        ((3, spec()), {}, TypeError, "expected a function"),
        ((math.sin, 3), {}, TypeError, "result_shape_dtypes: got int"),
        ((math.sin, [{"a": "x"}]), {}, TypeError, r"result_shape_dtypes\[0\]\['a'\]: got str"),
        ((math.sin, spec(), "x"), {}, TypeError, r"args\[0\]: got str"),
        ((math.sin, spec(), 1.0), {"vmap_method": "each"}, ValueError, "vmap_method: got 'each'"),
    ],
)
def test_bad_arguments(args, options, error, text):
    with pytest.raises(error, match=r"^\[pure_callback\] .*" + text):
        mx.pure_callback(*args, **options)


def test_without_results():
    assert mx.pure_callback(lambda x: (), (), mx.ones(2)) == ()


def test_cannot_be_exported(tmp_path):
    f = lambda x: mx.pure_callback(math.sin, spec(), x)  # noqa: E731
    for g in (f, lambda x: mx.fori_loop(0, 2, lambda i, x: f(x), x)):
        with pytest.raises(ValueError, match="cannot export a function that calls pure_callback"):
            mx.export_function(str(tmp_path / "f"), g, mx.array(1.0))


def test_equal_callbacks_share_a_computation():
    f = Recorder(lambda x: x)
    x = mx.ones(3)
    compiled = mx.compile(lambda x: mx.pure_callback(f, x, x) + mx.pure_callback(f, x, x))
    assert compiled(x).tolist() == [2, 2, 2]
    assert len(f.shapes) in (1, 2)


def test_a_graph_keeps_the_callback():
    class Function:
        def __call__(self, x):
            return np.asarray(x) * 2

    function = Function()
    reference = weakref.ref(function)
    y = mx.pure_callback(function, spec(2), mx.ones(2))
    del function
    gc.collect()
    assert reference() is not None
    assert y.tolist() == [2, 2]
