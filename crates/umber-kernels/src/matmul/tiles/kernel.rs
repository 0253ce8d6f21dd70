//! Sums of products of packed panels, in tiles.
//!
//! A panel holds [`WIDE`] rows of the left operand, or columns of the right one, or half as many; of each [`STEP`] of
//! the depth one tile or two, one after the other. A tile has 16 rows of 64 bytes: of the left operand, 32 terms of each
//! row; of the right one, pairs of terms that follow each other, of 16 columns.

use std::arch::asm;

use super::unit::Tiles;

/// Terms of the depth in a tile.
pub(super) const STEP: usize = 32;
/// Rows or columns of two tiles.
pub(super) const WIDE: usize = 32;
/// Elements in a tile.
pub(super) const TILE: usize = 512;

/// Where a block of the sums is: up to two tiles by two.
#[derive(Clone, Copy)]
pub(super) struct Sums {
    pub(super) start: *mut f32,
    /// Distance between rows.
    pub(super) row: usize,
    /// Add to what is there?
    pub(super) is_begun: bool,
}

macro_rules! kernels {
    ($($name:ident: $left:literal $right:literal,
        [$($begin:literal)*] [$($zero:literal)*] [$($step:literal)*] [$($end:literal)*];)*) => {$(
        /// Add the products of two panels, `steps` tiles deep.
        ///
        /// # Safety
        /// The panels are readable and the sums writable; all have as many tiles as the name says.
        pub(super) unsafe fn $name(_: &Tiles, a: *const u16, b: *const u16, steps: usize, sums: Sums) {
            // SAFETY: the caller's; the unit is configured, and compiled code keeps nothing in tiles.
            unsafe {
                asm!(
                    "test {begun:e}, {begun:e}",
                    "jz 3f",
                    $($begin,)*
                    "jmp 4f",
                    "3:",
                    $($zero,)*
                    "4:",
                    "test {steps}, {steps}",
                    "jz 6f",
                    "5:",
                    $($step,)*
                    concat!("add {a}, ", $left),
                    concat!("add {b}, ", $right),
                    "dec {steps}",
                    "jnz 5b",
                    "6:",
                    $($end,)*
                    begun = in(reg) u32::from(sums.is_begun),
                    steps = inout(reg) steps => _,
                    a = inout(reg) a => _,
                    b = inout(reg) b => _,
                    line = in(reg) 64usize,
                    up = in(reg) sums.start,
                    low = in(reg) sums.start.wrapping_add(16 * sums.row),
                    row = in(reg) 4 * sums.row,
                    out("tmm0") _, out("tmm1") _, out("tmm2") _, out("tmm3") _,
                    out("tmm4") _, out("tmm5") _, out("tmm6") _, out("tmm7") _,
                    options(nostack),
                );
            }
        }
    )*};
}

kernels! {
    two_by_two: 2048 2048,
    ["tileloadd tmm0, [{up} + {row}]" "tileloadd tmm1, [{up} + {row} + 64]"
     "tileloadd tmm2, [{low} + {row}]" "tileloadd tmm3, [{low} + {row} + 64]"]
    ["tilezero tmm0" "tilezero tmm1" "tilezero tmm2" "tilezero tmm3"]
    ["tileloadd tmm6, [{b} + {line}]" "tileloadd tmm4, [{a} + {line}]" "tdpbf16ps tmm0, tmm4, tmm6"
     "tileloadd tmm7, [{b} + {line} + 1024]" "tdpbf16ps tmm1, tmm4, tmm7"
     "tileloadd tmm5, [{a} + {line} + 1024]" "tdpbf16ps tmm2, tmm5, tmm6" "tdpbf16ps tmm3, tmm5, tmm7"]
    ["tilestored [{up} + {row}], tmm0" "tilestored [{up} + {row} + 64], tmm1"
     "tilestored [{low} + {row}], tmm2" "tilestored [{low} + {row} + 64], tmm3"];
    two_by_one: 2048 1024,
    ["tileloadd tmm0, [{up} + {row}]" "tileloadd tmm2, [{low} + {row}]"]
    ["tilezero tmm0" "tilezero tmm2"]
    ["tileloadd tmm6, [{b} + {line}]" "tileloadd tmm4, [{a} + {line}]" "tdpbf16ps tmm0, tmm4, tmm6"
     "tileloadd tmm5, [{a} + {line} + 1024]" "tdpbf16ps tmm2, tmm5, tmm6"]
    ["tilestored [{up} + {row}], tmm0" "tilestored [{low} + {row}], tmm2"];
    one_by_two: 1024 2048,
    ["tileloadd tmm0, [{up} + {row}]" "tileloadd tmm1, [{up} + {row} + 64]"
     "/* {low} */"]
    ["tilezero tmm0" "tilezero tmm1"]
    ["tileloadd tmm4, [{a} + {line}]" "tileloadd tmm6, [{b} + {line}]" "tdpbf16ps tmm0, tmm4, tmm6"
     "tileloadd tmm7, [{b} + {line} + 1024]" "tdpbf16ps tmm1, tmm4, tmm7"]
    ["tilestored [{up} + {row}], tmm0" "tilestored [{up} + {row} + 64], tmm1"];
    one_by_one: 1024 1024,
    ["tileloadd tmm0, [{up} + {row}]" "/* {low} */"]
    ["tilezero tmm0"]
    ["tileloadd tmm4, [{a} + {line}]" "tileloadd tmm6, [{b} + {line}]" "tdpbf16ps tmm0, tmm4, tmm6"]
    ["tilestored [{up} + {row}], tmm0"];
}
