// A marker with one fault, chosen by the input `fault`: what the cocotb bench must notice.
// `inner` is the generated marker. S_BITS and the other sizes are filled in as numbers, and
// the ports of the settings in three places.
module marker (clk, rst, fault, s_axis_tdata, s_axis_tvalid, s_axis_tready, s_time, s_random, s_random_en, m_axis_tdata, m_axis_tuser, m_axis_tvalid, m_axis_tready, s_ctrl_tdata, s_ctrl_tvalid, s_ctrl_tready, m_ctrl_tdata, m_ctrl_tvalid, m_ctrl_tready, PORTS);
  input clk, rst;
  input [4:0] fault;
  input [S_BITS-1:0] s_axis_tdata;
  input [TIME_BITS-1:0] s_time;
  input [RANDOM_BITS-1:0] s_random;
  input [C_BITS-1:0] s_ctrl_tdata;
  input s_axis_tvalid, s_random_en, m_axis_tready, s_ctrl_tvalid, m_ctrl_tready;
  output [M_BITS-1:0] m_axis_tdata;
  output [U_BITS-1:0] m_axis_tuser;
  output [R_BITS-1:0] m_ctrl_tdata;
  output s_axis_tready, m_axis_tvalid, s_ctrl_tready, m_ctrl_tvalid;
DECLARED
  wire [M_BITS-1:0] data;
  wire [U_BITS-1:0] gap;
  wire [R_BITS-1:0] receipt;
  wire valid, taken, ready, order_ready, done, fetched;
  reg [6:0] count = 0;      // answers since the start
  reg [6:0] packets = 0;    // packets since the start
  reg [2:0] receipts = 0;   // receipts since the start
  reg stalled = 0;          // an answer waited in the last cycle
  reg kept = 0;             // a receipt did
  reg once = 0;             // the fault has been done
  reg had_reset = 0;
  reg [4:0] last_fault = 0;
  wire chosen = count == 60 & ~once;
  wire chosen_receipt = receipts == 5 & ~once;

  // 1 lost answer, 2 doubled answer, 3 late answer, 4 changed while it waits, 5 taken back,
  // 6 wrong codepoint, 7 wrong gap, 8 packet held back, 9 deaf to later resets,
  // 10 s_random_en ignored, 11 order held back, 12 wrong receipt, 13 receipt changed while it
  // waits, 14 receipt taken back, 15 packet lost to an order, 16 lost receipt,
  // 17 ready to orders while one is under way
  wire lose = fault == 1 & chosen & valid;
  wire twice = fault == 2 & chosen;
  wire late = fault == 3 & chosen & valid;
  wire back = fault == 5 & stalled & ~once;
  wire hold = fault == 8 & packets == 100 & ~once;
  wire hold_order = fault == 11 & packets > 50 & ~once;
  wire unkept = fault == 14 & kept & ~once;
  wire no_receipt = fault == 16 & chosen_receipt & done;
  wire greedy = fault == 15 & s_ctrl_tvalid & order_ready & s_axis_tvalid & ~once;
  assign m_axis_tvalid = valid & ~lose & ~late & ~back;
  assign taken = lose | (m_axis_tready & ~twice & ~late & ~back);
  assign m_axis_tdata = data ^ (fault == 4 & stalled) ^ (fault == 6 & count == 60);
  assign m_axis_tuser = gap ^ (fault == 7 & count == 60);
  assign m_ctrl_tdata = receipt ^ {fault == 12 & chosen_receipt | fault == 13 & kept, {R_BITS-1{1'b0}}};
  assign m_ctrl_tvalid = done & ~unkept & ~no_receipt;
  assign fetched = no_receipt | (m_ctrl_tready & ~unkept);
  wire held_order = hold_order & s_ctrl_tvalid;
  assign s_axis_tready = ready & ~hold & ~held_order | greedy;
  assign s_ctrl_tready = order_ready & ~hold_order | fault == 17 & s_ctrl_tvalid & ready;
  always @(posedge clk) if (fault != last_fault) begin
    last_fault <= fault;
    count <= 0; packets <= 0; receipts <= 0;
    stalled <= 0; kept <= 0; once <= 0; had_reset <= 0;
  end else begin
    stalled <= m_axis_tvalid & ~m_axis_tready;
    kept <= m_ctrl_tvalid & ~m_ctrl_tready;
    had_reset <= had_reset | ~rst;
    if (m_axis_tvalid & m_axis_tready & count != 127) count <= count + 1;
    if (s_axis_tvalid & s_axis_tready & packets != 127) packets <= packets + 1;
    if (m_ctrl_tvalid & m_ctrl_tready & receipts != 7) receipts <= receipts + 1;
    if (lose | late | back | hold | unkept | no_receipt | greedy | twice & valid & m_axis_tready) once <= 1;
    if (held_order & order_ready) once <= 1;
  end

  inner inner (
    .clk(clk), .rst(rst & ~(fault == 9 & had_reset)),
    .s_axis_tdata(s_axis_tdata), .s_axis_tvalid(s_axis_tvalid & ~hold & ~held_order), .s_axis_tready(ready),
    .s_time(s_time), .s_random(s_random), .s_random_en(s_random_en & fault != 10),
    .m_axis_tdata(data), .m_axis_tuser(gap), .m_axis_tvalid(valid), .m_axis_tready(taken),
    .s_ctrl_tdata(s_ctrl_tdata), .s_ctrl_tvalid(s_ctrl_tvalid & ~hold_order),
    .s_ctrl_tready(order_ready),
    .m_ctrl_tdata(receipt), .m_ctrl_tvalid(done), .m_ctrl_tready(fetched),
    CONNECTED
  );
endmodule
