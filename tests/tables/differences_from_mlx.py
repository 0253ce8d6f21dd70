"""Where umber deliberately does something else than MLX: the one table.

The comparison with MLX (`tests/mlx/test_core_mlx.py`) fails for every difference without a row
here, and `tests/mlx/test_differences_table.py` for every row whose example no longer shows one.
`python tools/differences.py` writes `docs/usage/differences_from_mlx.md` from this table.

To add a row, put it under its heading with an example that gives different outcomes in the two
frameworks. If random calls meet the difference too, say which with `when`.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fnmatch import fnmatchcase

from umber.mlx import MLX_VERSION as COMPARED_WITH  # noqa: F401


@dataclass(frozen=True)
class Difference:
    """One deliberate difference."""

    names: str
    """The public names or patterns that it is about, split by spaces."""
    example: str
    """An expression of `mx` (and `np`, `nn`, `optimizers`, `utils`) with another outcome in MLX."""
    mlx: str
    """What MLX does."""
    umber: str
    """What umber does."""
    why: str
    """Why umber departs."""
    when: Callable | None = None
    """Which random calls of these names meet it; `None`: none does."""
    accuracy: str | None = None
    """The values still agree, but only as closely as values of this dtype."""
    only_form: bool = False
    """The values still agree: one gives a list, the other a tuple."""
    may_refuse: bool = False
    """Only calls that umber refuses are excused."""
    alone: bool = False
    """MLX crashes, hangs or reads foreign memory, so it runs in a process of its own."""

    def covers(self, name: str, call) -> bool:
        """Whether this call of this name meets the difference."""
        named = any(fnmatchcase(name, pattern) for pattern in self.names.split())
        return named and self.when is not None and self.when(call)


def has(*dtypes):
    """Calls with an array of one of these dtypes."""
    return lambda call: bool(call.dtypes & set(dtypes))


def both(first, second):
    """Calls with arrays of both dtypes."""
    return lambda call: {first, second} <= call.dtypes


def has_nan(call) -> bool:
    return any((given.values != given.values).any() for given in call.arrays)


def is_zero_dimensional(call) -> bool:
    return any(given.shape == () for given in call.arrays)


def is_empty(call) -> bool:
    return any(given.values.size == 0 for given in call.arrays)


def always(call) -> bool:
    return True


def index_is_number(call) -> bool:
    return isinstance(call.kwargs.get("indices", (*call.args, None, None)[1]), int)


def asks_for_dtype(call) -> bool:
    return "dtype" in call.kwargs or len(call.args) > 2


def pads_past_the_kernel(call) -> bool:
    """A transposed convolution that cuts off more than the kernel's reach adds."""
    kernel = call.args[1].shape[1:-1]
    names = ("stride", "padding", "dilation")
    options = dict(zip(names, call.args[2:], strict=False)) | call.kwargs
    padding, dilation = (
        (options[name],) * len(kernel) if isinstance(options[name], int) else options[name]
        for name in names[1:]
    )
    return any(p > d * (k - 1) for p, d, k in zip(padding, dilation, kernel, strict=True))


SIGNED = ("int8", "int16", "int32", "int64")
WHOLE = ("bool_", "uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64")
SAFE = "Invalid input must not crash the process or read foreign memory."
NUMPY = "As in NumPy and in mathematics."
SPREADS = "NaN would spread to all parameters."
ALL_RULES = "Transforms nest in any order, over any function."
ACCURATE_SCALES = "Dequantising gives the nearest representable value."
ACCURATE = "float64 results have float64 accuracy."

