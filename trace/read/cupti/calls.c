/* calls.c: what calls of the runtime and the driver do, by their ids. */
#include "decoder.h"

/* X(domain, number, symbol, role). Calls whose device records arrived are
 * launches anyway; the table is for calls without one. */
#define ROLES(X)                                                               \
    X(RUNTIME, 211, "cudaLaunchKernel", LAUNCH)                                \
    X(RUNTIME, 214, "cudaLaunchKernel_ptsz", LAUNCH)                           \
    X(RUNTIME, 269, "cudaLaunchCooperativeKernel", LAUNCH)                     \
    X(RUNTIME, 270, "cudaLaunchCooperativeKernel_ptsz", LAUNCH)                \
    X(RUNTIME, 311, "cudaGraphLaunch", LAUNCH)                                 \
    X(RUNTIME, 312, "cudaGraphLaunch_ptsz", LAUNCH)                            \
    X(RUNTIME, 430, "cudaLaunchKernelExC", LAUNCH)                             \
    X(RUNTIME, 431, "cudaLaunchKernelExC_ptsz", LAUNCH)                        \
    X(RUNTIME, 505, "__cudaLaunchKernel", LAUNCH)                              \
    X(RUNTIME, 506, "__cudaLaunchKernel_ptsz", LAUNCH)                         \
    X(DRIVER, 307, "cuLaunchKernel", LAUNCH)                                   \
    X(DRIVER, 442, "cuLaunchKernel_ptsz", LAUNCH)                              \
    X(DRIVER, 477, "cuLaunchCooperativeKernel", LAUNCH)                        \
    X(DRIVER, 478, "cuLaunchCooperativeKernel_ptsz", LAUNCH)                   \
    X(DRIVER, 480, "cuLaunchCooperativeKernelMultiDevice", LAUNCH)             \
    X(DRIVER, 514, "cuGraphLaunch", LAUNCH)                                    \
    X(DRIVER, 515, "cuGraphLaunch_ptsz", LAUNCH)                               \
    X(DRIVER, 652, "cuLaunchKernelEx", LAUNCH)                                 \
    X(DRIVER, 653, "cuLaunchKernelEx_ptsz", LAUNCH)                            \
    X(RUNTIME, 315, "cudaStreamBeginCapture", BEGIN_CAPTURE)                   \
    X(RUNTIME, 316, "cudaStreamBeginCapture_ptsz", BEGIN_CAPTURE)              \
    X(RUNTIME, 452, "cudaStreamBeginCaptureToGraph", BEGIN_CAPTURE)            \
    X(RUNTIME, 453, "cudaStreamBeginCaptureToGraph_ptsz", BEGIN_CAPTURE)       \
    X(DRIVER, 495, "cuStreamBeginCapture", BEGIN_CAPTURE)                      \
    X(DRIVER, 496, "cuStreamBeginCapture_ptsz", BEGIN_CAPTURE)                 \
    X(DRIVER, 539, "cuStreamBeginCapture_v2", BEGIN_CAPTURE)                   \
    X(DRIVER, 540, "cuStreamBeginCapture_v2_ptsz", BEGIN_CAPTURE)              \
    X(DRIVER, 720, "cuStreamBeginCaptureToGraph", BEGIN_CAPTURE)               \
    X(DRIVER, 721, "cuStreamBeginCaptureToGraph_ptsz", BEGIN_CAPTURE)          \
    X(RUNTIME, 319, "cudaStreamEndCapture", END_CAPTURE)                       \
    X(RUNTIME, 320, "cudaStreamEndCapture_ptsz", END_CAPTURE)                  \
    X(DRIVER, 497, "cuStreamEndCapture", END_CAPTURE)                          \
    X(DRIVER, 498, "cuStreamEndCapture_ptsz", END_CAPTURE)                     \
    X(RUNTIME, 132, "cudaStreamQuery", QUERY)                                  \
    X(RUNTIME, 138, "cudaEventQuery", QUERY)                                   \
    X(RUNTIME, 240, "cudaStreamQuery_ptsz", QUERY)                             \
    X(DRIVER, 120, "cuEventQuery", QUERY)                                      \
    X(DRIVER, 125, "cuStreamQuery", QUERY)                                     \
    X(DRIVER, 439, "cuStreamQuery_ptsz", QUERY)                                \
    X(RUNTIME, 164, "cudaDeviceReset", RESET)                                  \
    X(DRIVER, 11, "cuCtxDestroy", RESET)                                       \
    X(DRIVER, 322, "cuCtxDestroy_v2", RESET)                                   \
    X(DRIVER, 389, "cuDevicePrimaryCtxReset", RESET)                           \
    X(DRIVER, 545, "cuDevicePrimaryCtxReset_v2", RESET)                        \
    X(RUNTIME, 16, "cudaSetDevice", NOISE)                                     \
    X(RUNTIME, 317, "cudaStreamIsCapturing", NOISE)                            \
    X(RUNTIME, 318, "cudaStreamIsCapturing_ptsz", NOISE)

#define KEY(domain, id) ((uint64_t)(domain) << 32 | (id))

/* Beside CUPTI_SILENT, the calls with the role NOISE are those whose failures
 * matter, so CUPTI must record them. */
enum cupti_role cupti_role(enum cupti_domain domain, uint32_t id)
{
    switch (KEY(domain, id)) {
#define TRACE_X(of, number, symbol, role)                                      \
    case KEY(CUPTI_DOMAIN_##of, number):                                       \
        return CUPTI_ROLE_##role;
        ROLES(TRACE_X)
#undef TRACE_X
#define TRACE_X(of, number, symbol) case KEY(CUPTI_DOMAIN_##of, number):
        CUPTI_SILENT(TRACE_X)
#undef TRACE_X
        return CUPTI_ROLE_NOISE;
    default:
        return CUPTI_ROLE_OTHER;
    }
}

/* X(number, name, stage): driver calls that prepare code. */
#define LOADS(X)                                                               \
    X(18, "cuModuleLoad", "module_load")                                       \
    X(19, "cuModuleLoadData", "module_load")                                   \
    X(20, "cuModuleLoadDataEx", "module_load")                                 \
    X(21, "cuModuleLoadFatBinary", "module_load")                              \
    X(365, "cuLinkComplete", "link")                                           \
    X(678, "cuLibraryLoadData", "module_load")                                 \
    X(679, "cuLibraryLoadFromFile", "module_load")                             \
    X(742, "cuFuncLoad", "lazy_load")

const char *cupti_compile_stage(enum cupti_domain domain, uint32_t id)
{
    switch (domain == CUPTI_DOMAIN_DRIVER ? id : 0) {
#define TRACE_X(number, name, stage)                                           \
    case number:                                                               \
        return stage;
        LOADS(TRACE_X)
#undef TRACE_X
    default:
        return NULL;
    }
}

/* A first cudaSetDevice may create a context, which takes long. */
enum { LONG_NS = 100000 };

bool cupti_is_noise(const struct cupti_record *record)
{
    bool runtime = record->kind == CUPTI_KIND_RUNTIME;

    return (runtime || record->kind == CUPTI_KIND_DRIVER) &&
           !cupti_get32(record, CUPTI_CALL_RESULT) &&
           cupti_get(record, CUPTI_CALL_END) -
                   cupti_get(record, CUPTI_CALL_START) <
               LONG_NS &&
           cupti_role(runtime ? CUPTI_DOMAIN_RUNTIME : CUPTI_DOMAIN_DRIVER,
                      cupti_get32(record, CUPTI_CALL_ID)) == CUPTI_ROLE_NOISE;
}
