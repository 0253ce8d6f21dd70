"""`Module`, the tree of parameters and functions that every layer is."""

from __future__ import annotations

import os
import textwrap
import warnings
from collections.abc import Callable, Iterable, Iterator
from reprlib import recursive_repr
from typing import Any, BinaryIO, NamedTuple

import umber.core as mx
from umber.nn.layers.slots import Slot, assign, find_slots
from umber.utils import tree_flatten, tree_unflatten

__all__ = ["Module"]

Filter = Callable[["Module", str, Any], bool]


def _is_floating(dtype: mx.Dtype) -> bool:
    return mx.issubdtype(dtype, mx.floating)


class Module(dict):
    """A layer or model: its arrays and the modules in it, by attribute name.

    Attributes that are arrays, modules, lists, tuples or dicts are entries of the dict, so every
    module is a tree of arrays; other attributes are plain Python attributes. Arrays whose name does
    not begin with an underscore are parameters. Subclasses define `__call__`.

    A module that stands at several places is one module: its parameters are counted, saved and
    trained once, at the first place. Two modules that hold the same array are still two: they part
    as soon as one is updated.

    Example:
        >>> class Affine(Module):
        ...     def __init__(self, dims):
        ...         super().__init__()
        ...         self.scale = mx.ones((dims,))
        ...         self.shift = mx.zeros((dims,))
        ...
        ...     def __call__(self, x):
        ...         return x * self.scale + self.shift
        >>> list(Affine(3).parameters())
        ['scale', 'shift']
    """

    __call__: Callable

    def __init__(self) -> None:
        self._no_grad: set[str] = set()
        self._training = True

    # Attributes

    def __getattr__(self, key: str) -> Any:
        try:
            return self[key]
        except KeyError:
            pass
        if key in ("_no_grad", "_training"):
            name = type(self).__name__
            raise AttributeError(
                f"[{name}] got a module that was not initialised, "
                f"expected super().__init__() to be called in {name}.__init__"
            )
        # Once more, for the error of a property that found something else missing.
        return super().__getattribute__(key)

    def __setattr__(self, key: str, value: Any) -> None:
        _warn_of_foreign_arrays(self, key, value)
        if isinstance(value, (mx.array, dict, list, tuple)):
            self.__dict__.pop(key, None)
            super().__setitem__(key, value)
        else:
            super().__setattr__(key, value)
            self.pop(key, None)

    def __setitem__(self, key: str, value: Any) -> None:
        _warn_of_foreign_arrays(self, key, value)
        super().__setitem__(key, value)

    def __delattr__(self, key: str) -> None:
        if key in self:
            del self[key]
        else:
            super().__delattr__(key)

    @recursive_repr()
    def __repr__(self) -> str:
        children = tree_flatten(self.children(), is_leaf=Module.is_module)
        text = f"{type(self).__name__}({self._extra_repr()}"
        for path, child in children:
            text += "\n" + textwrap.indent(f"({path}): {child!r}", "  ")
        return text + ("\n)" if children else ")")

    def _extra_repr(self) -> str:
        """What stands in the brackets before the children; for subclasses to define."""
        return ""

    @property
    def training(self) -> bool:
        """Whether the module is in training mode, which dropout and the like ask for."""
        return self._training

    @property
    def state(self) -> Module:
        """The module as the tree of all its arrays, those included that are no parameters."""
        return self

    # Filters, for `filter_and_map`

    @staticmethod
    def is_module(value: Any) -> bool:
        """Whether `value` is a module."""
        return isinstance(value, Module)

    @staticmethod
    def valid_child_filter(module: Module, key: str, value: Any) -> bool:
        """Keep modules and the dicts and lists that may hold them."""
        return isinstance(value, (dict, list))

    @staticmethod
    def valid_parameter_filter(module: Module, key: str, value: Any) -> bool:
        """Keep arrays and what may hold them, unless the name begins with an underscore."""
        return isinstance(value, (dict, list, mx.array)) and not key.startswith("_")

    @staticmethod
    def trainable_parameter_filter(module: Module, key: str, value: Any) -> bool:
        """Keep parameters that are not frozen and what may hold them."""
        return Module.valid_parameter_filter(module, key, value) and key not in module._no_grad

    def filter_and_map(
        self,
        filter_fn: Filter,
        map_fn: Callable[[Any], Any] | None = None,
        is_leaf_fn: Filter | None = None,
    ) -> dict[str, Any]:
        """The tree of the entries that pass a filter, each leaf through a function.

        Args:
            filter_fn: called with the module, the key and the value of each entry. Inside a list
                or a dict the key is the path from the module, such as `"layers.0"`, and what does
                not pass leaves `{}` in its place.
            map_fn: applied to the leaves. Default: the identity.
            is_leaf_fn: called like `filter_fn`; where it holds, the value is not entered. Default:
                all but modules, dicts and lists are leaves.
        """
        return _Walk(filter_fn, map_fn or _identity, is_leaf_fn or _is_plain_leaf).through(self)

    # Parameters and children

    def parameters(self) -> dict[str, Any]:
        """The tree of all parameters."""
        return _Walk(Module.valid_parameter_filter, seen=set()).through(self)

    def trainable_parameters(self) -> dict[str, Any]:
        """The tree of the parameters that are not frozen."""
        return _Walk(Module.trainable_parameter_filter, seen=set()).through(self)

    def children(self) -> dict[str, Any]:
        """The tree of the modules directly in this one."""
        return self.filter_and_map(
            Module.valid_child_filter, is_leaf_fn=lambda _, __, value: isinstance(value, Module)
        )

    def leaf_modules(self) -> dict[str, Any]:
        """The tree of the modules, at any depth, that contain no module."""

        def is_leaf_module(_: Module, __: str, value: Any) -> bool:
            return isinstance(value, Module) and not tree_flatten(value.children())

        return self.filter_and_map(Module.valid_child_filter, is_leaf_fn=is_leaf_module)

    def modules(self) -> list[Module]:
        """This module and all modules in it."""
        return [module for _, module in self.named_modules()]

    def named_modules(self) -> list[tuple[str, Module]]:
        """This module, as `""`, and all modules in it with their paths."""
        found = []
        pending: list[tuple[str, Module, frozenset[int]]] = [("", self, frozenset())]
        while pending:
            path, module, around = pending.pop()
            if id(module) in around:
                continue
            found.append((path, module))
            prefix = f".{path}" if path else ""
            children = tree_flatten(module.children(), prefix=prefix, is_leaf=Module.is_module)
            pending += [(place, child, around | {id(module)}) for place, child in children]
        return found

    # Updates

    def update(  # type: ignore[override]
        self, parameters: dict, strict: bool = True
    ) -> Module:
        """Replace parameters by those of a tree, which may hold a part of them.

        Args:
            parameters: shaped like a part of `parameters()`.
            strict: refuse, before anything is replaced, a tree with places that this module does
                not have. Default: `True`.

        Returns:
            The module itself.
        """
        assign(find_slots(self, parameters, mx.array, strict))
        return self

    def apply(self, map_fn: Callable[[Any], Any], filter_fn: Filter | None = None) -> Module:
        """Replace each parameter that passes the filter by `map_fn` of it; returns the module.

        Example:
            >>> model.apply(lambda x: x.astype(mx.float16))
        """
        return self.update(self.filter_and_map(filter_fn or Module.valid_parameter_filter, map_fn))

    def update_modules(self, modules: dict, strict: bool = True) -> Module:
        """Replace modules by those of a tree shaped like a part of `children()`.

        `strict` refuses, before anything is replaced, places that hold no module now. Returns the
        module itself.
        """
        assign(find_slots(self, modules, Module, strict))
        return self

    def apply_to_modules(self, apply_fn: Callable[[str, Module], Any]) -> Module:
        """Call `apply_fn(path, module)` for this module and each one in it; returns the module."""
        for path, module in self.named_modules():
            apply_fn(path, module)
        return self

    def set_dtype(
        self,
        dtype: mx.Dtype,
        predicate: Callable[[mx.Dtype], bool] | None = _is_floating,
    ) -> None:
        """Cast the parameters whose dtype passes the predicate.

        Args:
            dtype: the dtype to cast to.
            predicate: Default: the floating dtypes. `None` casts all.
        """
        if predicate is not None and not callable(predicate):
            raise TypeError(
                f"[set_dtype] predicate: got {type(predicate).__name__}, expected a function"
            )
        self.apply(lambda x: x.astype(dtype) if predicate is None or predicate(x.dtype) else x)

    # Training

    def freeze(
        self,
        *,
        recurse: bool = True,
        keys: str | list[str] | None = None,
        strict: bool = False,
    ) -> Module:
        """Exclude parameters from `trainable_parameters`, and thus from training.

        Args:
            recurse: also in all modules in this one. Default: `True`.
            keys: the names of the parameters, such as `"bias"`. Default: all.
            strict: raise `KeyError` if no module has such a name. Default: `False`.

        Returns:
            The module itself.
        """
        return self._for_keys(recurse, keys, strict, Module._freeze_own)

    def unfreeze(
        self,
        *,
        recurse: bool = True,
        keys: str | list[str] | None = None,
        strict: bool = False,
    ) -> Module:
        """Undo `freeze`, whose arguments it takes; returns the module."""
        return self._for_keys(
            recurse, keys, strict, lambda module, names: module._unfreeze_own(names)
        )

    def _freeze_own(self, names: list[str] | None) -> None:
        self._no_grad.update(self._own_parameters() if names is None else names)

    def _unfreeze_own(self, names: list[str] | None) -> None:
        """For subclasses to define that keep parameters frozen."""
        self._no_grad.difference_update(self._no_grad.copy() if names is None else names)

    def train(self, mode: bool = True) -> Module:
        """Set this module and all in it to training mode, or with `False` to evaluation."""

        def set_mode(_: str, module: Module) -> None:
            module._set_training_mode(mode)

        return self.apply_to_modules(set_mode)

    def _set_training_mode(self, mode: bool) -> None:
        """What changes of this module alone; for subclasses to extend."""
        self._training = mode

    def eval(self) -> Module:
        """Set this module and all in it to evaluation mode."""
        return self.train(False)

    # Files

    def load_weights(
        self,
        file_or_weights: str
        | os.PathLike
        | BinaryIO
        | Iterable[tuple[str, mx.array]]
        | dict[str, mx.array],
        strict: bool = True,
    ) -> Module:
        """Replace the parameters by those of a file or of a list of pairs `(path, array)`.

        Args:
            file_or_weights: the name of a `.safetensors`, `.npz` or `.gguf` file, one that is open
                in binary mode, or the pairs. Files are mapped, as by `umber.core.load`: what is
                not used is not read.
            strict: require exactly this module's paths and shapes. Otherwise paths that the module
                does not have are passed over, and shapes are not checked. Nothing is replaced if it
                raises. Default: `True`.

        Returns:
            The module itself.
        """
        if isinstance(file_or_weights, (str, os.PathLike)):
            weights = _weights_in(os.fspath(file_or_weights))
        elif hasattr(file_or_weights, "read"):
            weights = _weights_in(file_or_weights)
        else:
            weights = _weights_by_path(file_or_weights)
        # Files may name a module that stands at several places by any of them, or all.
        parameters = self.filter_and_map(Module.valid_parameter_filter)
        slots = find_slots(self, parameters, mx.array)
        places = {
            path: slot for (path, _), slot in zip(tree_flatten(parameters), slots, strict=True)
        }
        if strict:
            _check_weights(weights, places)
        kept = dict(tree_flatten(parameters))
        known = {
            path: _as_kept(value, kept[path]) for path, value in weights.items() if path in places
        }
        return self.update(tree_unflatten(known)) if known else self

    def save_weights(self, file: str | os.PathLike | BinaryIO) -> None:
        """Write the parameters by their paths to a `.safetensors` or `.npz` file.

        The file is written whole or not at all, and may be the one they were loaded from. One that
        is open in binary mode gets them in the format of safetensors.
        """
        weights = dict(tree_flatten(self.parameters()))
        if hasattr(file, "write"):
            mx.save_safetensors(file, weights)
            return
        file = os.fspath(file)
        if file.endswith(".safetensors"):
            mx.save_safetensors(file, weights)
        elif file.endswith(".npz"):
            mx.savez(file, **weights)
        else:
            raise ValueError(f"[save_weights] got the file {file}, expected .safetensors or .npz")

    def _own_parameters(self) -> list[str]:
        """The paths of the parameters that are in no other module."""

        def is_own(module: Module, key: str, value: Any) -> bool:
            return not isinstance(value, Module) and Module.valid_parameter_filter(
                module, key, value
            )

        return [path for path, _ in tree_flatten(self.filter_and_map(is_own))]

    def _for_keys(
        self,
        recurse: bool,
        keys: str | list[str] | None,
        strict: bool,
        apply_fn: Callable[[Module, list[str] | None], Any],
    ) -> Module:
        names = [keys] if isinstance(keys, str) else keys
        if names is not None and not _are_names(names):
            raise TypeError(
                f"[freeze] keys: got {type(keys).__name__}, expected a string or a list of strings"
            )
        modules = self.modules() if recurse else [self]
        for name in names or () if strict else ():
            if not any(name in module for module in modules):
                raise KeyError(
                    f"[freeze] got the key {name!r}, expected a member of {type(self).__name__} "
                    "or of a module in it"
                )
        for module in modules:
            apply_fn(module, names)
        return self


