"""Speech Commands: one-second recordings of single words."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import umber.data as dx
from umber.data.datasets._files import (
    Archive,
    check_choice,
    open_tar,
    read_member,
    root_folder,
    tar_of,
)

if TYPE_CHECKING:
    from umber.data import Buffer

_ARCHIVE = Archive(
    "http://download.tensorflow.org/data/speech_commands_v0.02.tar.gz",
    "af14739ee7dc311471de98f5f9d2c9191b18aedfe957f4a6ff791c709868ff58",
)
# The files that list the recordings of a split; what neither lists is the training set.
_LISTS = {"validation": "./validation_list.txt", "test": "./testing_list.txt"}
_SPLITS = ("train", *_LISTS)
_NOISE = "_background_noise_"
_OP = "load_speechcommands"


def load_speechcommands(
    root: str | os.PathLike[str] | None = None,
    split: str = "train",
    quiet: bool = False,
    validate_download: bool = True,
) -> Buffer:
    """Speech Commands, version 0.02: 105,829 recordings of 35 words.

    Parameters
    ----------
    root : str or path, optional
        The folder of ``speech_commands_v0.02.tar``, or of the published ``.tar.gz``, which is
        downloaded if both are missing. Default: ``~/.cache/mlx.data/speechcommands``.
    split : str
        ``train``, ``validation`` or ``test``.
    quiet : bool
        Whether to hide the progress.
    validate_download : bool
        Whether to verify the checksum of a downloaded archive.

    Returns
    -------
    Buffer
        Samples with ``file`` (the path in the archive), ``label`` (the word's number in
        alphabetical order) and ``audio`` (frames × 1, float32, 16 kHz), which is read when the
        sample is taken.

    Raises
    ------
    ConnectionError
        If there are no files and the archive cannot be downloaded.
    RuntimeError
        If the downloaded archive has another checksum.
    ValueError
        If the split is unknown, or the archive is damaged.

    See Also
    --------
    load_librispeech

    Notes
    -----
    P. Warden, "Speech Commands: A Dataset for Limited-Vocabulary Speech Recognition", 2018.

    Examples
    --------
    An archive of one recording:

    >>> import tarfile, tempfile
    >>> from pathlib import Path
    >>> from umber.data.datasets import load_speechcommands
    >>> names = ["yes/a_nohash_0.wav", "validation_list.txt", "testing_list.txt"]
    >>> with tempfile.TemporaryDirectory() as root:
    ...     with tarfile.open(Path(root, "speech_commands_v0.02.tar"), "w") as tar:
    ...         for name in names:
    ...             tar.addfile(tarfile.TarInfo("./" + name))
    ...     len(load_speechcommands(root, "train"))
    1
    """
    check_choice(_OP, "split", split, _SPLITS)
    folder = root_folder(root, "speechcommands")
    target = tar_of(_OP, folder, _ARCHIVE, quiet=quiet, validate_download=validate_download)
    return (
        dx.buffer_from_vector(list_recordings(target, split))
        .read_from_tar(str(target), "file", "audio")
        .load_audio("audio", from_memory=True)
    )


def list_recordings(path: Path, split: str) -> list[dict[str, Any]]:
    """Files and labels of a split, in the order of their names."""
    with open_tar(_OP, path) as tar:
        names = {
            member.name
            for member in tar
            if member.isfile() and member.name.endswith(".wav") and _NOISE not in member.name
        }
        listed = {
            name: ["./" + line for line in read_member(_OP, tar, file).decode().split()]
            for name, file in _LISTS.items()
        }
    training = names.difference(*listed.values())
    words = sorted({_word(name) for name in training})
    labels = {word: label for label, word in enumerate(words)}
    try:
        return [
            {"file": name.encode(), "label": labels[_word(name)]}
            for name in sorted(training if split == "train" else listed[split])
        ]
    except KeyError as error:
        raise ValueError(f"[{_OP}] {path}: no recording to train on has the word {error}") from None


def _word(name: str) -> str:
    """The folder of a recording."""
    return name.split("/")[-2]
