"""Scaffold an op: write the lines that follow from its name, leave the rest as compile errors.

`new_op.py unary cbrt …` adds a row to each table of the unary family; nothing is left to write but
better kernels. `new_op.py composite …` and `new_op.py primitive …` add a family file from
tools/templates/ and its rows; what only a person can write (the algebra, the rules, the kernel) is
a `compile_error!` that says so. Nothing is written unless every place to edit was found.
"""

from __future__ import annotations

import argparse
import difflib
import re
import sys
from dataclasses import dataclass
from pathlib import Path

TEMPLATES = Path(__file__).resolve().parent / "templates"
CORE = "crates/umber-core/src"
NAMES = f"{CORE}/export/mlx_names.rs"
KERNELS = "crates/kernels/elementwise/src"
BINDINGS = "crates/umber-python/src"


class CannotEditError(Exception):
    """A line to edit was not found, or the op exists already."""


@dataclass(frozen=True)
class Insert:
    """Insert text before the first match of `line` that follows a match of `after`."""

    path: str
    after: str
    line: str
    text: str

    def apply(self, source: str) -> str:
        """The source with the text inserted."""
        start = find(self.path, source, self.after, 0)
        position = find(self.path, source, self.line, start.end())
        return source[: position.start()] + self.text + source[position.start() :]


@dataclass(frozen=True)
class Absent:
    """Check that the file does not contain a text; changes nothing."""

    path: str
    text: str

    def apply(self, source: str) -> str:
        """The unchanged source."""
        if self.text in source:
            raise CannotEditError(f"{self.path} has {self.text} already")
        return source


@dataclass(frozen=True)
class InsertSorted:
    """Insert a line in alphabetical order into the consecutive lines that match `pattern`."""

    path: str
    pattern: str
    text: str

    def apply(self, source: str) -> str:
        """The source with the line inserted."""
        block = find(self.path, source, f"(?:^{self.pattern}\n)+", 0)
        lines = [*block[0].splitlines(keepends=True), self.text]
        return source[: block.start()] + "".join(sorted(lines)) + source[block.end() :]


@dataclass(frozen=True)
class Replace:
    """Replace the first match of `pattern` that follows a match of `after`."""

    path: str
    after: str
    pattern: str
    text: str

    def apply(self, source: str) -> str:
        """The source with the replacement."""
        start = find(self.path, source, self.after, 0)
        match = find(self.path, source, self.pattern, start.end())
        return source[: match.start()] + match.expand(self.text) + source[match.end() :]


@dataclass(frozen=True)
class Create:
    """Create a file from a template."""

    path: str
    template: str
    words: dict[str, str]

    def apply(self, source: str) -> str:
        """The text of the new file; raises an error if the file exists."""
        if source:
            raise CannotEditError(f"{self.path} exists already")
        text = (TEMPLATES / self.template).read_text()
        for word, value in self.words.items():
            text = text.replace(f"@{word}@", value)
        return text


Edit = Absent | Insert | InsertSorted | Replace | Create


def find(path: str, source: str, pattern: str, start: int) -> re.Match:
    """The first match at or after `start`."""
    match = re.compile(pattern, re.MULTILINE).search(source, start)
    if match is None:
        raise CannotEditError(
            f"{path}: nothing matches {pattern!r}; has the file changed its form?"
        )
    return match


def variant_of(name: str) -> str:
    """The name of an op's Rust type, such as RmsNorm for rms_norm."""
    return "".join(part.capitalize() for part in name.split("_"))


