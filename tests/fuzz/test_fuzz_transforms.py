"""Random programs under random compositions of transforms.

A program is a list of instructions on vectors of one length, with control flow and in-place
updates; it makes a number of a vector. A transform makes another such function of it, so that
transforms compose in any order. Values are compared with JAX's where it is installed; the slope of
the whole is compared with finite differences everywhere.
"""

import importlib

import numpy as np
import pytest
import umber.core as mx
from fuzz_strategies import fuzzed
from hypothesis import given
from hypothesis import strategies as st

LENGTH = 6
CONSTANTS = np.random.default_rng(7)
MATRIX = CONSTANTS.normal(size=(LENGTH, LENGTH)) / LENGTH
WEIGHTS = CONSTANTS.normal(size=LENGTH)
DIRECTION = CONSTANTS.normal(size=LENGTH)
KERNEL = CONSTANTS.normal(size=3)
MASK = np.array([True, False, True, True, False, False])
PLACES = np.array([3, 0, 3, 5, 1, 1])
LANES = np.array([0.5, -1.0, 1.25])


class Ours:
    """What a program is made of, in umber."""

    np = mx

    def array(self, value):
        return mx.array(value)

    def set_at(self, x, index, value):
        y = x * 1
        y[index] = value
        return y

    def add_at(self, x, index, value):
        return x.at[index].add(value)

    def multiply_at(self, x, index, value):
        return x.at[index].multiply(value)

    def convolve(self, x, kernel):
        return mx.convolve(x, kernel, mode="same")

    def sigmoid(self, x):
        return mx.sigmoid(x)

    def logsumexp(self, x):
        return mx.logsumexp(x)

    def softmax(self, x):
        return mx.softmax(x, axis=-1)

    def cond(self, condition, yes, no, *operands):
        return mx.cond(condition, yes, no, *operands)

    def scan(self, body, start, xs):
        return mx.scan(body, start, xs)

    def fori(self, count, body, start):
        return mx.fori_loop(0, count, body, start)

    def while_loop(self, condition, body, start):
        return mx.while_loop(condition, body, start)

    def stop(self, x):
        return mx.stop_gradient(x)

    def checkpoint(self, f):
        return mx.checkpoint(f)

    def grad(self, f):
        return mx.grad(f)

    def jvp(self, f, x, v):
        return mx.jvp(f, [x], [v])[1][0]

    def vjp(self, f, x, ct):
        return mx.vjp(f, [x], [ct])[1][0]

    def vmap(self, f):
        return mx.vmap(f)

    def compile(self, f):
        return mx.compile(f)


class Theirs:
    """The same in JAX."""

    def __init__(self):
        self.jax = importlib.import_module("jax")
        self.jax.config.update("jax_enable_x64", True)
        self.np = self.jax.numpy

    def array(self, value):
        return self.np.asarray(value)

    def set_at(self, x, index, value):
        return x.at[index].set(value)

    def add_at(self, x, index, value):
        return x.at[index].add(value)

    def multiply_at(self, x, index, value):
        return x.at[index].multiply(value, unique_indices=True)

    def convolve(self, x, kernel):
        return self.np.convolve(x, kernel, mode="same")

    def sigmoid(self, x):
        return self.jax.nn.sigmoid(x)

    def logsumexp(self, x):
        return self.jax.nn.logsumexp(x)

    def softmax(self, x):
        return self.jax.nn.softmax(x)

    def cond(self, condition, yes, no, *operands):
        return self.jax.lax.cond(condition, yes, no, *operands)

    def scan(self, body, start, xs):
        return self.jax.lax.scan(body, start, xs)

    def fori(self, count, body, start):
        return self.jax.lax.fori_loop(0, count, body, start)

    def while_loop(self, condition, body, start):
        return self.jax.lax.while_loop(condition, body, start)

    def stop(self, x):
        return self.jax.lax.stop_gradient(x)

    def checkpoint(self, f):
        return self.jax.checkpoint(f)

    def grad(self, f):
        return self.jax.grad(f)

    def jvp(self, f, x, v):
        return self.jax.jvp(f, (x,), (v,))[1]

    def vjp(self, f, x, ct):
        return self.jax.vjp(f, x)[1](ct)[0]

    def vmap(self, f):
        return self.jax.vmap(f)

    def compile(self, f):
        return f


def scan(m, x, y):
    def body(carry, part):
        carry = m.np.tanh(carry * 0.7 + part)
        return carry, carry * part

    last, parts = m.scan(body, y.sum() * 0.1, x)
    return parts + last


