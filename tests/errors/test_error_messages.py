"""Wrong input: the exception's class and first words, and arrays that are unchanged afterwards."""

import os
import pickle
import subprocess
import sys

import pytest
import umber.core as mx

# A bad axis is an IndexError for those that follow MLX, a ValueError for those that follow NumPy.
AXIS = (IndexError, ValueError)


def a(*shape, dtype=None):
    return mx.zeros(shape, dtype or mx.float32)


# The call, the class (a tuple: an instance of all of them), and how the text begins.
BAD_INPUT = [
    # Shapes that do not go together.
    (lambda: a(2) + a(3), ValueError, "[add]"),
    (lambda: mx.multiply(a(2, 3), a(2)), ValueError, "[multiply]"),
    (lambda: mx.maximum(a(4), a(3)), ValueError, "[maximum]"),
    (lambda: a(2) < a(3), ValueError, "[less]"),
    (lambda: mx.where(a(2), a(3), 0), ValueError, "[where]"),
    (lambda: mx.clip(a(2), a(3), None), ValueError, "["),
    (lambda: mx.reshape(a(3), (2, 2)), ValueError, "[reshape]"),
    (lambda: mx.reshape(a(12), (5, -1)), ValueError, "[reshape]"),
    (lambda: mx.reshape(a(12), (-1, -1)), ValueError, "[reshape]"),
    (lambda: mx.reshape(a(0), (0, -1)), ValueError, "[reshape]"),
    (lambda: mx.reshape(a(4), (-2, -2)), ValueError, "[reshape]"),
    (lambda: mx.broadcast_to(a(3), (2, 2)), ValueError, "[broadcast_to]"),
    (lambda: mx.broadcast_to(a(2, 3), (3,)), ValueError, "[broadcast_to]"),
    (lambda: mx.concatenate([a(2, 2), a(3, 3)]), ValueError, "[concatenate]"),
    (lambda: mx.concatenate([]), ValueError, "[concatenate]"),
    (lambda: mx.concatenate([a(2), a(2, 2)]), ValueError, "[concatenate]"),
    (lambda: mx.stack([]), ValueError, "[stack]"),
    (lambda: mx.stack([a(2), a(3)]), ValueError, "[stack]"),
    (lambda: mx.split(a(5), 2), ValueError, "[split]"),
    (lambda: mx.split(a(4), 0), ValueError, "[split]"),
    (lambda: mx.squeeze(a(1, 3), 1), ValueError, "[squeeze]"),
    (lambda: mx.unflatten(a(6), 0, (4, 2)), ValueError, "[unflatten]"),
    (lambda: mx.flatten(a(2, 2), 1, 0), ValueError, "[flatten]"),
    (lambda: mx.matmul(a(2, 3), a(2, 3)), ValueError, "[matmul]"),
    (lambda: mx.matmul(mx.array(1.0), a(3)), ValueError, "[matmul]"),
    (lambda: a(2, 2, 3) @ a(3, 3, 2), ValueError, "[matmul]"),
    (lambda: mx.addmm(a(7), a(2, 3), a(3, 2)), ValueError, "[addmm]"),
    (lambda: mx.tril(a(3)), ValueError, "[tril]"),
    (lambda: mx.triu(a()), ValueError, "[triu]"),
    (lambda: mx.take_along_axis(a(3, 3), mx.array([0]), axis=0), ValueError, "[take_along_axis]"),
    (lambda: mx.full((2, 2), a(3)), ValueError, "[full]"),
    # Reductions without a value to give.
    (lambda: mx.max(a(0)), ValueError, "[max]"),
    (lambda: mx.min(a(3, 0), axis=1), ValueError, "[min]"),
    (lambda: mx.argmax(a(0)), ValueError, "[argmax]"),
    (lambda: mx.argmin(a(2, 0), axis=1), ValueError, "[argmin]"),
    # Axes.
    (lambda: mx.sum(a(2, 2), axis=2), AXIS, "[sum]"),
    (lambda: mx.sum(mx.array(3), axis=0), AXIS, "[sum]"),
    (lambda: mx.mean(a(2), axis=-2), AXIS, "[mean]"),
    (lambda: mx.var(a(2), axis=1), AXIS, "[var]"),
    (lambda: mx.all(a(2), axis=(0, 1)), AXIS, "[all]"),
    (lambda: mx.argmax(a(3), axis=1), AXIS, "[argmax]"),
    (lambda: mx.softmax(a(3), axis=1), AXIS, "[softmax]"),
    (lambda: mx.logsumexp(a(3), axis=-2), AXIS, "[logsumexp]"),
    (lambda: mx.sum(a(2, 2), axis=(0, 0)), ValueError, "[sum]"),
    (lambda: mx.sum(a(2, 2), axis=(0, -2)), ValueError, "[sum]"),
    (lambda: mx.transpose(a(2, 3), (0, 0)), ValueError, "[transpose]"),
    (lambda: mx.transpose(a(2, 3), (0,)), ValueError, "[transpose]"),
    (lambda: mx.transpose(a(2, 3), (0, 2)), AXIS, "[transpose]"),
    (lambda: mx.expand_dims(a(3), 5), AXIS, "[expand_dims]"),
    (lambda: mx.expand_dims(a(3), (0, 0)), ValueError, "[expand_dims]"),
    (lambda: mx.squeeze(a(1), 5), AXIS, "[squeeze]"),
    (lambda: mx.moveaxis(a(3), 0, 3), AXIS, "[moveaxis]"),
    (lambda: mx.swapaxes(a(3), 0, 1), AXIS, "[swapaxes]"),
    (lambda: mx.concatenate([a(3)], axis=1), AXIS, "[concatenate]"),
    (lambda: mx.stack([a(3)], axis=2), AXIS, "[stack]"),
    (lambda: mx.split(a(3), 3, axis=1), AXIS, "[split]"),
    (lambda: mx.repeat(a(3), 2, axis=1), AXIS, "[repeat]"),
    (lambda: mx.take(a(3), mx.array([0]), axis=1), AXIS, "[take]"),
    (lambda: mx.take_along_axis(a(3), mx.array([0]), axis=1), AXIS, "[take_along_axis]"),
    (lambda: mx.unflatten(a(4), 1, (2, 2)), AXIS, "[unflatten]"),
    # Sizes and options.
    (lambda: mx.zeros((-1,)), ValueError, "[zeros]"),
    (lambda: mx.ones((2, -3)), ValueError, "[ones]"),
    (lambda: mx.full((-1,), 0), ValueError, "[full]"),
    (lambda: mx.arange(0, 5, 0), ValueError, "[arange]"),
    (lambda: mx.arange(float("nan")), ValueError, "[arange]"),
    (lambda: mx.arange(float("inf")), ValueError, "[arange]"),
    (lambda: mx.linspace(0, 1, -1), ValueError, "[linspace]"),
    (lambda: mx.eye(-1), ValueError, "[eye]"),
    (lambda: mx.tri(-1), ValueError, "[tri]"),
    (lambda: mx.tile(a(3), -1), ValueError, "[tile]"),
    (lambda: mx.repeat(a(3), -1), ValueError, "[repeat]"),
    (lambda: mx.pad(a(3), -1), ValueError, "[pad]"),
    (lambda: mx.pad(a(3), 1, mode="sideways"), ValueError, "[pad]"),
    (lambda: mx.pad(a(3), [(1, 1), (1, 1)]), ValueError, "[pad]"),
    (lambda: mx.zeros((2**62, 2**62)), (Exception,), "["),
    # Dtypes.
    (lambda: mx.bitwise_and(a(2), a(2)), (ValueError, TypeError), "[bitwise_and]"),
    (lambda: a(2) << 1, (ValueError, TypeError), "[left_shift]"),
    (lambda: ~a(2), (ValueError, TypeError), "[bitwise_invert]"),
    (lambda: -mx.array(True), (ValueError, TypeError), "[negative]"),
    (lambda: mx.take(a(3), mx.array([0.5])), (ValueError, TypeError, IndexError), "[take]"),
    (lambda: mx.floor(mx.array(1j)), (ValueError, TypeError), "[floor]"),
    # Arguments of the wrong type.
    (lambda: mx.sum(a(2), axis="a"), TypeError, ""),
    (lambda: mx.sum(a(2), axis=1.5), TypeError, ""),
    (lambda: mx.zeros("a"), TypeError, ""),
    (lambda: mx.zeros(3, dtype=3), TypeError, ""),
    (lambda: mx.exp("a"), (TypeError, ValueError), ""),
    (lambda: a(2) + "a", (TypeError, ValueError), ""),
    (lambda: mx.reshape(a(2), "a"), TypeError, ""),
    (lambda: mx.concatenate(3), TypeError, ""),
    (lambda: mx.array(None), TypeError, ""),
    (lambda: mx.array("text"), (TypeError, ValueError), ""),
    (lambda: mx.array([1, "a"]), (TypeError, ValueError), ""),
    (lambda: mx.array([[1, 2], [3]]), ValueError, "[array]"),
    (lambda: mx.array([[1, 2], 3]), ValueError, "[array]"),
    (lambda: mx.array([a(2), a(3)]), ValueError, "[array]"),
    (lambda: mx.array(2**70), (OverflowError, ValueError), ""),
    (lambda: mx.exp(), TypeError, ""),
    (lambda: mx.exp(a(2), a(2), a(2)), TypeError, ""),
    (lambda: mx.exp(a(2), wrong=1), TypeError, ""),
    # Indexing.
    (lambda: a(3)[3], IndexError, "["),
    (lambda: a(3)[-4], IndexError, "["),
    (lambda: a(4, 4)[0, 6], IndexError, "["),
    (lambda: a(3)[0, 0], IndexError, "["),
    (lambda: a()[0], IndexError, "["),
    (lambda: a(3)[..., ...], (IndexError, ValueError), "["),
    (lambda: a(3)[1.5], (IndexError, TypeError, ValueError), ""),
    (lambda: a(3)["a"], (IndexError, TypeError, ValueError), ""),
    (lambda: a(3)[::0], ValueError, ""),
    (lambda: a(3)[mx.array([0.5])], (IndexError, TypeError, ValueError), ""),
    (lambda: mx.take(a(3), 7), IndexError, "[take]"),
    (lambda: mx.eval(mx.take(a(3), mx.array([0, 5]))), IndexError, "["),
    (lambda: mx.eval(a(3)[mx.array([0, 100000])]), IndexError, "["),
    (lambda: mx.eval(a(3)[mx.array([-4])]), IndexError, "["),
    (lambda: mx.eval(mx.take_along_axis(a(3), mx.array([3]), axis=0)), IndexError, "["),
    # Python's own protocols.
    (lambda: a(2).item(), ValueError, "["),
    (lambda: bool(a(2)), ValueError, "["),
    (lambda: bool(a(0)), ValueError, "["),
    (lambda: float(a(2)), (ValueError, TypeError), "["),
    (lambda: len(mx.array(1)), TypeError, ""),
    (lambda: list(mx.array(1)), TypeError, ""),
    (lambda: [1, 2][mx.array(1.0)], TypeError, ""),
    (lambda: f"{a(2):.3f}", (TypeError, ValueError), ""),
    # Transforms.
    (lambda: mx.grad(3), TypeError, ""),
    (lambda: mx.grad(lambda x: x)(a(2)), ValueError, "[grad]"),
    (lambda: mx.grad(lambda x: "a")(mx.array(1.0)), (ValueError, TypeError), "[grad]"),
    (lambda: mx.grad(lambda x: x, argnums=2)(mx.array(1.0)), ValueError, "[grad]"),
    (lambda: mx.grad(lambda x: x, argnums=-1), ValueError, "[grad]"),
    (lambda: mx.grad(lambda x: x, argnums=[0, 0])(mx.array(1.0)), ValueError, "[grad]"),
    (lambda: mx.grad(lambda x: x, argnames="y")(mx.array(1.0)), ValueError, "[grad]"),
    (lambda: mx.grad(lambda x: x)(1.0), (ValueError, TypeError), "["),
    (lambda: mx.value_and_grad(lambda x: a(2))(mx.array(1.0)), ValueError, "[value_and_grad]"),
    (lambda: mx.vjp(lambda x: x, [a(2)], []), ValueError, "[vjp]"),
    (lambda: mx.vjp(lambda x: x, [a(2)], [a(3)]), ValueError, "[vjp]"),
    (lambda: mx.jvp(lambda x: x, [a(2)], []), ValueError, "[jvp]"),
    (lambda: mx.jvp(lambda x: x, [a(2)], [a(3)]), ValueError, "[jvp]"),
    (lambda: mx.vmap(lambda x: x, in_axes=3)(a(2, 2)), AXIS, "[vmap]"),
    (lambda: mx.vmap(lambda x: x, out_axes=3)(a(2, 2)), AXIS, "[vmap]"),
    (lambda: mx.vmap(lambda x, y: x + y)(a(2), a(3)), ValueError, "[vmap]"),
    (lambda: mx.vmap(lambda x: x, in_axes=(0, 0))(a(2)), ValueError, "[vmap]"),
    (lambda: mx.vmap(3), TypeError, ""),
    (lambda: mx.compile(lambda x: x.item())(mx.array(1.0)), ValueError, "["),
    (lambda: mx.compile(lambda x: 1 if x > 0 else 2)(mx.array(1.0)), ValueError, "["),
    (lambda: mx.vmap(lambda x: x.item())(a(2)), ValueError, "["),
    (lambda: mx.compile(3), TypeError, ""),
    # Random numbers.
    (lambda: mx.random.key(-1), (ValueError, OverflowError, TypeError), ""),
    (lambda: mx.random.uniform(key=mx.array([1, 2])), ValueError, "[uniform]"),
    (lambda: mx.random.uniform(key=mx.array([1, 2, 3], dtype=mx.uint32)), ValueError, "[uniform]"),
    (lambda: mx.random.normal((2, -1)), ValueError, "[normal]"),
    (lambda: mx.random.uniform(dtype=mx.int32), (ValueError, TypeError), "[uniform]"),
    (
        lambda: mx.random.randint(0, 10, (2,), dtype=mx.float32),
        (ValueError, TypeError),
        "[randint]",
    ),
    (lambda: mx.random.randint(5, 5, (2,)), ValueError, "[randint]"),
    (lambda: mx.random.categorical(a(2, 3), axis=2), AXIS, "[categorical]"),
    (lambda: mx.random.categorical(a(2), shape=(2,), num_samples=2), ValueError, "[categorical]"),
    (lambda: mx.random.permutation(a(2), axis=1), AXIS, "[permutation]"),
]


