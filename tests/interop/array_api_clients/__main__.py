"""Run the programs of one group and print what is wrong with each, or null, as JSON."""

import json
import os
import sys
import traceback
import warnings

os.environ["SCIPY_ARRAY_API"] = "1"

import numpy as np
import umber.array_api as xp
import umber.core as mx

from array_api_clients import complaint, leaves, programs_of

# Of results that went through float64.
EXACT = 1e-9


def outcome(program) -> str | None:
    """What is wrong with a program."""
    try:
        ours = leaves(program(xp, xp.asarray))
        theirs = leaves(program(np, np.asarray))
    except Exception:
        return traceback.format_exc(limit=-4)
    if len(ours) != len(theirs):
        return f"got {len(ours)} results, expected {len(theirs)}"
    exact = getattr(program, "exact", EXACT)
    pairs = zip(ours, theirs, strict=True)
    found = (complaint(one, other, mx.array, exact) for one, other in pairs)
    return next((text for text in found if text), None)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    programs = programs_of(sys.argv[1])
    chosen = sys.argv[2:] or programs
    json.dump({name: outcome(programs[name]) for name in chosen}, sys.stdout)
