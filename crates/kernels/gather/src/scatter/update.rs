//! The update of an element by a scatter.

use std::marker::PhantomData;

use umber_kernels_base::float16::{bf16_to_f32, f16_to_f32, f32_to_bf16, f32_to_f16};
use umber_kernels_base::order::MinMax;
use umber_types::{Bool, Complex32, Complex64, bf16, f16};

/// The new value of an element, given its old one and an update.
pub(super) trait Update: 'static {
    /// The element type of the destination and of the updates.
    type Element: Copy + Send + Sync;
    /// Duplicate updates of one element combine in this type and are rounded once.
    type Wide: Copy + Send + Sync;
    /// Whether `Wide` differs from `Element`.
    const WIDENS: bool = false;
    /// The identity of the update, which preserves even the sign of zero; `Some` if privatisation is allowed.
    const IDENTITY: Option<Self::Element> = None;
    /// To the wide type.
    fn widen(value: Self::Element) -> Self::Wide;
    /// From the wide type.
    fn narrow(value: Self::Wide) -> Self::Element;
    /// The old value combined with an update.
    fn combine(old: Self::Wide, update: Self::Wide) -> Self::Wide;
}

macro_rules! updates {
    ($($(#[$doc:meta])* $name:ident),*) => {
        $($(#[$doc])* pub(super) struct $name<T>(PhantomData<T>);)*
    };
}

updates! {
    /// Replace the element.
    Set,
    /// Add the update.
    Add,
    /// Multiply by the update.
    Multiply,
    /// Keep the maximum.
    Maximum,
    /// Keep the minimum.
    Minimum
}

macro_rules! update {
    ($name:ident<$ty:ty>, |$old:ident, $new:ident| $combine:expr $(, identity $identity:expr)?) => {
        impl Update for $name<$ty> {
            type Element = $ty;
            type Wide = $ty;
            $(const IDENTITY: Option<$ty> = Some($identity);)?
            #[inline(always)]
            fn widen(value: $ty) -> $ty {
                value
            }
            #[inline(always)]
            fn narrow(value: $ty) -> $ty {
                value
            }
            #[inline(always)]
            fn combine($old: $ty, $new: $ty) -> $ty {
                $combine
            }
        }
    };
    ($name:ident<$ty:ty> widened by $widen:ident, $narrow:ident, |$old:ident, $new:ident| $combine:expr) => {
        impl Update for $name<$ty> {
            type Element = $ty;
            type Wide = f32;
            const WIDENS: bool = true;
            #[inline(always)]
            fn widen(value: $ty) -> f32 {
                $widen(value)
            }
            #[inline(always)]
            fn narrow(value: f32) -> $ty {
                $narrow(value)
            }
            #[inline(always)]
            fn combine($old: f32, $new: f32) -> f32 {
                $combine
            }
        }
    };
}

macro_rules! set {
    ($($ty:ty)*) => { $(update!(Set<$ty>, |_old, new| new);)* };
}
// By width only, since a set copies bits.
set!(u8 u16 u32 [u32; 2] [u64; 2]);

macro_rules! wrapping {
    ($($ty:ty)*) => { $(
        update!(Add<$ty>, |old, new| old.wrapping_add(new), identity 0);
        update!(Multiply<$ty>, |old, new| old.wrapping_mul(new));
    )* };
}
// Wrapping sums and products are the same for signed integers.
wrapping!(u8 u16 u32 u64);

macro_rules! inexact {
    ($($ty:ty, $identity:expr;)*) => { $(
        update!(Add<$ty>, |old, new| old + new, identity $identity);
        update!(Multiply<$ty>, |old, new| old * new);
    )* };
}
inexact! {
    f32, -0.0;
    f64, -0.0;
    Complex32, Complex32::new(-0.0, -0.0);
    Complex64, Complex64::new(-0.0, -0.0);
}

update!(Add<f16> widened by f16_to_f32, f32_to_f16, |old, new| old + new);
update!(Multiply<f16> widened by f16_to_f32, f32_to_f16, |old, new| old * new);
update!(Add<bf16> widened by bf16_to_f32, f32_to_bf16, |old, new| old + new);
update!(Multiply<bf16> widened by bf16_to_f32, f32_to_bf16, |old, new| old * new);

macro_rules! ranked {
    ($($ty:ty)*) => { $(
        update!(Maximum<$ty>, |old, new| MinMax::maximum(old, new));
        update!(Minimum<$ty>, |old, new| MinMax::minimum(old, new));
    )* };
}
ranked!(Bool u8 u16 u32 u64 i8 i16 i32 i64 f16 bf16 f32 f64 Complex32 Complex64);

/// Evaluate `$body` with `$U` bound to the update of this kind and dtype.
macro_rules! match_update {
    ($kind:expr, $dtype:expr, $U:ident => $body:expr) => {{
        use umber_types::{Bool, Complex32, Complex64, DType, ScatterKind, bf16, f16, match_dtype};
        use $crate::scatter::update::{Add, Maximum, Minimum, Multiply, Set};
        macro_rules! with {
            ($update:ident, $ty:ty) => {{
                type $U = $update<$ty>;
                $body
            }};
        }
        macro_rules! arithmetic {
            ($update:ident, $logical:ident) => {
                match $dtype {
                    // For bool the sum is logical or, the product logical and.
                    DType::Bool => with!($logical, Bool),
                    DType::UInt8 | DType::Int8 => with!($update, u8),
                    DType::UInt16 | DType::Int16 => with!($update, u16),
                    DType::UInt32 | DType::Int32 => with!($update, u32),
                    DType::UInt64 | DType::Int64 => with!($update, u64),
                    DType::Float16 => with!($update, f16),
                    DType::BFloat16 => with!($update, bf16),
                    DType::Float32 => with!($update, f32),
                    DType::Float64 => with!($update, f64),
                    DType::Complex64 => with!($update, Complex32),
                    DType::Complex128 => with!($update, Complex64),
                    _ => unreachable!("float8 supports only Set"),
                }
            };
        }
        match $kind {
            ScatterKind::Set => umber_kernels_base::by_width::dispatch_by_width!($dtype.size(), T => with!(Set, T)),
            ScatterKind::Add => arithmetic!(Add, Maximum),
            ScatterKind::Multiply => arithmetic!(Multiply, Minimum),
            ScatterKind::Maximum => match_dtype!($dtype, T => with!(Maximum, T)),
            ScatterKind::Minimum => match_dtype!($dtype, T => with!(Minimum, T)),
        }
    }};
}
pub(super) use match_update;
