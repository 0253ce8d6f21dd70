//! Random delays, reproducible by seed.

use std::time::Duration;

/// Marsaglia's xorshift generator with 64 bits of state.
pub(crate) struct Delays {
    state: u64,
    longest: Duration,
}

impl Delays {
    /// Delays of up to `longest`; each stream has a sequence of its own.
    pub(crate) fn new(seed: u64, stream: u32, longest: Duration) -> Delays {
        let mixed = (seed ^ (u64::from(stream) << 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        Delays { state: mixed | 1, longest }
    }

    /// Sleep for a random time. Half of the delays are zero, so that streams overtake each other.
    pub(crate) fn sleep(&mut self) {
        if self.longest.is_zero() {
            return;
        }
        self.state ^= self.state << 13;
        self.state ^= self.state >> 7;
        self.state ^= self.state << 17;
        if self.state >> 63 == 0 {
            let fraction = (self.state >> 32 & 0xffff) as u32;
            std::thread::sleep(self.longest * fraction / 0xffff);
        }
    }
}
