"""Check that every public name of the installed package has a complete docstring in NumPy's style.

Checked are the functions and classes of umber.core and its submodules, umber.nn, umber.nn.init,
umber.nn.losses, umber.nn.utils, umber.optimizers and umber.utils, and the public methods and
properties of the classes. An object with several names is checked once. It needs

- a summary: one line of at most 100 characters that ends in a period;
- Parameters, with every parameter of the signature (of a class: of its constructor);
- Returns or Yields, unless it returns None: by the stubs for umber.core, else by the annotation;
- Examples (tests/docs/test_docstrings.py runs them);
- only known sections, in order, and in See Also only names that exist.

A summary suffices for properties, for special methods (which may have no docstring at all), for
exceptions and enumerations, and for a method that overrides a documented one.

`--twins` compares the documentation of the bindings with that of umber-core: see doc_twins.py.
"""

from __future__ import annotations

import argparse
import ast
import enum
import importlib
import inspect
import re
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import doc_twins

CORE = "umber.core"
MODULES = (
    *(CORE, "umber.core.fast", "umber.core.fft", "umber.core.linalg", "umber.core.random"),
    *("umber.nn", "umber.nn.init", "umber.nn.losses", "umber.nn.utils"),
    *("umber.optimizers", "umber.utils"),
)
# The names by which examples and See Also reach modules.
NAMESPACE = {"mx": CORE, "nn": "umber.nn", "optim": "umber.optimizers", "np": "numpy"}
SECTIONS = (
    *("Parameters", "Returns", "Yields", "Attributes", "Methods", "Raises"),
    *("See Also", "Notes", "References", "Examples"),
)
LONGEST_SUMMARY = 100
# Sections that a name does without, with the reason.
EXCEPTIONS: dict[str, tuple[set[str], str]] = {}

# Members that every class has, and that say nothing about its interface.
PLUMBING = {"__dict__", "__init__", "__new__", "__weakref__"}
NAMES_AND_TYPE = re.compile(r"(\*{0,2}\w+(?:, \*{0,2}\w+)*) : \S")
REFERENCE = re.compile(r"[A-Za-z_][\w.]*")


class Entry(NamedTuple):
    """A public name and how it is to be documented."""

    name: str  # such as umber.nn.Linear.to_quantized
    value: object
    owner: object  # the module or class in which it is
    is_summary_enough: bool
    may_be_undocumented: bool = False
    is_bound: bool = False  # whether the first parameter is self or cls


class Docstring(NamedTuple):
    """A docstring taken apart: its summary, and the lines of each section."""

    summary: list[str]
    sections: dict[str, list[str]]
    complaints: list[str]


# What is public --------------------------------------------------------------------------------


def entries(modules: list[types.ModuleType]) -> Iterator[Entry]:
    """Every public object of the modules once, by the first of its names."""
    # The objects themselves are kept: the identity of one that is released may be another's.
    seen: dict[int, object] = {}
    for module in modules:
        for name in names_of(module):
            value = getattr(module, name)
            if id(value) in seen or not is_documented(value):
                continue
            seen[id(value)] = value
            path = f"{module.__name__}.{name}"
            if isinstance(value, type):
                yield from entries_of_class(path, value, module, seen)
            else:
                yield Entry(path, value, module, is_summary_enough=False)


def names_of(module: types.ModuleType) -> list[str]:
    """The public names of a module: those of `__all__`, else what it defines itself."""
    if hasattr(module, "__all__"):
        return sorted(name for name in module.__all__ if not name.startswith("_"))
    return sorted(
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    )


def is_documented(value: object) -> bool:
    """Whether it is a function or class; constants, type aliases and modules are not."""
    return isinstance(value, type) or inspect.isroutine(value) or hasattr(value, "__wrapped__")


def entries_of_class(
    path: str, cls: type, module: types.ModuleType, seen: dict[int, object]
) -> Iterator[Entry]:
    """A class and its members, those of private base classes included."""
    is_simple = issubclass(cls, BaseException | enum.Enum)
    yield Entry(path, cls, module, is_summary_enough=is_simple)
    if is_simple:
        return
    for owner in cls.__mro__:
        if owner is not cls and not is_private_base(owner):
            continue
        for name, held in sorted(vars(owner).items()):
            function = held.__func__ if isinstance(held, classmethod | staticmethod) else held
            is_special = name.startswith("__") and name.endswith("__")
            # Slots have CPython's own documentation.
            is_slot = name in PLUMBING or isinstance(held, types.WrapperDescriptorType)
            is_private = name.startswith("_") and not is_special
            if is_slot or is_private or id(function) in seen:
                continue
            if not (is_property(held) or inspect.isroutine(function)):
                continue
            seen[id(function)] = function
            yield Entry(
                f"{path}.{name}",
                held if is_property(held) else getattr(cls, name),
                cls,
                is_summary_enough=is_property(held) or is_special or overrides(cls, owner, name),
                may_be_undocumented=is_special,
                is_bound=not isinstance(held, staticmethod | classmethod)
                and not isinstance(held, types.ClassMethodDescriptorType),
            )


