"""Check that all public names of the installed package have complete NumPy-style docstrings.

Checks the functions and classes of umber.core and its submodules, umber.nn, umber.nn.init,
umber.nn.losses, umber.nn.utils, umber.optimizers, umber.utils, umber.data and its modules, and the
public methods and properties of the classes. An object with several names is checked once. A
docstring needs

- a summary: one line of at most 100 characters that ends in a period;
- Parameters, with every parameter of the signature (of a class: of its constructor);
- Returns or Yields, unless it returns None: by the stubs for umber.core, else by the annotation;
- Examples (tests/docs/test_docstrings.py runs them);
- only known sections, in order, and in See Also only names that exist.

A summary suffices for properties, special methods (whose docstring is optional), exceptions,
enumerations, methods that override a documented method, and conditional twins `…_if` of a method.

`--twins` compares the documentation of the bindings with that of umber-core (see doc_twins.py).
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
    "umber.core.special",
    *("umber.nn", "umber.nn.init", "umber.nn.losses", "umber.nn.utils"),
    *("umber.optimizers", "umber.utils"),
    *("umber.data", "umber.data.core", "umber.data.datasets", "umber.data.features"),
    "umber.data.tokenizer_helpers",
)
# Module aliases in examples and in See Also sections.
NAMESPACE = {
    "mx": CORE,
    "nn": "umber.nn",
    "optim": "umber.optimizers",
    "np": "numpy",
    "dx": "umber.data",
    "umber": "umber",
}
# The public modules whose functions are compiled into a private one, whose stub has their types.
COMPILED = {"_data": ("umber.data", "umber.data.core")}
SECTIONS = (
    *("Parameters", "Returns", "Yields", "Attributes", "Methods", "Raises"),
    *("See Also", "Notes", "References", "Examples"),
)
MAX_SUMMARY_LENGTH = 100
# Sections that an entry may omit, and the reason for it.
EXCEPTIONS: dict[str, tuple[set[str], str]] = {}

# Members of every class, which do not belong to its interface.
IMPLICIT_MEMBERS = {"__dict__", "__init__", "__new__", "__weakref__"}
NAMES_AND_TYPE = re.compile(r"(\*{0,2}\w+(?:, \*{0,2}\w+)*) : \S")
REFERENCE = re.compile(r"[A-Za-z_][\w.]*")


class Entry(NamedTuple):
    """A public name and its documentation requirements."""

    name: str  # such as umber.nn.Linear.to_quantized
    value: object
    owner: object  # the module or class that defines it
    is_summary_enough: bool
    may_be_undocumented: bool = False
    is_bound: bool = False  # whether the first parameter is self or cls


class Docstring(NamedTuple):
    """A parsed docstring: its summary, and the lines of each section."""

    summary: list[str]
    sections: dict[str, list[str]]
    complaints: list[str]


# Public names ----------------------------------------------------------------------------------


def entries(modules: list[types.ModuleType]) -> Iterator[Entry]:
    """Every public object of the modules once, under its first name."""
    # Keep references to the objects, because the id of a released object may be reused.
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
    """The public names of a module: `__all__` if it exists, else the names it defines itself."""
    if hasattr(module, "__all__"):
        return sorted(name for name in module.__all__ if not name.startswith("_"))
    return sorted(
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and getattr(value, "__module__", None) == module.__name__
    )


def is_documented(value: object) -> bool:
    """Whether it is a function or class, in contrast to constants, type aliases and modules."""
    return isinstance(value, type) or inspect.isroutine(value) or hasattr(value, "__wrapped__")


def entries_of_class(
    path: str, cls: type, module: types.ModuleType, seen: dict[int, object]
) -> Iterator[Entry]:
    """A class and its members, including those of private base classes."""
    is_simple = issubclass(cls, BaseException | enum.Enum)
    yield Entry(path, cls, module, is_summary_enough=is_simple)
    if is_simple:
        return
    for owner in cls.__mro__:
        if owner is not cls and not is_private_base(owner):
            continue
        for name, member in sorted(vars(owner).items()):
            function = member.__func__ if isinstance(member, classmethod | staticmethod) else member
            is_special = name.startswith("__") and name.endswith("__")
            # CPython documents slots itself.
            is_slot = name in IMPLICIT_MEMBERS or isinstance(member, types.WrapperDescriptorType)
            is_private = name.startswith("_") and not is_special
            if is_slot or is_private or id(function) in seen:
                continue
            if not (is_property(member) or inspect.isroutine(function)):
                continue
            seen[id(function)] = function
            yield Entry(
                f"{path}.{name}",
                member if is_property(member) else getattr(cls, name),
                cls,
                is_summary_enough=is_property(member)
                or is_special
                or overrides(cls, owner, name)
                or is_conditional(cls, name),
                may_be_undocumented=is_special,
                is_bound=not isinstance(member, staticmethod | classmethod)
                and not isinstance(member, types.ClassMethodDescriptorType),
            )


def is_private_base(cls: type) -> bool:
    """Whether the class is visible to users only as a base of public classes."""
    return cls.__name__.startswith("_") and cls.__module__.partition(".")[0] == "umber"


def is_property(member: object) -> bool:
    """Whether a class member is a property or a slot."""
    return isinstance(member, property | types.GetSetDescriptorType | types.MemberDescriptorType)


def is_conditional(cls: type, name: str) -> bool:
    """Whether a method calls another one of the class if a condition is true."""
    return name.endswith("_if") and hasattr(cls, name.removesuffix("_if"))


def overrides(cls: type, owner: type, name: str) -> bool:
    """Whether a public base class documents a method of this name."""
    bases = cls.__mro__[cls.__mro__.index(owner) + 1 :]
    return any(
        name in vars(base) and base is not object and not is_private_base(base) for base in bases
    )


# Docstrings ------------------------------------------------------------------------------------


def text_of(value: object) -> str:
    """The docstring without indentation; a method without one inherits that of its base class."""
    return inspect.getdoc(value) or ""


def parse(text: str) -> Docstring:
    """Split a docstring at its headings, which are underlined."""
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
    """Check that the docstring begins with one sentence on a separate line."""
    first = lines[0] if lines else ""
    if len(first) > MAX_SUMMARY_LENGTH:
        yield f"the summary has {len(first)} characters, at most {MAX_SUMMARY_LENGTH} are allowed"
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
    parameters = parameters_of(entry)
    if parameters is None:
        return
    documented = described(section)
    missing = [name for name in parameters if name not in documented]
    if missing:
        yield f"Parameters lacks {', '.join(missing)}"
    unknown = sorted(documented - set(parameters))
    if unknown:
        yield f"Parameters describes {', '.join(unknown)}, which the signature lacks"


def parameters_of(entry: Entry) -> list[str] | None:
    """The names of the parameters without self, or None if there is no signature."""
    try:
        names = list(inspect.signature(entry.value).parameters)  # type: ignore[arg-type]
    except (ValueError, TypeError):
        return None
    return names[1:] if entry.is_bound and names[:1] == ["self"] else names


def check_result(entry: Entry, sections: dict, returns: dict[str, str]) -> Iterator[str]:
    """Check that a section describes the returned value, if any."""
    if isinstance(entry.value, type) or {"Returns", "Yields"} & sections.keys():
        return
    annotation = returns.get(entry.name, "object")
    if entry.name not in returns and not entry.name.startswith(CORE + "."):
        try:
            annotation = inspect.signature(entry.value).return_annotation  # type: ignore[arg-type]
        except (ValueError, TypeError):
            annotation = inspect.Signature.empty
    if annotation is inspect.Signature.empty:
        yield "no return annotation, so whether it needs a section Returns is unknown"
    elif annotation not in (None, "None", "NoReturn"):
        yield "no section Returns"


def check_see_also(entry: Entry, section: list[str]) -> Iterator[str]:
    """Check that the names exist; lines have the form `softmax, nn.Linear` or `log : text`."""
    for line in section:
        if not line.strip() or line.startswith(" "):
            continue
        for name in line.partition(" : ")[0].split(","):
            name = name.strip().strip("`")
            if not REFERENCE.fullmatch(name) or not exists(name, entry.owner):
                yield f"See Also names {name!r}, which does not exist"


def exists(name: str, owner: object) -> bool:
    """Whether a name can be resolved from its owner, the owner's module or a package."""
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
    return any(resolves(start, path) for start, path in starts)


