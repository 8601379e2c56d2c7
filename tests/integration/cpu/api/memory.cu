// Allocating, freeing, copying, filling, symbols, registered and managed memory, pools.
#include "say.cuh"

#include <cstdlib>
#include <vector>

__device__ int symbol[16];
__constant__ float table[8];
__managed__ int managed_variable = 5;
__device__ double scalar = 2.5;

static int host[1024];
static void *pointer;
static int *device, *other, *managed, *pinned, *pooled;  // 4096 bytes each

static void allocating() {
    SAY(cudaMalloc(&device, 4096));
    SAY(cudaMalloc(&other, 4096));
    SAY(cudaMallocManaged(&managed, 4096));
    SAY(cudaMallocHost(&pinned, 4096));
    SAY(cudaMallocAsync(&pooled, 4096, 0));
    pointer = host;
    SAY(cudaMalloc(&pointer, 0));
    SHOW("%d", pointer == nullptr);
    SAY(cudaMalloc((void **)0, 100));
    pointer = host;
    SAY(cudaMalloc(&pointer, (size_t)1 << 50));
    SHOW("%d", pointer == nullptr);
    SAY(cudaMalloc(&pointer, (size_t)-1));
    SAY(cudaMallocManaged(&pointer, 0));
    SAY(cudaMallocManaged(&pointer, 16, 7));
    SAY(cudaMallocHost(&pointer, 0));
    SHOW("%d", pointer == nullptr);
    SAY(cudaMallocAsync(&pointer, 0, 0));
    SHOW("%d", pointer == nullptr);
    SAY(cudaMallocAsync(&pointer, (size_t)1 << 50, 0));
    SAY(cudaHostAlloc(&pointer, 16, 99));
    SAY(cudaHostAlloc(&pointer, 16, cudaHostAllocMapped | cudaHostAllocPortable));
    SAY(cudaFreeHost(pointer));
    size_t free, total;
    SAY(cudaMemGetInfo(&free, &total));
    SHOW("%d", free > 0 && free <= total);
    SAY(cudaMemGetInfo(0, 0));
}

static void freeing() {
    SAY(cudaFree(host));
    SAY(cudaFree(device + 1));
    SAY(cudaFree(pinned));
    SAY(cudaFreeHost(device));
    SAY(cudaFreeHost(host));
    SAY(cudaFreeHost(0));
    SAY(cudaFree(other));
    SAY(cudaFree(other));
    SAY(cudaMalloc(&other, 4096));
    SAY(cudaFreeAsync(pooled, 0));
    SAY(cudaFreeAsync(pooled, 0));
    SAY(cudaFreeAsync(0, 0));
    SAY(cudaFreeAsync(host, 0));
    SAY(cudaMallocAsync(&pooled, 4096, 0));
    SAY(cudaFree(pooled));
    SAY(cudaMalloc(&pointer, 64));
    SAY(cudaFreeAsync(pointer, 0));
}

