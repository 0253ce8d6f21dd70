//! Convolutions against their definition.
#![allow(clippy::unwrap_used, reason = "a failure is a failed test")]

use smallvec::smallvec;
use umber_kernels::conv::{convolve, weight_gradient};
use umber_kernels::{View, ViewMut};
use umber_types::{ConvAxis, ConvParams, Element, Layout, Shape, bf16, f16};

/// A test case: parameters, and lengths of batch, channels per group, input and kernel.
#[derive(Clone, Debug)]
struct Case {
    params: ConvParams,
    batch: usize,
    inputs: usize,
    outputs: usize,
    lengths: Vec<usize>,
    taps: Vec<usize>,
}

impl Case {
    fn input(&self) -> Shape {
        [self.batch]
            .into_iter()
            .chain(self.lengths.iter().copied())
            .chain([self.inputs * self.params.groups])
            .collect()
    }
    fn weight(&self) -> Shape {
        [self.outputs * self.params.groups]
            .into_iter()
            .chain(self.taps.iter().copied())
            .chain([self.inputs])
            .collect()
    }
    fn output(&self) -> Shape {
        let lengths = self.params.axes.iter().zip(self.lengths.iter().zip(&self.taps));
        let lengths = lengths.map(|(axis, (&length, &taps))| axis.outputs(length, taps));
        [self.batch].into_iter().chain(lengths).chain([self.outputs * self.params.groups]).collect()
    }

    /// Every product: offsets in input, weight and output.
    fn terms(&self) -> Vec<(usize, usize, usize)> {
        let (x, w, y) = (self.input(), self.weight(), self.output());
        let unravel = |mut index: usize, shape: &[usize]| -> Vec<usize> {
            let mut multi_index = vec![0; shape.len()];
            for (axis_index, &length) in multi_index.iter_mut().zip(shape).rev() {
                *axis_index = index % length;
                index /= length;
            }
            multi_index
        };
        let mut terms = Vec::new();
        for out in 0..y.size() {
            let position = unravel(out, &y);
            let channel = *position.last().unwrap();
            for k in 0..w.size() / w[0] {
                let term = unravel(k, &w[1..]);
                let mut at = position[0];
                let mut inside = true;
                for (i, axis) in self.params.axes.iter().enumerate() {
                    let coordinate =
                        (position[i + 1] * axis.stride + term[i] * axis.kernel_dilation) as isize - axis.low;
                    let gap = axis.input_dilation as isize;
                    inside &=
                        coordinate >= 0 && coordinate % gap == 0 && coordinate / gap < x[i + 1] as isize;
                    at = at * x[i + 1] + (coordinate / gap).max(0) as usize;
                }
                let input = channel / self.outputs * self.inputs + term.last().unwrap();
                if inside {
                    terms.push((at * x[x.ndim() - 1] + input, channel * (w.size() / w[0]) + k, out));
                }
            }
        }
        terms
    }
}

/// Small integers, which are exact in every dtype.
fn numbers(count: usize, seed: usize) -> Vec<i64> {
    (0..count).map(|i| ((i * 7 + seed * 13 + i * i % 11) % 7) as i64 - 3).collect()
}

