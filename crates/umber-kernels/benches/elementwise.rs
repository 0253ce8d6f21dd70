//! Time per element of elementwise steps, in L1 and in memory.
//!
//! `cargo bench -p umber-kernels --bench elementwise [FILTER]`

mod common;

use std::hint::black_box;

use common::{filter, min_seconds, values};
use umber_kernels::tape::{Program, copy};
use umber_kernels::{View, ViewMut};
use umber_types::tape::{Step, Tape};
use umber_types::{BinaryKind, DType, Layout, Shape, UnaryKind};

fn program(inputs: Vec<DType>, steps: Vec<Step>) -> Program {
    let last = (inputs.len() + steps.len() - 1) as u32;
    Program::new(&Tape { inputs, steps, outputs: vec![last] }).expect("the kinds take floats")
}

/// Nanoseconds per element of one program over float32 inputs.
fn per_element(program: &Program, inputs: usize, count: usize) -> f64 {
    let layout = Layout::contiguous(Shape::from([count]));
    let data: Vec<Vec<f32>> = (0..inputs).map(|_| values(count)).collect();
    let views: Vec<View> = data.iter().map(|data| View::of(data, &layout)).collect();
    let mut out = vec![0f32; count];
    let repeats = (2_000_000 / count).max(1);
    let seconds = min_seconds(if count >= 1000000 { 25 } else { 9 }, || {
        for _ in 0..repeats {
            program.run(black_box(&views), &mut [ViewMut::of(&mut out, &layout)]);
        }
    });
    seconds / (repeats * count) as f64 * 1e9
}

fn functions(filter: &str) {
    for &kind in UnaryKind::ALL {
        let tape =
            Tape { inputs: vec![DType::Float32], steps: vec![Step::Unary { kind, x: 0 }], outputs: vec![1] };
        let Ok(program) = Program::new(&tape) else { continue };
        if kind.returns_bool() || !kind.name().contains(filter) {
            continue;
        }
        println!("{:14} {:8.3} ns", kind.name(), per_element(&program, 1, 1000));
    }
    for &kind in BinaryKind::ALL {
        let steps = vec![Step::Binary { kind, a: 0, b: 1 }];
        let tape = Tape { inputs: vec![DType::Float32; 2], steps, outputs: vec![2] };
        let Ok(program) = Program::new(&tape) else { continue };
        if kind.returns_bool() || !kind.name().contains(filter) {
            continue;
        }
        println!("{:14} {:8.3} ns", kind.name(), per_element(&program, 2, 1000));
    }
}

fn sizes() {
    let steps = vec![
        Step::Binary { kind: BinaryKind::Multiply, a: 0, b: 1 },
        Step::Binary { kind: BinaryKind::Add, a: 3, b: 2 },
    ];
    let fused = program(vec![DType::Float32; 3], steps);
    let add = program(vec![DType::Float32; 2], vec![Step::Binary { kind: BinaryKind::Add, a: 0, b: 1 }]);
    for count in [1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000] {
        let one = per_element(&add, 2, count);
        let two = per_element(&fused, 3, count);
        let layout = Layout::contiguous(Shape::from([count]));
        let from: Vec<f32> = values(count);
        let mut to = vec![0f32; count];
        let repeats = (2_000_000 / count).max(1);
        let copied = min_seconds(25, || {
            for _ in 0..repeats {
                copy(View::of(black_box(&from), &layout), ViewMut::of(&mut to, &layout));
            }
        }) / (repeats * count) as f64
            * 1e9;
        println!(
            "{count:9} elements: x+y {:9.1} ns  x*y+z {:9.1} ns = {:.2} of a copy of as many bytes",
            one * count as f64,
            two * count as f64,
            two / (2.0 * copied)
        );
    }
}

fn chain() {
    let (constant, unary, binary) = (
        |value: f64| Step::Constant { value: value.into(), dtype: DType::Float32 },
        |kind, x| Step::Unary { kind, x },
        |kind, a, b| Step::Binary { kind, a, b },
    );
    // x w + b, then gelu: h (1 + erf(h / √2)) / 2
    let steps = vec![
        binary(BinaryKind::Multiply, 0, 1),
        binary(BinaryKind::Add, 3, 2),
        constant(std::f64::consts::FRAC_1_SQRT_2),
        binary(BinaryKind::Multiply, 4, 5),
        unary(UnaryKind::Erf, 6),
        constant(1.0),
        binary(BinaryKind::Add, 7, 8),
        binary(BinaryKind::Multiply, 4, 9),
        constant(0.5),
        binary(BinaryKind::Multiply, 10, 11),
    ];
    let program = program(vec![DType::Float32; 3], steps);
    for count in [1000, 1_000_000, 10_000_000] {
        println!("gelu(x w + b), {count} elements: {:.3} ns each", per_element(&program, 3, count));
    }
}

fn building() {
    let steps = vec![Step::Binary { kind: BinaryKind::Add, a: 0, b: 1 }];
    let tape = Tape { inputs: vec![DType::Float32; 2], steps, outputs: vec![2] };
    let seconds = min_seconds(7, || {
        for _ in 0..1000 {
            black_box(Program::new(black_box(&tape)).expect("floats add"));
        }
    });
    println!("building a program of one step: {:.0} ns", seconds / 1000.0 * 1e9);
}

fn main() {
    let filter = filter();
    functions(&filter);
    if filter.is_empty() || filter == "sizes" {
        building();
        sizes();
        chain();
    }
}
