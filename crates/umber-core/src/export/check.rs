//! Check: is a step that somebody else wrote one that umber could have recorded?
//!
//! Primitives trust what `ops` checked before it recorded them. What comes from a file has not been there.

use umber_types::{Axes, DType, Quantization, Result, bail, ensure};

use crate::graph::{ArraySpec, Program};
use crate::op::Op;
use crate::primitive::Primitive;
use crate::primitives::control::Control;
use crate::primitives::control_flow::{Body, Iteration};
use crate::primitives::gather::are_axes;
use crate::primitives::leaf::Leaf;
use crate::primitives::quantized::{Fp8, Quantize, Rounded, takes};
use crate::primitives::sort::Sorted;

/// Check every step of a program; returns what its slots hold.
pub(super) fn check(program: &Program) -> Result<Vec<ArraySpec>> {
    program.slots_if(|op, inputs| Site { op, inputs }.check())
}

/// As [`check`], but returns what the outputs are.
fn check_outputs(program: &Program) -> Result<Vec<ArraySpec>> {
    let slots = check(program)?;
    Ok(program.outputs.iter().map(|output| output.spec(&slots).clone()).collect())
}

/// An operation and what it is given.
struct Site<'a> {
    op: &'a Op,
    inputs: &'a [&'a ArraySpec],
}

