//! Attention and its gradient, rotary position embedding and the gated delta rule against plain loops.

mod operands;

use operands::Random;
use umber_kernels::attention::{AttentionInputs, AttentionOptions, Gradients, attention, attention_gradient};
use umber_kernels::gated_delta::{GatedDelta, gated_delta};
use umber_kernels::rope::rope;
use umber_kernels::{View, ViewMut};
use umber_types::{Bool, Layout, Masking, Pairing, Shape};

fn draw(random: &mut Random, count: usize) -> Vec<f64> {
    (0..count).map(|_| random.uniform() * 2.0 - 1.0).collect()
}

fn dense(shape: &[usize]) -> Layout {
    Layout::contiguous(Shape::new(shape.iter().copied()))
}

fn assert_close(actual: &[f64], expected: &[f64]) {
    assert_eq!(actual.len(), expected.len());
    for (i, (actual, expected)) in actual.iter().zip(expected).enumerate() {
        assert!((actual - expected).abs() < 1e-11, "element {i}: {actual} is not {expected}");
    }
}

/// Sizes and operands of one attention: heads, key heads, queries, keys, features, values.
struct Case {
    sizes: [usize; 6],
    scale: f64,
    masking: Masking,
    q: Vec<f64>,
    k: Vec<f64>,
    v: Vec<f64>,
    mask: Vec<Bool>,
    sinks: Option<Vec<f64>>,
}

impl Case {
    fn new(random: &mut Random, sizes: [usize; 6], masking: Masking, has_sinks: bool) -> Case {
        let [heads, key_heads, queries, keys, features, values] = sizes;
        Case {
            sizes,
            scale: 0.7,
            masking,
            q: draw(random, heads * queries * features),
            k: draw(random, key_heads * keys * features),
            v: draw(random, key_heads * keys * values),
            mask: (0..heads * queries * keys).map(|_| Bool::from(random.below(4) != 0)).collect(),
            sinks: has_sinks.then(|| draw(random, heads)),
        }
    }

    fn is_visible(&self, head: usize, query: usize, key: usize) -> bool {
        let [_, _, queries, keys, ..] = self.sizes;
        match self.masking {
            Masking::Nothing => true,
            Masking::Causal => key + queries <= query + keys,
            Masking::Array => self.mask[(head * queries + query) * keys + key] == Bool::from(true),
        }
    }

    /// The result by the definition, row by row.
    fn expected(&self, q: &[f64], k: &[f64], v: &[f64], sinks: Option<&[f64]>) -> Vec<f64> {
        let [heads, key_heads, queries, keys, features, values] = self.sizes;
        let mut result = vec![0.0; heads * queries * values];
        for row in 0..heads * queries {
            let (head, query) = (row / queries, row % queries);
            let first = head / (heads / key_heads) * keys;
            let score = |key: usize| {
                let terms = (0..features).map(|i| q[row * features + i] * k[(first + key) * features + i]);
                if self.is_visible(head, query, key) { self.scale * terms.sum::<f64>() } else { -1e300 }
            };
            let scores: Vec<f64> = (0..keys).map(score).collect();
            let sink = sinks.map(|sinks| sinks[head]);
            let max = scores.iter().copied().chain(sink).fold(f64::NEG_INFINITY, f64::max);
            let exponentials: Vec<f64> = scores.iter().map(|score| (score - max).exp()).collect();
            let total = exponentials.iter().sum::<f64>() + sink.map_or(0.0, |sink| (sink - max).exp());
            for (key, exponential) in exponentials.iter().enumerate() {
                for i in 0..values {
                    result[row * values + i] += exponential / total * v[(first + key) * values + i];
                }
            }
        }
        result
    }

