"""Vocabularies are read from SentencePiece's, Hugging Face's and plain files."""

import importlib
import io
import json
import struct

import pytest
from umber.data._vocabularies import (
    Merge,
    Piece,
    bpe_of_json,
    bpe_of_pieces,
    read_pieces,
    trie_of_pieces,
)

# Special tokens, bytes, and a vocabulary whose merges follow from the order.
PIECES = [
    Piece(b"<unk>", 0.0),
    Piece(b"<0x41>", 0.0),
    Piece(b"<0x0A>", 0.0),
    Piece("▁".encode(), -1.0),
    Piece(b"a", -2.0),
    Piece(b"b", -3.0),
    Piece(b"ab", -4.0),
    Piece("▁ab".encode(), -5.0),
    Piece(b"A", -6.0),
]
TEXTS = [b"<unk>", b"A", b"\n", "▁".encode(), b"a", b"b", b"ab", "▁ab".encode(), b"A"]


def varint(value):
    content = b""
    while value > 127:
        content += bytes([value & 127 | 128])
        value >>= 7
    return content + bytes([value])


def field(number, content):
    return varint(number << 3 | 2) + varint(len(content)) + content


def model(pieces):
    """A model as SentencePiece writes it, with fields that are of no use here."""
    content = field(2, b"trainer") + field(3, field(1, b"identity"))
    for piece in pieces:
        inner = field(1, piece.token) + b"\x15" + struct.pack("<f", piece.score) + b"\x18\x01"
        content += field(1, inner)
    return content + b"\x78\x01" + b"\x79" + b"12345678"


def vocabulary(pieces):
    return b"".join(b"%s\t%g\n" % piece for piece in pieces)


@pytest.fixture(params=["model", "vocab"])
def spm_file(request, tmp_path):
    path = tmp_path / f"x.{request.param}"
    path.write_bytes(model(PIECES) if request.param == "model" else vocabulary(PIECES))
    return path


def test_pieces(spm_file):
    assert read_pieces("op", spm_file) == PIECES
    assert read_pieces("op", str(spm_file)) == PIECES


def test_pieces_without_score(tmp_path):
    (tmp_path / "x.model").write_bytes(field(1, field(1, b"a")) + field(1, b""))
    assert read_pieces("op", tmp_path / "x.model") == [Piece(b"a", 0.0), Piece(b"", 0.0)]


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("x.model", model(PIECES)[:-3], "truncated"),
        ("x.model", b"\x0f", "wire type 7"),
        ("x.model", b"\x0a\xff\xff\xff\xff\x0f", "truncated"),
        ("x.model", b"\xff" * 20, "64 bits"),
        ("x.model", b"\x08\x01", "message"),
        ("x.model", field(1, b"\x15\x00\x00"), "truncated"),
        ("x.model", field(1, b"\x12\x01a"), "SentencePiece"),
        ("x.model", b"", "no tokens"),
        ("x.vocab", b"", "no tab"),
        ("x.vocab", b"a\t1\nb 2\n", "line 2 has no tab"),
        ("x.vocab", b"a\tb\n", "float"),
        ("x.txt", b"a\t1\n", r"expected a file \*\.model or \*\.vocab"),
    ],
)
def test_other_files(tmp_path, name, content, fault):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(ValueError, match=rf"^\[op\].*{fault}"):
        read_pieces("op", tmp_path / name)


def test_trie_of_pieces():
    """The byte's token gives way to the same text with a lower score."""
    tokens, scores = trie_of_pieces(PIECES)
    assert tokens == [b"<unk>", b"<0x41>", *TEXTS[2:]]
    assert scores == [6.0, 6.0, 6.0, 7.0, 8.0, 9.0, 10.0, 11.0, 12.0]
    tokens, _ = trie_of_pieces([PIECES[8], PIECES[1]])
    assert tokens == [b"A", b"<0x41>"]


def test_bpe_of_pieces():
    symbols, merges = bpe_of_pieces("op", PIECES, "x")
    assert symbols == [
        (b"<unk>", 0),
        (b"A", 8),
        (b"\n", 2),
        ("▁".encode(), 3),
        (b"a", 4),
        (b"b", 5),
        (b"A", 8),
    ]
    assert merges == [Merge(b"a", b"b", 6), Merge("▁".encode(), b"ab", 7)]
    with pytest.raises(ValueError, match="token 'xyz' is no merge of two others"):
        bpe_of_pieces("op", [Piece(b"xyz", -1.0)], "x")


