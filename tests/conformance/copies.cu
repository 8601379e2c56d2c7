// Copies and fills in one, two and three dimensions, and the kinds of memory that they go between.
#include "case.cuh"

__global__ void fill(int *data, int value) { data[blockIdx.x * blockDim.x + threadIdx.x] = value; }
__constant__ int constants[16];
__device__ int variable;

CASE(memset_patterns) {
    Buffer<int> data(8);
    SAY(cudaMemset(data, 0x1ab, 10));
    data.show("low byte, ten bytes");
    SAY(cudaMemset2D(data, 8, 0x7e, 4, 3));
    data.show("4 of 8 in 3 rows");
}

CASE(copies_in_two_dimensions) {
    unsigned char host[6 * 10], back[6 * 10] = {};
    for (int i = 0; i < 60; ++i) host[i] = static_cast<unsigned char>(i);
    unsigned char *data = nullptr;
    size_t pitch = 0;
    CHECK(cudaMallocPitch(&data, &pitch, 10, 6));
    printf("pitch %zu\n", pitch);
    CHECK(cudaMemset2D(data, pitch, 0xee, 10, 6));
    SAY(cudaMemcpy2D(data, pitch, host, 10, 7, 5, cudaMemcpyHostToDevice));
    SAY(cudaMemcpy2D(back, 10, data, pitch, 10, 6, cudaMemcpyDeviceToHost));
    print("back", back, 60, 10);
    SAY(cudaMemcpy2D(data, 4, host, 10, 7, 5, cudaMemcpyHostToDevice));
    SAY(cudaMemcpy2D(data + 1, pitch, data + pitch, pitch, 3, 2, cudaMemcpyDeviceToDevice));
    SAY(cudaMemcpy2D(back, 10, data, pitch, 10, 2, cudaMemcpyDefault));
    print("moved", back, 20, 10);
    CHECK(cudaFree(data));
}

CASE(copies_in_three_dimensions) {
    int host[2][3][4], back[2][3][4] = {};
    for (int i = 0; i < 24; ++i) (&host[0][0][0])[i] = i + 100;
    cudaExtent extent = make_cudaExtent(4 * sizeof(int), 3, 2);
    cudaPitchedPtr volume;
    CHECK(cudaMalloc3D(&volume, extent));
    printf("pitch %zu x %zu y %zu\n", volume.pitch, volume.xsize, volume.ysize);
    CHECK(cudaMemset3D(volume, 0, extent));
    cudaMemcpy3DParms copy = {};
    copy.srcPtr = make_cudaPitchedPtr(host, 4 * sizeof(int), 4, 3);
    copy.dstPtr = volume;
    copy.srcPos = make_cudaPos(sizeof(int), 1, 0);
    copy.dstPos = make_cudaPos(0, 0, 0);
    copy.extent = make_cudaExtent(3 * sizeof(int), 2, 2);
    copy.kind = cudaMemcpyHostToDevice;
    SAY(cudaMemcpy3D(&copy));
    cudaMemcpy3DParms out = {};
    out.srcPtr = volume;
    out.dstPtr = make_cudaPitchedPtr(back, 4 * sizeof(int), 4, 3);
    out.extent = extent;
    out.kind = cudaMemcpyDeviceToHost;
    SAY(cudaMemcpy3D(&out));
    print("back", &back[0][0][0], 24, 4);
}

CASE(copies_between_symbols) {
    int host[16], back[4] = {};
    for (int i = 0; i < 16; ++i) host[i] = i * i;
    SAY(cudaMemcpyToSymbol(constants, host, sizeof host));
    SAY(cudaMemcpyFromSymbol(back, constants, sizeof back, 5 * sizeof(int)));
    print("from 5", back, 4);
    void *address = nullptr;
    SAY(cudaGetSymbolAddress(&address, constants));
    SAY(cudaMemcpy(back, address, sizeof back, cudaMemcpyDeviceToHost));
    print("by address", back, 4);
    SAY(cudaMemcpyToSymbolAsync(variable, back + 3, sizeof(int), 0, cudaMemcpyHostToDevice, nullptr));
    SAY(cudaMemcpyFromSymbol(back, variable, sizeof(int)));
    print("variable", back, 1);
}

