//! Convolutions without matrices: sums stay in registers while the kernel's taps pass over a copy of the input.
//!
//! [`boxes`] cuts the outputs into boxes and copies what a box meets, zeros around the input included, so that every tap lies at
//! the same distance from every output. [`panels`] cuts the channels into panels of a few vectors and says how they lie in the
//! copy and in the packed weight. [`registers`] holds the innermost loops, which [`forward`] and [`backward`] drive.

mod backward;
mod boxes;
mod forward;
mod panels;
mod registers;

pub(super) use backward::backward;
pub(super) use forward::forward;

use super::geometry::Geometry;
use crate::matmul::lanes::{Lanes, Ring, VectorLoop, with_widest};
use crate::matmul::multiply::Multiply;
use boxes::Boxes;
use panels::Meeting;

/// Bytes of the copy of a box: it stays in the second cache.
const COPY: usize = 384 << 10;
/// Bytes of the copy of a single output at most.
const LARGEST: usize = 4 << 20;

/// Is it of this kind?
pub(super) fn applies<T: Multiply>(geometry: &Geometry) -> bool {
    // Where vectors are not registers, products are better at channels that all meet.
    let suits = T::Wide::IN_REGISTERS || Meeting::of::<T>(geometry) == Meeting::Own;
    let is_small = Boxes::new(geometry, 1, 1).positions() <= LARGEST / position::<T>(geometry);
    suits && is_small && boxes::<T>(geometry, 1).are_dense()
}

/// The boxes of a convolution, `wanted` of them if they are worth it.
fn boxes<T: Multiply>(geometry: &Geometry, wanted: usize) -> Boxes<'_> {
    Boxes::new(geometry, COPY / position::<T>(geometry), wanted)
}

/// Bytes of a position of a copy, at most.
fn position<T: Multiply>(geometry: &Geometry) -> usize {
    geometry.inputs
        * match Meeting::of::<T>(geometry) {
            Meeting::All => size_of::<T::Wide>(),
            Meeting::Own => 4 * size_of::<<T::Wide as Ring>::Lanes64>(),
        }
}

/// How many elements a vector has, and how many vectors the channels of a panel fill at most.
#[derive(Clone, Copy, Debug)]
struct Width {
    lanes: usize,
    vectors: usize,
}

impl Width {
    fn of<W: Ring>() -> Width {
        with_widest::<W, Ask>(Ask)
    }
}

struct Ask;

impl<W: Ring> VectorLoop<W> for Ask {
    type Output = Width;

    #[inline(always)]
    fn run<V: Lanes<W>, const FUSED: bool>(self) -> Width {
        Width { lanes: V::COUNT, vectors: most_vectors::<W, V>() }
    }
}

/// The vectors of a panel: as many as leave registers for several outputs.
const fn most_vectors<W: Ring, V: Lanes<W>>() -> usize {
    match (W::IN_REGISTERS, size_of::<V>()) {
        // AVX-512 has 32 registers.
        (true, 64) => 4,
        (true, _) => 2,
        (false, _) => 1,
    }
}

/// Evaluate an expression for a panel of so many vectors, with constants of these names: how many rows of sums the registers
/// have room for, and how many vectors a row has. `$most`, the vectors that a panel has at most, is a constant, which keeps
/// the compiler from making instances for more.
macro_rules! with_rows {
    ($vectors:expr, $most:expr, |$rows:ident, $columns:ident| $body:expr) => {
        match $vectors {
            4 if const { $most >= 4 } => with_rows!(6, 4, $rows, $columns, $body),
            3 if const { $most >= 4 } => with_rows!(8, 3, $rows, $columns, $body),
            2 if const { $most >= 4 } => with_rows!(8, 2, $rows, $columns, $body),
            2 if const { $most >= 2 } => with_rows!(6, 2, $rows, $columns, $body),
            _ => with_rows!(8, 1, $rows, $columns, $body),
        }
    };
    ($r:literal, $c:literal, $rows:ident, $columns:ident, $body:expr) => {{
        const $rows: usize = $r;
        const $columns: usize = $c;
        $body
    }};
}
use with_rows;
