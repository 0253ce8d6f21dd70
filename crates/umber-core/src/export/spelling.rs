//! Spelling: what MLX calls operations and their parameters, for programs that read graphs.

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

/// An operation as MLX spells it.
#[derive(Clone, Debug, PartialEq)]
pub struct Spelling {
    /// The primitive's name in a callback of `export_function`.
    pub name: String,
    /// Its parameters, in order.
    pub parameters: Vec<Parameter>,
}

/// A parameter of an operation.
#[derive(Clone, Debug, PartialEq)]
pub enum Parameter {
    /// An integer.
    Int(i64),
    /// A truth value.
    Bool(bool),
    /// A real number.
    Float(f64),
    /// Axes and other lists of integers.
    List(Vec<i64>),
    /// Shapes and places, which are tuples.
    Shape(Vec<i64>),
    /// A dtype.
    Dtype(DType),
    /// A text.
    Text(&'static str),
}

use Parameter::{Bool, Dtype, Float, Int, List, Text};

fn spelled(name: &str, parameters: impl IntoIterator<Item = Parameter>) -> Spelling {
    Spelling { name: name.to_owned(), parameters: parameters.into_iter().collect() }
}

fn list<'a>(values: impl IntoIterator<Item = &'a usize>) -> Parameter {
    List(values.into_iter().map(|&value| value as i64).collect())
}

fn tuple<'a>(values: impl IntoIterator<Item = &'a usize>) -> Parameter {
    Parameter::Shape(values.into_iter().map(|&value| value as i64).collect())
}

