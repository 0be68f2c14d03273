"""What `tb.gated` moves behind a condition, and what it leaves alone."""

from __future__ import annotations

import re

from tb.gated import gated

MODULE = """\
module lane (base, last, mask, seen);
  output [4:0] base;
  output [4:0] last;
  input [4:0] mask;
  output seen;
  wire [4:0] half;
  wire [4:0] rank;
  wire [4:0] picked;
  wire some_down;
  assign half = mask >> 1'h1;
  assign rank = half + mask;
  assign base = some_down ? rank : mask;
  assign picked = base ^ half;
  assign last = some_down ? picked : base;
  assign some_down = mask != 5'h1f;
  assign seen = some_down;
endmodule
"""

CLOCKED = """\
module lane (clk, go, mask, kept, ways);
  input clk;
  input go;
  input [4:0] mask;
  output [4:0] kept;
  output [4:0] ways;
  reg [4:0] kept = 5'h00;
  reg [4:0] ways = 5'h00;
  wire some_down3;
  wire load;
  wire [4:0] turned;
  wire [4:0] count;
  assign some_down3 = mask != 5'h1f;
  assign load = go & some_down3;
  assign turned = ~ mask;
  assign count = mask - 5'h02;
  always @(posedge clk)
    if (load) kept <= turned;
  always @(posedge clk)
    if (go)
      if (!some_down3) ways <= 5'h1f;
      else ways <= count;
endmodule
"""


def blocks(verilog: str) -> list[tuple[str, list[str]]]:
    """The conditions of the blocks, and the names set in each, in order."""
    found = re.findall(r"always @\* if \((\w+) \) begin\n(.*?)\n  end", verilog, re.DOTALL)
    return [(name, re.findall(r"(\w+) =", text)) for name, text in found]


def test_a_block_for_each_stage() -> None:
    """`picked` waits for `base`, which waits for `rank`: not in one block."""
    text = gated(MODULE, "some_down")
    assert blocks(text) == [("some_down", ["half", "rank"]), ("some_down", ["picked"])]
    assert "  reg [4:0] rank;" in text and "  wire some_down;" in text
    assert "assign rank" not in text and "  assign base = some_down ? rank : mask;" in text


def test_what_others_read_stays() -> None:
    shown = MODULE.replace("seen = some_down", "seen = half[0]")
    assert blocks(gated(shown, "some_down"))[0] == ("some_down", ["rank"])


def test_only_the_arm_of_the_condition_is_gated() -> None:
    swapped = MODULE.replace("some_down ? rank : mask", "some_down ? mask : rank")
    assert "assign rank" in gated(swapped, "some_down")


def test_registers_with_the_condition_in_their_enable() -> None:
    assert blocks(gated(CLOCKED, r"some_down\d*")) == [("some_down3", ["turned", "count"])]


def test_nothing_without_a_condition() -> None:
    assert gated(MODULE, "other") == MODULE


def test_an_assignment_that_nobody_reads_goes() -> None:
    unread = MODULE.replace("endmodule", "  assign spare[4:0] = half;\nendmodule")
    assert gated(unread, "some_down") == gated(MODULE, "some_down")
