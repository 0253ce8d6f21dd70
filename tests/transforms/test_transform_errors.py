"""The front end of transforms: every form of axes and trees; errors name the leaf and the line."""

import inspect
import os
import re
import subprocess
import sys
import threading

import numpy as np
import pytest
import umber.core as mx
from arrays import to_numpy
from small_stacks import call_in_thread

X = mx.arange(6, dtype=mx.float32).reshape(2, 3)
Y = mx.array([10.0, 20.0])


def here():
    """The line below the caller's."""
    frame = inspect.currentframe().f_back
    return re.escape(f"{frame.f_code.co_filename}:{frame.f_lineno + 1}")


@pytest.mark.parametrize(
    ("in_axes", "arguments", "want"),
    [
        (({"a": 0, "b": None},), ({"a": X, "b": X[0]},), X * X[0]),
        ({"a": 0, "b": None}, ({"a": X, "b": X[0]},), X * X[0]),
        (0, ({"a": X, "b": X},), X * X),
        ((0,), ({"a": X, "b": X},), X * X),
        ([{"a": 1, "b": 0}], ({"a": X.T, "b": X},), X * X),
        (({"a": -1, "b": 0},), ({"a": X.T, "b": X},), X * X),
        (({"b": 0, "a": None},), ({"a": X[0], "b": X},), X * X[0]),
    ],
)
def test_axes_of_one_dict(in_axes, arguments, want):
    got = mx.vmap(lambda p: p["a"] * p["b"], in_axes=in_axes)(*arguments)
    assert got.tolist() == want.tolist()


def test_axes_of_nested_trees():
    def f(p, pair, c):
        return {"y": p["w"][0] * pair[1] + c}, pair[0]

    arguments = {"w": [X, "kept"]}, (Y, X), mx.array(1.0)
    for in_axes in (
        (0, 0, None),
        ({"w": 0}, (0, 0), None),
        ({"w": [0, None]}, [0, 0], None),
        [{"w": (0, 0)}, 0, None],
    ):
        answer, first = mx.vmap(f, in_axes=in_axes, out_axes=({"y": 1}, 0))(*arguments)
        assert answer["y"].tolist() == (X * X + 1).T.tolist()
        assert first.tolist() == Y.tolist()


def test_keyword_arguments_are_mapped_over_their_first_axis():
    def f(x, *, p, n):
        return x * p["b"] + n

    assert mx.vmap(f)(X, p={"b": Y}, n=1).tolist() == (X * Y[:, None] + 1).tolist()
    assert mx.vmap(f, in_axes=(1,))(X.T, p={"b": Y}, n=1).tolist() == (X * Y[:, None] + 1).tolist()
    with pytest.raises(
        ValueError, match=r"axes differ: 2 for args\[0\] and 3 for kwargs\['p'\]\['b'\]"
    ):
        mx.vmap(f)(X, p={"b": X.T}, n=1)


@pytest.mark.parametrize(
    ("in_axes", "message"),
    [
        ((0,), r"in_axes: \(0,\) does not match args, which is a sequence of 2"),
        ((0, 0, 0), r"does not match args, which is a sequence of 2"),
        ({"w": 0}, r"\{'w': 0\} does not match args, which is a sequence of 2"),
        (({"v": 0}, 0), r"\{'v': 0\} does not match args\[0\], which is a dict of 'w'"),
        (({"w": 0, "v": 0}, 0), r"does not match args\[0\], which is a dict of 'w'"),
        (({"w": [0]}, 0), r"\[0\] does not match args\[0\]\['w'\], which is an array"),
        ((0, {"a": 0}), r"\{'a': 0\} does not match args\[1\], which is an array"),
        (({"w": 2}, 0), r"axis 2 is out of bounds for args\[0\]\['w'\] of shape \(2, 3\)"),
        ((0, -2), r"axis -2 is out of bounds for args\[1\] of shape \(2,\)"),
        ((1, 0), r"lengths of the mapped axes differ: 3 for args\[0\]\['w'\] and 2 for args\[1\]"),
        ((None, None), r"needs at least one input with a mapped axis in in_axes"),
    ],
)
def test_wrong_axes_are_named_by_their_place(in_axes, message):
    with pytest.raises(ValueError, match=r"\[vmap\] .*" + message):
        mx.vmap(lambda p, y: p["w"], in_axes=in_axes)({"w": X}, Y)


