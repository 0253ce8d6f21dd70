"""Records that move elements and compute nothing."""

import numpy as np
import umber.core as mx
from op_table import OpRecord, bind, op


def moving(name, oracle, call=None, shape=(2, 3, 4), **fields) -> OpRecord:
    """One array in, its elements out."""
    fields = {"shapes": (shape,), "differentiable": (0,), "second_order": False} | fields
    return OpRecord(name, call or op(name.partition("[")[0]), oracle, **fields)


def joining(name, oracle, call, *shapes, **fields) -> OpRecord:
    """Several arrays in, one out."""
    fields = {"differentiable": tuple(range(len(shapes))), "second_order": False} | fields
    return OpRecord(name, call, oracle, shapes=shapes, **fields)


def padding(name, oracle_mode, width, **keywords) -> OpRecord:
    """`pad` in one mode."""
    return moving(
        name,
        lambda x: np.pad(x, width, **oracle_mode),
        bind("pad", width, **keywords),
        shape=(3, 4),
    )


ROWS_FIRST = (1, 0, 2)

RECORDS = [
    moving("reshape", lambda x: x.reshape(4, 6), bind("reshape", (4, 6)), empty=None),
    moving("reshape[inferred]", lambda x: x.reshape(3, -1), bind("reshape", [3, -1])),
    moving("reshape[to 0-d]", lambda x: x.reshape(()), bind("reshape", ()), shape=(1, 1)),
    moving("reshape[from 0-d]", lambda x: x.reshape(1, 1), bind("reshape", (1, 1)), shape=()),
    moving("reshape[empty]", lambda x: x.reshape(0, 7), bind("reshape", (0, 7)), shape=(3, 0)),
    *(
        moving(name, lambda x: x.transpose(), op(name), empty=((0, 4),), scalar=((),))
        for name in ("transpose", "permute_dims")
    ),
    moving("transpose[axes]", lambda x: x.transpose(1, 0, 2), bind("transpose", ROWS_FIRST)),
    moving(
        "transpose[negative axes]", lambda x: x.transpose(-1, 0, 1), bind("transpose", (-1, 0, 1))
    ),
    moving(
        "broadcast_to",
        lambda x: np.broadcast_to(x, (2, 3, 4)),
        bind("broadcast_to", (2, 3, 4)),
        shape=(3, 1),
    ),
    moving(
        "broadcast_to[0-d]",
        lambda x: np.broadcast_to(x, (2, 3)),
        bind("broadcast_to", (2, 3)),
        shape=(),
    ),
    moving(
        "broadcast_to[empty]",
        lambda x: np.broadcast_to(x, (0, 3)),
        bind("broadcast_to", (0, 3)),
        shape=(1, 3),
    ),
    moving("squeeze", np.squeeze, shape=(1, 3, 1, 4), scalar=((),)),
    moving("squeeze[axis]", lambda x: np.squeeze(x, 0), bind("squeeze", 0), shape=(1, 3, 1)),
    moving(
        "squeeze[axes]", lambda x: np.squeeze(x, (0, 2)), bind("squeeze", (0, -1)), shape=(1, 3, 1)
    ),
    moving("expand_dims", lambda x: np.expand_dims(x, 1), bind("expand_dims", 1), scalar=None),
    moving(
        "expand_dims[axes]",
        lambda x: np.expand_dims(x, (0, -1)),
        bind("expand_dims", (0, -1)),
        scalar=((),),
    ),
    moving("flatten", np.ravel, scalar=((),), empty=((3, 0),)),
    moving("flatten[axes]", lambda x: x.reshape(2, 12), bind("flatten", 1, 2)),
    moving(
        "flatten[negative axes]",
        lambda x: x.reshape(6, 4),
        bind("flatten", start_axis=-3, end_axis=-2),
    ),
    moving("unflatten", lambda x: x.reshape(2, 3, 2, 2), bind("unflatten", 2, (2, 2))),
    moving("unflatten[inferred]", lambda x: x.reshape(2, 3, 4, 1), bind("unflatten", -1, (4, -1))),
    moving("moveaxis", lambda x: np.moveaxis(x, 0, -1), bind("moveaxis", 0, -1)),
    moving("moveaxis[back]", lambda x: np.moveaxis(x, -1, 0), bind("moveaxis", -1, 0)),
    moving("swapaxes", lambda x: np.swapaxes(x, 0, 2), bind("swapaxes", 0, -1)),
    padding("pad", {}, 1),
    padding("pad[sides]", {}, (1, 2)).but(call=bind("pad", (1, 2))),
    padding("pad[axes]", {"constant_values": 3}, ((1, 0), (2, 1)), constant_values=3),
    padding("pad[edge]", {"mode": "edge"}, ((1, 2), (0, 1)), mode="edge"),
    padding("pad[reflect]", {"mode": "reflect"}, ((1, 2), (0, 1)), mode="reflect"),
    padding("pad[symmetric]", {"mode": "symmetric"}, ((1, 2), (2, 1)), mode="symmetric"),
    moving("tile", lambda x: np.tile(x, 2), bind("tile", 2), scalar=((),)),
    moving("tile[axes]", lambda x: np.tile(x, (2, 1, 3)), bind("tile", (2, 1, 3)), shape=(3, 4)),
    moving("repeat", lambda x: np.repeat(x, 2), bind("repeat", 2)),
    moving("repeat[axis]", lambda x: np.repeat(x, 3, axis=1), bind("repeat", 3, axis=1)),
    moving("repeat[none]", lambda x: np.repeat(x, 0, axis=0), bind("repeat", 0, axis=0)),
    moving("split", lambda x: np.split(x, 2, axis=-1), bind("split", 2, axis=-1)),
    moving("split[places]", lambda x: np.split(x, [1, 3], axis=2), bind("split", [1, 3], axis=2)),
    moving("split[past the end]", lambda x: np.split(x, [2, 9]), bind("split", [2, 9])),
    moving("tril", np.tril, shape=(3, 4)),
    moving("tril[k]", lambda x: np.tril(x, -1), bind("tril", -1), shape=(2, 3, 3)),
    moving("triu", np.triu, shape=(3, 4)),
    moving("triu[k]", lambda x: np.triu(x, 1), bind("triu", k=1), shape=(2, 3, 3)),
    *(
        joining(
            name,
            lambda *x: np.concatenate(x),
            lambda *x, name=name: op(name)(list(x)),
            (2, 3),
            (1, 3),
            (0, 3),
        )
        for name in ("concatenate", "concat")
    ),
    joining(
        "concatenate[axis]",
        lambda *x: np.concatenate(x, -1),
        lambda *x: mx.concatenate(x, axis=-1),
        (2, 3),
        (2, 1),
    ),
    joining(
        "concatenate[flat]",
        lambda *x: np.concatenate(x, None),
        lambda *x: mx.concatenate(list(x), axis=None),
        (2, 3),
        (2, 3),
    ),
    joining("stack", lambda *x: np.stack(x), lambda *x: mx.stack(list(x)), (2, 3), (2, 3)).but(
        scalar=((), ()), empty=((0, 3), (0, 3))
    ),
    joining(
        "stack[axis]",
        lambda *x: np.stack(x, -1),
        lambda *x: mx.stack(list(x), axis=-1),
        (2, 3),
        (2, 3),
        (2, 3),
    ),
    moving("roll", lambda x: np.roll(x, 5), bind("roll", 5)),
    moving("roll[axis]", lambda x: np.roll(x, -1, 1), bind("roll", -1, 1)),
    moving("roll[axes]", lambda x: np.roll(x, (1, 7), (0, 2)), bind("roll", (1, 7), (0, 2))),
    moving("flip", np.flip),
    moving("flip[axis]", lambda x: np.flip(x, 1), bind("flip", 1)),
    moving("matrix_transpose", lambda x: np.swapaxes(x, -1, -2)),
    moving("diag", np.diag, shape=(4,)),
    moving("diag[above]", lambda x: np.diag(x, 2), bind("diag", 2), shape=(3,)),
    moving("diag[of a matrix]", lambda x: np.diag(x, -1), bind("diag", -1), shape=(3, 4)),
    moving("diagonal", np.diagonal, shape=(3, 4)),
    moving("diagonal[axes]", lambda x: np.diagonal(x, 1, 1, 2), bind("diagonal", 1, 1, 2)),
    moving("trace", np.trace, shape=(3, 4), result="sum", tolerance=2),
    moving("trace[above]", lambda x: np.trace(x, 1), bind("trace", 1), shape=(3, 4), result="sum"),
    moving("atleast_1d", np.atleast_1d, shape=(), scalar=((),)),
    moving("atleast_2d", np.atleast_2d, shape=(3,), scalar=((),)),
    moving("atleast_3d", np.atleast_3d, shape=(3, 4), scalar=((),)),
    moving("unstack", list, shape=(3, 4)),
    moving("unstack[axis]", lambda x: list(x.T), bind("unstack", axis=1), shape=(3, 4)),
    moving("contiguous", lambda x: x, empty=((0, 4),), scalar=((),)),
    joining(
        "broadcast_arrays",
        lambda *x: list(np.broadcast_arrays(*x)),
        op("broadcast_arrays"),
        (3, 1),
        (4,),
    ),
    joining("meshgrid", lambda *x: list(np.meshgrid(*x)), op("meshgrid"), (3,), (4,)),
    joining("meshgrid[flat]", lambda *x: list(np.meshgrid(*x)), op("meshgrid"), (2, 2), (3,)),
    joining(
        "meshgrid[ij]",
        lambda *x: list(np.meshgrid(*x, indexing="ij", sparse=True)),
        bind("meshgrid", indexing="ij", sparse=True),
        (3,),
        (4,),
    ),
    moving(
        "as_strided",
        lambda x: np.stack([x.ravel()[1:7:2], x.ravel()[2:8:2]]),
        bind("as_strided", (2, 3), (1, 2), 1),
        shape=(3, 4),
    ),
]
