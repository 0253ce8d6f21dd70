"""Images in a folder of one's own, a class a subfolder."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import umber.data as dx

if TYPE_CHECKING:
    from umber.data import Buffer


def load_images_from_folder(image_folder: str | os.PathLike[str]) -> Buffer:
    """The images of a folder that has a subfolder for every class.

    Parameters
    ----------
    image_folder : str or path
        A folder such as ``animals`` with the files ``animals/cat/1.jpg``, ``animals/dog/2.png``.

    Returns
    -------
    Buffer
        Samples with ``folder`` (the class: the name of the subfolder), ``label`` (its number in the
        order of the names), ``file`` (the path within `image_folder`) and ``image``
        (height × width × channels, uint8), which is decoded when the sample is taken.

    Raises
    ------
    ValueError
        If `image_folder` is not a folder, or has no subfolders.

    See Also
    --------
    load_imagenet

    Notes
    -----
    Samples are in the order of their paths. Files and folders whose names begin with a dot, and
    folders within the subfolders, are left out.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from umber.data.datasets import load_images_from_folder
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("cat", "dog"):
    ...         Path(folder, name).mkdir()
    ...         _ = Path(folder, name, "1.ppm").write_bytes(b"P6 4 3 255\\n" + bytes(36))
    ...     sample = load_images_from_folder(folder)[1]
    >>> bytes(sample["folder"]), int(sample["label"]), sample["image"].shape
    (b'dog', 1, (3, 4, 3))
    """
    samples = list_images(image_folder)
    return dx.buffer_from_vector(samples).load_image(
        "file", prefix=str(image_folder), output_key="image"
    )


def list_images(image_folder: str | os.PathLike[str]) -> list[dict[str, Any]]:
    """The samples of a folder without their images."""
    root = Path(image_folder)
    if not root.is_dir():
        raise ValueError(f"[load_images_from_folder] {root} is not a folder")
    folders = sorted(path for path in root.iterdir() if path.is_dir() and _is_visible(path))
    if not folders:
        raise ValueError(
            f"[load_images_from_folder] {root} has no subfolders; it needs one for every class"
        )
    return [
        {
            "folder": os.fsencode(folder.name),
            "label": label,
            "file": os.fsencode(file.relative_to(root)),
        }
        for label, folder in enumerate(folders)
        for file in sorted(folder.iterdir())
        if file.is_file() and _is_visible(file)
    ]


def _is_visible(path: Path) -> bool:
    return not path.name.startswith(".")
