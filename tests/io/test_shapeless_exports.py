"""Functions exported for all lengths give what they give as written, or name the bound length."""

import operator

import numpy as np
import pytest
import umber.core as mx
from layer_cases import assert_near, make, outputs_of
from nn_table import LAYERS, Indices, Lower, Shape, values_of
from tolerances import tolerance_of
from umber import nn

# Many of the functions draw random numbers, which an export warns of.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*draws random numbers", "ignore:.*updates running_"
)

REFUSED = r"argument .*axis \d+: got length \d+, expected \d+"


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "function.umber")


def exported(path, fun, *args, **kwargs):
    mx.export_function(path, fun, *args, shapeless=True, **kwargs)
    return mx.import_function(path)


# Layers that draw random numbers need the shape of what they draw.
CASES = [case for case in LAYERS if not case.random]


def with_lengths(inputs, change):
    """The entries of a row of the table with other lengths: `change(input, axis, length)`."""
    for i, entry in enumerate(inputs):
        if isinstance(entry, Shape):
            yield Shape(tuple(change(i, axis, n) for axis, n in enumerate(entry.sizes)))
        elif isinstance(entry, Indices):
            sizes = tuple(change(i, axis, n) for axis, n in enumerate(entry.sizes))
            yield Indices(sizes, entry.limit)
        elif isinstance(entry, Lower):
            yield Lower(change(i, 0, entry.size), entry.additive)
        else:
            yield entry


def lengths_of(entry):
    if isinstance(entry, Lower):
        return (entry.size, entry.size)
    return getattr(entry, "sizes", ())


def variations(inputs):
    """All axes of one length changed together, and the first axis of the first input alone."""
    for old in sorted({n for entry in inputs for n in lengths_of(entry)}):
        for new in (old + 2, 3 * old):
            yield tuple(
                with_lengths(inputs, lambda _i, _a, n, old=old, new=new: new if n == old else n)
            )
    for new in (1, 7):
        yield tuple(with_lengths(inputs, lambda i, a, n, new=new: new if (i, a) == (0, 0) else n))


def arrays_of(inputs):
    rng = np.random.default_rng(7)
    return [mx.array(values_of(entry, rng)) for entry in inputs]


def unless_refused(imported, arrays):
    """What an imported function gives, or None where it says which length is bound."""
    try:
        return imported(*arrays)
    except ValueError as error:
        if "[import_function::call]" not in str(error):
            raise
        return None


@pytest.mark.parametrize("case", CASES, ids=str)
def test_layers_at_other_lengths(case, path):
    layer = make(case).eval()

    def call(*inputs):
        return outputs_of(layer, case, inputs)

    imported = exported(path, call, *arrays_of(case.inputs))
    assert_near(
        imported(*arrays_of(case.inputs)), call(*arrays_of(case.inputs)), tolerance_of("float32", 4)
    )
    for inputs in variations(case.inputs):
        arrays = arrays_of(inputs)
        try:
            want = call(*arrays)
        except ValueError:
            with pytest.raises(ValueError, match=r"^\["):
                mx.eval(*imported(*arrays))
            continue
        got = unless_refused(imported, arrays)
        if got is not None:
            assert_near(got, want, tolerance_of("float32", 4 * case.factor))


# The first axis is one of samples, which no layer looks at, but for these.
WITHOUT_SAMPLES = {"GLU", "ALiBi", "SinusoidalPositionalEncoding"}


@pytest.mark.parametrize(
    "case",
    [
        case
        for case in CASES
        if case.name not in WITHOUT_SAMPLES
        and all(isinstance(entry, Shape | Indices) for entry in case.inputs)
        and len(lengths_of(case.inputs[0])) > 2
    ],
    ids=str,
)
def test_any_number_of_samples(case, path):
    layer = make(case).eval()

    def call(*inputs):
        return outputs_of(layer, case, inputs)

    imported = exported(path, call, *arrays_of(case.inputs))
    old = lengths_of(case.inputs[0])[0]
    for new in (1, old + 1, 9):
        arrays = arrays_of(
            with_lengths(case.inputs, lambda _i, a, n, new=new: new if (a, n) == (0, old) else n)
        )
        assert_near(imported(*arrays), call(*arrays), tolerance_of("float32", 4 * case.factor))


SCALE = mx.random.normal((4,))
WEIGHT = mx.random.normal((4, 6))


