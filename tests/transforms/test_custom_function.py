"""custom_function and depends: what rules are given and may answer, in every other transform."""

import gc
import threading
import weakref

import numpy as np
import pytest
import umber.core as mx
from arrays import to_numpy

pytestmark = pytest.mark.filterwarnings(r"ignore:\[grad\]")


def scalar(x):
    return mx.array(float(x))


def custom(fun, **rules):
    made = mx.custom_function(fun)
    for name, rule in rules.items():
        assert getattr(made, name)(rule) is made
    return made


def shown(value):
    """Arrays as numbers, anything else as it is."""
    if isinstance(value, mx.array):
        return value.tolist()
    if isinstance(value, dict):
        return {key: shown(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(shown, value))
    return value


A, B = scalar(2), scalar(3)


@pytest.mark.covers("custom_function")
@pytest.mark.parametrize(
    ("fun", "args", "primals", "cotangents", "outputs"),
    [
        (lambda x: x * x, (A,), 2.0, 1.0, 4.0),
        (lambda x, y: x * y, (A, B), (2.0, 3.0), 1.0, 6.0),
        (lambda x, y: (x * y, x), (A, B), (2.0, 3.0), (1.0, 0.0), (6.0, 2.0)),
        (lambda x, y: [x * y, x], (A, B), (2.0, 3.0), [1.0, 0.0], [6.0, 2.0]),
        (lambda x: (x * 2,), (A,), 2.0, (1.0,), (4.0,)),
        (lambda x: {"p": x * 2}, (A,), 2.0, {"p": 1.0}, {"p": 4.0}),
        (lambda p: p["a"] * p["b"], ({"a": A, "b": B},), {"a": 2.0, "b": 3.0}, 1.0, 6.0),
        (lambda p, x: p[0]["a"] * x, ([{"a": A}], B), ([{"a": 2.0}], 3.0), 1.0, 6.0),
        (lambda p: p[0] * p[1], ((A, B),), (2.0, 3.0), 1.0, 6.0),
        (lambda x, n: x * n, (A, 3), (2.0, 3), 1.0, 6.0),
        (lambda x, n: x, (A, None), (2.0, None), 1.0, 2.0),
    ],
)
def test_what_a_vjp_rule_gets(fun, args, primals, cotangents, outputs):
    got = []

    def rule(*given, **named):
        assert not named
        got.extend(map(shown, given))
        return given[0]

    def first(value):
        while not isinstance(value, mx.array):
            value = next(iter(value.values() if isinstance(value, dict) else value))
        return value

    gradient = mx.grad(lambda *args: first(custom(fun, vjp=rule)(*args)))(*args)
    assert got == [primals, cotangents, outputs]
    assert shown(gradient) == shown(args[0])


def test_keyword_arguments_are_passed_to_the_rule_and_constant():
    def rule(primals, cotangents, outputs, *, y, n):
        assert (shown(primals), shown(y), n) == (2.0, 3.0, 4)
        return cotangents * 10

    f = custom(lambda x, *, y, n: x * y * n, vjp=rule)
    assert shown(mx.grad(lambda x, y: f(x, y=y, n=4), argnums=(0, 1))(A, B)) == (10.0, 0.0)


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (lambda p, c, o: (c, c * 2), (1.0, 2.0)),
        (lambda p, c, o: [c, None], (1.0, 0.0)),
        (lambda p, c, o: None, (0.0, 0.0)),
        (lambda p, c, o: (5.0, c), (5.0, 1.0)),
        (lambda p, c, o: (mx.array(7), c.astype(mx.float16)), (7.0, 1.0)),
    ],
)
def test_what_a_vjp_rule_may_answer(answer, expected):
    gradient = mx.grad(custom(lambda x, y: x * y, vjp=answer), argnums=(0, 1))(A, B)
    assert shown(gradient) == expected
    assert all(g.dtype == mx.float32 for g in gradient)


