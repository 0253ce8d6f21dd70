//! `umber.core.fast`: fused operations.
//!
//! One subject: one binding per fused operation; most lines are their documentation.

use pyo3::exceptions::{PyRuntimeError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString, PyTuple};
use umber_core::Array;
use umber_core::ops::fast;
use umber_core::types::Pairing;

use crate::args::{Operand, StreamArg, record_on};
use crate::dtype::DtypeArg;
use crate::new_array::NewArray;
use crate::transforms::kernel::kernel;

/// Root mean square normalisation along the last axis: ``x / sqrt(mean(x**2) + eps) * weight``.
///
/// Parameters
/// ----------
/// x : array_like
///     Real floating-point array of at least one axis.
/// weight : array_like or None
///     Factors, one per element of the last axis. None means 1.
/// eps : float
///     Added to the mean square.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Shape of `x`, promoted dtype of `x` and `weight`.
///
/// Raises
/// ------
/// TypeError
///     If the dtype is not real floating point.
/// ValueError
///     If `x` is 0-D or `weight` is not as long as the last axis.
///
/// See Also
/// --------
/// layer_norm
///
/// Notes
/// -----
/// Accumulates in float32 at least. B. Zhang and R. Sennrich, Root Mean Square Layer Normalization, 2019.
///
/// Examples
/// --------
/// >>> mx.fast.rms_norm(mx.array([2.0, -2.0]), mx.array([1.0, 3.0]), 0.0)
/// array([1, -3], dtype=float32)
#[pyfunction]
#[pyo3(signature = (x, weight, eps, *, stream = None))]
fn rms_norm(x: Operand, weight: Option<Operand>, eps: f64, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let (x, weight) = (x.into_array(), weight.map(Operand::into_array));
    record_on(stream, || fast::rms_norm(&x, weight.as_ref(), eps)).map(NewArray::from)
}

/// Layer normalisation along the last axis: ``(x - mean(x)) / sqrt(var(x) + eps) * weight + bias``.
///
/// Parameters
/// ----------
/// x : array_like
///     Real floating-point array of at least one axis.
/// weight : array_like or None
///     Factors, one per element of the last axis. None means 1.
/// bias : array_like or None
///     Offsets, one per element of the last axis. None means 0.
/// eps : float
///     Added to the variance.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Shape of `x`, promoted dtype of `x`, `weight` and `bias`.
///
/// Raises
/// ------
/// TypeError
///     If the dtype is not real floating point.
/// ValueError
///     If `x` is 0-D, or `weight` or `bias` is not as long as the last axis.
///
/// See Also
/// --------
/// rms_norm
///
/// Notes
/// -----
/// Accumulates in float32 at least. J. L. Ba, J. R. Kiros and G. E. Hinton, Layer Normalization, 2016.
///
/// Examples
/// --------
/// >>> mx.fast.layer_norm(mx.array([[-1.0, 1.0], [3.0, 7.0]]), None, mx.array([10.0, 20.0]), 0.0)
/// array([[9, 21],
///        [9, 21]], dtype=float32)
#[pyfunction]
#[pyo3(signature = (x, weight, bias, eps, *, stream = None))]
fn layer_norm(
    x: Operand,
    weight: Option<Operand>,
    bias: Option<Operand>,
    eps: f64,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let x = x.into_array();
    let [weight, bias]: [Option<Array>; 2] = [weight, bias].map(|argument| argument.map(Operand::into_array));
    record_on(stream, || fast::layer_norm(&x, weight.as_ref(), bias.as_ref(), eps)).map(NewArray::from)
}

