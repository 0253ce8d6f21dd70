//! Features of sound.

use pyo3::exceptions::{PyTypeError, PyValueError};
use pyo3::prelude::*;
use umber_core::Shape;
use umber_data::Value;
use umber_data::sound::SoundError;
use umber_data::sound::mel::{FrequencyScale, Mfsc, MfscOptions, Window};

use super::errors::OrRaiseData;
use super::samples::{Views, object_of, value_of};

fn fault(error: &SoundError) -> PyErr {
    PyValueError::new_err(format!("[mfsc] {error}"))
}

/// Computes mel-frequency spectral coefficients: what `umber.data.features.mfsc` uses with ``native=True``.
///
/// Examples
/// --------
/// >>> from umber.data.features import mfsc
/// >>> mfsc(40, 16000, native=True)(np.zeros(16000, np.float32)).shape
/// (98, 40)
#[pyclass(name = "_Mfsc", module = "umber.core._data", frozen)]
struct PyMfsc(Mfsc);

#[pymethods]
impl PyMfsc {
    #[new]
    #[allow(clippy::too_many_arguments)] // Python's arguments.
    fn new(
        n_filterbank: usize,
        sampling_freq: u32,
        frame_size_ms: f64,
        frame_stride_ms: f64,
        pre_emphasis_coeff: f32,
        window_type: &str,
        low_freq: f64,
        high_freq: f64,
        mel_floor: f32,
        freq_scale: &str,
    ) -> PyResult<PyMfsc> {
        let options = MfscOptions {
            frame_size_ms,
            frame_stride_ms,
            pre_emphasis_coeff,
            window_type: if window_type == "Hanning" { Window::Hanning } else { Window::Hamming },
            low_freq,
            high_freq,
            mel_floor,
            freq_scale: match freq_scale {
                "LOG10" => FrequencyScale::Log10,
                "LINEAR" => FrequencyScale::Linear,
                _ => FrequencyScale::Mel,
            },
            ..MfscOptions::new(n_filterbank, sampling_freq)
        };
        Mfsc::new(&options).map(PyMfsc).map_err(|error| fault(&error))
    }

    /// The features of float32 sound of shape (…, samples), of shape (…, frames, bands).
    fn __call__<'py>(&self, sound: &Bound<'py, PyAny>) -> PyResult<Bound<'py, PyAny>> {
        let py = sound.py();
        let value = value_of(sound)?.into_contiguous().or_raise(py)?;
        let shape = value.shape().clone();
        let (Some(samples), Some(&length)) = (value.as_slice::<f32>(), shape.last()) else {
            let text = format!("[mfsc] sound: got {} of shape {shape}, expected float32", value.dtype());
            return Err(PyTypeError::new_err(text));
        };
        let (frames, bands) = (self.0.rows(length), self.0.columns());
        let count: usize = shape[..shape.ndim() - 1].iter().product();
        let mut features = vec![0f32; count * frames * bands];
        if !features.is_empty() {
            let rows = samples.chunks_exact(length).zip(features.chunks_exact_mut(frames * bands));
            py.detach(|| rows.into_iter().try_for_each(|(sound, out)| self.0.apply_into(sound, out)))
                .map_err(|error| fault(&error))?;
        }
        let mut lengths = shape[..shape.ndim() - 1].to_vec();
        lengths.extend([frames, bands]);
        object_of(py, Value::from_slice(&features, Shape::from(lengths)).or_raise(py)?, Views::AsTheyAre)
    }
}

pub(super) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    module.add_class::<PyMfsc>()
}
