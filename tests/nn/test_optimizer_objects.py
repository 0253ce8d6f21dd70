"""Optimizers as Python objects: their reprs, copies and pickles."""

import umber.core as mx
from umber import optimizers


def halved(step):
    return 0.5 ** (step + 1)


def test_reprs_show_what_the_values_are_now():
    optimizer = optimizers.SGD(0.1, momentum=0.9)
    optimizer.apply_gradients({"w": mx.ones(2)}, {"w": mx.ones(2)})
    optimizer.learning_rate = 0.25
    optimizer.weight_decay = 0.5
    assert repr(optimizer) == (
        "SGD(learning_rate=0.25, momentum=0.9, weight_decay=0.5, dampening=0.0, nesterov=False, "
        "step=1)"
    )
    optimizer.learning_rate = halved
    assert repr(optimizer).startswith("SGD(learning_rate=0.25 by halved, momentum=0.9")
    assert repr(optimizers.Adafactor()).startswith("Adafactor(eps=(1e-30, 0.001), ")
    assert repr(optimizers.LBFGS(history_size=5)) == (
        "LBFGS(max_iter=500, tolerance_grad=1e-07, tolerance_change=1e-09, history_size=5, "
        "max_linesearch_steps=25, step=0)"
    )


def test_reprs_of_several_optimizers():
    optimizer = optimizers.MultiOptimizer(
        [optimizers.Lion(0.1), optimizers.MultiOptimizer([optimizers.Optimizer()])],
        [lambda path, x: False],
    )
    first, lion, inner, base, *_ = repr(optimizer).splitlines()
    assert first == "MultiOptimizer("
    assert lion.startswith("  (0) test_reprs_of_several_optimizers.<locals>.<lambda>: Lion(lear")
    assert inner == "  (1) takes_rest: MultiOptimizer("
    assert base == "    (0) takes_rest: Optimizer(step=0)"


def test_reprs_of_optimizers_of_ones_own():
    class Own(optimizers.Optimizer):
        def __init__(self, size, *rest, **options):
            super().__init__({"noise": halved})
            self.size = mx.array(size)

    assert repr(Own(3)) == "Own(size=3, step=0)"
    own = Own([3, 4])
    own.state["noise"] = mx.array(0.5)
    assert repr(own) == "Own(size=array([3, 4], dtype=int32), noise=0.5 by halved, step=0)"


def test_reprs_in_a_trace():
    optimizer = optimizers.SGD(0.1)
    seen = []

    @mx.compile
    def step(x):
        optimizer.state["learning_rate"] = x
        seen.append(repr(optimizer))
        optimizer.state["learning_rate"] = mx.array(0.1)
        return x + 1

    step(mx.array(1.0))
    assert seen[0].startswith("SGD(learning_rate=traced, ")


def test_several_optimizers_have_a_number_of_steps():
    optimizer = optimizers.MultiOptimizer(
        [optimizers.SGD(0.1), optimizers.Adam(0.1)], [lambda path, x: False]
    )
    optimizer.apply_gradients({"w": mx.ones(2)}, {"w": mx.ones(2)})
    assert optimizer.step.item() == 1
