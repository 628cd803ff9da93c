/* opencl.c: tests that use an OpenCL device. */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <testlog/test_log.h>

enum { N = 64 };

static const char good[] =
    "kernel void add(global int *a, int n) { a[get_global_id(0)] += n; }\n"
    "kernel void spin(global int *a) {\n"
    "    for (int i = 0; i < 1000000; i++) a[0] = a[0] * 3 + i;\n"
    "}\n";

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_program program;
static cl_kernel kernel;
static cl_mem buffer;
static int words[N];

static void build(const char *source, cl_int expected)
{
    program = clCreateProgramWithSource(context, 1, &source, NULL, NULL);
    cr_assert_eq(clBuildProgram(program, 1, &device, "-DN=1", NULL, NULL),
                 expected);
}

static void begin(void)
{
    cl_platform_id platform;

    cr_assert_eq(clGetPlatformIDs(1, &platform, NULL), 0);
    cr_assert_eq(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL),
                 0);
    context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    queue = clCreateCommandQueue(context, device, 0, NULL);
    cr_assert_not_null(queue);
}

static void make_kernel(const char *name)
{
    const int one = 1;

    build(good, CL_SUCCESS);
    kernel = clCreateKernel(program, name, NULL);
    buffer =
        clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(words), NULL, NULL);
    cr_assert(kernel && buffer);
    clSetKernelArg(kernel, 0, sizeof(buffer), &buffer);
    clSetKernelArg(kernel, 1, sizeof(one), &one);
    clEnqueueWriteBuffer(queue, buffer, CL_TRUE, 0, sizeof(words), words, 0,
                         NULL, NULL);
}

static void launch(cl_command_queue to, cl_event *event)
{
    const size_t global = N, local = 16;

    cr_assert_eq(clEnqueueNDRangeKernel(to, kernel, 1, NULL, &global, &local, 0,
                                        NULL, event),
                 0);
}

static void end(void)
{
    if (buffer)
        clReleaseMemObject(buffer);
    if (kernel)
        clReleaseKernel(kernel);
    if (program)
        clReleaseProgram(program);
    clReleaseCommandQueue(queue);
    clReleaseContext(context);
}

TestSuite(opencl, .init = begin, .fini = end, .timeout = 60);

TEST_LOG(opencl, launches)
{
    trace_span(INFO, "outer", ("number", 7));

    make_kernel("add");
    {
        trace_span(INFO, "inner");

        launch(queue, NULL);
        launch(queue, NULL);
    }
    cr_expect_eq(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof(words),
                                     words, 0, NULL, NULL),
                 0);
    cr_expect_eq(words[N - 1], 2);
}

TEST_LOG(opencl, fails_to_build)
{
    trace_span(INFO, "step");

    build("kernel void f(", CL_BUILD_PROGRAM_FAILURE);
}

TEST_LOG(opencl, uses_two_queues)
{
    cl_command_queue other = clCreateCommandQueue(
        context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, NULL);

    make_kernel("add");
    launch(queue, NULL);
    clFinish(queue);
    launch(other, NULL);
    clFinish(other);
    clReleaseCommandQueue(other);
}

static void CL_CALLBACK on_event(cl_event event, cl_int status, void *data)
{
    (void)event;
    __atomic_store_n((cl_int *)data, status == CL_COMPLETE ? 1 : -1,
                     __ATOMIC_RELEASE);
}

TEST_LOG(opencl, is_called_back)
{
    cl_event event;
    cl_int called = 0;

    make_kernel("add");
    launch(queue, &event);
    cr_expect_eq(clSetEventCallback(event, CL_COMPLETE, on_event, &called), 0);
    clFinish(queue);
    while (!__atomic_load_n(&called, __ATOMIC_ACQUIRE))
        usleep(100);
    cr_expect_eq(called, 1);
    clReleaseEvent(event);
}

TEST_LOG(opencl, shares_memory)
{
    const int five = 5;
    int *memory = clSVMAlloc(context, CL_MEM_READ_WRITE, sizeof(words), 0);

    cr_assert_not_null(memory);
    clEnqueueSVMMemFill(queue, memory, &five, sizeof(five), sizeof(words), 0,
                        NULL, NULL);
    clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, memory, sizeof(words), 0, NULL,
                    NULL);
    cr_expect_eq(memory[N - 1], 5);
    clEnqueueSVMUnmap(queue, memory, 0, NULL, NULL);
    clFinish(queue);
    clSVMFree(context, memory);
}

