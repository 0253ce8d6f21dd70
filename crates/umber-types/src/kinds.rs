//! The members of each operation family, and the options operations share.

/// Should reduced axes stay, with length one?
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum KeepAxes {
    /// Reduced axes stay with length one.
    Yes,
    /// Reduced axes vanish.
    No,
}

macro_rules! kinds {
    ($(#[$doc:meta])* $name:ident { $($variant:ident $text:literal),* $(,)? }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
        pub enum $name {
            $(#[doc = concat!("`", $text, "`")] $variant,)*
        }
        impl $name {
            /// Every member.
            pub const ALL: &'static [$name] = &[$($name::$variant),*];

            /// The name of the public function.
            pub const fn name(self) -> &'static str {
                match self { $($name::$variant => $text,)* }
            }
        }
    };
}

kinds! {
    /// Functions of one element.
    UnaryKind {
        Abs "abs", Negative "negative", Sign "sign", Square "square", Sqrt "sqrt", Rsqrt "rsqrt",
        Reciprocal "reciprocal", Exp "exp", Expm1 "expm1", Log "log", Log2 "log2", Log10 "log10", Log1p "log1p",
        Sin "sin", Cos "cos", Tan "tan", Arcsin "arcsin", Arccos "arccos", Arctan "arctan",
        Sinh "sinh", Cosh "cosh", Tanh "tanh", Arcsinh "arcsinh", Arccosh "arccosh", Arctanh "arctanh",
        Erf "erf", ErfInv "erfinv", Sigmoid "sigmoid",
        Erfc "erfc", LogGamma "gammaln", Digamma "digamma", I0 "i0", I0e "i0e", I1 "i1", I1e "i1e",
        Cbrt "cbrt", Exp2 "exp2", Exponent "frexp",
        Floor "floor", Ceil "ceil", Round "round", Trunc "trunc",
        LogicalNot "logical_not", BitwiseInvert "bitwise_invert",
        Conjugate "conjugate", Real "real", Imag "imag",
        IsNan "isnan", IsInf "isinf", IsFinite "isfinite", SignBit "signbit", BitCount "bitwise_count",
    }
}

kinds! {
    /// Functions of two elements of one dtype.
    BinaryKind {
        Add "add", Subtract "subtract", Multiply "multiply", Divide "divide",
        FloorDivide "floor_divide", Remainder "remainder", Power "power",
        Maximum "maximum", Minimum "minimum", LogAddExp "logaddexp", Arctan2 "arctan2",
        Equal "equal", NotEqual "not_equal", Less "less", LessEqual "less_equal",
        Greater "greater", GreaterEqual "greater_equal",
        LogicalAnd "logical_and", LogicalOr "logical_or",
        BitwiseAnd "bitwise_and", BitwiseOr "bitwise_or", BitwiseXor "bitwise_xor",
        LeftShift "left_shift", RightShift "right_shift",
        Hypot "hypot", CopySign "copysign", Fmod "fmod", LogAddExp2 "logaddexp2", Ldexp "ldexp", Gcd "gcd", Zeta "zeta",
        // A product in which zero times infinity is zero: rules of products are made of it.
        MultiplyAbsorbing "multiply_absorbing",
    }
}

kinds! {
    /// Reductions of many elements to one.
    ReduceKind { Sum "sum", Prod "prod", Min "min", Max "max", All "all", Any "any", Mean "mean" }
}

kinds! {
    /// Reductions that answer the place of an element.
    ArgReduceKind { ArgMin "argmin", ArgMax "argmax" }
}

kinds! {
    /// Reductions that answer every partial result along the way.
    ScanKind {
        Sum "cumsum", Prod "cumprod", Max "cummax", Min "cummin", LogSumExp "logcumsumexp",
    }
}

kinds! {
    /// Which end of its axis a scan begins at.
    ScanDirection { Forward "forward", Reverse "reverse" }
}

kinds! {
    /// Does each result of a scan include the element at its own place?
    ScanExtent { Inclusive "inclusive", Exclusive "exclusive" }
}

kinds! {
    /// What a scatter does where it writes.
    ScatterKind { Set "set", Add "add", Multiply "multiply", Maximum "maximum", Minimum "minimum" }
}

kinds! {
    /// On which side of equal elements a value goes: before or after them.
    Side { Left "left", Right "right" }
}

kinds! {
    /// Which elements come first.
    SortOrder { Ascending "ascending", Descending "descending" }
}

kinds! {
    /// Which end of an order.
    Extremum { Least "least", Greatest "greatest" }
}

kinds! {
    /// Codes and scales that quantised numbers are made of: integers with a scale and a bias, or small floats with a scale of
    /// eight bits (OCP Microscaling Formats 1.0; NVFP4).
    QuantizationMode { Affine "affine", Mxfp4 "mxfp4", Mxfp8 "mxfp8", Nvfp4 "nvfp4" }
}

kinds! {
    /// Which features rotary positions turn together: neighbours, or those half the turned features apart.
    Pairing { Neighbours "neighbours", Halves "halves" }
}

kinds! {
    /// What the queries of an attention see of its keys: all; the last query all, the one before all but the last, and so
    /// on; or what an array says, by a truth value for each score or by a term of it.
    Masking { Nothing "nothing", Causal "causal", Array "array" }
}

impl UnaryKind {
    /// Does it answer bool whatever it is given?
    pub const fn returns_bool(self) -> bool {
        matches!(
            self,
            UnaryKind::LogicalNot
                | UnaryKind::IsNan
                | UnaryKind::IsInf
                | UnaryKind::IsFinite
                | UnaryKind::SignBit
        )
    }
}

impl BinaryKind {
    /// Does it answer bool whatever it is given?
    pub const fn returns_bool(self) -> bool {
        matches!(
            self,
            BinaryKind::Equal
                | BinaryKind::NotEqual
                | BinaryKind::Less
                | BinaryKind::LessEqual
                | BinaryKind::Greater
                | BinaryKind::GreaterEqual
                | BinaryKind::LogicalAnd
                | BinaryKind::LogicalOr
        )
    }

    /// Does it compare its operands?
    pub const fn compares(self) -> bool {
        matches!(
            self,
            BinaryKind::Equal
                | BinaryKind::NotEqual
                | BinaryKind::Less
                | BinaryKind::LessEqual
                | BinaryKind::Greater
                | BinaryKind::GreaterEqual
        )
    }

    /// Does it answer floating point whatever it is given?
    pub const fn returns_inexact(self) -> bool {
        matches!(
            self,
            BinaryKind::Divide
                | BinaryKind::LogAddExp
                | BinaryKind::Arctan2
                | BinaryKind::LogAddExp2
                | BinaryKind::Hypot
                | BinaryKind::CopySign
        )
    }
}
