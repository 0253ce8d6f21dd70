"""repr and str, character for character as MLX writes them."""

import array
import re
import reprlib
import sys

import numpy as np
import pytest
import umber.core as mx

WRITTEN = [
    (lambda: mx.array(1.0), "array(1, dtype=float32)"),
    (lambda: mx.array(0.1), "array(0.1, dtype=float32)"),
    (lambda: mx.array(7), "array(7, dtype=int32)"),
    (lambda: mx.array(True), "array(True, dtype=bool)"),
    (lambda: mx.array([True, False]), "array([True, False], dtype=bool)"),
    (lambda: mx.array([1, -10, 100]), "array([1, -10, 100], dtype=int32)"),
    (lambda: mx.array([1, 2], dtype=mx.int8), "array([1, 2], dtype=int8)"),
    (lambda: mx.array([200], dtype=mx.uint8), "array([200], dtype=uint8)"),
    (lambda: mx.array([1.5, 2, 3e10, 1e-10]), "array([1.5, 2, 3e+10, 1e-10], dtype=float32)"),
    (lambda: mx.array([123456789.0, 0.00001234]), "array([1.23457e+08, 1.234e-05], dtype=float32)"),
    (lambda: mx.array([123456.0, 1e6, 1e20]), "array([123456, 1e+06, 1e+20], dtype=float32)"),
    (lambda: mx.array(1 / 3), "array(0.333333, dtype=float32)"),
    (lambda: mx.array(0.1, dtype=mx.bfloat16), "array(0.100098, dtype=bfloat16)"),
    (lambda: mx.array(1.0, dtype=mx.float16), "array(1, dtype=float16)"),
    (lambda: mx.array(0.1, dtype=mx.float64), "array(0.1, dtype=float64)"),
    (lambda: mx.array([-0.0]), "array([-0], dtype=float32)"),
    (lambda: mx.array([mx.inf, -mx.inf, mx.nan]), "array([inf, -inf, nan], dtype=float32)"),
    (lambda: mx.array(1 + 2j), "array(1+2j, dtype=complex64)"),
    (lambda: mx.array([1 - 2j, 0.5j]), "array([1-2j, 0+0.5j], dtype=complex64)"),
    (lambda: mx.array(np.array([1 - 2j])), "array([1-2j], dtype=complex128)"),
    (lambda: mx.zeros((0,)), "array([], dtype=float32)"),
    (lambda: mx.zeros((2, 0)), "array([[],\n       []], dtype=float32)"),
    (lambda: mx.zeros((0, 3)), "array([], shape=(0, 3), dtype=float32)"),
    (lambda: mx.zeros((2, 0, 3), mx.int8), "array([], shape=(2, 0, 3), dtype=int8)"),
    (lambda: mx.zeros((0, 0), mx.bool_), "array([], shape=(0, 0), dtype=bool)"),
    (lambda: mx.array([[1.5], [2.25]]), "array([[1.5],\n       [2.25]], dtype=float32)"),
    (
        lambda: mx.zeros((2, 2, 2)),
        "array([[[0, 0],\n        [0, 0]],\n       [[0, 0],\n        [0, 0]]], dtype=float32)",
    ),
    (lambda: mx.arange(6), "array([0, 1, 2, 3, 4, 5], dtype=int32)"),
    (lambda: mx.arange(7), "array([0, 1, 2, ..., 4, 5, 6], dtype=int32)"),
    (lambda: mx.arange(1001), "array([0, 1, 2, ..., 998, 999, 1000], dtype=int32)"),
    (
        lambda: mx.arange(56).reshape(7, 8),
        "array([[0, 1, 2, ..., 5, 6, 7],\n"
        "       [8, 9, 10, ..., 13, 14, 15],\n"
        "       [16, 17, 18, ..., 21, 22, 23],\n"
        "       ...,\n"
        "       [32, 33, 34, ..., 37, 38, 39],\n"
        "       [40, 41, 42, ..., 45, 46, 47],\n"
        "       [48, 49, 50, ..., 53, 54, 55]], dtype=int32)",
    ),
    (
        lambda: mx.arange(28).reshape(2, 7, 2),
        "array([[[0, 1],\n        [2, 3],\n        [4, 5],\n        ...,\n        [8, 9],\n"
        "        [10, 11],\n        [12, 13]],\n"
        "       [[14, 15],\n        [16, 17],\n        [18, 19],\n        ...,\n        [22, 23],\n"
        "        [24, 25],\n        [26, 27]]], dtype=int32)",
    ),
    (lambda: mx.arange(4).reshape(2, 2).T, "array([[0, 2],\n       [1, 3]], dtype=int32)"),
    (lambda: mx.arange(10)[::-3], "array([9, 6, 3, 0], dtype=int32)"),
]


