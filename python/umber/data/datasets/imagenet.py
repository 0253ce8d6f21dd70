"""ImageNet (ILSVRC 2012): photographs of a thousand classes, from archives of one's own."""

from __future__ import annotations

import io
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import umber.data as dx
from umber.data.datasets._files import (
    Archive,
    atomic,
    check_choice,
    open_tar,
    read_member,
    root_folder,
    verify,
)
from umber.data.datasets._pickles import read_pickle

if TYPE_CHECKING:
    from umber.data import Buffer

_ARCHIVES = {
    "train": Archive("", "1d675b47d978889d74fa0da5fadfb00e", "ILSVRC2012_img_train.tar"),
    "val": Archive("", "29b22e2961454d5413ddabcf34fc5622", "ILSVRC2012_img_val.tar"),
}
_DEVKIT = Archive("", "fa75699e90414af021442c21a62c3abf", "ILSVRC2012_devkit_t12.tar.gz")
_DEVKIT_FOLDER = "ILSVRC2012_devkit_t12"
_META = f"{_DEVKIT_FOLDER}/data/meta.mat"
_GROUND_TRUTH = f"{_DEVKIT_FOLDER}/data/ILSVRC2012_validation_ground_truth.txt"
_OP = "load_imagenet"


def load_imagenet(
    root: str | os.PathLike[str] | None = None,
    split: str = "train",
    quiet: bool = False,
    validate_download: bool = True,
    tar_index_threads: int | None = None,
) -> Buffer:
    """ImageNet of 2012: 1,281,167 and 50,000 photographs of a thousand classes.

    Parameters
    ----------
    root : str or path, optional
        The folder of the files, which image-net.org gives to those who register: the archive
        ``ILSVRC2012_img_train.tar`` or ``ILSVRC2012_img_val.tar``, or a folder of that name without
        ``.tar`` with its images, and the development kit of tasks 1 and 2
        (``ILSVRC2012_devkit_t12.tar.gz``, or its folder). Default: ``~/.cache/mlx.data/imagenet``.
    split : str
        ``train`` or ``val``.
    quiet : bool
        Whether to hide the progress.
    validate_download : bool
        Whether to verify the checksums of archives, once for the images.
    tar_index_threads : int, optional
        Threads that read the index of the training set's archive. Default: the number of cores.

    Returns
    -------
    Buffer
        Samples with ``file``, ``label`` (0 to 999) and ``image`` (height × width × channels,
        uint8), which is decoded when the sample is taken.

    Raises
    ------
    FileNotFoundError
        If an archive is missing.
    RuntimeError
        If an archive has another checksum.
    ValueError
        If the split is unknown, or a file is damaged.

    See Also
    --------
    load_imagenet_metadata, load_images_from_folder

    Notes
    -----
    Samples of folders are in the order of their paths; those of the training archive in its order.
    The development kit's ``meta.mat`` is read by SciPy.

    Examples
    --------
    A kit as mlx-data stores it, and a validation set of one image:

    >>> import pickle, tempfile
    >>> from pathlib import Path
    >>> from umber.data.datasets import load_imagenet
    >>> tench = {"id": 1, "label": 0, "description": "tench", "num_train_images": 1300}
    >>> with tempfile.TemporaryDirectory() as root:
    ...     kit = Path(root, "ILSVRC2012_devkit_t12")
    ...     kit.mkdir()
    ...     _ = (kit / "meta.pkl").write_bytes(pickle.dumps({"n01440764": tench}))
    ...     _ = (kit / "val_gt.pkl").write_bytes(pickle.dumps([0]))
    ...     images = Path(root, "ILSVRC2012_img_val")
    ...     images.mkdir()
    ...     _ = (images / "ILSVRC2012_val_00000001.JPEG").write_bytes(b"P6 4 3 255\\n" + bytes(36))
    ...     sample = load_imagenet(root, "val")[0]
    >>> sample["image"].shape, int(sample["label"])
    ((3, 4, 3), 0)
    """
    check_choice(_OP, "split", split, _ARCHIVES)
    folder = root_folder(root, "imagenet")
    metadata, ground_truth = read_devkit(folder, quiet, validate_download)
    archive = folder / _ARCHIVES[split].name
    images = archive.with_suffix("")
    if images.is_dir():
        names = list_images(images)
        labels = _labels(names, metadata) if split == "train" else ground_truth
        return dx.buffer_from_vector(_samples(names, labels, images)).load_image(
            "file", prefix=str(images), output_key="image"
        )
    if not archive.is_file():
        raise FileNotFoundError(
            f"[{_OP}] {folder} has neither {archive.name} nor the folder {images.name}; get the "
            "archive from image-net.org"
        )
    if validate_download:
        _verify_once(archive, _ARCHIVES[split].digest, quiet)
    if split == "val":
        with open_tar(_OP, archive) as tar:
            names = sorted(member.name for member in tar if member.isfile())
        samples = _samples(names, ground_truth, archive)
        files = dx.buffer_from_vector(samples)
        nested: dict[str, Any] = {}
    else:
        threads = tar_index_threads or os.cpu_count() or 1
        nested = {"nested": True, "num_threads": threads}
        # The names are CLASS.tar/CLASS_NUMBER.JPEG, or CLASS/CLASS_NUMBER.JPEG.
        files = dx.files_from_tar(str(archive), **nested).key_transform(
            "file", lambda file: _label(bytes(file).decode(), metadata), "label"
        )
    return files.read_from_tar(
        archive.name, "file", "image", tar_prefix=str(folder), **nested
    ).load_image("image", from_memory=True)


