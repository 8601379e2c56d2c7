"""The structure of a source: what is counted, what never is, and what a fix that gives up its speed is told of."""

from __future__ import annotations

import subprocess
import sys

import pytest

from beaver_tui.state import structuretext
from engine.corpora import builtin_folder
from engine.extract import extract
from engine.verdict.degeneration import lens
from engine.verdict.structure import compare, constants_changed, findings, structure
from engine.verdict.structure_rules import FEATURES

CORPUS = builtin_folder()
TASKS = sorted(path.parent.name for path in CORPUS.glob("*/reference.cu"))

KERNEL = "__global__ void k(float* x) {{ {} }}\nvoid go(float* x, int n) {{ k<<<n, 128>>>(x); }}\n"


def source(body: str) -> bytes:
    """A kernel with ``body``, and a host function that launches it."""
    return KERNEL.format(body).encode()


COUNTED = {
    "shared_tiling": [
        ("__shared__ float a[32][33], b[4]; a[0][0] = b[0];", 2),
        ("__shared__ float a[32], b[4]; a[0] = 1;", 1),
        ("extern __shared__ __align__(16) char ring[]; ring[0] = 1;", 1),
        ("__shared__ cub::BlockScan<int, 128>::TempStorage room; Scan(room);", 1),
        ("__shared__ float total;", 0),
    ],
    "wide_accesses": [
        ("float4 v = *reinterpret_cast<const float4*>(x);", 1),
        ("auto v = ((int4*)x)[0];", 1),
        ("const uint4* p = 0;", 1),
        ('asm("ld.global.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(a) : "l"(x));', 1),
        ("float2* p = 0;", 0),
    ],
    "wide_types": [("float4 v; double2 w;", 2), ("make_float4(1, 2, 3, 4);", 0)],
    "half_types": [("__half2 v; half w; __nv_bfloat16* p;", 3)],
    "warp_intrinsics": [
        ("__shfl_xor_sync(~0u, 1, 2); __ballot_sync(~0u, 1); __reduce_add_sync(~0u, 1); __syncwarp();", 3),
        ("cg::reduce(tile, 1, cg::plus<int>());", 1),
    ],
    "barriers": [('__syncthreads(); if (__syncthreads_or(1)) {} asm volatile("bar.sync 0;");', 3)],
    "tensor_cores": [
        ("wmma::mma_sync(c, a, b, c); nvcuda::wmma::mma_sync(c, a, b, c);", 2),
        ('asm volatile("mma.sync.aligned.m16n8k16.row.col" ".f32.f16.f16.f32 {%0};" :: "r"(1));', 1),
        ('asm volatile("wgmma.mma_async.sync.aligned.m64n64k16;");', 1),
    ],
    "async_copies": [
        ('asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" :: "r"(1), "l"(x));', 1),
        ("cuda::memcpy_async(block, tile, x, 4, pipe); __pipeline_memcpy_async(a, b, 16);", 2),
        ('asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.tile [%0], [%1];");', 1),
        ('asm volatile("cp.async.wait_group 0;");', 0),
    ],
    "unrolled_loops": [
        ("\n#pragma unroll\nfor (;;) {}\n#pragma unroll 4\nfor (;;) {}\n", 2),
        ("\n#pragma unroll 1\nfor (;;) {}\n#pragma unroll(1)\nfor (;;) {}\n#pragma nounroll\nfor (;;) {}\n", 0),
        ('_Pragma("unroll") for (;;) {}', 1),
    ],
    "read_only_loads": [("x[0] = __ldg(x + 1);", 1), ('asm("ld.global.nc.f32 %0, [%1];");', 1)],
    "atomics": [('atomicAdd(x, 1.0f); asm("red.global.add.u32 [%0], 1;"); atomicCAS(a, b, c);', 3)],
    "inline_assembly": [('asm volatile("nop;"); __asm__("nop;");', 2)],
    "single_thread_loops": [
        ("if (threadIdx.x == 0) { for (;;) for (;;) x[0] = 1; }", 1),
        ("const int me = threadIdx.x; if (me != 0 || x == 0) return; while (1) {}", 1),
        ("int i = blockIdx.x * blockDim.x + threadIdx.x; if (i == 0) for (;;) {}", 1),
        ("if (threadIdx.x == 0) x[0] = 1; for (;;) {}", 0),
        ("if (threadIdx.x == 0) x[0] = 1; else for (;;) {}", 0),
        ("if (threadIdx.x == 0 || warp) for (;;) {}", 0),
    ],
}


