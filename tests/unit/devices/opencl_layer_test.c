/* opencl_layer_test.c: the layer above a driver that fails, is slow, is old or
 * has a clock of its own. The driver is a table of functions in this file. */
#include "trace/devices/opencl/opencl.h"

#include <criterion/criterion.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/support/support.h"

#include <testlog/zone.h>

cl_int clGetLayerInfo(cl_uint info, size_t size, void *value, size_t *size_ret);
cl_int clInitLayer(cl_uint entries, const void *target, cl_uint *entries_ret,
                   const void **layer);

/* ---- The driver ---- */

typedef void function(void);

/* Handles are addresses of these. */
static char handles[16];
#define HANDLE(type, i) ((type)(void *)&handles[i])

enum { SHIFT = 1000000, NS = 1000000000 };

static struct {
    bool no_profiling, no_times, no_callbacks, no_timer, foreign, fails;
    bool notifies, builds_badly;
    cl_ulong offset; /* of the device's clock */
    cl_int build_result;
    opencl_on_event *on_event;
    opencl_on_program *on_program;
    void *event_data, *program_data;
    cl_ulong queued;
    int queues, events, released; /* counts of calls */
    cl_bitfield given;            /* properties of the last queue */
    cl_int status;                /* of events */
} driver;

static cl_ulong device_now(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (cl_ulong)now.tv_sec * NS + (cl_ulong)now.tv_nsec + driver.offset;
}

static int references; /* of the program's queue */
static int readers;    /* queues that read rings */

static cl_command_queue CreateCommandQueue(cl_context context,
                                           cl_device_id device,
                                           cl_bitfield properties,
                                           cl_int *error)
{
    (void)context;
    (void)device;
    driver.queues++;
    driver.given = properties;
    if (driver.no_profiling && properties & OPENCL_QUEUE_PROFILING_ENABLE) {
        *error = -35;
        return NULL;
    }
    if (error)
        *error = 0;
    if (references) { /* the layer's */
        readers++;
        return HANDLE(cl_command_queue, 10);
    }
    references = 1;
    return HANDLE(cl_command_queue, 1);
}

static cl_int RetainCommandQueue(cl_command_queue queue)
{
    (void)queue;
    references++;
    return 0;
}

static cl_int ReleaseCommandQueue(cl_command_queue queue)
{
    if (queue == HANDLE(cl_command_queue, 10))
        readers--;
    else
        references--;
    return 0;
}

static int flushed;

static cl_int Flush(cl_command_queue queue)
{
    flushed++;
    cr_expect_eq(references, 2, "the layer holds no reference");
    cr_expect_eq(queue, HANDLE(cl_command_queue, 1));
    return 0;
}

static cl_int Finish(cl_command_queue queue)
{
    (void)queue;
    return 0;
}

static cl_int GetDeviceInfo(cl_device_id device, cl_uint info, OPENCL_INFO)
{
    (void)size_ret;
    if (info == OPENCL_DEVICE_PLATFORM) {
        cl_platform_id platform = HANDLE(cl_platform_id, 8);

        if (!device)
            return -33;
        memcpy(value, &platform, size);
        return 0;
    }
    cr_expect_eq((int)info, OPENCL_DEVICE_NAME);
    snprintf(value, size, "imagined");
    return 0;
}

static cl_int EnqueueTask(cl_command_queue queue, cl_kernel kernel, OPENCL_WAIT)
{
    (void)queue;
    (void)kernel;
    (void)count;
    (void)list;
    if (driver.fails)
        return -5;
    driver.queued = device_now();
    if (!event)
        return 0; /* the layer does not know the queue */
    driver.events++;
    *event = HANDLE(cl_event, 2);
    return 0;
}

static cl_int GetEventInfo(cl_event event, cl_uint info, OPENCL_INFO)
{
    cl_command_queue queue = HANDLE(cl_command_queue, 1);

    (void)event;
    (void)size_ret;
    memcpy(value,
           info == OPENCL_EVENT_COMMAND_QUEUE ? (void *)&queue
                                              : (void *)&driver.status,
           size);
    return 0;
}

