/* opencl_programs.c: records compilations. */
#include <stdlib.h>
#include <string.h>

#include "opencl.h"

enum { TEXT = 16 << 10, DEVICES = 32, BUILD_ERROR = -2 };

/* A way to compile. */
struct stage {
    const char *word, *name;
    cl_int failure; /* its result if the source is wrong */
};

static const struct stage building = {"opencl_build", "OpenCL build", -11};
static const struct stage compiling = {"opencl_compile", "OpenCL compile", -15};
static const struct stage linking = {"opencl_link", "OpenCL link", -17};
static const struct stage loading = {"opencl_binary", "OpenCL load binary", 0};
static const struct stage loading_il = {"opencl_il", "OpenCL load IL", 0};

/* ---- What the driver says ---- */

static size_t info_size(cl_program program, cl_uint info)
{
    size_t size = 0;

    return opencl.next.GetProgramInfo(program, info, 0, NULL, &size) ? 0 : size;
}

/* Returns 0 if it is unknown. */
static size_t binary_size(cl_program program)
{
    size_t sizes[DEVICES] = {0}, all = 0;

    if (opencl.next.GetProgramInfo(program, OPENCL_PROGRAM_BINARY_SIZES,
                                   sizeof(sizes), sizes, NULL))
        return 0;
    for (size_t i = 0; i < DEVICES; i++)
        all += sizes[i];
    return all;
}

/* Returns the names of a program's kernels, which the caller frees, or NULL. */
static char *kernels_of(cl_program program)
{
    size_t size = info_size(program, OPENCL_PROGRAM_KERNEL_NAMES);
    char *names = size > 1 ? calloc(1, size + 1) : NULL;

    if (names && opencl.next.GetProgramInfo(
                     program, OPENCL_PROGRAM_KERNEL_NAMES, size, names, NULL)) {
        free(names);
        return NULL;
    }
    if (names && size > TEXT)
        names[TEXT] = '\0';
    return names;
}

/* The first device's log that is not empty. */
static char *log_of(cl_program program)
{
    cl_device_id devices[DEVICES];
    size_t bytes = 0, size;

    opencl.next.GetProgramInfo(program, OPENCL_PROGRAM_DEVICES, sizeof(devices),
                               devices, &bytes);
    for (size_t i = 0; i < bytes / sizeof(*devices) && i < DEVICES; i++) {
        char *log;

        if (opencl.next.GetProgramBuildInfo(program, devices[i],
                                            OPENCL_PROGRAM_BUILD_LOG, 0, NULL,
                                            &size) ||
            size < 2 || !(log = calloc(1, size + 1)))
            continue;
        if (!opencl.next.GetProgramBuildInfo(program, devices[i],
                                             OPENCL_PROGRAM_BUILD_LOG, size,
                                             log, NULL) &&
            *log)
            return log;
        free(log);
    }
    return NULL;
}

/* ---- The activity ---- */

static void record(const struct opencl_call *call, const struct stage *stage,
                   cl_program program, const char *options, cl_int result,
                   uint32_t thread)
{
    size_t source = 0, binary = 0, size;
    struct opencl_fields fields = {0};
    char *kernels = NULL, *log = NULL;
    char failure[16];

    if (!call->on || !opencl_is_on())
        return;
    fields.activity = (struct trace_activity){
        .at = {.begin = call->begin,
               .thread = thread,
               .device = TRACE_DEVICES_opencl,
               .kind = TRACE_ACTIVITY_COMPILE},
        .end = opencl.host->now(),
        .span = call->span,
        .level = result ? TRACE_LEVEL_ERROR : TRACE_LEVEL_TRACE,
        .name = stage->name};
    opencl_add(&fields, "stage", opencl_display(stage->word));
    if (result)
        opencl_add_result(&fields, result, failure);
    if (options && *options)
        opencl_add(&fields, "options",
                   trace_string(options, strnlen(options, TEXT)));
    if (program) {
        source = info_size(program, OPENCL_PROGRAM_SOURCE);
        log = log_of(program);
    }
    if (program && !result) {
        kernels = kernels_of(program);
        binary = binary_size(program);
    }
    if (source > 1)
        opencl_add_number(&fields, "source_bytes", source - 1);
    if (kernels)
        opencl_add(&fields, "kernel.names", opencl_display(kernels));
    if (binary)
        opencl_add_number(&fields, "binary_bytes", binary);
    size = log ? strlen(log) : 0;
    if (size)
        opencl_add_number(&fields, "log_bytes", size);
    while (size && log[size - 1] == '\n')
        size--;
    if (size)
        opencl_add(&fields, "log",
                   trace_string(log, size < TEXT ? size : TEXT));
    opencl_put(&fields);
    free(kernels);
    free(log);
}

static void finish(const struct opencl_call *call, const struct stage *stage,
                   cl_program program, const char *options, cl_int result)
{
    if (program && !result)
        opencl_program_built(program);
    record(call, stage, program, options, result, opencl_thread());
}

/* ---- Compilations that end later ---- */

/* The program's function is called with its data when the compilation has
 * ended, on any thread. */
struct later {
    opencl_on_program *notify;
    void *data;
    const struct stage *stage;
    struct opencl_call call;
    uint32_t thread;
    int parts;  /* atomic: the call and the notification, until they end */
    bool ended; /* atomic: it was recorded */
    char options[];
};