def test_one_array_may_be_answered_in_a_tuple_or_alone():
    assert mx.grad(custom(lambda x: x, vjp=lambda p, c, o: (c * 5,)))(A).item() == 5.0
    assert mx.grad(custom(lambda x, n: x * n, vjp=lambda p, c, o: c * 5))(A, 3).item() == 5.0


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda p, c, o: (c,), r"cotangent of args: got tuple of 1, expected a tuple of 2"),
        (lambda p, c, o: (c, c, c), r"got tuple of 3, expected a tuple of 2"),
        (lambda p, c, o: c, r"got array, expected a tuple of 2"),
        (lambda p, c, o: {"w": c}, r"got dict of 1, expected a tuple of 2"),
        (lambda p, c, o: (c, c), r"args\[0\]: got array, expected a dict of 'w'"),
        (lambda p, c, o: ({"v": c}, c), r"args\[0\]: got dict of 1, expected a dict of 'w'"),
        (
            lambda p, c, o: ({"w": mx.ones(3)}, c),
            r"args\[0\]\['w'\] has shape \(3,\), expected \(\)",
        ),
        (lambda p, c, o: ({"w": c}, mx.ones(2)), r"args\[1\] has shape \(2,\), expected \(\)"),
        (lambda p, c, o: ({"w": "no"}, c), r"args\[0\]\['w'\]: got str, expected an array"),
    ],
)
def test_a_wrong_answer_of_a_vjp_rule_is_named_by_its_place(answer, message):
    f = custom(lambda p, x: p["w"] * x, vjp=answer)
    with pytest.raises(ValueError, match=r"\[custom_function\].*" + message):
        mx.grad(f)({"w": A}, B)


def test_an_exception_of_a_rule_comes_out_as_it_is():
    class OwnError(Exception):
        pass

    def fails(*given):
        raise OwnError("here")

    f = custom(lambda x: x * x, vjp=fails, jvp=fails, vmap=fails)
    for call in (
        lambda: mx.grad(f)(A),
        lambda: mx.jvp(f, [A], [B]),
        lambda: mx.vmap(f)(mx.ones(3)),
        lambda: mx.vmap(mx.grad(f))(mx.ones(3)),
        lambda: mx.compile(mx.grad(f))(A),
        lambda: mx.grad(mx.compile(f))(A),
    ):
        with pytest.raises(OwnError, match="here"):
            call()
    assert f(A).item() == 4.0


def test_captured_arrays_are_constant_to_rules():
    def g(x, y):
        return custom(lambda x: x * y, vjp=lambda p, c, o: c * 100)(x)

    assert shown(mx.grad(g, argnums=(0, 1))(A, B)) == (100.0, 0.0)
    # No rule applies: the function is followed as it is.
    assert shown(mx.grad(lambda x, y: custom(lambda x: x * y)(x), argnums=(0, 1))(A, B)) == (
        3.0,
        2.0,
    )

    def h(x, y):
        return custom(lambda x: x * y, jvp=lambda p, t: t * 100)(x)

    assert shown(mx.grad(h, argnums=(0, 1))(A, B)) == (3.0, 2.0)
    assert shown(mx.jvp(h, [A, B], [scalar(1), scalar(0)])[1]) == [100.0]
    assert shown(mx.jvp(h, [A, B], [scalar(0), scalar(1)])[1]) == [0.0]


def test_rules_are_differentiable():
    cube = custom(lambda x: x * x, vjp=lambda p, c, o: c * p * p * p)
    assert mx.grad(mx.grad(cube))(A).item() == 12.0
    assert mx.grad(mx.grad(mx.grad(cube)))(A).item() == 12.0
    # Through the outputs, by the function's own rule again.
    again = custom(lambda x: x * x, vjp=lambda p, c, o: c * o)
    assert mx.grad(mx.grad(again))(A).item() == 4.0


def by_numpy(x):
    """Computed where nothing can follow it."""
    return mx.array(np.square(np.array(x)))


def thrice_the_output(fun):
    """A function whose derivative is three times its value."""
    return custom(fun, vjp=lambda p, c, o: c * 3 * o)


