//! The kernels of the links: their effect on the vectors of a tile.

use std::marker::PhantomData;

use super::VECTORS;
use super::run::Step;
use super::vectors::Vector;

/// The kernel of a link.
pub(super) trait LinkKernel<V: Vector> {
    /// Returns the accumulator after this link, for the tile that starts at element `at`. Only the first `N` vectors are used.
    ///
    /// # Safety
    /// The contract of [`Run`](super::run), into whose functions this is inlined.
    unsafe fn apply<const N: usize>(step: &Step<V>, at: usize, accumulator: [V; VECTORS]) -> [V; VECTORS];
}

/// `F` of each element and an operand of kind `O`.
pub(super) struct WithOperand<F, O>(PhantomData<(F, O)>);
/// `F` of each element.
pub(super) struct WithoutOperand<F>(PhantomData<F>);
/// Stores each element in the format of `O`, with non-temporal or regular stores.
pub(super) struct StoreLink<O, const NON_TEMPORAL: bool>(PhantomData<O>);

/// Unrolled code for the first `N` of eight vectors: the compiler does not reliably keep a loop or closure in registers.
macro_rules! each {
    ($n:ident, |$i:ident| $body:expr; $($number:literal)*) => {{$(
        if const { $number < $n } {
            let $i: usize = $number;
            $body
        }
    )*}};
}

impl<V: Vector, F: Binary<V>, O: Operand<V>> LinkKernel<V> for WithOperand<F, O> {
    #[inline(always)]
    unsafe fn apply<const N: usize>(
        step: &Step<V>,
        at: usize,
        mut accumulator: [V; VECTORS],
    ) -> [V; VECTORS] {
        let begin = step.address(at, O::SIZE);
        each!(N, |i| {
            // SAFETY: by the caller's contract the tile has `N` vectors of elements.
            let x = unsafe { O::read(begin.wrapping_add(i * V::COUNT * O::SIZE), step.constant, accumulator[i]) };
            accumulator[i] = F::of(accumulator[i], x);
        }; 0 1 2 3 4 5 6 7);
        accumulator
    }
}

impl<V: Vector, F: Unary<V>> LinkKernel<V> for WithoutOperand<F> {
    #[inline(always)]
    unsafe fn apply<const N: usize>(_: &Step<V>, _: usize, mut accumulator: [V; VECTORS]) -> [V; VECTORS] {
        each!(N, |i| accumulator[i] = F::of(accumulator[i]); 0 1 2 3 4 5 6 7);
        accumulator
    }
}

impl<V: Vector, O: Stores<V>, const NON_TEMPORAL: bool> LinkKernel<V> for StoreLink<O, NON_TEMPORAL> {
    #[inline(always)]
    unsafe fn apply<const N: usize>(step: &Step<V>, at: usize, accumulator: [V; VECTORS]) -> [V; VECTORS] {
        let begin = step.address(at, O::SIZE);
        each!(N, |i| {
            let to = begin.wrapping_add(i * V::COUNT * O::SIZE);
            // SAFETY: by the caller's contract the tile has `N` vectors of elements.
            unsafe { O::write([accumulator[i], accumulator[i + 1]], to, NON_TEMPORAL) };
        }; 0 2 4 6);
        accumulator
    }
}

/// A function of an element `a` and an operand `x`.
pub(super) trait Binary<V> {
    fn of(a: V, x: V) -> V;
}

/// A function of an element.
pub(super) trait Unary<V> {
    fn of(a: V) -> V;
}

/// The functions, named like the variants of [`Op`](super::Op).
pub(super) mod functions {
    use super::{Binary, Unary, Vector};

    macro_rules! functions {
        (
            with_operand { $($with_operand:ident |$a:ident, $x:ident| $body:expr;)* }
            without_operand { $($without_operand:ident |$b:ident| $result:expr;)* }
        ) => {
            $(
                pub(crate) struct $with_operand;

                impl<V: Vector> Binary<V> for $with_operand {
                    #[inline(always)]
                    fn of($a: V, $x: V) -> V {
                        $body
                    }
                }
            )*
            $(
                pub(crate) struct $without_operand;

                impl<V: Vector> Unary<V> for $without_operand {
                    #[inline(always)]
                    fn of($b: V) -> V {
                        $result
                    }
                }
            )*
        };
    }

