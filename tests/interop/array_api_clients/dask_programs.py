"""Dask arrays whose chunks are arrays of umber."""

import dask
import dask.array as da
import numpy as np
import umber.core as mx

dask.config.set(scheduler="threads", num_workers=2)
X = np.random.default_rng(0).normal(size=(24, 10))


def _chunked(make, x=X, chunks=(7, 4)):
    return da.from_array(make(x), chunks=chunks, asarray=False)


def _computed(xp, *arrays):
    """The values, after a look that all chunks are arrays of the namespace."""
    for array in arrays if xp is not np else ():
        for chunk in dask.compute(*array.to_delayed().ravel()):
            assert isinstance(chunk, mx.array), f"a chunk is a {type(chunk)}"
    return dask.compute(*arrays)


def elementwise_functions(xp, make):
    x = _chunked(make)
    return _computed(xp, x + 1, da.exp(-x) * x, da.where(x > 0, x, 0.0), abs(x) ** 0.5, -x // 2)


def reductions(xp, make):
    x = _chunked(make)
    return _computed(
        xp, x.sum(), x.sum(axis=0), x.mean(axis=1), x.max(axis=0), x.min(), x.prod(axis=1)
    )


def spreads(xp, make):
    x = _chunked(make)
    return _computed(xp, x.std(axis=0), x.var(), (x > 0).any(axis=1), (x > 0).all())


def products_of_matrices(xp, make):
    x = _chunked(make)
    return _computed(xp, x @ x.T, da.tensordot(x, x, axes=([0], [0])), da.dot(x[0], x[1]))


def chunks_changed(xp, make):
    x = _chunked(make)
    return _computed(xp, x.rechunk((24, 2)), x.T.rechunk(5), x[2:20:3, ::-1], x.reshape(240))


def columns_standardised(xp, make):
    x = _chunked(make)
    scaled = (x - x.mean(axis=0)) / x.std(axis=0)
    return _computed(xp, scaled, da.cumsum(scaled, axis=0), da.concatenate([scaled, x]))


def functions_of_blocks(xp, make):
    x = da.from_array(X, chunks=(6, 5)).map_blocks(make, meta=make(X[:0, :0]))
    y = x.map_blocks(lambda block: xp.sin(block) / 2)
    return _computed(xp, y, y.sum(axis=1))


def neighbours_of_blocks(xp, make):
    x = _chunked(make)
    y = x.map_overlap(
        lambda block: xp.roll(block, 1, axis=0) + block, depth={0: 1}, boundary="reflect"
    )
    return _computed(xp, y, da.stack([x, y]).sum(axis=0))
