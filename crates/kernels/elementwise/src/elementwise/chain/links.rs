//! What links do with the vectors of a tile.

use std::marker::PhantomData;

use super::VECTORS;
use super::run::Step;
use super::vectors::Vector;

/// What a step does.
pub(super) trait LinkKernel<V: Vector> {
    /// The first `N` vectors of the accumulator, after it was done for the tile that begins at an element.
    ///
    /// # Safety
    /// The contract of the step's function, which this is compiled into.
    unsafe fn apply<const N: usize>(step: &Step<V>, at: usize, sums: [V; VECTORS]) -> [V; VECTORS];
}

/// `F` of each element and an operand from `O`.
pub(super) struct WithOperand<F, O>(PhantomData<(F, O)>);
/// `F` of each element.
pub(super) struct WithoutOperand<F>(PhantomData<F>);
/// Writes each element as what `O` reads, with non-temporal or regular stores.
pub(super) struct StoreLink<O, const NON_TEMPORAL: bool>(PhantomData<O>);

/// Plain code for the first `N` of eight vectors: of a loop over them, or a closure, registers are not sure to come.
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
    unsafe fn apply<const N: usize>(step: &Step<V>, at: usize, mut sums: [V; VECTORS]) -> [V; VECTORS] {
        let begin = step.place(at, O::SIZE);
        each!(N, |i| {
            // SAFETY: the caller's: the tile has that many elements.
            let x = unsafe { O::read(begin.wrapping_add(i * V::COUNT * O::SIZE), step.constant, sums[i]) };
            sums[i] = F::of(sums[i], x);
        }; 0 1 2 3 4 5 6 7);
        sums
    }
}

impl<V: Vector, F: Unary<V>> LinkKernel<V> for WithoutOperand<F> {
    #[inline(always)]
    unsafe fn apply<const N: usize>(_: &Step<V>, _: usize, mut sums: [V; VECTORS]) -> [V; VECTORS] {
        each!(N, |i| sums[i] = F::of(sums[i]); 0 1 2 3 4 5 6 7);
        sums
    }
}

impl<V: Vector, O: Stores<V>, const NON_TEMPORAL: bool> LinkKernel<V> for StoreLink<O, NON_TEMPORAL> {
    #[inline(always)]
    unsafe fn apply<const N: usize>(step: &Step<V>, at: usize, sums: [V; VECTORS]) -> [V; VECTORS] {
        let begin = step.place(at, O::SIZE);
        each!(N, |i| {
            let to = begin.wrapping_add(i * V::COUNT * O::SIZE);
            // SAFETY: the caller's: the tile has that many elements.
            unsafe { O::write([sums[i], sums[i + 1]], to, NON_TEMPORAL) };
        }; 0 2 4 6);
        sums
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

/// The functions, by the names of [`Op`](super::Op).
pub(super) mod functions {
    use super::{Binary, Unary, Vector};

    macro_rules! functions {
        (given { $($given:ident |$a:ident, $x:ident| $with:expr;)* } alone { $($alone:ident |$b:ident| $made:expr;)* }) => {
            $(
                pub(crate) struct $given;

                impl<V: Vector> Binary<V> for $given {
                    #[inline(always)]
                    fn of($a: V, $x: V) -> V {
                        $with
                    }
                }
            )*
            $(
                pub(crate) struct $alone;

                impl<V: Vector> Unary<V> for $alone {
                    #[inline(always)]
                    fn of($b: V) -> V {
                        $made
                    }
                }
            )*
        };
    }

    functions! {
        given {
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
        alone {
            Negative |a| a.negative();
            Abs |a| a.abs();
            Sqrt |a| a.sqrt();
            Rsqrt |a| V::one().divide(a.sqrt());
            Reciprocal |a| V::one().divide(a);
            Square |a| a.multiply(a);
        }
    }
}

/// Where an operand comes from.
pub(super) trait Operand<V: Vector> {
    /// Bytes of an element in memory.
    const SIZE: usize;

    /// The operand of a vector `own` of the accumulator, from memory or made of a constant's bits.
    ///
    /// # Safety
    /// The elements are readable.
    unsafe fn read(place: *const u8, constant: u64, own: V) -> V;
}

/// What the accumulator is stored as.
pub(super) trait Stores<V: Vector>: Operand<V> {
    /// Writes two vectors: of 16-bit floats, these have the bytes of one.
    ///
    /// # Safety
    /// The elements are writable, and begin at a multiple of 64 bytes if they are written with non-temporal stores.
    unsafe fn write(pair: [V; 2], to: *mut u8, nontemporal: bool);
}

/// The operands, by the names of [`Source`](super::Source).
pub(super) mod operands {
    use super::{Operand, Stores, Vector};

    macro_rules! operands {
        (
            memory { $($name:ident $size:expr, $load:ident;)* }
            registers { $($other:ident |$constant:ident, $own:ident| $made:expr;)* }
        ) => {
            $(
                pub(crate) struct $name;

                impl<V: Vector> Operand<V> for $name {
                    const SIZE: usize = $size;

                    #[inline(always)]
                    unsafe fn read(place: *const u8, _constant: u64, _own: V) -> V {
                        // SAFETY: guaranteed by the caller of this function.
                        unsafe { V::$load(place) }
                    }
                }
            )*
            $(
                pub(crate) struct $other;

                impl<V: Vector> Operand<V> for $other {
                    const SIZE: usize = 0;

                    #[inline(always)]
                    unsafe fn read(_place: *const u8, $constant: u64, $own: V) -> V {
                        $made
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
