//! Tries, tokenizers and edit distances.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict, PyList, PyString, PyTuple};
use umber_core::DType;
use umber_data::Value;
use umber_data::random::{Draw, Key, Position};
use umber_data::text::{self, Bpe, BpeMerges, Edits, Graph, Node, TextError, Trie, Unknown};

use super::errors::OrRaiseData;
use super::operations::text as text_of;
use super::samples::{Views, object_of, value_of};

fn fault(op: &str, error: &TextError) -> PyErr {
    PyValueError::new_err(format!("[{op}] {error}"))
}

/// The bytes of a token: a text, bytes, or a list of their characters.
fn token_of(op: &str, token: &Bound<'_, PyAny>) -> PyResult<Vec<u8>> {
    if let Ok(list) = token.cast::<PyList>() {
        let parts: PyResult<Vec<Vec<u8>>> = list.iter().map(|part| text_of(op, "token", &part)).collect();
        return Ok(parts?.concat());
    }
    text_of(op, "token", token)
}

/// Tokens by their bytes, with identifiers.
///
/// Examples
/// --------
/// >>> from umber.data.core import CharTrie
/// >>> trie = CharTrie()
/// >>> trie.insert("un").id, trie.insert("happy").id
/// (0, 1)
/// >>> trie.search("happy").id, trie.search("hap")
/// (1, None)
/// >>> trie.key_string(1), trie.num_keys()
/// ('happy', 2)
#[pyclass(name = "CharTrie", module = "umber.data.core", frozen)]
pub(super) struct CharTrie(Mutex<Arc<Trie>>);

impl CharTrie {
    /// The trie as it is now.
    pub(super) fn trie(&self) -> Arc<Trie> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn key_of(&self, id: i64) -> PyResult<Vec<u8>> {
        self.trie().key(id).map_err(|error| PyIndexError::new_err(format!("[CharTrie] {error}")))
    }
}

#[pymethods]
impl CharTrie {
    #[new]
    fn new() -> CharTrie {
        CharTrie(Mutex::new(Arc::new(Trie::new())))
    }

    /// Insert a token.
    ///
    /// Parameters
    /// ----------
    /// token : str, bytes or list of str
    ///     The token, or its characters.
    /// id : int, optional
    ///     Its identifier. Default: -1, the number of tokens so far. A token that the trie has keeps its identifier.
    ///
    /// Returns
    /// -------
    /// CharTrieNode
    ///
    /// Examples
    /// --------
    /// >>> dx.core.CharTrie().insert(b"a", 7).id
    /// 7
    #[pyo3(signature = (token, id = -1))]
    fn insert(slf: &Bound<'_, CharTrie>, token: &Bound<'_, PyAny>, id: i64) -> PyResult<CharTrieNode> {
        let path = token_of("CharTrie.insert", token)?;
        let mut trie = slf.get().0.lock().unwrap_or_else(PoisonError::into_inner);
        let node = Arc::make_mut(&mut trie).insert(&path, Some(id));
        let node = node.map_err(|error| fault("CharTrie.insert", &error))?;
        Ok(CharTrieNode { id: node.id(), uid: node.uid(), trie: slf.clone().unbind(), path })
    }

    /// Find a token.
    ///
    /// Parameters
    /// ----------
    /// token : str, bytes or list of str
    ///     The token, or its characters.
    ///
    /// Returns
    /// -------
    /// CharTrieNode or None
    ///     None if the trie does not have it.
    ///
    /// Examples
    /// --------
    /// >>> dx.core.CharTrie().search("a") is None
    /// True
    fn search(slf: &Bound<'_, CharTrie>, token: &Bound<'_, PyAny>) -> PyResult<Option<CharTrieNode>> {
        let path = token_of("CharTrie.search", token)?;
        let trie = slf.get().trie();
        let found = trie.search(&path).map(|node| (node.id(), node.uid()));
        Ok(found.map(|(id, uid)| CharTrieNode { id, uid, trie: slf.clone().unbind(), path }))
    }

