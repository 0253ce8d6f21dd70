"""What transforms return are functions: methods, with metadata, copied and pickled."""

import copy
import functools
import inspect
import pickle

import pytest
import umber.core as mx
from umber import nn

TRANSFORMS = {
    "compile": mx.compile,
    "checkpoint": mx.checkpoint,
    "custom_function": mx.custom_function,
    "grad": mx.grad,
    "value_and_grad": mx.value_and_grad,
    "vmap": mx.vmap,
    "jacrev": mx.jacrev,
    "jacfwd": mx.jacfwd,
    "hessian": mx.hessian,
}


def cube(x: mx.array, *, scale: float = 1.0) -> mx.array:
    """The cube."""
    return x**3 * scale


cube.tag = ["own"]


@mx.compile
def doubled(x):
    return 2 * x


@mx.custom_function
def clipped(x):
    return x


@clipped.vjp
def clipped_vjp(x, cotangent, output):
    return mx.clip(cotangent, -1, 1)


def same(a, b):
    if isinstance(a, mx.array):
        return mx.array_equal(a, b).item()
    return all(same(x, y) for x, y in zip(a, b, strict=True))


def argument(name):
    return mx.array([2.0, 3.0]) if name == "vmap" else mx.array(2.0)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_metadata_is_that_of_the_function(name):
    transformed = TRANSFORMS[name](cube)
    assert transformed.__name__ == "cube"
    assert transformed.__qualname__ == "cube"
    assert transformed.__module__ == __name__
    assert transformed.__doc__ == "The cube."
    assert transformed.__annotations__ == cube.__annotations__
    assert transformed.tag is cube.tag
    assert inspect.unwrap(transformed) is cube
    assert inspect.signature(transformed) == inspect.signature(cube)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_functions_that_wrap_others_are_their_own(name):
    @functools.wraps(cube)
    def wrapping(x):
        return cube(x)

    wrapping.__signature__ = inspect.Signature()
    transformed = TRANSFORMS[name](wrapping)
    assert transformed.__wrapped__ is wrapping or name == "hessian"
    assert inspect.signature(transformed) == inspect.Signature()


@pytest.mark.parametrize("name", TRANSFORMS)
def test_transformed_functions_are_methods(name):
    transform = TRANSFORMS[name]

    class Power:
        def __init__(self, exponent):
            self.exponent = exponent

        @functools.partial(transform)
        def own(self, x):
            raise AssertionError("an array is expected first")

        @staticmethod
        @transform
        def static(x):
            return x**3

    bound = Power(3).own
    assert inspect.ismethod(bound)
    assert bound.__func__ is Power.own is Power.__dict__["own"]
    assert list(inspect.signature(bound).parameters) == ["x"]
    assert same(Power(3).static(argument(name)), transform(cube)(argument(name)))


class Scaled:
    def __init__(self, scale):
        self.scale = scale

    @mx.compile
    def compiled(self, x):
        return x * self.scale

    @mx.checkpoint
    def checkpointed(self, x):
        return x * self.scale

    @mx.custom_function
    def custom(self, x):
        return x * self.scale

    gradient = mx.grad(lambda self, x: x**2 * self.scale, argnums=1)
    value = mx.value_and_grad(lambda self, x: x**2 * self.scale, argnums=1)
    jacobian = mx.jacrev(lambda self, x: x**2 * self.scale, argnums=1)
    forward = mx.jacfwd(lambda self, x: x**2 * self.scale, argnums=1)
    second = mx.hessian(lambda self, x: x**2 * self.scale, argnums=1)
    mapped = mx.vmap(lambda self, x: x * self.scale, in_axes=(None, 0))


def test_methods_are_called_with_their_instance():
    one, two = Scaled(3.0), Scaled(5.0)
    x = mx.array(2.0)
    for scaled in (one, two, one):
        for method in (scaled.compiled, scaled.checkpointed, scaled.custom):
            assert method(x).item() == 2 * scaled.scale
        for method in (scaled.gradient, scaled.jacobian, scaled.forward):
            assert method(x).item() == 4 * scaled.scale
        assert scaled.value(x)[1].item() == 4 * scaled.scale
        assert scaled.second(x).item() == 2 * scaled.scale
        assert scaled.mapped(mx.array([1.0, 2.0])).tolist() == [scaled.scale, 2 * scaled.scale]


def test_functions_are_not_bound_for_programs_written_for_mlx():
    class Layer:
        activation = mx.compile(lambda x: 2 * x)

    mx._set_narrowing(True)
    try:
        assert Layer().activation(mx.array(1.0)).item() == 2.0
    finally:
        mx._set_narrowing(False)
    with pytest.raises(TypeError, match="positional argument"):
        Layer().activation(mx.array(1.0))


