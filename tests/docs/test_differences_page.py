"""The page of differences from MLX says what the table says."""

from differences import PAGE, page


def test_page_is_the_table():
    assert PAGE.read_text(encoding="utf-8") == page(), "run python tools/differences.py"
