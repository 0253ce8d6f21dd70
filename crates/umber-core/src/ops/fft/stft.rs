//! Short-time Fourier transforms.

use umber_types::{BinaryKind, DType, Result, ScatterKind, Shape, ensure};

use super::Transform;
use super::{Norm, fit, ifft, irfft, one};
use crate::graph::Array;
use crate::ops::shaping::{PadMode, pad};
use crate::primitives::concatenate::concatenate;
use crate::primitives::gather::{Places, iota};
use crate::primitives::rules::{
    add, binary, broadcast, cast, constant, div, move_axis, mul, reshape, swap_last, unary,
};
use crate::primitives::slice::slice_along;

/// The maximum length of a frame: the index of each of its samples is stored.
const MAX_FRAME: i64 = 1 << 28;

/// The split of a signal into frames.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frames<'a> {
    /// Distance between the starts of consecutive frames; a quarter of a frame by default.
    pub hop: Option<i64>,
    /// Length of the default window, which is all ones; by default the length of a frame.
    pub window_length: Option<i64>,
    /// The window: one-dimensional, at most as long as a frame, and zero-padded on both sides to the length of a frame.
    pub window: Option<&'a Array>,
    /// Whether frame `i` is centred on sample `i * hop`; otherwise it starts there.
    pub centred: bool,
    /// The direction of the transform that divides by the length.
    pub norm: Norm,
    /// Whether to return only the non-negative frequencies; by default for real signals.
    pub onesided: Option<bool>,
}

impl Frames<'_> {
    /// The distance between frames of `length` samples.
    fn checked_hop(&self, op: &str, length: i64) -> Result<usize> {
        ensure!(length > 0, Value(op), "n_fft must be positive, got {length}");
        ensure!(length <= MAX_FRAME, Overflow(op), "n_fft must be at most {MAX_FRAME}, got {length}");
        let hop = self.hop.unwrap_or(length / 4);
        ensure!(hop > 0, Value(op), "hop_length must be positive, got {hop}");
        Ok(hop as usize)
    }

    /// The window, zero-padded to the length of a frame.
    fn window_of(&self, op: &str, length: usize, dtype: DType) -> Result<Array> {
        let window = match self.window {
            Some(window) => {
                ensure!(
                    window.ndim() == 1 && !window.dtype().is_complex(),
                    Value(op),
                    "window must be one-dimensional and real, got shape {} and dtype {}",
                    window.shape(),
                    window.dtype()
                );
                cast(window, dtype)?
            }
            None => {
                let count = self.window_length.unwrap_or(length as i64);
                ensure!(count >= 0, Value(op), "win_length must not be negative, got {count}");
                // Windows longer than a frame are rejected below: one element more suffices.
                Array::full([count.min(length as i64 + 1) as usize], 1.0, dtype)
            }
        };
        let count = window.shape()[0];
        ensure!(count <= length, Value(op), "window must not be longer than n_fft = {length}");
        if count == length {
            return Ok(window);
        }
        let before = (length - count) / 2;
        let zeros = |count: usize| Array::full([count], 0.0, dtype);
        concatenate(smallvec::smallvec![zeros(before), window, zeros(length - count - before)], 0)
    }
}

/// The index in the signal of each sample of each frame: `[frames, length]`.
fn sample_indices(frames: usize, length: usize, hop: usize) -> Result<Array> {
    let grid: Shape = [frames, length].into();
    let first = iota(&grid, 0)?;
    add(&mul(&first, &constant(&first, hop as i64))?, &iota(&grid, 1)?)
}

/// Short-time Fourier transform: the transform of each windowed frame of the last axis.
///
/// `[..., time]` to `[..., frequency, frame]`, with frames of `length` samples. Real signals give the non-negative
/// frequencies by default. A centred transform pads the signal by half a frame at both ends in the mode `padding`.
///
/// ```
/// use umber_core::ops::fft::{Frames, stft};
/// use umber_core::ops::{self, PadMode};
///
/// let x = ops::ones([100], umber_types::DType::Float32);
/// let frames = Frames { hop: Some(5), centred: true, ..Frames::default() };
/// assert_eq!(stft(&x, 20, frames, PadMode::Reflect)?.shape()[..], [11, 21]);
/// # Ok::<(), umber_types::Error>(())
/// ```
pub fn stft(x: &Array, length: i64, frames: Frames<'_>, padding: PadMode) -> Result<Array> {
    const OP: &str = "stft";
    ensure!(x.ndim() > 0, Value("stft"), "signal must have at least one axis");
    let hop = frames.checked_hop(OP, length)?;
    let time = x.ndim() - 1;
    let onesided = frames.onesided.unwrap_or(!x.dtype().is_complex());
    let transform = if onesided { Transform::RealForward } else { Transform::Forward };
    let mut x = super::readable(x, transform)?;
    ensure!(x.shape()[time] > 0, Value("stft"), "signal must not be empty");
    // Check the length before an array of the length of a frame is allocated.
    let padded = x.shape()[time] as i64 + if frames.centred { length / 2 * 2 } else { 0 };
    ensure!(
        length <= padded,
        Value("stft"),
        "signal of {} samples is too short for frames of n_fft = {length}",
        x.shape()[time]
    );
    let length = length as usize;
    let window = frames.window_of(OP, length, x.dtype())?;
    if frames.centred {
        let mut widths = vec![(0, 0); x.ndim()];
        widths[time] = (length as i64 / 2, length as i64 / 2);
        x = pad(&x, &widths, padding, &Array::scalar(0.0, x.dtype()))?;
    }
    let count = 1 + (x.shape()[time] - length) / hop;
    // The gather puts the frame axes first: move them behind the other axes of the signal.
    let indexer = Places::grid(OP, &[time], smallvec::smallvec![sample_indices(count, length, hop)?]);
    let mut framed = indexer.read(&x)?;
    for _ in 0..2 {
        framed = move_axis(&framed, 0, time + 1)?;
    }
    let windowed = mul(&framed, &broadcast(&window, framed.shape())?)?;
    swap_last(&one(OP, transform, &windowed, None, -1, frames.norm)?)
}