static void copying() {
    SAY(cudaMemcpy(device, host, 4096, cudaMemcpyHostToDevice));
    SAY(cudaMemcpy(device, host, 4097, cudaMemcpyHostToDevice));
    SAY(cudaMemcpy(device + 1, host, 4096, cudaMemcpyHostToDevice));
    SAY(cudaMemcpy(device, host, 4 << 20, cudaMemcpyHostToDevice));
    SAY(cudaMemcpy(device, other, 4096, cudaMemcpyHostToDevice));
    SAY(cudaMemcpy(host, device, 4096, cudaMemcpyHostToDevice));
    SAY(cudaMemcpy(host, device, 4096, cudaMemcpyDeviceToDevice));
    SAY(cudaMemcpy(device, other, 4096, cudaMemcpyHostToHost));
    SAY(cudaMemcpy(device, other, 4096, cudaMemcpyDeviceToHost));
    SAY(cudaMemcpy(host, device, 4096, cudaMemcpyDefault));
    SAY(cudaMemcpy(device, host, 4096, cudaMemcpyDefault));
    SAY(cudaMemcpy(host, host + 512, 1024, cudaMemcpyDefault));
    SAY(cudaMemcpy(host, host + 512, 1024, cudaMemcpyDeviceToDevice));
    SAY(cudaMemcpy(host, host + 512, 1024, cudaMemcpyHostToDevice));
    SAY(cudaMemcpy(host, host + 512, 1024, cudaMemcpyDeviceToHost));
    SAY(cudaMemcpy(device, host, 4096, (cudaMemcpyKind)7));
    SAY(cudaMemcpy(0, host, 4096, cudaMemcpyHostToDevice));
    SAY(cudaMemcpy(device, 0, 4096, cudaMemcpyHostToDevice));
    SAY(cudaMemcpy(0, 0, 0, cudaMemcpyHostToDevice));
    SAY(cudaMemcpy(host, device, 0, (cudaMemcpyKind)9));
    SAY(cudaMemcpy(managed, device, 4096, cudaMemcpyDeviceToDevice));
    SAY(cudaMemcpy(managed, host, 4096, cudaMemcpyHostToDevice));
    SAY(cudaMemcpy(host, managed, 4096, cudaMemcpyDeviceToHost));
    SAY(cudaMemcpy(managed, host, 4096, cudaMemcpyHostToHost));
    SAY(cudaMemcpy(pinned, host, 4096, cudaMemcpyHostToDevice));
    SAY(cudaMemcpy(pinned, device, 4096, cudaMemcpyDeviceToDevice));
    SAY(cudaMemcpy(pinned, device, 4096, cudaMemcpyHostToHost));
    SAY(cudaMemcpyAsync(device, host, 4097, cudaMemcpyHostToDevice, 0));
    SAY(cudaMemcpyAsync(device, host, 4096, (cudaMemcpyKind)7, 0));
    SAY(cudaMemcpyAsync(host, device, 4096, cudaMemcpyHostToDevice, 0));
    SAY(cudaMemcpy2D(host, 16, device, 16, 17, 2, cudaMemcpyDeviceToHost));
    SAY(cudaMemcpy2D(host, 16, device, 16, 16, 2, cudaMemcpyDeviceToHost));
    SAY(cudaMemcpy2D(host, 64, device, 64, 32, 64, cudaMemcpyDeviceToHost));
    SAY(cudaMemcpy2D(host, 64, device, 64, 33, 65, cudaMemcpyDeviceToHost));
    SAY(cudaMemcpy2D(host, 16, device, 8, 16, 2, cudaMemcpyDeviceToHost));
    SAY(cudaMemcpy2D(host, 16, device, 16, 0, 2, cudaMemcpyDeviceToHost));
    SAY(cudaMemcpyPeer(device, 0, managed, 0, 64));
    SAY(cudaMemcpyPeer(device, 0, managed, 5, 64));
}

static void filling() {
    SAY(cudaMemset(device, 1, 4096));
    SAY(cudaMemset(device, 1, 4097));
    SAY(cudaMemset(host, 1, 16));
    SAY(cudaMemset(0, 1, 16));
    SAY(cudaMemset(0, 1, 0));
    SAY(cudaMemset(pinned, 1, 16));
    SAY(cudaMemset(managed, 1, 16));
    SAY(cudaMemset(device, 1, 4 << 20));
    SAY(cudaMemset2D(device, 16, 0, 17, 4));
    SAY(cudaMemset2D(device, 64, 0, 17, 4));
    SAY(cudaMemset2D(device, 64, 0, 17, 4000));
}

