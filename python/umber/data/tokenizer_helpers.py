"""Vocabularies from files, for `tokenize` and `tokenize_bpe`: SentencePiece, Hugging Face, text."""

from __future__ import annotations

import os
from pathlib import Path
from typing import IO, Any

from umber.data._vocabularies import (
    Merge,
    bpe_of_json,
    bpe_of_pieces,
    read_pieces,
    trie_of_pieces,
)
from umber.data.core import BPEMerges, CharTrie

__all__ = [
    "gpt2_byte_map",
    "read_bpe_from_hf",
    "read_bpe_from_spm",
    "read_trie_from_spm",
    "read_trie_from_vocab",
]


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

    Examples
    --------
    >>> import tempfile
    >>> from umber.data.tokenizer_helpers import read_trie_from_spm
    >>> with tempfile.NamedTemporaryFile(suffix=".vocab") as file:
    ...     _ = file.write(b"a\\t-1\\nb\\t-2\\nab\\t-3\\n")
    ...     file.flush()
    ...     trie, scores = read_trie_from_spm(file.name)
    >>> trie.num_keys(), scores
    (3, [4.0, 5.0, 6.0])
    """
    tokens, scores = trie_of_pieces(read_pieces("read_trie_from_spm", spm_file))
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

    Examples
    --------
    >>> import tempfile
    >>> from umber.data.tokenizer_helpers import read_bpe_from_spm
    >>> with tempfile.NamedTemporaryFile(suffix=".vocab") as file:
    ...     _ = file.write(b"a\\t-1\\nb\\t-2\\nab\\t-3\\n")
    ...     file.flush()
    ...     symbols, merges = read_bpe_from_spm(file.name)
    >>> symbols.num_keys(), merges.can_merge("a", "b")
    (2, 2)
    """
    op = "read_bpe_from_spm"
    return _tables(*bpe_of_pieces(op, read_pieces(op, spm_file), str(spm_file)))


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

    Examples
    --------
    >>> import json, tempfile
    >>> from umber.data.tokenizer_helpers import read_bpe_from_hf
    >>> model = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}
    >>> with tempfile.NamedTemporaryFile("w", suffix=".json") as file:
    ...     json.dump({"model": model}, file)
    ...     file.flush()
    ...     symbols, merges = read_bpe_from_hf(file.name)
    >>> symbols.num_keys(), merges.can_merge("a", "b")
    (2, 2)
    """
    return _tables(*bpe_of_json("read_bpe_from_hf", Path(json_file), add_special_tokens))


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


def _tables(symbols: list[tuple[bytes, int]], merges: list[Merge]) -> tuple[CharTrie, BPEMerges]:
    trie, table = CharTrie(), BPEMerges()
    for token, identifier in symbols:
        trie.insert(token, identifier)
    for merge in merges:
        table.add(*merge)
    return trie, table