static cl_int GetEventProfilingInfo(cl_event event, cl_uint info, OPENCL_INFO)
{
    cl_ulong time =
        driver.queued + (info - OPENCL_PROFILING_COMMAND_QUEUED) * 1000;

    (void)event;
    (void)size_ret;
    if (driver.no_times)
        return OPENCL_PROFILING_INFO_NOT_AVAILABLE;
    memcpy(value, &time, size);
    return 0;
}

static cl_int ReleaseEvent(cl_event event)
{
    (void)event;
    driver.released++;
    return 0;
}

static cl_int SetEventCallback(cl_event event, cl_int status,
                               opencl_on_event *notify, void *data)
{
    (void)event;
    cr_expect_eq(status, OPENCL_COMPLETE);
    if (driver.no_callbacks)
        return -5;
    driver.on_event = notify;
    driver.event_data = data;
    return 0;
}

static cl_int GetDeviceAndHostTimer(cl_device_id device, cl_ulong *time,
                                    cl_ulong *host)
{
    (void)device;
    *time = device_now();
    *host = 0;
    return driver.no_timer ? OPENCL_INVALID_OPERATION : 0;
}

static cl_int BuildProgram(cl_program program, cl_uint devices,
                           const cl_device_id *list, const char *options,
                           opencl_on_program *notify, void *data)
{
    (void)devices;
    (void)list;
    (void)options;
    driver.on_program = notify;
    driver.program_data = data;
    if (driver.notifies)
        notify(program, data);
    return driver.build_result;
}

static cl_int GetProgramInfo(cl_program program, cl_uint info, OPENCL_INFO)
{
    cl_device_id device = HANDLE(cl_device_id, 3);

    (void)program;
    if (info != OPENCL_PROGRAM_DEVICES)
        return OPENCL_INVALID_VALUE;
    memcpy(value, &device, sizeof(device) < size ? sizeof(device) : size);
    *size_ret = sizeof(device);
    return 0;
}

static cl_int GetProgramBuildInfo(cl_program program, cl_device_id device,
                                  cl_uint info, OPENCL_INFO)
{
    const cl_int status = driver.builds_badly ? -2 : 0;

    (void)program;
    (void)device;
    (void)size_ret;
    if (info != OPENCL_PROGRAM_BUILD_STATUS)
        return OPENCL_INVALID_VALUE;
    memcpy(value, &status, size);
    return 0;
}

/* A function that is not in the table. */
static cl_command_queue create_khr(cl_context context, cl_device_id device,
                                   const cl_ulong *properties, cl_int *error)
{
    return CreateCommandQueue(context, device, properties ? properties[1] : 0,
                              error);
}

static void *GetExtensionFunctionAddressForPlatform(cl_platform_id platform,
                                                    const char *name)
{
    cr_expect_eq(platform, HANDLE(cl_platform_id, 8));
    return strcmp(name, "clCreateCommandQueueWithPropertiesKHR")
               ? handles
               : (void *)(uintptr_t)create_khr;
}

static void *GetExtensionFunctionAddress(const char *name)
{
    return GetExtensionFunctionAddressForPlatform(HANDLE(cl_platform_id, 8),
                                                  name);
}

/* ---- The driver's memory ---- */

static struct {
    trace_zone_ring ring;
    trace_zone_record records[4];
} content; /* of the only memory object */

static struct {
    int references, reads, writes;
    bool refuses;
} object;

static cl_mem CreateBuffer(cl_context context, cl_bitfield flags, size_t size,
                           void *host, cl_int *error)
{
    (void)context;
    (void)flags;
    memcpy(&content, host, size);
    object.references = 1;
    *error = 0;
    return HANDLE(cl_mem, 9);
}

static cl_int RetainMemObject(cl_mem memory)
{
    (void)memory;
    object.references++;
    return 0;
}

static cl_int ReleaseMemObject(cl_mem memory)
{
    (void)memory;
    object.references--;
    return 0;
}

static cl_int GetMemObjectInfo(cl_mem memory, cl_uint info, OPENCL_INFO)
{
    cl_context context = HANDLE(cl_context, 4);
    size_t bytes = sizeof(content);

    (void)memory;
    (void)size_ret;
    memcpy(value,
           info == OPENCL_MEM_CONTEXT ? (void *)&context : (void *)&bytes,
           size);
    return 0;
}

