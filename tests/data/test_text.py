"""Tries, tokenizers, byte pair encoding and edit distances of `umber.data`."""

import itertools

import numpy as np
import pytest
import umber.data as dx
from umber.data import core


def trie_of(*tokens):
    trie = core.CharTrie()
    for token in tokens:
        trie.insert(token)
    return trie


def merges_of(*merges):
    table = core.BPEMerges()
    for merge in merges:
        table.add(*merge)
    return table


def test_tries():
    trie = core.CharTrie()
    assert trie.num_keys() == 0
    assert trie.root().id == -1
    assert not trie.root().accepts()
    node = trie.insert("abc")
    assert (node.id, node.uid, node.accepts()) == (0, 3, True)
    assert trie.insert(b"abc").id == 0
    assert trie.insert(["a", "b"]).id == 1
    assert trie.insert("é", 9).id == 9
    assert trie.num_keys() == 3
    assert trie.insert("é", 4).id == 9
    assert trie.search("ab").id == 1
    assert trie.search(b"abc").uid == 3
    assert trie.search("a") is None
    assert trie.search("x") is None
    assert trie.key(9) == ["Ã", "©"]
    assert trie.key_string(9) == "é"
    assert trie.key_bytes(9) == b"\xc3\xa9"
    children = trie.root().children
    assert list(children) == ["a", "Ã"]
    assert children["a"].uid == 1
    assert children["a"].children["b"].id == 1
    assert children["a"].children["b"].accepts()
    trie.insert("az")
    assert list(children["a"].children) == ["b", "z"]
    for bad in (5, -1):
        with pytest.raises(IndexError, match=f"no token has the id {bad}"):
            trie.key(bad)
    with pytest.raises(TypeError, match="token: got int"):
        trie.insert(3)
    trie.insert(b"\xff", 20)
    with pytest.raises(UnicodeDecodeError):
        trie.key_string(20)


def costs(text, tokens, scores):
    """All ways to make up a text of tokens, with their costs."""
    if not text:
        yield (), 0.0
    for index, token in enumerate(tokens):
        if token and text.startswith(token):
            for rest, cost in costs(text[len(token) :], tokens, scores):
                yield (index, *rest), cost + scores[index]


TOKENS = ("a", "b", "ab", "aba", "bb")
TEXTS = ["".join(letters) for size in range(6) for letters in itertools.product("ab", repeat=size)]


@pytest.mark.parametrize("scores", [[], [1.0, 5.0, 2.0, 7.0, 1.5]])
def test_tokens_have_least_cost(scores):
    tokenizer = core.Tokenizer(trie_of(*TOKENS), False, scores)
    for text in TEXTS:
        ways = dict(costs(text, TOKENS, scores or [1.0] * len(TOKENS)))
        assert ways[tuple(tokenizer.tokenize_shortest(text))] == min(ways.values())
        assert tokenizer.tokenize_shortest(text.encode()) == tokenizer.tokenize_shortest(text)
        listed = [tuple(way) for way in core.TokenizerIterator(tokenizer.tokenize(text))]
        assert sorted(listed) == sorted(way for way in ways if way)
        assert tuple(tokenizer.tokenize_rand(text)) in ways


def test_random_tokens_follow_the_seed():
    def draw():
        core.set_state(5)
        tokenizer = core.Tokenizer(trie_of("a", "aa"))
        return [tokenizer.tokenize_rand("a" * 20) for _ in range(5)]

    drawn = draw()
    assert drawn == draw()
    assert len({tuple(tokens) for tokens in drawn}) > 1


def test_unknown_bytes():
    trie = trie_of("a", "b")
    with pytest.raises(ValueError, match=r"\[Tokenizer\.tokenize_shortest\].*1"):
        core.Tokenizer(trie).tokenize_shortest("axb")
    assert core.Tokenizer(trie, ignore_unk=True).tokenize_shortest("axb") == [0, 1]
    assert core.Tokenizer(trie, True).tokenize_shortest("xx") == []
    with pytest.raises(ValueError, match="score"):
        core.Tokenizer(trie, trie_key_scores=[1.0])
    with pytest.raises(TypeError, match="input: got int"):
        core.Tokenizer(trie).tokenize_shortest(3)


def test_a_tokenizer_keeps_its_vocabulary():
    trie = trie_of("a")
    tokenizer = core.Tokenizer(trie)
    trie.insert("aa")
    assert tokenizer.tokenize_shortest("aa") == [0, 0]
    assert core.Tokenizer(trie).tokenize_shortest("aa") == [1]


