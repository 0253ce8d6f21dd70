//! Custom functions: functions with the user's own rules, and how such rules are batched.

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
    let followed = arguments.iter().chain(outputs).any(Array::is_traced);
    if !followed || outputs.is_empty() || custom.rule_set() == RuleSet::default() {
        return Ok(outputs.to_vec());
    }
    let inputs: Inputs = arguments.iter().chain(outputs).cloned().collect();
    Ok(Array::record(Custom::new(custom, outputs.len()), inputs)?.into_vec())
}

type Function<'f> = dyn Fn(&[Array]) -> Result<Vec<Array>> + Send + Sync + 'f;
type VjpRule = dyn Fn(&[Array], &[Array], &[Array]) -> Result<Vec<Option<Array>>> + Send + Sync;
type JvpRule = dyn Fn(&[Array], &Tangents) -> Result<Vec<Option<Array>>> + Send + Sync;
type VmapRule = dyn Fn(&[Batched]) -> Result<Vec<Batched>> + Send + Sync;

/// Rules that are closures.
#[derive(Clone, Default)]
struct Closures {
    vjp: Option<Arc<VjpRule>>,
    jvp: Option<Arc<JvpRule>>,
    vmap: Option<Arc<VmapRule>>,
}

/// A function with rules of its own for derivatives and batches.
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
    /// Pull cotangents back by `rule(arguments, cotangents, outputs)`: one cotangent an argument, `None` is zero.
    ///
    /// Derivatives of what the rule computes from `outputs` follow the rules again, not how the function computed them.
    #[must_use]
    pub fn vjp(
        mut self,
        rule: impl Fn(&[Array], &[Array], &[Array]) -> Result<Vec<Option<Array>>> + Send + Sync + 'static,
    ) -> Self {
        self.rules.vjp = Some(Arc::new(rule));
        self
    }

    /// Push tangents forward by `rule(arguments, tangents)`: one tangent an output, `None` is zero.
    #[must_use]
    pub fn jvp(
        mut self,
        rule: impl Fn(&[Array], &Tangents) -> Result<Vec<Option<Array>>> + Send + Sync + 'static,
    ) -> Self {
        self.rules.jvp = Some(Arc::new(rule));
        self
    }

    /// Answer batches by `rule(arguments)`: batch axes are in front, here and in the outputs.
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
        let rule = self.vjp.as_ref().expect("asked for rules that were given");
        rule(arguments, cotangents, outputs)
    }

    fn jvp(&self, arguments: &[Array], tangents: &Tangents) -> Result<Vec<Option<Array>>> {
        let rule = self.jvp.as_ref().expect("asked for rules that were given");
        rule(arguments, tangents)
    }

    fn vmap(&self, arguments: &[Batched]) -> Result<Vec<Batched>> {
        let rule = self.vmap.as_ref().expect("asked for rules that were given");
        rule(arguments)
    }
}