def is_private_base(cls: type) -> bool:
    """Whether users meet the class only as a base of public ones."""
    return cls.__name__.startswith("_") and cls.__module__.partition(".")[0] == "umber"


def is_property(held: object) -> bool:
    """Whether a member of a class is an attribute that is computed or stored."""
    return isinstance(held, property | types.GetSetDescriptorType | types.MemberDescriptorType)


def overrides(cls: type, owner: type, name: str) -> bool:
    """Whether a public base class documents a method of this name."""
    bases = cls.__mro__[cls.__mro__.index(owner) + 1 :]
    return any(
        name in vars(base) and base is not object and not is_private_base(base) for base in bases
    )


# Docstrings ------------------------------------------------------------------------------------


def text_of(value: object) -> str:
    """The docstring without indentation; a method without one has that of its base class."""
    return inspect.getdoc(value) or ""


def parse(text: str) -> Docstring:
    """Take a docstring apart at its headings, which are underlined."""
    lines, complaints = text.splitlines(), []
    sections: dict[str, list[str]] = {}
    current = summary = []
    for index, line in enumerate(lines):
        below = lines[index + 1] if index + 1 < len(lines) else ""
        if re.fullmatch(r"-{3,}", below) and line.strip() and not line.startswith(" "):
            if len(line) != len(below):
                complaints.append(f"the heading {line} is underlined at another length")
            if line in sections:
                complaints.append(f"two sections {line}")
            current = sections.setdefault(line, [])
        elif not (re.fullmatch(r"-{3,}", line) and index > 0 and current is not summary):
            current.append(line)
    unknown = [heading for heading in sections if heading not in SECTIONS]
    complaints += [f"unknown section {heading!r}" for heading in unknown]
    order = [SECTIONS.index(heading) for heading in sections if heading in SECTIONS]
    if order != sorted(order):
        complaints.append(f"sections out of order: {', '.join(sections)}")
    return Docstring(summary, sections, complaints)


def check_summary(lines: list[str]) -> Iterator[str]:
    """Complain unless the docstring begins with a sentence on a line of its own."""
    first = lines[0] if lines else ""
    if len(first) > LONGEST_SUMMARY:
        yield f"the summary has {len(first)} characters, at most {LONGEST_SUMMARY} are allowed"
    if not first.endswith("."):
        yield "the first line is not a sentence that ends in a period"
    if len(lines) > 1 and lines[1].strip():
        yield "no blank line after the summary"


def described(section: list[str]) -> set[str]:
    """The parameters that a section describes: `a, b : int`, `*args : array_like`."""
    matches = (NAMES_AND_TYPE.match(line) for line in section)
    return {name.lstrip("*") for match in matches if match for name in match[1].split(", ")}


def check_parameters(entry: Entry, section: list[str]) -> Iterator[str]:
    """Compare a section of parameters with the signature."""
    taken = parameters_of(entry)
    if taken is None:
        return
    found = described(section)
    missing = [name for name in taken if name not in found]
    if missing:
        yield f"Parameters lacks {', '.join(missing)}"
    unknown = sorted(found - set(taken))
    if unknown:
        yield f"Parameters describes {', '.join(unknown)}, which the signature lacks"


def parameters_of(entry: Entry) -> list[str] | None:
    """The names of the parameters without self; None where there is no signature."""
    try:
        names = list(inspect.signature(entry.value).parameters)  # type: ignore[arg-type]
    except (ValueError, TypeError):
        return None
    return names[1:] if entry.is_bound and names[:1] == ["self"] else names


def check_result(entry: Entry, sections: dict, returns: dict[str, str]) -> Iterator[str]:
    """Complain if something is returned that no section describes."""
    if isinstance(entry.value, type) or {"Returns", "Yields"} & sections.keys():
        return
    annotation = returns.get(entry.name, "object")
    if not entry.name.startswith(CORE + "."):
        try:
            annotation = inspect.signature(entry.value).return_annotation  # type: ignore[arg-type]
        except (ValueError, TypeError):
            annotation = inspect.Signature.empty
    if annotation is inspect.Signature.empty:
        yield "no return annotation, so whether it needs a section Returns is unknown"
    elif annotation not in (None, "None", "NoReturn"):
        yield "no section Returns"