def features(x):
    return x.reshape(-1, x.shape[-1]) @ WEIGHT


def attention(x):
    q, k, v = mx.split(mx.concatenate([x, x * 2, x + 1], axis=-1), 3, axis=-1)
    heads = [mx.unflatten(y, -1, (2, 2)).transpose(0, 2, 1, 3) for y in (q, k, v)]
    y = mx.fast.scaled_dot_product_attention(*heads, scale=0.5, mask="causal")
    return mx.flatten(y.transpose(0, 2, 1, 3), -2, -1)


def with_row(x):
    y = x * 2
    y[0] = 5
    y[:, -1] = x[:, 0]
    return y


NORM = nn.BatchNorm(4)

# A function, and at which axes of `x` (4 axes of length 5, 6, 4 in order) it may have others.
FUNCTIONS = {
    "mean": (lambda x: x.mean(), {0, 1, 2}),
    "mean of an axis": (lambda x: x.mean(axis=1), {0, 1, 2}),
    "var": (lambda x: mx.var(x, axis=(0, 1), ddof=1), {0, 1, 2}),
    "std": (lambda x: mx.std(x, axis=-1, keepdims=True) * x, {0, 1, 2}),
    "layer norm": (lambda x: mx.fast.layer_norm(x, SCALE, None, 1e-5), {0, 1}),
    "rms norm": (lambda x: mx.fast.rms_norm(x, SCALE, 1e-5), {0, 1}),
    "a length read": (lambda x: x / x.shape[-1], {0, 1}),
    "a length read from the front": (lambda x: x * x.shape[0], {1, 2}),
    "lengths read by a slice": (lambda x: x.reshape(-1, *x.shape[1:]), {0}),
    "len": (lambda x: x * len(x), {1, 2}),
    "size": (lambda x: x / x.size, set()),
    "features": (features, {0, 1}),
    "flatten": (lambda x: mx.flatten(x, 0, 1), {0, 1, 2}),
    "reshape to the rest": (lambda x: x.reshape(5, -1), {1, 2}),
    "softmax": (lambda x: mx.softmax(x, axis=1), {0, 1, 2}),
    "split": (lambda x: mx.split(x, 2, axis=-1), {0, 1}),
    "all but the first": (lambda x: x[:, 1:] - x[:, :-1], {0, 1, 2}),
    "the last": (lambda x: x[:, -1], {0, 1, 2}),
    "every other": (lambda x: x[:, ::2], {0, 1, 2}),
    "the first two": (lambda x: x[:, :2], {0, 1, 2}),
    "beyond the end": (lambda x: x[:, :100], {0, 2}),
    "pad": (lambda x: mx.pad(x, [(0, 0), (1, 2), (0, 0)]), {0, 1, 2}),
    "squeeze": (lambda x: x.squeeze(), {0, 1, 2}),
    "attention": (attention, {0, 1}),
    "rope": (
        lambda x: mx.fast.rope(x, 4, traditional=False, base=1e4, scale=1.0, offset=0),
        {0, 1, 2},
    ),
    "gradient": (mx.grad(lambda x: (x * x).mean()), {0, 1, 2}),
    "gradient of a power": (mx.grad(lambda x: (x**2).mean()), {0, 1, 2}),
    "weights without values": (lambda x: mx.fast.rms_norm(x, mx.ones(4), 1e-5), {0, 1}),
    "scan": (
        lambda x: mx.scan(lambda c, row: (c + row, c * 2), mx.zeros_like(x[0]), x)[1],
        {0, 1, 2},
    ),
    "gradient of a mean": (mx.grad(lambda x: x.mean()), {0, 1, 2}),
    "gradient of a variance": (mx.grad(lambda x: x.var()), {0, 1, 2}),
    "gradient of deviations": (mx.grad(lambda x: mx.std(x, axis=0, ddof=1).sum()), {0, 1, 2}),
    "gradient of a product": (mx.grad(lambda x: (x @ WEIGHT).sum()), {0, 1}),
    "gradient of a square": (mx.grad(lambda x: (x @ x.swapaxes(1, 2)).sum()), {0, 1, 2}),
    "gradient of a sort": (mx.grad(lambda x: (mx.sort(x, axis=1) * 2).sum()), {0, 1, 2}),
    "largest replaced": (
        lambda x: mx.put_along_axis(x, mx.argmax(x, 1, keepdims=True), mx.array(0.0), 1),
        {0, 1, 2},
    ),
    "zeros": (mx.zeros_like, {0, 1, 2}),
    "constants alone": (lambda x: mx.zeros_like(x) + mx.full_like(x, 2), {0, 1, 2}),
    "loss against zeros": (lambda x: nn.losses.mse_loss(x, mx.zeros_like(x)), {0, 1, 2}),
    "entropy against ones": (
        lambda x: nn.losses.binary_cross_entropy(x, mx.ones_like(x)),
        {0, 1, 2},
    ),
    "rows written": (with_row, {0, 1, 2}),
    "one row added to": (lambda x: x.at[0].add(1), {0, 1, 2}),
    "a column subtracted from": (lambda x: x.at[:, 1].subtract(2.0), {0, 1, 2}),
    "a column reduced by a row": (lambda x: x.at[:, 1].subtract(WEIGHT[:, 0]), {0, 1}),
    "a block from computed starts": (
        lambda x: mx.slice(x, mx.array([0, 0]), axes=(0, 1), slice_size=(1, 2, 2)),
        {0, 1, 2},
    ),
    "a block written at computed starts": (
        lambda x: mx.slice_update(x, mx.zeros((1, 2, 2)), mx.array([0, 0]), axes=(0, 1)),
        {0, 1, 2},
    ),
    "a window written": (lambda x: x.at[1:, -2:].multiply(3), {0, 1, 2}),
    "gradient of a row": (mx.grad(lambda x: (x[0] ** 2).sum()), {0, 1, 2}),
    "gradient of rows taken": (mx.grad(lambda x: (x[mx.array([0, 0])] ** 2).sum()), {0, 1, 2}),
    "gradient of a maximum": (mx.grad(lambda x: x.max(axis=1).sum()), {0, 1, 2}),
    "topk": (lambda x: mx.topk(x, 2, axis=1), {0, 1, 2}),
    "partition from the front": (lambda x: mx.sort(mx.partition(x, 1, axis=1)[:, :2]), {0, 1, 2}),
    "tril": (lambda x: mx.tril(x, 1), {0, 1, 2}),
    "triu": (lambda x: mx.triu(x), {0, 1, 2}),
    "median": (lambda x: mx.median(x, axis=1), {0, 1, 2}),
    "median of all": (mx.median, {0, 1, 2}),
    "nanmedian": (lambda x: mx.nanmedian(x, axis=0), {0, 1, 2}),
    "quantile": (lambda x: mx.quantile(x, 0.3, axis=1), {0, 1, 2}),
    "cov": (lambda x: mx.cov(x[:, :, 0]), {0, 1, 2}),
    "fft": (lambda x: mx.abs(mx.fft.fft(x, axis=1)), {0, 1, 2}),
    "batch norm in training": (NORM, {0, 1}),
    "compiled": (mx.compile(lambda x: mx.tanh(x) * 2 + SCALE), {0, 1}),
    "compiled reading": (mx.compile(lambda x: x * x.shape[1]), {0, 2}),
}