def test_other_wrong_axes():
    for axes, kind in (("0", "str"), (0.5, "float"), (True, "bool"), ((0, "1"), "str")):
        with pytest.raises(
            TypeError, match=rf"\[vmap\] in_axes: got {kind}, expected integers and None"
        ):
            mx.vmap(lambda x, y: x, in_axes=axes)(X, Y)
    with pytest.raises(
        ValueError, match=r"out_axes: \(0, 0\) does not match result\[0\], which is a sequence of 1"
    ):
        mx.vmap(lambda x: ([x], x), out_axes=((0, 0), 0))(X)
    with pytest.raises(
        ValueError,
        match=r"out_axes is None for an output that depends on the mapped axis, for result\['b'\]",
    ):
        mx.vmap(lambda x: {"a": Y, "b": x}, out_axes=None)(X)
    with pytest.raises(IndexError, match=r"for result\[1\]"):
        mx.vmap(lambda x: (x, x), out_axes=(1, 5))(X)


def test_results_that_are_no_arrays():
    for result, place in ((3.0, ""), (("no", 1), r"\[0\]"), ({"a": [0.5]}, r"\['a'\]\[0\]")):
        with pytest.raises(
            ValueError,
            match=rf"\[vmap\] the function's result{place}: got .*, expected only arrays",
        ):
            mx.vmap(lambda x, result=result: result)(X)
    assert mx.vmap(lambda x: (x, None))(X)[1] is None
    for result in (None, 3.0, "no", [X.sum()], {}):
        with pytest.raises(
            ValueError,
            match=r"\[grad\] the function must return a scalar array, or a tuple .*, got",
        ):
            mx.grad(lambda x, result=result: result)(X)
    with pytest.raises(ValueError, match=r"\[grad\] the function must return .* shape \(2, 3\)"):
        mx.grad(lambda x: x)(X)
    for transform in (mx.vjp, mx.jvp):
        with pytest.raises(ValueError, match=r"outputs\[1\]: got float, expected an array"):
            transform(lambda x: (x, 1.0), [X], [X])
        with pytest.raises(ValueError, match=r"the function must return arrays, got float"):
            transform(lambda x: 1.0, [X], [X])
        with pytest.raises(ValueError, match=r"outputs\['a'\]: got float, expected an array"):
            transform(lambda x: {"a": 1.0}, [X], [X])


@pytest.mark.parametrize(
    ("primals", "given", "message"),
    [
        ([X, Y], [X], r"got 1 \w+ for 2 \w+, expected one for each"),
        (
            [X, Y],
            [X, X],
            r"got (co)?tangents\[1\] of shape \(2, 3\), expected the \w+'s shape \(2,\)",
        ),
        ([X, 1.0], [X, Y], r"primals\[1\]: got float, expected an array"),
        ([X, Y], [X, [1.0]], r"(co)?tangents\[1\]\[0\]: got float, expected an array"),
        ([X, Y], [X, [Y]], r"(co)?tangents\[1\]: got list of 1, expected an array"),
        (
            [X, {"a": Y}],
            [X, {"b": Y}],
            r"(co)?tangents\[1\]: got dict of 1, expected a dict of 'a'",
        ),
        (
            [X, {"a": Y}],
            [X, {"a": None}],
            r"(co)?tangents\[1\]\['a'\]: got NoneType, expected an array",
        ),
        ([{"a": X}], [{"a": Y}], r"got (co)?tangents\[0\]\['a'\] of shape \(2,\), expected the"),
        ({"a": X}, [X], r"primals: got a dict, expected a list of arrays"),
        (X, [X], r"primals: got an array, expected a list of arrays"),
    ],
)
def test_wrong_tangents_and_cotangents(primals, given, message):
    for transform in (mx.vjp, mx.jvp):
        with pytest.raises(ValueError, match=rf"\[{transform.__name__}\] {message}"):
            transform(lambda *xs: xs, primals, given)


