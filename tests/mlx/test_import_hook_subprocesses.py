"""Interpreters that a process with the import hook starts have the hook too, and nobody else does.

Each case is a process of its own that starts others.
"""

import subprocess
import sys
import textwrap

import pytest

pytestmark = pytest.mark.host

# A child that prints what it sees: MLX's module, and an environment and path as if nothing were.
CHILD = (
    "import os, sys; import mlx.core as mx; "
    "print(mx.__name__, os.environ.get('PYTHONPATH'), "
    "[name for name in os.environ if 'UMBER' in name], "
    "[entry for entry in sys.path if '_children' in entry], 'sitecustomize' in sys.modules)"
)
SEEN = "mlx.core None [] [] False\n"


def run(code, folder=None, env=None, before="import umber.mlx; umber.mlx.install()"):
    """Run Python code in a process with the hook; what it printed."""
    head = "import os, subprocess, sys\nos.environ.pop('PYTHONPATH', None)\n"
    head += f"os.environ.pop('UMBER_TEST_SAMPLE', None)\n{before}\n"
    head += f"CHILD = {CHILD!r}\nCOMMAND = [sys.executable, '-c', CHILD]\n"
    done = subprocess.run(
        [sys.executable, "-c", head + textwrap.dedent(code)],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=folder,
        env=env,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


WAYS = {
    "run": "subprocess.run(COMMAND, check=True)",
    "call": "subprocess.call(COMMAND)",
    "check_output": "print(subprocess.check_output(COMMAND, text=True), end='')",
    "without descriptors": "subprocess.run(COMMAND, check=True, close_fds=False)",
    "an empty environment": "subprocess.run(COMMAND, check=True, env={})",
    "an environment of its own": "subprocess.run(COMMAND, check=True, env={'A': 'b'})",
    "a copy of the environment": "subprocess.run(COMMAND, check=True, env=os.environ.copy())",
    "an environment of bytes": "subprocess.run(COMMAND, check=True, env={b'A': b'b'})",
    "a shell": "import shlex; subprocess.run(shlex.join(COMMAND), check=True, shell=True)",
    "os.system": "import shlex; os.system(shlex.join(COMMAND))",
    "os.system, bytes": "import shlex; os.system(os.fsencode(shlex.join(COMMAND)))",
    "os.popen": "import shlex; print(os.popen(shlex.join(COMMAND)).read(), end='')",
    "os.execv": "os.execv(sys.executable, COMMAND)",
    "os.execve": "os.execve(sys.executable, COMMAND, {})",
    "os.execvpe": "os.execvpe(sys.executable, COMMAND, {})",
    "os.execl": "os.execl(sys.executable, *COMMAND)",
    "os.spawnv": "os.spawnv(os.P_WAIT, sys.executable, COMMAND)",
    "os.spawnve": "os.spawnve(os.P_WAIT, sys.executable, COMMAND, {})",
    "os.posix_spawn": "os.waitpid(os.posix_spawn(sys.executable, COMMAND, {}), 0)",
    "os.posix_spawnp": "os.waitpid(os.posix_spawnp(sys.executable, COMMAND, os.environ), 0)",
    "asyncio": """
        import asyncio
        async def main():
            child = await asyncio.create_subprocess_exec(*COMMAND)
            await child.wait()
        asyncio.run(main())
    """,
    "a thread": """
        import threading
        thread = threading.Thread(target=lambda: subprocess.run(COMMAND, check=True))
        thread.start(), thread.join()
    """,
    "a grandchild": """
        middle = f"import subprocess, sys; subprocess.run({COMMAND!r}, check=True)"
        subprocess.run([sys.executable, "-c", middle], check=True)
    """,
    "a grandchild by exec": """
        middle = f"import os, sys; os.execv(sys.executable, {COMMAND!r})"
        subprocess.run([sys.executable, "-c", middle], check=True)
    """,
    "a fork": """
        if os.fork() == 0:
            os.execv(sys.executable, COMMAND)
        os.wait()
    """,
}


@pytest.mark.parametrize("way", WAYS)
def test_children_have_the_hook(way):
    assert run(WAYS[way]) == SEEN


@pytest.mark.parametrize("method", ["spawn", "forkserver", "fork"])
def test_children_of_multiprocessing(method, tmp_path):
    (tmp_path / "work.py").write_text(
        textwrap.dedent(
            """
            import subprocess, sys
            import mlx.core as mx

            def work(x):
                code = "import mlx.core as mx; print(mx.__name__)"
                done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
                return mx.__name__, (mx.array(x) + 1).tolist(), done.stdout
            """
        )
    )
    code = f"""
        sys.path.insert(0, {str(tmp_path)!r})
        import multiprocessing
        from concurrent.futures import ProcessPoolExecutor
        from work import work
        context = multiprocessing.get_context({method!r})
        with ProcessPoolExecutor(2, mp_context=context) as pool:
            print(list(pool.map(work, [1, 2])))
    """
    assert run(code) == f"{[('mlx.core', x + 1, 'mlx.core' + chr(10)) for x in (1, 2)]}\n"


def test_this_process_stays_as_it_is():
    run(
        """
        import _posixsubprocess
        umber.mlx.uninstall()
        before, path = dict(os.environ), list(sys.path)
        functions = [os.execv, os.execve, os.system, os.posix_spawn, subprocess._fork_exec]
        for _ in range(2):
            umber.mlx.install()
            assert dict(os.environ) == before and sys.path == path
            subprocess.run(COMMAND, check=True, capture_output=True)
            assert dict(os.environ) == before
            umber.mlx.uninstall()
            now = [os.execv, os.execve, os.system, os.posix_spawn, subprocess._fork_exec]
            assert all(a is b for a, b in zip(now, functions, strict=True))
            code = "import importlib.util as u; print('umber' in str(u.find_spec('mlx')))"
            command = [sys.executable, "-c", code]
            assert subprocess.run(command, capture_output=True, text=True).stdout == "False\\n"
        """
    )


def test_children_that_do_not_ask_for_mlx_import_nothing():
    code = """
        code = "import sys; print('umber.core' in sys.modules, 'subprocess' in sys.modules)"
        subprocess.run([sys.executable, "-c", code], check=True)
    """
    assert run(code) == "False False\n"


def test_children_know_the_version():
    code = """
        code = "from importlib.metadata import version; print(version('mlx'))"
        subprocess.run([sys.executable, "-c", code], check=True)
        print(umber.mlx.MLX_VERSION)
    """
    child, own = run(code).split()
    assert child == own


def test_the_users_own_sitecustomize_and_path_are_kept(tmp_path):
    (tmp_path / "sitecustomize.py").write_text("import os; print('own', os.getenv('PYTHONPATH'))")
    code = f"""
        subprocess.run(COMMAND, check=True, env={{"PYTHONPATH": {str(tmp_path)!r}}})
        print(subprocess.run([sys.executable, "-c", "pass"], env={{"PYTHONPATH": ""}}).returncode)
    """
    own, child, status = run(code).splitlines()
    assert own == f"own {tmp_path}"
    assert status == "0"
    assert child.split()[:2] == ["mlx.core", str(tmp_path)]
    assert child.endswith("True")


def test_what_programs_exit_with_is_kept():
    code = """
        print(os.system("exit 3") >> 8, os.system("true"))
        print(subprocess.run([sys.executable, "-c", "raise SystemExit(5)"]).returncode)
    """
    assert run(code) == "3 0\n5\n"


@pytest.mark.parametrize("flag", ["-I", "-E", "-S"])
def test_interpreters_that_ignore_the_environment_are_left_alone(flag):
    code = f"""
        code = "import importlib.util as u; print('umber' in str(u.find_spec('mlx')))"
        subprocess.run([sys.executable, {flag!r}, "-c", code], check=True)
    """
    assert run(code) == "False\n"


def test_interpreters_of_other_installations_are_left_alone(tmp_path):
    code = f"""
        import venv
        venv.create({str(tmp_path / "other")!r}, with_pip=False, symlinks=True)
        other = {str(tmp_path / "other/bin/python")!r}
        code = "import importlib.util as u, os; print(u.find_spec('mlx'), u.find_spec('umber'))"
        code += "; print([n for n in os.environ if 'UMBER' in n], os.getenv('PYTHONPATH'))"
        subprocess.run([other, "-c", code], check=True)
    """
    assert run(code) == "None None\n[] None\n"