def looped(f):
    def step(carry, _):
        return f(carry), None

    return lambda x: mx.scan(step, x, length=1)[0]


FUNCTIONS_OF_A_RULE = {
    "plain": lambda f: f,
    "compile": mx.compile,
    "checkpoint": mx.checkpoint,
    "nested checkpoint": lambda f: mx.checkpoint(mx.checkpoint(f)),
    "compiled checkpoint": lambda f: mx.compile(mx.checkpoint(f)),
    "vmap": lambda f: lambda x: mx.vmap(f)(x[None]).sum(),
    "nested vmap": lambda f: lambda x: mx.vmap(mx.vmap(f))(x[None, None]).sum(),
    "cond": lambda f: lambda x: mx.cond(x > 0, f, lambda x: x, x),
    "switch": lambda f: lambda x: mx.switch(mx.array(1), [lambda x: x, f], x),
    "scan": looped,
    "checkpointed scan": lambda f: looped(mx.checkpoint(f)),
    "fori_loop": lambda f: lambda x: mx.fori_loop(0, 1, lambda i, c: f(c), x),
    "map": lambda f: lambda x: mx.map(f, x[None]).sum(),
    "another custom function": lambda f: custom(f, vjp=lambda p, c, o: mx.vjp(f, [p], [c])[1][0]),
}


def derivative_of(transform):
    return {
        "grad": lambda f: mx.grad(f),
        "vjp": lambda f: lambda x: mx.vjp(f, [x], [mx.ones_like(x)])[1][0],
        "jacrev": mx.jacrev,
        "batch": lambda f: lambda x: mx.vmap(mx.grad(f))(x[None])[0],
        "compile": lambda f: mx.compile(mx.grad(f)),
        "checkpoint": lambda f: mx.checkpoint(mx.grad(f)),
    }[transform]


DERIVATIVES = ["grad", "vjp", "jacrev", "batch", "compile", "checkpoint"]
FORWARD = {
    "jvp": lambda f: lambda x: mx.jvp(f, [x], [mx.ones_like(x)])[1][0],
    "jacfwd": mx.jacfwd,
    "linearize": lambda f: lambda x: mx.linearize(f, x)[1](mx.ones_like(x)),
}


@pytest.mark.parametrize("wrap", FUNCTIONS_OF_A_RULE.values(), ids=FUNCTIONS_OF_A_RULE)
@pytest.mark.parametrize("transform", DERIVATIVES)
def test_outputs_in_a_rule_are_differentiated_by_the_rule(wrap, transform):
    f = wrap(thrice_the_output(lambda x: x * x))
    derivative = derivative_of(transform)
    assert derivative(f)(A).item() == 12.0
    assert derivative(mx.grad(f))(A).item() == 36.0
    assert derivative(mx.grad(mx.grad(f)))(A).item() == 108.0
    assert mx.grad(derivative(derivative(f)))(A).item() == 108.0
    # Forwards as well, where the function alone would be followed through its own operations.
    for forward in FORWARD.values():
        assert forward(derivative(f))(A).item() == 36.0
        assert forward(forward(derivative(f)))(A).item() == 108.0
        assert derivative(forward(derivative(f)))(A).item() == 108.0


def test_the_hessian_of_a_rule_is_the_rules():
    f = thrice_the_output(lambda x: (x * x).sum())
    x = mx.array([1.0, 2.0])
    assert mx.hessian(lambda x: f(x[0]) + f(x[1]))(x).tolist() == [[9.0, 0.0], [0.0, 36.0]]
    assert mx.vmap(mx.grad(mx.grad(f)))(x).tolist() == [9.0, 36.0]
    lanes = mx.vmap(lambda x: mx.jvp(mx.grad(f), [x], [mx.ones(())])[1][0])(x)
    assert lanes.tolist() == [9.0, 36.0]


