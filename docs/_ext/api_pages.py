"""Write the API reference: one page a group of functions, from the installed package.

A function of `umber.core` belongs to the file of the bindings that defines it, so groups are never
listed by hand. `PAGES` only orders files and gives several of them a common title; a file that it
does not name gets a page of its own, titled by the first line of the file. A public name that no
file defines is a warning, hence an error of `make docs`.
"""

from __future__ import annotations

import importlib
import re
import sys
import types
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import umber.core as mx
from sphinx.application import Sphinx
from sphinx.domains.python import PyObject
from sphinx.util import logging
from umber import array_api, data, nn, optimizers, utils
from umber import mlx as umber_mlx

BINDINGS = Path(__file__).resolve().parents[2] / "crates/umber-python/src"
CONTROL_FLOW = "transforms/control_flow"
log = logging.getLogger(__name__)

# Page, title, files of the bindings without `.rs`. Dtypes, constants and exceptions are found by
# their type.
PAGES = [
    ("array", "The array class", "array indexing interop/memory_layout"),
    ("dtypes", "Data types", "dtype ops/types"),
    ("creation", "Array creation", "ops/creation ops/windows interop/import interop/dlpack/import"),
    ("manipulation", "Array manipulation", "ops/shaping ops/stacking ops/insert_delete"),
    ("elementwise", "Elementwise functions", "ops/elementwise"),
    ("numeric_functions", "Special functions and parts of numbers", "ops/numeric_functions"),
    ("reductions", "Reductions and scans", "ops/reductions ops/masked_reductions"),
    ("nan_reductions", "Reductions that ignore NaN", "ops/nan_reductions"),
    ("statistics", "Statistics", "ops/statistics ops/quantiles ops/histograms"),
    ("sorting", "Sorting and searching", "ops/sorting ops/searching"),
    ("sets", "Set operations", "ops/sets"),
    ("indexing", "Indexing functions", "ops/indexing ops/index_grids ops/selecting"),
    ("products", "Matrix and tensor products", "ops/contraction ops/linalg/mod"),
    ("convolution", "Convolution", "ops/convolution"),
    ("quantization", "Quantisation", "ops/quantization"),
    ("polynomials", "Polynomials", "ops/polynomials"),
    ("interpolation", "Interpolation and numerical derivatives", "ops/interpolation"),
    ("bits", "Bit packing", "ops/bits"),
    ("callables", "Functions that call a Python function", "ops/callables"),
    ("aliases", "Aliases", "ops/aliases"),
    ("evaluation", "Evaluation", "transforms/eval"),
    (
        "derivatives",
        "Derivatives",
        "transforms/grad transforms/jacobian transforms/custom transforms/implicit"
        " transforms/callback",
    ),
    ("vmap", "Vectorisation", "transforms/vmap transforms/vectorize"),
    ("compile", "Compilation", "transforms/compile"),
    (
        "control_flow",
        "Control flow",
        "transforms/control_flow/loops transforms/control_flow/associative_scan"
        " transforms/control_flow/branches",
    ),
    ("export", "Functions in files and graphs", "transforms/export"),
    ("io", "Array files", "io/load io/save"),
    ("sharing", "Memory sharing", "interop/export array_like namespace"),
    ("memory", "Memory", "memory"),
    ("devices", "Devices and streams", "streams"),
    ("printing", "Printing", "printing"),
]
SUBMODULES = {
    "fast": "Fused operations",
    "fft": "Fourier transforms",
    "linalg": "Linear algebra",
    "random": "Random numbers",
    "special": "Special functions",
}
LAYERS = "umber.nn.layers."
# The modules of `umber.data`.
DATA = {
    "core": "Vocabularies, fetchers, seeds",
    "tokenizer_helpers": "Vocabularies of files",
    "datasets": "Data sets",
    "features": "Features of sound",
}

FUNCTION = re.compile(r"wrap_pyfunction!\((?:\w+::)*(\w+)")
NAMED = re.compile(r'#\[(?:pyo3|pyfunction|pyclass)\([^\]]*?\bname = "(\w+)"')
CLASS = re.compile(r"#\[pyclass[^;{]*?\b(?:struct|enum) (\w+)")
TABLE = re.compile(r"^\w+! \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^    (\w+)(?: (?:=> )?(\w+))?", re.MULTILINE)
ADDED = re.compile(r'\bmodule\.add\("(\w+)"')
QUOTED = re.compile(r'"(\w+)"')


