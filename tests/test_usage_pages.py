"""Every program on the pages for users runs."""

import re
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).parent.parent / "docs/usage").glob("*.md"))
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_programs_run(page):
    text = page.read_text(encoding="utf-8")
    names = {}
    for block in BLOCK.finditer(text):
        line = text[: block.start()].count("\n") + 1
        exec(compile("\n" * line + block[1], str(page), "exec"), names)
