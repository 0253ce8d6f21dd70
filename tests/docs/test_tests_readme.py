"""`tests/README.md` lists every file of tests, in its folder."""

import re
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]


def test_every_file_is_listed():
    rows = re.findall(r"^\|[^|]+\| `(\w+)` \|([^|]+)\|$", (TESTS / "README.md").read_text(), re.M)
    listed = [f"{folder}/test_{name}.py" for folder, row in rows for name in names_in(row)]
    found = [path.relative_to(TESTS).as_posix() for path in TESTS.rglob("test_*.py")]
    assert sorted(listed) == sorted(found)


def names_in(row):
    return re.findall(r"`(\w+)`", row)
