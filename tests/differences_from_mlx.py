"""Where umber deliberately does something else than MLX: the one table.

The comparison with MLX (`tests/compat/test_core_mlx.py`) fails for every difference without a row
here, and `tests/compat/test_differences.py` for every row whose example no longer shows one.
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
SAFE = "Nothing that a program can pass may end the process or read foreign memory."
NUMPY = "NumPy's answer, and the mathematical one."
SPREADS = "NaN spreads to everything that is trained."
ALL_RULES = "Transforms nest in any order, over any function."
ACCURATE_SCALES = "What is read back is the nearest that the format has."
ACCURATE = "A float64 result is good to the last digits or has no reason to be."

DIFFERENCES: dict[str, tuple[Difference, ...]] = {
    "Safety": (
        Difference(
            "quantized_matmul gather_qmm",
            "(lambda q, s, b: mx.quantized_matmul(mx.ones((5, 64)), q, s[:4], b[:4]))"
            "(*mx.quantize(mx.ones((8, 64))))",
            "reads past the end of scales that are fewer than the rows of w",
            "ValueError",
            SAFE,
            alone=True,
        ),
        Difference(
            "quantized_matmul gather_qmm",
            "mx.quantized_matmul(mx.ones((0, 64)), *mx.quantize(mx.ones((8, 64))))",
            "ends the process for empty operands",
            "gives an empty result, or zeros where sums have no terms",
            SAFE,
            alone=True,
        ),
        Difference(
            "custom_function",
            "(lambda f: (f.vjp(lambda p, c, o: None), mx.grad(f, (0, 1))(mx.ones(()), "
            "mx.ones(())))[1])"
            "(mx.custom_function(mx.multiply))",
            "reads past the end of what a rule answered, where that is too short",
            "zero for None, ValueError for another structure or shape",
            SAFE,
            alone=True,
        ),
        Difference(
            "array.__getitem__",
            "mx.zeros(3)[10]",
            "gives whatever lies in memory",
            "IndexError",
            SAFE,
            alone=True,
        ),
        Difference(
            "array.__getitem__",
            "mx.zeros(3)[mx.array([0, 100000000])]",
            "ends the process",
            "IndexError when the result is evaluated",
            SAFE,
            alone=True,
        ),
        Difference(
            "array.__getitem__",
            "mx.zeros(3)[::0]",
            "ends the process",
            "ValueError",
            SAFE,
            alone=True,
        ),
        Difference(
            "array.__setitem__",
            "mx.zeros(3).__setitem__(5, 7)",
            "does nothing and says nothing",
            "IndexError",
            "A write that cannot happen is a mistake.",
            alone=True,
        ),
        Difference(
            "take take_along_axis",
            "mx.take(mx.zeros(3), mx.array([5]))",
            "gives whatever lies in memory",
            "IndexError when the result is evaluated",
            SAFE,
            alone=True,
        ),
        Difference(
            "conv1d conv2d conv3d conv_general",
            "mx.conv1d(mx.ones((2, 2, 4)), mx.ones((3, 3, 4)), stride=2)",
            "reads outside of an input that is shorter than the kernel by less than the stride",
            "ValueError, as in both where the stride is 1",
            SAFE,
            alone=True,
        ),
        Difference(
            "divmod",
            "mx.divmod(mx.array(1), mx.array(0))",
            "ends the process",
            "quotient 0, remainder the dividend: the values of MLX's `//` and `%`",
            SAFE,
            alone=True,
        ),
        Difference(
            "array.reshape",
            "mx.array(3).reshape()",
            "ends the process",
            "the array with no axes",
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
            "rounds integers to float32 or float64 on the way: 2**53",
            "integers between integers are exact",
            "The ends are those that were given.",
        ),
        Difference(
            "prod cumprod array.prod array.cumprod",
            "mx.grad(mx.prod)(mx.array([1e30, 1e30, 0.0, 0.0]))",
            "NaN where a part of the product is infinite before a zero is met",
            "zeros; products of float32 keep the range of float64 on the way",
            NUMPY,
        ),
        Difference(
            "ArrayAt.divide",
            "mx.array([8, 9]).at[mx.array([0])].divide(2)",
            "multiplies integers by the reciprocal cut to an integer: 0",
            "divides as `//` does, at every kind of index",
            "A quotient is what was asked for.",
        ),
        Difference(
            "quantized_matmul",
            "mx.quantized_matmul(mx.ones((5, 64)), *mx.quantize(mx.ones((3, 8, 64))))",
            "answers the product with the first matrix of a stack if x is a single matrix",
            "broadcasts the batch axes",
            "As matmul does.",
        ),
        Difference(
            "to_fp8 quantize",
            "mx.to_fp8(mx.array([mx.nan]))",
            "turns NaN into 448",
            "keeps NaN, in mode 'mxfp8' too",
            "E4M3 has a NaN.",
        ),
        Difference(
            "quantize",
            "mx.quantize(mx.full((4, 64), 1e-40), mode='mxfp4')",
            "wraps the scale of a group below 2**-126 around to a huge one",
            "takes the least scale there is",
            ACCURATE_SCALES,
        ),
        Difference(
            "quantize",
            "mx.quantize(mx.full((4, 64), mx.inf), mode='mxfp8')",
            "gives a group with an infinity a scale of 1 or 2 in the modes with floats",
            "takes the largest scale there is, so that the infinity is one again",
            ACCURATE_SCALES,
        ),
        Difference(
            "dequantize",
            "mx.dequantize(*mx.quantize(mx.ones((4, 64)), mode='nvfp4', "
            "global_scale=mx.array(1.0)), mode='nvfp4', global_scale=mx.array(1.0), "
            "dtype=mx.float16)",
            "answers float32 whatever dtype is asked for, if there is a global_scale",
            "answers the dtype",
            "It was asked for.",
        ),
        Difference(
            "dequantize",
            "mx.dequantize(*mx.quantize(mx.arange(64).astype(mx.bfloat16).reshape(1, 64) / 7), "
            "dtype=mx.float32)",
            "computes in the dtype of the scales, and turns what comes out into the dtype",
            "computes in float32",
            "Who asks for more digits gets them.",
        ),
        Difference(
            "all any max mean min prod sum",
            "[mx.prod(mx.array(np.zeros((2, 0)), dtype=mx.float64)).item() for _ in range(9)]",
            "reads past the end of an empty array from NumPy: any value, or no end",
            "the value for no elements",
            SAFE,
            alone=True,
        ),
        Difference(
            "partition argpartition",
            "mx.partition(mx.array([5, 3, 1, 4, 0, 2]), 3)",
            "leaves the elements before and after the `kth` in the order of its C++ library",
            "in an order of its own; each part holds the same elements",
            "Only the place of the `kth` element is promised.",
        ),
        Difference(
            "sign",
            "mx.sign(mx.array(float('nan')))",
            "0",
            "NaN",
            "NumPy's answer: not-a-number has no sign.",
            when=has_nan,
        ),
        Difference(
            "logsumexp array.logsumexp",
            "mx.logsumexp(mx.array([[1, 2], [3, 4]], dtype=mx.uint8))",
            "inf: the largest whole number stands in for the missing start",
            "4.44, computed in float32",
            NUMPY,
            when=has(*WHOLE),
        ),
        Difference(
            "conv_transpose1d conv_transpose2d conv_transpose3d",
            "mx.conv_transpose1d(mx.ones((1, 3, 1)), mx.ones((1, 1, 1)), stride=2, padding=1)",
            "a shorter result where the padding cuts off more than the kernel adds",
            "`(n - 1) * stride - 2 * padding + dilation * (kernel - 1) + 1` elements, always",
            "The documented formula, and PyTorch's.",
            when=pads_past_the_kernel,
        ),
        Difference(
            "conv_transpose1d conv_transpose2d conv_transpose3d",
            "mx.conv_transpose1d(mx.ones((1, 3, 1)), mx.ones((1, 2, 1)), output_padding=-1)",
            "cuts the end of the result off",
            "ValueError",
            "What is added to the end is not negative, as in PyTorch; slices cut.",
        ),
        Difference(
            "pad",
            "mx.pad(mx.zeros((2, 0)), 1, mode='edge')",
            "zeros, which are no elements of the array",
            "ValueError",
            NUMPY,
        ),
        Difference(
            "mean",
            "mx.mean(mx.full((100000,), 10.0, dtype=mx.float16))",
            "inf: the sum overflows",
            "10",
            "Sums of half precision are taken in float32 and rounded once.",
        ),
        Difference(
            "mean var std array.mean array.var array.std",
            "mx.mean(mx.array([2**31 - 1, 2**31 - 1]))",
            "-1: sums of integers wrap around",
            "2147483648",
            NUMPY,
        ),
        Difference(
            "mean array.mean",
            "mx.mean(mx.full((3,), 3e38))",
            "inf: the sum overflows",
            "3e38",
            "Sums are divided before they are rounded.",
        ),
        Difference(
            "var std array.var array.std",
            "mx.std(mx.full((3,), 1000000.1))",
            "0.0625: distances from a rounded mean",
            "0",
            "The mean keeps its digits until distances are taken.",
        ),
        Difference(
            "std array.std fast.layer_norm fast.rms_norm",
            "mx.std(mx.array([1e-25, -1e-25]))",
            "0: the squares vanish, or overflow beside 1e30",
            "1e-25",
            "What lies between stays in range.",
        ),
        Difference(
            "max min array.max array.min",
            "mx.grad(lambda x: x.max())(mx.ones(70000, dtype=mx.float16))[0]",
            "0: the number of elements overflows",
            "1.43e-5",
            "Halves are counted in float32.",
        ),
        Difference(
            "std array.std",
            "mx.grad(mx.std)(mx.ones(3))",
            "a gradient of NaN where all elements are equal",
            "zero, as of a norm at zero",
            SPREADS,
        ),
        Difference(
            "sign",
            "mx.grad(lambda z: mx.abs(mx.sign(z) - 2))(mx.array(1 + 1j))",
            "a gradient of zero",
            "the derivative of `z / abs(z)`",
            "The sign of a complex number turns with it.",
        ),
        Difference(
            "logsumexp array.logsumexp",
            "mx.grad(mx.logsumexp)(mx.full((2,), float('-inf')))",
            "a gradient of NaN where all elements are -inf",
            "zero",
            SPREADS,
        ),
        Difference(
            "logaddexp",
            "mx.grad(lambda x: mx.logaddexp(x, x))(mx.array(float('-inf')))",
            "a gradient of NaN where both are the same infinity",
            "a half for each",
            SPREADS,
        ),
        Difference(
            "linalg.norm nn.losses.cosine_similarity_loss",
            "mx.grad(mx.linalg.norm)(mx.zeros(2))",
            "a gradient of NaN for the norm of zeros",
            "zero",
            SPREADS,
        ),
        Difference(
            "power array.__*__",
            "mx.grad(lambda x: x**0)(mx.array(0.0))",
            "a gradient of NaN for zero to the power zero, and of -inf for that power",
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
            "a gradient of zero for the remainder",
            "that of `%`",
            "The remainder grows with the dividend.",
        ),
        Difference(
            "cummax cummin array.cummax array.cummin",
            "mx.cummax(mx.array([1.0, mx.nan, 2.0], dtype=mx.float16))",
            "forgets NaN in 16-bit floats and complex numbers, and gives 0 for it in the former",
            "NaN from there on, as in float32",
            NUMPY,
        ),
        Difference(
            "array.__*__ add multiply",
            "mx.array([1, 2]) + np.float32(2.5)",
            "cuts a NumPy scalar to the array's dtype: int32",
            "raises the kind, as for Python's numbers: float32",
            "Half of the number is lost.",
        ),
        Difference(
            "left_shift right_shift bitwise_left_shift bitwise_right_shift array.__*__",
            "mx.left_shift(mx.array(1), 33)",
            "2: shifts by the width or more wrap around, at some places of an array",
            "0, or -1 for a negative number to the right: no bit is left",
            NUMPY,
        ),
        Difference(
            "floor_divide array.__*__",
            "mx.array(3 + 4j) // 2",
            "divides complex numbers without a floor",
            "TypeError",
            "As `%`, `divmod` and `floor`, which refuse them in both.",
        ),
        Difference(
            "vmap random.*",
            "len(set(mx.vmap(lambda x: x + mx.random.uniform())(mx.zeros(3)).tolist()))",
            "one draw without a key, repeated for all that `vmap` maps over",
            "a draw for each",
            "Noise and dropout differ from sample to sample.",
        ),
        Difference(
            "random.randint",
            "mx.random.randint(5, 5)",
            "5, of a range without numbers",
            "ValueError",
            "There is nothing to draw.",
        ),
        Difference(
            "random.normal random.laplace",
            "mx.random.normal(scale=-1.0)",
            "mirrors the draws for a scale below zero",
            "ValueError",
            "No spread is negative.",
        ),
        Difference(
            "grad value_and_grad vjp jvp",
            "mx.grad(lambda s, t: s['w'] * t['w'] ** 2)(*[{'w': mx.array(2.0)}] * 2)['w']",
            "zero for the first of two arguments that are one container",
            "the derivative by that argument; the other one gets a copy of the container",
            "Arguments are variables of their own.",
        ),
        Difference(
            "grad value_and_grad vmap compile checkpoint",
            "mx.compile(lambda t: t[0])(type('Pair', (tuple,), {"
            "'__new__': lambda cls, a, b: tuple.__new__(cls, (a, b))})(mx.array(1.0), None))",
            "TypeError for a subclass of tuple whose constructor takes the items one by one",
            "works",
            "The items are known, whatever the constructor takes.",
        ),
        Difference(
            "custom_function",
            "(lambda f: (f.vjp(lambda x, c, o: 3 * c * o), "
            "mx.jvp(mx.grad(f), [mx.array(2.0)], [mx.array(1.0)])[1][0])[1])"
            "(mx.custom_function(mx.square))",
            "differentiates the outputs that a rule gets by the rule backwards, but by the "
            "function's own operations forwards",
            "by the rule in both directions",
            "A Hessian is symmetric.",
        ),
        Difference(
            "checkpoint",
            "mx.grad(lambda y: mx.checkpoint(lambda x: x * y)(mx.array(2.0)))(mx.array(3.0))",
            "no gradient for what the function captures",
            "the gradient",
            "Captured or given, a parameter is a parameter.",
        ),
        Difference(
            "checkpoint",
            "(mx.random.seed(0), mx.grad(mx.checkpoint("
            "lambda x: (mx.random.uniform(shape=(2,)) * x).sum()))(mx.ones(2)))[1]",
            "draws other random numbers for the gradient than for the value",
            "the gradient of the value that was computed",
            "A gradient belongs to its value.",
        ),
        Difference(
            "custom_function",
            "(lambda f: (f.vjp(lambda x, c, o: 10 * c), "
            "mx.grad(lambda x: mx.vmap(f)(x).sum())(mx.ones(2)))[1])"
            "(mx.custom_function(mx.sin))",
            "a rule for gradients is lost inside `vmap`",
            "it is batched",
            "A rule holds wherever the function is called.",
        ),
    ),
    "Accuracy": (
        Difference(
            "linspace cos exp sin erf erfinv sigmoid logaddexp logsumexp logcumsumexp softmax "
            "round linalg.det array.cos array.exp array.sin array.round array.logsumexp "
            "array.logcumsumexp",
            "mx.exp(mx.array(np.linspace(0, 1, 5), dtype=mx.float64))",
            "float64 values that are good to float32 only",
            "full float64 accuracy",
            ACCURATE,
            when=has("float64"),
            accuracy="float32",
        ),
        Difference(
            "add subtract multiply divide array.__*__",
            "mx.full((2000,), 2048.0, mx.float16) + 1 - 2048",
            "rounds after every operation of float16 and bfloat16: 0",
            "1: operations that are evaluated together as one kernel keep float32 between them and "
            "round what leaves it",
            "Fewer roundings, and no stores between them.",
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
            "complex64: every object that Python converts to a complex number is one",
            "float32: an object with `__float__` is a float, one with `__index__` an integer",
            "`Decimal` and `Fraction` are real numbers.",
        ),
        Difference(
            "random.randint",
            "mx.random.randint(0, 2**24 + 1, (3,), key=mx.random.key(0))",
            "draws through float32, which most numbers of ranges beyond 2^24 are not in",
            "draws any number of the range; smaller ranges give MLX's numbers",
            "A draw may give whatever was asked for.",
        ),
        Difference(
            "logical_and logical_or",
            "mx.logical_and(mx.array([1, 0], dtype=mx.uint8), -1)",
            "takes numbers that the array's dtype does not have",
            "ValueError",
            "A number that the dtype does not have is a mistake.",
            may_refuse=True,
        ),
        Difference(
            "random.randint",
            "mx.random.randint(-5, 5, (3,), dtype=mx.uint8)",
            "draws integers that the dtype cannot hold, which wrap",
            "ValueError",
            "A draw that cannot be what was asked for is a mistake.",
            may_refuse=True,
        ),
        Difference(
            "sum prod array.sum array.prod",
            "mx.sum(mx.array(True))",
            "keeps a small dtype when there is nothing to add up, so shape decides the dtype",
            "int32 or uint32, as for every other shape",
            "A dtype follows from dtypes.",
            when=is_zero_dimensional,
        ),
        Difference(
            "vecdot",
            "mx.vecdot(mx.array([1], dtype=mx.uint8), mx.array([1], dtype=mx.uint8))",
            "int32 or uint32 for bool and small integers",
            "the dtype of the factors, as in `inner` and `matmul`",
            "The array API standard's answer.",
            when=has("bool_", "uint8", "uint16", "int8", "int16"),
        ),
        Difference(
            "softmax",
            "mx.softmax(mx.array([[1, 2]], dtype=mx.int16), axis=0)",
            "keeps the whole-number dtype at times, and with it zeros and ones",
            "float32",
            "Probabilities are not whole numbers.",
            when=has(*WHOLE),
        ),
        Difference(
            "can_cast result_type matmul concat concatenate add subtract multiply divide stack "
            "where array.__*__",
            "mx.result_type(mx.float64, mx.complex64)",
            "complex64, which drops half of the digits",
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
            "18446744073709551615 for uint64; an error for every other unsigned dtype",
            "ValueError, as for the others",
            "A number that the dtype does not have is a mistake.",
            when=has("uint64"),
            may_refuse=True,
        ),
        Difference(
            "grad value_and_grad vjp jvp",
            "mx.grad(lambda x: x * 2.5)(mx.array(3))",
            "2: derivatives at integers and bools are rounded to their dtype",
            "2.5: they are float32",
            "A slope is no whole number.",
        ),
        Difference(
            "full",
            "mx.full((), mx.array(2, dtype=mx.int8), dtype=mx.float32)",
            "ignores `dtype` where nothing is repeated",
            "follows `dtype`",
            "An argument is not ignored.",
            when=asks_for_dtype,
        ),
    ),
    "Wider input": (
        Difference(
            "array.__round__ array.__trunc__",
            "round(mx.array([1.5, 2.5]))",
            "TypeError; `math.trunc` too",
            "`round(x)` and `round(x, n)` as `mx.round`; of one element `math.trunc` gives an int",
            "Python's spelling.",
        ),
        Difference(
            "clip",
            "mx.clip(mx.array([1.0]), None, None)",
            "ValueError without limits",
            "what was given",
            "The array API standard's answer.",
        ),
        Difference(
            "broadcast_shapes",
            "mx.broadcast_shapes()",
            "ValueError for no shapes",
            "the shape of a number",
            "The array API standard's answer.",
        ),
        Difference(
            "qqmm gather_qqmm",
            "mx.qqmm(mx.ones((2, 64)), mx.ones((3, 64)))",
            "has no kernel for the CPU",
            "works, for batches too",
            "The kernels are there.",
        ),
        Difference(
            "quantize",
            "mx.quantize(mx.ones(64))",
            "ValueError for fewer than two axes",
            "works for rows of one axis",
            "A row is quantised as a matrix of one.",
        ),
        Difference(
            "quantize quantized_matmul gather_qmm to_fp8 from_fp8",
            "mx.quantized_matmul(mx.ones((2, 64)).astype(mx.float64), "
            "*mx.quantize(mx.ones((3, 64))))",
            "RuntimeError for float64, or values that mean nothing",
            "computes in float64",
            "Every floating dtype is computed in.",
        ),
        Difference(
            "quantized_matmul gather_qmm to_fp8 from_fp8",
            "(lambda w: mx.vmap(lambda x: mx.quantized_matmul(x, *w))(mx.ones((3, 2, 64))))"
            "(mx.quantize(mx.ones((8, 64))))",
            "has no rule for vmap",
            "works",
            "Every function can be vectorised.",
        ),
        Difference(
            "quantized_matmul gather_qmm",
            "(lambda q, s, b: mx.jvp(lambda s: mx.quantized_matmul(mx.ones((2, 64)), q, s, b), "
            "[s], [s])[1])(*mx.quantize(mx.ones((8, 64))))",
            "has no forward derivative with respect to scales and biases (gather_qmm none at all)",
            "works",
            "Every function is differentiable both ways.",
        ),
        Difference(
            "quantized_matmul gather_qmm",
            "(lambda q, s, b: mx.grad(lambda q: mx.quantized_matmul(mx.ones((2, 64)), q, s, b)"
            ".sum())(q))(*mx.quantize(mx.ones((8, 64))))",
            "raises for the gradient of the packed codes",
            "zero",
            "Codes choose, like indices; and scales can be trained through quantize.",
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
            "depends",
            "mx.vmap(lambda x: mx.depends(x, x))(mx.ones(2))",
            "ValueError under `vmap` and `jvp`, and the end of the process for an empty list",
            "works",
            ALL_RULES,
        ),
        Difference(
            "array.__eq__ array.__ne__",
            "mx.array([1, 2, 3]) == [1, 2, 3]",
            "False",
            "compares with the elements of a list or tuple whose lengths fit; another one is False",
            "NumPy's answer, and that of `mx.array([1, 2, 3]) + [1, 2, 3]`.",
        ),
        Difference(
            "array",
            "mx.array([np.ones(2), np.ones(2)])",
            "ValueError",
            "stacks NumPy's arrays, and all that share their memory, as it does its own",
            "What an array can be made of, a list of it can be.",
        ),
        Difference(
            "array sum mean max min stack concatenate",
            "mx.mean([mx.array(1.0), mx.array(2.0)])",
            "TypeError",
            "takes a list of arrays of one shape where an array is an argument",
            "As a list of numbers.",
        ),
        Difference(
            "array.__setitem__",
            "(lambda a: (a.__setitem__(mx.array([True, False, True]), mx.arange(3)), a)[1])"
            "(mx.zeros(3))",
            "assigns the first values where a boolean mask has fewer places than there are values",
            "ValueError; MLX's rule under `umber.mlx`",
            "A wrong number is a mistake more often than meant.",
        ),
        Difference(
            "array.__setitem__",
            "(lambda a: (exec('a[1:] *= 1.5', {'a': a}), a)[1])(mx.array([4, 5, 6]))",
            "converts what an operator in place made of a part back to the dtype of the array",
            "TypeError where that loses the kind of number; MLX's rule under `umber.mlx`",
            "Fractions would be cut off in silence.",
        ),
        Difference(
            "grad value_and_grad",
            "mx.grad(mx.sum, argnums=[])(mx.ones(2))",
            "ValueError for no arguments",
            "None in the place of gradients",
            "A list of arguments may turn out empty.",
        ),
        Difference(
            "take take_along_axis array.__getitem__",
            "mx.grad(lambda i: mx.take(mx.ones(2), i).sum())(mx.array([0, 1]))",
            "raises for the gradient of indices",
            "zero",
            "Indices choose, and have no slope.",
        ),
        Difference(
            "linalg.*",
            "mx.grad(lambda x: mx.linalg.inv(x).sum())(mx.eye(2))",
            "has no derivatives of inverses, solutions and decompositions",
            "works",
            ALL_RULES,
        ),
        Difference(
            "cumprod cummax cummin conv*",
            "mx.jvp(mx.cumprod, [mx.ones(2)], [mx.ones(2)])[1]",
            "has no forward derivatives of cumulative products and extremes and of convolutions",
            "works",
            ALL_RULES,
        ),
        Difference(
            "linalg.qr as_strided",
            "mx.vmap(lambda x: mx.linalg.qr(x)[1])(mx.ones((3, 2, 2)))",
            "has no rule for vmap",
            "works",
            ALL_RULES,
        ),
        Difference(
            "argmax argmin array.argmax array.argmin",
            "mx.argmax(mx.array(3), keepdims=True)",
            "ValueError about a vector's size",
            "0",
            NUMPY,
            when=is_zero_dimensional,
        ),
        Difference(
            "logsumexp array.logsumexp",
            "mx.logsumexp(mx.zeros((2, 0, 1)), axis=2)",
            "ValueError for an array without elements",
            "the empty result",
            NUMPY,
            when=is_empty,
        ),
        Difference(
            "nan_to_num",
            "mx.nan_to_num(mx.array(1.0, dtype=mx.float64))",
            "ValueError for float64",
            "works",
            "No dtype is left out.",
            when=has("float64"),
        ),
        Difference(
            "array.__array__",
            "np.array(mx.array(1.0, dtype=mx.bfloat16)).item()",
            "TypeError: bfloat16 does not go to NumPy",
            "an array of `ml_dtypes.bfloat16`",
            "A value can be looked at in any dtype.",
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
            "ValueError for whole numbers",
            "11",
            NUMPY,
        ),
        Difference(
            "array",
            "mx.array([300, -1], mx.uint8)",
            "wraps around",
            "RangeError",
            "As NumPy: a number that does not fit is a mistake.",
        ),
        Difference(
            "array",
            "mx.array([[True, False], (False, True)], mx.float32)",
            "ValueError where lists and tuples are mixed",
            "works",
            NUMPY,
        ),
        Difference(
            "array.__getitem__",
            "mx.arange(3)[np.array([0, 2])]",
            "ValueError for NumPy's arrays as indices",
            "works",
            NUMPY,
        ),
    ),
    "Neural networks": (
        Difference(
            "nn.Module.parameters",
            "len(utils.tree_flatten(nn.Sequential(*[nn.Linear(2, 2)] * 2).parameters()))",
            "counts, saves and steps a module for each of its places",
            "once, at the first place; files may name any of them",
            "One module has one gradient, the sum over its uses.",
        ),
        Difference(
            "nn.Module.parameters nn.Module.children",
            "(lambda m: (setattr(m, 'pair', (mx.ones(1), nn.ReLU())), "
            "len(utils.tree_flatten(m.parameters())))[1])(nn.Module())",
            "passes over arrays and modules in tuples",
            "tuples that hold some count as lists do; sets and other objects cause a warning",
            "What is not trained, saved or switched to evaluation goes unnoticed.",
        ),
        Difference(
            "nn.Module",
            "(bool(nn.ReLU()), nn.Dropout(0.1) == nn.Dropout(0.5))",
            "modules are true if they have entries, and equal if these are",
            "are true, equal to themselves only, and hashable",
            "As a value a module is an object, not its entries.",
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
            "passes over parameters with a dot or a number as the key of a dict",
            "loads what save_weights has saved; two parameters with one path are a ValueError",
            "Weights are not lost in silence.",
        ),
        Difference(
            "nn.Module.unfreeze",
            "len(utils.tree_flatten(nn.Sequential(nn.BatchNorm(3)).unfreeze()"
            ".trainable_parameters()))",
            "also unfreezes the running averages of the batch normalisations inside",
            "they stay frozen, as they do when a BatchNorm itself is unfrozen",
            "They are not trained, but weight decay would move them.",
        ),
        Difference(
            "nn.Module.unfreeze nn.QuantizedLinear.unfreeze nn.QuantizedEmbedding.unfreeze",
            "(lambda m: (nn.quantize(m), m.unfreeze(), len(utils.tree_flatten("
            "m.trainable_parameters())))[2])(nn.Sequential(nn.Linear(64, 1)))",
            "also unfreezes the codes of quantised layers, which have no gradient",
            "they stay frozen; scales and biases may be trained",
            "No step of an optimizer leads from a code to another.",
        ),
        Difference(
            "nn.quantize",
            "(lambda e: (lambda m: (nn.quantize(m), m.layers[0] is m.layers[1])[1])"
            "(nn.Sequential(e, e)))(nn.Linear(64, 1))",
            "quantises a module at several places once for each, which parts them",
            "one module for all",
            "What was tied stays tied.",
        ),
        Difference(
            "nn.BatchNorm",
            "nn.BatchNorm(2, track_running_stats=False)(mx.ones((1, 2)))",
            "ValueError for one value of each channel while training, averages or not",
            "zeros",
            "The last batch may be small.",
        ),
        Difference(
            "nn.leaky_relu",
            "mx.grad(nn.leaky_relu)(mx.array(-mx.inf))",
            "1 for the derivative at -inf",
            "the slope of the negative numbers",
            "It is so for all other negative numbers.",
        ),
        Difference(
            "nn.prelu nn.PReLU",
            "mx.grad(lambda x: nn.prelu(x, mx.array(0.25)))(mx.array(0.0))",
            "the gradient at 0 is 1 + alpha",
            "it is alpha",
            "It lies between the slopes on both sides, and is PyTorch's.",
        ),
        Difference(
            "nn.losses.smooth_l1_loss",
            "mx.grad(lambda x: nn.losses.smooth_l1_loss(x, mx.array([1.0]), beta=0.0))"
            "(mx.array([3.0]))",
            "the gradient with beta 0 is NaN",
            "it is that of the absolute difference",
            "A step must not destroy the model.",
        ),
        Difference(
            "nn.ConvTranspose1d nn.ConvTranspose2d nn.ConvTranspose3d",
            "mx.grad(lambda x: nn.ConvTranspose1d(1, 1, 2, stride=2, output_padding=1)(x).sum())"
            "(mx.ones((1, 3, 1))).shape",
            "with output_padding the gradient of the input lacks places",
            "has the shape of the input",
            "A gradient is added to what it is the gradient of.",
        ),
        Difference(
            "nn.losses.binary_cross_entropy",
            "mx.grad(lambda p: nn.losses.binary_cross_entropy("
            "p, mx.array(0.0), with_logits=False))(mx.array(0.0))",
            "a gradient of NaN for the probabilities 0 and 1",
            "that of the term that counts, or zero where its logarithm is cut off",
            SPREADS,
        ),
        Difference(
            "nn.losses.cross_entropy nn.losses.kl_div_loss nn.losses.binary_cross_entropy",
            "nn.losses.cross_entropy(mx.array([-mx.inf, 0, 0]), mx.array([0.0, 1, 0]))",
            "NaN where a probability of 0 meets an infinite logarithm",
            "the limit: 0 times infinity counts as 0, also in gradients",
            SPREADS,
        ),
        Difference(
            "nn.log_softmax nn.losses.*",
            "nn.losses.mse_loss(mx.array([300.0, 0], mx.float16), mx.zeros(2, mx.float16))",
            "computes losses of 16-bit floats in them: squares overflow, offsets take the digits",
            "computes them in float32 and rounds once",
            "A loss in range is no infinity.",
        ),
        Difference(
            "nn.silu nn.gelu nn.gelu_* nn.mish nn.hardswish nn.softsign",
            "mx.grad(nn.silu)(mx.array(-mx.inf))",
            "NaN at infinities, in the value or the derivative",
            "the limits",
            SPREADS,
        ),
        Difference(
            "nn.Module.update",
            'nn.Linear(1, 1).update({"weight": 3}, strict=False).weight.shape',
            "puts anything in the place of a parameter if not strict",
            "passes over what is no array",
            "A parameter stays one.",
        ),
        Difference(
            "nn.Module.update_modules",
            'nn.Sequential(nn.Linear(1, 1)).update_modules({"layers": nn.ReLU()}) and 0',
            "passes over modules for places that hold none, even if strict",
            "ValueError if strict",
            "A replacement that does not happen should be noticed.",
        ),
        Difference(
            "nn.Module.load_weights",
            'nn.Linear(1, 1, False).load_weights([("weight", mx.ones((1, 1)))] * 2).weight',
            "RecursionError if a name comes twice",
            "takes the last",
            SAFE,
        ),
        Difference(
            "nn.BatchNorm",
            "nn.BatchNorm(1)(mx.array([[30000.0], [-30000.0]], dtype=mx.float16))",
            "squares in float16 and gives 0",
            "computes in float32 and gives 1 and -1",
            "Halves are rounded once, at the end.",
        ),
        Difference(
            "nn.BatchNorm",
            "nn.BatchNorm(2)(mx.zeros((1, 2, 2, 2, 2))).shape",
            "ValueError for volumes",
            "any number of axes",
            "Nothing speaks against it.",
        ),
        Difference(
            "nn.gelu nn.hardswish",
            "nn.gelu(mx.array(60000.0, dtype=mx.float16))",
            "inf for large float16",
            "60000",
            "What lies between stays in range.",
        ),
        Difference(
            "nn.AvgPool1d nn.AvgPool2d nn.AvgPool3d",
            "nn.AvgPool1d(4, 1)(mx.full((1, 4, 1), 60000.0).astype(mx.float16))",
            "inf: the sum overflows",
            "60000",
            "Halves are rounded once, at the end.",
        ),
        Difference(
            "nn.log_softmax",
            "nn.log_softmax(mx.array([3, 0], dtype=mx.uint8))",
            "-253 and 0: the exponents wrap around",
            "logarithms of probabilities",
            "Whole numbers are computed in float32.",
        ),
        Difference(
            "nn.elu nn.selu",
            "mx.grad(nn.elu)(mx.array(1000.0))",
            "nan for the derivative at large numbers",
            "1",
            "What overflows is not taken.",
        ),
        Difference(
            "nn.celu",
            "mx.grad(nn.celu)(mx.array(0.0))",
            "0 for the derivative at 0",
            "1, which it is on both sides",
            "The function is differentiable there.",
        ),
        Difference(
            "nn.Upsample",
            'nn.Upsample(3.7, "cubic")(mx.ones((1, 9, 1))).min()',
            "0 where rounding moves a place across an element",
            "1: places are computed in float64",
            "A constant stays constant.",
        ),
        Difference(
            "nn.Upsample",
            "nn.Upsample(0.1)(mx.zeros((1, 3, 1))).shape",
            "ZeroDivisionError where nothing is left, for nearest",
            "an empty array",
            "As for linear and cubic.",
        ),
        Difference(
            "nn.Upsample",
            "nn.Upsample(0.0)(mx.zeros((1, 3, 1))).shape",
            "takes scales that are not positive",
            "ValueError",
            "Mistakes show where they are made.",
        ),
        Difference(
            "nn.MaxPool1d nn.MaxPool2d nn.MaxPool3d nn.AvgPool1d nn.AvgPool2d nn.AvgPool3d",
            "nn.MaxPool1d(2)(mx.zeros((4, 1)))",
            "ValueError without an axis of samples",
            "works",
            "As for dropout of channels and recurrent layers.",
        ),
        Difference(
            "nn.MultiHeadAttention nn.RoPE",
            "nn.MultiHeadAttention(2, 1)(*[mx.zeros((3, 2))] * 3).shape",
            "ValueError without an axis of samples",
            "any number of leading axes",
            "The formula asks for none.",
        ),
        Difference(
            "nn.RNN nn.LSTM nn.GRU",
            "nn.GRU(2, 3)(mx.zeros((0, 2))).shape",
            "ValueError for sequences without steps",
            "an empty array",
            "The first of several parts may be empty.",
        ),
        Difference(
            "nn.RNN nn.LSTM",
            "nn.RNN(2, 3)(mx.zeros((4, 5, 2)), mx.zeros((1, 3))).shape",
            "ValueError for one state that all sequences begin with, but for GRU",
            "takes it",
            "What has one meaning works.",
        ),
        Difference(
            "nn.GroupNorm",
            "nn.GroupNorm(1, 2)(mx.zeros((0, 2))).shape",
            "ValueError for no samples",
            "an empty array",
            "The last batch may be empty.",
        ),
        Difference(
            "nn.GroupNorm",
            "nn.GroupNorm(2, 4)(mx.arange(4).astype(mx.float32).reshape(1, 4, 1))",
            "takes every n-th place for a group where one channel is to be broadcast to the "
            "features of n groups",
            "ValueError; one group broadcasts in both",
            "Groups are of features, not of places.",
        ),
        Difference(
            "nn.Dropout nn.Dropout2d nn.Dropout3d",
            "repr(nn.Dropout(0.1))",
            "p=0.09999999999999998",
            "p=0.1",
            "What was given.",
        ),
        Difference(
            "nn.losses.cross_entropy nn.losses.nll_loss",
            "nn.losses.cross_entropy(mx.zeros((1, 3)), mx.array([5]))",
            "reads foreign memory for classes that do not exist",
            "IndexError",
            SAFE,
        ),
        Difference(
            "nn.losses.cross_entropy nn.losses.nll_loss fast.cross_entropy",
            "nn.losses.cross_entropy(mx.zeros((1, 3)), mx.array([-1]))",
            "trains the last class for the target -1",
            "IndexError; ignore_index names targets that do not count; `nn.losses` follow MLX's "
            "rule under `umber.mlx`",
            "Labels that mean nothing are never trained on.",
        ),
        Difference(
            "nn.losses.cross_entropy nn.losses.nll_loss",
            "nn.losses.cross_entropy(mx.zeros((1, 3)), mx.array([-100]))",
            "reads foreign memory for targets below minus the number of classes",
            "IndexError; under `umber.mlx` a loss of 0, before label smoothing, and no gradient",
            "Programs for MLX mask such losses afterwards.",
            alone=True,
        ),
        Difference(
            "nn.init.sparse",
            "nn.init.sparse(1.5)(mx.zeros((1, 2)))",
            "all zeros for a sparsity above 1",
            "ValueError",
            "A fraction is meant.",
        ),
        Difference(
            "optimizers.Optimizer.apply_gradients",
            "optimizers.SGD(0.1).apply_gradients(mx.ones((2, 2)), mx.ones((2,)))",
            "parameters take the shape of their gradients",
            "ValueError, and nothing has changed",
            "A parameter keeps its shape.",
        ),
        Difference(
            "optimizers.Optimizer.apply_gradients",
            "(lambda o, x: o.init({}) or o.apply_gradients(x, x))"
            '(optimizers.Adam(0.1), {"a": mx.ones(1)})',
            "KeyError for parameters that join later, such as those of an unfrozen layer",
            "makes their state",
            "Layers are unfrozen one after the other.",
        ),
        Difference(
            "optimizers.Optimizer.apply_gradients",
            "optimizers.Adam(0.1).apply_gradients("
            '{"a": mx.array([1.0])}, {"a": mx.array([1])})["a"]',
            "some optimizers turn parameters that are integers or bools into floats",
            "leaves them as they are",
            "No step leads from one index, truth value or packed code to another.",
        ),
        Difference(
            "optimizers.Optimizer.apply_gradients",
            "optimizers.Adam(0.1).apply_gradients(mx.ones(2), mx.ones(2))",
            "KeyError for one array as the whole tree, unless the rule has no state",
            "works",
            "A leaf is a tree.",
        ),
        Difference(
            "optimizers.clip_grad_norm",
            'optimizers.clip_grad_norm({"a": mx.ones(2, dtype=mx.bfloat16)}, 1.0)[1].itemsize',
            "the norm of 16-bit gradients has their dtype",
            "is float32",
            "The square of a float16 may overflow where the gradient does not.",
        ),
        Difference(
            "optimizers.Optimizer.apply_gradients",
            'optimizers.Adam(1e-2).apply_gradients({"w": mx.zeros(2, dtype=mx.float16)}, '
            '{"w": mx.ones(2, dtype=mx.float16)})["w"]',
            "computes in the dtype of the gradient: in float16 eps is 0 and squares overflow",
            "in float32; parameters and state keep their dtypes, a state stays finite",
            "A zero gradient changes nothing.",
        ),
        Difference(
            "optimizers.Adam optimizers.AdamW optimizers.Adamax",
            'optimizers.Adam(1, eps=0).apply_gradients({"w": mx.zeros(1)}, {"w": mx.ones(1)})["w"]',
            "NaN for a zero gradient without eps",
            "the parameter stays as it is",
            "A zero gradient changes nothing.",
        ),
        Difference(
            "optimizers.Optimizer.learning_rate",
            "(lambda o: (setattr(o, 'learning_rate', lambda step: mx.array(0.5)), "
            "o.learning_rate)[1])(optimizers.SGD(0.1))",
            "ValueError for a schedule that is assigned",
            "works as one that is given to the constructor",
            "Rates are set where they are needed.",
        ),
        Difference(
            "optimizers.Optimizer.update",
            "(lambda m: optimizers.SGD(0.1).update(m.parameters(), m))(nn.Linear(1, 1))",
            "changes the gradients if they stand in the place of the model",
            "TypeError",
            "Mistakes show where they are made.",
        ),
        Difference(
            "optimizers.MultiOptimizer",
            "(lambda x: optimizers.MultiOptimizer([optimizers.SGD(1.0)] * 2, "
            "[lambda p, x: x.ndim > 1]).apply_gradients(x, x))"
            '({"l": [mx.ones(1), {}, mx.ones((1, 1))]})',
            "ValueError where a list holds modules without parameters",
            "works",
            "As for single optimizers.",
        ),
        Difference(
            "optimizers.Adafactor",
            "optimizers.Adafactor(relative_step=False).step",
            "KeyError in the first update without a learning rate",
            "ValueError at once",
            "Mistakes show where they are made.",
        ),
        Difference(
            "utils.tree_unflatten",
            'utils.tree_unflatten([("-1", "a"), ("0", "b")])',
            "takes every text that int() reads as a place in a list",
            "only digits are one, so that such keys of dicts come back",
            "Nothing flattened is lost.",
        ),
        Difference(
            "utils.tree_merge",
            'utils.tree_merge({"a": None}, {"a": {}})',
            "None is a value",
            "None stands for nothing, like an empty container",
            "Trees with holes join.",
        ),
    ),
    "Compiled functions": (
        Difference(
            "compile",
            "mx.compile(lambda x, y: x)(mx.array([1.0]), frozenset())",
            "ValueError for arguments other than arrays, numbers, strings and None",
            "takes them as constants: dataclasses by their fields, others by hash and equality",
            "Settings are arguments, too.",
        ),
        Difference(
            "compile",
            "(lambda f: (f(mx.ones((2, 3))), f(mx.ones((4, 3))))[1])"
            "(mx.compile(lambda x: x / x.shape[0], shapeless=True))",
            "keeps the lengths of the first call in a shapeless function, or raises",
            "traces anew where a graph for other lengths is not known to be right",
            "A compiled function gives what the plain one gives.",
        ),
        Difference(
            "compile",
            "(lambda f: (f(mx.ones((4, 3))), f(mx.ones((4, 5))))[1])"
            "(mx.compile(lambda x: x[:2], shapeless=True))",
            "ValueError for slices, padding and other operations without a rule for shapes",
            "works",
            "A compiled function gives what the plain one gives.",
        ),
    ),
    "Files": (
        Difference(
            "load",
            "(lambda f: (mx.save(f, mx.ones(2)), f.seek(0), mx.load(f))[2])"
            '(__import__("io").BytesIO())',
            "asks for the format of files without an extension",
            "looks at the content",
            "A file says what it is.",
        ),
        Difference(
            "load",
            "(lambda f: (np.save(f, np.ones(2)), np.save(f, np.arange(3)), f.seek(0), "
            'mx.load(f, format="npy"), mx.load(f, format="npy"))[4])(__import__("io").BytesIO())',
            "reads the second array of an open file from a wrong place",
            "reads one array after the other",
            NUMPY,
        ),
        Difference(
            "load",
            '(lambda f: (np.savez(f, a=np.ones(2), s=np.array("x")), f.seek(0), '
            'mx.load(f, format="npz", return_metadata=True)[0])[2])(__import__("io").BytesIO())',
            "ValueError for an npz file in which one member is a text",
            "gives the arrays, and the texts as metadata",
            "One member does not spoil the others.",
        ),
        Difference(
            "save_safetensors",
            'mx.save_safetensors(__import__("io").BytesIO(), {"a": mx.ones(1).astype(mx.float64)})',
            "RuntimeError for float64",
            "writes it",
            "The format has a word for it.",
        ),
        Difference(
            "save_gguf",
            'mx.save_gguf(__import__("io").BytesIO(), {"a": mx.ones(1)})',
            "ValueError for files that are open",
            "takes them, and bfloat16, float64 and int64",
            "As for the other formats.",
        ),
    ),
    "Fused operations": (
        Difference(
            "fast.scaled_dot_product_attention",
            "mx.fast.scaled_dot_product_attention(*[mx.ones(s) for s in "
            "((1, 2, 3, 4), (1, 0, 3, 4), (1, 0, 3, 4))], scale=1.0)",
            "kills the process where keys have no heads",
            "ValueError",
            "No input may crash.",
            alone=True,
        ),
        Difference(
            "fast.scaled_dot_product_attention",
            "mx.fast.scaled_dot_product_attention(*[mx.ones((2, 3, 4))] * 3, scale=1.0)",
            "ValueError for other than 4 axes, batches that broadcast, and wider masks",
            "takes them",
            "What has one meaning works.",
        ),
        Difference(
            "fast.scaled_dot_product_attention",
            "mx.fast.scaled_dot_product_attention(*[mx.ones((1, 2, 3, 4))] * 3, scale=1.0, "
            "force_fused=True)",
            "has no fused kernel on a CPU: ValueError",
            "always runs one, whose memory does not grow with queries times keys",
            "Long sequences fit into memory.",
        ),
        Difference(
            "fast.scaled_dot_product_attention",
            "mx.fast.scaled_dot_product_attention(*[mx.ones((1, 1, 2, 4))] * 3, scale=1.0, "
            "mask=mx.array([[0.0, 0], [-mx.inf, -mx.inf]]))",
            "NaN for a query from which a mask of numbers hides all keys",
            "the mean of all values, as for a mask of booleans",
            SPREADS,
        ),
        Difference(
            "fast.rope",
            "mx.fast.rope(mx.ones((1, 1, 64), dtype=mx.float64), 64, traditional=False, base=1e4, "
            "scale=1.0, offset=7)",
            "computes angles in float32, also for float64",
            "computes angles in float64",
            "Far positions keep their accuracy.",
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
            "ValueError for arrays with 2 axes",
            "takes them",
            "What has one meaning works.",
        ),
        Difference(
            "fast.cross_entropy",
            "mx.fast.cross_entropy(mx.ones((2, 3), dtype=mx.float64), mx.array([0, 1]))",
            "answers float32 for float64",
            "answers float64",
            "float64 is computed at full precision.",
            when=has("float64"),
        ),
        Difference(
            "fast.cross_entropy",
            "mx.fast.cross_entropy(mx.array([1.234, 0.37, 2.11], dtype=mx.float16), mx.array(0))",
            "sums 16-bit logits in their dtype",
            "sums them in float32",
            "The result is float32 and as accurate as that.",
            when=has("float16", "bfloat16"),
            accuracy="bfloat16",
        ),
        Difference(
            "fast.cross_entropy",
            "mx.fast.cross_entropy(mx.ones((2, 3)), mx.array([0, 5]))",
            "reads past the end for a target that is no class",
            "IndexError",
            "Wrong targets are found.",
        ),
        Difference(
            "fast.gated_delta_update",
            "mx.fast.gated_delta_update(*[mx.ones((1, 0, 1, 2))] * 3, mx.ones((1, 0, 1)), "
            "mx.ones((1, 0, 1)))",
            "ValueError for no steps",
            "answers the state as it was",
            "Empty sequences are sequences.",
        ),
    ),
    "Form": (
        Difference(
            "array.__repr__ array.__str__",
            "repr(mx.zeros((0, 3)))",
            "array([], dtype=float32)",
            "array([], shape=(0, 3), dtype=float32): the shape where brackets do not show it",
            "As NumPy prints it.",
        ),
        Difference(
            "printoptions set_printoptions",
            "(lambda c: (c.__enter__(), repr(mx.array([1e-4])), c.__exit__(None, None, None))[1])"
            "(mx.printoptions(precision=3))",
            "0.000",
            "1.000e-04: decimals of the mantissa where those of the number would be zeros, and "
            "from 1e16 on",
            "A number that is not zero does not look like zero.",
        ),
        Difference(
            "asarray",
            "(lambda n: (mx.asarray(n), n.__setitem__(0, 9))[0])(np.zeros(2, np.float32))",
            "copies NumPy's memory",
            "shares it",
            "Large arrays come in without copies.",
        ),
        Difference(
            "asarray from_dlpack",
            "mx.asarray(np.zeros(2, np.float32), copy=False)",
            "ValueError: memory of the CPU is always copied",
            "shares it, or raises if it would have to copy",
            "Large arrays come in without copies.",
        ),
        Difference(
            "array asarray",
            "mx.array(np.array(1.5)).itemsize",
            "narrows NumPy's float64 to float32 and complex128 to complex64",
            "keeps the dtype",
            "A value is not rounded unasked.",
        ),
        Difference(
            "from_dlpack",
            "mx.from_dlpack(np.array([0.1])).itemsize",
            "narrows float64 to float32 and complex128 to complex64",
            "keeps the dtype",
            "A value is not rounded unasked.",
        ),
        Difference(
            "grad value_and_grad",
            "mx.grad(lambda x, y: 2 * x + 3 * y, argnums=(1, 0))(mx.array(0.0), mx.array(0.0))",
            "gradients in the order of the arguments",
            "in the order of `argnums`",
            "JAX's form.",
        ),
        Difference(
            "array.__array__",
            "mx.grad(lambda x: (np.array(x, copy=False).put(0, 9), x.sum())[1])(mx.ones(2))",
            "lets a view of an argument of `grad` be written, which the gradient does not show",
            'ValueError at the write; `set_view_policy("writable")` lets it through',
            "A write behind a derivative is an error, not a wrong gradient.",
        ),
        Difference(
            "export_to_dot",
            "(lambda f: (mx.export_to_dot(f, mx.array([1]) + mx.array([2])), 'dd' in f.getvalue()))"
            "(__import__('io').StringIO())[1]",
            "draws every operation that has not been evaluated",
            "draws those with more than 1,024 elements; of a function, `export_to_dot(file, f, x)`,"
            " or with `UMBER_EAGER=0` in the environment, all",
            "Few elements are computed sooner than an operation on them is recorded.",
        ),
        Difference(
            "export_to_dot",
            "(lambda f: (mx.export_to_dot(f, mx.isnan(mx.ones(2000))), 'NotEqual' in f.getvalue()))"
            "(__import__('io').StringIO())[1]",
            "draws the primitives that it composes functions of: `isnan` as `NotEqual`",
            "draws what it records, under MLX's names where both have the primitive: `isnan`, "
            "`reciprocal`, `mean`, `var` and `linalg.solve` are one node, `flatten` is `Reshape`, "
            "`split` and `roll` are `Slice`, `pad` is `SliceUpdate`",
            "The graph is what is differentiated and run, not a picture of another one.",
        ),
    ),
}


def all_differences() -> list[Difference]:
    """Every row of the table."""
    return [row for rows in DIFFERENCES.values() for row in rows]
