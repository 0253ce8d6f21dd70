//! Bandwidth of random bits, in L2 and in memory, and rate of rejection sampling.
//!
//! `cargo bench -p umber-kernels --bench random [FILTER]`

mod common;

use common::{COUNTS, Operand, Work, case};
use num_traits::FromPrimitive;
use umber_kernels::random::random_bits;
use umber_kernels::rejection::{Rejection, rejection};
use umber_types::Element;

/// Draws of `keys` keys, `count` elements in total.
fn bits<T: Element + FromPrimitive>(keys: usize, count: usize) {
    let keys_operand = Operand::<u32>::below(1 << 32, &[keys, 2]);
    let mut out = Operand::<T>::zeros(&[keys, count / keys]);
    let work = Work::Bytes(out.bytes());
    case(&format!("bits/{}/{keys} x {}", T::DTYPE, count / keys), work, || {
        random_bits(keys_operand.view(), size_of::<T>(), out.view_mut());
    });
}

fn main() {
    for count in COUNTS {
        bits::<u8>(1, count);
        bits::<u32>(1, count);
        bits::<u64>(1, count);
        bits::<u32>(count / 16, count);
    }
    let key = Operand::<u32>::below(1 << 32, &[1, 2]);
    let mut parameters = Operand::<f64>::below(20, &[1, COUNTS[0]]);
    parameters.data.iter_mut().for_each(|parameter| *parameter += 0.5);
    let mut out = Operand::<f64>::zeros(&[1, COUNTS[0]]);
    for kind in [Rejection::Gamma, Rejection::Poisson] {
        case(&format!("{}/float64/{}", kind.name(), COUNTS[0]), Work::Elements(COUNTS[0]), || {
            rejection(kind, key.view(), &[parameters.view()], out.view_mut());
        });
    }
}
