#include "user_objects.hpp"

#include <mutex>

#include "errors.hpp"
#include "graphs.hpp"
#include "handles.hpp"
#include "streams.hpp"

namespace beaver {
namespace {

struct UserObject {
    cudaHostFn_t destroy;
    void *data;
    unsigned count;
};

Handles<cudaUserObject_t, UserObject> &objects() {
    static auto *const all = new Handles<cudaUserObject_t, UserObject>;
    return *all;
}

}  // namespace

bool retain(cudaUserObject_t handle, unsigned count) {
    const std::lock_guard lock(graph_mutex());
    const auto object = objects().find(handle);
    if (object) object->count += count;
    return object != nullptr;
}

bool release(cudaUserObject_t handle, unsigned count) {
    const std::lock_guard lock(graph_mutex());
    const auto object = objects().find(handle);
    if (!object || object->count < count) return false;
    object->count -= count;
    if (object->count == 0) {
        objects().remove(handle);
        const InHostFunction inside;
        object->destroy(object->data);
    }
    return true;
}

void retain_all(const References &references) {
    for (const auto &[object, count] : references) retain(object, count);
}

void release_all(const References &references) {
    for (const auto &[object, count] : references) release(object, count);
}

}  // namespace beaver

using namespace beaver;

extern "C" {

cudaError_t cudaUserObjectCreate(cudaUserObject_t *object, void *data, cudaHostFn_t destroy, unsigned count, unsigned flags) {
    return query(__func__, [&] {
        if (!object || !destroy || !count || flags != cudaUserObjectNoDestructorSync) return cudaErrorInvalidValue;
        *object = objects().add(std::make_shared<UserObject>(UserObject{destroy, data, count}));
        return cudaSuccess;
    });
}

cudaError_t cudaUserObjectRetain(cudaUserObject_t object, unsigned count) {
    return query(__func__, [&] { return count && retain(object, count) ? cudaSuccess : cudaErrorInvalidValue; });
}

cudaError_t cudaUserObjectRelease(cudaUserObject_t object, unsigned count) {
    return query(__func__, [&] { return count && release(object, count) ? cudaSuccess : cudaErrorInvalidValue; });
}

cudaError_t cudaGraphRetainUserObject(cudaGraph_t handle, cudaUserObject_t object, unsigned count, unsigned flags) {
    return query(__func__, [&] {
        const std::lock_guard lock(graph_mutex());
        const auto graph = graphs().find(handle);
        if (!graph || !count || (flags & ~unsigned{cudaGraphUserObjectMove})) return cudaErrorInvalidValue;
        // moved references were the caller's; others are new
        if (!objects().find(object) || (flags == 0 && !retain(object, count))) return cudaErrorInvalidValue;
        graph->retained[object] += count;
        return cudaSuccess;
    });
}

cudaError_t cudaGraphReleaseUserObject(cudaGraph_t handle, cudaUserObject_t object, unsigned count) {
    return query(__func__, [&] {
        const std::lock_guard lock(graph_mutex());
        const auto graph = graphs().find(handle);
        const auto kept = graph ? graph->retained.find(object) : References::iterator();
        if (!graph || kept == graph->retained.end() || !count || kept->second < count) return cudaErrorInvalidValue;
        kept->second -= count;
        if (kept->second == 0) graph->retained.erase(kept);
        return release(object, count) ? cudaSuccess : cudaErrorInvalidValue;
    });
}

}