@pytest.mark.parametrize(("call", "kinds", "words"), BAD_INPUT)
def test_bad_input(call, kinds, words):
    """AXIS must be both classes at once; other tuples are alternatives."""
    with pytest.raises(kinds) as caught:
        call()
    if kinds is AXIS:
        assert isinstance(caught.value, IndexError)
        assert isinstance(caught.value, ValueError)
    text = str(caught.value)
    assert text.startswith(words), text
    assert text.strip(), "an error without words"
    assert "panicked" not in text
    assert type(caught.value).__name__ != "PanicException"


def test_text_says_what_was_given_and_expected():
    with pytest.raises(ValueError, match=r"\(2, ?3\).*\(2, ?4\)"):
        mx.zeros((2, 3)) + mx.zeros((2, 4))
    with pytest.raises(ValueError, match=r"3.*\(2, ?2\)"):
        mx.reshape(mx.zeros(3), (2, 2))
    with pytest.raises(IndexError, match=r"5.*2"):
        mx.sum(mx.zeros((3, 4)), axis=5)
    with pytest.raises(IndexError, match=r"7.*3"):
        mx.eval(mx.zeros(3)[mx.array([7])])


def test_arrays_are_unchanged_after_errors():
    x = mx.array([1.0, 2.0, 3.0])
    failures = [
        lambda: x + mx.zeros(2),
        lambda: x.__setitem__(5, 1.0),
        lambda: x.__setitem__(slice(0, 2), mx.zeros(5)),
        lambda: x.__setitem__(mx.array([0, 1]), mx.zeros(3)),
        lambda: x.__iadd__(mx.zeros((7, 2))),
        lambda: mx.reshape(x, (2, 2)),
    ]
    for failure in failures:
        with pytest.raises((ValueError, IndexError)):
            failure()
        assert x.tolist() == [1.0, 2.0, 3.0]
        assert x.shape == (3,)