/// Rotary position embedding: rotate pairs of features by angles proportional to the position.
///
/// Parameters
/// ----------
/// a : array_like
///     Real floating-point array of shape ``(..., positions, features)``.
/// dims : int
///     Number of features to rotate, an even number of at least 2. The other features stay.
/// traditional : bool
///     Pair neighbouring features, else features ``dims / 2`` apart.
/// base : float or None
///     Base of the angular frequencies: pair ``i`` rotates by ``base ** (-2 * i / dims)`` per position. Exactly one of `base`
///     and `freqs` must be given.
/// scale : float
///     Factor by which positions are multiplied.
/// offset : int or array_like of int
///     Position of the first element; an array has one for each entry of the first axis.
/// freqs : array_like, optional
///     Periods of the pairs, ``dims / 2`` real numbers, instead of powers of `base`. Default: None.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Shape and dtype of `a`.
///
/// Raises
/// ------
/// TypeError
///     If `a` is not real floating point, or `offset` is not an integer.
/// ValueError
///     If `dims` is odd or out of range, `a` has fewer than two axes, `freqs` or `offset` has another shape, or not exactly
///     one of `base` and `freqs` is given.
///
/// Notes
/// -----
/// Pair `i` at position `t` rotates by ``(t + offset) * scale * base**(-2 * i / dims)``, or by
/// ``(t + offset) * scale / freqs[i]``. Angles are computed in float64, the rotation in float32 at least. J. Su et al.,
/// RoFormer, 2021.
///
/// Examples
/// --------
/// >>> a = mx.array([[[1.0, 0.0], [1.0, 0.0]]])  # two positions
/// >>> mx.fast.rope(a, 2, traditional=True, base=10000.0, scale=1.0, offset=0)
/// array([[[1, 0],
///         [0.540302, 0.841471]]], dtype=float32)
#[pyfunction]
#[pyo3(signature = (a, dims, *, traditional, base, scale, offset, freqs = None, stream = None))]
fn rope(
    a: Operand,
    dims: i64,
    traditional: bool,
    base: Option<f64>,
    scale: f64,
    offset: Operand,
    freqs: Option<Operand>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (a, offset, freqs) = (a.into_array(), offset.into_array(), freqs.map(Operand::into_array));
    let frequencies = match (base, &freqs) {
        (Some(base), None) => fast::Frequencies::Powers(base),
        (None, Some(freqs)) => fast::Frequencies::Explicit(freqs),
        (base, _) => {
            let number = if base.is_some() { "both" } else { "neither" };
            return Err(PyValueError::new_err(format!(
                "[rope] got {number} of base and freqs, expected exactly one"
            )));
        }
    };
    let pairing = if traditional { Pairing::Neighbours } else { Pairing::Halves };
    let rotation = fast::Rotation { dims, pairing, frequencies, scale };
    record_on(stream, || fast::rope(&a, rotation, &offset)).map(NewArray::from)
}

/// The `mask` argument: a name or an array.
enum MaskArg {
    /// `"causal"`.
    Causal,
    /// An array.
    Array(Array),
}

impl<'a, 'py> FromPyObject<'a, 'py> for MaskArg {
    type Error = PyErr;

    fn extract(object: Borrowed<'a, 'py, PyAny>) -> PyResult<Self> {
        if let Ok(name) = object.cast::<PyString>() {
            return match name.to_str()? {
                "causal" => Ok(MaskArg::Causal),
                other => Err(PyValueError::new_err(format!(
                    "got {other:?}, expected \"causal\", an array or None"
                ))),
            };
        }
        match object.extract::<Operand>()? {
            Operand::Array(array) => Ok(MaskArg::Array(array)),
            Operand::Number(_) => {
                Err(PyTypeError::new_err("got a number, expected \"causal\", an array or None"))
            }
        }
    }
}