class Page(NamedTuple):
    """A page of the reference: where it is, its title and the lines below."""

    name: str
    title: str
    lines: list[str]


def public(module: types.ModuleType | type) -> list[str]:
    """The public names of a module or class in alphabetical order."""
    return sorted(name for name in dir(module) if not name.startswith("_"))


def mentions(source: str, in_submodule: bool) -> Iterator[tuple[int, str]]:
    """Names that a file of the bindings may define, with a rank: 0 is certain, 2 is a guess."""
    if in_submodule:
        yield from ((2, name) for name in ADDED.findall(source))
        return
    for pattern in (FUNCTION, NAMED, CLASS):
        yield from ((0, name) for name in pattern.findall(source))
    for table in TABLE.findall(source):
        for first, second in ROW.findall(table):
            yield from ((1, first), (2, second))
    yield from ((2, name) for name in QUOTED.findall(source))


def files_of(names: Iterable[str]) -> dict[str, str]:
    """The file of the bindings that defines each of the names, without its suffix."""
    best: dict[str, tuple[int, str]] = {}
    for file in sorted(BINDINGS.rglob("*.rs")):
        stem = file.relative_to(BINDINGS).with_suffix("").as_posix()
        if stem.startswith("data/"):
            continue  # of umber.data, with names that umber.core has too
        in_submodule = bool(set(Path(stem).parts) & SUBMODULES.keys())
        for rank, name in mentions(file.read_text(encoding="utf-8"), in_submodule):
            best[name] = min(best.get(name, (3, "")), (rank, stem))
    return {name: best[name][1] for name in names if name in best}


def head_of(stem: str) -> str:
    """The first line of a file of the bindings, as a title."""
    first = (BINDINGS / f"{stem}.rs").read_text(encoding="utf-8").partition("\n")[0]
    return first.removeprefix("//!").strip().rstrip(".")


def heading(title: str, mark: str = "=") -> list[str]:
    """A heading in reStructuredText."""
    return [title, mark * len(title), ""]


def table(names: Iterable[str]) -> list[str]:
    """A table of names and their summaries."""
    return [".. autosummary::", "   :nosignatures:", "", *(f"   ~{name}" for name in names), ""]


def entry(value: Any, name: str) -> list[str]:
    """The documentation of one public name."""
    if isinstance(value, type) and issubclass(value, BaseException):
        return [f".. autoexception:: {name}", "   :show-inheritance:", ""]
    if isinstance(value, type):
        # What these bases have is on their own entries.
        bases = "object, dict, Module, Optimizer"
        return [f".. autoclass:: {name}", "   :members:", f"   :inherited-members: {bases}", ""]
    if callable(value):
        return [f".. autofunction:: {name}", ""]
    return [f".. autodata:: {name}", "   :no-value:", ""]


def entries(module: types.ModuleType, names: list[str]) -> list[str]:
    """A table of names of a module, then each name."""
    full = {name: f"{module.__name__}.{name}" for name in names}
    lines = [*table(full.values()), f".. currentmodule:: {module.__name__}", ""]
    for name in names:
        lines += entry(getattr(module, name), full[name])
    return lines


def is_exception(value: Any) -> bool:
    """Whether the value is a class of exceptions."""
    return isinstance(value, type) and issubclass(value, BaseException)


def dtype_rows(names: list[str]) -> list[str]:
    """A table of the dtypes, by kind and size."""
    dtypes = {name: getattr(mx, name) for name in names}
    names = sorted(names, key=lambda name: ("buifc".find(dtypes[name].kind), dtypes[name].size))
    lines = [".. list-table::", "   :header-rows: 1", "", "   * - dtype", "     - bytes"]
    for name in names:
        lines += [f"   * - .. py:data:: umber.core.{name}", f"     - {dtypes[name].size}"]
    return [*lines, ""]


def member_entries(title: str, kind: str, names: list[str]) -> list[str]:
    """A section of members of a class: a table, then each."""
    lines = [*heading(title, "-"), *table(names)]
    for name in names:
        lines += [f".. {kind}:: {name}", ""]
    return lines