    /// The bytes of a token, each as a character.
    ///
    /// Parameters
    /// ----------
    /// id : int
    ///     The identifier.
    ///
    /// Returns
    /// -------
    /// list of str
    ///
    /// Raises
    /// ------
    /// IndexError
    ///     If no token has the identifier.
    ///
    /// Examples
    /// --------
    /// >>> trie = dx.core.CharTrie()
    /// >>> node = trie.insert("ab")
    /// >>> trie.key(node.id)
    /// ['a', 'b']
    fn key(&self, id: i64) -> PyResult<Vec<String>> {
        Ok(self.key_of(id)?.into_iter().map(|byte| char::from(byte).to_string()).collect())
    }

    /// A token as text.
    ///
    /// Parameters
    /// ----------
    /// id : int
    ///     The identifier.
    ///
    /// Returns
    /// -------
    /// str
    ///
    /// Raises
    /// ------
    /// IndexError
    ///     If no token has the identifier.
    /// UnicodeDecodeError
    ///     If the token is not UTF-8; use `key_bytes`.
    ///
    /// Examples
    /// --------
    /// >>> trie = dx.core.CharTrie()
    /// >>> node = trie.insert("ab")
    /// >>> trie.key_string(node.id)
    /// 'ab'
    fn key_string<'py>(&self, py: Python<'py>, id: i64) -> PyResult<Bound<'py, PyAny>> {
        PyBytes::new(py, &self.key_of(id)?).call_method0("decode")
    }

    /// A token as bytes.
    ///
    /// Parameters
    /// ----------
    /// id : int
    ///     The identifier.
    ///
    /// Returns
    /// -------
    /// bytes
    ///
    /// Raises
    /// ------
    /// IndexError
    ///     If no token has the identifier.
    ///
    /// Examples
    /// --------
    /// >>> trie = dx.core.CharTrie()
    /// >>> node = trie.insert("ab")
    /// >>> trie.key_bytes(node.id)
    /// b'ab'
    fn key_bytes<'py>(&self, py: Python<'py>, id: i64) -> PyResult<Bound<'py, PyBytes>> {
        Ok(PyBytes::new(py, &self.key_of(id)?))
    }

    /// The number of different identifiers.
    ///
    /// Returns
    /// -------
    /// int
    ///
    /// Examples
    /// --------
    /// >>> trie = dx.core.CharTrie()
    /// >>> node = trie.insert("ab")
    /// >>> trie.num_keys()
    /// 1
    fn num_keys(&self) -> usize {
        self.trie().num_keys()
    }

    /// The node of the empty token.
    ///
    /// Returns
    /// -------
    /// CharTrieNode
    ///
    /// Examples
    /// --------
    /// >>> trie = dx.core.CharTrie()
    /// >>> node = trie.insert("ab")
    /// >>> list(trie.root().children)
    /// ['a']
    fn root(slf: &Bound<'_, CharTrie>) -> CharTrieNode {
        let id = slf.get().trie().root().id();
        CharTrieNode { id, uid: 0, trie: slf.clone().unbind(), path: Vec::new() }
    }

    fn __repr__(&self) -> String {
        format!("CharTrie({} tokens)", self.num_keys())
    }
}

/// A node of a trie: the start of a token, or a token.
///
/// Attributes
/// ----------
/// id : int
///     The identifier of the token that ends here; -1 for none.
/// uid : int
///     The number of the node, in the order in which nodes were made.
/// children : dict of str to CharTrieNode
///     The nodes that one more byte leads to.
///
/// Examples
/// --------
/// >>> trie = dx.core.CharTrie()
/// >>> node = trie.insert("ab")
/// >>> node.accepts(), trie.root().accepts(), list(trie.root().children)
/// (True, False, ['a'])
#[pyclass(name = "CharTrieNode", module = "umber.data.core", frozen)]
pub(super) struct CharTrieNode {
    id: Option<i64>,
    uid: u32,
    trie: Py<CharTrie>,
    /// The bytes that lead here.
    path: Vec<u8>,
}

#[pymethods]
impl CharTrieNode {
    /// The identifier of the token that ends here; -1 for none.
    #[getter]
    fn id(&self) -> i64 {
        self.id.unwrap_or(-1)
    }

    /// The number of the node, in the order in which nodes were made.
    #[getter]
    fn uid(&self) -> u32 {
        self.uid
    }

