/* opencl_answers.c: calls OpenCL in many ways and prints all that it answers,
 * so that the answers with and without the layer can be compared. With "leave"
 * it ends before its kernels, with "quit" by _exit; with "late" they run in an
 * exit handler. With "hide" it takes all layers away; "look" only looks for a
 * device. Exits with 77 without one. */
#define CL_TARGET_OPENCL_VERSION 300
#define CL_USE_DEPRECATED_OPENCL_1_1_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#include <CL/cl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { N = 64, LEFT = 5, NO_DEVICE = 77 };

static cl_platform_id platform;
static cl_device_id device;
static cl_context context;
static cl_program program;
static cl_kernel kernel;
static cl_mem buffer;

static const char source[] =
    "kernel void add(global int *a, int n) { a[get_global_id(0)] += n; }\n"
    "kernel void twice(global int *a) { a[get_global_id(0)] *= 2; }\n";

#define SAY(...) (printf(__VA_ARGS__), putchar('\n'))

/* The driver releases events and contexts a little after a command has ended,
 * on a thread that may wait for a processor; and it may keep a queue's last
 * event, or not. So a count is awaited until it is at most the number that it
 * may be. */
enum { PATIENCE = 5000, PAUSE_US = 1000 };

static bool settles(cl_uint (*read)(void *), void *of, cl_uint most)
{
    for (int i = 0; i < PATIENCE && read(of) > most; i++)
        usleep(PAUSE_US);
    return read(of) <= most;
}

static cl_uint read_event(void *event)
{
    cl_uint count = 99;

    clGetEventInfo(event, CL_EVENT_REFERENCE_COUNT, sizeof(count), &count,
                   NULL);
    return count;
}

static cl_uint read_program(void *its)
{
    cl_uint count = 99;

    clGetProgramInfo(its, CL_PROGRAM_REFERENCE_COUNT, sizeof(count), &count,
                     NULL);
    return count;
}

static cl_uint read_context(void *its)
{
    cl_uint count = 99;

    clGetContextInfo(its, CL_CONTEXT_REFERENCE_COUNT, sizeof(count), &count,
                     NULL);
    return count;
}

/* ---- Queues ---- */

static void ask_queue(const char *name, cl_command_queue queue)
{
    cl_queue_properties array[16] = {0};
    cl_command_queue_properties bits = 99;
    size_t size = 99, small = 99;
    cl_uint count = 0;
    cl_int result;

    result = clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, sizeof(bits),
                                   &bits, &size);
    SAY("%s: properties %d %lu %zu", name, result, (unsigned long)bits, size);
    SAY("%s: too small %d", name,
        clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES, 1, &bits, NULL));
    result = clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES_ARRAY,
                                   sizeof(array), array, &size);
    SAY("%s: array %d %zu", name, result, result ? 0 : size);
    for (size_t i = 0; !result && i < size / sizeof(*array); i++)
        SAY("%s: [%zu] %lu", name, i, (unsigned long)array[i]);
    result = clGetCommandQueueInfo(queue, CL_QUEUE_PROPERTIES_ARRAY, 8, array,
                                   &small);
    SAY("%s: small array %d", name, result);
    clRetainCommandQueue(queue);
    clGetCommandQueueInfo(queue, CL_QUEUE_REFERENCE_COUNT, sizeof(count),
                          &count, NULL);
    clReleaseCommandQueue(queue);
    SAY("%s: references %u", name, count);
}

