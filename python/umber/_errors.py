"""Error messages of the package's Python functions: `[op] rule that was broken, offending values`.

`guard` wraps the public functions and classes of a module, so that the functions themselves need no
checks of argument types. An error of an inner operation, or an `AttributeError` from an argument of
the wrong type, is raised with the name of the function that the user called and with what that
function expects. Exceptions of the user's own functions are not changed.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable
from functools import cache, wraps
from numbers import Integral, Real
from operator import index
from types import FunctionType
from typing import Any

import umber.core as mx

_HERE = os.path.dirname(os.path.abspath(__file__)) + os.sep
_LAYERS = os.path.join(_HERE, "nn", "layers", "")

# Accepted types by annotation; other annotations are not checked.
_KINDS: dict[str, tuple[Any, ...]] = {
    "int": (Integral, mx.array),
    "float": (Real, mx.array),
    "str": (str,),
    "mx.array": (mx.array, Real, complex),
    "mx.Dtype": (mx.Dtype, str, type),
    "Callable": (Callable,),
    "Sequence": (list, tuple, mx.array),
    "dict": (dict,),
    "Module": (dict,),
}
_DESCRIPTIONS = {
    "int": "an integer",
    "float": "a number",
    "str": "a string",
    "mx.array": "an array",
    "mx.Dtype": "a dtype",
    "Callable": "a function",
    "Sequence": "a sequence",
    "dict": "a dict",
    "Module": "a module",
}
# Kinds that are checked before a constructor runs.
_PLAIN = ("int", "float", "str", "mx.Dtype")
# Return annotations of functions that return functions: arguments of a schedule are checked when it
# is created, those of an initialiser when it is called.
_CHECKED_AT_CREATION = "Schedule"
_CHECKED_AT_CALL = "Initializer"
_ARGUMENT_ERRORS = (TypeError, ValueError, IndexError, OverflowError, RecursionError, OSError)
_INNER_ERRORS = (AttributeError, KeyError, ZeroDivisionError)
# Flags of code objects, of which `inspect` has the names, too.
CO_VARARGS, CO_VARKEYWORDS = 0x04, 0x08
# Python's message for a call that does not fit the signature.
_WRONG_CALL = re.compile(r"\(\) (takes|missing|got (an unexpected|multiple|some)) ")


def guard(namespace: dict[str, Any]) -> None:
    """Wrap the public functions of a module and the public methods of its classes."""
    for name, value in list(namespace.items()):
        if name.startswith("_") or not getattr(value, "__module__", "").startswith("umber."):
            continue
        if isinstance(value, type):
            _guard_class(value)
        elif _is_function(value) and not hasattr(value, "__guarded__"):
            namespace[name] = function = guarded(value, name)
            # Pickles name a function by the module that defines it, and look for it there.
            defining = vars(sys.modules[value.__module__])
            if defining.get(name) is value:
                defining[name] = function


def _is_function(value: Any) -> bool:
    """Whether it is a function, which may be compiled."""
    return isinstance(value, FunctionType) or (callable(value) and hasattr(value, "__wrapped__"))


def guarded(function: Callable, name: str) -> Callable:
    """The function, with errors in the package's form.

    As in MLX, arguments of a schedule are checked when it is created, and those of an initialiser
    when it is called.
    """
    result_type = getattr(function, "__annotations__", {}).get("return")
    if result_type == _CHECKED_AT_CREATION:
        return _guarded_constructor(function, name)
    if result_type == _CHECKED_AT_CALL:
        function = _checked_at_call(function, name)

    @wraps(function)
    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except _ARGUMENT_ERRORS + _INNER_ERRORS as error:
            replacement = _explain(error, name, function, args, kwargs)
            if replacement is None:
                raise
            raise replacement from error

    call.__guarded__ = True  # type: ignore[attr-defined]
    return call


def _guard_class(class_: type) -> None:
    for base in class_.__mro__[1:]:
        init = vars(base).get("__init__")
        is_private = base.__name__.startswith("_") and base.__module__.startswith("umber.")
        if is_private and isinstance(init, FunctionType) and not hasattr(init, "__guarded__"):
            base.__init__ = _guarded_constructor(init, None)  # type: ignore[misc]
    for name, value in list(vars(class_).items()):
        if not isinstance(value, FunctionType) or hasattr(value, "__guarded__"):
            continue
        if name == "__init__":
            class_.__init__ = _guarded_constructor(value, None)  # type: ignore[misc]
        elif not name.startswith("_") and name not in ("init_single", "apply_single"):
            setattr(class_, name, guarded(value, name))


def _guarded_constructor(function: Callable, name: str | None) -> Callable:
    """The function, with plain arguments checked before it runs.

    Numbers of other types are converted to Python's. Flags may be any object; their truth value
    counts. For an `__init__` the name is None, and errors name its class.
    """

    @wraps(function)
    def make(*args: Any, **kwargs: Any) -> Any:
        op = name or type(args[0]).__name__
        parameters = _parameters_of(function)
        args, kwargs = parameters.with_numbers(args, kwargs)
        wrong = _wrong_argument(parameters, args, kwargs, _PLAIN)
        if wrong is not None:
            raise TypeError(f"[{op}] {wrong}")
        try:
            return function(*args, **kwargs)
        except _ARGUMENT_ERRORS + _INNER_ERRORS as error:
            replacement = _explain(error, op, function, args, kwargs)
            if replacement is None:
                raise
            raise replacement from error

    make.__guarded__ = True  # type: ignore[attr-defined]
    return make


def _checked_at_call(function: Callable, name: str) -> Callable:
    """The function, whose result checks the plain arguments of this call when it is called."""

    @wraps(function)
    def make(*args: Any, **kwargs: Any) -> Any:
        parameters = _parameters_of(function)
        args, kwargs = parameters.with_numbers(args, kwargs)
        result = function(*args, **kwargs)
        wrong = _wrong_argument(parameters, args, kwargs, _PLAIN)
        if wrong is None:
            return result

        @wraps(result)
        def refuse(*_: Any, **__: Any) -> Any:
            raise TypeError(f"[{name}] {wrong}")

        return refuse

    return make


class _Parameters:
    """The parameters of a function, read from its code.

    Constructors need them in every program, and `inspect` takes as long to import as all layers.
    """

    def __init__(self, function: Any) -> None:
        while hasattr(function, "__wrapped__"):
            function = function.__wrapped__
        code = function.__code__
        count = code.co_argcount + code.co_kwonlyargcount
        self.positional: tuple[str, ...] = code.co_varnames[: code.co_argcount]
        names = code.co_varnames[:count]
        # Without those that collect several arguments.
        self.annotations = {name: str(function.__annotations__.get(name, "")) for name in names}
        self._kinds = {name: _kind_of(text) for name, text in self.annotations.items()}
        self._by_keyword = {*names[code.co_posonlyargcount :]}
        defaults = len(function.__defaults__ or ())
        self._required = {
            *code.co_varnames[: code.co_argcount - defaults],
            *names[code.co_argcount :],
        }.difference(function.__kwdefaults__ or ())
        self._takes_more = bool(code.co_flags & CO_VARARGS)
        self._takes_keywords = bool(code.co_flags & CO_VARKEYWORDS)

    def bind(self, args: tuple, kwargs: dict[str, Any]) -> dict[str, Any] | None:
        """The arguments of a call by name; None if the call does not fit the signature."""
        arguments = dict(zip(self.positional, args, strict=False))
        keywords = self._by_keyword.intersection(kwargs)
        fits = (
            (self._takes_more or len(args) <= len(self.positional))
            and (self._takes_keywords or len(keywords) == len(kwargs))
            and keywords.isdisjoint(arguments)
            and self._required <= {*arguments, *keywords}
        )
        if not fits:
            return None
        arguments.update({name: kwargs[name] for name in keywords})
        return {name: arguments[name] for name in self.annotations if name in arguments}

    def with_numbers(self, args: tuple, kwargs: dict[str, Any]) -> tuple[tuple, dict[str, Any]]:
        """The arguments of a call, with the numbers among them converted to Python's."""
        kinds = self._kinds
        numbers = [
            _as_number(kinds[key], arg) for key, arg in zip(self.positional, args, strict=False)
        ]
        return (
            (*numbers, *args[len(numbers) :]),
            {key: _as_number(kinds.get(key, ""), arg) for key, arg in kwargs.items()},
        )


