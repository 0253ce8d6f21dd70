//! Matrix products with quantised right operands.

use umber_kernels_base::dense::dense;
use umber_kernels_base::lanes::Ring;
use umber_kernels_base::row::{Compute, Real};
use umber_kernels_base::scratch;
use umber_kernels_base::scratch_vec::{ScratchVec, vector_or_unwind};
use umber_kernels_base::shared::Target;
use umber_kernels_base::threads::{num_threads, parallel_for};
use umber_kernels_base::{View, ViewMut};
use umber_kernels_matmul::multiply::Multiply;
use umber_kernels_matmul::product::{Beta, Matrix, Product as Dense};
use umber_kernels_matmul::{indexed, micro_kernel, skinny};
use umber_types::{DType, Quantization, Result, match_dtype};

use super::dispatch::{Kernel, kernel_for};
#[cfg(target_arch = "x86_64")]
use super::int8_dot;
use super::packed::QuantizedRows;
use super::qgemm::QGemm;
#[cfg(target_arch = "x86_64")]
use super::skinny_qgemm;

/// Side of the dequantised blocks; a block and its packed copy fit the L2 cache.
pub(super) const BLOCK: usize = 512;
/// Minimum rows of the left matrix per job.
const ROWS: usize = 64;

/// Whether the rows of the quantised matrix are the columns of the right operand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum Transposed {
    /// `x @ w.T`
    Yes,
    /// `x @ w`
    No,
}

/// Indices of the matrices to multiply: `x[left[s]] @ w[right[s]]` is added to `out[places[s]]`.
#[derive(Clone, Copy, Debug)]
pub struct BatchIndices<'a> {
    /// Indices into the left stack.
    pub left: View<'a>,
    /// Indices into the right stack.
    pub right: View<'a>,
    /// Indices into the output.
    pub places: View<'a>,
}

/// Operands of a product: `x` of shape `[p, m, k]`, and a quantised stack of shape `[q, rows, length]`.
#[derive(Clone, Copy, Debug)]
pub struct Product<'a> {
    /// How the right operand is quantised.
    pub format: Quantization,
    /// Whether the right operand is transposed.
    pub transposed: Transposed,
    /// The left operand.
    pub x: View<'a>,
    /// The right operand's packed words.
    pub words: View<'a>,
    /// Its scales.
    pub scales: View<'a>,
    /// Its biases.
    pub biases: Option<View<'a>>,
    /// Which matrices are multiplied; `None` for matching indices.
    pub batch_indices: Option<BatchIndices<'a>>,
}

/// `out[i] = x[i] @ w[i]`, or as [`BatchIndices`] say, for `out` of shape `[r, m, n]` and the dtype of `x`.
///
/// Computed in float32 (float64 for float64) and rounded once.
///
/// # Errors
/// If an index is outside its stack.
///
/// # Panics
/// If dtypes or shapes do not fit.
pub fn matmul(product: &Product, out: ViewMut) -> Result<()> {
    assert!(
        out.layout().is_contiguous() && product.x.dtype() == out.dtype(),
        "the output is dense and has the dtype of x"
    );
    match_dtype!(float out.dtype(), T => run::<T, <T as Real>::Compute>(product, out), else => panic!("of floats"))
}

/// Products grouped by their right matrix.
struct Runs {
    /// Start of each group in `pairs`, and the end of the last one.
    starts: ScratchVec<usize>,
    /// Indices of left matrices and of outputs.
    pairs: ScratchVec<(usize, usize)>,
}

fn runs(product: &Product, count: usize) -> Result<Runs> {
    let Some(BatchIndices { left, right, places: outputs }) = product.batch_indices else {
        let (mut starts, mut pairs) = (ScratchVec::new(count + 1)?, ScratchVec::new(count)?);
        starts.extend(0..=count);
        pairs.extend((0..count).map(|i| (i, i)));
        return Ok(Runs { starts, pairs });
    };
    let (left, right) =
        (indexed::read(left, product.x.shape()[0])?, indexed::read(right, product.words.shape()[0])?);
    let outputs = indexed::read(outputs, count)?;
    let (starts, order) = indexed::sorted(&right, product.words.shape()[0])?;
    let mut pairs = ScratchVec::new(order.len())?;
    pairs.extend(order.iter().map(|&s| (left[s], outputs[s])));
    Ok(Runs { starts, pairs })
}