static cl_int GetContextInfo(cl_context context, cl_uint info, OPENCL_INFO)
{
    cl_device_id device = HANDLE(cl_device_id, 3);

    (void)context;
    (void)info;
    memcpy(value, &device, sizeof(device) < size ? sizeof(device) : size);
    *size_ret = sizeof(device);
    return 0;
}

static cl_int EnqueueReadBuffer(cl_command_queue queue, cl_mem buffer,
                                cl_bool blocking, size_t offset, size_t size,
                                void *to, OPENCL_WAIT)
{
    (void)queue;
    (void)count;
    (void)list;
    cr_expect_eq(buffer, HANDLE(cl_mem, 9));
    cr_expect(blocking && !event);
    object.reads++;
    if (object.refuses)
        return -5;
    memcpy(to, (const char *)&content + offset, size);
    return 0;
}

static cl_int EnqueueWriteBuffer(cl_command_queue queue, cl_mem buffer,
                                 cl_bool blocking, size_t offset, size_t size,
                                 const void *from, OPENCL_WAIT)
{
    (void)queue;
    (void)buffer;
    (void)count;
    (void)list;
    cr_expect(blocking && !event);
    object.writes++;
    memcpy((char *)&content + offset, from, size);
    return 0;
}

static function *table[OPENCL_SLOTS];

static void fill_table(void)
{
    enum {
#define TRACE_X(slot, name, type, parameters) SLOT_##name = slot,
        OPENCL_FUNCTIONS(TRACE_X)
#undef TRACE_X
    };
#define PUT(name) table[SLOT_##name] = (function *)name
    PUT(CreateCommandQueue);
    PUT(RetainCommandQueue);
    PUT(ReleaseCommandQueue);
    PUT(Flush);
    PUT(Finish);
    PUT(GetDeviceInfo);
    PUT(EnqueueTask);
    PUT(GetEventInfo);
    PUT(GetEventProfilingInfo);
    PUT(ReleaseEvent);
    PUT(SetEventCallback);
    PUT(GetDeviceAndHostTimer);
    PUT(BuildProgram);
    PUT(GetProgramInfo);
    PUT(GetProgramBuildInfo);
    PUT(CreateBuffer);
    PUT(RetainMemObject);
    PUT(ReleaseMemObject);
    PUT(GetMemObjectInfo);
    PUT(GetContextInfo);
    PUT(EnqueueReadBuffer);
    PUT(EnqueueWriteBuffer);
    PUT(GetExtensionFunctionAddress);
    PUT(GetExtensionFunctionAddressForPlatform);
#undef PUT
}

/* ---- The program ---- */

static function *const *layer;
static cl_command_queue queue;

static void load_layer(cl_uint entries)
{
    const void *given = NULL;
    cl_uint count = 0;

    fill_table();
    cr_assert_eq(clInitLayer(entries, table, &count, &given), 0);
    cr_assert_eq(count, OPENCL_SLOTS);
    layer = given;
}

static void publish(void)
{
    test_folder();
    test_record();
    trace_device_publish();
}

static void begin(void)
{
    publish();
    load_layer(OPENCL_SLOTS);
    cr_assert(opencl_is_on());
}

static void open_queue(void)
{
    cl_int error = 99;

    queue = opencl_CreateCommandQueue(HANDLE(cl_context, 4),
                                      HANDLE(cl_device_id, 3), 0, &error);
    cr_assert_eq(error, 0);
    cr_assert_not_null(queue);
}

static cl_int launch(void)
{
    return opencl_EnqueueTask(queue, HANDLE(cl_kernel, 5), 0, NULL, NULL);
}

static void complete(cl_int status)
{
    driver.on_event(HANDLE(cl_event, 2), status, driver.event_data);
}

TestSuite(opencl_layer, .init = begin, .timeout = 60);

static const char *meta(const struct trace_reader *reader, const char *name)
{
    const char *value = trace_reader_meta(reader, name);

    return value ? value : "";
}

/* The activity of a kernel on the device, and of its call. */
static void find(struct trace_reader *reader, const char *name,
                 struct trace_entry *entry)
{
    cr_assert(test_find(reader, TRACE_ENTRY_DEVICE, name, entry), "%s", name);
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a < b ? b - a : a - b;
}

