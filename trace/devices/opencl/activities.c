/* activities.c: makes activities of calls. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "opencl.h"

/* ---- Fields ---- */

/* Lists of field names are kept: the call site of an activity refers to them.
 * They are found without a lock, because each is complete when it is linked. */
struct names {
    struct names *next;
    size_t count;
    const char *names[];
};

static struct names *known; /* atomic */

static const char *const *find_names(const struct opencl_fields *fields)
{
    size_t count = fields->activity.field_count;
    struct names *one = __atomic_load_n(&known, __ATOMIC_ACQUIRE);

    while (one &&
           (one->count != count || memcmp(one->names, fields->names,
                                          count * sizeof(*one->names)) != 0))
        one = one->next;
    return one ? one->names : NULL;
}

static const char *const *keep_names(const struct opencl_fields *fields)
{
    size_t count = fields->activity.field_count;
    struct names *one = malloc(sizeof(*one) + count * sizeof(*one->names));

    if (!one)
        return NULL;
    one->count = count;
    memcpy(one->names, fields->names, count * sizeof(*one->names));
    one->next = __atomic_load_n(&known, __ATOMIC_RELAXED);
    while (!__atomic_compare_exchange_n(&known, &one->next, one, true,
                                        __ATOMIC_RELEASE, __ATOMIC_RELAXED))
        ;
    return one->names;
}

struct trace_value opencl_display(const char *text)
{
    struct trace_value value = trace_text_(text);

    value.type = TRACE_TYPE_DISPLAY;
    return value;
}

void opencl_add(struct opencl_fields *fields, const char *name,
                struct trace_value value)
{
    if (fields->activity.field_count == TRACE_ACTIVITY_FIELDS)
        return;
    fields->names[fields->activity.field_count++] = name;
    fields->values[fields->value_count++] = value;
}

void opencl_add_number(struct opencl_fields *fields, const char *name,
                       uint64_t number)
{
    opencl_add(fields, name, trace_u64_(number));
}

void opencl_add_device(struct opencl_fields *fields, uint32_t device,
                       char room[OPENCL_DEVICE_ROOM])
{
    snprintf(room, OPENCL_DEVICE_ROOM, "opencl:%u",
             device - TRACE_DEVICES_opencl);
    opencl_add(fields, "device", opencl_display(room));
}

void opencl_put(struct opencl_fields *fields)
{
    struct trace_activity *activity = &fields->activity;

    activity->values = fields->values;
    activity->fields = find_names(fields);
    if (!activity->fields)
        activity->fields = keep_names(fields);
    if (!activity->fields)
        activity->field_count = 0;
    opencl.host->put(activity);
}

/* ---- Errors ---- */

const char *opencl_error_name(cl_int code)
{
    static const struct {
        cl_int code;
        const char *name;
    } errors[] = {
        {-1, "CL_DEVICE_NOT_FOUND"},
        {-3, "CL_COMPILER_NOT_AVAILABLE"},
        {-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"},
        {-5, "CL_OUT_OF_RESOURCES"},
        {-6, "CL_OUT_OF_HOST_MEMORY"},
        {-8, "CL_MEM_COPY_OVERLAP"},
        {-11, "CL_BUILD_PROGRAM_FAILURE"},
        {-12, "CL_MAP_FAILURE"},
        {-13, "CL_MISALIGNED_SUB_BUFFER_OFFSET"},
        {-14, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST"},
        {-15, "CL_COMPILE_PROGRAM_FAILURE"},
        {-16, "CL_LINKER_NOT_AVAILABLE"},
        {-17, "CL_LINK_PROGRAM_FAILURE"},
        {-30, "CL_INVALID_VALUE"},
        {-33, "CL_INVALID_DEVICE"},
        {-34, "CL_INVALID_CONTEXT"},
        {-35, "CL_INVALID_QUEUE_PROPERTIES"},
        {-36, "CL_INVALID_COMMAND_QUEUE"},
        {-37, "CL_INVALID_HOST_PTR"},
        {-38, "CL_INVALID_MEM_OBJECT"},
        {-40, "CL_INVALID_IMAGE_SIZE"},
        {-42, "CL_INVALID_BINARY"},
        {-43, "CL_INVALID_BUILD_OPTIONS"},
        {-44, "CL_INVALID_PROGRAM"},
        {-45, "CL_INVALID_PROGRAM_EXECUTABLE"},
        {-48, "CL_INVALID_KERNEL"},
        {-52, "CL_INVALID_KERNEL_ARGS"},
        {-53, "CL_INVALID_WORK_DIMENSION"},
        {-54, "CL_INVALID_WORK_GROUP_SIZE"},
        {-55, "CL_INVALID_WORK_ITEM_SIZE"},
        {-56, "CL_INVALID_GLOBAL_OFFSET"},
        {-57, "CL_INVALID_EVENT_WAIT_LIST"},
        {-58, "CL_INVALID_EVENT"},
        {-59, "CL_INVALID_OPERATION"},
        {-61, "CL_INVALID_BUFFER_SIZE"},
        {-63, "CL_INVALID_GLOBAL_WORK_SIZE"},
        {-66, "CL_INVALID_COMPILER_OPTIONS"},
        {-67, "CL_INVALID_LINKER_OPTIONS"},
    };

    for (size_t i = 0; i < sizeof(errors) / sizeof(*errors); i++)
        if (errors[i].code == code)
            return errors[i].name;
    return NULL;
}

void opencl_add_result(struct opencl_fields *fields, cl_int result, char *room)
{
    const char *name = opencl_error_name(result);

    snprintf(room, 16, "%d", result);
    opencl_add(fields, "result", opencl_display(name ? name : room));
}

/* ---- Calls ---- */

/* gettid is a system call. A forked child records nothing. */
uint32_t opencl_thread(void)
{
    static __thread uint32_t thread;

    if (!thread)
        thread = (uint32_t)gettid();
    return thread;
}

struct opencl_call opencl_call(const char *name)
{
    struct opencl_call call = {.name = name, .on = opencl_is_on()};

    if (call.on) {
        call.span = opencl.host->current();
        call.begin = opencl.host->now();
    }
    return call;
}

void opencl_call_end(const struct opencl_call *call, unsigned kind,
                     cl_int result, uint32_t device, uint32_t correlation)
{
    struct opencl_fields fields;
    char room[16];

    if (!call->on)
        return;
    fields.value_count = 0;
    fields.activity = (struct trace_activity){
        .at = {.begin = call->begin,
               .thread = opencl_thread(),
               .device = device,
               .correlation = correlation,
               .kind = (uint16_t)kind},
        .end = call->end ? call->end : opencl.host->now(),
        .span = call->span,
        .level = result ? TRACE_LEVEL_WARN : TRACE_LEVEL_TRACE,
        .name = call->name,
    };
    if (result)
        opencl_add_result(&fields, result, room);
    opencl_put(&fields);
}
