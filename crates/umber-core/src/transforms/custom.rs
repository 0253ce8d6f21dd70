//! Custom functions: functions with user-defined rules, and the batching of such rules.

use std::sync::Arc;

use smallvec::SmallVec;
use umber_types::{Axes, Result, ensure};

use super::trace::Tape;
use super::vmap::Mapped;
use crate::graph::{Array, Inputs};
use crate::op::Op;
use crate::primitive::{Batched, Tangents, batch_size};
use crate::primitives::custom::{Custom, RuleSet, Rules};
use crate::primitives::{reduce, rules};

/// Attach `rules` to the computation of `outputs` from `arguments`.
///
/// Arrays that the computation captured besides the arguments have no derivative by these rules.
pub fn with_rules(custom: Arc<dyn Rules>, arguments: &[Array], outputs: &[Array]) -> Result<Vec<Array>> {
    let is_traced = arguments.iter().chain(outputs).any(Array::is_traced);
    if !is_traced || outputs.is_empty() || custom.rule_set() == RuleSet::default() {
        return Ok(outputs.to_vec());
    }
    let inputs: Inputs = arguments.iter().chain(outputs).cloned().collect();
    Ok(Array::record(Custom::new(custom, outputs.len()), inputs)?.into_vec())
}

type Function<'f> = dyn Fn(&[Array]) -> Result<Vec<Array>> + Send + Sync + 'f;
type VjpRule = dyn Fn(&[Array], &[Array], &[Array]) -> Result<Vec<Option<Array>>> + Send + Sync;
type JvpRule = dyn Fn(&[Array], &Tangents) -> Result<Vec<Option<Array>>> + Send + Sync;
type VmapRule = dyn Fn(&[Batched]) -> Result<Vec<Batched>> + Send + Sync;

/// Rules defined by closures.
#[derive(Clone, Default)]
struct Closures {
    vjp: Option<Arc<VjpRule>>,
    jvp: Option<Arc<JvpRule>>,
    vmap: Option<Arc<VmapRule>>,
}

/// A function with custom rules for derivatives and batches.
pub struct CustomFunction<'f> {
    function: Box<Function<'f>>,
    rules: Closures,
}

/// Function whose derivatives and batching are defined by rules of its own.
///
/// Without rules it behaves as `f`.
///
/// Arrays that the function captures count as constants for the rules.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// use umber::transforms::{custom_function, grad};
///
/// // The gradient of a rounded number is that of the number.
/// let round = custom_function(|x| Ok(vec![ops::round(&x[0], 0)?]))
///     .vjp(|_arguments, cotangents, _outputs| Ok(vec![Some(cotangents[0].clone())]));
/// let slope = grad(|x| Ok(round.call(&[x * 3.0])?.remove(0)));
/// assert_eq!(slope(&Array::from(0.7f32))?.item()?.as_f64(), 3.0);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn custom_function<'f>(
    function: impl Fn(&[Array]) -> Result<Vec<Array>> + Send + Sync + 'f,
) -> CustomFunction<'f> {
    CustomFunction { function: Box::new(function), rules: Closures::default() }
}

impl CustomFunction<'_> {
    /// Pull cotangents back by `rule(arguments, cotangents, outputs)`: one cotangent for each argument, `None` is zero.
    ///
    /// Derivatives of values that the rule computes from `outputs` use the rules again, not the function's operations.
    #[must_use]
    pub fn vjp(
        mut self,
        rule: impl Fn(&[Array], &[Array], &[Array]) -> Result<Vec<Option<Array>>> + Send + Sync + 'static,
    ) -> Self {
        self.rules.vjp = Some(Arc::new(rule));
        self
    }

    /// Push tangents forward by `rule(arguments, tangents)`: one tangent for each output, `None` is zero.
    #[must_use]
    pub fn jvp(
        mut self,
        rule: impl Fn(&[Array], &Tangents) -> Result<Vec<Option<Array>>> + Send + Sync + 'static,
    ) -> Self {
        self.rules.jvp = Some(Arc::new(rule));
        self
    }

    /// Compute batches by `rule(arguments)`: batch axes come first, in the arguments and in the outputs.
    #[must_use]
    pub fn vmap(mut self, rule: impl Fn(&[Batched]) -> Result<Vec<Batched>> + Send + Sync + 'static) -> Self {
        self.rules.vmap = Some(Arc::new(rule));
        self
    }

    /// The function's outputs.
    pub fn call(&self, arguments: &[Array]) -> Result<Vec<Array>> {
        let outputs = (self.function)(arguments)?;
        with_rules(Arc::new(self.rules.clone()), arguments, &outputs)
    }
}

impl Rules for Closures {
    fn rule_set(&self) -> RuleSet {
        RuleSet { vjp: self.vjp.is_some(), jvp: self.jvp.is_some(), vmap: self.vmap.is_some() }
    }