impl Site<'_> {
    fn must(&self, holds: bool, expected: &str) -> Result<()> {
        let given: Vec<String> =
            self.inputs.iter().map(|input| format!("{} {}", input.shape, input.dtype)).collect();
        ensure!(holds, Value, "[{}] got {}, expected {expected}", self.op.name(), given.join(", "));
        Ok(())
    }

    fn takes(&self, count: usize) -> Result<()> {
        self.must(self.inputs.len() == count, &format!("{count} inputs"))
    }

    /// All inputs alike.
    fn alike(&self, count: usize) -> Result<()> {
        self.takes(count)?;
        self.must(self.inputs.iter().all(|input| *input == self.inputs[0]), "inputs of one shape and dtype")
    }

    fn axis(&self, axis: usize) -> Result<()> {
        self.must(axis < self.ndim(0), &format!("an axis {axis}"))
    }

    fn axes(&self, axes: &Axes) -> Result<()> {
        self.must(axes.last().is_none_or(|&axis| axis < self.ndim(0)), &format!("axes {:?}", &axes[..]))
    }

    fn ndim(&self, i: usize) -> usize {
        self.inputs.get(i).map_or(0, |input| input.shape.ndim())
    }

    fn last(&self, i: usize, from_end: usize) -> usize {
        self.inputs[i].shape[self.ndim(i) - from_end]
    }

    /// Matrices in the last two axes of a floating-point array.
    fn matrices(&self, i: usize) -> Result<()> {
        let is_inexact = self.inputs.get(i).is_some_and(|input| input.dtype.is_inexact());
        self.must(self.ndim(i) >= 2 && is_inexact, "matrices of floating-point numbers")
    }

    fn square(&self, i: usize) -> Result<()> {
        self.matrices(i)?;
        self.must(self.last(i, 1) == self.last(i, 2), "square matrices")
    }

    /// Equal axes in front of the last `tail` of the first two inputs.
    fn same_batch(&self, tail: usize) -> Result<()> {
        let batch = |i: usize| &self.inputs[i].shape[..self.ndim(i) - tail];
        self.must(
            batch(0) == batch(1) && self.inputs[0].dtype == self.inputs[1].dtype,
            "equal batches and dtypes",
        )
    }

    fn check(&self) -> Result<()> {
        let is_float8 = self.inputs.iter().any(|input| input.dtype.is_float8());
        self.must(!is_float8 || self.op.takes_float8(), "floats that are computed in")?;
        match self.op {
            Op::Cast(op) => {
                self.takes(1)?;
                self.must(!op.0.is_float8(), "a dtype that is computed in")
            }
            Op::Leaf(Leaf::Copy) | Op::Unary(_) | Op::Float8Cast(_) | Op::View(_) => self.takes(1),
            Op::Control(Control::StopGradient) | Op::Transfer(_) => self.takes(1),
            Op::Leaf(_) | Op::Full(_) | Op::Arange(_) | Op::Eye(_) | Op::Custom(_) | Op::Fused(_) => {
                bail!(Value, "[{}] is no step of a program, expected an operation on inputs", self.op.name())
            }
            Op::Control(Control::Depends { .. }) => self.must(!self.inputs.is_empty(), "at least one input"),
            Op::Control(Control::Found(_)) => {
                self.takes(2)?;
                self.must(self.inputs[1].dtype == DType::Bool, "places and a condition of bool")
            }
            Op::Control(Control::Counted { .. }) => {
                self.takes(2)?;
                self.must(self.inputs[1].dtype == DType::Int64, "an array and counts of int64")
            }
            Op::Control(Control::Classes { .. }) => {
                self.takes(1)?;
                let is_signed =
                    matches!(self.inputs[0].dtype, DType::Int8 | DType::Int16 | DType::Int32 | DType::Int64);
                self.must(is_signed, "signed integers")
            }
            Op::Binary(_) => self.alike(2),
            Op::Select(_) => {
                self.takes(3)?;
                let [condition, a, b] = [0, 1, 2].map(|i| self.inputs[i]);
                let fits = condition.dtype == DType::Bool && condition.shape == a.shape && a == b;
                self.must(fits, "a condition of bool and two arrays of its shape")
            }
            Op::Broadcast(op) => {
                self.takes(1)?;
                self.must(
                    self.inputs[0].shape.broadcasts_to(&op.shape),
                    &format!("a part of shape {}", op.shape),
                )
            }
            Op::Reshape(_) | Op::Slice(_) => self.takes(1),
            Op::Transpose(op) => {
                self.takes(1)?;
                let mut sorted: Vec<usize> = op.permutation.to_vec();
                sorted.sort_unstable();
                self.must(sorted.into_iter().eq(0..self.ndim(0)), "a permutation of the axes")
            }
            Op::SliceUpdate(_) => self.takes(2),
            Op::Concatenate(op) => {
                self.must(!self.inputs.is_empty(), "at least one input")?;
                self.axis(op.axis)?;
                self.must(
                    self.inputs.iter().all(|input| input.shape.ndim() == self.ndim(0)),
                    "as many axes each",
                )
            }
            Op::Reduce(op) => {
                self.takes(1)?;
                self.axes(&op.axes)
            }
            Op::Gather(op) => {
                self.takes(1 + op.axes.len())?;
                self.must(are_axes(&op.axes, self.ndim(0)), "axes in ascending order")
            }
            Op::Scatter(op) => {
                self.takes(2 + op.axes.len())?;
                self.must(are_axes(&op.axes, self.ndim(0)), "axes in ascending order")
            }
            Op::GatherAxis(op) => {
                self.takes(2)?;
                self.axis(op.axis)
            }
            Op::ScatterAxis(op) => {
                self.takes(3)?;
                self.axis(op.axis)
            }
            Op::ArgReduce(op) => {
                self.takes(1)?;
                self.axis(op.axis)
            }
            Op::Scan(op) => {
                self.takes(1)?;
                self.axis(op.axis)
            }
            Op::Sort(op) => {
                self.takes(1)?;
                self.axis(op.axis)?;
                match op.what {
                    Sorted::Values | Sorted::Indices(_) => Ok(()),
                    Sorted::ValuesAround(place) | Sorted::Around(place) => {
                        let length = self.inputs[0].shape[op.axis];
                        self.must(place < length.max(1), "a place along the axis")
                    }
                }
            }
            Op::MatMul(_) => {
                self.takes(2)?;
                self.must(self.ndim(0) >= 2 && self.ndim(0) == self.ndim(1), "matrices")?;
                self.same_batch(2)
            }
            Op::IndexedMatMul(_) => {
                self.takes(5)?;
                self.must(self.inputs[0].dtype == self.inputs[1].dtype, "equal dtypes")?;
                self.must(self.ndim(2) == 1, "lists of indices")
            }
            Op::SegmentedMatMul(_) => {
                self.takes(3)?;
                self.must(self.inputs[0].dtype == self.inputs[1].dtype, "equal dtypes")?;
                self.must(
                    self.ndim(0) == 2 && (2..=3).contains(&self.ndim(1)) && self.ndim(2) == 2,
                    "matrices",
                )
            }
            Op::Quantize(Quantize(how)) | Op::Rounded(Rounded(how)) => {
                self.must(takes(*how, self.inputs), "rows of whole groups of real numbers")
            }
            Op::Dequantize(op) => {
                self.stored(op.how, self.inputs)?;
                self.must(op.dtype.is_floating(), "a floating dtype")
            }
            Op::QuantizedMatMul(op) => {
                let parts = if op.product.how.has_biases() { 3 } else { 2 };
                let picks = if op.count.is_some() { 3 } else { 0 };
                self.takes(1 + parts + picks)?;
                self.stored(op.product.how, &self.inputs[1..=parts])?;
                self.must(
                    self.inputs[0].dtype.is_floating() && self.ndim(0) == 3 && self.ndim(1) == 3,
                    "stacks of matrices of real numbers",
                )?;
                let is_whole = op.count.is_some() || self.inputs[0].shape[0] == self.inputs[1].shape[0];
                self.must(is_whole, "as many matrices on both sides")
            }
            Op::Fp8(op) => {
                self.takes(1)?;
                match *op {
                    Fp8::Encode => self.must(self.inputs[0].dtype.is_floating(), "real numbers"),
                    Fp8::Decode(dtype) => self.must(
                        self.inputs[0].dtype == DType::UInt8 && dtype.is_floating(),
                        "uint8 and a floating dtype",
                    ),
                }
            }
            Op::Convolution(op) => self.convolving(&op.0),
            Op::ConvolutionWeight(op) => {
                self.must(op.taps.len() == op.how.axes.len(), "a length of the kernel an axis")?;
                self.convolving(&op.how)
            }
            Op::RandomBits(_) => {
                self.takes(1)?;
                let is_key =
                    self.inputs[0].dtype == DType::UInt32 && self.ndim(0) > 0 && self.last(0, 1) == 2;
                self.must(is_key, "keys of two words")
            }
            Op::Pick(_) => {
                self.takes(2)?;
                self.must(self.ndim(0) > 0 && self.ndim(0) == self.ndim(1), "rows of weights and levels")?;
                self.same_batch(1)
            }
            Op::Rejections(_) => {
                self.takes(2)?;
                let [keys, parameters] = [self.inputs[0], self.inputs[1]];
                let is_key = keys.dtype == DType::UInt32 && self.ndim(0) > 0 && self.last(0, 1) == 2;
                let fits = is_key && parameters.shape.starts_with(&keys.shape[..self.ndim(0) - 1]);
                self.must(
                    fits && parameters.dtype == DType::Float64,
                    "keys of two words and float64 parameters",
                )
            }
            Op::Composite(_) => {
                self.must((1..=7).contains(&self.inputs.len()), "one to seven inputs")?;
                let is_inexact = self.inputs[0].dtype.is_inexact() && !self.inputs[0].dtype.is_complex();
                self.must(self.ndim(0) > 0 && is_inexact, "rows of real numbers")
            }
            Op::Cholesky(_)
            | Op::Inverse(_)
            | Op::Determinant(_)
            | Op::SignedLog(_)
            | Op::Adjugate(_)
            | Op::Eigh(_)
            | Op::Eig(_)
            | Op::Expm(_) => {
                self.takes(1)?;
                self.square(0)
            }
            Op::Lu(_) | Op::Qr(_) | Op::Svd(_) | Op::Pinv(_) => {
                self.takes(1)?;
                self.matrices(0)
            }
            Op::Solve(_) => {
                self.takes(2)?;
                self.square(0)?;
                self.matrices(1)?;
                self.must(
                    self.ndim(0) == self.ndim(1) && self.last(0, 1) == self.last(1, 2),
                    "as many rows",
                )?;
                self.same_batch(2)
            }
            Op::Fft(op) => {
                self.takes(1)?;
                self.axis(op.axis)?;
                let [from, _] = op.transform.lengths(op.length);
                self.must(self.inputs[0].dtype.is_inexact(), "floating-point numbers")?;
                self.must(op.length > 0 && self.inputs[0].shape[op.axis] == from, &format!("{from} elements"))
            }
            Op::Checkpoint(op) => {
                let outputs = check_outputs(&op.program)?;
                let expected = op.program.arguments.iter().chain(&outputs);
                self.must(self.inputs.iter().copied().eq(expected), "a function's arguments and outputs")
            }
            Op::Loop(op) => {
                let Iteration { body, carry, rows, sums, length, keeps, .. } = &*op.0;
                self.body(body)?;
                let kept = if *keeps { *carry } else { 0 };
                let fits = carry.saturating_add(*rows) <= body.arguments().len()
                    && carry.saturating_add(*sums).saturating_add(kept) <= body.outputs.len()
                    && body.outputs[..*carry] == body.arguments()[..*carry];
                self.must(fits, "a function that answers what it carries")?;
                let rows = self.inputs.iter().skip(*carry).take(*rows);
                let mut lengths = rows.map(|input| input.shape.first().copied());
                self.must(lengths.all(|own| own == Some(*length)), &format!("sequences of {length}"))
            }
            Op::Branch(op) => {
                op.0.bodies.iter().try_for_each(|body| self.body(body))?;
                let alike = op.0.bodies.windows(2).all(|pair| pair[0].outputs == pair[1].outputs);
                self.must(alike && !op.0.bodies.is_empty(), "functions that answer alike")?;
                let is_index =
                    self.ndim(0) == 0 && self.inputs.first().is_some_and(|i| i.dtype == DType::Int32);
                self.must(is_index, "a number of a function")
            }
            Op::While(op) => {
                let (condition, body) = (&op.0.condition, &op.0.body);
                self.body(condition)?;
                self.body(body)?;
                let answer = [ArraySpec::new(umber_types::Shape::scalar(), DType::Bool)];
                let fits = condition.outputs == answer && body.arguments().starts_with(&body.outputs);
                self.must(fits, "a condition, and a function that answers what it carries")
            }
            Op::NumberOfElements(op) => {
                self.takes(1)?;
                self.axes(&op.axes)
            }
            Op::Search(_) => self.takes(2),
            Op::Nonzero(_) => self.takes(1),
        }
    }

    /// The parts of a quantised array; their shapes are checked where the result's is found.
    fn stored(&self, how: Quantization, parts: &[&ArraySpec]) -> Result<()> {
        let are_stored = match (parts, how.has_biases()) {
            ([words, scales, biases], true) => {
                words.dtype == DType::UInt32 && scales.dtype.is_floating() && biases.dtype.is_floating()
            }
            ([words, scales], false) => words.dtype == DType::UInt32 && scales.dtype == DType::UInt8,
            _ => false,
        };
        self.must(are_stored, "words, scales and biases of a quantised array")
    }

    fn body(&self, body: &Body) -> Result<()> {
        let outputs = check_outputs(&body.program)?;
        self.must(outputs == body.outputs, "a function that answers what it says")
    }

    fn convolving(&self, how: &umber_types::Convolving) -> Result<()> {
        self.takes(2)?;
        let small = |length: usize| (1..1 << 31).contains(&length);
        let sound = how.axes.iter().all(|axis| {
            [axis.stride, axis.kernel_dilation, axis.input_dilation].into_iter().all(small)
                && [axis.low, axis.high].into_iter().all(|pad| pad.unsigned_abs() < 1 << 31)
        });
        self.must(sound && small(how.groups), "steps and groups of at least one")?;
        let ndim = how.axes.len() + 2;
        self.must(self.ndim(0) == ndim && self.ndim(1) == ndim, &format!("{ndim} axes each"))?;
        let divides = self.last(0, 1).is_multiple_of(how.groups);
        self.must(
            divides && self.inputs[0].dtype == self.inputs[1].dtype,
            "channels for every group, equal dtypes",
        )
    }
}