def unary(options: argparse.Namespace) -> list[Edit]:
    """A function of one element: a row in each table."""
    name, variant, doc = options.name, variant_of(options.name), options.doc
    kernel = f"{KERNELS}/elementwise/unary.rs"
    kinds = "crates/umber-types/src/kinds.rs"
    rows = [
        Absent(kinds, f'"{name}"'),
        Insert(
            kinds,
            r"^    UnaryKind \{",
            r"^    \}",
            f'        {variant} "{name}",\n',
        ),
        Insert(
            f"{CORE}/primitives/unary.rs",
            r"let factor = match self\.0 \{",
            r"^        \};",
            f"            {variant} => {options.derivative},\n",
        ),
        Replace(
            f"{KERNELS}/elementwise/unary_complex.rs",
            r"^macro_rules! complex_unary",
            r" => return None,\n            \}\)",
            f" | {variant}\\g<0>",
        ),
        Insert(
            f"{CORE}/ops/elementwise.rs",
            r"^inexact_unary! \{",
            r"^\}",
            f"    /// {doc}\n    {name} {variant}: {options.example},\n",
        ),
        Insert(
            f"{BINDINGS}/ops/elementwise.rs",
            r"^unary_functions! \{",
            r"^\}",
            python_row(options),
        ),
        Insert(
            "tests/tables/records/elementwise.py",
            r"^UNARY",
            r"^    smooth\(",
            f'    smooth("{name}", {options.numpy}, dtypes=REAL, refuses=COMPLEX),\n',
        ),
    ]
    for width in ("f32", "f64"):
        row = f"        {variant} => exact1!({width} => {width}, |x| {options.kernel}),\n"
        rows.append(Insert(kernel, rf"^fn {width}\(", rf"^        _ => return {width}_basics", row))
    return rows


def python_row(options: argparse.Namespace) -> str:
    """The row of the bindings: the docstring of a function of one array, and its names."""
    inputs, _, results = options.example.partition("=>")
    shown = [
        ", ".join(f"{float(number):g}" for number in re.findall(r"-?\d+\.?\d*", text))
        for text in (inputs.replace("f32", "").replace("f64", ""), results.partition("[")[2])
    ]
    text = f"""\
{options.doc}

Parameters
----------
a : array_like
    Input of any shape and real dtype.
stream : Stream or Device, optional
    Where the operation runs. Default: the default stream of the default device.

Returns
-------
array
    Same shape as `a`; float32 for integers, booleans and float8, else the dtype of `a`.

Raises
------
TypeError
    If `a` is complex, or neither an array nor convertible to one.

Examples
--------
>>> mx.{options.name}(mx.array([{shown[0]}]))
array([{shown[1]}], dtype=float32)
"""
    lines = (f"    /// {line}".rstrip() + "\n" for line in text.splitlines())
    return f"{''.join(lines)}    {options.name} {options.name},\n"


def function(options: argparse.Namespace, op: str) -> Insert:
    """Append the public function of umber-core to the file of its group."""
    text = (
        f"\n/// {options.doc}\npub fn {options.name}(x: &Array) -> Result<Array> {{\n"
        f"    Array::record_one({op}, &[x])\n}}\n"
    )
    return Insert(f"{CORE}/ops/{options.group}.rs", r"\A", r"\Z", text)


def composite(options: argparse.Namespace) -> list[Edit]:
    """An op with a kernel that is also defined by simpler ops."""
    name, variant = options.name, variant_of(options.name)
    folder = f"{CORE}/primitives/composite"
    return [
        Create(f"{folder}/{name}.rs", "composite.rs", words(options)),
        InsertSorted(f"{folder}/mod.rs", r"mod \w+;", f"mod {name};\n"),
        InsertSorted(
            f"{folder}/mod.rs", r"pub use self::.*;", f"pub use self::{name}::{variant};\n"
        ),
        Insert(
            f"{folder}/mod.rs",
            r"^composites! \{",
            r"^\}",
            f"    /// {options.doc}\n    {variant},\n",
        ),
        Insert(
            NAMES,
            r"^fn mlx_composite",
            r"^    \}",
            f'        Composite::{variant}(_) => mlx_operation("{variant}", []),\n',
        ),
        function(options, f"crate::primitives::composite::{variant}"),
    ]


def primitive(options: argparse.Namespace) -> list[Edit]:
    """A structured primitive with its own rules."""
    name, variant = options.name, variant_of(options.name)
    folder = f"{CORE}/primitives"
    return [
        Create(f"{folder}/{name}.rs", "primitive.rs", words(options)),
        InsertSorted(f"{folder}/mod.rs", r"pub(?:\(crate\))? mod \w+;", f"pub mod {name};\n"),
        Insert(f"{CORE}/op.rs", r"^primitives! \{", r"^\}", f"    {variant}({name}::{variant}),\n"),
        Insert(NAMES, r"^            Op::Leaf\(_\)", r"$", f"\n            | Op::{variant}(_)"),
        function(options, f"crate::primitives::{name}::{variant} {{}}"),
    ]


