/* cuda_identity_test.c: tests that use a GPU.
 *
 * What the CUDA runtime and the driver do appears below the test's spans in its
 * log and trace, with the kernels on a track for each stream, without a word
 * about tracing here. Only the kernel `identity_timed` times its own parts:
 * they are on a track for each multiprocessor. LOG=info,gpu=trace shows the
 * lines. Without a GPU, the tests that need one are skipped; compiling needs
 * none.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <testlog/test_log.h>
#include <testlog/zone.h>

#include <cuda_runtime_api.h>

#include "cuda_identity.h"
#include "cuda_jit.h"

enum { BLOCK = 256 };

static const char *const names[] = {"identity_f16", "identity_f32"};

/* ---- Helpers ---- */

/* Asserts that a CUDA call succeeds; the message has the call and the error. */
#define cuda_assert(call)                                                      \
    do {                                                                       \
        cudaError_t error_ = (cudaError_t)(call);                              \
                                                                               \
        cr_assert_eq(error_, cudaSuccess, "%s: %s", #call,                     \
                     cudaGetErrorString(error_));                              \
    } while (0)

/* Skips the test without a GPU; any other error fails it. */
static void need_gpu(void)
{
    int count = 0;
    cudaError_t error = cudaGetDeviceCount(&count);

    if (error == cudaErrorInsufficientDriver || error == cudaErrorNoDevice)
        cr_skip_test("needs a GPU: %s", cudaGetErrorString(error));
    cuda_assert(error);
}

/* Device memory with an input and an output, and the input on the host. */
struct buffers {
    size_t size; /* bytes */
    unsigned char *host;
    void *in, *out;
};

static void fill(struct buffers *buffers, size_t size)
{
    trace_span(DEBUG, "fill", (size));

    buffers->size = size;
    buffers->host = malloc(size);
    cr_assert_not_null(buffers->host);
    for (size_t i = 0; i < size; i++)
        buffers->host[i] = (unsigned char)(i * 7 + 1);
    cuda_assert(cudaMalloc(&buffers->in, size));
    cuda_assert(cudaMalloc(&buffers->out, size));
    cuda_assert(
        cudaMemcpy(buffers->in, buffers->host, size, cudaMemcpyHostToDevice));
    cuda_assert(cudaMemset(buffers->out, 0, size));
}

/* Whether the device memory at `at` equals the input. */
static bool holds(const struct buffers *buffers, const void *at)
{
    trace_span(DEBUG, "compare", ("size", buffers->size));

    unsigned char *back = calloc(1, buffers->size);
    bool same;

    cr_assert_not_null(back);
    cuda_assert(cudaMemcpy(back, at, buffers->size, cudaMemcpyDeviceToHost));
    same = !memcmp(back, buffers->host, buffers->size);
    free(back);
    return same;
}

static void empty(struct buffers *buffers)
{
    cuda_assert(cudaFree(buffers->in));
    cuda_assert(cudaFree(buffers->out));
    free(buffers->host);
}

/* ---- Compiling at run time ---- */

/* A kernel that copies a half copies two bytes. */
static char *compile(enum identity_type type, const char *architecture,
                     size_t *size)
{
    char source[512];

    snprintf(source, sizeof(source),
             "extern \"C\" __global__ void %s(const %s *in, %s *out,\n"
             "                                unsigned long long count)\n"
             "{\n"
             "    unsigned long long i = blockIdx.x * blockDim.x + "
             "threadIdx.x;\n\n"
             "    if (i < count)\n"
             "        out[i] = in[i];\n"
             "}\n",
             names[type], type == IDENTITY_F16 ? "unsigned short" : "float",
             type == IDENTITY_F16 ? "unsigned short" : "float");
    return jit_compile("identity.cu", source, architecture, size);
}

ParameterizedTestParameters(cuda_identity, compiles)
{
    static enum identity_type types[] = {IDENTITY_F16, IDENTITY_F32};

    return cr_make_param_array(enum identity_type, types, 2);
}

PARAMETERIZED_TEST_LOG(enum identity_type *type, cuda_identity, compiles,
                       .timeout = 60)
{
    char architecture[32], entry[64], *ptx, *cubin;
    int oldest = jit_oldest();
    size_t size = 0;

    cr_assert_gt(oldest, 0);
    snprintf(architecture, sizeof(architecture), "compute_%d", oldest);
    ptx = compile(*type, architecture, NULL);
    cr_assert_not_null(ptx);
    snprintf(entry, sizeof(entry), ".entry %s(", names[*type]);
    cr_expect_not_null(strstr(ptx, entry), "no %s in:\n%s", entry, ptx);

    snprintf(architecture, sizeof(architecture), "sm_%d", oldest);
    cubin = compile(*type, architecture, &size);
    cr_assert_not_null(cubin);
    cr_assert_gt(size, 4);
    cr_expect_arr_eq(cubin,
                     "\x7f"
                     "ELF",
                     4);
    log_expect_span_count(2, "jit_compile:nvrtc");
    log_expect_event_count(2, "gpu::compile", "{stage=nvrtc}");
    log_expect_event_count(1, "{stage=nvrtc,cubin_bytes>0}");
    free(cubin);
    free(ptx);
}