def fori(m, x, y):
    return m.fori(3, lambda i, state: m.np.sin(state) + y * (i + 1) * 0.1, x)


def cond(m, x, y):
    yes, no = lambda a, b: m.np.sin(a) * b, lambda a, b: a - m.np.cos(b)
    return m.cond(m.np.sum(x) > m.np.sum(y), yes, no, x, y)


# An instruction: the new vector from one or two others, for a backend.
INSTRUCTIONS = {
    "sin": lambda m, x, y: m.np.sin(x),
    "cos": lambda m, x, y: m.np.cos(x + y),
    "tanh": lambda m, x, y: m.np.tanh(x),
    "exp": lambda m, x, y: m.np.exp(-x * x),
    "log": lambda m, x, y: m.np.log1p(x * x),
    "sqrt": lambda m, x, y: m.np.sqrt(1 + x * x),
    "sigmoid": lambda m, x, y: m.sigmoid(x),
    "arctan": lambda m, x, y: m.np.arctan2(x, 2 + y * y),
    "power": lambda m, x, y: m.np.power(1 + x * x, 0.3) - m.np.square(y) * 0.01,
    "add": lambda m, x, y: x + y,
    "subtract": lambda m, x, y: x - 0.5 * y,
    "multiply": lambda m, x, y: 0.5 * x * y,
    "divide": lambda m, x, y: x / (2 + y * y),
    "maximum": lambda m, x, y: m.np.maximum(x, y),
    "where": lambda m, x, y: m.np.where(m.array(MASK), x, y),
    "choose": lambda m, x, y: m.np.where(x > y, x * y, m.np.sin(y)),
    "sum": lambda m, x, y: x + m.np.mean(y),
    "product": lambda m, x, y: x * m.np.prod(m.np.cos(y)),
    "variance": lambda m, x, y: (x - m.np.mean(x)) / m.np.sqrt(m.np.var(x) + 0.5) + 0 * y,
    "max": lambda m, x, y: x - m.np.max(y),
    "softmax": lambda m, x, y: m.softmax(x) * y,
    "logsumexp": lambda m, x, y: x - m.logsumexp(y),
    "cumsum": lambda m, x, y: 0.3 * m.np.cumsum(x) + y,
    "cumprod": lambda m, x, y: m.np.cumprod(m.np.tanh(x) + 1.5) * 0.1,
    "sort": lambda m, x, y: m.np.sort(x),
    "matmul": lambda m, x, y: m.array(MATRIX) @ x,
    "outer": lambda m, x, y: m.np.sin(m.np.outer(x, y)) @ m.array(WEIGHTS),
    "reshape": lambda m, x, y: m.np.transpose(m.np.reshape(x, (2, 3))).reshape(-1),
    "split": lambda m, x, y: m.np.concatenate([x[3:], y[:3]]),
    "stride": lambda m, x, y: m.np.concatenate([x[::2], y[::-2]]),
    "roll": lambda m, x, y: m.np.roll(x, 2) * y,
    "flip": lambda m, x, y: m.np.flip(x, 0) - y,
    "pad": lambda m, x, y: m.np.pad(x[1:-1], 1) + y,
    "repeat": lambda m, x, y: m.np.repeat(x[:3], 2),
    "gather": lambda m, x, y: x[m.array(PLACES)],
    "along": lambda m, x, y: m.np.take_along_axis(x, m.array(PLACES), 0) * y,
    "argsort": lambda m, x, y: y[m.np.argsort(m.stop(x))],
    "set": lambda m, x, y: m.set_at(x, slice(1, 4), y[:3] * 2),
    "set places": lambda m, x, y: m.set_at(x, m.array(PLACES[:2]), y[:2]),
    "add at": lambda m, x, y: m.add_at(x, m.array(PLACES), y),
    "multiply at": lambda m, x, y: m.multiply_at(x, m.array(PLACES[3:5]), y[:2]),
    "convolve": lambda m, x, y: m.convolve(x, m.array(KERNEL)) + y,
    "solve": lambda m, x, y: m.np.linalg.solve(
        m.np.eye(LENGTH, dtype=x.dtype) * 3 + m.np.outer(m.np.tanh(x), m.np.tanh(y)),
        m.array(WEIGHTS),
    ),
    "norm": lambda m, x, y: x / (1 + m.np.linalg.norm(y)),
    "stop": lambda m, x, y: m.stop(x) * y,
    "checkpoint": lambda m, x, y: m.checkpoint(lambda a, b: m.np.sin(a) * m.np.exp(-b * b))(x, y),
    "scan": scan,
    "fori": fori,
    "cond": cond,
    "inner gradient": lambda m, x, y: m.grad(lambda a: m.np.sum(m.np.sin(a) * y * a))(x),
    "inner map": lambda m, x, y: m.vmap(lambda a: m.np.tanh(a) * m.np.sum(y) * 0.1)(x),
    "inner compiled": lambda m, x, y: m.compile(lambda a, b: m.np.cos(a) * b + 1)(x, y),
}


