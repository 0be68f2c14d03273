// A hop with one fault, chosen by the input `fault`: what the cocotb bench must notice.
// `inner` is the generated hop of one port and one clock. S_BITS and the other sizes are filled in
// as numbers.
module hop (clk, rst, fault, s_axis_tdata, s_axis_tvalid, s_axis_tready, s_time, m_axis_tdata, m_axis_tvalid, m_axis_tready, s_table_tdata, s_table_tvalid, s_table_tready, s_agent_tdata, s_agent_tvalid, s_agent_tready, s_count_tdata, s_count_tvalid, s_count_tready, m_count_tdata, m_count_tvalid, m_count_tready, m_agent_tdata, m_agent_tvalid, set_window_0);
  input clk, rst;
  input [4:0] fault;
  input [S_BITS-1:0] s_axis_tdata;
  input [TIME_BITS-1:0] s_time;
  input [TABLE_BITS-1:0] s_table_tdata;
  input [AGENT_BITS-1:0] s_agent_tdata;
  input [READ_BITS-1:0] s_count_tdata;
  input [23:0] set_window_0;
  input s_axis_tvalid, m_axis_tready, s_table_tvalid, s_agent_tvalid, s_count_tvalid, m_count_tready;
  output [M_BITS-1:0] m_axis_tdata;
  output [COUNT_BITS-1:0] m_count_tdata;
  output [USE_BITS-1:0] m_agent_tdata;
  output s_axis_tready, m_axis_tvalid, s_table_tready, s_agent_tready, s_count_tready, m_count_tvalid, m_agent_tvalid;
  wire [M_BITS-1:0] data;
  wire [COUNT_BITS-1:0] counters;
  wire [USE_BITS-1:0] use_data;
  wire used, valid, taken, ready, done, fetched, word_ready, read_ready, value_ready;
  reg [6:0] count = 0;      // answers since the start
  reg [6:0] packets = 0;    // packets since the start
  reg [2:0] readings = 0;   // readings since the start
  reg stalled = 0;          // an answer waited in the last cycle
  reg kept = 0;             // counters did
  reg was_used = 0;         // a use was shown in the last cycle
  reg once = 0;             // the fault has been done
  reg had_reset = 0;
  reg [4:0] last_fault = 0;
  wire chosen = count == 60 & ~once;
  wire chosen_reading = readings == 3 & ~once;

  // 1 lost answer, 2 doubled answer, 3 late answer, 4 changed while it waits, 5 taken back,
  // 6 a bit of the tag, 7 a flag, 8 packet held back, 9 deaf to later resets, 10 a counter,
  // 11 counters changed while they wait, 12 counters taken back, 13 counters lost,
  // 14 reading held back, 15 agents' values lost, 16 a word of no table held back,
  // 17 packet taken twice, 18 time stands still, 19 edges' words lost,
  // 20 a use of a value not shown, 21 shown with another time, 22 shown in two cycles
  wire lose = fault == 1 & chosen & valid;
  wire twice = fault == 2 & chosen;
  wire late = fault == 3 & chosen & valid;
  wire back = fault == 5 & stalled & ~once;
  wire hold = fault == 8 & packets == 100 & ~once;
  wire unkept = fault == 12 & kept & ~once;
  wire no_counters = fault == 13 & chosen_reading & done;
  wire hold_read = fault == 14 & chosen_reading;
  wire hold_word = fault == 16 & packets > 20 & s_table_tvalid & ~once & s_table_tdata[2:0] == 4;
  wire again = fault == 17 & packets == 100 & ~once;
  wire no_use = fault == 20 & count >= 60 & ~once & used;
  wire no_edge = fault == 19 & s_table_tdata[2:0] == 6;
  assign m_axis_tvalid = valid & ~lose & ~late & ~back;
  assign taken = lose | (m_axis_tready & ~twice & ~late & ~back);
  assign m_axis_tdata = data ^ {fault == 7 & count == 60, {M_BITS-2{1'b0}}, fault == 4 & stalled | fault == 6 & count == 60};
  assign m_count_tdata = counters ^ {fault == 10 & chosen_reading | fault == 11 & kept, {COUNT_BITS-1{1'b0}}};
  assign m_count_tvalid = done & ~unkept & ~no_counters;
  assign fetched = no_counters | (m_count_tready & ~unkept);
  assign m_agent_tvalid = used & ~no_use | fault == 22 & was_used;
  assign m_agent_tdata = use_data ^ {fault == 21 & count >= 60, {USE_BITS-1{1'b0}}};
  assign s_axis_tready = ready & ~hold & ~again;
  assign s_table_tready = word_ready & ~hold_word;
  assign s_count_tready = read_ready & ~hold_read;
  assign s_agent_tready = value_ready;
  always @(posedge clk) if (fault != last_fault) begin
    last_fault <= fault;
    count <= 0; packets <= 0; readings <= 0;
    stalled <= 0; kept <= 0; once <= 0; had_reset <= 0;
  end else begin
    stalled <= m_axis_tvalid & ~m_axis_tready;
    kept <= m_count_tvalid & ~m_count_tready;
    was_used <= used;
    had_reset <= had_reset | ~rst;
    if (m_axis_tvalid & m_axis_tready & count != 127) count <= count + 1;
    if (s_axis_tvalid & s_axis_tready & packets != 127) packets <= packets + 1;
    if (m_count_tvalid & m_count_tready & readings != 7) readings <= readings + 1;
    if (lose | late | back | hold | unkept | no_counters | hold_word | again & s_axis_tvalid & ready) once <= 1;
    if (no_use) once <= 1;
    if (twice & valid & m_axis_tready | hold_read & s_count_tvalid & read_ready) once <= 1;
  end

  inner inner (
    .clk(clk), .rst(rst & ~(fault == 9 & had_reset)),
    .s_axis_tdata(s_axis_tdata), .s_axis_tvalid(s_axis_tvalid & ~hold), .s_axis_tready(ready),
    .s_time(fault == 18 ? {TIME_BITS{1'b0}} : s_time),
    .m_axis_tdata(data), .m_axis_tvalid(valid), .m_axis_tready(taken),
    .s_table_tdata(s_table_tdata), .s_table_tvalid(s_table_tvalid & ~hold_word & ~no_edge), .s_table_tready(word_ready),
    .s_agent_tdata(s_agent_tdata), .s_agent_tvalid(s_agent_tvalid & fault != 15), .s_agent_tready(value_ready),
    .m_agent_tdata(use_data), .m_agent_tvalid(used),
    .s_count_tdata(s_count_tdata), .s_count_tvalid(s_count_tvalid & ~hold_read), .s_count_tready(read_ready),
    .m_count_tdata(counters), .m_count_tvalid(done), .m_count_tready(fetched),
    .set_window_0(set_window_0)
  );
endmodule