def test_outputs_computed_elsewhere_are_differentiated_by_the_rule():
    f = thrice_the_output(by_numpy)
    assert f(A).item() == 4.0
    assert mx.grad(f)(A).item() == 12.0
    assert mx.grad(mx.grad(f))(A).item() == 36.0
    assert mx.grad(mx.grad(mx.grad(f)))(A).item() == 108.0
    assert mx.grad(lambda x: mx.grad(f)(x * 2) * x)(A).item() == 3 * 16 + 2 * 2 * 9 * 16.0
    for forward in FORWARD.values():
        assert forward(mx.grad(f))(A).item() == 36.0


def test_several_outputs_in_a_rule():
    def rule(p, c, o):
        return c[0] * o[0] * o[1], c[1] * o[0]

    f = custom(lambda x, y: (x * y, x + y), vjp=rule)

    def total(x, y):
        return sum(f(x, y))

    # With p = xy and s = x + y by the rules p_x = p s, s_x = 0, p_y = 0, s_y = p.
    assert shown(mx.grad(total, argnums=(0, 1))(A, B)) == (30.0, 6.0)
    assert shown(mx.grad(mx.grad(total), argnums=(0, 1))(A, B)) == (150.0, 36.0)
    assert shown(mx.grad(mx.grad(total, argnums=1), argnums=(0, 1))(A, B)) == (30.0, 0.0)
    for i, expected in enumerate((150.0, 36.0)):
        tangents = [scalar(i == 0), scalar(i == 1)]
        assert shown(mx.jvp(mx.grad(total), [A, B], tangents)[1]) == [expected]


def test_a_jvp_rule_differentiates_the_outputs_in_a_vjp_rule():
    f = custom(lambda x: x * x, vjp=lambda p, c, o: c * 3 * o, jvp=lambda p, t: t * 5 * p)
    assert mx.grad(mx.grad(f))(A).item() == 36.0
    assert mx.jvp(mx.grad(f), [A], [scalar(1)])[1][0].item() == 30.0
    assert mx.vmap(lambda x: mx.jvp(mx.grad(f), [x], [scalar(1)])[1][0])(A[None]).item() == 30.0


def test_a_rule_for_batches_is_asked_once_for_outputs():
    asked = []

    def batch(x, axis):
        asked.append(axis)
        return x * x, axis

    f = custom(lambda x: x * x, vjp=lambda p, c, o: c * 3 * o, vmap=batch)
    assert mx.vmap(mx.grad(f))(mx.array([1.0, 2.0])).tolist() == [3.0, 12.0]
    assert asked == [0]
    assert mx.vmap(mx.grad(mx.grad(f)))(mx.array([1.0, 2.0])).tolist() == [9.0, 36.0]


def test_without_a_jvp_rule_the_functions_own_operations_are_followed():
    f = thrice_the_output(lambda x: x * x)
    assert mx.jvp(f, [A], [scalar(1)])[1][0].item() == 4.0


def test_what_a_jvp_rule_gets():
    got = []

    def rule(primals, tangents):
        got.append((shown(primals), shown(tangents)))
        return tangents[0]["a"] * 10

    f = custom(lambda p, y, n: p["a"] * y * n, jvp=rule)
    outputs, tangents = mx.jvp(lambda a: f({"a": a, "b": B}, B, 4), [A], [scalar(1)])
    assert got == [(({"a": 2.0, "b": 3.0}, 3.0, 4), ({"a": 1.0, "b": None}, None, None))]
    assert (shown(outputs), shown(tangents)) == ([24.0], [10.0])
    with pytest.raises(ValueError, match=r"kwargs\['y'\] has a tangent.*by position"):
        mx.jvp(lambda y: custom(lambda x, y: x * y, jvp=rule)(A, y=y), [B], [B])


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (lambda p, t: (t[0], None), [1.0, 0.0]),
        (lambda p, t: None, [0.0, 0.0]),
        (lambda p, t: [t[0] * 2, 3.0], [2.0, 3.0]),
    ],
)
def test_what_a_jvp_rule_may_answer(answer, expected):
    f = custom(lambda x, y: (x * y, x), jvp=answer)
    assert shown(mx.jvp(f, [A, B], [scalar(1), scalar(1)])[1]) == expected