def program(instructions):
    """The function of a backend and a vector that the instructions describe."""

    def run(m, x):
        pool = [x, m.np.sin(x * 2) + m.array(WEIGHTS)]
        for name, first, second in instructions:
            made = INSTRUCTIONS[name](
                m, pool[-1 - first % len(pool)], pool[-1 - second % len(pool)]
            )
            # Bounded, so that long programs stay comparable.
            pool.append(made / (1 + 0.1 * m.np.sum(made * made)))
        return m.np.sum(pool[-1] * m.array(WEIGHTS)) + m.np.sum(pool[-2])

    return run


def by_grad(f):
    return lambda m, x: m.np.sum(m.grad(lambda a: f(m, a))(x) * m.array(WEIGHTS))


def by_jvp(f):
    return lambda m, x: m.jvp(lambda a: f(m, a), x, m.array(DIRECTION) + 0.1 * x)


def by_vjp(f):
    return lambda m, x: m.np.sum(m.vjp(lambda a: f(m, a) * a, x, m.np.sin(x)) * m.array(DIRECTION))


def by_vmap(f):
    def mapped(m, x):
        lanes = m.array(LANES)[:, None] * x
        return m.np.sum(m.vmap(lambda a: f(m, a))(lanes) * m.array(LANES))

    return mapped


def by_compile(f):
    return lambda m, x: m.compile(lambda a: f(m, a))(x)


TRANSFORMS = {"grad": by_grad, "jvp": by_jvp, "vjp": by_vjp, "vmap": by_vmap, "compile": by_compile}


def programs_of(names):
    step = st.tuples(st.sampled_from(sorted(names)), st.integers(0, 5), st.integers(0, 5))
    return st.lists(step, min_size=5, max_size=30)


# Where gradients are stopped, slopes are not those of the values.
programs, smooth_programs = programs_of(INSTRUCTIONS), programs_of(INSTRUCTIONS.keys() - {"stop"})
compositions = st.lists(st.sampled_from(sorted(TRANSFORMS)), max_size=3)
points = st.integers(0, 2**31).map(lambda seed: np.random.default_rng(seed).normal(size=LENGTH))


def composed(instructions, transforms):
    f = program(instructions)
    for name in transforms:
        f = TRANSFORMS[name](f)
    return f


@fuzzed(40)
@given(programs, compositions, points)
def test_programs_agree_with_jax(instructions, transforms, x):
    pytest.importorskip("jax")
    theirs = Theirs()
    f = composed(instructions, transforms)
    # Compiling each small program would take JAX longer than running it.
    with theirs.jax.disable_jit():
        want = np.array(f(theirs, theirs.array(x)))
    got = f(Ours(), mx.array(x))
    assert got.dtype == mx.float64
    np.testing.assert_allclose(np.array(got), want, rtol=1e-7, atol=1e-8 * (1 + abs(want)))


@fuzzed(40)
@given(smooth_programs, compositions, points)
def test_slopes_agree_with_finite_differences(instructions, transforms, x):
    ours = Ours()
    f = composed(instructions, transforms)
    step = 1e-5
    direction = np.cos(np.arange(LENGTH))
    ends = [float(f(ours, mx.array(x + sign * step * direction))) for sign in (-1, 1)]
    want = (ends[1] - ends[0]) / (2 * step)
    value, slopes = mx.value_and_grad(lambda a: f(ours, a))(mx.array(x))
    got = float(mx.sum(slopes * mx.array(direction)))
    forward = float(mx.jvp(lambda a: f(ours, a), [mx.array(x)], [mx.array(direction)])[1][0])
    scale = 1 + abs(want) + abs(float(value)) + float(mx.abs(slopes).max())
    # Both ways of differentiating agree wherever the point lies.
    assert abs(got - forward) <= 1e-8 * scale
    middle = f(ours, mx.array(x))
    # The ends lie on two sides of a kink where they do not lie on a parabola with the middle.
    if abs(ends[0] + ends[1] - 2 * float(middle)) < 1e-7 * scale:
        assert abs(got - want) <= 1e-4 * scale
