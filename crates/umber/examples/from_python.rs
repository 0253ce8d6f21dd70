//! NumPy's and MLX's expressions in Rust: `cargo run --example from_python`.

use umber::{Array, DType, Result, assert_array_eq, eval, keep, ops, s};

fn main() -> Result<()> {
    let mut x = Array::from([[1.0f32, -2.0, 3.0], [4.0, 5.0, -6.0]]); // mx.array([[1, -2, 3], [4, 5, -6]])
    let (rows, columns) = (x.shape()[0], x.shape()[1]); // rows, columns = x.shape
    assert_eq!((rows, columns, x.ndim(), x.size()), (2, 3, 2, 6));

    // Indices and assignment: x[0, 1:], x[..., None], x[mask], x[1, 0] = 7
    assert_array_eq!(x.get(s![0, 1..])?, [-2.0f32, 3.0]);
    assert_eq!(x.get(s![..., NewAxis])?.ndim(), 3);
    assert_eq!(x.get(s![&x.less(0)?])?.size(), 2);
    x.set(s![1, 0], 7)?;

    // Reductions: x.sum(), x.mean(axis=0), x.max(axis=-1, keepdims=True)
    let total = x.sum(..)?.item()?.as_f64(); // x.sum().item()
    assert_eq!(total, 8.0);
    assert_eq!(x.mean(0)?.size(), columns);
    let shifted = &x - x.max(keep(-1))?;

    // Selections: where(x > 0, x, 0), x.T, take_along_axis(x, i, axis=-1)
    let positive = x.greater(0)?.select(&x, &Array::from(0.0f32))?;
    assert_eq!(positive.transpose(..)?.shape()[..], [3, 2]);
    let best = x.argmax(-1)?;
    assert_array_eq!(x.take_along_axis(&best.expand_dims(-1)?, -1)?, [[3.0f32], [7.0]]);

    // Sequences of arrays: concatenate([x, x], axis=0), stack(parts)
    assert_eq!(ops::concatenate(&[&x, &x], Some(0))?.shape()[..], [4, 3]);
    let parts: Vec<Array> = x.rows()?.collect(); // list(x)
    assert_array_eq!(ops::stack(&parts.iter().collect::<Vec<_>>(), 0)?, &x);

    // Constants and draws: zeros, full, arange, random.normal(loc=1, scale=2, key=key)
    let (zeros, sevens) = (ops::zeros((2, 3), DType::Float32), ops::full(3, &Array::from(7.0f32), None)?);
    let count: Array = (0..6).collect();
    let key = ops::random::key(0)?;
    let (loc, scale) = (Array::from(1.0f32), Array::from(2.0f32));
    let noise = ops::random::normal((2, 3), DType::Float32, Some(&loc), Some(&scale), Some(&key))?;

    // eval(a, b); x.tolist()
    eval(&[zeros.clone(), sevens.clone(), noise.clone(), shifted.clone()])?;
    println!("{shifted:.2}\n{noise:.2}\n{:?}", (&zeros + sevens + count.reshape((2, 3))?).to_vec::<f32>()?);
    Ok(())
}

#[test]
fn expressions_have_their_values() -> Result<()> {
    main()
}