def test_failed_evaluation_can_be_repeated():
    """An error at evaluation leaves inputs usable, and comes again when asked again."""
    x = mx.array([1.0, 2.0, 3.0])
    bad = x[mx.array([9])] * 2
    good = x * 2
    for _ in range(2):
        with pytest.raises(IndexError):
            mx.eval(bad)
    assert good.tolist() == [2.0, 4.0, 6.0]


def test_division_by_zero_of_integers_does_not_crash():
    """MLX's values: x // 0 is 0 and x % 0 is x."""
    x = mx.array([7, -7, 0])
    assert (x // 0).tolist() == [0, 0, 0]
    assert (x % 0).tolist() == [7, -7, 0]
    quotient, remainder = mx.divmod(x, 0)
    assert quotient.tolist() == [0, 0, 0]
    assert remainder.tolist() == [7, -7, 0]
    lowest = mx.array([-(2**31)], dtype=mx.int32)
    assert (lowest // -1).tolist() == [-(2**31)]
    assert (lowest % -1).tolist() == [0]


def test_shifts_by_any_amount_do_not_crash():
    x = mx.array([1, -8], dtype=mx.int32)
    for amount in (31, 32, 33, 100, -1):
        mx.eval(x << amount, x >> amount)


def test_damaged_pickles():
    """A pickle cut short is an error of pickle or of umber, never a crash."""
    whole = pickle.dumps(mx.arange(10))
    for end in (1, len(whole) // 2, len(whole) - 5):
        with pytest.raises((pickle.UnpicklingError, EOFError, ValueError, TypeError)):
            pickle.loads(whole[:end])


def test_memory_that_cannot_be_had():
    """An allocation that fails is an error, and arrays that exist stay usable."""
    x = mx.array([1.0, 2.0])
    with pytest.raises((MemoryError, RuntimeError, ValueError)):
        mx.eval(mx.zeros((2**46,)) + x[0])
    assert (x + 1).tolist() == [2.0, 3.0]


LIMITED = """
import resource
import umber.core as mx
ones = mx.ones(3) if {op!r} != "argsort" else mx.zeros(2**28, dtype=mx.uint8)
mx.eval(ones)
numbers = [0.0] * 2**24 if {op!r} == "array" else []
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + {more}, resource.RLIM_INFINITY))
try:
    mx.eval({call})
except MemoryError as error:
    assert str(error).startswith(("[{op}] ", "[concatenate] ")), error
else:
    raise AssertionError("there was memory")
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the address space is limited there")
@pytest.mark.parametrize(
    ("op", "call", "more"),
    [
        ("fft", "mx.fft.fft(ones, n=2**24)", 300 << 20),
        ("fft", "mx.fft.fft(ones, n=2**22 + 15)", 300 << 20),
        ("fft", "mx.fft.rfft(ones, n=2**23 + 9)", 300 << 20),
        ("array", "mx.array(numbers)", 40 << 20),
        ("array", "mx.array(numbers)", 100 << 20),
        ("array", "mx.array([numbers])", 200 << 20),
        ("argsort", "mx.argsort(ones)", 1500 << 20),
    ],
)
def test_memory_beyond_the_limit(op, call, more):
    """What needs more than there is raises, where the standard library would end the process."""
    run = subprocess.run(
        [sys.executable, "-c", LIMITED.format(op=op, call=call, more=more)],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr


SHRINKING = """
import resource
import umber.core as mx
{given}
def call():
    out = {call}
    mx.eval(out)
    return out
expected = call()
mx.clear_cache()
used = int(open("/proc/self/statm").read().split()[0]) * resource.getpagesize()
texts = []
for part in range(24, 0, -1):
    more = part * {most} * 2**20 // 24
    resource.setrlimit(resource.RLIMIT_AS, (used + more, resource.RLIM_INFINITY))
    try:
        call()
    except MemoryError as error:
        texts.append(str(error))
    mx.clear_cache()
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
assert any(text.startswith("[{op}] out of memory: the system refused ") for text in texts), texts
assert mx.array_equal(call(), expected)
"""

PICKED = """
a, b = mx.random.normal((8, 1, 1)), mx.random.normal(({matrices}, 1, 1))
i, j = mx.arange(2**18) % 8, mx.arange(2**18) % {matrices}
"""
QUANTIZED = """
x = mx.random.normal(({matrices}, 1, 32), mx.float16)
w = [part.reshape({matrices}, 1, -1) for part in mx.quantize(x[:, 0], 32, 4)]
i = mx.arange(2**17) % {matrices}
"""
ATTENTION = """
q, k = mx.random.normal((1, 1, 64, 128)), mx.random.normal((1, 1, 2**13, 128))
attend = lambda k: mx.fast.scaled_dot_product_attention(q, k, k, scale=1.0).sum()
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the address space is limited there")
@pytest.mark.parametrize(
    ("op", "given", "call", "most"),
    [
        ("sum", "x = mx.random.normal((2**13, 2**12))", "mx.sum(x, axis=0)", 12),
        ("sum", "x = mx.random.normal((2**13, 2**12))", "mx.sum(mx.abs(x), axis=0)", 12),
        ("max", "x = mx.random.normal((2**13, 2**12))", "mx.max(x, axis=0)", 6),
        ("var", "x = mx.random.normal((64, 2**17))", "mx.var(x, axis=0)", 12),
        ("var", "x = mx.random.normal((2**17, 16))", "mx.var(x, axis=1)", 12),
        ("gather_mm", PICKED.format(matrices=4), "mx.gather_mm(a, b, i, j)", 40),
        ("gather_mm", PICKED.format(matrices=2**17), "mx.gather_mm(a, b, i, j)", 40),
        (
            "segmented_mm",
            "a, b, i = mx.ones((1, 8)), mx.ones((8, 1)), mx.zeros((2**18, 2), mx.uint32)",
            "mx.segmented_mm(a, b, i)",
            40,
        ),
        (
            "gather_qmm",
            QUANTIZED.format(matrices=4),
            "mx.gather_qmm(x, *w, i, i, group_size=32, bits=4)",
            40,
        ),
        (
            "quantized_matmul",
            QUANTIZED.format(matrices=2**17),
            "mx.quantized_matmul(x, *w, group_size=32, bits=4)",
            80,
        ),
        (
            "dequantize",
            "w = mx.quantize(mx.random.normal((1, 2**20)), 32, 4)",
            "mx.dequantize(*w, 32, 4)",
            40,
        ),
        (
            "rope",
            "x, i = mx.random.normal((2**18, 1, 1, 4)), mx.arange(2**18)",
            "mx.fast.rope(x, 4, traditional=False, base=10.0, scale=1.0, offset=i)",
            40,
        ),
        (
            "rope",
            "x = mx.random.normal((1, 1, 2**20))",
            "mx.fast.rope(x, 2**20, traditional=False, base=10.0, scale=1.0, offset=1)",
            160,
        ),
        (
            "layer_norm",
            "x = mx.random.normal((1, 2**20), mx.float16)",
            "mx.fast.layer_norm(x, x[0], x[0], 1e-5)",
            20,
        ),
        ("rms_norm", "x = mx.random.normal((1, 2**20))", "mx.fast.rms_norm(x, x[0], 1e-5)", 20),
        ("scaled_dot_product_attention", ATTENTION, "mx.grad(attend)(k)", 80),
    ],
)
def test_memory_that_shrinks(op, given, call, most):
    """What a kernel needs besides its result is an error as well, and the process goes on."""
    run = subprocess.run(
        [sys.executable, "-c", SHRINKING.format(op=op, given=given, call=call, most=most)],
        env=os.environ | {"UMBER_NUM_THREADS": "2", "MALLOC_MMAP_THRESHOLD_": "65536"},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr


@pytest.mark.parametrize("name", ["dct", "idct", "dst", "idst"])
@pytest.mark.parametrize("norm", ["backward", "ortho"])
@pytest.mark.parametrize("kind", [1, 2, 3, 4])
def test_transforms_too_long_for_the_memory(name, norm, kind):
    with pytest.raises((MemoryError, ValueError, OverflowError)):
        mx.eval(getattr(mx.fft, name)(mx.ones(3), type=kind, n=2**44, norm=norm))


@pytest.mark.parametrize("start", [-1, -2, -3, -(2**63), 2])
def test_blocks_that_leave_the_array(start):
    at = mx.array([start], dtype=mx.int64)
    for op, call in {
        "slice": lambda: mx.slice(mx.arange(3), at, (0,), (2,)),
        "slice_update": lambda: mx.slice_update(mx.arange(3), mx.array([8, 9]), at, (0,)),
    }.items():
        block = call()
        with pytest.raises(
            IndexError, match=rf"^\[{op}\] start is out of bounds, expected 0 <= start"
        ):
            mx.eval(block)


@pytest.mark.parametrize(
    ("op", "call"),
    [
        ("repeat", lambda: mx.repeat(mx.ones(2), 2**80)),
        ("permutation", lambda: mx.random.permutation(2**80)),
    ],
)
def test_integers_beyond_every_dtype(op, call):
    with pytest.raises(OverflowError) as raised:
        call()
    assert str(raised.value).startswith(f"[{op}] got an integer beyond 64 bits, expected")


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("y = x[mx.array([7])]", "IndexError"),
        ("y = mx.zeros((2**46,))", "MemoryError"),
        # These fail as they are recorded.
        ("y = mx.take(x, mx.array(7))", "IndexError"),
        ("y = x.at[mx.array([7])].add(1)", "IndexError"),
        ("y = x; x[mx.array([7])] = 1", "IndexError"),
        ("y = mx.grad(lambda x: mx.take(x, mx.array(7)))(x)", "IndexError"),
        ("y = x + mx.zeros(2)", "ValueError"),
        ("y = mx.reshape(x, (2, 2))", "ValueError"),
        ("y = mx.linalg.inv(mx.zeros((2, 2)))", "RuntimeError"),
        ("y = int(mx.take(x, mx.array(7)))", "IndexError"),
    ],
)
def test_traceback_names_the_recording_line(line, error):
    """UMBER_TRACEBACK=1: an error at evaluation tells where the op was recorded."""
    program = f"import umber.core as mx\nx = mx.zeros(3)\n{line}\nmx.eval(y)\n"
    run = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"UMBER_TRACEBACK": "1"},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert run.returncode == 1
    assert error in run.stderr
    message = run.stderr.split(error, 1)[1]
    assert "recorded at <string>:3" in message, run.stderr


@pytest.mark.parametrize("width", [1 << 63, (1, 1 << 63), [(1 << 70, 0)], -(1 << 64)])
def test_widths_beyond_64_bits(width):
    with pytest.raises(mx.RangeError, match=r"^\[pad\] pad_width does not fit 64 bits"):
        mx.pad(mx.ones(2), width)


@pytest.mark.parametrize(
    ("state", "message"),
    [
        ((b"", [2**63, 2], "float32"), "state has 0 bytes, expected"),
        (("no bytes", [1], "float32"), "state holds str, expected bytes"),
        ((b"", "ab", "float32"), "got str, expected a sequence"),
    ],
)
def test_states_that_no_array_has(state, message):
    with pytest.raises((TypeError, ValueError), match=rf"^\[__setstate__\] {message}") as said:
        mx.array(0).__setstate__(state)
    assert "extract" not in str(said.value)


@pytest.mark.parametrize(
    ("call", "op"),
    [
        (lambda: mx.random.uniform(shape=(2**46,)) + 1, "random_bits"),
        (lambda: mx.sort(mx.broadcast_to(mx.array(1.0), (2**46,))), "sort"),
        (lambda: mx.arange(2**46, dtype=mx.int64), "arange"),
    ],
)
def test_memory_that_cannot_be_had_names_what_wanted_it(call, op):
    with pytest.raises(
        MemoryError, match=rf"^\[{op}\] out of memory: requested .*iB, limit .*, in use"
    ):
        mx.eval(call())


def test_integers_beyond_what_holds_them():
    a = mx.ones((2, 3), mx.int64)
    calls = [
        lambda: mx.array(2**70),
        lambda: mx.array([2**64]),
        lambda: mx.full((2,), 2**80),
        lambda: a + 2**70,
        lambda: a + 2**63,
        lambda: mx.array(300, dtype=mx.uint8),
        lambda: mx.arange(2**70),
        lambda: mx.zeros(2**70),
        lambda: mx.zeros((2**40, 2**40)),
        lambda: mx.sum(a, axis=2**70),
    ]
    for call in calls:
        with pytest.raises(mx.RangeError, match=r"^\[\w+\] "):
            call()


DUPLICATES = {
    "sum": lambda a: mx.sum(a, (1, -2)),
    "prod": lambda a: a.prod((0, 0)),
    "max": lambda a: mx.max(a, axis=(0, -3)),
    "all": lambda a: mx.all(a, (1, 1)),
    "mean": lambda a: a.mean((2, -1)),
    "var": lambda a: mx.var(a, (0, 0)),
    "std": lambda a: mx.std(a, (0, 0)),
    "median": lambda a: mx.median(a, (0, 0)),
    "quantile": lambda a: mx.quantile(a, 0.5, axis=(0, 0)),
    "logsumexp": lambda a: mx.logsumexp(a, (0, 0)),
    "softmax": lambda a: mx.softmax(a, (1, 1)),
    "transpose": lambda a: mx.transpose(a, (0, 0, 1)),
    "expand_dims": lambda a: mx.expand_dims(a, (0, 0)),
    "squeeze": lambda a: mx.squeeze(mx.ones((1, 2)), (0, -2)),
    "flip": lambda a: mx.flip(a, (0, 0)),
    "moveaxis": lambda a: mx.moveaxis(a, (0, 0), (1, 2)),
    "rot90": lambda a: mx.rot90(a, 1, (1, -2)),
    "diagonal": lambda a: mx.diagonal(a, 0, 1, -2),
    "trace": lambda a: mx.trace(a, 0, 1, 1),
    "tensordot": lambda a: mx.tensordot(a, a, ((0, 0), (0, 1))),
    "nansum": lambda a: mx.nansum(a, (0, 0)),
    "count_nonzero": lambda a: mx.count_nonzero(a, axis=(0, 0)),
    "linalg.norm": lambda a: mx.linalg.norm(a, 2, (0, 0)),
}


@pytest.mark.parametrize("name", DUPLICATES)
def test_duplicate_axes(name):
    with pytest.raises(
        ValueError, match=r"^\[[\w.]+\] (duplicate axis \S+ in|axes must differ, got 1 twice)"
    ):
        DUPLICATES[name](mx.ones((2, 2, 2)))
