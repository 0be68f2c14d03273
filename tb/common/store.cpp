// One store for `test_store`: a cycle of its clock a call.

#include <cstdint>

#include "Vtop.h"

static Vtop top;

extern "C" void store_cycle(int read, int read_row, int write, int write_row, int write_data) {
  top.read = read;
  top.read_row = read_row;
  top.write = write;
  top.write_row = write_row;
  top.write_data = write_data;
  for (int clock = 0; clock < 2; ++clock) {
    top.clk = clock;
    top.eval();
  }
}

extern "C" int store_latches() { return top.latches; }
extern "C" int store_sram() { return top.sram; }