def array_page(names: list[str]) -> list[str]:
    """The array class, its attributes and methods, and the classes beside it."""
    members = public(mx.array)
    attributes = [name for name in members if not callable(getattr(mx.array, name))]
    methods = [name for name in members if name not in attributes]
    lines = [".. autoclass:: umber.core.array", ""]
    for title, kind, group in (
        ("Attributes", "autoattribute", attributes),
        ("Methods", "automethod", methods),
    ):
        lines += member_entries(title, kind, [f"umber.core.array.{name}" for name in group])
    others = [name for name in names if name != "array"]
    return [*lines, *heading("Related classes", "-"), *entries(mx, others)]


def core_pages() -> Iterator[Page]:
    """The pages of `umber.core`."""
    names = [name for name in public(mx) if not isinstance(getattr(mx, name), types.ModuleType)]
    values = {name: getattr(mx, name) for name in names}
    exceptions = [name for name in names if is_exception(values[name])]
    dtypes = [name for name in names if isinstance(values[name], mx.Dtype)]
    categories = [name for name in names if isinstance(values[name], mx.DtypeCategory)]
    constants = [
        name
        for name in names
        if name not in dtypes + categories
        and not (isinstance(values[name], type) or callable(values[name]))
    ]
    rest = [name for name in names if name not in {*exceptions, *dtypes, *categories, *constants}]
    files = files_of(rest)
    for name in sorted(set(rest) - files.keys()):
        log.warning("umber.core.%s is defined by no file of the bindings", name, type="api")
    listed = {stem for _, _, stems in PAGES for stem in stems.split()}
    own = sorted(set(files.values()) - listed)
    for page, title, stems in [
        *PAGES,
        *((stem.replace("/", "_"), head_of(stem), stem) for stem in own),
    ]:
        group = [name for name in rest if files.get(name) in stems.split()]
        if page == "array":
            lines = array_page(group)
        elif page == "dtypes":
            full = [f"umber.core.{name}" for name in categories]
            lines = [
                *dtype_rows(dtypes),
                *heading("Categories", "-"),
                *(line for name in full for line in entry(None, name)),
                *heading("Classes and functions", "-"),
                *entries(mx, group),
            ]
        else:
            lines = entries(mx, group)
        if group:
            yield Page(f"core/{page}", title, lines)
    yield Page("core/constants", "Constants", entries(mx, constants))
    yield Page("core/exceptions", "Exceptions", entries(mx, exceptions))
    for name, title in SUBMODULES.items():
        module = getattr(mx, name)
        title = f"{title} (umber.core.{name})"
        yield Page(f"core/{name}", title, entries(module, public(module)))


def own_names(module: types.ModuleType) -> list[str]:
    """The functions and classes that a module or its private parts define."""
    names = getattr(module, "__all__", None) or public(module)
    return sorted(
        name
        for name in names
        if not isinstance(getattr(module, name), types.ModuleType)
        and getattr(getattr(module, name), "__module__", "").startswith("umber")
    )


def first_line(module: str) -> str:
    """The first line of a module's documentation without its full stop."""
    return (sys.modules[module].__doc__ or module).partition("\n")[0].rstrip(".:")


def nn_pages() -> Iterator[Page]:
    """The pages of `umber.nn`: one a file of layers, then initialisers, losses and functions."""
    groups: dict[str, list[str]] = {}
    for name in own_names(nn):
        groups.setdefault(getattr(nn, name).__module__, []).append(name)
    for module, names in sorted(groups.items()):
        stem = module.rpartition(".")[2]
        title = stem.replace("_", " ").capitalize()
        if module.startswith(LAYERS):
            lines = [f"{first_line(module)}.", "", *entries(nn, names)]
            yield Page(f"nn/{stem}", title if stem != "base" else "Module", lines)
    yield Page("nn/losses", "Losses", entries(nn.losses, own_names(nn.losses)))
    yield Page("nn/init", "Initialisers", entries(nn.init, own_names(nn.init)))
    yield Page("nn/functions", "Functions of modules", entries(nn.utils, own_names(nn.utils)))


def pipeline_page(name: str) -> list[str]:
    """`Buffer` or `Stream`: its methods, then those that depend on a condition."""
    full = [f"umber.data.{name}.{method}" for method in public(getattr(data, name))]
    twins = [method for method in full if method.endswith("_if")]
    plain = [method for method in full if method not in twins]
    return [
        *(f".. autoclass:: umber.data.{name}", ""),
        *member_entries("Methods", "automethod", plain),
        *member_entries("Conditional methods", "automethod", twins),
    ]


