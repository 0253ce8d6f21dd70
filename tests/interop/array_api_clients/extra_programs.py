"""array-api-extra and array-api-compat."""

import array_api_compat
import array_api_extra as xpx
import numpy as np

X = np.random.default_rng(1).normal(size=(6, 4))
LABELS = np.array([3, 1, 3, 0, 7, 1, 1], np.int32)


def at_set_and_add(xp, make):
    x = make(X)
    x = xpx.at(x)[1:3, :].set(0.5, copy=True)
    x = xpx.at(x)[0, :].add(make(X[1]))
    x = xpx.at(x)[:, 2].multiply(2.0)
    return xpx.at(x, x > 1.0).set(1.0), xpx.at(x)[-1, :].max(0.0), make(X)


def at_in_place(xp, make):
    x = make(X.copy())
    y = xpx.at(x)[::2, :].set(7.0, copy=False)
    return y, x


def where_applied(xp, make):
    x = make(X)
    logs = xpx.apply_where(x > 0, x, xp.log, fill_value=-1.0)
    ratios = xpx.apply_where(x != 0, (x, x + 1), lambda a, b: b / a, lambda a, b: a - b)
    return logs, ratios


def applied_to_numpy(xp, make):
    def total(a):
        return np.cumsum(np.asarray(a), axis=1)

    return xpx.lazy_apply(total, make(X), shape=X.shape, dtype=xp.float64, as_numpy=True, xp=xp)


def sets_of_labels(xp, make):
    x, y = make(LABELS), make(np.array([1, 2, 3], np.int32))
    return xpx.setdiff1d(x, y), xpx.nunique(x), xpx.isin(x, y), xpx.union1d(x, y)


def matrices_made(xp, make):
    x = make(X)
    return (
        xpx.cov(x),
        xpx.create_diagonal(x[0, :], offset=1),
        xpx.kron(x[:2, :2], make(np.eye(3))),
        xpx.one_hot(make(LABELS), 8, dtype=xp.float64),
    )


def shapes_changed(xp, make):
    x = make(X)
    padded = xpx.pad(x, 2, constant_values=9.0, xp=xp)
    return padded, xpx.expand_dims(x, axis=(0, 2)), xpx.atleast_nd(x[0, 0], ndim=2)


def numbers_compared(xp, make):
    x = make(X)
    return xpx.isclose(x, x + 1e-9), xpx.sinc(x), xpx.partition(x, 2, axis=-1)[:, 2]


def namespaces_compared(xp, make):
    x = make(X)
    found = array_api_compat.array_namespace(x, x + 1)
    moved = array_api_compat.to_device(x, array_api_compat.device(x))
    return (
        found.__name__.endswith(xp.__name__),
        array_api_compat.is_array_api_obj(x),
        array_api_compat.size(x),
        array_api_compat.is_writeable_array(x),
        array_api_compat.is_lazy_array(x),
        found.sum(moved, axis=0),
    )


def classes_of_arrays_told(xp, make):
    x = make(LABELS)
    kinds = ("integral", "signed integer", "real floating", ("bool", "complex floating"))
    return (
        [xp.isdtype(x.dtype, kind) for kind in kinds],
        xp.isdtype(xp.result_type(x, 1.5, make(X)), "real floating"),
        xp.can_cast(xp.int8, xp.int32),
        float(xp.finfo(xp.float64).eps),
        int(xp.iinfo(xp.int16).max),
    )


def k_means(xp, make):
    rng = np.random.default_rng(0)
    x = make(rng.normal(size=(60, 2)) + 6.0 * rng.integers(0, 2, size=(60, 1)))
    centres = x[:2, :]
    for _ in range(10):
        distances = xp.sum((x[:, None, :] - centres[None, :, :]) ** 2, axis=-1)
        label = xp.argmin(distances, axis=1)
        parts = [xp.mean(x[label == i, :], axis=0) for i in range(2)]
        centres = xp.stack(parts)
    return centres, xp.unique_counts(label).counts
