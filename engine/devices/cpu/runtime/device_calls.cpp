// What kernels call as functions: printf, assert, malloc, free, clocks.
#include <x86intrin.h>

#include <atomic>
#include <cstdio>
#include <cstring>
#include <string>

#include "clock.hpp"
#include "execution.hpp"
#include "grid.hpp"
#include "memory.hpp"
#include "report.hpp"

namespace beaver {
namespace {

constexpr std::uint32_t readable = BEAVER_READ | BEAVER_GENERIC;

// A text that a kernel points to, in whatever space. A bad address faults like any read.
std::string text_at(beaver_thread *thread, std::uint64_t address, const beaver_site *site) {
    std::string text;
    for (;; ++address) {
        const char letter = static_cast<char>(*beaver_access(thread, address, 1, readable, site));
        if (letter == '\0') return text;
        text += letter;
    }
}

std::string text_or_null(beaver_thread *thread, std::uint64_t address, const beaver_site *site) {
    return address ? text_at(thread, address, site) : "(null)";
}

// The arguments of printf, one after the other, each aligned to its size: what the compiler laid out for vprintf.
class Arguments {
   public:
    Arguments(beaver_thread *thread, std::uint64_t address, const beaver_site *site)
        : thread_(thread), address_(address), site_(site) {}

    template <class Type>
    Type next() {
        address_ = (address_ + sizeof(Type) - 1) / sizeof(Type) * sizeof(Type);
        Type value;
        std::memcpy(&value, beaver_access(thread_, address_, sizeof(Type), readable, site_), sizeof(Type));
        address_ += sizeof(Type);
        ++count_;
        return value;
    }
    int count() const { return count_; }

   private:
    beaver_thread *thread_;
    std::uint64_t address_;
    const beaver_site *site_;
    int count_ = 0;
};

template <class Value>
void append(std::string &text, const std::string &specifier, Value value) {
    const int length = std::snprintf(nullptr, 0, specifier.c_str(), value);
    if (length <= 0) return;
    const std::size_t before = text.size();
    text.resize(before + static_cast<std::size_t>(length) + 1);
    std::snprintf(&text[before], static_cast<std::size_t>(length) + 1, specifier.c_str(), value);
    text.pop_back();
}

// One conversion specification: "%", flags, width and precision, with every * replaced by its argument; then the size, then
// the letter. ``at`` points behind the "%", and behind the letter afterwards.
void convert(std::string &text, const char *&at, Arguments &arguments, beaver_thread *thread, const beaver_site *site) {
    std::string specifier = "%";
    for (; *at && std::strchr("-+ #0123456789.*", *at); ++at)
        specifier += *at == '*' ? std::to_string(arguments.next<std::int32_t>()) : std::string(1, *at);
    bool is_long = false;
    std::string narrow;
    for (; *at && std::strchr("hlLqjzt", *at); ++at) {
        if (*at == 'h')
            narrow += 'h';
        else
            is_long = true;
    }
    const char letter = *at;
    if (letter) ++at;
    switch (letter) {
        case 'd':
        case 'i':
            if (is_long) return append(text, specifier + "ll" + letter, arguments.next<long long>());
            return append(text, specifier + narrow + letter, arguments.next<int>());
        case 'u':
        case 'x':
        case 'X':
        case 'o':
            if (is_long) return append(text, specifier + "ll" + letter, arguments.next<unsigned long long>());
            return append(text, specifier + narrow + letter, arguments.next<unsigned>());
        case 'c': return append(text, specifier + letter, arguments.next<int>());
        case 'f':
        case 'F':
        case 'e':
        case 'E':
        case 'g':
        case 'G':
        case 'a':
        case 'A': return append(text, specifier + letter, arguments.next<double>());
        case 'p': return append(text, specifier + letter, reinterpret_cast<void *>(arguments.next<std::uint64_t>()));
        case 's': {
            const std::string value = text_or_null(thread, arguments.next<std::uint64_t>(), site);
            return append(text, specifier + letter, value.c_str());
        }
        case '%': text += '%'; return;
        default: text += specifier + letter; return;  // no conversion: shown as it stands
    }
}

std::atomic<std::uint64_t> heap_used{0};

std::string point(const std::uint32_t (&xyz)[3]) {
    return "[" + std::to_string(xyz[0]) + "," + std::to_string(xyz[1]) + "," + std::to_string(xyz[2]) + "]";
}

}  // namespace
}  // namespace beaver

using namespace beaver;

// Returns the number of arguments, as the CUDA programming guide says, and -1 for a null format.
int beaver_vprintf(beaver_thread *thread, std::uint64_t format, std::uint64_t arguments, const beaver_site *site) {
    if (!format) return -1;
    const std::string pattern = text_at(thread, format, site);
    Arguments values(thread, arguments, site);
    std::string text;
    for (const char *at = pattern.c_str(); *at;) {
        if (*at != '%') {
            text += *at++;
            continue;
        }
        convert(text, ++at, values, thread, site);
    }
    thread_of(thread)->warp->block->output += text;
    return values.count();
}

void beaver_assertfail(beaver_thread *thread, std::uint64_t message, std::uint64_t file, std::uint32_t line,
                       std::uint64_t function, const beaver_site *site) {
    const std::string text = text_or_null(thread, file, site) + ":" + std::to_string(line) + ": " +
                             text_or_null(thread, function, site) + ": block: " + point(thread->block->ctaid) +
                             ", thread: " + point(thread->tid) + " Assertion `" + text_or_null(thread, message, site) +
                             "` failed.\n";
    std::fwrite(text.data(), 1, text.size(), stderr);
    end_thread(thread, cudaErrorAssert);
}

std::uint64_t beaver_malloc(beaver_thread *, std::uint64_t size) {
    if (size == 0) return 0;
    if (heap_used.fetch_add(size) + size > heap_limit) {
        heap_used -= size;
        return 0;
    }
    std::uint64_t address = 0;
    if (allocate(size, 16, MemoryKind::heap, "", &address) == cudaSuccess) return address;
    heap_used -= size;
    return 0;
}

void beaver_free(beaver_thread *thread, std::uint64_t address, const beaver_site *site) {
    if (!address) return;
    const auto allocation = find_allocation(address);
    if (!allocation || allocation->kind != MemoryKind::heap || allocation->address != address) {
        report_fault(thread, site, "Malloc/Free Error encountered: Invalid pointer to free", "");
        end_thread(thread, cudaErrorLaunchFailure);
    }
    heap_used -= allocation->size;
    release(address);
}

// A cycle is one of the host's time-stamp counter.
std::uint64_t beaver_clock() {
    if (this_worker) this_worker->clock_was_read = true;
    return __rdtsc();
}

std::uint64_t beaver_nanoseconds() {
    if (this_worker) this_worker->clock_was_read = true;
    return static_cast<std::uint64_t>(nanoseconds_now());
}
