//! The loop of chains: tile by tile of the elements, link by link.
//!
//! A link is a function that ends with a jump to the function of the next, as in threaded code (Bell, 1973): no loop goes
//! through the links, and each has a jump of its own, whose target the processor foresees by itself. The accumulator stays
//! in the registers in which the calling convention hands vectors over.

use std::ops::Range;

use smallvec::SmallVec;

use super::links::{Binary, LinkKernel, StoreLink, WithOperand, WithoutOperand, functions, operands};
use super::vectors::Vector;
use super::{Link, Op, Source, VECTORS};

/// A link made ready.
pub(super) struct Step<V> {
    run: Run<V>,
    /// The first element of the value.
    begin: *mut u8,
    /// Which bits of an element's number tell where it is: none where every tile uses the same memory.
    moves: usize,
    /// The bits of a constant.
    pub(super) constant: u64,
}

/// Runs one link on a tile and its accumulator, then calls the next link.
///
/// Contract: that of [`Chain`](super::Chain) for the tile; the last of the steps returns.
type Run<V> = unsafe extern "C" fn(*const Step<V>, usize, V, V, V, V, V, V, V, V);

impl<V: Vector> Step<V> {
    /// Where the tile's elements of this size begin.
    #[inline(always)]
    pub(super) fn place(&self, at: usize, size: usize) -> *mut u8 {
        self.begin.wrapping_add((at & self.moves) * size)
    }
}

/// A set of instructions that steps are compiled for.
pub(super) trait Level {
    /// Work on `N` vectors.
    fn step<V: Vector, const N: usize, W: LinkKernel<V>>() -> Run<V>;

    /// Nothing more.
    fn end<V: Vector>() -> Run<V>;

    /// All steps for each tile of `N` vectors among the elements.
    ///
    /// # Safety
    /// The contract of [`Run`]; the processor has the instructions, and the elements are whole tiles.
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
            // SAFETY: the contract of `Run`; another step follows one that does not return.
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
/// The contract of [`Chain`](super::Chain); the processor has the instructions of the level, which are those of the vectors.
pub(super) unsafe fn run<L: Level, V: Vector>(
    links: &[Link],
    values: &[*mut u8],
    n: usize,
    nontemporal: bool,
) {
    const HALF: usize = VECTORS / 2;
    let whole = n - n % (VECTORS * V::COUNT);
    // SAFETY: passed on. The largest tiles are twice what `n` is a multiple of.
    unsafe {
        run_tiles::<L, V, VECTORS>(links, values, 0..whole, nontemporal);
        run_tiles::<L, V, HALF>(links, values, whole..n, nontemporal);
    }
}

/// Elements that are whole tiles of `N` vectors.
///
/// # Safety
/// As of [`run`].
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
        let moves = if link.is_local { 0 } else { usize::MAX };
        let run = kernel_of::<L, V, N>(link, nontemporal);
        Step { run, begin: values[link.value as usize], moves, constant: link.constant }
    };
    let end = Step { run: L::end(), begin: std::ptr::null_mut(), moves: 0, constant: 0 };
    let steps: SmallVec<[Step<V>; 24]> = links.iter().map(step).chain([end]).collect();
    // SAFETY: passed on; the last step returns.
    unsafe { L::tiles::<V, N>(&steps, elements) }
}

/// The function of a link.
fn kernel_of<L: Level, V: Vector, const N: usize>(link: &Link, nontemporal: bool) -> Run<V> {
    macro_rules! jump {
        (with_operand { $($with_operand:ident)* } alone { $($alone:ident)* }) => {
            match link.op {
                $(Op::$with_operand => with_operand::<L, V, N, functions::$with_operand>(link.source),)*
                $(Op::$alone => L::step::<V, N, WithoutOperand<functions::$alone>>(),)*
                Op::Output if nontemporal => store::<L, V, N, true>(link.source),
                Op::Store | Op::Output => store::<L, V, N, false>(link.source),
            }
        };
    }
    jump! {
        with_operand { Load Add Multiply Subtract SubtractFrom Divide DivideInto Maximum MaximumOf Minimum MinimumOf }
        alone { Negative Abs Sqrt Rsqrt Reciprocal Square }
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
        _ => unreachable!("only 32-bit floats are made of other numbers"),
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
        _ => unreachable!("stores go to memory"),
    }
}
