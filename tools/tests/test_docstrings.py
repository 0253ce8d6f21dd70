"""docstrings.py on synthetic modules: which docstrings are errors, and which twins differ."""

import enum
import sys
import textwrap
import types

import doc_twins
import docstrings
import pytest

GOOD = """Sum of two numbers.

Parameters
----------
a, b : int
    The numbers.
*rest : int
    More of them.

Returns
-------
int
    The sum.

See Also
--------
other : Something else.
np.sum

Examples
--------
>>> f(1, 2)
3
"""


@pytest.fixture
def module(monkeypatch):
    """An importable module with the functions that tests put into it."""
    synthetic = types.ModuleType("made_up")
    monkeypatch.setitem(sys.modules, "made_up", synthetic)
    return synthetic


def put(module, name, value, documentation):
    value.__doc__ = documentation
    value.__module__ = module.__name__
    setattr(module, name, value)


def add(a: int, b: int, *rest: int) -> int:
    return a + b + sum(rest)


def other() -> None:
    pass


def complaints(module, only="f", returns=None):
    return [
        complaint
        for entry in docstrings.entries([module])
        if entry.name.startswith(f"made_up.{only}")
        for complaint in docstrings.check(entry, returns or {})
    ]


def complaints_on(module, documentation, function=add):
    put(module, "f", types.FunctionType(function.__code__, {}, "f"), documentation)
    module.f.__annotations__ = function.__annotations__
    put(module, "other", other, GOOD)
    return complaints(module)


def without(section):
    """`GOOD` without a section."""
    parts = GOOD.split("\n\n")
    return "\n\n".join(part for part in parts if not part.startswith(section))


def test_a_complete_docstring_passes(module):
    assert complaints_on(module, GOOD) == []


def test_a_function_without_docstring_is_reported(module):
    assert complaints_on(module, None) == ["no docstring"]


@pytest.mark.parametrize(
    ("section", "complaint"),
    [
        ("Parameters", "Parameters lacks a, b, rest"),
        ("Returns", "no section Returns"),
        ("Examples", "no section Examples"),
    ],
)
def test_a_missing_section_is_reported(module, section, complaint):
    assert complaints_on(module, without(section)) == [complaint]


@pytest.mark.parametrize("section", ["See Also"])
def test_other_sections_are_optional(module, section):
    assert complaints_on(module, without(section)) == []


def test_yields_replaces_returns(module):
    assert complaints_on(module, GOOD.replace("Returns\n-------", "Yields\n------")) == []


@pytest.mark.parametrize("annotation", [None, "None", "NoReturn"])
def test_a_function_that_returns_none_needs_no_returns(module, annotation):
    def nothing(a, b, *rest):
        pass

    nothing.__annotations__ = {"return": annotation}
    assert complaints_on(module, without("Returns"), nothing) == []


def test_a_missing_return_annotation_is_reported(module):
    def unknown(a, b, *rest):
        pass

    (complaint,) = complaints_on(module, without("Returns"), unknown)
    assert complaint.startswith("no return annotation")


@pytest.mark.parametrize(
    ("old", "new", "complaint"),
    [
        ("a, b : int", "a : int", "Parameters lacks b"),
        ("a, b : int", "a, b, c : int", "Parameters describes c, which the signature lacks"),
        ("Sum of two numbers.", "Sum of two", "the first line is not a sentence"),
        ("Sum of two numbers.", f"{'Sum' * 40}.", "the summary has 121 characters"),
        ("Sum of two numbers.\n", "Sum of two numbers.\nAnd more.\n", "no blank line after"),
        ("Returns\n-------", "Returns\n------", "the heading Returns is underlined"),
        ("See Also\n--------", "Also\n----", "unknown section 'Also'"),
        ("See Also\n--------", "Raises\n------\n\nReturns\n-------", "two sections Returns"),
        ("Returns\n-------", "Examples\n--------", "two sections Examples"),
        ("other : ", "another : ", "See Also names 'another', which does not exist"),
        ("np.sum", "np.nonesuch", "See Also names 'np.nonesuch', which does not exist"),
        ("np.sum", "See that.", "See Also names 'See that.', which does not exist"),
    ],
)
def test_errors_are_reported(module, old, new, complaint):
    assert any(
        found.startswith(complaint) for found in complaints_on(module, GOOD.replace(old, new))
    )


def test_sections_must_be_in_order(module):
    text = GOOD.replace("Returns\n-------", "Notes\n-----")
    assert "sections out of order: Parameters, Notes, See Also, Examples" in complaints_on(
        module, text
    )


