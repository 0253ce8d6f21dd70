"""Errors name the function that was called, whatever it is made of, and pass the user's own on."""

import math

import numpy as np
import pytest
import umber.core as mx
import umber.nn as nn
import umber.optimizers as optim
import umber.utils as utils


def x(*shape):
    return mx.zeros(shape)


def deep_model():
    model = nn.Linear(1, 1)
    for _ in range(3000):
        model = nn.Sequential(model)
    return model


TEXT = np.array(["a"])
INTEGERS = mx.array([[[1, 2], [3, 4]]])

CALLS = [
    (
        lambda: mx.allclose(x(2), x(3)),
        ValueError,
        r"allclose\] shapes \(2,\) and \(3,\) cannot be broadcast",
    ),
    (
        lambda: mx.random.permutation(x(2), axis=4),
        ValueError,
        r"permutation\] axis 4 is out of bounds for 1 dimension$",
    ),
    (
        lambda: mx.percentile(x(3), 101),
        ValueError,
        r"percentile\] q must be between 0 and 100, got 101",
    ),
    (
        lambda: mx.eval(mx.searchsorted(x(3), x(1), sorter=mx.array([0, 1, 7]))),
        IndexError,
        r"searchsorted\] index 7 is out of bounds for axis 0 of length 3",
    ),
    (
        lambda: mx.searchsorted(x(3), x(1), sorter=x(3)),
        TypeError,
        r"searchsorted\] indices must be integers, not float32",
    ),
    (
        lambda: mx.eval(mx.searchsorted(mx.exp(x(3000)), x(1), sorter=mx.arange(3000) + 1)),
        IndexError,
        r"searchsorted\] index 3000 is out of bounds for axis 0 of length 3000",
    ),
    (
        lambda: mx.eval(
            mx.gather_qqmm(x(1, 2, 64), x(4, 32, 64), rhs_indices=mx.array([7]), mode="mxfp8")
        ),
        IndexError,
        r"gather_qqmm\] index 7 is out of bounds",
    ),
    (
        lambda: mx.eval(mx.gather_mm(x(1, 2, 4), x(4, 4, 3), rhs_indices=mx.array([7]))),
        IndexError,
        r"gather_mm\] index 7 is out of bounds",
    ),
    (lambda: mx.fast.rms_norm(INTEGERS, None, 1e-5), mx.DTypeError, r"rms_norm\] "),
    (lambda: mx.fast.layer_norm(INTEGERS, None, None, 1e-5), mx.DTypeError, r"layer_norm\] "),
    (
        lambda: mx.fast.rope(INTEGERS, 2, traditional=False, base=1e4, scale=1.0, offset=0),
        mx.DTypeError,
        r"rope\] dtype int32",
    ),
    (
        lambda: mx.fast.scaled_dot_product_attention(*[INTEGERS[None]] * 3, scale=1.0),
        mx.DTypeError,
        r"scaled_dot_product_attention\] dtype int32",
    ),
    (lambda: mx.random.normal((2,), mx.int32), mx.DTypeError, r"normal\] dtype int32"),
    (lambda: mx.random.uniform(dtype=mx.int32), mx.DTypeError, r"uniform\] dtype int32"),
    (lambda: mx.random.gumbel((2,), mx.int32), mx.DTypeError, r"gumbel\] dtype int32"),
    (lambda: mx.random.randint(0, 2, dtype=mx.float32), mx.DTypeError, r"randint\] dtype float32"),
    (lambda: mx.random.bernoulli(mx.array([1])), mx.DTypeError, r"bernoulli\] p must be float"),
    (lambda: mx.conj("a"), TypeError, "conj"),
    (
        lambda: mx.atan2(x(2), x(3)),
        ValueError,
        r"atan2\] shapes \(2,\) and \(3,\) cannot be broadcast",
    ),
    (lambda: mx.linalg.norm(x(2, 2), ord=[]), TypeError, "norm"),
    (lambda: mx.array([1], dtype=5), TypeError, "array"),
    (lambda: mx.array(), TypeError, r"array\] got no argument val, expected array\(val, dtype\)"),
    (lambda: mx.array(1, 2, 3), TypeError, "array"),
    (lambda: mx.array(1, dtyp=mx.float32), TypeError, "array"),
    (lambda: mx.array(300, mx.uint8), ValueError, r"array\] 300 does not fit uint8 \(0\.\.255\)"),
    (
        lambda: mx.full((2,), 300, mx.uint8),
        ValueError,
        r"full\] 300 does not fit uint8 \(0\.\.255\)",
    ),
    (lambda: x(2).round(2**40), mx.RangeError, r"round\] decimals: 1099511627776 is out of range"),
    (lambda: x(2).reshape("a"), TypeError, "reshape"),
    (lambda: x(2).sum(1, 2, 3), TypeError, "sum"),
    (lambda: x(2).__add__([1, "a"]), TypeError, "add"),
    (lambda: 2**70 - x(2), ValueError, rf"subtract\] {2**70} does not fit any dtype"),
    (lambda: x(2).__setitem__(0, "a"), TypeError, "index"),
    (lambda: mx.Device(3), TypeError, r"Device\] type: got int, expected DeviceType"),
    (lambda: mx.Device(mx.cpu, -1), (ValueError, OverflowError), "Device"),
    (lambda: mx.Dtype("x"), TypeError, r"Dtype\] name: unknown dtype 'x', expected one of bool"),
    (
        lambda: mx.Stream(0, mx.cpu),
        TypeError,
        r"Stream\] this class cannot be instantiated directly",
    ),
    (lambda: mx.compile(x, inputs=3), TypeError, r"compile\] inputs: got int, expected arrays"),
    (lambda: mx.compile(x, outputs=x), TypeError, r"compile\] outputs: got function, exp"),
    (
        lambda: mx.broadcast_shapes(np.ones((2, 2))),
        TypeError,
        r"broadcast_shapes\] .*: got ndarray, exp",
    ),
    (lambda: mx.eval(mx.linalg.inv(x(2, 2))), RuntimeError, r"linalg.inv\] the matrix is singular"),
    (lambda: mx.random.permutation(2.5), TypeError, r"permutation\] x: got float, expected an in"),
    (lambda: optim.clip_grad_norm([], TEXT), TypeError, r"clip_grad_norm\] .*: got "),
    (lambda: mx.default_device(3), TypeError, "default_device"),
    (
        lambda: mx.random.normal((2,), scale=-1),
        ValueError,
        r"normal\] scale must not be negative, got -1",
    ),
    (
        lambda: mx.random.gamma(2.0, (2,), scale=-1.0),
        ValueError,
        r"gamma\] scale must not be negative, got -1",
    ),
    (
        lambda: mx.random.exponential((2,), scale=-1.0),
        ValueError,
        r"exponential\] scale must not be negative, got -1",
    ),
    (
        lambda: mx.random.laplace((2,), scale=-1.0),
        ValueError,
        r"laplace\] scale must not be negative, got -1",
    ),
    (
        lambda: nn.Linear(-1, 2),
        ValueError,
        r"Linear\] lengths must not be negative, got shape \(2, -1\)",
    ),
    (lambda: nn.Linear(2.5, 2), TypeError, r"Linear\] input_dims: got 2.5, expected an integer"),
    (lambda: nn.Linear(2), TypeError, r"Linear\] missing .*: got 1 positional argument, exp"),
    (lambda: optim.Adam(), TypeError, r"Adam\] missing .*: got no positional argument, exp"),
    (lambda: nn.Sigmoid(bogus=1), TypeError, r"Sigmoid\] .*: got no .* and 'bogus', exp"),
    (lambda: nn.Dropout("a"), TypeError, "Dropout"),
    (lambda: nn.LeakyReLU("a"), TypeError, "LeakyReLU"),
    (lambda: nn.relu("a"), TypeError, r"relu\] x: got str, expected an array"),
    (lambda: nn.glu(x(3)), ValueError, r"glu\] cannot split axis 0 of shape \(3,\) into 2 equal"),
    (
        lambda: nn.losses.cross_entropy(x(2, 3), x(2), axis=7),
        ValueError,
        r"cross_entropy\] axis 7 is out of bounds for 2 dim",
    ),
    (lambda: nn.losses.cross_entropy("a", x(2)), TypeError, "cross_entropy"),
    (lambda: nn.losses.mse_loss(TEXT, np.ones(1)), TypeError, r"mse_loss\] .*: got ndarray of <U1"),
    (lambda: nn.losses.mse_loss(np.ones(1), TEXT), TypeError, r"mse_loss\] targets: got ndarray"),
    (lambda: nn.leaky_relu(TEXT), TypeError, r"leaky_relu\] x: got ndarray of <U1, exp"),
    (
        lambda: nn.losses.log_cosh_loss("mean", np.ones(3)),
        TypeError,
        r"log_cosh_loss\] .*: got str",
    ),
    (lambda: nn.AvgPool2d(x(2, 2)), ValueError, r"AvgPool2d\] got kernel_size array\(.*, exp"),
    (lambda: nn.AdaptiveAvgPool2d(x(2, 2)), ValueError, r"AdaptiveAvgPool2d\] got .*, expected"),
    (lambda: nn.losses.triplet_loss(x(2), x(2), x(2), p=0), ValueError, "triplet_loss"),
    (lambda: nn.init.normal(std="a")(mx.zeros(2)), TypeError, "normal"),
    (lambda: optim.Adam("a"), (TypeError, ValueError), "Adam"),
    (lambda: optim.Adam(1e-3, betas=3), TypeError, "Adam"),
    (lambda: optim.step_decay(0.1, 0.9, 0), ValueError, "step_decay"),
    (lambda: optim.cosine_decay(0.1, 0), ValueError, "cosine_decay"),
    (lambda: optim.linear_schedule("a", 1, 3), TypeError, "linear_schedule"),
    (lambda: optim.clip_grad_norm(3, 1.0), (TypeError, ValueError), "clip_grad_norm"),
    (lambda: utils.tree_map(3, [1]), TypeError, "tree_map"),
    (lambda: utils.tree_unflatten([3]), TypeError, "tree_unflatten"),
    (
        lambda: utils.tree_unflatten([("99999999999", 1)]),
        ValueError,
        r"tree_unflatten\] index 99999999999 is too large",
    ),
    (
        lambda: utils.tree_unflatten([("9" * 5000, 1)]),
        ValueError,
        r"tree_unflatten\] index 9{20} is too large",
    ),
    (
        lambda: nn.Linear(2, 2).update({"nope": x(1)}),
        ValueError,
        r"Module.update\] nope does not exist in the module",
    ),
    (
        lambda: nn.Linear(2, 2).update_modules({"nope": nn.ReLU()}),
        ValueError,
        r"update_modules\] nope does not exist in the module",
    ),
    (
        lambda: nn.Linear(2, 2).load_weights([("weight", x(3, 3))]),
        ValueError,
        r"load_weights\] missing parameters of the model \(1\): bias",
    ),
    (lambda: nn.Linear(2, 2, False).load_weights({"weight": 1}), ValueError, "load_weights"),
    (
        lambda: nn.Linear(2, 2).load_weights("/dev/null"),
        (OSError, ValueError),
        r"load_weights\] /dev/null is not a regular file, exp",
    ),
    (lambda: nn.LayerNorm(4)(x(3)), ValueError, r"LayerNorm\] the input's last axis: got size 3"),
    (
        lambda: optim.SGD(0.1).apply_gradients({"a": x(1)}, {}),
        ValueError,
        r"apply_gradients\] a is not a parameter, but has",
    ),
    (lambda: optim.SGD(0.1).apply_gradients({"a": 3}, {"a": x(1)}), TypeError, "apply_gradients"),
    (
        lambda: optim.Optimizer().apply_single(x(1), x(1), {}),
        NotImplementedError,
        r"Optimizer\] the class must define apply_single",
    ),
    (
        lambda: optim.Optimizer().init_single(x(1), {}),
        NotImplementedError,
        r"Optimizer\] the class must define init_single",
    ),
    (
        lambda: deep_model().parameters(),
        RecursionError,
        r"parameters\] lists, .* are nested deeper",
    ),
]


