"""`python -m synth.release`: price everything, and make that the records and tables of the release.

Needs netweave[study]. Takes about an hour on 2 cores where nothing is kept in build/. Prints
every number that changes.
"""

from __future__ import annotations

import sys

from models.common.files import replacing
from models.ofan.config import PRESETS as OFAN_PRESETS
from models.symphony.config import PRESETS as SYMPHONY_PRESETS
from rtl.verilog import BUILD
from synth import ofan, power, symphony
from synth.measured import CONFIGS, CSIG, measure
from synth.pointer_report import release as release_pointers
from synth.pointers import price_points
from synth.records import COMMITTED, changes, read_records, write_records
from synth.report import spinner
from synth.symphony_study import NAME, plot, save_svg, study
from synth.table import shown
from synth.tables import ROOT, fill_pages


def main() -> int:
    """Price, compare, write; return exit code 0."""
    with spinner("release") as progress:
        measure(False, progress)
        for name, config in OFAN_PRESETS.items():
            ofan.price_preset(name, config, lambda part, name=name: progress(f"{name}: {part}"))
        for name, config in SYMPHONY_PRESETS.items():
            told = lambda part, name=name: progress(f"{name}: {part}")  # noqa: E731
            symphony.price_preset(name, config, told)
        figure = plot(study(lambda size: progress(f"study: {size}")))
        price_points(progress)
        power.main()
        release_pointers(lambda done, count: progress(f"study pointers: {done} of {count} runs"))
    names = ["claims", NAME, *(f"ofan-{name}" for name in {**OFAN_PRESETS, **CONFIGS})]
    names += [f"symphony-{name}" for name in SYMPHONY_PRESETS]
    names += [f"csig-{name}" for name in CSIG]
    for name in sorted(names):  # a test may have left others
        path = BUILD / "records" / f"{name}.json"
        target = COMMITTED / path.name
        new = read_records(path)
        if target.exists():
            for what, before, after in changes(read_records(target), new):
                print(f"{what}: {shown(before)} -> {shown(after)}")
        else:
            print(f"{path.name}: {len(new)} new records")
        write_records(target, new)
    with replacing(ROOT / "docs" / "img" / f"{NAME}.svg") as beside:
        save_svg(figure, beside)
    fill_pages()
    return 0


if __name__ == "__main__":
    sys.exit(main())
