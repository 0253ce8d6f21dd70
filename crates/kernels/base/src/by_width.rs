//! Dispatch by element size: kernels that only copy elements are instantiated per size, not per dtype.

/// Run `$body` with `$T` a plain type of `$size` bytes, aligned no more strictly than elements of that size are.
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
                // Two 32-bit halves: a complex64 has the alignment of its parts.
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
