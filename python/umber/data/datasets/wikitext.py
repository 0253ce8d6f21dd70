"""WikiText: verified articles of Wikipedia, a line a paragraph."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import umber.data as dx
from umber.data.datasets._files import Archive, check_choice, fetch, root_folder, unzip_members

if TYPE_CHECKING:
    from umber.data import Stream

_URL = "https://s3.amazonaws.com/research.metamind.io/wikitext/"
_SUBSETS = {
    "wikitext-2": Archive(
        _URL + "wikitext-2-v1.zip",
        "92675f1d63015c1c8b51f1656a52d5bdbc33aafa60cc47a218a66e7ee817488c",
    ),
    "wikitext-2-raw": Archive(
        _URL + "wikitext-2-raw-v1.zip",
        "ef7edb566e3e2b2d31b29c1fdb0c89a4cc683597484c3dc2517919c615435a11",
    ),
    "wikitext-103": Archive(
        _URL + "wikitext-103-v1.zip",
        "242ba0f20b329cfdf1ccc61e9e9e5b59becf189db7f7a81cd2a0e2fc31539590",
    ),
    "wikitext-103-raw": Archive(
        _URL + "wikitext-103-raw-v1.zip",
        "91c00ae287f0d699e18605c84afc9e45c192bc6b7797ff8837e5474655a33794",
    ),
}
_SPLITS = ("train", "valid", "test")


def load_wikitext_lines(
    root: str | os.PathLike[str] | None = None,
    split: str = "train",
    subset: str = "wikitext-103-raw",
    quiet: bool = False,
    validate_download: bool = True,
) -> Stream:
    """The lines of WikiText.

    Parameters
    ----------
    root : str or path, optional
        The folder of the files: ``wikitext-103-raw/wiki.train.raw`` and so on, or the published
        archive ``wikitext-103-raw-v1.zip``, which is downloaded if both are missing. Default:
        ``~/.cache/mlx.data/wikitext``.
    split : str
        ``train``, ``valid`` or ``test``.
    subset : str
        ``wikitext-2``, ``wikitext-2-raw``, ``wikitext-103`` or ``wikitext-103-raw``. The raw ones
        keep the characters that the others replace by ``<unk>``.
    quiet : bool
        Whether to hide the progress.
    validate_download : bool
        Whether to verify the checksum of a downloaded archive.

    Returns
    -------
    Stream
        Samples with ``line``, its bytes without the newline.

    Raises
    ------
    ConnectionError
        If there are no files and the archive cannot be downloaded.
    RuntimeError
        If the downloaded archive has another checksum.
    ValueError
        If split or subset are unknown, or the archive is damaged.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from umber.data.datasets import load_wikitext_lines
    >>> with tempfile.TemporaryDirectory() as root:
    ...     Path(root, "wikitext-2-raw").mkdir()
    ...     _ = Path(root, "wikitext-2-raw", "wiki.test.raw").write_bytes(b" = A title = \\n")
    ...     lines = list(load_wikitext_lines(root, "test", "wikitext-2-raw"))
    >>> bytes(lines[0]["line"])
    b' = A title = '
    """
    path = wikitext_file(root, split, subset, quiet, validate_download)
    return dx.stream_line_reader(str(path), "line")


def wikitext_file(
    root: str | os.PathLike[str] | None,
    split: str,
    subset: str,
    quiet: bool = False,
    validate_download: bool = True,
) -> Path:
    """The file of a split, extracted if necessary."""
    op = "load_wikitext_lines"
    check_choice(op, "subset", subset, _SUBSETS)
    check_choice(op, "split", split, _SPLITS)
    folder = root_folder(root, "wikitext")
    suffix = "raw" if subset.endswith("raw") else "tokens"
    names = {name: f"{subset}/wiki.{name}.{suffix}" for name in _SPLITS}
    target = folder / names[split]
    if target.is_file():
        return target
    archive = _SUBSETS[subset]
    was_there = (folder / archive.name).is_file()
    source = fetch(op, folder, archive, quiet=quiet, validate_download=validate_download)
    unzip_members(op, source, folder, names.values())
    if not was_there:
        source.unlink(missing_ok=True)
    return target
