//! Dispatch by element size: kernels that only copy elements are instantiated per size, not per dtype.

/// Evaluate `$body` with `$T` a plain type of `$size` bytes, with at most the alignment of any element of that size.
#[macro_export]
macro_rules! dispatch_by_width {
    ($size:expr, $T:ident => $body:expr) => {
        match $size {
            1 => {
                type $T = u8;
                $body
            }
            2 => {
                type $T = u16;
                $body
            }
            4 => {
                type $T = u32;
                $body
            }
            8 => {
                // Two 32-bit words: a complex64 has the alignment of its components.
                type $T = [u32; 2];
                $body
            }
            _ => {
                type $T = [u64; 2];
                $body
            }
        }
    };
}
pub use crate::dispatch_by_width;
