#include "options.hpp"

#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "exit_codes.hpp"

namespace beaver {
namespace {

// The variables come from the harness, never from a task: a bad one is our own fault, and guessing would hide it.
[[noreturn]] void reject(const char *name, const char *value) {
    std::fprintf(stderr, "beaver-tui CPU device: %s=%s is not understood\n", name, value);
    std::exit(static_cast<int>(Exit::broken));
}

std::string text(const char *name) {
    const char *value = std::getenv(name);
    return value ? value : "";
}

std::uint64_t number(const char *name, std::uint64_t fallback) {
    const std::string value = text(name);
    if (value.empty()) return fallback;
    char *end = nullptr;
    errno = 0;
    const unsigned long long parsed = std::strtoull(value.c_str(), &end, 10);
    if (*end || errno || value[0] == '-') reject(name, value.c_str());
    return parsed;
}

double seconds(const char *name, double fallback) {
    const std::string value = text(name);
    if (value.empty()) return fallback;
    char *end = nullptr;
    const double parsed = std::strtod(value.c_str(), &end);
    if (*end || !std::isfinite(parsed) || parsed < 0) reject(name, value.c_str());
    return parsed;
}

Tool tool(const char *name) {
    const std::string value = text(name);
    if (value.empty() || value == "none") return Tool::none;
    if (value == "memcheck") return Tool::memcheck;
    if (value == "racecheck") return Tool::racecheck;
    if (value == "initcheck") return Tool::initcheck;
    if (value == "synccheck") return Tool::synccheck;
    reject(name, value.c_str());
}

std::vector<std::string> folders(const char *name) {
    std::vector<std::string> found;
    const std::string value = text(name);
    for (std::size_t start = 0; start < value.size();) {
        const std::size_t end = std::min(value.find(':', start), value.size());
        if (end > start) found.push_back(value.substr(start, end - start));
        start = end + 1;
    }
    return found;
}

unsigned usable_cpus() {
    cpu_set_t cpus;
    CPU_ZERO(&cpus);
    const int count = sched_getaffinity(0, sizeof cpus, &cpus) == 0 ? CPU_COUNT(&cpus) : 1;
    return static_cast<unsigned>(std::clamp(count, 1, 8));
}

Options read_environment() {
    Options read;
    read.threads = static_cast<unsigned>(std::clamp<std::uint64_t>(number("BEAVER_CPU_THREADS", usable_cpus()), 1, 256));
    read.memory = number("BEAVER_CPU_MEMORY", 8ull << 30);
    read.kernels = folders("BEAVER_CPU_KERNELS");
    read.translate = text("BEAVER_CPU_TRANSLATE");
    read.tool = tool("BEAVER_CPU_TOOL");
    const std::uint64_t process = number("BEAVER_CPU_TOOL_PROCESS", 0);
    if (process && process != static_cast<std::uint64_t>(getpid())) read.tool = Tool::none;
    read.print_limit = static_cast<unsigned>(std::min<std::uint64_t>(number("BEAVER_CPU_PRINT_LIMIT", 100), UINT32_MAX));
    read.leak_check = text("BEAVER_CPU_LEAK_CHECK") == "full";
    read.api_errors = text("BEAVER_CPU_API_ERRORS") != "no";
    read.warnings = text("BEAVER_CPU_WARNINGS") != "no";
    read.padding = number("BEAVER_CPU_PADDING", 0);
    read.report = text("BEAVER_CPU_REPORT");
    read.report_log = text("BEAVER_CPU_REPORT_LOG");
    read.budget = seconds("BEAVER_CPU_BUDGET", 0);
    read.stall = seconds("BEAVER_CPU_STALL", 1);
    read.blocking = text("CUDA_LAUNCH_BLOCKING") == "1";
    return read;
}

}  // namespace

const Options &options() {
    static const Options read = read_environment();
    return read;
}

}  // namespace beaver