_parameters_of = cache(_Parameters)


def _explain(
    error: Exception, name: str, function: Callable, args: tuple, kwargs: dict
) -> Exception | None:
    """Rewrite the error's text, or return the error to raise instead."""
    if not _raised_in_package(error):
        return None
    import inspect

    text = str(error.args[0]) if error.args else ""
    signature, parameters = inspect.signature(function), _parameters_of(function)
    head, bracket, rest = text.partition("] ")
    if text.startswith("[") and bracket:
        takes_functions = any(
            "Callable" in str(p.annotation) for p in signature.parameters.values()
        )
        is_of_other = takes_functions or _raised_in_layer(error)
        if not is_of_other and head[1:].rpartition(".")[2] != name:
            # Name the user's argument rather than that of the inner function.
            wrong = isinstance(error, TypeError) and _wrong_argument(
                parameters, args, kwargs, tuple(_KINDS)
            )
            error.args = (f"[{name}] {wrong or rest}",)
        return None
    if isinstance(error, OSError):
        return None
    if isinstance(error, RecursionError):
        error.args = (
            f"[{name}] lists, tuples, dicts or functions are nested deeper than Python's recursion "
            f"limit of {sys.getrecursionlimit()}, or contain themselves",
        )
        return None
    wrong = _wrong_argument(parameters, args, kwargs, tuple(_KINDS))
    if wrong is not None and not isinstance(error, TypeError):
        return TypeError(f"[{name}] {wrong}")
    wrong = wrong or _wrong_call(signature, args, kwargs, name)
    if wrong is None and _raised_by_argument(error, parameters, args, kwargs):
        return None
    if wrong is None:
        described = ", ".join(_described(arg) for arg in (*args, *kwargs.values()))
        wrong = f"{text or type(error).__name__}: got ({described}), expected {name}{signature}"
    # Foreign classes, such as NumPy's, may build their text from other fields.
    if isinstance(error, _ARGUMENT_ERRORS) and type(error).__str__ in (
        BaseException.__str__,
        OSError.__str__,
    ):
        error.args = (f"[{name}] {wrong}",)
        return None
    kind = TypeError if isinstance(error, (AttributeError, TypeError)) else ValueError
    return kind(f"[{name}] {wrong}")


