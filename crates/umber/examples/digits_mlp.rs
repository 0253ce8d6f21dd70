//! Trains a network on handwritten digits: `cargo run --release --example digits_mlp`.
//!
//! Two linear layers, cross-entropy loss, Adam (D. P. Kingma and J. Ba, "Adam: a method for stochastic optimization",
//! 2015); a fifth of the digits is held out for testing. Halfway, the state is saved as safetensors, and the training continues
//! from the file, as after an interruption.

use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

use umber::transforms::value_and_grad;
use umber::{Array, DType, Result, eval, io, ops, s};

const PIXELS: usize = 64;
const HIDDEN: usize = 128;
const CLASSES: usize = 10;
const EPOCHS: usize = 30;
const BATCH: usize = 32;
const LEARNING_RATE: f64 = 1e-3;
const BETA1: f64 = 0.9;
const BETA2: f64 = 0.999;
const EPSILON: f64 = 1e-8;

const PARAMETERS: [&str; 4] = ["hidden.weight", "hidden.bias", "output.weight", "output.bias"];

/// The weights and bias of a layer, drawn uniformly within the inverse square root of the number of inputs.
fn linear(inputs: usize, outputs: usize) -> Result<[Array; 2]> {
    let bound = (inputs as f64).sqrt().recip();
    let limit = |value: f64| Array::scalar(value, DType::Float32);
    let draw =
        |shape: &[usize]| ops::random::uniform(&limit(-bound), &limit(bound), shape, DType::Float32, None);
    Ok([draw(&[inputs, outputs])?, draw(&[outputs])?])
}

fn logits(parameters: &[Array], x: &Array) -> Result<Array> {
    let hidden = (x.matmul(&parameters[0])? + &parameters[1]).maximum(0.0)?;
    Ok(hidden.matmul(&parameters[2])? + &parameters[3])
}

/// Mean of `logsumexp(logits) - logits[class]`. The inputs are the parameters, images and classes.
fn cross_entropy(inputs: &[Array]) -> Result<Array> {
    let (parameters, data) = inputs.split_at(PARAMETERS.len());
    let scores = logits(parameters, &data[0])?;
    let target_scores = scores.take_along_axis(&data[1].expand_dims(-1)?, -1)?.squeeze(-1)?;
    (scores.logsumexp(-1)? - target_scores).mean(..)
}

/// The parameters, and the state of Adam: first and second moments of each parameter's gradient.
struct State {
    parameters: Vec<Array>,
    first: Vec<Array>,
    second: Vec<Array>,
    steps: i32,
}

impl State {
    fn new() -> Result<State> {
        let parameters = [linear(PIXELS, HIDDEN)?, linear(HIDDEN, CLASSES)?].concat();
        let zeros: Vec<Array> = parameters.iter().map(|x| ops::zeros(x.shape(), x.dtype())).collect();
        Ok(State { parameters, first: zeros.clone(), second: zeros, steps: 0 })
    }

    fn update(&mut self, gradients: &[Array]) -> Result<()> {
        self.steps += 1;
        let step_size =
            LEARNING_RATE * (1.0 - BETA2.powi(self.steps)).sqrt() / (1.0 - BETA1.powi(self.steps));
        for (i, gradient) in gradients.iter().enumerate() {
            self.first[i] = &self.first[i] * BETA1 + gradient * (1.0 - BETA1);
            self.second[i] = &self.second[i] * BETA2 + gradient.square()? * (1.0 - BETA2);
            self.parameters[i] -= &self.first[i] * step_size / (self.second[i].sqrt()? + EPSILON);
        }
        Ok(())
    }

    /// All arrays with their names in a checkpoint.
    fn arrays(&self) -> impl Iterator<Item = (String, &Array)> {
        let groups = [("", &self.parameters), ("first.", &self.first), ("second.", &self.second)];
        groups.into_iter().flat_map(|(prefix, arrays)| {
            PARAMETERS.iter().zip(arrays).map(move |(name, array)| (format!("{prefix}{name}"), array))
        })
    }

    fn save(&self, path: &Path) -> Result<()> {
        let arrays: Vec<(String, Array)> = self.arrays().map(|(name, array)| (name, array.clone())).collect();
        let metadata = HashMap::from([("steps".to_string(), self.steps.to_string())]);
        io::safetensors::save(path, &arrays, Some(metadata))
    }

