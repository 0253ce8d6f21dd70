"""The output of new_op.py compiles once its compile errors are replaced by bodies.

The test adds an op of each kind to a copy of the workspace and compiles it. The copy and its build
are in target/scaffold, where files are written only if they changed: a clean build takes about a
minute on two cores, an incremental one seconds.
"""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import new_op
import pytest

ROOT = Path(new_op.__file__).resolve().parents[1]
SCAFFOLD = ROOT / "target/scaffold"
COPIED = ("Cargo.toml", "Cargo.lock", "crates", "tests/tables/records")
CORE = "crates/umber-core/src/primitives"
OPS = [
    [
        *("unary", "cube_root", "--doc", "The cube root.", "--kernel", "x.cbrt()"),
        *("--derivative", "constant(x, 1.0)", "--numpy", "np.cbrt"),
        *("--example", "[8.0f32] => f32 [2.0]"),
    ],
    ["composite", "soft_plus", "--doc", "A soft ramp.", "--group", "elementwise"],
    ["primitive", "median_filter", "--doc", "A filter.", "--group", "elementwise"],
]
COPY = "umber_kernels::tape::copy(inputs[0], output);\nOk(())"
# The bodies that replace the compile errors of each file, in order.
BODIES = {
    f"{CORE}/composite/soft_plus.rs": [
        "site.rows()",
        "Some(Generalized::along(*self, change, 0))",
        "Ok(vec![x.clone()])",
        COPY,
    ],
    f"{CORE}/median_filter.rs": [
        "Ok(same_spec(inputs))",
        "site.takes(1)",
        "Some(Generalized::along(self.clone(), change, 0))",
        "Ok(smallvec![Some(cotangents[0].clone())])",
        "Ok(Batched::all([Array::record_one(self.clone(), &[&inputs[0].array])?]))",
        f"task.run_one(|inputs, output| {{\n{COPY}\n}})",
    ],
}


def copy_tracked(to):
    """Copy the tracked files of the workspace."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", *COPIED], cwd=ROOT, check=True, capture_output=True, text=True
    )
    for name in filter(None, listing.stdout.split("\0")):
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(ROOT / name, to / name)


def synchronize(tree, source):
    """Make `tree` equal to `source`; equal files stay untouched for incremental builds."""
    for path in [path for path in tree.rglob("*") if path.is_file()]:
        if not (source / path.relative_to(tree)).is_file():
            path.unlink()
    for path in [path for path in source.rglob("*") if path.is_file()]:
        target = tree / path.relative_to(source)
        if not target.is_file() or target.read_bytes() != path.read_bytes():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)


@pytest.mark.skipif(not shutil.which("cargo"), reason="needs cargo")
def test_scaffolded_ops_compile(monkeypatch, tmp_path):
    copy_tracked(tmp_path)
    for op in OPS:
        monkeypatch.setattr(sys, "argv", ["new_op.py", *op, "--root", str(tmp_path)])
        assert new_op.main() == 0
    for name, bodies in BODIES.items():
        parts = re.split(r'compile_error!\("[^"]*"\)', (tmp_path / name).read_text())
        assert len(parts) == len(bodies) + 1, name
        filled = [part + body for part, body in zip(parts, [*bodies, ""], strict=True)]
        (tmp_path / name).write_text("".join(filled))
    synchronize(SCAFFOLD / "tree", tmp_path)
    checked = subprocess.run(
        ["cargo", "check", "--offline", "--quiet", "-p", "umber-python"],
        cwd=SCAFFOLD / "tree",
        env={
            **os.environ,
            "CARGO_TARGET_DIR": str(SCAFFOLD / "build"),
            "PYO3_PYTHON": sys.executable,
        },
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stderr