def test_merges():
    merges = merges_of(("a", "b", 7), (b"c", b"d", 8))
    assert merges.can_merge("a", "b") == merges.can_merge(b"a", b"b") == 7
    assert merges.can_merge("c", "d") == 8
    assert merges.can_merge("b", "a") is None
    with pytest.raises(TypeError, match="left: got int"):
        merges.add(1, "a", 2)


def encode(text, symbols, merges):
    """Byte pair encoding by the textbook."""
    parts = [(letter, symbols[letter]) for letter in text]
    while True:
        pairs = [
            (merges[x + y], i)
            for i, ((x, _), (y, _)) in enumerate(itertools.pairwise(parts))
            if x + y in merges
        ]
        if not pairs:
            return [token for _, token in parts]
        token, at = min(pairs)
        parts[at : at + 2] = [(parts[at][0] + parts[at + 1][0], token)]


def test_byte_pair_encoding_is_the_textbooks():
    symbols = {"a": 0, "b": 1}
    merges = {"ab": 2, "aa": 3, "aab": 4, "abaa": 5, "bb": 6}
    splits = [
        ("a", "b", 2),
        ("a", "a", 3),
        ("a", "ab", 4),
        ("aa", "b", 4),
        ("ab", "aa", 5),
        ("b", "b", 6),
    ]
    tokenizer = core.BPETokenizer(trie_of(*symbols), merges_of(*splits))
    pairs = {(x, y) for x, y, _ in splits}
    for text in TEXTS:
        expected = encode(text, symbols, merges)
        # The textbook's table is of results, so every split of them must be a pair.
        assert tokenizer.tokenize(text) == expected or any(
            (word[:i], word[i:]) not in pairs for word in merges for i in range(1, len(word))
        )
    assert core.BPETokenizer(trie_of("a"), merges_of(("a", "a", 1))).tokenize("aaa") == [1, 0]
    assert tokenizer.tokenize("") == []
    with pytest.raises(ValueError, match=r"\[BPETokenizer\.tokenize\].*2"):
        tokenizer.tokenize("abx")


def test_operations_tokenize_texts():
    trie = trie_of(*TOKENS)
    rows = dx.buffer_from_vector([{"x": text.encode()} for text in TEXTS])
    tokenizer = core.Tokenizer(trie)
    for stream in (rows.to_stream(), rows.to_stream().prefetch(4, 2)):
        for text, sample in zip(TEXTS, stream.tokenize("x", trie), strict=True):
            assert sample["x"].dtype == np.int64
            assert sample["x"].tolist() == tokenizer.tokenize_shortest(text)
    both = rows.tokenize("x", trie, dx.Shortest, True, [1.0] * 5, "y")[3]
    assert list(both) == ["x", "y"]
    assert rows.tokenize_if(False, "x", trie)[1]["x"].tobytes() == b"a"
    ways = dict(costs("ababa", TOKENS, [1.0] * 5))
    drawn = dx.buffer_from_vector([{"x": b"ababa"}] * 50).tokenize(
        "x", trie, mode=dx.TokenizeMode.Rand
    )
    drawn = [tuple(s["x"].tolist()) for s in drawn]
    assert set(drawn) <= set(ways)
    assert len(set(drawn)) > 1
    symbols, merges = trie_of("a", "b"), merges_of(("a", "b", 2))
    assert dx.buffer_from_vector([{"x": b"abb"}]).tokenize_bpe("x", symbols, merges)[0][
        "x"
    ].tolist() == [2, 1]
    with pytest.raises(ValueError, match=r"\[tokenize\] sample 0, key 'x': "):
        dx.buffer_from_vector([{"x": b"?"}]).tokenize("x", trie)[0]
    with pytest.raises(ValueError, match=r"\[tokenize_bpe\] sample 0, key 'x': "):
        dx.buffer_from_vector([{"x": b"?"}]).tokenize_bpe("x", symbols, merges)[0]
    with pytest.raises(TypeError, match="mode: got str"):
        rows.tokenize("x", trie, "Shortest")
    with pytest.raises(ValueError, match="score"):
        rows.tokenize("x", trie, trie_key_scores=[1.0])


def shortened(row, length, keep, pad):
    kept = [x for i, x in enumerate(row[:length]) if keep(row, i)]
    return kept + [pad] * (len(row) - len(kept)), len(kept)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "float32", "float64"])
@pytest.mark.parametrize("dim", [0, 1, -1])
def test_uniq_and_remove(dtype, dim):
    rng = np.random.default_rng(0)
    array = rng.integers(0, 3, (7, 5)).astype(dtype)
    along = array.T if dim == 0 else array
    lengths = rng.integers(0, along.shape[1] + 1, len(along))
    for result, keep in [
        (core.uniq(array, lengths, dim, 9), lambda row, i: i == 0 or row[i] != row[i - 1]),
        (core.remove(array, lengths, dim, 1, 9), lambda row, i: row[i] != 1),
    ]:
        rows = [shortened(list(row), n, keep, 9) for row, n in zip(along, lengths, strict=True)]
        found = result[0].T if dim == 0 else result[0]
        assert found.tolist() == [row for row, _ in rows]
        assert found.dtype == dtype
        assert result[1].tolist() == [count for _, count in rows]
    assert array.max() < 3


