// Handles of the API: numbers that are given out once and never again, so that a handle of something destroyed is known as such.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

namespace beaver {

// Looks like an address, and is one at which nothing is ever mapped.
inline std::uintptr_t next_handle() {
    static std::atomic<std::uintptr_t> next{0x1c0000000000};
    return next.fetch_add(16);
}

template <class Handle, class Object>
class Handles {
public:
    Handle add(std::shared_ptr<Object> object) {
        const auto handle = reinterpret_cast<Handle>(next_handle());
        const std::lock_guard lock(mutex_);
        objects_.emplace(handle, std::move(object));
        return handle;
    }
    // nullptr: there is no such object, or no more.
    std::shared_ptr<Object> find(Handle handle) const {
        const std::lock_guard lock(mutex_);
        const auto found = objects_.find(handle);
        return found == objects_.end() ? nullptr : found->second;
    }
    std::shared_ptr<Object> remove(Handle handle) {
        const std::lock_guard lock(mutex_);
        const auto found = objects_.find(handle);
        if (found == objects_.end()) return nullptr;
        auto object = std::move(found->second);
        objects_.erase(found);
        return object;
    }
    // Everything at once, for cudaDeviceReset.
    void clear() {
        std::unordered_map<Handle, std::shared_ptr<Object>> gone;
        const std::lock_guard lock(mutex_);
        gone.swap(objects_);
    }

private:
    mutable std::mutex mutex_;
    std::unordered_map<Handle, std::shared_ptr<Object>> objects_;
};

}  // namespace beaver
