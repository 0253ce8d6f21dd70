//! Custom: the outputs of a user's function with user-defined rules for its derivatives and batches.
//!
//! Inputs are the function's arguments and then its outputs, as its operations computed them; the node returns the latter. A
//! transformation without a user-defined rule passes through the node into those operations. The outputs that a vjp rule
//! receives belong to a second node that does not pass derivatives on: values that the rule computes from them are
//! differentiated by the rules again.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use umber_types::{Result, ensure};

use super::rules::{cast, tangent_or_zero, zeros_like};
use crate::generalization::{Change, Generalized};
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, Point, Primitive, Rule, Tangents, rule};
use crate::validation::Site;

/// The rules that are defined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RuleSet {
    /// A rule that pulls cotangents back.
    pub vjp: bool,
    /// A rule that pushes tangents forward.
    pub jvp: bool,
    /// A rule for batches.
    pub vmap: bool,
}

/// The rules of a custom function. Only those that [`Rules::rule_set`] names are called.
pub trait Rules: Send + Sync {
    /// The rules that are defined.
    fn rule_set(&self) -> RuleSet;

    /// One cotangent per argument, from one per output; `None` is zero.
    fn vjp(&self, arguments: &[Array], cotangents: &[Array], outputs: &[Array])
    -> Result<Vec<Option<Array>>>;

    /// One tangent per output, from one per argument; `None` is zero.
    fn jvp(&self, arguments: &[Array], tangents: &Tangents, outputs: &[Array]) -> Result<Vec<Option<Array>>>;

    /// The outputs for a batch of arguments; batch axes are in front.
    fn vmap(&self, arguments: &[Batched]) -> Result<Vec<Batched>>;
}

/// The forward mode of a function without a jvp rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Forward {
    /// Through the operations that computed the outputs.
    AsComputed,
    /// By the transpose of the vjp rule.
    ByTranspose,
}

/// Outputs of a function that has [`Rules`].
#[derive(Clone)]
pub struct Custom {
    rules: Arc<dyn Rules>,
    outputs: u32,
    forward: Forward,
}

impl Custom {
    /// A node with this many outputs.
    pub fn new(rules: Arc<dyn Rules>, outputs: usize) -> Custom {
        Custom { rules, outputs: outputs as u32, forward: Forward::AsComputed }
    }

    /// The same node with other rules.
    pub(crate) fn with_rules(&self, rules: Arc<dyn Rules>) -> Custom {
        Custom { rules, ..self.clone() }
    }

    /// Do tangents pass by the jvp rule or the transposed vjp rule, and not through the operations that computed the outputs?
    pub(crate) fn pushes_by_rule(&self) -> bool {
        self.rules.rule_set().jvp || self.forward == Forward::ByTranspose
    }

    /// Does `vmap` call the rule? Not for the node that a vjp rule receives: its inputs are batched already.
    pub(crate) fn batches_by_rule(&self) -> bool {
        self.rules.rule_set().vmap && self.forward == Forward::AsComputed
    }

    /// The outputs as the vjp rule receives them: their derivatives come from the rules.
    fn outputs_for_rule(&self, arguments: &[Array], outputs: &[Array]) -> Result<Vec<Array>> {
        if self.pushes_by_rule() || !arguments.iter().any(Array::is_traced) {
            return Ok(outputs.to_vec());
        }
        let node = Custom { forward: Forward::ByTranspose, ..self.clone() };
        Ok(Array::record(node, arguments.iter().chain(outputs).cloned().collect())?.into_vec())
    }

    /// The rules of the function.
    pub fn rules(&self) -> &Arc<dyn Rules> {
        &self.rules
    }

    /// The inputs that are arguments, and those that are outputs.
    pub fn split<'a, T>(&self, inputs: &'a [T]) -> (&'a [T], &'a [T]) {
        inputs.split_at(inputs.len() - self.outputs as usize)
    }
}

impl PartialEq for Custom {
    fn eq(&self, other: &Custom) -> bool {
        Arc::ptr_eq(&self.rules, &other.rules)
            && self.outputs == other.outputs
            && self.forward == other.forward
    }
}

impl Eq for Custom {}

impl Hash for Custom {
    fn hash<H: Hasher>(&self, state: &mut H) {
        Arc::as_ptr(&self.rules).cast::<()>().hash(state);
        self.outputs.hash(state);
        self.forward.hash(state);
    }
}

impl fmt::Debug for Custom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Custom({:?}, {} outputs)", self.rules.rule_set(), self.outputs)
    }
}

/// Check the number and shapes of the values that a rule returned, and cast them to the dtypes of derivatives of `primals`.
fn checked(rule: &str, what: &str, returned: Vec<Option<Array>>, primals: &[Array]) -> Result<Cotangents> {
    ensure!(
        returned.len() == primals.len(),
        Value("custom_function"),
        "the {rule} rule returned {} values, expected one for each of {} {what}s",
        returned.len(),
        primals.len()
    );
    let check = |(i, (derivative, primal)): (usize, (Option<Array>, &Array))| {
        let Some(derivative) = derivative else { return Ok(None) };
        ensure!(
            derivative.shape() == primal.shape(),
            Value("custom_function"),
            "the {rule} rule returned shape {} for {what} {i}, expected {}",
            derivative.shape(),
            primal.shape()
        );
        cast(&derivative, primal.dtype().inexact()).map(Some)
    };
    returned.into_iter().zip(primals).enumerate().map(check).collect()
}

impl Primitive for Custom {
    fn name(&self) -> &'static str {
        "custom_function"
    }

    fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
        Ok(self.split(inputs).1.iter().map(|&spec| spec.clone()).collect())
    }

    fn validate(&self, site: &Site<'_>) -> Result<()> {
        site.is_no_step()
    }

    fn generalize(&self, change: &mut Change<'_>) -> Option<Generalized> {
        // User-defined rules may depend on the lengths.
        if change.is_none() { Some(Generalized::of(self.clone())) } else { None }
    }

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        if !self.rules.rule_set().vjp {
            return None;
        }
        rule(|| {
            let (arguments, _) = self.split(at.inputs);
            let outputs = self.outputs_for_rule(arguments, at.outputs)?;
            let pulled = self.rules.vjp(arguments, cotangents, &outputs)?;
            let mut pulled = checked("vjp", "argument", pulled, arguments)?;
            pulled.resize(at.inputs.len(), None);
            Ok(pulled)
        })
    }

    fn jvp(&self, at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
        if !self.rules.rule_set().jvp {
            return None;
        }
        rule(|| {
            let (arguments, outputs) = self.split(at.inputs);
            let (tangents, _) = self.split(tangents);
            // Only captured arrays have tangents; a function with rules treats them as constants.
            if tangents.iter().all(Option::is_none) {
                return Ok(outputs.iter().map(zeros_like).collect());
            }
            let pushed = self.rules.jvp(arguments, tangents, at.outputs)?;
            let pushed = checked("jvp", "output", pushed, outputs)?;
            Ok(pushed
                .iter()
                .zip(outputs)
                .map(|(pushed, output)| tangent_or_zero(pushed.as_ref(), output))
                .collect())
        })
    }

    fn vmap(&self, _inputs: &[Batched]) -> Rule<Vec<Batched>> {
        None
    }

    fn expand(&self, inputs: &[Array]) -> Rule<Vec<Array>> {
        Some(Ok(self.split(inputs).1.to_vec()))
    }

    fn forwards(&self) -> bool {
        true
    }
}