def _raised_in_package(error: Exception) -> bool:
    """Whether it was raised in this package, with no function of the user in the traceback."""
    trace = error.__traceback__
    ours = []
    while trace is not None:
        ours.append(trace.tb_frame.f_code.co_filename.startswith(_HERE))
        trace = trace.tb_next
    if isinstance(error, RecursionError):
        # Which call exceeded the limit is arbitrary: attribute it to the code with most frames.
        return 2 * sum(ours) > len(ours)
    return bool(ours) and all(ours)


def _raised_in_layer(error: Exception) -> bool:
    """Whether it was raised in the call of a layer, which its text names."""
    trace = error.__traceback__
    while trace is not None:
        code = trace.tb_frame.f_code
        if code.co_name == "__call__" and code.co_filename.startswith(_LAYERS):
            return True
        trace = trace.tb_next
    return False


def _raised_by_argument(
    error: Exception, parameters: _Parameters, args: tuple, kwargs: dict
) -> bool:
    """Whether a function of the user that is not in the traceback raised it.

    Such a function was called with arguments that do not fit, or is not written in Python.
    """
    if isinstance(error, TypeError) and _WRONG_CALL.search(str(error)):
        return True
    from inspect import unwrap

    arguments = parameters.bind(args, kwargs) or {}
    return any(
        callable(value) and not hasattr(unwrap(value), "__code__")
        for name, value in arguments.items()
        if parameters.annotations[name].startswith("Callable")
    )


