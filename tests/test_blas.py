"""Large products by a BLAS that the environment names."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

# A library of the least that is asked for: it counts its calls, and says how many threads it was
# told to use.
SOURCE = """
#include <complex.h>
#include <stdio.h>
#include <stdlib.h>

static int calls = 0, threads = 7;

int openblas_get_num_threads(void) { return threads; }
void openblas_set_num_threads(int count) { threads = count; }

__attribute__((destructor)) static void tell(void) {
    fprintf(stderr, "%d calls, %d threads at last\\n", calls, threads);
}

#define GEMM(NAME, T, SCALAR, VALUE)                                                            \\
    void NAME(int order, int left, int right, int m, int n, int k, SCALAR alpha, const T *a,    \\
              int lda, const T *b, int ldb, SCALAR beta, T *c, int ldc) {                       \\
        if (order != 101 || threads != 3) abort();                                              \\
        if (lda < (left == 111 ? k : m) || ldb < (right == 111 ? n : k) || ldc < n) abort();    \\
        calls += 1;                                                                             \\
        for (int i = 0; i < m; i++)                                                             \\
            for (int j = 0; j < n; j++) {                                                       \\
                T sum = 0;                                                                      \\
                for (int d = 0; d < k; d++)                                                     \\
                    sum += (left == 111 ? a[(long)i * lda + d] : a[(long)d * lda + i]) *        \\
                           (right == 111 ? b[(long)d * ldb + j] : b[(long)j * ldb + d]);        \\
                T *to = &c[(long)i * ldc + j];                                                  \\
                *to = VALUE(alpha, T) * sum + (VALUE(beta, T) == 0 ? 0 : VALUE(beta, T) * *to); \\
            }                                                                                   \\
    }
#define SAME(x, T) (x)
#define READ(x, T) (*(const T *)(x))
GEMM(cblas_sgemm, float, float, SAME)
GEMM(cblas_dgemm, double, double, SAME)
GEMM(cblas_cgemm, float complex, const void *, READ)
GEMM(cblas_zgemm, double complex, const void *, READ)
"""

# Products in four dtypes and all layouts, alone and as parts of programs; `calls` are large ones.
PROGRAM = """
import numpy as np
import umber.core as mx

mx.set_num_threads(3)
rng = np.random.default_rng(0)
calls = 0


def numbers(shape, dtype):
    values = rng.standard_normal(shape)
    return (values + 1j * rng.standard_normal(shape) if dtype.kind == "c" else values).astype(dtype)


def check(result, wanted, count):
    global calls
    result = np.array(result)
    assert result.shape == wanted.shape and result.dtype == wanted.dtype
    tolerance = 1e-4 if result.dtype in (np.float32, np.complex64) else 1e-12
    assert np.abs(result - wanted).max() <= tolerance * np.abs(wanted).max()
    calls += count


for dtype in map(np.dtype, ("float32", "float64", "complex64", "complex128")):
    m, n, k = 70, 90, 130
    a, b, c = numbers((m, k), dtype), numbers((k, n), dtype), numbers((m, n), dtype)
    x, y, z = map(mx.array, (a, b, c))
    left, right = mx.array(a.T.copy()).T, mx.array(b.T.copy()).T
    for first in (x, left):
        for second in (y, right):
            check(first @ second, a @ b, 1)
    wide = mx.array(numbers((2 * m, 3 * k), dtype))
    check(wide[::2, k : 2 * k] @ y, np.array(wide)[::2, k : 2 * k] @ b, 1)
    # Neither axis is dense; lines that are one; too small.
    check(wide[::2, ::3] @ y, np.array(wide)[::2, ::3] @ b, 0)
    check(mx.broadcast_to(x[0], (m, k)) @ y, np.broadcast_to(a[0], (m, k)) @ b, 0)
    check(x[:8] @ y, a[:8] @ b, 0)
    check(mx.addmm(z, x, y, 2.0, 3.0), (3 * c + 2 * (a @ b)).astype(dtype), 1)
    stack = numbers((3, m, k), dtype)
    check(mx.array(stack) @ y, stack @ b, 1)
    if dtype.kind == "f":
        check(mx.maximum(x @ y + z[0], 0) * 2, np.maximum(a @ b + c[0], 0) * 2, 1)
        value, gradients = mx.value_and_grad(lambda x, y: (x @ y).sum(), (0, 1))(x, y)
        ones = np.ones((m, n), dtype)
        check(gradients[0], ones @ b.T, 0)
        check(gradients[1], a.T @ ones, 0)
        batch = numbers((2, m, k), dtype)
        check(mx.vmap(lambda x: x @ y)(mx.array(batch)), batch @ b, 1)
ones = mx.ones((64, 64), mx.float16)
check(ones @ ones, np.full((64, 64), 64, np.float16), 0)
print(calls)
"""


def run(library, program=PROGRAM):
    return subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"UMBER_BLAS": str(library)},
        capture_output=True,
        text=True,
    )


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs a C compiler")
def test_large_products_are_the_librarys(tmp_path):
    source, library = tmp_path / "counting.c", tmp_path / "libcounting.so"
    source.write_text(SOURCE)
    subprocess.run(["gcc", "-O2", "-shared", "-fPIC", "-o", library, source], check=True)
    found = run(library)
    assert found.returncode == 0, found.stderr
    said = found.stderr.split()
    # Gradients may be products with ones as well, or sums.
    assert int(said[0]) >= int(found.stdout) > 30
    assert said[2:4] == ["7", "threads"]


def test_a_library_of_other_names_and_longer_lengths():
    found = list((Path(np.__file__).parent.parent / "numpy.libs").glob("libscipy_openblas*.so*"))
    if not found:
        pytest.skip("this NumPy carries no OpenBLAS")
    result = run(found[0])
    assert result.returncode == 0, result.stderr
    assert not result.stderr


@pytest.mark.parametrize("name", ["libm.so.6", "/no/such/library.so"])
def test_what_is_no_blas_is_told_and_passed_over(name):
    result = run(name)
    assert result.returncode == 0, result.stderr
    warning = f'[umber] UMBER_BLAS: got "{name}", expected a shared library with CBLAS'
    assert f"RuntimeWarning: {warning}" in result.stderr
