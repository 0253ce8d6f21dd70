"""`umber.core.fast`: what the records of `tests/tables/records/fast.py` do not say."""

import math
import subprocess
import sys

import naive_attention as naive
import numpy as np
import pytest
import umber.core as mx
from arrays import name_of
from umber import nn

fast = mx.fast
RTOL = {"float16": 4e-3, "bfloat16": 3e-2, "float32": 2e-5, "float64": 1e-11}
INF = math.inf


def given(rng, *shape, dtype="float64"):
    """An array of this dtype, and its values."""
    array = mx.array(rng.normal(size=shape)).astype(getattr(mx, dtype))
    return array, values(array)


def values(array):
    return np.array(array.astype(mx.float64))


def attend(q, k, v, **options):
    return fast.scaled_dot_product_attention(q, k, v, **{"scale": 0.5} | options)


MASKS = {
    "nothing": lambda rng, shape: None,
    "causal": lambda rng, shape: "causal",
    "whole": lambda rng, shape: rng.random(shape) < 0.7,
    "matrix": lambda rng, shape: rng.random(shape[-2:]) < 0.7,
    "keys": lambda rng, shape: rng.random((shape[0], 1, 1, shape[-1])) < 0.7,
    "heads": lambda rng, shape: rng.random((shape[1], 1, 1)) < 0.7,
    "terms": lambda rng, shape: rng.normal(size=shape[-2:]),
    "infinite terms": lambda rng, shape: np.where(np.tri(*shape[-2:], 1, dtype=bool), 0.0, -INF),
}


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("dtype", RTOL)
@pytest.mark.parametrize("sinks", [False, True])
@pytest.mark.parametrize("sizes", [(2, 4, 2, 5, 7, 6, 3), (1, 6, 1, 1, 40, 8, 8)])
def test_attention(mask, dtype, sinks, sizes, rng):
    samples, heads, key_heads, queries, keys, features, width = sizes
    q, q64 = given(rng, samples, heads, queries, features, dtype=dtype)
    k, k64 = given(rng, samples, key_heads, keys, features, dtype=dtype)
    v, v64 = given(rng, samples, key_heads, keys, width, dtype=dtype)
    m = MASKS[mask](rng, (samples, heads, queries, keys))
    s, s64 = given(rng, heads, dtype=dtype) if sinks else (None, None)
    if isinstance(m, np.ndarray) and m.dtype != bool:
        terms = mx.array(m).astype(getattr(mx, dtype))
        arrays, m = terms, values(terms)
    else:
        arrays = mx.array(m) if isinstance(m, np.ndarray) else m
    y = attend(q, k, v, mask=arrays, sinks=s)
    expected = naive.attention(q64, k64, v64, 0.5, m, s64)
    assert (y.shape, y.dtype) == ((samples, heads, queries, width), getattr(mx, dtype))
    np.testing.assert_allclose(values(y), expected, rtol=RTOL[dtype], atol=RTOL[dtype])


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
@pytest.mark.parametrize(
    ("heads", "key_heads", "queries", "keys"),
    [(1, 1, 300, 1300), (4, 2, 130, 520), (2, 2, 800, 70), (8, 1, 1, 3000), (1, 1, 2, 5000)],
)
@pytest.mark.parametrize("mask", [None, "causal"])
def test_attention_in_many_blocks(dtype, heads, key_heads, queries, keys, mask, rng):
    q, q64 = given(rng, 1, heads, queries, 64, dtype=dtype)
    k, k64 = given(rng, 1, key_heads, keys, 64, dtype=dtype)
    v, v64 = given(rng, 1, key_heads, keys, 48, dtype=dtype)
    y = attend(q, k, v, scale=0.125, mask=mask)
    expected = naive.attention(q64, k64, v64, 0.125, mask)
    np.testing.assert_allclose(values(y), expected, rtol=RTOL[dtype], atol=RTOL[dtype])


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("sinks", [False, True])
def test_gradients_of_attention(mask, sinks, rng):
    """Those of the kernel against those of plain operations."""
    arrays = [
        mx.array(rng.normal(size=shape)) for shape in ((2, 4, 5, 3), (2, 2, 7, 3), (2, 2, 7, 2))
    ]
    m = MASKS[mask](rng, (2, 4, 5, 7))
    m = mx.array(m) if isinstance(m, np.ndarray) else m
    if sinks:
        arrays.append(mx.array(rng.normal(size=4)))
    weight = mx.array(rng.normal(size=(2, 4, 5, 2)))

    def kernel(q, k, v, s=None):
        return (attend(q, k, v, mask=m, sinks=s) * weight).sum()

    def plain(q, k, v, s=None):
        scores = (q * 0.5) @ mx.swapaxes(mx.repeat(k, 2, axis=1), -1, -2)
        shown = mx.tri(5, 7, 2, dtype=mx.bool_) if isinstance(m, str) else m
        if shown is not None:
            is_bool = shown.dtype == mx.bool_
            scores = mx.where(shown, scores, -1e300) if is_bool else scores + shown
        if s is not None:
            column = mx.broadcast_to(s[None, :, None, None], (2, 4, 5, 1))
            scores = mx.concatenate([column, scores], axis=-1)
        weights = mx.softmax(scores, axis=-1)
        y = (weights if s is None else weights[..., 1:]) @ mx.repeat(v, 2, axis=1)
        return (y * weight).sum()

    places = list(range(len(arrays)))
    for ours, theirs in zip(
        mx.grad(kernel, places)(*arrays), mx.grad(plain, places)(*arrays), strict=True
    ):
        np.testing.assert_allclose(np.array(ours), np.array(theirs), rtol=1e-9, atol=1e-10)


