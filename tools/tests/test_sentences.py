"""sentences.py: what counts as a sentence, and its line."""

import re

import sentences

MARKDOWN = """# Heading of three words

One sentence of a text, e.g. [a link](target.md), continues
on the next line. Another one follows!

- First item of a list
- Second item, which
  has two lines

| cell of a table | other |
```python
code = "is not a sentence"
```
Too short.

[target]: https://example.com/of/a/link
"""


def test_sentences_of_markdown():
    assert list(sentences.sentences_of(MARKDOWN)) == [
        (3, "One sentence of a text, e.g. a link, continues on the next line."),
        (4, "Another one follows!"),
        (6, "First item of a list"),
        (7, "Second item, which has two lines"),
    ]


PYTHON = '''"""A module with a docstring."""


def f(x):
    """Return the argument unchanged.

    Parameters
    ----------
    x : any type at all
        Value that is returned
        in two lines.

    See Also
    --------
    first, mx.second, third

    Examples
    --------
    >>> f("one two three")
    one two three
    """
    # A comment of two
    # lines.
    if x == "not a # comment":
        raise ValueError(f"[f] got {x!r}, expected another" + "one")  # after some code
    raise KeyError("a plain string") from None
'''


def test_sentences_of_docstrings():
    assert list(sentences.of_docstrings(PYTHON)) == [
        (1, "A module with a docstring."),
        (5, "Return the argument unchanged."),
        (10, "Value that is returned in two lines."),
    ]


def test_comments_of_python():
    assert list(sentences.of_comments(sentences.PYTHON_NOISE, PYTHON)) == [
        (22, "A comment of two lines."),
        (25, "after some code"),
    ]


def test_errors_of_python():
    assert sorted(sentences.of_python_errors(PYTHON)) == [
        (25, "[f] got {x!r}, expected another"),
        (26, "a plain string"),
    ]


RUST = """//! Head of a module.

/// Return the argument. Fails for
/// negative numbers.
fn f(x: i64) -> Result<i64> {
    let text = "// not a comment";
    ensure!(x >= 0, Value(op("f")), "x must not be negative, \\
        got {x}");
    log("not an error message");
    Err(PyValueError::new_err(format!("[f] got ({text}, {}", "word")))
}

#[cfg(test)]
mod tests {
    // A comment of a test.
}
"""


def test_comments_of_rust():
    source = sentences.blank(sentences.RUST_TESTS, RUST)
    assert list(sentences.of_comments(sentences.NOISE, source)) == [
        (1, "Head of a module."),
        (3, "Return the argument."),
        (3, "Fails for negative numbers."),
    ]


def test_errors_of_rust():
    assert list(sentences.of_rust_errors(RUST)) == [
        (7, "x must not be negative, got {x}"),
        (10, "[f] got ({text}, {}"),
    ]


def test_every_source_has_sentences_with_file_and_line(tmp_path, monkeypatch):
    texts = {"README.md": MARKDOWN, "python/a.py": PYTHON, "crates/a.rs": RUST}
    for name, text in {**texts, "crates/tests/b.rs": RUST, "tools/b.py": PYTHON}.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(sentences, "tracked", lambda root: sorted(root.rglob("*.*")))
    for source in sentences.SOURCES:
        found = sentences.collect(tmp_path, source)
        assert found
        assert all(re.match(rf"({'|'.join(texts)}):\d+: \S", line) for line in found)