static void queues(void)
{
    const cl_queue_properties none[] = {0};
    const cl_queue_properties ordered[] = {
        CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, 0};
    const cl_queue_properties profiled[] = {CL_QUEUE_PROPERTIES,
                                            CL_QUEUE_PROFILING_ENABLE, 0};
    const cl_queue_properties wrong[] = {0x7777, 1, 0};
    const struct {
        const char *name;
        const cl_queue_properties *properties;
    } all[] = {{"null", NULL},
               {"none", none},
               {"out of order", ordered},
               {"profiled", profiled},
               {"wrong", wrong}};
    cl_int error = 99;
    cl_command_queue queue;

    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++) {
        queue = clCreateCommandQueueWithProperties(context, device,
                                                   all[i].properties, &error);
        SAY("queue %s: %d", all[i].name, error);
        if (queue) {
            ask_queue(all[i].name, queue);
            clReleaseCommandQueue(queue);
        }
    }
    queue = clCreateCommandQueue(context, device, 0, &error);
    ask_queue("old", queue);
    clReleaseCommandQueue(queue);
    queue =
        clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, NULL);
    ask_queue("old profiled", queue);
    clReleaseCommandQueue(queue);
    SAY("no context: %d", !clCreateCommandQueue(NULL, device, 0, &error));
    SAY("error %d", error);
    SAY("release nothing: %d", clReleaseCommandQueue(NULL));
}

/* ---- Events ---- */

static void ask_event(const char *name, cl_command_queue queue, cl_event event)
{
    cl_command_type type = 0;
    cl_command_queue its = NULL;
    cl_ulong at[4] = {0};
    cl_int status = 99, result = 0;

    clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof(type), &type, NULL);
    clGetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof(its), &its, NULL);
    clWaitForEvents(1, &event);
    clGetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof(status),
                   &status, NULL);
    for (cl_uint i = 0; i < 4; i++)
        result = clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_QUEUED + i,
                                         sizeof(at[i]), &at[i], NULL);
    clFinish(queue);
    SAY("%s: type %x queue %d status %d profiling %d in order %d", name,
        (unsigned)type, its == queue, status, result,
        at[0] <= at[1] && at[1] <= at[2] && at[2] <= at[3]);
    clRetainEvent(event);
    SAY("%s: retained %d", name, settles(read_event, event, 3));
    SAY("%s: %d", name, clReleaseEvent(event));
}

static void commands(const char *name, cl_command_queue queue)
{
    const size_t global = N, local = 16, origin[3] = {0}, region[3] = {8, 4, 1};
    int zero = 0, words[N] = {0};
    cl_event event = NULL;
    cl_int error = 0;
    void *mapped;

#define TRY(call)                                                              \
    do {                                                                       \
        cl_int result = (event = NULL, call);                                  \
        SAY("%s: %d %d", #call, result, event != NULL);                        \
        if (event) {                                                           \
            ask_event(name, queue, event);                                     \
            clReleaseEvent(event);                                             \
        }                                                                      \
    } while (0)
    TRY(clEnqueueFillBuffer(queue, buffer, &zero, 4, 0, sizeof(words), 0, NULL,
                            &event));
    TRY(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, &local, 0, NULL,
                               &event));
    TRY(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 0, NULL,
                               &event));
    TRY(clEnqueueTask(queue, kernel, 0, NULL, &event));
    TRY(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof(words), words, 0,
                            NULL, &event));
    SAY("word %d", words[1]);
    TRY(clEnqueueWriteBuffer(queue, buffer, CL_FALSE, 0, sizeof(words), words,
                             0, NULL, &event));
    TRY(clEnqueueCopyBuffer(queue, buffer, buffer, 0, 128, 64, 0, NULL,
                            &event));
    TRY(clEnqueueReadBufferRect(queue, buffer, CL_TRUE, origin, origin, region,
                                8, 0, 8, 0, words, 0, NULL, &event));
    TRY(clEnqueueMarkerWithWaitList(queue, 0, NULL, &event));
    TRY(clEnqueueBarrierWithWaitList(queue, 0, NULL, &event));
    TRY(clEnqueueMigrateMemObjects(queue, 1, &buffer, 0, 0, NULL, &event));
    TRY(clEnqueueMarker(queue, &event));
    mapped = clEnqueueMapBuffer(queue, buffer, CL_TRUE, CL_MAP_READ, 0, 64, 0,
                                NULL, &event, &error);
    SAY("map %d %d", error, mapped != NULL);
    ask_event("map", queue, event);
    clReleaseEvent(event);
    TRY(clEnqueueUnmapMemObject(queue, buffer, mapped, 0, NULL, &event));
    /* errors */
    TRY(clEnqueueMarker(queue, NULL));
    TRY(clEnqueueNDRangeKernel(queue, kernel, 7, NULL, &global, NULL, 0, NULL,
                               &event));
    TRY(clEnqueueNDRangeKernel(NULL, kernel, 1, NULL, &global, NULL, 0, NULL,
                               &event));
    TRY(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, 1 << 30, words, 0, NULL,
                            &event));
    TRY(clEnqueueReadBuffer(queue, NULL, CL_TRUE, 0, 4, words, 0, NULL,
                            &event));
    SAY("map nothing %d",
        clEnqueueMapBuffer(queue, NULL, CL_TRUE, CL_MAP_READ, 0, 4, 0, NULL,
                           NULL, &error) == NULL);
    SAY("error %d", error);
    SAY("wait for none %d", clWaitForEvents(0, NULL));
    SAY("finish nothing %d", clFinish(NULL));
}

