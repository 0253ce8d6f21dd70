//! `umber.core.fast`: operations that are one kernel.

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

/// Root mean square normalisation: `x / sqrt(mean(x²) + eps) * weight` along the last axis.
///
/// `weight`, if any, is as long as the last axis. The result has the shape of `x` and the promoted dtype; accumulates in
/// float32 at least. B. Zhang and R. Sennrich, Root Mean Square Layer Normalization, 2019.
#[pyfunction]
#[pyo3(signature = (x, weight, eps, *, stream = None))]
fn rms_norm(x: Operand, weight: Option<Operand>, eps: f64, stream: Option<StreamArg>) -> PyResult<NewArray> {
    let (x, weight) = (x.alone(), weight.map(Operand::alone));
    record_on(stream, || fast::rms_norm(&x, weight.as_ref(), eps)).map(NewArray::from)
}

/// Layer normalisation: `(x - mean) / sqrt(var + eps) * weight + bias` along the last axis.
///
/// `weight` and `bias`, if any, are as long as the last axis. The result has the shape of `x` and the promoted dtype;
/// accumulates in float32 at least. J. L. Ba, J. R. Kiros and G. E. Hinton, Layer Normalization, 2016.
#[pyfunction]
#[pyo3(signature = (x, weight, bias, eps, *, stream = None))]
fn layer_norm(
    x: Operand,
    weight: Option<Operand>,
    bias: Option<Operand>,
    eps: f64,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let x = x.alone();
    let [weight, bias]: [Option<Array>; 2] = [weight, bias].map(|given| given.map(Operand::alone));
    record_on(stream, || fast::layer_norm(&x, weight.as_ref(), bias.as_ref(), eps)).map(NewArray::from)
}

/// Rotary positions: the first `dims` features of `a` turned in pairs, by angles that grow with the position.
///
/// Pair `i` of `a[..., t, :]` turns by `(t + offset) * scale * base**(-2 * i / dims)`, or by `(t + offset) * scale / freqs[i]`;
/// either `base` or `freqs`, a vector of `dims / 2`, is None. A pair are neighbours if `traditional`, else features `dims / 2`
/// apart. `offset` is an integer, or a vector of one for each entry of the first axis. The result has the shape and dtype of
/// `a`; angles are computed in float64. J. Su et al., RoFormer, 2021.
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
    let (a, offset, freqs) = (a.alone(), offset.alone(), freqs.map(Operand::alone));
    let frequencies = match (base, &freqs) {
        (Some(base), None) => fast::Frequencies::Powers(base),
        (None, Some(freqs)) => fast::Frequencies::Explicit(freqs),
        (base, _) => {
            let given = if base.is_some() { "both" } else { "neither" };
            return Err(PyValueError::new_err(format!(
                "[rope] got {given} of base and freqs, expected exactly one"
            )));
        }
    };
    let pairing = if traditional { Pairing::Neighbours } else { Pairing::Halves };
    let rotation = fast::Rotation { dims, pairing, frequencies, scale };
    record_on(stream, || fast::rope(&a, rotation, &offset)).map(NewArray::from)
}

/// A mask as it is given: a name, or an array.
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
                    "got the mask {other:?}, expected \"causal\", an array or None"
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

/// Attention: `softmax(scale * q @ k.T + mask) @ v` for every head, without a matrix of all scores.
///
/// `q` is `(..., heads, queries, features)`, `k` is `(..., key heads, keys, features)` and `v` is `(..., key heads, keys, values)`; the
/// number of heads is a multiple of that of key heads, which they share in order; axes before the heads broadcast. The result is
/// `(..., heads, queries, values)` in the promoted dtype; the softmax is computed in float32 at least.
///
/// `mask` broadcasts to `(..., heads, queries, keys)`: booleans, true where a query sees a key, or numbers that are added to the
/// scores. `"causal"` shows all keys to the last query, all but the last to the one before, and so on.
///
/// One rule holds for all masks. A key is hidden from a query where a boolean is false, where the causal order says so, and where
/// the number added is negative infinity or the lowest of its dtype (`mx.finfo(mask.dtype).min`), or takes the score below the
/// lowest number of the dtype that computes. Hidden keys have the weight 0. A query from which all keys are hidden gives the mean
/// of all values, and no gradient to queries, keys and mask; with `sinks`, which then have all the weight, it gives zeros. No keys
/// give zeros, and products `q @ k.T` that are all negative infinity NaN.
///
/// `sinks`, one for each head, are scores that take part in the softmax and have no value. There is always a fused kernel, so
/// `force_fused` changes nothing.
///
/// A. Vaswani et al., Attention Is All You Need, 2017; T. Dao et al., FlashAttention, 2022.
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
    let [q, k, v] = [q, k, v].map(Operand::alone);
    let sinks = sinks.map(Operand::alone);
    let mask = match &mask {
        None => fast::Mask::Nothing,
        Some(MaskArg::Causal) => fast::Mask::Causal,
        Some(MaskArg::Array(mask)) => fast::Mask::Array(mask),
    };
    let how = fast::Attend { scale, mask, sinks: sinks.as_ref() };
    record_on(stream, || fast::scaled_dot_product_attention(&q, &k, &v, how)).map(NewArray::from)
}

