//! MLX's names of operations and their parameters, for programs that read graphs.

use umber_numerics::fft::Transform;
use umber_types::{
    ArgReduceKind, BinaryKind, ConvParams, DType, Quantization, ReduceKind, ScanDirection, ScanExtent,
    ScanKind, ScatterKind, Shape, UnaryKind,
};

use crate::graph::ArraySpec;
use crate::op::Op;
use crate::primitives::binary::Binary;
use crate::primitives::composite::Composite;
use crate::primitives::control::Control;
use crate::primitives::leaf::Leaf;
use crate::primitives::linalg::Vectors;
use crate::primitives::quantized::{Fp8, Transposed};
use crate::primitives::slice::Window;
use crate::primitives::sort::Sorted;
use crate::primitives::unary::Unary;

/// An operation with MLX's name and parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct MlxOperation {
    /// The name that a callback of `export_function` receives.
    pub name: String,
    /// Its parameters, in order.
    pub parameters: Vec<Parameter>,
}

/// A parameter of an operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Parameter {
    /// An integer.
    Int(i64),
    /// A boolean.
    Bool(bool),
    /// A real number.
    Float(f64),
    /// Axes and other lists of integers.
    List(Vec<i64>),
    /// Shapes and indices, which are tuples.
    Shape(Vec<i64>),
    /// A dtype.
    Dtype(DType),
    /// A string.
    Text(&'static str),
}

use Parameter::{Bool, Dtype, Float, Int, List, Text};

fn mlx_operation(name: &str, parameters: impl IntoIterator<Item = Parameter>) -> MlxOperation {
    MlxOperation { name: name.to_owned(), parameters: parameters.into_iter().collect() }
}

fn list<'a>(values: impl IntoIterator<Item = &'a usize>) -> Parameter {
    List(values.into_iter().map(|&value| value as i64).collect())
}

fn tuple<'a>(values: impl IntoIterator<Item = &'a usize>) -> Parameter {
    Parameter::Shape(values.into_iter().map(|&value| value as i64).collect())
}

