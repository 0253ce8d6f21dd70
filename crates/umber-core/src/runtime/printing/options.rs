//! Options of printing, with NumPy's names.

/// The format of numbers and lines.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Style {
    /// MLX's: each number in its shortest form of six significant digits, one space between numbers.
    #[default]
    Mlx,
    /// NumPy's: numbers aligned in columns, with a common notation.
    Numpy,
}

/// Options of printing. Options that are `None` have the default of the style.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PrintOptions {
    /// The format of numbers and lines.
    pub style: Style,
    /// Decimals of floating-point numbers: exactly as many in MLX's style, at most as many in NumPy's.
    pub precision: Option<usize>,
    /// Arrays of more elements are abbreviated.
    pub threshold: Option<usize>,
    /// Number of elements shown at each end of an abbreviated axis.
    pub edgeitems: Option<usize>,
    /// Number of characters in a line.
    pub linewidth: Option<usize>,
    /// Write small numbers, and in NumPy's style numbers of different magnitudes, without exponents. Large ones have exponents.
    pub suppress: bool,
    /// Text of NaN.
    pub nanstr: Option<String>,
    /// Text of infinity.
    pub infstr: Option<String>,
}

impl PrintOptions {
    /// Decimals of floating-point numbers; `None` for the shortest form of MLX's style.
    pub fn precision(&self) -> Option<usize> {
        match self.style {
            Style::Mlx => self.precision,
            Style::Numpy => Some(self.precision.unwrap_or(8)),
        }
    }

    /// Arrays of more elements are abbreviated.
    pub fn threshold(&self) -> usize {
        self.threshold.unwrap_or(match self.style {
            Style::Mlx => 0,
            Style::Numpy => 1000,
        })
    }

    /// Number of elements shown at each end of an abbreviated axis.
    pub fn edgeitems(&self) -> usize {
        self.edgeitems.unwrap_or(3)
    }

    /// Number of characters in a line, or `None` if rows are not wrapped.
    pub fn linewidth(&self) -> Option<usize> {
        match self.style {
            Style::Mlx => self.linewidth,
            Style::Numpy => Some(self.linewidth.unwrap_or(75)),
        }
    }

    /// Text of NaN.
    pub fn nanstr(&self) -> &str {
        self.nanstr.as_deref().unwrap_or("nan")
    }

    /// Text of infinity.
    pub fn infstr(&self) -> &str {
        self.infstr.as_deref().unwrap_or("inf")
    }
}
