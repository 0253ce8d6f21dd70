//! Einstein summation.
//!
//! `ij,jk->ik` is a matrix product: an index that is not in the result is summed over. Operands are contracted in pairs, each by
//! one matrix product (or an elementwise product if nothing is summed), in the order chosen by `order`.

mod order;

use std::collections::BTreeMap;
use std::fmt;

use smallvec::SmallVec;
use umber_types::{Axes, Result, Shape, bail, ensure, promote};

use self::order::Problem;
use super::promotion::cast_constant;
use crate::graph::Array;
use crate::primitives::matmul::matmul;
use crate::primitives::reduce;
use crate::primitives::rules::{broadcast, mul, reshape, transpose};
use crate::primitives::slice::{Window, slice};

/// An index: a letter, or an axis of the ellipsis, counted from its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Index {
    Hidden(usize),
    Letter(char),
}

type Indices = SmallVec<[Index; 6]>;

/// An operand with one index for each axis; each index occurs once.
#[derive(Clone)]
struct Term {
    array: Array,
    indices: Indices,
}

/// A formula with the lengths of its indices in the operands.
struct Formula {
    terms: Vec<Indices>,
    output: Indices,
    lengths: BTreeMap<Index, usize>,
}

/// The letters of one term, and the position of its ellipsis if it has one.
struct ParsedTerm {
    letters: Vec<char>,
    ellipsis: Option<usize>,
}

fn parse_term(text: &str, formula: &str) -> Result<ParsedTerm> {
    let mut parsed = ParsedTerm { letters: Vec::new(), ellipsis: None };
    let mut remaining = text;
    while let Some(next) = remaining.chars().next() {
        if let Some(after) = remaining.strip_prefix("...") {
            ensure!(
                parsed.ellipsis.is_none(),
                Value("einsum"),
                "more than one ellipsis in a term of '{formula}'"
            );
            parsed.ellipsis = Some(parsed.letters.len());
            remaining = after;
            continue;
        }
        ensure!(next.is_ascii_alphabetic(), Value("einsum"), "'{next}' in '{formula}' is not a letter");
        parsed.letters.push(next);
        remaining = &remaining[1..];
    }
    Ok(parsed)
}

impl ParsedTerm {
    /// One index for each axis; the ellipsis represents `hidden` axes.
    fn indices(&self, hidden: usize) -> Indices {
        let letters = |range: &[char]| range.iter().map(|&c| Index::Letter(c)).collect::<Indices>();
        let position = self.ellipsis.unwrap_or(self.letters.len());
        let mut indices = letters(&self.letters[..position]);
        if self.ellipsis.is_some() {
            indices.extend((0..hidden).rev().map(Index::Hidden));
        }
        indices.extend(letters(&self.letters[position..]));
        indices
    }
}

impl Formula {
    fn parse(text: &str, shapes: &[&Shape]) -> Result<Formula> {
        let formula: String = text.chars().filter(|c| !c.is_whitespace()).collect();
        let (left, right) = match formula.split_once("->") {
            Some((left, right)) => (left, Some(right)),
            None => (formula.as_str(), None),
        };
        let parsed_terms = left.split(',').map(|term| parse_term(term, text)).collect::<Result<Vec<_>>>()?;
        ensure!(
            parsed_terms.len() == shapes.len(),
            Value("einsum"),
            "number of operands, {}, does not match the {} terms of '{text}'",
            shapes.len(),
            parsed_terms.len()
        );
        let mut terms = Vec::new();
        let mut lengths: BTreeMap<Index, usize> = BTreeMap::new();
        let mut max_hidden = 0;
        for (term, shape) in parsed_terms.iter().zip(shapes) {
            let fits = if term.ellipsis.is_some() {
                term.letters.len() <= shape.ndim()
            } else {
                term.letters.len() == shape.ndim()
            };
            ensure!(fits, Value("einsum"), "operand of shape {shape} does not fit its term in '{text}'");
            let hidden = shape.ndim() - term.letters.len();
            max_hidden = max_hidden.max(hidden);
            let indices = term.indices(hidden);
            for (&index, &length) in indices.iter().zip(shape.iter()) {
                let known = lengths.entry(index).or_insert(length);
                if *known == 1 {
                    *known = length;
                }
                ensure!(
                    length == *known || length == 1,
                    Value("einsum"),
                    "lengths of an index in '{text}' differ: {known} and {length}"
                );
            }
            terms.push(indices);
        }
        let output = match right {
            Some(right) => parse_term(right, text)?.indices(max_hidden),
            None => implicit_output(&parsed_terms, max_hidden),
        };
        for (i, index) in output.iter().enumerate() {
            ensure!(
                lengths.contains_key(index),
                Value("einsum"),
                "result of '{text}' has an index that no operand has"
            );
            ensure!(!output[..i].contains(index), Value("einsum"), "result of '{text}' has an index twice");
        }
        Ok(Formula { terms, output, lengths })
    }