fn run<T: Real<Compute = W>, W: Compute + Ring + Multiply<Acc = W>>(
    product: &Product,
    mut out: ViewMut,
) -> Result<()> {
    let (&[_, m, k], &[count, _, n]) = (product.x.shape(), out.shape()) else { panic!("stacks of matrices") };
    let length = match product.transposed {
        Transposed::Yes => k,
        Transposed::No => n,
    };
    let runs = runs(product, count)?;
    if out.size() == 0 {
        return Ok(());
    }
    let quantized = QuantizedRows::new(product.format, product.words, product.scales, product.biases, length);
    let rows = product.words.shape()[1];
    let elements = dense::<T>(product.x);
    let mut widened: Vec<W>;
    let x: &[W] = match product.x.as_slice::<W>() {
        Some(x) => x,
        None => {
            widened = vector_or_unwind(elements.len());
            widened.extend(elements.iter().map(|&x| x.widen()));
            &widened
        }
    };
    let task = Task { quantized: &quantized, transposed: product.transposed, rows, k, n };
    if product.batch_indices.is_none() && T::IS_COMPUTE {
        let target = Target::<W>::of(&out);
        for i in 0..count {
            task.multiply(i, &x[i * m * k..][..m * k], m, target.shifted((i * m * n) as isize));
        }
        return Ok(());
    }
    let mut sums = ScratchVec::filled(W::ZERO, count * m * n)?;
    for (right, bounds) in runs.starts.windows(2).enumerate().filter(|(_, bounds)| bounds[0] < bounds[1]) {
        let pairs = &runs.pairs[bounds[0]..bounds[1]];
        let mut stacked = vector_or_unwind(pairs.len() * m * k);
        for &(left, _) in pairs {
            stacked.extend_from_slice(&x[left * m * k..][..m * k]);
        }
        let mut products = ScratchVec::filled(W::ZERO, pairs.len() * m * n)?;
        task.multiply(right, &stacked, pairs.len() * m, Target::over(&mut products));
        for (&(_, index), product) in pairs.iter().zip(products.chunks_exact(m * n)) {
            let sums = &mut sums[index * m * n..][..m * n];
            sums.iter_mut().zip(product).for_each(|(sum, &term)| *sum = W::plus(*sum, term));
        }
    }
    let out = out.as_mut_slice::<T>().expect("dense");
    out.iter_mut().zip(&*sums).for_each(|(out, &sum)| *out = T::narrow(sum));
    Ok(())
}

/// A stack of quantised right matrices.
struct Task<'a> {
    quantized: &'a QuantizedRows<'a>,
    transposed: Transposed,
    /// Quantised rows per matrix.
    rows: usize,
    /// Columns of the left operand.
    k: usize,
    /// Columns of the result.
    n: usize,
}

