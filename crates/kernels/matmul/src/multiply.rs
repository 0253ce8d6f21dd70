//! How one thread multiplies matrices of each element type.

use std::cell::Cell;
use std::hint::black_box;
use std::ops::Range;

use num_complex::Complex;
use umber_kernels_base::float16::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use umber_kernels_base::isa::vectorised;
use umber_kernels_base::lanes::{Ring, Source};
use umber_kernels_base::scratch;
use umber_kernels_base::scratch_vec::vector_or_unwind;
use umber_types::{Bool, Element, bf16, f16};

use super::copy::{copy, pack};
use super::dispatch::{Kernel, MIN_MULTIPLICATIONS, kernel_for};
use super::product::{Beta, Matrix, Product};
use super::split::OnBlock;
use super::{amx, blocked, dot, gemm, gemv, half_gemv, low_rank, skinny, small};

/// Products with at most this many rows read the right matrix in place, once.
pub(super) const MAX_GEMV_ROWS: usize = 8;
/// Bytes of a right matrix from which gemv beats the `gemm` crate, which is better for matrices in the caches.
pub(super) const LARGE: usize = 6 << 20;

/// An element type of matrices.
pub trait Multiply: Element {
    /// The accumulator type; sums are rounded to the element type once, at the end.
    type Acc: Ring;
    /// Approximate multiplications of widened operands per nanosecond and thread, from which the number of tasks is derived.
    const SPEED: f64 = 8.0;
    /// Is `Acc` the element type itself?
    const DIRECT: bool = true;

    /// [`SPEED`](Self::SPEED) for operands of the element type.
    fn speed() -> f64 {
        Self::SPEED
    }
    /// Rows and columns of a block of an `m` by `n` result whose sums are kept in the accumulator type before they are rounded.
    fn block(m: usize, n: usize) -> (usize, usize) {
        block_of_sums(m, n)
    }

    /// Set `out` to `a @ b`, on this thread.
    fn multiply(product: &Product<Self, Self::Acc>);
    /// As [`multiply`](Self::multiply), with non-temporal stores; returns whether it was computed.
    fn multiply_nontemporal(_: &Product<Self, Self::Acc>) -> bool {
        false
    }
    /// As [`multiply`](Self::multiply), for products of one shape with indices in `range`; returns whether they were computed.
    fn multiply_each(_range: Range<usize>, _product: &impl Fn(usize) -> Product<Self, Self::Acc>) -> bool {
        false
    }
    /// As [`multiply`](Self::multiply), on all threads, if `gemm::is_shared` holds; `done` is called with the rows
    /// and columns of each complete block.
    fn multiply_shared(_: &Product<Self, Self::Acc>, _done: OnBlock<'_>) {
        unreachable!("products of {} are not computed by several threads", Self::DTYPE)
    }
    /// Compute `a @ b` of widened operands, on this thread.
    fn multiply_acc(product: &Product<Self::Acc>, beta: Beta);
    /// The element as a term of a sum.
    fn widen(self) -> Self::Acc;
    /// The sum as an element.
    fn narrow(sum: Self::Acc) -> Self;
}

/// Blocks of full rows whose accumulators fit the caches.
fn block_of_sums(m: usize, n: usize) -> (usize, usize) {
    const MAX_ELEMENTS: usize = 1 << 20;
    ((MAX_ELEMENTS / n.min(MAX_ELEMENTS)).clamp(1, m), n.min(MAX_ELEMENTS))
}

/// Evaluate an expression with `$T` the element type of some views, which have one dtype. Unsigned integers are reinterpreted as
/// signed, whose sums and products have the same bits.
#[macro_export]
macro_rules! match_multiply {
    ($($view:ident),+; $T:ident => $body:expr) => {{
        let dtype = [$($view.dtype()),+][0];
        $(
            assert!($view.dtype() == dtype, "operands have the dtype of the output");
            let $view = $view.into_signed();
        )+
        umber_types::match_dtype!(ring umber_kernels_base::view::signed(dtype), $T => $body, else => unreachable!("no unsigned integers are left"))
    }};
}

macro_rules! same_width {
    () => {
        type Acc = Self;
        #[inline(always)]
        fn widen(self) -> Self {
            self
        }
        #[inline(always)]
        fn narrow(sum: Self) -> Self {
            sum
        }
    };
}

macro_rules! exact {
    ($($ty:ty),*) => {$(
        impl Multiply for $ty {
            same_width!();
            fn multiply(product: &Product<Self>) {
                blocked::product(product, Beta::Zero);
            }
            fn multiply_acc(product: &Product<Self>, beta: Beta) {
                blocked::product(product, beta);
            }
        }
    )*};
}
exact!(i8, i16, i32, i64, Bool);

