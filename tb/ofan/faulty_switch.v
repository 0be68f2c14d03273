// A switch with one fault, chosen by the input `fault`: what the cocotb bench must notice.
// `inner` is the generated switch. LANES and the other sizes are filled in as numbers.
module switch (clk, rst, fault, s_axis_tdata, s_axis_tkeep, s_axis_tvalid, s_axis_tready, m_axis_tdata, m_axis_tkeep, m_axis_tvalid, m_axis_tready, s_mask_tdata, s_mask_tvalid, s_mask_tready);
  input clk, rst;
  input [3:0] fault;
  input [S_BITS-1:0] s_axis_tdata;
  input [LANES-1:0] s_axis_tkeep;
  input s_axis_tvalid, m_axis_tready, s_mask_tvalid;
  input [W_BITS-1:0] s_mask_tdata;
  output [M_BITS-1:0] m_axis_tdata;
  output [LANES-1:0] m_axis_tkeep;
  output s_axis_tready, m_axis_tvalid, s_mask_tready;

  wire [M_BITS-1:0] data;
  wire [LANES-1:0] keep;
  wire valid, taken, ready, mask_ready;
  reg [6:0] count = 0;      // answers since the start
  reg [6:0] beats = 0;      // batches since the start
  reg stalled = 0;          // an answer waited in the last cycle
  reg once = 0;             // the fault of this answer has been done
  reg had_reset = 0;
  wire chosen = count == 120 & ~once;

  // 1 lost answer, 2 doubled answer, 3 late answer, 4 changed while it waits, 5 taken back,
  // 6 wrong uplink, 7 wrong tkeep, 8 batch held back, 9 write lost, 10 deaf to later resets
  wire lose = fault == 1 & chosen & valid;
  wire twice = fault == 2 & chosen;
  wire late = fault == 3 & chosen & valid;
  wire back = fault == 5 & stalled & ~once;
  wire [M_BITS-1:0] wrong = fault == 6 & count == 120 ? -1 : 0;
  wire hold = fault == 8 & beats == 100 & ~once;
  assign m_axis_tvalid = valid & ~lose & ~late & ~back;
  assign taken = lose | (m_axis_tready & ~twice & ~late & ~back);
  assign m_axis_tdata = data ^ (fault == 4 & stalled) ^ wrong;
  assign m_axis_tkeep = keep ^ (fault == 7 & count == 120);
  assign s_axis_tready = ready & ~hold;
  assign s_mask_tready = fault == 9 | mask_ready;
  always @(posedge clk) begin
    stalled <= m_axis_tvalid & ~m_axis_tready;
    had_reset <= had_reset | ~rst;
    if (m_axis_tvalid & m_axis_tready & count != 127) count <= count + 1;
    if (s_axis_tvalid & s_axis_tready & beats != 127) beats <= beats + 1;
    if (lose | late | back | hold | twice & valid & m_axis_tready) once <= 1;
  end

  inner inner (
    .clk(clk), .rst(rst & ~(fault == 10 & had_reset)),
    .s_axis_tdata(s_axis_tdata), .s_axis_tkeep(s_axis_tkeep), .s_axis_tvalid(s_axis_tvalid & ~hold),
    .s_axis_tready(ready), .m_axis_tdata(data), .m_axis_tkeep(keep), .m_axis_tvalid(valid),
    .m_axis_tready(taken), .s_mask_tdata(s_mask_tdata),
    .s_mask_tvalid(s_mask_tvalid & fault != 9), .s_mask_tready(mask_ready)
  );
endmodule
