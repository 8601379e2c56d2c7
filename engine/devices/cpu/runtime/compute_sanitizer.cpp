// Stands in for NVIDIA's compute-sanitizer on the CPU device, as a program of its own: takes the same options, runs the target with
// the runtime's tool switched on, and ends as the real one does (form and exit codes: version 2025.3 on an H200).
//
// The runtime prints its reports itself, into the target's own output. What it counts stands in a page of memory that all processes
// under the tool share (report_file.hpp).
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "exit_codes.hpp"
#include "report_file.hpp"
#include "sanitizer_options.hpp"

namespace {

using beaver::sanitizer_options;
using beaver::SanitizerOption;

constexpr int bad_usage = 255, no_cuda = 255, no_program = 1;
constexpr int needs_gpu = static_cast<int>(beaver::Exit::needs_gpu);

[[noreturn]] void refuse(const std::string &sentence, int code = bad_usage) {
    std::fprintf(stderr, "beaver-tui CPU device: compute-sanitizer: %s\n", sentence.c_str());
    std::exit(code);
}

void print_help() {
    std::puts("Usage: compute-sanitizer [options] [your-program] [your-program-options]\n\n"
              "The beaver-tui CPU device's stand-in for NVIDIA's compute-sanitizer. Options, with the values it accepts (N: a number):\n");
    for (const SanitizerOption &option : sanitizer_options)
        if (option.values) std::printf("  --%s %s\n", option.name, option.values);
}

const SanitizerOption &find_option(const std::string &name) {
    for (const SanitizerOption &option : sanitizer_options)
        if (name == option.name || (option.short_name && name == option.short_name)) return option;
    refuse("unrecognised option '" + name + "'");
}

bool is_one_of(const char *list, const std::string &value) {
    return !value.empty() && ("|" + std::string(list) + "|").find("|" + value + "|") != std::string::npos;
}

bool is_number(const std::string &text) {
    return !text.empty() && text.size() < 10 && text.find_first_not_of("0123456789") == std::string::npos;
}

void check(const SanitizerOption &option, const std::string &value) {
    const std::string values = option.values, name = "--" + std::string(option.name);
    if (values == "*" || (values == "N" && is_number(value)) || is_one_of(option.values, value)) return;
    if (is_one_of(option.only_on_gpu, value)) refuse(name + " " + value + " needs a GPU", needs_gpu);
    refuse("the argument for option '" + name + "' is invalid: " + value);
}

struct Command {
    std::map<std::string, std::string> given;  // by option
    std::vector<char *> target;                // nullptr at its end