/* Expects the kernel within its call: 2 us behind its begin, 1 us long. */
static void expect_placed(const char *clock)
{
    struct trace_reader *reader = test_read();
    struct trace_entry call, kernel;

    find(reader, "clEnqueueTask", &call);
    find(reader, "?", &kernel);
    cr_expect_lt(distance(kernel.time, call.time), 20 * SHIFT);
    cr_expect_lt(distance(kernel.end - kernel.time, 1000), 20);
    cr_expect(!strncmp(meta(reader, "opencl.clock.32"), clock, strlen(clock)),
              "%s", meta(reader, "opencl.clock.32"));
    cr_expect_str_eq(meta(reader, "opencl.bad_times"), "0");
    cr_expect_str_eq(meta(reader, "opencl.lost"), "0");
}

/* ---- Times ---- */

Test(opencl_layer, asks_the_driver_for_both_clocks)
{
    driver.offset = (cl_ulong)7 * 3600 * NS;
    open_queue();
    launch();
    complete(OPENCL_COMPLETE);
    expect_placed("clGetDeviceAndHostTimer, error ");
}

Test(opencl_layer, recognizes_a_clock_of_the_system)
{
    driver.no_timer = true;
    open_queue();
    launch();
    complete(OPENCL_COMPLETE);
    expect_placed("CLOCK_MONOTONIC");
}

Test(opencl_layer, takes_stamps_of_any_other_clock)
{
    driver.no_timer = true;
    driver.offset = (cl_ulong)7 * 3600 * NS;
    open_queue();
    for (int i = 0; i < 3; i++) {
        launch();
        complete(OPENCL_COMPLETE);
    }
    expect_placed("CL_PROFILING_COMMAND_QUEUED, error ");
}

Test(opencl_layer, estimates_times_that_the_driver_does_not_have)
{
    struct trace_reader *reader;
    struct trace_entry call, kernel;

    driver.no_times = true;
    open_queue();
    launch();
    complete(OPENCL_COMPLETE);
    reader = test_read();
    find(reader, "clEnqueueTask", &call);
    find(reader, "?", &kernel);
    cr_expect_geq(kernel.time, call.time);
    cr_expect_str_eq(meta(reader, "opencl.bad_times"), "1");
    cr_expect_str_eq(meta(reader, "opencl.launched"), "1");
}

/* ---- Drivers that refuse ---- */

Test(opencl_layer, opens_a_queue_that_cannot_have_profiling)
{
    driver.no_profiling = true;
    open_queue();
    cr_expect_eq(driver.queues, 2);
    cr_expect_eq(driver.given, 0);
    launch();
    complete(OPENCL_COMPLETE);
    cr_expect_str_eq(meta(test_read(), "opencl.bad_times"), "1");
}

Test(opencl_layer, releases_its_event_if_nobody_calls_back)
{
    struct trace_reader *reader;

    driver.no_callbacks = true;
    open_queue();
    cr_expect_eq(launch(), 0);
    cr_expect_eq(driver.events, 1);
    cr_expect_eq(driver.released, 1);
    reader = test_read();
    cr_expect_str_eq(meta(reader, "opencl.launches"), "1");
    cr_expect_str_eq(meta(reader, "opencl.lost"), "1");
    cr_expect_eq(test_count(reader, TRACE_ENTRY_DEVICE, "clEnqueueTask"), 1);
}

Test(opencl_layer, leaves_the_programs_event_alone)
{
    cl_event event = NULL;

    open_queue();
    cr_expect_eq(
        opencl_EnqueueTask(queue, HANDLE(cl_kernel, 5), 0, NULL, &event), 0);
    cr_expect_eq(event, HANDLE(cl_event, 2));
    complete(OPENCL_COMPLETE);
    cr_expect_eq(driver.released, 0);
    test_read();
}

Test(opencl_layer, records_launches_and_commands_that_fail)
{
    struct trace_reader *reader;
    struct trace_entry entry;

    open_queue();
    driver.fails = true;
    cr_expect_eq(launch(), -5);
    driver.fails = false;
    launch();
    complete(-14);
    cr_expect_eq(driver.released, 1);
    reader = test_read();
    find(reader, "?", &entry);
    cr_expect_eq(entry.site->level, TRACE_LEVEL_ERROR);
    find(reader, "clEnqueueTask", &entry);
    cr_expect_eq(entry.site->level, TRACE_LEVEL_WARN);
    cr_expect_str_eq(meta(reader, "opencl.launches"), "1");
    cr_expect_str_eq(meta(reader, "opencl.lost"), "0");
}

