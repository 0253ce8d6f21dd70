//! Partition: decide which steps of a program share a kernel.
//!
//! The pass goes from users to inputs. An elementwise step joins the region of its users when they are all in one region
//! and have its shape and device. A value that is an output of the program is stored as a further output of the region. No work
//! is repeated, except for operations without cost: constants, broadcasts and copies are folded into every region that reads
//! them.
//!
//! A reduction ends a region: the elementwise steps that only it reads are computed block by block and reduced, and
//! only its result is stored. A matrix product begins a region if it is the only reader: the elementwise steps are applied to
//! each block of the product as an epilogue.

use smallvec::{SmallVec, smallvec};
use umber_types::{Device, Shape};

use super::Slots;
use crate::graph::program::Step;
use crate::primitive::{FusionRole, Primitive};

/// Maximum number of steps of a region; with more, the tape's registers exceed the L1 cache.
const MAX_REGION_STEPS: usize = 48;
/// Maximum number of stored values of a region.
const MAX_REGION_OUTPUTS: usize = 8;

/// Steps that run as one kernel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// One step by its own kernel.
    Step(u32),
    /// Elementwise steps, possibly with a reduction at the end or a product at the beginning, by one fused kernel.
    Region(RegionSteps),
}

/// The steps of a region, by their indices in the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RegionSteps {
    /// All steps, inputs before users.
    pub(crate) steps: SmallVec<[u32; 8]>,
    /// The steps whose values are stored; only the reduction itself if there is one.
    pub(crate) outputs: SmallVec<[u32; 2]>,
}

impl RegionSteps {
    /// The last step, which depends on all others.
    pub(crate) fn root(&self) -> usize {
        self.steps[self.steps.len() - 1] as usize
    }

    /// The index among the steps of the step with this index in the program. Usually the steps are consecutive.
    pub(crate) fn position(&self, step: u32) -> Option<usize> {
        let offset = step.checked_sub(*self.steps.first()?)? as usize;
        if self.steps.get(offset) == Some(&step) {
            Some(offset)
        } else {
            self.steps.binary_search(&step).ok()
        }
    }
}

/// Units in executable order. Usually there is only one.
pub(crate) type Units = SmallVec<[Unit; 1]>;

/// The readers found so far of a step's value.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Readers {
    Unread,
    /// Only this region.
    Region(u32),
    /// Several regions, or one through a broadcast: the value must be stored, unless it is free to recompute.
    Several,
    /// A separate kernel: the value must be stored.
    Kernel,
}

impl Readers {
    fn and(self, other: Readers) -> Readers {
        match (self, other) {
            (Readers::Unread, x) | (x, Readers::Unread) => x,
            (Readers::Kernel, _) | (_, Readers::Kernel) => Readers::Kernel,
            (a, b) if a == b => a,
            _ => Readers::Several,
        }
    }
}

/// Group the steps that the program's outputs depend on into units of work, in executable order.
pub(crate) fn partition(slots: &Slots<'_>) -> Units {
    let steps = slots.steps();
    let mut readers: SmallVec<[Readers; 8]> = SmallVec::from_elem(Readers::Unread, steps.len());
    let products = Products::count(slots);
    let mut regions: SmallVec<[RegionBuilder; 2]> = SmallVec::new();
    let mut units = Units::new();
    // A unit is a placeholder until its region is complete: units are collected from users to inputs.
    const PLACEHOLDER: u32 = u32::MAX;
    for (i, step) in steps.iter().enumerate().rev() {
        let is_output = slots.is_output(i);
        if !is_output && readers[i] == Readers::Unread {
            continue;
        }
        let is_stored = is_output || readers[i] == Readers::Kernel;
        let reads = match step.op.fusion_role() {
            FusionRole::Step(_) => {
                let shape = &slots.spec(i).shape;
                match readers[i] {
                    Readers::Region(r) if regions[r as usize].admits(step, shape, is_output) => {
                        let members = &mut regions[r as usize].members;
                        if is_output {
                            members.outputs.push(i as u32);
                        }
                        members.steps.push(i as u32);
                        Readers::Region(r)
                    }
                    Readers::Unread | Readers::Region(_) | Readers::Several | Readers::Kernel => {
                        regions.push(RegionBuilder::new(
                            i,
                            step,
                            shape.clone(),
                            RegionEnd::Elementwise,
                            units.len(),
                        ));
                        units.push(Unit::Step(PLACEHOLDER));
                        Readers::Region(regions.len() as u32 - 1)
                    }
                }
            }
            FusionRole::Reduction if let Some(shape) = prologue(step, slots) => {
                regions.push(RegionBuilder::new(i, step, shape, RegionEnd::Reduction, units.len()));
                units.push(Unit::Step(PLACEHOLDER));
                Readers::Region(regions.len() as u32 - 1)
            }
            FusionRole::Product => match readers[i] {
                Readers::Region(r) if !is_output && regions[r as usize].may_begin_with(i, slots) => {
                    regions[r as usize].begin_with(i, i);
                    Readers::Kernel
                }
                Readers::Unread | Readers::Region(_) | Readers::Several | Readers::Kernel => {
                    units.push(Unit::Step(i as u32));
                    Readers::Kernel
                }
            },
            FusionRole::Reshape => match (readers[i], products.behind(step, slots)) {
                (Readers::Region(r), Some(product))
                    if !is_output && regions[r as usize].may_begin_with(product, slots) =>
                {
                    regions[r as usize].begin_with(product, i);
                    Readers::Region(r)
                }
                _ => {
                    units.push(Unit::Step(i as u32));
                    Readers::Kernel
                }
            },
            FusionRole::Reduction | FusionRole::Alone => {
                units.push(Unit::Step(i as u32));
                Readers::Kernel
            }
            FusionRole::Broadcast | FusionRole::Alias | FusionRole::Constant if is_stored => {
                units.push(Unit::Step(i as u32));
                Readers::Kernel
            }
            FusionRole::Alias => readers[i],
            FusionRole::Broadcast | FusionRole::Constant => Readers::Several,
        };
        for input in &step.inputs {
            if let Some(j) = slots.writer(input) {
                readers[j] = readers[j].and(reads);
            }
        }
    }
    for RegionBuilder { mut members, end, unit_index, .. } in regions {
        members.steps.reverse();
        units[unit_index] = match (&members.steps[..], end) {
            (&[only], RegionEnd::Reduction) => Unit::Step(only),
            _ => Unit::Region(members),
        };
    }
    units.reverse();
    units
}