    /// Call `body` with the operands as views.
    fn with<R>(&self, body: impl FnOnce(&AttentionInputs, AttentionOptions) -> R) -> R {
        let [heads, key_heads, queries, keys, features, values] = self.sizes;
        let layouts = [
            dense(&[heads, queries, features]),
            dense(&[key_heads, keys, features]),
            dense(&[key_heads, keys, values]),
            dense(&[heads, queries, keys]),
            dense(&[heads]),
        ];
        let operands = AttentionInputs {
            queries: View::of(&self.q, &layouts[0]),
            keys: View::of(&self.k, &layouts[1]),
            values: View::of(&self.v, &layouts[2]),
            mask: (self.masking == Masking::Array).then(|| View::of(&self.mask, &layouts[3])),
            sinks: self.sinks.as_ref().map(|sinks| View::of(sinks, &layouts[4])),
        };
        body(&operands, AttentionOptions { scale: self.scale, masking: self.masking })
    }
}

const SIZES: [[usize; 6]; 6] = [
    [1, 1, 1, 1, 1, 1],
    [4, 2, 3, 5, 6, 4],
    [2, 1, 9, 4, 3, 5],
    [2, 2, 40, 600, 8, 8],
    [1, 1, 800, 30, 4, 3],
    [4, 1, 1, 2100, 16, 16],
];

#[test]
fn attention_matches_its_definition() {
    let mut random = Random(1);
    for sizes in SIZES {
        for masking in [Masking::Nothing, Masking::Causal, Masking::Array] {
            for has_sinks in [false, true] {
                let case = Case::new(&mut random, sizes, masking, has_sinks);
                let [heads, _, queries, _, _, values] = sizes;
                let mut actual = vec![f64::NAN; heads * queries * values];
                let layout = dense(&[heads, queries, values]);
                case.with(|operands, options| {
                    attention(operands, options, ViewMut::of(&mut actual, &layout));
                });
                assert_close(&actual, &case.expected(&case.q, &case.k, &case.v, case.sinks.as_deref()));
            }
        }
    }
}

#[test]
fn gradient_matches_finite_differences() {
    let mut random = Random(2);
    for sizes in &SIZES[..3] {
        for masking in [Masking::Nothing, Masking::Causal, Masking::Array] {
            for has_sinks in [false, true] {
                let case = Case::new(&mut random, *sizes, masking, has_sinks);
                check_derivative(&case, &mut random);
            }
        }
    }
}

fn check_derivative(case: &Case, random: &mut Random) {
    let [heads, key_heads, queries, keys, features, values] = case.sizes;
    let ct = draw(random, heads * queries * values);
    let layouts = [
        dense(&[heads, queries, features]),
        dense(&[key_heads, keys, features]),
        dense(&[key_heads, keys, values]),
        dense(&[heads]),
        dense(&[heads, queries, values]),
    ];
    let mut actual = [&case.q, &case.k, &case.v].map(|operand| vec![f64::NAN; operand.len()]);
    let mut sinks = vec![f64::NAN; heads];
    {
        let [q, k, v] = &mut actual;
        let gradients = Gradients {
            queries: ViewMut::of(q, &layouts[0]),
            keys: ViewMut::of(k, &layouts[1]),
            values: ViewMut::of(v, &layouts[2]),
            sinks: case.sinks.is_some().then(|| ViewMut::of(&mut sinks, &layouts[3])),
        };
        let ct = View::of(&ct, &layouts[4]);
        case.with(|operands, options| attention_gradient(operands, options, ct, &gradients));
    }
    let no_sinks = Vec::new();
    let at = [&case.q, &case.k, &case.v, case.sinks.as_ref().unwrap_or(&no_sinks)].map(Clone::clone);
    let total = |at: &[Vec<f64>; 4]| -> f64 {
        let [q, k, v, sinks] = at;
        let sinks = case.sinks.is_some().then_some(&sinks[..]);
        case.expected(q, k, v, sinks).iter().zip(&ct).map(|(y, ct)| y * ct).sum()
    };
    for (operand, gradients) in actual.iter().chain([&sinks]).enumerate() {
        for i in (0..at[operand].len()).step_by(3) {
            let shifted_total = |step: f64| {
                let mut at = at.clone();
                at[operand][i] += step;
                total(&at)
            };
            let expected = (shifted_total(1e-5) - shifted_total(-1e-5)) / 2e-5;
            let gradient = gradients[i];
            assert!(
                (gradient - expected).abs() < 1e-8,
                "operand {operand}, element {i}: {gradient}, not {expected}"
            );
        }
    }
}

