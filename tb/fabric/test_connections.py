"""Connection matrices: every line that can be wrong, real files, and drawn permutations."""

from __future__ import annotations

from pathlib import Path

import pytest

from models.common.errors import InputError
from models.fabric.connections import Flow, permutation, read_connections

REAL = Path(__file__).parents[3] / "shared" / "data" / "connections"

HEAD = "Nodes 4\nConnections 2\nTriggers 1\n"
FIRST = "0->1 id 1 start 0 size 9000 send_done_trigger 1\n"
SECOND = "1->2 id 2 trigger 1 size 100\n"
TRIGGER = "trigger id 1 oneshot\n"
GOOD = HEAD + FIRST + SECOND + TRIGGER


def write(folder: Path, text: str) -> Path:
    file = folder / "m.cm"
    file.write_bytes(text.encode("latin-1"))
    return file


def test_reads_flows_and_triggers(tmp_path: Path) -> None:
    found = read_connections(write(tmp_path, GOOD))
    assert found.nodes == 4
    assert found.flows == (
        Flow(source=0, destination=1, size=9000, start=0, sent=1),
        Flow(source=1, destination=2, size=100, start=None, trigger=1),
    )


def test_reads_all_kinds_of_triggers(tmp_path: Path) -> None:
    text = """\
Nodes 4
Connections 5
Triggers 5
trigger id 9 multishot
0->1 start 1.25 size 1 send_done_trigger 9 recv_done_trigger 2 prio 3
0->2 start 2e3 size 1 recv_done_trigger 3 send_done_trigger 9
0->3 trigger 9 size 1 recv_done_trigger 4
3->0 start 0 size 1 recv_done_trigger 3 prio 0
2->0 trigger 4 size 1 recv_done_trigger 3
trigger id 2 barrier 1
trigger id 3 barrier count 3
trigger id 4 count 1 barrier
trigger id 5 oneshot
"""
    found = read_connections(write(tmp_path, text))
    needs = {number: trigger.needs for number, trigger in found.triggers.items()}
    assert needs == {9: 0, 2: 1, 3: 3, 4: 1, 5: 1}
    assert [flow.start for flow in found.flows] == [2, 2000, None, 0, None]
    assert [(flow.sent, flow.received) for flow in found.flows] == [
        *((9, 2), (9, 3), (None, 4), (None, 3), (None, 3))
    ]
    assert [flow.line for flow in found.flows] == [5, 6, 7, 8, 9]
    assert found.triggers[3].line == 11


def test_blank_lines_comments_and_crlf_are_fine(tmp_path: Path) -> None:
    dressed = "# made by hand\n\n" + GOOD.replace("\n", "\r\n") + "\n"
    plain = read_connections(write(tmp_path, GOOD))
    assert read_connections(write(tmp_path, dressed)) == plain


