/* cuda_identity.h: a kernel that copies its input, compiled by nvcc.
 *
 * This is how C calls CUDA C++: the kernel and its launch are in a .cu file,
 * behind functions with C linkage. They return a cudaError_t as an int.
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

/* identity_launch has the device copy `count` elements from `in` to `out`, both
 * of its memory, by blocks of `block` threads, after what `stream` has to do
 * already. It does not wait for that. */
int identity_launch(enum identity_type, const void *in, void *out, size_t count,
                    unsigned block, struct CUstream_st *stream);

#ifdef __cplusplus
}
#endif

#endif
