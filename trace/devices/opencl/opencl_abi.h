/* opencl_abi.h: the facts about OpenCL's interface that the layer needs, so
 * that building it needs no OpenCL header. Private.
 *
 * Sources: the OpenCL 3.0 specification, and the order of the loaders' dispatch
 * table, which ocl-icd and Khronos' loader keep for ever.
 * tests/unit/devices/opencl_abi_test.c compares all of it with Khronos'
 * headers.
 */
#ifndef TRACE_DEVICES_OPENCL_ABI_H
#define TRACE_DEVICES_OPENCL_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef int32_t cl_int;
typedef uint32_t cl_uint;
typedef uint64_t cl_ulong;
typedef cl_uint cl_bool;
typedef cl_ulong cl_bitfield;

typedef struct _cl_platform_id *cl_platform_id;
typedef struct _cl_device_id *cl_device_id;
typedef struct _cl_context *cl_context;
typedef struct _cl_command_queue *cl_command_queue;
typedef struct _cl_mem *cl_mem;
typedef struct _cl_program *cl_program;
typedef struct _cl_kernel *cl_kernel;
typedef struct _cl_event *cl_event;

typedef void opencl_on_program(cl_program, void *);
typedef void opencl_on_event(cl_event, cl_int, void *);
typedef void opencl_on_free(cl_command_queue, cl_uint, void **, void *);
typedef void opencl_native(void *);

/* X(NAME, value): ours is OPENCL_NAME, the header's CL_NAME. */
#define OPENCL_CONSTANTS(X)                                                    \
    X(SUCCESS, 0)                                                              \
    X(BUILD_PROGRAM_FAILURE, -11)                                              \
    X(PROFILING_INFO_NOT_AVAILABLE, -7)                                        \
    X(INVALID_VALUE, -30)                                                      \
    X(INVALID_OPERATION, -59)                                                  \
    X(COMPLETE, 0)                                                             \
    X(RUNNING, 1)                                                              \
    X(QUEUED, 3)                                                               \
    X(QUEUE_PROFILING_ENABLE, 2)                                               \
    X(QUEUE_ON_DEVICE, 4)                                                      \
    X(QUEUE_CONTEXT, 0x1090)                                                   \
    X(QUEUE_DEVICE, 0x1091)                                                    \
    X(QUEUE_PROPERTIES, 0x1093)                                                \
    X(QUEUE_PROPERTIES_ARRAY, 0x1098)                                          \
    X(DEVICE_NAME, 0x102B)                                                     \
    X(DEVICE_PLATFORM, 0x1031)                                                 \
    X(DRIVER_VERSION, 0x102D)                                                  \
    X(PLATFORM_VERSION, 0x0901)                                                \
    X(PLATFORM_NAME, 0x0902)                                                   \
    X(CONTEXT_DEVICES, 0x1081)                                                 \
    X(MEM_SIZE, 0x1102)                                                        \
    X(MEM_CONTEXT, 0x1106)                                                     \
    X(IMAGE_ELEMENT_SIZE, 0x1111)                                              \
    X(PROGRAM_DEVICES, 0x1163)                                                 \
    X(PROGRAM_NUM_DEVICES, 0x1162)                                             \
    X(PROGRAM_SOURCE, 0x1164)                                                  \
    X(PROGRAM_BINARY_SIZES, 0x1165)                                            \
    X(PROGRAM_KERNEL_NAMES, 0x1168)                                            \
    X(PROGRAM_BUILD_STATUS, 0x1181)                                            \
    X(PROGRAM_BUILD_LOG, 0x1183)                                               \
    X(KERNEL_FUNCTION_NAME, 0x1190)                                            \
    X(KERNEL_PROGRAM, 0x1194)                                                  \
    X(EVENT_COMMAND_QUEUE, 0x11D0)                                             \
    X(EVENT_COMMAND_EXECUTION_STATUS, 0x11D3)                                  \
    X(PROFILING_COMMAND_QUEUED, 0x1280)                                        \
    X(PROFILING_COMMAND_SUBMIT, 0x1281)                                        \
    X(PROFILING_COMMAND_START, 0x1282)                                         \
    X(PROFILING_COMMAND_END, 0x1283)

enum {
#define TRACE_X(name, value) OPENCL_##name = value,
    OPENCL_CONSTANTS(TRACE_X)
#undef TRACE_X
};

/* The numbers of a layer's interface, as in cl_layer.h. */
enum {
    OPENCL_LAYER_API_VERSION = 0x4240,
    OPENCL_LAYER_NAME = 0x4241,
    OPENCL_LAYER_API_VERSION_100 = 100,
    OPENCL_SLOTS = 149, /* of a dispatch table, in OpenCL 3.0 */
};