def _wrong_argument(
    parameters: _Parameters, args: tuple, kwargs: dict, kinds: tuple[str, ...]
) -> str | None:
    """Describe the first argument of one of the `kinds` that does not match its annotation."""
    for name, value in (parameters.bind(args, kwargs) or {}).items():
        is_optional = parameters.annotations[name].endswith(" | None")
        annotation = parameters.annotations[name].removesuffix(" | None")
        kind = _kind_of(annotation)
        if kind not in kinds or (
            annotation.startswith("Callable") and " | " in annotation.rpartition("]")[2]
        ):
            continue
        if value is None and is_optional:
            continue
        is_flag = isinstance(value, bool) and kind in ("int", "float")
        if kind == "mx.array" and _is_like_array(value):
            continue
        if not isinstance(value, _KINDS[kind]) or (is_flag and kind == "int"):
            return f"{name}: got {_described(value)}, expected {_DESCRIPTIONS[kind]}"
    return None


def _kind_of(annotation: str) -> str:
    """The kind of argument that an annotation names."""
    return annotation.removesuffix(" | None").partition("[")[0]


def _as_number(kind: str, value: Any) -> Any:
    """A number as Python's `int` or `float`, by its kind; other values unchanged.

    NumPy arrays with axes become float32 arrays where a number is expected.
    """
    if isinstance(value, mx.array):
        is_integer = kind == "int" and value.ndim == 0 and mx.issubdtype(value.dtype, mx.integer)
        return value.item() if is_integer else value
    if isinstance(value, (str, bytes)):
        return value
    if getattr(value, "ndim", 0) > 0:
        return mx.array(value, mx.float32) if kind == "float" and _is_like_array(value) else value
    if kind == "int" and (isinstance(value, bool) or not isinstance(value, int)):
        return index(value) if hasattr(value, "__index__") else value
    if kind == "float" and not isinstance(value, (int, float)):
        return float(value) if hasattr(value, "__float__") else value
    return value


def _is_like_array(value: Any) -> bool:
    """Whether it is an array or scalar of NumPy, which is accepted wherever arrays are."""
    return getattr(getattr(value, "dtype", None), "kind", "") in ("b", "i", "u", "f", "c")


def _wrong_call(signature: Any, args: tuple, kwargs: dict, name: str) -> str | None:
    """Complaint about the number or the names of arguments."""
    try:
        signature.bind(*args, **kwargs)
    except TypeError as error:
        names = [parameter for parameter in signature.parameters if parameter != "self"]
        # Methods are wrapped as functions, with `self` as an argument.
        count = max(0, len(args) - (len(signature.parameters) - len(names)))
        got = f"{count or 'no'} positional argument{'s' if count > 1 else ''}"
        if kwargs:
            got += " and " + ", ".join(repr(keyword) for keyword in sorted(kwargs))
        return f"{error}: got {got}, expected {name}({', '.join(names)})"
    return None


def _described(value: Any) -> str:
    """A short value, or the type of a long one."""
    if value is None or isinstance(value, (bool, int, float)):
        text = repr(value) if not isinstance(value, int) or value.bit_length() < 100 else "int"
        return text
    if isinstance(value, mx.array):
        return f"an array of shape {value.shape}"
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return f"{type(value).__name__} of {value.dtype}"
    return type(value).__name__