fn cases() -> Vec<Case> {
    let axis = |stride, low, high, kernel_dilation, input_dilation| ConvAxis {
        stride,
        low,
        high,
        kernel_dilation,
        input_dilation,
    };
    let one = |axis, groups, [batch, inputs, outputs, length, taps]: [usize; 5]| Case {
        params: ConvParams { axes: smallvec![axis], groups },
        batch,
        inputs,
        outputs,
        lengths: vec![length],
        taps: vec![taps],
    };
    let two = |axes: [ConvAxis; 2],
               groups,
               [batch, inputs, outputs]: [usize; 3],
               lengths: [usize; 2],
               taps: [usize; 2]| Case {
        params: ConvParams { axes: axes.into_iter().collect(), groups },
        batch,
        inputs,
        outputs,
        lengths: lengths.into(),
        taps: taps.into(),
    };
    let plain = ConvAxis::PLAIN;
    vec![
        one(plain, 1, [1, 1, 1, 9, 3]),
        one(axis(1, 2, 2, 1, 1), 1, [2, 1, 1, 5, 3]),
        one(axis(1, 40, 40, 2, 1), 1, [1, 1, 1, 9000, 41]),
        one(axis(2, 1, 0, 3, 1), 1, [2, 3, 4, 11, 3]),
        one(axis(1, 2, 3, 1, 2), 1, [2, 3, 4, 7, 3]),
        one(axis(3, 2, 3, 2, 4), 2, [2, 3, 2, 7, 5]),
        one(axis(1, -2, -1, 1, 1), 1, [1, 2, 3, 9, 2]),
        one(axis(2, 5, 5, 1, 7), 1, [1, 2, 2, 3, 2]),
        one(axis(1, 1, 1, 1, 1), 5, [2, 1, 1, 8, 3]),
        one(axis(2, 1, 1, 2, 1), 5, [2, 1, 3, 300, 3]),
        one(axis(1, 2, 2, 1, 3), 4, [1, 1, 1, 6, 4]),
        one(plain, 1, [3, 0, 2, 4, 2]),
        one(plain, 1, [0, 2, 2, 4, 2]),
        one(plain, 1, [3, 2, 0, 4, 2]),
        one(axis(1, 3, 2, 1, 1), 1, [1, 2, 2, 0, 2]),
        two([plain; 2], 1, [2, 3, 4], [5, 6], [1, 1]),
        two([plain; 2], 2, [2, 3, 4], [5, 6], [1, 1]),
        two([axis(1, 1, 1, 1, 1); 2], 1, [2, 3, 5], [6, 7], [3, 3]),
        two([axis(2, 1, 0, 1, 1), axis(1, 2, 1, 2, 1)], 1, [1, 20, 5], [6, 9], [3, 3]),
        two([axis(1, 2, 2, 1, 2), axis(1, 1, 1, 1, 3)], 1, [2, 3, 2], [4, 3], [3, 3]),
        two([axis(1, 1, 1, 1, 1); 2], 6, [2, 1, 1], [6, 40], [3, 3]),
        two([axis(1, 1, 1, 1, 1); 2], 3, [2, 2, 3], [20, 20], [3, 2]),
        two([axis(1, 1, 1, 1, 1); 2], 1, [1, 300, 70], [9, 9], [3, 3]),
        // Output channels that fill several panels of vectors, or part of one.
        two([axis(1, 1, 1, 1, 1); 2], 1, [2, 5, 130], [5, 11], [3, 3]),
        two([axis(1, 1, 1, 1, 1); 2], 2, [1, 3, 33], [9, 5], [3, 2]),
        two([axis(2, 3, 2, 1, 1); 2], 1, [2, 3, 17], [23, 21], [7, 7]),
        // Three taps, stride one and enough channels for Winograd: full and partial tiles, one and two axes, batches of tiles one
        // larger and one smaller than the register block.
        two([axis(1, 1, 1, 1, 1); 2], 1, [2, 20, 20], [9, 10], [3, 3]),
        two([axis(1, 0, 1, 1, 1), axis(1, 2, 0, 1, 1)], 1, [2, 17, 33], [11, 12], [3, 3]),
        two([axis(1, -1, 1, 1, 1), axis(1, 1, -2, 1, 1)], 1, [2, 24, 40], [13, 14], [3, 3]),
        two([axis(1, 1, 1, 1, 1); 2], 1, [1, 20, 20], [40, 14], [3, 3]),
        two([axis(1, 1, 1, 1, 1); 2], 1, [9, 20, 70], [5, 6], [3, 3]),
        one(axis(1, 1, 1, 1, 1), 1, [2, 64, 70, 61, 3]),
        one(axis(1, 0, 3, 1, 1), 1, [1, 64, 64, 120, 3]),
        // Several groups per vector, full and partial.
        two([axis(1, 1, 1, 1, 1); 2], 9, [2, 4, 4], [7, 6], [3, 3]),
        two([axis(2, 1, 1, 1, 1); 2], 25, [1, 2, 3], [7, 6], [3, 3]),
        two([axis(1, 1, 0, 2, 1); 2], 6, [1, 9, 8], [6, 7], [2, 3]),
        two([axis(1, 1, 1, 1, 1); 2], 70, [2, 1, 2], [8, 9], [3, 3]),
        two([axis(1, 1, 1, 1, 1); 2], 130, [1, 1, 1], [12, 9], [3, 3]),
        // Depthwise and narrow groups: strips that end early at both edges, some of the channels, large strides and dilations.
        two([axis(1, 1, 1, 1, 1); 2], 48, [1, 1, 1], [9, 20], [3, 3]),
        two([axis(2, 2, 2, 1, 1); 2], 33, [2, 1, 1], [11, 19], [5, 5]),
        two([axis(1, 3, 3, 1, 1); 2], 32, [1, 1, 1], [7, 9], [7, 7]),
        two([axis(1, 4, 4, 2, 1); 2], 17, [1, 1, 1], [6, 13], [5, 5]),
        two([axis(3, 0, 1, 3, 1), axis(2, 5, 0, 2, 1)], 16, [2, 1, 1], [12, 30], [3, 4]),
        two([axis(1, 2, 2, 1, 1), axis(1, 2, 2, 1, 2)], 20, [1, 1, 1], [5, 9], [3, 3]),
        two([axis(1, 9, 9, 1, 1); 2], 15, [1, 1, 1], [2, 3], [3, 3]),
        two([axis(1, -1, -2, 1, 1); 2], 16, [1, 1, 1], [9, 12], [3, 2]),
        two([axis(1, 1, 1, 1, 1); 2], 600, [1, 1, 1], [6, 9], [5, 5]),
        two([axis(1, 1, 1, 1, 1); 2], 32, [2, 4, 4], [6, 11], [3, 3]),
        two([axis(2, 1, 1, 1, 1); 2], 5, [2, 8, 8], [6, 11], [3, 3]),
        two([axis(1, 0, 0, 1, 1); 2], 3, [1, 8, 8], [4, 5], [2, 2]),
        two([axis(1, 1, 1, 1, 1); 2], 11, [1, 2, 2], [5, 17], [3, 3]),
        one(axis(1, 3, 0, 1, 1), 40, [3, 1, 1, 70, 4]),
        one(axis(1, 3, 0, 1, 1), 3, [2, 1, 1, 33, 4]),
        one(axis(1, 0, 0, 1, 1), 16, [1, 1, 1, 4, 4]),
        // Strides larger than the kernel, and large kernel dilations.
        two([axis(3, 1, 0, 1, 1), axis(4, 0, 2, 1, 1)], 1, [2, 3, 18], [10, 14], [2, 3]),
        two([axis(3, 0, 0, 1, 1); 2], 3, [2, 2, 2], [10, 11], [1, 2]),
        one(axis(1, 0, 0, 500, 1), 1, [1, 3, 4, 1100, 3]),
        // More terms than one accumulation block, and more than one block of outputs.
        one(axis(1, 1, 1, 1, 1), 1, [1, 450, 20, 12, 3]),
        two([axis(1, 1, 1, 1, 1); 2], 1, [4, 200, 2], [12, 10], [3, 3]),
        Case {
            params: ConvParams {
                axes: smallvec![axis(1, 1, 1, 1, 1), axis(2, 0, 1, 1, 1), axis(1, 0, 0, 2, 1)],
                groups: 2,
            },
            batch: 2,
            inputs: 2,
            outputs: 2,
            lengths: vec![3, 4, 6],
            taps: vec![2, 3, 2],
        },
        Case {
            params: ConvParams {
                axes: smallvec![axis(1, 1, 1, 1, 1), axis(2, 1, 1, 1, 1), axis(1, 2, 2, 2, 1)],
                groups: 18,
            },
            batch: 2,
            inputs: 1,
            outputs: 1,
            lengths: vec![4, 5, 10],
            taps: vec![3, 3, 3],
        },
    ]
}