def data_pages() -> Iterator[Page]:
    """The pages of `umber.data`: the two classes, functions, exceptions, and its modules."""
    names = own_names(data)
    exceptions = [name for name in names if is_exception(getattr(data, name))]
    classes = ["Buffer", "Stream"]
    functions = [name for name in names if name not in {*exceptions, *classes}]
    for name in classes:
        yield Page(f"data/{name.lower()}", name, pipeline_page(name))
    yield Page("data/functions", "Sources and combinations", entries(data, functions))
    yield Page("data/exceptions", "Exceptions of pipelines", entries(data, exceptions))
    for name, title in DATA.items():
        module = importlib.import_module(f"umber.data.{name}")
        title = f"{title} (umber.data.{name})"
        yield Page(f"data/{name}", title, entries(module, own_names(module)))


def array_api_page() -> list[str]:
    """The standard's namespace: what differs from `umber.core`, then what is the same."""
    lines = [
        "Functions whose results or parameters differ from those of ``umber.core``:",
        "",
    ]
    own = [
        name
        for name in public(array_api)
        if getattr(getattr(array_api, name), "__module__", "").startswith("umber.array_api")
    ]
    lines += entries(array_api, own)
    for module, core in (
        (array_api, mx),
        (array_api.linalg, mx.linalg),
        (array_api.fft, mx.fft),
    ):
        same = [
            name
            for name in public(module)
            if name not in own and callable(getattr(module, name)) and name not in ("bool",)
        ]
        where = [mx if not hasattr(core, name) else core for name in same]
        links = [
            f":py:obj:`{name} <{home.__name__}.{name}>`"
            for name, home in zip(same, where, strict=True)
            if not isinstance(getattr(module, name), mx.Dtype)
        ]
        lines += [f"Of ``{module.__name__}``, as in ``{core.__name__}``: {', '.join(links)}.", ""]
    return lines


def pages() -> Iterator[Page]:
    """All pages of the reference."""
    yield from core_pages()
    yield from nn_pages()
    yield from data_pages()
    yield Page("optimizers", "umber.optimizers", entries(optimizers, own_names(optimizers)))
    yield Page("utils", "umber.utils", entries(utils, own_names(utils)))
    yield Page("array_api", "umber.array_api", array_api_page())
    yield Page("mlx", "umber.mlx", entries(umber_mlx, own_names(umber_mlx)))


def index(title: str, names: Iterable[str], text: str) -> str:
    """A page that lists others."""
    listed = [f"   {name}" for name in names]
    return "\n".join(
        [*heading(title), text, "", ".. toctree::", "   :maxdepth: 1", "", *listed, ""]
    )


def write(folder: Path) -> None:
    """Write the pages that changed, and remove those that are no more."""
    made = {}
    for page in pages():
        made[folder / f"{page.name}.rst"] = "\n".join([*heading(page.title), *page.lines])
    core = [f"core/{page}" for page, _, _ in PAGES]
    found = [path.relative_to(folder).with_suffix("").as_posix() for path in made]
    ordered = [name for name in [*core, *found] if name in found]
    for key, title, text in (
        ("core", "umber.core", "Arrays and the functions on them; usually imported as ``mx``."),
        ("nn", "umber.nn", "Modules, layers, losses and initialisers."),
        ("data", "umber.data", "Pipelines of samples; usually imported as ``dx``."),
    ):
        names = dict.fromkeys(name for name in ordered if name.startswith(f"{key}/"))
        made[folder / f"{key}.rst"] = index(title, names, text)
    tops = ["core", "nn", "data", "optimizers", "utils", "array_api", "mlx"]
    made[folder / "index.rst"] = index("API reference", tops, "Generated from the docstrings.")
    for old in set(folder.rglob("*.rst")) - made.keys():
        old.unlink()
    for path, text in made.items():
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def setup(app: Sphinx) -> dict[str, Any]:
    """Write the pages before Sphinx looks for sources."""
    for field in PyObject.doc_field_types:
        if field.name == "variable":
            field.label = "Attributes"
    write(Path(app.srcdir) / "api")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
