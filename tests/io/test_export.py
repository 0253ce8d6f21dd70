"""Functions written to files and read back give what they gave; damaged files are refused."""

import io
import json
import random
import struct
from pathlib import Path

import numpy as np
import pytest
import umber.core as mx
import umber.nn as nn
from arrays import assert_close, assert_dtype, flatten, to_numpy, to_umber
from op_table import gather_records
from tolerances import tolerance_of

RECORDS = [record for record in gather_records() if record.arity and record.compilable]


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "function.umber")


def roundtrip(path, fun, *args, **kwargs):
    mx.export_function(path, fun, *args, **kwargs)
    return mx.import_function(path)


@pytest.mark.parametrize(
    ("record", "dtype"),
    [
        pytest.param(r, dtype, id=f"{r.name}-{dtype}")
        for r in RECORDS
        for dtype in (
            [name for name in ("float32", "complex64") if name in r.dtypes] or r.dtypes[:1]
        )
    ],
)
def test_every_operation_survives(record, dtype, rng, path):
    inputs = [
        to_umber(value, record.dtype_of_input(i, dtype))
        for i, value in enumerate(record.sample(rng, dtype))
    ]
    imported = roundtrip(path, lambda *x: tuple(flatten(record.call(*x))), *inputs)
    for result, want in zip(imported(*inputs), flatten(record.call(*inputs)), strict=True):
        assert_dtype(result, record.result_of(dtype))
        assert_close(
            to_numpy(result), to_numpy(want), tolerance_of(dtype, record.tolerance), record.name
        )


def test_arguments_by_position_and_name(path):
    x, y = mx.array([1.0, 2.0]), mx.array([3.0, 4.0])
    imported = roundtrip(path, lambda a, *, b: (a - b, a), x, b=y)
    for outputs in (imported(x, b=y), imported((x,), {"b": y}), imported([x], b=y)):
        assert isinstance(outputs, tuple)
        assert [output.tolist() for output in outputs] == [[-2, -2], [1, 2]]
    named = roundtrip(path, lambda b, a: b - a, {"b": y, "a": x})
    assert named(a=x, b=y)[0].tolist() == [2, 2]


def test_no_signature_matches(path):
    x = mx.array([1.0, 2.0])
    imported = roundtrip(path, lambda a: a, x)
    for wrong in ((x, x), (x.astype(mx.int32),), (mx.zeros((3,)),), ()):
        with pytest.raises(
            ValueError, match=r"\[import_function::call\].*got(.|\n)*expected one of"
        ):
            imported(*wrong)
    with pytest.raises(ValueError, match=r"got float, expected arrays"):
        imported(1.0)


def test_captured_arrays_are_kept(path):
    weight = mx.array(np.arange(6.0).reshape(2, 3), dtype=mx.bfloat16)
    wide = mx.array([1 + 2j, 3], dtype=mx.complex128)
    scalar = mx.array(2j, dtype=mx.complex128) * 1
    x = mx.array([1.0, 2.0])
    imported = roundtrip(path, lambda x: (x @ weight.astype(mx.float32), wide + x, x * scalar), x)
    outputs = imported(x)
    assert outputs[0].tolist() == [6, 9, 12]
    assert outputs[1].tolist() == [2 + 2j, 5]
    assert outputs[2].tolist() == [2j, 4j]


def test_modules_and_transforms(path):
    model = nn.Sequential(nn.Linear(4, 8), nn.GELU(), nn.LayerNorm(8), nn.Linear(8, 2))
    x = mx.random.normal((3, 4))

    def loss(x):
        return model(x).square().mean()

    imported = roundtrip(path, model, x)
    np.testing.assert_allclose(imported(x)[0], model(x), rtol=1e-6, atol=1e-6)
    want = mx.grad(loss)(x)
    got = mx.grad(lambda x: imported(x)[0].square().mean())(x)
    np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    gradient = roundtrip(path, mx.grad(loss), x)
    np.testing.assert_allclose(gradient(x)[0], want, rtol=1e-5, atol=1e-6)
    mapped = mx.vmap(lambda row: imported(row)[0], in_axes=1, out_axes=1)
    rows = mx.random.normal((3, 5, 4))
    np.testing.assert_allclose(mapped(rows)[:, 2], model(rows[:, 2]), rtol=1e-5, atol=1e-6)
    compiled = roundtrip(path, mx.compile(lambda x: mx.exp(x) * 2 + 1), x)
    np.testing.assert_allclose(compiled(x)[0], np.exp(np.array(x)) * 2 + 1, rtol=1e-6)


