"""A small lexer for Rust source, enough to follow paths and find functions."""

from __future__ import annotations

import re
from typing import NamedTuple

# Comments, strings, characters (not lifetimes), in the order in which Rust's lexer would see them.
NOISE = re.compile(
    r"""//[^\n]*
      | /\*.*?\*/
      | \b[bc]?r(?P<hashes>\#*)".*?"(?P=hashes)
      | \b[bc]?"(?:\\.|[^"\\])*"
      | "(?:\\.|[^"\\])*"
      | '(?:\\.[^']*|[^'\\])'
    """,
    re.VERBOSE | re.DOTALL,
)
TOKEN = re.compile(r"[A-Za-z_]\w*|::|\S")


class Function(NamedTuple):
    """Where a function stands and how long it is."""

    name: str
    line: int
    lines: int


def blank_noise(source: str) -> str:
    """The source with comments and literals blanked out, line breaks kept."""
    return NOISE.sub(lambda match: "\n" * match[0].count("\n") + " ", source)


def end_of_item(tokens: list[str], index: int) -> int:
    """The index after the item that starts at `index`: past its `;` or its closing brace."""
    depth = 0
    while index < len(tokens):
        token = tokens[index]
        index += 1
        if token in "([{":
            depth += 1
        elif token in ")]}":
            depth -= 1
            if depth == 0 and token == "}":
                return index
        elif token == ";" and depth == 0:
            return index
    return index


def tokens_of(source: str) -> list[str]:
    """The tokens that can hold paths, without `#[cfg(test)]` items."""
    tokens = TOKEN.findall(blank_noise(source))
    kept, index = [], 0
    test_attribute = ["#", "[", "cfg", "(", "test", ")", "]"]
    while index < len(tokens):
        if tokens[index : index + len(test_attribute)] == test_attribute:
            index = end_of_item(tokens, index + len(test_attribute))
        else:
            kept.append(tokens[index])
            index += 1
    return kept


def functions_of(source: str) -> list[Function]:
    """Every function with a body, those inside others included."""
    text = blank_noise(source)
    matches = list(TOKEN.finditer(text))
    tokens = [match[0] for match in matches]
    found = []
    for index, token in enumerate(tokens[:-1]):
        name = tokens[index + 1]
        if token != "fn" or not name[0].isidentifier():
            continue
        last = end_of_item(tokens, index) - 1
        if tokens[last] == "}":
            first_line = text.count("\n", 0, matches[index].start()) + 1
            last_line = text.count("\n", 0, matches[last].start()) + 1
            found.append(Function(name, first_line, last_line - first_line + 1))
    return found