def resolves(start: object, path: str) -> bool:
    """Whether `start` has the dotted attribute `path`."""
    for attribute in path.split("."):
        if not hasattr(start, attribute):
            return False
        start = getattr(start, attribute)
    return True


def check(entry: Entry, returns: dict[str, str]) -> list[str]:
    """The error messages about one docstring."""
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


# Return types of compiled functions ------------------------------------------------------------


def returns_of_stub(module: str, source: str) -> dict[str, str]:
    """The return annotations of the functions and methods of a stub, by name."""
    annotations: dict[str, str] = {}

    def walk(body: list[ast.stmt], prefix: str) -> None:
        for node in body:
            if isinstance(node, ast.ClassDef):
                walk(node.body, f"{prefix}.{node.name}")
            elif isinstance(node, ast.FunctionDef) and node.returns is not None:
                annotations[f"{prefix}.{node.name}"] = ast.unparse(node.returns)

    walk(ast.parse(source).body, module)
    return annotations


def core_returns(folder: Path) -> dict[str, str]:
    """The return annotations of all compiled functions, from the stubs."""
    annotations: dict[str, str] = {}
    for path in sorted(folder.glob("*.pyi")):
        own = CORE if path.stem == "__init__" else f"{CORE}.{path.stem}"
        for module in COMPILED.get(path.stem, (own,)):
            annotations |= returns_of_stub(module, path.read_text())
    return annotations


def run(
    modules: list[types.ModuleType], returns: dict[str, str], show: Callable, only: str = ""
) -> int:
    """Check all names that begin with `only`; returns the number of errors."""
    error_count = checked_count = 0
    known = set()
    for entry in entries(modules):
        known.add(entry.name)
        if not entry.name.startswith(only):
            continue
        checked_count += 1
        for complaint in check(entry, returns):
            error_count += 1
            show(f"{entry.name}: {complaint}")
    for name in sorted(EXCEPTIONS.keys() - known):
        error_count += 1
        show(f"{name}: is in the table of exceptions, but not in the package")
    if not error_count:
        print(f"docstrings: {checked_count} complete")
    return error_count


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
