"""BERT's tokenizer: words, and words in pieces.

Wu et al., "Google's Neural Machine Translation System", 2016, with BERT's rules for words (Devlin
et al., 2019).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable, Iterator
from pathlib import Path

LONGEST_WORD = 100
# The blocks of ideographs, each of which is a word of its own.
IDEOGRAPHS = (
    *((0x4E00, 0x9FFF), (0x3400, 0x4DBF), (0xF900, 0xFAFF), (0x2F800, 0x2FA1F)),
    *((0x20000, 0x2A6DF), (0x2A700, 0x2B73F), (0x2B740, 0x2B81F), (0x2B820, 0x2CEAF)),
)


class WordPiece:
    """Splits text into the words and pieces of a vocabulary and gives their numbers.

    Args:
        vocabulary: the pieces in the order of their numbers; those that do not begin a word begin
            with `##`. `[PAD]`, `[UNK]`, `[CLS]` and `[SEP]` must be there.
        lower: whether upper case and accents are taken away.
    """

    def __init__(self, vocabulary: Iterable[str], lower: bool = True) -> None:
        self.numbers = {piece: number for number, piece in enumerate(vocabulary)}
        missing = {"[PAD]", "[UNK]", "[CLS]", "[SEP]"} - self.numbers.keys()
        if missing:
            raise ValueError(f"the vocabulary lacks {', '.join(sorted(missing))}")
        self.lower = lower

    @staticmethod
    def from_file(file: Path, lower: bool = True) -> WordPiece:
        """The tokenizer of a vocab.txt, which has one piece a line."""
        return WordPiece(file.read_text(encoding="utf-8").split("\n"), lower)

    @property
    def padding(self) -> int:
        """The number that stands for nothing."""
        return self.numbers["[PAD]"]

    def encode(self, text: str, longest: int) -> list[int]:
        """The numbers of the text's pieces between `[CLS]` and `[SEP]`, at most `longest`."""
        pieces = [piece for word in self.words(text) for piece in self.pieces(word)]
        return [self.numbers[piece] for piece in ("[CLS]", *pieces[: longest - 2], "[SEP]")]

    def words(self, text: str) -> list[str]:
        """The words of a text; each punctuation mark and each ideograph is one."""
        if self.lower:
            # Character by character: what stands around a letter does not count.
            text = "".join(
                character.lower()
                for character in unicodedata.normalize("NFD", text)
                if unicodedata.category(character) != "Mn"
            )
        return "".join(_spaced(text)).split()

    def pieces(self, word: str) -> list[str]:
        """The longest piece that begins the word, then the longest that goes on, and so forth."""
        found: list[str] = []
        start = 0
        while start < len(word):
            prefix = "##" if start else ""
            ends = range(len(word), start, -1)
            end = next((end for end in ends if prefix + word[start:end] in self.numbers), None)
            if end is None or len(word) > LONGEST_WORD:
                return ["[UNK]"]
            found.append(prefix + word[start:end])
            start = end
        return found


def _spaced(text: str) -> Iterator[str]:
    """The characters, without control characters, and with spaces around words of their own."""
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
    # What ASCII has beside letters, digits and spaces counts as punctuation.
    is_ascii_mark = 33 <= code < 127 and not character.isalnum()
    is_ideograph = any(first <= code <= last for first, last in IDEOGRAPHS)
    return is_ascii_mark or category[0] == "P" or is_ideograph
