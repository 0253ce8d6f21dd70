//! Random numbers: equal to MLX's for the same key and shape, the global state, and invalid arguments.
#![allow(clippy::unwrap_used, clippy::cloned_ref_to_slice_refs, reason = "tests read better so")]

mod common;
#[path = "common/rules.rs"]
mod rules;

use std::sync::{Mutex, MutexGuard, PoisonError};

use common::{array, scalar, values};
use rules::{check_vmap, doubles};
use umber_core::ops::random::{self, Samples};
use umber_core::primitives::random::RandomBits;
use umber_core::{Array, DType, Error, Shape, eval};
use umber_types::{Bool, Complex32};

/// Serialises the tests that use the global state.
static GLOBAL_STATE: Mutex<()> = Mutex::new(());

fn lock_global_state() -> MutexGuard<'static, ()> {
    GLOBAL_STATE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn key() -> Array {
    random::key(7).expect("a key")
}

fn unit(shape: &[i64], key: Option<&Array>) -> Array {
    random::uniform(&scalar(0.0), &scalar(1.0), shape, DType::Float32, key).expect("draws")
}

fn assert_close(actual: &Array, expected: &[f64]) {
    let actual = doubles(actual);
    assert_eq!(actual.len(), expected.len());
    for (a, e) in actual.iter().zip(expected) {
        assert!((a - e).abs() <= 2e-6 * (1.0 + e.abs()), "{actual:?} is not {expected:?}");
    }
}

#[test]
fn keys_contain_both_halves_of_a_seed() {
    assert_eq!(values::<u32>(&random::key((5 << 32) + 9).unwrap()), [5, 9]);
    let split = random::split(&key(), 3).unwrap();
    let expected = [276534068, 861967409, 1905761346, 1641862660, 2900896126, 1402713516];
    assert_eq!(values::<u32>(&split), expected);
    assert_eq!(*random::split(&key(), 0).unwrap().shape(), Shape::from([0, 2]));
}

#[test]
fn continuous_samples_equal_mlx() {
    let key = key();
    let key = Some(&key);
    assert_close(
        &unit(&[5], key),
        &[
            0.06438560783863068,
            0.20069243013858795,
            0.6504592299461365,
            0.38227593898773193,
            0.6754174828529358,
        ],
    );
    let half = random::uniform(&scalar(-1.0), &scalar(3.0), [4], DType::Float16, key).unwrap();
    assert_eq!(doubles(&half), [-0.10009765625, -0.07861328125, 0.814453125, -0.01416015625]);
    let normal = random::normal([2, 2], DType::Float32, None, None, key).unwrap();
    assert_close(
        &normal,
        &[-0.7554662227630615, -0.7377373576164246, -0.1165473535656929, -0.685664713382721],
    );
    let loc = array(&[1f32, 2.0, 3.0], [3]);
    let shifted = random::normal([3], DType::Float32, Some(&loc), Some(&scalar(0.5)), key).unwrap();
    assert_close(&shifted, &[0.6222668886184692, 1.9069210290908813, 2.9417262077331543]);
    let lower = array(&[0f32, -1.0], [2]);
    let truncated = random::truncated_normal(&lower, &scalar(2.0), None, DType::Float32, key).unwrap();
    assert_close(&truncated, &[0.05435328185558319, 1.4976427555084229]);
    let gumbel = random::gumbel([3], DType::Float32, key).unwrap();
    assert_close(&gumbel, &[-0.399931937456131, 0.15906675159931183, 0.23506566882133484]);
    let laplace = random::laplace([3], DType::Float32, Some(&scalar(1.0)), Some(&scalar(2.0)), key).unwrap();
    assert_close(&laplace, &[2.597151756286621, 1.3195843696594238, 1.1947433948516846]);
    let complex = values::<Complex32>(&random::normal([2], DType::Complex64, None, None, key).unwrap());
    let expected = [Complex32::new(-0.534_195_3, -0.521_659_1), Complex32::new(-0.082_411_42, -0.484_838_2)];
    for (actual, expected) in complex.iter().zip(expected) {
        assert!((actual - expected).norm() < 1e-5, "{actual} is not {expected}");
    }
}

#[test]
fn discrete_samples_equal_mlx() {
    let key = key();
    let key = Some(&key);
    let p = array(&[0.1f32, 0.5, 0.9], [3]);
    let coins = values::<Bool>(&random::bernoulli(&p, Some(&[2, 3]), key).unwrap());
    assert_eq!(coins.iter().map(|coin| coin.0).collect::<Vec<_>>(), [1, 1, 1, 0, 0, 1]);
    let (low, high) = (Array::scalar(-5, DType::Int32), Array::scalar(20, DType::Int32));
    let dice = random::randint(&low, &high, [6], DType::Int32, key).unwrap();
    assert_eq!(values::<i32>(&dice), [-4, 0, 6, 4, 11, 3]);
    assert_eq!(values::<u32>(&random::permutation(8, key).unwrap()), [0, 3, 2, 1, 4, 7, 6, 5]);
    let x = array(&(0..8).collect::<Vec<i32>>(), [2, 4]);
    assert_eq!(values::<i32>(&random::permuted(&x, 1, key).unwrap()), [0, 1, 3, 2, 4, 5, 7, 6]);
    let logits = array(&[0f32, 1.0, 2.0, 3.0, 0.0, 0.0], [2, 3]);
    let draw = |axis, samples| values::<u32>(&random::categorical(&logits, axis, samples, key).unwrap());
    assert_eq!(draw(-1, Samples::One), [2, 0]);
    assert_eq!(draw(-1, Samples::Shape(&[3, 2])), [1, 2, 2, 0, 2, 0]);
    assert_eq!(draw(-1, Samples::Count(4)), [0, 2, 0, 1, 0, 1, 0, 0]);
    assert_eq!(draw(0, Samples::Shape(&[2, 3])), [1, 1, 1, 1, 0, 0]);
}