def test_gradients_of_long_attention(rng):
    arrays = [
        mx.array(rng.normal(size=s)) for s in ((1, 2, 300, 8), (1, 1, 700, 8), (1, 1, 700, 8))
    ]

    def kernel(*arrays):
        return attend(*arrays, mask="causal").square().sum()

    def plain(q, k, v):
        scores = mx.where(
            mx.tri(300, 700, 400, dtype=mx.bool_), 0.5 * q @ mx.swapaxes(k, -1, -2), -INF
        )
        return (mx.softmax(scores, axis=-1) @ v).square().sum()

    for ours, theirs in zip(
        mx.grad(kernel, (0, 1, 2))(*arrays), mx.grad(plain, (0, 1, 2))(*arrays), strict=True
    ):
        np.testing.assert_allclose(np.array(ours), np.array(theirs), rtol=1e-8, atol=1e-9)


def test_attention_inside_other_transforms(rng):
    q, k, v = (mx.array(rng.normal(size=(3, 1, 2, 4, 3))) for _ in range(3))
    whole = mx.vmap(lambda q, k, v: attend(q, k, v, mask="causal"))(q, k, v)
    loop = mx.stack([attend(*one, mask="causal") for one in zip(q, k, v, strict=True)])
    np.testing.assert_allclose(np.array(whole), np.array(loop), rtol=1e-12)
    shared = mx.vmap(lambda q: attend(q, k[0], v[0]))(q)
    np.testing.assert_allclose(np.array(shared[1]), np.array(attend(q[1], k[0], v[0])), rtol=1e-12)
    mask = mx.array(rng.normal(size=(3, 4, 4)))
    whole = mx.vmap(lambda m: attend(q[0], k[0], v[0], mask=m))(mask)
    loop = mx.stack([attend(q[0], k[0], v[0], mask=m) for m in mask])
    np.testing.assert_allclose(np.array(whole), np.array(loop), rtol=1e-12)
    sinks = mx.array(rng.normal(size=(3, 2)))

    def total(s):
        return attend(q[0], k[0], v[0], sinks=s).sum()

    slopes = mx.vmap(mx.grad(total))(sinks)
    loop = mx.stack([mx.grad(total)(s) for s in sinks])
    np.testing.assert_allclose(np.array(slopes), np.array(loop), rtol=1e-10, atol=1e-14)
    compiled = mx.compile(lambda q: mx.grad(lambda q: attend(q, k[0], v[0]).sum())(q))
    plain = mx.grad(lambda q: attend(q, k[0], v[0]).sum())(q[0])
    np.testing.assert_allclose(np.array(compiled(q[0])), np.array(plain), rtol=1e-12)


def test_second_derivatives_of_attention(rng):
    q, k, v = (mx.array(rng.normal(size=(1, 1, 3, 2))) for _ in range(3))

    def total(q):
        return attend(q, k, v, mask="causal").sum()

    direction = mx.array(rng.normal(size=q.shape))
    _, (forward,) = mx.jvp(mx.grad(total), [q], [direction])
    step = 1e-5
    slope = mx.grad(total)
    expected = (slope(q + step * direction) - slope(q - step * direction)) / (2 * step)
    np.testing.assert_allclose(np.array(forward), np.array(expected), rtol=1e-5, atol=1e-8)


def test_attention_of_nothing_and_to_nothing():
    q, k, v = mx.ones((1, 2, 3, 4)), mx.ones((1, 1, 5, 4)), mx.random.normal((1, 1, 5, 2))
    mean = np.broadcast_to(np.array(v).mean(axis=2, keepdims=True), (1, 2, 3, 2))
    hidden = mx.zeros((3, 5), mx.bool_)
    np.testing.assert_allclose(np.array(attend(q, k, v, mask=hidden)), mean, rtol=1e-5)
    for mask in (mx.full((3, 5), -INF), mx.full((3, 5), mx.finfo(mx.float32).min)):
        np.testing.assert_allclose(np.array(attend(q, k, v, mask=mask)), mean, rtol=1e-5)
    sinks = mx.zeros(2)
    for mask in (hidden, mx.full((3, 5), -INF)):
        assert (attend(q, k, v, mask=mask, sinks=sinks) == 0).all()
    # More queries than keys: the first see nothing.
    y = attend(mx.ones((1, 1, 7, 4)), k, v, mask="causal")
    np.testing.assert_allclose(np.array(y)[0, 0, :2], mean[0, 0, :2], rtol=1e-5)
    np.testing.assert_allclose(np.array(y)[0, 0, 2], np.array(v)[0, 0, 0], rtol=1e-5)
    for shapes in (
        ((0, 2, 3, 4), (0, 1, 5, 4), (0, 1, 5, 2)),
        ((1, 2, 0, 4), (1, 1, 5, 4), (1, 1, 5, 2)),
        ((1, 0, 3, 4), (1, 1, 5, 4), (1, 1, 5, 2)),
        ((1, 2, 3, 4), (1, 1, 5, 4), (1, 1, 5, 0)),
        ((1, 0, 3, 4), (1, 0, 5, 4), (1, 0, 5, 2)),
    ):
        arrays = [mx.ones(shape) for shape in shapes]
        y = attend(*arrays, mask="causal")
        assert y.shape == (*shapes[0][:3], shapes[2][3])
        slopes = mx.grad(lambda *arrays: attend(*arrays, mask="causal").sum(), (0, 1, 2))(*arrays)
        assert [slope.shape for slope in slopes] == list(shapes)
    no_features = attend(mx.ones((1, 2, 3, 0)), mx.ones((1, 1, 5, 0)), v)
    np.testing.assert_allclose(np.array(no_features), mean, rtol=1e-5)
    assert (attend(q, k[:, :, :0], v[:, :, :0], sinks=sinks) == 0).all()


