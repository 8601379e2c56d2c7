#include "report.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <mutex>

#include "errors.hpp"
#include "execution.hpp"
#include "memory.hpp"
#include "options.hpp"
#include "report_file.hpp"
#include "tools.hpp"

namespace beaver {
namespace {

std::mutex printing;
ReportFile own_counters{};
ReportFile *counters = &own_counters;

// Reports and the program's own output share a stream, so that their order shows what happened first.
std::FILE *stream() {
    static std::FILE *const log = options().report_log.empty() ? nullptr : std::fopen(options().report_log.c_str(), "a");
    return log ? log : stdout;
}

std::string prefixed(const std::string &lines) {
    std::string text;
    for (std::size_t start = 0; start <= lines.size();) {
        const std::size_t end = std::min(lines.find('\n', start), lines.size());
        text += "========= " + lines.substr(start, end - start) + "\n";
        start = end + 1;
    }
    return text + "========= \n";
}

void report_leak(const Allocation &leaked, void *) {
    char text[80];
    std::snprintf(text, sizeof text, "Leaked %llu bytes at 0x%llx", static_cast<unsigned long long>(leaked.size),
                  static_cast<unsigned long long>(leaked.address));
    counters->leaked_bytes += leaked.size;
    ++counters->leaked_allocations;
    report_lines(std::string(text) + "\n    Saved host backtrace up to driver entry point at allocation time", Severity::error);
}

}  // namespace

void open_reports() {
    if (options().report.empty()) return;
    const int file = open(options().report.c_str(), O_RDWR | O_CLOEXEC);
    void *page = file < 0 ? MAP_FAILED : mmap(nullptr, sizeof(ReportFile), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (file >= 0) close(file);
    if (page == MAP_FAILED) give_up("the file of reports, " + options().report + ", cannot be mapped", Exit::broken);
    counters = static_cast<ReportFile *>(page);
    ++counters->processes;
}

void report_lines(const std::string &lines, Severity severity) {
    if (options().tool == Tool::none) return;
    const std::lock_guard<std::mutex> one_at_a_time(printing);
    const std::uint64_t before = counters->errors + counters->warnings;
    ++(severity == Severity::error ? counters->errors : counters->warnings);
    if (options().print_limit && before >= options().print_limit) {
        ++counters->unprinted;
        return;
    }
    const std::string text = prefixed(lines);
    std::fflush(stdout);
    std::fwrite(text.data(), 1, text.size(), stream());
    std::fflush(stream());
}

void report_fault(const beaver_thread *thread, const beaver_site *site, const std::string &what, const std::string &details) {
    if (options().tool == Tool::none) return;
    const std::uint32_t *tid = thread->tid, *ctaid = thread->block->ctaid;
    char place[128];
    std::snprintf(place, sizeof place, "\n    by thread (%u,%u,%u) in block (%u,%u,%u)", tid[0], tid[1], tid[2], ctaid[0],
                  ctaid[1], ctaid[2]);
    std::string text = what + "\n    at " + describe(launch_of(thread).kernel, site) + place;
    for (std::size_t start = 0; start < details.size();) {
        const std::size_t end = std::min(details.find('\n', start), details.size());
        text += "\n    " + details.substr(start, end - start);
        start = end + 1;
    }
    report_lines(text + "\n    Saved host backtrace up to driver entry point at kernel launch time", Severity::error);
}

void report_api_error(cudaError_t error, const char *call) {
    if (options().tool != Tool::memcheck || !options().api_errors || error == cudaSuccess) return;
    report_lines(std::string("Program hit ") + error_name(error) + " (error " + std::to_string(error) + ") due to \"" +
                     error_sentence(error) + "\" on CUDA API call to " + call +
                     ".\n    Saved host backtrace up to driver entry point at error",
                 Severity::error);
}

void check_copy_source(std::uint64_t address, std::uint64_t size, const char *call) {
    const auto unwritten = first_unwritten(address, size);
    if (!unwritten) return;
    char text[192];
    std::snprintf(text, sizeof text,
                  "Host API memory access error at host access to 0x%llx of size %llu bytes\n"
                  "    Uninitialized access to 0x%llx on access by %s source",
                  static_cast<unsigned long long>(address), static_cast<unsigned long long>(size),
                  static_cast<unsigned long long>(*unwritten), call);
    report_lines(std::string(text) + "\n    Saved host backtrace up to driver entry point at error", Severity::error);
}

void announce(const std::string &text) {
    std::fflush(stdout);
    std::fputs(("beaver-tui CPU device: " + text + "\n").c_str(), stderr);
}

void give_up(const std::string &text, Exit code) {
    announce(text);
    std::fflush(nullptr);
    // No destructors: other threads still run, and this one may be a kernel's.
    _exit(static_cast<int>(code));
}

void finish_reports() {
    finish_racecheck();
    if (options().tool == Tool::memcheck && options().leak_check) for_each_allocation(report_leak, nullptr);
    std::fflush(stream());
}

}  // namespace beaver
