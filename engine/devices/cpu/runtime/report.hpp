// What is said about a fault, in compute-sanitizer's form. Reports are printed under a tool only; a plain run is as silent as a GPU.
// What no GPU would have said is said in every run, in one form: "beaver-tui CPU device: ...".
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <string>

#include "exit_codes.hpp"
#include "kernel_abi.h"

namespace beaver {

// Counts a report; prints it to stdout with the "========= " prefix when a tool is on and the print limit is not reached.
// ``what``: the headline, for example "Invalid __global__ write of size 4 bytes". ``details``: further lines, joined by newlines.
// Between them: "at kernel(args)+0x70 in file.cu:12" and "by thread (1,0,0) in block (0,0,0)".
void report_fault(const beaver_thread *thread, const beaver_site *site, const std::string &what, const std::string &details);

// Under memcheck: 'Program hit cudaErrorInvalidValue (error 1) due to "invalid argument" on CUDA API call to cudaMemcpy.'
void report_api_error(cudaError_t error, const char *call);

// Under initcheck: bytes that a copy reads in device memory were never written. ``call``: for example "cudaMemcpy". For the API
// layer to call before it copies; nothing happens when all was written.
void check_copy_source(std::uint64_t address, std::uint64_t size, const char *call);

// The same as report_fault() for what has another form: ``lines`` are printed as they are, each behind the prefix.
enum class Severity { error, warning };
void report_lines(const std::string &lines, Severity severity);

// "name(args)+0x70 in file.cu:12" for a site inside a kernel; names demangled.
std::string describe(const beaver_kernel *kernel, const beaver_site *site);
std::string demangle(const char *name);

// "beaver-tui CPU device: <text>" on stderr; stdout is flushed first, so that the order is kept.
void announce(const std::string &text);
// announce(), flush everything, end the process.
[[noreturn]] void give_up(const std::string &text, Exit code);

// Called by open_memory(): tells the compute-sanitizer stand-in that this process uses CUDA.
void open_reports();
// Called by the API layer at exit: what can only be said then, leaks above all. The counts need no
// end: the stand-in has them as they grow (report_file.hpp).
void finish_reports();

}  // namespace beaver
