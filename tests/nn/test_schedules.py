"""Learning rate schedules by their formulas, and the learning rate that follows a metric."""

import itertools
import math
import pickle

import pytest
import umber.core as mx
from umber import nn, optimizers
from umber.utils import tree_flatten, tree_unflatten


def one_cycle(t, peak, total, rise=0.3, first=25, last=1e4, cosine=True, three=False):
    """Phase by phase, as PyTorch documents `OneCycleLR`; constant after the end."""
    low, top = peak / first, rise * total - 1
    points = [(0, low), (top, peak), *([(2 * top, low)] if three else [])]
    points += [(total - 1, low / last)]
    for (start, before), (end, after) in itertools.pairwise(points):
        if t <= end:
            x = (t - start) / (end - start)
            x = (1 - math.cos(math.pi * x)) / 2 if cosine else x
            return before + (after - before) * x
    return points[-1][1]


def cyclic(t, base, most, up, down, scale):
    """As PyTorch documents `CyclicLR`."""
    cycle = math.floor(1 + t / (up + down))
    x = 1 + t / (up + down) - cycle
    ratio = up / (up + down)
    height = x / ratio if x <= ratio else (x - 1) / (ratio - 1)
    return base + (most - base) * height * scale(cycle, t)


SCHEDULES = {
    "one cycle": (optimizers.one_cycle(0.1, 11), lambda t: one_cycle(t, 0.1, 11)),
    "one cycle linear": (
        optimizers.one_cycle(0.1, 10, 0.4, "linear", 10, 100),
        lambda t: one_cycle(t, 0.1, 10, 0.4, 10, 100, False),
    ),
    "one cycle in three": (
        optimizers.one_cycle(0.1, 12, 0.25, three_phase=True),
        lambda t: one_cycle(t, 0.1, 12, 0.25, three=True),
    ),
    "one cycle of one step": (optimizers.one_cycle(1.0, 1, 0.3), lambda t: 1 / 25 / 1e4),
    "one cycle that only falls": (
        optimizers.one_cycle(1.0, 5, 0.2, div_factor=2),
        lambda t: 0.5 if t == 0 else one_cycle(t, 1.0, 5, 0.2, 2),
    ),
    "triangular": (
        optimizers.cyclic(0.1, 0.5, 3, 2),
        lambda t: cyclic(t, 0.1, 0.5, 3, 2, lambda cycle, t: 1),
    ),
    "triangular2": (
        optimizers.cyclic(0.1, 0.5, 2, mode="triangular2"),
        lambda t: cyclic(t, 0.1, 0.5, 2, 2, lambda cycle, t: 0.5 ** (cycle - 1)),
    ),
    "exp_range": (
        optimizers.cyclic(0.1, 0.5, 2, 1, "exp_range", 0.9),
        lambda t: cyclic(t, 0.1, 0.5, 2, 1, lambda cycle, t: 0.9**t),
    ),
}


@pytest.mark.parametrize("name", SCHEDULES)
def test_schedules_by_numbers_and_compiled(name):
    schedule, formula = SCHEDULES[name]
    compiled = mx.compile(lambda step: mx.array(schedule(step)))
    for t in range(14):
        assert float(schedule(t)) == pytest.approx(formula(t), rel=1e-5, abs=1e-8)
        got = compiled(mx.array(t, dtype=mx.uint64)).item()
        assert got == pytest.approx(formula(t), rel=1e-5, abs=1e-8)


def test_cycles_far_from_the_start_are_exact():
    schedule = optimizers.cyclic(0.0, 1.0, 500)
    step = 10**6 * 1000 + 250
    assert schedule(mx.array(step, mx.uint64)).item() == 0.5
    assert schedule(step).item() == 0.5


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: optimizers.one_cycle(1, 0), r"^\[one_cycle\] got total_steps 0"),
        (lambda: optimizers.one_cycle(1, 9, 1.5), r"^\[one_cycle\] got pct_start 1\.5, .* to 1$"),
        (
            lambda: optimizers.one_cycle(1, 9, 0.6, three_phase=True),
            r"^\[one_cycle\] got pct_start 0\.6, expected from 0 to 0\.5",
        ),
        (lambda: optimizers.one_cycle(1, 9, div_factor=0), r"^\[one_cycle\] got div_factor 0"),
        (
            lambda: optimizers.one_cycle(1, 9, anneal_strategy="sin"),
            r"^\[one_cycle\] got anneal_strategy 'sin', expected 'cos' or",
        ),
        (lambda: optimizers.cyclic(0, 1, 0), r"^\[cyclic\] got step_size_up 0"),
        (lambda: optimizers.cyclic(0, 1, 2, 0), r"^\[cyclic\] got step_size_down 0"),
        (lambda: optimizers.cyclic(0, 1, mode="x"), r"^\[cyclic\] got mode 'x', expected 'tri"),
    ],
)
def test_wrong_options(make, message):
    with pytest.raises(ValueError, match=message):
        make()


