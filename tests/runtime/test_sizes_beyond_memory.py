"""Shapes whose elements no memory can address, refused where they arise."""

import numpy as np
import pytest
import umber.core as mx

# 274177 times 67280421310721 is 2^64 + 1, which 64 bits hold as one.
TALL, WIDE = 274177, 67280421310721
ONE = mx.ones(())


def ones(*shape):
    return mx.broadcast_to(ONE, shape)


COLUMN, ROW = ones(TALL, 1), ones(1, WIDE)
FLAT = ones(2**40)
EMPTY = mx.zeros((2**33, 0))
PLACES = mx.broadcast_to(mx.array(0), (WIDE,))
LONG = mx.broadcast_to(mx.array(1), (2**40,))


def shapeless(function):
    compiled = mx.compile(function, shapeless=True)
    compiled(mx.ones((3, 1)), mx.ones((1, 3)))
    return compiled(COLUMN, ROW)


@pytest.mark.parametrize(
    "call",
    [
        lambda: COLUMN + ROW,
        lambda: ones(2**40, 1) * ones(1, 2**40),
        lambda: COLUMN < ROW,
        lambda: mx.where(COLUMN > 0, ROW, COLUMN),
        lambda: mx.divmod(COLUMN, ROW),
        lambda: mx.isclose(COLUMN, ROW),
        lambda: COLUMN @ ROW,
        lambda: mx.addmm(COLUMN, COLUMN, ROW),
        lambda: mx.gather_mm(COLUMN[None], ROW[None]),
        lambda: mx.outer(COLUMN, ROW),
        lambda: mx.inner(EMPTY, EMPTY),
        lambda: mx.kron(EMPTY, EMPTY),
        lambda: mx.einsum("ij,kl->ik", EMPTY, EMPTY),
        lambda: mx.tensordot(EMPTY, EMPTY.T, 1),
        lambda: mx.ones((TALL, 1))[:, PLACES],
        lambda: mx.take(mx.ones((TALL, 1)), PLACES, axis=1),
        lambda: mx.broadcast_shapes((2**40, 1), (1, 2**40)),
        lambda: mx.broadcast_arrays(COLUMN, ROW),
        lambda: mx.meshgrid(FLAT, FLAT),
        lambda: mx.concatenate([ones(2**58)] * 40),
        lambda: mx.stack([ROW] * 300_000),
        lambda: mx.cov(ones(2**33, 1)),
        lambda: mx.linalg.cross(ones(2**40, 1, 3), ones(1, 2**40, 3)),
        lambda: mx.linalg.svd(ones(2**33, 1)),
        lambda: mx.fast.scaled_dot_product_attention(
            ones(1, 1, TALL, 1), mx.ones((1, 1, 2, 1)), ones(1, 1, 2, WIDE), scale=1.0
        ),
        lambda: mx.scan(lambda c, x: (c, mx.zeros(2**40)), mx.ones(1), FLAT),
        lambda: mx.map(lambda x: mx.zeros(2**40), FLAT),
        lambda: mx.vmap(lambda x: x + mx.zeros(2**40))(ones(2**30)),
        lambda: mx.vmap(lambda x: x + mx.arange(2**40))(ones(2**30, 1)),
        lambda: mx.vmap(lambda x: mx.pad(x, (0, 2**40)))(ones(2**30, 1)),
        lambda: mx.vmap(lambda x: mx.repeat(x, 2**40))(ones(2**30, 1)),
        lambda: mx.vmap(lambda x: mx.as_strided(x, (2**40,), (0,)))(ones(2**30, 1)),
        lambda: mx.grad(lambda x: (x + ROW).sum())(COLUMN),
        lambda: mx.compile(lambda x, y: x + y)(COLUMN, ROW),
        lambda: shapeless(lambda x, y: x + y),
    ],
)
def test_results_that_no_memory_holds_are_refused(call):
    with pytest.raises(OverflowError, match=r"^\[[\w.]+\] .* too large to address"):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mx.zeros(range(2**40)), r"\[zeros\] shape: got more than 1048576 integers"),
        (lambda: mx.sum(mx.ones(3), axis=range(2**40)), r"\[sum\] axis: got more than"),
        (lambda: mx.reshape(mx.ones(3), LONG), r"\[reshape\] shape: got more"),
        (lambda: mx.pad(mx.ones(3), LONG), r"\[pad\] got 1099511627776 widths"),
        (
            lambda: mx.pad(mx.ones(3), np.broadcast_to(1, (2**40,))),
            r"\[pad\] got 1099511627776 widths",
        ),
        (
            lambda: mx.pad(mx.ones(3), [np.broadcast_to(1, (2**40,))]),
            r"\[pad\] .* 1099511627776 widths for an axis",
        ),
        (
            lambda: mx.tensordot(mx.ones(3), mx.ones(3), FLAT),
            r"\[tensordot\] .* 1099511627776 lists of axes",
        ),
    ],
)
def test_sequences_without_end_are_not_collected(call, message):
    with pytest.raises(ValueError, match=message):
        call()


def test_what_is_deleted_from_takes_memory_for_its_places():
    with pytest.raises(MemoryError, match=r"\[delete\] out of memory for the indices"):
        mx.delete(FLAT, mx.array([3]))
