"""Derivatives through the code of clients: umber's beside finite differences of NumPy's values."""

import array_api_extra as xpx
import numpy as np
import scipy.integrate
import scipy.special
import scipy.stats
import umber.core as mx

X = np.random.default_rng(0).normal(size=9)
STEP = 1e-6


def _gradient(xp, make, function):
    if xp is not np:
        return mx.grad(function)(make(X))
    steps = STEP * np.eye(X.size)
    return np.array([(function(X + s) - function(X - s)) / (2 * STEP) for s in steps])


def of_statistics(xp, make):
    weights = make(np.linspace(-1.0, 1.0, 9))
    stats = scipy.stats
    return (
        _gradient(xp, make, lambda x: xp.sum(stats.zscore(x) * weights)),
        _gradient(xp, make, stats.skew),
        _gradient(xp, make, stats.kurtosis),
        _gradient(xp, make, lambda x: stats.pearsonr(x, weights).statistic),
    )


def of_sums_of_exponentials(xp, make):
    weights = make(np.linspace(-1.0, 1.0, 9))
    return (
        _gradient(xp, make, scipy.special.logsumexp),
        _gradient(xp, make, lambda x: xp.sum(scipy.special.softmax(x) * weights)),
    )


def of_areas(xp, make):
    weights = make(np.linspace(-1.0, 1.0, 9))
    return (
        _gradient(xp, make, lambda x: scipy.integrate.trapezoid(x**2, dx=0.5)),
        _gradient(xp, make, lambda x: scipy.integrate.trapezoid(weights, xp.exp(x))),
    )


def of_updates_and_choices(xp, make):
    def function(x):
        chosen = xpx.apply_where(x > 0, x, lambda a: a * xp.log(a), fill_value=0.5)
        return xp.sum(xpx.at(chosen)[2:5].multiply(x[4]))

    return _gradient(xp, make, function)


for _program in (of_statistics, of_sums_of_exponentials, of_areas, of_updates_and_choices):
    _program.exact = 1e-5
