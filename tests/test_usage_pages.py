"""Every program on the pages for users runs, those of a page one after the other."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).parent.parent / "docs/usage").glob("*.md"))
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


def program_of(page):
    """The page's programs at the lines where they stand, so that errors name them."""
    text = page.read_text(encoding="utf-8")
    program = ""
    for block in BLOCK.finditer(text):
        line = text[: block.start()].count("\n") + 1
        program += "\n" * (line - program.count("\n")) + block[1]
    return program


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_programs_run(page, tmp_path):
    code = f"exec(compile({program_of(page)!r}, {str(page)!r}, 'exec'), {{}})"
    run = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True)
    assert run.returncode == 0, run.stderr
