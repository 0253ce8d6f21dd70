//! Tokenization with a trie: the tokens of least cost, random ones, and the graph of all.

use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;

use super::{TextError, Trie};

/// No path leads here.
const UNREACHED: u64 = u64::MAX;

/// What happens to bytes that belong to no token.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Default)]
pub enum Unknown {
    /// They are an error.
    #[default]
    Refuse,
    /// As few of them as possible are left out.
    Ignore,
}

/// Splits texts into the tokens of a trie.
#[derive(Clone, Debug)]
pub struct Tokenizer {
    trie: Arc<Trie>,
    unknown: Unknown,
    scores: Vec<f64>,
}

/// The best path from the start of a text to a position.
#[derive(Clone, Copy)]
struct Best {
    skipped: u64,
    cost: f64,
    /// The last token of the path, negative if a byte was left out, and its length.
    token: i64,
    length: u32,
}

/// A token that leads from one position of a text to another.
#[derive(Clone, Copy)]
struct Step {
    to: usize,
    token: i64,
}

/// The tokens from every reachable position, and the number of bytes left out before each.
struct Steps {
    all: Vec<Step>,
    ranges: Vec<Range<usize>>,
    skipped: Vec<u64>,
}

impl Steps {
    fn from(&self, position: usize) -> &[Step] {
        &self.all[self.ranges[position].clone()]
    }
}

impl Tokenizer {
    /// A tokenizer whose tokens cost 1 each or, with `scores`, `scores[id]`.
    pub fn new(trie: Arc<Trie>, unknown: Unknown, scores: Vec<f64>) -> Result<Tokenizer, TextError> {
        if !scores.is_empty() {
            let count = scores.len();
            if count != trie.num_keys() {
                return Err(TextError::ScoreCount { scores: count, num_keys: trie.num_keys() });
            }
            if let Some(id) = trie.ids().filter(|id| *id >= count as i64).min() {
                return Err(TextError::NoScore { id, scores: count });
            }
            if let Some(id) = scores.iter().position(|score| !score.is_finite()) {
                return Err(TextError::Score { id, score: scores[id] });
            }
        }
        Ok(Tokenizer { trie, unknown, scores })
    }

    /// The trie.
    pub fn trie(&self) -> &Arc<Trie> {
        &self.trie
    }

    /// The tokens of least total cost; of several, those whose last token is longest.
    ///
    /// With [`Unknown::Ignore`] as few bytes as possible are left out, and of such tokens those of least cost are taken.
    pub fn shortest(&self, text: &[u8]) -> Result<Vec<i64>, TextError> {
        let frozen = self.trie.frozen();
        let unreached = Best { skipped: UNREACHED, cost: 0.0, token: -1, length: 1 };
        let mut best = vec![unreached; text.len() + 1];
        best[0].skipped = 0;
        let mut furthest = 0;
        for start in 0..text.len() {
            let Best { skipped, cost, .. } = best[start];
            if skipped == UNREACHED {
                continue;
            }
            let mut prefixes = frozen.prefixes(&text[start..]);
            for (length, token) in prefixes.by_ref() {
                let cost = cost + self.scores.get(token as usize).copied().unwrap_or(1.0);
                let end = &mut best[start + length];
                if skipped < end.skipped || (skipped == end.skipped && cost < end.cost) {
                    *end = Best { skipped, cost, token, length: length as u32 };
                }
            }
            furthest = furthest.max(start + prefixes.depth());
            let next = &mut best[start + 1];
            if self.unknown == Unknown::Ignore
                && (skipped + 1 < next.skipped || (skipped + 1 == next.skipped && cost < next.cost))
            {
                *next = Best { skipped: skipped + 1, cost, ..unreached };
            }
        }
        if best[text.len()].skipped == UNREACHED {
            return Err(unknown_at(text, furthest));
        }
        let mut tokens = Vec::new();
        let mut end = text.len();
        while end > 0 {
            let Best { token, length, .. } = best[end];
            if token >= 0 {
                tokens.push(token);
            }
            end -= length as usize;
        }
        tokens.reverse();
        Ok(tokens)
    }