macro_rules! floats {
    ($($ty:ty: $speed:literal),*) => {$(
        impl Multiply for $ty {
            same_width!();
            const SPEED: f64 = $speed;
            fn multiply(product: &Product<Self>) {
                multiply_inexact(product, Beta::Zero);
            }
            fn multiply_nontemporal(product: &Product<Self>) -> bool {
                low_rank::product(product)
            }
            fn multiply_each(range: Range<usize>, product: &impl Fn(usize) -> Product<Self>) -> bool {
                small::each(range, product)
            }
            fn multiply_shared(product: &Product<Self>, done: OnBlock<'_>) {
                gemm::shared(product, done);
            }
            fn multiply_acc(product: &Product<Self>, beta: Beta) {
                multiply_inexact(product, beta);
            }
        }
    )*};
}
floats!(f32: 64.0, f64: 32.0, Complex<f32>: 16.0, Complex<f64>: 8.0);

/// Compute `a @ b` with the kernel that [`kernel_for`] selects.
fn multiply_inexact<T: Ring + Multiply<Acc = T>>(product: &Product<T>, beta: Beta) {
    let Product { m, k, a, b, .. } = *product;
    match kernel_for(product) {
        Kernel::Transposed => {
            let transposed = Product {
                m: product.n,
                n: m,
                a: b.transposed(),
                b: a.transposed(),
                out_row: m as isize,
                ..*product
            };
            multiply_inexact(&transposed, beta);
        }
        Kernel::Skinny => skinny::product(product, beta),
        Kernel::Small => small::product(product, beta),
        Kernel::Dot => dot::product(product, beta),
        Kernel::Gemm => gemm::product(product, beta),
        Kernel::Gemv => gemv::product(product, beta),
        Kernel::DotOfCopy => scratch::with(m * k, |packed| {
            copy(a, m, k, packed, k);
            let a = Matrix { start: packed.as_ptr(), rows: k as isize, columns: 1 };
            dot::product(&Product { a, ..*product }, beta);
        }),
        Kernel::LibraryByBlocks => library_by_blocks(product, beta),
        Kernel::Library => library(product, beta),
    }
}

/// Compute `a @ b` with dense copies of blocks of `b`: the `gemm` crate packs a column-major matrix slowly.
fn library_by_blocks<T: Ring>(product: &Product<T>, beta: Beta) {
    let Product { m, n, k, .. } = *product;
    let (depth, strip) = (k.min(512), n.min(512));
    // Rows a power of two apart would cause conflict misses.
    let stride = strip + 16;
    scratch::with(depth * stride, |packed| {
        for u in (0..k).step_by(depth) {
            let slice = product.depths(u..k.min(u + depth));
            let beta = if u == 0 { beta } else { Beta::One };
            for j in (0..n).step_by(strip) {
                let block = slice.columns(j..n.min(j + strip));
                copy(block.b, block.k, block.n, packed, stride);
                let b = Matrix { start: packed.as_ptr(), rows: stride as isize, columns: 1 };
                let block = Product { b, ..block };
                if m * block.n * block.k <= MIN_MULTIPLICATIONS {
                    gemv::product(&block, beta);
                } else {
                    library(&block, beta);
                }
            }
        }
    });
}

/// Compute `a @ b` with the `gemm` crate.
fn library<T: Ring>(product: &Product<T>, beta: Beta) {
    let Product { m, n, k, a, b, out, out_row } = *product;
    let (read, one) = (beta == Beta::One, T::factor(1.0));
    let (a, b) = ((a.start, a.columns, a.rows), (b.start, b.columns, b.rows));
    let serial = ::gemm::Parallelism::None;
    check_gemm_memory(m.saturating_add(n).saturating_mul(k.min(512)).saturating_mul(size_of::<T>()));
    // SAFETY: the invariant of `Product` is the contract of `gemm`; `T` is one of the four types that it supports.
    unsafe {
        #[rustfmt::skip]
        ::gemm::gemm(
            m, n, k, out, 1, out_row, read, a.0, a.1, a.2, b.0, b.1, b.2, one, one, false, false, false, serial,
        );
    }
}