/// Scaled dot-product attention of every head: ``softmax(scale * q @ k.T + mask) @ v``.
///
/// Parameters
/// ----------
/// q : array_like
///     Queries of shape ``(..., heads, queries, features)``.
/// k : array_like
///     Keys of shape ``(..., key_heads, keys, features)``. `key_heads` divides `heads`; consecutive query heads share a
///     key head.
/// v : array_like
///     Values of shape ``(..., key_heads, keys, values)``.
/// scale : float
///     Factor of the scores, usually ``1 / sqrt(features)``.
/// mask : array_like or 'causal', optional
///     Broadcasts to ``(..., heads, queries, keys)``: bool, True where a query attends to a key, or numbers that are
///     added to the scores. 'causal' lets the last query attend to all keys, the one before to all but the last, and so
///     on. Default: no mask.
/// sinks : array_like, optional
///     One score per head that takes part in the softmax and has no value. Default: None.
/// force_fused : bool, optional
///     Ignored: the kernel is always fused. Default: False.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Shape ``(..., heads, queries, values)`` in the promoted dtype of `q`, `k` and `v`.
///
/// Raises
/// ------
/// ValueError
///     If the shapes do not match, an array has fewer than three axes, or the name of the mask is unknown.
/// TypeError
///     If `mask` is a number, or the dtype is not real floating point.
///
/// See Also
/// --------
/// softmax, nn.MultiHeadAttention
///
/// Notes
/// -----
/// The matrix of scores is not stored. The softmax is computed in float32 at least. Axes before the heads broadcast.
///
/// A key is hidden from a query where a bool mask is False, where the causal order says so, and where the added number
/// is negative infinity or the minimum of its dtype (``mx.finfo(mask.dtype).min``), or takes the score below the
/// minimum of the computing dtype. Hidden keys have weight 0. A query whose keys are all hidden returns the mean of all
/// values and passes no gradient to queries, keys and mask; with `sinks`, which then have all the weight, it returns
/// zeros. Without any keys the result is zero. If all products ``q @ k.T`` of a query are negative infinity, the result
/// is NaN.
///
/// A. Vaswani et al., Attention Is All You Need, 2017; T. Dao et al., FlashAttention, 2022.
///
/// Examples
/// --------
/// >>> q = k = mx.zeros((1, 1, 2, 1))
/// >>> v = mx.array([1.0, 3.0]).reshape(1, 1, 2, 1)
/// >>> mx.fast.scaled_dot_product_attention(q, k, v, scale=1.0, mask="causal").flatten()
/// array([1, 2], dtype=float32)
#[pyfunction]
#[pyo3(signature = (q, k, v, *, scale, mask = None, sinks = None, force_fused = false, stream = None))]
fn scaled_dot_product_attention(
    q: Operand,
    k: Operand,
    v: Operand,
    scale: f64,
    mask: Option<MaskArg>,
    sinks: Option<Operand>,
    force_fused: bool,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let _ = force_fused;
    let [q, k, v] = [q, k, v].map(Operand::into_array);
    let sinks = sinks.map(Operand::into_array);
    let mask = match &mask {
        None => fast::Mask::Nothing,
        Some(MaskArg::Causal) => fast::Mask::Causal,
        Some(MaskArg::Array(mask)) => fast::Mask::Array(mask),
    };
    let options = fast::Attend { scale, mask, sinks: sinks.as_ref() };
    record_on(stream, || fast::scaled_dot_product_attention(&q, &k, &v, options)).map(NewArray::from)
}

/// Cross entropy of logits and target classes: ``logsumexp(logits) - logits[..., target]``.
///
/// Parameters
/// ----------
/// logits : array_like
///     Real floating-point array of shape ``(..., classes)``.
/// targets : array_like of int
///     Classes, of the shape of `logits` without its last axis.
/// ignore_index : int, optional
///     Targets equal to it have loss 0 and no gradient. Default: None.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Shape of `targets`. float64 for float64 logits, else float32.
///
/// Raises
/// ------
/// TypeError
///     If `logits` is not real floating-point, or the targets are not integers.
/// ValueError
///     If the shapes do not match.
/// IndexError
///     When evaluated, if another target lies outside ``[0, classes)``.
///
/// See Also
/// --------
/// nll_loss, nn.losses.cross_entropy
///
/// Notes
/// -----
/// Computed as ``log(sum(exp(logits - m))) + (m - logits[..., target])`` with the maximum `m` along the last axis, so
/// large logits do not overflow. float16 and bfloat16 are computed in float32.
///
/// Examples
/// --------
/// >>> mx.fast.cross_entropy(mx.array([[0.0, 0.0], [0.0, 0.0]]), mx.array([1, -1]), ignore_index=-1)
/// array([0.693147, 0], dtype=float32)
#[pyfunction]
#[pyo3(signature = (logits, targets, *, ignore_index = None, stream = None))]
fn cross_entropy(
    logits: Operand,
    targets: Operand,
    ignore_index: Option<i64>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (logits, targets) = (logits.into_array(), targets.into_array());
    record_on(stream, || fast::cross_entropy(&logits, &targets, ignore_index)).map(NewArray::from)
}

