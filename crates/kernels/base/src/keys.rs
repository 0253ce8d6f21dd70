//! Sort keys: unsigned integers in the order of the elements.

use umber_types::{Bool, Complex32, Complex64, Element, bf16, f16};

use crate::arrays::array_of;

/// An unsigned integer as a sort key.
pub trait Key: Copy + Ord + Send + Sync + Default + 'static {
    /// The minimum, zero.
    const MIN: Self;
}

macro_rules! key {
    ($($ty:ty)*) => { $(
        impl Key for $ty {
            const MIN: $ty = 0;
        }
    )* };
}
key!(u8 u16 u32 u64 u128);

/// Sort direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Larger elements have larger keys.
    Ascending,
    /// Larger elements have smaller keys.
    Descending,
}

/// An element with a sort key. NaN has the maximum key in both directions; zeros of both signs have equal keys.
/// Complex numbers compare by real part, then by imaginary part. Those with a NaN component come last: first those with a
/// real part, by that; then those with an imaginary part, by that (NumPy's order).
pub trait Keyed: Element {
    /// An unsigned integer of the element's width.
    type Key: Key;
    /// The key in a direction.
    fn key(self, direction: Direction) -> Self::Key;
    /// The maximum key of each lane of a sequence of vectors.
    #[inline(always)]
    fn max_key<const LANES: usize>(vectors: &[[Self; LANES]], direction: Direction) -> [Self::Key; LANES] {
        let mut max_key = [Self::Key::MIN; LANES];
        for vector in vectors {
            for (max_key, element) in max_key.iter_mut().zip(vector) {
                let key = element.key(direction);
                *max_key = if key > *max_key { key } else { *max_key };
            }
        }
        max_key
    }
}

/// An element that can be recovered from its key, except for the NaN payload; zeros of different sign have different keys.
pub trait Invertible: Keyed {
    /// The ascending key.
    fn exact_key(self) -> Self::Key;
    /// The element with this key.
    fn of_exact_key(key: Self::Key) -> Self;
}

macro_rules! integers {
    ($($ty:ty, $key:ty, $first:expr;)*) => { $(
        impl Keyed for $ty {
            type Key = $key;
            #[inline(always)]
            fn key(self, direction: Direction) -> $key {
                let key = self as $key ^ $first;
                if direction == Direction::Ascending { key } else { !key }
            }
        }
        impl Invertible for $ty {
            #[inline(always)]
            fn exact_key(self) -> $key {
                self.key(Direction::Ascending)
            }
            #[inline(always)]
            fn of_exact_key(key: $key) -> $ty {
                (key ^ $first) as $ty
            }
        }
    )* };
}
integers! {
    u8, u8, 0; u16, u16, 0; u32, u32, 0; u64, u64, 0;
    i8, u8, 1 << 7; i16, u16, 1 << 15; i32, u32, 1 << 31; i64, u64, 1 << 63;
}

impl Keyed for Bool {
    type Key = u8;
    #[inline(always)]
    fn key(self, direction: Direction) -> u8 {
        u8::from(self.get()).key(direction)
    }
}

impl Invertible for Bool {
    #[inline(always)]
    fn exact_key(self) -> u8 {
        u8::from(self.get())
    }
    #[inline(always)]
    fn of_exact_key(key: u8) -> Bool {
        Bool(key)
    }
}

macro_rules! floats {
    ($($ty:ty, $key:ty, $infinity:expr $(, compared with magnitudes $signed:ty)?;)*) => { $(
        impl Keyed for $ty {
            type Key = $key;
            #[inline(always)]
            fn key(self, direction: Direction) -> $key {
                const SIGN: $key = 1 << (<$key>::BITS - 1);
                let bits = self.to_bits();
                let magnitude = bits & !SIGN;
                let key = if bits == magnitude || magnitude == 0 { magnitude | SIGN } else { !bits };
                let key = if direction == Direction::Ascending { key } else { !key };
                if magnitude > $infinity { <$key>::MAX } else { key }
            }
            $(
                // Cheaper than computing all keys: the maximum of the elements ignores NaN, which the maximum magnitude reveals.
                #[inline(always)]
                fn max_key<const LANES: usize>(vectors: &[[$ty; LANES]], direction: Direction) -> [$key; LANES] {
                    let is_ascending = direction == Direction::Ascending;
                    let worst = if is_ascending { <$ty>::NEG_INFINITY } else { <$ty>::INFINITY };
                    let (mut best, mut magnitudes) = ([worst; LANES], [0; LANES]);
                    for vector in vectors {
                        for ((best, max_key), &x) in best.iter_mut().zip(&mut magnitudes).zip(vector) {
                            let is_better = if is_ascending { x > *best } else { x < *best };
                            *best = if is_better { x } else { *best };
                            // As signed integers, which every instruction set can compare.
                            let magnitude = x.abs().to_bits() as $signed;
                            *max_key = if magnitude > *max_key { magnitude } else { *max_key };
                        }
                    }
                    array_of(
                        #[inline(always)]
                        |i| if magnitudes[i] as $key > $infinity { <$key>::MAX } else { best[i].key(direction) },
                    )
                }
            )?
        }
        impl Invertible for $ty {
            #[inline(always)]
            fn exact_key(self) -> $key {
                const SIGN: $key = 1 << (<$key>::BITS - 1);
                let bits = self.to_bits();
                let key = if bits & SIGN == 0 { bits | SIGN } else { !bits };
                if bits & !SIGN > $infinity { <$key>::MAX } else { key }
            }
            #[inline(always)]
            fn of_exact_key(key: $key) -> $ty {
                const SIGN: $key = 1 << (<$key>::BITS - 1);
                // The maximum key gives a NaN with all mantissa bits set.
                <$ty>::from_bits(if key & SIGN != 0 { key & !SIGN } else { !key })
            }
        }
    )* };
}
floats! {
    f16, u16, 0x7c00;
    bf16, u16, 0x7f80;
    f32, u32, 0x7f80_0000, compared with magnitudes i32;
    f64, u64, 0x7ff0_0000_0000_0000, compared with magnitudes i64;
}