/* Makes a queue with the function that the program looked up. */
static void open_looked_up(void *looked_up)
{
    opencl_create_queue *create = (opencl_create_queue *)(uintptr_t)looked_up;
    cl_int error = 99;

    queue =
        create(HANDLE(cl_context, 4), HANDLE(cl_device_id, 3), NULL, &error);
    cr_assert_eq(error, 0);
    cr_expect_eq(driver.given, OPENCL_QUEUE_PROFILING_ENABLE);
    launch();
    complete(OPENCL_COMPLETE);
    expect_placed("clGetDeviceAndHostTimer, error ");
}

Test(opencl_layer, follows_queues_of_a_function_of_a_platform)
{
    open_looked_up(opencl_GetExtensionFunctionAddressForPlatform(
        HANDLE(cl_platform_id, 8), "clCreateCommandQueueWithPropertiesKHR"));
}

Test(opencl_layer, follows_queues_of_a_function_of_any_platform)
{
    open_looked_up(opencl_GetExtensionFunctionAddress(
        "clCreateCommandQueueWithPropertiesKHR"));
}

Test(opencl_layer, passes_on_functions_that_it_does_not_know)
{
    cr_expect_eq(opencl_GetExtensionFunctionAddress("clOther"),
                 (void *)handles);
    cr_expect_eq(opencl_GetExtensionFunctionAddressForPlatform(
                     HANDLE(cl_platform_id, 8), "clOther"),
                 (void *)handles);
}

/* A driver of OpenCL 1.0 has none of the later functions. */
Test(opencl_old_driver, replaces_only_what_the_driver_has, .init = publish)
{
    size_t replaced = 0;

    load_layer(63);
    for (size_t i = 0; i < OPENCL_SLOTS; i++)
        replaced += layer[i] != NULL;
    cr_expect_null(layer[81], "clSetEventCallback");
    cr_expect_null(layer[123], "clCreateCommandQueueWithProperties");
    cr_expect_not_null(layer[60], "clEnqueueTask");
    cr_expect_eq(replaced, 12);
    test_read();
}

Test(opencl_layer, stands_in_a_chain_only_once)
{
    function *const *first = layer;
    const void *second = NULL;
    cl_uint count = 0;

    cr_assert_eq(clInitLayer(OPENCL_SLOTS, first, &count, &second), 0);
    for (size_t i = 0; i < OPENCL_SLOTS; i++)
        cr_expect_null(((function *const *)second)[i], "%zu", i);
    open_queue();
    test_read();
}

static cl_int other_flush(cl_command_queue unused)
{
    (void)unused;
    flushed = 100;
    return 0;
}

Test(opencl_layer, follows_a_loader_that_is_loaded_again)
{
    table[46] = (function *)other_flush;
    cr_assert_eq(
        clInitLayer(OPENCL_SLOTS, table, &(cl_uint){0}, &(const void *){NULL}),
        0);
    open_queue();
    test_read();
    cr_expect_eq(flushed, 100);
}

Test(opencl_layer, answers_questions_about_the_layer)
{
    cl_uint version = 0;
    char name[8];
    size_t size = 0;

    cr_expect_eq(clGetLayerInfo(OPENCL_LAYER_API_VERSION, sizeof(version),
                                &version, &size),
                 0);
    cr_expect_eq(version, 100);
    cr_expect_eq(size, sizeof(version));
    cr_expect_eq(clGetLayerInfo(OPENCL_LAYER_NAME, sizeof(name), name, NULL),
                 0);
    cr_expect_str_eq(name, "testlog");
    cr_expect_eq(clGetLayerInfo(OPENCL_LAYER_NAME, 3, name, NULL),
                 OPENCL_INVALID_VALUE);
    cr_expect_eq(clGetLayerInfo(1, sizeof(name), name, NULL),
                 OPENCL_INVALID_VALUE);
    cr_expect_eq(clInitLayer(OPENCL_SLOTS, NULL, NULL, NULL),
                 OPENCL_INVALID_VALUE);
}

/* ---- Rings ---- */

/* A ring in a buffer, and the zone of a kernel. */
static struct trace_zones *open_ring(void)
{
    static const char *const names[] = {"part"};
    static char bytes[sizeof(content)];
    struct trace_zones *zones =
        trace_zones_open(bytes, sizeof(bytes), names, 1);
    cl_int error;

