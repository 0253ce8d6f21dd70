"""The marker `covers`: which public functions a test stands for, and whether it calls them.

`@pytest.mark.covers("load", "random.key")` on a test says that it tests `umber.core.load` and
`umber.core.random.key`. The markers are read from the source, so that all of them are known
whichever tests run.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

FOLDER = Path(__file__).resolve().parents[1]
MARKER = "pytest.mark.covers"
MODULES = ("random", "linalg", "fft", "fast", "special")


@dataclass(frozen=True)
class Marked:
    """A test that carries the marker."""

    test: str
    """The file and the function: `io/test_gguf.py::test_name`."""
    covers: tuple[str, ...]
    """The names in its marker."""
    used: frozenset[str]
    """The names of `umber.core` that it uses, itself or by other parts of its file."""


@cache
def marked_tests() -> tuple[Marked, ...]:
    """Every test that carries the marker, in all files."""
    return tuple(
        marked
        for path in sorted(FOLDER.rglob("test_*.py"))
        for marked in _in_file(path.relative_to(FOLDER).as_posix(), path.read_text("utf-8"))
    )


def covered_names() -> set[str]:
    """All names for which a test carries the marker."""
    return {name for marked in marked_tests() for name in marked.covers}


def _in_file(file: str, source: str) -> Iterator[Marked]:
    if "mark.covers(" not in source:
        return
    module = ast.parse(source)
    definitions, modules = _definitions(module), _aliases(module)
    for node in module.body:
        if isinstance(node, ast.FunctionDef) and (names := _marker(node)):
            yield Marked(f"{file}::{node.name}", names, _used(node, definitions, modules))


def _marker(test: ast.FunctionDef) -> tuple[str, ...]:
    calls = [node for node in test.decorator_list if isinstance(node, ast.Call)]
    return tuple(
        ast.literal_eval(argument)
        for call in calls
        if ast.unparse(call.func) == MARKER
        for argument in call.args
    )


def _aliases(module: ast.Module) -> dict[str, str]:
    """The file's names for `umber.core` and its modules: {"mx": "", "fast": "fast."}."""
    aliases = {}
    for node in ast.walk(module):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name == "umber.core":
                    aliases[alias.asname or alias.name] = ""
        elif isinstance(node, ast.ImportFrom) and node.module in ("umber", "umber.core"):
            for alias in node.names:
                if node.module == "umber.core" or alias.name == "core":
                    prefix = "" if node.module == "umber" else f"{alias.name}."
                    aliases[alias.asname or alias.name] = prefix
        elif (
            isinstance(node, ast.Assign)
            and isinstance(node.targets[0], ast.Name)
            and (prefix := _module(node.value, aliases)) is not None
        ):
            aliases[node.targets[0].id] = prefix
    return aliases


def _module(node: ast.expr, aliases: dict[str, str]) -> str | None:
    """What names of a module begin with: "" for `mx`, "random." for `mx.random`."""
    root, _, name = ast.unparse(node).partition(".")
    if root not in aliases or name not in ("", *MODULES):
        return None
    return aliases[root] + (f"{name}." if name else "")


def _definitions(module: ast.Module) -> dict[str, ast.stmt]:
    """The functions, classes and constants of a file by name."""
    found: dict[str, ast.stmt] = {}
    for node in module.body:
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found[node.name] = node
        elif isinstance(node, ast.Assign | ast.AnnAssign):
            for target in node.targets if isinstance(node, ast.Assign) else [node.target]:
                names = (each for each in ast.walk(target) if isinstance(each, ast.Name))
                found |= {each.id: node for each in names}
    return found


def _used(
    test: ast.FunctionDef, definitions: dict[str, ast.stmt], aliases: dict[str, str]
) -> frozenset[str]:
    """The names of `umber.core` in a test and in whatever of its file the test mentions.

    Behind `getattr(mx.random, name)` any word of a text may be the name.
    """
    used, words, prefixes = set(), set(), set()
    seen, todo = set(), [test]
    while todo:
        for each in _nodes(todo.pop()):
            mentioned = None
            if isinstance(each, ast.Attribute):
                root, _, name = ast.unparse(each).partition(".")
                if root in aliases:
                    used.add(aliases[root] + name)
            elif isinstance(each, ast.Call) and ast.unparse(each.func) == "getattr":
                prefixes.add(_module(each.args[0], aliases))
            elif isinstance(each, ast.Constant) and isinstance(each.value, str):
                words |= set(each.value.split())
            elif isinstance(each, ast.Name):
                mentioned = each.id
            elif isinstance(each, ast.arg):
                mentioned = each.arg  # a fixture
            if mentioned in definitions and mentioned not in seen:
                seen.add(mentioned)
                todo.append(definitions[mentioned])
    return frozenset(used | {p + word for p in prefixes - {None} for word in words})


def _nodes(definition: ast.stmt) -> Iterator[ast.AST]:
    """All nodes of a definition but those of the marker."""
    todo: list[ast.AST] = [definition]
    while todo:
        node = todo.pop()
        if isinstance(node, ast.Call) and ast.unparse(node.func) == MARKER:
            continue
        yield node
        todo.extend(ast.iter_child_nodes(node))