fn run<T: Element>(case: &Case, number: impl Fn(i64) -> T, same: impl Fn(T, i64) -> bool) {
    let (shapes, terms) = ([case.input(), case.weight(), case.output()], case.terms());
    let [x, w, y] = [0, 1, 2].map(|i| numbers(shapes[i].size(), i));
    let [tx, tw, ty] = [&x, &w, &y].map(|values| values.iter().map(|&v| number(v)).collect::<Vec<T>>());
    let layouts = shapes.clone().map(Layout::contiguous);

    let mut expected = vec![0; y.len()];
    for &(i, k, o) in &terms {
        expected[o] += x[i] * w[k];
    }
    let mut actual = vec![number(1); y.len()];
    let out = ViewMut::of(&mut actual, &layouts[2]);
    convolve(&case.params, View::of(&tx, &layouts[0]), View::of(&tw, &layouts[1]), out);
    assert!(
        actual.iter().zip(&expected).all(|(&f, &w)| same(f, w)),
        "{} {case:?}: {actual:?} is not {expected:?}",
        T::DTYPE
    );

    let mut expected = vec![0; w.len()];
    for &(i, k, o) in &terms {
        expected[k] += x[i] * y[o];
    }
    let mut actual = vec![number(1); w.len()];
    let out = ViewMut::of(&mut actual, &layouts[1]);
    weight_gradient(&case.params, View::of(&tx, &layouts[0]), View::of(&ty, &layouts[2]), out);
    let near = actual.iter().zip(&expected).all(|(&f, &w)| same(f, w));
    assert!(near, "gradient {} {case:?}: {actual:?} is not {expected:?}", T::DTYPE);
}

