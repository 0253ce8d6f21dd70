//! Windows of images.

use super::error::Result;
use super::{Extent, ImageError};

/// A part of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    /// Distance of its first column from the left border.
    pub x: usize,
    /// Distance of its first row from the upper border.
    pub y: usize,
    /// Pixels of a row.
    pub width: usize,
    /// Number of rows.
    pub height: usize,
}

impl Window {
    /// An error unless the window is within an image and not empty.
    pub(super) fn check(self, width: usize, height: usize) -> Result<()> {
        let fits = |start: usize, length: usize, all: usize| {
            length > 0 && start.checked_add(length).is_some_and(|end| end <= all)
        };
        if fits(self.x, self.width, width) && fits(self.y, self.height, height) {
            Ok(())
        } else {
            Err(ImageError::Window { window: self, width, height })
        }
    }
}

/// Copy the window of `source` to `target`.
pub fn crop<T: Copy>(source: &[T], extent: Extent, window: Window, target: &mut [T]) -> Result<()> {
    extent.check("source", source.len())?;
    window.check(extent.width, extent.height)?;
    extent.with_size(window.width, window.height).check("target", target.len())?;
    let (stride, start, length) =
        (extent.width * extent.channels, window.x * extent.channels, window.width * extent.channels);
    if length > 0 {
        for (row, target) in source.chunks_exact(stride).skip(window.y).zip(target.chunks_exact_mut(length)) {
            target.copy_from_slice(&row[start..start + length]);
        }
    }
    Ok(())
}

/// The window of `width` by `height` pixels in the middle of an image, of two middles the upper left.
pub fn center_window(extent: Extent, width: usize, height: usize) -> Result<Window> {
    let window = Window { x: 0, y: 0, width, height };
    window.check(extent.width, extent.height)?;
    Ok(Window { x: (extent.width - width) / 2, y: (extent.height - height) / 2, ..window })
}

/// The window of `width` by `height` pixels whose corner two numbers of `uniforms`, from [0, 1), choose.
pub fn random_window(
    extent: Extent,
    width: usize,
    height: usize,
    mut uniforms: impl FnMut() -> f64,
) -> Result<Window> {
    let window = Window { x: 0, y: 0, width, height };
    window.check(extent.width, extent.height)?;
    let x = choose(0, extent.width - width, uniforms());
    let y = choose(0, extent.height - height, uniforms());
    Ok(Window { x, y, ..window })
}

/// The integer of `low..=high` that a number from [0, 1) chooses.
fn choose(low: usize, high: usize, uniform: f64) -> usize {
    low + ((uniform * (high - low + 1) as f64) as usize).min(high - low)
}

