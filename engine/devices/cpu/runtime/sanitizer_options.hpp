// The options of compute-sanitizer 2025.3, and which of them its stand-in takes. An option that would change nothing here is
// accepted; one that would change something that this device does not do is refused by name.
#pragma once

namespace beaver {

struct SanitizerOption {
    const char *name;
    const char *values;       // "" takes none, "*" any, "N" a number, else the accepted ones separated by |; nullptr: not offered
    const char *fallback;
    const char *only_on_gpu;  // further values that the real one takes
    const char *short_name;
};

constexpr SanitizerOption sanitizer_options[] = {
    {"tool", "memcheck|racecheck|initcheck|synccheck", "memcheck", "", nullptr},
    {"error-exitcode", "N", "0", "", nullptr},
    {"print-limit", "N", "100", "", nullptr},
    {"print-level", "info|warn|error", "warn", "fatal", nullptr},
    {"leak-check", "full|no", "no", "", nullptr},
    {"report-api-errors", "all|explicit|no", "explicit", "", nullptr},
    {"padding", "N", "0", "", nullptr},
    {"racecheck-detect-level", "info|warn|error", "warn", "", nullptr},
    {"target-processes", "all|application-only", "all", "", nullptr},
    {"check-exit-code", "yes|no", "yes", "", nullptr},
    {"require-cuda-init", "yes|no", "yes", "", nullptr},
    {"log-file", "*", "", "", nullptr},
    {"quiet", "", "", "", "q"},
    {"help", "", "", "", "h"},
    {"version", "", "", "", "v"},
    // always so
    {"check-api-memory-access", "yes", "", "no", nullptr},
    {"check-device-heap", "yes", "", "no", nullptr},
    {"demangle", "full", "", "simple|no", nullptr},
    {"destroy-on-device-error", "context", "", "kernel", nullptr},
    {"force-blocking-launches", "", "", "", nullptr},
    {"force-synchronization-limit", "N", "", "", nullptr},
    {"language", "c", "", "fortran", nullptr},
    {"mode", "launch-and-attach", "", "launch|attach", nullptr},
    {"racecheck-report", "analysis", "", "all|hazard", nullptr},
    {"strip-paths", "yes", "", "no", nullptr},
    {"track-stream-ordered-races", "no", "", "all|use-before-alloc|use-after-free", nullptr},
    // about what this device does not have: frames, connections, a driver, bulk copies, OptiX
    {"backtrace-short", "yes|no", "", "", nullptr},
    {"check-bulk-copy", "yes|no", "", "", nullptr},
    {"check-optix", "", "", "", nullptr},
    {"check-optix-leaks", "", "", "", nullptr},
    {"check-warpgroup-mma", "yes|no", "", "", nullptr},
    {"detect-missing-module-unload", "", "", "", nullptr},
    {"ignore-getprocaddress-notfound", "", "", "", nullptr},
    {"injection-path", "*", "", "", nullptr},
    {"kill", "", "", "", nullptr},
    {"launch-timeout", "N", "", "", nullptr},
    {"max-connections", "N", "", "", nullptr},
    {"missing-barrier-init-is-fatal", "yes|no", "", "", nullptr},
    {"num-callers-device", "N", "", "", nullptr},
    {"num-callers-host", "N", "", "", nullptr},
    {"num-cuda-barriers", "N", "", "", nullptr},
    {"nvtx", "yes|no", "", "", nullptr},
    {"port", "N", "", "", nullptr},
    {"racecheck-memcpy-async", "yes", "", "no", nullptr},
    {"racecheck-num-workers", "N", "", "", nullptr},
    {"show-backtrace", "yes|no|host|device", "", "", nullptr},
    {"support-32bit", "", "", "", nullptr},
    // not offered
    {"check-cache-control", nullptr, "", "", nullptr},
    {"coredump-behavior", nullptr, "", "", nullptr},
    {"coredump-name", nullptr, "", "", nullptr},
    {"generate-coredump", nullptr, "", "", nullptr},
    {"kernel-name", nullptr, "", "", nullptr},
    {"kernel-name-exclude", nullptr, "", "", nullptr},
    {"kernel-regex", nullptr, "", "", nullptr},
    {"kernel-regex-exclude", nullptr, "", "", nullptr},
    {"launch-count", nullptr, "", "", "c"},
    {"launch-skip", nullptr, "", "", "s"},
    {"prefix", nullptr, "", "", nullptr},
    {"preload-library", nullptr, "", "", nullptr},
    {"print-session-details", nullptr, "", "", nullptr},
    {"racecheck-continue-on-deadlock", nullptr, "", "", nullptr},
    {"racecheck-deadlock-timeout", nullptr, "", "", nullptr},
    {"racecheck-trace-sync", nullptr, "", "", nullptr},
    {"read", nullptr, "", "", nullptr},
    {"save", nullptr, "", "", nullptr},
    {"save-session-details", nullptr, "", "", nullptr},
    {"suppressions", nullptr, "", "", nullptr},
    {"target-processes-filter", nullptr, "", "", nullptr},
    {"track-unused-memory", nullptr, "", "", nullptr},
    {"unused-memory-threshold", nullptr, "", "", nullptr},
    {"xml", nullptr, "", "", nullptr},
};

}  // namespace beaver
