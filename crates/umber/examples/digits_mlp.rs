//! Trains a network on handwritten digits: `cargo run --release --example digits_mlp`.
//!
//! Two linear layers, cross-entropy loss, Adam (D. P. Kingma and J. Ba, "Adam: a method for stochastic optimization",
//! 2015); a fifth of the digits is held out for testing.

use std::path::Path;
use std::time::Instant;

use umber::Scalar;
use umber::transforms::value_and_grad;
use umber::{Array, DType, KeepAxes, Result, eval, io, ops};

const HIDDEN: i64 = 128;
const EPOCHS: usize = 30;
const BATCH: i64 = 32;
const LEARNING_RATE: f64 = 1e-3;
const BETA1: f64 = 0.9;
const BETA2: f64 = 0.999;
const EPSILON: f64 = 1e-8;

/// The weights and bias of a layer, drawn uniformly within the inverse square root of the number of inputs.
fn linear(inputs: i64, outputs: i64) -> Result<[Array; 2]> {
    let bound = (inputs as f64).sqrt().recip();
    let draw = |shape: &[i64]| {
        let limit = |value| Array::scalar(Scalar::Float(value), DType::Float32);
        ops::random::uniform(&limit(-bound), &limit(bound), shape, DType::Float32, None)
    };
    Ok([draw(&[inputs, outputs])?, draw(&[outputs])?])
}

fn logits(parameters: &[Array], x: &Array) -> Result<Array> {
    let hidden = ops::matmul(x, &parameters[0])? + &parameters[1];
    let hidden = ops::maximum(&hidden, &Array::scalar(0.0, DType::Float32))?;
    Ok(ops::matmul(&hidden, &parameters[2])? + &parameters[3])
}

/// Mean of `logsumexp(logits) - logits[class]`. The inputs are the parameters, images and classes.
fn cross_entropy(inputs: &[Array]) -> Result<Array> {
    let (parameters, data) = inputs.split_at(4);
    let scores = logits(parameters, &data[0])?;
    let classes = ops::expand_dims(&data[1], &[-1])?;
    let target_scores = ops::squeeze(&ops::take_along_axis(&scores, &classes, Some(-1))?, Some(&[-1]))?;
    let log_normaliser = ops::logsumexp(&scores, Some(&[-1]), KeepAxes::No)?;
    ops::mean(&(log_normaliser - target_scores), None, KeepAxes::No)
}

/// First and second moments of the gradients, for each parameter.
struct Adam {
    moments: Vec<[Array; 2]>,
    steps: i32,
}

impl Adam {
    fn new(parameters: &[Array]) -> Adam {
        let zeros = |x: &Array| ops::zeros(x.shape(), x.dtype());
        Adam { moments: parameters.iter().map(|x| [zeros(x), zeros(x)]).collect(), steps: 0 }
    }

    fn update(&mut self, parameters: &mut [Array], gradients: &[Array]) -> Result<()> {
        self.steps += 1;
        let step_size =
            LEARNING_RATE * (1.0 - BETA2.powi(self.steps)).sqrt() / (1.0 - BETA1.powi(self.steps));
        for ((x, gradient), [first, second]) in parameters.iter_mut().zip(gradients).zip(&mut self.moments) {
            *first = &*first * BETA1 + gradient * (1.0 - BETA1);
            *second = &*second * BETA2 + ops::square(gradient)? * (1.0 - BETA2);
            *x = &*x - &*first * step_size / (ops::sqrt(second)? + EPSILON);
        }
        Ok(())
    }

    fn arrays(&self) -> impl Iterator<Item = Array> {
        self.moments.iter().flatten().cloned()
    }
}

fn accuracy(parameters: &[Array], images: &Array, classes: &Array) -> Result<f64> {
    let predicted = ops::argmax(&logits(parameters, images)?, Some(-1), KeepAxes::No)?;
    let is_correct = ops::equal(&predicted, classes)?;
    Ok(ops::mean(&is_correct, None, KeepAxes::No)?.item()?.as_f64())
}

/// Rows `from..to` of an array.
fn rows(a: &Array, from: i64, to: i64) -> Result<Array> {
    ops::get(a, &[ops::Index::Slice { start: Some(from), stop: Some(to), step: None }])
}

fn main() -> Result<()> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data/digits.npy");
    ops::random::seed(0)?;
    let table = ops::random::permuted(&io::npy::load(&path)?, 0, None)?;
    let columns = ops::split(&table, ops::Split::Indices(&[64]), 1)?;
    let images = ops::astype(&columns[0], DType::Float32)? / 16.0;
    let classes = ops::astype(&ops::squeeze(&columns[1], Some(&[1]))?, DType::Int32)?;
    let count = images.shape()[0] as i64;
    let held_out = count / 5;
    let (test_images, test_classes) = (rows(&images, 0, held_out)?, rows(&classes, 0, held_out)?);
    let (images, classes) = (rows(&images, held_out, count)?, rows(&classes, held_out, count)?);
    eval(&[images.clone(), classes.clone(), test_images.clone(), test_classes.clone()])?;

    let [w1, b1] = linear(64, HIDDEN)?;
    let [w2, b2] = linear(HIDDEN, 10)?;
    let mut parameters = vec![w1, b1, w2, b2];
    let mut adam = Adam::new(&parameters);
    let step = value_and_grad(cross_entropy, &[0, 1, 2, 3]);
    let count = images.shape()[0] as i64;
    for epoch in 1..=EPOCHS {
        let start = Instant::now();
        let order = ops::random::permutation(count, None)?;
        let mut total = 0.0;
        let mut batches = 0;
        for from in (0..=count - BATCH).step_by(BATCH as usize) {
            let batch = rows(&order, from, from + BATCH)?;
            let mut inputs = parameters.clone();
            inputs.push(ops::take(&images, &batch, Some(0))?);
            inputs.push(ops::take(&classes, &batch, Some(0))?);
            let (loss, gradients) = step(&inputs)?;
            drop(inputs);
            adam.update(&mut parameters, &gradients)?;
            let state: Vec<Array> =
                parameters.iter().cloned().chain(adam.arrays()).chain([loss.clone()]).collect();
            eval(&state)?;
            total += loss.item()?.as_f64();
            batches += 1;
        }
        let rate = count as f64 / start.elapsed().as_secs_f64();
        println!("epoch {epoch:2}  loss {:.4}  {rate:.0} samples/s", total / f64::from(batches));
    }
    let test_accuracy = accuracy(&parameters, &test_images, &test_classes)?;
    println!("test accuracy {:.2} %", test_accuracy * 100.0);
    assert!(test_accuracy >= 0.96, "the network did not learn the digits");
    Ok(())
}