CASE(copies_among_hosts_and_device) {
    int host[4] = {1, 2, 3, 4}, other[4] = {};
    int *pinned = nullptr;
    CHECK(cudaMallocHost(&pinned, sizeof host));
    Buffer<int> a(4), b(4);
    SAY(cudaMemcpy(other, host, sizeof host, cudaMemcpyHostToHost));
    SAY(cudaMemcpy(a, other, sizeof host, cudaMemcpyDefault));
    SAY(cudaMemcpyAsync(b, a, sizeof host, cudaMemcpyDeviceToDevice, nullptr));
    SAY(cudaMemcpyAsync(pinned, b, sizeof host, cudaMemcpyDeviceToHost, nullptr));
    SAY(cudaStreamSynchronize(nullptr));
    print("pinned", pinned, 4);

    CHECK(cudaFreeHost(pinned));
}

// ---- kinds of memory

static void attributes_of(const char *what, const void *pointer) {
    cudaPointerAttributes attributes = {};
    cudaError_t error = cudaPointerGetAttributes(&attributes, pointer);
    printf("%s: %d type %d device %d, device pointer %s, host pointer %s\n", what, static_cast<int>(error),
           static_cast<int>(attributes.type), attributes.device, attributes.devicePointer ? "yes" : "no",
           attributes.hostPointer ? "yes" : "no");
}

CASE(pointer_attributes) {
    int local = 0, *device = nullptr, *pinned = nullptr, *managed = nullptr,
        *registered = static_cast<int *>(aligned_alloc(4096, 4096));
    CHECK(cudaMalloc(&device, 64));
    CHECK(cudaMallocHost(&pinned, 64));
    CHECK(cudaMallocManaged(&managed, 64));
    CHECK(cudaHostRegister(registered, 4096, cudaHostRegisterDefault));
    attributes_of("device", device + 3);
    attributes_of("pinned", pinned);
    attributes_of("managed", managed);
    attributes_of("registered", registered);
    attributes_of("plain", &local);
    SAY(cudaHostUnregister(registered));
    attributes_of("unregistered", registered);
    SAY(cudaHostUnregister(registered));
}

CASE(stream_ordered_allocation) {
    cudaStream_t stream;
    CHECK(cudaStreamCreate(&stream));
    int *data = nullptr, host[32];
    SAY(cudaMallocAsync(&data, sizeof host, stream));
    fill<<<1, 32, 0, stream>>>(data, 9);
    SAY(cudaMemcpyAsync(host, data, sizeof host, cudaMemcpyDeviceToHost, stream));
    SAY(cudaFreeAsync(data, stream));
    SAY(cudaStreamSynchronize(stream));
    print("values", host, 4);
    SAY(cudaFreeAsync(data, stream));
    SAY(cudaGetLastError());
}

CASE(memory_pools) {
    cudaMemPool_t pool, other;
    CHECK(cudaDeviceGetDefaultMemPool(&pool, 0));
    unsigned long long threshold = 1 << 20, read = 0;
    SAY(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &threshold));
    SAY(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &read));
    printf("threshold %llu\n", read);
    cudaMemPoolProps properties = {};
    properties.allocType = cudaMemAllocationTypePinned;
    properties.location.type = cudaMemLocationTypeDevice;
    SAY(cudaMemPoolCreate(&other, &properties));
    int *data = nullptr;
    SAY(cudaMallocFromPoolAsync(&data, 1024, other, nullptr));
    fill<<<1, 64>>>(data, 3);
    int host[2] = {};
    SAY(cudaMemcpy(host, data + 62, sizeof host, cudaMemcpyDeviceToHost));
    print("values", host, 2);
    SAY(cudaFreeAsync(data, nullptr));
    SAY(cudaDeviceSynchronize());
    SAY(cudaMemPoolTrimTo(other, 0));
    SAY(cudaMemPoolDestroy(other));
}

CASE(managed_memory_calls) {
    int *data = nullptr;
    CHECK(cudaMallocManaged(&data, 4096));
    data[5] = 55;
    fill<<<1, 4>>>(data, 8);
    CHECK(cudaDeviceSynchronize());
    printf("%d %d %d\n", data[0], data[3], data[5]);
    SAY(cudaMemcpy(data + 10, data, 16, cudaMemcpyDefault));
    printf("%d\n", data[13]);
    SAY(cudaMemset(data, 0, 8));
    SAY(cudaDeviceSynchronize());
    printf("%d %d\n", data[1], data[2]);
    SAY(cudaFree(data));
}
