/* opencl_waves_test.c: tests that use an OpenCL device.
 *
 * Builds, commands and waits appear below the test's spans in its log and
 * trace, with the kernels on a track for each queue, without a word about
 * tracing here. Only the kernel `settle` times its own parts: they are on a
 * track for each work-group. LOG=info,gpu=trace shows the lines. `make
 * deps-opencl` installs PoCL, whose device is the processor; without a device
 * the tests are skipped.
 */
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <testlog/test_log.h>
#include <testlog/zone.h>

enum { WIDTH = 256, CELLS = WIDTH * WIDTH, STEPS = 6 };

static const char waves[] =
    "kernel void drop(global float *now, int at, float height) {\n"
    "    if (get_global_id(0) == at) now[at] += height;\n"
    "}\n"
    "kernel void spread(global const float *now, global float *then, int w) {\n"
    "    int x = get_global_id(0), y = get_global_id(1), i = y * w + x;\n"
    "    float left = x ? now[i - 1] : 0, right = x < w - 1 ? now[i + 1] : 0;\n"
    "    float up = y ? now[i - w] : 0, down = y < w - 1 ? now[i + w] : 0;\n"
    "    then[i] = 0.5f * now[i] + 0.125f * (left + right + up + down);\n"
    "}\n";

/* Each group settles a row of its own. */
static const char tiles[] =
    "enum { LOAD, AVERAGE, STORE };\n"
    "kernel void settle(global float *now, local float *row,\n"
    "                   global trace_zone_ring *ring) {\n"
    "    int x = get_local_id(0), w = get_local_size(0);\n"
    "    int left = (x + w - 1) % w, right = (x + 1) % w;\n"
    "    if (!x) trace_zone_begin(ring, LOAD);\n"
    "    row[x] = now[get_global_id(0)];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (!x) trace_zone_end(ring, LOAD);\n"
    "    if (!x) trace_zone_begin(ring, AVERAGE);\n"
    "    for (int i = 0; i < 50; i++) {\n"
    "        float mean = 0.5f * row[x] + 0.25f * (row[left] + row[right]);\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "        row[x] = mean;\n"
    "        barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    }\n"
    "    if (!x) trace_zone_end(ring, AVERAGE);\n"
    "    if (!x) trace_zone_begin(ring, STORE);\n"
    "    now[get_global_id(0)] = row[x];\n"
    "    barrier(CLK_LOCAL_MEM_FENCE);\n"
    "    if (!x) trace_zone_end(ring, STORE);\n"
    "}\n";

static cl_device_id device;
static cl_context context;
static cl_command_queue queue;
static cl_program program;
static cl_kernel drop, spread, settle;
static cl_mem now, then, ring;
static struct trace_zones *zones;

/* Asserts that a call succeeds; the message has the call and the error. */
#define cl_assert(call)                                                        \
    do {                                                                       \
        cl_int error_ = (call);                                                \
                                                                               \
        cr_assert_eq(error_, CL_SUCCESS, "%s: %d", #call, error_);             \
    } while (0)

/* ---- Setup and teardown ---- */

static void open_device(void)
{
    cl_platform_id platform;

    if (clGetPlatformIDs(1, &platform, NULL) ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
        cr_skip_test("needs an OpenCL device (make deps-opencl)");
    context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    queue = clCreateCommandQueue(context, device, 0, NULL);
    cr_assert(context && queue);
}

static cl_int build(const char *source)
{
    const char *sources[] = {trace_zone_source(), source};

    trace_span(INFO, "build");

    program = clCreateProgramWithSource(context, 2, sources, NULL, NULL);
    return clBuildProgram(program, 1, &device, "-cl-fast-relaxed-math", NULL,
                          NULL);
}

static void make_cells(void)
{
    const float zero = 0;

    now = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(float) * CELLS,
                         NULL, NULL);
    then = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof(float) * CELLS,
                          NULL, NULL);
    cr_assert(now && then);
    cl_assert(clEnqueueFillBuffer(queue, now, &zero, sizeof(zero), 0,
                                  sizeof(float) * CELLS, 0, NULL, NULL));
    cl_assert(clFinish(queue));
}

static void prepare(void)
{
    cl_assert(build(waves));
    drop = clCreateKernel(program, "drop", NULL);
    spread = clCreateKernel(program, "spread", NULL);
    cr_assert(drop && spread);
    make_cells();
}

/* The ring into which the kernel writes its zones. */
static void make_ring(void)
{
    static const char *const names[] = {"load", "average", "store"};
    static char bytes[TRACE_ZONE_SIZE(2048)];

    zones = trace_zones_open(bytes, sizeof(bytes), names, 3);
    ring = clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR,
                          sizeof(bytes), bytes, NULL);
    cr_assert(ring);
    trace_zones_follow(zones, ring);
}

