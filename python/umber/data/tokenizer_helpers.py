"""Vocabularies from files, for `tokenize` and `tokenize_bpe`: SentencePiece, Hugging Face, text."""

from __future__ import annotations

import json
import os
import re
import struct
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from umber.data.core import BPEMerges, CharTrie

_BYTE = re.compile(rb"<0x([0-9A-Fa-f]{2})>")


class Piece(NamedTuple):
    """A token of SentencePiece's and its logarithmic probability."""

    token: bytes
    score: float


class Merge(NamedTuple):
    """Two tokens that become one, and the number of the result."""

    left: bytes
    right: bytes
    rank: int


def read_trie_from_spm(spm_file: str | os.PathLike[str]) -> tuple[CharTrie, list[float]]:
    """Read the vocabulary of a SentencePiece model as a trie with scores.

    Parameters
    ----------
    spm_file : str or path
        A model (``.model``), or its exported vocabulary (``.vocab``: a token, a tab and a score a
        line).

    Returns
    -------
    trie : CharTrie
        The tokens, whose identifiers are SentencePiece's.
    scores : list of float
        What each token costs: the argument `trie_key_scores` of `tokenize`.

    Raises
    ------
    ValueError
        If the file has another suffix or format.

    See Also
    --------
    read_bpe_from_spm, read_trie_from_vocab

    Notes
    -----
    With the scores, `tokenize` finds the fewest tokens, and among those the likeliest. That may
    differ from SentencePiece's own result; `read_bpe_from_spm` gives that of BPE models. Tokens
    such as ``<0x41>`` stand for bytes; where the byte is a token of its own, too, the one with
    the lower score gets the text and the other keeps its name.
    """
    from umber.data.core import CharTrie

    tokens, scores = trie_of_pieces(read_pieces(spm_file))
    trie = CharTrie()
    for token in tokens:
        trie.insert(token)
    if trie.num_keys() != len(tokens):
        raise ValueError(f"[read_trie_from_spm] {spm_file}: a token appears twice")
    return trie, scores


def read_bpe_from_spm(spm_file: str | os.PathLike[str]) -> tuple[CharTrie, BPEMerges]:
    """Read symbols and merges of a SentencePiece model of type BPE.

    Parameters
    ----------
    spm_file : str or path
        A model (``.model``), or its exported vocabulary (``.vocab``).

    Returns
    -------
    symbols : CharTrie
        The tokens that merging begins with: single characters, bytes and special tokens.
    merges : BPEMerges
        The pairs that are merged, by the identifier of the result.

    Raises
    ------
    ValueError
        If the file has another suffix or format, or a token is no merge of two others.

    See Also
    --------
    read_trie_from_spm, read_bpe_from_hf

    Notes
    -----
    The file has no list of merges. A token is the merge of the two tokens that remain when it is
    itself tokenized by the tokens before it.
    """
    from umber.data.core import BPEMerges, CharTrie

    symbols, merges = bpe_of_pieces(read_pieces(spm_file), str(spm_file))
    trie, table = CharTrie(), BPEMerges()
    for token, identifier in symbols:
        trie.insert(token, identifier)
    for merge in merges:
        table.add(*merge)
    return trie, table


def read_trie_from_vocab(vocab_file: str | os.PathLike[str] | IO[Any]) -> CharTrie:
    """Read a trie from a text file of a token a line.

    Parameters
    ----------
    vocab_file : str, path or file
        The file, or an open one or any iterable of lines, as texts or bytes.

    Returns
    -------
    CharTrie
        The tokens without white space around them, numbered by their lines.

    See Also
    --------
    read_trie_from_spm

    Examples
    --------
    >>> from umber.data.tokenizer_helpers import read_trie_from_vocab
    >>> read_trie_from_vocab(["un", "happy"]).num_keys()
    2
    """
    from umber.data.core import CharTrie

    if isinstance(vocab_file, str | os.PathLike):
        with open(vocab_file, "rb") as file:
            return read_trie_from_vocab(file)
    trie = CharTrie()
    for line in vocab_file:
        token = line.strip()
        trie.insert(token if isinstance(token, bytes) else token.encode())
    return trie