@pytest.mark.covers("exporter", "FunctionExporter", "import_function")
def test_several_traces(path):
    with mx.exporter(path, lambda *xs: sum(xs), metadata="sums") as exporter:
        assert type(exporter) is mx.FunctionExporter
        exporter(mx.array(1))
        exporter(mx.array(1), mx.array(2))
        with pytest.raises(RuntimeError, match="the function was already"):
            exporter(mx.array(3))
    with pytest.raises(RuntimeError, match="the file is already written"):
        exporter(mx.array(1), mx.array(2), mx.array(3))
    imported, metadata = mx.import_function(path, return_metadata=True)
    assert metadata == "sums"
    assert imported(mx.array(5))[0].item() == 5
    assert imported(mx.array(5), mx.array(6))[0].item() == 11


def test_an_error_in_the_block_writes_nothing(path, tmp_path):
    with (
        pytest.raises(ValueError, match="expected a single array"),
        mx.exporter(path, lambda x: 3) as exporter,
    ):
        exporter(mx.array(1))
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("returned", [3, None, "x", {"a": 1}, (1, 2)])
def test_returns_must_be_arrays(path, returned):
    with pytest.raises(ValueError, match=r"\[export_function\].*expected a single array"):
        mx.export_function(path, lambda x: returned, mx.array(1))


@pytest.mark.covers("export_function")
def test_bad_arguments(path):
    with pytest.raises(ValueError, match=r"\[export_function\] got int"):
        mx.export_function(path, lambda x, y: x, mx.array(1), 2)
    with pytest.raises(TypeError, match="expected a function"):
        mx.export_function(path, 3, mx.array(1))
    with pytest.raises(TypeError, match="expected the path"):
        mx.export_function(7, lambda x: x, mx.array(1))
    with pytest.raises(ValueError, match="metadata requires a path, not"):
        mx.export_function(lambda _: None, lambda x: x, mx.array(1), metadata="m")
    with pytest.raises(OSError, match=r"\[import_function\]"):
        mx.import_function(path)
    with pytest.raises(OSError, match="function"):
        mx.export_function(path + "/nowhere/file", lambda x: x, mx.array(1))
    with pytest.raises(ValueError, match="no value"):
        mx.export_function(path, lambda x: mx.array(x.item()), mx.array(1))


def test_callback_hears_the_whole_program():
    told = []
    weight = mx.array([1.0, 2.0])
    mx.export_function(told.append, lambda x, *, y: x * weight + y * 3, weight, y=weight)
    kinds = [entry["type"] for entry in told]
    assert kinds[:4] == ["inputs", "keyword_inputs", "outputs", "constants"]
    assert set(kinds[4:]) == {"primitive"}
    known = {name for name, _, _ in told[0]["inputs"]} | {name for name, _ in told[3]["constants"]}
    assert [name for name, _ in told[1]["keywords"]] == ["y"]
    for step in told[4:]:
        assert {name for name, _, _ in step["inputs"]} <= known, step
        known |= {name for name, _, _ in step["outputs"]}
    assert {name for name, _, _ in told[2]["outputs"]} <= known
    assert told[0]["inputs"][0][1:] == ((2,), mx.float32)
    assert "Multiply" in [step["name"] for step in told[4:]]


def primitives(function, *arguments):
    """What a callback is told: name, numbers of inputs and outputs, and parameters."""
    told = []
    mx.export_function(told.append, function, *arguments)
    return [
        (step["name"], len(step["inputs"]), len(step["outputs"]), step["arguments"])
        for step in told
        if step["type"] == "primitive"
    ]


X, Y, SQUARE = mx.ones((2, 3)), mx.zeros((2, 3)), mx.ones((3, 3))
WHOLE, PLACES = mx.ones((2, 3), dtype=mx.int32), mx.array([0, 1])