static void symbols() {
    SAY(cudaMemcpyToSymbol(symbol, host, 64));
    SAY(cudaMemcpyToSymbol(symbol, host, 65));
    SAY(cudaMemcpyToSymbol(symbol, host, 64, 1));
    SAY(cudaMemcpyToSymbol(symbol, host, 32, 32));
    SAY(cudaMemcpyToSymbol(symbol, device, 32, 0, cudaMemcpyDeviceToDevice));
    SAY(cudaMemcpyToSymbol(symbol, host, 32, 0, cudaMemcpyDeviceToHost));
    SAY(cudaMemcpyToSymbol(symbol, host, 16, 0, cudaMemcpyDefault));
    SAY(cudaMemcpyToSymbol(symbol, host, 0));
    SAY(cudaMemcpyToSymbol(table, host, 32));
    SAY(cudaMemcpyToSymbol(table, host, 36));
    SAY(cudaMemcpyToSymbol(host, host, 32));
    SAY(cudaMemcpyToSymbol((const void *)0, host, 32, 0, cudaMemcpyHostToDevice));
    SAY(cudaMemcpyToSymbol("symbol", host, 4));
    SAY(cudaMemcpyFromSymbol(host, symbol, 64));
    SAY(cudaMemcpyFromSymbol(host, symbol, 65));
    SAY(cudaMemcpyFromSymbol(host, symbol, 8, 0, cudaMemcpyHostToDevice));
    double value = 0;
    SAY(cudaMemcpyFromSymbol(&value, scalar, 8));
    SHOW("%g", value);
    size_t size;
    SAY(cudaGetSymbolSize(&size, symbol));
    SHOW("%zu", size);
    SAY(cudaGetSymbolSize(&size, host));
    SAY(cudaGetSymbolAddress(&pointer, symbol));
    SAY(cudaGetSymbolAddress(&pointer, host));
    SAY(cudaGetSymbolAddress(&pointer, managed_variable));
    SHOW("%d", pointer == &managed_variable);
    SHOW("%d", managed_variable);
}

static const char *compare(const void *found, const void *asked) {
    return found == asked ? "same" : found ? "other" : "null";
}

static void attributes(const char *what, const void *asked) {
    cudaPointerAttributes found;
    say(what, cudaPointerGetAttributes(&found, asked));
    printf("  type %d device %d as a device's %s as the host's %s\n", found.type, found.device,
           compare(found.devicePointer, asked), compare(found.hostPointer, asked));
}

static void pointers() {
    attributes("device", device);
    attributes("inside", device + 5);
    attributes("managed", managed);
    attributes("pinned", pinned);
    attributes("host", host);
    attributes("null", 0);
    attributes("low", (void *)16);
    cudaFree(other);
    attributes("freed", other);
    cudaGetSymbolAddress(&pointer, symbol);
    attributes("variable", pointer);
    cudaGetSymbolAddress(&pointer, table);
    attributes("constant variable", pointer);
    attributes("managed variable", &managed_variable);
    SAY(cudaPointerGetAttributes((cudaPointerAttributes *)0, device));
}

static void host_memory() {
    unsigned flags;
    int *registered = (int *)aligned_alloc(4096, 8192);
    SAY(cudaHostGetDevicePointer(&pointer, pinned, 0));
    SHOW("%d", pointer == pinned);
    SAY(cudaHostGetDevicePointer(&pointer, pinned + 1, 0));
    SHOW("%d", pointer == pinned + 1);
    SAY(cudaHostGetDevicePointer(&pointer, pinned, 1));
    SAY(cudaHostGetDevicePointer(&pointer, host, 0));
    SAY(cudaHostGetFlags(&flags, pinned));
    SHOW("%u", flags);
    SAY(cudaHostGetFlags(&flags, host));
    SAY(cudaHostRegister(registered, 8192, 0));
    SAY(cudaHostRegister(registered, 8192, 0));
    attributes("registered", registered);
    SAY(cudaHostGetDevicePointer(&pointer, registered, 0));
    SHOW("%d", pointer == registered);
    SAY(cudaMemcpy(device, registered, 4096, cudaMemcpyHostToDevice));
    SAY(cudaHostUnregister(registered + 1));
    SAY(cudaHostUnregister(registered));
    SAY(cudaHostUnregister(registered));
    SAY(cudaHostRegister(0, 16, 0));
    SAY(cudaHostRegister(registered, 0, 0));
    SAY(cudaHostRegister(registered, 16, 4096));
    SAY(cudaHostRegister(registered, 8192, cudaHostRegisterMapped | cudaHostRegisterPortable));
    SAY(cudaFreeHost(registered));
    SAY(cudaHostUnregister(pinned));
    SAY(cudaHostRegister(pinned, 4096, 0));
    SAY(cudaHostRegister(device, 4096, 0));
}

