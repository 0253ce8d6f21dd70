"""Layers with weights of few bits, and `quantize`, which turns a model's layers into them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import umber.core as mx
from umber.nn.layers.base import Module
from umber.utils import tree_map_with_path

__all__ = ["QQLinear", "QuantizedEmbedding", "QuantizedLinear", "quantize"]

# What is not given is the mode's usual value: group size and bits.
_USUAL = {"affine": (64, 4), "mxfp4": (32, 4), "mxfp8": (32, 8), "nvfp4": (16, 4)}


def _format(op: str, mode: str, group_size: int | None, bits: int | None) -> tuple[int, int]:
    """Group size and bits; whether they exist is said when something is quantised."""
    if mode not in _USUAL:
        raise ValueError(f"[{op}] got mode {mode!r}, expected one of {', '.join(_USUAL)}")
    usual_size, usual_bits = _USUAL[mode]
    return usual_size if group_size is None else group_size, usual_bits if bits is None else bits


class _Quantized(Module):
    """A module with a quantised weight: `weight`, `scales` and, in affine mode, `biases`."""

    def __init__(self, mode: str, group_size: int | None, bits: int | None) -> None:
        super().__init__()
        self.group_size, self.bits = _format(type(self).__name__, mode, group_size, bits)
        self.mode = mode

    def _store(self, weight: mx.array) -> None:
        parts = mx.quantize(weight, **self._parts())
        self.weight, self.scales = parts[:2]
        self.biases = parts[2] if len(parts) == 3 else None

    def _width(self) -> int:
        """Length of a row of what the weight stands for."""
        return self.weight.shape[-1] * 32 // self.bits

    def _parts(self) -> dict[str, Any]:
        """How the weight is stored, as functions take it."""
        return {"group_size": self.group_size, "bits": self.bits, "mode": self.mode}

    def _says(self) -> str:
        return f"group_size={self.group_size}, bits={self.bits}, mode={self.mode}"


class _FrozenCodes(_Quantized):
    """One whose codes nothing trains: no step of an optimizer leads from a code to another."""

    def _unfreeze_own(self, names: list[str] | None) -> None:
        super()._unfreeze_own(names)
        self._no_grad.update(
            name
            for name in ("weight", "scales")
            if not mx.issubdtype(getattr(self, name).dtype, mx.floating)
        )


class QuantizedEmbedding(_FrozenCodes):
    """An `Embedding` whose vectors are stored in few bits.

    Its parameters are frozen; `unfreeze` leaves the codes frozen.

    Shapes: integers `(...)` → `(..., dims)`.

    Args:
        num_embeddings: number of vectors.
        dims: size of each vector.
        group_size: neighbours with one scale. Default: the mode's usual number.
        bits: bits of an element. Default: the mode's usual number.
        mode: how elements are stored, see `umber.core.quantize`. Default: `"affine"`.
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
        return mx.dequantize(
            self.weight[x],
            self.scales[x],
            None if biases is None else biases[x],
            **self._parts(),
        )

    def as_linear(self, x: mx.array) -> mx.array:
        """The table as a linear map, `y = x Wᵀ`, for tied input and output layers.

        Shapes: `(..., dims)` → `(..., num_embeddings)`.
        """
        return mx.quantized_matmul(x, self.weight, self.scales, self.biases, **self._parts())

    def _extra_repr(self) -> str:
        return f"{self.num_embeddings}, {self.dims}, {self._says()}"

    @classmethod
    def from_embedding(
        cls,
        embedding_layer: Module,
        group_size: int | None = None,
        bits: int | None = None,
        mode: str = "affine",
    ) -> QuantizedEmbedding:
        """The quantised form of an `Embedding`."""
        layer = cls(1, 128, group_size, bits, mode)
        layer.num_embeddings, layer.dims = embedding_layer.weight.shape
        layer._store(embedding_layer.weight)
        return layer


