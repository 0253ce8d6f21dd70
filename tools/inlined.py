"""Check that loops for an instruction set of the processor's have inlined all they call.

Intrinsics belong inside of functions that are compiled for their instructions. Where the compiler
left one as a function of its own, a closure was not inlined, and its loop was compiled for any
processor, with vectors that go through memory: it takes ten times as long, and no test fails. The
same happens where such a function calls an adapter of iterators, arrays or closures.
crates/kernels/base/src/isa.rs says what must be inlined.

`make lint-default-profile` runs this on libraries that were built as Cargo builds them for a
program that depends on umber: with sixteen codegen units, between which less is inlined.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
# The crates of kernels by the names of their libraries; what is not published is for tests.
CRATES = [
    f"umber_kernels_{manifest.parent.name}"
    for manifest in sorted(ROOT.glob("crates/kernels/*/Cargo.toml"))
    if "publish = false" not in manifest.read_text()
]

# A line of nm: an address if there is one, the kind of symbol, its name.
SYMBOL = re.compile(r"^[0-9a-f]* *(?P<kind>[A-Za-z]) (?P<name>\S+)$", re.MULTILINE)
DEFINED = frozenset("tTwW")
INTRINSIC = re.compile(r"core_arch.*?(_mm\d*_\w+)")
# Functions compiled for an instruction set, by the names of the sections they stand in; what they
# call, by the lines of `objdump -r`; adapters of the standard library.
VECTORISED = re.compile(r"^RELOCATION RECORDS FOR \[\.text\.\S*(?:with_avx|_avx2|avx512)")
CALL = re.compile(
    r"^[0-9a-f]+ R_X86_64_(?:PLT32|GOTPCRELX?) +(?P<name>_ZN\S+?)(?:[-+]0x|$)", re.MULTILINE
)
ADAPTER = re.compile(r"core(?:\.\.|\d+)(?:iter(?:\.\.|\d+)adapters|array|ops(?:\.\.|\d+)function)")
# Only builds with assertions refer to it. Those are for tests, and inline less.
ASSERTION = "panic_const_add_overflow"


def symbols(listing: str) -> Iterator[tuple[str, str]]:
    """The kinds and names of symbols that nm lists."""
    return ((found["kind"], found["name"]) for found in SYMBOL.finditer(listing))


def has_assertions(listing: str) -> bool:
    """Is this a library with overflow checks?"""
    return any(ASSERTION in name for _, name in symbols(listing))


def called(listing: str) -> list[str]:
    """The intrinsics that are functions of their own."""
    names = (name for kind, name in symbols(listing) if kind in DEFINED)
    return sorted({found[1] for name in names if (found := INTRINSIC.search(name))})


def adapters(relocations: str) -> list[str]:
    """The adapters that functions compiled for an instruction set call."""
    sections = re.split(r"(?=^RELOCATION RECORDS)", relocations, flags=re.MULTILINE)
    calls = (CALL.finditer(section) for section in sections if VECTORISED.match(section))
    return sorted({c["name"] for found in calls for c in found if ADAPTER.search(c["name"])})


def newest(target: Path, crate: str) -> Path | None:
    """The latest library of a crate that holds code, but no assertions."""
    places = ("release", "*/release")
    libraries = [
        library for place in places for library in target.glob(f"{place}/deps/lib{crate}-*.rlib")
    ]
    for library in sorted(libraries, key=lambda path: path.stat().st_mtime, reverse=True):
        listing = listing_of(library)
        has_code = any(kind in DEFINED and crate in name for kind, name in symbols(listing))
        if has_code and not has_assertions(listing):
            return library
    return None


def listing_of(library: Path, *options: str) -> str:
    """What nm lists of a library; members without code are complained of on the other stream."""
    return output_of("nm", *options, library)


def output_of(*command: str | Path) -> str:
    """What a command prints."""
    return subprocess.run(command, capture_output=True, text=True, check=False).stdout


def main() -> int:
    for tool in ("nm", "objdump"):
        if not shutil.which(tool):
            print(f"{tool} was not found: it comes with gcc, in binutils", file=sys.stderr)
            return 1
    target = Path(os.environ.get("CARGO_TARGET_DIR", ROOT / "target"))
    status = 0
    for crate in CRATES:
        library = newest(target, crate)
        if not library:
            way = "rm -f .venv/.stamps/wheel; make wheel"
            print(f"{target}: no library of {crate} to read: {way}", file=sys.stderr)
            return 1
        for name in called(listing_of(library)):
            print(f"{crate}: {name} is a function: a loop that needs it was not inlined")
            status = 1
        for name in adapters(output_of("objdump", "-r", library)):
            print(f"{crate}: a loop for an instruction set calls {name}")
            status = 1
    return status


if __name__ == "__main__":
    sys.exit(main())
