//! Total integer arithmetic: sums and products wrap; division by zero gives zero, with the dividend as remainder; shifts by the
//! width or more shift all bits out.

/// The integer operations of the elementwise tables.
pub trait Integer: Copy + PartialEq + PartialOrd {
    /// `a / b` rounded down; 0 for `b = 0`.
    fn floor_divide(self, b: Self) -> Self;
    /// `a - b floor(a / b)`, with the sign of `b`; `a` for `b = 0`.
    fn remainder(self, b: Self) -> Self;
    /// `a` to the power `b`, wrapping; 0 for negative `b`.
    fn power(self, b: Self) -> Self;
    /// `a` shifted left; 0 for shifts outside the width.
    fn shift_left(self, b: Self) -> Self;
    /// `a` shifted right; all sign bits for shifts outside the width.
    fn shift_right(self, b: Self) -> Self;
    /// -1, 0 or 1.
    fn sign(self) -> Self;
    /// The greatest common divisor, non-negative except for the minimum with itself or 0, whose absolute value is not
    /// representable; 0 for two zeros.
    fn gcd(self, b: Self) -> Self;
}

macro_rules! shared {
    ($unsigned:ty) => {
        #[inline(always)]
        fn shift_left(self, b: Self) -> Self {
            // A negative shift is a large one as an unsigned integer.
            if (b as $unsigned) < <$unsigned>::BITS as $unsigned { self.wrapping_shl(b as u32) } else { 0 }
        }
        #[inline(always)]
        fn shift_right(self, b: Self) -> Self {
            if (b as $unsigned) < <$unsigned>::BITS as $unsigned {
                self.wrapping_shr(b as u32)
            } else {
                // Two shifts, since a single one by the whole width is undefined.
                self.wrapping_shr(<$unsigned>::BITS - 1).wrapping_shr(1)
            }
        }
    };
}

macro_rules! signed {
    ($($ty:ty: $unsigned:ty),*) => {$(
        impl Integer for $ty {
            #[inline(always)]
            fn floor_divide(self, b: Self) -> Self {
                let divisor = if b == 0 { 1 } else { b };
                let quotient = self.wrapping_div(divisor);
                let remainder = self.wrapping_rem(divisor);
                let floor = quotient - Self::from(remainder != 0 && (remainder < 0) != (b < 0));
                if b == 0 { 0 } else { floor }
            }
            #[inline(always)]
            fn remainder(self, b: Self) -> Self {
                let remainder = self.wrapping_rem(if b == 0 { 1 } else { b });
                let remainder = if remainder != 0 && (remainder < 0) != (b < 0) { remainder.wrapping_add(b) } else { remainder };
                if b == 0 { self } else { remainder }
            }
            #[inline(always)]
            fn power(self, b: Self) -> Self {
                if b < 0 { 0 } else { (self as $unsigned).power(b as $unsigned) as Self }
            }
            #[inline(always)]
            fn sign(self) -> Self {
                self.signum()
            }
            #[inline(always)]
            fn gcd(self, b: Self) -> Self {
                Integer::gcd(self.unsigned_abs(), b.unsigned_abs()) as Self
            }
            shared!($unsigned);
        }
    )*};
}

macro_rules! unsigned {
    ($($ty:ty),*) => {$(
        impl Integer for $ty {
            #[inline(always)]
            fn floor_divide(self, b: Self) -> Self {
                self.checked_div(b).unwrap_or(0)
            }
            #[inline(always)]
            fn remainder(self, b: Self) -> Self {
                self.checked_rem(b).unwrap_or(self)
            }
            #[inline(always)]
            fn power(self, b: Self) -> Self {
                let (mut result, mut base, mut exponent) = (1 as $ty, self, b);
                while exponent != 0 {
                    if exponent & 1 == 1 {
                        result = result.wrapping_mul(base);
                    }
                    base = base.wrapping_mul(base);
                    exponent >>= 1;
                }
                result
            }
            #[inline(always)]
            fn sign(self) -> Self {
                Self::from(self != 0)
            }
            #[inline(always)]
            fn gcd(self, b: Self) -> Self {
                let (mut a, mut b) = (self, b);
                while b != 0 {
                    (a, b) = (b, a % b);
                }
                a
            }
            shared!($ty);
        }
    )*};
}

signed!(i8: u8, i16: u16, i32: u32, i64: u64);
unsigned!(u8, u16, u32, u64);
