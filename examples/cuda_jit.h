/* cuda_jit.h: kernels that are compiled while the program runs.
 *
 * NVRTC compiles CUDA C++ to PTX or machine code, and the driver loads that as
 * a kernel. Only the driver needs a GPU. Functions that return int return 0 on
 * success and -1 on failure, and log the reason.
 */
#ifndef EXAMPLES_CUDA_JIT_H
#define EXAMPLES_CUDA_JIT_H

#include <stddef.h>

struct CUstream_st; /* what a cudaStream_t points to */
struct jit_kernel;

/* jit_oldest returns the oldest architecture that NVRTC compiles for: 75 for
 * compute_75 and sm_75. -1 on failure. */
int jit_oldest(void);

/* jit_compile compiles `source`, called `file` in messages. It returns PTX as a
 * string for an `architecture` such as "compute_75", and machine code for one
 * such as "sm_75". The caller frees it; `size` may be NULL. NULL on failure. */
char *jit_compile(const char *file, const char *source,
                  const char *architecture, size_t *size);

/* jit_load loads the kernel `name` from such an image, for the current device;
 * jit_unload releases it. NULL on failure. */
struct jit_kernel *jit_load(const char *image, const char *name);
void jit_unload(struct jit_kernel *);

/* jit_launch runs a kernel in a row of `grid` blocks of `block` threads; its
 * arguments are pointers to their values. It does not wait for the kernel. */
int jit_launch(struct jit_kernel *, unsigned grid, unsigned block,
               struct CUstream_st *stream, void **arguments);

#endif
