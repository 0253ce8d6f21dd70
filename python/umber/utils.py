"""Functions on trees: lists, tuples and dicts, nested to any depth, around leaves of any type.

`mx.random.state` counts as a list of one key.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Sequence
from typing import Any, overload

import umber.core as mx
from umber import _errors, _layout

_MISSING = object()
# The random state holds its key as a list does.
_SEQUENCES = (list, tuple, type(mx.random.state))
# Lists with more places that nothing fills are taken for a mistake.
_MOST_GAPS = 1 << 20
_MOST_DIGITS = 18


def tree_map(
    fn: Callable[..., Any],
    tree: Any,
    *rest: Any,
    is_leaf: Callable[[Any], bool] | None = None,
) -> Any:
    """The tree of `fn(leaf, *others)`, shaped like `tree`.

    Args:
        fn: called with each leaf of `tree` and what stands at its place in each tree of `rest`.
        tree: decides the structure.
        rest: trees that have at least the places of `tree`.
        is_leaf: nodes for which it holds are passed to `fn` whole.

    Example:
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
    """`tree_map` whose `fn` gets the path of the leaf first: `fn("layers.0.bias", leaf, *others)`.

    Args:
        fn: called with the path, the leaf and what stands at its place in each tree of `rest`.
        tree: decides the structure.
        rest: trees that have at least the places of `tree`.
        is_leaf: nodes for which it holds are passed to `fn` whole.
        path: what all paths begin with. The path of a tree that is a leaf is `path` itself.
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
    """The leaves of `tree` with their paths, as a list of pairs or as a dict.

    Args:
        tree: any tree.
        prefix: put before each path; its first character is dropped.
        is_leaf: nodes for which it holds are not entered.
        destination: a list or dict to add to. Default: a new list.

    Example:
        >>> tree_flatten({"a": [1, {"b": 2}]})
        [('a.0', 1), ('a.1.b', 2)]
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
    """The tree that `tree_flatten` took apart.

    A level is a list where all its keys are numbers of which no two are equal, with `{}` in the
    places that have no leaf, else a dict. Tuples come back as lists, and the keys of dicts as
    strings, split at dots. Two leaves with the same path are an error.

    Example:
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
    """Fold the leaves from left to right: `fn(…fn(fn(initializer, leaf0), leaf1)…)`.

    Without an initializer the first leaf takes its place; a tree without leaves then gives `None`.

    Example:
        >>> tree_reduce(lambda total, x: total + x, {"a": [1, 2], "b": 3})
        6
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
    """The union of two trees.

    Args:
        tree_a: a tree; `None` and empty containers stand for "nothing here".
        tree_b: the other tree.
        merge_fn: called with the two values of a place that both trees fill. Default: such a place
            is an error.

    Example:
        >>> tree_merge({"a": {"x": 1}}, {"a": {"y": 2}, "b": 3})
        {'a': {'x': 1, 'y': 2}, 'b': 3}
    """
    if merge_fn is not None:
        _check_function("tree_merge", "merge_fn", merge_fn)
    return _merge(tree_a, tree_b, merge_fn)


def _map(fn: Callable[..., Any], tree: Any, rest: Sequence[Any], is_leaf: Any) -> Any:
    if is_leaf is not None and is_leaf(tree):
        return fn(tree, *rest)
    if isinstance(tree, _SEQUENCES):
        mapped = [
            _map(fn, child, [_child("tree_map", other, i) for other in rest], is_leaf)
            for i, child in enumerate(tree)
        ]
        return _rebuild(tree, mapped)
    if isinstance(tree, dict):
        return {
            key: _map(fn, child, [_child("tree_map", other, key) for other in rest], is_leaf)
            for key, child in tree.items()
        }
    return fn(tree, *rest)


def _map_with_path(
    fn: Callable[..., Any], tree: Any, rest: Sequence[Any], is_leaf: Any, path: Any
) -> Any:
    is_whole = is_leaf is not None and is_leaf(tree)
    if is_whole or not isinstance(tree, (*_SEQUENCES, dict)):
        return fn(path, tree, *rest)
    prefix = f"{path}." if path else ""

    def descend(key: Any, child: Any) -> Any:
        others = [_child("tree_map_with_path", other, key) for other in rest]
        return _map_with_path(fn, child, others, is_leaf, f"{prefix}{key}")

    if isinstance(tree, dict):
        return {key: descend(key, child) for key, child in tree.items()}
    return _rebuild(tree, [descend(i, child) for i, child in enumerate(tree)])


