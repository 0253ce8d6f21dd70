"""Names of MLX's core API that umber does not have yet, or not right yet.

The lists only shrink: whoever adds a name takes it out (`test_core_mlx.py` fails until then).
"""

EXPECTED = set(
    """
    """.split()
)

# Known to differ without being meant to: what is wrong.
WRONG: dict[str, str] = {}