/// The kind of a region's last step.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RegionEnd {
    Elementwise,
    Reduction,
}

/// A region under construction.
struct RegionBuilder {
    /// Users before inputs.
    members: RegionSteps,
    /// The shape of every step.
    shape: Shape,
    end: RegionEnd,
    /// The device it runs on.
    device: Device,
    /// The product it begins with.
    product: Option<usize>,
    /// Its index among the units.
    unit_index: usize,
}

impl RegionBuilder {
    fn new(root: usize, step: &Step, shape: Shape, end: RegionEnd, unit_index: usize) -> RegionBuilder {
        let members = RegionSteps { steps: smallvec![root as u32], outputs: smallvec![root as u32] };
        RegionBuilder { members, shape, end, device: step.stream.device, product: None, unit_index }
    }

    /// Whether it can begin with this product, possibly reshaped.
    fn may_begin_with(&self, product: usize, slots: &Slots<'_>) -> bool {
        let spec = slots.spec(product);
        let has_same_dtype = |&output: &u32| slots.spec(output as usize).dtype == spec.dtype;
        self.end == RegionEnd::Elementwise
            && slots.steps()[product].stream.device == self.device
            && self.product.is_none_or(|own| own == product)
            && self.shape.size() == spec.shape.size()
            && self.shape.last() == spec.shape.last()
            && self.members.outputs.iter().any(has_same_dtype)
    }

    /// Let it begin with this product. `step` is the product itself or its reshape.
    fn begin_with(&mut self, product: usize, step: usize) {
        self.product = Some(product);
        self.members.steps.push(step as u32);
    }

    /// Whether a step of this shape can join the region, if all its users are in it.
    fn admits(&self, step: &Step, shape: &Shape, is_output: bool) -> bool {
        let has_free_output = match self.end {
            RegionEnd::Elementwise => self.members.outputs.len() < MAX_REGION_OUTPUTS,
            RegionEnd::Reduction => false,
        };
        self.members.steps.len() < MAX_REGION_STEPS
            && (!is_output || has_free_output)
            && self.shape == *shape
            && self.device == step.stream.device
    }
}

/// The products that are read by one step only.
struct Products {
    /// For each step; empty if the program has no product.
    has_one_reader: Vec<bool>,
}

impl Products {
    fn count(slots: &Slots<'_>) -> Products {
        let steps = slots.steps();
        let is_product = |step: &Step| step.op.fusion_role() == FusionRole::Product;
        if !steps.iter().any(is_product) {
            return Products { has_one_reader: Vec::new() };
        }
        let mut readers = vec![0u32; steps.len()];
        for writer in steps.iter().flat_map(|step| &step.inputs).filter_map(|input| slots.writer(input)) {
            readers[writer] += 1;
        }
        let is_one = |(i, step)| is_product(step) && readers[i] == 1 && !slots.is_output(i);
        Products { has_one_reader: steps.iter().enumerate().map(is_one).collect() }
    }

    /// The product that this step reads, if it is its only reader.
    fn behind(&self, step: &Step, slots: &Slots<'_>) -> Option<usize> {
        let i = slots.writer(step.inputs.first()?)?;
        self.has_one_reader.get(i).copied().unwrap_or(false).then_some(i)
    }
}

/// The shape of the elementwise steps that can run in one region with a reduction, if its input is such a step.
fn prologue(reduction: &Step, slots: &Slots<'_>) -> Option<Shape> {
    let writer = slots.writer(reduction.inputs.first()?)?;
    let inner = &slots.steps()[writer];
    let is_step = matches!(inner.op.fusion_role(), FusionRole::Step(_))
        && inner.stream.device == reduction.stream.device;
    is_step.then(|| slots.spec(writer).shape.clone())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_of_members_with_and_without_gaps() {
        for steps in [smallvec![3, 4, 5], smallvec![3, 5, 6, 9], smallvec![0]] {
            let members = RegionSteps { steps, outputs: SmallVec::new() };
            for step in 0..12 {
                let expected = members.steps.iter().position(|&member| member == step);
                assert_eq!(members.position(step), expected, "{step} among {:?}", members.steps);
            }
        }
    }
}