# What MLX calls operations and their parameters.
SPELLINGS = {
    **{
        name: (getattr(mx, name), (X,), [(spelled, 1, 1, [])])
        for name, spelled in {
            "abs": "Abs",
            "negative": "Negative",
            "sign": "Sign",
            "square": "Square",
            "exp": "Exp",
            "expm1": "Expm1",
            "log1p": "Log1p",
            "sin": "Sin",
            "cos": "Cos",
            "tan": "Tan",
            "arcsin": "ArcSin",
            "arccos": "ArcCos",
            "arctan": "ArcTan",
            "sinh": "Sinh",
            "cosh": "Cosh",
            "tanh": "Tanh",
            "arcsinh": "ArcSinh",
            "arccosh": "ArcCosh",
            "arctanh": "ArcTanh",
            "erf": "Erf",
            "erfinv": "ErfInv",
            "sigmoid": "Sigmoid",
            "floor": "Floor",
            "ceil": "Ceil",
        }.items()
    },
    **{
        name: (getattr(mx, name), (X, Y), [(spelled, 2, 1, [])])
        for name, spelled in {
            "add": "Add",
            "subtract": "Subtract",
            "multiply": "Multiply",
            "divide": "Divide",
            "floor_divide": "FloorDivide",
            "remainder": "Remainder",
            "power": "Power",
            "maximum": "Maximum",
            "minimum": "Minimum",
            "logaddexp": "LogAddExp",
            "arctan2": "ArcTan2",
            "not_equal": "NotEqual",
            "less": "Less",
            "less_equal": "LessEqual",
            "greater": "Greater",
            "greater_equal": "GreaterEqual",
        }.items()
    },
    "equal": (mx.equal, (X, Y), [("Equal", 2, 1, [False])]),
    "sqrt": (mx.sqrt, (X,), [("Sqrt", 1, 1, [False])]),
    "rsqrt": (mx.rsqrt, (X,), [("Sqrt", 1, 1, [True])]),
    "log": (mx.log, (X,), [("Log", 1, 1, [2])]),
    "log2": (mx.log2, (X,), [("Log", 1, 1, [0])]),
    "log10": (mx.log10, (X,), [("Log", 1, 1, [1])]),
    "bitwise and": (mx.bitwise_and, (WHOLE, WHOLE), [("BitwiseBinary", 2, 1, [0])]),
    "bitwise or": (mx.bitwise_or, (WHOLE, WHOLE), [("BitwiseBinary", 2, 1, [1])]),
    "bitwise xor": (mx.bitwise_xor, (WHOLE, WHOLE), [("BitwiseBinary", 2, 1, [2])]),
    "left shift": (mx.left_shift, (WHOLE, WHOLE), [("BitwiseBinary", 2, 1, [3])]),
    "right shift": (mx.right_shift, (WHOLE, WHOLE), [("BitwiseBinary", 2, 1, [4])]),
    "scalar": (
        lambda x: x + 1,
        (X,),
        [("Broadcast", 1, 1, [(2, 3)]), ("Add", 2, 1, [])],
    ),
    "reshape": (lambda x: x.reshape(3, 2), (X,), [("Reshape", 1, 1, [(3, 2)])]),
    "transpose": (lambda x: x.T, (X,), [("Transpose", 1, 1, [[1, 0]])]),
    "expand_dims": (lambda x: mx.expand_dims(x, 1), (X,), [("ExpandDims", 1, 1, [[1]])]),
    "broadcast_to": (
        lambda x: mx.broadcast_to(x, (4, 2, 3)),
        (X,),
        [("Broadcast", 1, 1, [(4, 2, 3)])],
    ),
    "slice": (lambda x: x[:, 1:], (X,), [("Slice", 1, 1, [(0, 1), (2, 3), (1, 1)])]),
    "reversed": (lambda x: x[::-1], (X,), [("Slice", 1, 1, [(1, 0), (-3, 3), (-1, 1)])]),
    "astype": (lambda x: x.astype(mx.float16), (X,), [("AsType", 1, 1, [mx.float16])]),
    "view": (lambda x: x.view(mx.int32), (X,), [("View", 1, 1, [mx.int32])]),
    "concatenate": (
        lambda x, y: mx.concatenate([x, y], axis=1),
        (X, Y),
        [("Concatenate", 2, 1, [1])],
    ),
    "sum": (
        lambda x: x.sum(axis=1),
        (X,),
        [("Reduce", 1, 1, [2, [1]]), ("Squeeze", 1, 1, [[1]])],
    ),
    "max": (lambda x: x.max(keepdims=True), (X,), [("Reduce", 1, 1, [5, [0, 1]])]),
    "min": (lambda x: x.min(keepdims=True), (X,), [("Reduce", 1, 1, [4, [0, 1]])]),
    "prod": (lambda x: x.prod(0, keepdims=True), (X,), [("Reduce", 1, 1, [3, [0]])]),
    "argmax": (
        lambda x: mx.argmax(x, axis=1, keepdims=True),
        (X,),
        [("ArgReduce", 1, 1, [1, 1])],
    ),
    "cumsum": (
        lambda x: mx.cumsum(x, axis=1, reverse=True, inclusive=False),
        (X,),
        [("Scan", 1, 1, [2, 1, True, False])],
    ),
    "sort": (lambda x: mx.sort(x, axis=0), (X,), [("Sort", 1, 1, [0])]),
    "argsort": (lambda x: mx.argsort(x, axis=0), (X,), [("ArgSort", 1, 1, [0])]),
    "partition": (lambda x: mx.partition(x, 1), (X,), [("Partition", 1, 1, [1, 1])]),
    "take_along_axis": (
        lambda x, i: mx.take_along_axis(x, i, axis=1),
        (X, WHOLE),
        [("GatherAxis", 2, 1, [1])],
    ),
    "matmul": (mx.matmul, (X, SQUARE), [("Matmul", 2, 1, [])]),
    "where": (
        lambda x, y: mx.where(x > y, x, y),
        (X, Y),
        [("Greater", 2, 1, []), ("Select", 3, 1, [])],
    ),
    "softmax": (lambda x: mx.softmax(x, axis=-1), (X,), [("Softmax", 1, 1, [False])]),
    "logsumexp": (
        lambda x: mx.logsumexp(x, axis=-1, keepdims=True),
        (X,),
        [("LogSumExp", 1, 1, []), ("ExpandDims", 1, 1, [[1]])],
    ),
    "conv1d": (
        lambda x, w: mx.conv1d(x, w, stride=2, padding=1),
        (mx.ones((1, 5, 2)), mx.ones((4, 3, 2))),
        [("Convolution", 2, 1, [[2], [1], [1], [1], [1], 1, False])],
    ),
    "fft": (lambda x: mx.fft.rfft(x), (X,), [("FFT", 1, 1, [[1], False, True, False])]),
    "cholesky": (mx.linalg.cholesky, (SQUARE,), [("Cholesky", 1, 1, [False])]),
    "svd": (mx.linalg.svd, (SQUARE,), [("SVD", 1, 3, [True])]),
    "eigh": (mx.linalg.eigh, (SQUARE,), [("Eigh", 1, 2, ["L", True])]),
}