ALL = {
    **SCHEDULES,
    "exponential": (optimizers.exponential_decay(0.1, 0.9), None),
    "step": (optimizers.step_decay(0.1, 0.5, 4), None),
    "cosine": (optimizers.cosine_decay(0.1, 10, 0.02), None),
    "joined": (
        optimizers.join_schedules(
            [optimizers.linear_schedule(0.0, 0.1, 3), optimizers.one_cycle(0.1, 8)], [3]
        ),
        None,
    ),
}


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
@pytest.mark.parametrize("name", ALL)
def test_schedules_are_pickled_and_say_what_they_are(name, protocol):
    schedule, _ = ALL[name]
    copy = pickle.loads(pickle.dumps(schedule, protocol))
    for t in range(14):
        assert float(copy(t)) == float(schedule(t))
    assert repr(copy) == repr(schedule)
    made = eval(repr(schedule), vars(optimizers))
    assert [float(made(t)) for t in range(14)] == [float(schedule(t)) for t in range(14)]


class Plateau:
    """The rules of PyTorch's class, from its documentation."""

    def __init__(self, rate, better, factor=0.1, patience=10, cooldown=0, least=0.0, eps=1e-8):
        self.rate, self.better = rate, better
        self.options = factor, patience, cooldown, least, eps
        self.best, self.bad, self.rest = None, 0, 0

    def step(self, value):
        factor, patience, cooldown, least, eps = self.options
        if self.best is None or self.better(value, self.best):
            self.best, self.bad = value, 0
        else:
            self.bad += 1
        if self.rest > 0:
            self.rest, self.bad = self.rest - 1, 0
        if self.bad > patience:
            reduced = max(self.rate * factor, least)
            self.rate = reduced if self.rate - reduced > eps else self.rate
            self.rest, self.bad = cooldown, 0


PLATEAUS = {
    "lower": ({"patience": 1}, lambda a, b: a < b * (1 - 1e-4), {"patience": 1}),
    "by a half": (
        {"patience": 0, "factor": 0.5, "threshold": 0.5, "threshold_mode": "abs"},
        lambda a, b: a < b - 0.5,
        {"patience": 0, "factor": 0.5},
    ),
    "higher": (
        {"mode": "max", "patience": 1, "cooldown": 2, "threshold": 0.1},
        lambda a, b: a > b * 1.1,
        {"patience": 1, "cooldown": 2},
    ),
    "higher by 1": (
        {"mode": "max", "patience": 2, "threshold": 1, "threshold_mode": "abs", "min_lr": 0.03},
        lambda a, b: a > b + 1,
        {"patience": 2, "least": 0.03},
    ),
    "small": (
        {"patience": 0, "factor": 0.9, "eps": 0.04},
        lambda a, b: a < b * (1 - 1e-4),
        {"patience": 0, "factor": 0.9, "eps": 0.04},
    ),
}


@pytest.mark.parametrize("name", PLATEAUS)
def test_a_plateau_reduces_the_rate(name):
    options, better, twin_options = PLATEAUS[name]
    optimizer = optimizers.SGD(0.5)
    plateau, twin = (
        optimizers.ReduceLROnPlateau(optimizer, **options),
        Plateau(0.5, better, **twin_options),
    )
    values = [3, 2.9999, 2.9999, 2, 2, 1, 1.5, 1.7, 4, 5, 5, 5, 5, 5.2, 9, 9, 9, 9, 9, 9, 9, 9, 9]
    rates = set()
    for i, value in enumerate(values):
        plateau.step(mx.array(value) if i % 2 else value)
        twin.step(mx.array(value).item() if i % 2 else value)
        rates.add(twin.rate)
        assert optimizer.learning_rate.item() == pytest.approx(twin.rate, rel=1e-6)
        assert plateau.state["num_bad_epochs"].item() == twin.bad
        assert plateau.state["cooldown_counter"].item() == twin.rest
        assert plateau.state["best"].item() == twin.best
    assert len(rates) > 1