def call_as_tuple(function):
    def call(x):
        y = function(x)
        return tuple(y) if isinstance(y, list | tuple) else (y,)

    return call


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_at_other_lengths(name, path):
    function, free = FUNCTIONS[name]
    call, shape = call_as_tuple(function), (5, 6, 4)
    imported = exported(path, call, mx.random.normal(shape))
    for axis in range(3):
        for new in (2, 3, 7, 8, 13):
            lengths = [*shape]
            lengths[axis] = new
            x = mx.random.normal(lengths)
            try:
                wanted = call(x)
            except ValueError:
                with pytest.raises(ValueError, match=r"^\["):
                    imported(x)
                continue
            if axis in free:
                for got, want in zip(imported(x), wanted, strict=True):
                    assert got.shape == want.shape
                    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)
                continue
            pattern = rf"argument 1, axis {axis}: got length {new}, expected {shape[axis]}"
            with pytest.raises(ValueError, match=pattern):
                imported(x)


@pytest.mark.parametrize("name", FUNCTIONS)
def test_compiled_functions_at_other_lengths(name):
    call = call_as_tuple(FUNCTIONS[name][0])
    compiled = mx.compile(call, shapeless=True)
    for shape in ((5, 6, 4), (11, 13, 4), (3, 6, 4), (5, 9, 4), (2, 2, 4), (1, 6, 4), (5, 6, 4)):
        x = mx.random.normal(shape)
        try:
            wanted = call(x)
        except ValueError:
            with pytest.raises(ValueError, match=r"^\["):
                mx.eval(*compiled(x))
            continue
        for got, want in zip(compiled(x), wanted, strict=True):
            assert got.shape == want.shape
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-5)