def test_wrong_answers_of_a_jvp_rule():
    f = custom(lambda x, y: (x * y, x), jvp=lambda p, t: t[0])
    with pytest.raises(ValueError, match=r"jvp rule's tangents: got array, expected a tuple of 2"):
        mx.jvp(f, [A, B], [A, B])
    f = custom(lambda x: x, jvp=lambda p, t: mx.ones(3))
    with pytest.raises(ValueError, match=r"the jvp rule returned shape \(3,\) for"):
        mx.jvp(f, [A], [B])


X = mx.arange(6, dtype=mx.float32).reshape(2, 3)


def test_what_a_vmap_rule_gets():
    got = []

    def rule(inputs, axes):
        got.append((shown(inputs), axes))
        return inputs[0]["a"] * 10, 0

    f = custom(lambda p, n: p["a"] * p["b"] * n, vmap=rule)
    answer = mx.vmap(lambda x: f({"a": x, "b": B}, 4))(X)
    assert got == [(({"a": X.tolist(), "b": 3.0}, 4), ({"a": 0, "b": None}, None))]
    assert answer.tolist() == (X * 10).tolist()
    single = custom(lambda x: x, vmap=lambda x, axis: (x * 2, axis))
    assert mx.vmap(single, in_axes=1, out_axes=1)(X).tolist() == (X * 2).tolist()


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        (lambda i, a: ((i[0], i[1]), (0, 0)), (X, X * 2)),
        (lambda i, a: ([i[0], i[1]], 0), (X, X * 2)),
        (lambda i, a: ((i[0].T, i[1]), (1, 0)), (X, X * 2)),
        (lambda i, a: ((i[0], mx.ones(3)), (0, None)), (X, mx.ones((2, 3)))),
    ],
)
def test_what_a_vmap_rule_may_answer(answer, expected):
    f = custom(lambda x, y: (x, y), vmap=answer)
    assert shown(mx.vmap(f)(X, X * 2)) == shown(expected)


def test_the_axis_of_one_output_may_stand_in_a_tuple():
    f = custom(lambda x: x, vmap=lambda x, axis: (x.T, (1,)))
    assert mx.vmap(f)(X).tolist() == X.tolist()


@pytest.mark.parametrize(
    ("answer", "message"),
    [
        (lambda i, a: i, r"returned array, expected a pair"),
        (lambda i, a: (i, 0, 0), r"returned tuple, expected a pair"),
        (lambda i, a: ((i, i), 0), r"outputs: got tuple of 2"),
        (
            lambda i, a: (mx.ones((5, 7)), 0),
            r"returned shape \(5, 7\) for output 0, expected \(3,\) for each",
        ),
        (
            lambda i, a: (i.astype(mx.float16), 0),
            r"returned dtype float16 for output 0, expected float32",
        ),
        (lambda i, a: (None, 0), r"outputs: got None, expected an array"),
    ],
)
def test_wrong_answers_of_a_vmap_rule(answer, message):
    f = custom(lambda x: x * 2, vmap=answer)
    with pytest.raises((ValueError, TypeError), match=r"\[custom_function\].*" + message):
        mx.vmap(f)(X)


def test_keyword_arguments_of_lanes_are_refused():
    f = custom(lambda x, y: x * y, vmap=lambda i, a, y: (i * y, 0))
    assert mx.vmap(lambda x: f(x, y=B))(X).tolist() == (X * 3).tolist()
    with pytest.raises(ValueError, match=r"kwargs\['y'\] differs from lane to lane.*by position"):
        mx.vmap(lambda x: f(x, y=x))(X)


def tenfold():
    """A function whose every derivative is ten times what it is."""

    def jvp(p, t):
        return (20 * p * t).sum()

    return custom(lambda x: (x * x).sum(), vjp=lambda p, c, o: c * p * 20, jvp=jvp)


