"""Write the type stubs of umber.core from the built extension module, or check those on disk.

Names, signatures, defaults and documentation come from the module, types from the tables in
stub_types.py, for the compiled parts of umber.data in stub_types_data.py. A function without
signature or documentation is an error, and so is a name without a type.
"""

from __future__ import annotations

import argparse
import ast
import builtins
import difflib
import enum
import importlib
import inspect
import re
import sys
import types
from collections.abc import Callable, Iterator
from pathlib import Path

import stub_types
import stub_types_data

MODULE = "umber.core"
WIDTH = 100
HEADER = "# Generated from the extension module by tools/stubs.py; `make stubs` writes it again.\n"
# Members of a class that do not belong to its interface.
IMPLICIT_MEMBERS = {
    "__class_getitem__",
    "__dict__",
    "__doc__",
    "__init__",
    "__init_subclass__",
    "__match_args__",
    "__module__",
    "__new__",
    "__weakref__",
    "__qualname__",
    "__static_attributes__",
    "__firstlineno__",
}
# Public special names of a module: its version, the names required by the array API standard, and
# what umber.data calls before the interpreter ends.
PUBLIC_SPECIAL_NAMES = {
    *("__array_api_version__", "__array_namespace_info__", "__version__", "_close"),
}
# Private modules with types of their own.
TABLES = {"_data": stub_types_data}
WORD = re.compile(r"(?<![\w.'])[A-Za-z_]\w*(?!')")


