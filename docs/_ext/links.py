"""Links that work in the repository and on the site.

Pages link to files of the repository (`../../benches/README.md`). On the site, a link to a file
that the site includes leads to its page; of a link to any other file outside docs/ only the text
stays. A page includes a file, with such links, by a block ```` ```{include} ../FILE ````.
References of docstrings by the usual short names (`mx.softmax`, `nn.Linear`) lead to the reference,
and a letter may follow them as in Markdown (`array`s). Numbers of references (`[1]_`) are those of
one docstring, not of a page.
"""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx
from sphinx.environment import BuildEnvironment

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
INCLUDE = re.compile(r"^```\{include\} (\S+)\n```$", re.MULTILINE)
# Not in code: a link in backticks or fences is text.
LINK = re.compile(
    r"(?P<code>^```.*?^```|`[^`\n]*`)|(?P<image>!?)\[(?P<text>(?:[^\[\]]|\[[^\]]*\])*)\]"
    r"\((?P<target>[^)\s]+)\)",
    re.MULTILINE | re.DOTALL,
)
FOLLOWED = re.compile(r"(?<![`\w])(`[^`\n]+`)(?=\w)")
FOOTNOTE = re.compile(r"(^\s*\.\. )?\[(\d+)\]((?(1) |_))")
# The type of a parameter, whose asterisks (`(out, *kernel, in)`) are no emphasis.
TYPED = re.compile(r"^(\s*\*{0,2}\w[\w, *]* : )([^`]+)$")
SHORT = {"mx.": "umber.core.", "nn.": "umber.nn.", "optim.": "umber.optimizers."}


def included() -> dict[Path, Path]:
    """The files outside docs/ that pages include, with their pages."""
    found = {}
    for page in DOCS.rglob("*.md"):
        for name in INCLUDE.findall(page.read_text(encoding="utf-8")):
            found[(page.parent / name).resolve()] = page
    return found


def rewrite(text: str, source: Path, page: Path, homes: dict[Path, Path]) -> str:
    """The text of `source`, to be shown on `page`, with links that the site has."""

    def link(match: re.Match[str]) -> str:
        target = match["target"] or ""
        if match["code"] is not None or "://" in target or target.startswith(("#", "mailto:")):
            return match[0]
        name, mark, anchor = target.partition("#")
        path = (source.parent / name).resolve()
        path = homes.get(path, path)
        if not path.is_relative_to(DOCS) or not path.exists() or path.is_dir():
            inside = path.is_relative_to(DOCS) and not path.is_dir()
            return match[0] if inside else match["text"]
        relative = os.path.relpath(path, page.parent)
        return f"{match['image']}[{match['text']}]({relative}{mark}{anchor})"

    return LINK.sub(link, text)


def read_source(app: Sphinx, docname: str, content: list[str]) -> None:
    """Include files and mend the links of a Markdown page."""
    page = Path(app.env.doc2path(docname))
    if page.suffix != ".md":
        return
    homes = included()

    def insert(match: re.Match[str]) -> str:
        source = (page.parent / match[1]).resolve()
        app.env.note_dependency(str(source))
        return rewrite(source.read_text(encoding="utf-8"), source, page, homes)

    text = rewrite(content[0], page, page, homes)
    content[0] = INCLUDE.sub(insert, text)


def resolve_short(
    app: Sphinx, env: BuildEnvironment, node: pending_xref, contents: nodes.TextElement
) -> nodes.Node | None:
    """Resolve `mx.softmax` as `umber.core.softmax`."""
    target = node.get("reftarget", "")
    for short, full in SHORT.items():
        if node.get("refdomain") == "py" and target.startswith(short):
            domain = env.get_domain("py")
            name = full + target.removeprefix(short)
            return domain.resolve_xref(
                env, node["refdoc"], app.builder, "obj", name, node, contents
            )
    return None


def separate(
    app: Sphinx, what: str, name: str, value: object, options: object, lines: list[str]
) -> None:
    """Mend a docstring for a page of several: the ends and numbers of references."""
    if what in {"attribute", "data", "property"}:
        lines.insert(0, "")  # Napoleon takes the first line up to a colon for a type.
    label = re.sub(r"\W+", "-", name).lower()
    for number, line in enumerate(lines):
        line = FOLLOWED.sub(r"\1\\ ", line)
        if typed := TYPED.match(line):
            line = typed[1] + typed[2].replace("*", "\\*")
        lines[number] = FOOTNOTE.sub(rf"\1[#{label}-\2]\3", line)


def setup(app: Sphinx) -> dict[str, Any]:
    """Connect the hooks."""
    app.connect("autodoc-process-docstring", separate, priority=400)
    app.connect("source-read", read_source)
    app.connect("missing-reference", resolve_short)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