def test_an_alias_is_checked_once(module):
    put(module, "f", other, None)
    module.f_alias = other
    assert complaints(module) == ["no docstring"]


def test_constants_modules_and_private_names_are_not_checked(module):
    module.__all__ = ["f_constant", "f_module", "_f"]
    module.f_constant, module.f_module, module._f = 3, types, other
    assert complaints(module) == []


class Color(enum.Enum):
    """A color."""

    RED = 1


class Wrong(ValueError):
    """Something is wrong."""


class Base:
    """A base class.

    Parameters
    ----------
    size : int
        The size.

    Examples
    --------
    >>> Base(1)
    """

    def __init__(self, size):
        pass

    @property
    def size(self):
        """The size."""

    def __call__(self):
        pass

    def grow(self, by) -> int:
        """Make it larger."""

    @staticmethod
    def make(how) -> None:
        """Make one."""

    @classmethod
    def of(cls, what) -> None:
        """Make another one."""


class _Hidden:
    def shown(self) -> None:
        """Show it.

        Examples
        --------
        >>> 1
        """


class Derived(_Hidden, Base):
    """A derived class.

    Examples
    --------
    >>> Derived(1)
    """

    def grow(self, by) -> int:
        """Make it much larger."""


_Hidden.__module__ = "umber.made_up"


@pytest.mark.parametrize("cls", [Color, Wrong])
def test_a_summary_suffices_for_enumerations_and_exceptions(module, cls):
    put(module, cls.__name__, cls, cls.__doc__)
    assert complaints(module, cls.__name__) == []


def test_the_members_of_a_class_are_checked(module):
    put(module, "Base", Base, Base.__doc__)
    found = {entry.name: docstrings.check(entry, {}) for entry in docstrings.entries([module])}
    grow = ["Parameters lacks by", "no section Returns", "no section Examples"]
    assert found == {
        "made_up.Base": [],
        "made_up.Base.__call__": [],
        "made_up.Base.grow": grow,
        "made_up.Base.make": ["Parameters lacks how", "no section Examples"],
        "made_up.Base.of": ["Parameters lacks what", "no section Examples"],
        "made_up.Base.size": [],
    }


def test_private_bases_count_as_part_of_a_class_and_overrides_need_a_summary(module):
    put(module, "Derived", Derived, Derived.__doc__)
    found = {entry.name: docstrings.check(entry, {}) for entry in docstrings.entries([module])}
    assert found == {
        "made_up.Derived": ["Parameters lacks size"],
        "made_up.Derived.grow": [],
        "made_up.Derived.shown": [],
    }


def test_a_summary_suffices_for_the_conditional_twin_of_a_method(module):
    class Pipeline:
        """Stages.

        Examples
        --------
        >>> Pipeline()
        """

        def cut_if(self, cond: bool) -> int:
            """`cut`, if `cond` is true."""
            return 0

        def other_if(self, cond: bool) -> int:
            """No method other."""
            return 0

        def cut(self) -> int:
            """Cut."""
            return 0

    put(module, "Pipeline", Pipeline, Pipeline.__doc__)
    found = {entry.name: docstrings.check(entry, {}) for entry in docstrings.entries([module])}
    assert found["made_up.Pipeline.cut_if"] == []
    assert found["made_up.Pipeline.cut"] == ["no section Returns", "no section Examples"]
    assert found["made_up.Pipeline.other_if"] != []


def test_return_types_of_a_private_module_are_those_of_the_public_one(tmp_path):
    (tmp_path / "__init__.pyi").write_text("def f() -> array: ...\n")
    (tmp_path / "_data.pyi").write_text("def f() -> None: ...\n")
    assert docstrings.core_returns(tmp_path) == {
        "umber.core.f": "array",
        "umber.data.f": "None",
        "umber.data.core.f": "None",
    }


def test_return_types_are_read_from_stubs():
    stub = "def f(a: int) -> None: ...\nclass C:\n    def g(self) -> array: ...\n"
    assert docstrings.returns_of_stub("umber.core", stub) == {
        "umber.core.f": "None",
        "umber.core.C.g": "array",
    }


def test_an_exception_may_omit_its_sections(module, monkeypatch):
    monkeypatch.setitem(docstrings.EXCEPTIONS, "made_up.f", ({"Examples", "Returns"}, "a reason"))
    assert complaints_on(module, GOOD[: GOOD.index("Returns")]) == []


