// What -use_fast_math makes of plain C++: approximate division, roots and functions, and denormals flushed to zero.
// nvcc: -use_fast_math
#include "elementwise.cuh"

MAP2(flushed_denormals, f32, f32, a + b)
MAP2(flushed_denormals, f32, f32, a * b)
MAP3(flushed_denormals, f32, f32, a * b - c)
MAP2(flushed_denormals, u32, f32, a < b)
MAP2(doubles_are_kept, f64, f64, a / b)
MAP2_WITHIN(division, "f32 ulp 2", f32, f32, a / b)
MAP1_WITHIN(roots, "f32 ulp 2", f32, f32, sqrtf(a))
MAP1_WITHIN(roots, "f32 ulp 2", f32, f32, 1.0f / sqrtf(a))
MAP1_WITHIN(sine_and_cosine, "f32 absolute 1e-6", f32, f32, sinf(fabsf(a) < 3.2f ? a : 1.0f))
MAP1_WITHIN(sine_and_cosine, "f32 absolute 1e-6", f32, f32, cosf(fabsf(a) < 3.2f ? a : 1.0f))
MAP1_WITHIN(exponential, "f32 relative 1e-5", f32, f32, expf(a * 0.01f))
MAP1_WITHIN(logarithm, "f32 relative 1e-6 absolute 1e-6", f32, f32, logf(a))
MAP1_WITHIN(power, "f32 relative 1e-5", f32, f32, powf(fabsf(a), 0.25f))
MAP1_WITHIN(hyperbolic_tangent, "f32 relative 1e-3", f32, f32, tanhf(a))
