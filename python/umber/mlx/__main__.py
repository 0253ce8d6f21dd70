"""Run a program written for MLX on umber, as `python` would run it."""

from __future__ import annotations

import builtins
import importlib.util
import os
import sys
from importlib.machinery import ModuleSpec, PathFinder, SourceFileLoader
from types import CodeType, ModuleType
from typing import NoReturn

from umber.mlx import install

USAGE = """\
usage: python -m umber.mlx PROGRAM [ARGUMENT ...]
       python -m umber.mlx -m MODULE [ARGUMENT ...]
       python -m umber.mlx -c CODE [ARGUMENT ...]

Run a program written for MLX on umber, as python would run it: whatever it imports from mlx is
umber's.

  PROGRAM      a file, a folder or zip archive with a __main__.py, or - for standard input
  -m MODULE    a module or package, by name
  -c CODE      the program itself
  -h, --help   show this and exit
"""


def main(arguments: list[str]) -> None:
    """Run the program that the command line names."""
    first, *rest = arguments or [""]
    if first in ("-h", "--help"):
        print(USAGE, end="")
        return
    option = first[:2]
    if option in ("-c", "-m"):
        value = [first[2:]] if first[2:] else rest[:1]
        if not value:
            _fail(f"argument expected for the {option} option")
        rest = rest if first[2:] else rest[1:]
    elif first == "" or (first[0] == "-" and first != "-"):
        fault = f"unknown option {first}" if first else "no program"
        _fail(f"{fault}, expected PROGRAM, -m MODULE or -c CODE")
    try:
        install()
        if option == "-c":
            _run_text(value[0], "<string>", ["-c", *rest])
        elif option == "-m":
            _run_module(value[0], rest)
        elif first == "-":
            _run_text(sys.stdin.read(), "<stdin>", ["-", *rest])
        else:
            _run_path(first, rest)
    except (Exception, KeyboardInterrupt) as error:
        _hide_own_frames(error)
        raise


def _run_text(text: str, name: str, argv: list[str]) -> None:
    _begin_path_with("")
    sys.argv = argv
    _run(compile(text, name, "exec", dont_inherit=True), _new_main())


def _run_path(path: str, arguments: list[str]) -> None:
    sys.argv = [path, *arguments]
    folder = os.path.abspath(path)
    spec = PathFinder.find_spec("__main__", [folder])
    if spec is not None:
        # A program that is a folder is on the path even in safe-path mode.
        sys.path[: not sys.flags.safe_path] = [folder]
        _run_spec(spec)
        return
    full_path = os.path.join(os.getcwd(), path)
    try:
        with open(full_path, "rb") as file:
            source = file.read()
    except IsADirectoryError:
        _fail(f"cannot find __main__.py in {path}")
    except OSError as error:
        _fail(f"cannot open {path}: {error.strerror}")
    _begin_path_with(os.path.dirname(os.path.realpath(full_path)))
    loader = SourceFileLoader("__main__", full_path)
    code = loader.source_to_code(source, full_path)
    _run(code, _new_main(__loader__=loader, __file__=full_path, __cached__=None))


def _run_module(name: str, arguments: list[str]) -> None:
    if name.startswith("."):
        _fail(f"got a relative module name {name}, expected an absolute one", status=1)
    sys.argv = ["-m", *arguments]
    try:
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations is not None:
            name = f"{name}.__main__"
            spec = importlib.util.find_spec(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise
        spec = None
    if spec is None:
        _fail(f"no module named {name}", status=1)
    sys.argv[0] = spec.origin or name
    _run_spec(spec)


def _run_spec(spec: ModuleSpec) -> None:
    get_code = getattr(spec.loader, "get_code", None)
    code = get_code(spec.name) if get_code else None
    if code is None:
        _fail(f"no code to run in {spec.name}", status=1)
    main = _new_main(
        __spec__=spec,
        __loader__=spec.loader,
        __file__=spec.origin,
        __cached__=spec.cached,
        __package__=spec.parent,
    )
    _run(code, main)


def _begin_path_with(entry: str) -> None:
    if not sys.flags.safe_path:
        sys.path[0] = entry


def _new_main(**attributes: object) -> ModuleType:
    """A fresh `__main__` module, which replaces that of this file."""
    module = ModuleType("__main__")
    vars(module).update(attributes, __builtins__=builtins)
    sys.modules["__main__"] = module
    return module


def _run(code: CodeType, module: ModuleType) -> None:
    exec(code, vars(module))


def _hide_own_frames(error: BaseException) -> None:
    """Remove this module's frames from the traceback of an error that ends the program."""
    frames = error.__traceback__
    while frames is not None and _is_own_file(frames.tb_frame.f_code.co_filename):
        frames = frames.tb_next
    show = sys.excepthook
    sys.excepthook = lambda kind, value, _: show(kind, value.with_traceback(frames), frames)


def _is_own_file(file: str) -> bool:
    return file == __file__ or file.startswith("<frozen importlib")


def _fail(message: str, status: int = 2) -> NoReturn:
    print(f"umber.mlx: error: {message}", file=sys.stderr)
    sys.exit(status)


if __name__ == "__main__":
    main(sys.argv[1:])
