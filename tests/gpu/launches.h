/* launches.h: the work that tracing is measured on, as a shared object, so that
 * C and Python launch the same machine code. launches.cu does the work;
 * standin.c, for a dry run, only claims to have done it.
 */
#ifndef TESTS_GPU_LAUNCHES_H
#define TESTS_GPU_LAUNCHES_H

#ifdef __cplusplus
extern "C" {
#endif

/* What was done, and the host's time for its launches in ns. The
 * distribution is known only for the work "empty". bench_torch.py declares
 * the same struct. */
struct launches {
    long kernels, calls, copies, sets; /* calls: those that launch */
    long captured;                     /* calls that launch into a graph */
    double wall, mean, p50, p99;
    const char *kernel; /* the name of all kernels, NULL: unknown */
    int error;          /* cudaError_t, or -1 */
};

#define LAUNCHES_API __attribute__((visibility("default")))

/* launches_init initializes CUDA; it returns a cudaError_t. */
LAUNCHES_API int launches_init(void);

/* launches_run does `work` about `count` times and waits for it. It
 * returns 0, or -1 if it failed or the work is unknown.
 *
 *  none          nothing
 *  empty         launches empty kernels, timing each
 *  unsynced      the same, without waiting
 *  streams:N     launches on N streams in turns
 *  threads:N     launches on N threads, each with a stream
 *  graph         launches graphs of 20 nodes
 *  capture       captures each graph anew, in every mode
 *  mixed         sets memory, copies in, computes, copies out
 *  jit           launches a kernel that it compiles first
 *  spin          launches kernels that run for 1 ms
 *  phases        keeps all multiprocessors busy for 200 ms, waits 200 ms, sets
 *                memory for 200 ms
 *  fma           launches kernels that compute for some ms */
LAUNCHES_API int launches_run(const char *work, long count, struct launches *);

#ifdef __cplusplus
}
#endif

#endif