class QuantizedLinear(_FrozenCodes):
    """A `Linear` whose matrix is stored in few bits.

    Its parameters are frozen, the `bias` too; `unfreeze` leaves the codes frozen.

    Shapes: `(..., input_dims)` → `(..., output_dims)`.

    Args:
        input_dims: size of the input's last axis.
        output_dims: size of the output's last axis.
        bias: whether a vector is added. Default: `True`.
        group_size: neighbours with one scale. Default: the mode's usual number.
        bits: bits of an element. Default: the mode's usual number.
        mode: how elements are stored, see `umber.core.quantize`. Default: `"affine"`.
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
            f"bias={'bias' in self}, {self._says()}"
        )

    def __call__(self, x: mx.array) -> mx.array:
        y = mx.quantized_matmul(x, self.weight, self.scales, self.biases, **self._parts())
        return y + self.bias if "bias" in self else y

    @classmethod
    def from_linear(
        cls,
        linear_layer: Module,
        group_size: int | None = None,
        bits: int | None = None,
        mode: str = "affine",
    ) -> QuantizedLinear:
        """The quantised form of a `Linear`."""
        layer = cls(128, 1, False, group_size, bits, mode)
        layer._store(linear_layer.weight)
        if "bias" in linear_layer:
            layer.bias = linear_layer.bias
        return layer


class QQLinear(_Quantized):
    """A linear map without a bias that quantises its input, too.

    While it is trained, `weight` is a matrix of numbers that is quantised on the way; `eval` stores
    it quantised, `train` turns that into numbers again.

    Shapes: `(..., input_dims)` → `(..., output_dims)`.

    Args:
        input_dims: size of the input's last axis.
        output_dims: size of the output's last axis.
        group_size: neighbours with one scale. Default: the mode's usual number.
        bits: bits of an element. Default: the mode's usual number.
        mode: `"nvfp4"`, `"mxfp8"` or `"mxfp4"`. Default: `"nvfp4"`.
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
        return f"input_dims={input_dims}, output_dims={output_dims}, {self._says()}"

    def quantize(self) -> None:
        """Store the weight quantised."""
        if not self._quantized:
            self.weight, self.scales = mx.quantize(self.weight, **self._parts())
            self._quantized = True

    def dequantize(self) -> None:
        """Turn the weight into numbers again, in bfloat16."""
        if self._quantized:
            self.weight = mx.dequantize(self.weight, self.scales, None, **self._parts())
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
        return mx.qqmm(x, self.weight, scales, **self._parts())

    @classmethod
    def from_linear(
        cls,
        linear_layer: Module,
        group_size: int | None = None,
        bits: int | None = None,
        mode: str = "nvfp4",
    ) -> QQLinear:
        """The quantised form of a `Linear` without a bias."""
        if "bias" in linear_layer:
            raise NotImplementedError(
                "[QQLinear] got a layer with a bias, expected one without: products of two "
                "quantised operands have none"
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
    """Replace layers in `model` by their quantised forms: all that have `to_quantized`, or some.

    Nothing is replaced if one of them cannot be.

    Args:
        model: the model, changed in place.
        group_size: neighbours with one scale. Default: the mode's usual number.
        bits: bits of an element. Default: the mode's usual number.
        mode: how elements are stored, see `umber.core.quantize`. Default: `"affine"`.
        quantize_input: whether inputs of layers are quantised, too: of `Linear` layers without a
            bias, in modes `"nvfp4"` and `"mxfp8"`. Default: `False`.
        class_predicate: called with the path and each layer; answers whether to quantise it, or a
            dict of what to call its `to_quantized` with; what counts as false leaves it. Default:
            whether it has a `to_quantized`.
    """
    options = {
        "group_size": group_size,
        "bits": bits,
        "mode": mode,
        "quantize_input": quantize_input,
    }
    wanted = class_predicate or (lambda _, layer: hasattr(layer, "to_quantized"))
    # A module at several places stays one, unless the predicate answers differently for them.
    made: dict[int, list[tuple[bool | dict, Module]]] = {}

    def replaced(path: str, layer: Module) -> Module:
        answer = wanted(path, layer)
        if not answer:
            return layer
        if not isinstance(answer, (bool, dict)):
            raise ValueError(
                f"[quantize] got {type(answer).__name__} from class_predicate for {path!r}, "
                "expected a bool or a dict of arguments of to_quantized"
            )
        if not hasattr(layer, "to_quantized"):
            raise ValueError(
                f"[quantize] got {type(layer).__name__} at {path!r}, "
                "expected a layer that has to_quantized"
            )
        arguments = dict(answer if isinstance(answer, dict) else options)
        # Layers of others need not know of it.
        if not arguments.get("quantize_input", True):
            del arguments["quantize_input"]
        few_bits = made.setdefault(id(layer), [])
        for earlier, module in few_bits:
            if earlier == answer:
                return module
        try:
            module = layer.to_quantized(**arguments)
        except (TypeError, ValueError, NotImplementedError) as error:
            head, bracket, rest = str(error).partition("] ")
            if head.startswith("[") and bracket:
                error.args = (f"[quantize] {path}: {rest}",)
            raise
        few_bits.append((answer, module))
        return module

    layers = model.leaf_modules()
    model.update_modules(tree_map_with_path(replaced, layers, is_leaf=Module.is_module))