impl Spelling {
    /// The operation and its parameters; one that MLX does not have goes by its own name, without them.
    pub fn of(op: &Op, inputs: &[&ArraySpec], outputs: &[ArraySpec]) -> Spelling {
        let axis = |axis: usize| Int(axis as i64);
        match op {
            Op::Unary(unary) => spelled_unary(unary.0),
            Op::Binary(binary) => spelled_binary(binary.0),
            Op::Select(_) => spelled("Select", []),
            Op::Cast(op) => spelled("AsType", [Dtype(op.0)]),
            Op::Float8Cast(_) => spelled("AsType", [Dtype(outputs[0].dtype)]),
            Op::View(op) => spelled("View", [Dtype(op.0)]),
            Op::Broadcast(op) => spelled("Broadcast", [tuple(op.shape.iter())]),
            Op::Reshape(op) => spelled_reshape(&inputs[0].shape, &op.shape),
            Op::Transpose(op) => spelled("Transpose", [list(op.permutation.iter())]),
            Op::Slice(op) => spelled("Slice", ends(&op.window, &inputs[0].shape)),
            Op::SliceUpdate(op) => {
                let mut parameters = vec![Int(code_of(op.kind))];
                parameters.extend(ends(&op.window, &inputs[0].shape));
                spelled("SliceUpdate", parameters)
            }
            Op::Concatenate(op) => spelled("Concatenate", [axis(op.axis)]),
            Op::Reduce(op) => {
                let code = match op.kind {
                    ReduceKind::All => 0,
                    ReduceKind::Any => 1,
                    ReduceKind::Sum => 2,
                    ReduceKind::Prod => 3,
                    ReduceKind::Min => 4,
                    ReduceKind::Max => 5,
                    // MLX has none: its mean is a sum and a product.
                    ReduceKind::Mean => return spelled("Mean", [list(op.axes.iter())]),
                };
                spelled("Reduce", [Int(code), list(op.axes.iter())])
            }
            Op::Gather(op) => {
                let length = |(axis, &length): (usize, &usize)| {
                    if op.axes.contains(&axis) { 1 } else { length as i64 }
                };
                let sizes = inputs[0].shape.iter().enumerate().map(length).collect();
                spelled("Gather", [list(op.axes.iter()), Parameter::Shape(sizes)])
            }
            Op::GatherAxis(op) => spelled("GatherAxis", [axis(op.axis)]),
            Op::Scatter(op) => spelled("Scatter", [Int(code_of(op.kind)), list(op.axes.iter())]),
            Op::ScatterAxis(op) => {
                let code = i64::from(op.kind == ScatterKind::Set);
                spelled("ScatterAxis", [Int(code), axis(op.axis)])
            }
            Op::ArgReduce(op) => {
                let code = i64::from(op.kind == ArgReduceKind::ArgMax);
                spelled("ArgReduce", [Int(code), axis(op.axis)])
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
                spelled("Scan", [Int(code), axis(op.axis), Bool(reverse), Bool(inclusive)])
            }
            Op::Sort(op) => match op.what {
                Sorted::Values => spelled("Sort", [axis(op.axis)]),
                Sorted::Indices(_) => spelled("ArgSort", [axis(op.axis)]),
                Sorted::ValuesAround(place) => spelled("Partition", [Int(place as i64), axis(op.axis)]),
                Sorted::Around(place) => spelled("ArgPartition", [Int(place as i64), axis(op.axis)]),
            },
            Op::MatMul(_) => spelled("Matmul", []),
            Op::IndexedMatMul(_) => spelled("GatherMM", [Bool(false), Bool(false)]),
            Op::SegmentedMatMul(_) => spelled("SegmentedMM", []),
            Op::Quantize(op) => {
                let mut parameters = stored(op.0);
                parameters.push(Bool(false));
                spelled("Quantize", parameters)
            }
            Op::Dequantize(op) => {
                let mut parameters = stored(op.how);
                parameters.push(Bool(true));
                spelled("Quantize", parameters)
            }
            Op::QuantizedMatMul(op) => {
                let mut parameters = stored(op.product.how);
                parameters.push(Bool(op.product.turned == Transposed::Yes));
                spelled(if op.count.is_some() { "GatherQMM" } else { "QuantizedMatmul" }, parameters)
            }
            Op::Convolution(op) => spelled("Convolution", windows(&op.0)),
            Op::RandomBits(op) => {
                let width = outputs[0].dtype.size() as i64;
                spelled("RandomBits", [tuple(op.shape.iter()), Int(width)])
            }
            Op::Composite(op) => spelled_composite(op),
            Op::Cholesky(_) => spelled("Cholesky", [Bool(false)]),
            Op::Inverse(_) => spelled("Inverse", [Bool(false), Bool(true)]),
            Op::Lu(_) => spelled("LUF", []),
            Op::Qr(_) => spelled("QRF", []),
            Op::Svd(op) => spelled("SVD", [Bool(op.vectors != Vectors::None)]),
            Op::Eigh(op) => spelled("Eigh", [Text("L"), Bool(op.has_vectors)]),
            Op::Eig(op) => spelled("Eig", [Bool(op.has_vectors)]),
            Op::Fft(op) => {
                let (inverse, real) = match op.transform {
                    Transform::Forward => (false, false),
                    Transform::Inverse => (true, false),
                    Transform::RealForward => (false, true),
                    Transform::RealInverse => (true, true),
                };
                spelled("FFT", [list([&op.axis]), Bool(inverse), Bool(real), Bool(false)])
            }
            Op::NumberOfElements(op) => {
                spelled("NumberOfElements", [list(op.axes.iter()), Bool(false), Dtype(op.dtype)])
            }
            Op::Arange(op) => {
                let (start, step) = (op.0.start.as_f64(), op.0.step.as_f64());
                let stop = start + step * op.0.length as f64;
                spelled("Arange", [Float(start), Float(stop), Float(step)])
            }
            Op::Full(_) => spelled("Full", []),
            Op::Control(Control::StopGradient) => spelled("StopGradient", []),
            Op::Control(Control::Depends { .. }) => spelled("Depends", []),
            Op::Leaf(Leaf::Copy) | Op::Transfer(_) => spelled("Copy", []),
            Op::Fp8(Fp8::Encode) => spelled("ToFP8", []),
            Op::Fp8(Fp8::Decode(_)) => spelled("FromFP8", []),
            Op::Custom(_) => spelled("CustomTransforms", []),
            Op::Fused(_) => spelled("Compiled", []),
            Op::Leaf(_)
            | Op::Eye(_)
            | Op::Rounded(_)
            | Op::ConvolutionWeight(_)
            | Op::Pick(_)
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
            | Op::Checkpoint(_) => spelled(&capitalised(op.name()), []),
        }
    }
}

/// What MLX writes on the node of an operation in a picture: the kind of a family, where a callback says the family.
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
        let is_of_family = matches!(
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
        return if is_of_family { capitalised(op.name()) } else { Spelling::of(op, inputs, outputs).name };
    };
    text.to_owned()
}

