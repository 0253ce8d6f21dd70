"""What files of vocabularies say, as tokens and merges: SentencePiece's and Hugging Face's."""

from __future__ import annotations

import json
import os
import re
import struct
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

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


def read_pieces(op: str, spm_file: str | os.PathLike[str]) -> list[Piece]:
    """The tokens of a SentencePiece file, in the order of their identifiers."""
    path = Path(spm_file)
    if path.suffix not in (".model", ".vocab"):
        raise ValueError(f"[{op}] expected a file *.model or *.vocab, got {path}")
    content = path.read_bytes()
    try:
        read = _pieces_of_model if path.suffix == ".model" else _pieces_of_vocabulary
        pieces = list(read(content))
    except (ValueError, IndexError, struct.error) as error:
        raise ValueError(f"[{op}] {path} is not SentencePiece's: {error}") from None
    if not pieces:
        raise ValueError(f"[{op}] {path} has no tokens")
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


def bpe_of_pieces(
    op: str, pieces: list[Piece], source: str
) -> tuple[list[tuple[bytes, int]], list[Merge]]:
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
                f"[{op}] {source}: token {characters!r} is no merge of two others; "
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
    op: str, path: Path, add_special_tokens: bool
) -> tuple[list[tuple[bytes, int]], list[Merge]]:
    """The symbols with their identifiers, and the merges, of a `tokenizer.json`."""
    try:
        content = json.loads(path.read_bytes())
        model = content["model"]
        kind = model["type"]
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ValueError(f"[{op}] {path} is not a tokenizer.json of Hugging Face") from None
    if kind != "BPE":
        raise ValueError(f"[{op}] {path} is a tokenizer of type {kind}, expected BPE")
    vocabulary = model["vocab"]
    merges = []
    for entry in model["merges"]:
        # Files of earlier versions have texts, which a space divides.
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