static void close_device(void)
{
    trace_zones_close(zones);
    if (ring)
        clReleaseMemObject(ring);
    if (now)
        clReleaseMemObject(now);
    if (then)
        clReleaseMemObject(then);
    if (drop)
        clReleaseKernel(drop);
    if (spread)
        clReleaseKernel(spread);
    if (settle)
        clReleaseKernel(settle);
    if (program)
        clReleaseProgram(program);
    if (queue)
        clReleaseCommandQueue(queue);
    if (context)
        clReleaseContext(context);
}

TestSuite(opencl, .init = open_device, .fini = close_device);

/* ---- Work ---- */

static void let_drop(cl_command_queue to, cl_event after, cl_event *done)
{
    const size_t cells = CELLS;
    const int middle = CELLS / 2 + WIDTH / 2;
    const float height = 1;

    clSetKernelArg(drop, 0, sizeof(now), &now);
    clSetKernelArg(drop, 1, sizeof(middle), &middle);
    clSetKernelArg(drop, 2, sizeof(height), &height);
    cl_assert(clEnqueueNDRangeKernel(to, drop, 1, NULL, &cells, NULL,
                                     after != NULL, after ? &after : NULL,
                                     done));
}

/* Spreads `now` into `then`, and exchanges them. */
static void step(cl_command_queue to, cl_event after)
{
    const size_t global[] = {WIDTH, WIDTH}, local[] = {16, 16};
    const int width = WIDTH;
    cl_mem old = now;

    clSetKernelArg(spread, 0, sizeof(now), &now);
    clSetKernelArg(spread, 1, sizeof(then), &then);
    clSetKernelArg(spread, 2, sizeof(width), &width);
    cl_assert(clEnqueueNDRangeKernel(to, spread, 2, NULL, global, local,
                                     after != NULL, after ? &after : NULL,
                                     NULL));
    now = then;
    then = old;
}

static void expect_sum(float expected)
{
    static float cells[CELLS];
    float all = 0;

    trace_span(DEBUG, "expect_sum", (expected));

    cl_assert(clEnqueueReadBuffer(queue, now, CL_TRUE, 0, sizeof(cells), cells,
                                  0, NULL, NULL));
    for (int i = 0; i < CELLS; i++)
        all += cells[i];
    cr_expect_float_eq(all, expected, 1e-4, "the sum is %g", all);
}

/* ---- Tests ---- */

TEST_LOG(opencl, builds_a_program)
{
    cl_assert(build(waves));
}

/* The compiler's log is a line of the test. */
TEST_LOG(opencl, rejects_a_typo)
{
    cr_expect_eq(build("kernel void drop(global flaot *now) {}"),
                 CL_BUILD_PROGRAM_FAILURE);
}

TEST_LOG(opencl, keeps_the_water)
{
    prepare();
    let_drop(queue, NULL, NULL);
    for (int i = 0; i < STEPS; i++) {
        trace_span(INFO, "step", (i));

        step(queue, NULL);
    }
    expect_sum(1);
}

/* In the trace, each work-group has a track with the parts of its work. */
TEST_LOG(opencl, times_the_parts_of_a_kernel)
{
    const size_t row = WIDTH, rows = 8 * row;
    const float one = 1;

    cl_assert(build(tiles));
    settle = clCreateKernel(program, "settle", NULL);
    cr_assert(settle);
    make_cells();
    make_ring();
    cl_assert(clEnqueueFillBuffer(queue, now, &one, sizeof(one), 0, sizeof(one),
                                  0, NULL, NULL));
    clSetKernelArg(settle, 0, sizeof(now), &now);
    clSetKernelArg(settle, 1, WIDTH * sizeof(float), NULL);
    clSetKernelArg(settle, 2, sizeof(ring), &ring);
    {
        trace_span(INFO, "settle");

        cl_assert(clEnqueueNDRangeKernel(queue, settle, 1, NULL, &rows, &row, 0,
                                         NULL, NULL));
    }
    expect_sum(1);
}

/* The second queue waits for the event of the first one. */
TEST_LOG(opencl, orders_two_queues_by_an_event)
{
    cl_command_queue other = clCreateCommandQueue(context, device, 0, NULL);
    cl_event dropped;

    prepare();
    let_drop(queue, NULL, &dropped);
    step(other, dropped);
    cl_assert(clFinish(other));
    expect_sum(1);
    clReleaseEvent(dropped);
    clReleaseCommandQueue(other);
}

/* Here it does not wait. In the trace, `spread` on the second queue runs before
 * `drop` on the first one: that is why the water is missing. */
TEST_LOG(opencl, shows_a_race_of_two_queues)
{
    cl_command_queue other = clCreateCommandQueue(context, device, 0, NULL);
    cl_event weather = clCreateUserEvent(context, NULL);

    prepare();
    let_drop(queue, weather, NULL);
    step(other, NULL);
    cl_assert(clFinish(other));
    clSetUserEventStatus(weather, CL_COMPLETE);
    cl_assert(clFinish(queue));
    expect_sum(0);
    clReleaseEvent(weather);
    clReleaseCommandQueue(other);
}
