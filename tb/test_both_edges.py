"""A design on both edges of its clock, evaluated once a cycle."""

from __future__ import annotations

import ctypes
import random

import pytest

from tb.both_edges import on_both_edges
from tb.verilated import build_library

COUNTER = """\
module counter (clk, rst, step, total, next, zero);
  input clk;
  input rst;
  input [3:0] step;
  output [7:0] total;
  output [7:0] next;
  output zero;
  reg [7:0] kept = 8'h00;
  assign next = kept + step;
  assign total = kept;
  assign zero = !step;
  always @(posedge clk)
    if (rst) kept <= 8'h00;
    else kept <= next;
endmodule
"""

WRAPPER = """
#include "Vtop.h"
extern "C" void run(int count, const unsigned char* in, unsigned char* out) {
    Vtop top;
    top.clk = 0;
    top.eval();
    for (int i = 0; i < count; ++i) {
        top.rst = in[i] >> 4;
        top.step = in[i] & 15;
        top.clk ^= 1;
        top.eval();
        *out++ = top.total;
        *out++ = top.next;
        *out++ = top.zero;
    }
}
"""


def test_outputs_are_those_at_the_edge() -> None:
    """Also those that hang on inputs: one value a cycle, none twice, and none before its time."""
    rng = random.Random(1)
    inputs = bytes([16, *(rng.randrange(16) | 16 * (rng.random() < 0.1) for _ in range(500))])
    expected, total = bytearray(), 0
    for given in inputs:
        step = given & 15
        following = (total + step) % 256
        expected += bytes([total, following, not step])
        total = 0 if given >> 4 else following
    both = on_both_edges(COUNTER, "counter")
    library = build_library(both, "counter_on_both_edges", WRAPPER)
    outputs = ctypes.create_string_buffer(len(expected))
    library.run(len(inputs), inputs, outputs)
    assert outputs.raw == expected


@pytest.mark.parametrize("other", ["negedge clk", "posedge clk2", "posedge clk or posedge rst"])
def test_other_edges(other: str) -> None:
    said = f"^posedge clk must be all that a design waits for, not {other}$"
    with pytest.raises(ValueError, match=said):
        on_both_edges(COUNTER.replace("posedge clk", other), "counter")
