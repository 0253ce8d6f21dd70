"""Prints the size of machine code by kernel crate, module, instruction set and element type.

Reads the symbols of the libraries that the wheel was built from. `--budget` compares the crates and
the wheel with tools/code_size.toml, and fails if one exceeds its budget by more than 5 %. Libraries
that were built with RUSTFLAGS=-Csymbol-mangling-version=v0 contain more type names.
"""

from __future__ import annotations

import argparse
import collections
import os
import re
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import inlined

ROOT = Path(__file__).parent.parent
BUDGET = ROOT / "tools" / "code_size.toml"
GROWTH = 1.05

# A line of `nm -S -C`: address, size, symbol type, name.
SYMBOL = re.compile(r"^[0-9a-f]+ (?P<size>[0-9a-f]+) [tTwWV] (?P<name>.+)$", re.MULTILINE)
# Patterns in the names of functions and closures that identify the instruction set.
INSTRUCTION_SETS = (
    ("avx512", re.compile(r"avx512|_512|m512|vnni|amx|tiles")),
    ("avx2", re.compile(r"avx2|_256|m256|fma")),
)
TYPES = re.compile(
    r"\b(f16|bf16|f32|f64|Complex<f32>|Complex<f64>|bool|Bool|u8|u16|u32|u64|i8|i16|i32|i64|u128)\b"
)
# Modules of generic loops: an instantiation is attributed to the module of its closure.
GENERIC_MODULES = {
    "isa",
    "threads",
    "strided_loops",
    "shared",
    "caches",
    "row",
    "scratch_vec",
    "scratch",
    "lanes",
}


@dataclass(frozen=True)
class Symbol:
    """A function and its code size in bytes."""

    name: str
    size: int

    @property
    def module(self) -> str:
        """The module of the function, or of the closure that a generic loop is instantiated for."""
        paths = re.findall(r"umber_kernels_(\w+?)::((?:\w+::)*)", self.name)
        modules = [
            f"{crate}::{path.split('::')[0]}"
            for crate, path in paths
            if path.split("::")[0] not in GENERIC_MODULES
        ]
        return modules[0] if modules else "shared"

    @property
    def instructions(self) -> str:
        """The instruction set that the function was compiled for."""
        for name, pattern in INSTRUCTION_SETS:
            if pattern.search(self.name):
                return name
        return "baseline"

    @property
    def element(self) -> str:
        """The first element type in the name."""
        match = TYPES.search(self.name)
        return match[1] if match else "-"


def symbols(listing: str) -> Iterator[Symbol]:
    """The functions in the output of nm."""
    for match in SYMBOL.finditer(listing):
        yield Symbol(match["name"], int(match["size"], 16))


def libraries(target: Path) -> dict[str, Path]:
    """The latest release library of each kernel crate, by the crate's name without prefix."""
    paths = {crate: inlined.newest(target, crate) for crate in inlined.CRATES}
    return {
        crate.removeprefix("umber_kernels_"): library for crate, library in paths.items() if library
    }


def table(rows: dict[str, collections.Counter], columns: list[str]) -> str:
    """A text table of kilobytes by row and column, sorted by size."""
    lines = [" " * 28 + "".join(f"{column:>12}" for column in [*columns, "all"])]
    for name, counts in sorted(rows.items(), key=lambda row: -sum(row[1].values())):
        cells = [counts[column] for column in columns] + [sum(counts.values())]
        lines.append(f"{name:<28}" + "".join(f"{cell / 1e3:>12.0f}" for cell in cells))
    return "\n".join(lines)


def read_budget() -> dict[str, int]:
    """The maximum bytes of each kernel crate and of the wheel."""
    return tomllib.loads(BUDGET.read_text())["bytes"]


def complaints(sizes: dict[str, int], budget: dict[str, int]) -> list[str]:
    """Messages about sizes that exceed their budget or have none."""
    messages = []
    for name, size in sorted(sizes.items()):
        if name not in budget:
            messages.append(f"{name}: {size} bytes without a budget in {BUDGET.name}")
        elif size > budget[name] * GROWTH:
            messages.append(f"{name}: {size} bytes, budget {budget[name]} in {BUDGET.name}")
    return messages


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--budget", action="store_true", help="compare with the budget, and fail")
    parser.add_argument("--largest", type=int, default=0, help="list so many functions, too")
    arguments = parser.parse_args()
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    options = ("-S", "-C", "--defined-only")
    symbols_by_family = {
        name: list(symbols(inlined.listing_of(path, *options)))
        for name, path in libraries(target).items()
    }
    if not symbols_by_family:
        print(f"{target}: no release libraries of kernels: make wheel", file=sys.stderr)
        return 1
    sizes = {
        name: sum(symbol.size for symbol in functions)
        for name, functions in symbols_by_family.items()
    }
    if arguments.budget:
        for wheel in (ROOT / "dist").glob("umber-*.whl"):
            sizes["wheel"] = wheel.stat().st_size
        messages = complaints(sizes, read_budget())
        print("\n".join(messages) or "code sizes: within the budget")
        return 1 if messages else 0
    families: dict[str, collections.Counter] = {}
    modules: dict[str, collections.Counter] = {}
    types: dict[str, collections.Counter] = {}
    for family, functions in symbols_by_family.items():
        for symbol in functions:
            for rows, row, column in (
                (families, family, symbol.instructions),
                (modules, f"{family} < {symbol.module}", symbol.instructions),
                (types, symbol.element, symbol.instructions),
            ):
                rows.setdefault(row, collections.Counter())[column] += symbol.size
    print(f"kilobytes of code, {sum(sizes.values()) / 1e6:.1f} MB in all\n")
    for rows in (families, modules, types):
        print(table(rows, ["baseline", "avx2", "avx512"]), end="\n\n")
    all_functions = [symbol for functions in symbols_by_family.values() for symbol in functions]
    for symbol in sorted(all_functions, key=lambda symbol: -symbol.size)[: arguments.largest]:
        print(f"{symbol.size:>9} {symbol.name[:300]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
