// cuda_identity.cu: the kernel and its launch.
#include <cuda_fp16.h>
#include <cuda_runtime.h>

#include <testlog/zone.h>

#include "cuda_identity.h"

template <typename T>
__global__ void identity(const T *in, T *out, size_t count)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;

    if (i < count)
        out[i] = in[i];
}

/* The same in two parts, which the first thread of each block times. */
static __global__ void identity_timed(const float *in, float *out, size_t count,
                                      trace_zone_ring *ring)
{
    size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
    bool times = threadIdx.x == 0;
    float value;

    if (times)
        trace_zone_begin(ring, IDENTITY_LOAD);
    value = i < count ? in[i] : 0;
    __syncthreads();
    if (times) {
        trace_zone_end(ring, IDENTITY_LOAD);
        trace_zone_begin(ring, IDENTITY_STORE);
    }
    if (i < count)
        out[i] = value;
    __syncthreads();
    if (times)
        trace_zone_end(ring, IDENTITY_STORE);
}

template <typename T>
static int launch(const void *in, void *out, size_t count, unsigned block,
                  cudaStream_t stream)
{
    unsigned grid = (unsigned)((count + block - 1) / block);

    identity<<<grid, block, 0, stream>>>(static_cast<const T *>(in),
                                         static_cast<T *>(out), count);
    return cudaGetLastError();
}

size_t identity_size(enum identity_type type)
{
    return type == IDENTITY_F16 ? sizeof(__half) : sizeof(float);
}

int identity_launch(enum identity_type type, const void *in, void *out,
                    size_t count, unsigned block, struct CUstream_st *stream)
{
    return type == IDENTITY_F16 ? launch<__half>(in, out, count, block, stream)
                                : launch<float>(in, out, count, block, stream);
}

int identity_launch_timed(const float *in, float *out, size_t count,
                          unsigned block, struct trace_zone_ring *ring)
{
    unsigned grid = (unsigned)((count + block - 1) / block);

    identity_timed<<<grid, block>>>(in, out, count, ring);
    return cudaGetLastError();
}
