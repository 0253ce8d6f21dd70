"""doc_examples.py: which functions of ops are reported, and at which line."""

import doc_examples
import pytest

EXAMPLE = "/// ```\n/// assert!(true);\n/// ```\n"


def missing_examples(source):
    return list(doc_examples.without_example(source))


def test_a_function_without_example_is_named_with_its_line():
    source = EXAMPLE + "pub fn good() {}\n\n/// Words.\n#[must_use]\npub fn bad() {}\n"
    assert missing_examples(source) == [(8, "bad")]


def test_an_example_of_the_previous_function_does_not_count():
    assert missing_examples(EXAMPLE + "pub fn good() {}\npub fn bad() {}\n") == [(5, "bad")]


@pytest.mark.parametrize("attribute", ["ignore", "no_run", "text"])
def test_an_example_that_does_not_run_does_not_count(attribute):
    assert missing_examples(f"/// ```{attribute}\n/// x\n/// ```\npub fn f() {{}}\n") == [(4, "f")]


@pytest.mark.parametrize("visibility", ["", "pub(crate) ", "pub(super) "])
def test_private_functions_are_not_checked(visibility):
    assert missing_examples(f"/// Words.\n{visibility}fn f() {{}}\n") == []


def test_methods_are_checked():
    assert missing_examples("impl A {\n    /// Words.\n    pub const fn f() {}\n}\n") == [(3, "f")]


TABLE = """
macro_rules! family {
    ($($(#[$doc:meta])* $name:ident),* $(,)?) => {$(
        $(#[$doc])*
        %s
        pub fn $name() {}
    )*};
}

family! {
    /// Words.
    first,
    /// Words.
    /// ```
    /// x
    /// ```
    second,
}
"""


def test_table_rows_are_checked_individually():
    assert missing_examples(TABLE % "/// Words.") == [(12, "first")]


def test_a_macro_may_generate_the_examples():
    assert missing_examples(TABLE % "#[doc = example!($name)]") == []


def test_groups_and_their_table_must_agree(tmp_path):
    (tmp_path / doc_examples.OPS).mkdir(parents=True)
    (tmp_path / doc_examples.OPS / "mod.rs").write_text(
        "//! | [`here`] | |\n//! | [`gone`] | |\n\npub mod here;\npub mod missing;\nmod private;\n"
    )
    complaints = doc_examples.check_groups(tmp_path)
    assert ["missing" in complaints[0], "gone" in complaints[1]] == [True, True]
    assert len(complaints) == 2


def test_complaints_name_the_file(tmp_path):
    folder = tmp_path / doc_examples.OPS / "shaping"
    folder.mkdir(parents=True)
    (folder / "flip.rs").write_text("pub fn flip() {}\n")
    assert doc_examples.check_examples(tmp_path) == [
        "crates/umber-core/src/ops/shaping/flip.rs:1: flip has no example in its documentation"
    ]