def _weights_in(file: str | BinaryIO) -> dict[str, mx.array]:
    """The arrays of a file by their names."""
    content = mx.load(file, float8=True)
    if not isinstance(content, dict):
        raise ValueError(
            f"[load_weights] got {file}, which holds one array of shape {content.shape} without "
            "a name, expected arrays by their names (.safetensors, .npz or .gguf)"
        )
    return content


def _as_kept(value: Any, parameter: mx.array) -> Any:
    """A float of eight bits as its bits where the parameter is one, or the other way round."""
    if not isinstance(value, mx.array):
        return value
    is_other = (value.dtype == mx.uint8 and _is_float8(parameter)) or (
        parameter.dtype == mx.uint8 and _is_float8(value)
    )
    return value.view(parameter.dtype) if is_other else value


def _is_float8(a: mx.array) -> bool:
    return a.itemsize == 1 and mx.issubdtype(a.dtype, mx.floating)


def _weights_by_path(pairs: Any) -> dict[str, mx.array]:
    """A dict of pairs, or of a dict."""
    if not isinstance(pairs, Iterable) or isinstance(pairs, mx.array):
        raise TypeError(
            f"[load_weights] got {type(pairs).__name__}, "
            "expected a file, pairs (path, array) or a dict"
        )
    weights = {}
    for pair in pairs.items() if isinstance(pairs, dict) else pairs:
        if not (isinstance(pair, (tuple, list)) and len(pair) == 2 and isinstance(pair[0], str)):
            raise TypeError(
                f"[load_weights] got {type(pair).__name__} as an entry, "
                "expected pairs (path, array) with a string as path"
            )
        weights[pair[0]] = pair[1]
    return weights


