//! `umber.core.special`: special functions, under the names of `scipy.special`.

mod bessel;
mod entropy;
mod gamma;
mod integrals;
mod normal;

use pyo3::prelude::*;

/// Functions of `umber.core` that belong to the module too, under SciPy's name and umber's.
const SHARED: [(&str, &str); 15] = [
    ("digamma", "digamma"),
    ("erf", "erf"),
    ("erfc", "erfc"),
    ("erfinv", "erfinv"),
    ("expit", "sigmoid"),
    ("expm1", "expm1"),
    ("gammaln", "gammaln"),
    ("i0", "i0"),
    ("i0e", "i0e"),
    ("i1", "i1"),
    ("i1e", "i1e"),
    ("log1p", "log1p"),
    ("log_softmax", "log_softmax"),
    ("logsumexp", "logsumexp"),
    ("softmax", "softmax"),
];

/// Functions of one array. A row is the documentation, the name and the parameter.
macro_rules! unary_functions {
    ($register:ident $($(#[$doc:meta])* $name:ident($x:ident),)*) => {
        $(
            $(#[$doc])*
            #[pyfunction]
            #[pyo3(signature = ($x, /, *, stream = None))]
            fn $name($x: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
                let $x = $x.into_array();
                record_on(stream, || special::$name(&$x)).map(NewArray::from)
            }
        )*

        fn $register(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

/// Functions of two arrays or numbers. A row is the documentation, the name and the parameters.
macro_rules! binary_functions {
    ($register:ident $($(#[$doc:meta])* $name:ident($a:ident, $b:ident),)*) => {
        $(
            $(#[$doc])*
            #[pyfunction]
            #[pyo3(signature = ($a, $b, /, *, stream = None))]
            fn $name($a: Operand, $b: Operand, stream: Option<StreamArg>) -> PyResult<NewArray> {
                let ($a, $b) = Operand::pair($a, $b)?;
                record_on(stream, || special::$name(&$a, &$b)).map(NewArray::from)
            }
        )*

        fn $register(module: &Bound<'_, PyModule>) -> PyResult<()> {
            $(module.add_function(wrap_pyfunction!($name, module)?)?;)*
            Ok(())
        }
    };
}

use {binary_functions, unary_functions};

pub(crate) fn register(module: &Bound<'_, PyModule>) -> PyResult<()> {
    let py = module.py();
    let special = PyModule::new(py, "special")?;
    special.setattr("__name__", "umber.core.special")?;
    special.setattr("__doc__", "Special functions, under the names of `scipy.special`.")?;
    gamma::register(&special)?;
    normal::register(&special)?;
    bessel::register(&special)?;
    entropy::register(&special)?;
    integrals::register(&special)?;
    for (name, function) in SHARED {
        special.add(name, module.getattr(function)?)?;
    }
    module.add("special", &special)?;
    py.import("sys")?.getattr("modules")?.set_item("umber.core.special", special)
}
