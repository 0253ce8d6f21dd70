//! Somebody else's products: a BLAS that `UMBER_BLAS` names is loaded when the first large product comes, never linked.
//!
//! It is given whole products of large matrices and shares them among threads of its own, as many as [`num_threads`] says where it can
//! be told. Products of a batch, small ones and those of other elements stay here.

use std::ffi::{OsStr, c_int, c_void};
use std::sync::OnceLock;

use libloading::Library;
use num_complex::Complex;

use super::product::{Matrix, Product};
use crate::fork::{ForkMutex, InChild, Level};
use crate::threads::num_threads;

/// The variable that names the library: a path, or a name that the loader of shared libraries finds.
const VARIABLE: &str = "UMBER_BLAS";
/// The fewest rows, columns and terms of products that are given away.
const LEAST: usize = 32;
/// The fewest multiplications.
const WORTHY: usize = 64 * 64 * 64;

/// What CBLAS calls matrices whose rows are dense, those that are read as they are, and those that are turned.
const ROW_MAJOR: c_int = 101;
const AS_IT_IS: c_int = 111;
const TURNED: c_int = 112;

/// How builds of a BLAS with several sets of names in one process tell theirs: before the name and after it.
const NAMES: [(&str, &str); 6] =
    [("", ""), ("", "64_"), ("", "_64"), ("scipy_", "64_"), ("scipy_", ""), ("scipy_", "_64")];

/// `cblas_?gemm` of numbers that are handed over as `S`. Lengths have 64 bits: where the library's have 32, it reads the lower half of
/// the register, or of the eight bytes on the stack, that a length has either way.
type Gemm<T, S> =
    unsafe extern "C" fn(c_int, c_int, c_int, i64, i64, i64, S, *const T, i64, *const T, i64, S, *mut T, i64);

/// A library that was loaded, which stays until the process ends.
pub(super) struct Blas {
    single: Gemm<f32, f32>,
    double: Gemm<f64, f64>,
    complex_single: Gemm<c_void, *const c_void>,
    complex_double: Gemm<c_void, *const c_void>,
    threads: Option<Threads>,
}

/// How the library is asked how many threads it uses, and told.
#[derive(Clone, Copy)]
struct Threads {
    get: unsafe extern "C" fn() -> c_int,
    set: unsafe extern "C" fn(c_int),
}

/// The library that `UMBER_BLAS` names, loaded now if it was not.
///
/// # Errors
/// Why it cannot be used; the answer is the same ever after.
pub fn load() -> Result<bool, String> {
    library().as_ref().map(Option::is_some).map_err(Clone::clone)
}

fn library() -> &'static Result<Option<Blas>, String> {
    static LIBRARY: OnceLock<Result<Option<Blas>, String>> = OnceLock::new();
    LIBRARY.get_or_init(|| match std::env::var_os(VARIABLE) {
        Some(name) if !name.is_empty() => Blas::open(&name).map(Some),
        _ => Ok(None),
    })
}

impl Blas {
    fn open(name: &OsStr) -> Result<Blas, String> {
        // SAFETY: whoever names a library answers for what it does when it is loaded.
        let library = unsafe { Library::new(name) }.map_err(|error| error.to_string())?;
        let named = NAMES.iter().find_map(|names| Blas::named(&library, *names));
        // What was found is used for as long as there is a process.
        std::mem::forget(library);
        named.ok_or_else(|| "it has no cblas_sgemm, cblas_dgemm, cblas_cgemm and cblas_zgemm".into())
    }

    /// The functions of this set of names, if the library has all.
    fn named(library: &Library, (before, after): (&str, &str)) -> Option<Blas> {
        // SAFETY: functions of these names have these types, by the definition of CBLAS.
        unsafe {
            Some(Blas {
                single: function(library, &format!("{before}cblas_sgemm{after}"))?,
                double: function(library, &format!("{before}cblas_dgemm{after}"))?,
                complex_single: function(library, &format!("{before}cblas_cgemm{after}"))?,
                complex_double: function(library, &format!("{before}cblas_zgemm{after}"))?,
                threads: Threads::of(library, (before, after)),
            })
        }
    }
}

impl Threads {
    /// What OpenBLAS, MKL or BLIS have.
    fn of(library: &Library, (before, after): (&str, &str)) -> Option<Threads> {
        let openblas = |what: &str| format!("{before}openblas_{what}_num_threads{after}");
        let names = [
            [openblas("get"), openblas("set")],
            ["MKL_Get_Max_Threads".into(), "MKL_Set_Num_Threads".into()],
            ["bli_thread_get_num_threads".into(), "bli_thread_set_num_threads".into()],
        ];
        names.iter().find_map(|[get, set]| {
            // SAFETY: these functions take and answer a number; the few that are there are below 2^31.
            unsafe { Some(Threads { get: function(library, get)?, set: function(library, set)? }) }
        })
    }
}