def test_a_metric_that_is_nan_is_no_improvement():
    optimizer = optimizers.SGD(1.0)
    plateau = optimizers.ReduceLROnPlateau(optimizer, patience=1, factor=0.5)
    for value in (math.nan, math.nan, 2.0, math.nan, math.nan):
        plateau.step(value)
    assert optimizer.learning_rate.item() == 0.25
    assert plateau.state["best"].item() == 2.0


def test_a_compiled_step_uses_the_reduced_rate():
    optimizer = optimizers.SGD(1.0)
    plateau = optimizers.ReduceLROnPlateau(optimizer, patience=0, factor=0.5)
    model = nn.Linear(1, 1, bias=False)
    model.weight = mx.array([[0.0]])
    state = [model.state, optimizer.state]
    step = mx.compile(
        lambda: optimizer.update(model, {"weight": mx.ones((1, 1))}), inputs=state, outputs=state
    )
    step()
    plateau.step(1.0)
    plateau.step(1.0)
    step()
    assert model.weight.item() == -1.5


def test_each_of_several_optimizers_has_its_rate_reduced():
    parts = [optimizers.SGD(1.0), optimizers.Adam(0.5)]
    multi = optimizers.MultiOptimizer(parts, [lambda path, x: x.ndim == 1])
    plateau = optimizers.ReduceLROnPlateau(multi, patience=0, factor=0.5)
    for _ in range(2):
        plateau.step(1.0)
    assert [part.learning_rate.item() for part in parts] == [0.5, 0.25]


def test_the_state_of_a_plateau_is_saved(tmp_path):
    def make():
        optimizer = optimizers.SGD(1.0)
        return optimizer, optimizers.ReduceLROnPlateau(optimizer, patience=2, cooldown=1)

    (first, plateau), (second, resumed) = make(), make()
    for value in (2.0, 1.0, 1.0, 1.0):
        plateau.step(value)
    path = str(tmp_path / "state.safetensors")
    mx.save_safetensors(path, dict(tree_flatten([plateau.state, first.state])))
    resumed.state, second.state = tree_unflatten(mx.load(path))
    for value in (1.0, 1.0, 1.0, 1.0, 1.0):
        plateau.step(value)
        resumed.step(value)
        assert second.learning_rate.item() == first.learning_rate.item()
    assert first.learning_rate.item() < 0.5


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: plateau(mode="least"), ValueError, r"got mode 'least', expected 'min' or 'max'"),
        (lambda: plateau(threshold_mode="x"), ValueError, r"got threshold_mode 'x', expected"),
        (lambda: plateau(factor=1.0), ValueError, r"got factor 1\.0, expected a number above 0"),
        (lambda: plateau(patience=-1), ValueError, r"got patience -1, expected at least 0"),
        (lambda: plateau(eps=math.nan), ValueError, r"got eps nan, expected at least 0"),
        (lambda: plateau(optimizer=3), TypeError, r"optimizer: got int, expected an optimizer"),
        (
            lambda: plateau(optimizer=optimizers.SGD(optimizers.cosine_decay(0.1, 9))),
            ValueError,
            r"the learning rate of SGD is a schedule",
        ),
        (lambda: setattr(plateau(), "state", 3), TypeError, r"state: got int, expected a dict"),
        (lambda: setattr(plateau(), "state", {}), ValueError, r"state: got no array 'best'"),
    ],
)
def test_wrong_plateaus(call, error, message):
    with pytest.raises(error, match=rf"^\[ReduceLROnPlateau\] {message}"):
        call()


def plateau(optimizer=None, **options):
    optimizer = optimizers.SGD(0.1) if optimizer is None else optimizer
    return optimizers.ReduceLROnPlateau(optimizer, **options)


@pytest.mark.parametrize("metric", ["1", None, [1.0]])
def test_a_metric_is_a_number(metric):
    given = plateau()
    with pytest.raises(TypeError, match=r"^\[\w+\] metric: got .*, expected a number"):
        given.step(metric)
    given.optimizer.learning_rate = optimizers.step_decay(0.1, 0.5, 3)
    with pytest.raises(ValueError, match=r"^\[\w+\] the learning rate of SGD is a schedule"):
        given.step(1.0)
    assert given.state["num_bad_epochs"].item() == 0