impl Task<'_> {
    /// Multiply `m` rows by matrix `right`; the product overwrites `out`.
    fn multiply<W: Compute + Ring + Multiply<Acc = W>>(
        &self,
        right: usize,
        x: &[W],
        m: usize,
        out: Target<W>,
    ) {
        let (first, threads) = (right * self.rows, num_threads());
        let is_qgemm =
            self.transposed == Transposed::Yes && W::DTYPE == DType::Float32 && m > 0 && self.k > 0;
        let qgemm = is_qgemm.then(|| {
            // SAFETY: `W` is float32.
            let x = unsafe { std::slice::from_raw_parts(x.as_ptr().cast::<f32>(), x.len()) };
            QGemm { quantized: self.quantized, first, x, rows: m, columns: self.n, out: out.cast() }
        });
        let max_columns = match (kernel_for::<W>(m, self.k, self.transposed, qgemm.as_ref()), &qgemm) {
            #[cfg(target_arch = "x86_64")]
            (Kernel::Int8Dot, Some(product)) => return int8_dot::compute(product),
            #[cfg(target_arch = "x86_64")]
            (Kernel::SkinnyQGemm, Some(product)) => return skinny_qgemm::compute(product),
            #[cfg(target_arch = "x86_64")]
            (Kernel::Int8Dot | Kernel::SkinnyQGemm, None) => unreachable!("chosen for a QGemm"),
            (Kernel::Skinny, _) => return self.skinny_rows(first, x, m, out),
            (Kernel::Blocks { columns }, _) => columns,
        };
        let unit = match self.transposed {
            Transposed::Yes => 16,
            Transposed::No => self.quantized.format.group_size(),
        };
        let strip = self.n.div_ceil(threads).next_multiple_of(unit).min(max_columns);
        let across = self.n.div_ceil(strip.max(1));
        let down = threads.div_ceil(across.max(1)).min(m.div_ceil(ROWS)).max(1);
        let source = x;
        parallel_for(across * down, |job| {
            let (columns, rows) = (job % across, job / across);
            let columns = columns * strip..self.n.min((columns + 1) * strip);
            let rows = m * rows / down..m * (rows + 1) / down;
            scratch::with(BLOCK * columns.len(), |block: &mut [W]| {
                let x = Matrix { start: source.as_ptr(), rows: self.k as isize, columns: 1 };
                let full = Dense {
                    m: rows.len(),
                    n: columns.len(),
                    k: self.k,
                    a: x.from(rows.start, 0),
                    b: Matrix { start: block.as_ptr(), rows: 1, columns: 1 },
                    out: out.at((rows.start * self.n + columns.start) as isize),
                    out_row: self.n as isize,
                };
                if self.k == 0 {
                    full.fill_out(W::ZERO);
                }
                for depth in (0..self.k).step_by(BLOCK) {
                    let depths = depth..self.k.min(depth + BLOCK);
                    let b = self.read(first, depths.clone(), columns.clone(), block);
                    let into = if depth == 0 { Beta::Zero } else { Beta::One };
                    let slice = Dense { k: depths.len(), a: full.a.from(0, depth), b, ..full };
                    W::multiply_acc(&slice, into);
                }
            });
        });
    }

    /// Multiply rows that are too few to amortise the packing of dequantised blocks.
    fn skinny_rows<W: Compute + Ring>(&self, first: usize, x: &[W], m: usize, out: Target<W>) {
        let (k, size) = (self.k, self.quantized.format.group_size());
        let source = x;
        let strip = self.n.div_ceil(num_threads()).next_multiple_of(micro_kernel::LINES).min(BLOCK);
        parallel_for(self.n.div_ceil(strip.max(1)), |job| {
            let start = job * strip;
            let columns = strip.min(self.n - start);
            let product = skinny::ProducedRight {
                m,
                n: columns,
                k,
                a: Matrix { start: source.as_ptr(), rows: k as isize, columns: 1 },
                out: out.at(start as isize),
                out_row: self.n as isize,
            };
            skinny::multiply_produced(&product, Beta::Zero, &|columns, depths, scratch| {
                let depth = depths.len();
                for (line, column) in scratch.chunks_exact_mut(depth).zip(columns) {
                    self.quantized.read(first + start + column, depths.start / size, line);
                }
                Matrix { start: scratch.as_ptr(), rows: depth as isize, columns: 1 }
            });
        });
    }

    /// Dequantise a block of a right matrix.
    fn read<W: Compute>(
        &self,
        first: usize,
        depths: std::ops::Range<usize>,
        columns: std::ops::Range<usize>,
        block: &mut [W],
    ) -> Matrix<W> {
        let size = self.quantized.format.group_size();
        let (lines, inside) = match self.transposed {
            Transposed::Yes => (columns, depths),
            Transposed::No => (depths, columns),
        };
        let width = inside.len();
        for (line, row) in block.chunks_exact_mut(width).zip(lines) {
            self.quantized.read(first + row, inside.start / size, line);
        }
        match self.transposed {
            Transposed::Yes => Matrix { start: block.as_ptr(), rows: 1, columns: width as isize },
            Transposed::No => Matrix { start: block.as_ptr(), rows: width as isize, columns: 1 },
        }
    }
}