/// A window whose share of the area is within `area_range`, and whose aspect ratio (width by height), divided by that of the
/// image, is within `aspect_range`.
///
/// Widths and heights are drawn evenly from those that are possible. `uniforms` gives numbers from [0, 1): two a trial, then two
/// for the corner. `None` where no window of whole pixels was found in `trials` trials: the image stays as it is.
pub fn random_area_window(
    width: usize,
    height: usize,
    area_range: (f64, f64),
    aspect_range: (f64, f64),
    mut uniforms: impl FnMut() -> f64,
    trials: usize,
) -> Result<Option<Window>> {
    let argument = |fault: String| Err(ImageError::Argument(fault));
    let (min_area, max_area) = area_range;
    let (min_aspect, max_aspect) = aspect_range;
    if !(0.0 < min_area && min_area <= max_area && max_area <= 1.0) {
        return argument(format!("area_range must be 0 < low <= high <= 1, got {area_range:?}"));
    }
    if !(0.0 < min_aspect && min_aspect <= max_aspect && max_aspect.is_finite()) {
        return argument(format!("aspect_ratio_range must be 0 < low <= high, got {aspect_range:?}"));
    }
    // A window of aspect a holds at most min(a, 1 / a) of the area.
    if min_area * min_aspect > 1.0 || min_area > max_aspect {
        return argument(format!(
            "no window has an area in {area_range:?} and an aspect ratio in {aspect_range:?}"
        ));
    }
    if trials == 0 {
        return argument("num_trial must be positive, got 0".to_owned());
    }
    if width == 0 || height == 0 {
        return Err(ImageError::Size { width, height });
    }
    let (w, h) = (width as f64, height as f64);
    let aspect = w / h;
    let min_width = ((min_area * min_aspect).sqrt() * w).ceil().max(1.0);
    let max_width = ((max_area * max_aspect).sqrt() * w).min(w).floor();
    if min_width > max_width {
        return Ok(None);
    }
    for _ in 0..trials {
        // Both numbers are drawn, so that a trial takes as many whether it succeeds or not.
        let (first, second) = (uniforms(), uniforms());
        let tried = choose(min_width as usize, max_width as usize, first);
        let tried_width = tried as f64;
        let min_height =
            (tried_width / (aspect * max_aspect)).max(min_area * w * h / tried_width).ceil().max(1.0);
        let max_height =
            (tried_width / (aspect * min_aspect)).min(max_area * w * h / tried_width).min(h).floor();
        if min_height > max_height {
            continue;
        }
        let tried_height = choose(min_height as usize, max_height as usize, second);
        let x = choose(0, width - tried, uniforms());
        let y = choose(0, height - tried_height, uniforms());
        return Ok(Some(Window { x, y, width: tried, height: tried_height }));
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;

    const EXTENT: Extent = Extent { width: 4, height: 3, channels: 2 };

    /// Numbers in [0, 1) that are the same in every run.
    fn uniforms() -> impl FnMut() -> f64 {
        let mut state = 1u64;
        move || {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            (state >> 11) as f64 / (1u64 << 53) as f64
        }
    }

    #[test]
    fn windows_of_any_element() {
        let source: Vec<i64> = (0..24).collect();
        let mut target = [0; 8];
        crop(&source, EXTENT, Window { x: 1, y: 1, width: 2, height: 2 }, &mut target).unwrap();
        assert_eq!(target, [10, 11, 12, 13, 18, 19, 20, 21]);
        let outside = Window { x: 3, y: 0, width: 2, height: 1 };
        let error = crop(&source, EXTENT, outside, &mut target[..4]).unwrap_err();
        assert_eq!(error.to_string(), "a window of 2 by 1 pixels at (3, 0) is not within an image of 4 by 3");
        let endless = Window { x: usize::MAX, y: 0, width: 2, height: 1 };
        assert!(crop(&source, EXTENT, endless, &mut target[..4]).is_err());
        assert!(crop(&source, EXTENT, Window { width: 0, ..outside }, &mut []).is_err());
    }

    #[test]
    fn middle_and_random() {
        let window = center_window(EXTENT, 1, 2).unwrap();
        assert_eq!(window, Window { x: 1, y: 0, width: 1, height: 2 });
        assert!(center_window(EXTENT, 5, 1).is_err());
        let mut seen = [[false; 2]; 3];
        let mut uniforms = uniforms();
        for _ in 0..200 {
            let window = random_window(EXTENT, 2, 2, &mut uniforms).unwrap();
            seen[window.x][window.y] = true;
        }
        assert_eq!(seen, [[true; 2]; 3]);
        assert_eq!(random_window(EXTENT, 2, 2, || 1.0).unwrap(), Window { x: 2, y: 1, width: 2, height: 2 });
    }

    #[test]
    fn area_windows_keep_their_ranges() {
        let mut uniforms = uniforms();
        for (width, height) in [(640, 480), (31, 97), (5, 5)] {
            for (areas, aspects) in
                [((0.08, 1.0), (0.75, 1.333)), ((0.5, 0.6), (0.5, 2.0)), ((1.0, 1.0), (1.0, 1.0))]
            {
                for _ in 0..200 {
                    let Some(window) =
                        random_area_window(width, height, areas, aspects, &mut uniforms, 10).unwrap()
                    else {
                        continue;
                    };
                    window.check(width, height).unwrap();
                    let area = (window.width * window.height) as f64 / (width * height) as f64;
                    let aspect = window.width as f64 * height as f64 / (window.height * width) as f64;
                    assert!(area > areas.0 - 1e-9 && area < areas.1 + 1e-9, "{area}");
                    assert!(aspect > aspects.0 - 1e-9 && aspect < aspects.1 + 1e-9, "{aspect}");
                }
            }
        }
        let whole = random_area_window(7, 9, (1.0, 1.0), (1.0, 1.0), uniforms, 1).unwrap();
        assert_eq!(whole, Some(Window { x: 0, y: 0, width: 7, height: 9 }));
    }

    #[test]
    fn area_arguments() {
        let error = |areas, aspects, trials| {
            random_area_window(4, 4, areas, aspects, || 0.5, trials).unwrap_err().to_string()
        };
        assert!(error((0.0, 1.0), (1.0, 1.0), 1).starts_with("area_range"));
        assert!(error((0.5, 1.5), (1.0, 1.0), 1).starts_with("area_range"));
        assert!(error((f64::NAN, 1.0), (1.0, 1.0), 1).starts_with("area_range"));
        assert!(error((0.5, 1.0), (2.0, 1.0), 1).starts_with("aspect_ratio_range"));
        assert!(error((0.5, 1.0), (1.0, f64::INFINITY), 1).starts_with("aspect_ratio_range"));
        assert!(error((0.5, 1.0), (3.0, 4.0), 1).starts_with("no window"));
        assert!(error((0.5, 1.0), (1.0, 1.0), 0).starts_with("num_trial"));
    }
}
