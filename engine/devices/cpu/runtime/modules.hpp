// What a program registers before main(): fat binaries, and the kernels and variables in them.
//
// A fat binary is a *module*: kernels and variables are looked up by module and name, never by name alone, because two translation
// units may each have a static kernel of the same name. The host knows a kernel by the address of its stub and a variable by the
// address of its shadow.
#pragma once

#include <cuda_runtime_api.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "kernel_abi.h"

namespace beaver {

struct Module;

struct Kernel {
    const Module *module;
    const void *stub;                     // the host's function of the same name
    std::string name;                     // mangled
    const beaver_kernel *code = nullptr;  // null before its module is loaded, and after when that failed
    // what cudaFuncSetAttribute has set; -1: nothing
    int dynamic_shared_limit = -1;
    int carveout = -1;
};

struct Variable {
    const Module *module;
    std::string name;
    std::uint64_t size;
    void **managed_pointer = nullptr;  // of a __managed__ variable: the host's pointer to it
    const beaver_variable *data = nullptr;
    std::uint64_t address = 0;
};

struct Module {
    const void *wrapper;  // as nvcc has written it into the program
    bool loaded = false;
    bool registered = true;
    const beaver_module_type *object = nullptr;  // what was loaded for it
    std::string problem;  // why there is no code, a clause for a sentence; empty when there is
    std::vector<std::unique_ptr<Kernel>> kernels;
    std::vector<std::unique_ptr<Variable>> variables;
};

// Loads the kernels of modules that were registered since the last time, and lays out their variables.
void load_modules();
// Gives variables their first values again (cudaDeviceReset).
void reload_variables();

// A kernel by its stub or by the handle that cudaGetKernel returns. nullptr: no kernel. Gives up when its code is missing.
Kernel *find_kernel(const void *function);
// The same without a look at its code, and so before modules are loaded.
Kernel *find_registered_kernel(const void *function);
// A variable by the address of its shadow, or by its value for a __managed__ one. nullptr: no such variable. Gives up as well.
const Variable *find_variable(const void *symbol);

// ---- kernels' objects (objects.cpp)

// The name of the module's kernels' object, see engine/devices/cpu/fatbin.py.
std::string module_key(const void *wrapper);
// Opens the modules' objects and binds kernels and variables to them; sets ``problem`` where there is none.
void load(const std::vector<Module *> &modules);
// Writes the first values of a loaded module's variables into device memory.
void write_first_values(const Module &module);

}  // namespace beaver