    bool has(const char *name) const { return given.count(name) != 0; }
    std::string value(const char *name) const {
        const auto found = given.find(name);
        return found == given.end() ? find_option(name).fallback : found->second;
    }
    unsigned long number(const char *name) const { return std::strtoul(value(name).c_str(), nullptr, 10); }
};

Command parse(int count, char **arguments) {
    Command command;
    int at = 1;
    for (; at < count && arguments[at][0] == '-' && arguments[at][1]; ++at) {
        const std::string argument = arguments[at];
        if (argument == "--") {
            ++at;
            break;
        }
        const bool is_long = argument[1] == '-';
        const std::size_t equals = is_long ? argument.find('=') : std::string::npos;
        const SanitizerOption &option = find_option(argument.substr(is_long ? 2 : 1, equals - (is_long ? 2 : 1)));
        if (!option.values) refuse("--" + std::string(option.name) + " needs a GPU", needs_gpu);
        std::string value;
        if (option.values[0]) {
            if (equals == std::string::npos && at + 1 == count)
                refuse("the required argument for option '--" + std::string(option.name) + "' is missing");
            value = equals == std::string::npos ? arguments[++at] : argument.substr(equals + 1);
            check(option, value);
        }
        command.given[option.name] = value;
    }
    for (; at < count; ++at) command.target.push_back(arguments[at]);
    command.target.push_back(nullptr);
    return command;
}

// %p is our process, %q{NAME} a variable of the environment, %% a percent sign.
std::string expand(const std::string &pattern) {
    std::string path;
    for (std::size_t at = 0; at < pattern.size(); ++at) {
        if (pattern[at] != '%') {
            path += pattern[at];
            continue;
        }
        const char kind = ++at < pattern.size() ? pattern[at] : '\0';
        const std::size_t end = pattern.find('}', at);
        if (kind == '%') {
            path += '%';
        } else if (kind == 'p') {
            path += std::to_string(getpid());
        } else if (kind == 'q' && pattern.compare(at, 2, "q{") == 0 && end != std::string::npos) {
            const char *value = std::getenv(pattern.substr(at + 2, end - at - 2).c_str());
            path += value ? value : "";
            at = end;
        } else {
            refuse("the name of a log file has % only before p, q{NAME} and %");
        }
    }
    return path;
}

beaver::ReportFile *make_report_file(std::string &path) {
    const int file = memfd_create("compute-sanitizer", MFD_CLOEXEC);
    if (file < 0 || ftruncate(file, sizeof(beaver::ReportFile)) != 0) refuse("no memory for its counters");
    void *page = mmap(nullptr, sizeof(beaver::ReportFile), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (page == MAP_FAILED) refuse("no memory for its counters");
    path = "/proc/" + std::to_string(getpid()) + "/fd/" + std::to_string(file);
    return static_cast<beaver::ReportFile *>(page);
}

volatile sig_atomic_t target_process = 0;

void forward(int signal) {
    if (target_process > 0) kill(target_process, signal);
}

// The target's wait status, or nothing when it could not be started.
bool run_target(const Command &command, int *status) {
    int failed[2];
    if (pipe2(failed, O_CLOEXEC) != 0) refuse("no pipe");
    // A signal that comes before it is known whom to pass it on to must wait: the target may run by then.
    sigset_t terminating, before;
    sigemptyset(&terminating);
    for (const int one : {SIGTERM, SIGHUP}) sigaddset(&terminating, one);
    sigprocmask(SIG_BLOCK, &terminating, &before);
    const pid_t parent = getpid(), child = fork();
    if (child < 0) refuse("no further process");
    if (child == 0) {
        sigprocmask(SIG_SETMASK, &before, nullptr);
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        if (getppid() != parent) _exit(1);
        if (command.value("target-processes") == "application-only")
            setenv("BEAVER_CPU_TOOL_PROCESS", std::to_string(getpid()).c_str(), 1);
        execvp(command.target[0], command.target.data());
        const char told = 1;
        if (write(failed[1], &told, 1) != 1) _exit(2);
        _exit(1);
    }
    target_process = child;
    for (const int one : {SIGTERM, SIGHUP}) signal(one, forward);
    sigprocmask(SIG_SETMASK, &before, nullptr);
    for (const int from_terminal : {SIGINT, SIGQUIT}) signal(from_terminal, SIG_IGN);  // the target gets these too
    close(failed[1]);
    char told = 0;
    const bool started = read(failed[0], &told, 1) == 0;
    while (waitpid(child, status, 0) < 0 && errno == EINTR) continue;
    return started;
}

std::string counted(unsigned long long count, const char *what) {
    return std::to_string(count) + " " + what + (count == 1 ? "" : "s");
}

}  // namespace

int main(int count, char **arguments) {
    const Command command = parse(count, arguments);
    if (command.has("version")) return std::puts("Stand-in of the beaver-tui CPU device for NVIDIA (R) Compute Sanitizer, version 2025.3"), 0;
    if (command.has("help") || !command.target[0]) return print_help(), 0;

    std::FILE *out = stdout;
    const std::string log = expand(command.value("log-file"));
    if (!log.empty()) {
        if (truncate(log.c_str(), 0) != 0 && errno != ENOENT) refuse("cannot write " + log);
        out = std::fopen(log.c_str(), "a");  // as the runtime does: nobody writes over another's lines
        if (!out) refuse("cannot write " + log);
        setenv("BEAVER_CPU_REPORT_LOG", log.c_str(), 1);
    }
    const bool quiet = command.has("quiet");
    const auto say = [&](const std::string &line, bool always = false) {
        if (!quiet || always) std::fprintf(out, "========= %s\n", line.c_str());
        std::fflush(out);
    };

    std::string report;
    const beaver::ReportFile *counters = make_report_file(report);
    const std::string tool = command.value("tool");
    const bool leak_check = tool == "memcheck" && command.value("leak-check") == "full";
    setenv("BEAVER_CPU_TOOL", tool.c_str(), 1);
    setenv("BEAVER_CPU_REPORT", report.c_str(), 1);
    setenv("BEAVER_CPU_PRINT_LIMIT", command.value("print-limit").c_str(), 1);
    setenv("BEAVER_CPU_LEAK_CHECK", command.value("leak-check").c_str(), 1);
    setenv("BEAVER_CPU_API_ERRORS", command.value("report-api-errors").c_str(), 1);
    setenv("BEAVER_CPU_PADDING", command.value("padding").c_str(), 1);
    const bool warnings_count = command.value("print-level") != "error" && command.value("racecheck-detect-level") != "error";
    setenv("BEAVER_CPU_WARNINGS", warnings_count ? "yes" : "no", 1);

    say("COMPUTE-SANITIZER");
    int status = 0;
    if (!run_target(command, &status)) {
        say("Target application doesn't exist or is not a valid executable", true);
        return no_program;
    }
    if (WIFSIGNALED(status)) {
        say("Error: process didn't terminate successfully", true);
        say("    Signal " + std::to_string(WTERMSIG(status)) + " (" + strsignal(WTERMSIG(status)) + ") ended it.", true);
    }
    if (counters->processes == 0 && command.value("require-cuda-init") == "yes") {
        say("Error: Target application terminated before first instrumented API call", true);
        if (command.value("target-processes") == "application-only")
            say("Tracking kernels launched by child processes requires the --target-processes all option.", true);
        return no_cuda;
    }
    const int code = WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
    if (code != 0 && command.value("check-exit-code") == "yes") say("Target application returned an error");
    const std::uint64_t errors = counters->errors, warnings = counters->warnings, unprinted = counters->unprinted;
    if (leak_check)
        say("LEAK SUMMARY: " + std::to_string(counters->leaked_bytes) + " bytes leaked in " +
            std::to_string(counters->leaked_allocations) + " allocations");
    if (tool == "racecheck")
        say("RACECHECK SUMMARY: " + counted(errors + warnings, "hazard") + " displayed (" + counted(errors, "error") + ", " +
            counted(warnings, "warning") + ")");
    else
        say("ERROR SUMMARY: " + counted(errors, "error"));
    if (unprinted)
        say("ERROR SUMMARY: " + std::to_string(unprinted) +
            " errors were not printed. Use --print-limit option to adjust the number of printed errors");
    const int asked = static_cast<int>(command.number("error-exitcode"));
    return errors + warnings != 0 && asked != 0 ? asked : code;
}
