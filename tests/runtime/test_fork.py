"""A child forked at any moment can compute, whatever the parent's other threads were doing."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")

# Forks while threads do `work`; every child computes, draws and evaluates what it was left.
PROGRAM = """
import os, signal, sys, threading, time
import umber.core as mx

stop = False
shared = mx.random.normal((64, 64))
mx.eval(shared)

def work():
    {setup}
    while not stop:
        {step}

threads = [threading.Thread(target=work, daemon=True) for _ in range({threads})]
for thread in threads:
    thread.start()
time.sleep(0.05)
for number in range({forks}):
    pid = os.fork()
    if pid == 0:
        signal.alarm(20)
        total = mx.random.normal((32, 32)) @ mx.random.uniform(shape=(32, 32)) + shared.sum()
        mx.eval(total)
        mx.async_eval(total * 2)
        mx.synchronize()
        mx.eval(mx.compile(lambda x: mx.exp(x) + x)(total), mx.fft.fft(total))
        os._exit(0)
    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])
    if code:
        sys.exit(f"child {{number}} left with {{code}}")
stop = True
"""

STEPS = {
    "draws": ("pass", "mx.eval(mx.random.uniform(shape=(4,)), mx.random.state)"),
    "evaluates": ("x = mx.ones((50, 50))", "mx.eval(x @ x + mx.random.normal((50, 50)))"),
    "streams": ("x = mx.ones((50, 50))", "mx.async_eval(x @ x); mx.synchronize()"),
    "transforms": (
        "x = mx.ones((64, 37))",
        "mx.eval(mx.fft.fft(x), mx.compile(lambda y: y * 2)(x))",
    ),
    "allocates": ("pass", "mx.eval([mx.zeros((n * 100,)) for n in range(1, 9)])"),
}


@pytest.mark.parametrize("what", STEPS)
def test_children_compute_while_threads_work(what):
    setup, step = STEPS[what]
    program = PROGRAM.format(setup=setup, step=step, threads=3, forks=40)
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-2000:]


def test_a_child_goes_on_from_the_parents_random_state():
    program = (
        "import os, sys\n"
        "import umber.core as mx\n"
        "mx.random.seed(3)\n"
        "pid = os.fork()\n"
        "value = mx.random.uniform().item()\n"
        "if pid == 0: os._exit(int(value * 200))\n"
        "code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])\n"
        "sys.exit(code != int(value * 200))\n"
    )
    run = subprocess.run([sys.executable, "-c", program], timeout=60, check=False)
    assert run.returncode == 0


def test_what_another_thread_was_computing():
    """A child has the value, computes it, or says that it cannot; it never waits for ever."""
    program = (
        "import os, signal, sys, threading, time\n"
        "import umber.core as mx\n"
        "x = mx.random.normal((700, 700)); mx.eval(x)\n"
        "for _ in range(15):\n"
        "    y = x\n"
        "    for _ in range(6): y = (y @ x) * 0.01\n"
        "    thread = threading.Thread(target=lambda: mx.eval(y)); thread.start()\n"
        "    time.sleep(0.004)\n"
        "    pid = os.fork()\n"
        "    if pid == 0:\n"
        "        signal.alarm(30)\n"
        "        try: mx.eval(y)\n"
        "        except RuntimeError as error:\n"
        "            if 'forked' not in str(error): os._exit(3)\n"
        "        mx.eval(x + 1)\n"
        "        os._exit(0)\n"
        "    code = os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1])\n"
        "    thread.join()\n"
        "    if code: sys.exit(code)\n"
    )
    run = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", program],
        capture_output=True,
        text=True,
        timeout=200,
        check=False,
    )
    assert run.returncode == 0, run.stderr[-2000:]