    /// Whether the result, or a term other than those in `except`, has the index.
    fn is_needed(&self, index: Index, terms: &[Indices], except: &[usize]) -> bool {
        let elsewhere = |(i, term): (usize, &Indices)| !except.contains(&i) && term.contains(&index);
        self.output.contains(&index) || terms.iter().enumerate().any(elsewhere)
    }

    /// Whether an index of a single operand is summed over.
    fn sums_single_operand(&self) -> bool {
        let count = |index| self.terms.iter().filter(|term| term.contains(index)).count();
        self.lengths.keys().any(|index| !self.output.contains(index) && count(index) == 1)
    }

    /// The problem of choosing an order; `terms` are without the indices along which an operand of length one is broadcast.
    fn problem<'a>(&self, terms: impl Iterator<Item = &'a Indices>) -> Result<Problem> {
        ensure!(
            self.lengths.len() <= u128::BITS as usize,
            Value("einsum"),
            "{} different indices are too many; the maximum is 128",
            self.lengths.len()
        );
        let bit =
            |index: &Index| 1u128 << self.lengths.keys().position(|key| key == index).expect("has a length");
        let bits = |indices: &Indices| indices.iter().fold(0, |bits, index| bits | bit(index));
        Ok(Problem {
            terms: terms.map(bits).collect(),
            output: bits(&self.output),
            lengths: self.lengths.values().copied().collect(),
        })
    }
}

/// The output without an arrow: the ellipsis, then every letter that occurs once, in alphabetical order.
fn implicit_output(terms: &[ParsedTerm], hidden: usize) -> Indices {
    let mut letters: Vec<char> = terms.iter().flat_map(|term| term.letters.iter().copied()).collect();
    letters.sort_unstable();
    let once =
        letters.chunk_by(|a, b| a == b).filter(|group| group.len() == 1).map(|group| Index::Letter(group[0]));
    (0..hidden).rev().map(Index::Hidden).chain(once).collect()
}

impl Term {
    /// The operand with repeated indices replaced by diagonals, and without axes of length one that are broadcast.
    fn new(array: &Array, indices: &Indices, lengths: &BTreeMap<Index, usize>) -> Result<Term> {
        let mut term = Term { array: array.clone(), indices: indices.clone() };
        let mut axis = 0;
        while axis < term.indices.len() {
            let index = term.indices[axis];
            if term.array.shape()[axis] == 1 && lengths[&index] != 1 {
                let mut shape = term.array.shape().clone();
                shape.remove(axis);
                term.array = reshape(&term.array, shape)?;
                term.indices.remove(axis);
                continue;
            }
            match term.indices[..axis].iter().position(|&other| other == index) {
                // Start again, since merging reorders the axes.
                Some(first) => {
                    term.merge(first, axis)?;
                    axis = 0;
                }
                None => axis += 1,
            }
        }
        Ok(term)
    }

    /// Replace two axes by their diagonal, which becomes the last axis.
    fn merge(&mut self, first: usize, second: usize) -> Result<()> {
        let others: SmallVec<[usize; 6]> =
            (0..self.indices.len()).filter(|&axis| axis != first && axis != second).collect();
        let order: SmallVec<[usize; 6]> = others.iter().copied().chain([first, second]).collect();
        let length = self.array.shape()[first];
        let batch: Shape = others.iter().map(|&axis| self.array.shape()[axis]).collect();
        let flat: Shape = batch.iter().copied().chain([length * length]).collect();
        let flat = reshape(&transpose(&self.array, &order)?, flat)?;
        let mut window = Window::along(flat.shape(), batch.ndim(), 0, length);
        window.steps[batch.ndim()] = length as isize + 1;
        let index = self.indices[first];
        self.array = slice(&flat, window)?;
        self.indices = others.iter().map(|&axis| self.indices[axis]).chain([index]).collect();
        Ok(())
    }