def test_gradients_at_other_lengths_of_equal_axes(path):
    gradient = mx.grad(lambda x: (mx.sort(x, axis=0) * 2 + x.mean()).sum())
    imported = exported(path, gradient, mx.random.normal((4, 4)))
    for shape in ((7, 4), (4, 7), (9, 9), (2, 5), (1, 4)):
        x = mx.random.normal(shape)
        np.testing.assert_allclose(imported(x)[0], gradient(x), rtol=1e-5)


def test_what_is_bound_is_named(path):
    imported = exported(
        path, lambda x, *, y: (x / x.shape[-1], y * y.shape[0]), mx.ones((2, 3)), y=mx.ones(4)
    )
    assert imported(mx.ones((5, 3)), y=mx.ones(4))[0].shape == (5, 3)
    with pytest.raises(ValueError, match="argument 1, axis 1: got length 5, expected 3"):
        imported(mx.ones((2, 5)), y=mx.ones(4))
    with pytest.raises(ValueError, match="argument 'y', axis 0: got length 7, expected 4"):
        imported(mx.ones((2, 3)), y=mx.ones(7))


# Which answer for axes of length 0 and 1, too. The others say so where an operation does
# something else there.
SHORT = {
    "mean",
    "mean of an axis",
    "std",
    "features",
    "flatten",
    "softmax",
    "gradient",
    "zeros",
    "constants alone",
    "loss against zeros",
    "entropy against ones",
    "tril",
    "triu",
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_at_short_lengths(name, path):
    function, free = FUNCTIONS[name]
    call, shape = call_as_tuple(function), (5, 6, 4)
    imported = exported(path, call, mx.random.normal(shape))
    for axis in free:
        for new in (0, 1):
            lengths = [*shape]
            lengths[axis] = new
            x = mx.random.normal(lengths)
            try:
                wanted = call(x)
                mx.eval(wanted)
            except ValueError:
                with pytest.raises(ValueError, match=r"^\["):
                    mx.eval(imported(x))
                continue
            got = unless_refused(imported, (x,))
            assert got is not None or name not in SHORT, (axis, new)
            for got_one, want in zip(got or (), wanted, strict=got is not None):
                assert got_one.shape == want.shape
                np.testing.assert_allclose(got_one, want, rtol=1e-5, atol=1e-5)


def test_an_axis_that_is_something_else_when_short(path):
    imported = exported(path, lambda x: x.squeeze() * 2, mx.ones((2, 4)))
    assert imported(mx.ones((0, 4)))[0].shape == (0, 4)
    with pytest.raises(ValueError, match="argument 1, axis 0: got length 1, expected at least 2"):
        imported(mx.ones((1, 4)))


def test_slices_longer_than_the_axis_are_refused(path):
    imported = exported(path, lambda x: x[:3] * 2, mx.ones((5, 2)))
    assert imported(mx.ones((3, 2)))[0].shape == (3, 2)
    with pytest.raises(
        ValueError, match=r"\[slice\] the graph cannot be generalised to other lengths"
    ):
        imported(mx.ones((2, 2)))


def test_axes_that_must_agree(path):
    imported = exported(
        path, lambda x, y: x * 0 + mx.ones_like(y), mx.ones((4, 3)), mx.ones((4, 3))
    )
    assert imported(mx.ones((9, 3)), mx.ones((9, 3)))[0].shape == (9, 3)
    with pytest.raises(
        ValueError, match="axis 0: got length 5, expected 7, the length of argument 2, axis 0"
    ):
        imported(mx.ones((5, 3)), mx.ones((7, 3)))
    alone = exported(
        path, lambda x, y: (x.sum(axis=1), y.sum(axis=1)), mx.ones((4, 3)), mx.ones((4, 3))
    )
    x, y = alone(mx.ones((5, 3)), mx.ones((7, 2)))
    assert (x.shape, y.shape) == ((5,), (7,))


def test_exported_with_one_sample(path):
    model = nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 2))
    imported = exported(path, model, mx.ones((1, 4)))
    for rows in (1, 2, 5):
        x = mx.random.normal((rows, 4))
        np.testing.assert_allclose(imported(x)[0], model(x), rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match=REFUSED):
        imported(mx.ones((1, 5)))