def _check_weights(weights: dict[str, mx.array], places: dict[str, Slot]) -> None:
    extra = sorted(weights.keys() - places.keys())
    if extra:
        raise ValueError(
            f"[load_weights] got {len(extra)} parameters not in the model: {', '.join(extra)}; "
            "expected only those of the model"
        )
    given = {places[path].identity for path in weights}
    first = {slot.identity: path for path, slot in reversed(places.items())}
    missing = sorted(path for identity, path in first.items() if identity not in given)
    if missing:
        raise ValueError(
            f"[load_weights] {len(missing)} parameters of the model are missing: "
            f"{', '.join(missing)}; got {len(weights)}, expected all"
        )
    for path, value in weights.items():
        if not isinstance(value, mx.array):
            raise ValueError(
                f"[load_weights] {path}: got {type(value).__name__}, expected an array"
            )
        expected = places[path].value.shape
        if value.shape != expected:
            raise ValueError(
                f"[load_weights] {path}: got the shape {value.shape}, expected {expected}"
            )


def _warn_of_foreign_arrays(module: Module, key: str, value: Any) -> None:
    if isinstance(value, (mx.array, Module)):
        return
    for path, found in _foreign_arrays(key, value):
        warnings.warn(
            f"[{type(module).__name__}] {path}: got a {type(found).__module__} array, which is "
            f"neither a parameter nor saved, expected umber.core.array({path}) if it shall be one",
            stacklevel=3,
        )


