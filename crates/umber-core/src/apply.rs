//! Apply: executes an operation on arrays. A small one is computed eagerly, any other is recorded.

use std::sync::Arc;

use smallvec::{SmallVec, smallvec};
use umber_types::tape::{binary_dtype, unary_dtype};
use umber_types::{BinaryKind, DType, Result, Scalar, Shape, Side, Stream, UnaryKind};

use crate::frontend::frontend;
use crate::graph::{Array, ArraySpec, InputPair, Inputs, Node, Output, RecordContext, Specs, trace_scope_of};
use crate::op::Op;
use crate::primitive::Primitive;
use crate::primitives::binary::Binary;
use crate::primitives::float8;
use crate::primitives::rules::broadcast_plain;
use crate::primitives::unary::Unary;
use crate::source_line::current_source_line;
use crate::{device, eager, source_line};

impl Array {
    /// Record an operation with any number of outputs on this thread's default stream.
    pub(crate) fn record(op: impl Into<Op>, inputs: Inputs) -> Result<SmallVec<[Array; 1]>> {
        Array::record_on(op, inputs, device::current_stream())
    }

    /// Record an operation with any number of outputs.
    pub(crate) fn record_on(
        op: impl Into<Op>,
        inputs: Inputs,
        stream: Stream,
    ) -> Result<SmallVec<[Array; 1]>> {
        let op = op.into();
        if let Some(array) = float8::record(&op, &inputs)? {
            return Ok(array.into());
        }
        let specs = inferred(&op, &inputs.iter().map(Array::spec).collect::<SmallVec<[_; 4]>>())?;
        Array::record_known(op, inputs, specs, stream)
    }

    /// Record an operation with the given output specs, which must equal those it infers from its inputs.
    pub(crate) fn record_known(
        op: Op,
        inputs: Inputs,
        specs: Specs,
        stream: Stream,
    ) -> Result<SmallVec<[Array; 1]>> {
        if specs.is_empty() {
            return Ok(SmallVec::new());
        }
        let (inputs, is_externally_mutable) = keep_from_writers(inputs)?;
        let node = Node::new(op, inputs, specs, stream);
        let arrays = handles(node);
        run_if_due(&arrays[0], is_externally_mutable)?;
        Ok(arrays)
    }

    /// Apply an operation of a compiled function, as [`Array::record_known`] does, to untraced inputs and with a known source
    /// line.
    pub(crate) fn apply_compiled(
        op: Op,
        inputs: Inputs,
        specs: &[ArraySpec],
        stream: Stream,
        line: Option<Arc<str>>,
    ) -> Result<SmallVec<[Array; 1]>> {
        if stream.device == device::default_device()
            && let Some(outputs) = eager::compute_all(&op, &inputs, specs)
        {
            return Ok(outputs);
        }
        let (inputs, is_externally_mutable) = keep_from_writers(inputs)?;
        let context = RecordContext { stream, trace_scope: None, origin: line };
        let arrays = handles(Node::build(op, inputs, Output::pending(specs.into()), context));
        if let Some(first) = arrays.first() {
            run_if_due(first, is_externally_mutable)?;
        }
        Ok(arrays)
    }

    /// Record an operation with one output.
    #[inline]
    pub(crate) fn record_one(op: impl Into<Op>, inputs: &[&Array]) -> Result<Array> {
        Array::record_op(op.into(), inputs)
    }

    fn record_op(op: Op, inputs: &[&Array]) -> Result<Array> {
        if inputs.iter().any(|input| input.dtype().is_float8())
            && let Some(outputs) = float8::record(&op, &handles_to(inputs))?
        {
            return Ok(outputs.into_iter().next().expect("an operation with one output"));
        }
        let mut specs = match inputs {
            [a] => inferred(&op, &[a.spec()])?,
            [a, b] => inferred(&op, &[a.spec(), b.spec()])?,
            _ => inferred(&op, &inputs.iter().map(|input| input.spec()).collect::<SmallVec<[_; 4]>>())?,
        };
        debug_assert_eq!(specs.len(), 1);
        let spec = specs.pop().expect("an operation with one output");
        if let Some(view) = view_of(&op, inputs, &spec) {
            return Ok(view);
        }
        if let Some(array) = eager::compute(&op, inputs, &spec) {
            return Ok(array);
        }
        let is_due = source_line::are_known() && eager::is_due(&op, inputs, &spec);
        if !is_due
            && !inputs.iter().any(|input| input.is_externally_mutable())
            && let Some(input_pair) = input_pair(inputs)
        {
            let (stream, trace_scope) = (device::current_stream(), trace_scope_of(inputs.iter().copied()));
            let context = RecordContext { stream, trace_scope, origin: current_source_line() };
            let fill =
                |_: &mut Op, _: &[Array], output: &mut Output| output.spec.shape.clone_from(&spec.shape);
            return Ok(Array::of(Node::single(op, input_pair, spec.dtype, context, fill), 0));
        }
        let (inputs, is_externally_mutable) = keep_from_writers(handles_to(inputs))?;
        let node = Node::new(op, inputs, spec.into(), device::current_stream());
        let array = Array::of(node, 0);
        run_if_due(&array, is_due || is_externally_mutable)?;
        Ok(array)
    }

    /// Whether the array needs no conversion, tracing or source line as an operand, so that [`Array::record_plain`] suffices.
    #[inline]
    pub(crate) fn is_plain(&self) -> bool {
        !self.dtype().is_float8()
            && self.node().trace_scope().is_none()
            && !self.is_externally_mutable()
            && !source_line::are_known()
    }