static void pitched() {
    size_t pitch;
    for (size_t width : {1, 31, 511, 512, 513, 1000, 4096, 5000}) {
        SAY(cudaMallocPitch(&pointer, &pitch, width, 3));
        SHOW("%zu", pitch);
    }
    SAY(cudaMallocPitch(&pointer, &pitch, 0, 3));
    SHOW("%d", pitch == 0 && pointer == nullptr);
    SAY(cudaMallocPitch(&pointer, &pitch, 3, 0));
    SHOW("%d", pitch == 0 && pointer == nullptr);
    cudaPitchedPtr box;
    SAY(cudaMalloc3D(&box, make_cudaExtent(100, 10, 4)));
    SHOW("%zu", box.pitch);
    SHOW("%zu", box.xsize);
    SHOW("%zu", box.ysize);
    SAY(cudaMemset3D(box, 1, make_cudaExtent(100, 10, 4)));
    SAY(cudaMemset3D(box, 1, make_cudaExtent(100, 11, 4)));
    SAY(cudaMemset3D(box, 1, make_cudaExtent(100, 10, 5)));
    SAY(cudaMemset3D(box, 1, make_cudaExtent(600, 1, 1)));
    std::vector<char> bytes(100 * 10 * 4);
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = box;
    copy.dstPtr = make_cudaPitchedPtr(bytes.data(), 100, 100, 10);
    copy.extent = make_cudaExtent(100, 10, 4);
    copy.kind = cudaMemcpyDeviceToHost;
    SAY(cudaMemcpy3D(&copy));
    SHOW("%d", bytes[0] + bytes[3999]);
    copy.srcPos = make_cudaPos(0, 1, 0);
    SAY(cudaMemcpy3D(&copy));
    copy.srcPos = make_cudaPos(0, 0, 2);
    SAY(cudaMemcpy3D(&copy));
    copy.extent = make_cudaExtent(100, 10, 2);
    SAY(cudaMemcpy3D(&copy));
    SAY(cudaMemcpy3D(0));
    copy = {};
    SAY(cudaMemcpy3D(&copy));
    copy.extent = make_cudaExtent(1, 1, 1);
    SAY(cudaMemcpy3D(&copy));
}

static void hints() {
    const cudaMemLocation on_device = {cudaMemLocationTypeDevice, 0}, on_host = {cudaMemLocationTypeHost, 0};
    const cudaMemLocation nowhere = {cudaMemLocationTypeDevice, 9};
    int found;
    SAY(cudaMemAdvise(managed, 4096, cudaMemAdviseSetReadMostly, on_device));
    SAY(cudaMemAdvise(device, 4096, cudaMemAdviseSetReadMostly, on_device));
    SAY(cudaMemPrefetchAsync(managed, 4096, on_device, 0, 0));
    SAY(cudaMemPrefetchAsync(device, 4096, on_device, 0, 0));
    SAY(cudaMemPrefetchAsync(host, 4096, on_device, 0, 0));
    SAY(cudaMemPrefetchAsync(managed, 4096, nowhere, 0, 0));
    SAY(cudaMemPrefetchAsync(managed, 0, on_host, 0, 0));
    SAY(cudaMemPrefetchAsync(managed, 4096, on_host, 0, 0));
    SAY(cudaMemRangeGetAttribute(&found, 4, cudaMemRangeAttributeReadMostly, managed, 4096));
    SHOW("%d", found);
    SAY(cudaMemRangeGetAttribute(&found, 4, cudaMemRangeAttributePreferredLocation, managed, 4096));
    SHOW("%d", found);
    SAY(cudaMemRangeGetAttribute(&found, 4, cudaMemRangeAttributeLastPrefetchLocation, managed, 4096));
    SHOW("%d", found);
    SAY(cudaMemRangeGetAttribute(&found, 4, cudaMemRangeAttributeReadMostly, device, 4096));
}