static void events(void)
{
    cl_command_queue plain = clCreateCommandQueue(context, device, 0, NULL);
    cl_command_queue profiled =
        clCreateCommandQueue(context, device, CL_QUEUE_PROFILING_ENABLE, NULL);
    cl_command_queue unordered = clCreateCommandQueue(
        context, device, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, NULL);

    commands("plain", plain);
    commands("profiled", profiled);
    commands("unordered", unordered);
    clReleaseCommandQueue(plain);
    clReleaseCommandQueue(profiled);
    clReleaseCommandQueue(unordered);
}

/* ---- Callbacks ---- */

static char order[64];

/* Appends a text and how it went. */
static void note(char *to, size_t size, const char *text, const char *end)
{
    size_t used = strlen(to);

    snprintf(to + used, size - used, "%s%s", text, end);
}

static void CL_CALLBACK on_event(cl_event event, cl_int status, void *data)
{
    (void)event;
    note(order, sizeof(order), data, status == CL_COMPLETE ? "+" : "-");
}

static void callbacks(void)
{
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
    cl_event gate = clCreateUserEvent(context, NULL), event;
    const size_t global = N;
    cl_ulong time;

    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &global, NULL, 1, &gate,
                           &event);
    SAY("gated: references %d", read_event(event) > 0);
    SAY("set %d", clSetEventCallback(event, CL_COMPLETE, on_event, "a"));
    SAY("wrong status %d", clSetEventCallback(event, 77, on_event, "b"));
    clSetUserEventStatus(gate, CL_COMPLETE);
    clWaitForEvents(1, &event);
    clFinish(queue);
    while (!__atomic_load_n(&order[1], __ATOMIC_ACQUIRE))
        ;
    SAY("order %s", order);
    clReleaseCommandQueue(queue);
    SAY("profiling of an event without its queue %d",
        clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof(time),
                                &time, NULL));
    clReleaseEvent(event);
    SAY("profiling of a user event %d",
        clGetEventProfilingInfo(gate, CL_PROFILING_COMMAND_END, sizeof(time),
                                &time, NULL));
    SAY("profiling of nothing %d",
        clGetEventProfilingInfo(NULL, CL_PROFILING_COMMAND_END, sizeof(time),
                                &time, NULL));
    SAY("gate references %d", settles(read_event, gate, 1));
    clReleaseEvent(gate);
}

/* ---- Programs ---- */

static int notified;

static void CL_CALLBACK on_program(cl_program its, void *data)
{
    notified += its != NULL && data == &notified;
}

