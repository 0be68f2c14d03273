"""Reading and writing whole files: one-line errors on the way in, all or nothing on the way out."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from models.common.errors import InputError, unreadable


def read_bytes(file: str | os.PathLike[str]) -> bytes:
    """Return what is in `file`; raises `InputError` if it is missing, unreadable or a directory."""
    try:
        return Path(file).read_bytes()
    except OSError as error:
        raise unreadable(file, error) from None


def check_text(file: str | os.PathLike[str], data: bytes) -> None:
    """Raise `InputError` with the line if `data` is not UTF-8 text or has a NUL byte."""
    at = data.find(b"\0")
    if at >= 0:
        line = data.count(b"\n", 0, at) + 1
        raise InputError(file, line, None, None, "NUL byte: this is not a text file")
    if data.isascii():
        return
    try:
        data.decode()
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        reason = f"byte 0x{data[error.start]:02x} is not UTF-8 text"
        raise InputError(file, line, None, None, reason) from None


@contextmanager
def replacing(
    file: str | os.PathLike[str], inputs: Iterable[str | os.PathLike[str] | None] = ()
) -> Iterator[Path]:
    """Give a path beside `file` to write to; it takes the place of `file` when the block succeeds.

    When the block fails or is interrupted, what was written is deleted and an older `file` stays
    as it was. The path exists from the start, so a place that cannot be written to is found before
    any work is done. Raises `InputError` then, if `file` exists and is not a regular file, or if it
    is one of `inputs`, which are never overwritten.
    """
    target = Path(os.path.realpath(file))
    if any(other is not None and Path(os.path.realpath(other)) == target for other in inputs):
        raise InputError(file, None, None, None, "cannot be replaced: it is an input")
    if target.exists() and not target.is_file():
        raise InputError(file, None, None, None, "cannot be replaced: it is not a regular file")
    beside = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        beside.touch(exist_ok=False)
    except OSError as error:
        raise unreadable(file, error) from None
    try:
        yield beside
        os.replace(beside, target)
    except BaseException:
        beside.unlink(missing_ok=True)
        raise


@contextmanager
def naming(file: str | os.PathLike[str]) -> Iterator[None]:
    """Raise `InputError` with the name of `file` when writing it fails, on a full disk for one:
    the system does not say which file it was."""
    try:
        yield
    except OSError as error:
        raise unreadable(file, error) from None