def load_imagenet_metadata(
    root: str | os.PathLike[str] | None = None,
    quiet: bool = False,
    validate_download: bool = True,
) -> dict[str, dict[str, Any]]:
    """The classes of ImageNet.

    Parameters
    ----------
    root : str or path, optional
        The folder of the development kit, as of `load_imagenet`.
    quiet : bool
        Whether to hide the progress.
    validate_download : bool
        Whether to verify the checksum of the kit's archive.

    Returns
    -------
    dict
        For every class, by its WordNet identifier such as ``n01440764``: ``id`` (from 1), ``label``
        (`id` - 1), ``description`` and ``num_train_images``. Identifiers above 1000 are groups of
        classes.

    Raises
    ------
    FileNotFoundError
        If the development kit is missing.
    RuntimeError
        If its archive has another checksum.
    ValueError
        If a file is damaged.

    See Also
    --------
    load_imagenet

    Examples
    --------
    A kit as mlx-data stores it:

    >>> import pickle, tempfile
    >>> from pathlib import Path
    >>> from umber.data.datasets import load_imagenet_metadata
    >>> tench = {"id": 1, "label": 0, "description": "tench", "num_train_images": 1300}
    >>> with tempfile.TemporaryDirectory() as root:
    ...     kit = Path(root, "ILSVRC2012_devkit_t12")
    ...     kit.mkdir()
    ...     _ = (kit / "meta.pkl").write_bytes(pickle.dumps({"n01440764": tench}))
    ...     _ = (kit / "val_gt.pkl").write_bytes(pickle.dumps([0]))
    ...     load_imagenet_metadata(root)["n01440764"]["description"]
    'tench'
    """
    return read_devkit(root_folder(root, "imagenet"), quiet, validate_download)[0]


