// launches.cu: launches of every kind that tracing must see.
//
// The driver queues about 1,000 launches; a full queue makes the next one wait.
// So the program waits regularly, outside of the timed part.
#include <cuda_runtime.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "launches.h"
extern "C" {
#include "examples/cuda_jit.h"
}

enum { QUEUE = 1000, NODES = 20, LANES_MAX = 64, FLOATS = 1 << 16 };

extern "C" __global__ void launches_empty()
{
}

extern "C" __global__ void launches_add(float *numbers, int count)
{
    int i = blockIdx.x * blockDim.x + threadIdx.x;

    if (i < count)
        numbers[i] += 1.f;
}

/* %globaltimer counts ns, in steps of up to 1 us. */
extern "C" __global__ void launches_spin(uint64_t ns)
{
    uint64_t begin, end;

    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(begin));
    do
        asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(end));
    while (end - begin < ns);
}

/* Its time depends on the clock of the multiprocessors alone. */
extern "C" __global__ void launches_fma(float *numbers)
{
    float a = numbers[0];

    for (int i = 0; i < 1000000; i++)
        a = a * 1.0001f + 0.5f;
    numbers[0] = a;
}

static uint64_t now()
{
    struct timespec time;

    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * UINT64_C(1000000000) + time.tv_nsec;
}

/* ---- One thread ---- */

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return (x > y) - (x < y);
}

static void distribute(uint32_t *times, long count, struct launches *result)
{
    double sum = 0;

    for (long i = 0; i < count; i++)
        sum += times[i];
    qsort(times, count, sizeof(*times), compare);
    result->wall = sum;
    result->mean = sum / count;
    result->p50 = times[count / 2];
    result->p99 = times[count * 99 / 100];
}

static void run_unsynced(long count, int, struct launches *result)
{
    uint32_t *times = (uint32_t *)calloc(count, sizeof(*times));

    for (long i = 0; i < count; i++) {
        uint64_t begin = now();

        launches_empty<<<1, 32>>>();
        times[i] = (uint32_t)(now() - begin);
        if (i % QUEUE == QUEUE - 1 && i != count - 1)
            cudaDeviceSynchronize();
    }
    distribute(times, count, result);
    free(times);
    result->kernels = result->calls = count;
    result->error = cudaGetLastError();
}

static void run_empty(long count, int, struct launches *result)
{
    run_unsynced(count, 0, result);
    result->error |= cudaDeviceSynchronize();
}

static void run_streams(long count, int lanes, struct launches *result)
{
    cudaStream_t streams[LANES_MAX];
    uint64_t begin;

    for (int i = 0; i < lanes; i++)
        cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking);
    begin = now();
    for (long i = 0; i < count; i++) {
        launches_empty<<<1, 32, 0, streams[i % lanes]>>>();
        if (i % QUEUE == QUEUE - 1)
            cudaDeviceSynchronize();
    }
    result->error = cudaDeviceSynchronize();
    result->wall = now() - begin;
    result->kernels = result->calls = count;
    for (int i = 0; i < lanes; i++)
        cudaStreamDestroy(streams[i]);
}

static void run_spin(long count, int, struct launches *result)
{
    for (long i = 0; i < count; i++) {
        launches_spin<<<1, 1>>>(1000000);
        result->error |= cudaDeviceSynchronize();
    }
    result->kernels = result->calls = count;
}

static void run_phases(long, int, struct launches *result)
{
    const uint64_t ns = 200000000;
    int processors = 1;
    size_t size = (size_t)4 << 30;
    uint64_t begin;
    void *memory;

    cudaDeviceGetAttribute(&processors, cudaDevAttrMultiProcessorCount, 0);
    result->error |= cudaMalloc(&memory, size);
    launches_spin<<<2 * processors, 1024>>>(ns);
    result->error |= cudaDeviceSynchronize();
    usleep(ns / 1000);
    for (begin = now(); now() - begin < ns; result->sets++) {
        cudaMemsetAsync(memory, 0, size);
        result->error |= cudaDeviceSynchronize();
    }
    cudaFree(memory);
    result->kernels = result->calls = 1;
}