class Writer:
    """Generates the stub of one module; error messages are collected in `complaints`."""

    def __init__(
        self,
        module: types.ModuleType,
        package: types.ModuleType,
        tables: types.ModuleType = stub_types,
    ) -> None:
        """Create a writer for `module`, which is `package` itself or one of its submodules."""
        self.module = module
        self.package = package
        self.tables = tables
        # Names that the package's stub defines in addition to those of the module.
        self.private = tables.ALIASES.keys() | tables.PROTOCOLS.keys() | tables.VARIABLES.keys()
        self.is_package = module is package
        self.prefix = "" if self.is_package else module.__name__.rpartition(".")[2]
        self.public = dict(public(module))
        self.names: set[str] = set()
        self.complaints: list[str] = []

    # Types -----------------------------------------------------------------------------------

    def use(self, text: str) -> str:
        """Record the names in a type; prefixes builtins that the module shadows."""

        def replace(match: re.Match) -> str:
            name = match[0]
            if name in self.public and hasattr(builtins, name) and name not in self.tables.ALIASES:
                self.names.add("builtins")
                return f"builtins.{name}"
            self.names.add(name)
            return name

        return WORD.sub(replace, text)

    def find(self, table: dict[str, str], path: str, what: str, fallback: str | None) -> str:
        """The most specific entry for `path` in a table: a.b.c, then b.c, then c."""
        parts = [part.removesuffix("_if") for part in path.split(".")]
        for start in range(len(parts)):
            entry = table.get(".".join(parts[start:]))
            if entry is not None:
                return entry
        if fallback is None:
            self.complaints.append(f"{self.module.__name__}.{path}: no type for this {what}")
        return fallback or "object"

    def parameter(self, path: str, parameter: inspect.Parameter) -> str:
        """One parameter with its type and default."""
        kind = self.find(self.tables.PARAMETERS, f"{path}.{parameter.name}", "parameter", None)
        text = parameter.name
        if parameter.kind is parameter.VAR_POSITIONAL:
            return f"*{text}: {self.use(kind)}"
        if parameter.kind is parameter.VAR_KEYWORD:
            return f"**{text}: {self.use(kind)}"
        if parameter.default is parameter.empty:
            return f"{text}: {self.use(kind)}"
        if parameter.default is None and not takes_none(kind, self.tables):
            kind += " | None"
        return f"{text}: {self.use(kind)} = {default(parameter.default)}"

    def parameters(self, path: str, signature: inspect.Signature, first: str | None) -> list[str]:
        """The parameters of a function, including `/` and `*`; `first` is self or cls."""
        remaining = list(signature.parameters.values())
        written = [first] if first else []
        if first and remaining and remaining[0].name == first:
            remaining = remaining[1:]
        previous = None
        for parameter in remaining:
            positional = parameter.kind is parameter.POSITIONAL_ONLY
            if (
                previous is not None
                and previous.kind is previous.POSITIONAL_ONLY
                and not positional
            ):
                written.append("/")
            starred = previous is not None and previous.kind in (
                previous.VAR_POSITIONAL,
                previous.KEYWORD_ONLY,
            )
            if parameter.kind is parameter.KEYWORD_ONLY and not starred:
                written.append("*")
            written.append(self.parameter(path, parameter))
            previous = parameter
        if previous is not None and previous.kind is previous.POSITIONAL_ONLY:
            written.append("/")
        return written

    # Definitions -----------------------------------------------------------------------------

    def function(
        self, path: str, value: Callable, first: str | None = None, returns: str | None = "array"
    ) -> list[str]:
        """The definition of a function or method; `path` is its name below the module."""
        name = path.rpartition(".")[2]
        try:
            signature = inspect.signature(value)
        except (ValueError, TypeError):
            self.complaints.append(f"{self.module.__name__}.{path}: no text signature")
            return []
        full_path = f"{self.prefix}.{path}" if self.prefix else path
        written = self.parameters(full_path, signature, first)
        result = self.use(self.find(self.tables.RETURNS, full_path, "result", returns))
        return definition(name, written, result, self.documentation(path, value))

    def documentation(self, path: str, value: object) -> str:
        """The docstring, which is required for every public function and class."""
        text = inspect.getdoc(value) or ""
        if not text.strip() and not path.rpartition(".")[2].startswith("__"):
            self.complaints.append(f"{self.module.__name__}.{path}: no docstring")
        return text

    def cls(self, name: str, value: type) -> list[str]:
        """The definition of a class."""
        bases = [self.use(base.__name__) for base in value.__bases__ if base is not object]
        body = docstring(self.documentation(name, value))
        if issubclass(value, enum.Enum):
            members = [f"    {member.name} = {member.value!r}" for member in value]
            return [f"class {name}({', '.join(bases)}):", f"    {body[0]}", *members, ""]
        if value.__text_signature__ is not None or inspect.isfunction(value.__init__):
            written = self.parameters(name, inspect.signature(value), "self")
            body += definition("__init__", written, "None", "")
        for member, attribute in sorted(vars(value).items(), key=member_order):
            if member not in IMPLICIT_MEMBERS and (
                not member.startswith("_") or member.startswith("__")
            ):
                body += self.member(name, value, member, attribute)
        for member in self.tables.UNSEEN.get(name, ()):
            if member not in vars(value):
                body += self.special(member, self.tables.SPECIAL_METHODS[member])
        head = f"class {name}({', '.join(bases)}):" if bases else f"class {name}:"
        if not body:
            return [f"{head} ...", ""]
        return [head, *(f"    {line}" if line else "" for line in body), ""]

    def member(self, owner: str, cls: type, name: str, value: object) -> list[str]:
        """One member of a class."""
        path = f"{owner}.{name}"
        if name == "__hash__" and value is None:
            return [f"__hash__: {self.use('None')}  # type: ignore[assignment]"]
        for key in (path, name):
            if key in self.tables.SPECIAL_METHODS:
                signature = self.tables.SPECIAL_METHODS[key]
                return [] if signature is None else self.special(name, signature)
        returns = self.tables.RESULTS_OF_CLASSES.get(owner)
        if isinstance(value, staticmethod):
            return ["@staticmethod", *self.function(path, getattr(cls, name), None, returns)]
        if isinstance(value, classmethod | types.ClassMethodDescriptorType):
            return ["@classmethod", *self.function(path, getattr(cls, name), "cls", returns)]
        if isinstance(value, property | types.GetSetDescriptorType | types.MemberDescriptorType):
            kind = self.use(self.find(self.tables.ATTRIBUTES, path, "attribute", None))
            return ["@property", *definition(name, ["self"], kind, self.documentation(path, value))]
        if callable(value):
            return self.function(path, value, "self", returns)
        return [f"{name}: {self.use(type(value).__name__)}"]

    def special(self, name: str, signature: str | tuple[str, ...]) -> list[str]:
        """The definition of a special method; several signatures are overloads."""
        if isinstance(signature, str):
            return special(name, self.use(signature))
        return [
            line
            for overload in signature
            for line in (f"@{self.use('overload')}", *special(name, self.use(overload)))
        ]

    def constant(self, name: str, value: object) -> list[str]:
        """A module-level value."""
        kind = "None" if value is None else type(value).__name__
        return [f"{name}: {self.use(self.tables.CONSTANTS.get(name, kind))}"]

    # The file --------------------------------------------------------------------------------

    def text(self) -> str:
        """The whole stub."""
        groups: dict[str, list[list[str]]] = {"constants": [], "classes": [], "functions": []}
        submodules = []
        for name, value in sorted(self.public.items()):
            own = getattr(value, "__name__", name)
            if isinstance(value, types.ModuleType):
                submodules.append(name)
            elif isinstance(value, type) and own == name:
                groups["classes"].append(["", *self.cls(name, value)])
            elif callable(value) and own != name and self.public.get(own) is value:
                groups["functions"].append([f"{name} = {own}"])
            elif callable(value):
                groups["functions"].append(self.function(name, value))
            else:
                groups["constants"].append(self.constant(name, value))
        definitions = [
            line for group in groups.values() for block in group for line in [*block, ""]
        ]
        aliases = self.aliases()
        lines = [*docstring(inspect.getdoc(self.module) or ""), *self.imports(submodules), ""]
        lines += [*aliases, "", *definitions]
        text = re.sub(r"\n{4,}", "\n\n\n", HEADER + "\n" + "\n".join(lines)).rstrip() + "\n"
        self.check_names(text)
        return text

    def aliases(self) -> list[str]:
        """The private aliases that are used; submodules import them from the package."""
        if not self.is_package:
            return []
        lines = []
        for name, kind in reversed(self.tables.ALIASES.items()):
            if name in self.names:
                self.names.add("TypeAlias")
                self.names.update(WORD.findall(kind))
                alias_type = self.use(kind)
                lines.append(f"{name}: TypeAlias = {alias_type}")
        return [*self.variables(), *self.protocols(), *lines[::-1]]

    def variables(self) -> list[str]:
        """The private type variables that are used."""
        lines = []
        for name, kind in self.tables.VARIABLES.items():
            if name in self.names:
                lines.append(f'{name} = {self.use(kind)}("{name}")')
        return [*lines, ""] if lines else []

    def protocols(self) -> list[str]:
        """The private protocols that are used."""
        lines = []
        for name, methods in self.tables.PROTOCOLS.items():
            if name in self.names:
                lines += [f"class {name}({self.use('Protocol')}):"]
                for method, signature in methods.items():
                    lines += [f"    {line}" for line in special(method, self.use(signature))]
                lines.append("")
        return lines

    def imports(self, submodules: list[str]) -> list[str]:
        """The imports for every name that was used."""
        lines = ["import builtins"] if "builtins" in self.names else []
        names_by_module: dict[str, set[str]] = {}
        if "TypeAlias" in self.names:
            names_by_module["typing"] = {"TypeAlias"}
        for name in self.names & self.tables.IMPORTS.keys():
            original = self.tables.IMPORTED_AS.get(name)
            text = f"{original} as {name}" if original else name
            names_by_module.setdefault(self.tables.IMPORTS[name], set()).add(text)
        if not self.is_package:
            known = {name for name, _ in public(self.package)} | self.private
            # A builtin name means the builtin type, even if the package defines the same name.
            shared = (
                (self.names & known) - self.public.keys() - vars(builtins).keys() - {"builtins"}
            )
            if shared:
                names_by_module[self.package.__name__] = shared
        lines += [
            f"from {source} import {', '.join(sorted(names_by_module[source]))}"
            for source in sorted(names_by_module)
        ]
        return lines + [f"from . import {name} as {name}" for name in sorted(submodules)]

    def check_names(self, text: str) -> None:
        """Report names in the stub that are not defined."""
        tree = ast.parse(text)
        bound = set(dir(builtins)) | self.public.keys() | self.private | {"builtins"}
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom | ast.Import):
                bound |= {alias.asname or alias.name for alias in node.names}
        for node in ast.walk(tree):
            is_loaded = isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
            if is_loaded and node.id not in bound:
                self.complaints.append(f"{self.module.__name__}: the type {node.id} is not defined")