/// The rules of one lane, for a batch.
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
        let all: Vec<Array> = arguments.iter().chain(cotangents).chain(outputs).cloned().collect();
        let given = self.batched.iter().copied().chain(std::iter::repeat_n(true, 2 * outputs.len()));
        let mapped = Mapped::begin(&all, &given.map(Self::axis).collect::<Vec<_>>())?;
        let (one, rest) = mapped.trace.inputs.split_at(arguments.len());
        let (cotangents, outputs) = rest.split_at(outputs.len());
        let mut pulled = self.rules_of_one.vjp(one, cotangents, outputs)?;
        let there: Vec<Array> = pulled.iter().flatten().cloned().collect();
        let axes = vec![Some(0); there.len()];
        let mut stacked = mapped.end(&there, &axes)?.into_iter();
        for (pulled, &batched) in pulled.iter_mut().zip(&self.batched) {
            if pulled.is_some() {
                let all = stacked.next().expect("one for each that is there");
                // Every lane saw the same argument: its cotangent is the sum of theirs.
                *pulled = Some(if batched { all } else { sum_batch(&all)? });
            }
        }
        Ok(pulled)
    }

    fn jvp(&self, arguments: &[Array], tangents: &Tangents) -> Result<Vec<Option<Array>>> {
        let mut all = arguments.to_vec();
        let mut axes: Vec<Option<i64>> = self.batched.iter().copied().map(Self::axis).collect();
        for (tangent, &batched) in tangents.iter().zip(&self.batched) {
            if let Some(tangent) = tangent {
                all.push(tangent.clone());
                axes.push(Self::axis(batched));
            }
        }
        let mapped = Mapped::begin(&all, &axes)?;
        let (one, given) = mapped.trace.inputs.split_at(arguments.len());
        let mut given = given.iter();
        let tangents: Vec<Option<Array>> =
            tangents.iter().map(|tangent| tangent.as_ref().and_then(|_| given.next().cloned())).collect();
        let mut pushed = self.rules_of_one.jvp(one, &tangents)?;
        let there: Vec<Array> = pushed.iter().flatten().cloned().collect();
        let axes = vec![Some(0); there.len()];
        let mut stacked = mapped.end(&there, &axes)?.into_iter();
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

fn sum_batch(all: &Array) -> Result<Array> {
    let sum = reduce::sum(all, &Axes::one(0))?;
    rules::reshape(&sum, all.shape()[1..].iter().copied().collect::<umber_types::Shape>())
}

/// The outputs of a custom function for a batch, with its other rules batched.
pub(super) fn batch(custom: &Custom, inputs: &[Batched]) -> Result<Vec<Batched>> {
    let batch_size = batch_size(inputs);
    let (arguments, outputs) = custom.split(inputs);
    let given = custom.rules().rule_set();
    let outputs = if custom.batches_by_rule() {
        // Only what the function captured differs from lane to lane: that is constant to a rule.
        let answered = if arguments.iter().any(|argument| argument.batched) {
            custom.rules().vmap(arguments)?
        } else {
            outputs.to_vec()
        };
        check_batch(&answered, outputs, batch_size)?;
        answered
    } else {
        outputs.to_vec()
    };
    if !(given.vjp || given.jvp) {
        return Ok(outputs);
    }
    let batched = BatchedRules {
        rules_of_one: Arc::clone(custom.rules()),
        batched: arguments.iter().map(|argument| argument.batched).collect(),
    };
    let mut all: Inputs = arguments.iter().map(|argument| argument.array.clone()).collect();
    for output in &outputs {
        all.push(rules::batch(output, batch_size)?);
    }
    Ok(Batched::all(Array::record(custom.with_rules(Arc::new(batched)), all)?))
}

/// Is what a rule for batches answered the outputs of all lanes?
fn check_batch(answered: &[Batched], outputs: &[Batched], batch_size: usize) -> Result<()> {
    ensure!(
        answered.len() == outputs.len(),
        Value("custom_function"),
        "the vmap rule returned {} outputs, expected {}",
        answered.len(),
        outputs.len()
    );
    for (i, (answered, output)) in answered.iter().zip(outputs).enumerate() {
        let whole = if answered.batched {
            answered.array.shape().first() == Some(&batch_size) && answered.shape() == output.shape()
        } else {
            answered.shape() == output.shape()
        };
        let rules_of_one = umber_types::Shape::new(output.shape().iter().copied());
        ensure!(
            whole,
            Value("custom_function"),
            "the vmap rule returned shape {} for output {i}, expected {rules_of_one} for each of \
             {batch_size} batch elements",
            answered.array.shape()
        );
        ensure!(
            answered.array.dtype() == output.array.dtype(),
            Type("custom_function"),
            "the vmap rule returned dtype {} for output {i}, expected {}",
            answered.array.dtype(),
            output.array.dtype()
        );
    }
    Ok(())
}

/// For each node of a tape whether its rule for batches is asked, and then for which argument: one that may differ from
/// lane to lane, given what is batched. Elsewhere what the function computed is taken. Nothing where no node has a rule.
pub(super) fn asked(tape: &Tape, sources: &[Option<Batched>]) -> Vec<Option<usize>> {
    let has_rule = |op: &Op| matches!(op, Op::Custom(custom) if custom.batches_by_rule());
    if !tape.nodes.iter().any(|node| has_rule(node.op())) {
        return Vec::new();
    }
    let mut batched: Vec<bool> =
        sources.iter().map(|source| source.as_ref().is_some_and(|source| source.batched)).collect();
    let ask = |node: &std::sync::Arc<crate::graph::Node>| {
        let inputs = node.inputs();
        let differs = |input: &Array| tape.slot(input).is_some_and(|slot| batched[slot]);
        if inputs.iter().any(differs) {
            batched[tape.slots_of(node)].fill(true);
        }
        let Op::Custom(custom) = node.op() else { return None };
        let differs = |input: &Array| tape.slot(input).is_some_and(|slot| batched[slot]);
        has_rule(node.op()).then(|| custom.split(&inputs).0.iter().position(differs))?
    };
    tape.nodes.iter().map(ask).collect()
}

/// Which nodes a walk towards `outputs` needs, where the user's rules (of the nodes `by_rule`) stand for how their functions
/// were computed.
///
/// `None`: all of them.
pub(super) fn needed(tape: &Tape, outputs: &[Array], by_rule: impl Fn(usize) -> bool) -> Option<Vec<bool>> {
    if !(0..tape.nodes.len()).any(&by_rule) {
        return None;
    }
    let mut wanted = vec![false; tape.slots()];
    let want = |arrays: &[Array], wanted: &mut Vec<bool>| {
        for slot in arrays.iter().filter_map(|array| tape.slot(array)) {
            wanted[slot] = true;
        }
    };
    want(outputs, &mut wanted);
    let mut needed = vec![false; tape.nodes.len()];
    for (i, (node, needed)) in tape.nodes.iter().zip(&mut needed).enumerate().rev() {
        *needed = tape.slots_of(node).any(|slot| wanted[slot]);
        if *needed {
            let inputs = node.inputs();
            if let Op::Custom(custom) = node.op()
                && by_rule(i)
            {
                want(custom.split(&inputs).0, &mut wanted);
            } else {
                want(&inputs, &mut wanted);
            }
        }
    }
    Some(needed)
}