# Some rows see some keys, the second and the last none.
VISIBLE = np.array([[1, 0, 1, 0, 1], [0] * 5, [1] * 5, [0, 0, 0, 0, 1], [0] * 5], bool)


def hiding_masks(visible, dtype):
    """Masks of numbers that hide what a boolean mask hides."""
    shown = mx.array(visible)
    lowest = mx.finfo(dtype).min
    masks = {
        "negative infinity": mx.where(shown, 0.0, -INF).astype(dtype),
        "lowest": mx.where(shown, mx.zeros((), dtype), mx.array(lowest, dtype)),
        "lowest twice": 2 * mx.where(shown, mx.zeros((), dtype), mx.array(lowest, dtype)),
        "beyond the dtype": mx.where(shown, 0.0, -1e39).astype(dtype),
        "float64": mx.where(shown, mx.zeros((), mx.float64), mx.array(-1e300, mx.float64)),
        "infinity in float16": mx.where(shown, 0.0, -INF).astype(mx.float16),
        "lowest in float16": mx.where(shown, 0.0, -65504.0).astype(mx.float16),
        "lowest in bfloat16": mx.where(
            shown, mx.zeros((), mx.bfloat16), mx.array(mx.finfo(mx.bfloat16).min, mx.bfloat16)
        ),
        "mixed": mx.where(
            mx.arange(visible.shape[-1]) % 2 == 0,
            mx.where(shown, mx.zeros((), dtype), mx.array(lowest, dtype)),
            mx.where(shown, 0.0, -INF).astype(dtype),
        ),
    }
    if dtype == mx.float64:
        del masks["beyond the dtype"], masks["float64"]
        masks["beyond the dtype"] = masks["lowest"] * 10
    return masks


