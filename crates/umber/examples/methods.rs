//! Methods and their arguments: `cargo run --example methods`.

use umber::{Array, DType, Result, assert_allclose, keep, ops};

/// Rows with mean zero and variance one.
fn normalised(x: &Array) -> Result<Array> {
    let centred = x - x.mean(keep(-1))?;
    Ok(&centred / (centred.square()?.mean(keep(-1))? + 1e-5).sqrt()?)
}

fn main() -> Result<()> {
    let x = ops::random::normal((8, 3, 4), DType::Float32, None, None, None)?;
    let rows = normalised(&x)?.reshape((-1, 4))?;
    println!("largest element: {}", rows.max(..)?);
    for row in rows.rows()?.take(2) {
        println!("{row:.3}");
        assert_allclose!(row.sum(0)?, 0.0f32, atol = 1e-5);
    }
    Ok(())
}

#[test]
fn rows_are_normalised() -> Result<()> {
    main()
}
