// Bulk replay through the verilated top module `Switch`: one call drives many batches.
//
// Compiled with LANES, DESTINATION_BITS, REQUEST_BITS, UPLINK_BITS, ANSWER_BITS and MASKS of the
// configuration as macros, so that packing and unpacking of lanes unroll, and with BANKED, which
// says that lanes leave out of step.

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "Vtop.h"
#include "verilated.h"

namespace {

enum Result { DONE = 0, STUCK = 1, KEEP_DIFFERS = 2, UNASKED = 3, EMPTY = 4 };

constexpr int MASK_WORDS = 3;  // words of one mask write as the caller gives it
constexpr int16_t UNROUTABLE = -1;
constexpr int16_t IDLE = -2;
constexpr uint32_t UPLINK_MASK = (1u << UPLINK_BITS) - 1;
constexpr uint32_t ANSWER_MASK = (1u << ANSWER_BITS) - 1;

// One word more than the widest port: a 64-bit window may start in the last word in use.
constexpr int REQUEST_WORDS = LANES * REQUEST_BITS / 32 + 2;
constexpr int ANSWER_WORDS = LANES * ANSWER_BITS / 32 + 2;

// Verilator gives a port of up to 8, 16, 32 and 64 bits an integer type, a wider one VlWide.
template <class T>
inline void put(T& port, const uint32_t* words) {
    if constexpr (sizeof(T) > sizeof(uint32_t)) {
        port = static_cast<T>(words[0]) | static_cast<T>(words[1]) << 32;
    } else {
        port = static_cast<T>(words[0]);
    }
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

    void reset() {
        top.s_axis_tvalid = 0;
        top.m_axis_tready = 1;
#if MASKS
        top.s_mask_tvalid = 0;
#endif
        for (int i = 0; i < 4; ++i) {
            top.rst = i < 3;
            settle();
            tick();
        }
    }

    inline void offer(const uint16_t* destination, const uint8_t* size_class, uint64_t keep) {
        uint32_t words[REQUEST_WORDS] = {};
        uint64_t window = 0;
        int fill = 0;
        int word = 0;
#pragma GCC unroll 64
        for (int lane = 0; lane < LANES; ++lane) {
            const uint32_t request =
                destination[lane] | static_cast<uint32_t>(size_class[lane]) << DESTINATION_BITS;
            window |= static_cast<uint64_t>(request) << fill;
            fill += REQUEST_BITS;
            if (fill >= 32) {
                words[word++] = static_cast<uint32_t>(window);
                window >>= 32;
                fill -= 32;
            }
        }
        words[word] = static_cast<uint32_t>(window);
        put(top.s_axis_tdata, words);
        top.s_axis_tkeep = keep;
    }

    inline void answers(uint32_t (&words)[ANSWER_WORDS]) { get(top.m_axis_tdata, words); }
};

inline int16_t answer_of(const uint32_t (&words)[ANSWER_WORDS], int lane) {
    const int bit = lane * ANSWER_BITS;
    const uint64_t window = words[bit / 32] | static_cast<uint64_t>(words[bit / 32 + 1]) << 32;
    const uint32_t answer = static_cast<uint32_t>(window >> bit % 32) & ANSWER_MASK;
    return answer >> UPLINK_BITS ? UNROUTABLE : static_cast<int16_t>(answer & UPLINK_MASK);
}

inline uint64_t keep_bits(const uint8_t* keep) {
    uint64_t bits = 0;
    for (int lane = 0; lane < LANES; ++lane) bits |= static_cast<uint64_t>(keep[lane] != 0) << lane;
    return bits;
}

// What is due at m_axis where each beat answers one whole batch, in order.
struct Whole {
    const uint8_t* keep;
    int16_t* uplink;
    int64_t answered = 0;

    Whole(const uint8_t* keep, int16_t* uplink, int64_t) : keep(keep), uplink(uplink) {}

    inline void sent(uint64_t) {}
    inline bool due(int64_t batches) const { return answered < batches; }
    inline int64_t first(int64_t) const { return answered; }

