"""The one exception for bad input files: it says where, what and why in one line."""

from __future__ import annotations

import os


class InputError(ValueError):
    """Something wrong in an input file; `str` is one line that names file, line, field and value.

    `t.csv:7: lane: must be an integer from 0 to 31, not '32'`

    Parts that do not apply are None and left out: `line` for a file that cannot be read, `value`
    where nothing stands that could be quoted. In Parquet files `line` is the row, from 1.
    """

    def __init__(
        self,
        file: str | os.PathLike[str],
        line: int | None,
        field: str | None,
        value: object,
        reason: str,
    ) -> None:
        self.file = os.fspath(file)
        self.line = line
        self.field = field
        self.value = value
        self.reason = reason
        where = self.file if line is None else f"{self.file}:{line}"
        parts = [where, reason] if field is None else [where, field, reason]
        text = ": ".join(parts)
        if value is not None:
            text += f", not {quoted(value)}"
        super().__init__(text)


def quoted(value: object, longest: int = 40) -> str:
    """Return `value` in quotes on one line, cut after `longest` characters."""
    text = str(value)
    return repr(text if len(text) <= longest else text[:longest] + "…")


def unreadable(file: str | os.PathLike[str], error: OSError) -> InputError:
    """Return the `InputError` for a file that the system refuses to open or read."""
    return InputError(file, None, None, None, (error.strerror or str(error)).lower())