def test_wrong_arguments_of_grad_are_named_by_their_place():
    def f(p, *, q):
        return (p["w"][0] * q).sum()

    with pytest.raises(
        ValueError, match=r"\[grad\] args\[0\]\['w'\]\[1\]: got int, expected only arrays"
    ):
        mx.grad(f)({"w": [X, 3]}, q=X)
    with pytest.raises(ValueError, match=r"kwargs\['q'\]\[0\]: got str, expected only arrays"):
        mx.grad(f, argnames="q")({"w": [X]}, q=["no"])
    with pytest.raises(
        ValueError, match=r"argnums contains 1, but the call has 1 positional argument$"
    ):
        mx.grad(f, argnums=1)({"w": [X]}, q=X)
    with pytest.raises(ValueError, match="argnames contains 'z', but the call has no such"):
        mx.grad(f, argnames="z")({"w": [X]}, q=X)
    with pytest.raises(ValueError, match="argnums must not be negative, got -1"):
        mx.grad(f, argnums=-1)
    with pytest.raises(ValueError, match="duplicate 0 in argnums"):
        mx.grad(f, argnums=(0, 0))


def test_deep_containers():
    deep = X
    for _ in range(200):
        deep = [{"a": (deep,)}]

    def innermost(tree):
        while not isinstance(tree, mx.array):
            tree = tree[0]["a"][0]
        return tree

    def f(tree):
        return (innermost(tree) ** 2).sum()

    shallow = X
    for _ in range(40):
        shallow = [{"a": (shallow,)}]
    assert innermost(mx.grad(f)(shallow)).tolist() == (X * 2).tolist()
    assert innermost(mx.vmap(lambda t: t)(shallow)).tolist() == X.tolist()
    assert innermost(mx.compile(lambda t: t)(shallow)).tolist() == X.tolist()
    assert innermost(mx.checkpoint(lambda t: t)(shallow)).tolist() == X.tolist()
    for transform in (mx.grad(f), mx.vmap(f), mx.compile(f)):
        with pytest.raises(ValueError, match="nested deeper"):
            transform(deep)


def test_grad_nested_a_hundred_times():
    def linear(x):
        return x * 3

    function = linear
    for _ in range(100):
        function = mx.grad(function)
    assert function(mx.array(2.0)).item() == 0.0

    def nested(x, depth):
        """Each level adds the gradient of the one below at the same place."""
        if depth == 0:
            return x * x
        return mx.grad(lambda y: nested(y, depth - 1))(x) if depth == 1 else nested(x, depth - 1)

    assert nested(mx.array(2.0), 100).item() == 4.0
    mapped = lambda x: x * 2  # noqa: E731
    for _ in range(20):
        mapped = mx.vmap(mapped)
    assert mapped(mx.ones((1,) * 20)).shape == (1,) * 20


@pytest.mark.filterwarnings(r"ignore:\[grad\]")
def test_values_are_there_under_grad(capsys):
    def f(x):
        print(x)
        assert x.item() == 3.0
        assert bool(x > 2)
        assert f"{x:.1f}" == "3.0"
        assert np.asarray(x) == 3.0
        return x * x

    assert mx.grad(f)(mx.array(3.0)).item() == 6.0
    assert "array(3" in capsys.readouterr().out


READS = {
    "print": print,
    "item": lambda x: x.item(),
    "bool": bool,
    "float": float,
    "int": int,
    "list": lambda x: x.tolist(),
    "numpy": np.asarray,
    "eval": mx.eval,
    "repr": repr,
    "format": lambda x: f"{x}",
    "memoryview": memoryview,
}


@pytest.mark.parametrize("read", READS.values(), ids=READS)
@pytest.mark.parametrize("name", ["vmap", "compile"])
def test_values_are_not_there_under_vmap_and_compile(name, read):
    line = []

    def f(x):
        y = x * 2
        line.append(here())
        read(y)
        return y

    with pytest.raises((ValueError, BufferError)) as caught:
        getattr(mx, name)(f)(mx.ones((1,)) if name == "vmap" else mx.array(1.0))
    text = str(caught.value)
    assert f"this array has no value: it is traced by {name}" in text
    assert "mx.where" in text
    if read not in (READS["format"], READS["list"], READS["item"]):
        assert re.search(line[0], text)
    else:  # read in a line of the table above
        assert re.search(re.escape(__file__) + r":\d+", text)