    /// The nodes that one more byte leads to, by that byte as text.
    #[getter]
    fn children<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let trie = self.trie.get().trie();
        let node: Option<Node<'_>> = self.path.iter().try_fold(trie.root(), |node, &byte| node.child(byte));
        let children = PyDict::new(py);
        for (byte, child) in node.into_iter().flat_map(Node::children) {
            let path = [self.path.as_slice(), &[byte]].concat();
            let node = CharTrieNode { id: child.id(), uid: child.uid(), trie: self.trie.clone_ref(py), path };
            children.set_item(char::from(byte).to_string(), Py::new(py, node)?)?;
        }
        Ok(children)
    }

    /// Whether a token ends here.
    ///
    /// Returns
    /// -------
    /// bool
    ///
    /// Examples
    /// --------
    /// >>> trie = dx.core.CharTrie()
    /// >>> node = trie.insert("ab")
    /// >>> node.accepts(), trie.root().accepts()
    /// (True, False)
    fn accepts(&self) -> bool {
        self.id.is_some()
    }

    fn __repr__(&self) -> String {
        format!("CharTrieNode(id={}, uid={})", self.id(), self.uid)
    }
}

/// Splits texts into tokens of a trie.
///
/// Parameters
/// ----------
/// trie : CharTrie
///     The tokens.
/// ignore_unk : bool, optional
///     Whether bytes that belong to no token are left out, as few as possible, instead of raising. Default: False.
/// trie_key_scores : list of float, optional
///     What each token costs, by its identifier. Default: 1 each.
///
/// Raises
/// ------
/// ValueError
///     If there is not one score for each token.
///
/// Examples
/// --------
/// >>> from umber.data.core import CharTrie, Tokenizer, TokenizerIterator
/// >>> trie = CharTrie()
/// >>> for token in ["a", "aa", "b"]:
/// ...     _ = trie.insert(token)
/// >>> tokenizer = Tokenizer(trie)
/// >>> tokenizer.tokenize_shortest("aab")
/// [1, 2]
/// >>> list(TokenizerIterator(tokenizer.tokenize("aab")))
/// [[1, 2], [0, 0, 2]]
#[pyclass(name = "Tokenizer", module = "umber.data.core", frozen)]
struct Tokenizer {
    inner: text::Tokenizer,
    key: Key,
    calls: AtomicU64,
}

#[pymethods]
impl Tokenizer {
    #[new]
    #[pyo3(signature = (trie, ignore_unk = false, trie_key_scores = Vec::new()))]
    fn new(trie: &CharTrie, ignore_unk: bool, trie_key_scores: Vec<f64>) -> PyResult<Tokenizer> {
        let unknown = unknown(ignore_unk);
        let inner = text::Tokenizer::new(trie.trie(), unknown, trie_key_scores)
            .map_err(|error| fault("Tokenizer", &error))?;
        Ok(Tokenizer { inner, key: Key::next(), calls: AtomicU64::new(0) })
    }

    /// The tokens of least total cost; of several, those whose last token is longest.
    ///
    /// Parameters
    /// ----------
    /// input : str or bytes
    ///     The text.
    ///
    /// Returns
    /// -------
    /// list of int
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If a part of the text is no token.
    ///
    /// Examples
    /// --------
    /// >>> trie = dx.core.CharTrie()
    /// >>> ids = [trie.insert(token).id for token in ["a", "b", "ab"]]
    /// >>> dx.core.Tokenizer(trie).tokenize_shortest("aab")
    /// [0, 2]
    fn tokenize_shortest(&self, input: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
        const OP: &str = "Tokenizer.tokenize_shortest";
        let input_bytes = text_of(OP, "input", input)?;
        let tokens = input.py().detach(|| self.inner.shortest(&input_bytes));
        tokens.map_err(|error| fault(OP, &error))
    }

    /// Random tokens that make up the text.
    ///
    /// Parameters
    /// ----------
    /// input : str or bytes
    ///     The text.
    ///
    /// Returns
    /// -------
    /// list of int
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If a part of the text is no token.
    ///
    /// Examples
    /// --------
    /// >>> trie = dx.core.CharTrie()
    /// >>> ids = [trie.insert(token).id for token in ["a", "b", "ab"]]
    /// >>> dx.core.Tokenizer(trie).tokenize_rand("aab") in ([0, 2], [0, 0, 1])
    /// True
    fn tokenize_rand(&self, input: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
        const OP: &str = "Tokenizer.tokenize_rand";
        let input_bytes = text_of(OP, "input", input)?;
        let index = self.calls.fetch_add(1, Ordering::Relaxed);
        let mut numbers = Draw::new(self.key, Position { epoch: 0, index }).numbers();
        let tokens = input.py().detach(|| self.inner.random(&input_bytes, || numbers.uniform()));
        tokens.map_err(|error| fault(OP, &error))
    }