macro_rules! complexes {
    ($($ty:ty, $key:ty, $part:ty;)*) => { $(
        impl Keyed for $ty {
            type Key = $key;
            #[inline(always)]
            fn key(self, direction: Direction) -> $key {
                let (re, im) = (self.re.key(direction), self.im.key(direction));
                // Keys of finite and infinite components are well below the maximum ones.
                let (first, second) = match (re == <$part>::MAX, im == <$part>::MAX) {
                    (false, false) => (re, im),
                    (false, true) => (<$part>::MAX - 2, re),
                    (true, false) => (<$part>::MAX - 1, im),
                    (true, true) => (<$part>::MAX, <$part>::MAX),
                };
                (first as $key) << <$part>::BITS | second as $key
            }
        }
    )* };
}
complexes! { Complex32, u64, u32; Complex64, u128, u64; }

#[cfg(test)]
mod tests {
    use super::*;
    use Direction::{Ascending, Descending};

    #[test]
    fn keys_have_the_order_of_the_elements() {
        let values = [
            f32::NEG_INFINITY,
            f32::MIN,
            -1.5,
            -1.0,
            -f32::MIN_POSITIVE,
            -1e-45,
            0.0,
            1e-45,
            1.0,
            1.5,
            f32::MAX,
            f32::INFINITY,
            f32::NAN,
        ];
        for pair in values.windows(2) {
            assert!(pair[0].key(Ascending) < pair[1].key(Ascending), "{pair:?}");
            assert!(pair[1].is_nan() || pair[0].key(Descending) > pair[1].key(Descending), "{pair:?}");
            let wide = pair.iter().map(|&value| f64::from(value).key(Ascending)).collect::<Vec<_>>();
            assert!(wide[0] < wide[1]);
        }
        assert_eq!((-0f32).key(Ascending), 0f32.key(Ascending));
        assert_eq!((-0f64).key(Descending), 0f64.key(Descending));
        assert_eq!((-f32::NAN).key(Descending), u32::MAX);
        assert!(f32::NEG_INFINITY.key(Descending) < u32::MAX);
        for bits in 0..u16::MAX {
            let (a, b) = (f16::from_bits(bits), bf16::from_bits(bits));
            assert_eq!(a.key(Ascending) > f16::ONE.key(Ascending), a > f16::ONE || a.is_nan());
            assert_eq!(b.key(Ascending) > bf16::ONE.key(Ascending), b > bf16::ONE || b.is_nan());
        }
        for bits in 0..=u16::MAX {
            let value = f16::from_bits(bits);
            let inverse = f16::of_exact_key(value.exact_key());
            assert!(inverse.to_bits() == bits || inverse.is_nan() && value.is_nan());
        }
        assert_eq!(i64::of_exact_key((-5i64).exact_key()), -5);
        assert!((-1i32).key(Ascending) < 0i32.key(Ascending) && 3u8.key(Descending) < 2u8.key(Descending));
        let complex = |re, im| Complex32::new(re, im).key(Ascending);
        assert!(complex(1.0, 9.0) < complex(2.0, -9.0) && complex(1.0, -1.0) < complex(1.0, 0.0));
        assert!(complex(f32::INFINITY, 0.0) < complex(-1.0, f32::NAN));
        assert!(complex(-1.0, f32::NAN) < complex(2.0, f32::NAN));
        assert!(complex(2.0, f32::NAN) < complex(f32::NAN, -3.0));
        assert!(complex(f32::NAN, -3.0) < complex(f32::NAN, 1.0));
        assert!(complex(f32::NAN, 1.0) < complex(f32::NAN, f32::NAN));
    }
}
