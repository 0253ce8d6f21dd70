//! Reductions that take NumPy's `dtype`, `initial` and `where` beside MLX's arguments.

use pyo3::prelude::*;
use umber_core::ops::{self, Selection};
use umber_core::types::ReduceKind;
use umber_core::{Array, DType};

use crate::args::{Ints, Operand, StreamArg, axes, keep, record_on};
use crate::dtype::{DtypeArg, summing};
use crate::new_array::NewArray;

/// The arguments that MLX's reductions do not have.
pub(super) struct Selected {
    dtype: Option<DType>,
    initial: Option<Array>,
    condition: Option<Array>,
    mean: Option<Array>,
}

impl Selected {
    pub(super) fn new(
        a: &Array,
        dtype: Option<DtypeArg>,
        initial: Option<Operand>,
        condition: Option<Operand>,
    ) -> PyResult<Selected> {
        let initial = initial.map(|value| value.beside(a)).transpose()?;
        let dtype = summing(dtype, a.dtype());
        Ok(Selected { dtype, initial, condition: condition.map(Operand::alone), mean: None })
    }

    /// With the mean that distances are taken from.
    pub(super) fn around(self, a: &Array, mean: Option<Operand>) -> PyResult<Selected> {
        Ok(Selected { mean: mean.map(|mean| mean.beside(a)).transpose()?, ..self })
    }

    pub(super) fn selection(&self) -> Selection<'_> {
        Selection {
            dtype: self.dtype,
            initial: self.initial.as_ref(),
            condition: self.condition.as_ref(),
            mean: self.mean.as_ref(),
        }
    }
}

/// Reductions over any axes, of selected elements, from a start.
macro_rules! folds {
    ($($name:ident $kind:ident $doc:literal,)*) => {
        $(
            #[doc = $doc]
            ///
            /// Elements are converted to `dtype` first; those where `where` does not hold are left out; `initial` is
            /// what the reduction starts from.
            #[pyfunction]
            #[pyo3(
                signature = (a, /, axis = None, keepdims = false, *, dtype = None, initial = None, r#where = None,
                    stream = None)
            )]
            fn $name(
                a: Operand,
                axis: Option<Ints>,
                keepdims: bool,
                dtype: Option<DtypeArg>,
                initial: Option<Operand>,
                r#where: Option<Operand>,
                stream: Option<StreamArg>,
            ) -> PyResult<NewArray> {
                let a = a.alone();
                let selected = Selected::new(&a, dtype, initial, r#where)?;
                let (axes, keep) = (axes(axis.as_ref()), keep(keepdims));
                record_on(stream, || ops::reduce_selected(ReduceKind::$kind, &a, axes, keep, selected.selection()))
                    .map(NewArray::from)
            }
        )*

        fn register_folds(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

folds! {
    sum Sum "Sum over `axis` (all axes by default). Small integers and bool answer int32 or uint32.",
    prod Prod "Product over `axis` (all axes by default). Small integers and bool answer int32 or uint32.",
    min Min "Smallest element over `axis`; not a number if any is.",
    max Max "Largest element over `axis`; not a number if any is.",
}

/// Reductions over any axes, of elements where a condition holds.
macro_rules! tests {
    ($($name:ident $kind:ident $doc:literal,)*) => {
        $(
            #[doc = $doc]
            ///
            /// Elements where `where` does not hold are left out.
            #[pyfunction]
            #[pyo3(signature = (a, /, axis = None, keepdims = false, *, r#where = None, stream = None))]
            fn $name(
                a: Operand,
                axis: Option<Ints>,
                keepdims: bool,
                r#where: Option<Operand>,
                stream: Option<StreamArg>,
            ) -> PyResult<NewArray> {
                let a = a.alone();
                let selected = Selected::new(&a, None, None, r#where)?;
                let (axes, keep) = (axes(axis.as_ref()), keep(keepdims));
                record_on(stream, || ops::reduce_selected(ReduceKind::$kind, &a, axes, keep, selected.selection()))
                    .map(NewArray::from)
            }
        )*

        fn register_tests(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

tests! {
    all All "Whether all elements over `axis` are different from zero.",
    any Any "Whether any element over `axis` is different from zero.",
}

/// Mean over `axis`; integers answer float32.
///
/// Elements are converted to `dtype` first, in which the mean is answered; those where `where` does not hold are left
/// out.
#[pyfunction]
#[pyo3(
    signature = (a, /, axis = None, keepdims = false, *, dtype = None, r#where = None, stream = None)
)]
fn mean(
    a: Operand,
    axis: Option<Ints>,
    keepdims: bool,
    dtype: Option<DtypeArg>,
    r#where: Option<Operand>,
    stream: Option<StreamArg>,
) -> PyResult<NewArray> {
    let a = a.alone();
    let selected = Selected::new(&a, dtype, None, r#where)?;
    let (axes, keep) = (axes(axis.as_ref()), keep(keepdims));
    record_on(stream, || ops::mean_selected(&a, axes, keep, selected.selection())).map(NewArray::from)
}

/// Dispersions, with `ddof` taken off the number of elements.
macro_rules! dispersions {
    ($($name:ident $function:ident $python:literal $doc:literal,)*) => {
        $(
            #[doc = $doc]
            ///
            /// Elements are converted to `dtype` first; those where `where` does not hold are left out. `mean` is their
            /// mean, where it is known already, with the axes kept. `correction` is the array API standard's name for
            /// `ddof`.
            #[pyfunction(name = $python)]
            #[pyo3(
                signature = (a, /, axis = None, keepdims = false, ddof = 0, *, correction = None, dtype = None,
                    r#where = None, mean = None, stream = None)
            )]
            #[expect(clippy::too_many_arguments, reason = "NumPy's signature")]
            fn $name(
                a: Operand,
                axis: Option<Ints>,
                keepdims: bool,
                ddof: i64,
                correction: Option<f64>,
                dtype: Option<DtypeArg>,
                r#where: Option<Operand>,
                mean: Option<Operand>,
                stream: Option<StreamArg>,
            ) -> PyResult<NewArray> {
                let (a, ddof) = (a.alone(), correction.unwrap_or(ddof as f64));
                let selected = Selected::new(&a, dtype, None, r#where)?.around(&a, mean)?;
                let (axes, keep) = (axes(axis.as_ref()), keep(keepdims));
                record_on(stream, || ops::$function(&a, axes, keep, ddof, selected.selection())).map(NewArray::from)
            }
        )*

        fn register_dispersions(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

dispersions! {
    variance var_selected "var" "Variance over `axis`: squared distances from the mean divided by `n - ddof`.",
    standard_deviation std_selected "std" "Standard deviation over `axis`: the square root of the variance.",
}

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    register_folds(module)?;
    register_tests(module)?;
    register_dispersions(module)?;
    module.add_function(wrap_pyfunction!(mean, module)?)
}
