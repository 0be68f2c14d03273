"""What the README says is so: links lead somewhere, the example runs, latencies are true."""

import re
from pathlib import Path

import pytest

from models.csig.config import preset as csig_preset
from models.ofan.config import preset
from models.symphony.config import preset as symphony_preset
from rtl.csig.hop import Hop
from rtl.ofan.switch import Switch
from rtl.symphony.marker import Marker

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text()
PAGES = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").glob("**/*.md"))]


def blocks() -> dict[str, dict[str, str]]:
    """Rows of the table of blocks by block, each a mapping from the column's title."""
    table = README.partition("<!-- blocks -->")[2].partition("<!-- /blocks -->")[0]
    head, _, *rows = (
        [cell.strip() for cell in line.split("|")[1:-1]] for line in table.split("\n")[1:-1]
    )
    named = [dict(zip(head, row, strict=True)) for row in rows]
    return {re.sub(r"\[(.*?)\].*", r"\1", row["block"]): row for row in named}


def test_table_of_blocks_has_the_latencies_of_the_hardware() -> None:
    switch = Switch(preset("edge-k64"))
    marker = Marker(symphony_preset("log-16k"))
    hop = Hop(csig_preset("port"))
    told = {
        name: int(row["latency, cycles"])
        for name, row in blocks().items()
        if row["status"] == "built"
    }
    tops = {
        "ofan/switch": switch.latency,
        "symphony/marker": marker.latency,
        "csig/hop": hop.latency,
        "csig/tag": 0,
    }
    blocks_of = {
        "ofan": switch.pipelines[0].blocks,
        "symphony": marker.blocks,
        "csig": hop.blocks,
    }
    inside = {
        f"{mechanism}/{name}": block.latency
        for mechanism, found in blocks_of.items()
        for name, block in found.items()
    }
    assert told == tops | inside


def test_python_example_runs(capsys) -> None:
    examples = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    assert examples
    for example in examples:
        exec(example, {})
    assert capsys.readouterr().out == f"{Switch(preset('edge-k64')).latency}\n"


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_links_lead_somewhere(page: Path) -> None:
    text = re.sub(r"````.*?````|```.*?```", "", page.read_text(), flags=re.DOTALL)
    targets = [t.partition("#")[0] for t in re.findall(r"\]\(([^)\s]+)\)", text)]
    local = [t for t in targets if t and not re.match(r"[a-z]+:", t)]
    assert [t for t in local if not (page.parent / t).exists()] == []