static void pools() {
    cudaMemPool_t standard, pool;
    SAY(cudaDeviceGetDefaultMemPool(&standard, 0));
    SAY(cudaDeviceGetDefaultMemPool(&pool, 99));
    SAY(cudaDeviceGetMemPool(&pool, 0));
    SHOW("%d", pool == standard);
    for (cudaMemPoolAttr reuse : {cudaMemPoolReuseFollowEventDependencies, cudaMemPoolReuseAllowOpportunistic,
                                  cudaMemPoolReuseAllowInternalDependencies}) {
        int allowed = 0;
        SAY(cudaMemPoolGetAttribute(standard, reuse, &allowed));
        SHOW("%d", allowed);
    }
    unsigned long long bytes = 1 << 20, before = 0;
    SAY(cudaMemPoolSetAttribute(standard, cudaMemPoolAttrReleaseThreshold, &bytes));
    SAY(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrReleaseThreshold, &bytes));
    SHOW("%llu", bytes);
    bytes = 5;
    SAY(cudaMemPoolSetAttribute(standard, cudaMemPoolAttrUsedMemCurrent, &bytes));
    SAY(cudaMemPoolSetAttribute(standard, cudaMemPoolAttrUsedMemHigh, &bytes));
    bytes = 0;
    SAY(cudaMemPoolSetAttribute(standard, cudaMemPoolAttrUsedMemHigh, &bytes));
    cudaMemPoolGetAttribute(standard, cudaMemPoolAttrUsedMemCurrent, &before);
    SAY(cudaMallocAsync(&pointer, 1000, 0));
    SAY(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrUsedMemCurrent, &bytes));
    SHOW("%llu", bytes - before);
    SAY(cudaFreeAsync(pointer, 0));
    SAY(cudaMemPoolGetAttribute(standard, cudaMemPoolAttrUsedMemCurrent, &bytes));
    SHOW("%llu", bytes - before);
    SAY(cudaMemPoolTrimTo(standard, 0));

    cudaMemPoolProps properties = {};
    SAY(cudaMemPoolCreate(&pool, &properties));
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location = {cudaMemLocationTypeDevice, 0};
    SAY(cudaMemPoolCreate(&pool, &properties));
    SAY(cudaMallocFromPoolAsync(&pointer, 512, pool, 0));
    SAY(cudaFreeAsync(pointer, 0));
    SAY(cudaDeviceSetMemPool(0, pool));
    SAY(cudaMemPoolDestroy(pool));
    SAY(cudaMemPoolDestroy(pool));
    SAY(cudaMemPoolDestroy(standard));
    SAY(cudaDeviceGetMemPool(&pool, 0));
    SHOW("%d", pool == standard);
    SAY(cudaMallocFromPoolAsync(&pointer, 512, (cudaMemPool_t)0, 0));
    cudaMemAccessDesc access = {{cudaMemLocationTypeDevice, 0}, cudaMemAccessFlagsProtReadWrite};
    SAY(cudaMemPoolSetAccess(standard, &access, 1));
    cudaMemAccessFlags flags;
    SAY(cudaMemPoolGetAccess(&flags, standard, &access.location));
    SHOW("%d", flags);
}

int main() {
    allocating();
    freeing();
    copying();
    filling();
    symbols();
    pointers();
    host_memory();
    pitched();
    hints();
    pools();
}