def words(options: argparse.Namespace) -> dict[str, str]:
    """The values of the placeholders in the templates."""
    return {"name": options.name, "Variant": variant_of(options.name), "doc": options.doc}


NEXT_STEPS = {
    "unary": """\
Now look at: the rows in crates/kernels/elementwise/src/elementwise/unary.rs (`exact1!` calls the
standard library one element at a time; a vectorised function in math/ is faster); the domain and
tolerance of the record in tests/tables/records/elementwise.py; complex numbers, which the new
function refuses.""",
    "composite": """\
Still to write: the decomposition, what files may give it, what it is at other lengths, and the
kernel (the compile errors say where), the options of the op as fields and as parameters of the
function in ops/{group}.rs with its checks and its example, the binding in
umber-python/src/ops/{group}.rs, and a record in tests/tables/records/.""",
    "primitive": """\
Still to write: infer, validate, generalize, vjp, vmap and eval_cpu (the compile errors say where),
its role in fusion, if any, and the other methods with defaults, the parameters of the op as fields
and of the function in ops/{group}.rs with its checks and its example, the binding in
umber-python/src/ops/{group}.rs, and a record in tests/tables/records/.""",
}
KINDS = {"unary": unary, "composite": composite, "primitive": primitive}


def edited(root: Path, edits: list[Edit]) -> dict[str, tuple[str, str]]:
    """The old and new text of every file that the edits change."""
    texts: dict[str, tuple[str, str]] = {}
    for edit in edits:
        path = root / edit.path
        if edit.path not in texts:
            old = path.read_text() if path.exists() else ""
            if not old and not isinstance(edit, Create):
                raise CannotEditError(f"{edit.path} does not exist")
            texts[edit.path] = (old, old)
        old, new = texts[edit.path]
        texts[edit.path] = (old, edit.apply(new))
    return texts


def parse() -> argparse.Namespace:
    """Parse the command-line options."""

    def snake_case(text: str) -> str:
        if not re.fullmatch(r"[a-z][a-z0-9]*(_[a-z0-9]+)*", text):
            raise argparse.ArgumentTypeError(f"{text!r} is not in snake_case")
        return text

    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    kinds = parser.add_subparsers(dest="kind", required=True)
    for kind in KINDS:
        sub = kinds.add_parser(kind, help=KINDS[kind].__doc__)
        sub.add_argument("name", type=snake_case, help="the public name")
        sub.add_argument("--doc", required=True, help="one sentence, with its full stop")
        sub.add_argument("--root", type=Path, default=Path(__file__).resolve().parents[1])
        sub.add_argument("--dry-run", action="store_true", help="print the change, write nothing")
        if kind == "unary":
            sub.add_argument("--kernel", required=True, help="Rust, of x: f32 or f64: 'x.cbrt()'")
            sub.add_argument(
                "--derivative", required=True, help="Rust, of x and y = f(x): 'unary(Cos, x)?'"
            )
            sub.add_argument(
                "--example", required=True, help="of the documentation: '[8.0f32] => f32 [2.0]'"
            )
            sub.add_argument("--numpy", required=True, help="the NumPy function: 'np.cbrt'")
        else:
            sub.add_argument("--group", required=True, help="the file in ops/: 'reductions'")
    return parser.parse_args()


def main() -> int:
    """Edit the tree, or print what would change."""
    options = parse()
    try:
        texts = edited(options.root, KINDS[options.kind](options))
    except CannotEditError as error:
        print(f"[new_op] {error}", file=sys.stderr)
        return 2
    for path, (old, new) in texts.items():
        if options.dry_run:
            sys.stdout.writelines(
                difflib.unified_diff(old.splitlines(True), new.splitlines(True), path, path)
            )
        else:
            (options.root / path).write_text(new)
            print(f"{'edited' if old else 'wrote'} {path}")
    print(NEXT_STEPS[options.kind].format(group=getattr(options, "group", "")))
    return 0


if __name__ == "__main__":
    sys.exit(main())