    fn vjp(
        &self,
        arguments: &[Array],
        cotangents: &[Array],
        outputs: &[Array],
    ) -> Result<Vec<Option<Array>>> {
        let rule = self.vjp.as_ref().expect("called only if the rule exists");
        rule(arguments, cotangents, outputs)
    }

    fn jvp(
        &self,
        arguments: &[Array],
        tangents: &Tangents,
        _outputs: &[Array],
    ) -> Result<Vec<Option<Array>>> {
        let rule = self.jvp.as_ref().expect("called only if the rule exists");
        rule(arguments, tangents)
    }

    fn vmap(&self, arguments: &[Batched]) -> Result<Vec<Batched>> {
        let rule = self.vmap.as_ref().expect("called only if the rule exists");
        rule(arguments)
    }
}

/// The rules of a batched custom function, from those of a single element.
struct BatchedRules {
    rules_of_one: Arc<dyn Rules>,
    /// Which arguments are batched; all outputs are.
    batched: SmallVec<[bool; 4]>,
}

impl BatchedRules {
    fn axis(batched: bool) -> Option<i64> {
        batched.then_some(0)
    }
}

impl Rules for BatchedRules {
    fn rule_set(&self) -> RuleSet {
        RuleSet { vmap: false, ..self.rules_of_one.rule_set() }
    }

    fn vjp(
        &self,
        arguments: &[Array],
        cotangents: &[Array],
        outputs: &[Array],
    ) -> Result<Vec<Option<Array>>> {
        let values: Vec<Array> = arguments.iter().chain(cotangents).chain(outputs).cloned().collect();
        let is_batched = self.batched.iter().copied().chain(std::iter::repeat_n(true, 2 * outputs.len()));
        let mapped = Mapped::begin(&values, &is_batched.map(Self::axis).collect::<Vec<_>>())?;
        let (single, rest) = mapped.trace.inputs.split_at(arguments.len());
        let (cotangents, outputs) = rest.split_at(outputs.len());
        let mut pulled = self.rules_of_one.vjp(single, cotangents, outputs)?;
        let nonzero: Vec<Array> = pulled.iter().flatten().cloned().collect();
        let axes = vec![Some(0); nonzero.len()];
        let mut stacked = mapped.end(&nonzero, &axes)?.into_iter();
        for (pulled, &batched) in pulled.iter_mut().zip(&self.batched) {
            if pulled.is_some() {
                let batch = stacked.next().expect("one for each nonzero cotangent");
                // All batch elements share the argument: its cotangent is the sum over the batch.
                *pulled = Some(if batched { batch } else { sum_batch(&batch)? });
            }
        }
        Ok(pulled)
    }

    fn jvp(&self, arguments: &[Array], tangents: &Tangents, outputs: &[Array]) -> Result<Vec<Option<Array>>> {
        let mut values: Vec<Array> = arguments.iter().chain(outputs).cloned().collect();
        let is_batched = self.batched.iter().copied().chain(std::iter::repeat_n(true, outputs.len()));
        let mut axes: Vec<Option<i64>> = is_batched.map(Self::axis).collect();
        for (tangent, &batched) in tangents.iter().zip(&self.batched) {
            if let Some(tangent) = tangent {
                values.push(tangent.clone());
                axes.push(Self::axis(batched));
            }
        }
        let mapped = Mapped::begin(&values, &axes)?;
        let (single, rest) = mapped.trace.inputs.split_at(arguments.len());
        let (outputs, mapped_tangents) = rest.split_at(outputs.len());
        let mut mapped_tangents = mapped_tangents.iter();
        let tangents: Vec<Option<Array>> = tangents
            .iter()
            .map(|tangent| tangent.as_ref().and_then(|_| mapped_tangents.next().cloned()))
            .collect();
        let mut pushed = self.rules_of_one.jvp(single, &tangents, outputs)?;
        let nonzero: Vec<Array> = pushed.iter().flatten().cloned().collect();
        let axes = vec![Some(0); nonzero.len()];
        let mut stacked = mapped.end(&nonzero, &axes)?.into_iter();
        for pushed in pushed.iter_mut().filter(|pushed| pushed.is_some()) {
            *pushed = stacked.next();
        }
        Ok(pushed)
    }

    fn vmap(&self, _arguments: &[Batched]) -> Result<Vec<Batched>> {
        umber_types::bail!(
            Runtime("custom_function"),
            "a batched custom_function cannot be batched again by its own rule"
        )
    }
}

fn sum_batch(batch: &Array) -> Result<Array> {
    let sum = reduce::sum(batch, &Axes::one(0))?;
    rules::reshape(&sum, batch.shape()[1..].iter().copied().collect::<umber_types::Shape>())
}