    /// Tokens chosen at random: at every node of the graph, each edge is equally likely, and so is the end where the node accepts.
    ///
    /// `uniform` returns numbers in [0, 1).
    pub fn random(&self, text: &[u8], mut uniform: impl FnMut() -> f64) -> Result<Vec<i64>, TextError> {
        let graph = self.graph(text)?;
        let mut node = graph.start;
        let mut tokens = Vec::new();
        loop {
            let edges = graph.edges_from(node);
            let choices = edges.len() + usize::from(graph.accepts(node));
            if choices == 0 {
                return Ok(tokens);
            }
            let choice = ((uniform() * choices as f64) as usize).min(choices - 1);
            let Some(edge) = edges.get(choice) else { return Ok(tokens) };
            tokens.push(edge.token);
            node = edge.to;
        }
    }

    /// The graph of all tokenizations; with [`Unknown::Ignore`], of all that leave out the fewest bytes.
    pub fn graph(&self, text: &[u8]) -> Result<Graph, TextError> {
        let steps = self.steps(text)?;
        let (before, after) = (&steps.skipped, self.skipped_after(&steps));
        let total = before[text.len()];
        let is_on_path =
            |from: usize, skipped: u64, to: usize| add(add(before[from], skipped), after[to]) == total;

        // A node is the start, or the end of a token. Bytes that are left out join the tokens behind them to the node before.
        let mut number = vec![usize::MAX; text.len() + 1];
        number[0] = 0;
        let mut positions = vec![0];
        for from in (0..text.len()).filter(|from| before[*from] != UNREACHED) {
            for step in steps.from(from) {
                if number[step.to] == usize::MAX && is_on_path(from, 0, step.to) {
                    number[step.to] = 0;
                    positions.push(step.to);
                }
            }
        }
        positions.sort_unstable();
        for (node, position) in positions.iter().enumerate() {
            number[*position] = node;
        }

        let mut graph =
            Graph { edges: Vec::new(), outgoing: Vec::new(), accepting: Vec::new(), start: 0, positions };
        for node in 0..graph.positions.len() {
            let first = graph.edges.len();
            let mut at = graph.positions[node];
            loop {
                if at == text.len() {
                    graph.accepting.push(node);
                    break;
                }
                for step in steps.from(at) {
                    if is_on_path(at, 0, step.to) {
                        graph.edges.push(Edge { from: node, to: number[step.to], token: step.token });
                    }
                }
                if self.unknown == Unknown::Refuse || !is_on_path(at, 1, at + 1) {
                    break;
                }
                at += 1;
            }
            graph.outgoing.push(first..graph.edges.len());
        }
        graph.order_edges();
        Ok(graph)
    }

    /// Find the tokens from every reachable position.
    fn steps(&self, text: &[u8]) -> Result<Steps, TextError> {
        let frozen = self.trie.frozen();
        let mut skipped = vec![UNREACHED; text.len() + 1];
        skipped[0] = 0;
        let mut steps = Vec::new();
        let mut ranges = Vec::with_capacity(text.len() + 1);
        let mut furthest = 0;
        for start in 0..text.len() {
            let first = steps.len();
            if skipped[start] != UNREACHED {
                let mut prefixes = frozen.prefixes(&text[start..]);
                for (length, token) in prefixes.by_ref() {
                    let to = start + length;
                    steps.push(Step { to, token });
                    skipped[to] = skipped[to].min(skipped[start]);
                }
                furthest = furthest.max(start + prefixes.depth());
                if self.unknown == Unknown::Ignore {
                    skipped[start + 1] = skipped[start + 1].min(skipped[start] + 1);
                }
            }
            ranges.push(first..steps.len());
        }
        ranges.push(steps.len()..steps.len());
        if skipped[text.len()] == UNREACHED {
            return Err(unknown_at(text, furthest));
        }
        Ok(Steps { all: steps, ranges, skipped })
    }

    /// The number of bytes left out from every position to the end.
    fn skipped_after(&self, steps: &Steps) -> Vec<u64> {
        let length = steps.skipped.len() - 1;
        let mut skipped = vec![UNREACHED; length + 1];
        skipped[length] = 0;
        for start in (0..length).rev() {
            let over = match self.unknown {
                Unknown::Ignore => add(skipped[start + 1], 1),
                Unknown::Refuse => UNREACHED,
            };
            let tokens = steps.from(start).iter().map(|step| skipped[step.to]);
            skipped[start] = tokens.fold(over, u64::min);
        }
        skipped
    }
}

