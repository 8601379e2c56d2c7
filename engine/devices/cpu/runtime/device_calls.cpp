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
#include "options.hpp"

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

// One conversion specification: "%", flags, width and precision, then the size, then the letter. ``at`` points behind the "%",
// and behind the letter afterwards. A * for the width takes an argument; one for the precision is not known to a GPU.
void convert(std::string &text, const char *&at, Arguments &arguments, beaver_thread *thread, const beaver_site *site) {
    std::string specifier = "%";
    for (; *at && std::strchr("-+ #0", *at); ++at) specifier += *at;
    if (*at == '*') {
        specifier += std::to_string(arguments.next<std::int32_t>());
        ++at;
    }
    for (; *at && std::strchr("0123456789.", *at); ++at) specifier += *at;
    bool is_long = false;
    std::string narrow;
    for (; *at == 'h' || *at == 'l'; ++at) {
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

// The heap of an H200 holds six blocks of 1 MiB at its default size of 8 MiB: the rest is its own administration.
constexpr std::uint64_t heap_alignment = 16;
std::atomic<std::uint64_t> heap_used{0};
std::uint64_t heap_room() { return heap_limit - heap_limit / 8; }
std::uint64_t heap_charge(std::uint64_t size) { return size / heap_alignment * heap_alignment + 2 * heap_alignment; }

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
    report_exception(thread, site, "Warp assert", "", cudaErrorAssert);
    Thread *self = thread_of(thread);
    self->warp->block->grid->drain(cudaErrorAssert);
    halt_thread(self);
}

std::uint64_t beaver_malloc(beaver_thread *, std::uint64_t size) {
    if (size > heap_limit) return 0;
    const std::uint64_t charged = heap_charge(size);
    std::uint64_t address = 0;
    if (heap_used.fetch_add(charged) + charged <= heap_room() &&
        allocate(size, heap_alignment, MemoryKind::heap, "", &address) == cudaSuccess)
        return address;
    heap_used -= charged;
    return 0;
}

void beaver_free(beaver_thread *thread, std::uint64_t address, const beaver_site *site) {
    if (!address) return;
    if (const auto found = find_allocation(address);
        found && found->kind == MemoryKind::heap && found->address == address && release(address) == cudaSuccess) {
        heap_used -= heap_charge(found->size);
        return;
    }
    // A plain run takes no notice of a pointer that malloc() never gave, as a GPU.
    const auto nearest = nearest_allocation(address);
    const bool twice = nearest && nearest->freed && nearest->allocation.kind == MemoryKind::heap && nearest->allocation.address == address;
    if (!twice && options().tool != Tool::memcheck) return;
    char details[64];
    std::snprintf(details, sizeof details, "Address 0x%llx", static_cast<unsigned long long>(address));
    end_thread(thread, report_exception(thread, site,
                                        twice ? "Malloc/Free Error encountered : Device-side double free"
                                              : "Malloc/Free Error encountered : Invalid pointer to device-side free",
                                        details, cudaErrorLaunchFailure));
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
