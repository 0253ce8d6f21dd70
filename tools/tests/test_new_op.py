"""new_op.py on the real source tree: all lines that it edits are found."""

import shutil
import sys
from pathlib import Path

import new_op
import pytest

ROOT = Path(new_op.__file__).resolve().parents[1]
UNARY = [
    *("unary", "cube_root", "--doc", "The cube root.", "--kernel", "x.cbrt()"),
    *("--derivative", "constant(x, 1.0)", "--numpy", "np.cbrt"),
    *("--example", "[8.0f32] => f32 [2.0]"),
]
COMPOSITE = ["composite", "soft_plus", "--doc", "A soft ramp.", "--group", "elementwise"]
PRIMITIVE = ["primitive", "median_filter", "--doc", "A filter.", "--group", "elementwise"]


@pytest.fixture
def tree(tmp_path):
    """A copy of the files that the tool may edit."""
    for folder in ("crates", "tests/tables/records"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    return tmp_path


@pytest.fixture
def run(monkeypatch, tree):
    """Run the tool on the copy; returns its exit status and the changed files."""

    def texts():
        return {
            path.relative_to(tree).as_posix(): path.read_text()
            for path in tree.rglob("*")
            if path.suffix in (".rs", ".py")
        }

    def run(*arguments):
        before = texts()
        monkeypatch.setattr(sys, "argv", ["new_op.py", *arguments, "--root", str(tree)])
        status = new_op.main()
        return status, {name: text for name, text in texts().items() if text != before.get(name)}

    return run


def test_unary_op_gets_a_row_in_every_table(run):
    status, changed = run(*UNARY)
    assert status == 0
    assert {name.removeprefix("crates/umber-") for name in changed} == {
        "types/src/kinds.rs",
        "core/src/primitives/unary.rs",
        "core/src/ops/elementwise.rs",
        "crates/kernels/elementwise/src/elementwise/unary.rs",
        "crates/kernels/elementwise/src/elementwise/unary_complex.rs",
        "python/src/ops/elementwise.rs",
        "tests/tables/records/elementwise.py",
    }
    kernels = changed["crates/kernels/elementwise/src/elementwise/unary.rs"]
    assert kernels.count("CubeRoot => exact1!(f") == 2
    record = 'smooth("cube_root", np.cbrt, dtypes=REAL, refuses=COMPLEX),'
    assert record in changed["tests/tables/records/elementwise.py"]
    binding = changed["crates/umber-python/src/ops/elementwise.rs"]
    example = ">>> mx.cube_root(mx.array([8]))\n    /// array([2], dtype=float32)"
    assert f"    /// {example}\n    cube_root cube_root,\n}}" in binding


def test_composite_gets_a_file_and_its_rows(run):
    status, changed = run(*COMPOSITE)
    assert status == 0
    folder = "crates/umber-core/src/primitives/composite"
    assert changed[f"{folder}/soft_plus.rs"].startswith("//! SoftPlus: A soft ramp.\n")
    module = changed[f"{folder}/mod.rs"]
    assert "    /// A soft ramp.\n    SoftPlus,\n}\n" in module
    declared = [line for line in module.splitlines() if line.startswith("mod ")]
    assert declared == sorted(declared)
    assert "mod soft_plus;" in declared


def test_primitive_gets_a_file_and_its_rows(run):
    status, changed = run(*PRIMITIVE)
    assert status == 0
    folder = "crates/umber-core/src"
    assert "impl Primitive for MedianFilter {" in changed[f"{folder}/primitives/median_filter.rs"]
    assert "pub mod median_filter;\n" in changed[f"{folder}/primitives/mod.rs"]
    assert "    MedianFilter(median_filter::MedianFilter),\n" in changed[f"{folder}/op.rs"]
    assert "pub fn median_filter(x: &Array)" in changed[f"{folder}/ops/elementwise.rs"]


@pytest.mark.parametrize("arguments", [UNARY, COMPOSITE, PRIMITIVE])
def test_all_placeholders_are_replaced(run, arguments):
    _, changed = run(*arguments)
    assert all("@Variant@" not in text and "@doc@" not in text for text in changed.values())


@pytest.mark.parametrize("arguments", [UNARY, COMPOSITE, PRIMITIVE])
def test_an_existing_op_is_an_error_and_nothing_changes(run, arguments, capsys):
    assert run(*arguments)[0] == 0
    assert run(*arguments) == (2, {})
    assert "already" in capsys.readouterr().err


def test_dry_run_changes_nothing(run, capsys):
    assert run(*UNARY, "--dry-run") == (0, {})
    assert "+    cube_root CubeRoot: [8.0f32] => f32 [2.0],\n" in capsys.readouterr().out


def test_an_unexpected_source_tree_is_an_error_and_not_changed(run, tree, capsys):
    path = tree / "tests/tables/records/elementwise.py"
    path.write_text(path.read_text().replace("UNARY = [", "FUNCTIONS = ["))
    assert run(*UNARY) == (2, {})
    assert "nothing matches" in capsys.readouterr().err


@pytest.mark.parametrize("name", ["CubeRoot", "cube-root", "_x", "x__y", ""])
def test_names_are_snake_case(run, name):
    with pytest.raises(SystemExit):
        run("primitive", name, "--doc", "A.", "--group", "shaping")
