"""`Module`, the base class of all layers: a tree of parameters with a function.

One subject: one class, whose methods call each other so that subclasses can override any of them.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterable, Mapping
from itertools import chain
from reprlib import recursive_repr
from typing import Any, BinaryIO, NamedTuple

import umber.core as mx
from umber import _layout
from umber.nn.layers.error_notes import name_modules
from umber.nn.layers.hidden_parameters import find_hidden
from umber.nn.layers.html_repr import to_html
from umber.nn.layers.ties import Tie, tie, tie_of, untie
from umber.nn.layers.tree_paths import (
    Slot,
    assign,
    containers_in,
    find_slots,
    is_keyed,
    is_node,
    pairs_of,
    with_children,
)
from umber.nn.layers.weights import (
    IncompatibleKeys,
    by_path,
    check_paths,
    check_weight,
    compare_paths,
    weights_by_path,
    weights_in,
    with_value,
)
from umber.utils import tree_flatten, tree_unflatten

__all__ = ["Module"]

Filter = Callable[["Module", str, Any], bool]

_ABSENT = object()
# Looked up once, because attributes of modules are read very often.
_get = dict.get


def _is_floating(dtype: mx.Dtype) -> bool:
    return mx.issubdtype(dtype, mx.floating)


class Module(dict):
    """Base class of layers and models: a tree of arrays and modules, by attribute name.

    Attributes
    ----------
    training : bool
        Whether the module is in training mode.
    state : Module
        The module as a pytree of all its arrays.

    See Also
    --------
    nn.Sequential, nn.value_and_grad

    Notes
    -----
    A module is a dict. Attributes that are arrays, modules, lists, tuples or dicts are its entries,
    so every module is a pytree; other attributes are plain Python attributes. Arrays with names
    that do not begin with an underscore are parameters. Subclasses call ``super().__init__()`` and
    define `__call__`.

    So are instances of classes registered by `umber.utils.register_dataclass` or
    `register_tree_node`. Their children are parameters under the names given there, or their
    indices, and in `parameters()` they are dicts or lists. An update stores a new instance, which
    the class's function creates from all its children.

    Arrays and modules in other containers, such as sets, or in objects of other classes are not
    part of the tree; assigning one warns. An entry cannot have the name of an attribute of the
    class: assigning one raises AttributeError.

    Subclasses can override methods. Parameters, children and files go through `filter_and_map`;
    operations on all modules go through `apply_to_modules`; everything that replaces arrays,
    including `nn.value_and_grad` and `nn.utils.checkpoint`, goes through `update` of the root
    module.

    As an object a module is true, hashable and equal only to itself. Subclasses may define methods
    of `dict`, such as a `__getitem__` that counts layers: attributes, parameters and updates do not
    use them.

    A module with several paths is one module: its parameters are counted, saved and trained once,
    under the first path. Two modules that hold the same array are independent: updating one does
    not change the other. `tie_weights` makes parameters of two modules one.

    Examples
    --------
    >>> class Affine(nn.Module):
    ...     def __init__(self, dims):
    ...         super().__init__()
    ...         self.scale = mx.ones((dims,))
    ...         self.shift = mx.zeros((dims,))
    ...
    ...     def __call__(self, x):
    ...         return x * self.scale + self.shift
    >>> model = Affine(3)
    >>> model.parameters()
    {'scale': array([1, 1, 1], dtype=float32), 'shift': array([0, 0, 0], dtype=float32)}
    >>> model(mx.array([1.0, 2.0, 3.0]))
    array([1, 2, 3], dtype=float32)
    """

    __call__: Callable
    # Ties by name, for the modules that have some; see `tie_weights`.
    _ties: dict[str, Tie] | None = None

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
        # Look it up again to raise the AttributeError of a property that failed inside.
        return super().__getattribute__(key)

    def __setattr__(self, key: str, value: Any) -> None:
        _warn_of_hidden(self, key, value)
        is_entry = isinstance(value, (mx.array, dict, list, tuple)) or is_node(value)
        if is_entry and not _is_settable(self, key):
            self.__dict__.pop(key, None)
            super().__setitem__(key, value)
        else:
            super().__setattr__(key, value)
            super().pop(key, None)
        if Tie.exists or (is_entry and not isinstance(value, mx.array)):
            _follow_assignment(self, key, value)

    def __setitem__(self, key: str, value: Any) -> None:
        _warn_of_hidden(self, key, value)
        super().__setitem__(key, value)
        _follow_assignment(self, key, value)

    def __delattr__(self, key: str) -> None:
        if dict.__contains__(self, key):
            untie(self, key)
            super().__delitem__(key)
        else:
            super().__delattr__(key)

    # Unlike dicts, which compare by content, are false when empty and not hashable.

    def __eq__(self, other: object) -> bool:
        return self is other if isinstance(other, dict) else NotImplemented

    def __ne__(self, other: object) -> bool:
        return self is not other if isinstance(other, dict) else NotImplemented

    __hash__ = object.__hash__  # type: ignore[assignment]

    def __bool__(self) -> bool:
        return True

    @recursive_repr()
    def __repr__(self) -> str:
        from textwrap import indent  # Takes longer than this module.

        children = self._repr_children()
        text = f"{type(self).__name__}({self._extra_repr()}"
        for path, child in children:
            text += "\n" + indent(f"({path}): {_shown(child)}", "  ")
        return text + ("\n)" if children else ")")

    def _repr_html_(self) -> str:
        return to_html(self, _shown)

    def _repr_children(self) -> list[tuple[str, Any]]:
        """The modules and functions that the repr shows, by path."""
        return tree_flatten(self.children(), is_leaf=self.is_module)

    def _repr_note(self) -> str:
        """What HTML shows beside the repr."""
        count = sum(array.size for _, array in tree_flatten(self.parameters()))
        return f"{count:,} parameters" if count else ""

    def _extra_repr(self) -> str:
        """Text between the parentheses of the repr; for subclasses to override."""
        return ""

    @property
    def training(self) -> bool:
        """Whether the module is in training mode, which layers such as dropout depend on."""
        return self._training

    @property
    def state(self) -> Module:
        """The module itself, as the pytree of all its arrays, not only of the parameters."""
        return self

    # Filters, for `filter_and_map`

    @staticmethod
    def is_module(value: Any) -> bool:
        """Whether a value is a module.

        Parameters
        ----------
        value : Any
            Any object.

        Returns
        -------
        bool
            True for instances of `Module`.

        Examples
        --------
        >>> nn.Module.is_module(nn.ReLU())
        True
        """
        return isinstance(value, Module)

    @staticmethod
    def valid_child_filter(module: Module, key: str, value: Any) -> bool:
        """Filter of `filter_and_map` that keeps modules and containers that may hold modules.

        Parameters
        ----------
        module : Module
            Module that holds the entry; unused.
        key : str
            Name of the entry; unused.
        value : Any
            Value of the entry.

        Returns
        -------
        bool
            True for modules, dicts and lists, and for tuples and instances of registered classes
            that hold arrays or modules.

        Examples
        --------
        >>> model = nn.Sequential(nn.ReLU())
        >>> nn.Module.valid_child_filter(model, "layers", model.layers)
        True
        """
        return _is_node(value)

    @staticmethod
    def valid_parameter_filter(module: Module, key: str, value: Any) -> bool:
        """Filter of `filter_and_map` that keeps parameters and containers that may hold parameters.

        Parameters
        ----------
        module : Module
            Module that holds the entry; unused.
        key : str
            Name of the entry. Names that begin with an underscore are not kept.
        value : Any
            Value of the entry.

        Returns
        -------
        bool
            True for arrays, modules, dicts and lists, and for tuples and instances of registered
            classes that hold arrays or modules, unless the name begins with an underscore.

        Examples
        --------
        >>> model = nn.Linear(2, 3)
        >>> nn.Module.valid_parameter_filter(model, "weight", model.weight)
        True
        >>> nn.Module.valid_parameter_filter(model, "_cache", mx.zeros(2))
        False
        """
        return (isinstance(value, mx.array) or _is_node(value)) and not key.startswith("_")

    @staticmethod
    def trainable_parameter_filter(module: Module, key: str, value: Any) -> bool:
        """Filter of `filter_and_map` that keeps parameters that are not frozen.

        Parameters
        ----------
        module : Module
            Module that holds the entry.
        key : str
            Name of the entry.
        value : Any
            Value of the entry.

        Returns
        -------
        bool
            True if `valid_parameter_filter` is and `key` is not frozen in `module`.

        Examples
        --------
        >>> model = nn.Linear(2, 3)
        >>> _ = model.freeze(keys="bias")
        >>> nn.Module.trainable_parameter_filter(model, "bias", model.bias)
        False
        """
        return Module.valid_parameter_filter(module, key, value) and key not in module._no_grad

    def filter_and_map(
        self,
        filter_fn: Filter,
        map_fn: Callable[[Any], Any] | None = None,
        is_leaf_fn: Filter | None = None,
    ) -> dict[str, Any]:
        """Tree of the entries that pass a filter, with a function applied to each leaf.

        Parameters
        ----------
        filter_fn : callable
            Called as `filter_fn(module, key, value)` for each entry. In a list, tuple or dict,
            `key` is the path from the module, such as `"layers.0"`, and elements that do not pass
            become `{}`.
        map_fn : callable, optional
            Applied to each leaf. Default: the identity.
        is_leaf_fn : callable, optional
            Called like `filter_fn`. If true, the value is a leaf and not traversed. Default: all
            values are leaves except modules, dicts, lists, and tuples and instances of registered
            classes that hold arrays or modules.

        Returns
        -------
        dict
            The tree.

        Raises
        ------
        RuntimeError
            If a value is neither a leaf nor a module, dict, list, tuple or instance of a registered
            class.

        See Also
        --------
        Module.apply, Module.parameters

        Examples
        --------
        >>> model = nn.Linear(2, 3)
        >>> model.filter_and_map(nn.Module.valid_parameter_filter, lambda a: a.shape)
        {'weight': (3, 2), 'bias': (3,)}
        """
        seen: set[int] | None = None
        if isinstance(filter_fn, _Once):
            filter_fn, seen = filter_fn.filter_fn, set()
        walk = _Walk(filter_fn, map_fn or _identity, is_leaf_fn or _is_plain_leaf, seen)
        return walk.traverse(self)

    # Parameters and children

    def parameters(self) -> dict[str, Any]:
        """Tree of all parameters.

        Returns
        -------
        dict
            Parameters by name; modules are dicts in it. A module with several paths appears once.

        See Also
        --------
        Module.trainable_parameters, umber.utils.tree_flatten

        Examples
        --------
        >>> nn.RMSNorm(2).parameters()
        {'weight': array([1, 1], dtype=float32)}
        """
        return self.filter_and_map(_Once(self.valid_parameter_filter))

    def trainable_parameters(self) -> dict[str, Any]:
        """Tree of the parameters that are not frozen.

        Returns
        -------
        dict
            Parameters by name; modules are dicts in it.

        See Also
        --------
        Module.freeze, Module.parameters

        Examples
        --------
        >>> model = nn.Linear(2, 3)
        >>> list(model.freeze(keys="bias").trainable_parameters())
        ['weight']
        """
        return self.filter_and_map(_Once(self.trainable_parameter_filter))

    def children(self) -> dict[str, Any]:
        """Tree of the modules directly in this one.

        Returns
        -------
        dict
            Modules by name, with the lists, tuples and dicts that hold them.

        See Also
        --------
        Module.leaf_modules, Module.modules

        Examples
        --------
        >>> nn.Sequential(nn.ReLU(), nn.Tanh()).children()
        {'layers': [ReLU(), Tanh()]}
        """
        return self.filter_and_map(
            self.valid_child_filter, is_leaf_fn=lambda _, __, value: isinstance(value, Module)
        )

    def leaf_modules(self) -> dict[str, Any]:
        """Tree of the modules, at any depth, that contain no module.

        Returns
        -------
        dict
            Modules by name; modules that contain others are dicts in it.

        See Also
        --------
        Module.children, Module.update_modules

        Examples
        --------
        >>> nn.Sequential(nn.ReLU(), nn.Sequential(nn.Tanh())).leaf_modules()
        {'layers': [ReLU(), {'layers': [Tanh()]}]}
        """

        def is_leaf_module(_: Module, __: str, value: Any) -> bool:
            if not isinstance(value, Module):
                return False
            return not tree_flatten(value.children(), is_leaf=Module.is_module)

        return self.filter_and_map(self.valid_child_filter, is_leaf_fn=is_leaf_module)

    def modules(self) -> list[Module]:
        """List of this module and all modules in it.

        Returns
        -------
        list of Module
            Each module comes before the modules in it. A module with several paths is listed
            once per path.

        See Also
        --------
        Module.named_modules

        Examples
        --------
        >>> len(nn.Sequential(nn.ReLU(), nn.Tanh()).modules())
        3
        """
        modules: list[Module] = []
        self.apply_to_modules(lambda _, module: modules.append(module))
        return modules

    def named_modules(self) -> list[tuple[str, Module]]:
        """List of this module and all modules in it with their paths.

        Returns
        -------
        list of tuple of str and Module
            Pairs of path and module; the path of this module is `""`.

        See Also
        --------
        Module.modules

        Examples
        --------
        >>> model = nn.Sequential(nn.ReLU(), nn.Tanh())
        >>> sorted(path for path, module in model.named_modules())
        ['', 'layers.0', 'layers.1']
        """
        modules: list[tuple[str, Module]] = []
        self.apply_to_modules(lambda path, module: modules.append((path, module)))
        return modules

    # Updates

    def update(  # type: ignore[override]
        self, parameters: dict, strict: bool = True
    ) -> Module:
        """Replace parameters by those of a tree.

        Parameters
        ----------
        parameters : dict
            Tree of arrays, structured like a part of `parameters()`.
        strict : bool, optional
            Whether a path that this module does not have is an error. Otherwise it is ignored.
            Default: True.

        Returns
        -------
        Module
            The module itself.

        Raises
        ------
        ValueError
            If `strict` is True and the tree has a path that this module does not have, or a value
            that is not an array. No parameter is replaced then.
        TypeError
            If `parameters` is not a tree.

        See Also
        --------
        Module.apply, Module.load_weights, Module.update_modules

        Notes
        -----
        Shapes and dtypes are not checked.

        Examples
        --------
        >>> model = nn.Linear(2, 3)
        >>> _ = model.update({"bias": mx.ones((3,))})
        >>> model.bias
        array([1, 1, 1], dtype=float32)
        """
        assign(find_slots(self, parameters, mx.array, strict))
        return self

    def apply(self, map_fn: Callable[[Any], Any], filter_fn: Filter | None = None) -> Module:
        """Replace each parameter by a function of it.

        Parameters
        ----------
        map_fn : callable
            Function of an array that returns an array.
        filter_fn : callable, optional
            Selects the arrays, see `filter_and_map`. Default: all parameters.

        Returns
        -------
        Module
            The module itself.

        See Also
        --------
        Module.filter_and_map, Module.set_dtype

        Examples
        --------
        >>> model = nn.Linear(2, 3)
        >>> _ = model.apply(lambda x: x.astype(mx.float16))
        >>> model.weight.dtype
        umber.core.float16
        """
        return self.update(self.filter_and_map(filter_fn or Module.valid_parameter_filter, map_fn))

    def update_modules(self, modules: dict, strict: bool = True) -> Module:
        """Replace modules by those of a tree.

        Parameters
        ----------
        modules : dict
            Tree of modules, structured like a part of `children()`.
        strict : bool, optional
            Whether a path that holds no module is an error. Otherwise it is ignored. Default: True.

        Returns
        -------
        Module
            The module itself.

        Raises
        ------
        ValueError
            If `strict` is True and the tree has a path at which this module holds no module. No
            module is replaced then.
        TypeError
            If `modules` is not a tree.

        See Also
        --------
        Module.leaf_modules, Module.update

        Examples
        --------
        >>> model = nn.Sequential(nn.Linear(2, 3), nn.ReLU())
        >>> _ = model.update_modules({"layers": [{}, nn.Tanh()]})
        >>> model.layers[1]
        Tanh()
        """
        assign(find_slots(self, modules, Module, strict))
        return self

    def apply_to_modules(self, apply_fn: Callable[[str, Module], Any]) -> Module:
        """Call a function for this module and all modules in it.

        Parameters
        ----------
        apply_fn : callable
            Called as `apply_fn(path, module)`; the path of this module is `""`.

        Returns
        -------
        Module
            The module itself.

        See Also
        --------
        Module.named_modules

        Notes
        -----
        The children of a module are read after the call for it, so `apply_fn` may change them.

        Examples
        --------
        >>> model = nn.Sequential(nn.Dropout(0.1))
        >>> def set_p(path, module):
        ...     if isinstance(module, nn.Dropout):
        ...         module.p = 0.5
        >>> model.apply_to_modules(set_p)
        Sequential(
          (layers.0): Dropout(p=0.5)
        )
        """
        pending: list[tuple[str, Module, frozenset[int]]] = [("", self, frozenset())]
        while pending:
            path, module, ancestors = pending.pop()
            if id(module) in ancestors:
                continue
            apply_fn(path, module)
            prefix = f".{path}" if path else ""
            children = tree_flatten(module.children(), prefix=prefix, is_leaf=self.is_module)
            path_modules = ancestors | {id(module)}
            pending += [(child_path, child, path_modules) for child_path, child in children]
        return self

    def tie_weights(self, *paths: str) -> Module:
        """Make parameters of modules in this one a single parameter.

        Parameters
        ----------
        *paths : str
            Paths of two or more parameters, such as `"embedding.weight"`. All get the array of the
            first.

        Returns
        -------
        Module
            The module itself.

        Raises
        ------
        ValueError
            If there are fewer than two paths, if one is not the path of a module's parameter, or if
            shapes or dtypes differ. Nothing is tied then.

        See Also
        --------
        Module.parameters, nn.Embedding.as_linear

        Notes
        -----
        The parameter is counted, saved and trained once, under its first path in the module, and
        its gradient is the sum over all uses. Updates, by optimizers, files or assignments to one
        of its names, change it under all names. Freezing it under one name freezes it. Files may
        have it under any of its names; if they have several, the last one counts.

        Deleting the attribute, or assigning something that is not an array, unties a name. So does
        replacing its module, as `nn.quantize` does. A transform whose argument is the module,
        ``mx.grad(f)(module)``, treats the names as separate arrays; `nn.value_and_grad` does not.

        Without it, assigning the array of one module to another one, ``head.weight =
        embedding.weight``, gives both the same value until the first update, as in MLX.

        Examples
        --------
        >>> class Model(nn.Module):
        ...     def __init__(self):
        ...         super().__init__()
        ...         self.embedding = nn.Embedding(10, 4)
        ...         self.head = nn.Linear(4, 10, bias=False)
        ...         self.tie_weights("embedding.weight", "head.weight")
        ...
        ...     def __call__(self, tokens):
        ...         return self.head(self.embedding(tokens))
        >>> model = Model()
        >>> list(model.state_dict())
        ['embedding.weight']
        >>> model.embedding.weight = mx.zeros((10, 4))
        >>> mx.array_equal(model.head.weight, model.embedding.weight)
        array(True, dtype=bool)
        """
        if len(paths) < 2:
            raise ValueError(f"[tie_weights] got the paths {paths}, expected two or more")
        known = self._slots_of_weights(False)
        for path in paths:
            if path not in known or not isinstance(known[path].container, Module):
                raise ValueError(f"[tie_weights] got {path!r}, expected a parameter of a module")
        slots = [known[path] for path in paths]
        first = slots[0].value
        for path, slot in zip(paths, slots, strict=True):
            if (slot.value.shape, slot.value.dtype) != (first.shape, first.dtype):
                raise ValueError(
                    f"[tie_weights] {path} has the shape {slot.value.shape} and dtype "
                    f"{slot.value.dtype}, expected those of {paths[0]}, {first.shape} and "
                    f"{first.dtype}"
                )
        joined = tie([(slot.container, slot.key) for slot in slots])
        joined.store(first)
        if any(name in module._no_grad for module, name in joined.members):
            for module, name in joined.members:
                module._no_grad.add(name)
        return self

    def set_dtype(
        self,
        dtype: mx.Dtype,
        predicate: Callable[[mx.Dtype], bool] | None = _is_floating,
    ) -> None:
        """Cast the parameters whose dtype passes a predicate.

        Parameters
        ----------
        dtype : Dtype
            Dtype to cast to.
        predicate : callable or None, optional
            Function of a dtype; None casts all parameters. Default: True for floating dtypes.

        Raises
        ------
        TypeError
            If `predicate` is not callable.

        See Also
        --------
        Module.apply

        Examples
        --------
        >>> model = nn.Linear(2, 3)
        >>> model.set_dtype(mx.bfloat16)
        >>> model.weight.dtype
        umber.core.bfloat16
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
        """Exclude parameters from `trainable_parameters`, and so from training.

        Parameters
        ----------
        recurse : bool, optional
            Whether to also freeze parameters of all modules in this one. Default: True.
        keys : str or list of str, optional
            Names of the parameters, such as `"bias"`. Default: all.
        strict : bool, optional
            Whether a name that no module has is an error. Default: False.

        Returns
        -------
        Module
            The module itself.

        Raises
        ------
        KeyError
            If `strict` is True and no module has one of the names.
        TypeError
            If `keys` is neither a string nor a list of strings.

        See Also
        --------
        Module.trainable_parameters, Module.unfreeze

        Examples
        --------
        >>> model = nn.Linear(2, 3)
        >>> _ = model.freeze(keys="bias")
        >>> list(model.trainable_parameters())
        ['weight']
        """
        return self._apply_to_keys(recurse, keys, strict, Module._freeze_own)

    def unfreeze(
        self,
        *,
        recurse: bool = True,
        keys: str | list[str] | None = None,
        strict: bool = False,
    ) -> Module:
        """Include frozen parameters in `trainable_parameters` again.

        Parameters
        ----------
        recurse : bool, optional
            Whether to also unfreeze parameters of all modules in this one. Default: True.
        keys : str or list of str, optional
            Names of the parameters, such as `"bias"`. Default: all.
        strict : bool, optional
            Whether a name that no module has is an error. Default: False.

        Returns
        -------
        Module
            The module itself.

        Raises
        ------
        KeyError
            If `strict` is True and no module has one of the names.
        TypeError
            If `keys` is neither a string nor a list of strings.

        See Also
        --------
        Module.freeze

        Notes
        -----
        Some modules keep parameters frozen, such as the running averages of `nn.BatchNorm`.

        Examples
        --------
        >>> model = nn.Linear(2, 3)
        >>> _ = model.freeze().unfreeze(keys="bias")
        >>> list(model.trainable_parameters())
        ['bias']
        """
        return self._apply_to_keys(
            recurse, keys, strict, lambda module, names: module._unfreeze_own(names)
        )

    def _freeze_own(self, names: list[str] | None) -> None:
        own = self._validate_keys(self._own_parameters(), False) if names is None else names
        self._no_grad.update(own)
        for module, name in self._tied_to(own):
            module._no_grad.add(name)

    def _unfreeze_own(self, names: list[str] | None) -> None:
        """Unfreeze parameters of this module; override it to keep some frozen."""
        own = self._no_grad.copy() if names is None else names
        self._no_grad.difference_update(own)
        for module, name in self._tied_to(own):
            module._no_grad.discard(name)

    def _tied_to(self, names: Iterable[str]) -> list[tuple[Module, str]]:
        """The members of the ties of parameters of this module."""
        ties = self._ties or {}
        return [member for name in names if name in ties for member in ties[name].members]

    def train(self, mode: bool = True) -> Module:
        """Set this module and all modules in it to training or evaluation mode.

        Parameters
        ----------
        mode : bool, optional
            True for training, False for evaluation. Default: True.

        Returns
        -------
        Module
            The module itself.

        See Also
        --------
        Module.eval

        Examples
        --------
        >>> model = nn.Sequential(nn.Dropout(0.5))
        >>> model.train(False).layers[0].training
        False
        """

        def set_mode(_: str, module: Module) -> None:
            module._set_training_mode(mode)

        return self.apply_to_modules(set_mode)

    def _set_training_mode(self, mode: bool) -> None:
        """Set the mode of this module only; for subclasses to extend."""
        self._training = mode

    def eval(self) -> Module:
        """Set this module and all modules in it to evaluation mode.

        Returns
        -------
        Module
            The module itself.

        See Also
        --------
        Module.train

        Examples
        --------
        >>> model = nn.Sequential(nn.Dropout(0.5))
        >>> model.eval().layers[0].training
        False
        """
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
        """Replace the parameters by those of a file, or by pairs of paths and arrays.

        Parameters
        ----------
        file_or_weights : str, path, binary file, iterable of pairs, or dict
            Name of a `.safetensors`, `.npz` or `.gguf` file, a file open in binary mode, pairs
            `(path, array)`, or a dict of arrays by path.
        strict : bool, optional
            Whether paths and shapes must be exactly those of this module. Otherwise unknown paths
            are ignored, parameters may be missing, and shapes are not checked. Default: True.

        Returns
        -------
        Module
            The module itself.

        Raises
        ------
        ValueError
            If `strict` is True and a path is unknown or missing or a shape differs, if a value is
            not an array, or if the file holds a single array without a name. No parameter is
            replaced then.
        TypeError
            If `file_or_weights` is of another type.
        FileNotFoundError
            If the file does not exist.

        See Also
        --------
        mx.load, Module.save_weights, Module.update

        Notes
        -----
        Files are memory-mapped, as by `mx.load`: arrays that are not used are not read.

        Examples
        --------
        >>> model = nn.Linear(2, 1)
        >>> _ = model.load_weights([("weight", mx.ones((1, 2))), ("bias", mx.zeros((1,)))])
        >>> model.parameters()
        {'weight': array([[1, 1]], dtype=float32), 'bias': array([0], dtype=float32)}
        """
        if isinstance(file_or_weights, (str, os.PathLike)):
            weights = weights_in(os.fspath(file_or_weights))
        elif hasattr(file_or_weights, "read"):
            weights = weights_in(file_or_weights)
        else:
            weights = weights_by_path(file_or_weights)
        known_slots = self._slots_of_weights(strict)
        known = {path: value for path, value in weights.items() if path in known_slots}
        if strict:
            check_paths(weights, known_slots)
        for path, value in known.items():
            check_weight(path, value, known_slots[path].value.shape if strict else None)
        slots = {path: with_value(known_slots[path], value) for path, value in known.items()}
        if not overrides(self, "update"):
            assign([slot for slot in slots.values() if slot.container is not None])
        elif weights:
            values = {path: slot.value for path, slot in slots.items()}
            self.update(tree_unflatten(weights | values), strict=False)
        return self

    def save_weights(self, file: str | os.PathLike | BinaryIO) -> None:
        """Write the parameters by their paths to a `.safetensors` or `.npz` file.

        Parameters
        ----------
        file : str, path or binary file
            Name of the file, which determines the format, or a file open for writing in binary
            mode, which gets the safetensors format.

        Raises
        ------
        ValueError
            If the name ends in neither `.safetensors` nor `.npz`, or if two parameters have the
            same path.
        OSError
            If the file cannot be written.

        See Also
        --------
        Module.load_weights, mx.save_safetensors, mx.savez

        Notes
        -----
        The file is written completely or not at all. It may be the file from which the parameters
        were loaded.

        Examples
        --------
        >>> import os, tempfile
        >>> model = nn.Linear(2, 3)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     path = os.path.join(folder, "weights.safetensors")
        ...     model.save_weights(path)
        ...     other = nn.Linear(2, 3).load_weights(path)
        >>> mx.array_equal(other.weight, model.weight)
        array(True, dtype=bool)
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

    def state_dict(self) -> dict[str, mx.array]:
        """Flat dict of all parameters by path.

        Returns
        -------
        dict of str to array
            The arrays of `parameters`, which are those that `save_weights` writes.

        Raises
        ------
        ValueError
            If two parameters have the same path.

        See Also
        --------
        Module.load_state_dict, Module.parameters, Module.save_weights

        Notes
        -----
        Frozen parameters are included, among them the running averages of `nn.BatchNorm`, which
        PyTorch calls buffers. Arrays whose names begin with an underscore are not.

        The dict is a new one. Updates of the module, such as those by optimizers, replace its
        arrays and do not change the dict; an assignment in place, ``module.weight[0] = 1``, does.

        Examples
        --------
        >>> model = nn.Sequential(nn.Linear(2, 3), nn.BatchNorm(3))
        >>> [*model.state_dict()][:4]
        ['layers.0.weight', 'layers.0.bias', 'layers.1.weight', 'layers.1.bias']
        """
        return by_path("state_dict", tree_flatten(self.parameters()))

    def load_state_dict(
        self, state_dict: Mapping[str, mx.array], strict: bool = True
    ) -> IncompatibleKeys:
        """Replace the parameters by those of a flat dict.

        Parameters
        ----------
        state_dict : mapping of str to array
            The parameters by path, as `state_dict` returns them.
        strict : bool, optional
            Whether the paths must be exactly those of this module. Otherwise unknown paths are
            ignored, and parameters may be missing. Default: True.

        Returns
        -------
        IncompatibleKeys
            A named tuple of two lists: `missing_keys`, the paths of parameters that the dict lacks,
            and `unexpected_keys`, the paths that the module lacks.

        Raises
        ------
        ValueError
            If `strict` is True and a path is unknown or missing, if a shape differs, or if a value
            is not an array. No parameter is replaced then.
        TypeError
            If `state_dict` is not a mapping.

        See Also
        --------
        Module.load_weights, Module.state_dict

        Notes
        -----
        `load_weights` under PyTorch's name and with its rules: shapes must agree even if `strict`
        is False, and the result says which paths differ. The parameters take the dtypes of the
        dict.

        Examples
        --------
        >>> model = nn.Linear(2, 1)
        >>> model.load_state_dict({"weight": mx.ones((1, 2))}, strict=False)
        IncompatibleKeys(missing_keys=['bias'], unexpected_keys=[])
        """
        if not isinstance(state_dict, Mapping):
            raise TypeError(
                f"[load_state_dict] got {type(state_dict).__name__}, expected a dict of arrays"
            )
        weights = weights_by_path(state_dict.items())
        slots = self._slots_of_weights(True)
        if not strict:
            for path in weights.keys() & slots.keys():
                check_weight(path, weights[path], slots[path].value.shape)
        self.load_weights(weights, strict)
        return compare_paths(weights, slots)

    def _slots_of_weights(self, only_listed: bool) -> dict[str, Slot]:
        """The slots of all parameters, or of those that `parameters` lists, by all of their paths.

        A file may name the parameters of a module with several paths by any or all of them.
        """
        all_parameters = _Walk(Module.valid_parameter_filter).traverse(self)
        pairs = zip(
            tree_flatten(all_parameters), find_slots(self, all_parameters, mx.array), strict=True
        )
        slots = by_path("load_weights", [(path, slot) for (path, _), slot in pairs])
        if not only_listed:
            return slots
        listed = by_path("load_weights", tree_flatten(self.parameters()))
        listed_identities = {slots[path].identity for path in listed if path in slots}
        # Subclasses may list parameters under other names, which their `update` understands.
        others = {path: Slot(None, path, a) for path, a in listed.items() if path not in slots}
        return {
            path: slot for path, slot in slots.items() if slot.identity in listed_identities
        } | others

    def _own_parameters(self) -> list[str]:
        """The paths of the parameters that are not in another module."""

        def is_own(module: Module, key: str, value: Any) -> bool:
            return not isinstance(value, Module) and module.valid_parameter_filter(
                module, key, value
            )

        return [path for path, _ in tree_flatten(self.filter_and_map(is_own))]

    def _apply_to_keys(
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

    # Checks of keys, which subclasses written for MLX may override or call.

    def _validate_keys(self, keys: str | list[str], strict: bool) -> list[str]:
        names = _names(keys)
        if strict:
            self._check_members(names, [self])
        return names

    def _validate_keys_recursive(self, keys: str | list[str]) -> None:
        self._check_members(_names(keys), self.modules())


def modules_in_order(module: Module) -> list[tuple[str, Module]]:
    """The module and all modules in it with their first paths, each before the modules in it."""
    found: dict[int, tuple[str, Module]] = {}
    pending = [("", module)]
    while pending:
        path, module = pending.pop()
        if id(module) in found:
            continue
        found[id(module)] = (path, module)
        prefix = f".{path}" if path else ""
        children = tree_flatten(module.children(), prefix=prefix, is_leaf=Module.is_module)
        pending += reversed(children)
    return [*found.values()]


def path_in(module: Module, inner: Any) -> str | None:
    """The first path of a module in another one."""
    return next((path for path, each in modules_in_order(module) if each is inner), None)


def own_parameters(module: Module, filter_fn: Filter, seen: set[int]) -> list[mx.array]:
    """The parameters that a module holds itself, without those of ties in `seen`."""

    def is_own(module: Module, key: str, value: Any) -> bool:
        return not isinstance(value, Module) and filter_fn(module, key, value)

    return [a for _, a in tree_flatten(_Walk(is_own, seen=seen).traverse(module))]


def overrides(module: Module, name: str) -> bool:
    """Whether the class of a module, or the module itself, overrides a method of `Module`."""
    return getattr(getattr(module, name), "__func__", None) is not vars(Module)[name]


def _is_settable(module: Module, key: str) -> bool:
    """Whether the class has a property with a setter of this name, which takes the value.

    Raises `AttributeError` if the class has another attribute of this name, which would hide an
    entry.
    """
    definition = next((base for base in type(module).__mro__ if key in vars(base)), None)
    if definition is None:
        return False
    attribute = vars(definition)[key]
    is_property = hasattr(type(attribute), "__set__")
    if is_property and getattr(attribute, "fset", True) is not None:
        return True
    # A property without a value, which raises AttributeError, does not hide an entry.
    if is_property and not hasattr(module, key):
        return False
    kind = "property" if is_property else "method" if callable(attribute) else "class attribute"
    name = type(module).__name__
    raise AttributeError(
        f"[{name}] {key!r} is a {kind} of {definition.__name__}, which would hide an array, a "
        f"module or a container of that name; use another name, such as '{key}_'"
    )


def _follow_assignment(module: Module, key: str, value: Any) -> None:
    """Update the names tied to an entry, and let errors of a class with inner modules name them."""
    known = tie_of(module, key)
    if known is not None and isinstance(value, mx.array):
        known.store(value)
    elif known is not None:
        untie(module, key)
    if _is_node(value):
        name_modules(type(module), path_in)


def _warn_of_hidden(module: Module, key: str, value: Any) -> None:
    """Warn once about arrays and modules in a value that are not part of the module's tree."""
    if isinstance(value, (mx.array, Module)) or str(key).startswith("_"):
        return

    def is_reached(hidden: Any) -> bool:
        return any(hidden is other for other in _all_in(module))

    for path, hidden, contains in find_hidden(key, value, Module.is_module, is_reached):
        # Stored in the module, so that its copies and pickles do not warn again.
        known = module.__dict__.setdefault("_warned_of", set())
        if path in known:
            continue
        known.add(path)
        if contains is None:
            got = f"{type(hidden).__module__} array, which is neither a parameter nor saved"
            expected = f"umber.core.array({path}) if it shall be one"
        else:
            got = (
                f"{type(hidden).__name__} that holds {contains}, which are neither parameters nor "
                "saved nor reached by train() and eval()"
            )
            expected = (
                f"the {contains} as attributes, or in lists, tuples, dicts or children of classes "
                "that umber.utils.register_tree_node knows, if they shall be"
            )
        warnings.warn(
            f"[{type(module).__name__}] {path}: got a {got}, expected {expected}", stacklevel=3
        )