    cr_assert_not_null(zones);
    trace_zones_follow(zones,
                       opencl_CreateBuffer(HANDLE(cl_context, 4), 0,
                                           sizeof(bytes), bytes, &error));
    return zones;
}

static void write_zone(void)
{
    for (unsigned end = 0; end < 2; end++) {
        unsigned ticket = content.ring.taken++;
        uint64_t now = trace_device_host()->now();

        content.records[ticket % 4] =
            (trace_zone_record){.clock = {(unsigned)now, (unsigned)(now >> 32)},
                                .unit = TRACE_ZONE_NO_UNIT,
                                .ticket = ticket + 1,
                                .what = end,
                                .ticket_again = ticket + 1};
    }
}

static size_t count_parts(void)
{
    struct trace_reader *reader = test_read();
    size_t count = test_count(reader, TRACE_ENTRY_DEVICE, "part");

    return count;
}

Test(opencl_layer, reads_a_ring_when_no_command_runs)
{
    open_ring();
    open_queue();
    launch();
    write_zone();
    cr_expect_eq(opencl_Finish(queue), 0);
    cr_expect_eq(object.reads, 0, "the kernel runs");
    complete(OPENCL_COMPLETE);
    cr_expect_eq(opencl_Finish(queue), 0);
    cr_expect_eq(object.reads, 2, "the header, then all");
    cr_expect_eq(content.ring.read, 2);
    cr_expect_eq(opencl_Finish(queue), 0);
    cr_expect_eq(object.reads, 3, "nothing is new");
    cr_expect_eq(object.writes, 1);
    cr_expect_eq(object.references, 1);
    cr_expect_eq(readers, 0);
    cr_expect_eq(count_parts(), 1);
}

Test(opencl_layer, reads_a_ring_before_it_is_released)
{
    struct trace_zones *zones = open_ring();

    write_zone();
    opencl_RetainMemObject(HANDLE(cl_mem, 9));
    opencl_ReleaseMemObject(HANDLE(cl_mem, 9));
    cr_expect_eq(object.reads, 0);
    opencl_ReleaseMemObject(HANDLE(cl_mem, 9));
    cr_expect_eq(object.reads, 2);
    cr_expect_eq(object.references, 0);
    trace_zones_close(zones);
    cr_expect_eq(object.reads, 2, "the buffer is gone");
    cr_expect_eq(count_parts(), 1);
}

Test(opencl_layer, reads_a_ring_when_it_is_closed)
{
    struct trace_zones *zones = open_ring();

    write_zone();
    trace_zones_close(zones);
    cr_expect_eq(object.references, 1);
    cr_expect_eq(count_parts(), 1);
}

Test(opencl_layer, reports_a_ring_that_the_driver_does_not_read)
{
    object.refuses = true;
    open_ring();
    write_zone();
    cr_expect_str_eq(meta(test_read(), "gpu.zones.unread"), "1");
    cr_expect_eq(object.references, 1);
}

/* ---- The end ---- */

Test(opencl_layer, gives_up_on_commands_that_never_end)
{
    struct trace_reader *reader;

    open_queue();
    launch();
    reader = test_read();
    cr_expect_str_eq(meta(reader, "opencl.pending"), "1");
    cr_expect_str_eq(meta(reader, "opencl.unfinished"), "1");
    cr_expect_str_eq(meta(reader, "opencl.lost"), "0");
    cr_expect_eq(test_count(reader, TRACE_ENTRY_DEVICE, "?"), 0);
    complete(OPENCL_COMPLETE); /* after all */
    cr_expect_eq(driver.released, 1);
}

/* PoCL calls nobody back for a command that failed. */
Test(opencl_layer, ends_a_command_that_failed_without_a_call)
{
    struct trace_reader *reader;

    open_queue();
    launch();
    driver.status = -5;
    reader = test_read();
    cr_expect_str_eq(meta(reader, "opencl.pending"), "0");
    cr_expect_str_eq(meta(reader, "opencl.unfinished"), "0");
    cr_expect_str_eq(meta(reader, "opencl.lost"), "0");
    cr_expect_eq(driver.released, 1);
    complete(-5); /* after all */
    cr_expect_eq(driver.released, 1);
    cr_expect_not(opencl_commands_run());
}

