// Approximate instructions, and the functions of libdevice that are built of them. A GPU computes the approximations in
// tables of its own: results agree within the errors that the PTX ISA (section 9.7.3) and the CUDA guide (mathematical
// functions) state.
#include "elementwise.cuh"

PTX2_WITHIN(divide_approximate, "f32 ulp 2", f32, f32, "div.approx.f32")
PTX2_WITHIN(divide_approximate, "f32 ulp 2", f32, f32, "div.full.f32")
PTX2_WITHIN(divide_approximate, "f32 ulp 2", f32, f32, "div.approx.ftz.f32")
PTX1_WITHIN(reciprocal_approximate, "f32 ulp 1", f32, f32, "rcp.approx.f32")
PTX1_WITHIN(reciprocal_approximate, "f32 ulp 1", f32, f32, "rcp.approx.ftz.f32")
PTX1_WITHIN(reciprocal_approximate_f64, "f64 relative 2e-6", f64, f64, "rcp.approx.ftz.f64")
PTX1_WITHIN(square_root_approximate, "f32 ulp 2", f32, f32, "sqrt.approx.f32")
PTX1_WITHIN(square_root_approximate, "f32 ulp 2", f32, f32, "sqrt.approx.ftz.f32")
PTX1_WITHIN(square_root_approximate, "f32 ulp 2", f32, f32, "rsqrt.approx.f32")
PTX1_WITHIN(square_root_approximate_f64, "f64 relative 2e-6", f64, f64, "rsqrt.approx.ftz.f64")
PTX1_WITHIN(exponential_approximate, "f32 ulp 2", f32, f32, "ex2.approx.f32")
PTX1_WITHIN(exponential_approximate, "f32 ulp 2", f32, f32, "ex2.approx.ftz.f32")
PTX1_WITHIN(logarithm_approximate, "f32 relative 5e-7 absolute 5e-7", f32, f32, "lg2.approx.f32")
PTX1_WITHIN(logarithm_approximate, "f32 relative 5e-7 absolute 5e-7", f32, f32, "lg2.approx.ftz.f32")
PTX1_WITHIN(hyperbolic_tangent_approximate, "f32 relative 1e-3", f32, f32, "tanh.approx.f32")
// The stated bound of sin and cos holds between -pi and pi only.
MAP1_WITHIN(sine_approximate, "f32 absolute 1e-6", f32, f32, __sinf(fabsf(a) < 3.2f ? a : 1.0f))
MAP1_WITHIN(sine_approximate, "f32 absolute 1e-6", f32, f32, __cosf(fabsf(a) < 3.2f ? a : 1.0f))

#define FUNCTION(name, function, bound)                       \
    MAP1_WITHIN(name, "f32 " bound, f32, f32, function##f(a)) \
    MAP1_WITHIN(JOIN(name, f64), "f64 " bound, f64, f64, function(a))
FUNCTION(exponential, exp, "ulp 2")
FUNCTION(exponential, exp2, "ulp 2")
FUNCTION(exponential, exp10, "ulp 2")
FUNCTION(exponential, expm1, "ulp 2")
FUNCTION(logarithm, log, "ulp 2")
FUNCTION(logarithm, log2, "ulp 2")
FUNCTION(logarithm, log10, "ulp 2")
FUNCTION(logarithm, log1p, "ulp 2")
FUNCTION(trigonometry, sin, "ulp 2")
FUNCTION(trigonometry, cos, "ulp 2")
FUNCTION(trigonometry, tan, "ulp 4")
FUNCTION(inverse_trigonometry, asin, "ulp 2")
FUNCTION(inverse_trigonometry, acos, "ulp 2")
FUNCTION(inverse_trigonometry, atan, "ulp 2")
FUNCTION(hyperbolic, sinh, "ulp 4")
FUNCTION(hyperbolic, cosh, "ulp 2")
FUNCTION(hyperbolic, tanh, "ulp 2")
FUNCTION(error_function, erf, "ulp 2")
FUNCTION(error_function, erfc, "ulp 5")
MAP1_WITHIN(logarithm_of_gamma, "f32 relative 1e-6 absolute 1e-6", f32, f32, lgammaf(a))
MAP1_WITHIN(logarithm_of_gamma_f64, "f64 relative 1e-14 absolute 1e-14", f64, f64, lgamma(a))
FUNCTION(gamma_function, tgamma, "ulp 11")
FUNCTION(roots, sqrt, "ulp 1")
FUNCTION(roots, cbrt, "ulp 2")
FUNCTION(roots, rsqrt, "ulp 2")

#define FUNCTION2(name, function, bound)                         \
    MAP2_WITHIN(name, "f32 " bound, f32, f32, function##f(a, b)) \
    MAP2_WITHIN(JOIN(name, f64), "f64 " bound, f64, f64, function(a, b))
FUNCTION2(power, pow, "ulp 4")
FUNCTION2(power, hypot, "ulp 3")
FUNCTION2(arc_tangent, atan2, "ulp 3")
FUNCTION2(remainders, fmod, "ulp 0")
FUNCTION2(remainders, remainder, "ulp 0")
FUNCTION2(neighbours, nextafter, "ulp 0")
FUNCTION2(neighbours, fdim, "ulp 0")
FUNCTION2(extremes, fmin, "ulp 0")
FUNCTION2(extremes, fmax, "ulp 0")

MAP1(exponents, s32, f32, ilogbf(a))
MAP1(exponents, f32, f32, logbf(a))
MAP1(exponents, f64, f64, ldexp(a, 3))
MAP1(exponents, f64, f64, scalbn(a, -1060))
MAP_STEP(exponents, "", "frexp", u64, f64, 1, 99, {
    int exponent = 0;
    double fraction = frexp(a, &exponent);
    r = static_cast<u64>(__double_as_longlong(fraction)) ^ static_cast<u64>(static_cast<u32>(exponent));
})
MAP_STEP(integer_and_fraction, "", "modf", f32, f32, 1, 99, {
    float whole;
    r = modff(a, &whole);
    r = whole == 0.0f ? r : whole;
})
MAP_STEP(sine_and_cosine, "f64 ulp 2", "sincos", f64, f64, 1, 99, {
    double sine, cosine;
    sincos(a, &sine, &cosine);
    r = fabs(sine) > 0.7 ? sine : cosine;
})
MAP1_WITHIN(fast_functions, "f32 relative 1e-5", f32, f32, __expf(a * 0.01f))
MAP1_WITHIN(fast_functions, "f32 relative 1e-5", f32, f32, __fdividef(a, 3.0f))
MAP1_WITHIN(fast_functions, "f32 relative 1e-5", f32, f32, __powf(fabsf(a), 0.25f))
MAP1_WITHIN(normal_distribution, "f32 ulp 6", f32, f32, normcdff(a))
MAP1_WITHIN(normal_distribution, "f32 ulp 6", f32, f32, erfinvf(a))
MAP1_WITHIN(bessel, "f64 absolute 1e-14", f64, f64, fabs(a) < 1e3 ? j0(a) : 0.0)
