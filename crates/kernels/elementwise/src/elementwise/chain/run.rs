//! The interpreter loop of chains: tile by tile of the elements, link by link.
//!
//! Each link is a function that tail-calls the function of the next link, as in threaded code (Bell, 1973). There is no
//! dispatch loop, and each link's indirect jump has its own branch-predictor entry. The accumulator stays in the vector
//! registers in which the calling convention passes arguments.

use std::ops::Range;

use smallvec::SmallVec;

use super::links::{Binary, LinkKernel, StoreLink, WithOperand, WithoutOperand, functions, operands};
use super::vectors::Vector;
use super::{Link, Op, Source, VECTORS};

/// A link prepared for a run.
pub(super) struct Step<V> {
    run: Run<V>,
    /// The start of the value in memory.
    begin: *mut u8,
    /// Mask of an element's index: all ones, or zero for a local value, whose memory every tile reuses.
    index_mask: usize,
    /// The bits of a constant.
    pub(super) constant: u64,
}

/// Runs one link on a tile and its accumulator, then calls the next link.
///
/// Contract: that of [`Chain`](super::Chain) for the tile; the last step returns.
type Run<V> = unsafe extern "C" fn(*const Step<V>, usize, V, V, V, V, V, V, V, V);

impl<V: Vector> Step<V> {
    /// The address of the tile's elements, each of `size` bytes.
    #[inline(always)]
    pub(super) fn address(&self, at: usize, size: usize) -> *mut u8 {
        self.begin.wrapping_add((at & self.index_mask) * size)
    }
}

/// An instruction set that steps are compiled for.
pub(super) trait Level {
    /// The function of a link kernel on `N` vectors.
    fn step<V: Vector, const N: usize, W: LinkKernel<V>>() -> Run<V>;

    /// The function of the last step, which returns.
    fn end<V: Vector>() -> Run<V>;

    /// Run all steps for each tile of `N` vectors in `elements`.
    ///
    /// # Safety
    /// The contract of [`Run`]; the processor supports the instructions, and `elements` are full tiles.
    unsafe fn tiles<V: Vector, const N: usize>(steps: &[Step<V>], elements: Range<usize>);
}

macro_rules! levels {
    ($($level:ident: $step:ident, $end:ident, $tiles:ident, $features:literal;)*) => {$(
        pub(super) struct $level;

        impl Level for $level {
            fn step<V: Vector, const N: usize, W: LinkKernel<V>>() -> Run<V> {
                $step::<V, N, W>
            }

            fn end<V: Vector>() -> Run<V> {
                $end::<V>
            }

            unsafe fn tiles<V: Vector, const N: usize>(steps: &[Step<V>], elements: Range<usize>) {
                // SAFETY: guaranteed by the caller of this function.
                unsafe { $tiles::<V, N>(steps, elements) }
            }
        }

        #[target_feature(enable = $features)]
        unsafe extern "C" fn $step<V: Vector, const N: usize, W: LinkKernel<V>>(
            step: *const Step<V>, at: usize, a: V, b: V, c: V, d: V, e: V, f: V, g: V, h: V,
        ) {
            // SAFETY: the contract of `Run`; this is not the last step, so another one follows.
            unsafe {
                let [a, b, c, d, e, f, g, h] = W::apply::<N>(&*step, at, [a, b, c, d, e, f, g, h]);
                let next = step.add(1);
                ((*next).run)(next, at, a, b, c, d, e, f, g, h);
            }
        }

        #[target_feature(enable = $features)]
        unsafe extern "C" fn $end<V: Vector>(_: *const Step<V>, _: usize, _: V, _: V, _: V, _: V, _: V, _: V, _: V, _: V) {}

        #[target_feature(enable = $features)]
        unsafe fn $tiles<V: Vector, const N: usize>(steps: &[Step<V>], elements: Range<usize>) {
            let zero = V::zero();
            for at in elements.step_by(N * V::COUNT) {
                // SAFETY: guaranteed by the caller of this function.
                unsafe { (steps[0].run)(steps.as_ptr(), at, zero, zero, zero, zero, zero, zero, zero, zero) }
            }
        }
    )*};
}

levels! {
    Avx2: step_avx2, end_avx2, tiles_avx2, "avx2,fma,f16c";
    Avx512: step_avx512, end_avx512, tiles_avx512, "avx512f,avx512bw,avx512dq,avx512vl,avx2,fma,f16c";
}

