/* opencl_abi_test.c: compares our facts about OpenCL with Khronos' headers. */
#if __has_include(<CL/cl_layer.h>)
#    define CL_TARGET_OPENCL_VERSION 300
#    define CL_USE_DEPRECATED_OPENCL_1_0_APIS
#    define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#    define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#    include <CL/cl_icd.h>
#    include <CL/cl_layer.h>
#endif

#include <criterion/criterion.h>

#ifdef CL_LAYER_API_VERSION

#    include "trace/devices/opencl/opencl_abi.h"

#    define TRACE_X(name, value)                                               \
        _Static_assert(OPENCL_##name == CL_##name, #name);
OPENCL_CONSTANTS(TRACE_X)
#    undef TRACE_X

#    define TRACE_X(slot, name, type, parameters)                              \
        _Static_assert(slot == offsetof(cl_icd_dispatch, cl##name) /           \
                                   sizeof(void *),                             \
                       #name);
OPENCL_FUNCTIONS(TRACE_X)
#    undef TRACE_X

_Static_assert(OPENCL_SLOTS * sizeof(void *) == sizeof(cl_icd_dispatch), "");
_Static_assert((int)OPENCL_LAYER_NAME == CL_LAYER_NAME, "");
_Static_assert((int)OPENCL_LAYER_API_VERSION == CL_LAYER_API_VERSION, "");
_Static_assert((int)OPENCL_LAYER_API_VERSION_100 == CL_LAYER_API_VERSION_100,
               "");

/* The parameters of formats, shapes and colors are pointers to what the layer
 * does not look into. */
#    define TRACE_X(slot, name, type, parameters)                              \
        {#name, __builtin_types_compatible_p(                                  \
                    type(*) parameters,                                        \
                    __typeof__(((cl_icd_dispatch *)0)->cl##name))},
static const struct {
    const char *name;
    bool same;
} functions[] = {OPENCL_FUNCTIONS(TRACE_X)};
#    undef TRACE_X

static const char *const opaque[] = {"CreateImage", "CreateImage2D",
                                     "CreateImage3D",
                                     "CreateImageWithProperties"};

Test(opencl_abi, declares_functions_as_the_headers_do)
{
    for (size_t i = 0; i < sizeof(functions) / sizeof(*functions); i++) {
        bool differs = false;

        for (size_t j = 0; j < sizeof(opaque) / sizeof(*opaque); j++)
            differs |= !strcmp(functions[i].name, opaque[j]);
        cr_expect_neq(functions[i].same, differs, "%s", functions[i].name);
    }
}

#else

Test(opencl_abi, declares_functions_as_the_headers_do)
{
    cr_skip_test("no OpenCL headers (opencl-c-headers)");
}

#endif