    fn load(path: &Path) -> Result<State> {
        let contents = io::safetensors::load(path)?;
        let steps = contents.metadata.get("steps").and_then(|steps| steps.parse().ok());
        let arrays: HashMap<String, Array> = contents.arrays.into_iter().collect();
        let group = |prefix: &str| -> Vec<Array> {
            PARAMETERS.iter().map(|name| arrays[&format!("{prefix}{name}")].clone()).collect()
        };
        let (parameters, first, second) = (group(""), group("first."), group("second."));
        Ok(State {
            parameters,
            first,
            second,
            steps: steps.expect("the file is a checkpoint of this program"),
        })
    }
}

/// Images as rows of pixels between zero and one, and their classes.
struct Digits {
    images: Array,
    classes: Array,
}

impl Digits {
    /// The digits of the file in a random order: a fifth for testing, and the others for training.
    fn load() -> Result<(Digits, Digits)> {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("examples/data/digits.npy");
        let table = ops::random::permuted(&io::npy::load(&path)?, 0, None)?;
        let images = table.get(s![.., ..PIXELS])?.astype(DType::Float32)? / 16.0;
        let classes = table.get(s![.., PIXELS])?.astype(DType::Int32)?;
        let held_out = images.shape()[0] / 5;
        let part = |range: std::ops::Range<usize>| -> Result<Digits> {
            Ok(Digits { images: images.get(s![range.clone()])?, classes: classes.get(s![range])? })
        };
        Ok((part(held_out..images.shape()[0])?, part(0..held_out)?))
    }

    /// Batches in a new random order; the last ones, if they do not fill a batch, are left out.
    fn batches(&self) -> Result<impl Iterator<Item = Result<Digits>>> {
        let count = self.classes.size() / BATCH;
        let order = ops::random::permutation(self.classes.size() as i64, None)?;
        let order = order.get(s![..count * BATCH])?.reshape((count, BATCH))?;
        Ok(order.rows()?.map(|rows| -> Result<Digits> {
            Ok(Digits { images: self.images.take(&rows, 0)?, classes: self.classes.take(&rows, 0)? })
        }))
    }
}

fn accuracy(parameters: &[Array], digits: &Digits) -> Result<f64> {
    let predicted = logits(parameters, &digits.images)?.argmax(-1)?;
    Ok(predicted.equal(&digits.classes)?.mean(..)?.item()?.as_f64())
}

fn train(state: &mut State, digits: &Digits, epochs: std::ops::Range<usize>) -> Result<()> {
    let step = value_and_grad(cross_entropy, &[0, 1, 2, 3]);
    for epoch in epochs {
        let start = Instant::now();
        let mut losses = Vec::new();
        for batch in digits.batches()? {
            let Digits { images, classes } = batch?;
            let (loss, gradients) = step(&[&state.parameters[..], &[images, classes]].concat())?;
            state.update(&gradients)?;
            let arrays: Vec<Array> =
                state.arrays().map(|(_, array)| array.clone()).chain([loss.clone()]).collect();
            eval(&arrays)?;
            losses.push(loss.item()?.as_f64());
        }
        let rate = (losses.len() * BATCH) as f64 / start.elapsed().as_secs_f64();
        let loss = losses.iter().sum::<f64>() / losses.len() as f64;
        println!("epoch {:2}  loss {loss:.4}  {rate:.0} samples/s", epoch + 1);
    }
    Ok(())
}

fn main() -> Result<()> {
    ops::random::seed(0)?;
    let (digits, test_digits) = Digits::load()?;
    eval(&[digits.images.clone(), digits.classes.clone()])?;

    let mut state = State::new()?;
    train(&mut state, &digits, 0..EPOCHS / 2)?;

    let checkpoint = std::env::temp_dir().join(format!("umber-digits-{}.safetensors", std::process::id()));
    state.save(&checkpoint)?;
    let mut state = State::load(&checkpoint)?;
    train(&mut state, &digits, EPOCHS / 2..EPOCHS)?;
    drop(std::fs::remove_file(&checkpoint));

    let test_accuracy = accuracy(&state.parameters, &test_digits)?;
    println!("test accuracy {:.2} %", test_accuracy * 100.0);
    assert!(test_accuracy >= 0.96, "the network did not learn the digits");
    Ok(())
}

#[test]
fn learns_the_digits() -> Result<()> {
    main()
}
