//! Convolution, and its derivative with respect to the weight. All their derivatives are convolutions or weight derivatives.

use smallvec::SmallVec;
use umber_types::{ConvParams, Result, Shape, ensure};

use super::rules::{add, conj, move_axis, reshape, transpose, zeros_like};
use super::slice::{Window, slice};
use crate::generalization::{Change, Generalized, any_lengths};
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, Point, Primitive, Rule, Tangents, batch_size, rule};
use crate::validation::Site;

/// Inputs: `[batch, lengths.., channels]` and a weight `[outputs, taps.., channels / groups]`; the result is
/// `[batch, lengths.., outputs]`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct Convolution(pub Box<ConvParams>);

/// Inputs: the input of a convolution and the cotangent of its result; the result is the cotangent of its weight.
#[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub struct ConvolutionWeight {
    /// The parameters of the convolution.
    #[serde(rename = "how")]
    pub params: Box<ConvParams>,
    /// Lengths of the spatial axes of its weight.
    pub taps: Box<[usize]>,
}

/// The convolution of an input and a weight.
pub(crate) fn convolve(params: &ConvParams, x: &Array, weight: &Array) -> Result<Array> {
    Array::record_one(Convolution(Box::new(params.clone())), &[x, weight])
}

fn weight_cotangent(params: &ConvParams, taps: &[usize], x: &Array, ct: &Array) -> Result<Array> {
    Array::record_one(ConvolutionWeight { params: Box::new(params.clone()), taps: taps.into() }, &[x, ct])
}

/// The cotangent of the input, a transposed convolution: the cotangent of the result, dilated by the stride, convolved with the
/// weight reversed along its spatial axes.
fn input_cotangent(params: &ConvParams, shape: &Shape, weight: &Array, ct: &Array) -> Result<Array> {
    let (ndim, taps) = (weight.ndim(), spatial(weight.shape()));
    let axes = params.axes.iter().enumerate();
    let axes = axes.map(|(i, axis)| axis.transposed(shape[i + 1], taps[i], ct.shape()[i + 1])).collect();
    let mut window = Window::whole(weight.shape());
    for axis in 1..ndim - 1 {
        window.starts[axis] = weight.shape()[axis].saturating_sub(1);
        window.steps[axis] = -1;
    }
    let flipped = split(&slice(weight, window)?, 0, params.groups)?;
    let mut order: SmallVec<[usize; 6]> = (0..=ndim).collect();
    order.swap(1, ndim);
    let transposed = merge(&transpose(&flipped, &order)?, 0)?;
    convolve(&ConvParams { axes, groups: params.groups }, ct, &transposed)
}

/// The spatial axes: all but the first and the last.
fn spatial(shape: &[usize]) -> &[usize] {
    &shape[1..shape.len() - 1]
}

/// `x` with an axis split in two, the first of length `count`.
fn split(x: &Array, axis: usize, count: usize) -> Result<Array> {
    let mut shape = x.shape().with(axis, x.shape()[axis] / count);
    shape.insert(axis, count);
    reshape(x, shape)
}

/// `x` with an axis and the next one merged.
fn merge(x: &Array, axis: usize) -> Result<Array> {
    let mut shape = x.shape().clone();
    let length = shape.remove(axis);
    let merged = shape.with(axis, shape[axis] * length);
    reshape(x, merged)
}

/// Merge the batch axis of `vmap` into the channel axis: in front of all channels if `groups` is one, else inside each group.
fn into_channels(x: &Array, groups: usize) -> Result<Array> {
    let last = x.ndim() - 1;
    if groups == 1 {
        return merge(&move_axis(x, 0, last - 1)?, last - 1);
    }
    let per_group = move_axis(&split(x, last, groups)?, 0, last)?;
    merge(&merge(&per_group, last)?, last - 1)
}

/// The inverse of [`into_channels`] for an axis: splits off the batch axis and moves it to the front.
fn out_of_channels(x: &Array, axis: usize, groups: usize, batch_size: usize) -> Result<Array> {
    let per_group = split(&split(x, axis, groups)?, axis + 1, batch_size)?;
    let shape: Shape = x.shape().with(axis, x.shape()[axis] / batch_size);
    let shape = std::iter::once(batch_size).chain(shape.iter().copied()).collect::<Shape>();
    reshape(&move_axis(&per_group, axis + 1, 0)?, shape)
}

/// The result of `vmap` with batch size zero, an empty array; the other rules would divide by the batch size.
fn without_batch(op: &impl Primitive, inputs: &[Batched]) -> Result<Vec<Batched>> {
    let specs: SmallVec<[ArraySpec; 2]> =
        inputs.iter().map(|input| ArraySpec::new(input.shape(), input.array.dtype())).collect();
    let spec = op.infer(&specs.iter().collect::<SmallVec<[&ArraySpec; 2]>>())?.remove(0);
    let shape: Shape = std::iter::once(0).chain(spec.shape.iter().copied()).collect();
    Ok(vec![Batched::yes(Array::full(shape, 0.0, spec.dtype))])
}

