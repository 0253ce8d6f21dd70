//! Chains answer what their steps do, one by one.

use umber_kernels_base::view::{View, ViewMut};
use umber_types::tape::{Step, Tape};
use umber_types::{BinaryKind, Layout, Scalar, Shape, UnaryKind};

use super::*;

/// The first three of each take integers, too.
const UNARY: [UnaryKind; 7] = [
    UnaryKind::Negative,
    UnaryKind::Abs,
    UnaryKind::Square,
    UnaryKind::Sqrt,
    UnaryKind::Rsqrt,
    UnaryKind::Reciprocal,
    UnaryKind::Tanh,
];
const BINARY: [BinaryKind; 6] = [
    BinaryKind::Add,
    BinaryKind::Subtract,
    BinaryKind::Multiply,
    BinaryKind::Divide,
    BinaryKind::Maximum,
    BinaryKind::Minimum,
];
const SPECIAL: [f64; 8] = [0.0, -0.0, 1.0, -1.0, f64::NAN, f64::INFINITY, f64::NEG_INFINITY, 1e-40];

/// Numbers without end, the same for one seed.
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % end
    }
}

/// The one output of a tape of one step, or none.
fn alone(steps: Vec<Step>, inputs: &[(DType, &[u8])], output: DType, count: usize) -> Vec<u8> {
    let last = inputs.len() + steps.len() - 1;
    let dtypes = inputs.iter().map(|input| input.0).collect();
    run(&Tape { inputs: dtypes, steps, outputs: vec![last as u32] }, inputs, &[output], count).remove(0)
}

fn run(tape: &Tape, inputs: &[(DType, &[u8])], outputs: &[DType], count: usize) -> Vec<Vec<u8>> {
    let layout = Layout::contiguous(Shape::from([count]));
    let program = Program::new(tape).expect("the tape is valid");
    // SAFETY: the bytes are `count` elements of the dtype, aligned as all that is allocated in words.
    let views: Vec<View> =
        inputs.iter().map(|(dtype, bytes)| unsafe { View::new(bytes.as_ptr(), *dtype, &layout) }).collect();
    let mut made: Vec<Vec<u64>> =
        outputs.iter().map(|dtype| vec![0; (count * dtype.size()).div_ceil(8)]).collect();
    let mut targets: Vec<ViewMut> = made
        .iter_mut()
        .zip(outputs)
        // SAFETY: there is space for `count` elements.
        .map(|(words, dtype)| unsafe { ViewMut::new(words.as_mut_ptr().cast(), *dtype, &layout) })
        .collect();
    program.run(&views, &mut targets);
    let bytes = |words: &Vec<u64>| words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>();
    made.iter()
        .zip(outputs)
        .map(|(words, dtype)| {
            let mut bytes = bytes(words);
            bytes.truncate(count * dtype.size());
            bytes
        })
        .collect()
}

/// The bits of floats, with one payload for NaN, which is not the same wherever it comes from.
fn bits(dtype: DType, bytes: &[u8]) -> Vec<u64> {
    let read = |bytes: &[u8]| {
        let mut padded = [0; 16];
        padded[..bytes.len()].copy_from_slice(bytes);
        let x = Scalar::from_bytes(dtype, &padded).as_f64();
        if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() }
    };
    bytes.chunks_exact(dtype.size()).map(read).collect()
}

