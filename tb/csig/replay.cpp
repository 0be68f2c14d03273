// Bulk replay through the verilated top module `Hop`, put on both edges of its clock by
// `tb.both_edges`: one call drives many packets and writes.
//
// Compiled with the widths TAG_BITS, PORT_BITS, BYTES_BITS, DELAY_BITS and QUEUE_BITS of
// s_axis_tdata, TIME_BITS of s_time, CLOCKS, LOAD_AFTER, and TABLE_WORDS, AGENT_WORDS and
// COUNT_WORDS, the 32-bit words of s_table_tdata, s_agent_tdata and m_count_tdata, as macros. What
// depends on whether a port is there is written by the caller behind this text: `put_window`,
// `put_agent`, `agent_taken`.

#include <array>
#include <cstddef>
#include <cstdint>

#include "Vtop.h"
#include "verilated.h"

void put_window(Vtop& top, int clock, uint32_t length);
void put_agent(Vtop& top, bool valid, const uint32_t* words);
bool agent_taken(const Vtop& top);  // at the last edge

namespace {

constexpr uint64_t TIME_MASK = ~uint64_t{0} >> (64 - TIME_BITS);

enum Result { DONE = 0, STUCK = 1, UNASKED = 2 };

// Verilator gives a port of up to 8, 16, 32 and 64 bits an integer type, a wider one VlWide.
template <class T>
inline void put(T& port, const uint32_t* words) {
    uint64_t bits = words[0];
    if constexpr (sizeof(T) > sizeof(uint32_t)) bits |= static_cast<uint64_t>(words[1]) << 32;
    port = static_cast<T>(bits);
}

template <std::size_t N>
inline void put(VlWide<N>& port, const uint32_t* words) {
    for (std::size_t i = 0; i < N; ++i) port[i] = words[i];
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
    uint32_t words[8] = {};
    int fill = 0;

    inline void add(uint64_t value, int width) {
        for (int place = fill >> 5, at = -(fill & 31); at < width; ++place, at += 32) {
            words[place] |= static_cast<uint32_t>(at < 0 ? value << -at : value >> at);
        }
        fill += width;
    }
};

struct Replay {
    VerilatedContext context;
    Vtop top{&context};
    int64_t cycles = 0;
    std::array<int64_t, CLOCKS> windows;
    std::array<int64_t, CLOCKS> edges;  // next edge of each clock, as the last packet left it

    // An edge of the clock; outputs then are what they were at it.
    inline void cycle() {
        top.clk ^= 1;
        top.eval();
        ++cycles;
    }

    void reset(const int64_t* lengths) {
        for (int clock = 0; clock < CLOCKS; ++clock) {
            windows[clock] = edges[clock] = lengths[clock];
            put_window(top, clock, static_cast<uint32_t>(lengths[clock]));
        }
        top.s_axis_tvalid = 0;
        top.s_table_tvalid = 0;
        top.s_count_tvalid = 0;
        put_agent(top, false, nullptr);
        top.m_axis_tready = 1;
        top.m_count_tready = 1;
        top.s_time = 0;
        top.clk = 0;
        top.eval();
        for (int i = 0; i < 4; ++i) {
            top.rst = i < 3;
            cycle();
        }
    }

    // Write one word of s_table; returns whether it was taken within `patience` cycles.
    bool table(const uint32_t* words, int64_t patience) {
        put(top.s_table_tdata, words);
        top.s_table_tvalid = 1;
        for (int64_t quiet = 0; quiet <= patience; ++quiet) {
            cycle();
            if (top.s_table_tready) {
                top.s_table_tvalid = 0;
                return true;
            }
        }
        return false;
    }
};

}  // namespace