@pytest.mark.parametrize("name", SPELLINGS)
def test_callback_hears_the_names_of_mlx(name):
    function, arguments, expected = SPELLINGS[name]
    assert primitives(function, *arguments) == expected


@pytest.mark.parametrize("name", SPELLINGS)
def test_names_against_mlx(name):
    core = pytest.importorskip("mlx.core")
    if "umber" in (core.__file__ or ""):
        pytest.skip("this is umber under MLX's name")
    function, arguments, expected = SPELLINGS[name]
    if function.__module__ == __name__ or not hasattr(core, name.replace(" ", "_")):
        pytest.skip("no function of the module")
    told = []
    given = [core.array(np.array(argument)) for argument in arguments]
    core.export_function(told.append, getattr(core, name.replace(" ", "_")), *given)
    heard = [
        (step["name"], len(step["inputs"]), len(step["outputs"]), step["arguments"])
        for step in told
        if step["type"] == "primitive"
    ]
    assert heard == expected


@pytest.mark.covers("export_to_dot")
def test_dot(tmp_path):
    # Operations on fewer elements are computed as they are written, and leave nothing to draw.
    x, y = mx.ones(2000), mx.ones(2000)
    text = io.StringIO()
    mx.export_to_dot(text, mx.exp(x) + y, {"also": [x - y]}, x=x, y=y)
    drawn = text.getvalue()
    assert drawn.startswith("digraph {")
    assert drawn.rstrip().endswith("}")
    for expected in (
        '[label ="Exp", shape=rectangle]; }',
        '[label ="Subtract", shape=rectangle]; }',
        '{ rank=source; "x"; }',
        '{ rank=source; "y"; }',
        '{ rank=sink; "',
    ):
        assert expected in drawn
    mx.export_to_dot(str(tmp_path / "graph.dot"), x + y)
    assert '"Add"' in (tmp_path / "graph.dot").read_text()
    mx.export_to_dot(io.StringIO(), mx.zeros((3,)), **{'quo"te': x})
    named = io.StringIO()
    mx.export_to_dot(named, total=x + y)
    assert '{ rank=sink; "total"; }' in named.getvalue()
    kinds = io.StringIO()
    mx.export_to_dot(
        kinds, mx.cumsum(x), mx.rsqrt(x), mx.log2(x), mx.sum(mx.ones((2000, 2000)), axis=1)
    )
    for label in ("CumSum", "Rsqrt", "Log2", "Sum"):
        assert f'"{label}"' in kinds.getvalue()
    with pytest.raises(ValueError, match="needs at least one array"):
        mx.export_to_dot(text, 3)
    nothing = io.StringIO()
    mx.export_to_dot(nothing)
    assert nothing.getvalue() == "digraph {\n}\n"
    with pytest.raises(TypeError, match="expected an array"):
        mx.export_to_dot(text, x, y=3)


