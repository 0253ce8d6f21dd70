//! Pipelines against lists: order, completeness, random numbers and states do not depend on threads.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use proptest::prelude::*;
use umber_data::ops::Keys;
use umber_data::ops::image::{ImageCenterCrop, ImageRandomCrop, ImageResizeSmallestSide};
use umber_data::random::{Draw, Key};
use umber_data::stage::{Axes, BatchOptions, DynamicBatchOptions, Padding, Policy, SlidingWindow, Stop};
use umber_data::{Buffer, Name, Operation, Result, Sample, Stream, Value, fault};

fn numbers(count: i64) -> Buffer {
    Buffer::from_samples((0..count).map(sample).collect())
}

fn sample(number: i64) -> Sample {
    let mut sample = Sample::new();
    sample.set(Name::new("x"), Value::scalar(number).expect("memory"));
    sample
}

fn values(sample: &Sample) -> Vec<i64> {
    sample.get("x").and_then(|value| value.as_slice::<i64>()).expect("int64").to_vec()
}

fn all(stream: &Stream) -> Vec<Vec<i64>> {
    stream.iter().map(|read| values(&read.expect("no errors"))).collect()
}

/// Adds a random number, after a delay that differs from sample to sample.
struct Noise;

impl Operation for Noise {
    fn name(&self) -> &'static str {
        "noise"
    }

    fn arguments(&self) -> String {
        String::new()
    }

    fn apply(&self, sample: Sample, draw: &Draw) -> Result<Option<Sample>> {
        let number = draw.numbers().below(1000) as i64;
        std::thread::sleep(Duration::from_micros(number as u64 % 200));
        let x = values(&sample)[0];
        window(self::sample(x % 1000 * 1000 + number))
    }

    fn is_random(&self) -> bool {
        true
    }
}

#[test]
fn batches_are_gathered_and_merged() {
    let batches = all(&numbers(7).to_stream().batch(BatchOptions::new(3)).expect("sizes"));
    assert_eq!(batches, [vec![0, 1, 2], vec![3, 4, 5], vec![6]]);
    let mapped = numbers(5).map("double", |s| Ok(sample(values(&s)[0] * 2)));
    let batches = mapped.batch(BatchOptions { sizes: vec![1, 2], ..BatchOptions::new(1) }).expect("sizes");
    assert_eq!(batches.len(), 4);
    assert_eq!(all(&batches.to_stream()), [vec![0], vec![2, 4], vec![6], vec![8]]);
}

#[test]
fn rows_of_columns_share_and_batches_do_not() {
    let column = Value::from_slice(&[1f32, 2.0, 3.0, 4.0, 5.0, 6.0], [3, 2]).expect("memory");
    let start = column.view().start();
    let buffer = Buffer::from_columns([(Name::new("x"), column)].into_iter().collect()).expect("one column");
    let row = buffer.get(1).expect("a row");
    assert_eq!(row.get("x").expect("x").view().start(), start.wrapping_add(8));
    let batch = buffer.batch(BatchOptions::new(2)).expect("sizes").get(0).expect("a batch");
    let x = batch.get("x").expect("x");
    assert!(x.is_alone());
    assert_eq!(x.as_slice::<f32>(), Some(&[1.0, 2.0, 3.0, 4.0][..]));
}

#[test]
fn an_error_is_in_its_place_and_the_stream_goes_on() {
    let odd_only = |s: Sample| {
        if values(&s)[0] % 3 == 1 { Err(fault!(Value, "a bad sample")) } else { Ok(Some(s)) }
    };
    let plain = numbers(8).to_stream().map("check", odd_only);
    let ahead = numbers(8).to_stream().map("check", odd_only).prefetch(Some(4), Some(3), true);
    for stream in [plain, ahead] {
        let read: Vec<String> = stream
            .iter()
            .map(|read| match read {
                Ok(sample) => values(&sample)[0].to_string(),
                Err(error) => error.to_string(),
            })
            .collect();
        let bad = |index| format!("[check] sample {index}: a bad sample");
        assert_eq!(read, ["0", &bad(1), "2", "3", &bad(4), "5", "6", &bad(7)]);
    }
}

#[test]
fn unordered_prefetch_is_complete() {
    let stream = numbers(200).to_stream().apply(Noise).prefetch(Some(16), Some(4), false);
    let mut read: Vec<i64> = all(&stream).into_iter().map(|values| values[0] / 1000).collect();
    read.sort_unstable();
    assert_eq!(read, (0..200).collect::<Vec<_>>());
}