def takes_none(kind: str, tables: types.ModuleType) -> bool:
    """Whether a type, with aliases expanded, has None among its members."""
    members = [member.strip() for member in kind.split("|")]
    aliases = [tables.ALIASES[member] for member in members if member in tables.ALIASES]
    return bool({"None", "Any"} & set(members)) or any(
        takes_none(alias, tables) for alias in aliases
    )


def public(module: types.ModuleType) -> Iterator[tuple[str, object]]:
    """The public members of a module, and its private classes, which appear in types."""
    for name, value in vars(module).items():
        is_private_class = isinstance(value, type) and not name.startswith("__")
        if not name.startswith("_") or is_private_class or name in PUBLIC_SPECIAL_NAMES:
            yield name, value


def member_order(item: tuple[str, object]) -> tuple[bool, str]:
    """A sort key: special methods first, then the others, each by name."""
    return not item[0].startswith("__"), item[0]


def default(value: object) -> str:
    """A default value as source, or `...` if its repr is not a literal."""
    try:
        ast.literal_eval(repr(value))
    except (ValueError, SyntaxError):
        return "..."
    text = repr(value)
    if isinstance(value, str) and '"' not in text:
        text = f'"{text[1:-1]}"'
    return "..." if value is ... else text


def docstring(text: str) -> list[str]:
    """The lines of a docstring."""
    if not text.strip():
        return []
    escaped = text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')
    if escaped.endswith('"'):
        escaped = escaped[:-1] + '\\"'
    lines = [line.rstrip() for line in f'"""{escaped}'.split("\n")]
    if len(lines) == 1:
        return [lines[0] + '"""']
    return [*lines, '"""']