/* The text of zone.h is all that NVRTC needs. Untraced, it leaves nothing. */
TEST_LOG(cuda_identity, compiles_zones, .timeout = 60)
{
    static const char kernel[] =
        "extern \"C\" __global__ void timed(int *out, trace_zone_ring *ring)\n"
        "{\n"
        "    trace_zone_begin(ring, 0);\n"
        "    out[threadIdx.x]++;\n"
        "    trace_zone_end(ring, 0);\n"
        "}\n";
    const char *zones = trace_zone_source();
    size_t size = strlen(zones) + sizeof(kernel);
    char architecture[32], *source = malloc(size), *ptx;

    cr_assert_not_null(source);
    snprintf(source, size, "%s%s", zones, kernel);
    snprintf(architecture, sizeof(architecture), "compute_%d", jit_oldest());
    ptx = jit_compile("timed.cu", source, architecture, NULL);
    cr_assert_not_null(ptx);
#ifdef TRACING
    cr_expect_not_null(strstr(ptx, "%globaltimer"));
    cr_expect_not_null(strstr(ptx, "%smid"));
#else
    cr_expect_null(strstr(ptx, "%globaltimer"));
#endif
    free(ptx);
    free(source);
}

/* The compiler's messages are in the log, below the span that called it. */
TEST_LOG(cuda_identity, logs_compiler_errors, .timeout = 60)
{
    cr_expect_null(jit_compile("wrong.cu",
                               "__global__ void wrong(float *out)\n"
                               "{\n"
                               "    out[0] = nothing;\n"
                               "}\n",
                               "compute_90", NULL));
    log_expect_event("=error", "/identifier \"nothing\" is undefined/");
    log_expect_event("gpu::compile=error", "{stage=nvrtc}");
    log_expect_event("cuda::jit=error", "{error=NVRTC_ERROR_COMPILATION}");
}

/* ---- Copies ---- */

ParameterizedTestParameters(cuda_identity, copies_memory)
{
    static size_t sizes[] = {1, 4096, 1 << 20};

    return cr_make_param_array(size_t, sizes, 3);
}

PARAMETERIZED_TEST_LOG(size_t *size, cuda_identity, copies_memory,
                       .timeout = 60)
{
    struct buffers buffers;

    need_gpu();
    fill(&buffers, *size);
    cr_expect(holds(&buffers, buffers.in));
    cr_expect_not(holds(&buffers, buffers.out), "it was set to zero");
    cuda_assert(
        cudaMemcpy(buffers.out, buffers.in, *size, cudaMemcpyDeviceToDevice));
    cr_expect(holds(&buffers, buffers.out));
    empty(&buffers);
}

/* ---- Kernels ---- */

struct variant {
    enum identity_type type;
    size_t count;
    bool at_run_time; /* compiled by NVRTC, not by nvcc */
};

ParameterizedTestParameters(cuda_identity, copies_its_input)
{
    static struct variant variants[] = {
        {IDENTITY_F32, 1, false},       {IDENTITY_F32, 1000, false},
        {IDENTITY_F32, 1 << 20, false}, {IDENTITY_F16, 1000, false},
        {IDENTITY_F16, 1 << 20, false}, {IDENTITY_F32, 1000, true},
        {IDENTITY_F32, 1 << 20, true},  {IDENTITY_F16, 1000, true},
    };

    return cr_make_param_array(struct variant, variants,
                               sizeof(variants) / sizeof(variants[0]));
}

static struct jit_kernel *load(enum identity_type type)
{
    struct jit_kernel *kernel;
    char architecture[32], *ptx;

    snprintf(architecture, sizeof(architecture), "compute_%d", jit_oldest());
    ptx = compile(type, architecture, NULL);
    cr_assert_not_null(ptx);
    kernel = jit_load(ptx, names[type]);
    cr_assert_not_null(kernel);
    free(ptx);
    return kernel;
}

static void launch_compiled(const struct variant *variant,
                            struct buffers *buffers)
{
    struct jit_kernel *kernel = load(variant->type);
    unsigned long long count = variant->count;
    void *arguments[] = {&buffers->in, &buffers->out, &count};

    cr_assert_eq(jit_launch(kernel,
                            (unsigned)((variant->count + BLOCK - 1) / BLOCK),
                            BLOCK, NULL, arguments),
                 0);
    cuda_assert(cudaDeviceSynchronize());
    jit_unload(kernel);
}

PARAMETERIZED_TEST_LOG(struct variant *variant, cuda_identity, copies_its_input,
                       .timeout = 60)
{
    struct buffers buffers;

    need_gpu();
    trace_span(INFO, "identity", ("type", names[variant->type]),
               ("count", variant->count), ("jit", variant->at_run_time));
    fill(&buffers, variant->count * identity_size(variant->type));
    if (variant->at_run_time)
        launch_compiled(variant, &buffers);
    else
        cuda_assert(identity_launch(variant->type, buffers.in, buffers.out,
                                    variant->count, BLOCK, NULL));
    cr_expect(holds(&buffers, buffers.out));
    empty(&buffers);
}

