// Names in reports. compute-sanitizer writes types as NVIDIA's front end does ("const float *"), the C++ ABI's demangler in its own
// way ("float const*"); a reader who compares two devices should find the same words.
#include <cxxabi.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "report.hpp"

namespace beaver {
namespace {

bool ends_with(const std::string &text, const std::string &tail) {
    return text.size() >= tail.size() && text.compare(text.size() - tail.size(), tail.size(), tail) == 0;
}

// "float const* const*" becomes "const float *const *".
std::string respell_type(std::string type) {
    std::string pointers;
    for (;;) {
        if (ends_with(type, "*") || ends_with(type, "&")) {
            pointers.insert(0, 1, type.back());
            type.pop_back();
        } else if (ends_with(type, "* const")) {
            pointers.insert(0, "const ");
            type.resize(type.size() - 6);
        } else {
            break;
        }
    }
    if (ends_with(type, " const")) type = "const " + type.substr(0, type.size() - 6);
    return pointers.empty() ? type : type + " " + pointers;
}

void replace_all(std::string &text, const std::string &from, const std::string &to) {
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
        text.replace(at, from.size(), to);
}

// The parameter list at the end of a function's name, split at its outer commas. Where it begins; npos: there is none.
std::size_t split_parameters(const std::string &name, std::vector<std::string> &parameters) {
    if (name.empty() || name.back() != ')') return std::string::npos;
    std::size_t open = name.size();
    for (int depth = 0; open-- > 0;) {
        if (name[open] == ')') ++depth;
        if (name[open] == '(' && --depth == 0) break;
    }
    if (open == std::string::npos) return open;
    int depth = 0;
    std::string parameter;
    for (std::size_t at = open + 1; at + 1 < name.size(); ++at) {
        const char c = name[at];
        if (c == '(' || c == '<' || c == '{' || c == '[') ++depth;
        if (c == ')' || c == '>' || c == '}' || c == ']') --depth;
        if (c == ',' && depth == 0) {
            parameters.push_back(parameter);
            parameter.clear();
            if (name[at + 1] == ' ') ++at;
        } else {
            parameter += c;
        }
    }
    if (!parameter.empty()) parameters.push_back(parameter);
    return open;
}

std::string base_name(const std::string &path) { return path.substr(path.rfind('/') + 1); }

}  // namespace

std::string demangle(const char *name) {
    int status = 0;
    const std::unique_ptr<char, void (*)(void *)> plain(abi::__cxa_demangle(name, nullptr, nullptr, &status), std::free);
    if (status != 0) return name;
    std::string text = plain.get();
    replace_all(text, "(anonymous namespace)", "<unnamed>");
    std::vector<std::string> parameters;
    const std::size_t open = split_parameters(text, parameters);
    if (open == std::string::npos) return text;
    text.resize(open + 1);
    for (std::size_t index = 0; index < parameters.size(); ++index) text += (index ? ", " : "") + respell_type(parameters[index]);
    return text + ")";
}

std::string describe(const beaver_kernel *kernel, const beaver_site *site) {
    if (!site) return kernel ? demangle(kernel->name) : "?";
    char offset[32], line[32];
    std::snprintf(offset, sizeof offset, "+0x%x", site->offset);
    std::string text = demangle(site->function) + offset;
    if (site->line && site->file) {
        std::snprintf(line, sizeof line, ":%u", site->line);
        text += " in " + base_name(site->file) + line;
    }
    return text;
}

}  // namespace beaver
