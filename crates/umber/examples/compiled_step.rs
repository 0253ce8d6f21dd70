//! A compiled training step with momentum: `cargo run --example compiled_step`.

use umber::compile::compile;
use umber::transforms::value_and_grad;
use umber::{Array, Result, assert_allclose, eval, ops};

/// Mean squared error of a linear model; the arguments are weights, bias, inputs, targets.
fn loss(arguments: &[Array]) -> Result<Array> {
    let [weights, bias, x, y] = arguments else { unreachable!("called with four arrays") };
    (x.matmul(weights)? + bias - y).square()?.mean(..)
}

fn main() -> Result<()> {
    let loss_and_gradients = value_and_grad(loss, &[0, 1]);
    // From parameters, velocities and the batch to the new parameters, the new velocities and the loss.
    let step = compile(|arguments: &[Array]| -> Result<Vec<Array>> {
        let (state, batch) = arguments.split_at(4);
        let (parameters, velocities) = state.split_at(2);
        let (loss, gradients) = loss_and_gradients(&[parameters, batch].concat())?;
        let velocities = velocities.iter().zip(&gradients).map(|(v, g)| v * 0.9 + g);
        let velocities: Vec<Array> = velocities.collect();
        let moved = parameters.iter().zip(&velocities).map(|(p, v)| p - v * 0.02);
        Ok(moved.chain(velocities.iter().cloned()).chain([loss]).collect())
    });

    let x = Array::from([[0.0f32], [1.0], [2.0], [3.0]]);
    let y = Array::from([1.0f32, 3.0, 5.0, 7.0]);
    let zeros = |shape: &[usize]| ops::zeros(shape, x.dtype());
    let mut state = vec![zeros(&[1]), zeros(&[]), zeros(&[1]), zeros(&[])];
    for _ in 0..300 {
        state = step(&[&state[..], &[x.clone(), y.clone()]].concat())?;
        eval(&state)?; // else the graph grows from step to step
        state.pop(); // the loss
    }
    assert_allclose!(&state[0], [2.0f32], rtol = 1e-3);
    assert_allclose!(&state[1], 1.0f32, rtol = 1e-3);
    println!("{:.2} {:.2}", state[0], state[1]); // array([2.00], dtype=float32) array(1.00, dtype=float32)
    Ok(())
}

#[test]
fn finds_the_line() -> Result<()> {
    main()
}
