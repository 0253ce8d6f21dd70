//! AMX kernels: sums of products of packed panels, in tile registers.
//!
//! A panel holds [`TWO_TILES`] rows of the left operand or columns of the right one, or half as many. For each [`STEP`] of the
//! depth it has one or two consecutive tiles. A tile has 16 rows of 64 bytes: for the left operand, 32 terms of each row; for
//! the right one, pairs of consecutive terms of 16 columns.

use std::arch::asm;

use umber_kernels_base::amx::Tiles;

/// Terms of the depth per tile.
pub(super) const STEP: usize = 32;
/// Rows or columns per two tiles.
pub(super) const TWO_TILES: usize = 32;
/// Elements per tile.
pub(super) const TILE: usize = 512;

/// A block of the sums in memory: up to two by two tiles.
#[derive(Clone, Copy)]
pub(super) struct Sums {
    pub(super) start: *mut f32,
    /// Row stride.
    pub(super) row: usize,
    /// Add to the existing values?
    pub(super) accumulate: bool,
}

macro_rules! kernels {
    ($($name:ident: $left:literal $right:literal,
        [$($begin:literal)*] [$($zero:literal)*] [$($step:literal)*] [$($end:literal)*];)*) => {$(
        /// Add the products of two panels, `steps` tiles deep.
        ///
        /// # Safety
        /// The panels are readable and the sums writable; all have as many tiles as the name says, and `Tiles` are configured.
        pub(super) unsafe fn $name(_: &Tiles, a: *const u16, b: *const u16, steps: usize, sums: Sums) {
            // SAFETY: guaranteed by the caller; `Tiles` proves the configuration, and compiled code does not use tile registers.
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
                    begun = in(reg) u32::from(sums.accumulate),
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

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;
    use umber_amx_emulator as emulator;
    use umber_kernels_base::amx::{ROW, SIDE};

    /// Compare `kernel` with the definition, for panels of small integers, whose sums are exact.
    fn check(
        tiles: [usize; 2],
        accumulate: bool,
        kernel: unsafe fn(&Tiles, *const u16, *const u16, usize, Sums),
    ) {
        const STEPS: usize = 3;
        const WIDTH: usize = TWO_TILES + 3;
        let mut state = 1u32;
        let mut panel = |tiles: usize| -> Vec<u16> {
            let number = || {
                state = state.wrapping_mul(1664525).wrapping_add(1013904223);
                let integer = (state >> 24) as i8 / 8;
                (f32::from(integer).to_bits() >> 16) as u16
            };
            std::iter::repeat_with(number).take(STEPS * tiles * TILE).collect()
        };
        let (left, right) = (panel(tiles[0]), panel(tiles[1]));
        let float = |bits: u16| f32::from_bits(u32::from(bits) << 16);
        let mut sums = vec![7f32; TWO_TILES * WIDTH];
        let unit = Tiles::configure(ROW);
        // SAFETY: the panels have this many tiles and steps, and the sums hold two by two tiles.
        unsafe {
            let sums = Sums { start: sums.as_mut_ptr(), row: WIDTH, accumulate };
            kernel(&unit, left.as_ptr(), right.as_ptr(), STEPS, sums);
        }
        for (i, row) in sums.chunks_exact(WIDTH).enumerate() {
            for (j, &actual) in row.iter().enumerate() {
                let mut expected = 7.0;
                if i < tiles[0] * SIDE && j < tiles[1] * SIDE {
                    let [left_at, right_at] = [(i, tiles[0]), (j, tiles[1])]
                        .map(|(line, tiles)| move |step: usize| (step * tiles + line / SIDE) * TILE);
                    let terms = (0..STEPS * STEP).map(|term| {
                        let (step, term) = (term / STEP, term % STEP);
                        let x = left[left_at(step) + i % SIDE * STEP + term];
                        let y = right[right_at(step) + term / 2 * STEP + j % SIDE * 2 + term % 2];
                        float(x) * float(y)
                    });
                    expected = terms.sum::<f32>() + if accumulate { 7.0 } else { 0.0 };
                }
                assert_eq!(actual, expected, "row {i}, column {j} of {tiles:?} tiles");
            }
        }
    }

    #[test]
    fn panels_are_multiplied() {
        emulator::install();
        for accumulate in [false, true] {
            check([2, 2], accumulate, two_by_two);
            check([2, 1], accumulate, two_by_one);
            check([1, 2], accumulate, one_by_two);
            check([1, 1], accumulate, one_by_one);
        }
    }
}