@pytest.mark.parametrize("dtype", RTOL)
@pytest.mark.parametrize("sinks", [False, True])
@pytest.mark.parametrize("heads", [(1, 1), (4, 2)])
def test_one_rule_hides_keys_for_all_masks(dtype, sinks, heads, rng):
    q, _ = given(rng, 1, heads[0], 5, 8, dtype=dtype)
    k, _ = given(rng, 1, heads[1], 5, 8, dtype=dtype)
    v, v64 = given(rng, 1, heads[1], 5, 3, dtype=dtype)
    arrays = [q, k, v]
    if sinks:
        arrays.append(given(rng, heads[0], dtype=dtype)[0])
    places = tuple(range(len(arrays)))

    def call(mask):
        def attention(q, k, v, s=None):
            return attend(q, k, v, mask=mask, sinks=s)

        return attention

    def slopes(mask):
        return mx.grad(lambda *arrays: call(mask)(*arrays).square().sum(), places)(*arrays)

    shown = mx.array(VISIBLE)
    expected, gradients = call(shown)(*arrays), slopes(shown)
    mean = np.repeat(v64.mean(axis=2), heads[0] // heads[1], axis=1)
    for row in (1, 4):
        of_row = np.zeros_like(mean) if sinks else mean
        np.testing.assert_allclose(
            values(expected)[:, :, row], of_row, rtol=RTOL[dtype], atol=RTOL[dtype]
        )
        assert not values(gradients[0])[:, :, row].any()
    for name, mask in hiding_masks(VISIBLE, getattr(mx, dtype)).items():
        for found in (call(mask)(*arrays), mx.compile(call(mask))(*arrays)):
            np.testing.assert_array_equal(values(found), values(expected), err_msg=name)
        lanes = mx.vmap(lambda m: attend(*arrays[:3], mask=m, sinks=(*arrays, None)[3]))
        np.testing.assert_allclose(
            values(lanes(mask[None, None, None])[0]), values(expected), rtol=1e-6, err_msg=name
        )
        for ours, theirs in zip(slopes(mask), gradients, strict=True):
            np.testing.assert_array_equal(values(ours), values(theirs), err_msg=name)
        # The gradient of the mask goes another way.
        whole = mx.grad(
            lambda m, *arrays: call(m)(*arrays).square().sum(), (0, *(1 + i for i in places))
        )(mask, *arrays)
        assert mx.isfinite(whole[0]).all(), name
        assert not values(whole[0])[~VISIBLE].any(), name
        for ours, theirs in zip(whole[1:], gradients, strict=True):
            np.testing.assert_allclose(
                values(ours), values(theirs), rtol=RTOL[dtype], atol=RTOL[dtype], err_msg=name
            )


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32"])
def test_causal_order_and_padding_hide_together(dtype, rng):
    """The sum of an additive causal mask and one of padding, as `nn` makes them, may overflow."""
    q, k, v = (given(rng, 2, 2, 4, 8, dtype=dtype)[0] for _ in range(3))
    kind = getattr(mx, dtype)
    causal = np.tri(4, dtype=bool)
    present = np.array([[False, True, True, True], [True, True, False, False]])[:, None, None]
    expected = attend(q, k, v, mask=mx.array(causal & present))
    order = nn.MultiHeadAttention.create_additive_causal_mask(4, kind)
    lowest = mx.array(mx.finfo(kind).min, kind)
    for padding in (lowest, mx.array(-INF, kind)):
        mask = order + mx.where(mx.array(present), mx.zeros((), kind), padding)
        np.testing.assert_array_equal(values(attend(q, k, v, mask=mask)), values(expected))


def test_hidden_keys_in_many_blocks(rng):
    visible = rng.random((70, 1300)) < 0.5
    visible[3] = visible[69] = False
    visible[5, :700] = False
    arrays = [mx.array(rng.normal(size=(1, 2, n, 16)).astype(np.float32)) for n in (70, 1300, 1300)]
    expected = attend(*arrays, mask=mx.array(visible))
    mean = np.array(arrays[2]).mean(axis=2)
    np.testing.assert_allclose(np.array(expected)[:, :, 3], mean, atol=1e-6)
    for mask in hiding_masks(visible, mx.float32).values():
        for layout in (mask, mx.contiguous(mask.T).T):
            np.testing.assert_array_equal(
                np.array(attend(*arrays, mask=layout)), np.array(expected)
            )
    by_query = mx.where(mx.arange(70)[:, None] == 3, -INF, 0.0)
    found = np.array(attend(*arrays, mask=by_query))
    np.testing.assert_allclose(found[:, :, 3], mean, atol=1e-6)
    np.testing.assert_allclose(found[:, :, 4], np.array(attend(*arrays))[:, :, 4], rtol=1e-6)


def test_what_is_no_number_in_a_mask_stays():
    x = mx.ones((1, 1, 2, 4))
    found = attend(x, x, x, mask=mx.array([[math.nan, 0.0], [0.0, -INF]]))
    assert mx.isnan(found[0, 0, 0]).all()
    assert found[0, 0, 1].tolist() == [1] * 4
    slope = mx.grad(lambda m: attend(x, x, x, mask=m).sum())(mx.array([[math.nan, 0], [0, 0]]))
    assert mx.isnan(slope[0]).all()
    assert not mx.isnan(slope[1]).any()


def test_attention_of_any_number_of_axes(rng):
    q, k, v = (mx.array(rng.normal(size=(2, 3, 2, 4, 5))) for _ in range(3))
    whole = attend(q, k, v)
    np.testing.assert_allclose(np.array(whole[1]), np.array(attend(q[1], k[1], v[1])), rtol=1e-12)
    one = attend(q[0, 0], k[0, 0], v[0, 0])
    np.testing.assert_allclose(np.array(whole[0, 0]), np.array(one), rtol=1e-12)
    spread = attend(q, k[:1], v[0, 0])
    expected = attend(q[1, 2], k[0, 2], v[0, 0])
    np.testing.assert_allclose(np.array(spread[1, 2]), np.array(expected), rtol=1e-12)


def test_attention_of_mixed_dtypes():
    q, k = mx.ones((1, 1, 2, 4), mx.float16), mx.ones((1, 1, 2, 4), mx.bfloat16)
    assert attend(q, k, k).dtype == mx.float32
    assert attend(q, q, q, mask=mx.zeros((2, 2))).dtype == mx.float16
    assert attend(q, q, q, mask=mx.zeros((2, 2), mx.int32)).dtype == mx.float16
    assert attend(q, q, q, sinks=mx.zeros(1, mx.float64)).dtype == mx.float16
    assert attend(q, q, q, force_fused=True).dtype == mx.float16


@pytest.mark.parametrize(
    ("shapes", "options", "message"),
    [
        (((3, 8), (3, 8), (3, 8)), {}, r"need at least 3 axes"),
        (((4, 3, 8), (3, 5, 8), (3, 5, 8)), {}, r"number of query heads must be a multiple"),
        (((4, 3, 8), (2, 5, 7), (2, 5, 8)), {}, r"feature sizes of queries and keys differ"),
        (((4, 3, 8), (2, 5, 8), (2, 4, 8)), {}, r"equal numbers of heads and positions"),
        (((4, 3, 8), (0, 5, 8), (0, 5, 8)), {}, r"number of query heads must be a multiple"),
        (((2, 4, 3, 8), (3, 2, 5, 8), (3, 2, 5, 8)), {}, r"batch axes cannot be broadcast"),
        (((4, 3, 8),) * 3, {"mask": "upper"}, r"mask: .*\"upper\", expected \"causal\", an array"),
        (((4, 3, 8),) * 3, {"mask": mx.zeros((3, 4))}, r"mask must .* got shape \(3, 4\)"),
        (((4, 3, 8),) * 3, {"mask": mx.zeros((3, 3), mx.complex64)}, r"mask must be real or bool"),
        (((4, 3, 8),) * 3, {"sinks": mx.zeros(2)}, r"sinks must be 4 real numbers"),
        (((4, 3, 8),) * 3, {"sinks": mx.zeros(())}, r"sinks must be 4 .* got shape \(\)"),
    ],
)
def test_attention_refuses(shapes, options, message):
    with pytest.raises(ValueError, match=rf"^\[scaled_dot_product_attention\] .*{message}"):
        attend(*(mx.zeros(shape) for shape in shapes), **options)


def test_attention_refuses_dtypes():
    for dtype in (mx.int32, mx.complex64, mx.bool_):
        x = mx.zeros((1, 2, 2), dtype)
        with pytest.raises(
            ValueError,
            match=rf"^\[scaled_dot_product_attention\] dtype {name_of(dtype).rstrip('_')} is not",
        ):
            attend(x, x, x)
    with pytest.raises(TypeError, match=r"got a number, expected \"causal\""):
        attend(*[mx.zeros((1, 2, 2))] * 3, mask=0.0)


PEAK = """
import umber.core as mx
q, k, v = (mx.random.normal((1, 1, 8192, 64)) for _ in range(3))
mx.eval(q, k, v)
mx.reset_peak_memory()
before = mx.get_active_memory()
mx.eval({value})
print((mx.get_peak_memory() - before) / 2**20)
# Not `ru_maxrss`, in which the process that started this one counts.
status = dict(line.split(":", 1) for line in open("/proc/self/status"))
print(int(status["VmHWM"].split()[0]) / 2**10)
"""


@pytest.mark.parametrize("value", ["values", "gradients"])
def test_memory_of_attention(value):
    """Neither the values nor the gradients need the scores, which would be 256 MiB."""
    call = "mx.fast.scaled_dot_product_attention(q, k, v, scale=0.125)"
    gradients = f"mx.grad(lambda q, k, v: {call}.sum(), (0, 1, 2))(q, k, v)"
    program = PEAK.format(value=call if value == "values" else gradients)
    printed = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    ).stdout
    arrays, process = map(float, printed.split())
    assert arrays < 16
    assert process < 250