extern "C" {

// Arrays of packets, one entry each.
struct Packets {
    int64_t count;
    const int64_t* time;
    const uint64_t* tag;
    const int32_t* port;
    const int32_t* bytes;
    const int64_t* delay;
    const int64_t* queue;
};

// Values that agents write; write j goes in before packet before[j], and after the one before it,
// whose answer is out by then. `before` rises.
struct Writes {
    int64_t count;
    const int64_t* before;
    const uint32_t* words;
};

void* replay_open(const int64_t* windows) {
    Replay* replay = new Replay;
    replay->reset(windows);
    return replay;
}

void replay_close(void* handle) {
    Replay* replay = static_cast<Replay*>(handle);
    replay->top.final();
    delete replay;
}

int64_t replay_cycles(void* handle) { return static_cast<Replay*>(handle)->cycles; }

// Write words of s_table, one after the other. Returns a Result; *at is the first not taken.
int replay_tables(void* handle, int64_t count, const uint32_t* words, int64_t patience,
                  int64_t* at) {
    Replay& replay = *static_cast<Replay*>(handle);
    for (*at = 0; *at < count; ++*at) {
        if (!replay.table(words + *at * TABLE_WORDS, patience)) return STUCK;
    }
    return DONE;
}

// Read the counters of a port into COUNT_WORDS words.
int replay_count(void* handle, uint32_t port, int64_t patience, uint32_t* words) {
    Replay& replay = *static_cast<Replay*>(handle);
    Vtop& top = replay.top;
    top.s_count_tdata = port;
    top.s_count_tvalid = 1;
    bool answered = false;
    for (int64_t quiet = 0; quiet <= patience && !answered; ++quiet) {
        replay.cycle();
        if (top.s_count_tready) top.s_count_tvalid = 0;
        answered = top.m_count_tvalid;
        if (answered) get(top.m_count_tdata, words);
    }
    return answered ? DONE : STUCK;
}

// Serve packets and writes, and wait for all answers: `tag` gets the tags of m_axis_tdata, `flags`
// what stands above them.
//
// Where time leaps over more than LOAD_AFTER edges of a clock, edge[] is written first: the words
// of s_table for each clock, whose value the low bits of the next edge are put into, from bit
// EDGE_AT up. Returns a Result; *at is then the first packet without an answer.
int replay_run(void* handle, const Packets* packets, const Writes* writes, uint32_t* edge,
               int64_t patience, uint64_t* tag, uint8_t* flags, int64_t* at) {
    Replay& replay = *static_cast<Replay*>(handle);
    Vtop& top = replay.top;
    const Packets& in = *packets;
    const int64_t count = in.count;
    int64_t sent = 0;
    int64_t answered = 0;
    int64_t written = 0;
    int64_t quiet = 0;
    bool shown = false;  // packet `sent` is on the port already
    *at = 0;
    while (answered < count) {
        const bool write = written < writes->count && writes->before[written] <= sent;
        const bool send = sent < count && !write;
        if (send && !shown) {
            const int64_t time = in.time[sent];
            Packer beat;
            beat.add(in.tag[sent], TAG_BITS);
            beat.add(in.port[sent], PORT_BITS);
            beat.add(in.bytes[sent], BYTES_BITS);
            beat.add(in.delay[sent], DELAY_BITS);
            beat.add(in.queue[sent], QUEUE_BITS);
            put(top.s_axis_tdata, beat.words);
            top.s_time = time & TIME_MASK;
            shown = true;
        }
        const bool room = !write || answered == sent;
        put_agent(top, write && room, writes->words + written * AGENT_WORDS);
        top.s_axis_tvalid = send;
        if (send) {
            const int64_t time = in.time[sent];
            for (int clock = 0; clock < CLOCKS; ++clock) {
                const int64_t window = replay.windows[clock];
                if (time < replay.edges[clock]) continue;
                const int64_t passed = (time - replay.edges[clock]) / window + 1;
                replay.edges[clock] += passed * window;
                if (passed <= LOAD_AFTER) continue;
                uint32_t* words = edge + clock * TABLE_WORDS;
                Packer value;
                value.fill = EDGE_AT;
                value.add(replay.edges[clock] & ((1LL << EDGE_BITS) - 1), EDGE_BITS);
                uint32_t whole[TABLE_WORDS];
                for (int i = 0; i < TABLE_WORDS; ++i) whole[i] = words[i] | value.words[i];
                put(top.s_table_tdata, whole);
                top.s_table_tvalid = 1;
                top.s_axis_tvalid = 0;
                break;  // the other clocks' turn is in the next cycle
            }
        }
        replay.cycle();
        bool moved = false;
        if (top.m_axis_tvalid) {
            *at = answered;
            if (answered >= sent) return UNASKED;
            uint32_t words[8] = {};
            get(top.m_axis_tdata, words);
            tag[answered] = words[0];
            if (TAG_BITS > 32) tag[answered] |= static_cast<uint64_t>(words[1]) << 32;
            flags[answered] = words[TAG_BITS / 32];
            ++answered;
            moved = true;
        }
        if (send && top.s_axis_tvalid && top.s_axis_tready) {
            ++sent;
            shown = false;
            moved = true;
        }
        if (agent_taken(top)) {
            ++written;
            moved = true;
        }
        top.s_table_tvalid = 0;
        quiet = moved ? 0 : quiet + 1;
        if (quiet > patience) {
            *at = answered;
            return STUCK;
        }
    }
    top.s_axis_tvalid = 0;
    put_agent(top, false, nullptr);
    return DONE;
}

}  // extern "C"
