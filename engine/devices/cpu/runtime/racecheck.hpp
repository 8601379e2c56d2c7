// The accesses of one block to its shared memory, and which of them no synchronisation puts in order.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <vector>

#include "kernel_abi.h"

namespace beaver {

// One side of a hazard: what an instruction does to memory. Ordered as the instructions stand in their function.
struct RaceSide {
    const beaver_site *site;
    bool write;
    bool operator<(const RaceSide &other) const;
};

struct RaceCount {
    std::uint64_t bytes = 0;
    bool error = false;  // not only between lanes of one warp
};

using Hazards = std::map<std::pair<RaceSide, RaceSide>, RaceCount>;

class BlockRaces {
   public:
    void begin(const beaver_thread *thread);
    // ``start`` counts from the first byte of the block's shared memory.
    void access(const beaver_thread *thread, std::uint32_t start, std::uint32_t size, bool write, const beaver_site *site);
    void all_met();
    void warps_met(std::uint32_t mask);
    void lanes_met(std::uint32_t warp, std::uint32_t mask);
    // What was found since begin().
    const Hazards &end();

   private:
    struct Mark {
        const beaver_site *site = nullptr;
        std::uint32_t clock = 0;  // of the thread's warp
        std::uint16_t thread = 0;
        bool present = false;
    };
    // A word, or one byte of a word that is accessed by bytes.
    struct Cell {
        std::uint32_t epoch = 0;   // barriers that the block had passed; an older cell says nothing
        std::uint32_t before = 0;  // the value under an unjudged write
        bool unjudged = false, split = false;
        Mark writer, earlier_writer;
        Mark readers[2];  // of different threads, if possible of different warps
    };
    // A warp's time grows whenever lanes of it meet each other or other warps.
    struct Warp {
        std::uint32_t now = 1;
        std::uint32_t all_lanes = 0;             // when all of its lanes last met
        std::unique_ptr<std::uint32_t[]> pairs;  // when two lanes last met, where not all did
        std::vector<std::uint32_t> seen;         // accesses of another warp before this time of its are known to be over
    };

    Cell &fresh(Cell &cell) const;
    void split(Cell &word, std::uint32_t start);
    std::uint32_t value(std::uint32_t at, std::uint32_t size) const;
    bool in_order(const Mark &earlier, const Mark &now) const;
    void touch(Cell &cell, std::uint32_t at, std::uint32_t size, bool write, const Mark &mark);
    void count(const Mark &one, bool one_writes, const Mark &other, bool other_writes, std::uint64_t bytes);
    void judge(Cell &cell, std::uint32_t at, std::uint32_t size);
    void judge_all();

    const std::uint8_t *shared_ = nullptr;
    std::uint32_t threads_ = 0, epoch_ = 0;
    std::vector<Cell> words_, bytes_;
    std::vector<Warp> warps_;
    std::vector<std::pair<std::uint32_t, std::uint32_t>> unjudged_;  // start and size of cells; some have been judged since
    Hazards hazards_;
};

}  // namespace beaver