def read_bpe_from_hf(
    json_file: str | os.PathLike[str], add_special_tokens: bool = True
) -> tuple[CharTrie, BPEMerges]:
    """Read symbols and merges of a `tokenizer.json` of Hugging Face.

    Parameters
    ----------
    json_file : str or path
        The file, as ``save_pretrained`` writes it, of a tokenizer of type BPE.
    add_special_tokens : bool
        Whether the tokens added to the vocabulary, such as ``<s>``, are symbols, too.

    Returns
    -------
    symbols : CharTrie
        The tokens that merging begins with.
    merges : BPEMerges
        The pairs that are merged, by the identifier of the result.

    Raises
    ------
    ValueError
        If the file is of another format, or of a tokenizer that is not BPE.

    See Also
    --------
    gpt2_byte_map, read_bpe_from_spm

    Notes
    -----
    Only vocabulary and merges are read. Normalisers, splitting into words and templates are the
    pipeline's task.
    """
    from umber.data.core import BPEMerges, CharTrie

    symbols, merges = bpe_of_json(Path(json_file), add_special_tokens)
    trie, table = CharTrie(), BPEMerges()
    for token, identifier in symbols:
        trie.insert(token, identifier)
    for merge in merges:
        table.add(*merge)
    return trie, table


def gpt2_byte_map() -> list[str]:
    """The characters that stand for the 256 bytes in tokenizers of GPT-2's kind.

    Returns
    -------
    list of str
        A character a byte: the argument `byte_map` of `replace_bytes`.

    See Also
    --------
    read_bpe_from_hf

    Notes
    -----
    Bytes that are printable in Latin-1 stand for themselves, the others for the characters from
    U+0100 on (Radford et al., "Language Models are Unsupervised Multitask Learners", 2019).

    Examples
    --------
    >>> from umber.data.tokenizer_helpers import gpt2_byte_map
    >>> "".join(gpt2_byte_map()[byte] for byte in b"a b")
    'aĠb'
    """
    printable = {*range(ord("!"), ord("~") + 1), *range(0xA1, 0xAD), *range(0xAE, 0x100)}
    others = iter(range(0x100, 0x200))
    return [chr(byte if byte in printable else next(others)) for byte in range(256)]


def read_pieces(spm_file: str | os.PathLike[str]) -> list[Piece]:
    """The tokens of a SentencePiece file, in the order of their identifiers."""
    path = Path(spm_file)
    if path.suffix not in (".model", ".vocab"):
        raise ValueError(f"[read_pieces] expected a file *.model or *.vocab, got {path}")
    content = path.read_bytes()
    try:
        read = _pieces_of_model if path.suffix == ".model" else _pieces_of_vocabulary
        pieces = list(read(content))
    except (ValueError, IndexError, struct.error) as error:
        raise ValueError(f"[read_pieces] {path} is not SentencePiece's: {error}") from None
    if not pieces:
        raise ValueError(f"[read_pieces] {path} has no tokens")
    return pieces


def _pieces_of_vocabulary(content: bytes) -> Iterator[Piece]:
    for number, line in enumerate(content.removesuffix(b"\n").split(b"\n"), 1):
        token, tab, score = line.rpartition(b"\t")
        if not tab:
            raise ValueError(f"line {number} has no tab")
        yield Piece(token, float(score))


def _pieces_of_model(content: bytes) -> Iterator[Piece]:
    """Field 1 of the message `ModelProto`: messages of the piece (field 1) and its score (2)."""
    for field, message in _fields(content):
        if field != 1:
            continue
        if not isinstance(message, bytes):
            raise ValueError("a piece is a message")
        token, score = b"", 0.0
        for inner, value in _fields(message):
            if inner == 1 and isinstance(value, bytes):
                token = value
            elif inner == 2 and isinstance(value, bytes):
                (score,) = struct.unpack("<f", value)
        yield Piece(token, score)


def _fields(content: bytes) -> Iterator[tuple[int, bytes | int]]:
    """The numbers and values of the fields of a message in the encoding of protocol buffers."""
    at = 0

    def varint() -> int:
        nonlocal at
        value = 0
        for shift in range(0, 64, 7):
            byte = content[at]
            at += 1
            value |= (byte & 0x7F) << shift
            if byte < 0x80:
                return value
        raise ValueError("an integer of more than 64 bits")

    while at < len(content):
        key = varint()
        wire = key & 7
        if wire == 0:
            yield key >> 3, varint()
            continue
        size = {1: 8, 5: 4}.get(wire)
        if wire == 2:
            size = varint()
        if size is None:
            raise ValueError(f"wire type {wire} at byte {at} is unknown")
        if at + size > len(content):
            raise ValueError("it is truncated")
        yield key >> 3, content[at : at + size]
        at += size


