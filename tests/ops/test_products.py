"""Products by indices, segments and masks, einsum's order, the Hadamard transform."""

import itertools

import numpy as np
import pytest
import umber.core as mx
from arrays import assert_close, to_numpy, to_umber
from scipy.linalg import hadamard
from tolerances import tolerance_of

A, B = mx.ones((5, 2, 3)), mx.ones((4, 3, 2))


def indices(*values):
    return mx.array(values, mx.int32)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: mx.gather_mm(A, A, indices(0)),
            r"\[gather_mm\] inner dimensions differ: \(5, 2, 3\) @ \(5, 2, 3\)",
        ),
        (
            lambda: mx.gather_mm(A, B, mx.array([0.0])),
            r"\[gather_mm\] indices must be integers, not float32",
        ),
        (
            lambda: mx.gather_mm(A, B, mx.array([True])),
            r"\[gather_mm\] indices must be integers, not bool",
        ),
        (
            lambda: mx.gather_mm(A, B, indices(0, 1)),
            r"\[gather_mm\] indices of shapes \(2,\) and \(4,\) cannot be broadcast",
        ),
        (
            lambda: mx.gather_mm(mx.array(1.0), B),
            r"\[gather_mm\] operands must have at least one .*got shapes \(\) and \(4, 3, 2\)",
        ),
        (
            lambda: mx.segmented_mm(A, B, indices(0, 1)),
            r"\[segmented_mm\] operands must be matrices with .*got \(5, 2, 3\) @ \(4, 3, 2\)",
        ),
        (
            lambda: mx.segmented_mm(A[0], B[0], mx.array([0.0, 1.0])),
            r"\[segmented_mm\] segments must be integers, not float32",
        ),
        (
            lambda: mx.segmented_mm(A[0], B[0], indices(0, 1, 2)),
            r"\[segmented_mm\] last axis of segments must have .*got shape \(3,\)",
        ),
        (
            lambda: mx.segmented_mm(A[0], B[0][:2], indices(0, 1)),
            r"\[segmented_mm\] operands must be matrices with .*got \(2, 3\) @ \(2, 2\)",
        ),
        (
            lambda: mx.block_masked_mm(A, B[:1], 0),
            r"\[block_masked_mm\] block size must be positive, got 0",
        ),
        (lambda: mx.block_masked_mm(A[0], B[0], 1, mx.ones((3, 2))), r"mask_out of shape \(3, 2\)"),
        (
            lambda: mx.block_masked_mm(mx.array(1.0), B),
            r"\[block_masked_mm\] operands must have at least .*got shapes \(\) and \(4, 3, 2\)",
        ),
        (
            lambda: mx.hadamard_transform(mx.ones(11)),
            r"\[hadamard_transform\] last axis must have length .*got 11",
        ),
        (
            lambda: mx.hadamard_transform(mx.ones(6)),
            r"\[hadamard_transform\] last axis must have length .*got 6",
        ),
        (
            lambda: mx.hadamard_transform(mx.ones((2, 0))),
            r"\[hadamard_transform\] last axis must not be empty, got shape \(2, 0\)",
        ),
        (
            lambda: mx.einsum_path("ij,jk", A[0]),
            r"\[einsum_path\] number of operands, 1, does not match the 2 terms",
        ),
        (lambda: mx.einsum_path("i"), r"\[einsum_path\] needs at least one operand"),
    ],
)
def test_errors(call, message):
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: mx.gather_mm(A, B, indices(0, 5), indices(0, 1)),
            r"\[gather_mm\] index 5 is out of bounds",
        ),
        (
            lambda: mx.gather_mm(A, B, indices(0, 1), indices(0, -5)),
            r"\[gather_mm\] index -5 is out of",
        ),
        (
            lambda: mx.gather_mm(A, B, mx.array([2**64 - 1], mx.uint64), indices(0)),
            r"\[gather_mm\] index",
        ),
        (
            lambda: mx.segmented_mm(A[0], B[0], indices(0, 4)),
            r"\[segmented_mm\] segment \[0, 4\) is out of bounds for axis of length",
        ),
        (
            lambda: mx.segmented_mm(A[0], B[0], indices(-1, 3)),
            r"\[segmented_mm\] segment \[-1, 3\) is out of bounds for axis of",
        ),
        (
            lambda: mx.segmented_mm(A[0], B[0], mx.array([0, 2**64 - 1], mx.uint64)),
            r"\[segmented_mm\] segment \[0, 9223372036854775807\) is out of bounds",
        ),
    ],
)
def test_indices_are_checked(call, message):
    with pytest.raises(IndexError, match=message):
        mx.eval(call())


