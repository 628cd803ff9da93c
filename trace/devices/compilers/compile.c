/* compile.c: records each compilation as an event. CUPTI reports none of them.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "compilers.h"
#ifdef TRACE_INJECTED
#    include "trace/devices/standalone.h"
#else
#    include "trace/record/recorder.h"
#endif

enum { TEXT = 16 << 10 }; /* of a log, or of options */

/* ---- Which recording ---- */

#ifdef TRACE_INJECTED
static const struct trace_device_host *host_of_process(void)
{
    const struct trace_device_host *host = trace_device_find();

    return host ? host : trace_device_record_here();
}
#else
static const struct trace_device_host *host_of_process(void)
{
    return trace_is_recording() ? trace_device_host() : NULL;
}
#endif

struct trace_compile trace_compile_begin(void)
{
    int error = errno;
    struct trace_compile begun = {.host = host_of_process()};

    if (begun.host) {
        begun.span = begun.host->current();
        begun.begin = begun.host->now();
    }
    errno = error;
    return begun;
}

/* ---- Fields from the compiler ---- */

/* An event under construction. */
struct event {
    const struct trace_call *call;
    const struct trace_compiler *compiler;
    void *handle;
    int result;
    struct trace_value values[TRACE_COMPILE_FIELD_COUNT];
    struct trace_text options, kernels, types, failure;
    char fnv[24];
    char *log;
};

typedef int size_function(void *, size_t *);
typedef int text_function(void *, char *);
typedef int lowered_function(void *, const char *, const char **);
typedef const char *error_function(int);

/* A value that is printed without quotes. */
static struct trace_value display(const char *text)
{
    struct trace_value value = trace_text_(text);

    value.type = TRACE_TYPE_DISPLAY;
    return value;
}

static void set_text(struct event *event, enum trace_compile_field field,
                     const struct trace_text *text)
{
    if (text->size)
        event->values[field] = trace_string(text->data, text->size);
}

static void set_number(struct event *event, enum trace_compile_field field,
                       size_t number)
{
    if (number)
        event->values[field] = trace_u64_(number);
}

/* Returns 0 if the library has no such function. */
static size_t ask_size(const struct event *event, const char *verb)
{
    trace_routine *ask = trace_call_other(event->call, verb);
    size_t size = 0;

    if (!ask || ((size_function *)ask)(event->handle, &size))
        return 0;
    return size;
}

/* The library's size includes a NUL, even if the log is empty. */
static void add_log(struct event *event)
{
    size_t size = ask_size(event, event->compiler->log_size);
    trace_routine *ask = trace_call_other(event->call, event->compiler->log);

    if (size < 2 || !ask || !(event->log = calloc(1, size + 1)))
        return;
    if (((text_function *)ask)(event->handle, event->log))
        return;
    size = strlen(event->log);
    set_number(event, TRACE_COMPILE_LOG_BYTES, size);
    while (size && event->log[size - 1] == '\n')
        size--;
    if (size)
        event->values[TRACE_COMPILE_LOG] =
            trace_string(event->log, size < TEXT ? size : TEXT);
}

static void add_result(struct event *event)
{
    const struct trace_compiler *compiler = event->compiler;
    trace_routine *ask =
        compiler->error_string
            ? trace_call_other(event->call, compiler->error_string)
            : NULL;
    const char *name = ask ? ((error_function *)ask)(event->result)
                       : compiler->result_name
                           ? compiler->result_name(event->result)
                           : NULL;

    if (name)
        trace_text_string(&event->failure, name);
    else
        trace_text_printf(&event->failure, "%d", event->result);
    if (event->failure.data)
        event->values[TRACE_COMPILE_RESULT] = display(event->failure.data);
}

static void add_separator(struct trace_text *text, const char *separator)
{
    if (text->size)
        trace_text_string(text, separator);
}

void trace_compile_options(struct trace_text *text, size_t count,
                           const char *const *options)
{
    for (size_t i = 0; options && i < count; i++)
        if (options[i]) {
            add_separator(text, " ");
            trace_text_string(text, options[i]);
        }
}

/* ---- Fields from the handle ---- */