@pytest.mark.parametrize(
    ("feature", "body", "count"),
    [(feature, body, count) for feature, examples in COUNTED.items() for body, count in examples],
)
def test_what_counts_in_a_kernel(feature: str, body: str, count: int):
    assert structure(source(body)).count(feature) == count


def test_every_feature_has_a_name_and_words_of_its_own():
    assert len({feature.name for feature in FEATURES}) == len({feature.words for feature in FEATURES}) == len(FEATURES)


def test_comments_strings_and_what_is_switched_off_never_count():
    body = """
// __shared__ float a[2]; __syncthreads();
/* #pragma unroll
   __syncthreads(); */
const char* text = "__shared__ float a[2]; __syncthreads()";
#if 0
__syncthreads();
#else
__syncwarp();
#endif
"""
    found = structure(source(body))
    assert (found.count("shared_tiling"), found.count("barriers"), found.count("unrolled_loops")) == (0, 0, 0)
    assert found.count("warp_barriers") == 1


def test_lines_count_from_one():
    found = structure(b"\n__constant__ float c[3];\n\n__global__ void k(float* __restrict__ x) {}\n")
    assert found.lines("constant_memory") == (2,)
    assert found.lines("kernels") == found.lines("restrict") == (4,)


def test_a_prototype_is_no_kernel():
    assert structure(b"__global__ void k(int); __device__ int f();").sites == {}


LAUNCHES = b"""
#define THREADS 256
constexpr int kOne = 1;
__global__ void k(float* x) {}
void go(float* x, int n, cudaStream_t stream) {
    const dim3 grid(n, 2), one(1, 1);
    k<<<grid, dim3(8, 32), 0, stream>>>(x);
    k<<<one, kOne>>>(x);
    k<<<1, THREADS>>>(x);
    k<<<n, 1>>>(x);
    for (int i = 0; i < n; ++i) k<<<n, THREADS>>>(x + i);
    cudaLaunchCooperativeKernel((void*)k, grid, dim3(32), arguments, 48, stream);
    cuLaunchKernel(f, n, 1, 1, 32, 1, 1, 0, stream, a, 0);
}
"""


def test_launches_with_their_configuration():
    found = structure(LAUNCHES)
    assert [launch.configuration for launch in found.launches] == [
        "k<<<grid, dim3(8, 32), 0, stream>>>",
        "k<<<one, kOne>>>",
        "k<<<1, THREADS>>>",
        "k<<<n, 1>>>",
        "k<<<n, THREADS>>>",
        "k<<<grid, dim3(32), 48, stream>>>",
        "f<<<dim3(n, 1, 1), dim3(32, 1, 1), 0, stream>>>",
    ]
    assert found.lines("one_thread_launches") == (8,)
    assert found.lines("one_block_launches") == (9,)
    assert found.lines("one_thread_blocks") == (10,)
    assert found.lines("launches_in_loops") == (11,)
    assert found.lines("cooperative_launches") == (12,)


def test_a_name_that_stands_for_several_values_is_no_single_block():
    code = b"__global__ void k() {}\nvoid go(int n) { int blocks = 1; if (n > 9) blocks = n; k<<<blocks, 32>>>(); }"
    assert structure(code).count("one_block_launches") == 0
    assert structure(code.replace(b"blocks = n;", b"n = 0;")).count("one_block_launches") == 1


def test_a_launch_that_is_only_repeated_is_in_no_loop():
    code = b"__global__ void k(float* x) {}\nvoid go(float* x) { for (int i = 0; i < 100; ++i) k<<<8, 32>>>(x); }"
    assert structure(code).count("launches_in_loops") == 0
    swapped = code.replace(b"k<<<8, 32>>>(x);", b"{ k<<<8, 32>>>(x); std::swap(x, y); }")
    assert structure(swapped).count("launches_in_loops") == 1


def test_a_launch_in_a_function_that_is_called_in_a_loop_is_in_that_loop():
    code = b"""__global__ void k() {}
static void step(int i) { k<<<i, 32>>>(); }
void go(int n) { for (int i = 0; i < n; ++i) step(i); }"""
    assert structure(code).lines("launches_in_loops") == (2,)