def check_see_also(entry: Entry, section: list[str]) -> Iterator[str]:
    """Complain about names that do not exist: `softmax, nn.Linear`, or `log : text`."""
    for line in section:
        if not line.strip() or line.startswith(" "):
            continue
        for name in line.partition(" : ")[0].split(","):
            name = name.strip().strip("`")
            if not REFERENCE.fullmatch(name) or not exists(name, entry.owner):
                yield f"See Also names {name!r}, which does not exist"


def exists(name: str, owner: object) -> bool:
    """Whether a name leads somewhere from its owner, from that one's module or from a package."""
    module = owner if isinstance(owner, types.ModuleType) else sys.modules[owner.__module__]
    first, _, rest = name.partition(".")
    starts = [(owner, name), (module, name)]
    starts += [(importlib.import_module(CORE), name)] if module.__name__.startswith(CORE) else []
    if first in NAMESPACE and rest:
        starts.append((importlib.import_module(NAMESPACE[first]), rest))
    if first == "umber" and rest:
        starts += [
            (importlib.import_module(known), name[len(known) + 1 :])
            for known in MODULES
            if name.startswith(known + ".")
        ]
    return any(leads(start, path) for start, path in starts)


def leads(start: object, path: str) -> bool:
    """Whether attribute after attribute exists."""
    for part in path.split("."):
        if not hasattr(start, part):
            return False
        start = getattr(start, part)
    return True


def check(entry: Entry, returns: dict[str, str]) -> list[str]:
    """What is wrong with one docstring."""
    text = text_of(entry.value)
    if not text.strip():
        return [] if entry.may_be_undocumented else ["no docstring"]
    summary, sections, complaints = parse(text)
    complaints = [*check_summary(summary), *complaints]
    exempt, _ = EXCEPTIONS.get(entry.name, (set(), ""))
    needed = set() if entry.is_summary_enough else {"Parameters", "Returns", "Examples"} - exempt
    if "Parameters" in needed | sections.keys():
        complaints += check_parameters(entry, sections.get("Parameters", []))
    if "Returns" in needed:
        complaints += check_result(entry, sections, returns)
    if "Examples" in needed - sections.keys():
        complaints.append("no section Examples")
    complaints += check_see_also(entry, sections.get("See Also", []))
    return complaints


# Results of umber.core ------------------------------------------------------------------------


def returns_of_stub(module: str, source: str) -> dict[str, str]:
    """What the functions and methods of a stub return, by their names."""
    found: dict[str, str] = {}

    def walk(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                walk(node.body, f"{prefix}.{node.name}")
            elif isinstance(node, ast.FunctionDef) and node.returns is not None:
                found[f"{prefix}.{node.name}"] = ast.unparse(node.returns)

    walk(ast.parse(source).body, module)
    return found


def core_returns(folder: Path) -> dict[str, str]:
    """What everything in umber.core returns, by its stubs."""
    found: dict[str, str] = {}
    for path in sorted(folder.glob("*.pyi")):
        module = CORE if path.stem == "__init__" else f"{CORE}.{path.stem}"
        found |= returns_of_stub(module, path.read_text())
    return found


def run(
    modules: list[types.ModuleType], returns: dict[str, str], show: Callable, only: str = ""
) -> int:
    """Check all names that begin with `only`; the number of complaints."""
    count = total = 0
    known = set()
    for entry in entries(modules):
        known.add(entry.name)
        if not entry.name.startswith(only):
            continue
        total += 1
        for complaint in check(entry, returns):
            count += 1
            show(f"{entry.name}: {complaint}")
    for name in sorted(EXCEPTIONS.keys() - known):
        count += 1
        show(f"{name}: is in the table of exceptions, but not in the package")
    if not count:
        print(f"docstrings: {total} complete")
    return count


def main() -> int:
    """Check the docstrings, or compare the twins."""
    root = Path(__file__).resolve().parents[1]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="check names that begin with this")
    parser.add_argument("--twins", action="store_true", help="compare bindings with umber-core")
    parser.add_argument("--write", action="store_true", help="with --twins: correct the bindings")
    parser.add_argument("--bindings", type=Path, default=root / doc_twins.BINDINGS)
    parser.add_argument("--core", type=Path, default=root / doc_twins.CORE)
    options = parser.parse_args()
    if options.write and not options.twins:
        parser.error("--write needs --twins")
    if options.twins:
        return doc_twins.run(options.bindings, options.core, write=options.write)

    def show(complaint: str) -> None:
        print(f"[docstrings] {complaint}", file=sys.stderr)

    modules = [importlib.import_module(name) for name in MODULES]
    return bool(run(modules, core_returns(root / "python/umber/core"), show, options.only))


if __name__ == "__main__":
    sys.exit(main())