def test_dot_of_a_function_is_the_same_for_few_elements_and_many():
    def f(x, tree):
        return {"sum": (mx.exp(x) * 2).sum(), "rest": [tree["y"] - x, x[0]]}

    def drawn(size):
        text = io.StringIO()
        mx.export_to_dot(text, f, mx.ones(size), {"y": mx.ones(size)})
        return text.getvalue()

    assert drawn(3) == drawn(3000)
    for label in ("Exp", "Multiply", "Sum", "Subtract", "Slice"):
        assert f'[label ="{label}"' in drawn(3)
    with pytest.raises(TypeError, match="arguments of the function must"):
        mx.export_to_dot(io.StringIO(), f, mx.ones(2), tree={"y": mx.ones(2)})
    with pytest.raises(ValueError, match="the function must return arrays, got int"):
        mx.export_to_dot(io.StringIO(), lambda x: 3, mx.ones(2))
    model = nn.Linear(2, 2)
    mx.eval(model.parameters())
    text = io.StringIO()
    mx.export_to_dot(text, lambda x: model(x), mx.ones((1, 2)))
    assert '"Matmul"' in text.getvalue()


def test_dot_draws_arguments_once():
    """No node is drawn for the values of arguments, and none for arguments that are not read."""
    text = io.StringIO()
    mx.export_to_dot(text, lambda x, y: mx.exp(x), mx.zeros(2), mx.zeros(2))
    assert text.getvalue() == (
        "digraph {\n"
        '{ rank=source; "A"; }\n'
        '{ 1 [label ="Exp", shape=rectangle]; }\n"A" -> 1\n'
        '{ rank=sink; "B"; }\n1 -> "B"\n'
        "}\n"
    )
    text = io.StringIO()
    mx.export_to_dot(text, lambda x: x, mx.zeros(2))
    assert text.getvalue() == 'digraph {\n{ rank=source; "A"; }\n}\n'


def pieces(path):
    """The header of a file as a dict, the functions in it, and the bytes after it."""
    data = Path(path).read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    header = json.loads(data[8 : 8 + length])
    return header, json.loads(header["__metadata__"]["functions"]), data[8 + length :]


def write_pieces(path, header, functions, rest):
    header["__metadata__"]["functions"] = json.dumps(functions)
    text = json.dumps(header).encode()
    Path(path).write_bytes(struct.pack("<Q", len(text)) + text + rest)


