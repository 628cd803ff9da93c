/* launches.h: the work that tracing is measured on, as a shared object, so that
 * the same machine code is launched from C and from Python. launches.cu does
 * it; standin.c, for a dry run, does nothing and says that it did.
 */
#ifndef TESTS_GPU_LAUNCHES_H
#define TESTS_GPU_LAUNCHES_H

#ifdef __cplusplus
extern "C" {
#endif

/* What was done, and how long its launches took the host: ns. The distribution
 * is known of the work "empty" only. Python's bench_torch.py has it, too. */
struct launches {
    long kernels, calls, copies, sets; /* calls: of launches */
    double wall, mean, p50, p99;
    int error; /* cudaError_t, or -1 */
};

#define LAUNCHES_API __attribute__((visibility("default")))

/* launches_init makes CUDA ready; it returns a cudaError_t. */
LAUNCHES_API int launches_init(void);

/* launches_run does `work` about `count` times and waits for it. 0 or, if it
 * failed or is not known, -1.
 *
 *  none          nothing
 *  empty         launches an empty kernel, timing each
 *  unsynced      the same, and does not wait
 *  streams:N     on N streams in turns
 *  threads:N     on N threads, with a stream each
 *  graph         in graphs of 20 nodes
 *  mixed         sets, copies in, computes, copies out
 *  jit           of a kernel that was compiled just now */
LAUNCHES_API int launches_run(const char *work, long count, struct launches *);

#ifdef __cplusplus
}
#endif

#endif