static void ask_program(const char *name, cl_program its)
{
    cl_build_status status = 99;
    char names[64] = "", options[64] = "";
    size_t log = 0;
    cl_uint count = 0;

    clGetProgramBuildInfo(its, device, CL_PROGRAM_BUILD_STATUS, sizeof(status),
                          &status, NULL);
    clGetProgramBuildInfo(its, device, CL_PROGRAM_BUILD_LOG, 0, NULL, &log);
    clGetProgramBuildInfo(its, device, CL_PROGRAM_BUILD_OPTIONS,
                          sizeof(options), options, NULL);
    clGetProgramInfo(its, CL_PROGRAM_KERNEL_NAMES, sizeof(names), names, NULL);
    clGetProgramInfo(its, CL_PROGRAM_REFERENCE_COUNT, sizeof(count), &count,
                     NULL);
    SAY("%s: status %d log %d options '%s' kernels '%s' references %u", name,
        status, log > 1, options, names, count);
}

static cl_program of(const char *text)
{
    return clCreateProgramWithSource(context, 1, &text, NULL, NULL);
}

static void binary(void)
{
    unsigned char *bytes = NULL;
    cl_int status = 99, error = 99;
    cl_program its;
    size_t size = 0;

    clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size,
                     NULL);
    bytes = malloc(size);
    clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(bytes), &bytes, NULL);
    its = clCreateProgramWithBinary(context, 1, &device, &size,
                                    (const unsigned char **)&bytes, &status,
                                    &error);
    SAY("binary %d %d %d", status, error,
        clBuildProgram(its, 0, NULL, NULL, NULL, NULL));
    ask_program("binary", its);
    clReleaseProgram(its);
    memset(bytes, 0, size);
    its = clCreateProgramWithBinary(context, 1, &device, &size,
                                    (const unsigned char **)&bytes, &status,
                                    &error);
    SAY("no binary %d %d", its == NULL, error);
    free(bytes);
}

static void programs(void)
{
    cl_program good = of(source), bad = of("kernel void f("), part, whole;
    cl_kernel kernels[4] = {NULL};
    cl_uint count = 0;
    cl_int error = 99;

    SAY("good %d", clBuildProgram(good, 1, &device, "-DX=1", NULL, NULL));
    ask_program("good", good);
    SAY("again %d", clBuildProgram(good, 0, NULL, NULL, on_program, &notified));
    SAY("notified %d", notified);
    SAY("kernels %d", clCreateKernelsInProgram(good, 4, kernels, &count));
    SAY("count %u", count);
    for (cl_uint i = 0; i < count; i++) {
        clRetainKernel(kernels[i]);
        clReleaseKernel(kernels[i]);
        SAY("release %d", clReleaseKernel(kernels[i]));
    }
    SAY("no room %d", clCreateKernelsInProgram(good, 1, kernels, NULL));
    SAY("how many %d", clCreateKernelsInProgram(good, 0, NULL, &count));
    SAY("no kernel %d", clCreateKernel(good, "none", &error) == NULL);
    SAY("error %d", error);
    SAY("bad %d", clBuildProgram(bad, 1, &device, "", NULL, NULL));
    ask_program("bad", bad);
    SAY("bad later %d",
        clBuildProgram(bad, 1, &device, "", on_program, &notified));
    SAY("notified %d", notified);
    SAY("nothing %d", clBuildProgram(NULL, 1, &device, "", NULL, NULL));
    SAY("data without a function %d",
        clBuildProgram(good, 1, &device, "", NULL, &notified));
    part = of(source);
    SAY("compile %d",
        clCompileProgram(part, 1, &device, "", 0, NULL, NULL, NULL, NULL));
    whole =
        clLinkProgram(context, 1, &device, "", 1, &part, NULL, NULL, &error);
    SAY("link %d", error);
    if (whole) {
        ask_program("linked", whole);
        clReleaseProgram(whole);
    }
    whole = clLinkProgram(context, 1, &device, "", 0, NULL, NULL, NULL, &error);
    SAY("link nothing %d %d", whole == NULL, error);
    clReleaseProgram(good);
    clReleaseProgram(bad);
    clReleaseProgram(part);
    binary();
    SAY("il %d", clCreateProgramWithIL(context, "x", 1, &error) == NULL);
    SAY("error %d", error);
}

