"""A small lexer for Rust source that suffices to find paths and functions."""

from __future__ import annotations

import re
from typing import NamedTuple

# Comments, strings and characters (not lifetimes), in the order in which Rust's lexer tries them.
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
    """The position and length of a function."""

    name: str
    line: int
    lines: int


def blank_noise(source: str) -> str:
    """The source with comments and literals replaced by a space; line breaks are preserved."""
    return NOISE.sub(lambda match: "\n" * match[0].count("\n") + " ", source)


def end_of_item(tokens: list[str], index: int) -> int:
    """The index after the item that starts at `index`: after its `;` or its closing brace."""
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
    """The tokens of the source without comments, literals and `#[cfg(test)]` items."""
    tokens = TOKEN.findall(blank_noise(source))
    result, index = [], 0
    test_attribute = ["#", "[", "cfg", "(", "test", ")", "]"]
    while index < len(tokens):
        if tokens[index : index + len(test_attribute)] == test_attribute:
            index = end_of_item(tokens, index + len(test_attribute))
        else:
            result.append(tokens[index])
            index += 1
    return result


def functions_of(source: str) -> list[Function]:
    """All functions with a body, including nested ones."""
    text = blank_noise(source)
    matches = list(TOKEN.finditer(text))
    tokens = [match[0] for match in matches]
    functions = []
    for index, token in enumerate(tokens[:-1]):
        name = tokens[index + 1]
        if token != "fn" or not name[0].isidentifier():
            continue
        last = end_of_item(tokens, index) - 1
        if tokens[last] == "}":
            first_line = text.count("\n", 0, matches[index].start()) + 1
            last_line = text.count("\n", 0, matches[last].start()) + 1
            functions.append(Function(name, first_line, last_line - first_line + 1))
    return functions