TEST_LOG(opencl, writes_an_image)
{
    const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
    const cl_image_desc shape = {.image_type = CL_MEM_OBJECT_IMAGE2D,
                                 .image_width = 4,
                                 .image_height = 4};
    const size_t origin[3] = {0}, region[3] = {4, 4, 1};

    buffer =
        clCreateImage(context, CL_MEM_READ_WRITE, &format, &shape, NULL, NULL);
    cr_expect_eq(clEnqueueWriteImage(queue, buffer, CL_TRUE, origin, region, 0,
                                     0, words, 0, NULL, NULL),
                 0);
}

/* 2 rows of 8 bytes in 4 slices. */
TEST_LOG(opencl, copies_boxes)
{
    const size_t origin[3] = {0}, region[3] = {8, 2, 4};
    cl_mem other =
        clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(words), NULL, NULL);

    buffer =
        clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(words), NULL, NULL);
    cr_expect_eq(clEnqueueWriteBufferRect(queue, buffer, CL_TRUE, origin,
                                          origin, region, 8, 16, 8, 16, words,
                                          0, NULL, NULL),
                 0);
    cr_expect_eq(clEnqueueCopyBufferRect(queue, buffer, other, origin, origin,
                                         region, 8, 16, 8, 16, 0, NULL, NULL),
                 0);
    cr_expect_eq(clEnqueueReadBufferRect(queue, other, CL_TRUE, origin, origin,
                                         region, 8, 16, 8, 16, words, 0, NULL,
                                         NULL),
                 0);
    clReleaseMemObject(other);
}

TEST_LOG(opencl, maps_an_image)
{
    const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
    const cl_image_desc shape = {.image_type = CL_MEM_OBJECT_IMAGE2D,
                                 .image_width = 8,
                                 .image_height = 8};
    const size_t origin[3] = {0}, region[3] = {3, 5, 1};
    size_t row = 0;
    void *mapped;
    cl_int error;

    buffer =
        clCreateImage(context, CL_MEM_READ_WRITE, &format, &shape, NULL, NULL);
    mapped = clEnqueueMapImage(queue, buffer, CL_TRUE, CL_MAP_READ, origin,
                               region, &row, NULL, 0, NULL, NULL, &error);
    cr_assert_eq(error, 0);
    clEnqueueUnmapMemObject(queue, buffer, mapped, 0, NULL, NULL);
    mapped = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, 0, 12, 0,
                                NULL, NULL, &error);
    cr_expect_neq(error, 0, "it is no buffer");
    clFinish(queue);
}

TEST_LOG(opencl, leaks)
{
    trace_span(INFO, "step");

    clCreateBuffer(context, CL_MEM_READ_WRITE, 4096, NULL, NULL);
    cr_assert_not_null(clSVMAlloc(context, CL_MEM_READ_WRITE, 1024, 0));
}

/* Nobody waits for the kernel; the recording does. */
TEST_LOG(opencl, ends_before_its_kernel)
{
    make_kernel("spin");
    launch(queue, NULL);
    clFlush(queue);
}

TEST_LOG(opencl, never_opens_its_gate)
{
    const size_t global = N;
    cl_event gate = clCreateUserEvent(context, NULL);

    make_kernel("add");
    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 1, &gate,
                           NULL);
    exit(0); /* the bare program ends here as well */
}

/* No driver has to call back for a command that fails like this. */
TEST_LOG(opencl, fails_behind_its_gate)
{
    cl_event gate = clCreateUserEvent(context, NULL);
    cl_mem memory = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, NULL);
    const char byte = 1;

    clEnqueueWriteBuffer(queue, memory, CL_FALSE, 0, 1, &byte, 1, &gate, NULL);
    clSetUserEventStatus(gate, -7);
    clReleaseEvent(gate);
    clReleaseMemObject(memory);
}

TEST_LOG(opencl, forks)
{
    pid_t child;
    int status = 1;

    make_kernel("add");
    launch(queue, NULL);
    child = fork();
    if (!child)
        _exit(0);
    waitpid(child, &status, 0);
    cr_expect_eq(status, 0);
    launch(queue, NULL);
    clFinish(queue);
}

TEST_LOG(opencl, is_killed)
{
    make_kernel("add");
    launch(queue, NULL);
    clFinish(queue);
    kill(getpid(), SIGKILL);
}

TEST_LOG(opencl, launches_often)
{
    make_kernel("add");
    for (int i = 0; i < 5000; i++)
        launch(queue, NULL);
    clFinish(queue);
}