@pytest.mark.parametrize(("call", "kind", "words"), CALLS)
def test_names_the_function(call, kind, words):
    start = words if "]" in words else words + r"\]"
    with pytest.raises(kind, match=rf"^\[{start}") as caught:
        call()
    if "]" not in words:
        text = str(caught.value)
        assert 0 < text.find("got") < text.find("expected "), text
    assert not getattr(caught.value, "__notes__", None)


def test_an_update_with_gradients_of_another_shape():
    model = nn.Linear(2, 3)
    before = model.weight.tolist()
    with pytest.raises(ValueError, match=r"^\[update\]"):
        optim.Adam(0.1).update(model, {"weight": x(7, 7)})
    assert model.weight.tolist() == before


@pytest.mark.parametrize(
    "call",
    [
        lambda f: mx.vjp(f, [x(2)], [x(2)]),
        lambda f: mx.grad(f)(x()),
        lambda f: mx.vmap(f)(x(2)),
        lambda f: mx.compile(f)(x(2)),
        lambda f: mx.apply_along_axis(f, 0, x(2)),
        lambda f: utils.tree_map(f, [1]),
        lambda f: nn.value_and_grad(nn.Linear(1, 1), f)(x(1)),
        lambda f: nn.Linear(1, 1).apply(f),
        lambda f: optim.SGD(f),
    ],
)
def test_errors_of_the_users_function_pass(call):
    def fails(*args):
        raise ValueError("[mine] of the user")

    with pytest.raises(ValueError, match=r"^\[mine\] of the user$"):
        call(fails)