static void run_fma(long count, int, struct launches *result)
{
    float *numbers;

    cudaMalloc(&numbers, sizeof(*numbers));
    cudaMemset(numbers, 0, sizeof(*numbers));
    for (long i = 0; i < count; i++) {
        launches_fma<<<1, 1>>>(numbers);
        result->error |= cudaDeviceSynchronize();
    }
    cudaFree(numbers);
    result->kernels = result->calls = count;
    result->sets = 1;
}

/* ---- Graphs ---- */

static cudaGraphExec_t capture(cudaStream_t stream, cudaStreamCaptureMode mode,
                               struct launches *result)
{
    cudaGraphExec_t executable = NULL;
    cudaGraph_t graph;

    cudaStreamBeginCapture(stream, mode);
    for (int i = 0; i < NODES; i++)
        launches_empty<<<1, 32, 0, stream>>>();
    result->captured += NODES;
    result->error |= cudaStreamEndCapture(stream, &graph);
    result->error |= cudaGraphInstantiateWithFlags(&executable, graph, 0);
    cudaGraphDestroy(graph);
    return executable;
}

static void run_graph(long count, int, struct launches *result)
{
    cudaGraphExec_t executable;
    cudaStream_t stream;
    uint64_t begin;

    count = (count + NODES - 1) / NODES;
    cudaStreamCreate(&stream);
    executable = capture(stream, cudaStreamCaptureModeGlobal, result);
    begin = now();
    for (long i = 0; i < count; i++) {
        cudaGraphLaunch(executable, stream);
        if (i % 100 == 99)
            cudaStreamSynchronize(stream);
    }
    result->error |= cudaStreamSynchronize(stream);
    result->wall = now() - begin;
    result->kernels = count * NODES;
    result->calls = count;
    cudaGraphExecDestroy(executable);
    cudaStreamDestroy(stream);
}

static void run_capture(long count, int, struct launches *result)
{
    static const cudaStreamCaptureMode modes[] = {
        cudaStreamCaptureModeGlobal, cudaStreamCaptureModeThreadLocal,
        cudaStreamCaptureModeRelaxed};
    cudaStream_t stream;

    count = (count + NODES - 1) / NODES;
    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    for (long i = 0; i < count; i++) {
        cudaGraphExec_t executable = capture(stream, modes[i % 3], result);

        cudaGraphLaunch(executable, stream);
        result->error |= cudaStreamSynchronize(stream);
        cudaGraphExecDestroy(executable);
    }
    result->kernels = count * NODES;
    result->calls = count;
    cudaStreamDestroy(stream);
}

/* ---- Copies ---- */

static void run_mixed(long count, int, struct launches *result)
{
    size_t size = FLOATS * sizeof(float);
    float *device, *host;
    uint64_t begin;

    count = (count + 3) / 4;
    cudaMalloc(&device, size);
    cudaMallocHost(&host, size);
    begin = now();
    for (long i = 0; i < count; i++) {
        cudaMemsetAsync(device, 0, size);
        cudaMemcpyAsync(device, host, size, cudaMemcpyHostToDevice);
        launches_add<<<FLOATS / 256, 256>>>(device, FLOATS);
        cudaMemcpyAsync(host, device, size, cudaMemcpyDeviceToHost);
        if (i % 100 == 99)
            cudaDeviceSynchronize();
    }
    result->error = cudaDeviceSynchronize();
    result->wall = now() - begin;
    result->kernels = result->calls = result->sets = count;
    result->copies = 2 * count;
    cudaFree(device);
    cudaFreeHost(host);
}

/* ---- Many threads ---- */

