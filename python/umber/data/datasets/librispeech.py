"""LibriSpeech: English audiobooks with transcripts."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

import umber.data as dx
from umber.data.datasets._files import Archive, check_choice, open_tar, root_folder, tar_of

if TYPE_CHECKING:
    from umber.data import Buffer

_URL = "https://www.openslr.org/resources/12/"
_DIGESTS = {
    "dev-clean": "76f87d090650617fca0cac8f88b9416e0ebf80350acb97b343a85fa903728ab3",
    "dev-other": "12661c48e8c3fe1de2c1caa4c3e135193bfb1811584f11f569dd12645aa84365",
    "test-clean": "39fde525e59672dc6d1551919b1478f724438a95aa55f874b576be21967e6c23",
    "test-other": "d09c181bba5cf717b3dee7d4d592af11a3ee3a09e08ae025c5506f6ebe961c29",
    "train-clean-100": "d4ddd1d5a6ab303066f14971d768ee43278a5f2a0aa43dc716b0e64ecbbbf6e2",
    "train-clean-360": "146a56496217e96c14334a160df97fffedd6e0a04e66b9c5af0d40be3c792ecf",
    "train-other-500": "ddb22f27f96ec163645d53215559df6aa36515f26e01dd70798188350adcb6d2",
}


def load_librispeech_tarfile(
    root: str | os.PathLike[str] | None = None,
    split: str = "dev-clean",
    quiet: bool = False,
    validate_download: bool = True,
) -> Path:
    """The tar file of a split of LibriSpeech.

    Parameters
    ----------
    root : str or path, optional
        The folder of ``dev-clean.tar`` and so on, or of the published ``.tar.gz``, which is
        downloaded if both are missing. Default: ``~/.cache/mlx.data/librispeech``.
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
    load_librispeech

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from umber.data.datasets import load_librispeech_tarfile
    >>> with tempfile.TemporaryDirectory() as root:
    ...     Path(root, "dev-clean.tar").touch()
    ...     print(load_librispeech_tarfile(root, "dev-clean").name)
    dev-clean.tar
    """
    op = "load_librispeech"
    check_choice(op, "split", split, _DIGESTS)
    folder = root_folder(root, "librispeech")
    archive = Archive(f"{_URL}{split}.tar.gz", _DIGESTS[split])
    return tar_of(op, folder, archive, quiet=quiet, validate_download=validate_download)


def load_librispeech(
    root: str | os.PathLike[str] | None = None,
    split: str = "dev-clean",
    quiet: bool = False,
    validate_download: bool = True,
) -> Buffer:
    """LibriSpeech: recordings of English sentences with transcripts.

    Parameters
    ----------
    root : str or path, optional
        The folder of the files, as of `load_librispeech_tarfile`.
    split : str
        As of `load_librispeech_tarfile`.
    quiet : bool
        Whether to hide the progress.
    validate_download : bool
        Whether to verify the checksum of a downloaded archive.

    Returns
    -------
    Buffer
        Samples with ``audio_file`` (the path in the archive below ``LibriSpeech/SPLIT``),
        ``transcript`` (in lower case) and ``audio`` (frames × 1, float32, 16 kHz), which is decoded
        when the sample is taken. They are in the order of the archive.

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
    load_librispeech_tarfile, load_libritts_r

    Examples
    --------
    >>> import io, tarfile, tempfile
    >>> from pathlib import Path
    >>> from umber.data.datasets import load_librispeech
    >>> content = b"84-121-0000 GO ON\\n"
    >>> member = tarfile.TarInfo("LibriSpeech/dev-clean/84/121/84-121.trans.txt")
    >>> member.size = len(content)
    >>> with tempfile.TemporaryDirectory() as root:
    ...     with tarfile.open(Path(root, "dev-clean.tar"), "w") as tar:
    ...         tar.addfile(member, io.BytesIO(content))
    ...     len(load_librispeech(root, "dev-clean"))
    1
    """
    target = load_librispeech_tarfile(root, split, quiet, validate_download)
    return (
        dx.buffer_from_vector(list_utterances(target))
        .read_from_tar(str(target), "audio_file", "audio", prefix=f"LibriSpeech/{split}")
        .load_audio("audio", from_memory=True)
    )


def list_utterances(path: Path) -> list[dict[str, bytes]]:
    """Sound files and transcripts, from the archive's files ``*.trans.txt``.

    A line such as ``84-121123-0001 WORDS`` is about the file ``84/121123/84-121123-0001.flac``.
    """
    op = "load_librispeech"
    samples = []
    with open_tar(op, path) as tar:
        for member in tar:
            if not member.name.endswith(".trans.txt"):
                continue
            content = tar.extractfile(member)
            for line in content.read().splitlines() if content else []:
                name, space, transcript = line.partition(b" ")
                parts = name.split(b"-")
                if not space or len(parts) != 3:
                    raise ValueError(f"[{op}] {path}: {member.name} has the line {line[:80]!r}")
                sound = b"/".join((*parts[:2], name + b".flac"))
                samples.append({"audio_file": sound, "transcript": transcript.lower()})
    return samples