Test(opencl_layer, flushes_queues_and_keeps_their_references)
{
    open_queue();
    test_read();
    cr_expect_eq(references, 1);
    cr_expect_eq(flushed, 1);
}

/* Flush would use the handle. */
Test(opencl_layer, forgets_queues_that_were_released)
{
    open_queue();
    opencl_ReleaseCommandQueue(queue);
    test_read();
    cr_expect_eq(flushed, 0);
}

Test(opencl_layer, begins_again_with_another_recording)
{
    struct trace_reader *reader;

    open_queue();
    launch();
    test_read();
    unlink(test_path("recording"));
    test_record();
    complete(OPENCL_COMPLETE); /* of the first recording */
    launch();
    complete(OPENCL_COMPLETE);
    reader = test_read();
    cr_expect_str_eq(meta(reader, "opencl.state"), "on");
    cr_expect_str_eq(meta(reader, "opencl.launches"), "1");
    cr_expect_str_eq(meta(reader, "opencl.lost"), "0");
    cr_expect_str_eq(meta(reader, "gpu.device.32"), "imagined");
    cr_expect_eq(test_count(reader, TRACE_ENTRY_DEVICE, "?"), 1);
}

/* ---- Memory ---- */

static cl_int build(void);

static void use_all(void)
{
    open_queue();
    driver.on_event = NULL;
    cr_expect_eq(launch(), 0);
    if (driver.on_event)
        complete(OPENCL_COMPLETE);
    driver.on_program = NULL;
    cr_expect_eq(build(), 0);
    opencl_ReleaseCommandQueue(queue);
}

/* The program notices nothing, and no event is left. */
Test(opencl_layer, bears_each_failing_allocation)
{
    size_t asked, i = 0;

    if (!test_can_fail_memory())
        cr_skip_test("a sanitizer owns the memory");
    do {
        test_fail_memory(++i, true);
        use_all();
        asked = test_fail_memory(0, false);
        cr_expect_eq(driver.released, driver.events, "allocation %zu", i);
    } while (i <= asked);
    cr_expect_gt(i, 3);
    test_read();
}

/* ---- Builds that end later ---- */

static int notified;

static void on_program(cl_program program, void *data)
{
    cr_expect_eq(program, HANDLE(cl_program, 6));
    cr_expect_eq(data, &notified);
    notified++;
}

static cl_int build(void)
{
    return opencl_BuildProgram(HANDLE(cl_program, 6), 0, NULL, "-DX",
                               on_program, &notified);
}

static void *notify(void *unused)
{
    driver.on_program(HANDLE(cl_program, 6), driver.program_data);
    return unused;
}

/* Expects one compilation with a level. */
static void expect_build(unsigned level)
{
    struct trace_reader *reader = test_read();
    struct trace_entry entry;

    cr_expect_eq(test_count(reader, TRACE_ENTRY_DEVICE, "OpenCL build"), 1);
    find(reader, "OpenCL build", &entry);
    cr_expect_eq(entry.site->level, level);
}

Test(opencl_layer, records_a_build_that_ends_on_another_thread)
{
    pthread_t thread;

    cr_expect_eq(build(), 0);
    cr_expect_eq(notified, 0);
    pthread_create(&thread, NULL, notify, NULL);
    pthread_join(thread, NULL);
    cr_expect_eq(notified, 1);
    expect_build(TRACE_LEVEL_TRACE);
}

Test(opencl_layer, records_a_build_that_fails_later)
{
    driver.builds_badly = true;
    cr_expect_eq(build(), 0);
    notify(NULL);
    cr_expect_eq(notified, 1);
    expect_build(TRACE_LEVEL_ERROR);
}

Test(opencl_layer, records_a_build_that_notifies_within_the_call)
{
    driver.notifies = true;
    driver.builds_badly = true;
    driver.build_result = -11;
    cr_expect_eq(build(), -11);
    cr_expect_eq(notified, 1);
    expect_build(TRACE_LEVEL_ERROR);
}

Test(opencl_layer, records_a_build_that_fails_without_notifying)
{
    driver.build_result = -11;
    cr_expect_eq(build(), -11);
    cr_expect_eq(notified, 0);
    expect_build(TRACE_LEVEL_ERROR);
}