@pytest.mark.parametrize("name", ["vmap", "compile"])
def test_an_array_that_escaped_is_reported_as_such(name):
    kept = []

    def f(x):
        kept.append(x)
        kept.append(x * 2 + 1)
        return x

    getattr(mx, name)(f)(mx.ones((3,)))
    for escaped in kept:
        for use in (
            lambda e: e.tolist(),
            lambda e: mx.eval(e + 1),
            lambda e: mx.grad(lambda x: (x * e).sum())(mx.ones(())).item(),
            lambda e: mx.compile(lambda x: x * e)(mx.ones(())).tolist(),
            lambda e: mx.vmap(lambda x: x * e)(mx.ones((2,))).tolist(),
        ):
            with pytest.raises(
                ValueError,
                match=rf"array escaped from {name}.* has no value; return it from the function",
            ):
                use(escaped)


def test_an_array_that_escaped_from_grad_has_its_value():
    kept = []
    mx.grad(lambda x: (kept.append(x * 2), x * x)[1])(mx.array(3.0))
    assert kept[0].item() == 6.0
    assert mx.grad(lambda x: x * kept[0])(mx.array(1.0)).item() == 6.0


def test_an_error_in_a_function_leaves_every_transform_usable():
    class OwnError(Exception):
        pass

    def fails(x):
        raise OwnError

    one = mx.array(1.0)
    for call in (
        lambda: mx.grad(fails)(one),
        lambda: mx.vmap(fails)(X),
        lambda: mx.compile(fails)(one),
        lambda: mx.vjp(fails, [one], [one]),
        lambda: mx.jvp(fails, [one], [one]),
        lambda: mx.jacrev(fails)(one),
        lambda: mx.linearize(fails, one),
        lambda: mx.eval_shape(fails, one),
        lambda: mx.grad(mx.vmap(mx.compile(fails)))(X),
    ):
        with pytest.raises(OwnError):
            call()
    y = mx.grad(lambda x: x * x)(one)
    mx.eval(y)
    assert y.item() == 2.0


def test_transforms_on_several_threads_at_once():
    """Each thread's trace is its own; what one keeps is not kept for another."""
    errors = []

    def work(seed):
        try:
            x = mx.array(to_numpy(X) + seed)
            for _ in range(20):
                value, slope = mx.value_and_grad(lambda v: (v * v * v).sum())(x)
                rows = mx.vmap(mx.grad(lambda v: (v * v).sum()))(x)
                np.testing.assert_allclose(to_numpy(slope), 3 * to_numpy(x) ** 2, rtol=1e-5)
                np.testing.assert_allclose(to_numpy(rows), 2 * to_numpy(x), rtol=1e-5)
                x = x - slope * 0 + value * 0
        except Exception as error:  # reported below
            errors.append(error)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors


@pytest.mark.parametrize("stack", [None, 512 << 10])
@pytest.mark.parametrize("transform", [mx.grad, mx.compile, mx.checkpoint])
def test_functions_that_call_themselves_through_transforms(transform, stack):
    """The end of the stack is an exception, however far Python's own limit is."""
    limit, size = sys.getrecursionlimit(), threading.stack_size()
    raised = []

    def deeper(x):
        return transform(deeper)(x)

    def run():
        with pytest.raises(RecursionError) as found:
            deeper(mx.array(1.0))
        raised.append(str(found.value))

    if stack is not None:
        threading.stack_size(stack)
    sys.setrecursionlimit(100_000 if stack is None else limit)
    try:
        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
    finally:
        sys.setrecursionlimit(limit)
        threading.stack_size(size)
    assert len(raised) == 1
    assert raised[0].startswith("[deeper] ") or "maximum recursion" in raised[0]


def nested(levels):
    tree = [mx.ones(1)]
    for level in range(levels):
        tree = {"a": tree} if level % 2 else (tree,)
    return tree


TREE_WALKS = [
    lambda tree: mx.eval(tree),
    lambda tree: mx.compile(lambda tree: tree)(tree),
    lambda tree: mx.compile(lambda x: x, inputs=tree)(mx.ones(1)),
    lambda tree: mx.checkpoint(lambda tree: tree)(tree),
    lambda tree: mx.vmap(lambda tree: tree)(tree),
    lambda tree: mx.grad(lambda tree: mx.array(1.0))(tree),
]