/* ---- Memory ---- */

static char destroyed[16];

static void CL_CALLBACK on_destroyed(cl_mem memory, void *data)
{
    (void)memory;
    note(destroyed, sizeof(destroyed), data, "");
}

static void shared(cl_command_queue queue)
{
    cl_device_svm_capabilities can = 0;
    int *memory, words[N] = {0}, five = 5;

    clGetDeviceInfo(device, CL_DEVICE_SVM_CAPABILITIES, sizeof(can), &can,
                    NULL);
    memory = clSVMAlloc(context, CL_MEM_READ_WRITE, sizeof(words), 0);
    SAY("svm %d %d", (int)can, memory != NULL);
    if (!memory)
        return;
    SAY("fill %d", clEnqueueSVMMemFill(queue, memory, &five, sizeof(five),
                                       sizeof(words), 0, NULL, NULL));
    SAY("map %d", clEnqueueSVMMap(queue, CL_TRUE, CL_MAP_READ, memory,
                                  sizeof(words), 0, NULL, NULL));
    SAY("five %d", memory[7]);
    SAY("unmap %d", clEnqueueSVMUnmap(queue, memory, 0, NULL, NULL));
    SAY("copy %d", clEnqueueSVMMemcpy(queue, CL_TRUE, words, memory,
                                      sizeof(words), 0, NULL, NULL));
    SAY("five %d", words[9]);
    SAY("argument %d", clSetKernelArgSVMPointer(kernel, 0, memory));
    clSetKernelArg(kernel, 0, sizeof(buffer), &buffer);
    clFinish(queue);
    clSVMFree(context, memory);
    memory = clSVMAlloc(context, CL_MEM_READ_WRITE, 64, 0);
    SAY("free %d", clEnqueueSVMFree(queue, 1, (void **)&memory, NULL, NULL, 0,
                                    NULL, NULL));
    clSVMFree(context, NULL);
    clFinish(queue);
}

static void image(cl_command_queue queue)
{
    const cl_image_format format = {CL_RGBA, CL_UNSIGNED_INT8};
    const cl_image_desc shape = {.image_type = CL_MEM_OBJECT_IMAGE2D,
                                 .image_width = 8,
                                 .image_height = 8};
    const size_t origin[3] = {0}, region[3] = {8, 8, 1};
    unsigned char pixels[256] = {1, 2, 3}, back[256] = {0};
    const cl_uint color[4] = {7, 7, 7, 7};
    cl_int error = 99;
    cl_mem one = clCreateImage(context, CL_MEM_READ_WRITE, &format, &shape,
                               NULL, &error);

    SAY("image %d", error);
    if (!one)
        return;
    SAY("write %d", clEnqueueWriteImage(queue, one, CL_TRUE, origin, region, 0,
                                        0, pixels, 0, NULL, NULL));
    SAY("read %d", clEnqueueReadImage(queue, one, CL_TRUE, origin, region, 0, 0,
                                      back, 0, NULL, NULL));
    SAY("same %d", memcmp(pixels, back, sizeof(back)));
    SAY("fill %d",
        clEnqueueFillImage(queue, one, color, origin, region, 0, NULL, NULL));
    SAY("to buffer %d", clEnqueueCopyImageToBuffer(queue, one, buffer, origin,
                                                   region, 0, 0, NULL, NULL));
    SAY("finish %d", clFinish(queue));
    SAY("release %d", clReleaseMemObject(one));
}

static void CL_CALLBACK native(void *data)
{
    (void)data;
}