/// A function of a library.
///
/// # Safety
/// It is of type `F`.
unsafe fn function<F: Copy>(library: &Library, name: &str) -> Option<F> {
    // SAFETY: the caller's.
    unsafe { library.get::<F>(name) }.ok().map(|found| *found)
}

/// An element type that CBLAS multiplies.
pub(super) trait Known: Copy {
    /// `out = a @ b`.
    ///
    /// # Safety
    /// Operands lie as the other arguments say.
    unsafe fn multiply(
        blas: &Blas,
        shape: [i64; 3],
        a: Operand<Self>,
        b: Operand<Self>,
        out: (*mut Self, i64),
    );
}

/// A matrix as CBLAS is told of it.
#[derive(Clone, Copy)]
pub(super) struct Operand<T> {
    start: *const T,
    how: c_int,
    /// From one dense line to the next.
    line: i64,
}

impl<T> Operand<T> {
    /// A matrix one of whose axes is dense, with lines that do not overlap.
    fn of(from: &Matrix<T>, rows: usize, columns: usize) -> Option<Operand<T>> {
        let (how, line) = match (from.rows, from.columns) {
            (line, 1) if line >= columns as isize => (AS_IT_IS, line),
            (1, line) if line >= rows as isize => (TURNED, line),
            _ => return None,
        };
        let line = i32::try_from(line).ok()?;
        Some(Operand { start: from.start, how, line: line.into() })
    }
}

macro_rules! known {
    ($($ty:ty: $field:ident, |$number:ident| $handed:expr, $cast:ty;)*) => { $(
        impl Known for $ty {
            unsafe fn multiply(
                blas: &Blas,
                [m, n, k]: [i64; 3],
                a: Operand<Self>,
                b: Operand<Self>,
                (out, line): (*mut Self, i64),
            ) {
                let [one, zero]: [$ty; 2] = [1.0.into(), 0.0.into()];
                let hand = |$number: &$ty| $handed;
                // SAFETY: the caller's.
                unsafe {
                    (blas.$field)(
                        ROW_MAJOR, a.how, b.how, m, n, k, hand(&one), a.start.cast::<$cast>(), a.line,
                        b.start.cast::<$cast>(), b.line, hand(&zero), out.cast::<$cast>(), line,
                    );
                }
            }
        }
    )* };
}
known! {
    f32: single, |number| *number, f32;
    f64: double, |number| *number, f64;
    Complex<f32>: complex_single, |number| std::ptr::from_ref(number).cast::<c_void>(), c_void;
    Complex<f64>: complex_double, |number| std::ptr::from_ref(number).cast::<c_void>(), c_void;
}

/// Compute `a @ b` with the library, if there is one, and it is worth it and possible; answers whether it is done.
pub(super) fn product<T: Known>(product: &Product<T>) -> bool {
    static ONE_AT_A_TIME: ForkMutex<()> = ForkMutex::new(|| (), (), Level::Last, InChild::Keep);
    let Product { m, n, k, a, b, out, out_row } = *product;
    if m.min(n).min(k) < LEAST || m.saturating_mul(n).saturating_mul(k) < WORTHY {
        return false;
    }
    let Ok(Some(blas)) = library() else { return false };
    let lengths = [m, n, k].map(i32::try_from);
    let [Ok(rows), Ok(columns), Ok(depth)] = lengths else { return false };
    let (Some(left), Some(right)) = (Operand::of(&a, m, k), Operand::of(&b, k, n)) else { return false };
    let Ok(line) = i32::try_from(out_row) else { return false };
    // How many threads the library uses is a setting of the process.
    let _guard = ONE_AT_A_TIME.lock();
    let wanted = num_threads() as c_int;
    // SAFETY: the invariant of `Product`, as [`Operand::of`] tells it; numbers of threads are positive.
    unsafe {
        let before = blas.threads.map(|threads| (threads, (threads.get)())).filter(|&(_, had)| had != wanted);
        if let Some((threads, _)) = before {
            (threads.set)(wanted);
        }
        T::multiply(blas, [rows, columns, depth].map(i64::from), left, right, (out, line.into()));
        if let Some((threads, had)) = before {
            (threads.set)(had);
        }
    }
    true
}
