"""Notes of exceptions that say which module of a model raised.

The `__call__` of a class whose modules hold other modules is wrapped by a function of the same
signature that has an exception handler. Without an exception it costs one more Python call and
keeps no record: the modules on the way are read from the traceback. Classes without inner modules,
such as most layers, are not wrapped.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import cache, wraps
from types import CodeType, FrameType, FunctionType
from typing import Any

import umber.core as mx
from umber._errors import CO_VARARGS, CO_VARKEYWORDS

# Generated, because a function of `*args` and `**kwargs` would cost ten times as much.
_TEMPLATE = """
def create(_function, _annotate):
    def __call__({parameters}):
        try:
            return _function({arguments})
        except Exception as _error:
            _annotate(_error, {module})
            raise

    return __call__
"""
# Tracebacks show the lines of the template.
_LINE = sys._getframe().f_lineno - _TEMPLATE.count("\n") - 3
_RESERVED = {"_function", "_annotate", "_error"}
# Attribute of an exception: the note, which outer modules replace.
_NOTE = "_module_note"

PathFinder = Callable[[Any, Any], str | None]


def name_modules(class_: type, find_path: PathFinder) -> None:
    """Let exceptions of calls of a class name the inner module that raised.

    Parameters
    ----------
    class_ : type
        The class of a module.
    find_path : callable
        The path of a module in another one; None if it is not in it, or if the second argument is
        not a module.
    """
    owner = next((base for base in class_.__mro__ if "__call__" in vars(base)), None)
    function = vars(owner)["__call__"] if owner else None
    if not isinstance(function, FunctionType) or function.__code__.co_filename == __file__:
        return
    code = function.__code__
    if code.co_argcount and _RESERVED.isdisjoint(code.co_varnames):
        owner.__call__ = _wrapped(function, find_path)  # type: ignore[union-attr]


def _wrapped(function: FunctionType, find_path: PathFinder) -> FunctionType:
    def annotate(error: Exception, module: Any) -> None:
        # A fault in a method such as `_extra_repr` must not hide the exception itself.
        with suppress(Exception):
            _annotate(error, module, find_path)

    call = wraps(function)(_creator(*_signature(function.__code__))(function, annotate))
    call.__defaults__, call.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
    return call


def _signature(code: CodeType) -> tuple[str, str, str]:
    """Parameters without defaults, the arguments that pass them on, and the first one."""
    names = iter(code.co_varnames)
    positional = [next(names) for _ in range(code.co_argcount)]
    keywords = [next(names) for _ in range(code.co_kwonlyargcount)]
    rest = [f"*{next(names)}"] if code.co_flags & CO_VARARGS else []
    others = [f"**{next(names)}"] if code.co_flags & CO_VARKEYWORDS else []
    parameters = [*positional]
    if code.co_posonlyargcount:
        parameters.insert(code.co_posonlyargcount, "/")
    parameters += rest or ["*"] * bool(keywords)
    arguments = [*positional, *rest, *(f"{key}={key}" for key in keywords), *others]
    return ", ".join([*parameters, *keywords, *others]), ", ".join(arguments), positional[0]


@cache
def _creator(parameters: str, arguments: str, module: str) -> Callable:
    text = _TEMPLATE.format(parameters=parameters, arguments=arguments, module=module)
    namespace: dict[str, Any] = {}
    exec(compile("\n" * _LINE + text, __file__, "exec"), namespace)
    return namespace["create"]


def _annotate(error: Exception, module: Any, find_path: PathFinder) -> None:
    _hide_wrappers(error)
    steps: list[str] = []
    current, frame = module, None
    for inner, inner_frame in _calls(error):
        if inner is not current and (path := find_path(current, inner)) is not None:
            steps.append(path)
            current, frame = inner, inner_frame
    if frame is None:
        return
    note = f"in {'.'.join(steps)} of {type(module).__name__}: {_described(current, frame)}"
    notes = getattr(error, "__notes__", [])
    old = getattr(error, _NOTE, None)
    if old in notes:
        notes[notes.index(old)] = note
    else:
        error.add_note(note)
    setattr(error, _NOTE, note)


def _calls(error: Exception) -> Iterator[tuple[Any, FrameType]]:
    """The first argument and the frame of each `__call__` in the traceback, the innermost last."""
    trace = error.__traceback__
    while trace is not None:
        frame = trace.tb_frame
        code = frame.f_code
        # Reading the variables of a wrapper, among them the exception, would create a cycle.
        if code.co_name == "__call__" and code.co_argcount and code.co_filename != __file__:
            yield frame.f_locals.get(code.co_varnames[0]), frame
        trace = trace.tb_next


def _described(module: Any, frame: FrameType) -> str:
    """The repr of a module without inner ones, and the arrays among its parameters."""
    code = frame.f_code
    count = code.co_argcount + code.co_kwonlyargcount
    arrays = [
        f"{name} of shape {value.shape} and dtype {str(value.dtype).rpartition('.')[2]}"
        for name in code.co_varnames[:count]
        if isinstance(value := frame.f_locals.get(name), mx.array)
    ]
    text = f"{type(module).__name__}({module._extra_repr()})"
    return f"{text}, with {', '.join(arrays)}" if arrays else text


def _hide_wrappers(error: Exception) -> None:
    """Remove the wrappers of inner modules from the traceback."""
    trace = error.__traceback__
    while trace is not None:
        while trace.tb_next is not None and trace.tb_next.tb_frame.f_code.co_filename == __file__:
            trace.tb_next = trace.tb_next.tb_next
        trace = trace.tb_next
