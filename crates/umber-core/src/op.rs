//! The list of primitives: one line each, the only list.

use umber_types::{Layout, Result, Shape, ensure};

use crate::generalization::{Change, Generalized};
use crate::graph::{Array, ArraySpec, Specs};
use crate::primitive::{Batched, Cotangents, CpuTask, FusionRole, Point, Primitive, Rule, Tangents};
use crate::primitives::control_flow::ControlFlow;
use crate::primitives::*;
use crate::validation::Site;

/// `enum Op` with a variant for each primitive, and `impl Primitive for Op` that forwards every method.
macro_rules! primitives {
    ($($(#[$attribute:meta])* $variant:ident($module:ident::$ty:ident)),* $(,)?) => {
        /// A primitive operation with its parameters.
        #[derive(Clone, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        pub enum Op {
            $($(#[$attribute])* #[doc = concat!("The primitive of the module `", stringify!($module), "`.")] $variant($module::$ty),)*
        }

        $(impl From<$module::$ty> for Op {
            fn from(primitive: $module::$ty) -> Op {
                Op::$variant(primitive)
            }
        })*

        impl Primitive for Op {
            fn name(&self) -> &'static str {
                match self { $(Op::$variant(p) => p.name(),)* }
            }
            fn infer(&self, inputs: &[&ArraySpec]) -> Result<Specs> {
                let specs = match self { $(Op::$variant(p) => p.infer(inputs),)* }?;
                check_sizes(self.name(), &specs)?;
                Ok(specs)
            }
            fn validate(&self, site: &Site<'_>) -> Result<()> {
                match self { $(Op::$variant(p) => p.validate(site),)* }
            }
            fn generalize(&self, change: &mut Change<'_>) -> Option<Generalized> {
                match self { $(Op::$variant(p) => p.generalize(change),)* }
            }
            fn constant_shape(&self, shape: &Shape, old: &Shape, new: &Shape) -> Option<Shape> {
                match self { $(Op::$variant(p) => p.constant_shape(shape, old, new),)* }
            }
            fn vjp(&self, at: &Point<'_>, cotangents: &[Array]) -> Rule<Cotangents> {
                match self { $(Op::$variant(p) => p.vjp(at, cotangents),)* }
            }
            fn jvp(&self, at: &Point<'_>, tangents: &Tangents) -> Rule<Vec<Array>> {
                match self { $(Op::$variant(p) => p.jvp(at, tangents),)* }
            }
            fn vmap(&self, inputs: &[Batched]) -> Rule<Vec<Batched>> {
                match self { $(Op::$variant(p) => p.vmap(inputs),)* }
            }
            fn expand(&self, inputs: &[Array]) -> Rule<Vec<Array>> {
                match self { $(Op::$variant(p) => p.expand(inputs),)* }
            }
            fn is_index(&self, input: usize) -> bool {
                match self { $(Op::$variant(p) => p.is_index(input),)* }
            }
            fn fusion_role(&self) -> FusionRole {
                match self { $(Op::$variant(p) => p.fusion_role(),)* }
            }
            fn takes_float8(&self) -> bool {
                match self { $(Op::$variant(p) => p.takes_float8(),)* }
            }
            fn is_exact(&self) -> bool {
                match self { $(Op::$variant(p) => p.is_exact(),)* }
            }
            fn is_view(&self) -> bool {
                match self { $(Op::$variant(p) => p.is_view(),)* }
            }
            fn view(&self, input: &Layout) -> Option<Layout> {
                match self { $(Op::$variant(p) => p.view(input),)* }
            }
            fn eager_reads(&self, inputs: &[&Array], specs: &[ArraySpec]) -> Option<usize> {
                match self { $(Op::$variant(p) => p.eager_reads(inputs, specs),)* }
            }
            fn flops(&self, inputs: &[&ArraySpec], outputs: &[&ArraySpec]) -> Option<u64> {
                match self { $(Op::$variant(p) => p.flops(inputs, outputs),)* }
            }
            fn forwards(&self) -> bool {
                match self { $(Op::$variant(p) => p.forwards(),)* }
            }
            fn control_flow(&self) -> Option<ControlFlow<'_>> {
                match self { $(Op::$variant(p) => p.control_flow(),)* }
            }
            fn adds_lengths(&self) -> bool {
                match self { $(Op::$variant(p) => p.adds_lengths(),)* }
            }
            fn eval_cpu(&self, task: &mut CpuTask<'_>) -> Result<()> {
                match self { $(Op::$variant(p) => p.eval_cpu(task),)* }
            }
        }
    };
}

/// Result shapes are derived from addressable ones, but may themselves exceed the address space.
#[inline]
fn check_sizes(name: &str, specs: &[ArraySpec]) -> Result<()> {
    for spec in specs {
        ensure!(
            spec.shape.is_addressable(),
            Overflow(name),
            "result of shape {} is too large to address",
            spec.shape
        );
    }
    Ok(())
}

primitives! {
    Leaf(leaf::Leaf),
    Full(create::Full),
    Arange(create::Arange),
    Eye(create::Eye),
    Unary(unary::Unary),
    Binary(binary::Binary),
    Ternary(ternary::Ternary),
    Select(select::Select),
    Cast(cast::Cast),
    Float8Cast(float8::Float8Cast),
    Broadcast(broadcast::Broadcast),
    Reshape(reshape::Reshape),
    View(view::View),
    Transpose(transpose::Transpose),
    Slice(slice::Slice),
    SliceUpdate(slice_update::SliceUpdate),
    Concatenate(concatenate::Concatenate),
    Reduce(reduce::Reduce),
    Gather(gather::Gather),
    GatherAxis(gather::GatherAxis),
    Scatter(scatter::Scatter),
    ScatterAxis(scatter::ScatterAxis),
    ArgReduce(arg_reduce::ArgReduce),
    MatMul(matmul::MatMul),
    IndexedMatMul(indexed_matmul::IndexedMatMul),
    SegmentedMatMul(segmented_matmul::SegmentedMatMul),
    Quantize(quantized::Quantize),
    Rounded(quantized::Rounded),
    Dequantize(quantized::Dequantize),
    QuantizedMatMul(quantized::QuantizedMatMul),
    Fp8(quantized::Fp8),
    Convolution(convolution::Convolution),
    ConvolutionWeight(convolution::ConvolutionWeight),
    RandomBits(random::RandomBits),
    #[serde(rename = "Pick")]
    CategoricalSample(random::CategoricalSample),
    Rejections(random::Rejections),
    Composite(composite::Composite),
    Scan(scan::Scan),
    Sort(sort::Sort),
    Cholesky(linalg::Cholesky),
    Solve(linalg::Solve),
    Inverse(linalg::Inverse),
    Lu(linalg::Lu),
    Determinant(linalg::Determinant),
    SignedLog(linalg::SignedLog),
    Adjugate(linalg::Adjugate),
    Qr(linalg::Qr),
    Svd(linalg::Svd),
    Eigh(linalg::Eigh),
    Eig(linalg::Eig),
    Pinv(linalg::Pinv),
    Expm(linalg::Expm),
    Fft(fft::Fft),
    NumberOfElements(number_of_elements::NumberOfElements),
    Search(search::Search),
    Nonzero(nonzero::Nonzero),
    Control(control::Control),
    Transfer(transfer::Transfer),
    Loop(control_flow::Loop),
    Branch(control_flow::Branch),
    While(control_flow::While),
    // Custom rules hold functions of the running program, which cannot be saved; exported programs hold the operations instead.
    #[serde(skip)]
    Custom(custom::Custom),
    Checkpoint(checkpoint::Checkpoint),
    // A function of the running program.
    #[serde(skip)]
    Callback(callback::Callback),
    // Exported programs hold the operations of the region instead.
    #[serde(skip)]
    Fused(fused::Fused),
}

impl Op {
    /// The name users see.
    pub fn name(&self) -> &'static str {
        Primitive::name(self)
    }
}

// Keeps nodes small; larger payloads are boxed.
const _: () = assert!(size_of::<Op>() <= 56);