/// Negative log-likelihood of target classes: ``-log_probs[..., target]``.
///
/// Parameters
/// ----------
/// log_probs : array_like
///     Log-probabilities of shape ``(..., classes)``.
/// targets : array_like of int
///     Classes, of the shape of `log_probs` without its last axis.
/// ignore_index : int, optional
///     Targets equal to it have loss 0 and no gradient. Default: None.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// array
///     Shape of `targets`, dtype of `log_probs`.
///
/// Raises
/// ------
/// TypeError
///     If `log_probs` is boolean, or the targets are not integers.
/// ValueError
///     If the shapes do not match.
/// IndexError
///     When evaluated, if another target lies outside ``[0, classes)``.
///
/// See Also
/// --------
/// cross_entropy, nn.losses.nll_loss
///
/// Examples
/// --------
/// >>> mx.fast.nll_loss(mx.array([[-1.0, -2.0], [-3.0, -4.0]]), mx.array([1, -100]), ignore_index=-100)
/// array([2, 0], dtype=float32)
#[pyfunction]
#[pyo3(signature = (log_probs, targets, *, ignore_index = None, stream = None))]
fn nll_loss(
    log_probs: Operand,
    targets: Operand,
    ignore_index: Option<i64>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (log_probs, targets) = (log_probs.into_array(), targets.into_array());
    record_on(stream, || fast::nll_loss(&log_probs, &targets, ignore_index)).map(NewArray::from)
}

/// Gated delta rule: update a state matrix of each head over `t` steps and read it with the queries.
///
/// Parameters
/// ----------
/// q, k : array_like
///     Queries and keys of shape ``(b, t, key_heads, features)``.
/// v : array_like
///     Values of shape ``(b, t, heads, values)``. `key_heads` divides `heads`.
/// gamma : array_like
///     Decay of the state, of shape ``(b, t, heads)`` or ``(b, t, heads, features)``.
/// beta : array_like
///     Learning rate, of shape ``(b, t, heads)``.
/// initial_state : array_like, optional
///     Shape ``(b, heads, values, features)``. Default: zeros.
/// mask : array_like of bool, optional
///     Shape ``(b, t)``. Steps where it is False return zeros and keep the state. Default: all steps.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// list of array
///     ``[y, S]``: the results `y`, of the shape of `v` in the promoted dtype of `q` and `k`, and the last state `S`,
///     of shape ``(b, heads, values, features)`` in float32, or float64 if any of `q`, `k`, `v`, `gamma` and `beta` is
///     float64.
///
/// Raises
/// ------
/// TypeError
///     If a dtype is complex.
/// ValueError
///     If the shapes do not match.
///
/// Notes
/// -----
/// Each step computes ``S = gamma * S + beta * outer(v - gamma * (S @ k), k)`` and returns ``y = S @ q``. S. Yang, J.
/// Kautz and A. Hatamizadeh, Gated Delta Networks, 2024.
///
/// Examples
/// --------
/// >>> x, gate = mx.ones((1, 2, 1, 1)), mx.ones((1, 2, 1))
/// >>> y, state = mx.fast.gated_delta_update(x, x, x, gate, gate)
/// >>> y.flatten(), state.flatten()
/// (array([1, 1], dtype=float32), array([1], dtype=float32))
#[pyfunction]
#[pyo3(signature = (q, k, v, gamma, beta, initial_state = None, mask = None, stream = None))]
fn gated_delta_update(
    q: Operand,
    k: Operand,
    v: Operand,
    gamma: Operand,
    beta: Operand,
    initial_state: Option<Operand>,
    mask: Option<Operand>,
    stream: Option<StreamArg>,
) -> PyResult<Vec<NewArray>> {
    let [q, k, v, gamma, beta] = &[q, k, v, gamma, beta].map(Operand::into_array);
    let [initial_state, mask] = &[initial_state, mask].map(|argument| argument.map(Operand::into_array));
    let (initial_state, mask) = (initial_state.as_ref(), mask.as_ref());
    let arguments = fast::GatedDeltaUpdate { q, k, v, gamma, beta, initial_state, mask };
    record_on(stream, || fast::gated_delta_update(arguments)).map(|arrays| arrays.map(NewArray::from).into())
}

