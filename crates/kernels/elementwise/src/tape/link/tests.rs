//! Chains are tested against their steps, each run as a separate tape.

use umber_kernels_base::view::{View, ViewMut};
use umber_types::tape::{Step, Tape};
use umber_types::{BinaryKind, Layout, Scalar, Shape, UnaryKind};

use super::*;

/// The first three kinds of each list also support integers.
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

/// A deterministic stream of pseudo-random numbers (a linear congruential generator).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % end
    }
}

/// The last output of a tape.
fn run_single(steps: Vec<Step>, inputs: &[(DType, &[u8])], output: DType, count: usize) -> Vec<u8> {
    let last = inputs.len() + steps.len() - 1;
    let dtypes = inputs.iter().map(|input| input.0).collect();
    run(&Tape { inputs: dtypes, steps, outputs: vec![last as u32] }, inputs, &[output], count).remove(0)
}

fn run(tape: &Tape, inputs: &[(DType, &[u8])], outputs: &[DType], count: usize) -> Vec<Vec<u8>> {
    let layout = Layout::contiguous(Shape::from([count]));
    let program = Program::new(tape).expect("the tape is valid");
    // SAFETY: the bytes are `count` elements of the dtype; callers allocate them as 64-bit words, so they are aligned.
    let views: Vec<View> =
        inputs.iter().map(|(dtype, bytes)| unsafe { View::new(bytes.as_ptr(), *dtype, &layout) }).collect();
    let mut buffers: Vec<Vec<u64>> =
        outputs.iter().map(|dtype| vec![0; (count * dtype.size()).div_ceil(8)]).collect();
    let mut targets: Vec<ViewMut> = buffers
        .iter_mut()
        .zip(outputs)
        // SAFETY: the buffer has memory for `count` elements.
        .map(|(words, dtype)| unsafe { ViewMut::new(words.as_mut_ptr().cast(), *dtype, &layout) })
        .collect();
    program.run(&views, &mut targets);
    let bytes = |words: &Vec<u64>| words.iter().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>();
    buffers
        .iter()
        .zip(outputs)
        .map(|(words, dtype)| {
            let mut bytes = bytes(words);
            bytes.truncate(count * dtype.size());
            bytes
        })
        .collect()
}

/// The elements as float64 bits, with a single bit pattern for NaN, whose payload depends on the kernel.
fn bits(dtype: DType, bytes: &[u8]) -> Vec<u64> {
    let read = |bytes: &[u8]| {
        let mut padded = [0; 16];
        padded[..bytes.len()].copy_from_slice(bytes);
        let x = Scalar::from_bytes(dtype, &padded).as_f64();
        if x.is_nan() { f64::NAN.to_bits() } else { x.to_bits() }
    };
    bytes.chunks_exact(dtype.size()).map(read).collect()
}