@pytest.mark.parametrize("traditional", [False, True])
@pytest.mark.parametrize("dtype", RTOL)
def test_rope_of_samples(traditional, dtype, rng):
    a, a64 = given(rng, 3, 2, 70, 10, dtype=dtype)
    keywords = {"traditional": traditional, "base": 50.0, "scale": 0.3}
    offsets = np.array([4, 0, 100])
    for kind in (mx.int32, mx.uint8, mx.int64):
        y = fast.rope(a, 6, offset=mx.array(offsets).astype(kind), **keywords)
        expected = naive.rope(a64, 6, offset=offsets, **keywords)
        np.testing.assert_allclose(values(y), expected, rtol=RTOL[dtype], atol=RTOL[dtype])
    freqs = np.array([1.0, 2.5, 30.0])
    keywords |= {"base": None}
    y = fast.rope(a, 6, offset=2, freqs=mx.array(freqs), **keywords)
    expected = naive.rope(a64, 6, offset=2, freqs=freqs, **keywords)
    np.testing.assert_allclose(values(y), expected, rtol=RTOL[dtype], atol=RTOL[dtype])


def test_rope_far_away():
    """Angles are computed in float64: float32 would be off by 0.06 there."""
    a = mx.ones((1, 1, 2, 64))
    y = fast.rope(a, 64, traditional=False, base=10000.0, scale=1.0, offset=1_000_000)
    keywords = {"base": 10000.0, "scale": 1.0, "offset": 1_000_000}
    expected = naive.rope(np.ones((1, 1, 2, 64)), 64, False, **keywords)
    np.testing.assert_allclose(np.array(y), expected, rtol=1e-5, atol=1e-5)


def test_rope_inside_transforms(rng):
    a = mx.array(rng.normal(size=(3, 2, 2, 4, 6)))

    def turn(a, offset, freqs=None):
        base = 10.0 if freqs is None else None
        keywords = {"traditional": True, "base": base, "scale": 1.0, "freqs": freqs}
        return fast.rope(a, 4, offset=offset, **keywords)

    offsets = mx.array([5, 0, 2])
    whole = mx.vmap(turn)(a, offsets)
    loop = mx.stack([turn(*one) for one in zip(a, offsets, strict=True)])
    np.testing.assert_allclose(np.array(whole), np.array(loop), rtol=1e-12)
    whole = mx.vmap(lambda o: turn(a[0], o))(mx.array([[1, 2], [3, 4]]))
    np.testing.assert_allclose(
        np.array(whole[1]), np.array(turn(a[0], mx.array([3, 4]))), rtol=1e-12
    )
    freqs = mx.array(rng.uniform(1, 2, (3, 2)))
    whole = mx.vmap(lambda a, f: turn(a, 3, f))(a, freqs)
    loop = mx.stack([turn(x, 3, f) for x, f in zip(a, freqs, strict=True)])
    np.testing.assert_allclose(np.array(whole), np.array(loop), rtol=1e-12)

    def total(f):
        return (turn(a[0], 3, f) * a[1]).sum()

    slope = mx.grad(total)(freqs[0])
    for i in range(2):
        step = np.eye(2)[i] * 1e-6
        difference = (total(freqs[0] + mx.array(step)) - total(freqs[0] - mx.array(step))) / 2e-6
        np.testing.assert_allclose(slope[i].item(), difference.item(), rtol=1e-6)