@pytest.mark.parametrize(("make", "text"), WRITTEN, ids=range(len(WRITTEN)))
def test_written_form(make, text):
    array = make()
    assert repr(array) == text
    assert str(array) == text


@pytest.mark.covers("set_printoptions", "get_printoptions", "printoptions", "PrintOptions")
def test_precision_option():
    x = mx.array([1 / 3, 100.123456789])
    with mx.printoptions(precision=3):
        assert repr(x) == "array([0.333, 100.123], dtype=float32)"
    assert repr(x) == "array([0.333333, 100.123], dtype=float32)"
    assert type(mx.get_printoptions()) is mx.PrintOptions
    before = mx.get_printoptions().precision
    mx.set_printoptions(precision=2)
    try:
        assert mx.get_printoptions().precision == 2
        assert repr(mx.array(0.125)) in ("array(0.12, dtype=float32)", "array(0.13, dtype=float32)")
    finally:
        mx.set_printoptions(precision=before)


FIXED = [
    (1e-4, 3, "1.000e-04"),
    (-1e-4, 3, "-1.000e-04"),
    (0.0004, 3, "4.000e-04"),
    (0.0006, 3, "0.001"),
    (0.0, 3, "0.000"),
    (0.01, 0, "1e-02"),
    (0.75, 0, "1"),
    (1e-30, 2, "1.00e-30"),
    (123456.789, 2, "123456.79"),
    (1e15, 1, "1000000000000000.0"),
    (1e16, 1, "1.0e+16"),
    (1.5e300, 2, "1.50e+300"),
    (2.5e-300, 2, "2.50e-300"),
    (np.inf, 2, "inf"),
    (np.nan, 2, "nan"),
]


@pytest.mark.parametrize(("value", "precision", "text"), FIXED)
def test_decimals_of_small_and_large_numbers(value, precision, text):
    """Decimals that would leave zeros alone of a number are those of its mantissa."""
    wide = lambda value: mx.array(np.array(value))  # noqa: E731
    with mx.printoptions(precision=precision):
        assert repr(wide(value)) == f"array({text}, dtype=float64)"
        assert str(wide([value])) == f"array([{text}], dtype=float64)"
        zero = f"{0:.{precision}f}"
        both = f"array([{zero}+{text}j], dtype=complex128)"
        if not text.startswith("-"):
            assert repr(wide([complex(0, value)])) == both


def test_decimals_of_halves_and_mixed_magnitudes():
    with mx.printoptions(precision=3):
        mixed = mx.array([1e-4, 1.0, 1e20])
        assert repr(mixed) == "array([1.000e-04, 1.000, 1.000e+20], dtype=float32)"
        for dtype in ("float16", "bfloat16"):
            half = mx.array([2.0**-14, 1.5], dtype=getattr(mx, dtype))
            assert repr(half) == f"array([6.104e-05, 1.500], dtype={dtype})"


def test_names_of_dtypes_and_devices():
    package = mx.__name__
    assert str(mx.float32) == f"{package}.float32"
    assert str(mx.bool_) == f"{package}.bool"
    assert repr(mx.default_device()) == "Device(cpu, 0)"
    assert repr(mx.default_stream(mx.cpu)) == "Stream(Device(cpu, 0), 0)"


def against_mlx():
    """MLX beside umber, or a skip. The stand-in for umber must not be MLX itself."""
    other = pytest.importorskip("mlx.core", reason="MLX is not installed")
    if other is sys.modules["umber.core"]:
        pytest.skip("this is MLX")
    return other


