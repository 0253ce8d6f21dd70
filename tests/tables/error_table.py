"""Bad calls of everything public: one row a way of calling a function with input it must refuse.

Most rows are made from a function's signature: something that is no argument of anything in place
of its required arguments, and for parameters whose names say what they take (an axis, a dtype, a
stream) a value that they cannot take. So a new function has its rows as soon as it is there. What
takes anything, or cannot be called without more, has its row in `ROWS`.

Nothing here runs until a test calls it.
"""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType

import umber.core as mx
import umber.nn as nn
import umber.optimizers as optim
import umber.utils as utils


class Nothing:
    """What no function takes."""

    def __repr__(self) -> str:
        return "Nothing()"


@dataclass(frozen=True)
class BadCall:
    """A call that must be refused."""

    name: str
    """The public name, `linalg.norm`."""
    fault: str
    """Which argument is bad."""
    call: Callable
    """Calls the function with `args` and `kwargs`, in its own way."""
    args: tuple = ()
    kwargs: dict | None = None
    alias_of: str | None = None
    """The function's own name, where it is public under another too."""

    def __str__(self) -> str:
        return f"{self.name}[{self.fault}]"

    def __call__(self):
        return self.call(*self.args, **(self.kwargs or {}))


HOMES: tuple[tuple[str, ModuleType | type], ...] = (
    ("", mx),
    ("random.", mx.random),
    ("linalg.", mx.linalg),
    ("fft.", mx.fft),
    ("fast.", mx.fast),
    ("special.", mx.special),
    ("array.", mx.array),
    ("nn.", nn),
    ("nn.losses.", nn.losses),
    ("nn.init.", nn.init),
    ("optimizers.", optim),
    ("utils.", utils),
)

# What cannot be called with bad input, and why.
EXEMPT = {
    "exceptions are raised, not called": (
        "ArgumentError ArrayIndexError AxisError CopyError DTypeError FileError FileMissingError "
        "FormatError NonFiniteError RangeError"
    ),
    "made by the package only": (
        "ArrayFlags ArrayIterator ArrayAt Stream ThreadLocalStream DeviceType DtypeCategory"
        " FunctionExporter Profile"
    ),
    "take whatever they are given": "nn.Identity PrintOptions",
    "a base class whose arguments subclasses say": "nn.Module",
}

# Bad values by the name of the parameter, in addition to the first argument.
BY_NAME = {
    "axis": 99,
    "dtype": "no such dtype",
    "stream": 3,
    "key": 3,
    "shape": "abc",
    "keepdims": Nothing(),
}


def sample():
    """An array that most functions take."""
    return mx.array([[1.0, 2.0], [3.0, 4.0]])


def identity(x):
    """A function for those that take one."""
    return x


# Calls of what takes anything in the place of its first argument, or is called in its own way.
ROWS: dict[str, Callable] = {
    "eval": lambda: mx.eval(wrong=1),
    "async_eval": lambda: mx.async_eval(wrong=1),
    "get_array_buffer_size": lambda: mx.get_array_buffer_size(mx.arange(3)),
    "optimizers.Optimizer": lambda: optim.Optimizer(3),
    "optimizers.MultiOptimizer": lambda: optim.MultiOptimizer([], []),
    "nn.Sequential": lambda: nn.Sequential(3),
    "nn.average_gradients": lambda: nn.average_gradients({}, group=3),
    "utils.tree_map": lambda: utils.tree_map(3, [1]),
    "utils.tree_flatten": lambda: utils.tree_flatten([1], destination=3),
    "utils.tree_merge": lambda: utils.tree_merge({"a": 1}, {"a": 2}),
}


def public(home: ModuleType | type) -> Iterator[tuple[str, object]]:
    """What a module or class defines for its users and can be called."""
    for name in getattr(home, "__all__", None) or dir(home):
        value = getattr(home, name)
        is_ours = inspect.isclass(home) or (getattr(value, "__module__", "") or "").startswith(
            "umber"
        )
        if not name.startswith("_") and is_ours and callable(value):
            yield name, value


def all_names() -> list[str]:
    """All public names."""
    exempt = {name for names in EXEMPT.values() for name in names.split()}
    return [
        prefix + name
        for prefix, home in HOMES
        for name, _ in public(home)
        if prefix + name not in exempt
    ]


def parameters_of(function: Callable) -> list[inspect.Parameter] | None:
    """The parameters, without the object that a method belongs to; None where they are unknown."""
    try:
        parameters = list(inspect.signature(function).parameters.values())
    except (TypeError, ValueError):
        return None
    return [p for p in parameters if p.name != "self"]


def bound(home: ModuleType | type, name: str) -> Callable:
    """The function; of a class the method of an object that is made for the call.

    Initialisers are called with an array, too: it is their functions that refuse arguments.
    """
    if home is nn.init:
        return lambda *args, **kwargs: getattr(home, name)(*args, **kwargs)(sample())
    if home is mx.array:
        return lambda *args, **kwargs: getattr(sample(), name)(*args, **kwargs)
    return getattr(home, name)


def generated(prefix: str, home: ModuleType | type, name: str) -> Iterator[BadCall]:
    """The rows that follow from a signature."""
    parameters = parameters_of(getattr(home, name))
    if parameters is None:
        return
    full, function = prefix + name, bound(home, name)
    own = getattr(getattr(home, name), "__name__", name)

    def row(fault, *given):
        return BadCall(full, fault, function, *given, alias_of=own)

    required = [
        p
        for p in parameters
        if p.default is p.empty and p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]
    named = [p.name for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    yield row("no such parameter", (), {"no_such_parameter": 1})
    if full not in ROWS:
        if required:
            yield row(required[0].name, tuple(Nothing() for _ in required))
        elif parameters and parameters[0].kind is inspect.Parameter.VAR_POSITIONAL:
            yield row(parameters[0].name, (Nothing(),))
        elif named and named[0] not in BY_NAME:
            yield row(named[0], (), {named[0]: Nothing()})
        elif not parameters:
            yield row("too many", (Nothing(),))
    if not prefix.startswith(("nn", "optimizers", "utils")):
        for parameter in named:
            if parameter in BY_NAME:
                args = tuple(sample() for p in required if p.name != parameter)
                yield row(parameter, args, {parameter: BY_NAME[parameter]})


def all_bad_calls() -> list[BadCall]:
    """All rows."""
    exempt = {name for names in EXEMPT.values() for name in names.split()}
    rows = [BadCall(name, "by hand", call) for name, call in ROWS.items()]
    for prefix, home in HOMES:
        for name, _ in public(home):
            if prefix + name not in exempt:
                rows += generated(prefix, home, name)
    return rows
