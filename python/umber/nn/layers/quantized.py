"""Quantised layers, and `quantize`, which replaces a model's layers by them.

One subject: layers that share one weight format and its base class.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import umber.core as mx
from umber import _layout
from umber.nn.layers.base import Module
from umber.nn.layers.input_errors import check_indices, check_last_axis
from umber.utils import tree_map_with_path

__all__ = ["QQLinear", "QuantizedEmbedding", "QuantizedLinear", "quantize"]

# Default group size and bits of each mode.
_DEFAULTS = {"affine": (64, 4), "mxfp4": (32, 4), "mxfp8": (32, 8), "nvfp4": (16, 4)}


def _format(op: str, mode: str, group_size: int | None, bits: int | None) -> tuple[int, int]:
    """Group size and bits of a mode; `mx.quantize` checks the values."""
    if mode not in _DEFAULTS:
        raise ValueError(f"[{op}] got mode {mode!r}, expected one of {', '.join(_DEFAULTS)}")
    default_size, default_bits = _DEFAULTS[mode]
    return (
        default_size if group_size is None else group_size,
        default_bits if bits is None else bits,
    )


class _Quantized(Module):
    """Base of modules with a quantised weight: `weight`, `scales` and, in affine mode, `biases`."""

    def __init__(self, mode: str, group_size: int | None, bits: int | None) -> None:
        super().__init__()
        self.group_size, self.bits = _format(type(self).__name__, mode, group_size, bits)
        self.mode = mode

    def _store(self, weight: mx.array) -> None:
        quantized = mx.quantize(weight, **self._format_options())
        self.weight, self.scales = quantized[:2]
        self.biases = quantized[2] if len(quantized) == 3 else None

    def _width(self) -> int:
        """Length of a row of the dequantised weight."""
        return self.weight.shape[-1] * 32 // self.bits

    def _format_options(self) -> dict[str, Any]:
        """The quantisation parameters as keyword arguments of `mx.quantize`."""
        return {"group_size": self.group_size, "bits": self.bits, "mode": self.mode}

    def _format_repr(self) -> str:
        return f"group_size={self.group_size}, bits={self.bits}, mode={self.mode}"


class _FrozenCodes(_Quantized):
    """Base of layers whose integer codes stay frozen, because optimizers cannot update them."""

    def _unfreeze_own(self, names: list[str] | None) -> None:
        super()._unfreeze_own(names)
        self._no_grad.update(
            name
            for name in ("weight", "scales")
            if not mx.issubdtype(getattr(self, name).dtype, mx.floating)
        )


class QuantizedEmbedding(_FrozenCodes):
    """Quantised form of `Embedding`.

    Parameters
    ----------
    num_embeddings : int
        Number of vectors.
    dims : int
        Size of each vector.
    group_size : int, optional
        Number of neighbouring elements that share a scale; divides `dims`. Default: that of the
        mode.
    bits : int, optional
        Bits per element. Default: that of the mode.
    mode : str, optional
        Quantisation mode, see `mx.quantize`. Default: `"affine"`.

    Attributes
    ----------
    weight : array of shape (num_embeddings, dims · bits / 32)
        Packed codes, uint32.
    scales : array of shape (num_embeddings, dims / group_size)
        Scales of the groups; float32 in mode `"affine"`, else uint8.
    biases : array of shape (num_embeddings, dims / group_size) or None
        Offsets of the groups; only in mode `"affine"`.
    num_embeddings, dims : int
        Shape of the dequantised table.
    group_size, bits : int
        Quantisation parameters.
    mode : str
        Quantisation mode.

    Raises
    ------
    ValueError
        If the mode, group size or bits do not exist, or if the group size does not divide `dims`.

    See Also
    --------
    Embedding, quantize, QuantizedLinear

    Notes
    -----
    The vectors are drawn like those of `Embedding`. All parameters are frozen; `unfreeze` leaves
    integer codes frozen.

    Shapes: integers `(...)` → `(..., dims)`.

    Examples
    --------
    >>> layer = nn.QuantizedEmbedding(100, 64)
    >>> layer(mx.array([3, 7])).shape
    (2, 64)
    >>> layer.weight.shape, layer.scales.shape
    ((100, 8), (100, 1))
    """

    def __init__(
        self,
        num_embeddings: int,
        dims: int,
        group_size: int | None = None,
        bits: int | None = None,
        mode: str = "affine",
    ) -> None:
        super().__init__(mode, group_size, bits)
        self.num_embeddings, self.dims = num_embeddings, dims
        scale = math.sqrt(1 / dims) if dims > 0 else 0.0
        self._store(mx.random.normal((num_embeddings, dims), scale=scale))
        self.freeze()

    def __call__(self, x: mx.array) -> mx.array:
        biases = self.biases
        try:
            codes = self.weight[x]
        except IndexError:
            check_indices(type(self).__name__, x)
            raise
        return mx.dequantize(
            codes,
            self.scales[x],
            None if biases is None else biases[x],
            **self._format_options(),
        )

    def as_linear(self, x: mx.array) -> mx.array:
        """Apply the table as a linear layer, `y = x @ weight.T`, to tie input and output layers.

        Parameters
        ----------
        x : array
            Input of shape `(..., dims)`.

        Returns
        -------
        array
            Shape `(..., num_embeddings)`.

        Raises
        ------
        ValueError
            If the last axis of `x` has another size than `dims`.

        Examples
        --------
        >>> layer = nn.QuantizedEmbedding(100, 64)
        >>> layer.as_linear(mx.zeros((2, 64))).shape
        (2, 100)
        """
        try:
            return mx.quantized_matmul(
                x, self.weight, self.scales, self.biases, **self._format_options()
            )
        except ValueError:
            check_last_axis("as_linear", x, self._width())
            raise

    def _extra_repr(self) -> str:
        return f"{self.num_embeddings}, {self.dims}, {self._format_repr()}"

    @classmethod
    def from_embedding(
        cls,
        embedding_layer: Module,
        group_size: int | None = None,
        bits: int | None = None,
        mode: str = "affine",
    ) -> QuantizedEmbedding:
        """Quantise an `Embedding`.

        Parameters
        ----------
        embedding_layer : Embedding
            Layer to quantise.
        group_size : int, optional
            Number of neighbouring elements that share a scale; divides `dims`. Default: that of the
            mode.
        bits : int, optional
            Bits per element. Default: that of the mode.
        mode : str, optional
            Quantisation mode, see `mx.quantize`. Default: `"affine"`.

        Returns
        -------
        QuantizedEmbedding
            A new layer.

        Raises
        ------
        ValueError
            If the mode, group size or bits do not exist, or if the group size does not divide
            `dims`.

        See Also
        --------
        nn.Embedding.to_quantized, quantize

        Examples
        --------
        >>> nn.QuantizedEmbedding.from_embedding(nn.Embedding(100, 64), bits=8)
        QuantizedEmbedding(100, 64, group_size=64, bits=8, mode=affine)
        """
        layer = cls(1, 128, group_size, bits, mode)
        layer.num_embeddings, layer.dims = embedding_layer.weight.shape
        layer._store(embedding_layer.weight)
        return layer


class QuantizedLinear(_FrozenCodes):
    """Quantised form of `Linear`.

    Parameters
    ----------
    input_dims : int
        Size of the input's last axis.
    output_dims : int
        Size of the output's last axis.
    bias : bool, optional
        Whether to add a bias. Default: True.
    group_size : int, optional
        Number of neighbouring elements that share a scale; divides `input_dims`. Default: that of
        the mode.
    bits : int, optional
        Bits per element. Default: that of the mode.
    mode : str, optional
        Quantisation mode, see `mx.quantize`. Default: `"affine"`.

    Attributes
    ----------
    weight : array of shape (output_dims, input_dims · bits / 32)
        Packed codes, uint32.
    scales : array of shape (output_dims, input_dims / group_size)
        Scales of the groups; float32 in mode `"affine"`, else uint8.
    biases : array of shape (output_dims, input_dims / group_size) or None
        Offsets of the groups; only in mode `"affine"`.
    bias : array of shape (output_dims,)
        Bias, initially zeros; absent if `bias` is False.
    group_size, bits : int
        Quantisation parameters.
    mode : str
        Quantisation mode.

    Raises
    ------
    ValueError
        If the mode, group size or bits do not exist, or if the group size does not divide
        `input_dims`.

    See Also
    --------
    Linear, mx.quantized_matmul, QQLinear, quantize

    Notes
    -----
    The matrix is drawn like that of `Linear`. All parameters are frozen, including `bias`;
    `unfreeze` leaves integer codes frozen.

    Shapes: `(..., input_dims)` → `(..., output_dims)`.

    Examples
    --------
    >>> layer = nn.QuantizedLinear(64, 8)
    >>> layer(mx.zeros((2, 64))).shape
    (2, 8)
    >>> layer.weight.shape, layer.scales.shape
    ((8, 8), (8, 1))
    """

    def __init__(
        self,
        input_dims: int,
        output_dims: int,
        bias: bool = True,
        group_size: int | None = None,
        bits: int | None = None,
        mode: str = "affine",
    ) -> None:
        super().__init__(mode, group_size, bits)
        s = math.sqrt(1 / input_dims) if input_dims > 0 else 0.0
        self._store(mx.random.uniform(-s, s, (output_dims, input_dims)))
        if bias:
            self.bias = mx.zeros((output_dims,))
        self.freeze()

    def _extra_repr(self) -> str:
        return (
            f"input_dims={self._width()}, output_dims={self.weight.shape[0]}, "
            f"bias={'bias' in self}, {self._format_repr()}"
        )

    def __call__(self, x: mx.array) -> mx.array:
        options = self._format_options()
        try:
            y = mx.quantized_matmul(x, self.weight, self.scales, self.biases, **options)
        except ValueError:
            check_last_axis(type(self).__name__, x, self._width())
            raise
        return y + self.bias if "bias" in self else y

    @classmethod
    def from_linear(
        cls,
        linear_layer: Module,
        group_size: int | None = None,
        bits: int | None = None,
        mode: str = "affine",
    ) -> QuantizedLinear:
        """Quantise a `Linear`.

        Parameters
        ----------
        linear_layer : Linear
            Layer to quantise. Its bias is copied unquantised.
        group_size : int, optional
            Number of neighbouring elements that share a scale; divides `input_dims`. Default: that
            of the mode.
        bits : int, optional
            Bits per element. Default: that of the mode.
        mode : str, optional
            Quantisation mode, see `mx.quantize`. Default: `"affine"`.

        Returns
        -------
        QuantizedLinear
            A new layer.

        Raises
        ------
        ValueError
            If the mode, group size or bits do not exist, or if the group size does not divide
            `input_dims`.

        See Also
        --------
        nn.Linear.to_quantized, quantize

        Examples
        --------
        >>> nn.QuantizedLinear.from_linear(nn.Linear(64, 8), bits=8)
        QuantizedLinear(input_dims=64, output_dims=8, bias=True, group_size=64, bits=8, mode=affine)
        """
        layer = cls(128, 1, False, group_size, bits, mode)
        layer._store(linear_layer.weight)
        if "bias" in linear_layer:
            layer.bias = linear_layer.bias
        return layer


class QQLinear(_Quantized):
    """Linear map without bias that quantises its matrix and its inputs.

    Parameters
    ----------
    input_dims : int
        Size of the input's last axis.
    output_dims : int
        Size of the output's last axis.
    group_size : int, optional
        Number of neighbouring elements that share a scale; divides `input_dims`. Default: that of
        the mode.
    bits : int, optional
        Bits per element. Default: that of the mode.
    mode : {"nvfp4", "mxfp8", "mxfp4"}, optional
        Quantisation mode. Default: `"nvfp4"`.

    Attributes
    ----------
    weight : array of shape (output_dims, input_dims)
        Matrix in training mode, initially float32 and drawn like that of `Linear`. In evaluation
        mode the packed codes, uint32, of shape `(output_dims, input_dims · bits / 32)`.
    scales : array of shape (output_dims, input_dims / group_size)
        Scales of the groups, uint8; only in evaluation mode.
    group_size, bits : int
        Quantisation parameters.
    mode : str
        Quantisation mode.

    Raises
    ------
    ValueError
        If `mode` does not exist.

    See Also
    --------
    mx.qqmm, QuantizedLinear

    Notes
    -----
    In training mode each call quantises `weight`. `eval` stores `weight` quantised, and `train`
    dequantises it to bfloat16.

    Shapes: `(..., input_dims)` → `(..., output_dims)`.

    Examples
    --------
    >>> layer = nn.QQLinear(64, 8)
    >>> layer(mx.zeros((2, 64))).shape
    (2, 8)
    >>> layer.weight.dtype, layer.eval().weight.dtype
    (umber.core.float32, umber.core.uint32)
    """

    def __init__(
        self,
        input_dims: int,
        output_dims: int,
        group_size: int | None = None,
        bits: int | None = None,
        mode: str = "nvfp4",
    ) -> None:
        super().__init__(mode, group_size, bits)
        s = math.sqrt(1 / input_dims) if input_dims > 0 else 0.0
        self.weight = mx.random.uniform(-s, s, (output_dims, input_dims))
        self._quantized = False

    def _extra_repr(self) -> str:
        output_dims, width = self.weight.shape
        input_dims = self._width() if self._quantized else width
        return f"input_dims={input_dims}, output_dims={output_dims}, {self._format_repr()}"

    def quantize(self) -> None:
        """Store the weight quantised.

        See Also
        --------
        QQLinear.dequantize

        Notes
        -----
        Does nothing if the weight is quantised. `eval` calls this method.

        Examples
        --------
        >>> layer = nn.QQLinear(64, 8)
        >>> layer.quantize()
        >>> layer.weight.shape, layer.scales.shape
        ((8, 8), (8, 4))
        """
        if not self._quantized:
            self.weight, self.scales = mx.quantize(self.weight, **self._format_options())
            self._quantized = True

    def dequantize(self) -> None:
        """Convert the weight from codes to bfloat16.

        See Also
        --------
        QQLinear.quantize

        Notes
        -----
        Does nothing if the weight is not quantised. `train` calls this method.

        Examples
        --------
        >>> layer = nn.QQLinear(64, 8)
        >>> layer.quantize()
        >>> layer.dequantize()
        >>> layer.weight.shape, layer.weight.dtype
        ((8, 64), umber.core.bfloat16)
        """
        if self._quantized:
            self.weight = mx.dequantize(self.weight, self.scales, None, **self._format_options())
            del self.scales
            self._quantized = False

    def _set_training_mode(self, mode: bool) -> None:
        super()._set_training_mode(mode)
        if mode:
            self.dequantize()
        else:
            self.quantize()

    def __call__(self, x: mx.array) -> mx.array:
        scales = self.scales if self._quantized else None
        try:
            return mx.qqmm(x, self.weight, scales, **self._format_options())
        except ValueError:
            width = self._width() if self._quantized else self.weight.shape[-1]
            check_last_axis(type(self).__name__, x, width)
            raise

    @classmethod
    def from_linear(
        cls,
        linear_layer: Module,
        group_size: int | None = None,
        bits: int | None = None,
        mode: str = "nvfp4",
    ) -> QQLinear:
        """Quantise a `Linear` without bias, and its inputs.

        Parameters
        ----------
        linear_layer : Linear
            Layer to quantise, without bias.
        group_size : int, optional
            Number of neighbouring elements that share a scale; divides `input_dims`. Default: that
            of the mode.
        bits : int, optional
            Bits per element. Default: that of the mode.
        mode : {"nvfp4", "mxfp8", "mxfp4"}, optional
            Quantisation mode. Default: `"nvfp4"`.

        Returns
        -------
        QQLinear
            A new layer, in the training or evaluation mode of `linear_layer`.

        Raises
        ------
        NotImplementedError
            If the layer has a bias.
        ValueError
            If `mode` does not exist.

        See Also
        --------
        nn.Linear.to_quantized, quantize

        Examples
        --------
        >>> nn.QQLinear.from_linear(nn.Linear(64, 8, bias=False))
        QQLinear(input_dims=64, output_dims=8, group_size=16, bits=4, mode=nvfp4)
        """
        if "bias" in linear_layer:
            raise NotImplementedError(
                "[QQLinear] the layer must not have a bias: products of two quantised operands "
                "take no bias"
            )
        layer = cls(0, 0, group_size, bits, mode)
        layer.weight = linear_layer.weight
        layer._set_training_mode(linear_layer.training)
        return layer


def quantize(
    model: Module,
    group_size: int | None = None,
    bits: int | None = None,
    *,
    mode: str = "affine",
    quantize_input: bool = False,
    class_predicate: Callable[[str, Module], bool | dict | None] | None = None,
) -> None:
    """Replace layers of a model by their quantised forms, in place.

    Parameters
    ----------
    model : Module
        Model to change.
    group_size : int, optional
        Number of neighbouring elements that share a scale. Default: that of the mode.
    bits : int, optional
        Bits per element. Default: that of the mode.
    mode : str, optional
        Quantisation mode, see `mx.quantize`. Default: `"affine"`.
    quantize_input : bool, optional
        Whether inputs of layers are quantised, too. Only for `Linear` layers without bias, in modes
        `"nvfp4"` and `"mxfp8"`. Default: False.
    class_predicate : callable, optional
        Called as `class_predicate(path, layer)`. It returns whether to quantise the layer, or a
        dict of arguments for the layer's `to_quantized`. Default: whether the layer has a method
        `to_quantized`.

    Raises
    ------
    ValueError
        If a layer cannot be quantised, or if `class_predicate` selects a layer without
        `to_quantized` or returns another type. No layer is replaced then.
    NotImplementedError
        If `quantize_input` is True and a selected layer has a bias.

    See Also
    --------
    mx.quantize, nn.Linear.to_quantized, QuantizedEmbedding, QuantizedLinear

    Notes
    -----
    A layer with several paths in the model stays one layer, unless `class_predicate` returns
    different values for the paths. Without `group_size` and `bits`, `"affine"` uses groups of 64
    and 4 bits, `"mxfp4"` 32 and 4, `"mxfp8"` 32 and 8, `"nvfp4"` 16 and 4.

    Examples
    --------
    >>> model = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 8))
    >>> nn.quantize(model, class_predicate=lambda path, layer: path == "layers.0")
    >>> model.layers[0]
    QuantizedLinear(input_dims=64, output_dims=32, bias=True, group_size=64, bits=4, mode=affine)
    """
    options = {
        "group_size": group_size,
        "bits": bits,
        "mode": mode,
        "quantize_input": quantize_input,
    }
    predicate = class_predicate or (lambda _, layer: hasattr(layer, "to_quantized"))
    # A module at several paths stays shared, unless the predicate differs between the paths.
    replacements: dict[int, list[tuple[bool | dict, Module]]] = {}

    def replacement(path: str, layer: Module) -> Module:
        choice = predicate(path, layer)
        if not choice:
            return layer
        if not isinstance(choice, (bool, dict)):
            raise ValueError(
                f"[quantize] got {type(choice).__name__} from class_predicate for {path!r}, "
                "expected a bool or a dict of arguments of to_quantized"
            )
        if not hasattr(layer, "to_quantized"):
            raise ValueError(
                f"[quantize] got {type(layer).__name__} at {path!r}, "
                "expected a layer that has to_quantized"
            )
        arguments = dict(choice if isinstance(choice, dict) else options)
        # The `to_quantized` of custom layers may lack this argument.
        if not arguments.get("quantize_input", True):
            del arguments["quantize_input"]
        known = replacements.setdefault(id(layer), [])
        for earlier, module in known:
            if earlier == choice:
                return module
        try:
            module = layer.to_quantized(**arguments)
        except (TypeError, ValueError, NotImplementedError) as error:
            head, bracket, rest = str(error).partition("] ")
            if head.startswith("[") and bracket:
                error.args = (f"[quantize] {path}: {rest}",)
            raise
        known.append((choice, module))
        return module

    layers = model.leaf_modules()
    model.update_modules(tree_map_with_path(replacement, layers, is_leaf=Module.is_module))


_layout.complete(globals())
