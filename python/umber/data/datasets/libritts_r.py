"""LibriTTS-R: restored recordings of English sentences for speech synthesis."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import umber.data as dx
from umber.data.datasets._files import Archive, check_choice, open_tar, root_folder, tar_of

if TYPE_CHECKING:
    from umber.data import Stream

_URL = "https://www.openslr.org/resources/141/"
_DIGESTS = {
    "dev-clean": "2c1f5312914890634cc2d15783032ff3",
    "dev-other": "62d3a80ad8a282b6f31b3904f0507e4f",
    "test-clean": "4d373d453eb96c0691e598061bbafab7",
    "test-other": "dbc0959d8bdb6d52200595cabc9995ae",
    "train-clean-100": "6df668d8f5f33e70876bfa33862ad02b",
    "train-clean-360": "382eb3e64394b3da6a559f864339b22c",
    "train-other-500": "a37a8e9f4fe79d20601639bf23d1add8",
}


def load_libritts_r_tarfile(
    root: str | os.PathLike[str] | None = None,
    split: str = "dev-clean",
    quiet: bool = False,
    validate_download: bool = True,
) -> Path:
    """The tar file of a split of LibriTTS-R.

    Parameters
    ----------
    root : str or path, optional
        The folder of ``dev_clean.tar`` and so on, or of the published ``.tar.gz``, which is
        downloaded if both are missing. Default: ``~/.cache/mlx.data/libritts_r``.
    split : str
        ``dev-clean``, ``dev-other``, ``test-clean``, ``test-other``, ``train-clean-100``,
        ``train-clean-360`` or ``train-other-500``.
    quiet : bool
        Whether to hide the progress.
    validate_download : bool
        Whether to verify the checksum of a downloaded archive.

    Returns
    -------
    Path
        The tar file, decompressed.

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
    load_libritts_r

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from umber.data.datasets import load_libritts_r_tarfile
    >>> with tempfile.TemporaryDirectory() as root:
    ...     Path(root, "dev_clean.tar").touch()
    ...     print(load_libritts_r_tarfile(root, "dev-clean").name)
    dev_clean.tar
    """
    op = "load_libritts_r"
    check_choice(op, "split", split, _DIGESTS)
    folder = root_folder(root, "libritts_r")
    archive = Archive(f"{_URL}{split.replace('-', '_')}.tar.gz", _DIGESTS[split])
    return tar_of(op, folder, archive, quiet=quiet, validate_download=validate_download)


def load_libritts_r(
    root: str | os.PathLike[str] | None = None,
    split: str = "dev-clean",
    quiet: bool = False,
    validate_download: bool = True,
) -> Stream:
    """LibriTTS-R: recordings of English sentences with transcripts, at 24 kHz.

    Parameters
    ----------
    root : str or path, optional
        The folder of the files, as of `load_libritts_r_tarfile`.
    split : str
        As of `load_libritts_r_tarfile`.
    quiet : bool
        Whether to hide the progress.
    validate_download : bool
        Whether to verify the checksum of a downloaded archive.

    Returns
    -------
    Stream
        Samples with ``file`` and ``transcript_file`` (paths in the archive), ``transcript`` (its
        bytes, uint8) and ``audio`` (frames × 1, float32), in the order of the archive.

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
    load_libritts_r_tarfile, load_librispeech

    Examples
    --------
    >>> import tarfile, tempfile
    >>> from pathlib import Path
    >>> from umber.data.datasets import load_libritts_r
    >>> with tempfile.TemporaryDirectory() as root:
    ...     tarfile.open(Path(root, "dev_clean.tar"), "w").close()
    ...     len(list(load_libritts_r(root, "dev-clean")))
    0
    """
    target = load_libritts_r_tarfile(root, split, quiet, validate_download)
    return (
        dx.buffer_from_vector(list_recordings(target))
        .to_stream()
        .read_from_tar(str(target), "transcript_file", "transcript")
        .read_from_tar(str(target), "file", "audio")
        .load_audio("audio", from_memory=True)
    )


def list_recordings(path: Path) -> list[dict[str, bytes]]:
    """Sound files and the files of their normalised transcripts."""
    with open_tar("load_libritts_r", path) as tar:
        names = [member.name for member in tar if member.name.endswith(".wav")]
    return [
        {
            "file": name.encode(),
            "transcript_file": (name.removesuffix(".wav") + ".normalized.txt").encode(),
        }
        for name in names
    ]