impl MlxOperation {
    /// The operation in MLX's terms. An operation that MLX lacks has its own name and no parameters.
    pub fn of(op: &Op, inputs: &[&ArraySpec], outputs: &[ArraySpec]) -> MlxOperation {
        let axis = |axis: usize| Int(axis as i64);
        match op {
            Op::Unary(unary) => mlx_unary(unary.0),
            Op::Binary(binary) => mlx_binary(binary.0),
            Op::Ternary(ternary) => mlx_operation(&capitalised(ternary.0.name()), []),
            Op::Select(_) => mlx_operation("Select", []),
            Op::Cast(op) => mlx_operation("AsType", [Dtype(op.0)]),
            Op::Float8Cast(_) => mlx_operation("AsType", [Dtype(outputs[0].dtype)]),
            Op::View(op) => mlx_operation("View", [Dtype(op.0)]),
            Op::Broadcast(op) => mlx_operation("Broadcast", [tuple(op.shape.iter())]),
            Op::Reshape(op) => mlx_reshape(&inputs[0].shape, &op.shape),
            Op::Transpose(op) => mlx_operation("Transpose", [list(op.permutation.iter())]),
            Op::Slice(op) => mlx_operation("Slice", slice_bounds(&op.window, &inputs[0].shape)),
            Op::SliceUpdate(op) => {
                let mut parameters = vec![Int(code_of(op.kind))];
                parameters.extend(slice_bounds(&op.window, &inputs[0].shape));
                mlx_operation("SliceUpdate", parameters)
            }
            Op::Concatenate(op) => mlx_operation("Concatenate", [axis(op.axis)]),
            Op::Reduce(op) => {
                let code = match op.kind {
                    ReduceKind::All => 0,
                    ReduceKind::Any => 1,
                    ReduceKind::Sum => 2,
                    ReduceKind::Prod => 3,
                    ReduceKind::Min => 4,
                    ReduceKind::Max => 5,
                    // MLX has no mean primitive: its mean is a sum and a product.
                    ReduceKind::Mean => return mlx_operation("Mean", [list(op.axes.iter())]),
                };
                mlx_operation("Reduce", [Int(code), list(op.axes.iter())])
            }
            Op::Gather(op) => {
                let length = |(axis, &length): (usize, &usize)| {
                    if op.axes.contains(&axis) { 1 } else { length as i64 }
                };
                let sizes = inputs[0].shape.iter().enumerate().map(length).collect();
                mlx_operation("Gather", [list(op.axes.iter()), Parameter::Shape(sizes)])
            }
            Op::GatherAxis(op) => mlx_operation("GatherAxis", [axis(op.axis)]),
            Op::Scatter(op) => mlx_operation("Scatter", [Int(code_of(op.kind)), list(op.axes.iter())]),
            Op::ScatterAxis(op) => {
                let code = i64::from(op.kind == ScatterKind::Set);
                mlx_operation("ScatterAxis", [Int(code), axis(op.axis)])
            }
            Op::ArgReduce(op) => {
                let code = i64::from(op.kind == ArgReduceKind::ArgMax);
                mlx_operation("ArgReduce", [Int(code), axis(op.axis)])
            }
            Op::Scan(op) => {
                let code = match op.kind {
                    ScanKind::Max => 0,
                    ScanKind::Min => 1,
                    ScanKind::Sum => 2,
                    ScanKind::Prod => 3,
                    ScanKind::LogSumExp => 4,
                };
                let (reverse, inclusive) =
                    (op.direction == ScanDirection::Reverse, op.extent == ScanExtent::Inclusive);
                mlx_operation("Scan", [Int(code), axis(op.axis), Bool(reverse), Bool(inclusive)])
            }
            Op::Sort(op) => match op.what {
                Sorted::Values => mlx_operation("Sort", [axis(op.axis)]),
                Sorted::Indices(_) => mlx_operation("ArgSort", [axis(op.axis)]),
                Sorted::ValuesAround(kth) => mlx_operation("Partition", [Int(kth as i64), axis(op.axis)]),
                Sorted::Around(kth) => mlx_operation("ArgPartition", [Int(kth as i64), axis(op.axis)]),
            },
            Op::MatMul(_) => mlx_operation("Matmul", []),
            Op::IndexedMatMul(_) => mlx_operation("GatherMM", [Bool(false), Bool(false)]),
            Op::SegmentedMatMul(_) => mlx_operation("SegmentedMM", []),
            Op::Quantize(op) => {
                let mut parameters = stored(op.0);
                parameters.push(Bool(false));
                mlx_operation("Quantize", parameters)
            }
            Op::Dequantize(op) => {
                let mut parameters = stored(op.format);
                parameters.push(Bool(true));
                mlx_operation("Quantize", parameters)
            }
            Op::QuantizedMatMul(op) => {
                let mut parameters = stored(op.product.format);
                parameters.push(Bool(op.product.transposed == Transposed::Yes));
                mlx_operation(if op.count.is_some() { "GatherQMM" } else { "QuantizedMatmul" }, parameters)
            }
            Op::Convolution(op) => mlx_operation("Convolution", windows(&op.0)),
            Op::RandomBits(op) => {
                let width = outputs[0].dtype.size() as i64;
                mlx_operation("RandomBits", [tuple(op.shape.iter()), Int(width)])
            }
            Op::Composite(op) => mlx_composite(op),
            Op::Cholesky(_) => mlx_operation("Cholesky", [Bool(false)]),
            Op::Inverse(_) => mlx_operation("Inverse", [Bool(false), Bool(true)]),
            Op::Lu(_) => mlx_operation("LUF", []),
            Op::Qr(_) => mlx_operation("QRF", []),
            Op::Svd(op) => mlx_operation("SVD", [Bool(op.vectors != Vectors::None)]),
            Op::Eigh(op) => mlx_operation("Eigh", [Text("L"), Bool(op.has_vectors)]),
            Op::Eig(op) => mlx_operation("Eig", [Bool(op.has_vectors)]),
            Op::Fft(op) => {
                let (inverse, real) = match op.transform {
                    Transform::Forward => (false, false),
                    Transform::Inverse => (true, false),
                    Transform::RealForward => (false, true),
                    Transform::RealInverse => (true, true),
                };
                mlx_operation("FFT", [list([&op.axis]), Bool(inverse), Bool(real), Bool(false)])
            }
            Op::NumberOfElements(op) => {
                mlx_operation("NumberOfElements", [list(op.axes.iter()), Bool(false), Dtype(op.dtype)])
            }
            Op::Arange(op) => {
                let (start, step) = (op.0.start.as_f64(), op.0.step.as_f64());
                let stop = start + step * op.0.length as f64;
                mlx_operation("Arange", [Float(start), Float(stop), Float(step)])
            }
            Op::Full(_) => mlx_operation("Full", []),
            Op::Control(Control::StopGradient) => mlx_operation("StopGradient", []),
            Op::Control(Control::Depends { .. }) => mlx_operation("Depends", []),
            Op::Leaf(Leaf::Copy) | Op::Transfer(_) => mlx_operation("Copy", []),
            Op::Fp8(Fp8::Encode) => mlx_operation("ToFP8", []),
            Op::Fp8(Fp8::Decode(_)) => mlx_operation("FromFP8", []),
            Op::Custom(_) => mlx_operation("CustomTransforms", []),
            Op::Fused(_) => mlx_operation("Compiled", []),
            Op::Leaf(_)
            | Op::Eye(_)
            | Op::Rounded(_)
            | Op::ConvolutionWeight(_)
            | Op::CategoricalSample(_)
            | Op::Rejections(_)
            | Op::Solve(_)
            | Op::Determinant(_)
            | Op::SignedLog(_)
            | Op::Adjugate(_)
            | Op::Pinv(_)
            | Op::Expm(_)
            | Op::Search(_)
            | Op::Nonzero(_)
            | Op::Control(Control::Found(_) | Control::Counted { .. } | Control::Classes { .. })
            | Op::Loop(_)
            | Op::Branch(_)
            | Op::While(_)
            | Op::Checkpoint(_)
            | Op::Callback(_) => mlx_operation(&capitalised(op.name()), []),
        }
    }
}