def _all_in(module: Module) -> list[Any]:
    """The module and everything in it: modules, containers and leaves."""
    containers = containers_in(module)
    entries = ((child for _, child in pairs_of(each)) for each in containers)
    return [module, *chain.from_iterable(entries)]


def _shown(child: Any) -> str:
    """The repr of a module, or the name of a function."""
    return repr(child) if isinstance(child, Module) else getattr(child, "__name__", repr(child))


def _names(keys: Any) -> list[str]:
    """Names of members; a single one may be given without a list."""
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
    """Whether a value is a module or a container that may hold modules.

    Tuples and nodes of registered classes count only if they hold arrays or modules: most tuples
    are settings, such as sizes.
    """
    is_setting = isinstance(value, tuple) or is_node(value)
    return isinstance(value, (dict, list)) or (is_setting and _holds_leaves(value))


def _holds_leaves(tree: Any) -> bool:
    """Whether a tuple or node holds arrays or modules, also in containers inside it."""
    pending: list[Any] = [tree]
    entered: set[int] = set()
    while pending:
        value = pending.pop()
        if isinstance(value, (mx.array, Module)):
            return True
        if (isinstance(value, (dict, list, tuple)) or is_node(value)) and id(value) not in entered:
            entered.add(id(value))
            pending += (child for _, child in pairs_of(value))
    return False


