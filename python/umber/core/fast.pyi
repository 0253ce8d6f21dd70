# Generated from the extension module by tools/stubs.py; `make stubs` writes it again.

"""Operations that are one kernel."""
from collections.abc import Callable, Sequence
from typing import Any, Literal
from umber.core import _DType, _Operand, _StreamOrDevice, array


def cross_entropy(
    logits: _Operand,
    targets: _Operand,
    *,
    ignore_index: int | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Cross entropy: `log(sum(exp(logits - m))) + (m - logits[..., target])`, the sum and the maximum `m` along the last axis.

    `targets` are integers of the shape of `logits` without its last axis, the classes. The result has their shape and is float32,
    or float64 for float64; 16-bit logits compute in float32. Targets equal to `ignore_index` have the loss 0 and no gradient.
    Evaluation raises IndexError for all others outside of `[0, classes)`.
    """


def cuda_kernel(
    name: str,
    input_names: Sequence[str],
    output_names: Sequence[str],
    source: str,
    header: str = "",
    ensure_row_contiguous: bool = True,
    shared_memory: int = 0,
) -> Callable[..., Any]:
    """A kernel in CUDA's language: raises RuntimeError where there is no such device.

    `umber.core.fast.kernel` makes kernels of Python functions, for any device.
    """


def gated_delta_update(
    q: _Operand,
    k: _Operand,
    v: _Operand,
    gamma: _Operand,
    beta: _Operand,
    initial_state: _Operand | None = None,
    mask: _Operand | None = None,
    stream: _StreamOrDevice = None,
) -> list[array]:
    """The gated delta rule: a state `S` of each head taken through all steps by
    `S = gamma * S + beta * (v - gamma * S @ k) k.T`, with the answers `y = S @ q`.

    `q` and `k` are `(b, t, key heads, features)`, `v` is `(b, t, heads, values)`, `gamma` is `(b, t, heads)` or
    `(b, t, heads, features)`, `beta` is `(b, t, heads)`; the number of heads is a multiple of that of key heads. `initial_state`,
    zeros if there is none, is `(b, heads, values, features)`. Steps that `mask`, `(b, t)`, leaves out answer zeros and leave the
    state. The result is `[y, S]`: all answers, shaped like `v` in the promoted dtype of `q` and `k`, and the last state in float32,
    or float64 if there is one. S. Yang, J. Kautz and A. Hatamizadeh, Gated Delta Networks, 2024.
    """


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """A kernel made of a Python function of scalars: called with arrays, it gives what the function gives for every element.

    The arrays broadcast; numbers are handed on as they are. The function is followed once a call, on scalars without values, as
    `vmap` does, so it must choose by `where` rather than `if`; it returns one scalar array or several, nested as it likes. What it
    computes becomes one loop over the elements with vector instructions, and has derivatives.

    >>> import umber.core as mx
    >>> @mx.fast.kernel
    ... def leaky(x, slope):
    ...     return mx.where(x > 0, x, slope * x)
    >>> leaky(mx.array([-2.0, 3.0]), 0.5).tolist()
    [-1.0, 3.0]
    """


def layer_norm(
    x: _Operand,
    weight: _Operand | None,
    bias: _Operand | None,
    eps: float,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Layer normalisation: `(x - mean) / sqrt(var + eps) * weight + bias` along the last axis.

    `weight` and `bias`, if any, are as long as the last axis. The result has the shape of `x` and the promoted dtype;
    accumulates in float32 at least. J. L. Ba, J. R. Kiros and G. E. Hinton, Layer Normalization, 2016.
    """


def metal_kernel(
    name: str,
    input_names: Sequence[str],
    output_names: Sequence[str],
    source: str,
    header: str = "",
    ensure_row_contiguous: bool = True,
    atomic_outputs: bool = False,
    compile_options: Any = None,
) -> Callable[..., Any]:
    """A kernel in Metal's language, which a program may make anywhere but call on a device of Apple's only.

    A call raises RuntimeError here: `umber.core.fast.kernel` makes kernels of Python functions, for any device.
    """


def nll_loss(
    log_probs: _Operand,
    targets: _Operand,
    *,
    ignore_index: int | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Negative log-likelihood: `-log_probs[..., target]`, for log-probabilities of classes along the last axis.

    `targets` are integers of the shape of `log_probs` without its last axis, the classes. The result has their shape and the dtype
    of `log_probs`. Targets equal to `ignore_index` have the loss 0 and no gradient. Evaluation raises IndexError for all others
    outside of `[0, classes)`.
    """


def precompiled_cuda_kernel(
    *,
    name: str,
    compiled_source: bytes,
    inputs: Sequence[_Operand],
    output_shapes: Sequence[Sequence[int]],
    output_dtypes: Sequence[_DType],
    scalars: Sequence[bool | int | float],
    grid: tuple[int, int, int],
    threadgroup: tuple[int, int, int],
    shared_memory: int = 0,
    init_value: float | None = None,
    ensure_row_contiguous: bool = False,
    stream: _StreamOrDevice = None,
) -> list[array]:
    """Run a compiled CUDA kernel: raises RuntimeError where there is no such device.

    `umber.core.fast.kernel` makes kernels of Python functions, for any device.
    """


def rms_norm(
    x: _Operand,
    weight: _Operand | None,
    eps: float,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Root mean square normalisation: `x / sqrt(mean(x²) + eps) * weight` along the last axis.

    `weight`, if any, is as long as the last axis. The result has the shape of `x` and the promoted dtype; accumulates in
    float32 at least. B. Zhang and R. Sennrich, Root Mean Square Layer Normalization, 2019.
    """


def rope(
    a: _Operand,
    dims: int,
    *,
    traditional: bool,
    base: float | None,
    scale: float,
    offset: int | array,
    freqs: _Operand | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Rotary positions: the first `dims` features of `a` turned in pairs, by angles that grow with the position.

    Pair `i` of `a[..., t, :]` turns by `(t + offset) * scale * base**(-2 * i / dims)`, or by `(t + offset) * scale / freqs[i]`;
    either `base` or `freqs`, a vector of `dims / 2`, is None. A pair are neighbours if `traditional`, else features `dims / 2`
    apart. `offset` is an integer, or a vector of one for each entry of the first axis. The result has the shape and dtype of
    `a`; angles are computed in float64. J. Su et al., RoFormer, 2021.
    """


def scaled_dot_product_attention(
    q: _Operand,
    k: _Operand,
    v: _Operand,
    *,
    scale: float,
    mask: array | Literal['causal'] | None = None,
    sinks: _Operand | None = None,
    force_fused: bool = False,
    stream: _StreamOrDevice = None,
) -> array:
    """Attention: `softmax(scale * q @ k.T + mask) @ v` for every head, without a matrix of all scores.

    `q` is `(..., heads, queries, features)`, `k` is `(..., key heads, keys, features)` and `v` is `(..., key heads, keys, values)`; the
    number of heads is a multiple of that of key heads, which they share in order; axes before the heads broadcast. The result is
    `(..., heads, queries, values)` in the promoted dtype; the softmax is computed in float32 at least.

    `mask` broadcasts to `(..., heads, queries, keys)`: booleans, true where a query sees a key, or numbers that are added to the
    scores. `"causal"` shows all keys to the last query, all but the last to the one before, and so on.

    One rule holds for all masks. A key is hidden from a query where a boolean is false, where the causal order says so, and where
    the number added is negative infinity or the lowest of its dtype (`mx.finfo(mask.dtype).min`), or takes the score below the
    lowest number of the dtype that computes. Hidden keys have the weight 0. A query from which all keys are hidden gives the mean
    of all values, and no gradient to queries, keys and mask; with `sinks`, which then have all the weight, it gives zeros. No keys
    give zeros, and products `q @ k.T` that are all negative infinity NaN.

    `sinks`, one for each head, are scores that take part in the softmax and have no value. There is always a fused kernel, so
    `force_fused` changes nothing.

    A. Vaswani et al., Attention Is All You Need, 2017; T. Dao et al., FlashAttention, 2022.
    """