def tokenizer(**changes):
    vocab = {"a": 0, "b": 1, "ab": 2, "Ġ": 3, "Ġab": 4}
    merges = ["a b", ["Ġ", "ab"]]
    special = [{"id": 5, "content": "<s>"}]
    value = {"model": {"type": "BPE", "vocab": vocab, "merges": merges}, "added_tokens": special}
    value["model"] |= changes
    return value


def test_bpe_of_json(tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(tokenizer(), ensure_ascii=False), encoding="utf-8")
    symbols, merges = bpe_of_json("op", path, True)
    assert symbols == [(b"a", 0), (b"b", 1), ("Ġ".encode(), 3), (b"<s>", 5)]
    assert merges == [Merge(b"a", b"b", 2), Merge("Ġ".encode(), b"ab", 4)]
    assert bpe_of_json("op", path, False) == (symbols[:3], merges)


@pytest.mark.parametrize(
    ("content", "fault"),
    [
        ("no json", "is not a tokenizer.json"),
        ("[]", "is not a tokenizer.json"),
        ('{"model": {}}', "is not a tokenizer.json"),
        (json.dumps(tokenizer(type="Unigram")), "of type Unigram, expected BPE"),
        (json.dumps(tokenizer(merges=["b a"])), "the merge of 'b' and 'a' is no token"),
    ],
)
def test_other_json(tmp_path, content, fault):
    (tmp_path / "x.json").write_text(content)
    with pytest.raises(ValueError, match=rf"^\[op\] .*x\.json.*{fault}"):
        bpe_of_json("op", tmp_path / "x.json", True)


@pytest.fixture(scope="module")
def helpers():
    """The functions that return tries and merges, which belong to the extension module."""
    pytest.importorskip("umber.data.core")
    return importlib.import_module("umber.data.tokenizer_helpers")


@pytest.fixture(scope="module")
def core():
    return pytest.importorskip("umber.data.core")


def keys(trie):
    return [trie.key_bytes(number) for number in range(trie.num_keys())]


def test_read_trie_from_spm(helpers, spm_file):
    trie, scores = helpers.read_trie_from_spm(spm_file)
    assert keys(trie) == [b"<unk>", b"<0x41>", *TEXTS[2:]]
    assert scores == trie_of_pieces(PIECES)[1]


def test_read_bpe_from_spm(helpers, core, spm_file):
    symbols, merges = helpers.read_bpe_from_spm(spm_file)
    assert symbols.search("a").id == 4
    assert symbols.search("ab") is None
    assert core.BPETokenizer(symbols, merges).tokenize("▁abaA") == [7, 4, 8]


def test_read_bpe_from_hf(helpers, core, tmp_path):
    path = tmp_path / "tokenizer.json"
    path.write_text(json.dumps(tokenizer()), encoding="utf-8")
    symbols, merges = helpers.read_bpe_from_hf(path)
    text = "".join(helpers.gpt2_byte_map()[byte] for byte in b"ab aba")
    assert core.BPETokenizer(symbols, merges).tokenize(text) == [2, 4, 0]
    assert symbols.search("<s>").id == 5
    assert helpers.read_bpe_from_hf(str(path), add_special_tokens=False)[0].search("<s>") is None


def test_read_trie_from_vocab(helpers, tmp_path):
    (tmp_path / "x.txt").write_bytes("un\n happy \r\né\n".encode())
    expected = [b"un", b"happy", "é".encode()]
    assert keys(helpers.read_trie_from_vocab(tmp_path / "x.txt")) == expected
    assert keys(helpers.read_trie_from_vocab(str(tmp_path / "x.txt"))) == expected
    assert keys(helpers.read_trie_from_vocab(io.StringIO("un\nhappy\né"))) == expected
    assert keys(helpers.read_trie_from_vocab([b"un\n", b"happy", "é"])) == expected


def test_gpt2_byte_map(helpers):
    characters = helpers.gpt2_byte_map()
    assert len(set(characters)) == len(characters) == 256
    assert "".join(characters[byte] for byte in b" a~\n\x00") == "Ġa~ĊĀ"
    assert "".join(characters[byte] for byte in "¡¬\xad®ÿ\x7f\xa0".encode("latin-1")) == "¡¬Ń®ÿġł"
    assert all(character.isprintable() for character in characters)
