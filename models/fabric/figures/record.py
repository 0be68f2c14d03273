"""Keep what figures said: `python -m models.fabric.figures.record FOLDER`.

Takes figure*.json of a folder into models/fabric/records/figures.json, from which the docs are
made. A figure that was made with --quick is refused.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

from models.fabric.figures import MODULES
from models.fabric.figures.draw import write_json

COMMITTED = Path(__file__).resolve().parents[1] / "records" / "figures.json"


def kept() -> dict[str, Any]:
    """The committed records by figure."""
    return json.loads(COMMITTED.read_text()) if COMMITTED.exists() else {}


def keep(folder: Path, committed: Path = COMMITTED) -> list[str]:
    """Take the figures of a folder into the records; returns their names."""
    found = json.loads(committed.read_text()) if committed.exists() else {}
    taken = []
    for path in sorted(folder.glob("figure*.json")):
        figure = json.loads(path.read_text())
        if figure["quick"]:
            raise ValueError(f"{path.name} must be a whole figure, not one made with --quick")
        found[figure["figure"]] = figure
        taken.append(figure["figure"])
    order = list(MODULES)
    committed.parent.mkdir(exist_ok=True)
    write_json(committed, dict(sorted(found.items(), key=lambda item: order.index(item[0]))))
    return taken


if __name__ == "__main__":
    print("kept:", ", ".join(keep(Path(sys.argv[1]))))