/// The error for a kernel in the language of an unsupported device.
fn no_device(op: &str, language: &str) -> PyErr {
    PyRuntimeError::new_err(format!(
        "[{op}] kernels in {language} cannot run on the CPU; use umber.core.fast.kernel with a Python function, \
         or plain operations"
    ))
}

/// A kernel in the Metal shading language, which raises RuntimeError when it is called.
#[pyclass(name = "MetalKernel", module = "umber.core.fast", frozen)]
struct MetalKernel {
    name: String,
}

#[pymethods]
impl MetalKernel {
    #[pyo3(signature = (*_args, **_kwargs))]
    fn __call__(&self, _args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        Err(no_device("metal_kernel", "the Metal shading language"))
    }

    fn __repr__(&self) -> String {
        format!("<metal_kernel {}>", self.name)
    }
}

/// Define a kernel in the Metal shading language, which only a Metal device can call.
///
/// Parameters
/// ----------
/// name : str
///     Name of the kernel.
/// input_names, output_names : sequence of str
///     Names of the inputs and outputs.
/// source : str
///     Source code of the body.
/// header : str, optional
///     Source code in front of the kernel. Default: ''.
/// ensure_row_contiguous : bool, optional
///     Copy inputs that are not row-contiguous. Default: True.
/// atomic_outputs : bool, optional
///     Make the outputs atomic. Default: False.
/// compile_options : object, optional
///     Options of the compiler. Default: None.
///
/// Returns
/// -------
/// MetalKernel
///     An object that raises RuntimeError when it is called.
///
/// See Also
/// --------
/// kernel
///
/// Notes
/// -----
/// umber has no Metal device, so programs that only define such kernels can be imported. `kernel` compiles a Python
/// function for any device.
///
/// Examples
/// --------
/// >>> mx.fast.metal_kernel("exp", ("x",), ("out",), "")
/// <metal_kernel exp>
#[pyfunction]
#[pyo3(signature = (
    name, input_names, output_names, source, header = String::new(), ensure_row_contiguous = true,
    atomic_outputs = false, compile_options = None,
), text_signature = "(name, input_names, output_names, source, header='', ensure_row_contiguous=True, \
                     atomic_outputs=False, compile_options=None)")]
fn metal_kernel(
    name: String,
    input_names: Vec<String>,
    output_names: Vec<String>,
    source: String,
    header: String,
    ensure_row_contiguous: bool,
    atomic_outputs: bool,
    compile_options: Option<Bound<'_, PyAny>>,
) -> MetalKernel {
    let _ =
        (input_names, output_names, source, header, ensure_row_contiguous, atomic_outputs, compile_options);
    MetalKernel { name }
}

/// Define a kernel in CUDA C++, which umber does not support.
///
/// Parameters
/// ----------
/// name : str
///     Name of the kernel.
/// input_names, output_names : sequence of str
///     Names of the inputs and outputs.
/// source : str
///     Source code of the body.
/// header : str, optional
///     Source code in front of the kernel. Default: ''.
/// ensure_row_contiguous : bool, optional
///     Copy inputs that are not row-contiguous. Default: True.
/// shared_memory : int, optional
///     Bytes of dynamic shared memory. Default: 0.
///
/// Returns
/// -------
/// None
///     Never: the call raises.
///
/// Raises
/// ------
/// RuntimeError
///     Always: umber cannot run CUDA source.
///
/// See Also
/// --------
/// kernel
///
/// Notes
/// -----
/// `kernel` compiles a Python function for any device.
///
/// Examples
/// --------
/// >>> mx.fast.cuda_kernel("exp", ("x",), ("out",), "")
/// Traceback (most recent call last):
///     ...
/// RuntimeError: [cuda_kernel] ...
#[pyfunction]
#[pyo3(signature = (
    name, input_names, output_names, source, header = String::new(), ensure_row_contiguous = true, shared_memory = 0,
), text_signature = "(name, input_names, output_names, source, header='', ensure_row_contiguous=True, shared_memory=0)")]
fn cuda_kernel(
    name: String,
    input_names: Vec<String>,
    output_names: Vec<String>,
    source: String,
    header: String,
    ensure_row_contiguous: bool,
    shared_memory: i64,
) -> PyResult<Py<PyAny>> {
    let _ = (name, input_names, output_names, source, header, ensure_row_contiguous, shared_memory);
    Err(no_device("cuda_kernel", "CUDA"))
}