def test_the_body_of_a_macro_is_read_as_text_and_marked():
    code = b"""
#define LOAD(p) __ldg(reinterpret_cast<const float4*>(p)) /* __syncthreads() */
#define WAIT \\
    __syncthreads()
"""
    found = structure(code)
    assert found.count("read_only_loads") == found.count("wide_accesses") == found.count("barriers") == 1
    assert found.lines("barriers") == (4,)
    assert found.is_approximate("read_only_loads")


def test_a_macro_that_nothing_names_does_not_count():
    code = b"#define WIDE(p) reinterpret_cast<float4*>(p)\n#define WIDER(p) WIDE(p)\n"
    assert structure(code + source("x[0] = 1;")).count("wide_accesses") == 0
    assert structure(code + source("WIDER(x)[0] = v;")).count("wide_accesses") == 1
    assert structure(code + source("x[0] = 1;")).unused == ()


def test_a_launch_in_a_macro():
    code = b"#define GO(n) k<3><<<dim3(1, 1), THREADS, 0, s>>>(n)\n#define THREADS 1\n__global__ void k(int n) {}\n"
    found = structure(code)
    assert [launch.configuration for launch in found.launches] == ["k<<<dim3(1, 1), THREADS, 0, s>>>"]
    assert (found.count("one_thread_launches"), found.count("kernels"), found.is_approximate("launches")) == (
        1,
        1,
        True,
    )


def test_libraries_count_where_they_compute():
    body = (
        "cublasCreate(&h); cublasSetStream(h, s); cublasSgemm(h); cub::DeviceScan::ExclusiveSum(a); thrust::sort(b, c);"
    )
    assert structure(source(body)).count("libraries") == 3


def test_other_names_of_types_and_namespaces_are_seen_through():
    body = "Quad* p; V* q; Scan::TempStorage room; group::this_cluster();"
    names = "using Quad = float4;\ntypedef int4 V;\nusing Scan = cub::BlockScan<int, 128>;\nnamespace group = cooperative_groups;\n"
    found = structure(names.encode() + source(body))
    assert (found.count("wide_accesses"), found.count("libraries"), found.count("clusters")) == (2, 1, 1)


def test_a_kernel_that_nothing_launches_any_more_does_not_count():
    code = b"""
__device__ float tiled(float* x) { __shared__ float tile[32]; return tile[0]; }
__global__ void fast(float* x) { tiled(x); }
__global__ void slow(float* x) {}
void go(float* x) { slow<<<1, 1>>>(x); }
"""
    found = structure(code)
    assert (found.count("kernels"), found.count("shared_tiling")) == (1, 0)
    assert [(unused.name, unused.line) for unused in found.unused] == [("tiled", 2), ("fast", 3)]
    back = structure(code.replace(b"slow<<<", b"fast<<<"))
    assert (back.count("shared_tiling"), [unused.name for unused in back.unused]) == (1, ["slow"])


def test_a_host_function_of_its_own_file_that_nothing_calls_does_not_count():
    code = b"""__global__ void k() {}
namespace { void old() { k<<<1, 1>>>(); } }
static void older() { k<<<1, 1>>>(); }
void go(int n) { k<<<n, 32>>>(); }"""
    found = structure(code)
    assert [launch.configuration for launch in found.launches] == ["k<<<n, 32>>>"]
    assert [unused.name for unused in found.unused] == ["old", "older"]


def test_a_file_without_launches_is_launched_by_another():
    assert structure(b"__global__ void k() { __shared__ float t[2]; t[0] = 1; }").count("shared_tiling") == 1


def test_what_does_not_parse_costs_only_itself():
    broken = source("__shared__ float tile[4]; tile[0] = 1;\nwibble )) ;\n__syncthreads();\n")
    found = structure(broken)
    assert found.errors == (2,)
    assert (found.count("kernels"), found.count("shared_tiling"), found.count("barriers")) == (1, 1, 1)


PYTHON = b'''
from torch.utils.cpp_extension import load_inline

cuda = """
#include <cuda_runtime.h>
__global__ void k(float* x) { __shared__ float tile[32]; tile[0] = 1; }
void go(float* x, int n) { k<<<n, 128>>>(x); }
"""
# __shared__ float none[2];
module = load_inline(name="k", cuda_sources=cuda, cpp_sources="void go(float* x, int n);")
'''


