//! Categorical sampling against a plain loop.

use umber_kernels::{View, ViewMut, categorical};
use umber_types::{Layout, Shape};

/// The last index before which the weights sum to at most `level * total`.
fn naive(weights: &[f32], level: f32) -> u32 {
    let total = weights.iter().fold(0.0, |sum, weight| sum + weight);
    let (mut sum, mut index) = (0.0f32, 0);
    for (i, weight) in weights.iter().enumerate() {
        if sum <= level * total {
            index = i as u32;
        }
        sum += weight;
    }
    index
}

#[test]
fn samples_match_a_plain_loop() {
    for count in [1usize, 2, 3, 17, 1000] {
        let weights: Vec<f32> = (0..2 * count).map(|i| ((i * 7919) % 13) as f32 + 0.25).collect();
        let levels: Vec<f32> = (0..2 * 50).map(|i| (i * 37 % 100) as f32 / 100.0).collect();
        let mut samples = vec![0u32; 100];
        let layout = |last: usize| Layout::contiguous(Shape::new([2, last]));
        let (w, l) = (layout(count), layout(50));
        let out = ViewMut::of(&mut samples, &l);
        categorical::categorical(View::of(&weights, &w), View::of(&levels, &l), out)
            .expect("there is memory");
        for (i, &sample) in samples.iter().enumerate() {
            let row = i / 50;
            assert_eq!(sample, naive(&weights[row * count..(row + 1) * count], levels[i]), "{count} {i}");
        }
    }
}

#[test]
fn weights_may_be_broadcast_or_zero() {
    let weights = [0.0f32, 3.0, 0.0, 1.0, 0.0];
    let levels = [0.0f32, 0.5, 0.74, 0.75, 0.999_999_94];
    let shared = Layout { shape: Shape::new([5, 5]), strides: [0, 1].into_iter().collect(), offset: 0 };
    let column = Layout::contiguous(Shape::new([5, 1]));
    let mut samples = [9u32; 5];
    categorical::categorical(
        View::of(&weights, &shared),
        View::of(&levels, &column),
        ViewMut::of(&mut samples, &column),
    )
    .expect("there is memory");
    assert_eq!(samples, [1, 1, 1, 3, 3]);
}