def test_rules_hold_in_every_composition():
    f = tenfold()
    expected = (X * 20).tolist()
    row = X[1]
    for composed in (
        mx.grad(f),
        mx.compile(mx.grad(f)),
        mx.grad(mx.compile(f)),
        mx.grad(mx.checkpoint(f)),
        mx.grad(mx.checkpoint(mx.compile(f))),
        lambda x: mx.vjp(f, [x], [scalar(1)])[1][0],
        lambda x: mx.vmap(lambda t: mx.jvp(f, [x], [t])[1][0])(mx.eye(3)),
    ):
        assert composed(row).tolist() == expected[1]
    for composed in (
        mx.vmap(mx.grad(f)),
        mx.grad(lambda xs: mx.vmap(f)(xs).sum()),
        mx.compile(mx.vmap(mx.grad(f))),
        mx.vmap(mx.compile(mx.grad(f))),
        mx.vmap(mx.grad(mx.compile(f))),
        mx.grad(lambda xs: mx.compile(mx.vmap(f))(xs).sum()),
        mx.grad(lambda xs: mx.vmap(mx.vmap(f))(xs[None]).sum()),
        mx.grad(lambda xs: mx.vmap(mx.checkpoint(f))(xs).sum()),
        mx.grad(lambda xs: mx.checkpoint(mx.vmap(f))(xs).sum()),
        lambda xs: mx.vmap(
            lambda t: mx.jvp(lambda xs: mx.vmap(f)(xs).sum(), [xs], [t.reshape(2, 3)])[1][0]
        )(mx.eye(6)).reshape(2, 3),
    ):
        assert composed(X).tolist() == expected


def test_a_rule_for_batches_keeps_the_rule_for_gradients():
    f = custom(
        lambda x: (x * x).sum(),
        vjp=lambda p, c, o: c * p * 20,
        vmap=lambda x, axis: ((x * x).sum(axis=1) + 1, 0),
    )
    assert mx.vmap(f)(X).tolist() == ((X * X).sum(axis=1) + 1).tolist()
    assert mx.grad(lambda xs: mx.vmap(f)(xs).sum())(X).tolist() == (X * 20).tolist()
    assert mx.vmap(mx.grad(f))(X).tolist() == (X * 20).tolist()


def test_the_cotangent_of_an_argument_shared_by_lanes_is_their_sum():
    f = custom(lambda x, w: (x * w).sum(), vjp=lambda p, c, o: (c * p[1], c * p[0] * 10))
    w = mx.array([1.0, 2.0, 3.0])
    gradient = mx.grad(lambda w: mx.vmap(f, in_axes=(0, None))(X, w).sum())(w)
    assert gradient.tolist() == (X.sum(axis=0) * 10).tolist()


def test_rules_stand_for_what_has_no_rule():
    """A function that cannot be batched or pushed forward itself can be by its rules."""

    def opaque(x):
        return mx.array(np.sort(to_numpy(x)))

    def with_values(x):
        return mx.stop_gradient(x) if x.ndim == 2 else x

    del opaque
    f = custom(with_values, jvp=lambda p, t: t * 3, vjp=lambda p, c, o: c * 3)
    assert mx.jvp(f, [X], [X])[1][0].tolist() == (X * 3).tolist()
    assert mx.grad(lambda x: f(x).sum())(X).tolist() == [[3.0] * 3] * 2


def test_values_can_be_read_in_the_function_and_in_rules():
    f = custom(lambda x: x * float(x.item() > 0), vjp=lambda p, c, o: c * float(p.item() > 0) * 7)
    with pytest.warns(RuntimeWarning, match=r"\[grad\]"):
        assert mx.grad(f)(A).item() == 7.0


def test_the_function_is_pure():
    """What it does to its arguments is not seen outside."""

    def fun(x):
        x += 1
        return x * 2

    x = scalar(1)
    assert custom(fun, vjp=lambda p, c, o: c * p)(x).item() == 4.0
    assert x.item() == 1.0