@pytest.mark.parametrize(
    ("shape", "dims", "options", "message"),
    [
        ((8,), 8, {}, r"array must have at least 2 axes .* got shape \(8,\)"),
        ((2, 3, 8), 7, {}, r"dims must be even, from 2 to the 8 features, got 7"),
        ((2, 3, 8), 0, {}, r"dims must be even, .* got 0"),
        ((2, 3, 8), 10, {}, r"dims must be even, .* got 10"),
        ((2, 3, 8), -2, {}, r"dims must be even, .* got -2"),
        ((2, 3, 8), 8, {"offset": 1.5}, r"offset must be integer, not float32"),
        ((2, 3, 8), 8, {"offset": True}, r"offset must be integer, not bool"),
        ((2, 3, 8), 8, {"offset": mx.array([1, 2, 3])}, r"offset must .* \(2,\), got shape \(3,\)"),
        ((2, 3, 8), 8, {"offset": mx.array([[1, 2]])}, r"offset must .* got shape \(1, 2\)"),
        ((2, 3, 8), 8, {"base": None}, r"got neither of base and freqs, expected exactly one"),
        ((2, 3, 8), 8, {"freqs": mx.ones(4)}, r"got both of base and freqs, expected exactly one"),
        ((2, 3, 8), 8, {"base": None, "freqs": mx.ones(3)}, r"freqs must be 4 real numbers"),
        ((2, 3, 8), 8, {"base": None, "freqs": mx.ones((1, 4))}, r"freqs .* got shape \(1, 4\)"),
    ],
)
def test_rope_refuses(shape, dims, options, message):
    keywords = {"traditional": False, "base": 10.0, "scale": 1.0, "offset": 0} | options
    with pytest.raises(ValueError, match=rf"^\[rope\] {message}"):
        fast.rope(mx.zeros(shape), dims, **keywords)
    if not options:
        for dtype in (mx.int32, mx.complex64):
            with pytest.raises(ValueError, match=rf"^\[rope\] dtype {name_of(dtype)} is not"):
                fast.rope(mx.zeros((2, 3, 8), dtype), 8, **keywords)


def test_cross_entropy(rng):
    logits = mx.array(rng.normal(size=(2, 3, 5)))
    targets = mx.array([[0, 1, 2], [4, 3, 0]])
    expected = np.array(mx.logsumexp(logits, axis=-1))
    expected = (
        expected - np.take_along_axis(np.array(logits), np.array(targets)[..., None], -1)[..., 0]
    )
    for dtype in ("float64", "float32", "float16", "bfloat16"):
        loss = fast.cross_entropy(logits.astype(getattr(mx, dtype)), targets)
        assert loss.dtype == (mx.float64 if dtype == "float64" else mx.float32)
        np.testing.assert_allclose(np.array(loss), expected, rtol=RTOL[dtype], atol=RTOL[dtype])
    slope = mx.grad(lambda x: fast.cross_entropy(x, targets).sum())(logits)
    wanted = mx.softmax(logits, axis=-1) - mx.eye(5, dtype=mx.float64)[targets]
    np.testing.assert_allclose(np.array(slope), np.array(wanted), rtol=1e-9, atol=1e-12)
    assert fast.cross_entropy(mx.zeros((0, 5)), mx.zeros(0, mx.int32)).shape == (0,)
    assert fast.cross_entropy(mx.array([-INF, 0.0]), mx.array(0)).item() == INF
    batched = mx.vmap(fast.cross_entropy)(logits, targets)
    np.testing.assert_allclose(np.array(batched), expected, rtol=1e-12)


def test_cross_entropy_refuses():
    x = mx.zeros((2, 3))
    for logits, targets, message in (
        (x, mx.zeros(3, mx.int32), r"shape of targets, \(3,\), does not match logits of shape"),
        (x, mx.zeros(2), r"targets must be integer class indices, not float32"),
        (x, mx.zeros(2, mx.bool_), r"targets must be integer class indices, not bool"),
        (x.astype(mx.int32), mx.zeros(2, mx.int32), r"logits must be real .*, not int32"),
        (x.astype(mx.complex64), mx.zeros(2, mx.int32), r"logits must be real .*, not complex64"),
        (mx.zeros(()), mx.zeros((), mx.int32), r"logits must .* class axis, got shape \(\)"),
        (mx.zeros((2, 0)), mx.zeros(2, mx.int32), r"logits must have at least one class, got"),
    ):
        with pytest.raises(ValueError, match=rf"^\[cross_entropy\] {message}"):
            fast.cross_entropy(logits, targets)
    for target, message in (
        (3, "index 3 is out of bounds"),
        (-4, "class index -4 is negative; set"),
    ):
        with pytest.raises(IndexError, match=rf"^\[cross_entropy\] {message}"):
            mx.eval(fast.cross_entropy(x, mx.array([0, target])))


