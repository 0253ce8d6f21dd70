"""Which dtype a result has: MLX's rules, with complex128 beside them.

The lattice says which dtypes lie directly above each dtype; the dtype of two operands is the lowest
one above both. `float` stands between the integers and the floating dtypes: when nothing better is
known it is float32.
"""

LATTICE = """
bool_       < uint8 int8
uint8       < uint16 int16
uint16      < uint32 int32
uint32      < uint64 int64
uint64      < float
int8        < int16
int16       < int32
int32       < int64
int64       < float
float       < float16 bfloat16
float16     < float32
bfloat16    < float32
float32     < float64 complex64
float64     < complex128
complex64   < complex128
complex128  <
"""

# A Python scalar does not widen an array of its own kind; one of a higher kind gives the smallest
# usual dtype.
PYTHON_SCALARS = """
bool     : bool_
int      : bool_ -> int32
float    : bool_ integer -> float32
complex  : bool_ integer float16 bfloat16 float32 -> complex64 ; float64 -> complex128
"""

# The dtype of a result, from the promoted dtype of the operands.
RESULTS = """
same     :
bool     : all -> bool_
int32    : all -> int32
uint32   : all -> uint32
inexact  : bool_ integer -> float32
real     : complex64 -> float32 ; complex128 -> float64
spread   : bool_ integer complex64 -> float32 ; complex128 -> float64
sum      : bool_ int8 int16 -> int32 ; uint8 uint16 -> uint32
shift    : bool_ -> uint8
"""

INTEGERS = {"uint8", "uint16", "uint32", "uint64", "int8", "int16", "int32", "int64"}


def _lattice() -> dict[str, set[str]]:
    """Every dtype with all dtypes above it, itself included."""
    direct = {}
    for line in LATTICE.split("\n"):
        name, _, above = line.partition("<")
        if name.strip():
            direct[name.strip()] = above.split()
    closed: dict[str, set[str]] = {}
    for name in reversed(direct):
        closed[name] = {name}.union(*(closed[upper] for upper in direct[name]))
    return closed


def _rules(text: str) -> dict[str, dict[str, str]]:
    """Lines of `name : from… -> to ; from… -> to`."""
    table = {}
    for line in text.strip().split("\n"):
        name, _, clauses = line.partition(":")
        rule = table.setdefault(name.strip(), {})
        for clause in clauses.split(";"):
            sources, _, target = clause.partition("->")
            for source in sources.split():
                expanded = INTEGERS if source == "integer" else {source}
                rule.update(dict.fromkeys(expanded, target.strip()))
    return table


_ABOVE = _lattice()
_RESULTS = _rules(RESULTS)
_SCALARS = _rules(PYTHON_SCALARS)


def promote(*names: str) -> str:
    """The dtype that arrays of these dtypes meet in."""
    common = set.intersection(*(_ABOVE[name] for name in names))
    lowest = [name for name in common if common <= _ABOVE[name]]
    assert len(lowest) == 1, f"the lattice has no single dtype above {names}"
    return "float32" if lowest[0] == "float" else lowest[0]


def promote_scalar(name: str, scalar: type) -> str:
    """The dtype of an array of this dtype with a Python scalar of this type."""
    return _SCALARS[scalar.__name__].get(name) or name


def result_dtype(rule: str, *names: str) -> str:
    """The result dtype that a rule (or a dtype's own name) gives for these operands."""
    if rule not in _RESULTS:
        return rule
    promoted = promote(*names)
    return _RESULTS[rule].get("all") or _RESULTS[rule].get(promoted, promoted)