def trie_of_pieces(pieces: list[Piece]) -> tuple[list[bytes], list[float]]:
    """The tokens of a trie with the identifiers of SentencePiece, and their costs."""
    tokens: list[bytes] = []
    numbers: dict[bytes, int] = {}
    for number, piece in enumerate(pieces):
        token = _text(piece.token)
        before = numbers.get(token)
        if before is None or piece.score < pieces[before].score:
            if before is not None:
                tokens[before] = _named(token)
            numbers[token] = number
            tokens.append(token)
        else:
            tokens.append(_named(token))
    least = min(piece.score for piece in pieces)
    return tokens, [-least - piece.score for piece in pieces]


def _text(token: bytes) -> bytes:
    """The byte that a token such as `<0x41>` stands for; other tokens are their own text."""
    match = _BYTE.fullmatch(token)
    return bytes.fromhex(match[1].decode()) if match else token


def _named(token: bytes) -> bytes:
    return b"<0x" + token.hex().encode() + b">"


def bpe_of_pieces(pieces: list[Piece], source: str) -> tuple[list[tuple[bytes, int]], list[Merge]]:
    """The symbols with their identifiers, and the merges."""
    texts = [_text(piece.token) for piece in pieces]
    numbers = {token: number for number, token in enumerate(texts)}
    symbols, merges = [], []
    for token, piece in zip(texts, pieces, strict=True):
        number = numbers[token]
        characters = token.decode(errors="ignore")
        if len(token) == 1 or piece.score == 0 or len(characters) == 1:
            symbols.append((token, number))
            continue
        parts = _merge([character.encode() for character in characters], numbers, number)
        if len(parts) != 2:
            raise ValueError(
                f"[read_bpe_from_spm] {source}: token {characters!r} is no merge of two others; "
                "is the model of another type than BPE?"
            )
        merges.append(Merge(parts[0], parts[1], number))
    return symbols, merges


def _merge(parts: list[bytes], numbers: dict[bytes, int], limit: int) -> list[bytes]:
    """Merge the pair of the lowest number, the leftmost of equals, while there is one below."""
    while True:
        candidates = [
            (numbers.get(left + right, limit), at)
            for at, (left, right) in enumerate(pairwise(parts))
        ]
        number, at = min(candidates, default=(limit, 0))
        if number >= limit:
            return parts
        parts[at : at + 2] = [parts[at] + parts[at + 1]]


def bpe_of_json(
    path: Path, add_special_tokens: bool
) -> tuple[list[tuple[bytes, int]], list[Merge]]:
    """The symbols with their identifiers, and the merges, of a `tokenizer.json`."""
    op = "read_bpe_from_hf"
    try:
        content = json.loads(path.read_bytes())
        model = content["model"]
        kind = model["type"]
    except (ValueError, KeyError, TypeError):
        raise ValueError(f"[{op}] {path} is not a tokenizer.json of Hugging Face") from None
    if kind != "BPE":
        raise ValueError(f"[{op}] {path} is a tokenizer of type {kind}, expected BPE")
    vocabulary = model["vocab"]
    merges = []
    for entry in model["merges"]:
        # A text in files of earlier versions, which a space divides.
        left, right = entry.split(" ") if isinstance(entry, str) else entry
        if left + right not in vocabulary:
            raise ValueError(f"[{op}] {path}: the merge of {left!r} and {right!r} is no token")
        merges.append(Merge(left.encode(), right.encode(), vocabulary[left + right]))
    merged = {merge.left + merge.right for merge in merges}
    symbols = [
        (token.encode(), number)
        for token, number in vocabulary.items()
        if token.encode() not in merged
    ]
    if add_special_tokens:
        symbols += [
            (token["content"].encode(), token["id"]) for token in content.get("added_tokens", ())
        ]
    return symbols, merges
