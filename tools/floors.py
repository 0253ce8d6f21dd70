"""Check that dependencies between crates, and imports inside umber-core, point downwards only.

Crates: a workspace crate may depend only on crates of lower floors. Modules of umber-core: every
path from the crate root, written with `crate::` or with `super::`, must lead to a module that
LAYERS allows. Test modules may import anything. No static of umber-core may contain a function or
object that is set at run time, because such a hook is an upward dependency without an import. The
exceptions are listed in SET_LATER: callbacks of the front end, and the registry of backends.

Also checks, because it reads the same files, that only the two Python crates depend on PyO3, and
that deny.toml gives a reason for every third-party crate, as a comment `# name: why`.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from rust_source import tokens_of

# The floor of each crate. A crate may depend only on lower floors, not on the same floor.
FLOORS = {
    "umber-types": 0,
    "umber-codecs": 0,
    "umber-kernels-base": 1,
    "umber-amx-emulator": 2,
    "umber-kernels-elementwise": 2,
    "umber-kernels-gather": 2,
    "umber-kernels-random": 2,
    "umber-kernels-sort": 2,
    "umber-kernels-matmul": 3,
    "umber-kernels-reduce": 3,
    "umber-kernels-attention": 4,
    "umber-kernels-conv": 4,
    "umber-kernels-quantized": 4,
    "umber-kernels": 5,
    "umber-numerics": 5,
    "umber-core": 6,
    "umber-cuda": 7,
    "umber-io": 7,
    "umber-distributed": 7,
    "umber-simulated": 7,
    "umber-data": 8,
    "umber": 9,
    "umber-python": 10,
    "umber-module": 11,
}

# The crates that may depend on PyO3.
PYTHON = ("umber-python", "umber-module")

# The modules of umber-core by layer, and the layers that each may import in addition to itself. A
# submodule may have its own layer, written "outer::inner". The layer "definition" contains what
# depends on each other to define operations: rules use ops, ops are applied to arrays, and small
# operations are evaluated eagerly as they are applied.
LAYERS = {
    "ground": {"device", "frontend", "source_line", "memory"},
    "definition": {
        "apply",
        "backend",
        "eager",
        "generalization",
        "graph",
        "observer",
        "op",
        "ops",
        "primitive",
        "primitives",
        "validation",
    },
    "passes": {"passes"},
    "plan": {"plan"},
    "runtime": {"runtime"},
    "transforms": {"transforms"},
    "compile": {"compile"},
    "export": {"export"},
}
ALLOWED = {
    "ground": set(),
    "definition": {"ground"},
    "passes": {"ground", "definition"},
    "plan": {"ground", "definition", "passes"},
    "runtime": {"ground", "definition", "passes", "plan"},
    "transforms": {"ground", "definition"},
    "compile": {"ground", "definition", "passes", "transforms"},
    "export": {"ground", "definition", "transforms", "compile"},
}
LAYER_OF = {module: layer for layer, modules in LAYERS.items() for module in modules}

# The modules whose statics may be set at run time, and the type names that identify such statics.
SET_LATER = {"frontend": "frontend.rs", "backend::registry": "backend/registry.rs"}
CELLS = {"OnceLock", "OnceCell", "Mutex", "RwLock", "RefCell", "AtomicPtr", "mut"}

# The segments of a path below the crate root.
Segments = tuple[str, ...]

SECTIONS = ("dependencies", "dev-dependencies", "build-dependencies")


def dependencies(manifest: dict) -> Iterator[tuple[str, str]]:
    """Every (section, package) that a Cargo.toml depends on, target-specific ones included."""
    tables = [manifest, *manifest.get("target", {}).values()]
    for table in tables:
        for section in SECTIONS:
            for name, value in table.get(section, {}).items():
                renamed = value.get("package", name) if isinstance(value, dict) else name
                yield section, renamed


def check_manifests(root: Path) -> list[str]:
    """Error messages about the Cargo.toml files of the crates."""
    complaints = []
    for path in sorted(root.glob("crates/**/Cargo.toml")):
        manifest = tomllib.loads(path.read_text())
        name = manifest["package"]["name"]
        where = path.relative_to(root)
        if name not in FLOORS:
            complaints.append(f"{where}: crate {name} has no floor in {Path(__file__).name}")
            continue
        for section, dependency in dependencies(manifest):
            floor = FLOORS.get(dependency)
            if dependency == name:  # A crate's tests may ask for its features.
                continue
            if floor is not None and floor >= FLOORS[name]:
                complaints.append(
                    f"{where}: {name} (floor {FLOORS[name]}) has {dependency} (floor {floor}) "
                    f"in [{section}]; only lower floors may be imported"
                )
            if dependency.startswith("pyo3") and name not in PYTHON:
                complaints.append(
                    f"{where}: {name} depends on {dependency}; only {' and '.join(PYTHON)} may"
                )
    return complaints


def check_reasons(root: Path) -> list[str]:
    """Error messages about third-party crates without a reason in deny.toml."""
    workspace = tomllib.loads((root / "Cargo.toml").read_text()).get("workspace", {})
    used = {name for _, name in dependencies(workspace)}
    for path in root.glob("crates/**/Cargo.toml"):
        used |= {name for _, name in dependencies(tomllib.loads(path.read_text()))}
    reasons = set(re.findall(r"^# ([\w-]+): \S", (root / "deny.toml").read_text(), re.MULTILINE))
    complaints = [
        f"deny.toml: no reason for {name} (write `# {name}: why`)"
        for name in sorted(used - FLOORS.keys() - reasons)
    ]
    return complaints + [
        f"deny.toml: a reason for {name}, which nothing depends on"
        for name in sorted(reasons - used)
    ]


def paths_at(tokens: list[str], index: int) -> tuple[list[Segments], int]:
    """The paths of the use tree or expression path at `index`, and the index after them."""
    if tokens[index : index + 1] == ["{"]:
        paths, index = [], index + 1
        while index < len(tokens) and tokens[index] != "}":
            if tokens[index] == ",":
                index += 1
                continue
            before = index
            member, index = paths_at(tokens, index)
            paths += member
            if tokens[index : index + 1] == ["as"]:
                index += 2
            index = max(index, before + 1)
        return paths, index + 1
    if index >= len(tokens) or not tokens[index].isidentifier():
        return [()], index
    if tokens[index] == "self":
        return [()], index + 1
    if tokens[index + 1 : index + 2] != ["::"]:
        return [(tokens[index],)], index + 1
    tails, after = paths_at(tokens, index + 2)
    return [(tokens[index], *tail) for tail in tails], after


def root_paths(tokens: list[str], depth: int) -> set[Segments]:
    """The paths below the crate root that occur in a module at `depth`."""
    paths = set()
    for index, token in enumerate(tokens):
        if token not in ("crate", "super") or tokens[index - 1 : index] == ["::"]:
            continue
        supers, at = 0, index
        while tokens[at : at + 2] == ["super", "::"]:
            supers, at = supers + 1, at + 2
        if token == "crate" and tokens[at + 1 : at + 2] == ["::"]:
            at += 2
        elif token == "crate" or supers < depth:
            continue  # pub(crate), or a path that stays inside the module
        paths.update(path for path in paths_at(tokens, at)[0] if path)
    return paths


def reexports(tokens: list[str]) -> dict[str, Segments]:
    """The paths of the names that lib.rs re-exports, as in `pub use graph::{Array, Node}`."""
    exports = {}
    for index, token in enumerate(tokens):
        if token == "use" and tokens[index - 1 : index] in (["pub"], [")"]):
            end = tokens.index(";", index)
            for names in split_names(tokens[index + 1 : end]):
                exports[names[-1]] = names[:-1]
    return exports


def split_names(tokens: list[str]) -> list[Segments]:
    """The paths of one use declaration; the new name is appended to a renamed path."""
    renamed = []
    for index, token in enumerate(tokens):
        if token == "as":
            renamed.append((tokens[index - 1], tokens[index + 1]))
    paths = [path[1:] if path[0] in ("crate", "self") else path for path in paths_at(tokens, 0)[0]]
    new_names = dict(renamed)
    return [(*path, new_names.get(path[-1], path[-1])) for path in paths if path]


def layer_of(path: Segments) -> str | None:
    """The layer of a path: that of its longest known prefix."""
    for length in range(len(path), 0, -1):
        layer = LAYER_OF.get("::".join(path[:length]))
        if layer is not None:
            return layer
    return None


def module_path(path: Path, source: Path) -> Segments:
    """The module path of a file: src/graph/node.rs is (graph, node)."""
    parts = path.relative_to(source).with_suffix("").parts
    return parts[:-1] if parts[-1] == "mod" else parts


def hooks(tokens: list[str]) -> Iterator[str]:
    """The names of statics whose function or object is set at run time."""
    for index, token in enumerate(tokens):
        if token != "static" or ":" not in tokens[index : index + 4]:
            continue
        end = next((i for i in range(index, len(tokens)) if tokens[i] in ("=", ";")), len(tokens))
        declaration = tokens[index:end]
        if {"fn", "dyn"} & set(declaration) and CELLS & set(declaration):
            yield declaration[declaration.index(":") - 1]


def check_hooks(root: Path) -> list[str]:
    """Error messages about hooks in umber-core."""
    source = root / "crates/umber-core/src"
    return [
        f"{path.relative_to(root)}: {name} is a hook, which imports upwards unseen; "
        f"only {' and '.join(SET_LATER.values())} may have one"
        for path in sorted(source.rglob("*.rs"))
        if "::".join(module_path(path, source)) not in SET_LATER
        for name in hooks(tokens_of(path.read_text()))
    ]


def check_modules(root: Path) -> list[str]:
    """Error messages about imports between the modules of umber-core."""
    source = root / "crates/umber-core/src"
    files = sorted(source.rglob("*.rs"))
    modules = {module_path(path, source)[0] for path in files} - {"lib"}
    library = source / "lib.rs"
    exported = reexports(tokens_of(library.read_text())) if library.exists() else {}
    complaints = [
        f"{source.relative_to(root)}: module {module} has no layer in {Path(__file__).name}"
        for module in sorted(modules - LAYER_OF.keys())
    ]
    for path in files:
        here = module_path(path, source)
        layer = layer_of(here)
        if layer is None or here[-1] == "tests":
            continue
        for path_used in sorted(root_paths(tokens_of(path.read_text()), len(here))):
            target = path_used if path_used[0] in modules else exported.get(path_used[0], path_used)
            target_layer = layer_of(target)
            if target_layer in (None, layer) or target_layer in ALLOWED[layer]:
                continue
            via = "" if target == path_used else f" (by crate::{path_used[0]})"
            complaints.append(
                f"{path.relative_to(root)}: {here[0]} imports {'::'.join(target)}{via}; "
                f"{layer} may import only {', '.join(sorted(ALLOWED[layer])) or 'itself'}"
            )
    return complaints


def main() -> int:
    """Print all error messages; the exit status is 1 if there are any."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1])
    root = parser.parse_args().root
    checks = (check_manifests, check_reasons, check_modules, check_hooks)
    complaints = [complaint for check in checks for complaint in check(root)]
    for complaint in complaints:
        print(f"[floors] {complaint}", file=sys.stderr)
    if not complaints:
        print("floors: imports go downwards only")
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main())
