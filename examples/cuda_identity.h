/* cuda_identity.h: a kernel that copies its input, compiled by nvcc.
 *
 * C calls CUDA C++ like this: the kernel and its launch are in a .cu file,
 * behind functions with C linkage, which return a cudaError_t as an int.
 */
#ifndef EXAMPLES_CUDA_IDENTITY_H
#define EXAMPLES_CUDA_IDENTITY_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct CUstream_st; /* what a cudaStream_t points to */

enum identity_type { IDENTITY_F16, IDENTITY_F32 };

/* identity_size returns the bytes of an element. */
size_t identity_size(enum identity_type);

/* identity_launch queues a copy of `count` elements from `in` to `out`, both in
 * device memory, on `stream`, with blocks of `block` threads. It does not wait
 * for the copy. */
int identity_launch(enum identity_type, const void *in, void *out, size_t count,
                    unsigned block, struct CUstream_st *stream);

/* The zones of the kernel that identity_launch_timed launches. */
enum identity_zone { IDENTITY_LOAD, IDENTITY_STORE, IDENTITY_ZONES };

struct trace_zone_ring;

/* identity_launch_timed queues a copy of floats whose kernel records its zones
 * in `ring`. */
int identity_launch_timed(const float *in, float *out, size_t count,
                          unsigned block, struct trace_zone_ring *ring);

#ifdef __cplusplus
}
#endif

#endif
