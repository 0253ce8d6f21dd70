"""Random programs: recorded lazily, with updates in between, then compared with NumPy step by step.

All values are multiples of 2^-10 and small enough that float32 computes them exactly in any order,
so results must be equal; what cannot be exact ends a branch of the program (`finals`).
"""

import numpy as np
import umber.core as mx
from arrays import to_numpy, to_umber
from fuzz_strategies import axes_of, axis_of, fuzzed, indices, shapes, some_slice, values
from hypothesis import given
from hypothesis import strategies as st

LONGEST = 14
MOST_ELEMENTS = 4000
GRAIN = 2.0**10
EXACT_BELOW = 2.0**24
INEXACT = {"sin": np.sin, "tanh": np.tanh, "exp": np.exp, "softmax": None, "mean": np.mean}
UNARY = {
    "negative": np.negative,
    "abs": np.abs,
    "sign": np.sign,
    "floor": np.floor,
}
BINARY = {
    "add": np.add,
    "subtract": np.subtract,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "multiply": np.multiply,
}
STEPS = (
    "unary final binary number reduce scan move index write inplace where cast sort matmul eval"
).split()


class Program:
    """Variables of both frameworks side by side."""

    def __init__(self, data):
        self.data = data
        self.ours, self.theirs, self.finals = [], [], []

    def draw(self, strategy):
        return self.data.draw(strategy)

    def is_exact(self, theirs):
        """Whether float32 holds these values and any sum of them."""
        grains = theirs * GRAIN
        return np.abs(grains).sum() < EXACT_BELOW and np.array_equal(grains, np.floor(grains))

    def add(self, ours, theirs):
        theirs = np.array(theirs)
        if theirs.size <= MOST_ELEMENTS and theirs.ndim <= 6 and self.is_exact(theirs):
            self.ours.append(ours)
            self.theirs.append(theirs)

    def pick(self):
        at = self.draw(st.integers(0, len(self.ours) - 1))
        return at, self.ours[at], self.theirs[at]

    def start(self):
        for _ in range(self.draw(st.integers(1, 3))):
            theirs = self.draw(values(self.draw(shapes(0, 3, 4)), "int8")) / 2
            self.add(to_umber(theirs.astype("float32"), "float32"), theirs)

    def step(self, name):
        getattr(self, f"do_{name}")(*self.pick())

    def do_unary(self, _, ours, theirs):
        name = self.draw(st.sampled_from(sorted(UNARY)))
        self.add(getattr(mx, name)(ours), UNARY[name](theirs))

    def do_final(self, _, ours, theirs):
        name = self.draw(st.sampled_from(sorted(INEXACT)))
        if name == "softmax":
            if theirs.ndim and theirs.size:
                powers = np.exp(theirs - theirs.max(-1, keepdims=True))
                want = powers / powers.sum(-1, keepdims=True)
                self.finals.append((mx.softmax(ours, axis=-1), want))
        elif theirs.size and np.abs(theirs).max() < 50:
            self.finals.append((getattr(mx, name)(ours), INEXACT[name](theirs)))

    def do_binary(self, _, ours, theirs):
        _, other, values_of = self.pick()
        name = self.draw(st.sampled_from(sorted(BINARY)))
        try:
            want = BINARY[name](theirs, values_of)
        except ValueError:
            return
        self.add(getattr(mx, name)(ours, other), want)

    def do_number(self, _, ours, theirs):
        number = self.draw(st.sampled_from([0.5, 2, -1.5, 3]))
        self.add(ours * number, theirs * number)
        self.add(number - ours, number - theirs)

    def do_reduce(self, _, ours, theirs):
        name = self.draw(st.sampled_from(["sum", "max", "min"]))
        axes = self.draw(axes_of(theirs.shape))
        if theirs.size:
            keep = self.draw(st.booleans())
            self.add(
                getattr(mx, name)(ours, axis=axes, keepdims=keep),
                getattr(np, name)(theirs, axis=axes, keepdims=keep),
            )

    def do_scan(self, _, ours, theirs):
        if theirs.ndim:
            axis = self.draw(axis_of(theirs.shape))
            self.add(mx.cumsum(ours, axis), np.cumsum(theirs, axis))

    def do_sort(self, _, ours, theirs):
        if theirs.ndim:
            axis = self.draw(axis_of(theirs.shape))
            self.add(mx.sort(ours, axis), np.sort(theirs, axis))

    def do_move(self, _, ours, theirs):
        if not theirs.ndim:
            return self.add(mx.expand_dims(ours, 0), theirs[None])
        axis = self.draw(axis_of(theirs.shape))
        call = self.draw(
            st.sampled_from(
                [
                    lambda m, x: m.transpose(x),
                    lambda m, x: m.flip(x, axis),
                    lambda m, x: m.roll(x, 1, axis),
                    lambda m, x: m.concatenate([x, x], axis),
                    lambda m, x: m.expand_dims(x, axis),
                    lambda m, x: m.reshape(x, (x.size,)),
                    lambda m, x: m.broadcast_to(x, (2, *x.shape)),
                    lambda m, x: m.moveaxis(x, axis, 0),
                    lambda m, x: m.pad(x, 1),
                    lambda m, x: m.tile(x, 2),
                ]
            )
        )
        self.add(call(mx, ours), call(np, theirs))

    def do_index(self, _, ours, theirs):
        key, same = self.draw(indices(theirs.shape))
        try:
            want = theirs[same]
        except (IndexError, ValueError):
            return
        self.add(ours[key], want)

    def replace(self, at, want, update):
        """Every other variable stays as it was, whether it has been evaluated or not."""
        want = np.asarray(want)
        if self.is_exact(want):
            update()
            self.theirs[at] = want

    def do_write(self, at, ours, theirs):
        window = tuple(self.draw(some_slice(size)) for size in theirs.shape)
        want = theirs.copy()
        if self.draw(st.booleans()):
            want[window] = 2
            self.replace(at, want, lambda: ours.__setitem__(window, 2))
        else:
            want[window] = want[window] * 0.5
            self.replace(at, want, lambda: ours.__setitem__(window, ours[window] * 0.5))

    def do_inplace(self, at, ours, theirs):
        way = self.draw(st.sampled_from("+-*"))
        if way == "+":
            self.replace(at, theirs + 1, lambda: ours.__iadd__(1))
        elif way == "-":
            self.replace(at, theirs - theirs * 0.5, lambda: ours.__isub__(ours * 0.5))
        else:
            self.replace(at, theirs * 0.5, lambda: ours.__imul__(0.5))

    def do_where(self, _, ours, theirs):
        self.add(mx.where(ours > 0, ours, -1), np.where(theirs > 0, theirs, -1.0))

    def do_cast(self, _, ours, theirs):
        self.add(ours.astype(mx.int32).astype(mx.float32), np.trunc(theirs))

    def do_matmul(self, _, ours, theirs):
        if theirs.ndim >= 2 and self.is_exact(np.abs(theirs) @ np.abs(np.swapaxes(theirs, -1, -2))):
            self.add(ours @ mx.swapaxes(ours, -1, -2), theirs @ np.swapaxes(theirs, -1, -2))

    def do_eval(self, _, ours, theirs):
        mx.eval(ours)

    def check(self):
        order = self.draw(st.permutations(range(len(self.ours))))
        for at in order:
            np.testing.assert_array_equal(to_numpy(self.ours[at]), self.theirs[at])
        for ours, theirs in self.finals:
            np.testing.assert_allclose(to_numpy(ours), theirs, rtol=1e-5, atol=1e-5)


@fuzzed(400)
@given(st.data())
def test_programs(data):
    program = Program(data)
    program.start()
    names = data.draw(st.lists(st.sampled_from(STEPS), min_size=1, max_size=LONGEST))
    for name in names:
        program.step(name)
    program.check()