/// Test that a random tape gives the same results as its steps run one by one.
fn check(seed: u64, stored: DType, count: usize) {
    let mut numbers = Numbers(seed);
    let compute = crate::elementwise::compute_dtype(stored);
    let (input_count, step_count) = (1 + numbers.below(3), 1 + numbers.below(14));
    let mut element = || {
        let x = match numbers.below(8) {
            0 => SPECIAL[numbers.below(8)],
            _ => numbers.below(4000) as f64 / 500.0 - 4.0,
        };
        Scalar::Float(x).cast(stored).to_bytes(stored)[..stored.size()].to_vec()
    };
    // As 64-bit words, for alignment.
    let words: Vec<Vec<u64>> = (0..input_count)
        .map(|_| {
            let mut bytes: Vec<u8> = (0..count).flat_map(|_| element()).collect();
            bytes.resize(bytes.len().next_multiple_of(8), 0);
            bytes.chunks_exact(8).map(|word| u64::from_ne_bytes(word.try_into().unwrap())).collect()
        })
        .collect();
    let inputs: Vec<(DType, &[u8])> = words
        .iter()
        // SAFETY: every word is eight initialised bytes.
        .map(|words| (stored, unsafe { std::slice::from_raw_parts(words.as_ptr().cast(), words.len() * 8) }))
        .collect();
    let mut steps = Vec::new();
    // The expected elements of every value, in the computing dtype.
    let mut values: Vec<Vec<u8>> = Vec::new();
    for input in &inputs {
        let cast = Step::Cast { x: 0, to: compute };
        values.push(if compute == stored {
            input.1.to_vec()
        } else {
            run_single(vec![cast], &[*input], compute, count)
        });
    }
    for _ in 0..step_count {
        let defined = values.len();
        // The latest value with probability 1/2, as in typical programs.
        let mut pick = || if numbers.below(2) == 0 { defined - 1 } else { numbers.below(defined) };
        let (a, b) = (pick(), pick());
        let (step, single, operands) = match numbers.below(8) {
            0 => {
                let value = Scalar::Float(numbers.below(64) as f64 / 16.0 - 2.0);
                let elements = value.to_bytes(compute)[..compute.size()].repeat(count);
                steps.push(Step::Constant { value, dtype: stored });
                values.push(elements);
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
        let operands: Vec<(DType, &[u8])> = operands.iter().map(|&i| (compute, &values[i][..])).collect();
        let result = run_single(vec![single], &operands, compute, count);
        steps.push(step);
        values.push(result);
    }
    let last = values.len() - 1;
    let outputs = [last, input_count + numbers.below(step_count), last];
    let outputs = &outputs[..=numbers.below(3)];
    let tape = Tape {
        inputs: vec![stored; input_count],
        steps,
        outputs: outputs.iter().map(|&value| value as u32).collect(),
    };
    let actual = run(&tape, &inputs, &vec![stored; outputs.len()], count);
    for (&output, actual) in outputs.iter().zip(&actual) {
        let expected = &values[output];
        let cast = Step::Cast { x: 0, to: stored };
        let expected = if compute == stored {
            expected.clone()
        } else {
            run_single(vec![cast], &[(compute, expected)], stored, count)
        };
        let (actual, expected) = (bits(stored, actual), bits(stored, &expected));
        assert!(actual == expected, "{stored} {seed} {count}: {tape}, output v{output}");
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

/// The number of links of each instruction of a tape with two inputs of a dtype; `None` for calls of block functions.
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
fn integer_inputs_are_converted_by_the_chain() {
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
        let mut actual = vec![0f32; numbers.len()];
        let program = Program::new(&tape).expect("the tape is valid");
        program.run(&[View::of(&numbers, &layout)], &mut [ViewMut::of(&mut actual, &layout)]);
        assert!(actual.iter().zip(&numbers).all(|(&actual, &x)| actual == of(x)), "{tape}");
    }
}

#[test]
fn integer_constants_are_converted_to_float() {
    let constant = |value, dtype| Step::Constant { value: Scalar::Int(value), dtype };
    let cast = |x| Step::Cast { x, to: DType::Float32 };
    let binary = |kind, a, b| Step::Binary { kind, a, b };
    // ((x * 3) + 5) / 5, with constants that are cast.
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
    let mut actual = vec![0f32; 1000];
    let tape = Tape { inputs: vec![DType::Float32], steps, outputs: vec![7] };
    let program = Program::new(&tape).expect("the tape is valid");
    program.run(&[View::of(&numbers, &layout)], &mut [ViewMut::of(&mut actual, &layout)]);
    assert!(actual.iter().zip(&numbers).all(|(&actual, &x)| actual == (x * 3.0 + 5.0) / 5.0), "{tape}");
}

#[test]
fn adjacent_steps_are_chained() {
    if chain::chain(DType::Float32).is_none() {
        return;
    }
    let binary = |kind, a, b| Step::Binary { kind, a, b };
    let add = binary(BinaryKind::Add, 0, 1);
    // Two steps: load, add, multiply, store. A single step is a call, except for float16 and bfloat16.
    let square = binary(BinaryKind::Multiply, 2, 2);
    assert_eq!(lengths(DType::Float32, vec![add.clone(), square], 3), [Some(4)]);
    assert_eq!(lengths(DType::Float32, vec![add.clone()], 2), [None]);
    assert_eq!(lengths(DType::BFloat16, vec![add.clone()], 2), [Some(3)]);
    // A step that is no link splits the chain.
    let tanh = Step::Unary { kind: UnaryKind::Tanh, x: 2 };
    let double = binary(BinaryKind::Add, 3, 3);
    let product = binary(BinaryKind::Multiply, 4, 0);
    assert_eq!(lengths(DType::Float32, vec![add, tanh, double, product], 5), [None, None, Some(4)]);
}

#[test]
fn conversions_are_chained() {
    if chain::chain(DType::Float32).is_none() {
        return;
    }
    let cast = |to| vec![Step::Cast { x: 0, to }];
    let (float16, bfloat16) = (DType::Float16, DType::BFloat16);
    for (from, to) in
        [(float16, DType::Float32), (DType::Float32, bfloat16), (bfloat16, float16), (float16, bfloat16)]
    {
        assert_eq!(lengths(from, cast(to), 2), [Some(2)], "{from} to {to}");
    }
    assert_eq!(lengths(float16, cast(float16), 2), []);
    assert_eq!(lengths(DType::Float64, cast(DType::Float32), 2), [None]);
}

#[test]
fn float16_conversions_match_scalar_ones() {
    use umber_types::{bf16, f16};
    // All 16-bit patterns, four per word.
    let word = |i: u64| (0..4).map(|j| (4 * i + j) << (16 * j)).sum();
    let words: Vec<u64> = (0..1 << 14).map(word).collect();
    // SAFETY: every word is eight initialised bytes.
    let bytes = unsafe { std::slice::from_raw_parts(words.as_ptr().cast::<u8>(), 8 * words.len()) };
    let all: Vec<u16> =
        bytes.chunks_exact(2).map(|two| u16::from_ne_bytes(two.try_into().unwrap())).collect();
    let cast = |from, to: DType, of: &[u8], count| {
        run_single(vec![Step::Cast { x: 0, to }], &[(from, of)], to, count)
    };
    let float16s: Vec<f32> = all.iter().map(|&x| f16::from_bits(x).to_f32()).collect();
    let bfloat16s: Vec<f32> = all.iter().map(|&x| bf16::from_bits(x).to_f32()).collect();
    for (from, expected) in [(DType::Float16, &float16s), (DType::BFloat16, &bfloat16s)] {
        let actual = cast(from, DType::Float32, bytes, all.len());
        let expected: Vec<u8> = expected.iter().flat_map(|x| x.to_ne_bytes()).collect();
        assert!(bits(DType::Float32, &actual) == bits(DType::Float32, &expected), "from {from}");
    }
    // Read as float32, the words cover all signs and exponents, and mantissas that need rounding.
    let floats: Vec<f32> =
        bytes.chunks_exact(4).map(|four| f32::from_ne_bytes(four.try_into().unwrap())).collect();
    let rounded: [(DType, Vec<u16>); 2] = [
        (DType::Float16, floats.iter().map(|&x| f16::from_f32(x).to_bits()).collect()),
        (DType::BFloat16, floats.iter().map(|&x| bf16::from_f32(x).to_bits()).collect()),
    ];
    for (to, expected) in rounded {
        let expected: Vec<u8> = expected.iter().flat_map(|x| x.to_ne_bytes()).collect();
        let actual = cast(DType::Float32, to, bytes, floats.len());
        assert!(bits(to, &actual) == bits(to, &expected), "to {to}");
    }
}
