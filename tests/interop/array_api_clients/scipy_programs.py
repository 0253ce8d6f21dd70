"""SciPy with SCIPY_ARRAY_API=1."""

import numpy as np
import scipy.cluster.vq
import scipy.differentiate
import scipy.fft
import scipy.integrate
import scipy.linalg
import scipy.ndimage
import scipy.optimize.elementwise
import scipy.signal
import scipy.special
import scipy.stats
from scipy.cluster.hierarchy import linkage
from scipy.interpolate import make_interp_spline
from scipy.spatial.transform import Rotation

RNG = np.random.default_rng(0)
X = RNG.normal(size=(20, 3))
Y = RNG.normal(size=(20, 3)) + 0.5
POSITIVE = RNG.uniform(0.1, 2.0, size=(4, 5))
SIGNAL = np.sin(np.linspace(0, 20, 128)) + 0.1 * RNG.normal(size=128)


def exponentials_summed(xp, make):
    x = make(X)
    return (
        scipy.special.logsumexp(x, axis=1),
        scipy.special.softmax(x, axis=0),
        scipy.special.log_softmax(x, axis=1),
    )


def special_functions(xp, make):
    p = make(POSITIVE)
    special = scipy.special
    return (
        special.gammaln(p),
        special.expit(p),
        special.erf(p),
        special.xlogy(p, p),
        special.ndtr(p),
    )


def moments(xp, make):
    x = make(X)
    stats = scipy.stats
    return (
        stats.zscore(x, axis=0),
        stats.skew(x),
        stats.kurtosis(x, axis=1),
        stats.moment(x, order=3),
        stats.variation(make(POSITIVE)),
        stats.sem(x),
    )


def tests_of_samples(xp, make):
    x, y = make(X), make(Y)
    t = scipy.stats.ttest_ind(x, y)
    r = scipy.stats.pearsonr(x[:, 0], y[:, 0])
    return t.statistic, t.pvalue, r.statistic, r.pvalue


# SciPy makes parameters of distributions in the default dtype.
tests_of_samples.exact = 1e-7


def means_of_kinds(xp, make):
    p = make(POSITIVE)
    stats = scipy.stats
    return stats.gmean(p, axis=0), stats.hmean(p), stats.entropy(p, axis=1), stats.pmean(p, 2.0)


def ranks_and_quantiles(xp, make):
    x = make(X)
    ranks = scipy.stats.rankdata(make(np.round(X)), axis=0)
    return ranks, scipy.stats.quantile(x, 0.25, axis=0)


def codes_of_vectors(xp, make):
    x = scipy.cluster.vq.whiten(make(X))
    code, distance = scipy.cluster.vq.vq(x, x[:3, :])
    return x, code, distance


def tree_of_clusters(xp, make):
    return linkage(make(X), method="average")


def fourier_transforms(xp, make):
    x = make(SIGNAL)
    fft = scipy.fft
    return fft.fft(x), fft.rfft(x), fft.irfft(fft.rfft(x)), fft.dct(x), fft.fftshift(x)


def convolutions(xp, make):
    x = make(SIGNAL)
    signal = scipy.signal
    kernel = make(np.array([0.25, 0.5, 0.25]))
    return (
        signal.fftconvolve(x, kernel, mode="same"),
        signal.detrend(x),
        signal.hilbert(x),
        signal.fftconvolve(x, kernel, mode="full"),
    )


def filters(xp, make):
    sections = make(scipy.signal.butter(4, 0.2, output="sos"))
    x = make(SIGNAL)
    return scipy.signal.sosfilt(sections, x), scipy.signal.sosfiltfilt(sections, x)


def images(xp, make):
    image = make(RNG_IMAGE)
    ndimage = scipy.ndimage
    return (
        ndimage.gaussian_filter(image, 1.5),
        ndimage.sobel(image),
        ndimage.uniform_filter(image, 3),
    )


RNG_IMAGE = np.random.default_rng(3).uniform(size=(12, 10))


def areas(xp, make):
    y = make(POSITIVE)
    integrate = scipy.integrate
    x = make(np.linspace(0.0, 1.0, 5))
    return (
        integrate.trapezoid(y, x, axis=-1),
        integrate.cumulative_trapezoid(y, axis=0, initial=0),
    )


def rotations(xp, make):
    r = Rotation.from_rotvec(make(X))
    turned = r.apply(make(Y))
    return turned, r.as_matrix(), (r * r.inv()).magnitude(), r.as_quat()


def splines(xp, make):
    x = make(np.linspace(0.0, 3.0, 9))
    spline = make_interp_spline(x, make(np.cos(np.linspace(0.0, 3.0, 9))), k=3)
    return spline(make(np.array([0.1, 1.7, 2.9])))


def systems_of_equations(xp, make):
    # Compiled code, which answers with NumPy's arrays whatever it gets.
    a = make(X[:3, :] + 3.0 * np.eye(3))
    return [
        make(np.asarray(found))
        for found in (
            scipy.linalg.inv(a),
            scipy.linalg.det(a),
            scipy.linalg.solve(a, make(Y[:3, :])),
            scipy.linalg.norm(a),
        )
    ]


def integrals(xp, make):
    end = make(np.array([1.0, 2.0, 3.0]))
    found = scipy.integrate.tanhsinh(lambda x: xp.exp(-(x**2)), xp.zeros_like(end), end)
    return found.integral, found.success


def roots_found(xp, make):
    c = make(np.array([2.0, 5.0, 11.0]))
    low, high = xp.zeros_like(c), c
    found = scipy.optimize.elementwise.find_root(lambda x, c: x**2 - c, (low, high), args=(c,))
    return found.x, found.success


def derivatives(xp, make):
    found = scipy.differentiate.derivative(xp.exp, make(np.array([0.0, 1.0, 2.0])))
    return found.df, found.success


derivatives.exact = 1e-7
