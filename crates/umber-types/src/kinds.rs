//! The members of each operation family, and options that operations share.

/// Whether reduced axes are kept with length one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, serde::Serialize, serde::Deserialize)]
pub enum KeepAxes {
    /// Reduced axes are kept with length one.
    Yes,
    /// Reduced axes are removed.
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
        J0 "j0", J1 "j1", Y0 "y0", Y1 "y1", K0 "k0", K0e "k0e", K1 "k1", K1e "k1e",
        Gamma "gamma", Erfcx "erfcx", ErfcInv "erfcinv", Ndtr "ndtr", LogNdtr "log_ndtr", Logit "logit", Entr "entr",
        Expi "expi", Exp1 "exp1", Spence "spence",
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
        Polygamma "polygamma", GammaInc "gammainc", GammaIncC "gammaincc", Beta "beta", BetaLn "betaln", Expn "expn",
        RelEntr "rel_entr",
        GammaIncInv "gammaincinv", GammaIncCInv "gammainccinv",
        // x^a e^-x / Γ(a + 1), for the derivative rules of the incomplete gamma functions.
        GammaDensity "gamma_density",
        // Derivatives with respect to the first argument.
        GammaIncSlope "gammainc_slope", ZetaSlope "zeta_slope",
        // A product in which zero times infinity is zero, for the derivative rules of products.
        MultiplyAbsorbing "multiply_absorbing",
    }
}

kinds! {
    /// Functions of three elements of one floating dtype.
    TernaryKind {
        BetaInc "betainc",
        // x^(a-1) (1-x)^(b-1) / B(a, b), for the derivative rules of the incomplete beta function.
        BetaDensity "beta_density",
        // Derivatives of the incomplete beta function with respect to a and b.
        BetaIncSlopeA "betainc_slope_a", BetaIncSlopeB "betainc_slope_b",
    }
}

kinds! {
    /// Reductions of many elements to one.
    ReduceKind { Sum "sum", Prod "prod", Min "min", Max "max", All "all", Any "any", Mean "mean" }
}

kinds! {
    /// Reductions that return the index of an element.
    ArgReduceKind { ArgMin "argmin", ArgMax "argmax" }
}

kinds! {
    /// Reductions that return every partial result (cumulative operations).
    ScanKind {
        Sum "cumsum", Prod "cumprod", Max "cummax", Min "cummin", LogSumExp "logcumsumexp",
    }
}

kinds! {
    /// The end of the axis at which a scan begins.
    ScanDirection { Forward "forward", Reverse "reverse" }
}

kinds! {
    /// Whether each result of a scan includes the element at its own index.
    ScanExtent { Inclusive "inclusive", Exclusive "exclusive" }
}

kinds! {
    /// How a scatter combines an update with the existing element.
    ScatterKind { Set "set", Add "add", Multiply "multiply", Maximum "maximum", Minimum "minimum" }
}

kinds! {
    /// The side of equal elements on which a value is inserted: before or after them.
    Side { Left "left", Right "right" }
}

kinds! {
    /// Order of a sort.
    SortOrder { Ascending "ascending", Descending "descending" }
}

kinds! {
    /// One end of an order.
    Extremum { Least "least", Greatest "greatest" }
}

kinds! {
    /// Formats of quantised weights: integer codes with a scale and a bias, or small floating-point codes with an 8-bit scale
    /// (OCP Microscaling Formats 1.0; NVFP4).
    QuantizationMode { Affine "affine", Mxfp4 "mxfp4", Mxfp8 "mxfp8", Nvfp4 "nvfp4" }
}

kinds! {
    /// The pairs of features that rotary positions rotate: adjacent ones, or feature `i` and `i` plus half the rotated features.
    Pairing { Neighbours "neighbours", Halves "halves" }
}

kinds! {
    /// The mask of an attention: none; causal, with the last query aligned to the last key; or an array, either a bool or an
    /// additive term for each score.
    Masking { Nothing "nothing", Causal "causal", Array "array" }
}

impl UnaryKind {
    /// Whether it returns bool for every input dtype.
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
    /// Whether it returns bool for every input dtype.
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

    /// Whether it compares its operands.
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

    /// Whether it returns floating point for every input dtype.
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