    /// Sum over the indices for which the test fails.
    fn keep(&mut self, mut test: impl FnMut(Index) -> bool) -> Result<()> {
        let axes = Axes::sorted((0..self.indices.len()).filter(|&axis| !test(self.indices[axis])));
        if !axes.is_empty() {
            let sum = reduce::sum(&self.array, &axes)?;
            self.array = reshape(&sum, sum.shape().reduced(&axes, umber_types::KeepAxes::No))?;
            self.indices.retain(|index| test(*index));
        }
        Ok(())
    }

    /// The array with the axes of `batch` first, not merged, so that views stay views, followed by one merged axis for each of
    /// the `groups`.
    fn grouped(&self, batch: &Indices, groups: [&Indices; 2]) -> Result<Array> {
        let axis_of =
            |index: &Index| self.indices.iter().position(|i| i == index).expect("groups split the indices");
        let order: SmallVec<[usize; 6]> =
            batch.iter().chain(groups.into_iter().flatten()).map(axis_of).collect();
        let shape: Shape = self
            .lengths_of(batch)
            .into_iter()
            .chain(groups.map(|group| self.lengths_of(group).iter().product()))
            .collect();
        reshape(&transpose(&self.array, &order)?, shape)
    }

    fn lengths_of(&self, group: &Indices) -> SmallVec<[usize; 6]> {
        let axis_of = |index: &Index| self.indices.iter().position(|i| i == index).expect("of this term");
        group.iter().map(|index| self.array.shape()[axis_of(index)]).collect()
    }

    /// The product with another term, summed over the indices that are not needed.
    fn times(mut self, mut other: Term, is_needed: impl Fn(Index) -> bool) -> Result<Term> {
        self.keep(|index| is_needed(index) || other.indices.contains(&index))?;
        other.keep(|index| is_needed(index) || self.indices.contains(&index))?;
        let (mut batch, mut summed, mut rows) = (Indices::new(), Indices::new(), Indices::new());
        for &index in &self.indices {
            match (other.indices.contains(&index), is_needed(index)) {
                (true, true) => batch.push(index),
                (true, false) => summed.push(index),
                (false, _) => rows.push(index),
            }
        }
        let columns: Indices = other.indices.iter().copied().filter(|i| !self.indices.contains(i)).collect();
        let left = self.grouped(&batch, [&rows, &summed])?;
        let right = other.grouped(&batch, [&summed, &columns])?;
        let product = if summed.is_empty() {
            let last = batch.len() + 1;
            let shape = left.shape().with(last, right.shape()[last]);
            mul(&broadcast(&left, &shape)?, &broadcast(&right, &shape)?)?
        } else {
            matmul(&left, &right)?
        };
        let lengths = [self.lengths_of(&batch), self.lengths_of(&rows), other.lengths_of(&columns)];
        let shape: Shape = lengths.iter().flatten().copied().collect();
        let indices = batch.iter().chain(&rows).chain(&columns).copied().collect();
        Ok(Term { array: reshape(&product, shape)?, indices })
    }
}