/// The sum, where [`UNREACHED`] plus anything is unreached.
fn add(left: u64, right: u64) -> u64 {
    left.saturating_add(right)
}

fn unknown_at(text: &[u8], position: usize) -> TextError {
    TextError::UnknownToken { position, byte: text.get(position).copied() }
}

/// A token between two nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Edge {
    /// The node it leaves.
    pub from: usize,
    /// The node it enters.
    pub to: usize,
    /// The token's id.
    pub token: i64,
}

/// All tokenizations of a text: the paths from the start node to accepting nodes. Edges lead to nodes of higher numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Graph {
    /// Ordered by the node they leave, then by the number of tokens behind them.
    edges: Vec<Edge>,
    outgoing: Vec<Range<usize>>,
    /// In ascending order.
    accepting: Vec<usize>,
    start: usize,
    positions: Vec<usize>,
}

impl Graph {
    /// The number of nodes.
    pub fn num_nodes(&self) -> usize {
        self.positions.len()
    }

    /// The offset in the text at which a node lies.
    pub fn position(&self, node: usize) -> Option<usize> {
        self.positions.get(node).copied()
    }

    /// The nodes at which paths start.
    pub fn start_nodes(&self) -> &[usize] {
        std::slice::from_ref(&self.start)
    }

    /// The nodes at which paths may end.
    pub fn accept_nodes(&self) -> &[usize] {
        &self.accepting
    }

    /// All edges.
    pub fn edges(&self) -> &[Edge] {
        &self.edges
    }

    /// The edges that leave a node: first those behind which the fewest tokens follow.
    pub fn edges_from(&self, node: usize) -> &[Edge] {
        self.outgoing.get(node).map_or(&[], |range| &self.edges[range.clone()])
    }

    /// Order the edges of each node by how near to the end they lead: by the order of a breadth-first walk from the accepting nodes.
    fn order_edges(&mut self) {
        let mut sources = vec![Vec::new(); self.num_nodes()];
        for edge in &self.edges {
            sources[edge.to].push(edge.from);
        }
        let mut order = vec![usize::MAX; self.num_nodes()];
        let mut visited = 0;
        let mut pending: VecDeque<usize> = self.accepting.iter().copied().collect();
        while let Some(node) = pending.pop_front() {
            if order[node] == usize::MAX {
                order[node] = visited;
                visited += 1;
                pending.extend(&sources[node]);
            }
        }
        for range in &self.outgoing {
            self.edges[range.clone()].sort_by_key(|edge| order[edge.to]);
        }
    }

    fn accepts(&self, node: usize) -> bool {
        self.accepting.binary_search(&node).is_ok()
    }

    /// The tokens of every path, depth first, the first one among those with the fewest tokens. A path without tokens is not among them. Paths that leave out different bytes may
    /// have the same tokens.
    pub fn paths(&self) -> Paths<'_> {
        Paths { graph: self, path: Vec::new(), next: 0, node: self.start }
    }
}

/// The walk of [`Graph::paths`].
#[derive(Clone, Debug)]
pub struct Paths<'a> {
    graph: &'a Graph,
    /// For every edge of the path, its index among those that leave its node.
    path: Vec<(usize, Edge)>,
    /// The index of the next edge to follow from the current node.
    next: usize,
    node: usize,
}