def read_devkit(
    folder: Path, quiet: bool = False, validate_download: bool = True
) -> tuple[dict[str, dict[str, Any]], list[int]]:
    """The classes, and the labels of the validation set in the order of its files' names.

    They are read from the folder of the extracted kit, or what mlx-data wrote there, or from the
    archive.
    """
    kit = folder / _DEVKIT_FOLDER
    if (folder / _META).is_file() and (folder / _GROUND_TRUTH).is_file():
        meta, lines = (folder / _META).read_bytes(), (folder / _GROUND_TRUTH).read_text()
    elif (kit / "meta.pkl").is_file() and (kit / "val_gt.pkl").is_file():
        return _read_cache(kit)
    elif (archive := folder / _DEVKIT.name).is_file():
        if validate_download:
            verify(_OP, archive, _DEVKIT.digest, quiet=quiet)
        with open_tar(_OP, archive) as tar:
            meta = read_member(_OP, tar, _META)
            lines = read_member(_OP, tar, _GROUND_TRUTH).decode("ascii", "replace")
    else:
        raise FileNotFoundError(
            f"[{_OP}] {folder} has neither {_DEVKIT.name} nor the folder {_DEVKIT_FOLDER}; get the "
            "archive from image-net.org"
        )
    try:
        ground_truth = [int(line) - 1 for line in lines.split()]
    except ValueError as error:
        raise ValueError(f"[{_OP}] {folder}: {_GROUND_TRUTH} is damaged: {error}") from None
    return parse_metadata(meta), ground_truth


def parse_metadata(content: bytes) -> dict[str, dict[str, Any]]:
    """The table `synsets` of `meta.mat`."""
    try:
        from scipy.io import loadmat
    except ImportError as error:
        raise ImportError(
            f"[{_OP}] meta.mat of the development kit is a MATLAB file, which SciPy reads; "
            "install scipy"
        ) from error
    try:
        synsets = loadmat(io.BytesIO(content), squeeze_me=True)["synsets"]
    except (KeyError, ValueError, TypeError, NotImplementedError, OSError) as error:
        raise ValueError(f"[{_OP}] {_META} is damaged: {error}") from error
    return {
        str(row["WNID"]): {
            "id": int(row["ILSVRC2012_ID"]),
            "label": int(row["ILSVRC2012_ID"]) - 1,
            "description": str(row["words"]),
            "num_train_images": int(row["num_train_images"]),
        }
        for row in synsets.reshape(-1)
    }


def list_images(folder: Path) -> list[str]:
    """The paths of the images below a folder, relative to it, in order."""
    return sorted(path.relative_to(folder).as_posix() for path in folder.rglob("*.JPEG"))


def _samples(names: list[str], labels: list[int], source: Path) -> list[dict[str, Any]]:
    if len(names) != len(labels):
        raise ValueError(f"[{_OP}] {source} has {len(names)} images, expected {len(labels)}")
    return [
        {"file": name.encode(), "label": label} for name, label in zip(names, labels, strict=True)
    ]


def _labels(names: list[str], metadata: dict[str, dict[str, Any]]) -> list[int]:
    return [_label(name, metadata) for name in names]


def _label(name: str, metadata: dict[str, dict[str, Any]]) -> int:
    """The label of a training image, by its folder or inner archive."""
    identifier = name.split("/")[-2].removesuffix(".tar") if "/" in name else name
    if identifier not in metadata:
        raise ValueError(f"[{_OP}] {name} is in no folder of a class, such as n01440764")
    return int(metadata[identifier]["label"])


def _verify_once(archive: Path, digest: str, quiet: bool) -> None:
    """Verify an archive, unless a file beside it, which mlx-data writes, too, says it was."""
    note = archive.with_name(archive.name + ".hash")
    if note.is_file() and note.read_text().strip() == digest:
        return
    verify(_OP, archive, digest, quiet=quiet)
    with atomic(note) as part:
        part.write_text(digest)


def _read_cache(kit: Path) -> tuple[dict[str, dict[str, Any]], list[int]]:
    """What mlx-data wrote."""
    meta, ground_truth = (
        read_pickle((kit / name).read_bytes(), source=str(kit / name))
        for name in ("meta.pkl", "val_gt.pkl")
    )
    try:
        classes = {
            str(identifier): {
                "id": int(row["id"]),
                "label": int(row["label"]),
                "description": str(row["description"]),
                "num_train_images": int(row["num_train_images"]),
            }
            for identifier, row in meta.items()
        }
        return classes, [int(label) for label in ground_truth]
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise ValueError(f"[{_OP}] {kit} does not hold the classes of ImageNet: {error}") from error
