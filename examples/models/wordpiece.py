"""WordPiece, the subword tokenizer of BERT.

Wu et al., "Google's Neural Machine Translation System", 2016, with BERT's rules for splitting text
into words (Devlin et al., 2019).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path

MAX_WORD_LENGTH = 100
# Unicode blocks of ideographs; each ideograph is a separate word.
IDEOGRAPHS = (
    *((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F)),
    *((0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF)),
)


class WordPiece:
    """Splits text into the word pieces of a vocabulary and returns their token ids.

    Args:
        vocabulary: the pieces in the order of their ids; `##` marks pieces that continue a word.
            `[PAD]`, `[UNK]`, `[CLS]` and `[SEP]` are required.
        lower: whether to convert to lower case and remove accents.
    """

    def __init__(self, vocabulary: Iterable[str], lower: bool = True) -> None:
        self.ids = {piece: i for i, piece in enumerate(vocabulary)}
        missing = {"[PAD]", "[UNK]", "[CLS]", "[SEP]"} - self.ids.keys()
        if missing:
            raise ValueError(f"the vocabulary lacks {', '.join(sorted(missing))}")
        self.lower = lower

    @staticmethod
    def from_file(file: Path, lower: bool = True) -> WordPiece:
        """The tokenizer of a vocab.txt, which has one piece per line."""
        return WordPiece(file.read_text(encoding="utf-8").split("\n"), lower)

    @property
    def padding(self) -> int:
        """The id of the padding token."""
        return self.ids["[PAD]"]

    def encode(self, text: str, max_length: int) -> list[int]:
        """The ids of `[CLS]`, the pieces of the text and `[SEP]`, at most `max_length`."""
        pieces = [piece for word in self.words(text) for piece in self.pieces(word)]
        return [self.ids[piece] for piece in ("[CLS]", *pieces[: max_length - 2], "[SEP]")]

    def words(self, text: str) -> list[str]:
        """The words of a text; each punctuation mark and each ideograph is a word."""
        if self.lower:
            # Character by character, because `str.lower` is context-sensitive (final sigma).
            text = "".join(
                character.lower()
                for character in unicodedata.normalize("NFD", text)
                if unicodedata.category(character) != "Mn"
            )
        return "".join(_spaced(text)).split()

    def pieces(self, word: str) -> list[str]:
        """Split a word greedily, taking the longest piece of the vocabulary at each position."""
        pieces: list[str] = []
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            ends = range(len(word), start, -1)
            end = next((end for end in ends if prefix + word[start:end] in self.ids), None)
            if end is None or len(word) > MAX_WORD_LENGTH:
                return ["[UNK]"]
            pieces.append(prefix + word[start:end])
            start = end
        return pieces


def _spaced(text: str) -> Iterator[str]:
    """The characters, without control characters, with spaces around single-character words."""
    for character in text:
        category = unicodedata.category(character)
        if character in "\t\n\r" or category == "Zs":
            yield " "
        elif _is_word(character, category):
            yield f" {character} "
        elif category not in ("Cc", "Cf", "Co") and character != "\ufffd":
            yield character


def _is_word(character: str, category: str) -> bool:
    code = ord(character)
    # All ASCII symbols count as punctuation.
    is_ascii_mark = 33 <= code < 127 and not character.isalnum()
    is_ideograph = any(first <= code <= last for first, last in IDEOGRAPHS)
    return is_ascii_mark or category[0] == "P" or is_ideograph