BAD = {
    "empty": ("", "1: empty file"),
    "no nodes": ("Connections 0\n", "1: Nodes: is missing"),
    "no connections": ("Nodes 4\n", "1: Connections: is missing"),
    "nodes is text": (GOOD.replace("Nodes 4", "Nodes x"), "1: Nodes: must be an integer from 2"),
    "nodes without number": (GOOD.replace("Nodes 4", "Nodes"), "1: Nodes: must be followed by"),
    "nodes twice": ("Nodes 4\n" + GOOD, "2: Nodes: stands on line 1 already"),
    "too many nodes": (GOOD.replace("Nodes 4", "Nodes 17"), "1: Nodes: must be at most the 16 "),
    "flow first": (FIRST + GOOD, "1: Nodes: must stand above"),
    "unknown line": (GOOD + "hello 1\n", "7: a line begins with"),
    "source is text": (GOOD.replace("0->1", "a->1"), "4: source: must be an integer from 0 to 3"),
    "source too high": (GOOD.replace("0->1", "4->1"), "4: source: must be an integer from 0 to 3"),
    "negative": (GOOD.replace("0->1", "0->-1"), "4: destination: must be an integer from 0 to 3"),
    "long number": (
        GOOD.replace("0->1", "0->" + "0" * 5000 + "1"),
        "4: destination: must be an integer from 0 to 3, not '00000",
    ),
    "itself": (GOOD.replace("0->1", "1->1"), "4: destination: must be another host"),
    "no size": (GOOD.replace(" size 9000", ""), "4: size: is missing"),
    "size zero": (GOOD.replace("size 9000", "size 0"), "4: size: must be an integer from 1"),
    "size is text": (GOOD.replace("9000", "9kB"), "4: size: must be an integer from 1"),
    "no start": (GOOD.replace(" start 0", ""), "4: start: a flow has a start or a trigger"),
    "both": (GOOD.replace("id 2", "id 2 start 5"), "5: start: a flow has a start or a trigger"),
    "unknown field": (GOOD.replace("start 0", "begin 0"), "4: a flow's fields are id, start"),
    "field twice": (GOOD.replace("start 0", "start 0 start 0"), "4: start: stands twice"),
    "no value": (GOOD.replace("size 100", "size"), "5: size: has no value"),
    "id twice": (GOOD.replace("id 2", "id 1"), "5: id: must be used once, not '1'"),
    "count": (GOOD.replace("ions 2", "ions 3"), "2: Connections: must be 2, .*, not '3'"),
    "trigger count": (GOOD.replace("rs 1", "rs 7"), "3: Triggers: must be 1, .*, not '7'"),
    "no trigger count": (GOOD.replace("Triggers 1\n", ""), "1: Triggers: must be 1, .* not '0'"),
    "malformed trigger": (GOOD.replace(" oneshot", ""), "6: trigger: must read"),
    "trigger without id": (GOOD.replace("er id 1 one", "er 1 one"), "6: trigger: must read"),
    "unknown kind": (
        GOOD.replace("oneshot", "twice"),
        "6: trigger: must be oneshot, multishot or barrier count NUMBER, not 'twice'",
    ),
    "two kinds": (GOOD.replace("oneshot", "oneshot multishot"), "6: trigger: must be oneshot, mul"),
    "barrier of nothing": (GOOD.replace("oneshot", "barrier"), "6: trigger: must be oneshot, mul"),
    "barrier twice": (GOOD.replace("oneshot", "barrier 1 barrier"), "6: trigger: must be oneshot"),
    "barrier without count": (
        GOOD.replace("oneshot", "barrier count"),
        "6: trigger: must be oneshot, multishot or barrier count NUMBER, not 'barrier count'",
    ),
    "barrier of text": (
        GOOD.replace("oneshot", "barrier count x"),
        "6: barrier: must be an integer from 1 to 2147483647, not 'x'",
    ),
    "barrier of 0": (GOOD.replace("oneshot", "barrier 0"), "6: barrier: must be an integer from 1"),
    "barrier of too many": (
        GOOD.replace("oneshot", "barrier count 2"),
        "6: barrier: must be 1, as many as activate trigger 1, not '2'",
    ),
    "barrier of too few": (
        GOOD.replace("1 id 1 ", "1 id 1 recv_done_trigger 1 ")
        .replace("id 2 ", "id 2 recv_done_trigger 1 ")
        .replace("oneshot", "barrier 2"),
        "6: barrier: must be 3, as many as activate trigger 1, not '2'",
    ),
    "oneshot twice": (
        GOOD.replace("id 2 ", "id 2 recv_done_trigger 1 "),
        "5: recv_done_trigger: must be one that line 4 does not activate, as once is .*, not '1'",
    ),
    "multishot too seldom": (
        GOOD.replace("oneshot", "multishot").replace("ions 2", "ions 3") + "3->0 trigger 1 size 1",
        "7: trigger: must start at most 1 flows, as often as it is activated, not '1'",
    ),
    "multishot of two hosts": (
        GOOD.replace("oneshot", "multishot").replace("id 2 ", "id 2 send_done_trigger 1 "),
        "5: send_done_trigger: must not be multishot at another host, .*, than on line 4, not '1'",
    ),
    "multishot of two ends": (
        GOOD.replace("oneshot", "multishot").replace("id 1 st", "id 1 recv_done_trigger 1 st"),
        "4: recv_done_trigger: must not be multishot at another host, .*, than on line 4, not '1'",
    ),
    "start is text": (GOOD.replace("start 0", "start 1ns"), "4: start: must be a number from 0"),
    "start is negative": (GOOD.replace("start 0", "start -0.5"), "4: start: must be a number from"),
    "start is infinite": (GOOD.replace("start 0", "start inf"), "4: start: must be a number from"),
    "start is too large": (GOOD.replace("start 0", "start 1e99"), "4: start: must be a number fr"),
    "negative prio": (GOOD.replace("start 0", "start 0 prio -1"), "4: prio: must be an integer"),
    "nobody declares what is received": (
        GOOD.replace("id 2 ", "id 2 recv_done_trigger 5 "),
        "5: recv_done_trigger: must be one that a trigger line names, not '5'",
    ),
    "trigger twice": (
        GOOD.replace("rs 1", "rs 2") + TRIGGER,
        "7: trigger id: must be declared once, not '1'",
    ),
    "nobody fires": (
        GOOD.replace(" send_done_trigger 1", ""),
        "5: trigger: must be one that some flow activates, not '1'",
    ),
    "nobody declares": (
        GOOD.replace(TRIGGER, "").replace("Triggers 1", "Triggers 0"),
        "5: trigger: must be one that a trigger line names, not '1'",
    ),
    "fires nothing": (
        GOOD.replace("trigger 1 size", "start 0 size").replace(TRIGGER, "").replace("rs 1", "rs 0"),
        "4: send_done_trigger: must be one that a trigger line names, not '1'",
    ),
    "circle": (
        "Nodes 3\nConnections 1\nTriggers 1\n0->1 trigger 1 size 1 send_done_trigger 1\n" + TRIGGER,
        "4: trigger: must not wait for itself in a circle, not '1'",
    ),
    "circle of multishot": (
        "Nodes 3\nConnections 2\nTriggers 1\n0->1 trigger 1 size 1 send_done_trigger 1\n"
        "0->2 trigger 1 size 1 send_done_trigger 1\ntrigger id 1 multishot\n",
        "4: trigger: must not wait for itself in a circle, not '1'",
    ),
    "barrier in a circle": (
        "Nodes 3\nConnections 2\nTriggers 1\n0->1 start 0 size 1 send_done_trigger 1\n"
        "1->2 trigger 1 size 1 recv_done_trigger 1\ntrigger id 1 barrier 2\n",
        "5: trigger: must not wait for itself in a circle, not '1'",
    ),
    "not UTF-8": (GOOD + "\xff\n", "7: byte 0xff is not UTF-8 text"),
    "NUL": (GOOD + "\0\n", "7: NUL byte"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_files_are_named_by_line_and_field(tmp_path: Path, name: str) -> None:
    text, said = BAD[name]
    file = write(tmp_path, text)
    with pytest.raises(InputError, match=said) as caught:
        read_connections(file, max_nodes=16)
    assert str(caught.value).startswith(f"{file}:")
    assert "\n" not in str(caught.value)


def test_missing_file_and_directory(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.cm: no such file or directory$"):
        read_connections(tmp_path / "none.cm")
    with pytest.raises(InputError, match=r"is a directory$"):
        read_connections(tmp_path)


@pytest.mark.parametrize(
    ("name", "nodes", "flows"),
    [
        ("perm_16n_16c_2MB", 16, 16),
        ("outcast_incast", 128, 21),
        ("perm_128n_128c_2MB", 128, 128),
        ("perm_8192n_8192c_1MB", 8192, 8192),
        ("alltoall_serial_16n", 16, 240),
    ],
)
def test_real_files(name: str, nodes: int, flows: int) -> None:
    if not REAL.is_dir():
        pytest.skip("the shared folder with real connection matrices is absent")
    found = read_connections(REAL / f"{name}.cm")
    assert (found.nodes, len(found.flows)) == (nodes, flows)
    if name.startswith("perm"):
        hosts = list(range(nodes))
        assert sorted(flow.source for flow in found.flows) == hosts
        assert sorted(flow.destination for flow in found.flows) == hosts


def test_a_generated_chain_of_triggers(tmp_path: Path) -> None:
    """Twin of the all-to-all file: one host sends to 15 others, one after the other."""
    chain = [f"0->{n} id {n} trigger {n - 1} size 1 send_done_trigger {n}" for n in range(2, 16)]
    lines = ["Nodes 16", "Connections 15", "Triggers 15"]
    lines += ["0->1 id 1 start 0 size 1 send_done_trigger 1", *chain]
    lines += [f"trigger id {n} oneshot" for n in range(1, 16)]
    found = read_connections(write(tmp_path, "\n".join(lines)))
    assert [flow.trigger for flow in found.flows] == [None, *range(1, 15)]


@pytest.mark.parametrize("nodes", [2, 3, 16, 1000])
def test_permutation_is_a_derangement(nodes: int) -> None:
    for seed in range(5):
        flows = permutation(nodes, seed).flows
        assert [flow.source for flow in flows] == list(range(nodes))
        assert sorted(flow.destination for flow in flows) == list(range(nodes))
        assert all(flow.source != flow.destination for flow in flows)


def test_permutation_depends_on_the_seed_alone() -> None:
    assert permutation(64, 7) == permutation(64, 7)
    assert permutation(64, 7) != permutation(64, 8)


def test_permutation_reaches_every_derangement_of_four() -> None:
    drawn = {tuple(f.destination for f in permutation(4, seed).flows) for seed in range(200)}
    assert len(drawn) == 9


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ((1, 0), "nodes must be an integer from 2 to 524288, not 1"),
        ((4, -1), "seed must be an integer from 0 to 18446744073709551615, not -1"),
        ((4, 0, 0), "size must be an integer from 1 to 9223372036854775807, not 0"),
    ],
)
def test_bad_permutation(arguments: tuple[int, ...], said: str) -> None:
    with pytest.raises(ValueError, match=f"^{said}$"):
        permutation(*arguments)
