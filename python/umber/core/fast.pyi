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
    """Cross entropy of logits and target classes: ``logsumexp(logits) - logits[..., target]``.

    Parameters
    ----------
    logits : array_like
        Real floating-point array of shape ``(..., classes)``.
    targets : array_like of int
        Classes, of the shape of `logits` without its last axis.
    ignore_index : int, optional
        Targets equal to it have loss 0 and no gradient. Default: None.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape of `targets`. float64 for float64 logits, else float32.

    Raises
    ------
    TypeError
        If `logits` is not real floating-point, or the targets are not integers.
    ValueError
        If the shapes do not match.
    IndexError
        When evaluated, if another target lies outside ``[0, classes)``.

    See Also
    --------
    nll_loss, nn.losses.cross_entropy

    Notes
    -----
    Computed as ``log(sum(exp(logits - m))) + (m - logits[..., target])`` with the maximum `m` along the last axis, so
    large logits do not overflow. float16 and bfloat16 are computed in float32.

    Examples
    --------
    >>> mx.fast.cross_entropy(mx.array([[0.0, 0.0], [0.0, 0.0]]), mx.array([1, -1]), ignore_index=-1)
    array([0.693147, 0], dtype=float32)
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
    """Define a kernel in CUDA C++, which umber does not support.

    Parameters
    ----------
    name : str
        Name of the kernel.
    input_names, output_names : sequence of str
        Names of the inputs and outputs.
    source : str
        Source code of the body.
    header : str, optional
        Source code in front of the kernel. Default: ''.
    ensure_row_contiguous : bool, optional
        Copy inputs that are not row-contiguous. Default: True.
    shared_memory : int, optional
        Bytes of dynamic shared memory. Default: 0.

    Returns
    -------
    None
        Never: the call raises.

    Raises
    ------
    RuntimeError
        Always: umber cannot run CUDA source.

    See Also
    --------
    kernel

    Notes
    -----
    `kernel` compiles a Python function for any device.

    Examples
    --------
    >>> mx.fast.cuda_kernel("exp", ("x",), ("out",), "")
    Traceback (most recent call last):
        ...
    RuntimeError: [cuda_kernel] ...
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
    """Gated delta rule: update a state matrix of each head over `t` steps and read it with the queries.

    Parameters
    ----------
    q, k : array_like
        Queries and keys of shape ``(b, t, key_heads, features)``.
    v : array_like
        Values of shape ``(b, t, heads, values)``. `key_heads` divides `heads`.
    gamma : array_like
        Decay of the state, of shape ``(b, t, heads)`` or ``(b, t, heads, features)``.
    beta : array_like
        Learning rate, of shape ``(b, t, heads)``.
    initial_state : array_like, optional
        Shape ``(b, heads, values, features)``. Default: zeros.
    mask : array_like of bool, optional
        Shape ``(b, t)``. Steps where it is False return zeros and keep the state. Default: all steps.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    list of array
        ``[y, S]``: the results `y`, of the shape of `v` in the promoted dtype of `q` and `k`, and the last state `S`,
        of shape ``(b, heads, values, features)`` in float32, or float64 if any of `q`, `k`, `v`, `gamma` and `beta` is
        float64.

    Raises
    ------
    TypeError
        If a dtype is complex.
    ValueError
        If the shapes do not match.

    Notes
    -----
    Each step computes ``S = gamma * S + beta * outer(v - gamma * (S @ k), k)`` and returns ``y = S @ q``. S. Yang, J.
    Kautz and A. Hatamizadeh, Gated Delta Networks, 2024.

    Examples
    --------
    >>> x, gate = mx.ones((1, 2, 1, 1)), mx.ones((1, 2, 1))
    >>> y, state = mx.fast.gated_delta_update(x, x, x, gate, gate)
    >>> y.flatten(), state.flatten()
    (array([1, 1], dtype=float32), array([1], dtype=float32))
    """