def test_many_values_like_mlx():
    """Values of all magnitudes are written alike."""
    other = against_mlx()
    rng = np.random.default_rng(5)
    values = (rng.normal(size=600) * 10.0 ** rng.integers(-12, 12, 600)).astype(np.float32)
    for start in range(0, 600, 6):
        part = values[start : start + 6]
        assert repr(mx.array(part)) == repr(other.array(part))
        for name in ("float16", "bfloat16"):
            ours = mx.array(part).astype(getattr(mx, name))
            theirs = other.array(part).astype(getattr(other, name))
            assert repr(ours) == repr(theirs)
        pair = part[:3] + 1j * part[3:]
        assert repr(mx.array(pair.astype(np.complex64))) == repr(
            other.array(pair.astype(np.complex64))
        )


def test_many_shapes_like_mlx():
    other = against_mlx()
    shapes = [
        (),
        (1,),
        (6,),
        (7,),
        (3, 8),
        (8, 3),
        (2, 7, 7),
        (2, 2, 2, 2),
        (0,),
        (2, 0),
        (2, 3, 0),
        (1, 1, 9),
    ]
    for shape in shapes:
        values = np.arange(int(np.prod(shape)), dtype=np.int32).reshape(shape)
        assert repr(mx.array(values)) == repr(other.array(values)), shape


def test_printing_reads_only_what_it_prints():
    wide = mx.broadcast_to(mx.array([1.0]), (10**6, 10**6))
    row = "[1, 1, 1, ..., 1, 1, 1]"
    text = f",\n{' ' * 7}".join([row] * 3 + ["..."] + [row] * 3)
    assert repr(wide) == f"array([{text}], dtype=float32)"
    x = mx.arange(80).reshape(8, 10)
    for view in (x.T, x[::-1], x[:, ::-3], x[2:, 1], mx.broadcast_to(x[0], (2, 10)), x[:0]):
        assert repr(view) == repr(mx.array(view.tolist(), mx.int32).reshape(view.shape))


def as_numpy(values):
    """The text of NumPy, with the dtype also where NumPy leaves it out."""
    values = np.asarray(values)
    text = repr(values)
    if "dtype=" in text:
        return text
    numbers, shape, _ = re.fullmatch(r"(.*?)(?:,\s+(shape=.*))?(\))", text, re.DOTALL).groups()
    ending = ", ".join(filter(None, (shape, f"dtype={values.dtype})")))
    last = numbers.rsplit("\n", 1)[-1] + ","
    fits = len(last) + len(ending) + 1 <= np.get_printoptions()["linewidth"]
    return f"{numbers},{' ' if fits else chr(10) + ' ' * 6}{ending}"


def valued(dtype, magnitudes=(1,), shape=(3, 4), seed=0):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=shape) * rng.choice(magnitudes, shape)
    if np.issubdtype(dtype, np.complexfloating):
        values = values + 1j * rng.normal(size=shape)
    return values.astype(dtype)


ALIGNED = {
    "floats": [0.5, 1, -2.25],
    "whole floats": [1.0, 2.0, 100.0],
    "mixed": [1e-3, 1.0, 5.0],
    "small": [1e-5, 2e-5],
    "large": [1e16, 1.0],
    "tens of thousands": [123456.0, 1.5],
    "halves of a digit": [0.123456785, 1.0],
    "special": [np.nan, 1.5, np.inf],
    "negative infinity": [-np.inf, 0.25],
    "nothing but special": [np.nan, np.inf],
    "zeros": [0.0, -0.0],
    "a number": 1.5,
    "a whole number": 3.0,
    "long": np.arange(100) / 7,
    "matrix": [[1.0, -10.5], [100.25, 3.0]],
    "three axes": np.arange(24).reshape(2, 3, 4) / 4,
    "abbreviated": np.arange(1200) / 8,
    "abbreviated matrix": np.arange(1200).reshape(30, 40) * 0.5,
    "few columns": np.arange(1200).reshape(300, 4) * 0.5,
    "no rows": np.zeros((0, 3)),
    "no columns": np.zeros((3, 0)),
    "nothing": np.zeros(0),
}
NUMPY_DTYPES = [np.float16, np.float32, np.float64, np.complex64, np.complex128]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
@pytest.mark.parametrize("name", ALIGNED)
def test_numpy_style(name, dtype):
    values = np.asarray(ALIGNED[name]).astype(dtype)
    with mx.printoptions(style="numpy"):
        assert repr(mx.array(values)) == as_numpy(values)