    functions! {
        with_operand {
            Load |_a, x| x;
            Add |a, x| a.add(x);
            Multiply |a, x| a.multiply(x);
            Subtract |a, x| a.subtract(x);
            SubtractFrom |a, x| x.subtract(a);
            Divide |a, x| a.divide(x);
            DivideInto |a, x| x.divide(a);
            Maximum |a, x| a.maximum(x);
            MaximumOf |a, x| x.maximum(a);
            Minimum |a, x| a.minimum(x);
            MinimumOf |a, x| x.minimum(a);
        }
        without_operand {
            Negative |a| a.negative();
            Abs |a| a.abs();
            Sqrt |a| a.sqrt();
            Rsqrt |a| V::one().divide(a.sqrt());
            Reciprocal |a| V::one().divide(a);
            Square |a| a.multiply(a);
        }
    }
}

/// The source of an operand.
pub(super) trait Operand<V: Vector> {
    /// Bytes of an element in memory.
    const SIZE: usize;

    /// The operand for a vector `own` of the accumulator: loaded from memory, or broadcast from a constant's bits.
    ///
    /// # Safety
    /// The elements are readable.
    unsafe fn read(from: *const u8, constant: u64, own: V) -> V;
}

/// A format in which the accumulator is stored.
pub(super) trait Stores<V: Vector>: Operand<V> {
    /// Stores two vectors. In float16 and bfloat16 they fill one vector.
    ///
    /// # Safety
    /// The elements are writable, and aligned to 64 bytes for non-temporal stores.
    unsafe fn write(pair: [V; 2], to: *mut u8, nontemporal: bool);
}

/// The operands, named like the variants of [`Source`](super::Source).
pub(super) mod operands {
    use super::{Operand, Stores, Vector};

    macro_rules! operands {
        (
            memory { $($name:ident $size:expr, $load:ident;)* }
            registers { $($other:ident |$constant:ident, $own:ident| $value:expr;)* }
        ) => {
            $(
                pub(crate) struct $name;

                impl<V: Vector> Operand<V> for $name {
                    const SIZE: usize = $size;

                    #[inline(always)]
                    unsafe fn read(from: *const u8, _constant: u64, _own: V) -> V {
                        // SAFETY: guaranteed by the caller of this function.
                        unsafe { V::$load(from) }
                    }
                }
            )*
            $(
                pub(crate) struct $other;

                impl<V: Vector> Operand<V> for $other {
                    const SIZE: usize = 0;

                    #[inline(always)]
                    unsafe fn read(_from: *const u8, $constant: u64, $own: V) -> V {
                        $value
                    }
                }
            )*
        };
    }

    operands! {
        memory {
            Elements V::SIZE, load;
            BFloat16 2, load_bfloat16;
            Float16 2, load_float16;
            Integers V::SIZE, load_integers;
        }
        registers {
            Constant |constant, _own| V::splat(constant);
            Accumulator |_constant, own| own;
        }
    }

    macro_rules! stores {
        ($($name:ident |$pair:ident, $to:ident, $nontemporal:ident| $write:expr;)*) => {$(
            impl<V: Vector> Stores<V> for $name {
                #[inline(always)]
                unsafe fn write($pair: [V; 2], $to: *mut u8, $nontemporal: bool) {
                    // SAFETY: guaranteed by the caller of this function.
                    unsafe { $write }
                }
            }
        )*};
    }

    stores! {
        Elements |pair, to, nontemporal| {
            let next = to.wrapping_add(size_of::<V>());
            if nontemporal {
                pair[0].stream(to);
                pair[1].stream(next);
            } else {
                pair[0].store(to);
                pair[1].store(next);
            }
        };
        BFloat16 |pair, to, nontemporal| V::store_bfloat16(pair, to, nontemporal);
        Float16 |pair, to, nontemporal| V::store_float16(pair, to, nontemporal);
    }
}