    /// All ways to make up the text of tokens.
    ///
    /// Parameters
    /// ----------
    /// input : str or bytes
    ///     The text.
    ///
    /// Returns
    /// -------
    /// GraphInt64
    ///     What `TokenizerIterator` iterates over.
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If a part of the text is no token.
    ///
    /// Examples
    /// --------
    /// >>> trie = dx.core.CharTrie()
    /// >>> ids = [trie.insert(token).id for token in ["a", "b", "ab"]]
    /// >>> sorted(dx.core.TokenizerIterator(dx.core.Tokenizer(trie).tokenize("aab")))
    /// [[0, 0, 1], [0, 2]]
    fn tokenize(&self, input: &Bound<'_, PyAny>) -> PyResult<GraphInt64> {
        const OP: &str = "Tokenizer.tokenize";
        let input_bytes = text_of(OP, "input", input)?;
        let graph = input.py().detach(|| self.inner.graph(&input_bytes));
        Ok(GraphInt64(Arc::new(graph.map_err(|error| fault(OP, &error))?)))
    }
}

/// What becomes of bytes that belong to no token.
pub(super) fn unknown(is_ignored: bool) -> Unknown {
    if is_ignored { Unknown::Ignore } else { Unknown::Refuse }
}

/// All ways to make up a text of tokens, as `Tokenizer.tokenize` returns them.
///
/// Examples
/// --------
/// >>> trie = dx.core.CharTrie()
/// >>> node = trie.insert("a")
/// >>> dx.core.Tokenizer(trie).tokenize("aa")
/// GraphInt64(3 nodes, 2 edges)
#[pyclass(name = "GraphInt64", module = "umber.data.core", frozen)]
struct GraphInt64(Arc<Graph>);

#[pymethods]
impl GraphInt64 {
    fn __repr__(&self) -> String {
        format!("GraphInt64({} nodes, {} edges)", self.0.num_nodes(), self.0.edges().len())
    }
}

/// Iterates over the ways to make up a text, as lists of identifiers.
///
/// Parameters
/// ----------
/// graph : GraphInt64
///     What `Tokenizer.tokenize` returned.
///
/// Examples
/// --------
/// >>> trie = dx.core.CharTrie()
/// >>> for token in ["a", "aa"]:
/// ...     _ = trie.insert(token)
/// >>> list(dx.core.TokenizerIterator(dx.core.Tokenizer(trie).tokenize("aa")))
/// [[1], [0, 0]]
#[pyclass(name = "TokenizerIterator", module = "umber.data.core", frozen)]
struct TokenizerIterator(Mutex<Walk>);

/// A walk over the paths of a graph, depth first.
struct Walk {
    graph: Arc<Graph>,
    /// For every edge of the path, its index among those that leave its node.
    path: Vec<usize>,
    nodes: Vec<usize>,
    tokens: Vec<i64>,
    /// The index of the next edge to follow from the current node.
    next: usize,
}

impl Walk {
    fn next(&mut self) -> Option<Vec<i64>> {
        loop {
            let node = *self.nodes.last()?;
            if let Some(edge) = self.graph.edges_from(node).get(self.next) {
                self.path.push(self.next);
                self.nodes.push(edge.to);
                self.tokens.push(edge.token);
                self.next = 0;
                if self.graph.accept_nodes().binary_search(&edge.to).is_ok() {
                    return Some(self.tokens.clone());
                }
                continue;
            }
            self.nodes.pop();
            self.tokens.pop();
            self.next = self.path.pop()? + 1;
        }
    }
}

#[pymethods]
impl TokenizerIterator {
    #[new]
    fn new(graph: &GraphInt64) -> TokenizerIterator {
        let nodes = graph.0.start_nodes().to_vec();
        let graph = Arc::clone(&graph.0);
        TokenizerIterator(Mutex::new(Walk { graph, path: Vec::new(), nodes, tokens: Vec::new(), next: 0 }))
    }