def kernel(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return an elementwise function of arrays made from a function of scalars.

    Parameters
    ----------
    function : callable
        Function of scalars: takes scalar arrays and numbers, and returns a scalar array, or a pytree (nested lists, tuples
        and dicts) of them.

    Returns
    -------
    callable
        Takes arrays of broadcastable shapes and numbers, by position, and returns what `function` returns for every element.

    Raises
    ------
    TypeError
        If `function` is not callable; from the returned function, if no argument is an array or one is passed by name.
    ValueError
        From the returned function: if the shapes cannot be broadcast, if `function` does not return scalar arrays, or if it
        reads the value of an argument.

    See Also
    --------
    umber.core.vmap, umber.core.compile

    Notes
    -----
    `function` is traced once per call, on scalars without values, so it must select with `where` instead of ``if``. Its
    operations are fused into one vectorised loop over the elements. Gradients and other transforms work.

    Examples
    --------
    >>> @mx.fast.kernel
    ... def leaky(x, slope):
    ...     return mx.where(x > 0, x, slope * x)
    >>> leaky(mx.array([-2.0, 3.0]), 0.5)
    array([-1, 3], dtype=float32)
    """


def layer_norm(
    x: _Operand,
    weight: _Operand | None,
    bias: _Operand | None,
    eps: float,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Layer normalisation along the last axis: ``(x - mean(x)) / sqrt(var(x) + eps) * weight + bias``.

    Parameters
    ----------
    x : array_like
        Real floating-point array of at least one axis.
    weight : array_like or None
        Factors, one per element of the last axis. None means 1.
    bias : array_like or None
        Offsets, one per element of the last axis. None means 0.
    eps : float
        Added to the variance.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape of `x`, promoted dtype of `x`, `weight` and `bias`.

    Raises
    ------
    TypeError
        If the dtype is not real floating point.
    ValueError
        If `x` is 0-D, or `weight` or `bias` is not as long as the last axis.

    See Also
    --------
    rms_norm

    Notes
    -----
    Accumulates in float32 at least. J. L. Ba, J. R. Kiros and G. E. Hinton, Layer Normalization, 2016.

    Examples
    --------
    >>> mx.fast.layer_norm(mx.array([[-1.0, 1.0], [3.0, 7.0]]), None, mx.array([10.0, 20.0]), 0.0)
    array([[9, 21],
           [9, 21]], dtype=float32)
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
    """Define a kernel in the Metal shading language, which only a Metal device can call.

    Parameters
    ----------
    name : str
        Name of the kernel.
    input_names, output_names : sequence of str
        Names of the inputs and outputs.
    source : str
        Source code of the body.
    header : str, optional
        Source code in front of the kernel. Default: ''.
    ensure_row_contiguous : bool, optional
        Copy inputs that are not row-contiguous. Default: True.
    atomic_outputs : bool, optional
        Make the outputs atomic. Default: False.
    compile_options : object, optional
        Options of the compiler. Default: None.

    Returns
    -------
    MetalKernel
        An object that raises RuntimeError when it is called.

    See Also
    --------
    kernel

    Notes
    -----
    umber has no Metal device, so programs that only define such kernels can be imported. `kernel` compiles a Python
    function for any device.

    Examples
    --------
    >>> mx.fast.metal_kernel("exp", ("x",), ("out",), "")
    <metal_kernel exp>
    """


def nll_loss(
    log_probs: _Operand,
    targets: _Operand,
    *,
    ignore_index: int | None = None,
    stream: _StreamOrDevice = None,
) -> array:
    """Negative log-likelihood of target classes: ``-log_probs[..., target]``.

    Parameters
    ----------
    log_probs : array_like
        Log-probabilities of shape ``(..., classes)``.
    targets : array_like of int
        Classes, of the shape of `log_probs` without its last axis.
    ignore_index : int, optional
        Targets equal to it have loss 0 and no gradient. Default: None.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape of `targets`, dtype of `log_probs`.

    Raises
    ------
    TypeError
        If `log_probs` is boolean, or the targets are not integers.
    ValueError
        If the shapes do not match.
    IndexError
        When evaluated, if another target lies outside ``[0, classes)``.

    See Also
    --------
    cross_entropy, nn.losses.nll_loss

    Examples
    --------
    >>> mx.fast.nll_loss(mx.array([[-1.0, -2.0], [-3.0, -4.0]]), mx.array([1, -100]), ignore_index=-100)
    array([2, 0], dtype=float32)
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
    """Run a compiled CUDA kernel, which umber does not support.

    Parameters
    ----------
    name : str
        Name of the kernel.
    compiled_source : bytes
        PTX or cubin of the kernel.
    inputs : list of array_like
        Inputs of the kernel.
    output_shapes : list of sequence of int
        Shapes of the outputs.
    output_dtypes : list of Dtype
        Dtypes of the outputs.
    scalars : list
        Scalar arguments of the kernel.
    grid, threadgroup : tuple of int
        Three numbers each: threads in all, and threads in a block.
    shared_memory : int, optional
        Bytes of dynamic shared memory. Default: 0.
    init_value : float, optional
        Initial value of the outputs. Default: None.
    ensure_row_contiguous : bool, optional
        Copy inputs that are not row-contiguous. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    None
        Never: the call raises.

    Raises
    ------
    RuntimeError
        Always: umber cannot run CUDA source.

    See Also
    --------
    kernel

    Notes
    -----
    `kernel` compiles a Python function for any device.

    Examples
    --------
    >>> mx.fast.precompiled_cuda_kernel(name="exp", compiled_source=b"", inputs=[mx.ones(2)], output_shapes=[(2,)],
    ...     output_dtypes=[mx.float32], scalars=[], grid=(2, 1, 1), threadgroup=(2, 1, 1))
    Traceback (most recent call last):
        ...
    RuntimeError: [precompiled_cuda_kernel] ...
    """


def rms_norm(
    x: _Operand,
    weight: _Operand | None,
    eps: float,
    *,
    stream: _StreamOrDevice = None,
) -> array:
    """Root mean square normalisation along the last axis: ``x / sqrt(mean(x**2) + eps) * weight``.

    Parameters
    ----------
    x : array_like
        Real floating-point array of at least one axis.
    weight : array_like or None
        Factors, one per element of the last axis. None means 1.
    eps : float
        Added to the mean square.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape of `x`, promoted dtype of `x` and `weight`.

    Raises
    ------
    TypeError
        If the dtype is not real floating point.
    ValueError
        If `x` is 0-D or `weight` is not as long as the last axis.

    See Also
    --------
    layer_norm

    Notes
    -----
    Accumulates in float32 at least. B. Zhang and R. Sennrich, Root Mean Square Layer Normalization, 2019.

    Examples
    --------
    >>> mx.fast.rms_norm(mx.array([2.0, -2.0]), mx.array([1.0, 3.0]), 0.0)
    array([1, -3], dtype=float32)
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
    """Rotary position embedding: rotate pairs of features by angles proportional to the position.

    Parameters
    ----------
    a : array_like
        Real floating-point array of shape ``(..., positions, features)``.
    dims : int
        Number of features to rotate, an even number of at least 2. The other features stay.
    traditional : bool
        Pair neighbouring features, else features ``dims / 2`` apart.
    base : float or None
        Base of the angular frequencies: pair ``i`` rotates by ``base ** (-2 * i / dims)`` per position. Exactly one of `base`
        and `freqs` must be given.
    scale : float
        Factor by which positions are multiplied.
    offset : int or array_like of int
        Position of the first element; an array has one for each entry of the first axis.
    freqs : array_like, optional
        Periods of the pairs, ``dims / 2`` real numbers, instead of powers of `base`. Default: None.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape and dtype of `a`.

    Raises
    ------
    TypeError
        If `a` is not real floating point, or `offset` is not an integer.
    ValueError
        If `dims` is odd or out of range, `a` has fewer than two axes, `freqs` or `offset` has another shape, or not exactly
        one of `base` and `freqs` is given.

    Notes
    -----
    Pair `i` at position `t` rotates by ``(t + offset) * scale * base**(-2 * i / dims)``, or by
    ``(t + offset) * scale / freqs[i]``. Angles are computed in float64, the rotation in float32 at least. J. Su et al.,
    RoFormer, 2021.

    Examples
    --------
    >>> a = mx.array([[[1.0, 0.0], [1.0, 0.0]]])  # two positions
    >>> mx.fast.rope(a, 2, traditional=True, base=10000.0, scale=1.0, offset=0)
    array([[[1, 0],
            [0.540302, 0.841471]]], dtype=float32)
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
    """Scaled dot-product attention of every head: ``softmax(scale * q @ k.T + mask) @ v``.

    Parameters
    ----------
    q : array_like
        Queries of shape ``(..., heads, queries, features)``.
    k : array_like
        Keys of shape ``(..., key_heads, keys, features)``. `key_heads` divides `heads`; consecutive query heads share a
        key head.
    v : array_like
        Values of shape ``(..., key_heads, keys, values)``.
    scale : float
        Factor of the scores, usually ``1 / sqrt(features)``.
    mask : array_like or 'causal', optional
        Broadcasts to ``(..., heads, queries, keys)``: bool, True where a query attends to a key, or numbers that are
        added to the scores. 'causal' lets the last query attend to all keys, the one before to all but the last, and so
        on. Default: no mask.
    sinks : array_like, optional
        One score per head that takes part in the softmax and has no value. Default: None.
    force_fused : bool, optional
        Ignored: the kernel is always fused. Default: False.
    stream : Stream or Device, optional
        Where the operation runs. Default: the default stream of the default device.

    Returns
    -------
    array
        Shape ``(..., heads, queries, values)`` in the promoted dtype of `q`, `k` and `v`.

    Raises
    ------
    ValueError
        If the shapes do not match, an array has fewer than three axes, or the name of the mask is unknown.
    TypeError
        If `mask` is a number, or the dtype is not real floating point.

    See Also
    --------
    softmax, nn.MultiHeadAttention

    Notes
    -----
    The matrix of scores is not stored. The softmax is computed in float32 at least. Axes before the heads broadcast.

    A key is hidden from a query where a bool mask is False, where the causal order says so, and where the added number
    is negative infinity or the minimum of its dtype (``mx.finfo(mask.dtype).min``), or takes the score below the
    minimum of the computing dtype. Hidden keys have weight 0. A query whose keys are all hidden returns the mean of all
    values and passes no gradient to queries, keys and mask; with `sinks`, which then have all the weight, it returns
    zeros. Without any keys the result is zero. If all products ``q @ k.T`` of a query are negative infinity, the result
    is NaN.

    A. Vaswani et al., Attention Is All You Need, 2017; T. Dao et al., FlashAttention, 2022.

    Examples
    --------
    >>> q = k = mx.zeros((1, 1, 2, 1))
    >>> v = mx.array([1.0, 3.0]).reshape(1, 1, 2, 1)
    >>> mx.fast.scaled_dot_product_attention(q, k, v, scale=1.0, mask="causal").flatten()
    array([1, 2], dtype=float32)
    """
