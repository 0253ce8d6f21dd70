"""Check that loops compiled for an instruction set have inlined all functions that they call.

Intrinsics must be inlined into functions that are compiled for their instruction set. If the
compiler emitted an intrinsic as a separate function, a closure was not inlined and its loop was
compiled for the baseline instruction set, so that vectors pass through memory. It is then ten times
slower, which no test detects. The same happens if such a function calls an adapter of iterators,
arrays or closures. crates/kernels/base/src/isa.rs describes what must be inlined.

`make lint-default-profile` runs this on libraries built with the default release profile, as in a
program that depends on umber: with sixteen codegen units, across which less is inlined.
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
# The library names of the kernel crates; unpublished crates are for tests only.
CRATES = [
    f"umber_kernels_{manifest.parent.name}"
    for manifest in sorted(ROOT.glob("crates/kernels/*/Cargo.toml"))
    if "publish = false" not in manifest.read_text()
]

# A line of nm: the address, if any, the symbol type, the name.
SYMBOL = re.compile(r"^[0-9a-f]* *(?P<kind>[A-Za-z]) (?P<name>\S+)$", re.MULTILINE)
DEFINED = frozenset("tTwW")
INTRINSIC = re.compile(r"core_arch.*?(_mm\d*_\w+)")
# In the output of `objdump -r`: section names of functions compiled for an instruction set, and the
# functions that they call. ADAPTER matches adapters of the standard library.
VECTORISED = re.compile(r"^RELOCATION RECORDS FOR \[\.text\.\S*(?:with_avx|_avx2|avx512)")
CALL = re.compile(
    r"^[0-9a-f]+ R_X86_64_(?:PLT32|GOTPCRELX?) +(?P<name>_ZN\S+?)(?:[-+]0x|$)", re.MULTILINE
)
ADAPTER = re.compile(r"core(?:\.\.|\d+)(?:iter(?:\.\.|\d+)adapters|array|ops(?:\.\.|\d+)function)")
# A symbol that only builds with assertions reference; these are for tests and inline less.
ASSERTION = "panic_const_add_overflow"


def symbols(listing: str) -> Iterator[tuple[str, str]]:
    """The types and names of the symbols in the output of nm."""
    return ((match["kind"], match["name"]) for match in SYMBOL.finditer(listing))


def has_assertions(listing: str) -> bool:
    """Whether the library was built with overflow checks."""
    return any(ASSERTION in name for _, name in symbols(listing))


def called(listing: str) -> list[str]:
    """The intrinsics that were compiled to separate functions."""
    names = (name for kind, name in symbols(listing) if kind in DEFINED)
    return sorted({match[1] for name in names if (match := INTRINSIC.search(name))})


def adapters(relocations: str) -> list[str]:
    """The adapters called by functions that are compiled for an instruction set."""
    sections = re.split(r"(?=^RELOCATION RECORDS)", relocations, flags=re.MULTILINE)
    calls = (CALL.finditer(section) for section in sections if VECTORISED.match(section))
    return sorted({c["name"] for matches in calls for c in matches if ADAPTER.search(c["name"])})


def newest(target: Path, crate: str) -> Path | None:
    """The latest library of a crate that contains code but no assertions."""
    folders = ("release", "*/release")
    libraries = [
        library for folder in folders for library in target.glob(f"{folder}/deps/lib{crate}-*.rlib")
    ]
    for library in sorted(libraries, key=lambda path: path.stat().st_mtime, reverse=True):
        listing = listing_of(library)
        has_code = any(kind in DEFINED and crate in name for kind, name in symbols(listing))
        if has_code and not has_assertions(listing):
            return library
    return None


def listing_of(library: Path, *options: str) -> str:
    """The output of nm for a library; its warnings about members without code go to stderr."""
    return output_of("nm", *options, library)


def output_of(*command: str | Path) -> str:
    """The standard output of a command."""
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
            command = "rm -f .venv/.stamps/wheel; make wheel"
            print(f"{target}: no library of {crate} to read: {command}", file=sys.stderr)
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
