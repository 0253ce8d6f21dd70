//! Tree reduction of SIMD lanes.

/// Reduce the lanes by a tree: combine the first half with the second until one lane is left.
///
/// Every step builds a new array. An in-place tree makes the compiler store partial vectors and reload whole ones in some
/// loops, which causes a store-to-load forwarding stall; where it does not (`row.rs`), in-place is no faster.
#[inline(always)]
pub fn tree_reduce<T: Copy, const N: usize>(lanes: &[T; N], combine: impl Fn(T, T) -> T + Copy) -> T {
    const { assert!(N.is_power_of_two() && N <= 64, "a power of two up to 64 lanes") }
    match N {
        64 => reduce_32(&fold_halves::<T, 32>(lanes, combine), combine),
        32 => reduce_32(lanes, combine),
        16 => reduce_16(lanes, combine),
        8 => reduce_8(lanes, combine),
        4 => reduce_4(lanes, combine),
        2 => combine(lanes[0], lanes[1]),
        _ => lanes[0],
    }
}

#[inline(always)]
fn reduce_32<T: Copy>(lanes: &[T], combine: impl Fn(T, T) -> T + Copy) -> T {
    reduce_16(&fold_halves::<T, 16>(lanes, combine), combine)
}

#[inline(always)]
fn reduce_16<T: Copy>(lanes: &[T], combine: impl Fn(T, T) -> T + Copy) -> T {
    reduce_8(&fold_halves::<T, 8>(lanes, combine), combine)
}

#[inline(always)]
fn reduce_8<T: Copy>(lanes: &[T], combine: impl Fn(T, T) -> T + Copy) -> T {
    reduce_4(&fold_halves::<T, 4>(lanes, combine), combine)
}

#[inline(always)]
fn reduce_4<T: Copy>(lanes: &[T], combine: impl Fn(T, T) -> T + Copy) -> T {
    let [a, b] = fold_halves::<T, 2>(lanes, combine);
    combine(a, b)
}

/// Combine the first half of the lanes with the second.
#[inline(always)]
fn fold_halves<T: Copy, const HALF: usize>(lanes: &[T], combine: impl Fn(T, T) -> T) -> [T; HALF] {
    // A plain loop: closures are not always inlined, and this is instantiated hundreds of times.
    let mut half = [lanes[0]; HALF];
    let mut j = 0;
    while j < HALF {
        half[j] = combine(lanes[j], lanes[j + HALF]);
        j += 1;
    }
    half
}

#[cfg(test)]
mod tests {
    use std::array::from_fn;

    use super::*;

    /// The order in which lanes are combined.
    fn pairing<const N: usize>() -> String {
        let names: [&str; N] = from_fn(|j| &*format!("{j}").leak());
        tree_reduce(&names, |a, b| format!("({a} {b})").leak()).to_owned()
    }

    #[test]
    fn halves_are_combined_in_a_tree() {
        assert_eq!(pairing::<1>(), "0");
        assert_eq!(pairing::<2>(), "(0 1)");
        assert_eq!(pairing::<4>(), "((0 2) (1 3))");
        assert_eq!(pairing::<8>(), "(((0 4) (2 6)) ((1 5) (3 7)))");
        let sum = |n: u64| n * (n - 1) / 2;
        assert_eq!(tree_reduce(&from_fn::<u64, 16, _>(|j| j as u64), |a, b| a + b), sum(16));
        assert_eq!(tree_reduce(&from_fn::<u64, 32, _>(|j| j as u64), |a, b| a + b), sum(32));
        assert_eq!(tree_reduce(&from_fn::<u64, 64, _>(|j| j as u64), |a, b| a + b), sum(64));
    }
}
