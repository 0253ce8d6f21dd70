//! The loop of chains: tile by tile of the elements, link by link.

use super::vectors::Vector;
use super::{Link, Op, Source, VECTORS};

/// All elements, tile by tile.
///
/// # Safety
/// The contract of [`Chain`](super::Chain); the caller is compiled for the instructions of the vectors.
#[inline(always)]
pub(super) unsafe fn run<V: Vector>(links: &[Link], values: &[*mut u8], n: usize, past_caches: bool) {
    let mut at = 0;
    while at + VECTORS * V::COUNT <= n {
        // SAFETY: passed on; the tile ends before `n`.
        unsafe { tile::<V, VECTORS>(links, values, at, past_caches) };
        at += VECTORS * V::COUNT;
    }
    // The largest tiles are twice what `n` is a multiple of.
    if at < n {
        // SAFETY: as above.
        unsafe { tile::<V, { VECTORS / 2 }>(links, values, at, past_caches) };
    }
}

/// What a link does, and with what, as one number: the jumps that lead to it take as long as its work, so there is one.
#[inline(always)]
const fn code(op: u8, source: Source) -> u8 {
    /// Numbers for the sources of an operation.
    const SOURCES: u8 = 8;
    op * SOURCES + source as u8
}

/// The numbers of an operation.
struct Codes<const OP: u8>;

impl<const OP: u8> Codes<OP> {
    const ELEMENTS: u8 = code(OP, Source::Elements);
    const BFLOAT16: u8 = code(OP, Source::BFloat16);
    const FLOAT16: u8 = code(OP, Source::Float16);
    const INTEGERS: u8 = code(OP, Source::Integers);
    const CONSTANT: u8 = code(OP, Source::Constant);
    const ACCUMULATOR: u8 = code(OP, Source::Accumulator);
    const SPARE0: u8 = code(OP, Source::Spare0);
    const SPARE1: u8 = code(OP, Source::Spare1);
}

/// One tile, from element `at` on.
///
/// # Safety
/// As [`run`].
#[inline(always)]
unsafe fn tile<V: Vector, const N: usize>(links: &[Link], values: &[*mut u8], at: usize, past_caches: bool) {
    let mut sums = [V::zero(); N];
    let mut spares = [[V::zero(); N]; 2];
    for link in links {
        let from = if link.is_local { 0 } else { at };
        // SAFETY: the contract: links name values.
        let place = || unsafe { *values.get_unchecked(link.value as usize) };
        // Plain code for each vector: closures would not be compiled for the vectors' instructions, and an accumulator that
        // a loop goes through is kept in memory.
        macro_rules! vectors {
            (|$i:ident| $body:expr) => {
                vectors!(|$i| $body; 0 1 2 3 4 5 6 7)
            };
            (|$i:ident| $body:expr; $($number:literal)*) => {{$(
                if $number < N {
                    let $i: usize = $number;
                    $body
                }
            )*}};
        }
        macro_rules! each {
            (|$sum:ident, $place:ident| $body:expr, $size:expr) => {{
                let begin = place().wrapping_add(from * $size);
                vectors!(|i| {
                    let ($sum, $place) = (&mut sums[i], begin.wrapping_add(i * V::COUNT * $size));
                    // SAFETY: the value has as many elements of this size; the caller has the instructions.
                    unsafe { $body }
                });
            }};
        }
        // Of 16-bit floats, two vectors have the bytes of one.
        macro_rules! pairs {
            (|$pair:ident, $place:ident| $body:expr) => {{
                let begin = place().wrapping_add(from * 2);
                vectors!(
                    |i| {
                        let ($pair, $place) = ([sums[i], sums[i + 1]], begin.wrapping_add(i * V::COUNT * 2));
                        // SAFETY: the value has as many elements of this size; the caller has the instructions.
                        unsafe { $body }
                    };
                    0 2 4 6
                );
            }};
        }
        macro_rules! map {
            (|$a:ident| $body:expr) => {
                vectors!(|i| {
                    let $a = sums[i];
                    sums[i] = $body;
                })
            };
        }
        macro_rules! beside {
            (|$a:ident, $x:ident| $body:expr, $others:expr) => {
                vectors!(|i| {
                    let ($a, $x) = (sums[i], $others[i]);
                    sums[i] = $body;
                })
            };
        }
        macro_rules! loaded {
            (|$a:ident, $x:ident| $body:expr, $load:ident, $size:expr) => {
                each!(
                    |sum, place| {
                        let ($a, $x) = (*sum, V::$load(place));
                        *sum = $body;
                    },
                    $size
                )
            };
        }
        macro_rules! jump {
            (
                given { $($given:ident |$a:ident, $x:ident| $with:expr;)* }
                alone { $($alone:ident |$b:ident| $made:expr;)* }
                stored { $($stored:ident $past_caches:expr;)* }
            ) => {
                match code(link.op as u8, link.source) {
                    $(
                        Codes::<{ Op::$given as u8 }>::ELEMENTS => loaded!(|$a, $x| $with, load, V::SIZE),
                        Codes::<{ Op::$given as u8 }>::BFLOAT16 if V::CONVERTS => {
                            loaded!(|$a, $x| $with, load_bfloat16, 2);
                        }
                        Codes::<{ Op::$given as u8 }>::FLOAT16 if V::CONVERTS => {
                            loaded!(|$a, $x| $with, load_float16, 2);
                        }
                        Codes::<{ Op::$given as u8 }>::CONSTANT => {
                            let $x = V::splat(link.constant);
                            map!(|$a| $with);
                        }
                        Codes::<{ Op::$given as u8 }>::ACCUMULATOR => beside!(|$a, $x| $with, sums),
                        Codes::<{ Op::$given as u8 }>::SPARE0 if V::HAS_SPARES => {
                            beside!(|$a, $x| $with, spares[0]);
                        }
                        Codes::<{ Op::$given as u8 }>::SPARE1 if V::HAS_SPARES => {
                            beside!(|$a, $x| $with, spares[1]);
                        }
                    )*
                    // Only loads meet integers.
                    Codes::<{ Op::Load as u8 }>::INTEGERS if V::CONVERTS => {
                        each!(|sum, place| *sum = V::load_integers(place), V::SIZE);
                    }
                    $(Codes::<{ Op::$alone as u8 }>::ACCUMULATOR => map!(|$b| $made),)*
                    $(
                        Codes::<{ Op::$stored as u8 }>::ELEMENTS if $past_caches => {
                            each!(|sum, place| sum.stream(place), V::SIZE);
                        }
                        Codes::<{ Op::$stored as u8 }>::ELEMENTS => {
                            each!(|sum, place| sum.store(place), V::SIZE);
                        }
                        Codes::<{ Op::$stored as u8 }>::BFLOAT16 if V::CONVERTS => {
                            pairs!(|pair, place| V::store_bfloat16(pair, place, $past_caches));
                        }
                        Codes::<{ Op::$stored as u8 }>::FLOAT16 if V::CONVERTS => {
                            pairs!(|pair, place| V::store_float16(pair, place, $past_caches));
                        }
                        Codes::<{ Op::$stored as u8 }>::SPARE0 if V::HAS_SPARES => spares[0] = sums,
                        Codes::<{ Op::$stored as u8 }>::SPARE1 if V::HAS_SPARES => spares[1] = sums,
                    )*
                    _ => unreachable!("{:?} of {:?}", link.op, link.source),
                }
            };
        }
        jump! {
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
            stored {
                Store false;
                Output past_caches;
            }
        }
    }
}
