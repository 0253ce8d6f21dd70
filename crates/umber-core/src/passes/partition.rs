//! Partition: which steps of a program share a kernel.
//!
//! Walking from users to inputs, an elementwise step joins the region of its users when they are all in one region
//! and have its shape and device. A value that is an output of the program is stored as one more output of the region. Nothing is
//! computed twice except what costs nothing: constants, broadcasts and copies are folded into every region that reads them.
//!
//! A reduction ends a region: the elementwise steps that only it reads are computed a block at a time and folded, and
//! nothing but its result is stored. A product of matrices begins one, if only that reads it: the elementwise steps go on
//! with a block of it as soon as it is computed.

use smallvec::{SmallVec, smallvec};
use umber_types::{Device, Shape};

use super::Slots;
use crate::graph::program::Step;
use crate::primitive::{FusionRole, Primitive};

/// A region has at most this many steps: beyond it, registers no longer stay in the nearest cache.
const MAX_REGION_STEPS: usize = 48;
/// And at most this many values stored.
const MAX_REGION_OUTPUTS: usize = 8;

/// What runs as one piece of work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Unit {
    /// One step by its own kernel.
    Step(u32),
    /// Elementwise steps, perhaps with a reduction of what they lead to or the product they begin with, by one fused kernel.
    Region(RegionSteps),
}

/// The steps of a region, by their place in the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct RegionSteps {
    /// All steps, inputs before users.
    pub(crate) steps: SmallVec<[u32; 8]>,
    /// Those whose values are stored; of a reduction only itself.
    pub(crate) outputs: SmallVec<[u32; 2]>,
}

impl RegionSteps {
    /// The step that all others lead to.
    pub(crate) fn root(&self) -> usize {
        self.steps[self.steps.len() - 1] as usize
    }

    /// Which of the steps has this place in the program. Mostly one follows the other there.
    pub(crate) fn position(&self, place: u32) -> Option<usize> {
        let near = place.checked_sub(*self.steps.first()?)? as usize;
        if self.steps.get(near) == Some(&place) { Some(near) } else { self.steps.binary_search(&place).ok() }
    }
}

/// Units in an order in which they can run. Often there is but one.
pub(crate) type Units = SmallVec<[Unit; 1]>;

/// The readers of a step found so far.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Readers {
    Unread,
    /// Only this region.
    Region(u32),
    /// Several regions, or one through a broadcast: the value must be stored, unless it costs nothing.
    Several,
    /// A kernel of another kind: the value must be stored.
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

/// Group the steps of a program that its outputs need into units of work, in an order in which they can run.
pub(crate) fn partition(slots: &Slots<'_>) -> Units {
    let steps = slots.steps();
    let mut readers: SmallVec<[Readers; 8]> = SmallVec::from_elem(Readers::Unread, steps.len());
    let products = Products::count(slots);
    let mut regions: SmallVec<[RegionBuilder; 2]> = SmallVec::new();
    let mut units = Units::new();
    // Places of regions in `units`, filled in at the end: units are collected from users to inputs.
    const LATER: u32 = u32::MAX;
    for (i, step) in steps.iter().enumerate().rev() {
        let is_output = slots.is_output(i);
        if !is_output && readers[i] == Readers::Unread {
            continue;
        }
        let own = is_output || readers[i] == Readers::Kernel;
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
                        units.push(Unit::Step(LATER));
                        Readers::Region(regions.len() as u32 - 1)
                    }
                }
            }
            FusionRole::Reduction if let Some(shape) = prologue(step, slots) => {
                regions.push(RegionBuilder::new(i, step, shape, RegionEnd::Reduction, units.len()));
                units.push(Unit::Step(LATER));
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
            FusionRole::Broadcast | FusionRole::Alias | FusionRole::Constant if own => {
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
    for RegionBuilder { mut members, ends, place, .. } in regions {
        members.steps.reverse();
        units[place] = match (&members.steps[..], ends) {
            (&[only], RegionEnd::Reduction) => Unit::Step(only),
            _ => Unit::Region(members),
        };
    }
    units.reverse();
    units
}

/// What the last step of a region is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum RegionEnd {
    Elementwise,
    Reduction,
}

/// A region while steps are still added to it.
struct RegionBuilder {
    /// Users before inputs.
    members: RegionSteps,
    /// The shape of every step.
    shape: Shape,
    ends: RegionEnd,
    /// Where it runs.
    device: Device,
    /// The product it begins with.
    product: Option<usize>,
    /// Where it goes among the units.
    place: usize,
}

impl RegionBuilder {
    fn new(root: usize, step: &Step, shape: Shape, ends: RegionEnd, place: usize) -> RegionBuilder {
        let members = RegionSteps { steps: smallvec![root as u32], outputs: smallvec![root as u32] };
        RegionBuilder { members, shape, ends, device: step.stream.device, product: None, place }
    }

    /// May it begin with this product, perhaps under another shape?
    fn may_begin_with(&self, product: usize, slots: &Slots<'_>) -> bool {
        let spec = slots.spec(product);
        let has_home = |&output: &u32| slots.spec(output as usize).dtype == spec.dtype;
        self.ends == RegionEnd::Elementwise
            && slots.steps()[product].stream.device == self.device
            && self.product.is_none_or(|own| own == product)
            && self.shape.size() == spec.shape.size()
            && self.shape.last() == spec.shape.last()
            && self.members.outputs.iter().any(has_home)
    }

    /// It begins with this product, of which `step` is a part: itself, or its other shape.
    fn begin_with(&mut self, product: usize, step: usize) {
        self.product = Some(product);
        self.members.steps.push(step as u32);
    }

    /// May a step of this shape, of which all users are in here, be computed in here?
    fn admits(&self, step: &Step, shape: &Shape, is_output: bool) -> bool {
        let has_free_output = match self.ends {
            RegionEnd::Elementwise => self.members.outputs.len() < MAX_REGION_OUTPUTS,
            RegionEnd::Reduction => false,
        };
        self.members.steps.len() < MAX_REGION_STEPS
            && (!is_output || has_free_output)
            && self.shape == *shape
            && self.device == step.stream.device
    }
}

/// Which products nothing but one step reads.
struct Products {
    /// By their places; empty if there is no product.
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

    /// The product that a step alone reads.
    fn behind(&self, step: &Step, slots: &Slots<'_>) -> Option<usize> {
        let i = slots.writer(step.inputs.first()?)?;
        self.has_one_reader.get(i).copied().unwrap_or(false).then_some(i)
    }
}

/// The shape of the steps that may run in one region with a reduction, if its input is such a step.
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
    fn members_are_found_by_place_with_or_without_gaps() {
        for steps in [smallvec![3, 4, 5], smallvec![3, 5, 6, 9], smallvec![0]] {
            let members = RegionSteps { steps, outputs: SmallVec::new() };
            for place in 0..12 {
                let expected = members.steps.iter().position(|&step| step == place);
                assert_eq!(members.position(place), expected, "{place} among {:?}", members.steps);
            }
        }
    }
}
