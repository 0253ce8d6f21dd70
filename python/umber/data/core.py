"""Parts of pipelines: vocabularies and tokenizers, functions of sequences, fetchers, seeds."""

import umber
from umber.core._data import (
    BPEMerges,
    BPETokenizer,
    CharTrie,
    CharTrieNode,
    GraphInt64,
    Tokenizer,
    TokenizerIterator,
    levenshtein,
    remove,
    set_state,
    uniq,
)
from umber.data._enums import ArrayType
from umber.data._fetchers import AWSFileFetcher, FileFetcher, FileFetcherHandle

__all__ = [
    "AWSFileFetcher",
    "ArrayType",
    "BPEMerges",
    "BPETokenizer",
    "CharTrie",
    "CharTrieNode",
    "FileFetcher",
    "FileFetcherHandle",
    "GraphInt64",
    "Tokenizer",
    "TokenizerIterator",
    "levenshtein",
    "libs_version",
    "remove",
    "set_state",
    "uniq",
    "version",
]


def version() -> str:
    """The version of umber.

    Returns
    -------
    str

    Examples
    --------
    >>> dx.core.version() == umber.__version__
    True
    """
    return str(umber.__version__)


def libs_version() -> dict[str, str]:
    """Versions of the libraries that decode files, which are parts of umber itself.

    Returns
    -------
    dict of str to str

    Examples
    --------
    >>> list(dx.core.libs_version())
    ['umber']
    """
    return {"umber": version()}


# The members of `ArrayType`, as mlx-data has them. They are not in `__all__`, for they would hide
# Python's own `any` and `float`.
globals().update(ArrayType.__members__)