def export_much(path):
    weight = mx.array(np.arange(6.0, dtype=np.float32).reshape(2, 3))
    index = mx.array([1, 0, 1])

    def fun(x, y):
        z = mx.softmax(x @ weight, axis=-1)[..., index].sum(axis=0, keepdims=True)
        w = mx.concatenate([mx.pad(z, 1)[1:], y.reshape(1, 5)], axis=0).T
        v = mx.fft.rfft(w, axis=0).abs().cumsum(axis=1)
        return mx.sort(v, axis=0), mx.conv1d(w[None], mx.ones((2, 2, 3))), mx.argmax(w, axis=0)

    x, y = mx.ones((4, 2)), mx.arange(5.0)
    mx.export_function(path, fun, x, y)
    return x, y


def test_version_and_format(path):
    export_much(path)
    header, functions, rest = pieces(path)
    for entry, value, message in [
        ("version", "99", "version 99"),
        ("format", "other", "not a file of functions"),
    ]:
        changed = {**header, "__metadata__": {**header["__metadata__"], entry: value}}
        write_pieces(path, changed, functions, rest)
        with pytest.raises(ValueError, match=message):
            mx.import_function(path)


def test_truncated_files_are_refused(path):
    export_much(path)
    data = Path(path).read_bytes()
    for length in [*range(64), *range(64, len(data), 37), len(data) - 1]:
        Path(path).write_bytes(data[:length])
        with pytest.raises((ValueError, OSError), match=r"\[import_function\]"):
            mx.import_function(path)


def places(value, path=()):
    """Where the leaves of nested lists and dicts are."""
    if isinstance(value, dict):
        for key, item in value.items():
            yield from places(item, (*path, key))
    elif isinstance(value, list):
        for i, item in enumerate(value):
            yield from places(item, (*path, i))
    else:
        yield path, value


def changed(value, path, new):
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = changed(copy[path[0]], path[1:], new)
    return copy


def test_hostile_files_end_in_errors(path):
    """Every number in the program is replaced: an error or some result, never a crash."""
    x, y = export_much(path)
    header, functions, rest = pieces(path)
    rng = random.Random(0)
    leaves = [(place, value) for place, value in places(functions) if isinstance(value, int)]
    refused = 0
    for place, value in leaves:
        for new in rng.sample(
            [0, 1, value + 1, value - 1, -1, 7, 2**31, 2**62, 2**63 - 1, -(2**62)], 3
        ):
            write_pieces(path, header, changed(functions, place, new), rest)
            try:
                outputs = mx.import_function(path)(x, y)
                if sum(output.size for output in outputs) < 10**6:
                    mx.eval(outputs)
            except (ValueError, IndexError, TypeError, OverflowError, MemoryError, RuntimeError):
                refused += 1
    assert refused > len(leaves)


def test_other_lengths(path):
    weight = mx.array(np.arange(6.0, dtype=np.float32).reshape(3, 2))

    def fun(x, y):
        return mx.softmax((x + y) @ weight, axis=-1), x.sum(axis=0)

    mx.export_function(path, fun, mx.ones((4, 3)), mx.ones((4, 3)), shapeless=True)
    imported = mx.import_function(path)
    for rows in (2, 4, 9):
        x, y = mx.random.normal((rows, 3)), mx.random.normal((rows, 3))
        for got, want in zip(imported(x, y), fun(x, y), strict=True):
            np.testing.assert_allclose(got, want, rtol=1e-5, atol=1e-6)
    with pytest.raises(ValueError, match="no imported function matches"):
        imported(mx.ones((4, 5)), mx.ones((4, 5)))


def test_gradients_of_indexed_products_are_read_back(path):
    x, which = mx.random.normal((2, 3, 3)), mx.array([1, 0])

    def gathered(x):
        return mx.gather_mm(x[0][None], x, rhs_indices=which).sum()

    gradient = mx.grad(gathered)
    read = roundtrip(path, gradient, x)
    assert_close(to_numpy(read(x)[0]), to_numpy(gradient(x)))

    words, scales, biases = mx.quantize(mx.random.normal((3, 6, 64)))
    rows = mx.random.normal((4, 2, 64))

    def quantized(scales, rows):
        left = mx.array([0])
        return mx.gather_qmm(rows[None], words, scales, biases, left, mx.array([2])).sum()

    batched = mx.vmap(mx.grad(quantized), in_axes=(None, 0))
    read = roundtrip(path, batched, scales, rows)
    assert_close(to_numpy(read(scales, rows)[0]), to_numpy(batched(scales, rows)))