@pytest.mark.parametrize("dtype", NUMPY_DTYPES)
@pytest.mark.parametrize("magnitudes", [(1,), (1, 30), (1e-4, 1), (1e4,), (1e-7, 1e-6)])
@pytest.mark.parametrize(
    "options",
    [{}, {"precision": 3}, {"precision": 0}, {"suppress": True}, {"linewidth": 40}],
    ids=str,
)
def test_numpy_style_of_many_values(dtype, magnitudes, options):
    for seed in range(5):
        values = valued(dtype, magnitudes, seed=seed)
        with mx.printoptions(style="numpy", **options), np.printoptions(**options):
            assert repr(mx.array(values)) == as_numpy(values)


@pytest.mark.parametrize(
    "dtype",
    [np.bool_, np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32, np.int64, np.uint64],
)
def test_numpy_style_of_integers(dtype):
    for shape in ((), (7,), (3, 5), (2, 2, 3), (40, 40)):
        values = (np.arange(int(np.prod(shape))).reshape(shape) * 37 - 90).astype(dtype)
        with mx.printoptions(style="numpy"):
            assert repr(mx.array(values)) == as_numpy(values)


@pytest.mark.parametrize("threshold", [0, 5, 20, 1000])
@pytest.mark.parametrize("edgeitems", [1, 2, 3])
@pytest.mark.parametrize("linewidth", [20, 75])
def test_numpy_style_with_options(threshold, edgeitems, linewidth):
    options = {"threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    with mx.printoptions(style="numpy", **options), np.printoptions(**options):
        for shape in ((4,), (21,), (5, 9), (3, 4, 8)):
            values = np.arange(int(np.prod(shape)), dtype=np.float32).reshape(shape) / 2
            assert repr(mx.array(values)) == as_numpy(values)


def test_numpy_style_with_other_names():
    options = {"nanstr": "-", "infstr": "infinite"}
    values = np.array([1.0, np.nan, -np.inf, np.inf])
    with mx.printoptions(style="numpy", **options), np.printoptions(**options):
        assert repr(mx.array(values)) == as_numpy(values)
    with mx.printoptions(**options):
        text = "array([1, -, -infinite, infinite], dtype=float64)"
        assert repr(mx.array(values)) == text


@pytest.mark.parametrize("name", ["bfloat16", "float8_e4m3fn"])
def test_numpy_style_of_other_dtypes(name):
    """A number has as many digits as distinguish it in its dtype."""
    with mx.printoptions(style="numpy"):
        x = mx.array([0.1, 1.0, 3.5]).astype(getattr(mx, name))
        assert repr(x) == f"array([0.1, 1. , 3.5], dtype={name})"


def test_options_in_the_style_of_mlx():
    x = mx.arange(8)
    with mx.printoptions(threshold=8):
        assert repr(x) == "array([0, 1, 2, 3, 4, 5, 6, 7], dtype=int32)"
    with mx.printoptions(threshold=mx.inf):
        assert repr(mx.arange(3000)).count(",") == 3000
    with mx.printoptions(edgeitems=1):
        assert repr(x) == "array([0, ..., 7], dtype=int32)"
        assert repr(x.reshape(4, 2)) == "array([[0, 1],\n       ...,\n       [6, 7]], dtype=int32)"
    with mx.printoptions(threshold=8, linewidth=20):
        assert repr(x) == ("array([0, 1, 2, 3,\n       4, 5, 6, 7],\n      dtype=int32)")
    with mx.printoptions(suppress=True):
        x = mx.array([1e-5, 1e-9, 123456789.0, 1e20, 0.5])
        assert repr(x) == "array([0.00001, 0, 123456792, 1e+20, 0.5], dtype=float32)"
    with mx.printoptions(suppress=True, precision=3):
        assert repr(mx.array([1e-5, 2.0])) == "array([0.000, 2.000], dtype=float32)"


def test_options_keep_their_values():
    """Options that are not given keep their values; without any, the defaults return."""
    try:
        mx.set_printoptions(edgeitems=2)
        mx.set_printoptions(precision=3)
        options = mx.get_printoptions()
        assert (options.precision, options.edgeitems, options.threshold) == (3, 2, 0)
        assert (options.linewidth, options.suppress, options.style) == (None, False, "mlx")
        assert (options.nanstr, options.infstr) == ("nan", "inf")
        with mx.printoptions(style="numpy", precision=-1):
            options = mx.get_printoptions()
            assert (options.precision, options.edgeitems, options.threshold) == (8, 2, 1000)
            assert (options.linewidth, options.style) == (75, "numpy")
            with mx.printoptions():
                assert mx.get_printoptions().edgeitems == 3
        assert (mx.get_printoptions().precision, mx.get_printoptions().edgeitems) == (3, 2)
    finally:
        mx.set_printoptions()
    assert (mx.get_printoptions().precision, mx.get_printoptions().edgeitems) == (-1, 3)


@pytest.mark.parametrize("function", [mx.set_printoptions, mx.printoptions])
@pytest.mark.parametrize(
    ("option", "value", "error", "text"),
    [
        ("precision", -2, ValueError, "precision must be between 0 and 1100, or -1, got -2"),
        ("precision", 1101, ValueError, "precision must be between 0 and 1100, or -1, got 1101"),
        ("threshold", -1, ValueError, "threshold must not be negative, got -1"),
        ("threshold", 2.5, TypeError, "threshold"),
        ("edgeitems", -1, ValueError, "edgeitems must not be negative, got -1"),
        ("linewidth", -5, ValueError, "linewidth must not be negative, got -5"),
        ("suppress", "no", TypeError, "suppress"),
        ("nanstr", 3, TypeError, "nanstr"),
        ("style", "rows", ValueError, "got style 'rows', expected 'mlx' or 'numpy'"),
    ],
)
def test_bad_options(function, option, value, error, text):
    with pytest.raises(error, match=rf"^\[{function.__name__}\] {text}"):
        function(**{option: value})
    assert mx.get_printoptions().edgeitems == 3
    assert repr(mx.array(1 / 3)) == "array(0.333333, dtype=float32)"


def test_html():
    cell = '<td style="text-align: right">'

    def table(*rows):
        rows = ["".join(f"{cell}{word}</td>" for word in row) for row in rows]
        return f"<div><table>{''.join(f'<tr>{row}</tr>' for row in rows)}</table>"

    device = repr(mx.default_device())
    x = mx.array([[1.5, 2.0], [mx.nan, 4.0]])
    line = f"shape (2, 2), dtype float32, 16 bytes, {device}</div>"
    assert x._repr_html_() == table(["1.5", "2"], ["nan", "4"]) + line
    assert (
        mx.array(3)._repr_html_()
        == table(["3"]) + f"shape (), dtype int32, 4 bytes, {device}</div>"
    )
    assert table(["0", "1", "2", "…", "7", "8", "9"]) in mx.arange(10)._repr_html_()
    tall = mx.zeros((9, 1))._repr_html_()
    assert tall.startswith(table(*["0"] * 3, "…", *["0"] * 3))
    with mx.printoptions(nanstr="<&>", precision=2):
        assert table(["1.50", "2.00"], ["&lt;&amp;&gt;", "4.00"]) in x._repr_html_()
    deep = mx.arange(8).reshape(2, 2, 2)
    assert deep._repr_html_().startswith(f"<div><pre>{deep!r}</pre>shape (2, 2, 2), ")
    assert mx.zeros((0, 3))._repr_html_().startswith("<div>array: shape (0, 3), dtype float32, 0 ")
    wide = mx.broadcast_to(mx.array([1.0]), (10**6, 10**6))
    assert wide._repr_html_().count("…") == 6 + 7


def test_html_evaluates():
    """As for `repr`, a lazy array is evaluated."""
    x = mx.exp(mx.zeros(2000))
    assert ">1</td>" in x._repr_html_()


def test_reprlib():
    # pytest shows values by it.
    assert reprlib.repr(mx.array([1.0, 2.0])) == "array([1, 2], dtype=float32)"
    assert reprlib.repr([mx.array(1)]) == "[array(1, dtype=int32)]"
    assert reprlib.repr(array.array("i", [1, 2])) == "array('i', [1, 2])"
    assert reprlib.repr(mx.zeros(100)).startswith("array(")