#[test]
fn each_sample_advances_the_global_state() {
    let _lock = lock_global_state();
    random::seed(3).unwrap();
    assert_close(&unit(&[2], None), &[0.5208584666252136, 0.24485553801059723]);
    let saved = random::state().unwrap();
    let second = values::<f32>(&unit(&[2], None));
    assert!((second[0] - 0.465_738_03).abs() < 1e-6);
    let (low, high) = (Array::scalar(0, DType::Int32), Array::scalar(100, DType::Int32));
    let third = random::randint(&low, &high, [3], DType::Int32, None).unwrap();
    assert_eq!(values::<i32>(&third), [24, 91, 37]);
    random::set_state(saved).unwrap();
    assert_eq!(values::<f32>(&unit(&[2], None)), second);
    assert!(random::set_state(array(&[1f32, 2.0], [2])).is_err());
}

#[test]
fn threads_draw_different_samples() {
    let _lock = lock_global_state();
    random::seed(11).unwrap();
    let draws: Vec<Vec<u32>> = std::thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| {
                scope.spawn(|| {
                    (0..50).map(|_| values::<f32>(&unit(&[], None))[0].to_bits()).collect::<Vec<u32>>()
                })
            })
            .collect();
        threads.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    let mut all: Vec<u32> = draws.into_iter().flatten().collect();
    all.sort_unstable();
    all.dedup();
    assert!(all.len() >= 199, "threads drew equal samples: {} of 200 differ", all.len());
}

#[test]
fn the_global_state_does_not_build_a_long_graph() {
    let _lock = lock_global_state();
    random::seed(1).unwrap();
    for _ in 0..20_000 {
        unit(&[1], None);
    }
    let last = unit(&[1], None);
    eval(std::slice::from_ref(&last)).unwrap();
    assert!((0.0..1.0).contains(&values::<f32>(&last)[0]));
}

#[test]
fn float64_samples_have_full_precision() {
    let draw = random::uniform(&scalar(0.0), &scalar(1.0), [1000], DType::Float64, Some(&key())).unwrap();
    let draw = values::<f64>(&draw);
    assert!(draw.iter().all(|x| (0.0..1.0).contains(x)));
    assert!(draw.iter().filter(|&&x| f64::from(x as f32) != x).count() > 990);
    let mean = draw.iter().sum::<f64>() / 1000.0;
    assert!((mean - 0.5).abs() < 0.05, "{mean}");
}

#[test]
fn samples_have_the_expected_moments() {
    let key = key();
    let x = values::<f32>(&random::normal([100_000], DType::Float32, None, None, Some(&key)).unwrap());
    let mean = x.iter().sum::<f32>() / 1e5;
    let var = x.iter().map(|x| x * x).sum::<f32>() / 1e5;
    assert!(mean.abs() < 0.02 && (var - 1.0).abs() < 0.02, "{mean} {var}");
    let mut order = values::<u32>(&random::permutation(1000, Some(&key)).unwrap());
    order.sort_unstable();
    assert!(order.iter().copied().eq(0..1000));
}

#[test]
fn invalid_arguments_are_errors() {
    let _lock = lock_global_state();
    let (zero, one) = (scalar(0.0), scalar(1.0));
    let key = key();
    let pair = array(&[1f32, 2.0], [2]);
    let results: [(&str, Result<Array, Error>); 13] = [
        ("uniform", random::uniform(&zero, &one, [2], DType::Int32, None)),
        ("uniform", random::uniform(&zero, &one, [-2], DType::Float32, None)),
        ("uniform", random::uniform(&zero, &pair, [3], DType::Float32, None)),
        ("uniform", random::uniform(&zero, &one, [2], DType::Float32, Some(&pair))),
        ("normal", random::normal([2], DType::Int32, None, None, Some(&key))),
        ("bernoulli", random::bernoulli(&Array::scalar(1, DType::Int32), None, None)),
        ("bernoulli", random::bernoulli(&pair, Some(&[3]), None)),
        ("randint", random::randint(&one, &zero, [2], DType::Int32, None)),
        ("randint", random::randint(&zero, &one, [2], DType::Float32, None)),
        ("permutation", random::permutation(-1, None)),
        ("categorical", random::categorical(&pair, 1, Samples::One, None)),
        ("categorical", random::categorical(&array(&[0f32; 6], [2, 3]), 1, Samples::Shape(&[5]), None)),
        ("split", random::split(&key, -1)),
    ];
    for (op, result) in results {
        let error = result.expect_err(op);
        assert!(error.to_string().starts_with(&format!("[{op}]")), "{error}");
    }
    let class = random::categorical(&array::<f32>(&[], [0]), -1, Samples::One, Some(&key));
    assert!(class.is_err());
}

#[test]
fn random_bits_batch_over_keys() {
    let keys = random::split(&key(), 3).unwrap();
    check_vmap(RandomBits { shape: Shape::from([5]) }, &[&keys], &[true]);
    check_vmap(RandomBits { shape: Shape::scalar() }, &[&keys], &[true]);
}