/// Sum of products in Einstein notation, such as `ij,jk->ik`.
///
/// Without an arrow the result has every index that appears once, in alphabetical order. `...` stands for the axes
/// without a letter, which broadcast. An index twice in one term selects the diagonal. Where a sum over a single
/// operand is taken, small integers and bool widen to 32 bits, as in a sum.
///
/// The dtype is the promoted one. Fails if the formula is malformed or does not match the operands.
///
/// ```
/// # use umber_core as umber;
/// use umber::{Array, ops};
/// let a = Array::from([[1, 2], [3, 4]]);
/// let b = Array::from([[1, 0], [0, 2]]);
/// assert_eq!(ops::einsum("ij,jk->ik", &[&a, &b])?.to_vec::<i32>()?, [1, 4, 3, 8]);
/// assert_eq!(ops::einsum("ii->", &[&a])?.item()?.as_i64(), 5);
/// assert_eq!(ops::einsum("ij->ji", &[&a])?.to_vec::<i32>()?, [1, 3, 2, 4]);
/// # Ok::<(), umber::Error>(())
/// ```
pub fn einsum(formula: &str, operands: &[&Array]) -> Result<Array> {
    let Some(first) = operands.first() else { bail!(Value("einsum"), "needs at least one operand") };
    let dtype = operands.iter().fold(first.dtype(), |dtype, operand| promote(dtype, operand.dtype()));
    let shapes: SmallVec<[&Shape; 4]> = operands.iter().map(|operand| operand.shape()).collect();
    let parsed = Formula::parse(formula, &shapes)?;
    let dtype = if parsed.sums_single_operand() { dtype.sum_dtype() } else { dtype };
    let mut terms = operands
        .iter()
        .zip(&parsed.terms)
        .map(|(operand, indices)| Term::new(&cast_constant(operand, dtype)?, indices, &parsed.lengths))
        .collect::<Result<Vec<_>>>()?;
    let order = parsed.problem(terms.iter().map(|term| &term.indices))?.order();
    for (i, j) in order.pairs {
        let indices: Vec<Indices> = terms.iter().map(|term| term.indices.clone()).collect();
        let second = terms.remove(j);
        let first = terms.remove(i);
        terms.push(first.times(second, |index| parsed.is_needed(index, &indices, &[i, j]))?);
    }
    let mut last = terms.pop().expect("at least one operand");
    last.keep(|index| parsed.output.contains(&index))?;
    let axis_of =
        |index: &Index| last.indices.iter().position(|i| i == index).expect("checked while parsing");
    let order: SmallVec<[usize; 6]> = parsed.output.iter().map(axis_of).collect();
    transpose(&last.array, &order)
}

/// The order in which [`einsum`] multiplies, and its cost.
#[derive(Clone, Debug)]
pub struct EinsumPath {
    /// For each product, the positions of its operands in the list of remaining arrays; the product is appended to that list.
    pub path: Vec<Vec<usize>>,
    formula: String,
    naive: (u128, u32),
    optimized: (u128, u32),
}

impl fmt::Display for EinsumPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "  Complete contraction:  {}", self.formula)?;
        writeln!(f, "         Naive scaling:  {}", self.naive.1)?;
        writeln!(f, "     Optimized scaling:  {}", self.optimized.1)?;
        writeln!(f, "      Naive FLOP count:  {}", self.naive.0)?;
        writeln!(f, "  Optimized FLOP count:  {}", self.optimized.0)
    }
}

/// Order in which [`einsum`] multiplies its operands, and a description of the cost.
///
/// For up to eight operands the order has the minimum cost.
///
/// ```
/// # use umber_core::{Array, DType, Shape, ops};
/// let matrix = |rows, columns| Array::full(Shape::from([rows, columns]), 1.0, DType::Float32);
/// let [a, b, c] = [matrix(2, 3), matrix(3, 4), matrix(4, 5)];
/// assert_eq!(ops::einsum_path("ij,jk,kl->il", &[&a, &b, &c])?.path, [[0, 1], [0, 1]]);
/// # Ok::<(), umber_core::Error>(())
/// ```
///
/// # Errors
/// If the formula does not fit the operands.
pub fn einsum_path(formula: &str, operands: &[&Array]) -> Result<EinsumPath> {
    ensure!(!operands.is_empty(), Value("einsum_path"), "needs at least one operand");
    let shapes: SmallVec<[&Shape; 4]> = operands.iter().map(|operand| operand.shape()).collect();
    let parsed = Formula::parse(formula, &shapes)?;
    let without_broadcast = |(term, shape): (&Indices, &&Shape)| -> Indices {
        let axes = term.iter().zip(shape.iter());
        axes.filter(|(index, length)| **length != 1 || parsed.lengths[index] == 1)
            .map(|(&index, _)| index)
            .collect()
    };
    let terms: Vec<Indices> = parsed.terms.iter().zip(&shapes).map(without_broadcast).collect();
    let problem = parsed.problem(terms.iter())?;
    let (order, naive) = (problem.order(), problem.single_loop());
    let (path, optimized) = if order.pairs.is_empty() {
        (vec![vec![0]], naive)
    } else {
        (order.pairs.iter().map(|&(i, j)| vec![i, j]).collect(), (order.operations, order.scaling))
    };
    Ok(EinsumPath { path, formula: formula.into(), naive, optimized })
}