@pytest.mark.parametrize("code", [PYTHON, PYTHON + b"def broken(:\n"], ids=["Python", "no Python any more"])
def test_of_python_the_strings_with_cuda_are_read(code: bytes):
    found = structure(code, ".py")
    assert (found.lines("kernels"), found.lines("shared_tiling"), found.lines("launches")) == ((6,), (6,), (7,))
    assert found.errors == ()


@pytest.mark.filterwarnings("error")
def test_python_with_odd_escapes_is_read_without_a_word():
    assert structure(b'cuda = "__global__ void k() {} // \\d"', ".py").count("kernels") == 1


@pytest.mark.parametrize("suffix", [".cu", ".py"])
@pytest.mark.parametrize(
    "code",
    [b"", b"\xff\xfe\x00", b"(" * 5000, b"k<<<" * 500, b"import torch\nx = '''\n", bytes(range(256)) * 20],
    ids=["nothing", "no text", "brackets", "launches", "Python", "all bytes"],
)
def test_any_bytes_will_do(code: bytes, suffix: str):
    assert structure(code, suffix).count("shared_tiling") == 0


def test_names_are_harmless_to_show():
    found = structure(b"__global__ void k() {}\nvoid go() { k<<<a[\x1b]0;title\x07], 32>>>(); }")
    assert "\x1b" not in "".join(structuretext.launches(found))


def test_changes_in_words():
    before = structure(source("__shared__ float a[4], b[4]; a[0] = b[0]; float4* p; float4* q; __syncthreads();"))
    after = structure(source("float4* p; if (threadIdx.x == 0) for (;;) {}"))
    changes = compare(before, after)
    assert [(change.feature, change.kind) for change in changes] == [
        ("single_thread_loops", "gained"),
        ("shared_tiling", "lost"),
        ("wide_accesses", "fewer"),
        ("barriers", "lost"),
    ]
    assert changes[1].lines_before == (1,)
    assert findings(changes) == (
        "loops run by one thread gained (0 -> 1)",
        "shared tiling lost (2 -> 0)",
        "128-bit loads fewer (2 -> 1)",
    )
    assert findings(compare(after, before)) == ()


def test_the_verdict_in_one_line():
    before = structure(source("__shared__ float a[4], b[4]; a[0] = b[0]; float4* p; __syncthreads();"))
    after = structure(
        source("x[0] = 1;").replace(b"go(float* x, int n) {", b"go(float* x, int n) { cudaDeviceSynchronize();")
    )
    found = lens(before, after)
    assert (
        structuretext.verdict_line("passed", 0.3149, found)
        == "passes, 0.31x, lost: shared tiling (2 -> 0), 128-bit loads (1 -> 0); fell back to: waits on the host (0 -> 1)"
    )
    assert structuretext.evidence(found, "start", "this") == [
        "lost shared tiling (2 -> 0)  start 1 · this 1",
        "lost 128-bit loads (1 -> 0)  start 1 · this 1",
        "fell back to waits on the host (0 -> 1)  this 2",
        "degeneration score 0.82",
    ]
    assert structuretext.evidence((), "start", "this") == []


def test_a_computation_on_the_host_is_a_lost_kernel():
    host = structure(b"void go(float* x, int n) { for (int i = 0; i < n; ++i) x[i] *= 2; }")
    assert findings(compare(structure(source("")), host)) == ("kernels lost (1 -> 0)", "launches lost (1 -> 0)")


def test_fewer_kernels_are_no_loss():
    two = b"__global__ void a() {}\n__global__ void b() {}\nvoid go() { a<<<n, 32>>>(); b<<<n, 32>>>(); }"
    assert findings(compare(structure(two), structure(source("")))) == ()


