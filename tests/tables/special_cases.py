"""Results that the array API standard prescribes for infinities, zeros, NaN and the like.

One line a case: arguments, `->`, results, of which any will do. `+0` and `-0` differ. Of functions
of complex numbers a component `x` may be anything, one with `±` may have either sign.
"""

REAL = {
    "abs": "nan -> nan; -0 -> +0; -inf -> inf",
    "acos": "nan -> nan; 2 -> nan; -2 -> nan; 1 -> +0",
    "acosh": "nan -> nan; 0.5 -> nan; 1 -> +0; inf -> inf",
    "asin": "nan -> nan; 2 -> nan; -2 -> nan; +0 -> +0; -0 -> -0",
    "asinh": "nan -> nan; +0 -> +0; -0 -> -0; inf -> inf; -inf -> -inf",
    "atan": "nan -> nan; +0 -> +0; -0 -> -0; inf -> pi/2; -inf -> -pi/2",
    "atanh": "nan -> nan; -2 -> nan; 2 -> nan; -1 -> -inf; 1 -> inf; +0 -> +0; -0 -> -0",
    "ceil": "3 -> 3; inf -> inf; -inf -> -inf; +0 -> +0; -0 -> -0; nan -> nan; -0.5 -> -0",
    "cos": "nan -> nan; +0 -> 1; -0 -> 1; inf -> nan; -inf -> nan",
    "cosh": "nan -> nan; +0 -> 1; -0 -> 1; inf -> inf; -inf -> inf",
    "exp": "nan -> nan; +0 -> 1; -0 -> 1; inf -> inf; -inf -> +0",
    "expm1": "nan -> nan; +0 -> +0; -0 -> -0; inf -> inf; -inf -> -1",
    "floor": "-3 -> -3; inf -> inf; -inf -> -inf; +0 -> +0; -0 -> -0; nan -> nan",
    "log": "nan -> nan; -1 -> nan; +0 -> -inf; -0 -> -inf; 1 -> +0; inf -> inf",
    "log1p": "nan -> nan; -2 -> nan; -1 -> -inf; -0 -> -0; +0 -> +0; inf -> inf",
    "log2": "nan -> nan; -1 -> nan; +0 -> -inf; -0 -> -inf; 1 -> +0; inf -> inf",
    "log10": "nan -> nan; -1 -> nan; +0 -> -inf; -0 -> -inf; 1 -> +0; inf -> inf",
    "reciprocal": "nan -> nan; inf -> +0; -inf -> -0; +0 -> inf; -0 -> -inf",
    "round": "2.5 -> 2; 3.5 -> 4; -0 -> -0; +0 -> +0; inf -> inf; -inf -> -inf; nan -> nan",
    "sign": "-2.5 -> -1; -0 -> +0; +0 -> +0; 7 -> 1; nan -> nan; inf -> 1; -inf -> -1",
    "signbit": "+0 -> False; -0 -> True; inf -> False; -inf -> True; 2 -> False; -2 -> True",
    "sin": "nan -> nan; +0 -> +0; -0 -> -0; inf -> nan; -inf -> nan",
    "sinh": "nan -> nan; +0 -> +0; -0 -> -0; inf -> inf; -inf -> -inf",
    "sqrt": "nan -> nan; -1 -> nan; +0 -> +0; -0 -> -0; inf -> inf",
    "square": "nan -> nan; -0 -> +0; -inf -> inf",
    "tan": "nan -> nan; +0 -> +0; -0 -> -0; inf -> nan; -inf -> nan",
    "tanh": "nan -> nan; +0 -> +0; -0 -> -0; inf -> 1; -inf -> -1",
    "trunc": "-2.5 -> -2; inf -> inf; -inf -> -inf; +0 -> +0; -0 -> -0; nan -> nan; -0.5 -> -0",
    "isfinite": "nan -> False; inf -> False; -inf -> False; 1 -> True; -0 -> True",
    "isinf": "nan -> False; inf -> True; -inf -> True; 1 -> False",
    "isnan": "nan -> True; inf -> False; 1 -> False",
    "add": """
        nan, 1 -> nan; inf, -inf -> nan; -inf, inf -> nan; inf, inf -> inf; -inf, -inf -> -inf;
        inf, 1 -> inf; 1, -inf -> -inf; -0, -0 -> -0; -0, +0 -> +0; +0, -0 -> +0; +0, +0 -> +0;
        -0, 2 -> 2; 2, -2 -> +0
    """,
    "subtract": "inf, inf -> nan; -0, +0 -> -0; +0, +0 -> +0; 2, 2 -> +0; 1, inf -> -inf",
    "multiply": """
        nan, 1 -> nan; inf, +0 -> nan; -inf, -0 -> nan; +0, inf -> nan; inf, -inf -> -inf;
        -inf, -2 -> inf; -2, +0 -> -0; -2, -0 -> +0
    """,
    "divide": """
        nan, 1 -> nan; inf, -inf -> nan; +0, -0 -> nan; +0, 2 -> +0; +0, -2 -> -0; -0, 2 -> -0;
        -0, -2 -> +0; 2, +0 -> inf; 2, -0 -> -inf; -2, +0 -> -inf; -2, -0 -> inf; inf, 2 -> inf;
        inf, -2 -> -inf; -inf, 2 -> -inf; -inf, -2 -> inf; 2, inf -> +0; 2, -inf -> -0;
        -2, inf -> -0; -2, -inf -> +0
    """,
    "floor_divide": """
        nan, 1 -> nan; 1, nan -> nan; inf, inf -> nan; -inf, inf -> nan; +0, +0 -> nan;
        -0, +0 -> nan; 2, +0 -> inf; 2, -0 -> -inf; -2, +0 -> -inf; -2, -0 -> inf; +0, 2 -> +0;
        -0, 2 -> -0; +0, -2 -> -0; -0, -2 -> +0; inf, 2 -> inf; inf, -2 -> -inf; -inf, 2 -> -inf;
        -inf, -2 -> inf; 2, inf -> +0; 2, -inf -> -0; -2, inf -> -0; -2, -inf -> +0; 7, 2 -> 3;
        -7, 2 -> -4
    """,
    "remainder": """
        nan, 1 -> nan; 1, nan -> nan; inf, 2 -> nan; -inf, inf -> nan; +0, +0 -> nan; 2, +0 -> nan;
        -2, -0 -> nan; +0, 2 -> +0; -0, 2 -> +0; +0, -2 -> -0; -0, -2 -> -0; 2, inf -> 2;
        2, -inf -> -inf; -2, inf -> inf; -2, -inf -> -2; 4, 2 -> +0; -4, -2 -> -0; 4, -2 -> -0;
        -4, 2 -> +0
    """,
    "pow": """
        2, nan -> nan; 7, +0 -> 1; nan, -0 -> 1; nan, 2 -> nan; 2, inf -> inf; 2, -inf -> +0;
        1, inf -> 1; 1, -inf -> 1; 0.5, inf -> +0; 0.5, -inf -> inf; -0.5, inf -> +0;
        -2, inf -> inf; inf, 2 -> inf; inf, -2 -> +0; -inf, 3 -> -inf; -inf, 2 -> inf;
        -inf, 2.5 -> inf; -inf, -3 -> -0; -inf, -2 -> +0; +0, 2 -> +0; +0, -2 -> inf;
        -0, 3 -> -0; -0, 2 -> +0; -0, -3 -> -inf; -0, -2 -> inf; -0, 2.5 -> +0; -0, -2.5 -> inf;
        -2, 0.5 -> nan; -1, inf -> 1
    """,
    "atan2": """
        nan, 1 -> nan; 1, +0 -> pi/2; 1, -0 -> pi/2; +0, 1 -> +0; +0, +0 -> +0; +0, -0 -> pi;
        +0, -1 -> pi; -0, 1 -> -0; -0, +0 -> -0; -0, -0 -> -pi; -0, -1 -> -pi; -1, +0 -> -pi/2;
        1, inf -> +0; 1, -inf -> pi; -1, inf -> -0; -1, -inf -> -pi; inf, 1 -> pi/2;
        -inf, 1 -> -pi/2; inf, inf -> pi/4; inf, -inf -> 3*pi/4; -inf, inf -> -pi/4;
        -inf, -inf -> -3*pi/4
    """,
    "hypot": """
        inf, nan -> inf; nan, -inf -> inf; nan, 1 -> nan; -inf, 2 -> inf; -0, +0 -> +0; -0, -3 -> 3
    """,
    "copysign": "2, -0 -> -2; -2, +0 -> 2; nan, 1 -> nan; 2, -inf -> -2; -0, 3 -> +0",
    "nextafter": "nan, 1 -> nan; 1, nan -> nan; -0, +0 -> +0; +0, -0 -> -0",
    "logaddexp": "nan, 1 -> nan; inf, 1 -> inf; 1, inf -> inf; -inf, 2 -> 2; -inf, -inf -> -inf",
    "maximum": "nan, 1 -> nan; 1, nan -> nan; -inf, inf -> inf",
    "minimum": "nan, 1 -> nan; 1, nan -> nan; -inf, inf -> -inf",
}

