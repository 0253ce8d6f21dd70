"""The Python examples in docs/usage run, those of a page one after the other."""

import re
from pathlib import Path

import pytest

PAGES = sorted((Path(__file__).parent.parent / "docs/usage").glob("*.md"))
FENCE = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", [pytest.param(page, id=page.stem) for page in PAGES])
def test_page(page):
    names = {}
    for block in FENCE.findall(page.read_text(encoding="utf-8")):
        exec(compile(block, str(page), "exec"), names)
