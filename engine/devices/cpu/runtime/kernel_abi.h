/* What translated kernels and the runtime know of each other. C11 for the kernels' side, C++17 for the runtime's.
 *
 * Addresses. Device memory lives in one window of the address space, handed out as BEAVER_WINDOW + offset and never mapped
 * there for device-only memory: host code that dereferences a device pointer faults, as it does with a GPU. The bytes are
 * mapped BEAVER_ALIAS further up. Kernels check every access against a table of pages at a fixed address: an open page is accessed
 * at once, anything else goes through beaver_access(), which knows exact bounds, other spaces and the tools. Memory is mapped in
 * chunks of 2 MiB, and in a plain run every page of a chunk is open; under memcheck those are that one allocation fills.
 */
#ifndef BEAVER_KERNEL_ABI_H
#define BEAVER_KERNEL_ABI_H

#include <stdint.h>

#include "device_figures.h"

#ifdef __cplusplus
extern "C" {
#endif

#define BEAVER_ABI 4

#define BEAVER_CONTROL 0x1d0000000000ull       /* one page: beaver_control */
#define BEAVER_PAGES 0x1e0000000000ull         /* one byte per page */
#define BEAVER_SHARED_WINDOW 0x1f0000000000ull /* generic address of shared address 0 */
#define BEAVER_WINDOW 0x200000000000ull
#define BEAVER_WINDOW_SIZE (1ull << 40)
#define BEAVER_ALIAS 0x100000000000ull
#define BEAVER_CHUNK_SHIFT 21
#define BEAVER_PAGE_SHIFT 9 /* cudaMalloc's granularity: most of a small array is whole pages too */

enum { BEAVER_CLOSED = 0, BEAVER_OPEN = 1, BEAVER_WATCHED = 2 }; /* states of a page */

/* flags of an access */
enum {
    BEAVER_READ = 1,
    BEAVER_WRITE = 2,
    BEAVER_ATOMIC = 4, /* together with READ and WRITE */
    BEAVER_GENERIC = 8 /* the instruction names no space: shared and local addresses are allowed */
};

typedef struct beaver_control {
    volatile uint32_t poll; /* not 0: beaver_poll() wants to see every running thread at its next backward branch */
} beaver_control;

/* A place in the source. ``line`` 0: unknown. ``offset`` counts 16 bytes an instruction, from the function's first. */
typedef struct beaver_site {
    const char *file; /* as .file gives it */
    const char *function; /* mangled name of the PTX function that the instruction stands in */
    uint32_t line;
    uint32_t offset;
} beaver_site;

typedef struct beaver_block {
    uint32_t ctaid[3], ntid[3], nctaid[3];
    uint32_t shared_size;  /* bytes from BEAVER_SHARED_BASE: static, then dynamic */
    uint32_t dynamic_base; /* shared address of the extern array */
    uint32_t dynamic_size; /* bytes */
    uint32_t params_size;
    const uint8_t *params; /* the kernel's parameters, laid out as the PTX says */
    uint64_t workspace;    /* %envreg1:%envreg2 of a cooperative launch: a device address; 0 in any other launch */
    uint64_t grid;         /* %gridid */
} beaver_block;

/* One CUDA thread, as its kernel sees it. The runtime's own fields follow in its derived type. */
typedef struct beaver_thread {
    uint32_t tid[3];
    uint32_t lane;   /* 0..31 */
    uint32_t linear; /* x + y * ntid.x + z * ntid.x * ntid.y */
    uint32_t spins;  /* looks at memory since the last yield, see beaver_look() */
    const beaver_block *block;
    uint8_t *shared;       /* storage of shared address BEAVER_SHARED_BASE */
    uint32_t shared_limit; /* shared bytes that need no further check; 0 when a tool watches shared memory */
    uint8_t *local;     /* this thread's local memory (it begins at a multiple of 32), its first free byte and its end: host addresses, */
    uint8_t *local_top; /* which are the generic addresses of local memory too */
    uint8_t *local_end;
    uint8_t *stack_limit; /* the host stack must not grow below */
} beaver_thread;

typedef struct beaver_param {
    uint32_t offset, size;
} beaver_param;

typedef struct beaver_kernel {
    const char *name; /* mangled */
    void (*thread)(beaver_thread *);
    void (*block)(beaver_thread *); /* all threads of a block in turn; NULL when threads may wait for each other */
    const beaver_param *params;
    uint32_t param_count, param_bytes;
    uint32_t static_shared; /* bytes */
    uint32_t local_bytes;   /* per thread, along the deepest chain of calls that is known */
    uint32_t recursive;     /* calls itself, or through pointers: local_bytes is no bound */
    uint32_t registers;     /* per thread, from the cubin; 0 unknown */
    uint32_t max_threads;   /* product of .maxntid, 0 none */
    uint32_t cluster[3];    /* blocks of a cluster (__cluster_dims__); 0 none is asked for */
    const beaver_site *site;
    uint32_t dynamic_align; /* bytes: the largest that an extern shared array it reaches asks for; 0 it reaches none */
} beaver_kernel;

typedef struct beaver_relocation {
    uint64_t offset;           /* in the variable */
    const uint64_t *variable;  /* address slot of the variable that is pointed to, or NULL */
    void (*function)(void);    /* or the function */
    int64_t addend;
    uint32_t shift, width;     /* the bytes [shift, shift + width) of the address are stored; 0 and 8 for all of it */
} beaver_relocation;

enum { BEAVER_GLOBAL_VARIABLE = 0, BEAVER_CONSTANT_VARIABLE = 1, BEAVER_MANAGED_VARIABLE = 2 };

typedef struct beaver_variable {
    const char *name;
    uint64_t size;
    uint32_t align;
    uint32_t kind;
    uint64_t *address; /* the runtime writes the device address here before any kernel runs */
    const uint8_t *init; /* NULL: zeros */
    uint64_t init_size;
    const beaver_relocation *relocations;
    uint32_t relocation_count;
} beaver_variable;

/* What a kernels' object exports, as the symbol ``beaver_module``. */
typedef struct beaver_module {
    uint32_t abi;
    uint32_t kernel_count;
    const beaver_kernel *kernels;
    const beaver_variable *variables;
    uint32_t variable_count;
} beaver_module_type;

/* ---- slow paths of memory. They return the host address to use, or do not return. */
uint8_t *beaver_access(beaver_thread *, uint64_t address, uint32_t size, uint32_t flags, const beaver_site *);
uint8_t *beaver_shared_access(beaver_thread *, uint32_t address, uint32_t size, uint32_t flags, const beaver_site *);
uint8_t *beaver_local_access(beaver_thread *, uint64_t address, uint32_t size, uint32_t flags, const beaver_site *);
/* which space a generic address is in: 'g' global (or nowhere), 's' shared, 'l' local, 'c' constant, 'p' parameters */
int beaver_space(beaver_thread *, uint64_t address);

/* ---- ends. None of these returns, but beaver_poll() when nothing is to be done. */
void beaver_exit(beaver_thread *);
void beaver_trap(beaver_thread *, const beaver_site *);
void beaver_wild_call(beaver_thread *, const beaver_site *); /* through a pointer that points to no function of its type */
void beaver_stack_overflow(beaver_thread *, const beaver_site *);
/* ``what`` for example "wgmma.mma_async": the program ends with the sentence that it needs a GPU */
void beaver_unsupported(beaver_thread *, const char *what, const beaver_site *);
void beaver_poll(beaver_thread *, const beaver_site *);

/* ---- waiting */
void beaver_yield(beaver_thread *, const beaver_site *); /* nanosleep, and what spins */
/* ``count`` 0: all threads of the block. Exited threads count as arrived. */
void beaver_bar_sync(beaver_thread *, uint32_t barrier, uint32_t count, const beaver_site *);
void beaver_cluster_sync(beaver_thread *, const beaver_site *); /* all threads of the cluster, which is one block */
void beaver_bar_arrive(beaver_thread *, uint32_t barrier, uint32_t count, const beaver_site *);
enum { BEAVER_RED_POPC = 0, BEAVER_RED_AND = 1, BEAVER_RED_OR = 2 };
uint32_t beaver_bar_red(beaver_thread *, uint32_t barrier, uint32_t count, int op, uint32_t predicate, const beaver_site *);
void beaver_warp_sync(beaver_thread *, uint32_t mask, const beaver_site *);
enum { BEAVER_SHFL_UP = 0, BEAVER_SHFL_DOWN = 1, BEAVER_SHFL_BFLY = 2, BEAVER_SHFL_IDX = 3 };
uint32_t beaver_shfl(beaver_thread *, int mode, uint32_t value, uint32_t b, uint32_t c, uint32_t mask, uint8_t *predicate,
                     const beaver_site *);
enum { BEAVER_VOTE_ALL = 0, BEAVER_VOTE_ANY = 1, BEAVER_VOTE_UNI = 2, BEAVER_VOTE_BALLOT = 3 };
uint32_t beaver_vote(beaver_thread *, int mode, uint32_t predicate, uint32_t mask, const beaver_site *);
enum { BEAVER_MATCH_ANY = 0, BEAVER_MATCH_ALL = 1 };
uint32_t beaver_match(beaver_thread *, int mode, uint64_t value, uint32_t mask, uint8_t *predicate, const beaver_site *);
enum {
    BEAVER_REDUX_ADD, BEAVER_REDUX_MIN_U32, BEAVER_REDUX_MAX_U32, BEAVER_REDUX_MIN_S32, BEAVER_REDUX_MAX_S32,
    BEAVER_REDUX_AND, BEAVER_REDUX_OR, BEAVER_REDUX_XOR
};
uint32_t beaver_redux(beaver_thread *, int op, uint32_t value, uint32_t mask, const beaver_site *);
uint32_t beaver_active_mask(beaver_thread *, const beaver_site *);
uint32_t beaver_elect(beaver_thread *, uint32_t mask, uint8_t *predicate, const beaver_site *);

/* ---- matrices: computed once per warp, by the last lane to arrive */
enum {
    BEAVER_F16, BEAVER_BF16, BEAVER_TF32, BEAVER_F32, BEAVER_F64, BEAVER_S8, BEAVER_U8, BEAVER_S4, BEAVER_U4, BEAVER_B1,
    BEAVER_S32, BEAVER_E4M3, BEAVER_E5M2
};
typedef struct beaver_mma_shape {
    uint8_t m, n;
    uint16_t k;             /* up to 256 */
    uint8_t d, a, b, c;     /* element types */
    uint8_t a_col, b_row;   /* not 0: the layout differs from row (A) or col (B) */
    uint8_t satfinite;
    uint8_t fragments;      /* 0: mma's registers as the PTX manual lays them out; 1: wmma's, our own layout */
    uint8_t bit_op;         /* for b1: 0 xor.popc, 1 and.popc */
} beaver_mma_shape;
/* Registers: 32-bit words; f64 fragments take two words each, low first. */
void beaver_mma(beaver_thread *, const beaver_mma_shape *, uint32_t *d, const uint32_t *a, const uint32_t *b,
                const uint32_t *c, const beaver_site *);
/* ``address`` is a shared address; ``count`` 1, 2 or 4 matrices of 8 x 8 16-bit elements */
void beaver_ldmatrix(beaver_thread *, uint32_t address, int count, int transposed, uint32_t *d, const beaver_site *);
void beaver_stmatrix(beaver_thread *, uint32_t address, int count, int transposed, const uint32_t *s, const beaver_site *);
uint32_t beaver_movmatrix(beaver_thread *, uint32_t value, const beaver_site *);
typedef struct beaver_wmma_tile {
    uint8_t rows, cols, row_major, type; /* the tile as it lies in memory */
    uint8_t words;                       /* registers per lane (f64: two words each) */
    uint8_t space;                       /* 'g' global, 's' shared (the address is a shared address), 0 generic */
} beaver_wmma_tile;
/* ``stride`` in elements */
void beaver_wmma_load(beaver_thread *, const beaver_wmma_tile *, uint32_t *d, uint64_t address, uint32_t stride,
                      const beaver_site *);
void beaver_wmma_store(beaver_thread *, const beaver_wmma_tile *, const uint32_t *s, uint64_t address, uint32_t stride,
                       const beaver_site *);

/* ---- device library calls */
int beaver_vprintf(beaver_thread *, uint64_t format, uint64_t arguments, const beaver_site *);
void beaver_assertfail(beaver_thread *, uint64_t message, uint64_t file, uint32_t line, uint64_t function,
                       const beaver_site *);
uint64_t beaver_malloc(beaver_thread *, uint64_t size);
void beaver_free(beaver_thread *, uint64_t address, const beaver_site *);
uint64_t beaver_clock(void);
uint64_t beaver_nanoseconds(void);

#ifdef __cplusplus
}
#endif
#endif
