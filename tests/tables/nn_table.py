"""Layers to compare: how each is made and what it is called with. One table, many walkers."""

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np


class Shape(NamedTuple):
    """An input of normal numbers."""

    sizes: tuple[int, ...]


class Indices(NamedTuple):
    """An input of integers below a limit."""

    sizes: tuple[int, ...]
    limit: int


class Lower(NamedTuple):
    """A causal mask: additive, or booleans."""

    size: int
    additive: bool = True


def of(*sizes: int) -> Shape:
    return Shape(sizes)


@dataclass(frozen=True)
class Layer:
    """One way to make a layer and to call it."""

    name: str
    arguments: tuple = ()
    options: dict = field(default_factory=dict)
    inputs: tuple = (of(4, 6),)
    call: dict = field(default_factory=dict)
    evaluate: bool = False
    """Whether to call it in evaluation mode."""
    random: bool = False
    """Whether calls draw random numbers."""
    normal: bool = False
    """Whether weights are drawn from the normal distribution, which MLX rounds more."""
    factor: float = 1.0
    """How much wider the tolerances are, because more is added up."""
    differentiable: bool = True
    floating: bool = True
    """Whether MLX has the same in float16 and bfloat16; it refuses masks of another dtype."""
    activation: str | None = None
    """The name of the activation to make the layer with."""
    in_mlx: bool = True
    """Whether MLX has this layer with these options."""

    def __str__(self) -> str:
        options = [*map(repr, self.arguments), *(f"{k}={v}" for k, v in self.options.items())]
        options += [f"{k}={v}" for k, v in self.call.items()]
        options += [self.activation] if self.activation else []
        shapes = ", ".join(str(list(getattr(x, "sizes", x))) for x in self.inputs)
        return f"{self.name}({', '.join(options)}) of {shapes}" + (" eval" if self.evaluate else "")


def values_of(given: Any, rng: np.random.Generator) -> np.ndarray:
    """The NumPy array that an entry of `inputs` stands for."""
    if isinstance(given, Shape):
        return rng.normal(size=given.sizes).astype(np.float32)
    if isinstance(given, Indices):
        return rng.integers(0, given.limit, size=given.sizes).astype(np.int32)
    if isinstance(given, Lower):
        lower = np.tri(given.size, dtype=bool)
        return np.where(lower, 0, -1e9).astype(np.float32) if given.additive else lower
    return np.asarray(given)


def rows(name: str, *variants: tuple, **shared: Any) -> list[Layer]:
    """The variants `(arguments, options)` of one layer, all with the same inputs."""
    return [Layer(name, arguments, options, **shared) for arguments, options in variants]


SEQUENCE, IMAGE, VOLUME = of(2, 9, 4), of(2, 7, 8, 4), of(2, 5, 6, 4, 4)