/// `LogAddExp` of `log_add_exp`.
fn capitalised(name: &str) -> String {
    let word = |word: &str| {
        let mut letters = word.chars();
        letters.next().map_or_else(String::new, |first| first.to_uppercase().chain(letters).collect())
    };
    name.split('_').map(word).collect()
}

fn spelled_unary(kind: UnaryKind) -> Spelling {
    let families = [
        (UnaryKind::Sqrt, "Sqrt", Bool(false)),
        (UnaryKind::Rsqrt, "Sqrt", Bool(true)),
        (UnaryKind::Log2, "Log", Int(0)),
        (UnaryKind::Log10, "Log", Int(1)),
        (UnaryKind::Log, "Log", Int(2)),
    ];
    if let Some((_, name, parameter)) = families.into_iter().find(|(own, ..)| *own == kind) {
        return spelled(name, [parameter]);
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
        Some((_, name)) => spelled(name, []),
        None => spelled(&capitalised(kind.name()), []),
    }
}

fn spelled_binary(kind: BinaryKind) -> Spelling {
    let families = [
        (BinaryKind::Equal, "Equal", Bool(false)),
        (BinaryKind::BitwiseAnd, "BitwiseBinary", Int(0)),
        (BinaryKind::BitwiseOr, "BitwiseBinary", Int(1)),
        (BinaryKind::BitwiseXor, "BitwiseBinary", Int(2)),
        (BinaryKind::LeftShift, "BitwiseBinary", Int(3)),
        (BinaryKind::RightShift, "BitwiseBinary", Int(4)),
    ];
    if let Some((_, name, parameter)) = families.into_iter().find(|(own, ..)| *own == kind) {
        return spelled(name, [parameter]);
    }
    let names = [(BinaryKind::LogAddExp, "LogAddExp"), (BinaryKind::Arctan2, "ArcTan2")];
    match names.into_iter().find(|(own, _)| *own == kind) {
        Some((_, name)) => spelled(name, []),
        None => spelled(&capitalised(kind.name()), []),
    }
}

fn spelled_composite(op: &Composite) -> Spelling {
    match op {
        Composite::Softmax(op) => spelled("Softmax", [Bool(op.precise)]),
        Composite::LogSumExp(_) => spelled("LogSumExp", []),
        Composite::LayerNorm(_) => spelled("LayerNorm", []),
        Composite::RmsNorm(_) => spelled("RMSNorm", []),
        Composite::Rope(_) => spelled("RoPE", []),
        Composite::Attention(_) => spelled("ScaledDotProductAttention", []),
        Composite::AttentionGradient(_) => spelled("ScaledDotProductAttentionVJP", []),
        Composite::GatedDelta(_) => spelled("GatedDelta", []),
        Composite::ShiftedLogSumExp(_) => spelled("ShiftedLogSumExp", []),
        Composite::Spread(_) => spelled("Spread", []),
        Composite::MeanParts(_) => spelled("MeanParts", []),
    }
}

/// A reshape that puts in or takes out axes of length one has a name of its own.
fn spelled_reshape(from: &Shape, to: &Shape) -> Spelling {
    if let Some(axes) = ones_between(from, to) {
        return spelled("Squeeze", [List(axes)]);
    }
    if let Some(axes) = ones_between(to, from) {
        return spelled("ExpandDims", [List(axes)]);
    }
    spelled("Reshape", [tuple(to.iter())])
}

/// The axes of length one that `long` has and `short` has not, if that is all they differ in.
fn ones_between(long: &Shape, short: &Shape) -> Option<Vec<i64>> {
    let missing = long.ndim().checked_sub(short.ndim()).filter(|&count| count > 0)?;
    let mut axes = Vec::with_capacity(missing);
    for axis in 0..long.ndim() {
        let next = short.get(axis - axes.len());
        // Beside an axis of length one that stays, the later one is taken out.
        if long[axis] == 1 && axes.len() < missing && next != Some(&1) {
            axes.push(axis as i64);
        } else if next != Some(&long[axis]) {
            return None;
        }
    }
    (axes.len() == missing).then_some(axes)
}

/// Where a window begins and ends, and its steps. An end before the first element is counted from the end of the axis.
fn ends(window: &Window, shape: &Shape) -> [Parameter; 3] {
    let stop = |axis: usize| {
        let (start, step) = (window.starts[axis] as i64, window.steps[axis] as i64);
        let (count, length) = (window.lengths[axis] as i64, shape[axis] as i64);
        let stop = start + step * count;
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