    /// As [`Array::record_one`], for [plain](Array::is_plain) arrays and results that are not computed eagerly; `fill` is that of
    /// [`Node::single`].
    #[inline(always)]
    pub(crate) fn record_plain(
        op: impl Into<Op>,
        inputs: InputPair,
        dtype: DType,
        fill: impl FnOnce(&mut Op, &[Array], &mut Output),
    ) -> Array {
        Array::of(Node::single(op, inputs, dtype, RecordContext::untraced(), fill), 0)
    }

    /// [`Array::record_plain`] for a result with the shape of the inputs.
    #[inline(always)]
    pub(crate) fn record_alike(op: impl Into<Op>, inputs: InputPair, dtype: DType) -> Array {
        Array::record_plain(op, inputs, dtype, |_, inputs, output| {
            output.spec.shape.clone_from(inputs[0].shape());
        })
    }
}

/// `kind(x)` with a dtype that the function is defined for; `None` if the general path is needed.
#[inline]
pub(crate) fn unary(kind: UnaryKind, x: &Array) -> Option<Array> {
    let dtype = unary_dtype(kind, x.dtype());
    if eager::applies(x.shape())
        && let Some(array) = eager::unary(kind, x, dtype)
    {
        return Some(array);
    }
    x.is_plain().then(|| Array::record_alike(Unary(kind), (Some(x.clone()), None), dtype))
}

/// `kind(a, b)` of arrays of one dtype, which is also that of the result unless the function is a comparison, that broadcast to
/// the addressable `shape`; `None` if the general path is needed.
#[inline]
pub(crate) fn binary(kind: BinaryKind, a: &Array, b: &Array, shape: &Shape) -> Option<Array> {
    if eager::applies(shape)
        && let Some(array) = eager::binary(kind, [a, b], shape, binary_dtype(kind, a.dtype()))
    {
        return Some(array);
    }
    let is_plain = a.is_plain() && b.is_plain();
    is_plain.then(|| recorded(kind, broadcast_plain(a, shape), broadcast_plain(b, shape)))
}

/// [`binary`] of an array and a scalar, converted to its dtype, as the operand on `side`.
#[inline]
pub(crate) fn with_number(kind: BinaryKind, array: &Array, number: Scalar, side: Side) -> Option<Array> {
    let shape = array.shape();
    if eager::applies(shape)
        && let Some(array) = eager::with_number(kind, array, number, side, binary_dtype(kind, array.dtype()))
    {
        return Some(array);
    }
    array.is_plain().then(|| {
        let number = Array::filled(shape, number, array.dtype());
        match side {
            Side::Left => recorded(kind, number, array.clone()),
            Side::Right => recorded(kind, array.clone(), number),
        }
    })
}

#[inline]
fn recorded(kind: BinaryKind, a: Array, b: Array) -> Array {
    let dtype = binary_dtype(kind, a.dtype());
    Array::record_alike(Binary(kind), (Some(a), Some(b)), dtype)
}

/// The specs of an operation's outputs.
fn inferred(op: &Op, inputs: &[&ArraySpec]) -> Result<Specs> {
    let specs = op.infer(inputs)?;
    float8::check_outputs(op, &specs)?;
    Ok(specs)
}

/// Clones of these arrays, as the inputs of a node. The common cases of one and two inputs avoid the loop.
fn handles_to(arrays: &[&Array]) -> Inputs {
    match arrays {
        [a] => smallvec![(*a).clone()],
        [a, b] => SmallVec::from_buf([(*a).clone(), (*b).clone()]),
        _ => arrays.iter().map(|&array| array.clone()).collect(),
    }
}

/// As [`handles_to`], for one or two arrays.
#[inline]
fn input_pair(arrays: &[&Array]) -> Option<InputPair> {
    match arrays {
        [a] => Some((Some((*a).clone()), None)),
        [a, b] => Some((Some((*a).clone()), Some((*b).clone()))),
        _ => None,
    }
}

/// The result of a slice or reshape of an evaluated array as a view, which needs no node.
fn view_of(op: &Op, inputs: &[&Array], spec: &ArraySpec) -> Option<Array> {
    let [input] = inputs else { return None };
    if !matches!(op, Op::Slice(_) | Op::Reshape(_)) {
        return None;
    }
    let storage = input.seen()?;
    if matches!(op, Op::Reshape(_)) && !storage.layout.is_contiguous() {
        return None;
    }
    let layout = op.view(&storage.layout)?;
    Some(Array::over(storage.with_layout(layout), spec.dtype))
}

/// Handles to all outputs of a new node.
fn handles(node: Arc<Node>) -> SmallVec<[Array; 1]> {
    let count = node.outputs.len() as u32;
    std::iter::repeat_n(node, count as usize)
        .zip(0..count)
        .map(|(node, output)| Array::of(node, output))
        .collect()
}

/// Evaluate an array immediately, if it is due: its inputs are externally mutable, and it uses their current values.
fn run_if_due(array: &Array, is_due: bool) -> Result<()> {
    if !is_due {
        return Ok(());
    }
    let mut result = Ok(());
    frontend().run_unlocked(&mut || result = array.eval());
    result
}

/// The inputs of an operation, and whether it must run now since others can write their memory.
///
/// It cannot run now if an input is traced, as that may have no value yet. In this case the mutable inputs are copied.
fn keep_from_writers(mut inputs: Inputs) -> Result<(Inputs, bool)> {
    if !inputs.iter().any(Array::is_externally_mutable) {
        return Ok((inputs, false));
    }
    if inputs.iter().any(Array::is_traced) {
        for input in &mut inputs {
            *input = input.snapshot()?;
        }
    }
    let is_externally_mutable = inputs.iter().any(Array::is_externally_mutable);
    Ok((inputs, is_externally_mutable))
}