/// The jvp of a bilinear operation: the sum of the products with either tangent.
fn product_jvp(
    at: &Point<'_>,
    tangents: &Tangents,
    product: impl Fn(&Array, &Array) -> Result<Array>,
) -> Result<Vec<Array>> {
    let left = tangents[0].as_ref().map(|t| product(t, &at.inputs[1])).transpose()?;
    let right = tangents[1].as_ref().map(|t| product(&at.inputs[0], t)).transpose()?;
    Ok(vec![match (left, right) {
        (Some(left), Some(right)) => add(&left, &right)?,
        (Some(one), None) | (None, Some(one)) => one,
        (None, None) => zeros_like(&at.outputs[0]),
    }])
}

/// Check the inputs and parameters of a convolution loaded from a file.
fn validate(params: &ConvParams, site: &Site<'_>) -> Result<()> {
    site.takes(2)?;
    let is_small = |length: usize| (1..1 << 31).contains(&length);
    let are_valid = params.axes.iter().all(|axis| {
        [axis.stride, axis.kernel_dilation, axis.input_dilation].into_iter().all(is_small)
            && [axis.low, axis.high].into_iter().all(|pad| pad.unsigned_abs() < 1 << 31)
    });
    site.must(are_valid && is_small(params.groups), "positive strides and groups")?;
    let ndim = params.axes.len() + 2;
    site.must(site.ndim(0) == ndim && site.ndim(1) == ndim, &format!("{ndim} axes each"))?;
    let divides = site.last(0, 1).is_multiple_of(params.groups);
    let have_equal_dtypes = site.inputs[0].dtype == site.inputs[1].dtype;
    site.must(divides && have_equal_dtypes, "channels for every group, equal dtypes")
}

/// Make the channels of an input contiguous: the kernels for grouped convolutions use channels as SIMD lanes.
fn make_channels_contiguous(task: &mut CpuTask<'_>, input: usize, groups: usize) -> Result<()> {
    if groups > 1 && task.inputs[input].layout.strides.last() != Some(&1) {
        task.inputs[input] = task.host(input).to_dense(task.dtypes[input])?;
    }
    Ok(())
}

impl Primitive for Convolution {
    fn name(&self) -> &'static str {
        "convolution"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        let (x, weight) = (&inputs[0].shape, &inputs[1].shape);
        let last = x.ndim() - 1;
        ensure!(
            weight.ndim() == x.ndim() && last == self.0.axes.len() + 1,
            Value("convolution"),
            "got shapes {x} and {weight} for {} spatial axes",
            self.0.axes.len()
        );
        ensure!(
            x[last] == weight[last] * self.0.groups && weight[0].is_multiple_of(self.0.groups),
            Value("convolution"),
            "channels of shapes {x} and {weight} do not fit {} groups",
            self.0.groups
        );
        let lengths = self.0.axes.iter().enumerate().map(|(i, axis)| axis.outputs(x[i + 1], weight[i + 1]));
        let lengths = std::iter::once(x[0]).chain(lengths).chain([weight[0]]);
        let lengths: SmallVec<[i64; 6]> = lengths.map(|length| length as i64).collect();
        Ok(ArraySpec { shape: Shape::checked("convolution", &lengths)?, dtype: inputs[0].dtype }.into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        validate(&self.0, site)
    }

    fn generalize(&self, change: &mut Change<'_>) -> Option<Generalized> {
        // The public functions reject an input that is shorter than the kernel.
        let fits = |specs: &[&ArraySpec]| {
            let lengths = |i: usize| (specs[0].shape[i + 1], specs[1].shape[i + 1]);
            self.0.axes.iter().enumerate().all(|(i, axis)| {
                let (input, taps) = lengths(i);
                axis.positions(input) >= axis.kernel_extent(taps)
            })
        };
        if fits(&change.new) || !fits(&change.old) { Some(Generalized::of(self.clone())) } else { None }
    }

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let (x, weight, ct) = (&at.inputs[0], &at.inputs[1], &cotangents[0]);
            at.pull(|i| {
                Ok(Some(match i {
                    0 => input_cotangent(&self.0, x.shape(), &conj(weight)?, ct)?,
                    _ => weight_cotangent(&self.0, spatial(weight.shape()), &conj(x)?, ct)?,
                }))
            })
        })
    }

    fn jvp(&self, at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        rule(|| product_jvp(at, tangents, |x, weight| convolve(&self.0, x, weight)))
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| {
            let (x, weight) = (&inputs[0], &inputs[1]);
            let (batch_size, groups) = (batch_size(inputs), self.0.groups);
            if batch_size == 0 {
                return without_batch(self, inputs);
            }
            let out = if !weight.batched {
                // The axis of `vmap` becomes part of the batch axis.
                split(&convolve(&self.0, &merge(&x.array, 0)?, &weight.array)?, 0, batch_size)?
            } else if !x.batched {
                // The axis of `vmap` becomes part of the output channels of each group.
                let per_group = move_axis(&split(&weight.array, 1, groups)?, 0, 1)?;
                let wide = convolve(&self.0, &x.array, &merge(&merge(&per_group, 0)?, 0)?)?;
                out_of_channels(&wide, wide.ndim() - 1, groups, batch_size)?
            } else {
                // Each batch element becomes `groups` groups of its own.
                let params = ConvParams { groups: groups * batch_size, ..(*self.0).clone() };
                let wide = convolve(&params, &into_channels(&x.array, 1)?, &merge(&weight.array, 0)?)?;
                out_of_channels(&wide, wide.ndim() - 1, 1, batch_size)?
            };
            Ok(vec![Batched::yes(out)])
        })
    }

    fn flops(&self, inputs: &[&ArraySpec], outputs: &[&ArraySpec]) -> Option<u64> {
        // Each result is a sum over one filter.
        let (filters, weight) = (*inputs[1].shape.first()?, inputs[1].shape.size());
        Some(2 * (outputs[0].shape.size() as u64) * (weight / filters.max(1)) as u64)
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        make_channels_contiguous(task, 0, self.0.groups)?;
        task.run_one(|inputs, output| {
            umber_kernels::conv::convolve(&self.0, inputs[0], inputs[1], output);
            Ok(())
        })
    }
}