@pytest.mark.parametrize(
    "read",
    [
        lambda shape: shape[1],
        lambda shape: shape[-1],
        lambda shape: list(shape)[1],
        lambda shape: shape[1:][0],
        lambda shape: (lambda _, n: n)(*shape),
        lambda shape: sum(shape) - shape[0],
        lambda shape: 3 if shape == (4, 3) else 5,
        lambda shape: 3 if operator.eq((4, 3), shape) else 5,
        lambda shape: 3 if shape in {(4, 3)} else 5,
        lambda shape: {(4, 3): 3}.get(shape, 5),
        lambda shape: 3 if shape < (4, 4) else 5,
        lambda shape: operator.add(shape, (1,))[1],
        lambda shape: (1, *shape, 2)[2],
        lambda shape: operator.add((1,), shape)[2],
        lambda shape: (shape * 2)[3],
        lambda shape: max(shape) - 1,
        lambda shape: len(str(shape)) - 3,
        lambda shape: int(np.zeros(shape).shape[1]),
        lambda shape: mx.zeros(shape).shape[1],
        lambda shape: mx.array(shape)[1],
        lambda shape: mx.zeros((9, 9))[shape].size + 2,
        lambda shape: shape.index(3) + 2 if 3 in shape else 5,
    ],
)
def test_every_way_to_read_a_length_is_seen(read, path):
    imported = exported(path, lambda x: x * read(x.shape), mx.ones((4, 3)))
    with pytest.raises(ValueError, match=r"argument 1, axis 1: got length 5, expected 3"):
        imported(mx.ones((4, 5)))
    compiled = mx.compile(lambda x: x * read(x.shape), shapeless=True)
    for columns in (3, 4, 5, 6):
        x = mx.ones((4, columns))
        try:
            want = x * read(x.shape)
        except ValueError:
            continue
        np.testing.assert_array_equal(compiled(x), want)


def test_traces_share_their_weights(path, tmp_path):
    model = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 64))
    sizes = []
    for traces in (1, 4):
        with mx.exporter(path, model) as exporter:
            for rows in range(1, traces + 1):
                exporter(mx.ones((rows, 64)))
        sizes.append((tmp_path / "function.umber").stat().st_size)
    assert sizes[1] - sizes[0] < 16_000 < sizes[0]
    imported = mx.import_function(path)
    for rows in range(1, 5):
        x = mx.random.normal((rows, 64))
        np.testing.assert_allclose(imported(x)[0], model(x), rtol=1e-5, atol=1e-5)


def test_a_matrix_and_its_transpose_are_one_tensor(path, tmp_path):
    weight = mx.random.normal((64, 32))
    half = weight.astype(mx.float16)

    def tied(x):
        return (x @ weight) @ weight.T, x @ half.T.T.astype(mx.float32)

    x = mx.random.normal((3, 64))
    mx.export_function(path, tied, x)
    assert len(mx.load(path, format="safetensors")) <= 2
    for got, want in zip(mx.import_function(path)(x), tied(x), strict=True):
        np.testing.assert_allclose(got, want, rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize(
    ("fun", "operation"),
    [
        (lambda x: x.reshape(x.shape[0], -1), r" and has reshape to \(4, 6\)"),
        (lambda x: mx.reshape(x, (x.shape[0], 3, 2)), r" and has reshape to \(4, 3, 2\)"),
        (lambda x: x / x.shape[0], ""),
    ],
)
def test_a_refusal_names_what_fixes_the_length(path, fun, operation):
    x = mx.ones((4, 2, 3))
    f = exported(path, fun, x)
    assert mx.array_equal(f(x)[0], fun(x))
    message = (
        r"argument 1, axis 0: got length 2, expected 4: the graph depends on this length, "
        rf"which the function reads{operation}\. Without reading it, as in x\.reshape\(-1, n\)"
    )
    with pytest.raises(ValueError, match=message):
        f(x[:2])