#[test]
fn several_readers_get_every_sample_once() {
    let stream = numbers(300).to_stream().prefetch(Some(8), Some(2), true);
    let mut read: Vec<i64> = std::thread::scope(|scope| {
        let readers: Vec<_> =
            (0..4).map(|_| scope.spawn(|| all(&stream).into_iter().flatten().collect::<Vec<_>>())).collect();
        readers.into_iter().flat_map(|reader| reader.join().expect("no panic")).collect()
    });
    read.sort_unstable();
    assert_eq!(read, (0..300).collect::<Vec<_>>());
}

#[test]
fn a_slow_reader_stops_the_source() {
    let drawn = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&drawn);
    let stream = numbers(1000).to_stream().map("count", move |s| {
        count.fetch_add(1, Ordering::Relaxed);
        Ok(Some(s))
    });
    let stream = stream.prefetch(Some(5), Some(2), true);
    assert!(stream.next().is_some());
    std::thread::sleep(Duration::from_millis(50));
    assert!(drawn.load(Ordering::Relaxed) <= 1 + 5 + 2, "{drawn:?}");
}

#[test]
fn streams_are_dropped_at_any_moment() {
    for moment in 0..200 {
        let stream = numbers(50)
            .to_stream()
            .map("fail", |s| if values(&s)[0] == 9 { panic!("a panic") } else { Ok(Some(s)) })
            .batch(BatchOptions::new(2))
            .expect("sizes")
            .prefetch(Some(4), Some(3), true);
        for _ in 0..moment % 30 {
            let _ = stream.next();
        }
    }
}

#[test]
fn passes_differ_and_repeat() {
    let build =
        || numbers(50).to_shuffled_stream(None).apply(Noise).shuffle(10, None).prefetch(None, Some(2), true);
    let stream = |seed| seeded(seed, build);
    let (first, again, other) = (stream(5), stream(5), stream(6));
    let epoch = all(&first);
    assert_eq!(epoch, all(&again));
    assert_ne!(epoch, all(&other));
    first.reset(&umber_data::run::Context::alone()).expect("a buffer resets");
    assert_ne!(epoch, all(&first));
}

fn sum(batch: Sample) -> Result<Option<Sample>> {
    window(sample(values(&batch).iter().sum()))
}

/// Adds a value of several elements.
fn window(mut sample: Sample) -> Result<Option<Sample>> {
    let x = values(&sample)[0];
    let length = (x.unsigned_abs() % 6) as i64;
    sample.set(Name::new("w"), Value::from_slice(&(0..length).collect::<Vec<_>>(), length as usize)?);
    Ok(Some(sample))
}

fn fail_odd(sample: Sample) -> Result<Option<Sample>> {
    if values(&sample)[0] % 2 == 1 { Err(fault!(Value, "odd")) } else { Ok(Some(sample)) }
}

fn fail_some(sample: Sample) -> Result<Option<Sample>> {
    if values(&sample)[0] % 7 == 3 { Err(fault!(Value, "a bad sample")) } else { Ok(Some(sample)) }
}

fn dynamic() -> DynamicBatchOptions {
    DynamicBatchOptions {
        key: Name::new("w"),
        min_size: Some(4),
        max_size: Some(9),
        drops_outliers: false,
        padding: Padding::default(),
        axes: Axes::default(),
    }
}

/// What comes out, with errors as texts.
fn outcomes(stream: &Stream) -> Vec<String> {
    stream
        .iter()
        .map(|read| read.map_or_else(|error| error.to_string(), |sample| format!("{:?}", values(&sample))))
        .collect()
}

/// Build a pipeline under a seed of the process, which the tests share.
fn seeded<T>(seed: u64, build: impl FnOnce() -> T) -> T {
    static SEED: Mutex<()> = Mutex::new(());
    let _held = SEED.lock().unwrap_or_else(PoisonError::into_inner);
    umber_data::random::set_seed(seed);
    build()
}

/// A pipeline of these stages, with or without threads.
fn pipeline(seed: u64, stages: &[u8], count: i64, threads: Option<usize>) -> Stream {
    seeded(seed, || unseeded(stages, count, threads))
}

