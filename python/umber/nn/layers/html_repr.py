"""Modules and optimizers as nested HTML, which notebooks show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def to_html(node: Any, name_of: Callable[[Any], str]) -> str:
    """A list to unfold: each node with its settings, a note, and the nodes in it.

    Parameters
    ----------
    node : Module or Optimizer
        An object with the methods `_extra_repr`, `_repr_note` and `_repr_children`.
    name_of : callable
        The text of a function in place of a node.

    Returns
    -------
    str
        HTML.
    """
    return f'<div style="font-family: monospace">{_node("", node, name_of, frozenset())}</div>'


def escape(text: str) -> str:
    """Text with the characters replaced that have a meaning in HTML."""
    from html import escape  # Takes longer than this package.

    return escape(text)


def _node(path: str, node: Any, name_of: Callable[[Any], str], ancestors: frozenset[int]) -> str:
    prefix = f"{escape(path)}: " if path else ""
    if not hasattr(node, "_repr_children"):
        return f'<div style="margin-left: 1em">{prefix}{escape(name_of(node))}</div>'
    text = f"{prefix}{escape(type(node).__name__)}({escape(node._extra_repr())})"
    if note := node._repr_note():
        text += f' <span style="opacity: 0.6">{note}</span>'
    # A module may contain itself.
    children = [] if id(node) in ancestors else node._repr_children()
    if not children:
        return f'<div style="margin-left: 1em">{text}</div>'
    inner = "".join(
        _node(child_path, child, name_of, ancestors | {id(node)}) for child_path, child in children
    )
    is_open = "" if path else " open"
    return f'<details style="margin-left: 1em"{is_open}><summary>{text}</summary>{inner}</details>'
