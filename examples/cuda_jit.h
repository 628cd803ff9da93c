/* cuda_jit.h: kernels that are compiled while the program runs.
 *
 * NVRTC makes PTX or machine code of CUDA C++, the driver makes a kernel of
 * that. Only the latter needs a GPU. Functions that return int return 0 on
 * success and -1 on failure, and the log says what was wrong.
 */
#ifndef EXAMPLES_CUDA_JIT_H
#define EXAMPLES_CUDA_JIT_H

#include <stddef.h>

struct CUstream_st; /* what a cudaStream_t points to */
struct jit_kernel;

/* jit_oldest returns the oldest architecture that NVRTC compiles for: 75 for
 * compute_75 and sm_75. -1 on failure. */
int jit_oldest(void);

/* jit_compile compiles `source`, called `file` in its messages, and returns
 * PTX as a string if `architecture` is a "compute_75", machine code if it is a
 * "sm_75", to be freed; `size` may be NULL. NULL on failure. */
char *jit_compile(const char *file, const char *source,
                  const char *architecture, size_t *size);

/* jit_load has the driver make the kernel `name` of such an image, for the
 * current device, to be released with jit_unload. NULL on failure. */
struct jit_kernel *jit_load(const char *image, const char *name);
void jit_unload(struct jit_kernel *);

/* jit_launch runs a kernel in a row of `grid` blocks of `block` threads; its
 * arguments are pointers to their values. It does not wait for it. */
int jit_launch(struct jit_kernel *, unsigned grid, unsigned block,
               struct CUstream_st *stream, void **arguments);

#endif
