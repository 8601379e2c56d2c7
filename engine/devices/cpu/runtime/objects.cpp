// From a registered fat binary to running code: which object holds it, who makes it when nobody has, and how it is bound.
#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>

#include "memory.hpp"
#include "modules.hpp"
#include "options.hpp"
#include "report.hpp"
#include "sha256.hpp"

extern char **environ;

namespace beaver {
namespace {

namespace files = std::filesystem;

struct Wrapper {  // what nvcc hands to __cudaRegisterFatBinary
    std::int32_t magic, version;
    const std::uint8_t *fatbin;
    const void *const *linked;  // version 2 (-rdc): the relocatable fat binaries, NULL at the end
};
constexpr int linked_version = 2;

struct FatbinHeader {
    std::uint32_t magic;
    std::uint16_t version, header_size;
    std::uint64_t payload_size;
};

std::string fatbin_key(const void *fatbin) {
    FatbinHeader header;
    std::memcpy(&header, fatbin, sizeof header);
    return sha256(fatbin, header.header_size + header.payload_size);
}

// The executable or shared library that holds this address.
std::string file_of(const void *address) {
    Dl_info info;
    void *map = nullptr;
    if (dladdr1(address, &info, &map, RTLD_DL_LINKMAP)) {
        const char *name = static_cast<link_map *>(map)->l_name;
        if (name && *name) return name;
    }
    return "/proc/" + std::to_string(getpid()) + "/exe";  // the program itself: right even if its file was moved or deleted
}

// A folder of our own that the translator has filled, or, when it ended badly, has begun to.
struct Translated {
    files::path folder;
    bool ended_well;
};

Translated translate(const std::string &file) {
    std::string folder = files::temp_directory_path() / "beaver-kernels-XXXXXX";
    if (!mkdtemp(folder.data())) give_up("cannot make a folder for kernels in " + folder, Exit::broken);
    const std::string &program = options().translate;
    const char *arguments[] = {program.c_str(), file.c_str(), folder.c_str(), nullptr};
    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);  // stdout belongs to the user's program
    pid_t child;
    const int failed = posix_spawnp(&child, program.c_str(), &actions, nullptr, const_cast<char **>(arguments), environ);
    posix_spawn_file_actions_destroy(&actions);
    int status = 0;
    if (!failed)
        while (waitpid(child, &status, 0) < 0 && errno == EINTR) {}
    return {folder, !failed && status == 0};
}

// Folders that the translator has filled, by the file that was translated. They go when the objects in them are loaded: a process
// may end in ways in which nobody could clean up.
class PrivateFolders {
public:
    PrivateFolders() = default;
    PrivateFolders(const PrivateFolders &) = delete;
    PrivateFolders &operator=(const PrivateFolders &) = delete;
    ~PrivateFolders() {
        std::error_code ignored;
        for (const auto &[file, translated] : folders_) files::remove_all(translated.folder, ignored);
    }
    const files::path &of(const std::string &file) {
        auto found = folders_.find(file);
        if (found == folders_.end()) found = folders_.emplace(file, translate(file)).first;
        return found->second.folder;
    }
    bool failed(const std::string &file) const {
        const auto found = folders_.find(file);
        return found != folders_.end() && !found->second.ended_well;
    }

private:
    std::map<std::string, Translated> folders_;
};

// Where the module's object should be; the folders that the harness has filled come first.
std::vector<files::path> places(const Module &module, PrivateFolders &private_folders) {
    std::vector<files::path> folders(options().kernels.begin(), options().kernels.end());
    const auto holds = [key = module_key(module.wrapper)](const files::path &folder) {
        return files::exists(folder / (key + ".so")) || files::exists(folder / (key + ".why"));
    };
    if (std::none_of(folders.begin(), folders.end(), holds) && !options().translate.empty())
        folders.push_back(private_folders.of(file_of(module.wrapper)));
    return folders;
}

// The path of the module's object, or empty and why there is none.
std::string find_object(const Module &module, PrivateFolders &private_folders, std::string *problem) {
    const std::string key = module_key(module.wrapper);
    for (const files::path &folder : places(module, private_folders)) {
        if (const files::path object = folder / (key + ".so"); files::exists(object)) return object;
        if (std::ifstream why(folder / (key + ".why")); why && std::getline(why, *problem)) return {};
    }
    std::error_code ignored;
    const std::string file = file_of(module.wrapper);
    const files::path real = files::read_symlink(file, ignored);
    *problem = (real.empty() ? file : real.string()) +
               (private_folders.failed(file) ? " could not be translated: the translator did not come to its end"
                                             : " was built without PTX, or after the step that translates kernels");
    return {};
}

// The loader opens a file only once. A module that has the same device code as another one still has variables of its own.
void *open_copy(const std::string &path) {
    const int source = open(path.c_str(), O_RDONLY | O_CLOEXEC);
    const int copy = memfd_create("beaver-kernels", MFD_CLOEXEC);
    struct stat status;
    if (source < 0 || copy < 0 || fstat(source, &status) != 0) return nullptr;
    for (off_t left = status.st_size; left > 0;) {
        const ssize_t moved = sendfile(copy, source, nullptr, left);
        if (moved <= 0) break;
        left -= moved;
    }
    close(source);
    void *object = dlopen(("/proc/self/fd/" + std::to_string(copy)).c_str(), RTLD_NOW | RTLD_LOCAL);
    close(copy);
    return object;
}

void *open_object(const std::string &path) {
    static std::set<std::string> opened;
    if (!opened.insert(path).second) return open_copy(path);
    // Kernels call the runtime; it is not in the global scope when a plug-in has brought it in.
    Dl_info self;
    if (dladdr(reinterpret_cast<void *>(&module_key), &self)) dlopen(self.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
    return dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
}

MemoryKind kind_of(const beaver_variable &variable) {
    return variable.kind == BEAVER_MANAGED_VARIABLE ? MemoryKind::managed : MemoryKind::variable;
}

// All variables of the object, also those that the host does not know: device code points to them.
void place_variables(const beaver_module_type &object) {
    for (std::uint32_t i = 0; i < object.variable_count; ++i) {
        const beaver_variable &variable = object.variables[i];
        const std::uint64_t align = std::max(variable.align, 1u);
        if (allocate(std::max<std::uint64_t>(variable.size, 1), align, kind_of(variable), variable.name, variable.address))
            give_up("no device memory is left for variable " + demangle(variable.name), Exit::broken);
    }
}

void write_first_value(const beaver_variable &variable) {
    std::uint8_t *const bytes = storage(*variable.address, variable.size);
    if (!bytes) return;
    std::memset(bytes, 0, variable.size);
    if (variable.init) std::memcpy(bytes, variable.init, variable.init_size);
    for (std::uint32_t i = 0; i < variable.relocation_count; ++i) {
        const beaver_relocation &relocation = variable.relocations[i];
        const std::uint64_t target = relocation.variable ? *relocation.variable
                                                         : reinterpret_cast<std::uint64_t>(relocation.function);
        const std::uint64_t value = (target + relocation.addend) >> 8 * relocation.shift;
        std::memcpy(bytes + relocation.offset, &value, relocation.width);
    }
    mark_written(*variable.address, variable.size);
}

template <class Entry>
const Entry *by_name(const Entry *entries, std::uint32_t count, const std::string &name) {
    const Entry *end = entries + count;
    const Entry *found = std::find_if(entries, end, [&](const Entry &entry) { return name == entry.name; });
    return found == end ? nullptr : found;
}

void bind(Module &module, const beaver_module_type &object) {
    module.object = &object;
    place_variables(object);
    write_first_values(module);
    for (const auto &kernel : module.kernels) kernel->code = by_name(object.kernels, object.kernel_count, kernel->name);
    for (const auto &variable : module.variables) {
        variable->data = by_name(object.variables, object.variable_count, variable->name);
        if (variable->data) variable->address = *variable->data->address;
    }
    module.problem = "its translation does not hold it";  // said of a kernel or variable that stays without data
}

void load(Module &module, PrivateFolders &private_folders) {
    const std::string path = find_object(module, private_folders, &module.problem);
    if (path.empty()) return;
    void *const handle = open_object(path);
    const char *const problem = handle ? nullptr : dlerror();
    const auto *object = handle ? static_cast<const beaver_module_type *>(dlsym(handle, "beaver_module")) : nullptr;
    if (!object || object->abi != BEAVER_ABI)
        give_up("cannot load " + path + ": " + (problem ? problem : "made by another version"), Exit::broken);
    bind(module, *object);
}

}  // namespace

std::string module_key(const void *address) {
    const auto &wrapper = *static_cast<const Wrapper *>(address);
    if (wrapper.version != linked_version) return fatbin_key(wrapper.fatbin);
    std::vector<std::string> parts;
    for (const void *const *part = wrapper.linked; *part; ++part) parts.push_back(fatbin_key(*part));
    std::sort(parts.begin(), parts.end());
    std::string text;
    for (const std::string &part : parts) text += (text.empty() ? "" : "\n") + part;
    return sha256(text.data(), text.size());
}

void load(const std::vector<Module *> &modules) {
    PrivateFolders private_folders;
    for (Module *module : modules) load(*module, private_folders);
}

void write_first_values(const Module &module) {
    for (std::uint32_t i = 0; i < module.object->variable_count; ++i) write_first_value(module.object->variables[i]);
}

}  // namespace beaver