def test_lanes_do_not_reach_into_each_other():
    """Under vmap an index that is out of bounds in its lane stays so."""
    stack, bad = mx.ones((2, 5, 2, 3)), mx.array([[0, 1], [0, 5]])
    for index in (bad, -bad - 1):
        with pytest.raises(IndexError):
            mx.eval(mx.vmap(lambda a, i: mx.gather_mm(a, B[:1], i))(stack, index))
    segments = mx.array([[[0, 2]], [[-1, 2]]])
    with pytest.raises(IndexError):
        mx.eval(mx.vmap(lambda a, s: mx.segmented_mm(a, B[0], s))(mx.ones((2, 2, 3)), segments))


def test_negative_indices_count_from_the_end(rng):
    a, b = rng.normal(size=(5, 2, 3)), rng.normal(size=(4, 3, 2))
    found = mx.gather_mm(
        to_umber(a, "float64"), to_umber(b, "float64"), indices(-1, 0), indices(1, -4)
    )
    assert_close(to_numpy(found), a[[-1, 0]] @ b[[1, -4]], tolerance_of("float64"))
    mapped = mx.vmap(
        lambda i: mx.gather_mm(to_umber(a, "float64"), to_umber(b, "float64"), i, i % 4)
    )
    assert_close(
        to_numpy(mapped(mx.array([[-1], [2]])))[:, 0],
        a[[-1, 2]] @ b[[3, 2]],
        tolerance_of("float64"),
    )


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int32", "complex64"])
def test_experts(dtype, rng):
    """Many rows for few matrices, and many products for few results in the gradient."""
    a, b = rng.integers(-2, 3, (300, 1, 70)), rng.integers(-2, 3, (6, 70, 40))
    which = rng.integers(0, 6, 300)
    x, y = (mx.array(v).astype(getattr(mx, dtype)) for v in (a, b))
    found = mx.gather_mm(x, y, rhs_indices=mx.array(which))
    want = mx.array(a @ b[which]).astype(found.dtype)
    assert mx.array_equal(found, want)
    if dtype == "float32":
        ct = rng.integers(-2, 3, (300, 1, 40))
        _, (dx, dy) = mx.vjp(
            lambda x, y: mx.gather_mm(x, y, rhs_indices=mx.array(which)),
            [x, y],
            [mx.array(ct).astype(mx.float32)],
        )
        assert_close(to_numpy(dx), (ct @ b[which].swapaxes(1, 2)).astype("float32"))
        want = np.zeros(b.shape)
        np.add.at(want, which, a.swapaxes(1, 2) @ ct)
        assert_close(to_numpy(dy), want.astype("float32"))


def test_no_products():
    assert mx.gather_mm(A, B, indices(), indices()).shape == (0, 2, 2)
    assert mx.gather_mm(A[..., :0], B[:, :0], indices(1), indices(1)).tolist() == [[[0, 0], [0, 0]]]
    assert mx.segmented_mm(A[0], B[0], indices(2, 1)).tolist() == [[0, 0], [0, 0]]


def test_masked_blocks_hide_nan():
    """A bool mask leaves out whatever is there; a factor of zero does not."""
    nan, ones = mx.full((4, 4), float("nan")), mx.ones((4, 4))
    off = mx.zeros((2, 2), mx.bool_)
    assert mx.block_masked_mm(nan, ones, 2, mask_lhs=off).tolist() == np.zeros((4, 4)).tolist()
    assert mx.block_masked_mm(nan, ones, 2, mask_out=off).tolist() == np.zeros((4, 4)).tolist()
    assert mx.isnan(mx.block_masked_mm(nan, ones, 2, mask_out=off.astype(mx.float32))).all()


