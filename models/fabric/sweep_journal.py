"""The results of a sweep as they come, on disk before they count: one line of JSON each.

A line is written in one go and flushed to the disk. A kill in mid-write leaves half a line at the
end, which the next reader cuts off. A lock keeps two sweeps from writing to one journal.
"""

from __future__ import annotations

import fcntl
import json
import os
from pathlib import Path
from typing import Any

from models.common.errors import InputError, unreadable

_HEAD = {"netweave": "journal of a sweep", "version": 1}


class Journal:
    """An open journal; use as a context. `results` has what it holds, by key of the job."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.results: dict[str, dict[str, Any]] = {}
        self.file = -1

    def __enter__(self) -> Journal:
        try:
            self.file = os.open(self.path, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o666)
            try:
                fcntl.flock(self.file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                reason = "another sweep is writing to it"
                raise InputError(self.path, None, None, None, reason) from None
            self._read()
        except OSError as error:
            self._close()
            raise unreadable(self.path, error) from None
        except BaseException:
            self._close()
            raise
        return self

    def __exit__(self, kind: object, *_: object) -> None:
        if kind is not None and not self.results:
            self.path.unlink(missing_ok=True)
        self._close()

    def _close(self) -> None:
        if self.file >= 0:
            os.close(self.file)
            self.file = -1

    def _read(self) -> None:
        data = self.path.read_bytes()
        whole = data[: data.rfind(b"\n") + 1]
        if len(whole) < len(data):
            os.ftruncate(self.file, len(whole))
        lines = whole.splitlines()
        if not lines:
            self._append(_HEAD)
            return
        for number, line in enumerate(lines, 1):
            try:
                found = json.loads(line)
                if number == 1:
                    if found != _HEAD:
                        raise ValueError
                else:
                    self.results[found["key"]] = found
            except (ValueError, KeyError, TypeError):
                reason = "this is no line of a sweep's journal"
                raise InputError(self.path, number, None, None, reason) from None

    def add(self, key: str, result: dict[str, Any]) -> None:
        """Keep a result; raises `InputError` if the disk does not take it. What was kept stays."""
        line = {"key": key} | result
        self._append(line)
        self.results[key] = line

    def _append(self, line: dict[str, Any]) -> None:
        data = json.dumps(line, ensure_ascii=False).encode() + b"\n"
        before = os.fstat(self.file).st_size
        try:
            while data:
                data = data[os.write(self.file, data) :]
            os.fsync(self.file)
        except OSError as error:
            os.ftruncate(self.file, before)
            reason = (
                f"{(error.strerror or str(error)).lower()}; the {len(self.results):,} results "
                "before it are kept, and the same command goes on from there"
            )
            raise InputError(self.path, None, None, None, reason) from None
