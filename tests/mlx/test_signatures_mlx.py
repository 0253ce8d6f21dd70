"""Whatever MLX's signatures let one write, umber's let one write too.

MLX's signature is the first line of its docstring; umber's is what `inspect` sees.
"""

import ast
import inspect
import re

import pytest
import umber.core as mx
from mlx_calls.outcome import find

mlx = pytest.importorskip("mlx.core")

KINDS = inspect.Parameter
BY_POSITION = (KINDS.POSITIONAL_ONLY, KINDS.POSITIONAL_OR_KEYWORD)
BY_KEYWORD = (KINDS.KEYWORD_ONLY, KINDS.POSITIONAL_OR_KEYWORD)
OPENING, CLOSING = "([{", ")]}"
# Written with two docstrings or none that says what can be passed.
UNREADABLE = {"arange", "array.reshape", "array.transpose", "array.__dlpack__"}


def split_top_level(text: str) -> list[str]:
    """The parts between commas that stand in no bracket and no quotes."""
    parts, depth, quoted = [""], 0, None
    for character in text:
        if quoted:
            quoted = None if character == quoted else quoted
        elif character in "'\"":
            quoted = character
        depth += (character in OPENING) - (character in CLOSING)
        if character == "," and depth == 0 and not quoted:
            parts.append("")
        else:
            parts[-1] += character
    return [part.strip() for part in parts if part.strip()]


def arguments_of(line: str) -> str | None:
    """What stands between the outer parentheses of a signature."""
    start = line.find("(")
    if start < 0:
        return None
    depth = 0
    for end in range(start, len(line)):
        depth += (line[end] in OPENING) - (line[end] in CLOSING)
        if depth == 0:
            return line[start + 1 : end]
    return None


def parameters(line: str) -> list[inspect.Parameter]:
    """The parameters of a signature as nanobind prints it."""
    found, kind = [], KINDS.POSITIONAL_OR_KEYWORD
    for part in split_top_level(arguments_of(line) or ""):
        if part == "/":
            found = [p.replace(kind=KINDS.POSITIONAL_ONLY) for p in found]
        elif part == "*":
            kind = KINDS.KEYWORD_ONLY
        elif part.startswith("**"):
            continue
        elif part.startswith("*"):
            found.append(KINDS(re.match(r"\*(\w+)", part)[1], KINDS.VAR_POSITIONAL))
            kind = KINDS.KEYWORD_ONLY
        else:
            name, _, default = part.partition("=") if ":" not in part else annotated(part)
            default = default.strip() or KINDS.empty
            found.append(KINDS(name.strip(), kind, default=default))
    return found


def annotated(part: str):
    name, _, rest = part.partition(":")
    *annotation, default = re.split(r"\s=\s", rest) if " = " in rest else (rest, "")
    return name, annotation, default


def functions():
    homes = {"": mlx, "random.": mlx.random, "linalg.": mlx.linalg, "fft.": mlx.fft}
    for prefix, home in homes.items():
        for name in dir(home):
            if not name.startswith("_") and type(getattr(home, name)).__name__ == "nb_func":
                yield prefix + name
    for name in dir(mlx.array):
        if not name.startswith("_") and type(getattr(mlx.array, name)).__name__ == "nb_method":
            yield f"array.{name}"


NAMES = [name for name in functions() if name not in UNREADABLE and find(mx, name) is not None]


def literal(text):
    """The value that a default's text stands for; `...` if it is no literal."""
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return ...


@pytest.mark.parametrize("name", NAMES)
def test_signature(name):
    theirs = parameters(find(mlx, name).__doc__.strip().split("\n")[0])
    ours = list(inspect.signature(find(mx, name)).parameters.values())
    by_name = {parameter.name: parameter for parameter in ours}
    rest = any(parameter.kind == KINDS.VAR_POSITIONAL for parameter in ours)
    for position, parameter in enumerate(theirs):
        if parameter.kind == KINDS.VAR_POSITIONAL:
            assert rest, f"no *{parameter.name}"
            continue
        if parameter.name == "self":
            continue
        if parameter.kind in BY_KEYWORD:
            assert parameter.name in by_name, f"no parameter {parameter.name}"
            ok = by_name[parameter.name].kind in BY_KEYWORD
            assert ok, f"{parameter.name} cannot be given by keyword"
        if parameter.kind in BY_POSITION:
            ok = position < len(ours) and ours[position].kind in BY_POSITION
            assert ok, f"{parameter.name} cannot be given by position"
            if parameter.kind == KINDS.POSITIONAL_OR_KEYWORD:
                assert ours[position].name == parameter.name
        check_default(parameter, by_name.get(parameter.name) or ours[position])


def check_default(theirs, ours):
    if theirs.default is KINDS.empty:
        return
    assert ours.default is not KINDS.empty, f"{theirs.name} has no default"
    want = literal(theirs.default)
    # `...` is a default that has no literal form; None stands for "as the docstring says".
    if want is not ... and ours.default not in (..., None):
        assert ours.default == want, f"{theirs.name} defaults to {ours.default!r}, not {want!r}"
