//! Random numbers of a pipeline: a counter hashed under a key, so that they depend on the sample's position and nothing else.

use umber_kernels::fork::{ForkMutex, InChild, Level};
use umber_kernels::random::threefry2x32;

/// The key of a stage that draws random numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Key([u32; 2]);

/// Where a sample is: its number in its source, and which pass over the source it belongs to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Position {
    /// Passes over the source before this one.
    pub epoch: u64,
    /// The number of the sample in its source.
    pub index: u64,
}

/// The seed of the process and the number of keys made from it.
static SEED: ForkMutex<(u64, u32)> = ForkMutex::new(|| (1234, 0), (1234, 0), Level::Last, InChild::Keep);

fn words(number: u64) -> [u32; 2] {
    [(number >> 32) as u32, number as u32]
}

impl Key {
    /// The key of a seed.
    pub fn from_seed(seed: u64) -> Key {
        Key(words(seed))
    }

    /// The key of the next random stage: a function of the process's seed and of the number of keys made since it was set.
    pub fn next() -> Key {
        let mut state = SEED.lock();
        let count = state.1;
        state.1 = count.wrapping_add(1);
        Key(threefry2x32(words(state.0), [count, 0x006b_6579]))
    }

    /// [`Key::from_seed`], or [`Key::next`] without a seed.
    pub fn from_optional_seed(seed: Option<u64>) -> Key {
        seed.map_or_else(Key::next, Key::from_seed)
    }

    /// The words, for states.
    pub fn to_number(self) -> u64 {
        u64::from(self.0[0]) << 32 | u64::from(self.0[1])
    }

    /// A key from [`Key::to_number`].
    pub fn from_number(number: u64) -> Key {
        Key(words(number))
    }

    /// A key that depends on this one and a number.
    #[must_use]
    pub fn fold_in(self, number: u64) -> Key {
        Key(threefry2x32(self.0, words(number)))
    }

    /// 64 random bits of a counter.
    pub fn bits(self, counter: u64) -> u64 {
        let [high, low] = threefry2x32(self.0, words(counter));
        u64::from(high) << 32 | u64::from(low)
    }
}

/// Set the process's seed and count its random stages from zero again. Stages that exist keep their keys.
pub fn set_seed(seed: u64) {
    *SEED.lock() = (seed, 0);
}

/// The random numbers of one sample at one stage.
#[derive(Clone, Copy, Debug)]
pub struct Draw {
    key: Key,
    position: Position,
}

impl Draw {
    /// The numbers of the sample at `position` under a stage's key.
    pub fn new(key: Key, position: Position) -> Draw {
        Draw { key, position }
    }

    /// Where the sample is.
    pub fn position(&self) -> Position {
        self.position
    }

    /// The numbers, one after the other.
    pub fn numbers(&self) -> Numbers {
        Numbers { key: self.key.fold_in(self.position.epoch).fold_in(self.position.index), next: 0 }
    }
}

/// A sequence of random numbers.
#[derive(Clone, Debug)]
pub struct Numbers {
    key: Key,
    next: u64,
}

impl Numbers {
    /// The sequence of a key.
    pub fn of(key: Key) -> Numbers {
        Numbers { key, next: 0 }
    }

    /// 64 random bits.
    pub fn bits(&mut self) -> u64 {
        let bits = self.key.bits(self.next);
        self.next += 1;
        bits
    }

    /// A number in `[0, 1)`.
    pub fn uniform(&mut self) -> f64 {
        (self.bits() >> 11) as f64 * (1.0 / (1u64 << 53) as f64)
    }

    /// A number in `0..limit`; zero if `limit` is zero. (Lemire's multiplication; the bias is below 2^-64 times the limit.)
    pub fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.bits()) * u128::from(limit)) >> 64) as u64
    }
}

/// A random order of `0..count` without a table: a keyed bijection, by a Feistel network on the next even power of two that is
/// applied until the result is below `count` (cycle walking; Black and Rogaway, CT-RSA 2002).
#[derive(Clone, Copy, Debug)]
pub struct Bijection {
    key: Key,
    count: u64,
    half_bits: u32,
}

impl Bijection {
    /// The order of a key.
    pub fn new(key: Key, count: u64) -> Bijection {
        let bits = 64 - count.saturating_sub(1).leading_zeros();
        Bijection { key, count, half_bits: bits.div_ceil(2).max(1) }
    }

    /// The element at `index`, which must be below the count.
    pub fn at(&self, index: u64) -> u64 {
        debug_assert!(index < self.count);
        let mask = (1u64 << self.half_bits) - 1;
        let mut element = index;
        loop {
            let (mut left, mut right) = (element >> self.half_bits, element & mask);
            for round in 0..6u64 {
                let mixed = left ^ (self.key.bits(round << 32 | right) & mask);
                (left, right) = (right, mixed);
            }
            element = left << self.half_bits | right;
            if element < self.count {
                return element;
            }
        }
    }
}

/// A random permutation of `0..count` (Fisher and Yates).
pub fn permutation(key: Key, count: usize) -> Vec<u64> {
    let mut numbers = Numbers::of(key);
    let mut order: Vec<u64> = (0..count as u64).collect();
    for last in (1..count).rev() {
        order.swap(last, numbers.below(last as u64 + 1) as usize);
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bijections_are_permutations() {
        for count in [1u64, 2, 3, 5, 16, 17, 100, 1000] {
            let order = Bijection::new(Key::from_seed(count), count);
            let mut seen: Vec<u64> = (0..count).map(|index| order.at(index)).collect();
            if count >= 100 {
                assert_ne!(seen, (0..count).collect::<Vec<_>>());
            }
            seen.sort_unstable();
            assert_eq!(seen, (0..count).collect::<Vec<_>>());
        }
    }

    /// Every element comes first equally often: chi-square with 9 degrees of freedom, at 1e-6.
    #[test]
    fn orders_are_uniform() {
        let mut counts = [[0f64; 10]; 2];
        for seed in 0..20_000 {
            let key = Key::from_seed(7).fold_in(seed);
            counts[0][Bijection::new(key, 10).at(0) as usize] += 1.0;
            counts[1][permutation(key, 10)[0] as usize] += 1.0;
        }
        for counts in counts {
            let chi: f64 = counts.iter().map(|n| (n - 2000.0).powi(2) / 2000.0).sum();
            assert!(chi < 45.1, "{chi}");
        }
    }

    #[test]
    fn numbers_depend_on_position_and_key() {
        let at = |epoch, index| Draw::new(Key::from_seed(3), Position { epoch, index }).numbers().bits();
        assert_eq!(at(0, 5), at(0, 5));
        assert!(at(0, 5) != at(1, 5) && at(0, 5) != at(5, 0) && at(0, 5) != at(0, 6));
        let mut numbers = Numbers::of(Key::from_seed(1));
        assert!((0..1000).all(|_| (0.0..1.0).contains(&numbers.uniform()) && numbers.below(3) < 3));
        assert_eq!(numbers.below(0), 0);
    }
}