#[test]
fn float32() {
    for case in cases() {
        run(&case, |v| v as f32, |f, w| f == w as f32);
    }
}

#[test]
fn float64_and_complex() {
    for case in cases() {
        run(&case, |v| v as f64, |f, w| f == w as f64);
        let complex = |v: i64| umber_types::Complex32::new(v as f32, 0.0);
        run(&case, complex, |f, w| f == complex(w));
    }
}

#[test]
fn float16_and_bfloat16_round_once() {
    for case in cases() {
        run(&case, |v| f16::from_f32(v as f32), |f, w| f == f16::from_f32(w as f32));
        run(&case, |v| bf16::from_f32(v as f32), |f, w| f == bf16::from_f32(w as f32));
    }
}

#[test]
fn integers_wrap() {
    for case in cases() {
        run(&case, |v| v as i8, |f, w| f == w as i8);
        run(&case, |v| v as u64, |f, w| f == w as u64);
    }
}

#[test]
fn any_strides() {
    for case in cases().into_iter().filter(|case| case.terms().len() < 700_000) {
        let (shapes, terms) = ([case.input(), case.weight(), case.output()], case.terms());
        let [x, w, y] = [0, 1, 2].map(|i| numbers(shapes[i].size(), i));
        // Elements in reversed axis order, and backwards along the last axis.
        let scramble = |values: &[i64], shape: &Shape| {
            let ndim = shape.ndim();
            let reversed: Vec<usize> = (0..ndim).rev().collect();
            let transposed = Layout::contiguous(shape.iter().rev().copied().collect()).permute(&reversed);
            let mut starts = vec![0; ndim];
            starts[ndim - 1] = shape[ndim - 1].saturating_sub(1);
            let mut steps = vec![1; ndim];
            steps[ndim - 1] = -1;
            let layout = transposed.slice(&starts, &steps, shape);
            let mut memory = vec![0f32; values.len().max(1)];
            for (index, &value) in values.iter().enumerate() {
                let (mut remaining, mut at) = (index, layout.offset as isize);
                for (&length, &stride) in shape.iter().zip(&layout.strides).rev() {
                    at += (remaining % length) as isize * stride;
                    remaining /= length;
                }
                memory[at as usize] = value as f32;
            }
            (memory, layout)
        };
        let (mx, lx) = scramble(&x, &shapes[0]);
        let (mw, lw) = scramble(&w, &shapes[1]);
        let (my, ly) = scramble(&y, &shapes[2]);
        let mut expected = vec![0; y.len()];
        for &(i, k, o) in &terms {
            expected[o] += x[i] * w[k];
        }
        let mut actual = vec![1f32; y.len()];
        let dense = Layout::contiguous(shapes[2].clone());
        convolve(&case.params, View::of(&mx, &lx), View::of(&mw, &lw), ViewMut::of(&mut actual, &dense));
        assert!(actual.iter().zip(&expected).all(|(&f, &w)| f == w as f32), "{case:?}");
        let mut expected = vec![0; w.len()];
        for &(i, k, o) in &terms {
            expected[k] += x[i] * y[o];
        }
        let mut actual = vec![1f32; w.len()];
        let dense = Layout::contiguous(shapes[1].clone());
        weight_gradient(
            &case.params,
            View::of(&mx, &lx),
            View::of(&my, &ly),
            ViewMut::of(&mut actual, &dense),
        );
        assert!(actual.iter().zip(&expected).all(|(&f, &w)| f == w as f32), "{case:?}");
    }
}