static void memory(void)
{
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
    cl_int error = 99;
    cl_mem one = clCreateBuffer(context, CL_MEM_READ_WRITE, 64, NULL, &error);
    cl_uint count = 0;

    clGetMemObjectInfo(one, CL_MEM_REFERENCE_COUNT, sizeof(count), &count,
                       NULL);
    SAY("buffer %d references %u", error, count);
    SAY("callback %d",
        clSetMemObjectDestructorCallback(one, on_destroyed, "a"));
    clSetMemObjectDestructorCallback(one, on_destroyed, "b");
    SAY("release %d", clReleaseMemObject(one));
    SAY("destroyed %s", destroyed);
    SAY("no size %d", clCreateBuffer(context, 0, 0, NULL, &error) == NULL);
    SAY("error %d", error);
    shared(queue);
    image(queue);
    SAY("native %d", clEnqueueNativeKernel(queue, native, NULL, 0, 0, NULL,
                                           NULL, 0, NULL, NULL));
    clFinish(queue);
    clReleaseCommandQueue(queue);
}

/* ---- Threads ---- */

static void *launches(void *data)
{
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
    const size_t global = N;
    long *failed = data;
    cl_kernel own = clCreateKernel(program, "twice", NULL);

    clSetKernelArg(own, 0, sizeof(buffer), &buffer);
    for (int i = 0; i < 200; i++)
        *failed += clEnqueueNDRangeKernel(queue, own, 1, NULL, &global, NULL, 0,
                                          NULL, NULL) != CL_SUCCESS;
    *failed += clFinish(queue) != CL_SUCCESS;
    clReleaseKernel(own);
    clReleaseCommandQueue(queue);
    return NULL;
}

static void threads(void)
{
    pthread_t all[4];
    long failed[4] = {0};

    for (int i = 0; i < 4; i++)
        pthread_create(&all[i], NULL, launches, &failed[i]);
    for (int i = 0; i < 4; i++) {
        pthread_join(all[i], NULL);
        SAY("thread %d: %ld failed", i, failed[i]);
    }
}

/* ---- All ---- */

static void begin(void)
{
    const char *text = source;
    int one = 1;

    context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    program = clCreateProgramWithSource(context, 1, &text, NULL, NULL);
    clBuildProgram(program, 1, &device, "", NULL, NULL);
    kernel = clCreateKernel(program, "add", NULL);
    buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, 4096, NULL, NULL);
    clSetKernelArg(kernel, 0, sizeof(buffer), &buffer);
    clSetKernelArg(kernel, 1, sizeof(one), &one);
}

static void end(void)
{
    clReleaseMemObject(buffer);
    clReleaseKernel(kernel);
    SAY("program references %d", settles(read_program, program, 1));
    clReleaseProgram(program);
    SAY("context references %d", settles(read_context, context, 1));
    clReleaseContext(context);
}

static void launch(void)
{
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
    const size_t cells = N;

    for (int i = 0; i < 50; i++)
        clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &cells, NULL, 0, NULL,
                               NULL);
    clFlush(queue);
}

static void finish(void)
{
    cl_command_queue queue = clCreateCommandQueue(context, device, 0, NULL);
    const size_t cells = N;

    clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &cells, NULL, 0, NULL, NULL);
    clFinish(queue);
}

int main(int argc, char **argv)
{
    const char *how = argc > 1 ? argv[1] : "";

    setvbuf(stdout, NULL, _IOLBF, 0);
    if (!strcmp(how, "late"))
        atexit(finish);
    if (!strcmp(how, "hide"))
        unsetenv("OPENCL_LAYERS");
    if (clGetPlatformIDs(1, &platform, NULL) ||
        clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, NULL))
        return NO_DEVICE;
    if (!strcmp(how, "look"))
        return 0;
    begin();
    if (*how)
        launch();
    if (!strcmp(how, "quit"))
        _exit(LEFT);
    if (*how)
        return LEFT;
    queues();
    events();
    callbacks();
    programs();
    memory();
    threads();
    end();
    return 0;
}