static void add_inputs(struct event *event, const struct trace_handle *info)
{
    const char *const *types = event->compiler->input_types;

    set_number(event, TRACE_COMPILE_INPUTS, info->inputs);
    set_number(event, TRACE_COMPILE_INPUT_BYTES, info->input_bytes);
    for (size_t i = 0; types && types[i]; i++)
        if (info->input_types & 1u << i) {
            add_separator(&event->types, ",");
            trace_text_string(&event->types, types[i]);
        }
    if (event->types.size)
        event->values[TRACE_COMPILE_INPUT_TYPES] = display(event->types.data);
}

static void add_kernels(struct event *event, const struct trace_handle *info)
{
    const char *verb = event->compiler->lowered_name;
    trace_routine *ask =
        verb && info->kernels.size ? trace_call_other(event->call, verb) : NULL;
    const char *at = info->kernels.data, *name;

    for (size_t i = 0; ask && i < info->kernels.size; i += strlen(at + i) + 1)
        if (!((lowered_function *)ask)(event->handle, at + i, &name)) {
            add_separator(&event->kernels, ", ");
            trace_text_string(&event->kernels, name);
        }
    if (event->kernels.size)
        event->values[TRACE_COMPILE_KERNEL_NAMES] =
            display(event->kernels.data);
}

static void add_info(struct event *event, const struct trace_handle *info)
{
    if (info->source_bytes) {
        snprintf(event->fnv, sizeof(event->fnv), "%016llx",
                 (unsigned long long)info->source_fnv);
        event->values[TRACE_COMPILE_SOURCE_FNV] = display(event->fnv);
        set_number(event, TRACE_COMPILE_SOURCE_BYTES, info->source_bytes);
    }
    if (!event->options.size)
        set_text(event, TRACE_COMPILE_OPTIONS, &info->options);
    add_inputs(event, info);
    if (!event->result)
        add_kernels(event, info);
}

/* ---- The event ---- */

static void put(const struct trace_compile *begun, uint64_t end,
                const struct event *event, const struct trace_handle *info)
{
    static const char *const fields[] = {
#define TRACE_X(name, text) text,
        TRACE_COMPILE_FIELDS(TRACE_X)
#undef TRACE_X
    };
    char name[256];
    struct trace_activity activity = {
        .at = {.begin = begun->begin,
               .thread = (uint32_t)gettid(),
               .kind = TRACE_ACTIVITY_COMPILE},
        .end = end,
        .span = begun->span,
        .level = event->result ? TRACE_LEVEL_ERROR : TRACE_LEVEL_TRACE,
        .name = name,
        .fields = fields,
        .field_count = TRACE_COMPILE_FIELD_COUNT,
        .values = event->values,
    };

    snprintf(name, sizeof(name), "%s",
             info && info->name ? info->name : event->compiler->unnamed);
    /* A name is part of a line: control characters become '?'. */
    for (char *at = name; *at; at++)
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = '?';
    begun->host->put(&activity);
}

void trace_compile_end(const struct trace_compile *begun,
                       const struct trace_call *call,
                       const struct trace_compiler *compiler, void *handle,
                       int result, size_t count, const char *const *options)
{
    struct event event = {
        .call = call, .compiler = compiler, .handle = handle, .result = result};
    int error = errno;

    if (!begun->host)
        return;

    uint64_t end = begun->host->now();
    struct trace_handle *info = handle ? trace_handle_take(handle) : NULL;

    for (size_t i = 0; i < TRACE_COMPILE_FIELD_COUNT; i++)
        event.values[i] = trace_empty();
    event.options.ceiling = event.kernels.ceiling = TEXT;
    trace_compile_options(&event.options, count, options);
    event.values[TRACE_COMPILE_STAGE] = display(compiler->stage);
    set_text(&event, TRACE_COMPILE_OPTIONS, &event.options);
    if (info)
        add_info(&event, info);
    if (result)
        add_result(&event);
    for (size_t i = 0; !result && i < TRACE_COMPILE_OUTPUTS; i++)
        if (compiler->outputs[i].verb)
            set_number(&event, compiler->outputs[i].field,
                       ask_size(&event, compiler->outputs[i].verb));
    if (handle)
        add_log(&event);
    put(begun, end, &event, info);
    trace_handle_keep(info);
    trace_text_free(&event.options);
    trace_text_free(&event.kernels);
    trace_text_free(&event.types);
    trace_text_free(&event.failure);
    free(event.log);
    errno = error;
}
