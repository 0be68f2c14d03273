// What holds the pointers of a banked engine where it is not flip-flops: behavioural models of
// memories with one read and one write port, for simulation. Put cells or macros of your process in
// their place for synthesis. Reading is registered; a word written and read in the same cycle
// reads as it was before.

// A static memory.
module netweave_sram #(
    parameter DEPTH = 2,
    parameter WIDTH = 1,
    parameter ADDRESS = 1
) (
    input clk,
    input read,
    input [ADDRESS-1:0] read_address,
    output reg [WIDTH-1:0] read_data,
    input write,
    input [ADDRESS-1:0] write_address,
    input [WIDTH-1:0] write_data
);
  reg [WIDTH-1:0] rows[0:DEPTH-1];
  always @(posedge clk) begin
    if (read) read_data <= rows[read_address];
    if (write) rows[write_address] <= write_data;
  end
endmodule

// Latches: a row opens while the clock is high in the cycle behind the write. Its select comes from
// latches that are open while the clock is low, so it is steady by then, and so is the data. So are
// the first halves of the registers that read, which are shut when a row opens.
module netweave_latches #(
    parameter DEPTH = 2,
    parameter WIDTH = 1,
    parameter ADDRESS = 1
) (
    input clk,
    input read,
    input [ADDRESS-1:0] read_address,
    output reg [WIDTH-1:0] read_data,
    input write,
    input [ADDRESS-1:0] write_address,
    input [WIDTH-1:0] write_data
);
  // verilator lint_off LATCH
  reg selected;
  reg [ADDRESS-1:0] selected_row;
  reg [WIDTH-1:0] data;
  reg [WIDTH-1:0] word;
  reg [WIDTH-1:0] rows[0:DEPTH-1];
  always @* begin
    if (!clk) begin
      word = rows[read_address];
      selected = write;
      selected_row = write_address;
    end
  end
  always @(posedge clk) begin
    data <= write_data;
    if (read) read_data <= word;
  end
  always @* begin
    if (clk && selected) rows[selected_row] = data;
  end
  // verilator lint_on LATCH
endmodule