/// A random tape answers what its steps answer one by one.
fn check(seed: u64, stored: DType, count: usize) {
    let mut numbers = Numbers(seed);
    let held = crate::elementwise::compute_dtype(stored);
    let (input_count, step_count) = (1 + numbers.below(3), 1 + numbers.below(14));
    let mut element = || {
        let x = match numbers.below(8) {
            0 => SPECIAL[numbers.below(8)],
            _ => numbers.below(4000) as f64 / 500.0 - 4.0,
        };
        Scalar::Float(x).cast(stored).to_bytes(stored)[..stored.size()].to_vec()
    };
    // In words, so that they are aligned.
    let words: Vec<Vec<u64>> = (0..input_count)
        .map(|_| {
            let mut bytes: Vec<u8> = (0..count).flat_map(|_| element()).collect();
            bytes.resize(bytes.len().next_multiple_of(8), 0);
            bytes.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap())).collect()
        })
        .collect();
    let inputs: Vec<(DType, &[u8])> = words
        .iter()
        // SAFETY: words are bytes, and no fewer than elements.
        .map(|words| (stored, unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), words.len() * 8) }))
        .collect();
    let mut steps = Vec::new();
    // Every value as it is computed, by itself.
    let mut values: Vec<Vec<u8>> = Vec::new();
    for input in &inputs {
        let cast = Step::Cast { x: 0, to: held };
        values.push(if held == stored {
            input.1.to_vec()
        } else {
            alone(vec![cast], &[*input], held, count)
        });
    }
    for _ in 0..step_count {
        let known = values.len();
        // Mostly what was made last, as in most programs.
        let mut pick = || if numbers.below(2) == 0 { known - 1 } else { numbers.below(known) };
        let (a, b) = (pick(), pick());
        let (step, lone, operands) = match numbers.below(8) {
            0 => {
                let value = Scalar::Float(numbers.below(64) as f64 / 16.0 - 2.0);
                let all = value.to_bytes(held)[..held.size()].repeat(count);
                steps.push(Step::Constant { value, dtype: stored });
                values.push(all);
                continue;
            }
            1 | 2 => {
                let kind = UNARY[numbers.below(if stored.is_floating() { UNARY.len() } else { 3 })];
                (Step::Unary { kind, x: a as u32 }, Step::Unary { kind, x: 0 }, vec![a])
            }
            _ => {
                let kind = BINARY[numbers.below(if stored.is_floating() { BINARY.len() } else { 3 })];
                let step = Step::Binary { kind, a: a as u32, b: b as u32 };
                (step, Step::Binary { kind, a: 0, b: 1 }, vec![a, b])
            }
        };
        let operands: Vec<(DType, &[u8])> = operands.iter().map(|&i| (held, &values[i][..])).collect();
        let made = alone(vec![lone], &operands, held, count);
        steps.push(step);
        values.push(made);
    }
    let made = values.len() - 1;
    let outputs = [made, input_count + numbers.below(step_count), made];
    let outputs = &outputs[..=numbers.below(3)];
    let tape = Tape {
        inputs: vec![stored; input_count],
        steps,
        outputs: outputs.iter().map(|&value| value as u32).collect(),
    };
    let found = run(&tape, &inputs, &vec![stored; outputs.len()], count);
    for (&output, found) in outputs.iter().zip(&found) {
        let expected = &values[output];
        let cast = Step::Cast { x: 0, to: stored };
        let expected = if held == stored {
            expected.clone()
        } else {
            alone(vec![cast], &[(held, expected)], stored, count)
        };
        let (found, expected) = (bits(stored, found), bits(stored, &expected));
        assert!(found == expected, "{stored} {seed} {count}: {tape}, output v{output}");
    }
}

#[test]
fn chains_equal_their_steps() {
    for dtype in [DType::Float32, DType::Float64, DType::Float16, DType::BFloat16, DType::Int32] {
        for seed in 0..400 {
            check(seed, dtype, [1, 63, 64, 200, 1000, 5003][seed as usize % 6]);
        }
    }
}

/// The instructions of a tape over inputs of a dtype: how many links each has, or none.
fn lengths(dtype: DType, steps: Vec<Step>, output: u32) -> Vec<Option<usize>> {
    let tape = Tape { inputs: vec![dtype; 2], steps, outputs: vec![output] };
    let program = Program::new(&tape).expect("the tape is valid");
    let length = |instruction: &Instruction| match instruction {
        Instruction::Call { .. } => None,
        Instruction::Chain { links, .. } => Some(links.len()),
    };
    program.instructions.iter().map(length).collect()
}

#[test]
fn integers_become_floats_on_the_way() {
    let numbers: Vec<i32> = (0..5003).map(|i: i32| i.wrapping_mul(1_000_003) ^ i << 20).collect();
    let layout = Layout::contiguous(Shape::from([numbers.len()]));
    let cast = Step::Cast { x: 0, to: DType::Float32 };
    let constant = Step::Constant { value: Scalar::Float(0.5), dtype: DType::Float32 };
    let multiply = Step::Binary { kind: BinaryKind::Multiply, a: 1, b: 2 };
    let half = |x: i32| x as f32 * 0.5;
    for (steps, of) in
        [(vec![cast.clone()], (|x| x as f32) as fn(i32) -> f32), (vec![cast, constant, multiply], half)]
    {
        let tape = Tape { inputs: vec![DType::Int32], outputs: vec![steps.len() as u32], steps };
        let mut found = vec![0f32; numbers.len()];
        let program = Program::new(&tape).expect("the tape is valid");
        program.run(&[View::of(&numbers, &layout)], &mut [ViewMut::of(&mut found, &layout)]);
        assert!(found.iter().zip(&numbers).all(|(&found, &x)| found == of(x)), "{tape}");
    }
}