/// The outputs of a custom function for a batch, recorded with batched derivative rules.
pub(super) fn batch(custom: &Custom, inputs: &[Batched]) -> Result<Vec<Batched>> {
    let batch_size = batch_size(inputs);
    let (arguments, outputs) = custom.split(inputs);
    let rule_set = custom.rules().rule_set();
    let outputs = if custom.batches_by_rule() {
        // If only captured arrays are batched, the rule is not used: it treats them as constants.
        let results = if arguments.iter().any(|argument| argument.batched) {
            custom.rules().vmap(arguments)?
        } else {
            outputs.to_vec()
        };
        check_batch(&results, outputs, batch_size)?;
        results
    } else {
        outputs.to_vec()
    };
    if !(rule_set.vjp || rule_set.jvp) {
        return Ok(outputs);
    }
    let batched = BatchedRules {
        rules_of_one: Arc::clone(custom.rules()),
        batched: arguments.iter().map(|argument| argument.batched).collect(),
    };
    let mut values: Inputs = arguments.iter().map(|argument| argument.array.clone()).collect();
    for output in &outputs {
        values.push(rules::batch(output, batch_size)?);
    }
    Ok(Batched::all(Array::record(custom.with_rules(Arc::new(batched)), values)?))
}

/// Check the results of a vmap rule: dtypes, and shapes with or without the batch axis.
fn check_batch(results: &[Batched], outputs: &[Batched], batch_size: usize) -> Result<()> {
    ensure!(
        results.len() == outputs.len(),
        Value("custom_function"),
        "the vmap rule returned {} outputs, expected {}",
        results.len(),
        outputs.len()
    );
    for (i, (result, output)) in results.iter().zip(outputs).enumerate() {
        let has_expected_shape = if result.batched {
            result.array.shape().first() == Some(&batch_size) && result.shape() == output.shape()
        } else {
            result.shape() == output.shape()
        };
        let expected_shape = umber_types::Shape::new(output.shape().iter().copied());
        ensure!(
            has_expected_shape,
            Value("custom_function"),
            "the vmap rule returned shape {} for output {i}, expected {expected_shape} for each of \
             {batch_size} batch elements",
            result.array.shape()
        );
        ensure!(
            result.array.dtype() == output.array.dtype(),
            Type("custom_function"),
            "the vmap rule returned dtype {} for output {i}, expected {}",
            result.array.dtype(),
            output.array.dtype()
        );
    }
    Ok(())
}

/// For each node of a tape whose vmap rule is used, the index of an argument that may be batched. The outputs of other custom
/// functions are those of their operations. Empty if no node has a vmap rule.
pub(super) fn vmap_rule_arguments(tape: &Tape, sources: &[Option<Batched>]) -> Vec<Option<usize>> {
    let has_rule = |op: &Op| matches!(op, Op::Custom(custom) if custom.batches_by_rule());
    if !tape.nodes.iter().any(|node| has_rule(node.op())) {
        return Vec::new();
    }
    let mut batched: Vec<bool> =
        sources.iter().map(|source| source.as_ref().is_some_and(|source| source.batched)).collect();
    let rule_argument = |node: &std::sync::Arc<crate::graph::Node>| {
        let inputs = node.inputs();
        let may_be_batched = |input: &Array| tape.slot(input).is_some_and(|slot| batched[slot]);
        if inputs.iter().any(may_be_batched) {
            batched[tape.slots_of(node)].fill(true);
        }
        let Op::Custom(custom) = node.op() else { return None };
        let may_be_batched = |input: &Array| tape.slot(input).is_some_and(|slot| batched[slot]);
        has_rule(node.op()).then(|| custom.split(&inputs).0.iter().position(may_be_batched))?
    };
    tape.nodes.iter().map(rule_argument).collect()
}

/// The nodes of a tape that are needed for `outputs`, if the nodes `by_rule` use custom rules in place of their functions'
/// operations.
///
/// `None`: all of them.
pub(super) fn needed(tape: &Tape, outputs: &[Array], by_rule: impl Fn(usize) -> bool) -> Option<Vec<bool>> {
    if !(0..tape.nodes.len()).any(&by_rule) {
        return None;
    }
    let mut needed_slots = vec![false; tape.slots()];
    let mark_slots = |arrays: &[Array], needed_slots: &mut Vec<bool>| {
        for slot in arrays.iter().filter_map(|array| tape.slot(array)) {
            needed_slots[slot] = true;
        }
    };
    mark_slots(outputs, &mut needed_slots);
    let mut needed = vec![false; tape.nodes.len()];
    for (i, (node, needed)) in tape.nodes.iter().zip(&mut needed).enumerate().rev() {
        *needed = tape.slots_of(node).any(|slot| needed_slots[slot]);
        if *needed {
            let inputs = node.inputs();
            if let Op::Custom(custom) = node.op()
                && by_rule(i)
            {
                mark_slots(custom.split(&inputs).0, &mut needed_slots);
            } else {
                mark_slots(&inputs, &mut needed_slots);
            }
        }
    }
    Some(needed)
}