#define OPENCL_INFO size_t size, void *value, size_t *size_ret
#define OPENCL_WAIT cl_uint count, const cl_event *list, cl_event *event
#define OPENCL_RECT                                                            \
    const size_t *buffer_origin, const size_t *host_origin,                    \
        const size_t *region, size_t row, size_t slice, size_t host_row,       \
        size_t host_slice

/* X(slot, name without cl, what it returns, (parameters)): functions that the
 * layer calls or replaces. */
#define OPENCL_FUNCTIONS(X)                                                    \
    X(1, GetPlatformInfo, cl_int, (cl_platform_id, cl_uint info, OPENCL_INFO)) \
    X(3, GetDeviceInfo, cl_int, (cl_device_id, cl_uint info, OPENCL_INFO))     \
    X(8, GetContextInfo, cl_int, (cl_context, cl_uint info, OPENCL_INFO))      \
    X(9, CreateCommandQueue, cl_command_queue,                                 \
      (cl_context context, cl_device_id device, cl_bitfield properties,        \
       cl_int * error))                                                        \
    X(10, RetainCommandQueue, cl_int, (cl_command_queue queue))                \
    X(11, ReleaseCommandQueue, cl_int, (cl_command_queue queue))               \
    X(12, GetCommandQueueInfo, cl_int,                                         \
      (cl_command_queue queue, cl_uint info, OPENCL_INFO))                     \
    X(13, SetCommandQueueProperty, cl_int,                                     \
      (cl_command_queue queue, cl_bitfield properties, cl_bool enable,         \
       cl_bitfield * old))                                                     \
    X(14, CreateBuffer, cl_mem,                                                \
      (cl_context context, cl_bitfield flags, size_t size, void *host,         \
       cl_int *error))                                                         \
    X(15, CreateImage2D, cl_mem,                                               \
      (cl_context context, cl_bitfield flags, const void *format,              \
       size_t width, size_t height, size_t row, void *host, cl_int *error))    \
    X(16, CreateImage3D, cl_mem,                                               \
      (cl_context context, cl_bitfield flags, const void *format,              \
       size_t width, size_t height, size_t depth, size_t row, size_t slice,    \
       void *host, cl_int *error))                                             \
    X(17, RetainMemObject, cl_int, (cl_mem memory))                            \
    X(18, ReleaseMemObject, cl_int, (cl_mem memory))                           \
    X(20, GetMemObjectInfo, cl_int, (cl_mem, cl_uint info, OPENCL_INFO))       \
    X(21, GetImageInfo, cl_int, (cl_mem, cl_uint info, OPENCL_INFO))           \
    X(27, CreateProgramWithBinary, cl_program,                                 \
      (cl_context context, cl_uint devices, const cl_device_id *list,          \
       const size_t *lengths, const unsigned char **binaries, cl_int *status,  \
       cl_int *error))                                                         \
    X(30, BuildProgram, cl_int,                                                \
      (cl_program program, cl_uint devices, const cl_device_id *list,          \
       const char *options, opencl_on_program *notify, void *data))            \
    X(32, GetProgramInfo, cl_int, (cl_program, cl_uint info, OPENCL_INFO))     \
    X(33, GetProgramBuildInfo, cl_int,                                         \
      (cl_program, cl_device_id, cl_uint info, OPENCL_INFO))                   \
    X(34, CreateKernel, cl_kernel,                                             \
      (cl_program program, const char *name, cl_int *error))                   \
    X(35, CreateKernelsInProgram, cl_int,                                      \
      (cl_program program, cl_uint room, cl_kernel * kernels,                  \
       cl_uint * number))                                                      \
    X(36, RetainKernel, cl_int, (cl_kernel kernel))                            \
    X(37, ReleaseKernel, cl_int, (cl_kernel kernel))                           \
    X(39, GetKernelInfo, cl_int, (cl_kernel, cl_uint info, OPENCL_INFO))       \
    X(41, WaitForEvents, cl_int, (cl_uint count, const cl_event *list))        \
    X(42, GetEventInfo, cl_int, (cl_event, cl_uint info, OPENCL_INFO))         \
    X(44, ReleaseEvent, cl_int, (cl_event event))                              \
    X(45, GetEventProfilingInfo, cl_int,                                       \
      (cl_event event, cl_uint info, OPENCL_INFO))                             \
    X(46, Flush, cl_int, (cl_command_queue queue))                             \
    X(47, Finish, cl_int, (cl_command_queue queue))                            \
    X(48, EnqueueReadBuffer, cl_int,                                           \
      (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, \
       size_t size, void *to, OPENCL_WAIT))                                    \
    X(49, EnqueueWriteBuffer, cl_int,                                          \
      (cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t offset, \
       size_t size, const void *from, OPENCL_WAIT))                            \
    X(50, EnqueueCopyBuffer, cl_int,                                           \
      (cl_command_queue queue, cl_mem from, cl_mem to, size_t from_offset,     \
       size_t to_offset, size_t size, OPENCL_WAIT))                            \
    X(51, EnqueueReadImage, cl_int,                                            \
      (cl_command_queue queue, cl_mem image, cl_bool blocking,                 \
       const size_t *origin, const size_t *region, size_t row, size_t slice,   \
       void *to, OPENCL_WAIT))                                                 \
    X(52, EnqueueWriteImage, cl_int,                                           \
      (cl_command_queue queue, cl_mem image, cl_bool blocking,                 \
       const size_t *origin, const size_t *region, size_t row, size_t slice,   \
       const void *from, OPENCL_WAIT))                                         \
    X(53, EnqueueCopyImage, cl_int,                                            \
      (cl_command_queue queue, cl_mem image, cl_mem to,                        \
       const size_t *from_origin, const size_t *to_origin,                     \
       const size_t *region, OPENCL_WAIT))                                     \
    X(54, EnqueueCopyImageToBuffer, cl_int,                                    \
      (cl_command_queue queue, cl_mem image, cl_mem to, const size_t *origin,  \
       const size_t *region, size_t offset, OPENCL_WAIT))                      \
    X(55, EnqueueCopyBufferToImage, cl_int,                                    \
      (cl_command_queue queue, cl_mem from, cl_mem image, size_t offset,       \
       const size_t *origin, const size_t *region, OPENCL_WAIT))               \
    X(56, EnqueueMapBuffer, void *,                                            \
      (cl_command_queue queue, cl_mem buffer, cl_bool blocking,                \
       cl_bitfield flags, size_t offset, size_t size, OPENCL_WAIT,             \
       cl_int * error))                                                        \
    X(57, EnqueueMapImage, void *,                                             \
      (cl_command_queue queue, cl_mem image, cl_bool blocking,                 \
       cl_bitfield flags, const size_t *origin, const size_t *region,          \
       size_t *row, size_t *slice, OPENCL_WAIT, cl_int *error))                \
    X(58, EnqueueUnmapMemObject, cl_int,                                       \
      (cl_command_queue queue, cl_mem memory, void *mapped, OPENCL_WAIT))      \
    X(59, EnqueueNDRangeKernel, cl_int,                                        \
      (cl_command_queue queue, cl_kernel kernel, cl_uint dimensions,           \
       const size_t *offset, const size_t *global, const size_t *local,        \
       OPENCL_WAIT))                                                           \
    X(60, EnqueueTask, cl_int,                                                 \
      (cl_command_queue queue, cl_kernel kernel, OPENCL_WAIT))                 \
    X(61, EnqueueNativeKernel, cl_int,                                         \
      (cl_command_queue queue, opencl_native * function, void *arguments,      \
       size_t size, cl_uint memories, const cl_mem *memory,                    \
       const void **places, OPENCL_WAIT))                                      \
    X(62, EnqueueMarker, cl_int, (cl_command_queue queue, cl_event * event))   \
    X(63, EnqueueWaitForEvents, cl_int,                                        \
      (cl_command_queue queue, cl_uint count, const cl_event *list))           \
    X(64, EnqueueBarrier, cl_int, (cl_command_queue queue))                    \
    X(65, GetExtensionFunctionAddress, void *, (const char *name))             \
    X(81, SetEventCallback, cl_int,                                            \
      (cl_event, cl_int status, opencl_on_event *, void *data))                \
    X(86, EnqueueReadBufferRect, cl_int,                                       \
      (cl_command_queue queue, cl_mem buffer, cl_bool blocking, OPENCL_RECT,   \
       void *to, OPENCL_WAIT))                                                 \
    X(87, EnqueueWriteBufferRect, cl_int,                                      \
      (cl_command_queue queue, cl_mem buffer, cl_bool blocking, OPENCL_RECT,   \
       const void *from, OPENCL_WAIT))                                         \
    X(88, EnqueueCopyBufferRect, cl_int,                                       \
      (cl_command_queue queue, cl_mem from, cl_mem to, OPENCL_RECT,            \
       OPENCL_WAIT))                                                           \
    X(96, CreateImage, cl_mem,                                                 \
      (cl_context context, cl_bitfield flags, const void *format,              \
       const void *shape, void *host, cl_int *error))                          \
    X(98, CompileProgram, cl_int,                                              \
      (cl_program program, cl_uint devices, const cl_device_id *list,          \
       const char *options, cl_uint headers, const cl_program *header_list,    \
       const char **names, opencl_on_program *notify, void *data))             \
    X(99, LinkProgram, cl_program,                                             \
      (cl_context context, cl_uint devices, const cl_device_id *list,          \
       const char *options, cl_uint inputs, const cl_program *input_list,      \
       opencl_on_program *notify, void *data, cl_int *error))                  \
    X(102, EnqueueFillBuffer, cl_int,                                          \
      (cl_command_queue queue, cl_mem buffer, const void *pattern,             \
       size_t pattern_size, size_t offset, size_t size, OPENCL_WAIT))          \
    X(103, EnqueueFillImage, cl_int,                                           \
      (cl_command_queue queue, cl_mem image, const void *color,                \
       const size_t *origin, const size_t *region, OPENCL_WAIT))               \
    X(104, EnqueueMigrateMemObjects, cl_int,                                   \
      (cl_command_queue queue, cl_uint memories, const cl_mem *memory,         \
       cl_bitfield flags, OPENCL_WAIT))                                        \
    X(105, EnqueueMarkerWithWaitList, cl_int,                                  \
      (cl_command_queue queue, OPENCL_WAIT))                                   \
    X(106, EnqueueBarrierWithWaitList, cl_int,                                 \
      (cl_command_queue queue, OPENCL_WAIT))                                   \
    X(107, GetExtensionFunctionAddressForPlatform, void *,                     \
      (cl_platform_id platform, const char *name))                             \
    X(123, CreateCommandQueueWithProperties, cl_command_queue,                 \
      (cl_context context, cl_device_id device, const cl_ulong *properties,    \
       cl_int *error))                                                         \
    X(124, CreatePipe, cl_mem,                                                 \
      (cl_context context, cl_bitfield flags, cl_uint packet, cl_uint packets, \
       const intptr_t *properties, cl_int *error))                             \
    X(126, SVMAlloc, void *,                                                   \
      (cl_context context, cl_bitfield flags, size_t size, cl_uint alignment)) \
    X(127, SVMFree, void, (cl_context context, void *memory))                  \
    X(128, EnqueueSVMFree, cl_int,                                             \
      (cl_command_queue queue, cl_uint number, void **pointers,                \
       opencl_on_free *function, void *data, OPENCL_WAIT))                     \
    X(129, EnqueueSVMMemcpy, cl_int,                                           \
      (cl_command_queue queue, cl_bool blocking, void *to, const void *from,   \
       size_t size, OPENCL_WAIT))                                              \
    X(130, EnqueueSVMMemFill, cl_int,                                          \
      (cl_command_queue queue, void *to, const void *pattern,                  \
       size_t pattern_size, size_t size, OPENCL_WAIT))                         \
    X(131, EnqueueSVMMap, cl_int,                                              \
      (cl_command_queue queue, cl_bool blocking, cl_bitfield flags,            \
       void *memory, size_t size, OPENCL_WAIT))                                \
    X(132, EnqueueSVMUnmap, cl_int,                                            \
      (cl_command_queue queue, void *memory, OPENCL_WAIT))                     \
    X(137, CloneKernel, cl_kernel, (cl_kernel kernel, cl_int * error))         \
    X(138, CreateProgramWithIL, cl_program,                                    \
      (cl_context context, const void *il, size_t length, cl_int *error))      \
    X(139, EnqueueSVMMigrateMem, cl_int,                                       \
      (cl_command_queue queue, cl_uint number, const void **pointers,          \
       const size_t *sizes, cl_bitfield flags, OPENCL_WAIT))                   \
    X(140, GetDeviceAndHostTimer, cl_int,                                      \
      (cl_device_id, cl_ulong * device, cl_ulong * host))                      \
    X(146, CreateBufferWithProperties, cl_mem,                                 \
      (cl_context context, const cl_ulong *properties, cl_bitfield flags,      \
       size_t size, void *host, cl_int *error))                                \
    X(147, CreateImageWithProperties, cl_mem,                                  \
      (cl_context context, const cl_ulong *properties, cl_bitfield flags,      \
       const void *format, const void *shape, void *host, cl_int *error))

/* clCreateCommandQueueWithProperties and its namesake with KHR. */
typedef cl_command_queue opencl_create_queue(cl_context, cl_device_id,
                                             const cl_ulong *properties,
                                             cl_int *error);

struct opencl_functions {
#define TRACE_X(slot, name, type, parameters) type(*name) parameters;
    OPENCL_FUNCTIONS(TRACE_X)
#undef TRACE_X
};

#endif
