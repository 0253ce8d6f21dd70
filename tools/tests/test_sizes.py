"""sizes.py: which files are listed, which are errors, and which are exempt."""

import pytest
import sizes


def survey_file(root, name, lines, head=""):
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join([head, *["x"] * (lines - 1)]))
    return sizes.survey([path], root)


def test_short_file_is_not_listed(tmp_path):
    assert survey_file(tmp_path, "a.rs", 300) == ([], [])


def test_long_file_is_listed_but_passes(tmp_path):
    listed, complaints = survey_file(tmp_path, "a.py", 600)
    assert listed == ["   600 a.py"]
    assert complaints == []


@pytest.mark.parametrize("head", ["", "//! About many things", "//! One subject:"])
def test_very_long_file_needs_a_reason(tmp_path, head):
    _, complaints = survey_file(tmp_path, "a.rs", 601, head)
    assert len(complaints) == 1
    assert "a.rs has 601 lines" in complaints[0]


@pytest.mark.parametrize("head", ["//! One subject: a lexer.", "# One subject: a lexer."])
def test_reason_in_the_first_lines_is_accepted(tmp_path, head):
    listed, complaints = survey_file(tmp_path, "a.rs", 601, head)
    assert len(listed) == 1
    assert complaints == []


@pytest.mark.parametrize(
    "name",
    [
        "tests/ops/test_op_values.py",
        "crates/a/tests/reduce.rs",
        "crates/a/src/tests.rs",
        "op_table.py",
        "a.md",
    ],
)
def test_tests_tables_and_texts_are_exempt(tmp_path, name):
    assert survey_file(tmp_path, name, 5000) == ([], [])


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("a.rs", "    /// What it does.\n" * 700 + "fn f() {}\n" * 200),
        (
            "a.py",
            'def f():\n    """Compute.\n' + "    More.\n" * 700 + '    """\n' + "x = 1\n" * 200,
        ),
    ],
)
def test_documentation_is_not_counted(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    assert sizes.survey([path], tmp_path) == ([], [])


def test_longest_comes_first(tmp_path):
    for name, lines in [("a.rs", 301), ("b.rs", 400)]:
        (tmp_path / name).write_text("x\n" * lines)
    listed, _ = sizes.survey(sorted(tmp_path.iterdir()), tmp_path)
    assert listed == ["   400 b.rs", "   301 a.rs"]


RUST = """
/// fn in_a_comment() {
fn short() -> [u8; 3] { [0; 3] }
trait T { fn declared(&self); }
impl T for X {
    fn long(&self) {
        let s = "}";
        if true { }
%s
    }
}
"""


@pytest.mark.parametrize(("filler", "expected"), [(56, []), (57, ["    61 a.rs:6 long"])])
def test_long_rust_functions_are_listed(tmp_path, filler, expected):
    path = tmp_path / "a.rs"
    path.write_text(RUST % "\n".join(["        x;"] * filler))
    assert sizes.long_functions([path], tmp_path) == expected


@pytest.mark.parametrize(("filler", "expected"), [(59, []), (60, ["    61 a.py:2 f"])])
def test_long_python_functions_are_listed(tmp_path, filler, expected):
    path = tmp_path / "a.py"
    path.write_text("\ndef f():\n" + "    pass\n" * filler)
    assert sizes.long_functions([path], tmp_path) == expected