/* In the trace, each multiprocessor has a track with the parts of its work. */
TEST_LOG(cuda_identity, times_the_parts_of_a_kernel, .timeout = 60)
{
    enum { COUNT = 1 << 16, RECORDS = 2 * IDENTITY_ZONES * COUNT / BLOCK };
    static const char *const parts[] = {"load", "store"};
    const size_t size = TRACE_ZONE_SIZE(RECORDS);
    struct trace_zones *zones;
    struct buffers buffers;
    size_t read = 0;
    void *ring;

    need_gpu();
    fill(&buffers, COUNT * sizeof(float));
    cuda_assert(cudaMallocManaged(&ring, size, cudaMemAttachGlobal));
    zones = trace_zones_open(ring, size, parts, IDENTITY_ZONES);
    {
        trace_span(INFO, "timed", ("blocks", COUNT / BLOCK));

        cuda_assert(identity_launch_timed(buffers.in, buffers.out, COUNT, BLOCK,
                                          zones ? ring : NULL));
    }
    cuda_assert(cudaDeviceSynchronize());
    read = trace_zones_read(zones, ring);
    cr_expect_eq(read, zones ? IDENTITY_ZONES * COUNT / BLOCK : 0);
    cr_expect(holds(&buffers, buffers.out));
    trace_zones_close(zones);
    cuda_assert(cudaFree(ring));
    empty(&buffers);
}

/* In the trace, the second stream's kernel begins when the first's ends. */
TEST_LOG(cuda_identity, one_stream_waits_for_another, .timeout = 60)
{
    enum { COUNT = 1 << 20 };
    struct buffers buffers;
    cudaStream_t first, second;
    cudaEvent_t done;
    void *between;

    need_gpu();
    fill(&buffers, COUNT * sizeof(float));
    cuda_assert(cudaMalloc(&between, buffers.size));
    cuda_assert(cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking));
    cuda_assert(cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking));
    cuda_assert(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
    {
        trace_span(INFO, "enqueue", ("streams", 2));

        cuda_assert(identity_launch(IDENTITY_F32, buffers.in, between, COUNT,
                                    BLOCK, first));
        cuda_assert(cudaEventRecord(done, first));
        cuda_assert(cudaStreamWaitEvent(second, done, 0));
        cuda_assert(identity_launch(IDENTITY_F32, between, buffers.out, COUNT,
                                    BLOCK, second));
        log_debug("queued work on both streams");
    }
    cuda_assert(cudaStreamSynchronize(second));
    cr_expect(holds(&buffers, buffers.out));
    cuda_assert(cudaEventDestroy(done));
    cuda_assert(cudaStreamDestroy(first));
    cuda_assert(cudaStreamDestroy(second));
    cuda_assert(cudaFree(between));
    empty(&buffers);
}

/* Work that is queued while a stream is captured becomes nodes of a graph. */
static cudaGraphExec_t capture(struct buffers *buffers, cudaStream_t stream)
{
    trace_span(DEBUG, "capture");

    size_t count = buffers->size / sizeof(float);
    cudaGraphExec_t executable;
    cudaGraph_t graph;

    cuda_assert(cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal));
    cuda_assert(cudaMemsetAsync(buffers->out, 0, buffers->size, stream));
    cuda_assert(identity_launch(IDENTITY_F32, buffers->in, buffers->out, count,
                                BLOCK, stream));
    cuda_assert(cudaStreamEndCapture(stream, &graph));
    cuda_assert(cudaGraphInstantiateWithFlags(&executable, graph, 0));
    cuda_assert(cudaGraphDestroy(graph));
    return executable;
}

TEST_LOG(cuda_identity, launches_a_graph_five_times, .timeout = 60)
{
    struct buffers buffers;
    cudaGraphExec_t graph;
    cudaStream_t stream;

    need_gpu();
    fill(&buffers, 4096 * sizeof(float));
    cuda_assert(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
    graph = capture(&buffers, stream);
    for (int i = 0; i < 5; i++) {
        trace_span(INFO, "step", (i));

        cuda_assert(cudaGraphLaunch(graph, stream));
        log_debug("queued step %d", i);
    }
    cuda_assert(cudaStreamSynchronize(stream));
    cr_expect(holds(&buffers, buffers.out));
    cuda_assert(cudaGraphExecDestroy(graph));
    cuda_assert(cudaStreamDestroy(stream));
    empty(&buffers);
}

/* ---- Errors ---- */

/* A CUDA call that fails is a WARN line, even if the test expects it. Drivers
 * differ in the error. */
TEST_LOG(cuda_identity, reports_an_impossible_launch, .timeout = 60)
{
    struct buffers buffers;

    need_gpu();
    fill(&buffers, 64);
    trace_span(INFO, "impossible", ("block", 4096));
    cr_expect(
        identity_launch(IDENTITY_F32, buffers.in, buffers.out, 16, 4096, NULL));
    cr_expect_eq(cudaMemcpy(buffers.out, NULL, 64, cudaMemcpyDeviceToDevice),
                 cudaErrorInvalidValue);
    empty(&buffers);
}
