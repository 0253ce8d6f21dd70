//! Lanes side by side that become one, half by half.

/// The lanes joined by a tree: the first half with the second, until one is left.
///
/// Each half is made anew. In place, the compiler writes parts of vectors and reads whole ones in some loops, for which the
/// processor waits as long as a short row takes; where it does not (`row.rs`), this is no faster.
#[inline(always)]
pub fn joined<T: Copy, const N: usize>(lanes: &[T; N], join: impl Fn(T, T) -> T + Copy) -> T {
    const { assert!(N.is_power_of_two() && N <= 64, "as many lanes as there are steps below") }
    match N {
        64 => join_32(&halved::<T, 32>(lanes, join), join),
        32 => join_32(lanes, join),
        16 => join_16(lanes, join),
        8 => join_8(lanes, join),
        4 => join_4(lanes, join),
        2 => join(lanes[0], lanes[1]),
        _ => lanes[0],
    }
}

#[inline(always)]
fn join_32<T: Copy>(lanes: &[T], join: impl Fn(T, T) -> T + Copy) -> T {
    join_16(&halved::<T, 16>(lanes, join), join)
}

#[inline(always)]
fn join_16<T: Copy>(lanes: &[T], join: impl Fn(T, T) -> T + Copy) -> T {
    join_8(&halved::<T, 8>(lanes, join), join)
}

#[inline(always)]
fn join_8<T: Copy>(lanes: &[T], join: impl Fn(T, T) -> T + Copy) -> T {
    join_4(&halved::<T, 4>(lanes, join), join)
}

#[inline(always)]
fn join_4<T: Copy>(lanes: &[T], join: impl Fn(T, T) -> T + Copy) -> T {
    let [a, b] = halved::<T, 2>(lanes, join);
    join(a, b)
}

/// The first half of some lanes, joined with the second.
#[inline(always)]
fn halved<T: Copy, const HALF: usize>(lanes: &[T], join: impl Fn(T, T) -> T) -> [T; HALF] {
    // A loop, since a closure for each is not always inlined; and a plain one, which is compiled hundreds of times.
    let mut half = [lanes[0]; HALF];
    let mut j = 0;
    while j < HALF {
        half[j] = join(lanes[j], lanes[j + HALF]);
        j += 1;
    }
    half
}

#[cfg(test)]
mod tests {
    use std::array::from_fn;

    use super::*;

    /// Which lanes met, in which order.
    fn met<const N: usize>() -> String {
        let names: [&str; N] = from_fn(|j| &*format!("{j}").leak());
        joined(&names, |a, b| format!("({a} {b})").leak()).to_owned()
    }

    #[test]
    fn halves_meet() {
        assert_eq!(met::<1>(), "0");
        assert_eq!(met::<2>(), "(0 1)");
        assert_eq!(met::<4>(), "((0 2) (1 3))");
        assert_eq!(met::<8>(), "(((0 4) (2 6)) ((1 5) (3 7)))");
        let sum = |n: u64| n * (n - 1) / 2;
        assert_eq!(joined(&from_fn::<u64, 16, _>(|j| j as u64), |a, b| a + b), sum(16));
        assert_eq!(joined(&from_fn::<u64, 32, _>(|j| j as u64), |a, b| a + b), sum(32));
        assert_eq!(joined(&from_fn::<u64, 64, _>(|j| j as u64), |a, b| a + b), sum(64));
    }
}