def definition(name: str, parameters: list[str], result: str, documentation: str) -> list[str]:
    """A function definition, on one line if it fits."""
    body = [f"    {line}" if line else "" for line in docstring(documentation)]
    tail = ":" if body else ": ..."
    line = f"def {name}({', '.join(parameters)}) -> {result}{tail}"
    if len(line) + 4 <= WIDTH:
        return [line, *body, *([""] if body else [])]
    inner = [f"    {parameter}," for parameter in parameters]
    return [f"def {name}(", *inner, f") -> {result}{tail}", *body, *([""] if body else [])]


def special(name: str, signature: str) -> list[str]:
    """The definition of a special method from its signature in the table."""
    code, hash_sign, comment = signature.partition("  #")
    return [f"def {name}{code}: ...{hash_sign}{comment}"]


def render(package: types.ModuleType) -> tuple[dict[str, str], list[str]]:
    """The stub files by name, and error messages about the module and the tables."""
    files, complaints = {}, []
    modules = {"__init__.pyi": package}
    for name, value in public(package):
        if isinstance(value, types.ModuleType):
            modules[f"{name}.pyi"] = value
    writers = {file: Writer(module, package) for file, module in modules.items()}
    for name, tables in TABLES.items():
        if module := vars(package).get(name):
            writers[f"{name}.pyi"] = Writer(module, module, tables)
    for file, writer in writers.items():
        files[file] = writer.text()
        complaints += writer.complaints
    return files, complaints


def differences(files: dict[str, str], folder: Path) -> list[str]:
    """A diff between the stubs on disk and the generated stubs."""
    lines = []
    for path in sorted(folder.glob("*.pyi")):
        if path.name not in files:
            lines.append(f"{path.name}: nothing in the module corresponds to this file\n")
    for name, text in files.items():
        path = folder / name
        old = path.read_text() if path.exists() else ""
        lines += difflib.unified_diff(
            old.splitlines(True), text.splitlines(True), f"{name} (on disk)", f"{name} (module)"
        )
    return lines


def write(files: dict[str, str], folder: Path) -> None:
    """Write the stubs that have changed, and remove files without a module."""
    folder.mkdir(parents=True, exist_ok=True)
    for path in folder.glob("*.pyi"):
        if path.name not in files:
            path.unlink()
    for name, text in files.items():
        path = folder / name
        if not path.exists() or path.read_text() != text:
            path.write_text(text)


def main() -> int:
    """Write the stubs; with --check, print the difference instead."""
    root = Path(__file__).resolve().parents[1]
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--check", action="store_true", help="compare, write nothing")
    parser.add_argument("--folder", type=Path, default=root / "python/umber/core")
    options = parser.parse_args()
    files, complaints = render(importlib.import_module(MODULE))
    for complaint in complaints:
        print(f"[stubs] {complaint}", file=sys.stderr)
    if options.check:
        difference = differences(files, options.folder)
        sys.stdout.writelines(difference[:200])
        if difference:
            print("[stubs] the stubs are not up to date: run `make stubs`", file=sys.stderr)
        elif not complaints:
            print("stubs: up to date")
        return bool(difference or complaints)
    write(files, options.folder)
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main())