/// Cross entropy: `log(sum(exp(logits - m))) + (m - logits[..., target])`, the sum and the maximum `m` along the last axis.
///
/// `targets` are integers of the shape of `logits` without its last axis, the classes. The result has their shape and is float32,
/// or float64 for float64; 16-bit logits compute in float32. Targets equal to `ignore_index` have the loss 0 and no gradient.
/// Evaluation raises IndexError for all others outside of `[0, classes)`.
#[pyfunction]
#[pyo3(signature = (logits, targets, *, ignore_index = None, stream = None))]
fn cross_entropy(
    logits: Operand,
    targets: Operand,
    ignore_index: Option<i64>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (logits, targets) = (logits.alone(), targets.alone());
    record_on(stream, || fast::cross_entropy(&logits, &targets, ignore_index)).map(NewArray::from)
}

/// Negative log-likelihood: `-log_probs[..., target]`, for log-probabilities of classes along the last axis.
///
/// `targets` are integers of the shape of `log_probs` without its last axis, the classes. The result has their shape and the dtype
/// of `log_probs`. Targets equal to `ignore_index` have the loss 0 and no gradient. Evaluation raises IndexError for all others
/// outside of `[0, classes)`.
#[pyfunction]
#[pyo3(signature = (log_probs, targets, *, ignore_index = None, stream = None))]
fn nll_loss(
    log_probs: Operand,
    targets: Operand,
    ignore_index: Option<i64>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let (log_probs, targets) = (log_probs.alone(), targets.alone());
    record_on(stream, || fast::nll_loss(&log_probs, &targets, ignore_index)).map(NewArray::from)
}

/// The gated delta rule: a state `S` of each head taken through all steps by
/// `S = gamma * S + beta * (v - gamma * S @ k) k.T`, with the answers `y = S @ q`.
///
/// `q` and `k` are `(b, t, key heads, features)`, `v` is `(b, t, heads, values)`, `gamma` is `(b, t, heads)` or
/// `(b, t, heads, features)`, `beta` is `(b, t, heads)`; the number of heads is a multiple of that of key heads. `initial_state`,
/// zeros if there is none, is `(b, heads, values, features)`. Steps that `mask`, `(b, t)`, leaves out answer zeros and leave the
/// state. The result is `[y, S]`: all answers, shaped like `v` in the promoted dtype of `q` and `k`, and the last state in float32,
/// or float64 if there is one. S. Yang, J. Kautz and A. Hatamizadeh, Gated Delta Networks, 2024.
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
    let [q, k, v, gamma, beta] = &[q, k, v, gamma, beta].map(Operand::alone);
    let [initial_state, mask] = &[initial_state, mask].map(|given| given.map(Operand::alone));
    let (initial_state, mask) = (initial_state.as_ref(), mask.as_ref());
    let given = fast::GatedDeltaUpdate { q, k, v, gamma, beta, initial_state, mask };
    record_on(stream, || fast::gated_delta_update(given)).map(|arrays| arrays.map(NewArray::from).into())
}

/// What is said to somebody who wants to run a kernel in a device's language.
fn no_device(op: &str, language: &str) -> PyErr {
    PyRuntimeError::new_err(format!(
        "[{op}] {language} kernels cannot run on a CPU; use umber.core.fast.kernel with a Python function, \
         or plain operations"
    ))
}

/// A kernel in Metal's language: it cannot be called on a CPU.
#[pyclass(name = "MetalKernel", module = "umber.core.fast", frozen)]
struct MetalKernel {
    name: String,
}

#[pymethods]
impl MetalKernel {
    #[pyo3(signature = (*_args, **_kwargs))]
    fn __call__(&self, _args: &Bound<'_, PyTuple>, _kwargs: Option<&Bound<'_, PyDict>>) -> PyResult<()> {
        Err(no_device("metal_kernel", "Metal's language"))
    }

    fn __repr__(&self) -> String {
        format!("<metal_kernel {}>", self.name)
    }
}

/// A kernel in Metal's language, which a program may make anywhere but call on a device of Apple's only.
///
/// A call raises RuntimeError here: `umber.core.fast.kernel` makes kernels of Python functions, for any device.
#[pyfunction]
#[pyo3(signature = (
    name, input_names, output_names, source, header = String::new(), ensure_row_contiguous = true,
    atomic_outputs = false, compile_options = None,
), text_signature = "(name, input_names, output_names, source, header='', ensure_row_contiguous=True, atomic_outputs=False, compile_options=None)")]
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

/// A kernel in CUDA's language: raises RuntimeError where there is no such device.
///
/// `umber.core.fast.kernel` makes kernels of Python functions, for any device.
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
    Err(no_device("cuda_kernel", "CUDA's language"))
}

/// Run a compiled CUDA kernel: raises RuntimeError where there is no such device.
///
/// `umber.core.fast.kernel` makes kernels of Python functions, for any device.
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
    Err(no_device("precompiled_cuda_kernel", "CUDA's language"))
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