DIFFERENCES: dict[str, tuple[Difference, ...]] = {
    "Safety": (
        Difference(
            "quantized_matmul gather_qmm",
            "(lambda q, s, b: mx.quantized_matmul(mx.ones((5, 64)), q, s[:4], b[:4]))"
            "(*mx.quantize(mx.ones((8, 64))))",
            "reads past the end if scales have fewer rows than w",
            "ValueError",
            SAFE,
            alone=True,
        ),
        Difference(
            "quantized_matmul gather_qmm",
            "mx.quantized_matmul(mx.ones((0, 64)), *mx.quantize(mx.ones((8, 64))))",
            "crashes for empty operands",
            "an empty result, or zeros for empty sums",
            SAFE,
            alone=True,
        ),
        Difference(
            "custom_function",
            "(lambda f: (f.vjp(lambda p, c, o: None), mx.grad(f, (0, 1))(mx.ones(()), "
            "mx.ones(())))[1])"
            "(mx.custom_function(mx.multiply))",
            "reads past the end of a rule's result that is too short",
            "zero for None, ValueError for another structure or shape",
            SAFE,
            alone=True,
        ),
        Difference(
            "array.__getitem__",
            "mx.zeros(3)[10]",
            "reads arbitrary memory",
            "IndexError",
            SAFE,
            alone=True,
        ),
        Difference(
            "array.__getitem__",
            "mx.zeros(3)[mx.array([0, 100000000])]",
            "crashes",
            "IndexError when the result is evaluated",
            SAFE,
            alone=True,
        ),
        Difference(
            "array.__getitem__",
            "mx.zeros(3)[::0]",
            "crashes",
            "ValueError",
            SAFE,
            alone=True,
        ),
        Difference(
            "array.__setitem__",
            "mx.zeros(3).__setitem__(5, 7)",
            "is silently ignored",
            "IndexError",
            "An impossible write is a mistake.",
            alone=True,
        ),
        Difference(
            "take take_along_axis",
            "mx.take(mx.zeros(3), mx.array([5]))",
            "reads arbitrary memory",
            "IndexError when the result is evaluated",
            SAFE,
            alone=True,
        ),
        Difference(
            "conv1d conv2d conv3d conv_general",
            "mx.conv1d(mx.ones((2, 2, 4)), mx.ones((3, 3, 4)), stride=2)",
            "reads out of bounds if the input is shorter than the kernel by less than the stride",
            "ValueError, as both raise for stride 1",
            SAFE,
            alone=True,
        ),
        Difference(
            "divmod",
            "mx.divmod(mx.array(1), mx.array(0))",
            "crashes",
            "quotient 0, remainder the dividend: the values of MLX's `//` and `%`",
            SAFE,
            alone=True,
        ),
        Difference(
            "array.reshape",
            "mx.array(3).reshape()",
            "crashes",
            "the array without axes",
            SAFE,
            alone=True,
        ),
        Difference(
            "as_strided",
            "mx.as_strided(mx.zeros(3), offset=2)",
            "reads past the end",
            "ValueError",
            SAFE,
            alone=True,
        ),
    ),
    "Values": (
        Difference(
            "equal not_equal less less_equal greater greater_equal array_equal array.__*__",
            "mx.equal(mx.array([16777217], dtype=mx.int64), mx.array([16777216], dtype=mx.uint64))",
            "compares signed integers with uint64 as float32: True",
            "compares integers exactly: False",
            NUMPY,
            when=lambda call: "uint64" in call.dtypes and bool(call.dtypes & set(SIGNED)),
        ),
        Difference(
            "linspace",
            "mx.linspace(0, 2**53 + 1, 2, dtype=mx.int64)[1].item()",
            "rounds integers to float32 or float64: 2**53",
            "exact for integer endpoints",
            "The endpoints are the given ones.",
        ),
        Difference(
            "prod cumprod array.prod array.cumprod",
            "mx.grad(mx.prod)(mx.array([1e30, 1e30, 0.0, 0.0]))",
            "NaN if a partial product overflows before a zero factor",
            "zeros; partial products of float32 have the range of float64",
            NUMPY,
        ),
        Difference(
            "ArrayAt.divide",
            "mx.array([8, 9]).at[mx.array([0])].divide(2)",
            "multiplies integers by the truncated reciprocal: 0",
            "divides like `//`, for every kind of index",
            "Division is expected.",
        ),
        Difference(
            "quantized_matmul",
            "mx.quantized_matmul(mx.ones((5, 64)), *mx.quantize(mx.ones((3, 8, 64))))",
            "multiplies with the first matrix of a stack only, if x is a single matrix",
            "broadcasts the batch axes",
            "As in matmul.",
        ),
        Difference(
            "to_fp8 quantize",
            "mx.to_fp8(mx.array([mx.nan]))",
            "converts NaN to 448",
            "keeps NaN, in mode 'mxfp8' too",
            "E4M3 has a NaN.",
        ),
        Difference(
            "quantize",
            "mx.quantize(mx.full((4, 64), 1e-40), mode='mxfp4')",
            "the scale of a group below 2**-126 wraps around to a huge one",
            "uses the smallest scale",
            ACCURATE_SCALES,
        ),
        Difference(
            "quantize",
            "mx.quantize(mx.full((4, 64), mx.inf), mode='mxfp8')",
            "a group with an infinity gets scale 1 or 2 in the floating-point modes",
            "uses the largest scale, so the infinity is preserved",
            ACCURATE_SCALES,
        ),
        Difference(
            "dequantize",
            "mx.dequantize(*mx.quantize(mx.ones((4, 64)), mode='nvfp4', "
            "global_scale=mx.array(1.0)), mode='nvfp4', global_scale=mx.array(1.0), "
            "dtype=mx.float16)",
            "returns float32 for every requested dtype if there is a global_scale",
            "returns the requested dtype",
            "An argument is not ignored.",
        ),
        Difference(
            "dequantize",
            "mx.dequantize(*mx.quantize(mx.arange(64).astype(mx.bfloat16).reshape(1, 64) / 7), "
            "dtype=mx.float32)",
            "computes in the dtype of the scales and casts the result",
            "computes in float32",
            "A wider dtype gives more digits.",
        ),
        Difference(
            "all any max mean min prod sum",
            "[mx.prod(mx.array(np.zeros((2, 0)), dtype=mx.float64)).item() for _ in range(9)]",
            "reads past the end of an empty NumPy array: any value, or an endless loop",
            "the reduction's identity",
            SAFE,
            alone=True,
        ),
        Difference(
            "partition argpartition",
            "mx.partition(mx.array([5, 3, 1, 4, 0, 2]), 3)",
            "the order of elements on either side of `kth` is that of its C++ library",
            "another order; each side holds the same elements",
            "Only the position of `kth` is specified.",
        ),
        Difference(
            "sign",
            "mx.sign(mx.array(float('nan')))",
            "0",
            "NaN",
            "As in NumPy: NaN has no sign.",
            when=has_nan,
        ),
        Difference(
            "logsumexp array.logsumexp",
            "mx.logsumexp(mx.array([[1, 2], [3, 4]], dtype=mx.uint8))",
            "inf: the maximum integer replaces the identity",
            "4.44, computed in float32",
            NUMPY,
            when=has(*WHOLE),
        ),
        Difference(
            "conv_transpose1d conv_transpose2d conv_transpose3d",
            "mx.conv_transpose1d(mx.ones((1, 3, 1)), mx.ones((1, 1, 1)), stride=2, padding=1)",
            "a shorter result if padding exceeds the kernel's reach",
            "`(n - 1) * stride - 2 * padding + dilation * (kernel - 1) + 1` elements, always",
            "The documented formula, and PyTorch's.",
            when=pads_past_the_kernel,
        ),
        Difference(
            "conv_transpose1d conv_transpose2d conv_transpose3d",
            "mx.conv_transpose1d(mx.ones((1, 3, 1)), mx.ones((1, 2, 1)), output_padding=-1)",
            "truncates the result",
            "ValueError",
            "Output padding is not negative, as in PyTorch; use a slice to truncate.",
        ),
        Difference(
            "pad",
            "mx.pad(mx.zeros((2, 0)), 1, mode='edge')",
            "pads with zeros, which are not elements of the array",
            "ValueError",
            NUMPY,
        ),
        Difference(
            "mean",
            "mx.mean(mx.full((100000,), 10.0, dtype=mx.float16))",
            "inf: the sum overflows",
            "10",
            "float16 and bfloat16 sums accumulate in float32 and are rounded once.",
        ),
        Difference(
            "mean var std array.mean array.var array.std",
            "mx.mean(mx.array([2**31 - 1, 2**31 - 1]))",
            "-1: integer sums wrap around",
            "2147483648",
            NUMPY,
        ),
        Difference(
            "mean array.mean",
            "mx.mean(mx.full((3,), 3e38))",
            "inf: the sum overflows",
            "3e38",
            "The sum is divided before it is rounded.",
        ),
        Difference(
            "var std array.var array.std",
            "mx.std(mx.full((3,), 1000000.1))",
            "0.0625: deviations from a rounded mean",
            "0",
            "The mean is not rounded before deviations are computed.",
        ),
        Difference(
            "std array.std fast.layer_norm fast.rms_norm",
            "mx.std(mx.array([1e-25, -1e-25]))",
            "0: the squares underflow, or overflow for 1e30",
            "1e-25",
            "Intermediate values stay in range.",
        ),
        Difference(
            "max min array.max array.min",
            "mx.grad(lambda x: x.max())(mx.ones(70000, dtype=mx.float16))[0]",
            "0: the element count overflows",
            "1.43e-5",
            "16-bit floats count in float32.",
        ),
        Difference(
            "std array.std",
            "mx.grad(mx.std)(mx.ones(3))",
            "NaN gradient if all elements are equal",
            "zero, as for a norm at zero",
            SPREADS,
        ),
        Difference(
            "sign",
            "mx.grad(lambda z: mx.abs(mx.sign(z) - 2))(mx.array(1 + 1j))",
            "zero gradient",
            "the derivative of `z / abs(z)`",
            "The sign of a complex number depends on its argument.",
        ),
        Difference(
            "logsumexp array.logsumexp",
            "mx.grad(mx.logsumexp)(mx.full((2,), float('-inf')))",
            "NaN gradient if all elements are -inf",
            "zero",
            SPREADS,
        ),
        Difference(
            "logaddexp",
            "mx.grad(lambda x: mx.logaddexp(x, x))(mx.array(float('-inf')))",
            "NaN gradient for two equal infinities",
            "one half each",
            SPREADS,
        ),
        Difference(
            "linalg.norm nn.losses.cosine_similarity_loss",
            "mx.grad(mx.linalg.norm)(mx.zeros(2))",
            "NaN gradient for the norm of a zero vector",
            "zero",
            SPREADS,
        ),
        Difference(
            "power array.__*__",
            "mx.grad(lambda x: x**0)(mx.array(0.0))",
            "NaN gradient for zero to the power zero, and -inf with respect to the exponent",
            "zero for both",
            SPREADS,
        ),
        Difference(
            "power array.__*__",
            "mx.power(mx.array(0j), 0)",
            "NaN for complex zero to the power zero, and for its gradients",
            "1",
            NUMPY,
        ),
        Difference(
            "divmod",
            "mx.grad(lambda x: mx.divmod(x, 2.0)[1])(mx.array(3.0))",
            "zero gradient of the remainder",
            "the gradient of `%`",
            "The remainder depends on the dividend.",
        ),
        Difference(
            "cummax cummin array.cummax array.cummin",
            "mx.cummax(mx.array([1.0, mx.nan, 2.0], dtype=mx.float16))",
            "does not propagate NaN in 16-bit floats and complex numbers, and gives 0 for it in "
            "the former",
            "propagates NaN, as in float32",
            NUMPY,
        ),
        Difference(
            "array.__*__ add multiply",
            "mx.array([1, 2]) + np.float32(2.5)",
            "casts a NumPy scalar to the array's dtype: int32",
            "promotes the kind, as for Python numbers: float32",
            "The fraction would be lost.",
        ),
        Difference(
            "left_shift right_shift bitwise_left_shift bitwise_right_shift array.__*__",
            "mx.left_shift(mx.array(1), 33)",
            "2: shifts by the bit width or more wrap around, for some elements of an array",
            "0, or -1 for a right shift of a negative number",
            NUMPY,
        ),
        Difference(
            "floor_divide array.__*__",
            "mx.array(3 + 4j) // 2",
            "divides complex numbers without rounding down",
            "TypeError",
            "As `%`, `divmod` and `floor`, which both reject complex numbers.",
        ),
        Difference(
            "vmap random.*",
            "len(set(mx.vmap(lambda x: x + mx.random.uniform())(mx.zeros(3)).tolist()))",
            "one draw without a key, shared by the whole batch",
            "one draw for each element",
            "Noise and dropout differ between samples.",
        ),
        Difference(
            "random.randint",
            "mx.random.randint(5, 5)",
            "5, for an empty range",
            "ValueError",
            "There is no number to draw.",
        ),
        Difference(
            "random.normal random.laplace",
            "mx.random.normal(scale=-1.0)",
            "mirrors the draws for a negative scale",
            "ValueError",
            "A scale is not negative.",
        ),
        Difference(
            "grad value_and_grad vjp jvp",
            "mx.grad(lambda s, t: s['w'] * t['w'] ** 2)(*[{'w': mx.array(2.0)}] * 2)['w']",
            "zero for the first of two arguments that are the same container",
            "the derivative of that argument; the other gets a copy of the container",
            "Arguments are independent variables.",
        ),
        Difference(
            "grad value_and_grad vmap compile checkpoint",
            "mx.compile(lambda t: t[0])(type('Pair', (tuple,), {"
            "'__new__': lambda cls, a, b: tuple.__new__(cls, (a, b))})(mx.array(1.0), None))",
            "TypeError for a tuple subclass whose constructor takes separate items",
            "works",
            "The items are known, independent of the constructor.",
        ),
        Difference(
            "custom_function",
            "(lambda f: (f.vjp(lambda x, c, o: 3 * c * o), "
            "mx.jvp(mx.grad(f), [mx.array(2.0)], [mx.array(1.0)])[1][0])[1])"
            "(mx.custom_function(mx.square))",
            "differentiates a rule's `outputs` by the rule in reverse mode, and by the "
            "function's own operations in forward mode",
            "by the rule in both modes",
            "A Hessian is symmetric.",
        ),
        Difference(
            "checkpoint",
            "mx.grad(lambda y: mx.checkpoint(lambda x: x * y)(mx.array(2.0)))(mx.array(3.0))",
            "no gradient for captured arrays",
            "the gradient",
            "A parameter has a gradient, captured or passed.",
        ),
        Difference(
            "checkpoint",
            "(mx.random.seed(0), mx.grad(mx.checkpoint("
            "lambda x: (mx.random.uniform(shape=(2,)) * x).sum()))(mx.ones(2)))[1]",
            "draws different random numbers for the gradient and the value",
            "the gradient of the computed value",
            "The gradient belongs to the value.",
        ),
        Difference(
            "custom_function",
            "(lambda f: (f.vjp(lambda x, c, o: 10 * c), "
            "mx.grad(lambda x: mx.vmap(f)(x).sum())(mx.ones(2)))[1])"
            "(mx.custom_function(mx.sin))",
            "loses a derivative rule inside `vmap`",
            "batches the rule",
            "A rule holds wherever the function is called.",
        ),
    ),
    "Accuracy": (
        Difference(
            "linspace cos exp sin erf erfinv sigmoid logaddexp logsumexp logcumsumexp softmax "
            "round linalg.det array.cos array.exp array.sin array.round array.logsumexp "
            "array.logcumsumexp",
            "mx.exp(mx.array(np.linspace(0, 1, 5), dtype=mx.float64))",
            "float64 results with float32 accuracy",
            "full float64 accuracy",
            ACCURATE,
            when=has("float64"),
            accuracy="float32",
        ),
        Difference(
            "add subtract multiply divide array.__*__",
            "mx.full((2000,), 2048.0, mx.float16) + 1 - 2048",
            "rounds after every float16 and bfloat16 operation: 0",
            "1: fused operations keep float32 and round the kernel's outputs",
            "Fewer roundings, and no intermediate stores.",
        ),
        Difference(
            "addmm",
            "mx.addmm(mx.ones(()).astype(mx.float64), mx.ones((2, 2), mx.float64), "
            "mx.ones((2, 2), mx.float64), 0.1, 0.3)",
            "`alpha` and `beta` are rounded to float32",
            "full float64 accuracy",
            ACCURATE,
            when=has("float64"),
            accuracy="float32",
        ),
    ),
    "Dtypes": (
        Difference(
            "add subtract multiply where",
            "(mx.array(1.0) + __import__('decimal').Decimal('1.5')).dtype",
            "complex64 for every object that Python converts to a complex number",
            "float32: an object with `__float__` is a float, one with `__index__` an integer",
            "`Decimal` and `Fraction` are real numbers.",
        ),
        Difference(
            "random.randint",
            "mx.random.randint(0, 2**24 + 1, (3,), key=mx.random.key(0))",
            "draws through float32, which cannot represent most numbers beyond 2^24",
            "draws every number of the range; smaller ranges give MLX's numbers",
            "Every number of the range is possible.",
        ),
        Difference(
            "logical_and logical_or",
            "mx.logical_and(mx.array([1, 0], dtype=mx.uint8), -1)",
            "accepts numbers out of the dtype's range",
            "ValueError",
            "A number that does not fit the dtype is a mistake.",
            may_refuse=True,
        ),
        Difference(
            "random.randint",
            "mx.random.randint(-5, 5, (3,), dtype=mx.uint8)",
            "draws integers out of the dtype's range, which wrap around",
            "ValueError",
            "A draw out of range is a mistake.",
            may_refuse=True,
        ),
        Difference(
            "sum prod array.sum array.prod",
            "mx.sum(mx.array(True))",
            "keeps a small dtype for an empty sum, so the dtype depends on the shape",
            "int32 or uint32, as for every other shape",
            "The dtype depends on dtypes only.",
            when=is_zero_dimensional,
        ),
        Difference(
            "vecdot",
            "mx.vecdot(mx.array([1], dtype=mx.uint8), mx.array([1], dtype=mx.uint8))",
            "int32 or uint32 for bool and small integers",
            "the dtype of the operands, as `inner` and `matmul`",
            "As in the array API standard.",
            when=has("bool_", "uint8", "uint16", "int8", "int16"),
        ),
        Difference(
            "softmax",
            "mx.softmax(mx.array([[1, 2]], dtype=mx.int16), axis=0)",
            "sometimes keeps the integer dtype, so the result is zeros and ones",
            "float32",
            "Probabilities are not integers.",
            when=has(*WHOLE),
        ),
        Difference(
            "can_cast result_type matmul concat concatenate add subtract multiply divide stack "
            "where array.__*__",
            "mx.result_type(mx.float64, mx.complex64)",
            "complex64, which loses half of the digits",
            "complex128, which MLX lacks",
            NUMPY,
            when=both("float64", "complex64"),
        ),
        Difference(
            "linalg.eig linalg.eigvals",
            "mx.linalg.eigvals(mx.array([[2.0]], dtype=mx.float64))",
            "complex64",
            "complex128, which MLX lacks",
            ACCURATE,
            when=has("float64"),
        ),
        Difference(
            "where add subtract multiply maximum minimum array.__*__",
            "mx.where(mx.array(True), mx.zeros(1, dtype=mx.uint64), -1)",
            "18446744073709551615 for uint64, an error for other unsigned dtypes",
            "ValueError for all",
            "A number that does not fit the dtype is a mistake.",
            when=has("uint64"),
            may_refuse=True,
        ),
        Difference(
            "grad value_and_grad vjp jvp",
            "mx.grad(lambda x: x * 2.5)(mx.array(3))",
            "2: derivatives of integers and bools are rounded to their dtype",
            "2.5, in float32",
            "A derivative is not an integer.",
        ),
        Difference(
            "full",
            "mx.full((), mx.array(2, dtype=mx.int8), dtype=mx.float32)",
            "ignores `dtype` if nothing is broadcast",
            "uses `dtype`",
            "An argument is not ignored.",
            when=asks_for_dtype,
        ),
    ),
    "Wider input": (
        Difference(
            "array.__round__ array.__trunc__",
            "round(mx.array([1.5, 2.5]))",
            "TypeError; `math.trunc` too",
            "`round(x)` and `round(x, n)` as `mx.round`; `math.trunc` of a single element gives "
            "an int",
            "Python's protocol.",
        ),
        Difference(
            "clip",
            "mx.clip(mx.array([1.0]), None, None)",
            "ValueError without bounds",
            "the input",
            "As in the array API standard.",
        ),
        Difference(
            "broadcast_shapes",
            "mx.broadcast_shapes()",
            "ValueError without shapes",
            "the shape of a scalar",
            "As in the array API standard.",
        ),
        Difference(
            "qqmm gather_qqmm",
            "mx.qqmm(mx.ones((2, 64)), mx.ones((3, 64)))",
            "has no kernel for the CPU",
            "works, also for batches",
            "The CPU is supported.",
        ),
        Difference(
            "quantize",
            "mx.quantize(mx.ones(64))",
            "ValueError for a 1-d array",
            "works",
            "A row is a matrix with one row.",
        ),
        Difference(
            "quantize quantized_matmul gather_qmm to_fp8 from_fp8",
            "mx.quantized_matmul(mx.ones((2, 64)).astype(mx.float64), "
            "*mx.quantize(mx.ones((3, 64))))",
            "RuntimeError for float64, or meaningless values",
            "computes in float64",
            "Every floating dtype is supported.",
        ),
        Difference(
            "quantized_matmul gather_qmm to_fp8 from_fp8",
            "(lambda w: mx.vmap(lambda x: mx.quantized_matmul(x, *w))(mx.ones((3, 2, 64))))"
            "(mx.quantize(mx.ones((8, 64))))",
            "has no vmap rule",
            "works",
            "Every function can be batched.",
        ),
        Difference(
            "quantized_matmul gather_qmm",
            "(lambda q, s, b: mx.jvp(lambda s: mx.quantized_matmul(mx.ones((2, 64)), q, s, b), "
            "[s], [s])[1])(*mx.quantize(mx.ones((8, 64))))",
            "no forward-mode derivative with respect to scales and biases (none at all for "
            "gather_qmm)",
            "works",
            "Every function is differentiable in both modes.",
        ),
        Difference(
            "quantized_matmul gather_qmm",
            "(lambda q, s, b: mx.grad(lambda q: mx.quantized_matmul(mx.ones((2, 64)), q, s, b)"
            ".sum())(q))(*mx.quantize(mx.ones((8, 64))))",
            "raises for the gradient of packed codes",
            "zero",
            "Codes are discrete, like indices; scales can be trained through quantize.",
        ),
        Difference(
            "vmap",
            "mx.vmap(lambda p: p['a'] * p['b'], in_axes=({'a': 0, 'b': None},))"
            "({'a': mx.ones(2), 'b': mx.ones(())})",
            "ValueError for axes of one dict in a tuple, TypeError for keyword arguments",
            "works; keyword arguments are mapped over their first axis",
            "JAX's form.",
        ),
        Difference(
            "grad value_and_grad vjp vmap compile checkpoint custom_function",
            "type(mx.grad(lambda t: t['a'])"
            "(__import__('collections').OrderedDict(a=mx.array(1.0))))",
            "rebuilds subclasses of dict as dict, without their methods",
            "keeps the class and the attributes; gradients by modules are dict",
            "Functions can use the methods of their arguments.",
        ),
        Difference(
            "grad value_and_grad vmap compile checkpoint custom_function",
            "type(type('C', (), {'f': mx.compile(lambda *x: len(x))})().f)",
            "not bound to the instance as a method",
            "bound, as Python's functions, unless the program runs under MLX's name",
            "Transforms decorate methods.",
        ),
        Difference(
            "depends",
            "mx.vmap(lambda x: mx.depends(x, x))(mx.ones(2))",
            "ValueError under `vmap` and `jvp`, and a crash for an empty list",
            "works",
            ALL_RULES,
        ),
        Difference(
            "array.__eq__ array.__ne__",
            "mx.array([1, 2, 3]) == [1, 2, 3]",
            "False",
            "compares elementwise with a list or tuple of matching lengths; another one is False",
            "As in NumPy, and as in `mx.array([1, 2, 3]) + [1, 2, 3]`.",
        ),
        Difference(
            "array",
            "mx.array([np.ones(2), np.ones(2)])",
            "ValueError",
            "stacks NumPy arrays and all objects that share their memory, as well as its own "
            "arrays",
            "A list of array-likes is an array-like.",
        ),
        Difference(
            "array sum mean max min stack concatenate",
            "mx.mean([mx.array(1.0), mx.array(2.0)])",
            "TypeError",
            "accepts a list of arrays of equal shape for an array",
            "As a list of numbers.",
        ),
        Difference(
            "array.__setitem__",
            "(lambda a: (a.__setitem__(mx.array([True, False, True]), mx.arange(3)), a)[1])"
            "(mx.zeros(3))",
            "assigns the first values if a boolean mask selects fewer elements than there are "
            "values",
            "ValueError; MLX's rule under `umber.mlx`",
            "A wrong number of values is usually a mistake.",
        ),
        Difference(
            "array.__setitem__",
            "(lambda a: (exec('a[1:] *= 1.5', {'a': a}), a)[1])(mx.array([4, 5, 6]))",
            "casts the result of an in-place operator on a slice back to the array's dtype",
            "TypeError if that loses the kind of number; MLX's rule under `umber.mlx`",
            "Fractions would be truncated silently.",
        ),
        Difference(
            "grad value_and_grad",
            "mx.grad(mx.sum, argnums=[])(mx.ones(2))",
            "ValueError without arguments",
            "None instead of gradients",
            "A list of arguments may be empty.",
        ),
        Difference(
            "take take_along_axis array.__getitem__",
            "mx.grad(lambda i: mx.take(mx.ones(2), i).sum())(mx.array([0, 1]))",
            "raises for the gradient of indices",
            "zero",
            "Indices are discrete and have zero derivative.",
        ),
        Difference(
            "linalg.*",
            "mx.grad(lambda x: mx.linalg.inv(x).sum())(mx.eye(2))",
            "has no derivatives of inverses, solvers and decompositions",
            "works",
            ALL_RULES,
        ),
        Difference(
            "cumprod cummax cummin conv*",
            "mx.jvp(mx.cumprod, [mx.ones(2)], [mx.ones(2)])[1]",
            "has no forward-mode derivatives of cumulative products, cumulative extrema and "
            "convolutions",
            "works",
            ALL_RULES,
        ),
        Difference(
            "linalg.qr as_strided",
            "mx.vmap(lambda x: mx.linalg.qr(x)[1])(mx.ones((3, 2, 2)))",
            "has no vmap rule",
            "works",
            ALL_RULES,
        ),
        Difference(
            "argmax argmin array.argmax array.argmin",
            "mx.argmax(mx.array(3), keepdims=True)",
            "ValueError for a scalar",
            "0",
            NUMPY,
            when=is_zero_dimensional,
        ),
        Difference(
            "logsumexp array.logsumexp",
            "mx.logsumexp(mx.zeros((2, 0, 1)), axis=2)",
            "ValueError for an empty array",
            "the empty result",
            NUMPY,
            when=is_empty,
        ),
        Difference(
            "nan_to_num",
            "mx.nan_to_num(mx.array(1.0, dtype=mx.float64))",
            "ValueError for float64",
            "works",
            "All floating dtypes are supported.",
            when=has("float64"),
        ),
        Difference(
            "array.__array__",
            "np.array(mx.array(1.0, dtype=mx.bfloat16)).item()",
            "TypeError: bfloat16 has no NumPy dtype",
            "an array of `ml_dtypes.bfloat16`",
            "Values of every dtype can be inspected.",
            when=has("bfloat16"),
        ),
        Difference(
            "take",
            "mx.take(mx.arange(6).reshape(2, 3), -1, axis=0)",
            "ValueError about squeeze",
            "the last row",
            NUMPY,
            when=index_is_number,
        ),
        Difference(
            "matmul",
            "mx.array([1, 2]) @ mx.array([3, 4])",
            "ValueError for integers",
            "11",
            NUMPY,
        ),
        Difference(
            "array",
            "mx.array([300, -1], mx.uint8)",
            "wraps around",
            "RangeError",
            "As in NumPy: a number that does not fit is a mistake.",
        ),
        Difference(
            "array",
            "mx.array([[True, False], (False, True)], mx.float32)",
            "ValueError for mixed lists and tuples",
            "works",
            NUMPY,
        ),
        Difference(
            "array.__getitem__",
            "mx.arange(3)[np.array([0, 2])]",
            "ValueError for NumPy arrays as indices",
            "works",
            NUMPY,
        ),
    ),
    "Neural networks": (
        Difference(
            "nn.Module.parameters",
            "len(utils.tree_flatten(nn.Sequential(*[nn.Linear(2, 2)] * 2).parameters()))",
            "counts, saves and updates a module once for each of its occurrences",
            "once, at the first occurrence; files may name any of them",
            "A module has one gradient, the sum over its uses.",
        ),
        Difference(
            "nn.Module.parameters nn.Module.children",
            "(lambda m: (setattr(m, 'pair', (mx.ones(1), nn.ReLU())), "
            "len(utils.tree_flatten(m.parameters())))[1])(nn.Module())",
            "ignores arrays and modules in tuples",
            "tuples are treated as lists; sets and other objects with arrays cause a warning",
            "A parameter that is not trained or saved would go unnoticed.",
        ),
        Difference(
            "nn.Module",
            "(bool(nn.ReLU()), nn.Dropout(0.1) == nn.Dropout(0.5))",
            "modules are truthy if they have entries, and equal if these are",
            "are truthy, equal to themselves only, and hashable",
            "A module is compared as an object.",
        ),
        Difference(
            "nn.hard_shrink nn.softshrink nn.HardShrink nn.Softshrink",
            "nn.softshrink(mx.array(float('nan')))",
            "is 0 for a NaN",
            "is NaN",
            "An error upstream stays visible.",
        ),
        Difference(
            "nn.Module.load_weights",
            "(lambda m: (setattr(m, 'named', {'a.b': mx.zeros(1)}), "
            "m.load_weights([('named.a.b', mx.ones(1))]).named['a.b'])[1])(nn.Module())",
            "skips parameters whose dict key contains a dot or is a number",
            "loads what save_weights has saved; two parameters with one path are a ValueError",
            "Weights are not lost silently.",
        ),
        Difference(
            "nn.Module.unfreeze",
            "len(utils.tree_flatten(nn.Sequential(nn.BatchNorm(3)).unfreeze()"
            ".trainable_parameters()))",
            "also unfreezes the running averages of batch normalisation layers",
            "they stay frozen, as when a BatchNorm itself is unfrozen",
            "They are not trained, but weight decay would change them.",
        ),
        Difference(
            "nn.Module.unfreeze nn.QuantizedLinear.unfreeze nn.QuantizedEmbedding.unfreeze",
            "(lambda m: (nn.quantize(m), m.unfreeze(), len(utils.tree_flatten("
            "m.trainable_parameters())))[2])(nn.Sequential(nn.Linear(64, 1)))",
            "also unfreezes the codes of quantised layers, which have no gradient",
            "they stay frozen; scales and biases can be trained",
            "An optimizer cannot update discrete codes.",
        ),
        Difference(
            "nn.quantize",
            "(lambda e: (lambda m: (nn.quantize(m), m.layers[0] is m.layers[1])[1])"
            "(nn.Sequential(e, e)))(nn.Linear(64, 1))",
            "quantises a shared module once for each occurrence, which unties it",
            "quantises it once",
            "Tied modules stay tied.",
        ),
        Difference(
            "nn.BatchNorm",
            "nn.BatchNorm(2, track_running_stats=False)(mx.ones((1, 2)))",
            "ValueError for one value per channel during training, with or without running "
            "averages",
            "zeros",
            "The last batch may be small.",
        ),
        Difference(
            "nn.leaky_relu",
            "mx.grad(nn.leaky_relu)(mx.array(-mx.inf))",
            "derivative 1 at -inf",
            "the negative slope",
            "As for all other negative numbers.",
        ),
        Difference(
            "nn.prelu nn.PReLU",
            "mx.grad(lambda x: nn.prelu(x, mx.array(0.25)))(mx.array(0.0))",
            "gradient 1 + alpha at 0",
            "alpha",
            "It is a subgradient, and PyTorch's.",
        ),
        Difference(
            "nn.losses.smooth_l1_loss",
            "mx.grad(lambda x: nn.losses.smooth_l1_loss(x, mx.array([1.0]), beta=0.0))"
            "(mx.array([3.0]))",
            "NaN gradient with beta 0",
            "the gradient of the absolute difference",
            "An update must not destroy the model.",
        ),
        Difference(
            "nn.ConvTranspose1d nn.ConvTranspose2d nn.ConvTranspose3d",
            "mx.grad(lambda x: nn.ConvTranspose1d(1, 1, 2, stride=2, output_padding=1)(x).sum())"
            "(mx.ones((1, 3, 1))).shape",
            "the input gradient has the wrong shape with output_padding",
            "the shape of the input",
            "A gradient has the shape of its variable.",
        ),
        Difference(
            "nn.losses.binary_cross_entropy",
            "mx.grad(lambda p: nn.losses.binary_cross_entropy("
            "p, mx.array(0.0), with_logits=False))(mx.array(0.0))",
            "NaN gradient for the probabilities 0 and 1",
            "the gradient of the active term, or zero where its logarithm is clamped",
            SPREADS,
        ),
        Difference(
            "nn.losses.cross_entropy nn.losses.kl_div_loss nn.losses.binary_cross_entropy",
            "nn.losses.cross_entropy(mx.array([-mx.inf, 0, 0]), mx.array([0.0, 1, 0]))",
            "NaN for probability 0 times an infinite logarithm",
            "the limit 0, also in gradients",
            SPREADS,
        ),
        Difference(
            "nn.log_softmax nn.losses.*",
            "nn.losses.mse_loss(mx.array([300.0, 0], mx.float16), mx.zeros(2, mx.float16))",
            "computes losses of 16-bit floats in their dtype: squares overflow, offsets cancel "
            "digits",
            "computes in float32 and rounds once",
            "A loss in range is finite.",
        ),
        Difference(
            "nn.silu nn.gelu nn.gelu_* nn.mish nn.hardswish nn.softsign",
            "mx.grad(nn.silu)(mx.array(-mx.inf))",
            "NaN at infinities, in value or derivative",
            "the limits",
            SPREADS,
        ),
        Difference(
            "nn.Module.update",
            'nn.Linear(1, 1).update({"weight": 3}, strict=False).weight.shape',
            "replaces a parameter by any object if not strict",
            "ignores objects that are no arrays",
            "A parameter stays an array.",
        ),
        Difference(
            "nn.Module.update_modules",
            'nn.Sequential(nn.Linear(1, 1)).update_modules({"layers": nn.ReLU()}) and 0',
            "ignores modules for paths without a module, even if strict",
            "ValueError if strict",
            "A replacement that does not happen is an error.",
        ),
        Difference(
            "nn.Module.load_weights",
            'nn.Linear(1, 1, False).load_weights([("weight", mx.ones((1, 1)))] * 2).weight',
            "RecursionError for a repeated name",
            "uses the last",
            SAFE,
        ),
        Difference(
            "nn.BatchNorm",
            "nn.BatchNorm(1)(mx.array([[30000.0], [-30000.0]], dtype=mx.float16))",
            "squares in float16 and gives 0",
            "computes in float32 and gives 1 and -1",
            "16-bit results are rounded once, at the end.",
        ),
        Difference(
            "nn.BatchNorm",
            "nn.BatchNorm(2)(mx.zeros((1, 2, 2, 2, 2))).shape",
            "ValueError for 3-d inputs",
            "any number of axes",
            "The formula holds for any number of axes.",
        ),
        Difference(
            "nn.gelu nn.hardswish",
            "nn.gelu(mx.array(60000.0, dtype=mx.float16))",
            "inf for large float16",
            "60000",
            "Intermediate values stay in range.",
        ),
        Difference(
            "nn.AvgPool1d nn.AvgPool2d nn.AvgPool3d",
            "nn.AvgPool1d(4, 1)(mx.full((1, 4, 1), 60000.0).astype(mx.float16))",
            "inf: the sum overflows",
            "60000",
            "16-bit results are rounded once, at the end.",
        ),
        Difference(
            "nn.log_softmax",
            "nn.log_softmax(mx.array([3, 0], dtype=mx.uint8))",
            "-253 and 0: integer exponentials wrap around",
            "log probabilities",
            "Integers are computed in float32.",
        ),
        Difference(
            "nn.elu nn.selu",
            "mx.grad(nn.elu)(mx.array(1000.0))",
            "NaN derivative for large numbers",
            "1",
            "The overflowing branch is not selected.",
        ),
        Difference(
            "nn.celu",
            "mx.grad(nn.celu)(mx.array(0.0))",
            "derivative 0 at 0",
            "1, as on both sides",
            "The function is differentiable there.",
        ),
        Difference(
            "nn.Upsample",
            'nn.Upsample(3.7, "cubic")(mx.ones((1, 9, 1))).min()',
            "0 where rounding moves a position across an element",
            "1: positions are computed in float64",
            "A constant stays constant.",
        ),
        Difference(
            "nn.Upsample",
            "nn.Upsample(0.1)(mx.zeros((1, 3, 1))).shape",
            "ZeroDivisionError for an empty result, in nearest mode",
            "an empty array",
            "As in linear and cubic mode.",
        ),
        Difference(
            "nn.Upsample",
            "nn.Upsample(0.0)(mx.zeros((1, 3, 1))).shape",
            "accepts non-positive scales",
            "ValueError",
            "Mistakes are reported early.",
        ),
        Difference(
            "nn.MaxPool1d nn.MaxPool2d nn.MaxPool3d nn.AvgPool1d nn.AvgPool2d nn.AvgPool3d",
            "nn.MaxPool1d(2)(mx.zeros((4, 1)))",
            "ValueError without a batch axis",
            "works",
            "As channel dropout and recurrent layers.",
        ),
        Difference(
            "nn.MultiHeadAttention nn.RoPE",
            "nn.MultiHeadAttention(2, 1)(*[mx.zeros((3, 2))] * 3).shape",
            "ValueError without a batch axis",
            "any number of leading axes",
            "The formula needs none.",
        ),
        Difference(
            "nn.RNN nn.LSTM nn.GRU",
            "nn.GRU(2, 3)(mx.zeros((0, 2))).shape",
            "ValueError for empty sequences",
            "an empty array",
            "The first of several chunks may be empty.",
        ),
        Difference(
            "nn.RNN nn.LSTM",
            "nn.RNN(2, 3)(mx.zeros((4, 5, 2)), mx.zeros((1, 3))).shape",
            "ValueError for one initial state shared by all sequences, except for GRU",
            "broadcasts it",
            "An unambiguous input works.",
        ),
        Difference(
            "nn.GroupNorm",
            "nn.GroupNorm(1, 2)(mx.zeros((0, 2))).shape",
            "ValueError for an empty batch",
            "an empty array",
            "The last batch may be empty.",
        ),
        Difference(
            "nn.GroupNorm",
            "nn.GroupNorm(2, 4)(mx.arange(4).astype(mx.float32).reshape(1, 4, 1))",
            "groups every n-th position where one channel is broadcast to the features of n groups",
            "ValueError; one group broadcasts in both",
            "Groups consist of features, not of positions.",
        ),
        Difference(
            "nn.Dropout nn.Dropout2d nn.Dropout3d",
            "repr(nn.Dropout(0.1))",
            "p=0.09999999999999998",
            "p=0.1",
            "The given value is printed.",
        ),
        Difference(
            "nn.losses.cross_entropy nn.losses.nll_loss",
            "nn.losses.cross_entropy(mx.zeros((1, 3)), mx.array([5]))",
            "reads foreign memory for invalid classes",
            "IndexError",
            SAFE,
        ),
        Difference(
            "nn.losses.cross_entropy nn.losses.nll_loss fast.cross_entropy",
            "nn.losses.cross_entropy(mx.zeros((1, 3)), mx.array([-1]))",
            "treats target -1 as the last class",
            "IndexError; ignore_index names targets to skip; `nn.losses` follows MLX's rule "
            "under `umber.mlx`",
            "Invalid labels are never trained on.",
        ),
        Difference(
            "nn.losses.cross_entropy nn.losses.nll_loss",
            "nn.losses.cross_entropy(mx.zeros((1, 3)), mx.array([-100]))",
            "reads foreign memory for targets below minus the number of classes",
            "IndexError; under `umber.mlx` a loss of 0, before label smoothing, and no gradient",
            "MLX programs mask such losses afterwards.",
            alone=True,
        ),
        Difference(
            "nn.init.sparse",
            "nn.init.sparse(1.5)(mx.zeros((1, 2)))",
            "all zeros for a sparsity above 1",
            "ValueError",
            "A sparsity is a fraction.",
        ),
        Difference(
            "optimizers.Optimizer.apply_gradients",
            "optimizers.SGD(0.1).apply_gradients(mx.ones((2, 2)), mx.ones((2,)))",
            "parameters take the shape of their gradients",
            "ValueError, and nothing changes",
            "A parameter keeps its shape.",
        ),
        Difference(
            "optimizers.Optimizer.apply_gradients",
            "(lambda o, x: o.init({}) or o.apply_gradients(x, x))"
            '(optimizers.Adam(0.1), {"a": mx.ones(1)})',
            "KeyError for parameters added later, such as those of an unfrozen layer",
            "creates their state",
            "Layers may be unfrozen one by one.",
        ),
        Difference(
            "optimizers.Optimizer.apply_gradients",
            "optimizers.Adam(0.1).apply_gradients("
            '{"a": mx.array([1.0])}, {"a": mx.array([1])})["a"]',
            "some optimizers convert integer or bool parameters to floats",
            "leaves them unchanged",
            "Indices, flags and packed codes are discrete.",
        ),
        Difference(
            "optimizers.Optimizer.apply_gradients",
            "optimizers.Adam(0.1).apply_gradients(mx.ones(2), mx.ones(2))",
            "KeyError for a tree that is a single array, unless the rule is stateless",
            "works",
            "A leaf is a tree.",
        ),
        Difference(
            "optimizers.clip_grad_norm",
            'optimizers.clip_grad_norm({"a": mx.ones(2, dtype=mx.bfloat16)}, 1.0)[1].itemsize',
            "the norm of 16-bit gradients has their dtype",
            "float32",
            "The square of a float16 may overflow although the gradient does not.",
        ),
        Difference(
            "optimizers.Optimizer.apply_gradients",
            'optimizers.Adam(1e-2).apply_gradients({"w": mx.zeros(2, dtype=mx.float16)}, '
            '{"w": mx.ones(2, dtype=mx.float16)})["w"]',
            "computes in the gradient's dtype: in float16, eps is 0 and squares overflow",
            "in float32; parameters and states keep their dtypes, states stay finite",
            "A zero gradient changes nothing.",
        ),
        Difference(
            "optimizers.Adam optimizers.AdamW optimizers.Adamax",
            'optimizers.Adam(1, eps=0).apply_gradients({"w": mx.zeros(1)}, {"w": mx.ones(1)})["w"]',
            "NaN for a zero gradient with eps=0",
            "the parameter does not change",
            "A zero gradient changes nothing.",
        ),
        Difference(
            "optimizers.Optimizer.learning_rate",
            "(lambda o: (setattr(o, 'learning_rate', lambda step: mx.array(0.5)), "
            "o.learning_rate)[1])(optimizers.SGD(0.1))",
            "ValueError for assigning a schedule",
            "works as in the constructor",
            "A schedule may be set later.",
        ),
        Difference(
            "optimizers.Optimizer.update",
            "(lambda m: optimizers.SGD(0.1).update(m.parameters(), m))(nn.Linear(1, 1))",
            "changes the gradients if they are passed as the model",
            "TypeError",
            "Mistakes are reported early.",
        ),
        Difference(
            "optimizers.MultiOptimizer",
            "(lambda x: optimizers.MultiOptimizer([optimizers.SGD(1.0)] * 2, "
            "[lambda p, x: x.ndim > 1]).apply_gradients(x, x))"
            '({"l": [mx.ones(1), {}, mx.ones((1, 1))]})',
            "ValueError if a list contains modules without parameters",
            "works",
            "As single optimizers.",
        ),
        Difference(
            "optimizers.Adafactor",
            "optimizers.Adafactor(relative_step=False).step",
            "KeyError in the first update without a learning rate",
            "ValueError in the constructor",
            "Mistakes are reported early.",
        ),
        Difference(
            "utils.tree_unflatten",
            'utils.tree_unflatten([("-1", "a"), ("0", "b")])',
            "every string that int() accepts is a list index",
            "only strings of digits are, so other dict keys survive",
            "Flattening loses nothing.",
        ),
        Difference(
            "utils.tree_map utils.tree_map_with_path",
            "type(utils.tree_map(abs, __import__('collections').OrderedDict(a=1)))",
            "dict for subclasses of dict",
            "the subclass, with its attributes; dict for modules",
            "Trees keep their structure.",
        ),
        Difference(
            "utils.tree_merge",
            'utils.tree_merge({"a": None}, {"a": {}})',
            "None is a value",
            "None is an empty subtree",
            "Trees with gaps can be merged.",
        ),
    ),
    "Compiled functions": (
        Difference(
            "compile",
            "mx.compile(lambda x, y: x)(mx.array([1.0]), frozenset())",
            "ValueError for arguments other than arrays, numbers, strings and None",
            "treats them as constants: dataclasses by their fields, others by hash and equality",
            "Settings are arguments too.",
        ),
        Difference(
            "compile",
            "(lambda f: (f(mx.ones((2, 3))), f(mx.ones((4, 3))))[1])"
            "(mx.compile(lambda x: x / x.shape[0], shapeless=True))",
            "a shapeless function keeps the lengths of the first call, or raises",
            "traces again where the program is not known to be right for other lengths",
            "A compiled function gives the results of the plain one.",
        ),
        Difference(
            "compile",
            "(lambda f: (f(mx.ones((4, 3))), f(mx.ones((4, 5))))[1])"
            "(mx.compile(lambda x: x[:2], shapeless=True))",
            "ValueError for slices, padding and other operations without a shape rule",
            "works",
            "A compiled function gives the results of the plain one.",
        ),
    ),
    "Files": (
        Difference(
            "load",
            "(lambda f: (mx.save(f, mx.ones(2)), f.seek(0), mx.load(f))[2])"
            '(__import__("io").BytesIO())',
            "needs the format of files without an extension",
            "detects it by content",
            "The content identifies the format.",
        ),
        Difference(
            "load",
            "(lambda f: (np.save(f, np.ones(2)), np.save(f, np.arange(3)), f.seek(0), "
            'mx.load(f, format="npy"), mx.load(f, format="npy"))[4])(__import__("io").BytesIO())',
            "reads the second array of an open file from a wrong offset",
            "reads arrays one after the other",
            NUMPY,
        ),
        Difference(
            "load",
            '(lambda f: (np.savez(f, a=np.ones(2), s=np.array("x")), f.seek(0), '
            'mx.load(f, format="npz", return_metadata=True)[0])[2])(__import__("io").BytesIO())',
            "ValueError for an npz file with a string member",
            "returns the arrays, and strings as metadata",
            "One member does not invalidate the others.",
        ),
        Difference(
            "save_safetensors",
            'mx.save_safetensors(__import__("io").BytesIO(), {"a": mx.ones(1).astype(mx.float64)})',
            "RuntimeError for float64",
            "writes it",
            "The format supports it.",
        ),
        Difference(
            "save_gguf",
            'mx.save_gguf(__import__("io").BytesIO(), {"a": mx.ones(1)})',
            "ValueError for open files",
            "accepts them, and bfloat16, float64 and int64",
            "As the other formats.",
        ),
    ),
    "Fused operations": (
        Difference(
            "fast.scaled_dot_product_attention",
            "mx.fast.scaled_dot_product_attention(*[mx.ones(s) for s in "
            "((1, 2, 3, 4), (1, 0, 3, 4), (1, 0, 3, 4))], scale=1.0)",
            "crashes if keys have no heads",
            "ValueError",
            "No input may crash.",
            alone=True,
        ),
        Difference(
            "fast.scaled_dot_product_attention",
            "mx.fast.scaled_dot_product_attention(*[mx.ones((2, 3, 4))] * 3, scale=1.0)",
            "ValueError for other than 4 axes, broadcast batches, and wider masks",
            "supports them",
            "An unambiguous input works.",
        ),
        Difference(
            "fast.scaled_dot_product_attention",
            "mx.fast.scaled_dot_product_attention(*[mx.ones((1, 2, 3, 4))] * 3, scale=1.0, "
            "force_fused=True)",
            "no fused kernel on CPU: ValueError",
            "always fused, with memory independent of queries times keys",
            "Long sequences fit into memory.",
        ),
        Difference(
            "fast.scaled_dot_product_attention",
            "mx.fast.scaled_dot_product_attention(*[mx.ones((1, 1, 2, 4))] * 3, scale=1.0, "
            "mask=mx.array([[0.0, 0], [-mx.inf, -mx.inf]]))",
            "NaN for a query whose additive mask hides all keys",
            "the mean of all values, as for a boolean mask",
            SPREADS,
        ),
        Difference(
            "fast.rope",
            "mx.fast.rope(mx.ones((1, 1, 64), dtype=mx.float64), 64, traditional=False, base=1e4, "
            "scale=1.0, offset=7)",
            "computes angles in float32, also for float64",
            "computes angles in float64",
            "Distant positions keep their accuracy.",
            when=has("float64"),
            accuracy="float32",
        ),
        Difference(
            "fast.layer_norm fast.rms_norm fast.gated_delta_update"
            " fast.scaled_dot_product_attention",
            "mx.fast.rms_norm(mx.arange(1, 6).astype(mx.float64), None, 1e-5)",
            "computes in float32 for float64",
            "computes in float64",
            "float64 is computed at full precision.",
            when=has("float64"),
            accuracy="float32",
        ),
        Difference(
            "fast.rope",
            "mx.fast.rope(mx.ones((3, 4)), 4, traditional=False, base=1e4, scale=1.0, offset=0)",
            "ValueError for 2-d arrays",
            "supports them",
            "An unambiguous input works.",
        ),
        Difference(
            "fast.cross_entropy",
            "mx.fast.cross_entropy(mx.ones((2, 3), dtype=mx.float64), mx.array([0, 1]))",
            "returns float32 for float64",
            "returns float64",
            "float64 is computed at full precision.",
            when=has("float64"),
        ),
        Difference(
            "fast.cross_entropy",
            "mx.fast.cross_entropy(mx.array([1.234, 0.37, 2.11], dtype=mx.float16), mx.array(0))",
            "sums 16-bit logits in their dtype",
            "sums them in float32",
            "The float32 result has float32 accuracy.",
            when=has("float16", "bfloat16"),
            accuracy="bfloat16",
        ),
        Difference(
            "fast.cross_entropy",
            "mx.fast.cross_entropy(mx.ones((2, 3)), mx.array([0, 5]))",
            "reads past the end for an invalid class",
            "IndexError",
            "Invalid targets are reported.",
        ),
        Difference(
            "fast.gated_delta_update",
            "mx.fast.gated_delta_update(*[mx.ones((1, 0, 1, 2))] * 3, mx.ones((1, 0, 1)), "
            "mx.ones((1, 0, 1)))",
            "ValueError for an empty sequence",
            "returns the state unchanged",
            "Empty sequences are valid.",
        ),
    ),
    "Form": (
        Difference(
            "array.__repr__ array.__str__",
            "repr(mx.zeros((0, 3)))",
            "array([], dtype=float32)",
            "array([], shape=(0, 3), dtype=float32): the shape, if brackets do not show it",
            "As in NumPy.",
        ),
        Difference(
            "printoptions set_printoptions",
            "(lambda c: (c.__enter__(), repr(mx.array([1e-4])), c.__exit__(None, None, None))[1])"
            "(mx.printoptions(precision=3))",
            "0.000",
            "1.000e-04: scientific notation where fixed decimals would be zeros, and from 1e16",
            "A non-zero number does not print as zero.",
        ),
        Difference(
            "asarray",
            "(lambda n: (mx.asarray(n), n.__setitem__(0, 9))[0])(np.zeros(2, np.float32))",
            "copies NumPy's memory",
            "shares it",
            "Large arrays are imported without copies.",
        ),
        Difference(
            "asarray from_dlpack",
            "mx.asarray(np.zeros(2, np.float32), copy=False)",
            "ValueError: CPU memory is always copied",
            "shares it, or raises if a copy is necessary",
            "Large arrays are imported without copies.",
        ),
        Difference(
            "array asarray",
            "mx.array(np.array(1.5)).itemsize",
            "narrows NumPy's float64 to float32 and complex128 to complex64",
            "keeps the dtype",
            "A value is not rounded implicitly.",
        ),
        Difference(
            "from_dlpack",
            "mx.from_dlpack(np.array([0.1])).itemsize",
            "narrows float64 to float32 and complex128 to complex64",
            "keeps the dtype",
            "A value is not rounded implicitly.",
        ),
        Difference(
            "grad value_and_grad",
            "mx.grad(lambda x, y: 2 * x + 3 * y, argnums=(1, 0))(mx.array(0.0), mx.array(0.0))",
            "gradients in the order of the arguments",
            "in the order of `argnums`",
            "As in JAX.",
        ),
        Difference(
            "array.__array__",
            "mx.grad(lambda x: (np.array(x, copy=False).put(0, 9), x.sum())[1])(mx.ones(2))",
            "permits writes through a view of an argument of `grad`, which the gradient ignores",
            'ValueError on the write; `set_view_policy("writable")` permits it',
            "A write inside a derivative is an error, not a wrong gradient.",
        ),
        Difference(
            "export_to_dot",
            "(lambda f: (mx.export_to_dot(f, mx.array([1]) + mx.array([2])), 'dd' in f.getvalue()))"
            "(__import__('io').StringIO())[1]",
            "draws every pending operation",
            "draws those with more than 1,024 elements; of a function, `export_to_dot(file, f, "
            "x)`, or with `UMBER_EAGER=0` in the environment, all",
            "Small operations run eagerly and are not recorded.",
        ),
        Difference(
            "export_to_dot",
            "(lambda f: (mx.export_to_dot(f, mx.isnan(mx.ones(2000))), 'NotEqual' in f.getvalue()))"
            "(__import__('io').StringIO())[1]",
            "draws the primitives of which it composes functions: `isnan` as `NotEqual`",
            "draws its own primitives, under MLX's names where both have the primitive: "
            "`isnan`, `reciprocal`, `mean`, `var` and `linalg.solve` are one node, `flatten` is "
            "`Reshape`, `split` and `roll` are `Slice`, `pad` is `SliceUpdate`",
            "The graph is the one that is differentiated and run.",
        ),
    ),
}


def all_differences() -> list[Difference]:
    """Every row of the table."""
    return [row for rows in DIFFERENCES.values() for row in rows]
