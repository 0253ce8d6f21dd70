"""Functions on trees: nested lists, tuples and dicts with leaves of any type.

A tree of arrays is what JAX calls a pytree: the parameters of a model, its gradients, the state of
an optimizer. Paths name leaves: the keys and indices on the way to a leaf, joined by dots, as in
``"layers.0.weight"``. `mx.random.state` counts as a list of one key. Instances of classes that
`register_tree_node` or `register_dataclass` was called for are nodes, too, here and in the
transforms of `umber.core`.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, TypeVar, overload

import umber.core as mx
from umber import _layout

_T = TypeVar("_T")

_MISSING = object()
_flatten_node: Callable[[Any], tuple[list, Any, Any]] = mx._flatten_node  # type: ignore[attr-defined]
_container_like: Callable[[Any, list], Any] = mx._container_like  # type: ignore[attr-defined]
# The functions (flatten, unflatten, names) of the registered classes.
_nodes: dict[type, tuple] = mx._tree_nodes  # type: ignore[attr-defined]
# `mx.random.state` is a sequence of one key.
_SEQUENCES = (list, tuple, type(mx.random.state))
_CONTAINERS = (*_SEQUENCES, dict)
# More gaps in a list than this are an error.
_MAX_GAPS = 1 << 20
_MAX_DIGITS = 18


def tree_map(
    fn: Callable[..., Any],
    tree: Any,
    *rest: Any,
    is_leaf: Callable[[Any], bool] | None = None,
) -> Any:
    """Apply a function to every leaf of a tree.

    Parameters
    ----------
    fn : callable
        Called as ``fn(leaf, *others)`` with each leaf of `tree` and the values at the same place in
        the trees of `rest`.
    tree : tree
        Nested lists, tuples and dicts. It decides the structure of the result.
    *rest : tree
        Further trees, which have at least the places of `tree`.
    is_leaf : callable, optional
        Nodes for which ``is_leaf(node)`` is true are passed to `fn` whole. Default: only values
        other than lists, tuples and dicts are leaves.

    Returns
    -------
    tree
        A tree of the structure of `tree` with the values that `fn` returned. Instances of
        subclasses of list, tuple and dict keep their type; modules become dicts.

    Raises
    ------
    TypeError
        If `fn` is not callable.
    KeyError, IndexError, TypeError
        If a tree of `rest` lacks a place of `tree`.

    See Also
    --------
    tree_map_with_path, tree_flatten, tree_reduce

    Notes
    -----
    `None` is a leaf.

    Examples
    --------
    >>> from umber.utils import tree_map
    >>> tree_map(lambda x, y: x + y, {"a": [1, 2]}, {"a": [10, 20]})
    {'a': [11, 22]}
    """
    _check_function("tree_map", "fn", fn)
    return _map(fn, tree, rest, is_leaf)


def tree_map_with_path(
    fn: Callable[..., Any],
    tree: Any,
    *rest: Any,
    is_leaf: Callable[[Any], bool] | None = None,
    path: Any = None,
) -> Any:
    """Apply a function to the path and the value of every leaf of a tree.

    Parameters
    ----------
    fn : callable
        Called as ``fn(path, leaf, *others)``, with a path such as ``"layers.0.bias"``.
    tree : tree
        Nested lists, tuples and dicts. It decides the structure of the result.
    *rest : tree
        Further trees, which have at least the places of `tree`.
    is_leaf : callable, optional
        Nodes for which ``is_leaf(node)`` is true are passed to `fn` whole. Default: only values
        other than lists, tuples and dicts are leaves.
    path : str, optional
        Prefix of all paths. Default: none; the path of a tree that is itself a leaf is then `None`.

    Returns
    -------
    tree
        A tree of the structure of `tree` with the values that `fn` returned.

    Raises
    ------
    TypeError
        If `fn` is not callable.
    KeyError, IndexError, TypeError
        If a tree of `rest` lacks a place of `tree`.

    See Also
    --------
    tree_map, tree_flatten

    Examples
    --------
    >>> from umber.utils import tree_map_with_path
    >>> tree_map_with_path(lambda path, leaf: f"{path} = {leaf}", {"a": [1, 2]})
    {'a': ['a.0 = 1', 'a.1 = 2']}
    """
    _check_function("tree_map_with_path", "fn", fn)
    return _map_with_path(fn, tree, rest, is_leaf, path)


@overload
def tree_flatten(
    tree: Any,
    prefix: str = ...,
    is_leaf: Callable[[Any], bool] | None = ...,
    destination: list[tuple[str, Any]] | None = ...,
) -> list[tuple[str, Any]]: ...
@overload
def tree_flatten(
    tree: Any,
    prefix: str = ...,
    is_leaf: Callable[[Any], bool] | None = ...,
    *,
    destination: dict[str, Any],
) -> dict[str, Any]: ...
def tree_flatten(
    tree: Any,
    prefix: str = "",
    is_leaf: Callable[[Any], bool] | None = None,
    destination: list[tuple[str, Any]] | dict[str, Any] | None = None,
) -> list[tuple[str, Any]] | dict[str, Any]:
    """Leaves of a tree with their paths, as a list of pairs or as a dict.

    Parameters
    ----------
    tree : tree
        Nested lists, tuples and dicts.
    prefix : str, optional
        Put before every path. Its first character is dropped, so ``".model"`` gives paths such as
        ``"model.weight"``. Default: ``""``.
    is_leaf : callable, optional
        Nodes for which ``is_leaf(node)`` is true are leaves. Default: only values other than lists,
        tuples and dicts are leaves.
    destination : list or dict, optional
        Where to add the leaves. Default: a new list.

    Returns
    -------
    list of (str, leaf) or dict
        `destination`: the leaves in the order of the tree.

    Raises
    ------
    TypeError
        If `destination` is neither a list nor a dict.

    See Also
    --------
    tree_unflatten, tree_map_with_path

    Examples
    --------
    >>> from umber.utils import tree_flatten
    >>> tree_flatten({"a": [1, {"b": 2}]})
    [('a.0', 1), ('a.1.b', 2)]
    >>> tree_flatten({"a": [1, {"b": 2}]}, destination={})
    {'a.0': 1, 'a.1.b': 2}
    """
    if destination is None:
        destination = []
    elif not isinstance(destination, (list, dict)):
        raise TypeError(
            f"[tree_flatten] destination: got {type(destination).__name__}, "
            "expected a list or a dict"
        )
    put = destination.__setitem__ if isinstance(destination, dict) else _append_to(destination)
    _flatten(tree, prefix, is_leaf, put)
    return destination


def tree_unflatten(tree: Iterable[tuple[str, Any]] | dict[str, Any]) -> Any:
    """Tree with the given leaves, the inverse of `tree_flatten`.

    Parameters
    ----------
    tree : iterable of (str, leaf) or dict
        Paths and leaves.

    Returns
    -------
    tree
        A node is a list if all its keys are distinct integers, with ``{}`` at indices without a
        leaf; else it is a dict.

    Raises
    ------
    TypeError
        If an entry is not a pair that begins with a string.
    ValueError
        If two leaves have the same path, or an index would leave more than about a million gaps.

    See Also
    --------
    tree_flatten

    Notes
    -----
    Tuples come back as lists, and keys of dicts as strings, split at dots.

    Examples
    --------
    >>> from umber.utils import tree_unflatten
    >>> tree_unflatten([("a.0", 1), ("a.1.b", 2)])
    {'a': [1, {'b': 2}]}
    """
    if not isinstance(tree, Iterable) or isinstance(tree, str):
        raise TypeError(
            f"[tree_unflatten] got {type(tree).__name__}, expected pairs (path, leaf) or a dict"
        )
    items = list(tree.items() if isinstance(tree, dict) else tree)
    for pair in items:
        if not (isinstance(pair, (tuple, list)) and len(pair) == 2 and isinstance(pair[0], str)):
            raise TypeError(
                f"[tree_unflatten] got {type(pair).__name__} as an entry, "
                "expected pairs (path, leaf) with a string as path"
            )
    return _unflatten(items)


def tree_reduce(
    fn: Callable[[Any, Any], Any],
    tree: Any,
    initializer: Any = None,
    is_leaf: Callable[[Any], bool] | None = None,
) -> Any:
    """Fold the leaves of a tree from left to right with a binary function.

    Parameters
    ----------
    fn : callable
        Called as ``fn(accumulator, leaf)``.
    tree : tree
        Nested lists, tuples and dicts.
    initializer : optional
        First value of the accumulator. Default: the first leaf.
    is_leaf : callable, optional
        Nodes for which ``is_leaf(node)`` is true are leaves. Default: only values other than lists,
        tuples and dicts are leaves.

    Returns
    -------
    object
        ``fn(...fn(fn(initializer, leaf0), leaf1)...)``. Of a tree without leaves the initializer,
        or `None` without one.

    Raises
    ------
    TypeError
        If `fn` is not callable.

    See Also
    --------
    tree_map

    Examples
    --------
    >>> from umber.utils import tree_reduce
    >>> tree_reduce(lambda total, x: total + x.size, nn.Linear(4, 8).parameters(), 0)
    40
    """
    _check_function("tree_reduce", "fn", fn)
    accumulator = initializer
    pairs: list[tuple[str, Any]] = []
    _flatten(tree, "", is_leaf, _append_to(pairs))
    for _, leaf in pairs:
        accumulator = leaf if accumulator is None else fn(accumulator, leaf)
    return accumulator


def tree_merge(
    tree_a: Any,
    tree_b: Any,
    merge_fn: Callable[[Any, Any], Any] | None = None,
) -> Any:
    """Union of two trees.

    Parameters
    ----------
    tree_a, tree_b : tree
        The trees. `None` and empty containers count as missing.
    merge_fn : callable, optional
        Called as ``merge_fn(a, b)`` with the two values at a path at which both trees have one.
        Default: such a path is an error.

    Returns
    -------
    tree
        The places of both trees; of two containers, with the type of the first.

    Raises
    ------
    ValueError
        If both trees have a value at the same place and there is no `merge_fn`.
    TypeError
        If `merge_fn` is not callable.

    See Also
    --------
    tree_map

    Examples
    --------
    >>> from umber.utils import tree_merge
    >>> tree_merge({"a": {"x": 1}}, {"a": {"y": 2}, "b": 3})
    {'a': {'x': 1, 'y': 2}, 'b': 3}
    """
    if merge_fn is not None:
        _check_function("tree_merge", "merge_fn", merge_fn)
    return _merge(tree_a, tree_b, merge_fn)


def register_tree_node(
    cls: type[_T],
    flatten: Callable[[_T], tuple[Iterable[Any], Any]],
    unflatten: Callable[[Any, tuple[Any, ...]], _T],
    *,
    names: Sequence[str] | None = None,
) -> type[_T]:
    """Make the instances of a class nodes of trees.

    Parameters
    ----------
    cls : type
        The class. Its subclasses are not registered by this.
    flatten : callable
        Called as ``flatten(node)``. Returns a pair: the children of the node, and auxiliary data,
        which `compile` compares by equality.
    unflatten : callable
        Called as ``unflatten(auxiliary, children)`` with a tuple of children. Returns a new node.
        The children may be any objects, such as `None` in place of arrays.
    names : sequence of str, optional
        Names of the children in paths and messages, if their number is fixed. Default: their
        indices.

    Returns
    -------
    type
        `cls`.

    Raises
    ------
    TypeError
        If `cls` is not a class, if `flatten` or `unflatten` is not callable, or if `names` holds
        anything but strings.
    ValueError
        If `cls` is registered already, or if its instances are arrays, None, or plain lists, tuples
        and dicts.

    See Also
    --------
    register_dataclass, tree_map

    Notes
    -----
    All transforms and the functions of this module use the same registrations, which last as long
    as the process. Transforms call their function with new nodes; changes that the function makes
    to them do not reach the caller's.

    Examples
    --------
    >>> from umber.utils import register_tree_node
    >>> class Point:
    ...     def __init__(self, x, y):
    ...         self.x, self.y = x, y
    >>> _ = register_tree_node(
    ...     Point, lambda p: ((p.x, p.y), None), lambda _, children: Point(*children)
    ... )
    >>> mx.grad(lambda p: p.x * p.y)(Point(mx.array(2.0), mx.array(3.0))).x
    array(3, dtype=float32)
    """
    op = "register_tree_node"
    if not isinstance(cls, type):
        raise TypeError(f"[{op}] cls: got {type(cls).__name__}, expected a class")
    _check_function(op, "flatten", flatten)
    _check_function(op, "unflatten", unflatten)
    if names is not None:
        names = tuple(names)
        if not all(isinstance(name, str) for name in names):
            raise TypeError(f"[{op}] names: got {names!r}, expected strings")
    if cls in _nodes:
        raise ValueError(f"[{op}] cls: {cls.__name__} is registered already")
    if cls in (mx.array, type(None), list, tuple, dict):
        raise ValueError(f"[{op}] cls: {cls.__name__} has a meaning in trees of its own")
    _nodes[cls] = (flatten, unflatten, names)
    return cls


def register_dataclass(
    cls: type[_T],
    data_fields: Sequence[str] | None = None,
    meta_fields: Sequence[str] | None = None,
) -> type[_T]:
    """Make the instances of a dataclass nodes of trees.

    Parameters
    ----------
    cls : type
        The dataclass.
    data_fields : sequence of str, optional
        Fields that are children. Default: all other fields.
    meta_fields : sequence of str, optional
        Fields that are auxiliary data, such as sizes and flags: they have no gradients, and
        `compile` compares them by equality. Default: all fields that are not in `data_fields`;
        without it, those defined by ``field(metadata={"static": True})``.

    Returns
    -------
    type
        `cls`, so that the function is a decorator, too.

    Raises
    ------
    TypeError
        If `cls` is not a dataclass.
    ValueError
        If `cls` is registered already, if it has no field of a name, or if a field is in both
        sequences or in neither.

    See Also
    --------
    register_tree_node

    Notes
    -----
    New nodes get the values of their fields without a call of ``__init__`` or ``__post_init__``.
    Frozen dataclasses and those with slots work, too.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> from umber.utils import register_dataclass, tree_flatten
    >>> @register_dataclass
    ... @dataclass
    ... class Affine:
    ...     scale: mx.array
    ...     shift: mx.array
    >>> tree_flatten(Affine(2, 3))
    [('scale', 2), ('shift', 3)]
    """
    import dataclasses  # Takes longer than this module.

    op = "register_dataclass"
    if not (isinstance(cls, type) and dataclasses.is_dataclass(cls)):
        name = cls.__name__ if isinstance(cls, type) else type(cls).__name__
        raise TypeError(f"[{op}] cls: got {name}, expected a dataclass")
    fields = {field.name: field for field in dataclasses.fields(cls)}
    if data_fields is None and meta_fields is None:
        meta_fields = [name for name, field in fields.items() if field.metadata.get("static")]
    if data_fields is None:
        data_fields = [name for name in fields if name not in meta_fields]  # type: ignore[operator]
    if meta_fields is None:
        meta_fields = [name for name in fields if name not in data_fields]
    data, meta = tuple(data_fields), tuple(meta_fields)
    for name in (*data, *meta):
        if name not in fields:
            raise ValueError(f"[{op}] {cls.__name__} has no field {name!r}")
    for name in fields:
        if (*data, *meta).count(name) != 1:
            raise ValueError(
                f"[{op}] {name!r} must be in one of data_fields {data} and meta_fields {meta}"
            )

    def flatten(node: _T) -> tuple[tuple, tuple]:
        return (
            tuple(getattr(node, name) for name in data),
            tuple(getattr(node, name) for name in meta),
        )

    def unflatten(auxiliary: tuple, children: tuple) -> _T:
        node = object.__new__(cls)
        for name, value in zip((*data, *meta), (*children, *auxiliary), strict=True):
            object.__setattr__(node, name, value)
        return node

    return register_tree_node(cls, flatten, unflatten, names=data)


def ravel_tree(tree: Any) -> tuple[mx.array, Callable[[Any], Any]]:
    """Concatenate the arrays of a tree into one vector, and return the inverse.

    Parameters
    ----------
    tree : tree
        Nested lists, tuples and dicts of arrays and numbers. `None` is kept as it is.

    Returns
    -------
    flat : array
        Elements of all leaves in the order of `tree_flatten`, in the dtype that all of them promote
        to. Without leaves it is empty and of float32.
    unravel : callable
        Takes a vector of the length and dtype of `flat` and returns a tree of the structure, shapes
        and dtypes of `tree`.

    Raises
    ------
    TypeError
        If a leaf is not an array or number; from `unravel`, if the dtype is not that of `flat`.
    ValueError
        From `unravel`, if the shape is not that of `flat`.

    See Also
    --------
    tree_flatten, tree_map, umber.core.concatenate

    Notes
    -----
    Optimizers and solvers of vectors, such as SciPy's, can thus work on the parameters of a model.
    Both directions are made of differentiable operations, and work under all transforms. `unravel`
    does not keep the arrays of `tree`.

    Examples
    --------
    >>> import umber.core as mx
    >>> from umber.utils import ravel_tree
    >>> flat, unravel = ravel_tree({"w": mx.array([[1.0, 2.0]]), "n": mx.array(3)})
    >>> flat
    array([1, 2, 3], dtype=float32)
    >>> unravel(2 * flat)
    {'w': array([[2, 4]], dtype=float32), 'n': array(6, dtype=int32)}
    """
    leaves: list[mx.array] = []

    def to_spec(path: Any, leaf: Any) -> mx.ShapeDtypeStruct | None:
        if leaf is None:
            return None
        array = _as_array(path, leaf)
        leaves.append(array)
        return mx.ShapeDtypeStruct(array.shape, array.dtype)

    specs = tree_map_with_path(to_spec, tree)
    dtype = mx.result_type(*leaves) if leaves else mx.float32
    parts = [leaf.astype(dtype).reshape(-1) for leaf in leaves]
    flat = mx.concatenate(parts) if parts else mx.zeros(0, dtype)
    size = sum(leaf.size for leaf in leaves)

    def unravel(flat: Any) -> Any:
        flat = _as_array("flat", flat)
        if flat.dtype != dtype:
            raise TypeError(f"[ravel_tree] got a vector of {flat.dtype}, expected {dtype}")
        if flat.shape != (size,):
            raise ValueError(f"[ravel_tree] got a vector of shape {flat.shape}, expected ({size},)")
        start = 0

        def to_leaf(spec: mx.ShapeDtypeStruct | None) -> mx.array | None:
            nonlocal start
            if spec is None:
                return None
            part, start = flat[start : start + spec.size], start + spec.size
            return part.reshape(spec.shape).astype(spec.dtype)

        return tree_map(to_leaf, specs)

    return flat, unravel


def _as_array(path: Any, leaf: Any) -> mx.array:
    if isinstance(leaf, mx.array):
        return leaf
    if isinstance(leaf, (bool, int, float, complex)) or hasattr(leaf, "__array_struct__"):
        return mx.array(leaf)
    place = f"leaf '{path}'" if path else "tree"
    raise TypeError(
        f"[ravel_tree] {place}: got {type(leaf).__name__}, expected an array or a number"
    )


def _map(fn: Callable[..., Any], tree: Any, rest: Sequence[Any], is_leaf: Any) -> Any:
    if (is_leaf is not None and is_leaf(tree)) or not (
        isinstance(tree, _CONTAINERS) or type(tree) in _nodes
    ):
        return fn(tree, *rest)
    mapped = [
        _map(fn, child, [_child("tree_map", other, key) for other in rest], is_leaf)
        for key, child in _children(tree)
    ]
    return _rebuild(tree, tree, mapped)


def _map_with_path(
    fn: Callable[..., Any], tree: Any, rest: Sequence[Any], is_leaf: Any, path: Any
) -> Any:
    if (is_leaf is not None and is_leaf(tree)) or not (
        isinstance(tree, _CONTAINERS) or type(tree) in _nodes
    ):
        return fn(path, tree, *rest)
    prefix = f"{path}." if path else ""
    mapped = []
    for key, child in _children(tree):
        others = [_child("tree_map_with_path", other, key) for other in rest]
        mapped.append(_map_with_path(fn, child, others, is_leaf, f"{prefix}{key}"))
    return _rebuild(tree, tree, mapped)


def _children(tree: Any) -> Iterable[tuple[Any, Any]]:
    """The children of a node with their keys."""
    if type(tree) in _nodes:
        children, _, names = _flatten_node(tree)
        return enumerate(children) if names is None else zip(names, children, strict=True)
    return tree.items() if isinstance(tree, dict) else enumerate(tree)


def _rebuild(like: Any, keys: Iterable[Any], children: list[Any]) -> Any:
    """A node of the type of `like`, with other children; a list for a state, a dict for a module.

    `keys` are those of a dict. The children are a list, not a generator: a generator that recurses
    uses the C stack at each level, which may overflow before Python's recursion limit is reached.
    """
    kind = type(like)
    if kind is list:
        return children
    if kind is dict:
        return dict(zip(keys, children, strict=True))
    if kind in _nodes:
        return _nodes[kind][1](_flatten_node(like)[1], tuple(children))
    if isinstance(like, tuple):
        # Constructors of subclasses, such as named tuples, may take other arguments.
        return tuple.__new__(kind, children)
    if isinstance(like, dict):
        pairs = zip(keys, children, strict=True)
        return dict(pairs) if callable(like) else _container_like(like, [*pairs])
    return _container_like(like, children) if isinstance(like, list) else children


def _child(op: str, tree: Any, key: Any) -> Any:
    try:
        return dict(_children(tree))[key] if type(tree) in _nodes else tree[key]
    except (KeyError, IndexError, TypeError) as error:
        raise type(error)(
            f"[{op}] trees differ in structure: {type(tree).__name__} has no {key!r}"
        ) from error


def _unflatten(items: list[tuple[str, Any]]) -> Any:
    if len(items) == 1 and items[0][0] == "":
        return items[0][1]
    if not items:
        return []
    if all(path == "" for path, _ in items):
        raise ValueError(f"[tree_unflatten] {len(items)} leaves have the same path")
    children: dict[str, list[tuple[str, Any]]] = {}
    for path, leaf in items:
        key, _, remainder = path.partition(".")
        children.setdefault(key, []).append((remainder, leaf))
    if not _are_indices(children):
        return {key: _unflatten(child) for key, child in children.items()}
    longest = max(map(len, children))
    if longest > _MAX_DIGITS or max(map(int, children)) >= len(children) + _MAX_GAPS:
        worst = max(children, key=len)
        raise ValueError(
            f"[tree_unflatten] index {worst[:20]} is too large: at most {_MAX_GAPS} indices of a "
            f"list may be missing, got {len(children)} of them"
        )
    level: list[Any] = [{} for _ in range(max(map(int, children)) + 1)]
    for key, child in children.items():
        level[int(key)] = _unflatten(child)
    return level


def _are_indices(keys: Collection[str]) -> bool:
    """Whether the keys are distinct integers; "1" and "01" are the same one."""
    if not all(key.isdecimal() for key in keys):
        return False
    is_short = max(map(len, keys)) <= _MAX_DIGITS
    return not is_short or len({int(key) for key in keys}) == len(keys)


def _check_function(op: str, name: str, value: Any) -> None:
    if not callable(value):
        raise TypeError(f"[{op}] {name}: got {type(value).__name__}, expected a function")


def _merge(tree_a: Any, tree_b: Any, merge_fn: Callable[[Any, Any], Any] | None) -> Any:
    if _is_missing(tree_a):
        return tree_b
    if _is_missing(tree_b):
        return tree_a
    if type(tree_a) in _nodes and type(tree_a) is type(tree_b):
        both = zip(_children(tree_a), _children(tree_b), strict=True)
        return _rebuild(tree_a, (), [_merge(a, b, merge_fn) for (_, a), (_, b) in both])
    if isinstance(tree_a, _SEQUENCES) and isinstance(tree_b, _SEQUENCES):
        longest = max(len(tree_a), len(tree_b))
        pairs = zip(_padded(tree_a, longest), _padded(tree_b, longest), strict=True)
        return _rebuild(tree_a, (), [_merge_entries(a, b, merge_fn) for a, b in pairs])
    if isinstance(tree_a, dict) and isinstance(tree_b, dict):
        keys = [*tree_a, *(key for key in tree_b if key not in tree_a)]
        merged = [
            _merge_entries(tree_a.get(key, _MISSING), tree_b.get(key, _MISSING), merge_fn)
            for key in keys
        ]
        return _rebuild(tree_a, keys, merged)
    if merge_fn is None:
        raise ValueError(
            "[tree_merge] both trees have a value at the same path; pass a merge function"
        )
    return merge_fn(tree_a, tree_b)


def _flatten(
    tree: Any, prefix: str, is_leaf: Callable[[Any], bool] | None, put: Callable[[str, Any], None]
) -> None:
    is_node = isinstance(tree, _CONTAINERS) or type(tree) in _nodes
    if is_node and (is_leaf is None or not is_leaf(tree)):
        for key, child in _children(tree):
            _flatten(child, f"{prefix}.{key}", is_leaf, put)
        return
    put(prefix[1:], tree)


def _append_to(pairs: list[tuple[str, Any]]) -> Callable[[str, Any], None]:
    return lambda path, leaf: pairs.append((path, leaf))


def _padded(sequence: Any, length: int) -> list[Any]:
    return [*sequence, *[_MISSING] * (length - len(sequence))]


def _merge_entries(a: Any, b: Any, merge_fn: Callable[[Any, Any], Any] | None) -> Any:
    if a is _MISSING:
        return b
    return a if b is _MISSING else _merge(a, b, merge_fn)


def _is_missing(tree: Any) -> bool:
    return tree is None or (isinstance(tree, (list, tuple, dict)) and len(tree) == 0)


_layout.complete(globals())