impl Iterator for Paths<'_> {
    type Item = Vec<i64>;

    fn next(&mut self) -> Option<Vec<i64>> {
        loop {
            if let Some(edge) = self.graph.edges_from(self.node).get(self.next) {
                self.path.push((self.next, *edge));
                (self.node, self.next) = (edge.to, 0);
                if self.graph.accepts(self.node) {
                    return Some(self.path.iter().map(|(_, edge)| edge.token).collect());
                }
            } else {
                let (index, edge) = self.path.pop()?;
                (self.node, self.next) = (edge.from, index + 1);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn tokenizer(tokens: &[&str], unknown: Unknown, scores: &[f64]) -> Tokenizer {
        let mut trie = Trie::new();
        for token in tokens {
            trie.insert(token.as_bytes(), None).unwrap();
        }
        Tokenizer::new(Arc::new(trie), unknown, scores.to_vec()).unwrap()
    }

    #[test]
    fn the_fewest_tokens() {
        let split = tokenizer(&["a", "aa", "b"], Unknown::Refuse, &[]);
        assert_eq!(split.shortest(b"aab").unwrap(), [1, 2]);
        assert_eq!(split.shortest(b"").unwrap(), [] as [i64; 0]);
        let costly = tokenizer(&["a", "aa", "b"], Unknown::Refuse, &[1.0, 3.0, 1.0]);
        assert_eq!(costly.shortest(b"aab").unwrap(), [0, 0, 2]);
        let gain = tokenizer(&["a", "aa", "b"], Unknown::Refuse, &[-1.0, -1.0, 0.5]);
        assert_eq!(gain.shortest(b"aab").unwrap(), [0, 0, 2]);
    }

    #[test]
    fn the_graph_of_a_small_text() {
        let graph = tokenizer(&["a", "aa", "b"], Unknown::Refuse, &[]).graph(b"aab").unwrap();
        assert_eq!(graph.start_nodes(), [0]);
        assert_eq!(graph.accept_nodes(), [3]);
        let edges: Vec<_> = graph.edges().iter().map(|edge| (edge.from, edge.to, edge.token)).collect();
        assert_eq!(edges, [(0, 2, 1), (0, 1, 0), (1, 2, 0), (2, 3, 2)]);
        assert_eq!(graph.paths().collect::<Vec<_>>(), [vec![1, 2], vec![0, 0, 2]]);
    }

    #[test]
    fn dead_ends_are_not_in_the_graph() {
        let graph = tokenizer(&["ab", "abc", "cd"], Unknown::Refuse, &[]).graph(b"abcd").unwrap();
        assert_eq!(graph.paths().collect::<Vec<_>>(), [vec![0, 2]]);
        assert_eq!(graph.num_nodes(), 3);
        assert_eq!(graph.position(1), Some(2));
    }

    #[test]
    fn errors_name_the_position() {
        let split = tokenizer(&["ab", "c", "abcd"], Unknown::Refuse, &[]);
        let error = split.shortest(b"abcx").unwrap_err();
        assert_eq!(error, TextError::UnknownToken { position: 3, byte: Some(b'x') });
        assert_eq!(
            error.to_string(),
            "no token continues the text at byte 3 ('x', 0x78); add it to the trie, or set ignore_unk"
        );
        assert_eq!(split.graph(b"abcx").unwrap_err(), error);
        let ends = split.shortest(b"abca").unwrap_err();
        assert_eq!(ends, TextError::UnknownToken { position: 4, byte: None });
        assert!(ends.to_string().starts_with("the text ends inside a token at byte 4"));
    }

    #[test]
    fn scores_must_fit_the_tokens() {
        let mut trie = Trie::new();
        trie.insert(b"a", Some(3)).unwrap();
        let trie = Arc::new(trie);
        let fails = |scores: &[f64]| {
            Tokenizer::new(Arc::clone(&trie), Unknown::Refuse, scores.to_vec()).unwrap_err().to_string()
        };
        assert_eq!(fails(&[1.0, 2.0]), "trie_key_scores has 2 scores for 1 tokens");
        assert!(fails(&[1.0]).starts_with("the token with the id 3 has no score"));
        let nan = Tokenizer::new(Arc::new(Trie::new()), Unknown::Refuse, vec![f64::NAN]);
        assert!(nan.is_err());
    }

    #[test]
    fn unknown_bytes_are_left_out() {
        let split = tokenizer(&["ab", "c"], Unknown::Ignore, &[]);
        assert_eq!(split.shortest(b"xabyyc").unwrap(), [0, 1]);
        // A token behind a prefix of another is not lost with it.
        assert_eq!(split.shortest(b"ac").unwrap(), [1]);
        assert_eq!(split.shortest(b"xyz").unwrap(), [] as [i64; 0]);
        let either = tokenizer(&["ab", "bc"], Unknown::Ignore, &[]).graph(b"abc").unwrap();
        assert_eq!(either.paths().collect::<Vec<_>>(), [[0], [1]]);
        assert_eq!(either.accept_nodes().len(), 2);
    }

    #[test]
    fn random_tokens_are_paths() {
        let split = tokenizer(&["a", "aa", "b"], Unknown::Refuse, &[]);
        assert_eq!(split.random(b"aab", || 0.0).unwrap(), [1, 2]);
        assert_eq!(split.random(b"aab", || 0.999).unwrap(), [0, 0, 2]);
        // A number outside of [0, 1) chooses the nearest edge.
        assert_eq!(split.random(b"aab", || 1.0).unwrap(), [0, 0, 2]);
    }

    /// The tokenizations that leave out the fewest bytes, by trying all.
    fn all(tokens: &[Vec<u8>], text: &[u8], unknown: Unknown) -> Vec<Vec<i64>> {
        fn extend(tokens: &[Vec<u8>], text: &[u8], unknown: Unknown) -> Vec<(usize, Vec<i64>)> {
            if text.is_empty() {
                return vec![(0, Vec::new())];
            }
            let mut found = Vec::new();
            for (id, token) in tokens.iter().enumerate().filter(|(_, token)| text.starts_with(token)) {
                for (skipped, mut rest) in extend(tokens, &text[token.len()..], unknown) {
                    rest.insert(0, id as i64);
                    found.push((skipped, rest));
                }
            }
            if unknown == Unknown::Ignore {
                found.extend(
                    extend(tokens, &text[1..], unknown)
                        .into_iter()
                        .map(|(skipped, rest)| (skipped + 1, rest)),
                );
            }
            found
        }
        let found = extend(tokens, text, unknown);
        let fewest = found.iter().map(|(skipped, _)| *skipped).min();
        let mut paths: Vec<_> =
            found.into_iter().filter(|(skipped, _)| Some(*skipped) == fewest).map(|(_, path)| path).collect();
        paths.sort();
        paths.dedup();
        paths
    }

    proptest! {
        #[test]
        fn paths_are_all_tokenizations_and_the_shortest_costs_least(
            tokens in prop::collection::hash_set(prop::collection::vec(b'a'..b'd', 1..4), 1..8),
            text in prop::collection::vec(b'a'..b'd', 0..9),
            scores in prop::collection::vec(-4i32..8, 8),
            ignore in any::<bool>(),
            numbers in prop::collection::vec(0.0f64..1.0, 10),
        ) {
            let unknown = if ignore { Unknown::Ignore } else { Unknown::Refuse };
            let tokens: Vec<_> = tokens.into_iter().collect();
            let scores: Vec<f64> = scores[..tokens.len()].iter().map(|score| f64::from(*score)).collect();
            let mut trie = Trie::new();
            for token in &tokens {
                trie.insert(token, None).unwrap();
            }
            let split = Tokenizer::new(Arc::new(trie), unknown, scores.clone()).unwrap();
            let expected = all(&tokens, &text, unknown);
            if expected.is_empty() {
                prop_assert!(split.shortest(&text).is_err());
                prop_assert!(split.graph(&text).is_err());
                return Ok(());
            }
            // Paths that leave out different bytes may have the same tokens.
            let mut paths: Vec<_> = split.graph(&text).unwrap().paths().collect();
            if let Some(first) = paths.first().filter(|_| !ignore) {
                prop_assert_eq!(Some(first.len()), paths.iter().map(Vec::len).min());
            }
            paths.sort();
            paths.dedup();
            let some: Vec<_> = expected.iter().filter(|path| !path.is_empty()).cloned().collect();
            prop_assert_eq!(paths, some);
            let cost = |path: &[i64]| path.iter().map(|id| scores[*id as usize]).sum::<f64>();
            let shortest = split.shortest(&text).unwrap();
            prop_assert!(expected.contains(&shortest));
            let least = expected.iter().map(|path| cost(path)).fold(f64::INFINITY, f64::min);
            prop_assert_eq!(cost(&shortest), least);
            let mut numbers = numbers.into_iter();
            prop_assert!(expected.contains(&split.random(&text, || numbers.next().unwrap()).unwrap()));
        }
    }
}
