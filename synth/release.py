"""`python -m synth.release`: price everything, and make that the records and tables of the release.

Takes about 15 minutes on 2 cores where nothing is kept in build/. Prints every number that changes.
"""

from __future__ import annotations

import sys

from models.ofan.config import PRESETS
from rtl.verilog import BUILD
from synth.measured import measure
from synth.ofan import price_preset
from synth.records import COMMITTED, changes, read_records, write_records
from synth.report import spinner
from synth.table import shown
from synth.tables import fill_pages


def main() -> int:
    """Price, compare, write; return exit code 0."""
    with spinner("release") as progress:
        measure(False, progress)
        for name, config in PRESETS.items():
            price_preset(name, config, lambda part, name=name: progress(f"{name}: {part}"))
    for path in sorted((BUILD / "records").glob("*.json")):
        target = COMMITTED / path.name
        new = read_records(path)
        if target.exists():
            for what, before, after in changes(read_records(target), new):
                print(f"{what}: {shown(before)} -> {shown(after)}")
        else:
            print(f"{path.name}: {len(new)} new records")
        write_records(target, new)
    fill_pages()
    return 0


if __name__ == "__main__":
    sys.exit(main())