NESTS = {
    "cond": lambda f: lambda x: mx.cond(x > -5, f, lambda y: y, x),
    "scan": lambda f: lambda x: mx.scan(lambda c, _: (f(c), None), x, length=1)[0],
    "checkpoint": lambda f: mx.checkpoint(lambda x: f(x) * 1.0),
}


@pytest.mark.parametrize("nest", NESTS)
def test_functions_within_functions_a_hundred_deep(path, nest):
    f = mx.sin
    for _ in range(100):
        f = NESTS[nest](f)
    got = roundtrip(path, f, mx.array(0.5))(mx.array(0.5))
    np.testing.assert_allclose(to_numpy(got[0]), np.sin(0.5), rtol=1e-6)


def test_deeper_than_any_function(path):
    mx.export_function(path, mx.sin, mx.array(0.5))
    whole = Path(path).read_bytes()
    length = struct.unpack("<Q", whole[:8])[0]
    header = json.loads(whole[8 : 8 + length])
    for levels in (5_000, 1_000_000):
        header["__metadata__"]["functions"] = "[" * levels
        text = json.dumps(header).encode()
        Path(path).write_bytes(struct.pack("<Q", len(text)) + text + whole[8 + length :])
        with pytest.raises(ValueError, match=r"\[import_function\].*levels of nesting"):
            mx.import_function(path)


@pytest.mark.parametrize("nest", ["cond", "scan"])
def test_rules_inside_control_flow_are_refused(path, nest):
    g = mx.custom_function(mx.sin)
    g.vjp(lambda x, ct, y: ct)
    with pytest.raises(ValueError, match="cannot export a"):
        mx.export_function(path, NESTS[nest](g), mx.array(0.5))


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft"])
def test_transforms_of_other_numbers_are_refused(path, name):
    is_real = name == "rfft"
    x = mx.ones(8, mx.float32 if is_real else mx.complex64)
    mx.export_function(path, getattr(mx.fft, name), x)
    header, functions, rest = pieces(path)
    other = "Complex64" if is_real else "Float32"
    functions[0]["signature"]["positional"][0]["dtype"] = other
    functions[0]["program"]["arguments"][0]["dtype"] = other
    write_pieces(path, header, functions, rest)
    with pytest.raises(ValueError, match=rf"\[import_function\].*{name}|numbers"):
        mx.import_function(path)


def test_other_lengths_are_checked_as_the_first_were(path):
    for fun, x, others in [
        (lambda x: mx.quantize(x, group_size=64, bits=4), mx.ones((3, 64)), [(64, 65), (3, 96)]),
        (mx.linalg.inv, mx.eye(4), [(3, 5), (5, 3)]),
        (lambda x: mx.linalg.cholesky(x), mx.eye(4), [(3, 5)]),
    ]:
        mx.export_function(path, fun, x, shapeless=True)
        imported = mx.import_function(path)
        mx.eval(imported(x))
        for shape in others:
            with pytest.raises(ValueError, match="import_function"):
                mx.eval(imported(mx.ones(shape)))


def test_sequences_of_a_scan_that_differ_in_length_are_refused(path):
    def fun(a, b):
        return mx.scan(lambda c, ab: (c + ab[0] * ab[1], c), mx.zeros(3), (a, b))

    a = mx.ones((4, 3))
    mx.export_function(path, fun, a, a, shapeless=True)
    header, functions, rest = pieces(path)
    functions[0]["free"]["axes"] = [[[0, 0]], [[1, 0]], [[0, 0], [1, 0]]]
    write_pieces(path, header, functions, rest)
    imported = mx.import_function(path)
    for rows in [(6, 3), (3, 6)]:
        with pytest.raises(ValueError, match="import_function"):
            mx.eval(imported(*[mx.ones((count, 3)) for count in rows]))