/// Run a compiled CUDA kernel, which umber does not support.
///
/// Parameters
/// ----------
/// name : str
///     Name of the kernel.
/// compiled_source : bytes
///     PTX or cubin of the kernel.
/// inputs : list of array_like
///     Inputs of the kernel.
/// output_shapes : list of sequence of int
///     Shapes of the outputs.
/// output_dtypes : list of Dtype
///     Dtypes of the outputs.
/// scalars : list
///     Scalar arguments of the kernel.
/// grid, threadgroup : tuple of int
///     Three numbers each: threads in all, and threads in a block.
/// shared_memory : int, optional
///     Bytes of dynamic shared memory. Default: 0.
/// init_value : float, optional
///     Initial value of the outputs. Default: None.
/// ensure_row_contiguous : bool, optional
///     Copy inputs that are not row-contiguous. Default: False.
/// stream : Stream or Device, optional
///     Where the operation runs. Default: the default stream of the default device.
///
/// Returns
/// -------
/// None
///     Never: the call raises.
///
/// Raises
/// ------
/// RuntimeError
///     Always: umber cannot run CUDA source.
///
/// See Also
/// --------
/// kernel
///
/// Notes
/// -----
/// `kernel` compiles a Python function for any device.
///
/// Examples
/// --------
/// >>> mx.fast.precompiled_cuda_kernel(name="exp", compiled_source=b"", inputs=[mx.ones(2)], output_shapes=[(2,)],
/// ...     output_dtypes=[mx.float32], scalars=[], grid=(2, 1, 1), threadgroup=(2, 1, 1))
/// Traceback (most recent call last):
///     ...
/// RuntimeError: [precompiled_cuda_kernel] ...
#[pyfunction]
#[pyo3(signature = (
    *, name, compiled_source, inputs, output_shapes, output_dtypes, scalars, grid, threadgroup, shared_memory = 0,
    init_value = None, ensure_row_contiguous = false, stream = None,
))]
#[expect(clippy::too_many_arguments, reason = "the parameters of the public function")]
fn precompiled_cuda_kernel(
    name: String,
    compiled_source: Vec<u8>,
    inputs: Vec<Operand>,
    output_shapes: Vec<Vec<i64>>,
    output_dtypes: Vec<DtypeArg>,
    scalars: Vec<Bound<'_, PyAny>>,
    grid: [i64; 3],
    threadgroup: [i64; 3],
    shared_memory: i64,
    init_value: Option<f64>,
    ensure_row_contiguous: bool,
    stream: Option<StreamArg>,
) -> PyResult<Vec<NewArray>> {
    let _ = (name, compiled_source, inputs, output_shapes, output_dtypes, scalars, grid, threadgroup);
    let _ = (shared_memory, init_value, ensure_row_contiguous, stream);
    Err(no_device("precompiled_cuda_kernel", "CUDA"))
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let fast = PyModule::new(py, "fast")?;
    fast.setattr("__name__", "umber.core.fast")?;
    fast.setattr("__doc__", "Operations that are one kernel.")?;
    fast.add_function(wrap_pyfunction!(rms_norm, &fast)?)?;
    fast.add_function(wrap_pyfunction!(layer_norm, &fast)?)?;
    fast.add_function(wrap_pyfunction!(rope, &fast)?)?;
    fast.add_function(wrap_pyfunction!(scaled_dot_product_attention, &fast)?)?;
    fast.add_function(wrap_pyfunction!(cross_entropy, &fast)?)?;
    fast.add_function(wrap_pyfunction!(nll_loss, &fast)?)?;
    fast.add_function(wrap_pyfunction!(gated_delta_update, &fast)?)?;
    fast.add_function(wrap_pyfunction!(kernel, &fast)?)?;
    fast.add_function(wrap_pyfunction!(metal_kernel, &fast)?)?;
    fast.add_function(wrap_pyfunction!(cuda_kernel, &fast)?)?;
    fast.add_function(wrap_pyfunction!(precompiled_cuda_kernel, &fast)?)?;
    module.add("fast", &fast)?;
    py.import("sys")?.getattr("modules")?.set_item("umber.core.fast", fast)
}
