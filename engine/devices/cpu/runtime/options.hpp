// What the harness asks of the runtime, through the environment; read once, at the first CUDA call.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace beaver {

enum class Tool { none, memcheck, racecheck, initcheck, synccheck };

struct Options {
    unsigned threads;                  // BEAVER_CPU_THREADS: OS threads that run blocks; default: the CPUs we may use, at most 8
    std::uint64_t memory;              // BEAVER_CPU_MEMORY: bytes of device memory; default 8 GiB
    std::vector<std::string> kernels;  // BEAVER_CPU_KERNELS: folders (a:b) that hold <key>.so
    std::string translate;             // BEAVER_CPU_TRANSLATE: program that is run as `PROGRAM ELF FOLDER` for a binary whose
                                       // kernels no folder holds; it writes <key>.so files into FOLDER
    Tool tool;                         // BEAVER_CPU_TOOL: memcheck, racecheck, initcheck, synccheck; only in the process
                                       // BEAVER_CPU_TOOL_PROCESS when that names one
    unsigned print_limit;              // BEAVER_CPU_PRINT_LIMIT: reports that are printed; default 100
    bool leak_check;                   // BEAVER_CPU_LEAK_CHECK=full
    bool api_errors;                   // BEAVER_CPU_API_ERRORS=no: memcheck does not report calls that return an error
    bool warnings;                     // BEAVER_CPU_WARNINGS=no: racecheck reports errors alone
    std::uint64_t padding;             // BEAVER_CPU_PADDING: bytes that memcheck keeps free behind an allocation, at least
    std::string report;                // BEAVER_CPU_REPORT: file of counters (report_file.hpp) that the stand-in reads
    std::string report_log;            // BEAVER_CPU_REPORT_LOG: file that reports are appended to; default: stdout
    double budget;                     // BEAVER_CPU_BUDGET: seconds; a kernel that runs on then is named on stderr, once
    double stall;                      // BEAVER_CPU_STALL: seconds without progress while every thread spins: a deadlock; default 1
    bool blocking;                     // CUDA_LAUNCH_BLOCKING=1: a launch delivers its own fault
};

const Options &options();

}  // namespace beaver
