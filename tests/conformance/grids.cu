// Blocks that depend on each other: flags, locks, tickets and grid barriers written by hand. All blocks are resident at
// once.
#include "case.cuh"

typedef unsigned u32;
typedef unsigned long long u64;

// Each block waits for the sum of the one before it: a chained scan.
__global__ void chained_scan(const int *in, int *out, volatile int *sums, volatile int *flags, u32 *ticket) {
    __shared__ int tile[128];
    __shared__ int before;
    __shared__ u32 block;
    u32 i = threadIdx.x;
    if (i == 0) block = atomicAdd(ticket, 1u);  // blocks are taken in the order in which they start
    __syncthreads();
    tile[i] = in[block * 128 + i];
    for (u32 offset = 1; offset < 128; offset *= 2) {
        __syncthreads();
        int other = i >= offset ? tile[i - offset] : 0;
        __syncthreads();
        tile[i] += other;
    }
    __syncthreads();
    if (i == 0) {
        if (block > 0)
            while (!flags[block - 1]) {
            }
        __threadfence();
        before = block > 0 ? sums[block - 1] : 0;
        sums[block] = before + tile[127];
        __threadfence();
        flags[block] = 1;
    }
    __syncthreads();
    out[block * 128 + i] = tile[i] + before;
}

CASE(look_back_over_flags) {
    static int host[64 * 128];
    for (int i = 0; i < 64 * 128; ++i) host[i] = i % 23 - 7;
    Buffer<int> in(host), out(64 * 128), sums(64), flags(64);
    Buffer<u32> ticket(1);
    chained_scan<<<64, 128>>>(in, out, sums, flags, ticket);
    sums.show("sums", 16);
    out.show_hash("scan");
}

__device__ int lock_word;
__global__ void locked_updates(u64 *sum, int *list) {
    if (threadIdx.x != 0) return;
    for (int i = 0; i < 5; ++i) {
        while (atomicCAS(&lock_word, 0, 1) != 0) {
        }
        __threadfence();
        volatile u64 *place = sum;
        *place = *place * 1 + blockIdx.x * 10 + static_cast<u64>(i);
        ++*static_cast<volatile int *>(list);
        __threadfence();
        atomicExch(&lock_word, 0);
    }
}

CASE(spin_lock_between_blocks) {
    Buffer<u64> sum(1);
    Buffer<int> list(1);
    locked_updates<<<48, 32>>>(sum, list);
    sum.show("sum");
    list.show("updates");
}

// The last block to finish adds up what all blocks left behind.
__global__ void last_block(const int *in, int *partial, int *out, u32 *done) {
    __shared__ int sums[64];
    __shared__ bool last;
    u32 i = threadIdx.x;
    sums[i] = in[blockIdx.x * 64 + i];
    for (u32 half = 32; half; half /= 2) {
        __syncthreads();
        if (i < half) sums[i] += sums[i + half];
    }
    if (i == 0) {
        partial[blockIdx.x] = sums[0];
        __threadfence();
        last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (last && i == 0) {
        int sum = 0;
        for (u32 b = 0; b < gridDim.x; ++b) sum += static_cast<volatile int *>(partial)[b];
        *out = sum;
    }
}

CASE(last_block_finishes) {
    static int host[2048];
    for (int i = 0; i < 2048; ++i) host[i] = i ^ 0x2a;
    Buffer<int> in(host), partial(32), out(1);
    Buffer<u32> done(1);
    for (int i = 0; i < 2; ++i) last_block<<<32, 64>>>(in, partial, out, done);
    out.show("sum");
    done.show("counter is back at");
}

__device__ u32 arrived;
__device__ volatile u32 generation;
static __device__ void wait_for_grid() {
    __syncthreads();
    if (threadIdx.x == 0) {
        u32 mine = generation;
        __threadfence();
        if (atomicAdd(&arrived, 1u) == gridDim.x - 1) {
            arrived = 0;
            __threadfence();
            generation = mine + 1;
        } else {
            while (generation == mine) __nanosleep(20);
        }
        __threadfence();
    }
    __syncthreads();
}

__global__ void jacobi(float *data, int n, int steps) {
    int i = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    for (int step = 0; step < steps; ++step) {
        const volatile float *from = data + (step & 1) * n;
        float *to = data + (~step & 1) * n;
        float value = i == 0 || i == n - 1 ? from[i] : 0.5f * from[i - 1] + 0.5f * from[i + 1];
        to[i] = value;
        wait_for_grid();
    }
}

CASE(grid_barrier_by_hand) {
    static float host[2 * 512];
    for (int i = 0; i < 512; ++i) host[i] = static_cast<float>(i % 16) + (i == 100 ? 1000.0f : 0);
    Buffer<float> data(host);
    jacobi<<<4, 128>>>(data, 512, 9);
    data.show_hash("cells");
}

__global__ void ping_pong(volatile int *ball, int *out) {
    if (threadIdx.x) return;
    int mine = static_cast<int>(blockIdx.x), seen = 0;
    for (int i = 0; i < 10; ++i) {
        while (*ball % 2 != mine) {
        }
        seen += *ball;
        __threadfence();
        *ball = *ball + 1;
    }
    out[mine] = seen;
}

CASE(two_blocks_take_turns) {
    Buffer<int> ball(1), out(2);
    ping_pong<<<2, 32>>>(ball, out);
    out.show("sums");
    ball.show("ball");
}

// Work is taken from a queue until it is empty.
__global__ void persistent(u32 *next, u32 items, u32 *results) {
    __shared__ u32 item;
    for (;;) {
        if (threadIdx.x == 0) item = atomicAdd(next, 1u);
        __syncthreads();
        u32 mine = item;
        __syncthreads();
        if (mine >= items) return;
        atomicAdd(results + mine, threadIdx.x * mine);
    }
}

CASE(persistent_blocks) {
    Buffer<u32> next(1), results(100);
    persistent<<<6, 32>>>(next, 100, results);
    results.show_hash("results");
}

// A lock inside a warp: only one lane wins each round, and the others must not starve it.
__global__ void lock_per_lane(int *lock, int *sum) {
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            *static_cast<volatile int *>(sum) += static_cast<int>(threadIdx.x) + 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

CASE(lock_taken_by_each_lane) {
    Buffer<int> lock(1), sum(1);
    lock_per_lane<<<2, 64>>>(lock, sum);
    sum.show("sum");
}

__global__ void many_blocks(u32 *out) {
    if (threadIdx.x == 0 && blockIdx.x % 4096 == 17) atomicAdd(out, blockIdx.x);
    if (threadIdx.x == 0) atomicAdd(out + 1, 1u);
}

CASE(grid_of_100000_blocks) {
    Buffer<u32> out(2);
    many_blocks<<<100000, 32>>>(out);
    out.show("sum, count");
}

__global__ void grid_limits(u32 *out) {
    if (blockIdx.x + 1 == gridDim.x && blockIdx.y + 1 == gridDim.y && threadIdx.x == 0) {
        out[0] = gridDim.x;
        out[1] = gridDim.y;
    }
}

CASE(wide_and_high_grids) {
    Buffer<u32> out(2);
    grid_limits<<<dim3(1, 65535), 1>>>(out);
    out.show("x, y");
    grid_limits<<<dim3(200000, 1), 1>>>(out);
    out.show("x, y");
}
