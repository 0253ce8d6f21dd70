"""`python -m umber.mlx` runs a program as `python` does."""

import os
import signal
import subprocess
import sys
import zipfile

import pytest

WHERE = """\
import sys
import mlx.core as mx
print(sys.argv, sys.path[0], __name__, __package__, __spec__ and __spec__.name, __file__)
print(sys.modules["__main__"].mx is mx, sorted({*vars()} - {"__annotations__"}))
"""


def python(*arguments, folder, text=None, options=()):
    return subprocess.run(
        [sys.executable, *options, *arguments],
        cwd=folder,
        input=text,
        capture_output=True,
        text=True,
        timeout=120,
    )


def umber(*arguments, folder, **options):
    """Run with umber; the folder is free of bytecode, so that runs can be compared."""
    return python("-m", "umber.mlx", *arguments, folder=folder, **options)


def plain(program):
    """The program without its import of MLX."""
    return program.replace("import mlx.core as mx", "import math as mx")


@pytest.fixture
def folder(tmp_path):
    """The same programs under three names, with MLX in `umber` and without in `plain`."""
    for name, text in {"umber": WHERE, "plain": plain(WHERE)}.items():
        place = tmp_path / name / "place"
        (place / "package").mkdir(parents=True)
        for file in ("program.py", "__main__.py", "package/__main__.py", "package/part.py"):
            (place / file).write_text(text)
        (place / "package/__init__.py").touch()
        with zipfile.ZipFile(place / "archive.zip", "w") as archive:
            archive.writestr("__main__.py", text)
        (place / "link.py").symlink_to("package/part.py")
    return tmp_path


FORMS = [
    ["program.py", "a", "-b", "--help"],
    ["./package/part.py"],
    ["link.py", "-m"],
    ["package"],
    [".", "x"],
    ["archive.zip", "y"],
    ["-m", "package", "-c", "z"],
    ["-m", "package.part"],
    ["-mprogram"],
]


@pytest.mark.parametrize("form", FORMS, ids=" ".join)
@pytest.mark.parametrize("options", [(), ("-P",)], ids=["plain", "safe path"])
def test_program_sees_what_python_shows(form, options, folder):
    if options and form[0].startswith("-m"):
        form = ["-m", "json.tool", "--help"]
    ours = umber(*form, folder=folder / "umber" / "place", options=options)
    theirs = python(*form, folder=folder / "plain" / "place", options=options)
    assert (ours.returncode, ours.stderr) == (0, "")
    assert ours.stdout == theirs.stdout.replace(str(folder / "plain"), str(folder / "umber"))


@pytest.mark.parametrize("form", [["-c", "CODE", "a", "-m"], ["-cCODE"], ["-", "b"]], ids=" ".join)
def test_program_as_text(form, tmp_path):
    text = "import sys, mlx.core\nprint(sys.argv, repr(sys.path[0]), __name__)"
    form = [part.replace("CODE", text) for part in form]
    ours = umber(*form, folder=tmp_path, text=text)
    theirs = python(*(part.replace("mlx.core", "math") for part in form), folder=tmp_path,
                    text=text.replace("mlx.core", "math"))  # fmt: skip
    assert (ours.returncode, ours.stderr) == (0, "")
    assert ours.stdout == theirs.stdout


ENDINGS = {
    "status": "import sys; sys.exit(7)",
    "message": "raise SystemExit('no more')",
    "error": "def f():\n    raise ValueError('here')\nf()",
    "chain": "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n    raise KeyError('x') from e",
    "missing": "import no_such_module",
    "syntax": "x = (\n",
    "interrupt": "raise KeyboardInterrupt",
    "own hook": "import sys\nsys.excepthook = lambda k, v, t: print(k, t.tb_lineno)\n1 / 0",
    "at exit": "import atexit\nname = 5\natexit.register(lambda: print(name))\n1 / 0",
    "thread": "import threading\nt = threading.Thread(target=lambda: 1 / 0, name='t')\nt.start()",
}


@pytest.mark.parametrize("ending", ENDINGS)
def test_program_ends_as_with_python(ending, tmp_path):
    (tmp_path / "program.py").write_text(ENDINGS[ending])
    ours = umber("program.py", folder=tmp_path)
    theirs = python("program.py", folder=tmp_path)
    assert ours.stderr.splitlines() == theirs.stderr.splitlines()
    assert (ours.returncode, ours.stdout) == (theirs.returncode, theirs.stdout)
    if ending == "interrupt":
        assert ours.returncode == -signal.SIGINT


def test_help(tmp_path):
    for option in ("-h", "--help"):
        result = umber(option, folder=tmp_path)
        assert (result.returncode, result.stderr) == (0, "")
        assert result.stdout.startswith("usage: python -m umber.mlx PROGRAM")


REFUSED = {
    "": (2, "no program, expected PROGRAM, -m MODULE or -c CODE"),
    "-x": (2, "unknown option -x, expected PROGRAM, -m MODULE or -c CODE"),
    "--nope program.py": (2, "unknown option --nope, expected PROGRAM, -m MODULE or -c CODE"),
    "-m": (2, "argument expected for the -m option"),
    "-c": (2, "argument expected for the -c option"),
    "nothing.py": (2, "cannot open nothing.py: No such file or directory"),
    ".": (2, "cannot find __main__.py in ."),
    "-m nothing": (1, "no module named nothing"),
    "-m nothing.below": (1, "no module named nothing.below"),
    "-m .nothing": (1, "got a relative module name .nothing, expected an absolute one"),
    "-m json": (1, "no module named json.__main__"),
    "-m math": (1, "no code to run in math"),
}


@pytest.mark.parametrize("line", REFUSED)
def test_wrong_command_lines_end_in_one_line(line, tmp_path):
    result = umber(*line.split(), folder=tmp_path)
    status, message = REFUSED[line]
    assert (result.returncode, result.stdout) == (status, "")
    assert result.stderr == f"umber.mlx: error: {message}\n"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read anything")
def test_unreadable_program(tmp_path):
    (tmp_path / "program.py").touch(mode=0o000)
    result = umber("program.py", folder=tmp_path)
    assert result.returncode == 2
    assert result.stderr == "umber.mlx: error: cannot open program.py: Permission denied\n"


WORKERS = """\
import multiprocessing
import sys
import mlx.core as mx

class Point:
    def __init__(self, x):
        self.x = x

def double(point):
    import mlx.nn
    return (2 * point.x).tolist(), mlx.nn.__name__

if __name__ == "__main__":
    with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:
        print(pool.map_async(double, [Point(mx.array([1, 2]))]).get(60))
"""


@pytest.mark.parametrize("form", [["program.py"], ["-m", "program"]], ids=" ".join)
@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_children_have_the_hook(method, form, tmp_path):
    (tmp_path / "program.py").write_text(WORKERS)
    result = umber(*form, method, folder=tmp_path)
    assert (result.returncode, result.stderr) == (0, "")
    assert result.stdout == "[([2, 4], 'mlx.nn')]\n"