/// All elements, tile by tile.
///
/// # Safety
/// The contract of [`Chain`](super::Chain); the processor supports the instructions of `L` and `V`.
pub(super) unsafe fn run<L: Level, V: Vector>(
    links: &[Link],
    values: &[*mut u8],
    n: usize,
    nontemporal: bool,
) {
    const HALF: usize = VECTORS / 2;
    let full = n - n % (VECTORS * V::COUNT);
    // SAFETY: guaranteed by the caller. `n` is a multiple of LANES, hence of half a tile of the widest vectors.
    unsafe {
        run_tiles::<L, V, VECTORS>(links, values, 0..full, nontemporal);
        run_tiles::<L, V, HALF>(links, values, full..n, nontemporal);
    }
}

/// Run links over `elements`, which are full tiles of `N` vectors.
///
/// # Safety
/// The contract of [`run`].
unsafe fn run_tiles<L: Level, V: Vector, const N: usize>(
    links: &[Link],
    values: &[*mut u8],
    elements: Range<usize>,
    nontemporal: bool,
) {
    if elements.is_empty() {
        return;
    }
    let step = |link: &Link| {
        let index_mask = if link.is_local { 0 } else { usize::MAX };
        let run = kernel_of::<L, V, N>(link, nontemporal);
        Step { run, begin: values[link.value as usize], index_mask, constant: link.constant }
    };
    let end = Step { run: L::end(), begin: std::ptr::null_mut(), index_mask: 0, constant: 0 };
    let steps: SmallVec<[Step<V>; 24]> = links.iter().map(step).chain([end]).collect();
    // SAFETY: guaranteed by the caller; the last step returns.
    unsafe { L::tiles::<V, N>(&steps, elements) }
}

/// The function of a link.
fn kernel_of<L: Level, V: Vector, const N: usize>(link: &Link, nontemporal: bool) -> Run<V> {
    macro_rules! jump {
        (with_operand { $($with_operand:ident)* } without_operand { $($without_operand:ident)* }) => {
            match link.op {
                $(Op::$with_operand => with_operand::<L, V, N, functions::$with_operand>(link.source),)*
                $(Op::$without_operand => L::step::<V, N, WithoutOperand<functions::$without_operand>>(),)*
                Op::Output if nontemporal => store::<L, V, N, true>(link.source),
                Op::Store | Op::Output => store::<L, V, N, false>(link.source),
            }
        };
    }
    jump! {
        with_operand { Load Add Multiply Subtract SubtractFrom Divide DivideInto Maximum MaximumOf Minimum MinimumOf }
        without_operand { Negative Abs Sqrt Rsqrt Reciprocal Square }
    }
}

/// The function of a link that has an operand.
fn with_operand<L: Level, V: Vector, const N: usize, F: Binary<V>>(source: Source) -> Run<V> {
    match source {
        Source::Elements => L::step::<V, N, WithOperand<F, operands::Elements>>(),
        Source::BFloat16 if const { V::CONVERTS } => L::step::<V, N, WithOperand<F, operands::BFloat16>>(),
        Source::Float16 if const { V::CONVERTS } => L::step::<V, N, WithOperand<F, operands::Float16>>(),
        Source::Integers if const { V::CONVERTS } => L::step::<V, N, WithOperand<F, operands::Integers>>(),
        Source::Constant => L::step::<V, N, WithOperand<F, operands::Constant>>(),
        Source::Accumulator => L::step::<V, N, WithOperand<F, operands::Accumulator>>(),
        _ => unreachable!("only float32 converts from other types"),
    }
}

/// The function of a link that stores.
fn store<L: Level, V: Vector, const N: usize, const NON_TEMPORAL: bool>(source: Source) -> Run<V> {
    match source {
        Source::BFloat16 if const { V::CONVERTS } => {
            L::step::<V, N, StoreLink<operands::BFloat16, NON_TEMPORAL>>()
        }
        Source::Float16 if const { V::CONVERTS } => {
            L::step::<V, N, StoreLink<operands::Float16, NON_TEMPORAL>>()
        }
        Source::Elements => L::step::<V, N, StoreLink<operands::Elements, NON_TEMPORAL>>(),
        _ => unreachable!("an accumulator is stored only to memory"),
    }
}