    fn __iter__(slf: Bound<'_, Self>) -> Bound<'_, Self> {
        slf
    }

    fn __next__(&self) -> Option<Vec<i64>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).next()
    }
}

/// The pairs that byte pair encoding merges.
///
/// Examples
/// --------
/// >>> merges = dx.core.BPEMerges()
/// >>> merges.add("a", "b", 7)
/// >>> merges.can_merge("a", "b"), merges.can_merge("b", "a")
/// (7, None)
#[pyclass(name = "BPEMerges", module = "umber.data.core", frozen)]
pub(super) struct PyMerges(Mutex<Arc<BpeMerges>>);

impl PyMerges {
    /// The merges as they are now.
    pub(super) fn merges(&self) -> Arc<BpeMerges> {
        Arc::clone(&self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

#[pymethods]
impl PyMerges {
    #[new]
    fn new() -> PyMerges {
        PyMerges(Mutex::new(Arc::new(BpeMerges::new())))
    }

    /// Add a pair.
    ///
    /// Parameters
    /// ----------
    /// left, right : str or bytes
    ///     The pair.
    /// token : int
    ///     The identifier of both together. Pairs of lower identifiers are merged first.
    ///
    /// Examples
    /// --------
    /// >>> merges = dx.core.BPEMerges()
    /// >>> merges.add("a", "b", 7)
    /// >>> merges.can_merge("a", "b")
    /// 7
    fn add(&self, left: &Bound<'_, PyAny>, right: &Bound<'_, PyAny>, token: i64) -> PyResult<()> {
        let (left, right) =
            (text_of("BPEMerges.add", "left", left)?, text_of("BPEMerges.add", "right", right)?);
        let mut merges = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        Arc::make_mut(&mut merges).add(&left, &right, token);
        Ok(())
    }

    /// The identifier of two strings together.
    ///
    /// Parameters
    /// ----------
    /// left, right : str or bytes
    ///     The pair.
    ///
    /// Returns
    /// -------
    /// int or None
    ///     None if they are not merged.
    ///
    /// Examples
    /// --------
    /// >>> merges = dx.core.BPEMerges()
    /// >>> merges.add("a", "b", 7)
    /// >>> merges.can_merge("b", "a") is None
    /// True
    fn can_merge(&self, left: &Bound<'_, PyAny>, right: &Bound<'_, PyAny>) -> PyResult<Option<i64>> {
        const OP: &str = "BPEMerges.can_merge";
        let (left, right) = (text_of(OP, "left", left)?, text_of(OP, "right", right)?);
        Ok(self.merges().can_merge(&left, &right))
    }

    fn __repr__(&self) -> String {
        format!("BPEMerges({} pairs)", self.merges().len())
    }
}

/// Splits texts into tokens by byte pair encoding.
///
/// Parameters
/// ----------
/// symbols : CharTrie
///     The tokens that merging begins with. A text is split into the longest of them.
/// merges : BPEMerges
///     The pairs that are merged: the lowest identifier first, of equal pairs the leftmost.
///
/// Examples
/// --------
/// >>> from umber.data.core import BPEMerges, BPETokenizer, CharTrie
/// >>> symbols, merges = CharTrie(), BPEMerges()
/// >>> node = symbols.insert("a")
/// >>> merges.add("a", "a", 1)
/// >>> BPETokenizer(symbols, merges).tokenize("aaa")
/// [1, 0]
#[pyclass(name = "BPETokenizer", module = "umber.data.core", frozen)]
struct BpeTokenizer {
    symbols: Py<CharTrie>,
    merges: Py<PyMerges>,
    made: Mutex<Option<MadeBpe>>,
}

/// A tokenizer, and the symbols and merges that it was made of, so that later ones are seen.
#[derive(Clone)]
struct MadeBpe {
    symbols: Arc<Trie>,
    merges: Arc<BpeMerges>,
    bpe: Arc<Bpe>,
}

impl BpeTokenizer {
    fn bpe(&self, py: Python<'_>) -> Arc<Bpe> {
        let (symbols, merges) = (self.symbols.get().trie(), self.merges.get().merges());
        let made = self.made.lock().unwrap_or_else(PoisonError::into_inner).clone();
        if let Some(made) = made
            && Arc::ptr_eq(&made.symbols, &symbols)
            && Arc::ptr_eq(&made.merges, &merges)
        {
            return made.bpe;
        }
        let bpe = Arc::new(py.detach(|| Bpe::new(&symbols, &merges)));
        let made = Some(MadeBpe { symbols, merges, bpe: Arc::clone(&bpe) });
        *self.made.lock().unwrap_or_else(PoisonError::into_inner) = made;
        bpe
    }
}

#[pymethods]
impl BpeTokenizer {
    #[new]
    fn new(symbols: Py<CharTrie>, merges: Py<PyMerges>) -> BpeTokenizer {
        BpeTokenizer { symbols, merges, made: Mutex::default() }
    }

    /// The tokens of a text.
    ///
    /// Parameters
    /// ----------
    /// input : str or bytes
    ///     The text.
    ///
    /// Returns
    /// -------
    /// list of int
    ///
    /// Raises
    /// ------
    /// ValueError
    ///     If a part of the text is no symbol.
    ///
    /// Examples
    /// --------
    /// >>> symbols, merges = dx.core.CharTrie(), dx.core.BPEMerges()
    /// >>> ids = [symbols.insert(token).id for token in ["a", "b"]]
    /// >>> merges.add("a", "b", 2)
    /// >>> dx.core.BPETokenizer(symbols, merges).tokenize("aab")
    /// [0, 2]
    fn tokenize(&self, input: &Bound<'_, PyAny>) -> PyResult<Vec<i64>> {
        const OP: &str = "BPETokenizer.tokenize";
        let input_bytes = text_of(OP, "input", input)?;
        let bpe = self.bpe(input.py());
        let tokens = input.py().detach(|| bpe.encode(&input_bytes));
        tokens.map_err(|error| fault(OP, &error))
    }
}

/// Call a function with the elements of a value as a slice of its type.
macro_rules! with_elements {
    ($op:expr, $value:expr, $elements:ident: $type:ident => $body:expr) => {
        match $value.dtype() {
            DType::Int8 => with_elements!(@ $value, $elements: $type = i8 => $body),
            DType::UInt8 => with_elements!(@ $value, $elements: $type = u8 => $body),
            DType::Int16 => with_elements!(@ $value, $elements: $type = i16 => $body),
            DType::UInt16 => with_elements!(@ $value, $elements: $type = u16 => $body),
            DType::Int32 => with_elements!(@ $value, $elements: $type = i32 => $body),
            DType::UInt32 => with_elements!(@ $value, $elements: $type = u32 => $body),
            DType::Int64 => with_elements!(@ $value, $elements: $type = i64 => $body),
            DType::Float32 => with_elements!(@ $value, $elements: $type = f32 => $body),
            DType::Float64 => with_elements!(@ $value, $elements: $type = f64 => $body),
            other => Err(PyTypeError::new_err(format!(
                "[{}] got {other}, expected integers or floating-point numbers of 32 or 64 bits", $op
            ))),
        }
    };
    (@ $value:expr, $elements:ident: $type:ident = $element:ty => $body:expr) => {{
        type $type = $element;
        let $elements: &[$type] = $value.as_slice().unwrap_or_default();
        $body
    }};
}

/// A contiguous value of an array.
fn contiguous(array: &Bound<'_, PyAny>) -> PyResult<Value> {
    value_of(array)?.into_contiguous().or_raise(array.py())
}

/// Lengths of sequences as 64-bit integers.
fn lengths_of(op: &str, argument: &str, array: &Bound<'_, PyAny>) -> PyResult<(Value, Vec<i64>)> {
    let value = contiguous(array)?;
    let lengths: Option<Vec<i64>> = match value.dtype() {
        DType::Int64 => value.as_slice::<i64>().map(<[i64]>::to_vec),
        DType::Int32 => value.as_slice::<i32>().map(|all| all.iter().map(|&n| i64::from(n)).collect()),
        _ => None,
    };
    let lengths = lengths.ok_or_else(|| {
        PyTypeError::new_err(format!("[{op}] {argument}: got {}, expected int32 or int64", value.dtype()))
    })?;
    Ok((value, lengths))
}

/// `uniq` and `remove`.
fn shorten<'py>(
    op: &str,
    array: &Bound<'py, PyAny>,
    lengths: &Bound<'py, PyAny>,
    dim: i64,
    removed: Option<f64>,
    pad: f64,
) -> PyResult<Bound<'py, PyTuple>> {
    let py = array.py();
    let value = contiguous(array)?;
    let (lengths_value, lengths) = lengths_of(op, "lengths", lengths)?;
    let ndim = value.ndim() as i64;
    let shifted = if dim < 0 { dim.saturating_add(ndim) } else { dim };
    if !(0..ndim).contains(&shifted) {
        let text = format!("[{op}] dim: axis {dim} is out of bounds for shape {}", value.shape());
        return Err(PyIndexError::new_err(text));
    }
    let (shape, axis) = (value.shape().clone(), shifted as usize);
    let (elements, lengths) = with_elements!(op, value, elements: Element => {
        #[allow(trivial_numeric_casts)] // One of the types is that of the argument.
        let pad = pad as Element;
        let shortened = match removed {
            None => text::uniq(elements, &shape[..], axis, &lengths, pad),
            #[allow(trivial_numeric_casts)]
            Some(removed) => text::remove(elements, &shape[..], axis, &lengths, removed as Element, pad),
        };
        let shortened = shortened.map_err(|error| fault(op, &error))?;
        let elements = Value::from_slice(&shortened.elements, shape.clone()).or_raise(py)?;
        Ok((elements, shortened.lengths))
    })?;
    let lengths = Value::from_slice(&lengths, lengths_value.shape().clone()).or_raise(py)?;
    let view = |value| object_of(py, value, Views::AsTheyAre);
    PyTuple::new(py, [view(elements)?, view(lengths)?])
}

/// Leave out elements that equal the one before, in padded sequences.
///
/// Parameters
/// ----------
/// array : array_like
///     Sequences along an axis.
/// lengths : array_like of int
///     The number of elements of each sequence that count.
/// dim : int
///     The axis of the sequences.
/// pad : float
///     What sequences are filled up with.
///
/// Returns
/// -------
/// array, lengths : numpy.ndarray
///     The shortened sequences and their lengths.
///
/// Raises
/// ------
/// ValueError
///     If a length is negative or exceeds the axis, or there is not one for each sequence.
///
/// See Also
/// --------
/// remove
///
/// Examples
/// --------
/// >>> dx.core.uniq(np.array([[1, 1, 2, 2, 1]]), np.array([5]), 1, 0)
/// (array([[1, 2, 1, 0, 0]]), array([3]))
#[pyfunction]
fn uniq<'py>(
    array: &Bound<'py, PyAny>,
    lengths: &Bound<'py, PyAny>,
    dim: i64,
    pad: f64,
) -> PyResult<Bound<'py, PyTuple>> {
    shorten("uniq", array, lengths, dim, None, pad)
}