def test_an_exception_for_an_unknown_name_is_reported(module, monkeypatch):
    monkeypatch.setitem(docstrings.EXCEPTIONS, "made_up.gone", ({"Examples"}, "a reason"))
    shown = []
    assert docstrings.run([module], {}, shown.append) == 1
    assert shown == ["made_up.gone: is in the table of exceptions, but not in the package"]


def test_only_names_with_the_prefix_are_checked(module):
    put(module, "f", add, None)
    put(module, "g", other, None)
    shown = []
    assert docstrings.run([module], {}, shown.append, only="made_up.g") == 1
    assert shown == ["made_up.g: no docstring"]


# Twins -----------------------------------------------------------------------------------------

CORE = """\
macro_rules! inexact_unary {
    ($($(#[$doc:meta])* $name:ident $rest:tt)*) => {$(
        pub fn $name(x: &Array) {}
    )*};
}

/// The sum, of [`Array`]s
/// e.g. of `a.b`. Fails if `x` is empty.
///
/// More.
pub fn sum(x: &Array) -> Result<Array> {}

inexact_unary! {
    /// `exp(x)`, of each element.
    exp Exp: [0.0] => f32 [1.0],
}

/// Another function.
pub fn select(x: &Array) {}

/// Private.
fn hidden() {}
"""
BINDINGS = """\
/// Old words. The dtype
/// is kept.
///
/// Parameters
/// ----------
#[pyfunction(name = "sum")]
#[pyo3(
    signature = (a, /)
)]
fn sum_of(a: Operand) -> PyResult<Made> {
    on(stream, || ops::sum(&a))
}

macro_rules! unary_functions {
    ($($(#[$doc:meta])* $name:ident)*) => {$(
        #[pyfunction]
        fn $name(a: Operand) {}
    )*};
}

unary_functions! {
    register (a, /)
    /// `exp(a)`, of each element.
    exp exp;
}

methods! {
    /// A method of the array.
    sum;
}

/// Choices.
#[pyfunction]
fn select(a: Operand) -> PyResult<Made> {
    on(stream, || ops::select_from(&a))
}

/// Not a function of Python's.
fn hidden() {}
"""


@pytest.fixture
def folders(tmp_path):
    bindings, core = tmp_path / "bindings", tmp_path / "core"
    for folder, text in ((bindings, BINDINGS), (core, CORE)):
        folder.mkdir()
        (folder / "sums.rs").write_text(text)
    return bindings, core


def test_twins_are_found_by_name_and_by_call(folders):
    names = [(item.name, twin.name) for item, twin in doc_twins.twins(*folders)]
    assert names == [("sum_of", "sum"), ("exp", "exp")]


def test_only_sentences_that_differ_are_listed(folders, capsys):
    assert doc_twins.run(*folders, write=False) == 1
    assert capsys.readouterr().out == textwrap.dedent(f"""\
        {folders[0]}/sums.rs:1: sum_of
            Old words.
            The sum, of `Array`s e.g. of `a.b`.
        """)


def test_the_sentence_of_the_twin_replaces_that_of_the_binding(folders):
    assert doc_twins.run(*folders, write=True) == 0
    text = (folders[0] / "sums.rs").read_text()
    assert text == BINDINGS.replace(
        "/// Old words. The dtype\n/// is kept.\n",
        "/// The sum, of `Array`s e.g. of `a.b`.\n///\n/// The dtype is kept.\n",
    )
    assert doc_twins.run(*folders, write=False) == 0


@pytest.mark.parametrize(
    ("text", "first"),
    [
        ("One. Two.", "One."),
        ("``a. b`` of `c. d`. Two.", "``a. b`` of `c. d`."),
        ("Words, e.g. these", "Words, e.g. these"),
    ],
)
def test_the_first_sentence_ends_at_a_period_outside_of_code(text, first):
    assert doc_twins.sentences(text)[0] == first


def test_names_in_backticks_may_differ():
    assert doc_twins.normalized("The sum of ``a``.") == doc_twins.normalized("The sum of [`x`].")


def test_functions_of_submodules_are_distinguished(folders):
    bindings, core = folders
    for folder, text in ((bindings, BINDINGS), (core, CORE.replace("The sum", "A draw"))):
        (folder / "random.rs").write_text(text)
    twins = {(item.path.name, twin.path.name) for item, twin in doc_twins.twins(bindings, core)}
    assert twins == {("sums.rs", "sums.rs"), ("random.rs", "random.rs")}