#[test]
fn constants_become_floats_on_the_way() {
    let constant = |value, dtype| Step::Constant { value: Scalar::Int(value), dtype };
    let cast = |x| Step::Cast { x, to: DType::Float32 };
    let binary = |kind, a, b| Step::Binary { kind, a, b };
    // ((x * 3) + 5) / 5, and of what was just cast.
    let steps = vec![
        constant(3, DType::Int32),
        cast(1),
        binary(BinaryKind::Multiply, 0, 2),
        constant(5, DType::Int32),
        cast(4),
        binary(BinaryKind::Add, 3, 5),
        binary(BinaryKind::Divide, 6, 5),
    ];
    let layout = Layout::contiguous(Shape::from([1000]));
    let numbers: Vec<f32> = (0..1000).map(|i| i as f32).collect();
    let mut found = vec![0f32; 1000];
    let tape = Tape { inputs: vec![DType::Float32], steps, outputs: vec![7] };
    let program = Program::new(&tape).expect("the tape is valid");
    program.run(&[View::of(&numbers, &layout)], &mut [ViewMut::of(&mut found, &layout)]);
    assert!(found.iter().zip(&numbers).all(|(&found, &x)| found == (x * 3.0 + 5.0) / 5.0), "{tape}");
}

#[test]
fn neighbours_are_chained() {
    if chain::chain(DType::Float32).is_none() {
        return;
    }
    let binary = |kind, a, b| Step::Binary { kind, a, b };
    let add = binary(BinaryKind::Add, 0, 1);
    // Two steps: load, add, multiply, store. A step alone is a call, but of 16-bit floats.
    let square = binary(BinaryKind::Multiply, 2, 2);
    assert_eq!(lengths(DType::Float32, vec![add.clone(), square], 3), [Some(4)]);
    assert_eq!(lengths(DType::Float32, vec![add.clone()], 2), [None]);
    assert_eq!(lengths(DType::BFloat16, vec![add.clone()], 2), [Some(3)]);
    // Steps of other kinds stand between.
    let tanh = Step::Unary { kind: UnaryKind::Tanh, x: 2 };
    let twice = binary(BinaryKind::Add, 3, 3);
    let again = binary(BinaryKind::Multiply, 4, 0);
    assert_eq!(lengths(DType::Float32, vec![add, tanh, twice, again], 5), [None, None, Some(4)]);
}

#[test]
fn conversions_are_chained() {
    if chain::chain(DType::Float32).is_none() {
        return;
    }
    let cast = |to| vec![Step::Cast { x: 0, to }];
    let (half, brain) = (DType::Float16, DType::BFloat16);
    for (from, to) in [(half, DType::Float32), (DType::Float32, brain), (brain, half), (half, brain)] {
        assert_eq!(lengths(from, cast(to), 2), [Some(2)], "{from} to {to}");
    }
    assert_eq!(lengths(half, cast(half), 2), []);
    assert_eq!(lengths(DType::Float64, cast(DType::Float32), 2), [None]);
}

#[test]
fn conversions_equal_scalar_ones() {
    use umber_types::{bf16, f16};
    // All 16-bit patterns, four to a word.
    let word = |i: u64| (0..4).map(|j| (4 * i + j) << (16 * j)).sum();
    let words: Vec<u64> = (0..1 << 14).map(word).collect();
    // SAFETY: words are bytes.
    let bytes = unsafe { std::slice::from_raw_parts(words.as_ptr().cast::<u8>(), 8 * words.len()) };
    let all: Vec<u16> =
        bytes.chunks_exact(2).map(|two| u16::from_ne_bytes(two.try_into().unwrap())).collect();
    let cast =
        |from, to: DType, of: &[u8], count| alone(vec![Step::Cast { x: 0, to }], &[(from, of)], to, count);
    let halves: Vec<f32> = all.iter().map(|&x| f16::from_bits(x).to_f32()).collect();
    let brains: Vec<f32> = all.iter().map(|&x| bf16::from_bits(x).to_f32()).collect();
    for (from, expected) in [(DType::Float16, &halves), (DType::BFloat16, &brains)] {
        let found = cast(from, DType::Float32, bytes, all.len());
        let expected: Vec<u8> = expected.iter().flat_map(|x| x.to_ne_bytes()).collect();
        assert!(bits(DType::Float32, &found) == bits(DType::Float32, &expected), "from {from}");
    }
    // As 32-bit floats, the words have all exponents and signs, and digits that are lost.
    let floats: Vec<f32> =
        bytes.chunks_exact(4).map(|four| f32::from_ne_bytes(four.try_into().unwrap())).collect();
    let rounded: [(DType, Vec<u16>); 2] = [
        (DType::Float16, floats.iter().map(|&x| f16::from_f32(x).to_bits()).collect()),
        (DType::BFloat16, floats.iter().map(|&x| bf16::from_f32(x).to_bits()).collect()),
    ];
    for (to, expected) in rounded {
        let expected: Vec<u8> = expected.iter().flat_map(|x| x.to_ne_bytes()).collect();
        let found = cast(DType::Float32, to, bytes, floats.len());
        assert!(bits(to, &found) == bits(to, &expected), "to {to}");
    }
}