static struct later *make_later(const struct opencl_call *call,
                                const struct stage *stage, const char *options,
                                opencl_on_program *notify, void *data)
{
    size_t size = options ? strnlen(options, TEXT) : 0;
    struct later *later = malloc(sizeof(*later) + size + 1);

    if (!later)
        return NULL;
    *later = (struct later){.notify = notify,
                            .data = data,
                            .stage = stage,
                            .call = *call,
                            .thread = opencl_thread(),
                            .parts = 2};
    memcpy(later->options, options ? options : "", size);
    later->options[size] = '\0';
    return later;
}

static void end_part(struct later *later)
{
    if (!__atomic_sub_fetch(&later->parts, 1, __ATOMIC_ACQ_REL))
        free(later);
}

static cl_int status_of(cl_program program, const struct stage *stage)
{
    cl_device_id devices[DEVICES];
    cl_int status = 0;
    size_t bytes = 0;

    opencl.next.GetProgramInfo(program, OPENCL_PROGRAM_DEVICES, sizeof(devices),
                               devices, &bytes);
    for (size_t i = 0; i < bytes / sizeof(*devices) && i < DEVICES; i++)
        if (!opencl.next.GetProgramBuildInfo(program, devices[i],
                                             OPENCL_PROGRAM_BUILD_STATUS,
                                             sizeof(status), &status, NULL) &&
            status == BUILD_ERROR)
            return stage->failure;
    return OPENCL_SUCCESS;
}

static void end_later(struct later *later, cl_program program, cl_int result)
{
    if (__atomic_exchange_n(&later->ended, true, __ATOMIC_ACQ_REL))
        return;
    if (program && !result)
        opencl_program_built(program);
    record(&later->call, later->stage, program, later->options, result,
           later->thread);
}

static void on_built(cl_program program, void *data)
{
    struct later *later = data;
    opencl_on_program *notify = later->notify;
    void *its = later->data;

    end_later(later, program,
              program ? status_of(program, later->stage)
                      : later->stage->failure);
    end_part(later);
    notify(program, its);
}

/* A call that fails may not notify. Its memory is then kept, because some
 * drivers notify all the same. */
static void call_ended(struct later *later, cl_program program, cl_int result)
{
    if (result)
        end_later(later, program, result);
    end_part(later);
}

/* ---- Replacements ---- */

cl_int opencl_BuildProgram(cl_program program, cl_uint devices,
                           const cl_device_id *list, const char *options,
                           opencl_on_program *notify, void *data)
{
    struct opencl_call call = opencl_call("clBuildProgram");
    struct later *later =
        notify ? make_later(&call, &building, options, notify, data) : NULL;
    cl_int result = opencl.next.BuildProgram(program, devices, list, options,
                                             later ? on_built : notify,
                                             later ? later : data);

    if (later)
        call_ended(later, program, result);
    else
        finish(&call, &building, program, options, result);
    return result;
}

cl_int opencl_CompileProgram(cl_program program, cl_uint devices,
                             const cl_device_id *list, const char *options,
                             cl_uint headers, const cl_program *header_list,
                             const char **names, opencl_on_program *notify,
                             void *data)
{
    struct opencl_call call = opencl_call("clCompileProgram");
    struct later *later =
        notify ? make_later(&call, &compiling, options, notify, data) : NULL;
    cl_int result = opencl.next.CompileProgram(
        program, devices, list, options, headers, header_list, names,
        later ? on_built : notify, later ? later : data);

    if (later)
        call_ended(later, program, result);
    else
        finish(&call, &compiling, program, options, result);
    return result;
}

cl_program opencl_LinkProgram(cl_context context, cl_uint devices,
                              const cl_device_id *list, const char *options,
                              cl_uint inputs, const cl_program *input_list,
                              opencl_on_program *notify, void *data,
                              cl_int *error)
{
    struct opencl_call call = opencl_call("clLinkProgram");
    struct later *later =
        notify ? make_later(&call, &linking, options, notify, data) : NULL;
    cl_int result = OPENCL_SUCCESS;
    cl_program program = opencl.next.LinkProgram(
        context, devices, list, options, inputs, input_list,
        later ? on_built : notify, later ? later : data, &result);

    if (error)
        *error = result;
    if (later)
        call_ended(later, program, result);
    else
        finish(&call, &linking, program, options, result);
    return program; /* cppcheck-suppress returnDanglingLifetime */
}

cl_program opencl_CreateProgramWithBinary(cl_context context, cl_uint devices,
                                          const cl_device_id *list,
                                          const size_t *lengths,
                                          const unsigned char **binaries,
                                          cl_int *status, cl_int *error)
{
    struct opencl_call call = opencl_call("clCreateProgramWithBinary");
    cl_int result = OPENCL_SUCCESS;
    cl_program program = opencl.next.CreateProgramWithBinary(
        context, devices, list, lengths, binaries, status, &result);

    if (error)
        *error = result;
    finish(&call, &loading, program, NULL, result);
    return program; /* cppcheck-suppress returnDanglingLifetime */
}

cl_program opencl_CreateProgramWithIL(cl_context context, const void *il,
                                      size_t length, cl_int *error)
{
    struct opencl_call call = opencl_call("clCreateProgramWithIL");
    cl_int result = OPENCL_SUCCESS;
    cl_program program =
        opencl.next.CreateProgramWithIL(context, il, length, &result);

    if (error)
        *error = result;
    finish(&call, &loading_il, program, NULL, result);
    return program; /* cppcheck-suppress returnDanglingLifetime */
}
