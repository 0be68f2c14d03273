// Bulk replay through the verilated top module `Marker`: one call drives many packets and orders.
//
// Compiled with the widths JOB_BITS, STEP_BITS, PSN_BITS and QUEUE_BITS of s_axis_tdata and
// RECEIPT_WORDS, the 32-bit words of m_ctrl_tdata, as macros. `put_settings` is written by the
// caller behind this text, as its ports follow from the configuration.

#include <cstddef>
#include <cstdint>

#include "Vtop.h"
#include "verilated.h"

void put_settings(Vtop& top, const uint64_t* settings);

namespace {

enum Result { DONE = 0, STUCK = 1, UNASKED = 2, UNORDERED = 3 };

constexpr int64_t NO_WORD = -1;

using Wide = unsigned __int128;

// Verilator gives a port of up to 8, 16, 32 and 64 bits an integer type, a wider one VlWide.
template <class T>
inline void put(T& port, Wide bits) {
    port = static_cast<T>(bits);
}

template <std::size_t N>
inline void put(VlWide<N>& port, Wide bits) {
    for (std::size_t i = 0; i < N; ++i) port[i] = static_cast<uint32_t>(bits >> 32 * i);
}

template <class T>
inline void get(const T& port, uint32_t* words) {
    words[0] = static_cast<uint32_t>(port);
    if constexpr (sizeof(T) > sizeof(uint32_t)) words[1] = static_cast<uint32_t>(port >> 32);
}

template <std::size_t N>
inline void get(const VlWide<N>& port, uint32_t* words) {
    for (std::size_t i = 0; i < N; ++i) words[i] = port[i];
}

// Appends fields to a word, from bit 0 up.
struct Packer {
    Wide bits = 0;
    int fill = 0;

    inline void add(uint64_t value, int width) {
        bits |= static_cast<Wide>(value) << fill;
        fill += width;
    }
};

struct Replay {
    VerilatedContext context;
    Vtop top{&context};
    int64_t cycles = 0;

    // The clock's rising edge; the inputs were settled while it was low.
    inline void tick() {
        top.clk = 1;
        top.eval();
        ++cycles;
    }

    inline void settle() {
        top.clk = 0;
        top.eval();
    }

    void reset(const uint64_t* settings) {
        put_settings(top, settings);
        top.s_axis_tvalid = 0;
        top.s_ctrl_tvalid = 0;
        top.m_axis_tready = 1;
        top.m_ctrl_tready = 1;
        for (int i = 0; i < 4; ++i) {
            top.rst = i < 3;
            settle();
            tick();
        }
    }
};

}  // namespace

extern "C" {

// Arrays of packets, one entry each; `random` has NO_WORD where the register's word is to be taken.
struct Packets {
    int64_t count;
    const int64_t* time;
    const int32_t* job;
    const int32_t* step;
    const int32_t* psn;
    const uint8_t* last;
    const int64_t* queue;
    const uint8_t* ecn;
    const int64_t* random;
};

// Orders; order j goes in before packet before[j], and after the one before it. `before` rises.
struct Orders {
    int64_t count;
    const int64_t* before;
    const int32_t* job;
    const uint8_t* op;
};

void* replay_open(const uint64_t* settings) {
    Replay* replay = new Replay;
    replay->reset(settings);
    return replay;
}

void replay_close(void* handle) {
    Replay* replay = static_cast<Replay*>(handle);
    replay->top.final();
    delete replay;
}

int64_t replay_cycles(void* handle) { return static_cast<Replay*>(handle)->cycles; }

// Serve packets and orders, and wait for all answers: `verdict` gets m_axis_tdata and `gap`
// m_axis_tuser of each packet, `receipt` RECEIPT_WORDS words of each order.
//
// Returns a Result; *at is then the first packet without an answer.
int replay_run(void* handle, const Packets* packets, const Orders* orders, int64_t patience,
               uint8_t* verdict, uint64_t* gap, uint32_t* receipt, int64_t* at) {
    Replay& replay = *static_cast<Replay*>(handle);
    Vtop& top = replay.top;
    const Packets& in = *packets;
    const int64_t count = in.count;
    int64_t sent = 0;
    int64_t answered = 0;
    int64_t ordered = 0;
    int64_t received = 0;
    int64_t quiet = 0;
    bool shown = false;  // packet `sent` is on the port already
    while (answered < count || received < orders->count) {
        const bool order = ordered < orders->count && orders->before[ordered] <= sent;
        const bool send = sent < count && !order;
        if (send && !shown) {
            Packer beat;
            beat.add(in.job[sent], JOB_BITS);
            beat.add(in.step[sent], STEP_BITS);
            beat.add(in.psn[sent], PSN_BITS);
            beat.add(in.last[sent], 1);
            beat.add(in.queue[sent], QUEUE_BITS);
            beat.add(in.ecn[sent], 2);
            put(top.s_axis_tdata, beat.bits);
            const bool given = in.random[sent] != NO_WORD;
            put(top.s_time, in.time[sent]);
            put(top.s_random, given ? in.random[sent] : 0);
            top.s_random_en = given;
            shown = true;
        }
        if (order) {
            Packer beat;
            beat.add(orders->job[ordered], JOB_BITS);
            beat.add(orders->op[ordered], 2);
            put(top.s_ctrl_tdata, beat.bits);
        }
        top.s_axis_tvalid = send;
        top.s_ctrl_tvalid = order;
        replay.settle();
        bool moved = false;
        if (top.m_axis_tvalid) {
            *at = answered;
            if (answered >= sent) return UNASKED;
            verdict[answered] = top.m_axis_tdata;
            gap[answered] = top.m_axis_tuser;
            ++answered;
            moved = true;
        }
        if (top.m_ctrl_tvalid) {
            *at = answered;
            if (received >= ordered) return UNORDERED;
            get(top.m_ctrl_tdata, receipt + received * RECEIPT_WORDS);
            ++received;
            moved = true;
        }
        if (send && top.s_axis_tready) {
            ++sent;
            shown = false;
            moved = true;
        }
        if (order && top.s_ctrl_tready) {
            ++ordered;
            moved = true;
        }
        replay.tick();
        quiet = moved ? 0 : quiet + 1;
        if (quiet > patience) {
            *at = answered;
            return STUCK;
        }
    }
    top.s_axis_tvalid = 0;
    top.s_ctrl_tvalid = 0;
    *at = answered;
    return DONE;
}

}  // extern "C"
