//! Bandwidth of quantisation, dequantisation and quantised matrix-vector products; FLOP/s for many rows.
//!
//! `cargo bench -p umber-kernels --bench quantized [FILTER]`

mod common;

use common::{Operand, Work, case};
use umber_kernels::quantized::{Product, Transposed, dequantize, matmul, quantize};
use umber_kernels::{View, ViewMut};
use umber_types::{Quantization, QuantizationMode};

/// A batch of one square quantised matrix.
struct Quantized {
    format: Quantization,
    side: usize,
    words: Operand<u32>,
    /// float32 scales in affine mode; `codes` are the scales of all other modes.
    scales: Operand<f32>,
    codes: Operand<u8>,
    biases: Operand<f32>,
}

impl Quantized {
    fn new(mode: QuantizationMode, bits: i64, side: usize) -> Quantized {
        let format = Quantization::new("quantize", mode, None, Some(bits)).expect("the mode has these bits");
        let groups = [1, side, side / format.group_size()];
        Quantized {
            format,
            side,
            words: Operand::zeros(&[1, side, format.words(side)]),
            scales: Operand::zeros(&groups),
            codes: Operand::zeros(&groups),
            biases: Operand::zeros(&groups),
        }
    }

    fn fill(&mut self, src: View) {
        let words = self.words.view_mut();
        if self.format.has_biases() {
            quantize(self.format, src, None, &mut [words, self.scales.view_mut(), self.biases.view_mut()]);
        } else {
            quantize(self.format, src, None, &mut [words, self.codes.view_mut()]);
        }
    }

    fn scales(&self) -> View<'_> {
        if self.format.has_biases() { self.scales.view() } else { self.codes.view() }
    }

    fn biases(&self) -> Option<View<'_>> {
        self.format.has_biases().then(|| self.biases.view())
    }

    fn multiply(&self, transposed: Transposed, x: View, out: ViewMut) {
        let (scales, biases) = (self.scales(), self.biases());
        let product = Product {
            format: self.format,
            transposed,
            x,
            words: self.words.view(),
            scales,
            biases,
            batch_indices: None,
        };
        matmul(&product, out).expect("without batch indices nothing can be out of bounds");
    }

    fn bytes(&self) -> usize {
        let groups = self.codes.data.len() * if self.format.has_biases() { 2 * size_of::<f32>() } else { 1 };
        self.words.bytes() + groups
    }

    fn name(&self, what: &str) -> String {
        format!("{what}/{} {} bits/{}", self.format.mode().name(), self.format.bits(), self.side)
    }
}

/// Quantisation and dequantisation of a matrix, and its products with so many rows.
fn measure(mode: QuantizationMode, bits: i64, side: usize, rows: &[usize]) {
    let mut matrix = Quantized::new(mode, bits, side);
    let mut floats = Operand::<f32>::values(&[1, side, side]);
    let work = Work::Bytes(floats.bytes() + matrix.bytes());
    // Fill the matrix even if the case `quantize` is filtered out.
    matrix.fill(floats.view());
    case(&matrix.name("quantize"), work, || matrix.fill(floats.view()));
    case(&matrix.name("dequantize"), work, || {
        dequantize(matrix.format, matrix.words.view(), matrix.scales(), matrix.biases(), floats.view_mut());
    });
    for &rows in rows {
        let x = Operand::<f32>::values(&[1, rows, side]);
        let mut out = Operand::<f32>::zeros(&[1, rows, side]);
        let work = if rows == 1 { Work::Bytes(matrix.bytes()) } else { Work::Flops(2 * rows * side * side) };
        for (transposed, what) in [(Transposed::Yes, "x @ w.T"), (Transposed::No, "x @ w")] {
            case(&format!("{}/{rows} rows", matrix.name(what)), work, || {
                matrix.multiply(transposed, x.view(), out.view_mut());
            });
        }
    }
}

fn main() {
    // The large matrix is for memory-bound cases only.
    let rows: &[usize] = &[1, 32, 256];
    for (side, rows) in [(512, rows), (8192, &rows[..2])] {
        measure(QuantizationMode::Affine, 4, side, rows);
        measure(QuantizationMode::Affine, 8, side, rows);
        measure(QuantizationMode::Mxfp4, 4, side, rows);
    }
}
