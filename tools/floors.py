"""Check that imports go downwards only, between the crates and inside umber-core.

Crates: every dependency of one workspace crate on another must lie on a lower floor. Modules of
umber-core: every path that starts at the crate root, written `crate::` or as enough `super::`,
must lead to a module that LAYERS allows. Test modules may import anything.

Also checked, since it is read from the same files: only umber-python knows PyO3, and every
third-party crate of the workspace has its reason, a comment `# name: why`, in deny.toml.
"""

from __future__ import annotations

import argparse
import re
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path

from rust_source import tokens_of

# Floor of each crate; a crate knows only lower ones, so neighbours do not know each other.
FLOORS = {
    "umber-types": 0,
    "umber-kernels": 1,
    "umber-core": 2,
    "umber-cuda": 3,
    "umber-io": 3,
    "umber-distributed": 3,
    "umber": 4,
    "umber-python": 5,
}

# The modules of umber-core by layer, and the layers each may import beside itself.
LAYERS = {
    "ground": {"allocator", "buffer", "device", "error", "memory", "stream"},
    "definition": {"graph", "op", "primitive", "primitives", "ops"},
    "fusion": {"fusion"},
    "backend": {"backend"},
    "eval": {"eval"},
    "transforms": {"transforms"},
    "compile": {"compile"},
    "export": {"export"},
}
ALLOWED = {
    "ground": set(),
    "definition": {"ground"},
    "fusion": {"ground", "definition"},
    "backend": {"ground", "definition", "fusion"},
    "eval": {"ground", "definition", "fusion", "backend"},
    "transforms": {"ground", "definition", "fusion"},
    "compile": {"ground", "definition", "fusion", "transforms"},
    "export": {"ground", "definition", "fusion", "transforms"},
}
LAYER_OF = {module: layer for layer, modules in LAYERS.items() for module in modules}

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
    """Complaints about the crates' Cargo.toml files."""
    complaints = []
    for path in sorted(root.glob("crates/*/Cargo.toml")):
        manifest = tomllib.loads(path.read_text())
        name = manifest["package"]["name"]
        where = path.relative_to(root)
        if name not in FLOORS:
            complaints.append(f"{where}: crate {name} has no floor in {Path(__file__).name}")
            continue
        for section, dependency in dependencies(manifest):
            floor = FLOORS.get(dependency)
            if floor is not None and floor >= FLOORS[name]:
                complaints.append(
                    f"{where}: {name} (floor {FLOORS[name]}) has {dependency} (floor {floor}) "
                    f"in [{section}]; only lower floors may be imported"
                )
            if dependency.startswith("pyo3") and name != "umber-python":
                complaints.append(f"{where}: {name} depends on {dependency}; only umber-python may")
    return complaints


def check_reasons(root: Path) -> list[str]:
    """Complaints about third-party crates without a reason in deny.toml."""
    workspace = tomllib.loads((root / "Cargo.toml").read_text()).get("workspace", {})
    wanted = {name for _, name in dependencies(workspace)}
    for path in root.glob("crates/*/Cargo.toml"):
        wanted |= {name for _, name in dependencies(tomllib.loads(path.read_text()))}
    reasons = set(re.findall(r"^# ([\w-]+): \S", (root / "deny.toml").read_text(), re.MULTILINE))
    complaints = [
        f"deny.toml: no reason for {name} (write `# {name}: why`)"
        for name in sorted(wanted - FLOORS.keys() - reasons)
    ]
    return complaints + [
        f"deny.toml: a reason for {name}, which nothing depends on"
        for name in sorted(reasons - wanted)
    ]


def group_heads(tokens: list[str], index: int) -> list[str]:
    """The first names of the members of the `{…}` that opens at `index`."""
    heads, depth, expecting = [], 0, True
    for token in tokens[index:]:
        if token == "{":
            depth += 1
        elif token == "}":
            depth -= 1
            if depth == 0:
                break
        elif token == "," and depth == 1:
            expecting = True
        elif depth == 1 and expecting:
            heads.append(token)
            expecting = False
    return heads


def root_names(tokens: list[str], depth: int) -> set[str]:
    """The names right under the crate root that the paths of a module at `depth` start with."""
    names = set()
    for index, token in enumerate(tokens):
        if token not in ("crate", "super") or tokens[index - 1 : index] == ["::"]:
            continue
        climbs, at = 0, index
        while tokens[at : at + 2] == ["super", "::"]:
            climbs, at = climbs + 1, at + 2
        if token == "crate":
            at += 2
            if tokens[at - 1 : at] != ["::"]:
                continue  # pub(crate)
        elif climbs < depth:
            continue
        if tokens[at : at + 1] == ["{"]:
            names.update(group_heads(tokens, at))
        else:
            names.update(tokens[at : at + 1])
    return names


def reexports(tokens: list[str]) -> dict[str, str]:
    """Name → module for what lib.rs re-exports: `pub use graph::{Array, Node}`."""
    text = " ".join(tokens)
    found = {}
    for module, rest in re.findall(r"pub use (?:crate :: )?(\w+) :: ([^;]*) ;", text):
        for name in re.findall(r"(\w+)(?= ,| }|$)", rest):
            found[name] = module
    return found


def module_path(path: Path, source: Path) -> list[str]:
    """The module path of a file: src/graph/node.rs is [graph, node]."""
    parts = list(path.relative_to(source).with_suffix("").parts)
    return parts[:-1] if parts[-1] == "mod" else parts


def check_modules(root: Path) -> list[str]:
    """Complaints about imports between the modules of umber-core."""
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
        layer = LAYER_OF.get(here[0])
        if layer is None or here[-1] == "tests":
            continue
        for name in sorted(root_names(tokens_of(path.read_text()), len(here))):
            target = name if name in modules else exported.get(name, name)
            above = LAYER_OF.get(target)
            if above in (None, layer) or above in ALLOWED[layer]:
                continue
            via = "" if target == name else f" (by crate::{name})"
            complaints.append(
                f"{path.relative_to(root)}: {here[0]} imports {target}{via}; "
                f"{layer} may import only {', '.join(sorted(ALLOWED[layer])) or 'itself'}"
            )
    return complaints


def main() -> int:
    """Print every complaint; the exit status says whether there were any."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1])
    root = parser.parse_args().root
    complaints = check_manifests(root) + check_reasons(root) + check_modules(root)
    for complaint in complaints:
        print(f"[floors] {complaint}", file=sys.stderr)
    if not complaints:
        print("floors: imports go downwards only")
    return bool(complaints)


if __name__ == "__main__":
    sys.exit(main())
