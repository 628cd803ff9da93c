/* zones.c: tests whose kernels record zones on an OpenCL device. */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <string.h>
#include <time.h>

#include <testlog/test_log.h>
#include <testlog/zone.h>

enum { GROUPS = 4, ITEMS = 8, BYTES = TRACE_ZONE_SIZE(64) };

static const char source[] =
    "enum { OUTER, INNER, OTHER };\n"
    "kernel void nest(global trace_zone_ring *ring, global int *sums) {\n"
    "    int group = get_group_id(0);\n"
    "    if (get_local_id(0)) return;\n"
    "    trace_zone_begin(ring, OUTER);\n"
    "    trace_zone_begin(ring, INNER);\n"
    "    for (int i = 0; i < 1000; i++) sums[group] += i;\n"
    "    trace_zone_end(ring, INNER);\n"
    "    trace_zone_end(ring, OUTER);\n"
    "}\n"
    "kernel void forget(global trace_zone_ring *ring, global int *sums) {\n"
    "    if (get_global_id(0)) return;\n"
    "    trace_zone_begin(ring, OUTER);\n"
    "    trace_zone_end(ring, OTHER);\n"
    "}\n";

static const char *const names[] = {"outer", "inner", "other"};

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_program program;
static cl_kernel kernel;
static cl_mem ring, sums;
static struct trace_zones *zones;
static char bytes[BYTES];

static void begin(void)
{
    const char *sources[] = {trace_zone_source(), source};
    cl_platform_id platform;

    cr_assert_eq(clGetPlatformIDs(1, &platform, NULL), 0);
    cr_assert_eq(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL),
                 0);
    context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    queue = clCreateCommandQueue(context, device, 0, NULL);
    program = clCreateProgramWithSource(context, 2, sources, NULL, NULL);
    cr_assert_eq(clBuildProgram(program, 1, &device, "", NULL, NULL), 0);
    sums = clCreateBuffer(context, CL_MEM_READ_WRITE, GROUPS * sizeof(cl_int),
                          NULL, NULL);
    cr_assert(queue && sums);
}

static void make_ring(size_t size)
{
    zones = trace_zones_open(bytes, size, names, 3);
    ring = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                          size, bytes, NULL);
    cr_assert_not_null(ring);
}

static void launch(const char *name)
{
    const size_t global = GROUPS * ITEMS, local = ITEMS;

    kernel = clCreateKernel(program, name, NULL);
    cr_assert_not_null(kernel);
    clSetKernelArg(kernel, 0, sizeof(ring), &ring);
    clSetKernelArg(kernel, 1, sizeof(sums), &sums);
    cr_assert_eq(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local,
                                        0, NULL, NULL),
                 0);
    clReleaseKernel(kernel);
}

static void follow(size_t size)
{
    make_ring(size);
    trace_zones_follow(zones, ring);
}

static cl_uint references_of(cl_mem memory)
{
    cl_uint count = 0;

    clGetMemObjectInfo(memory, CL_MEM_REFERENCE_COUNT, sizeof(count), &count,
                       NULL);
    return count;
}

/* PoCL gives up its references a little later than its objects. */
static cl_uint wait_for_last_reference(void)
{
    const struct timespec pause = {.tv_nsec = 10000000};
    cl_uint count = 0;

    for (int i = 0; i < 500 && count != 1; i++) {
        if (i)
            nanosleep(&pause, NULL);
        clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof(count),
                         &count, NULL);
    }
    return count;
}

static void end(void)
{
    if (ring && references_of(ring) == 1)
        clReleaseMemObject(ring);
    clReleaseMemObject(sums);
    clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    cr_expect_eq(wait_for_last_reference(), 1);
    clReleaseContext(context);
}

TestSuite(zones, .init = begin, .fini = end, .timeout = 60);

TEST_LOG(zones, nests)
{
    follow(BYTES);
    {
        trace_span(INFO, "first");

        launch("nest");
    }
    {
        trace_span(INFO, "second");

        launch("nest");
    }
    clFinish(queue);
    cr_expect_eq(references_of(ring), 1);
    trace_zones_close(zones);
}

/* The ring is read by each wait, so it needs room for one launch only. */
TEST_LOG(zones, launches_often)
{
    follow(TRACE_ZONE_SIZE(16));
    for (int i = 0; i < 10; i++) {
        launch("nest");
        clFinish(queue);
    }
}

TEST_LOG(zones, overflows)
{
    follow(TRACE_ZONE_SIZE(4));
    launch("nest");
    clFinish(queue);
    trace_zones_close(zones);
}

TEST_LOG(zones, forgets)
{
    follow(BYTES);
    launch("forget");
    clFinish(queue);
}

/* Nobody waits: what the ring has is read when the test ends. */
TEST_LOG(zones, fails)
{
    follow(BYTES);
    launch("nest");
    clFlush(queue);
    cr_assert_fail("too early");
}

TEST_LOG(zones, releases_its_ring)
{
    follow(BYTES);
    launch("nest");
    clFinish(queue);
    launch("nest");
    clEnqueueReadBuffer(queue, sums, CL_TRUE, 0, 4, bytes, 0, NULL, NULL);
    clReleaseMemObject(ring);
    ring = NULL;
    clFinish(queue);
}

TEST_LOG(zones, reads_a_copy)
{
    make_ring(BYTES);
    for (int i = 0; i < 3; i++) {
        launch("nest");
        clEnqueueReadBuffer(queue, ring, CL_TRUE, 0, BYTES, bytes, 0, NULL,
                            NULL);
        cr_expect_eq(trace_zones_read(zones, bytes), 2 * GROUPS);
        clEnqueueWriteBuffer(queue, ring, CL_TRUE, 0, sizeof(trace_zone_ring),
                             bytes, 0, NULL, NULL);
    }
}

TEST_LOG(zones, gives_no_ring)
{
    launch("nest");
    clFinish(queue);
}