def _foreign_arrays(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """The arrays of other libraries, such as NumPy, in a value that are not single numbers."""
    pending = [(path, value)]
    entered: set[int] = set()
    while pending:
        path, value = pending.pop()
        if isinstance(value, (mx.array, Module)) or id(value) in entered:
            continue
        if isinstance(value, (dict, list, tuple)):
            entered.add(id(value))
            children = value.items() if isinstance(value, dict) else enumerate(value)
            pending += [(f"{path}.{key}", child) for key, child in children]
        elif hasattr(type(value), "__array__") and getattr(value, "ndim", 0) > 0:
            yield path, value


def _are_names(names: Any) -> bool:
    return isinstance(names, (list, tuple, set, frozenset, dict)) and all(
        isinstance(name, str) for name in names
    )


def _identity(value: Any) -> Any:
    return value


def _is_plain_leaf(_: Module, __: str, value: Any) -> bool:
    return not isinstance(value, (Module, dict, list))


class _Walk(NamedTuple):
    """How `filter_and_map` goes through a module."""

    filter_fn: Filter
    map_fn: Callable[[Any], Any] = _identity
    is_leaf_fn: Filter = _is_plain_leaf
    seen: set[int] | None = None
    """The modules so far, if those that stand at several places count once."""
    around: frozenset[int] = frozenset()
    """The modules that the walk is in; one that contains itself ends it."""

    def through(self, module: Module) -> dict[str, Any]:
        if id(module) in self.around or (self.seen is not None and id(module) in self.seen):
            return {}
        if self.seen is not None:
            self.seen.add(id(module))
        inside = self._replace(around=self.around | {id(module)})
        return {
            key: inside.enter(module, key, value)
            for key, value in module.items()
            if self.filter_fn(module, key, value)
        }

    def enter(self, module: Module, key: str, value: Any) -> Any:
        if self.is_leaf_fn(module, key, value):
            return self.map_fn(value)
        if isinstance(value, Module):
            return self.through(value)
        if isinstance(value, dict):
            return {k: self.place(module, f"{key}.{k}", child) for k, child in value.items()}
        if isinstance(value, list):
            return [self.place(module, f"{key}.{i}", child) for i, child in enumerate(value)]
        raise RuntimeError(
            f"[filter_and_map] {key}: got {type(value).__name__}, "
            "expected a leaf, a module, a dict or a list"
        )

    def place(self, module: Module, key: str, value: Any) -> Any:
        return self.enter(module, key, value) if self.filter_fn(module, key, value) else {}