# Real and imaginary part; functions of conjugates are conjugates of functions, or minus them.
COMPLEX = {
    "exp": """
        +0 +0 -> 1 +0; -0 +0 -> 1 +0; 1 inf -> nan nan; 1 nan -> nan nan; inf +0 -> inf +0;
        -inf 1 -> +0 +0; inf inf -> ±inf nan; -inf inf -> ±0 ±0; inf nan -> ±inf nan;
        -inf nan -> ±0 ±0; nan +0 -> nan +0; nan 1 -> nan nan; nan nan -> nan nan
    """,
    "expm1": """
        +0 +0 -> +0 +0; -0 +0 -> +0 +0; 1 inf -> nan nan; 1 nan -> nan nan; inf +0 -> inf +0;
        -inf 1 -> -1 +0; inf inf -> ±inf nan; -inf inf -> -1 ±0; inf nan -> ±inf nan;
        -inf nan -> -1 ±0; nan +0 -> nan +0; nan 1 -> nan nan; nan nan -> nan nan
    """,
    "log": """
        -0 +0 -> -inf pi; +0 +0 -> -inf +0; 1 inf -> inf pi/2; 1 nan -> nan nan; -inf 1 -> inf pi;
        inf 1 -> inf +0; -inf inf -> inf 3*pi/4; inf inf -> inf pi/4; inf nan -> inf nan;
        -inf nan -> inf nan; nan 1 -> nan nan; nan inf -> inf nan; nan nan -> nan nan
    """,
    "sqrt": """
        +0 +0 -> +0 +0; -0 +0 -> +0 +0; 1 inf -> inf inf; nan inf -> inf inf; 1 nan -> nan nan;
        -inf 1 -> +0 inf; inf 1 -> inf +0; -inf nan -> nan ±inf; inf nan -> inf nan;
        nan 1 -> nan nan; nan nan -> nan nan
    """,
    "sinh": """
        +0 +0 -> +0 +0; +0 inf -> ±0 nan; +0 nan -> ±0 nan; 1 inf -> nan nan; 1 nan -> nan nan;
        inf +0 -> inf +0; inf inf -> ±inf nan; inf nan -> ±inf nan; nan +0 -> nan +0;
        nan 1 -> nan nan; nan nan -> nan nan
    """,
    "cosh": """
        +0 +0 -> 1 +0; +0 inf -> nan ±0; +0 nan -> nan ±0; 1 inf -> nan nan; 1 nan -> nan nan;
        inf +0 -> inf +0; inf inf -> ±inf nan; inf nan -> inf nan; nan +0 -> nan ±0;
        nan 1 -> nan nan; nan nan -> nan nan
    """,
    "tanh": """
        +0 +0 -> +0 +0; 1 inf -> nan nan; 1 nan -> nan nan; inf 1 -> 1 +0; inf 2 -> 1 +0;
        inf inf -> 1 ±0; inf nan -> 1 ±0; nan +0 -> nan +0; nan 1 -> nan nan; nan nan -> nan nan;
        +0 inf -> +0 nan; +0 nan -> +0 nan
    """,
    "asinh": """
        +0 +0 -> +0 +0; 1 inf -> inf pi/2; 1 nan -> nan nan; inf 1 -> inf +0; inf inf -> inf pi/4;
        inf nan -> inf nan; nan +0 -> nan +0; nan 1 -> nan nan; nan inf -> ±inf nan;
        nan nan -> nan nan
    """,
    "acosh": """
        +0 +0 -> +0 pi/2; -0 +0 -> +0 pi/2; 1 inf -> inf pi/2; +0 nan -> nan ±pi/2;
        1 nan -> nan nan; -inf 1 -> inf pi; inf 1 -> inf +0; -inf inf -> inf 3*pi/4;
        inf inf -> inf pi/4; inf nan -> inf nan; -inf nan -> inf nan; nan 1 -> nan nan;
        nan inf -> inf nan; nan nan -> nan nan
    """,
    "atanh": """
        +0 +0 -> +0 +0; +0 nan -> +0 nan; 1 +0 -> inf +0; 1 inf -> +0 pi/2; 1 nan -> nan nan;
        inf 1 -> +0 pi/2; inf inf -> +0 pi/2; inf nan -> +0 nan; nan 1 -> nan nan;
        nan inf -> ±0 pi/2; nan nan -> nan nan
    """,
    "acos": """
        +0 +0 -> pi/2 -0; -0 +0 -> pi/2 -0; +0 nan -> pi/2 nan; 1 inf -> pi/2 -inf;
        1 nan -> nan nan; -inf 1 -> pi -inf; inf 1 -> +0 -inf; -inf inf -> 3*pi/4 -inf;
        inf inf -> pi/4 -inf; inf nan -> nan ±inf; nan 1 -> nan nan; nan inf -> nan -inf;
        nan nan -> nan nan
    """,
    "sign": """
        +0 +0 -> +0 +0; -0 +0 -> +0 +0; +0 -0 -> +0 +0; -0 -0 -> +0 +0; nan 1 -> nan nan;
        1 nan -> nan nan; nan nan -> nan nan
    """,
}