class _Once(NamedTuple):
    """A filter for which modules with several paths are traversed at the first path only."""

    filter_fn: Filter

    def __call__(self, module: Module, key: str, value: Any) -> bool:
        return self.filter_fn(module, key, value)


class _Walk(NamedTuple):
    """Traversal of a module by `filter_and_map`."""

    filter_fn: Filter
    map_fn: Callable[[Any], Any] = _identity
    is_leaf_fn: Filter = _is_plain_leaf
    seen: set[int] | None = None
    """Modules and ties traversed so far, if modules with several paths count once."""
    ancestors: frozenset[int] = frozenset()
    """Modules being traversed, to end at a module that contains itself."""

    def traverse(self, module: Module) -> dict[str, Any]:
        if id(module) in self.ancestors or (self.seen is not None and id(module) in self.seen):
            return {}
        if self.seen is not None:
            self.seen.add(id(module))
        child_walk = self._replace(ancestors=self.ancestors | {id(module)})
        return {
            key: child_walk.enter(module, key, value)
            for key, value in dict.items(module)
            if self.filter_fn(module, key, value)
            and not (Tie.exists and self.is_repeated(module, key))
        }

    def is_repeated(self, module: Module, key: str) -> bool:
        """Whether an entry counts once and is tied to one that was traversed before."""
        tie = tie_of(module, key)
        if tie is None or self.seen is None:
            return False
        is_known = id(tie) in self.seen
        self.seen.add(id(tie))
        return is_known

    def enter(self, module: Module, key: str, value: Any) -> Any:
        if self.is_leaf_fn(module, key, value):
            return self.map_fn(value)
        if isinstance(value, Module):
            return self.traverse(value)
        if isinstance(value, (dict, list, tuple)) or is_node(value):
            pairs = value.items() if isinstance(value, dict) else pairs_of(value)
            mapped = {k: self.enter_if_selected(module, f"{key}.{k}", child) for k, child in pairs}
            if is_keyed(value):
                return mapped
            children = [*mapped.values()]
            return with_children(value, children) if isinstance(value, tuple) else children
        raise RuntimeError(
            f"[filter_and_map] {key}: got {type(value).__name__}, "
            "expected a leaf, a module, a dict, a list, a tuple or a node of a registered class"
        )

    def enter_if_selected(self, module: Module, key: str, value: Any) -> Any:
        return self.enter(module, key, value) if self.filter_fn(module, key, value) else {}


_layout.complete(globals())