static void *launch_on_a_stream(void *count)
{
    cudaStream_t stream;

    cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking);
    for (long i = 0; i < (long)count; i++) {
        launches_empty<<<1, 32, 0, stream>>>();
        if (i % (QUEUE / 2) == 0)
            cudaStreamSynchronize(stream);
    }
    cudaStreamSynchronize(stream);
    cudaStreamDestroy(stream);
    return NULL;
}

static void run_threads(long count, int lanes, struct launches *result)
{
    pthread_t threads[LANES_MAX];
    uint64_t begin = now();

    count /= lanes;
    for (int i = 0; i < lanes; i++)
        pthread_create(&threads[i], NULL, launch_on_a_stream, (void *)count);
    for (int i = 0; i < lanes; i++)
        pthread_join(threads[i], NULL);
    result->error = cudaDeviceSynchronize();
    result->wall = now() - begin;
    result->kernels = result->calls = count * lanes;
}

/* ---- Compiled just now: source, PTX, machine code ---- */

static struct jit_kernel *load()
{
    static const char source[] =
        "extern \"C\" __global__ void launches_jit(float *numbers, int count)\n"
        "{\n"
        "    int i = blockIdx.x * blockDim.x + threadIdx.x;\n"
        "    float a = 1.5f;\n\n"
        "    for (int k = 0; k < 7; k++)\n"
        "        a = a * a + k;\n"
        "    if (i < count)\n"
        "        numbers[i] += a;\n"
        "}\n";
    struct jit_kernel *kernel = NULL;
    char architecture[32], *ptx;

    snprintf(architecture, sizeof(architecture), "compute_%d", jit_oldest());
    ptx = jit_compile("launches_jit.cu", source, architecture, NULL);
    if (ptx)
        kernel = jit_load(ptx, "launches_jit");
    free(ptx);
    return kernel;
}

static void run_jit(long count, int, struct launches *result)
{
    struct jit_kernel *kernel = load();
    uint64_t begin = now();
    int floats = 1024;
    void *device, *arguments[] = {&device, &floats};

    if (!kernel || cudaMalloc(&device, floats * sizeof(float))) {
        result->error = -1;
        return;
    }
    for (long i = 0; i < count; i++) {
        result->error |= jit_launch(kernel, 4, 256, NULL, arguments);
        if (i % QUEUE == QUEUE - 1)
            cudaDeviceSynchronize();
    }
    result->error |= cudaDeviceSynchronize();
    result->wall = now() - begin;
    result->kernels = result->calls = count;
    cudaFree(device);
    jit_unload(kernel);
}

/* ---- What bench.c and bench_torch.py call ---- */

static void run_none(long, int, struct launches *)
{
}

static const struct {
    const char *name, *kernel;
    void (*run)(long count, int lanes, struct launches *);
} works[] = {{"none", NULL, run_none},
             {"empty", "launches_empty", run_empty},
             {"mixed", "launches_add", run_mixed},
             {"streams", "launches_empty", run_streams},
             {"threads", "launches_empty", run_threads},
             {"graph", "launches_empty", run_graph},
             {"capture", "launches_empty", run_capture},
             {"jit", "launches_jit", run_jit},
             {"spin", "launches_spin", run_spin},
             {"phases", "launches_spin", run_phases},
             {"fma", "launches_fma", run_fma},
             {"unsynced", "launches_empty", run_unsynced}};

int launches_init(void)
{
    return (int)cudaFree(0);
}

int launches_run(const char *work, long count, struct launches *result)
{
    size_t length = strcspn(work, ":");
    int lanes = work[length] ? atoi(work + length + 1) : 8;

    memset(result, 0, sizeof(*result));
    result->error = -1;
    if (lanes < 1 || lanes > LANES_MAX || count < 1)
        return -1;
    for (const auto &one : works)
        if (strlen(one.name) == length && !strncmp(one.name, work, length)) {
            result->error = 0;
            result->kernel = one.kernel;
            one.run(count, lanes, result);
        }
    return result->error ? -1 : 0;
}
