//! Custom: what a user's function computed, with the user's own rules for its derivatives and its batches.
//!
//! Inputs are the function's arguments, then its outputs as it computed them; the node answers with the latter. What
//! has no rule of the user's so passes through the node into how the function was computed. A vjp rule sees outputs of a
//! node through which no derivative passes in that way: what it computes from them is differentiated by the rules again.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use umber_types::{Result, ensure};

use super::rules::{cast, tangent_or_zero, zeros_like};
use crate::generalization::{Change, Generalized};
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, Point, Primitive, Rule, Tangents, rule};
use crate::validation::Site;

/// Which rules there are.
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

    /// One cotangent an argument, from one an output; `None` is zero.
    fn vjp(&self, arguments: &[Array], cotangents: &[Array], outputs: &[Array])
    -> Result<Vec<Option<Array>>>;

    /// One tangent an output, from one an argument; `None` is zero.
    fn jvp(&self, arguments: &[Array], tangents: &Tangents) -> Result<Vec<Option<Array>>>;

    /// The outputs for a batch of arguments; batch axes are in front.
    fn vmap(&self, arguments: &[Batched]) -> Result<Vec<Batched>>;
}

/// How a tangent passes for which there is no jvp rule.
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

    /// The node that the same function has with other rules.
    pub(crate) fn with_rules(&self, rules: Arc<dyn Rules>) -> Custom {
        Custom { rules, ..self.clone() }
    }

    /// Does a tangent pass by rules alone, and not through the operations that computed the outputs?
    pub(crate) fn pushes_by_rule(&self) -> bool {
        self.rules.rule_set().jvp || self.forward == Forward::ByTranspose
    }

    /// Is the rule for batches asked? What the vjp rule sees was batched together with the outputs.
    pub(crate) fn batches_by_rule(&self) -> bool {
        self.rules.rule_set().vmap && self.forward == Forward::AsComputed
    }

    /// The outputs as the vjp rule sees them: a derivative of what it computes from them comes from the rules.
    fn ruled(&self, arguments: &[Array], outputs: &[Array]) -> Result<Vec<Array>> {
        if self.pushes_by_rule() || !arguments.iter().any(Array::is_traced) {
            return Ok(outputs.to_vec());
        }
        let ruled = Custom { forward: Forward::ByTranspose, ..self.clone() };
        Ok(Array::record(ruled, arguments.iter().chain(outputs).cloned().collect())?.into_vec())
    }

    /// What the function says of itself.
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

/// Check what a rule answered, and bring it to the dtype that derivatives of `like` have.
fn checked(rule: &str, what: &str, answered: Vec<Option<Array>>, like: &[Array]) -> Result<Cotangents> {
    ensure!(
        answered.len() == like.len(),
        Value("custom_function"),
        "the {rule} rule returned {} values, expected one for each of {} {what}s",
        answered.len(),
        like.len()
    );
    let check = |(i, (given, like)): (usize, (Option<Array>, &Array))| {
        let Some(given) = given else { return Ok(None) };
        ensure!(
            given.shape() == like.shape(),
            Value("custom_function"),
            "the {rule} rule returned shape {} for {what} {i}, expected {}",
            given.shape(),
            like.shape()
        );
        cast(&given, like.dtype().inexact()).map(Some)
    };
    answered.into_iter().zip(like).enumerate().map(check).collect()
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
        // Rules are code, which may have read lengths.
        if change.is_none() { Some(Generalized::of(self.clone())) } else { None }
    }

    fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
        if !self.rules.rule_set().vjp {
            return None;
        }
        rule(|| {
            let (arguments, _) = self.split(at.inputs);
            let outputs = self.ruled(arguments, at.outputs)?;
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
            // Only what the function captured moves: for a function with rules that is constant.
            if tangents.iter().all(Option::is_none) {
                return Ok(outputs.iter().map(zeros_like).collect());
            }
            let pushed = checked("jvp", "output", self.rules.jvp(arguments, tangents)?, outputs)?;
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