/// Lower bound of the sum of squared windows, which is zero in gaps between windows.
const MIN_ENVELOPE: f64 = 1e-8;

/// Inverse short-time Fourier transform: the real signal whose [`stft`] is given.
///
/// The inverse transforms are multiplied by the window, added where frames overlap, and divided by the sum of the
/// squared windows. The signal is truncated or zero-padded to `length` if given. `n_fft` is by default
/// `2 (frequencies - 1)`, or the number of frequencies of a two-sided transform.
///
/// Fails for fewer than two axes, no frames, a window longer than a frame, or lengths that are not positive.
///
/// ```
/// # use umber_core as umber;
/// use umber::ops::fft::{Frames, istft, stft};
/// use umber::ops::{self, Closeness, PadMode};
/// let x = ops::ones([100], umber::DType::Float32);
/// let options = Frames { hop: Some(5), centred: true, ..Frames::default() };
/// let frames = stft(&x, 20, options, PadMode::Reflect)?;
/// let again = istft(&frames, None, options, Some(100))?;
/// assert!(ops::allclose(&again, &x, Closeness::default())?.item()?.as_bool());
/// # Ok::<(), umber::Error>(())
/// ```
pub fn istft(frames: &Array, n_fft: Option<i64>, options: Frames<'_>, length: Option<i64>) -> Result<Array> {
    const OP: &str = "istft";
    ensure!(
        frames.ndim() > 1,
        Value("istft"),
        "array must have a frequency axis and a frame axis, got shape {}",
        frames.shape()
    );
    let (bins, count) = (frames.shape()[frames.ndim() - 2], frames.shape()[frames.ndim() - 1]);
    let onesided = options.onesided.unwrap_or(true);
    let n_fft = n_fft.unwrap_or(if onesided { 2 * (bins as i64 - 1) } else { bins as i64 });
    let hop = options.checked_hop(OP, n_fft)?;
    ensure!(count > 0, Value("istft"), "needs at least one frame");
    ensure!(
        length.is_none_or(|length| length >= 0),
        Value("istft"),
        "length must not be negative, got {}",
        length.unwrap_or(0)
    );
    let segments = swap_last(frames)?;
    let segments = if onesided {
        irfft(&segments, Some(n_fft), -1, options.norm)?
    } else {
        let complex = ifft(&segments, Some(n_fft), -1, options.norm)?;
        unary(umber_types::UnaryKind::Real, &complex)?
    };
    let size = n_fft as usize;
    let window = options.window_of(OP, size, segments.dtype())?;
    let windowed = mul(&segments, &broadcast(&window, segments.shape())?)?;
    let total =
        Shape::checked(OP, &[n_fft.saturating_add((hop as i64).saturating_mul(count as i64 - 1))])?[0];
    let squares = mul(&window, &window)?;
    let squares = broadcast(&squares, &[count, size].into())?;
    let lower_bound = Array::full([total], MIN_ENVELOPE, segments.dtype());
    let envelope = binary(BinaryKind::Maximum, &overlap(&squares, hop, total)?, &lower_bound)?;
    let sum = overlap(&windowed, hop, total)?;
    let signal = div(&sum, &broadcast(&envelope, sum.shape())?)?;
    let time = signal.ndim() - 1;
    let start = if options.centred { size / 2 } else { 0 };
    let available = total - start;
    match length {
        Some(length) => {
            let tail = slice_along(&signal, time, start, available)?;
            let mut lengths: Vec<i64> = tail.shape().iter().map(|&length| length as i64).collect();
            lengths[time] = length;
            fit(&tail, time, Shape::checked(OP, &lengths)?[time])
        }
        None => slice_along(&signal, time, start, available - start),
    }
}

/// Add frames `[..., frame, sample]` into a signal `[..., total]`, at a distance of `hop` samples.
fn overlap(frames: &Array, hop: usize, total: usize) -> Result<Array> {
    let ndim = frames.ndim();
    let (count, length) = (frames.shape()[ndim - 2], frames.shape()[ndim - 1]);
    let others: Shape = frames.shape()[..ndim - 2].iter().copied().collect();
    let rows = reshape(frames, [others.size(), count * length])?;
    let updates = swap_last(&rows)?;
    let indices = reshape(&sample_indices(count, length, hop)?, [count * length])?;
    let zeros = Array::full([total, others.size()], 0.0, frames.dtype());
    let sum = Places::grid("istft", &[0], smallvec::smallvec![indices]).write(
        ScatterKind::Add,
        &zeros,
        &updates,
    )?;
    reshape(&swap_last(&sum)?, others.iter().copied().chain([total]).collect::<Shape>())
}