def test_uniq_of_a_scalar_length_and_bad_arguments():
    elements, length = core.uniq(np.array([1, 1, 2], "int32"), np.array(3), 0, -1.0)
    assert elements.tolist() == [1, 2, -1]
    assert length.shape == ()
    assert length == 2
    assert core.uniq(np.zeros(0, "int32"), np.array(0), 0, 0.0)[0].shape == (0,)
    with pytest.raises(IndexError, match=r"\[uniq\] dim: axis 3"):
        core.uniq(np.ones(2), np.array([2]), 3, 0)
    with pytest.raises(ValueError, match="lengths"):
        core.remove(np.ones(2), np.array([3]), 0, 0, 0)
    with pytest.raises(TypeError, match="lengths: got float64"):
        core.remove(np.ones(2), np.array([2.0]), 0, 0, 0)
    with pytest.raises(TypeError, match="complex"):
        core.uniq(np.ones(2, complex), np.array([2]), 0, 0)


def distance(x, y):
    table = np.add.outer(np.arange(len(x) + 1), np.arange(len(y) + 1))
    for i, j in itertools.product(range(len(x)), range(len(y))):
        table[i + 1, j + 1] = min(
            table[i, j] + (x[i] != y[j]), table[i, j + 1] + 1, table[i + 1, j] + 1
        )
    return table[-1, -1]


def test_levenshtein():
    rng = np.random.default_rng(1)
    for dtype in ("int32", "int64", "float32", "uint8"):
        x, y = rng.integers(0, 3, (20, 6)).astype(dtype), rng.integers(0, 3, (20, 4)).astype(dtype)
        n, m = rng.integers(0, 7, 20), rng.integers(0, 5, 20).astype("int32")
        edits = core.levenshtein(x, n, y, m)
        assert edits.shape == (20, 3)
        assert edits.dtype == np.int64
        for row in range(20):
            left, right = x[row, : n[row]], y[row, : m[row]]
            assert edits[row].sum() == distance(left, right)
            assert edits[row, 1] - edits[row, 0] == len(left) - len(right)
    assert core.levenshtein(np.array([1, 2, 3]), np.array([1, 3])).tolist() == [0, 1, 0]
    assert core.levenshtein(
        np.zeros((1, 0), int), np.array([0]), np.ones((1, 2), int), np.array([2])
    ).tolist() == [[2, 0, 0]]
    with pytest.raises(TypeError, match="dtypes differ"):
        core.levenshtein(np.array([1.5]), np.array([1]))
    with pytest.raises(TypeError, match="got 3 arguments"):
        core.levenshtein(1, 2, 3)
    with pytest.raises(ValueError, match="shapes"):
        core.levenshtein(np.ones((1, 2)), np.ones(2))
    with pytest.raises(ValueError, match=r"left\[0\] is 4"):
        core.levenshtein(np.ones((1, 2)), np.array([4]), np.ones((1, 2)), np.array([1]))


def test_names_of_mlx_data():
    assert [m.name for m in dx.LoadAudioInfo] == [
        "All",
        "NumFrames",
        "NumChannels",
        "SampleRate",
        "NumSeconds",
    ]
    assert dx.All is dx.LoadAudioInfo.All
    assert dx.Rand is dx.TokenizeMode.Rand
    assert core.float is core.ArrayType.float
    assert core.any is core.ArrayType.any
    assert core.version() == core.libs_version()["umber"]
    assert dx.core is core
    assert {"datasets", "features", "tokenizer_helpers"} <= set(dir(dx))
    assert dx.features.mfsc
    assert dx.datasets.load_mnist
    assert dx.tokenizer_helpers.gpt2_byte_map
    with pytest.raises(AttributeError, match="nothing"):
        dx.nothing  # noqa: B018


def test_a_tokenizer_sees_symbols_and_merges_that_are_added_later():
    symbols, merges = dx.core.CharTrie(), dx.core.BPEMerges()
    for letter in "abc":
        symbols.insert(letter)
    tokenizer = dx.core.BPETokenizer(symbols, merges)
    assert tokenizer.tokenize("abc") == [0, 1, 2]
    merges.add("a", "b", 3)
    assert tokenizer.tokenize("abc") == [3, 2]
    symbols.insert("d", 9)
    assert tokenizer.tokenize("abd") == [3, 9]