LAYERS: list[Layer] = [
    Layer("Identity"),
    Layer("Linear", (6, 3)),
    Layer("Linear", (6, 3), {"bias": False}, (of(2, 5, 6),)),
    Layer("Bilinear", (2, 3, 4), {}, (of(5, 2), of(5, 3))),
    Layer("Bilinear", (2, 3, 4), {"bias": False}, (of(2, 5, 2), of(2, 5, 3))),
    Layer("Embedding", (9, 4), {}, (Indices((3, 5), 9),), normal=True, differentiable=False),
    *(
        Layer(name, (), {}, (of(4, 6),))
        for name in (
            *("CELU", "ELU", "GELU", "GLU", "HardShrink", "HardTanh", "Hardswish", "LeakyReLU"),
            *("LogSigmoid", "LogSoftmax", "Mish", "PReLU", "ReLU", "ReLU2", "ReLU6", "SELU"),
            *("SiLU", "Sigmoid", "Softmax", "Softmin", "Softplus", "Softshrink", "Softsign"),
            "Tanh",
        )
    ),
    Layer("Step", differentiable=False),
    Layer("Step", (0.5,), differentiable=False),
    *rows("GELU", (("tanh",), {}), (("precise",), {}), (("fast",), {})),
    *rows("CELU", ((2.0,), {}), ((), {"alpha": 0.5})),
    *rows("ELU", ((2.0,), {})),
    *rows("LeakyReLU", ((0.2,), {})),
    *rows("HardShrink", ((1.0,), {})),
    *rows("Softshrink", ((1.0,), {})),
    Layer("PReLU", (6, 0.1)),
    Layer("GLU", (0,)),
    Layer("Dropout", (0.4,), random=True),
    Layer("Dropout", (0.4,), evaluate=True),
    Layer("Dropout2d", (0.4,), {}, (IMAGE,), random=True),
    Layer("Dropout2d", (0.4,), {}, (of(7, 8, 4),), random=True),
    Layer("Dropout3d", (0.4,), {}, (VOLUME,), random=True),
    # Normalisation
    *rows("LayerNorm", ((6,), {}), ((6,), {"bias": False, "eps": 1e-3}), ((6,), {"affine": False})),
    *rows("RMSNorm", ((6,), {}), ((6,), {"eps": 0.1})),
    *(
        Layer("BatchNorm", (shape.sizes[-1],), options, (shape,), evaluate=evaluate, factor=4)
        for shape in (of(8, 6), SEQUENCE, IMAGE)
        for options in ({}, {"affine": False, "momentum": 0.4}, {"track_running_stats": False})
        for evaluate in (False, True)
    ),
    *rows(
        "GroupNorm",
        ((2, 4), {}),
        ((2, 4), {"pytorch_compatible": True}),
        ((4, 4), {"affine": False, "eps": 1e-3}),
        ((1, 4), {"pytorch_compatible": True}),
        inputs=(IMAGE,),
        factor=4,
    ),
    Layer("GroupNorm", (2, 4), {}, (of(3, 4),), factor=4),
    *rows("InstanceNorm", ((4,), {}), ((4,), {"affine": True}), inputs=(IMAGE,), factor=4),
    Layer("InstanceNorm", (4,), {"affine": True, "eps": 0.1}, (SEQUENCE,), factor=4),
    # Convolution
    *rows(
        "Conv1d",
        ((4, 6, 3), {}),
        ((4, 6, 3), {"stride": 2, "padding": 1, "bias": False}),
        ((4, 6, 2), {"dilation": 2, "groups": 2}),
        inputs=(SEQUENCE,),
        factor=4,
    ),
    *rows(
        "Conv2d",
        ((4, 6, 3), {}),
        ((4, 6, (3, 2)), {"stride": (2, 1), "padding": (1, 0), "bias": False}),
        ((4, 6, 2), {"dilation": 2, "groups": 2, "padding": 1}),
        ((4, 8, 3), {"groups": 4, "dilation": (1, 2)}),
        inputs=(IMAGE,),
        factor=4,
    ),
    *rows(
        "Conv3d",
        ((4, 3, 2), {}),
        ((4, 3, (2, 3, 1)), {"stride": (1, 2, 2), "padding": (1, 0, 0), "bias": False}),
        inputs=(VOLUME,),
        factor=4,
    ),
    *rows(
        "ConvTranspose1d",
        ((4, 6, 3), {}),
        ((4, 6, 3), {"stride": 2, "padding": 1, "output_padding": 1, "bias": False}),
        inputs=(SEQUENCE,),
        factor=4,
    ),
    *rows(
        "ConvTranspose2d",
        ((4, 6, 3), {}),
        ((4, 6, (3, 2)), {"stride": (2, 3), "padding": (1, 0), "output_padding": (1, 0)}),
        ((4, 6, 2), {"dilation": 2, "bias": False}),
        inputs=(IMAGE,),
        factor=4,
    ),
    *rows(
        "ConvTranspose3d",
        ((4, 3, 2), {}),
        ((4, 3, 2), {"stride": 2, "padding": 1, "output_padding": 1}),
        inputs=(VOLUME,),
        factor=4,
    ),
    *(
        Layer(f"Conv{axes}d", (4, 3, 2), {"padding": "same", "dilation": 3}, (shape,), in_mlx=False)
        for axes, shape in enumerate((SEQUENCE, IMAGE, VOLUME), start=1)
    ),
    # Shapes
    *rows("Flatten", ((), {}), ((0, 1), {}), ((), {"end_axis": 2}), inputs=(IMAGE,), in_mlx=False),
    *rows("Unflatten", ((2, (2, -1)), {}), ((-1, 4), {}), inputs=(SEQUENCE,), in_mlx=False),
    # Pooling
    *(
        Layer(f"{kind}Pool{axes}d", (2,), options, (shape,))
        for kind in ("Max", "Avg")
        for axes, shape in enumerate((SEQUENCE, IMAGE, VOLUME), start=1)
        for options in ({}, {"stride": 1}, {"stride": 3, "padding": 1}, {"padding": 1})
    ),
    *rows("MaxPool2d", (((2, 3), (1, 2), (0, 1)), {}), ((3, 2, 1), {}), inputs=(IMAGE,)),
    *rows("AvgPool2d", (((2, 3), (1, 2), (0, 1)), {}), ((3, 2, 1), {}), inputs=(IMAGE,)),
    # Positions
    *rows(
        "RoPE",
        ((8,), {}),
        ((8,), {"traditional": True}),
        ((4,), {"base": 100, "scale": 0.5}),
        ((6,), {"traditional": True, "base": 100, "scale": 2.0}),
        inputs=(of(2, 3, 5, 8),),
        factor=4,
    ),
    Layer("RoPE", (8,), {}, (of(3, 5, 8),), {"offset": 7}, factor=4),
    Layer("RoPE", (8, True), {}, (of(3, 5, 8),), {"offset": -2}, factor=4),
    Layer("RoPE", (4,), {}, (of(2, 3, 5, 8), np.array([3, 11])), factor=4, floating=False),
    *rows(
        "SinusoidalPositionalEncoding",
        ((6,), {}),
        ((2,), {}),
        ((8, 0.01, 10.0, 2.0), {"cos_first": True, "full_turns": True}),
        inputs=(of(2, 5),),
        factor=16,
    ),
    Layer("SinusoidalPositionalEncoding", (6,), {}, (Indices((7,), 20),), differentiable=False),
    Layer("ALiBi", (), {}, (of(2, 4, 3, 5),)),
    Layer("ALiBi", (), {}, (of(1, 6, 3, 5),), {"offset": 2}),
    Layer("ALiBi", (), {}, (of(1, 3, 4, 4), np.array(1), Lower(4))[:1], {"offset": 1}),
    # Recurrence
    *(
        Layer(name, (4, 5), options, (shape,), factor=8)
        for name in ("RNN", "LSTM", "GRU")
        for shape, options in ((SEQUENCE, {}), (SEQUENCE, {"bias": False}), (of(6, 4), {}))
    ),
    *(Layer(name, (4, 5), {}, (SEQUENCE, of(2, 5)), factor=8) for name in ("RNN", "LSTM", "GRU")),
    Layer("LSTM", (4, 5), {}, (SEQUENCE, of(2, 5), of(2, 5)), factor=8),
    Layer("RNN", (4, 5), {}, (SEQUENCE,), factor=8, activation="relu"),
    # Attention
    Layer("MultiHeadAttention", (8, 2), {}, (of(2, 3, 8), of(2, 5, 8), of(2, 5, 8)), factor=8),
    Layer(
        "MultiHeadAttention",
        (8, 2, 3, 4, 5, 6, 7),
        {"bias": True},
        (of(2, 3, 3), of(2, 5, 4), of(2, 5, 5)),
        factor=8,
    ),
    *(
        Layer(
            "MultiHeadAttention", (8, 4), {}, (*[of(2, 5, 8)] * 3, mask), factor=8, floating=False
        )
        for mask in (Lower(5), Lower(5, additive=False))
    ),
    Layer("MultiHeadAttention", (8, 4), {}, (of(2, 5, 8),) * 3, {"mask": "causal"}, factor=8),
    *(
        Layer(
            name,
            arguments,
            {"norm_first": norm_first, **options},
            (of(2, 5, 8), *more),
            factor=16,
            floating=False,
            random="dropout" in options,
            activation=activation,
        )
        for name, arguments, more in (
            ("TransformerEncoderLayer", (8, 2), (Lower(5),)),
            ("TransformerDecoderLayer", (8, 2, 12), (of(2, 5, 8), Lower(5), Lower(5))),
            ("TransformerEncoder", (2, 8, 2), (Lower(5),)),
            ("TransformerDecoder", (2, 8, 2), (of(2, 5, 8), Lower(5), Lower(5))),
            ("Transformer", (8, 2, 1, 2), (of(2, 5, 8), Lower(5), Lower(5), Lower(5))),
        )
        for norm_first, options, activation in (
            (True, {}, None),
            (False, {}, "gelu"),
            (True, {"dropout": 0.25}, None),
            (False, {"dropout": 0.25}, None),
        )
    ),
    # Interpolation
    *(
        Layer("Upsample", (factor, mode), {"align_corners": align}, (shape,), factor=8)
        for factor, shape in ((2, SEQUENCE), (1.5, IMAGE), ((0.5, 3), IMAGE), (2, VOLUME))
        for mode, align in (
            ("nearest", False),
            ("linear", False),
            ("linear", True),
            ("cubic", False),
            ("cubic", True),
        )
    ),
    *(
        Layer("Upsample", (factor, mode), {"antialias": True}, (IMAGE,), factor=8)
        for factor in (2, 0.5, (0.4, 1.5))
        for mode in ("linear", "cubic")
    ),
]