def test_results_that_are_no_arrays_stay():
    f = custom(lambda x: (x * 2, "name", 3), vjp=lambda p, c, o: c[0] * 5)
    assert shown(f(A)) == (4.0, "name", 3)
    (value, name, number), slope = mx.value_and_grad(f)(A)
    assert (value.item(), name, number, slope.item()) == (4.0, "name", 3, 5.0)


def test_what_cannot_be_called_is_refused():
    for call in (
        lambda: mx.custom_function(3),
        lambda: mx.custom_function(abs).vjp(3),
        lambda: mx.custom_function(abs).jvp(None),
        lambda: mx.custom_function(abs).vmap("f"),
        lambda: mx.checkpoint(3),
    ):
        with pytest.raises(
            TypeError,
            match=r"\[(custom_function|vjp|jvp|vmap|checkpoint)\] got .*, expected a function",
        ):
            call()


def test_cycles_through_functions_are_collected():
    class Owner:
        pass

    def made(kind):
        owner = Owner()

        def fun(x):
            return x * 2 if owner else x

        if kind == "custom":
            owner.f = custom(fun, vjp=lambda p, c, o: c if owner else p)
            mx.grad(owner.f)(A)
        elif kind == "compile":
            owner.f = mx.compile(lambda x: (fun(x), owner))
            owner.f(A)
        elif kind == "vmap":
            owner.f = mx.vmap(fun)
            owner.f(mx.ones(2))
        elif kind == "checkpoint":
            owner.f = mx.checkpoint(fun)
            owner.f(A)
        else:
            owner.f = getattr(mx, kind)(fun)
            owner.f(A)
        return weakref.ref(owner)

    for kind in ("grad", "value_and_grad", "vmap", "compile", "custom", "checkpoint"):
        gone = made(kind)
        gc.collect()
        assert gone() is None, kind


def test_depends_computes_first_what_is_depended_on():
    x, first = scalar(2), mx.exp(mx.ones(3))
    after = mx.depends(x, first)
    assert after.item() == 2.0
    one, two = mx.depends([A, B], first)
    assert (one.item(), two.item()) == (2.0, 3.0)
    assert isinstance(mx.depends((A, B), (first,)), list)
    assert shown(mx.depends([A], [])) == [2.0]
    assert mx.depends([], [A]) == []


@pytest.mark.covers("depends")
def test_depends_in_transforms():
    def f(x, y):
        return mx.depends(x * x, y * y)

    assert shown(mx.grad(f, argnums=(0, 1))(A, B)) == (4.0, 0.0)
    assert shown(mx.jvp(f, [A, B], [scalar(1), scalar(1)])[1]) == [4.0]
    assert mx.vmap(f)(X, X).tolist() == (X * X).tolist()
    assert mx.vmap(f, in_axes=(0, None))(X, B).tolist() == (X * X).tolist()
    assert mx.vmap(f, in_axes=(None, 0))(B, X).tolist() == [9.0, 9.0]
    assert mx.compile(f)(A, B).item() == 4.0
    assert mx.grad(mx.grad(f))(A, B).item() == 2.0


def test_depends_refuses_what_is_no_array():
    for inputs, dependencies, message in (
        (1.0, A, r"inputs: got float, expected an array"),
        ({"a": A}, A, r"inputs: got dict.*expected an array"),
        ([[A]], A, r"inputs\[0\]: got list, expected an array"),
        (A, [1.0], r"dependencies\[0\]: got float, expected an array"),
    ):
        with pytest.raises(ValueError, match=r"\[depends\] " + message):
            mx.depends(inputs, dependencies)