@pytest.mark.parametrize("walk", TREE_WALKS)
@pytest.mark.parametrize(("stack", "levels"), [(256, 400), (128, 300), (256, 200), (256, 5)])
def test_trees_deeper_than_the_stack_of_a_thread(walk, stack, levels):
    """What the stack does not hold is an exception, and never the end of the process."""

    def run():
        try:
            walk(nested(levels))
        except RecursionError as error:
            return str(error)
        return "walked"

    how = call_in_thread(stack << 10, run)
    assert how == "walked" if levels < 10 else re.match(r"\[\w+\] .* use fewer levels", how), how


def test_errors_of_a_call_of_the_users_function_are_the_users(tmp_path):
    def cond():
        mx.cond(mx.array(True), lambda: 1, lambda a: a, mx.ones(2))

    def export():
        mx.export_function(str(tmp_path / "f"), lambda a: a["k"], {"k": X})

    def loop():
        mx.while_loop(lambda: True, lambda c: c, X)

    for call in (cond, export, loop, lambda: mx.vjp(lambda: X, [X], [X])):
        with pytest.raises(TypeError, match=r"^[\w.<>]*<lambda>\(\) (takes \d|got an unexpected)"):
            call()


LINES = """import os
import umber.core as mx

def inner(x, i):
    return x[i]

x, i = mx.ones((2, 3)), mx.array([9, 1])

def total(x, i):
    return inner(x, i).sum()

try:
    mx.eval({call})
except IndexError as error:
    print(str(error).rpartition(os.sep)[2].rpartition(":")[2])
"""


@pytest.mark.parametrize(
    "call",
    [
        "mx.vmap(inner)(x, i)",
        "mx.vmap(mx.vmap(inner, in_axes=(0, None)), in_axes=(None, 0))(x, i)",
        "mx.jvp(lambda x: total(x, mx.array(9)), [x[0]], [x[0]])",
        "mx.vjp(lambda x: inner(x, mx.array(9)), [x[0]], [mx.array(1.0)])[1]",
        "mx.grad(lambda x: total(x, mx.array(9)))(x[0])",
        "mx.compile(mx.grad(total))(x[0], mx.array(9))",
        "mx.compile(mx.vmap(inner))(x, i)",
        "mx.grad(lambda x: mx.vmap(inner)(x, i).sum())(x)",
    ],
)
def test_transforms_keep_the_lines_of_the_function(call):
    run = subprocess.run(
        [sys.executable, "-c", LINES.format(call=call)],
        env=os.environ | {"UMBER_TRACEBACK": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.stdout.strip() == "5", run.stdout + run.stderr


@pytest.mark.parametrize(
    ("make", "what"),
    [
        (lambda: mx.compile(mx.nonzero)(X), "nonzero"),
        (lambda: mx.vmap(mx.unique)(X), "unique"),
        (lambda: mx.compile(mx.repeat)(X[0], mx.array([1, 2, 3])), "repeat"),
        (lambda: mx.compile(lambda x: x[x > 1])(X), "index"),
        (lambda: mx.eval_shape(lambda x: x.sum().item(), X), "eval_shape"),
    ],
)
def test_what_has_no_value_is_told_by_the_line_that_asked(make, what):
    with pytest.raises(ValueError, match=rf"(?s){what}.*requested at .*:\d+") as caught:
        make()
    assert "mx.where" in str(caught.value)


def test_axes_that_no_array_has():
    for call in (
        lambda: mx.vmap(lambda x: x, in_axes=10**30)(X),
        lambda: mx.vmap(lambda x: x, out_axes=-(10**30))(X),
    ):
        with pytest.raises(mx.AxisError, match=r"\[vmap\] (in|out)_axes: axis -?10{30} is out of"):
            call()

    f = mx.custom_function(lambda x: x * 2)
    f.vmap(lambda arguments, axes: (arguments[0] * 2, 5))
    with pytest.raises(mx.AxisError, match="the vmap rule returned axis 5, which is out of bounds"):
        mx.vmap(f)(X)


def test_numbers_next_to_others_are_flat():
    target = mx.array(3.0)
    for towards in (lambda x: mx.nextafter(x, target), lambda x: mx.nextafter(target, x)):
        assert mx.grad(lambda x, f=towards: f(x).sum())(Y).tolist() == [0.0, 0.0]
        assert mx.jvp(towards, [Y], [Y])[1][0].tolist() == [0.0, 0.0]
