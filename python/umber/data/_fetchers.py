"""Fetchers: what makes files local before pipelines open them."""

from __future__ import annotations

import logging
import threading
import weakref
from collections import OrderedDict, deque
from collections.abc import Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NoReturn

_logger = logging.getLogger("umber.data")


class FileFetcherHandle:
    """Keeps a file from being erased by its fetcher as long as it is referenced.

    Parameters
    ----------
    filename : str
        The file.

    Examples
    --------
    >>> dx.core.FileFetcherHandle("a.txt").filename
    'a.txt'
    """

    def __init__(self, filename: str) -> None:
        self.filename = filename

    def __repr__(self) -> str:
        return f"FileFetcherHandle({self.filename!r})"


class FileFetcher:
    """Makes files local before pipelines open them.

    Subclasses override `fetch`, such as by a download, and `erase`. This class takes every file to
    be local already.

    Parameters
    ----------
    num_prefetch_max : int, optional
        How many files of `prefetch` are fetched ahead. Default: 1.
    num_prefetch_threads : int, optional
        The number of threads that do so. Default: 1.
    num_kept_files : int, optional
        How many files to keep: when there are more, those used longest ago are erased. Default: 0,
        all of them.
    verbose : bool, optional
        Whether to log, to the logger ``umber.data``, what is fetched and erased. Default: False.

    Raises
    ------
    ValueError
        If a number is too small.

    Examples
    --------
    >>> from pathlib import Path
    >>> class Written(dx.core.FileFetcher):
    ...     def fetch(self, filename):
    ...         Path(filename).write_text("one\\ntwo")
    ...         return super().fetch(filename)
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     lines = dx.stream_line_reader(f"{folder}/a.txt", "line", file_fetcher=Written())
    ...     print(bytes(lines.next()["line"]))
    b'one'
    """

    def __init__(
        self,
        num_prefetch_max: int = 1,
        num_prefetch_threads: int = 1,
        num_kept_files: int = 0,
        verbose: bool = False,
    ) -> None:
        for name, number, least in [
            ("num_prefetch_max", num_prefetch_max, 1),
            ("num_prefetch_threads", num_prefetch_threads, 1),
            ("num_kept_files", num_kept_files, 0),
        ]:
            if number < least:
                raise ValueError(f"[FileFetcher] {name} must be at least {least}, got {number}")
        self._most_ahead = num_prefetch_max
        self._most_kept = num_kept_files
        self._verbose = verbose
        self._lock = threading.RLock()
        self._threads = num_prefetch_threads
        self._executor: ThreadPoolExecutor | None = None
        self._waiting: deque[str] = deque()
        self._ahead: dict[str, Future[Any]] = {}
        # By the time of their last use.
        self._kept: OrderedDict[str, weakref.ref[FileFetcherHandle]] = OrderedDict()

    def fetch(self, filename: str) -> FileFetcherHandle:
        """Make a file local. Subclasses override it; pipelines call it before they open a file.

        Parameters
        ----------
        filename : str
            The name, as it was given to the pipeline.

        Returns
        -------
        FileFetcherHandle
            Keeps the file while it is referenced.

        Examples
        --------
        >>> dx.core.FileFetcher().fetch("a.txt")
        FileFetcherHandle('a.txt')
        """
        return FileFetcherHandle(filename)

    def erase(self, filename: str) -> None:
        """Remove the local copy of a file. Subclasses override it; this one leaves files alone.

        Parameters
        ----------
        filename : str
            The name.

        Examples
        --------
        >>> dx.core.FileFetcher().erase("a.txt")
        """

    def prefetch(self, filenames: Iterable[str]) -> None:
        """Begin to fetch files on other threads, in the order in which they will be used.

        Parameters
        ----------
        filenames : iterable of str
            The names.

        Examples
        --------
        >>> dx.core.FileFetcher(num_prefetch_max=2).prefetch(["a.txt", "b.txt"])
        """
        with self._lock:
            self._waiting.extend(str(name) for name in filenames)
            self._advance()

    def cancel_prefetch(self) -> None:
        """Fetch no more files ahead. Those under way are finished.

        Examples
        --------
        >>> fetcher = dx.core.FileFetcher()
        >>> fetcher.prefetch(["a.txt", "b.txt"])
        >>> fetcher.cancel_prefetch()
        """
        with self._lock:
            self._waiting.clear()
            for name, future in list(self._ahead.items()):
                if future.cancel():
                    del self._ahead[name]

    def _advance(self) -> None:
        while self._waiting and len(self._ahead) < self._most_ahead:
            name = self._waiting.popleft()
            if name not in self._ahead:
                if self._executor is None:
                    self._executor = ThreadPoolExecutor(self._threads, "umber-fetch")
                self._log("fetch", name)
                self._ahead[name] = self._executor.submit(self.fetch, name)

    def _request(self, filename: str) -> FileFetcherHandle:
        """What a pipeline calls: `fetch`, unless the file was fetched ahead."""
        filename = str(filename)
        with self._lock:
            future = self._ahead.pop(filename, None)
            if future is None and filename in self._waiting:
                self._waiting.remove(filename)
        if future is not None:
            fetched = future.result()
        else:
            self._log("fetch", filename)
            fetched = self.fetch(filename)
        handle = fetched if isinstance(fetched, FileFetcherHandle) else FileFetcherHandle(filename)
        with self._lock:
            self._advance()
            self._kept[filename] = weakref.ref(handle)
            self._kept.move_to_end(filename)
            unused = [name for name, held in self._kept.items() if held() is None]
            excess = len(self._kept) - self._most_kept if self._most_kept else 0
            erased = unused[: max(excess, 0)]
            for name in erased:
                del self._kept[name]
        for name in erased:
            self._log("erase", name)
            self.erase(name)
        return handle

    def _log(self, verb: str, name: str) -> None:
        if self._verbose:
            _logger.warning("%s %s", verb, name)


class AWSFileFetcher(FileFetcher):
    """Not available: umber has no network client.

    Parameters
    ----------
    *args, **kwargs : Any
        As mlx-data has them.

    Raises
    ------
    NotImplementedError
        When it is constructed. Subclass `FileFetcher` and override `fetch`.

    Examples
    --------
    >>> dx.core.AWSFileFetcher("bucket")
    Traceback (most recent call last):
    ...
    NotImplementedError: [AWSFileFetcher] umber has no network client; ...
    """

    def __init__(self, *args: Any, **kwargs: Any) -> NoReturn:
        raise NotImplementedError(
            "[AWSFileFetcher] umber has no network client; subclass FileFetcher, whose fetch(name) "
            "downloads a file, such as by boto3, and pass it as file_fetcher"
        )


for _class in (FileFetcher, FileFetcherHandle, AWSFileFetcher):
    _class.__module__ = "umber.data.core"