    inline Result take(Replay& replay, int64_t sent) {
        if (answered >= sent) return UNASKED;
        const uint64_t expected = keep_bits(keep + answered * LANES);
        if (static_cast<uint64_t>(replay.top.m_axis_tkeep) != expected) return KEEP_DIFFERS;
        uint32_t words[ANSWER_WORDS] = {};
        replay.answers(words);
        int16_t* row = uplink + answered * LANES;
#pragma GCC unroll 64
        for (int lane = 0; lane < LANES; ++lane) {
            const int16_t routed = answer_of(words, lane);
            row[lane] = expected >> lane & 1 ? routed : IDLE;
        }
        ++answered;
        return DONE;
    }
};

// What is due where a beat answers any lanes: on each of them the batches that have a packet there,
// in order.
struct ByLane {
    const uint8_t* keep;
    int16_t* uplink;
    int64_t waiting = 0;            // packets sent and not answered
    int64_t cursor[LANES] = {};     // batches that are done with on each lane

    ByLane(const uint8_t* keep, int16_t* uplink, int64_t batches) : keep(keep), uplink(uplink) {
        std::fill(uplink, uplink + batches * LANES, IDLE);
    }

    inline void sent(uint64_t lanes) { waiting += std::popcount(lanes); }
    inline bool due(int64_t) const { return waiting != 0; }

    int64_t first(int64_t sent) {
        int64_t least = sent;
        for (int lane = 0; lane < LANES; ++lane) least = std::min(least, next(lane, sent));
        return least;
    }

    inline Result take(Replay& replay, int64_t sent) {
        uint64_t lanes = replay.top.m_axis_tkeep;
        if (!lanes) return EMPTY;
        uint32_t words[ANSWER_WORDS] = {};
        replay.answers(words);
        for (; lanes; lanes &= lanes - 1, --waiting) {
            const int lane = std::countr_zero(lanes);
            if (lane >= LANES || next(lane, sent) == sent) return UNASKED;
            uplink[cursor[lane]++ * LANES + lane] = answer_of(words, lane);
        }
        return DONE;
    }

    // Moves the lane's cursor to its first packet that waits, or to `sent`.
    inline int64_t next(int lane, int64_t sent) {
        int64_t& batch = cursor[lane];
        while (batch < sent && !keep[batch * LANES + lane]) ++batch;
        return batch;
    }
};

using Answers = std::conditional_t<BANKED, ByLane, Whole>;

}  // namespace

extern "C" {

void* replay_open() {
    Replay* replay = new Replay;
    replay->reset();
    return replay;
}

void replay_close(void* handle) {
    Replay* replay = static_cast<Replay*>(handle);
    replay->top.final();
    delete replay;
}

int64_t replay_cycles(void* handle) { return static_cast<Replay*>(handle)->cycles; }

// Serve `batches` batches of LANES lanes each and wait for all their answers.
//
// Mask write j goes in before batch write_before[j] (rising, at most `batches`), after the batch
// below it. Returns a Result; *at is then the first batch without an answer.
int replay_run(void* handle, int64_t batches, const uint16_t* destination,
               const uint8_t* size_class, const uint8_t* keep, int64_t writes,
               const int64_t* write_before, const uint32_t* write_data, int64_t patience,
               int16_t* uplink, int64_t* at) {
    Replay& replay = *static_cast<Replay*>(handle);
    Vtop& top = replay.top;
    Answers answers(keep, uplink, batches);
    int64_t sent = 0;
    int64_t written = 0;
    int64_t quiet = 0;
    Result result = DONE;
    bool shown = false;  // batch `sent` is on the port already
    while (sent < batches || answers.due(batches) || written < writes) {
        const bool write = written < writes && write_before[written] <= sent;
        const bool send = sent < batches && !write;
        if (send && !shown) {
            const int64_t first = sent * LANES;
            replay.offer(destination + first, size_class + first, keep_bits(keep + first));
            shown = true;
        }
        top.s_axis_tvalid = send;
#if MASKS
        if (write) put(top.s_mask_tdata, write_data + written * MASK_WORDS);
        top.s_mask_tvalid = write;
#endif
        replay.settle();
        bool moved = false;
        if (top.m_axis_tvalid) {
            result = answers.take(replay, sent);
            if (result != DONE) break;
            moved = true;
        }
        if (send && top.s_axis_tready) {
            answers.sent(top.s_axis_tkeep);
            ++sent;
            shown = false;
            moved = true;
        }
#if MASKS
        if (write && top.s_mask_tready) {
            ++written;
            moved = true;
        }
#endif
        replay.tick();
        quiet = moved ? 0 : quiet + 1;
        if (quiet > patience) {
            result = STUCK;
            break;
        }
    }
    top.s_axis_tvalid = 0;
#if MASKS
    top.s_mask_tvalid = 0;
#endif
    *at = answers.first(sent);
    return result;
}

}  // extern "C"