def test_errors_of_functions_inside_others_keep_their_names():
    with pytest.raises(TypeError, match=r"^\[exp\] a: got str"):
        mx.vjp(lambda a: mx.exp(["b"]), [x(2)], [x(2)])
    with pytest.raises((TypeError, ValueError), match=r"^\[exp\]"):
        utils.tree_map(mx.exp, ["a"])
    with pytest.raises(ValueError, match="math domain error"):
        utils.tree_map(lambda v: math.sqrt(v), [-1])


def test_errors_of_an_evaluation_name_what_was_recorded():
    late = mx.take(x(3), mx.array([0, 5]))
    for ask in (
        late.tolist,
        lambda: mx.eval(late),
        lambda: mx.save_safetensors("/dev/null", {"a": late}),
    ):
        with pytest.raises(IndexError, match=r"^\[take\]"):
            ask()


def test_a_foreign_exception_is_the_users():
    class Odd:
        def __index__(self):
            raise KeyError("no index")

        def __array__(self, *args, **kwargs):
            raise LookupError("no array")

    with pytest.raises(LookupError, match="no array"):
        mx.exp(Odd())
    with pytest.raises((KeyError, TypeError)):
        mx.sum(x(2), axis=Odd())


def test_functions_are_what_they_were():
    """Names, signatures and documentation survive, as do pickles of functions."""
    import inspect
    import pickle

    assert str(inspect.signature(mx.add)) == "(a, b, stream=None)"
    assert str(inspect.signature(mx.array.sum)).startswith("(self, /, axis=None")
    assert mx.add.__module__ == "umber.core"
    assert repr(mx.add) == "<built-in function add>"
    assert "element by element" in mx.add.__doc__
    assert pickle.loads(pickle.dumps(mx.linalg.norm)) is mx.linalg.norm
    assert list(inspect.signature(nn.Linear).parameters) == ["input_dims", "output_dims", "bias"]