impl Primitive for ConvolutionWeight {
    fn name(&self) -> &'static str {
        "convolution_weight"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        let (x, ct) = (&inputs[0].shape, &inputs[1].shape);
        let last = x.ndim() - 1;
        let fits =
            |(i, axis): (usize, &umber_types::ConvAxis)| ct[i + 1] == axis.outputs(x[i + 1], self.taps[i]);
        ensure!(
            ct.ndim() == x.ndim() && x[0] == ct[0] && self.params.axes.iter().enumerate().all(fits),
            Value("convolution_weight"),
            "shapes {x} and {ct} do not match"
        );
        let channels = x[last] / self.params.groups;
        let shape = std::iter::once(ct[last]).chain(self.taps.iter().copied()).chain([channels]).collect();
        Ok(ArraySpec { shape, dtype: inputs[0].dtype }.into())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.must(self.taps.len() == self.params.axes.len(), "one kernel length per axis")?;
        validate(&self.params, site)
    }

    any_lengths!();

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        rule(|| {
            let (x, out_ct, ct) = (&at.inputs[0], &at.inputs[1], &cotangents[0]);
            at.pull(|i| {
                Ok(Some(match i {
                    0 => input_cotangent(&self.params, x.shape(), ct, &conj(out_ct)?)?,
                    _ => convolve(&self.params, &conj(x)?, ct)?,
                }))
            })
        })
    }

    fn jvp(&self, at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        rule(|| product_jvp(at, tangents, |x, out_ct| weight_cotangent(&self.params, &self.taps, x, out_ct)))
    }

    fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
        rule(|| {
            let (x, out_ct) = (&inputs[0], &inputs[1]);
            let (batch_size, groups) = (batch_size(inputs), self.params.groups);
            if batch_size == 0 {
                return without_batch(self, inputs);
            }
            let out = if !out_ct.batched {
                // The axis of `vmap` becomes part of the input channels of each group.
                let wide = weight_cotangent(
                    &self.params,
                    &self.taps,
                    &into_channels(&x.array, groups)?,
                    &out_ct.array,
                )?;
                out_of_channels(&wide, wide.ndim() - 1, 1, batch_size)?
            } else if !x.batched {
                // The axis of `vmap` becomes part of the output channels of each group.
                let wide = weight_cotangent(
                    &self.params,
                    &self.taps,
                    &x.array,
                    &into_channels(&out_ct.array, groups)?,
                )?;
                out_of_channels(&wide, 0, groups, batch_size)?
            } else {
                // Each batch element becomes `groups` groups of its own.
                let params = ConvParams { groups: groups * batch_size, ..(*self.params).clone() };
                let (x, out_ct) = (into_channels(&x.array, 1)?, into_channels(&out_ct.array, 1)?);
                split(&weight_cotangent(&params, &self.taps, &x, &out_ct)?, 0, batch_size)?
            };
            Ok(vec![Batched::yes(out)])
        })
    }

    fn flops(&self, inputs: &[&ArraySpec], outputs: &[&ArraySpec]) -> Option<u64> {
        // As many as the convolution: each element of the cotangent is multiplied by one filter's inputs.
        let (filters, weight) = (*outputs[0].shape.first()?, outputs[0].shape.size());
        Some(2 * (inputs[1].shape.size() as u64) * (weight / filters.max(1)) as u64)
    }

    fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
        make_channels_contiguous(task, 0, self.params.groups)?;
        make_channels_contiguous(task, 1, self.params.groups)?;
        task.run_one(|inputs, output| {
            umber_kernels::conv::weight_gradient(&self.params, inputs[0], inputs[1], output);
            Ok(())
        })
    }
}