/// MLX's label of a graph node: the specific kind where a callback receives the name of a group of operations.
pub(super) fn label(op: &Op, inputs: &[&ArraySpec], outputs: &[ArraySpec]) -> String {
    let text = if let Op::Reduce(op) = op {
        match op.kind {
            ReduceKind::All => "And",
            ReduceKind::Any => "Or",
            ReduceKind::Sum => "Sum",
            ReduceKind::Prod => "Prod",
            ReduceKind::Min => "Min",
            ReduceKind::Max => "Max",
            ReduceKind::Mean => "Mean",
        }
    } else if let Op::Scan(op) = op {
        match op.kind {
            ScanKind::Sum => "CumSum",
            ScanKind::Prod => "CumProd",
            ScanKind::Min => "CumMin",
            ScanKind::Max => "CumMax",
            ScanKind::LogSumExp => "CumLogAddExp",
        }
    } else if let Op::Scatter(op) = op {
        match op.kind {
            ScatterKind::Set => "Scatter",
            ScatterKind::Add => "Scatter Sum",
            ScatterKind::Multiply => "Scatter Prod",
            ScatterKind::Maximum => "Scatter Max",
            ScatterKind::Minimum => "Scatter Min",
        }
    } else {
        let is_named_by_kind = matches!(
            op,
            Op::Unary(Unary(UnaryKind::Rsqrt | UnaryKind::Log2 | UnaryKind::Log10))
                | Op::Binary(Binary(
                    BinaryKind::BitwiseAnd
                        | BinaryKind::BitwiseOr
                        | BinaryKind::BitwiseXor
                        | BinaryKind::LeftShift
                        | BinaryKind::RightShift
                ))
        );
        return if is_named_by_kind {
            capitalised(op.name())
        } else {
            MlxOperation::of(op, inputs, outputs).name
        };
    };
    text.to_owned()
}

/// Capitalise an operation's name: `log_add_exp` to `LogAddExp`.
fn capitalised(name: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    };
    name.split('_').map(word).collect()
}

fn mlx_unary(kind: UnaryKind) -> MlxOperation {
    let families = [
        (UnaryKind::Sqrt, "Sqrt", Bool(false)),
        (UnaryKind::Rsqrt, "Sqrt", Bool(true)),
        (UnaryKind::Log2, "Log", Int(0)),
        (UnaryKind::Log10, "Log", Int(1)),
        (UnaryKind::Log, "Log", Int(2)),
    ];
    if let Some((_, name, parameter)) = families.into_iter().find(|(own, ..)| *own == kind) {
        return mlx_operation(name, [parameter]);
    }
    let names = [
        (UnaryKind::Arcsin, "ArcSin"),
        (UnaryKind::Arccos, "ArcCos"),
        (UnaryKind::Arctan, "ArcTan"),
        (UnaryKind::Arcsinh, "ArcSinh"),
        (UnaryKind::Arccosh, "ArcCosh"),
        (UnaryKind::Arctanh, "ArcTanh"),
        (UnaryKind::ErfInv, "ErfInv"),
    ];
    match names.into_iter().find(|(own, _)| *own == kind) {
        Some((_, name)) => mlx_operation(name, []),
        None => mlx_operation(&capitalised(kind.name()), []),
    }
}