fn unseeded(stages: &[u8], count: i64, threads: Option<usize>) -> Stream {
    let mut stream = numbers(count).shuffle(Some(1)).to_stream().map("window", window);
    for (place, stage) in stages.iter().enumerate() {
        stream = match stage {
            0 => stream.shuffle(4, None),
            1 => stream.apply(Noise),
            2 => stream.map("odd", |s| Ok((values(&s)[0] % 2 == 1).then_some(s))),
            5 => stream.repeat(Some(1)),
            6 => stream.partition(2, 1).expect("a part"),
            7 => stream.skip(2).take(7),
            8 => stream.buffered(4, None),
            9 => stream.sliding_window(SlidingWindow::new(Name::new("w"), 3, 2, -1, None).expect("sizes")),
            10 => stream.dynamic_batch(5, dynamic(), Some(Key::next()), 3).expect("sizes").map("sum", sum),
            11 => stream.map("odd error", fail_odd).on_error(Policy::Skip, None),
            12 => stream.cache().repeat(Some(1)),
            13 => Stream::chain(vec![stream, numbers(3).to_stream().map("window", window)]),
            14 => {
                let other = numbers(4).to_stream().apply(Noise).map("window", window);
                Stream::mix(vec![stream, other], vec![1.0, 2.0], None, Stop::All).expect("weights")
            }
            15 => stream.by_rank(3, 1, true),
            16 => stream.map("fail", fail_some),
            3 => {
                let batches = stream.batch(BatchOptions::new(3)).expect("sizes");
                batches.map("sum", sum)
            }
            _ => stream.prefetch(threads.map(|threads| threads + place), Some(threads.unwrap_or(1)), true),
        };
    }
    match threads {
        Some(threads) => stream.prefetch(Some(threads * 2), Some(threads), true),
        None => stream,
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn threads_change_nothing(stages in prop::collection::vec(0u8..17, 0..6), count in 0i64..40, threads in 1usize..5) {
        let without: Vec<u8> = stages.iter().copied().filter(|stage| *stage != 4).collect();
        let expected = outcomes(&pipeline(99, &without, count, None));
        prop_assert_eq!(&expected, &outcomes(&pipeline(99, &stages, count, Some(threads))));
    }

    #[test]
    fn a_state_continues_exactly(
        stages in prop::collection::vec(0u8..17, 0..6),
        count in 0i64..40,
        threads in prop::option::of(1usize..4),
        others in prop::option::of(1usize..4),
        at in 0usize..40,
        is_second_pass in any::<bool>(),
    ) {
        let stream = pipeline(99, &stages, count, threads);
        if is_second_pass {
            outcomes(&stream);
            stream.reset(&umber_data::run::Context::alone()).expect("a buffer resets");
        }
        for _ in 0..at {
            let _ = stream.next();
        }
        let text = serde_json::to_string(&stream.state()).expect("states are JSON");
        let rest = outcomes(&stream);
        // Another seed: the keys are those of the state.
        let resumed = pipeline(7, &stages, count, others);
        resumed.load_state(&serde_json::from_str(&text).expect("states are JSON")).expect("the same pipeline");
        prop_assert_eq!(rest, outcomes(&resumed));
    }
}

#[test]
fn states_of_other_pipelines_are_refused() {
    let saved = numbers(4).to_stream().shuffle(3, None).state();
    let error = numbers(4).to_stream().load_state(&saved).expect_err("another pipeline");
    assert_eq!(
        error.to_string(),
        "[load_state_dict] the state is of another pipeline: stage 2 was shuffle(3), here it is nothing"
    );
}

#[test]
fn a_crop_behind_a_resize_is_the_same_as_alone() {
    let image = |seed: usize| {
        let pixels: Vec<u8> = (0..61 * 47 * 3).map(|index| (index * 31 + index / 7 * seed) as u8).collect();
        let value = Value::from_slice(&pixels, [47, 61, 3]).expect("memory");
        [(Name::new("image"), value)].into_iter().collect::<Sample>()
    };
    let images = Buffer::from_samples((1..9).map(image).collect());
    let small = || ImageResizeSmallestSide::new("image", 30).expect("a size");
    let pipeline = |is_apart: bool, output: &str| {
        seeded(3, || {
            let mut buffer = images.apply(small());
            if is_apart {
                buffer = buffer.map("nothing", Ok);
            }
            buffer.apply(ImageRandomCrop::new(Keys::new("image", output), 20, 24).expect("a size"))
        })
    };
    for output in ["", "crop"] {
        let samples = |buffer: Buffer| buffer.iter().map(|read| read.expect("an image")).collect::<Vec<_>>();
        assert_eq!(samples(pipeline(false, output)), samples(pipeline(true, output)));
    }
    let same = |a: Stream, b: Stream| assert!(a.iter().map(Result::unwrap).eq(b.iter().map(Result::unwrap)));
    let in_place = |buffer: &Buffer| buffer.apply(ImageCenterCrop::new("image", 9, 8).expect("a size"));
    let apart = images.apply(small()).map("nothing", Ok);
    same(in_place(&images.apply(small())).to_stream(), in_place(&apart).to_stream());
}