/// Leave out elements that equal a value, in padded sequences.
///
/// Parameters
/// ----------
/// array : array_like
///     Sequences along an axis.
/// lengths : array_like of int
///     The number of elements of each sequence that count.
/// dim : int
///     The axis of the sequences.
/// value : float
///     The value.
/// pad : float
///     What sequences are filled up with.
///
/// Returns
/// -------
/// array, lengths : numpy.ndarray
///     The shortened sequences and their lengths.
///
/// Raises
/// ------
/// ValueError
///     If a length is negative or exceeds the axis, or there is not one for each sequence.
///
/// See Also
/// --------
/// uniq
///
/// Examples
/// --------
/// >>> dx.core.remove(np.array([1, 0, 2]), np.array([3]), 0, 0, -1)
/// (array([ 1,  2, -1]), array([2]))
#[pyfunction]
fn remove<'py>(
    array: &Bound<'py, PyAny>,
    lengths: &Bound<'py, PyAny>,
    dim: i64,
    value: f64,
    pad: f64,
) -> PyResult<Bound<'py, PyTuple>> {
    shorten("remove", array, lengths, dim, Some(value), pad)
}

/// The edits between sequences, by kind (Levenshtein 1966).
///
/// Parameters
/// ----------
/// *args : array_like
///     The hypothesis and the reference: sequences of one dtype, or a row for each. Where rows are padded, each is followed by the number
///     of elements of its rows that count: ``(hypothesis, hypothesis_lengths, reference, reference_lengths)``.
///
/// Returns
/// -------
/// numpy.ndarray
///     int64 of shape (rows, 3), or (3,): deletions, insertions and substitutions.
///
/// Raises
/// ------
/// ValueError
///     If numbers of rows differ or a length exceeds a row.
/// TypeError
///     If the dtypes differ.
///
/// Examples
/// --------
/// >>> dx.core.levenshtein(np.array([1, 2, 3]), np.array([1, 3]))
/// array([0, 1, 0])
#[pyfunction]
#[pyo3(signature = (*args))]
fn levenshtein<'py>(py: Python<'py>, args: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
    const OP: &str = "levenshtein";
    let argument = |index: usize| args.get_item(index);
    let (left, right) = match args.len() {
        2 => (argument(0)?, argument(1)?),
        4 => (argument(0)?, argument(2)?),
        count => {
            return Err(PyTypeError::new_err(format!("[{OP}] got {count} arguments, expected 2 or 4")));
        }
    };
    let (left, right) = (contiguous(&left)?, contiguous(&right)?);
    if left.dtype() != right.dtype() {
        let text = format!("[{OP}] the dtypes differ: {} and {}; convert one", left.dtype(), right.dtype());
        return Err(PyTypeError::new_err(text));
    }
    let rows_of = |value: &Value| if value.ndim() == 2 { value.shape()[0] } else { 1 };
    if left.ndim() != right.ndim() || !(1..=2).contains(&left.ndim()) {
        let text = format!(
            "[{OP}] expected two arrays of one or of two axes, got shapes {} and {}",
            left.shape(),
            right.shape()
        );
        return Err(PyValueError::new_err(text));
    }
    let (left_lengths, right_lengths) = if args.len() == 4 {
        (
            lengths_of(OP, "hypothesis_lengths", &argument(1)?)?.1,
            lengths_of(OP, "reference_lengths", &argument(3)?)?.1,
        )
    } else {
        let all = |value: &Value| vec![value.shape()[value.ndim() - 1] as i64; rows_of(value)];
        (all(&left), all(&right))
    };
    if left_lengths.len() != rows_of(&left) || right_lengths.len() != rows_of(&right) {
        return Err(PyValueError::new_err(format!("[{OP}] expected one length for each row")));
    }
    let edits: Vec<Edits> = with_elements!(OP, left, elements: Element => {
        let others: &[Element] = right.as_slice().unwrap_or_default();
        text::levenshtein_rows(elements, &left_lengths, others, &right_lengths)
            .map_err(|error| fault(OP, &error))
    })?;
    let counts: Vec<i64> =
        edits.iter().flat_map(|edits| [edits.deletions, edits.insertions, edits.substitutions]).collect();
    let counts = match left.ndim() {
        1 => Value::from_slice(&counts, 3),
        _ => Value::from_slice(&counts, (edits.len(), 3)),
    };
    object_of(py, counts.or_raise(py)?, Views::AsTheyAre)
}

/// The name of a member of an enumeration.
pub(super) fn member_of(op: &str, argument: &str, member: &Bound<'_, PyAny>) -> PyResult<String> {
    let name = member.getattr("name").and_then(|name| Ok(name.cast::<PyString>()?.to_str()?.to_owned()));
    name.map_err(|_| {
        let class = member.get_type().name().map(|name| name.to_string()).unwrap_or_default();
        PyTypeError::new_err(format!("[{op}] {argument}: got {class}, expected a member of its enumeration"))
    })
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<CharTrie>()?;
    module.add_class::<CharTrieNode>()?;
    module.add_class::<Tokenizer>()?;
    module.add_class::<TokenizerIterator>()?;
    module.add_class::<GraphInt64>()?;
    module.add_class::<PyMerges>()?;
    module.add_class::<BpeTokenizer>()?;
    module.add_function(wrap_pyfunction!(uniq, module)?)?;
    module.add_function(wrap_pyfunction!(remove, module)?)?;
    module.add_function(wrap_pyfunction!(levenshtein, module)?)
}