#[test]
fn rope_rotates_pairs_of_features() {
    let mut random = Random(3);
    let (samples, length, features) = (3, 70, 9);
    let x = draw(&mut random, samples * length * features);
    let offsets = [5i64, 0, -7];
    let frequencies = [1.0, 0.3, -0.05];
    for pairing in [Pairing::Neighbours, Pairing::Halves] {
        let mut actual = vec![f64::NAN; x.len()];
        let (layout, row) = (dense(&[samples, length, features]), dense(&[samples]));
        rope(
            View::of(&x, &layout),
            View::of(&offsets, &row),
            &frequencies,
            pairing,
            ViewMut::of(&mut actual, &layout),
        );
        let mut expected = x.clone();
        for token in 0..samples * length {
            let position = (token % length) as f64 + offsets[token / length] as f64;
            for (i, frequency) in frequencies.iter().enumerate() {
                let (a, b) = match pairing {
                    Pairing::Neighbours => (2 * i, 2 * i + 1),
                    Pairing::Halves => (i, i + frequencies.len()),
                };
                let (a, b) = (token * features + a, token * features + b);
                let (sine, cosine) = (position * frequency).sin_cos();
                expected[a] = x[a] * cosine - x[b] * sine;
                expected[b] = x[a] * sine + x[b] * cosine;
            }
        }
        assert_close(&actual, &expected);
    }
}

#[test]
fn gated_delta_matches_its_recurrence() {
    let mut random = Random(4);
    let (steps, key_heads, heads, features, values) = (4, 2, 4, 5, 19);
    let [q, k] = [0, 1].map(|_| draw(&mut random, steps * key_heads * features));
    let v = draw(&mut random, steps * heads * values);
    let [decay, rate] = [features, 1].map(|each| draw(&mut random, steps * heads * each));
    let state = draw(&mut random, heads * values * features);
    let mask = [true, false, true, true].map(Bool::from);
    let layouts = [
        dense(&[steps, key_heads, features]),
        dense(&[steps, heads, values]),
        dense(&[steps, heads, features]),
        dense(&[steps, heads]),
        dense(&[heads, values, features]),
        dense(&[steps]),
    ];
    let inputs = GatedDelta {
        queries: View::of(&q, &layouts[0]),
        keys: View::of(&k, &layouts[0]),
        values: View::of(&v, &layouts[1]),
        decay: View::of(&decay, &layouts[2]),
        rate: View::of(&rate, &layouts[3]),
        state: View::of(&state, &layouts[4]),
        mask: View::of(&mask, &layouts[5]),
    };
    let (mut actual, mut final_state) = (vec![f64::NAN; v.len()], vec![f64::NAN; state.len()]);
    gated_delta(&inputs, ViewMut::of(&mut actual, &layouts[1]), ViewMut::of(&mut final_state, &layouts[4]));
    let (mut expected, mut expected_state) = (vec![0.0; v.len()], state.clone());
    for step in [0, 2, 3] {
        for head in 0..heads {
            let key = |i: usize| (step * key_heads + head / 2) * features + i;
            for value in 0..values {
                let row = &mut expected_state[(head * values + value) * features..][..features];
                for (i, state) in row.iter_mut().enumerate() {
                    *state *= decay[(step * heads + head) * features + i];
                }
                let predicted: f64 = row.iter().enumerate().map(|(i, state)| state * k[key(i)]).sum();
                let output = (step * heads + head) * values + value;
                let correction = (v[output] - predicted) * rate[step * heads + head];
                for (i, state) in row.iter_mut().enumerate() {
                    *state += correction * k[key(i)];
                }
                expected[output] = row.iter().enumerate().map(|(i, state)| state * q[key(i)]).sum();
            }
        }
    }
    assert_close(&actual, &expected);
    assert_close(&final_state, &expected_state);
}