def test_what_another_thread_computes_has_its_gradient():
    """Whatever thread works on a followed array, its gradient is the whole one."""

    def on_thread(body):
        answer = []
        worker = threading.Thread(target=lambda: answer.append(body()))
        worker.start()
        worker.join()
        return answer[0]

    def f(x):
        y = on_thread(lambda: x * x)
        mx.eval(y)
        z = on_thread(lambda: (mx.eval(y * 3), y * 3)[1])
        on_thread(lambda: mx.eval(z))
        return z * on_thread(lambda: mx.grad(lambda v: v * v)(x))

    assert mx.grad(f)(A).item() == 72.0  # 6 x³
    assert mx.grad(mx.grad(f))(A).item() == 72.0
    pushed = mx.jvp(lambda x: on_thread(lambda: x * x), [A], [scalar(1)])[1]
    assert pushed[0].item() == 4.0
    assert mx.vmap(lambda x: on_thread(lambda: x * x))(X).tolist() == (X * X).tolist()


def test_shared_memory_written_behind_grad_is_taken_as_it_was():
    memory = np.array([1.0, 2.0], np.float32)
    x = mx.asarray(memory)

    def f(x):
        y = (x * x).sum()
        memory[:] = 100
        return y

    value, slope = mx.value_and_grad(f)(x)
    assert (value.item(), slope.tolist()) == (5.0, [2.0, 4.0])


@pytest.mark.parametrize(
    "make",
    [
        mx.grad,
        mx.value_and_grad,
        mx.vmap,
        mx.compile,
        mx.custom_function,
        mx.checkpoint,
        mx.jacfwd,
        mx.jacrev,
        mx.hessian,
    ],
)
def test_garbage_may_be_collected_while_functions_are_made(make):
    """Python makes an object's dictionary, which may start a collection, before the object is."""
    thresholds = gc.get_threshold()
    gc.set_threshold(1)
    try:
        kept = [make(lambda x: x) for _ in range(50)]
    finally:
        gc.set_threshold(*thresholds)
    assert len(kept) == 50


LOOPS = {
    "scan": lambda g, x: mx.scan(lambda c, _: (g(c), None), x, length=3)[0],
    "fori_loop": lambda g, x: mx.fori_loop(0, 3, lambda _, c: g(c), x),
    "cond": lambda g, x: mx.cond(x.sum() > 0, g, lambda x: x * 2, x),
    "map": lambda g, x: mx.map(lambda y: g(y * x[0]), x),
    "checkpoint": lambda g, x: mx.checkpoint(lambda x: x * g(x * x[0]))(x),
}


@pytest.mark.parametrize("rules", ["vmap", "vmap jvp", "vmap vjp", "vmap jvp vjp"])
@pytest.mark.parametrize("loop", LOOPS)
def test_batches_of_derivatives_through_control_flow(loop, rules):
    """A rule for batches is asked only where arguments differ from lane to lane."""
    own = {
        "vmap": lambda x, axes: (mx.sin(x), axes),
        "jvp": lambda x, t: mx.cos(x) * t,
        "vjp": lambda x, ct, y: mx.cos(x) * ct,
    }
    g = mx.custom_function(mx.sin)
    for rule in rules.split():
        getattr(g, rule)(own[rule])
    x = mx.array([0.3, 0.7, 1.1])
    for jacobian in (mx.jacfwd, mx.jacrev, mx.hessian, lambda f: mx.compile(mx.jacfwd(f))):
        if "vjp" in rules and jacobian is not mx.jacrev:
            continue
        got = jacobian(lambda x: LOOPS[loop](g, x))(x)
        want = jacobian(lambda x: LOOPS[loop](mx.sin, x))(x)
        np.testing.assert_allclose(to_numpy(got), to_numpy(want), rtol=1e-5, atol=1e-6)


def test_a_rule_for_batches_of_what_turns_out_to_be_alike():
    g = mx.custom_function(lambda x: x + 1)
    g.vmap(lambda x, axes: (x + 1, axes))
    got = mx.vmap(lambda x: g(mx.zeros_like(x)))(mx.arange(3.0))
    assert got.tolist() == [1, 1, 1]
    tangents = mx.ones((2, 3))
    push = mx.linearize(lambda x: g(x) * x, mx.arange(3.0))[1]
    np.testing.assert_allclose(to_numpy(mx.vmap(push)(tangents)), [[1, 3, 5]] * 2)
