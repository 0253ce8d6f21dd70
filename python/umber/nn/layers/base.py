"""`Module`, the tree of parameters and functions that every layer is.

One subject: one class, whose methods call each other so that subclasses may override any.
"""

from __future__ import annotations

import os
import textwrap
import warnings
from collections.abc import Callable, Iterable
from itertools import chain
from reprlib import recursive_repr
from typing import Any, BinaryIO, NamedTuple

import umber.core as mx
from umber.nn.layers.slots import Slot, assign, containers_in, find_slots, with_elements
from umber.nn.layers.unreached import find_unreached
from umber.nn.layers.weights import (
    by_path,
    check_paths,
    check_weight,
    filled,
    weights_by_path,
    weights_in,
)
from umber.utils import tree_flatten, tree_unflatten

__all__ = ["Module"]

Filter = Callable[["Module", str, Any], bool]

_ABSENT = object()
# Looked up once: attributes of modules are read all the time.
_get = dict.get


def _is_floating(dtype: mx.Dtype) -> bool:
    return mx.issubdtype(dtype, mx.floating)


class Module(dict):
    """A layer or model: its arrays and the modules in it, by attribute name.

    Attributes that are arrays, modules, lists, tuples or dicts are entries of the dict, so every
    module is a tree of arrays; other attributes are plain Python attributes. Arrays whose name does
    not begin with an underscore are parameters. Subclasses define `__call__`.

    Arrays and modules in other containers, such as sets, or in objects of other classes are not
    reached: assigning one warns. An entry must not be named like an attribute of the class, which
    would hide it: assigning one raises `AttributeError`.

    Subclasses may override its methods: parameters, children and files go through `filter_and_map`,
    what is done to all modules through `apply_to_modules`, and what puts arrays into the module,
    `umber.nn.value_and_grad` and `checkpoint` included, through `update`, that of the root.

    As an object a module is true, hashable and equal to itself only. Subclasses may define the
    methods of `dict` for what they hold, such as a `__getitem__` that counts layers: attributes,
    parameters and updates do not go through them.

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
        value = _get(self, key, _ABSENT)
        if value is not _ABSENT:
            return value
        if key in ("_no_grad", "_training"):
            name = type(self).__name__
            raise AttributeError(
                f"[{name}] module is not initialised: call super().__init__() in {name}.__init__"
            )
        # Once more, for the error of a property that found something else missing.
        return super().__getattribute__(key)

    def __setattr__(self, key: str, value: Any) -> None:
        _warn_of_unreached(self, key, value)
        is_entry = isinstance(value, (mx.array, dict, list, tuple))
        if is_entry and not _is_settable(self, key):
            self.__dict__.pop(key, None)
            super().__setitem__(key, value)
        else:
            super().__setattr__(key, value)
            super().pop(key, None)

    def __setitem__(self, key: str, value: Any) -> None:
        _warn_of_unreached(self, key, value)
        super().__setitem__(key, value)

    def __delattr__(self, key: str) -> None:
        if dict.__contains__(self, key):
            super().__delitem__(key)
        else:
            super().__delattr__(key)

    # Dicts are equal by their contents, false when empty, and not hashable.

    def __eq__(self, other: object) -> bool:
        return self is other if isinstance(other, dict) else NotImplemented

    def __ne__(self, other: object) -> bool:
        return self is not other if isinstance(other, dict) else NotImplemented

    __hash__ = object.__hash__  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return True

    @recursive_repr()
    def __repr__(self) -> str:
        children = tree_flatten(self.children(), is_leaf=self.is_module)
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
        """Keep modules and the dicts, lists and tuples that may hold them."""
        return _is_node(value)

    @staticmethod
    def valid_parameter_filter(module: Module, key: str, value: Any) -> bool:
        """Keep arrays and what may hold them, unless the name begins with an underscore."""
        return (isinstance(value, mx.array) or _is_node(value)) and not key.startswith("_")

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
            filter_fn: called with the module, the key and the value of each entry. Inside a list,
                a tuple or a dict the key is the path from the module, such as `"layers.0"`, and
                what does not pass leaves `{}` in its place.
            map_fn: applied to the leaves. Default: the identity.
            is_leaf_fn: called like `filter_fn`; where it holds, the value is not entered. Default:
                all but modules, dicts, lists, and tuples that hold arrays or modules are leaves.
        """
        seen: set[int] | None = None
        if isinstance(filter_fn, _Once):
            filter_fn, seen = filter_fn.filter_fn, set()
        walk = _Walk(filter_fn, map_fn or _identity, is_leaf_fn or _is_plain_leaf, seen)
        return walk.through(self)

    # Parameters and children

    def parameters(self) -> dict[str, Any]:
        """The tree of all parameters."""
        return self.filter_and_map(_Once(self.valid_parameter_filter))

    def trainable_parameters(self) -> dict[str, Any]:
        """The tree of the parameters that are not frozen."""
        return self.filter_and_map(_Once(self.trainable_parameter_filter))

    def children(self) -> dict[str, Any]:
        """The tree of the modules directly in this one."""
        return self.filter_and_map(
            self.valid_child_filter, is_leaf_fn=lambda _, __, value: isinstance(value, Module)
        )

    def leaf_modules(self) -> dict[str, Any]:
        """The tree of the modules, at any depth, that contain no module."""

        def is_leaf_module(_: Module, __: str, value: Any) -> bool:
            if not isinstance(value, Module):
                return False
            return not tree_flatten(value.children(), is_leaf=Module.is_module)

        return self.filter_and_map(self.valid_child_filter, is_leaf_fn=is_leaf_module)

    def modules(self) -> list[Module]:
        """This module and all modules in it."""
        found: list[Module] = []
        self.apply_to_modules(lambda _, module: found.append(module))
        return found

    def named_modules(self) -> list[tuple[str, Module]]:
        """This module, as `""`, and all modules in it with their paths."""
        found: list[tuple[str, Module]] = []
        self.apply_to_modules(lambda path, module: found.append((path, module)))
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
        """Call `apply_fn(path, module)` for this module and each one in it; returns the module.

        The modules in one are looked for after the call for it.
        """
        pending: list[tuple[str, Module, frozenset[int]]] = [("", self, frozenset())]
        while pending:
            path, module, around = pending.pop()
            if id(module) in around:
                continue
            apply_fn(path, module)
            prefix = f".{path}" if path else ""
            children = tree_flatten(module.children(), prefix=prefix, is_leaf=self.is_module)
            pending += [(place, child, around | {id(module)}) for place, child in children]
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
        own = self._validate_keys(self._own_parameters(), False) if names is None else names
        self._no_grad.update(own)

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
            weights = weights_in(os.fspath(file_or_weights))
        elif hasattr(file_or_weights, "read"):
            weights = weights_in(file_or_weights)
        else:
            weights = weights_by_path(file_or_weights)
        places = self._places_of_weights(strict)
        known = {path: value for path, value in weights.items() if path in places}
        if strict:
            check_paths(weights, places)
        for path, value in known.items():
            check_weight(path, value, places[path].value.shape if strict else None)
        slots = {path: filled(places[path], value) for path, value in known.items()}
        if not overrides(self, "update"):
            assign([slot for slot in slots.values() if slot.container is not None])
        elif weights:
            values = {path: slot.value for path, slot in slots.items()}
            self.update(tree_unflatten(weights | values), strict=False)
        return self

    def save_weights(self, file: str | os.PathLike | BinaryIO) -> None:
        """Write the parameters by their paths to a `.safetensors` or `.npz` file.

        The file is written whole or not at all, and may be the one they were loaded from. One that
        is open in binary mode gets them in the format of safetensors.
        """
        weights = by_path("save_weights", tree_flatten(self.parameters()))
        if hasattr(file, "write"):
            mx.save_safetensors(file, weights)
            return
        file = os.fspath(file)
        if file.endswith(".safetensors"):
            mx.save_safetensors(file, weights)
        elif file.endswith(".npz"):
            if "file" in weights:
                raise ValueError(
                    "[save_weights] parameter name 'file' clashes with an argument of savez; "
                    "rename it, or save to a .safetensors file"
                )
            mx.savez(file, **weights)
        else:
            raise ValueError(f"[save_weights] got the file {file}, expected .safetensors or .npz")

    def _places_of_weights(self, only_listed: bool) -> dict[str, Slot]:
        """The places of parameters, of all or of those that `parameters` lists, by all their paths.

        Files may name a module that stands at several places by any of them, or by all.
        """
        everywhere = _Walk(Module.valid_parameter_filter).through(self)
        pairs = zip(tree_flatten(everywhere), find_slots(self, everywhere, mx.array), strict=True)
        slots = by_path("load_weights", [(path, slot) for (path, _), slot in pairs])
        if not only_listed:
            return slots
        listed = by_path("load_weights", tree_flatten(self.parameters()))
        wanted = {slots[path].identity for path in listed if path in slots}
        # Subclasses may list parameters by names of their own, which their `update` knows.
        others = {path: Slot(None, path, a) for path, a in listed.items() if path not in slots}
        return {path: slot for path, slot in slots.items() if slot.identity in wanted} | others

    def _own_parameters(self) -> list[str]:
        """The paths of the parameters that are in no other module."""

        def is_own(module: Module, key: str, value: Any) -> bool:
            return not isinstance(value, Module) and module.valid_parameter_filter(
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
        names = None if keys is None else _names(keys)
        if not recurse:
            apply_fn(self, None if names is None else self._validate_keys(names, strict))
            return self
        if strict and names is not None:
            self._validate_keys_recursive(names)

        def apply_to(_: str, module: Module) -> None:
            apply_fn(module, None if names is None else module._validate_keys(names, False))

        return self.apply_to_modules(apply_to)

    def _check_members(self, names: list[str], modules: list[Module]) -> None:
        for name in names:
            if not any(dict.__contains__(module, name) for module in modules):
                raise KeyError(
                    f"[freeze] got the key {name!r}, expected a member of {type(self).__name__} "
                    "or of a module in it"
                )

    # Checks of keys, which subclasses of MLX's modules may replace or call.

    def _validate_keys(self, keys: str | list[str], strict: bool) -> list[str]:
        names = _names(keys)
        if strict:
            self._check_members(names, [self])
        return names

    def _validate_keys_recursive(self, keys: str | list[str]) -> None:
        self._check_members(_names(keys), self.modules())


def overrides(module: Module, name: str) -> bool:
    """Whether a method of `Module` is another one in the class of a module, or in itself."""
    return getattr(getattr(module, name), "__func__", None) is not vars(Module)[name]


def _is_settable(module: Module, key: str) -> bool:
    """Whether the class has a property with a setter of this name, which takes the value.

    Raises `AttributeError` if it has any other attribute of the name, which would hide an entry.
    """
    definition = next((base for base in type(module).__mro__ if key in vars(base)), None)
    if definition is None:
        return False
    attribute = vars(definition)[key]
    is_property = hasattr(type(attribute), "__set__")
    if is_property and getattr(attribute, "fset", True) is not None:
        return True
    # A property that raises AttributeError itself lets the entry through.
    if is_property and not hasattr(module, key):
        return False
    kind = "property" if is_property else "method" if callable(attribute) else "class attribute"
    name = type(module).__name__
    raise AttributeError(
        f"[{name}] {key!r} is a {kind} of {definition.__name__}, which would hide an array, a "
        f"module or a container of that name; use another name, such as '{key}_'"
    )


def _warn_of_unreached(module: Module, key: str, value: Any) -> None:
    """Warn once of arrays and modules in a value that the module will not reach."""
    if isinstance(value, (mx.array, Module)) or str(key).startswith("_"):
        return

    def is_reached(found: Any) -> bool:
        return any(found is other for other in _all_in(module))

    for path, found, holds in find_unreached(key, value, Module.is_module, is_reached):
        # Copies and pickles of the module keep what it was warned of.
        known = module.__dict__.setdefault("_warned_of", set())
        if path in known:
            continue
        known.add(path)
        if holds is None:
            what = f"{type(found).__module__} array, which is neither a parameter nor saved"
            instead = f"umber.core.array({path}) if it shall be one"
        else:
            what = (
                f"{type(found).__name__} that holds {holds}, which are neither parameters nor "
                "saved nor reached by train() and eval()"
            )
            instead = f"the {holds} as attributes or in lists, tuples and dicts if they shall be"
        warnings.warn(
            f"[{type(module).__name__}] {path}: got a {what}, expected {instead}", stacklevel=3
        )


def _all_in(module: Module) -> list[Any]:
    """The module and all that is in it: modules, containers and leaves."""
    containers = containers_in(module)
    entries = (dict.values(each) if isinstance(each, dict) else each for each in containers)
    return [module, *chain.from_iterable(entries)]


def _names(keys: Any) -> list[str]:
    """Names of members, of which one may be given without a list."""
    names = [keys] if isinstance(keys, str) else keys
    if not isinstance(names, (list, tuple, set, frozenset, dict)) or not all(
        isinstance(name, str) for name in names
    ):
        raise TypeError(
            f"[freeze] keys: got {type(keys).__name__}, expected a string or a list of strings"
        )
    return list(names)


def _identity(value: Any) -> Any:
    return value


def _is_plain_leaf(_: Module, __: str, value: Any) -> bool:
    return not _is_node(value)


def _is_node(value: Any) -> bool:
    """Whether it is a module or a container that may hold some.

    A tuple is one only if it holds arrays or modules: most are settings, such as sizes.
    """
    return isinstance(value, (dict, list)) or (isinstance(value, tuple) and _holds_leaves(value))


def _holds_leaves(tree: tuple) -> bool:
    """Whether there are arrays or modules in a tuple, also in the containers in it."""
    pending: list[Any] = [tree]
    entered: set[int] = set()
    while pending:
        value = pending.pop()
        if isinstance(value, (mx.array, Module)):
            return True
        if isinstance(value, (dict, list, tuple)) and id(value) not in entered:
            entered.add(id(value))
            pending += value.values() if isinstance(value, dict) else value
    return False


class _Once(NamedTuple):
    """A filter of the entries of modules of which each is entered at its first place only."""

    filter_fn: Filter

    def __call__(self, module: Module, key: str, value: Any) -> bool:
        return self.filter_fn(module, key, value)


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
            for key, value in dict.items(module)
            if self.filter_fn(module, key, value)
        }

    def enter(self, module: Module, key: str, value: Any) -> Any:
        if self.is_leaf_fn(module, key, value):
            return self.map_fn(value)
        if isinstance(value, Module):
            return self.through(value)
        if isinstance(value, dict):
            return {k: self.place(module, f"{key}.{k}", child) for k, child in value.items()}
        if isinstance(value, (list, tuple)):
            mapped = [self.place(module, f"{key}.{i}", child) for i, child in enumerate(value)]
            return with_elements(value, mapped) if isinstance(value, tuple) else mapped
        raise RuntimeError(
            f"[filter_and_map] {key}: got {type(value).__name__}, "
            "expected a leaf, a module, a dict, a list or a tuple"
        )

    def place(self, module: Module, key: str, value: Any) -> Any:
        return self.enter(module, key, value) if self.filter_fn(module, key, value) else {}
