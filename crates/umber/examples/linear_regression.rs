//! Linear regression by gradient descent: `cargo run --example linear_regression`.

use umber::transforms::value_and_grad;
use umber::{Array, DType, Result, eval, ops};

const FEATURES: usize = 10;
const EXAMPLES: usize = 1000;
const STEPS: usize = 500;
const LEARNING_RATE: f64 = 0.1;

fn main() -> Result<()> {
    ops::random::seed(0)?;
    let normal = |shape: [usize; 2]| ops::random::normal(shape, DType::Float32, None, None, None);
    let truth = normal([FEATURES, 1])?;
    let x = normal([EXAMPLES, FEATURES])?;
    let y = x.matmul(&truth)? + normal([EXAMPLES, 1])? * 0.01;

    let mean_square = |inputs: &[Array]| -> Result<Array> {
        let difference = x.matmul(&inputs[0])? - &y;
        difference.square()?.mean(..)
    };
    let step = value_and_grad(mean_square, &[0]);

    let mut weights = ops::zeros(truth.shape(), DType::Float32);
    for i in 0..STEPS {
        let (loss, gradients) = step(std::slice::from_ref(&weights))?;
        weights -= &gradients[0] * LEARNING_RATE;
        eval(&[weights.clone(), loss.clone()])?;
        if i % 100 == 0 {
            println!("step {i:3}  loss {:.6}", loss.item()?.as_f64());
        }
    }

    let error = (&weights - &truth).abs()?.max(..)?.item()?.as_f64();
    println!("largest error of a weight: {error:.6}");
    assert!(error < 0.01, "the regression did not find the weights");
    Ok(())
}

#[test]
fn finds_the_weights() -> Result<()> {
    main()
}
