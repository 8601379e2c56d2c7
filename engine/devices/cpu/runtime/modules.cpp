#include "modules.hpp"

#include <atomic>
#include <mutex>
#include <unordered_map>
#include <utility>

#include "errors.hpp"
#include "memory.hpp"
#include "report.hpp"

namespace beaver {
namespace {

// Never destroyed: programs call the API from destructors of their own static objects.
struct Registry {
    std::recursive_mutex mutex;
    std::vector<std::unique_ptr<Module>> modules;
    std::unordered_map<const void *, Kernel *> kernels;  // by stub and by handle
    std::unordered_map<const void *, Variable *> variables;
    std::atomic<bool> changed{false};
};

Registry &registry() {
    static auto *const only = new Registry;
    return *only;
}

Module &module_of(void **handle) {
    return *reinterpret_cast<Module *>(handle);
}

[[noreturn]] void give_up_without_code(const Module &module, const std::string &what) {
    give_up("no translated code for " + what + ": " + module.problem + "; needs a GPU", Exit::needs_gpu);
}

void register_variable(void **handle, const void *shadow, const char *name, std::size_t size, void **managed_pointer) {
    Registry &all = registry();
    const std::lock_guard lock(all.mutex);
    Module &module = module_of(handle);
    auto variable = std::make_unique<Variable>();
    variable->module = &module;
    variable->name = name;
    variable->size = size;
    variable->managed_pointer = managed_pointer;
    all.variables[shadow] = variable.get();
    module.variables.push_back(std::move(variable));
}

}  // namespace

void load_modules() {
    Registry &all = registry();
    if (!all.changed) return;
    const std::lock_guard lock(all.mutex);
    all.changed = false;
    std::vector<Module *> fresh;
    for (const auto &module : all.modules)
        if (!std::exchange(module->loaded, true) && module->registered) fresh.push_back(module.get());
    load(fresh);
    for (const Module *module : fresh)
        for (const auto &variable : module->variables)
            if (variable->managed_pointer) *variable->managed_pointer = reinterpret_cast<void *>(variable->address);
}

void reload_variables() {
    Registry &all = registry();
    const std::lock_guard lock(all.mutex);
    for (const auto &module : all.modules)
        if (module->object) write_first_values(*module);
}

Kernel *find_registered_kernel(const void *function) {
    Registry &all = registry();
    const std::lock_guard lock(all.mutex);
    const auto found = all.kernels.find(function);
    return found == all.kernels.end() ? nullptr : found->second;
}

Kernel *find_kernel(const void *function) {
    Kernel *const kernel = find_registered_kernel(function);
    if (kernel && !kernel->code) give_up_without_code(*kernel->module, demangle(kernel->name.c_str()));
    return kernel;
}

const Variable *find_variable(const void *symbol) {
    Registry &all = registry();
    const std::lock_guard lock(all.mutex);
    const Variable *variable = nullptr;
    if (const auto found = all.variables.find(symbol); found != all.variables.end()) variable = found->second;
    if (!variable)  // the host names a managed variable by what it points to
        for (const auto &[shadow, candidate] : all.variables)
            if (candidate->managed_pointer && *candidate->managed_pointer == symbol && symbol) variable = candidate;
    if (variable && !variable->data) give_up_without_code(*variable->module, "variable " + demangle(variable->name.c_str()));
    return variable;
}

}  // namespace beaver

using namespace beaver;

// The interface of nvcc's registration code (crt/host_runtime.h of the toolkit). A handle is a pointer to our Module.
extern "C" {

void **__cudaRegisterFatBinary(void *wrapper) {
    Registry &all = registry();
    const std::lock_guard lock(all.mutex);
    all.modules.push_back(std::make_unique<Module>());
    all.modules.back()->wrapper = wrapper;
    return reinterpret_cast<void **>(all.modules.back().get());
}

void __cudaRegisterFatBinaryEnd(void **) {
    registry().changed = true;
}

void __cudaUnregisterFatBinary(void **handle) {
    Registry &all = registry();
    const std::lock_guard lock(all.mutex);
    Module &module = module_of(handle);
    module.registered = false;
    const auto drop = [&](auto &table) {
        for (auto at = table.begin(); at != table.end();) at = at->second->module == &module ? table.erase(at) : std::next(at);
    };
    drop(all.kernels);
    drop(all.variables);
}

void __cudaRegisterFunction(void **handle, const char *stub, char *, const char *name, int, uint3 *, uint3 *, dim3 *, dim3 *,
                            int *) {
    Registry &all = registry();
    const std::lock_guard lock(all.mutex);
    Module &module = module_of(handle);
    auto kernel = std::make_unique<Kernel>();
    kernel->module = &module;
    kernel->stub = stub;
    kernel->name = name;
    all.kernels[stub] = kernel.get();
    all.kernels[kernel.get()] = kernel.get();
    module.kernels.push_back(std::move(kernel));
}

void __cudaRegisterVar(void **handle, char *shadow, char *, const char *name, int, std::size_t size, int, int) {
    register_variable(handle, shadow, name, size, nullptr);
}

void __cudaRegisterManagedVar(void **handle, void **pointer, char *, const char *name, int, std::size_t size, int, int) {
    register_variable(handle, pointer, name, size, pointer);
}

// Called before the host touches a __managed__ variable for the first time.
char __cudaInitModule(void **handle) {
    if (before_call(Needs::context) != cudaSuccess) return 0;
    const Module &module = module_of(handle);
    for (const auto &variable : module.variables)
        if (variable->managed_pointer && !variable->data)
            give_up_without_code(module, "variable " + demangle(variable->name.c_str()));
    return 1;
}

// Host variables that kernels may use without a copy, textures and surfaces: accepted here, refused where a kernel uses them.
void __cudaRegisterHostVar(void **, const char *, char *, std::size_t) {}
void __cudaRegisterTexture(void **, const void *, const void **, const char *, int, int, int) {}
void __cudaRegisterSurface(void **, const void *, const void **, const char *, int, int) {}

// The device runtime's table: there is no launching of kernels from kernels here.
void __cudaRegisterUnifiedTable(void **, void *) {}

}