/// Unwind with an error if memory is short. The `gemm` crate aborts the process if it cannot allocate its packed blocks, which
/// have at most `packed` bytes, or the buffer of the size of L2 that each thread keeps after its first call.
fn check_gemm_memory(packed: usize) {
    const BUFFER: usize = 4 << 20;
    const MAX_PACKED: usize = 8 << 20;
    thread_local! {
        static HAS_BUFFER: Cell<bool> = const { Cell::new(false) };
    }
    let buffer = if HAS_BUFFER.get() { 0 } else { BUFFER };
    // `black_box` keeps the compiler from removing the allocation.
    black_box(vector_or_unwind::<u8>(buffer + packed.min(MAX_PACKED)));
    HAS_BUFFER.set(true);
}

/// Compute `a @ b` in float32, block by block.
fn multiply_widened<T: Multiply<Acc = f32> + Source<f32>>(product: &Product<T, f32>) {
    if gemm::is_suitable::<T>(product.m, product.n, product.k) {
        return gemm::product(product, Beta::Zero);
    }
    // A few rows read the right matrix once, so its blocks need only fit L2.
    let (depth, strip) = if product.m <= MAX_GEMV_ROWS { (256, 256) } else { (1024, 1024) };
    let (depth, strip) = (depth.min(product.k), strip.min(product.n));
    let height = product.m.min(1024);
    scratch::with(depth * (strip + height), |packed: &mut [f32]| {
        let (left, right) = packed.split_at_mut(depth * height);
        for u in (0..product.k).step_by(depth) {
            let slice = product.depths(u..product.k.min(u + depth));
            for j in (0..product.n).step_by(strip) {
                let block = slice.columns(j..product.n.min(j + strip));
                let b = widen_block(block.b, block.k, block.n, right);
                for i in (0..product.m).step_by(height) {
                    let Product { m, n, k, a, out, out_row, .. } = block.rows(i..product.m.min(i + height));
                    let a = widen_block(a, m, k, left);
                    let beta = if u == 0 { Beta::Zero } else { Beta::One };
                    multiply_inexact(&Product { m, n, k, a, b, out, out_row }, beta);
                }
            }
        }
    });
}

/// Widen a matrix to dense memory: row-major, or column-major if it is stored so.
fn widen_block<T: Multiply<Acc = f32>>(
    from: Matrix<T>,
    rows: usize,
    columns: usize,
    to: &mut [f32],
) -> Matrix<f32> {
    if from.rows == 1 && from.columns != 1 {
        return widen_block(from.transposed(), columns, rows, to).transposed();
    }
    if from.columns == 1 {
        for (row, line) in to.chunks_exact_mut(columns).take(rows).enumerate() {
            // SAFETY: the row is inside the matrix and contiguous.
            widen(unsafe { std::slice::from_raw_parts(from.at(row, 0), columns) }, line);
        }
    } else {
        pack(from, rows, columns, to, columns, T::widen);
    }
    Matrix { start: to.as_ptr(), rows: columns as isize, columns: 1 }
}

/// Widen contiguous elements.
pub(super) fn widen<T: Multiply>(from: &[T], to: &mut [T::Acc]) {
    vectorised(
        #[inline(always)]
        move || {
            for (to, &from) in to.iter_mut().zip(from) {
                *to = from.widen();
            }
        },
    );
}

macro_rules! float16s {
    ($($ty:ident: $widen:ident $narrow:ident { $($multiply:item)* })*) => {$(
        impl Multiply for $ty {
            type Acc = f32;
            const SPEED: f64 = 64.0;
            const DIRECT: bool = false;
            $($multiply)*
            fn multiply_shared(product: &Product<Self, f32>, done: OnBlock<'_>) {
                gemm::shared(product, done);
            }
            fn multiply_acc(product: &Product<f32>, beta: Beta) {
                multiply_inexact(product, beta);
            }
            #[inline(always)]
            fn widen(self) -> f32 {
                $widen(self)
            }
            #[inline(always)]
            fn narrow(sum: f32) -> Self {
                $narrow(sum)
            }
        }
    )*};
}
float16s! {
    f16: f16_to_f32 f32_to_f16 {
        fn multiply(product: &Product<Self, f32>) {
            if !half_gemv::product(product) {
                multiply_widened(product);
            }
        }
    }
    bf16: bf16_to_f32 f32_to_bf16 {
        fn speed() -> f64 {
            amx::speed().unwrap_or(Self::SPEED)
        }
        fn block(m: usize, n: usize) -> (usize, usize) {
            let is_gemv = m.min(n) <= MAX_GEMV_ROWS;
            if !is_gemv && amx::speed().is_some() { amx::block(m, n) } else { block_of_sums(m, n) }
        }
        fn multiply(product: &Product<Self, f32>) {
            if half_gemv::product(product) {
                return;
            }
            if amx::is_suitable(product) { amx::product(product) } else { multiply_widened(product) }
        }
    }
}
