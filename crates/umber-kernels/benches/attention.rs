//! FLOP/s of attention and its gradient, and bandwidth of a single query with many keys.
//!
//! `cargo bench -p umber-kernels --bench attention [FILTER]`

mod common;

use common::{Operand, Work, case};
use num_traits::FromPrimitive;
use umber_kernels::attention::{AttentionInputs, AttentionOptions, Gradients, attention, attention_gradient};
use umber_types::{Element, Masking, bf16, f16};

/// Elements of a query, a key and a value.
const FEATURES: usize = 64;

#[derive(Clone, Copy)]
struct Sizes {
    heads: usize,
    key_heads: usize,
    queries: usize,
    keys: usize,
}

impl Sizes {
    fn square(heads: usize, length: usize) -> Sizes {
        Sizes { heads, key_heads: heads, queries: length, keys: length }
    }

    /// Operations of a product of all queries with all keys, halved for a causal mask.
    fn flops(self, masking: Masking) -> usize {
        let all = 2 * self.heads * self.queries * self.keys * FEATURES;
        if masking == Masking::Causal { all / 2 } else { all }
    }
}

fn attend<T: Element + FromPrimitive>(masking: Masking, sizes: Sizes) {
    let Sizes { heads, key_heads, queries, keys } = sizes;
    let [of_queries, of_keys] = [[1, heads, queries, FEATURES], [1, key_heads, keys, FEATURES]];
    let (q, k, v) =
        (Operand::<T>::values(&of_queries), Operand::<T>::values(&of_keys), Operand::<T>::values(&of_keys));
    let mut out = Operand::<T>::zeros(&of_queries);
    let (mut into_q, mut into_k, mut into_v) =
        (Operand::<T>::zeros(&of_queries), Operand::<T>::zeros(&of_keys), Operand::<T>::zeros(&of_keys));
    let inputs =
        AttentionInputs { queries: q.view(), keys: k.view(), values: v.view(), mask: None, sinks: None };
    let options = AttentionOptions { scale: 0.125, masking };
    let prefix = if masking == Masking::Causal { "causal " } else { "" };
    let name = format!("{prefix}attention/{}/{heads} of {queries}x{keys}", T::DTYPE);
    let is_decoding = queries < 16;
    // Two products in the forward pass; five in the backward pass, which recomputes the scores.
    let work =
        if is_decoding { Work::Bytes(k.bytes() + v.bytes()) } else { Work::Flops(2 * sizes.flops(masking)) };
    case(&name, work, || attention(&inputs, options, out.view_mut()));
    if is_decoding {
        return;
    }
    case(&format!("{name}/gradient"), Work::Flops(5 * sizes.flops(masking)), || {
        let into = Gradients {
            queries: into_q.view_mut(),
            keys: into_k.view_mut(),
            values: into_v.view_mut(),
            sinks: None,
        };
        attention_gradient(&inputs, options, out.view(), &into);
    });
}

fn main() {
    for masking in [Masking::Nothing, Masking::Causal] {
        attend::<f32>(masking, Sizes::square(2, 128));
        attend::<f32>(masking, Sizes::square(8, 512));
        attend::<f32>(masking, Sizes::square(8, 2048));
        attend::<bf16>(masking, Sizes::square(8, 512));
    }
    attend::<f16>(Masking::Nothing, Sizes::square(8, 512));
    for keys in [512, 1 << 14] {
        let decoding = Sizes { heads: 32, key_heads: 8, queries: 1, keys };
        attend::<f32>(Masking::Nothing, decoding);
        attend::<bf16>(Masking::Nothing, decoding);
    }
}