fn mlx_binary(kind: BinaryKind) -> MlxOperation {
    let families = [
        (BinaryKind::Equal, "Equal", Bool(false)),
        (BinaryKind::BitwiseAnd, "BitwiseBinary", Int(0)),
        (BinaryKind::BitwiseOr, "BitwiseBinary", Int(1)),
        (BinaryKind::BitwiseXor, "BitwiseBinary", Int(2)),
        (BinaryKind::LeftShift, "BitwiseBinary", Int(3)),
        (BinaryKind::RightShift, "BitwiseBinary", Int(4)),
    ];
    if let Some((_, name, parameter)) = families.into_iter().find(|(own, ..)| *own == kind) {
        return mlx_operation(name, [parameter]);
    }
    let names = [(BinaryKind::LogAddExp, "LogAddExp"), (BinaryKind::Arctan2, "ArcTan2")];
    match names.into_iter().find(|(own, _)| *own == kind) {
        Some((_, name)) => mlx_operation(name, []),
        None => mlx_operation(&capitalised(kind.name()), []),
    }
}

fn mlx_composite(op: &Composite) -> MlxOperation {
    match op {
        Composite::Softmax(op) => mlx_operation("Softmax", [Bool(op.precise)]),
        Composite::LogSumExp(_) => mlx_operation("LogSumExp", []),
        Composite::LayerNorm(_) => mlx_operation("LayerNorm", []),
        Composite::RmsNorm(_) => mlx_operation("RMSNorm", []),
        Composite::Rope(_) => mlx_operation("RoPE", []),
        Composite::Attention(_) => mlx_operation("ScaledDotProductAttention", []),
        Composite::AttentionGradient(_) => mlx_operation("ScaledDotProductAttentionVJP", []),
        Composite::GatedDelta(_) => mlx_operation("GatedDelta", []),
        Composite::ShiftedLogSumExp(_) => mlx_operation("ShiftedLogSumExp", []),
        Composite::Dispersion(_) => mlx_operation("Spread", []),
        Composite::MeanParts(_) => mlx_operation("MeanParts", []),
    }
}

/// A reshape that only inserts or removes axes of length one has a name of its own.
fn mlx_reshape(from: &Shape, to: &Shape) -> MlxOperation {
    if let Some(axes) = ones_between(from, to) {
        return mlx_operation("Squeeze", [List(axes)]);
    }
    if let Some(axes) = ones_between(to, from) {
        return mlx_operation("ExpandDims", [List(axes)]);
    }
    mlx_operation("Reshape", [tuple(to.iter())])
}

/// The axes of length one that `long` has in addition to `short`, if they are the only difference.
fn ones_between(long: &Shape, short: &Shape) -> Option<Vec<i64>> {
    let missing = long.ndim().checked_sub(short.ndim()).filter(|&count| count > 0)?;
    let mut axes = Vec::with_capacity(missing);
    for axis in 0..long.ndim() {
        let next = short.get(axis - axes.len());
        // Of adjacent axes of length one, the last ones are removed.
        if long[axis] == 1 && axes.len() < missing && next != Some(&1) {
            axes.push(axis as i64);
        } else if next != Some(&long[axis]) {
            return None;
        }
    }
    (axes.len() == missing).then_some(axes)
}

/// Start, stop and steps of a window. A stop before the first element is counted from the end of the axis.
fn slice_bounds(window: &Window, shape: &Shape) -> [Parameter; 3] {
    let stop = |axis: usize| {
        let (start, step) = (window.starts[axis] as i64, window.steps[axis] as i64);
        let (count, length) = (window.lengths[axis] as i64, shape[axis] as i64);
        let stop = start.saturating_add(step.saturating_mul(count));
        if step < 0 && stop < 0 { -length - 1 } else { stop.min(length) }
    };
    [
        tuple(window.starts.iter()),
        Parameter::Shape((0..shape.ndim()).map(stop).collect()),
        Parameter::Shape(window.steps.iter().map(|&step| step as i64).collect()),
    ]
}

fn code_of(kind: ScatterKind) -> i64 {
    match kind {
        ScatterKind::Maximum => 0,
        ScatterKind::Minimum => 1,
        ScatterKind::Add => 2,
        ScatterKind::Multiply => 3,
        ScatterKind::Set => 4,
    }
}

fn stored(how: Quantization) -> Vec<Parameter> {
    vec![Int(how.group_size() as i64), Int(how.bits() as i64), Int(how.mode() as i64)]
}

fn windows(how: &ConvParams) -> Vec<Parameter> {
    let each = |of: &dyn Fn(&umber_types::ConvAxis) -> i64| List(how.axes.iter().map(of).collect());
    vec![
        each(&|axis| axis.stride as i64),
        each(&|axis| axis.low as i64),
        each(&|axis| axis.high as i64),
        each(&|axis| axis.kernel_dilation as i64),
        each(&|axis| axis.input_dilation as i64),
        Int(how.groups as i64),
        Bool(false),
    ]
}