def test_a_block_may_be_larger_than_the_matrix():
    assert mx.block_masked_mm(A[0], B[0], 2**62, mx.array([[2.0]])).tolist() == [[6, 6], [6, 6]]


@pytest.mark.parametrize("order", [12, 20, 28, 24, 112, 80, 2, 64, 128, 4096])
def test_hadamard_matrices(order):
    """Rows are orthogonal; where SciPy has the matrix, it is the same."""
    found = to_numpy(mx.hadamard_transform(mx.eye(order, dtype=mx.float64), 1.0)).T
    assert set(np.unique(found)) == {-1.0, 1.0}
    assert np.array_equal(found @ found.T, order * np.eye(order))
    if order & (order - 1) == 0:
        assert np.array_equal(found, hadamard(order))


def test_hadamard_of_nothing_and_of_a_number():
    assert mx.hadamard_transform(mx.zeros((0, 4))).shape == (0, 4)
    assert mx.hadamard_transform(mx.array(3.0), 2.0).item() == 6.0
    assert mx.hadamard_transform(mx.array([1, 2])).dtype == mx.float32


FORMULAS = [
    ("ij,jk,kl->il", ((2, 3), (3, 4), (4, 5))),
    ("ab,bc,cd,de->ae", ((10, 100), (100, 5), (5, 50), (50, 3))),
    ("abc,cd,def,ab->ef", ((3, 4, 5), (5, 6), (6, 7, 8), (3, 4))),
    ("ea,fb,abcd,gc,hd->efgh", ((4, 4), (4, 4), (4, 4, 4, 4), (4, 4), (4, 4))),
    ("ij,jk,kl,lm,mn,no->io", ((2, 30), (30, 4), (4, 50), (50, 6), (6, 7), (7, 8))),
    ("i,j,k->ijk", ((2,), (3,), (4,))),
    ("ab,ac,ad->bcd", ((9, 2), (9, 3), (9, 4))),
    ("ij->ji", ((2, 3),)),
    ("ii->", ((4, 4),)),
    ("...ij,jk", ((7, 2, 3), (3, 4))),
    (
        "a,ab,b,bc,c,cd,d,de,e,ef->f",
        tuple((2 + i // 2,) if i % 2 == 0 else (2 + i // 2, 3 + i // 2) for i in range(10)),
    ),
]


def flops_of(path, formula, shapes):
    """What a path of pairs costs, counted as in the report."""
    left, _, right = formula.partition("->")
    terms, lengths = [set(t) for t in left.split(",")], {}
    for term, shape in zip(left.split(","), shapes, strict=True):
        lengths.update(zip(term, shape, strict=True))
    total = 0
    for places in path:
        taken = [terms.pop(i) for i in sorted(places, reverse=True)]
        both = set().union(*taken)
        kept = both & (set(right).union(*terms))
        size = int(np.prod([lengths[i] for i in both]))
        total += size * (max(len(taken) - 1, 1) + (both != kept))
        terms.append(kept)
    return total


@pytest.mark.covers("einsum_path")
@pytest.mark.parametrize(("formula", "shapes"), FORMULAS)
def test_einsum_orders(formula, shapes, rng):
    """As cheap as NumPy's orders; the report says what the path costs; the result is right."""
    arrays = [rng.uniform(0.5, 1.5, shape) for shape in shapes]
    path, report = mx.einsum_path(formula, *(mx.array(a) for a in arrays))
    assert f"Complete contraction:  {formula}\n" in report
    if "..." not in formula and "ii" not in formula:
        flops = flops_of(path, formula, shapes)
        assert f"Optimized FLOP count:  {flops}\n" in report
        # NumPy tries every order, which for ten arrays takes minutes.
        for optimize in ("greedy", "optimal") if len(shapes) <= 8 else ("greedy",):
            other = np.einsum_path(formula, *arrays, optimize=optimize)[0][1:]
            pairwise = all(len(places) <= 2 for places in other)
            assert flops <= flops_of(other, formula, shapes) or (len(shapes) > 8 or not pairwise)
    found = mx.einsum(formula, *(to_umber(a, "float64") for a in arrays))
    wanted = np.einsum(formula, *arrays, optimize="greedy")
    assert_close(to_numpy(found), wanted, tolerance_of("float64", 100))


def spelled(most):
    """All terms of up to so many letters, named as they come up: aa, ab, aaa, aab, aba, …"""
    terms = ["a"]
    for _ in range(most - 1):
        terms = [term + letter for term in terms for letter in "abc"[: len(set(term)) + 1]]
        yield from terms


@pytest.mark.parametrize("term", [*spelled(5)])
def test_einsum_of_repeated_letters(term, rng):
    """Diagonals of any axes: summed, kept, and beside an operand that stretches an axis."""
    letters = "".join(dict.fromkeys(term))
    lengths = {"a": 2, "b": 3, "c": 4}
    x = rng.normal(size=[lengths[letter] for letter in term])
    stretched = x[tuple(slice(0, 1) if letter == "b" else slice(None) for letter in term)]
    other = rng.normal(size=(5, 3))
    for formula, operands in (
        (f"{term}->", [x]),
        (f"{term}->{letters}", [x]),
        (f"{term}->{letters[::-1]}", [x]),
        (f"{term},db->{letters}", [stretched, other]),
    ):
        if "b" not in term and "db" in formula:
            continue
        found = mx.einsum(formula, *(to_umber(a, "float64") for a in operands))
        assert_close(to_numpy(found), np.einsum(formula, *operands), tolerance_of("float64", 100))


def test_einsum_of_repeated_letters_and_ellipses(rng):
    operands = [rng.normal(size=shape) for shape in ((2, 3, 2, 1), (3, 3, 2))]
    found = mx.einsum("aba...,bc...->a...", *(to_umber(a, "float64") for a in operands))
    want = np.einsum("aba...,bc...->a...", *operands)
    assert_close(to_numpy(found), want, tolerance_of("float64", 100))


def test_every_dtype_multiplies(rng):
    """Integers wrap, bools say whether any pair is true together."""
    for dtype in ("uint8", "int8", "int64", "uint64"):
        a, b = (
            rng.integers(0, 120, (3, 4)).astype(dtype),
            rng.integers(0, 120, (4, 5)).astype(dtype),
        )
        x, y = mx.array(a), mx.array(b)
        for found in (x @ y, mx.tensordot(x, y, 1), mx.einsum("ij,jk->ik", x, y), mx.inner(x, y.T)):
            assert_close(to_numpy(found), a @ b)
        assert_close(to_numpy(mx.kron(x, y)), np.kron(a, b))
    a, b = rng.integers(0, 2, (3, 4)).astype(bool), rng.integers(0, 2, (4, 5)).astype(bool)
    for found in (mx.array(a) @ mx.array(b), mx.einsum("ij,jk->ik", mx.array(a), mx.array(b))):
        assert_close(to_numpy(found), a @ b)


def test_against_mlx(rng):
    reference = pytest.importorskip("mlx.core")
    for order in (1, 2, 12, 20, 28, 24, 40, 56, 1024):
        x = rng.normal(size=(3, order)).astype("float32")
        want = np.array(reference.hadamard_transform(reference.array(x)))
        assert_close(to_numpy(mx.hadamard_transform(mx.array(x))), want, tolerance_of("float32", 4))
    a, b = rng.normal(size=(70, 40)).astype("float32"), rng.normal(size=(40, 50)).astype("float32")
    bools, factors = (
        rng.integers(0, 2, (3, 2)).astype(bool),
        rng.normal(size=(2, 2)).astype("float32"),
    )
    for masks in ({}, {"mask_lhs": bools}, {"mask_rhs": factors}, {"mask_out": bools}):
        theirs = {name: reference.array(mask) for name, mask in masks.items()}
        ours = {name: mx.array(mask) for name, mask in masks.items()}
        want = np.array(
            reference.block_masked_mm(reference.array(a), reference.array(b), 32, **theirs)
        )
        assert_close(
            to_numpy(mx.block_masked_mm(mx.array(a), mx.array(b), 32, **ours)),
            want,
            tolerance_of("float32", 8),
        )
    segments = np.array([[[0, 7], [5, 40]], [[3, 3], [9, 2]]], "int32")
    want = np.array(
        reference.segmented_mm(reference.array(a), reference.array(b), reference.array(segments))
    )
    assert_close(
        to_numpy(mx.segmented_mm(mx.array(a), mx.array(b), mx.array(segments))),
        want,
        tolerance_of("float32", 8),
    )
    for formula, shapes in FORMULAS[:6]:
        report = reference.einsum_path(formula, *(reference.ones(shape) for shape in shapes))[1]
        ours = mx.einsum_path(formula, *(mx.ones(shape) for shape in shapes))[1]
        for line, wanted in itertools.zip_longest(ours.split("\n"), report.split("\n")):
            if "Optimized" not in line:
                assert line == wanted


def test_factors_of_zero_leave_their_term_out():
    nothing, ones = mx.full((2, 2), np.nan), mx.ones((2, 2))
    endless = mx.full((2, 2), np.inf)
    assert mx.addmm(nothing, ones, ones, beta=0).tolist() == [[2, 2], [2, 2]]
    assert mx.addmm(nothing[0], ones, ones, alpha=3, beta=0.0).tolist() == [[6, 6], [6, 6]]
    assert mx.addmm(ones, endless, ones, alpha=0, beta=4).tolist() == [[4, 4], [4, 4]]
    assert mx.addmm(mx.array(1.0), endless, ones, alpha=0).shape == (2, 2)
    assert mx.addmm(nothing, endless, ones, alpha=0, beta=0).tolist() == [[0, 0], [0, 0]]
    with pytest.raises(ValueError, match=r"\[addmm\] cannot broadcast c of shape \(5,\) to \(2,"):
        mx.addmm(mx.ones(5), ones, ones, beta=0)
    slopes = mx.grad(lambda *x: mx.addmm(*x, beta=0).sum(), (0, 1, 2))(nothing, ones, ones)
    assert [slope.tolist() for slope in slopes] == [[[0, 0], [0, 0]], *[[[2, 2], [2, 2]]] * 2]


@pytest.mark.parametrize("dtype", ["int8", "uint16", "bool", "int64", "float16"])
def test_einsum_widens_where_it_only_sums(dtype):
    a = mx.full((300, 2), 1).astype(getattr(mx, dtype if dtype != "bool" else "bool_"))
    for formula, want in (("ij->j", mx.sum(a, 0)), ("ij->", mx.sum(a)), ("ij->ji", a.T)):
        got = mx.einsum(formula, a)
        assert got.dtype == want.dtype
        assert got.tolist() == want.tolist()
    assert mx.einsum("ij,k->k", a, a[0]).dtype == mx.sum(a).dtype
    assert mx.einsum("ij,ij->j", a, a).dtype == a.dtype


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16"])
def test_left_operands_that_lie_across(dtype, threads, rng):
    """Sums of whole numbers are exact, whatever copies threads make of what they read."""
    rows, depth, columns = 530, 517, 600
    a, b, c = (
        rng.integers(-3, 4, shape) for shape in [(depth, rows), (depth, columns), (rows, columns)]
    )
    x, y, z = (to_umber(operand, dtype) for operand in (a, b, c))
    before = mx.set_num_threads(threads)
    try:
        product, sum_, rest = x.T @ y, mx.addmm(z, x.T, y, 2.0, 3.0), mx.maximum(x.T @ y + z, 0)
        mx.eval(product, sum_, rest)
    finally:
        mx.set_num_threads(before)
    expected = a.T @ b
    for found, exact in [
        (product, expected),
        (sum_, 2 * expected + 3 * c),
        (rest, np.maximum(expected + c, 0)),
    ]:
        np.testing.assert_array_equal(to_numpy(found), exact.astype(dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
@pytest.mark.parametrize(("depth", "columns"), [(32, 33), (67, 64), (515, 130), (128, 1000)])
def test_few_rows_by_a_matrix_that_lies_across(dtype, depth, columns, rng):
    """Every number of rows has tiles of its own."""
    b = rng.integers(-3, 4, (columns, depth))
    y = to_umber(b, dtype)
    for rows in range(1, 21):
        a = rng.integers(-3, 4, (rows, depth))
        x = to_umber(a, dtype)
        exact = to_umber(a @ b.T, dtype)
        assert mx.array_equal(x @ y.T, exact), rows