#[test]
fn padding_is_not_multiplied() {
    // Taps outside the input are skipped, so that an infinite weight there gives no NaN. An infinite element affects only its
    // group.
    for (groups, channels) in [(20, 1), (5, 4), (3, 1)] {
        let axis = ConvAxis { low: 1, high: 1, ..ConvAxis::PLAIN };
        let params = ConvParams { axes: smallvec![axis, axis], groups };
        let (x, w, y) = ([1, 5, 11, groups * channels], [groups * channels, 3, 3, channels], [5, 11]);
        let (lx, lw) = (Layout::contiguous(Shape::from(x)), Layout::contiguous(Shape::from(w)));
        let mut weight = vec![1f32; lw.shape.size()];
        // The first tap of the last output channel, which reads padding in the first row and in the first column.
        let tap = (groups * channels - 1) * 9 * channels;
        weight[tap] = f32::INFINITY;
        let input = vec![1f32; lx.shape.size()];
        let mut actual = vec![0f32; lx.shape.size()];
        convolve(&params, View::of(&input, &lx), View::of(&weight, &lw), ViewMut::of(&mut actual, &lx));
        for (i, &value) in actual.iter().enumerate() {
            let (channel, column, row) = (i % x[3], i / x[3] % y[1], i / x[3] / y[1]);
            let is_covered = channel == x[3] - 1 && column > 0 && row > 0;
            assert_eq!(value.is_infinite(), is_covered, "{groups} groups: {row} {column} {channel}: {value}");
            assert!(!value.is_nan());
        }
        let mut input = input;
        let last = input.len() - x[3];
        input[last] = f32::INFINITY;
        let cotangent = vec![1f32; actual.len()];
        let mut gradient = vec![0f32; weight.len()];
        let out = ViewMut::of(&mut gradient, &lw);
        weight_gradient(&params, View::of(&input, &lx), View::of(&cotangent, &lx), out);
        for (i, &value) in gradient.iter().enumerate() {
            let (term, tap, channel) = (i % channels, i / channels % 9, i / channels / 9);
            // The last pixel is read by the taps of the last two rows and columns only.
            let is_covered = term == 0 && channel < channels && tap / 3 > 0 && tap % 3 > 0;
            assert_eq!(
                value.is_infinite(),
                is_covered,
                "gradient, {groups} groups: {channel} {tap} {term}: {value}"
            );
            assert!(!value.is_nan());
        }
    }
}