def _child(op: str, tree: Any, key: Any) -> Any:
    try:
        return tree[key]
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
    if longest > _MOST_DIGITS or max(map(int, children)) >= len(children) + _MOST_GAPS:
        worst = max(children, key=len)
        raise ValueError(
            f"[tree_unflatten] index {worst[:20]} is too large for {len(children)} leaves: at most "
            f"{_MOST_GAPS} indices may be missing"
        )
    level: list[Any] = [{} for _ in range(max(map(int, children)) + 1)]
    for key, child in children.items():
        level[int(key)] = _unflatten(child)
    return level


def _are_indices(keys: Collection[str]) -> bool:
    """Whether the keys are numbers of which no two are equal, as "1" and "01" are."""
    if not all(key.isdecimal() for key in keys):
        return False
    is_short = max(map(len, keys)) <= _MOST_DIGITS
    return not is_short or len({int(key) for key in keys}) == len(keys)


def _check_function(op: str, name: str, value: Any) -> None:
    if not callable(value):
        raise TypeError(f"[{op}] {name}: got {type(value).__name__}, expected a function")


def _merge(tree_a: Any, tree_b: Any, merge_fn: Callable[[Any, Any], Any] | None) -> Any:
    if _is_nothing(tree_a):
        return tree_b
    if _is_nothing(tree_b):
        return tree_a
    if isinstance(tree_a, _SEQUENCES) and isinstance(tree_b, _SEQUENCES):
        longest = max(len(tree_a), len(tree_b))
        pairs = zip(_padded(tree_a, longest), _padded(tree_b, longest), strict=True)
        return _rebuild(tree_a, [_merge_places(a, b, merge_fn) for a, b in pairs])
    if isinstance(tree_a, dict) and isinstance(tree_b, dict):
        keys = [*tree_a, *(key for key in tree_b if key not in tree_a)]
        return {
            key: _merge_places(tree_a.get(key, _MISSING), tree_b.get(key, _MISSING), merge_fn)
            for key in keys
        }
    if merge_fn is None:
        raise ValueError(
            "[tree_merge] both trees have a value at the same path; pass a merge function"
        )
    return merge_fn(tree_a, tree_b)


def _flatten(
    tree: Any, prefix: str, is_leaf: Callable[[Any], bool] | None, put: Callable[[str, Any], None]
) -> None:
    if is_leaf is None or not is_leaf(tree):
        if isinstance(tree, _SEQUENCES):
            for i, child in enumerate(tree):
                _flatten(child, f"{prefix}.{i}", is_leaf, put)
            return
        if isinstance(tree, dict):
            for key, child in tree.items():
                _flatten(child, f"{prefix}.{key}", is_leaf, put)
            return
    put(prefix[1:], tree)


def _append_to(pairs: list[tuple[str, Any]]) -> Callable[[str, Any], None]:
    return lambda path, leaf: pairs.append((path, leaf))


def _rebuild(like: Any, children: list[Any]) -> Any:
    """A sequence of `like`'s type, which may be a subclass or a named tuple; a list for a state.

    The children are a list, not a generator: one that recurses takes of the thread's own stack at
    each level, which may end before Python's limit does.
    """
    if isinstance(like, tuple):
        # The constructors of tuples may take other arguments, those of named tuples do.
        return tuple.__new__(type(like), children)
    return type(like)(children) if isinstance(like, list) else children


def _padded(sequence: Any, length: int) -> list[Any]:
    return [*sequence, *[_MISSING] * (length - len(sequence))]


def _merge_places(a: Any, b: Any, merge_fn: Callable[[Any, Any], Any] | None) -> Any:
    if a is _MISSING:
        return b
    return a if b is _MISSING else _merge(a, b, merge_fn)


def _is_nothing(tree: Any) -> bool:
    return tree is None or (isinstance(tree, (list, tuple, dict)) and len(tree) == 0)


_errors.guard(globals())
_layout.complete("umber.utils")
