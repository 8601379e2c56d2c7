// Times one NVTX range of a program from inside it: the loader of the NVTX headers takes this library by NVTX_INJECTION64_PATH.
// Prints the mean of all passes through the range in milliseconds when the program ends. Needs no profiler on the machine.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include <nvtx3/nvToolsExt.h>

namespace {

using Clock = std::chrono::steady_clock;

struct Open {
  bool wanted;
  Clock::time_point began;
};

thread_local std::vector<Open> open_ranges;
double total_ms = 0.0;
long passes = 0;

bool is_wanted(const char* name) {
  const char* wanted = std::getenv("BEAVER_REGION");
  return name != nullptr && wanted != nullptr && std::strcmp(name, wanted) == 0;
}

int push(const char* name) {
  open_ranges.push_back({is_wanted(name), Clock::now()});
  return static_cast<int>(open_ranges.size()) - 1;
}

int NVTX_API push_ascii(const char* name) { return push(name); }

int NVTX_API push_event(const nvtxEventAttributes_t* event) {
  return push(event != nullptr && event->messageType == NVTX_MESSAGE_TYPE_ASCII ? event->message.ascii : nullptr);
}

int NVTX_API pop() {
  const auto now = Clock::now();
  if (open_ranges.empty()) return -1;
  const Open range = open_ranges.back();
  open_ranges.pop_back();
  if (range.wanted) {
    total_ms += std::chrono::duration<double, std::milli>(now - range.began).count();
    ++passes;
  }
  return static_cast<int>(open_ranges.size());
}

void report() {
  if (passes > 0) std::printf("Region time: %.6f ms\n", total_ms / passes);
  std::fflush(stdout);
}

template <typename Function>
void install(NvtxFunctionTable table, unsigned size, unsigned id, Function function) {
  if (id < size) *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
}

}  // namespace

extern "C" int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t get_table) {
  unsigned size = 0;
  NvtxFunctionTable table = nullptr;
  const auto* callbacks = static_cast<const NvtxExportTableCallbacks*>(get_table(NVTX_ETID_CALLBACKS));
  if (callbacks == nullptr || callbacks->GetModuleFunctionTable(NVTX_CB_MODULE_CORE, &table, &size) == 0) return 0;
  install(table, size, NVTX_CBID_CORE_RangePushA, push_ascii);
  install(table, size, NVTX_CBID_CORE_RangePushEx, push_event);
  install(table, size, NVTX_CBID_CORE_RangePop, pop);
  std::atexit(report);
  return 1;
}