def gated(rng, steps=4, dtype="float64"):
    """Operands and their values."""
    shapes = ((2, steps, 2, 3), (2, steps, 2, 3), (2, steps, 4, 5), (2, steps, 4), (2, steps, 4))
    arrays = [given(rng, *shape, dtype=dtype) for shape in shapes]
    return [array for array, _ in arrays], [value for _, value in arrays]


@pytest.mark.parametrize("dtype", RTOL)
def test_gated_delta_update(dtype, rng):
    arrays, numbers = gated(rng, dtype=dtype)
    state, state64 = given(rng, 2, 4, 5, 3, dtype=dtype)
    mask = np.array([[True, False, True, True], [False, True, True, False]])
    decay, decay64 = given(rng, 2, 4, 4, 3, dtype=dtype)
    for arguments, expected in (
        (arrays, numbers),
        ((*arrays, state), (*numbers, state64)),
        ((*arrays, state, mx.array(mask)), (*numbers, state64, mask)),
        ((*arrays, None, mx.array(mask[:1])), (*numbers, None, mask[:1])),
        ((*arrays[:3], decay, arrays[4]), (*numbers[:3], decay64, numbers[4])),
    ):
        y, last = fast.gated_delta_update(*arguments)
        assert y.dtype == getattr(mx, dtype)
        assert last.dtype == (mx.float64 if dtype == "float64" else mx.float32)
        wanted, kept = naive.gated_delta(*expected)
        np.testing.assert_allclose(values(y), wanted, rtol=RTOL[dtype], atol=RTOL[dtype])
        tolerance = 1e-5 if dtype != "float64" else 1e-11
        np.testing.assert_allclose(values(last), kept, rtol=tolerance, atol=tolerance)


def test_gated_delta_update_inside_transforms(rng):
    arrays, _ = gated(rng)
    state = mx.array(rng.normal(size=(2, 4, 5, 3)))
    mask = mx.array([[True, False, True, True], [False, True, True, False]])
    ways = [mx.array(rng.normal(size=s)) for s in ((2, 4, 4, 5), (2, 4, 5, 3))]

    def total(*arrays):
        y, last = fast.gated_delta_update(*arrays, mask=mask)
        return (y * ways[0]).sum() + (last * ways[1]).sum()

    arrays = [*arrays, state]
    for i, slope in enumerate(mx.grad(total, list(range(6)))(*arrays)):
        step = mx.array(rng.normal(size=arrays[i].shape)) * 1e-6
        moved = [[*arrays[:i], arrays[i] + s * step, *arrays[i + 1 :]] for s in (1, -1)]
        difference = (total(*moved[0]) - total(*moved[1])) / 2
        np.testing.assert_allclose((slope * step).sum().item(), difference.item(), rtol=1e-5)
    queries = mx.array(rng.normal(size=(3, *arrays[0].shape)))
    whole = mx.vmap(lambda q: fast.gated_delta_update(q, *arrays[1:])[0])(queries)
    loop = mx.stack([fast.gated_delta_update(q, *arrays[1:])[0] for q in queries])
    np.testing.assert_allclose(np.array(whole), np.array(loop), rtol=1e-12)
    empty, last = fast.gated_delta_update(*[x[:, :0] for x in arrays[:5]], state)
    assert empty.shape == (2, 0, 4, 5)
    assert mx.array_equal(last, state)


def test_gated_delta_update_refuses(rng):
    arrays, _ = gated(rng)
    q, k, v, gamma, beta = arrays
    heads = (q, k, v[:, :, :3], gamma[..., :3], beta[..., :3])
    for arguments, message in (
        ((q[0], k, v, gamma, beta), r"q and v must have 4 axes, got shapes \(4, 2, 3\)"),
        ((q, k[:, :3], v, gamma, beta), r"k must have shape .* got \(2, 3, 2, 3\)"),
        ((q, k, v[:, :3], gamma, beta), r"v must have shape .* got \(2, 3, 4, 5\)"),
        ((q, k, v, gamma[..., :2], beta), r"gamma must have shape .* got \(2, 4, 2\)"),
        ((q, k, v, gamma, beta[..., :2]), r"beta must have shape .* got \(2, 4, 2\)"),
        (heads, r"3 heads of v are not a multiple of 2 heads of q"),
        ((q, k, v, gamma, beta, mx.zeros((2, 4, 3, 5))), r"initial_state must have shape"),
        ((q, k, v, gamma, beta, None, mx.ones(4)), r"mask must .* got shape \(4,\)"),
        ((q.astype(mx.complex64), k, v, gamma, beta), r"q must be real, not complex64"),
    ):
        with pytest.raises(ValueError, match=rf"^\[gated_delta_update\] {message}"):
            fast.gated_delta_update(*arguments)


