// The one call about arrays and textures that needs no texture unit.
#include <cuda_runtime_api.h>

extern "C" cudaChannelFormatDesc cudaCreateChannelDesc(int x, int y, int z, int w, cudaChannelFormatKind kind) {
    return {x, y, z, w, kind};
}
