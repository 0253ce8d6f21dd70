"""Modules as nested HTML, which notebooks show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from umber.utils import tree_flatten


def to_html(module: Any, name_of: Callable[[Any], str]) -> str:
    """A list to unfold: each module with its settings, number of parameters, and modules in it.

    Parameters
    ----------
    module : Module
        The module.
    name_of : callable
        The text of a function in place of a module.

    Returns
    -------
    str
        HTML.
    """
    return f'<div style="font-family: monospace">{_node("", module, name_of, frozenset())}</div>'


def escape(text: str) -> str:
    """Text with the characters replaced that have a meaning in HTML."""
    from html import escape  # Takes longer than this package.

    return escape(text)


def _node(path: str, module: Any, name_of: Callable[[Any], str], ancestors: frozenset[int]) -> str:
    prefix = f"{escape(path)}: " if path else ""
    if not hasattr(module, "_repr_children"):
        return f'<div style="margin-left: 1em">{prefix}{escape(name_of(module))}</div>'
    text = f"{prefix}{escape(type(module).__name__)}({escape(module._extra_repr())})"
    count = sum(a.size for _, a in tree_flatten(module.parameters()))
    if count:
        text += f' <span style="opacity: 0.6">{count:,} parameters</span>'
    # A module may contain itself.
    children = [] if id(module) in ancestors else module._repr_children()
    if not children:
        return f'<div style="margin-left: 1em">{text}</div>'
    inner = "".join(
        _node(child_path, child, name_of, ancestors | {id(module)})
        for child_path, child in children
    )
    is_open = "" if path else " open"
    return f'<details style="margin-left: 1em"{is_open}><summary>{text}</summary>{inner}</details>'