@pytest.mark.covers("fast.kernel")
def test_kernel(rng):
    @fast.kernel
    def mixed(x, y, power):
        s = x * y
        return {"sum": mx.where(s > 0, s, -s) ** power, "x": x}

    x, y = rng.normal(size=(3, 1, 4)), rng.normal(size=(2, 1))
    out = mixed(mx.array(x), mx.array(y), 2)
    np.testing.assert_allclose(np.array(out["sum"]), (x * y) ** 2, rtol=1e-12)
    np.testing.assert_allclose(np.array(out["x"]), np.broadcast_to(x, (3, 2, 4)))
    assert repr(mixed) == "<kernel of mixed>"
    square = fast.kernel(lambda x: x * x)
    for shape in ((), (3,), (2, 3), (0, 3), (1, 1)):
        x = rng.normal(size=shape)
        np.testing.assert_allclose(np.array(square(mx.array(x))), x * x)
    a = mx.array(rng.normal(size=(2, 3)))
    slope = mx.grad(lambda a: square(a).sum())(a)
    np.testing.assert_allclose(np.array(slope), 2 * np.array(a))
    compiled = mx.compile(lambda a: square(a))(a)
    np.testing.assert_allclose(np.array(compiled), np.array(a) ** 2)
    shapes = []
    fast.kernel(lambda x: shapes.append(x.shape) or x)(a)
    assert shapes == [()]


def test_kernel_refuses():
    one, other = mx.ones(2), mx.ones(3)
    for call, error, message in (
        (lambda: fast.kernel(3), TypeError, "got int, expected a function"),
        (lambda: fast.kernel(lambda: 1)(), TypeError, "needs at least one array"),
        (lambda: fast.kernel(lambda x: x)(1.0), TypeError, "needs at least one array"),
        (lambda: fast.kernel(lambda x: 1.0)(one), ValueError, "the function's result: got float"),
        (lambda: fast.kernel(lambda x: x + one)(one), ValueError, "must return scalars, got shape"),
        (lambda: fast.kernel(lambda x, y: x)(one, other), ValueError, "cannot be broadcast"),
    ):
        with pytest.raises(error, match=rf"^\[kernel\] .*{message}"):
            call()


@pytest.mark.covers("fast.metal_kernel", "fast.cuda_kernel", "fast.precompiled_cuda_kernel")
def test_kernels_of_other_devices():
    names = {"name": "a", "input_names": ["x"], "output_names": ["y"], "source": "y = x;"}
    made = fast.metal_kernel(**names)
    where = {"grid": (1, 1, 1), "threadgroup": (1, 1, 1)}
    outputs = {"output_shapes": [(1,)], "output_dtypes": [mx.float32]}
    with pytest.raises(RuntimeError, match=r"^\[metal_kernel\] kernels in the Metal shading"):
        made(inputs=[mx.ones(1)], **where, **outputs)
    with pytest.raises(
        RuntimeError, match=r"^\[cuda_kernel\] kernels in CUDA cannot .* use umber.core.fast.kernel"
    ):
        fast.cuda_kernel(**names)
    with pytest.raises(RuntimeError, match=r"^\[precompiled_cuda_kernel\] kernels in CUDA cannot"):
        fast.precompiled_cuda_kernel(
            name="a", compiled_source=b"", inputs=[mx.ones(1)], scalars=[], **where, **outputs
        )


def test_functions_in_files(tmp_path, rng):
    q, k, v = (mx.array(rng.normal(size=(1, 2, 3, 4))) for _ in range(3))

    def layer(q, k, v):
        turned = fast.rope(q, 4, traditional=False, base=10.0, scale=1.0, offset=2)
        return attend(turned, k, v, mask="causal", sinks=mx.zeros(2))

    mx.export_function(str(tmp_path / "layer"), layer, q, k, v)
    (y,) = mx.import_function(str(tmp_path / "layer"))(q, k, v)
    np.testing.assert_allclose(np.array(y), np.array(layer(q, k, v)), rtol=1e-12)


def test_caches_are_written_in_place():
    """The pattern of decoding: keys and values of one more place, then attention to all so far."""
    keys, written = mx.zeros((1, 4, 4096, 64)) + 1, []
    mx.eval(keys)
    for place in range(3):
        key, query = mx.random.normal((1, 4, 1, 64)), mx.random.normal((1, 8, 1, 64))
        mx.eval(key, query)
        mx.reset_peak_memory()
        before = mx.get_active_memory()
        keys[..., place : place + 1, :] = key
        seen = keys[..., : place + 1, :]
        mx.eval(attend(query, seen, seen), keys)
        written.append(mx.get_peak_memory() - before)
        del seen
    assert max(written) < 2**18


def test_kernel_names_itself():
    double = fast.kernel(lambda x: x + x)
    with pytest.raises(TypeError, match=r"^\[kernel\] got str, expected an array or a number"):
        double("x")
    with pytest.raises(TypeError, match=r"^\[kernel\] x: arguments must be positional"):
        double(x=mx.ones(2))
    with pytest.raises(
        ValueError, match=r"this array has no value: it is traced by vmap or fast\.kernel"
    ):
        fast.kernel(lambda x: x if x > 0 else -x)(mx.ones(2))