def test_a_compiled_method_has_one_cache():
    traces = []

    class Counted:
        @mx.compile
        def step(self, x):
            traces.append(self)
            return x + 1

    one, two = Counted(), Counted()
    for counted in (one, one, two, one, two):
        assert counted.step(mx.array(1.0)).item() == 2.0
    assert traces == [one, two]


@pytest.mark.parametrize("name", TRANSFORMS)
def test_pickles_and_copies(name):
    transformed = TRANSFORMS[name](cube)
    transformed.note = "set later"
    x = argument(name)
    for other in (
        pickle.loads(pickle.dumps(transformed)),
        copy.copy(transformed),
        copy.deepcopy(transformed),
    ):
        assert other is not transformed
        assert type(other) is type(transformed)
        assert other.note == "set later"
        assert other.tag is cube.tag
        assert inspect.unwrap(other) is cube
        assert same(other(x), transformed(x))
        assert repr(other) == repr(transformed)


def pair(x, y):
    return (x * y).sum(), x


@pytest.mark.parametrize(
    "transformed",
    [
        mx.grad(pair, argnums=(0, 1)),
        mx.grad(pair, has_aux=True),
        mx.value_and_grad(pair, 1, has_aux=True),
        mx.jacrev(pair, (1, 0), True),
        mx.jacfwd(pair, 1, has_aux=True),
        mx.hessian(pair, (0, 1), True),
        mx.vmap(lambda *args: pair(*args), (0, None), (0, 0)),
        mx.compile(pair, shapeless=True),
    ],
    ids=str,
)
def test_options_are_copied(transformed):
    x, y = mx.array([2.0, 3.0]), mx.array([5.0, 7.0])
    assert flat(copy.deepcopy(transformed)(x, y)) == flat(transformed(x, y))


def test_names_of_arguments_are_copied():
    gradient = copy.deepcopy(mx.grad(lambda x, *, z: x * z, argnames=["z"]))
    positional, named = gradient(mx.array(2.0), z=mx.array(3.0))
    assert positional is None
    assert named["z"].item() == 2.0


def flat(tree):
    return tree.tolist() if isinstance(tree, mx.array) else [flat(item) for item in tree]


def test_holomorphic_functions_are_copied():
    z = mx.array(1.0 + 2.0j)
    assert copy.deepcopy(mx.grad(mx.square, holomorphic=True))(z).item() == 2 + 4j
    assert copy.deepcopy(mx.jacrev(mx.square, holomorphic=True))(z).item() == 2 + 4j


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_decorated_functions_are_pickled_by_name(protocol):
    for function in (doubled, clipped, Scaled.compiled):
        assert pickle.loads(pickle.dumps(function, protocol)) is function
        assert copy.deepcopy(function) is function


def test_methods_are_pickled():
    method = pickle.loads(pickle.dumps(Scaled(3.0).compiled))
    assert method(mx.array(2.0)).item() == 6.0


def test_rules_of_custom_functions_are_copied():
    function = mx.custom_function(cube).vjp(lambda x, cotangent, output: cotangent * 100)
    other = copy.deepcopy(function)
    assert mx.grad(other)(mx.array(1.0)).item() == 100.0
    other.vjp(lambda x, cotangent, output: cotangent)
    assert mx.grad(function)(mx.array(1.0)).item() == 100.0


def test_state_is_copied_with_its_owner():
    model = nn.Linear(1, 1)
    step = mx.compile(lambda x: model(x), inputs=model.state)
    copied_model, copied_step = copy.deepcopy((model.state, step))
    assert copied_step.__reduce__()[1][1] is copied_model
    lone = pickle.loads(pickle.dumps(mx.compile(nn.Linear(2, 2))))
    assert isinstance(lone.__wrapped__, nn.Linear)


def test_what_cannot_be_pickled_says_so():
    with pytest.raises((pickle.PicklingError, AttributeError), match="lambda"):
        pickle.dumps(mx.compile(lambda x: x))


def test_kernels_are_methods():
    class Scaled:
        def __init__(self, factor):
            self.factor = factor

        @mx.fast.kernel
        def apply(self, x, y):
            """The sum, times the factor."""
            return (x + y) * self.factor

    x = mx.array([[1.0, 2.0], [3.0, 4.0]])
    kernel = Scaled(3.0).apply
    assert kernel(x, 1.0).tolist() == [[6.0, 9.0], [12.0, 15.0]]
    assert (kernel.__name__, kernel.__doc__) == ("apply", "The sum, times the factor.")
    assert mx.grad(lambda x: kernel(x, x).sum())(x).tolist() == [[6.0, 6.0], [6.0, 6.0]]
    assert Scaled.apply is Scaled.apply
    assert mx.fast.kernel(mx.sin).__get__(Scaled(1.0), Scaled)(x).shape == (2, 2)
