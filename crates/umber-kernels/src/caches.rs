//! How large the first-level data cache is: what a block of work at a time must fit.

use std::sync::OnceLock;

/// Where the processor does not say, and what most have.
const USUAL: usize = 32 << 10;

/// Bytes of the first-level data cache of a core.
pub(crate) fn first_level() -> usize {
    static BYTES: OnceLock<usize> = OnceLock::new();
    *BYTES.get_or_init(|| ask().unwrap_or(USUAL))
}

/// What `cpuid` says: leaf 4 of Intel, leaf 8000001Dh of AMD, which have one form.
#[cfg(target_arch = "x86_64")]
fn ask() -> Option<usize> {
    use std::arch::x86_64::{__cpuid, __cpuid_count};
    const EXTENDED: u32 = 0x8000_0000;
    const DATA: u32 = 1;
    for leaf in [4, EXTENDED | 0x1d] {
        if __cpuid(leaf & EXTENDED).eax < leaf {
            continue;
        }
        for index in 0..8 {
            let cache = __cpuid_count(leaf, index);
            let (kind, level) = (cache.eax & 0x1f, (cache.eax >> 5) & 7);
            if kind == DATA && level == 1 {
                let ways = (cache.ebx >> 22) as usize + 1;
                let partitions = ((cache.ebx >> 12) & 0x3ff) as usize + 1;
                let line = (cache.ebx & 0xfff) as usize + 1;
                return Some(ways * partitions * line * (cache.ecx as usize + 1));
            }
        }
    }
    None
}

#[cfg(not(target_arch = "x86_64"))]
fn ask() -> Option<usize> {
    None
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_first_level_is_of_a_plausible_size() {
        let bytes = super::first_level();
        assert!((8 << 10..=1 << 20).contains(&bytes) && bytes.is_multiple_of(1 << 10), "{bytes}");
        assert_eq!(bytes, super::first_level());
    }
}