def test_rows_of_the_pane():
    start = structure(source("__shared__ float a[4], b[4]; a[0] = b[0]; __syncthreads();"))
    this = structure(b"#define WAIT __syncthreads()\n" + source("\n__shared__ float a[4]; WAIT; a[0] = 1;\n"))
    rows = {row.feature: row for row in structuretext.rows(this, start=start, previous=start)}
    tiles, barriers = rows["shared_tiling"], rows["barriers"]
    assert (tiles.words, tiles.start, tiles.previous, tiles.this, tiles.reference) == (
        "shared tiling",
        "2",
        "2",
        "1",
        "",
    )
    assert (tiles.lines, tiles.change, tiles.tone) == ("3", "fewer", "worse")
    assert (barriers.this, barriers.change, barriers.tone) == ("~1", "", "")
    back = {row.feature: row for row in structuretext.rows(start, start=this, reference=this)}
    assert (back["shared_tiling"].tone, back["shared_tiling"].reference) == ("better", "1")
    assert set(rows) == {"kernels", "launches", "shared_tiling", "barriers"}


def test_notes_of_the_pane():
    code = b"__global__ void old() {}\n" + source("wibble )) ; WAIT;") + b"#define WAIT __syncthreads()\n"
    assert structuretext.notes(structure(code)) == [
        "1 place does not parse (line 2): counted as far as it could be read",
        "~ marks counts that were read as text: in macros, or where the source does not parse",
        "nothing calls old (line 1): not counted",
    ]
    assert structuretext.numbers(range(1, 10)) == "1, 2, 3, 4, 5, 6 and 3 more"
    assert structuretext.verdict_line("illegal_memory_access", None, []) == "illegal memory access, structure kept"


def test_constants_that_shrank():
    before = structure(b"constexpr int kTile = 128, kSame = 4;\n#define BLOCK 256\nint i = 3;\nconst int kOther = f();")
    after = structure(b"constexpr int kTile = 16, kSame = 4;\n#define BLOCK 32\nint i = 1;\nconst int kOther = 1;")
    assert constants_changed(before, after) == ("kTile 128 -> 16", "BLOCK 256 -> 32")
    assert structuretext.notes(after, before) == ["constants: kTile 128 -> 16, BLOCK 256 -> 32"]
    assert structuretext.notes(after) == []


def last_answer(task: str, script: str) -> bytes:
    """The last recorded answer of a script, taken out of its reply where it is one."""
    path = sorted((CORPUS / task / "answers" / script).iterdir())[-1]
    if path.suffix == ".md":
        found = extract(path.read_text(), suffix=".cu", start=(CORPUS / task / "broken.cu").read_text())
        assert found.source is not None
        return found.source.encode()
    return path.read_bytes()


def against_reference(task: str, script: str) -> tuple[str, ...]:
    reference = structure((CORPUS / task / "reference.cu").read_bytes())
    return findings(compare(reference, structure(last_answer(task, script))))


SLOW = tuple(feature.words for feature in FEATURES if feature.role == "slow")


def test_degenerate_answers_are_told_what_they_gave_up():
    named = {task: against_reference(task, "degenerate") for task in TASKS}
    # 31 of 32: the slow radix sort keeps all of its structure and takes one bit a pass where the reference takes four.
    assert [task for task, found in named.items() if not found] == ["radix_sort_pairs"]
    reference = structure((CORPUS / "radix_sort_pairs" / "reference.cu").read_bytes())
    slow = structure(last_answer("radix_sort_pairs", "degenerate"))
    assert constants_changed(reference, slow) == ("kDigitBits 4 -> 1",)
    assert len(TASKS) == 32
    assert sum(any("shared tiling" in one for one in found) for found in named.values()) == 17


def test_good_answers_fall_back_to_nothing():
    named = {task: against_reference(task, "good") for task in TASKS}
    slow = {task: found for task, found in named.items() if any(one.startswith((*SLOW, "kernels")) for one in found)}
    assert slow == {}


def test_all_built_in_sources_parse_but_one():
    sources = [path for task in TASKS for path in (CORPUS / task).rglob("*.cu")]
    wrong = {str(path.relative_to(CORPUS)): structure(path.read_bytes()).errors for path in sources}
    # A lambda with __device__ behind its brackets is an extension that the grammar does not know.
    assert {name: lines for name, lines in wrong.items() if lines} == {"scan_rows/answers/good/1.cu": (54, 55)}


def test_the_parser_is_loaded_only_where_a_source_is_read():
    script = "import sys, engine.verdict.structure; print('tree_sitter' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


def test_deep_nesting_is_no_recursion():
    nested = b"__global__ void k() {" + b"if (threadIdx.x == 0) {" * 2000 + b"for (;;) {}" + b"}" * 2001
    assert structure(nested).count("single_thread_loops") == 1
