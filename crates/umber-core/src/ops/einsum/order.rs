//! The order in which the operands of a sum of products are contracted.
//!
//! For a small number of operands, the cheapest order is found by dynamic programming over all ways to split each set of operands
//! in two (as in Pfeifer, Haegeman and Verstraete, Phys. Rev. E 90, 033315). For more operands, and where it is cheaper anyway, a
//! greedy order is used: the pair whose product frees the most memory goes first.

/// The maximum number of operands for which every order is tried.
const MAX_EXHAUSTIVE: usize = 8;

/// The indices of each operand and of the result as bit masks, and the length of each index.
pub(super) struct Problem {
    pub(super) terms: Vec<u128>,
    pub(super) output: u128,
    pub(super) lengths: Vec<usize>,
}

/// An order of products and its cost.
#[derive(Clone, Debug, Default)]
pub(super) struct Order {
    /// For each product, the positions of its operands in the list of remaining terms; the product is appended to the list.
    pub(super) pairs: Vec<(usize, usize)>,
    /// The number of multiplications and additions.
    pub(super) operations: u128,
    /// The maximum number of indices in a product.
    pub(super) scaling: u32,
}

impl Problem {
    /// The cheapest order found.
    pub(super) fn order(&self) -> Order {
        if self.terms.len() < 2 {
            return Order::default();
        }
        let greedy = self.greedy();
        if self.terms.len() > MAX_EXHAUSTIVE || self.terms.len() == 2 {
            return greedy;
        }
        let best = self.exhaustive();
        if best.operations < greedy.operations { best } else { greedy }
    }

    /// The cost of one loop nest over all indices, and their number.
    pub(super) fn single_loop(&self) -> (u128, u32) {
        let all = self.terms.iter().fold(self.output, |all, term| all | term);
        let factors = (self.terms.len() - 1).max(1) as u128 + u128::from(all != self.output);
        (self.size(all).saturating_mul(factors), all.count_ones())
    }

    /// The number of elements of an array with these indices.
    fn size(&self, indices: u128) -> u128 {
        let lengths = self.lengths.iter().enumerate().filter(|&(i, _)| indices >> i & 1 == 1);
        lengths.fold(1, |size: u128, (_, &length)| size.saturating_mul(length as u128))
    }

    /// The cost of a product with the indices `both`, of which only `kept` are not summed over.
    fn cost(&self, both: u128, kept: u128) -> u128 {
        self.size(both).saturating_mul(1 + u128::from(both != kept))
    }

    /// The indices that the product of two terms keeps: those of the result or of another term.
    fn kept(&self, terms: &[u128], i: usize, j: usize) -> u128 {
        let others = terms.iter().enumerate().filter(|&(k, _)| k != i && k != j);
        (terms[i] | terms[j]) & others.fold(self.output, |needed, (_, term)| needed | term)
    }

    fn append(&self, order: &mut Order, terms: &mut Vec<u128>, (i, j): (usize, usize)) {
        let (both, kept) = (terms[i] | terms[j], self.kept(terms, i, j));
        order.operations = order.operations.saturating_add(self.cost(both, kept));
        order.scaling = order.scaling.max(both.count_ones());
        order.pairs.push((i, j));
        terms.remove(j);
        terms.remove(i);
        terms.push(kept);
    }

    /// Contract one pair after another: the one that frees the most elements, among pairs that share an index if there are any.
    fn greedy(&self) -> Order {
        let (mut order, mut terms) = (Order::default(), self.terms.clone());
        while terms.len() > 1 {
            let pairs = (0..terms.len()).flat_map(|i| (i + 1..terms.len()).map(move |j| (i, j)));
            let best = pairs.min_by_key(|&(i, j)| {
                let (both, kept) = (terms[i] | terms[j], self.kept(&terms, i, j));
                let freed = self.size(terms[i]).saturating_add(self.size(terms[j]));
                let growth = (self.size(kept).min(i128::MAX as u128) as i128)
                    .saturating_sub(freed.min(i128::MAX as u128) as i128);
                (terms[i] & terms[j] == 0, growth, self.cost(both, kept))
            });
            self.append(&mut order, &mut terms, best.expect("at least two terms remain"));
        }
        order
    }

    /// The cheapest of all orders: for each set of operands, the cheapest split in two.
    fn exhaustive(&self) -> Order {
        let count = self.terms.len();
        let full = (1usize << count) - 1;
        let union = |set: usize| {
            let members = self.terms.iter().enumerate().filter(|&(i, _)| set >> i & 1 == 1);
            members.fold(0, |all, (_, term)| all | term)
        };
        // The indices that the product of a set keeps.
        let kept: Vec<u128> = (0..=full).map(|set| union(set) & (union(full & !set) | self.output)).collect();
        let kept_of = |set: usize| if set.is_power_of_two() { union(set) } else { kept[set] };
        let mut best: Vec<(u128, usize)> = vec![(0, 0); full + 1];
        for set in 1..=full {
            if set.is_power_of_two() {
                continue;
            }
            best[set].0 = u128::MAX;
            // Enumerate each split once: the first operand belongs to the left part.
            let mut left = set;
            while left > 0 {
                left = (left - 1) & set;
                let right = set & !left;
                if left & set & set.wrapping_neg() == 0 || right == 0 {
                    continue;
                }
                let cost = self.cost(kept_of(left) | kept_of(right), kept[set]);
                let cost = cost.saturating_add(best[left].0).saturating_add(best[right].0);
                if cost < best[set].0 {
                    best[set] = (cost, left);
                }
            }
        }
        let (mut order, mut terms) = (Order::default(), self.terms.clone());
        let mut sets: Vec<usize> = (0..count).map(|i| 1 << i).collect();
        self.replay(&best, full, &mut sets, &mut order, &mut terms);
        order
    }

    /// Append the products that contract a set.
    fn replay(
        &self,
        best: &[(u128, usize)],
        set: usize,
        sets: &mut Vec<usize>,
        order: &mut Order,
        terms: &mut Vec<u128>,
    ) {
        if set.is_power_of_two() {
            return;
        }
        let left = best[set].1;
        self.replay(best, left, sets, order, terms);
        self.replay(best, set & !left, sets, order, terms);
        let position = |subset: usize| {
            sets.iter().position(|&s| s == subset).expect("both parts were contracted before")
        };
        let (i, j) = (position(left), position(set & !left));
        let (i, j) = (i.min(j), i.max(j));
        sets.remove(j);
        sets.remove(i);
        sets.push(set);
        self.append(order, terms, (i, j));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chain(lengths: &[usize]) -> Problem {
        let terms = (0..lengths.len() - 1).map(|i| 0b11 << i).collect();
        Problem { terms, output: 1 | 1 << (lengths.len() - 1), lengths: lengths.into() }
    }

    #[test]
    fn cheapest_order_of_a_matrix_chain() {
        // The textbook example: (A (B C)) ((D E) F).
        let order = chain(&[30, 35, 15, 5, 10, 20, 25]).order();
        assert_eq!(order.operations, 2 * 15125);
        assert_eq!(order.scaling, 3);
    }

    #[test]
    fn greedy_order_of_many_operands() {
        let order = chain(&[2; 40]).order();
        assert_eq!(order.pairs.len(), 38);
    }
}
